"""What users give to a problem: the space, constraints by level, bounds, weights, frozen dofs."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from liegroups import Segments, Space
from liegroups.doors import as_flag, finite_vector
from liegroups.frozen import read_only

from .arrays import BoolVector, Vector
from .errors import (
    DuplicateError,
    EmptyProblemError,
    OptionError,
    RobotMismatchError,
    SizeError,
    SpaceMismatchError,
    UnknownJointError,
    WrongObjectError,
)
from .explicit import Explicit
from .functions.lifted import same_space
from .point import PlacedSpace
from .robot import Bounds, Robot
from .robot.loading import FREE_ROBOTS
from .stack import RowOwner

__all__ = [
    "bounds_on",
    "by_level",
    "costs",
    "frozen_columns",
    "on_space",
    "own_options",
    "priced_columns",
    "revolute_columns",
    "space_of",
    "unique_owners",
]


def space_of(where: object) -> tuple[Space, Robot | None]:
    """The space of a problem, and its robot if it has one.

    Raises:
        EmptyProblemError: nothing moves there.
        WrongObjectError: it is neither a robot nor a space.
    """
    if not isinstance(where, Robot | Space):
        raise WrongObjectError("space of a problem", "a Robot or a Space", where)
    space, robot = (where.space, where) if isinstance(where, Robot) else (where, None)
    if space.nv:
        return space, robot
    if robot is None:
        raise EmptyProblemError(f"nothing moves: the space '{space.name}' has no coordinate")
    raise EmptyProblemError(f"nothing moves: robot '{robot.name}' has no joint but fixed ones; {FREE_ROBOTS}")


def bounds_on(space: Space, robot: Robot | None, bounds: object) -> Bounds:
    """The bounds in force: those given, or the robot's, or none."""
    if bounds is None:
        return robot.bounds if robot is not None else Bounds.none(space)
    if not isinstance(bounds, Bounds):
        raise WrongObjectError("bounds of a problem", "Bounds", bounds)
    if bounds.space != space:
        raise SpaceMismatchError("bounds of a problem", space.name, bounds.space.name)
    return bounds


def by_level(given: Any) -> list[list[RowOwner]]:
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
            if not constraint.has_position:
                what = "a constraint with position rows (give the contact an anchor)"
                raise WrongObjectError(
                    f"constraint {j} of level {i}", what, f"'{constraint.name}', rows of velocity alone"
                )
    unique_owners(levels)
    return levels


def own_options(*, bounds: Any, weights: Any, frozen: Any, optional_last: Any) -> dict[str, Any]:
    """What else a problem is made of, by name: what the caller may change later is copied, for it is pickled."""
    if isinstance(weights, Mapping):
        named: dict[Any, Any] = {**weights}
        weights = named
    return {
        "bounds": bounds,
        "weights": copy.deepcopy(weights),
        "frozen": frozen if isinstance(frozen, Segments | str) else tuple(_listed(frozen)),
        "optional_last": as_flag(optional_last, "optional_last of a problem"),
    }


def on_space(constraint: RowOwner, space: Space) -> RowOwner:
    """The constraint on the space of the problem, lifted where it lives on one factor."""
    if isinstance(constraint, Explicit) and not constraint.is_bound:
        return constraint.on(space)
    if same_space(constraint.space, space):
        return constraint
    mine, theirs = _robots(space), _robots(constraint.space)
    if theirs and not any(a.is_same(b) for a in mine for b in theirs):
        raise RobotMismatchError(
            f"'{constraint.name}' is a function of another robot than the problem's: "
            "build all functions on one Robot object"
        )
    return constraint.on(space)


def _robots(space: Space) -> list[PlacedSpace]:
    if isinstance(space, PlacedSpace):
        return [space]
    return [factor.space for factor in space.factors if isinstance(factor.space, PlacedSpace)]


