"""Targets of a frame as users give them: what each asks for, and rows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroups import SE3, SO3, Element, R3xSO3, Rn
from liegroups.arrays import ArrayLike

from ...errors import SizeError, SpaceMismatchError, WrongObjectError
from ...functions import Function, Pose, Position, Rotation
from ...functions.frames.frame_function import FrameOfRobot
from ...robot.arguments import GivenPoint, refuse_posture
from ...robot.placement import HasMatrix, matrix_of, way_from
from ...rows.row_owner import RowOwner
from ...rows.target import Target

Asked = type[FrameOfRobot]
"""What a target asks for: `Position`, `Rotation` or `Pose`."""
GivenTargets = GivenPoint | Sequence[GivenPoint] | ArrayLike | HasMatrix
"""One target, or rows of them."""

_BY_SHAPE: dict[tuple[int, ...] | None, Asked] = {
    (3,): Position,
    (3, 3): Rotation,
    (4,): Rotation,
    (7,): Pose,
    (4, 4): Pose,
}
_BY_GROUP: tuple[tuple[Any, Asked], ...] = ((SE3, Pose), (R3xSO3, Pose), (SO3, Rotation), (Rn(3), Position))
_BY_ROW: dict[tuple[int, ...], Asked] = {(3,): Position, (3, 3): Rotation, (7,): Pose, (4, 4): Pose}
_ONE = (
    "a point (3,), a pose (pinocchio.SE3, 4 x 4, or (7,): translation, quaternion xyzw), or a rotation (3 x 3, scipy)"
)
_SHAPES = "(3,) a point, (7,) or (4, 4) a pose, (4,) or (3, 3) a rotation"
_ROWS = "(n, 3) points, (n, 7) or (n, 4, 4) poses, (n, 3, 3) rotations, or a list of targets"
_NUMERIC = (int, float, np.number, list, tuple, np.ndarray)
_LIKE_A_ROTATION = 0.1
"""Three points whose matrix is that near to one of rotation may be meant as one rotation."""


class BatchTargets(NamedTuple):
    """Targets of a batch.

    Attributes:
        asked: what all of them ask for.
        targets: one a row; the one of all rows where `single`.
        single: whether it is one target for all rows.
    """

    asked: Asked
    targets: Sequence[Any] | NDArray[Any]
    single: bool


def asked_by(target: Any, what: str) -> Asked:
    """What one target asks for: its kind is read from its shape.

    Args:
        target: as given.
        what: how an error message names it.

    Raises:
        WrongObjectError, SizeError, SpaceMismatchError: it is no target; says what is, and what may be meant.
    """
    if isinstance(target, Element):
        for group, asked in _BY_GROUP:
            if target.space == group:
                return asked
        raise SpaceMismatchError(what, "SE3, R3xSO3, SO3 or R3", target.space.name)
    numbers = matrix_of(target)
    if type(numbers) is np.ndarray and numbers.shape in _BY_SHAPE:
        return _BY_SHAPE[numbers.shape]
    _refuse(target, what)
    shape = _numeric_shape(numbers)
    if shape in _BY_SHAPE:
        return _BY_SHAPE[shape]
    if shape is None and not _is_listed(numbers):
        raise WrongObjectError(what, _ONE, target)
    if shape is None and len(numbers) == 2 and all(_numeric_shape(part) for part in numbers):
        raise WrongObjectError(what, _ONE, "a pair (for translation and rotation: rigid_transform(*pair))")
    if shape is None:
        raise WrongObjectError(what, _ONE, "a list of something else (for many targets: reach_batch)")
    raise SizeError(what, _SHAPES, shape, _meant(shape))


def rows_of(targets: Any, what: str) -> BatchTargets:
    """Targets of a batch: one for all rows, or one a row, all of one kind.

    Args:
        targets: as given.
        what: how an error message names it.

    Raises:
        WrongObjectError, SizeError, SpaceMismatchError: what is wrong with them; a bad row is named by its index.
    """
    if isinstance(targets, Element):
        return BatchTargets(asked_by(targets, what), [targets], single=True)
    numbers: Any = matrix_of(targets)
    if getattr(numbers, "dtype", None) == np.object_:
        numbers = list(numbers)
    shape = _numeric_shape(numbers)
    if shape == (3, 3):
        if numbers is not targets:  # an object that has a rotation
            return BatchTargets(Rotation, [targets], single=True)
        _refuse_like_a_rotation(numbers, what)
        return BatchTargets(Position, np.asarray(numbers), single=False)
    if shape in _BY_SHAPE:
        return BatchTargets(_BY_SHAPE[shape], [targets], single=True)
    if shape is not None and shape[1:] in _BY_ROW:
        return BatchTargets(_BY_ROW[shape[1:]], np.asarray(numbers), single=False)
    if shape is not None:
        raise SizeError(what, _ROWS, shape, _rows_meant(shape))
    if not _is_listed(numbers):
        return BatchTargets(asked_by(targets, what), [targets], single=True)
    kinds = [asked_by(row, f"row {i} of {what}") for i, row in enumerate(numbers)]
    for i, kind in enumerate(kinds):
        if kind is not kinds[0]:
            both = f"{kinds[0].__name__} as in row 0, because all rows must be of one kind"
            raise WrongObjectError(f"row {i} of {what}", both, f"one of {kind.__name__}")
    return BatchTargets(kinds[0], numbers, single=False)


def _refuse(target: Any, what: str) -> None:
    """Refuse what is no target, and may be meant as one."""
    refuse_posture(target, what)
    if target is None:
        raise WrongObjectError(what, _ONE, "None")
    if isinstance(target, str):
        raise WrongObjectError(what, f"{_ONE}; for a target in a frame: reach(..., reference={target!r})", repr(target))
    if isinstance(target, Target):
        raise WrongObjectError(what, f"{_ONE}; for a target that moves in time: target.at(t)", "a Target")
    if isinstance(target, Function | RowOwner):
        raise WrongObjectError(what, f"{_ONE}; for constraints: project(robot, [...], start)", target)


def _numeric_shape(numbers: Any) -> tuple[int, ...] | None:
    """Shape of an array of numbers; None for what numpy does not read as one."""
    if hasattr(numbers, "shape"):
        return tuple(numbers.shape)
    if not _is_listed(numbers) or not all(isinstance(row, _NUMERIC) for row in numbers):
        return None
    try:
        array: NDArray[Any] = np.asarray(numbers)
    except (TypeError, ValueError):
        return None
    return None if array.dtype == np.object_ else array.shape


def _is_listed(candidate: Any) -> bool:
    return isinstance(candidate, list | tuple)


def _meant(shape: tuple[int, ...]) -> str:
    """What to write for an array of another shape than that of a target."""
    if shape[1:] in _BY_ROW:
        return "for many targets use reach_batch"
    if len(shape) == 2 and shape[1] == 1:
        return "for a column: target.ravel()"
    return way_from(shape[0]) if len(shape) == 1 else ""


def _rows_meant(shape: tuple[int, ...]) -> str:
    """The same for rows."""
    if shape == (0,):
        return "for no targets, give an empty array of one kind, np.zeros((0, 7))"
    if shape[1:] == (4,):
        return "for quaternions: scipy's Rotation.from_quat(rows), also xyzw"
    if shape[1:] == (6,):
        return "for each row: rigid_transform([x, y, z], rpy=[r, p, y])"
    return way_from(shape[0]) if len(shape) == 1 else ""


def _refuse_like_a_rotation(numbers: Any, what: str) -> None:
    """Refuse three points that may be one rotation."""
    R = np.asarray(numbers, dtype=np.float64)
    if np.abs(R @ R.T - np.eye(3)).max() < _LIKE_A_ROTATION:
        words = "one rotation as [R] or scipy's Rotation.from_matrix(R); three points by Projector.project_batch"
        raise WrongObjectError(what, words, "a matrix (3, 3) that is nearly a rotation matrix: it may be either")
