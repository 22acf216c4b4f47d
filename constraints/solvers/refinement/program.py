"""Refinement: the least of an objective among the solutions around one."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import Indices, Vector
from liegroups.frozen import read_only_copy
from liegroups.segments import entries_of

from ...errors import OptionError, UndefinedError
from ...linear_algebra import largest
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...workspace import Workspace
from ..engine import Engine, Outcome, Program
from ..newton.linear_step import capped
from ..options import Options
from ..status import Refined, Status, Step
from .feasible_set import FeasibleSet, FeasibleSetAt, LocalModel, refined_columns
from .objective import Distance, LastLevel
from .optimality import ACTIVE, Optimality, differences, optimality, row_multipliers
from .quadratic_model import QuadraticModel
from .restoration import Restoration

ON_THE_ROWS, LEAST_ERROR_OF_ROWS, LOOSEST = 1e-6, 1e-13, 1e-10
"""Rows are met to this part of the threshold where they can be, within these limits."""
DIFFERENCE_OF_HESSIAN = 1e-7
"""Length of the differences [m or rad] that give the Hessian."""
SLACK_OF_OPEN_ROWS = 1.01
"""Rows that cannot be met so well stay within this part of how well they were met at first."""
HALVINGS = 12
"""At most so many parts of a step are tried."""
SLOPE = 1e-4
"""Part of the decrease that the slope promises which a step must reach."""
NOISE = 1e-10
"""Part of the gradient's size below which costs do not tell one configuration from another."""


class _RefinedState(NamedTuple):
    """Where a refinement is."""

    local: LocalModel
    order: Optimality
    spent: int


