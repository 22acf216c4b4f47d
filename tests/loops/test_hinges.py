"""Hinges and their rows: what is free, what is held, coordinates, rates, accelerations, errors."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import enclosure_cases as cases
import mpmath
import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from samples import placement, two_arms_frames

from constraints import Frame, Robot
from constraints.errors import NotNormalizedError, OptionError, SizeError, UndefinedError, WrongObjectError
from constraints.functions import TangentBox
from constraints.loops import Closure, Hinge, HingeError, HingeKind
from constraints.loops.hinges.hinge_fit import fitted, hinge_rows, rate_matrix
from liegroups.unit_vectors import unit_log

HINGES = {
    "locked": Hinge.locked(),
    "pin": Hinge.pin([0.6, 0.0, 0.8]),
    "slider": Hinge.slider([0.0, 1.0, 0.0]),
    "helical": Hinge.helical([0.0, 0.6, 0.8], 0.3),
    "universal": Hinge.universal([0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]),
    "hooke": Hinge.hooke([1.0, 0.0, 0.0], [0.6, 0.8, 0.0]),
    "cylindrical": Hinge.cylindrical([1.0, 0.0, 0.0]),
    "two sliders": Hinge.two_sliders([0.0, 0.6, 0.8]),
    "planar": Hinge.planar([0.0, 0.6, -0.8]),
    "gimbal": Hinge.gimbal(),
    "ball": Hinge.ball(),
    "translational": Hinge.translational(),
    "free": Hinge.free(),
    "custom": Hinge.custom([Hinge.pin([0.0, 0.0, 1.0]), Hinge.slider([1.0, 0.0, 0.0]), Hinge.pin([0.0, 1.0, 0.0])]),
    "composed": Closure.masked(two_arms_frames(), "a", "b", [True, False, True, False, True, True]).hinge,
}
DOFS = dict(zip(HINGES, (0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 6, 3, 2), strict=True))
SLOW = {"custom"}  # fitted by Newton


def coordinates(hinge: Hinge, rng: np.random.Generator) -> np.ndarray:
    """Anywhere in a circle, short of where pins of a universal or gimbal hinge line up."""
    space = hinge.space
    q = space.random(rng, np.full(space.nq, -2.5), np.full(space.nq, 2.5))
    if hinge.kind is HingeKind.GIMBAL:
        q[1] *= 0.5
    return q


@functools.cache
def free_body() -> Robot:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3), pin.SE3.Identity())
    return Robot(model, "body")


def closure_of(hinge: Hinge) -> Closure:
    """The body's own frame seen from a placement in the world."""
    return Closure(free_body(), placement(40), Frame("tip", 1, placement(41), "body"), hinge, name="closure")


def body_at(pose: pin.SE3) -> np.ndarray:
    """Configuration of the body in which the successor is at a pose from the predecessor."""
    return np.array(pin.SE3ToXYZQUAT(placement(40) * pose * placement(41).inverse()))


@pytest.mark.parametrize("name", HINGES)
def test_rows_are_six_less_the_dofs(name: str) -> None:
    """Case 1: rows = 6 - dof for every type."""
    hinge = HINGES[name]
    assert hinge.dofs == DOFS[name]
    assert hinge.rows == closure_of(hinge).group.nv == 6 - DOFS[name]


