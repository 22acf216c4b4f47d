"""The wrenches of contact forces about the centre of mass, and what they change by with the configuration."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross
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


class Grasp(NamedTuple):
    r"""Wrenches G (6, n) about the centre of mass, in the axes of the world, of unit forces at the supports.

    Attributes:
        matrix: G: force over weight, moment over weight times length, by force over weight.
        places: (R, t - c) of each frame: its rotation, its origin seen from the centre of mass [m].
        jacobians: body Jacobians (6, nv) of the frames; None where only values are asked for.
        center: Jacobian (3, nv) of the centre of mass, or None.
    """

    matrix: Matrix
    places: list[tuple[Matrix, Vector]]
    jacobians: list[Matrix] | None
    center: Matrix | None


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
    """

    robot: Robot
    supports: Support | Sequence[Support]
    length: float
    weight: float
    up: Vector
    wrenches: tuple[Matrix, ...]

    _standing: tuple[Support, ...]
    _last: int

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

    def leaning_columns(self) -> Any:
        """Columns on which centre of mass and supports depend."""
        columns = self.columns_seen_from(0)
        for support in self._standing:
            columns |= supporting_columns(self.robot, support.frame.joint)
        return columns

    def slices(self) -> list[slice]:
        """The forces of each support."""
        ends = accumulate((each.shape[1] for each in self.wrenches), initial=0)
        return [slice(start, end) for start, end in pairwise(ends)]

    def grasp(self, k: Kinematics, *, slopes: bool) -> Grasp:
        """The wrenches at a point.

        Args:
            k: its kinematics, with Jacobians for slopes.
            slopes: whether `moved` and `pulled` will be asked for.
        """
        center = np.array(self.center_jacobian(k)) if slopes else None
        c = np.array(self.center(k))
        places: list[tuple[Matrix, Vector]] = []
        columns: list[Matrix] = []
        for support, local in zip(self._standing, self.wrenches, strict=True):
            oMf: Any = k.oMi[support.frame.joint] * support.frame.placement
            R, r = np.array(oMf.rotation), np.array(oMf.translation) - c
            forces = R @ local[:3]
            columns.append(np.concatenate([forces, (R @ local[3:] + pin.skew(r) @ forces) / self.length]))
            places.append((R, r))
        bodies = [k.frame_jacobian(support.frame) for support in self._standing] if slopes else None
        return Grasp(np.hstack(columns), places, bodies, center)

    def moved(self, grasp: Grasp, x: Vector) -> Matrix:
        """What the wrench G x changes by (6, nv), with x kept.

        Args:
            grasp: with slopes.
            x: forces (n,), in parts of the weight.
        """
        out = np.zeros((6, self.inputs.nv))
        for (R, r), J, local, s in self._each(grasp):
            w = local @ x[s]
            force = R @ w[:3]
            turned = -(R @ pin.skew(w[:3])) @ J[3:]
            apart = R @ J[:3] - grasp.center
            out[:3] += turned
            out[3:] += -(R @ pin.skew(w[3:])) @ J[3:] - pin.skew(force) @ apart + pin.skew(r) @ turned
        out[3:] /= self.length
        return out

    def pulled(self, grasp: Grasp, y: Vector) -> Matrix:
        """What the numbers G^T y change by (n, nv), with y kept.

        Args:
            grasp: with slopes.
            y: (6,).
        """
        turn = y[3:] / self.length
        rows: list[Matrix] = []
        for (R, r), J, local, _ in self._each(grasp):
            along, about = R.T @ (y[:3] + cross(turn, r)), R.T @ turn
            apart = R @ J[:3] - grasp.center
            linear = pin.skew(along) @ J[3:] + R.T @ pin.skew(turn) @ apart
            rows.append(local[:3].T @ linear + local[3:].T @ pin.skew(about) @ J[3:])
        return np.vstack(rows)

    def _each(self, grasp: Grasp) -> Any:
        return zip(grasp.places, grasp.jacobians or [], self.wrenches, self.slices(), strict=True)


class PseudoInverse(NamedTuple):
    """A matrix G by its singular values, without those that are zero.

    Attributes:
        inverse: pseudo-inverse (n, m).
        span: orthonormal columns (m, rank) of what it reaches.
    """

    inverse: Matrix
    span: Matrix

    def left(self, rows: Matrix) -> Matrix:
        """Rows or a vector (m, ...) without what G reaches."""
        return rows - self.span @ (self.span.T @ rows)


def pseudo_inverse(G: Matrix) -> PseudoInverse:
    """The pseudo-inverse of a matrix (m, n), and what it reaches."""
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    kept = s > RANK_OF_WRENCHES * s.max(initial=0.0)
    span = U[:, kept]
    return PseudoInverse((Vt[kept].T / s[kept]) @ span.T, span)
