r"""The table of operators: what each takes, how its value is made, what messages and files call it.

An operator is written once, for jets: value, Jacobian, drift and derivatives of that follow. Where there is no value it
says why.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from liegroups import SO3, Rn, Space
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.log_slopes import bracket_matrix

from ...errors import SizeError, SpaceMismatchError, UndefinedError
from .domains import LARGEST_EXPONENT, LEAST_NORM
from .jets import Jet, bilinear, cross_columns, linear, pointwise, rotated_jet

Combination = Callable[[Sequence[Jet], float, Space], Jet]


@dataclass(frozen=True, eq=False)
class Operator:
    """One row of the table.

    Attributes:
        name: of the function that applies it, and of the entry in files.
        sign: as it is written between its operands; empty where it is called by its name.
        count: number of operands.
        outputs: the output space, of the operands' ones and the words of messages.
        combine: the jet of the value, of those of the operands, the number that it may take, and the output space.
        takes_number: whether it has a number beside its operands: an exponent, a width.
    """

    name: str
    sign: str
    count: int
    outputs: Callable[[Sequence[Space], str], Space]
    combine: Combination
    takes_number: bool = False


# Spaces of the value.


def flat(space: Space, what: str) -> int:
    """The size of a vector space; anything else is refused.

    Args:
        space: outputs of an operand.
        what: the expression, as messages call it.
    """
    if not space.is_flat:
        expected = "R^n (of a pose, Position for the point and Orientation for the angles)"
        raise SpaceMismatchError(f"operand of {what}", expected, space.name)
    return space.nv


def _as_they_are(spaces: Sequence[Space], what: str) -> Space:
    """One row for each of all operands; an operand of one row goes with all rows of another."""
    sizes = [flat(space, what) for space in spaces]
    most = max(sizes) if 0 not in sizes else 0
    for size in sizes:
        if size not in (1, most):
            raise SizeError(f"operands of {what}", f"{most}, or 1", size)
    return Rn(most)


def _one_row(spaces: Sequence[Space], what: str) -> Space:
    sizes = [flat(space, what) for space in spaces]
    if len(set(sizes)) > 1 or sizes[0] == 0:
        raise SizeError(f"operands of {what}", sizes[0] or "at least 1", sizes[-1])
    return Rn(1)


def _in_space(spaces: Sequence[Space], what: str) -> Space:
    for space in spaces:
        if flat(space, what) != 3:
            raise SizeError(f"operands of {what}", 3, space.nv)
    return Rn(3)


def _of_rotation(spaces: Sequence[Space], what: str) -> Space:
    if spaces[0].atoms != SO3.atoms:
        raise SpaceMismatchError(f"rotation of {what}", "SO3 (Rotation(robot, frame))", spaces[0].name)
    return _in_space(spaces[1:], what)


def _of_group(spaces: Sequence[Space], what: str) -> Space:
    if spaces[0].is_flat:
        raise SpaceMismatchError(
            f"operand of {what}", "a rotation or a pose (1 / f, or -f, of numbers)", spaces[0].name
        )
    return spaces[0]


# Functions of one number: f, f', f'', f'''.


def _none(reason: str) -> NoReturn:
    raise UndefinedError(reason)


def _sine(s: float) -> tuple[float, ...]:
    sine, cosine = math.sin(s), math.cos(s)
    return sine, cosine, -sine, -cosine


def _cosine(s: float) -> tuple[float, ...]:
    sine, cosine = math.sin(s), math.cos(s)
    return cosine, -sine, -cosine, sine


def _exponential(s: float) -> tuple[float, ...]:
    if s > LARGEST_EXPONENT:
        _none(f"the exponential of {s:.6g} is too large a number")
    return (math.exp(s),) * 4


def _logarithm(s: float) -> tuple[float, ...]:
    if not s > 0.0:
        _none(f"there is no logarithm of {s:.6g}")
    d = 1.0 / s
    return math.log(s), d, -d * d, 2.0 * d * d * d


def _root(s: float) -> tuple[float, ...]:
    if not s > 0.0:
        _none(f"there is no square root of {s:.6g}" if s < 0.0 else "a square root has no derivative at 0")
    root = math.sqrt(s)
    first = 0.5 / root
    return root, first, -0.5 * first / s, 0.75 * first / s / s


def _reciprocal(s: float) -> tuple[float, ...]:
    if s == 0.0:
        _none("division by zero")
    d = 1.0 / s
    return d, -d * d, 2.0 * d * d * d, -6.0 * d * d * d * d


def _angle_of(y: float, x: float) -> tuple[float, float, float]:
    r = math.hypot(x, y)
    if r == 0.0:
        _none("there is no angle of the vector (0, 0)")
    by_y, by_x = x / r / r, -y / r / r
    if not abs(by_y) + abs(by_x) < math.inf:
        _none(f"the angle of a vector of norm {r:.6g} has too large a derivative")
    return math.atan2(y, x), by_y, by_x


def _complex_logarithm(z: complex) -> tuple[complex, ...]:
    if z == 0.0:
        _none("there is no angle of the vector (0, 0)")
    d = 1.0 / z
    return cmath.log(z), d, -d * d, 2.0 * d * d * d


def _power_of(exponent: float) -> Callable[[float], tuple[float, ...]]:
    factors = [1.0, exponent, exponent * (exponent - 1.0), exponent * (exponent - 1.0) * (exponent - 2.0)]
    whole = exponent == int(exponent)

    def derivatives(s: float) -> tuple[float, ...]:
        if s == 0.0 and (exponent < 0.0 or not whole):
            _none("division by zero" if exponent < 0.0 else f"the power {exponent:g} has no derivatives at 0")
        if s < 0.0 and not whole:
            _none(f"there is no power {exponent:g} of {s:.6g}")
        return tuple(c * _raised(s, exponent - k) if c else 0.0 for k, c in enumerate(factors))

    return derivatives


def _raised(s: float, exponent: float) -> float:
    try:
        return s**exponent
    except OverflowError:
        return math.inf


def _smooth_abs_of(width: float) -> Callable[[float], tuple[float, ...]]:
    def derivatives(s: float) -> tuple[float, ...]:
        root = math.hypot(s, width)
        part, slope = width / root, s / root
        bent = part * part / root
        return s * (s / (root + width)), slope, bent, -3.0 * bent * slope / root

    return derivatives


# Combinations.


def _of(derivatives: Callable[[Any], Sequence[Any]]) -> Combination:
    return lambda jets, number, space: pointwise(derivatives, jets[0])


def _with_number(derivatives_of: Callable[[float], Callable[[Any], Sequence[Any]]]) -> Combination:
    return lambda jets, number, space: pointwise(derivatives_of(number), jets[0])


def _bilinear_of(times: Callable[[Any, Any], Any]) -> Combination:
    return lambda jets, number, space: bilinear(times, *jets)


def _dot_columns(a: Any, b: Any) -> Any:
    if b.shape[1] == 1:
        return b.T.dot(a)
    return a.T.dot(b) if a.shape[1] == 1 else (a * b).sum(axis=0, keepdims=True)


def _dot(jets: Sequence[Jet], number: float, space: Space) -> Jet:
    x, y = jets
    if x.velocity is not None:
        return bilinear(_dot_columns, x, y)
    J = None if x.jacobian is None else (y.value.dot(x.jacobian) + x.value.dot(y.jacobian))[None]
    return Jet(x.value.dot(y.value)[None], J)  # the inside of the solver's loop


def _quotient(jets: Sequence[Jet], number: float, space: Space) -> Jet:
    x, y = jets
    inverse, value = pointwise(_reciprocal, y), x.value / y.value
    if x.velocity is None:  # the inside of the solver's loop
        J = x.jacobian
        return Jet(value, None if J is None else inverse.value[:, None] * (J - value[:, None] * y.jacobian))
    return bilinear(np.multiply, x, inverse)._replace(value=value)


def _norm(jets: Sequence[Jet], number: float, space: Space) -> Jet:
    (x,) = jets
    squared = float(x.value.dot(x.value))
    if not squared > LEAST_NORM * LEAST_NORM:
        _none("a norm has no derivative at 0")
    if x.velocity is None and squared < math.inf:  # the inside of the solver's loop
        r, J = math.sqrt(squared), x.jacobian
        return Jet(np.array([r]), None if J is None else (x.value / r).dot(J)[None])
    return pointwise(_root, bilinear(_dot_columns, x, x))


def _angle(jets: Sequence[Jet], number: float, space: Space) -> Jet:
    """The imaginary part of the logarithm of x + iy."""
    y, x = jets
    if y.velocity is None:  # the inside of the solver's loop
        ys, xs = y.value.tolist(), x.value.tolist()
        n = max(len(ys), len(xs))  # one row goes with all rows
        table: Any = list(map(_angle_of, ys * (n // len(ys)), xs * (n // len(xs))))
        angles, by_y, by_x = table[0] if n == 1 else np.array(table).T[..., None]
        J = None if y.jacobian is None else by_y * y.jacobian + by_x * x.jacobian
        return Jet(np.array(angles).reshape(n), J)
    log = pointwise(_complex_logarithm, linear(x.value + 1j * y.value, [x, y], _as_complex))
    return linear(np.arctan2(y.value, x.value), [log], np.imag)


def _as_complex(x: Any, y: Any) -> Any:
    return x + 1j * y


def _extreme(first: Callable[[Vector, Vector], Any]) -> Combination:
    def combine(jets: Sequence[Jet], number: float, space: Space) -> Jet:
        x, y = jets
        taken = first(x.value, y.value)
        if taken.size == 1:
            return x if taken[0] else y

        def chosen(a: Matrix, b: Matrix) -> Matrix:
            return np.where(taken[:, None], a, b)

        return linear(np.where(taken, x.value, y.value), jets, chosen)

    return combine


def _rotated(jets: Sequence[Jet], number: float, space: Space) -> Jet:
    R, p = jets
    return rotated_jet(SO3.adjoint(R.value), R, p)


def rotated_back(jets: Sequence[Jet], number: float, space: Space) -> Jet:
    r"""The vector :math:`z = R^T p`, whose velocity is :math:`R^T \dot p + z \times \omega`: R is not inverted."""
    R, p = jets
    if R.velocity is not None:
        return _rotated([_inverse([R], number, SO3), p], number, space)
    A = SO3.adjoint(R.value).T
    z = A.dot(p.value)
    return Jet(z, None if p.jacobian is None else A.dot(p.jacobian) + cross_columns(z[:, None], R.jacobian))


def _inverse(jets: Sequence[Jet], number: float, space: Space) -> Jet:
    r"""With :math:`h = g^{-1}`: :math:`\nu_h = -Ad_g\,\nu_g`, and so its derivative, since :math:`[\nu, \nu] = 0`."""
    (g,) = jets
    A = space.adjoint(g.value)
    made = linear(space.inverse(g.value), jets, (-A).dot)
    if g.rate_q is None:
        return made
    by_velocity, by_acceleration = (bracket_matrix(space, x[:, 0]) @ g.jacobian for x in (g.velocity, g.acceleration))
    return made._replace(rate_q=made.rate_q + A @ by_velocity, by_q=made.by_q + A @ by_acceleration)


OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for operator in (
        Operator("product", "*", 2, _as_they_are, _bilinear_of(np.multiply)),
        Operator("quotient", "/", 2, _as_they_are, _quotient),
        Operator("power", "**", 1, _as_they_are, _with_number(_power_of), takes_number=True),
        Operator("dot", "", 2, _one_row, _dot),
        Operator("cross", "", 2, _in_space, _bilinear_of(cross_columns)),
        Operator("norm", "", 1, _one_row, _norm),
        Operator("rotated", "", 2, _of_rotation, _rotated),
        Operator("inverse", "", 1, _of_group, _inverse),
        Operator("minimum", "", 2, _as_they_are, _extreme(np.less_equal)),
        Operator("maximum", "", 2, _as_they_are, _extreme(np.greater_equal)),
        Operator("smooth_abs", "", 1, _as_they_are, _with_number(_smooth_abs_of), takes_number=True),
        Operator("sqrt", "", 1, _as_they_are, _of(_root)),
        Operator("sin", "", 1, _as_they_are, _of(_sine)),
        Operator("cos", "", 1, _as_they_are, _of(_cosine)),
        Operator("atan2", "", 2, _as_they_are, _angle),
        Operator("exp", "", 1, _as_they_are, _of(_exponential)),
        Operator("log", "", 1, _as_they_are, _of(_logarithm)),
    )
}
"""Operators by their names."""

BILINEAR: dict[str, Callable[[Any, Any], Any]] = {"product": np.multiply, "dot": _dot_columns, "cross": cross_columns}
"""Operators that are linear in each of their operands: of columns, of which one has one at least."""
