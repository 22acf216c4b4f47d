"""Grasps: a gripper on a handle."""

from __future__ import annotations

from liegroups import R3xSO3
from liegroups.arguments import expect

from ...errors import GraphError
from ...functions.frames.pose import Pose
from ...functions.frames.transformation import Transformation
from ...robot import Frame, Robot
from ...robot.arguments import as_robot
from ...robot.model.pinocchio import pin
from ...rows.comparison import Comparison
from ...rows.explicit_forms import explicit_relative_pose
from ...rows.implicit import Implicit
from ...rows.row_owner import RowOwner
from ..foliation import Foliation
from ..gripper import Gripper, Handle


def grasp(robot: Robot, gripper: Gripper, handle: Handle) -> Foliation:
    r"""A gripper holds a handle: :math:`\log({}^{g}M_h) = 0` on the rows of the handle's mask.

    The constraint is "GRIPPER grasps HANDLE"; the complement keeps the rows that the mask leaves free; the hold is
    both, explicit (the object's pose follows the gripper) if all six rows are in one or the other and the handle is on
    a free object. With a mask of six rows there is no complement, and constraint and hold are the same.

    Args:
        robot: robot with both frames.
        gripper: g.
        handle: h.

    Raises:
        WrongObjectError: not a gripper, or not a handle.
        GraphError: both on one joint.

    Source: `createGrasp`, `createGraspComplement`, `createGraspAndComplement` of hpp-manipulation.
    """
    g, h = _frames(robot, gripper, handle)
    name = f"{gripper.name} grasps {handle.name}"
    whole = bool((handle.rows | handle.free_rows).all()) and is_free_object(robot, h.joint)
    # Rows in neither mask are read with the others: a leaf contains its start where these rotate too.
    types = [Comparison.EQUAL_TO_ZERO if fixed else Comparison.EQUALITY for fixed in handle.rows]
    if handle.rows.all():
        if whole:
            hold: RowOwner = explicit_relative_pose(robot, g, h, name=name)
        else:
            hold = Implicit.zero(Transformation(robot, h, reference=g), name=name)
        return Foliation(name, hold, None, hold, proven=True)
    function = Pose(robot, h, g, R3xSO3)
    constraint = Implicit.zero(function, mask=handle.rows, name=name) if handle.rows.any() else None
    complement = None
    if handle.free_rows.any():
        complement = Implicit.equal(function, mask=handle.free_rows, name=f"{name}/complement")
    if whole:
        hold = explicit_relative_pose(robot, g, h, comparison=types, name=f"{name}/hold")
    else:
        hold = Implicit(function, types, mask=handle.rows | handle.free_rows, name=f"{name}/hold")
    return Foliation(name, constraint, complement, hold, proven=True)


def pregrasp(robot: Robot, gripper: Gripper, handle: Handle) -> Implicit:
    r"""A gripper before a handle: the same rows, the handle moved by both clearances in the approach direction.

    .. math:: \log\left(({}^oM_g\,T)^{-1}\,{}^oM_h\right) = 0, \qquad
        T = \left(I,\; (clearance_g + clearance_h)\, approach\right)

    Args:
        robot, gripper, handle: as in `grasp`.

    Source: `createPreGrasp` of hpp-manipulation.
    """
    g, h = _frames(robot, gripper, handle)
    shift = pin.SE3.Identity()
    shift.translation = (gripper.clearance + handle.clearance) * handle.direction
    before = Frame(g.name, g.joint, g.placement * shift, g.joint_name)
    name = f"{gripper.name} pregrasps {handle.name}"
    if handle.rows.all():  # the same rows, cheaper: nothing is left of the group where all of them are zero
        return Implicit.zero(Transformation(robot, h, reference=before), name=name)
    return Implicit.zero(Pose(robot, h, before, R3xSO3), mask=handle.rows, name=name)


def is_free_object(robot: Robot, joint: int) -> bool:
    """Whether a joint is a free-flyer whose pose may be computed."""
    return joint > 0 and robot.space.factors[joint - 1].space.name == "SE3"


def _frames(robot: Robot, gripper: Gripper, handle: Handle) -> tuple[Frame, Frame]:
    """Frames called by the names of gripper and handle."""
    as_robot(robot, "robot of a grasp")
    expect(gripper, Gripper, "gripper of a grasp")
    expect(handle, Handle, "handle of a grasp")
    a, b = robot.frame(gripper.frame), robot.frame(handle.frame)
    if a.joint == b.joint:
        raise GraphError(
            f"gripper '{gripper.name}' and handle '{handle.name}' are on one joint, '{a.joint_name}': their pose "
            "cannot change, so there is nothing to grasp"
        )
    return (
        Frame(gripper.name, a.joint, a.placement, a.joint_name),
        Frame(handle.name, b.joint, b.placement, b.joint_name),
    )
