"""Projection problems in files: `.npz` as described in `problems/README.md`, read into a Problem.

Whatever is not understood in a file raises `Refused` with the reason, a model that is not installed `Skipped`; nothing
is guessed, and no key is passed over.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constraints import (
    Affine,
    Base,
    Bounds,
    CenterOfMass,
    Comparison,
    ConstraintError,
    ConvexShapeContact,
    ConvexShapeContactHold,
    Explicit,
    Frame,
    Function,
    Implicit,
    Options,
    Part,
    Position,
    Problem,
    Robot,
    Stacked,
    Surface,
    Transformation,
    explicit_contact,
    explicit_relative_pose,
    locked_joint,
    rigid_transform,
)
from constraints.robot.files.packages import find_resource
from constraints.robot.frame_table import FrameKind
from liegroups import Rn

BASES = {"anchor": Base.FIXED, "freeflyer": Base.FREE_FLYER, "planar": Base.PLANAR}
COMPARISONS = {
    "Equality": Comparison.EQUALITY,
    "EqualToZero": Comparison.EQUAL_TO_ZERO,
    "Superior": Comparison.SUPERIOR,
    "Inferior": Comparison.INFERIOR,
}

PROBLEMS = Path(__file__).resolve().parent / "problems"
MARGIN = 1e-4
"""How far a placed object ends above the floor where the file does not say [m]: the default of hpp-manipulation."""


FREE = frozenset({"kind", "mask", "comparison", "priority", "rhs"})
KEYS: dict[str, frozenset[str]] = {
    "transformation": FREE | {"joint2", "frame2", "frame1_world"},
    "relative_transformation": FREE | {"joint1", "joint2", "frame1", "frame2"},
    "explicit_relative_pose": FREE | {"joint1", "joint2", "frame1", "frame2"},
    "relative_com": FREE | {"joint", "reference", "com_joints", "com_offset_from_true_at_qref"},
    "locked_joint": FREE | {"joint", "value"},
    "explicit_convex_shape_contact": FREE
    | {"object_joint", "object_surface", "floor_joint", "floor_pose", "floor_surface", "margin"},
}
"""Keys of a constraint by its kind."""
DESCRIPTION = frozenset(
    {
        *("name", "doc", "models", "joints", "nq", "nv", "lower", "upper", "qref", "sampler", "keep", "constraints"),
        *("implicit_dim", "feasible", "starts_solved"),
    }
)
SAMPLERS = {"uniform": {"box", "rot", "keep"}, "near": {"sigma", "keep"}}


class NotRun(Exception):
    """Why a file is not run."""


class Refused(NotRun):
    """What is not understood in a file."""


class Skipped(NotRun):
    """A model that is not installed here."""


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

    @property
    def options(self) -> Options:
        """Threshold and budget as the file states them."""
        return Options(threshold=self.threshold, max_iterations=self.max_iterations)


def read(path: Path) -> ProblemFile:
    """Read a file.

    Raises:
        Refused: it is not there, or not in the format; names the part.
    """
    try:
        with np.load(path) as stored:
            description = json.loads(str(stored["problem"]))
            if not isinstance(description, dict):
                raise ValueError("`problem` is no JSON object")
            file = ProblemFile(
                path,
                str(description["name"]),
                description,
                np.array(stored["q0"], dtype=np.float64),
                float(stored["error_threshold"]),
                int(stored["max_iterations"]),
            )
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise Refused(f"not a problem file: {error}") from None
    _known(description, DESCRIPTION, "the description")
    if file.q0.ndim != 2 or not file.q0.size or file.q0.shape[1] != description.get("nq"):
        raise Refused(f"its starts have the shape {file.q0.shape}, nq is {description.get('nq')}")
    if not file.threshold > 0.0 or file.max_iterations < 0:
        raise Refused(f"error_threshold {file.threshold}, max_iterations {file.max_iterations}")
    sampler = description.get("sampler")
    if not isinstance(sampler, list) or len(sampler) != 2 or sampler[0] not in SAMPLERS:
        raise Refused(f"the sampler {sampler!r} is not known; known are {', '.join(SAMPLERS)}")
    _known(sampler[1], SAMPLERS[sampler[0]], f"the sampler '{sampler[0]}'")
    for joint in [*sampler[1].get("keep", ()), *description.get("keep", ())]:
        if joint not in description.get("joints", ()):
            raise Refused(f"the sampler keeps '{joint}', which is no joint")
    return file


def _known(given: dict[str, Any], keys: Collection[str], what: str) -> None:
    """Refuse keys whose meaning is not known."""
    strange = [key for key in given if key not in keys]
    if strange:
        raise Refused(f"{what} has the key '{strange[0]}', which is not known; known are {', '.join(sorted(keys))}")


def build(file: ProblemFile) -> Problem:
    """The problem of a file, its constraints by level.

    Raises:
        Skipped: a model is not found.
        Refused: a kind, a key, a word that is not known, or something does not fit.
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
        raise Refused(str(error)) from None
    except KeyError as error:
        raise Refused(f"the description has no key {error}") from None
    except (TypeError, ValueError, IndexError) as error:
        raise Refused(f"a value of another kind than expected: {error}") from None


