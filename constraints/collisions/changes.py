"""What a collision model looks at, and how that changes: solids that are held, appear, vanish, or stand elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

from ..errors import OptionError, UnknownNameError
from ..paths.relative_motion import two_names
from ..robot import Robot
from .pairs import IndexPair, LeftOutReason, WhyOut, left_out, margins_of_shapes
from .reading import GivenSolid, extended, placed
from .solids import CollisionSolid
from .words import in_words


class Contents(NamedTuple):
    """What a collision model looks at.

    Attributes:
        solids: all of them.
        margins: of the pairs that are looked at [m].
        out: why the others are not.
        gone: names of solids of files that were taken away: a copy that reads the files again leaves them out.
    """

    solids: tuple[CollisionSolid, ...]
    margins: dict[IndexPair, float]
    out: dict[IndexPair, WhyOut]
    gone: frozenset[str] = frozenset()


class PairRules(NamedTuple):
    """What decides on pairs of solids that are new.

    Attributes:
        robot: what carries them.
        srdf: whether its disabled collisions count.
        margin: distance to keep [m].
    """

    robot: Robot
    srdf: bool
    margin: float


def with_shapes(rules: PairRules, before: Contents, shapes: Iterable[GivenSolid]) -> Contents:
    """With solids that are given by hand, which come last."""
    solids = extended(rules.robot, before.solids, shapes)
    pairs = [(i, j) for i, j in combinations(range(len(solids)), 2) if j >= len(before.solids)]
    return _with_pairs(before, solids, pairs, left_out(rules.robot, solids, pairs, rules.srdf), rules.margin)


def with_held(rules: PairRules, before: Contents, shape: GivenSolid, touched: Collection[int]) -> Contents:
    """With a solid that a frame holds: all pairs count but those on its joint and those that it may touch.

    Args:
        rules: for its pairs.
        before: what there was.
        shape: on the frame.
        touched: numbers of the solids that it may touch.
    """
    *others, held = extended(rules.robot, before.solids, [shape])
    solids, n = (*others, replace(held, link="")), len(others)
    same = {(i, n): WhyOut(LeftOutReason.SAME_JOINT) for i, other in enumerate(others) if other.joint == held.joint}
    out = {(i, n): WhyOut(LeftOutReason.MAY_TOUCH) for i in touched} | same
    return _with_pairs(before, solids, [(i, n) for i in range(n)], out, rules.margin)


def _with_pairs(
    before: Contents,
    solids: tuple[CollisionSolid, ...],
    pairs: Sequence[IndexPair],
    out: Mapping[IndexPair, WhyOut],
    margin: float,
) -> Contents:
    """With more pairs, in the order that a model has which is made at once."""
    margins = before.margins | {pair: margin for pair in pairs if pair not in out}
    return before._replace(solids=solids, margins=dict(sorted(margins.items())), out={**before.out, **out})


def without_pairs(before: Contents, pairs: Iterable[tuple[str, str]]) -> Contents:
    """Without some pairs, by names of their solids."""
    left = set[frozenset[int]]()
    for a, b in (two_names(pair, "pair of shapes", "two names") for pair in pairs):
        left |= pairs_called(before, a, b)
    return _of_pairs(before, {pair: d for pair, d in before.margins.items() if frozenset(pair) not in left})


def with_margins(before: Contents, margins: Mapping[tuple[str, str], float]) -> Contents:
    """With other margins, by names of solids.

    Raises:
        UnknownNameError: no solid has this name.
        OptionError: a margin that is no number, a pair that is given twice, or one that is not checked.
    """
    changed = dict(before.margins)
    for (a, b), distance in margins_of_shapes(margins).items():
        asked = pairs_called(before, a, b)
        if not (chosen := [pair for pair in changed if frozenset(pair) in asked]):
            out = in_words([verdict for pair, verdict in before.out.items() if frozenset(pair) in asked], True)
            why = f"left out: {out}" if out else "a shape makes no pair with itself"
            raise OptionError(f"margin of '{a}' and '{b}': no such pair is checked ({why})")
        changed |= dict.fromkeys(chosen, distance)
    return before._replace(margins=changed)


def among_joints(rules: PairRules, before: Contents, margins: Mapping[frozenset[str], float]) -> Contents:
    """For some pairs of joints only, with their margins [m] on top of those that there were."""
    joints = [str(rules.robot.model.names[solid.joint]) for solid in before.solids]
    of_joints = {pair: frozenset((joints[pair[0]], joints[pair[1]])) for pair in before.margins}
    kept = {pair: d + margins[of_joints[pair]] for pair, d in before.margins.items() if of_joints[pair] in margins}
    return _of_pairs(before, kept, LeftOutReason.NOT_ASKED)


def pairs_called(has: Contents, a: str, b: str) -> set[frozenset[int]]:
    """Pairs of solids by names of both; a `*` at the end of a name stands for all that begin like this."""
    return {frozenset((i, j)) for i in numbers_called(has.solids, a) for j in numbers_called(has.solids, b)}


def _of_pairs(
    before: Contents, margins: dict[IndexPair, float], why: LeftOutReason = LeftOutReason.BY_HAND
) -> Contents:
    """Of some of the pairs; the others are left out for a reason."""
    out = before.out | {pair: WhyOut(why) for pair in before.margins if pair not in margins}
    return before._replace(margins=margins, out=out)


def without_solids(before: Contents, gone: Collection[int]) -> Contents:
    """Without some of the solids, by their numbers."""
    kept = [i for i in range(len(before.solids)) if i not in gone]
    number = {i: n for n, i in enumerate(kept)}
    margins = {(number[i], number[j]): d for (i, j), d in before.margins.items() if i in number and j in number}
    out = {(number[i], number[j]): why for (i, j), why in before.out.items() if i in number and j in number}
    names = frozenset(solid.name for i in gone if (solid := before.solids[i]).source is None)
    return Contents(tuple(before.solids[i] for i in kept), margins, out, before.gone | names)


def moved_solids(
    robot: Robot, solids: Sequence[CollisionSolid], placements: Mapping[str, Any]
) -> dict[int, CollisionSolid]:
    """Solids that stand elsewhere on their frames, by number; each keeps what it is, with its cover.

    Raises:
        UnknownNameError: no solid that is given by hand has this name.
        OptionError: a solid of a file, which is where its link is.
        SizeError, NotNormalizedError, WrongObjectError, ...: what is wrong with a placement.
    """
    numbers = {solid.name: i for i, solid in enumerate(solids)}
    found = dict[int, CollisionSolid]()
    for name, placement in placements.items():
        if name not in numbers:
            raise UnknownNameError("shape", name, tuple(s.name for s in solids if s.source is not None))
        old = solids[i := numbers[name]]
        if old.source is None:
            raise OptionError(
                f"shape '{name}' is part of the link '{old.link}', as its file says: it moves with the robot"
            )
        source = replace(old.source, placement=placement)
        found[i] = replace(placed(robot, source, old.body, ()), link=old.link)
    return found


def numbers_called(solids: Sequence[CollisionSolid], pattern: str, links: bool = False) -> list[int]:
    """Numbers of the solids with a name: `"ur5/*"` means all whose names begin so.

    Args:
        solids: all of them.
        pattern: the name.
        links: whether a link may be named too, for all its solids.

    Raises:
        UnknownNameError: no solid has this name.
    """
    own = [i for i, solid in enumerate(solids) if links and solid.link == pattern != ""]
    begin = pattern[:-1] if pattern.endswith("*") else None
    own += [i for i, s in enumerate(solids) if s.name == pattern or (begin is not None and s.name.startswith(begin))]
    if not own:
        star = "*" in pattern[:-1]
        words = f"no shape is named {pattern!r}: a `*` stands at the end of a name only" if star else ""
        valid = [s.name for s in solids] + [s.link for s in solids if links and s.link]
        raise UnknownNameError("shape or link" if links else "shape", pattern, tuple(dict.fromkeys(valid)), words)
    return own
