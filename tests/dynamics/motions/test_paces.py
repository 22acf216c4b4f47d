"""How long the next step is, by the error of this one; balances of energy and implicit steps, by their definitions."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from math import inf, nan, pi
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dynamics.motions.test_floor import G, box, particle
from robots import arm

from constraints.dynamics import MotionStatus
from constraints.dynamics.events.balance import POOR, STEADY_ENERGY, EnergyBalance, energies
from constraints.dynamics.motions.pace import (
    LEAPS,
    MANY,
    MOST_TURN_OF_A_STEP,
    SAFETY,
    TINY_STEP_OF_MOTION,
    AdaptivePace,
    FixedPace,
)
from constraints.dynamics.motions.runge_kutta import Accuracy, Halt, StepResult
from constraints.dynamics.motions.stiffness import Stiffness

PARTICLE = particle()


class Steps:
    """A stepper whose errors are a function of the duration of a step; it remembers what was asked."""

    def __init__(self, error: Any, robot: Any = None, leap: Any = None, falls: float | None = 5.0) -> None:
        self.robot, self.accuracy, self.error, self.leaps = robot or PARTICLE, Accuracy(0.0, 1.0), error, leap
        self.tableau = None if falls is None else SimpleNamespace(falls=falls)
        self.asked, self.leapt = list[float](), list[float]()

    def _step(self, state: Any, size: float) -> StepResult:
        if size < 0.0:
            raise Halt(MotionStatus.NO_ACCELERATION, "broken")
        return StepResult(state.motion, 0.0, (np.full(2 * self.robot.nv, size),))

    def take(self, state: Any, h: float) -> StepResult:
        self.asked.append(h)
        return self._step(state, self.error(h))

    def leap(self, state: Any, h: float) -> StepResult:
        self.leapt.append(h)
        return self._step(state, -1.0 if self.leaps is None else self.leaps(h))


def pace(steps: Steps, first: float = 0.1, duration: float = 100.0, longest: float = inf) -> AdaptivePace:
    made = AdaptivePace(steps, duration, longest)  # pyright: ignore[reportArgumentType]
    made._next = first
    return made


def at(t: float, robot: Any = None, v: Any = None) -> Any:
    robot = robot or PARTICLE
    return SimpleNamespace(t=t, motion=robot.at(robot.neutral, np.zeros(robot.nv) if v is None else v))


@pytest.mark.parametrize(
    ("size", "factor"), [(0.0, 10.0), (1e-12, 10.0), (0.9**5, 1.0), (1.0, SAFETY), (1e-5, 9.0), (0.5, 0.9 * 2.0**0.2)]
)
def test_the_next_step_is_as_long_as_the_error_lets_it(size: float, factor: float) -> None:
    steps = Steps(lambda h: size)
    own = pace(steps)
    taken = own.take(at(2.0), 50.0)
    assert taken.end == 2.1
    assert steps.asked == [0.1]
    assert own._next == pytest.approx(0.1 * factor, rel=1e-12)
    assert pace(Steps(lambda h: size, falls=None))._factor(4.0) == pytest.approx(max(0.9 / 4.0, 0.2))


@pytest.mark.parametrize(("size", "factor"), [(1.0 + 1e-9, 0.9), (32.0, 0.45), (1e9, 0.2), (nan, 0.25), (-1.0, 0.25)])
def test_a_step_that_is_not_accurate_is_shorter_and_the_next_one_is_no_longer(size: float, factor: float) -> None:
    """Whether its error is too large, no number, or it broke off; what is done again may not grow at once."""
    steps = Steps(lambda h: size if h == 0.1 else 1e-9)
    own = pace(steps)
    taken = own.take(at(0.0), 50.0)
    assert steps.asked == pytest.approx([0.1, 0.1 * factor], rel=1e-8)
    assert taken.end == steps.asked[1]
    assert own._next == steps.asked[1]


@pytest.mark.parametrize(
    ("first", "left", "asked", "ends", "then"),
    [
        (0.1, 0.1, 0.1, True, 0.9),
        (0.1, 0.1 * (1.0 + 0.9e-12), 0.1 * (1.0 + 0.9e-12), True, 0.9),
        (0.1, 0.1 * (1.0 + 1e-11), 0.05 * (1.0 + 1e-11), False, 0.45),
        (0.1, 0.199, 0.0995, False, 0.8955),
        (0.1, 0.2, 0.1, False, 0.9),
        (0.1, 0.3, 0.1, False, 0.9),
        (0.1, 0.04, 0.04, True, 0.36),
        (0.1, 1e-3, 1e-3, True, 0.1),
    ],
)
def test_the_last_steps_before_a_limit_are_alike(
    first: float, left: float, asked: float, ends: bool, then: float
) -> None:
    """A step is cut at the limit, or to half of what is left, and the end cuts no step after it."""
    steps = Steps(lambda h: 1e-5)
    own = pace(steps, first)
    taken = own.take(at(0.0), left)
    assert steps.asked == [pytest.approx(asked, rel=1e-13)]
    assert (taken.end == left) == ends
    assert own._next == pytest.approx(then, rel=1e-9)


def test_steps_are_no_longer_than_the_longest_and_turn_no_joint_too_far() -> None:
    steps = Steps(lambda h: 1e-9)
    pace(steps, 0.5, longest=0.3).take(at(0.0), 50.0)
    assert steps.asked == [0.3]
    robot = box()
    v = np.array([9.0, 0.0, 0.0, 0.0, -4.0, 3.0])
    turning = Steps(lambda h: 1e-9, robot)
    pace(turning, 5.0).take(at(0.0, robot, v), 50.0)
    assert turning.asked == [
        MOST_TURN_OF_A_STEP / 9.0
    ]  # a free joint: all of its rates are those of its rotation vector
    still = Steps(lambda h: 1e-9, robot)
    pace(still, 5.0).take(at(0.0, robot), 50.0)
    assert still.asked == [5.0]
    plain = Steps(lambda h: 1e-9, arm())
    pace(plain, 5.0).take(at(0.0, arm(), np.full(7, 100.0)), 50.0)
    assert plain.asked == [5.0]
    assert pi > 2.0 * MOST_TURN_OF_A_STEP


@pytest.mark.parametrize("size", [2.0, nan, -1.0])
def test_steps_that_never_become_accurate_end_and_say_why(size: float) -> None:
    steps = Steps(lambda h: size)
    with pytest.raises(Halt) as halt:
        pace(steps).take(at(1.0), 50.0)
    expected = {2.0: MotionStatus.STEP_TOO_SHORT, -1.0: MotionStatus.NO_ACCELERATION}.get(size, MotionStatus.NOT_FINITE)
    assert halt.value.status is expected
    assert min(steps.asked) >= 1e-12  # 1e-14 of the duration, 100 s
    assert min(steps.asked) < 5e-12
    if size == 2.0:
        assert halt.value.reason.startswith("At 1 s, where ")


def test_steps_by_order_four_are_tried_where_others_become_short() -> None:
    """A tenth, a twentieth, a fiftieth of the longest; then only once they are four times shorter still."""
    for works in LEAPS:
        steps = Steps(lambda h: 1e9 if h > 1e-4 else 1e-9, leap=lambda h, w=works: 0.5 if h <= 1.001 * w else 2.0)
        own = pace(steps, 0.5)
        own._most = 1.0
        taken = own.take(at(3.0), 53.0)
        assert steps.leapt == [part for part in LEAPS if part >= works]
        assert taken.end == 3.0 + works
        assert own._next == pytest.approx(works, rel=1e-12)
    steps = Steps(lambda h: 1e9 if h > 1e-4 else 1e-9)
    own = pace(steps, 0.5)
    own._most = 1.0
    own.take(at(0.0), 50.0)
    tried = [h for h in steps.asked if h < LEAPS[-1]]
    assert len(steps.leapt) == 3 * sum(a < 0.25 * b for a, b in zip(tried, [inf, *tried], strict=False))
    own.restart()
    assert (own._next, own._most, own._leapt) == (None, 0.0, inf)
    near = Steps(lambda h: 1e9 if h > 1e-4 else 1e-9, leap=lambda h: 0.5)
    own = pace(near, 0.06)
    own._most = 1.0
    assert own.take(at(0.0), 0.1).end == 0.05
    assert near.leapt == [0.05]  # a tenth is all that is left: no step over it


def hairers(v: np.ndarray, a: np.ndarray, change: Any, accuracy: Accuracy, falls: float) -> float:
    """The first step of Hairer, Norsett and Wanner, II.4, of positions of size one."""
    of_v = accuracy.atol + accuracy.rtol * np.abs(v)
    scale = np.concatenate([np.full(v.size, accuracy.atol + accuracy.rtol), of_v])
    d0, d1 = (np.linalg.norm(np.concatenate(x) / scale) / np.sqrt(scale.size) for x in ((np.ones(v.size), v), (v, a)))
    h0 = 0.01 * d0 / d1 if d1 > 1e-5 else 1e-6
    d2 = np.linalg.norm(change(h0) / scale) / np.sqrt(scale.size) / h0
    return min(100.0 * h0, (0.01 / max(d1, d2)) ** (1.0 / falls))


@pytest.mark.parametrize("falls", [8.0, 4.0])
@pytest.mark.parametrize(("stiffness", "speed"), [(1.0, 0.0), (400.0, 2.0), (1e8, 0.1), (1e-4, 50.0)])
def test_the_first_step_is_that_of_hairer(falls: float, stiffness: float, speed: float) -> None:
    """By the size of the rates, and of their change over a short step, on a spring."""
    accuracy, v = Accuracy(1e-6, 1e-5), speed * np.array([0.6, 0.0, -0.8])
    q = np.array([1.0, -0.5, 0.25])

    def state(t: float, motion: Any) -> Any:
        a = -stiffness * motion.q
        return SimpleNamespace(t=t, motion=motion, dynamics=SimpleNamespace(acceleration=a))

    stepper: Any = SimpleNamespace(
        accuracy=accuracy, tableau=SimpleNamespace(falls=falls), robot=PARTICLE, state=state, closed=lambda t, m: m
    )
    a = -stiffness * q

    def change(h: float) -> np.ndarray:
        return np.concatenate([h * a, -stiffness * h * v])

    here = state(2.0, PARTICLE.at(q, v))
    expected = hairers(v, a, change, accuracy, falls)
    assert AdaptivePace(stepper, 1e9, inf)._first(here) == pytest.approx(expected, rel=1e-9)
    for short in (0.5 * expected, 1e-3 * expected):
        assert AdaptivePace(stepper, short, inf)._first(here) <= 100.0 * short
        assert AdaptivePace(stepper, 1e9, short)._first(here) <= 100.0 * short


@pytest.mark.parametrize("way", [0.0, 20.0])
def test_many_steps_that_lead_nowhere_end(way: float) -> None:
    """After a thousand, where they are shorter than 1e-5 of the duration on average, whatever came before."""
    for part, ends in ((0.99, True), (1.01, False)):
        steps, t, said, most = Steps(lambda h: 0.9**5), 0.0, "", MANY + 200 + (MANY if way else 0)
        own = pace(steps)
        for i in range(most):
            own._next = part * TINY_STEP_OF_MOTION * 100.0
            try:
                t = own.take(at(t), 50.0).end + (way if i == 0 else 0.0)
            except Halt as halt:
                said = halt.reason
                break
        assert len(steps.asked) == (most - 200 + bool(way) if ends else most)
        assert said.startswith(f"At {t:.6g} s, after {MANY} steps since " if ends else "")
        assert bool(said) is ends


def test_a_fixed_pace_goes_to_the_limit() -> None:
    steps = Steps(lambda h: 99.0)
    assert FixedPace(steps).take(at(1.0), 1.5).end == 1.5  # pyright: ignore[reportArgumentType]
    assert steps.asked == [0.5]


# Energy.


def test_the_balance_of_energy_is_what_it_says() -> None:
    robot = particle()

    def state(z: float, vz: float) -> Any:
        return robot.at([0.0, 0.0, z], [0.0, 0.0, vz])

    own = EnergyBalance(state(1.0, 2.0))
    assert energies(state(1.0, 2.0)) == (pytest.approx(2.0), pytest.approx(G))
    assert own.basis == pytest.approx(STEADY_ENERGY * 2.0)
    own.step(state(0.5, 3.0), 0.25)
    error = 4.5 - 2.0 - 0.5 * G - 0.25
    assert (own.work, own.exchanged) == (0.25, pytest.approx(2.5))
    assert (own.error, own.worst) == (pytest.approx(error), pytest.approx(abs(error)))
    own.step(state(0.5, 1.0), -1.0)
    assert own.work == pytest.approx(-0.75)
    assert own.error == pytest.approx(error - 4.0 + 1.0)
    assert own.exchanged == pytest.approx(6.5)
    assert own.worst == pytest.approx(max(abs(error), abs(error - 3.0)))
    before = own.error, own.work, own.exchanged
    own.reset(state(9.0, 7.0))
    assert (own.error, own.work, own.exchanged) == before
    own.step(state(9.0, 7.0), 0.0)
    assert own.error == pytest.approx(before[0])


@pytest.mark.parametrize(("part", "is_poor"), [(0.99, False), (1.01, True), (nan, True)])
def test_a_balance_is_poor_beyond_a_hundredth_of_what_was_exchanged(part: float, is_poor: bool) -> None:
    robot = particle()
    own = EnergyBalance(robot.at(np.zeros(3), [0.0, 0.0, 2.0]))
    own.step(robot.at(np.zeros(3), [0.0, 0.0, 4.0]), 6.0 - part * POOR * 6.0)
    assert own.is_poor == is_poor
    steady = EnergyBalance(robot.at(np.zeros(3), [0.0, 0.0, 2.0]))
    steady.step(robot.at(np.zeros(3), [0.0, 0.0, 2.0]), -part * POOR * STEADY_ENERGY * 2.0)
    assert steady.is_poor == is_poor


# Implicit steps.


def test_an_implicit_step_solves_with_the_derivative_of_both_rates() -> None:
    rng = np.random.default_rng(3)
    by_q, by_v = rng.normal(0.0, 1.0, (2, 4, 4))
    F = np.block([[np.zeros((4, 4)), np.eye(4)], [by_q, by_v]])
    for part in (0.1, 0.37):
        right = rng.normal(0.0, 1.0, 8)
        found = Stiffness(by_q, by_v).solver(part)(right)
        np.testing.assert_allclose((np.eye(8) - part * F) @ found, right, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="implicit step"):
        Stiffness(np.zeros((2, 2)), 2.0 * np.eye(2)).solver(0.5)
