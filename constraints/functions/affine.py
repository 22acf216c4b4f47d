"""Affine and identity functions, and constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups import Rn, Space
from liegroups.arguments import finite_vector, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields
from liegroups.space import as_space

from ..errors import OptionError, SizeError
from ..point import MovingPoint, PlacedSpace, Point
from .enclosures.box import Enclosure, TangentBox, of_many
from .enclosures.interval import UNIT, Interval, applied
from .function import Function


class Straight(Function):
    """A function whose Jacobian is the same everywhere."""

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        """Write zero."""
        out[:] = 0.0

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        """Write zeros."""
        dq[:], dv[:] = 0.0, 0.0

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        """Write zeros."""
        out[:] = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Affine(Straight):
    r"""Affine function of the vector coordinates of a configuration.

    .. math:: f(q) = A\,x(q) + b \in \mathbb{R}^m

    where x holds, by tangent column, the coordinates of q that belong to vector factors. A column of A that belongs
    to a rotation, a pose or a (cos, sin) joint must be zero. The function is not periodic in any joint.

    Args:
        A: (m, inputs.nv).
        b: (m,), zero by default.
        inputs: the space; R^n by default.
        name: name in messages.

    Shapes:
        value (m,), jacobian (m, inputs.nv) = A.

    Raises:
        SizeError, NotFiniteError: what is wrong with A or b.
        OptionError: a column of A on a coordinate that does not belong to a vector factor.

    Source: `AffineFunction` of hpp-constraints.
    """

    A: ArrayLike
    b: ArrayLike | None = None
    inputs: Space | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    name: str = field(default="", kw_only=True)

    _A: Matrix = field(init=False)
    _b: Vector = field(init=False)
    _from_q: Matrix = field(init=False)

    def __post_init__(self) -> None:
        A = _matrix(self.A)
        inputs = Rn(A.shape[1]) if self.inputs is None else as_space(self.inputs, "inputs of an affine function")
        if A.shape[1] != inputs.nv:
            raise SizeError("matrix of an affine function", (A.shape[0], inputs.nv), A.shape)
        offset = np.zeros(A.shape[0]) if self.b is None else self.b
        b = np.array(finite_vector(_listed(offset), A.shape[0], "vector of an affine function"))
        used = (A != 0.0).any(axis=0)
        vector = np.zeros(inputs.nv, dtype=np.bool_)
        vector[inputs.vector_v] = True
        if (used & ~vector).any():
            raise OptionError(_of_no_vector(inputs, np.flatnonzero(used & ~vector).tolist()))
        columns = np.zeros((A.shape[0], inputs.nq))
        columns[:, inputs.vector_q] = A[:, inputs.vector_v]
        set_fields(self, A=A, b=b, _A=A, _b=b, _from_q=columns)
        self.declare(inputs, Rn(A.shape[0]), used, name=self.name or None)

    def applied(self, q: Vector) -> Vector:
        """The value (m,) at a configuration (nq,), which is not checked."""
        return self._from_q.dot(q) + self._b

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        value[:] = self.applied(point.q)
        if jacobian is not None:
            jacobian[:] = self._A

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        declared: Any = self.inputs
        q = box.on(declared, self.name).q
        size = applied(np.abs(self._from_q), np.abs(q)) + np.abs(self._b)
        copies = (np.abs(self._A) == 1.0).sum(axis=1) == (self._A != 0.0).sum(axis=1)
        copies &= ((self._A != 0.0).sum(axis=1) <= 1) & (self._b == 0.0)
        size[..., copies] = 0.0  # a coordinate, or its opposite, as it is
        small = 2.0 * (q.shape[-1] + 2) * UNIT * size
        return Enclosure.centred(self.outputs, box, applied(self._from_q, q) + self._b, small, Interval.of(self._A))


@dataclass(frozen=True, eq=False, repr=False)
class Identity(Straight):
    r"""The configuration itself: :math:`f(q) = q`, :math:`J = I`.

    Args:
        space: inputs and outputs.
        name: name in messages.

    Shapes:
        value (nq,), jacobian (nv, nv).

    Source: `Identity` of hpp-constraints.
    """

    space: Space
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        space = as_space(self.space, "space of an identity")
        self.declare(space, space, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        value[:] = point.q
        if jacobian is not None:
            jacobian[:] = 0.0
            np.fill_diagonal(jacobian, 1.0)

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        n = self.outputs.nv
        own = box.on(self.inputs, self.name)
        J = Interval.of(np.eye(n)).spread(*own.leading, n, n)
        return Enclosure(own.q, np.zeros(own.r.shape), J, lambda: own.r)


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Straight):
    """A function that does not depend on its argument: :math:`f(q) = c`, :math:`J = 0`.

    Args:
        constant: the value, a point of the outputs.
        outputs: its space; R^n by default.
        inputs: the space of the argument; R^0 by default.
        name: name in messages.

    Shapes:
        value (outputs.nq,), jacobian (outputs.nv, inputs.nv) = 0.

    Source: `ConstantFunction` of hpp-constraints.
    """

    constant: ArrayLike
    outputs: Space | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    inputs: Space | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    name: str = field(default="", kw_only=True)

    _constant: Vector = field(init=False)

    def __post_init__(self) -> None:
        constant = _listed(self.constant)
        outputs = Rn(np.size(np.asarray(constant))) if self.outputs is None else as_space(self.outputs, "outputs")
        inputs = Rn(0) if self.inputs is None else as_space(self.inputs, "inputs of a constant")
        constant = np.array(outputs.check(constant, "constant"))
        set_fields(self, constant=constant, _constant=constant)
        self.declare(inputs, outputs, np.zeros(inputs.nv, dtype=np.bool_), name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        value[:] = self._constant

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        inputs: Any = self.inputs
        box.on(inputs, self.name)
        outputs: Any = self.outputs
        still = np.zeros((*box.leading, outputs.nv))
        J = Interval.of(np.zeros((*still.shape, inputs.nv)))
        return Enclosure(np.broadcast_to(self._constant, (*box.leading, outputs.nq)), still, J, lambda: still)


def _of_no_vector(inputs: Space, columns: list[int]) -> str:
    """What is said of columns of rotations and poses, whose joints are named, and what may be written instead."""
    touched = [leaf for leaf in inputs.leaves() if any(leaf.v.start <= i < leaf.v.stop for i in columns)]
    joints = ", ".join(f"'{leaf.name}' ({leaf.space.name})" for leaf in touched)
    said = f"affine function: columns {columns} belong to rotations or poses of {inputs.name}, {joints}"
    if not isinstance(inputs, PlacedSpace):
        return said
    return f"{said}: for the place of a body use Position, Rotation or Pose(robot, '{touched[0].name}')"


def _listed(numbers: Any) -> Any:
    """A number as a vector of one."""
    return [numbers] if np.isscalar(numbers) else numbers


def _matrix(numbers: ArrayLike) -> Matrix:
    """The matrix of an affine function, a copy; one row may be given as a vector."""
    what = "matrix of an affine function"
    A = np.atleast_2d(real_numbers(numbers, what, "a matrix of numbers", finite=True))
    if A.ndim != 2:
        raise SizeError(what, "two axes", A.shape)
    return np.array(A)
