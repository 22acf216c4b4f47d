"""Functions as text: as Python reads them, and as messages name them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from liegroups import Group, ProductSpace, Rn, Segments, Space

from ..point import PlacedSpace
from ..robot import Frame, Robot
from ..robot.model.pinocchio import pin
from ..robot.placement import pose_vector
from ..words import bracketed
from .affine import Affine, Constant
from .algebra import Composition, Difference, Sum
from .expressions.operators import OPERATORS
from .from_callable import FromCallable
from .function import Function
from .lifted import Lifted, same_space
from .restriction import Restriction
from .stacked import Stacked

LONGEST = 160
"""Characters of a name that is made of a formula; a longer one is cut."""


class Words(NamedTuple):
    """A text with how strongly it binds: of sums, of products, of a minus sign, of powers, of names and calls."""

    text: str
    binds: int

    def within(self, least: int) -> str:
        """The text as an operand, in brackets where it binds less than it must."""
        return self.text if self.binds >= least else f"({self.text})"


SUM, PRODUCT, MINUS, POWER, ATOM = range(5)


def formula_of(f: Function) -> str:
    """A function as Python text that gives it again, of `robot` and the names of `constraints.functions`.

    Args:
        f: the function. Spaces and groups in it are called by the names of `liegroups`, Python code by its name.
    """
    return _Writer(_call).words(f).text


def named(f: Function) -> str:
    """A function in messages: an operator of the names of its operands.

    Args:
        f: an expression, that is not declared yet.
    """
    text = _Writer(_name).operator(f).text
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _is_vector(f: Function) -> bool:
    return f.outputs.is_flat


def _name(writer: _Writer, f: Function) -> Words:
    return Words(f.name, ATOM if bracketed(f.name) == f.name else SUM)


class _Writer:
    """Writes operators; everything else is written by `leaf`."""

    def __init__(self, leaf: Callable[[_Writer, Function], Words]) -> None:
        self.leaf = leaf

    def words(self, f: Function, beside: Function | None = None, filled: bool = False) -> Words:
        """A function; numbers alone, if it is a constant beside another operand; one, if that stands for all rows."""
        if type(f) is Constant and _is_vector(f) and beside is not None and type(beside) is not Constant:
            return self.numbers(cast("list[float]", np.asarray(f.constant).tolist()), filled)
        return self.leaf(self, f)

    def numbers(self, numbers: Sequence[float], filled: bool) -> Words:
        """A vector; its number alone where it has one, or one for all rows."""
        shown = [self.number(x) for x in numbers]
        alone = shown[0] if len(shown) == 1 or (filled and len(set(shown)) == 1) else f"[{', '.join(shown)}]"
        return Words(alone, MINUS if alone[0] == "-" else ATOM)

    def number(self, x: float) -> str:
        """A number: exactly in a formula, shortly in a name."""
        return repr(x) if self.leaf is _call else f"{x:.4g}"

    def operator(self, f: Any) -> Words:
        """An operator of its operands."""
        row = OPERATORS[f.operator]
        operands: Sequence[Function] = f.functions
        others = [*operands[1:], operands[0]] if len(operands) > 1 else [None]
        parts = [self.words(part, other) for part, other in zip(operands, others, strict=True)]
        if row.takes_number:
            exponent = int(f.number) if row.sign and f.number == int(f.number) else f.number
            number = self.number(exponent)
            if row.sign:
                return Words(f"{parts[0].within(ATOM)} ** {number}", POWER)
            return Words(f"{row.name}({parts[0].text}, {number})", ATOM)
        if row.sign:
            left, right = parts[0].within(PRODUCT), parts[1].within(MINUS)
            return Words(f"{left} {row.sign} {right}", PRODUCT)
        return Words(f"{row.name}({', '.join(part.text for part in parts)})", ATOM)


def _call(writer: _Writer, f: Function) -> Words:
    """What makes a function: by its operator, or by calling its class."""
    if type(f).__name__ == "Expression":
        return writer.operator(f)
    write = _WRITTEN.get(type(f))
    return _built(writer, f) if write is None else write(writer, f)


def _sum(writer: _Writer, f: Sum) -> Words:
    parts, text = list[Words](), ""
    beside = next((g for g in f.functions if not isinstance(g, Constant)), None)
    for g, c in zip(f.functions, cast("list[float]", np.asarray(f.factors).tolist()), strict=True):
        own = writer.words(g, beside, filled=True)
        if beside is not None and type(g) is Constant:  # nor has one beside a function
            own, c = writer.numbers([c * x for x in np.asarray(g.constant).tolist()], filled=True), 1.0
            if own.binds == MINUS:
                own, c = Words(own.text[1:], ATOM), -1.0
        size = abs(c)
        part = own if size == 1.0 else Words(f"{size!r} * {own.within(MINUS)}", PRODUCT)
        parts.append(part)
        if not text:
            binds = ATOM if part.text[0] == "[" else PRODUCT  # a list has no sign
            text = f"-{part.within(binds)}" if c < 0.0 else part.text
        else:
            text += f" {'-' if c < 0.0 else '+'} {part.within(PRODUCT)}"
    if len(parts) > 1:
        return Words(text, SUM)
    alone = parts[0].binds
    if np.asarray(f.factors)[0] < 0.0:
        alone = PRODUCT if alone == PRODUCT else MINUS
    return Words(text, alone)


def _difference(writer: _Writer, f: Difference) -> Words:
    left, right = writer.words(f.left, f.right, True), writer.words(f.right, f.left, True)
    return Words(f"{left.text} - {right.within(PRODUCT)}", SUM)


def _restriction(writer: _Writer, f: Restriction) -> Words:
    rows = cast("Segments", f.rows).v
    return Words(
        f"{writer.words(f.function).within(ATOM)}[{rows[0] if len(rows) == 1 else list(map(int, rows))}]", ATOM
    )


def _stacked(writer: _Writer, f: Stacked) -> Words:
    return Words(f"stack({', '.join(writer.words(g).text for g in f.functions)})", ATOM)


def _composition(writer: _Writer, f: Composition) -> Words:
    outer, inner = f.outer, writer.words(f.inner).within(MINUS)
    if isinstance(outer, Affine) and not np.any(np.asarray(outer.b)):
        return Words(f"{np.asarray(outer.A).tolist()!r} @ {inner}", PRODUCT)
    return Words(f"{writer.words(outer).within(PRODUCT)} @ {inner}", PRODUCT)


def _lifted(writer: _Writer, f: Lifted) -> Words:
    """On the space where it finds its block by itself; with the block where it does not."""
    space, inner, block = _space(f.space), writer.words(f.function).within(ATOM), f.block
    fitting = [factor for factor in f.space.factors if same_space(f.function.inputs, factor.space)]
    if len(fitting) == 1:
        return Words(f"{inner}.on({space})", ATOM)
    q, v = (tuple(map(int, numbers)) for numbers in (block.q, block.v))
    return Words(f"{inner}.on({space}, Segments({q}, {v}, {_space(block.space)}))", ATOM)


def _callable(writer: _Writer, f: FromCallable) -> Words:
    return Words(f.name, ATOM if f.name.isidentifier() else SUM)


_WRITTEN: dict[type[Function], Callable[[_Writer, Any], Words]] = {
    Sum: _sum,
    Difference: _difference,
    Restriction: _restriction,
    Stacked: _stacked,
    Composition: _composition,
    FromCallable: _callable,
    Lifted: _lifted,
}


def _built(writer: _Writer, f: Any) -> Words:
    """The call of a class that makes an object, or its name where it is not made of its fields."""
    if not dataclasses.is_dataclass(f):
        return Words(str(f), ATOM)
    arguments = list[str]()
    skipped = False
    for entry in dataclasses.fields(f):
        value = getattr(f, entry.name)
        default: Any = _default_name(f) if entry.name == "name" and entry.init else entry.default
        if not entry.init or value is default or (isinstance(value, str | float | int) and value == default):
            skipped = True
            continue
        text = _argument(writer, value, f)
        arguments.append(f"{entry.name}={text}" if skipped or entry.kw_only else text)
    return Words(f"{type(f).__name__}({', '.join(arguments)})", ATOM)


def _default_name(f: Any) -> str:
    """The name that it has where nobody gives one."""
    return str(dataclasses.replace(f, name="").name)


def _argument(writer: _Writer, value: Any, f: Any) -> str:
    """An argument of a class, as Python text."""
    if isinstance(value, Function):
        return writer.words(value).text
    if isinstance(value, Robot):
        return "robot"
    if isinstance(value, Frame):
        return _frame(value, getattr(f, "robot", None))
    if isinstance(value, Space):
        return _space(value)
    if isinstance(value, pin.SE3):
        return repr(pose_vector(value).tolist())
    if isinstance(value, np.ndarray | np.generic):
        numbers = cast("Any", value)
        return repr(numbers.tolist())
    if isinstance(value, tuple | list):
        inside = [_argument(writer, entry, f) for entry in cast("tuple[Any, ...]", value)]
        return f"[{', '.join(inside)}]"
    if dataclasses.is_dataclass(value):
        return _built(writer, value).text
    return repr(value)


def _frame(frame: Frame, robot: Robot | None) -> str:
    if robot is not None and frame.name in robot.frame_names:
        known = robot.frame(frame.name)
        if known.joint == frame.joint and np.array_equal(known.placement.homogeneous, frame.placement.homogeneous):
            return f"robot.frame({frame.name!r})"
    return f"robot.frame({frame.joint_name!r}, {pose_vector(frame.placement).tolist()!r})"


def _space(space: Space) -> str:
    if isinstance(space, PlacedSpace):
        return "robot.space"
    if isinstance(space, ProductSpace):
        return " * ".join(_space(factor.space) for factor in space.factors)
    return f"Rn({space.nq})" if isinstance(space, Rn) or not isinstance(space, Group) else space.name
