"""Closed states: configuration, velocity and the terms of acceleration of a closed mechanism, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from liegroups.arguments import finite_number
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ..errors import ConstraintError
from ..keywords import names_checked
from ..linear_algebra import largest
from ..loops import ConstraintSet, assemble_position
from ..loops.mobility import CLOSED
from ..loops.set_rows import SetRows
from ..robot import Motion
from ..rows.right_hand_side import RightHandSide
from .closing import LU, driven_at, factorised

if TYPE_CHECKING:
    from .coordinates import MinimalCoordinates

SINGULAR = 1e-12
"""Reciprocal condition of J_v below which a state is a dead point of these coordinates."""


class OpenMechanismError(ConstraintError):
    """A mechanism is open where it must be closed: `worst` is the constraint, `residual` its error, `level` which."""

    def __init__(self, worst: str, residual: float, level: str, remedy: str) -> None:
        self.worst, self.residual, self.level = worst, residual, level
        super().__init__(f"OPEN: '{worst}' is off by {residual:.3g} in {level}; {remedy}")


class DeadPointError(ConstraintError):
    """J_v is singular at a closed state: the dependent coordinates do not follow from the others there."""

    def __init__(self, rcond: float, dependent: tuple[str, ...]) -> None:
        self.rcond, self.dependent = rcond, dependent
        super().__init__(
            f"dead point: J_v is singular (reciprocal condition {rcond:.2g}) in {', '.join(dependent)}; "
            "make new coordinates there, `minimal_coordinates(constraint_set, q)`"
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class ClosedState:
    r"""A closed mechanism at one instant: closed in position and velocity; accelerations follow by `acceleration`.

    .. math:: v_v = B\,v_{uc} + (-J_v)^{-1}(-\dot y), \qquad a_v = B\,a_{uc} + b', \qquad b' = -J_v^{-1}\,(\dot J v)[h]

    Attributes:
        coordinates: which columns follow from which.
        q: (nq,), closed.
        v: (nv,), closed.
        t: time [s].
        rhs: right-hand sides of the rows at t, with their rates.
        rows: errors, rates, Jacobian and drift of all rows.
        lu: of -J_v, computed once.
        B: (r, nu + nc), dependent velocities from independent and driven ones.
        drift: b' (r,), dependent accelerations where the others have none.
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
        """The state of the robot, `robot.at(q, v)`."""
        return self.coordinates.constraint_set.robot.at(self.q, self.v)

    def acceleration(self, a: Vector) -> Vector:
        """Acceleration (nv,) whose dependent part is that of the rows.

        Args:
            a: (nv,), of which the independent and driven parts count, as of `coordinates.spread`.
        """
        parts = self.coordinates.partition
        whole = np.array(a)
        whole[parts.dependent] = self.B @ whole[self.coordinates.held] + self.drift
        return whole

    def __repr__(self) -> str:
        return f"ClosedState(t {self.t:g}, {self.coordinates!r})"


@names_checked("options are named: t=, close=, rhs=")
def closed_state(
    coordinates: MinimalCoordinates,
    q: ArrayLike,
    v: ArrayLike | None = None,
    *,
    t: float = 0.0,
    close: bool = False,
    rhs: RightHandSide | None = None,
) -> ClosedState:
    """A closed state from a configuration and a velocity.

    Args:
        coordinates: independent, driven and dependent ones.
        q: (nq,).
        v: (nv,); at rest by default.
        t: time of driven joints and of targets of rows [s].
        close: compute the dependent parts of q and v, and those driven in time, from the others; without it a state
            that is open is refused.
        rhs: right-hand sides with their rates; those at t by default.

    Raises:
        OpenMechanismError: the state is open in position or velocity; or it does not close.
        DeadPointError: J_v is singular there.
        SizeError, NotFiniteError, NotNormalizedError: what is wrong with an argument.

    Source: `mbs_close_geo`, `mbs_close_kin` and `mbs_calc_jdqd` of Robotran.
    """
    constraint_set, parts = coordinates.constraint_set, coordinates.partition
    robot = constraint_set.robot
    time = finite_number(t, "time of a closed state")
    sides = coordinates.rhs_at(time) if rhs is None else rhs
    place = np.array(robot.check(q))
    speed = np.zeros(robot.nv) if v is None else np.array(robot.space.check_tangent(v, "v"))
    if close:
        place = np.array(coordinates.close(place, t=time, rhs=sides).or_raise().q)
        for joint, target in coordinates.targets.items():
            speed[robot.velocity_slice_of(joint)] = target.velocity_at(time, robot.segments(joint).space)
    _check_driven(coordinates, place, time)
    rows = constraint_set.rows_at(robot.at(place, speed), sides)
    _check_closed(constraint_set, rows.position, "position", CLOSED)
    h, dependent, held = parts.rows, parts.dependent, coordinates.held
    J = rows.jacobian
    lu = factorised(J[np.ix_(h, dependent)])
    if lu.rcond < SINGULAR:
        raise DeadPointError(lu.rcond, coordinates.dependent)
    if close:
        speed[dependent] += lu.solve(rows.velocity[h])
        rows = constraint_set.rows_at(robot.at(place, speed), sides)
    _check_closed(constraint_set, rows.velocity, "velocity", CLOSED * (1.0 + largest(speed)))
    B = lu.solve(J[np.ix_(h, held)])
    return ClosedState(
        coordinates, read_only(place), read_only(speed), time, sides, rows, lu, B, lu.solve(rows.drift[h])
    )


def closed_configuration(constraint_set: ConstraintSet, q: ArrayLike, t: float, close: bool) -> Vector:
    """A closed configuration: q itself, or where it is open and `close` was asked for, the nearest one."""
    at = np.array(constraint_set.robot.check(q))
    sides = constraint_set.rhs_at(t)
    error = constraint_set.position_error(at, sides)
    if close and largest(error) > 0.0:
        return assemble_position(constraint_set, at, rhs=sides).or_raise().q
    _check_closed(constraint_set, error, "position", CLOSED)
    return at


def _check_driven(coordinates: MinimalCoordinates, q: Vector, t: float) -> None:
    """Refuse a state where a driven joint is not where its function of time has it."""
    space = coordinates.constraint_set.robot.space
    off = np.abs(space.difference(q, driven_at(coordinates, q, t)))
    if off.max(initial=0.0) > CLOSED:
        name = max(coordinates.targets, key=lambda joint: off[_columns(coordinates, joint)].max())
        raise OpenMechanismError(
            name, float(off.max()), f"the motion that drives it, at t = {t:g}", "say close=True to move it there"
        )


def _columns(coordinates: MinimalCoordinates, joint: str) -> slice:
    return coordinates.constraint_set.robot.velocity_slice_of(joint)


def _check_closed(constraint_set: ConstraintSet, error: Vector, level: str, most: float) -> None:
    if largest(error) <= most:
        return
    name, size = max(constraint_set.stack.norms(error), key=lambda entry: entry[1])
    raise OpenMechanismError(name, size, level, "say close=True, or close it first: assemble_position")
