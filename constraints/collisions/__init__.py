"""Collisions of configurations and of paths."""

from ..keywords import answer as _answer
from .model import (
    Collision as Collision,
    CollisionModel as CollisionModel,
    NoFreeConfigurationError as NoFreeConfigurationError,
)
from .pairs import LeftOut as LeftOut, LeftOutReason as LeftOutReason
from .shapes import Shape as Shape

_answer(__name__)
