"""Lists of names in messages."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["first_names"]


def first_names(names: Sequence[str], shown: int = 8) -> str:
    """The first of some names, and how many more there are.

    Args:
        names: all of them.
        shown: how many are written out.
    """
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
