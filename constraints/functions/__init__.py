"""Differentiable functions, one idea a file."""

from ..keywords import answer as _answer
from ..point import MovingPoint as MovingPoint, Point as Point
from .affine import Affine as Affine, Constant as Constant, Identity as Identity
from .algebra import Composition as Composition, Difference as Difference, Sum as Sum
from .balance.contact_forces import ContactForces as ContactForces
from .balance.static_stability import StaticStability as StaticStability
from .balance.static_torques import StaticTorques as StaticTorques
from .balance.support import Support as Support
from .balance.support_polygon import SupportPolygon as SupportPolygon
from .contact.contact import (
    ConvexShapeContact as ConvexShapeContact,
    ConvexShapeContactComplement as ConvexShapeContactComplement,
    ConvexShapeContactHold as ConvexShapeContactHold,
    SurfacePair as SurfacePair,
)
from .contact.contact_surface import Surface as Surface
from .enclosures.box import Enclosure as Enclosure, TangentBox as TangentBox
from .enclosures.interval import Interval as Interval
from .expression import (
    Expression as Expression,
    atan2 as atan2,
    cos as cos,
    cross as cross,
    dot as dot,
    exp as exp,
    inverse as inverse,
    log as log,
    maximum as maximum,
    minimum as minimum,
    norm as norm,
    rotated as rotated,
    sin as sin,
    smooth_abs as smooth_abs,
    sqrt as sqrt,
    stack as stack,
)
from .frames.center_of_mass import CenterOfMass as CenterOfMass
from .frames.com_between_feet import ComBetweenFeet as ComBetweenFeet
from .frames.orientation import Orientation as Orientation
from .frames.pose import Pose as Pose
from .frames.position import Position as Position
from .frames.rotation import Rotation as Rotation
from .frames.transformation import Transformation as Transformation
from .from_callable import FromCallable as FromCallable
from .function import Function as Function
from .geometry.curves import curve as curve
from .geometry.directions import AngleAbout as AngleAbout, across as across, direction as direction, wrapped as wrapped
from .geometry.places import gaze as gaze, in_polygon as in_polygon, in_view as in_view, off_segment as off_segment
from .lifted import Lifted as Lifted
from .measures.dexterity import Manipulability as Manipulability, SmallestSingularValue as SmallestSingularValue
from .measures.distances import limit_distance as limit_distance, squared_distance as squared_distance
from .polynomial import Polynomial as Polynomial
from .restriction import Restriction as Restriction
from .stacked import Stacked as Stacked

_answer(__name__)
