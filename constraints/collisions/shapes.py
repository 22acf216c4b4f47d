"""Shapes: boxes, balls, cylinders and capsules on frames."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, final

from liegroups.arguments import as_name, finite_vector, is_finite_number
from liegroups.frozen import set_fields

from ..errors import ConstraintError, OptionError
from ..robot import Frame
from ..robot.placement import as_placement

_SIZES = {"Box": 3, "Sphere": 1, "Cylinder": 2, "Capsule": 2}


@final
@dataclass(frozen=True, eq=False)
class Shape:
    """A solid fixed on a frame, for collisions.

    Args:
        name: of the shape.
        kind: "Box" (x, y, z), "Sphere" (radius), "Cylinder" or "Capsule" (radius, length along z).
        size: its dimensions [m], all positive.
        frame: the frame that carries it; the world by default.
        placement: of its centre on that frame (`pinocchio.SE3`, 4 x 4 matrix, or seven numbers).

    Raises:
        OptionError: an unknown kind, or sizes that do not fit it.
    """

    name: str
    kind: str
    size: tuple[float, ...]
    frame: Frame | str = "universe"
    placement: Any = None

    def __post_init__(self) -> None:
        """Check the measures."""
        as_name(self.name, "name of a shape")
        if as_name(self.kind, f"kind of shape '{self.name}'") not in _SIZES:
            raise OptionError(f"kind of shape '{self.name}': expected one of {', '.join(_SIZES)}, got {self.kind!r}")
        measures: Any = (self.size,) if is_finite_number(self.size) else self.size
        wanted = f"expected {_SIZES[self.kind]} positive sizes of a {self.kind}, got {self.size!r}"
        try:
            size = finite_vector(measures, _SIZES[self.kind], f"measures of shape '{self.name}'")
        except ConstraintError as error:
            raise OptionError(f"shape '{self.name}': {wanted}") from error
        if not (size > 0.0).all():
            raise OptionError(f"shape '{self.name}': {wanted}")
        set_fields(
            self, size=tuple(size.tolist()), placement=as_placement(self.placement, f"placement of shape '{self.name}'")
        )

    def solid(self) -> Any:
        """The solid as an object of coal."""
        return getattr(import_module("coal"), self.kind)(*self.size)
