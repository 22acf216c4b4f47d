"""Memory that is kept for whoever needs it next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, final

__all__ = ["Pool"]

_T = TypeVar("_T")


@final
class Pool(Generic[_T]):
    """Things that are dear to make and serve one at a time: whoever needs one takes it, and gives it back when done.

    Threads may share a pool (`list.pop` and `list.append` are atomic). Nobody gives back what an exception, an
    interrupt too, left half written: no `finally`, no `with`.

    Args:
        make: makes a new one, where none is free.

    Attributes:
        free: those that nobody uses.
    """

    __slots__ = ("_make", "free")

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self.free: list[_T] = []

    def take(self) -> _T:
        """One for the caller alone."""
        try:
            return self.free.pop()
        except IndexError:
            return self._make()

    def give(self, thing: _T) -> None:
        """Give one back, fit for whoever is next."""
        self.free.append(thing)
