"""Computed bodies whose translations have bounds: rows that bring them inside."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any, final

import numpy as np

from liegroups import Rn, Segments
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.groups import translation_size
from liegroups.layout import Factor

from ...functions import Position
from ...functions.function import Function
from ...problem.problem import Problem
from ...robot import Frame
from ...robot.frame_table import FrameKind
from ...rows.implicit import Implicit
from ...rows.right_hand_side import RightHandSide
from ...workspace import Workspace
from ..engine import Outcome, Outcomes, Program
from ..evaluation import Evaluation
from ..options import Options
from ..status import Status
from .free_bodies import rotation

INSIDE_BODY_BOUNDS = 0.5 * (1.0 + 1e-6)
"""How far inside a bound a row asks a translation to be, in thresholds: solutions are met to half of one."""


@final
class _Sides:
    """The right-hand sides last seen in a workspace, and what was made of them."""

    __slots__ = ("ours", "theirs")
    theirs: RightHandSide | None
    ours: RightHandSide

    def __init__(self) -> None:
        self.theirs = None


@final
class ComputedBodies:
    """The bodies of a problem whose pose is computed, and whose translation has bounds.

    Nothing that a step does to them is linear in one of its columns, and most solutions are inside anyway: they are
    looked at when a solution is found. Where it is outside, the search goes on with a row for each bounded coordinate,
    an interval that is narrower than the bounds by half the threshold.

    Args:
        problem: whose bodies.
        threshold: largest accepted error norm of a constraint.

    Attributes:
        bodies: those bodies, as leaves of the space.
    """

    def __init__(self, problem: Problem, threshold: float) -> None:
        bounds, self._problem, self._threshold = problem.bounds, problem, threshold
        bounded = np.isfinite(bounds.lower) | np.isfinite(bounds.upper)
        computed = np.zeros(problem.space.nv, dtype=np.bool_)
        for explicit in problem.resolution.explicits:
            computed[explicit.outputs.v_indices] |= not explicit.is_constant
        self.bodies: list[Factor] = []
        for leaf in problem.space.leaves():
            size = translation_size(leaf.space)
            if computed[leaf.v][:size].any() and bounded[leaf.q][:size].any():
                self.bodies.append(leaf)
        limits = list(zip(range(problem.space.nq), bounds.lower.tolist(), bounds.upper.tolist(), strict=True))
        self._limits = [limit for leaf in self.bodies for limit in limits[leaf.q] if limit[1:] != (-np.inf, np.inf)]

    def __bool__(self) -> bool:
        return bool(self.bodies)

    def leave(self, q: Vector) -> bool:
        """Whether a translation is outside its bounds."""
        return not all([lower <= q[i] <= upper for i, lower, upper in self._limits])

    @cached_property
    def problem(self) -> Problem:
        """The problem with the rows, at its first level."""
        problem = self._problem
        first, *others = problem.constraint_levels
        return Problem(
            problem.robot or problem.space,
            [[*first, *self._rows], *others],
            problem.bounds,
            weights=problem.weights,
            frozen=Segments.coordinates(problem.space, np.flatnonzero(problem.frozen)),
            optional_last=problem.optional_last,
        )

    def rhs(self, rhs: RightHandSide, workspace: Workspace) -> RightHandSide:
        """Right-hand sides of that problem, from those of the one given; made once while these stay the same."""
        seen: _Sides = workspace.resource(self, "rhs", _Sides)
        if seen.theirs is not rhs:
            seen.ours = self.problem.rhs.taken_from(rhs, self._given)
            seen.theirs = rhs
        return seen.ours

    @cached_property
    def _given(self) -> list[int]:
        """Positions of the constraints that the problem without the rows has too."""
        rows = {id(row) for row in self._rows}
        return [i for i, owner in enumerate(self.problem.constraints) if id(owner) not in rows]

    @cached_property
    def _rows(self) -> list[Implicit]:
        return [self._row(leaf) for leaf in self.bodies]

    def _row(self, leaf: Factor) -> Implicit:
        """The translation of a body in its narrower box."""
        bounds, size = self._problem.bounds, translation_size(leaf.space)
        function = self._translation(leaf, size)
        lower, upper = np.full(function.outputs.nv, -np.inf), np.full(function.outputs.nv, np.inf)
        lower[:size], upper[:size] = bounds.lower[leaf.q][:size], bounds.upper[leaf.q][:size]
        inside = np.minimum(INSIDE_BODY_BOUNDS * self._threshold, 0.25 * (upper - lower))  # R31
        mask = np.isfinite(lower) | np.isfinite(upper)
        return Implicit.between(function, lower + inside, upper - inside, mask=mask, name=f"bounds of {leaf.name}")

    def _translation(self, leaf: Factor, size: int) -> Function:
        """The translation as a function; of a joint as a position, which is known to see nothing but a frame."""
        space, robot = self._problem.space, self._problem.robot
        if robot is not None and leaf.name in robot.joint_names:
            model: Any = robot.model
            body = robot.frame(leaf.name, kind=FrameKind.JOINT)
            seat = Frame(f"seat of {leaf.name}", model.parents[body.joint], model.jointPlacements[body.joint])
            return Position(robot, body, reference=seat)
        still = np.zeros((size, leaf.space.nv - size))
        translation = Function.from_callable(
            lambda q: q[:size],
            leaf.space,
            Rn(size),
            lambda q: np.hstack((rotation(q[size:]), still)),
            columns=np.arange(leaf.space.nv) < size,
        )
        return translation.on(space, Segments.coordinates(space, range(leaf.v.start, leaf.v.stop)))


class Resumable(Program):
    """A program that can go on where another one ended.

    Attributes:
        problem, options: of the program.
    """

    problem: Problem
    options: Options

    @abstractmethod
    def resume(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, before: Outcome) -> Outcome:
        """Go on where another program ended, with what is left of its budget.

        Args:
            q0, rhs, workspace: as for `run`; the start says which restarts are drawn.
            before: what the other program gave back; its trace is gone on with.
        """


@final
class BringBack:
    """How a program goes on with rows where a solution has computed bodies out of bounds.

    The solution stays what it is, OUT_OF_BOUNDS, where they do not help.

    Args:
        problem, options: of the program.
        computed: the computed bodies of the problem; the program ends with the first solution that they leave by.
        strict: makes the program with the rows, when a solution needs it.
        evaluation: of the constraints of the problem, without the rows.
    """

    def __init__(
        self,
        problem: Problem,
        options: Options,
        computed: ComputedBodies,
        strict: Callable[[Problem], Resumable],
        evaluation: Evaluation,
    ) -> None:
        self._problem, self._options = problem, options
        self._computed, self._make, self._evaluation = computed, strict, evaluation
        self.leave = computed.leave

    @cached_property
    def _strict(self) -> Resumable:
        return self._make(self._computed.problem)

    def inside(self, found: Outcome, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Outcome:
        """What was found out of bounds; a solution inside, where it has computed bodies outside and one is found."""
        options = self._options
        if not self.leave(found.q) or found.iterations >= options.max_iterations:
            return found
        inside = self._strict.resume(q0, self._computed.rhs(rhs, workspace), workspace, found)
        if inside.status is Status.CONVERGED:
            residual = self._residual(inside.q, rhs, workspace)
            if residual <= options.threshold:
                return Outcome(inside.q, inside.status, inside.iterations, inside.restarts, residual, inside.trace)
        return found._replace(iterations=inside.iterations, restarts=inside.restarts, trace=inside.trace)

    def all_inside(
        self, outcomes: Outcomes, rows: Indices, Q: Matrix, sides: Sequence[RightHandSide], workspace: Workspace
    ) -> None:
        """The same of some rows, in place.

        Args:
            outcomes: what was found.
            rows: those that were found out of bounds.
            Q: starts (n, nq).
            sides: right-hand sides, one a row, or one for all.
            workspace: as for `run`.
        """
        for i in list[int](rows.tolist()):
            began = perf_counter()
            found = self.inside(outcomes.get(i), Q[i].copy(), sides[min(i, len(sides) - 1)], workspace)
            outcomes.put(i, found, float(outcomes.seconds[i]) + perf_counter() - began)

    def _residual(self, q: Vector, rhs: RightHandSide, workspace: Workspace) -> float:
        """Largest error norm of a constraint of the problem without the rows."""
        if self._problem.optional_last:  # which may be undefined
            return self._problem.residual(q, rhs)
        return self._evaluation.rows(q, rhs, workspace, jacobian=False).residual
