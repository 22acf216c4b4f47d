"""Newton projection in Python, numpy and LAPACK: the program that is there to be read."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import final

import numpy as np

from liegroups.arrays import Vector
from liegroups.frozen import read_only_copy

from ...errors import UndefinedError
from ...linear_algebra import dot
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...rows.stack import Stack
from ...rows.stacking import Order, Rows, stack_rows
from ...workspace import Workspace
from ..engine import Outcome
from ..options import Options
from ..status import Status, Step
from .computed_bodies import BringBack, Resumable
from .iteration import NewtonIteration
from .linear_step import DampedCholesky, LinearStep
from .restarts import Restarts
from .rules import Score, is_stationary, restart_row
from .state import ProjectionState, StallTest

CHEAP_RESIDUAL, CHEAP_STEP2 = 1e-2, 0.1**2
"""After a step this short (squared) from a residual this small, values alone are evaluated first: it is most likely the
last."""
UNIT_OF_START = 1e-12
"""A start whose unit vectors are off by more is normalised before the first step: poses are exact only then."""

_QUIET = np.errstate(over="ignore", invalid="ignore")
"""Numbers of a function that are not finite are said once, by the status."""


@final
class NewtonProgram(Resumable):
    """A problem made ready for Newton steps: tries from the start and from restarts, within one budget.

    Args:
        problem: what is solved.
        options: how.
        step: the linear step of level 0.
        bring_back: how to go on from a solution out of bounds by a computed body, which ends the tries; without, there
            are restarts only.
    """

    def __init__(
        self,
        problem: Problem,
        options: Options,
        step: type[LinearStep] = DampedCholesky,
        bring_back: BringBack | None = None,
    ) -> None:
        self.problem, self.options, self.step_kind = problem, options, step
        self._space, self._bring_back = problem.space, bring_back
        self._iteration = NewtonIteration(problem, options, step)
        self._box, self._substitution = self._iteration.box, self._iteration.substitution
        self._mandatory = tuple(level for level in problem.mandatory if level.size)
        self._twins = tuple(Stack([explicit]) for explicit in problem.explicits)
        self._doubtful = tuple(Stack([explicit]) for explicit in problem.resolution.explicits if not explicit.is_exact)
        self._restarts = Restarts(problem, options.seed, options.restart_table) if options.restarts else None
        self._half, self._computes = 0.5 * options.threshold, bool(len(problem.explicits))
        ratio, count = options.patience_ratio, options.patience_count
        self._stall = (ratio, count) if self._restarts is None else (options.stall_ratio, options.stall_count)

    # The whole projection.

    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, near: Vector | None = None) -> Outcome:
        """Project one configuration: tries from the start and from restarts, within one budget."""
        found = self._projected(q0, rhs, workspace)
        if found.status is Status.OUT_OF_BOUNDS and self._bring_back is not None:
            return self._bring_back.inside(found, q0, rhs, workspace)
        return found

    def _projected(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Outcome:
        """The same before anything is brought back."""
        state = self._begun(q0, rhs, workspace)
        try:
            q = self._made_ready(q0, rhs, workspace)
            moved = q.tobytes() != q0.tobytes()
            try:
                rows = self._at_start(q0, state, moved)
            except UndefinedError:
                rows = None
            if state.residual <= self.options.threshold and self._box.contains(q0):  # R2
                return state.outcome(Status.CONVERGED)
            if moved or self._substitution.has_maps:
                state.forget()  # no iterate: outside its bounds, not normalised, or unresolved
            return self._tries(q, q, rows, state)
        except UndefinedError:
            return state.outcome(Status.UNDEFINED)

    def resume(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, before: Outcome) -> Outcome:
        """As `Resumable.resume`."""
        state = self._begun(q0, rhs, workspace)
        state.iterations, state.restarts = before.iterations, before.restarts
        state.trace = None if before.trace is None else list(before.trace)
        try:
            return self._tries(before.q, self._made_ready(q0, rhs, workspace), None, state)
        except UndefinedError:
            return state.outcome(Status.UNDEFINED)

    def step(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """One step from a configuration, whatever it does to the error."""
        state, iteration = self._begun(q0, rhs, workspace), self._iteration
        q, rows = iteration.rows_at(self._substitution.start(self._box.clamp(q0), rhs, workspace), state)
        if rows:
            caps = [self.options.cap] * iteration.lower_levels
            q = iteration.next(q, rows, caps, False, 0, state)[0]
        return iteration.rows_at(q, state, jacobian=False)[0]

    def _begun(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> ProjectionState:
        """The state before anything was looked at; the point of the buffers is at the start."""
        buffers = workspace.resource(self, "buffers", self._iteration.buffers, workspace)
        buffers.point.move(q0)
        return ProjectionState(q0, rhs, buffers, [] if self.options.trace else None)

    def _made_ready(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """The start normalised, within the bounds that steps keep, with constant outputs."""
        q = q0
        if self._space.unit_blocks and not self._space.is_normalized(q0, UNIT_OF_START):  # R4
            q = self._space.normalize(q0)
        return self._substitution.start(self._box.clamp(q), rhs, workspace)

    @_QUIET
    def _at_start(self, q0: Vector, state: ProjectionState, moved: bool) -> Sequence[Rows] | None:
        """Look at the start as it is; rows that the first step can use where it has not to be moved, or None."""
        point, worst, computes = state.buffers.point, 0.0, moved or self._substitution.has_maps
        for twin in self._twins if computes else self._doubtful:  # R6
            worst = max(worst, stack_rows(twin, point, Order.POSITION, state.rhs, jacobian=False).residual)
            if worst > self.options.threshold:
                return None
        worst = max(worst, self.problem.resolution.branch_error(point, state.rhs))
        if worst > self.options.threshold:
            return None
        usable, rows = not (computes or state.buffers.optional), list[Rows]()
        if usable:
            try:
                rows = list(self._iteration.rows_at(q0, state)[1])
            except UndefinedError:  # of a Jacobian, perhaps: values will do here
                usable = False
        if not usable:
            rows = [stack_rows(level, point, Order.POSITION, state.rhs, jacobian=False) for level in self._mandatory]
        score, residual, merit = self._iteration.measure(rows)
        state.keep(q0, score, max(worst, residual), merit)
        return rows if usable else None

    # Tries.

    @_QUIET
    def _tries(self, q: Vector, start: Vector, rows: Sequence[Rows] | None, state: ProjectionState) -> Outcome:
        """One try after the other until one succeeds or the budget is spent.

        Args:
            q: where the first one begins (nq,).
            start: what restarts are drawn around (nq,).
            rows: rows at q, where they are known.
            state: of the projection.
        """
        options, restarts, row = self.options, self._restarts, -1
        while True:
            try:
                status = self._descend(q, rows, state)
            except UndefinedError:
                status = Status.UNDEFINED
            if status is Status.CONVERGED:
                return state.outcome(status)
            if status is Status.OUT_OF_BOUNDS and self._bring_back is not None and self._bring_back.leave(state.best):
                return state.outcome(status)  # R31
            if state.best_try == state.restarts:  # R33
                state.status = status
            if restarts is None or restarts.is_empty or state.iterations >= options.max_iterations:
                return state.outcome(self._failure(state))
            row = restart_row(state.start) if row < 0 else row + options.screen
            state.iterations += 1
            state.restarts += 1  # R32
            candidates = restarts.configurations(start, row, options.screen)
            q = candidates[0] if options.screen == 1 else min(candidates, key=lambda c: self._residual_at(c, state))
            rows = None

    def _residual_at(self, q: Vector, state: ProjectionState) -> float:
        """Residual at a configuration, by value only; infinite where a function has none."""
        try:
            return self._iteration.measure_at(q, state)[1]
        except UndefinedError:
            return inf

    def _descend(self, q: Vector, rows: Sequence[Rows] | None, state: ProjectionState) -> Status:
        """One try: damped, saturated, capped Newton steps, all accepted, until success, stall or end of budget."""
        iteration, most, trace = self._iteration, self.options.max_iterations, state.trace
        stall, begun, is_first = StallTest(*self._stall), state.iterations, state.restarts > 0
        caps: list[float] = [self.options.cap] * iteration.lower_levels
        residuals: Sequence[float] = [inf] * (len(caps) + 1)
        cheap, holding, shrinking, part = False, False, False, 1.0
        while True:
            if rows is None:
                q, rows = iteration.rows_at(q, state, jacobian=not cheap)
            score, residual, merit = iteration.measure(rows)
            if not merit < inf:  # R25
                raise UndefinedError("a constraint has an error that is not finite")
            if trace is not None:
                trace.append(Step(read_only_copy(q), residual, is_first))
                is_first = False
            state.keep(q, score, residual, merit)
            if residual <= self._half:  # R3
                status = self._accept(q, score, residual, merit, state)
                if status is not None:
                    return status
                q, score, residual, merit, cheap = state.best, state.score, state.residual, state.merit, True
            if caps:
                residuals, shrinking = iteration.adapt(caps, residuals, rows)
            stalled = not shrinking and stall.is_stalled(score, part)  # R24
            if stalled or state.iterations >= most:  # R26
                return Status.STALLED if stalled else Status.MAX_ITERATIONS
            if cheap:
                q, rows = iteration.rows_at(q, state)
            number = state.iterations - begun
            state.iterations += 1
            q, length2, part, holding = iteration.next(q, rows, caps, holding, number, state)
            cheap, rows = residual < CHEAP_RESIDUAL and length2 < CHEAP_STEP2, None

    # Its end.

    def _accept(self, q: Vector, score: Score, residual: float, merit: float, state: ProjectionState) -> Status | None:
        """End of a try that satisfied the constraints: wrap, resolve again if anything wrapped, look at all bounds.

        Returns:
            The status; None where a joint could not be shifted by whole turns alone, and what is the best iterate then
            does not satisfy the constraints any more.
        """
        wrapped, off = self._box.wrap(q)  # R27
        if wrapped is not q and self._substitution.has_maps:
            wrapped = self._substitution.resolve(wrapped, state.rhs, state.buffers.point)
        if self._computes and not dot(wrapped, wrapped) < inf:  # R30
            state.forget()
            raise UndefinedError("a computed output is not finite")
        if self._doubtful and self._misses(wrapped, state):  # R30
            state.forget()
            raise UndefinedError("a computed output does not satisfy its constraint")
        if off > 0.0:
            score, residual, merit = self._iteration.measure_at(wrapped, state)  # R28
            state.take(wrapped, score, residual, merit)
            if residual > self.options.threshold:
                return None
        if self._box.contains(wrapped):  # R29
            state.take(wrapped, score, residual, merit)
            return Status.CONVERGED
        if state.best is q:
            state.best = wrapped
        return Status.OUT_OF_BOUNDS

    def _misses(self, q: Vector, state: ProjectionState) -> bool:
        """Whether computed outputs do not satisfy their constraint: its g_inverse has no value that does."""
        limit, point = self.options.threshold, state.buffers.point
        point.move(q)
        return any(
            stack_rows(twin, point, Order.POSITION, state.rhs, jacobian=False).residual > limit
            for twin in self._doubtful
        )

    def _failure(self, state: ProjectionState) -> Status:
        """Status of a projection whose tries are spent: that of the best iterate, which is turned back into bounds."""
        if state.residual < inf:
            self._turn_back(state)
        if state.residual <= self.options.threshold:
            accepted = self._accept(state.best, state.score, state.residual, state.merit, state)
            return state.status if accepted is None else accepted
        if state.residual == inf or state.status is Status.UNDEFINED:
            return Status.UNDEFINED
        _, rows = self._iteration.rows_at(state.best, state)
        if len(rows) > 1:  # R34: lower levels may hold the errors that are left: no single gradient tells
            return state.status
        stationary = is_stationary(self._iteration.gradient(state.best, rows), rows[0].error)
        return Status.STATIONARY if stationary else state.status

    def _turn_back(self, state: ProjectionState) -> None:
        """Joints of the best iterate that may turn, shifted by whole turns into their bounds."""
        q, off = self._box.wrap(state.best)
        if q is state.best:
            return
        if self._substitution.has_maps:
            q = self._substitution.resolve(q, state.rhs, state.buffers.point)
        if off > 0.0:
            state.take(q, *self._iteration.measure_at(q, state))
        state.best = q
