"""Solvers: a projector puts configurations onto the constraints of a problem."""

from .batch import ProjectionBatch
from .conflict import Conflict, Kind, Member, Trial
from .diagnosis import Diagnosis, diagnose
from .engine import Engine
from .options import Options
from .projection import Projection, Refined, Status, Step
from .projector import Projector, project
from .sensitivity import Sensitivity, SensitivityError, SensitivityKind
from .step_control import (
    Backtracking,
    Constant,
    ErrorNormBased,
    FixedSequence,
    FullSteps,
    StepControl,
    StepState,
)

__all__ = [
    "Backtracking",
    "Conflict",
    "Constant",
    "Diagnosis",
    "Engine",
    "ErrorNormBased",
    "FixedSequence",
    "FullSteps",
    "Kind",
    "Member",
    "Options",
    "Projection",
    "ProjectionBatch",
    "Projector",
    "Refined",
    "Sensitivity",
    "SensitivityError",
    "SensitivityKind",
    "Status",
    "Step",
    "StepControl",
    "StepState",
    "Trial",
    "diagnose",
    "project",
]
