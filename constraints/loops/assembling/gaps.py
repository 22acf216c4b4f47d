"""What keeps a closure open, in lengths and angles: how far apart its ends are, which body of its loop is too long."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...robot import Frame, Robot
from ...rows.row_owner import RowOwner
from ..closures import Closure, PointClosure, RodClosure
from ..hinge import HingeKind

TURNING = ("JointModelR", "JointModelSpherical", "JointModelUniversal")
"""Joints that turn about one point begin with one of these."""
PARALLEL = 1e-9
"""Axes whose sine is below this are parallel."""
DIGITS, MEANT = 1e-10, 1e-3
"""Axes that are parallel to less than the first [rad] are parallel; to more than the second they are not meant to."""


def gap_words(owner: RowOwner, q: Vector, error: Vector, threshold: float) -> str:
    """For an open closure, what its error is in metres and radians; empty for others.

    Args:
        owner: a constraint.
        q: configuration (nq,).
        error: its rows there.
        threshold: up to which a row is closed.
    """
    if not np.abs(error).max(initial=0.0) > threshold:
        return ""
    if isinstance(owner, RodClosure):
        apart = float(np.linalg.norm(owner.pose(q).translation))
        length = float(np.sqrt(max(apart**2 - 2.0 * error[0], 0.0)))
        return f" m^2: its ends are {apart:.4g} m apart, its length is {length:.4g} m"
    if not isinstance(owner, Closure | PointClosure):
        return ""
    apart, turned = _apart(owner, q)
    words = [f"its ends are {apart:.4g} m apart"] if apart > threshold else []
    if turned > threshold:
        pinned = isinstance(owner, Closure) and owner.hinge.dofs and "pin" in str(owner.hinge.kind.value)
        words.append(f"its axes are {turned:.4g} rad from {'parallel' if pinned else 'aligned'}")
    short = too_short(owner.robot, owner.predecessor, owner.successor, q) if apart > threshold else ""
    return f": {' and '.join(words)}{f'; {short}' if short else ''}" if words else ""


def _apart(owner: Closure | PointClosure, q: Vector) -> tuple[float, float]:
    """How far the ends of a closure are apart [m], and turned [rad] beyond what its hinge leaves free."""
    if isinstance(owner, PointClosure):
        return float(np.linalg.norm(owner.pose(q).translation)), 0.0
    E = owner.pose_error(q)
    return float(np.linalg.norm(owner.error_frame(q).placement.translation)), float(np.linalg.norm(E[3:]))


def too_short(robot: Robot, a: Frame, b: Frame, q: Vector) -> str:
    r"""Which body of a loop is longer than all others together, so that it closes nowhere; empty where none is.

    Between the joints of the loop, which all turn, each body has one length :math:`l_i`, across the axes where these
    are parallel. The ends stay apart by :math:`l_k - \sum_{i \ne k} l_i` at least.

    Args:
        robot: whose loop.
        a, b: frames that its closure joins.
        q: configuration (nq,).
    """
    joints = _between(robot, a.joint, b.joint)
    model: Any = robot.model
    if not joints or not all(str(model.joints[i].shortname()).startswith(TURNING) for i in joints):
        return ""
    posture = robot.at(q)
    placed = posture.with_jacobians()
    ends = [placed.oMi[frame.joint].act(frame.placement).translation for frame in (a, b)]
    points = np.array([ends[0], *(placed.oMi[i].translation for i in joints), ends[1]])
    names = [a.name, *(str(model.names[i]) for i in joints), b.name]
    axes = np.concatenate([placed.world_jacobian[3:, robot.velocity_slice_of(name)] for name in names[1:-1]], axis=1)
    lengths = _lengths(points, _common(axes))
    k = int(np.argmax(lengths))
    others = float(lengths.sum() - lengths[k])
    if not lengths[k] > others:
        return ""
    return (
        f"from '{names[k]}' to '{names[k + 1]}' it is {lengths[k]:.4g} m, and the other bodies of the loop are "
        f"{others:.4g} m together, {lengths[k] - others:.3g} m too short"
    )


class NearParallel(NamedTuple):
    """Two axes on one body of a loop that are parallel but for some digits.

    Attributes:
        a, b: names of a joint, or of the closure.
        angle: between them [rad].
    """

    a: str
    b: str
    angle: float

    def __str__(self) -> str:
        return f"the axes of '{self.a}' and '{self.b}' are parallel to {self.angle:.1g} rad"


def near_parallels(closures: Iterable[RowOwner]) -> list[NearParallel]:
    """Neighbours in loops whose axes are parallel to between 1e-10 and 1e-3 rad: mostly digits of a file.

    Neighbours are on one body, so that the angle is the same in all configurations: joints that turn about one axis,
    and closures that are a pin.
    """
    found: dict[tuple[str, str], NearParallel] = {}
    for closure in closures:
        if not isinstance(closure, Closure):
            continue
        robot = closure.robot
        neutral = robot.at(robot.neutral)
        joints = _between(robot, closure.predecessor.joint, closure.successor.joint)
        names = [str(robot.model.names[i]) for i in joints]
        axes: list[Vector | None] = []
        for name in names:
            columns = neutral.with_jacobians().world_jacobian[3:, robot.velocity_slice_of(name)]
            axes.append(columns[:, 0] if columns.shape[1] == 1 and columns.any() else None)
        ends: list[Vector | None] = [None, None]
        if closure.hinge.kind is HingeKind.PIN:
            axis = closure.hinge.subhinges[0].axis
            ends = [neutral.placement(f).rotation @ axis for f in (closure.predecessor, closure.successor)]
        named = [(closure.name, ends[0]), *zip(names, axes, strict=True), (closure.name, ends[1])]
        for (a, first), (b, second) in pairwise(named):
            if first is not None and second is not None:
                angle = float(np.arcsin(min(1.0, float(np.linalg.norm(np.cross(first, second))))))
                if DIGITS < angle < MEANT:
                    found.setdefault((a, b), NearParallel(a, b, angle))
    return list(found.values())


def _between(robot: Robot, a: int, b: int) -> list[int]:
    """The joints of the tree between two bodies, from the first to the second."""
    model: Any = robot.model
    chains: list[list[int]] = []
    for joint in (a, b):
        chain: list[int] = []
        while joint:
            chain.append(joint)
            joint = int(model.parents[joint])
        chains.append(chain)
    up = [i for i in chains[0] if i not in chains[1]]
    down = [i for i in chains[1] if i not in chains[0]]
    return up + down[::-1]


def _common(axes: Matrix) -> Vector | None:
    """The direction (3,) that all axes (3, n) have; None where they differ."""
    sizes = np.linalg.svd(axes, compute_uv=False)
    return axes[:, 0] if sizes[1:].max(initial=0.0) <= PARALLEL * sizes[0] else None


def _lengths(points: Matrix, axis: Vector | None) -> Vector:
    """Distances between points in a row, across an axis where there is one."""
    steps = np.array([after - before for before, after in pairwise(points)])
    if axis is not None:
        steps = steps - np.outer(steps @ axis, axis)
    return np.linalg.norm(steps, axis=1)
