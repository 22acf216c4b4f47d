"""Bounds in the solver: saturate and redistribute, wrap, check."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector

from ...problem.problem import Problem
from .free_bodies import FreeBodies
from .linear_step import LinearStep, without
from .rules import into_bounds

NOTHING = 1e-12
"""A dof that moves by less than this part of the longest in a step does not move."""


@final
class SolverBounds:
    """The bounds of a problem as the solver uses them: full tangent-sized arrays with infinities, no index sets.

    Args:
        problem: whose bounds.
        wrap: whether joints that may be shifted by whole turns are free while the solver runs.
        bodies: free bodies whose translations are kept within bounds too; none if absent.
        aligned: whether steps are by the coordinates of these translations, which are linear in a step then; in a step
            that is a twist of the body they are not, and only `clamp` and `contains` know of their bounds.

    Attributes:
        lower, upper: (nv,) bounds that are linear in steps; infinite where there is none, and for joints that wrap.
        coordinate: (nv,) entry of q of each tangent column that is a coordinate; 0 elsewhere.
        is_open: True when no column has a bound.
        inner_lower, inner_upper: (nq,) bounds that steps keep; infinite elsewhere.
        turning: (entry, lower, upper) of joints that may turn.
        unkept: the same of entries with bounds that steps do not keep.
    """

    def __init__(self, problem: Problem, wrap: bool, bodies: FreeBodies | None = None, aligned: bool = False) -> None:
        bounds, space = problem.bounds, problem.space
        self._bounds = bounds
        self._wraps = problem.wraps if wrap else np.zeros(space.nv, dtype=np.bool_)
        unkept = self._wraps | ~problem.free
        self.lower = np.where(unkept, -np.inf, bounds.tangent_lower)
        self.upper = np.where(unkept, np.inf, bounds.tangent_upper)
        coordinate = np.zeros(space.nv, dtype=np.intp)
        coordinate[space.vector_v] = space.vector_q
        self.coordinate = coordinate
        inner = np.full(space.nq, -np.inf), np.full(space.nq, np.inf)
        for array, limits in zip(inner, (self.lower, self.upper), strict=True):
            array[space.vector_q] = limits[space.vector_v]
        if bodies:
            inner[0][bodies.entries], inner[1][bodies.entries] = bodies.lower, bodies.upper
        if bodies and aligned:
            coordinate[bodies.columns] = bodies.entries
            self.lower[bodies.columns], self.upper[bodies.columns] = bodies.lower, bodies.upper
        self.is_open = not (np.isfinite(self.lower).any() or np.isfinite(self.upper).any())
        self.inner_lower, self.inner_upper = inner
        turning = coordinate[np.flatnonzero(self._wraps)]
        self.turning: list[tuple[int, float, float]] = [
            (int(i), float(bounds.lower[i]), float(bounds.upper[i])) for i in turning
        ]
        kept = (inner[0] == bounds.lower) & (inner[1] == bounds.upper)
        self.unkept = [(i, float(bounds.lower[i]), float(bounds.upper[i])) for i in np.flatnonzero(~kept).tolist()]

    def clamp(self, q: Vector) -> Vector:
        """The nearest configuration inside the bounds that steps keep: q itself, no copy, where it is inside.

        After a step too: held dofs are exactly at their bounds then, and q + (bound - q) is not always the bound.
        """
        inside = q.clip(self.inner_lower, self.inner_upper)
        return q if _are_equal(inside, q) else inside

    def saturate(
        self,
        q: Vector,
        step: Vector,
        e: Vector,
        J: Matrix,
        mu: float,
        solver: LinearStep,
        passes: int,
        root: Matrix | None = None,
    ) -> tuple[Vector, BoolVector | None]:
        """The step, kept within bounds: what would leave is set to its bound, and the others make up for it.

        Each dof that would leave [lower, upper] gets the step to its bound, its column is left out, its effect moves to
        the right-hand side, and the others are solved again; what still leaves after the last pass is clipped.

        Args:
            q: configuration (nq,).
            step: the free step (nv,).
            e, J, mu: errors, their Jacobian and damping.
            solver: solves again.
            passes: at most this often.
            root: of the inverse costs, where they are not by column (see `LinearStep.solve`).

        Returns:
            The step, and which dofs are at a bound after it (None where none is).
        """
        x, held = q[self.coordinate], None  # R14
        while True:
            target = x + step
            inside = target.clip(self.lower, self.upper)
            outside = inside != target
            if not np.count_nonzero(outside if held is None else outside > held):
                return step, held  # of held dofs x + (bound - x) may miss the bound by a rounding
            held = outside if held is None else held | outside  # R13
            if passes == 0:
                return inside - x, held
            passes -= 1
            if root is None:
                to_bound = (inside - x) * held
                step = solver.solve(e + J.dot(to_bound), J * ~held, mu) + to_bound
            else:
                free, cheapest = without(root, held)
                to_bound = np.where(held, inside - x, cheapest.dot((inside - x)[held]))
                step = solver.solve(e + J.dot(to_bound), J, mu, free) + to_bound

    def leaving(self, q: Vector, step: Vector, part: Vector) -> BoolVector | None:
        """Which dofs `part` takes out of bounds after `step`; None where it takes none."""
        if self.is_open:
            return None
        target = q[self.coordinate] + step + part
        sizes = np.abs(part)  # of held dofs there are roundings left, which hold nothing up
        outside = ((target < self.lower) | (target > self.upper)) & (sizes > NOTHING * sizes.max())
        return outside if outside.any() else None

    def fraction(self, q: Vector, step: Vector, part: Vector) -> float:
        """How much of `part` can be added to `step` within bounds, in [0, 1]."""
        leaving = self.leaving(q, step, part)
        if leaving is None:
            return 1.0
        x = q[self.coordinate] + step
        end = np.where(part > 0.0, self.upper, self.lower)
        return float(np.clip(((end - x)[leaving] / part[leaving]).min(), 0.0, 1.0))

    def projected(self, q: Vector, gradient: Vector) -> Vector:
        """A gradient (nv,) without the components whose descent would leave the bounds."""
        if self.is_open:
            return gradient
        x = q[self.coordinate]
        outward = ((x <= self.lower) & (gradient > 0.0)) | ((x >= self.upper) & (gradient < 0.0))
        return np.where(outward, 0.0, gradient)

    def wrap(self, q: Vector) -> tuple[Vector, float]:
        """Joints that may turn shifted by whole turns into their bounds, only where they are outside.

        Returns:
            The configuration (q itself where nothing is outside), and how far from a whole turn a joint may have come
            [rad]: by rounding, or at most 1e-6 where its range is a full turn less that.
        """
        wrapped, off = q, 0.0
        for i, lower, upper in self.turning:
            x = q.item(i)
            if lower <= x <= upper:
                continue
            if wrapped is q:
                wrapped = q.copy()
            wrapped[i], apart = into_bounds(x, lower, upper)
            off = max(off, apart)
        return wrapped, off

    def contains(self, q: Vector) -> bool:
        """Whether q is within all its bounds, also those that steps do not keep."""
        return _are_equal(q.clip(self._bounds.lower, self._bounds.upper), q)


def _are_equal(a: Vector, b: Vector) -> bool:
    """Whether two vectors have the same numbers: the same bytes mostly, or -0.0 in place of 0.0."""
    return a.tobytes() == b.tobytes() or not np.count_nonzero(a != b)
