"""Neighbours: SciPy over tangent steps, crocoddyl, CasADi, OMPL, pink's tasks, Pinocchio's constraint models."""

from .casadi_callbacks import as_casadi as as_casadi
from .crocoddyl_actions import as_crocoddyl_action as as_crocoddyl_action, as_crocoddyl_state as as_crocoddyl_state
from .ompl_spaces import OmplSpace as OmplSpace
from .pink_tasks import PinkFunction as PinkFunction, as_pink_task as as_pink_task
from .pinocchio_models import (
    NoCounterpartError as NoCounterpartError,
    as_anchor_constraint_model as as_anchor_constraint_model,
    as_rigid_constraint_model as as_rigid_constraint_model,
    from_constraint_model as from_constraint_model,
)
from .shooting import MultipleShooting as MultipleShooting
from .shooting_nodes import ShootingTrajectory as ShootingTrajectory
from .shooting_result import ShootingResult as ShootingResult, ShootingStatus as ShootingStatus
from .tangent_steps import TangentSteps as TangentSteps, as_nonlinear_constraint as as_nonlinear_constraint
