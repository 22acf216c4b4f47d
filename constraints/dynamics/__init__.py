"""Constrained dynamics: forward and inverse, impacts, forces of constraints, and motions in time."""

from .actuation import Actuation as Actuation
from .applicability import MethodError as MethodError
from .constraint_force import ConstraintForce as ConstraintForce
from .external_force import ExternalForce as ExternalForce, Force as Force
from .forward import (
    ForwardDynamics as ForwardDynamics,
    NoAccelerationError as NoAccelerationError,
    forward_dynamics as forward_dynamics,
)
from .forward_derivatives import (
    DerivativeStatus as DerivativeStatus,
    DynamicsDerivatives as DynamicsDerivatives,
    NoDerivativesError as NoDerivativesError,
    WrenchDerivatives as WrenchDerivatives,
    dynamics_derivatives as dynamics_derivatives,
)
from .hinge_forces import HingeForce as HingeForce, HingeMaps as HingeMaps
from .impact import Impact as Impact, NoImpactError as NoImpactError, impact as impact
from .inverse import (
    EffortBeyond as EffortBeyond,
    InverseDynamics as InverseDynamics,
    NoActuationError as NoActuationError,
    inverse_dynamics as inverse_dynamics,
)
from .law import NoEnergyError as NoEnergyError, NoTimeError as NoTimeError
from .laws import (
    BodyForces as BodyForces,
    Forces as Forces,
    FrameLink as FrameLink,
    HingeSpring as HingeSpring,
    JointLaw as JointLaw,
    JointSpring as JointSpring,
    LinkState as LinkState,
    LinkStatus as LinkStatus,
    PointLink as PointLink,
    PointSpring as PointSpring,
)
from .motions import (
    Correction as Correction,
    Crossing as Crossing,
    Event as Event,
    Floor as Floor,
    LimitPassed as LimitPassed,
    MotionRecord as MotionRecord,
    MotionStatus as MotionStatus,
    NoMotionError as NoMotionError,
    Scheme as Scheme,
    Stops as Stops,
    simulate as simulate,
)
from .multipliers import NoWrenchError as NoWrenchError
from .status import DynamicsStatus as DynamicsStatus, Factorisation as Factorisation, Method as Method
from .system import ConstrainedSystem as ConstrainedSystem, constrained_system as constrained_system
