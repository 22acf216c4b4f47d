"""Edges from one configuration to another, halved as `paths.interpolation` does, from their start to their end."""

from __future__ import annotations

from math import sqrt

from ..machine import layout as at
from ..machine.jit import Floats, Integers, Matrix, Numbers, entrance, floats_at, integers_at, kernel
from ..tape.groups import point_log
from .configurations import copy_to, moved, same_numbers
from .entry import project


@kernel
def _steps(E: Integers, M: Floats, x: int, y: int) -> float:
    """Distance of two configurations in largest allowed steps; their difference is written down."""
    d, edge, measures, longest = E[at.DIFFERENCE], E[at.EDGE], E[at.MEASURES], 0.0
    point_log(E, M, E[at.SPACE], x, y, d)
    for n in range(E[measures]):
        record, length2 = measures + 1 + at.MEASURE_SIZE * n, 0.0
        first = E[record + at.BLOCK]
        for i in range(first, first + E[record + at.BLOCK_NUMBERS]):
            moved_by = M[d + i] if E[record + at.OF_POINTS] == 0 else M[y + i] - M[x + i]
            length2 += moved_by * moved_by
        longest = max(longest, sqrt(length2) / M[edge + at.LARGEST_ANGLE + E[record + at.IS_LENGTH]])
    return longest


@kernel
def _projected(I: Integers, F: Floats, W: Floats, M: Floats, q: int) -> bool:
    """Project a configuration in place, where that succeeds."""
    start, best = I[at.Q_START], I[at.Q_BEST]
    for i in range(I[at.NQ]):
        W[start + i] = M[q + i]
    if project(I, F, W) != at.CONVERGED:
        return False
    for i in range(I[at.NQ]):
        M[q + i] = W[best + i]
    return True


@kernel
def _is_satisfied(I: Integers, F: Floats, W: Floats, M: Floats, q: int) -> bool:
    """Whether a configuration satisfies the constraints within its bounds: it is its own projection."""
    state = I[at.STATE]
    if not _projected(I, F, W, M, q) or W[state + at.ITERATIONS] > 0.0 or W[state + at.TRIES] > 0.0:
        return False
    return same_numbers(W, I[at.Q_START], I[at.Q_BEST], I[at.NQ])


@kernel
def _written(M: Floats, sample: int, time: float, Q: Matrix, row: int) -> None:
    """Write a time and a row of configurations."""
    M[sample] = time
    for i in range(Q.shape[1]):
        M[sample + 1 + i] = Q[row, i]


@kernel
def _taken(E: Integers, M: Floats, sample: int, samples: Matrix, count: int) -> int:
    """Have a sample as the last one; how many there are then."""
    copy_to(M, sample, E[at.NQ] + 1, E[at.HERE])
    for i in range(E[at.NQ] + 1):
        samples[count, i] = M[sample + i]
    M[E[at.EDGE] + at.SAMPLES] += 1.0
    return count + 1


@kernel
def _begun(I: Integers, F: Floats, W: Floats, E: Integers, M: Floats, Q0: Matrix, Q1: Matrix, row: int) -> int:
    """Look at both ends, and have the end ahead; the status."""
    M[E[at.EDGE] + at.SAMPLES] = 0.0
    _written(M, E[at.HERE], 0.0, Q0, row)
    if not _is_satisfied(I, F, W, M, E[at.HERE] + 1):
        return at.AT_START
    _written(M, E[at.AHEAD], 1.0, Q1, row)
    if not _is_satisfied(I, F, W, M, E[at.AHEAD] + 1):
        return at.AT_END
    M[E[at.EDGE] + at.HEIGHT] = 1.0
    return at.LAID


@kernel
def _halved(I: Integers, F: Floats, W: Floats, E: Integers, M: Floats, end: int) -> int:
    """Look at the middle of the interval from HERE to an end: LAID where it is short and steady, UNFINISHED where not.

    The middle is in HALF; NOT_PROJECTED and APART_STILL end the edge.
    """
    edge, here, half = E[at.EDGE], E[at.HERE], E[at.HALF]
    whole = _steps(E, M, here + 1, end + 1)
    M[half] = 0.5 * (M[here] + M[end])
    copy_to(M, here + 1, E[at.NQ], half + 1)
    moved(E, M, half + 1, E[at.DIFFERENCE], 0.5)
    if not _projected(I, F, W, M, half + 1):
        return at.NOT_PROJECTED
    if whole <= 1.0:
        most = M[edge + at.MIDDLE] * whole + M[edge + at.SLACK]
        if _steps(E, M, here + 1, half + 1) <= most and _steps(E, M, half + 1, end + 1) <= most:
            return at.LAID
    return at.APART_STILL if M[end] - M[here] < M[edge + at.SHORTEST] else at.UNFINISHED


@kernel
def _laid(I: Integers, F: Floats, W: Floats, E: Integers, M: Floats, samples: Matrix, count: int) -> tuple[int, int]:
    """Go on with an edge, as long as there is room for samples; the status, and how many samples there are."""
    edge, size = E[at.EDGE], E[at.NQ] + 1
    while M[edge + at.HEIGHT] > 0.0:
        if count == samples.shape[0]:
            return at.UNFINISHED, count
        end = E[at.AHEAD] + size * (int(M[edge + at.HEIGHT]) - 1)
        found = _halved(I, F, W, E, M, end)
        if found == at.LAID:
            count = _taken(E, M, end, samples, count)
            M[edge + at.HEIGHT] -= 1.0
        elif found == at.UNFINISHED:
            copy_to(M, E[at.HALF], size, end + size)
            M[edge + at.HEIGHT] += 1.0
        else:
            copy_to(M, end, size, E[at.AHEAD])
            M[edge + at.HEIGHT] = 0.0
            return found, count
    return at.LAID, count


@entrance
def lay_edges(where: Numbers, Q0: Matrix, Q1: Matrix, first: int, samples: Matrix, figures: Matrix) -> tuple[int, int]:
    """Lay edges, from one on, as long as there is room for samples; one that was begun goes on.

    Args:
        where: `places` of the packed problem and the memory of this worker, as for `project_row`, then of the integers
            and the memory of `CompiledEdges`.
        Q0, Q1: ends (n, nq).
        first: edge to begin with, or to go on with.
        samples: (room, 1 + nq), to be filled with times and configurations.
        figures: (n, 3 + 2 nq), to be filled: status, number of samples; of an edge that is not laid, the middle where
            it stops, then time and configuration at the end of that interval.

    Returns:
        The edge that is next, and how many samples were written.
    """
    I, F, W, E, M = (
        integers_at(where[0]),
        floats_at(where[1]),
        floats_at(where[2]),
        integers_at(where[3]),
        floats_at(where[4]),
    )
    count, edge, nq = 0, E[at.EDGE], E[at.NQ]
    for n in range(first, Q0.shape[0]):
        status = at.LAID
        if M[edge + at.HEIGHT] == 0.0:
            if count == samples.shape[0]:
                return n, count
            status = _begun(I, F, W, E, M, Q0, Q1, n)
            if status == at.LAID:
                count = _taken(E, M, E[at.HERE], samples, count)
        if status == at.LAID:
            status, count = _laid(I, F, W, E, M, samples, count)
        if status == at.UNFINISHED:
            return n, count
        figures[n, 0], figures[n, 1] = float(status), M[edge + at.SAMPLES]
        for i in range(nq):
            figures[n, 2 + i] = M[E[at.HALF] + 1 + i]
        for i in range(nq + 1):
            figures[n, 2 + nq + i] = M[E[at.AHEAD] + i]
    return Q0.shape[0], count
