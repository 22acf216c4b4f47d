"""Minimal coordinates of closed chains: partition, closing, dynamics; and loops as explicit constraints."""

from ..keywords import answer as _answer
from ..loops.closing.lu import LU as LU
from ..loops.open_mechanism import OpenMechanismError as OpenMechanismError
from .closing import (
    Closing as Closing,
    ClosingStep as ClosingStep,
    DeadPointError as DeadPointError,
    ReducedStatus as ReducedStatus,
)
from .coordinates import MinimalCoordinates as MinimalCoordinates, minimal_coordinates as minimal_coordinates
from .dynamics import (
    ReducedDynamics as ReducedDynamics,
    Residual as Residual,
    reduced_forward_dynamics as reduced_forward_dynamics,
    reduced_residual as reduced_residual,
)
from .equilibria.balance import Unknown as Unknown
from .equilibria.equilibrium import (
    Equilibrium as Equilibrium,
    EquilibriumOptions as EquilibriumOptions,
    equilibrium as equilibrium,
)
from .equilibria.kept_motion import EquilibriumKind as EquilibriumKind, KeptMotion as KeptMotion
from .equilibria.linearisation import Linearisation as Linearisation, linearisation as linearisation
from .equilibria.modes import Mode as Mode, ModeClass as ModeClass, Modes as Modes, modes as modes
from .explicit_loops.explicit_loop import ExplicitLoops as ExplicitLoops
from .explicit_loops.loop_finding import explicit_loops as explicit_loops
from .explicit_loops.loop_function import LoopFunction as LoopFunction
from .explicit_loops.planar_loops import ElbowSide as ElbowSide, PlanarLoop as PlanarLoop
from .inverse import (
    ReducedInverseDynamics as ReducedInverseDynamics,
    UnderactuatedError as UnderactuatedError,
    reduced_inverse_dynamics as reduced_inverse_dynamics,
)
from .state import ClosedState as ClosedState, RankError as RankError
from .sweeps.branches import Branches as Branches, branches as branches
from .sweeps.singularities import Singularity as Singularity
from .sweeps.sweep import sweep as sweep
from .sweeps.sweep_result import Sweep as Sweep
from .sweeps.travel import SweepOptions as SweepOptions, SweepStatus as SweepStatus
from .system import (
    ReducedSystem as ReducedSystem,
    reduced_mass_matrix as reduced_mass_matrix,
    reduced_system as reduced_system,
)
from .wishes import PartitionError as PartitionError

_answer(__name__)
