r"""Functions of the pose of frame b seen from frame a: :class:`Pose`, `Position`, `Orientation`, `Transformation`, ...

A column of the Jacobian is made of the twist (v, w) of its dof in the world, v that of the point at the origin:

.. math:: {}^bv = {}^oR_b^T\,(v + w \times {}^op_b), \qquad {}^bw = {}^oR_b^T\, w

with a minus sign on the joints that carry frame a.
"""

from __future__ import annotations

from ..machine import layout as at
from ..machine.jit import Floats, Integers, kernel
from .coefficients import log_coefficient_by
from .groups import log_times, quaternion_of, turn_of
from .trees import product_of_poses


@kernel
def relative_pose(W: Floats, a: int, b: int, out: int) -> None:
    """W[out] = W[a]^-1 W[b], poses of 12 numbers."""
    x, y, z = W[b + 9] - W[a + 9], W[b + 10] - W[a + 10], W[b + 11] - W[a + 11]
    c, d, e, f, g, h, k, l, m = W[b], W[b + 1], W[b + 2], W[b + 3], W[b + 4], W[b + 5], W[b + 6], W[b + 7], W[b + 8]
    for i in range(3):
        r, s, t = W[a + i], W[a + 3 + i], W[a + 6 + i]
        W[out + 3 * i] = r * c + s * f + t * k
        W[out + 3 * i + 1] = r * d + s * g + t * l
        W[out + 3 * i + 2] = r * e + s * h + t * m
        W[out + 9 + i] = r * x + s * y + t * z


@kernel
def frames_placed(I: Integers, F: Floats, W: Floats, r: int) -> int:
    """Frame a, frame b, and b seen from a, one after the other: where they are.

    Where [A] is 0, a stands there; where it is negative, a is the world.
    """
    out = I[r + at.C]
    if I[r + at.A] > 0:
        product_of_poses(W, I[r + at.A], F, I[r + at.NUMBERS], out)
    product_of_poses(W, I[r + at.B], F, I[r + at.NUMBERS] + 12, out + 12)
    if I[r + at.A] < 0:
        for i in range(12):
            W[out + 24 + i] = W[out + 12 + i]
    else:
        relative_pose(W, out, out + 12, out + 24)
    return out


@kernel
def _linear_rows(I: Integers, W: Floats, R: int, p: int, columns: int, plus: int, J: int, stride: int) -> None:
    """Velocity of the point p, along the axes R; columns are `plus` of the chain of b, then those of a."""
    twists = I[at.TWISTS]
    x, y, z = W[p], W[p + 1], W[p + 2]
    for n in range(I[columns]):
        c = I[columns + 1 + n]
        t, o = twists + 6 * c, J + c * stride
        d, e, f = W[t + 3], W[t + 4], W[t + 5]
        a, b, c_ = W[t] + e * z - f * y, W[t + 1] + f * x - d * z, W[t + 2] + d * y - e * x
        if n >= plus:
            a, b, c_ = -a, -b, -c_
        W[o] = W[R] * a + W[R + 3] * b + W[R + 6] * c_
        W[o + 1] = W[R + 1] * a + W[R + 4] * b + W[R + 7] * c_
        W[o + 2] = W[R + 2] * a + W[R + 5] * b + W[R + 8] * c_


@kernel
def _angular_rows(
    I: Integers, W: Floats, R: int, w: int, s: float, columns: int, plus: int, J: int, stride: int
) -> None:
    """Angular velocity along the axes R, times the Jacobian of the logarithm at w, of coefficient s; w 0: without."""
    d, e, f, g, h, k, l, m, o = W[R], W[R + 1], W[R + 2], W[R + 3], W[R + 4], W[R + 5], W[R + 6], W[R + 7], W[R + 8]
    if w != 0:  # both matrices at once: a product less for each column
        x, y, z = W[w], W[w + 1], W[w + 2]
        d, e, f = log_times(x, y, z, s, d, e, f)
        g, h, k = log_times(x, y, z, s, g, h, k)
        l, m, o = log_times(x, y, z, s, l, m, o)
    for n in range(I[columns]):
        column = I[columns + 1 + n]
        t, to = I[at.TWISTS] + 6 * column, J + column * stride
        a, b, c = W[t + 3], W[t + 4], W[t + 5]
        if n >= plus:
            a, b, c = -a, -b, -c
        W[to] = d * a + g * b + l * c
        W[to + 1] = e * a + h * b + m * c
        W[to + 2] = f * a + k * b + o * c


@kernel
def frame_function(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> None:
    """One of the functions above, by its operation."""
    operation, y, k = I[r + at.OPERATION], I[r + at.Y], 0.0
    M = frames_placed(I, F, W, r)
    if operation != at.ORIENTATION and operation != at.ROTATION:
        W[y], W[y + 1], W[y + 2] = W[M + 33], W[M + 34], W[M + 35]
        y += 3
    if operation != at.POSITION:
        a, b, c, d = quaternion_of(W, M + 24)
        if operation == at.ORIENTATION or operation == at.TRANSFORMATION:
            a, b, c, cot = turn_of(a, b, c, d)
            W[y], W[y + 1], W[y + 2], k = a, b, c, log_coefficient_by(a * a + b * b + c * c, cot)
        else:
            W[y], W[y + 1], W[y + 2], W[y + 3] = a, b, c, d
    if jacobian == 0:
        return
    columns, plus, o, stride = I[r + at.COLS], I[r + at.D], I[r + at.J], I[r + at.JS]
    if operation != at.ORIENTATION and operation != at.ROTATION:
        axes = M + 12 if operation == at.POSE else M
        _linear_rows(I, W, axes, M + 21, columns, plus, o, stride)
        o += 3
    if operation != at.POSITION:
        has_log = operation == at.ORIENTATION or operation == at.TRANSFORMATION
        _angular_rows(I, W, M + 12, y if has_log else 0, k, columns, plus, o, stride)
