"""Boxes for functions, and what is found outside of their enclosures: by sampling in doubles, and in 50 digits."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import fifty_digits as digits
import numpy as np
import pinocchio as pin
from expression_trees import Arm, drawn, function_of
from robots import arm, joint_models
from samples import SAMPLES, kinematic_samples, placement

from constraints import Function, Robot
from constraints.errors import NoEnclosureError, UndefinedError
from constraints.functions.enclosures.box import Bend, Enclosure, TangentBox
from constraints.functions.enclosures.interval import Interval
from constraints.loops import Hinge
from constraints.loops.contacts import LocalPoint
from constraints.loops.hinges.hinge_fit import hinge_rows
from constraints.loops.hinges.masked_map import MaskedMap
from constraints.loops.hinges.pose_map import Rod, Split, TurnedLog
from constraints.loops.hinges.relative_pose import OfRelativePose
from constraints.loops.hinges.rotation_rows import Swing, Turn
from constraints.testing.functions import _random as random_configuration  # pyright: ignore[reportPrivateUsage]

NEAR = 1e-9
"""Samples this near to an end, or beyond it, are looked at in 50 digits."""


@functools.cache
def every_joint() -> Robot:
    """Three branches of joints of every type that has an enclosure, which all have but the ellipsoid."""
    model, rng, last = pin.Model(), np.random.default_rng(5), [0, 0, 0]
    model.name = "every joint"
    kinds = {name: joint for name, joint in joint_models().items() if name != "ellipsoid"}
    for i, (name, joint) in enumerate(kinds.items()):
        M = pin.SE3(placement(50 + i).rotation, rng.uniform(-0.2, 0.2, 3))
        branch = i % 3 if i > 2 else 0
        last[branch] = model.addJoint(last[branch], joint, M, name)
        last = [last[0]] * 3 if i <= 2 else last
        model.appendBodyToJoint(last[branch], pin.Inertia.FromBox(1.0 + 0.1 * i, 0.1, 0.2, 0.3), placement(90 + i))
    return Robot(model).with_frame("a", "chain", placement(9)).with_frame("b", "composite", placement(10))


def functions() -> dict[str, Function]:
    """Samples of all functions of the library, and those of frames on a robot with joints of every type."""
    own = {f"{name} (every joint)": make for name, make in kinematic_samples(every_joint).items()}
    return {name: make() for name, make in (SAMPLES | own).items()} | closures()


HINGES: dict[str, Hinge] = {
    "locked": Hinge.locked(),
    "pin": Hinge.pin([0.6, 0.0, 0.8]),
    "slider": Hinge.slider([0.0, 1.0, 0.0]),
    "helical": Hinge.helical([0.0, 0.6, 0.8], 3.0),
    "universal": Hinge.universal([0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]),
    "cylindrical": Hinge.cylindrical([1.0, 0.0, 0.0]),
    "planar": Hinge.planar([0.0, 0.6, -0.8]),
    "gimbal": Hinge.gimbal(),
    "ball": Hinge.ball(),
    "translational": Hinge.translational(),
}
"""One of each form of rows; a custom one is fitted, and has no enclosure."""


def closures() -> dict[str, Function]:
    """Rows of closures and contacts with each form of rows, on a robot with joints of every type, and on an arm."""
    turn = placement(77).rotation
    maps = {name: hinge_rows(hinge) for name, hinge in HINGES.items()} | {
        "rod": Rod(0.7), "turned log": TurnedLog(turn), "some rows": MaskedMap(TurnedLog(turn), np.array([0, 2, 5])),
        "turn in other axes": Split(turn[:2], Turn(turn)), "local point": LocalPoint(turn[:2], True),
        "two numbers for an axis": Split(np.zeros((0, 3)), Swing(np.eye(3)[2], np.array([0.6, 0.0, 0.8]))),
    }  # fmt: skip
    found = dict[str, Function]()
    for name, rows in maps.items():
        for robot, a, b in ((every_joint(), "a", "b"), (arm(), "elbow", "tool")):
            f = OfRelativePose(robot, robot.frame(a), robot.frame(b), rows, name=f"{name} of {robot.name}")
            found[f.name] = f
    return found


def tree(seed: int, depth: int = 5) -> tuple[Function, np.ndarray]:
    """A random formula of the arm, and where it is defined."""
    rng = np.random.default_rng(seed)
    q = arm().random(rng)
    return function_of(drawn(rng, depth, int(rng.choice([1, 3])), Arm(q, np.zeros(7)))[0]), q


def box_of(f: Function, rng: np.random.Generator, least: float, most: float, q: Any = None) -> TangentBox:
    """A box whose size is 10 to a power between two; some columns stay."""
    center = random_configuration(f, rng) if q is None else q
    moving = rng.random(f.inputs.nv) < rng.choice([0.3, 1.0])
    radius = 10.0 ** rng.uniform(least, most) * moving * rng.uniform(0.1, 1.0, f.inputs.nv)
    ball = radius * rng.uniform(0.2, 1.0) if rng.random() < 0.5 else None
    return TangentBox(f.inputs, center, radius, ball)


def enclosed(f: Function, box: TangentBox) -> Enclosure | None:
    """The enclosure; none where the function may have no value, or the box is too large."""
    try:
        return f.enclosure(box)
    except UndefinedError:
        return None


def has_enclosure(f: Function) -> bool:
    rng = np.random.default_rng(0)
    try:
        f.enclosure(TangentBox(f.inputs, random_configuration(f, rng), 0.0))
    except NoEnclosureError:
        return False
    except UndefinedError:
        pass
    return True


def step_in(box: TangentBox, rng: np.random.Generator, corner: bool) -> np.ndarray:
    """A tangent vector of the box, or of its corners; of a box with a ball, of the ball around one."""
    n = box.space.nv
    drawn = rng.choice([-1.0, 1.0], n) if corner else rng.uniform(-1.0, 1.0, n)
    if box.ball is None:
        return box.r * drawn
    w = rng.normal(size=n) * (rng.random(n) < 0.5)
    return (box.r - box.ball) * drawn + box.ball * w / max(np.linalg.norm(w), 1e-9) * (1.0 - 1e-12)


class Found(NamedTuple):
    """Samples of one box: how many, how many near an end, and how many outside."""

    samples: int
    near: int
    outside: int


def sampled(f: Function, box: TangentBox, e: Enclosure, rng: np.random.Generator, count: int, judged: int = 2) -> Found:
    """Samples in doubles; what is near an end is judged in 50 digits, so many a box at most, and what is far outside.

    Args:
        f: the function.
        box: where.
        e: its enclosure there.
        rng: draws the samples.
        count: how many.
        judged: of those near an end.
    """
    near = outside = 0
    bend = e.bend
    turned = not f.outputs.is_flat and float(np.max(e.error, initial=0.0)) > 1.5  # logarithms are the shortest ones
    for i in range(count):
        v = step_in(box, rng, i % 2 == 1)
        try:
            value, J = f.linearise(f.inputs.integrate(box.q, v))
        except UndefinedError:
            outside += 1
            continue
        gap = np.inf if turned else np.min(e.error - np.abs(f.outputs.difference(e.value, value)), initial=np.inf)
        for bounds in (e.jacobian, bent(bend, v)):
            gap = min(gap, np.min(J - bounds.lower, initial=np.inf), np.min(bounds.upper - J, initial=np.inf))
        if gap < -NEAR:
            outside += 1
        elif gap < NEAR:
            near += 1
            if near <= judged:
                outside += outside_in_digits(f, box, e, v, int(rng.integers(max(f.inputs.nv, 1))))
    return Found(count, near, outside)


def bent(bend: Bend, v: np.ndarray) -> Interval:
    """The Jacobian at v, by how it changes."""
    if not v.size:
        return bend.straight
    return bend.straight + (bend.slopes @ v[:, None]).reshaped(*bend.straight.shape)


def outside_in_digits(
    f: Function, box: TangentBox, e: Enclosure, v: np.ndarray, column: int, turned: bool = False
) -> bool:
    """Whether the value, or a column of the Jacobian, is outside of an enclosure, judged in 50 digits.

    Args:
        f: the function.
        box: where.
        e: its enclosure there.
        v: in the box; the value at the centre is judged where it is zero.
        column: of the Jacobian.
        turned: the value may be turned so far that its logarithm is not the shortest one: it is not judged.
    """
    try:
        at = digits.moved(f.inputs, digits.point_of(f.inputs, box.q), digits.exact(v))
        d = digits.log_between(f.outputs, digits.point_of(f.outputs, e.value), digits.value_at(f, at))
        J = digits.column_at(f, at, column) if f.inputs.nv else np.zeros(len(d))
    except NotImplementedError:
        return False
    most = digits.exact(e.error if v.any() else e.rounding)
    if not turned and any(abs(x) > bound + digits.mp.mpf(10) ** -45 for x, bound in zip(d, most, strict=True)):
        return True
    if not f.inputs.nv:
        return False
    off = digits.mp.mpf(10) ** -28  # of the differences, where columns are large
    both = [digits.exact(end[:, column]) for x in (e.jacobian, bent(e.bend, v)) for end in (x.lower, x.upper)]
    return any(x < max(a, c) - off or x > min(b, d) + off for x, a, b, c, d in zip(J, *both, strict=True))
