"""One step of a motion on the manifold: schemes, and how constraints are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, TangentLike, Vector

from ...dynamics.methods.status import DynamicsStatus
from ...errors import NotFiniteError, UndefinedError
from ...loops import ConstraintSet
from ...loops.set_rows import SetRows
from ...robot import Motion
from ...rows.right_hand_side import RightHandSide
from ..forward import forward_dynamics
from ..laws.forces import Forces
from ..laws.law import Law, NoEnergyError
from .metric_projection import Errors, MetricProjection
from .record import MotionStatus
from .remarks import BURST, TOO_LONG
from .runge_kutta import (
    BROKEN,
    Accuracy,
    Halt,
    StageState,
    StepResult,
    dense_output,
    explicit_step,
    halted,
    implicit_step,
    power,
)
from .simulation_options import Correction, Scheme, SimulationOptions, tableau_of
from .stiffness import Stiffness, stiffness_at
from .tableaux import RK4

AGREEMENT_OF_ROWS = 1e-3
"""Part of the size of the accelerations up to which rows may contradict each other, without projection."""

DISAGREEMENT = 0.25
"""Part of a rate by which the two in the middle of a step of order 4 may differ, where nothing jumps."""

InTime = Forces | Callable[..., TangentLike | None]
"""What acts in time: `Forces`, or generalised ones, f(motion) or f(motion, t) -> tau (nv,), by joint, or None."""


@final
class Stepper:
    """Steps of a motion.

    Args:
        constraint_set: what holds.
        forces: what acts.
        scheme: how they are integrated.
        options: how the rest is done.

    Attributes:
        tableau: coefficients of the scheme; None where it has none.
        evaluations: accelerations computed so far.
    """

    def __init__(
        self, constraint_set: ConstraintSet, forces: Forces | Law | None, scheme: Scheme, options: SimulationOptions
    ) -> None:
        self.forces, self._options = forces, options
        self.tableau = tableau_of(scheme)
        self.accuracy, self.evaluations = Accuracy(options.rtol, options.atol), 0
        self._projects = options.correction is Correction.PROJECTION
        self._moves = any(owner.target is not None for owner in constraint_set.stack)
        self.hold(constraint_set)

    def hold(self, constraint_set: ConstraintSet) -> None:
        """Use these constraints from now on."""
        self.constraint_set = constraint_set
        self.robot = constraint_set.robot
        self._acting = None if self.forces is None else self.forces.under(constraint_set)
        self._last: StageState | None = None
        self._projection = MetricProjection(constraint_set, self._options.tolerance)

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
            words += f": {TOO_LONG}" if found.velocity > BURST else ""
            raise Halt(MotionStatus.NOT_PROJECTED, f"At {t:.6g} s {words}")
        return found

    def stages_are_closed(self, state: StageState) -> bool:
        """Whether states within a step are projected: where rows repeat others, but for rows of zeros."""
        found = state.dynamics
        return self._projects and not (found.status is DynamicsStatus.SOLVED or found.row_space.is_full)

    def state(self, t: float, motion: Motion) -> StageState:
        """A state with its accelerations, whatever their status."""
        if self._last is not None and self._last.motion is motion and self._last.t == t:
            return self._last
        given = self._acting
        laws = given.at(t) if isinstance(given, Forces) else ()
        tau = None if given is None or isinstance(given, Forces) else given.in_time(t, motion)
        rhs = self.rhs(t)
        self.evaluations += 1
        found = forward_dynamics(self.constraint_set, motion, tau, method=self._options.method, external=laws, rhs=rhs)
        self._last = StageState(t, motion, found)
        return self._last

    def force_energy(self, t: float, motion: Motion) -> float | None:
        """Potential energy of the forces [J]; None if one has none, or the forces are a function; NaN if undefined."""
        given = self._acting
        if not isinstance(given, Forces):
            return 0.0 if given is None else None
        try:
            return given.at(t).energy(motion.q)
        except NoEnergyError:
            return None
        except (NotFiniteError, UndefinedError):
            return np.nan

    def check(self, state: StageState) -> None:
        """Raise where the dynamics have no solution.

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
            if gap <= AGREEMENT_OF_ROWS * size:
                return
            reason += f" They are off by {gap:.3g}"
        overflow = found.status is DynamicsStatus.NOT_FINITE
        raise Halt(MotionStatus.NOT_FINITE if overflow else MotionStatus.NO_ACCELERATION, reason.rstrip("."))

    def take(self, state: StageState, h: float) -> StepResult:
        """A step of duration h.

        Args:
            state: whose accelerations are good (`check`).
            h: [s].

        Raises:
            Halt: there is none.
        """
        try:
            if self.tableau is None:
                return self._euler(state, h)
            step = implicit_step if self.tableau.is_implicit else explicit_step
            return step(self, self.tableau, state, h)
        except BROKEN as error:
            raise halted(error) from None

    def leap(self, state: StageState, h: float) -> StepResult:
        """Two steps of order 4 over h, with their error from one of twice the length: as `take`, where stages are few.

        Beside a singular pose the stages of a method of high order end on other branches; those of this one do not.
        """
        try:
            whole = explicit_step(self, RK4, state, h)
            half = explicit_step(self, RK4, state, 0.5 * h)
            middle = self.state(state.t + 0.5 * h, half.motion)
            self.check(middle)
            rest = explicit_step(self, RK4, middle, 0.5 * h)
        except BROKEN as error:
            raise halted(error) from None
        for each in (half, rest):
            self._refuse_a_jump(state, each.slopes[:, :-1], 0.5 * h)
        gap = np.concatenate(
            [self.robot.space.difference(whole.motion.q, rest.motion.q), rest.motion.v - whole.motion.v]
        )
        return StepResult(rest.motion, half.work + rest.work, (gap / 15.0,))

    def _refuse_a_jump(self, state: StageState, slopes: Matrix, h: float) -> None:
        """Refuse a step of order 4 whose two rates in the middle disagree: a force jumps there.

        Friction that changes its sign at each stage adds up to none, in steps of any length: the estimates are zero.

        Raises:
            Halt: they do.
        """
        gap, size = np.abs(slopes[1] - slopes[2]), np.abs(slopes).max(axis=0)
        little = self.accuracy.scale(state.motion.v, state.motion.v) / h
        if (gap > DISAGREEMENT * size + little).any():
            raise Halt(MotionStatus.STEP_TOO_SHORT, f"At {state.t:.6g} s, where a force jumps")

    def advance(self, state: StageState, h: float) -> Motion:
        """The motion a time h later; as `take`."""
        return self.take(state, h).motion

    def inside(self, state: StageState, step: StepResult, end: StageState) -> Callable[[float], Motion]:
        """The motion a time s after the start of a step that was taken, without a step of its own."""
        h = end.t - state.t
        if self.tableau is not None and self.tableau.dense.size and step.slopes.size:
            try:
                return dense_output(self, self.tableau, state, step, end)
            except (Halt, *BROKEN):
                pass  # at a stage that it needs beside those of the step; `between` needs none
        return lambda s: self.between(state, step.motion, h, s)

    def stiffness(self, state: StageState) -> Stiffness:
        """How accelerations change with the state."""
        given, t, found = self._acting, state.t, state.dynamics
        closes = self.stages_are_closed(state)
        nv = len(state.motion.v)

        def push(motion: Motion) -> Vector:
            tau: Any = None if given is None or isinstance(given, Forces) else given.in_time(t, motion)
            return np.zeros(nv) if tau is None else np.array(self.robot.space.check_tangent(tau, "tau"))

        def near(motion: Motion) -> Vector:
            there = self.closed(t, motion) if closes else motion
            return self.state(t, there).dynamics.acceleration

        is_function = given is not None and not isinstance(given, Forces)
        return stiffness_at(found, state.motion, push if is_function else None, closes, near)

    def between(self, state: StageState, later: Motion, h: float, s: float) -> Motion:
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

    def _euler(self, state: StageState, h: float) -> StepResult:
        """Semi-implicit Euler; the work is that of the mean of the powers before and after."""
        a = state.dynamics.acceleration
        v = state.motion.v + h * a
        q = self.robot.space.integrate(state.motion.q, h * v)
        motion = self.closed(state.t + h, self.robot.at(q, v))
        powers = power(state.motion, a), power(motion, self.state(state.t + h, motion).dynamics.acceleration)
        return StepResult(motion, 0.5 * h * sum(powers))
