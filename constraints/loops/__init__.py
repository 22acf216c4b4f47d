"""Closed chains: closures, contacts, sets of them, and their assembly."""

from .assembly import Assembly, assemble_position, assemble_velocity
from .closures import Closure, ErrorFrame, FixedClosureError, PointClosure, RodClosure
from .constraint_set import Baumgarte, ConstraintSet
from .contacts import Axes, PointContact, SurfaceContact
from .hinge import Hinge, HingeError, HingeKind, HingeTypeError
from .hinge_fit import HingeMotion
from .physical_joint import NotAJointError, PhysicalJoint, to_joint

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
    "NotAJointError",
    "PhysicalJoint",
    "PointClosure",
    "PointContact",
    "RodClosure",
    "SurfaceContact",
    "assemble_position",
    "assemble_velocity",
    "to_joint",
]
