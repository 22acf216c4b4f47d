r"""The numbers of a proof around sampled rows: the formulas of `certificates.samples`, `slice` and `check` in one pass.

Sums go one term after the other, which the bounds of rounding there allow for. What the check compares is raised once
more here (`AGAIN`), so that what holds here holds there, where sums go in another order.
"""

from __future__ import annotations

from math import inf, sqrt

from ..machine import layout as at
from ..machine.jit import Matrix, Numbers, Vector, entrance, kernel

UNIT = 2.0**-53
"""The relative error of one rounding."""
UP, TINY = 1.0 + 1e-9, 1e-300
"""As `interval.rounded_up` and `check.raised`."""
AGAIN = 1.0 + 1e-9
"""By which what is compared is more than what the check takes."""
LARGEST = 1.7976931348623157e308
"""Of finite doubles."""
OF_ARCS, OF_UNITS = 0.571, 128.0 * UNIT
"""As in `slice.Moves`."""
SHARE, LARGEST_SIZE, LEAST_BALL = 0.76, 1e3, 1e-12
"""Of sizes: as in `search.likely_size` and `batch`."""


@kernel
def _up(x: float) -> float:
    return UP * x + TINY


@kernel
def _product(A: Vector, a: int, B: Vector, b: int, out: Vector, o: int, n: int, m: int, p: int) -> None:
    """A (n, m) times B (m, p), each from a place on."""
    for i in range(n):
        for j in range(p):
            out[o + p * i + j] = 0.0
        for k in range(m):
            x = A[a + m * i + k]
            if x != 0.0:
                for j in range(p):
                    out[o + p * i + j] += x * B[b + p * k + j]


@kernel
def _stretch(W: Vector, n: int, b: int) -> float:
    """As `slice.norm_bound`, of the first (n, b) numbers; they, and two matrices (n, n) behind, are overwritten."""
    largest, P, S = 0.0, n * n, 2 * n * n
    for i in range(n * b):
        largest = max(largest, abs(W[i]))
    if largest == 0.0:
        return 0.0
    for i in range(n):
        for j in range(b):
            W[S + n * j + i] = W[b * i + j] / largest
            W[P + b * i + j] = W[b * i + j] / largest
    _product(W, S, W, P, W, 0, b, n, b)
    for _ in range(3):
        for i in range(b * b):
            W[P + i] = W[i]
        _product(W, P, W, P, W, 0, b, b, b)
    total = 0.0
    for i in range(b * b):
        total += W[i] * W[i]
    return _up(largest * sqrt(sqrt(sqrt(sqrt(sqrt(total))))))


@kernel
def _length(x: Vector, first: int, count: int, step: int) -> float:
    total = 0.0
    for i in range(count):
        total += x[first + step * i] * x[first + step * i]
    return sqrt(total)


@kernel
def _reach(
    far_of: Numbers, bends: Vector, farthest: Vector, slopes: Vector, sizes: Vector, slides: Numbers, longest: Vector,
    q: Vector,
) -> float:  # fmt: skip
    """As `samples.Around.largest`; `longest` begins with that of any ball."""
    most, s = longest[0], 0
    for k in range(bends.size):
        value, slope = 0.0, 0.0
        for i in range(far_of.size):
            if far_of[i] == k:
                value += sizes[i] * sizes[i]
                slope += slopes[i] * slopes[i]
        left, slope = farthest[k] - sqrt(value), sqrt(slope)
        root = slope + sqrt(slope * slope + 2.0 * bends[k] * max(left, 0.0))
        most = min(most, 1.98 * left / max(root, TINY))
    for k in range(1, longest.size):
        total = 0.0
        for i in range(slides[s]):
            total += q[slides[s + 1 + i]] * q[slides[s + 1 + i]]
        if not sqrt(total) <= longest[k]:
            most = -1.0
        s += 1 + slides[s]
    return most


