"""Paths on constraints, right-hand sides that move along them, and collisions on them."""

from .collision import (
    Collision as Collision,
    CollisionModel as CollisionModel,
    NoFreeConfigurationError as NoFreeConfigurationError,
)
from .collision_pairs import LeftOut as LeftOut, LeftOutReason as LeftOutReason
from .collision_shapes import Shape as Shape
from .interpolation import (
    Interpolation as Interpolation,
    PathStatus as PathStatus,
    Stop as Stop,
    interpolate as interpolate,
)
from .moving_rhs import MovingRightHandSide as MovingRightHandSide
from .path import Jump as Jump, Path as Path
from .relative_motion import (
    CollisionPair as CollisionPair,
    RelativeMotion as RelativeMotion,
    SecurityMargins as SecurityMargins,
    Tie as Tie,
)
