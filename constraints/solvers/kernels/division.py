r"""Parts of a path divided: configurations between, how much nearer solids come, which pairs covers do not free.

As `collisions.along` and `collisions.motion` have it.
"""

from __future__ import annotations

from math import sqrt

from ..machine import layout as at
from ..machine.jit import Floats, Integers, Matrix, Numbers, entrance, floats_at, integers_at, kernel
from ..tape.groups import point_log
from ..tape.trees import place
from .configurations import moved
from .covers import apart, forget_places, put
from .entry import project


@kernel
def _sample_before(samples: Matrix, time: float) -> int:
    """The last sample that is not after a time, but for the last one of all."""
    low, high = 0, samples.shape[0] - 2
    while low < high:
        middle = (low + high + 1) // 2
        if samples[middle, 0] <= time:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def _read(M: Floats, rows: Matrix, row: int, first: int, nq: int, q: int) -> None:
    """Have a configuration in the memory."""
    for i in range(nq):
        M[q + i] = rows[row, first + i]


@kernel
def _on_path(I: Integers, F: Floats, W: Floats, E: Integers, M: Floats, samples: Matrix, time: float, q: int) -> bool:
    """Write the configuration at a time; whether the constraints are reached there."""
    n, nq, ahead, d = _sample_before(samples, time), E[at.NQ], E[at.Q_NEXT], E[at.DIFFERENCE]
    begin, end = samples[n, 0], samples[n + 1, 0]
    if time <= begin or time >= end:
        _read(M, samples, n if time <= begin else n + 1, 1, nq, q)
        return True
    _read(M, samples, n, 1, nq, q)
    _read(M, samples, n + 1, 1, nq, ahead)
    point_log(E, M, E[at.SPACE], q, ahead, d)
    moved(E, M, q, d, (time - begin) / (end - begin))
    for i in range(nq):
        W[I[at.Q_START] + i] = M[q + i]
    if project(I, F, W) != at.CONVERGED:
        return False
    for i in range(nq):
        M[q + i] = W[I[at.Q_BEST] + i]
    return True


@kernel
def _stopped(
    I: Integers, F: Floats, W: Floats, E: Integers, M: Floats, parts: Matrix, n: int, legs: int, samples: Matrix,
    sides: Matrix, inner: Matrix,
) -> bool:  # fmt: skip
    """Write configurations along a part, both ends too, and times of those between; whether all are reached."""
    stops, nq = E[at.STOPS], E[at.NQ]
    begin, end = parts[n, 0], parts[n, 1]
    _read(M, parts, n, 2, nq, stops)
    _read(M, parts, n, 2 + nq, nq, stops + legs * nq)
    for k in range(1, legs):
        row = n * (legs - 1) + k - 1
        time, q = k * ((end - begin) / legs) + begin, stops + k * nq
        for i in range(sides.shape[1] if sides.shape[0] > 0 else 0):
            W[I[at.RHS] + i] = sides[row, i]
        if not _on_path(I, F, W, E, M, samples, time, q):
            return False
        inner[row, 0] = time
        for i in range(nq):
            inner[row, 1 + i] = M[q + i]
    return True


@kernel
def _legs(E: Integers, M: Floats, legs: int) -> None:
    """Write what each leg moves by, and how far it strays from the straight way as its neighbours tell."""
    nq, nv, d = E[at.NQ], E[at.LIVE], E[at.LEGS]
    bends = d + legs * nv
    for k in range(legs):
        q = E[at.STOPS] + k * nq
        point_log(E, M, E[at.SPACE], q, q + nq, d + k * nv)
    for k in range(legs):
        for i in range(nv):
            here, bend = d + k * nv + i, 0.0
            if k > 0:
                bend = abs(M[here] - M[here - nv])
            if k < legs - 1:
                bend = max(bend, abs(M[here + nv] - M[here]))
            M[bends + k * nv + i] = bend


@kernel
def _placed(S: Integers, G: Floats, V: Floats, E: Integers, M: Floats, stop: int) -> None:
    """Place the joints at a stop."""
    q = E[at.STOPS] + stop * E[at.NQ]
    for i in range(E[at.NQ]):
        V[S[at.Q] + i] = M[q + i]
    place(S, G, V, S[at.ALL_JOINTS], S[at.Q], at.VALUES)


