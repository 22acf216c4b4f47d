"""The readable engine: Newton projection in Python, numpy and LAPACK."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import final

import numpy as np

from liegroups.frozen import read_only_copy

from ..arrays import Vector
from ..errors import UndefinedError
from ..point import Workspace, placer
from ..problem import Problem
from ..right_hand_side import RightHandSide
from ..rows import Order, Rows, stack_rows, wished
from ..short_vectors import dot
from ..stack import Stack
from .bounds import Box
from .carried import CarriedBodies
from .engine import Engine, Outcome, Program
from .hierarchy import Hierarchy
from .options import Options
from .projection import Status, Step
from .restart import Restarts
from .search import Memory, Patience, Score, Search
from .step import DampedCholesky, capped, dof_scale
from .step_control import FullSteps, StepState
from .substitution import Substitution

__all__ = ["ReadableEngine", "ReadableProgram"]

_POSITION = Order.POSITION  # looked up once: members of an Enum are slow to find
CHEAP_RESIDUAL, CHEAP_STEP = 1e-2, 0.1
"""After a step this short from a residual this small, values alone are evaluated first: it is most likely the last."""
SETTLING, GAINING = 0.8, 0.9
"""The cap of a lower level grows while each level above falls to this part of its error in an iteration; else it is
halved, or cut to a tenth if the level itself does not fall to the second part."""
LEAST_CAP = 1e-3
"""A lower level that may still move this much [rad or m] may be what keeps the levels above from settling."""
UNIT = 1e-12
"""A start whose unit vectors are off by more is normalised before the first step: poses are exact only then."""
EXACT = 1e-6
"""A joint that is this part of the threshold [rad] from a whole turn away needs no second look at the constraints."""
FAR = 100.0
"""Squared errors above this do not damp a step any more: its cap is what keeps it short."""
STATIONARY_RATIO = 0.02
"""A projected gradient of at most this part of the error norm is no way down."""


@final
class ReadableEngine(Engine):
    """Compiles problems to `ReadableProgram`."""

    def compile(self, problem: Problem, options: Options) -> Program:
        """A program for a problem."""
        program = ReadableProgram(problem, options)
        if not (options.nearest or options.optimise_last):
            return program
        from .refinement import RefinedProgram  # on use: few problems ask for it

        return RefinedProgram(program, problem, options)


@final
class ReadableProgram(Program):
    """Newton projection with damped steps, priority levels, saturated bounds and restarts.

    Args:
        problem: what is solved.
        options: how.
    """

    def __init__(self, problem: Problem, options: Options) -> None:
        self.problem, self.options = problem, options
        self._space, self._place = problem.space, placer(problem.space)
        mandatory = problem.levels[:-1] if problem.optional_last else problem.levels
        self._mandatory = tuple(level for level in mandatory if level.size)
        self._levels = tuple(level for level in problem.levels if level.size)
        self._alone = len(self._mandatory) == 1
        self._wish = len(self._levels) > len(self._mandatory)
        self._carried = CarriedBodies(problem)
        self._substitution = Substitution(problem)
        self._in_loop = Substitution(problem, self._carried) if self._carried else self._substitution
        self._twins = tuple(Stack([explicit]) for explicit in problem.explicits)
        self._box = Box(problem, options.wrap)
        self._restarts = Restarts(problem, options.seed, options.restart_table) if options.restarts else None
        self._controlled = not isinstance(options.step_control, FullSteps)
        self._mixed = not self._controlled  # a control is told the slope of the exact rows
        self._half, self._cap2 = 0.5 * options.threshold, options.cap**2
        sizes = [level.size for level in self._levels]
        scale = dof_scale(problem.weights)
        self._step = DampedCholesky(sizes[0] if sizes else 0, scale)
        self._hierarchy = Hierarchy(sizes, self._box, options.damping, options.saturating_passes, scale)
        moving = problem.implicit_dofs & problem.free
        self._idle = np.flatnonzero(~moving)
        still = np.zeros(self._space.nq, dtype=np.bool_)  # a zero step may round a unit vector
        for leaf in self._space.leaves():
            still[leaf.q] = problem.frozen[leaf.v] if leaf.space.is_flat else not moving[leaf.v].any()
        self._still = np.flatnonzero(still)
        self._simple = len(self._levels) == 1 and not self._controlled
        self._keeps_still = bool(self._still.size)
        self._computes = bool(len(problem.explicits))

    # The whole projection.

    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, near: Vector | None = None) -> Outcome:
        """Project one configuration: tries from the start and from restarts, within one budget."""
        memory = workspace.resource(self, "memory", self._memory, workspace)
        search = Search(q0, rhs, memory, self.options.trace)
        try:
            memory.place(rhs)
            q = q0
            if self._space.unit_blocks and not self._space.is_normalized(q0, UNIT):
                q = self._space.normalize(q0)
            q = self._substitution.start(self._box.clamp(q), rhs)
            moved = q is not q0 and q.tobytes() != q0.tobytes()
            try:
                rows = self._at_start(q0, q, search, moved)
            except UndefinedError:
                rows = None
            if search.residual <= self.options.threshold and self._box.contains(q0):
                return search.outcome(Status.CONVERGED)
            if moved or self._substitution.has_maps:
                search.forget()  # no iterate: outside its bounds, not normalised, or unresolved
            return self._tries(q, rows, search)
        except UndefinedError:
            return search.outcome(Status.UNDEFINED)

    def step(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """One step from a configuration, whatever it does to the error."""
        memory = workspace.resource(self, "memory", self._memory, workspace)
        search = Search(q0, rhs, memory, False)
        memory.place(rhs)
        search.caps = [self.options.cap] * (len(self._levels) - 1)
        q, rows = self._rows(self._substitution.start(self._box.clamp(q0), rhs), search)
        if rows:
            q, _ = self._move(q, rows, rows[0].merit, search)
        return self._finished(self._rows(q, search, jacobian=False)[0], search)

    def _memory(self, workspace: Workspace) -> Memory:
        """What this program keeps in a workspace."""
        return Memory(self._place(self._space.neutral, workspace), self._levels, self._carried)

    def _at_start(self, q0: Vector, q: Vector, search: Search, moved: bool) -> Sequence[Rows] | None:
        """Look at the start as it is; rows that the first step can use where it has not to be moved to q, or None."""
        point, substitution = search.point, self._substitution
        worst = 0.0
        if moved and substitution.is_astray(q0, q, self.options.threshold):
            return None
        for twin in self._twins if moved or substitution.has_maps else ():
            worst = max(worst, stack_rows(twin, point, _POSITION, search.rhs, jacobian=False).residual)
            if worst > self.options.threshold:
                return None
        usable = not (moved or substitution.has_maps or self._wish)
        if usable:
            rows = [stacked.position(point, search.rhs, mixed=self._mixed) for stacked in search.stacked]
        else:
            rows = [stack_rows(level, point, _POSITION, search.rhs, jacobian=False) for level in self._mandatory]
        score, residual, merit = self._measure(rows)
        search.keep(q0, score, max(worst, residual), merit)
        if not usable:
            return None
        for stacked in search.stacked if not substitution.is_empty else ():
            substitution.reduce(stacked, search.workspace)
        return search.rows

    def _tries(self, start: Vector, rows: Sequence[Rows] | None, search: Search) -> Outcome:
        """One try after the other until one succeeds or the budget is spent."""
        options, restarts = self.options, self._restarts
        row, q = -1, start
        while True:
            try:
                status = self._descend(q, rows, search)
            except UndefinedError:
                status = Status.UNDEFINED
            if status is Status.CONVERGED:
                return search.outcome(status)
            if search.best_try == search.restarts:
                search.status = status
            if restarts is None or restarts.is_empty or search.iterations >= options.max_iterations:
                return search.outcome(self._failure(search))
            row = restarts.first(search.given) if row < 0 else row + options.screen
            search.iterations += 1
            search.restarts += 1
            q, rows = self._draw(start, row, search), None

    def _draw(self, start: Vector, row: int, search: Search) -> Vector:
        """The configuration to start again from: of the next `screen` rows the one of least residual."""
        restarts, screen = self._restarts, self.options.screen
        if restarts is None:
            return start
        candidates = [restarts.configuration(start, row + i) for i in range(screen)]
        if screen == 1:
            return candidates[0]
        return min(candidates, key=lambda q: self._glance(q, search))

    def _glance(self, q: Vector, search: Search) -> float:
        """Residual at a configuration, by value only; infinite where a function has none."""
        try:
            return self._measure(self._rows(q, search, jacobian=False)[1])[1]
        except UndefinedError:
            return np.inf

    def _descend(self, q: Vector, rows: Sequence[Rows] | None, search: Search) -> Status:
        """One try: damped, saturated, capped Newton steps, all accepted, until success, stall or end of budget."""
        options, patience = self.options, self._patience()
        search.caps, search.residuals = [options.cap] * (len(self._levels) - 1), []
        cheap, first, search.begun, search.part = False, search.restarts > 0, search.iterations, 1.0
        while True:
            if rows is None:
                q, rows = self._rows(q, search, jacobian=not cheap)
            score, residual, merit = self._measure(rows)
            if not merit < np.inf:
                raise UndefinedError("a constraint has an error that is not finite")
            if search.trace is not None:
                search.trace.append(Step(read_only_copy(self._finished(q, search)), residual, first))
            first = False
            search.keep(q, score, residual, merit)
            if residual <= self._half:
                status = self._accept(q, score, residual, merit, search)
                if status is not None:
                    return status
                q, score, residual, merit, cheap = search.best, search.score, search.residual, search.merit, True
            stalled = not (search.caps and self._adapt(search, rows)) and patience.is_over(score, search.part)
            if stalled or search.iterations >= options.max_iterations:
                return Status.STALLED if stalled else Status.MAX_ITERATIONS
            if cheap:
                q, rows = self._rows(q, search)
            search.iterations += 1
            q, length2 = self._move(q, rows, merit if self._alone else rows[0].merit, search)
            cheap, rows = residual < CHEAP_RESIDUAL and length2 < CHEAP_STEP**2, None

    def _accept(self, q: Vector, score: Score, residual: float, merit: float, search: Search) -> Status | None:
        """End of a try that satisfied the constraints: wrap, resolve again if anything wrapped, look at all bounds.

        Returns:
            The status; None where a joint could not be shifted by whole turns alone, and what is the best iterate then
            does not satisfy the constraints any more.
        """
        wrapped, off = self._box.wrap(q)
        if self._carried or (wrapped is not q and self._substitution.has_maps):
            wrapped = self._substitution.resolve(wrapped, search.rhs, search.point)
        if self._computes and not dot(wrapped, wrapped) < np.inf:
            search.forget()
            raise UndefinedError("a computed output is not finite")
        if off > EXACT * self.options.threshold:
            score, residual, merit = self._measure(self._rows(wrapped, search, jacobian=False)[1])
            search.take(wrapped, score, residual, merit)
            if residual > self.options.threshold:
                return None
        if self._box.contains(wrapped):
            search.take(wrapped, score, residual, merit)
            return Status.CONVERGED
        if search.best is q:
            search.best = wrapped
        return Status.OUT_OF_BOUNDS

    def _finished(self, q: Vector, search: Search) -> Vector:
        """The configuration with the poses of carried bodies, which the loop leaves as they were."""
        if not self._carried:
            return q
        return self._substitution.resolve(q, search.rhs, search.point)

    def _failure(self, search: Search) -> Status:
        """Status of a projection whose tries are spent: that of the best iterate."""
        search.best = self._finished(search.best, search)
        if search.residual <= self.options.threshold:
            accepted = self._accept(search.best, search.score, search.residual, search.merit, search)
            return search.status if accepted is None else accepted
        if search.residual == np.inf or search.status is Status.UNDEFINED:
            return Status.UNDEFINED
        _, rows = self._rows(search.best, search, exact=True)
        if len(rows) > 1:  # lower levels may hold the errors that are left: no single gradient tells
            return search.status
        error = rows[0].error
        gradient = self._box.projected(search.best, error.dot(rows[0].jacobian))
        if float(gradient.dot(gradient)) <= STATIONARY_RATIO**2 * float(error.dot(error)):
            return Status.STATIONARY
        return search.status

    # Its parts.

    def _rows(
        self, q: Vector, search: Search, jacobian: bool = True, exact: bool = False
    ) -> tuple[Vector, Sequence[Rows]]:
        """The configuration with its computed outputs, and the rows there with their reduced Jacobians, by level.

        The rows are those for a step, which may be mixed; `exact` asks for the errors as they are.
        """
        substitution, point = self._in_loop, search.point
        if substitution.has_maps:
            q = substitution.resolve(q, search.rhs, point, jacobian)
        point.move(q)
        rows, mixed = search.rows, self._mixed and not exact
        for stacked in search.stacked:
            if self._wish and stacked is search.stacked[-1]:
                wished(stacked, point, search.rhs, jacobian)
            else:
                stacked.position(point, search.rhs, jacobian, mixed=mixed)
        if jacobian and not substitution.is_empty:
            for stacked in search.stacked:
                substitution.reduce(stacked, point.workspace)
        return q, rows

    def _measure(self, rows: Sequence[Rows]) -> tuple[Score, float, float]:
        """Score by level, residual (largest norm) and merit (sum of squares) of the mandatory levels."""
        if self._alone:
            merit, residual = rows[0].measure()
            return [residual], residual, merit
        measures = [level.measure() for level in rows[: len(self._mandatory)]]
        residuals = [residual for _, residual in measures]
        score = [r if r > self._half else 0.0 for r in residuals]
        return score, max(residuals, default=0.0), sum([merit for merit, _ in measures])

    def _move(self, q: Vector, rows: Sequence[Rows], merit: float, search: Search) -> tuple[Vector, float]:
        """The next iterate, and the squared length of the step."""
        options, box = self.options, self._box
        error, J = rows[0].error, rows[0].jacobian
        mu = options.damping * min(merit, FAR) + 1e-12
        step, held = self._step.solve(error, J, mu), None
        length2 = dot(step, step)
        if self._simple and length2 <= self._cap2 and not search.holding:  # most steps: short, and within bounds
            after = self._moved(q, step)
            if box.keeps(after):
                search.part = 1.0
                return after, length2
        if not box.is_open:
            step, held = box.saturate(q, step, error, J, mu, self._step, options.saturating_passes)
            length2 = dot(step, step)
        search.holding = held is not None
        search.part = 1.0
        if length2 > self._cap2:
            step = capped(step, options.cap)
            search.part = sqrt(dot(step, step) / length2)
        if search.caps:
            step = self._hierarchy.extend(q, step, held, rows, search.caps)
            step[self._idle] = 0.0  # null spaces leave roundings on dofs that no row moves
            length2 = dot(step, step)
        if self._controlled:
            step = step * self._part(q, step, rows, search)
            length2 = dot(step, step)
        after = self._moved(q, step)
        return after if held is None else box.hold(after), length2

    def _moved(self, q: Vector, step: Vector) -> Vector:
        """The configuration after a step."""
        after = self._space.integrate(q, step)
        if self._keeps_still:
            after[self._still] = q[self._still]
        return after

    def _part(self, q: Vector, step: Vector, rows: Sequence[Rows], search: Search) -> float:
        """How much of a step the step control takes."""
        mandatory = rows[: len(self._mandatory)]
        merit, residual = sum([level.merit for level in mandatory]), max([level.residual for level in mandatory])
        slope = 2.0 * float(sum([level.error.dot(level.jacobian.dot(step)) for level in mandatory]))
        state = StepState(search.iterations - search.begun - 1, merit, slope, residual, self.options.threshold)

        def trial(alpha: float) -> float:
            after = self._rows(self._space.integrate(q, alpha * step), search, jacobian=False)[1]
            return sum([level.merit for level in after[: len(self._mandatory)]])

        return self.options.step_control.alpha(state, trial)

    def _adapt(self, search: Search, rows: Sequence[Rows]) -> bool:
        """Change the caps of the lower levels by how the levels above fare; true while some cap is on its way down.

        Grow while the levels above settle; shrink otherwise, fast where the level gains nothing from its steps.
        """
        residuals = [level.residual for level in rows]
        before, search.residuals = search.residuals or [np.inf] * len(rows), residuals
        falling, good = False, True
        for i in range(len(search.caps)):
            good = good and (residuals[i] <= self._half or residuals[i] < SETTLING * before[i])
            factor = 2.0 if good else 0.5 if residuals[i + 1] < GAINING * before[i + 1] else 0.1
            search.caps[i] = min(factor * search.caps[i], self.options.cap)
            falling = falling or (not good and search.caps[i] > LEAST_CAP)
        return falling

    def _patience(self) -> Patience:
        options = self.options
        if self._restarts is None:
            return Patience(options.patience_ratio, options.patience_count)
        return Patience(options.stall_ratio, options.stall_count)
