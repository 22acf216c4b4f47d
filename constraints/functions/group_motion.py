r"""Points of a group that move with q, with the derivatives of velocity and acceleration: products and logarithms.

For functions and rows made of others: what is said once, by the chain rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from liegroups import Space
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.log_slopes import bracket_matrix, cobracket_matrix, log_slopes

from ..point import MovingPoint, Point, motion_at
from .expressions.jets import Jet, linear

if TYPE_CHECKING:
    from .function import Function


def moving_value(f: Function, motion: MovingPoint, a: Vector) -> Jet:
    """The value of a function with all its derivatives; velocities of points of a group are body velocities.

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
    return Jet(value, J, (J @ motion.v)[:, None], (J @ a + drift)[:, None], rate_q, by_q, by_v)


def moving_alone(group: Space, point: Vector, n: int, velocity: Vector | None, acceleration: Vector | None) -> Jet:
    """A point that moves by itself, or rests.

    Args:
        group: where it is.
        point: (group.nq,).
        n: tangent size of the argument, on which it does not depend.
        velocity, acceleration: body velocity and its derivative (group.nv,); None for zero.
    """
    none = np.zeros((group.nv, n))
    v, a = (np.zeros((group.nv, 1)) if x is None else x[:, None] for x in (velocity, acceleration))
    return Jet(point, none, v, a, none, none, none)


def seen_from(group: Space, h: Jet, r: Jet) -> Jet:
    r"""The point :math:`g = r^{-1} h` of two points of a group that move.

    With :math:`A = Ad_g^{-1}`, :math:`\nu = \nu_h - A \nu_r`,
    :math:`\dot\nu = \dot\nu_h - A\dot\nu_r + [\nu, A\nu_r]` and :math:`\delta A\,x = [A x, \delta g]`.
    """
    value = group.compose(group.inverse(r.value), h.value)
    A = group.adjoint(group.inverse(value))

    def apart(x: Matrix, y: Matrix) -> Matrix:
        return x - A @ y

    g, back = linear(value, (h, r), apart), A @ r.velocity
    g = g._replace(acceleration=g.acceleration + group.bracket(g.velocity[:, 0], back[:, 0])[:, None])
    if h.rate_q is None:
        return g
    J, back2 = g.jacobian, A @ r.acceleration
    ad_v, ad_back, ad_back2 = (bracket_matrix(group, x[:, 0]) for x in (g.velocity, back, back2))
    rate_q, back_q = g.rate_q - ad_back @ J, A @ r.rate_q + ad_back @ J
    return g._replace(
        rate_q=rate_q,
        by_q=g.by_q - ad_back2 @ J - ad_back @ rate_q + ad_v @ back_q,
        by_v=g.by_v - ad_back @ J + ad_v @ A @ r.jacobian,
    )


def logarithm(group: Space, h: Jet) -> Jet:
    """The logarithm of a point of a group that moves."""
    r, v, a = group.log(h.value), h.velocity[:, 0], h.acceleration[:, 0]
    made = linear(r, (h,), group.log_jacobian(r).dot)
    made = made._replace(acceleration=group.log_second_derivative(r, v, a)[:, None])
    if h.rate_q is None:
        return made
    log = log_slopes(group, r, v, a, np.zeros(group.nv))
    return made._replace(
        rate_q=made.rate_q + log.rate @ h.jacobian,
        by_q=made.by_q + log.by_point @ h.jacobian + log.by_velocity @ h.rate_q,
        by_v=made.by_v + log.by_velocity @ h.jacobian,
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
