"""Values by name, which answer a name that they do not have with those that they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn, TypeVar, final

from .errors import UnknownNameError

_T = TypeVar("_T")


@final
class Named(dict[str, _T]):
    """A dictionary by name; `named["crnk"]` raises an UnknownNameError with the nearest names.

    Args:
        what: a name is of what, in messages.
        entries: what it holds.
    """

    def __init__(self, what: str, entries: Mapping[str, _T] | Iterable[tuple[str, _T]] = ()) -> None:
        super().__init__(entries)
        self._what = what

    def __missing__(self, name: str) -> NoReturn:
        """Refuse a name that there is not.

        Raises:
            UnknownNameError: lists the names that come closest.
        """
        raise UnknownNameError(self._what, name, tuple(self))
