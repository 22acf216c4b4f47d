"""Ways that grow towards targets: steps that are projected, and free as far as covers tell."""

from __future__ import annotations

from math import sqrt

from ..machine import layout as at
from ..machine.jit import Floats, Integers, Matrix, Numbers, entrance, floats_at, integers_at, kernel
from ..tape.groups import point_log
from .configurations import copy_to, moved
from .covers import pairs_at
from .entry import project


@kernel
def _distance(E: Integers, G: Floats, M: Floats, x: int, y: int) -> float:
    """Distance of two configurations in largest steps; their difference is written down."""
    d, columns, weights, length2 = E[at.DIFFERENCE], E[at.COMPARED], E[at.WEIGHTS], 0.0
    point_log(E, M, E[at.SPACE], x, y, d)
    for n in range(E[columns]):
        part = M[d + E[columns + 1 + n]] * G[weights + n]
        length2 += part * part
    return sqrt(length2)


@kernel
def _aim(E: Integers, M: Floats) -> None:
    """Write into Q_NEXT what is a step, or all that is left, ahead of Q_NOW."""
    left, here, ahead, target = M[E[at.WAY] + at.LEFT], E[at.Q_NOW], E[at.Q_NEXT], E[at.TARGET]
    if left <= 1.0:
        copy_to(M, target, E[at.NQ], ahead)
        return
    point_log(E, M, E[at.SPACE], here, target, E[at.DIFFERENCE])
    copy_to(M, here, E[at.NQ], ahead)
    moved(E, M, ahead, E[at.DIFFERENCE], 1.0 / left)


@kernel
def _projected(I: Integers, F: Floats, W: Floats, E: Integers, M: Floats) -> int:
    """Project Q_NEXT; the state of the way then."""
    ahead, start, best, way = E[at.Q_NEXT], I[at.Q_START], I[at.Q_BEST], E[at.WAY]
    for i in range(E[at.NQ]):
        W[start + i] = M[ahead + i]
    status = project(I, F, W)
    if status == at.OUT_OF_BOUNDS and I[I[at.LEAVING]] > 0:
        return at.OUTSIDE
    M[way + at.PROJECTED] += 1.0
    if status != at.CONVERGED:
        return at.ENDED
    for i in range(E[at.NQ]):
        M[ahead + i] = W[best + i]
    return at.GOES_ON


@kernel
def _comes_nearer(E: Integers, G: Floats, M: Floats) -> bool:
    """Whether Q_NEXT is near Q_NOW, and nearer to the target."""
    way, rules, ahead = E[at.WAY], E[at.RULES], E[at.Q_NEXT]
    beyond = _distance(E, G, M, E[at.Q_NOW], ahead)
    M[way + at.LEFT_AHEAD] = _distance(E, G, M, ahead, E[at.TARGET])
    least = M[way + at.LEFT] - G[rules + at.LEAST_GAIN]
    return beyond <= G[rules + at.FARTHEST] and M[way + at.LEFT_AHEAD] <= least


@kernel
def _freed(solids: Numbers, E: Integers, M: Floats, more: Matrix, count: int, row: int) -> tuple[int, int]:
    """Whether Q_NEXT is free: GOES_ON, or IN_DOUBT with the pairs added to the list; how long that is then."""
    I, F, W, found = integers_at(solids[0]), floats_at(solids[1]), floats_at(solids[2]), integers_at(solids[3])
    M[E[at.WAY] + at.CHECKED] += 1.0
    for i in range(E[at.NQ]):
        W[I[at.Q] + i] = M[E[at.Q_NEXT] + i]
    after = pairs_at(I, F, W, solids, more, found, count, row)
    return (at.GOES_ON if after == count else at.IN_DOUBT), after


