"""Mimic tags: one joint that a file says follows another. They are listed, never enforced by a Robot."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["Mimic"]


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
