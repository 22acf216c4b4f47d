"""Constrained dynamics: forward and inverse, impacts, and the forces of constraints."""

from .external_force import ExternalForce as ExternalForce
from .forward import (
    ForwardDynamics as ForwardDynamics,
    NoAccelerationError as NoAccelerationError,
    forward_dynamics as forward_dynamics,
)
from .impact import Impact as Impact, NoImpactError as NoImpactError, impact as impact
from .multipliers import NoWrenchError as NoWrenchError
from .status import DynamicsStatus as DynamicsStatus, Factorisation as Factorisation, Method as Method
from .system import ConstrainedSystem as ConstrainedSystem, constrained_system as constrained_system
from .takes import MethodError as MethodError
