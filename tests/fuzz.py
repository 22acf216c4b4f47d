"""Bad inputs, one after the other, each with the culprit that the error must name.

`bad_inputs(seed, count)` walks through every public entry point and breaks one argument at random; `verdict` says what
is wrong with the answer, or None when it is a `ConstraintError` that names the culprit and what was expected.

    for bad in bad_inputs(seed=0, count=1000):
        assert verdict(bad) is None, bad.label
"""

from __future__ import annotations

import functools
import operator
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pinocchio as pin
from broken_mechanisms import broken, taken

from constraints import (
    Affine,
    Base,
    Bounds,
    CenterOfMass,
    ComBetweenFeet,
    Comparison,
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    Explicit,
    Frame,
    Function,
    Implicit,
    Options,
    Orientation,
    Part,
    Pose,
    Position,
    Problem,
    Projector,
    Report,
    RightHandSide,
    Robot,
    Rotation,
    Stack,
    Stacked,
    Surface,
    Target,
    Transformation,
    Workspace,
    double_support,
    explicit_contact,
    explicit_relative_pose,
    linear_coupling,
    locked_joint,
    mimic_constraints,
    project,
    reach,
    reach_batch,
    rigid_transform,
)
from constraints.errors import ConstraintError
from constraints.functions import (
    AngleAbout,
    Constant,
    ContactForces,
    Expression,
    Identity,
    Manipulability,
    Polynomial,
    SmallestSingularValue,
    StaticStability,
    StaticTorques,
    Sum,
    Support,
    SupportPolygon,
    TangentBox,
    across,
    atan2,
    curve,
    direction,
    dot,
    gaze,
    in_polygon,
    in_view,
    limit_distance,
    maximum,
    minimum,
    off_segment,
    rotated,
    smooth_abs,
    sqrt,
    squared_distance,
    wrapped,
)
from constraints.interop import (
    TangentSteps,
    as_anchor_constraint_model,
    as_nonlinear_constraint,
    as_rigid_constraint_model,
    from_constraint_model,
)
from constraints.manipulation import (
    CollisionModel,
    ConstraintGraph,
    ConstraintGraphFactory,
    Gripper,
    Handle,
    MovableObject,
    MovingRightHandSide,
    Path as WayPath,
    Rule,
    SecurityMargins,
    Shape,
    State,
    grasp,
    interpolate,
    placement,
    plot_path,
    read_scene,
    read_semantics,
)
from constraints.models import Mechanism, load, mechanisms, sample_arm, sample_two_arms
from constraints.planning import walk
from constraints.rows.stacking import Order, stack_rows
from constraints.solvers import Sensitivity, diagnose
from liegroups import SE3, SO2, SO3, Element, ProductSpace, R3xSO3, Rn, Segments, Space

SCENE = Path(__file__).resolve().parent.parent / "examples" / "scenes" / "two_tables.json"


@dataclass(frozen=True)
class BadInput:
    """A call that must be refused.

    Attributes:
        entry: the public entry point.
        kind: what was broken, in words.
        call: does it.
        culprits: the message must have one of them.
        seed, number: make it again with `bad_input(seed, number)`.
    """

    entry: str
    kind: str
    call: Callable[[], object]
    culprits: tuple[str, ...]
    seed: int
    number: int

    @property
    def label(self) -> str:
        return f"{self.entry}: {self.kind} (seed {self.seed}, number {self.number})"


EXPECTATION = re.compile(
    r"expected|must|takes|needs|named|nearest|valid|above|after|outside|only|twice|give |needs|not both|no such|"
    r"below|cut in two|build all|are given|belong|there are|cannot|misses|missing|no mass|not found|does not|share|"
    r"is no |is not a |root|line \d|parse"
)
"""Words with which messages say what was expected, or what is wrong."""


def verdict(bad: BadInput) -> str | None:
    """What is wrong with the answer to a bad input; None if it is as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = bad.call()
        except ConstraintError as error:
            said = str(error)
            if not any(culprit.lower() in said.lower() for culprit in bad.culprits):
                return f"the message names none of {bad.culprits}: {said}"
            if not EXPECTATION.search(said):
                return f"the message does not say what was expected: {said}"
            return None
        except Warning as warning:
            return f"a warning: {type(warning).__name__}: {warning}"
        except Exception as error:
            return f"not a ConstraintError but {type(error).__name__}: {error}"
    return f"accepted silently, gave a {type(result).__name__}"


def bad_inputs(seed: int = 0, count: int = 1000) -> Iterator[BadInput]:
    """`count` bad inputs, every entry point in turn; the same for the same seed."""
    for number in range(count):
        yield bad_input(seed, number)


def bad_input(seed: int, number: int) -> BadInput:
    """One of them."""
    return made(*_ENTRIES[number % len(_ENTRIES)], seed, number)


def made(name: str, make: Callable[[Chaos], Made], seed: int, number: int, *stream: int) -> BadInput:
    """What an entry point makes of the random numbers of seed, number and stream."""
    chaos = Chaos(np.random.default_rng([seed, number, *stream]))
    call, culprits = make(chaos)
    return BadInput(name, chaos.kind, call, (culprits,) if isinstance(culprits, str) else tuple(culprits), seed, number)


def entry_points() -> tuple[str, ...]:
    """Names of the entry points that are tried."""
    return tuple(dict.fromkeys(name for name, _ in _ENTRIES))


# Values that are wrong


class Chaos:
    """Makes wrong values; `kind` says in words what the last one was."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.kind = ""

    def pick(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def say(self, kind: str, value: Any) -> Any:
        kind = re.sub(r" at 0x\w+", "", kind)
        self.kind = f"{self.kind}, {kind}" if self.kind else kind
        return value

    def thing(self, *allowed: type) -> Any:
        """An object of another kind than the allowed ones."""
        things: tuple[Any, ...] = (None, {}, {"a": 1}, print, 3, -2.5, "nonsense", b"bytes", [1, 2], (), object(), True)
        things += (np.arange(3), np.zeros((2, 2)), 1j, SO3, Comparison.EQUALITY, {1, 2}, type)
        thing = self.pick(*(t for t in things if not isinstance(t, allowed)))
        return self.say(f"a {type(thing).__name__} instead", thing)

    def vector(self, n: int, scalar: bool = False, rows: bool = False) -> Any:
        """No vector of n numbers; nor a number, where one may stand for all (`scalar`), nor rows of them (`rows`)."""
        good = self.rng.uniform(-0.5, 0.5, n)
        kind = self.pick("size", "size", "rank", "finite", "finite", "dtype", "thing")
        if kind == "size":
            m = self.pick(*(m for m in range(n + 4) if m != n and not (scalar and m == 1)))
            return self.say(f"{m} numbers for {n}", self.rng.uniform(-0.5, 0.5, m))
        if kind == "rank":
            ranks = [good[:, None, None]] if rows else [good[None], np.stack([good, good]), good[:, None, None]]
            return self.say("wrong rank", self.pick(*ranks) if n else good[None, None])
        if kind == "finite" and n:
            good[int(self.rng.integers(n))] = self.pick(np.nan, np.inf, -np.inf)
            return self.say("not finite", self.pick(good, good.tolist(), good.astype(np.float32)))
        if kind == "dtype":
            typed = [
                good.astype(str),
                good.astype(object),
                good + 1j,
                good > 0,
                [*good.tolist(), [1.0]],
                ["x"] * max(n, 1),
            ]
            return self.say("wrong dtype", self.pick(*typed))
        # {} is the zero vector, by name: nothing is named
        things = [{"": 1.0}, {"q": 1.0}, print, "nonsense", object(), {1.0, 2.0}, *([] if n == 0 else [()])]
        return self.say("no numbers", self.pick(*things))

    def point(self, space: Space, rows: bool = False) -> Any:
        """No point of the space; nor rows of them, where these are taken too."""
        if space.unit_blocks and self.rng.random() < 0.3:
            q = space.random(self.rng)
            block = self.pick(*space.unit_blocks)
            q[block] *= self.pick(0.0, 0.5, 1.01, 2.0, -1.002)
            return self.say("not normalised", self.pick(q, q.tolist()))
        return self.vector(space.nq, rows=rows)

    def name(self, valid: Sequence[str]) -> Any:
        """A name that is not there: a typo, or no name at all."""
        name = list(str(self.pick(*valid)))
        at = int(self.rng.integers(len(name)))
        way = self.pick("drop", "double", "swap", "case", "empty", "thing")
        if way == "thing":
            return self.say("no name", self.pick(3, 2.5, b"tool", ("tool",), object(), True, print))
        if way == "empty":
            return self.say("an empty name", "")
        name[at] = {"drop": "", "double": name[at] * 2, "swap": "#", "case": "Q"}[way]
        typo = "".join(name)
        return self.say(f"typo {typo!r}", typo if typo not in valid else typo + "?")

    def placement(self) -> Any:
        """No placement."""
        pose = SE3.random(self.rng)
        matrix = pin.XYZQUATToSE3(pose).homogeneous
        way = self.pick("quaternion", "rotation", "row", "finite", "vector", "thing", "mirror")
        if way == "quaternion":
            pose[3:] *= self.pick(0.0, 0.9, 1.1, 3.0)
            return self.say("quaternion not normalised", self.pick(pose, pose.tolist()))
        if way in ("rotation", "row", "mirror"):
            if way == "row":
                matrix[3] = [0.0, 0.0, self.pick(0.1, 1.0), 1.0]
            elif way == "rotation":
                matrix[:3, :3] *= self.pick(0.0, 0.5, 1.1)
            else:
                matrix[:3, 0] *= -1.0
            return self.say(f"matrix with a wrong {way}", matrix)
        if way == "finite":
            array = self.pick(pose, matrix)
            array.flat[int(self.rng.integers(array.size))] = self.pick(np.nan, np.inf)
            return self.say("placement not finite", array)
        if way == "vector":
            return self.say(
                "wrong size", np.zeros(self.pick((0,), (3,), (6,), (8,), (3, 3), (3, 4), (4, 4, 1), (7, 1)))
            )
        return self.say("no placement", self.pick({}, print, object(), [[1.0], [1.0, 2.0]], {"a": 1}, 3, 1.0, 1j))

    def number(self) -> Any:
        """No finite number."""
        number = self.pick("x", "1", None, {}, [], [1.0, 2.0], np.nan, np.inf, -np.inf, print, 1j, object(), b"1")
        return self.say(f"no number but {number!r}"[:60], number)


# What they are tried on


@functools.cache
def _arm() -> Robot:
    return sample_arm()


@functools.cache
def _other() -> Robot:
    return sample_two_arms()


@functools.cache
def _box() -> Robot:
    return Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER)


SPACES = (Rn(3), SO2, SO3, SE3, R3xSO3, SE3 * Rn(2), SO2 * Rn(1) * SO3)


@functools.cache
def _pose(outputs: Space = R3xSO3) -> Pose:
    return Pose(_arm(), "tool", outputs=outputs)


@functools.cache
def _moving() -> Implicit:
    return Implicit.equal(Position(_arm(), "tool"), Target(lambda t: [0.3, 0.1 * t, 0.6]), name="moving")


@functools.cache
def _problem() -> Problem:
    return Problem(_arm(), [Implicit.equal(_pose(), name="hand"), Implicit.above(Position(_arm(), "elbow"), name="up")])


@functools.cache
def _projector() -> Projector:
    return Projector(_problem())


@functools.cache
def _space_problem() -> Problem:
    return Problem(SE3 * Rn(2), [Implicit.equal(Identity(SE3 * Rn(2)), name="whole")])


Made = tuple[Callable[[], object], "str | tuple[str, ...]"]
_ENTRIES: list[tuple[str, Callable[[Chaos], Made]]] = []


def entry(name: str) -> Callable[[Callable[[Chaos], Made]], Callable[[Chaos], Made]]:
    """Adds an entry point."""

    def add(make: Callable[[Chaos], Made]) -> Callable[[Chaos], Made]:
        _ENTRIES.append((name, make))
        return make

    return add


def given(culprits: str | tuple[str, ...], f: Callable[..., Any], *values: Any, **named: Any) -> Made:
    """The call f(*values, **named), and who is to blame."""
    return lambda: f(*values, **named), culprits


Q_CULPRITS = ("q of", "q:")


# Spaces, elements, segments


@entry("Space.check")
def _(c: Chaos) -> Made:
    space = c.pick(*SPACES)
    return given("elbow pose", space.check, c.point(space), "elbow pose")


@entry("Space.check_tangent")
def _(c: Chaos) -> Made:
    space = c.pick(*SPACES)
    return given("speed", space.check_tangent, c.vector(space.nv), "speed")


@entry("Space maps")
def _(c: Chaos) -> Made:
    space = c.pick(*SPACES)
    if c.rng.random() < 0.5:
        wrong = c.say(
            "wrong size", np.ones(c.pick(space.nq + 1, space.nq + 2, 0)).astype(c.pick(float, int, np.float32))
        )
    else:
        size = max(space.nq, 1)
        wrong = c.say(
            "no numbers", c.pick(["x"] * size, [None] * size, {}, print, "abc", object(), [1j] * size, [True] * size)
        )
    q, v = space.neutral, np.zeros(space.nv)
    way = c.pick("integrate q", "integrate v", "difference", "compose", "exp", "log", "inverse", "adjoint", "error")
    calls: dict[str, Made] = {
        "integrate q": given(("configuration",), space.integrate, wrong, v),
        "integrate v": given("tangent", space.integrate, q, wrong),
        "difference": given("configuration", space.difference, q, wrong),
        "compose": given("configuration", space.compose, wrong, q),
        "exp": given("tangent", space.exp, wrong),
        "log": given("configuration", space.log, wrong),
        "inverse": given("configuration", space.inverse, wrong),
        "adjoint": given("configuration", space.adjoint, wrong),
        "error": given("points", space.error, wrong, q, np.zeros(space.nv)),
    }
    return calls[way]


