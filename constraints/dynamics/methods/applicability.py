"""Which constraint sets a method takes, and why not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import ConstraintError
from ...loops import ConstraintSet, PointContact, SurfaceContact
from ...loops.contacts import LocalPoint, PointRates, TwistRows
from ...loops.frame_rows import FrameRows
from ...loops.hinges.hinge_rates import AcrossHinge, RelativeTwist
from ...loops.hinges.pose_map import LogPose, Split, TurnedLog
from ...robot.model.inertia import is_depth_first
from ...rows.row_owner import RowOwner
from .status import Method

OUT_OF_ORDER = (
    "the joints of the robot are not in depth-first order, which pinocchio's factorisation requires (add the "
    "joints of one subtree after the other)"
)


class MethodError(ConstraintError):
    """A method that does not support a constraint set: `method`, `constraint`, `reason`."""

    def __init__(self, method: Method, constraint: str, reason: str) -> None:
        self.method, self.constraint, self.reason = method, constraint, reason
        super().__init__(
            f"Method.{method.name} does not support '{constraint}': {reason}; Method.AUTOMATIC supports any set"
        )


def check_method(constraint_set: ConstraintSet, method: Method) -> None:
    """Refuse a method that does not take the set.

    Raises:
        MethodError: names the first constraint that it does not take, and why.
    """
    if (
        method is Method.TEST_FORCES and constraint_set.is_of_contacts
    ):  # asked at each call: found when the set was made
        return
    for name, reason in why_not(constraint_set, method):
        raise MethodError(method, name, reason)


def why_not(constraint_set: ConstraintSet, method: Method) -> Iterator[tuple[str, str]]:
    """Constraints of the set, those that are on, that a method does not take, each with the reason."""
    if method is Method.SPARSE:
        from . import sparse_solution

        yield from sparse_solution.why_not(constraint_set)
        return
    reasons = {Method.TEST_FORCES: _no_contact, Method.PROXIMAL: _not_pinocchios}
    if method not in reasons:
        return
    if method is Method.PROXIMAL and not is_depth_first(constraint_set.robot.model):
        yield (*constraint_set.names, constraint_set.robot.name)[0], OUT_OF_ORDER
        return
    for owner, on in zip(constraint_set.stack, constraint_set.active, strict=True):
        reason = reasons[method](owner) if on else ""
        if reason:
            yield owner.name, reason


def _no_contact(owner: RowOwner) -> str:
    if isinstance(owner, PointContact | SurfaceContact):
        return ""
    return "it is not a contact; test forces act between one body and the world"


def _not_pinocchios(owner: RowOwner) -> str:
    """Pinocchio has three rows of points and six of frames; others are refused."""
    if not isinstance(owner, FrameRows):
        return "it is neither a contact nor a closure; pinocchio has only these"
    if owner.group.nv not in (3, 6):
        return f"it has {owner.group.nv} rows; pinocchio's constraints have three or six"
    if rows_of_point(owner) or rows_of_frame(owner):
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


def rows_of_frame(owner: FrameRows) -> bool:
    """Whether the rows are a regular matrix times the twist of the successor relative to the predecessor."""
    pose_map: Any = owner.moving.pose_map
    if type(pose_map) is Split:
        return pose_map.size == 6
    return type(pose_map) in (LogPose, TurnedLog, TwistRows, RelativeTwist)
