"""Reading what a JSON file holds: values that know their place, and are checked as they are taken out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..errors import ConstraintError, FileContentError
from ..words import counted

LONGEST_TEXT = 2000
"""Characters a name in a file may have."""
MOST_COORDINATES = 4000
"""Coordinates a configuration in a file may have, and joints a robot."""

_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


@final
@dataclass(frozen=True, eq=False)
class JsonValue:
    """A value in a parsed file. Its methods return what it should be, or raise a `FileContentError` with its place.

    Args:
        source: the file, in messages.
        place: where the value is, as $.levels[0][2].function.
        value: what `json` made of it.
    """

    source: str
    place: str
    value: Any

    def refuse(self, reason: str, cause: BaseException | None = None) -> NoReturn:
        """Raise the error that names this place.

        Args:
            reason: what is wrong, in words.
            cause: the error that said so.

        Raises:
            FileContentError: always.
        """
        raise FileContentError(self.source, self.place, reason) from cause

    def holds(self, kind: type[Any]) -> bool:
        """Whether the value is a dict, a list, a str, ..."""
        return isinstance(self.value, kind)

    def expect(self, expected: str) -> NoReturn:
        """Raise the error for a value of another kind: what was expected, what is there."""
        words: dict[type[Any], str] = {
            dict: "an object",
            list: "a list",
            str: "a text",
            bool: "a truth value",
            type(None): "null",
        }
        there = next((word for kind, word in words.items() if self.holds(kind)), "a number")
        said = f" {self.value!r}" if isinstance(self.value, str | int | float) and len(str(self.value)) < 60 else ""
        self.refuse(f"expected {expected}, got {there}{said}")

    # Objects and lists.

    def keys(self) -> tuple[str, ...]:
        """Names of the entries of an object."""
        if not self.holds(dict):
            self.expect("an object")
        return tuple(self.value)

    def has(self, name: str) -> bool:
        """Whether an object has an entry that is not null."""
        return name in self.keys() and self.value[name] is not None

    def entry(self, name: str) -> JsonValue:
        """An entry of an object that must be there."""
        if name not in self.keys():
            self.refuse(f"has no entry '{name}'")
        where = f".{name}" if name.isidentifier() else f"['{name}']"
        return JsonValue(self.source, self.place + where, self.value[name])

    def only(self, *names: str) -> JsonValue:
        """This object, which must have no other entries than these."""
        for key in self.keys():
            if key not in names:
                self.refuse(f"has the entry '{key}', which is unknown here; known are {', '.join(names)}")
        return self

    def without(self, *names: str) -> JsonValue:
        """This object without these entries, which are read elsewhere."""
        return JsonValue(self.source, self.place, {key: self.value[key] for key in self.keys() if key not in names})

    def those(self, readers: Mapping[str, Callable[[JsonValue], Any]]) -> dict[str, Any]:
        """What readers make of the entries that are there, by name."""
        return {name: read(self.entry(name)) for name, read in readers.items() if self.has(name)}

    def entries(self) -> Iterator[tuple[str, JsonValue]]:
        """Names and entries of an object, in the order of the file."""
        for key in self.keys():
            if not 0 < len(key) <= LONGEST_TEXT:
                self.refuse(f"has an entry whose name has {len(key)} characters; expected 1 to {LONGEST_TEXT}")
            yield key, self.entry(key)

    def items(self, most: int | None = None) -> list[JsonValue]:
        """The items of a list, at most so many."""
        if not self.holds(list):
            self.expect("a list")
        values: list[Any] = self.value
        if most is not None and len(values) > most:
            self.refuse(f"has {len(values)} items; expected at most {most}")
        return [JsonValue(self.source, f"{self.place}[{i}]", value) for i, value in enumerate(values)]

    # Texts, truth values, integers.

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            self.expect("a text")
        if len(self.value) > LONGEST_TEXT:
            self.refuse(f"is a text of {len(self.value)} characters; expected at most {LONGEST_TEXT}")
        return self.value

    def word(self, words: Sequence[str]) -> str:
        """One of some words."""
        if not isinstance(self.value, str) or self.value not in words:
            self.expect(f"one of {', '.join(words)}")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self.expect("true or false")
        return self.value

    def integer(self, least: int = 0, most: int = 2**31) -> int:
        """An integer in a range, both ends included."""
        if type(self.value) is not int or not least <= self.value <= most:
            self.expect(f"an integer from {least} to {most}")
        return self.value

    def integers(self, least: int = 0, most: int = 2**31) -> list[int]:
        """A list of integers in a range."""
        return [item.integer(least, most) for item in self.items()]

    # Numbers: "inf", "-inf" and "nan" stand for what JSON has no sign for.

    def number(self) -> float:
        """A finite number."""
        number = self.extended()
        if not math.isfinite(number):
            self.expect("a finite number")
        return number

    def vector(self, size: int | None = None, finite: bool = True) -> Vector:
        """A list of numbers.

        Args:
            size: how many there must be.
            finite: whether infinities and NaN are refused.
        """
        items = self.items()
        if size is not None and len(items) != size:
            self.refuse(f"expected {counted(size, 'number')}, got {len(items)}")
        numbers = [item.number() if finite else item.extended() for item in items]
        return np.array(numbers, dtype=np.float64)

    def matrix(self, columns: int | None = None) -> Matrix:
        """A list of rows of as many finite numbers each; an object {"shape": [m, n]} where it has no entry."""
        if self.holds(dict):
            sizes = self.only("shape").entry("shape").integers(0, MOST_COORDINATES)
            if len(sizes) != 2 or all(sizes):
                self.refuse("expected the shape of an empty matrix, two numbers of which one is 0")
            return np.zeros(sizes)
        rows = [item.vector(columns) for item in self.items()]
        if not rows or any(row.size != rows[0].size for row in rows):
            self.refuse("expected rows of the same length")
        return np.array(rows)

    def extended(self) -> float:
        """A number, infinity, or NaN."""
        value = self.value
        if isinstance(value, str) and value in _SPECIAL:
            return _SPECIAL[value]
        if type(value) not in (int, float):
            self.expect("a number")
        try:
            return float(value)
        except OverflowError:
            self.refuse("is an integer too large for a float")

    def build(self, make: Any, *arguments: Any, **named: Any) -> Any:
        """Call a constructor on what was read here; whatever it raises, the file is to blame, and this its place."""
        try:
            with np.errstate(all="ignore"):  # numbers out of all proportion are for the checks of the constructor
                return make(*arguments, **named)
        except FileContentError:
            raise
        except ConstraintError as error:
            self.refuse(str(error), error)
        except Exception as error:  # pinocchio and numpy raise what they like on wrong data
            self.refuse(f"cannot be built: {type(error).__name__}: {error}", error)
