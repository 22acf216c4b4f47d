"""Rows of closures and contacts: derivatives off the manifold, legal motions, origin, rods, balls, targets, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from loops.test_hinges import HINGES
from rbdl_models import data, robot_of, set_of
from samples import humanoid_frames, mixed_frames, placement, two_arms_frames

from constraints import Problem, Robot, Target
from constraints.errors import ConstraintError, OptionError, UnknownFrameError, WrongObjectError
from constraints.loops import (
    Axes,
    Closure,
    ConstraintSet,
    Hinge,
    PointClosure,
    PointContact,
    RodClosure,
    SurfaceContact,
)
from constraints.loops.closures import FixedClosureError
from constraints.rows.stacking import Order, stack_rows
from constraints.testing import check_function
from liegroups import Rn

WORLD = Axes.LOCAL_WORLD_ALIGNED
NORMAL = [0.0, 0.6, 0.8]


def owners(robot: Robot) -> dict[str, Callable[[], Any]]:
    """Every closure and contact on the frames "a" and "b" of a robot."""
    made: dict[str, Callable[[], Any]] = {
        f"closure {name}": lambda hinge=hinge: Closure(robot, "a", "b", hinge)
        for name, hinge in HINGES.items()
        if hinge.rows and name != "custom"
    }
    return made | {
        "to the world": lambda: Closure(robot, "a", placement(50), Hinge.pin(NORMAL)),
        "from the world": lambda: Closure(robot, placement(50), "b", Hinge.universal()),
        "point": lambda: PointClosure(robot, "a", "b"),
        "rod": lambda: RodClosure(robot, "a", "b", 0.4),
        "point contact": lambda: PointContact(robot, "b", anchor=[0.1, 0.2, 0.3]),
        "point contact, local": lambda: PointContact(robot, "b", anchor=[0.1, 0.2, 0.3], axes=Axes.LOCAL),
        "normal": lambda: PointContact(robot, "b", NORMAL, [0.1, 0.2, 0.3]),
        "normal, local": lambda: PointContact(robot, "b", NORMAL, [0.1, 0.2, 0.3], axes=Axes.LOCAL),
        "surface": lambda: SurfaceContact(robot, "b", placement(51)),
        "surface, world": lambda: SurfaceContact(robot, "b", placement(51), axes=WORLD),
        "point without anchor": lambda: PointContact(robot, "b"),
        "point without anchor, local": lambda: PointContact(robot, "b", axes=Axes.LOCAL),
        "surface without anchor": lambda: SurfaceContact(robot, "b"),
        "surface without anchor, world": lambda: SurfaceContact(robot, "b", axes=WORLD),
    }


OWNERS = list(owners(two_arms_frames()))


def near_half_turn(owner: Any, q: np.ndarray) -> bool:
    """Where the rotation rows have no, or hardly a, derivative: there differences of them say nothing."""
    R = owner.function.relative_placement(owner.robot.at(q).placed()).rotation
    hinge = getattr(owner, "hinge", None)
    if hinge is not None and len(hinge.subhinges) and any(sub.turns for sub in hinge.subhinges):
        rows = owner.function.value(q)
        limit = 1.2 if hinge.kind.name in ("UNIVERSAL", "HOOKE") else 2.8
        return bool(np.linalg.norm(rows[-1:] if limit == 1.2 else rows[-2:]) > limit)
    return bool(np.linalg.norm(pin.log3(R)) > 3.0)


@pytest.mark.parametrize("which", a_few(OWNERS, 9))
@pytest.mark.parametrize("robot", [two_arms_frames, humanoid_frames, mixed_frames], ids=["arms", "humanoid", "mixed"])
def test_rows_are_derivatives_of_each_other(which: str, robot: Callable[[], Robot]) -> None:
    """RBDL cases 6 and 7: Jacobians to 1e-7 and drifts to 1e-6 by differences, off the manifold, frames anywhere."""
    owner, rng = owners(robot())[which](), np.random.default_rng(11)
    space, stack = robot().space, ConstraintSet(robot(), [owner]).stack
    done = 0
    for _ in range(60):
        q, v = robot().random(rng), 0.5 * rng.standard_normal(robot().nv)
        if near_half_turn(owner, q):
            continue
        h = 1e-5
        places = space.integrate(q, h * v), space.integrate(q, -h * v)
        errors = [stack_rows(stack, robot().at(x), Order.POSITION).error.copy() for x in places]
        rates = [stack_rows(stack, robot().at(x, v), Order.VELOCITY).error.copy() for x in places]
        here = stack_rows(stack, robot().at(q, v), Order.VELOCITY)
        velocity, J = here.error.copy(), here.jacobian.copy()
        assert np.abs(J @ v - velocity).max() < 1e-12 * (1.0 + np.abs(velocity).max())
        if owner.has_position:
            slope = (errors[0] - errors[1]) / (2 * h)
            assert np.abs(slope - velocity).max() < 1e-7 * (1.0 + np.abs(velocity).max())
        else:
            assert (errors[0] == 0.0).all()
        slope = (rates[0] - rates[1]) / (2 * h)
        drift = stack_rows(stack, robot().at(q, v), Order.ACCELERATION).error
        assert np.abs(slope - drift).max() < 1e-6 * (1.0 + np.abs(slope).max())
        done += 1
        if done == 34:  # with three robots a hundred motions
            break
    assert done >= 20


def test_the_drift_of_a_custom_hinge() -> None:
    """RBDL case 7 for a hinge fitted by Newton, near its manifold and off it."""
    robot, rng = two_arms_frames(), np.random.default_rng(4)
    closure = Closure(robot, "a", "b", HINGES["custom"])
    rows = ConstraintSet(robot, [closure])
    done = 0
    for _ in range(60):
        q, v = robot.random(rng), 0.5 * rng.standard_normal(robot.nv)
        if done == 10 or np.linalg.norm(closure.residual(q)) > 1.0:
            continue
        h = 1e-5
        places = robot.space.integrate(q, h * v), robot.space.integrate(q, -h * v)
        slope = (closure.residual(places[0]) - closure.residual(places[1])) / (2 * h)
        assert np.abs(slope - closure.residual_rate(q, v)).max() < 1e-6 * (1.0 + np.abs(slope).max())
        slope = (closure.residual_rate(places[0], v) - closure.residual_rate(places[1], v)) / (2 * h)
        assert np.abs(slope - rows.drift(q, v)).max() < 1e-6 * (1.0 + np.abs(slope).max())
        done += 1
    assert done >= 10


@pytest.mark.parametrize("which", OWNERS)
def test_functions_obey_the_laws(which: str) -> None:
    """The function of each closure and anchored contact passes the checks that every function passes."""
    owner = owners(two_arms_frames())[which]()
    if not owner.has_position:
        return
    rng = np.random.default_rng(2)
    start = next(q for q in (two_arms_frames().random(rng) for _ in range(50)) if not near_half_turn(owner, q))
    assert owner.function.has_exact_drift
    J = owner.function.jacobian(start)
    assert not J[:, ~owner.columns].any()
    assert J[:, owner.columns].any(axis=0).all()


def test_the_checker_takes_closures() -> None:
    """`check_function` finds nothing wrong with the rows of a hinge."""
    check_function(Closure(two_arms_frames(), "a", "b", Hinge.translational()).function)
    check_function(PointClosure(two_arms_frames(), "a", "b").function)


def test_rbdl_states() -> None:
    """RBDL case 1, kinematic part: linear rows are RBDL's: error, and on the manifold velocity, G, gamma."""
    for name in ("fivebar_planar", "fourbar_planar"):
        rows = set_of(name)
        for state in data()["models"][name]["states"]:
            q, v = np.array(state["q_inplace"]), np.array(state["qdot"])
            assert np.abs(rows.position_error(q) - np.array(state["position_error"])).max() < 1e-9
            if state["label"].startswith("off"):
                continue  # there RBDL's G leaves the turning of the predecessor out
            for ours, theirs in (
                (rows.velocity_error(q, v), state["velocity_error"]),
                (rows.jacobian(q), state["G"]),
                (-rows.drift(q, v), state["gamma"]),
            ):
                assert np.abs(ours - np.array(theirs)).max() < 1e-9


