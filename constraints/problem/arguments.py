"""What users give to a problem: the space, constraints by level, bounds, weights, frozen dofs."""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from liegroups import Segments, Space
from liegroups.arguments import as_flag, as_tuple, expect, finite_vector
from liegroups.arrays import BoolVector, Vector
from liegroups.frozen import read_only

from ..errors import (
    EmptyProblemError,
    OptionError,
    OverlapError,
    RobotMismatchError,
    SizeError,
    SpaceMismatchError,
    UnknownJointError,
    WrongObjectError,
)
from ..functions.affine import Constant
from ..functions.function import Function
from ..functions.lifted import robots_of, same_space
from ..point import PlacedSpace, revolute_columns
from ..questions import say_once
from ..robot import Bounds, Robot
from ..robot.arguments import robot_for
from ..robot.files.base import FREE_ROBOTS
from ..robot.model.joints import FULL_TURN
from ..rows.comparison import RowTable
from ..rows.explicit import Explicit
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack, check_unique

_log = logging.getLogger(__package__)

_PLAIN = frozenset({np.ndarray, bool, float, int, str, type(None), RowTable})
"""Types of what holds no robot: most of what is in a constraint."""
FROZEN = "frozen dofs of a problem"
UNMOVED = "no dof moves it: it is satisfied everywhere or nowhere"
"""What is said of a constraint whose function depends on no column."""
OF_PROBLEM = "a constraint, or its name (for a configuration: problem.is_satisfied(q))"


def space_of(where: object) -> tuple[Space, Robot | None]:
    """The space of a problem, and its robot if it has one.

    Raises:
        EmptyProblemError: nothing moves there.
        WrongObjectError: it is neither a robot nor a space.
    """
    where = expect(where, (Robot, Space), "robot or space of a problem", robot_for(where))
    space, robot = (where.space, where) if isinstance(where, Robot) else (where, None)
    if space.nv:
        return space, robot
    if robot is None:
        raise EmptyProblemError(f"nothing moves: the space '{space.name}' has no coordinate")
    raise EmptyProblemError(f"nothing moves: robot '{robot.name}' has only fixed joints; {FREE_ROBOTS}")


def all_rows(owners: Sequence[RowOwner]) -> Stack:
    """All constraints of a problem.

    Raises:
        EmptyProblemError: they have no row that counts.
    """
    everything = Stack(owners)
    if everything.size == 0:
        raise EmptyProblemError(
            "a problem needs at least one row: it has no constraint, or all rows are masked; a constraint that always "
            "holds is Implicit.zero(functions.Constant([0.0], Rn(1), space))"
        )
    return everything


def bounds_on(space: Space, robot: Robot | None, bounds: object, owners: Iterable[RowOwner] = ()) -> Bounds:
    """The bounds in force: those given, or the robot's, or none; those of robots of functions never are.

    Args:
        space, robot: of the problem.
        bounds: what the user gave.
        owners: the constraints; a log line names the joints that have other bounds on a robot of theirs, a warning
            where the problem is on a bigger space, which has none.
    """
    if bounds is None:
        own = robot.bounds if robot is not None else Bounds.none(space)
        joints = other_bounds(own, owners)
        words = "the bounds of the problem's robot are used, not those of the robot of its functions; they differ on"
        if robot is None:
            words = "a space has no bounds; Problem(space, constraints, robot.bounds.on(space)) keeps those of"
        if joints:
            level = logging.INFO if isinstance(space, PlacedSpace) else logging.WARNING  # of a robot it is on purpose
            _log.log(level, "%s: %s %s", robot.name if robot is not None else space.name, words, joints)
        return own
    if not isinstance(bounds, Bounds):
        expected = "Bounds, or None for the robot's"
        if isinstance(bounds, bool):
            expected += "; Bounds.none(space) for no bounds"
        elif isinstance(bounds, tuple | list):
            expected += ": Bounds(space, lower, upper)"
        elif isinstance(bounds, Mapping):
            expected += "; to change the bounds of some joints: robot.with_bounds({...})"
        raise WrongObjectError("bounds of a problem", expected, repr(bounds) if isinstance(bounds, bool) else bounds)
    if bounds.space != space:
        raise SpaceMismatchError("bounds of a problem", space.name, bounds.space.name)
    if robot is not None and bounds is not robot.bounds:
        asked = robot.bounds.asked_of_new(bounds, "bounds of a problem")
        say_once(_log, dict(zip(asked, asked, strict=True)))
    return bounds


