"""What every test leaves as it was."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def logging_stays_on() -> Iterator[None]:
    """Benchmarks silence the remarks on robots' files for their whole process; the tests that follow listen to them."""
    yield
    logging.disable(logging.NOTSET)
