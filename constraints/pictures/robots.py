"""Robots as stick figures, and frames as arrows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import as_tuple
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..robot import Frame, Posture, Robot
from ..robot.model.pinocchio import Placement
from .figures import PALETTE
from .views import Direction

DOT, MARK = 2.2, 3.6
"""Sizes of joints and of tips, in widths of sticks."""
GROUND = "#b0b0b0"
"""Of sticks from the world to joints, which do not move."""
SHORTEST, FURTHER = 1e-9, 1.001
"""What is shorter has no length [m], and how much further than another end is a new one."""
OVER, TOWARDS, FLAT = 11.0, 0.05, 1.4
"""Arrows: order of drawing, part of their length that is seen at least, their width where they are flat."""
_AXIS_COLOURS = ("#d62728", "#2ca02c", "#1f77b4")


class Stick(NamedTuple):
    """A line between two points on joints; joint 0 is the world.

    Attributes:
        name: of the joint that it leads to, or of the frame.
        start, end: the joint, and the point (3,) in its axes [m].
    """

    name: str
    start: tuple[int, Vector]
    end: tuple[int, Vector]

    def placed(self, posture: Posture) -> Matrix:
        """Its ends (2, 3) in the world [m]."""
        oMi = posture.placed().oMi
        return np.array([oMi[joint].act(point) for joint, point in (self.start, self.end)])


def stick_figure(robot: Robot, q: ArrayLike, tips: Sequence[str | Frame] = ()) -> list[tuple[Vector, Vector]]:
    """The robot as line segments in the world: from each joint to those it carries, and to the tips.

    Joints on the world hang on the link that carries them, where the model has it, else on the origin; in a system of
    several robots then on nothing. Nothing holds an object that moves freely.

    Args:
        robot: the robot.
        q: configuration (nq,).
        tips: frames at the ends, for instance a hand.

    Returns:
        pairs of points (3,) [m].

    Raises:
        SizeError, NotFiniteError, NotNormalizedError, DtypeError: what is wrong with q.
        UnknownFrameError: a tip is no frame of the robot; lists the names that come closest.
    """
    posture = robot.at(q)
    ends = [stick.placed(posture) for stick in sticks_of(robot, as_tuple(tips, "tips", "frames"))]
    return [(a, b) for a, b in ends if np.abs(a - b).max() > SHORTEST]


def sticks_of(robot: Robot, tips: Iterable[str | Frame] = ()) -> list[Stick]:
    """The sticks of `stick_figure`, in any configuration; some may have no length."""
    model, seats, origin = robot.model, seats_of(robot), np.zeros(3)
    sticks: list[Stick] = []
    for joint, name in enumerate(robot.joint_names, start=1):
        parent = int(model.parents[joint])
        if parent or (model.joints[joint].nv == 1 and (joint in seats or "/" not in name)):
            sticks.append(Stick(name, (parent, origin if parent else seats.get(joint, origin)), (joint, origin)))
    for frame in map(robot.frame, tips):
        sticks.append(Stick(frame.name, (frame.joint, origin), (frame.joint, np.array(frame.placement.translation))))
    return sticks


def seats_of(robot: Robot) -> dict[int, Vector]:
    """Where in the world the links are that carry joints: joint -> (3,)."""
    frames = robot.model.frames
    joints = [frame for frame in frames if frame.type.name == "JOINT" and frame.parentFrame]
    joints = [frame for frame in joints if not robot.model.parents[frame.parentJoint]]
    return {int(frame.parentJoint): np.array(frames[frame.parentFrame].placement.translation) for frame in joints}


def ends_of(robot: Robot, beside: Sequence[Frame] = ()) -> list[Frame]:
    """The ends of a stick figure: of each joint that carries no other one, the frame that is furthest from it.

    Where it has no frame, it is the centre of mass.

    Args:
        robot: the robot.
        beside: frames that are drawn anyway; there is an end beside them only where it is further from the joint.
    """
    model, ends = robot.model, list[Frame]()
    known = [(frame.parentJoint, frame.placement) for frame in model.frames]
    known += [(frame.joint, frame.placement) for frame in robot.added_frames]
    carriers = {int(parent) for parent in model.parents}
    for joint, name in enumerate(robot.joint_names, start=1):
        if joint in carriers or (not model.parents[joint] and model.joints[joint].nv > 1):  # an object
            continue
        reach = [FURTHER * _size(frame.placement.translation) for frame in beside if frame.joint == joint]
        lever = max(
            (np.array(oMf.translation) for owner, oMf in known if owner == joint), key=_size, default=np.zeros(3)
        )
        if not reach and _size(lever) < SHORTEST:
            lever = np.array(model.inertias[joint].lever)
        if _size(lever) > max([SHORTEST, *reach]):
            ends.append(robot.frame(name, np.concatenate([lever, [0.0, 0.0, 0.0, 1.0]])))
    return ends


def _size(vector: Any) -> float:
    return float(np.linalg.norm(vector))


def parts_of(robot: Robot) -> list[str]:
    """By joint, without the world: the part of a system it belongs to ("panda" of "panda/joint1"), "" without one."""
    return [name.rpartition("/")[0] for name in robot.joint_names]


def colours_of(robot: Robot) -> dict[str, str]:
    """A colour for each part of a system, in the order of their joints; of a robot alone, the part is ""."""
    return {part: PALETTE[i % len(PALETTE)] for i, part in enumerate(dict.fromkeys(parts_of(robot)))}


class Stroke(NamedTuple):
    """How lines are drawn.

    Attributes:
        colour: of all; of sticks without one, each robot and object of a system has its own, and what stands on the
            ground and does not move is grey.
        width: [points].
        alpha: opacity.
    """

    colour: str | None = None
    width: float = 2.0
    alpha: float = 1.0


def draw_frame(axes: Any, oMf: Placement, length: float, width: float, view: Direction) -> None:
    """Draw a placement as three arrows: x red, y green, z blue.

    Args:
        axes: matplotlib axes that suit the view.
        oMf: of the frame in the world.
        length: of the arrows [m].
        width: of the arrows [points].
        view: of the axes.
    """
    start = np.array(oMf.translation)
    for column, colour in zip(np.asarray(oMf.rotation).T, _AXIS_COLOURS, strict=True):
        if not view.flat:
            axes.quiver(*start, *(length * column), color=colour, linewidth=width).set_zorder(OVER)
            continue
        (x, y), (u, v) = (view.seen(point)[:, 0] for point in (start, length * column))
        if np.hypot(u, v) > TOWARDS * length:
            scale: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "units": "dots"}
            axes.quiver(x, y, u, v, color=colour, width=FLAT * width, zorder=OVER, **scale)
        else:  # towards the one who looks, or away
            axes.plot([x], [y], "o", color=colour, markersize=DOT * width, zorder=OVER)
