"""Which rows pinocchio has too: the same rows exactly, or others that span the same space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...loops import ConstraintSet
from ...loops.contacts import LocalPoint, PointRates, TwistRows
from ...loops.frame_rows import FrameRows
from ...loops.hinges.hinge_rates import AcrossHinge, RelativeTwist
from ...loops.hinges.pose_map import LogPose, Split, TurnedLog
from ...loops.pose_rows import PoseContact
from ...robot.model.inertia import is_depth_first
from ...rows.row_owner import RowOwner

OUT_OF_ORDER = (
    "the joints of the robot are not in depth-first order, which pinocchio's factorisation requires (add the "
    "joints of one subtree after the other)"
)


def is_its_own(owner: RowOwner) -> bool:
    """Whether the rows are pinocchio's to the letter: contacts in their own axes, spatial or classical as there."""
    return (
        isinstance(owner, FrameRows)
        and not owner.predecessor.joint
        and owner.target is None
        and owner.moving.pose_map.in_own_axes
    )


def has_its_slopes(constraint_set: ConstraintSet, fits: Callable[[RowOwner], bool] = is_its_own) -> bool:
    """Whether pinocchio has right derivatives of dynamics with the rows that are on, at least one."""
    tree, model = constraint_set.robot.space.elementary, constraint_set.robot.model
    of_tree = tree.is_exact and tree.model is model and is_depth_first(model)
    return of_tree and bool(constraint_set.on) and all(fits(owner) for owner, _ in constraint_set.on)


def why_not_its_rows(constraint_set: ConstraintSet) -> str:
    """Why not all rows that are on, at least one, are pinocchio's to the letter; empty where they are."""
    if not constraint_set.on:
        return "no constraint is on"
    for owner, _ in constraint_set.on:
        if not is_its_own(owner):
            return f"'{owner.name}': {'it is not a contact' if not owner.is_contact else _other_rows(owner)}"
    return "" if is_depth_first(constraint_set.robot.model) else OUT_OF_ORDER


def _other_rows(owner: RowOwner) -> str:
    if isinstance(owner, PoseContact):
        return f"its rows are those of {type(owner.pose_map).__name__}, which pinocchio does not have"
    return "its rows are not those of pinocchio, which Axes.LOCAL and Form.RATES give, without mask and target"


def why_not_spanned(owner: RowOwner) -> str:
    """Why pinocchio has no rows that span those of a constraint: it has three of points and six of frames."""
    if not isinstance(owner, FrameRows):
        return "it is neither a contact nor a closure; pinocchio has only these"
    if owner.group.nv not in (3, 6):
        return f"it has {owner.group.nv} rows; pinocchio's constraints have three or six"
    if rows_of_point(owner) or _rows_of_frame(owner):
        return ""
    return "its rows hold neither a point nor a whole frame, as those of pinocchio do"


def rows_of_point(owner: FrameRows) -> bool:
    """Whether the rows are a regular matrix times the velocity of the successor's point, seen from the predecessor."""
    pose_map: Any = owner.moving.pose_map
    if type(pose_map) not in (LocalPoint, PointRates, Split, AcrossHinge) or pose_map.size != 3:
        return False
    if type(pose_map) is LocalPoint and owner.has_position and owner.rate_function is None:
        return False  # the axes of its rows turn with the body: they hold its angular velocity too, off the anchor
    return pose_map.directions.shape == (3, 3) and bool(np.linalg.matrix_rank(pose_map.directions) == 3)


def _rows_of_frame(owner: FrameRows) -> bool:
    """Whether the rows are a regular matrix times the twist of the successor relative to the predecessor."""
    pose_map: Any = owner.moving.pose_map
    if type(pose_map) is Split:
        return pose_map.size == 6
    return type(pose_map) in (LogPose, TurnedLog, TwistRows, RelativeTwist)
