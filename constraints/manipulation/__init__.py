"""Manipulation: grasps, placements, graphs of the constraints they make, and paths on these."""

from typing import TYPE_CHECKING, Any

from ..paths.collision import Collision, CollisionModel, NoFreeConfigurationError
from ..paths.collision_pairs import LeftOut, LeftOutReason
from ..paths.collision_shapes import Shape
from ..paths.interpolation import Interpolation, PathStatus, Stop, interpolate
from ..paths.moving_rhs import MovingRightHandSide
from ..paths.path import Jump, Path
from ..paths.relative_motion import CollisionPair, RelativeMotion, SecurityMargins, Tie
from .factory import ConstraintGraphFactory, MovableObject
from .foliation import Foliation, Leaf
from .graph import ConstraintGraph
from .graph_errors import GraphErrors
from .grasp import grasp, pregrasp
from .gripper import Gripper, Handle
from .placement import left_where_it_is, placement, preplacement
from .problems import PathProblem
from .rules import Rule
from .semantics import Semantics, read_semantics
from .states import State, Transition
from .targets import TargetConfiguration, UnreachedError
from .validation import Rate, Validation
from .walk import Walk, walk

if TYPE_CHECKING:
    from ..files import Scene, read_scene
    from ..pictures import animate, plot_path

__all__ = [
    "Collision",
    "CollisionModel",
    "CollisionPair",
    "ConstraintGraph",
    "ConstraintGraphFactory",
    "Foliation",
    "GraphErrors",
    "Gripper",
    "Handle",
    "Interpolation",
    "Jump",
    "Leaf",
    "LeftOut",
    "LeftOutReason",
    "MovableObject",
    "MovingRightHandSide",
    "NoFreeConfigurationError",
    "Path",
    "PathProblem",
    "PathStatus",
    "Rate",
    "RelativeMotion",
    "Rule",
    "Scene",
    "SecurityMargins",
    "Semantics",
    "Shape",
    "State",
    "Stop",
    "TargetConfiguration",
    "Tie",
    "Transition",
    "UnreachedError",
    "Validation",
    "Walk",
    "animate",
    "grasp",
    "interpolate",
    "left_where_it_is",
    "placement",
    "plot_path",
    "pregrasp",
    "preplacement",
    "read_scene",
    "read_semantics",
    "walk",
]


def __getattr__(name: str) -> Any:
    """Scenes are read, and paths drawn, by the rooms above: imported on use."""
    if name in ("Scene", "read_scene"):
        from .. import files as home
    elif name in ("animate", "plot_path"):
        from .. import pictures as home
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(home, name)
