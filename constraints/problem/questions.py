"""Questions about numbers that are far from anything the robot can do: degrees for radians, millimetres for metres?

Nothing is guessed and nothing is changed: a problem asks once, in the log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from math import inf, pi
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from liegroups import SO2, SO3
from liegroups.arrays import BoolVector, Vector

from ..errors import UndefinedError
from ..functions.affine import Affine
from ..functions.frame_function import FrameFunction
from ..functions.pose import Pose
from ..functions.position import Position
from ..functions.transformation import Transformation
from ..linear_algebra import norm
from ..robot import Bounds, Frame, Robot
from ..robot.space import RobotSpace
from ..rows.explicit import Explicit
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner

_log = logging.getLogger(__package__)

FAR_AWAY = 100.0
"""A target so many times as far as the frame reaches is asked about."""

_ASKED: WeakSet[RowOwner] = WeakSet()
"""Constraints that were asked about, in whatever problem."""


class _Joint(NamedTuple):
    """A coordinate with two bounds: its name, its bounds, whether it is an angle."""

    name: str
    lower: float
    upper: float
    is_angle: bool

    def question(self, value: float) -> str:
        """What is asked of a value; nothing where it is not far outside."""
        outside = max(self.lower - value, value - self.upper)
        turns = self.is_angle and outside > 0.0 and abs(value) > 2.0 * pi
        if not (outside > self.upper - self.lower or turns):
            return ""
        unit, asked = ("rad", "is it in degrees") if self.is_angle else ("m", "is it in millimetres")
        box = f"[{self.lower:.4g}, {self.upper:.4g}] {unit}"
        return f"{value:.6g} for '{self.name}', whose bounds are {box}: {asked}?"


def ask(rhs: RightHandSide, bounds: Bounds, revolute: BoolVector) -> None:
    """Log one WARNING with all questions about the constraints of a problem.

    Args:
        rhs: default right-hand sides of the constraints.
        bounds: of the problem.
        revolute: (nv,) true for columns that are angles.
    """
    asked: list[str] = []
    for owner in rhs.stack:
        if owner in _ASKED:
            continue
        found = next((words for words in _questions(owner, rhs, bounds, revolute) if words), "")
        if found:
            _ASKED.add(owner)
            asked.append(f"{owner.name!r}: {found}")
    if asked:
        _log.warning("angles are in radians, lengths in metres; %s", "; ".join(asked))


def _questions(owner: RowOwner, rhs: RightHandSide, bounds: Bounds, revolute: BoolVector) -> Iterator[str]:
    """What is asked of one constraint."""
    if isinstance(owner, Explicit):
        if owner.is_constant:
            try:
                values = owner.output_function(rhs.of(owner)).value(bounds.space.neutral)
            except UndefinedError:  # a projection ends by it
                return
            for i, value in zip(owner.outputs.q_indices, values, strict=True):
                joint = _joint(bounds, revolute, q_index=int(i))
                yield "" if joint is None else joint.question(float(value))
    elif isinstance(owner, Implicit):
        function = owner.function
        if isinstance(function, Affine) and function.inputs == bounds.space:
            yield from _coordinates(function, owner, rhs, bounds, revolute)
        elif isinstance(function, Position | Pose | Transformation):
            yield _distance(function, owner, rhs)


def _joint(bounds: Bounds, revolute: BoolVector, q_index: int) -> _Joint | None:
    """The coordinate at an entry of q, if it is a number with two bounds; continuous and free joints have none."""
    space = bounds.space
    columns = dict(zip(space.vector_q.tolist(), space.vector_v.tolist(), strict=True))
    lower, upper = float(bounds.lower[q_index]), float(bounds.upper[q_index])
    if q_index not in columns or not -inf < lower < upper < inf:
        return None
    leaf = next(leaf for leaf in space.leaves() if leaf.q.start <= q_index < leaf.q.stop)
    return _Joint(leaf.name, lower, upper, bool(revolute[columns[q_index]]))


def _interval(owner: Implicit, target: Vector, row: int) -> tuple[float, float]:
    """Where a row of a flat function is wanted: its target is a point, one-sided rows have an infinite end."""
    return float(target[row] + owner.rows.lower[row]), float(target[row] + owner.rows.upper[row])


def _nearest(interval: tuple[float, float], lower: float, upper: float) -> float:
    """The number of an interval that is nearest to a box; one inside where they meet."""
    low, high = min(interval), max(interval)
    return min(max(low, lower), upper) if low <= upper and high >= lower else (high if high < lower else low)


def _coordinates(
    function: Affine, owner: Implicit, rhs: RightHandSide, bounds: Bounds, revolute: BoolVector
) -> Iterator[str]:
    """Rows that want one coordinate somewhere."""
    space, neutral = bounds.space, bounds.space.neutral
    A, b = function.jacobian(neutral), function.value(neutral)
    entry = dict(zip(space.vector_v.tolist(), space.vector_q.tolist(), strict=True))
    for row in np.flatnonzero(owner.rows.mask & (np.count_nonzero(A, axis=1) == 1)).tolist():
        column = int(np.flatnonzero(A[row])[0])
        joint = _joint(bounds, revolute, entry[column])
        if joint is None:
            continue
        slope = float(A[row, column])
        shift = float(b[row]) - slope * float(neutral[entry[column]])
        low, high = _interval(owner, rhs.of(owner), row)
        yield joint.question(_nearest(((low - shift) / slope, (high - shift) / slope), joint.lower, joint.upper))


def _distance(function: FrameFunction, owner: Implicit, rhs: RightHandSide) -> str:
    """A target of a frame that is far away from all that it reaches."""
    reach = reach_of(function.robot, function.frame_a, function.frame_b)
    if not 0.0 < reach < inf:
        return ""
    target = rhs.of(owner)
    rows = [row for row in range(3) if owner.rows.mask[row]]
    far = norm(np.array([_nearest(_interval(owner, target, row), 0.0, 0.0) for row in rows])) if rows else 0.0
    if far <= FAR_AWAY * reach:
        return ""
    return f"a target {far:.6g} m away of '{function.frame_b}', which reaches {reach:.3g} m: is it in millimetres?"


def reach_of(robot: Robot, *frames: Frame) -> float:
    """No configuration has two frames, or one and the world, further apart [m].

    Args:
        robot: the robot.
        *frames: one or two.

    Returns:
        A bound: the sum of all lengths between them; infinite where a joint between them has no bounds.
    """
    total = 0.0
    space: RobotSpace = robot.space
    model: Any = robot.model
    for frame in frames:
        total += norm(np.asarray(frame.placement.translation))
        for joint in list(model.supports[frame.joint])[1:]:
            factor = space.factors[int(joint) - 1]
            total += norm(np.asarray(model.jointPlacements[joint].translation))
            if not factor.space.is_flat:
                if factor.space not in (SO2, SO3):
                    return inf  # free and planar joints go anywhere
                continue
            for column, entry in zip(_of(factor.v), _of(factor.q), strict=True):
                if not space.revolute[column]:
                    total += max(abs(float(robot.bounds.lower[entry])), abs(float(robot.bounds.upper[entry])))
    return total


def _of(part: slice) -> range:
    return range(part.start, part.stop)
