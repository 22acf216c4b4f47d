"""The readable engine: Newton projection in Python, numpy and LAPACK."""

from __future__ import annotations

from math import sqrt
from typing import Any, final

import numpy as np
from scipy.linalg import blas

from ..arrays import Vector
from ..errors import UndefinedError
from ..point import Workspace, placer
from ..problem import Problem
from ..right_hand_side import RightHandSide
from ..rows import Order, Rows, stack_rows
from ..stack import Stack
from .bounds import Box
from .engine import Engine, Outcome, Program
from .options import Options
from .projection import Status, Step
from .restart import Restarts
from .step import DampedCholesky
from .substitution import Substitution

__all__ = ["ReadableEngine", "ReadableProgram"]

_idamax: Any = blas.idamax  # index of the largest entry in size: a third of the time of numpy.abs(step).max()

CHEAP_RESIDUAL, CHEAP_STEP = 1e-2, 0.1
"""After a step this short from a residual this small, values alone are evaluated first: it is most likely the last."""
STATIONARY_RATIO = 0.02
"""A projected gradient of at most this part of the error norm is no way down."""


@final
class ReadableEngine(Engine):
    """Compiles problems to `ReadableProgram`."""

    def compile(self, problem: Problem, options: Options) -> Program:
        """A program for a problem."""
        return ReadableProgram(problem, options)


@final
class _Search:
    """State of one projection: budget, the best iterate and the try it came from."""

    __slots__ = (
        "best",
        "best_merit",
        "best_residual",
        "given",
        "iterations",
        "restarts",
        "rhs",
        "status",
        "trace",
        "workspace",
    )

    def __init__(self, rhs: RightHandSide, workspace: Workspace, q: Vector, trace: bool) -> None:
        self.rhs, self.workspace, self.given = rhs, workspace, q
        self.iterations = self.restarts = 0
        self.best, self.best_residual, self.best_merit = q, np.inf, np.inf
        self.status = Status.STALLED
        self.trace: list[Step] | None = [] if trace else None

    def keep(self, q: Vector, residual: float, merit: float) -> bool:
        """Remember an iterate if it is the best so far."""
        if residual > self.best_residual or (residual == self.best_residual and merit >= self.best_merit):
            return False
        self.best, self.best_residual, self.best_merit = q, residual, merit
        return True

    def outcome(self, status: Status) -> Outcome:
        """The best iterate as plain data."""
        trace = None if self.trace is None else tuple(self.trace)
        return Outcome(self.best, status, self.iterations, self.restarts, self.best_residual, trace)


