"""Targets: points of a group over time, their velocities and accelerations, restriction and reversal."""

from __future__ import annotations

import pickle

import numpy as np
import pinocchio as pin
import pytest
from robots import arm

from constraints import Implicit, Pose, Position, Problem, Target
from constraints.errors import ConstraintError, DtypeError, NotFiniteError, OptionError, SizeError, WrongObjectError
from liegroups import SE3, SO3, R3xSO3, Rn, Space

AXIS = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])


def angle(t: float) -> tuple[float, float, float]:
    """An angle over time, its speed and its acceleration."""
    return 0.4 * t + 0.3 * np.sin(t), 0.4 + 0.3 * np.cos(t), -0.3 * np.sin(t)


def turn(t: float) -> np.ndarray:
    """A rotation about a fixed axis: its body velocity is the speed of the angle along the axis."""
    return pin.Quaternion(pin.exp3(angle(t)[0] * AXIS)).coeffs()


def turn_velocity(t: float) -> np.ndarray:
    return angle(t)[1] * AXIS


def turn_acceleration(t: float) -> np.ndarray:
    return angle(t)[2] * AXIS


def rise(t: float) -> np.ndarray:
    return np.array([0.3, 0.1 * t, 0.5 + 0.05 * t * t])


MOTIONS: list[tuple[Space, Target, Target]] = [
    (SO3, Target(turn), Target(turn, turn_velocity, turn_acceleration)),
    (Rn(3), Target(rise), Target(rise, lambda t: np.array([0.0, 0.1, 0.1 * t]), lambda t: np.array([0.0, 0.0, 0.1]))),
    (
        R3xSO3,
        Target(lambda t: np.r_[rise(t), turn(t)]),
        Target(
            lambda t: np.r_[rise(t), turn(t)],
            lambda t: np.r_[0.0, 0.1, 0.1 * t, turn_velocity(t)],
            lambda t: np.r_[0.0, 0.0, 0.1, turn_acceleration(t)],
        ),
    ),
    (
        SE3,
        Target(lambda t: np.r_[rise(t), turn(t)]),
        Target(
            lambda t: np.r_[rise(t), turn(t)],  # the linear body velocity is the world's, turned into the body
            lambda t: np.r_[pin.exp3(-angle(t)[0] * AXIS) @ [0.0, 0.1, 0.1 * t], turn_velocity(t)],
        ),
    ),
]


@pytest.mark.parametrize(("space", "bare", "full"), MOTIONS, ids=lambda x: str(x) if isinstance(x, Space) else "")
def test_velocities_and_accelerations_by_differences(space, bare, full):
    """Property 4: what is not given is a difference along the group, 1e-8 and 1e-4 of the closed form."""
    for t in np.linspace(-2.0, 3.0, 21):
        np.testing.assert_allclose(bare.velocity_at(t, space), full.velocity_at(t, space), rtol=0, atol=1e-8)
        if full.acceleration is not None:
            exact = full.acceleration_at(t, space)
            np.testing.assert_allclose(bare.acceleration_at(t, space), exact, rtol=0, atol=1e-4)
            half = Target(full.value, full.velocity)  # differences of an exact velocity
            np.testing.assert_allclose(half.acceleration_at(t, space), exact, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("start", "end"), [(0.5, 1.5), (1.5, 0.5), (0.0, 2.0), (2.0, 0.0), (1.0, 1.0)])
def test_restriction_and_reversal(start, end):
    """Property 4: a restricted target has its own time from 0; reversed, velocities change sign, accelerations not."""
    _, _, whole = MOTIONS[0]
    whole = Target(whole.value, whole.velocity, whole.acceleration, (0.0, 2.0))
    part, sign = whole.restricted(start, end), np.sign(end - start) or 1.0
    assert part.interval == (0.0, abs(end - start))
    for s in np.linspace(0.0, abs(end - start), 7):
        t = start + sign * s
        np.testing.assert_array_equal(part.at(s), whole.at(t))
        np.testing.assert_array_equal(part.velocity_at(s, SO3), sign * whole.velocity_at(t, SO3))
        np.testing.assert_array_equal(part.acceleration_at(s, SO3), whole.acceleration_at(t, SO3))
    bare = Target(whole.value, interval=(0.0, 2.0)).restricted(start, end)
    if start != end:
        middle = 0.5 * abs(end - start)
        np.testing.assert_allclose(bare.velocity_at(middle, SO3), part.velocity_at(middle, SO3), rtol=0, atol=1e-8)


def test_restriction_of_a_restriction():
    """Property 4: restrictions compose."""
    whole = Target(rise, interval=(0.0, 4.0))
    part = whole.restricted(3.0, 1.0).restricted(0.5, 1.5)
    np.testing.assert_allclose(part.at(0.25), rise(2.25), rtol=0, atol=1e-15)


def test_differences_stay_inside_the_interval():
    """Property 4: at the ends of its interval a target is not asked for values outside."""

    def value(t: float) -> np.ndarray:
        assert 0.0 <= t <= 1.0
        return rise(t)

    target = Target(value, interval=(0.0, 1.0))
    for t, speed in ((0.0, 0.0), (1.0, 0.1)):
        np.testing.assert_allclose(target.velocity_at(t, Rn(3)), [0.0, 0.1, speed], rtol=0, atol=1e-6)
        np.testing.assert_allclose(target.acceleration_at(t, Rn(3)), [0.0, 0.0, 0.1], rtol=0, atol=1e-3)


