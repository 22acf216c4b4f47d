"""Closures, contacts and their hinges as plain data, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..loops.axes import hinge_of_axes
from ..loops.closures import Closure, PointClosure, RodClosure
from ..loops.contacts import Axes, LocalPoint, PointContact, SurfaceContact
from ..loops.frame_rows import FrameRows
from ..loops.hinge import Hinge
from ..loops.pose_map import Rod, Split
from ..robot import Frame, Robot
from .joint_models import placement_data, placement_from_data
from .json_values import JsonValue
from .robots import frame_data, frame_from_data

_Maker = Callable[..., FrameRows]
LOOPS: dict[str, tuple[_Maker, tuple[str, ...], tuple[str, ...]]] = {
    "Closure": (Closure, ("predecessor", "successor", "hinge"), ()),
    "PointClosure": (PointClosure, ("predecessor", "successor"), ()),
    "RodClosure": (RodClosure, ("predecessor", "successor", "length"), ()),
    "PointContact": (PointContact, ("frame", "axes"), ("normal", "anchor")),
    "SurfaceContact": (SurfaceContact, ("frame", "axes"), ("anchor",)),
}
"""Closures and contacts by the name of their class: the entries that they have, and those that they may have."""

_HINGES: dict[str, tuple[Callable[..., Hinge], tuple[str, ...]]] = {
    "locked": (Hinge.locked, ()),
    "pin": (Hinge.pin, ("axis",)),
    "slider": (Hinge.slider, ("axis",)),
    "helical": (Hinge.helical, ("axis", "pitch")),
    "universal": (Hinge.universal, ("first", "second")),
    "hooke": (Hinge.hooke, ("inboard", "outboard")),
    "cylindrical": (Hinge.cylindrical, ("axis",)),
    "two_sliders": (Hinge.two_sliders, ("normal",)),
    "planar": (Hinge.planar, ("normal",)),
    "gimbal": (Hinge.gimbal, ()),
    "ball": (Hinge.ball, ()),
    "translational": (Hinge.translational, ()),
    "free": (Hinge.free, ()),
    "composed": (hinge_of_axes, ("axes",)),
    "custom": (Hinge.custom, ("subhinges",)),
}
"""Hinges by type: what makes one, and of what."""


class HingeNotDataError(ValueError):
    """A hinge that was made of steps, not by a constructor."""


def loop_data(owner: FrameRows) -> dict[str, Any]:
    """What a closure or contact was made of, beside its name, robot and space, as its own checked copies have it.

    Raises:
        HingeNotDataError: no data make its hinge again.
    """
    if isinstance(owner, PointContact | SurfaceContact):
        return {"frame": frame_data(owner.successor), "axes": owner.axes.name} | _held(owner)
    data: dict[str, Any] = {name: frame_data(getattr(owner, name)) for name in ("predecessor", "successor")}
    if isinstance(owner, Closure):
        data["hinge"] = _hinge_data(owner.hinge)
    elif isinstance(owner.function.pose_map, Rod):
        data["length"] = owner.function.pose_map.length
    return data


def _held(contact: PointContact | SurfaceContact) -> dict[str, Any]:
    """Normal and anchor of a contact."""
    data: dict[str, Any] = {}
    rows, at = contact.function.pose_map, contact.predecessor.placement
    if isinstance(contact, PointContact) and isinstance(rows, Split | LocalPoint) and rows.size == 1:
        data["normal"] = rows.directions[0].tolist()
    if contact.has_position:
        data["anchor"] = at.translation.tolist() if isinstance(contact, PointContact) else placement_data(at)
    return data


def loop_from_data(data: JsonValue, robot: Robot, beside: tuple[str, ...]) -> FrameRows:
    """The closure or contact of `loop_data` on a robot.

    Args:
        data: an object with its type, its name, and the entries of `loop_data`.
        robot: on which it is.
        beside: other entries of it, read elsewhere.
    """
    kind = data.entry("type").word(list(LOOPS))
    make, needed, possible = LOOPS[kind]
    data.only("type", "name", *needed, *possible, *beside)
    readers: dict[str, Callable[[JsonValue], Any]] = {
        "hinge": _hinge_from_data,
        "length": JsonValue.number,
        "axes": lambda entry: Axes[entry.word([axes.name for axes in Axes])],
        "normal": lambda entry: entry.vector(3),
        "anchor": placement_from_data if kind == "SurfaceContact" else lambda entry: entry.vector(3),
    }
    names = [*needed, *(name for name in possible if data.has(name))]
    named = {name: readers.get(name, _frame)(data.entry(name)) for name in names}
    return data.build(make, robot, name=data.entry("name").text(), **named)


def _frame(data: JsonValue) -> Frame | str:
    return data.text() if data.holds(str) else frame_from_data(data)


def _hinge_data(hinge: Hinge) -> dict[str, Any]:
    word = hinge.kind.name.lower()
    data: dict[str, Any] = {"type": word}
    for name in _HINGES[word][1]:
        if name not in hinge.arguments:
            raise HingeNotDataError(f"{hinge} was not made by a constructor of Hinge")
        value = hinge.arguments[name]
        if name == "subhinges":
            data[name] = [_hinge_data(part) for part in value]
        else:
            data[name] = value if name == "pitch" else value.tolist()
    return data


def _hinge_from_data(data: JsonValue, kinds: tuple[str, ...] = tuple(_HINGES)) -> Hinge:
    make, names = _HINGES[data.entry("type").word(kinds)]
    data.only("type", *names)
    plain = tuple(kind for kind in kinds if kind != "custom")  # a custom hinge is written as its simple parts
    readers: dict[str, Callable[[JsonValue], Any]] = {
        "pitch": JsonValue.number,
        "axes": lambda entry: entry.matrix(6),
        "subhinges": lambda entry: [_hinge_from_data(part, plain) for part in entry.items(6)],
    }
    named = {name: readers.get(name, lambda entry: entry.vector(3))(data.entry(name)) for name in names}
    return data.build(make, **named)
