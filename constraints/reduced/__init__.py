"""Minimal coordinates of closed chains: partition, closing, dynamics; and loops as explicit constraints."""

from ..loops.open_mechanism import OpenMechanismError as OpenMechanismError
from .balance import Unknown as Unknown
from .branches import Branches as Branches, WayOfClosing as WayOfClosing, branches as branches
from .closing import (
    Closing as Closing,
    ClosingStatus as ClosingStatus,
    DeadPointError as DeadPointError,
    NotClosedError as NotClosedError,
    Step as Step,
    close_position as close_position,
)
from .coordinates import MinimalCoordinates as MinimalCoordinates, minimal_coordinates as minimal_coordinates
from .dynamics import (
    NoReducedAccelerationError as NoReducedAccelerationError,
    ReducedDynamics as ReducedDynamics,
    Residual as Residual,
    reduced_forward_dynamics as reduced_forward_dynamics,
    reduced_residual as reduced_residual,
)
from .equilibrium import (
    Equilibrium as Equilibrium,
    EquilibriumStatus as EquilibriumStatus,
    NoEquilibriumError as NoEquilibriumError,
    equilibrium as equilibrium,
)
from .explicit_loop import ExplicitLoop as ExplicitLoop, ExplicitLoops as ExplicitLoops, KeptImplicit as KeptImplicit
from .inverse import (
    NoReducedActuationError as NoReducedActuationError,
    ReducedInverseDynamics as ReducedInverseDynamics,
    UnderactuatedError as UnderactuatedError,
    reduced_inverse_dynamics as reduced_inverse_dynamics,
)
from .kept_motion import EquilibriumKind as EquilibriumKind
from .linearisation import (
    Linearisation as Linearisation,
    NoLinearisationError as NoLinearisationError,
    linearisation as linearisation,
)
from .loop_finding import explicit_loops as explicit_loops
from .loop_function import LoopFunction as LoopFunction
from .lu import LU as LU
from .modes import (
    Mode as Mode,
    ModeClass as ModeClass,
    Modes as Modes,
    ModesStatus as ModesStatus,
    NoModesError as NoModesError,
    modes as modes,
)
from .planar_loops import LoopBranch as LoopBranch, PlanarLoop as PlanarLoop
from .singularities import Singularity as Singularity, SingularityKind as SingularityKind
from .state import ClosedState as ClosedState, RankError as RankError, closed_state as closed_state
from .status import ReducedStatus as ReducedStatus
from .sweep import sweep as sweep
from .sweep_result import NotSweptError as NotSweptError, Sweep as Sweep
from .system import (
    ReducedSystem as ReducedSystem,
    reduced_mass_matrix as reduced_mass_matrix,
    reduced_system as reduced_system,
)
from .travel import SweepStatus as SweepStatus
from .wishes import PartitionError as PartitionError
