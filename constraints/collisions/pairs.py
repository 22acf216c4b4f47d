"""Which pairs of solids a collision model looks at, and why it leaves out the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from liegroups.arguments import as_mapping, as_tuple, expect, is_finite_number

from ..errors import OptionError, UnknownJointError
from ..paths.relative_motion import CollisionPair, two_names
from ..problem.questions import LONGER, PLAIN
from ..questions import ask_once
from ..ranges import positive_number
from ..robot import Robot
from ..robot.model.pinocchio import pin

if TYPE_CHECKING:
    from .solids import CollisionSolid, CoveredGeometry

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
    MAY_TOUCH = "held, and may touch"
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


def left_out(
    robot: Robot, solids: Sequence[CollisionSolid], pairs: Iterable[IndexPair], srdf: bool
) -> dict[IndexPair, WhyOut]:
    """Of pairs of solids those that are not looked at; with `srdf` also the disabled collisions of the robot."""
    disabled = {frozenset(pair[:2]): pair.reason for pair in robot.disabled_collisions} if srdf else {}
    roots = _Roots(robot.model)
    found: dict[IndexPair, WhyOut] = {}
    for i, j in pairs:
        links = solids[i].link, solids[j].link
        said = disabled.get(frozenset(links)) if links[0] != links[1] else None
        a, b = sorted((solids[k].joint, k) for k in (i, j))
        if said is not None:
            found[i, j] = WhyOut(LeftOutReason.DISABLED, said)
        elif a[0] == b[0]:
            found[i, j] = WhyOut(LeftOutReason.SAME_JOINT)
        elif roots.model.parents[b[0]] == a[0] and (a[0] or roots.hangs_on(b[0], solids[a[1]].link)):
            found[i, j] = WhyOut(LeftOutReason.NEIGHBOURS)
    return found


def margins_of_shapes(margins: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Distances by pair of names of shapes, as a user gives them.

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


def ask_of_margins(solids: Sequence[CollisionSolid], margins: Mapping[IndexPair, float]) -> None:
    """Ask about distances that are far larger than the shapes, or so negative that a pair never counts.

    Two shapes are apart when one has gone, across its thinnest side, half of that and the radius of the other: they
    never overlap by more.
    """
    least, most = min(margins.values(), default=0.0), max(margins.values(), default=0.0)
    if least >= 0.0 and most <= PLAIN:
        return
    radii = [_radius(solid.body) for solid in solids]
    middle = float(np.median(radii))
    if most > PLAIN and most > LONGER * middle:
        what = f"margin {most:.6g} m of a collision model"
        ask_once(f"{what}, whose shapes have a radius of {middle:.3g} m (median): is it in millimetres?")
    halves = [0.5 * float(solid.body.box[1].min()) for solid in solids]
    deepest = {(i, j): min(halves[i] + radii[j], radii[i] + halves[j]) for i, j in margins}
    never = [pair for pair, margin in margins.items() if -margin > deepest[pair]]
    if never:
        i, j = never[0]
        more = f" (and {len(never) - 1} more)" if len(never) > 1 else ""
        what = f"margin {margins[i, j]:.6g} m of '{solids[i].name}' and '{solids[j].name}'{more}"
        ask_once(f"{what}: they overlap by less wherever they are, so they never collide: is it meant?")


def _radius(body: CoveredGeometry) -> float:
    """Radius [m] of a ball around a shape; infinite of a half-space."""
    body.geometry.computeLocalAABB()
    return float(body.geometry.aabb_radius) + body.padding


def as_resolution(resolution: object) -> float:
    """Read the resolution of a collision check along a path [m].

    Raises:
        OptionError: no positive number.
    """
    spacing = positive_number(resolution, "resolution of a collision check [m]")
    if spacing > PLAIN:
        ask_once(f"resolution of a collision check is {spacing:.6g} m: is it in millimetres?")
    return spacing


def as_distance(distance: object, what: str) -> float:
    """Read a distance [m].

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

    @cached_property
    def _parents(self) -> list[int]:
        return [int(frame.parentFrame) for frame in self.model.frames]

    @cached_property
    def _links(self) -> dict[str, int]:
        return {str(f.name): i for i, f in enumerate(self.model.frames) if f.type == pin.FrameType.BODY}

    @cached_property
    def _joints(self) -> dict[str, int]:
        return {str(f.name): i for i, f in enumerate(self.model.frames) if f.type == pin.FrameType.JOINT}

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
