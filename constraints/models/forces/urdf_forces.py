"""Dampers of a URDF: on joints of the tree, and on closures of the joints that were cut."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ...robot import Robot
from ...robot.files.urdf_graph import UrdfGraph
from ...robot.files.xml import numbers
from ...rows.row_owner import RowOwner
from .joint_springs import FileForces, Passive

_ONE_FREEDOM = ("revolute", "continuous", "prismatic")


def urdf_forces(
    robot: Robot,
    graph: UrdfGraph,
    cut: Collection[str],
    replaced: Collection[str],
    closures: Iterable[RowOwner],
    path: str,
) -> FileForces:
    """Dampers of the `<dynamics>` of all joints.

    Args:
        robot: the tree.
        graph: of the file.
        cut: names of joints that were cut.
        replaced: names of joints whose type the sidecar changes.
        closures: of the mechanism.
        path: how messages call the file.
    """
    found = FileForces(robot, {closure.name: closure for closure in closures})
    kept = set(robot.joint_names)
    for joint in graph.joints.values():
        tag = joint.element.find("dynamics")
        if joint.kind == "fixed" or tag is None:
            continue
        damping, friction = (
            numbers(tag.get(word, "0"), path, f"{word} of joint '{joint.name}'", 1)[0]
            for word in ("damping", "friction")
        )
        said = [Passive(damping=damping, friction=friction)]
        if joint.name in replaced:
            found.leave_out(joint.name, said, "the sidecar replaces the joint by one of another type")
        elif joint.kind not in _ONE_FREEDOM:
            found.leave_out(joint.name, said, f"one number says nothing of the coordinates of a {joint.kind} joint")
        elif joint.name in cut:
            found.on_cut(joint.name, said)
        elif joint.name in kept:
            found.on_tree(joint.name, joint.name, said)
    return found