def match(ours: np.ndarray, theirs: np.ndarray) -> tuple[list[int], np.ndarray]:
    products = ours @ theirs.T / np.square(theirs).sum(axis=1)
    order = np.abs(products).argmax(axis=0).tolist()
    return order, np.sign(products[order, np.arange(len(order))])


@pytest.mark.parametrize("name", ["loop_prismatic_rows", "loop_orientation_rows"])
def test_what_rbdl_does_to_rotation_rows_is_not_reproduced(name: str) -> None:
    """RBDL case 8: where RBDL's G is not the derivative of its own error, ours is; a legal motion has no error."""
    rows, entry = set_of(name), data()["loops"][name]
    q = np.array(entry["q_inplace"])
    G, slopes = np.array(entry["G"]), np.array(entry["finite_difference_of_position_error"])
    assert np.abs(G - slopes).max() > 0.5  # what is not reproduced
    J = rows.jacobian(q)
    order, signs = match(J, slopes)
    assert np.abs(signs[:, None] * J[order] - slopes).max() < 1e-8
    ours, theirs = np.linalg.matrix_rank(J, 1e-9), np.linalg.matrix_rank(np.vstack([J, G]), 1e-6)
    assert theirs > ours  # not even the row spaces agree


@pytest.mark.parametrize("which", [w for w in OWNERS if w.startswith("closure") or w in ("point", "rod") or "the" in w])
def test_moving_the_origin_changes_nothing(which: str) -> None:
    """RBDL case 9: the whole mechanism elsewhere in the world has the same errors, Jacobians and drifts."""
    model: Any = pin.Model(two_arms_frames().model)
    there = pin.SE3(pin.exp3(np.array([0.4, -1.0, 0.7])), np.array([3.0, -2.0, 5.0]))
    for i in range(1, model.njoints):
        if model.parents[i] == 0:
            model.jointPlacements[i] = there * model.jointPlacements[i]
    moved = Robot(model)
    for frame in two_arms_frames().added_frames:
        moved = moved.with_frame(frame.name, frame.joint_name, frame.placement)
    rng = np.random.default_rng(8)
    one = owners(two_arms_frames())[which]()
    other = owners(moved)[which]()
    if "world" in which:
        at = there * placement(50)
        other = (
            Closure(moved, "a", at, Hinge.pin(NORMAL))
            if which == "to the world"
            else Closure(moved, at, "b", one.hinge)
        )
    first, second = ConstraintSet(two_arms_frames(), [one]), ConstraintSet(moved, [other])
    for _ in range(5):
        q, v = two_arms_frames().random(rng), rng.standard_normal(moved.nv)
        if near_half_turn(one, q):
            continue
        assert np.abs(first.position_error(q) - second.position_error(q)).max() < 1e-11
        J = first.jacobian(q)
        assert np.abs(J - second.jacobian(q)).max() < 1e-11 * (1.0 + np.abs(J).max())
        drift = first.drift(q, v)
        assert np.abs(drift - second.drift(q, v)).max() < 1e-10 * (1.0 + np.abs(drift).max())


