"""Constrained dynamics: forward and inverse, impacts, forces of constraints, and motions in time."""

from ..keywords import answer as _answer
from .actuation import Actuation as Actuation
from .constraint_force import ConstraintForce as ConstraintForce
from .forward import ForwardDynamics as ForwardDynamics, forward_dynamics as forward_dynamics
from .forward_derivatives import (
    DynamicsDerivatives as DynamicsDerivatives,
    dynamics_derivatives as dynamics_derivatives,
)
from .impact import Impact as Impact, impact as impact
from .inverse import InverseDynamics as InverseDynamics, inverse_dynamics as inverse_dynamics
from .laws import (
    BodyForces as BodyForces,
    Forces as Forces,
    FrameLink as FrameLink,
    FunctionLaw as FunctionLaw,
    FunctionSpring as FunctionSpring,
    HingeSpring as HingeSpring,
    JointLaw as JointLaw,
    JointSpring as JointSpring,
    LinkState as LinkState,
    LinkStatus as LinkStatus,
    PointLink as PointLink,
    PointSpring as PointSpring,
)
from .laws.external_force import ExternalForce as ExternalForce, Force as Force
from .laws.hinge_forces import HingeForce as HingeForce, HingeMaps as HingeMaps
from .methods.status import (
    DynamicsStatus as DynamicsStatus,
    Factorisation as Factorisation,
    Method as Method,
    MethodError as MethodError,
)
from .methods.system import ConstrainedSystem as ConstrainedSystem, constrained_system as constrained_system
from .motions import (
    Correction as Correction,
    Event as Event,
    Floor as Floor,
    MotionRecord as MotionRecord,
    MotionStatus as MotionStatus,
    Scheme as Scheme,
    SimulationOptions as SimulationOptions,
    Stops as Stops,
    simulate as simulate,
)

_answer(__name__)
