"""The form RATES of closures and contacts, from what plain pinocchio says of their frames; forms in other axes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from loops.test_hinges import HINGES
from samples import placement, two_arms_frames

from constraints import Robot, Target
from constraints.errors import WrongObjectError
from constraints.loops import Axes, Closure, Form, Hinge, PointContact, SurfaceContact
from constraints.loops.hinges.hinge import HingeTypeError
from constraints.loops.hinges.hinge_fit import hinge_parts
from constraints.loops.hinges.hinge_rates import hinge_rates

WORLD, LOCAL = Axes.LOCAL_WORLD_ALIGNED, Axes.LOCAL


def random_pose(rng: np.random.Generator) -> Any:
    return pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))


@pytest.mark.parametrize("name", [n for n in HINGES if n not in ("free", "custom")])
def test_rates_across_a_hinge(name: str) -> None:
    """As many rows as it holds, of length one; zero for what it leaves free; their derivative along any motion."""
    hinge, rng = HINGES[name], np.random.default_rng(6)
    rows = hinge_rates(hinge, "hinge")
    assert rows.size == hinge.rows
    pins, sliders = hinge_parts(hinge)

    def matrix(pose: Any) -> np.ndarray:
        out, D = np.ones(rows.size), np.zeros((rows.size, 6))
        rows.value(pose, out, D)
        assert not out.any()
        rows.value(pose, out := np.ones(rows.size))
        assert not out.any()
        return D

    for _ in range(4):
        theta = hinge.space.random(rng, np.full(hinge.space.nq, -1.0), np.full(hinge.space.nq, 1.0))
        D = matrix(hinge.placement(theta))
        assert np.abs(D @ hinge.subspace(theta)).max(initial=0.0) < 1e-12
        pose, twist, acceleration, h = random_pose(rng), *rng.normal(size=(2, 6)), 1e-5
        R, D, second = pose.rotation, matrix(pose), np.ones(rows.size)
        rows.second(pose, twist, acceleration, second)
        ahead, behind = (pose * pin.exp6(t * twist + 0.5 * t * t * acceleration) for t in (h, -h))
        speeds = [matrix(ahead) @ (twist + h * acceleration), matrix(behind) @ (twist - h * acceleration)]
        np.testing.assert_allclose(second, (speeds[0] - speeds[1]) / (2 * h), atol=1e-8)
        if hinge.rows == 6:
            np.testing.assert_allclose(D, pose.toActionMatrix(), atol=1e-15)
            continue
        seen = np.hstack((D[:, :3] @ R.T, D[:, 3:] @ R.T))  # on velocities in the axes of the predecessor
        linear = 3 - len(sliders) if hinge.kind.name != "HELICAL" else 3
        np.testing.assert_allclose(seen[:linear, :3] @ seen[:linear, :3].T, np.eye(linear), atol=1e-9)
        np.testing.assert_allclose(seen[:linear, :3] @ sliders.T, 0.0, atol=1e-9)
        assert not seen[linear:, :3].any()
        turns = seen[linear:, 3:]
        if len(pins) == 2 and not pins[0].is_ball:
            b = pins[1].axis
            np.testing.assert_allclose(turns[0], np.cross(pins[0].axis, R @ b), atol=1e-12)
        else:
            np.testing.assert_allclose(turns @ turns.T, np.eye(len(turns)), atol=1e-12)
        pitch = np.zeros((linear, 3))
        if hinge.kind.name == "HELICAL":
            pitch[2] = -pins[0].pitch * pins[0].axis
        np.testing.assert_allclose(seen[:linear, 3:], pitch, atol=1e-12)


def test_the_form_rates_in_closures() -> None:
    """Position rows stay those of the hinge; a custom hinge has no such form."""
    robot, rng = two_arms_frames(), np.random.default_rng(2)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    for hinge in (Hinge.pin("z"), Hinge.slider("x"), Hinge.locked(), Hinge.helical("y", 0.4)):
        rates, plain = (Closure(robot, "a", "b", hinge, form=form) for form in (Form.RATES, Form.DERIVATIVE))
        np.testing.assert_array_equal(rates.residual(q), plain.residual(q))
        expected = np.zeros((hinge.rows, 6))
        pose, twist, _ = plain.motion(q, v)
        hinge_rates(hinge, "").value(pose, np.zeros(hinge.rows), expected)
        np.testing.assert_allclose(rates.residual_rate(q, v), expected @ twist, atol=1e-12)
    with pytest.raises(HingeTypeError, match=r"'mine': a custom hinge has no rows in Form.RATES"):
        Closure(robot, "a", "b", HINGES["custom"], form=Form.RATES, name="mine")
    with pytest.raises(WrongObjectError, match="form of"):
        Closure(robot, "a", "b", Hinge.pin("z"), form="RATES")  # type: ignore[arg-type]


class Seen:
    """Frame "b" of a robot in motion, by plain pinocchio: pose, velocities and accelerations."""

    def __init__(self, robot: Robot, q: np.ndarray, v: np.ndarray) -> None:
        model, frame = robot.model, robot.frame("b")
        model = pin.Model(model)
        index = model.addFrame(pin.Frame("seen", frame.joint, 0, frame.placement, pin.FrameType.OP_FRAME))
        data = model.createData()
        pin.forwardKinematics(model, data, q, v, np.zeros(robot.nv))
        pin.updateFramePlacements(model, data)
        self.pose = data.oMf[index]
        ask: Any = functools.partial
        self.twist = ask(pin.getFrameVelocity, model, data, index)
        self.classical = ask(pin.getFrameClassicalAcceleration, model, data, index)
        self.spatial = ask(pin.getFrameAcceleration, model, data, index)


NORMAL = np.array([0.0, 0.6, 0.8])


@pytest.mark.parametrize("normal", [None, NORMAL], ids=["three", "one"])
@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("axes", Axes)
@pytest.mark.parametrize("anchored", [False, True])
def test_rows_of_a_contact_at_a_point(anchored: bool, axes: Axes, form: Form, normal: Any) -> None:
    """Position, velocity and acceleration rows of all twelve, in closed form."""
    robot, rng = two_arms_frames(), np.random.default_rng(3)
    q, v, a = robot.random(rng), *rng.normal(size=(2, robot.nv))
    seen, anchor = Seen(robot, q, v), np.array([0.1, 0.2, 0.3])
    contact = PointContact(robot, "b", normal, anchor if anchored else None, axes=axes, form=form)
    N = np.eye(3) if normal is None else normal[None]
    R, off = seen.pose.rotation, seen.pose.translation - anchor
    velocity, acceleration = (ask(pin.LOCAL_WORLD_ALIGNED).linear for ask in (seen.twist, seen.classical))
    w, alpha = (ask(pin.LOCAL).angular for ask in (seen.twist, seen.spatial))
    position, rate, second = off, velocity, acceleration
    if axes is LOCAL:
        position, rate, second = R.T @ off, R.T @ velocity, R.T @ acceleration
        if form is Form.DERIVATIVE:
            second = second - np.cross(w, rate)
        if form is Form.DERIVATIVE and anchored:
            e, speed = position, rate
            rate = speed - np.cross(w, e)
            second = second - np.cross(alpha, e) - np.cross(w, rate)
    np.testing.assert_allclose(contact.residual(q), N @ position if anchored else np.zeros(len(N)), atol=1e-12)
    np.testing.assert_allclose(contact.residual_rate(q, v), N @ rate, atol=1e-12)
    np.testing.assert_allclose(contact.residual_acceleration(q, v), N @ second, atol=1e-11)
    more = contact.residual_acceleration(q, v, a) - contact.residual_acceleration(q, v)
    np.testing.assert_allclose(more, contact.residual_rate(q, a), atol=1e-11)


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("axes", Axes)
@pytest.mark.parametrize("anchored", [False, True])
def test_rows_of_a_contact_of_a_surface(anchored: bool, axes: Axes, form: Form) -> None:
    """Those that are no derivatives of the position in closed form, the others by differences in time."""
    robot, rng, h = two_arms_frames(), np.random.default_rng(4), 1e-4
    q, v = robot.random(rng), 0.5 * rng.normal(size=robot.nv)
    seen = Seen(robot, q, v)
    anchor = seen.pose * pin.exp6(0.3 * rng.normal(size=6))
    contact = SurfaceContact(robot, "b", anchor if anchored else None, axes=axes, form=form)
    frame = pin.LOCAL if axes is LOCAL else pin.LOCAL_WORLD_ALIGNED
    if not anchored:
        assert not contact.residual(q).any()
    else:
        log = pin.log6(anchor.actInv(seen.pose)).vector
        R = seen.pose.rotation
        if axes is LOCAL:
            position = log
        elif form is Form.RATES:
            position = np.r_[R @ log[:3], R @ log[3:]]
        else:
            turn = pin.log3(R @ anchor.rotation.T)
            position = np.r_[seen.pose.translation - anchor.translation, turn]
        np.testing.assert_allclose(contact.residual(q), position, atol=1e-12)
    if form is Form.RATES or not anchored:
        np.testing.assert_allclose(contact.residual_rate(q, v), seen.twist(frame).vector, atol=1e-12)
        ask = seen.spatial if axes is LOCAL or form is Form.RATES else seen.classical
        np.testing.assert_allclose(contact.residual_acceleration(q, v), ask(frame).vector, atol=1e-11)
        return
    ahead, here, behind = (contact.residual(robot.space.integrate(q, t * v)) for t in (h, 0.0, -h))
    np.testing.assert_allclose(contact.residual_rate(q, v), (ahead - behind) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(contact.residual_acceleration(q, v), (ahead - 2 * here + behind) / h**2, atol=1e-5)


def test_the_position_of_a_surface_in_the_form_rates_has_two_derivatives() -> None:
    """It serves stabilisation alone, and is a function like others: by differences in time."""
    robot, rng, h = two_arms_frames(), np.random.default_rng(5), 1e-4
    anchor = placement(51)
    f = SurfaceContact(robot, "b", anchor, axes=WORLD, form=Form.RATES).function
    for _ in range(3):
        q, v = robot.random(rng), 0.5 * rng.normal(size=robot.nv)
        ahead, here, behind = (f.value(robot.space.integrate(q, t * v)) for t in (h, 0.0, -h))
        scale = 1.0 + np.abs(f.jacobian(q)).max()
        np.testing.assert_allclose(f.jacobian(q) @ v, (ahead - behind) / (2 * h), atol=1e-6 * scale)
        np.testing.assert_allclose(f.drift_at(q, v), (ahead - 2 * here + behind) / h**2, atol=1e-5 * scale**2)


def test_contacts_look_at_their_arguments() -> None:
    robot = two_arms_frames()
    assert PointContact(robot, "b").name == SurfaceContact(robot, "b").name == "contact(b)"
    assert PointContact(robot, "b", name="mine").name == SurfaceContact(robot, "b", name="mine").name == "mine"
    for kind in (PointContact, SurfaceContact):
        for wrong, said in (({"axes": "LOCAL"}, "axes of 'contact"), ({"form": 1}, "form of 'contact"),
                            ({"target": [0.0]}, "target of 'contact"), ({"name": 3}, "name of a contact")):  # fmt: skip
            with pytest.raises(WrongObjectError, match=said):
                kind(robot, "b", **wrong)  # type: ignore[arg-type]
        held = kind(robot, "b", target=Target(lambda t, n=3 if kind is PointContact else 6: np.zeros(n)))
        assert held.rows.words[0] == "EQUALITY"
        assert kind(robot, "b").rows.words[0] == "EQUAL_TO_ZERO"
    q = robot.random(np.random.default_rng(0))
    for contact in (PointContact(robot, "b").anchored(q), SurfaceContact(robot, "b").anchored(q)):
        np.testing.assert_allclose(contact.residual(q), 0.0, atol=1e-12)
