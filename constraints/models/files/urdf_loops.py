"""URDF files whose joints make loops: cut to a tree by the rule for SDF; each joint that is cut becomes a closure."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from liegroups.arrays import Vector

from ...errors import FileError
from ...loops import Closure
from ...robot import Frame, Robot
from ...robot.files.urdf_graph import UrdfGraph, UrdfJoint
from ...robot.files.xml import numbers
from ...robot.frame_table import FrameKind
from ...robot.model.pinocchio import pin
from ...rows.row_owner import RowOwner
from ..structure.mechanism import ONLY_JOINTS, Unread, or_unread
from .spanning import cut_names, hinge_of_joint, loose, spanning_tree

_TURNABLE = ("fixed", "revolute", "continuous", "prismatic")
"""Types of joints whose inverse is a joint of the same type, about the negative axis."""


@dataclass(frozen=True, eq=False)
class UrdfTree:
    """A URDF whose joints make a tree.

    Attributes:
        root: the outermost element; the given one where nothing had to be done.
        cuts: joints that were cut, in the order of the file.
        unread: parts that hang from nothing, and are free.
        loose: names of joints that were cut and close no loop.
    """

    root: Element
    cuts: tuple[UrdfJoint, ...] = ()
    unread: tuple[Unread, ...] = ()
    loose: tuple[str, ...] = ()


def cut_to_tree(root: Element, graph: UrdfGraph, path: str, cut: Sequence[str] = ()) -> UrdfTree:
    """Cut the loops of a URDF: joints of fewest freedoms make the tree, in the order of the file among equals.

    What hangs from nothing then is free: a floating joint joins it to the root. A joint that the tree passes from
    child to parent keeps its coordinate.

    Args:
        root: the outermost element.
        graph: of the same.
        path: how messages call the file.
        cut: joints to cut before the rule decides.

    Raises:
        FileError: a joint that would have to be passed from child to parent, and cannot.
        UnknownJointError: a joint to cut that the file does not have.
    """
    wanted = cut_names(cut, graph.joints)
    if not graph.links or (graph.is_tree and not wanted and not graph.faults):
        return UrdfTree(root)
    start = (graph.roots or graph.links)[0]
    links = [start, *(link for link in graph.links if link != start)]
    joints = list(graph.joints.values())
    world = _free("world", {*links})  # a link may be called so, and its root is none
    edges, cuts = spanning_tree(links, joints, world, wanted)
    tree = Element(root.tag, root.attrib)
    twice = {id(element) for element in graph.twice}
    tree.extend(copy.deepcopy(e) for e in root if e.tag != "joint" and id(e) not in twice)
    unread: list[Unread] = []
    taken = {*graph.joints, *graph.links}
    for edge in edges:
        if edge.joint is not None:
            _add(tree, edge.joint, edge.is_reversed, path, taken)
        elif edge.far != start:
            name = _free(f"{edge.far}_root_joint", taken)
            _join(tree, name, "floating", start, edge.far)
            is_lost = not graph.faults and not any(joint.child == edge.far for joint in cuts)
            reason = f"no joint of the tree holds it: it is free, by the joint '{name}'"
            unread.append(Unread(f"link '{edge.far}'", reason, is_mistake=is_lost))
    return UrdfTree(tree, tuple(cuts), tuple(unread), loose(cuts, joints))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _add(tree: Element, joint: UrdfJoint, is_reversed: bool, path: str, taken: set[str]) -> None:
    """Add a joint; one that is passed from child to parent starts at the child, about the negative axis."""
    element = copy.deepcopy(joint.element)
    tree.append(element)
    if not is_reversed:
        return
    if joint.kind not in _TURNABLE:
        reason = f"would be reversed (child as parent), which is impossible for a {joint.kind} joint"
        remedy = "cut another joint of its loop, constraints.models.load(..., cut=[...])"
        raise FileError(path, f"joint '{joint.name}' {reason}: {remedy}")
    inverse = _origin(joint, path).inverse()
    for tag in ("parent", "child", "origin"):
        for found in element.findall(tag):
            element.remove(found)
    SubElement(element, "parent", link=joint.child)
    if joint.kind == "fixed":
        SubElement(element, "child", link=joint.parent)
        _place(element, inverse)
        return
    axis = element.find("axis")
    if axis is None:
        axis = SubElement(element, "axis", xyz="1 0 0")
    axis.set("xyz", " ".join(repr(-x) for x in _axis(joint, path).tolist()))
    between = _free(f"{joint.parent}_at_{joint.name}", taken)
    SubElement(element, "child", link=between)
    SubElement(tree, "link", name=between)
    _place(_join(tree, _free(f"{joint.name}_to_{joint.parent}", taken), "fixed", between, joint.parent), inverse)


def _join(tree: Element, name: str, kind: str, parent: str, child: str) -> Element:
    joint = SubElement(tree, "joint", name=name, type=kind)
    SubElement(joint, "parent", link=parent)
    SubElement(joint, "child", link=child)
    return joint


def _place(joint: Element, placement: Any) -> None:
    xyz, rpy = placement.translation.tolist(), pin.rpy.matrixToRpy(placement.rotation).tolist()
    SubElement(joint, "origin", xyz=" ".join(map(repr, xyz)), rpy=" ".join(map(repr, rpy)))


def _vector(joint: UrdfJoint, tag: str, attribute: str, default: tuple[float, ...], path: str) -> Vector:
    element = joint.element.find(tag)
    text = None if element is None else element.get(attribute)
    what = f"joint '{joint.name}', {attribute} of its {tag}"
    return np.array(default if text is None else numbers(text, path, what, 3))


def _origin(joint: UrdfJoint, path: str) -> Any:
    """Placement of the joint on its parent."""
    rpy = _vector(joint, "origin", "rpy", (0.0, 0.0, 0.0), path)
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy.tolist()), _vector(joint, "origin", "xyz", (0.0, 0.0, 0.0), path))


def _axis(joint: UrdfJoint, path: str) -> Vector:
    """Direction of the axis; that of a URDF is x where the file gives none."""
    axis = _vector(joint, "axis", "xyz", (1.0, 0.0, 0.0), path)
    if not axis.any():
        raise FileError(path, f"joint '{joint.name}': its axis '0 0 0' is not a direction")
    return axis / np.sqrt(axis @ axis)


def closures_of_cuts(robot: Robot, cuts: Sequence[UrdfJoint], path: str, unread: list[Unread]) -> tuple[RowOwner, ...]:
    """The closures that hold what the joints held: from the joint's place on its parent to the child.

    Args:
        robot: made of the tree.
        cuts: joints that were cut.
        path: how messages call the file.
        unread: takes what no closure holds.
    """
    closures: list[RowOwner] = []
    for joint in cuts:
        what = f"joint '{joint.name}', which closes a loop"
        if joint.kind == "floating":
            unread.append(Unread(what, "a floating joint constrains nothing: no closure is needed"))
            continue
        parent, child = (robot.frame(link, kind=FrameKind.BODY) for link in (joint.parent, joint.child))
        name, jMp = f"{joint.name}: {joint.parent}", parent.placement * _origin(joint, path)
        place = Frame(name, parent.joint, jMp, parent.joint_name)
        with or_unread(unread, what):
            axes = [] if joint.kind == "fixed" else [_axis(joint, path)]
            closures.append(Closure(robot, place, child, hinge_of_joint(joint.kind, axes), name=joint.name))
        limit = joint.element.find("limit")
        words = () if limit is None else limit.keys()
        if joint.kind in ("revolute", "prismatic") and ("lower" in words or "upper" in words):
            unread.append(Unread(f"bounds of {what}", ONLY_JOINTS))
    return tuple(closures)
