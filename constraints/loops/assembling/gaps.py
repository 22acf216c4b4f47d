"""What keeps a closure open, in lengths and angles: how far apart its ends are, which body of its loop is too long."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ...problem.resolution import dof_names
from ...robot import Frame, Robot
from ...robot.model.pinocchio import pin
from ...rows.row_owner import RowOwner
from ...solvers import Projection
from ..closures import Closure, PointClosure, RodClosure
from ..hinges.hinge import HingeKind
from ..odd_axis import joints_between, odd_axis

TURNING = ("JointModelR", "JointModelSpherical", "JointModelUniversal")
"""Joints that turn about one point begin with one of these."""
PARALLEL_GAPS = 1e-9
"""Axes whose sine is below this are parallel."""


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
    joints = joints_between(robot, a.joint, b.joint)
    model: Any = robot.model
    if not joints or not all(str(model.joints[i].shortname()).startswith(TURNING) for i in joints):
        return ""
    posture = robot.at(q)
    placed = posture.with_jacobians()
    ends = [placed.oMi[frame.joint].act(frame.placement).translation for frame in (a, b)]
    points = np.array([ends[0], *(placed.oMi[i].translation for i in joints), ends[1]])
    names = [a.name, *(str(model.names[i]) for i in joints), b.name]
    axes = np.concatenate([placed.world_jacobian[3:, robot.velocity_slice_of(name)] for name in names[1:-1]], axis=1)
    steps, sizes = np.diff(points, axis=0), np.linalg.svd(axes, compute_uv=False)
    if sizes[1:].max(initial=0.0) <= PARALLEL_GAPS * sizes[0]:
        steps = steps - np.outer(steps @ axes[:, 0], axes[:, 0])
    lengths = np.linalg.norm(steps, axis=1)
    k = int(np.argmax(lengths))
    others = float(lengths.sum() - lengths[k])
    if not lengths[k] > others:
        return ""
    return (
        f"from '{names[k]}' to '{names[k + 1]}' it is {lengths[k]:.4g} m, and the other bodies of the loop are "
        f"{others:.4g} m together, {lengths[k] - others:.3g} m too short"
    )