def _robot(description: dict[str, Any]) -> Robot:
    """The system of all models, with the bounds of the file."""
    parts: list[Part] = []
    for model in description["models"]:
        if len(model) not in (4, 5):
            raise Refused(
                f"a model has {len(model)} entries: expected prefix, root joint, URDF, placement, and a frame"
            )
        prefix, root, source, placement, *frame = model
        if root not in BASES:
            raise Refused(f"model '{prefix}' has the root joint '{root}'; known are {', '.join(BASES)}")
        if not source.lstrip().startswith("<"):
            try:
                find_resource(source)
            except ConstraintError as error:
                raise Skipped(f"model '{prefix}': {error}") from None
        parts.append(Part(prefix, Robot.from_urdf(source, base=BASES[root]), placement, frame[0] if frame else None))
    robot = Robot.system(parts, description["name"])
    joints = list(description["joints"][1:])
    if list(robot.joint_names) != joints:
        raise Refused(f"the joints are {list(robot.joint_names)}, the file expects {joints}")
    if (robot.nq, robot.nv) != (description["nq"], description["nv"]):
        raise Refused(
            f"nq and nv are {robot.nq} and {robot.nv}, the file expects {description['nq']} and {description['nv']}"
        )
    return robot.with_bounds(Bounds(robot.space, description["lower"], description["upper"]))


# Constraints: a function by kind, each taking the robot, the description of the constraint and the names of the joints.


def _transformation(robot: Robot, given: dict[str, Any], joints: list[str]) -> Function:
    frame = robot.frame(given["joint2"], given["frame2"], kind=FrameKind.JOINT)
    return Transformation(robot, frame, given["frame1_world"])


def _relative_transformation(robot: Robot, given: dict[str, Any], joints: list[str]) -> Function:
    a = robot.frame(given["joint1"], given["frame1"], kind=FrameKind.JOINT)
    b = robot.frame(given["joint2"], given["frame2"], kind=FrameKind.JOINT)
    return Transformation(robot, b, reference=a)


def _relative_com(robot: Robot, given: dict[str, Any], joints: list[str]) -> Function:
    frame = robot.frame(given["joint"], kind=FrameKind.JOINT)
    first, last = given.get("com_joints", (1, len(joints) - 1))
    if not 0 <= first <= last < len(joints):
        raise Refused(f"com_joints {given['com_joints']} are no range of the {len(joints)} joints")
    counted, fixed = joints[max(first, 1) : last + 1], robot.model.inertias[0]
    if first or fixed.mass == 0.0:
        return CenterOfMass(robot, joints=counted, reference=robot.frame(frame, rigid_transform(given["reference"])))
    ground = robot.frame("universe", [*fixed.lever, 0.0, 0.0, 0.0, 1.0])  # bodies fixed in the world count too
    if not counted:
        return Affine(np.eye(3), -np.array(given["reference"])) @ Position(robot, ground, reference=frame)
    moving = sum(robot.model.inertias[i].mass for i in range(1, last + 1))
    shares = np.array([moving, fixed.mass]) / (moving + fixed.mass)
    parts = Stacked([CenterOfMass(robot, joints=counted, reference=frame), Position(robot, ground, reference=frame)])
    return Affine(np.hstack([share * np.eye(3) for share in shares]), -np.array(given["reference"])) @ parts


KINDS: dict[str, Callable[[Robot, dict[str, Any], list[str]], Function]] = {
    "transformation": _transformation,
    "relative_transformation": _relative_transformation,
    "relative_com": _relative_com,
}


# Explicit constraints: built whole, right-hand side included.