def other_bounds(bounds: Bounds, owners: Iterable[RowOwner]) -> str:
    """Joints whose bounds differ on some robot that the functions of constraints were built on; empty where none do."""
    space = bounds.space
    differ = np.zeros(space.nq, dtype=np.bool_)
    seen = set[int]()
    pending: list[Any] = [owner.original for owner in owners]
    while pending:
        held = pending.pop()
        if id(held) in seen or type(held) in _PLAIN:
            continue
        seen.add(id(held))
        if isinstance(held, Robot):
            fitting = [slice(None)] if same_space(held.space, space) else []
            fitting = fitting or [factor.q for factor in space.factors if same_space(held.space, factor.space)]
            if len(fitting) == 1:
                q, theirs = fitting[0], held.bounds
                differ[q] |= (theirs.lower != bounds.lower[q]) | (theirs.upper != bounds.upper[q])
        elif isinstance(held, Function | RowOwner):
            pending += getattr(held, "__dict__", {}).values()
        elif isinstance(held, tuple | list):
            pending += held
    return ", ".join(leaf.name for leaf in space.leaves() if differ[leaf.q].any())


def by_level(constraints: Any) -> list[list[RowOwner]]:
    """Constraints by level, from one sequence of them or one sequence a level."""
    lone: object = constraints
    words = f"constraints, {'[constraint]' if isinstance(lone, RowOwner) else '[a, b]'}"
    levels = _levels([*as_tuple(constraints, "constraints of a problem", words)])
    for i, level in enumerate(levels):
        for j, constraint in enumerate(level):
            if not isinstance(constraint, RowOwner):
                function = isinstance(constraint, Function)
                wanted = (
                    f"a constraint, Implicit.equal({constraint.name}, ...)" if function else "a constraint (Implicit)"
                )
                raise WrongObjectError(f"constraint {j} of level {i}", wanted, constraint)
            if not constraint.has_position:
                what = "a constraint with position rows (give the contact an anchor)"
                raise WrongObjectError(
                    f"constraint {j} of level {i}", what, f"{constraint.name!r}, rows of velocity alone"
                )
    check_unique(owner for level in levels for owner in level)
    _say_which_stand_still(levels)
    return levels


def _say_which_stand_still(levels: list[list[RowOwner]]) -> None:
    """A warning for each constraint that no dof moves, unless it is one on a constant on purpose."""
    for owner in (owner for level in levels for owner in level if not isinstance(owner, Explicit)):
        if not owner.columns.any() and not isinstance(owner.measured, Constant):
            _log.warning("constraint %r: %s", owner.name, UNMOVED)


def _levels(entries: list[Any]) -> list[list[Any]]:
    """One level of entries, or a level an entry; a mixture of both is refused."""
    is_level = [isinstance(entry, Sequence) and not isinstance(entry, str | bytes) for entry in entries]
    if not any(is_level):
        return [entries]
    if not all(is_level):
        lone = [f"{i} ({entry})" for i, entry in enumerate(entries) if not is_level[i]]
        levels = ", ".join(str(i) for i, nested in enumerate(is_level) if nested)
        raise WrongObjectError(
            "constraints of a problem",
            "constraints alone, [a, b], or levels alone, [[a], [b, c]]",
            f"a mixture: entries {', '.join(lone)} are not levels, entries {levels} are",
        )
    return [list(level) for level in entries]


def own_options(
    levels: Sequence[Sequence[RowOwner]], *, bounds: Any, weights: Any, frozen: Any, optional_last: Any
) -> dict[str, Any]:
    """What else a problem is made of, by name: what the caller may change later is copied, for it is pickled."""
    if as_flag(optional_last, "optional_last of a problem") and len(levels) < 2:
        what = "optional_last of a problem: it needs two levels or more, [[mandatory], [optional]]; all constraints"
        raise OptionError(f"{what} are in one level, so nothing would be mandatory")
    if isinstance(weights, Mapping):
        named: dict[Any, Any] = {**weights}
        weights = named
    return {
        "bounds": bounds,
        "weights": copy.deepcopy(weights),
        "frozen": frozen if isinstance(frozen, Segments) else tuple(_listed(frozen, FROZEN)),
        "optional_last": optional_last,
    }


def on_space(constraint: RowOwner, space: Space) -> RowOwner:
    """The constraint on the space of the problem, lifted where it lives on one factor."""
    if isinstance(constraint, Explicit) and not constraint.is_bound:
        return constraint.on(space)
    if same_space(constraint.space, space):
        return constraint
    mine, theirs = robots_of(space), robots_of(constraint.space)
    if theirs and not any(a.same_robot(b) for a in mine for b in theirs):
        raise RobotMismatchError(
            f"{constraint.name!r} belongs to another robot than the problem: build all functions on one Robot object"
        )
    return constraint.on(space)