@kernel
def _rate(bent_of: Numbers, bends: Vector, chosen: Numbers, C: Vector, W: Vector) -> float:
    """As `samples.KnownRows.rate`; rows that are straight have no weight, and are left out."""
    n, b, total = chosen.size, 0, 0.0
    for j in range(n):
        if bent_of[chosen[j]] >= 0:
            b += 1
    c = 0
    for k in range(bends.size):
        each = 0.0
        for j in range(n):
            if bent_of[chosen[j]] == k:
                for i in range(n):
                    each += C[n * i + j] * C[n * i + j]
        each = max(sqrt(each), 1e-150)
        total += each * bends[k]
        for j in range(n):
            if bent_of[chosen[j]] == k:
                for i in range(n):
                    W[b * i + c] = C[n * i + j] * sqrt(bends[k] / each)
                c += 1
    return _up(_stretch(W, n, b) * sqrt(total))


@kernel
def _contraction(C: Vector, out: Vector, n: int, W: Vector) -> tuple[float, float]:
    r"""As `check.contraction`, of the residuals and the Jacobian in `out`, with what varies; both raised by `AGAIN`.

    Of rounding, :math:`\sum_k |C_{ik}| |M_{kj}|` is at most the product of the lengths of both.
    """
    gamma, lower, alpha, beta = 2.0 * (2 * n + 7) * UNIT, at.ARRAYS, 0.0, 0.0
    upper, M, N, S = lower + n, lower + 2 * n, lower + 2 * n + n * n, n * n
    radii, columns = 2 * n * n, 2 * n * n + n
    for i in range(n):
        found, off = 0.0, 0.0
        for k in range(n):
            middle = out[lower + k] + 0.5 * (out[upper + k] - out[lower + k])
            radius = _up(max(out[upper + k] - middle, middle - out[lower + k]))
            found += C[n * i + k] * middle
            off += abs(C[n * i + k]) * (radius + gamma * abs(middle))
        found = abs(found) + _up(off)
        alpha += found * found
    for k in range(n):
        W[radii + k] = 0.0
        for j in range(n):
            low, high = out[M + n * k + j], out[N + n * k + j]
            middle = low + 0.5 * (high - low)
            W[radii + k] = max(W[radii + k], high - middle, middle - low)
            W[S + n * k + j] = middle
        W[radii + k] = _up(W[radii + k])
    for j in range(n):
        W[columns + j] = _up(_length(W, S + j, n, n))
    _product(C, 0, W, S, W, 0, n, n, n)
    for i in range(n):
        row, off = _up(_length(C, n * i, n, 1)), 0.0
        for k in range(n):
            off += abs(C[n * i + k]) * W[radii + k]
        for j in range(n):
            same = 1.0 if i == j else 0.0
            found = abs(W[n * i + j] - same) + _up(off + gamma * (row * W[columns + j] + same))
            beta += found * found
    return AGAIN * _up(sqrt(alpha)), AGAIN * _up(_up(sqrt(beta)) + out[at.VARIATION])


@kernel
def _moves(parts: Numbers, columns: Numbers, q: Vector, center: Vector, B: Vector, out: Vector, o: int, n: int) -> int:
    """As `slice.Moves.between`: what is displaced, then what spreads; where it ends. Plain coordinates come first."""
    plain, bodies = columns.size // 2, parts.size // 5
    spread = o + plain + bodies
    for i in range(plain):
        out[o + i] = _up(abs(center[columns[i]] - q[columns[i]]))
        for j in range(n):
            out[spread + n * i + j] = _up(abs(B[n * columns[plain + i] + j]))
    for k in range(bodies):
        first, size, turns = parts[5 * k], parts[5 * k + 1], parts[5 * k + 4]
        near, opposite, norm = 0.0, 0.0, 1.0 if turns == 0 else _length(q, first, size, 1)
        for i in range(first, first + size):
            x = q[i] / norm
            near += (center[i] - x) * (center[i] - x)
            opposite += (center[i] + x) * (center[i] + x)
        if turns == 0:
            out[o + plain + k] = _up(sqrt(near))
        else:
            chord = 0.5 * sqrt(min(near, opposite) if size == 4 else near)
            out[o + plain + k] = _up(turns * chord * (1.0 + OF_ARCS * chord * chord) + OF_UNITS)
        for j in range(n):
            out[spread + n * (plain + k) + j] = _up(_length(B, n * parts[5 * k + 2] + j, parts[5 * k + 3], n))
    return spread + n * (plain + bodies)


