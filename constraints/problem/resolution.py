"""The order in which explicit constraints are resolved, and why some cannot be."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from liegroups import Space
from liegroups.arguments import expect
from liegroups.arrays import BoolVector, Matrix, Vector
from liegroups.frozen import read_only

from ..point import Point
from ..rows.explicit import Explicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack

_nx: Any = nx  # for the calls whose stubs leave types open
_log = logging.getLogger(__package__)


class Refusal(NamedTuple):
    """An explicit constraint that became implicit.

    Attributes:
        constraint: which.
        reason: why, with the dofs and the constraints in the way.
    """

    constraint: Explicit
    reason: str


class Dependency(NamedTuple):
    """An explicit constraint and the dofs around it, by joint.

    Attributes:
        name: of the constraint.
        reads, writes: joints, "joint[0]" for a coordinate of one that is not used whole.
        generation: in which it is resolved; None where it became implicit.
        reason: why it became implicit; empty where it did not.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    generation: int | None
    reason: str


@dataclass(frozen=True, eq=False)
class Resolution:
    """How explicit constraints are resolved.

    Attributes:
        generations: constraints by generation; those of one depend on none of it nor of later ones.
        refused: constraints that became implicit, with the reason.
        outputs: (nv,) true for the columns that are computed.
    """

    generations: tuple[tuple[Explicit, ...], ...]
    refused: tuple[Refusal, ...]
    outputs: BoolVector
    _graph: Any = field(repr=False)

    @property
    def explicits(self) -> tuple[Explicit, ...]:
        """The constraints that are resolved explicitly, in resolution order."""
        return tuple(e for generation in self.generations for e in generation)

    def edges(self) -> tuple[tuple[Explicit, Explicit], ...]:
        """Pairs (first, second) where an output of the first is an input of the second."""
        nodes = self._graph.nodes
        return tuple((nodes[a]["constraint"], nodes[b]["constraint"]) for a, b in self._graph.edges)

    def dependencies(self, space: Space) -> tuple[Dependency, ...]:
        """All explicit constraints with the joints that they read and compute: those resolved first, in order."""
        resolved = [(e, i, "") for i, generation in enumerate(self.generations) for e in generation]
        everything = [*resolved, *((e, None, reason) for e, reason in self.refused)]
        used = [set(columns) for e, _, _ in everything for columns in _reads_and_writes(e)]
        names, prefixed = list[str](), [leaf.name for leaf in space.leaves()]  # names of each column
        short = [name.split(".", 1)[-1] for name in prefixed]
        for leaf, label in zip(space.leaves(), short if len(set(short)) == len(short) else prefixed, strict=True):
            columns = set(range(leaf.v.start, leaf.v.stop))
            whole = not leaf.space.is_flat or all(columns <= block or columns.isdisjoint(block) for block in used)
            names += [label if whole else f"{label}[{i - leaf.v.start}]" for i in sorted(columns)]
        found: list[Dependency] = []
        for e, generation, reason in everything:
            reads, writes = (tuple(dict.fromkeys(names[i] for i in columns)) for columns in _reads_and_writes(e))
            found.append(Dependency(e.name, reads, writes, generation, reason))
        return tuple(found)

    def derivative(self, point: Point, rhs: RightHandSide, free: BoolVector) -> Matrix:
        """Derivative (nv, nv) of the configuration by its free dofs, by the chain rule in resolution order.

        Args:
            point: a point at which the constraints are resolved.
            rhs: right-hand sides of the problem.
            free: (nv,) true for the dofs that are neither computed nor frozen.
        """
        expect(point, Point, "point of a resolution", "a point (problem.at)")
        nv = free.size
        T = np.diag(free.astype(np.float64))
        for explicit in self.explicits:
            f = rhs.map_of(explicit, point.workspace)
            value, J = np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, nv))
            f.evaluate(point, value, J)
            T[explicit.outputs.v_indices] = J @ T
        return T

    def resolved(self, q: Vector, rhs: RightHandSide) -> Vector:
        """The configuration with all computed outputs written; a copy.

        Args:
            q: configuration (nq,) whose outputs may be anything.
            rhs: right-hand sides of the problem.

        Raises:
            UndefinedError: a map has no value there.
        """
        q = q.copy()
        for explicit in self.explicits:
            q[explicit.outputs.q_indices] = rhs.map_of(explicit).value(q)
        return q

    @property
    def has_branches(self) -> bool:
        """Whether some twin has other branches, so that errors of the rows do not tell what is satisfied."""
        return any(explicit.has_branches for explicit in self.explicits)

    def branch_error(self, point: Point, rhs: RightHandSide, of: RowOwner | None = None) -> float:
        """Largest `Explicit.branch_error` of the constraints that are resolved, or of one: zero on their branches.

        Args:
            of: only of this constraint.
        """
        asked = [e for e in self.explicits if e.has_branches and of in (None, e)]
        return max([e.branch_error(point, rhs.of(e)) for e in asked], default=0.0)

    def moved(self, read: BoolVector, frozen: BoolVector) -> BoolVector:
        """The dofs (nv,) that change when rows that read some dofs are solved, directly or through computed dofs.

        Args:
            read: (nv,) true for the columns that the rows depend on.
            frozen: (nv,) true for the columns that must not move.
        """
        moved = read & ~frozen
        for explicit in reversed(self.explicits):
            if moved[explicit.outputs.v_indices].any():
                moved |= explicit.map.columns & ~frozen
        for explicit in self.explicits:
            moved[explicit.outputs.v_indices] = (moved & explicit.map.columns).any()
        return moved


