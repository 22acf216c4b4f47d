"""Evaluation: the rows of constraints at configurations as they are. Nothing is solved, no output is computed."""

from __future__ import annotations

import numpy as np

from liegroups import Space
from liegroups.arrays import Vector

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

    def values(self, q: Vector, workspace: Workspace) -> Vector:
        """Values h(q) of the constraints (rhs_size,), placed as their right-hand sides are.

        Arguments and errors are those of `rows`.
        """
        point, values = self._place(q, workspace), np.zeros(self.stack.rhs_size)
        for owner, block in zip(self.stack.owners, self.stack.rhs_slices, strict=True):
            owner.measured.evaluate(point, values[block])
        return values
