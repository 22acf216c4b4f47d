"""Collisions of configurations and of paths."""

from .model import (
    Collision as Collision,
    CollisionModel as CollisionModel,
    NoFreeConfigurationError as NoFreeConfigurationError,
)
from .pairs import LeftOut as LeftOut, LeftOutReason as LeftOutReason
from .shapes import Shape as Shape
