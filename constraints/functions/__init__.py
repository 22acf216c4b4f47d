"""Differentiable functions, one idea a file."""

from .affine import Affine, Constant, Identity
from .algebra import Composition, Difference, Sum
from .center_of_mass import CenterOfMass
from .com_between_feet import ComBetweenFeet
from .contact.contact import ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold
from .from_callable import FromCallable
from .lifted import Lifted
from .orientation import Orientation
from .polynomial import Polynomial
from .pose import Pose
from .position import Position
from .restriction import Restriction
from .rotation import Rotation
from .stacked import Stacked
from .transformation import Transformation

__all__ = [
    "Affine",
    "CenterOfMass",
    "ComBetweenFeet",
    "Composition",
    "Constant",
    "ConvexShapeContact",
    "ConvexShapeContactComplement",
    "ConvexShapeContactHold",
    "Difference",
    "FromCallable",
    "Identity",
    "Lifted",
    "Orientation",
    "Polynomial",
    "Pose",
    "Position",
    "Restriction",
    "Rotation",
    "Stacked",
    "Sum",
    "Transformation",
]
