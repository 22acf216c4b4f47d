"""Functions that other rooms use, in this one too: products with constants, twins, poses from rows, polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from explicit_samples import GROUPS, Swing, pose
from robots import arm

import constraints as lc
from constraints.errors import ModelError, OptionError, SizeError, SpaceMismatchError, WrongObjectError
from constraints.functions import Constant, Identity, Sum
from constraints.functions.contact.contact_pose import PoseOfContact
from constraints.functions.frames.pose_from_rows import PoseFromRows
from constraints.functions.polynomial import Polynomial
from constraints.functions.translation import RightTranslation, Translated
from constraints.point import place, place_motion
from constraints.rows.twin import Twin
from constraints.testing import check_function
from constraints.workspace import Workspace
from liegroups import SE3, SO3, Rn, Space


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_products_with_a_constant(group: Space) -> None:
    """q c, f(q) c and g(f(q) c): value, Jacobian and drift, with and without a Jacobian, one workspace for all."""
    rng = np.random.default_rng(1)
    c, f = group.random(rng), Swing(group)
    right = RightTranslation(group, c)
    plain = Translated(f, c)
    through = Translated(f, c, right)
    q, workspace = f.inputs.random(rng), Workspace()
    for function, value in (
        (plain, group.compose(f.value(q), c)), (through, group.compose(group.compose(f.value(q), c), c)),
    ):  # fmt: skip
        check_function(function, samples=2)
        bare = np.zeros(group.nq)
        function.evaluate(place(f.inputs, q, workspace), bare)
        np.testing.assert_allclose(group.difference(value, bare), 0.0, atol=1e-13)
        np.testing.assert_allclose(group.difference(value, function.value(q)), 0.0, atol=1e-13)
    check_function(right, samples=2)
    one = group.compose(q_of := group.random(rng), c)
    np.testing.assert_array_equal(right.value(q_of), one)
    np.testing.assert_allclose(group.difference(right.inverted().value(one), q_of), 0.0, atol=1e-13)
    assert plain.name == f"{f.name} times a constant"
    assert through.name == f"{right.name} @ {f.name}"
    with pytest.raises(SpaceMismatchError):
        Translated(f, c, Identity(group * Rn(1)))
    with pytest.raises(SizeError):
        Translated(f, np.zeros(group.nq + 1))


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_twins_compare_two_functions(group: Space) -> None:
    """f^-1 g: value, Jacobian and drift; of one function with itself the neutral element."""
    f, g = Swing(group), Translated(Swing(group), group.random(np.random.default_rng(2)))
    twin = Twin(f, g)
    check_function(twin, samples=2)
    rng = np.random.default_rng(3)
    q = f.inputs.random(rng)
    value = group.compose(group.inverse(f.value(q)), g.value(q))
    np.testing.assert_allclose(group.difference(value, twin.value(q)), 0.0, atol=1e-13)
    same = Twin(f, f)
    np.testing.assert_allclose(group.log(same.value(q)), 0.0, atol=1e-13)
    drift = np.ones(group.nv)
    same.drift(place_motion(f.inputs, q, rng.normal(size=f.inputs.nv), Workspace()), drift)
    np.testing.assert_allclose(drift, 0.0, atol=1e-12)
    assert twin.name == f"twin of {f.name}"
    with pytest.raises(SpaceMismatchError):
        Twin(f, Identity(Rn(1) * group))


def test_poses_from_rows() -> None:
    """(t, exp w): what a transformation takes apart."""
    f = PoseFromRows()
    check_function(f, samples=4)
    t, w = np.array([1.0, 2.0, 3.0]), np.array([0.3, -0.2, 0.5])
    placed = pin.XYZQUATToSE3(f.value(np.r_[t, w]))
    np.testing.assert_allclose(placed.translation, t)
    np.testing.assert_allclose(pin.log3(placed.rotation), w, atol=1e-12)
    assert (f.inputs, f.outputs) == (Rn(6), SE3)


@pytest.mark.parametrize("coefficients", [[2.0], [1.0, -3.0], [0.5, 0.0, 2.0], [1.0, 2.0, 0.0, -1.0, 0.25]], ids=str)
def test_polynomials_and_their_derivatives(coefficients: list[float]) -> None:
    """Against numpy's: value, slope, second derivative along a motion, and what accelerations change by."""
    w, b = np.array([2.0, 0.0, -1.0]), 0.3
    f = Polynomial(coefficients, w, b)
    p = np.polynomial.Polynomial(coefficients)
    rng = np.random.default_rng(4)
    for _ in range(4):
        q, v, a = rng.normal(size=(3, 3))
        s = w @ q + b
        assert f.value(q)[0] == pytest.approx(p(s))
        np.testing.assert_allclose(f.jacobian(q)[0], p.deriv()(s) * w)
        assert f.drift_at(q, v)[0] == pytest.approx(p.deriv(2)(s) * (w @ v) ** 2)
        dq, dv = np.full((2, 1, 3), np.nan)
        f.drift_derivatives(place_motion(Rn(3), q, v, Workspace()), a, dq, dv)
        np.testing.assert_allclose(dq[0], (p.deriv(2)(s) * (w @ a) + p.deriv(3)(s) * (w @ v) ** 2) * w, rtol=1e-7)
        np.testing.assert_allclose(dv[0], 2.0 * p.deriv(2)(s) * (w @ v) * w, rtol=1e-7)
    assert f.columns.tolist() == [len(coefficients) > 1, False, len(coefficients) > 1]
    assert not f.periodic[f.columns].any()
    check_function(f, samples=2)


