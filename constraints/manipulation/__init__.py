"""Manipulation: grasps, placements, graphs of the constraints they make, and paths on these."""

from .factory import ConstraintGraphFactory, MovableObject
from .foliation import Foliation, Leaf
from .graph import ConstraintGraph
from .graph_errors import GraphErrors
from .grasp import grasp, pregrasp
from .gripper import Gripper, Handle
from .placement import left_where_it_is, placement, preplacement
from .programs import PathProblem
from .relative_motion import CollisionPair, RelativeMotion, SecurityMargins, Tie
from .rules import Rule
from .semantics import Semantics, read_semantics
from .states import State, Transition
from .targets import TargetConfiguration, UnreachedError
from .validation import Rate, Validation

__all__ = [
    "CollisionPair",
    "ConstraintGraph",
    "ConstraintGraphFactory",
    "Foliation",
    "GraphErrors",
    "Gripper",
    "Handle",
    "Leaf",
    "MovableObject",
    "PathProblem",
    "Rate",
    "RelativeMotion",
    "Rule",
    "SecurityMargins",
    "Semantics",
    "State",
    "TargetConfiguration",
    "Tie",
    "Transition",
    "UnreachedError",
    "Validation",
    "grasp",
    "left_where_it_is",
    "placement",
    "pregrasp",
    "preplacement",
    "read_semantics",
]