@entry("rigid_transform")
def _(c: Chaos) -> Made:
    way = c.pick("translation", "rotation", "rpy")
    if way == "rotation":
        zero = [
            np.zeros(3),
            c.say("no rotation", c.pick(np.zeros((3, 3)), 2.0 * np.eye(3), [0.0, 0.0, 0.0], "z", 3, {})),
        ]
        return given("rotation", rigid_transform, *zero)
    if way == "rpy":
        return given("rpy", rigid_transform, rpy=c.vector(3))
    return given("translation", rigid_transform, c.vector(3))


@entry("Rn")
def _(c: Chaos) -> Made:
    return given(("dimension", "Rn", "integer", "R^n"), Rn, c.say("no dimension", c.pick(-1, 1.5, "3", None, [2], -7)))


@entry("Space ** n")
def _(c: Chaos) -> Made:
    n = c.say("no power", c.pick(-1, 0.5, "2", None, [2], -3))
    return given("power", lambda: SE3**n)


@entry("ProductSpace")
def _(c: Chaos) -> Made:
    way = c.pick("names", "twice", "thing", "no sequence")
    if way == "names":
        return given("names", ProductSpace, [SO3, Rn(2)], c.say("names", c.pick(["a"], ["a", "b", "c"], [])))
    if way == "twice":
        return given("same", ProductSpace, [SO3, Rn(2)], ["same", c.say("a name twice", "same")])
    if way == "thing":
        return given(("factor", "space"), ProductSpace, [SO3, c.thing(Space)])
    return given(("factor", "space"), ProductSpace, c.say("no sequence", c.pick(3, None, SO3, print)))


@entry("Space.random")
def _(c: Chaos) -> Made:
    space, rng = SE3 * Rn(2), np.random.default_rng(0)
    way = c.pick("lower", "upper", "crossed")
    if way == "crossed":
        return given("lower bound", space.random, rng, np.full(9, 1.0), c.say("bounds crossed", np.full(9, -1.0)))
    wrong = c.say("wrong size", np.zeros(c.pick(0, 1, 8, 10)))
    return given("bound", space.random, rng, **{way: wrong})


@entry("Element")
def _(c: Chaos) -> Made:
    space = c.pick(*SPACES)
    return given("element", Element, c.point(space), space)


@entry("Element space")
def _(c: Chaos) -> Made:
    return given("space", Element, [0.0, 0.0, 0.0, 1.0], c.thing(Space))


@entry("Element operators")
def _(c: Chaos) -> Made:
    space = c.pick(*SPACES)
    e, way = Element(space.neutral, space), c.pick("+", "-", "*", "is_close")
    if way == "+":
        v = c.vector(space.nv)
        return given("tangent vector", lambda: e + v)
    other = c.pick(c.thing(Space, type(None)), Element(Rn(9).neutral, Rn(9)))
    return given(
        "element", {"-": lambda: e - other, "*": lambda: e * other, "is_close": lambda: e.is_close(other)}[way]
    )


@entry("Segments")
def _(c: Chaos) -> Made:
    space = SE3 * Rn(4)
    way = c.pick("factor", "twice", "coordinate", "cut", "repeated", "sizes", "thing", "mix")
    if way == "factor":
        return given("factor", Segments.of, space, c.say("no such factor", c.pick("SE33", 2, -1, "", 7, 1.5, None)))
    if way == "twice":
        return given("twice", Segments.of, space, c.say("a factor twice", 1), 1)
    if way == "coordinate":
        return given("coordinate", Segments.coordinates, space, [6, c.say("no such coordinate", c.pick(-1, 10, 99))])
    if way == "cut":
        return given("cut", Segments.coordinates, space, c.say("cut", c.pick([0], [0, 1, 2], [5, 6], [0, 1, 2, 3, 4])))
    if way == "repeated":
        return given("twice", Segments.coordinates, space, c.say("repeated", [7, 8, 7]))
    if way == "sizes":
        return given("indices", Segments, c.say("sizes", c.pick((0,), (0, 1, 2))), (0, 1), Rn(2))
    if way == "thing":
        wrong = c.pick("x", None, 3, [1.5], ["a"], [None], print, [7, 8.5])
        return given(("coordinate", "segments"), Segments.coordinates, space, c.say("no coordinates", wrong))
    return given("segments", lambda: Segments.of(space, 0) | Segments.coordinates(Rn(10), c.say("of another", [2, 7])))


# Robots, frames, bounds


@entry("Robot")
def _(c: Chaos) -> Made:
    model, way = _arm().model, c.pick("model", "bounds", "references", "reference", "mimics")
    if way == "model":
        return given("model", Robot, c.thing())
    if way == "bounds":
        return given("bounds", Robot, model, bounds=c.thing(type(None)))
    if way == "references":
        return given("reference", Robot, model, references=c.say("no mapping", c.pick(3, print, [1], "home", 2.5)))
    if way == "reference":
        return given("folded", Robot, model, references={"folded": c.vector(7)})
    return given("mimic", Robot, model, mimics=c.say("no mimics", c.pick([3], ["a"], [None], 5, print)))


@entry("Robot.from_urdf")
def _(c: Chaos) -> Made:
    box = "<robot name='box'><link name='body'/></robot>"
    way = c.pick("path", "thing", "text", "base", "srdf", "package")
    if way == "path":
        return given("nowhere", Robot.from_urdf, c.say("no file", c.pick("/nowhere.urdf", "nowhere/arm.urdf")))
    if way == "thing":
        return given(("source", "URDF", "urdf"), Robot.from_urdf, c.thing(str, bytes))
    if way == "text":
        broken = (
            "<robot",
            "<robot name='a'><link/></robot>",
            "<thing/>",
            "<robot name='a'><joint name='j'/></robot>",
            "",
        )
        return given(("URDF", "text", "robot", "XML", "path"), Robot.from_urdf, c.say("broken text", c.pick(*broken)))
    if way == "base":
        return given("base", Robot.from_urdf, box, base=c.thing(type(None)))
    if way == "srdf":
        return given(("srdf", "nowhere"), Robot.from_urdf, box, c.say("no SRDF", c.pick("/nowhere.srdf", 3, print, {})))
    return given("nowhere", Robot.from_urdf, c.say("no package", "package://nowhere/arm.urdf"))


SRDF_TEXT = """<robot name='arm'>
  <group_state name='ready' group='arm'><joint name='elbow' value='0.5'/></group_state>
  <disable_collisions link1='forearm' link2='tool' reason='Never'/>
  <disable_default_collisions link='tool'/>
  <gripper name='hand' clearance='0.01'><position>0 0 0.1 1 0 0 0</position><link name='tool'/></gripper>
  <handle name='knob' clearance='0.02' approaching_direction='0 0 1'>
    <position xyz='0 0 0.1' rpy='0 0 0'/><link name='tool'/><mask>true true 1 1 1 0</mask></handle>
  <contact name='sole'><link name='tool'/><point>1 -1 0 1 1 0 -1 1 0 -1 -1 0</point><shape>4 0 1 2 3</shape></contact>
</robot>"""
SRDF_MISTAKES = {
    "robot": [
        ("value='0.5'", "value='half'", "half"),
        ("value='0.5'", "value='nan'", "nan"),
        ("value='0.5'", "value=''", "elbow"),
        ("value='0.5'", "value='0 1 2'", "elbow"),
        ("name='ready'", "named='ready'", "group_state"),
        ("joint name='elbow'", "joint", "joint"),
        ("link1='forearm'", "link='forearm'", "link1"),
        ("link2='tool'", "link2=''", "link2"),
        ("collisions link='tool'", "collisions link1='tool'", "'link'"),
        ("<disable_collisions", "<disable_collision", "disable_collision"),
        ("<disable_default_collisions", "<disable_defaults_collisions", "disable_defaults_collisions"),
    ],
    "semantics": [
        ("<gripper name='hand'", "<gripper", "gripper"),
        ("clearance='0.01'", "clearance='-0.01'", "hand"),
        ("clearance='0.01'", "clearance='1 2'", "hand"),
        ("clearance='0.01'", "clearence='0.01'", "clearence"),
        (">0 0 0.1 1 0 0 0<", ">0 0 0.1 0 0 0 0<", "hand"),
        (">0 0 0.1 1 0 0 0<", ">0 0 0.1 1 0 0<", "hand"),
        (">0 0 0.1 1 0 0 0<", ">0 0 inf 1 0 0 0<", "inf"),
        ("<position>0 0 0.1 1 0 0 0</position>", "", "position"),
        ("xyz='0 0 0.1'", "xyz='0 0'", "xyz"),
        ("rpy='0 0 0'", "rpy='0 0 0' xyzw='0 0 0 1'", "xyzw"),
        ("rpy='0 0 0'", "rp='0 0 0'", "rp"),
        ("direction='0 0 1'", "direction='0 0 0'", "knob"),
        ("direction='0 0 1'", "direction='up'", "up"),
        ("direction='0 0 1'", "direction='0 1'", "approaching_direction"),
        ("true true 1 1 1 0", "true true 1 1 1", "mask"),
        ("true true 1 1 1 0", "yes true 1 1 1 0", "yes"),
        ("true true 1 1 1 0", "1 1 1 1 0 2", "2"),
        ("true true 1 1 1 0", "1 1 1 0 0 1", "rotation"),
        ("<mask>", "<mask>1 1 1 1 1 1</mask><mask>", "mask"),
        ("<point>1 -1 0", "<point>1 -1", "point"),
        ("<point>1 -1 0", "<point>1 -1 zero", "zero"),
        ("<point>1 -1 0 1 1 0 -1 1 0 -1 -1 0</point>", "", "point"),
        ("4 0 1 2 3", "4 0 1 2", "indices"),
        ("4 0 1 2 3", "4 0 1 2 9", "vertex 9"),
        ("4 0 1 2 3", "4 0 2 1 3", "cross"),
        ("4 0 1 2 3", "2 0 1", "sole"),
        ("4 0 1 2 3", "3 0 0 0", "sole"),
        ("4 0 1 2 3", "-1 0", "whole numbers"),
        ("4 0 1 2 3", "4 0 1 2 2.5", "whole numbers"),
        ("4 0 1 2 3", "", "shape"),
        ("1 1 0 -1 1 0", "1 1 1 -1 1 0", "plane"),
        ("<handle name='knob' clearance='0.02'", "<handle name='knob' clearance='x'", "knob"),
        ("</robot>", "<gripper name='hand'><link name='tool'/><position>0 0 0 1 0 0 0</position></gripper></robot>",
         "another one"),
        ("<link name='tool'/><mask>", "<link name='tol'/><mask>", "tol"),
        ("<link name='tool'/><mask>", "<mask>", "link"),
    ],
}  # fmt: skip
"""What is written in a file, what is written instead, and a word that the error must have."""


@functools.cache
def _linked() -> Robot:
    """A robot with links."""
    links = "<link name='base'/><link name='forearm'/><link name='tool'/>"
    joints = "".join(
        f"<joint name='{name}' type='continuous'><parent link='{a}'/><child link='{b}'/></joint>"
        for name, a, b in (("shoulder", "base", "forearm"), ("elbow", "forearm", "tool"))
    )
    return Robot.from_urdf(f"<robot name='arm'>{links}{joints}</robot>")


@entry("SRDF: Robot.with_srdf, read_semantics")
def _(c: Chaos) -> Made:
    robot = _linked()
    readers = {"robot": robot.with_srdf, "semantics": functools.partial(read_semantics, robot)}
    kind = c.pick("robot", "semantics")
    way = c.pick("thing", "cut", "other", "mistake", "mistake", "mistake", "pairs", "prefix", "robot", "packages")
    if way == "thing":
        return given("SRDF", readers[kind], c.thing(str, bytes))
    if way == "cut":
        return given("SRDF", readers[kind], SRDF_TEXT[: c.say("cut short", int(c.rng.integers(len(SRDF_TEXT) - 1)))])
    if way == "other":
        other = c.pick(
            "<sdf version='1.7'/>",
            "<mujoco/>",
            "<!DOCTYPE robot [<!ENTITY a 'b'>]><robot/>",
            "/nowhere.srdf",
            "arm.srdf",
        )
        return given(("SRDF", "nowhere", "arm.srdf"), readers[kind], c.say("another file", other))
    if way == "mistake":
        old, new, culprit = c.pick(*SRDF_MISTAKES[kind])
        return given(culprit, readers[kind], SRDF_TEXT.replace(old, c.say(f"{new!r} for {old!r}", new)))
    if way == "pairs":
        wrong = c.pick(
            3, "tool", ["tool"], [("tool",)], [("tool", 3)], [("tool", "tol")], [("tool", "base", None)], [None]
        )
        return given(("collision", "link"), Robot, robot.model, disabled_collisions=c.say("no pairs", wrong))
    if way == "prefix":
        return given(
            ("prefix", "link", "frame"), read_semantics, robot, SRDF_TEXT, c.say("no prefix", c.pick(3, None, "r1"))
        )
    if way == "robot":
        return given("robot of semantics", read_semantics, c.thing(Robot), SRDF_TEXT)
    return given(
        ("packages", "package"),
        readers[kind],
        "package://nowhere/a.srdf",
        packages=c.say("no folders", c.pick(3, [3], None)),
    )


@entry("Robot.system")
def _(c: Chaos) -> Made:
    way = c.pick("twice", "parent", "thing", "none", "placement")
    if way == "twice":
        return given("left", Robot.system, [Part("left", _arm()), Part(c.say("a name twice", "left"), _arm())])
    if way == "parent":
        parts = [Part("left", _arm()), Part("right", _arm(), on=c.name(["left/tool"]))]
        return given(("frame", "on"), lambda: Robot.system(parts))
    if way == "thing":
        return given("part", Robot.system, [c.thing()])
    if way == "none":
        return given("part", Robot.system, c.say("no parts", c.pick(3, None, print, 2.5)))
    placement = c.placement()
    return given("placement", lambda: Robot.system([Part("left", _arm(), placement)]))