def test_polynomials_are_written_out() -> None:
    name = Rn(2).leaves()[0].name
    said = Polynomial([2.0, 0.0, -1.0, 0.5], [1.0, -2.0], 0.25).written_out
    assert said == f"2 - s^2 + 0.5 s^3, s = {name}[0] - 2 {name}[1] + 0.25"
    joint = Polynomial([0.0, 1.0], np.eye(1, 7, 2)[0], inputs=arm().space)
    assert joint.written_out == f"s, s = {arm().joint_names[2]}"
    assert repr(joint).startswith("Polynomial(")
    for wrong, kind in (([], SizeError), ([[1.0]], SizeError)):
        with pytest.raises(kind):
            Polynomial(wrong, [1.0])
    with pytest.raises(OptionError):
        Polynomial([0.0, 1.0], [1.0, 0.0, 0.0], inputs=SO3)


def test_bodies_without_mass_have_no_columns() -> None:
    """A link that weighs nothing does not move the centre of mass, whatever joint it hangs on; nor does the world."""
    model = pin.Model()
    for i, mass in enumerate((2.0, 1.0, 0.0)):
        joint = model.addJoint(i, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0])), f"joint{i}")
        model.appendBodyToJoint(
            joint, pin.Inertia(mass, np.array([0.1, 0.0, 0.0]), mass * np.eye(3)), pin.SE3.Identity()
        )
    model.inertias[0] = pin.Inertia(7.0, np.ones(3), np.eye(3))
    robot = lc.Robot(model, "light end")
    f = lc.CenterOfMass(robot)
    assert f.moving_joints == (1, 2)
    assert f.columns.tolist() == [True, True, False]
    assert lc.CenterOfMass(robot, reference=robot.frame("joint2")).columns.tolist() == [False, True, True]
    one, two = np.array([0.4, 0.1, 0.0]), np.array([0.7, 0.2, 0.0])
    np.testing.assert_allclose(f.value(np.zeros(3)), (2.0 * one + 1.0 * two) / 3.0 * [1.0, 0.0, 0.0], atol=1e-15)
    for joints in ([], ["joint2"], ["universe"]):
        with pytest.raises(ModelError, match=r"^CenterOfMass: the chosen bodies of light end have no mass"):
            lc.CenterOfMass(robot, joints)
    with pytest.raises(ModelError, match="no mass"):
        lc.CenterOfMass(robot, subtrees=["joint2"])
    assert lc.CenterOfMass(robot, subtrees=["joint1"]).moving_joints == (2,)
    for mass in (-1.0, np.nan, np.inf):
        model.inertias[2] = pin.Inertia(mass, np.zeros(3), np.eye(3))
        with pytest.raises(ModelError, match=rf"mass carried by joint 'joint1' of light end is {mass:g}"):
            lc.CenterOfMass(lc.Robot(model, "light end"))


