"""Mechanisms from SDF files: links with two parents are cut to closures, gearboxes and mimics become couplers."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import pi
from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ...errors import OptionError, UnknownNameError
from ...loops import Closure, PointClosure
from ...questions import say
from ...robot import Base, Frame, Robot
from ...robot.files.base import as_base
from ...robot.files.packages import VisualFile, as_folders
from ...robot.files.questions import asked_of_model
from ...robot.files.urdf_graph import SEARCHED, refuse_larger
from ...robot.files.xml import in_file
from ...robot.model.mimic import Mimic
from ...robot.model.pinocchio import pin
from ...robot.placement import pose_vector
from ...rows.explicit import Explicit
from ...rows.explicit_forms import linear_coupling
from ...rows.row_owner import RowOwner
from ..forces.joint_springs import FileForces, Passive
from ..structure.mechanism import ONLY_JOINTS, Mechanism, Unread, couplers_of_mimics, or_unread
from ..structure.tree import JointKind, Tree
from .sdf_document import JOINT_KINDS, SdfJoint, SdfModel, read_sdf
from .spanning import TreeEdge, cut_names, hinge_of_joint, loose, spanning_tree

_log = logging.getLogger(__package__)


def mechanism_from_sdf(
    source: str | os.PathLike[str],
    cut: Sequence[str] = (),
    base: Base | None = None,
    packages: Iterable[str | os.PathLike[str]] = (),
) -> Mechanism:
    """A mechanism from the first model of an SDF file.

    The tree takes the joints of fewest freedoms first, in the order of the file among equals; a joint whose links are
    joined already is cut: a ball joint becomes a point closure, any other one a closure with its hinge, from the
    parent to the child. A part that hangs from nothing is on a free-flyer ("root_joint"), whose coordinates are the
    pose of its main link; the posture "file" has it where the file puts it. All other coordinates are zero in
    the file's poses. A joint that the tree passes from child to parent keeps its coordinate; that of a ball joint is
    inverted. A gearbox is an explicit coupler between the two joints that it relates, a mimic tag one of the joint that
    follows. Springs and dampers of `<dynamics>` are laws, which act where `Mechanism.forces` is given.

    Args:
        source: path, `package://` address, or the XML text itself.
        cut: joints to cut before the rule decides about the others.
        base: `Base.FIXED` puts the root where the file has it; by default the file says (`static`, joints to the
            world), and `Base.FREE_FLYER` makes sure that it says so.
        packages: folders in which packages are looked for.

    Raises:
        FileError: the file is missing or cannot be read whole; the message says why.
        UnknownJointError: a joint to cut that the file does not have.
        OptionError: a base that the file contradicts.
    """
    packages = as_folders(packages)
    sdf = read_sdf(source, packages)
    wanted = cut_names(cut, sdf.joints)
    joints = [joint for joint in sdf.joints.values() if joint.kind != "gearbox"]
    edges, cuts = spanning_tree(tuple(sdf.links), joints, cut=wanted)
    if any(edge.joint is None for edge in edges):  # the part of the main link hangs from it
        first = [sdf.canonical, *(link for link in sdf.links if link != sdf.canonical)]
        edges, _ = spanning_tree(first, [edge.joint for edge in edges if edge.joint is not None])
    _check_base(base, sdf, [b.joint.name for b in edges if b.near == "world" and b.joint is not None])
    freedoms = sum(6 if edge.joint is None else edge.joint.freedoms for edge in edges)
    refuse_larger(sdf.path, freedoms=freedoms)
    places, tree, postures = _tree(sdf, edges, sdf.is_static or base is Base.FIXED)
    if sdf.gravity is not None:
        tree.model.gravity.linear = sdf.gravity
    unread = list(sdf.unread)
    with in_file(sdf.path):
        seen = VisualFile.of(source, "SDF", packages)
        robot = Robot(tree.model, mimics=_mimics(sdf, tree, unread), visuals=[seen])
    say(_log, asked_of_model(tree.model), sdf.path)
    for new, wanted in tree.renamed.items():
        unread.append(Unread(f"name of joint '{wanted}'", f"the name is taken: it is called '{new}' here"))
    q = robot.neutral
    for name, pose in postures.items():
        q[robot.slice_of(name)] = pose
    closures = _closures(robot, cuts, places, sdf, unread)
    couplers = (*_gearboxes(robot, sdf, unread), *couplers_of_mimics(robot, unread))
    cut_joints = tuple(joint.name for joint in cuts)
    names = [str(tree.model.names[places[edge.far][0]]) for edge in edges]
    acting = _forces(robot, edges, names, cuts, closures)
    unread += acting.left_out
    whole = robot.with_references({"file": q})
    return Mechanism(
        whole, closures, couplers, (), {"file": q}, tuple(unread), cut_joints, tuple(acting.laws), loose(cuts, joints)
    )


def _check_base(base: Base | None, sdf: SdfModel, holding: list[str]) -> None:
    """Refuse a base that the file contradicts."""
    if base is None or as_base(base) is Base.FIXED:
        return
    if base is Base.PLANAR:
        raise OptionError("base: an SDF is fixed or free; use Base.PLANAR only for a URDF")
    if sdf.is_static or holding:
        held = "static" if sdf.is_static else "held by '{0}', a joint to the world; cut=['{0}'] frees it"
        raise OptionError(f"base: Base.FREE_FLYER is given, but the model is {held.format(*holding)}")


_Place = tuple[int, Any]
"""Index of a joint, and a placement on it."""


def _tree(
    sdf: SdfModel, edges: list[TreeEdge[SdfJoint]], is_fixed: bool
) -> tuple[dict[str, _Place], Tree, dict[str, Vector]]:
    """The tree, where each link is on it, and the poses of free links in the file."""
    tree = Tree(sdf.name)
    places: dict[str, _Place] = {"world": (0, pin.SE3.Identity())}
    poses: dict[str, Vector] = {}
    roots = sum(edge.joint is None for edge in edges)
    for edge in edges:
        link = sdf.links[edge.far]
        oMl = sdf.placement * link.placement
        (joint, jMn), source = places[edge.near], edge.joint
        if source is None:
            place: _Place = (0, oMl)
            if not is_fixed:
                wanted = "root_joint" if roots == 1 else f"{link.name}_root_joint"
                place = (tree.joint(0, JointKind.FREE, pin.SE3.Identity(), wanted), pin.SE3.Identity())
                poses[str(tree.model.names[place[0]])] = pose_vector(oMl)
        else:
            oMn = pin.SE3.Identity() if edge.near == "world" else sdf.placement * sdf.links[edge.near].placement
            nMj, jMl = oMn.actInv(sdf.placement * source.placement), source.placement.actInv(link.placement)
            if source.kind == "fixed":
                place = (joint, jMn * nMj * jMl)
            else:
                place = (_add_joint(tree, joint, jMn * nMj, source, edge.is_reversed), jMl)
        places[edge.far] = place
        tree.body(*place, link.name, link.mass, link.com, link.inertia)
    for name, (on, oMf) in sdf.frames.items():
        joint, jMl = places[on]
        oMl = sdf.placement.inverse() if on == "world" else sdf.links[on].placement
        tree.frame(joint, jMl * oMl.actInv(oMf), name)
    return places, tree, poses


def _add_joint(tree: Tree, parent: int, placement: Any, source: SdfJoint, is_reversed: bool) -> int:
    """A joint of the tree. From child to parent its motion is the inverse: negative axes, the last one first."""
    axes, limits = source.axes, (source.limits, source.second_limits)
    if is_reversed:
        axes = tuple(-axis for axis in reversed(axes))
        limits = limits[::-1]
    by_dof = limits if source.freedoms == 2 else source.limits
    return tree.joint(parent, JOINT_KINDS[source.kind], placement, source.name, axes[0], source.pitch, by_dof, axes[-1])


def _mimics(sdf: SdfModel, tree: Tree, unread: list[Unread]) -> list[Mimic]:
    """Mimic tags between joints of the tree that have one coordinate each."""
    names, found = set(tree.model.names), list[Mimic]()
    for joint in sdf.joints.values():
        for tag in joint.mimics:
            what = f"mimic tag of joint '{joint.name}'"
            leader = sdf.joints.get(tag.leader)
            if leader is None:
                search = len(unread) < SEARCHED
                names_there = tuple(sdf.joints) if search else ()
                reason = str(UnknownNameError("joint", tag.leader, names_there, search=search))
                unread.append(Unread(what, reason, is_mistake=True))
            elif leader.name == joint.name:
                unread.append(Unread(what, "the joint mimics itself", is_mistake=True))
            elif {joint.name, leader.name} - names:
                unread.append(Unread(what, "one of its joints closes a loop"))
            elif (joint.freedoms, leader.freedoms, tag.axis, tag.leader_axis) != (1, 1, "axis", "axis"):
                unread.append(Unread(what, "only joints of one coordinate can follow each other"))
            else:
                offset = tag.offset - tag.multiplier * tag.reference
                found.append(Mimic(joint.name, leader.name, tag.multiplier, offset))
    return found


def _closures(
    robot: Robot, cuts: list[SdfJoint], places: dict[str, _Place], sdf: SdfModel, unread: list[Unread]
) -> tuple[RowOwner, ...]:
    closures: list[RowOwner] = []
    for joint in cuts:
        frames: list[Frame] = []
        for link in (joint.parent, joint.child):
            on, placement = places[link]
            oMl = sdf.placement.inverse() if link == "world" else sdf.links[link].placement
            lMj = oMl.actInv(joint.placement)
            frames.append(Frame(f"{joint.name}: {link}", on, placement * lMj, str(robot.model.names[on])))
        what = f"joint '{joint.name}', which closes a loop"
        with or_unread(unread, what):
            if joint.kind == "ball":
                closures.append(PointClosure(robot, *frames, name=joint.name))
            else:
                hinge = hinge_of_joint(joint.kind, joint.axes, 2.0 * pi * joint.pitch)
                closures.append(Closure(robot, *frames, hinge=hinge, name=joint.name))
        limits = (joint.limits, joint.second_limits)[: len(joint.axes)] if joint.kind not in ("fixed", "ball") else ()
        if any(np.isfinite([one.lower, one.upper]).any() for one in limits):
            unread.append(Unread(f"bounds of {what}", ONLY_JOINTS))
    return tuple(closures)


def _forces(
    robot: Robot, edges: list[TreeEdge[SdfJoint]], names: list[str], cuts: list[SdfJoint], closures: Sequence[RowOwner]
) -> FileForces:
    """Springs and dampers of joints; those of the tree have their names in the robot in the order of the edges."""
    found = FileForces(robot, {closure.name: closure for closure in closures})
    for edge, name in zip(edges, names, strict=True):
        joint = edge.joint
        if joint is not None and joint.kind != "fixed":
            by_dof = _passive(joint, found)
            found.on_tree(joint.name, name, by_dof[::-1] if edge.is_reversed else by_dof)
    for joint in cuts:
        if joint.kind != "fixed":
            found.on_cut(joint.name, _passive(joint, found))
    return found


def _passive(joint: SdfJoint, found: FileForces) -> list[Passive]:
    """What acts on each coordinate of a joint; a ball joint has no axis for a spring."""
    said = [Passive(one.stiffness, one.damping, one.rest, one.friction) for one in (joint.limits, joint.second_limits)]
    if joint.kind != "ball":
        return said[: joint.freedoms]
    spring, rest = Passive(said[0].stiffness), replace(said[0], stiffness=0.0)
    found.leave_out(joint.name, [spring], "a ball joint has no axis about which it could act")
    return [rest] * joint.freedoms


def _gearboxes(robot: Robot, sdf: SdfModel, unread: list[Unread]) -> tuple[Explicit, ...]:
    r"""Gearboxes as couplers :math:`\theta_2 = -ratio\, \theta_1`, as the specification of SDF says.

    The angles are those of the parent link (1, about `axis`) and of the child link (2, about `axis2`) on the reference
    body.
    """
    couplers: list[Explicit] = []
    own = frozenset(robot.joint_names)
    hinges: dict[tuple[str, str], list[SdfJoint]] = {}
    for joint in sdf.joints.values():
        if joint.kind in ("revolute", "continuous") and joint.name in own:
            hinges.setdefault((joint.parent, joint.child), []).append(joint)
    for gear in sdf.joints.values():
        if gear.kind != "gearbox":
            continue
        found = [
            _angle(hinges, gear, link, axis) for link, axis in zip((gear.parent, gear.child), gear.axes, strict=True)
        ]
        if found[0] is None or found[1] is None:
            reason = f"no revolute joint of the tree about its axis connects '{gear.reference}' to each of its links"
            unread.append(Unread(f"gearbox '{gear.name}'", reason))
            continue
        (first, s1), (second, s2) = found[0], found[1]
        with or_unread(unread, f"gearbox '{gear.name}'"):
            couplers.append(linear_coupling(robot, second, {first: -gear.ratio * s1 / s2}, name=gear.name))
    return tuple(couplers)


def _angle(
    hinges: dict[tuple[str, str], list[SdfJoint]], gear: SdfJoint, link: str, axis: Vector
) -> tuple[str, float] | None:
    """The hinge between the reference body and a link, and its sign about an axis of the gearbox.

    Args:
        hinges: of the tree, by parent and child.
        gear: the gearbox.
        link: of it.
        axis: (3,) of the gearbox, in its frame.
    """
    along = gear.placement.rotation @ axis
    for ends, sign in (((gear.reference, link), 1.0), ((link, gear.reference), -1.0)):
        for joint in hinges.get(ends, ()):
            cosine = float(along @ (joint.placement.rotation @ joint.axes[0]))
            if abs(abs(cosine) - 1.0) <= 1e-6:
                return joint.name, sign * (1.0 if cosine > 0.0 else -1.0)
    return None
