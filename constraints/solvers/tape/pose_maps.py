r"""What closures and contacts measure: rows r of the pose X of frame b seen from frame a.

.. math:: \dot r = D(X)\,\nu, \qquad J_c = D\,\nu_c

with :math:`\nu` the body twist of X, (v, w) in the axes of b, and :math:`\nu_c` that of one dof. D is kept by column,
six numbers each. Each kernel writes its rows y, and where the Jacobian is asked for those of D. X is 12 numbers: R,
then p.
"""

from __future__ import annotations

from math import pi, sin, sqrt

from liegroups.unit_vectors import NEAR_HALF_TURN, UNIT_LOG

from ..machine import layout as at
from ..machine.jit import Floats, Integers, chosen, kernel, rounded
from .coefficients import log_coefficient_by
from .elementary import arc_cosine, arc_sine, arc_tangent
from .frames import frames_placed
from .groups import log_carried, log_times, quaternion_of, rotation_vector

UNDETERMINED = 1e-24
"""As in `loops.hinge_fit.twist_angle`."""
_LEAST_COSINE = sin(NEAR_HALF_TURN)


@kernel
def unit_log(c: float) -> tuple[float, float]:
    """As in `unit_vectors`, without the second derivative."""
    c = max(c, -1.0 + 0.5 * NEAR_HALF_TURN * NEAR_HALF_TURN)
    y = 1.0 - c
    near = y < 0.05
    k, k1 = 0.0, 0.0
    for coefficient in UNIT_LOG:
        k1 = k1 * y + k
        k = k * y + coefficient
    square = chosen(near, 1.0, y * (1.0 + c))
    far = arc_cosine(min(c, 1.0)) / sqrt(square)
    return chosen(near, k, far), chosen(near, -k1, (c * far - 1.0) / square)


@kernel
def arcsine(s: float) -> tuple[float, float]:
    """As in `unit_vectors`, without the second derivative."""
    s = min(max(s, -1.0), 1.0)
    cosine = max(sqrt((1.0 - s) * (1.0 + s)), _LEAST_COSINE)
    return arc_sine(s), 1.0 / cosine


@kernel
def _times(F: Floats, n: int, x: float, y: float, z: float) -> float:
    """The product of three constants with a vector."""
    return F[n] * x + F[n + 1] * y + F[n + 2] * z


@kernel
def _seen(F: Floats, W: Floats, R: int, n: int) -> tuple[float, float, float]:
    """R^T times three constants."""
    x, y, z = F[n], F[n + 1], F[n + 2]
    return (
        W[R] * x + W[R + 3] * y + W[R + 6] * z,
        W[R + 1] * x + W[R + 4] * y + W[R + 7] * z,
        W[R + 2] * x + W[R + 5] * y + W[R + 8] * z,
    )


@kernel
def _translations(F: Floats, W: Floats, M: int, n: int, count: int, y: int, d: int, jacobian: int) -> None:
    """N p, N at n in F; D = (N R, 0)."""
    for i in range(count):
        W[y + i] = _times(F, n + 3 * i, W[M + 9], W[M + 10], W[M + 11])
        if jacobian != 0:
            W[d + i], W[d + 6 + i], W[d + 12 + i] = _seen(F, W, M, n + 3 * i)


@kernel
def _turn(F: Floats, W: Floats, R: int, n: int, y: int, d: int, jacobian: int) -> None:
    """C log R, C at n in F."""
    a, b, c, cot = rotation_vector(W, R)
    for i in range(3):
        W[y + i] = _times(F, n + 3 * i, a, b, c)
    if jacobian == 0:
        return
    k = log_coefficient_by(a * a + b * b + c * c, cot)
    for j in range(3):
        e, f, g = 1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0
        e, f, g = log_times(a, b, c, k, e, f, g)
        for i in range(3):
            W[d + 18 + 6 * j + i] = _times(F, n + 3 * i, e, f, g)


