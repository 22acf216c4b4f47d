"""Measures: closed forms, plain pinocchio, 50 digits, near singular places, as constraints and as a last level."""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi, sin, sqrt
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from mpmath import mp as _mp
from robots import arm, humanoid
from samples import humanoid_frames, mixed_frames, two_arms_frames

from constraints import Function, Implicit, Options, Orientation, Pose, Position, Problem, Projector, Robot, Rotation
from constraints.errors import (
    ConstraintError,
    OptionError,
    SizeError,
    UndefinedError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.functions import (
    Constant,
    Identity,
    Manipulability,
    SmallestSingularValue,
    limit_distance,
    norm,
    squared_distance,
    stack,
)
from constraints.testing.derivatives import jacobian_error
from liegroups import SE3, SO3, Rn

mp: Any = _mp
ARM = arm()
TOOL = Position(ARM, "tool")
LINKS = 0.7, 0.4
PLANAR = Robot.from_urdf(
    "<robot name='planar'><link name='a'/><link name='b'/><link name='c'/><link name='tip'/>"
    "<joint name='first' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint>"
    f"<joint name='second' type='continuous'><parent link='b'/><child link='c'/><origin xyz='{LINKS[0]} 0 0'/>"
    "<axis xyz='0 0 1'/></joint>"
    "<joint name='end' type='fixed'><parent link='c'/><child link='tip'/>"
    f"<origin xyz='{LINKS[1]} 0 0'/></joint></robot>"
)
"""Two links in a plane: the determinant of the Jacobian of the tip is l1 l2 sin of the second angle."""
TIP = Position(PLANAR, "tip")[:2]


def bent(first: float, second: float) -> np.ndarray:
    return np.array([np.cos(first), np.sin(first), np.cos(second), np.sin(second)])


# --- against closed forms and other code -----------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [1.0, -2.0, pi / 2, 1e-2, 1e-6, pi - 1e-4])
def test_two_links_have_the_manipulability_of_the_book(angle: float) -> None:
    value, J = Manipulability(TIP).linearise(bent(0.3, angle))
    assert value[0] == pytest.approx(log(LINKS[0] * LINKS[1] * abs(sin(angle))), rel=1e-9)
    np.testing.assert_allclose(J, [[0.0, 1.0 / np.tan(angle)]], atol=1e-14 * (1.0 + np.abs(J).max()), rtol=1e-8)


@pytest.mark.parametrize("angle", [1.0, -2.0, pi / 2, 1e-2, 1e-6, pi - 1e-4])
def test_two_links_have_the_singular_values_of_fifty_digits(angle: float) -> None:
    with mp.workdps(50):
        l1, l2 = map(mp.mpf, LINKS)

        def least(t: Any) -> Any:
            trace = l1**2 + 2 * l2**2 + 2 * l1 * l2 * mp.cos(t)
            det = (l1 * l2 * mp.sin(t)) ** 2
            return mp.sqrt((trace - mp.sqrt(trace**2 - 4 * det)) / 2)

        expected, slope = float(least(mp.mpf(angle))), float(mp.diff(least, mp.mpf(angle)))
    value, J = SmallestSingularValue(TIP).linearise(bent(-0.4, angle))
    assert value[0] == pytest.approx(expected, abs=1e-14)
    np.testing.assert_allclose(J, [[0.0, slope]], atol=1e-9)


@draws(2, 20)
@pytest.mark.parametrize("robot", [ARM, humanoid_frames(), mixed_frames(), two_arms_frames()], ids=lambda r: r.name)
def test_values_are_those_of_jacobians_of_pinocchio(robot: Robot, count: int) -> None:
    frame = robot.frame("tool" if robot is ARM else "b")
    data, rng = robot.model.createData(), np.random.default_rng(1)
    for _ in range(count):
        q = robot.random(rng)
        pin.computeJointJacobians(robot.model, data, q)
        J = pin.getFrameJacobian(robot.model, data, frame.joint, frame.placement, pin.LOCAL_WORLD_ALIGNED)
        for f, rows in ((Position(robot, frame), J[:3]), (Rotation(robot, frame), J[3:]), (Pose(robot, frame), J)):
            s = np.linalg.svd(rows, compute_uv=False)
            if s[-1] > 1e-9:
                assert Manipulability(f).value(q)[0] == pytest.approx(
                    0.5 * np.linalg.slogdet(rows @ rows.T)[1], rel=1e-7
                )
            assert SmallestSingularValue(f).value(q)[0] == pytest.approx(s[-1], abs=1e-12)


def test_locked_joints_are_left_out() -> None:
    q = ARM.random(np.random.default_rng(2))
    J = TOOL.jacobian(q)
    kept = [i for i, name in enumerate(ARM.joint_names) if name not in ("elbow", "shoulder_yaw")]
    f = Manipulability(TOOL, locked=["elbow", "shoulder_yaw"])
    assert f.value(q)[0] == pytest.approx(0.5 * np.linalg.slogdet(J[:, kept] @ J[:, kept].T)[1])
    assert f.columns[ARM.velocity_slice_of("elbow")].all()  # it moves the others
    wide = SmallestSingularValue(TOOL, locked=["elbow"])
    left = np.delete(J, ARM.velocity_slice_of("elbow").start, axis=1)
    assert wide.value(q)[0] == pytest.approx(np.linalg.svd(left, compute_uv=False)[-1])


@pytest.mark.parametrize("off", [1e-1, 1e-3, 1e-5])
def test_slopes_near_singular_places_are_exact(off: float) -> None:
    """A stretched arm: the slope grows like the inverse of the distance, and stays that of differences."""
    f, least = Manipulability(TIP), SmallestSingularValue(TIP)
    h = 1e-4 * off
    for g in (f, least):
        ahead, behind = (g.value(bent(0.2, off + sign * h))[0] for sign in (1.0, -1.0))
        assert g.jacobian(bent(0.2, off))[0, 1] == pytest.approx((ahead - behind) / (2 * h), rel=1e-6)


def test_singular_configurations_have_no_logarithm_but_a_distance() -> None:
    with pytest.raises(UndefinedError, match="is singular"):
        Manipulability(TIP).value(bent(0.4, 0.0))
    value, J = SmallestSingularValue(TIP).linearise(bent(0.4, 0.0))
    assert value[0] == pytest.approx(0.0, abs=1e-15)
    side = SmallestSingularValue(TIP).jacobian(bent(0.4, 1e-7))
    np.testing.assert_allclose(np.abs(J), np.abs(side), atol=1e-6)  # one of the two sides


def test_a_double_singular_value_has_the_slope_of_one_side() -> None:
    """f = (x, y) scaled by 1 and 1 + z: the smallest value is min(1, 1 + z), or so."""
    f = Identity(Rn(3))[0] * (1.0 + 0.0 * Identity(Rn(3))[0])
    g = Identity(Rn(3))[1] * (1.0 + Identity(Rn(3))[2])
    least = SmallestSingularValue(stack(f, g))
    slope = least.jacobian([0.0, 0.0, 0.0])[0]
    sides = [(least.value([0, 0, h])[0] - least.value([0, 0, 0])[0]) / h for h in (1e-7, -1e-7)]
    assert any(slope[2] == pytest.approx(side, abs=1e-6) for side in sides)
    assert max(sides) == pytest.approx(1.0, abs=1e-6)


def test_limits_are_one_in_the_middle_and_zero_at_the_end() -> None:
    f = limit_distance(ARM)
    low, high = ARM.bounds.lower, ARM.bounds.upper
    for share in (0.0, 0.25, 0.5, 0.9, 1.0):
        np.testing.assert_allclose(f.value(low + share * (high - low)), 1.0 - abs(2.0 * share - 1.0), atol=1e-14)
    beyond = f.value(low - 0.25 * (high - low))
    np.testing.assert_allclose(beyond, -0.5, atol=1e-14)
    some = limit_distance(ARM, ["elbow", "wrist_roll"])
    q = ARM.random(np.random.default_rng(3))
    rows = [i for i, name in enumerate(ARM.joint_names) if name in ("elbow", "wrist_roll")]
    np.testing.assert_array_equal(some.value(q), f.value(q)[rows])
    assert limit_distance(humanoid()).outputs.nv == 26  # the position of a body in space has none


@draws(5, 100)
@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-3, 2.0, pi - 1e-4])
def test_weights_within_a_rotation_have_exact_slopes(angle: float, count: int) -> None:
    """HPP's gradient is wrong there: weights multiply columns behind the chain rule."""
    rng = np.random.default_rng(4)
    for _ in range(count):
        reference, w = SE3.random(rng), rng.uniform(0.0, 3.0, 6)
        axis = rng.normal(size=3)
        step = np.concatenate((rng.normal(size=3), axis / sqrt(axis @ axis) * angle))
        q = SE3.integrate(reference, step)
        f = squared_distance(SE3, reference, w)
        d = pin.log6(pin.XYZQUATToSE3(reference).actInv(pin.XYZQUATToSE3(q))).vector
        assert f.value(q)[0] == pytest.approx(float(w @ (d * d)), rel=1e-9, abs=1e-14)
        assert jacobian_error(f, q) < 2e-7


