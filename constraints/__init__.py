"""Constraint solvers on Lie groups: project robot configurations onto constraints.

robot = Robot.from_urdf("arm.urdf")
result = reach(robot, "hand", target)  # inverse kinematics; and with more constraints:
hand = Implicit.equal(Pose(robot, "hand"), target)
result = project(robot, [hand], robot.random(rng))

This module exports what projection needs; the rest is in `constraints.functions`, `rows`, `solvers`, `robot`, `loops`,
`models`, `manipulation`, `paths`, `interop` and `testing`.
"""

from typing import TYPE_CHECKING

import liegroups as _liegroups

__version__ = "0.1.0"

if getattr(_liegroups, "__distribution__", None) != "lie-constraints":
    raise ImportError(
        f"the package 'liegroups' at {_liegroups.__file__} does not belong to lie-constraints: another distribution "
        "installed it, or a folder with this name comes first on the path. Uninstall or rename it, then reinstall "
        "lie-constraints."
    )

from .errors import ConstraintError as ConstraintError
from .exports import on_use as _on_use
from .functions import (
    Affine as Affine,
    CenterOfMass as CenterOfMass,
    ComBetweenFeet as ComBetweenFeet,
    ConvexShapeContact as ConvexShapeContact,
    ConvexShapeContactComplement as ConvexShapeContactComplement,
    ConvexShapeContactHold as ConvexShapeContactHold,
    Function as Function,
    Orientation as Orientation,
    Pose as Pose,
    Position as Position,
    Rotation as Rotation,
    Stacked as Stacked,
    Surface as Surface,
    Transformation as Transformation,
)
from .problem.problem import Problem as Problem
from .robot import (
    Base as Base,
    Bounds as Bounds,
    Frame as Frame,
    Motion as Motion,
    Part as Part,
    Posture as Posture,
    Robot as Robot,
    rigid_transform as rigid_transform,
)
from .rows import (
    Comparison as Comparison,
    Explicit as Explicit,
    Implicit as Implicit,
    RightHandSide as RightHandSide,
    Stack as Stack,
    Target as Target,
    double_support as double_support,
    explicit_contact as explicit_contact,
    explicit_relative_pose as explicit_relative_pose,
    linear_coupling as linear_coupling,
    locked_joint as locked_joint,
    mimic_constraints as mimic_constraints,
)
from .solvers import (
    Options as Options,
    Projection as Projection,
    ProjectionBatch as ProjectionBatch,
    Projector as Projector,
    Status as Status,
    project as project,
    reach as reach,
    reach_batch as reach_batch,
)
from .workspace import Workspace as Workspace

if TYPE_CHECKING:
    from .files.reports import Report as Report

__getattr__, __dir__ = _on_use(
    __name__,
    {"files.reports": "Report"},
    {
        "constraints.manipulation": "CollisionModel ConstraintGraph ConstraintGraphFactory Gripper Handle Path "
        "PathProblem Shape grasp interpolate placement",
        "constraints.models": "installed_robots load mechanisms sample_arm",
        "constraints.planning": "connect plan timed walk",
        "constraints.pictures": "animate plot_configurations plot_path plot_robot show",
    },
)
