"""How the operators of formulas enclose: each row of the table of operators, read for intervals.

A rule gives the value at the centre and the Jacobian on the box; values on the box follow by the mean value theorem.
Where an operator has a kink (minimum, maximum) the Jacobian is the hull of both sides: then the theorem holds too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from liegroups import SO3, Space
from liegroups.arrays import Matrix

from ...errors import NoEnclosureError, UndefinedError
from ..expressions.domains import LEAST_NORM
from .box import Enclosure, TangentBox
from .group_bounds import OF_MAPS, adjoint_bound, map_rounding
from .interval import Interval, angle, applied, rounded_up

Rule = Callable[[Sequence[Enclosure], float], tuple[Interval, Interval]]
"""Of the operands and the number of the operator: value (n) at the centre, Jacobian (n, columns) on the box."""


def enclose(operator: str, parts: Sequence[Enclosure], number: float, outputs: Space, box: TangentBox) -> Enclosure:
    """The enclosure of an operator.

    Args:
        operator: its name.
        parts: the operands.
        number: beside them.
        outputs: space of the value.
        box: where.

    Raises:
        UndefinedError: it may have no value somewhere on the box.
    """
    if operator == "inverse":
        return _inverse(parts[0], outputs, box)
    if operator not in RULES:
        raise NoEnclosureError(f"operator '{operator}'", "the table of rules has none")
    value, jacobian = RULES[operator](parts, number)
    return of_vectors(outputs, box, value, jacobian)


def of_vectors(outputs: Space, box: TangentBox, value: Interval, jacobian: Interval) -> Enclosure:
    """An enclosure of values in R^n, from the value at the centre and the Jacobian on the box."""
    whole = value.spread(*box.leading, outputs.nv)
    return Enclosure.centred(outputs, box, whole.middle, whole.radius, jacobian)


def _column(x: Interval) -> Interval:
    return x[..., None]


def _bilinear(times: Callable[[Any, Any], Interval]) -> Rule:
    def rule(parts: Sequence[Enclosure], number: float) -> tuple[Interval, Interval]:
        x, y = parts
        value = times(_column(x.at_center), _column(y.at_center))[..., 0]
        return value, times(x.jacobian, _column(y.over_box)) + times(_column(x.over_box), y.jacobian)

    return rule


def _product(x: Interval, y: Interval) -> Interval:
    return x * y


def _dot(x: Interval, y: Interval) -> Interval:
    terms = x * y
    total = terms[..., :1, :]
    for i in range(1, terms.shape[-2]):
        total = total + terms[..., i : i + 1, :]
    return total


_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])


def _cross(x: Interval, y: Interval) -> Interval:
    return x[..., _NEXT, :] * y[..., _AFTER, :] - x[..., _AFTER, :] * y[..., _NEXT, :]


def _quotient(parts: Sequence[Enclosure], number: float) -> tuple[Interval, Interval]:
    r""":math:`(x / y)' = (x' - (x / y)\, y') / y`."""
    x, y = parts
    below = _column(y.over_box).reciprocal()
    ratio = _column(x.over_box) * below
    return x.at_center / y.at_center, (x.jacobian - ratio * y.jacobian) * below


def _pointwise(function: Callable[[Interval, float], Interval], slope: Callable[[Interval, float], Interval]) -> Rule:
    def rule(parts: Sequence[Enclosure], number: float) -> tuple[Interval, Interval]:
        (x,) = parts
        return function(x.at_center, number), _column(slope(x.over_box, number)) * x.jacobian

    return rule


def _norm(parts: Sequence[Enclosure], number: float) -> tuple[Interval, Interval]:
    r""":math:`|x|' = x^T x' / |x|`."""
    (x,) = parts

    def of(vector: Interval) -> Interval:
        squares = vector.square()
        total = squares[..., :1]
        for i in range(1, squares.shape[-1]):
            total = total + squares[..., i : i + 1]
        root = total.sqrt()
        if not (root.lower > LEAST_NORM).all():
            raise UndefinedError("the norm of a vector that may be zero", ~(root.lower > LEAST_NORM).all(axis=-1))
        return root

    over = x.over_box
    direction = over / of(over)
    direction = Interval(np.maximum(direction.lower, -1.0), np.minimum(direction.upper, 1.0))
    return of(x.at_center), _dot(_column(direction), x.jacobian)


def _angle(parts: Sequence[Enclosure], number: float) -> tuple[Interval, Interval]:
    r""":math:`(x y' - y x') / (x^2 + y^2)`."""
    y, x = parts
    over_y, over_x = y.over_box, x.over_box
    angle(over_y, over_x)  # refused where it may jump
    below = _column((over_x.square() + over_y.square()).reciprocal())
    slope = (_column(over_x) * y.jacobian - _column(over_y) * x.jacobian) * below
    return angle(y.at_center, x.at_center), slope


def _extreme(sign: float) -> Rule:
    """Minimum (sign 1) and maximum (-1)."""

    def rule(parts: Sequence[Enclosure], number: float) -> tuple[Interval, Interval]:
        x, y = parts
        a, b = (-p.over_box if sign < 0.0 else p.over_box for p in (x, y))
        first, second = (a.upper <= b.lower)[..., None], (b.upper <= a.lower)[..., None]
        both = x.jacobian.hull(y.jacobian)
        lower = np.select([first, second], [x.jacobian.lower, y.jacobian.lower], both.lower)
        upper = np.select([first, second], [x.jacobian.upper, y.jacobian.upper], both.upper)
        choose = np.minimum if sign > 0.0 else np.maximum
        u, w = x.at_center, y.at_center
        return Interval(choose(u.lower, w.lower), choose(u.upper, w.upper)), Interval(lower, upper)

    return rule


def _root_of_sum(x: Interval, width: float) -> Interval:
    return (x.square() + Interval.of(width).square()).sqrt()


def _smooth_abs(x: Interval, width: float) -> Interval:
    r""":math:`s^2 / (\sqrt{s^2 + w^2} + w)`, which is what it is without cancellation."""
    return x.square() / (_root_of_sum(x, width) + width)


def _smooth_sign(x: Interval, width: float) -> Interval:
    r""":math:`s / \sqrt{s^2 + w^2}` rises: its ends are those of its argument."""
    low, high = (Interval.of(end) / _root_of_sum(Interval.of(end), width) for end in (x.lower, x.upper))
    return Interval(np.maximum(low.lower, -1.0), np.minimum(high.upper, 1.0))


def _power_slope(x: Interval, exponent: float) -> Interval:
    return Interval.of(np.zeros(x.shape)) if exponent == 0.0 else exponent * x.power(exponent - 1.0)


def rotation_matrix(quaternion: Matrix) -> Matrix:
    """Of a unit quaternion, within `OF_MAPS` in each entry."""
    return np.asarray(SO3.adjoint(quaternion))


def _rotated(parts: Sequence[Enclosure], number: float) -> tuple[Interval, Interval]:
    r""":math:`(R p)' = R (p' - [p]\, \omega)`; R is within an angle of that at the centre."""
    turn, p = parts
    R = rotation_matrix(turn.value)
    at, over = (
        Interval.around(R, rounded_up(np.linalg.norm(e, axis=-1) + OF_MAPS)[..., None, None])
        for e in (turn.rounding, turn.error)
    )
    point = p.over_box
    skew = Interval(np.zeros(R.shape), np.zeros(R.shape))
    for k in range(3):
        i, j = int(_NEXT[k]), int(_AFTER[k])
        skew.lower[..., j, i], skew.upper[..., j, i] = point.lower[..., k], point.upper[..., k]
        skew.lower[..., i, j], skew.upper[..., i, j] = -point.upper[..., k], -point.lower[..., k]
    return at.applied(p.at_center), over @ (p.jacobian - skew @ turn.jacobian)


def _inverse(g: Enclosure, space: Space, box: TangentBox) -> Enclosure:
    r""":math:`\nu = -\mathrm{Ad}_g\, \nu_g`, with :math:`\mathrm{Ad}_g = \mathrm{Ad}_{g_0} \mathrm{Ad}_{\exp d}`."""
    value = np.asarray(space.inverse(g.value))
    small = map_rounding(space, g.value, value)
    A = np.asarray(space.adjoint(g.value))
    size = np.abs(A) + small[..., None]
    over = Interval.around(A, rounded_up(size @ adjoint_bound(space, g.error) + small[..., None]))
    at = size + size @ adjoint_bound(space, g.rounding)
    return Enclosure.centred(space, box, value, rounded_up(applied(at, g.rounding) + small), -(over @ g.jacobian))


RULES: dict[str, Rule] = {
    "product": _bilinear(_product),
    "quotient": _quotient,
    "power": _pointwise(lambda x, c: x.power(c), _power_slope),
    "dot": _bilinear(_dot),
    "cross": _bilinear(_cross),
    "norm": _norm,
    "rotated": _rotated,
    "minimum": _extreme(1.0),
    "maximum": _extreme(-1.0),
    "smooth_abs": _pointwise(_smooth_abs, _smooth_sign),
    "sqrt": _pointwise(lambda x, _: x.sqrt(), lambda x, _: 0.5 * x.sqrt().reciprocal()),
    "sin": _pointwise(lambda x, _: x.sin(), lambda x, _: x.cos()),
    "cos": _pointwise(lambda x, _: x.cos(), lambda x, _: -x.sin()),
    "atan2": _angle,
    "exp": _pointwise(lambda x, _: x.exp(), lambda x, _: x.exp()),
    "log": _pointwise(lambda x, _: x.log(), lambda x, _: x.reciprocal()),
}
"""Rules by operator, all but the inverse."""
