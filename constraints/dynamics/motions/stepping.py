"""One step of a motion on the manifold: schemes, and how constraints are kept."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import TangentLike, Vector

from ...errors import NotFiniteError, UndefinedError
from ...loops import ConstraintSet
from ...loops.set_rows import SetRows
from ...robot import Motion
from ...rows.right_hand_side import RightHandSide
from ..forward import ForwardDynamics, forward_dynamics
from ..law import Law, NoEnergyError
from ..laws.forces import Forces
from ..status import DynamicsStatus, Method
from .metric_projection import Errors, MetricProjection
from .record import MotionStatus

AGREEMENT = 1e-3
"""Part of the size of the accelerations up to which rows may contradict each other, without projection."""

InTime = Forces | Callable[..., TangentLike | None]
"""What acts in time: `Forces`, or generalised ones, f(motion) or f(motion, t) -> tau (nv,), by joint, or None."""


class Scheme(Enum):
    """How a motion is integrated."""

    RK4 = "Runge-Kutta-Munthe-Kaas of order 4: four accelerations per step, also on rotations and placements"
    SEMI_IMPLICIT_EULER = "order 1: one acceleration per step, then the configuration from the new velocity"

    def __repr__(self) -> str:
        return str(self)


class Correction(Enum):
    """How a motion keeps its constraints."""

    PROJECTION = "every state is projected onto the constraints, in the metric of the mass matrix"
    BAUMGARTE = "only by the stabilisation of the constraint set; without one the constraints drift"

    def __repr__(self) -> str:
        return str(self)


class Halt(Exception):
    """The motion cannot go on: `status`, and more words. Caught where the motion is recorded."""

    def __init__(self, status: MotionStatus, reason: str = "") -> None:
        self.status, self.reason = status, reason
        super().__init__(reason)


class State(NamedTuple):
    """A state of a motion with its accelerations.

    Attributes:
        t: time [s].
        motion: configuration and velocity.
        dynamics: accelerations and multipliers there.
    """

    t: float
    motion: Motion
    dynamics: ForwardDynamics


@final
class Stepper:
    """Steps of a motion.

    Args:
        constraint_set: what holds.
        forces: what acts.
        scheme, correction: how.
        method: of the dynamics.
        tolerance: of the projection.
    """

    def __init__(
        self,
        constraint_set: ConstraintSet,
        forces: Forces | Law | None,
        scheme: Scheme,
        correction: Correction,
        method: Method | str,
        tolerance: float,
    ) -> None:
        self._forces, self._method, self._tolerance = forces, method, tolerance
        self._advance = {Scheme.RK4: self._runge_kutta, Scheme.SEMI_IMPLICIT_EULER: self._euler}[scheme]
        self._projects = correction is Correction.PROJECTION
        self._moves = any(owner.target is not None for owner in constraint_set.stack)
        self.hold(constraint_set)

    def hold(self, constraint_set: ConstraintSet) -> None:
        """From now on these constraints hold."""
        self.constraint_set = constraint_set
        self.robot = constraint_set.robot
        self._projection = MetricProjection(constraint_set, self._tolerance)

    def rhs(self, t: float) -> RightHandSide | None:
        """Right-hand sides at a time, where some move."""
        return self.constraint_set.rhs_at(t) if self._moves else None

    def errors(self, rows: SetRows) -> Errors:
        """How far a state with these rows is from the constraints."""
        return self._projection.errors(rows)

    def closed(self, t: float, motion: Motion) -> Motion:
        """The state, projected where that is the correction.

        Raises:
            Halt: it cannot be projected.
        """
        if not self._projects:
            return motion
        found = self._projection.project(motion, self.rhs(t))
        if isinstance(found, Errors):
            words = f"'{found.worst}' is off by {found.position:.3g}, its rate by {found.velocity:.3g}"
            raise Halt(MotionStatus.NOT_PROJECTED, f"At {t:.6g} s {words}")
        return found

    @staticmethod
    def _as_it_is(t: float, motion: Motion) -> Motion:
        del t
        return motion

    def state(self, t: float, motion: Motion) -> State:
        """A state with its accelerations, whatever their status."""
        given = self._forces
        laws = given.at(t) if isinstance(given, Forces) else ()
        tau = None if given is None or isinstance(given, Forces) else given.in_time(t, motion)
        rhs = self.rhs(t)
        found = forward_dynamics(self.constraint_set, motion, tau, method=self._method, external=laws, rhs=rhs)
        return State(t, motion, found)

    def force_energy(self, t: float, motion: Motion) -> float | None:
        """Potential energy of the forces [J]; None if one has none, or the forces are a function; NaN if undefined."""
        given = self._forces
        if not isinstance(given, Forces):
            return 0.0 if given is None else None
        try:
            return given.at(t).energy(motion.q)
        except NoEnergyError:
            return None
        except (NotFiniteError, UndefinedError):
            return np.nan

    def check(self, state: State) -> None:
        """Refuse accelerations that are none.

        Rows that repeat others contradict each other by the errors of a state, in a singular pose by much, and no
        acceleration meets them all. Where states are projected, projection judges the step that comes of it.

        Raises:
            Halt: they are not determined, or the rows contradict.
        """
        found = state.dynamics
        if found.success:
            return
        reason = f"At {state.t:.6g} s: {found.status.name}, {found.status.value}"
        if found.status is DynamicsStatus.INCONSISTENT:
            if self._projects:
                return
            system = found.system
            gap = float(np.abs(system.jacobian @ found.acceleration - system.gamma).max(initial=0.0))
            size = 1.0 + float(system.v @ system.v) + float(np.abs(system.gamma).max(initial=0.0))
            if gap <= AGREEMENT * size:
                return
            reason += f" They are off by {gap:.3g}"
        overflow = found.status is DynamicsStatus.NOT_FINITE
        raise Halt(MotionStatus.NOT_FINITE if overflow else MotionStatus.NO_ACCELERATION, reason.rstrip("."))

    def advance(self, state: State, h: float) -> Motion:
        """The motion a time h later.

        Args:
            state: whose accelerations are good (`check`).
            h: [s].

        Raises:
            Halt: there is none.
        """
        try:
            return self._advance(state, h)
        except NotFiniteError as error:
            raise Halt(MotionStatus.NOT_FINITE, str(error)) from None
        except (UndefinedError, np.linalg.LinAlgError) as error:
            raise Halt(MotionStatus.NO_ACCELERATION, str(error)) from None

    def between(self, state: State, later: Motion, h: float, s: float) -> Motion:
        """The motion a time s after a state, from what it is at h: where a step ends in a singular pose, and fails.

        Velocities are quadratic in time, with the acceleration of the state, and the configuration follows them.

        Args:
            state: at 0.
            later: at h.
            h, s: [s], s at most h.
        """
        space, part = self.robot.space, s / h
        v, a = state.motion.v, state.dynamics.acceleration
        bend = later.v - v - h * a
        behind = s * (v + s * (0.5 * a + part * bend / (3.0 * h)))
        whole = h * (v + h * (0.5 * a + bend / (3.0 * h)))
        left = space.difference(space.integrate(state.motion.q, whole), later.q)  # what the cubic lacks at h
        q = space.integrate(space.integrate(state.motion.q, behind), part**3 * (4.0 - 3.0 * part) * left)
        return self.robot.at(q, v + s * a + part**2 * bend)

    def _euler(self, state: State, h: float) -> Motion:
        v = state.motion.v + h * state.dynamics.acceleration
        q = self.robot.space.integrate(state.motion.q, h * v)
        return self.closed(state.t + h, self.robot.at(q, v))

    def _runge_kutta(self, state: State, h: float) -> Motion:
        r"""Classical Runge-Kutta of :math:`(u, v)` with :math:`q = q_0 \oplus u`, :math:`\dot u = J_{log}(u)\, v`.

        Intermediate states are off the constraints by the square of the step, enough for rows that repeat others to
        contradict them: where there are such rows, and states are projected, the intermediate ones are too.
        """
        found = state.dynamics
        is_full = found.status is DynamicsStatus.SOLVED or found.row_space.is_full  # but for rows of zeros
        closed = self._as_it_is if is_full else self.closed
        q0, v0, t, space = state.motion.q, state.motion.v, state.t, self.robot.space
        u_rates, v_rates = [v0], [state.dynamics.acceleration]
        for part in (0.5, 0.5, 1.0):
            later = t + part * h
            q = space.integrate(q0, part * h * u_rates[-1])
            motion = closed(later, self.robot.at(q, v0 + part * h * v_rates[-1]))
            there = self.state(later, motion)
            self.check(there)
            rate, moved = motion.v.copy()[:, None], np.zeros(space.nv)
            space.error(q0, motion.q, moved, rate)
            u_rates.append(rate[:, 0])
            v_rates.append(there.dynamics.acceleration)
        q = space.integrate(q0, h * _mean(u_rates))
        return self.closed(t + h, self.robot.at(q, v0 + h * _mean(v_rates)))


def _mean(k: list[Vector]) -> Vector:
    return (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3]) / 6.0
