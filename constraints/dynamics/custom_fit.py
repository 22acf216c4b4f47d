"""The rows of a custom hinge: fitted by Newton in coordinates chosen by pivoting."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy.linalg import qr

from liegroups import SE3

from ..arrays import Indices, Matrix, Vector
from ..functions.frames import drift_of_rotation_log, rotation_log
from ..functions.logarithm import seen_from
from ..robot.pinocchio import pin
from .hinge import Hinge
from .pose_map import PoseMap

__all__ = ["CustomRows"]

STARTS = 8
"""Fits of a custom hinge begin at this many values of each of its first two turning steps."""


@final
class CustomRows(PoseMap):
    r"""Rows of a custom hinge.

    The error frame :math:`E = H(\theta)^{-1} X` has six coordinates :math:`\epsilon = (p_E, \log_3 R_E)`. At the fit of
    least squares as many of them as the hinge has degrees of freedom are picked, by pivoting; :math:`\theta` is then
    such that these vanish, and the others are the rows. Derivatives follow from that condition. Where the pick changes,
    the rows change by an invertible factor on closed poses.

    Args:
        hinge: the hinge.
    """

    __slots__ = ("_starts", "hinge", "size")

    def __init__(self, hinge: Hinge) -> None:
        self.hinge, self.size = hinge, hinge.rows
        self._starts = _starts(hinge)

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        _, E, S, held, left = self._fit(pose)
        epsilon, G = _coordinates(E)
        out[:] = epsilon[left]
        if D is not None:
            moved = G @ (E.toActionMatrixInverse() @ S)
            D[:] = G[left] - moved[left] @ _solve(moved[held], G[held])

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        theta, E, S, held, left = self._fit(pose)
        out[:] = self._moving(theta, E, S, held, twist, acceleration)[2][left]

    def motion(self, pose: Any, twist: Vector, acceleration: Vector) -> tuple[Vector, Vector, Vector]:
        """Fitted coordinates, their rates and accelerations."""
        theta, E, S, held, _ = self._fit(pose)
        return (theta, *self._moving(theta, E, S, held, twist, acceleration)[:2])

    def _moving(
        self, theta: Vector, E: Any, S: Matrix, held: Indices, twist: Vector, acceleration: Vector
    ) -> tuple[Vector, Vector, Vector]:
        """Rates and accelerations of the fit, and the second derivative of all six coordinates."""
        _, G = _coordinates(E)
        moved = (G @ (E.toActionMatrixInverse() @ S))[held]
        rates = _solve(moved, G[held] @ twist)
        e = pin.SE3ToXYZQUAT(E)
        hinge = S @ rates, self.hinge.drift(theta, rates)
        nu, gamma = seen_from(SE3, np.asarray(e), (twist, acceleration), hinge)
        second = _second(E, nu, gamma)
        accelerations = _solve(moved, second[held])
        nu, gamma = seen_from(SE3, np.asarray(e), (twist, acceleration), (hinge[0], hinge[1] + S @ accelerations))
        return rates, accelerations, _second(E, nu, gamma)

    def _fit(self, pose: Any) -> tuple[Vector, Any, Matrix, Indices, Indices]:
        """Coordinates, error frame, subspace, and which error coordinates are held at zero and which are rows."""
        theta = self._least_squares(pose)
        held, left = self._pick(theta)
        space = self.hinge.space
        for _ in range(30):
            E, S = self.hinge.placement(theta).actInv(pose), self.hinge.subspace(theta)
            epsilon, G = _coordinates(E)
            if np.abs(epsilon[held]).max(initial=0.0) < 1e-15:
                break
            step = _least((G @ (E.toActionMatrixInverse() @ S))[held], epsilon[held])
            theta = space.integrate(theta, step)
            if np.abs(step).max(initial=0.0) < 1e-15:
                break
        return theta, self.hinge.placement(theta).actInv(pose), self.hinge.subspace(theta), held, left

    def _pick(self, theta: Vector) -> tuple[Indices, Indices]:
        if self.hinge.dofs == 0:
            return np.zeros(0, dtype=np.intp), np.arange(6)
        order: Any = qr(self.hinge.subspace(theta).T, mode="r", pivoting=True)[1]
        held = np.sort(order[: self.hinge.dofs])
        return held, np.setdiff1d(np.arange(6), held)

    def _least_squares(self, pose: Any) -> Vector:
        """The fit of least squared error: Gauss-Newton from a few starts, the best of them first."""
        hinge = self.hinge
        costs = [float(np.square(_coordinates(hinge.placement(q).actInv(pose))[0]).sum()) for q in self._starts]
        best, least = self._starts[0], np.inf
        for i in np.argsort(costs, kind="stable")[:4]:
            theta, cost = self._descend(self._starts[int(i)], pose)
            if cost < least - 1e-12:
                best, least = theta, cost
            if least < 1e-18:
                break
        return best

    def _descend(self, theta: Vector, pose: Any) -> tuple[Vector, float]:
        cost, hinge, mu = np.inf, self.hinge, 0.0
        for _ in range(40):
            E = hinge.placement(theta).actInv(pose)
            epsilon, G = _coordinates(E)
            cost = float(epsilon @ epsilon)
            A = G @ (E.toActionMatrixInverse() @ hinge.subspace(theta))
            mu = 0.03 * cost + 1e-12
            step = _solve(A.T @ A + mu * np.eye(hinge.dofs), A.T @ epsilon)
            theta = hinge.space.integrate(theta, step)
            if np.abs(step).max(initial=0.0) < 1e-10:
                break
        return theta, cost


def _coordinates(E: Any) -> tuple[Vector, Matrix]:
    """Translation and rotation vector of a pose (6,), and their derivative by its body twist (6, 6)."""
    G, out = np.zeros((6, 6)), np.empty(6)
    out[:3], G[:3, :3] = E.translation, E.rotation
    J = np.empty((3, 3))
    out[3:] = rotation_log(E.rotation, J)
    G[3:, 3:] = J
    return out, G


def _second(E: Any, nu: Vector, gamma: Vector) -> Vector:
    """Second time derivative of `_coordinates`."""
    linear = E.rotation @ (gamma[:3] + np.cross(nu[3:], nu[:3]))
    return np.concatenate([linear, drift_of_rotation_log(rotation_log(E.rotation), nu[3:], gamma[3:])])


def _starts(hinge: Hinge) -> list[Vector]:
    """Where fits begin: a grid over the first two steps that turn, zero elsewhere."""
    starts, q = [np.array(hinge.space.neutral)], 0
    turning = 0
    for sub in hinge.subhinges:
        if sub.turns and sub.space.nq == 1 and turning < 2:
            turning += 1
            values = np.linspace(-np.pi, np.pi, STARTS, endpoint=False)
            starts = [_with(start, q, float(value)) for start in starts for value in values]
        q += sub.space.nq
    return starts


def _with(start: Vector, i: int, value: float) -> Vector:
    out = start.copy()
    out[i] = value
    return out


def _solve(A: Matrix, b: Matrix) -> Matrix:
    return np.asarray(np.linalg.solve(A, b), dtype=np.float64)


def _least(A: Matrix, b: Vector) -> Vector:
    return np.asarray(np.linalg.lstsq(A, b, rcond=1e-9)[0], dtype=np.float64)
