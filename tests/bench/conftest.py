"""Modules of the benchmarks, which their own folder finds."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import scripts


@pytest.fixture(scope="module", autouse=True)
def on_path() -> Iterator[None]:
    sys.path.insert(0, str(scripts.BENCHMARKS))
    yield
    sys.path.remove(str(scripts.BENCHMARKS))


@pytest.fixture(scope="module")
def files(on_path: None) -> Any:
    return importlib.import_module("problem_files")


@pytest.fixture(scope="module")
def judging(on_path: None) -> Any:
    return importlib.import_module("checking")
