"""Balance: what supports can carry, against linear programs, closed forms and plain pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from contact_sets import FEET, KINDS, SOLE, ContactSet, boulder, stance, unstable_starts
from each_choice import draws
from robots import humanoid, needs_robot_data, talos
from samples import humanoid_frames
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from constraints import Implicit, Problem, Projector, Robot, Surface
from constraints.errors import ConstraintError, ModelError, OptionError, SizeError, UndefinedError
from constraints.functions import ContactForces, StaticStability, StaticTorques, Support, SupportPolygon
from constraints.functions.balance.friction import FrictionCone
from constraints.functions.balance.grasp import pseudo_inverse
from constraints.testing import check_function

LEVEL = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
SQUARE = np.array([[x, y, 0.0] for x in (-0.1, 0.3) for y in (-0.2, 0.2)])
"""Corners about the mass of the boulder, seen from above."""


def tilted(axis: str, angle: float) -> np.ndarray:
    return np.array([0.0, 0.0, 0.0, *pin.Quaternion(pin.utils.rotate(axis, angle)).coeffs()])


# --- static stability ------------------------------------------------------------------------------------------------


@draws(6, 100)
@needs_robot_data
@pytest.mark.parametrize("kind", KINDS)
def test_stability_agrees_with_a_linear_program(kind: str, count: int) -> None:
    """The missing wrench is zero where the program finds forces, and as large as it must be elsewhere."""
    for seed in range(count):
        contacts = ContactSet.drawn(kind, seed)
        r, t = np.linalg.norm(contacts.function.value(contacts.q)), contacts.least_largest()
        assert (r < 1e-7) == (t < 1e-7), seed
        assert t - 1e-8 <= r <= np.sqrt(6.0) * t + 1e-8, seed


@draws(8, 100)
def test_jacobian_where_each_column_carries_force_or_makes_things_worse(count: int) -> None:
    """Strict complementarity, read from the columns of plain pinocchio: the Jacobian is that of differences."""
    strict = 0
    for seed in range(count):
        contacts = ContactSet.drawn("three points", seed)
        A, b = contacts.wrenches(), np.eye(6)[2]
        x, missing = nnls(A, b)
        if missing > 1e-3 and np.maximum(x, -(A.T @ (b - A @ x))).min() > 1e-4:
            check_function(contacts.function, [contacts.q])
            strict += 1
    assert strict > count // 4


def test_one_point_in_closed_form() -> None:
    """A force f along its normal through p, of |f| = n: b.a / a.a, and what it leaves."""
    point = Support(boulder().frame("body"), [[0.4, 0.1, -0.3]])
    for q, normal, arm in ((LEVEL, [0, 0, 1], [0.3, 0.1, -0.5]), (tilted("z", 0.7), [0, 0, 1], None)):
        f = StaticStability(boulder(), point, length=0.5)
        lever = pin.XYZQUATToSE3(q).rotation @ [0.3, 0.1, -0.5] if arm is None else arm
        a = np.array([*normal, *(np.cross(lever, normal) / 0.5)])
        np.testing.assert_allclose(f.value(q), np.eye(6)[2] - a * a[2] / (a @ a), rtol=0, atol=1e-14)
        expected = 0.1 / np.sqrt(0.1 + 0.25)  # d / sqrt(d2 + L2), d the distance of the point from the mass
        assert np.linalg.norm(f.value(q)) == pytest.approx(np.sqrt(0.1) * expected / 0.1)


@pytest.mark.parametrize("mu", [0.2, 0.7])
def test_a_box_slides_at_the_angle_of_friction(mu: float) -> None:
    """On a slope along an edge of its pyramids, and across: the tangent of the slope is mu, for any height."""
    block = Support(boulder().frame("body"), 3.0 * SQUARE - [0.2, 0.0, 0.1], friction=mu, edges=4)
    f = StaticStability(boulder(), block)
    slide = np.arctan(mu)
    for axis in "xy":
        assert np.abs(f.value(tilted(axis, slide - 1e-3))).max() < 1e-12
        assert np.linalg.norm(f.value(tilted(axis, slide + 1e-3))) == pytest.approx(1e-3, rel=0.1)
        assert (
            np.linalg.norm(StaticStability(boulder(), Support(block.frame, block.points)).value(tilted(axis, 0.1)))
            > 0.09
        )


def test_inside_the_jacobian_is_zero_and_on_the_border_one_sided() -> None:
    """Just outside of an edge h below it is 1 / sqrt(1 + h2), by the twist about it; on the border, the inside's."""
    feet = Support(boulder().frame("universe"), SQUARE, friction=0.5)
    f = StaticStability(boulder(), feet)
    inside = np.array([0.0, 0.05, *LEVEL[2:]])
    np.testing.assert_allclose(f.value(inside), 0.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(f.jacobian(inside), 0.0, rtol=0, atol=1e-14)
    for off, slope in ((1e-9, 1.04**-0.5), (1e-4, 1.04**-0.5), (0.0, 0.0), (-1e-9, 0.0)):
        q = np.array([0.2 + off, *LEVEL[1:]])  # the mass is 0.1 m ahead of the body, the edge at 0.3
        assert np.linalg.norm(f.jacobian(q)[:, 0]) == pytest.approx(slope, abs=1e-6), off
    check_function(f, [np.array([0.25, 0.0, *LEVEL[2:]])])


def test_stance_without_friction_needs_level_feet() -> None:
    """The cone of normals is thin: wrenches across it are equalities, and their Jacobian does not vanish inside."""
    f = StaticStability(boulder(), Support(boulder().frame("body"), SQUARE))
    np.testing.assert_allclose(f.value(LEVEL), 0.0, rtol=0, atol=1e-14)
    check_function(f, [LEVEL])
    assert np.linalg.matrix_rank(f.jacobian(LEVEL), 1e-9) == 2
    assert np.linalg.norm(f.value(tilted("x", 0.01))) == pytest.approx(0.01, rel=1e-3)


@needs_robot_data
@pytest.mark.parametrize("slope", [0.0, 0.35])
def test_talos_is_brought_to_balance(slope: float) -> None:
    """From postures that fall, confirmed by the program; forces push, within their cones, and carry the weight."""
    robot, (_, held) = talos(), stance(slope)
    grounds = [Support(robot.frame(foot), SOLE, friction=0.5) for foot in FEET]
    f = StaticStability(robot, grounds)
    projector = Projector(Problem(robot, [*held, Implicit.zero(f, name="balance")]))
    for q in unstable_starts(slope, 2):
        found = projector.project(q).or_raise()
        assert ContactSet(robot, found.q, grounds).least_largest() < 1e-4
        for ground, forces in zip(grounds, f.forces(found.q), strict=True):
            normal = robot.at(found.q).placement(ground.frame).rotation[:, 2]
            assert all(ground.cone.needed(robot.at(found.q).placement(ground.frame).rotation.T @ each) <= 0.5 + 1e-9
                       for each in forces if normal @ each > 1e-9)  # fmt: skip
        total = sum(np.sum(forces, axis=0) for forces in f.forces(found.q))
        np.testing.assert_allclose(total, [0.0, 0.0, f.weight], rtol=0, atol=1e-3 * f.weight)


# --- forces, torques, polygon ----------------------------------------------------------------------------------------


def grips(friction: float = 0.5) -> list[Support]:
    """On both hands and feet of the sample humanoid."""
    robot, rng = humanoid_frames(), np.random.default_rng(5)
    frames = ("a", "b", "lleg6_joint")
    return [Support(robot.frame(name), rng.uniform(-0.2, 0.2, (3, 3)), friction=friction) for name in frames]


def unit_wrenches(supports: list[Support], robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wrenches about the centre of mass (6, n) of unit forces at the points, and their (joint, force, point)."""
    model: Any = robot.model
    data = model.createData()
    c = pin.centerOfMass(model, data, q)
    columns = []
    for support in supports:
        oMf = data.oMi[support.frame.joint] * support.frame.placement
        for point in np.asarray(support.points):
            for axis in np.eye(3) if support.friction else [np.asarray(support.normal)]:
                force = oMf.rotation @ axis
                columns.append([*force, *np.cross(oMf.act(point) - c, force)])
    return np.array(columns).T, c


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("shares", [None, [1.0, 2.0, 5.0]])
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_forces_are_those_of_weighted_least_squares(friction: float, shares: Any, damping: float) -> None:
    robot, supports = humanoid_frames(), grips(friction)
    f = ContactForces(robot, supports, shares, damping)
    q = robot.random(np.random.default_rng(3))
    G, _ = unit_wrenches(supports, robot, q)
    n = G.shape[1]
    roots = np.sqrt(np.repeat([1.0, 1.0, 1.0] if shares is None else shares, n // 3))
    b = np.eye(6)[2]
    stacked, right = np.vstack([G * roots, damping * np.eye(n)]), np.concatenate([b, np.zeros(n)])
    x = roots * np.linalg.lstsq(stacked, right, rcond=None)[0]
    np.testing.assert_allclose(f.value(q), [*x, *(b - G @ x)], rtol=0, atol=1e-11)
    rows = f.pyramids.value(q)
    cones = [support.cone.rows if friction else -np.eye(1) for support in supports for _ in range(3)]
    width = 3 if friction else 1
    expected = [rows @ x[width * i : width * (i + 1)] for i, rows in enumerate(cones)]
    np.testing.assert_allclose(rows, np.concatenate(expected), rtol=0, atol=1e-12)


def test_a_larger_share_carries_more() -> None:
    supports = [Support(boulder().frame("body"), SQUARE[i : i + 1], friction=0.5) for i in range(4)]
    for share in (1.0, 3.0):
        f = ContactForces(boulder(), supports, [share, 1.0, 1.0, share])
        carried = f.value(LEVEL)[2:12:3]
        assert carried[0] / carried[1] == pytest.approx(share)  # opposite corners can take any part
        np.testing.assert_allclose(f.value(LEVEL)[12:], 0.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("actuated", [None, ["larm3_joint", "rleg2_joint"]])
def test_torques_at_rest_are_those_of_pinocchio(actuated: Any) -> None:
    robot, supports = humanoid_frames(), grips()
    model: Any = robot.model
    q = robot.random(np.random.default_rng(4))
    f = StaticTorques(robot, supports, actuated)
    x = f._forces.value(q)[:-6] * pin.computeTotalMass(model) * 9.81
    pushes = [pin.Force.Zero() for _ in range(model.njoints)]
    for i, (support, point) in enumerate((s, p) for s in supports for p in np.asarray(s.points)):
        force = x[3 * i : 3 * i + 3]
        pushes[support.frame.joint] += support.frame.placement.act(pin.Force(force, np.cross(point, force)))
    tau = pin.computeStaticTorque(model, model.createData(), q, pushes)
    rows = np.arange(6, model.nv) if actuated is None else [model.joints[robot.joint_index(n)].idx_v for n in actuated]
    np.testing.assert_allclose(f.value(q), tau[rows], rtol=0, atol=1e-9)
    np.testing.assert_allclose(tau[:6], 0.0, rtol=0, atol=1e-9)  # three points that reach all wrenches
    np.testing.assert_array_equal(f.limits[1], model.upperEffortLimit[rows])


def test_a_weight_on_one_leg_of_a_table_turns_no_joint_without_a_lever() -> None:
    """A limit of zero or of no number is none."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "top")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(2.0, 0.1), pin.SE3.Identity())
    leg = model.addJoint(joint, pin.JointModelRY(), pin.SE3.Identity(), "leg")
    model.addJointFrame(leg)
    model.lowerEffortLimit, model.upperEffortLimit = np.full(7, -5.0), np.zeros(7)
    robot = Robot(model)
    foot = Support(robot.frame("leg"), [[0.0, 0.0, -0.5]], friction=0.8)
    for q, torque in ((robot.neutral, 0.0), (np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]), 0.0)):
        np.testing.assert_allclose(StaticTorques(robot, foot).value(q), torque, rtol=0, atol=1e-12)
    f = StaticTorques(robot, foot)
    assert [side.tolist() for side in f.limits] == [[-5.0], [np.inf]]


