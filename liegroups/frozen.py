"""Values that do not change once they are made: fields that are set once, arrays that are read-only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Entry = TypeVar("_Entry", bound=np.generic)
_Made = TypeVar("_Made")


def set_fields(made: object, /, **fields: object) -> None:
    """Set fields of a frozen dataclass: in its `__post_init__`, or of a copy that nobody else has yet.

    Args:
        made: the object.
        fields: value by name.
    """
    for name, value in fields.items():
        object.__setattr__(made, name, value)


def keep_own(made: object, /, *names: str) -> None:
    """Give fields that are read again later a copy of their own: what a caller does to an array afterwards is not seen.

    Args:
        made: the object, in its `__post_init__`.
        names: fields as they were given; what cannot be copied is taken as it is.
    """
    for name in names:
        given = getattr(made, name)
        copied = getattr(given, "copy", None) or getattr(given, "__copy__", None)  # array.array has the latter alone
        if copied is not None:
            set_fields(made, **{name: copied()})


def frozen(kind: type[_Made], part: Mapping[str, Any], /, **fields: object) -> _Made:
    """A frozen dataclass without its constructor, which sets fields one by one past its own lock.

    For results that are made at every call: 0.6 us instead of 1.7 us for 17 fields.

    Args:
        kind: a dataclass with neither slots nor `__post_init__`.
        part: fields by name.
        fields: all others that have no default.
    """
    made = object.__new__(kind)
    made.__dict__.update(part, **fields)
    return made


def read_only(array: NDArray[_Entry]) -> NDArray[_Entry]:
    """The same array, which nobody writes to from now on: one that is the caller's own."""
    array.setflags(False)  # pyright: ignore[reportCallIssue]  # by position: 0.03 us less
    return array


def read_only_copy(array: NDArray[_Entry]) -> NDArray[_Entry]:
    """A copy that nobody writes to, of an array that may change."""
    return read_only(array.copy())
