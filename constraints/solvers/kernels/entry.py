"""One projection: what Python calls, and other kernels."""

from __future__ import annotations

from ..machine import layout as at
from ..machine.jit import Floats, Integers, Numbers, Vector, entrance, floats_at, integers_at, kernel, shared
from ..tape.calls import stopped
from .search import started, tries


@shared
def project(I: Integers, F: Floats, W: Floats) -> int:
    """From Q_START and RHS (and Q_NOW, where RESUMED) to Q_BEST and the record of the state; the status."""
    state = I[at.STATE]
    if stopped(I, W):
        return at.RAISED
    usable = started(I, F, W, W[state + at.RESUMED] != 0.0, True)
    status = int(W[state + at.NOW]) if W[state + at.NOW] != at.UNDECIDED else tries(I, F, W, usable)
    return at.RAISED if stopped(I, W) else status


@kernel
def _row(I: Integers, F: Floats, W: Floats, start: Vector, end: Vector) -> int:
    """Project one configuration; the status."""
    for i in range(I[at.NQ]):
        W[I[at.Q_START] + i] = start[i]
    status = project(I, F, W)
    for i in range(I[at.NQ]):
        end[i] = W[I[at.Q_BEST] + i]
    return status


@entrance
def project_row(where: Numbers, start: Vector, end: Vector) -> tuple[int, int, int, float]:
    """Project one configuration, with the right-hand sides that are in the memory.

    Args:
        where: the packed problem and the memory of this worker: `places` of them.
        start: (nq,).
        end: (nq,), to be filled.

    Returns:
        Status, iterations, restarts, residual.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    status, state = _row(I, F, W, start, end), I[at.STATE]
    return status, int(W[state + at.ITERATIONS]), int(W[state + at.TRIES]), W[state + at.RESIDUAL]