@kernel
def _swing(F: Floats, W: Floats, R: int, n: int, y: int, d: int, jacobian: int) -> None:
    r"""k(c) B u, u = R b, c = a . u. At n in F: a, b, the two rows of B.

    D is :math:`-G\,R\,[b]` with :math:`G = k\,B + k'\,(B\,u)\,a^T`.
    """
    e, f, g = F[n + 3], F[n + 4], F[n + 5]
    u = W[R] * e + W[R + 1] * f + W[R + 2] * g
    v = W[R + 3] * e + W[R + 4] * f + W[R + 5] * g
    w = W[R + 6] * e + W[R + 7] * f + W[R + 8] * g
    c, s, t = _times(F, n, u, v, w), _times(F, n + 6, u, v, w), _times(F, n + 9, u, v, w)
    k, slope = unit_log(c)
    near, sine = c > -0.9, sqrt(s * s + t * t)  # beyond, the angle from the sine: the cosine does not tell there
    angle, tilted = pi - arc_sine(min(sine, 1.0)), sine > 1e-12
    by = chosen(tilted, sine, 1.0)
    W[y] = chosen(near, k * s, chosen(tilted, angle * (s / by), angle))
    W[y + 1] = chosen(near, k * t, chosen(tilted, angle * (t / by), 0.0))
    if jacobian != 0:
        a, b, c = _seen(F, W, R, n)
        for i in range(2):
            x, h, z = _seen(F, W, R, n + 6 + 3 * i)
            along = slope * (s if i == 0 else t)
            x, h, z = k * x + along * a, k * h + along * b, k * z + along * c
            W[d + 18 + i], W[d + 24 + i], W[d + 30 + i] = f * z - g * h, g * x - e * z, e * h - f * x


@kernel
def _cross(F: Floats, W: Floats, R: int, n: int, y: int, d: int, jacobian: int) -> None:
    """-arcsin(a . R b). At n in F: a, b."""
    a, b, c = _seen(F, W, R, n)
    e, f, g = F[n + 3], F[n + 4], F[n + 5]
    angle, slope = arcsine(a * e + b * f + c * g)
    W[y] = -angle
    if jacobian != 0:
        W[d + 18], W[d + 24], W[d + 30] = slope * (b * g - c * f), slope * (c * e - a * g), slope * (a * f - b * e)


@kernel
def _rotation(I: Integers, F: Floats, W: Floats, t: int, R: int, n: int, y: int, d: int, jacobian: int) -> None:
    """Rows of a rotation, if any."""
    if I[t + at.ROTATION_MAP] == at.TURN:
        _turn(F, W, R, n, y, d, jacobian)
    elif I[t + at.ROTATION_MAP] == at.SWING:
        _swing(F, W, R, n, y, d, jacobian)
    elif I[t + at.ROTATION_MAP] == at.CROSS:
        _cross(F, W, R, n, y, d, jacobian)


@kernel
def _split(I: Integers, F: Floats, W: Floats, t: int, M: int, n: int, y: int, d: int, jacobian: int) -> None:
    """Translations along some directions, then rows of the rotation. At n in F: the directions, then its numbers."""
    count = I[t + at.DIRECTIONS]
    _translations(F, W, M, n, count, y, d, jacobian)
    _rotation(I, F, W, t, M, n + 3 * count, y + count, d + count, jacobian)


@kernel
def _screw(I: Integers, F: Floats, W: Floats, t: int, M: int, n: int, y: int, d: int, jacobian: int) -> None:
    r"""Two translations across the axis, the one along it less pitch times what the pose turns about it, the swing.

    The angle is that of `loops.hinge_fit.twist_angle`, :math:`2\,\mathrm{atan2}(a \cdot u, w)` of the quaternion
    (u, w), less or more as many whole turns as bring the advance nearest. At n in F: as `_split`; the pitch.
    """
    _split(I, F, W, t, M, n, y, d, jacobian)
    pitch, axis = F[n + 21], n + 6
    a, b, c, w = quaternion_of(W, M)
    s = _times(F, axis, a, b, c)
    square = s * s + w * w
    determined = square >= UNDETERMINED
    angle = chosen(determined, 2.0 * arc_tangent(s, w), 0.0)
    W[y + 2] -= pitch * (angle + 2.0 * pi * rounded((W[y + 2] / pitch - angle) / (2.0 * pi)))
    if jacobian == 0:
        return
    e, f, g, by = F[axis], F[axis + 1], F[axis + 2], chosen(determined, square, 1.0)
    x, h, z = w * e + f * c - g * b, w * f + g * a - e * c, w * g + e * b - f * a
    W[d + 20] = -pitch * chosen(determined, (w * x + s * a) / by, e)
    W[d + 26] = -pitch * chosen(determined, (w * h + s * b) / by, f)
    W[d + 32] = -pitch * chosen(determined, (w * z + s * c) / by, g)


