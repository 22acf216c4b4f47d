"""The laws of derivatives: Jacobian, declared columns and drift against central differences along the manifold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..functions.differences import force_derivative_by_differences
from ..functions.function import Function
from ..linear_algebra import largest
from ..point import place, place_motion
from ..workspace import Workspace
from .failure import require, within
from .places import column_name

_STEP = 1e-5
"""Near the cube root of the rounding unit, where a central difference is best (about 1e-10)."""
_LADDER = (1e-2, 1e-3, 1e-4)
"""Two decades in which the error of a central difference is above rounding for functions of ordinary size."""


def _values(f: Function, points: Iterator[Vector]) -> Iterator[Vector]:
    workspace = Workspace()
    for q in points:
        value = np.zeros(f.outputs.nq)
        f.evaluate(place(f.inputs, q, workspace), value)
        yield value


def _quotients(f: Function, q: Vector, v: Vector, steps: Sequence[float]) -> Iterator[Vector]:
    """(f(q (+) h v) (-) f(q (+) -h v)) / 2 h, for each step h."""
    values = _values(f, (f.inputs.integrate(q, sign * h * v) for h in steps for sign in (-1.0, 1.0)))
    for h, behind, ahead in zip(steps, values, values, strict=True):
        yield f.outputs.difference(behind, ahead) / (2.0 * h)


def _differences(f: Function, q: Vector) -> Matrix:
    """Central differences, column by column."""
    steps = _STEP * np.eye(f.inputs.nv)
    values = _values(f, (f.inputs.integrate(q, sign * step) for step in steps for sign in (-1.0, 1.0)))
    columns = [
        f.outputs.difference(behind, ahead) / (2.0 * _STEP) for behind, ahead in zip(values, values, strict=True)
    ]
    return np.stack(columns, axis=1) if columns else np.zeros((f.outputs.nv, 0))


def jacobian_error(f: Function, q: Vector) -> float:
    """Largest distance of the Jacobian at q to central differences, relative to 1 + its largest entry."""
    J = f.jacobian(q)
    return largest(J - _differences(f, q)) / (1.0 + largest(J))


def check_jacobian(f: Function, q: Vector, rng: np.random.Generator, tolerance: float) -> None:
    """Jacobian by value and by slope, and dependence on declared columns alone.

    Args:
        f: function.
        q: configuration.
        rng: where directions come from.
        tolerance: relative to 1 + the largest entry of the Jacobian.
    """
    J, differences = f.jacobian(q), _differences(f, q)
    error = np.abs(J - differences)
    limit = tolerance * (1.0 + largest(J))
    _check_columns(f, q)
    for row, column in np.argwhere(~(error <= limit))[:1]:
        seen = (
            f"row {row}, column {column_name(f.inputs, column)} of the Jacobian of {f.name} is {J[row, column]:.9g}, "
            f"but by central differences {differences[row, column]:.9g}"
        )
        law, mend = "the Jacobian is the derivative of the value", _diagnosis(f, q, J, differences, row, column)
        within(law, float(error[row, column]), limit, _written(f, "evaluate", mend), seen, q=q)
    _check_slope(f, q, J, rng, tolerance)


def _written(f: Function, method: str, mend: str) -> str:
    """What to fix: where the user writes what the method gives, then how."""
    where = f.written_in.get(method)
    if where is None:
        return mend
    return where if mend.startswith(method) else f"{where}: {mend}"


def _check_columns(f: Function, q: Vector) -> None:
    value, steps = f.value(q), 0.1 * np.eye(f.inputs.nv)
    columns = np.flatnonzero(~f.columns).tolist()
    values = _values(f, (f.inputs.integrate(q, steps[column]) for column in columns))
    for column, moved in zip(columns, values, strict=True):
        change = largest(f.outputs.difference(value, moved))
        seen = (
            f"column {column_name(f.inputs, column)} is not declared in `columns` of {f.name}, "
            "but the value changes with it (a move of 0.1)"
        )
        law, mend = "the value depends on declared columns alone", "declare it (without `columns` all are declared)"
        within(law, change, 1e-9 * (1.0 + largest(value)), mend, seen, q=q)


def _check_slope(f: Function, q: Vector, J: Matrix, rng: np.random.Generator, tolerance: float) -> None:
    v = rng.uniform(-1.0, 1.0, f.inputs.nv)
    rate = J @ v
    scale = 1.0 + largest(rate)
    quotients = zip(_LADDER, _quotients(f, q, v, _LADDER), strict=True)
    errors = {h: largest(quotient - rate) / scale for h, quotient in quotients}
    for h, smaller in pairwise(_LADDER):
        if errors[h] > 1e-2:  # the step is too large to tell, or crosses a jump (a rotation vector at half a turn)
            continue
        # The square law gives a factor 100 a decade; a wrong Jacobian gives a plateau at its error.
        law = "central differences tend to the Jacobian like the square of the step"
        seen = (
            f"differences of {f.name} do not tend to its Jacobian like the square of the step: errors by step {errors}"
        )
        mend = (
            "the Jacobian is slightly wrong, or the value is not smooth or not exact: look for series, switches, noise"
        )
        within(law, errors[smaller], 0.05 * errors[h] + 0.01 * tolerance, mend, seen, q=q, v=v)


def _diagnosis(f: Function, q: Vector, J: Matrix, differences: Matrix, row: int, column: int) -> str:
    step = np.zeros(f.inputs.nv)
    step[column] = _STEP
    behind, here, ahead = _values(f, iter((f.inputs.integrate(q, -step), q, f.inputs.integrate(q, step))))
    left, right = (f.outputs.difference(a, b)[row] / _STEP for a, b in ((behind, here), (here, ahead)))
    if abs(left - right) > 1e-2 * (1.0 + abs(left) + abs(right)):
        return f"the value jumps or has a kink here (slopes {left:.6g} and {right:.6g} on the two sides)"
    wrong, true = float(J[row, column]), float(differences[row, column])
    if abs(wrong + true) <= 1e-4 * abs(true):
        return "its sign"
    if wrong == 0.0:
        return "a missing term"
    if abs(true) < 1e-9:
        return "an extra term"
    return "derivatives are by tangent vectors, in the body frame on both sides: f(q (+) v) = f(q) (+) J v"


def drift_error(f: Function, q: Vector, v: Vector) -> tuple[Vector, Vector]:
    """Drift at (q, v), and central differences of J(q (+) t v) v along the manifold."""
    out = np.full(f.outputs.nv, np.nan)
    f.drift(place_motion(f.inputs, q, v, Workspace()), out)
    h = _STEP / max(largest(v), 1e-3)
    workspace, rates = Workspace(), list[Vector]()
    for t in (-h, h):
        value, J = np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, f.inputs.nv))
        f.evaluate(place(f.inputs, f.inputs.integrate(q, t * v), workspace), value, J)
        rates.append(J @ v)
    return out, (rates[1] - rates[0]) / (2.0 * h)


def check_drift(f: Function, q: Vector, rng: np.random.Generator, tolerance: float) -> None:
    """A drift of the function's own is d(J v)/dt at constant v, leaves the point valid, and gives the same bits twice.

    Args:
        f: function.
        q: configuration.
        rng: where velocities come from.
        tolerance: relative to 1 + the largest entry.
    """
    if not f.has_exact_drift:
        return
    v = rng.standard_normal(f.inputs.nv)
    velocity, workspace = v.copy(), Workspace()
    out, differences = drift_error(f, q, velocity)
    seen = f"drift of {f.name} changes its velocity"
    require("drift does not change its arguments", bool(np.all(velocity == v)), "work on copies", seen, q=q, v=v)
    for row in np.flatnonzero(~np.isfinite(out)):
        seen, mend = f"row {row} of the drift of {f.name} is {out[row]}", "drift writes every entry of out with ="
        require("every row of the drift is written, and finite", False, mend, seen, q=q, v=v)
    for row in np.argsort(-np.abs(out - differences))[:1]:
        seen = (
            f"row {row} of the drift of {f.name} is {out[row]:.9g}, but d(J v)/dt by differences {differences[row]:.9g}"
        )
        law = "the drift is d(J v)/dt"
        mend = _written(f, "drift", "drift; without one of your own, an exact enough default is there")
        limit = tolerance * (1.0 + largest(differences))
        within(law, float(abs(out[row] - differences[row])), limit, mend, seen, q=q, v=v)
    motion = place_motion(f.inputs, q, v, workspace)
    again, value, after = np.zeros_like(out), np.zeros(f.outputs.nq), np.zeros(f.outputs.nq)
    f.evaluate(motion.point, value)
    f.drift(motion, again)
    f.evaluate(motion.point, after)
    mend = "drift has the same rules as evaluate: no state, and scratch memory of its own names"
    seen = f"drift of {f.name} gives different bits the second time"
    require("drift gives the same bits twice", bool(np.all(again == out)), mend, seen, q=q, v=v)
    seen = f"drift of {f.name} changes what evaluate gives at the same point"
    require("drift does not change the point", bool(np.all(after == value)), mend, seen, q=q, v=v)


def check_drift_derivatives(f: Function, q: Vector, rng: np.random.Generator, tolerance: float) -> None:
    """Derivatives of J a + drift of the function's own against central differences.

    Args:
        f: function.
        q: configuration.
        rng: where velocity and acceleration come from.
        tolerance: relative to 1 + the largest entry.
    """
    if not f.has_exact_derivatives:
        return
    v, a = rng.standard_normal((2, f.inputs.nv))
    shape = (f.outputs.nv, f.inputs.nv)
    motion = place_motion(f.inputs, q, v, Workspace())
    own, default = [np.full(shape, np.nan) for _ in range(2)], [np.zeros(shape) for _ in range(2)]
    f.drift_derivatives(motion, a, *own)
    Function.drift_derivatives(f, motion, a, *default)
    for name, mine, differences in zip(("dq", "dv"), own, default, strict=True):
        error, limit = np.abs(mine - differences), tolerance * (1.0 + largest(differences))
        for row, column in np.argwhere(~(error <= limit))[:1]:
            law = "drift derivatives are the derivatives of J a + drift"
            seen = (
                f"{name} of the drift derivatives of {f.name}, row {row}, column {column_name(f.inputs, column)}, is "
                f"{mine[row, column]:.9g}, but by differences {differences[row, column]:.9g}"
            )
            mend = _written(f, "drift_derivatives", "drift_derivatives")
            within(law, float(error[row, column]), limit, mend, seen, q=q, v=v, a=a)


def check_force_derivative(f: Function, q: Vector, rng: np.random.Generator, tolerance: float) -> None:
    """Derivatives of J^T y of the function's own against differences.

    Args:
        f: function.
        q: configuration.
        rng: where y comes from.
        tolerance: relative to 1 + the largest entry.
    """
    if type(f).force_derivative is Function.force_derivative or not f.has_exact_derivatives:
        return
    y, n = rng.standard_normal(f.outputs.nv), f.inputs.nv
    own, differences = np.full((n, n), np.nan), np.zeros((n, n))
    f.force_derivative(place(f.inputs, q, Workspace()), y, own)
    force_derivative_by_differences(f, place(f.inputs, q, Workspace()), y, differences)
    error, limit = np.abs(own - differences), tolerance * (1.0 + largest(differences))
    for row, column in np.argwhere(~(error <= limit))[:1]:
        law = "the force derivative is the derivative of J^T y"
        seen = (
            f"the force derivative of {f.name}, row {column_name(f.inputs, row)}, column "
            f"{column_name(f.inputs, column)}, is {own[row, column]:.9g}, but by differences "
            f"{differences[row, column]:.9g}"
        )
        mend = _written(f, "force_derivative", "force_derivative")
        within(law, float(error[row, column]), limit, mend, seen, q=q, y=y)
