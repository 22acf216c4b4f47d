"""A problem as a constrained space of OMPL, in free coordinates; paths of OMPL as paths. Extra `ompl`."""

from __future__ import annotations

import logging
from functools import cache
from typing import Any, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, BoolVector, Matrix, Vector
from liegroups.frozen import read_only_copy
from liegroups.segments import as_slice
from liegroups.unit_blocks import normalized

from ..collisions.model import CollisionModel
from ..errors import EmptyProblemError, FailedError, OptionError, UndefinedError, WrongObjectError
from ..exports import from_extra
from ..keywords import closed
from ..linear_algebra import norm, row_space
from ..paths.interpolation import interpolate
from ..paths.path import TOGETHER, Path
from ..planning.edges import EdgeJudge
from ..planning.ends import Refused, rows_of, usable
from ..planning.leaf import LeafOfProblem, path_projector
from ..planning.status import PlanningStatus
from ..problem.problem import Problem
from ..ranges import positive_number
from ..rows.right_hand_side import RightHandSide
from ..solvers import Projector
from ..words import counted

_log = logging.getLogger(__package__)

DELTA = 0.05
"""Distance between configurations that OMPL looks at on its way [coordinates of q: rad, m, chords of unit vectors]."""
ON_SPHERE = 1e-6
"""Largest difference of the norm of a unit vector from 1 that OMPL is told to be satisfied."""
ROUNDING = 1e-12
"""Largest difference of the norm of a unit vector from 1 with which it is taken as it is: ends keep their bits."""