@kernel
def _balls(S: Integers, G: Floats, V: Floats, K: Integers, B: Floats, stop: int) -> None:
    """Write where the balls around solids are, and how these are turned."""
    ball = K[at.BALLS] + 12 * K[at.CARRIED] * stop
    for n in range(S[at.MOVING_COVERS]):
        cover = S[at.COVERS] + 1 + at.COVER_SIZE * n
        put(S, G, V, cover, 0, 1)
        for i in range(9):
            B[ball + 12 * n + i] = V[S[cover + at.CARRIER] + i]
        for i in range(3):
            B[ball + 12 * n + 9 + i] = V[S[cover + at.PUT] + 1 + i]


@kernel
def _first_balls(
    S: Integers, G: Floats, V: Floats, E: Integers, M: Floats, K: Integers, B: Floats, parts: Matrix, part: int,
    legs: int,
) -> None:  # fmt: skip
    """The balls where a part begins: those where the part before ends, if that is there."""
    size = 12 * K[at.CARRIED]
    if part > 0 and parts[part, 0] == parts[part - 1, 1]:
        for i in range(size):
            B[K[at.BALLS] + i] = B[K[at.BALLS] + size * legs + i]
    else:
        _placed(S, G, V, E, M, 0)
        _balls(S, G, V, K, B, 0)


@kernel
def _speeds(E: Integers, M: Floats, K: Integers, L: Floats, B: Floats, legs: int, k: int) -> None:
    """Write speeds of joints on a leg: linear and angular ones with what it strays by, then of that alone."""
    nv, joints = E[at.LIVE], K[at.CARRIERS]
    d, speeds = E[at.LEGS] + k * nv, K[at.SPEEDS] + 4 * joints * k
    bends = d + legs * nv
    for i in range(4 * joints):
        B[speeds + i] = 0.0
    for i in range(nv):
        joint, rate = K[K[at.CARRIER_OF] + i], K[at.RATES] + 2 * i
        whole, bend = abs(M[d + i]) + M[bends + i], M[bends + i]
        B[speeds + joint] += whole * whole * L[rate]
        B[speeds + joints + joint] += whole * whole * L[rate + 1]
        B[speeds + 2 * joints + joint] += bend * bend * L[rate]
        B[speeds + 3 * joints + joint] += bend * bend * L[rate + 1]
    for i in range(4 * joints):
        B[speeds + i] = sqrt(B[speeds + i])


@kernel
def _straight_way(B: Floats, one: int, other: int, radius: float) -> float:
    """How far points of a solid are from where they were, by its ball there and here."""
    turned = moved2 = 0.0
    for i in range(9):
        turned += (B[other + i] - B[one + i]) * (B[other + i] - B[one + i])
    for i in range(9, 12):
        moved2 += (B[other + i] - B[one + i]) * (B[other + i] - B[one + i])
    return sqrt(moved2) + sqrt(0.5 * turned) * radius


@kernel
def _approaches(S: Integers, K: Integers, L: Floats, B: Floats, k: int) -> None:
    """Write how far each solid goes in the world on a leg, at most."""
    joints, solids = K[at.CARRIERS], K[at.CARRIED]
    speeds, ball, out = K[at.SPEEDS] + 4 * joints * k, K[at.BALLS] + 12 * solids * k, K[at.APPROACHES] + solids * k
    for n in range(solids):
        carries, reaches = K[at.CARRIES] + joints * n, K[at.REACHES] + joints * n
        whole = strayed = turning = 0.0
        for j in range(joints):
            if L[carries + j] != 0.0:
                whole += B[speeds + j] + B[speeds + joints + j] * B[reaches + j]
                strayed += B[speeds + 2 * joints + j] + B[speeds + 3 * joints + j] * B[reaches + j]
                turning += B[speeds + joints + j]
        here, radius = ball + 12 * n, L[K[at.RADII] + n]
        straight = at.UNHELD
        if n < S[at.MOVING_COVERS]:
            straight = _straight_way(B, here, here + 12 * solids, radius)
        B[out + n] = straight + strayed + 0.25 * turning * whole


@kernel
def _in_world(K: Integers, B: Floats, one: int, other: int, k: int) -> float:
    """How much nearer a pair of solids comes on a leg at most, by how far each goes in the world."""
    out, far = K[at.APPROACHES] + K[at.CARRIED] * k, 0.0
    if one >= 0:
        far += B[out + one]
    if other >= 0:
        far += B[out + other]
    return far


