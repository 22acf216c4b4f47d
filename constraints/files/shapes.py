"""Which functions files hold, and the kinds of their fields. Nothing is imported by a name from a file."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ..functions import _template as _template
from ..functions.affine import Affine, Constant
from ..functions.from_callable import FromCallable
from ..functions.function import Function
from ..functions.relative_center_of_mass import RelativeCenterOfMass
from ..functions.sum import Sum
from ..functions.translation import RightTranslation, Translated

__all__ = ["KINDS", "SHIPPED", "FieldShape", "shape_of"]

KINDS = {
    "Robot": "robot",
    "Function": "function",
    "Sequence[Function]": "functions",
    "Space": "space",
    "Segments": "segments",
    "Segments | Sequence[int]": "segments",
    "Frame | str": "frame",
    "Placement | Vector": "reference",
    "ArrayLike": "numbers",
    "Sequence[str]": "names",
    "tuple[str, str]": "names",
    "Surface": "surface",
    "Surface | Sequence[Surface]": "surfaces",
    "str": "text",
    "bool": "flag",
    "int": "integer",
    "float": "number",
}
"""Annotation of a field of a function -> how it is written. `| None` beside it makes it optional."""

_HELD: dict[type[Function], dict[str, str]] = {
    Affine: {"A": "_A", "b": "_b"},
    Constant: {"constant": "_constant"},
    RelativeCenterOfMass: {"reference": "_reference"},
    RightTranslation: {"element": "constant"},
    Sum: {"factors": "_factors"},
    Translated: {"element": "constant"},
}
"""Attributes with the checked copy of what a user gave for a field: the user's array may have changed since."""


def _shipped(parent: type[Function]) -> Iterator[tuple[str, type[Function]]]:
    for cls in parent.__subclasses__():
        yield from _shipped(cls)
        ours = cls.__module__.startswith("constraints.functions.") and dataclasses.is_dataclass(cls)
        if ours and not inspect.isabstract(cls) and cls is not FromCallable:
            yield cls.__name__, cls


SHIPPED: dict[str, type[Function]] = dict(sorted(_shipped(Function)))
"""The functions a file may name: all of `constraints.functions`, but for the one that wraps Python code.

They are known when this module is imported, since the package imports all of them.
"""


class FieldShape(NamedTuple):
    """A field of a function.

    Attributes:
        name: of the field.
        kind: a value of `KINDS`; the annotation itself where that has none.
        required: whether it must be given.
        attribute: where a function holds it.
    """

    name: str
    kind: str
    required: bool
    attribute: str


@cache
def shape_of(cls: type[Function]) -> tuple[FieldShape, ...]:
    """The fields that a function is built of."""
    shapes: list[FieldShape] = []
    for field in dataclasses.fields(cls):  # pyright: ignore[reportArgumentType]
        if not field.init:
            continue
        annotation = str(field.type)
        plain = annotation.removesuffix(" | None")
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        attribute = _HELD.get(cls, {}).get(field.name, field.name)
        shapes.append(FieldShape(field.name, KINDS.get(plain, plain), required, attribute))
    return tuple(shapes)