def test_pinocchio_agrees() -> None:
    """Locked and point closures are pinocchio's frame and point anchors: error, Jacobian, acceleration."""
    robot, rng = two_arms_frames(), np.random.default_rng(9)
    a, b = robot.frame("a"), robot.frame("b")
    for closure, kind in ((Closure(robot, "a", "b"), "Frame"), (PointClosure(robot, "a", "b"), "Point")):
        anchor = getattr(pin, f"{kind}AnchorConstraintModel")(robot.model, a.joint, a.placement, b.joint, b.placement)
        for _ in range(5):
            q, d = robot.random(rng), robot.model.createData()
            pin.computeJointJacobians(robot.model, d, q)
            memory = anchor.createData()
            anchor.calc(robot.model, d, memory)
            J = anchor.jacobian(robot.model, d, memory)
            D = pin.Jlog6(closure.pose(q).inverse()) if kind == "Frame" else np.eye(3)
            assert np.abs(closure.function.jacobian(q) - D @ J).max() < 1e-10
            assert np.abs(closure.residual(q) - memory.constraint_position_error).max() < 1e-12


def test_rods_and_balls_have_robotrans_geometry() -> None:
    """Case 10: rod (|x|^2 - l^2)/2 with x from p to s and row x^T; ball x_s - x_p; J^T gives forces along x."""
    robot, rng = two_arms_frames(), np.random.default_rng(10)
    rod, ball = RodClosure(robot, "a", "b", 0.4), PointClosure(robot, "a", "b")
    for _ in range(5):
        posture = robot.at(q := robot.random(rng))
        A, B = posture.placement(robot.frame("a")), posture.placement(robot.frame("b"))
        x = B.translation - A.translation
        assert rod.residual(q)[0] == pytest.approx(0.5 * (x @ x - 0.16), abs=1e-13)
        assert np.abs(A.rotation @ ball.residual(q) - x).max() < 1e-13
        Qp, Qs = rod.constraint_matrices(q)
        force = B.rotation @ Qs[0, :3]
        assert np.abs(force - x).max() < 1e-13  # lambda x on the successor: lambda > 0 pushes the ends apart
        opposite = A.rotation @ Qp[0, :3]
        assert np.abs(opposite + x).max() < 1e-13
        Qp, Qs = ball.constraint_matrices(q)
        J = Qp @ robot.at(q).jacobian(robot.frame("a")) + Qs @ robot.at(q).jacobian(robot.frame("b"))
        assert np.abs(J - ball.function.jacobian(q)).max() < 1e-12
        wrench = np.random.default_rng(0).standard_normal(3) @ np.hstack([Qp, Qs])
        world = A.inverse().action.T @ wrench[:6] + B.inverse().action.T @ wrench[6:]
        assert np.abs(world).max() < 1e-12  # force and moment on the two bodies cancel


