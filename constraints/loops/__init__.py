"""Closed chains: closures, contacts, sets of them, and their assembly."""

from ..functions.balance.friction import FrictionCone as FrictionCone
from ..functions.frames.slopes import Slopes as Slopes
from ..keywords import answer as _answer
from ..solvers.compiled.functions import TABLE as _PACKERS
from .assembling.assembly import (
    Assembly as Assembly,
    assemble_position as assemble_position,
    assemble_velocity as assemble_velocity,
)
from .assembling.assembly_choice import AssemblyOptions as AssemblyOptions
from .closures import (
    Closure as Closure,
    ErrorFrame as ErrorFrame,
    PointClosure as PointClosure,
    RodClosure as RodClosure,
)
from .constraint_set import Baumgarte as Baumgarte, ConstraintSet as ConstraintSet
from .contact_limits import Sole as Sole
from .contacts import Axes as Axes, PointContact as PointContact, SurfaceContact as SurfaceContact
from .frame_rows import Form as Form
from .hinges.hinge import Hinge as Hinge, HingeError as HingeError, HingeKind as HingeKind
from .hinges.hinge_fit import HingeMotion as HingeMotion
from .hinges.pose_map import PoseMap as PoseMap
from .hinges.relative_pose import OfRelativePose as _OfRelativePose
from .open_mechanism import OpenMechanismError as OpenMechanismError
from .packing import pack_pose_map as _pack_pose_map
from .physical_joint import PhysicalJoint as PhysicalJoint, to_joint as to_joint
from .pose_rows import PoseClosure as PoseClosure, PoseContact as PoseContact

_PACKERS[_OfRelativePose] = _pack_pose_map
_answer(__name__)
