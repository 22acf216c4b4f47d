"""Entries of files, each written and read in one way: a table of them serves the writer and the reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from ..functions.balance.support import Support
from ..functions.contact.contact_surface import Surface
from ..robot.frame import Frame
from .joint_models import placement_data, placement_from_data
from .json_values import MOST_COORDINATES, JsonValue


@dataclass(frozen=True)
class Entry:
    """One kind of entry: what writes it as data, and what reads it from a file."""

    write: Callable[[Any], Any]
    read: Callable[[JsonValue], Any]


def vector(size: int | None = None, finite: bool = True) -> Entry:
    """Numbers in a row: how many there must be, and whether infinities are refused."""
    return Entry(lambda numbers: np.asarray(numbers, dtype=np.float64).tolist(), lambda data: data.vector(size, finite))


def several(entry: Entry, most: int = MOST_COORDINATES) -> Entry:
    """A list of entries of one kind."""
    return Entry(
        lambda things: [entry.write(thing) for thing in things],
        lambda data: [entry.read(item) for item in data.items(most)],
    )


def member(kind: type[Enum]) -> Entry:
    """A member of an enumeration, by its name."""
    return Entry(lambda one: one.name, lambda data: kind[data.word(list(kind.__members__))])


def record(make: Callable[..., Any], **entries: Entry) -> Entry:
    """An object that is made of its attributes: an entry for each, under its name."""

    def write(thing: Any) -> dict[str, Any]:
        return {name: entry.write(getattr(thing, name)) for name, entry in entries.items()}

    def read(data: JsonValue) -> Any:
        data.only(*entries)
        return data.build(make, **{name: entry.read(data.entry(name)) for name, entry in entries.items()})

    return Entry(write, read)


def _numbers_data(numbers: Any) -> Any:
    array = np.asarray(numbers, dtype=np.float64)
    return array.tolist() if array.size or array.ndim < 2 else {"shape": list(array.shape)}


def _numbers(data: JsonValue) -> Any:
    rows = data.holds(list) and any(item.holds(list) for item in data.items()[:1])
    return data.matrix() if rows or data.holds(dict) else data.vector()


TEXT = Entry(str, JsonValue.text)
FLAG = Entry(bool, JsonValue.flag)
INTEGER = Entry(int, JsonValue.integer)
NUMBER = Entry(float, JsonValue.number)
NUMBERS = Entry(_numbers_data, _numbers)
"""A vector or a matrix."""
PLACEMENT = Entry(placement_data, placement_from_data)
JOINT = Entry(int, lambda data: data.integer(0, MOST_COORDINATES))
"""The index of a joint."""
FRAME = record(Frame, name=TEXT, joint=JOINT, joint_name=TEXT, placement=PLACEMENT)
FRAME_OR_NAME = Entry(
    lambda frame: FRAME.write(frame) if isinstance(frame, Frame) else frame,
    lambda data: data.text() if data.holds(str) else FRAME.read(data),
)
_SURFACE = record(Surface, name=TEXT, frame=FRAME, points=Entry(NUMBERS.write, lambda data: data.matrix(3)))
_SUPPORT = record(
    Support,
    frame=FRAME,
    points=Entry(NUMBERS.write, lambda data: data.matrix(3)),
    friction=NUMBER,
    normal=Entry(NUMBERS.write, lambda data: data.vector(3)),
    edges=INTEGER,
)
PLAIN: dict[str, Entry] = {
    "frame": FRAME_OR_NAME,
    "numbers": NUMBERS,
    "names": Entry(list, lambda data: tuple(item.text() for item in data.items(MOST_COORDINATES))),
    "surface": _SURFACE,
    "surfaces": several(_SURFACE),
    "supports": several(_SUPPORT),
    "text": TEXT,
    "flag": FLAG,
    "integer": INTEGER,
    "number": NUMBER,
}
"""Fields of functions that hold nothing that is shared, by their kind."""