def _locked_joint(robot: Robot, given: dict[str, Any], name: str, description: dict[str, Any]) -> Explicit | Implicit:
    locked = locked_joint(robot, given["joint"], given["value"], name=name)
    mask, types = _rows(given, locked.group.nv, name, "Equality")
    whole = mask.all() and set(types) == {Comparison.EQUALITY}
    if "rhs" in given and not (whole or locked.group.is_flat):  # rows of h - rhs one by one: no group element
        group, value = locked.group, np.array(given["value"], dtype=np.float64)
        rows = Function.from_callable(lambda q: group.difference(value, q), group, Rn(group.nv), name=name)
        return Implicit(rows.on(robot.space, locked.outputs), types, mask=mask, name=name)
    return replace(locked, comparison=types, mask=None if mask.all() else mask)


def _explicit_relative_pose(robot: Robot, given: dict[str, Any], name: str, description: dict[str, Any]) -> Explicit:
    a = robot.frame(given["joint1"], given["frame1"], kind=FrameKind.JOINT)
    b = robot.frame(given["joint2"], given["frame2"], kind=FrameKind.JOINT)
    mask, types = _rows(given, 6, name)
    explicit = explicit_relative_pose(robot, a, b, comparison=types, name=name)
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
        raise Refused(f"{name}: in qref the object does not stand on the floor")
    hold = ConvexShapeContactHold(robot, floors, objects, given.get("margin", MARGIN), stands.pair_at(qref))
    contact = explicit_contact(hold, name=name)
    mask = np.array(given.get("mask", [1] * 8), dtype=np.bool_)
    words = [word for word, counts in zip(CONTACT_WORDS, mask, strict=False) if counts]
    if given.get("comparison", words) != words or [len(set(part.tolist())) for part in (mask[:5], mask[5:])] != [1, 1]:
        raise Refused(
            f"{name}: comparison {given.get('comparison')} and mask {mask.astype(int).tolist()}; known are five rows "
            "EqualToZero and three Equality, the five or the three masked"
        )
    return contact if mask.all() else replace(contact, mask=mask)


CONTACT_WORDS = ["EqualToZero"] * 5 + ["Equality"] * 3


def _surfaces(given: list[Any], frame: Frame, name: str) -> list[Surface]:
    """One polygon, or several of them."""
    polygons = [given] if isinstance(given[0][0], int | float) else given
    return [Surface(f"{name} surface {i}", frame, polygon) for i, polygon in enumerate(polygons)]


EXPLICIT_KINDS: dict[str, Callable[[Robot, dict[str, Any], str, dict[str, Any]], Explicit | Implicit]] = {
    "locked_joint": _locked_joint,
    "explicit_relative_pose": _explicit_relative_pose,
    "explicit_convex_shape_contact": _placement,
}


def _constraint(robot: Robot, given: dict[str, Any], name: str, description: dict[str, Any]) -> Implicit | Explicit:
    kind = given["kind"]
    if kind not in KINDS | EXPLICIT_KINDS:
        raise Refused(f"constraints of kind '{kind}' are not known; known are {', '.join(KEYS)}")
    _known(given, KEYS[kind], name)
    if given.get("rhs", "from qref") != "from qref":
        raise Refused(f"{name}: a right-hand side {given['rhs']!r} is not known")
    if kind in EXPLICIT_KINDS:
        built = EXPLICIT_KINDS[kind](robot, given, name, description)
    else:
        function = KINDS[kind](robot, given, description["joints"])
        mask, types = _rows(given, function.outputs.nv, name)
        built = Implicit(function, types, mask=mask, name=name)
    if "rhs" not in given and kind != "explicit_convex_shape_contact":
        return built
    return replace(built, rhs=built.rhs_at(robot.at(description["qref"])))


def _rows(
    given: dict[str, Any], size: int, name: str, default: str = "EqualToZero"
) -> tuple[NDArray[np.bool_], list[Comparison | None]]:
    """Mask and comparison of all rows of a function."""
    mask = np.array(given.get("mask", [1] * size), dtype=np.bool_)
    if mask.size != size:
        raise Refused(f"{name}: its mask has {mask.size} rows, the function {size}")
    words = given.get("comparison", [default] * int(mask.sum()))
    if len(words) != int(mask.sum()) or not set(words) <= set(COMPARISONS):
        raise Refused(f"{name}: the comparison {words} does not suit the {int(mask.sum())} rows that the mask keeps")
    types: list[Comparison | None] = [Comparison.EQUAL_TO_ZERO] * size
    for row, word in zip(np.flatnonzero(mask), words, strict=True):
        types[row] = COMPARISONS[word]
    return mask, types
