"""Actions of optimal control: contact dynamics with costs and constraints, and exact derivatives."""

from ..keywords import answer as _answer
from .action import (
    Action as Action,
    Derivatives as Derivatives,
    DifferentialAction as DifferentialAction,
    DiscreteAction as DiscreteAction,
)
from .activations import Activation as Activation, Quadratic as Quadratic, QuadraticBarrier as QuadraticBarrier
from .actuators import Actuators as Actuators
from .contact_calculation import ContactCalculation as ContactCalculation, ContactDerivatives as ContactDerivatives
from .contact_dynamics import ContactForwardDynamics as ContactForwardDynamics
from .costs import Cost as Cost, CostStack as CostStack
from .frame_velocity import FrameVelocity as FrameVelocity
from .impulse import ImpulseDynamics as ImpulseDynamics
from .integrated import RungeKutta4 as RungeKutta4, SemiImplicitEuler as SemiImplicitEuler
from .quasi_static import QuasiStatic as QuasiStatic
from .stage_constraints import ConstraintStack as ConstraintStack, StageConstraint as StageConstraint
from .stance import Load as Load
from .state_space import StageSpace as StageSpace, StateSpace as StateSpace

_answer(__name__)