@final
@closed("make a new one, OmplSpace(problem, start)")
class OmplSpace:
    r"""A leaf of a problem as a constrained space of OMPL, in free coordinates x of q.

    .. math:: \{x : e(\Phi(x / |x|)) = 0,\ |x_i|^2 = 1\}

    with :math:`q = \Phi(x)` of `FreeCoordinates`, e the errors of the rows that are not resolved explicitly, and
    :math:`x_i` the unit vectors in x. OMPL projects by the `Projector` of this library, which keeps bounds and norms;
    a state is valid where all constraints and bounds hold and nothing collides. Rows that depend on others at the start
    are combined to independent ones, as atlases need them, with a warning; projections and validity have all rows.
    Call `ompl.util.RNG.setSeed` before.

    Args:
        problem: the constraints; or a projector for them, by default with `Options.local()` and half its threshold.
        start: a configuration (nq,) on the leaf. Frozen dofs keep its values, and quaternions begin on its side.
        rhs: right-hand sides, those of the problem by default: the leaf.
        collisions: what must be free; None for nothing.
        delta: distance of the configurations that OMPL looks at on its way [coordinates of q].

    Attributes:
        coordinates: which coordinates of q are x, and q from them.
        constraint: an `ompl.base.Constraint`: errors of the rows, then :math:`|x_i|^2 - 1` of each unit vector.
        space: an `ompl.base.ProjectedStateSpace` with bounds.
        information: an `ompl.base.ConstrainedSpaceInformation` with the checker of validity.
        start: as given, read-only.

    Raises:
        MissingExtraError: ompl is not installed.
        FailedError: the start is not on the leaf, is out of bounds, or collides.
        OptionError: a coordinate without bounds, where OMPL would draw numbers; or a `delta` that is not positive.
        EmptyProblemError: nothing can move at the start.
        WrongObjectError, SizeError, SpaceMismatchError: another argument is wrong.

    Example:
        >>> from ompl import geometric  # doctest: +SKIP
        >>> space = OmplSpace(problem, start, collisions=model)  # doctest: +SKIP
        >>> setup = space.setup(goal)  # doctest: +SKIP
        >>> setup.setPlanner(geometric.RRTConnect(space.information))  # doctest: +SKIP
        >>> setup.solve(10.0)  # doctest: +SKIP
        >>> path = space.path(setup)  # doctest: +SKIP
    """

    def __init__(
        self,
        problem: Problem | Projector,
        start: ArrayLike,
        rhs: RightHandSide | ArrayLike | None = None,
        *,
        collisions: CollisionModel | None = None,
        delta: float = DELTA,
    ) -> None:
        base = from_extra("ompl.base", "ompl")
        projector = path_projector(problem, collisions, "for OMPL")
        given, step = projector.problem, positive_number(delta, "delta for OMPL")
        leaf = LeafOfProblem(projector, given.check_rhs(rhs), collisions)
        q = read_only_copy(_usable(leaf, rows_of(given, given.check(start, "start"), "start"), "start")[0])
        self._chart = chart = _Chart(leaf, q)
        self.coordinates, self.start = chart.free, q
        self.constraint: Any = _constraint_class()(chart)
        self.space: Any = base.ProjectedStateSpace(_ambient(base, chart), self.constraint)
        self.information: Any = base.ConstrainedSpaceInformation(self.space)
        self.information.setStateValidityChecker(chart.is_valid)
        self.space.setDelta(step)

    def state(self, q: ArrayLike, what: str = "state") -> Any:
        """A configuration as a state of OMPL, its quaternions on the side of those of the start.

        Args:
            q: (nq,), on the leaf, within bounds and free.
            what: its name in messages.

        Raises:
            FailedError: what is wrong with it: errors of constraints and bounds, pairs that collide, frozen joints that
                are not as at the start.
            SizeError, DtypeError, NotFiniteError, NotNormalizedError: it is no configuration.
        """
        row = rows_of(self._chart.problem, self._chart.problem.check(q, what), what)
        x = self._chart.x(_usable(self._chart.leaf, row, what)[0], what)
        state = self.space.allocState()
        state.copy(x.tolist())
        return state

    def q(self, state: Any) -> Vector:
        """The configuration (nq,) of a state of OMPL: unit vectors normalised, explicit constraints resolved.

        Raises:
            WrongObjectError: something else than a state. Its space must be this one, which OMPL does not say.
        """
        kind: Any = from_extra("ompl.base", "ompl").State
        return self._chart.q(self._chart.entries(expect(state, kind, "state of OMPL", "a state of `space`")))

    def setup(self, goal: ArrayLike) -> Any:
        """An `ompl.geometric.SimpleSetup` from the start to a goal; it takes a planner of your choice.

        Args:
            goal: a configuration (nq,), or rows of them (n, nq), any of which will do.

        Raises:
            FailedError: why no goal can be used.
            SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with a goal.
        """
        base, geometric = (from_extra(f"ompl.{name}", "ompl") for name in ("base", "geometric"))
        goals = base.GoalStates(self.information)
        for row in _usable(self._chart.leaf, rows_of(self._chart.problem, goal, "goal"), "goal"):
            goals.addState(self.state(row, "goal"))
        made = geometric.SimpleSetup(self.information)
        made.setStartState(self.state(self.start, "start"))
        made.setGoal(goals)
        return made

    def path(self, solution: Any) -> Path:
        """What OMPL found as a `Path`: every edge is laid anew, and judged as those of `connect` are.

        Its ends are those that OMPL has: computed outputs as their inputs say, quaternions on the side of the start's.

        Args:
            solution: an `ompl.geometric.SimpleSetup` that was solved; or an `ompl.geometric.PathGeometric` of states of
                `space` (OMPL does not say of which they are), wherever it ends. It is not changed.

        Raises:
            FailedError: the setup has no exact solution, with OMPL's words; or an edge jumps, leaves its bounds or
                collides between the configurations that OMPL has looked at: a smaller `delta` finds others.
            WrongObjectError: something else, or a setup of another space.
        """
        geometric = from_extra("ompl.geometric", "ompl")
        kinds: Any = (geometric.SimpleSetup, geometric.PathGeometric)
        given: Any = expect(solution, kinds, "solution of OMPL", "a SimpleSetup or a PathGeometric")
        if isinstance(given, geometric.SimpleSetup):
            if given.getSpaceInformation() is not self.information:
                raise WrongObjectError("solution of OMPL", "a SimpleSetup of this space", "one of another")
            if not given.haveExactSolutionPath():
                raise FailedError(given, f"OMPL has no path to the goal: {given.getLastPlannerStatus()}")
            given = given.getSolutionPath()
        dense = geometric.PathGeometric(given)
        dense.interpolate()
        Q = np.array([self.q(state) for state in dense.getStates()])
        return self._chart.laid(Q if len(Q) > 1 else np.repeat(Q, 2, axis=0))

    def __repr__(self) -> str:
        size, free = self.constraint.getManifoldDimension(), len(self.coordinates)
        return f"OmplSpace({counted(free, 'coordinate')}, manifold of dimension {size})"


