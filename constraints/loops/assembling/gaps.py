"""What keeps a closure open, in lengths and angles: how far apart its ends are, which body of its loop is too long."""

from __future__ import annotations

from itertools import pairwise
from math import pi
from typing import Any

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...problem.resolution import dof_names
from ...robot import Frame, Robot
from ...robot.pinocchio import pin
from ...rows.row_owner import RowOwner
from ...solvers import Projection
from ...words import first_names
from ..closures import Closure, PointClosure, RodClosure
from ..hinge import HingeKind

TURNING = ("JointModelR", "JointModelSpherical", "JointModelUniversal")
"""Joints that turn about one point begin with one of these."""
PARALLEL = 1e-9
"""Axes whose sine is below this are parallel."""
AGREE, ASKEW = 1e-5, 1e-4
"""Axes of files agree up to the first angle [rad]; one that is off by more than the second is odd."""


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
    why = [each for each in (short, odd_axis(owner, q), _screw_words(owner, q, threshold)) if each]
    return ": " + "; ".join([" and ".join(words), *why]) if words else ""


def driven_words(projection: Projection) -> list[str]:
    """The line that names driven joints, where a closing failed: they keep their values."""
    problem = projection.problem
    if projection.success or not problem.frozen.any():
        return []
    names = dof_names(problem.space, np.flatnonzero(problem.frozen).tolist())
    free = "" if problem.free.any() else ", so that nothing may move"
    return [f"  driven, and kept where they are (frozen, in a diagnosis): {names}{free}"]


def _screw_words(owner: RowOwner, q: Vector, threshold: float) -> str:
    """What a helical hinge asks for by its turn; empty for others, and where it has that."""
    if not isinstance(owner, Closure) or owner.hinge.kind is not HingeKind.HELICAL:
        return ""
    screw, X = owner.hinge.subhinges[0], owner.pose(q)
    turn = float(screw.axis @ pin.log3(X.rotation))
    asked, has = screw.pitch * turn, float(screw.axis @ X.translation)
    if abs(asked - has) <= threshold:
        return ""
    return (
        f"a turn of {turn:.4g} rad asks for an advance of {asked:.4g} m (pitch {2.0 * pi * screw.pitch:g} m a turn), "
        f"and it has {has:.4g} m"
    )


def odd_axis(owner: RowOwner, q: Vector) -> str:
    """The pin of a loop whose axis alone is not parallel to the others, in words; empty where there is none.

    Of loops of pins and sliders that a pin, slider or fixed closure closes, with two other pins at least.

    Args:
        owner: a constraint.
        q: configuration (nq,).
    """
    if not isinstance(owner, Closure) or owner.hinge.kind not in (HingeKind.PIN, HingeKind.SLIDER, HingeKind.LOCKED):
        return ""
    robot, names, axes = owner.robot, list[str](), list[Vector]()
    model: Any = robot.model
    k = robot.at(q).with_jacobians()
    for i in _between(robot, owner.predecessor.joint, owner.successor.joint):
        kind, name = str(model.joints[i].shortname()), str(model.names[i])
        if kind.startswith("JointModelR"):
            names.append(name)
            axes.append(np.array(k.world_jacobian[3:, robot.velocity_slice_of(name)])[:, 0])
        elif not kind.startswith("JointModelP") or model.joints[i].nv > 1:
            return ""
    if owner.hinge.kind is HingeKind.PIN:
        names.append(owner.name)
        placed = k.oMi[owner.predecessor.joint].act(owner.predecessor.placement)
        axes.append(placed.rotation @ owner.hinge.subhinges[0].axis)
    if len(axes) < 3:
        return ""
    sines = np.linalg.norm(np.cross(np.array(axes)[:, None], np.array(axes)[None, :]), axis=2)
    for i, name in enumerate(names):
        most = float(sines[i].max())
        if most > ASKEW and np.delete(np.delete(sines, i, 0), i, 1).max() <= AGREE:
            others = first_names([f"'{other}'" for other in names if other != name])
            return f"the axis of '{name}' is {np.arcsin(min(most, 1.0)):.3g} rad from parallel to those of {others}"
    return ""


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
