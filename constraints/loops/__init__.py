"""Closed chains: closures, contacts, sets of them, and their assembly."""

from ..functions.slopes import Slopes as Slopes
from ..keywords import answer as _answer
from . import packing as packing
from .assembling.assembly import (
    Assembly as Assembly,
    assemble_position as assemble_position,
    assemble_velocity as assemble_velocity,
)
from .assembling.assembly_choice import AssemblyOptions as AssemblyOptions
from .closing.split_errors import SplitErrors as SplitErrors
from .closures import (
    Closure as Closure,
    ErrorFrame as ErrorFrame,
    FixedClosureError as FixedClosureError,
    PointClosure as PointClosure,
    RodClosure as RodClosure,
)
from .constraint_set import Baumgarte as Baumgarte, ConstraintSet as ConstraintSet
from .contact_limits import FrictionCone as FrictionCone, Sole as Sole
from .contacts import Axes as Axes, PointContact as PointContact, SurfaceContact as SurfaceContact
from .frame_rows import Form as Form
from .hinges.hinge import (
    Hinge as Hinge,
    HingeError as HingeError,
    HingeKind as HingeKind,
    HingeTypeError as HingeTypeError,
)
from .hinges.hinge_fit import HingeMotion as HingeMotion
from .hinges.pose_map import PoseMap as PoseMap
from .open_mechanism import OpenMechanismError as OpenMechanismError
from .physical_joint import NotAJointError as NotAJointError, PhysicalJoint as PhysicalJoint, to_joint as to_joint
from .pose_rows import PoseClosure as PoseClosure, PoseContact as PoseContact

_answer(__name__)
