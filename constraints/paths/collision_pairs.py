"""Which pairs of solids a collision model looks at, and why it leaves out the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import combinations
from typing import Any, NamedTuple

from ..robot import Robot
from ..robot.pinocchio import pin

IndexPair = tuple[int, int]


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


class Verdict(NamedTuple):
    """Why a pair is not looked at.

    Attributes:
        reason: why.
        said: what the SRDF says.
    """

    reason: LeftOutReason
    said: str = ""


def left_out(robot: Robot, solids: Sequence[Any], links: Sequence[str], srdf: bool) -> dict[IndexPair, Verdict]:
    """Of all pairs of solids those that are not looked at.

    Args:
        robot: what carries them, with its disabled collisions.
        solids: geometry objects of pinocchio.
        links: of each the name of its link; empty where it has none.
        srdf: whether disabled collisions count.
    """
    disabled = {frozenset(pair[:2]): pair.reason for pair in robot.disabled_collisions} if srdf else {}
    roots = _Roots(robot.model)
    found: dict[IndexPair, Verdict] = {}
    for i, j in combinations(range(len(solids)), 2):
        said = disabled.get(frozenset((links[i], links[j]))) if links[i] != links[j] else None
        a, b = sorted((int(solids[k].parentJoint), k) for k in (i, j))
        if said is not None:
            found[i, j] = Verdict(LeftOutReason.DISABLED, said)
        elif a[0] == b[0]:
            found[i, j] = Verdict(LeftOutReason.SAME_JOINT)
        elif roots.model.parents[b[0]] == a[0] and (a[0] or roots.hangs_on(b[0], links[a[1]])):
            found[i, j] = Verdict(LeftOutReason.NEIGHBOURS)
    return found


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


def in_words(verdicts: Iterable[Verdict], details: bool) -> str:
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
