"""Constraint solvers on Lie groups: put configurations of robots onto constraints.

robot = Robot.from_urdf("arm.urdf")
hand = Implicit.equal(Pose(robot, "hand"), target)
result = project(robot, [hand], robot.random(rng))
"""

from typing import TYPE_CHECKING
from typing import Any as _Any

import liegroups as _liegroups

__version__ = "0.1.0"

if getattr(_liegroups, "__distribution__", None) != "lie-constraints":
    raise ImportError(
        f"the package 'liegroups' at {_liegroups.__file__} is not the one of lie-constraints: another distribution "
        "installed it, or a folder of that name comes first on the path. Uninstall or rename it, then reinstall "
        "lie-constraints."
    )

from .errors import ConstraintError
from .functions import (
    Affine,
    CenterOfMass,
    ComBetweenFeet,
    Composition,
    Constant,
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    Difference,
    FromCallable,
    Identity,
    Lifted,
    Orientation,
    Polynomial,
    Pose,
    Position,
    Restriction,
    Rotation,
    Stacked,
    Sum,
    Transformation,
)
from .functions.contact.contact import SurfacePair
from .functions.contact.contact_surface import Surface
from .functions.function import Function, Linearisation
from .point import MovingPoint, Point
from .problem.problem import Problem
from .robot import Base, Bounds, Frame, FrameKind, Motion, Part, Posture, Robot, rigid_transform
from .rows.comparison import Comparison
from .rows.explicit import Explicit
from .rows.explicit_forms import (
    explicit_contact,
    explicit_relative_pose,
    linear_coupling,
    locked_joint,
    mimic_constraints,
)
from .rows.implicit import Implicit
from .rows.right_hand_side import RightHandSide
from .rows.row_owner import RowOwner
from .rows.stack import Stack
from .rows.stacking import Order, Rows, stack_rows
from .rows.target import Target
from .solvers import Engine, Options, Projection, ProjectionBatch, Projector, Refined, Status, Step, project
from .workspace import Workspace

if TYPE_CHECKING:
    from .files.reports import Report
    from .solvers.diagnosis.diagnosis import Diagnosis
    from .solvers.refinement.sensitivity import Sensitivity, SensitivityError, SensitivityKind

__all__ = [
    "Affine",
    "Base",
    "Bounds",
    "CenterOfMass",
    "ComBetweenFeet",
    "Comparison",
    "Composition",
    "Constant",
    "ConstraintError",
    "ConvexShapeContact",
    "ConvexShapeContactComplement",
    "ConvexShapeContactHold",
    "Diagnosis",
    "Difference",
    "Engine",
    "Explicit",
    "Frame",
    "FrameKind",
    "FromCallable",
    "Function",
    "Identity",
    "Implicit",
    "Lifted",
    "Linearisation",
    "Motion",
    "MovingPoint",
    "Options",
    "Order",
    "Orientation",
    "Part",
    "Point",
    "Polynomial",
    "Pose",
    "Position",
    "Posture",
    "Problem",
    "Projection",
    "ProjectionBatch",
    "Projector",
    "Refined",
    "Report",
    "Restriction",
    "RightHandSide",
    "Robot",
    "Rotation",
    "RowOwner",
    "Rows",
    "Sensitivity",
    "SensitivityError",
    "SensitivityKind",
    "Stack",
    "Stacked",
    "Status",
    "Step",
    "Sum",
    "Surface",
    "SurfacePair",
    "Target",
    "Transformation",
    "Workspace",
    "__version__",
    "explicit_contact",
    "explicit_relative_pose",
    "linear_coupling",
    "locked_joint",
    "mimic_constraints",
    "project",
    "rigid_transform",
    "stack_rows",
]


def __getattr__(name: str) -> _Any:
    """What few programs need is imported on use."""
    if name == "Diagnosis":
        from .solvers.diagnosis import diagnosis as home
    elif name in ("Sensitivity", "SensitivityError", "SensitivityKind"):
        from .solvers.refinement import sensitivity as home
    elif name == "Report":
        from .files import reports as home
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(home, name)
