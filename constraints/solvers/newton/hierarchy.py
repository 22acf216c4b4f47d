"""Lower priority levels: steps in the null space of the levels above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import BoolVector, Matrix, Vector

from ...linear_algebra import numerical_rank
from ...rows.stacking import Rows
from .bounds import SolverBounds
from .linear_step import LinearStep, capped, without

_dgeqp3: Any = lapack.dgeqp3
_dormqr: Any = lapack.dormqr
BLOCK = 64
"""Numbers of memory for each row or column that are enough for products in blocks."""


@final
class NullSpace:
    r"""The null space of some rows, by pivoted QR of their transpose: :math:`A^T \Pi = Q R`.

    The columns of Q after the rank span the null space.

    Args:
        rows: A (m, nv); pivots below 1e-6 of the largest one count as zero.

    Attributes:
        rank: of A.
    """

    __slots__ = ("_qr", "_tau", "rank")

    def __init__(self, rows: Matrix) -> None:
        qr, _, self._tau, _, _ = _dgeqp3(rows.T)
        self._qr = qr[:, : self._tau.size]  # more rows than dofs make no more reflectors
        pivots = np.abs(self._qr.diagonal())
        self.rank = numerical_rank(pivots)  # R18

    def rotate(self, J: Matrix) -> Matrix:
        """J Q (k, nv), with zeros in place of the row space: the Jacobian in coordinates of the null space."""
        if not self._tau.size:
            return J.copy()
        rotated: Matrix = np.ascontiguousarray(_dormqr("R", "N", self._qr, self._tau, J, BLOCK * max(J.shape))[0])
        rotated[:, : self.rank] = 0.0
        return rotated

    def back(self, z: Vector) -> Vector:
        """Q z (nv,): a motion from its coordinates."""
        if not self._tau.size:
            return z
        moved: Matrix = _dormqr("L", "N", self._qr, self._tau, z[:, None], BLOCK * z.size)[0]
        return moved[:, 0]


@final
class Hierarchy:
    r"""Steps of the levels below level 0.

    Level i takes the damped step on the error that the levels above leave, in the null space of their rows:

    .. math:: \min_z |J_i N z + e_i + J_i\, dq|^2 + \mu |z|^2, \qquad dq \leftarrow dq + N z

    It keeps its own cap and its own way with bounds: a dof that would leave is held for this level only, at last the
    step is shortened. Nothing of the levels above is scaled or changed.

    Args:
        solvers: of each of these levels, in dofs that cost alike.
        damping: mu = damping * squared error + 1e-12.
        passes: how often dofs are held and the level solved again.
        scale: (nv,) factor of each dof, the root of its inverse cost; None for ones.
    """

    def __init__(self, solvers: Sequence[LinearStep], damping: float, passes: int, scale: Vector | None) -> None:
        self._solvers = tuple(solvers)
        self._damping, self._passes, self._scale = damping, passes, scale

    def extend(
        self,
        q: Vector,
        step: Vector,
        held: BoolVector | None,
        rows: Sequence[Rows],
        caps: Sequence[float],
        box: SolverBounds,
        root: Matrix | None = None,
    ) -> Vector:
        """The step of level 0 with those of the lower levels added.

        Args:
            q: configuration (nq,).
            step: step of level 0 (nv,).
            held: dofs that it set to a bound.
            rows: rows of all levels.
            caps: largest move of a coordinate, for each lower level.
            box: the bounds.
            root: of the inverse costs, where they are not by column (see `LinearStep.solve`).
        """
        if root is not None and held is not None:
            root, _ = without(root, held)
        above = self._reduced(rows[0].jacobian, held, root)
        for i, (level, solver, cap) in enumerate(zip(rows[1:], self._solvers, caps, strict=True)):
            e = level.error + level.jacobian.dot(step)  # R17
            J = self._reduced(level.jacobian, held, root)
            step = step + self._within(q, step, held, above, J, e, solver, cap, box, root)
            if i + 2 < len(rows):
                above = np.concatenate((above, J))
        return step

    def _within(
        self,
        q: Vector,
        step: Vector,
        held: BoolVector | None,
        above: Matrix,
        J: Matrix,
        e: Vector,
        solver: LinearStep,
        cap: float,
        box: SolverBounds,
        root: Matrix | None,
    ) -> Vector:
        """The capped step of one level, within bounds."""
        mu = self._damping * float(e.dot(e)) + 1e-12
        part = capped(self._solve(above, J, e, mu, solver, root, held), cap)
        for _ in range(self._passes):
            leaving = box.leaving(q, step, part)  # R19
            if leaving is None:
                return part
            above = np.concatenate((above, (np.eye(step.size) if root is None else root)[leaving]))
            held = leaving if held is None else held | leaving
            part = capped(self._solve(above, J, e, mu, solver, root, held), cap)
        return np.multiply(part, box.fraction(q, step, part))

    def _solve(
        self,
        above: Matrix,
        J: Matrix,
        e: Vector,
        mu: float,
        solver: LinearStep,
        root: Matrix | None,
        held: BoolVector | None,
    ) -> Vector:
        """The damped step of a level; of held dofs it is zero, without the roundings that a small one consists of."""
        space = NullSpace(above)
        part = space.back(solver.solve(e, space.rotate(J), mu))
        if root is not None:
            part = root.dot(part)
        elif self._scale is not None:
            part = part * self._scale
        if held is not None:
            part[held] = 0.0
        return part

    def _reduced(self, J: Matrix, held: BoolVector | None, root: Matrix | None) -> Matrix:
        """A Jacobian in dofs that cost alike, without those that are held."""
        if root is not None:
            return np.ascontiguousarray(J.dot(root))
        scaled = J if self._scale is None else J * self._scale
        return scaled if held is None else scaled * ~held