@kernel
def _take_step(E: Integers, G: Floats, M: Floats, most: int) -> int:
    """Go to Q_NEXT; the state of the way then."""
    way = E[at.WAY]
    copy_to(M, E[at.Q_NEXT], E[at.NQ], E[at.Q_NOW])
    M[way + at.STEPS] += 1.0
    M[way + at.LEFT] = M[way + at.LEFT_AHEAD]
    if M[way + at.LEFT] <= G[E[at.RULES] + at.MET]:
        return at.REACHED
    return at.GOES_ON if M[way + at.STEPS] < most else at.ENDED


@kernel
def _step(where: Numbers, solids: Numbers, more: Matrix, count: int, row: int) -> tuple[int, int]:
    """Try a step: Q_NEXT is ready to be taken where the way goes on. Its state, and how long the list is then."""
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    E, G, M = integers_at(where[3]), floats_at(where[4]), floats_at(where[5])
    _aim(E, M)
    state = _projected(I, F, W, E, M)
    if state != at.GOES_ON:
        return state, count
    if not _comes_nearer(E, G, M):
        return at.ENDED, count
    return _freed(solids, E, M, more, count, row)


@kernel
def _read(E: Integers, M: Floats, targets: Matrix, ways: Matrix, figures: Matrix, row: int) -> None:
    """Have a way in the memory, with the step after the last one."""
    nq, way = E[at.NQ], E[at.WAY]
    for i in range(at.WAY_SIZE):
        M[way + i] = figures[row, i]
    here = nq * int(M[way + at.STEPS])
    for i in range(nq):
        M[E[at.TARGET] + i], M[E[at.Q_NOW] + i] = targets[row, i], ways[row, here + i]
    if M[way + at.WAY_STATE] == at.ALLOWED:
        for i in range(nq):
            M[E[at.Q_NEXT] + i] = ways[row, here + nq + i]


@kernel
def _write(M: Floats, q: int, nq: int, ways: Matrix, row: int, step: int) -> None:
    """Write down where a step leads."""
    for i in range(nq):
        ways[row, step * nq + i] = M[q + i]


@entrance
def grow_ways(
    where: Numbers, solids: Numbers, targets: Matrix, ways: Matrix, figures: Matrix, more: Matrix, room: int
) -> int:
    """Grow ways that go on, each until it ends or its next step is to be decided elsewhere.

    Args:
        where: `places` of the packed problem and the memory of this worker, then of those of `CompiledGrowth`.
        solids: as `where` of `pairs_of_rows`: the list is filled with (way, pair).
        targets: (n, nq).
        ways: (n, (1 + most) nq): where each begins, and where its steps lead; a step that is in doubt too.
        figures: (n, WAY_SIZE): records.
        more: without rows: pairs are as far apart as usual.
        room: of the list; at least two numbers a pair. Ways that there is no room for go on with the next call.

    Returns:
        How many numbers were written to the list.
    """
    E, G, M, S = integers_at(where[3]), floats_at(where[4]), floats_at(where[5]), integers_at(solids[0])
    nq, way, ahead, count = E[at.NQ], E[at.WAY], E[at.Q_NEXT], 0
    most, room = ways.shape[1] // nq - 1, room - 2 * S[S[at.COVER_PAIRS]]
    for n in range(targets.shape[0]):
        state = int(figures[n, at.WAY_STATE])
        if count > room or not (state == at.GOES_ON or state == at.ALLOWED):
            continue
        _read(E, M, targets, ways, figures, n)
        if state == at.ALLOWED:
            state = _take_step(E, G, M, most)
        while state == at.GOES_ON:
            state, count = _step(where, solids, more, count, n)
            if state == at.GOES_ON or state == at.IN_DOUBT:
                _write(M, ahead, nq, ways, n, int(M[way + at.STEPS]) + 1)
            if state == at.GOES_ON:
                state = _take_step(E, G, M, most)
        M[way + at.WAY_STATE] = float(state)
        for i in range(at.WAY_SIZE):
            figures[n, i] = M[way + i]
    return count
