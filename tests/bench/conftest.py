"""Modules of the benchmarks, which their own folder finds."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="module", autouse=True)
def on_path(benchmarks: Any) -> None:
    """Each test may import them."""


@pytest.fixture(scope="module")
def files(benchmarks: Any) -> Any:
    return benchmarks("problem_files")


@pytest.fixture(scope="module")
def judging(benchmarks: Any) -> Any:
    return benchmarks("checking")