@kernel
def _nearer(K: Integers, L: Floats, B: Floats, one: int, other: int, k: int) -> float:
    """How much nearer a pair of solids comes on a leg at most: that, or what the joints between them do."""
    joints, along = K[at.CARRIERS], 0.0
    speeds = K[at.SPEEDS] + 4 * joints * k
    for j in range(joints):
        reach, carried = 0.0, 0
        if one >= 0 and L[K[at.CARRIES] + joints * one + j] != 0.0:
            reach, carried = reach + B[K[at.REACHES] + joints * one + j], carried + 1
        if other >= 0 and L[K[at.CARRIES] + joints * other + j] != 0.0:
            reach, carried = reach + B[K[at.REACHES] + joints * other + j], carried + 1
        if carried == 1:
            along += B[speeds + j] + B[speeds + joints + j] * reach
    return min(along, _in_world(K, B, one, other, k))


@kernel
def _in_doubt(
    solids: Numbers, K: Integers, L: Floats, B: Floats, part: int, k: int, moved: Matrix, more: Matrix, found: Numbers,
    count: int,
) -> int:  # fmt: skip
    """Add to the list the pairs that are not apart for certain at stop k of a part, where the robot is placed.

    Of each the bounds on the legs beside, and the larger one, are written down.
    """
    S, G, W = integers_at(solids[0]), floats_at(solids[1]), floats_at(solids[2])
    legs = moved.shape[0] // (moved.shape[0] - more.shape[0])
    row, leg = part * (legs - 1) + k - 1, part * legs + k
    for n in range(S[S[at.COVER_PAIRS]]):
        if more[row, n] < 0.0:
            continue
        pair, table = S[at.COVER_PAIRS] + 1 + at.COVER_PAIR_SIZE * n, K[at.CARRIED_PAIRS] + 2 * n
        one, other, gap = K[table], K[table + 1], G[S[pair + at.APART]]
        wider = max(_in_world(K, B, one, other, k - 1), _in_world(K, B, one, other, k))
        if apart(S, G, W, solids, pair, gap + wider):
            continue
        before, after = _nearer(K, L, B, one, other, k - 1), _nearer(K, L, B, one, other, k)
        need = max(before, after)
        if need < wider and apart(S, G, W, solids, pair, gap + need):
            continue
        moved[leg - 1, n], moved[leg, n], more[row, n] = before, after, need
        found[count], found[count + 1] = row, n
        count += 2
    return count


@entrance
def divide_parts(
    where: Numbers, solids: Numbers, motions: Numbers, parts: Matrix, samples: Matrix, sides: Matrix, inner: Matrix,
    moved: Matrix, more: Matrix, found: Numbers,
) -> int:  # fmt: skip
    """Divide parts of a piece of a path into legs of equal time, and look at the configurations between these.

    Args:
        where: `places` of the packed problem and the memory of this worker, then of the integers and the memory of
            `CompiledDivision`.
        solids: as `where` of `pairs_of_rows`.
        motions: `places` of `PackedMotions`, and of the memory of this worker.
        parts: (n, 2 + 2 nq): times where each begins and ends, and the configurations there.
        samples: of the piece (m, 1 + nq): time and configuration.
        sides: right-hand sides (n (legs - 1), size); without rows those in the memory.
        inner: (n (legs - 1), 1 + nq), to be filled: time and configuration between two legs.
        moved: (n legs, pairs), to be filled where a pair is in doubt beside: how much nearer it comes on a leg.
        more: (n (legs - 1), pairs): negative where a pair is not asked; to be filled where one is in doubt with the
            larger one of the bounds beside.
        found: list, to be filled with (row of inner, pair) of what is not apart for certain.

    Returns:
        How many numbers were written to the list; -1 where a configuration is not reached.
    """
    I, F, W, E, M = (
        integers_at(where[0]),
        floats_at(where[1]),
        floats_at(where[2]),
        integers_at(where[3]),
        floats_at(where[4]),
    )
    K, L, B = integers_at(motions[0]), floats_at(motions[1]), floats_at(motions[2])
    S, G, V = integers_at(solids[0]), floats_at(solids[1]), floats_at(solids[2])
    legs, count = moved.shape[0] // parts.shape[0], 0
    for part in range(parts.shape[0]):
        if not _stopped(I, F, W, E, M, parts, part, legs, samples, sides, inner):
            return -1
        _legs(E, M, legs)
        _first_balls(S, G, V, E, M, K, B, parts, part, legs)
        for k in range(legs, 0, -1):
            _placed(S, G, V, E, M, k)
            _balls(S, G, V, K, B, k)
        for k in range(legs):
            _speeds(E, M, K, L, B, legs, k)
            _approaches(S, K, L, B, k)
        for k in range(1, legs):
            if k > 1:
                _placed(S, G, V, E, M, k)
            forget_places(S, V)
            count = _in_doubt(solids, K, L, B, part, k, moved, more, found, count)
    return count
