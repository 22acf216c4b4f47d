"""Which joints of a graph of links make a tree, and which are cut to closures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import networkx as nx

from liegroups.arguments import as_tuple

from ..errors import UnknownJointError, WrongObjectError

_Edge = TypeVar("_Edge")


@dataclass(frozen=True)
class Branch:
    """One step away from a root.

    Attributes:
        edge: which joint; -1 for the step from the world to a root that no joint holds.
        near, far: links; the near one was reached before.
        is_reversed: the far link is the parent of the joint.
    """

    edge: int
    near: str
    far: str
    is_reversed: bool = False


def cut_names(cut: Any, joints: Collection[str]) -> tuple[str, ...]:
    """Names of joints to cut, as a user gives them.

    Raises:
        UnknownJointError: a name that no joint has, with those that come closest.
        WrongObjectError: no sequence of names.
    """
    names: tuple[str, ...] = as_tuple(cut, "cut", "joint names")
    for name in names:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError("cut", "a sequence of joint names", name)
        if name not in joints:
            raise UnknownJointError(name, tuple(joints))
    return names


def closes_no_loop(edge: int, ends: Sequence[tuple[str, str]]) -> bool:
    """Whether its two links hang together through no other joint, so that cutting it sets a part free.

    Args:
        edge: index of the joint.
        ends: the two links of each joint.
    """
    others: nx.Graph[str] = nx.Graph(pair for i, pair in enumerate(ends) if i != edge)
    others.add_nodes_from(ends[edge])
    return not nx.has_path(others, *ends[edge])


LOOSE = "closes no loop: it is cut as asked, and what hangs on it is free"
"""What is said of a joint that was cut for nothing."""


def spanning_tree(
    links: Sequence[str],
    edges: Sequence[_Edge],
    ends: Callable[[_Edge], tuple[str, str]],
    freedoms: Callable[[_Edge], int],
    world: str,
    held: Callable[[_Edge], bool],
) -> tuple[list[Branch], list[int]]:
    """Choose a tree: joints of fewest freedoms first, in the given order among equals; what would close a loop is cut.

    So the closures have the fewest rows. Each part that does not hang from the world has its first link for a root.

    Args:
        links: names, in order.
        edges: joints, in order.
        ends: names of the parent and the child of a joint.
        freedoms: how many it has.
        world: name of the world among the ends.
        held: joints that must be cut.

    Returns:
        branches in depth-first order, so that each link is reached before it is left; and the joints that are cut.
    """
    joints: nx.MultiGraph[str] = nx.MultiGraph()
    joints.add_nodes_from((world, *links))
    for i, edge in enumerate(edges):
        if not held(edge):
            joints.add_edge(*ends(edge), i, weight=freedoms(edge) * len(edges) + i)  # no two weigh the same
    kept: list[int] = sorted(i for _, _, i in nx.minimum_spanning_edges(joints, keys=True, data=False))
    tree: nx.Graph[str] = nx.Graph()  # neighbours come in the order in which they were added
    tree.add_nodes_from(joints)
    tree.add_edges_from((*ends(edges[i]), {"edge": i}) for i in kept)
    parts = [part for part in nx.connected_components(tree) if world not in part]
    tree.add_edges_from((world, next(link for link in tree if link in part), {"edge": -1}) for part in parts)
    branches: list[Branch] = []
    for near, far in nx.dfs_edges(tree, world):
        i: int = tree.edges[near, far]["edge"]
        branches.append(Branch(i, near, far, i >= 0 and far == ends(edges[i])[0]))
    cut = set(range(len(edges))).difference(kept)
    return branches, sorted(cut)
