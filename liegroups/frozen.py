"""Values that do not change once they are made: fields that are set once, arrays that are read-only."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Entry = TypeVar("_Entry", bound=np.generic)


def set_fields(made: object, /, **fields: object) -> None:
    """Set fields of a frozen dataclass: in its `__post_init__`, or of a copy that nobody else has yet.

    Args:
        made: the object.
        fields: value by name.
    """
    for name, value in fields.items():
        object.__setattr__(made, name, value)


def read_only(array: NDArray[_Entry]) -> NDArray[_Entry]:
    """The same array, which nobody writes to from now on: one that is the caller's own."""
    array.setflags(write=False)
    return array


def read_only_copy(array: NDArray[_Entry]) -> NDArray[_Entry]:
    """A copy that nobody writes to, of an array that may change."""
    return read_only(array.copy())
