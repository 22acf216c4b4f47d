"""What every test leaves as it was."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def logging_stays_on() -> Iterator[None]:
    """Benchmarks silence the remarks on robots' files for their whole process; the tests that follow listen to them."""
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    """Figures that are not saved are pyplot's, which warns at twenty of them."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which tests are left out."""
    left_out = config.option.markexpr == "not browser"
    return "tests that open pages in chromium are left out: pytest -m browser" if left_out else None


def pytest_collection_finish() -> None:
    """Thousands of collected tests are nothing that the garbage collector need look through, again and again."""
    gc.freeze()
