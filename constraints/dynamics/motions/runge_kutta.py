"""Steps of Runge-Kutta methods on the manifold, after Munthe-Kaas: explicit and implicit ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only

from ...errors import NotFiniteError, UndefinedError
from ...robot import Motion
from ..forward import ForwardDynamics
from .record import MotionStatus
from .tableaux import Tableau

if TYPE_CHECKING:
    from .stepping import Stepper

MOST_SOLVES = 12
"""Newton steps of a stage."""

SOLVED = 0.02
"""Part of the tolerances up to which the equation of a stage is solved."""

SLOW_NEWTON = 0.9
"""Part of the last Newton step from which on the next one is no progress."""


NOTHING: Matrix = read_only(np.zeros(0))
"""Where a scheme has no stages."""


class Halt(Exception):
    """The motion cannot go on: `status`, and more words. Caught where the motion is recorded."""

    def __init__(self, status: MotionStatus, reason: str = "") -> None:
        self.status, self.reason = status, reason
        super().__init__(reason)


class Accuracy(NamedTuple):
    """What error a step may have.

    Attributes:
        rtol: part of a velocity; and of 1 m or 1 rad.
        atol: [m, rad, m/s, rad/s].
    """

    rtol: float
    atol: float

    def scale(self, before: Vector, after: Vector) -> Vector:
        """The error that each entry of position and velocity may have (2 nv,), from velocities (nv,)."""
        of_velocity = self.atol + self.rtol * np.maximum(np.abs(before), np.abs(after))
        return np.concatenate([np.full(len(before), self.atol + self.rtol), of_velocity])


class StageState(NamedTuple):
    """A state of a motion with its accelerations.

    Attributes:
        t: time [s].
        motion: configuration and velocity.
        dynamics: accelerations and multipliers there.
    """

    t: float
    motion: Motion
    dynamics: ForwardDynamics


class StepResult(NamedTuple):
    r"""Result of a step.

    Attributes:
        motion: at its end, on the constraints.
        work: of all forces but gravity, and of moving constraints, integrated by the method [J].
        estimates: estimates (2 nv,) of the error of position and velocity, the best first; none where the method has
            none.
        slopes: :math:`(\dot u, \dot v, P)` at the stages (s, 2 nv + 1).
        moved: :math:`(u, v - v_0, W)` at the end (2 nv + 1,), before projection.
    """

    motion: Motion
    work: float
    estimates: tuple[Vector, ...] = ()
    slopes: Matrix = NOTHING
    moved: Vector = NOTHING


def power(motion: Motion, acceleration: Vector) -> float:
    r"""Power of all forces but gravity, and of moving constraints [W]: :math:`v^T (M a + h)`."""
    return float(motion.v @ (motion.inertial_force(acceleration) + motion.bias_force()))


class Start:
    r"""Rates of :math:`(u, v)` with :math:`q = q_0 \oplus u`, :math:`\dot u = J_{log}(u)\, v`, from a state.

    Intermediate states are off the constraints by the square of the step, enough for rows that repeat others to
    contradict them: where there are such rows, and states are projected, the intermediate ones are too. A method then
    integrates the accelerations at the projection, which are those of the motion on the constraints, and smooth.

    Args:
        places: the equations of motion.
        state: where the step begins, with good accelerations.
        h: its duration [s].
    """

    def __init__(self, places: Stepper, state: StageState, h: float) -> None:
        self.places, self.state, self.h = places, state, h
        self.n = len(state.motion.v)
        self.closes = places.stages_are_closed(state)
        v, a = state.motion.v, state.dynamics.acceleration
        self.first = np.concatenate([v, a, [power(state.motion, a)]])

    def motion(self, moved: Vector) -> Motion:
        """The motion at (u, v - v0)."""
        robot, at, n = self.places.robot, self.state.motion, self.n
        return robot.at(robot.space.integrate(at.q, moved[:n]), at.v + moved[n : 2 * n])

    def rate(self, moved: Vector, part: float) -> Vector:
        """Rates (2 nv + 1,) at (u, v - v0), and the power there, at a part of the step."""
        t, space = self.state.t + part * self.h, self.places.robot.space
        motion = self.motion(moved)
        if self.closes:
            motion = self.places.closed(t, motion)
        there = self.places.state(t, motion)
        self.places.check(there)
        rate, unused = motion.v.copy()[:, None], np.zeros(space.nv)
        space.error(self.state.motion.q, motion.q, unused, rate)
        a = there.dynamics.acceleration
        return np.concatenate([rate[:, 0], a, [power(motion, a)]])

    def step(self, slopes: Matrix, moved: Vector, estimates: tuple[Vector, ...]) -> StepResult:
        """The step that comes of its stages."""
        motion = self.places.closed(self.state.t + self.h, self.motion(moved))
        return StepResult(motion, float(moved[-1]), estimates, slopes, moved)


def explicit_step(places: Stepper, tableau: Tableau, state: StageState, h: float) -> StepResult:
    """A step of an explicit method."""
    start = Start(places, state, h)
    slopes = np.zeros((len(tableau.b), 2 * start.n + 1))
    slopes[0] = start.first
    for i in range(1, len(slopes)):
        slopes[i] = start.rate(h * (tableau.a[i, :i] @ slopes[:i]), tableau.c[i])
    weights = [each for each in (tableau.error, tableau.rough) if each.size]
    estimates = tuple(h * (each @ slopes)[:-1] for each in weights)
    return start.step(slopes, h * (tableau.b @ slopes), estimates)


def implicit_step(places: Stepper, tableau: Tableau, state: StageState, h: float) -> StepResult:
    r"""A step of a diagonally implicit method whose last stage is its result.

    Stages are solved for by Newton steps with the derivatives of the accelerations at the start of the step,

    .. math:: (I - h\gamma A_v - h^2\gamma^2 A_q)\,\delta v = -r_v - h\gamma A_q r_u, \qquad
        \delta u = h\gamma\,\delta v - r_u

    Raises:
        Halt: a stage was not solved.
    """
    start, n = Start(places, state, h), len(state.motion.v)
    part = h * float(tableau.a[-1, -1])
    solve = places.stiffness(state).solver(part)
    scale = places.accuracy.scale(state.motion.v, state.motion.v)
    slopes = np.zeros((len(tableau.b), 2 * n + 1))
    slopes[0], moved = start.first, np.zeros(2 * n + 1)
    for i in range(1, len(slopes)):
        known = h * (tableau.a[i, :i] @ slopes[:i])
        moved = known + part * slopes[i - 1]
        slopes[i] = _stage(start, tableau.c[i], known, moved, part, solve, scale)
        moved = known + part * slopes[i]
    error = h * (tableau.error @ slopes)[: 2 * n]
    return start.step(slopes, moved, (solve(error),))


def _stage(
    start: Start, at: float, known: Vector, moved: Vector, part: float, solve: Callable[[Vector], Vector], scale: Vector
) -> Vector:
    """Rates of a stage: of y = known + part * rate(y), by Newton from `moved`."""
    n, last = start.n, np.inf
    for _ in range(MOST_SOLVES):
        rate = start.rate(moved, at)
        change = -solve((moved - known - part * rate)[: 2 * n])
        moved = moved.copy()
        moved[: 2 * n] += change
        size = float(np.sqrt(np.mean((change / scale) ** 2)))
        moved[-1] = known[-1] + part * rate[-1]
        if size <= SOLVED:
            return (moved - known) / part
        if not size < SLOW_NEWTON * last and size > 1e3:
            break
        last = size
    words = f"At {start.state.t:.6g} s, a step of {start.h:.3g} s"
    raise Halt(MotionStatus.STAGE_NOT_SOLVED, words)


def dense_output(
    places: Stepper, tableau: Tableau, state: StageState, step: StepResult, end: StageState
) -> Callable[[float], Motion]:
    """The motion a time s after the start of an explicit step, by the published interpolation of order 7.

    The tableau is one with dense output, and `end` the state that the step came to.

    Raises:
        Halt: a further stage has no acceleration.
    """
    h = end.t - state.t
    start, space = Start(places, state, h), places.robot.space
    s, more = len(tableau.b), tableau.more
    slopes = np.zeros((s + 1 + len(more), 2 * start.n + 1))
    slopes[:s] = step.slopes
    rate, moved = end.motion.v.copy()[:, None], np.zeros(space.nv)
    space.error(state.motion.q, end.motion.q, moved, rate)
    slopes[s] = np.concatenate([rate[:, 0], end.dynamics.acceleration, [0.0]])
    for i, row in enumerate(more, s + 1):
        slopes[i] = start.rate(h * (row[:i] @ slopes[:i]), float(row.sum()))
    whole = step.moved
    parts = [whole, h * slopes[0] - whole, 2.0 * whole - h * (slopes[s] + slopes[0]), *(h * (tableau.dense @ slopes))]

    def at(time: float) -> Motion:
        x = time / h
        y = np.zeros_like(whole)
        for k, each in enumerate(reversed(parts)):
            y = (y + each) * (x if k % 2 == 0 else 1.0 - x)
        motion = start.motion(y)
        try:
            return places.closed(state.t + time, motion)
        except Halt:
            return motion

    return at


def halted(error: Exception) -> Halt:
    """The end of a motion by an error: numbers that overflow, equations without a solution; itself if it is one."""
    if isinstance(error, Halt):
        return error
    overflow = isinstance(error, NotFiniteError)
    return Halt(MotionStatus.NOT_FINITE if overflow else MotionStatus.NO_ACCELERATION, str(error))


BROKEN = (NotFiniteError, UndefinedError, np.linalg.LinAlgError)
"""What a step may raise that is no mistake of the user."""
