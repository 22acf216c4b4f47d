"""Rows of closures and contacts by the kernels, and projections of mechanisms: those of the readable engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
import pinocchio as pin
import pytest
from compiled.both_engines import LIMIT, CompiledRows, assert_close
from each_choice import a_few
from loops.test_axes_rows_and_fits import AXIS
from loops.test_closures import OWNERS, WORLD, owners
from loops.test_hinges import HINGES
from robots import arm
from samples import mixed_frames, placement, two_arms_frames

from constraints import Bounds, Frame, Implicit, Options, Pose, Problem, Projector, Robot, Target
from constraints.loops import Axes, Closure, Form, Hinge, PointClosure, PointContact, RodClosure, SurfaceContact
from constraints.loops.contacts import LocalPoint
from constraints.loops.frame_rows import FrameRows
from constraints.loops.hinges.hinge_fit import ScrewRows
from constraints.loops.hinges.pose_map import LogPose, PoseMap, Rod, Split, TurnedLog
from constraints.loops.hinges.relative_pose import OfRelativePose
from constraints.loops.hinges.rotation_rows import Cross, RotationRows, Swing, Turn, perpendicular_pair
from constraints.loops.hinges.subhinge import Subhinge, SubhingeMotion
from constraints.models import mechanisms
from constraints.solvers.compiled.engine import why_not
from constraints.solvers.compiled.problem import packed
from liegroups import ProductSpace, Rn

NAMES = [name for name in OWNERS if "without anchor" not in name]
FREE: Any = Options.local(threshold=1e-10, damping=0.01, patience_count=6)


def others(robot: Robot) -> dict[str, Callable[[], Any]]:
    """What `owners` has not: rows that velocities do not derive from, targets, masks, single axes."""
    still = Target(lambda t: np.full(5, 0.1), lambda t: np.zeros(5), lambda t: np.zeros(5))
    longer = Target(lambda t: np.array([0.5]), lambda t: np.zeros(1), lambda t: np.zeros(1))
    at, place = [0.1, 0.2, 0.3], placement(51)
    return {
        "closure, rates": lambda: Closure(robot, "a", "b", Hinge.pin([0.6, 0.0, 0.8]), form=Form.RATES),
        "surface, rates": lambda: SurfaceContact(robot, "b", place, form=Form.RATES),
        "surface, world, rates": lambda: SurfaceContact(robot, "b", place, axes=WORLD, form=Form.RATES),
        "point, local, rates": lambda: PointContact(robot, "b", anchor=at, axes=Axes.LOCAL, form=Form.RATES),
        "driven closure": lambda: Closure(robot, "a", "b", Hinge.pin(AXIS), target=still),
        "rod that grows": lambda: RodClosure(robot, "a", "b", longer),
        "masked": lambda: Closure.masked(robot, "a", "b", [True, False, True, False, True, True]),
        "along": lambda: Closure.along(robot, "a", "b", [[0.0, 0.6, 0.8, 0.0, 0.0, 0.0]]),
        "on one chain": lambda: Closure(robot, "a", "c", Hinge.universal()),
    }


def places(robot: Robot) -> list[np.ndarray]:
    """Neutral, half a turn of each joint, random."""
    rng, space = np.random.default_rng(7), robot.space
    half = [space.integrate(space.neutral, angle * np.ones(space.nv)) for angle in (np.pi, 0.5 * np.pi)]
    return [space.neutral, *half, *(robot.random(rng) for _ in range(5))]


def checked(problem: Problem, places: list[np.ndarray], limit: float = LIMIT) -> None:
    rows = CompiledRows(problem)
    for q in places:
        found, expected = rows.at(q), rows.readable_at(q)
        assert_close(found.error, expected.error, limit)
        assert_close(found.jacobian, expected.jacobian, limit)


@pytest.mark.parametrize("which", [*NAMES, *others(two_arms_frames())])
@pytest.mark.parametrize("robot", [two_arms_frames, mixed_frames], ids=["arms", "mixed"])
def test_rows_are_those_of_the_readable_engine(which: str, robot: Callable[[], Robot]) -> None:
    owner = (owners(robot()) | others(robot()))[which]()
    problem = Problem(robot(), [owner], bounds=Bounds.none(robot().space))
    assert why_not(problem) is None
    checked(problem, places(robot()))


def test_every_named_hinge_is_packed() -> None:
    robot = two_arms_frames()
    for name, hinge in HINGES.items():
        if hinge.rows:
            loop = Problem(robot, [Closure(robot, "a", "b", hinge, name="loop")])
            assert (packed(loop, Options()).calls is None) == (name != "custom"), name  # it is fitted by iterations


def test_rows_of_many_at_once_on_a_bigger_space() -> None:
    """The robot is one factor of the space; closures share joints, and a function stands beside them."""
    robot = two_arms_frames()
    space = ProductSpace([Rn(2), robot.space])
    rows = [
        Closure(robot, "a", "b", Hinge.cylindrical()),
        RodClosure(robot, "c", "b", 0.3),
        Implicit.zero(Pose(robot, "a", reference="c")),
        PointContact(robot, "a", [0.0, 0.6, 0.8], [0.1, 0.2, 0.3]),
    ]
    problem = Problem(space, rows)
    q = space.neutral.copy()
    expected = []
    for place in places(robot)[-3:]:
        q[2:] = place
        expected.append(q.copy())
    checked(problem, expected)


# Bad places.

TURN = pin.exp3(np.array([0.3, 0.2, 0.9]))
MAPS: dict[str, PoseMap] = {
    "turn": Split(np.eye(3), Turn()), "turned axes": Split(np.eye(3)[:1], Turn(TURN)),
    "swing": Split(np.array(perpendicular_pair(AXIS)), Swing(AXIS)),
    "swing alone": Split(np.zeros((0, 3)), Swing(AXIS)),
    "other axis": Split(AXIS[None], Swing(AXIS, np.array([0.0, 0.6, 0.8]))), "none": Split(np.eye(3), None),
    "cross": Split(np.eye(3), Cross(np.array([1.0, 0, 0]), np.array([0.0, 0.6, 0.8]))),
    "screw": ScrewRows(Subhinge(SubhingeMotion.SCREW, AXIS, 0.2)), "rod": Rod(0.7), "log": LogPose(),
    "turned log": TurnedLog(TURN), "local point": LocalPoint(np.eye(3), True),
    "local normal": LocalPoint(AXIS[None], True),
}  # fmt: skip
NEAR_SWITCHES = (1e-9, 1e-4, 1.2e-4, 1e-3, 0.999, 1.001, 1.2247, 1.2248, 2.79, 2.81)  # where series end
NEAR_HALF = (3.0, 3.1, np.pi - 1e-3, np.pi - 1e-5, np.pi - 1e-7, np.pi)


def free_body() -> Robot:
    model: Any = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    return Robot(model)


def limit_of(name: str, R: np.ndarray) -> float:
    """A swing by nearly half a turn has hardly an axis: rounding of R turns it by its part of what is left."""
    if name not in ("swing", "swing alone", "screw"):
        return LIMIT
    left = float(np.linalg.norm(np.cross(AXIS, R @ AXIS)))
    return LIMIT if AXIS @ R @ AXIS > -0.9 else max(LIMIT, 1e-15 / max(left, 1e-8))


@pytest.mark.parametrize("name", a_few(MAPS, 5))
def test_rows_of_poses_from_no_turn_to_half_a_turn(name: str) -> None:
    robot, rng = free_body(), np.random.default_rng(2)
    f = OfRelativePose(robot, Frame("world", 0), Frame("body", 1), MAPS[name], name=name)
    rows = CompiledRows(Problem(robot, [Implicit.zero(f)], bounds=Bounds.none(robot.space)))
    across, _ = perpendicular_pair(AXIS)
    for axis in (AXIS, -AXIS, across, np.array([1.0, 0.0, 0.0]), np.array([0.6, 0.0, -0.8])):
        for angle in (0.0, *NEAR_SWITCHES, *NEAR_HALF):
            for p in (np.zeros(3), rng.normal(size=3)):
                q = pin.SE3ToXYZQUAT(pin.SE3(pin.exp3(angle * axis), p))
                found, expected = rows.at(q), rows.readable_at(q)
                limit = limit_of(name, pin.exp3(angle * axis))
                assert_close(found.error, expected.error, limit)
                assert_close(found.jacobian, expected.jacobian, limit)


# What is not packed.


@final
class Height(PoseMap):
    """A user's rows."""

    size = 1

    def value(self, pose: Any, out: np.ndarray, D: np.ndarray | None = None) -> None:
        out[0] = pose.translation[2]
        if D is not None:
            D[0, :3] = pose.rotation[2]

    def second(self, pose: Any, twist: np.ndarray, acceleration: np.ndarray, out: np.ndarray) -> None:
        raise NotImplementedError


