"""Which joints of a graph of links make a tree, and which are cut to closures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from liegroups.arguments import as_tuple

from ..errors import UnknownJointError, WrongObjectError

__all__ = ["Branch", "closes_no_loop", "cut_names", "spanning_tree"]

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
    goal, todo = ends[edge][1], [ends[edge][0]]
    seen = set(todo)
    while todo:
        link = todo.pop()
        for i, (a, b) in enumerate(ends):
            other = b if a == link else a if b == link else None
            if i != edge and other is not None and other not in seen:
                seen.add(other)
                todo.append(other)
    return goal not in seen


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
    group = {name: name for name in (world, *links)}

    def root_of(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    kept: set[int] = set()
    for i in sorted(range(len(edges)), key=lambda i: freedoms(edges[i])):
        a, b = (root_of(end) for end in ends(edges[i]))
        if a != b and not held(edges[i]):
            group[b] = a
            kept.add(i)
    beside: dict[str, list[int]] = {name: [] for name in group}
    for i in sorted(kept):
        for end in ends(edges[i]):
            beside[end].append(i)
    branches: list[Branch] = []
    reached = {world}

    def walk(start: str) -> None:
        pending = [(i, start) for i in reversed(beside[start])]
        while pending:
            i, near = pending.pop()
            parent, child = ends(edges[i])
            far = parent if near == child else child
            if far in reached:
                continue
            reached.add(far)
            branches.append(Branch(i, near, far, far == parent))
            pending += [(k, far) for k in reversed(beside[far])]

    walk(world)
    for link in links:
        if link not in reached:
            reached.add(link)
            branches.append(Branch(-1, world, link))
            walk(link)
    return branches, [i for i in range(len(edges)) if i not in kept]
