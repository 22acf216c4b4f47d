"""Mimic tags: one joint that a file says follows another. They are listed, never enforced by a Robot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from liegroups import Segments
from liegroups.arguments import as_tuple, expect

from ...errors import UnknownJointError

if TYPE_CHECKING:
    from ..space import RobotSpace


@dataclass(frozen=True)
class Mimic:
    r"""The file says that a joint follows another: :math:`q_{joint} = multiplier \cdot q_{source} + offset`.

    A Robot keeps both joints independent and lists its mimics; a problem takes them as constraints.

    Args:
        joint: name of the joint that follows.
        source: name of the joint it follows.
        multiplier: ratio [unit of the joint by unit of the source].
        offset: value of the joint where the source is 0 [m or rad].
    """

    joint: str
    source: str
    multiplier: float = 1.0
    offset: float = 0.0

    def prefixed(self, prefix: str) -> Mimic:
        """The same between joints whose names have got a prefix."""
        return replace(self, joint=prefix + self.joint, source=prefix + self.source)


def as_mimics(candidates: Iterable[Mimic], space: RobotSpace) -> tuple[Mimic, ...]:
    """The mimics of joints of a robot, or a typed error that names what is none.

    Raises:
        WrongObjectError: what is no `Mimic`.
        UnknownJointError: lists the joints whose names come closest.
        OverlapError: a joint that mimics itself.
    """
    joints = dict.fromkeys(factor.name for factor in space.factors)
    mimics = as_tuple(candidates, "mimics of a robot", "Mimic")
    for i, mimic in enumerate(mimics):
        expect(mimic, Mimic, f"mimic {i} of a robot")
        for joint in (mimic.joint, mimic.source):
            if joint not in joints:
                raise UnknownJointError(str(joint), tuple(joints))
        Segments.of(space, mimic.joint, mimic.source)
    return mimics
