"""How far a configuration is from one where a function cannot be moved in all directions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from liegroups import Rn, Segments
from liegroups.arguments import as_name, as_tuple
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import set_fields

from ...errors import SizeError, UndefinedError
from ...point import Point
from ..frames.frame_function import FrameFunction
from ..function import Function, as_function

SINGULAR = 1e-12
"""Of the largest singular value: a Jacobian with a smaller one has no logarithm of its volume."""


class _Factors(NamedTuple):
    """A Jacobian as U diag(s) V: U (m, m), s (m,) from the largest, V (m, nv), zero in locked columns."""

    U: Matrix
    s: Vector
    V: Matrix


@dataclass(frozen=True, eq=False, repr=False)
class _Dexterity(Function):
    """A number that depends on the singular values of the Jacobian of another function."""

    function: Function
    locked: Sequence[str] = ()
    name: str = field(default="", kw_only=True)

    _moving: Matrix = field(init=False)

    @abstractmethod
    def _of(self, factors: _Factors) -> tuple[float, Matrix, Matrix]:
        """The number; with rows y (k, m) and w (k, nv), what it changes by with the Jacobian J: sum of y^T J w."""

    def __post_init__(self) -> None:
        f = as_function(self.function, f"function of {type(self).__name__}")
        what = f"locked joints of {type(self).__name__}"
        locked = [as_name(joint, what) for joint in as_tuple(self.locked, what, "names of joints", ordered=False)]
        moving = f.columns.copy()
        if locked:
            moving[Segments.of(f.inputs, *locked).v_indices] = False
        m, n = f.outputs.nv, int(moving.sum())
        if not 0 < m <= n:
            what = f"rows of {f.name}, of which {type(self).__name__} is asked"
            raise SizeError(what, f"1 to {n}, the columns that move it", m)
        set_fields(self, locked=tuple(locked), _moving=np.tile(moving.astype(np.float64), (m, 1)))
        self.declare(
            f.inputs, Rn(1), f.columns, periodic=f.periodic, name=self.name or f"{type(self).__name__}({f.name})"
        )

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        f = self.function
        own: Vector = point.scratch(self, "value", (f.outputs.nq,))
        J: Matrix = point.scratch(self, "J", (f.outputs.nv, f.inputs.nv))
        f.evaluate(point, own, J)
        V, s, U, failed = lapack.dgesvd((J * self._moving).T, full_matrices=0)  # of columns, as LAPACK reads
        if failed:
            raise UndefinedError(f"{self.name}: the Jacobian of {f.name} has no singular values")
        value[0], left, right = self._of(_Factors(U.T, s, V.T))
        if jacobian is not None:
            jacobian[0] = _slope(f, point, left, right)


def _slope(f: Function, point: Point, left: Matrix, right: Matrix) -> Vector:
    r"""How :math:`\sum_i y_i^T J w_i` of a function changes with q (nv,), with y and w, rows of both matrices, kept."""
    if isinstance(f, FrameFunction) and f.has_exact_derivatives:
        found = f.pairing_slope(point, left.T.dot(right))
        if found is not None:
            return found
    of_forces, slope = np.zeros((f.inputs.nv, f.inputs.nv)), np.zeros(f.inputs.nv)
    for y, w in zip(left, right, strict=True):
        f.force_derivative(point, y, of_forces)  # of J^T y, by q
        slope += w @ of_forces
    return slope


@dataclass(frozen=True, eq=False, repr=False)
class Manipulability(_Dexterity):
    r"""The logarithm of the manipulability of a function: of the volume that unit joint velocities can move it in.

    .. math:: f(q) = \ln\sqrt{\det(J J^T)} = \sum_i \ln \sigma_i(J), \quad
        \frac{\partial f}{\partial q_k} = \operatorname{tr}\!\Big(J^{+}\,\frac{\partial J}{\partial q_k}\Big)

    with J the Jacobian of the function, without the columns of the locked joints. Of `Position(robot, frame)` it
    is the one of translations, of `Rotation` of rotations, of `Pose` of both (metres and radians together), of
    `f[rows]` of some rows, of `scale * f` with other units. Its derivative is exact where the function has exact
    derivatives of accelerations (those of frames and formulas of them); else by differences of J. It has no
    value at singular configurations: there it falls to minus infinity.

    As the optional last level of a problem: `Implicit.above(Manipulability(f), c)`, with c more than can be reached.

    Args:
        function: what is moved, with m rows, not more than the columns that move it.
        locked: names of joints that are held.
        name: name in messages.

    Shapes:
        value (1,), jacobian (1, nv).

    Raises:
        SizeError: more rows than columns: J J^T would be singular everywhere.
        UnknownNameError: a joint that the robot does not have.
        UndefinedError: when evaluated at a singular configuration.

    Source: T. Yoshikawa, Manipulability of robotic mechanisms, International Journal of Robotics Research 4 (1985);
    `Manipulability` of hpp-constraints, which gives the logarithm to base 10, and its gradient by differences.
    """

    def _of(self, factors: _Factors) -> tuple[float, Matrix, Matrix]:
        U, s, V = factors
        sizes: list[float] = s.tolist()
        if not sizes[-1] > SINGULAR * sizes[0]:
            raise UndefinedError(f"{self.name}: {self.function.name} is singular, there is no logarithm of its volume")
        return sum(map(log, sizes)), (U / s).T, V


@dataclass(frozen=True, eq=False, repr=False)
class SmallestSingularValue(_Dexterity):
    r"""The distance of a configuration from singularities of a function: the smallest singular value of its Jacobian.

    .. math:: f(q) = \sigma_m(J(q)), \quad \frac{\partial f}{\partial q_k} = u^T\,\frac{\partial J}{\partial q_k}\,v

    with u, v its singular vectors, and J without the columns of the locked joints. It is the distance, in the spectral
    norm, of J from the nearest matrix of less rank: the speed in the worst direction at joint velocities of norm 1.
    Where the two smallest values are equal, and where it is 0, it has a kink and the Jacobian is that of one of the
    sides; away from there it is exact as `Manipulability` is.

    Args:
        function: what is moved, with m rows, not more than the columns that move it. `scale * f` has other units.
        locked: names of joints that are held.
        name: name in messages.

    Shapes:
        value (1,): in the units of the rows per unit of the joints; jacobian (1, nv).

    Raises:
        SizeError: more rows than columns.
        UnknownNameError: a joint that the robot does not have.

    Source: C. A. Klein, B. E. Blaho, Dexterity measures for the design and control of kinematically redundant
    manipulators, International Journal of Robotics Research 6 (1987).
    """

    def _of(self, factors: _Factors) -> tuple[float, Matrix, Matrix]:
        return float(factors.s[-1]), factors.U[:, -1:].T, factors.V[-1:]