def test_targets_move_rows_at_all_orders() -> None:
    """Moving targets: velocity and acceleration rows are the derivatives of position rows in time, all kinds."""
    robot, h, t = two_arms_frames(), 1e-4, 0.8
    wave = Target(lambda t: 0.1 * np.sin(t * np.arange(1.0, 6.0)))
    length = Target(lambda t: [0.5 + 0.1 * np.sin(t)], lambda t: [0.1 * np.cos(t)], lambda t: [-0.1 * np.sin(t)])
    rows = ConstraintSet(
        robot,
        [Closure(robot, "a", "b", Hinge.pin(NORMAL), target=wave, name="pin"), RodClosure(robot, "a", "b", length)],
    )
    rng = np.random.default_rng(12)
    q, v, a = robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    while near_half_turn(rows["pin"], q):
        q = robot.random(rng)

    def at(s: float) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity a time s later, at constant acceleration of the coordinates."""
        return robot.space.integrate(q, s * v + 0.5 * s * s * a), v + s * a

    errors = [rows.position_error(at(s)[0], rows.rhs_at(t + s)) for s in (-h, 0.0, h)]
    velocity = rows.velocity_error(q, v, rows.rhs_at(t))
    assert np.abs((errors[2] - errors[0]) / (2 * h) - velocity).max() < 1e-6
    second = (errors[2] - 2.0 * errors[1] + errors[0]) / h**2
    found = rows.drift(q, v, rows.rhs_at(t)) + rows.jacobian(q, rows.rhs_at(t)) @ a
    assert np.abs(second - found).max() < 1e-5 * (1.0 + np.abs(second).max())
    assert Rn(1).nv == rows.slice_of(1).stop - rows.slice_of(1).start


def test_the_row_of_a_rod_that_changes_its_length_is_half_the_difference_of_squares() -> None:
    """(|x|^2 - l(t)^2) / 2, x between the two origins by plain pinocchio; the same as that of a rod of this length."""
    robot, t = two_arms_frames(), 0.8
    rows = ConstraintSet(robot, [RodClosure(robot, "a", "b", Target(lambda t: [0.5 + 0.1 * np.sin(t)]))])
    length = 0.5 + 0.1 * np.sin(t)
    fixed = ConstraintSet(robot, [RodClosure(robot, "a", "b", length)])
    data = robot.model.createData()
    for q in robot.random(np.random.default_rng(13), 5):
        pin.forwardKinematics(robot.model, data, q)
        a, b = (data.oMi[f.joint] * f.placement for f in (robot.frame("a"), robot.frame("b")))
        x = b.translation - a.translation
        expected = 0.5 * (x @ x - length**2)
        np.testing.assert_allclose(rows.position_error(q, rows.rhs_at(t)), [expected], rtol=0, atol=1e-14)
        np.testing.assert_allclose(fixed.position_error(q), [expected], rtol=0, atol=1e-14)


@pytest.mark.parametrize("length", [[0.0], [-0.2], [np.nan], [0.3, 0.4], [0.3, 0.4, 0.5]])
def test_a_rod_whose_length_is_no_positive_number_is_refused_at_that_time(length: list[float]) -> None:
    late = Target(lambda t: length if t > 0.5 else [0.4])
    rows = ConstraintSet(two_arms_frames(), [RodClosure(two_arms_frames(), "a", "b", late, name="rod")])
    rows.rhs_at(0.1)
    with pytest.raises(OptionError, match=r"length of 'rod' at 0\.8 s: expected one positive number"):
        rows.rhs_at(0.8)


def test_contacts_hold_where_they_are_anchored() -> None:
    """`anchored(q)` is zero at q; without an anchor there is no position row, and a Problem refuses it."""
    robot, q = two_arms_frames(), two_arms_frames().random(np.random.default_rng(3))
    for contact in (PointContact(robot, "b"), SurfaceContact(robot, "b"), SurfaceContact(robot, "b", axes=WORLD)):
        assert np.abs(contact.anchored(q).function.value(q)).max() < 1e-12
        rows = ConstraintSet(robot, [contact])
        assert not rows.position_error(q).any()
        assert rows.jacobian(q).any()
        with pytest.raises(WrongObjectError, match="anchor"):
            Problem(robot, [contact])


def test_wrong_closures_are_named() -> None:
    """RBDL case 20: unknown frames with the nearest names, frames on one joint, lengths, hinges, targets."""
    robot = two_arms_frames()
    with pytest.raises(UnknownFrameError, match="left_tool"):
        Closure(robot, "left_tol", "b")
    with pytest.raises(FixedClosureError, match="left_tool"):
        Closure(robot, "left_tool", robot.frame("left_tool", placement(1)), name="left_tool twice")
    with pytest.raises(FixedClosureError, match="world"):
        PointClosure(robot, None, placement(1))
    for length in (0.0, -1.0, np.inf, "long", [1.0, 2.0], [], [[1.0]], np.zeros(2)):
        with pytest.raises(ConstraintError, match="length"):
            RodClosure(robot, "a", "b", length)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="hinge"):
        Closure(robot, "a", "b", "pin")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="target"):
        Closure(robot, "a", "b", target=[0.0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert robot_of("fourbar_planar").nv == 3
