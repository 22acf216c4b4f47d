"""What all nodes of a shooting problem are at one trajectory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..actions import Action, Derivatives
from ..actions.action import Calculation
from ..errors import ConstraintError, FailedError, UndefinedError


@final
@dataclass(frozen=True, eq=False)
class ShootingTrajectory:
    """States at the knots, and the controls between them.

    Attributes:
        xs: (N + 1, nx) states; the first one is the start.
        us: N controls, (nu,) each; an impulse may have none.
    """

    xs: Matrix
    us: tuple[Vector, ...]

    def __repr__(self) -> str:
        return f"ShootingTrajectory({len(self.us)} steps, nx {self.xs.shape[1]})"


@final
class Nodes:
    """All nodes at one trajectory: calculated at once, differentiated on first use.

    Args:
        actions: of the steps, and the terminal one.
        trajectory: the trajectory.

    Attributes:
        trajectory: as given.
        calculations: of all nodes, None where a function is undefined.
    """

    def __init__(self, actions: tuple[Action, ...], trajectory: ShootingTrajectory) -> None:
        self.trajectory = trajectory
        self._actions = actions
        self._undefined: ConstraintError | None = None
        us = (*trajectory.us, None)
        self.calculations = tuple(map(self._calculated, actions, trajectory.xs, us))

    def _calculated(self, action: Action, x: Vector, u: Vector | None) -> Any:
        try:
            return action.calc(x, u)
        except UndefinedError as error:
            self._undefined = error
            return None

    @cached_property
    def success(self) -> bool:
        """Whether all nodes have dynamics and a finite cost."""
        return all(done is not None and done.success for done in self.calculations)

    @property
    def cost(self) -> float:
        """Cost of all nodes; infinite if one has none."""
        return float(sum(done.cost for done in self.calculations)) if self.success else np.inf

    @cached_property
    def defects(self) -> tuple[Vector, ...]:
        r""":math:`x_{k+1} \ominus f(x_k, u_k)`, (ndx,) for each step; zero where a step has no next state."""
        found: list[Vector] = []
        for action, done, x in zip(self._actions[:-1], self.calculations[:-1], self.trajectory.xs[1:], strict=True):
            if done is None or not done.success:
                found.append(np.zeros(action.state.ndx))
            else:
                found.append(action.state.difference(done.next_state, x))
        return tuple(found)

    @cached_property
    def slopes(self) -> tuple[Derivatives, ...]:
        """Derivatives of all nodes.

        Raises:
            FailedError, FailedError, UndefinedError: of the first node that has none.
        """
        if self._undefined is not None:
            raise self._undefined
        found: list[Derivatives] = []
        for action, done in zip(self._actions, self.calculations, strict=True):
            calculation: Calculation = done
            if not calculation.success:
                raise FailedError(calculation)
            found.append(action.calc_diff(calculation).or_raise())
        return tuple(found)
