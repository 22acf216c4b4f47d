"""Shorter paths: stretches are pulled straight, on the constraints and the leaf of each piece."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar, cast, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..collisions.model import CollisionModel
from ..errors import OptionError
from ..manipulation.graph import ConstraintGraph
from ..paths.length import lengths_between
from ..paths.path import Path, Piece
from ..ranges import whole_number
from ..rows.right_hand_side import RightHandSide
from ..words import counted
from .edges import EdgeJudge
from .leaf import LeafOfProblem, check_space
from .limits import Clock, Limits
from .marks import moving_pairs
from .plan import Plan

_log = logging.getLogger(__package__)

SHORTCUTS_AT_ONCE = 32
"""Shortcuts of one piece that are tried together. It is part of what a seed means."""
NODES_BY_LENGTH = 2.5
"""Nodes of a shortcut by length of path [1/rad, 1/m], which are looked at before what is between them."""
BEYOND_ENDS = 0.05
"""Part of a piece by which shortcuts are drawn beyond its ends, where they begin or end at these."""
LEAST_GAIN_OF_SHORTCUT = 0.01
"""Part of a stretch by which a shortcut must be shorter: more than lengths between samples may be wrong."""
LEAST_GAIN_OF_ROUND = 1e-3
"""Part of a piece; a round that gains less gains nothing."""
ROUNDS_WITHOUT_GAIN = 10
"""Rounds without gain after which a piece is short enough."""


PathOrPlan = TypeVar("PathOrPlan", Path, Plan)


def shorten(
    path: PathOrPlan,
    *,
    rng: np.random.Generator,
    collisions: CollisionModel | None = None,
    limits: Limits | None = None,
    keep: Iterable[int] = (),
    graph: ConstraintGraph | None = None,
) -> PathOrPlan:
    r"""A shorter path between the same ends, on the same constraints and leaves, by random shortcuts.

    A stretch between two samples of a piece is pulled towards the straight way between them, in all joints, in one, or
    in half of them (partial shortcuts, Geraerts and Overmars 2007):

    .. math:: q'(t) = \mathrm{project}\left(q(t) \oplus S\,(s(t) \ominus q(t))\right), \qquad
        s(t) = q_a \oplus \tfrac{\ell(t)}{\ell(b)}\,(q_b \ominus q_a)

    with S a diagonal of zeros and ones, and :math:`\ell` the length from q_a. It is taken if it is at least one percent
    shorter in `Path.length`, without a jump, within bounds and free, looked at as closely as `connect` does it.

    Each piece keeps its problem, leaf, ends (bit for bit) and duration; its times follow the new distances. Stretches
    without a shortcut stay as they are, and whether they are free is not asked. Pieces whose right-hand sides move are
    left as they are: these say where a tool is at each time. Where nothing is gained the path itself comes back;
    `path.length` before and after says what was, and a log line of level INFO also how many shortcuts were taken.

    Of a plan each piece is looked at by the pairs that move against each other on its transition, and short transitions
    are left as they are.

    Args:
        path: the path; or a plan that was found, with its graph.
        rng: generator, for instance `numpy.random.default_rng(0)`. The same generator gives the same bits, unless the
            clock ends it.
        collisions: what must be free; None for nothing.
        limits: its `seconds` end it, at the end of a round of shortcuts, with the shortest path so far; else it ends
            after 10 rounds that gained next to nothing. `first_collision` has the last word after that, which takes
            tens of milliseconds more near obstacles. Its other limits are of searches.
        keep: numbers of pieces that are left as they are.
        graph: of a plan.

    Returns:
        A path; of a plan the same plan with the shorter path.

    Raises:
        WrongObjectError: an argument of another type.
        SpaceMismatchError: a collision model of another robot.
        OptionError: a piece to keep that the path does not have; a plan without its graph, or a path with one.
        FailedError: a plan without a path.

    Example:
        >>> import numpy as np
        >>> from liegroups import Rn
        >>> from constraints import Function, Implicit, Problem
        >>> from constraints.planning import connect, shorten
        >>> height = Function.from_callable(lambda q: q[2:], Rn(3), Rn(1), name="height")
        >>> ground, rng = Problem(Rn(3), [Implicit.zero(height)]), np.random.default_rng(0)
        >>> path = connect(ground, [0, 0, 0], [1, 0, 0], rng=rng).or_raise()
        >>> shorten(path, rng=rng) is path  # it is straight
        True
    """
    expect(path, (Path, Plan), "path to be shortened", "a Path or a Plan")
    expect(rng, np.random.Generator, "rng of a shortening", "a Generator, as numpy.random.default_rng(0)")
    expect(graph, (ConstraintGraph, type(None)), "graph of a shortening", "the ConstraintGraph of a Plan, or None")
    limits = Limits() if limits is None else expect(limits, Limits, "limits of a shortening", "Limits")
    expect(keep, Iterable, "pieces that a shortening keeps", "their numbers")
    if isinstance(path, Plan) != isinstance(graph, ConstraintGraph):
        words = "a plan needs its graph, `shorten(plan, graph=graph, ...)`" if graph is None else "a path has no graph"
        raise OptionError(f"graph of a shortening: {words}")
    whole = path.or_raise() if isinstance(path, Plan) else path
    last = len(whole.pieces) - 1
    kept = {whole_number(number, "piece that a shortening keeps", 0, last) for number in keep}
    models = [collisions] * (last + 1)
    if isinstance(path, Plan) and graph is not None:
        on = [graph.transition(name) for name in path.on]
        kept |= {number for number, transition in enumerate(on) if transition.short}
        if collisions is not None:
            models = [moving_pairs(graph, collisions, each) for each in on]
    after = _shortened(whole, kept, models, rng, Clock(limits.seconds))
    return cast("PathOrPlan", replace(path, path=after, certificate=None) if isinstance(path, Plan) else after)


def _shortened(
    path: Path, kept: set[int], models: Sequence[CollisionModel | None], rng: np.random.Generator, clock: Clock
) -> Path:
    """A shorter path, with a collision model for each piece."""
    pieces = dict[int, _Shortened]()
    for number, (piece, collisions) in enumerate(zip(path.pieces, models, strict=True)):
        check_space(piece.problem.space, collisions, "of a shortening")
        if number not in kept and (rhs := _leaf_of(piece)) is not None:
            pieces[number] = _Shortened(piece, rhs, collisions)
    going = list(pieces.values())
    while going:
        for piece in going:
            if not clock.is_over:
                piece.round(rng)
        going = [piece for piece in going if not clock.is_over and (not piece.is_still or piece.went_back())]
    for piece in pieces.values():
        piece.went_back()
    return _joined(path, pieces)


def _leaf_of(piece: Piece) -> RightHandSide | None:
    """The right-hand sides of a piece, if they do not move."""
    return piece.sides.first if piece.sides.last is None else None


def _joined(path: Path, shortened: dict[int, _Shortened]) -> Path:
    """The path with shortened pieces."""
    taken = sum(piece.taken for piece in shortened.values())
    if taken:
        pieces = (shortened[n].piece if n in shortened else piece for n, piece in enumerate(path.pieces))
        after = Path(tuple(pieces), path.durations)
    else:
        after = path
    rounds = sum(piece.rounds for piece in shortened.values())
    words = "a path of length %.4g shortened to %.4g by %s in %s; %s left as they are"
    left = counted(len(path.pieces) - len(shortened), "piece")
    _log.info(words, path.length, after.length, counted(taken, "shortcut"), counted(rounds, "round"), left)
    return after


class _Shortcuts(NamedTuple):
    """Shortcuts of one path.

    Attributes:
        first, last: numbers of the samples from which and to which they lead (m,).
        old: length of the path between these (m,).
        nodes: configurations (n, nq) along them, both ends among them, one shortcut after the other.
        owners: the shortcut of each node (n,).
    """

    first: Indices
    last: Indices
    old: Vector
    nodes: Matrix
    owners: Indices

    def only(self, wanted: BoolVector) -> _Shortcuts:
        """Those that are wanted (m,)."""
        on, numbers = wanted[self.owners], np.cumsum(wanted) - 1
        kept = self.first[wanted], self.last[wanted], self.old[wanted]
        return _Shortcuts(*kept, self.nodes[on], numbers[self.owners[on]])

    def without(self, nodes: Indices | BoolVector) -> _Shortcuts:
        """Those that have none of some nodes."""
        wanted = np.ones(len(self.first), dtype=np.bool_)
        wanted[self.owners[nodes]] = False
        return self.only(wanted)

    @property
    def is_end(self) -> BoolVector:
        """Which nodes are ends (n,)."""
        return (np.diff(self.owners, prepend=-1) != 0) | (np.diff(self.owners, append=-1) != 0)


@final
class _Shortened:
    """A piece that becomes shorter."""

    def __init__(self, piece: Piece, rhs: RightHandSide, collisions: CollisionModel | None) -> None:
        self._given, self._problem = piece, piece.problem
        self._leaf = LeafOfProblem(piece.projector, rhs, collisions)
        self._edges, self._joints = EdgeJudge(self._leaf), _joints(piece)
        self.rounds = self._still = self._back = 0
        self.taken: int = 0
        self._put(piece.samples)
        self._since_free: list[tuple[Matrix, int]] = [(piece.samples, 0)]

    def _put(self, samples: Matrix) -> None:
        self._q = samples
        self._along = np.concatenate([[0.0], np.cumsum(self._lengths(samples))])

    def _lengths(self, Q: Matrix) -> Vector:
        return lengths_between(self._problem, Q[:-1], Q[1:])

    @property
    def is_still(self) -> bool:
        """Whether rounds gain nothing any more."""
        return self._still >= ROUNDS_WITHOUT_GAIN

    @property
    def piece(self) -> Piece:
        """The piece, as short as it is."""
        return self._edges.path(self._q).pieces[0] if self.taken else self._given

    def went_back(self) -> bool:
        """Go back to a path that is free, where a collision is found that the rounds did not see; whether to go on.

        It is looked for by halves, among the paths since the last one that was free. From then on each shortcut is
        looked at as closely. Where the path that was given collides itself, what came of it is taken.
        """
        paths = self._since_free
        if len(paths) == 1 or self._is_free(self._q):
            self._since_free = paths[-1:]
            return False
        if paths[0][1] == 0 and self._edges.met(Path((self._given,))) is not None:
            return False
        free, high = 0, len(paths) - 1
        while high - free > 1:
            middle = (free + high) // 2
            free, high = (middle, high) if self._is_free(paths[middle][0]) else (free, middle)
        samples, self.taken = paths[free]
        self._put(samples)
        self._since_free, self._still, self._back = paths[free : free + 1], 0, self._back + 1
        return self._back == 1

    def _is_free(self, samples: Matrix) -> bool:
        return self._edges.met(self._edges.path(samples)) is None

    def round(self, rng: np.random.Generator) -> None:
        """Try some shortcuts, and take those that gain most and do not overlap."""
        self.rounds, before = self.rounds + 1, self._along[-1]
        shortcuts = self._projected(self._drawn(rng))
        shortcuts = shortcuts.only(self._gains(shortcuts) > 0.0)
        shortcuts = shortcuts.without(~self._leaf.free(shortcuts.nodes))
        shortcuts = self._checked(shortcuts.only(_apart(shortcuts, self._gains(shortcuts))))
        self._take(shortcuts)
        self._still = 0 if self._along[-1] < (1.0 - LEAST_GAIN_OF_ROUND) * before else self._still + 1

    def _gains(self, shortcuts: _Shortcuts) -> Vector:
        """By how much each is shorter than it must be (m,)."""
        inside = shortcuts.owners[:-1] == shortcuts.owners[1:]
        new = np.bincount(shortcuts.owners[:-1], self._lengths(shortcuts.nodes) * inside, len(shortcuts.first))
        return (1.0 - LEAST_GAIN_OF_SHORTCUT) * shortcuts.old - new

    def _drawn(self, rng: np.random.Generator) -> _Shortcuts:
        """Random shortcuts, not yet on the leaf; those between ends as far from each other as the path is long not."""
        Q, along, space = self._q, self._along, self._problem.space
        drawn = rng.random((SHORTCUTS_AT_ONCE, 2))
        drawn[1::2, 1] = drawn[1::2, 0] + (drawn[1::2, 1] - drawn[1::2, 0]) * rng.random(len(drawn[1::2]))
        drawn = np.sort((1.0 + 2.0 * BEYOND_ENDS) * drawn - BEYOND_ENDS, axis=1) * along[-1]
        pulled = self._pulled(rng)
        first, last = self._samples_at(drawn[:, 0]), self._samples_at(drawn[:, 1])
        old = along[last] - along[first]
        least = lengths_between(self._problem, Q[first], Q[last])
        useful = (last > first + 1) & (least < (1.0 - LEAST_GAIN_OF_SHORTCUT) * old)
        first, last, old, pulled = first[useful], last[useful], old[useful], pulled[useful]
        counts = np.maximum(np.ceil(NODES_BY_LENGTH * old), 2.0).astype(np.intp) + 1
        owners, ends = np.repeat(np.arange(len(first)), counts), np.cumsum(counts)
        places = (np.arange(len(owners)) - (ends - counts)[owners]) / (counts - 1)[owners]
        samples = self._samples_at(along[first][owners] + places * old[owners])
        samples[ends - counts], samples[ends - 1] = first, last
        new = (np.diff(samples, prepend=-1) != 0) | (np.diff(owners, prepend=-1) != 0)
        samples, owners = samples[new], owners[new]
        parts = (along[samples] - along[first][owners]) / old[owners]
        straight = space.interpolate(Q[first][owners], Q[last][owners], parts)
        nodes = space.integrate(Q[samples], space.difference(Q[samples], straight) * pulled[owners])
        return _Shortcuts(first, last, old, nodes, owners)

    def _samples_at(self, lengths: Vector) -> Indices:
        """Numbers of the samples (n,) at lengths of the path from its start."""
        return np.clip(np.searchsorted(self._along, lengths), 0, len(self._q) - 1)

    def _pulled(self, rng: np.random.Generator) -> BoolVector:
        """Columns (m, nv) that shortcuts pull straight: all, those of one joint, those of random joints, by turns."""
        count = len(self._joints)
        chosen = rng.random((SHORTCUTS_AT_ONCE, count)) < 0.5
        chosen[0::3] = True
        chosen[1::3] = np.arange(count) == rng.integers(count, size=len(chosen[1::3]))[:, None]
        return chosen @ self._joints

    def _projected(self, shortcuts: _Shortcuts) -> _Shortcuts:
        """Those that can be put onto the leaf; their ends as they are."""
        q, good = self._leaf.projected(shortcuts.nodes)
        ends = shortcuts.is_end
        nodes = np.where(ends[:, None], 0.0, q)
        nodes[ends] = self._q[np.stack([shortcuts.first, shortcuts.last], axis=1).ravel()]
        return shortcuts._replace(nodes=nodes).without(~(good | ends))

    def _checked(self, shortcuts: _Shortcuts) -> _Shortcuts:
        """Those whose ways hold between the nodes too, with all samples as nodes."""
        if not len(shortcuts.first):
            return shortcuts
        halved = self._edges.halved(shortcuts.nodes, shortcuts.owners)
        laid = shortcuts._replace(nodes=halved.samples, owners=shortcuts.owners[halved.edges])
        laid = laid.only(~halved.lost)
        laid = laid.only(self._gains(laid) > 0.0)
        inside = np.flatnonzero(laid.owners[:-1] == laid.owners[1:])
        free = laid.without(inside[~self._edges.free_between(laid.nodes[inside], laid.nodes[inside + 1])])
        if not self._back:
            return free
        each = (free.nodes[free.owners == k] for k in range(len(free.first)))
        return free.only(np.array([self._is_free(nodes) for nodes in each], dtype=np.bool_))

    def _take(self, shortcuts: _Shortcuts) -> None:
        """Put shortcuts, which do not overlap, into the path."""
        if not len(shortcuts.first):
            return
        samples, at = list[Matrix](), 0
        for k in np.argsort(shortcuts.first).tolist():
            samples += [self._q[at : shortcuts.first[k]], shortcuts.nodes[shortcuts.owners == k][:-1]]
            at = int(shortcuts.last[k])
        self.taken += len(shortcuts.first)
        self._put(np.concatenate([*samples, self._q[at:]]))
        self._since_free.append((self._q, self.taken))


def _joints(piece: Piece) -> BoolVector:
    """Columns (joints, nv) of each joint that steps move; of a flat space each column is one."""
    problem, joints = piece.problem, list[BoolVector]()
    columns = np.arange(problem.space.nv)
    for leaf in problem.space.leaves():
        width = 1 if leaf.space.is_flat else max(leaf.v.stop - leaf.v.start, 1)
        for start in range(leaf.v.start, leaf.v.stop, width):
            joint = (columns >= start) & (columns < start + width)
            if problem.free[joint].any():
                joints.append(joint)
    return np.array(joints, dtype=np.bool_).reshape(-1, len(columns))


def _apart(shortcuts: _Shortcuts, gains: Vector) -> BoolVector:
    """Shortcuts (m,) that do not overlap, those that gain most before others."""
    first, last = shortcuts.first, shortcuts.last
    taken, free = np.zeros(len(first), dtype=np.bool_), np.ones(len(first), dtype=np.bool_)
    for k in np.argsort(-gains, kind="stable").tolist():
        if free[k]:
            taken[k] = True
            free &= (last <= first[k]) | (first >= last[k])
    return taken