def test_distances_without_weights_are_plain() -> None:
    f = squared_distance(SO3, SO3.neutral)
    np.testing.assert_allclose(f.value(SO3.exp(np.array([0.3, -0.4, 0.0]))), 0.25)
    np.testing.assert_allclose(f.jacobian(SO3.neutral), 0.0, atol=1e-15)


# --- in problems -----------------------------------------------------------------------------------------------------


@draws(3, 200)
@pytest.mark.parametrize("measure", [Manipulability, SmallestSingularValue])
@pytest.mark.parametrize("engine", ["readable", "compiled"])
def test_problems_are_solved_from_random_starts(measure: Any, engine: str, count: int) -> None:
    """A tool at a point, and at least so far from singularities."""
    f = measure(TOOL)
    least = {"Manipulability": -2.6, "SmallestSingularValue": 0.25}[measure.__name__]
    reach = Implicit.equal(TOOL, [0.35, 0.2, 0.4])
    projector, rng = Projector(Problem(ARM, [reach, Implicit.above(f, least)]), engine=engine), np.random.default_rng(5)
    solved = 0
    for _ in range(count):
        result = projector.project(ARM.random(rng))
        if result.success:
            solved += 1
            s = np.linalg.svd(TOOL.jacobian(result.q), compute_uv=False)
            assert (s[-1] if measure is SmallestSingularValue else np.log(s).sum()) >= least - 1e-3
            np.testing.assert_allclose(ARM.at(result.q).placement("tool").translation, [0.35, 0.2, 0.4], atol=1e-3)
    assert solved >= 0.95 * count


