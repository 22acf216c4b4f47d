"""Closures, contacts and their hinges as plain data, and back."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from liegroups.errors import nearest_names

from ..loops.axes import hinge_of_axes
from ..loops.closures import Closure, PointClosure, RodClosure
from ..loops.contacts import Axes, LocalPoint, PointContact, SurfaceContact
from ..loops.frame_rows import Form, FrameRows
from ..loops.hinges.hinge import Hinge, HingeKind
from ..loops.hinges.pose_map import PoseMap, Rod, Split
from ..loops.pose_rows import PoseClosure, PoseContact
from ..robot import Robot
from .entries import FLAG, FRAME_OR_NAME, NUMBER, NUMBERS, PLACEMENT, PLAIN, Entry, member, several, vector
from .json_values import JsonValue
from .shapes import MAPS, not_a_kind, shape_of


class NotDataError(ValueError):
    """A part of a closure or contact that no data make again: its hinge, or its map."""


def _hinge_data(hinge: Hinge) -> dict[str, Any]:
    word = hinge.kind.name.lower()
    if word not in _HINGES:
        raise NotDataError(f"{hinge}: no constructor Hinge.{word} makes its kind again")
    entries = _HINGES[word][1]
    if not entries.keys() <= hinge.arguments.keys():
        raise NotDataError(f"{hinge} was not made by a constructor of Hinge")
    return {"type": word} | {name: entry.write(hinge.arguments[name]) for name, entry in entries.items()}


def _hinge_from_data(data: JsonValue, *left_out: str) -> Hinge:
    make, entries = _HINGES[data.entry("type").word([kind for kind in _HINGES if kind not in left_out])]
    data.only("type", *entries)
    return data.build(make, **{name: entry.read(data.entry(name)) for name, entry in entries.items()})


_PARTS = several(Entry(_hinge_data, lambda data: _hinge_from_data(data, "custom")), 6)  # written as its simple parts
_ARGUMENTS = {"axes": Entry(NUMBERS.write, lambda data: data.matrix(6)), "subhinges": _PARTS}
"""Arguments of hinges that are neither a number nor a vector of three."""


def _table() -> dict[str, tuple[Callable[..., Hinge], dict[str, Entry]]]:
    """Hinges by type: the constructor of that name, and its arguments."""
    found: dict[str, tuple[Callable[..., Hinge], dict[str, Entry]]] = {}
    for kind in HingeKind:
        word = kind.name.lower()
        make = hinge_of_axes if kind is HingeKind.COMPOSED else getattr(Hinge, word, None)
        if make is not None:
            given = {name: p.annotation for name, p in signature(make).parameters.items()}
            plain = {name: NUMBER if said == "float" else vector(3) for name, said in given.items()}
            found[word] = make, {name: _ARGUMENTS.get(name, entry) for name, entry in plain.items()}
    return found


_HINGES = _table()


def _map_data(pose_map: PoseMap) -> dict[str, Any]:
    kind = type(pose_map)
    if MAPS.get(kind.__name__) is not kind:
        raise NotDataError(
            f"its pose_map is of the class {kind.__name__}, no dataclass that `constraints.loops` exports, and files "
            "contain data, not code: save the problem without this constraint, and add it after loading"
        )
    data: dict[str, Any] = {"type": kind.__name__}
    for name, entry, value, _ in _map_entries(kind, pose_map):
        if value is not None:
            data[name] = entry.write(value)
    return data


def _map_from_data(data: JsonValue) -> PoseMap:
    word = data.entry("type").text()
    if word not in MAPS:
        near = ", ".join(nearest_names(word, list(MAPS)) or MAPS) or "none"
        data.entry("type").refuse(
            f"{word!r} is no map of a pose that `constraints.loops` exports (there: {near}); files contain data, not "
            "code: add the constraint in Python"
        )
    kind = MAPS[word]
    entries = _map_entries(kind, None)
    data.only("type", *(name for name, *_ in entries))
    given = {name: entry.read(data.entry(name)) for name, entry, _, required in entries if required or data.has(name)}
    return data.build(kind, **given)


def _map_entries(kind: type[PoseMap], pose_map: PoseMap | None) -> list[tuple[str, Entry, Any, bool]]:
    """Fields of a map: name, entry, what it has there, and whether it must be given."""
    found: list[tuple[str, Entry, Any, bool]] = []
    for name, word, required in shape_of(kind):
        if word not in PLAIN:
            raise NotDataError(f"its {kind.__name__} has a field '{name}' of a type {not_a_kind(word)}")
        found.append((name, PLAIN[word], getattr(pose_map, name, None), required))
    return found


_FRAMES = {"predecessor": FRAME_OR_NAME, "successor": FRAME_OR_NAME}
_CONTACT = {"frame": FRAME_OR_NAME, "axes": member(Axes)}
_ROWS = {"form": member(Form), "mask": several(FLAG, 6)}
_MAP = {"pose_map": Entry(_map_data, _map_from_data)}
_FORM = {"form": member(Form)}
LOOPS: dict[str, tuple[Callable[..., FrameRows], dict[str, Entry], dict[str, Entry]]] = {
    "Closure": (Closure, _FRAMES | {"hinge": Entry(_hinge_data, _hinge_from_data)}, _FORM),
    "PointClosure": (PointClosure, _FRAMES, {}),
    "RodClosure": (RodClosure, _FRAMES | {"length": NUMBER}, {}),
    "PoseClosure": (PoseClosure, _FRAMES | _MAP, {}),
    "PoseContact": (PoseContact, {"frame": FRAME_OR_NAME} | _MAP, {"reference": PLACEMENT}),
    "PointContact": (
        PointContact,
        _CONTACT,
        {"normal": vector(3), "anchor": vector(3), "error_axes": member(Axes)} | _ROWS,
    ),
    "SurfaceContact": (SurfaceContact, _CONTACT, {"anchor": PLACEMENT} | _ROWS),
}
"""Closures and contacts by the name of their class: the entries that they have, and those that they may have."""

_MAYBE = {"form", "mask", "error_axes"}
"""Entries that are written where they differ from the default."""


def loop_data(owner: FrameRows) -> dict[str, Any]:
    """What a closure or contact was made of, beside its name, robot and space, as its own checked copies have it.

    Raises:
        NotDataError: no data make its hinge, or its map, again.
    """
    _, needed, possible = LOOPS[type(owner).__name__]
    rows, at = owner.function.pose_map, owner.predecessor.placement
    known: dict[str, Any] = {"frame": owner.successor, "reference": at}
    if isinstance(rows, Rod):
        known["length"] = rows.length
    for name in _MAYBE & possible.keys():
        given = getattr(owner, name)
        if given is not None and given is not Form.DERIVATIVE:
            known[name] = given
    if isinstance(rows, Split | LocalPoint) and rows.size == 1 and "mask" not in known:
        known["normal"] = rows.directions[0]
    if owner.has_position:
        known["anchor"] = at.translation if isinstance(owner, PointContact) else at
    data = {name: entry.write(known[name] if name in known else getattr(owner, name)) for name, entry in needed.items()}
    return data | {name: entry.write(known[name]) for name, entry in possible.items() if name in known}


def loop_from_data(data: JsonValue, robot: Robot) -> FrameRows:
    """The closure or contact of `loop_data` on a robot.

    Args:
        data: an object with its type, its name, and the entries of `loop_data`.
        robot: on which it is.
    """
    make, needed, possible = LOOPS[data.entry("type").word(list(LOOPS))]
    data.only("type", "name", *needed, *possible)
    named = {name: entry.read(data.entry(name)) for name, entry in needed.items()}
    named |= data.those({name: entry.read for name, entry in possible.items()})
    return data.build(make, robot, name=data.entry("name").text(), **named)
