"""Trajectories: paths with times, at which velocities and accelerations are known too."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from liegroups import Space
from liegroups.arguments import as_tuple
from liegroups.arrays import Matrix, Vector
from liegroups.layout import Factor

from ...errors import OptionError, UnknownJointError
from ...exports import from_above
from ...keywords import NamesChecked
from ...paths.moving_rhs import MovingRightHandSide
from ...paths.path import time_within
from ...questions import ask_once
from ...ranges import positive_number
from ...rows.right_hand_side import RightHandSide
from ...solvers import Projector
from ...words import counted
from .group_spline import GroupSpline
from .time_law import TimeLaw

LOOKS_PER_SECOND = 1000.0
"""Rate [1/s] at which a trajectory is looked at: its limits while it is made, its residual in `max_error`."""


class TrajectoryState(NamedTuple):
    """Where a trajectory is at one time.

    Attributes:
        q: configuration (nq,).
        v: velocity (nv,) in the tangent, body frame [rad/s, m/s].
        a: its time derivative (nv,) [rad/s^2, m/s^2].
    """

    q: Vector
    v: Vector
    a: Vector


class TrajectorySamples(NamedTuple):
    """A trajectory at many times, a row each.

    Attributes:
        times: (n,) [s].
        q: configurations (n, nq).
        v, a: velocities and their time derivatives (n, nv).
    """

    times: Vector
    q: Matrix
    v: Matrix
    a: Matrix


class PathEvent(NamedTuple):
    """A time at which the constraints of a trajectory change, as by a grasp or a release. It is at rest there.

    Attributes:
        time: [s].
        name: of the transition that begins, if a plan was timed; else what begins and ends, in words.
        begin, end: names of the constraints that hold from then on only, and of those that hold until then only.
    """

    time: float
    name: str
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()


class JointTrajectoryPoint(NamedTuple):
    """A point of `trajectory_msgs/JointTrajectory`, with its names.

    Attributes:
        positions: of the joints [rad or m].
        velocities: [rad/s or m/s].
        accelerations: [rad/s^2 or m/s^2].
        time_from_start: [s].
    """

    positions: tuple[float, ...]
    velocities: tuple[float, ...]
    accelerations: tuple[float, ...]
    time_from_start: float


class JointTrajectory(NamedTuple):
    """The fields of ROS's message `trajectory_msgs/JointTrajectory`, as plain numbers.

    Attributes:
        joint_names: of the joints with one degree of freedom.
        points: in the order of time.
    """

    joint_names: tuple[str, ...]
    points: tuple[JointTrajectoryPoint, ...]


@final
@dataclass(frozen=True, eq=False, repr=False)
class TimedPart:
    """Part of a trajectory from rest to rest, on one problem.

    Attributes:
        curve: the way, from parameter 0 to 1.
        law: the parameter by time.
        projector: of the path, on the problem of this part.
        sides: right-hand sides of the problem.
        path_times: for each point of the curve, the time in [0, 1] at which `sides` is asked.
    """

    curve: GroupSpline
    law: TimeLaw
    projector: Projector
    sides: MovingRightHandSide
    path_times: Vector

    def at(self, times: Vector) -> tuple[Matrix, Matrix, Matrix]:
        """Configurations (n, nq), velocities and accelerations (n, nv) at times (n,) since its start."""
        s, speed, bend = self.law.at(times)
        q, first, second = self.curve.at(s)
        return q, first * speed[:, None], second * speed[:, None] ** 2 + first * bend[:, None]

    def residuals(self, s: Vector, q: Matrix) -> Vector:
        """Residuals (n,) of configurations (n, nq) at parameters (n,) of the curve."""
        times = np.interp(s, self.curve.s, self.path_times)
        sides = self.sides.at_times(self.projector.problem, times)
        each = [sides] * len(q) if isinstance(sides, RightHandSide) else sides
        return np.array([self.projector.residual(*row) for row in zip(q, each, strict=True)])

    def max_error(self) -> float:
        """Largest residual, looked at 1000 times a second, at the start and at the end."""
        s = self.law.at(regular_times(self.law.duration, LOOKS_PER_SECOND))[0]
        return float(self.residuals(s, self.curve.at(s).q).max())


@final
@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(NamesChecked):
    """A motion in time on constraints: `trajectory(t)` has configuration, velocity and acceleration. `timed` makes it.

    It consists of parts, each from rest to rest. Velocities are continuous; accelerations jump, within their limits.

    Attributes:
        parts: in the order of time, at least one.
        events: where constraints change, in the order of time.
        slowdown: the largest factor by which a part is slower than toppra found, so that it keeps its limits at all
            times that were looked at, 1000 a second; 1 if none is.
    """

    parts: tuple[TimedPart, ...]
    events: tuple[PathEvent, ...]
    slowdown: float

    @property
    def duration(self) -> float:
        """Duration [s]; 0 where the start is the goal."""
        return float(self._ends[-1])

    @property
    def stops(self) -> Vector:
        """Times (n,) [s] at which it is at rest: the start, where parts meet, and the end."""
        return np.concatenate([[0.0], self._ends])

    @property
    def space(self) -> Space:
        """Space of the configurations."""
        return self.parts[0].curve.space

    @property
    def _ends(self) -> Vector:
        """Times at which parts end."""
        return np.cumsum([part.law.duration for part in self.parts])

    def __call__(self, time: float) -> TrajectoryState:
        """Configuration, velocity and acceleration at a time in [0, duration], to rounding (1e-9 of the duration).

        Raises:
            WrongObjectError: a time that is no finite number.
            OptionError: a time before or after the trajectory.
        """
        seconds = time_within(time, self.duration, "trajectory", "; of several, `sample`")
        return TrajectoryState(*(rows[0] for rows in self._at(np.array([seconds]))))

    def sample(self, rate: float) -> TrajectorySamples:
        """The trajectory at regular times from 0, and at its end.

        Args:
            rate: samples a second [1/s].

        Raises:
            OptionError: not a positive number.
        """
        if positive_number(rate, "rate of a trajectory") * self.duration < 1.0 and self.duration > 0.0:
            ask_once(
                f"rate of a trajectory: {rate:g} samples a second, less than one in its {self.duration:.3g} s: is it "
                f"the time between two? Its rate is {1.0 / rate:g}"
            )
        times = regular_times(self.duration, rate)
        return TrajectorySamples(times, *self._at(times))

    def _at(self, times: Vector) -> tuple[Matrix, Matrix, Matrix]:
        """Configurations, velocities and accelerations at times, a row each."""
        ends = self._ends
        which = np.minimum(np.searchsorted(ends, times), len(ends) - 1)
        space, n = self.space, len(times)
        q, v, a = np.empty((n, space.nq)), np.empty((n, space.nv)), np.empty((n, space.nv))
        for k, part in enumerate(self.parts):
            rows, duration = which == k, part.law.duration
            if rows.any():
                q[rows], v[rows], a[rows] = part.at(np.clip(times[rows] - (ends[k] - duration), 0.0, duration))
        return q, v, a

    def max_error(self) -> float:
        """Largest residual of the constraints, each part by its own, looked at 1000 times a second."""
        return max(part.max_error() for part in self.parts)

    def as_joint_trajectory(self, rate: float = 100.0, joints: Sequence[str] | None = None) -> JointTrajectory:
        """The trajectory as the fields of ROS's message `trajectory_msgs/JointTrajectory`.

        A message with joints that turn without end has their angles without jumps.

        Args:
            rate: points a second [1/s].
            joints: names, in the order of the message; by default all with one degree of freedom. The message has no
                place for others, as free bodies.

        Raises:
            OptionError: a rate that is not positive; a joint of several degrees of freedom, which the message cannot
                have.
            UnknownJointError: lists the names that come closest.
        """
        single = {leaf.name: leaf for leaf in self.space.leaves() if leaf.v.stop - leaf.v.start == 1}
        names = tuple(single) if joints is None else as_tuple(joints, "joints of a trajectory", "names of joints")
        for name in names:
            _refuse_no_single(name, single, self.space)
        sampled = self.sample(rate)
        leaves = [single[name] for name in names]
        columns = [leaf.v.start for leaf in leaves]
        positions = np.array([_positions(sampled.q[:, leaf.q]) for leaf in leaves]).reshape(len(leaves), -1).T
        numbers = positions, sampled.v[:, columns], sampled.a[:, columns]
        rows = zip(*(each.tolist() for each in numbers), sampled.times.tolist(), strict=True)
        points = [JointTrajectoryPoint(tuple(q), tuple(v), tuple(a), t) for q, v, a, t in rows]
        return JointTrajectory(names, tuple(points))

    def save(self, path: str | os.PathLike[str], rate: float = 100.0) -> None:
        """Write samples of the trajectory to a file; its ending says how.

        Args:
            path: .json has the names of joints, times, configurations, velocities, accelerations and events; .csv is a
                table with the columns time, q of each coordinate, v and a of each tangent coordinate.
            rate: samples a second [1/s].

        Raises:
            OptionError: another ending, or a rate that is not positive.
            FileError: the file cannot be written.
        """
        from_above("save_trajectory")(self, path, rate)

    def __repr__(self) -> str:
        parts, events = counted(len(self.parts), "part"), counted(len(self.events), "event")
        return f"Trajectory({self.duration:.3f} s, {parts}, {events})"


def regular_times(duration: float, rate: float) -> Vector:
    """Times (n,) [s] from 0, `rate` a second, and the duration."""
    count = int(np.floor(duration * rate * (1.0 - 1e-12)))
    times = np.arange(count + 1) / rate
    return np.append(times, duration) if duration > times[-1] else times


def _refuse_no_single(name: object, single: Mapping[str, Factor], space: Space) -> None:
    """Refuse a name that is no joint of one degree of freedom."""
    every = [leaf.name for leaf in space.leaves()]
    if name not in every:
        raise UnknownJointError(str(name), every, "joints of a trajectory")
    if name not in single:
        raise OptionError(
            f"joints of a trajectory: '{name}' has several degrees of freedom, a JointTrajectory has joints with one; "
            "`sample(rate)` has all of them"
        )


def _positions(q: Matrix) -> Vector:
    """Positions (n,) of a joint with one degree of freedom: numbers, or angles of cosine and sine, without jumps."""
    return q[:, 0] if q.shape[1] == 1 else np.unwrap(np.arctan2(q[:, 1], q[:, 0]))