@draws(5, 100)
@pytest.mark.parametrize("name", HINGES)
def test_placed_targets_are_closed_and_free_motions_keep_them(name: str, count: int) -> None:
    """Case 1: at random coordinates rows are below 1e-12; free motions keep them zero, blocked ones do not."""
    hinge, closure, rng = HINGES[name], closure_of(HINGES[name]), np.random.default_rng(1)
    tip = Frame("tip", 1, placement(41), "body")
    for _ in range(min(count, 15) if name in SLOW else count):
        theta = coordinates(hinge, rng)
        q = body_at(hinge.placement(theta))
        assert np.abs(closure.residual(q)).max(initial=0.0) < 1e-12
        moved = hinge.space.integrate(theta, 0.1 * rng.standard_normal(hinge.dofs))
        assert np.abs(closure.residual(body_at(hinge.placement(moved)))).max(initial=0.0) < 1e-12
        D = closure.constraint_matrices(q)[1]
        S = hinge.subspace(theta)
        assert np.abs(D @ S).max(initial=0.0) < 1e-9
        if hinge.rows:
            blocked = np.linalg.svd(S.T)[2][hinge.dofs :] if hinge.dofs else np.eye(6)
            assert np.linalg.svd(D @ blocked.T, compute_uv=False).min() > 0.05
            J = closure.function.jacobian(q)
            assert np.abs(J - D @ free_body().at(q).jacobian(tip)).max() < 1e-12


@draws(4, 20)
@pytest.mark.parametrize("name", HINGES)
def test_coordinates_rates_and_accelerations_are_recovered(name: str, count: int) -> None:
    """Hinge coordinates, rates and accelerations of a moving target are those it was moved with."""
    hinge, rng = HINGES[name], np.random.default_rng(2)
    closure, robot = closure_of(hinge), free_body()
    for _ in range(min(count, 4) if name in SLOW else count):
        theta = coordinates(hinge, rng)
        rates, accelerations = rng.standard_normal((2, hinge.dofs))
        q = body_at(hinge.placement(theta))
        X = placement(41).inverse()  # the body's frame seen from the tip
        twist = X.inverse().action @ (hinge.subspace(theta) @ rates)
        change = X.inverse().action @ (hinge.subspace(theta) @ accelerations + hinge.drift(theta, rates))
        found = closure.hinge_motion(q, twist, change)
        assert np.abs(robot.space.difference(q, body_at(hinge.placement(found.coordinates)))).max() < 1e-11
        assert np.abs(found.rates - rates).max(initial=0.0) < 1e-9
        assert np.abs(found.accelerations - accelerations).max(initial=0.0) < 1e-8
        assert np.abs(closure.residual_acceleration(q, twist, change)).max(initial=0.0) < 1e-8
        error = closure.error_frame(q, twist, change)
        for part in (pin.log6(error.placement).vector, error.twist, error.acceleration):
            assert np.abs(part).max() < 1e-8


@pytest.mark.parametrize("name", [n for n in HINGES if n != "free"])
def test_errors_of_the_fitted_frame_are_derivatives(name: str) -> None:
    """Case 2: pose errors are six, zero when closed, and the other two are their derivatives, open or closed."""
    hinge, closure, rng = HINGES[name], closure_of(HINGES[name]), np.random.default_rng(5)
    space = free_body().space
    for kind in ("closed", "open", "open"):
        theta = coordinates(hinge, rng)
        q = body_at(hinge.placement(theta))
        if kind == "open":
            q = space.integrate(q, 0.1 * rng.standard_normal(6))
            assert np.abs(closure.pose_error(q)).max() > 1e-4
        else:
            assert np.abs(closure.pose_error(q)).max() < 1e-11
        v, h = rng.standard_normal(6), 1e-5
        ahead, behind = space.integrate(q, h * v), space.integrate(q, -h * v)
        slope = (closure.pose_error(ahead) - closure.pose_error(behind)) / (2 * h)
        assert np.abs(slope - closure.velocity_error(q, v)).max() < 1e-6
        slope = (closure.velocity_error(ahead, v) - closure.velocity_error(behind, v)) / (2 * h)
        assert np.abs(slope - closure.acceleration_error(q, v)).max() < 1e-6 * (1.0 + np.abs(slope).max())
        a = rng.standard_normal(6)
        change = closure.acceleration_error(q, v, a) - closure.acceleration_error(q, v)
        assert np.abs(change - closure.velocity_error(q, a)).max() < 1e-9


