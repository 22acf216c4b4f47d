r"""Points of a group that move with q, with the derivatives of velocity and acceleration: products and logarithms.

For functions and rows made of others: what is said once, by the chain rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from liegroups import Space
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.log_slopes import bracket_matrix, cobracket_matrix, log_slopes

from ..point import MovingPoint, Point, motion_at

if TYPE_CHECKING:
    from .function import Function


class GroupMotion(NamedTuple):
    r"""A point of a group at one state of its argument, with an acceleration a that is kept.

    Attributes:
        group: where it is.
        point: (group.nq,).
        jacobian: J (group.nv, nv), to body velocities.
        velocity, acceleration: J v, and J a + drift (group.nv,).
        rate_q: (group.nv, nv), of J v by q.
        by_q, by_v: (group.nv, nv), of the acceleration.
    """

    group: Space
    point: Vector
    jacobian: Matrix
    velocity: Vector
    acceleration: Vector
    rate_q: Matrix
    by_q: Matrix
    by_v: Matrix

    @staticmethod
    def of(f: Function, motion: MovingPoint, a: Vector) -> GroupMotion:
        """The value of a function.

        Args:
            f: the function.
            motion: its argument, with a velocity.
            a: acceleration of the argument.
        """
        n, k = f.inputs.nv, f.outputs.nv
        value, J = f.linearised_at(motion.point)
        drift, (rate_q, by_q, by_v, unused) = np.zeros(k), np.zeros((4, k, n))
        f.drift(motion, drift)
        f.drift_derivatives(motion, a, by_q, by_v)
        f.drift_derivatives(motion_at(motion.point, np.zeros(n)), np.array(motion.v), rate_q, unused)
        return GroupMotion(f.outputs, value, J, J @ motion.v, J @ a + drift, rate_q, by_q, by_v)

    @staticmethod
    def apart(
        group: Space, point: Vector, n: int, velocity: Vector | None = None, acceleration: Vector | None = None
    ) -> GroupMotion:
        """A point that moves by itself, or rests.

        Args:
            group: where it is.
            point: (group.nq,).
            n: tangent size of the argument, on which it does not depend.
            velocity, acceleration: body velocity and its derivative (group.nv,); zero by default.
        """
        k = group.nv
        still, none = np.zeros(k), np.zeros((k, n))
        own = still if velocity is None else velocity, still if acceleration is None else acceleration
        return GroupMotion(group, point, none, *own, none, none, none)

    def seen_from(self, other: GroupMotion) -> GroupMotion:
        r"""The point :math:`g = r^{-1} h` of this one, h, and another one, r.

        With :math:`A = Ad_g^{-1}`, :math:`\nu = \nu_h - A \nu_r`,
        :math:`\dot\nu = \dot\nu_h - A\dot\nu_r + [\nu, A\nu_r]` and :math:`\delta A\,x = [A x, \delta g]`.
        """
        group = self.group
        g = group.compose(group.inverse(other.point), self.point)
        A = group.adjoint(group.inverse(g))
        carried = A @ other.jacobian
        J = self.jacobian - carried
        back, back2 = A @ other.velocity, A @ other.acceleration
        velocity = self.velocity - back
        ad_back, ad_v = bracket_matrix(group, back), bracket_matrix(group, velocity)
        back_q = A @ other.rate_q + ad_back @ J
        rate_q = self.rate_q - back_q
        by_q = self.by_q - A @ other.by_q - bracket_matrix(group, back2) @ J - ad_back @ rate_q + ad_v @ back_q
        by_v = self.by_v - A @ other.by_v - ad_back @ J + ad_v @ carried
        acceleration = self.acceleration - back2 + ad_v @ back
        return GroupMotion(group, g, J, velocity, acceleration, rate_q, by_q, by_v)

    def logarithm(self) -> GroupMotion:
        """The logarithm, a point of R^n, with velocity and acceleration."""
        group = self.group
        r = group.log(self.point)
        log = log_slopes(group, r, self.velocity, self.acceleration, np.zeros(group.nv))
        J = log.jacobian
        return GroupMotion(
            group,  # a vector now: nobody asks
            r,
            J @ self.jacobian,
            J @ self.velocity,
            group.log_second_derivative(r, self.velocity, self.acceleration),
            log.rate @ self.jacobian + J @ self.rate_q,
            log.by_point @ self.jacobian + log.by_velocity @ self.rate_q + J @ self.by_q,
            log.by_velocity @ self.jacobian + J @ self.by_v,
        )


def force_derivative_of(f: Function, point: Point, y: Vector) -> Matrix:
    """What J^T y of a function changes by with q, a new matrix."""
    out = np.zeros((f.inputs.nv, f.inputs.nv))
    f.force_derivative(point, y, out)
    return out


def force_seen_from(h: Function, r: Function, point: Point, y: Vector) -> Matrix:
    r"""What :math:`J^T y` of :math:`g = r^{-1} h` changes by with q, with :math:`J = J_h - A J_r`."""
    group, of_h, of_r = h.outputs, h.linearised_at(point), r.linearised_at(point)
    A = group.adjoint(group.inverse(group.compose(group.inverse(of_r.value), of_h.value)))
    carried = A @ of_r.jacobian
    out = force_derivative_of(h, point, y) - force_derivative_of(r, point, y @ A)
    return out + carried.T @ cobracket_matrix(group, y) @ (of_h.jacobian - carried)


def force_of_logarithm(group: Space, g: Vector, J: Matrix, y: Vector) -> tuple[Vector, Matrix]:
    r"""Of :math:`J^T J_{\log}^T y` by q: y seen from the group, and what the logarithm adds (nv, nv).

    Args:
        group: where g is.
        g: the point.
        J: its Jacobian (group.nv, nv).
        y: (group.nv,).
    """
    still = np.zeros(group.nv)
    log = log_slopes(group, group.log(g), still, still, y)
    return y @ log.jacobian, J.T @ log.force @ J
