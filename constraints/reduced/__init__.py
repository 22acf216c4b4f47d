"""Minimal coordinates of closed chains: partition, closing, and dynamics without multipliers."""

from .branches import Branches as Branches, WayOfClosing as WayOfClosing, branches as branches
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
from .singularities import Singularity as Singularity, SingularityKind as SingularityKind
from .state import ClosedState as ClosedState, OpenMechanismError as OpenMechanismError
from .sweep import sweep as sweep
from .sweep_result import NotSweptError as NotSweptError, Sweep as Sweep
from .travel import SweepStatus as SweepStatus