@pytest.mark.parametrize("name", HINGES)
def test_subspaces_are_the_derivatives_of_placements(name: str) -> None:
    """S by differences of H along its coordinates, and its drift by differences of S."""
    hinge, rng, h = HINGES[name], np.random.default_rng(3), 1e-5
    theta, rates = coordinates(hinge, rng), rng.standard_normal(hinge.dofs)
    ahead, behind = (hinge.space.integrate(theta, s * h * rates) for s in (1.0, -1.0))
    twist = pin.log6(hinge.placement(behind).actInv(hinge.placement(ahead))).vector / (2 * h)
    assert np.abs(twist - hinge.subspace(theta) @ rates).max() < 1e-9
    drift = (hinge.subspace(ahead) - hinge.subspace(behind)) @ rates / (2 * h)
    assert np.abs(drift - hinge.drift(theta, rates)).max() < 1e-9


@pytest.mark.parametrize("name", [n for n in HINGES if n != "free"])
def test_fitted_coordinates_move_by_their_rates(name: str) -> None:
    """Rates, accelerations and the matrix of rates are derivatives of the fitted coordinates, open or closed."""
    hinge, rng, h = HINGES[name], np.random.default_rng(7), 1e-4
    for open_by in (0.0, 0.1, 0.1):
        theta = coordinates(hinge, rng)
        pose = hinge.placement(theta) * pin.exp6(open_by * rng.standard_normal(6))
        twist, acceleration = rng.standard_normal((2, 6))

        def along(t: float, pose: Any = pose, v: Any = twist, a: Any = acceleration) -> np.ndarray:
            return fitted(hinge, pose * pin.exp6(t * v + 0.5 * t * t * a), np.zeros(6), np.zeros(6)).coordinates

        found = fitted(hinge, pose, twist, acceleration)
        ahead, behind = (hinge.space.difference(found.coordinates, along(t)) for t in (h, -h))
        assert np.abs((ahead - behind) / (2 * h) - found.rates).max(initial=0.0) < 1e-6
        assert np.abs((ahead + behind) / h**2 - found.accelerations).max(initial=0.0) < 2e-5
        assert np.abs(rate_matrix(hinge, pose) @ twist - found.rates).max(initial=0.0) < 1e-9


@pytest.mark.parametrize("name", HINGES)
def test_hinges_pickle(name: str) -> None:
    """A hinge and its closure come back from pickle with the same rows."""
    closure = closure_of(HINGES[name])
    q = body_at(placement(42))
    assert (pickle.loads(pickle.dumps(closure)).residual(q) == closure.residual(q)).all()


def test_screws_fit_the_nearest_number_of_turns() -> None:
    """A screw that has made three turns and a bit is closed at its advance, and open a tenth of a turn away."""
    hinge = Hinge.helical([0.0, 0.0, 1.0], 0.01)
    closure = closure_of(hinge)
    turned = np.array([6.0 * np.pi + 0.4])
    q = body_at(hinge.placement(turned))
    assert np.abs(closure.residual(q)).max() < 1e-12
    assert closure.hinge_motion(q).coordinates == pytest.approx(turned, abs=1e-9)
    pose = hinge.placement(turned) * pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.001]))
    assert closure.residual(body_at(pose))[2] == pytest.approx(0.001, abs=1e-12)


@pytest.mark.parametrize("turns", [-1.0, 0.25, 1.0, 3.0])
@pytest.mark.parametrize("pitch", [0.3, -0.02])
def test_a_screw_goes_by_its_pitch_in_a_turn(pitch: float, turns: float) -> None:
    axis = np.array([0.0, 0.6, 0.8])
    found = Hinge.helical(axis, pitch).placement(np.array([2.0 * np.pi * turns]))
    np.testing.assert_allclose(found.translation, pitch * turns * axis, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.rotation, pin.exp3(2.0 * np.pi * turns * axis), rtol=0, atol=1e-12)


