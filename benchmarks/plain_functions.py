"""What `functions.py` times beside functions: by hand in plain pinocchio; what SciPy, LAPACK and coal take of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from constraints import Function
from constraints.collisions import Clearance
from constraints.functions import ContactForces, StaticStability, StaticTorques, SupportPolygon
from constraints.functions.balance.grasp import pseudo_inverse

__all__ = ["Plain", "plain_functions", "solver_alone"]

Vector = NDArray[np.float64]
Plain = dict[str, Callable[[int], Any]]
"""`value`, `jacobian` and `drift` at configuration i, those that there are."""


def plain_functions(model: Any, a: str, b: str, qs: list[Vector], vs: list[Vector]) -> dict[str, Plain]:
    """By the names of `functions.py`.

    Args:
        model: the tree.
        a, b: joints; the frames are theirs.
        qs, vs: configurations and velocities.
    """
    data, local, aligned = model.createData(), pin.LOCAL, pin.LOCAL_WORLD_ALIGNED
    one, other = (model.getFrameId(name, pin.FrameType.JOINT) for name in (a, b))
    rest = np.zeros(model.nv)

    def placed(i: int) -> Any:
        pin.forwardKinematics(model, data, qs[i])
        return pin.updateFramePlacement(model, data, other)

    def seen(i: int) -> Any:
        pin.forwardKinematics(model, data, qs[i])
        return pin.updateFramePlacement(model, data, one).actInv(pin.updateFramePlacement(model, data, other))

    def with_jacobian(i: int, axes: Any = local) -> tuple[Any, Any]:
        pin.computeJointJacobians(model, data, qs[i])
        return pin.updateFramePlacement(model, data, other), pin.getFrameJacobian(model, data, other, axes)

    def seen_with_jacobian(i: int) -> tuple[Any, Any]:
        pin.computeJointJacobians(model, data, qs[i])
        oMa, oMb = (pin.updateFramePlacement(model, data, frame) for frame in (one, other))
        aMb = oMa.actInv(oMb)
        Ja, Jb = (pin.getFrameJacobian(model, data, frame, local) for frame in (one, other))
        return aMb, Jb - aMb.toActionMatrixInverse() @ Ja

    def moved(i: int) -> None:
        pin.forwardKinematics(model, data, qs[i], vs[i], rest)

    def numbers(M: Any) -> Vector:
        return np.concatenate([M.translation, pin.log3(M.rotation)])

    def rotation_rows(M: Any, J: Any) -> Any:
        return pin.Jlog3(M.rotation) @ J[3:]

    def turned(M: Any, J: Any) -> Any:
        return M.rotation @ J[:3]

    def six(M: Any, J: Any) -> Any:
        return np.vstack([turned(M, J), rotation_rows(M, J)])

    def linear_drift(i: int) -> Vector:
        moved(i)
        return pin.getFrameClassicalAcceleration(model, data, other, aligned).linear

    def body_drift(i: int) -> Vector:
        moved(i)
        return pin.getFrameAcceleration(model, data, other, local).vector

    def center_drift(i: int) -> Vector:
        pin.centerOfMass(model, data, qs[i], vs[i], rest)
        return data.acom[0]

    def center_seen(i: int) -> Vector:
        center = pin.centerOfMass(model, data, qs[i])
        return pin.updateFramePlacement(model, data, one).actInv(center)

    def center_seen_jacobian(i: int) -> Any:
        Jc = pin.jacobianCenterOfMass(model, data, qs[i])
        pin.computeJointJacobians(model, data)
        oMa, J = pin.updateFramePlacement(model, data, one), pin.getFrameJacobian(model, data, one, local)
        return oMa.rotation.T @ Jc - J[:3] + pin.skew(oMa.actInv(data.com[0])) @ J[3:]

    found: dict[str, tuple[Callable[[int], Any], ...]] = {}
    for word, pose, with_J in (("", placed, with_jacobian), (", relative", seen, seen_with_jacobian)):
        found |= {
            f"Position{word}": (lambda i, M=pose: M(i).translation, lambda i, f=with_J: turned(*f(i))),
            f"Orientation{word}": (lambda i, M=pose: pin.log3(M(i).rotation), lambda i, f=with_J: rotation_rows(*f(i))),
            f"Transformation{word}": (lambda i, M=pose: numbers(M(i)), lambda i, f=with_J: six(*f(i))),
            f"Pose{word}": (lambda i, M=pose: pin.SE3ToXYZQUAT(M(i)), lambda i, f=with_J: f(i)[1]),
        }
    found["Position"] = (found["Position"][0], lambda i: with_jacobian(i, aligned)[1][:3], linear_drift)
    found["Rotation"] = (
        lambda i: pin.Quaternion(placed(i).rotation).coeffs(), lambda i: with_jacobian(i)[1][3:],
        lambda i: body_drift(i)[3:],
    )  # fmt: skip
    found["Pose"] += (body_drift,)
    found["CenterOfMass"] = (
        lambda i: pin.centerOfMass(model, data, qs[i]), lambda i: pin.jacobianCenterOfMass(model, data, qs[i]),
        center_drift,
    )  # fmt: skip
    found["CenterOfMass, relative"] = center_seen, center_seen_jacobian
    return {name: dict(zip(("value", "jacobian", "drift"), calls, strict=False)) for name, calls in found.items()}


def solver_alone(function: Function, qs: list[Vector]) -> Callable[[int], Any] | None:
    """What a function asks SciPy, LAPACK or coal at configuration i, with nothing around it; None if it asks none.

    Args:
        function: the function.
        qs: configurations.
    """
    if isinstance(function, StaticStability):
        needed = np.append(function.up, np.zeros(3))
        wrenches = [function.grasp(function.robot.at(q).placed(), slopes=False).matrix for q in qs]
        return lambda i: nnls(wrenches[i], needed)
    if isinstance(function, StaticTorques):
        function = ContactForces(function.robot, function.supports)
    if isinstance(function, ContactForces):
        shared = [function.grasp(function.robot.at(q).placed(), slopes=False).matrix for q in qs]
        return lambda i: pseudo_inverse(shared[i])
    if isinstance(function, SupportPolygon):
        seen = [_points(function, q)[:, :2] for q in qs]
        return lambda i: ConvexHull(seen[i]).vertices
    if isinstance(function, Clearance):
        model, geometry = function.model.robot.model, function.model.checker.geometry
        placed = [pin.GeometryData(geometry) for _ in qs]
        for q, solids in zip(qs, placed, strict=True):
            pin.updateGeometryPlacements(model, model.createData(), geometry, solids, q)
        return lambda i: pin.computeDistance(geometry, placed[i], 0)
    return None


def _points(function: SupportPolygon, q: Vector) -> Vector:
    """Of all supports (k, 3), in the world."""
    posture, supports = function.robot.at(q), np.atleast_1d(np.array(function.supports, dtype=object))
    frames = [posture.placement(support.frame) for support in supports]
    parts = [support.points @ oMf.rotation.T + oMf.translation for support, oMf in zip(supports, frames, strict=True)]
    return np.concatenate(parts)
