"""Random sets of constraints on a tree: as data (`Wanted`), and made of them a problem of the library.

Each set has a configuration q* that satisfies it, unless it was spoilt: the numbers of every constraint come from the
values at q*. Kinds: each function of the library, locked joints, couplings, objects that follow a frame; rows of every
comparison, intervals, masks, scales and margins; levels, weights, frozen joints, extra variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from plain_rows import Body, Place, Wanted, group_rows, value_of, waves
from random_trees import Random, random_placement

from constraints import (
    Affine,
    CenterOfMass,
    ComBetweenFeet,
    Comparison,
    Explicit,
    Frame,
    Function,
    Implicit,
    Orientation,
    Pose,
    Position,
    Robot,
    Rotation,
    Transformation,
    explicit_relative_pose,
    locked_joint,
    rigid_transform,
)
from constraints.errors import UndefinedError
from liegroups import SE3, R3xSO3, Rn, Space

__all__ = ["Spoilt", "constraint_of", "random_constraints", "rhs_numbers", "spoil"]

Vector = NDArray[np.float64]

IMPLICIT = (
    *(
        "position",
        "position",
        "orientation",
        "transformation",
        "transformation",
        "rotation",
        "pose",
        "pose",
        "pose_r3so3",
    ),
    *("center", "relative_center", "between_feet", "affine", "waves", "root"),
)
EXPLICIT = ("locked", "locked", "coupled", "object")
Spoilt = str
SPOILT: tuple[Spoilt, ...] = ("", "", "", "", "", "far", "contradiction")


# Data.


def random_constraints(rng: Random, place: Place, target: Vector) -> list[Wanted]:
    """One to five constraints that q* = `target` satisfies."""
    place.at(target[None])
    kinds = [str(kind) for kind in rng.choice(IMPLICIT, int(rng.integers(1, 4)))]
    if rng.random() < 0.4:
        kinds += [str(kind) for kind in rng.choice(EXPLICIT, int(rng.integers(1, 3)))]
    return [with_rows(rng, place, random_function(rng, place, kind)) for kind in kinds]


def random_function(rng: Random, place: Place, kind: str) -> Wanted:
    """A function of one kind, without rows; its reference is often such that the value at q* is neutral."""
    model = place.model
    if kind in ("affine", "coupled"):
        return random_affine(rng, place, kind)
    if kind == "waves":
        return Wanted(kind, numbers={"entries": rng.choice(place.coordinates.entries, 3, replace=False)})
    if kind == "root":
        entry = int(rng.choice(place.coordinates.entries))
        return Wanted(kind, numbers={"entry": entry, "start": place.q[0, entry] - rng.uniform(0.01, 1.0)})
    if kind == "locked":
        joint = int(rng.integers(1, model.njoints))
        block = slice(model.joints[joint].idx_q, model.joints[joint].idx_q + model.joints[joint].nq)
        return Wanted(kind, numbers={"joint": joint, "value": place.q[0, block].copy()})
    heavy = [i for i in range(1, model.njoints) if place.masses[i]]
    some = tuple(sorted(int(i) for i in rng.choice(heavy, min(3, len(heavy)), replace=False)))
    joints = some if rng.random() < 0.5 else ()
    if kind == "center":
        return Wanted(kind, joints=joints)
    if kind == "between_feet":
        return Wanted(kind, tuple(random_body(rng, model) for _ in range(3)), joints=joints)
    if kind == "relative_center":
        a = random_body(rng, model)
        reference = place.pose(a).act_back(place.center(joints))[0] if rng.random() < 0.5 else rng.uniform(-0.3, 0.3, 3)
        return Wanted(kind, (a,), numbers={"reference": reference}, joints=joints)
    b = random_body(rng, model)
    if kind == "object":
        b = Body(model.getJointId("FreeFlyer"), b.placement)
        below = set(model.subtrees[b.joint])
        a = Body(int(rng.choice([i for i in range(model.njoints) if i not in below])), random_placement(rng))
    else:
        a = random_body(rng, model) if rng.random() < 0.5 else Body(0, random_placement(rng, 0.5))
    if rng.random() < 0.6:  # the value at q* is neutral
        a = Body(a.joint, place.joint(a.joint).seen(place.pose(b)).first())
    group = {"rotation": "SO3", "pose": "SE3", "pose_r3so3": "R3xSO3"}.get(kind, "R")
    return Wanted("pose" if group != "R" else kind, (a, b), group)


def random_body(rng: Random, model: Any) -> Body:
    placement = random_placement(rng) if rng.random() < 0.8 else pin.SE3.Identity()
    return Body(int(rng.integers(1, model.njoints)), placement)


def random_affine(rng: Random, place: Place, kind: str) -> Wanted:
    """A x + b; of `coupled` the first row's first column is a joint of one number that follows the others."""
    columns = place.coordinates.columns[place.coordinates.flat]
    A = np.zeros((1 if kind == "coupled" else 2, place.model.nv + place.extra))
    for row in A:
        row[rng.choice(columns, 2, replace=False)] = rng.uniform(-1.5, 1.5, 2)
        if place.extra and kind == "affine":
            row[place.model.nv + int(rng.integers(place.extra))] = 1.0
    numbers: dict[str, Any] = {}
    if kind == "coupled":
        single = [j for j in list(place.model.joints)[1:] if j.nq == j.nv == 1 and j.idx_v in columns]
        joint = single[int(rng.integers(len(single)))]
        A[0] = np.where(np.arange(A.shape[1]) == joint.idx_v, 1.0, A[0])
        numbers["joint"] = int(joint.id)
    return Wanted(kind, numbers={"A": A, "b": -(A @ place.numbers()[0]), **numbers})


