"""What a refinement minimises: half a squared norm, with its gradient."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from liegroups import Space

from ..arrays import Vector
from ..point import Point
from ..right_hand_side import RightHandSide
from ..rows import Order, stack_rows
from ..stack import Stack

__all__ = ["Distance", "LastLevel", "Objective", "Still"]


class Objective(ABC):
    """A cost of configurations. Immutable."""

    @abstractmethod
    def at(self, point: Point, rhs: RightHandSide) -> tuple[float, Vector]:
        """The cost at a resolved configuration, and its gradient (nv,) by all tangent columns.

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

    __slots__ = ("_space", "_weights", "near")

    def __init__(self, space: Space, weights: Vector, near: Vector) -> None:
        self._space, self._weights, self.near = space, weights, near

    def at(self, point: Point, rhs: RightHandSide) -> tuple[float, Vector]:
        """As `Objective.at`."""
        d = self._space.difference(self.near, point.q)
        pull = self._weights * d
        return 0.5 * float(pull.dot(d)), pull.dot(self._space.log_jacobian(d))


@final
class Still(Objective):
    """No objective: zero everywhere.

    Args:
        nv: number of tangent columns.
    """

    __slots__ = ("_nothing",)

    def __init__(self, nv: int) -> None:
        self._nothing = np.zeros(nv)

    def at(self, point: Point, rhs: RightHandSide) -> tuple[float, Vector]:
        """As `Objective.at`."""
        return 0.0, self._nothing


@final
class LastLevel(Objective):
    r"""Half the squared norm of the scaled errors of the optional level: :math:`\tfrac12 e^T e`, :math:`g = J^T e`.

    Args:
        stack: the level.
    """

    __slots__ = ("_stack",)

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def at(self, point: Point, rhs: RightHandSide) -> tuple[float, Vector]:
        """As `Objective.at`."""
        rows = stack_rows(self._stack, point, Order.POSITION, rhs)
        return 0.5 * rows.merit, rows.error.dot(rows.jacobian)