@entry("Robot.frame")
def _(c: Chaos) -> Made:
    name = c.name(_arm().frame_names)
    return given(("frame", str(name)), _arm().frame, name)


@entry("Robot.frame placement")
def _(c: Chaos) -> Made:
    return given("placement", _arm().frame, "tool", c.placement())


@entry("Robot.frame of another robot")
def _(c: Chaos) -> Made:
    frame = c.say("frame of another robot", _other().frame(c.pick("left_tool", "right_tool", "right_wrist_roll")))
    return given(frame.name, c.pick(_arm().frame, functools.partial(Position, _arm())), frame)


@entry("Robot.with_frame")
def _(c: Chaos) -> Made:
    way = c.pick("name", "on", "placement", "taken")
    if way == "name":
        return given("name of a frame", _arm().with_frame, c.say("no name", c.pick("", 3, None, {}, b"x")), "tool")
    if way == "on":
        return given("frame", _arm().with_frame, "tip", c.name(_arm().frame_names))
    if way == "taken":
        return given("tool", _arm().with_frame, c.say("taken", "tool"), "elbow")
    return given("placement of frame 'tip'", _arm().with_frame, "tip", "tool", c.placement())


@entry("Robot.with_bounds")
def _(c: Chaos) -> Made:
    way = c.pick("joint", "crossed", "pair", "value", "thing", "rotation")
    if way == "joint":
        return given("joint", _arm().with_bounds, {c.name(_arm().joint_names): (-1.0, 1.0)})
    if way == "crossed":
        return given("elbow", _arm().with_bounds, {"elbow": c.say("crossed", c.pick((1.0, -1.0), (np.inf, 1.0)))})
    if way == "pair":
        wrong = c.pick(3, None, "ab", (1.0,), (1.0, 2.0, 3.0), print)
        return given("elbow", _arm().with_bounds, {"elbow": c.say("no pair", wrong)})
    if way == "value":
        wrong = c.pick("x", "1", None, {}, [1.0, 2.0], np.nan, print, 1j, object(), True)
        pair = c.pick((wrong, 1.0), (-1.0, wrong))
        return given("elbow", _arm().with_bounds, {"elbow": c.say(f"no bound {wrong!r}"[:60], pair)})
    if way == "rotation":
        box = Robot.from_urdf("<robot name='b'><link name='a'/></robot>", base=Base.FREE_FLYER)
        return given("root_joint", box.with_bounds, {"root_joint": c.say("seven bounds", (np.zeros(7), np.ones(7)))})
    return given("bounds", _arm().with_bounds, c.thing(dict))


@entry("Bounds")
def _(c: Chaos) -> Made:
    way = c.pick("lower", "upper", "crossed", "space", "nan")
    low, high = np.full(3, -1.0), np.full(3, 1.0)
    if way == "space":
        return given("space", Bounds, c.thing(Space), low, high)
    if way == "crossed":
        return given("bound", Bounds, Rn(3), high, c.say("crossed", low))
    if way == "nan":
        low[c.pick(0, 1, 2)] = np.nan
        return given("lower bounds", Bounds, Rn(3), c.say("NaN", low), high)
    wrong = c.say(
        "no side", c.pick(np.zeros(2), np.zeros((1, 3)), "x", None, {}, print, ["1", "2", "3"], high + 1j, high > 0)
    )
    return given(f"{way} bounds", Bounds, Rn(3), *((wrong, high) if way == "lower" else (low, wrong)))


@entry("Bounds methods")
def _(c: Chaos) -> Made:
    method = c.pick(_arm().bounds.contains, _arm().bounds.violations, _arm().bounds.clip)
    wrong = c.pick(np.zeros(6), np.zeros((1, 7)), "x", None, {}, print, ["a"] * 7, [True] * 7, np.zeros(7) + 1j)
    return given("q", method, c.say("no configuration", wrong))


@entry("Bounds.none, Bounds.replace")
def _(c: Chaos) -> Made:
    if c.rng.random() < 0.5:
        return given("space", Bounds.none, c.thing(Space))
    return given("bounds", _arm().bounds.replace, c.thing(dict))


@entry("Frame")
def _(c: Chaos) -> Made:
    way = c.pick("placement", "name", "joint")
    if way == "placement":
        return given("placement of frame 'tip'", Frame, "tip", 1, c.placement())
    if way == "name":
        return given("name", Frame, c.thing(str), 1)
    return given("joint", Frame, "tip", c.say("no joint", c.pick("elbow", None, 1.5, -1, {}, [1])))


@entry("Robot.configuration")
def _(c: Chaos) -> Made:
    way = c.pick("joint", "value", "start", "reference", "mapping", "free")
    if way == "joint":
        return given("joint", _arm().configuration, {c.name(_arm().joint_names): 0.1})
    if way == "value":
        wrong = c.pick("x", {}, [1.0, 2.0], np.nan, np.inf, print, 1j, object(), True, [[1.0]], pin.SE3.Identity())
        return given("elbow", _arm().configuration, {"elbow": c.say(f"no value {wrong!r}"[:60], wrong)})
    if way == "start":
        return given(
            "start", _arm().configuration, start=c.say("no start", c.pick(np.zeros(6), np.full(7, np.nan), 3, {}))
        )
    if way == "reference":
        return given("reference posture", _arm().configuration, start=c.say("typo", c.pick("hom", "", "Home")))
    if way == "free":
        return given("root_joint", _box().configuration, {"root_joint": c.placement()})
    return given("values", _arm().configuration, c.say("no mapping", c.pick(3, [1], "home", print, np.zeros(7))))


@entry("Robot joints by name")
def _(c: Chaos) -> Made:
    method = c.pick("slice_of", "velocity_slice_of", "joint_index", "segments")
    name = c.name(_arm().joint_names)
    return given("joint", getattr(_arm(), method), name)


@entry("Robot.segments")
def _(c: Chaos) -> Made:
    return given("elbow", _arm().segments, "elbow", c.say("twice", "elbow"))


@entry("Robot.reference")
def _(c: Chaos) -> Made:
    return given("reference posture", _arm().reference, c.name(["home"]))


@entry("Robot.with_references")
def _(c: Chaos) -> Made:
    if c.rng.random() < 0.3:
        return given("reference", _arm().with_references, c.say("no mapping", c.pick(3, [1.0], "home", None, print)))
    return given("folded", _arm().with_references, {"folded": c.vector(7)})


@entry("Robot.random")
def _(c: Chaos) -> Made:
    if c.rng.random() < 0.5:
        return given("rng", _arm().random, c.thing())
    return given("size", _arm().random, np.random.default_rng(0), c.say("no size", c.pick(-1, 1.5, "3", [2], {})))


@entry("Robot.at")
def _(c: Chaos) -> Made:
    way = c.pick("q", "v", "workspace", "frame")
    if way == "q":
        robot = c.pick(_arm(), _box())
        return given(Q_CULPRITS, robot.at, c.point(robot.space))
    if way == "frame":
        motion = _arm().at(_arm().neutral, np.zeros(7))
        here = motion.posture
        call = c.pick(here.placement, here.jacobian, motion.velocity, motion.drift_acceleration)
        return given("frame", call, c.name(("tool", "elbow")) if c.rng.random() < 0.5 else c.thing(Frame, str))
    if way == "v":
        return given("velocity", _arm().at, _arm().neutral, c.vector(7))
    return given("workspace", _arm().at, _arm().neutral, workspace=c.thing(type(None)))


@entry("Robot.check, Robot.format")
def _(c: Chaos) -> Made:
    robot = c.pick(_arm(), _box())
    return given(Q_CULPRITS, c.pick(robot.check, robot.format), c.point(robot.space))


# Functions

ONE_FRAME: tuple[Any, ...] = (Position, Orientation, Transformation, Rotation, Pose)


@entry("functions of one frame")
def _(c: Chaos) -> Made:
    kind, way = c.pick(*ONE_FRAME), c.pick("robot", "typo", "thing", "placement")
    if way == "robot":
        return given("robot", kind, c.thing(), "tool")
    if way == "typo":
        return given("frame", kind, _arm(), c.name(_arm().frame_names))
    if way == "thing":
        return given("frame", kind, _arm(), c.thing(str))
    return given("reference", kind, _arm(), "tool", c.placement())


@entry("functions of two frames")
def _(c: Chaos) -> Made:
    kind, way = c.pick(*ONE_FRAME), c.pick("robot", "frame", "reference", "thing")
    if way == "robot":
        return given("robot", kind, c.thing(), "tool", reference="elbow")
    if way == "reference":
        return given(("frame", "reference"), kind, _arm(), "tool", reference=c.name(_arm().frame_names))
    if way == "frame":
        return given("frame", kind, _arm(), c.name(_arm().frame_names), reference="tool")
    return given("frame", kind, _arm(), c.thing(str), reference="tool")


@entry("Pose outputs")
def _(c: Chaos) -> Made:
    outputs = c.say("wrong group", c.pick(SO3, Rn(6), "SE3", None, 7, SE3 * Rn(1), {}))
    if c.rng.random() < 0.5:
        return given("outputs", Pose, _arm(), "tool", outputs=outputs)
    return given("outputs", Pose, _arm(), "elbow", reference="tool", outputs=outputs)


@entry("function names")
def _(c: Chaos) -> Made:
    return given("name", c.pick(*ONE_FRAME), _arm(), "tool", name=c.say("no name", c.pick(3, 2.5, b"a", ["a"], print)))


@entry("CenterOfMass")
def _(c: Chaos) -> Made:
    way = c.pick("robot", "joints", "subtrees", "both", "thing", "mass", "empty")
    if way == "robot":
        return given("robot", CenterOfMass, c.thing())
    if way in ("joints", "subtrees"):
        return given(("joint",), CenterOfMass, _arm(), **{way: ["elbow", c.name(_arm().joint_names)]})
    if way == "both":
        return given("joints", CenterOfMass, _arm(), joints=["elbow"], subtrees=[c.say("both", "elbow")])
    if way == "thing":
        return given("joints", CenterOfMass, _arm(), joints=c.say("no names", c.pick("elbow", 3, print, {}, 2.5)))
    if way == "empty":
        return given("CenterOfMass", CenterOfMass, _arm(), joints=c.say("no joint", []))
    return given("mass", CenterOfMass, c.say("no mass", _box()))


@entry("CenterOfMass from a frame, ComBetweenFeet")
def _(c: Chaos) -> Made:
    way = c.pick("frame", "reference", "left", "right", "third", "robot")
    name = c.name(_arm().frame_names) if way not in ("reference", "robot") else "tool"
    if way == "frame":
        return given(("frame", "reference"), CenterOfMass, _arm(), reference=name)
    if way == "reference":
        return given("reference", CenterOfMass, _arm(), reference=c.placement())
    if way == "robot":
        return given("robot", ComBetweenFeet, c.thing(), "tool", "elbow", "tool")
    frames = {"left": (name, "elbow", "tool"), "right": ("elbow", name, "tool"), "third": ("elbow", "tool", name)}
    return given("frame", ComBetweenFeet, _arm(), *frames[way])


def _ground(**options: Any) -> Support:
    return Support(_arm().frame("tool"), [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]], **options)


@entry("Support")
def _(c: Chaos) -> Made:
    way = c.pick("frame", "points", "friction", "normal", "edges", "surface")
    if way == "frame":
        return given("frame of a support", Support, c.thing(), [[0.0, 0.0, 0.0]])
    if way == "points":
        wrong = c.pick([], [0.0, 0.0, 0.0], [[0.0, 0.0]], [[np.nan, 0.0, 0.0]], "x", {}, print, np.zeros((0, 3)), 1j)
        return given("points", Support, _arm().frame("tool"), c.say("no points", wrong))
    if way == "friction":
        wrong = c.number() if c.rng.random() < 0.5 else c.say("a negative number", -0.5)
        return given("coefficient", lambda: _ground(friction=wrong))
    if way == "normal":
        wrong = c.vector(3) if c.rng.random() < 0.5 else c.say("no unit vector", [0.0, 0.0, 2.0])
        return given("normal", lambda: _ground(normal=wrong))
    if way == "edges":
        wrong = c.say("no number of edges", c.pick(2, 0, -3, 2.5, None, "x", True, print))
        return given("edges", lambda: _ground(edges=wrong))
    return given("surface of a support", Support.under, c.thing())


@entry("StaticStability, ContactForces, SupportPolygon, StaticTorques")
def _(c: Chaos) -> Made:
    kind = c.pick(StaticStability, ContactForces, SupportPolygon, StaticTorques)
    way = c.pick("robot", "supports", "joints", "both", "length", "shares", "damping", "actuated", "mass")
    if way == "robot":
        return given("robot", kind, c.thing(), _ground())
    if way == "supports":
        return given("support", kind, _arm(), c.pick(c.thing(), [_ground(), c.thing()]))
    if way == "joints":
        return given(
            ("joint", "subtrees"), kind, _arm(), _ground(), **{c.pick("joints", "subtrees"): c.name(["elbow"])}
        )
    if way == "both":
        return given("joints", kind, _arm(), _ground(), joints=["elbow"], subtrees=[c.say("both", "elbow")])
    if way == "length":
        wrong = c.number() if c.rng.random() < 0.5 else c.say("not positive", c.pick(0.0, -1.0))
        return given("length", c.pick(StaticStability, ContactForces), _arm(), _ground(), length=wrong)
    if way == "shares":
        wrong = c.vector(1) if c.rng.random() < 0.5 else c.say("not positive", c.pick([0.0], [-1.0]))
        return given("shares", c.pick(ContactForces, StaticTorques), _arm(), _ground(), shares=wrong)
    if way == "damping":
        wrong = c.number() if c.rng.random() < 0.5 else c.say("negative", -1.0)
        return given("damping", c.pick(ContactForces, StaticTorques), _arm(), _ground(), damping=wrong)
    if way == "actuated":
        wrong = c.pick("elbow", [c.name(_arm().joint_names)], 3, [], {})
        return given(("actuated", "joint"), StaticTorques, _arm(), _ground(), c.say("no joints", wrong))
    return given("mass", kind, c.say("no mass", _box()), Support(_box().frame("body"), np.eye(3)))


