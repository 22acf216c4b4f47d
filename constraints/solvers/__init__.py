"""Solvers: a projector puts configurations onto the constraints of a problem."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .batch import ProjectionBatch
from .engine import Engine
from .options import Options
from .projection import Projection, Refined, Status, Step
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

if TYPE_CHECKING:
    from .conflict import Conflict, Kind, Member, Trial
    from .diagnosis import Diagnosis, diagnose
    from .sensitivity import Sensitivity, SensitivityError, SensitivityKind

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

_ON_USE = {
    **dict.fromkeys(("Conflict", "Kind", "Member", "Trial"), ".conflict"),
    **dict.fromkeys(("Diagnosis", "diagnose"), ".diagnosis"),
    **dict.fromkeys(("Sensitivity", "SensitivityError", "SensitivityKind"), ".sensitivity"),
}


def __getattr__(name: str) -> Any:
    if name in _ON_USE:
        return getattr(import_module(_ON_USE[name], __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
