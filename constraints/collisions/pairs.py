"""Which pairs of solids a collision model looks at, and why it leaves out the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import combinations
from math import pi
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import as_mapping, as_tuple, expect, is_finite_number

from ..errors import OptionError, UnknownJointError
from ..paths.relative_motion import CollisionPair, two_names
from ..problem.questions import LONGER, PLAIN
from ..questions import LONG_DISTANCE, ask_once
from ..robot import Robot
from ..robot.model.pinocchio import pin

IndexPair = tuple[int, int]

SAMPLES = 200
"""Random configurations in which a pair must meet to be said to meet always."""
SHOWN = 4
"""Pairs of shapes that a message lists."""


class LeftOutReason(Enum):
    """Why a pair of shapes is not checked; of several reasons the first is given."""

    DISABLED = "disabled in the SRDF"
    SAME_JOINT = "on one joint"
    NEIGHBOURS = "on neighbouring joints"
    BY_HAND = "left out by hand"
    NOT_ASKED = "not among the given pairs of joints"


class LeftOut(NamedTuple):
    """A pair of shapes that is not checked.

    Attributes:
        a, b: their names.
        reason: why.
        said: reason in the SRDF ("Adjacent", "Never"); else empty.
    """

    a: str
    b: str
    reason: LeftOutReason
    said: str = ""


class WhyOut(NamedTuple):
    """Why a pair is not looked at.

    Attributes:
        reason: why.
        said: what the SRDF says.
    """

    reason: LeftOutReason
    said: str = ""


def left_out(robot: Robot, solids: Sequence[Any], links: Sequence[str], srdf: bool) -> dict[IndexPair, WhyOut]:
    """Of all pairs of solids those that are not looked at.

    Args:
        robot: what carries them, with its disabled collisions.
        solids: geometry objects of pinocchio.
        links: of each the name of its link; empty where it has none.
        srdf: whether disabled collisions count.
    """
    disabled = {frozenset(pair[:2]): pair.reason for pair in robot.disabled_collisions} if srdf else {}
    roots = _Roots(robot.model)
    found: dict[IndexPair, WhyOut] = {}
    for i, j in combinations(range(len(solids)), 2):
        said = disabled.get(frozenset((links[i], links[j]))) if links[i] != links[j] else None
        a, b = sorted((int(solids[k].parentJoint), k) for k in (i, j))
        if said is not None:
            found[i, j] = WhyOut(LeftOutReason.DISABLED, said)
        elif a[0] == b[0]:
            found[i, j] = WhyOut(LeftOutReason.SAME_JOINT)
        elif roots.model.parents[b[0]] == a[0] and (a[0] or roots.hangs_on(b[0], links[a[1]])):
            found[i, j] = WhyOut(LeftOutReason.NEIGHBOURS)
    return found


def margins_of_shapes(margins: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Distances by pair of names of shapes, as a user gives them.

    Args:
        margins: the mapping.

    Raises:
        WrongObjectError, OptionError: not a mapping, not a pair of names, no number, a pair that is given twice.
    """
    found: dict[tuple[str, str], float] = {}
    for pair, margin in as_mapping(margins, "margins of a collision model", "from pairs of names to distances").items():
        a, b = two_names(pair, "pair of shapes", "two names")
        found[a, b] = as_distance(margin, f"margin of '{a}' and '{b}'")
        if a != b and (b, a) in found:
            raise OptionError(f"margin of '{a}' and '{b}': the pair must be given only once")
    return found


def margins_of_joints(pairs: Iterable[CollisionPair], names: Sequence[str]) -> dict[frozenset[str], float]:
    """Distances by pair of joints.

    Args:
        pairs: what a user gives.
        names: of all joints, "universe" among them.

    Raises:
        WrongObjectError, UnknownJointError, OptionError: no CollisionPair, no such joint, no number, a pair with two
            margins.
    """
    found: dict[frozenset[str], float] = {}
    for pair in as_tuple(pairs, "pairs of joints", "CollisionPairs (graph.collision_pairs)"):
        a, b, margin = expect(pair, CollisionPair, "pair of joints", "a CollisionPair (graph.collision_pairs)")
        for name in (a, b):
            if name not in names:
                raise UnknownJointError(str(name), tuple(names))
        distance = as_distance(margin, f"margin of '{a}' and '{b}'")
        if found.setdefault(frozenset((a, b)), distance) != distance:
            raise OptionError(f"margin of '{a}' and '{b}': the pair is given twice, with different margins")
    return found


