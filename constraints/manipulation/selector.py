"""Which state a configuration is in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import final

import numpy as np

from liegroups.arrays import Vector

from ..errors import GraphError
from ..functions.contact.contact import ConvexShapeContact
from ..linear_algebra import norm
from ..problem import Problem
from ..rows.explicit import Explicit
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import label
from ..solvers.engine import Source
from ..workspace import Workspace
from .leaf_problem import Evaluations
from .memory import GraphMemoryPool
from .states import State


@final
class StateSelector:
    """Finds the first state that a configuration is in, up to a threshold; constraints of several are evaluated once.

    Source: `StateSelector` of hpp-manipulation, which tests state after state.
    """

    def __init__(
        self,
        evaluations: Evaluations,
        memories: GraphMemoryPool,
        states: Sequence[State],
        everywhere: Sequence[RowOwner],
        threshold: float,
    ) -> None:
        self._states, self._everywhere, self.threshold = states, everywhere, threshold
        shared = {id(owner): owner for state in states for owner in (*everywhere, *state.constraints)}
        self._all = _Constraints(evaluations, list(shared.values()))
        self._memories = memories

        def constraints_of(state: State) -> _Constraints:
            return _Constraints(evaluations, [*everywhere, *state.constraints])

        self._constraints_of = cache(constraints_of)

    def errors(self, q: Vector) -> dict[int, float]:
        """Error norms at a valid configuration, by id of the constraint, of all states."""
        memory = self._memories.take()
        errors = self._all.norms(q, memory.workspace)
        self._memories.give(memory)
        return errors

    def refuse_outside(self, state: State, q: Vector, limit: float) -> None:
        """Refuse a configuration that is far from a state.

        Raises:
            GraphError: names what is off.
        """
        memory = self._memories.take()
        asked = self._constraints_of(state)
        errors = asked.norms(q, memory.workspace) if asked.residual(q, memory.workspace) > limit else {}
        self._memories.give(memory)
        if errors:
            raise GraphError(f"the configuration has no leaf in '{state}', where it is not: {self._off(state, errors)}")

    def misses(self, state: State, q: Vector, workspace: Workspace) -> str:
        """The constraints of a state that a checked configuration does not satisfy, in words; empty where it does."""
        asked = self._constraints_of(state)
        if asked.resolved is None and asked.residual(q, workspace) <= self.threshold:
            return ""
        return self._off(state, self._norms(state, q, asked.norms(q, workspace)))

    def source(self, state: State) -> Source | None:
        """What must hold in a state; None where nothing must."""
        return self._constraints_of(state).source(self.threshold)

    def has_branches(self, state: State) -> bool:
        """Whether rows do not tell what is in a state: a constraint that is explicit there has other branches."""
        return self._constraints_of(state).resolved is not None

    def _norms(self, state: State, q: Vector, errors: dict[int, float]) -> dict[int, float]:
        """Those of `errors(q)` that are of a state, with what is computed on another branch."""
        found = {id(owner): errors[id(owner)] for owner in (*self._everywhere, *state.constraints)}
        for key, error in self._constraints_of(state).branch_errors(q).items():
            found[key] = max(found[key], error)
        return found

    def contains(self, state: State, q: Vector) -> bool:
        """Whether a valid configuration (nq,) is in a state."""
        memory = self._memories.take()
        misses = self.misses(state, q, memory.workspace)
        self._memories.give(memory)
        return not misses

    def state_of(self, q: Vector) -> State:
        """The first state that contains a configuration.

        Raises:
            GraphError: there is none; the nearest is named, with what is off.
        """
        errors = self.errors(q)
        norms = [self._norms(state, q, errors) for state in self._states]
        residuals = [max(each.values(), default=0.0) for each in norms]
        for state, residual in zip(self._states, residuals, strict=True):
            if residual <= self.threshold:
                return state
        if not self._states:
            raise GraphError("the graph has no states")
        i = int(np.argmin(residuals))
        off = self._off(self._states[i], norms[i])
        raise GraphError(f"no state contains the configuration; the nearest is '{self._states[i]}': {off}")

    def _off(self, state: State, errors: dict[int, float]) -> str:
        """The constraints of a state that are not satisfied, in words; nothing where all are."""
        owners = [*self._everywhere, *state.constraints]
        names = [owner.name for owner in owners]
        return ", ".join(
            f"{label(owner.name, i, names)} is off by {errors[id(owner)]:.3g}{of_margin(owner, errors[id(owner)])}"
            for i, owner in enumerate(owners)
            if errors[id(owner)] > self.threshold
        )


def of_margin(owner: RowOwner, error: float) -> str:
    """That an object that is off by its margin is to stand so far above its floor, in words; else nothing."""
    contact = owner.function if isinstance(owner, Implicit) else None
    if not isinstance(contact, ConvexShapeContact) or not 0.99 <= error / (contact.margin or np.inf) <= 1.01:
        return ""
    return f", the margin: it stands {contact.margin:.3g} above its floor"


@final
class _Constraints:
    """Constraints that are evaluated together.

    Attributes:
        resolved: the problem of them all, if some that are explicit in it have other branches.
    """

    def __init__(self, evaluations: Evaluations, owners: Sequence[RowOwner]) -> None:
        self._owners, self._evaluation = owners, evaluations.of(owners)
        self._rhs = RightHandSide(self._evaluation.stack)
        branched = any(isinstance(owner, Explicit) and owner.has_branches for owner in owners)
        problem = Problem(evaluations.robot, owners) if branched else None
        self.resolved = problem if problem is not None and problem.resolution.has_branches else None

    def residual(self, q: Vector, workspace: Workspace) -> float:
        """Largest error norm at a configuration."""
        if not self._owners:
            return 0.0
        return self._evaluation.rows(q, self._rhs, workspace, jacobian=False).residual

    def source(self, limit: float) -> Source | None:
        """All of them, to hold to a limit; None where there are none."""
        return Source(self._evaluation, self._rhs, limit) if self._owners else None

    def branch_errors(self, q: Vector) -> dict[int, float]:
        """How far a configuration is off what is computed, by id of the constraints that have other branches."""
        problem = self.resolved
        if problem is None:
            return {}
        point, error_of = problem.at(q), problem.resolution.branch_error
        pairs = zip(self._owners, problem.constraints, strict=True)
        return {id(owner): error_of(point, problem.rhs, one) for owner, one in pairs}

    def norms(self, q: Vector, workspace: Workspace) -> dict[int, float]:
        """Error norms by id of the constraint; where no row counts it is zero."""
        if not self._owners:
            return {}
        error = self._evaluation.rows(q, self._rhs, workspace, jacobian=False).error
        norms = [norm(error[s]) if s.stop > s.start else 0.0 for s in self._evaluation.stack.slices]
        return dict(zip(map(id, self._owners), norms, strict=True))
