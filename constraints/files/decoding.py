"""From plain data back to constraints, functions, spaces and robots. Every constructor checks what it is given."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, TypeVar, cast

from liegroups import ProductSpace, Rn, Segments, Space

from ..functions.function import Function
from ..robot import Robot, rigid_transform
from ..robot.space import RobotSpace
from ..rows.comparison import Comparison
from ..rows.explicit import Explicit
from ..rows.implicit import Implicit
from ..rows.row_owner import RowOwner
from ..words import counted
from .encoding import DEEPEST, GROUPS
from .entries import FLAG, FRAME_OR_NAME, PLACEMENT, PLAIN, member, several, vector
from .json_values import MOST_COORDINATES, JsonValue
from .loops import LOOPS, loop_from_data
from .robots import SPACE, robot_from_data
from .shapes import FORMER, SHIPPED, shape_of

MOST_PARTS = 20_000
"""Functions and spaces that a function may be made of, one that is used twice counted twice."""

_T = TypeVar("_T")
_ROWS = ("comparison", "rhs", "mask")
_INTERVALS = ("scale", "margin", "lower", "upper")
_COMPARISON = member(Comparison)


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
        rows = {"Implicit": self._implicit, "Explicit": self._explicit, **dict.fromkeys(LOOPS, self._loop)}
        functions = dict.fromkeys((*SHIPPED, *FORMER), self._function)
        spaces = {"ProductSpace": self._product, "RobotSpace": self._robot_space}
        robots = {"Robot": self._robot}
        self._kinds: dict[str, dict[str, Callable[[JsonValue], Any]]] = {
            "a constraint": rows,
            "a function": functions,
            "a space": spaces,
            "a robot": robots,
            "a robot or a space": robots | spaces,
            "shared data": robots | spaces | rows | functions,
        }
        for name, data in shared.entries():
            self._parts = 0
            self._shared[name] = self._node(data, object, "shared data"), self._parts
        self._parts = 0

    # Constraints

    def constraint(self, data: JsonValue) -> RowOwner:
        """A constraint."""
        return self._node(data, RowOwner, "a constraint")

    def _loop(self, data: JsonValue) -> RowOwner:
        owner = loop_from_data(data.without("robot", "space"), self.robot(data.entry("robot")))
        return data.build(owner.on, self.space(data.entry("space"))) if data.has("space") else owner

    def _implicit(self, data: JsonValue) -> Implicit:
        data.only("type", "name", "function", *_ROWS, *_INTERVALS)
        f = self.function(data.entry("function"))
        rows = self._rows(data, f.outputs.nv, f.outputs.nq)
        rows |= data.those(dict.fromkeys(_INTERVALS, vector(f.outputs.nv, finite=False).read))
        return data.build(Implicit, f, name=data.entry("name").text(), **rows)

    def _explicit(self, data: JsonValue) -> Explicit:
        readers: dict[str, Callable[[JsonValue], Any]] = {
            **dict.fromkeys(("g", "g_inverse", "implicit", "rhs_map"), self.function),
            "inputs": self.segments,
            "whole": self.space,
            "level": lambda entry: entry.integer(0, 1000),
            "has_branches": FLAG.read,
        }
        data.only("type", "name", "f", "outputs", *readers, *_ROWS)
        named = data.those(readers)
        f, outputs = self.function(data.entry("f")), self.segments(data.entry("outputs"))
        group = named["implicit"].outputs if "implicit" in named else f.outputs
        named |= self._rows(data, group.nv, group.nq)
        return data.build(Explicit, f, outputs, name=data.entry("name").text(), **named)

    @staticmethod
    def _rows(data: JsonValue, size: int, rhs_size: int) -> dict[str, Any]:
        def comparisons(entry: JsonValue) -> Any:
            if not entry.holds(list):
                return _COMPARISON.read(entry)
            return [None if item.value is None else _COMPARISON.read(item) for item in entry.items(size)]

        readers = {"comparison": comparisons, "mask": several(FLAG, size).read, "rhs": vector(rhs_size).read}
        return data.those(readers)

    # Functions

    def function(self, data: JsonValue) -> Function:
        """A function."""
        return self._node(data, Function, "a function")

    def _function(self, data: JsonValue) -> Function:
        kind = data.entry("type").text()
        cls, former = FORMER.get(kind) or (SHIPPED[kind], {})
        if kind in SHIPPED and not any(data.has(entry) for entry in former.values()):
            former = {}
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
            "frame or placement": _frame_or_placement,
            **{kind: entry.read for kind, entry in PLAIN.items()},
        }
        return readers[kind](data)

    def _functions(self, data: JsonValue) -> list[Function]:
        functions = [self.function(item) for item in data.items(MOST_COORDINATES)]
        self._limited(data, sum(f.outputs.nq for f in functions), "values")
        return functions

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
        return self._node(data, Space, "a space")

    def _product(self, data: JsonValue) -> Space:
        data.only("type", "factors", "names")
        factors = [self.space(item) for item in data.entry("factors").items(MOST_COORDINATES)]
        self._limited(data, sum(factor.nq for factor in factors), "coordinates")
        names = [item.text() for item in data.entry("names").items(len(factors))] if data.has("names") else None
        return data.build(ProductSpace, factors, names)

    @staticmethod
    def _robot_space(data: JsonValue) -> RobotSpace:
        return SPACE.read(data.without("type"))

    def robot(self, data: JsonValue) -> Robot:
        """A robot."""
        return self._node(data, Robot, "a robot")

    def _robot(self, data: JsonValue) -> Robot:
        space = self.space(data.entry("space"))
        if not isinstance(space, RobotSpace):
            data.entry("space").refuse("expected the space of a robot")
        return robot_from_data(data.without("type", "space"), space)

    def where(self, data: JsonValue) -> Any:
        """A robot or a space."""
        if data.holds(str):
            return self.space(data)
        return self._node(data, object, "a robot or a space")

    def segments(self, data: JsonValue) -> Segments:
        """A block of a space."""
        data.only("q", "v", "space")
        q, v = (tuple(data.entry(name).integers(0, MOST_COORDINATES)) for name in ("q", "v"))
        for name, indices in (("q", q), ("v", v)):
            if any(a >= b for a, b in pairwise(indices)):
                data.entry(name).refuse("expected increasing indices")
        return data.build(Segments, q, v, self.space(data.entry("space")))

    # Sharing, and limits

    def _node(self, data: JsonValue, wanted: type[_T], what: str) -> _T:
        """Build what an object with a type describes, or take what its reference names."""
        kinds = self._kinds[what]
        if "ref" in data.keys():
            return self._referred(data.only("ref").entry("ref"), wanted, what)
        kind = data.entry("type").text()
        if kind not in kinds:
            known = sorted(set(kinds) - set(FORMER))
            near = difflib.get_close_matches(kind, known, n=3) or known
            data.entry("type").refuse(f"expected {what}, but there is no type {kind!r}; {_listed(near)}")
        self._depth += 1
        if self._depth > DEEPEST:
            data.refuse(f"is nested more than {DEEPEST} levels deep")
        built: Any = kinds[kind](data)
        self._depth -= 1
        self._count(data, len(built.factors) if isinstance(built, RobotSpace) else 1)
        return cast("_T", built)

    def _referred(self, data: JsonValue, wanted: type[_T], what: str) -> _T:
        name = data.text()
        if name not in self._shared:
            data.refuse(f"no shared data with the name {name!r} are defined before this; {_listed(self._shared)}")
        built, parts = self._shared[name]
        if not isinstance(built, wanted):
            data.refuse(f"expected {what}, {name!r} is a {type(built).__name__}")
        self._count(data, 1 if isinstance(built, Robot) else parts)
        return built

    def _count(self, data: JsonValue, parts: int) -> None:
        self._parts += parts
        if self._parts > MOST_PARTS:
            data.refuse(f"has more than {MOST_PARTS} functions and spaces")

    @staticmethod
    def _limited(data: JsonValue, size: int, what: str) -> None:
        if size > MOST_COORDINATES:
            data.refuse(f"has {what} of {counted(size, 'number')}; expected at most {MOST_COORDINATES}")


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    return f"the nearest are {', '.join(found[:8])}" if found else "there are none"


def _frame_or_placement(data: JsonValue) -> Any:
    is_placement = data.holds(dict) and "rotation" in data.keys()
    return (PLACEMENT if is_placement else FRAME_OR_NAME).read(data)
