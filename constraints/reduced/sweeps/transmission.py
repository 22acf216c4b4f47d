"""Transmission angles of planar loops: how well the coupler turns the output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import as_tuple
from liegroups.arrays import Matrix, Vector

from ...errors import OptionError, SizeError
from ...loops.closures import Closure, PointClosure, RodClosure
from ...loops.hinges.hinge import HingeKind
from ...loops.odd_axis import joints_between
from ...robot import Frame, Posture, Robot
from ..coordinates import MinimalCoordinates

PARALLEL_SCREWS = 1e-6
"""Sine up to which axes are parallel, cosine up to which they are at right angles."""


class Pivot(NamedTuple):
    """Where two links of a planar loop meet.

    Attributes:
        frame: at the pivot.
        normal: of a joint that slides, the direction across its slide in the plane, in the frame's axes (3,): its pivot
            is infinitely far away in that direction; None of one that turns.
    """

    frame: Frame
    normal: Vector | None = None


class Pivots(NamedTuple):
    """The three pivots of a planar loop of four that the driver is not at, in order; the one in the middle turns.

    Attributes:
        name: of the closure of the loop; empty where the frames were given.
        robot: the robot.
        P, Q, R: the pivots.
    """

    name: str
    robot: Robot
    P: Pivot
    Q: Pivot
    R: Pivot


def transmission_angles(loops: Sequence[Pivots], qs: Matrix) -> Vector:
    r"""Transmission angles (n,) [rad]: at each configuration the smallest of the loops.

    With P, Q, R the pivots of a loop of four that the driver is not at (coupler PQ, output QR),

    .. math:: \cos \mu = \frac{|(P - Q) \cdot (R - Q)|}{|P - Q|\,|R - Q|}, \qquad 0 \le \mu \le \pi/2

    At 0 the three are on one line: a dead point, J_v is singular; :math:`\pi/2` is best. Where the joint at P or R
    slides, the direction to it is the normal of its slide: there the pivot is infinitely far away.

    Args:
        loops: the three pivots of each; at least one loop.
        qs: configurations (n, nq).

    Source: R. L. Norton, Design of Machinery, chapter 3: the acute angle between coupler and output.
    """
    postures = [loops[0].robot.at(q) for q in qs]
    angles = [[_angle(posture, pivots) for pivots in loops] for posture in postures]
    return np.array(angles).reshape(len(qs), len(loops)).min(axis=1)


def _angle(posture: Posture, pivots: Pivots) -> float:
    middle = np.array(posture.placement(pivots.Q.frame).translation)
    one, other = (_towards(posture, pivot, middle) for pivot in (pivots.P, pivots.R))
    area = float(np.linalg.norm(np.cross(one, other)))
    return float(np.arctan2(area, abs(float(one @ other))))


def _towards(posture: Posture, pivot: Pivot, middle: Vector) -> Vector:
    place = posture.placement(pivot.frame)
    if pivot.normal is not None:
        return np.array(place.rotation) @ pivot.normal
    return np.array(place.translation) - middle


def pivots_of(coordinates: MinimalCoordinates, through: Iterable[str | Frame] = ()) -> tuple[Pivots, ...]:
    """The pivots of transmission angles: those named, or those of each loop that the driver is in.

    Args:
        coordinates: the driver is the first independent coordinate; joints of the others are held.
        through: frames at P, Q and R; found by default.

    Raises:
        OptionError: there is no loop of four pivots with parallel axes, the driver's among them.
        SizeError, UnknownFrameError: not three frames, or one that does not exist.
    """
    robot = coordinates.constraint_set.robot
    frames = as_tuple(through, "frames of a transmission angle", "three frames")
    if frames:
        if len(frames) != 3:
            raise SizeError("frames of a transmission angle", 3, len(frames))
        return (Pivots("", robot, *(Pivot(robot.frame(frame)) for frame in frames)),)
    loops: list[Pivots] = []
    for owner, _ in coordinates.constraint_set.on:
        found = _loop(coordinates, owner) if isinstance(owner, Closure | PointClosure | RodClosure) else None
        loops += [] if found is None else [found]
    if loops:
        return tuple(loops)
    name = coordinates.independent[0]
    raise OptionError(
        f"transmission angle: '{name}' is not in a planar loop of four pivots (parallel axes, one closure by a pin, a "
        "point or a rod, the others held); name the frames at the three other pivots: through=[P, Q, R]"
    )


def _loop(coordinates: MinimalCoordinates, owner: Closure | PointClosure | RodClosure) -> Pivots | None:
    """The three pivots of the loop that a closure closes, where it is planar, has four, and the driver among them."""
    robot = coordinates.constraint_set.robot
    ends = _ends(owner)
    driver, held = _joints(coordinates)
    joints = [j for j in joints_between(robot, owner.predecessor.joint, owner.successor.joint) if j not in held]
    if driver not in joints or len(joints) + len(ends) != 4:
        return None
    posture = robot.at(coordinates.q)
    motions = {j: _motion(robot, posture, j) for j in joints}
    turning = [w for kind, w in motions.values() if kind == "turns"]
    if any(kind == "other" for kind, _ in motions.values()) or not turning:
        return None
    axis = turning[0]
    for kind, w in motions.values():
        off = np.linalg.norm(np.cross(axis, w)) if kind == "turns" else abs(float(axis @ w))
        if float(off) > PARALLEL_SCREWS:
            return None
    pivots = [_pivot(robot, posture, j, axis, *motions[j]) for j in joints]
    cycle = [Pivot(ends[0]), *pivots, *(Pivot(end) for end in ends[1:])]
    at = 1 + joints.index(driver)
    P, Q, R = (cycle[(at + k) % 4] for k in (1, 2, 3))
    return Pivots(owner.name, robot, P, Q, R) if Q.normal is None else None


def _ends(owner: Closure | PointClosure | RodClosure) -> list[Frame]:
    """Pivots at a closure: one at a pin or a point, two at the ends of a rod, no pivot at other closures."""
    if isinstance(owner, RodClosure):
        return [owner.predecessor, owner.successor]
    if isinstance(owner, PointClosure) or owner.hinge.kind in (HingeKind.PIN, HingeKind.BALL):
        return [owner.predecessor]
    return []


def _joints(coordinates: MinimalCoordinates) -> tuple[int, set[int]]:
    """Index of the driver's joint, and those of joints that are held whole."""
    robot, parts = coordinates.constraint_set.robot, coordinates.partition
    held = {int(i) for i in coordinates.held[1:]}
    indices = {name: robot.joint_index(name) for name in robot.joint_names}
    columns = {name: robot.segments(name).v for name in indices}
    driver = next(i for name, i in indices.items() if int(parts.independent[0]) in columns[name])
    return driver, {i for name, i in indices.items() if held.issuperset(columns[name])}


def _motion(robot: Robot, posture: Posture, joint: int) -> tuple[str, Vector]:
    """How a joint moves, "turns", "slides" or "other", and the axis in the world (3,)."""
    model: Any = robot.model.joints[joint]
    if model.nv != 1:
        return "other", np.zeros(3)
    name = robot.joint_names[joint - 1]
    twist = posture.jacobian(Frame(name, joint))[:, robot.velocity_slice_of(name).start]
    linear, angular = float(np.linalg.norm(twist[:3])), float(np.linalg.norm(twist[3:]))
    R = np.array(posture.placement(Frame(name, joint)).rotation)
    if linear > PARALLEL_SCREWS:
        return ("other" if angular > PARALLEL_SCREWS else "slides"), R @ twist[:3] / linear
    return "turns", R @ twist[3:] / angular


def _pivot(robot: Robot, posture: Posture, joint: int, axis: Vector, kind: str, along: Vector) -> Pivot:
    frame = Frame(robot.joint_names[joint - 1], joint)
    if kind == "turns":
        return Pivot(frame)
    return Pivot(frame, np.array(posture.placement(frame).rotation).T @ np.cross(axis, along))
