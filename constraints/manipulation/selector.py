"""Which state a configuration is in."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import final

from ..arrays import Vector
from ..errors import GraphError
from ..point import Workspace
from ..pool import Pool
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
        self._all = _Constraints(list(shared.values()))
        self._of: dict[int, _Constraints] = {}
        self._pool = Pool(Workspace)

    def errors(self, q: Vector, state: State | None = None) -> dict[int, float]:
        """Error norms at a valid configuration, by id of the constraint: of one state, or of all of them.

        Args:
            q: configuration (nq,).
            state: whose constraints.
        """
        asked = self._all
        if state is not None:
            asked = self._of.get(id(state)) or _Constraints([*self._everywhere, *state.constraints])
            self._of[id(state)] = asked
        workspace = self._pool.take()
        rows = stack_rows(asked.stack, self._robot.space.place(q, workspace), rhs=asked.rhs, jacobian=False)
        norms = [sqrt(rows.error[s] @ rows.error[s]) for s in asked.stack.slices]
        self._pool.give(workspace)
        return dict(zip(asked.keys, norms, strict=True))

    def residual(self, state: State, errors: dict[int, float]) -> float:
        """Largest error norm of the constraints of a state, from `errors(q)`."""
        return max([errors[id(owner)] for owner in (*self._everywhere, *state.constraints)], default=0.0)

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

    def off(self, state: State, errors: dict[int, float]) -> str:
        """The constraints of a state that are not satisfied, in words; nothing where all are."""
        owners = [*self._everywhere, *state.constraints]
        off = [(owner.name, errors[id(owner)]) for owner in owners if errors[id(owner)] > self.threshold]
        return ", ".join(f"'{name}' is off by {error:.3g}" for name, error in off)


@final
class _Constraints:
    """Constraints that are evaluated together."""

    def __init__(self, owners: list[RowOwner]) -> None:
        self.stack = Stack(owners)
        self.rhs = RightHandSide(self.stack)
        self.keys = [id(owner) for owner in owners]
