"""Manipulation: grasps, placements, graphs of the constraints they make, and paths on these."""

from typing import TYPE_CHECKING

from ..collisions import (
    Collision as Collision,
    CollisionModel as CollisionModel,
    NoFreeConfigurationError as NoFreeConfigurationError,
    PointCloud as PointCloud,
    Shape as Shape,
)
from ..exports import on_use as _on_use
from ..keywords import answer as _answer
from ..paths import (
    Interpolation as Interpolation,
    MovingRightHandSide as MovingRightHandSide,
    Path as Path,
    PathStatus as PathStatus,
    RelativeMotion as RelativeMotion,
    SecurityMargins as SecurityMargins,
    Tie as Tie,
    interpolate as interpolate,
)
from .factory.factory import ConstraintGraphFactory as ConstraintGraphFactory, MovableObject as MovableObject
from .factory.grasp import grasp as grasp, pregrasp as pregrasp
from .factory.placement import (
    left_where_it_is as left_where_it_is,
    placement as placement,
    preplacement as preplacement,
)
from .factory.rules import Rule as Rule
from .factory.semantics import read_semantics as read_semantics
from .foliation import Foliation as Foliation, Leaf as Leaf
from .graph import ConstraintGraph as ConstraintGraph
from .gripper import Gripper as Gripper, Handle as Handle
from .states import State as State, Transition as Transition
from .targets import TargetConfiguration as TargetConfiguration
from .validation import Validation as Validation

if TYPE_CHECKING:
    from ..files import Scene as Scene, read_scene as read_scene
    from ..pictures import animate as animate, plot_path as plot_path

__getattr__, __dir__ = _on_use(
    __name__,
    {".files": "Scene read_scene", ".pictures": "animate plot_path"},
    {"constraints.planning": "walk Walk=Plan"},
)

_answer(__name__)
