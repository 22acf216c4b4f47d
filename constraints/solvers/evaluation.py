"""Evaluation: the rows of constraints at configurations as they are. Nothing is solved, no output is computed."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import final

import numpy as np

from liegroups import Space
from liegroups.arrays import Indices, Matrix, Vector

from ..point import placer
from ..robot import Robot
from ..rows.right_hand_side import RightHandSide
from ..rows.stack import Stack
from ..rows.stacking import Rows, stack_rows
from ..workspace import Workspace


class Evaluation:
    """Evaluates constraints: here by their functions, one after the other.

    Args:
        where: the robot, or space, that they are on.
        stack: the constraints.

    Attributes:
        stack: as given.
    """

    def __init__(self, where: Robot | Space, stack: Stack) -> None:
        self.where, self.stack = where, stack
        self._place = placer(where.space if isinstance(where, Robot) else where)

    def rows(self, q: Vector, rhs: RightHandSide, workspace: Workspace, *, jacobian: bool = True) -> Rows:
        """Errors of the rows that count, and their Jacobian by all dofs; valid until the next call with the workspace.

        Args:
            q: configuration (nq,), checked.
            rhs: right-hand sides of the stack.
            workspace: memory of this worker.
            jacobian: False leaves the Jacobian out: what stands there is not up to date.

        Raises:
            UndefinedError: a function has no value there.
        """
        return stack_rows(self.stack, self._place(q, workspace), rhs=rhs, jacobian=jacobian)

    def rows_of_many(self, Q: Matrix, rhs: RightHandSide, workspace: Workspace) -> tuple[Matrix, Matrix]:
        """Errors (n, size) and Jacobians (n, size, nv) as of `rows`, new arrays, at configurations (n, nq).

        Other arguments and errors are those of `rows`.
        """
        shape = len(Q), self.stack.size
        errors, jacobians = np.zeros(shape), np.zeros((*shape, self.stack.owners[0].space.nv))
        for i, q in enumerate(Q):
            rows = self.rows(q, rhs, workspace)
            errors[i], jacobians[i] = rows.error, rows.jacobian
        return errors, jacobians

    def residuals(self, Q: Matrix, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """Largest error norm of a constraint (n,) at configurations (n, nq).

        Other arguments and errors are those of `rows`.
        """
        return np.array([self.rows(q, rhs, workspace, jacobian=False).residual for q in Q])

    def values(self, q: Vector, workspace: Workspace) -> Vector:
        """Values h(q) of the constraints (rhs_size,), placed as their right-hand sides are.

        Arguments and errors are those of `rows`.
        """
        point, values = self._place(q, workspace), np.zeros(self.stack.rhs_size)
        for owner, block in zip(self.stack.owners, self.stack.rhs_slices, strict=True):
            owner.measured.evaluate(point, values[block])
        return values


@final
class ValueReader:
    """Reads values of constraints into right-hand sides of a problem that has these constraints too.

    Args:
        evaluation: of the constraints.
        entries: of the values.
        to: of the right-hand sides, where each goes.
        units: blocks of the right-hand sides that are divided by their norms where these are off by 1e-15.

    Attributes:
        evaluation, entries, to, units: as given.
    """

    def __init__(self, evaluation: Evaluation, entries: Indices, to: Indices, units: Sequence[slice]) -> None:
        self.evaluation, self.entries, self.to, self.units = evaluation, entries, to, tuple(units)

    def read(self, q: Vector, workspace: Workspace, side: Vector) -> None:
        """Write what is read at a configuration.

        Args:
            q: configuration (nq,), checked.
            workspace: memory of this worker.
            side: right-hand sides, written to.

        Raises:
            UndefinedError: a function has no value there.
        """
        side[self.to] = self.evaluation.values(q, workspace)[self.entries]
        for block in self.units:
            norm = sqrt(sum([x * x for x in side[block].tolist()]))  # the bits of the kernels, which read too
            if not abs(norm - 1.0) <= 1e-15:
                side[block] /= norm
