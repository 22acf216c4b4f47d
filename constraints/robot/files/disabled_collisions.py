"""Pairs of links whose collisions do not count, as an SRDF lists them; a Robot keeps them for collision models."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from liegroups.arguments import as_tuple
from liegroups.errors import UnknownNameError

from ...errors import WrongObjectError
from ..model.pinocchio import Model, pin


class DisabledCollision(NamedTuple):
    """Two links whose collisions do not count.

    Attributes:
        a, b: names of the links.
        reason: why, in the words of the file ("Adjacent", "Never", "Default", "User"); may be empty.
    """

    a: str
    b: str
    reason: str = ""

    def prefixed(self, prefix: str) -> DisabledCollision:
        """The same of links whose names have got a prefix."""
        return DisabledCollision(prefix + self.a, prefix + self.b, self.reason)


def link_names(model: Model) -> tuple[str, ...]:
    """Names of the links of a model: its frames of kind body."""
    return tuple(str(frame.name) for frame in model.frames if frame.type == pin.FrameType.BODY)


def as_disabled(entries: Iterable[DisabledCollision], links: Collection[str]) -> tuple[DisabledCollision, ...]:
    """The pairs, or a typed error that names what is none.

    Args:
        entries: pairs of names, with or without a reason.
        links: names of the links there are.

    Raises:
        WrongObjectError: what is no pair of names.
        UnknownNameError: lists the links whose names come closest.
    """
    pairs: list[DisabledCollision] = []
    for i, entry in enumerate(as_tuple(entries, "disabled collisions of a robot", "pairs of links", ordered=False)):
        what, expected = f"disabled collision {i} of a robot", "two names of links, and a reason"
        words: list[Any] = [*as_tuple(entry, what, expected)]
        if len(words) not in (2, 3) or not all(isinstance(word, str) for word in words):
            raise WrongObjectError(what, expected, repr(entry))
        pair = DisabledCollision(*words)
        for link in pair[:2]:
            if link not in links:
                raise UnknownNameError("link", link, tuple(links))
        pairs.append(pair)
    return tuple(pairs)
