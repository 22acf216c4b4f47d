"""How long the steps of a motion are: of one duration, or as long as their error allows."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import Vector

from .record import MotionStatus
from .runge_kutta import BROKEN, Halt, StageState, StepResult
from .stepping import Stepper

SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 10.0
"""Part of the step that the estimate allows which is taken; how much shorter and longer the next one may be."""

BROKEN_FACTOR = 0.25
"""How much shorter the next step is after one that had no result."""

SHORTEST_STEP_OF_MOTION = 1e-14
"""Part of the duration of a motion below which a step is none."""

MANY, TINY_STEP_OF_MOTION = 1000, 1e-5
"""Where so many steps are below this part of the duration, in the mean, they are too short to go on."""

LEAPS = (0.1, 0.05, 0.02)
"""Parts of the longest step so far that are tried by steps of order 4 where steps become shorter than all of them."""

MOST_TURN_OF_A_STEP = 1.5
"""Most that a joint with rotations turns in a step [rad]: a rotation vector is unique up to half a turn."""


class Taken(NamedTuple):
    """A step with the time of its end [s]."""

    step: StepResult
    end: float


@final
class FixedPace:
    """Steps as long as the grid of times says.

    Args:
        stepper: takes the steps.
    """

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper

    def take(self, state: StageState, limit: float) -> Taken:
        """A step from a state to a time.

        Raises:
            Halt: there is none.
        """
        return Taken(self._stepper.take(state, limit - state.t), limit)

    def restart(self) -> None:
        """Nothing to forget."""


@final
class AdaptivePace:
    """Steps whose estimated error is below what is allowed: as long as possible.

    Args:
        stepper: takes the steps; its scheme has an estimate.
        duration: of the whole motion [s].
        longest: longest step [s].
    """

    def __init__(self, stepper: Stepper, duration: float, longest: float) -> None:
        self._stepper, self._duration, self._longest = stepper, duration, longest
        self._next: float | None = None
        self._most, self._leapt = 0.0, np.inf
        self._tried = 0
        self._begin: float | None = None
        space = stepper.robot.space
        turning = [np.arange(space.nv)[f.v] for f in space.factors if f.space.nq != f.space.nv]
        self._turning = np.concatenate([*turning, np.zeros(0, dtype=np.intp)])

    def restart(self) -> None:
        """Begin with a short step: the motion has changed."""
        self._next, self._most, self._leapt = None, 0.0, np.inf

    def take(self, state: StageState, limit: float) -> Taken:
        """The next step that is accurate enough, to at most a time; as `FixedPace.take`."""
        left = limit - state.t
        h = min(self._first(state) if self._next is None else self._next, self._longest)
        was_rejected, broken = False, Halt(MotionStatus.STEP_TOO_SHORT)
        while True:
            self._watch(state.t)
            if was_rejected and h < LEAPS[-1] * self._most and h < 0.25 * self._leapt:
                self._leapt = h
                leap = self._leap(state, left)
                if leap is not None:
                    self._next = leap.end - state.t
                    return leap
            h = min(h, self._most_turn(state))
            whole = h >= left * (1.0 - 1e-12)
            if not whole and 2.0 * h > left:
                h_now = 0.5 * left  # two like steps, not one and a sliver
            else:
                h_now = left if whole else h
            if h_now < max(SHORTEST_STEP_OF_MOTION * self._duration, 16.0 * float(np.spacing(abs(state.t)))):
                raise broken
            try:
                step = self._stepper.take(state, h_now)
            except Halt as halt:
                broken, h, was_rejected = halt, BROKEN_FACTOR * h_now, True
                continue
            size = self._size(state, step)
            if not np.isfinite(size):
                broken, h, was_rejected = Halt(MotionStatus.NOT_FINITE), BROKEN_FACTOR * h_now, True
                continue
            factor = self._factor(size)
            if size > 1.0:
                words = f"At {state.t:.6g} s, where {h_now:.3g} s is too long"
                broken, h, was_rejected = Halt(MotionStatus.STEP_TOO_SHORT, words), factor * h_now, True
                continue
            self._most, self._leapt = max(self._most, h_now), np.inf if not was_rejected else self._leapt
            self._next = (min(factor, 1.0) if was_rejected else factor) * h_now
            if h_now < h:  # cut by the end, not by its error
                self._next = max(self._next, h)
            return Taken(step, limit if whole and h_now == left else state.t + h_now)

    def _leap(self, state: StageState, left: float) -> Taken | None:
        """Over a place where steps become short, by few stages; None where that is not accurate enough."""
        for part in LEAPS:
            h = min(part * self._most, self._most_turn(state))
            if h >= left:
                continue
            try:
                step = self._stepper.leap(state, h)
            except Halt:
                continue
            if self._size(state, step) <= 1.0:
                return Taken(step, state.t + h)
        return None

    def _factor(self, size: float) -> float:
        falls = 1.0 if self._stepper.tableau is None else float(self._stepper.tableau.falls)
        if size == 0.0:
            return MOST_FACTOR
        return float(np.clip(SAFETY * size ** (-1.0 / falls), LEAST_FACTOR, MOST_FACTOR))

    def _size(self, state: StageState, step: StepResult) -> float:
        """The estimated error of a step, as a part of what is allowed."""
        scale = self._stepper.accuracy.scale(state.motion.v, step.motion.v)
        return damped_size([each / scale for each in step.estimates])

    def _most_turn(self, state: StageState) -> float:
        if not self._turning.size:
            return np.inf
        speed = float(np.abs(state.motion.v[self._turning]).max())
        return MOST_TURN_OF_A_STEP / speed if speed > 0.0 else np.inf

    def _first(self, state: StageState) -> float:
        """A first step, by the size of the rates and of their change.

        Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4.
        """
        stepper, v, a = self._stepper, state.motion.v, state.dynamics.acceleration
        scale = stepper.accuracy.scale(v, v)
        size = _rms(np.concatenate([np.ones_like(v), v]) / scale)
        rate = _rms(np.concatenate([v, a]) / scale)
        h = min(0.01 * size / rate if rate > 1e-5 else 1e-6, self._duration, self._longest)
        order = 8.0 if stepper.tableau is None else float(stepper.tableau.falls)
        try:
            q = stepper.robot.space.integrate(state.motion.q, h * v)
            there = stepper.state(state.t + h, stepper.closed(state.t + h, stepper.robot.at(q, v + h * a)))
        except (Halt, *BROKEN):
            return h
        change = np.concatenate([there.motion.v - v, there.dynamics.acceleration - a])
        bend = max(rate, _rms(change / scale) / h)
        return min(100.0 * h, (0.01 / bend) ** (1.0 / order) if bend > 1e-15 else self._duration)

    def _watch(self, t: float) -> None:
        """Refuse to go on where steps are so short that the end is out of reach."""
        if self._begin is None:
            self._begin = t
        self._tried += 1
        if self._tried > MANY:
            if t - self._begin < MANY * TINY_STEP_OF_MOTION * self._duration:
                raise Halt(MotionStatus.STEP_TOO_SHORT, f"At {t:.6g} s, after {MANY} steps since {self._begin:.6g} s")
            self._begin, self._tried = t, 0


Pace = FixedPace | AdaptivePace
"""What takes the next step."""


def damped_size(estimates: list[Vector]) -> float:
    """The size of an error from its scaled estimates: of two, the better one as far as the rougher one allows it.

    Source: the program `dop853` of Hairer, Norsett and Wanner.
    """
    if not estimates:
        return 0.0
    fine = float(estimates[0] @ estimates[0])
    if len(estimates) == 1:
        return float(np.sqrt(fine / len(estimates[0])))
    rough = float(estimates[1] @ estimates[1])
    if fine == 0.0 and rough == 0.0:
        return 0.0
    return fine / float(np.sqrt((fine + 0.01 * rough) * len(estimates[0])))


def _rms(x: Vector) -> float:
    return float(np.sqrt(np.mean(x * x))) if x.size else 0.0
