"""Minimal coordinates of closed chains: partition, closing, and dynamics without multipliers."""

from .closing import Closing as Closing, ClosingStatus as ClosingStatus, close_position as close_position
from .coordinates import (
    MinimalCoordinates as MinimalCoordinates,
    PartitionError as PartitionError,
    minimal_coordinates as minimal_coordinates,
)
from .dynamics import (
    NoReducedAccelerationError as NoReducedAccelerationError,
    ReducedDynamics as ReducedDynamics,
    Residual as Residual,
    reduced_forward_dynamics as reduced_forward_dynamics,
    reduced_residual as reduced_residual,
)
from .inverse import (
    NoReducedActuationError as NoReducedActuationError,
    ReducedInverseDynamics as ReducedInverseDynamics,
    UnderactuatedError as UnderactuatedError,
    reduced_inverse_dynamics as reduced_inverse_dynamics,
)
from .state import (
    ClosedState as ClosedState,
    DeadPointError as DeadPointError,
    OpenMechanismError as OpenMechanismError,
)
from .status import ReducedStatus as ReducedStatus
from .system import (
    ReducedSystem as ReducedSystem,
    reduced_mass_matrix as reduced_mass_matrix,
    reduced_system as reduced_system,
)
