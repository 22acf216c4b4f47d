"""Modules of the benchmarks, which their own folder finds."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def on_path() -> Iterator[None]:
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def files(on_path: None) -> Any:
    return importlib.import_module("problem_files")


@pytest.fixture(scope="module")
def judging(on_path: None) -> Any:
    return importlib.import_module("checking")
