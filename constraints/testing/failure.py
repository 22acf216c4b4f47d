"""How a check fails: by naming the law, by how much, where, and what to mend."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Vector

__all__ = ["CheckFailed", "largest", "require", "within"]


class CheckFailed(AssertionError):
    """A law does not hold.

    Attributes:
        law: the law, as a formula or a sentence.
        where: the arguments at which it fails.
        amount: by how much it fails; None where a law holds or not.
        tolerance: by how much it may fail.
        mend: what to look at.
    """

    def __init__(self, law: str, where: dict[str, Any], amount: float | None, tolerance: float, mend: str) -> None:
        super().__init__(law, where, amount, tolerance, mend)
        self.law, self.where, self.amount, self.tolerance, self.mend = law, where, amount, tolerance, mend

    def __str__(self) -> str:
        """The law, by how much it fails, where, and what to mend."""
        points = "".join(f"\n  {name} = {_words(value)}" for name, value in self.where.items())
        size = "" if self.amount is None else f": off by {self.amount:.3g}, {self.tolerance:.1g} is allowed"
        return f"{self.law}{size}{points}\n  mend: {self.mend}"


def within(law: str, amount: float, tolerance: float, mend: str, **where: Any) -> None:
    """Raise CheckFailed unless the amount is at most the tolerance (NaN is not)."""
    if not amount <= tolerance:
        raise CheckFailed(law, where, amount, tolerance, mend)


def require(law: str, holds: bool, mend: str, **where: Any) -> None:
    """Raise CheckFailed unless it holds."""
    if not holds:
        raise CheckFailed(law, where, None, 0.0, mend)


def largest(array: Vector) -> float:
    """Largest absolute entry; 0 where there is none."""
    return float(np.max(np.abs(array))) if array.size else 0.0


def _words(value: Any) -> str:
    return str(value.tolist() if hasattr(value, "tolist") else value)
