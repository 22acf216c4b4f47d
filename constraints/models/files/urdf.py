"""Mechanisms from URDF files with a loop sidecar."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ConstraintError, UnknownJointError, UnknownNameError
from ...loops import Closure, PointClosure
from ...robot import Base, Robot
from ...robot.files.packages import VisualFile
from ...robot.files.urdf import urdf_model
from ...robot.files.urdf_graph import SEARCHED, misspelt, urdf_graph
from ...robot.files.xml import in_file, read_xml
from ...robot.frame_table import AmbiguousFrameError
from ...robot.model.joints import AXES, copied_joint
from ...robot.model.pinocchio import Model, pin
from ...rows.row_owner import RowOwner
from ..forces.urdf_forces import urdf_forces
from ..structure.mechanism import Mechanism, Unread, couplers_of_mimics, or_unread
from .sidecar import Sidecar, read_sidecar, sidecar_beside
from .urdf_extras import elements_beside, mimics_of_loops, mimics_of_nothing, without_mimics, wrong_mimics
from .urdf_loops import closures_of_cuts, cut_to_tree

_UNIVERSAL = {f"UJOINT_{a}{b}": (a, b) for a in AXES for b in AXES if a != b}
JOINT_TYPES = ("SPHERICAL", "FIXED", *_UNIVERSAL)
"""What a sidecar may replace a joint by."""
LOOP_TYPES = ("3d", "6d")


def mechanism_from_urdf(
    source: str | os.PathLike[str],
    loops: str | os.PathLike[str] | None = None,
    base: Base = Base.FIXED,
    packages: Iterable[str | os.PathLike[str]] = (),
    cut: Sequence[str] = (),
) -> Mechanism:
    """A mechanism from a URDF and its loop sidecar.

    A pair of frames (a, b) of type 6d is a locked closure from a to b, one of type 3d a point closure. Joints are
    replaced as the sidecar says: SPHERICAL, UJOINT_XY (rotation about x, then y; any two axes), FIXED (at its zero). A
    `mimic` tag is an explicit coupler. A link with several parents closes a loop in the URDF itself: the rule for SDF
    (`mechanism_from_sdf`) says which joint is cut, and becomes a closure. Damping is a law (`Mechanism.forces`).
    Names that the file does not have go to `unread` as mistakes, with those that come closest.

    Args:
        source: path, `package://` address, or the XML text itself.
        loops: path of the sidecar; by default the YAML file of the same stem beside the URDF, if it has closed loops.
        base: how the root is attached to the world.
        packages: folders in which packages are looked for.
        cut: joints to cut before the rule decides about the others.

    Raises:
        FileError: a file is missing or cannot be read whole; the message says why.
        UnknownJointError: a joint to cut that the file does not have.
        MissingExtraError: pyyaml is not installed.
    """
    packages = tuple(packages)
    root, path = read_xml(source, "robot", "URDF", packages)
    graph = urdf_graph(root, path)
    unread = [Unread(fault.what, fault.reason, is_mistake=True) for fault in (*graph.faults, *misspelt(root))]
    unread += elements_beside(root)
    wrong = wrong_mimics(graph)
    unread += mimics_of_nothing(graph, wrong)
    tree = cut_to_tree(root, graph, path, cut)
    unread += tree.unread
    model, mimics = urdf_model(without_mimics(tree.root, wrong), path, base)
    beside = None if loops is not None or path.endswith(" text") else sidecar_beside(Path(path))
    sidecar = beside or (Sidecar() if loops is None else read_sidecar(loops))
    unread += sidecar.unread
    with in_file(path):
        model = _with_replaced_joints(model, sidecar, unread)
        names = set(model.names)
        kept = [m for m in mimics if m.joint in names and m.source in names]
        robot = Robot(model, mimics=kept, visuals=[VisualFile.of(source, "URDF", packages)])
    unread += mimics_of_loops(graph, wrong, {joint.name for joint in tree.cuts})
    gone = [m for m in mimics if m not in robot.mimics]
    unread += [Unread(f"mimic tag of joint '{m.joint}'", "one of its joints is fixed by the sidecar") for m in gone]
    motors = _motors(robot, sidecar, unread)
    closures = (*closures_of_cuts(robot, tree.cuts, path, unread), *_closures(robot, sidecar, unread))
    couplers = couplers_of_mimics(robot, unread)
    cut_joints = tuple(joint.name for joint in tree.cuts)
    replaced = {joint for joint, _ in sidecar.replaced}
    acting = urdf_forces(robot, graph, cut_joints, replaced, closures, path)
    unread += acting.left_out
    return Mechanism(robot, closures, couplers, motors, {}, tuple(unread), cut_joints, tuple(acting.laws), tree.loose)


def _closures(robot: Robot, sidecar: Sidecar, unread: list[Unread]) -> tuple[RowOwner, ...]:
    closures: list[RowOwner] = []
    seen: set[frozenset[str]] = set()
    known = frozenset(robot.frame_names)
    for a, b, kind in sidecar.loops:
        with or_unread(unread, f"closed loop ('{a}', '{b}') of {sidecar.path}", is_mistake=True):
            if kind.lower() not in LOOP_TYPES:
                raise UnknownNameError("type of loop", kind, LOOP_TYPES)
            if a == b:
                raise ConstraintError("a loop from a frame to itself constrains nothing: give two frames")
            if frozenset((a, b)) in seen:
                raise ConstraintError("this pair of frames is given twice")
            if len(unread) > SEARCHED and (missing := {a, b} - known - {"world"}):
                raise UnknownNameError("frame", min(missing), (), search=False)
            make = Closure if kind.lower() == "6d" else PointClosure
            try:
                closures.append(make(robot, robot.frame(a), robot.frame(b), name=f"{a} to {b}"))
            except AmbiguousFrameError as error:
                kinds = ", ".join(kind.value for kind in error.kinds)
                reason = f"'{error.name}' is the name of several elements ({kinds}) at different places: rename one"
                raise ConstraintError(reason) from error
            seen.add(frozenset((a, b)))
    return tuple(closures)


def _motors(robot: Robot, sidecar: Sidecar, unread: list[Unread]) -> tuple[str, ...]:
    motors: dict[str, None] = {}
    replaced = {joint: kind for joint, kind in sidecar.replaced}
    joints = frozenset(robot.joint_names)
    for motor in sidecar.motors:
        with or_unread(unread, f"motor '{motor}' of {sidecar.path}", is_mistake=True):
            if motor in motors:
                raise ConstraintError("this motor is given twice")
            if motor not in joints and replaced.get(motor, "").upper() == "FIXED":
                raise ConstraintError("the joint is fixed by the sidecar (joint_type), so no motor can drive it")
            if len(unread) > SEARCHED and motor not in joints:
                raise UnknownNameError("joint", motor, (), search=False)
            robot.joint_index(motor)
            motors[motor] = None
    return tuple(motors)


def _with_replaced_joints(model: Model, sidecar: Sidecar, unread: list[Unread]) -> Model:
    """The model with joints of other types, as the sidecar says."""
    names = {str(name): i for i, name in enumerate(model.names) if i}
    fixed: list[int] = []
    other: dict[str, Any] = {}
    seen: set[str] = set()
    for joint, kind in sidecar.replaced:
        with or_unread(unread, f"replacement of joint '{joint}' by {kind} of {sidecar.path}", is_mistake=True):
            if joint not in names:
                if len(unread) > SEARCHED:
                    raise UnknownNameError("joint", joint, (), search=False)
                raise UnknownJointError(joint, tuple(names))
            if joint in seen:
                raise ConstraintError("this joint is given twice, and only the first type is used")
            seen.add(joint)
            word = kind.upper()
            if word == "FIXED":
                fixed.append(names[joint])
            elif word == "SPHERICAL":
                other[joint] = pin.JointModelSpherical()
            elif word in _UNIVERSAL:
                first, second = (np.array(AXES[letter]) for letter in _UNIVERSAL[word])
                other[joint] = pin.JointModelUniversal(first, second)
            else:
                raise UnknownNameError("type of joint", kind, JOINT_TYPES)
    if fixed:
        model = pin.buildReducedModel(model, sorted(set(fixed)), pin.neutral(model))
    return _rebuilt(model, other) if other else model


def _rebuilt(model: Any, other: dict[str, Any]) -> Model:
    """The same tree, some joints of another type; these have no bounds."""
    new: Any = pin.Model()
    new.name, new.gravity = model.name, model.gravity
    for j in range(1, model.njoints):
        copied_joint(model, j, new, model.parents[j], model.jointPlacements[j], other.get(str(model.names[j])))
    for frame in list(model.frames)[1:]:
        new.addFrame(frame, False)  # the inertias of the frames are in those of their joints already
    return new
