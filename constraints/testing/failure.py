"""How a check fails: by naming the law, by how much, where, and what to mend."""

from __future__ import annotations

import copy
import pickle
from typing import Any, TypeVar

_T = TypeVar("_T")


class CheckFailed(AssertionError):
    """A law does not hold.

    Attributes:
        law: the law, as a formula or a sentence.
        seen: what was found instead, in words; empty if the law and the numbers say enough.
        where: the arguments at which it fails.
        amount: by how much it fails; None for a yes-or-no law.
        tolerance: by how much it may fail.
        mend: what to fix.
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
        return f"{head}{size}{points}{law}\n  fix: {self.mend}"


def within(law: str, amount: float, tolerance: float, mend: str, seen: str = "", **where: Any) -> None:
    """Raise CheckFailed unless the amount is at most the tolerance (NaN is not); `seen` says it in words."""
    if not amount <= tolerance:
        raise CheckFailed(law, where, amount, tolerance, mend, seen)


def require(law: str, holds: bool, mend: str, seen: str = "", **where: Any) -> None:
    """Raise CheckFailed unless it holds; `seen` says in words what does not."""
    if not holds:
        raise CheckFailed(law, where, None, 0.0, mend, seen)


def copies_of(thing: _T, kind: str, name: str, pickles: bool) -> dict[str, _T]:
    """A deep copy and a pickled one, by what they are called; CheckFailed where there is none."""
    copies = {"a deep copy": copy.deepcopy(thing)}
    if pickles:
        try:
            copies["a pickled copy"] = pickle.loads(pickle.dumps(thing))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            mend = "hold data and functions with a name at the top of a module; for lambdas pass pickles=False"
            seen = f"{name} cannot be pickled ({error})"
            raise CheckFailed(f"a {kind} can be pickled", {}, None, 0.0, mend, seen) from error
    return copies


def _words(value: Any) -> str:
    return str(value.tolist() if hasattr(value, "tolist") else value)
