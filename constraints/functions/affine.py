"""Affine and identity functions, and constants."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from liegroups import Rn, Space

from ..arrays import ArrayLike, Matrix, Vector
from ..errors import NotFiniteError, OptionError, SizeError
from ..function import Function
from ..point import MovingPoint, Point

__all__ = ["Affine", "Constant", "Identity"]


@dataclass(frozen=True, eq=False, repr=False)
class Affine(Function):
    r"""Affine function of the vector coordinates of a configuration.

    .. math:: f(q) = A\,x(q) + b \in \mathbb{R}^m

    where x holds, by tangent column, the coordinates of q that belong to vector factors. A column of A that belongs
    to a rotation, a pose or a (cos, sin) joint must be zero. It is not periodic in any joint.

    Args:
        A: (m, inputs.nv).
        b: (m,), zero by default.
        inputs: the space; R^n by default.
        name: name in messages.

    Shapes:
        value (m,), jacobian (m, inputs.nv) = A.

    Raises:
        SizeError, NotFiniteError: what is wrong with A or b.
        OptionError: a column of A on a coordinate that is not a vector's.

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
        """Check sizes and columns."""
        A = np.atleast_2d(np.array(self.A, dtype=np.float64))
        b = np.zeros(A.shape[0]) if self.b is None else np.atleast_1d(np.array(self.b, dtype=np.float64))
        inputs = Rn(A.shape[1]) if self.inputs is None else self.inputs
        if A.ndim != 2 or A.shape[1] != inputs.nv:
            raise SizeError("matrix of an affine function", (b.size, inputs.nv), A.shape)
        if b.shape != (A.shape[0],):
            raise SizeError("vector of an affine function", (A.shape[0],), b.shape)
        for what, array in (("matrix of an affine function", A), ("vector of an affine function", b)):
            if not np.isfinite(array).all():
                raise NotFiniteError(what, np.flatnonzero(~np.isfinite(array)).tolist())
        used = (A != 0.0).any(axis=0)
        vector = np.zeros(inputs.nv, dtype=np.bool_)
        vector[inputs.vector_v] = True
        if (used & ~vector).any():
            wrong = np.flatnonzero(used & ~vector).tolist()
            raise OptionError(f"affine function: columns {wrong} belong to rotations or poses of {inputs.name}")
        columns = np.zeros((A.shape[0], inputs.nq))
        columns[:, inputs.vector_q] = A[:, inputs.vector_v]
        object.__setattr__(self, "_A", A)
        object.__setattr__(self, "_b", b)
        object.__setattr__(self, "_from_q", columns)
        self.declare(inputs, Rn(A.shape[0]), used, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        value[:] = self._from_q @ point.q
        value += self._b
        if jacobian is not None:
            jacobian[:] = self._A

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        out[:] = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Identity(Function):
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
        """Declare it."""
        self.declare(self.space, self.space, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        value[:] = point.q
        if jacobian is not None:
            jacobian[:] = 0.0
            np.fill_diagonal(jacobian, 1.0)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        out[:] = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Function):
    """A function that does not depend on its argument: value c, Jacobian zero, no column.

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
        """Check the value."""
        outputs = Rn(np.size(np.asarray(self.constant))) if self.outputs is None else self.outputs
        inputs = Rn(0) if self.inputs is None else self.inputs
        object.__setattr__(self, "_constant", outputs.check(np.atleast_1d(self.constant), "constant"))
        self.declare(inputs, outputs, np.zeros(inputs.nv, dtype=np.bool_), name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        value[:] = self._constant

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        out[:] = 0.0
