"""Manipulation: grasps, placements, graphs of the constraints they make, and paths on these."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use
from ..paths.collision import (
    Collision as Collision,
    CollisionModel as CollisionModel,
    NoFreeConfigurationError as NoFreeConfigurationError,
)
from ..paths.collision_pairs import LeftOut as LeftOut, LeftOutReason as LeftOutReason
from ..paths.collision_shapes import Shape as Shape
from ..paths.interpolation import (
    Interpolation as Interpolation,
    PathStatus as PathStatus,
    Stop as Stop,
    interpolate as interpolate,
)
from ..paths.moving_rhs import MovingRightHandSide as MovingRightHandSide
from ..paths.path import Jump as Jump, Path as Path
from ..paths.relative_motion import (
    CollisionPair as CollisionPair,
    RelativeMotion as RelativeMotion,
    SecurityMargins as SecurityMargins,
    Tie as Tie,
)
from .factory import ConstraintGraphFactory as ConstraintGraphFactory, MovableObject as MovableObject
from .foliation import Foliation as Foliation, Leaf as Leaf
from .graph import ConstraintGraph as ConstraintGraph
from .graph_errors import GraphErrors as GraphErrors
from .grasp import grasp as grasp, pregrasp as pregrasp
from .gripper import Gripper as Gripper, Handle as Handle
from .placement import left_where_it_is as left_where_it_is, placement as placement, preplacement as preplacement
from .problems import PathProblem as PathProblem
from .rules import Rule as Rule
from .semantics import Semantics as Semantics, read_semantics as read_semantics
from .states import State as State, Transition as Transition
from .targets import TargetConfiguration as TargetConfiguration, UnreachedError as UnreachedError
from .validation import Rate as Rate, Validation as Validation
from .walks.walk import Walk as Walk, walk as walk

if TYPE_CHECKING:
    from ..files import Scene as Scene, read_scene as read_scene
    from ..pictures import animate as animate, plot_path as plot_path

__getattr__, __dir__ = _on_use(__name__, {".files": "Scene read_scene", ".pictures": "animate plot_path"})
