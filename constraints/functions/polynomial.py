"""Polynomial of a linear combination of coordinates: what couples joints in gears, cams and tendons."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from liegroups import Rn, Space
from liegroups.arguments import finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields

from ..errors import SizeError
from ..point import MovingPoint, Point
from ..words import signed_sum
from .affine import Affine
from .enclosures.box import Enclosure, TangentBox, of_many
from .enclosures.interval import Interval
from .enclosures.operators import of_vectors
from .function import Function


@dataclass(frozen=True, eq=False, repr=False)
class Polynomial(Function):
    r"""Polynomial of one linear combination of the vector coordinates of a configuration.

    .. math:: f(q) = \sum_{k=0}^{n} a_k\, s(q)^k \in \mathbb{R}, \quad s(q) = w^T x(q) + b, \quad
        J = f'(s)\, w^T, \quad \dot J v = f''(s)\, (w^T v)^2

    where x holds, by tangent column, the coordinates of q that belong to vector factors, as in `Affine`. It is not
    periodic in any joint it depends on.

    Args:
        coefficients: :math:`a_0, \dots, a_n`, the constant first; at least one.
        weights: w (inputs.nv,); zero on the columns of rotations, poses and (cos, sin) joints.
        offset: b.
        inputs: the space; R^n by default.
        name: name in messages.

    Shapes:
        value (1,), jacobian (1, inputs.nv).

    Raises:
        SizeError, DtypeError, NotFiniteError: what is wrong with the coefficients, the weights or the offset.
        OptionError: a weight on a coordinate that does not belong to a vector factor.

    Source: the joint and tendon equalities of MuJoCo, of degree 4.
    """

    coefficients: ArrayLike
    weights: ArrayLike
    offset: float = 0.0
    inputs: Space | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    name: str = field(default="", kw_only=True)

    _space: Space = field(init=False)
    _argument: Affine = field(init=False)
    _derivatives: tuple[tuple[float, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        size = int(np.size(np.asarray(self.coefficients))) if np.ndim(self.coefficients) == 1 else 1
        if size == 0:
            raise SizeError("coefficients of a polynomial", "at least 1", 0)
        a = finite_vector(self.coefficients, size, "coefficients of a polynomial")
        if Affine(self.weights, None, self.inputs).outputs.nv != 1:
            raise SizeError("weights of a polynomial", "one row", np.shape(self.weights))
        s = Affine(self.weights, [self.offset], self.inputs)
        space = Rn(s.columns.size) if self.inputs is None else self.inputs
        first = a[1:] * np.arange(1, size)
        second = first[1:] * np.arange(1, size - 1)
        third = second[1:] * np.arange(1, second.size)
        lists = tuple(tuple(float(c) for c in derivative) for derivative in (a, first, second, third))
        set_fields(self, _space=space, _argument=s, _derivatives=lists)
        self.declare(space, Rn(1), s.columns & bool(first.any()), name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        self._argument.evaluate(point, value, jacobian)
        s = float(value[0])
        value[0] = _horner(self._derivatives[0], s)
        if jacobian is not None:
            jacobian *= _horner(self._derivatives[1], s)

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        s = self._argument.enclosure(box.on(self._space, self.name))
        value = _enclosed(self._derivatives[0], s.at_center)
        return of_vectors(self.outputs, box, value, _enclosed(self._derivatives[1], s.over_box)[..., None] * s.jacobian)

    @property
    def written_out(self) -> str:
        """The polynomial as text, the constant first: "2 - s^2, s = elbow"."""
        powers = ["", "s", *(f"s^{k}" for k in range(2, len(self._derivatives[0])))]
        w = self._argument.jacobian(self._space.neutral)[0]
        columns = [(leaf, i) for leaf in self._space.leaves() for i in range(leaf.v.start, leaf.v.stop)]
        names = [leaf.name if leaf.space.nv == 1 else f"{leaf.name}[{i - leaf.v.start}]" for leaf, i in columns]
        argument = signed_sum([*w.tolist(), float(self.offset)], [*names, ""])
        return f"{signed_sum(self._derivatives[0], powers[: len(self._derivatives[0])])}, s = {argument}"

    def __repr__(self) -> str:
        return f"Polynomial({self.name!r}: {self.written_out})"

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        w = motion.point.scratch(self, "weights", (1, self.columns.size))
        self._argument.evaluate(motion.point, out, w)
        rate = float(w[0].dot(motion.v))
        out[0] = _horner(self._derivatives[2], float(out[0])) * rate * rate

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        value, J = np.zeros(1), np.zeros((1, self.columns.size))
        self._argument.evaluate(motion.point, value, J)
        second, third = (_horner(c, float(value[0])) for c in self._derivatives[2:])
        w = J[0]
        rate = float(w @ motion.v)
        dq[0] = (second * float(w @ a) + third * rate * rate) * w
        dv[0] = 2.0 * second * rate * w

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        value, J = np.zeros(1), np.zeros((1, self.columns.size))
        self._argument.evaluate(point, value, J)
        out[:] = float(y[0]) * _horner(self._derivatives[2], float(value[0])) * np.outer(J[0], J[0])


def _enclosed(coefficients: tuple[float, ...], s: Interval) -> Interval:
    value = Interval.of(np.zeros(s.shape))
    for a in reversed(coefficients):
        value = value * s + a
    return value


def _horner(coefficients: tuple[float, ...], s: float) -> float:
    value = 0.0
    for a in reversed(coefficients):
        value = value * s + a
    return value
