"""Which joints of a graph of links make a tree, and which are cut: the hinges they leave, and their closures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import networkx as nx

from liegroups.arguments import as_name, as_tuple
from liegroups.arrays import Vector

from ...errors import UnknownJointError
from ...loops import Hinge
from ...robot.files.urdf_graph import UrdfJoint
from .sdf_document import SdfJoint

_Joint = TypeVar("_Joint", SdfJoint, UrdfJoint)


class TreeEdge(NamedTuple, Generic[_Joint]):
    """One step away from a root.

    Attributes:
        joint: by which; None for the step from the world to a root that no joint holds.
        near, far: links; the near one was reached before.
        is_reversed: the far link is the parent of the joint.
    """

    joint: _Joint | None
    near: str
    far: str
    is_reversed: bool


def cut_names(cut: Iterable[str], joints: Collection[str]) -> tuple[str, ...]:
    """Names of joints to cut, as a user gives them.

    Raises:
        UnknownJointError: a name that no joint has, with those that come closest.
        WrongObjectError: no sequence of names.
    """
    names = as_tuple(cut, "cut", "joint names", ordered=False)
    for name in names:
        if as_name(name, "joint to cut") not in joints:
            raise UnknownJointError(name, tuple(joints))
    return names


def spanning_tree(
    links: Sequence[str], joints: Sequence[_Joint], world: str = "world", cut: Collection[str] = ()
) -> tuple[list[TreeEdge[_Joint]], list[_Joint]]:
    """Choose a tree: joints of fewest freedoms first, in the order they have among equals; the rest is cut.

    So the closures have the fewest rows. Each part that does not hang from the world has its first link for a root.

    Args:
        links: names, in order.
        joints: in order.
        world: name of the world among the links that they join.
        cut: names of joints that must be cut.

    Returns:
        edges in depth-first order, so that each link is reached before it is left; and the joints that are cut.
    """
    graph: nx.MultiGraph[str] = nx.MultiGraph()
    graph.add_nodes_from((world, *links))
    for i, joint in enumerate(joints):
        if joint.name not in cut:
            graph.add_edge(joint.parent, joint.child, i, weight=joint.freedoms * len(joints) + i)  # none weigh the same
    kept: dict[int, None] = dict.fromkeys(
        sorted(i for _, _, i in nx.minimum_spanning_edges(graph, keys=True, data=False))
    )
    tree: nx.Graph[str] = nx.Graph()  # neighbours come in the order in which they were added
    tree.add_nodes_from(graph)
    tree.add_edges_from((joints[i].parent, joints[i].child, {"joint": joints[i]}) for i in kept)
    reached: set[str] = {*nx.node_connected_component(tree, world)}
    firsts: list[str] = []
    for link in tree:
        if link not in reached:
            reached |= nx.node_connected_component(tree, link)
            firsts.append(link)
    tree.add_edges_from((world, link, {"joint": None}) for link in firsts)
    edges: list[TreeEdge[_Joint]] = []
    for near, far in nx.dfs_edges(tree, world):
        by: _Joint | None = tree.edges[near, far]["joint"]
        edges.append(TreeEdge(by, near, far, by is not None and far == by.parent))
    return edges, [joint for i, joint in enumerate(joints) if i not in kept]


def loose(cuts: Sequence[_Joint], joints: Sequence[_Joint]) -> tuple[str, ...]:
    """Names of the joints that were cut and close no loop: no other joints hold their two links together."""
    if not cuts:
        return ()
    ends = Counter(frozenset((joint.parent, joint.child)) for joint in joints)
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from((joint.parent, joint.child) for joint in joints if joint.parent != joint.child)
    bridges = {frozenset(pair) for pair in nx.bridges(graph)}
    alone = {pair for pair, count in ends.items() if count == 1 and pair in bridges}
    return tuple(cut.name for cut in cuts if frozenset((cut.parent, cut.child)) in alone)


_HINGES: dict[str, Callable[..., Hinge]] = {
    "prismatic": Hinge.slider, "planar": Hinge.planar, "universal": Hinge.universal, "revolute2": Hinge.universal,
}  # fmt: skip


SQUARE = 1e-9
"""Cosine of two axes up to which they are at a right angle, as `Hinge.universal` needs them."""


def hinge_of_joint(kind: str, axes: Sequence[Vector], pitch: float = 0.0) -> Hinge:
    """The hinge of a joint of URDF or SDF; one of a kind that is not told apart here is a pin, a screw of pitch 0 too.

    Args:
        kind: its type, as written.
        axes: unit directions (3,), in the frame of the joint; two of a universal one.
        pitch: of a screw, advance a turn [m].
    """
    if kind == "fixed":
        return Hinge.locked()
    if kind == "screw" and pitch:
        return Hinge.helical(axes[0], pitch)
    make = _HINGES.get(kind, Hinge.pin)
    if make == Hinge.universal and abs(axes[0] @ axes[1]) > SQUARE:
        return Hinge.custom([Hinge.pin(axis) for axis in axes])
    return make(*axes)