@kernel
def _log_pose(I: Integers, W: Floats, t: int, M: int, y: int, d: int, jacobian: int) -> None:
    """The logarithm of X in SE(3): its Jacobian is what `log_carried` makes of the identity."""
    a, b, c, cot = rotation_vector(W, M)
    k = log_coefficient_by(a * a + b * b + c * c, cot)
    W[y], W[y + 1], W[y + 2] = log_times(-a, -b, -c, k, W[M + 9], W[M + 10], W[M + 11])
    W[y + 3], W[y + 4], W[y + 5] = a, b, c
    if jacobian != 0:
        for j in range(6):
            for i in range(6):
                W[d + 6 * j + i] = 1.0 if i == j else 0.0
        log_carried(I, W, I[t + at.MAP_GROUP], y, d, 6, I[t + at.MAP_COLUMNS])


@kernel
def _turned(F: Floats, W: Floats, R: int, n: int, x: int) -> None:
    """W[x:x+3] = C R W[x:x+3], C at n in F."""
    a, b, c = W[x], W[x + 1], W[x + 2]
    e = W[R] * a + W[R + 1] * b + W[R + 2] * c
    f = W[R + 3] * a + W[R + 4] * b + W[R + 5] * c
    g = W[R + 6] * a + W[R + 7] * b + W[R + 8] * c
    for i in range(3):
        W[x + i] = _times(F, n + 3 * i, e, f, g)


@kernel
def _turned_log(I: Integers, F: Floats, W: Floats, t: int, M: int, n: int, y: int, d: int, jacobian: int) -> None:
    r"""C R log X, by halves: :math:`\dot r = C R\,(\dot u + w \times u)` of each half u. At n in F: C."""
    _log_pose(I, W, t, M, y, d, jacobian)
    if jacobian != 0:
        for half in range(2):
            x, h = y + 3 * half, d + 18 + 3 * half
            a, b, c = W[x], W[x + 1], W[x + 2]
            W[h + 1], W[h + 2] = W[h + 1] - c, W[h + 2] + b
            W[h + 6], W[h + 8] = W[h + 6] + c, W[h + 8] - a
            W[h + 12], W[h + 13] = W[h + 12] - b, W[h + 13] + a
        for j in range(12):
            _turned(F, W, M, n, d + 3 * j)
    _turned(F, W, M, n, y)
    _turned(F, W, M, n, y + 3)


@kernel
def _rod(F: Floats, W: Floats, M: int, n: int, y: int, d: int, jacobian: int) -> None:
    """(p . p - l^2) / 2; D = (p^T R, 0). At n in F: l."""
    a, b, c = W[M + 9], W[M + 10], W[M + 11]
    W[y] = 0.5 * (a * a + b * b + c * c - F[n] * F[n])
    if jacobian != 0:
        for j in range(3):
            W[d + 6 * j] = a * W[M + j] + b * W[M + 3 + j] + c * W[M + 6 + j]


@kernel
def _local_point(F: Floats, W: Floats, M: int, n: int, count: int, y: int, d: int, jacobian: int) -> None:
    """N e, e = R^T p; D = (N, N [e]). At n in F: N."""
    x, h, z = W[M + 9], W[M + 10], W[M + 11]
    a = W[M] * x + W[M + 3] * h + W[M + 6] * z
    b = W[M + 1] * x + W[M + 4] * h + W[M + 7] * z
    c = W[M + 2] * x + W[M + 5] * h + W[M + 8] * z
    for i in range(count):
        e, f, g = F[n + 3 * i], F[n + 3 * i + 1], F[n + 3 * i + 2]
        W[y + i] = e * a + f * b + g * c
        if jacobian != 0:
            W[d + i], W[d + 6 + i], W[d + 12 + i] = e, f, g
            W[d + 18 + i], W[d + 24 + i], W[d + 30 + i] = f * c - g * b, g * a - e * c, e * b - f * a


