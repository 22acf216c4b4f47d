"""Mechanisms from URDF files with a loop sidecar."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..dynamics import Closure, PointClosure
from ..errors import ConstraintError, FileError, UnknownJointError, UnknownNameError
from ..robot import Base, Robot
from ..robot.loading import read_urdf
from ..robot.markup import read_xml
from ..robot.pinocchio import Model, pin
from ..stack import RowOwner
from .mechanism import Mechanism, Unread, couplers_of_mimics
from .sidecar import Sidecar, read_sidecar, sidecar_beside

__all__ = ["mechanism_from_urdf"]

_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_UNIVERSAL = {f"UJOINT_{a}{b}": (a, b) for a in _AXES for b in _AXES if a != b}
JOINT_TYPES = ("SPHERICAL", "FIXED", *_UNIVERSAL)
"""What a sidecar may replace a joint by."""
LOOP_TYPES = ("3d", "6d")
KNOWN = {"link", "joint", "material", "transmission", "gazebo", "ros2_control"}
"""Elements of a URDF that hold the tree, or nothing that a mechanism has."""


def mechanism_from_urdf(
    source: str | os.PathLike[str],
    loops: str | os.PathLike[str] | None = None,
    base: Base = Base.FIXED,
    packages: Iterable[str | os.PathLike[str]] = (),
) -> Mechanism:
    """A mechanism from a URDF and its loop sidecar.

    A pair of frames (a, b) of type 6d is a locked closure from a to b, one of type 3d a point closure. Joints are
    replaced as the sidecar says: SPHERICAL, UJOINT_XY (rotation about x, then y; any two axes), FIXED (at its zero). A
    `mimic` tag is an explicit coupler. Names that the file does not have go to `unread`, with those that come closest.

    Args:
        source: path, `package://` address, or the XML text itself.
        loops: path of the sidecar; by default the YAML file of the same stem beside the URDF, if it has closed loops.
        base: how the root is attached to the world.
        packages: folders in which packages are looked for.

    Raises:
        FileError: a file is missing or cannot be read whole; the message says why.
        MissingExtraError: pyyaml is not installed.
    """
    packages = tuple(packages)
    model, mimics = read_urdf(source, packages, base)
    root, path = read_xml(source, "robot", "URDF", packages, again=True)
    unread = [
        Unread(f"<{element.tag} name='{element.get('name', '')}'>", "no element of a URDF that is known here")
        for element in root
        if isinstance(element.tag, str) and element.tag not in KNOWN  # pyright: ignore[reportUnnecessaryIsInstance]
    ]
    if loops is None and not path.endswith(" text"):
        loops = sidecar_beside(Path(path))
    sidecar = Sidecar() if loops is None else read_sidecar(loops)
    unread += sidecar.unread
    try:
        model = _with_replaced_joints(model, sidecar, unread)
        names = set(model.names)
        robot = Robot(model, mimics=[m for m in mimics if m.joint in names and m.source in names])
    except FileError:
        raise
    except ConstraintError as error:
        raise FileError(path, str(error)) from error
    gone = [m for m in mimics if m not in robot.mimics]
    unread += [Unread(f"mimic tag of joint '{m.joint}'", "one of its joints is fixed by the sidecar") for m in gone]
    motors = _motors(robot, sidecar, unread)
    return Mechanism(
        robot, _closures(robot, sidecar, unread), couplers_of_mimics(robot, unread), motors, {}, tuple(unread)
    )


def _closures(robot: Robot, sidecar: Sidecar, unread: list[Unread]) -> tuple[RowOwner, ...]:
    closures: list[RowOwner] = []
    for a, b, kind in sidecar.loops:
        what = f"closed loop ('{a}', '{b}')"
        if kind.lower() not in LOOP_TYPES:
            unread.append(Unread(what, str(UnknownNameError("type of loop", kind, LOOP_TYPES))))
            continue
        make = Closure if kind.lower() == "6d" else PointClosure
        try:
            closures.append(make(robot, robot.frame(a), robot.frame(b), name=f"{a} to {b}"))
        except ConstraintError as error:
            unread.append(Unread(what, str(error)))
    return tuple(closures)


def _motors(robot: Robot, sidecar: Sidecar, unread: list[Unread]) -> tuple[str, ...]:
    motors: dict[str, None] = {}
    for motor in sidecar.motors:
        if motor in robot.joint_names:
            motors[motor] = None
        else:
            unread.append(Unread(f"motor '{motor}'", str(UnknownJointError(motor, robot.joint_names))))
    return tuple(motors)


def _with_replaced_joints(model: Model, sidecar: Sidecar, unread: list[Unread]) -> Model:
    """The model with joints of other types, as the sidecar says."""
    names = tuple(str(name) for name in model.names)[1:]
    fixed: list[int] = []
    other: dict[str, Any] = {}
    for joint, kind in sidecar.replaced:
        what, word = f"replacement of joint '{joint}' by {kind}", kind.upper()
        if joint not in names:
            unread.append(Unread(what, str(UnknownJointError(joint, names))))
        elif word == "FIXED":
            fixed.append(names.index(joint) + 1)
        elif word == "SPHERICAL":
            other[joint] = pin.JointModelSpherical()
        elif word in _UNIVERSAL:
            first, second = (np.array(_AXES[letter]) for letter in _UNIVERSAL[word])
            other[joint] = pin.JointModelUniversal(first, second)
        else:
            unread.append(Unread(what, str(UnknownNameError("type of joint", kind, JOINT_TYPES))))
    if fixed:
        model = pin.buildReducedModel(model, sorted(set(fixed)), pin.neutral(model))
    return _rebuilt(model, other) if other else model


_LIMITS_OF_Q = ("lowerPositionLimit", "upperPositionLimit")
_LIMITS_OF_V = (
    "lowerVelocityLimit",
    "upperVelocityLimit",
    "lowerEffortLimit",
    "upperEffortLimit",
    "lowerDryFrictionLimit",
    "upperDryFrictionLimit",
    "damping",
    "armature",
)


def _rebuilt(model: Any, other: dict[str, Any]) -> Model:
    """The same tree, some joints of another type; these have no bounds."""
    new: Any = pin.Model()
    new.name, new.gravity = model.name, model.gravity
    for j in range(1, model.njoints):
        name, old = str(model.names[j]), model.joints[j]
        new.addJoint(model.parents[j], other.get(name, old), model.jointPlacements[j], name)
        new.appendBodyToJoint(j, model.inertias[j], pin.SE3.Identity())
        if name in other:
            continue
        joint = new.joints[j]
        for attribute in _LIMITS_OF_Q:
            there = getattr(model, attribute)[old.idx_q : old.idx_q + old.nq]
            getattr(new, attribute)[joint.idx_q : joint.idx_q + joint.nq] = there
        for attribute in _LIMITS_OF_V:
            there = getattr(model, attribute)[old.idx_v : old.idx_v + old.nv]
            getattr(new, attribute)[joint.idx_v : joint.idx_v + joint.nv] = there
    for frame in list(model.frames)[1:]:
        new.addFrame(frame, False)  # the inertias of the frames are in those of their joints already
    return new
