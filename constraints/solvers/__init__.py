"""Solvers: a projector puts configurations onto the constraints of a problem."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use
from .engine import Engine as Engine
from .newton.engine import NewtonEngine as NewtonEngine
from .newton.linear_step import DampedCholesky as DampedCholesky, LinearStep as LinearStep
from .options import Options as Options
from .projection.batch import ProjectionBatch as ProjectionBatch
from .projection.projection import Projection as Projection
from .projection.projector import Projector as Projector, project as project
from .status import Refined as Refined, Status as Status, Step as Step
from .step_control import (
    Backtracking as Backtracking,
    ConstantStep as ConstantStep,
    ErrorNormBased as ErrorNormBased,
    FixedSequence as FixedSequence,
    FullSteps as FullSteps,
    StepControl as StepControl,
    StepState as StepState,
)

if TYPE_CHECKING:
    from .diagnosis.conflict import Conflict as Conflict, Kind as Kind, Member as Member, Trial as Trial
    from .diagnosis.diagnosis import Diagnosis as Diagnosis, diagnose as diagnose
    from .newton.least_change import LeastChange as LeastChange
    from .newton.sparse_rows import SparseKKT as SparseKKT
    from .refinement.sensitivity import (
        Sensitivity as Sensitivity,
        SensitivityError as SensitivityError,
        SensitivityKind as SensitivityKind,
    )


__getattr__, __dir__ = _on_use(
    __name__,
    {
        "Conflict": "diagnosis.conflict",
        "Kind": "diagnosis.conflict",
        "Member": "diagnosis.conflict",
        "Trial": "diagnosis.conflict",
        "Diagnosis": "diagnosis.diagnosis",
        "diagnose": "diagnosis.diagnosis",
        "LeastChange": "newton.least_change",
        "SparseKKT": "newton.sparse_rows",
        "Sensitivity": "refinement.sensitivity",
        "SensitivityError": "refinement.sensitivity",
        "SensitivityKind": "refinement.sensitivity",
    },
)
