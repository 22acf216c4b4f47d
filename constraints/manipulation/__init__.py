"""Manipulation: grasps, placements, graphs of the constraints they make, and paths on these."""

from .collision import Collision, CollisionModel, NoFreeConfigurationError
from .collision_pairs import LeftOut, LeftOutReason
from .collision_shapes import Shape
from .factory import ConstraintGraphFactory, MovableObject
from .foliation import Foliation, Leaf
from .graph import ConstraintGraph
from .graph_errors import GraphErrors
from .grasp import grasp, pregrasp
from .gripper import Gripper, Handle
from .interpolation import Interpolation, PathStatus, Stop, interpolate
from .path import Jump, Path
from .pictures import animate, plot_path
from .placement import left_where_it_is, placement, preplacement
from .programs import PathProblem
from .relative_motion import CollisionPair, RelativeMotion, SecurityMargins, Tie
from .rules import Rule
from .scene import Scene, read_scene
from .schedule import Schedule
from .semantics import Semantics, read_semantics
from .states import State, Transition
from .targets import TargetConfiguration, UnreachedError
from .validation import Rate, Validation
from .walk import Walk, walk

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
    "NoFreeConfigurationError",
    "Path",
    "PathProblem",
    "PathStatus",
    "Rate",
    "RelativeMotion",
    "Rule",
    "Scene",
    "Schedule",
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