@final
class Trace(RotationRows):
    """Another user's."""

    size = 1

    def value(self, R: np.ndarray, out: np.ndarray, D: np.ndarray | None = None) -> None:
        out[0] = 0.5 * (3.0 - np.trace(R))
        if D is not None:
            D[0] = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])

    def second(self, R: np.ndarray, omega: np.ndarray, alpha: np.ndarray, out: np.ndarray) -> None:
        raise NotImplementedError

    def slopes(self, *_: Any) -> Any:
        raise NotImplementedError

    def enclosure(self, at: Any) -> Any:
        raise NotImplementedError


class Mine(FrameRows):
    """A user's owner of rows that the library knows."""


@final
class Longer(Split):  # type: ignore[misc]
    """A subclass is another map."""


def test_what_users_write_is_called_but_for_owners_of_rows() -> None:
    robot = two_arms_frames()
    a, b = robot.frame("a"), robot.frame("b")
    for rows in (Height(), Split(np.eye(3), Trace()), Longer(np.eye(3), None)):
        problem = Problem(robot, [Implicit.zero(OfRelativePose(robot, a, b, rows, name="mine"))])
        assert why_not(problem) is None
        assert packed(problem, Options()).calls is not None
    mine = Mine()
    mine.bind(robot, a, b, Split(np.eye(3), None), None, "own")
    assert why_not(Problem(robot, [mine])) == "own, a Mine"


