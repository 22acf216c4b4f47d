"""The feasible set as a refinement sees it: values of all mandatory rows, their gradients by the free dofs, bounds."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.groups import translation_size
from liegroups.segments import entries_of

from ...errors import UndefinedError
from ...point import Point, placer
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...rows.stack import Stack
from ...workspace import Workspace
from ..engine import Engine
from ..evaluation import Evaluation
from ..newton.bounds import SolverBounds
from ..newton.substitution import Substitution
from .objective import Objective

INSIDE_ROW_BOUNDS = 1e-9
"""How far inside its bounds a coordinate with a row of its own shall be: rows are met to less than this."""


class LocalModel(NamedTuple):
    """What is known at one configuration; nothing here is a view of the workspace.

    Attributes:
        q: the configuration, its outputs computed.
        values: (rows,) of the rows, then the guarded coordinates.
        jacobian: (rows, nv) by the free dofs, computed dofs following; other columns zero.
        cost, gradient: of the objective, the gradient (nv,) by the free dofs likewise.
        scale: what the gradient is compared to: the size of the terms that it is the sum of.
    """

    q: Vector
    values: Vector
    jacobian: Matrix
    cost: float
    gradient: Vector
    scale: float


@final
class FeasibleSet:
    r"""The rows that say where configurations may be, as values with an interval each.

    The rows are those of the mandatory levels, all in one, and one for each bounded coordinate that is no column of its
    steps: positions of free bodies, and computed dofs. Equalities have the interval [0, 0].

    Args:
        problem: whose constraints.
        columns: (nv,) true for the free dofs that may move.
        wrap: whether joints that may be shifted by whole turns have no bounds.
        engine: evaluates the rows; by their functions if absent.

    Attributes:
        problem: as given.
        evaluation: of the rows, at configurations whose outputs are computed.
        live: indices of the dofs that move.
        moving: indices of these and of the computed dofs.
        resting: (nv,) true for the other free dofs that have a cost: they are where the reference is. A rotation or a
            pose rests as a whole, one cost being enough.
        lower, upper: (rows,) intervals.
        equal: (rows,) true for equalities.
        size, nv: number of rows, and of tangent columns.
        wide: indices of the rows that are no equality.
        unit: identity matrix of the live dofs.
        guarded: entries of q that are guarded: bounded coordinates that are no column.
        box: bounds of the dofs that steps keep.
    """

    def __init__(self, problem: Problem, columns: BoolVector, wrap: bool = False, engine: Engine | None = None) -> None:
        self.problem = problem
        self.substitution = Substitution(problem)
        self.box = SolverBounds(problem, wrap)
        self.place = placer(problem.space)
        self.live: Indices = np.flatnonzero(columns & problem.free)
        self.moving: Indices = np.flatnonzero((columns & problem.free) | problem.resolution.outputs)
        levels = problem.levels[:-1] if problem.optional_last else problem.levels
        owners = [owner for level in levels for owner in level]
        self.stack = Stack([owner.unclipped() for owner in owners])
        where = problem.robot or problem.space
        self.evaluation = Evaluation(where, self.stack) if engine is None else engine.evaluation(where, self.stack)
        self.is_clipped = any(a is not b for a, b in zip(owners, self.stack, strict=True))
        lower = [(o.rows.scale * o.rows.lower)[o.rows.mask & o.rows.one_sided] for o in owners]
        upper = [(o.rows.scale * o.rows.upper)[o.rows.mask & o.rows.one_sided] for o in owners]
        wide = np.concatenate([np.zeros(0, np.bool_), *[o.rows.one_sided[o.rows.mask] for o in owners]])
        self._guards = _guarded(problem)
        self.guarded = [i for i, _, _ in self._guards]
        lowest, highest = problem.bounds.lower[self.guarded], problem.bounds.upper[self.guarded]
        inside = np.minimum(INSIDE_ROW_BOUNDS, 0.25 * (highest - lowest))
        self.lower = np.concatenate((np.zeros(wide.size), lowest + inside))
        self.upper = np.concatenate((np.zeros(wide.size), highest - inside))
        self.lower[: wide.size][wide] = np.concatenate([np.zeros(0), *lower])
        self.upper[: wide.size][wide] = np.concatenate([np.zeros(0), *upper])
        self.equal = self.lower == self.upper
        self.size, self.nv = self.lower.size, problem.space.nv
        self.wide, self.unit = np.flatnonzero(~self.equal), np.eye(self.live.size)
        moved = np.zeros(problem.space.nv, dtype=np.bool_)
        moved[self.live] = True
        self.resting: BoolVector = problem.free & ~moved & (problem.weights > 0.0)
        for leaf in (leaf for leaf in problem.space.leaves() if not leaf.space.is_flat):
            whole = bool((problem.free & ~moved)[leaf.v].all())
            self.resting[leaf.v] = whole and bool(self.resting[leaf.v].any())
        self._still = np.flatnonzero(entries_of(problem.space, ~moved))  # a zero step may round a unit vector

    def seen(self, rhs: RightHandSide, workspace: Workspace, objective: Objective) -> FeasibleSetAt:
        """The feasible set for given right-hand sides and objective, evaluated in a workspace."""
        return FeasibleSetAt(self, rhs, workspace, objective)

    def moved(self, q: Vector, step: Vector) -> Vector:
        """The configuration after a step (nv,) of the live dofs, within the bounds that steps keep."""
        after = self.box.clamp(self.problem.space.integrate(q, step))
        after[self._still] = q[self._still]
        return after

    def guard_rows(self, q: Vector, values: Vector, jacobian: Matrix) -> None:
        """Write the guarded coordinates and their gradients by all tangent columns."""
        for row, (i, leaf, k) in enumerate(self._guards):
            values[row] = q[i]
            jacobian[row] = 0.0
            if leaf.space.is_flat:
                jacobian[row, leaf.v.start + k] = 1.0
            else:  # a position moves with the velocity in the body frame: R v, the first rows of the adjoint
                size = translation_size(leaf.space)
                rotation = leaf.space.adjoint(q[leaf.q])[:size, :size]
                jacobian[row, leaf.v.start : leaf.v.start + size] = rotation[k]


@final
class FeasibleSetAt:
    """A feasible set with right-hand sides and an objective: what there is to know at a configuration.

    Args:
        feasible: the rows.
        rhs: right-hand sides.
        workspace: memory.
        objective: what is minimised.

    Attributes:
        feasible, rhs, workspace, objective: as given.
        lower, upper: intervals of the rows; those of the feasible set unless moved.
        begin: where to evaluate it, for who keeps views.
    """

    def __init__(self, feasible: FeasibleSet, rhs: RightHandSide, workspace: Workspace, objective: Objective) -> None:
        self.feasible, self.rhs, self.workspace, self.objective = feasible, rhs, workspace, objective
        self.lower, self.upper = feasible.lower, feasible.upper
        self.begin = feasible.problem.space.neutral
        stack = feasible.stack
        same = not feasible.is_clipped and stack.rhs_size == rhs.vector.size  # those of explicit constraints come last
        self._row_rhs = rhs if same else RightHandSide(stack, rhs.vector[: stack.rhs_size])
        self._point: Point = feasible.place(feasible.problem.space.neutral, workspace)

    def at(self, q: Vector) -> LocalModel:
        """Rows and objective at a configuration whose computed dofs may be anything. Raises UndefinedError."""
        feasible, point = self.feasible, self._point
        substitution, rows = feasible.substitution, feasible.stack.size
        if substitution.has_maps:
            q = substitution.resolve(q, self.rhs, point, jacobian=True)
        values, both = np.empty(feasible.size), np.empty((feasible.size + 1, feasible.nv))
        if rows:
            stacked = feasible.evaluation.rows(q, self._row_rhs, self.workspace)
            values[:rows], both[:rows] = stacked.error, stacked.jacobian
        point.move(q)  # after the rows, which may have a point of their own in the workspace
        feasible.guard_rows(q, values[rows:], both[rows:-1])
        cost, both[-1], least = self.objective.at(point, self.rhs)
        terms = both[-1][feasible.moving]
        scale = max(float(np.sqrt(terms.dot(terms))), least)
        substitution.reduce_matrix(both, point.workspace)
        if not (np.isfinite(both).all() and np.isfinite(values).all()):
            raise UndefinedError("a constraint has a value or a Jacobian that is not finite")
        return LocalModel(q, values, both[:-1], cost, both[-1], scale)

    def kept(self, local: LocalModel) -> FeasibleSetAt:
        """The view whose equalities are met, and whose inequalities are not left, at a configuration as it is."""
        feasible = self.feasible
        same = FeasibleSetAt(feasible, self.rhs, self.workspace, self.objective)
        same.lower = np.where(feasible.equal, local.values, np.minimum(self.lower, local.values))
        same.upper = np.where(feasible.equal, local.values, np.maximum(self.upper, local.values))
        return same

    def end(self, number: int, side: float) -> float:
        """Where an inequality ends: its interval, or the bound of its column; lower where the side is positive."""
        size, box = self.feasible.size, self.feasible.box
        lower, upper, i = (self.lower, self.upper, number) if number < size else (box.lower, box.upper, number - size)
        return float((lower if side > 0.0 else upper)[i])

    def residual(self, local: LocalModel) -> Vector:
        """Signed distance (rows,) of each row to its interval."""
        return local.values - np.minimum(np.maximum(local.values, self.lower), self.upper)


def refined_columns(problem: Problem, nearest: bool) -> BoolVector:
    """Tangent columns (nv,) that a refinement moves: those that rows depend on, directly or through computed dofs.

    With `nearest` also poses that no row depends on, where their positions have bounds: these are its rows.

    Args:
        problem: whose columns.
        nearest: whether the distance to a reference is minimised.
    """
    if not nearest:
        return problem.implicit_dofs
    columns, bounds = problem.columns.copy(), problem.bounds
    for leaf in problem.space.leaves():
        if not leaf.space.is_flat and (np.isfinite(bounds.lower[leaf.q]) | np.isfinite(bounds.upper[leaf.q])).any():
            columns[leaf.v] = True
    return columns


def _guarded(problem: Problem) -> list[tuple[int, Any, int]]:
    """Bounded entries of q that are no column: entry, the factor it belongs to, and which of its positions it is."""
    bounds, guards = problem.bounds, list[tuple[int, Any, int]]()
    finite = np.isfinite(bounds.lower) | np.isfinite(bounds.upper)
    for leaf in problem.space.leaves():
        for k, i in enumerate(range(leaf.q.start, leaf.q.stop)):
            if not finite[i] or problem.frozen[leaf.v].all():
                continue
            if not leaf.space.is_flat or not problem.free[leaf.v.start + k]:
                guards.append((i, leaf, k))
    return guards
