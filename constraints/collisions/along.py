"""Collisions along a path."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np

from liegroups.arrays import Vector

from ..paths.path import Path, Piece, StepSize
from .checking import Checker

ROWS_AT_ONCE = 64
"""Configurations of a path that are computed, and looked at, together: what is behind a collision costs nothing."""


class Met(NamedTuple):
    """Where a pair meets first: its number, and the time on the path [s]."""

    pair: int
    time: float


def first_met(checker: Checker, path: Path, max_angle: float, max_length: float) -> Met | None:
    """The first pair that collides on a path; None if the path is free.

    Args:
        checker: what is asked.
        path: the path.
        max_angle, max_length: most that a joint moves from one configuration that is looked at to the next [rad], [m].
    """
    begun = 0.0
    for piece, duration in zip(path.pieces, path.durations, strict=True):
        times = _times(piece, max_angle, max_length)
        for some in np.array_split(times, ceil(len(times) / ROWS_AT_ONCE)):
            Q = piece.at_times(some)
            free = checker.free(Q)
            if not free.all():
                k = int(free.argmin())
                return Met(checker.met(Q[k])[0], begun + duration * float(some[k]))
        begun += duration
    return None


def _times(piece: Piece, max_angle: float, max_length: float) -> Vector:
    """Times of a piece between which no joint moves farther than the limits on the straight way between its samples."""
    angles, lengths = StepSize(piece.problem).of_rows(piece.samples[:-1], piece.samples[1:])
    parts = np.maximum(np.ceil(np.maximum(angles / max_angle, lengths / max_length)), 1.0).astype(int)
    steps = zip(pairwise(piece.times.tolist()), parts.tolist(), strict=True)
    return np.array([*(t0 + (t1 - t0) * k / count for (t0, t1), count in steps for k in range(count)), 1.0])
