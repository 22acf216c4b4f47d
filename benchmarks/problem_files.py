"""Projection problems in files: `.npz` as described in `problems/README.md`, read into a Problem.

What the library cannot express yet, or a model that is not there, raises `Skipped` with the reason; nothing is guessed.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constraints import (
    Base,
    Bounds,
    Comparison,
    ConstraintError,
    ConvexShapeContact,
    ConvexShapeContactHold,
    Explicit,
    ExplicitContact,
    Frame,
    Function,
    Implicit,
    LockedJoint,
    Part,
    Problem,
    RelativeCenterOfMass,
    RelativeTransformation,
    Robot,
    Surface,
    Transformation,
)
from constraints.robot.frames import FrameKind

BASES = {"anchor": Base.FIXED, "freeflyer": Base.FREE_FLYER, "planar": Base.PLANAR}
COMPARISONS = {
    "Equality": Comparison.EQUALITY,
    "EqualToZero": Comparison.EQUAL_TO_ZERO,
    "Superior": Comparison.SUPERIOR,
    "Inferior": Comparison.INFERIOR,
}

MARGIN = 1e-4
"""How far a placed object ends above the floor where the file does not say [m]: the default of hpp-manipulation."""


class Skipped(Exception):
    """Why a file is not run."""


@dataclass(frozen=True, eq=False)
class ProblemFile:
    """A problem with its starts.

    Attributes:
        path: the file.
        name: of the problem, inside the file.
        description: the file's JSON.
        q0: starts (n, nq).
        threshold: largest error norm of a satisfied constraint.
        max_iterations: budget.
    """

    path: Path
    name: str
    description: dict[str, Any]
    q0: NDArray[np.float64]
    threshold: float
    max_iterations: int


def read(path: Path) -> ProblemFile:
    """Read a file.

    Raises:
        Skipped: it is not there, or not in the format.
    """
    try:
        with np.load(path) as stored:
            description = json.loads(str(stored["problem"]))
            return ProblemFile(
                path,
                str(description["name"]),
                description,
                np.array(stored["q0"], dtype=np.float64),
                float(stored["error_threshold"]),
                int(stored["max_iterations"]),
            )
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise Skipped(f"not a problem file: {error}") from None


def build(file: ProblemFile) -> Problem:
    """The problem of a file, its constraints by level.

    Raises:
        Skipped: a model is not found, a constraint is of a kind that cannot be expressed, or something does not fit.
    """
    description = file.description
    try:
        robot = _robot(description)
        levels: dict[int, list[Implicit | Explicit]] = {}
        for i, constraint in enumerate(description["constraints"]):
            built = _constraint(robot, constraint, f"{constraint['kind']} {i}", description)
            levels.setdefault(int(constraint.get("priority", 0)), []).append(built)
        return Problem(robot, [levels[level] for level in sorted(levels)])
    except ConstraintError as error:
        raise Skipped(str(error)) from None
    except KeyError as error:
        raise Skipped(f"the description has no key {error}") from None


def _robot(description: dict[str, Any]) -> Robot:
    """The system of all models, with the bounds of the file."""
    parts: list[Part] = []
    for prefix, root, source, placement, *frame in description["models"]:
        if root not in BASES:
            raise Skipped(f"model '{prefix}' has the root joint '{root}'; known are {', '.join(BASES)}")
        parts.append(Part(prefix, Robot.from_urdf(source, base=BASES[root]), placement, frame[0] if frame else None))
    robot = Robot.system(parts, description["name"])
    joints = list(description["joints"][1:])
    if list(robot.joint_names) != joints:
        raise Skipped(f"the joints are {list(robot.joint_names)}, the file expects {joints}")
    return robot.with_bounds(Bounds(robot.space, description["lower"], description["upper"]))


# Constraints: a function by kind, each taking the robot, the description of the constraint and the names of the joints.


def _transformation(robot: Robot, given: dict[str, Any], joints: list[str]) -> Function:
    frame = robot.frame(given["joint2"], given["frame2"], kind=FrameKind.JOINT)
    return Transformation(robot, frame, given["frame1_world"])


def _relative_transformation(robot: Robot, given: dict[str, Any], joints: list[str]) -> Function:
    a = robot.frame(given["joint1"], given["frame1"], kind=FrameKind.JOINT)
    b = robot.frame(given["joint2"], given["frame2"], kind=FrameKind.JOINT)
    return RelativeTransformation(robot, a, b)


def _relative_com(robot: Robot, given: dict[str, Any], joints: list[str]) -> Function:
    frame = robot.frame(given["joint"], kind=FrameKind.JOINT)
    first, last = given.get("com_joints", (1, len(joints) - 1))
    if first == 0 and robot.model.inertias[0].mass > 0.0:
        raise Skipped("the centre of mass counts bodies fixed in the world")
    return RelativeCenterOfMass(robot, frame, given["reference"], joints=joints[max(first, 1) : last + 1])


KINDS: dict[str, Callable[[Robot, dict[str, Any], list[str]], Function]] = {
    "transformation": _transformation,
    "relative_transformation": _relative_transformation,
    "relative_com": _relative_com,
}


# Explicit constraints: built whole, right-hand side included.


def _locked_joint(robot: Robot, given: dict[str, Any], name: str, description: dict[str, Any]) -> Explicit:
    if set(given.get("comparison", ["Equality"])) != {"Equality"}:
        raise Skipped(f"a locked joint with the comparison {given['comparison']} cannot be expressed yet")
    return LockedJoint(robot, given["joint"], given["value"], name=name)


def _explicit_relative_pose(robot: Robot, given: dict[str, Any], name: str, description: dict[str, Any]) -> Explicit:
    a = robot.frame(given["joint1"], given["frame1"], kind=FrameKind.JOINT)
    b = robot.frame(given["joint2"], given["frame2"], kind=FrameKind.JOINT)
    mask, types = _rows(given, 6, name)
    explicit = Explicit.relative_pose(robot, a, b, comparison=types, name=name)
    return explicit if mask.all() else replace(explicit, mask=mask)


def _placement(robot: Robot, given: dict[str, Any], name: str, description: dict[str, Any]) -> Explicit:
    """An object on a floor, on the pair of surfaces that touch in qref, at the place where it is there."""
    floor = robot.frame("universe", given["floor_pose"])
    if given["floor_joint"] != "universe":
        floor = robot.frame(given["floor_joint"], kind=FrameKind.JOINT)
    floors = _surfaces(given["floor_surface"], floor, f"{name} floor")
    objects = _surfaces(given["object_surface"], robot.frame(given["object_joint"], kind=FrameKind.JOINT), name)
    qref = np.array(description["qref"])
    stands = ConvexShapeContact(robot, floors, objects)
    if np.abs(stands.value(qref)).max() > 1e-6:
        raise Skipped(f"{name}: in qref the object does not stand on the floor")
    hold = ConvexShapeContactHold(robot, floors, objects, given.get("margin", MARGIN), stands.pair_at(qref))
    return ExplicitContact(hold, name=name)


def _surfaces(given: list[Any], frame: Frame, name: str) -> list[Surface]:
    """One polygon, or several of them."""
    polygons = [given] if isinstance(given[0][0], int | float) else given
    return [Surface(f"{name} surface {i}", frame, polygon) for i, polygon in enumerate(polygons)]


EXPLICIT_KINDS: dict[str, Callable[[Robot, dict[str, Any], str, dict[str, Any]], Explicit]] = {
    "locked_joint": _locked_joint,
    "explicit_relative_pose": _explicit_relative_pose,
    "explicit_convex_shape_contact": _placement,
}


def _constraint(robot: Robot, given: dict[str, Any], name: str, description: dict[str, Any]) -> Implicit | Explicit:
    kind = given["kind"]
    if kind not in KINDS | EXPLICIT_KINDS:
        raise Skipped(f"constraints of kind '{kind}' cannot be expressed yet")
    if given.get("rhs", "from qref") != "from qref":
        raise Skipped(f"{name}: a right-hand side {given['rhs']!r} is not known")
    if kind in EXPLICIT_KINDS:
        built = EXPLICIT_KINDS[kind](robot, given, name, description)
    else:
        function = KINDS[kind](robot, given, description["joints"])
        mask, types = _rows(given, function.outputs.nv, name)
        built = Implicit(function, types, mask=mask, name=name)
    if "rhs" not in given and kind != "explicit_convex_shape_contact":
        return built
    return replace(built, rhs=built.rhs_at(robot.at(description["qref"])))


def _rows(given: dict[str, Any], size: int, name: str) -> tuple[NDArray[np.bool_], list[Comparison | None]]:
    """Mask and comparison of all rows of a function."""
    mask = np.array(given.get("mask", [1] * size), dtype=np.bool_)
    if mask.size != size:
        raise Skipped(f"{name}: its mask has {mask.size} rows, the function {size}")
    words = given.get("comparison", ["EqualToZero"] * int(mask.sum()))
    if len(words) != int(mask.sum()) or not set(words) <= set(COMPARISONS):
        raise Skipped(f"{name}: the comparison {words} does not suit the {int(mask.sum())} rows that the mask keeps")
    types: list[Comparison | None] = [Comparison.EQUAL_TO_ZERO] * size
    for row, word in zip(np.flatnonzero(mask), words, strict=True):
        types[row] = COMPARISONS[word]
    return mask, types
