"""Neighbours: SciPy's constraints over tangent steps, pink's tasks, Pinocchio's constraint models."""

from .pink_tasks import PinkFunction, as_pink_task
from .pinocchio_models import (
    NoCounterpartError,
    as_anchor_constraint_model,
    as_rigid_constraint_model,
    from_constraint_model,
)
from .tangent_steps import TangentSteps, as_nonlinear_constraint

__all__ = [
    "NoCounterpartError",
    "PinkFunction",
    "TangentSteps",
    "as_anchor_constraint_model",
    "as_nonlinear_constraint",
    "as_pink_task",
    "as_rigid_constraint_model",
    "from_constraint_model",
]