@draws(10, 200)
def test_polygon_is_the_hull_of_moving_points(count: int) -> None:
    """The least row is the distance from the worst edge of a hull; corners' rows are those of all edges."""
    robot, supports = humanoid_frames(), grips()
    f, rng = SupportPolygon(robot, supports), np.random.default_rng(6)
    model: Any = robot.model
    for q in robot.random(rng, count):
        data = model.createData()
        c = pin.centerOfMass(model, data, q)[:2]
        at = np.array(
            [(data.oMi[s.frame.joint] * s.frame.placement).act(p)[:2] for s in supports for p in np.asarray(s.points)]
        )
        distances = -ConvexHull(at).equations @ [*c, 1.0]
        rows = f.value(q)
        np.testing.assert_allclose(np.unique(rows.round(10)), np.unique(distances.round(10)), rtol=0, atol=2e-10)
        assert len(rows) == 9


def test_rows_of_the_polygon_while_a_point_becomes_a_corner() -> None:
    """No smallest row jumps, and none appears: the point's row leaves the smallest and is one of its edges."""
    robot, points = boulder(), np.vstack([SQUARE, [[0.0, 0.2, 0.0]]])
    q = np.array([0.15, 0.05, *LEVEL[2:]])

    def at(y: float) -> np.ndarray:
        points[4, 1] = y
        return SupportPolygon(robot, Support(robot.frame("universe"), points)).value(q)

    before, after = at(0.2 - 1e-9), at(0.2 + 1e-9)
    assert before.size == after.size == 5
    assert before.min() == pytest.approx(after.min(), abs=1e-8) == pytest.approx(0.05)
    assert before[4] == before.min()
    assert after[4] == pytest.approx(0.15)


