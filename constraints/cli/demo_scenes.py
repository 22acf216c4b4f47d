"""The problems of the demonstration, and what measures their solutions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import FileError
from ..functions import CenterOfMass, Pose, Position
from ..models import Mechanism, load, mechanisms, sample_arm, sample_humanoid, sample_two_arms
from ..problem.problem import Problem
from ..robot import Base, Frame, Part, Robot
from ..robot.placement import as_placement
from ..rows.explicit_forms import explicit_relative_pose
from ..rows.implicit import Implicit

ROBOTS = "package://example-robot-data/robots/"
PANDA = ROBOTS + "panda_description/"
Size = tuple[float, float, float]
"""Lengths of the edges of a box [m]."""
BOX: Size = (0.3, 0.2, 0.2)
FOOT: Size = (0.21, 0.13, 0.02)
UPRIGHT = (0.0, 0.0, 0.0, 1.0)
"""The quaternion of no rotation."""


class Loose(NamedTuple):
    """Random placements of a free joint: around a middle (7,), up to so many metres and radians along each axis."""

    joint: str
    middle: Vector
    metres: float
    radians: float


@dataclass(frozen=True, eq=False)
class DemoScene:
    """One problem of the demonstration.

    Attributes:
        name: in the table and above the picture.
        robot: on which the problem is.
        problem: the constraints.
        tips: frames that the picture shows as ends of the robot.
        measure: error of a configuration, by formulas that share nothing with this library.
        before, after: what the pictures show, with a place for how many.
        target: placement in the world to draw, if there is one.
        bar: whether the tips hold a bar between them.
        boxes: frame -> size of a box to draw there.
        ground: where feet shall stand; a robot without stands on the origin.
        center: centre of mass of a configuration, to be drawn.
        loose: where random starts have the free joint, if there is one.
        shown: how many configurations the picture shows at most.
    """

    name: str
    robot: Robot
    problem: Problem
    tips: tuple[str, ...]
    measure: Callable[[Vector], float]
    before: str = "{} random configurations"
    after: str = "the same {}, at the target"
    target: Any = None
    bar: bool = False
    boxes: Mapping[str, Size] = field(default_factory=dict[str, Size])
    ground: tuple[Any, ...] = ()
    center: Callable[[Vector], Vector] | None = None
    loose: Loose | None = None
    shown: int = 6

    def starts(self, count: int, seed: int) -> Matrix:
        """Random configurations (count, nq)."""
        rng = np.random.default_rng(seed)
        starts = self.robot.random(rng, count)
        if self.loose is not None:
            joint, middle, metres, radians = self.loose
            reach = np.repeat([metres, radians], 3)
            block = self.robot.segments(joint)
            for q in starts:
                q[block.q_indices] = block.space.integrate(middle, rng.uniform(-reach, reach))
        return starts


# Problems: a function each, listed in `scenes` and `sample_scenes`.


def _pr2() -> DemoScene:
    """Both grippers point the same way, side by side."""
    robot = Robot.from_urdf(ROBOTS + "pr2_description/urdf/pr2.urdf")
    held = as_placement([0.0, -0.4, 0.0, *UPRIGHT])
    return _closed("PR2: a bar in both grippers", robot, ("l_gripper_tool_frame", "r_gripper_tool_frame"), held)


def _talos() -> DemoScene:
    folder = ROBOTS + "talos_data/"
    robot = Robot.from_urdf(folder + "robots/talos_reduced.urdf", folder + "srdf/talos.srdf", base=Base.FREE_FLYER)
    feet = ("left_sole_link", "right_sole_link")
    return _on_two_feet("Talos: balanced on two feet", robot, feet, robot.reference("half_sitting"), (0.05, 0.1))


def _two_arms() -> DemoScene:
    robot = sample_two_arms()
    a, b = "left_tool", "right_tool"
    home = robot.reference("home")
    held = placement_by_hand(robot, a, home).actInv(placement_by_hand(robot, b, home))
    return _closed("Two arms: a bar in both hands", robot, (a, b), held)


def _onto_a_pose(name: str, robot: Robot, tip: str, q: ArrayLike) -> DemoScene:
    """A frame at the pose it has at a configuration."""
    target = placement_by_hand(robot, tip, np.asarray(q, dtype=np.float64))
    problem = Problem(robot, [Implicit.equal(Pose(robot, tip), target)])

    def measure(q: Vector) -> float:
        return _apart(target, placement_by_hand(robot, tip, q))

    return DemoScene(name, robot, problem, (tip,), measure, target=target)


def _closed(name: str, robot: Robot, tips: tuple[str, str], held: Any) -> DemoScene:
    """Two frames at a pose relative to each other: a closed chain."""
    a, b = tips
    problem = Problem(robot, [Implicit.equal(Pose(robot, b, reference=a), held)])

    def measure(q: Vector) -> float:
        return _apart(held, placement_by_hand(robot, a, q).actInv(placement_by_hand(robot, b, q)))

    return DemoScene(name, robot, problem, tips, measure, after="the same {}, holding the bar", bar=True, shown=3)


def _on_two_feet(name: str, robot: Robot, feet: tuple[str, str], q: Vector, room: tuple[float, float]) -> DemoScene:
    """Feet where a configuration has them; centre of mass over them, within `room` along x and y, and not too low."""
    stands = [placement_by_hand(robot, foot, q) for foot in feet]
    middle = 0.5 * (stands[0].translation + stands[1].translation)
    height = float(center_by_hand(robot, q)[2] - middle[2])
    lower = middle + np.array([-room[0], -room[1], 0.7 * height])
    upper = middle + np.array([*room, np.inf])
    steps = [Implicit.equal(Pose(robot, foot), oMf) for foot, oMf in zip(feet, stands, strict=True)]
    problem = Problem(robot, [*steps, Implicit.between(CenterOfMass(robot), lower, upper, name="balance")])

    def measure(q: Vector) -> float:
        center = center_by_hand(robot, q)
        outside = math.hypot(*np.maximum(np.maximum(lower - center, center - upper), 0.0))
        return max(outside, *(_apart(M, placement_by_hand(robot, f, q)) for f, M in zip(feet, stands, strict=True)))

    base = robot.joint_names[0]
    return DemoScene(
        name, robot, problem, feet, measure, after="the same {}, standing", ground=tuple(stands), shown=2,
        center=lambda q: center_by_hand(robot, q), loose=Loose(base, q[robot.slice_of(base)], 0.3, 0.3),
    )  # fmt: skip


def _stewart() -> DemoScene:
    """The platform level, at a height: its legs close six loops."""
    made = mechanisms.stewart_platform()
    reach: tuple[ArrayLike, ArrayLike] = ([-0.3, -0.3, 0.2], [0.3, 0.3, 0.8])
    legs = {f"leg{i}": ([-1.0, -1.0], [1.0, 1.0]) for i in range(1, 7)}
    robot = made.robot.with_bounds({"platform": reach} | legs | dict.fromkeys(made.motors, (0.3, 0.9)))
    height = as_placement([0.0, 0.0, 0.5, *UPRIGHT])
    level = Implicit.zero(Pose(robot, "platform", height), mask=[0, 0, 1, 1, 1, 0], name="level")

    def measure(q: Vector) -> float:
        oMp = placement_by_hand(robot, "platform", q)
        tilt = math.hypot(oMp.rotation[0, 2], oMp.rotation[1, 2])
        return max(math.hypot(float(oMp.translation[2]) - 0.5, tilt), _open_loops(made, q))

    return DemoScene(
        "Stewart platform: level at a height", robot, made.problem([level], bounds=robot.bounds),
        tuple(f"leg{i}_end" for i in range(1, 7)), measure, after="the same {}, legs on the platform",
        boxes={"platform": (0.5, 0.5, 0.02)}, loose=Loose("platform", made.posture("closed")[:7], 0.2, 0.4), shown=2,
    )  # fmt: skip


def _cassie() -> DemoScene:
    """Cassie on its two feet, four loops in its legs closed."""
    made = load(ROBOTS + "cassie_description/robots/cassie_v2.sdf")
    robot, q = made.robot, made.posture("file")
    feet = ("left-foot", "right-foot")
    stands = [placement_by_hand(robot, foot, q).translation for foot in feet]
    steps = [Implicit.equal(Position(robot, foot), place, name=foot) for foot, place in zip(feet, stands, strict=True)]

    def measure(q: Vector) -> float:
        off = [placement_by_hand(robot, foot, q).translation - place for foot, place in zip(feet, stands, strict=True)]
        return max(_open_loops(made, q), *(math.hypot(*apart) for apart in off))

    flat = tuple(as_placement([*place, *UPRIGHT]) for place in stands)
    return DemoScene(
        "Cassie: loops closed, feet on the ground", robot, made.problem(steps), feet, measure,
        after="the same {}, closed", ground=flat, loose=Loose("root_joint", q[:7], 0.1, 0.2), shown=2,
    )  # fmt: skip


def _open_loops(made: Mechanism, q: Vector) -> float:
    """The largest distance between the two points that a closure joins [m]."""
    apart: list[float] = []
    for closure in made.closures:
        ends: list[Vector] = []
        for end in ("predecessor", "successor"):
            frame: Frame = getattr(closure, end)
            oMj = placement_by_hand(made.robot, frame.joint_name, q) if frame.joint else as_placement(None)
            ends.append(np.asarray((oMj * frame.placement).translation))
        apart.append(math.hypot(*(ends[0] - ends[1])))
    return max(apart)


def _carrying(name: str, arm: Robot, tool: str, height: float) -> DemoScene:
    """A box in the hand, whose pose is computed from the arm's; it shall be upright at a height."""
    free = Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER)
    robot = Robot.system([Part("arm", arm), Part("box", free)])
    robot = robot.with_bounds({"box/root_joint": (np.full(3, -1.0), np.full(3, 1.0))})
    tip, box = f"arm/{tool}", "box/body"
    grasp = as_placement([0.0, 0.0, 0.5 * BOX[2], *UPRIGHT])
    frame = robot.frame("universe", [0.0, 0.0, height, *UPRIGHT])
    upright = Implicit.zero(Pose(robot, box, reference=frame), mask=[0, 0, 1, 1, 1, 0], name="upright")
    problem = Problem(robot, [explicit_relative_pose(robot, robot.frame(tip, grasp), box, name="grasp"), upright])

    def measure(q: Vector) -> float:
        oMb = placement_by_hand(robot, box, q)
        tilt = math.hypot(oMb.rotation[0, 2], oMb.rotation[1, 2])
        held = _apart(placement_by_hand(robot, tip, q) * grasp, oMb)
        return max(held, math.hypot(float(oMb.translation[2]) - height, math.atan2(tilt, oMb.rotation[2, 2])))

    loose = Loose("box/root_joint", np.array([0.3, 0.0, 0.3, *UPRIGHT]), 0.5, np.pi)
    return DemoScene(
        name, robot, problem, (tip,), measure, after="the same {}, box in hand", boxes={box: BOX}, loose=loose, shown=3
    )