LAST: dict[str, tuple[Callable[[], Implicit], Callable[[Any], float]]] = {
    "Manipulability": (
        lambda: Implicit.above(Manipulability(TOOL), 0.0),
        lambda q: -float(np.log(np.linalg.svd(TOOL.jacobian(q), compute_uv=False)).sum()),
    ),
    "SmallestSingularValue": (
        lambda: Implicit.above(SmallestSingularValue(TOOL), 1.0),
        lambda q: -float(np.linalg.svd(TOOL.jacobian(q), compute_uv=False)[-1]),
    ),
    "limit_distance": (
        lambda: Implicit.above(limit_distance(ARM), 1.0),
        lambda q: float(
            np.linalg.norm((q - 0.5 * (ARM.bounds.lower + ARM.bounds.upper)) / (ARM.bounds.upper - ARM.bounds.lower))
        ),
    ),
    "squared_distance": (
        lambda: Implicit.zero(squared_distance(ARM.space, ARM.reference("home"))),
        lambda q: float(np.linalg.norm(q - ARM.reference("home"))),
    ),
    "difference": (
        lambda: Implicit.zero(Identity(ARM.space) - Constant(ARM.reference("home"), ARM.space, ARM.space)),
        lambda q: float(np.linalg.norm(q - ARM.reference("home"))),
    ),
}


