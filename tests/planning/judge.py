"""A judge of paths on plain pinocchio and coal: what the library says of itself is not asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import coal
import numpy as np
import pinocchio as pin

from constraints.paths import Path

TIMES = 1000
ANGLE, LENGTH = 0.1, 0.02
CLOSE_ANGLE, CLOSE_LENGTH = 0.02, 0.005


def moved(model: pin.Model, q0: np.ndarray, q1: np.ndarray) -> tuple[float, float]:
    """Largest rotation and translation of a joint between two configurations, by pinocchio's difference."""
    d, angle, length = pin.difference(model, q0, q1), 0.0, 0.0
    for joint in list(model.joints)[1:]:
        part = d[joint.idx_v : joint.idx_v + joint.nv]
        kind = joint.shortname()
        if "FreeFlyer" in kind or "Planar" in kind:
            n = 3 if "FreeFlyer" in kind else 2
            shift = q1[joint.idx_q : joint.idx_q + n] - q0[joint.idx_q : joint.idx_q + n]
            angle, length = max(angle, float(np.linalg.norm(part[n:]))), max(length, float(np.linalg.norm(shift)))
        elif "P" in kind.removeprefix("JointModel") and "Spherical" not in kind:
            length = max(length, float(np.linalg.norm(part)))
        else:
            angle = max(angle, float(np.linalg.norm(part)))
    return angle, length


def faults(
    path: Path,
    model: pin.Model,
    geometry: Any,
    error: Callable[[np.ndarray], float],
    ends: tuple[np.ndarray, np.ndarray],
    threshold: float = 1e-4,
    margins: Sequence[float] | None = None,
) -> list[str]:
    """What is wrong with a path; nothing where all is well.

    Args:
        path: the path.
        model, geometry: pinocchio's, the pairs that must not collide in it.
        error: of a configuration, from plain kinematics.
        ends: the given ones.
        threshold: of the error.
        margins: of the pairs.
    """
    found = list[str]()
    if not (np.array_equal(path.start, ends[0]) and np.array_equal(path.end, ends[1])):
        found.append("an end is not the given one, bit for bit")
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    samples = path.samples
    for q0, q1 in pairwise(samples):
        angle, length = moved(model, q0, q1)
        if angle > ANGLE + 1e-9 or length > LENGTH + 1e-9:
            found.append(f"samples are {angle:.3g} rad, {length:.3g} m apart")
    times = np.unique(np.concatenate([np.linspace(0.0, path.duration, TIMES * len(path.pieces) + 1), path.times]))
    Q = [path(t) for t in times]
    worst = max(error(q) for q in Q)
    if worst > threshold:
        found.append(f"error {worst:.3g}")
    for q in Q:
        if (q < lower - 1e-12).any() or (q > upper + 1e-12).any():
            found.append("out of bounds")
            break
    data, solids = model.createData(), geometry.createData()
    for k, request in enumerate(solids.collisionRequests):
        request.security_margin = 0.0 if margins is None else margins[k]
        request.gjk_tolerance = 1e-9
    last = Q[0]
    for q in Q[:1] + Q:
        angle, length = moved(model, last, q)
        parts = max(1, int(np.ceil(max(angle / CLOSE_ANGLE, length / CLOSE_LENGTH))))
        for k in range(1, parts + 1):
            between = q if k == parts else pin.interpolate(model, last, q, k / parts)
            if pin.computeCollisions(model, data, geometry, solids, between, True):
                found.append("collision")
                return found
        last = q
    return found


assert coal.__version__
