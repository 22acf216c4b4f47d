"""Which joints of a local loop follow from which: whole joints, since an explicit constraint computes whole ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from liegroups import SO3, Segments
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.layout import Factor

from ...errors import ConstraintError
from ...linear_algebra import numerical_rank, pivots, singular_values
from ...words import first_names
from .local_loops import LocalLoop


class NotExplicitError(ConstraintError):
    """A local loop cannot be an explicit constraint: `loop`, and the `reason`."""

    def __init__(self, loop: str, reason: str) -> None:
        self.loop, self.reason = loop, reason
        super().__init__(f"the loop of '{loop}' stays implicit: {reason}")


class Spin(NamedTuple):
    """A rotation of a ball on which no row of its loop depends: that of a rod about itself. It is held.

    Attributes:
        joint: name of the ball.
        q, v: its places among the outputs.
        direction: unit axis (3,) in the body of the ball.
    """

    joint: str
    q: slice
    v: slice
    direction: Vector


@final
@dataclass(frozen=True, eq=False)
class LoopChoice:
    """Which joints of a local loop are computed, and from which.

    Attributes:
        inputs, outputs: blocks of the space of the loop's own robot; together all of it.
        rows: rows that determine the outputs, together with the spins; the others are redundant.
        redundant: the others.
        spins: rotations of outputs that no row sees.
    """

    inputs: Segments
    outputs: Segments
    rows: Indices
    redundant: Indices
    spins: tuple[Spin, ...]


def choose(
    loop: LocalLoop, J: Matrix, preferred: Sequence[str], held: Collection[str], seen: Collection[str]
) -> LoopChoice:
    """Choose dependent and independent joints of a loop at a closed configuration.

    Joints of several degrees of freedom that no number describes are dependent as a whole or not at all. Of the others
    pivoted QR takes those that the rows determine best, the preferred ones last.

    Args:
        loop: which.
        J: Jacobian (size, nv) of its rows.
        preferred: joints that shall be independent where the rank allows, the most important first.
        held: joints that are never dependent: other constraints compute them.
        seen: joints whose spin others would see: those that carry other joints, or that other constraints read.

    Raises:
        NotExplicitError: no choice has whole joints.
    """
    leaves = {leaf.name: leaf for leaf in loop.robot.space.factors}
    rank = numerical_rank(singular_values(J))
    if rank == loop.robot.nv:
        raise NotExplicitError(loop.name, "nothing in it moves, so nothing is independent")
    whole = {name for name, leaf in leaves.items() if not leaf.space.is_flat and leaf.space.nv > 1}
    inputs = {name for name in leaves if name in held} | {name for name in preferred if name in whole}
    while True:
        v = _pivots(J, [leaves[n] for n in leaves if n not in inputs], whole, preferred)
        if v.size < rank:
            raise NotExplicitError(loop.name, _why_too_few(inputs & set(held), inputs - set(held)))
        cut, spins = _split(J, v, [leaves[n] for n in leaves if n in whole], seen)
        if not cut:
            return _chosen(loop, J, v, spins, rank)
        inputs |= cut


def _why_too_few(held: Collection[str], cut: Collection[str]) -> str:
    """Why the joints that may be dependent are too few for the rows."""
    others = f"{first_names(sorted(held))}, which other explicit constraints compute already" if held else ""
    parts = f"a part of {first_names(sorted(cut))}, but only whole joints can be computed" if cut else ""
    return f"it would have to compute {' and '.join(word for word in (others, parts) if word)}"


def _pivots(J: Matrix, leaves: Sequence[Factor], whole: Collection[str], preferred: Sequence[str]) -> Indices:
    """Columns that span those of the leaves: of joints without numbers first, of preferred joints last."""
    tiers: list[list[Factor]] = [
        [leaf for leaf in leaves if leaf.name in whole],
        [leaf for leaf in leaves if leaf.name not in whole and leaf.name not in preferred],
    ]
    last = [leaf for name in reversed(preferred) for leaf in leaves if leaf.name == name and name not in whole]
    tiers += [[leaf] for leaf in last]
    scale = singular_values(J).max(initial=0.0)
    chosen = np.zeros(0, dtype=np.intp)
    for tier in tiers:
        columns = np.array([i for leaf in tier for i in range(leaf.v.start, leaf.v.stop)], dtype=np.intp)
        rest = J[:, columns]
        if chosen.size:
            span = np.linalg.qr(J[:, chosen])[0]
            rest = rest - span @ (span.T @ rest)
        count = numerical_rank(singular_values(rest), scale) if columns.size else 0
        chosen = np.concatenate([chosen, columns[pivots(rest)[0][:count]]])
    return chosen


def _split(
    J: Matrix, v: Indices, whole: Sequence[Factor], seen: Collection[str]
) -> tuple[set[str], list[tuple[Factor, Vector]]]:
    """Joints of which only some columns are dependent; and those where what is left is a spin that nothing sees."""
    cut, spins = set[str](), list[tuple[Factor, Vector]]()
    for leaf in whole:
        count = int(((v >= leaf.v.start) & (v < leaf.v.stop)).sum())
        if count in (0, leaf.space.nv):
            continue
        _, sizes, Vt = np.linalg.svd(J[:, leaf.v])
        if leaf.space == SO3 and count == numerical_rank(sizes) == 2 and leaf.name not in seen:
            spins.append((leaf, np.array(Vt[2])))
        else:
            cut.add(leaf.name)
    return cut, spins


def _chosen(loop: LocalLoop, J: Matrix, v: Indices, spins: Sequence[tuple[Factor, Vector]], rank: int) -> LoopChoice:
    """The choice: dependent columns completed to whole joints, and the rows that determine them."""
    space = loop.robot.space
    columns = set(v.tolist()) | {i for leaf, _ in spins for i in range(leaf.v.start, leaf.v.stop)}
    outputs = Segments.coordinates(space, sorted(columns))
    inputs = Segments.coordinates(space, [i for i in range(space.nv) if i not in columns])
    rows = np.sort(pivots(J[:, outputs.v_indices].T)[0][:rank])
    redundant = np.setdiff1d(np.arange(len(J)), rows)
    held = [
        Spin(
            leaf.name,
            slice(outputs.q.index(leaf.q.start), outputs.q.index(leaf.q.stop - 1) + 1),
            slice(outputs.v.index(leaf.v.start), outputs.v.index(leaf.v.stop - 1) + 1),
            direction,
        )
        for leaf, direction in spins
    ]
    return LoopChoice(inputs, outputs, rows, redundant, tuple(held))
