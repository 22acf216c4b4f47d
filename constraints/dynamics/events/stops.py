"""Stops: joint limits that are hit, pushed against and left, as events of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arguments import as_tuple
from liegroups.frozen import set_fields

from ...errors import OptionError, UnknownJointError, WrongObjectError
from ...functions import Affine
from ...ranges import not_negative
from ...robot import Robot
from ...rows.implicit import Implicit
from ...words import first_names
from ..impact import coefficient
from .sides import Side

PASS, STOP = "pass", "stop"


@final
@dataclass(frozen=True)
class Stops:
    """Stops at the limits of the joints: for `SimulationOptions(limits=)`.

    A joint that reaches a limit is hit: it leaves with minus its rate times the restitution, and below `rest_speed` it
    stays. What stays is pushed, never pulled. Joints whose coordinates are plain numbers have stops; bounds of the
    place of a free body are none (`record.limits_passed` names them). The events are "elbow at its upper limit" and
    "elbow leaves its upper limit", with the names of the joints.

    Args:
        restitution: e in [0, 1].
        joints: names of the joints that have stops; by default all with limits.
        rest_speed: impacts slower than this do not bounce [m/s, rad/s].

    Raises:
        OptionError: a restitution outside [0, 1], a speed below zero.
    """

    restitution: float = 0.0
    joints: Sequence[str] | None = None
    rest_speed: float = 1e-2

    def __post_init__(self) -> None:
        """Check the numbers."""
        coefficient(self.restitution, "restitution of stops")
        not_negative(self.rest_speed, "rest_speed of stops")
        if self.joints is not None:
            given = (self.joints,) if isinstance(self.joints, str) else self.joints
            set_fields(self, joints=as_tuple(given, "joints of stops", "names"))

    def sides(self, robot: Robot) -> list[Side]:
        """A side for each limit.

        Raises:
            UnknownJointError: no joint of that name.
            OptionError: a joint without limits, or nothing has limits.
        """
        found: list[Side] = []
        for joint in self.joints or ():
            if joint not in robot.joint_names:
                raise UnknownJointError(str(joint), robot.joint_names, "stops")
        without = list(self.joints or ())
        names = robot.coordinate_names
        for factor in robot.space.factors:
            if self.joints is not None and factor.name not in self.joints:
                continue
            entries, columns = range(robot.nq)[factor.q], range(robot.nv)[factor.v]
            if len(entries) == len(columns):
                own = [
                    side for at in zip(entries, columns, strict=True) for side in self._sides(robot, *at, names[at[1]])
                ]
                found += own
                without = [joint for joint in without if joint != factor.name or not own]
        if without or not found:
            what = f"{first_names(without)}" if without else f"all joints of {robot.name}"
            raise OptionError(f"stops: no limits of {what}; `robot.with_bounds` gives some")
        return found

    def _sides(self, robot: Robot, entry: int, column: int, name: str) -> list[Side]:
        """The limits of a coordinate."""
        found: list[Side] = []
        for word, bounds, sign in (("lower", robot.bounds.lower, 1.0), ("upper", robot.bounds.upper, -1.0)):
            if np.isfinite(bounds[entry]):
                row = np.zeros((1, robot.nv))
                row[0, column] = sign
                gap = Affine(row, [-sign * float(bounds[entry])], robot.space)
                said = f"{name} at its {word} limit", f"{name} leaves its {word} limit"
                found.append(Side(name, Implicit.zero(gap, name=said[0]), (), 0.0, self.restitution, *said))
        return found


def as_stops(limits: str | Stops) -> Stops | None:
    """Stops from what a user gave; None where joints pass their limits.

    Raises:
        WrongObjectError: something else.
    """
    if isinstance(limits, Stops):
        return limits
    if limits == STOP:
        return Stops()
    if limits != PASS:
        raise WrongObjectError("limits of a motion", '"pass", "stop", or Stops(restitution=...)', repr(limits))
    return None
