"""The coordinates of a configuration that are free: neither computed by explicit constraints nor held."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from liegroups.arguments import stacked
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector
from liegroups.errors import NotFiniteError
from liegroups.frozen import read_only
from liegroups.groups import TRANSLATIONS
from liegroups.layout import Factor
from liegroups.segments import entries_of
from liegroups.unit_blocks import refuse_unnormalized

from ..errors import WrongObjectError
from ..point import Point, as_point
from ..rows.right_hand_side import RightHandSide

if TYPE_CHECKING:
    from .problem import Problem


@final
class FreeCoordinates:
    r"""The coordinates x of q that determine q: :math:`x = P q` with P a choice of rows, and :math:`q = \Phi(x)`.

    Free are the coordinates that are no output of a resolved explicit constraint, not frozen, and whose two bounds
    differ. :math:`\Phi` writes x, takes frozen dofs from one configuration and coordinates with equal bounds from
    there, and computes the outputs. Unit vectors, (cos, sin) and quaternions, are free as a whole.

    Args:
        problem: of the configurations.
        like: configuration (nq,) whose frozen dofs all configurations have; needed where some are frozen.

    Attributes:
        indices: of the coordinates in q (m,), increasing, read-only.
        unit_blocks: slices of x that have unit norm.

    Raises:
        WrongObjectError: no `like`, where dofs are frozen; names the joints.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with `like`.

    Example:
        >>> from constraints import Problem, linear_coupling
        >>> from constraints.models import sample_arm
        >>> arm = sample_arm()
        >>> problem = Problem(arm, [linear_coupling(arm, "wrist_roll", {"elbow": 2.0})])
        >>> free = problem.free_coordinates()
        >>> bool((free.q(free.of(arm.neutral)) == arm.neutral).all())
        True
    """

    def __init__(self, problem: Problem, like: ArrayLike | None = None) -> None:
        space, bounds = problem.space, problem.bounds
        if like is None and problem.frozen.any():
            names = [leaf.name for leaf in space.leaves() if problem.frozen[leaf.v].any()]
            words = f"a configuration, whose values frozen joints keep ({', '.join(names)}); like=q"
            raise WrongObjectError("like of free coordinates", words, "none")
        base = np.array(space.neutral if like is None else problem.check(like, "like of free coordinates"))
        still = bounds.lower == bounds.upper
        base[still] = bounds.lower[still]
        self._problem, self._base = problem, read_only(base)
        self._free: BoolVector = ~(entries_of(space, ~problem.free) | still)
        self.indices: Indices = read_only(np.flatnonzero(self._free))
        place = np.cumsum(self._free) - 1
        self.unit_blocks = tuple(
            slice(int(place[block.start]), int(place[block.stop - 1]) + 1)
            for block in space.unit_blocks
            if self._free[block.start]
        )

    def __len__(self) -> int:
        return len(self.indices)

    def of(self, q: ArrayLike) -> Vector:
        """Free coordinates of configurations.

        Args:
            q: (..., nq).

        Returns:
            (..., m), a copy.

        Raises:
            SizeError, DtypeError, NotFiniteError: what is wrong with q.
        """
        return _finite(q, self._problem.space.nq, "q of free coordinates")[..., self.indices]

    def q(self, x: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Vector:
        """Configurations from their free coordinates, explicit constraints resolved. Bounds are not looked at.

        Args:
            x: (..., m); unit vectors in it have norm 1.
            rhs: right-hand sides; the default ones if absent.

        Returns:
            (..., nq).

        Raises:
            SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with x.
            UndefinedError: an explicit constraint has no value there.
        """
        Q, sides = self.unresolved(x), self._problem.check_rhs(rhs)
        leaves, resolution = self._problem.space.leaves(), self._problem.resolution
        for row in np.ndindex(Q.shape[:-1]):
            refuse_unnormalized(Q[row], leaves, "x of free coordinates", 1e-6)
            if resolution.explicits:
                Q[row] = resolution.resolved(Q[row], sides)
        return Q

    def unresolved(self, x: ArrayLike) -> Vector:
        """As `q`, with computed outputs as they are in `like`, and norms of unit vectors as they come.

        Args:
            x: (..., m).

        Raises:
            SizeError, DtypeError, NotFiniteError: what is wrong with x.
        """
        given = _finite(x, len(self.indices), "x of free coordinates")
        Q = np.empty((*given.shape[:-1], self._base.size))
        Q[...] = self._base
        Q[..., self.indices] = given
        return Q

    def derivative(self, q: ArrayLike | Point, rhs: RightHandSide | ArrayLike | None = None) -> Matrix:
        r"""Derivative D (nv, m) of the tangent of q by its free coordinates: :math:`\dot q = D\, \dot x`.

        .. math:: D = T\, \frac{\partial v}{\partial x}, \qquad
            v = 2\, \mathrm{vec}(\bar x\, \dot x)\ \text{of quaternions}, \quad
            v = c\, \dot s - s\, \dot c\ \text{of}\ (c, s), \quad v = R^\top \dot p\ \text{of translations}

        with T the `resolution_jacobian`. Motions of a unit vector along itself give zero, which is the derivative of
        :math:`\Phi(x / |x|)`.

        Args:
            q: configuration (nq,), or a point, at which the explicit constraints are resolved.
            rhs: right-hand sides; the default ones if absent.

        Raises:
            WrongObjectError: a group other than R^n, SO2, SO3, SE2, SE3.
        """
        problem = self._problem
        point = as_point(q, problem.space)
        slope = np.zeros((problem.space.nv, problem.space.nq))
        for leaf in problem.space.leaves():
            if self._free[leaf.q].any():
                slope[leaf.v, leaf.q] = _tangent_slope(leaf, point.q[leaf.q])
        slope = slope[:, self.indices]
        if not problem.explicits.size:
            return slope
        return problem.resolution_jacobian(point, rhs) @ slope

    def __repr__(self) -> str:
        return f"FreeCoordinates({len(self)} of {self._problem.space.nq} coordinates)"


def _tangent_slope(leaf: Factor, q: Vector) -> Matrix:
    """Derivative (nv, nq) of the tangent by the coordinates of one group, at a point of it."""
    if leaf.space.is_flat:
        return np.eye(leaf.space.nv)
    if leaf.space.atoms not in TRANSLATIONS:
        known = "one of R^n, SO2, SO3, SE2, SE3, whose coordinates have a derivative here"
        raise WrongObjectError(f"group of {leaf.name!r}", known, leaf.space.name)
    shift = TRANSLATIONS[leaf.space.atoms]
    out, unit = np.zeros((leaf.space.nv, leaf.space.nq)), q[shift:].tolist()
    if len(unit) == 2:
        c, s = unit
        out[shift:, shift:] = [[-s, c]]
    else:
        x, y, z, w = unit
        out[shift:, shift:] = 2.0 * np.array([[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z]])
    if shift:
        out[:shift, :shift] = leaf.space.adjoint(q)[:shift, :shift].T  # R, of translations
    return out


def _finite(numbers: ArrayLike, size: int, what: str) -> Vector:
    """Vectors (..., size) without NaN and infinity."""
    array = stacked(numbers, size, what)
    if not np.isfinite(array).all():
        raise NotFiniteError(what, np.flatnonzero(~np.isfinite(array)).tolist())
    return array