@pytest.mark.parametrize("off", [0.0, 1e-17, -1e-17, 1e-12])
def test_corners_that_two_supports_share_are_one(off: float) -> None:
    """Between two points that are one but for rounding there is no edge, whose direction would be anything."""
    outside = np.array([0.35, 0.25, *LEVEL[2:]])  # past a corner, where the lines through it differ
    world, double = boulder().frame("universe"), np.vstack([SQUARE, SQUARE + np.array([off, -off, 0.0])])
    once, twice = (SupportPolygon(boulder(), Support(world, points)) for points in (SQUARE, double))
    rows, J = twice.linearise(outside)
    np.testing.assert_allclose(np.unique(rows.round(9)), np.unique(once.value(outside).round(9)), rtol=0, atol=1e-9)
    assert np.abs(J).max() < 10.0


@pytest.mark.parametrize("thin", [0.0, 1e-12])
def test_points_on_one_line_in_any_direction_have_no_polygon(thin: float) -> None:
    line = np.outer(np.linspace(-1.0, 1.0, 5), [np.cos(0.5), np.sin(0.5), 0.0])
    line[2, 1] += thin
    f = SupportPolygon(boulder(), Support(boulder().frame("universe"), line))
    with pytest.raises(UndefinedError, match="on one line"):
        f.value(LEVEL)


