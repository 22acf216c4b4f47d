"""A map of a pose that a user gave: its mistakes are found, and its messages say whose rows it makes."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Matrix, Vector

from ...errors import FunctionError, NoEnclosureError, UndefinedError
from ...functions.enclosures.box import Enclosure
from ...functions.frames.slopes import Slopes
from ...ranges import whole_number
from ...robot.model.pinocchio import pin
from .enclosing import PoseOnBox
from .pose_map import PoseMap

MOST_ROWS = 6
"""Rows of a map: a pose has six freedoms."""

_SOMEWHERE: Any = pin.exp6(np.array([0.4, -0.3, 0.6, 0.3, -0.5, 0.7]))
_TWIST = np.array([0.5, 0.2, -0.4, 0.3, -0.6, 0.1])
_WRITE = "write each entry with =, for example out[:] = ..., and return nothing"


@final
class GivenMap(PoseMap):
    """The map that a user gave for the rows of a contact or a closure: the same rows.

    It is tried once, at some pose.

    Args:
        given: the map.
        name: of the contact or closure.

    Raises:
        WrongObjectError: it is no `PoseMap`, or an abstract one, or its size is no whole number.
        OptionError: its size is not in 1 to 6.
        FunctionError: it returns its value, or leaves entries of it unwritten; names the class.
    """

    __slots__ = ("given", "name", "size")

    def __init__(self, given: PoseMap, name: str) -> None:
        self.given: Any = expect(given, PoseMap, f"pose_map of '{name}'", "an object of a class derived from PoseMap")
        self.name, kind = name, type(given).__name__
        self.size = whole_number(getattr(given, "size", None), f"size of {kind}", 1, MOST_ROWS)
        value, second = np.full((2, self.size), np.nan)
        try:
            self.value(_SOMEWHERE, value, np.zeros((self.size, 6)))
            self.second(_SOMEWHERE, _TWIST, _TWIST, second)
        except UndefinedError:  # it may be so there
            return
        for word, out in (("value", value), ("second", second)):
            if np.isnan(out).any():
                raise FunctionError(kind, f"{kind}.{word} leaves entries of `out` unwritten, or NaN", _WRITE)

    def _write(self, word: str, *arguments: Any) -> None:
        """Call a method that writes.

        Raises:
            UndefinedError: the map is undefined at the pose; names the contact or closure.
            FunctionError: the method returns something.
        """
        try:
            returned = getattr(self.given, word)(*arguments)
        except UndefinedError as error:
            raise UndefinedError(f"'{self.name}': {error}") from error
        if returned is not None:
            kind = type(self.given).__name__
            raise FunctionError(kind, f"{kind}.{word} returned {type(returned).__name__}, not None", _WRITE)

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        self._write("value", pose, out, D)

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        self._write("second", pose, twist, acceleration, out)

    def value_and_second(
        self, pose: Any, twist: Vector, acceleration: Vector, out: Vector, D: Matrix, second: Vector
    ) -> None:
        """As `PoseMap.value_and_second`."""
        self._write("value_and_second", pose, twist, acceleration, out, D, second)

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        """As `PoseMap.slopes`."""
        try:
            found = self.given.slopes(pose, twist, acceleration, multipliers)
        except UndefinedError as error:
            raise UndefinedError(f"'{self.name}': {error}") from error
        return expect(found, Slopes, f"what {type(self.given).__name__}.slopes returned")

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`: of maps of the library; one that a user wrote has none."""
        if type(self.given).__module__.partition(".")[0] != "constraints":
            raise NoEnclosureError(type(self.given).__name__, "it is a map that a user gave")
        return self.given.enclosure(at)

    @property
    def has_exact_slopes(self) -> bool:
        """As of `PoseMap`."""
        return bool(self.given.has_exact_slopes)
