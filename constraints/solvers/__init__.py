"""Solvers: a projector puts configurations onto the constraints of a problem."""

from typing import TYPE_CHECKING, Any

from .engine import Engine
from .newton.engine import NewtonEngine
from .newton.linear_step import DampedCholesky, LinearStep
from .options import Options
from .projection.batch import ProjectionBatch
from .projection.projection import Projection
from .projection.projector import Projector, project
from .status import Refined, Status, Step
from .step_control import Backtracking, Constant, ErrorNormBased, FixedSequence, FullSteps, StepControl, StepState

if TYPE_CHECKING:
    from .diagnosis.conflict import Conflict, Kind, Member, Trial
    from .diagnosis.diagnosis import Diagnosis, diagnose
    from .newton.least_change import LeastChange
    from .newton.sparse_rows import SparseKKT
    from .refinement.sensitivity import Sensitivity, SensitivityError, SensitivityKind

__all__ = [
    "Backtracking",
    "Conflict",
    "Constant",
    "DampedCholesky",
    "Diagnosis",
    "Engine",
    "ErrorNormBased",
    "FixedSequence",
    "FullSteps",
    "Kind",
    "LeastChange",
    "LinearStep",
    "Member",
    "NewtonEngine",
    "Options",
    "Projection",
    "ProjectionBatch",
    "Projector",
    "Refined",
    "Sensitivity",
    "SensitivityError",
    "SensitivityKind",
    "SparseKKT",
    "Status",
    "Step",
    "StepControl",
    "StepState",
    "Trial",
    "diagnose",
    "project",
]


def __getattr__(name: str) -> Any:
    """What few programs need is imported on use."""
    if name in ("Conflict", "Kind", "Member", "Trial"):
        from .diagnosis import conflict as home
    elif name in ("Diagnosis", "diagnose"):
        from .diagnosis import diagnosis as home
    elif name == "LeastChange":
        from .newton import least_change as home
    elif name == "SparseKKT":
        from .newton import sparse_rows as home
    elif name in ("Sensitivity", "SensitivityError", "SensitivityKind"):
        from .refinement import sensitivity as home
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(home, name)
