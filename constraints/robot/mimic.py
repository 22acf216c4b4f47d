"""Mimic tags: one joint that a file says follows another. They are listed, never enforced by a Robot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from liegroups.doors import as_tuple

from ..errors import WrongObjectError

__all__ = ["Mimic", "as_mimics"]


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


def as_mimics(given: Iterable[Mimic]) -> tuple[Mimic, ...]:
    """The mimics, or a typed error that names what is none."""
    mimics = as_tuple(given, "mimics of a robot", "Mimic")
    for i, mimic in enumerate(mimics):
        if not isinstance(mimic, Mimic):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError(f"mimic {i} of a robot", "a Mimic", mimic)
    return mimics
