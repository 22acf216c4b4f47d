"""Projection problems in files: `.npz` as described in `problems/README.md`, read into a Problem.

What the library cannot express yet, or a model that is not there, raises `Skipped` with the reason; nothing is guessed.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constraints import (
    Affine,
    Base,
    Bounds,
    Comparison,
    ConstraintError,
    Function,
    Identity,
    Implicit,
    Part,
    Problem,
    RelativeCenterOfMass,
    RelativeTransformation,
    Robot,
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
        levels: dict[int, list[Implicit]] = {}
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


def _locked_joint(robot: Robot, given: dict[str, Any], joints: list[str]) -> Function:
    block = robot.segments(given["joint"])
    if not block.space.is_flat:
        return Identity(robot.space).restricted(block)
    rows = np.eye(robot.nv)[robot.velocity_slice_of(given["joint"])]
    return Affine(rows, inputs=robot.space)


KINDS: dict[str, Callable[[Robot, dict[str, Any], list[str]], Function]] = {
    "transformation": _transformation,
    "relative_transformation": _relative_transformation,
    "relative_com": _relative_com,
    "locked_joint": _locked_joint,
}


def _constraint(robot: Robot, given: dict[str, Any], name: str, description: dict[str, Any]) -> Implicit:
    kind = given["kind"]
    if kind not in KINDS:
        raise Skipped(f"constraints of kind '{kind}' cannot be expressed yet")
    function = KINDS[kind](robot, given, description["joints"])
    mask = np.array(given.get("mask", [1] * function.outputs.nv), dtype=bool)
    if mask.size != function.outputs.nv:
        raise Skipped(f"{name}: its mask has {mask.size} rows, the function {function.outputs.nv}")
    words = given.get("comparison", ["Equality" if kind == "locked_joint" else "EqualToZero"] * int(mask.sum()))
    if len(words) != int(mask.sum()) or not set(words) <= set(COMPARISONS):
        raise Skipped(f"{name}: the comparison {words} does not suit the {int(mask.sum())} rows that the mask keeps")
    types: list[Comparison | None] = [Comparison.EQUAL_TO_ZERO] * mask.size
    for row, word in zip(np.flatnonzero(mask), words, strict=True):
        types[row] = COMPARISONS[word]
    implicit = Implicit(function, types, rhs=_locked_value(given, words), mask=mask, name=name)
    if "rhs" not in given:
        return implicit
    if given["rhs"] != "from qref":
        raise Skipped(f"{name}: a right-hand side {given['rhs']!r} is not known")
    rhs = implicit.rhs_at(robot.at(description["qref"]))
    return Implicit(function, types, rhs=rhs, mask=mask, name=name)


def _locked_value(given: dict[str, Any], words: list[str]) -> Any:
    """Right-hand side of a locked joint, None for the others."""
    if given["kind"] != "locked_joint":
        return None
    if set(words) != {"Equality"}:
        raise Skipped(f"a locked joint with the comparison {words} cannot be expressed yet")
    return given["value"]
