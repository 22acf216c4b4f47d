"""The step of all levels: damped, saturated, capped, extended by lower levels, and cut by the step control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector
from liegroups.segments import entries_of

from ...errors import OptionError, UndefinedError
from ...linear_algebra import dot
from ...problem.problem import Problem
from ...rows.stacking import Rows
from ..options import Options
from ..step_control import FullSteps, StepState, is_part
from .bounds import Box
from .free_bodies import FreeBodies
from .hierarchy import Hierarchy
from .linear_step import DampedCholesky, dof_scale, part_within
from .state import Search

__all__ = ["NewtonStep"]

FAR = 100.0
"""Squared errors above this do not damp a step any more: its cap is what keeps it short."""
SETTLING, GAINING = 0.8, 0.9
"""The cap of a lower level grows while each level above falls to this part of its error in an iteration; else it is
halved, or cut to a tenth if the level itself does not fall to the second part."""
LEAST_CAP = 1e-3
"""A lower level that may still move this much [rad or m] may be what keeps the levels above from settling."""


@final
class NewtonStep:
    """From the rows at an iterate to the next iterate.

    Args:
        problem: what is solved.
        options: how.
        bodies: free bodies with bounds.
        box: bounds that steps keep, those of the bodies among them.
        sizes: number of rows of each level.
        mandatory: how many of the levels must hold.

    Attributes:
        is_controlled: whether a step control takes parts of steps.
    """

    def __init__(
        self, problem: Problem, options: Options, bodies: FreeBodies, box: Box, sizes: Sequence[int], mandatory: int
    ) -> None:
        self._options, self._box, self._space, self._mandatory = options, box, problem.space, mandatory
        self._bodies, self._aligned = bodies, Box(problem, options.wrap, bodies, aligned=True) if bodies else box
        self._has_bodies = bool(bodies)
        self.is_controlled = not isinstance(options.step_control, FullSteps)
        self._integrate = problem.space.maps.integrate
        self._half, self._cap, self._cap2 = 0.5 * options.threshold, options.cap, options.cap * options.cap
        self._damping = options.damping
        scale = dof_scale(problem.weights)
        self._step = DampedCholesky(sizes[0] if sizes else 0, scale)
        self._hierarchy = Hierarchy(sizes, options.damping, options.saturating_passes, scale)
        moving = bodies.together(problem.implicit_dofs & problem.free)
        self._idle = np.flatnonzero(~moving)
        still, flat = ~moving, self._space.vector_v
        still[flat] = problem.frozen[flat]  # only unit vectors may be rounded by a zero step
        self._still = np.flatnonzero(entries_of(self._space, still))
        self._simple = len(sizes) == 1 and not self.is_controlled
        self._keeps_still = bool(self._still.size)

    def take(
        self,
        q: Vector,
        rows: Sequence[Rows],
        merit: float,
        search: Search,
        merit_at: Callable[[Vector, Search], float],
    ) -> tuple[Vector, float]:
        """The next iterate, and the squared length of the step.

        Args:
            q: configuration (nq,).
            rows: rows there with their reduced Jacobians, by level.
            merit: squared error of level 0.
            search: of the projection; learns whether dofs are held, and which part of the step was taken.
            merit_at: merit of another configuration, for a step control.
        """
        mu = self._damping * (merit if merit < FAR else FAR) + 1e-12
        step = self._step.solve(rows[0].error, rows[0].jacobian, mu)
        if self._simple and not search.holding:  # most steps: within bounds
            length2 = dot(step, step)
            part = search.part = 1.0 if length2 <= self._cap2 else part_within(step, self._cap)
            after = self._moved(q, step if part == 1.0 else step * part)
            if self._box.keeps(after):
                return after, length2
        step, held, length2 = self._planned(q, step, rows, mu, search, self._box)
        moved = self._moved
        after = moved(q, step)
        if self._has_bodies and not self._bodies.keep(after):
            moved, rows, root = self._translated, self._bodies.turned(q, rows), self._bodies.root(q)
            step = self._step.solve(rows[0].error, rows[0].jacobian, mu, root)
            step, held, length2 = self._planned(q, step, rows, mu, search, self._aligned, root)
            after = self._box.hold(moved(q, step))
        if self.is_controlled:
            step = step * self._part(q, step, rows, search, lambda part: merit_at(moved(q, part), search))
            after, length2 = self._box.hold(moved(q, step)), dot(step, step)
        return self._box.hold(after) if held is not None or search.caps else after, length2

    def within(self, q: Vector, gradient: Vector) -> Vector:
        """A gradient (nv,) at q without the part whose descent would leave the bounds."""
        if not self._has_bodies:
            return self._box.projected(q, gradient)
        return self._aligned.projected(q, self._bodies.turned_matrix(q, gradient))

    def _planned(
        self,
        q: Vector,
        step: Vector,
        rows: Sequence[Rows],
        mu: float,
        search: Search,
        box: Box,
        root: Matrix | None = None,
    ) -> tuple[Vector, BoolVector | None, float]:
        """The free step of level 0 within bounds and cap, with those of the lower levels; held dofs; squared length."""
        held = None
        if not box.is_open:
            error, J = rows[0].error, rows[0].jacobian
            step, held = box.saturate(q, step, error, J, mu, self._step, self._options.saturating_passes, root)
        search.holding = held is not None
        length2 = dot(step, step)
        search.part = 1.0 if length2 <= self._cap2 else part_within(step, self._cap)
        if search.part < 1.0:
            step *= search.part
        if search.caps:
            step = self._hierarchy.extend(q, step, held, rows, search.caps, box, root)
            step[self._idle] = 0.0  # null spaces leave roundings on dofs that no row moves
            length2 = dot(step, step)
        return step, held, length2

    def _moved(self, q: Vector, step: Vector) -> Vector:
        """The configuration after a step."""
        after = self._integrate(q, step)
        if self._keeps_still:
            after[self._still] = q[self._still]
        return after

    def _translated(self, q: Vector, step: Vector) -> Vector:
        """The configuration after a step by the coordinates of the bodies' translations."""
        after = self._moved(q, step)
        self._bodies.translate(q, step, after)
        return after

    def _part(
        self, q: Vector, step: Vector, rows: Sequence[Rows], search: Search, merit_after: Callable[[Vector], float]
    ) -> float:
        """How much of a step the step control takes."""
        mandatory = rows[: self._mandatory]
        merit = sum([level.merit for level in mandatory])
        residual = max([level.residual for level in mandatory], default=0.0)
        slope = 2.0 * float(sum([level.error.dot(level.jacobian.dot(step)) for level in mandatory]))
        state = StepState(search.iterations - search.begun - 1, merit, slope, residual, self._options.threshold)

        def trial(alpha: float) -> float:
            try:
                return merit_after(alpha * step)
            except UndefinedError:
                return np.inf

        control = self._options.step_control
        alpha = control.alpha(state, trial)
        if not is_part(alpha):
            what = f"alpha of {type(control).__name__}"
            raise OptionError(f"{what}: a step control gives a number in (0, 1], got {alpha!r}")
        return alpha

    def adapt(self, search: Search, rows: Sequence[Rows]) -> bool:
        """Change the caps of the lower levels by how the levels above fare; true while some cap is on its way down.

        Grow while the levels above settle; shrink otherwise, fast where the level gains nothing from its steps.
        """
        residuals = [level.residual for level in rows]
        before, search.residuals = search.residuals or [np.inf] * len(rows), residuals
        falling, good = False, True
        for i in range(len(search.caps)):
            good = good and (residuals[i] <= self._half or residuals[i] < SETTLING * before[i])
            factor = 2.0 if good else 0.5 if residuals[i + 1] < GAINING * before[i + 1] else 0.1
            search.caps[i] = min(factor * search.caps[i], self._options.cap)
            falling = falling or (not good and search.caps[i] > LEAST_CAP)
        return falling