@pytest.mark.parametrize("y", [0.0, 1e-12, 1e-6, 0.01, 0.0499, 0.0501, 0.3, 1.0, 1.7])
def test_the_angle_over_its_sine_and_its_derivatives(y: float) -> None:
    """By the cosine c = 1 - y, in 40 digits, within the series and beyond its end."""
    mp: Any = mpmath.mp
    with mp.workdps(60):
        c = mp.mpf(1.0 - y)

        def k(c: Any) -> Any:
            return mp.hyp2f1(1, 1, mp.mpf(3) / 2, (1 - c) / 2)

        expected = [k(c), mp.diff(k, c), mp.diff(k, c, 2)]
        if 0.0 < y:
            assert abs(expected[0] - mp.acos(c) / mp.sin(mp.acos(c))) < 1e-25
    for order, (found, exact) in enumerate(zip(unit_log(1.0 - y), expected, strict=True)):
        assert found == pytest.approx(float(exact), rel=(1e-15, 1e-13, 1e-11)[order])


def test_a_hooke_joint_needs_two_directions() -> None:
    """Honest 12: two parallel axes were taken, and the cross turned about an axis that nobody chose."""
    for angle in (0.0, 1e-9, np.pi):
        with pytest.raises(OptionError, match="two directions, got parallel ones"):
            Hinge.hooke([1.0, 0.0, 0.0], [np.cos(angle), np.sin(angle), 0.0])
    assert Hinge.hooke([1.0, 0.0, 0.0], [np.cos(1e-5), np.sin(1e-5), 0.0]).dofs == 2


def test_hooke_keeps_its_axes_square() -> None:
    """The outboard axis stays perpendicular to the inboard one, each given in its own frame."""
    a, b = np.array([1.0, 0.0, 0.0]), np.array([0.6, 0.8, 0.0])
    hinge = Hinge.hooke(a, b)
    for theta in np.random.default_rng(0).uniform(-1.5, 1.5, (10, 2)):
        assert abs(a @ (hinge.placement(theta).rotation @ b)) < 1e-14


@pytest.mark.parametrize(
    ("mask", "kind"),
    [
        ([1, 1, 1, 1, 1, 1], HingeKind.LOCKED),
        ([1, 1, 1, 0, 0, 0], HingeKind.BALL),
        ([1, 1, 1, 1, 1, 0], HingeKind.PIN),
        ([0, 1, 1, 1, 1, 1], HingeKind.SLIDER),
        ([1, 1, 0, 1, 1, 0], HingeKind.CYLINDRICAL),
        ([0, 0, 1, 1, 1, 0], HingeKind.PLANAR),
        ([0, 0, 1, 1, 1, 1], HingeKind.TWO_SLIDERS),
        ([0, 0, 0, 1, 1, 1], HingeKind.TRANSLATIONAL),
        ([0, 0, 0, 0, 0, 0], HingeKind.FREE),
        ([1, 0, 1, 0, 1, 1], HingeKind.COMPOSED),
    ],
)
def test_masks_become_the_hinge_that_is_left(mask: list[bool], kind: HingeKind) -> None:
    """A closure by held axes has the hinge that they leave."""
    closure = Closure.masked(two_arms_frames(), "a", "b", mask)
    assert closure.hinge.kind is kind
    assert closure.group.nv == sum(mask)