def ask_of_margins(geometry: Any, margins: Mapping[IndexPair, float]) -> None:
    """Ask about distances that are far larger than the shapes, or so negative that a pair never counts.

    Args:
        geometry: pinocchio's, with the shapes.
        margins: pair of shapes -> distance [m].
    """
    least, most = min(margins.values(), default=0.0), max(margins.values(), default=0.0)
    if least >= 0.0 and most <= PLAIN:
        return
    radii = [_radius(solid) for solid in geometry.geometryObjects]
    middle = float(np.median(radii))
    if most > PLAIN and most > LONGER * middle:
        what = f"margin {most:.6g} m of a collision model"
        ask_once(f"{what}, whose shapes have a radius of {middle:.3g} m (median): is it in millimetres?")
    names = [str(solid.name) for solid in geometry.geometryObjects]
    never = [(i, j) for (i, j), margin in margins.items() if -margin > radii[i] + radii[j]]
    if never:
        i, j = never[0]
        more = f" (and {len(never) - 1} more)" if len(never) > 1 else ""
        what = f"margin {margins[i, j]:.6g} m of '{names[i]}' and '{names[j]}'{more}"
        ask_once(f"{what}: they overlap by less wherever they are, so they never collide: is it meant?")


def _radius(solid: Any) -> float:
    """Radius [m] of a ball around a shape; infinite of a half-space."""
    solid.geometry.computeLocalAABB()
    return float(solid.geometry.aabb_radius)


def check_limits(max_angle: object, max_length: object) -> None:
    """Refuse limits of a collision check that are not positive; ask about those that keep nothing short.

    Args:
        max_angle, max_length: [rad], [m].

    Raises:
        OptionError: names both.
    """
    if not all(is_finite_number(limit) and limit > 0.0 for limit in (max_angle, max_length)):
        raise OptionError(f"limits of a collision check must be positive, got {max_angle!r}, {max_length!r}")
    if is_finite_number(max_angle) and max_angle > pi:
        ask_once(f"max_angle of a collision check is {max_angle:.6g} rad, more than half a turn: is it in degrees?")
    if is_finite_number(max_length) and max_length > LONG_DISTANCE:
        ask_once(f"max_length of a collision check is {max_length:.6g} m: is it in millimetres?")


def as_distance(distance: object, what: str) -> float:
    """Read a distance [m].

    Args:
        distance: what a user gives.
        what: the argument, as the caller knows it.

    Raises:
        OptionError: no finite number.
    """
    if not is_finite_number(distance):
        raise OptionError(f"{what}: expected a number [m], got {distance!r}")
    return float(distance)


class _Roots:
    """Which joints hang on which links of the world: of all that is fixed there only the own base is a neighbour.

    Args:
        model: pinocchio's model; each of its frames knows the frame it is fixed on.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._parents = [int(frame.parentFrame) for frame in model.frames]
        self._links = {str(f.name): i for i, f in enumerate(model.frames) if f.type == pin.FrameType.BODY}
        self._joints = {str(f.name): i for i, f in enumerate(model.frames) if f.type == pin.FrameType.JOINT}

    def hangs_on(self, joint: int, link: str) -> bool:
        """Whether a joint on the world belongs to the same tree of links as a link that is fixed in the world."""
        frame = self._joints.get(str(self.model.names[joint]))
        return link != "" and frame is not None and self._root(frame) == self._root(self._links[link])

    def _root(self, frame: int) -> int:
        """The frame on the universe from which a frame descends."""
        for _ in range(len(self._parents)):  # a model made by hand may run in circles
            parent = self._parents[frame]
            if not 0 < parent < len(self._parents):
                break
            frame = parent
        return frame


def in_words(verdicts: Iterable[WhyOut], details: bool) -> str:
    """How many pairs are left out for which reason: "29 disabled in the SRDF (Adjacent 9, Never 20), 3 on one joint".

    Args:
        verdicts: one a pair.
        details: whether the words of the SRDF are told too.
    """
    counts = Counter(verdicts)
    parts: list[str] = []
    for reason in LeftOutReason:
        said = Counter({verdict.said: count for verdict, count in counts.items() if verdict.reason is reason})
        if said:
            parts.append(f"{said.total()} {reason.value}{_said(said) if details else ''}")
    return ", ".join(parts)


def _said(said: Mapping[str, int]) -> str:
    words = [f"{word} {count}" for word, count in sorted(said.items(), key=lambda item: -item[1]) if word]
    return f" ({', '.join(words)})" if words else ""


def always_in_words(pairs: Sequence[tuple[str, str]]) -> str:
    """What to say of pairs that always collide; empty where there are none.

    Args:
        pairs: as `CollisionModel.always_colliding` finds them.
    """
    if not pairs:
        return ""
    named = ", ".join(f"'{a}' and '{b}'" for a, b in pairs[:SHOWN])
    more = f" and {len(pairs) - SHOWN} pairs more" if len(pairs) > SHOWN else ""
    return (
        f"{named}{more} collide in all of {SAMPLES} random configurations; leave them out by `model.without(...)`, or "
        "give the robot the SRDF that disables them (`Robot.from_urdf(urdf, srdf=...)`)"
    )