def with_rows(rng: Random, place: Place, wanted: Wanted) -> Wanted:
    """The same with comparisons, intervals, mask, scale and right-hand side that q* satisfies."""
    value = value_of(place, wanted)
    at = group_rows(place, wanted.group, value, None)[0]
    n, neutral = at.size, bool(np.abs(at).max() < 1e-12)
    explicit = wanted.kind in EXPLICIT
    whole = rng.random() < (0.85 if explicit else 0.4)
    mask = np.ones(n, dtype=np.bool_) if whole or n == 1 else rng.random(n) < 0.7
    mask[int(rng.integers(n))] = True
    scale = np.ones(n) if explicit or rng.random() < 0.7 else rng.uniform(0.2, 5.0, n)
    if whole:
        word = "EQUAL_TO_ZERO" if neutral and rng.random() < 0.5 else "EQUALITY"
        words: list[str | None] = [word] * n
    else:
        flat = wanted.group == "R"
        choices = ["EQUAL_TO_ZERO", "EQUALITY"] if neutral else ["EQUALITY"] if flat else []
        sides: list[list[str | None]] = [[*choices, "SUPERIOR" if x >= 0.0 else "INFERIOR", None] for x in at]
        if explicit:
            sides = [[*choices, "SUPERIOR" if x >= 0.0 else "INFERIOR"] for x in at]
        words = [side[int(rng.integers(len(side)))] for side in sides]
    free = np.array([word == "EQUALITY" for word in words])
    rhs: Any = None
    if free.any() and not neutral:
        rhs = np.where(free, at, 0.0) if wanted.group == "R" else value.first() if free.all() else None
    lower, upper = np.zeros(n), np.zeros(n)
    for i, word in enumerate(words):
        if word == "SUPERIOR":
            upper[i] = np.inf
        elif word == "INFERIOR":
            lower[i] = -np.inf
        elif word is None:
            lower[i], upper[i] = at[i] - rng.uniform(0.0, 0.4), at[i] + rng.uniform(0.0, 0.4)
            if rng.random() < 0.3:
                lower[i] = -np.inf
    return replace(
        wanted, rhs=rhs, lower=lower, upper=upper, scale=scale, mask=mask, words=tuple(words)
    )  # fmt: skip


def spoil(rng: Random, constraints: list[Wanted], how: Spoilt) -> list[Wanted]:
    """Targets out of reach, or a constraint that contradicts another one."""
    if not how:
        return constraints
    i = int(rng.integers(len(constraints)))
    given = constraints[i]
    shift = pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]) if how == "contradiction" else rng.uniform(20.0, 90.0, 3))
    numbers, bodies = dict(given.numbers), given.bodies
    if given.kind in ("affine", "coupled"):
        numbers["b"] = numbers["b"] + 10.0
    elif bodies:
        bodies = (Body(bodies[0].joint, bodies[0].placement * shift), *bodies[1:])
    elif given.kind == "locked":
        numbers["value"] = numbers["value"] + (0.7 if given.lower.size == numbers["value"].size else 0.0)
    other = replace(given, bodies=bodies, numbers=numbers)
    return [*constraints, other] if how == "contradiction" else [*constraints[:i], other, *constraints[i + 1 :]]


