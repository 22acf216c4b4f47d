"""Questions about numbers that are far from anything the robot can do: degrees for radians, millimetres for metres?

Nothing is guessed and nothing is changed: a problem asks once, in the log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from math import inf, pi
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from liegroups import SO2, SO3
from liegroups.arrays import BoolVector, Vector
from liegroups.layout import Factor
from liegroups.unit_blocks import plain_entries

from ..errors import UndefinedError
from ..functions.affine import Affine
from ..functions.frames.center_of_mass import CenterOfMass
from ..functions.frames.frame_function import FrameFunction
from ..functions.frames.orientation import Orientation
from ..functions.frames.pose import Pose
from ..functions.frames.position import Position
from ..functions.frames.rotation import Rotation
from ..functions.frames.transformation import Transformation
from ..linear_algebra import norm
from ..questions import FAR_AWAY, TURN, TURNS, Coordinate, ask_once, asked_of_turns, coordinate_at, far_entries, say
from ..robot import Bounds, Frame, Robot, rigid_transform
from ..robot.elementary import elementary_parts
from ..robot.model.joints import joint_whole, type_name
from ..robot.space import RobotSpace
from ..rows.explicit import Explicit
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner

if TYPE_CHECKING:
    from .problem import Problem

_log = logging.getLogger(__package__)

HALF_TURN = 1.001 * pi
"""The longest rotation vector that anybody needs, and a little."""

PLAIN, LONGER = 1.0, 10.0
"""A spring is asked about that is longer than this [m], and so many times longer than its ends can be apart."""

_ASKED: WeakSet[RowOwner] = WeakSet()
"""Constraints that were asked about, in whatever problem."""


def ask_of_rest(robot: Robot, leaf: Factor, rest: Vector, name: str) -> None:
    """Ask about the rest of a spring at a joint: far outside of the bounds, or many turns away."""
    for entry, value in zip(_of(leaf.q), rest.tolist(), strict=True):
        words = _wanted(robot.bounds, robot.space.revolute, entry, value, value)
        if words:
            of_joint = f"'{leaf.name}': "  # as the name of the spring says
            ask_once(f"rest of a {name}: {words.removeprefix(of_joint)}")


def ask_of_length(robot: Robot, a: Frame, b: Frame, length: float, name: str) -> None:
    """Ask about the length [m] of a spring that is far longer than its ends can be apart."""
    if length > PLAIN and length > LONGER * (most := reach_of(robot, a, b)) > 0.0:
        ask_once(
            f"length of a {name}: {length:.6g} m, where its ends are at most {most:.3g} m apart: is it in millimetres?"
        )


def ask(rhs: RightHandSide, bounds: Bounds, revolute: BoolVector) -> None:
    """Log one WARNING with all questions about the constraints of a problem; `revolute` (nv,) are columns of angles."""
    say(_log, _asked_of_rows(rhs.stack, rhs, bounds, revolute, new=True))


def asked_of_case(problem: Problem, rhs: RightHandSide, starts: Mapping[str, Vector | None], *, new: bool) -> list[str]:
    """What is asked about the numbers of one projection: its right-hand sides, where it starts, what it shall be near.

    Args:
        starts: what a configuration is for -> the configuration (nq,), if there is one.
        new: leave out constraints that were asked about already, and remember the others.
    """
    bounds, revolute = problem.bounds, problem.revolute
    asked = [words for what, q in starts.items() for words in asked_of_start(bounds, revolute, what, q)]
    still = [owner for owner in rhs.stack if owner.target is None]
    return [*asked, *_asked_of_rows(still, rhs, bounds, revolute, new=new)]


def asked_of_start(bounds: Bounds, revolute: BoolVector, what: str, q: Vector | None) -> list[str]:
    """What is asked about a configuration that is far out of its bounds; one question, with the number of others."""
    entries = [] if q is None else [(i, float(q[i])) for i in far_entries(q)]
    joints = [(_joint(bounds, revolute, i), value) for i, value in entries]
    found = [words for joint, value in joints if joint is not None and (words := joint.question_of_start(value))]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return [f"{what}: {found[0]}{more}"] if found else []


def _asked_of_rows(
    owners: Iterable[RowOwner], rhs: RightHandSide, bounds: Bounds, revolute: BoolVector, *, new: bool
) -> list[str]:
    """The first question about each constraint; `new` as in `asked_of_case`."""
    asked = list[str]()
    for owner in owners:
        if not (new and owner in _ASKED):
            found = next((words for words in _questions(owner, rhs, bounds, revolute) if words), "")
            if found:
                asked.append(f"{owner.name!r}: {found}")
                _ASKED.update([owner] if new else [])
    return asked


def _questions(owner: RowOwner, rhs: RightHandSide, bounds: Bounds, revolute: BoolVector) -> Iterator[str]:
    """What is asked of one constraint."""
    if isinstance(owner, Explicit):
        if owner.is_constant:
            try:
                values = owner.output_function(rhs.of(owner)).value(bounds.space.neutral)
            except UndefinedError:  # a projection ends by it
                return
            for i, value in zip(owner.outputs.q, values.tolist(), strict=True):
                yield _wanted(bounds, revolute, i, value, value)
            return
        if isinstance(owner.map, Affine):
            yield _coupled(owner, owner.map, rhs, bounds, revolute)
        function = owner.twin.function
        if isinstance(function, Transformation):
            yield from _relative(function, owner.twin, rhs.of(owner), free=True)
    elif isinstance(owner, Implicit):
        function = owner.function
        if isinstance(function, Affine) and function.inputs == bounds.space:
            yield from _coordinates(function, owner, rhs, bounds, revolute)
        elif isinstance(function, Position | Pose | Transformation):
            yield from _relative(function, owner, rhs.of(owner))
        elif isinstance(function, Orientation | Rotation):
            yield from _turned(function, owner, rhs.of(owner), 0)
        elif isinstance(function, CenterOfMass):
            yield _distance(function.name, _reach_of_mass(function), owner, rhs.of(owner))


def _joint(bounds: Bounds, revolute: BoolVector, q_index: int) -> Coordinate | None:
    return coordinate_at(bounds.space, bounds.lower, bounds.upper, revolute, q_index)


def _wanted(bounds: Bounds, revolute: BoolVector, q_index: int, *interval: float) -> str:
    """What is asked of a coordinate that is wanted in an interval: far out of its bounds; an angle without, many turns.

    Nothing is asked of unit vectors, whose entries are never far.
    """
    joint = _joint(bounds, revolute, q_index)
    if joint is not None:
        return joint.question(_nearest(interval, joint.lower, joint.upper))
    value = _nearest(interval, 0.0, 0.0)
    if abs(value) <= TURN * TURNS:
        return ""
    column = bounds.space.vector_v[np.flatnonzero(bounds.space.vector_q == q_index)]
    return asked_of_turns(f"'{bounds.name_of(q_index)}'", value) if revolute[column].any() else ""


def _interval(owner: Implicit, target: Vector, row: int) -> tuple[float, float]:
    """Where a row of a flat function is wanted: its target is a point, one-sided rows have an infinite end."""
    return float(target[row] + owner.rows.lower[row]), float(target[row] + owner.rows.upper[row])


def _nearest(interval: tuple[float, ...], lower: float, upper: float) -> float:
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
        slope = float(A[row, column])
        shift = float(b[row]) - slope * float(neutral[entry[column]])
        low, high = _interval(owner, rhs.of(owner), row)
        yield _wanted(bounds, revolute, entry[column], (low - shift) / slope, (high - shift) / slope)


def _coupled(owner: Explicit, f: Affine, rhs: RightHandSide, bounds: Bounds, revolute: BoolVector) -> str:
    """A joint that follows others, wherever they are, to values far out of its bounds."""
    joint, space = _joint(bounds, revolute, int(owner.outputs.q_indices[0])), bounds.space
    if joint is None or len(owner.outputs.v) != 1 or f.inputs != space:
        return ""
    row = f.jacobian(space.neutral)[0]
    if not np.isfinite([bounds.tangent_lower[row != 0.0], bounds.tangent_upper[row != 0.0]]).all():
        return ""
    ends = np.array([bounds.tangent_lower, bounds.tangent_upper])[:, row != 0.0] * row[row != 0.0]
    offset = float(f.value(space.neutral)[0]) - float(row[space.vector_v] @ space.neutral[space.vector_q])
    offset += float(rhs.of(owner)[0])
    interval = offset + float(ends.min(axis=0).sum()), offset + float(ends.max(axis=0).sum())
    return joint.question(_nearest(interval, joint.lower, joint.upper))


def _relative(function: FrameFunction, owner: Implicit, target: Vector, free: bool = False) -> Iterator[str]:
    """A reference or a target far from all that a frame reaches; a rotation vector of more than half a turn."""
    a, b = function.frame_a, function.frame_b
    if a.joint == 0:
        away, reach = norm(np.asarray(a.placement.translation)), reach_of(function.robot, b)
        if 0.0 < reach < inf and away > FAR_AWAY * reach:
            yield f"a reference {away:.6g} m away of '{b}', which reaches {reach:.3g} m: is it in millimetres?"
    yield _distance(f"'{b}'", reach_of(function.robot, a, b, free=free), owner, target)
    if isinstance(function, Pose | Transformation):
        yield from _turned(function, owner, target, 3)


def _turned(function: FrameFunction, owner: Implicit, target: Vector, first: int) -> Iterator[str]:
    """A rotation vector of more than half a turn, or a row of one that is to be; its rows are from the first on."""
    rows, vector = owner.rows, target[first : first + 3] if isinstance(function, Orientation | Transformation) else None
    if vector is not None and rows.mask[first:].all() and norm(vector) > HALF_TURN:
        yield f"a rotation vector {norm(vector):.6g} rad long, where half a turn is pi: is it in degrees?"
    for row in (np.flatnonzero(rows.mask[first:]) + first).tolist():
        at = 0.0 if vector is None else float(vector[row - first])
        nearest = _nearest((at + float(rows.lower[row]), at + float(rows.upper[row])), 0.0, 0.0)
        if abs(nearest) > HALF_TURN:
            yield f"{nearest:.6g} rad for row {row}, where half a turn is pi: is it in degrees?"


def _distance(what: str, reach: float, owner: Implicit, target: Vector) -> str:
    """A target that is far away from all that is reached."""
    if not 0.0 < reach < inf:
        return ""
    rows = [row for row in range(3) if owner.rows.mask[row]]
    far = norm(np.array([_nearest(_interval(owner, target, row), 0.0, 0.0) for row in rows])) if rows else 0.0
    words = f"a target {far:.6g} m away of {what}, which reaches {reach:.3g} m: is it in millimetres?"
    return words if far > FAR_AWAY * reach else ""


def _reach_of_mass(function: CenterOfMass) -> float:
    """No body of a centre of mass is further away from its reference [m]."""
    model: Any = function.robot.model
    levers = [Frame("body", i, rigid_transform(model.inertias[i].lever)) for i in function.moving_joints]
    return max((reach_of(function.robot, function.frame_a, lever) for lever in levers), default=0.0)


def reach_of(robot: Robot, *frames: Frame, free: bool = False) -> float:
    """No configuration has two frames, or one and the world, further apart [m].

    Args:
        free: whether free and planar joints count by their bounds; by default they go anywhere.

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
            total += norm(np.asarray(model.jointPlacements[joint].translation)) + _inside(model.joints[joint])
            if not factor.space.is_flat:
                if factor.space not in (SO2, SO3):
                    total += _room(robot, factor.q) if free else inf
                continue
            for column, entry in zip(_of(factor.v), _of(factor.q), strict=True):
                if not space.revolute[column]:
                    total += max(abs(float(robot.bounds.lower[entry])), abs(float(robot.bounds.upper[entry])))
    return total


def _inside(joint: Any) -> float:
    """Lengths inside a joint [m]: between those that it is composed of, and from the middle of an ellipsoid."""
    total = 0.0
    for part, placement in elementary_parts(joint):
        total += norm(np.asarray(placement.translation))
        if type_name(part) == "Ellipsoid":
            whole = joint_whole(part)
            total += max(whole.radius_x, whole.radius_y, whole.radius_z)
    return total


def _room(robot: Robot, part: slice) -> float:
    """How far the translation of a body is from its origin, at most [m]."""
    plain = part.start + np.flatnonzero(plain_entries(robot.nq, robot.space.unit_blocks)[part])
    farthest = np.maximum(np.abs(robot.bounds.lower[plain]), np.abs(robot.bounds.upper[plain]))
    return norm(farthest) if plain.size else 0.0


def _of(part: slice) -> range:
    return range(part.start, part.stop)