def _usable(leaf: LeafOfProblem, Q: Matrix, what: str) -> Matrix:
    """The rows that lie on the leaf and are free; an error where there is none."""
    found = usable(leaf, Q, "goal" if what == "goal" else "start")
    if isinstance(found, Refused):
        raise FailedError(found, f"{what} for OMPL is refused: {found.words}")
    return found


@final
class _Chart:
    """The leaf in free coordinates. It knows nothing of OMPL, whose objects would keep each other alive.

    Args:
        leaf: where.
        start: a configuration (nq,) on it.
    """

    def __init__(self, leaf: LeafOfProblem, start: Vector) -> None:
        self.leaf, self.start, self.problem = leaf, start, leaf.problem
        self.free = self.problem.free_coordinates(start)
        run = as_slice(self.free.indices.tolist())  # quicker than indices, where they are one
        self._at, self._blocks = self.free.indices if run is None else run, self.free.unit_blocks
        self._count = sum(stack.size for stack in self.problem.mandatory)
        self._combined: Matrix | None = None
        J = self.jacobian(self.free.of(start))
        left, rank = row_space(np.ascontiguousarray(J.T))
        if rank >= len(self.free):
            words = f"{counted(len(self.free), 'free coordinate')}, rows of rank {rank}"
            raise EmptyProblemError(f"problem for OMPL: nothing can move at the start: {words}")
        if rank < len(J):
            _log.warning(
                "%d of %d rows depend on the others at the start: OMPL's function has %d combinations of them; "
                "projections and the checker of validity have all",
                *(len(J) - rank, len(J), rank),
            )
            self._combined = np.ascontiguousarray(left[:, :rank].T)
        self.rows = rank

    def entries(self, state: Any) -> Vector:
        """The numbers of a state."""
        return np.array([state[i] for i in range(len(self.free))])

    def x(self, q: Vector, what: str) -> Vector:
        """Free coordinates of a configuration, its quaternions on the side of those of the start.

        Raises:
            FailedError: its frozen dofs are others than those of the start.
        """
        space, frozen = self.problem.space, self.problem.frozen
        moved = frozen & (np.abs(space.difference(self.start, q)) > TOGETHER)
        if moved.any():
            names = ", ".join(leaf.name for leaf in space.leaves() if moved[leaf.v].any())
            words = f"frozen joints are not as at the start: {names}"
            raise FailedError(
                Refused(PlanningStatus.of_end("goal", "OFF"), words), f"{what} for OMPL is refused: {words}"
            )
        return self._turned(self.free.of(q), self.start[self._at])

    def q(self, x: Vector) -> Vector:
        """The configuration of free coordinates whose unit vectors have any length but zero."""
        q = self._placed(x)
        return self.problem.resolution.resolved(q, self.leaf.rhs) if self.problem.explicits.size else q

    def _placed(self, x: Vector) -> Vector:
        """The same with computed outputs as they are at the start."""
        q = self.start.copy()
        off = [block for block in self._blocks if abs(norm(x[block]) - 1.0) > ROUNDING] if self._blocks else []
        q[self._at] = normalized(x, off) if off else x
        return q

    def _turned(self, x: Vector, like: Vector) -> Vector:
        """The quaternions of x, which mean the same as their negatives, on the side of others; in place."""
        for block in self._blocks:
            if block.stop - block.start == 4 and x[block] @ like[block] < 0.0:
                x[block] *= -1.0
        return x

    def function(self, x: Vector) -> Vector:
        """Errors of the rows that are not resolved, and of the norms."""
        error = self.leaf.projector.error(self.q(x), rhs=self.leaf.rhs)[: self._count]
        rows = np.concatenate([error, [x[block] @ x[block] - 1.0 for block in self._blocks]])
        return rows if self._combined is None else self._combined @ rows

    def jacobian(self, x: Vector) -> Matrix:
        """Derivative of `function`."""
        q, size = self.q(x), self._count
        J = np.zeros((size + len(self._blocks), x.size))
        slope = self.leaf.projector.jacobian(q, self.leaf.rhs)[:size] @ self.free.derivative(q, self.leaf.rhs)
        for i, block in enumerate(self._blocks, start=size):
            slope[:, block] /= norm(x[block])
            J[i, block] = 2.0 * x[block]
        J[:size] = slope
        return J if self._combined is None else self._combined @ J

    def project(self, x: Vector) -> bool:
        """Put free coordinates onto the leaf and within bounds, in place; whether it succeeded."""
        if self._blocks and not all(x[block].any() for block in self._blocks):
            return False
        found = self.leaf.projector.project(self._placed(x), self.leaf.rhs)
        reached = found.q[self._at]
        x[:] = self._turned(reached.copy(), x) if self._blocks else reached
        return found.success

    def is_satisfied(self, x: Vector) -> bool:
        """Whether all rows hold, and unit vectors have norm 1."""
        if not all(abs(norm(x[block]) - 1.0) <= ON_SPHERE for block in self._blocks):
            return False
        return self._holds(self.q(x))

    def _holds(self, q: Vector) -> bool:
        return self.leaf.projector.residual(q, self.leaf.rhs) <= self.leaf.projector.options.threshold

    def is_valid(self, state: Any) -> bool:
        """Whether a state satisfies all constraints, is within all bounds, and is free."""
        try:
            q = self.q(self.entries(state))
            holds = self.problem.bounds.contains(q) and self._holds(q)
        except UndefinedError:
            return False
        return holds and (self.leaf.collisions is None or self.leaf.collisions.is_free(q))

    def laid(self, Q: Matrix) -> Path:
        """The path along configurations (n, nq).

        Raises:
            FailedError: why an edge is refused.
        """
        laid = EdgeJudge(self.leaf).laid(Q)
        if laid.path is not None:
            return laid.path
        i, model = int(laid.refused[0]), self.leaf.collisions
        edge = interpolate(self.leaf.projector, Q[i], Q[i + 1], self.leaf.rhs)
        met = None if edge.path is None or model is None else model.first_collision(edge.path)
        why = str(edge) if met is None else f"{met.a} collides with {met.b}"
        words = f"between states {i} and {i + 1} of {len(Q)} the path of OMPL is refused: {why}; take a smaller delta"
        raise FailedError(edge, words)