def scenes() -> tuple[list[DemoScene], str]:
    """The problems, and a line that says which robots are not there, or nothing."""
    try:
        panda = Robot.from_urdf(PANDA + "urdf/panda.urdf", srdf=PANDA + "srdf/panda.srdf")
        hand = _onto_a_pose("Panda: hand at a pose", panda, "panda_hand_tcp", panda.reference("default"))
        ur5 = Robot.from_urdf(ROBOTS + "ur_description/urdf/ur5_joint_limited_robot.urdf")
        reaching = _onto_a_pose("UR5: tool at a pose", ur5, "tool0", [0.4, -1.2, 1.7, -2.07, -1.57, 0.4])
        carrying = _carrying("UR5: carries a box upright", ur5, "tool0", 0.5)
        return [hand, reaching, _pr2(), _talos(), carrying, _stewart(), _cassie()], ""
    except FileError:
        missing = "The robots of example-robot-data are not installed (the extra [robots], 131 MB): "
        return sample_scenes(), missing + "sample robots are used instead."


def sample_scenes() -> list[DemoScene]:
    """The problems on robots built in Python."""
    arm, body, feet = sample_arm(), sample_humanoid(), ("lleg_effector_body", "rleg_effector_body")
    reaching = _onto_a_pose("Sample arm: tool at a pose", arm, "tool", arm.reference("home"))
    standing = _on_two_feet("Sample humanoid: balanced", body, feet, body.reference("home"), (0.1, 0.2))
    carrying = _carrying("Sample arm: carries a box upright", arm, "tool", 0.6)
    return [reaching, _two_arms(), standing, carrying, _stewart()]


