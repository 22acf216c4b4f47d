"""From constraints, functions, spaces and robots to plain data. What is used twice is written once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

import liegroups
from liegroups import Group, ProductSpace, Rn, Segments, Space

from ..errors import ModelError, NotSavableError
from ..functions.contact.contact_surface import Surface
from ..functions.frames.mass import MassFunction
from ..functions.from_callable import CompiledFunction, FromCallable
from ..functions.function import Function
from ..loops.frame_rows import FrameRows
from ..loops.hinges.relative_pose import OfRelativePose
from ..reduced import LoopFunction, PlanarLoop
from ..robot import Frame, Robot
from ..robot.space import RobotSpace
from ..rows.comparison import RowTable
from ..rows.explicit import Explicit
from ..rows.implicit import Implicit
from ..rows.row_owner import RowOwner
from .entries import FRAME_OR_NAME, PLACEMENT, PLAIN
from .json_values import LONGEST_TEXT
from .loops import LOOPS, NotDataError, loop_data
from .robots import SPACE, robot_data
from .shapes import SHIPPED, FieldShape, not_a_kind, shape_of

GROUPS: dict[str, Group] = {name: group for name, group in vars(liegroups).items() if isinstance(group, Group)}
"""Groups that a file names: those that liegroups offers."""
DEEPEST = 50
"""How deep functions and products may be nested."""
_WORDS = {"an interval": None}


@dataclass(eq=False)
class _Node:
    """Data that are written where they are used, or among the shared ones where they are used more than once."""

    kind: str
    data: dict[str, Any]
    uses: int = 0
    name: str = ""


class Encoder:
    """Turns objects into data, remembering which it has met: one object stays one object.

    Attributes:
        what: what is being encoded, for messages.
    """

    def __init__(self) -> None:
        self.what = "the problem"
        self._nodes: dict[int, _Node] = {}
        self._kept: list[object] = []  # an id belongs to one object only while it lives
        self._depth = 0

    def finish(self, data: dict[str, Any]) -> dict[str, Any]:
        """The data with what is shared in the entry "shared", in an order in which each needs earlier ones only."""
        counts: dict[str, int] = {}
        shared = [node for node in self._nodes.values() if node.uses > 1]
        for node in shared:
            counts[node.kind] = counts.get(node.kind, 0) + 1
            node.name = f"{node.kind} {counts[node.kind]}"
        return {**_plain(data), "shared": {node.name: _plain(node.data) for node in shared}}

    # Constraints

    def constraint(self, owner: RowOwner, space: Space) -> Any:
        """A constraint of a problem on a space.

        Raises:
            NotSavableError: it, or a part of it, is not data; the constraint is named.
        """
        self.what = f"constraint {owner.name!r}"
        if isinstance(owner, Implicit):
            return self._node(owner, "implicit", lambda: self._implicit(owner))
        if isinstance(owner, Explicit):
            return self._node(owner, "explicit", lambda: self._explicit(owner, space))
        if isinstance(owner, FrameRows) and type(owner).__name__ in LOOPS:
            kind = "contact" if "frame" in LOOPS[type(owner).__name__][1] else "closure"
            return self._node(owner, kind, lambda: self._loop(owner))
        known = f"Implicit and Explicit constraints, {', '.join(LOOPS)}"
        raise self._refusal(f"it is a {type(owner).__name__}; files can contain {known}")

    def _no_target(self, owner: RowOwner) -> None:
        if owner.target is not None:
            raise self._refusal(
                "its right-hand side is a function of time (a Target), but files contain data, not code"
            )

    def _implicit(self, c: Implicit) -> dict[str, Any]:
        self._no_target(c)
        data = {"type": "Implicit", "name": self._text(c.name), "function": self.function(c.function)}
        data |= _rows(c.rows)
        if c.default_rhs.tobytes() != c.group.neutral.tobytes():
            data["rhs"] = c.default_rhs.tolist()
        return data

    def _explicit(self, c: Explicit, space: Space) -> dict[str, Any]:
        bound = c if c.is_bound else c.on(space)
        self._no_target(bound)
        data: dict[str, Any] = {"type": "Explicit", "name": self._text(c.name), "f": self.function(c.f)}
        data["outputs"] = self.segments(c.outputs)
        if c.inputs is not None:
            data["inputs"] = self.segments(c.inputs)
        parts = dict.fromkeys(("g", "g_inverse", "implicit", "rhs_map"), self.function) | {"whole": self.space}
        data |= {name: write(getattr(c, name)) for name, write in parts.items() if getattr(c, name) is not None}
        data |= {name: entry for name, entry in _rows(bound.rows).items() if name in ("comparison", "mask")}
        if bound.default_rhs.tobytes() != bound.group.neutral.tobytes():
            data["rhs"] = bound.default_rhs.tolist()
        data |= {"has_branches": True} if c.has_branches else {}
        return data | ({"level": c.level} if c.level else {})

    def _loop(self, owner: FrameRows) -> dict[str, Any]:
        self._no_target(owner)
        data = {"type": type(owner).__name__, "name": self._text(owner.name), "robot": self.robot(owner.robot)}
        try:
            data |= loop_data(owner)
        except NotDataError as error:
            raise self._refusal(str(error)) from error
        lifted = owner.space is not owner.robot.space
        return data | ({"space": self.space(owner.space)} if lifted else {})

    # Functions

    def function(self, f: Function) -> Any:
        """A function.

        Raises:
            NotSavableError: it wraps Python or machine code, or is of a class that is not one of this library.
        """
        return self._node(f, "function", lambda: self._function(f))

    def _function(self, f: Function) -> dict[str, Any]:
        cls = type(f)
        if isinstance(f, FromCallable):
            raise self._refusal(f"{f.name!r} is a Python function, but files contain data, not code")
        if isinstance(f, CompiledFunction):
            raise self._refusal(f"{f.name!r} is machine code, but files contain data, not code")
        if isinstance(f, OfRelativePose):
            raise self._refusal(
                f"{f.name!r} is the function of a closure or contact: use that object itself as the constraint"
            )
        if isinstance(f, PlanarLoop | LoopFunction):
            raise self._refusal(
                f"{f.name!r} is computed from closures: save the closures, and make them explicit again after loading"
            )
        if SHIPPED.get(cls.__name__) is not cls:
            raise self._refusal(
                f"{f.name!r} is a {cls.__name__}, which is none of constraints.functions: files hold no other ones"
            )
        data: dict[str, Any] = {"type": cls.__name__}
        for field in shape_of(cls):
            value = getattr(f, field.name)
            if isinstance(f, MassFunction) and field.name in ("joints", "subtrees"):
                value = self._bodies(f, field)
            if value is not None:
                data[field.name] = self._field(f, field, value)
        return data

    @staticmethod
    def _bodies(f: MassFunction, field: FieldShape) -> list[str] | None:
        """Names of the joints whose bodies count, where they are not all: a user's list may have changed since."""
        chosen = getattr(f, "joints", None) is not None or getattr(f, "subtrees", None) is not None
        if field.name == "subtrees" or not chosen:
            return None
        return [str(f.robot.model.names[j]) for j in f.moving_joints]

    def _field(self, f: Function, field: FieldShape, value: Any) -> Any:
        writers: dict[str, Callable[[Any], Any]] = {
            "robot": self.robot,
            "function": self.function,
            "functions": lambda functions: [self.function(entry) for entry in functions],
            "space": self.space,
            "segments": self.segments,
            "frame or placement": lambda reference: _frame_or_placement(f, reference),
            **{kind: entry.write for kind, entry in PLAIN.items()},
        }
        if field.kind not in writers:
            raise self._refusal(f"{f.name!r} has a field '{field.name}' of a type {not_a_kind(field.kind)}")
        if field.kind == "surfaces" and isinstance(value, Surface):
            value = [value]
        return writers[field.kind](value)

    # Spaces and robots

    def space(self, space: Space) -> Any:
        """A space.

        Raises:
            NotSavableError: it is of a class that is not one of this library.
        """
        if type(space) is Rn:
            return f"R{space.nq}"
        named = GROUPS.get(space.name)
        if named is not None and isinstance(space, Group) and space.maps == named.maps:
            return space.name
        if isinstance(space, RobotSpace):
            return self._node(space, "robot space", lambda: self._robot_space(space))
        if isinstance(space, ProductSpace):
            return self._node(space, "space", lambda: self._product(space))
        raise self._refusal(f"the space '{space.name}' (a {type(space).__name__}) is not a space of this library")

    def _product(self, space: ProductSpace) -> dict[str, Any]:
        names = space.explicit_names
        data = {"type": "ProductSpace", "factors": [self.space(factor.space) for factor in space.layout.factors]}
        return data if names is None else data | {"names": [self._text(name) for name in names]}

    def _robot_space(self, space: RobotSpace) -> dict[str, Any]:
        try:
            return {"type": "RobotSpace", **SPACE.write(space)}
        except ModelError as error:
            raise self._refusal(str(error)) from error

    def robot(self, robot: Robot) -> Any:
        """A robot."""
        return self._node(
            robot, "robot", lambda: {"type": "Robot", "space": self.space(robot.space), **robot_data(robot)}
        )

    def segments(self, block: Segments) -> dict[str, Any]:
        """A block of a space."""
        return {"q": list(map(int, block.q)), "v": list(map(int, block.v)), "space": self.space(block.space)}

    # Sharing

    def _node(self, thing: object, kind: str, make: Callable[[], dict[str, Any]]) -> _Node:
        node = self._nodes.get(id(thing))
        if node is None:
            self._depth += 1
            if self._depth > DEEPEST:
                raise self._refusal(f"its functions are nested more than {DEEPEST} levels deep")
            node = _Node(kind, make())
            self._depth -= 1
            self._nodes[id(thing)] = node
            self._kept.append(thing)
        node.uses += 1
        return node

    def _text(self, text: str) -> str:
        if len(text) > LONGEST_TEXT:
            raise self._refusal(f"the name {text[:60]!r}... has {len(text)} characters; files allow {LONGEST_TEXT}")
        return text

    def _refusal(self, reason: str) -> NotSavableError:
        return cast("NotSavableError", NotSavableError(self.what, reason))