def wrapping_columns(space: Space, bounds: Bounds, owners: Iterable[RowOwner]) -> BoolVector:
    """Revolute columns (nv,) that may be shifted by whole turns: range and all functions allow it."""
    periodic = np.logical_and.reduce([owner.periodic for owner in owners])
    turns = bounds.tangent_upper - bounds.tangent_lower >= FULL_TURN
    return np.asarray(periodic & turns & revolute_columns(space))


def costs(space: Space, weights: Any) -> tuple[Vector, BoolVector]:
    """Costs of motion by tangent column (nv,): ones by default, or a mapping from joint to cost, the others one.

    Returns:
        the costs, and the columns (nv,) whose cost is given: all by an array, those of the named joints by a mapping.

    Raises:
        SizeError, DtypeError, NotFiniteError, OptionError, UnknownJointError: what is wrong with them.
    """
    out, has_cost = np.ones(space.nv), np.full(space.nv, weights is not None and not isinstance(weights, Mapping))
    if isinstance(weights, Mapping):
        named: dict[Any, Any] = {**weights}
        for joint, value in named.items():
            columns = _columns_of(space, joint, "weights")
            has_cost[columns] = True
            given: Any = value
            costs = [given] * len(columns) if isinstance(value, float | int | np.number) else given
            out[columns] = finite_vector(costs, len(columns), f"weights of a problem, '{joint}'")
    elif weights is not None:
        out = np.array(finite_vector(weights, space.nv, "weights of a problem", "or by joint, {joint: cost}"))
    for column in np.flatnonzero(out < 0.0).tolist():
        joint = next(leaf.name for leaf in space.leaves() if leaf.v.start <= column < leaf.v.stop)
        raise OptionError(f"weights of a problem: costs must not be negative, got {out[column]:g} for '{joint}'")
    if not out.any():
        raise OptionError("weights of a problem: at least one cost must be positive")
    return read_only(out), read_only(has_cost)


def frozen_columns(space: Space, frozen: Any, what: str = FROZEN) -> BoolVector:
    """Tangent columns (nv,) that must not move: Segments, names of joints (and Segments), or booleans (nv,).

    Raises:
        OverlapError: a part of a rotation or of a pose, which only moves as a whole.
        UnknownJointError, SizeError, WrongObjectError: what else is wrong.
    """
    out = np.zeros(space.nv, dtype=np.bool_)
    entries = [frozen] if isinstance(frozen, Segments) else _listed(frozen, what)
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) != space.nv:
            raise SizeError(f"{what}, as booleans", f"{space.nv}, one per tangent column", len(entries))
        out[:] = entries
        entries = []
    for entry in entries:
        out[_columns_of(space, entry, what)] = True
    try:
        Segments.coordinates(space, np.flatnonzero(out))  # a part of a rotation or pose cannot be kept
    except OverlapError as error:
        raise OverlapError(what, error.where, error.indices) from None
    return read_only(out)


def _listed(names: Any, what: str) -> list[Any]:
    """What is in a sequence; one name is none."""
    expected = "a sequence of joint names or Segments, or booleans (nv,)"
    if isinstance(names, str):
        raise WrongObjectError(what, expected, f"a single name: write ['{names}']")
    if isinstance(names, Mapping):
        values = "a mapping: the values are those of the start; robot.configuration({joint: value}, start=q) sets them"
        raise WrongObjectError(what, expected, f"{values}; locked_joint(robot, joint, value) gives a value")
    try:
        return list(names)
    except TypeError:
        raise WrongObjectError(what, expected, names) from None


def _columns_of(space: Space, which: Any, what: str) -> list[int]:
    if isinstance(which, Segments):
        if which.v and which.v[-1] >= space.nv:
            raise SizeError(f"segments in {what}", f"columns below {space.nv}", which.v[-1])
        return list(which.v)
    if not isinstance(which, str):
        columns = "a block of columns (Segments.coordinates(space, [0, 1]))"
        raise WrongObjectError(f"entry of {what}", f"the name of a joint, or {columns}", repr(which))
    leaves = {factor.name: factor for factor in (*space.leaves(), *space.factors)}
    robots = [factor for factor in space.factors if isinstance(factor.space, PlacedSpace)]
    short = Counter(inner.name for factor in robots for inner in factor.space.factors)
    for factor in robots:  # joints of a robot that is one factor; of several that share a name the short one is none
        for inner in factor.space.factors:
            if short[inner.name] == 1:
                leaves.setdefault(inner.name, inner.within(factor))
    if which not in leaves:
        raise UnknownJointError(which, tuple(leaves))
    return list(range(leaves[which].v.start, leaves[which].v.stop))