def test_problem_rhs_at():
    """Property 4: rhs_at(t) has the points of all targets with their velocities and accelerations; others rest."""
    robot = arm()
    turning = Implicit.equal(Pose(robot, "tool", outputs=R3xSO3), MOTIONS[2][2], name="turning")
    still = Implicit.equal(Position(robot, "elbow"), [0.1, 0.2, 0.3], name="still")
    problem = Problem(robot, [turning, still])
    for t in (0.0, 0.7, 2.5):
        rhs = problem.rhs_at(t)
        np.testing.assert_array_equal(rhs.of("still"), [0.1, 0.2, 0.3])
        np.testing.assert_array_equal(rhs.of("turning"), np.r_[rise(t), turn(t)])
        assert rhs.velocity is not None
        assert rhs.acceleration is not None
        np.testing.assert_array_equal(rhs.velocity, np.r_[0.0, 0.1, 0.1 * t, turn_velocity(t), np.zeros(3)])
        np.testing.assert_array_equal(rhs.acceleration, np.r_[0.0, 0.0, 0.1, turn_acceleration(t), np.zeros(3)])
    moved = problem.rhs_at(1.0).replace("still", [1.0, 1.0, 1.0])
    assert moved.velocity is not None
    np.testing.assert_array_equal(moved.velocity, problem.rhs_at(1.0).velocity)


def test_one_clock_for_every_call():
    """Property 21: evaluation reads no clock: the same t gives the same bits."""
    problem = Problem(arm(), [Implicit.equal(Pose(arm(), "tool"), MOTIONS[3][1])])
    assert problem.rhs_at(0.3).vector.tobytes() == problem.rhs_at(0.3).vector.tobytes()


@pytest.mark.parametrize(
    ("use", "kind", "said"),
    [
        (lambda: Target("rise"), WrongObjectError, "value of a Target: expected a function of time"),  # type: ignore[arg-type]
        (lambda: Target(rise, velocity=3), WrongObjectError, "velocity of a Target"),  # type: ignore[arg-type]
        (lambda: Target(rise, interval=(2.0, 1.0)), OptionError, "start 2 is after end 1"),
        (lambda: Target(rise, interval=(np.nan, 1.0)), OptionError, "interval of a Target"),
        (lambda: Target(rise, interval=(1.0,)), WrongObjectError, "interval of a Target"),  # type: ignore[arg-type]
        (lambda: Target(rise, interval=(1.0, 2.0, 3.0)), WrongObjectError, "interval of a Target"),  # type: ignore[arg-type]
        (lambda: Target(rise, interval="ab"), WrongObjectError, "interval of a Target"),  # type: ignore[arg-type]
        (lambda: Target(rise, interval=(1.0, "2")), WrongObjectError, "interval of a Target"),  # type: ignore[arg-type]
        (lambda: Target(rise, interval=3.0), WrongObjectError, "interval of a Target"),  # type: ignore[arg-type]
        (lambda: Target(rise, lambda: [1.0]), WrongObjectError, r"called as velocity\(t\)"),  # type: ignore[arg-type, misc]
        (lambda: Target(rise).at(np.nan), NotFiniteError, "time of a Target"),
        (lambda: Target(rise).at("now"), WrongObjectError, "time of a Target"),  # type: ignore[arg-type]
        (lambda: Target(rise, interval=(0.0, 1.0)).at(1.5), OptionError, r"time 1.5 s is outside the interval"),
        (lambda: Target(rise, interval=(0.0, 1.0)).restricted(0.0, 2.0), OptionError, "time 2 s is outside"),
        (lambda: Target(lambda t: ["a"]).at(0.0), DtypeError, "value of a target at t = 0"),
        (lambda: Target(rise, lambda t: [1.0]).velocity_at(0.0, Rn(3)), SizeError, "velocity of a target"),
        (
            lambda: Target(rise, None, lambda t: [np.inf] * 3).acceleration_at(0.0, Rn(3)),
            NotFiniteError,
            "acceleration",
        ),
    ],
)
def test_refusals(use, kind, said):
    """Property 9: what is wrong with a target, or with what it returns, is named."""
    with pytest.raises(kind, match=said):
        use()


def test_wrong_values_later_name_the_constraint():
    """Property 9: a value that goes wrong at some time is refused then, with the constraint."""
    target = Target(lambda t: rise(t) if t < 1.0 else rise(t)[:2])
    problem = Problem(arm(), [Implicit.equal(Position(arm(), "tool"), target, name="climb")])
    problem.rhs_at(0.5)
    with pytest.raises(ConstraintError, match="'climb'"):
        problem.rhs_at(2.0)


def test_targets_pickle():
    """Property 21: a target of named functions pickles, restricted and reversed too."""
    target = Target(turn, turn_velocity, turn_acceleration, (0.0, 2.0)).restricted(2.0, 0.5)
    again = pickle.loads(pickle.dumps(target))
    np.testing.assert_array_equal(again.at(0.4), target.at(0.4))
    np.testing.assert_array_equal(again.velocity_at(0.4, SO3), target.velocity_at(0.4, SO3))
