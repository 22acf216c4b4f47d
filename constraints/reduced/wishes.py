"""What users wish of minimal coordinates: columns by name, driven joints with their motions, and why a wish fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from liegroups import Segments
from liegroups.arguments import as_tuple, expect, finite_vector, is_finite_vector
from liegroups.arrays import BoolVector, Indices, Matrix, TangentLike, Vector

from ..errors import ConstraintError, OptionError, SizeError, UnknownJointError, UnknownNameError, WrongObjectError
from ..loops import ConstraintSet
from ..loops.mobility import gimbal_words, named
from ..loops.partition import Partition, partition
from ..problem.arguments import frozen_columns
from ..robot import Robot
from ..rows.target import Target
from ..words import counted, first_names

Wished: TypeAlias = "Iterable[str | Segments] | Segments"
"""Coordinates: names of joints ("elbow"), of one of their coordinates ("ball[1]"), or Segments."""

Driven: TypeAlias = "Iterable[str | Segments] | Segments | Mapping[str, Target | None]"
"""Driven joints: names or Segments; or from joint to its motion in time (None: it has no function of time)."""

DRIVEN = "driven joints"


class PartitionError(ConstraintError):
    """Coordinates cannot be split as requested.

    Args:
        message: what is not possible, why, and what is.
        names: of the coordinates that cannot be as requested.
        partition: the nearest possible one.
    """

    def __init__(self, message: str, names: tuple[str, ...], partition: Partition) -> None:
        self.names, self.partition = names, partition
        super().__init__(message)


def columns_of(robot: Robot, wished: Any, what: str) -> list[int]:
    """Tangent columns of joints, coordinates or Segments, in the order given.

    Args:
        robot: whose.
        wished: what the user gave.
        what: how an error message names it.

    Raises:
        UnknownNameError: lists the joints and coordinates that come closest.
        WrongObjectError, SizeError: other invalid arguments.
    """
    if isinstance(wished, str):
        expected = "a sequence of names of joints or coordinates, or Segments"
        raise WrongObjectError(what, expected, f"one name alone: write ['{wished}']")
    names = robot.coordinate_names
    columns: list[int] = []
    listed = (wished,) if isinstance(wished, Segments) else as_tuple(wished, what, "names, or Segments")
    for entry in listed:
        if isinstance(entry, Segments):
            if entry.v and max(entry.v) >= robot.nv:
                raise SizeError(f"Segments of {what}", f"tangent coordinates below {robot.nv}", max(entry.v))
            columns += entry.v
            continue
        name = expect(entry, str, f"entry of {what}", "the name of a joint or coordinate, or Segments")
        if name in names:
            columns.append(names.index(name))
        elif name in robot.joint_names:
            columns += robot.segments(name).v
        else:
            raise UnknownNameError("joint or coordinate", name, tuple(dict.fromkeys((*robot.joint_names, *names))))
    return list(dict.fromkeys(columns))


def places_of(robot: Robot, independent: Indices, wished: Any, what: str) -> Indices:
    """Places among the independent coordinates (n,) of some of them, or an error for one that is none."""
    columns, u = columns_of(robot, wished, what), independent.tolist()
    if not set(columns) <= set(u):
        names = ", ".join(named(robot.coordinate_names, independent))
        raise OptionError(f"{what}: {wished} is not independent; the independent ones are: {names}")
    return np.array([u.index(column) for column in columns], dtype=np.intp)


def driven_columns(robot: Robot, driven: Any) -> tuple[BoolVector, dict[str, Target]]:
    """Mask (nv,) of the driven columns, and the motions in time of those that have one.

    Raises:
        UnknownJointError: lists the joints that come closest.
        OverlapError: a part of a joint, which is driven as a whole.
        WrongObjectError, SizeError: other invalid arguments.
    """
    motions: dict[str, Target] = {}
    entries: Any = driven
    if isinstance(driven, Mapping):
        given: dict[Any, Any] = {**driven}
        entries = [expect(joint, str, "driven joint", "the name of a joint") for joint in given]
        for joint, motion in given.items():
            if motion is not None:
                motions[joint] = expect(motion, Target, f"motion of the driven joint '{joint}'", "a Target, or None")
    try:
        return frozen_columns(robot.space, entries, DRIVEN), motions
    except UnknownJointError as error:
        name = str(error.name)
        whole = name.partition("[")[0]
        if name in robot.coordinate_names and whole in robot.joint_names:
            raise OptionError(f"{DRIVEN}: '{name}' is a part of '{whole}', which is driven as a whole") from None
        raise


def check_not_driven(robot: Robot, wished: Sequence[int], held: BoolVector) -> None:
    """Refuse coordinates that are wished independent and driven."""
    both = tuple(robot.coordinate_names[i] for i in wished if held[i])
    if both:
        raise OptionError(f"independent coordinates: {first_names(both)} cannot be both independent and driven")


_TIED = "the rows tie them to these, or hold them still, as at a dead centre"


def check_partition(
    constraint_set: ConstraintSet,
    J: Matrix,
    parts: Partition,
    wished: Sequence[int],
    held: BoolVector,
    tolerance: float,
) -> None:
    """Refuse driven joints that the rows block, and wishes that they do not leave free; say what would do.

    Args:
        constraint_set: whose rows.
        J: their Jacobian (size, nv).
        parts: the partition that was found; it keeps as many wishes as the rows leave.
        wished: columns that shall be independent.
        held: mask (nv,) of the driven columns.
        tolerance: of ranks.

    Raises:
        PartitionError: names the coordinates that cannot be what was wished.
    """
    names, driven = constraint_set.robot.coordinate_names, np.flatnonzero(held)
    whole = partition(J, wished=driven.tolist(), preferred=wished, tolerance=tolerance)
    blocked = named(names, whole.dependent[held[whole.dependent]])
    if blocked:
        free = J.shape[1] - whole.rank
        could = named(names, whole.independent[held[whole.independent]])
        why = f"{counted(driven.size, 'coordinate')} cannot be driven" if driven.size > free else _TIED
        raise PartitionError(
            f"driven joints: the rows leave {counted(free, 'degree')} of freedom, and {first_names(blocked)} cannot be "
            f"driven together with the others ({why}); possible: {first_names(could) or 'none'}",
            blocked,
            whole,
        )
    wrong = named(names, parts.dependent[np.isin(parts.dependent, wished)])
    if not wrong:
        return
    left = parts.independent.size
    if len(wished) > left:
        why = f"{len(wished)} were given, but the rows leave only {left} free"
    else:
        why = "J_v would be singular: the rows tie them to the other ones that were given, or hold them still"
        locked = gimbal_words(constraint_set.robot, J, parts.independent)
        why += f" ({locked})" if locked else ""
    beside = " besides the driven ones" if driven.size else ""
    raise PartitionError(
        f"independent coordinates{beside}: not {first_names(wrong)}: {why}; "
        f"possible: {first_names(named(names, parts.independent)) or 'none'}",
        wrong,
        parts,
    )


def part_of(robot: Robot, columns: Indices, given: TangentLike, what: str, kind: str) -> Vector:
    """The numbers of some tangent coordinates from a user: in their order, or by joint, the others zero.

    Args:
        robot: the robot.
        columns: (n,), the coordinates.
        given: n numbers, or joint -> number, or (nv_j,) of which those that are not in the columns are zero.
        what: the argument, as the caller knows it.
        kind: what they are: "independent coordinate".

    Raises:
        UnknownJointError, UnknownNameError: there is no such joint, or it is not among them.
        SizeError, DtypeError, NotFiniteError: what is wrong with the numbers.
    """
    if is_finite_vector(given, columns.size):
        return given
    if not isinstance(given, Mapping):
        names = ", ".join(named(robot.coordinate_names, columns))
        return finite_vector(given, columns.size, what, f"of {names}" if names else "")
    whole, inside = robot.space.check_tangent(given, what), np.zeros(robot.nv, dtype=np.bool_)
    inside[columns] = True
    names = robot.coordinate_names
    for joint in given:
        at = robot.velocity_slice_of(joint)
        outside = [i for i in range(at.start, at.stop) if not inside[i] and (whole[i] or not inside[at].any())]
        if outside:
            raise UnknownNameError(kind, names[outside[0]], [names[i] for i in columns])
    return whole[columns]