# Measuring, without this library's functions.


def placement_by_hand(robot: Robot, frame: str, q: Vector) -> Any:
    r"""Placement of a frame, by pinocchio's joint models alone, one after the other down the chain.

    .. math:: {}^oM_f = {}^oM_{j_1}\,T_{j_1}(q) \cdots {}^{j_{n-1}}M_{j_n}\,T_{j_n}(q)\;{}^{j_n}M_f
    """
    model: Any = robot.model
    own = model.frames[model.getFrameId(frame)]
    placement, joint = own.placement, int(own.parentJoint)
    while joint:
        placement, joint = _step(model, joint, q) * placement, int(model.parents[joint])
    return placement


def center_by_hand(robot: Robot, q: Vector) -> Vector:
    """Centre of mass (3,) of a robot [m], by pinocchio's joint models alone, body by body."""
    model: Any = robot.model
    placements: list[Any] = [as_placement(None)]
    for joint in range(1, model.njoints):
        placements.append(placements[model.parents[joint]] * _step(model, joint, q))
    bodies: Sequence[Any] = list(model.inertias)[1:]
    masses = np.array([body.mass for body in bodies])
    centers = np.array([oMi.act(body.lever) for oMi, body in zip(placements[1:], bodies, strict=True)])
    return masses @ centers / masses.sum()


def _step(model: Any, joint: int, q: Vector) -> Any:
    """Placement of a joint in its parent."""
    data = model.joints[joint].createData()
    model.joints[joint].calc(data, q)
    return model.jointPlacements[joint] * data.M


def _apart(a: Any, b: Any) -> float:
    """Distance [m] and angle [rad] between two placements, as one norm."""
    R = np.asarray(a.rotation).T @ np.asarray(b.rotation)
    sine = 0.5 * math.hypot(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    angle = math.atan2(sine, 0.5 * (float(np.trace(R)) - 1.0))
    return math.hypot(*(np.asarray(a.translation) - np.asarray(b.translation)), angle)