@pytest.mark.parametrize("name", LAST)
def test_as_the_last_level_they_get_better(name: str) -> None:
    make, worth = LAST[name]
    reach = Implicit.equal(TOOL, [0.35, 0.2, 0.4])
    plain = Projector(Problem(ARM, [reach]))
    wanted = Projector(Problem(ARM, [[reach], [make()]], optional_last=True), Options(optimise_last=True))
    better, rng = 0, np.random.default_rng(6)
    for _ in range(4):
        q = plain.project(ARM.random(rng)).or_raise().q
        result = wanted.project(q)
        assert result.success
        np.testing.assert_allclose(ARM.at(result.q).placement("tool").translation, [0.35, 0.2, 0.4], atol=1e-3)
        better += worth(result.q) < worth(q) - 1e-3
    assert better >= 3


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Manipulability("x"), WrongObjectError, "function of Manipulability"),  # pyright: ignore[reportArgumentType]
        (lambda: Manipulability(Pose(PLANAR, "tip")), SizeError, "rows of Pose"),
        (lambda: Manipulability(TOOL, ["nobody"]), UnknownNameError, "nobody"),
        (lambda: Manipulability(TOOL, "elbow"), WrongObjectError, "locked joints"),
        (lambda: SmallestSingularValue(TOOL, list(ARM.joint_names[:5])), SizeError, "1 to 2"),
        (lambda: SmallestSingularValue(Constant([1.0], inputs=ARM.space)), SizeError, "rows of"),
        (lambda: limit_distance(ARM.without_bounds()), OptionError, "joints of a distance"),
        (lambda: limit_distance(ARM, []), OptionError, "joints of a distance"),
        (lambda: limit_distance(ARM, ["nobody"]), UnknownNameError, "nobody"),
        (lambda: squared_distance(ARM.space, [0.0]), SizeError, "constant of R7"),
        (lambda: squared_distance(SO3, SO3.neutral, [1.0, -1.0, 1.0]), OptionError, "weights of a squared distance"),
        (lambda: squared_distance(SO3, SO3.neutral, [1.0]), SizeError, "weights of a squared distance"),
    ],
)
def test_what_does_not_fit_is_named(make: Callable[[], Function], error: type[ConstraintError], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("kind", [Position, Rotation, Pose])
@pytest.mark.parametrize("frames", [("a", None), ("b", "a"), ("a", "b"), ("c", "a")])
@pytest.mark.parametrize("make", [humanoid_frames, two_arms_frames])
def test_what_all_columns_change_by_at_once_is_what_forces_change_by(make: Any, frames: Any, kind: Any) -> None:
    """Of tr(P^T J), in one sum over the joints: the derivative of the forces of each row, times that row of P."""
    f, rng = kind(make(), frames[0], frames[1]), np.random.default_rng(9)
    point = f.robot.at(f.robot.random(rng))
    P = rng.normal(size=(f.outputs.nv, f.inputs.nv))
    expected, slope = np.zeros(f.inputs.nv), np.zeros((f.inputs.nv, f.inputs.nv))
    for e, row in zip(np.eye(len(P)), P, strict=True):
        f.force_derivative(point, e, slope)
        expected += row @ slope
    np.testing.assert_allclose(f.pairing_slope(point, P), expected, rtol=0, atol=1e-12)


def test_a_measure_of_a_formula_is_one_too() -> None:
    f = Manipulability(norm(TOOL - Position(ARM, "elbow")))
    q = ARM.random(np.random.default_rng(8))
    assert f.value(q)[0] == pytest.approx(log(np.linalg.norm(norm(TOOL - Position(ARM, "elbow")).jacobian(q))))
    g = SmallestSingularValue(Orientation(ARM, "tool"))
    assert jacobian_error(g, q) < 1e-6
