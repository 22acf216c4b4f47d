"""Axes of loops that are not parallel: one that is across the others, or nearly parallel ones, rounded in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Vector

from ..robot import Posture, Robot
from ..rows.row_owner import RowOwner
from ..words import first_names
from .closures import Closure
from .hinges.hinge import HingeKind

AGREE, ASKEW = 1e-5, 1e-4
"""Axes of files agree up to the first angle [rad]; one that is off by more than the second is odd."""
DIGITS_OF_AXES, MEANT = 1e-10, 1e-3
"""Axes that are parallel to less than the first [rad] are parallel; to more than the second they are not meant to."""


def odd_axis(owner: RowOwner, q: Vector) -> str:
    """The pin of a loop whose axis alone is not parallel to the others, in words; empty where there is none.

    Of loops of pins and sliders that a pin, slider or fixed closure closes, with two other pins at least.

    Args:
        owner: a constraint.
        q: configuration (nq,).
    """
    if not isinstance(owner, Closure) or owner.hinge.kind not in (HingeKind.PIN, HingeKind.SLIDER, HingeKind.LOCKED):
        return ""
    model: Any = owner.robot.model
    joints = [model.joints[i] for i in joints_between(owner.robot, owner.predecessor.joint, owner.successor.joint)]
    if not all(str(j.shortname()).startswith(("JointModelR", "JointModelP")) and j.nv == 1 for j in joints):
        return ""
    first, *others, _ = _axes_around(owner, owner.robot.at(q))
    pins = [pin for pin in (*others, first) if pin is not None]
    if len(pins) < 3:
        return ""
    axes = np.array([pin.axis for pin in pins])
    sines = np.linalg.norm(np.cross(axes[:, None], axes[None, :]), axis=2)
    for i, pin in enumerate(pins):
        most = float(sines[i].max())
        if most > ASKEW and np.delete(np.delete(sines, i, 0), i, 1).max() <= AGREE:
            names = first_names([f"'{other.name}'" for other in pins if other.name != pin.name])
            return f"the axis of '{pin.name}' is {np.arcsin(min(most, 1.0)):.3g} rad from parallel to those of {names}"
    return ""


class NearParallel(NamedTuple):
    """Two axes on one body of a loop that are parallel to between 1e-10 and 1e-3 rad.

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
    """Neighbours in loops whose axes are parallel to between 1e-10 and 1e-3 rad: mostly numbers rounded in a file.

    Neighbours are on one body, so that the angle is the same in all configurations: joints that turn about one axis,
    and closures that are a pin.
    """
    found: dict[tuple[str, str], NearParallel] = {}
    for first, second, _ in _neighbours(closures):
        angle = float(np.arcsin(min(1.0, float(np.linalg.norm(np.cross(first.axis, second.axis))))))
        if DIGITS_OF_AXES < angle < MEANT:
            found.setdefault((first.name, second.name), NearParallel(first.name, second.name, angle))
    return list(found.values())


def on_one_line(closures: Iterable[RowOwner]) -> list[str]:
    """Neighbours in loops that turn about one line, in words: a body that nothing else holds turns alone between them.

    Either it is meant so, or a link has two parents and the placement of one joint is missing.
    """
    found: list[str] = []
    for first, second, is_between_two in _neighbours(closures):
        apart = float(np.linalg.norm(np.cross(second.point - first.point, first.axis)))
        if apart < DIGITS_OF_AXES and float(np.linalg.norm(np.cross(first.axis, second.axis))) < DIGITS_OF_AXES:
            alone = ": the body between them turns alone" if is_between_two else ""
            found.append(f"'{first.name}' and '{second.name}' are on one line{alone}")
    return list(dict.fromkeys(found))


class _Axis(NamedTuple):
    """An axis of a joint, or of one end of a closure: a direction and a point."""

    name: str
    axis: Vector
    point: Vector


def _neighbours(closures: Iterable[RowOwner]) -> Iterator[tuple[_Axis, _Axis, bool]]:
    """Pairs of axes on one body of a loop, and whether nothing else holds this body: no joint, no constraint."""
    owners = list(closures)
    ends = [getattr(owner, end, None) for owner in owners for end in ("predecessor", "successor", "frame")]
    for closure in owners:
        if not isinstance(closure, Closure):
            continue
        model: Any = closure.robot.model
        bodies = [int(closure.predecessor.joint)]
        for joint in joints_between(closure.robot, closure.predecessor.joint, closure.successor.joint):
            bodies.append(int(model.parents[joint]) if joint == bodies[-1] else joint)
        held = [*list(model.parents)[1:], *range(1, model.njoints), *(getattr(end, "joint", 0) for end in ends)]
        axes = _axes_around(closure, closure.robot.at(closure.robot.neutral))
        for (first, second), body in zip(pairwise(axes), bodies, strict=True):
            if first is not None and second is not None:
                yield first, second, body > 0 and held.count(body) == 2


def _axes_around(closure: Closure, posture: Posture) -> list[_Axis | None]:
    """Of the first end of a closure, of the joints of its loop, of its other end; None of what turns about no axis."""
    robot, axes = closure.robot, list[_Axis | None]()
    model: Any = robot.model
    for joint in joints_between(robot, closure.predecessor.joint, closure.successor.joint):
        name = str(model.names[joint])
        columns = posture.with_jacobians().world_jacobian[:, robot.velocity_slice_of(name)]
        axis = columns[3:, 0].copy() if columns.shape[1] == 1 else np.zeros(3)
        point = np.cross(axis, columns[:3, 0])  # of the axis, nearest to the origin
        axes.append(_Axis(name, axis, point) if axis.any() else None)
    ends: list[_Axis | None] = [None, None]
    if closure.hinge.kind is HingeKind.PIN:
        placed = [posture.placement(frame) for frame in (closure.predecessor, closure.successor)]
        axis = closure.hinge.subhinges[0].axis
        ends = [_Axis(closure.name, M.rotation @ axis, np.asarray(M.translation)) for M in placed]
    return [ends[0], *axes, ends[1]]


def joints_between(robot: Robot, a: int, b: int) -> list[int]:
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