@pytest.mark.parametrize("least", [1.0, 1e-3, 1e-5, 1e-7, 1e-12, 0.0])
def test_pseudo_inverses_are_numpys(least: float) -> None:
    """With a smallest singular value, by QR where that leaves no doubt; the singular values below 1e-9 are zero."""
    rng = np.random.default_rng(3)
    for rows, columns in ((6, 20), (6, 6), (6, 4)):
        U, V = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (rows, columns))
        s = np.array([2.0, 1.5, 1.0, least, 0.5, 0.7][: min(rows, columns)])
        G = (U[:, : s.size] * s) @ V[: s.size]
        parts = pseudo_inverse(G)
        expected = np.linalg.pinv(G, rcond=1e-9)
        np.testing.assert_allclose(parts.inverse, expected, rtol=0, atol=1e-14 / s[s > 1e-9].min() ** 2)
        y = rng.normal(size=rows)
        np.testing.assert_allclose(parts.left(y), y - G @ (expected @ y), rtol=0, atol=1e-8)


def test_gravity_that_is_not_along_z() -> None:
    """The polygon is seen along gravity, and the wrench is against it: everything turned, everything the same."""
    model: Any = boulder().model
    turned = model.copy()
    R = pin.utils.rotate("y", 0.8) @ pin.utils.rotate("x", 0.5)
    turned.gravity = pin.Motion(R @ [0.0, 0.0, -3.0], np.zeros(3))
    q = np.array([0.25, 0.05, *LEVEL[2:]])
    moved = pin.SE3ToXYZQUAT(pin.SE3(R, np.zeros(3)) * pin.XYZQUATToSE3(q))
    for kind in (SupportPolygon, StaticStability):
        values = []
        for robot, place, points in ((boulder(), q, SQUARE), (Robot(turned), moved, SQUARE @ R.T)):
            ground = Support(robot.frame("universe"), points, normal=(points is SQUARE and [0, 0, 1]) or R[:, 2])
            values.append(kind(robot, ground).value(place))
        a, b = values
        b = b if kind is SupportPolygon else np.concatenate([R.T @ b[:3], R.T @ b[3:]])
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


# --- supports and bad input ------------------------------------------------------------------------------------------


def test_support_under_a_surface_points_into_the_body() -> None:
    sole = Surface("sole", boulder().frame("body"), SQUARE[[0, 1, 3, 2]])  # seen from below, as its normal
    support = Support.under(sole, 0.4)
    np.testing.assert_allclose(np.asarray(support.normal), -np.array([0.0, 0.0, sole.normal[2]]), rtol=0, atol=1e-15)
    assert "4 points, friction 0.4" in repr(support)
    assert Support.under(sole).friction == Support(sole.frame, sole.points).friction == 0.0
    assert "no friction" in repr(Support(boulder().frame("body"), SQUARE[:1]))


def _still() -> Robot:
    model: Any = boulder().model
    model = model.copy()
    model.gravity = pin.Motion.Zero()
    return Robot(model)