@kernel
def _room(
    entries: Numbers, lower: Vector, upper: Vector, center: Vector, B: Vector, out: Vector, o: int, n: int
) -> tuple[int, int]:
    """As `slice.Room.around`, of bounds: margins, then rates; how many are short, and where it ends."""
    count, short = lower.size, 0
    rates = o + count
    for k in range(count):
        x = min(center[entries[3 * k]] - lower[k], upper[k] - center[entries[3 * k]], LARGEST)
        out[o + k] = x - 2.0 * UNIT * abs(x)
        first, dimension, moves = entries[3 * k + 1], entries[3 * k + 2], False
        for j in range(n):
            rate = 0.0
            for i in range(first, first + dimension):
                if B[n * i + j] != 0.0:
                    rate = abs(B[n * i + j]) if dimension == 1 else _up(_length(B, n * first + j, dimension, n))
                    moves = True
            out[rates + n * k + j] = rate
        used = AGAIN * _up(_length(out, rates + n * k, n, 1) * out[at.RHO]) if moves else 0.0
        if not x - 2.0 * UNIT * abs(x) >= used:
            short += 1
    return short, rates + n * count


@kernel
def _enclosed(
    base: Vector, small: Vector, chosen: Numbers, aims: Vector, errors: Vector, near: Vector, slopes: Vector, J: Vector,
    B: Vector, nv: int, W: Vector, out: Vector,
) -> int:  # fmt: skip
    """Residuals and Jacobians of the rows in play, lower and upper ends of each; where they end."""
    n = chosen.size
    lower, upper, M, N = at.ARRAYS, at.ARRAYS + n, at.ARRAYS + 2 * n, at.ARRAYS + 2 * n + n * n
    for k in range(n):
        i = chosen[k]
        middle, radius = base[i] + errors[i] - aims[i], near[i]
        if radius > 0.0:
            radius = _up(radius + 4.0 * UNIT * (abs(base[i]) + abs(errors[i]) + abs(aims[i])))
        out[lower + k], out[upper + k] = middle - radius, middle + radius
        _product(J, nv * i, B, 0, W, n * k, 1, nv, n)
        radius = _up(small[i] * sqrt(nv) + 8.0 * (nv + 4) * UNIT * slopes[i])
        for j in range(n):
            out[M + n * k + j], out[N + n * k + j] = W[n * k + j] - radius, W[n * k + j] + radius
    return N + n * n


@kernel
def _step(
    C: Vector, B: Vector, base: Vector, aims: Vector, errors: Vector, chosen: Numbers, nv: int, W: Vector, out: Vector,
    o: int,
) -> None:  # fmt: skip
    """Newton's step, as `slice.Slice.newton`."""
    n = chosen.size
    for i in range(n):
        W[i] = 0.0
        for k in range(n):
            W[i] += C[n * i + k] * (base[chosen[k]] + errors[chosen[k]] - aims[chosen[k]])
    _product(B, 0, W, 0, out, o, nv, n, 1)
    for i in range(nv):
        out[o + i] = -out[o + i]


