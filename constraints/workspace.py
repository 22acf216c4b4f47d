"""Memory: the workspace of an evaluation; pools and tables of what is kept for whoever needs it next."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from threading import RLock
from typing import Any, Generic, TypeVar, cast, final
from weakref import WeakKeyDictionary

import numpy as np

from .errors import NotPicklableError, WrongObjectError

_T = TypeVar("_T")
_Function = TypeVar("_Function", bound=Callable[..., Any])

CROWDED = 500
"""Pieces of memory in one workspace above which a new one costs less than what is kept for owners of the past."""


@final
class Workspace:
    """Memory for evaluations: scratch arrays of functions, pinocchio data of robots, stacked rows.

    The only mutable object of the library. Use one per worker; it is never part of a result and cannot be pickled. Each
    point placed in it gets the next `serial`; only the last point is valid.
    """

    __slots__ = ("__weakref__", "_child", "_memory", "_owners", "serial")

    def __init__(self) -> None:
        self.serial = 0
        self._memory: dict[tuple[int, str], Any] = {}
        self._owners: dict[int, object] = {}  # holding an owner keeps its id from being used again
        self._child: Workspace | None = None

    def scratch(self, owner: object, name: str, shape: tuple[int, ...]) -> Any:
        """Array of this shape that belongs to the owner from call to call (zero when new)."""
        key = (id(owner), name)  # by identity: equal spaces of two robots are two owners
        array = self._memory.get(key)
        if array is None or array.shape != shape:
            self._owners[key[0]] = owner
            array = self._memory[key] = np.zeros(shape)
        return array

    def resource(self, owner: object, name: str, make: Callable[..., _T], *arguments: Any) -> _T:
        """The result of `make(*arguments)`, computed once for this owner and name."""
        key = (id(owner), name)
        found = self._memory.get(key)
        if found is None:
            self._owners[key[0]] = owner
            found = self._memory[key] = make(*arguments)
        return found

    @property
    def is_crowded(self, limit: int = CROWDED) -> bool:  # bound early: also asked when the interpreter ends
        """Whether it holds so much memory that a pool should drop it: it keeps alive all owners that used it."""
        return len(self._memory) > limit or (self._child is not None and self._child.is_crowded)

    @property
    def child(self) -> Workspace:
        """A second workspace inside this one, for evaluations at other configurations (composition, differences)."""
        if self._child is None:
            self._child = Workspace()
        return self._child

    def __reduce__(self) -> Any:
        raise NotPicklableError("a Workspace cannot be copied or pickled: make a new one, also in a worker")


def as_workspace(candidate: object) -> Workspace:
    """The candidate, or a typed error that names it."""
    if not isinstance(candidate, Workspace):
        raise WrongObjectError("workspace", "a Workspace, or None", candidate)
    return candidate


@final
class Pool(Generic[_T]):
    """Things that are dear to make and serve one at a time: whoever needs one takes it, and gives it back when done.

    Threads may share a pool (`list.pop`, `list.append` and `list.remove` are atomic). A copy, a pickled one too, is
    empty. Nobody gives back what an exception, an interrupt too, left half written: no `finally`, no `with`.

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

    def claim(self, thing: _T) -> bool:
        """Whether one that was given back is the caller's again: nobody else has it now."""
        try:
            self.free.remove(thing)
        except ValueError:
            return False
        return True

    def give(self, thing: _T) -> None:
        """Give one back, fit for whoever is next."""
        self.free.append(thing)

    def __reduce__(self) -> tuple[Any, ...]:
        return Pool, (self._make,)


@final
class Kept(Generic[_T]):
    """What is dear to make and never changes, by what it was made of: the last few of them.

    Threads may share a table: one of them makes, the others wait for it. It is not pickled: a copy is empty.

    Args:
        most: so many are kept; the first one that was made goes for the next.
    """

    __slots__ = ("_lock", "_made", "_most")

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, RLock()
        self._made: dict[Hashable, _T] = {}

    def get(self, key: Any, make: Callable[[], _T]) -> _T:
        """What was made of a key; made now where it is not there. A key that cannot be hashed is not kept."""
        try:
            found = self._made.get(key)
        except TypeError:
            return make()
        return self._make(key, make) if found is None else found

    def _make(self, key: Hashable, make: Callable[[], _T]) -> _T:
        with self._lock:
            found = self._made.get(key)
            if found is None:
                found = make()
                while len(self._made) >= self._most:
                    del self._made[next(iter(self._made))]
                self._made[key] = found
            return found

    def __len__(self) -> int:
        return len(self._made)

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, (self._most,)


def kept_with(make: _Function) -> _Function:
    """The same function of a thing, and of what can be hashed: its results are kept as long as the thing."""
    known: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()

    def kept(thing: Any, *others: Any) -> Any:
        try:
            return known[thing][others]
        except KeyError:
            pass
        return known.setdefault(thing, {}).setdefault(others, make(thing, *others))

    return cast("_Function", wraps(make)(kept))