def test_wrong_hinges_are_named() -> None:
    """Case 20 of RBDL: axes that are not unit, sizes, and what else a user may get wrong."""
    with pytest.raises(NotNormalizedError, match="axis of a hinge"):
        Hinge.pin([1.0, 1.0, 0.0])
    with pytest.raises(SizeError):
        Hinge.slider([1.0, 0.0])
    with pytest.raises(OptionError, match="right angle"):
        Hinge.universal([1.0, 0.0, 0.0], [0.6, 0.8, 0.0])
    with pytest.raises(OptionError, match="pitch"):
        Hinge.helical([0.0, 0.0, 1.0])
    with pytest.raises(HingeError, match="7 degrees of freedom, but the motion has only 1"):
        Hinge.custom([Hinge.pin("z")] * 7)
    with pytest.raises(HingeError, match="7 degrees of freedom, but the motion has only 6"):
        Hinge.custom([Hinge.pin("z"), Hinge.free()])
    with pytest.raises(HingeError, match="3 degrees of freedom"):
        Hinge.custom([Hinge.pin([0.0, 0.0, 1.0])] * 3)
    with pytest.raises(WrongObjectError, match="sub-hinge 0"):
        Hinge.custom(["pin"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]


SEQUENCES = {
    "ball, slider": lambda _: [Hinge.ball(), Hinge.slider("x")],
    "hooke, slider, pin": lambda a: [Hinge.hooke(a[0], a[1]), Hinge.slider(a[2]), Hinge.pin(a[3])],
    "pin, slider, two pins": lambda a: [Hinge.pin(a[0]), Hinge.slider(a[1]), Hinge.pin(a[2]), Hinge.pin(a[3])],
    "screw, two pins": lambda a: [Hinge.helical(a[0], 0.3), Hinge.pin(a[1]), Hinge.pin(a[2])],
    "screw, slider": lambda a: [Hinge.helical(a[0], 0.3), Hinge.slider(a[1])],
}


@draws(8, 40)
@pytest.mark.parametrize("name", SEQUENCES)
def test_a_pose_of_a_custom_hinge_is_closed_wherever_it_is(name: str, count: int) -> None:
    """Up to 40 in 100 of such poses were called open, by metres: the fit ended in a local minimum, or beside."""
    rng = np.random.default_rng(3)
    for _ in range(count):
        axes = rng.standard_normal((4, 3))
        hinge = Hinge.custom(SEQUENCES[name](axes / np.linalg.norm(axes, axis=1)[:, None]))
        theta = hinge.space.integrate(hinge.space.neutral, rng.uniform(-3.0, 3.0, hinge.dofs))
        if name == "screw, slider":
            theta[0] *= 10.0  # whole turns, which only the translation shows
        rows, pose = hinge_rows(hinge), hinge.placement(theta)
        error = np.empty(rows.size)
        rows.value(pose, error)
        assert np.abs(error).max() < 1e-10
        found = hinge.placement(fitted(hinge, pose, np.zeros(6), np.zeros(6)).coordinates)
        np.testing.assert_allclose(found.homogeneous, pose.homogeneous, atol=1e-10)


@draws(2, 20)
def test_nothing_is_outside_of_boxes_of_rows(count: int) -> None:
    """Of each form, by samples of values and Jacobians: `tests/functions/test_enclosures.py` has the law."""
    rows = list(cases.closures().values())
    assert cases.all_inside(rows * count, np.random.default_rng(0)) > 0.7 * count * len(rows)


def test_several_boxes_of_a_screw_have_their_own_turns_each() -> None:
    """Whole turns away the rows are closed; where half a turn from the advance is in a box, it has no value."""
    hinge, rng = Hinge.helical([0.0, 0.6, 0.8], 0.3), np.random.default_rng(0)
    f: Any = closure_of(hinge).function
    closed = [hinge.placement(np.array([turned])) for turned in (0.3, 9.0, -20.0)]
    boxes = TangentBox(f.inputs, [body_at(pose) for pose in closed], 1e-3)
    found = cases.enclosed_together(f, boxes)
    assert len(found) == 3
    for box, e in found:
        np.testing.assert_allclose(e.value, 0.0, atol=1e-12)
        assert cases.sampled(f, box, e, rng, 20, judged=0).outside == 0
    off, sizes = (0.0, 0.49, -0.49, -0.4997), (1e-3, 1e-3, 1e-2, 1e-6)
    axis = hinge.subhinges[0].axis
    apart = [body_at(closed[1] * pin.SE3(np.eye(3), 0.3 * part * axis)) for part in off]
    with pytest.raises(UndefinedError, match="half a turn from its advance") as refused:
        f.enclosed(TangentBox(f.inputs, apart, np.outer(sizes, np.ones(6))))
    assert np.asarray(refused.value.where).tolist() == [False, False, True, True]
