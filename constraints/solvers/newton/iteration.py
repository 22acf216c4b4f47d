"""One Newton iteration: the rows at an iterate, their measure, and the next iterate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, final

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector
from liegroups.segments import entries_of

from ...errors import OptionError, UndefinedError
from ...linear_algebra import dot
from ...point import placer
from ...problem.problem import Problem
from ...rows.stacking import Rows, evaluate_optional
from ...workspace import Workspace
from ..options import Options
from ..step_control import FullSteps, StepState, is_part
from .bounds import SolverBounds
from .free_bodies import FreeBodies
from .hierarchy import Hierarchy
from .linear_step import DampedCholesky, LinearStep, dof_scale, length_within
from .rules import SETTLING, Score, next_cap
from .state import Buffers, ProjectionState
from .substitution import Substitution

FAR = 100.0
"""Squared errors above this do not damp a step any more: its cap is what keeps it short."""
NO_SLOPES = "a constraint has a Jacobian that is not finite"
"""What is said of a step that would lead to no configuration."""
LEAST_CAP = 1e-3
"""A lower level that may still move this much [rad or m] may be what keeps the levels above from settling."""


def finite_square(step: Vector) -> float:
    """Squared length of a step.

    Raises:
        UndefinedError: it is not finite, since a Jacobian is not.
    """
    length2 = dot(step, step)
    if not length2 < inf:
        raise UndefinedError(NO_SLOPES)
    return length2


@final
class NewtonIteration:
    """From an iterate to the next one: resolve, evaluate, measure; step, saturate, cap, lower levels, step control.

    Args:
        problem: what is solved.
        options: how.
        step: the linear step of level 0.

    Attributes:
        lower_levels: how many levels there are below level 0.
        substitution: explicit constraints.
        box: bounds that steps keep.
    """

    def __init__(self, problem: Problem, options: Options, step: type[LinearStep]) -> None:
        self._options, self._space = options, problem.space
        self._levels = tuple(level for level in problem.levels if level.size)
        self._mandatory = sum(1 for level in problem.mandatory if level.size)
        self._place, self._integrate = placer(problem.space), problem.space.maps.integrate
        self.substitution, self._bodies = Substitution(problem), FreeBodies(problem)
        self.box = SolverBounds(problem, options.wrap, self._bodies)
        self._aligned = SolverBounds(problem, options.wrap, self._bodies, aligned=True)
        self._is_controlled = not isinstance(options.step_control, FullSteps)
        self._half, self._cap = 0.5 * options.threshold, options.cap
        sizes, scale = [level.size for level in self._levels], dof_scale(problem.weights)
        self.lower_levels = max(len(sizes) - 1, 0)
        if step.is_sparse and (self.lower_levels or self._bodies or not self.box.is_open or problem.explicits):
            raise OptionError(f"{step.__name__} solves one level without bounds, the problem has more")
        self._live = problem.free & ~problem.bounds.frozen  # R7
        self._step = step(sum(sizes[:1]), problem.weights)
        self._hierarchy = Hierarchy(
            [DampedCholesky(n) for n in sizes[1:]], options.damping, options.saturating_passes, scale
        )
        moving = self._bodies.together(problem.implicit_dofs & problem.free)
        self._idle = np.flatnonzero(~moving)
        still, flat = ~moving, self._space.vector_v
        still[flat] = problem.frozen[flat]  # only unit vectors may be rounded by a zero step
        self._still = np.flatnonzero(entries_of(self._space, still))
        self._is_simple = len(sizes) == 1 and not self._is_controlled
        self._reduces = self.substitution.reduces and not step.is_sparse  # sparse rows have moving columns alone

    # The rows at an iterate.

    def buffers(self, workspace: Workspace) -> Buffers:
        """What is written into, in a workspace."""
        point, stacked = self._place(self._space.neutral, workspace), list[Any]()
        for level in self._levels:
            stacked.append(self._step.stacked_rows(level, self._space, self._live))
        return Buffers(point, stacked, self._mandatory)

    def rows_at(self, q: Vector, state: ProjectionState, jacobian: bool = True) -> tuple[Vector, Sequence[Rows]]:
        """The configuration with its computed outputs, and the rows there with their reduced Jacobians, by level."""
        buffers, rhs, point = state.buffers, state.rhs, state.buffers.point
        if self.substitution.has_maps:
            q = self.substitution.resolve(q, rhs, point, jacobian)  # R5
        point.move(q)
        for stacked in buffers.mandatory:
            stacked.position(point, rhs, jacobian)
        if buffers.optional is not None:
            evaluate_optional(buffers.optional, point, rhs, jacobian)  # R35
        if jacobian and self._reduces:
            for stacked in buffers.stacked:
                self.substitution.reduce(stacked, point.workspace)
                if stacked.one_sided is not None:
                    self.substitution.reduce_matrix(stacked.one_sided.jacobian, point.workspace)
        return q, buffers.rows

    def measure(self, rows: Sequence[Rows]) -> tuple[Score, float, float]:
        """Score by level, residual (largest norm) and merit (sum of squares) of the mandatory levels."""
        if self._mandatory == 1:
            merit, residual = rows[0].measure()
            return [residual], residual, merit
        measures = [level.measure() for level in rows[: self._mandatory]]
        residuals = [residual for _, residual in measures]
        score = [r if r > self._half else 0.0 for r in residuals]
        return score, max(residuals, default=0.0), sum([merit for merit, _ in measures])

    def measure_at(self, q: Vector, state: ProjectionState) -> tuple[Score, float, float]:
        """The same at a configuration, by value only."""
        return self.measure(self.rows_at(q, state, jacobian=False)[1])

    def gradient(self, q: Vector, rows: Sequence[Rows]) -> Vector:
        """Gradient (nv,) of half the squared error of level 0 at q, without what bounds keep from descending."""
        gradient = rows[0].jacobian.T.dot(rows[0].error)
        return self._aligned.projected(q, self._bodies.turned_matrix(q, gradient))

    # The next iterate.

    def next(
        self, q: Vector, rows: Sequence[Rows], caps: Sequence[float], holding: bool, number: int, state: ProjectionState
    ) -> tuple[Vector, float, float, bool]:
        """The next iterate.

        Args:
            q: configuration (nq,).
            rows: rows there with their reduced Jacobians, by level.
            caps: largest move of a coordinate in the steps of the lower levels.
            holding: whether the last step held dofs at their bounds.
            number: of the step in its try, from 0.
            state: of the projection, for trials of a step control; not changed.

        Returns:
            The configuration; the squared length of the step; the part of it that the cap left; whether it holds dofs.

        Raises:
            UndefinedError: a Jacobian is not finite, and so the step.
        """
        error, J = rows[0].error, rows[0].jacobian
        if caps and not all(np.isfinite(level.jacobian).all() for level in rows[1:]):
            raise UndefinedError(NO_SLOPES)  # R12
        mu = self._options.damping * min(dot(error, error), FAR) + 1e-12  # R10
        step = self._step.solve(error, J, mu)
        solved, one_sided = rows, state.buffers.stacked[0].one_sided
        if one_sided is not None and (entered := one_sided.entered(rows[0], step)) is not None:  # R9
            solved, step = (entered, *rows[1:]), self._step.solve(entered.error, entered.jacobian, mu)
        length2 = finite_square(step)
        if self._is_simple and not holding:  # most steps keep all bounds once they are capped
            part = length_within(step, self._cap)
            after = self._moved(q, step if part == 1.0 else part * step)  # R16
            if self.box.clamp(after) is after:
                return after, length2, part, False
        step, held, part = self._planned(q, step, solved, mu, caps, self.box)
        moved = self._moved
        if self._bodies and not self._bodies.keep(moved(q, step)):  # R15
            moved, rows, root = self._translated, self._bodies.turned(q, rows), self._bodies.root(q)
            solved = self._bodies.turned(q, solved)
            step = self._step.solve(solved[0].error, solved[0].jacobian, mu, root)
            step, held, part = self._planned(q, step, solved, mu, caps, self._aligned, root)
        if self._is_controlled:
            step = step * self._part(step, rows, number, lambda s: self.measure_at(moved(q, s), state)[2])
        return self.box.clamp(moved(q, step)), finite_square(step), part, held is not None

    def _planned(
        self,
        q: Vector,
        step: Vector,
        rows: Sequence[Rows],
        mu: float,
        caps: Sequence[float],
        box: SolverBounds,
        root: Matrix | None = None,
    ) -> tuple[Vector, BoolVector | None, float]:
        """The step of level 0 within bounds and cap, with those of lower levels; held dofs; part that the cap left."""
        passes = self._options.saturating_passes
        step, held = box.saturate(q, step, rows[0].error, rows[0].jacobian, mu, self._step, passes, root)
        part = length_within(step, self._cap)  # R16
        step = step if part == 1.0 else part * step
        if caps:
            step = self._hierarchy.extend(q, step, held, rows, caps, box, root)
            step[self._idle] = 0.0  # null spaces leave roundings on dofs that no row moves
        return step, held, part

    def _moved(self, q: Vector, step: Vector) -> Vector:
        """The configuration after a step."""
        after = self._integrate(q, step)
        if self._still.size:
            after[self._still] = q[self._still]
        return after

    def _translated(self, q: Vector, step: Vector) -> Vector:
        """The configuration after a step by the coordinates of the bodies' translations."""
        after = self._moved(q, step)
        self._bodies.translate(q, step, after)
        return after

    def _part(self, step: Vector, rows: Sequence[Rows], number: int, merit_after: Callable[[Vector], float]) -> float:
        """How much of a step the step control takes."""
        control, mandatory = self._options.step_control, rows[: self._mandatory]
        merit = sum([level.merit for level in mandatory])
        residual = max([level.residual for level in mandatory], default=0.0)
        slope = 2.0 * float(sum([level.error.dot(level.jacobian.dot(step)) for level in mandatory]))

        def trial(alpha: float) -> float:
            try:
                return merit_after(alpha * step)
            except UndefinedError:
                return np.inf

        alpha = control.alpha(StepState(number, merit, slope, residual, self._options.threshold), trial)
        if not is_part(alpha):
            what = f"alpha of {type(control).__name__}"
            raise OptionError(f"{what}: a step control must return a number in (0, 1], got {alpha!r}")
        return alpha

    def adapt(self, caps: list[float], before: Sequence[float], rows: Sequence[Rows]) -> tuple[list[float], bool]:
        """Change the caps of the lower levels, in place, by how the levels above fare.

        They grow while the levels above settle, else they shrink: fast where the level gains nothing from its steps.

        Args:
            caps: of the last steps.
            before: residuals of all levels one iteration before.
            rows: rows of all levels.

        Returns:
            Residuals of all levels; whether some cap is on its way down.
        """
        residuals = [level.residual for level in rows]
        falling, settles = False, True
        for i, cap in enumerate(caps):
            settles = settles and (residuals[i] <= self._half or residuals[i] < SETTLING * before[i])
            caps[i] = next_cap(cap, settles, residuals[i + 1], before[i + 1], self._cap)  # R20
            falling = falling or (not settles and caps[i] > LEAST_CAP)  # R24
        return residuals, falling