@entrance
def premises_of_balls(
    base: Vector, small: Vector, shifts: Vector, rounding: float, bent_of: Numbers, bends: Vector, far_of: Numbers,
    far_bends: Vector, farthest: Vector, slides: Numbers, longest: Vector, parts: Numbers, columns: Numbers,
    entries: Numbers, lower: Vector, upper: Vector, chosen: Numbers, aims: Vector, exact: Matrix, E: Matrix, J: Matrix,
    B: Matrix, C: Matrix, Q: Matrix, centers: Matrix, W: Vector, out: Matrix,
) -> None:  # fmt: skip
    """What `Premises` are made of, on balls around centers where rows are sampled, one after the other.

    Args:
        base, small, shifts, rounding: (m,) of `KnownRows`; the shift of a row that is not straight is -1.
        bent_of, far_of: (m,) number of the constraint that a row belongs to, or -1.
        bends, far_bends, farthest: of each of these constraints.
        slides, longest: how many entries, and which, of each thing that slides; longest balls, then longest slides.
        parts: first entry, entries, first column, columns, and turns of each `slice.Part`.
        columns: entries of coordinates in configurations, then their columns.
        entries: of each bound: an entry, first column, columns.
        lower, upper: the bounds.
        chosen: rows in play (n,).
        aims: (m,) what they should be.
        exact: (k or 1, m) 1 where nothing is rounded if the error is zero.
        E, J: errors (k, m) and Jacobians (k, m nv) at the centers.
        B, C: bases (k, nv n) and preconditioners (k, n n).
        Q, centers: (k, nq), of Q with unit vectors.
        W: memory, 3 n^2 + 2 n + 3 m.
        out: (k, ...): at BALL what size is wanted of each, 0 for a likely one; to be filled, arrays from ARRAYS on.
    """
    m, n = base.size, chosen.size
    nv = J.shape[1] // max(m, 1)
    matrices = 3 * n * n + 2 * n
    near, slopes, sizes = W[matrices : matrices + m], W[matrices + m : matrices + 2 * m], W[matrices + 2 * m :]
    for c in range(out.shape[0]):
        found, body, basis, x, errors = out[c], J[c], B[c], centers[c], E[c]
        for i in range(m):
            size, straight = abs(base[i]) + abs(errors[i]), 0.0
            if shifts[i] >= 0.0:
                for k in range(columns.size // 2):
                    straight += abs(body[nv * i + columns[columns.size // 2 + k]]) * abs(x[columns[k]])
                size += 2.0 * (straight + shifts[i])
            near[i] = _up(rounding + 8.0 * (nv + 8) * UNIT * size)
            if exact[c % exact.shape[0], i] != 0.0 and errors[i] == 0.0:
                near[i] = 0.0
            sizes[i] = abs(base[i] + errors[i]) + near[i]
            slopes[i] = _length(body, nv * i, nv, 1) + small[i] * sqrt(nv)
        found[at.REACH] = _reach(far_of, far_bends, farthest, slopes, sizes, slides, longest, x)
        rate = _rate(bent_of, bends, chosen, C[c], W)
        wanted = found[at.BALL] if found[at.BALL] > 0.0 else min(SHARE / max(rate, 1e-9), LARGEST_SIZE)
        found[at.BALL] = min(wanted, max(found[at.REACH], LEAST_BALL))
        found[at.VARIATION] = rate * found[at.BALL]
        end = _enclosed(base, small, chosen, aims, errors, near, slopes, body, basis, nv, W, found)
        _step(C[c], basis, base, aims, errors, chosen, nv, W, found, end)
        alpha, found[at.BETA] = _contraction(C[c], found, n, W)
        contracts = found[at.BETA] < 1.0 - 1e-12
        found[at.RHO] = AGAIN * _up(alpha / (1.0 - found[at.BETA])) if contracts else inf
        moves = end + nv
        end = _moves(parts, columns, Q[c], x, basis, found, moves, n)
        found[at.DISTANCE], count = 0.0, (end - moves) // (n + 1)
        for i in range(count if contracts else 0):
            far = found[moves + i] + _up(_length(found, moves + count + n * i, n, 1)) * found[at.RHO]
            found[at.DISTANCE] = max(found[at.DISTANCE], far)
        found[at.DISTANCE] = AGAIN * _up(found[at.DISTANCE]) if contracts else inf
        found[at.SHORT], end = _room(entries, lower, upper, x, basis, found, end, n)
