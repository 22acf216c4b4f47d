r"""Pinocchio's constraint models as constraints of ours, and back, where they mean the same.

With frames 1 and 2 on two joints (the first or the second may be the world), :math:`M = {}^{1}M_2` the pose of frame 2
seen from frame 1, p its translation, :math:`{}^1X_2` its adjoint, :math:`J_f` the Jacobian of our function, and
:math:`J_{1,ang}` the angular rows of the body Jacobian of frame 1:

| Pinocchio | its error | its Jacobian | ours |
|---|---|---|---|
| `PointAnchorConstraintModel` | p - d | :math:`J_f - [d]_\times J_{1,ang}` | `Position(2, reference=1)`, rhs = d |
| `FrameAnchorConstraintModel` | log6(M) | :math:`{}^1X_2\, J_f` | `Pose(2, reference=1)` |
| `RigidConstraintModel` 6D, LOCAL | -log6(M) | :math:`-{}^1X_2\, J_f` | `Pose(2, reference=1)` |
| `RigidConstraintModel` 3D, LOCAL | -p | :math:`-J_f + [p]_\times J_{1,ang}` | `Position(2, reference=1)` |

with d the desired offset. The error of ours is p - d, or log6(M): that of the anchors, and minus that of the rigid
models, whose error is 1 minus 2. Our Jacobian is always the differential of the error, :math:`J_f`, or
:math:`J_{\log}(M)\, J_f`. Pinocchio's is a velocity: in 6D the twist of 2 relative to 1 in the axes of frame 1,
whatever the error; in 3D it leaves out that frame 1 turns with d (anchor) or with p (rigid), which makes no
difference where these are zero. All have the same solutions. `PointClosure`, and a closure with a ball, are `Position`
of the successor seen from the predecessor, a locked `Closure` is `Pose`. Baumgarte gains, compliances and forces belong
to dynamics and are not carried over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroups import SE3
from liegroups.arguments import expect
from liegroups.arrays import Vector

from ..errors import ConstraintError, WrongObjectError
from ..functions import Pose, Position
from ..loops import Closure, PointClosure
from ..loops.hinges.pose_map import LogPose, Split
from ..robot import Frame, Robot
from ..robot.arguments import as_robot
from ..robot.model.pinocchio import pin
from ..rows.implicit import Implicit

_TAKEN = "a pinocchio RigidConstraintModel, PointAnchorConstraintModel or FrameAnchorConstraintModel"


class NoCounterpartError(ConstraintError):
    """A constraint has no equivalent in the other library; the message says what differs."""

    def __init__(self, what: str, reason: str) -> None:
        self.what, self.reason = what, reason
        super().__init__(f"{what} has no equivalent in the other library: {reason}")


def from_constraint_model(robot: Robot, model: Any, *, name: str = "") -> Implicit:
    """A constraint model of Pinocchio as an equality: the relative position or pose of its two frames.

    Args:
        robot: the robot to which the joint indices of the model refer.
        model: a `RigidConstraintModel` in LOCAL axes, a `PointAnchorConstraintModel`, a `FrameAnchorConstraintModel`,
            or a `ConstraintModel` that holds one of the last two.
        name: name in messages; the model's, or its kind and joints, by default.

    Raises:
        WrongObjectError: not one of these models.
        NoCounterpartError: other axes than LOCAL, a desired velocity, a desired placement or offset that Pinocchio
            does not read itself, another kind of constraint.
        ModelError: a joint that the robot does not have.
    """
    as_robot(robot, "robot of a constraint model")
    inner = model.extract() if isinstance(model, pin.ConstraintModel) else model
    kind = type(inner).__name__
    what = f"{kind} '{inner.name}'" if getattr(inner, "name", "") else kind
    offset = np.zeros(3)
    if isinstance(inner, pin.RigidConstraintModel):
        is_point = inner.type == pin.ContactType.CONTACT_3D
        if not is_point and inner.type != pin.ContactType.CONTACT_6D:
            raise NoCounterpartError(what, f"its type is {inner.type}, expected CONTACT_3D or CONTACT_6D")
        if inner.reference_frame != pin.LOCAL:
            raise NoCounterpartError(what, f"its rows are in {inner.reference_frame} axes, expected LOCAL")
        if not inner.desired_contact_placement.isIdentity(1e-12):
            raise NoCounterpartError(what, "pinocchio stores its desired placement and does not read it")
        _still(what, inner.desired_contact_velocity.vector)
    elif isinstance(inner, pin.PointAnchorConstraintModel):
        is_point, offset = True, np.array(inner.desired_constraint_offset, dtype=np.float64)
        _still(what, inner.desired_constraint_velocity)
    elif isinstance(inner, pin.FrameAnchorConstraintModel):
        is_point = False
        if np.any(inner.desired_constraint_offset):
            raise NoCounterpartError(what, "pinocchio stores its desired offset and does not read it")
        _still(what, inner.desired_constraint_velocity)
    elif "ConstraintModel" in kind and type(inner).__module__.startswith("pinocchio"):
        raise NoCounterpartError(what, f"it is not an equality of two frames; expected {_TAKEN}")
    else:
        raise WrongObjectError("constraint model", _TAKEN, model)
    a, b = _frame(robot, inner, 1), _frame(robot, inner, 2)
    called = name or inner.name or f"{kind}({a.joint_name}, {b.joint_name})"
    if is_point:
        return Implicit.equal(Position(robot, b, reference=a, name=called), offset, name=called)
    return Implicit.equal(Pose(robot, b, reference=a, name=called), name=called)


def as_anchor_constraint_model(constraint: Implicit | Closure | PointClosure, rhs: Any = None) -> Any:
    """The `PointAnchorConstraintModel` or `FrameAnchorConstraintModel` with the rows of a constraint.

    The right-hand side is put into the placement of frame 1, where both kinds read it; frame 1 is the predecessor of a
    closure.

    Args:
        constraint: an equality on a `Position`, or on a `Pose` in SE3, with all rows; a closure of points, with a ball,
            or locked.
        rhs: right-hand side, as `Implicit` takes it; the constraint's default if absent.

    Raises:
        NoCounterpartError: other functions and hinges, masks, inequalities, scales, targets that move.
    """
    model, j1, M1, j2, M2, is_point = _anchors(constraint, rhs)
    kind = pin.PointAnchorConstraintModel if is_point else pin.FrameAnchorConstraintModel
    made = kind(model, j1, M1, j2, M2)
    made.name = constraint.name
    return made


def as_rigid_constraint_model(constraint: Implicit | Closure | PointClosure, rhs: Any = None) -> Any:
    """The `RigidConstraintModel` (CONTACT_3D or CONTACT_6D, LOCAL) of a constraint: minus its rows.

    Args:
        constraint, rhs: as in `as_anchor_constraint_model`.

    Raises:
        NoCounterpartError: as `as_anchor_constraint_model`.
    """
    model, j1, M1, j2, M2, is_point = _anchors(constraint, rhs)
    kind = pin.ContactType.CONTACT_3D if is_point else pin.ContactType.CONTACT_6D
    made = pin.RigidConstraintModel(kind, model, j1, M1, j2, M2, pin.LOCAL)
    made.name = constraint.name
    return made


def _frame(robot: Robot, model: Any, side: int) -> Frame:
    joint = int(getattr(model, f"joint{side}_id"))
    names = ("universe", *robot.joint_names)
    known = names[joint] if joint < len(names) else f"joint {joint}"
    return robot.frame(Frame(f"frame {side}", joint, getattr(model, f"joint{side}_placement"), known))


def _still(what: str, velocity: Vector) -> None:
    if np.any(velocity):
        raise NoCounterpartError(what, "it has a desired velocity; give a Target as right-hand side instead")


def _anchors(constraint: Any, rhs: Any) -> tuple[Any, int, Any, int, Any, bool]:
    """Model, joints and placements of the two frames, and whether only their origins meet."""
    words = "an Implicit constraint, a PointClosure or a Closure"
    expect(constraint, (Implicit, Closure, PointClosure), "constraint for pinocchio", words)
    what, f, is_closure = f"{constraint.name!r}", constraint.function, not isinstance(constraint, Implicit)
    rows = f.pose_map if is_closure else f
    is_ball = isinstance(rows, Split) and rows.rotation is None and np.array_equal(rows.directions, np.eye(3))
    if is_closure and not (is_ball or isinstance(rows, LogPose)):
        raise NoCounterpartError(what, f"expected a closure of points, with a ball, or locked, got {constraint!r}")
    if not is_closure and (not isinstance(f, Position | Pose) or (isinstance(f, Pose) and f.outputs != SE3)):
        received = f"{type(f).__name__} in {f.outputs.name}"
        raise NoCounterpartError(what, f"expected a Position, or a Pose in SE3, got {received}")
    if not is_closure and (not constraint.rows.mask.all() or not constraint.rows.is_plain):
        raise NoCounterpartError(what, "it must be an equality, with all its rows and without scale")
    if rhs is None and constraint.target is not None:
        raise NoCounterpartError(what, "its target moves; give the right-hand side it has now, rhs=...")
    point = constraint.default_rhs if rhs is None else constraint.check_rhs(rhs)
    is_point = point.size == 3
    if point.size == 6:  # the logarithm of the pose
        point = SE3.exp(point)
    shift = pin.SE3(np.eye(3), point) if is_point else pin.XYZQUATToSE3(point)
    a, b = f.frame_a, f.frame_b
    return f.robot.model, a.joint, a.placement * shift, b.joint, b.placement, is_point
