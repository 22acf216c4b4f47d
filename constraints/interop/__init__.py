"""Neighbours: SciPy's constraints over tangent steps, pink's tasks, Pinocchio's constraint models."""

from .pink_tasks import PinkFunction as PinkFunction, as_pink_task as as_pink_task
from .pinocchio_models import (
    NoCounterpartError as NoCounterpartError,
    as_anchor_constraint_model as as_anchor_constraint_model,
    as_rigid_constraint_model as as_rigid_constraint_model,
    from_constraint_model as from_constraint_model,
)
from .tangent_steps import TangentSteps as TangentSteps, as_nonlinear_constraint as as_nonlinear_constraint