@entry("double_support")
def _(c: Chaos) -> Made:
    robot = _other()
    way = c.pick("robot", "left", "right", "q", "sliding", "aligned", "mask", "subtrees")
    feet = ["left_tool", "right_tool"]
    if way == "robot":
        return given("robot", double_support, c.thing(), *feet, robot.neutral)
    if way == "q":
        return given("posture", double_support, robot, *feet, c.point(robot.space))
    if way in ("left", "right"):
        feet[way == "right"] = c.name(robot.frame_names)
        return given("frame", double_support, robot, *feet, robot.neutral)
    if way in ("sliding", "aligned"):
        return given(way, double_support, robot, *feet, robot.neutral, **{way: c.thing(bool)})
    if way == "mask":
        return given("mask", double_support, robot, *feet, robot.neutral, mask=c.say("no mask", c.pick([1, 1], "x", 7)))
    wrong = c.pick("left_tool", [c.name(robot.joint_names)], 3, [])
    return given(
        ("subtrees", "joint", "mass"), double_support, robot, *feet, robot.neutral, subtrees=c.say("none", wrong)
    )


@entry("Affine")
def _(c: Chaos) -> Made:
    A, way = c.rng.uniform(-1.0, 1.0, (2, 3)), c.pick("A", "b", "inputs", "group", "columns")
    if way == "A":
        wrong = c.pick("x", {}, print, A + 1j, A.astype(str), A > 0, A[None], [[1.0], [1.0, 2.0]], A * np.nan, object())
        return given("matrix", Affine, c.say("no matrix", wrong))
    if way == "b":
        return given("vector", Affine, A, c.vector(2))
    if way == "inputs":
        return given("affine", Affine, A, None, c.say("wrong space", c.pick(Rn(4), SO3 * Rn(1), SE3, Rn(0))))
    if way == "columns":
        return given("affine", Affine, A, None, c.say("columns of a rotation", c.pick(SO3, SO2 * Rn(2))))
    return given(("inputs", "space"), Affine, A, None, c.thing(Space, type(None)))


@entry("Identity, Constant")
def _(c: Chaos) -> Made:
    way = c.pick("identity", "constant", "outputs", "inputs")
    if way == "identity":
        return given("space", Identity, c.thing(Space))
    if way == "constant":
        return given("constant", Constant, c.point(SE3), SE3)
    wrong = c.thing(Space, type(None))
    return given(("space", way), Constant, [1.0], **{way: wrong})


@entry("Stacked")
def _(c: Chaos) -> Made:
    way = c.pick("thing", "empty", "spaces", "no sequence")
    if way == "thing":
        return given("function 1", Stacked, [_pose(), c.thing()])
    if way == "empty":
        return given("functions", Stacked, c.say("empty", c.pick([], ())))
    if way == "spaces":
        other = c.pick(Identity(Rn(3)), Position(_other(), "left_tool"), Position(_twin(), "tool"))
        return given("inputs", Stacked, [_pose(), c.say("another space", other)])
    return given("functions", Stacked, c.say("no sequence", c.pick(3, None, print, "abc")))


@entry("Function.restricted")
def _(c: Chaos) -> Made:
    rows = c.pick([6], [-1], [3], [3, 4], [0, 0], ["x"], None, 3, "rows", print, [1.5], [None], {})
    return given(("coordinate", "segments", "rows", "cut"), _pose().restricted, c.say(f"rows {rows!r}"[:60], rows))


@entry("Function.on, Implicit.on")
def _(c: Chaos) -> Made:
    owner = c.pick(_pose(), Implicit.zero(_pose(), name="hand"))
    if c.rng.random() < 0.5:
        return given(("space",), owner.on, c.thing(Space))
    two = _arm().space * _arm().space
    return given(("space",), owner.on, c.say("space without its factor", c.pick(Rn(3), SE3, _other().space, two)))


@entry("Function.on block")
def _(c: Chaos) -> Made:
    space = _arm().space * Rn(2)
    block = c.pick(Segments.of(space, 1), Segments.coordinates(space, [7, 8]), "arm", 3, {}, [0, 1])
    return given("block", _pose().on, space, c.say("wrong block", block))


@entry("f @ g, f - g")
def _(c: Chaos) -> Made:
    f, other = Identity(SE3), c.thing(type(None))
    way = c.pick("@ thing", "- thing", "@ spaces", "- robots", "- inputs", "- outputs")
    if way == "@ thing":
        return given("inner function", lambda: f @ cast(Any, other))
    if way == "- thing":
        return given(("right of a difference", "right of"), lambda: f - cast(Any, other))
    if way == "@ spaces":
        return given("Identity @", lambda: f @ c.say("spaces", Identity(Rn(7))))
    if way == "- robots":
        other = c.say("another robot", Position(_twin(), "tool"))
        return given("inputs of Position", lambda: Position(_arm(), "tool") - other)
    if way == "- inputs":
        return given("inputs of Identity", lambda: f - c.say("inputs", Identity(Rn(7))))
    return given("outputs of Position", lambda: Position(_arm(), "tool") - c.say("outputs", _pose()))


@entry("Function.from_callable")
def _(c: Chaos) -> Made:
    f, way = (lambda q: q[:2]), c.pick("f", "inputs", "outputs", "jacobian", "columns")
    if way == "f":
        return given(
            "function", Function.from_callable, c.say("no callable", c.pick(3, None, "f", {}, [1.0])), Rn(3), Rn(2)
        )
    if way in ("inputs", "outputs"):
        spaces = {"inputs": Rn(3), "outputs": Rn(2), way: c.thing(Space)}
        return given((way, "space"), Function.from_callable, f, **spaces)
    if way == "jacobian":
        wrong = c.say("no callable", c.pick(3, "J", {}, np.eye(3)))
        return given("jacobian", Function.from_callable, f, Rn(3), Rn(2), wrong)
    wrong = c.pick([True], [True] * 4, "x", {}, print, [[True] * 3], ["a", "b", "c"], [0.5, 0.5, 1.0])
    return given("columns", Function.from_callable, f, Rn(3), Rn(2), columns=c.say("columns", wrong))


@entry("from_callable: what it returns")
def _(c: Chaos) -> Made:
    wrong = c.pick(
        np.zeros(3), 1.0, "x", None, {}, [[1.0], [1.0, 2.0]], np.zeros(2) + 1j, ["a", "b"], ["1", "2"], print
    )
    if c.rng.random() < 0.5:
        f = Function.from_callable(lambda q: c.say("value", wrong), Rn(3), Rn(2), name="mine")
        return given("mine", f.value, np.zeros(3))
    bad = c.pick(
        np.zeros((2, 2)), np.zeros(5), "x", None, {}, np.zeros((2, 3)) + 1j, print, [["a"] * 3] * 2, np.zeros((3, 2))
    )
    f = Function.from_callable(lambda q: q[:2], Rn(3), Rn(2), lambda q: c.say("Jacobian", bad), name="mine")
    return given("mine", f.jacobian, np.zeros(3))


@entry("Function.value, jacobian, linearise")
def _(c: Chaos) -> Made:
    f = c.pick(_pose(), Identity(SE3), Pose(_box(), "body"))
    return given("argument of", c.pick(f.value, f.jacobian, f.linearise), c.point(f.inputs))


# Rows, constraints, right-hand sides


@entry("Implicit function")
def _(c: Chaos) -> Made:
    make = c.pick(Implicit, Implicit.zero, Implicit.equal, Implicit.above, Implicit.below)
    return given("function", make, c.thing())


@entry("Implicit comparison")
def _(c: Chaos) -> Made:
    E = Comparison.EQUALITY
    wrong = c.pick("EQUALITY", 1, [E] * 5, [E] * 7, [], ["EQUALITY"] * 6, [E, E, E, E, E, 3], {}, print, True, E.value)
    return given("comparison of 'hand'", Implicit, _pose(), c.say(f"comparison {wrong!r}"[:50], wrong), name="hand")


@entry("Implicit mask")
def _(c: Chaos) -> Made:
    wrong = c.pick(
        [True] * 5,
        [True] * 7,
        [2] * 6,
        [0.5] * 6,
        ["x"] * 6,
        "x",
        {},
        print,
        [[True] * 6],
        [np.nan] * 6,
        [],
        1j,
        object(),
    )
    return given("mask of 'hand'", Implicit, _pose(), mask=c.say(f"mask {wrong!r}"[:50], wrong), name="hand")


@entry("Implicit scale, margin")
def _(c: Chaos) -> Made:
    what = c.pick("scale", "margin")
    wrong = c.pick(
        [1.0] * 5, [1.0] * 7, -1.0, np.nan, np.inf, [1.0] * 5 + [-1.0], "x", "1", {}, print, 1j, object(), [], True
    )
    wrong = c.say(f"{what} {wrong!r}"[:50], wrong)
    return given(("hand",), Implicit, _pose(), Comparison.SUPERIOR, **{what: wrong}, name="hand")


@entry("Implicit lower, upper")
def _(c: Chaos) -> Made:
    what = c.pick("lower", "upper")
    if c.rng.random() < 0.3:
        sides = c.say("crossed", {"lower": 1.0, "upper": [2.0] * 5 + [0.5]})
        return given("row 5", Implicit, _pose(), **sides, name="hand")
    if c.rng.random() < 0.2:
        return given(
            "hand", Implicit, _pose(), Comparison.EQUALITY, **{what: c.say("with a comparison", 1.0)}, name="hand"
        )
    wrong = c.pick([1.0] * 5, [1.0] * 7, np.nan, "x", "1", {}, print, 1j, object(), [], [[1.0] * 6], True, ["1"] * 6)
    return given(f"{what} of 'hand'", Implicit, _pose(), **{what: c.say(f"{wrong!r}"[:50], wrong)}, name="hand")


@entry("Implicit.above, below, between")
def _(c: Chaos) -> Made:
    wrong = c.pick([1.0] * 2, [1.0] * 4, np.nan, "x", "1", {}, print, 1j, object(), [[1.0] * 3])
    wrong = c.say(f"{wrong!r}"[:50], wrong)
    f, way = Position(_arm(), "tool"), c.pick("above", "below", "between", "margin")
    if way == "between":
        return given("hand", Implicit.between, f, *c.pick((wrong, 1.0), (-1.0, wrong)), name="hand")
    if way == "margin":
        return given("hand", c.pick(Implicit.above, Implicit.below), f, 0.0, margin=wrong, name="hand")
    return given("hand", getattr(Implicit, way), f, wrong, name="hand")


@entry("Implicit rhs")
def _(c: Chaos) -> Made:
    outputs = c.pick(R3xSO3, SE3)
    return given("right-hand side of 'hand'", Implicit.equal, _pose(outputs), c.point(outputs), name="hand")


@entry("Implicit rhs on fixed rows")
def _(c: Chaos) -> Made:
    fixed = c.pick(Comparison.EQUAL_TO_ZERO, Comparison.SUPERIOR, Comparison.INFERIOR)
    rows: list[Comparison] = [Comparison.EQUALITY] * 6
    rows[row := int(c.rng.integers(6))] = fixed
    rhs = R3xSO3.exp(c.rng.uniform(0.1, 0.5, 6))
    return given(f"row {row}", Implicit, _pose(), rows, c.say(f"row {row} {fixed.name}", rhs), name="hand")


@entry("Implicit name")
def _(c: Chaos) -> Made:
    return given("name", Implicit.zero, _pose(), name=c.say("no name", c.pick(3, 2.5, b"a", ["a"], print)))


@entry("Target")
def _(c: Chaos) -> Made:
    way = c.pick("value", "velocity", "acceleration", "interval")
    if way in ("velocity", "acceleration"):
        wrong = c.say("no function", c.pick(3, "x", {}, [1.0]))
        return given(f"{way} of a Target", Target, lambda t: [t], **{way: wrong})
    if way == "value":
        return given("value of a Target", Target, c.say("no function", c.pick(3, None, "x", {}, [1.0])))
    wrong = c.pick((2.0, 1.0), (1.0,), None, 3, "ab", (np.nan, 1.0), (0.0, np.nan), ("a", "b"), (1.0, 2.0, 3.0), {})
    return given("interval", Target, lambda t: [t], interval=c.say(f"interval {wrong!r}"[:50], wrong))


@entry("Target.at, restricted")
def _(c: Chaos) -> Made:
    target = Target(lambda t: [t], interval=(0.0, 1.0))
    wrong = c.pick("x", "0.5", None, {}, [0.5, 0.6], np.nan, np.inf, print, 1j, 2.0, -1.0, object())
    wrong = c.say(f"time {wrong!r}"[:50], wrong)
    way = c.pick("at", "velocity", "start", "end")
    if way == "at":
        return given("time", target.at, wrong)
    if way == "velocity":
        return given("time", c.pick(target.velocity_at, target.acceleration_at), wrong, Rn(1))
    return given("time", target.restricted, *((wrong, 0.5) if way == "start" else (0.5, wrong)))


