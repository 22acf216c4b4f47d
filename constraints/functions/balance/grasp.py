"""The wrenches of contact forces about the centre of mass, and what they change by with the configuration."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...errors import ModelError
from ...ranges import positive_number
from ...robot import Robot
from ...robot.model.pinocchio import pin
from ...robot.posture import Kinematics
from ..frames.frame_function import supporting_columns
from ..frames.mass import MassFunction
from .support import Support, as_supports

RANK_OF_WRENCHES = 1e-9
"""Singular values of wrenches below this part of the largest are zero: forces there carry nothing."""

SURE_RANK = 1e-6
"""A triangle of a QR whose inverse condition number, in the 1-norm, is more than this has full rank without a doubt."""


class Grasp(NamedTuple):
    r"""Wrenches G (6, n) about the centre of mass, in the axes of the world, of unit forces at the supports.

    Attributes:
        matrix: G: force over weight, moment over weight times length, by force over weight.
        wrenches: the same about the origin of the world, force over weight and moment over weight.
        about: (6, 6) what takes those to G.
        jacobian: spatial Jacobian (6, nv) of the joints, in the world; None where only values are asked for.
        center: Jacobian (3, nv) of the centre of mass, or None.
    """

    matrix: Matrix
    wrenches: Matrix
    about: Matrix
    jacobian: Any
    center: Any


class GraspFunction(MassFunction):
    r"""A function of what the supports of a robot can carry, as parts of its weight.

    With :math:`w` a wrench in the axes of a frame (R, t), its force and moment about the centre of mass c are

    .. math:: F = R\,w_f, \qquad M = \left(R\,w_m + (t - c) \times F\right) / L

    Attributes:
        supports: at least one, checked.
        length: L [m].
        weight: m g [N], of the bodies that count.
        up: (3,) unit, against gravity.
        wrenches: (6, n) of unit forces, by support, in the axes of its frame.
        slices: of the forces of each support.
    """

    robot: Robot
    supports: Support | Sequence[Support]
    length: float
    weight: float
    up: Vector
    wrenches: tuple[Matrix, ...]
    slices: tuple[slice, ...]

    _standing: tuple[Support, ...]
    _last: int
    _starts: Indices
    _scales: Matrix
    _carried: Matrix
    _moving: Matrix

    def lean(self, joints: Sequence[str] | None, subtrees: Sequence[str] | None) -> Robot:
        """Choose the bodies, check supports and length, find the weight (from `__post_init__`).

        Raises:
            ModelError: a robot without gravity, or bodies without mass.
        """
        robot, who = self.choose_bodies(self.robot, joints, subtrees), type(self).__name__
        model: Any = robot.model
        supports = as_supports(self.supports, who)
        for support in supports:
            robot.frame(support.frame)
        gravity = np.array(model.gravity.linear)
        size = float(np.sqrt(gravity @ gravity))
        if size == 0.0:
            raise ModelError(f"{who}: {robot.name} has no gravity, so there is no weight to carry")
        mass = float(sum(model.inertias[j].mass for j in self.moving_joints))
        set_fields(
            self,
            supports=supports,
            length=positive_number(self.length, f"length of {who}"),
            weight=mass * size,
            up=read_only(-gravity / size),
            _standing=supports,
            _last=max(self.moving_joints[-1], *(support.frame.joint for support in supports)),
        )
        return robot

    def lean_on(self, wrenches: tuple[Matrix, ...]) -> BoolVector:
        """Set the wrenches; the columns on which centre of mass and supports depend."""
        carried = np.array([supporting_columns(self.robot, support.frame.joint) for support in self._standing])
        counts = [each.shape[1] for each in wrenches]
        ends = list(accumulate(counts, initial=0))
        set_fields(
            self,
            wrenches=wrenches,
            slices=tuple(slice(start, end) for start, end in pairwise(ends)),
            _scales=read_only(np.diag([1.0] * 3 + [1.0 / self.length] * 3)),
            _starts=read_only(np.array(ends[:-1])),
            _carried=read_only(carried[:, None, :].astype(np.float64)),
            _moving=read_only(np.repeat(carried, counts, axis=0).astype(np.float64)),
        )
        return self.columns_seen_from(0) | carried.any(axis=0)

    def frames(self, k: Kinematics) -> list[Any]:
        """The frame of each support in the world."""
        return [k.oMi[support.frame.joint] * support.frame.placement for support in self._standing]

    def grasp(self, k: Kinematics, *, slopes: bool) -> Grasp:
        """The wrenches at a point.

        Args:
            k: its kinematics, with Jacobians for slopes.
            slopes: whether `moved` and `pulled` will be asked for.
        """
        center = np.array(self.center_jacobian(k)) if slopes else None
        about = self._scales.copy()
        about[3:, :3] = pin.skew(self.center(k)) / -self.length
        parts = [oMf.toDualActionMatrix().dot(w) for oMf, w in zip(self.frames(k), self.wrenches, strict=True)]
        wrenches = np.concatenate(parts, axis=1)
        return Grasp(about.dot(wrenches), wrenches, about, k.world_jacobian if slopes else None, center)

    def moved(self, grasp: Grasp, x: Vector) -> Matrix:
        r"""What the wrench G x changes by (6, nv), with x kept.

        A wrench (F, M) about the origin of the world that moves with the twist (v, w) of a body changes by
        :math:`(w \times F,\; w \times M + v \times F)`.

        Args:
            grasp: with slopes.
            x: forces (n,), in parts of the weight.
        """
        each = np.add.reduceat(grasp.wrenches * x, self._starts, axis=1)
        turned = np.matmul(each.T, _BY_TWIST).reshape(6, -1)
        out: Matrix = grasp.about.dot(turned.dot((self._carried * grasp.jacobian).reshape(-1, self.inputs.nv)))
        out[3:] += pin.skew(grasp.wrenches[:3].dot(x) / self.length).dot(grasp.center)
        return out

    def pulled(self, grasp: Grasp, y: Vector) -> Matrix:
        """What the numbers G^T y change by (n, nv), with y kept.

        Args:
            grasp: with slopes.
            y: (6,).
        """
        twist = grasp.about.T.dot(y)
        turned = _BY_WRENCH.dot(twist).dot(grasp.wrenches)
        pushed = grasp.wrenches[:3].T.dot(pin.skew(twist[3:]).dot(grasp.center))
        return turned.T.dot(grasp.jacobian) * self._moving - pushed


class PseudoInverse(NamedTuple):
    """A matrix G (m, n) with its pseudo-inverse.

    Attributes:
        inverse: pseudo-inverse (n, m).
        span: orthonormal columns (m, rank) of what it reaches; None where that is all of R^m.
    """

    inverse: Matrix
    span: Matrix | None

    def left(self, rows: Matrix) -> Matrix:
        """Rows or a vector (m, ...) without what G reaches."""
        return np.zeros(rows.shape) if self.span is None else rows - self.span @ (self.span.T @ rows)


def pseudo_inverse(G: Matrix) -> PseudoInverse:
    """The pseudo-inverse of a matrix (m, n), and what it reaches.

    By a QR of the transposed where its rank is m without a doubt, else by singular values.
    """
    m, n = G.shape
    if 0 < m <= n:
        qr, tau, _, _ = lapack.dgeqrf(G.T)
        R, Q = qr[:m], lapack.dorgqr(qr, tau)[0]
        if lapack.dtrcon(R)[0] > SURE_RANK:
            return PseudoInverse(lapack.dtrtrs(R, Q.T)[0].T, None)
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    kept = s > RANK_OF_WRENCHES * s.max(initial=0.0)
    span = U[:, kept]
    return PseudoInverse((Vt[kept].T / s[kept]) @ span.T, span)


def _crosses() -> tuple[Any, Any]:
    """By entries of a wrench: what it changes by with a twist. By entries of a twist: the same with a wrench."""
    zero, skews = np.zeros((3, 3)), [pin.skew(e) for e in np.eye(3)]
    by_force = [np.block([[zero, -e], [-e, zero]]) for e in skews]
    by_moment = [np.block([[zero, zero], [zero, -e]]) for e in skews]
    along = [np.block([[zero, zero], [-e, zero]]) for e in skews]
    about = [np.block([[-e, zero], [zero, -e]]) for e in skews]
    by_wrench = np.array([*along, *about]).transpose(1, 2, 0)
    return np.array([*by_force, *by_moment]).transpose(1, 0, 2).copy(), by_wrench.copy()


_BY_TWIST, _BY_WRENCH = _crosses()
