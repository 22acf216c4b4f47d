"""Bodies that are held by explicit poses: the loop sees the resolved configuration, and ends with it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few

from constraints import (
    CenterOfMass,
    Comparison,
    ConvexShapeContact,
    ConvexShapeContactHold,
    Explicit,
    Implicit,
    Options,
    Orientation,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Rotation,
    Status,
    Surface,
    Transformation,
    explicit_relative_pose,
)
from constraints.rows.explicit_forms import HOLD_ROWS
from constraints.solvers.newton.program import NewtonProgram
from constraints.workspace import Workspace
from liegroups import Segments


@functools.cache
def robot() -> Robot:
    """An arm, and three boxes: one in the world, one whose seat is on a joint of the arm, one with a lid on a hinge."""
    model: Any = pin.Model()
    at = 0
    kinds = (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRY, pin.JointModelRX, pin.JointModelRY, pin.JointModelRX)
    for i, kind in enumerate(kinds):
        place = pin.SE3(np.eye(3), np.array([0.05, 0.02, 0.3 if i else 0.1]))
        at = model.addJoint(at, kind(), place, f"arm{i}")
        model.appendBodyToJoint(at, pin.Inertia.Random(), pin.SE3.Identity())
    model.addFrame(pin.Frame("hand", at, 0, pin.SE3(pin.exp3(np.array([0.3, 0.2, 0.1])), np.array([0.0, 0.0, 0.1])),
                             pin.FrameType.OP_FRAME))  # fmt: skip
    for name, parent in (("box", 0), ("tray", 2), ("chest", 0)):
        seat = pin.SE3(pin.exp3(np.array([0.1, 0.4, -0.2])), np.array([0.3, 0.1, 0.2]))
        joint = model.addJoint(parent, pin.JointModelFreeFlyer(), seat, name)
        model.appendBodyToJoint(joint, pin.Inertia.FromBox(0.5, 0.1, 0.1, 0.1), pin.SE3.Identity())
        place = pin.SE3(pin.exp3(np.array([-0.2, 0.1, 0.5])), np.array([0.02, 0.03, -0.04]))
        model.addFrame(pin.Frame(f"{name} side", joint, 0, place, pin.FrameType.OP_FRAME))
    lid = model.addJoint(model.getJointId("chest"), pin.JointModelRX(), pin.SE3.Identity(), "lid")
    model.addFrame(pin.Frame("lid edge", lid, 0, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    return Robot(model, "arm with boxes").without_bounds()


def grasp(body: str, by: str = "hand", rhs: Any = None) -> Explicit:
    return explicit_relative_pose(
        robot(), by, f"{body} side", rhs, comparison=[Comparison.EQUALITY] * 6, name=f"{body} on {by}"
    )


def reachable(seed: int) -> tuple[np.ndarray, Any]:
    """A configuration of the arm, and where the side of a box held by the hand then is."""
    rng = np.random.default_rng(seed)
    q = robot().random(rng)
    q[:6] = rng.uniform(-1.0, 1.0, 6)
    return q, robot().at(q).placement(robot().frame("hand"))


CASES: dict[str, list[Any]] = {}


def case(name: str, *constraints: Any) -> None:
    CASES[name] = list(constraints)


def build() -> None:
    r = robot()
    here = reachable(1)[1]
    case("the pose of a held box", grasp("box"), Implicit.zero(Transformation(r, "box side", here)))
    case("some rows of it", grasp("box"),
         Implicit.zero(Transformation(r, "box side"), mask=[False, False, True, True, True, False]))  # fmt: skip
    case("a box seen from the arm", grasp("box"), Implicit.zero(Position(r, "box side", reference="arm1")))
    case("the arm seen from a box", grasp("box"), Implicit.zero(Transformation(r, "arm0", reference="box side")))
    case("orientations", grasp("box"), Implicit.equal(Orientation(r, "box side"), [0.1, 0.2, 0.3]),
         Implicit.equal(Rotation(r, "box"), [0.0, 0.0, 0.0, 1.0]))  # fmt: skip
    case("a box on a box", grasp("box"), grasp("tray", "box side", [0.1, 0.0, 0.2, 0.3, 0.0, 0.1]),
         Implicit.zero(Transformation(r, "tray", here)))  # fmt: skip
    case("two boxes seen from each other", grasp("box"), grasp("tray", "arm3"),
         Implicit.equal(Pose(r, "tray side", here)),
         Implicit.zero(Position(r, "box side", reference="tray")))  # fmt: skip
    case("a box on a body that is computed", grasp("box"), grasp("tray", "box side"),
         Implicit.zero(Transformation(r, "tray side", here)),
         Implicit.equal(CenterOfMass(r, joints=["box"]), [0.2, 0.1, 0.5]))  # fmt: skip
    case("a centre of mass", grasp("box"), Implicit.equal(CenterOfMass(r), [0.1, 0.1, 0.5]))
    case("a joint on the body", grasp("chest"), Implicit.zero(Position(r, "lid edge", reference="arm0")))
    case("on a joint of a held body", grasp("chest"), grasp("box", "lid edge"),
         Implicit.zero(Transformation(r, "chest side", reference="box side")))  # fmt: skip
    case("a held body and a joint on it, seen from each other", grasp("chest"),
         Implicit.zero(Transformation(r, "chest", here)),
         Implicit.zero(Position(r, "lid edge", reference="chest side"), mask=[False, True, False]))  # fmt: skip
    case("a body that stays in the world while its seat moves", grasp("tray", "universe"),
         Implicit.zero(Position(r, "hand", reference="tray side")))  # fmt: skip
    for name, base in (("a pose seen from elsewhere", "arm2"), ("a pose that is not seen from the seat", "universe")):
        box = Segments.of(r.space, "box")
        case(name, Explicit(Pose(r, "hand", reference=base), box), Implicit.zero(Position(r, "box side")))
    square = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    table = Surface("table", r.frame("universe", pin.SE3(np.eye(3), np.array([0.6, 0.3, 0.5]))), 0.3 * square)
    shelf = Surface("shelf", r.frame("arm0"), 0.4 * square + [0.3, 0.0, 0.2])
    sides = [Surface(f"{n} bottom", r.frame(n), 0.05 * square[::-1]) for n in ("box", "tray")]
    held = grasp("box"), grasp("tray", "arm3")
    case("a held box on a table", grasp("box"), Implicit.zero(ConvexShapeContact(r, table, sides[0])))
    case("a held box at a place on a table", grasp("box"),
         Implicit(ConvexShapeContactHold(r, table, sides[0]), HOLD_ROWS))  # fmt: skip
    case("the nearest of two held boxes and two floors, one of which moves", *held,
         Implicit.zero(ConvexShapeContact(r, [table, shelf], sides, 0.01)))  # fmt: skip
    case("a box on the lid of a held chest", grasp("chest"),
         Implicit.zero(ConvexShapeContact(r, Surface("lid", r.frame("lid edge"), square), sides[0])))  # fmt: skip
    case("in an inequality", grasp("box"), Implicit.above(Transformation(r, "box side"), -0.5),
         Implicit.zero(Pose(r, "arm0", reference="box")))  # fmt: skip


build()


def rows_in_loop(problem: Problem, q: np.ndarray, sides: Any) -> tuple[np.ndarray, np.ndarray]:
    program, workspace = NewtonProgram(problem, Options()), Workspace()
    state, iteration = program._begun(q, sides, workspace), program._iteration
    _, rows = iteration.rows_at(q, state)
    return (
        np.concatenate([level.error.copy() for level in rows]),
        np.concatenate([level.jacobian.copy() for level in rows]),
    )


def resolved(problem: Problem, q: np.ndarray, sides: Any) -> np.ndarray:
    """The configuration with its outputs, one explicit constraint after the other."""
    q = q.copy()
    for explicit in problem.resolution.explicits:
        q[explicit.outputs.q_indices] = sides.map_of(explicit).value(q)
    for explicit in problem.explicits:
        assert np.abs(problem.error(q, explicit, sides)).max() < 1e-12
    return q


@pytest.mark.parametrize("name", a_few(CASES, 7))
def test_rows_of_the_loop_are_those_of_the_resolved_configuration(name: str) -> None:
    """Against the problem's own rows where outputs are written one after the other, by the chain rule."""
    constraints = CASES[name]
    problem = Problem(robot(), constraints)
    assert len(problem.explicits) == sum(isinstance(c, Explicit) for c in constraints)
    rng = np.random.default_rng(4)
    for _ in range(3):
        sides = problem.rhs
        for explicit in problem.explicits:
            if explicit.rows.free_rhs.all():
                sides = sides.replace(explicit, 0.4 * rng.standard_normal(6))
        q = robot().random(rng)
        whole = resolved(problem, q, sides)
        e, J = rows_in_loop(problem, q, sides)
        rows = problem.rows(whole, sides)
        T = problem.resolution_jacobian(problem.at(whole), sides)
        np.testing.assert_allclose(e, rows.error[: len(e)], atol=1e-12)
        np.testing.assert_allclose(J, rows.jacobian[: len(e)] @ T, atol=1e-12)


