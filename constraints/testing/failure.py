"""How a check fails: by naming the law, by how much, where, and what to mend."""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroups.arrays import Vector


class CheckFailed(AssertionError):
    """A law does not hold.

    Attributes:
        law: the law, as a formula or a sentence.
        seen: what was seen instead, in words; empty where the law and the figures say it.
        where: the arguments at which it fails.
        amount: by how much it fails; None where a law holds or not.
        tolerance: by how much it may fail.
        mend: what to look at.
    """

    def __init__(
        self, law: str, where: dict[str, Any], amount: float | None, tolerance: float, mend: str, seen: str = ""
    ) -> None:
        super().__init__(law, where, amount, tolerance, mend, seen)
        self.law, self.where, self.amount, self.tolerance, self.mend = law, where, amount, tolerance, mend
        self.seen = seen

    def __str__(self) -> str:
        """What was seen, or which law does not hold; by how much, where, the law, and what to mend."""
        size = "" if self.amount is None else f": off by {self.amount:.3g}, {self.tolerance:.1g} is allowed"
        head = self.seen or f"does not hold: {self.law}"
        points = "".join(f"\n  {name} = {_words(value)}" for name, value in self.where.items())
        law = f"\n  law: {self.law}" if self.seen else ""
        return f"{head}{size}{points}{law}\n  mend: {self.mend}"


def within(law: str, amount: float, tolerance: float, mend: str, seen: str = "", **where: Any) -> None:
    """Raise CheckFailed unless the amount is at most the tolerance (NaN is not); `seen` says it in words."""
    if not amount <= tolerance:
        raise CheckFailed(law, where, amount, tolerance, mend, seen)


def require(law: str, holds: bool, mend: str, seen: str = "", **where: Any) -> None:
    """Raise CheckFailed unless it holds; `seen` says in words what does not."""
    if not holds:
        raise CheckFailed(law, where, None, 0.0, mend, seen)


def largest(array: Vector) -> float:
    """Largest absolute entry; 0 where there is none."""
    return float(np.max(np.abs(array))) if array.size else 0.0


def _words(value: Any) -> str:
    return str(value.tolist() if hasattr(value, "tolist") else value)
