"""Closed states: configuration, velocity and the terms of acceleration of a closed mechanism, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from liegroups import Segments
from liegroups.arguments import as_flag, finite_number
from liegroups.arrays import ArrayLike, BoolVector, Matrix, TangentLike, Vector
from liegroups.frozen import read_only

from ..errors import ConstraintError
from ..linear_algebra import largest
from ..loops import ConstraintSet, assemble_position
from ..loops.closing.lu import LU, factorised
from ..loops.mobility import CLOSED
from ..loops.open_mechanism import OpenMechanismError
from ..loops.set_rows import SetRows
from ..robot import Motion
from ..rows.right_hand_side import RightHandSide
from ..words import first_names
from .closing import DeadPointError, driven_at

if TYPE_CHECKING:
    from .coordinates import MinimalCoordinates

SAME_RANK = 1e-5
"""Part of J by which a row judged redundant may differ from what the others give, before the rank is another one."""

CLOSE_IT = "pass close=True, or close it first: assemble_position"
CLOSE_ITS_VELOCITY = "pass close=True, or close it first: assemble_velocity"


class RankError(ConstraintError):
    """Rows that were redundant where the coordinates were chosen are not redundant here: `rows` names them."""

    def __init__(self, rows: tuple[str, ...]) -> None:
        self.rows = rows
        super().__init__(
            f"the rank is higher here than where the coordinates were chosen: {first_names(rows)} "
            f"{'is' if len(rows) == 1 else 'are'} not redundant (that was a singular configuration, or this one is "
            "on another branch); make new coordinates here, `minimal_coordinates(constraint_set, q)`"
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class ClosedState:
    r"""A closed mechanism at one instant: closed in position and velocity; accelerations follow by `acceleration`.

    .. math:: v_v = B\,v_{uc} + (-J_v)^{-1}(-\dot y), \qquad a_v = B\,a_{uc} + b', \qquad b' = -J_v^{-1}\,(\dot J v)[h]

    One LU of -J_v, computed once, gives all three levels.

    Attributes:
        coordinates: the independent, driven and dependent columns.
        q: (nq,), closed.
        v: (nv,), closed.
        t: time [s].
        rhs: right-hand sides of the rows at t, with their rates.
        rows: errors, rates, Jacobian and drift of all rows.
        lu: of -J_v.
        B: (r, nu + nc), dependent velocities from independent and driven ones.
        drift: b' (r,), dependent accelerations if the others are zero.
    """

    coordinates: MinimalCoordinates
    q: Vector
    v: Vector
    t: float
    rhs: RightHandSide
    rows: SetRows
    lu: LU
    B: Matrix
    drift: Vector

    @property
    def motion(self) -> Motion:
        """The state of the robot, `robot.at(q, v)`: built again at each call, to save memory."""
        return self.coordinates.constraint_set.robot.at(self.q, self.v)

    def velocity(self, v: TangentLike) -> Vector:
        """Velocity (nv,) whose dependent part follows from the rows at this configuration and time.

        Args:
            v: (nv,) or by joint, only its independent and driven parts are used, as in `coordinates.spread`.

        Source: `mbs_close_kin` of Robotran.
        """
        rows, parts = self.rows, self.coordinates.partition
        whole = self._tangent(v, "v")
        moving = rows.velocity[parts.rows] - rows.jacobian[parts.rows] @ self.v  # less the velocity of the targets
        whole[parts.dependent] = self.B @ whole[self.coordinates.held] + self.lu.solve(moving)
        return whole

    def acceleration(self, a: TangentLike) -> Vector:
        """Acceleration (nv,) whose dependent part follows from the rows.

        Args:
            a: (nv,) or by joint, only its independent and driven parts are used, as in `coordinates.spread`.
        """
        whole = self._tangent(a, "a")
        whole[self.coordinates.partition.dependent] = self.B @ whole[self.coordinates.held] + self.drift
        return whole

    def _tangent(self, x: TangentLike, what: str) -> Vector:
        return np.array(self.coordinates.constraint_set.robot.space.check_tangent(x, what))

    def __repr__(self) -> str:
        return f"ClosedState(t {self.t:g}, {self.coordinates!r})"


def closed_state(
    coordinates: MinimalCoordinates,
    q: ArrayLike,
    v: TangentLike | None,
    t: float,
    close: bool,
    rhs: RightHandSide | None,
) -> ClosedState:
    """As `MinimalCoordinates.at`."""
    constraint_set, parts = coordinates.constraint_set, coordinates.partition
    robot = constraint_set.robot
    time, closes = finite_number(t, "time of a closed state"), as_flag(close, "`close` of a closed state")
    sides = coordinates.rhs_at(time) if rhs is None else rhs
    place = np.array(robot.check(q))
    named = isinstance(v, Mapping)
    if named:
        speed = coordinates.spread_by_joint(v, "v")
    else:
        speed = np.zeros(robot.nv) if v is None else np.array(robot.space.check_tangent(v, "v"))
    if closes:
        place = coordinates.close(place, t=time, rhs=sides).or_raise().q
    if closes or named:
        _drive(coordinates, speed, time)
    if coordinates.targets and not closes:
        check_driven(coordinates, place, speed, time, "pass close=True to move it there")
    rows = constraint_set.rows_at(robot.at(place, speed), sides)
    check_closed(constraint_set, rows.position, "position", CLOSED, CLOSE_IT)
    J = rows.jacobian[parts.rows]
    lu = factorised(J[:, parts.dependent])
    if lu.is_singular:
        raise DeadPointError(lu.rcond, coordinates.dependent)
    if closes or named:
        change = lu.solve(rows.velocity[parts.rows])
        if change.any():
            speed[parts.dependent] += change
            rows = constraint_set.rows_at(robot.at(place, speed), sides)
    check_closed(constraint_set, rows.velocity, "velocity", CLOSED * (1.0 + largest(speed)), CLOSE_ITS_VELOCITY)
    B, drift = lu.solve(J[:, coordinates.held]), lu.solve(rows.drift[parts.rows])
    _check_rank(coordinates, rows.jacobian, B)
    values = (read_only(place), read_only(speed), time, sides, rows, lu, read_only(B), read_only(drift))
    return ClosedState(coordinates, *values)


def closed_configuration(
    constraint_set: ConstraintSet, q: ArrayLike, t: float, close: bool, held: BoolVector | None = None
) -> Vector:
    """A closed configuration: q itself, or where it is open and `close` was asked for, the nearest one.

    Args:
        constraint_set: what is to be closed.
        q: (nq,).
        t: time of targets of rows [s].
        close: whether it was asked for.
        held: columns (nv,) that keep their values.

    Raises:
        OpenMechanismError: q is open, or it does not close.
    """
    at = np.array(constraint_set.robot.check(q))
    sides = constraint_set.rhs_at(t)
    error = constraint_set.position_error(at, sides)
    if close and largest(error) > 0.0:
        columns = np.zeros(0, dtype=np.intp) if held is None else np.flatnonzero(held)
        driven = Segments.coordinates(constraint_set.robot.space, columns)
        done = assemble_position(constraint_set, at, rhs=sides, driven=driven)
        if not done.success:
            raise OpenMechanismError.of(done.errors, "position", f"it does not close from here: {done.describe()}")
        return done.q
    check_closed(constraint_set, error, "position", CLOSED, CLOSE_IT)
    return at


def check_closed(constraint_set: ConstraintSet, error: Vector, level: str, most: float, remedy: str) -> None:
    """Refuse errors (size,) of which one is larger than it may be, by the name of the worst constraint."""
    if not largest(error) <= most:
        raise OpenMechanismError.of(constraint_set.stack.norms(error), level, remedy)


def _drive(coordinates: MinimalCoordinates, speed: Vector, t: float) -> None:
    """Give joints that are driven in time their velocities, in place."""
    robot = coordinates.constraint_set.robot
    for joint, target in coordinates.targets.items():
        space = robot.segments(joint).space
        target.watch(t, space, f"driven joint {joint}")
        speed[robot.velocity_slice_of(joint)] = target.velocity_at(t, space)


def check_driven(coordinates: MinimalCoordinates, q: Vector, v: Vector | None, t: float, remedy: str) -> None:
    """Refuse a state where a driven joint is not where its function of time has it, or not as fast.

    Args:
        coordinates: with the motions of driven joints.
        q: (nq,).
        v: (nv,), None where velocities do not count.
        t: time [s].
        remedy: what moves it there.
    """
    robot = coordinates.constraint_set.robot
    asked = [("place", robot.space.difference(q, driven_at(coordinates, q, t)), CLOSED)]
    if v is not None:
        speed = v.copy()
        _drive(coordinates, speed, t)
        asked.append(("velocity", v - speed, CLOSED * (1.0 + largest(speed))))
    for word, off, most in asked:
        if not largest(off) <= most:
            sizes = [(joint, largest(off[robot.velocity_slice_of(joint)])) for joint in coordinates.targets]
            raise OpenMechanismError.of(sizes, f"the {word} that its motion has at t = {t:g}", remedy)


def _check_rank(coordinates: MinimalCoordinates, J: Matrix, B: Matrix) -> None:
    """Refuse a configuration where rows that were judged redundant are not: B would not keep them."""
    parts = coordinates.partition
    if not parts.redundant.size:
        return
    others = J[parts.redundant]
    off = np.abs(others[:, coordinates.held] + others[:, parts.dependent] @ B).max(axis=1, initial=0.0)
    if off.max() > SAME_RANK * largest(J) * (1.0 + largest(B)):
        wrong = off > SAME_RANK * largest(J) * (1.0 + largest(B))
        raise RankError(tuple(coordinates.constraint_set.row_name(int(i)) for i in parts.redundant[wrong]))