def test_one_projector_takes_one_right_hand_side_after_the_other() -> None:
    """Held boxes end on their targets and in the hand, by plain pinocchio, whatever was asked for before."""
    r = robot()
    model: Any = r.model
    data, rng = model.createData(), np.random.default_rng(2)
    held, target = grasp("box"), Implicit.equal(Pose(r, "box side"))
    problem = Problem(r, [held, target])
    projector = Projector(problem, Options(max_iterations=100))
    box, hand = (model.getFrameId(name) for name in ("box side", "hand"))
    for seed in range(12):
        _, here = reachable(seed)
        grip = pin.SE3(pin.exp3(0.3 * rng.standard_normal(3)), 0.1 * rng.standard_normal(3))
        there = pin.SE3ToXYZQUAT(here * grip)
        sides = problem.rhs.replace(held, np.r_[grip.translation, pin.log3(grip.rotation)]).replace(target, there)
        result = projector.project(r.random(rng), sides)
        assert result.success
        pin.framesForwardKinematics(model, data, result.q)
        oMb, oMh = data.oMf[box], data.oMf[hand]
        assert np.abs((oMh * grip).homogeneous - oMb.homogeneous).max() < 1e-12
        assert np.linalg.norm(pin.log6(here * grip).vector - pin.log6(oMb).vector) < 1e-3
        assert result.residual == pytest.approx(problem.residual(result.q, sides), abs=1e-12)