# Made of the library.


def constraint_of(wanted: Wanted, robot: Robot, space: Space, name: str, with_rhs: bool) -> Implicit | Explicit:
    """The constraint; its right-hand side is its default one, or left to the caller."""
    words: list[Comparison | None] = [None if word is None else Comparison[word] for word in wanted.words]
    rhs = rhs_numbers(wanted) if with_rhs else None
    if wanted.kind in EXPLICIT:
        made = explicit_of(wanted, robot, name)
        mask = None if wanted.mask.all() else wanted.mask
        return replace(made, comparison=words, mask=mask, rhs=rhs)
    sides = {"lower": wanted.lower, "upper": wanted.upper} if None in words else {}
    scale = None if (wanted.scale == 1.0).all() else wanted.scale
    function = function_of(wanted, robot, space)
    return Implicit(function, words, rhs, wanted.mask, scale, **sides, name=name)


def rhs_numbers(wanted: Wanted) -> Vector | None:
    """The right-hand side as a point of the library's output space."""
    if wanted.rhs is None or wanted.group == "R":
        return wanted.rhs
    pose = np.array(pin.SE3ToXYZQUAT(wanted.rhs))
    return pose[3:] if wanted.group == "SO3" else pose


def explicit_of(wanted: Wanted, robot: Robot, name: str) -> Explicit:
    if wanted.kind == "object":
        a, b = (frame_of(robot, body) for body in wanted.bodies)
        return explicit_relative_pose(robot, a, b, name=name)
    joint = robot.joint_names[wanted.numbers["joint"] - 1]
    if wanted.kind == "locked":
        return locked_joint(robot, joint, wanted.numbers["value"], name=name)
    out = robot.segments(joint)
    M = -wanted.numbers["A"][:, : robot.nv]
    M[0, out.v[0]] = 0.0
    return Explicit(Affine(M, -wanted.numbers["b"], robot.space), out, name=name)


def function_of(wanted: Wanted, robot: Robot, space: Space) -> Function:
    kind, joints = wanted.kind, [robot.joint_names[i - 1] for i in wanted.joints] or None
    if kind == "affine":
        return Affine(wanted.numbers["A"], wanted.numbers["b"], space)
    if kind == "waves":
        return Function.from_callable(Waves(wanted.numbers["entries"]), robot.space, Rn(2), name="waves")
    if kind == "root":
        entry, start = wanted.numbers["entry"], wanted.numbers["start"]
        return Function.from_callable(Root(entry, start), robot.space, Rn(1), name="root")
    if kind == "center":
        return CenterOfMass(robot, joints)
    if kind == "between_feet":
        left, right, reference = (frame_of(robot, body) for body in wanted.bodies)
        return ComBetweenFeet(robot, left, right, reference, joints)
    if kind == "relative_center":
        origin = rigid_transform(wanted.numbers["reference"])
        return CenterOfMass(robot, joints, reference=robot.frame(frame_of(robot, wanted.bodies[0]), origin))
    (a, b), group = wanted.bodies, wanted.group
    reference = frame_of(robot, a) if a.joint else a.placement
    if group in ("SE3", "R3xSO3"):
        outputs = SE3 if group == "SE3" else R3xSO3
        return Pose(robot, frame_of(robot, b), reference, outputs)
    seen: dict[str, Any] = {
        "position": Position, "orientation": Orientation, "transformation": Transformation, "pose": Rotation
    }  # fmt: skip
    return seen[kind](robot, frame_of(robot, b), reference)


def frame_of(robot: Robot, body: Body) -> Frame:
    name = robot.model.names[body.joint]
    return Frame(f"on {name}", body.joint, body.placement, name)


@dataclass(frozen=True)
class Waves:
    """A user's function: `waves` of some entries of q."""

    entries: NDArray[np.intp]

    def __call__(self, q: Vector) -> Vector:
        return waves(q[self.entries])


@dataclass(frozen=True)
class Root:
    """A user's function that is not defined everywhere: the square root of an entry of q less a number."""

    entry: int
    start: float

    def __call__(self, q: Vector) -> float:
        x = float(q[self.entry]) - self.start
        if x < 0.0:
            raise UndefinedError(f"the root of {x:.3g} is not real")
        return float(np.sqrt(x))
