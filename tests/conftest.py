"""What every test leaves as it was."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable, Generator, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from each_choice import mark_long

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # read when numpy is imported; each core has a worker of its own


@pytest.fixture(scope="module")
def benchmarks() -> Iterator[Callable[[str], Any]]:
    """Imports modules of the benchmarks by their names, which their own folder finds."""
    folder = str(Path(__file__).parent.parent / "benchmarks")
    sys.path.insert(0, folder)
    yield import_module
    sys.path.remove(folder)


@pytest.fixture(autouse=True)
def logging_stays_on() -> Iterator[None]:
    """Benchmarks silence the remarks on robots' files for their whole process; the tests that follow listen to them."""
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(autouse=True)
def questions_are_asked_anew() -> None:
    """What one test was asked about, another one is asked about too."""
    if "constraints.questions" in sys.modules:
        sys.modules["constraints.questions"]._ASKED.clear()


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


PROGRAMS = (
    "bench", "cli", "compiled/test_cache.py", "docs/test_examples.py", "docs/test_many_machines.py",
    "house/test_additions.py", "house/test_packaging.py",
)  # fmt: skip
"""Where tests have the mark `program`."""


@cache
def is_of_programs(file: Path) -> bool:
    """Whether tests of a file have the mark `program`."""
    return any(file.is_relative_to(Path(__file__).parent / name) for name in PROGRAMS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks come before tests are chosen by them."""
    mark_long(items)
    for item in items:
        if is_of_programs(item.path):
            item.add_marker("program")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which tests are left out."""
    left_out = (
        "left out: examples and other programs (-m program), pages in chromium (-m browser), long proofs (-m long)"
    )
    return left_out if config.option.markexpr == "not browser and not long and not program" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of collected tests are nothing that the garbage collector need look through, again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
