"""One sample a function, by name: tests run the laws on all of them, and a function without one fails the suite.

A sample is a factory without arguments. Robots are the fixed arm, two arms on a torso, the humanoid on a free-flyer,
and the tree with every joint type; frames have placements that are not the identity.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from robots import arm, humanoid, mixed_tree, two_arms

from constraints import (
    Affine,
    CenterOfMass,
    ComBetweenFeet,
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    Function,
    Orientation,
    Pose,
    Position,
    Robot,
    Rotation,
    Stacked,
    Surface,
    Transformation,
    rigid_transform,
)
from constraints.functions import (
    AngleAbout,
    Constant,
    ContactForces,
    Identity,
    Manipulability,
    Polynomial,
    SmallestSingularValue,
    StaticStability,
    StaticTorques,
    Support,
    SupportPolygon,
    across,
    atan2,
    cos,
    cross,
    curve,
    direction,
    dot,
    exp,
    gaze,
    in_polygon,
    in_view,
    inverse,
    limit_distance,
    log,
    maximum,
    minimum,
    norm,
    off_segment,
    rotated,
    sin,
    smooth_abs,
    sqrt,
    squared_distance,
    stack,
    wrapped,
)
from constraints.functions.frames._template import DistanceBetween
from liegroups import SE3, SO3, R3xSO3, Rn


def placement(seed: int) -> pin.SE3:
    """A placement far from the identity, always the same."""
    rng = np.random.default_rng(seed)
    return pin.XYZQUATToSE3(SE3.random(rng, np.full(7, -0.3), np.full(7, 0.3)))


# Robots with frames "a" and "b": on one chain, on two branches, on sub-trees.


@functools.cache
def arm_frames() -> Robot:
    """Frames on one chain."""
    return arm().with_frame("a", "shoulder_roll", placement(1)).with_frame("b", "tool", placement(2))


@functools.cache
def two_arms_frames() -> Robot:
    """Frames on two branches; "c" is on the torso, below both."""
    robot = two_arms().with_frame("a", "left_tool", placement(3)).with_frame("b", "right_wrist_pitch", placement(4))
    return robot.with_frame("c", "torso", placement(5))


@functools.cache
def humanoid_frames() -> Robot:
    """Frames on two branches of a free-flyer; "c" is on the free-flyer itself."""
    robot = humanoid().with_frame("a", "rleg6_joint", placement(6)).with_frame("b", "larm6_joint", placement(7))
    return robot.with_frame("c", "root_joint", placement(8))


@functools.cache
def mixed_frames() -> Robot:
    """Frames on two branches that share four joints; "c" is at the end of a third, which starts at the world."""
    robot = mixed_tree().with_frame("a", "prismatic", placement(9)).with_frame("b", "helical", placement(10))
    return robot.with_frame("c", "chain", placement(11))


ROBOTS: dict[str, Callable[[], Robot]] = {
    "arm": arm_frames,
    "two arms": two_arms_frames,
    "humanoid": humanoid_frames,
    "mixed": mixed_frames,
}


def kinematic_samples(robot: Callable[[], Robot]) -> dict[str, Callable[[], Function]]:
    """Every kinematic function on one robot, seen from and at its frames "a" and "b"."""
    return {
        "Position": lambda: Position(robot(), "b"),
        "Position, reference": lambda: Position(robot(), "b", placement(20)),
        "Position, relative": lambda: Position(robot(), "b", reference="a"),
        "Orientation": lambda: Orientation(robot(), "b"),
        "Orientation, reference": lambda: Orientation(robot(), "b", placement(21).homogeneous),
        "Orientation, relative": lambda: Orientation(robot(), "b", reference="a"),
        "Transformation": lambda: Transformation(robot(), "b"),
        "Transformation, reference": lambda: Transformation(robot(), "b", pin.SE3ToXYZQUAT(placement(22))),
        "Transformation, relative": lambda: Transformation(robot(), "b", reference="a"),
        "Rotation": lambda: Rotation(robot(), "b"),
        "Rotation, reference": lambda: Rotation(robot(), "b", placement(23)),
        "Rotation, relative": lambda: Rotation(robot(), "b", reference="a"),
        "Pose": lambda: Pose(robot(), "b"),
        "Pose, reference": lambda: Pose(robot(), "b", placement(24)),
        "Pose, R3xSO3": lambda: Pose(robot(), "b", placement(25), R3xSO3),
        "Pose, relative": lambda: Pose(robot(), "b", reference="a"),
        "Pose, relative, R3xSO3": lambda: Pose(robot(), "b", reference="a", outputs=R3xSO3),
        "CenterOfMass": lambda: CenterOfMass(robot()),
        "CenterOfMass, relative": lambda: CenterOfMass(
            robot(), reference=robot().frame("b", rigid_transform([0.1, -0.2, 0.3]))
        ),
        "ComBetweenFeet": lambda: ComBetweenFeet(robot(), "a", "b", "b"),
        "DistanceBetween": lambda: DistanceBetween(robot(), "b", reference="a"),
        "DistanceBetween, reference": lambda: DistanceBetween(robot(), "b", placement(26)),
    }


def _twice_the_norm(q: np.ndarray) -> float:
    return 2.0 * float(np.sqrt(q @ q))


def _twice_the_direction(q: np.ndarray) -> np.ndarray:
    return 2.0 * q / np.sqrt(q @ q)


def _tool_height(q: np.ndarray) -> float:
    return float(arm_frames().at(q).placement(arm_frames().frame("b")).translation[2])


def _swing(q: np.ndarray) -> np.ndarray:
    return SO3.exp(np.array([q[0] * q[1], np.sin(q[0]), q[1]]))


_ALGEBRA: dict[str, Callable[[], Function]] = {
    "CenterOfMass of joints": lambda: CenterOfMass(humanoid_frames(), ["lleg2_joint", "larm3_joint", "chest_joint"]),
    "CenterOfMass of sub-trees": lambda: CenterOfMass(mixed_frames(), subtrees=["pz", "composite"]),
    "CenterOfMass, relative, of joints": lambda: CenterOfMass(
        two_arms_frames(), joints=["right_elbow", "left_wrist_roll"], reference="a"
    ),
    "CenterOfMass, relative, of a sub-tree": lambda: CenterOfMass(mixed_frames(), subtrees=["rubx"], reference="c"),
    "CenterOfMass, relative, from the world": lambda: CenterOfMass(arm_frames(), reference="universe"),
    "ComBetweenFeet, three frames": lambda: ComBetweenFeet(humanoid_frames(), "a", "lleg6_joint", "b"),
    "ComBetweenFeet of sub-trees": lambda: ComBetweenFeet(mixed_frames(), "a", "b", "c", subtrees=["hx", "free"]),
    "Pose, relative, one chain": lambda: Pose(two_arms_frames(), "a", reference="c"),
    "Pose, relative, from the end": lambda: Pose(two_arms_frames(), "c", reference="a"),
    "Pose, relative, third branch": lambda: Pose(mixed_frames(), "c", reference="b"),
    "Transformation, relative, of the world": lambda: Transformation(arm_frames(), "universe", reference="b"),
    "Pose, relative, of itself": lambda: Pose(arm_frames(), "b", reference="b"),
    "Pose, of the free-flyer": lambda: Pose(humanoid_frames(), "c"),
    "Affine": lambda: Affine([[1.0, -2.0, 0.0], [0.0, 0.5, 0.0]], [1.0, 2.0]),
    "Affine of joints": lambda: Affine(
        np.arange(48.0) * np.isin(np.arange(48), mixed_frames().space.vector_v), 0.5, mixed_frames().space
    ),
    "Polynomial": lambda: Polynomial([0.3, -1.0, 0.5, 0.2], [1.0, -2.0, 0.0], 0.4),
    "Polynomial of joints": lambda: Polynomial(
        [0.1, 0.7, -0.4, 0.2, 0.3], np.eye(1, 48, 3)[0] - 0.5 * np.eye(1, 48, 10)[0], 0.2, mixed_frames().space
    ),
    "Identity": lambda: Identity(Rn(3)),
    "Identity of a robot": lambda: Identity(mixed_frames().space),
    "Constant": lambda: Constant(SE3.random(np.random.default_rng(3)), SE3, humanoid_frames().space),
    "Constant of nothing": lambda: Constant([1.0, 2.0]),
    "FromCallable": lambda: Function.from_callable(_twice_the_norm, Rn(4), Rn(1), _twice_the_direction),
    "FromCallable, differences": lambda: Function.from_callable(_tool_height, arm_frames().space, Rn(1)),
    "FromCallable, to rotations": lambda: Function.from_callable(
        _swing, Rn(3), SO3, columns=[True, True, False], name="swing"
    ),
    "FromCallable, in an expression": lambda: (
        sin(Function.from_callable(_twice_the_norm, Rn(4), Rn(1), _twice_the_direction)) ** 2
    ),
    "Composition": lambda: (
        Affine([[1.0, -1.0, 2.0]]) @ Position(humanoid_frames(), "a", placement(30))
    ),
    "Composition, to a group": lambda: (
        Function.from_callable(_twice_the_norm, Rn(3), Rn(1), _twice_the_direction)
        @ (Rotation(arm_frames(), "b") - Constant(SO3.exp(np.array([0.3, 0.2, -0.5])), SO3, arm_frames().space))
    ),
    "Composition, three deep": lambda: (
        Affine([[2.0], [3.0]]) @ (Affine([[1.0, 1.0, 1.0]]) @ Position(mixed_frames(), "b", reference="a"))
    ),
    "Composition, through a robot": lambda: Pose(arm_frames(), "b") @ Affine(0.5 * np.eye(7, 3)),
    "Difference": lambda: Pose(arm_frames(), "b", placement(31)) - Pose(arm_frames(), "a"),
    "Difference, R3xSO3": lambda: (
        Pose(two_arms_frames(), "b", "a", R3xSO3) - Pose(two_arms_frames(), "b", "c", R3xSO3)
    ),
    "Difference of vectors": lambda: CenterOfMass(humanoid_frames()) - Position(humanoid_frames(), "a"),
    "Restriction": lambda: Transformation(humanoid_frames(), "b").restricted([0, 2, 4]),
    "Restriction to a rotation": lambda: Pose(mixed_frames(), "c", outputs=R3xSO3).restricted([3, 4, 5]),
    "Stacked": lambda: Stacked(
        [Pose(humanoid_frames(), "a"), CenterOfMass(humanoid_frames()), Rotation(humanoid_frames(), "b", reference="a")]
    ),
    "Stacked of stacked": lambda: Stacked(
        [Stacked([Position(arm_frames(), "a"), Rotation(arm_frames(), "b")]), Pose(arm_frames(), "a")]
    ),
    "Sum": lambda: Position(humanoid_frames(), "a") + CenterOfMass(humanoid_frames()),
    "Sum, weighted": lambda: 0.5 * (Position(two_arms_frames(), "b", reference="a") + Position(two_arms_frames(), "c")),
    "Sum of joints": lambda: -Affine([[1.0, -2.0, 0.0]]) + 2 * Polynomial([0.3, -1.0, 0.5], [0.0, 1.0, 1.0]),
    "Matrix times function": lambda: np.array([[0.0, 0.0, 2.0]]) @ Position(mixed_frames(), "b"),
    "Lifted": lambda: Pose(arm_frames(), "b").on(arm_frames().space * Rn(2)),
    "Lifted, last factor": lambda: Transformation(mixed_frames(), "b", reference="a").on(Rn(3) * mixed_frames().space),
    "Lifted, a number": lambda: Affine([[2.0, 1.0]], 0.1).on(humanoid_frames().space * Rn(2)),
    "Lifted, by differences": lambda: Function.from_callable(_tool_height, arm_frames().space, Rn(1)).on(
        SO3 * arm_frames().space
    ),
    "Lifted, composed": lambda: (
        (Affine([[1.0, 2.0, 3.0]]) @ Position(arm_frames(), "b")).on(arm_frames().space * Rn(1))
        - Affine([[1.5]]).on(arm_frames().space * Rn(1))
    ),
}  # fmt: skip


def _point() -> Function:
    return Position(arm_frames(), "b")


def _other() -> Function:
    return Position(arm_frames(), "a", reference=placement(40))


_EXPRESSIONS: dict[str, Callable[[], Function]] = {
    "product": lambda: _point() * _other(),
    "product, of a number": lambda: _point()[2] * rotated(Rotation(arm_frames(), "b"), [0.0, 0.0, 1.0]),
    "quotient": lambda: _point() / (3.0 + _other()),
    "quotient, of a number": lambda: 2.0 / (2.5 + _point()[1]),
    "power": lambda: _point() ** 2,
    "power, negative": lambda: (3.0 + _point()) ** -3,
    "power, broken": lambda: (3.0 + _point()) ** 1.5,
    "dot": lambda: dot(_point(), CenterOfMass(arm_frames())),
    "cross": lambda: cross(_point(), _other()),
    "norm": lambda: norm(Position(humanoid_frames(), "a") - CenterOfMass(humanoid_frames())),
    "norm, of a difference of poses": lambda: norm(Pose(arm_frames(), "a") - Pose(arm_frames(), "b")),
    "rotated": lambda: rotated(Rotation(mixed_frames(), "a"), Position(mixed_frames(), "b")),
    "rotated, an axis": lambda: rotated(Rotation(arm_frames(), "b"), [0.0, 0.0, 1.0])[2],
    "inverse": lambda: inverse(Rotation(arm_frames(), "b")),
    "inverse, of a pose": lambda: inverse(Pose(two_arms_frames(), "b", reference="a")),
    "rotated back": lambda: rotated(inverse(Rotation(mixed_frames(), "a")), Position(mixed_frames(), "b")),
    "centre of mass, by hand": lambda: rotated(
        inverse(Rotation(arm_frames(), "a")), CenterOfMass(arm_frames()) - Position(arm_frames(), "a")
    ),
    "relative, by hand": lambda: rotated(inverse(Rotation(arm_frames(), "a")), _point() - Position(arm_frames(), "a")),
    "minimum": lambda: minimum(_point(), _other()),
    "maximum": lambda: maximum(_point(), 0.1),
    "smooth_abs": lambda: smooth_abs(_point(), 0.1),
    "sqrt": lambda: sqrt(1.0 + _point() * _point()),
    "sin": lambda: sin(Orientation(arm_frames(), "b")),
    "cos": lambda: cos(Affine([[1.0, -2.0, 0.0], [0.0, 0.5, 0.0]], [1.0, 2.0])),
    "atan2": lambda: atan2(_point()[1], _point()[0]),
    "exp": lambda: exp(_point()),
    "log": lambda: log(2.5 + _point()),
    "stack": lambda: stack(norm(_point()), _point()[0] * _point()[2], 1.0),
    "of parts that are alike": lambda: (_point() - _other()) * (norm(_point() - _other()) - 0.5),
    "of a matrix": lambda: np.array([[1.0, 0.0, -2.0]]) @ (_point() * _other()) - norm(_point()),
    "of a composition": lambda: exp(Affine([[1.0, -1.0, 2.0]], [0.1]) @ cross(_point(), _other())),
}


_GEOMETRY: dict[str, Callable[[], Function]] = {
    "direction": lambda: direction(humanoid_frames(), "b", [0.6, 0.0, 0.8], reference="a"),
    "wrapped": lambda: wrapped(40.0 * _point()[2] - AngleAbout(arm_frames(), "b", "z")),
    "across": lambda: across(_point() - [0.1, 0.2, 0.3], [0.6, 0.0, 0.8]),
    "off_segment": lambda: off_segment(_point(), [0.1, -0.2, 0.0], [0.3, 0.5, 0.4]),
    "off_segment, ends that move": lambda: off_segment(
        CenterOfMass(arm_frames()), Position(arm_frames(), "a"), _point()
    ),
    "in_polygon": lambda: in_polygon(_other(), [[0.0, 0.0], [0.4, 0.1], [0.5, 0.6], [0.1, 0.3]]),
    "gaze": lambda: gaze(Position(two_arms_frames(), "b", reference="a"), [0.0, 0.8, 0.6], 0.5),
    "in_view": lambda: in_view(Position(mixed_frames(), "a", reference="b"), [0.5, 0.3]),
    "curve": lambda: (
        _point().on(arm_frames().space * Rn(1))
        - curve(
            Identity(Rn(1)).on(arm_frames().space * Rn(1)),
            [[0.4, 0.0, 0.3], [0.3, 0.2, 0.4], [0.0, 0.4, 0.3], [-0.2, 0.2, 0.2], [-0.3, 0.0, 0.3], [0.1, -0.3, 0.2]],
        )
    ),
    "limit_distance": lambda: limit_distance(humanoid_frames(), ["larm1_joint", "rleg3_joint", "root_joint"]),
    "squared_distance": lambda: squared_distance(
        mixed_frames().space, mixed_frames().random(np.random.default_rng(9)), np.linspace(0.0, 2.0, 48)
    ),
}  # fmt: skip

_MEASURES: dict[str, Callable[[], Function]] = {
    "AngleAbout": lambda: AngleAbout(arm_frames(), "b", [0.0, 0.6, -0.8], reference=placement(50)),
    "AngleAbout, relative": lambda: AngleAbout(two_arms_frames(), "b", "-y", reference="a"),
    "Manipulability": lambda: Manipulability(_point()),
    "Manipulability, of a pose": lambda: Manipulability(Pose(humanoid_frames(), "b")),
    "Manipulability, relative, a joint locked": lambda: Manipulability(
        Rotation(two_arms_frames(), "b", reference="a"), locked=["left_elbow"]
    ),
    "Manipulability, of some rows": lambda: Manipulability(
        Transformation(mixed_frames(), "b", placement(51))[[0, 2, 4]]
    ),
    "SmallestSingularValue": lambda: SmallestSingularValue(_point()),
    "SmallestSingularValue, of a formula": lambda: SmallestSingularValue(stack(norm(_point()), 0.2 * _point()[2])),
}  # fmt: skip


def _surfaces(robot: Robot, frame: str) -> list[Surface]:
    """Two surfaces on a frame, of three and of four vertices."""
    square = [[-0.4, -0.3, 0.2], [0.4, -0.3, 0.2], [0.4, 0.3, 0.2], [-0.4, 0.3, 0.2]]
    triangle = [[0.0, 0.5, 0.0], [0.0, -0.4, -0.2], [0.0, 0.1, 0.6]]
    return [
        Surface(f"{frame} square", robot.frame(frame), square),
        Surface(f"{frame} fin", robot.frame(frame), triangle),
    ]


_CONTACTS: dict[str, Callable[[], Function]] = {
    f"{kind.__name__}, {what}": functools.partial(lambda make, build: build(make), kind, build)
    for kind in (ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold)
    for what, build in (
        ("of the world", lambda make: make(
            humanoid_frames(), _surfaces(humanoid_frames(), "universe")[0], _surfaces(humanoid_frames(), "b")[1], 0.1
        )),
        ("nearest of four", lambda make: make(
            two_arms_frames(), _surfaces(two_arms_frames(), "a"), _surfaces(two_arms_frames(), "b")
        )),
        ("named", lambda make: make(
            mixed_frames(), _surfaces(mixed_frames(), "a"), _surfaces(mixed_frames(), "c"), pair=("a fin", "c square")
        )),
    )
}  # fmt: skip


def _grips(robot: Robot) -> list[Support]:
    """On frames "a", "b" and "c": four points, a line with another normal, and a point without friction."""
    points = np.random.default_rng(5).uniform(-0.2, 0.2, (4, 3))
    return [
        Support(robot.frame("a"), points, friction=0.5),
        Support(robot.frame("b"), points[:2], 0.3, [0.6, 0.0, -0.8], 4),
        Support(robot.frame("c"), points[2:3]),
    ]


_BALANCE: dict[str, Callable[[], Function]] = {
    "StaticStability": lambda: StaticStability(humanoid_frames(), _grips(humanoid_frames())),
    "StaticStability, of a sub-tree": lambda: StaticStability(
        mixed_frames(), _grips(mixed_frames())[1], subtrees=["hx", "free"], length=0.3
    ),
    "StaticStability, in the world": lambda: StaticStability(
        arm_frames(), Support(arm_frames().frame("universe"), [[0.1, 0.0, 0.0], [0.0, 0.2, 0.1]], 0.4), joints=["elbow"]
    ),
    "ContactForces": lambda: ContactForces(humanoid_frames(), _grips(humanoid_frames())),
    "ContactForces, shared": lambda: ContactForces(mixed_frames(), _grips(mixed_frames()), [1.0, 4.0, 0.5]),
    "ContactForces, damped": lambda: ContactForces(two_arms_frames(), _grips(two_arms_frames())[1], damping=0.1),
    "SupportPolygon": lambda: SupportPolygon(humanoid_frames(), _grips(humanoid_frames())),
    "SupportPolygon, of joints": lambda: SupportPolygon(
        mixed_frames(), _grips(mixed_frames())[0], joints=["composite"]
    ),
    "StaticTorques": lambda: StaticTorques(humanoid_frames(), _grips(humanoid_frames())),
    "StaticTorques, of joints": lambda: StaticTorques(
        mixed_frames(), _grips(mixed_frames()), ["ellipsoid", "universal", "pz"], [1.0, 2.0, 3.0], 0.05
    ),
}

SAMPLES: dict[str, Callable[[], Function]] = (
    _ALGEBRA
    | _BALANCE
    | {f"Expression, {name}": sample for name, sample in (_EXPRESSIONS | _GEOMETRY).items()}
    | _MEASURES
    | _CONTACTS
    | {
        f"{function} ({robot})": sample
        for robot, factory in ROBOTS.items()
        for function, sample in kinematic_samples(factory).items()
    }
)
