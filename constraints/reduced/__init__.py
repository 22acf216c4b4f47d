"""Minimal coordinates of closed chains: partition, closing, and dynamics without multipliers."""

from .balance import Unknown as Unknown
from .closing import Closing as Closing, ClosingStatus as ClosingStatus, close_position as close_position
from .coordinates import (
    MinimalCoordinates as MinimalCoordinates,
    PartitionError as PartitionError,
    minimal_coordinates as minimal_coordinates,
)
from .dynamics import (
    ReducedDynamics as ReducedDynamics,
    reduced_forward_dynamics as reduced_forward_dynamics,
    reduced_mass_matrix as reduced_mass_matrix,
    reduced_residual as reduced_residual,
)
from .equilibrium import (
    Equilibrium as Equilibrium,
    EquilibriumStatus as EquilibriumStatus,
    NoEquilibriumError as NoEquilibriumError,
    equilibrium as equilibrium,
)
from .kept_motion import EquilibriumKind as EquilibriumKind
from .linearisation import (
    Linearisation as Linearisation,
    NoLinearisationError as NoLinearisationError,
    linearisation as linearisation,
)
from .modes import (
    Mode as Mode,
    ModeClass as ModeClass,
    Modes as Modes,
    ModesStatus as ModesStatus,
    NoModesError as NoModesError,
    modes as modes,
)
from .state import ClosedState as ClosedState, OpenMechanismError as OpenMechanismError
