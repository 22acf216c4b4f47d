"""The rows of a custom hinge: fitted by Newton in coordinates chosen by pivoting."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import lapack, qr

from liegroups import SE3
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.formulas.second_order import cross, so3_log_second

from ...robot.model.pinocchio import pin
from ...robot.placement import rotation_log
from .hinge import Hinge
from .pose_map import PoseMap
from .subhinge import SubhingeMotion

_dposv: Any = lapack.dposv
STARTS = 6
"""Fits of a custom hinge begin at this many values of each pin and screw, of the first three of them."""
TRIES = 6
"""From so many of these places at most; poses of a hinge have several ways to get there, and local minima beside."""
FOUND = 1e-8
"""A sum of squared errors below which a fit is one of a closed pose, and no other is tried [m2, rad2]."""
NEARLY = (10, 1e-3)
"""Steps at most of a first fit, and how short the last one is [m, rad]."""
FAR_AWAY = (200, 1e-14)
"""The same of a fit that is to be exact, where no pose of the hinge is near."""
NEWTON_STEPS = 20
"""Steps at most from the first fit to where the picked coordinates vanish."""


class _Fit(NamedTuple):
    """A fitted hinge.

    Attributes:
        theta: coordinates.
        E: error frame.
        S: motion subspace.
        held: error coordinates held at zero; of a fit that is not exact those that cannot be.
        left: those that are rows.
        is_exact: whether the held ones vanish; otherwise the pose is far from all of the hinge.
    """

    theta: Vector
    E: Any
    S: Matrix
    held: Indices
    left: Indices
    is_exact: bool


@final
class CustomRows(PoseMap):
    r"""Rows of a custom hinge.

    The error frame :math:`E = H(\theta)^{-1} X` has six coordinates :math:`\epsilon = (p_E, \log_3 R_E)`. At the fit of
    least squares as many of them as the hinge has degrees of freedom are picked, by pivoting; :math:`\theta` is then
    such that these vanish, and the others are the rows. Derivatives follow from that condition. Where the pick changes,
    the rows change by an invertible factor on closed poses; far from all poses of the hinge, where the picked ones
    cannot vanish, the least squares count (rows that are zero still mean a closed pose).

    Args:
        hinge: the hinge.
    """

    __slots__ = ("_beside", "_grid", "_screws", "hinge", "size")

    def __init__(self, hinge: Hinge) -> None:
        self.hinge, self.size = hinge, hinge.rows
        self._beside: _Fit | None = None
        self._grid = _grid(hinge)
        self._screws = _screws(hinge)

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        _, E, S, held, left, _ = self._fit(pose)
        epsilon, G = _coordinates(E)
        out[:] = epsilon[left]
        if D is not None:
            moved = G @ (E.toActionMatrixInverse() @ S)
            D[:] = G[left] - moved[left] @ _solve(moved[held], G[held])

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        theta, E, S, held, left, _ = self._fit(pose)
        out[:] = self._moving(theta, E, S, held, twist, acceleration)[2][left]

    def near(self, pose: Any) -> CustomRows:
        """As `PoseMap.near`: fits are continued from that of the pose. A fit from afar may be another one."""
        beside = copy(self)
        beside._beside = self._fit(pose)
        return beside

    def motion(self, pose: Any, twist: Vector, acceleration: Vector) -> tuple[Vector, Vector, Vector]:
        """Fitted coordinates, their rates and accelerations."""
        theta, E, S, held, *_ = self._fit(pose)
        return (theta, *self._moving(theta, E, S, held, twist, acceleration)[:2])

    def rate_matrix(self, pose: Any) -> Matrix:
        """What the fitted coordinates change by with the body twist of the pose (dofs, 6)."""
        _, E, S, held, *_ = self._fit(pose)
        _, G = _coordinates(E)
        return _solve((G @ (E.toActionMatrixInverse() @ S))[held], G[held])

    def _moving(
        self, theta: Vector, E: Any, S: Matrix, held: Indices, twist: Vector, acceleration: Vector
    ) -> tuple[Vector, Vector, Vector]:
        """Rates and accelerations of the fit, and the second derivative of all six coordinates."""
        _, G = _coordinates(E)
        moved = (G @ (E.toActionMatrixInverse() @ S))[held]
        rates = _solve(moved, G[held] @ twist)
        e = pin.SE3ToXYZQUAT(E)
        hinge = S @ rates, self.hinge.drift(theta, rates)
        nu, gamma = SE3.relative_motion(np.asarray(e), (twist, acceleration), hinge)
        second = _second(E, nu, gamma)
        accelerations = _solve(moved, second[held])
        nu, gamma = SE3.relative_motion(np.asarray(e), (twist, acceleration), (hinge[0], hinge[1] + S @ accelerations))
        return rates, accelerations, _second(E, nu, gamma)

    def _fit(self, pose: Any) -> _Fit:
        """The fit of a pose: continued from the one beside it, where there is one."""
        beside = self._beside
        if beside is None:
            theta, cost = self._least_squares(pose)
            held, left = self._pick(theta)
        else:
            theta, cost, held, left = beside.theta, np.inf, beside.held, beside.left
        exact = self._exact(theta, pose, held, cost) if beside is None or beside.is_exact else None
        found = self._descend(theta, pose, *FAR_AWAY)[0] if exact is None else exact
        H, S = self.hinge.kinematics(found)
        return _Fit(found, H.actInv(pose), S, held, left, exact is not None)

    def _exact(self, theta: Vector, pose: Any, held: Indices, cost: float) -> Vector | None:
        """Newton to where the held coordinates vanish; None where they do not, or much farther away."""
        for _ in range(NEWTON_STEPS):
            epsilon, A = self._linearised(theta, pose)
            if np.abs(epsilon[held]).max(initial=0.0) < 1e-15:
                break
            if float(epsilon @ epsilon) > 4.0 * cost + 1e-6:
                return None
            step = least(A[held], epsilon[held])
            theta = self.hinge.space.integrate(theta, step)
            if np.abs(step).max(initial=0.0) < 1e-15:
                break
        else:
            epsilon = self._linearised(theta, pose)[0]
        return theta if np.abs(epsilon[held]).max(initial=0.0) < 1e-12 else None

    def _linearised(self, theta: Vector, pose: Any) -> tuple[Vector, Matrix]:
        """The six coordinates of the error frame, and by how much the hinge takes them away."""
        H, S = self.hinge.kinematics(theta)
        E = H.actInv(pose)
        epsilon, G = _coordinates(E)
        return epsilon, G @ (E.toActionMatrixInverse() @ S)

    def _pick(self, theta: Vector) -> tuple[Indices, Indices]:
        """The error coordinates that the hinge moves best, and the others."""
        if not self.hinge.dofs:
            return np.zeros(0, dtype=np.intp), np.arange(6)
        order: Any = qr(self.hinge.kinematics(theta)[1].T, mode="r", pivoting=True)[1]
        held = np.sort(order[: self.hinge.dofs])
        return held, np.setdiff1d(np.arange(6), held)

    def _least_squares(self, pose: Any) -> tuple[Vector, float]:
        """The fit of least squared error, nearly: Gauss-Newton from the best places of a grid."""
        if not self.hinge.dofs:
            return np.array(self.hinge.space.neutral), np.inf
        R, p = pose.rotation, pose.translation
        starts, turns, places = self._grid
        cosine = 0.5 * (np.einsum("nij,ij->n", turns, R) - 1.0)
        costs = np.square(p - places).sum(axis=1) + np.square(np.arccos(np.clip(cosine, -1.0, 1.0)))
        best, least = starts[0], np.inf
        for i in np.argsort(costs, kind="stable")[:TRIES]:
            theta, cost = self._descend(starts[int(i)], pose, *NEARLY)
            turned = self._turned(theta, pose) if cost >= FOUND else theta
            if turned is not theta:
                theta, cost = self._descend(turned, pose, *NEARLY)
            if cost < 0.999 * least:
                best, least = theta, cost
            if least < FOUND:
                break
        return best, least

    def _turned(self, theta: Vector, pose: Any) -> Vector:
        """The fit with screws turned by the whole turns that bring it nearest, which only its translation shows."""
        q, v, pitch = self._screws
        if not len(q):
            return theta
        H, S = self.hinge.kinematics(theta)
        A = np.hstack([2.0 * np.pi * pitch * S[3:, v], S[:3][:, ~S[3:].any(axis=0)]])  # a turn, and what sliders do
        turns = np.round(least(A, H.actInv(pose).translation)[: len(q)])
        if not turns.any():
            return theta
        theta = theta.copy()
        theta[q] += 2.0 * np.pi * turns
        return theta

    def _descend(self, theta: Vector, pose: Any, count: int, enough: float) -> tuple[Vector, float]:
        """Damped Gauss-Newton until steps are short enough."""
        cost = np.inf
        for _ in range(count):
            epsilon, A = self._linearised(theta, pose)
            cost = float(epsilon @ epsilon)
            normal = A.T @ A
            normal.flat[:: self.hinge.dofs + 1] += 0.03 * cost + 1e-12
            step: Vector = _dposv(normal, A.T @ epsilon)[1]
            theta = self.hinge.space.integrate(theta, step)
            if np.abs(step).max(initial=0.0) < enough:
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
    linear = E.rotation @ (gamma[:3] + cross(nu[3:], nu[:3]))
    return np.concatenate([linear, so3_log_second(rotation_log(E.rotation), nu[3:], gamma[3:])])


@lru_cache(maxsize=64)
def _grid(hinge: Hinge) -> tuple[list[Vector], Matrix, Matrix]:
    """Where fits begin, with the rotations (n, 3, 3) and translations (n, 3) of the hinge there."""
    starts = _starts(hinge)
    poses = [hinge.kinematics(start)[0] for start in starts]
    return starts, np.array([H.rotation for H in poses]), np.array([H.translation for H in poses])


def _starts(hinge: Hinge) -> list[Vector]:
    """A grid over the first three pins and screws, and of a ball none and half turns about its axes; zero elsewhere."""
    places = np.cumsum([0, *(sub.nq for sub in hinge.subhinges)]).tolist()
    turning = [(q, sub.is_ball) for q, sub in zip(places, hinge.subhinges, strict=False) if sub.turns]
    balls = [slice(q, q + 4) for q, is_ball in turning if is_ball][:1]
    pins = [q for q, is_ball in turning if not is_ball][: 3 - len(balls)]
    starts: list[Vector] = []
    for angles in product(np.linspace(-np.pi, np.pi, STARTS, endpoint=False), repeat=len(pins)):
        for quaternion in np.eye(4) if balls else [None]:
            starts.append(np.array(hinge.space.neutral))
            starts[-1][pins] = angles
            for ball in balls:
                starts[-1][ball] = quaternion
    return starts


def _screws(hinge: Hinge) -> tuple[list[int], list[int], Vector]:
    """Of each screw its place in the coordinates, that in their rates, and its pitch [m/rad]."""
    q = np.cumsum([0, *(sub.nq for sub in hinge.subhinges)]).tolist()
    v = np.cumsum([0, *(sub.nv for sub in hinge.subhinges)]).tolist()
    found = [i for i, sub in enumerate(hinge.subhinges) if sub.motion is SubhingeMotion.SCREW]
    return [q[i] for i in found], [v[i] for i in found], np.array([hinge.subhinges[i].pitch for i in found])


def _solve(A: Matrix, b: Matrix) -> Matrix:
    return np.asarray(np.linalg.solve(A, b), dtype=np.float64)


def least(A: Matrix, b: Vector) -> Vector:
    """The shortest x of least |A x - b|."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=1e-9)[0], dtype=np.float64)
