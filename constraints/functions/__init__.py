"""Differentiable functions, one idea a file."""

from ..point import MovingPoint as MovingPoint, Point as Point
from .affine import Affine as Affine, Constant as Constant, Identity as Identity
from .algebra import Composition as Composition, Difference as Difference, Sum as Sum
from .center_of_mass import CenterOfMass as CenterOfMass
from .com_between_feet import ComBetweenFeet as ComBetweenFeet
from .contact.contact import (
    ConvexShapeContact as ConvexShapeContact,
    ConvexShapeContactComplement as ConvexShapeContactComplement,
    ConvexShapeContactHold as ConvexShapeContactHold,
    SurfacePair as SurfacePair,
)
from .contact.contact_surface import Surface as Surface
from .from_callable import FromCallable as FromCallable
from .function import Function as Function, Linearisation as Linearisation
from .lifted import Lifted as Lifted
from .orientation import Orientation as Orientation
from .polynomial import Polynomial as Polynomial
from .pose import Pose as Pose
from .position import Position as Position
from .restriction import Restriction as Restriction
from .rotation import Rotation as Rotation
from .stacked import Stacked as Stacked
from .transformation import Transformation as Transformation
