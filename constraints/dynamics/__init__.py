"""Closed chains: closures, contacts, sets of them, and their assembly."""

from .assembly import Assembly, assemble_position, assemble_velocity
from .closures import Closure, ErrorFrame, FixedClosureError, HingeTypeError, PointClosure, RodClosure
from .constraint_set import Baumgarte, ConstraintSet
from .contacts import Axes, PointContact, SurfaceContact
from .hinge import Hinge, HingeError, HingeKind
from .hinge_fit import HingeMotion

__all__ = [
    "Assembly",
    "Axes",
    "Baumgarte",
    "Closure",
    "ConstraintSet",
    "ErrorFrame",
    "FixedClosureError",
    "Hinge",
    "HingeError",
    "HingeKind",
    "HingeMotion",
    "HingeTypeError",
    "PointClosure",
    "PointContact",
    "RodClosure",
    "SurfaceContact",
    "assemble_position",
    "assemble_velocity",
]
