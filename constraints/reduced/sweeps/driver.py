"""The coordinate that drives a mechanism: one number, its value in a configuration, and how it is set there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from liegroups import SO2
from liegroups.arguments import as_flag, as_label, finite_number
from liegroups.arrays import ArrayLike, Vector
from liegroups.layout import Factor

from ...errors import OptionError
from ...loops import ConstraintSet
from ...loops.partition import partition
from ...robot import Robot
from ...words import first_names
from ..coordinates import MinimalCoordinates, minimal_coordinates
from ..state import closed_configuration
from ..wishes import Wished, columns_of


class Driver(NamedTuple):
    r"""One tangent coordinate with a value.

    A revolute, prismatic or helical joint, and each coordinate of joints whose coordinates are plain numbers
    (universal): the number in q [rad or m], more than a turn too. A continuous joint, (cos, sin) in q: its angle [rad],
    counted on over turns from that of the start in :math:`(-\pi, \pi]`. A coordinate of a ball, planar or free joint:
    by how much the joint has moved from the start, along the fixed direction of that coordinate in its own axes [rad or
    m], :math:`q_0 \oplus c\, e_i`; its other coordinates stay.

    Attributes:
        name: of the coordinate, "crank" or "platform[5]".
        column: tangent column.
        leaf: the group that it is a coordinate of, with its places in q and v.
    """

    name: str
    column: int
    leaf: Factor

    @property
    def is_number(self) -> bool:
        """Whether the value is an entry of q."""
        return self.leaf.space.nq == self.leaf.space.nv

    @property
    def is_circle(self) -> bool:
        """Whether it is an angle kept as (cos, sin)."""
        return self.leaf.space == SO2

    @property
    def entry(self) -> int:
        """Which entry of q the value is, where it is one."""
        return self.leaf.q.start + self.column - self.leaf.v.start

    def turns(self, robot: Robot, values: Vector) -> float:
        """How many turns an angle goes from the least to the largest of its values; zero for a length."""
        is_angle = self.is_circle or bool(robot.space.revolute[self.column])
        return float(np.ptp(values)) / (2.0 * math.pi) if is_angle and values.size else 0.0

    def value_in(self, q: Vector) -> float:
        """The value at a start."""
        if self.is_number:
            return float(q[self.entry])
        return math.atan2(*q[self.leaf.q][::-1]) if self.is_circle else 0.0

    def set_in(self, q: Vector, value: float) -> None:
        """Write the value itself, where q has it, so that sums of steps leave no rounding."""
        if self.is_number:
            q[self.entry] = value
        elif self.is_circle:
            q[self.leaf.q] = math.cos(value), math.sin(value)


def driver_column(constraint_set: ConstraintSet, name: str) -> int:
    """Tangent column of a joint with one, or of a coordinate by its name, "rod[0]".

    Raises:
        UnknownNameError: neither; lists the names that come closest.
        OptionError: the joint has several.
    """
    columns = columns_of(constraint_set.robot, [as_label(name, "driver of a sweep")], "driver of a sweep")
    if len(columns) != 1:
        names = constraint_set.robot.coordinate_names
        ones = first_names([names[i] for i in columns])
        raise OptionError(f"driver of a sweep: joint '{name}' has {len(columns)} coordinates; name one: {ones}")
    return columns[0]


def coordinates_with(
    constraint_set: ConstraintSet,
    q: ArrayLike,
    wished: Sequence[int],
    preferred: Wished,
    t: float = 0.0,
    close: bool = False,
) -> MinimalCoordinates:
    """Minimal coordinates whose independent ones are those wished, in that order, then those preferred that can be.

    Args:
        constraint_set: whose rows.
        q: closed configuration (nq,).
        wished: tangent columns that must be independent.
        preferred: coordinates that are independent rather than others, where that is possible.
        t, close: as in `minimal_coordinates`.
    """
    at = closed_configuration(constraint_set, q, finite_number(t, "time of a closing"), as_flag(close, "close"))
    J = constraint_set.jacobian(at, constraint_set.rhs_at(t))
    chosen = list(wished)
    for column in columns_of(constraint_set.robot, preferred, "preferred coordinates"):
        if {*chosen, column}.issubset(partition(J, preferred=[*chosen, column]).independent.tolist()):
            chosen.append(column)
    names = constraint_set.robot.coordinate_names
    first = [names[i] for i in dict.fromkeys(chosen)]
    return minimal_coordinates(constraint_set, at, independent=first, t=t)


def driver_of(coordinates: MinimalCoordinates) -> Driver:
    """The first independent coordinate as the driver.

    Raises:
        OptionError: it is a part of a rotation or pose of which other parts are dependent, so that it has no value.
    """
    robot = coordinates.constraint_set.robot
    column = int(coordinates.partition.independent[0])
    leaf = next(leaf for leaf in robot.space.leaves() if leaf.v.start <= column < leaf.v.stop)
    driver = Driver(robot.coordinate_names[column], column, leaf)
    names = robot.coordinate_names
    dependent: list[int] = coordinates.partition.dependent.tolist()
    others = [names[i] for i in dependent if leaf.v.start <= i < leaf.v.stop]
    if others and not driver.is_number:
        raise OptionError(
            f"driver of a sweep: '{driver.name}' is a part of a rotation whose other parts, {first_names(others)}, "
            "follow from it, so it has no independent value; drive another joint, or hold those (independent=)"
        )
    return driver
