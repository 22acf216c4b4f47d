"""What a refinement minimises: half a squared norm, with its gradient."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from liegroups import Space
from liegroups.arrays import Vector

from ...linear_algebra import largest, row_lengths
from ...point import Point
from ...rows.right_hand_side import RightHandSide
from ...rows.stack import Stack
from ...rows.stacking import Order, stack_rows

ROUNDED_DISTANCE = 1e-6
"""A distance of this part of the coordinates, which are 1 at least, is what a gradient is compared to where it is
nearer: its 1e-8th is a few roundings of the coordinates."""


class Objective(ABC):
    """A cost of configurations. Immutable."""

    @abstractmethod
    def at(self, point: Point, rhs: RightHandSide) -> tuple[float, Vector, float]:
        """The cost at a resolved configuration, its gradient (nv,) by all tangent columns, and a size of gradients.

        Where terms of the gradient cancel, what is left of it is of the size of their roundings: the last figure is
        what is large against these.

        Args:
            point: where.
            rhs: right-hand sides of the problem.
        """


@final
class Distance(Objective):
    r"""Half the weighted squared distance to a reference, along the shortest motion from it.

    .. math:: \tfrac12\, d^T W d, \quad d = q \ominus near = \log(near^{-1} q), \qquad g = J_{\log}(d)^T W d

    Computed dofs count like all others.

    Args:
        space: of the configurations.
        weights: diagonal of W (nv,).
        near: the reference (nq,).
    """

    __slots__ = ("_least", "_space", "_weights", "near")

    def __init__(self, space: Space, weights: Vector, near: Vector) -> None:
        self._space, self._weights, self.near = space, weights, near
        self._least = ROUNDED_DISTANCE * largest(weights) * max(1.0, largest(near))

    def at(self, point: Point, rhs: RightHandSide) -> tuple[float, Vector, float]:
        """As `Objective.at`."""
        d = self._space.difference(self.near, point.q)
        pull = self._weights * d
        return 0.5 * float(pull.dot(d)), pull.dot(self._space.log_jacobian(d)), self._least


@final
class NoObjective(Objective):
    """No objective: zero everywhere.

    Args:
        nv: number of tangent columns.
    """

    __slots__ = ("_nothing",)

    def __init__(self, nv: int) -> None:
        self._nothing = np.zeros(nv)

    def at(self, point: Point, rhs: RightHandSide) -> tuple[float, Vector, float]:
        """As `Objective.at`."""
        return 0.0, self._nothing, 0.0


@final
class LastLevel(Objective):
    r"""Half the squared norm of the scaled errors of the optional level: :math:`\tfrac12 e^T e`, :math:`g = J^T e`.

    Args:
        stack: the level.
    """

    __slots__ = ("_stack",)

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def at(self, point: Point, rhs: RightHandSide) -> tuple[float, Vector, float]:
        """As `Objective.at`."""
        rows = stack_rows(self._stack, point, Order.POSITION, rhs)
        scale = float(np.abs(rows.error).dot(row_lengths(rows.jacobian)))
        return 0.5 * rows.merit, rows.error.dot(rows.jacobian), scale
