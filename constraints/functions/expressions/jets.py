r"""What an operator is written for: values with what they change by, to second order.

An operator is one line of the three rules here, and has its Jacobian, its drift and the derivatives of that from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import UndefinedError
from ...robot.model.pinocchio import pin


class Jet(NamedTuple):
    r"""A value at one point, with what it changes by; what nobody asks for is None.

    Values of groups move by body velocities, as in `Function`. A function asked for its value has that alone; for its
    Jacobian :math:`J` also the Jacobian; for its drift the value, velocity and acceleration; for derivatives of its
    acceleration all of them.

    Attributes:
        value: (nq,).
        jacobian: J (nv, columns).
        velocity: :math:`J v` (nv, 1).
        acceleration: :math:`J a + \dot J v` (nv, 1).
        rate_q: (nv, columns), of the velocity by q.
        by_q, by_v: (nv, columns), of the acceleration.
    """

    value: Vector
    jacobian: Any = None
    velocity: Any = None
    acceleration: Any = None
    rate_q: Any = None
    by_q: Any = None
    by_v: Any = None


def linear(value: Any, parts: Sequence[Jet], apply: Callable[..., Matrix]) -> Jet:
    """A linear map of some values.

    Args:
        value: the result.
        parts: its arguments.
        apply: the map, of columns of derivatives.
    """
    if parts[0].velocity is None:  # the inside of the solver's loop
        return Jet(value, None if parts[0].jacobian is None else apply(*[part.jacobian for part in parts]))
    return Jet(
        value, *(None if some[0] is None else apply(*some) for some in zip(*(p[1:] for p in parts), strict=True))
    )


def bilinear(times: Callable[[Any, Any], Any], x: Jet, y: Jet) -> Jet:
    r"""A bilinear map :math:`B(x, y)`.

    .. math:: \dot z = B(\dot x, y) + B(x, \dot y), \qquad
        \ddot z = B(\ddot x, y) + 2 B(\dot x, \dot y) + B(x, \ddot y)

    Args:
        times: B, of columns: (n, c) and (m, 1), or (n, 1) and (m, c).
        x, y: its arguments, vectors.
    """
    X, Y = x.value[:, None], y.value[:, None]
    z = Jet(times(X, Y)[:, 0], None if x.jacobian is None else times(x.jacobian, Y) + times(X, y.jacobian))
    if x.velocity is None:
        return z
    u, v, a, b = x.velocity, y.velocity, x.acceleration, y.acceleration
    z = z._replace(velocity=times(u, Y) + times(X, v), acceleration=times(a, Y) + 2.0 * times(u, v) + times(X, b))
    if x.rate_q is None:
        return z
    J, K = x.jacobian, y.jacobian
    return z._replace(
        rate_q=times(x.rate_q, Y) + times(u, K) + times(J, v) + times(X, y.rate_q),
        by_q=times(x.by_q, Y) + times(a, K) + times(J, b) + times(X, y.by_q)
        + 2.0 * (times(x.rate_q, v) + times(u, y.rate_q)),
        by_v=times(x.by_v, Y) + times(X, y.by_v) + 2.0 * (times(J, v) + times(u, K)),
    )  # fmt: skip


def pointwise(derivatives: Callable[[Any], Sequence[Any]], x: Jet) -> Jet:
    r"""A function of one number, of each entry.

    .. math:: \dot y = f' \dot x, \qquad \ddot y = f' \ddot x + f'' \dot x^2

    Args:
        derivatives: of a number: :math:`f, f', f'', f'''`.
        x: its argument, a vector.

    Raises:
        UndefinedError: a value, or a derivative that is asked for, is too large a number; the first one always is.
    """
    numbers, J, v, a = x.value.tolist(), x.jacobian, x.velocity, x.acceleration
    found, asked = [derivatives(s) for s in numbers], 2 + (v is not None) + (x.rate_q is not None)
    for s, row in zip(numbers, found, strict=True):
        if not sum(map(abs, row[:asked])) < math.inf:
            raise UndefinedError(f"of {s:.6g} it is too large a number, or its derivative is")
    table = np.array(found)
    made = Jet(table[:, 0], None if J is None else table[:, 1:2] * J)
    if v is None:
        return made
    first, second, third = table.T[1:, :, None]
    made = made._replace(velocity=first * v, acceleration=first * a + second * v * v)
    if x.rate_q is None:
        return made
    return made._replace(
        rate_q=first * x.rate_q + second * v * J,
        by_q=first * x.by_q + (second * a + third * v * v) * J + 2.0 * second * v * x.rate_q,
        by_v=first * x.by_v + 2.0 * second * v * J,
    )


def cross_columns(a: Any, b: Any) -> Any:
    """Cross products of columns (3, c) and of one (3, 1), or of one and of columns."""
    return pin.skew(-b[:, 0]).dot(a) if b.shape[1] == 1 else pin.skew(a[:, 0]).dot(b)


def rotated_jet(R: Matrix, turn: Jet, p: Jet) -> Jet:
    r"""The vector :math:`R p` of a rotation that turns with body velocity :math:`\omega`.

    .. math:: \dot z = R(\dot p + \omega \times p) = R c, \qquad
        \ddot z = R(\ddot p + \omega \times (\dot p + c) + \dot\omega \times p)

    Args:
        R: the rotation (3, 3).
        turn: of the rotation: its value is not looked at.
        p: the vector.
    """
    P, K = p.value[:, None], p.jacobian
    seen: Any = None if p.jacobian is None else K - pin.skew(p.value).dot(turn.jacobian)
    z = Jet(R.dot(p.value), None if seen is None else R.dot(seen))
    if p.velocity is None:
        return z
    w = turn.velocity
    c = p.velocity + cross_columns(w, P)
    both = p.velocity + c
    acceleration = p.acceleration + cross_columns(w, both) + cross_columns(turn.acceleration, P)
    z = z._replace(velocity=R @ c, acceleration=R @ acceleration)
    if p.rate_q is None:
        return z
    W = turn.jacobian
    c_q = p.rate_q + cross_columns(turn.rate_q, P) + cross_columns(w, K)
    by_q = p.by_q + cross_columns(turn.rate_q, both) + cross_columns(w, p.rate_q + c_q)
    by_q += cross_columns(turn.by_q, P) + cross_columns(turn.acceleration, K)
    by_v = p.by_v + cross_columns(W, both) + cross_columns(w, K + seen) + cross_columns(turn.by_v, P)
    return z._replace(
        rate_q=R @ (c_q + cross_columns(W, c)), by_q=R @ (by_q + cross_columns(W, acceleration)), by_v=R @ by_v
    )
