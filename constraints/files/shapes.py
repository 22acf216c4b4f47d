"""Which functions and maps of poses files hold, and the kinds of their fields.

Nothing is imported by a name from a file.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar

from ..functions import CenterOfMass, Orientation, Pose, Position, Rotation, Transformation
from ..functions.frames import _template as _template
from ..functions.from_callable import CompiledFunction, FromCallable
from ..functions.function import Function
from ..loops.hinges.pose_map import PoseMap

KINDS = {
    "Robot": "robot",
    "Function": "function",
    "Sequence[Function]": "functions",
    "Space": "space",
    "Segments": "segments",
    "Segments | Sequence[int]": "segments",
    "Frame | str": "frame",
    "Frame | str | Placement | Vector": "frame or placement",
    "ArrayLike": "numbers",
    "Sequence[str]": "names",
    "tuple[str, str]": "names",
    "Surface": "surface",
    "Surface | Sequence[Surface]": "surfaces",
    "Support | Sequence[Support]": "supports",
    "str": "text",
    "bool": "flag",
    "int": "integer",
    "float": "number",
}
"""Annotation of a field of a function or a map -> how it is written. `| None` beside it makes it optional."""


def not_a_kind(word: str) -> str:
    """Words for an annotation that `KINDS` has not, behind "a type"."""
    return f"({word}) that files cannot contain; they know fields annotated {', '.join(KINDS)}"


_T = TypeVar("_T")


def _shipped(parent: type[_T], room: str) -> Iterator[tuple[str, type[_T]]]:
    for cls in parent.__subclasses__():
        yield from _shipped(cls, room)
        ours = cls.__module__.startswith(f"constraints.{room}.") and dataclasses.is_dataclass(cls)
        if ours and not inspect.isabstract(cls) and cls not in (FromCallable, CompiledFunction):
            yield cls.__name__, cls


SHIPPED: dict[str, type[Function]] = dict(sorted(_shipped(Function, "functions")))
"""The functions a file may name: all of `constraints.functions`, but for the two that wrap code of users.

They are known when this module is imported, since the package imports all of them.
"""

MAPS: dict[str, type[PoseMap]] = dict(sorted(_shipped(PoseMap, "loops")))
"""The maps of poses a file may name: dataclasses of `constraints.loops`."""


_TWO_FRAMES: tuple[type[Function], ...] = (Position, Orientation, Rotation, Transformation, Pose)
FORMER: dict[str, tuple[type[Function], dict[str, str]]] = {
    **{f"Relative{cls.__name__}": (cls, {"reference": "a", "frame": "b"}) for cls in _TWO_FRAMES},
    "RelativeCenterOfMass": (CenterOfMass, {"reference": "frame"}),
    "DistanceBetween": (_template.DistanceBetween, {"reference": "a", "frame": "b"}),
}
"""Names of functions in older files -> what they are now, and the entries there that have another name than the field.

A name that a function still has means the older one where the file has one of these entries. A `RelativeCenterOfMass`
also had a point of its frame, "reference", that it took off.
"""


class FieldShape(NamedTuple):
    """A field of a function or a map, with a checked copy of what the user gave: their array may have changed since.

    Attributes:
        name: of the field.
        kind: a value of `KINDS`; the annotation itself where that has none.
        required: whether it must be given.
    """

    name: str
    kind: str
    required: bool


@cache
def shape_of(cls: type[Any]) -> tuple[FieldShape, ...]:
    """The fields that a function or a map is built of."""
    shapes: list[FieldShape] = []
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        annotation = str(field.type)
        plain = annotation.removesuffix(" | None")
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        shapes.append(FieldShape(field.name, KINDS.get(plain, plain), required))
    return tuple(shapes)
