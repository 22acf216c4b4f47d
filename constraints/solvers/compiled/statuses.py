"""Statuses of kernels."""

from __future__ import annotations

from ..status import Status

STATUSES = (
    Status.CONVERGED,
    Status.STALLED,
    Status.MAX_ITERATIONS,
    Status.STATIONARY,
    Status.OUT_OF_BOUNDS,
    Status.UNDEFINED,
)
"""In the order of `layout`."""
