"""Derivatives of functions without formulas: second-order maps by differences, first ones by complex steps too."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from liegroups import Space
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector
from liegroups.formulas.log_slopes import FIVE_POINTS

from ..point import MovingPoint, Point, motion_at, place, place_motion

if TYPE_CHECKING:
    from .function import Function

SAME_VALUE = 1e-12
"""Values agree to this, relative to 1 + their size."""
SAME_SLOPE = 1e-6
"""The Jacobian agrees with central differences to this, relative to 1 + its largest entry."""
STEP_OF_READING = 1e-6
"""Of these differences."""
TRIED_COMPLEX = 8
"""Random configurations at which complex steps must give the derivatives, half of them with a value at least."""
COMPLEX_STEP = 1e-20
"""Of an imaginary part: its square is nothing beside 1."""
REACH_OF_READING = 2.0
"""Coordinates are drawn from minus to plus this [rad or m]."""


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


# Of functions of a user.


def called(f: Callable[[Vector], ArrayLike], q: Vector) -> Vector:
    """The value of a user's function (n,), of a copy of q, without warnings."""
    with np.errstate(all="ignore"):
        return np.asarray(f(q.copy()), dtype=np.float64).reshape(-1)


def slopes_of_numbers(f: Callable[[Vector], ArrayLike], q: Vector, space: Space, rows: int) -> Matrix:
    """The Jacobian by central differences, by coordinates that are numbers; others were never asked for."""
    J = np.zeros((rows, space.nv))
    for entry, column in zip(space.vector_q.tolist(), space.vector_v.tolist(), strict=True):
        ends = np.array([q, q])
        ends[:, entry] += -STEP_OF_READING, STEP_OF_READING
        behind, ahead = (called(f, end) for end in ends)
        J[:, column] = (ahead - behind) / (2.0 * STEP_OF_READING)
    return J


def complex_slopes(f: Callable[..., ArrayLike], q: Vector, value: Vector, entries: Indices) -> Matrix | None:
    r"""Derivatives (outputs.nv, entries) of a function by some coordinates, by complex steps: exact to rounding.

    .. math:: \partial_k f = \mathrm{Im}\, f(q + i h e_k) / h, \qquad h = 10^{-20}

    Args:
        f: the function.
        q, value: where, and its value there (outputs.nv,).
        entries: of q.

    Returns:
        None where it takes no complex numbers, or where the real part of what it gives is not its value.

    Source: Squire and Trapp, Using complex variables to estimate derivatives of real functions, 1998.
    """
    J = np.zeros((value.size, len(entries)))
    near = SAME_VALUE * (1.0 + np.abs(value).max(initial=0.0))
    for column, entry in enumerate(entries):
        z = q.astype(np.complex128)
        z[entry] += 1j * COMPLEX_STEP
        try:
            found = np.asarray(f(z), dtype=np.complex128).reshape(-1)
        except Exception:
            return None
        if found.shape != value.shape or not np.abs(found.real - value).max(initial=0.0) <= near:
            return None
        J[:, column] = found.imag / COMPLEX_STEP
    return J


def takes_complex(f: Callable[..., ArrayLike], inputs: Space, outputs: Space, columns: BoolVector) -> bool:
    """Whether complex steps give the derivatives of a function by its coordinates that are numbers.

    They must be those of central differences at random configurations: absolute values, norms and conjugates, which
    have no derivative as complex functions, are told by that.

    Args:
        f: the function.
        inputs, outputs: its spaces.
        columns: (inputs.nv,) what it may depend on.
    """
    on = columns[inputs.vector_v]
    if not (outputs.is_flat and on.any()):
        return False
    rng, agreed = np.random.default_rng(1), 0
    for _ in range(TRIED_COMPLEX):
        q = inputs.integrate(inputs.neutral, rng.uniform(-REACH_OF_READING, REACH_OF_READING, inputs.nv))
        try:
            value = called(f, q)
            if value.size != outputs.nv:
                return False
            if not np.isfinite(value).all():
                continue
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("error")  # of imaginary parts that are thrown away
                J = complex_slopes(f, q, value, inputs.vector_q[on])
            if J is None:
                return False
            slopes = slopes_of_numbers(f, q, inputs, outputs.nv)[:, inputs.vector_v[on]]
        except Exception:
            continue
        if not np.abs(J - slopes).max() <= SAME_SLOPE * (1.0 + np.abs(slopes).max()):
            return False
        agreed += 1
    return 2 * agreed >= TRIED_COMPLEX