@entry("Target results")
def _(c: Chaos) -> Made:
    way, wrong = c.pick("value", "velocity", "acceleration", "later"), c.vector(3)
    still = Target(lambda t: [0.3, 0.0, 0.6])
    targets = {
        "value": Target(lambda t: wrong),
        "later": Target(lambda t: [0.3, 0.0, 0.6] if t == 0.0 else wrong),
        "velocity": Target(still.value, lambda t: wrong),
        "acceleration": Target(still.value, None, lambda t: wrong),
    }
    target = targets[way]

    def use() -> object:
        return Problem(_arm(), [Implicit.equal(Position(_arm(), "tool"), target, name="moving")]).rhs_at(0.5)

    return given(("moving", "target"), use)


@entry("RightHandSide")
def _(c: Chaos) -> Made:
    way = c.pick("vector", "velocity", "acceleration", "stack", "point")
    stack = _problem().constraints
    if way == "stack":
        return given("stack", RightHandSide, c.thing())
    if way == "vector":
        return given("right-hand side", RightHandSide, stack, c.vector(stack.rhs_size))
    if way == "point":
        vector = _problem().rhs.vector.copy()
        vector[3:7] *= c.say("not normalised", c.pick(0.0, 0.5, 2.0))
        return given("right-hand side of 'hand'", RightHandSide, stack, vector)
    named = {way: c.vector(stack.full_size)}
    return given(way, RightHandSide, stack, None, **named)


@entry("RightHandSide.replace, of")
def _(c: Chaos) -> Made:
    rhs, way = _problem().rhs, c.pick("of", "replace", "point", "fixed")
    which = c.pick(c.name(["hand", "up"]), c.pick(2, -3, None, 1.5), _moving())
    if way == "of":
        return given("constraint", rhs.of, which)
    if way == "replace":
        return given("constraint", rhs.replace, which, R3xSO3.neutral)
    if way == "fixed":
        return given("'up'", rhs.replace, "up", c.say("a row that takes none", [0.0, 0.0, 0.3]))
    return given("right-hand side of 'hand'", rhs.replace, "hand", c.point(R3xSO3))


@entry("RightHandSide of another problem")
def _(c: Chaos) -> Made:
    rhs = c.say("of another problem", c.pick(_space_problem().rhs, Problem(_arm(), [_moving()]).rhs))
    q = _arm().neutral
    method = c.pick(_problem().residual, _problem().jacobian, _projector().project, _projector().is_satisfied)
    return given("right-hand side", method, q, rhs=rhs)


# Stacks, problems, projectors


@entry("Stack")
def _(c: Chaos) -> Made:
    way, hand = c.pick("thing", "twice", "spaces", "index", "add", "no sequence"), Implicit.zero(_pose(), name="hand")
    if way == "thing":
        return given("constraint", Stack, [hand, c.thing()])
    if way == "twice":
        return given("hand", Stack, [hand, c.say("twice", hand)])
    if way == "spaces":
        return given("whole", Stack, [hand, c.say("spaces", _space_problem().constraints[0])])
    if way == "index":
        which = c.pick(c.name(["hand"]), 1, -2, None, 1.5, _moving())
        return given("constraint", lambda: Stack([hand])[which])
    if way == "no sequence":
        return given("constraint", Stack, c.say("no sequence", c.pick(3, None, print, hand)))
    other = c.thing()
    return given("stack", lambda: Stack([hand]) + other)


@entry("Explicit")
def _(c: Chaos) -> Made:
    whole = Rn(4)
    f, ins, outs = Affine([[2.0, 1.0]]), Segments.coordinates(whole, [0, 1]), Segments.coordinates(whole, [3])
    way = c.pick("f", "outputs", "inputs", "overlap", "g", "level", "comparison", "rhs", "space", "beyond")
    if way == "f":
        return given("f of an explicit", Explicit, c.thing(), outs, ins)
    if way in ("outputs", "inputs"):
        blocks = {"outputs": outs, "inputs": ins, way: c.thing(type(None))}
        return given(f"{way} of 'follow'", Explicit, f, **blocks, name="follow")
    if way == "overlap":
        meet = c.say("overlap", Segments.coordinates(whole, [1]))
        return given("inputs and outputs of 'follow'", Explicit, f, meet, ins, name="follow")
    if way == "g":
        named = {c.pick("g", "g_inverse"): c.thing(type(None))}
        return given("g", Explicit, f, outs, ins, **named, name="follow")
    if way == "level":
        wrong = c.say("level", c.pick(-1, 1.5, "1", None, True, []))
        return given("level of 'follow'", Explicit, f, outs, ins, level=wrong, name="follow")
    if way == "comparison":
        wrong = c.say("comparison", c.pick("x", 3, [], [Comparison.EQUALITY] * 2, {}))
        return given("'follow'", Explicit, f, outs, ins, comparison=wrong, whole=whole, name="follow")
    if way == "rhs":
        rhs = c.vector(1)
        named = {"comparison": Comparison.EQUALITY, "rhs": rhs, "whole": whole}
        return given("'follow'", Explicit, f, outs, ins, **named, name="follow")
    if way == "space":
        two = c.say("spaces", Segments.coordinates(whole, [2, 3]))
        return given("follow", Explicit, f, two, ins, name="follow")
    far = c.say("beyond", Segments.coordinates(Rn(9), [8]))
    return given("follow", Explicit, f, far, ins, whole=whole, name="follow")


@entry("locked_joint, mimic_constraints")
def _(c: Chaos) -> Made:
    way = c.pick("where", "joint", "value", "mimic", "rotation")
    if way == "where":
        return given("where", locked_joint, c.thing(Space), "elbow", 0.5)
    if way == "joint":
        return given("joint", locked_joint, _arm(), c.name(_arm().joint_names), 0.5)
    if way == "mimic":
        return given("robot", mimic_constraints, c.thing())
    if way == "rotation":
        return given("root_joint", locked_joint, _box(), "root_joint", c.placement())
    wrong = c.pick("x", {}, [1.0, 2.0], np.nan, np.inf, print, 1j, object(), True, [[1.0]])
    return given("elbow", locked_joint, _arm(), "elbow", c.say(f"value {wrong!r}"[:50], wrong))


@entry("linear_coupling, explicit_relative_pose")
def _(c: Chaos) -> Made:
    way = c.pick("joint", "sources", "source", "multiplier", "offset", "frame", "robot", "no free-flyer")
    if way == "joint":
        return given("joint", linear_coupling, _arm(), c.name(_arm().joint_names), {"elbow": 1.0})
    if way == "sources":
        return given("sources", linear_coupling, _arm(), "wrist_roll", c.thing(dict))
    if way == "source":
        return given("joint", linear_coupling, _arm(), "wrist_roll", {c.name(_arm().joint_names): 1.0})
    if way == "multiplier":
        return given("multiplier", linear_coupling, _arm(), "wrist_roll", {"elbow": c.number()})
    if way == "offset":
        return given(("offset", "vector"), linear_coupling, _arm(), "wrist_roll", {"elbow": 1.0}, c.number())
    if way == "frame":
        return given("frame", explicit_relative_pose, _box(), "universe", c.name(_box().frame_names))
    if way == "robot":
        return given("robot", explicit_relative_pose, c.thing(), "universe", "body")
    return given("tool", explicit_relative_pose, _arm(), "elbow", c.say("no free-flyer", "tool"))


@entry("Problem weights, frozen")
def _(c: Chaos) -> Made:
    hand, way = (
        Implicit.zero(_pose(), name="hand"),
        c.pick("weights", "joint", "cost", "frozen", "frozen joint", "last"),
    )
    if way == "weights":
        wrong = c.vector(7)
        if isinstance(wrong, dict) and not wrong:  # no joint has a cost of its own: a good mapping
            wrong = {"elbow": "x"}
        return given(("weights", "joint"), Problem, _arm(), [hand], weights=wrong)
    if way == "joint":
        return given("joint", Problem, _arm(), [hand], weights={c.name(_arm().joint_names): 1.0})
    if way == "cost":
        wrong = c.say("cost", c.pick("x", -1.0, np.nan, np.inf, [1.0, 2.0], None, {}))
        return given("weights", Problem, _arm(), [hand], weights={"elbow": wrong})
    if way == "frozen":
        wrong = c.say("frozen", c.pick("elbow", 3, None, 2.5, print, [3], [None], Segments.coordinates(Rn(9), [8])))
        return given(("frozen", "joint"), Problem, _arm(), [hand], frozen=wrong)
    if way == "last":
        return given("optional_last", Problem, _arm(), [hand], optional_last=c.thing(bool))
    return given(("joint", "frozen"), Problem, _arm(), [hand], frozen=[c.name(_arm().joint_names)])


@entry("stack_rows")
def _(c: Chaos) -> Made:
    stack, point = _problem().constraints, _problem().at(_arm().neutral)
    way = c.pick("stack", "point", "order", "velocity", "rhs", "space")
    if way == "stack":
        return given("stack", stack_rows, c.thing(), point)
    if way == "point":
        return given("point", stack_rows, stack, c.thing())
    if way == "order":
        return given("order", stack_rows, stack, point, c.thing())
    if way == "velocity":
        return given("motion", stack_rows, stack, c.say("no velocity", point), Order.VELOCITY)
    if way == "space":
        there = c.say("point of another space", _space_problem().at((SE3 * Rn(2)).neutral))
        return given("point", stack_rows, stack, there)
    wrong = c.pick(_space_problem().rhs, c.thing(type(None)))
    return given("right-hand side", stack_rows, stack, point, Order.POSITION, c.say("wrong rhs", wrong))


@entry("Problem")
def _(c: Chaos) -> Made:
    hand = Implicit.zero(_pose(), name="hand")
    way = c.pick(
        "where", "given", "entry", "empty", "masked", "twice", "robot", "space", "bounds", "foreign bounds", "one"
    )
    if way == "where":
        return given("space of a problem", Problem, c.thing(Space), [hand])
    if way == "given":
        return given(
            "constraints of a problem", Problem, _arm(), c.say("no constraints", c.pick(3, None, print, "x", {}))
        )
    if way == "one":
        return given("constraints of a problem", Problem, _arm(), c.say("not in a list", hand))
    if way == "entry":
        return given("constraint 1", Problem, _arm(), [hand, c.thing(list, tuple)])
    if way == "empty":
        return given("row", Problem, _arm(), c.say("empty", c.pick([], [[]], [[], []], ())))
    if way == "masked":
        return given("row", Problem, _arm(), [Implicit.zero(_pose(), mask=c.say("all masked", [False] * 6))])
    if way == "twice":
        return given("hand", Problem, _arm(), c.say("twice", c.pick([hand, hand], [[hand], [hand]])))
    if way == "robot":
        return given("hand", Problem, c.say("another robot", c.pick(_other(), _twin())), [hand])
    if way == "space":
        return given("whole", Problem, _arm(), [c.say("another space", _space_problem().constraints[0])])
    if way == "bounds":
        return given("bounds", Problem, _arm(), [hand], c.thing(type(None)))
    return given(
        "bounds", Problem, _arm(), [hand], c.say("foreign bounds", c.pick(_other().bounds, Bounds.none(Rn(3))))
    )


@functools.cache
def _twin() -> Robot:
    """A robot with the space of the sample arm that is not the sample arm."""
    model: Any = pin.Model(_arm().model)
    model.inertias[3] = pin.Inertia(2.0 * model.inertias[3].mass, model.inertias[3].lever, model.inertias[3].inertia)
    return Robot(model)


@entry("Problem methods: q")
def _(c: Chaos) -> Made:
    problem = c.pick(_problem(), _space_problem())
    names = (
        "residual",
        "jacobian",
        "tangent_basis",
        "dimension",
        "is_satisfied",
        "rhs_from",
        "at",
        "rows",
        "error",
        "check",
    )
    return given(Q_CULPRITS, getattr(problem, c.pick(*names)), c.point(problem.space))


@entry("Problem methods: the rest")
def _(c: Chaos) -> Made:
    q, way = _arm().neutral, c.pick("v", "constraint", "threshold", "rhs", "time", "workspace")
    if way == "v":
        return given("velocity", _problem().project_tangent, q, c.vector(7))
    if way == "constraint":
        which = c.pick(c.name(["hand", "up"]), 2, -3, 1.5, _moving())
        return given("constraint", c.pick(_problem().error, _problem().is_satisfied), q, which)
    if way == "threshold":
        wrong = c.say("threshold", c.pick("x", None, {}, [1.0, 2.0], np.nan, print, 1j, -1.0))
        return given("threshold", _problem().is_satisfied, q, threshold=wrong)
    if way == "rhs":
        return given("right-hand side", _problem().residual, q, c.vector(_problem().constraints.rhs_size))
    if way == "time":
        return given("time", Problem(_arm(), [_moving()]).rhs_at, c.number())
    return given("workspace", _problem().at, q, c.thing(type(None), Workspace))


@entry("Options")
def _(c: Chaos) -> Made:
    numbers = ("threshold", "cap", "stall_ratio", "patience_ratio", "damping")
    whole = ("max_iterations", "seed", "saturating_passes", "stall_count", "patience_count", "restart_table", "screen")
    name = c.pick(*numbers, *whole, "restarts", "wrap", "trace")
    if name in numbers:
        wrong = c.pick(c.number(), -1.0, True, *(() if name == "damping" else (0.0, 0)))
    elif name in whole:
        wrong = c.pick(-1, 1.5, "3", None, [], {}, True, np.nan, np.inf, print, 1j)
    else:
        wrong = c.pick(0, 1, "yes", None, [], {}, np.nan, print)
    return given(f"'{name}'", c.pick(Options, Options.local), **{name: c.say(f"{name}={wrong!r}"[:50], wrong)})


@entry("Options typo")
def _(c: Chaos) -> Made:
    typo = c.pick("thresold", "max_iteration", "Seed", "restart", "wraps", "tolerance", "maxiter")
    changed = functools.partial(replace, Options())
    return given(typo, c.pick(Options, Options.local, changed), **{typo: c.say("typo", 1)})