def _plain(data: Any) -> Any:
    """Data without nodes: each written in place, or as a reference."""
    if isinstance(data, _Node):
        return {"ref": data.name} if data.name else _plain(data.data)
    if isinstance(data, dict):
        return {key: _plain(entry) for key, entry in cast("dict[str, Any]", data).items()}
    return [_plain(entry) for entry in cast("list[Any]", data)] if isinstance(data, list) else data


def _frame_or_placement(f: Any, reference: Any) -> Any:
    """A frame of the robot, or a placement in the world: as the function holds it."""
    if isinstance(reference, str | Frame):
        return FRAME_OR_NAME.write(reference)
    return PLACEMENT.write(f.frame_a.placement)


def _rows(rows: RowTable) -> dict[str, Any]:
    """What a constraint asks for by row, as the arguments that make the same table; defaults are left out."""
    words = [_WORDS.get(word, word) for word in rows.words]
    data: dict[str, Any] = {"comparison": words[0] if words and len(set(words)) == 1 and words[0] else words}
    if not rows.mask.all():
        data["mask"] = rows.mask.tolist()
    if (rows.scale != 1.0).any():
        data["scale"] = rows.scale.tolist()
    above, below = (rows.mask & [word == side for word in words] for side in ("SUPERIOR", "INFERIOR"))
    margin = np.select([above, below], [rows.lower, -rows.upper], 0.0)
    if margin.any():
        data["margin"] = margin.tolist()
    if None in words:
        between = [word is None for word in words]
        data["lower"] = np.where(between, rows.lower, 0.0).tolist()
        data["upper"] = np.where(between, rows.upper, 0.0).tolist()
    return data
