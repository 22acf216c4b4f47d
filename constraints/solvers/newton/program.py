"""The readable engine: Newton projection in Python, numpy and LAPACK."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import final

from liegroups.arrays import Vector
from liegroups.frozen import read_only_copy

from ...errors import UndefinedError
from ...linear_algebra import dot
from ...point import placer
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...rows.stack import Stack
from ...rows.stacking import Order, Rows, stack_rows, wished
from ...workspace import Workspace
from ..engine import Engine, Outcome, Program
from ..options import Options
from ..status import Status, Step
from .attached_bodies import CarriedBodies
from .bounds import Box
from .computed_bodies import ComputedBodies
from .free_bodies import FreeBodies
from .iteration import NewtonStep
from .restarts import Restarts
from .state import Memory, Patience, Score, Search
from .substitution import Substitution

__all__ = ["ReadableEngine", "ReadableProgram"]

_POSITION = Order.POSITION  # looked up once: members of an Enum are slow to find
CHEAP_RESIDUAL, CHEAP_STEP2 = 1e-2, 0.1**2
"""After a step this short (squared) from a residual this small, values alone are evaluated first: it is most likely the
last."""
UNIT = 1e-12
"""A start whose unit vectors are off by more is normalised before the first step: poses are exact only then."""
EXACT = 1e-6
"""A joint that is this part of the threshold [rad] from a whole turn away needs no second look at the constraints."""
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
        from ..refinement.program import RefinedProgram  # on use: few problems ask for it

        return RefinedProgram(program, problem, options)


@final
class ReadableProgram(Program):
    """Newton projection with damped steps, priority levels, saturated bounds and restarts.

    Args:
        problem: what is solved.
        options: how.
        with_rows: whether translations of computed bodies that leave their bounds are brought back by rows.
    """

    def __init__(self, problem: Problem, options: Options, with_rows: bool = True) -> None:
        self.problem, self.options = problem, options
        self._space, self._place = problem.space, placer(problem.space)
        mandatory = problem.levels[:-1] if problem.optional_last else problem.levels
        self._mandatory = tuple(level for level in mandatory if level.size)
        self._levels = tuple(level for level in problem.levels if level.size)
        self._alone = len(self._mandatory) == 1
        self._carried = CarriedBodies(problem)
        self._substitution = Substitution(problem)
        self._in_loop = Substitution(problem, self._carried) if self._carried else self._substitution
        self._twins = tuple(Stack([explicit]) for explicit in problem.explicits)
        self._bodies = FreeBodies(problem)
        self._box = Box(problem, options.wrap, self._bodies)
        self._computed = ComputedBodies(problem, options.threshold) if with_rows else None
        self._restarts = Restarts(problem, options.seed, options.restart_table) if options.restarts else None
        self._half = 0.5 * options.threshold
        sizes = [level.size for level in self._levels]
        self._step = NewtonStep(problem, options, self._bodies, self._box, sizes, len(self._mandatory))
        self._mixed = not self._step.is_controlled  # a control is told the slope of the exact rows
        self._computes = bool(len(problem.explicits))
        self._doubtful = tuple(Stack([explicit]) for explicit in problem.resolution.explicits if not explicit.is_exact)

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
            inside = self._box.clamp(q)
            q = self._substitution.start(inside, rhs)
            moved = q is not q0 and q.tobytes() != q0.tobytes()
            try:
                rows = self._at_start(q0, q, search, moved)
            except UndefinedError:
                rows = None
            if search.residual <= self.options.threshold and self._box.contains(q0, is_kept=inside is q0):
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
        search.caps, search.iterations = [self.options.cap] * (len(self._levels) - 1), 1
        q, rows = self._rows(self._substitution.start(self._box.clamp(q0), rhs), search)
        if rows:
            q, _ = self._step.take(q, rows, rows[0].merit, search, self._merit_at)
        return self._finished(self._rows(q, search, jacobian=False)[0], search)

    def _memory(self, workspace: Workspace) -> Memory:
        """What this program keeps in a workspace."""
        return Memory(self._place(self._space.neutral, workspace), self._levels, len(self._mandatory), self._carried)

    def _at_start(self, q0: Vector, q: Vector, search: Search, moved: bool) -> Sequence[Rows] | None:
        """Look at the start as it is; rows that the first step can use where it has not to be moved to q, or None."""
        point, substitution = search.point, self._substitution
        worst = 0.0
        if moved and substitution.is_astray(q0, q, self.options.threshold):
            return None
        for twin in self._twins if moved or substitution.has_maps else self._doubtful:
            worst = max(worst, stack_rows(twin, point, _POSITION, search.rhs, jacobian=False).residual)
            if worst > self.options.threshold:
                return None
        usable = not (moved or substitution.has_maps or search.wish)
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

    def _tries(
        self, start: Vector, rows: Sequence[Rows] | None, search: Search, first: Vector | None = None
    ) -> Outcome:
        """One try after the other until one succeeds or the budget is spent; the first from `start`, if not given."""
        options, restarts = self.options, self._restarts
        row, q = -1, start if first is None else first
        while True:
            try:
                status = self._descend(q, rows, search)
            except UndefinedError:
                status = Status.UNDEFINED
            if status is Status.CONVERGED:
                return search.outcome(status)
            if status is Status.OUT_OF_BOUNDS and self._computed and not self._computed.keep(search.best):
                return self._brought_back(start, search, self._computed)
            if search.best_try == search.restarts:
                search.status = status
            if restarts is None or restarts.is_empty or search.iterations >= options.max_iterations:
                return search.outcome(self._failure(search))
            row = restarts.first(search.given) if row < 0 else row + options.screen
            search.iterations += 1
            search.restarts += 1
            q, rows = self._draw(start, row, search), None

    @cached_property
    def _strict(self) -> ReadableProgram | None:
        """The program with rows for translations of computed bodies."""
        return ReadableProgram(self._computed.problem, self.options, with_rows=False) if self._computed else None

    def _brought_back(self, start: Vector, search: Search, computed: ComputedBodies) -> Outcome:
        """Go on with rows where a solution has computed bodies out of bounds; it stays where they do not help."""
        if self._strict is None or search.iterations >= self.options.max_iterations:
            return search.outcome(Status.OUT_OF_BOUNDS)
        done = self._strict.resume(start, computed.rhs(search.rhs, search.workspace), search)
        search.iterations, search.restarts = done.iterations, done.restarts
        if done.status is Status.CONVERGED:
            score, residual, merit = self._measure(self._rows(done.q, search, jacobian=False)[1])
            if residual <= self.options.threshold:
                search.take(done.q, score, residual, merit)
                return search.outcome(Status.CONVERGED)
        return search.outcome(Status.OUT_OF_BOUNDS)

    def resume(self, start: Vector, rhs: RightHandSide, before: Search) -> Outcome:
        """Go on where the search of another program ended, with what is left of its budget.

        Args:
            start: what restarts are drawn around (nq,).
            rhs: right-hand sides of this problem.
            before: the other search; its trace is gone on with.
        """
        workspace = before.workspace
        memory = workspace.resource(self, "memory", self._memory, workspace)
        search = Search(before.given, rhs, memory, False)
        memory.place(rhs)
        search.iterations, search.restarts, search.trace = before.iterations, before.restarts, before.trace
        return self._tries(start, None, search, before.best)

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
            return inf

    def _descend(self, q: Vector, rows: Sequence[Rows] | None, search: Search) -> Status:
        """One try: damped, saturated, capped Newton steps, all accepted, until success, stall or end of budget."""
        options, patience, trace, half = self.options, self._patience(), search.trace, self._half
        search.caps, search.residuals = [options.cap] * (len(self._levels) - 1), []
        cheap, first, search.begun, search.part = False, search.restarts > 0, search.iterations, 1.0
        while True:
            if rows is None:
                q, rows = self._rows(q, search, jacobian=not cheap)
            score, residual, merit = self._measure(rows)
            if not merit < inf:
                raise UndefinedError("a constraint has an error that is not finite")
            if trace is not None:
                trace.append(Step(read_only_copy(self._finished(q, search)), residual, first))
                first = False
            search.keep(q, score, residual, merit)
            if residual <= half:
                status = self._accept(q, score, residual, merit, search)
                if status is not None:
                    return status
                q, score, residual, merit, cheap = search.best, search.score, search.residual, search.merit, True
            stalled = not (search.caps and self._step.adapt(search, rows)) and patience.is_over(score, search.part)
            if stalled or search.iterations >= options.max_iterations:
                return Status.STALLED if stalled else Status.MAX_ITERATIONS
            if cheap:
                q, rows = self._rows(q, search)
            search.iterations += 1
            q, length2 = self._step.take(q, rows, merit if self._alone else rows[0].merit, search, self._merit_at)
            cheap, rows = residual < CHEAP_RESIDUAL and length2 < CHEAP_STEP2, None

    def _accept(self, q: Vector, score: Score, residual: float, merit: float, search: Search) -> Status | None:
        """End of a try that satisfied the constraints: wrap, resolve again if anything wrapped, look at all bounds.

        Returns:
            The status; None where a joint could not be shifted by whole turns alone, and what is the best iterate then
            does not satisfy the constraints any more.
        """
        wrapped, off = self._box.wrap(q)
        if self._carried or (wrapped is not q and self._substitution.has_maps):
            wrapped = self._substitution.resolve(wrapped, search.rhs, search.point)
        if self._computes and not dot(wrapped, wrapped) < inf:
            search.forget()
            raise UndefinedError("a computed output is not finite")
        if self._doubtful and self._misses(wrapped, search):
            search.forget()
            raise UndefinedError("a computed output does not satisfy its constraint")
        if off > EXACT * self.options.threshold:
            score, residual, merit = self._measure(self._rows(wrapped, search, jacobian=False)[1])
            search.take(wrapped, score, residual, merit)
            if residual > self.options.threshold:
                return None
        if self._box.contains(wrapped, is_kept=True):
            search.take(wrapped, score, residual, merit)
            return Status.CONVERGED
        if search.best is q:
            search.best = wrapped
        return Status.OUT_OF_BOUNDS

    def _misses(self, q: Vector, search: Search) -> bool:
        """Whether computed outputs do not satisfy their constraint: its g_inverse has no value that does."""
        search.point.move(q)
        limit, point = self.options.threshold, search.point
        return any(stack_rows(t, point, _POSITION, search.rhs, jacobian=False).residual > limit for t in self._doubtful)

    def _finished(self, q: Vector, search: Search) -> Vector:
        """The configuration with the poses of carried bodies, which the loop leaves as they were."""
        if not self._carried:
            return q
        return self._substitution.resolve(q, search.rhs, search.point)

    def _turn_back(self, search: Search) -> None:
        """Joints of the best iterate that may turn, shifted by whole turns into their bounds."""
        q, off = self._box.wrap(search.best)
        if q is search.best:
            return
        if self._substitution.has_maps:
            q = self._substitution.resolve(q, search.rhs, search.point)
        if off > EXACT * self.options.threshold:
            search.take(q, *self._measure(self._rows(q, search, jacobian=False)[1]))
        search.best = q

    def _failure(self, search: Search) -> Status:
        """Status of a projection whose tries are spent: that of the best iterate, which is turned back into bounds."""
        search.best = self._finished(search.best, search)
        if search.residual < inf:
            self._turn_back(search)
        if search.residual <= self.options.threshold:
            accepted = self._accept(search.best, search.score, search.residual, search.merit, search)
            return search.status if accepted is None else accepted
        if search.residual == inf or search.status is Status.UNDEFINED:
            return Status.UNDEFINED
        _, rows = self._rows(search.best, search, exact=True)
        if len(rows) > 1:  # lower levels may hold the errors that are left: no single gradient tells
            return search.status
        error = rows[0].error
        gradient = self._step.within(search.best, error.dot(rows[0].jacobian))
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
        for stacked in search.firm:
            stacked.position(point, search.rhs, jacobian, mixed=mixed)
        if search.wish is not None:
            wished(search.wish, point, search.rhs, jacobian)
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

    def _merit_at(self, q: Vector, search: Search) -> float:
        """Merit at a configuration, by value only."""
        return sum([level.merit for level in self._rows(q, search, jacobian=False)[1][: len(self._mandatory)]])

    def _patience(self) -> Patience:
        options = self.options
        if self._restarts is None:
            return Patience(options.patience_ratio, options.patience_count)
        return Patience(options.stall_ratio, options.stall_count)
