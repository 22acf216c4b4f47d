"""Projection of a state onto constraints, in the metric of the mass matrix."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...loops import ConstraintSet
from ...loops.set_rows import SetRows
from ...robot import Motion
from ...rows.right_hand_side import RightHandSide
from ..methods.saddle_point import Solution, solve_direct

MOST_STEPS = 20
"""Newton steps of one projection. A step of an integrator takes one or two."""

RATES, LEAST_RATE = 10.0, 1e-7
"""How much more than the tolerance rates may be off, and by how much in any case, relative to the size of the velocity.

Rows that repeat others do so only up to the errors of the configuration, and what does not count is not projected."""

LEFT = 1e-6
"""How far what no motion reaches may be off: a loop that is planar but for the digits of its file, out of its plane."""

ROUNDING_OF_ROW_VELOCITY = 1e-14
"""Rates below this part of the size of the velocity are rounding, and left alone."""


class Errors(NamedTuple):
    """How far a state is from its constraints.

    Attributes:
        position: largest norm of the errors of one constraint.
        velocity: largest norm of their rates.
        worst: name of the constraint that is farthest off.
    """

    position: float
    velocity: float
    worst: str


@final
class MetricProjection:
    r"""The nearest state that satisfies the constraints, where distance is kinetic energy.

    Newton steps of the configuration, each the least in the metric of the mass matrix at its start,

    .. math:: \min_{dq} \tfrac12\, dq^T M\, dq \quad \text{such that} \quad J\, dq = -e

    on the rows that have a position, then the velocity exactly, :math:`\min_w \tfrac12 (w - v)^T M (w - v)` such that
    :math:`J w = \dot y`: what an impact without restitution does. Redundant rows and massless bodies are no special
    case. A state that satisfies the constraints comes back as it is.

    Args:
        constraint_set: what is on in it holds.
        tolerance: largest error norm of a constraint.
    """

    def __init__(self, constraint_set: ConstraintSet, tolerance: float) -> None:
        self._set, self._tolerance = constraint_set, tolerance
        self._slices = [(owner.name, rows) for owner, rows in constraint_set.on]
        has_place = np.zeros(constraint_set.size, dtype=np.bool_)
        for owner, rows in constraint_set.on:
            has_place[rows] = owner.has_position
        self._placed = np.flatnonzero(has_place)
        self._none = np.zeros(constraint_set.robot.nv)

    def errors(self, rows: SetRows) -> Errors:
        """How far a state is from the constraints, from its rows."""
        position = {name: _norm(rows.position[s]) for name, s in self._slices}
        velocity = {name: _norm(rows.velocity[s]) for name, s in self._slices}
        both = {name: max(position[name], velocity[name]) for name in position}
        worst = max(both, key=lambda name: both[name], default="")
        return Errors(max(position.values(), default=0.0), max(velocity.values(), default=0.0), worst)

    def project(self, motion: Motion, rhs: RightHandSide | None) -> Motion | Errors:
        """The nearest state on the constraints; or, where there is none, how far off the best one is."""
        robot, v = self._set.robot, motion.v
        rows, last = self._set.rows_at(motion, rhs), np.inf
        errors = least = self.errors(rows)
        for _ in range(MOST_STEPS):
            least = errors if errors.position < least.position else least
            if errors.position <= self._tolerance:
                return self._with_velocity(motion, rows, rhs)
            M, J, e = motion.mass_matrix(), rows.jacobian[self._placed], rows.position[self._placed]
            found = self._least(M, J, -e)
            dq, within = found.acceleration, self._placed_part(rows, found.row_space.met(e))
            if within.position <= self._tolerance and errors.position <= LEFT:
                return self._with_velocity(motion, rows, rhs)
            if not (within.position < last and np.isfinite(dq).all()):  # not a number, or no progress
                return least
            last = within.position
            motion = robot.at(robot.space.integrate(motion.q, dq), v)
            rows = self._set.rows_at(motion, rhs)
            errors = self.errors(rows)
        return errors if errors.position < least.position else least

    def _with_velocity(self, motion: Motion, rows: SetRows, rhs: RightHandSide | None) -> Motion | Errors:
        """The state with the nearest velocity that keeps the rows."""
        size = 1.0 + float(np.abs(motion.v).max(initial=0.0))
        if float(np.abs(rows.velocity).max(initial=0.0)) <= ROUNDING_OF_ROW_VELOCITY * size:
            return motion
        found = self._least(motion.mass_matrix(), rows.jacobian, -rows.velocity)
        dv = found.acceleration
        left = rows.velocity + rows.jacobian @ dv
        within = self.errors(rows._replace(velocity=found.row_space.met(left)))
        errors = self.errors(rows._replace(velocity=left))
        most = max(RATES * self._tolerance, LEAST_RATE)
        if not (within.velocity <= most * size and errors.velocity <= max(most, LEFT) * size):
            return errors
        return self._set.robot.at(motion.q, motion.v + dv)

    def _placed_part(self, rows: SetRows, within: Vector) -> Errors:
        """How far a state is off along what motions can reduce; `within` are such errors of rows with a position."""
        position = np.zeros_like(rows.position)
        position[self._placed] = within
        return self.errors(rows._replace(position=position))

    def _least(self, M: Matrix, J: Matrix, wanted: Vector) -> Solution:
        """The least motion in the metric M with J x = wanted; what the rows cannot meet, by least squares."""
        return solve_direct(M, J, self._none, wanted, rounding=self._set.rounding)


def _norm(x: Any) -> float:
    return float(np.sqrt(x @ x))
