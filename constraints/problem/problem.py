"""Problems: a space, constraints by level, bounds. What a projector solves and a planner asks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups import Segments, Space
from liegroups.arguments import as_tolerance, expect
from liegroups.arrays import ArrayLike, BoolVector, Matrix, TangentLike, Vector
from liegroups.frozen import read_only_copy, set_fields

from ..exports import from_above
from ..keywords import unchanging
from ..point import Point, as_point, place, place_alone, revolute_columns
from ..rows.explicit import Explicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack
from ..rows.stacking import Order, Rows, stack_rows
from ..workspace import Workspace, as_workspace
from .arguments import (
    OF_PROBLEM,
    all_rows,
    bounds_on,
    by_level,
    costs,
    frozen_columns,
    on_space,
    own_options,
    space_of,
    wrapping_columns,
)
from .description import describe, printed, summary
from .free_coordinates import FreeCoordinates
from .questions import ask
from .resolution import Resolution, left_to_steps, order
from .tangent import project_tangent, reduced_jacobian, tangent_basis

if TYPE_CHECKING:
    from ..robot import Bounds, Robot


@final
@unchanging("make a new one, Problem(...)", rhs="use rhs = problem.rhs.replace(name, point) and project(q, rhs)")
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Problem:
    """Constraints on a configuration space, by level, with bounds. Immutable; right-hand sides are arguments.

    Args:
        where: a Robot (which brings its bounds) or a Space (which has none), such as `robot.space * Rn(k)`. Functions
            on one factor of a product are lifted to it.
        constraints: constraints; or one sequence of constraints per level, the most important level first.
        bounds: bounds to use instead of the robot's: `robot.bounds.on(space)` on a space; none: `Bounds.none(space)`.
        weights: costs of motion, (nv,) or by joint: a dof with a larger cost moves less, with cost 0 freely; ones by
            default.
        frozen: names of joints or Segments that do not move; or booleans (nv,), as in `problem.frozen`.
        optional_last: the last level is optional: it shapes the steps, but a projection ends when the levels above are
            satisfied. With `Options(optimise_last=True)` the error of the optional level is then minimised locally.

    Attributes:
        robot: the robot, or None.
        space: space of the configurations.
        levels: one Stack per level, with the constraints that Newton steps solve.
        resolution: which explicit constraints are resolved, in which order, and why others are not.
        explicits: the resolved explicit constraints, as a Stack, in resolution order.
        constraints: all as one Stack, the levels and then the explicits: the layout of right-hand sides.
        rhs: the default right-hand sides of the constraints.
        bounds: bounds in force.
        weights: (nv,) costs of motion.
        frozen: (nv,) true for the columns of `frozen=`, which do not move; those of equal bounds: `bounds.frozen`.
        free: (nv,) true for columns that are neither computed nor in `frozen`.
        columns: (nv,) true for the tangent columns that some row depends on.
        constraint_levels: all constraints by level, on this space, including the computed ones, which `levels` lacks.
        has_cost: (nv,) true for columns whose cost was given.
        revolute: (nv,) true for the columns that are an angle stored as one number.
        wraps: (nv,) true for revolute columns that may be shifted by full turns: range and all functions allow it.

    Raises:
        EmptyProblemError: no row, or all rows masked.
        DuplicateError: the same constraint twice.
        RobotMismatchError: functions of different robots.
        SpaceMismatchError: a function on another space.
    """

    robot: Robot | None
    space: Space
    levels: tuple[Stack, ...]
    resolution: Resolution
    explicits: Stack
    constraints: Stack
    rhs: RightHandSide
    bounds: Bounds
    weights: Vector
    frozen: BoolVector
    free: BoolVector
    optional_last: bool
    columns: BoolVector
    revolute: BoolVector
    wraps: BoolVector
    constraint_levels: tuple[tuple[RowOwner, ...], ...]
    has_cost: BoolVector
    _given: tuple[Any, Any, dict[str, Any]]

    def __init__(
        self,
        where: Robot | Space,
        constraints: Sequence[RowOwner] | Sequence[Sequence[RowOwner]],
        bounds: Bounds | None = None,
        *,
        weights: ArrayLike | Mapping[str, float] | None = None,
        frozen: Sequence[str | Segments] | Sequence[bool] | Segments | BoolVector = (),
        optional_last: bool = False,
    ) -> None:
        space, robot = space_of(where)
        asked = by_level(constraints)
        options = own_options(asked, bounds=bounds, weights=weights, frozen=frozen, optional_last=optional_last)
        owners = [[on_space(owner, space) for owner in level] for level in asked]
        held = frozen_columns(space, options["frozen"])
        resolution = order(space, [o for level in owners for o in level if isinstance(o, Explicit)], held)
        levels = left_to_steps(owners, resolution, options["optional_last"])
        everything = all_rows([*(owner for level in levels for owner in level), *resolution.explicits])
        box = bounds_on(space, robot, bounds, everything)
        priced, has_cost = costs(space, weights)
        set_fields(
            self,
            robot=robot,
            space=space,
            levels=levels,
            resolution=resolution,
            explicits=Stack(resolution.explicits),
            constraints=everything,
            rhs=RightHandSide(everything),
            bounds=box,
            weights=priced,
            frozen=held,
            free=~(resolution.outputs | held),
            optional_last=options["optional_last"],
            columns=np.logical_or.reduce([owner.columns for owner in everything]),
            revolute=revolute_columns(space),
            wraps=wrapping_columns(space, box, everything) & ~resolution.outputs & ~held,
            constraint_levels=tuple(tuple(level) for level in owners),
            has_cost=has_cost,
            _given=(where, asked, options),
        )
        ask(self.rhs, box, self.revolute)

    # Right-hand sides.

    def rhs_from(self, q: ArrayLike) -> RightHandSide:
        """Right-hand sides that q (nq,) satisfies, for the rows that take one."""
        return self.rhs.read_at(self.at(q))

    def rhs_at(self, t: float) -> RightHandSide:
        """Right-hand sides at time t [s], with velocities and accelerations of targets; never reads a clock."""
        return self.rhs.at(t)

    def check_rhs(self, rhs: RightHandSide | ArrayLike | None) -> RightHandSide:
        """Check right-hand sides given by a user: None for the defaults, a RightHandSide, or a flat vector."""
        if rhs is None:
            return self.rhs
        return rhs.on(self.constraints) if isinstance(rhs, RightHandSide) else RightHandSide(self.constraints, rhs)

    def rhs_from_parts(self, *parts: RightHandSide) -> RightHandSide:
        """Right-hand sides of a merged problem from those of its parts; other constraints keep their defaults.

        Args:
            parts: right-hand sides of problems whose constraint objects are all in this problem.

        Raises:
            UnknownNameError: a constraint is not in this problem.
            MergeConflictError: two parts give different points to the same constraint.
        """
        from .merging import rhs_from_parts

        return rhs_from_parts(self, parts)

    # Evaluation, for planners.

    def check(self, q: ArrayLike, what: str = "q") -> Vector:
        """Validate a configuration (nq,). Raises SizeError, DtypeError, NotFiniteError, NotNormalizedError."""
        return self.space.check(q, what)

    def at(self, q: ArrayLike, workspace: Workspace | None = None) -> Point:
        """The point at q.

        Args:
            q: configuration (nq,), checked and copied.
            workspace: memory to borrow; by default the point has separate memory and stays valid.
        """
        if self.robot is not None:
            return self.robot.at(q, workspace=workspace)
        q = read_only_copy(self.check(q))
        return place_alone(self.space, q) if workspace is None else place(self.space, q, as_workspace(workspace))

    def rows(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Rows:
        """Errors of all rows that count and their Jacobian, level by level; copies."""
        point = self.at(q)  # held until all is copied: its memory is lent to the next who asks when it is gone
        rows = stack_rows(self.constraints, point, Order.POSITION, self.check_rhs(rhs))
        return Rows(rows.error.copy(), rows.jacobian.copy(), self.constraints.slices)

    def error(
        self, q: ArrayLike, constraint: RowOwner | str | int | None = None, rhs: RightHandSide | ArrayLike | None = None
    ) -> Vector:
        """Signed, scaled errors of the rows that count, of all constraints or of one (only that one is evaluated).

        Args:
            q: configuration (nq,).
            constraint: the object, its position, or its name if unique.
            rhs: right-hand sides; the default ones if absent.
        """
        point, sides = self.at(q), self.check_rhs(rhs)  # the point is held until all is copied
        if constraint is None:
            return stack_rows(self.constraints, point, Order.POSITION, sides, jacobian=False).error.copy()
        owner = self.constraints[constraint]
        return owner.error_at(point, sides.points[id(owner)])[owner.rows.mask]

    def residual(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> float:
        """Largest error norm of a constraint at q, or `Explicit.branch_error`, without the optional last level."""
        point, sides = self.at(q), self.check_rhs(rhs)
        stacks = [stack for stack in (*self.mandatory, self.explicits) if stack.size]
        rows = [stack_rows(s, point, Order.POSITION, sides, jacobian=False).residual for s in stacks]
        return max([*rows, self.resolution.branch_error(point, sides)])

    def jacobian(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Matrix:
        """Jacobian (rows that count, nv) of the errors at q."""
        return self.rows(q, rhs).jacobian

    def is_satisfied(
        self,
        q: ArrayLike,
        constraint: RowOwner | str | int | None = None,
        rhs: RightHandSide | ArrayLike | None = None,
        threshold: float = 1e-4,
    ) -> bool:
        """Whether q satisfies every constraint (an explicit loop: on its branch) and its bounds; or one constraint.

        Args:
            q, rhs: as for `error`.
            constraint: test only this one, without the bounds.
            threshold: largest accepted error norm of a constraint.
        """
        threshold = as_tolerance(threshold, "threshold")
        if constraint is not None:
            off = self.resolution.branch_error(self.at(q), self.check_rhs(rhs), self.constraints[constraint])
            return max(float(np.linalg.norm(self.error(q, constraint, rhs))), off) <= threshold
        return self.residual(q, rhs) <= threshold and self.bounds.contains(self.check(q))

    def tangent_basis(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Matrix:
        """Orthonormal basis (nv, dimension) of the velocities that keep all mandatory errors; bounds are ignored.

        Args:
            q, rhs: as for `error`; q need not satisfy the constraints.
        """
        return tangent_basis(self, self.at(q), self.check_rhs(rhs))

    def dimension(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> int:
        """Dimension of the solutions around q, without bounds: nv minus the rank of the Jacobian (tolerance 1e-6)."""
        return self.tangent_basis(q, rhs).shape[1]

    def project_tangent(self, q: ArrayLike, v: TangentLike, rhs: RightHandSide | ArrayLike | None = None) -> Vector:
        r"""The part of v that keeps all mandatory errors: the nearest motion of the free dofs, computed dofs following.

        Bounds are ignored: a walk that meets a bound stays there (see `projection.active_bounds`).

        .. math:: v' = T P\, v_{free}, \qquad P = I - J_r^+ J_r, \quad J_r = J T

        with :math:`T` the derivative of the configuration by its free dofs. P is symmetric and idempotent.

        Args:
            q, rhs: as for `error`.
            v: velocity (nv,); its components on computed and frozen dofs are ignored.
        """
        return project_tangent(self, self.at(q), self.space.check_tangent(v, "velocity"), self.check_rhs(rhs))

    def resolution_jacobian(self, q: ArrayLike | Point, rhs: RightHandSide | ArrayLike | None = None) -> Matrix:
        r"""Derivative T (nv, nv) of the configuration by its free dofs, by the chain rule in resolution order.

        Identity on the free dofs, :math:`\partial q_{out}/\partial q_{free}` on the computed ones, zero columns on
        computed and frozen dofs.

        Args:
            q: configuration (nq,), or a point, at which the explicit constraints are resolved.
            rhs: right-hand sides; the default ones if absent.
        """
        return self.resolution.derivative(as_point(q, self.space), self.check_rhs(rhs), self.free)

    def reduced_jacobian(self, q: ArrayLike | Point, rhs: RightHandSide | ArrayLike | None = None) -> Matrix:
        r"""Jacobian (reduced_size, number of free dofs) of the errors that Newton steps solve, computed dofs following.

        .. math:: J_r = J\, T_{free} = J_{free} + J_{out}\, \partial q_{out} / \partial q_{free}

        Rows: those of `levels`, in order; columns: those of `free`.

        Args:
            q, rhs: as `resolution_jacobian`.
        """
        return reduced_jacobian(self, as_point(q, self.space), self.check_rhs(rhs))

    def free_coordinates(self, like: ArrayLike | None = None) -> FreeCoordinates:
        """Which coordinates of q are free, and q from them; `like` (nq,) has the values of frozen dofs, if any are."""
        return FreeCoordinates(self, like)

    @property
    def mandatory(self) -> tuple[Stack, ...]:
        """The levels without an optional last one."""
        return self.levels[:-1] if self.optional_last else self.levels

    # Relations.

    def merged(self, *others: Problem) -> Problem:
        """One problem with all constraints of this one and of others; `a | b` is short for `a.merged(b)`.

        Levels with the same number are joined, constraints of this problem first. A constraint object of several
        problems is kept once, at its most important level. Optional last levels are joined to one, the last.
        Bounds are intersected, frozen dofs united; costs are those given by any problem, ones elsewhere.
        Right-hand sides: `merged.rhs_from_parts(a.rhs, b.rhs)`.

        Args:
            others: problems on the same robot or space; one space may be a factor of another, as `robot.space` of
                `robot.space * Rn(k)`: everything is lifted to the bigger one.

        Raises:
            SpaceMismatchError, RobotMismatchError: spaces that cannot be merged.
            EmptyIntervalError: bounds that do not intersect; the message names the joint.
            MergeConflictError: two different costs for a joint.
        """
        from .merging import merge_problems

        return merge_problems((self, *others))

    def with_bounds(self, bounds: Bounds) -> Problem:
        """The same constraints within other bounds, which take the place of those in force."""
        return _rebuilt(self._given[0], self._given[1], self._given[2] | {"bounds": bounds})

    def __or__(self, other: Problem) -> Problem:
        return self.merged(other)

    def contains(self, constraint: object) -> bool:
        """Whether this problem has the constraint (the object, or its name)."""
        if constraint is None or isinstance(constraint, str):
            return constraint in self.constraints.names
        owner = expect(constraint, RowOwner, "what a problem may contain", OF_PROBLEM)
        return any(owner.original is o.original for o in self.constraints)

    def implies(self, other: Problem) -> bool:
        """Whether this problem has every constraint object of the other problem."""
        return all(self.contains(owner) for owner in expect(other, Problem, "problem to be implied").constraints)

    @property
    def reduced_size(self) -> int:
        """Number of rows solved by Newton steps, over all levels."""
        return sum(level.size for level in self.levels)

    @property
    def implicit_dofs(self) -> BoolVector:
        """(nv,) true for the dofs that Newton steps may change, directly or through computed dofs."""
        rows = [owner.columns for level in self.levels for owner in level]
        read = np.logical_or.reduce(rows) if rows else np.zeros(self.space.nv, dtype=np.bool_)
        return self.resolution.moved(read, self.frozen)

    # Reading.

    def describe(self) -> str:
        """The problem in words: its space, constraints with their rows and how each is solved, and bounds."""
        return describe(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file that `Problem.load` reads (`docs/problem_files.md`). Raises NotSavableError."""
        from_above("save_problem")(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Problem:
        """Read a problem from a file, which is data, never code. Raises FileError, with the place in the file."""
        return from_above("load_problem")(path)

    def plot_dependencies(self, path: str | os.PathLike[str] | None = None, ax: Any = None) -> Any:
        """Draw the explicit constraints, left to right in resolution order; a matplotlib figure (extra `plot`).

        Args:
            path: also write it there.
            ax: axes to draw in; a new figure if absent.
        """
        return from_above("plot_dependencies")(self.resolution.dependencies(self.space), path, ax)

    def __repr__(self) -> str:
        return summary(self)

    __str__ = printed  # pyright: ignore[reportAssignmentType]  # a function of a problem is its method

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, self._given


def _rebuilt(where: Any, constraints: Any, options: dict[str, Any]) -> Problem:
    return Problem(where, constraints, **options)
