"""Both engines."""

from __future__ import annotations

import importlib.util

import pytest


@pytest.fixture(params=["readable", "compiled"])
def engine(request: pytest.FixtureRequest) -> str:
    """Name of an engine; the compiled one where numba is installed."""
    if request.param == "compiled" and importlib.util.find_spec("numba") is None:
        pytest.skip("the compiled engine needs numba")
    return request.param