def _ambient(base: Any, chart: _Chart) -> Any:
    """The vector space of free coordinates, with bounds."""
    at, bounds = chart.free.indices, chart.problem.bounds
    lower, upper = bounds.lower[at].copy(), bounds.upper[at].copy()
    unit: BoolVector = np.zeros(len(at), dtype=np.bool_)
    for block in chart.free.unit_blocks:
        unit[block] = True
    lower[unit], upper[unit] = -1.0, 1.0
    open_ended = np.flatnonzero(~(np.isfinite(lower) & np.isfinite(upper)))
    if open_ended.size:
        names = ", ".join(f"'{bounds.name_of(int(at[i]))}'" for i in open_ended)
        words = "expected bounds for all coordinates, where OMPL draws random numbers"
        raise OptionError(f"problem for OMPL: {words}, got none for {names}: problem.with_bounds(...) gives them")
    space, box = base.RealVectorStateSpace(len(at)), base.RealVectorBounds(len(at))
    box.low, box.high = lower.tolist(), upper.tolist()
    space.setBounds(box)
    return space


@cache
def _constraint_class() -> type[Any]:
    """The class of constraints, made when OMPL is first asked for."""
    kind: Any = from_extra("ompl.base", "ompl").Constraint

    class LeafConstraint(kind):
        """A leaf of a problem in free coordinates, as a constraint of OMPL."""

        def __init__(self, chart: _Chart) -> None:
            kind.__init__(self, len(chart.free), chart.rows, chart.leaf.projector.options.threshold)
            self._chart = chart

        def function(self, x: Vector, out: Vector) -> None:
            out[:] = self._chart.function(x)

        def jacobian(self, x: Vector, out: Matrix) -> None:
            out[:] = self._chart.jacobian(x)

        def project(self, x: Vector) -> bool:
            return self._chart.project(x)

        def isSatisfied(self, x: Vector) -> bool:
            return self._chart.is_satisfied(x)

    return LeafConstraint