@kernel
def _row(W: Floats, d: int, x: float, y: float, z: float) -> float:
    """A row of three columns of D, six numbers each, with a vector."""
    return W[d] * x + W[d + 6] * y + W[d + 12] * z


@kernel
def _write_rows(W: Floats, o: int, d: int, count: int, x: float, y: float, z: float) -> None:
    """Some of them; three without a loop, which takes longer to begin than they take."""
    if count == 3:
        W[o], W[o + 1], W[o + 2] = _row(W, d, x, y, z), _row(W, d + 1, x, y, z), _row(W, d + 2, x, y, z)
    else:
        for i in range(count):
            W[o + i] = _row(W, d + i, x, y, z)


@kernel
def _columns(I: Integers, W: Floats, r: int, t: int, R: int, p: int, d: int) -> None:
    """D times the twist of each dof, that of the point p in the axes R; columns as in `frames`."""
    columns, plus, rows, linear, angular = (
        I[r + at.COLS],
        I[r + at.D],
        I[t + at.MAP_ROWS],
        I[t + at.LINEAR_ROWS],
        I[t + at.FIRST_ANGULAR],
    )
    x, y, z = W[p], W[p + 1], W[p + 2]
    for n in range(I[columns]):
        c = I[columns + 1 + n]
        s, o = I[at.TWISTS] + 6 * c, I[r + at.J] + c * I[r + at.JS]
        sign = 1.0 if n < plus else -1.0
        e, f, g = sign * W[s + 3], sign * W[s + 4], sign * W[s + 5]
        u, v, w = sign * W[s] + f * z - g * y, sign * W[s + 1] + g * x - e * z, sign * W[s + 2] + e * y - f * x
        if linear > 0:
            a, b, h = (
                W[R] * u + W[R + 3] * v + W[R + 6] * w,
                W[R + 1] * u + W[R + 4] * v + W[R + 7] * w,
                W[R + 2] * u + W[R + 5] * v + W[R + 8] * w,
            )
            _write_rows(W, o, d, linear, a, b, h)
        if angular < rows:
            a, b, h = (
                W[R] * e + W[R + 3] * f + W[R + 6] * g,
                W[R + 1] * e + W[R + 4] * f + W[R + 7] * g,
                W[R + 2] * e + W[R + 5] * f + W[R + 8] * g,
            )
            for i in range(angular, linear):
                W[o + i] += _row(W, d + 18 + i, a, b, h)
            _write_rows(W, o + linear, d + 18 + linear, rows - linear, a, b, h)


@kernel
def pose_map(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> None:
    """Rows of a pose, by the record at [X] in I. [A] to [D] and the first 24 numbers as in `frames`; then its own."""
    t, n, y, first = I[r + at.X], I[r + at.NUMBERS] + 24, I[r + at.Y], frames_placed(I, F, W, r)
    M, d, kind = first + 24, first + 36, I[t + at.MAP]
    if kind == at.SPLIT:
        _split(I, F, W, t, M, n, y, d, jacobian)
    elif kind == at.SCREW:
        _screw(I, F, W, t, M, n, y, d, jacobian)
    elif kind == at.LOG_POSE:
        _log_pose(I, W, t, M, y, d, jacobian)
    elif kind == at.TURNED_LOG:
        _turned_log(I, F, W, t, M, n, y, d, jacobian)
    elif kind == at.ROD:
        _rod(F, W, M, n, y, d, jacobian)
    elif kind == at.LOCAL_POINT:
        _local_point(F, W, M, n, I[t + at.DIRECTIONS], y, d, jacobian)
    if jacobian != 0:
        _columns(I, W, r, t, first + 12, first + 21, d)
