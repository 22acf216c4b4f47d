"""Differentiable functions, one idea a file."""

from .affine import Affine, Constant, Identity
from .center_of_mass import CenterOfMass
from .com_between_feet import ComBetweenFeet
from .composition import Composition
from .contact.contact import ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold
from .difference import Difference
from .from_callable import FromCallable
from .lifted import Lifted
from .orientation import Orientation, RelativeOrientation
from .polynomial import Polynomial
from .pose import Pose, RelativePose
from .position import Position, RelativePosition
from .relative_center_of_mass import RelativeCenterOfMass
from .restriction import Restriction
from .rotation import RelativeRotation, Rotation
from .stacked import Stacked
from .sum import Sum
from .transformation import RelativeTransformation, Transformation

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
    "RelativeCenterOfMass",
    "RelativeOrientation",
    "RelativePose",
    "RelativePosition",
    "RelativeRotation",
    "RelativeTransformation",
    "Restriction",
    "Rotation",
    "Stacked",
    "Sum",
    "Transformation",
]