WRONG: dict[str, tuple[Callable[[], object], type[ConstraintError], str]] = {
    "no gravity": (
        lambda: StaticStability(_still(), Support(_still().frame("body"), SQUARE)), ModelError, "no gravity",
    ),
    "no supports": (lambda: StaticStability(boulder(), []), SizeError, "at least one"),
    "a length": (
        lambda: StaticStability(boulder(), Support(boulder().frame("body"), SQUARE), length=0.0), OptionError, "length",
    ),
    "two points": (
        lambda: SupportPolygon(boulder(), Support(boulder().frame("body"), SQUARE[:2])), SizeError, "at least 3",
    ),
    "a line": (
        lambda: SupportPolygon(boulder(), Support(boulder().frame("body"), SQUARE[[0, 0, 1]])).value(LEVEL),
        UndefinedError, "on one line",
    ),
    "shares": (
        lambda: ContactForces(boulder(), Support(boulder().frame("body"), SQUARE), [0.0]), OptionError, "positive",
    ),
    "as many shares": (
        lambda: ContactForces(boulder(), Support(boulder().frame("body"), SQUARE), [1.0, 1.0]), SizeError, "shares",
    ),
    "a support in the world": (
        lambda: StaticTorques(humanoid(), Support(humanoid().frame("universe"), SQUARE)), OptionError, "pushes no body",
    ),
    "no joint": (
        lambda: StaticTorques(boulder(), Support(boulder().frame("body"), SQUARE)), OptionError, "at least one",
    ),
    "points": (lambda: Support(boulder().frame("body"), [[0.0, 0.0]]), SizeError, "1 row of 3"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_a_named_error(what: str) -> None:
    make, error, words = WRONG[what]
    with pytest.raises(error, match=words):
        make()


# Cones.


@pytest.mark.parametrize("normal", [[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.0, -1.0, 0.0], [2 / 3, -1 / 3, 2 / 3]])
def test_what_a_force_needs(normal: list[float]) -> None:
    """The tangent of its angle to the normal; nothing for no force; no coefficient is enough where it does not push."""
    cone, n = FrictionCone(0.5, normal), np.array(normal)
    across = np.cross(n, [0.3, 0.5, -0.2])
    across /= np.linalg.norm(across)
    for push, slip in ((10.0, 5.0), (2.0, 0.0), (1e-9, 3.0), (4.0, 12.0)):
        assert cone.needed(push * n + slip * across) == pytest.approx(slip / push, rel=1e-6, abs=1e-12)
    assert cone.needed(np.zeros(3)) == 0.0
    for force in (-n, -2.0 * n + across, 3.0 * across if normal[2] == 1.0 else across - 1e-3 * n):
        assert cone.needed(force) == np.inf


@pytest.mark.parametrize("edges", [3, 4, 5, 8])
@pytest.mark.parametrize("normal", [[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [2 / 3, -1 / 3, 2 / 3]])
@pytest.mark.parametrize("mu", [0.0, 0.5, 2.0])
def test_the_pyramid_inside_a_cone(mu: float, normal: list[float], edges: int) -> None:
    """Its edges are rays of the cone, equally far apart; each is on two faces, and inside of the others."""
    cone, n = FrictionCone(mu, normal, edges), np.array(normal)
    A = cone.rows
    assert A.shape == (edges + 1, 3)
    np.testing.assert_array_equal(A[-1], -n)
    outward = A[:-1] - np.outer(A[:-1] @ n, n)
    np.testing.assert_allclose(np.linalg.norm(outward, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(A[:-1] @ n, -mu * np.cos(np.pi / edges), atol=1e-12)
    first = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    first /= np.linalg.norm(first)
    for i in range(edges):
        angle = 2.0 * np.pi * i / edges
        ray = n + mu * (np.cos(angle) * first + np.sin(angle) * np.cross(n, first))
        values = A[:-1] @ ray
        assert values.max() < 1e-12
        if mu:
            assert (np.abs(values) < 1e-12).sum() == 2
            assert (A[:-1] @ (ray + 1e-6 * (ray - n))).max() > 1e-7


def test_numbers_of_a_cone() -> None:
    assert FrictionCone(0.3).edges == 8
    assert FrictionCone(0.0, edges=3).rows.shape == (4, 3)
    np.testing.assert_array_equal(np.asarray(FrictionCone(1.0).normal), [0.0, 0.0, 1.0])
    for wrong in ({"coefficient": -1e-9}, {"coefficient": 0.5, "edges": 2}):
        with pytest.raises(OptionError, match="of a friction cone"):
            FrictionCone(**wrong)  # type: ignore[arg-type]