def test_failures_come_back_resolved() -> None:
    """The best iterate of an unreachable target has the box in the hand."""
    r = robot()
    far = Implicit.zero(Transformation(r, "box side", pin.SE3(np.eye(3), np.array([9.0, 0.0, 0.0]))))
    problem = Problem(r, [grasp("box"), far])
    for options in (Options(), Options.local()):
        result = Projector(problem, options).project(r.random(np.random.default_rng(1)))
        assert not result.success
        assert np.abs(problem.error(result.q, problem.explicits.owners[0])).max() < 1e-12
        assert result.residual == pytest.approx(problem.residual(result.q), rel=1e-9)


def test_one_step_comes_back_resolved() -> None:
    """A single step of the solver leaves the box in the hand."""
    r = robot()
    problem = Problem(r, [grasp("box"), Implicit.zero(Transformation(r, "box side", reachable(1)[1]))])
    q = Projector(problem).one_step(r.random(np.random.default_rng(1)))
    assert np.abs(problem.error(q, problem.explicits.owners[0])).max() < 1e-12


@pytest.mark.parametrize("by", ["hand", "universe"])
def test_the_other_quaternion_is_the_same_pose(by: str) -> None:
    """Two quaternions are one rotation: a start with the one that is not computed stays, bit for bit."""
    problem = Problem(robot(), [grasp("box", by, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])])
    q = resolved(problem, robot().random(np.random.default_rng(3)), problem.rhs)
    q[9:13] *= -1.0
    result = Projector(problem).project(q)
    assert (result.status, result.iterations) == (Status.CONVERGED, 0)
    assert result.q.tobytes() == q.tobytes()
