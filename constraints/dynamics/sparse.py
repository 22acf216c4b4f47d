"""Sparse forward dynamics: to be merged."""

from __future__ import annotations

from collections.abc import Iterator

from ..loops import ConstraintSet


def why_not(constraint_set: ConstraintSet) -> Iterator[tuple[str, str]]:
    """Not there yet."""
    yield constraint_set.names[0], "not there yet"
