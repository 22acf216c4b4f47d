"""Constrained dynamics: forward and inverse, impacts, and the forces of constraints."""

from .events import Crossing as Crossing, Event as Event
from .external_force import ExternalForce as ExternalForce
from .forward import (
    ForwardDynamics as ForwardDynamics,
    NoAccelerationError as NoAccelerationError,
    forward_dynamics as forward_dynamics,
)
from .impact import Impact as Impact, NoImpactError as NoImpactError, impact as impact
from .integration import simulate as simulate
from .motion_record import MotionRecord as MotionRecord, MotionStatus as MotionStatus, NoMotionError as NoMotionError
from .multipliers import NoWrenchError as NoWrenchError
from .status import DynamicsStatus as DynamicsStatus, Factorisation as Factorisation, Method as Method
from .stepping import Correction as Correction, OpenStateError as OpenStateError, Scheme as Scheme
from .system import ConstrainedSystem as ConstrainedSystem, constrained_system as constrained_system
from .takes import MethodError as MethodError
