"""Problems: a space, constraints by level, bounds. What a projector solves and a planner asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import qr

from liegroups import Space

from .arrays import ArrayLike, BoolVector, Matrix, Vector
from .errors import EmptyProblemError, RobotMismatchError, SpaceMismatchError, WrongObjectError
from .functions.lifted import same_space
from .implicit import Implicit
from .point import PlacedSpace, Point, Workspace, place
from .right_hand_side import RightHandSide
from .robot import Bounds, Robot
from .rows import Order, Rows, stack_rows
from .stack import RowOwner, Stack

__all__ = ["RANK_TOLERANCE", "Problem"]

RANK_TOLERANCE = 1e-6
"""Pivots of a Jacobian smaller than this part of the largest one count as zero."""


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Problem:
    """Constraints on a configuration space, by level, with bounds. Immutable; right-hand sides are arguments.

    Args:
        where: a Robot (which brings its bounds) or a Space (which has none), such as `robot.space * Rn(k)`. Functions
            on one factor of a product are lifted to it.
        constraints: constraints; or sequences of them, one a level, the most important first.
        bounds: other bounds than the robot's; `Bounds.none(space)` drops them.

    Attributes:
        robot: the robot, or None.
        space: where configurations live.
        levels: one Stack a level.
        constraints: all of them as one Stack: the layout of right-hand sides.
        rhs: the constraints' default right-hand sides.
        bounds: bounds in force.
        columns: (nv,) true for the tangent columns some row depends on.
        revolute: (nv,) true for the columns that are an angle stored as one number.
        wraps: (nv,) true for revolute columns that may be shifted by whole turns: their range allows it, and every
            function is periodic in them.

    Raises:
        EmptyProblemError: no row that counts.
        DuplicateError: the same constraint twice.
        RobotMismatchError: functions of two robots.
        SpaceMismatchError: a function on another space.
    """

    robot: Robot | None
    space: Space
    levels: tuple[Stack, ...]
    constraints: Stack
    rhs: RightHandSide
    bounds: Bounds
    columns: BoolVector
    revolute: BoolVector
    wraps: BoolVector
    _given: tuple[Any, ...]

    def __init__(
        self,
        where: Robot | Space,
        constraints: Sequence[RowOwner] | Sequence[Sequence[RowOwner]],
        bounds: Bounds | None = None,
    ) -> None:
        robot = where if isinstance(where, Robot) else None
        space = _space_of(where)
        levels = tuple(Stack([_on_space(owner, space) for owner in level]) for level in _by_level(constraints))
        everything = Stack([owner for level in levels for owner in level])
        if everything.size == 0:
            raise EmptyProblemError("a problem needs at least one row that counts: no constraint, or all rows masked")
        box = _bounds_on(space, robot, bounds)
        periodic = np.logical_and.reduce([owner.periodic for owner in everything])
        turns = box.tangent_upper - box.tangent_lower >= 2.0 * np.pi - 1e-6
        revolute = _revolute(space)
        for attribute, value in (
            ("robot", robot),
            ("space", space),
            ("levels", levels),
            ("constraints", everything),
            ("rhs", RightHandSide(everything)),
            ("bounds", box),
            ("columns", np.logical_or.reduce([owner.columns for owner in everything])),
            ("revolute", revolute),
            ("wraps", periodic & turns & revolute),
            ("_given", (where, constraints, bounds)),
        ):
            object.__setattr__(self, attribute, value)

    # Right-hand sides.

    def rhs_from(self, q: ArrayLike) -> RightHandSide:
        """Right-hand sides that q satisfies, on the rows that take one.

        Args:
            q: configuration (nq,).
        """
        point = self.at(q)
        return RightHandSide(self.constraints, np.concatenate([owner.rhs_at(point) for owner in self.constraints]))

    def rhs_at(self, t: float) -> RightHandSide:
        """Right-hand sides at time t [s], with velocities and accelerations of the targets; the others rest.

        Args:
            t: time; no clock is read.
        """
        stack = self.constraints
        vector = self.rhs.vector.copy()
        velocity, acceleration = np.zeros(stack.full_size), np.zeros(stack.full_size)
        for owner, q, v in zip(stack, stack.rhs_slices, stack.full_slices, strict=True):
            if isinstance(owner, Implicit) and owner.target is not None:
                vector[q] = owner.check_rhs(owner.target.at(t))
                velocity[v] = owner.target.velocity_at(t, owner.group)
                acceleration[v] = owner.target.acceleration_at(t, owner.group)
        return RightHandSide(stack, vector, velocity, acceleration)

    def check_rhs(self, rhs: RightHandSide | ArrayLike | None) -> RightHandSide:
        """What a user gives as right-hand sides: the default, a RightHandSide of this problem, or the flat vector."""
        if rhs is None:
            return self.rhs
        return rhs.on(self.constraints) if isinstance(rhs, RightHandSide) else RightHandSide(self.constraints, rhs)

    # Evaluation, for planners.

    def check(self, q: ArrayLike, what: str = "q") -> Vector:
        """Validate a configuration (nq,).

        Raises:
            SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with it.
        """
        return self.space.check(q, what)

    def at(self, q: ArrayLike, workspace: Workspace | None = None) -> Point:
        """The point at q.

        Args:
            q: configuration (nq,), checked and copied.
            workspace: borrow this one; by default the point has one of its own and never goes stale.
        """
        q = np.array(self.check(q))
        q.setflags(write=False)
        if workspace is not None:
            return place(self.space, q, workspace)
        return self.space.place_alone(q) if isinstance(self.space, PlacedSpace) else place(self.space, q, Workspace())

    def rows(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Rows:
        """Errors of all rows that count and their Jacobian, all levels one after the other; copies."""
        rows = stack_rows(self.constraints, self.at(q), Order.POSITION, self.check_rhs(rhs))
        return Rows(rows.error.copy(), rows.jacobian.copy(), self.constraints.slices)

    def error(
        self, q: ArrayLike, constraint: RowOwner | str | int | None = None, rhs: RightHandSide | ArrayLike | None = None
    ) -> Vector:
        """Signed, scaled errors of the rows that count, of all constraints or of one.

        Args:
            q: configuration (nq,).
            constraint: the object, its position, or its name when unique.
            rhs: right-hand sides; the default ones if absent.
        """
        error = stack_rows(self.constraints, self.at(q), Order.POSITION, self.check_rhs(rhs), jacobian=False).error
        return (
            error.copy()
            if constraint is None
            else error[self.constraints.slices[self.constraints.index(constraint)]].copy()
        )

    def residual(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> float:
        """Largest norm over the constraints of their errors at q."""
        return stack_rows(self.constraints, self.at(q), Order.POSITION, self.check_rhs(rhs), jacobian=False).residual

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
        """Whether q satisfies every constraint and its bounds; or one constraint.

        Args:
            q: configuration (nq,).
            constraint: only this one, and no bounds.
            rhs: right-hand sides; the default ones if absent.
            threshold: largest accepted error norm of a constraint.
        """
        if constraint is not None:
            error = self.error(q, constraint, rhs)
            return float(np.sqrt(error @ error)) <= threshold
        return self.residual(q, rhs) <= threshold and self.bounds.contains(self.check(q))

    def tangent_basis(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Matrix:
        """Orthonormal basis (nv, dimension) of the velocities that keep all errors, at q.

        Args:
            q: configuration (nq,); judged there, whether it satisfies the constraints or not.
            rhs: right-hand sides; the default ones if absent.
        """
        J = self.jacobian(q, rhs)
        Q, R, _ = qr(J.T, pivoting=True)
        pivots = np.abs(np.diag(R))
        rank = int((pivots > RANK_TOLERANCE * pivots.max(initial=0.0)).sum())
        return np.array(Q[:, rank:], dtype=np.float64)

    def dimension(self, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> int:
        """Dimension of the set of solutions around q: nv less the rank of the Jacobian (relative tolerance 1e-6)."""
        return self.tangent_basis(q, rhs).shape[1]

    def project_tangent(self, q: ArrayLike, v: ArrayLike, rhs: RightHandSide | ArrayLike | None = None) -> Vector:
        """The part of v that keeps all errors: the nearest velocity with J v = 0.

        Args:
            q: configuration (nq,).
            v: velocity (nv,).
            rhs: right-hand sides; the default ones if absent.
        """
        N = self.tangent_basis(q, rhs)
        return N @ (N.T @ self.space.check_tangent(v, "velocity"))

    # Reading.

    def describe(self) -> str:
        """The problem in words: its space, its constraints with their rows and how each is resolved, its bounds."""
        who = self.robot.name if self.robot is not None else self.space.name
        free = int(self.columns.sum())
        lines = [f"Problem on {who}: {self.space.nv} dofs ({free} in the constraints), {self.constraints.size} rows"]
        for i, level in enumerate(self.levels):
            for owner in level:
                lines.append(f"  level {i}: {_describe(owner)}; implicit: solved by Newton steps")
        lower, upper = self.bounds.tangent_lower, self.bounds.tangent_upper
        bounded = int((np.isfinite(lower) | np.isfinite(upper)).sum())
        lines.append(f"  bounds on {bounded} dofs, {int(self.wraps.sum())} of them free to turn by whole turns")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Problem({self.space.nv} dofs, {self.constraints.size} rows: {', '.join(self.constraints.names)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, self._given


def _space_of(where: object) -> Space:
    if isinstance(where, Robot):
        return where.space
    if isinstance(where, Space):
        return where
    raise WrongObjectError("space of a problem", "a Robot or a Space", where)


def _bounds_on(space: Space, robot: Robot | None, bounds: object) -> Bounds:
    if bounds is None:
        return robot.bounds if robot is not None else Bounds.none(space)
    if not isinstance(bounds, Bounds):
        raise WrongObjectError("bounds of a problem", "Bounds", bounds)
    if bounds.space != space:
        raise SpaceMismatchError("bounds of a problem", space.name, bounds.space.name)
    return bounds


def _by_level(given: Any) -> list[list[RowOwner]]:
    """Constraints by level, from one sequence of them or one sequence a level."""
    if isinstance(given, RowOwner):
        raise WrongObjectError("constraints of a problem", "a sequence of constraints, [constraint]", given)
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise WrongObjectError("constraints of a problem", "a sequence of constraints", given)
    entries: list[Any] = []
    entries += given
    nested = bool(entries) and all(isinstance(e, Sequence) and not isinstance(e, str) for e in entries)
    levels: list[list[Any]] = [list(level) for level in entries] if nested else [entries]
    for i, level in enumerate(levels):
        for j, constraint in enumerate(level):
            if not isinstance(constraint, RowOwner):
                raise WrongObjectError(f"constraint {j} of level {i}", "an Implicit constraint", constraint)
    return levels


def _on_space(constraint: RowOwner, space: Space) -> RowOwner:
    """The constraint on the space of the problem, lifted where it lives on one factor."""
    if same_space(constraint.space, space):
        return constraint
    mine, theirs = _robots(space), _robots(constraint.space)
    if theirs and not any(a.is_same(b) for a in mine for b in theirs):
        raise RobotMismatchError(
            f"'{constraint.name}' is a function of another robot than the problem's: "
            "build all functions on one Robot object"
        )
    if isinstance(constraint, Implicit):
        return constraint.on(space)
    raise SpaceMismatchError(f"space of '{constraint.name}'", space.name, constraint.space.name)


def _robots(space: Space) -> list[PlacedSpace]:
    if isinstance(space, PlacedSpace):
        return [space]
    return [factor.space for factor in space.factors if isinstance(factor.space, PlacedSpace)]


def _revolute(space: Space) -> BoolVector:
    """Columns (nv,) of a robot's revolute joints, also where the robot is one factor of a product."""
    revolute = np.zeros(space.nv, dtype=np.bool_)
    if isinstance(space, PlacedSpace):
        return space.revolute
    for factor in space.factors:
        if isinstance(factor.space, PlacedSpace):
            revolute[factor.v] = factor.space.revolute
    return revolute


def _describe(owner: RowOwner) -> str:
    words = [word for word, counts in zip(owner.rows.words, owner.rows.mask, strict=True) if counts]
    kinds = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    return f"'{owner.name}' in {owner.group.name}, {len(words)} of {owner.group.nv} rows ({kinds})"