@final
class ReadableProgram(Program):
    """Newton projection with damped steps, saturated bounds and restarts; `docs/solver.md` is its text.

    Args:
        problem: what is solved.
        options: how.
    """

    def __init__(self, problem: Problem, options: Options) -> None:
        self.problem, self.options = problem, options
        self._space = problem.space
        self._place = placer(problem.space)
        self._level = problem.levels[0]
        self._box = Box(problem, options.wrap)
        self._substitution = Substitution(problem)
        self._twins = tuple(Stack([explicit]) for explicit in problem.explicits)
        self._restarts = Restarts(problem, options.seed, options.restart_table) if options.restarts else None
        self._step = DampedCholesky(self._level.size)
        self._single = sum(s.stop > s.start for s in self._level.slices) == 1
        self._half = 0.5 * options.threshold

    # The whole projection.

    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Outcome:
        """Project one configuration: tries from the start and from restarts, within one budget."""
        search = _Search(rhs, workspace, q0, self.options.trace)
        try:
            rows = self._at_start(q0, search)
            if search.best_residual <= self.options.threshold and self._box.contains(q0):
                return search.outcome(Status.CONVERGED)
            q = self._substitution.start(self._box.clamp(q0), rhs)
            if q is not q0 or self._substitution.has_maps:
                search.best_residual = search.best_merit = np.inf  # no iterate: outside its bounds, or unresolved
                rows = None
            return self._tries(q, rows, search)
        except UndefinedError:
            return search.outcome(Status.UNDEFINED)

    def _at_start(self, q0: Vector, search: _Search) -> Rows | None:
        """Look at the start as it is; rows that the first step can use, or None."""
        point, worst = self._place(q0, search.workspace), 0.0
        for twin in self._twins:
            worst = max(worst, stack_rows(twin, point, Order.POSITION, search.rhs, jacobian=False).residual)
            if worst > self.options.threshold:
                search.keep(q0, worst, worst)
                return None
        rows = stack_rows(self._level, point, Order.POSITION, search.rhs)
        search.keep(q0, max(worst, rows.residual), rows.merit)
        return rows if self._substitution.is_empty else None

    def _tries(self, start: Vector, rows: Rows | None, search: _Search) -> Outcome:
        """One try after the other until one succeeds or the budget is spent."""
        options, restarts = self.options, self._restarts
        row, q = -1, start
        while True:
            if self._descend(q, rows, search):
                return search.outcome(Status.CONVERGED)
            if restarts is None or restarts.is_empty or search.iterations >= options.max_iterations:
                return search.outcome(self._failure(search))
            row = restarts.first(search.given) if row < 0 else row + options.screen
            search.iterations += 1
            search.restarts += 1
            q, rows = self._draw(start, row, search), None

    def _draw(self, start: Vector, row: int, search: _Search) -> Vector:
        """The configuration to start again from: of the next `screen` rows the one of least residual."""
        restarts, screen = self._restarts, self.options.screen
        if restarts is None:
            return start
        candidates = [restarts.configuration(start, row + i) for i in range(screen)]
        if screen == 1:
            return candidates[0]
        return min(candidates, key=lambda q: self._rows(q, search, jacobian=False)[1].residual)

    def _descend(self, q: Vector, rows: Rows | None, search: _Search) -> bool:
        """One try: damped, saturated, capped Newton steps, all accepted, until success, stall or end of budget."""
        options = self.options
        ratio, patience = (
            (options.patience_ratio, options.patience_count)
            if self._restarts is None
            else (options.stall_ratio, options.stall_count)
        )
        reference, count, cheap, first = np.inf, 0, False, search.restarts > 0
        while True:
            if rows is None:
                q, rows = self._rows(q, search, jacobian=not cheap)
            merit = rows.merit
            residual = sqrt(merit) if self._single else rows.residual
            if search.trace is not None:
                search.trace.append(Step(q, residual, first))
            first = False
            improved = search.keep(q, residual, merit)
            if residual <= self._half:
                return self._accept(q, search)
            if residual < ratio * reference:
                reference, count = residual, 0
            else:
                count += 1
            if count >= patience or search.iterations >= options.max_iterations:
                status = Status.STALLED if count >= patience else Status.MAX_ITERATIONS
                if improved or search.best_residual == reference:
                    search.status = status
                return False
            if cheap:
                q, rows = self._rows(q, search)
            search.iterations += 1
            q, length = self._move(q, rows, merit)
            cheap, rows = residual < CHEAP_RESIDUAL and length < CHEAP_STEP, None

    def _accept(self, q: Vector, search: _Search) -> bool:
        """End of a try that satisfied the constraints: wrap, and look at all bounds."""
        q = self._box.wrap(q)
        search.best = q
        if self._box.contains(q):
            return True
        search.status = Status.OUT_OF_BOUNDS
        return False

    def _failure(self, search: _Search) -> Status:
        """Status of a projection whose tries are spent: that of the best iterate."""
        if search.best_residual <= self.options.threshold:
            search.best = self._box.wrap(search.best)
            return Status.CONVERGED if self._box.contains(search.best) else Status.OUT_OF_BOUNDS
        _, rows = self._rows(search.best, search)
        gradient = self._box.projected(search.best, rows.error.dot(rows.jacobian))
        if float(gradient.dot(gradient)) <= STATIONARY_RATIO**2 * float(rows.error.dot(rows.error)):
            return Status.STATIONARY
        return search.status

    # Its parts.

    def _rows(self, q: Vector, search: _Search, jacobian: bool = True) -> tuple[Vector, Rows]:
        """The configuration with its computed outputs, and the rows there with their reduced Jacobian."""
        substitution = self._substitution
        if substitution.has_maps:
            q = substitution.resolve(q, search.rhs, search.workspace, jacobian)
        point = self._place(q, search.workspace)
        rows = stack_rows(self._level, point, Order.POSITION, search.rhs, jacobian=jacobian)
        if jacobian and not substitution.is_empty:
            substitution.reduce(rows.jacobian, search.workspace)
        return q, rows

    def _move(self, q: Vector, rows: Rows, merit: float) -> tuple[Vector, float]:
        """The next iterate, and the length of the step."""
        options, box = self.options, self._box
        error, J = rows.error, rows.jacobian
        mu = options.damping * merit + 1e-12
        step, held = self._step.solve(error, J, mu), None
        if not box.is_open:
            step, held = box.saturate(q, step, error, J, mu, self._step, options.saturating_passes)
        length2 = float(step.dot(step))
        if length2 > options.cap**2:
            longest = abs(step.item(_idamax(step)))
            if longest > options.cap:
                step = step * (options.cap / longest)
                held = None
                length2 *= (options.cap / longest) ** 2
        q = self._space.integrate(q, step)
        return box.hold(q, held), sqrt(length2)