SQUARE = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
FLOOR, SOLE = lc.Surface("floor", arm().frame("universe"), SQUARE), lc.Surface("sole", arm().frame("tool"), SQUARE)
NAMED: dict[str, Any] = {
    "Affine": lambda **name: lc.Affine(np.eye(2), **name),
    "Identity": lambda **name: Identity(SE3, **name),
    "Constant": lambda **name: Constant([1.0], **name),
    "Polynomial": lambda **name: Polynomial([0.0, 1.0], [1.0], **name),
    "RightTranslation": lambda **name: RightTranslation(SE3, SE3.neutral, **name),
    "ComBetweenFeet": lambda **name: lc.ComBetweenFeet(arm(), "elbow", "tool", "tool", **name),
    "CenterOfMass": lambda **name: lc.CenterOfMass(arm(), **name),
    "Position(tool)": lambda **name: lc.Position(arm(), "tool", **name),
    "Orientation(tool)": lambda **name: lc.Orientation(arm(), "tool", **name),
    "Rotation(tool)": lambda **name: lc.Rotation(arm(), "tool", **name),
    "Transformation(tool)": lambda **name: lc.Transformation(arm(), "tool", **name),
    "Pose(tool)": lambda **name: lc.Pose(arm(), "tool", **name),
    "[Affine]": lambda **name: lc.Stacked([lc.Affine(np.eye(2))], **name),
    "2 Affine": lambda **name: Sum([lc.Affine(np.eye(2))], [2.0], **name),
    "PoseOfContact": lambda **name: PoseOfContact(FLOOR, **name),
    "ConvexShapeContact(floor; sole)": lambda **name: lc.ConvexShapeContact(arm(), FLOOR, SOLE, **name),
    "<lambda>": lambda **name: lc.Function.from_callable(lambda q: q, Rn(1), Rn(1), **name),
}


@pytest.mark.parametrize("tilt", [(0.3, 0.0), (0.0, -0.4), (0.3, -0.4)])
def test_a_contact_tilts_about_each_axis(tilt: tuple[float, float]) -> None:
    """exp(0, h3, h4) rot_x(phi), of one tilt alone too."""
    turn = np.array([0.0, *tilt])
    value = PoseOfContact(FLOOR).value([0.1, 0.0, 0.0, *tilt, 0.0, 0.0, np.cos(0.5), np.sin(0.5)])
    expected = pin.exp3(turn) @ pin.exp3(np.array([0.5, 0.0, 0.0]))
    np.testing.assert_allclose(pin.XYZQUATToSE3(value).rotation, expected, atol=1e-12)


@pytest.mark.parametrize("name", NAMED)
def test_a_function_has_the_name_that_it_is_given(name: str) -> None:
    assert NAMED[name]().name == name
    assert NAMED[name](name="mine").name == str(NAMED[name](name="mine")) == "mine"


@pytest.mark.parametrize(
    "kind",
    [lc.Position, lc.Orientation, lc.Rotation, lc.Transformation, lc.Pose, lc.CenterOfMass],
    ids=lambda k: k.__name__,
)
def test_functions_are_seen_from_any_joint(kind: Any) -> None:
    """From the world, from the first joint, from one in the middle and from the last: value, Jacobian and drift."""
    robot = arm()
    for joint in ("universe", robot.joint_names[0], robot.joint_names[3], robot.joint_names[-1]):
        frame = robot.frame(joint, pose(6))
        if kind.__name__ == "CenterOfMass":
            made = [kind(robot, joints, reference=frame) for joints in (None, [robot.joint_names[4]])]
        else:
            made = [kind(robot, "elbow", frame), kind(robot, robot.frame(robot.joint_names[0], pose(7)), frame)]
        for f in made:
            check_function(f, samples=1)


def test_a_pair_of_surfaces_is_two_names() -> None:
    """No text of two letters, nothing without an order, no more and no fewer."""
    wrong: Any
    for wrong in ("fs", 3, {"floor", "sole"}, ("floor",), ("floor", "sole", "sole"), ("floor", 1), None):
        if wrong is None:
            assert lc.ConvexShapeContact(arm(), FLOOR, SOLE, pair=None).pairs == (("floor", "sole"),)
            continue
        with pytest.raises(
            WrongObjectError, match=r"pair of ConvexShapeContact: expected two names, \(floor, object\)"
        ):
            lc.ConvexShapeContact(arm(), FLOOR, SOLE, pair=wrong)
    for fine in (("floor", "sole"), ["floor", "sole"]):
        assert lc.ConvexShapeContact(arm(), FLOOR, SOLE, pair=fine).pairs == (("floor", "sole"),)  # type: ignore[arg-type]
