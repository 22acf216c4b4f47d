"""Boxes for functions, and what is found outside of their enclosures: by sampling in doubles, and in 50 digits."""

from __future__ import annotations

import functools
from collections.abc import Iterable
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

NOTHING = 1e-250
"""Entries that are zero but for what radii are rounded up by: they are not near an end."""


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
    several = boxes_of(f, rng, 1, least, most, q)
    return TangentBox(f.inputs, several.q[0], several.r[0], None if several.ball is None else several.ball[0])


def boxes_of(f: Function, rng: np.random.Generator, count: int, least: float, most: float, q: Any = None) -> TangentBox:
    """Several boxes as one object, drawn as of `box_of`; all have a ball, or none."""
    centers = np.array([random_configuration(f, rng) if q is None else q for _ in range(count)])
    shape = (count, f.inputs.nv)
    moving = rng.random(shape) < rng.choice([0.3, 1.0], (count, 1))
    radius = 10.0 ** rng.uniform(least, most, (count, 1)) * moving * rng.uniform(0.1, 1.0, shape)
    ball = radius * rng.uniform(0.2, 1.0, (count, 1)) if rng.random() < 0.5 else None
    return TangentBox(f.inputs, centers, radius, ball)


def enclosed(f: Function, box: TangentBox) -> Enclosure | None:
    """The enclosure; none where the function may have no value, or the box is too large."""
    try:
        return f.enclosure(box)
    except UndefinedError:
        return None


def enclosed_together(f: Function, boxes: TangentBox) -> list[tuple[TangentBox, Enclosure]]:
    """Those of several boxes on which the function has a value, enclosed as one object; then one by one."""
    while len(boxes.q):
        try:
            e = f.enclosed(boxes)
        except UndefinedError as why:
            if why.where is None or not np.any(why.where):
                raise
            boxes = boxes.some(~np.broadcast_to(why.where, boxes.leading))
            continue
        return [(boxes.some(i), _one_of(e, i)) for i in range(len(boxes.q))]
    return []


def _one_of(e: Enclosure, i: int) -> Enclosure:
    def bend() -> Bend:
        return Bend(e.bend.straight[i], e.bend.slopes[i])

    return Enclosure(e.value[i], e.rounding[i], e.jacobian[i], lambda: e.error[i], bend)


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
    return _placed(box, rng, rng.choice([-1.0, 1.0], (1, n)) if corner else rng.uniform(-1.0, 1.0, (1, n)))[0]


def steps_in(box: TangentBox, rng: np.random.Generator, corners: np.ndarray) -> np.ndarray:
    """Several, as of `step_in`."""
    shape = (len(corners), box.space.nv)
    drawn = np.where(corners[:, None], rng.choice([-1.0, 1.0], shape), rng.uniform(-1.0, 1.0, shape))
    return _placed(box, rng, drawn)


def _placed(box: TangentBox, rng: np.random.Generator, drawn: np.ndarray) -> np.ndarray:
    if box.ball is None:
        return box.r * drawn
    w = rng.normal(size=drawn.shape) * (rng.random(drawn.shape) < 0.5)
    size = np.maximum(np.sqrt((w * w).sum(axis=1, keepdims=True)), 1e-9)
    return (box.r - box.ball) * drawn + box.ball * w / size * (1.0 - 1e-12)


class Near(NamedTuple):
    """A sample near an end: how near, its tangent vector, and the column of the Jacobian that is nearest, or any."""

    gap: float
    v: np.ndarray
    column: int


class Found(NamedTuple):
    """Samples of one box: how many, how many near an end, outside, and judged in 50 digits."""

    samples: int
    near: int
    outside: int
    judged: int


def sampled(f: Function, box: TangentBox, e: Enclosure, rng: np.random.Generator, count: int, judged: int = 2) -> Found:
    """Samples in doubles; those that are nearest to an end are judged in 50 digits, so many a box at most.

    Args:
        f: the function.
        box: where.
        e: its enclosure there.
        rng: draws the samples.
        count: how many.
        judged: of those near an end.
    """
    near, outside = nearest(f, box, e, rng, count)
    outside += sum(outside_in_digits(f, box, e, one.v, one.column) for one in near[:judged])
    return Found(count, len(near), outside, min(len(near), judged))


def all_inside(functions: Iterable[Function], rng: np.random.Generator) -> int:
    """Assert that no sample of a box of each function is outside of its enclosure; how many functions have one."""
    count = 0
    for f in functions:
        box = box_of(f, rng, -6.0, 0.0)
        found = enclosed(f, box)
        if found is not None:
            assert sampled(f, box, found, rng, 20, judged=0).outside == 0, f.name
            count += 1
    return count


def nearest(f: Function, box: TangentBox, e: Enclosure, rng: np.random.Generator, count: int) -> tuple[list[Near], int]:
    """Samples in doubles: those near an end, the nearest one first, and how many are clearly outside."""
    n, outside = f.inputs.nv, 0
    V, values, jacobians = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
    steps = steps_in(box, rng, np.arange(count) % 2 == 1)
    for v, q in zip(steps, f.inputs.integrate(np.tile(box.q, (count, 1)), steps), strict=True):
        try:
            value, J = f.linearise(q)
        except UndefinedError:
            outside += 1
            continue
        V.append(v)
        values.append(value)
        jacobians.append(J)
    if not V:
        return [], outside
    gaps, J = np.full((len(V), 1 + n), np.inf), np.array(jacobians)
    if f.outputs.is_flat or float(np.max(e.error, initial=0.0)) <= 1.5:  # logarithms are the shortest ones
        off = np.abs(f.outputs.difference(np.broadcast_to(e.value, (len(V), len(e.value))), np.array(values)))
        gaps[:, 0] = np.where(off + e.error > NOTHING, e.error - off, np.inf).min(axis=1, initial=np.inf)
    for bounds in (e.jacobian, bent(e.bend, np.array(V))):
        inside = np.minimum(J - bounds.lower, bounds.upper - J)
        known = np.abs(J) + np.abs(bounds.lower) + np.abs(bounds.upper) <= NOTHING
        gaps[:, 1:] = np.minimum(gaps[:, 1:], np.where(known, np.inf, inside).min(axis=1, initial=np.inf))
    least, at = gaps.min(axis=1), gaps.argmin(axis=1) - 1
    near = [
        Near(float(least[i]), V[i], int(at[i]) if at[i] >= 0 else int(rng.integers(max(n, 1))))
        for i in np.argsort(least).tolist()
        if abs(least[i]) < NEAR
    ]
    return near, outside + int((least <= -NEAR).sum())


def bent(bend: Bend, v: np.ndarray) -> Interval:
    """The Jacobian at v (nv,), by how it changes; or at several (samples, nv)."""
    if not v.size:
        return bend.straight
    slopes, n = bend.slopes, bend.slopes.shape[-1]
    changes = (slopes.reshaped(-1, n) @ v.reshape(-1, n).T).reshaped(*slopes.shape[:-1], -1)
    every = Interval(np.moveaxis(changes.lower, -1, 0), np.moveaxis(changes.upper, -1, 0)) + bend.straight
    return every if v.ndim == 2 else every[0]


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