def order(space: Space, explicits: Sequence[Explicit], frozen: BoolVector | None = None) -> Resolution:
    """Order explicit constraints by their dependencies; what cannot be explicit is refused, with the reason.

    Constraints are taken in the given order: of two that compute one dof the first stays explicit.

    Args:
        space: the whole space.
        explicits: constraints bound to it.
        frozen: (nv,) true for columns that must not move, and so cannot be computed.
    """
    held = np.zeros(space.nv, dtype=np.bool_) if frozen is None else frozen
    graph: nx.DiGraph[int] = nx.DiGraph()
    computed: dict[int, int] = {}
    refused: list[Refusal] = []
    for i, explicit in enumerate(explicits):
        reason = (
            explicit.refusal()
            or _frozen(space, held, explicit)
            or _taken(space, explicits, computed, explicit)
            or _cycle(space, graph, explicit, i)
        )
        if reason is not None:
            refused.append(Refusal(explicit, reason))
            _log.info("explicit constraint '%s' becomes implicit: %s", explicit.name, reason)
            continue
        computed |= dict.fromkeys(explicit.outputs.v, i)
    layers: Iterable[set[int]] = _nx.topological_generations(graph)
    generations = tuple(tuple(explicits[i] for i in sorted(layer)) for layer in layers)
    outputs = np.zeros(space.nv, dtype=np.bool_)
    outputs[list(computed)] = True
    return Resolution(generations, tuple(refused), read_only(outputs), graph)


def left_to_steps(
    levels: Sequence[Sequence[RowOwner]], resolution: Resolution, optional_last: bool = False
) -> tuple[Stack, ...]:
    """One Stack a level, of implicit constraints and of explicit ones that became implicit.

    Args:
        levels: the constraints, explicit ones among them.
        resolution: of these.
        optional_last: the last of several levels stays the last one, with all that is in it: what else became
            implicit below it goes before it.
    """
    resolved = {id(explicit) for explicit in resolution.explicits}
    deepest = max((r.constraint.level for r in resolution.refused), default=0)
    left: list[list[RowOwner]] = [[] for _ in range(max(len(levels), deepest + 1, 1))]
    optional = len(levels) - 1 if optional_last else -1
    for i, level in enumerate(levels):
        for owner in level:
            if id(owner) not in resolved:
                lowest = owner.level if isinstance(owner, Explicit) and i != optional else i
                left[max(i, lowest)].append(owner)
    if optional_last:
        left.append(left.pop(optional))
    return tuple(Stack(level) for level in left)


def dof_names(space: Space, columns: Sequence[int]) -> str:
    """Tangent columns in words: the joints they belong to, with the row of the joint where it has several."""
    words: list[str] = []
    for factor in space.leaves():
        inside = [i for i in columns if factor.v.start <= i < factor.v.stop]
        if not inside:
            continue
        whole = len(inside) == factor.space.nv
        words.append(factor.name if whole else f"{factor.name}{[i - factor.v.start for i in inside]}")
    return ", ".join(words)


def _reads_and_writes(explicit: Explicit) -> tuple[list[int], list[int]]:
    """Columns that a constraint reads, and columns that it computes."""
    return np.flatnonzero(explicit.map.columns).tolist(), sorted(explicit.outputs.v)


def _frozen(space: Space, held: BoolVector, explicit: Explicit) -> str | None:
    """Whether an output must not move."""
    shared = [v for v in explicit.outputs.v if held[v]]
    return f"its output {dof_names(space, shared)} is frozen" if shared else None


def _taken(space: Space, explicits: Sequence[Explicit], computed: dict[int, int], explicit: Explicit) -> str | None:
    """Whether another constraint computes its outputs."""
    shared = [v for v in explicit.outputs.v if v in computed]
    if not shared:
        return None
    others = ", ".join(f"{explicits[i].name!r}" for i in dict.fromkeys(computed[v] for v in shared))
    return f"its output {dof_names(space, shared)} is already computed by {others}"


def _cycle(space: Space, graph: Any, explicit: Explicit, i: int) -> str | None:
    """Add the constraint to the graph, unless it closes a cycle."""
    reads = set(np.flatnonzero(explicit.map.columns).tolist())
    graph.add_node(i, constraint=explicit, reads=reads, writes=set(explicit.outputs.v))
    for j, data in list(graph.nodes(data=True)):
        if j == i:
            continue
        if data["writes"] & reads:
            graph.add_edge(j, i)
        if data["reads"] & set(explicit.outputs.v):
            graph.add_edge(i, j)
    try:
        edges: list[tuple[int, int]] = list(_nx.find_cycle(graph, i))
    except nx.NetworkXNoCycle:
        return None
    start = next(k for k, (a, _) in enumerate(edges) if a == i)
    edges = edges[start:] + edges[:start]
    nodes = graph.nodes
    steps: list[str] = []
    for a, b in edges:
        through = dof_names(space, sorted(nodes[a]["writes"] & nodes[b]["reads"]))
        steps.append(f"{nodes[a]['constraint'].name!r} -[{through}]-> {nodes[b]['constraint'].name!r}")
    graph.remove_node(i)
    return "it closes a cycle: " + ", ".join(steps)