@entry("Projector")
def _(c: Chaos) -> Made:
    way = c.pick("problem", "options", "engine")
    if way == "problem":
        return given("problem", Projector, c.thing())
    named = {way: c.thing(type(None))}
    return given(way, Projector, _problem(), **named)


@entry("Projector.project")
def _(c: Chaos) -> Made:
    if c.rng.random() < 0.6:
        return given(Q_CULPRITS, _projector().project, c.vector(7))
    if c.rng.random() < 0.5:
        return given(Q_CULPRITS, Projector(_space_problem()).project, c.point(SE3 * Rn(2)))
    return given("right-hand side", _projector().project, _arm().neutral, c.vector(_problem().constraints.rhs_size))


@entry("Projector.project_batch")
def _(c: Chaos) -> Made:
    way, Q = c.pick("Q", "row", "rhs", "executor", "chunk", "progress"), np.zeros((3, _arm().nq))
    batch = _projector().project_batch
    if way == "Q":
        return given(
            ("Q of", "Q:"),
            batch,
            c.pick(c.say("rank 1", Q[0]), c.say("rank 3", Q[None]), c.say("sizes", Q[:, :-1]), c.thing()),
        )
    if way == "row":
        Q[1, int(c.rng.integers(_arm().nq))] = c.say("a row that is not finite", c.pick(np.nan, np.inf, -np.inf))
        return given("row 1 of Q", batch, Q)
    if way == "rhs":
        size = _problem().constraints.rhs_size
        wrong = c.pick(c.vector(size), [c.vector(size)] * 4, [_space_problem().rhs] * 3, [_problem().rhs] * 2)
        return given(("right-hand side", "of rhs"), batch, Q, wrong)
    if way == "executor":
        return given("executor", batch, Q, executor=c.thing(type(None)))
    if way == "chunk":
        return given("chunk", batch, Q, chunk=c.say("no chunk", c.pick(0, -1, 2.0, "3", [], np.nan, True)))
    return given("progress", batch, Q, progress=c.say("no progress", c.pick(3, "bar", [], {}, 0.5, Q)))


@entry("Problem.load, RightHandSide.load, Options.load, Report.load")
def _(c: Chaos) -> Made:
    stack = _problem().constraints
    way, kind = c.pick("path", "path", "cut", "kind", "byte"), c.pick("problem", "rhs", "options", "report")
    loaders: dict[str, Callable[[Any], Any]] = {
        "problem": Problem.load,
        "rhs": lambda path: RightHandSide.load(path, stack),
        "options": Options.load,
        "report": Report.load,
    }
    if way == "path":
        wrong = c.pick(c.thing(str, bytes), c.thing(str, bytes), "", "a\0b", b"problem.json")
        return given("path", loaders[kind], wrong)
    other = kind if way != "kind" else c.pick(*(k for k in loaders if k != kind))
    text = _saved()[other]
    if way == "cut":
        text = text[: c.say("cut short", int(c.rng.integers(len(text) - 2)))]
    elif way == "byte":
        at = int(c.rng.integers(len(text)))
        text = c.say("a byte that is no text", text[:at] + b"\xff" + text[at + 1 :])
    else:
        c.say(f"a file of {other} as {kind}", None)
    return lambda: _loaded(loaders[kind], text), "broken.json"


