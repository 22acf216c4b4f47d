"""Solvers: a projector puts configurations onto the constraints of a problem."""

from .batch import ProjectionBatch
from .engine import Engine
from .options import Options
from .projection import Projection, Status, Step
from .projector import Projector, project
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
    "Constant",
    "Engine",
    "ErrorNormBased",
    "FixedSequence",
    "FullSteps",
    "Options",
    "Projection",
    "ProjectionBatch",
    "Projector",
    "Status",
    "Step",
    "StepControl",
    "StepState",
    "project",
]
