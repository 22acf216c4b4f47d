"""Problems of all kinds that the kernels solve, each with options: small ones, on which both engines take one path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from explicit_samples import arm_and_box, humanoid_and_box
from robots import arm, humanoid, mixed_tree, two_arms
from samples import SAMPLES, humanoid_frames

from constraints import (
    Bounds,
    CenterOfMass,
    ComBetweenFeet,
    Comparison,
    Explicit,
    Implicit,
    Options,
    Orientation,
    Part,
    Pose,
    Position,
    Problem,
    Robot,
    Transformation,
    explicit_relative_pose,
)
from constraints.functions import Affine, Lifted, Polynomial
from constraints.models import mechanisms
from liegroups import SE2, SE3, SO2, SO3, ProductSpace, Rn


class Case(NamedTuple):
    """A problem, how it is solved, and whether right-hand sides are those of another configuration, drawn each time."""

    problem: Problem
    options: Options
    draws: bool = True
    seed: int = 1

    def starts(self, count: int) -> list[Any]:
        """Pairs of a start and right-hand sides that can be reached."""
        rng, space = np.random.default_rng(self.seed), self.problem.space
        bounds = self.problem.bounds
        box = np.clip(bounds.lower, -2.0, 2.0), np.clip(bounds.upper, -2.0, 2.0)
        points = [space.random(rng, *box) for _ in range(2 * count)]
        sides = [self.problem.rhs_from(q) if self.draws else self.problem.rhs for q in points[1::2]]
        return list(zip(points[::2], sides, strict=True))


LOCAL = Options.local(max_iterations=25, trace=True)
AGAIN = Options(max_iterations=25, trace=True)


def equal(f: Any, **others: Any) -> Implicit:
    return Implicit.equal(f, **others)


def narrow(robot: Robot, width: float) -> Bounds:
    """Bounds that steps meet: a width about the middle of those of the robot."""
    middle = 0.5 * (robot.bounds.lower + robot.bounds.upper)
    return Bounds(robot.space, middle - width, middle + width)


def fixed(robot: Robot) -> Bounds:
    """Bounds of no width of one joint."""
    lower, upper = robot.bounds.lower.copy(), robot.bounds.upper.copy()
    lower[2] = upper[2] = 0.3
    return Bounds(robot.space, lower, upper)


def one_output() -> Case:
    """A joint that follows another one, and nothing else that is computed."""
    robot = arm_and_box()
    elbow, pitch = (robot.segments(f"arm/{name}") for name in ("elbow", "wrist_pitch"))
    follows = Explicit(Affine([[0.5]], [0.1]), pitch, elbow, whole=robot.space, name="follows")
    where = equal(Position(robot, "gripper"), name="where")
    return Case(Problem(robot, [follows, where]), AGAIN)


def reach(options: Options = AGAIN, **others: Any) -> Case:
    return Case(Problem(arm(), [equal(Pose(arm(), "tool"))], **others), options)


def place(options: Options = LOCAL, **others: Any) -> Case:
    return Case(Problem(arm(), [equal(Position(arm(), "tool"))], **others), options)


WEIGHTS = np.array([1.0, 0.3, 2.0, 1.0, 0.5, 1.0, 5.0])


def of_rows(rows: int, weights: Any = None, bounds: Bounds | None = None) -> Case:
    """So many rows of two arms, each arm with rows of its own."""
    robot = two_arms()
    found, left = list[Implicit](), rows
    for frame in ("right_tool", "left_tool"):
        n = min(left, 6) if frame == "right_tool" else left
        if n:
            found.append(equal(Pose(robot, frame), mask=np.arange(6) < n, name=frame))
        left -= n
    return Case(Problem(robot, found, bounds or robot.bounds, weights=weights), LOCAL)


def levels(optional: bool, passes: int, weights: Any = None, width: float = 0.8) -> Case:
    robot = arm()
    found = [[equal(Position(robot, "tool"))],
             [equal(Orientation(robot, "tool"), mask=[1, 0, 1])],
             [Implicit.equal(Position(robot, "elbow"), [3.0, 0.0, 0.0])]]  # fmt: skip
    bounds = narrow(robot, width)
    problem = Problem(robot, found, bounds, weights=weights, optional_last=optional)
    return Case(problem, Options.local(max_iterations=8, trace=True, saturating_passes=passes))


def intervals() -> Case:
    """Masked and scaled rows with intervals, a lower level with one."""
    robot = arm()
    within = Implicit(Position(robot, "tool"), None, lower=[-0.3, -np.inf, 0.1], upper=[0.3, 0.2, np.inf],
                      scale=[2.0, 1.0, 0.5], mask=[1, 1, 0], name="within")  # fmt: skip
    com = Implicit.between(CenterOfMass(robot), [-0.1, -0.1, 0.0], [0.1, 0.1, 0.4], mask=[1, 0, 1], name="com")
    upright = equal(Orientation(robot, "tool"), mask=[1, 1, 0], name="upright")
    return Case(Problem(robot, [[within, upright], [com]]), LOCAL)


def boxed(planar: bool, levels_too: bool = False, side: float = 0.15) -> Case:
    """A free or a planar base whose translation is bounded, an arm on it."""
    model: Any = pin.Model()
    root = pin.JointModelPlanar() if planar else pin.JointModelFreeFlyer()
    base = model.addJoint(0, root, pin.SE3.Identity(), "base")
    model.addFrame(pin.Frame("deck", base, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    robot = Robot(pin.appendModel(model, arm().model, model.getFrameId("deck"), pin.SE3.Identity()))
    size = 2 if planar else 3
    robot = robot.with_bounds({"base": (np.full(size, 0.1 - side), np.full(size, 0.1 + side))})
    tool, elbow = equal(Pose(robot, "tool")), equal(Position(robot, "elbow"), mask=[1, 1, 0])
    return Case(Problem(robot, [[tool], [elbow]] if levels_too else [tool, elbow]), LOCAL, seed=3)


def one_axis() -> Case:
    """A humanoid whose base is bounded in one coordinate, feet and balance."""
    robot = humanoid().with_bounds({"root_joint": ([-np.inf, -0.2, -np.inf], [np.inf, 0.2, 0.1])})
    feet = [equal(Transformation(robot, f"{side}leg6_joint"), name=side) for side in "lr"]
    return Case(Problem(robot, [*feet, equal(CenterOfMass(robot), mask=[1, 1, 0])]), LOCAL)


def chain(options: Options, with_level: bool = False) -> Case:
    """A wrist that follows the elbow, another that follows it, a box that follows all; somewhere the box is to be."""
    robot = arm_and_box()
    elbow, pitch, roll = (robot.segments(f"arm/{name}") for name in ("elbow", "wrist_pitch", "wrist_roll"))
    rows: list[Any] = [
        Explicit(Polynomial([0.1, 0.4, -0.2], [1.0]), pitch, elbow, whole=robot.space, name="first"),
        Explicit(Polynomial([-0.2, 0.8, 0.3], [1.0]), roll, pitch, whole=robot.space, name="second"),
        explicit_relative_pose(robot, "gripper", "handle", name="held"),
        Implicit.equal(Position(robot, "box/root_joint"), [0.4, 0.1, 0.5], name="where"),
    ]
    lower = [equal(Orientation(robot, "gripper"), mask=[0, 1, 1], name="lower")]
    return Case(Problem(robot, [rows, lower] if with_level else rows), options, draws=False)


def scaled_outputs() -> Case:
    """g^-1 is no translation: of a joint that follows, and of a value without an input."""
    robot = arm_and_box()
    names = list(robot.model.names)[1:4]
    first, second, third = (robot.segments(name) for name in names)
    scaled: dict[str, Any] = {"g": Affine([[2.0]]), "g_inverse": Affine([[0.5]]), "comparison": Comparison.EQUALITY}
    coupled = Explicit(Affine([[0.3]], [0.1]), second, first, **scaled, whole=robot.space, name="coupled")
    fixed = Explicit(Lifted(Affine([[0.0]], [0.7]), robot.space, third), third, **scaled, name="fixed")
    where = equal(Position(robot, "gripper"), name="where")
    return Case(Problem(robot, [coupled, fixed, where]), LOCAL)


def carried() -> Case:
    """A box in the hand of an arm that may not leave its bounds; placed ones are constant outputs."""
    robot = arm_and_box()
    lower, upper = robot.bounds.lower.copy(), robot.bounds.upper.copy()
    box = robot.space.leaves()[-1].q
    lower[box.start], upper[box.start + 2] = -0.1, 0.6
    held = explicit_relative_pose(robot, "gripper", "handle", comparison=Comparison.EQUALITY, name="held")
    return Case(Problem(robot, [held], Bounds(robot.space, lower, upper)), LOCAL)


def placed() -> Case:
    """An object that stands where its right-hand side says, a hand that holds it."""
    robot = humanoid_and_box()
    put = explicit_relative_pose(robot, None, "handle", comparison=Comparison.EQUALITY, name="put")
    grasp = equal(Pose(robot, "hand", reference="handle"), name="grasp")
    return Case(Problem(robot, [put, grasp], frozen=["human/root_joint"]), LOCAL)


def whole_turns(wrap: bool, options: Options) -> Case:
    """Joints whose range is a full turn or a little more."""
    robot = arm()
    width = np.full(robot.nq, np.pi)
    width[1::2] = np.pi + 0.2
    bounds = Bounds(robot.space, 0.2 - width, 0.2 + width)
    return Case(Problem(robot, [equal(Pose(robot, "tool"))], bounds), Options(**{**vars(options), "wrap": wrap}))


def of_groups() -> Case:
    """Linear and curved rows on a space of every kind of leaf."""
    space = ProductSpace([Rn(2), SO2, SE2, SO3, SE3, Rn(1)])
    from constraints.functions import Identity

    return Case(Problem(space, [Implicit(Identity(space), Comparison.EQUALITY, name="point")]), LOCAL)


def of_sample(name: str, options: Options = LOCAL, **others: Any) -> Case:
    f = SAMPLES[name]()
    space: Any = getattr(f, "robot", f.inputs)
    return Case(Problem(space, [Implicit(f, Comparison.EQUALITY, name="row")], **others), options)


def feet() -> Case:
    robot = humanoid_frames()
    between = Implicit(ComBetweenFeet(robot, "a", "lleg6_joint", "b"), Comparison.EQUALITY, name="between")
    return Case(Problem(robot, [between], frozen=["root_joint"]), LOCAL)


def two_parts() -> Case:
    """Two robots in one system that meet, one of them with a frozen joint."""
    robot = Robot.system([Part("a", arm()), Part("b", arm())])
    meet = equal(Transformation(robot, "a/tool", reference="b/tool"), name="meet")
    return Case(Problem(robot, [meet], frozen=[robot.joint_names[1]]), LOCAL)


def loop() -> Case:
    return Case(mechanisms.scissor_lift(2).problem(), Options.local(max_iterations=25, trace=True), draws=False)


CASES: dict[str, Callable[[], Case]] = {
    "a pose": reach,
    "a pose, not traced": lambda: reach(Options(max_iterations=60)),
    "levels, not traced": lambda: Case(levels(False, 1).problem, Options(max_iterations=8)),
    "a pose, fixed by bounds": lambda: reach(LOCAL, bounds=fixed(arm())),
    "one output": one_output,
    "a pose, one candidate": lambda: reach(Options(max_iterations=40, trace=True, screen=1, stall_count=1)),
    "a pose, three candidates of five": lambda: reach(
        Options(max_iterations=60, trace=True, screen=3, restart_table=5, seed=7, cap=0.2, stall_count=1)
    ),
    "a pose, costs": lambda: reach(LOCAL, weights=WEIGHTS),
    "a pose, narrow": lambda: reach(AGAIN, bounds=narrow(arm(), 0.7)),
    "a pose, narrow, costs": lambda: reach(LOCAL, bounds=narrow(arm(), 0.7), weights=WEIGHTS),
    "a pose, narrow, no pass": lambda: reach(
        Options.local(max_iterations=15, trace=True, saturating_passes=0), bounds=narrow(arm(), 0.7)
    ),
    "a pose, narrow, three passes": lambda: reach(
        Options.local(max_iterations=15, trace=True, saturating_passes=3), bounds=narrow(arm(), 0.5)
    ),
    "a pose, short steps": lambda: reach(Options.local(max_iterations=15, trace=True, cap=0.1, damping=0.5)),
    "a pose, frozen": lambda: reach(LOCAL, frozen=["elbow"]),
    "a pose, no budget": lambda: reach(Options(max_iterations=0, trace=True)),
    "a place": place,
    "a place, costs": lambda: place(weights=WEIGHTS),
    "a place, narrow": lambda: place(bounds=narrow(arm(), 0.5)),
    "a place, narrow, costs": lambda: place(bounds=narrow(arm(), 0.5), weights=WEIGHTS),
    **{f"{n} rows": (lambda n=n: of_rows(n)) for n in (1, 2, 3, 4, 5, 7, 8, 9, 12)},
    "5 rows, costs": lambda: of_rows(5, np.linspace(0.3, 4.0, two_arms().nv)),
    "9 rows, costs, narrow": lambda: of_rows(9, np.linspace(0.3, 4.0, two_arms().nv), narrow(two_arms(), 0.6)),
    "9 rows, narrow": lambda: of_rows(9, None, narrow(two_arms(), 0.6)),
    "levels": lambda: levels(False, 1),
    "levels, optional": lambda: levels(True, 1),
    "levels, no pass": lambda: levels(True, 0),
    "levels, three passes": lambda: levels(True, 3, width=0.5),
    "levels, costs": lambda: levels(False, 1, WEIGHTS),
    "intervals": intervals,
    "boxed free base": lambda: boxed(False),
    "boxed planar base": lambda: boxed(True),
    "boxed free base, levels": lambda: boxed(False, True),
    "boxed planar base, levels": lambda: boxed(True, True),
    "boxed planar base, levels, held dofs": lambda: boxed(True, True)._replace(seed=1),
    "bounds of one axis": one_axis,
    "outputs of outputs": lambda: chain(LOCAL),
    "outputs of outputs, again": lambda: chain(AGAIN),
    "outputs of outputs, levels": lambda: chain(LOCAL, True),
    "scaled outputs": scaled_outputs,
    "carried": carried,
    "placed": placed,
    "whole turns": lambda: whole_turns(True, AGAIN),
    "whole turns, kept": lambda: whole_turns(False, AGAIN),
    "groups": of_groups,
    "feet": feet,
    "two parts": two_parts,
    "loop": loop,
    "mixed joints": lambda: Case(Problem(mixed_tree(), [equal(Pose(mixed_tree(), "chain_tip"))]), LOCAL),
    **{
        name: (lambda name=name: of_sample(name))
        for name in (
            "ConvexShapeContact, of the world",
            "ConvexShapeContactHold, nearest of four",
            "ConvexShapeContactComplement, named",
            "CenterOfMass of sub-trees",
            "Sum, weighted",
            "Difference",
            "Polynomial of joints",
            "Stacked",
            "Restriction",
            "Lifted, composed",
        )
    },
}
