"""Words of messages."""

from __future__ import annotations

__all__ = ["counted"]

_PLURALS = {"try": "tries", "guess": "guesses", "axis": "axes", "vertex": "vertices"}


def counted(number: int, noun: str) -> str:
    """A number with what it counts: "1 row", "2 rows", "0 tries".

    Args:
        number: how many.
        noun: one of them; of several words the last one is put in the plural.
    """
    if number == 1:
        return f"{number} {noun}"
    head, gap, last = noun.rpartition(" ")
    return f"{number} {head}{gap}{_PLURALS.get(last, f'{last}s')}"
