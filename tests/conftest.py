"""What every test leaves as it was."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Generator, Iterator

import pytest
from _pytest.doctest import DoctestModule
from each_choice import mark_long


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


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Docstrings of the packages are run; those of tests are not even looked through."""
    found = yield
    return [collector for collector in found if not isinstance(collector, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks come before tests are chosen by them."""
    mark_long(items)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which tests are left out."""
    left_out = "left out: pages in chromium (pytest -m browser), and the long proofs (pytest -m long)"
    return left_out if config.option.markexpr == "not browser and not long" else None


def pytest_collection_finish() -> None:
    """Thousands of collected tests are nothing that the garbage collector need look through, again and again."""
    gc.freeze()