def revolute_columns(space: Space) -> BoolVector:
    """Columns (nv,) of a robot's revolute joints, also where the robot is one factor of a product."""
    revolute = np.zeros(space.nv, dtype=np.bool_)
    if isinstance(space, PlacedSpace):
        return space.revolute
    for factor in space.factors:
        if isinstance(factor.space, PlacedSpace):
            revolute[factor.v] = factor.space.revolute
    return revolute


def costs(space: Space, weights: Any) -> Vector:
    """Costs of motion by tangent column (nv,): ones by default, or a mapping from joint to cost, the others one.

    Raises:
        SizeError, DtypeError, NotFiniteError, OptionError, UnknownJointError: what is wrong with them.
    """
    out = np.ones(space.nv)
    if isinstance(weights, Mapping):
        named: dict[Any, Any] = {**weights}
        for joint, value in named.items():
            columns = _columns_of(space, joint, "weights")
            given = [value] * len(columns) if isinstance(value, float | int) else value
            out[columns] = finite_vector(given, len(columns), f"weights of a problem, '{joint}'")
    elif weights is not None:
        out = np.array(finite_vector(weights, space.nv, "weights of a problem"))
    if not (out >= 0.0).all():
        raise OptionError(f"weights of a problem: costs must not be negative, got {out.tolist()}")
    if not out.any():
        raise OptionError("weights of a problem: at least one cost must be positive")
    return read_only(out)


def priced_columns(space: Space, weights: Any) -> BoolVector:
    """Columns (nv,) whose cost of motion is given: all by an array, those of the named joints by a mapping."""
    out = np.full(space.nv, weights is not None and not isinstance(weights, Mapping))
    if isinstance(weights, Mapping):
        named: dict[Any, Any] = {**weights}
        for joint in named:
            out[_columns_of(space, joint, "weights")] = True
    return read_only(out)


def frozen_columns(space: Space, frozen: Any) -> BoolVector:
    """Tangent columns (nv,) that must not move: Segments, or names of joints (with Segments among them).

    Raises:
        OverlapError: a part of a rotation or of a pose, which only moves as a whole.
        UnknownJointError, SizeError, WrongObjectError: what else is wrong.
    """
    out = np.zeros(space.nv, dtype=np.bool_)
    if isinstance(frozen, str):
        raise WrongObjectError("frozen dofs of a problem", "a sequence of joint names or Segments", frozen)
    for entry in (frozen,) if isinstance(frozen, Segments) else _listed(frozen):
        out[_columns_of(space, entry, "frozen dofs")] = True
    Segments.coordinates(space, np.flatnonzero(out))  # a part of a rotation or pose cannot be kept
    return read_only(out)


def _listed(given: Any) -> list[Any]:
    try:
        return list(given)
    except TypeError:
        raise WrongObjectError("frozen dofs of a problem", "a sequence of joint names or Segments", given) from None


def _columns_of(space: Space, which: Any, what: str) -> list[int]:
    if isinstance(which, Segments):
        if which.v and which.v[-1] >= space.nv:
            raise SizeError(f"segments in {what}", f"columns below {space.nv}", which.v[-1])
        return list(which.v)
    leaves = {factor.name: factor for factor in (*space.leaves(), *space.factors)}
    for factor in space.factors:  # joints of a robot that is one factor
        for inner in factor.space.factors if isinstance(factor.space, PlacedSpace) else ():
            leaves.setdefault(inner.name, inner.within(factor))
    if not isinstance(which, str) or which not in leaves:
        raise UnknownJointError(str(which), tuple(leaves))
    return list(range(leaves[which].v.start, leaves[which].v.stop))


def unique_owners(levels: Sequence[Sequence[RowOwner]]) -> None:
    """Refuse the same object twice.

    Raises:
        DuplicateError: names it.
    """
    seen: set[int] = set()
    for owner in (owner for level in levels for owner in level):
        if id(owner) in seen:
            raise DuplicateError(f"constraint '{owner.name}' is given twice (the same object)")
        seen.add(id(owner))