@functools.cache
def _saved() -> dict[str, bytes]:
    """The bytes of one file of each kind."""
    result = _projector().project(_arm().reference("home"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "whole.json"
        writers = {
            "problem": _problem().save,
            "rhs": _problem().rhs.save,
            "options": Options().save,
            "report": result.report,
        }
        found: dict[str, bytes] = {}
        for kind, write in writers.items():
            write(path)
            found[kind] = path.read_bytes()
    return found


def _loaded(load: Callable[[Any], Any], text: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "broken.json"
        path.write_bytes(text)
        return load(path)


@entry("Problem merged")
def _(c: Chaos) -> Made:
    way = c.pick("thing", "space", "robot", "bounds", "weights", "part", "stranger")
    if way == "thing":
        return given("problem", _problem().merged, c.thing())
    if way == "space":
        return given("problems", _problem().merged, c.say("another space", _space_problem()))
    if way == "part":
        return given("part", _problem().rhs_from_parts, c.thing())
    if way == "stranger":
        return given("part", _problem().rhs_from_parts, c.say("of another problem", _space_problem().rhs))
    hand = Implicit.zero(_pose(), name="hand")
    if way == "robot":
        other = Problem(_twin(), [Implicit.zero(Position(_twin(), "tool"))])
        return given("two robots", _problem().merged, c.say("another robot", other))
    if way == "bounds":
        low, high = (_arm().bounds.replace({"elbow": box}) for box in ((0.0, 0.1), (0.2, 0.3)))
        return given("elbow", Problem(_arm(), [hand], low).merged, c.say("apart", Problem(_arm(), [hand], high)))
    dear = Problem(_arm(), [hand], weights={"elbow": 2.0})
    return given("elbow", dear.merged, c.say("two costs", Problem(_arm(), [hand], weights={"elbow": 3.0})))


@entry("Projection.diagnose")
def _(c: Chaos) -> Made:
    result = _projector().project(_arm().reference("home"))
    what = c.pick("iterations", "trials", "seed", "projection")
    if what == "projection":
        return given("projection", diagnose, c.thing())
    wrong = c.say(f"bad {what}", c.pick(-1, 1.5, "many", None, True, [3], np.nan))
    return given(what, result.diagnose, **{what: wrong})


@entry("Problem.plot_dependencies")
def _(c: Chaos) -> Made:
    if c.rng.random() < 0.5:
        return given("ax", _problem().plot_dependencies, ax=c.thing(type(None)))
    return given("path", _problem().plot_dependencies, c.say("no path", c.pick(3, [1], {}, print, 1.5)))


@entry("TangentSteps, as_nonlinear_constraint")
def _(c: Chaos) -> Made:
    way, make = c.pick("problem", "q0", "rhs", "z"), c.pick(TangentSteps, as_nonlinear_constraint)
    if way == "problem":
        return given("problem", make, c.thing(), _arm().neutral)
    if way == "q0":
        return given("q0", make, _problem(), c.point(_arm().space))
    if way == "rhs":
        return given("right-hand side", make, _problem(), _arm().neutral, c.vector(_problem().constraints.rhs_size))
    steps = TangentSteps(_problem(), _arm().neutral)
    return given(("z of", "z:"), c.pick(steps.rows, steps.jacobian, steps.configuration), c.vector(_arm().nv))


@entry("constraint models of pinocchio")
def _(c: Chaos) -> Made:
    way = c.pick("model", "robot", "constraint", "joint", "rhs")
    anchor = pin.PointAnchorConstraintModel(_arm().model, 3)
    if way == "model":
        return given("constraint model", from_constraint_model, _arm(), c.thing())
    if way == "robot":
        return given("robot of a constraint model", from_constraint_model, c.thing(), anchor)
    if way == "joint":
        wrong = pin.PointAnchorConstraintModel(_other().model, c.say("a joint that is not there", c.pick(8, 12)))
        return given("joint", from_constraint_model, _arm(), wrong)
    make = c.pick(as_anchor_constraint_model, as_rigid_constraint_model)
    if way == "constraint":
        return given("constraint for pinocchio", make, c.thing())
    hand = Implicit.equal(Pose(_arm(), "tool"), name="hand")
    return given("right-hand side of 'hand'", make, hand, c.vector(7))


@functools.cache
def _nearest() -> Projector:
    return Projector(_problem(), Options(nearest=True))


@functools.cache
def _sensitivity() -> Sensitivity:
    home = _arm().reference("home")
    problem = Problem(_arm(), [Implicit.equal(_pose(), name="hand")])
    return Projector(problem).project(home, problem.rhs_from(home)).or_raise().sensitivity()


@entry("Projector.project near")
def _(c: Chaos) -> Made:
    start = _arm().neutral
    if c.rng.random() < 0.3:
        return given("nearest=True", _projector().project, start, near=c.say("near without nearest", start))
    return given(("near of", "near:"), _nearest().project, start, near=c.vector(7))


@entry("Sensitivity")
def _(c: Chaos) -> Made:
    return given("projection", Sensitivity, c.thing())


@entry("Sensitivity.rhs_of")
def _(c: Chaos) -> Made:
    return given("constraint", _sensitivity().rhs_of, c.pick(c.name(["hand"]), 2, -3, 1.5, _moving()))


@entry("Sensitivity.parameter")
def _(c: Chaos) -> Made:
    way = c.pick("callable", "result", "other", "value")
    if way == "callable":
        return given("problem_at", _sensitivity().parameter, c.thing(type(print)), 1.0)  # print would print the value
    if way == "result":
        wrong = c.thing()
        return given("problem_at", _sensitivity().parameter, lambda value: wrong, 1.0)
    if way == "other":
        other = c.say("another problem", _space_problem())
        return given("other parameters", _sensitivity().parameter, lambda value: other, 1.0)
    bad = c.say("bad value", c.pick("one", None, [np.nan], np.zeros((2, 2)), [True], {}, [[1.0], [2.0, 3.0]], np.inf))
    return given("value of a parameter", _sensitivity().parameter, lambda value: _problem(), bad)


@entry("Projection.error")
def _(c: Chaos) -> Made:
    result = _projector().project(_arm().reference("home"))
    return given("constraint", result.error, c.pick(c.name(["hand", "up"]), 2, -3, 1.5, _moving()))


@entry("project")
def _(c: Chaos) -> Made:
    hand, q = Implicit.zero(_pose(), name="hand"), _arm().neutral
    way = c.pick("where", "constraints", "q", "options")
    if way == "where":
        return given("space of a problem", project, c.thing(Space), [hand], q)
    if way == "constraints":
        return given("constraint", project, _arm(), c.say("no constraints", c.pick(3, None, hand, ["x"], [3])), q)
    if way == "q":
        return given(Q_CULPRITS, project, _arm(), [hand], c.vector(7))
    return given("options", project, _arm(), [hand], q, c.thing(type(None)))


_REACHED = [0.4, 0.1, 0.3]


@entry("reach")
def _(c: Chaos) -> Made:
    way = c.pick("robot", "frame", "target", "start", "near", "reference", "joints", "options")
    if way == "robot":
        return given("robot of reach", reach, c.thing(), "tool", _REACHED)
    if way == "frame":
        return given("frame", reach, _arm(), c.name(["tool"]), _REACHED)
    if way == "target":
        not_finite = c.say("not finite", c.pick([np.nan, 0.0, 0.3], [0.0] * 6 + [np.inf], np.full((4, 4), np.nan)))
        sizes = c.say("another size", np.zeros(c.pick((0,), 2, 5, 6, 8, (3, 1), (2, 7), (4, 3))))
        return given("target of reach", reach, _arm(), "tool", c.pick(not_finite, sizes, c.thing(np.ndarray)))
    if way in ("start", "near"):
        culprits = (f"{way} of", f"{way}:", "reference posture")
        return given(culprits, reach, _arm(), "tool", _REACHED, **{way: c.vector(7)})
    if way == "reference":
        return given("reference of reach", reach, _arm(), "tool", _REACHED, reference=c.placement())
    wrong = c.thing(type(None))
    return given(("options", "joints"), reach, _arm(), "tool", _REACHED, **{way: wrong})


@entry("reach_batch")
def _(c: Chaos) -> Made:
    way, points = c.pick("targets", "row", "starts", "counts", "executor"), np.tile(_REACHED, (4, 1))
    if way == "targets":
        sizes = c.say("another size", np.zeros(c.pick((0,), 2, 5, 6, 8, (5, 4), (2, 6), (2, 3, 4))))
        return given("targets of reach_batch", reach_batch, _arm(), "tool", c.pick(sizes, c.thing(np.ndarray)))
    if way == "row":
        points[1, 2] = c.say("a row that is not finite", c.pick(np.nan, np.inf, -np.inf))
        return given("row 1 of targets", reach_batch, _arm(), "tool", c.pick(points, points.tolist()))
    if way == "starts":
        culprits = ("starts of", "starts:", "reference posture")
        wrong = c.vector(7)
        rows = isinstance(wrong, np.ndarray) and wrong.ndim == 2
        return given(culprits, reach_batch, _arm(), "tool", _REACHED, c.say("cut", wrong[:, :6]) if rows else wrong)
    if way == "counts":
        starts = c.say("as many rows as there are no targets", np.zeros((c.pick(1, 2, 3, 5), 7)))
        return given("starts of reach_batch", reach_batch, _arm(), "tool", points, starts)
    return given("executor", reach_batch, _arm(), "tool", points, executor=c.thing(type(None)))


# Contact


@functools.cache
def _table() -> Surface:
    return Surface("table", _arm().frame("universe"), [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])


@functools.cache
def _foot() -> Surface:
    return Surface("foot", _arm().frame("tool"), [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]])


@entry("Contact")
def _(c: Chaos) -> Made:
    kind = c.pick(ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold)
    way = c.pick("points", "frame", "robot", "floors", "objects", "margin", "pair", "explicit", "hold")
    if way == "points":
        points = c.say("no polygon", c.pick([[0, 0, 0]] * 3, [[0, 0]] * 3, [], "abc", np.full((4, 3), np.nan), 3, None))
        return given("'lid'", Surface, "lid", _arm().frame("tool"), points)
    if way == "frame":
        return given("'lid'", Surface, "lid", c.thing(Frame), [[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    if way == "robot":
        return given("robot", kind, c.pick(c.thing(Robot), _problem()), _table(), _foot())
    if way == "floors":
        return given("floors", kind, _arm(), c.say("no floors", c.pick([], "table", None, 3, [None])), _foot())
    if way == "objects":
        return given("objects", kind, _arm(), _table(), c.say("no objects", c.pick([], [_foot()] * 2, print, ["foot"])))
    if way == "margin":
        return given("margin", kind, _arm(), _table(), _foot(), c.pick(c.number(), -0.1))
    if way == "pair":
        wrong = c.pick(("table", c.name(["foot"])), (c.name(["table"]), "foot"), "table", 3, ("table",))
        return given(("pair", "floor", "object"), kind, _arm(), _table(), _foot(), pair=wrong)
    if way == "explicit":
        return given("hold", explicit_contact, c.thing())
    return given("foot", explicit_contact, c.say("no free object", ConvexShapeContactHold(_arm(), _table(), _foot())))


# Mechanisms


@functools.cache
def _linkage() -> Mechanism:
    return mechanisms.four_bar()


@entry("mechanisms")
def _(c: Chaos) -> Made:
    lengths = {"four_bar": "crank", "five_bar": "inner", "slider_crank": "rod", "stewart_platform": "height",
               "delta_robot": "forearm", "bennett": "a"}  # fmt: skip
    way = c.pick(*lengths, "stages", "bar", "placement", "twists")
    if way == "stages":
        return given("stages", mechanisms.scissor_lift, c.pick(c.thing(int), c.say("no stage", c.pick(0, -1, 1.5))))
    if way == "bar":
        return given("bar", mechanisms.scissor_lift, 2, c.say("no length", c.pick(0.0, -1.0, np.nan, "long", None)))
    if way == "placement":
        platform = mechanisms.stewart_platform()
        return given("placement of the platform", mechanisms.stewart_posture, platform, c.pick(c.point(SE3), "here"))
    if way == "twists":
        alpha, beta = c.pick((0.5, 0.5), (0.0, 0.5), (np.pi, 0.5), (-0.5, 0.7))
        return given("Bennett", mechanisms.bennett, 0.3, c.say("twists", alpha), beta)
    wrong = c.say("no length", c.pick(0.0, -0.2, np.nan, np.inf, "long", None, [0.1], True))
    return given(lengths[way], getattr(mechanisms, way), **{lengths[way]: wrong})


@entry("Mechanism")
def _(c: Chaos) -> Made:
    linkage = _linkage()
    way = c.pick("robot", "closures", "couplers", "motors", "postures", "unread", "q", "tolerance", "posture")
    if way == "q":
        return given(("q", "argument"), linkage.judge, c.vector(3))
    if way == "tolerance":
        wrong = c.say("no tolerance", c.pick(-1.0, np.nan, "small", None, True))
        return given("tolerance", linkage.judge, linkage.posture("closed"), wrong)
    if way == "posture":
        return given("reference posture", linkage.posture, c.name(["closed"]))
    wrong = {
        "robot": lambda: c.thing(Robot),
        "closures": lambda: c.say("no closures", c.pick(3, None, "loop", [3], [print])),
        "couplers": lambda: c.say("no couplers", c.pick(3, None, "loop", [3], list(linkage.closures))),
        "motors": lambda: c.pick(c.say("text", "crank"), 3, [c.name(linkage.robot.joint_names)]),
        "postures": lambda: c.pick(c.say("no mapping", 3), c.say("a list", ["closed"]), {"home": c.vector(3)}),
        "unread": lambda: c.say("no Unread", c.pick(3, "x", ["x"], [None])),
    }[way]()
    culprits = {"robot": "robot of a mechanism", "closures": ("closures", "constraint"), "couplers": "coupler",
                "motors": ("motors", "joint"), "postures": "posture", "unread": "unread"}  # fmt: skip
    return given(culprits[way], Mechanism, **({"robot": linkage.robot} | {way: wrong}))


@entry("models.load")
def _(c: Chaos) -> Made:
    way = c.pick("path", "absent", "kind", "sdf", "cut", "loops", "option")
    sdf = "<sdf><model name='m'><link name='a'/><link name='b'/><joint name='hinge' type='revolute'>"
    sdf += "<parent>a</parent><child>b</child></joint></model></sdf>"
    if way == "path":
        return given(("URDF", "path"), load, c.thing(str))
    if way == "absent":
        return given("nowhere", load, c.say("no such file", c.pick("nowhere.urdf", "nowhere/x.xml", "nowhere.sdf")))
    if way == "kind":
        return given("world", load, c.say("another root", "<world/>"))
    if way == "sdf":
        old, new = c.pick(
            ("name='a'", ""), ("name='a'", "name='b'"), ("</model>", ""), ("<link", "<pose>1 x</pose><link")
        )
        return given(("SDF", "XML", "URDF", "named"), load, c.say("a broken file", sdf.replace(old, new, 1)))
    if way == "cut":
        wrong = c.pick([c.name(["hinge"])], c.say("text", "hinge"), c.say("no names", [3]))
        return given(("cut", "joint"), load, sdf, cut=wrong)
    if way == "loops":
        return given(("loops", "nowhere"), load, "<robot name='r'><link name='a'/></robot>",
                     c.pick(c.thing(type(None), str), c.say("no file", "nowhere.yaml")))  # fmt: skip
    wrong = c.pick({"loops": "x.yaml"}, {"inactive": True})
    return given(tuple(wrong), load, sdf, **c.say("an option of other files", wrong))


def _broken_file(c: Chaos, kind: str) -> Made:
    """A mechanism file with one thing broken; what is listed instead of being built is raised."""
    file = broken(c.rng, kind)
    return given(file.culprits, taken, c.say(file.done, file), strict=c.pick(True, False))


@entry("models.load of a broken URDF")
def _(c: Chaos) -> Made:
    return _broken_file(c, "URDF")


@entry("models.load of a broken SDF")
def _(c: Chaos) -> Made:
    return _broken_file(c, "SDF")


@entry("models.load of a broken sidecar")
def _(c: Chaos) -> Made:
    return _broken_file(c, "sidecar")


@entry("Polynomial")
def _(c: Chaos) -> Made:
    way = c.pick("coefficients", "weights", "offset", "columns")
    if way == "coefficients":
        wrong = c.pick([], "abc", [np.nan, 1.0], None, [1j], {}, print)
        return given("coefficients", Polynomial, c.say("no coefficients", wrong), [1.0])
    if way == "weights":
        wrong = c.pick("x", {}, [[1.0], [1.0, 2.0]], [np.nan], np.eye(2), print)
        return given(("matrix", "weights"), Polynomial, [1.0, 2.0], c.say("no weights", wrong))
    if way == "offset":
        return given("vector", Polynomial, [1.0, 2.0], [1.0], c.say("no offset", c.pick(np.nan, "x", None, [1.0, 2.0])))
    return given("affine", Polynomial, [1.0, 2.0], [1.0, 0.0, 0.0], 0.0, c.say("columns of a rotation", SO3))


@entry("TangentBox")
def _(c: Chaos) -> Made:
    space, way = c.pick(*SPACES), c.pick("space", "center", "radius", "sign")
    q = space.random(c.rng)
    if way == "space":
        return given("space of a box", TangentBox, c.thing(Space), q, 0.1)
    if way == "center":
        return given("center of a box", TangentBox, space, c.point(space, rows=True), 0.1)
    if way == "sign":
        return given("radius of a box", TangentBox, space, q, c.say("negative", -1e-3))
    return given("radius of a box", TangentBox, space, q, c.vector(space.nv, scalar=True))


@entry("Expression")
def _(c: Chaos) -> Made:
    f, way = Position(_arm(), "tool"), c.pick("operator", "functions", "number", "operand", "width", "rotation", "size")
    if way == "operator":
        return given("operator", Expression, c.say("no operator", c.pick("tan", None, 3, print)), [f])
    if way == "functions":
        return given("functions", Expression, "product", c.say("too few functions", c.pick([], [f], [f, f, f])))
    if way == "number":
        return given("number", Expression, "power", [f], c.say("no exponent", c.pick(None, "x", np.nan, print)))
    if way == "operand":
        two = c.pick(dot, minimum, maximum, atan2)
        return given("operand", two, f, c.say("no operand", c.pick(None, "x", print, np.eye(2), {})))
    if way == "width":
        return given("width", smooth_abs, f, c.say("no width", c.pick(0.0, -1.0, None, np.nan, "x")))
    if way == "rotation":
        return given("rotated", rotated, c.say("no rotation", c.pick(f, Pose(_arm(), "tool"))), f)
    return given("operand", sqrt, c.say("no vector", c.pick(Pose(_arm(), "tool"), None, 2.0, "x")))


@entry("geometry")
def _(c: Chaos) -> Made:
    p, way = (
        Position(_arm(), "tool"),
        c.pick("axis", "frame", "angles", "vector", "ends", "vertices", "cone", "view", "curve"),
    )
    if way == "axis":
        turned = c.pick(direction, AngleAbout)
        return given(
            ("axis", "axes"), turned, _arm(), "tool", c.say("no axis", c.pick("w", [1.0, 1.0, 0.0], [1.0], None, print))
        )
    if way == "frame":
        return given("frame", c.pick(direction, AngleAbout), _arm(), c.name(_arm().frame_names), "z")
    if way == "angles":
        return given("angles", wrapped, c.thing())
    if way == "vector":
        return given("vector", across, c.say("no vector", c.pick(p[:2], Pose(_arm(), "tool"), None, "x", 1.0)), "z")
    if way == "ends":
        return given(
            "segment", off_segment, p, [0.0, 0.0, 0.0], c.say("no end", c.pick([0.0, 0.0, 0.0], [1.0], p[:2], "x"))
        )
    if way == "vertices":
        wrong = c.pick([[0, 0], [1, 0]], [[0, 0], [1, 0], [2, 0]], [[0, 0, 0]] * 3, "x", [[0, 0], [1, np.nan], [1, 1]])
        return given("vertices", in_polygon, p, c.say("no polygon", wrong))
    if way == "cone":
        return given(("half angle",), gaze, p, "z", c.say("no angle", c.pick(0.0, -1.0, 4.0, None, np.nan, "x")))
    if way == "view":
        return given("half angle", in_view, p, c.say("no angles", c.pick([0.5], [0.5, 1.7], [0.0, 0.5], "x", None)))
    wrong = c.pick([[0.0]] * 3, "x", None, [0.0] * 5, [[0.0, np.nan]] * 5)
    return given("points of a curve", curve, p[0], c.say("no points", wrong))


@entry("measures")
def _(c: Chaos) -> Made:
    p, way = Position(_arm(), "tool"), c.pick("function", "locked", "joints", "limits", "weights", "q")
    measure = c.pick(Manipulability, SmallestSingularValue)
    if way == "function":
        return given("function", measure, c.thing())
    if way == "locked":
        wrong = c.pick(["nobody"], "elbow", [3], None, list(_arm().joint_names))
        return given(("locked", "nobody", "names", "rows"), measure, p, c.say("no joints", wrong))
    if way == "joints":
        wrong = c.pick(["nobody"], "elbow", [3], [])
        return given(("joints", "nobody", "names"), limit_distance, _arm(), c.say("no joints", wrong))
    if way == "limits":
        return given("robot", limit_distance, c.thing())
    if way == "weights":
        wrong = c.pick([1.0], [-1.0] * 7, "x", [np.nan] * 7)
        return given("weights", squared_distance, _arm().space, _arm().neutral, c.say("no weights", wrong))
    return given("constant", squared_distance, _arm().space, c.vector(7))


@entry("Sum")
def _(c: Chaos) -> Made:
    way, f = c.pick("thing", "factors", "spaces", "no sequence", "factor", "term"), Position(_arm(), "tool")
    if way == "thing":
        return given("function 1", Sum, [f, c.thing()])
    if way == "factors":
        return given("factors of a sum", Sum, [f, f], c.vector(2))
    if way == "spaces":
        return given("sum", Sum, [f, c.say("another space", c.pick(_pose(), Identity(Rn(3)), Identity(SO3)))])
    if way == "factor":
        return given(
            ("factor", "factors", "operand"), operator.mul, f, c.say("no factor", c.pick(None, "x", {}, print, np.nan))
        )
    if way == "term":
        return given(("added to", "operand"), operator.add, Pose(_arm(), "tool"), c.thing())
    return given("functions of a sum", Sum, c.say("no sequence", c.pick(3, None, print, "abc", ())))


# Manipulation


@functools.cache
def _graph() -> ConstraintGraph:
    handle = Handle("box/handle", _scene().frame("box/root_joint"))
    gripper = Gripper("hand", _scene().frame("arm/tool"))
    return ConstraintGraphFactory(_scene(), [gripper], [MovableObject("box", [handle])]).generate()


@functools.cache
def _scene() -> Robot:
    return Robot.system([Part("arm", _arm()), Part("box", _box())])


@entry("Manipulation")
def _(c: Chaos) -> Made:
    frame, q = _scene().frame("box/root_joint"), _scene().neutral
    ways = ("gripper", "handle", "grasp", "state", "name", "q", "rule", "factory", "placement", "guess", "margins")
    way = c.pick(*ways, "picture", "path", "scene")
    if way == "picture":
        wrong = c.say("no axes", c.pick(3, "axes", _box()))
        return given("ax", _graph().plot, None, wrong)
    if way == "path":
        return given("path to be drawn", plot_path, c.thing())
    if way == "scene":
        text = SCENE.read_bytes()
        cut = c.say("cut short", int(c.rng.integers(len(text) - 2)))
        return lambda: _loaded(read_scene, text[:cut]), "broken.json"
    if way == "gripper":
        return given("'claw'", Gripper, "claw", frame, c.say("no clearance", c.pick(c.number(), -1.0)))
    if way == "handle":
        wrong = c.pick([1, 1, 1, 1, 0, 0], [1] * 5, [2] * 6, "111111", [True] * 7, [0.5] * 6, 3)
        return given("'knob'", Handle, "knob", frame, mask=c.say("no mask", wrong))
    if way == "grasp":
        return given("gripper of a grasp", grasp, _scene(), c.thing(Gripper), c.thing())
    if way == "state":
        return given(
            ("state 'there'", "hand"), State, "there", c.say("free rows", [Implicit.equal(_pose(), name="hand")])
        )
    if way == "name":
        call = c.pick(_graph().state, _graph().transition, lambda name: _graph().sample(name, np.random.default_rng(0)))
        return given(("state", "transition"), call, c.name(["free", "Loop | f", "hand > box/handle | f"]))
    if way == "q":
        call = c.pick(_graph().state_of, _graph().leaf_of, _graph().errors)
        return given(("q of", "q:", "q", "configuration"), call, c.point(_scene().space))
    if way == "rule":
        pattern = c.say("no pattern", c.pick("[", "(", "*", 3, None))
        return given("of a rule", Rule, [pattern], [".*"])
    if way == "factory":
        return given(
            "of a graph factory", ConstraintGraphFactory, _scene(), c.say("no grippers", c.pick(3, "a", [3])), []
        )
    if way == "placement":
        surfaces = c.say("no surfaces", c.pick([], "table", None, [frame]))
        return given(("objects of", "floors of"), placement, _scene(), "place", surfaces, _table())
    if way == "guess":
        return given("q", _graph().target, "Loop | f", q, c.point(_scene().space))
    return given("margin", SecurityMargins, c.number())


@functools.cache
def _path() -> WayPath:
    space = Problem(Rn(2), [Implicit.between(Identity(Rn(2)), -9.0, 9.0, name="box")])
    return interpolate(space, [0.0, 0.0], [0.1, 0.2]).or_raise()


@functools.cache
def _reach() -> Problem:
    return Problem(_arm(), [Implicit.equal(Position(_arm(), "tool"), name="hand")])


@entry("interpolate")
def _(c: Chaos) -> Made:
    q = _arm().reference("home")
    rhs = _reach().rhs_from(q)
    way = c.pick("problem", "q0", "q1", "rhs", "pair", "limit", "returned", "options", "other")
    if way == "problem":
        return given("problem of an interpolation", interpolate, c.thing(), q, q)
    if way in ("q0", "q1"):
        wrong = c.vector(7)
        return given(way, interpolate, _reach(), *((wrong, q) if way == "q0" else (q, wrong)), rhs)
    if way == "rhs":
        wrong = c.pick(c.thing(type(None), type, dict, np.ndarray), c.vector(3), {"hand": [0.0, 0.0, 0.0]})
        return given("right-hand side", interpolate, _reach(), q, q, wrong)
    if way == "pair":
        pair = c.say("no pair", c.pick((rhs,), (rhs, rhs, rhs), (rhs, "x"), (np.zeros(4), rhs), ([np.nan] * 3, rhs)))
        return given("right-hand side", interpolate, _reach(), q, q, pair)
    if way == "limit":
        name, wrong = c.pick("max_angle", "max_length"), c.pick(c.number(), 0.0, -0.1, True)
        return given(name, interpolate, _reach(), q, q, rhs, **{name: wrong})
    if way == "returned":
        wrong = c.pick(c.thing(np.ndarray), np.zeros(2), [np.nan] * 3, _problem().rhs)
        return given("right-hand side", interpolate, _reach(), q, q, lambda s: wrong)
    if way == "options":
        return given("options", interpolate, _reach(), q, q, rhs, options=c.thing(type(None)))
    return given("right-hand side", interpolate, _reach(), q, q, c.say("another problem's", _problem().rhs))


@entry("Path")
def _(c: Chaos) -> Made:
    path, piece = _path(), _path().pieces[0]
    way = c.pick("pieces", "piece", "durations", "time", "add", "lasting", "apart", "space")
    if way == "pieces":
        return given("path", WayPath, c.say("no pieces", c.pick((), [], None, 3, piece, "pieces")))
    if way == "piece":
        return given("piece of a path", WayPath, [piece, c.thing()])
    if way == "durations":
        wrong = c.pick((0.0,), (-1.0,), (1.0, 1.0), ("x",), (np.nan,), 3, "1", (None,), ([1.0],))
        return given("durations", WayPath, [piece], c.say("no durations", wrong))
    if way == "time":
        return given("time on a path", path, c.number())
    if way == "add":
        wrong = c.thing()
        return given("path to be added", lambda: path + wrong)
    if way == "lasting":
        return given("duration", path.lasting, c.pick(c.number(), 0.0, -1.0, True))
    if way == "apart":
        return given("piece 1", lambda: path + c.say("a path that starts elsewhere", path))
    q = _arm().reference("home")
    other = interpolate(_reach(), q, q, _reach().rhs_from(q)).or_raise()
    return given("piece 1", lambda: path + c.say("a path of another space", other))


@entry("Piece of a path")
def _(c: Chaos) -> Made:
    piece = _path().pieces[0]
    way = c.pick("problem", "sides", "options", "samples", "sample", "times", "order", "other")
    if way in ("problem", "sides", "options"):
        return given(way, replace, piece, **{way: c.thing()})
    if way == "samples":
        wrong = c.pick([], [[0.0, 0.0]], None, 3, "samples", np.zeros((2, 3)), np.zeros((3, 2, 1)), [0.0, 1.0])
        return given("sample", replace, piece, samples=c.say("no samples", wrong))
    if way == "sample":
        wrong = c.vector(2)
        return given("sample 1", replace, piece, samples=[[0.0, 0.0], wrong], times=[0.0, 1.0])
    if way == "times":
        return given("times", replace, piece, samples=[[0.0, 0.0], [0.1, 0.2]], times=c.vector(2))
    if way == "order":
        wrong = c.pick(
            [0.0, 0.5, 0.5, 1.0], [0.0, 0.7, 0.3, 1.0], [0.1, 0.2, 0.3, 1.0], [0.0, 0.2, 0.3, 0.9], [1.0, 0.7, 0.2, 0.0]
        )
        return given("times", replace, piece, samples=np.zeros((4, 2)), times=c.say("times out of order", wrong))
    return given(
        "right-hand side", replace, piece, sides=c.say("of another problem", MovingRightHandSide(_problem().rhs))
    )


@entry("MovingRightHandSide")
def _(c: Chaos) -> Made:
    rhs = _problem().rhs
    way = c.pick("first", "last", "function", "window", "none", "both", "only", "others")
    if way in ("first", "last", "function"):
        wrong = c.thing(type(None), type, type(print), Space)  # which can be called
        return given(f"{way}", MovingRightHandSide, **({"first": rhs} if way == "last" else {}), **{way: wrong})
    if way == "window":
        wrong = c.say(
            "no window", c.pick(None, 3, "ab", (0.0,), (0.0, np.nan), (0.0, 1.0, 2.0), ("a", "b"), (None, 1.0))
        )
        return given("window", MovingRightHandSide, rhs, window=wrong)
    if way == "none":
        return given("neither", MovingRightHandSide, c.say("nothing", None))
    if way == "both":
        return given("both", MovingRightHandSide, rhs, None, c.say("a function too", lambda s: rhs))
    if way == "only":
        return given("only the last", MovingRightHandSide, None, c.say("no first", rhs))
    return given("end of a path", MovingRightHandSide, rhs, c.say("of another problem", _reach().rhs))


BALL = """<robot name='a'><link name='body'>
  <collision><geometry><sphere radius='0.1'/></geometry></collision></link></robot>"""


@functools.cache
def _collisions() -> CollisionModel:
    return CollisionModel(_arm(), [Shape("ball", "Sphere", (0.1,), "tool"), Shape("table", "Box", (1.0, 1.0, 0.01))])


@entry("CollisionModel")
def _(c: Chaos) -> Made:
    model = _collisions()
    way = c.pick(
        *("path", "limit", "q", "other", "shape", "robot", "shapes", "names", "margin", "margins", "ignored", "size"),
        *("srdf", "samples", "free", "urdfs", "file", "packages", "placement"),
    )
    if way == "srdf":
        return given("srdf", CollisionModel, _arm(), srdf=c.say("no flag", c.pick(3, None, "no", [True], 1.0)))
    if way == "samples":
        name = c.pick("samples", "seed")
        return given(name, model.always_colliding, **{name: c.say("no count", c.pick(-1, 1.5, "3", None, True, [3]))})
    if way == "free":
        wrong = c.pick({"rng": c.thing()}, {"size": c.pick(-1, 1.5, "3", True)}, {"tries": c.pick(0, 1.5, "3", None)})
        return given(("rng", "size", "tries"), lambda: model.random_free(**{"rng": np.random.default_rng(0)} | wrong))
    if way == "urdfs":
        wrong = c.pick(
            3, ["a"], {"": 3}, {3: "a.urdf"}, "/nowhere.urdf", {"arm": "/nowhere.urdf"}, b"x", {"a": None}, ""
        )
        return given(("urdf", "nowhere", "a.urdf"), CollisionModel, _arm(), urdfs=c.say("no URDF files", wrong))
    if way == "file":
        changes = [("'body'", "'bdy'"), ("'0.1'", "'x'"), ("'0.1'", "'-0.1'"), ("'0.1'", "'0'"), ("sphere", "ball")]
        changes += [("<sphere radius='0.1'/>", "<mesh filename='nowhere.stl'/>")]
        wrong = [BALL.replace(*change) for change in changes]
        text = c.pick("<robot", "<sdf/>", "", "<robot name='a'><link name='b'/></robot>", *wrong)
        c.say(f"no collision geometry: {text}", None)
        return lambda: _loaded(lambda path: CollisionModel(_box(), urdfs=path), text.encode()), ("broken", "bdy")
    if way == "packages":
        wrong = c.say("no folders", c.pick(3, [3], None, [None], b"x", print))
        return given("packages", CollisionModel, _arm(), packages=wrong)
    if way == "placement":
        return given("'lump'", Shape, "lump", "Sphere", 0.1, "universe", c.placement())
    if way == "path":
        return given("path of a collision check", model.first_collision, c.thing())
    if way == "limit":
        return given("resolution", model.first_collision, _path(), c.pick(c.number(), 0.0, -1.0))
    if way == "q":
        return given(("q", "configuration"), c.pick(model.is_free, model.collisions), c.vector(7))
    if way == "other":
        return given(("path", "space"), model.first_collision, c.say("a path in another space", _path()))
    if way == "shape":
        wrong = c.pick(("", "Sphere", (0.1,), 3), ("a", "Ball", (0.1,)), ("a", ["Sphere"], 1.0), (3, "Sphere", (0.1,)))
        return given(("shape", "frame", "a name"), lambda: CollisionModel(_arm(), [Shape(*wrong)]))
    if way == "size":
        wrong = c.say("no size", c.pick((0.1, 0.2), (-0.1,), (np.nan,), "x", None, {}, (0.0,), [[0.1], [0.1, 0.2]], 1j))
        return given("'lump'", Shape, "lump", "Sphere", wrong)
    if way == "robot":
        return given("robot of a collision model", CollisionModel, c.thing(Robot))
    if way == "shapes":
        return given("shape", CollisionModel, _arm(), c.say("no shapes", c.pick(3, None, [3], "ball", [None], print)))
    if way == "names":
        pair = c.pick((c.name(["ball"]), "table"), ("ball", c.name(["table"])), ("ball",), "ball", 3)
        return given(("shape", "pair"), model.without, pair)
    if way == "margin":
        return given("margin", CollisionModel, _arm(), margin=c.number())
    if way == "margins":
        wrong = c.pick(
            3, "x", [("ball", "table")], {"ball": 0.1}, {("ball", "table"): "x"}, {("ball", "table"): np.nan}
        )
        return given(("margin", "pair of shapes"), model.with_margins, c.say("no margins", wrong))
    wrong = c.say("no pairs", c.pick(3, [3], ["ball"], [("ball",)], [("ball", "tabel")], None))
    return given(("pair", "shape"), CollisionModel, _arm(), [Shape("ball", "Sphere", (0.1,), "tool")], ignored=wrong)


@entry("walk")
def _(c: Chaos) -> Made:
    graph, q, rng = _graph(), _scene().neutral, np.random.default_rng(0)
    way = c.pick(
        "graph", "q", "transitions", "name", "rng", "goal", "guess", "guessed", "collisions", "limits", "order"
    )
    if way == "graph":
        return given("graph of a walk", walk, c.thing(), q, ["Loop | f"], rng=rng)
    if way == "q":
        return given("q_start", walk, graph, c.point(_scene().space), ["Loop | f"], rng=rng)
    if way == "transitions":
        wrong = c.pick("Loop | f", 3, None, [], [3], [None], b"x", print)
        return given(("transition",), walk, graph, q, c.say("no transitions", wrong), rng=rng)
    if way == "name":
        return given("transition", walk, graph, q, [c.name(["Loop | f", "hand > box/handle | f"])], rng=rng)
    if way == "rng":
        return given("rng of a walk", walk, graph, q, ["Loop | f"], rng=c.thing())
    if way == "goal":
        return given("goal", walk, graph, q, ["Loop | f"], rng=rng, goal=c.point(_scene().space))
    if way == "guess":
        return given(
            "guess of a walk", walk, graph, q, ["Loop | f"], rng=rng, guess=c.thing(type(None), type, type(print))
        )
    if way == "guessed":
        wrong = c.point(_scene().space)
        return given("guess", walk, graph, q, ["Loop | f"], rng=rng, guess=lambda *_: wrong)
    if way == "collisions":
        return given("collisions of a walk", walk, graph, q, ["Loop | f"], rng=rng, collisions=c.thing(type(None)))
    if way == "limits":
        return given("limits of a walk", walk, graph, q, ["Loop | f"], rng=rng, limits=c.thing(type(None)))
    taking = "hand > box/handle | f"
    return given("must follow", walk, graph, q, c.say("out of order", [taking, taking]), rng=rng)
