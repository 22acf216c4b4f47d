"""Second-order maps of functions by differences along the manifold: where a function has no formula of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.log_slopes import FIVE_POINTS

from ..point import MovingPoint, Point, motion_at, place, place_motion

if TYPE_CHECKING:
    from .function import Function


def drift_by_differences(f: Function, motion: MovingPoint, out: Vector) -> None:
    r"""Write :math:`\dot J v` (outputs.nv,): the central difference of :math:`J(q \oplus t v)\, v`, to about 1e-9."""
    speed = float(np.abs(motion.v).max(initial=0.0))
    if speed == 0.0:
        out[:] = 0.0
        return
    h = 1e-5 / speed  # cube root of the rounding unit, as a step of the fastest coordinate
    ahead = _jacobian(f, motion.point, h * motion.v) @ motion.v
    out[:] = (ahead - _jacobian(f, motion.point, -h * motion.v) @ motion.v) / (2.0 * h)


def drift_derivatives_by_differences(f: Function, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
    """Write what J a + drift changes by with q and with v: five-point differences, to about 1e-11 of an exact drift."""
    q, v = motion.point.q, np.array(motion.v)
    workspace = motion.point.workspace.child

    def acceleration(at: Vector, speed: Vector) -> Vector:
        moving = place_motion(f.inputs, at, speed, workspace)
        value, J, out = np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, f.inputs.nv)), np.zeros(f.outputs.nv)
        f.evaluate(moving.point, value, J)
        f.drift(moving, out)
        return np.asarray(J @ a + out)

    dq[:], dv[:] = 0.0, 0.0
    for i in np.flatnonzero(f.columns):
        for step, factor in FIVE_POINTS:
            e = np.zeros(f.inputs.nv)
            e[i] = step
            dq[:, i] += factor * acceleration(f.inputs.integrate(q, e), v)
            dv[:, i] += factor * acceleration(q, v + e)


def force_derivative_by_differences(f: Function, point: Point, y: Vector, out: Matrix) -> None:
    """Write what J^T y changes by with q: five-point differences of the Jacobian."""
    out[:] = 0.0
    for i in np.flatnonzero(f.columns):
        for step, factor in FIVE_POINTS:
            e = np.zeros(f.inputs.nv)
            e[i] = step
            out[:, i] += factor * (y @ _jacobian(f, point, e))


def force_derivative_by_rates(f: Function, point: Point, y: Vector, out: Matrix) -> None:
    """Write what J^T y changes by with q, from `drift_derivatives` of motions along one coordinate after the other."""
    shape = f.outputs.nv, f.inputs.nv
    still = motion_at(point, np.zeros(f.inputs.nv))
    dq, dv = np.zeros(shape), np.zeros(shape)
    out[:] = 0.0
    for i in np.flatnonzero(f.columns):
        e = np.zeros(f.inputs.nv)
        e[i] = 1.0
        f.drift_derivatives(still, e, dq, dv)
        out[i] = y @ dq


def _jacobian(f: Function, point: Point, step: Vector) -> Matrix:
    """J at q (+) step, in the child workspace."""
    there = place(f.inputs, f.inputs.integrate(point.q, step), point.workspace.child)
    value, J = np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, f.inputs.nv))
    f.evaluate(there, value, J)
    return J
