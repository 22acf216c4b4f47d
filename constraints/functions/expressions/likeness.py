"""Which functions are alike: of one class and made of the same things, so that one value serves for both."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

import numpy as np

from liegroups import Segments, Space

from ...point import PlacedSpace
from ...robot import Frame
from ..function import Function


class Likeness:
    """Numbers for functions: those that are alike get the same one. It keeps the functions that it has met."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[int, object]] = {}
        self._numbers: dict[Hashable, int] = {}

    def number(self, f: Function) -> int:
        """The number of a function.

        Functions of classes that are not of this library are alike only if they are the same object.

        Args:
            f: the function.
        """
        met = self._met.get(id(f))
        if met is None:
            ours = type(f).__module__.partition(".")[0] == "constraints"
            key = (type(f), *((name, self._key(entry)) for name, entry in vars(f).items())) if ours else id(f)
            met = self._met[id(f)] = self._numbers.setdefault(key, len(self._numbers)), f
        return met[0]

    def _key(self, thing: Any) -> Hashable:
        """What stands for something that a function is made of; itself, by its identity, where nothing else does."""
        if isinstance(thing, str | int | float | None):
            return type(thing), repr(thing)
        if isinstance(thing, np.ndarray):
            array: Any = thing
            return array.shape, array.dtype.str, array.tobytes()
        if isinstance(thing, Function):
            return Function, self.number(thing)
        if isinstance(thing, tuple | list):
            return tuple(self._key(entry) for entry in cast("tuple[Any, ...]", thing))
        if isinstance(thing, Frame):
            return Frame, thing.name, thing.joint, thing.placement.homogeneous.tobytes()
        if isinstance(thing, Segments):
            return thing.q, thing.v, self._key(thing.space)
        if isinstance(thing, Space) and not _of_robots(thing):
            return thing
        self._met[id(thing)] = -1, thing  # its id is its own as long as it lives
        return id(thing)


def _of_robots(space: Space) -> bool:
    return isinstance(space, PlacedSpace) or any(isinstance(factor.space, PlacedSpace) for factor in space.factors)