@final
class RefinedProgram(Program):
    """A program whose solutions are refined: sequential quadratic programming along the feasible set.

    Args:
        program: gives the solutions to begin from.
        problem, options: of the program.
        engine: evaluates the rows; by their functions if absent.
    """

    def __init__(self, program: Program, problem: Problem, options: Options, engine: Engine | None = None) -> None:
        if options.optimise_last and not problem.optional_last:
            raise OptionError(
                "option 'optimise_last': the problem has no optional last level; give it two levels or more, and "
                "Problem(..., optional_last=True)"
            )
        self._program, self._problem, self._options = program, problem, options
        self.engine = program.engine
        self._last = LastLevel(problem.levels[-1]) if options.optimise_last else None
        turning = options.wrap and options.optimise_last  # in a distance a whole turn counts, in errors it does not
        self._feasible = FeasibleSet(problem, refined_columns(problem, options.nearest), turning, engine)
        self._restoration = Restoration(self._feasible, options.damping, options.cap, options.saturating_passes)
        self._tolerance = min(max(ON_THE_ROWS * options.threshold, LEAST_ERROR_OF_ROWS), LOOSEST)
        self._loose = problem.wraps if options.wrap else np.zeros(problem.space.nv, dtype=np.bool_)
        self._idle = np.flatnonzero(entries_of(problem.space, self._feasible.resting))

    def step(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """As that of the program."""
        return self._program.step(q0, rhs, workspace)

    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, near: Vector | None = None) -> Outcome:
        """Project, then refine; see `Program.run`."""
        options, problem = self._options, self._problem
        if near is not None and self._last is None and self._is_solution(near, rhs):
            residual, trace = problem.residual(near, rhs), () if options.trace else None
            return Outcome(near.copy(), Status.CONVERGED, 0, 0, residual, trace, Refined(0.0, near))
        outcome = self._program.run(q0, rhs, workspace)
        if outcome.status is not Status.CONVERGED:
            return outcome
        own = near is None and self._last is None
        if own and outcome.q.tobytes() == q0.tobytes():
            return outcome._replace(refined=Refined(0.0, q0, True))  # nothing is nearer to the start than itself
        near = q0 if near is None else near
        objective = Distance(problem.space, problem.weights, near) if self._last is None else self._last
        reference = near if self._last is None else None
        try:
            return self._refined(outcome, self._feasible.seen(rhs, workspace, objective), reference, own)
        except UndefinedError:
            return outcome._replace(refined=Refined(np.inf, reference, own))

    def _is_solution(self, q: Vector, rhs: RightHandSide) -> bool:
        """Whether a configuration satisfies everything; not so where a function has no value."""
        try:
            return self._problem.is_satisfied(q, None, rhs, self._options.threshold)
        except UndefinedError:
            return False

    def _refined(self, outcome: Outcome, view: FeasibleSetAt, near: Vector | None, own: bool) -> Outcome:
        """The outcome with its configuration refined; unchanged where nothing is to be gained."""
        first = view.at(outcome.q)
        if outcome.iterations == 0:  # a start that satisfies everything stays if it is stationary
            order = optimality(view, first)
            if self._is_over(view, first, order) and (self._turned(outcome.q, near) == outcome.q).all():
                return outcome._replace(refined=Refined(order.stationarity, near, own))
        q = self._turned(outcome.q, near)
        budget = self._options.refine_iterations
        state, trace = self._best(view, q, outcome, budget)
        iterations = outcome.iterations + state.spent
        if state.local.cost > first.cost:  # less than what the threshold left undone has gained: leave that as it is
            state, trace = self._best(view.kept(view.at(q)), q, outcome, budget - state.spent)
            iterations += state.spent
        q = view.at(self._feasible.box.wrap(state.local.q)[0]).q
        residual = self._problem.residual(q, view.rhs)
        if residual > self._options.threshold or not self._problem.bounds.contains(q):
            return outcome._replace(refined=Refined(optimality(view, first).stationarity, near, own))
        kept = outcome.trace if outcome.trace is None else (*outcome.trace, *trace)
        refined = Refined(state.order.stationarity, near, own, iterations - outcome.iterations >= budget)
        return outcome._replace(q=q, iterations=iterations, residual=residual, trace=kept, refined=refined)

    # One refinement.

    def _best(self, view: FeasibleSetAt, q: Vector, outcome: Outcome, budget: int) -> tuple[_RefinedState, list[Step]]:
        """Steps along the feasible set until nothing is left to gain, or the budget is."""
        local, worst, spent = self._restoration.restore(view, q, self._tolerance, budget=budget)
        most = max(self._tolerance, SLACK_OF_OPEN_ROWS * worst)
        trace: list[Step] = []
        order = optimality(view, local)
        while spent < budget and not self._is_over(view, local, order):
            after, steps = self._advanced(view, local, order, most, budget - spent)
            spent += steps
            if after is None:
                break
            local, order = after.local, after.order
            if outcome.trace is not None:
                trace.append(Step(read_only_copy(local.q), largest(view.residual(local)), False))
        return _RefinedState(local, order, spent), trace

    def _is_over(self, view: FeasibleSetAt, local: LocalModel, order: Optimality) -> bool:
        """Whether a configuration needs no more steps."""
        if order.stationarity <= self._options.refine_tolerance:
            return True
        return self._last is not None and 2.0 * local.cost <= (1e-3 * self._options.threshold) ** 2

    def _advanced(
        self, view: FeasibleSetAt, local: LocalModel, order: Optimality, most: float, budget: int
    ) -> tuple[_RefinedState | None, int]:
        """The state after one step along the feasible set, None where no step is lower; and what it cost."""
        slopes = order.slopes
        move, weights, gain = self._planned(view, local, order)
        if self._last is not None and gain <= self._options.refine_gain * local.cost:
            return None, 0
        whole, move = move, capped(move, self._options.cap)
        slope, noise = float(local.gradient.dot(move)), NOISE * largest(local.gradient)
        alpha, spent = 1.0, 1
        for _ in range(HALVINGS):
            leans = weights > 0.0  # a part of a step leans on what it begins at
            if move is not whole or alpha < 1.0:
                leans &= slopes.d >= -ACTIVE
            leaning = slopes.number[leans], slopes.side[leans]
            try:
                after, worst, steps = self._landed(view, local.q, alpha * move, *leaning, budget - spent)
            except UndefinedError:
                alpha *= 0.5
                continue
            spent += steps
            if worst <= most:
                if after.cost <= local.cost + SLOPE * alpha * slope:
                    return _RefinedState(after, optimality(view, after), spent), spent
                if after.cost <= local.cost + noise:
                    new = optimality(view, after)
                    if new.stationarity < 0.5 * order.stationarity:
                        return _RefinedState(after, new, spent), spent
            if spent >= budget or -alpha * slope <= noise:  # what a shorter step promises, costs do not tell
                break
            alpha *= 0.5
        return None, spent

    def _planned(self, view: FeasibleSetAt, local: LocalModel, order: Optimality) -> tuple[Vector, Vector, float]:
        """The step (nv,) of the quadratic model, the multipliers of the inequalities there, and what it should gain."""
        live, N, slopes = self._feasible.live, order.basis, order.slopes
        rows, weights = order.rows, order.weights
        while True:
            H = N.T @ differences(view, local, rows, N, DIFFERENCE_OF_HESSIAN)
            pushing = slopes.C[(weights > 0.0) & (slopes.d >= -ACTIVE)] @ N
            model = QuadraticModel(N, 0.5 * (H + H.T), N.T @ local.gradient[live], pushing)
            before = weights
            step, weights, gain = model.step(slopes)
            curved = (weights > 0.0) & (slopes.number < self._feasible.size)
            if before is not order.weights or not (curved & (order.weights == 0.0)).any():
                break
            rows = row_multipliers(view, local, slopes, weights)  # rows that begin to push bring their curvature
        move = np.zeros(self._feasible.nv)
        move[live] = step
        return move, weights, gain

    def _landed(
        self, view: FeasibleSetAt, q: Vector, move: Vector, pushed: Indices, sides: Vector, budget: int
    ) -> tuple[LocalModel, float, int]:
        """Back on the rows after a move, with the rows and bounds that it leans on met exactly."""
        feasible = self._feasible
        q = feasible.moved(q, move)
        target, held = np.full(feasible.size, np.nan), np.zeros(feasible.nv, dtype=np.bool_)
        for i, side in zip(pushed, sides, strict=True):
            if i < feasible.size:
                target[i] = view.end(i, side)
            else:
                column = i - feasible.size
                held[column] = True
                q[feasible.box.coordinate[column]] = view.end(i, side)
        return self._restoration.restore(view, q, self._tolerance, target, held, budget)

    def _turned(self, q: Vector, near: Vector | None) -> Vector:
        """With `nearest`: joints shifted by whole turns towards the reference, and what nothing moves put there."""
        if near is None:
            return q
        q, box = q.copy(), self._feasible.box
        q[self._idle] = near[self._idle]  # held at a bound where that is outside: a whole turn is farther
        for column in np.flatnonzero(self._loose & ~self._feasible.resting):
            i = box.coordinate[column]
            turns = np.round((near[i] - q[i]) / (2.0 * np.pi))
            room = (box.lower[column] - q[i]) / (2.0 * np.pi), (box.upper[column] - q[i]) / (2.0 * np.pi)
            turns = np.clip(turns, np.ceil(room[0]), np.floor(room[1]))
            if turns:
                q[i] += turns * 2.0 * np.pi
        return box.clamp(q)
