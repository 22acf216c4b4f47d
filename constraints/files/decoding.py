"""From plain data back to constraints, functions, spaces and robots. Every constructor checks what it is given."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, TypeVar, cast

from liegroups import ProductSpace, Rn, Segments, Space
from liegroups.arrays import Vector

from ..functions.contact.contact_surface import Surface
from ..functions.function import Function
from ..robot import Frame, Robot, rigid_transform
from ..robot.space import RobotSpace
from ..rows.comparison import Comparison
from ..rows.explicit import Explicit
from ..rows.implicit import Implicit
from ..rows.row_owner import RowOwner
from ..words import counted
from .encoding import DEEPEST, GROUPS
from .joint_models import placement_from_data
from .json_values import MOST_COORDINATES, JsonValue
from .loops import LOOPS, loop_from_data
from .robots import frame_from_data, robot_from_data, space_from_data
from .shapes import FORMER, SHIPPED, shape_of

MOST_PARTS = 20_000
"""Functions and spaces that a function may be made of, one that is used twice counted twice."""

_T = TypeVar("_T")
_ROWS = ("comparison", "rhs", "mask")
_INTERVALS = ("scale", "margin", "lower", "upper")


class Decoder:
    """Builds objects from data. What is shared is built once, in the order of the file.

    Args:
        shared: the object of shared data, by name.

    Raises:
        FileContentError: something is wrong with the data; its place is named.
    """

    def __init__(self, shared: JsonValue) -> None:
        self._shared: dict[str, tuple[object, int]] = {}
        self._parts = 0
        self._depth = 0
        for name, data in shared.entries():
            self._parts = 0
            self._shared[name] = self._any(data), self._parts
        self._parts = 0

    # Constraints

    def constraint(self, data: JsonValue) -> RowOwner:
        """A constraint."""
        return self._node(data, RowOwner, "a constraint", self._constraints)

    @property
    def _constraints(self) -> dict[str, Callable[[JsonValue], RowOwner]]:
        return {"Implicit": self._implicit, "Explicit": self._explicit, **dict.fromkeys(LOOPS, self._loop)}

    def _loop(self, data: JsonValue) -> RowOwner:
        owner = loop_from_data(data, self.robot(data.entry("robot")), ("robot", "space"))
        return data.build(owner.on, self.space(data.entry("space"))) if data.has("space") else owner

    def _implicit(self, data: JsonValue) -> Implicit:
        data.only("type", "name", "function", *_ROWS, *_INTERVALS)
        f = self.function(data.entry("function"))
        rows = self._rows(data, f.outputs.nv, f.outputs.nq)
        for name in _INTERVALS:
            if data.has(name):
                rows[name] = data.entry(name).vector(f.outputs.nv, finite=False)
        return data.build(Implicit, f, name=data.entry("name").text(), **rows)

    def _explicit(self, data: JsonValue) -> Explicit:
        functions = ("g", "g_inverse", "implicit", "rhs_map")
        data.only("type", "name", "f", "outputs", "inputs", *functions, "whole", *_ROWS, "level")
        named: dict[str, Any] = {name: self.function(data.entry(name)) for name in functions if data.has(name)}
        f, outputs = self.function(data.entry("f")), self.segments(data.entry("outputs"))
        if data.has("inputs"):
            named["inputs"] = self.segments(data.entry("inputs"))
        if data.has("whole"):
            named["whole"] = self.space(data.entry("whole"))
        if data.has("level"):
            named["level"] = data.entry("level").integer(0, 1000)
        group = named["implicit"].outputs if "implicit" in named else f.outputs
        named |= self._rows(data, group.nv, group.nq)
        return data.build(Explicit, f, outputs, name=data.entry("name").text(), **named)

    @staticmethod
    def _rows(data: JsonValue, size: int, rhs_size: int) -> dict[str, Any]:
        rows: dict[str, Any] = {}
        if data.has("comparison"):
            entry = data.entry("comparison")
            if entry.holds(list):
                rows["comparison"] = [None if e.value is None else _comparison(e) for e in entry.items(size)]
            else:
                rows["comparison"] = _comparison(entry)
        if data.has("mask"):
            rows["mask"] = [item.flag() for item in data.entry("mask").items(size)]
        if data.has("rhs"):
            rows["rhs"] = data.entry("rhs").vector(rhs_size)
        return rows

    # Functions

    def function(self, data: JsonValue) -> Function:
        """A function."""
        return self._node(data, Function, "a function", self._function_kinds)

    @property
    def _function_kinds(self) -> dict[str, Callable[[JsonValue], Function]]:
        return dict.fromkeys((*SHIPPED, *FORMER), self._function)

    def _function(self, data: JsonValue) -> Function:
        kind = data.entry("type").text()
        cls, former = FORMER.get(kind) or (SHIPPED[kind], {})
        entries = {former.get(field.name, field.name): field for field in shape_of(cls)}
        fields: dict[str, Any] = {}
        point = kind == "RelativeCenterOfMass" and data.has("reference")  # which it took off the centre, in its frame
        data.only("type", *entries, *(["reference"] if point else []))
        for entry, field in entries.items():
            if field.required or entry != field.name or data.has(entry):
                fields[field.name] = self._field(data.entry(entry), field.kind)
        if point:
            moved = rigid_transform(data.entry("reference").vector(3))
            fields["reference"] = data.build(fields["robot"].frame, fields["reference"], moved)
        f = data.build(cls, **fields)
        self._limited(data, f.outputs.nq, "a value")
        return f

    def _field(self, data: JsonValue, kind: str) -> Any:
        readers: dict[str, Callable[[JsonValue], Any]] = {
            "robot": self.robot,
            "function": self.function,
            "functions": self._functions,
            "space": self.space,
            "segments": self.segments,
            "frame": self._frame,
            "frame or placement": self._frame_or_placement,
            "numbers": _numbers,
            "names": lambda entry: tuple(item.text() for item in entry.items(MOST_COORDINATES)),
            "surface": _surface,
            "surfaces": lambda entry: [_surface(item) for item in entry.items(MOST_COORDINATES)],
            "text": JsonValue.text,
            "flag": JsonValue.flag,
            "integer": JsonValue.integer,
            "number": JsonValue.number,
        }
        return readers[kind](data)

    def _functions(self, data: JsonValue) -> list[Function]:
        functions = [self.function(item) for item in data.items(MOST_COORDINATES)]
        self._limited(data, sum(f.outputs.nq for f in functions), "values")
        return functions

    @staticmethod
    def _frame(data: JsonValue) -> Frame | str:
        return data.text() if data.holds(str) else frame_from_data(data)

    def _frame_or_placement(self, data: JsonValue) -> Any:
        is_placement = data.holds(dict) and "rotation" in data.keys()
        return placement_from_data(data) if is_placement else self._frame(data)

    # Spaces and robots

    def space(self, data: JsonValue) -> Space:
        """A space."""
        if data.holds(str):
            name = data.text()
            if name in GROUPS:
                return GROUPS[name]
            if not (name[:1] == "R" and name[1:].isascii() and name[1:].isdigit() and len(name) < 9):
                data.expect(f"a space, R followed by a number, {', '.join(GROUPS)}, or an object with its type")
            self._limited(data, int(name[1:]), "coordinates")
            return Rn(int(name[1:]))
        return self._node(data, Space, "a space", {"ProductSpace": self._product, "RobotSpace": self._robot_space})

    def _product(self, data: JsonValue) -> Space:
        data.only("type", "factors", "names")
        factors = [self.space(item) for item in data.entry("factors").items(MOST_COORDINATES)]
        self._limited(data, sum(factor.nq for factor in factors), "coordinates")
        names = [item.text() for item in data.entry("names").items(len(factors))] if data.has("names") else None
        return data.build(ProductSpace, factors, names)

    @staticmethod
    def _robot_space(data: JsonValue) -> RobotSpace:
        return space_from_data(data.only("type", "model"))

    def robot(self, data: JsonValue) -> Robot:
        """A robot."""
        return self._node(data, Robot, "a robot", {"Robot": self._robot})

    def _robot(self, data: JsonValue) -> Robot:
        space = self.space(data.entry("space"))
        if not isinstance(space, RobotSpace):
            data.entry("space").refuse("expected the space of a robot")
        return robot_from_data(data, space, ("type", "space"))

    def where(self, data: JsonValue) -> Any:
        """A robot or a space."""
        if data.holds(str):
            return self.space(data)
        kinds: dict[str, Callable[[JsonValue], Any]] = {"Robot": self._robot, "ProductSpace": self._product}
        return self._node(data, object, "a robot or a space", kinds | {"RobotSpace": self._robot_space})

    def segments(self, data: JsonValue) -> Segments:
        """A block of a space."""
        data.only("q", "v", "space")
        q, v = (tuple(data.entry(name).integers(0, MOST_COORDINATES)) for name in ("q", "v"))
        for name, indices in (("q", q), ("v", v)):
            if any(a >= b for a, b in pairwise(indices)):
                data.entry(name).refuse("expected increasing indices")
        return data.build(Segments, q, v, self.space(data.entry("space")))

    # Sharing, and limits

    def _any(self, data: JsonValue) -> object:
        """What the shared data say it is."""
        kinds: dict[str, Callable[[JsonValue], Any]] = {
            "Robot": self._robot, "ProductSpace": self._product, "RobotSpace": self._robot_space,
        }  # fmt: skip
        kinds |= self._constraints
        return self._node(data, object, "shared data", kinds | self._function_kinds)

    def _node(self, data: JsonValue, wanted: type[_T], what: str, kinds: dict[str, Callable[[JsonValue], Any]]) -> _T:
        """Build what an object with a type describes, or take what its reference names."""
        if "ref" in data.keys():
            return self._referred(data.only("ref").entry("ref"), wanted, what)
        kind = data.entry("type").text()
        if kind not in kinds:
            known = sorted(set(kinds) - set(FORMER))
            near = difflib.get_close_matches(kind, known, n=3) or known
            data.entry("type").refuse(f"expected {what}, and there is none of type {kind!r}; {_listed(near)}")
        self._depth += 1
        if self._depth > DEEPEST:
            data.refuse(f"is nested more than {DEEPEST} deep")
        built: Any = kinds[kind](data)
        self._depth -= 1
        self._count(data, len(built.factors) if isinstance(built, RobotSpace) else 1)
        return cast("_T", built)

    def _referred(self, data: JsonValue, wanted: type[_T], what: str) -> _T:
        name = data.text()
        if name not in self._shared:
            data.refuse(f"no shared data before this are called {name!r}; {_listed(self._shared)}")
        built, parts = self._shared[name]
        if not isinstance(built, wanted):
            data.refuse(f"expected {what}, {name!r} is a {type(built).__name__}")
        self._count(data, 1 if isinstance(built, Robot) else parts)
        return built

    def _count(self, data: JsonValue, parts: int) -> None:
        self._parts += parts
        if self._parts > MOST_PARTS:
            data.refuse(f"is made of more than {MOST_PARTS} functions and spaces")

    @staticmethod
    def _limited(data: JsonValue, size: int, what: str) -> None:
        if size > MOST_COORDINATES:
            data.refuse(f"has {what} of {counted(size, 'number')}; expected at most {MOST_COORDINATES}")


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    return f"the nearest are {', '.join(found[:8])}" if found else "there are none"


def _comparison(data: JsonValue) -> Comparison:
    return Comparison[data.word([kind.name for kind in Comparison])]


def _surface(data: JsonValue) -> Surface:
    data.only("name", "frame", "points")
    frame = frame_from_data(data.entry("frame"))
    return data.build(Surface, data.entry("name").text(), frame, data.entry("points").matrix(3))


def _numbers(data: JsonValue) -> Vector:
    """A vector, or a matrix."""
    rows = data.holds(list) and any(item.holds(list) for item in data.items()[:1])
    return data.matrix() if rows or data.holds(dict) else data.vector()
