"""Which state a configuration is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from ..arrays import Vector
from ..errors import GraphError
from ..point import Workspace
from ..right_hand_side import RightHandSide
from ..robot import Robot
from ..rows import stack_rows
from ..stack import RowOwner, Stack
from .states import State

__all__ = ["StateSelector"]


@final
class StateSelector:
    """Finds the state of a configuration; each constraint that states share is evaluated once.

    Args:
        robot: the robot.
        states: in the order in which they are asked.
        everywhere: constraints of all of them.
        threshold: largest error norm of a constraint in a state.

    Source: `StateSelector` of hpp-manipulation, which tests state after state.
    """

    def __init__(self, robot: Robot, states: Sequence[State], everywhere: Sequence[RowOwner], threshold: float) -> None:
        self._robot, self._states, self._everywhere, self.threshold = robot, states, everywhere, threshold
        shared = {id(owner): owner for state in states for owner in (*everywhere, *state.constraints)}
        self._stack = Stack(list(shared.values()))
        self._rhs = RightHandSide(self._stack)
        self._places = {id(owner): i for i, owner in enumerate(self._stack)}
        self._pool: list[Workspace] = []

    def errors(self, q: Vector) -> Vector:
        """Error norms of all constraints at a valid configuration."""
        try:
            workspace = self._pool.pop()
        except IndexError:
            workspace = Workspace()
        rows = stack_rows(self._stack, self._robot.space.place(q, workspace), rhs=self._rhs, jacobian=False)
        norms = np.array([np.sqrt(rows.error[s] @ rows.error[s]) for s in self._stack.slices])
        self._pool.append(workspace)
        return norms

    def knows(self, state: State) -> bool:
        """Whether the state is one of these."""
        return any(state is known for known in self._states)

    def residual(self, state: State, errors: Vector) -> float:
        """Largest error norm of the constraints of a state, from `errors(q)`."""
        places = [self._places[id(owner)] for owner in (*self._everywhere, *state.constraints)]
        return float(errors[places].max(initial=0.0))

    def state_of(self, q: Vector) -> State:
        """The first state that contains a configuration.

        Raises:
            GraphError: there is none; the nearest is named, with what is off.
        """
        errors = self.errors(q)
        for state in self._states:
            if self.residual(state, errors) <= self.threshold:
                return state
        if not self._states:
            raise GraphError("the graph has no states")
        nearest = min(self._states, key=lambda state: self.residual(state, errors))
        raise GraphError(
            f"no state contains the configuration; the nearest is '{nearest}': {self.off(nearest, errors)}"
        )

    def off(self, state: State, errors: Vector) -> str:
        """The constraints of a state that are not satisfied, in words."""
        owners = [*self._everywhere, *state.constraints]
        off = [(owner.name, float(errors[self._places[id(owner)]])) for owner in owners]
        return ", ".join(f"'{name}' is off by {error:.3g}" for name, error in off if error > self.threshold)
