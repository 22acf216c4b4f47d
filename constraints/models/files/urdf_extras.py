"""What a URDF has beside its tree: mimic tags that mean nothing, and what joins bodies or joints in other tongues."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from xml.etree.ElementTree import Element

from ...errors import UnknownNameError
from ...robot.files.urdf_graph import ELEMENTS, SEARCHED, UrdfGraph
from ..structure.mechanism import Unread


def elements_beside(root: Element) -> Iterator[Unread]:
    """Elements of no URDF, springs, joints for Gazebo, mimics for ros2_control."""
    for element in root:
        if element.tag not in ELEMENTS:
            yield Unread(f"<{element.tag} name='{element.get('name', '')}'>", "this element of a URDF is unknown here")
    for joint in (joint for gazebo in root.findall("gazebo") for joint in gazebo.iter("joint")):
        if joint.find("parent") is not None or joint.find("child") is not None:
            reason = "only Gazebo reads it: close the loop in a sidecar (closed_loop), or by a <joint> of the URDF"
            yield Unread(f"joint '{joint.get('name')}' in <gazebo>", reason)
    yield from _springs(root)
    told = {joint.get("name") for joint in root.findall("joint") if joint.find("mimic") is not None}
    for control in root.findall("ros2_control"):
        for joint in control.findall("joint"):
            name = joint.get("name")
            is_mimic = joint.get("mimic") == "true" or any(p.get("name") == "mimic" for p in joint.findall("param"))
            if is_mimic and name not in told:
                reason = "mimics are read only from the <mimic> tag of the joint itself"
                yield Unread(f"mimic of joint '{name}' in <ros2_control>", reason)


def _springs(root: Element) -> Iterator[Unread]:
    """Springs of joints, which other programs read from their own words beside those of a URDF."""
    reason = "a URDF has no word for a spring: give a JointSpring to forces([...]), or use an SDF or MJCF"
    for joint in root.findall("joint"):
        for word in (word for dynamics in joint.findall("dynamics") for word in dynamics.attrib):
            if "stiffness" in word.lower():
                yield Unread(f"{word} of joint '{joint.get('name')}'", reason)
    for gazebo in root.findall("gazebo"):
        if gazebo.find("springStiffness") is not None:
            yield Unread(f"springStiffness of joint '{gazebo.get('reference')}' in <gazebo>", reason)


def wrong_mimics(graph: UrdfGraph) -> dict[str, str]:
    """Why mimic tags mean nothing, by the joint that has them."""
    wrong: dict[str, str] = {}
    for joint in graph.joints.values():
        reason = _what_is_wrong(joint.element, graph, search=len(wrong) < SEARCHED)
        if reason:
            wrong[joint.name] = reason
    return wrong


def mimics_of_nothing(graph: UrdfGraph, wrong: Mapping[str, str]) -> Iterator[Unread]:
    """Mimic tags that couple nothing, with the reason."""
    for joint in graph.joints.values():
        what = f"mimic tag of joint '{joint.name}'"
        if joint.name in wrong:
            yield Unread(what, wrong[joint.name], is_mistake=True)
        elif followed := _followed(joint.element):
            still = next((j.name for j in (joint, graph.joints[followed]) if j.kind == "fixed"), None)
            if still is not None:
                yield Unread(what, f"joint '{still}' is fixed")


def mimics_of_loops(graph: UrdfGraph, wrong: Mapping[str, str], cut: set[str]) -> Iterator[Unread]:
    """Mimic tags between joints of which one was cut."""
    for joint in graph.joints.values():
        followed = _followed(joint.element)
        if followed and {joint.name, followed} & cut and joint.name not in wrong:
            yield Unread(f"mimic tag of joint '{joint.name}'", "one of its joints closes a loop, and is cut")


def _followed(joint: Element) -> str:
    """The joint that a mimic tag follows; empty without one."""
    tag = joint.find("mimic")
    return "" if tag is None else tag.get("joint", "")


def without_mimics(root: Element, wrong: Collection[str]) -> Element:
    """The same URDF without the mimic tags of some joints; the given one where these are none."""
    if not wrong:
        return root
    again = copy.deepcopy(root)
    for joint in again.findall("joint"):
        tag = joint.find("mimic")
        if tag is not None and joint.get("name") in wrong:
            joint.remove(tag)
    return again


def _what_is_wrong(joint: Element, graph: UrdfGraph, *, search: bool) -> str:
    tag = joint.find("mimic")
    if tag is None:
        return ""
    source = tag.get("joint")
    if not source:
        return 'it does not name the joint to follow: expected <mimic joint="..."/>'
    if source == joint.get("name"):
        return "the joint mimics itself"
    if source in graph.joints:
        return ""
    return str(UnknownNameError("joint", source, tuple(graph.joints) if search else (), search=search))
