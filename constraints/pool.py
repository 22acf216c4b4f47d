"""Memory that is kept for whoever needs it next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, final

__all__ = ["Pool"]

_T = TypeVar("_T")


@final
class Pool(Generic[_T]):
    """Things that are dear to make and serve one at a time: whoever needs one takes a free one, or a new one.

    Threads may share it (`list.pop` and `list.append` are atomic).

    Args:
        make: makes a new one.

    Attributes:
        free: those that nobody uses.
    """

    __slots__ = ("_make", "free")

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self.free: list[_T] = []

    def take(self) -> _T:
        """One for whoever gives it back by `give`, or lets it go."""
        try:
            return self.free.pop()
        except IndexError:
            return self._make()

    def give(self, thing: _T) -> None:
        """Give one back."""
        self.free.append(thing)

    def lent(self) -> _Loan[_T]:
        """One for the body of a `with`; dropped where an exception leaves it half written, an interrupt too."""
        return _Loan(self)


@final
class _Loan(Generic[_T]):
    __slots__ = ("_pool", "_thing")

    def __init__(self, pool: Pool[_T]) -> None:
        self._pool = pool

    def __enter__(self) -> _T:
        self._thing = self._pool.take()
        return self._thing

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._pool.give(self._thing)