def test_a_custom_hinge_is_closed_alike_by_both_engines() -> None:
    robot = two_arms_frames()
    problem = Problem(robot, [Closure(robot, "a", "b", HINGES["custom"])])
    agree(problem, Options(), [robot.random(np.random.default_rng(seed)) for seed in range(3)])


# Projections.


def agree(problem: Problem, options: Options, starts: list[np.ndarray], limit: float = 1e-9) -> None:
    """Status, iterations and configuration of each start by both engines."""
    assert why_not(problem, options) is None
    compiled, readable = (Projector(problem, options, engine=engine) for engine in ("compiled", "readable"))
    for q in starts:
        found, expected = compiled.project(q), readable.project(q)
        assert found.status is expected.status
        assert found.iterations == expected.iterations
        assert found.restarts == expected.restarts
        assert np.abs(problem.space.difference(found.q, expected.q)).max() < limit


def starts(robot: Robot, q: np.ndarray, count: int = 10) -> list[np.ndarray]:
    rng, v = np.random.default_rng(4), robot.nv
    disturbed = [robot.space.integrate(q, s * rng.standard_normal(v)) for s in (0.15, 1.0) for _ in range(count)]
    return [q, *disturbed]


BUILT_IN = ("four_bar", "five_bar", "slider_crank", "stewart_platform", "delta_robot", "bennett", "scissor_lift")


@pytest.mark.parametrize("options", [Options(), FREE], ids=["default", "local"])
@pytest.mark.parametrize("name", BUILT_IN)
def test_mechanisms_close_as_by_the_readable_engine(name: str, options: Options) -> None:
    mechanism = getattr(mechanisms, name)()
    agree(mechanism.problem(), options, starts(mechanism.robot, mechanism.posture("closed")))


@pytest.mark.parametrize("name", BUILT_IN)
def test_mechanisms_with_costs_and_driven_joints_close_as_by_the_readable_engine(name: str) -> None:
    """The problems of `assemble_position`: no bounds, costs, and motors that keep their place."""
    mechanism = getattr(mechanisms, name)()
    robot, rows = mechanism.robot, mechanism.constraint_set()
    costs = 1.0 + np.arange(robot.nv) % 3
    problem = rows.problem(weights=costs, frozen=mechanism.motors[:1], bounds=Bounds.none(robot.space))
    agree(problem, FREE, starts(robot, mechanism.posture("closed"), 5))


def test_contacts_hold_an_arm_as_by_the_readable_engine() -> None:
    robot = arm()
    q = robot.random(np.random.default_rng(8))
    tool = robot.at(q).placement("tool")
    for contact in (
        SurfaceContact(robot, "tool", tool),
        SurfaceContact(robot, "tool", tool, axes=WORLD),
        PointContact(robot, "tool", anchor=tool.translation),
        PointContact(robot, "tool", anchor=tool.translation, axes=Axes.LOCAL),
        PointContact(robot, "tool", [0.0, 0.0, 1.0], tool.translation),
        PointClosure(robot, "tool", tool),
        RodClosure(robot, "tool", placement(3), 0.5),
    ):
        agree(Problem(robot, [contact]), FREE, starts(robot, q, 5))
