"""Derivatives of functions without formulas: second-order maps by differences, first ones by exact ways too."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from liegroups import Space
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector
from liegroups.formulas.log_slopes import five_points

from ..errors import UndefinedError
from ..point import MovingPoint, Point, motion_at, place, place_motion

if TYPE_CHECKING:
    from .function import Function

SAME_VALUE = 1e-12
"""Values agree to this, relative to 1 + their size."""
SAME_SLOPE = 1e-6
"""The Jacobian agrees with central differences to this, relative to 1 + value and largest slope of a row."""
STEP_OF_DRIFT = 5e-4
"""Of the fastest coordinate, in second differences of values: they err by 1e-9 by rounding, 1e-15 by curvature."""
STEP_OF_READING = 1e-6
"""Of these differences."""
TRIED_COMPLEX = 8
"""Random configurations at which complex steps must give the derivatives, half of them with a value at least."""
TRIED_COLUMNS = 2
"""At so many of them in each column alone, then in one random direction."""
LIBRARIES = {"autograd": "jacobian", "jax": "jacfwd"}
"""What differentiates Python functions, where the program has imported it, and by which name."""
COMPLEX_STEP = 1e-20
"""Of an imaginary part: its square is nothing beside 1."""
TEST_STEP = 3e-6
"""Of the test of complex steps: of a wave of w rad per unit it errs by (3e-6 w)^3 / 24, which is 1e-9 for w = 1000."""
RESOLVED = 1e-9
"""Of the value and slopes of a row: a smaller error is not seen, as differences have the same."""
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


def drift_by_values(f: Function, motion: MovingPoint, out: Vector) -> None:
    r"""The same for a Jacobian that is by differences itself: the second derivative of the value, to about 1e-9.

    .. math:: \dot J v = \partial_t^2\, \log\big(f(q)^{-1} f(q \oplus t v)\big), \quad t = 0
    """
    out[:], speed = 0.0, float(np.abs(motion.v).max(initial=0.0))
    if speed == 0.0:
        return
    h, q, workspace = STEP_OF_DRIFT / speed, motion.point.q, motion.point.workspace.child
    here, there = np.zeros((2, f.outputs.nq))
    f.evaluate(motion.point, here)
    for steps, factor in ((-2, -1.0), (-1, 16.0), (1, 16.0), (2, -1.0)):
        f.evaluate(place(f.inputs, f.inputs.integrate(q, steps * h * motion.v), workspace), there)
        out += factor / (12.0 * h * h) * f.outputs.difference(here, there)


def drift_derivatives_by_differences(f: Function, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
    """Write what J a + drift changes by with q and with v, to about 1e-11 of an exact drift.

    By five-point differences with q; the drift is quadratic in v, so two points at any distance are exact.
    """
    q, v = motion.point.q, np.array(motion.v)
    workspace = motion.point.workspace.child

    value, J = np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, f.inputs.nv))

    def drift(there: MovingPoint) -> Vector:
        out = np.zeros(f.outputs.nv)
        f.drift(there, out)
        return out

    dq[:], dv[:] = 0.0, 0.0
    columns = np.flatnonzero(f.columns)
    for i, factor, step in five_points(f.inputs.nv, columns):
        there = place_motion(f.inputs, f.inputs.integrate(q, step), v, workspace)
        f.evaluate(there.point, value, J)
        dq[:, i] += factor * (J @ a + drift(there))
    for i, e in zip(columns, np.eye(f.inputs.nv)[columns], strict=True):
        ahead, behind = (drift(place_motion(f.inputs, q, v + way * e, workspace)) for way in (1.0, -1.0))
        dv[:, i] = 0.5 * (ahead - behind)


def force_derivative_by_differences(f: Function, point: Point, y: Vector, out: Matrix) -> None:
    """Write what J^T y changes by with q: five-point differences of the Jacobian."""
    out[:] = 0.0
    for i, factor, step in five_points(f.inputs.nv, np.flatnonzero(f.columns)):
        out[:, i] += factor * (y @ _jacobian(f, point, step))


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
    """A copy of the value of a user's function (n,), of a copy of q, without warnings.

    Raises:
        TypeError: it is complex.
    """
    with np.errstate(all="ignore"):
        value = np.array(f(q.copy()))
    if np.iscomplexobj(value):
        raise TypeError("the value of a function is complex")
    return value.astype(np.float64).reshape(-1)


def are_slopes(
    J: Matrix, f: Callable[[Vector], ArrayLike], q: Vector, value: Vector, space: Space, columns: Any = slice(None)
) -> bool:
    """Whether some columns of a Jacobian are those of central differences, as far as a shorter step changes nothing.

    Args:
        J: the columns.
        f: the function.
        q, value: where, and its value there.
        space: of the configurations.
        columns: which; all by default.
    """
    wide = slopes_of_numbers(f, q, space, value.size, STEP_OF_READING)[:, columns]
    if J.shape != wide.shape:
        return False
    sizes = 1.0 + np.abs(value) + np.abs(wide).max(axis=1, initial=0.0)
    apart = np.abs(J - wide) - SAME_SLOPE * sizes[:, None]
    if (apart <= 0.0).all():
        return True
    narrow = slopes_of_numbers(f, q, space, value.size, 0.25 * STEP_OF_READING)[:, columns]
    return bool((apart <= 2.0 * np.abs(wide - narrow)).all())  # beside a pole neither is exact


def slopes_of_numbers(f: Callable[[Vector], ArrayLike], q: Vector, space: Space, rows: int, step: float) -> Matrix:
    """The Jacobian by central differences, by coordinates that are numbers; others were never asked for."""
    J = np.zeros((rows, space.nv))
    for entry, column in zip(space.vector_q.tolist(), space.vector_v.tolist(), strict=True):
        ends = np.array([q, q])
        ends[:, entry] += -step, step
        behind, ahead = (called(f, end) for end in ends)
        J[:, column] = (ahead - behind) / (2.0 * step)
    return J


def complex_slopes(f: Callable[..., ArrayLike], q: Vector, value: Vector, entries: Indices) -> Matrix | None:
    r"""Derivatives (outputs.nv, entries) of a function by some coordinates, by complex steps: exact to rounding.

    .. math:: \partial_k f = \mathrm{Im}\, f(q + i h e_k) / h, \qquad h = 10^{-20}

    They count if they are those of `_by_steps` in one direction, in which each coordinate has a part.

    Args:
        f: the function.
        q, value: where, and its value there (outputs.nv,).
        entries: of q.

    Returns:
        None where they do not count, or where it takes no complex numbers.

    Source: Squire and Trapp, Using complex variables to estimate derivatives of real functions, 1998.
    """
    n = len(entries)
    try:
        test = 1.5 + np.cos(np.arange(n) + 1.0)
        return _by_steps(f, q, value, entries, np.eye(n), test[None], np.zeros(value.size))
    except Exception:  # differences say what a real number raises
        return None


def _by_steps(
    f: Callable[..., ArrayLike], q: Vector, value: Vector, entries: Indices, along: Matrix, tests: Matrix, sizes: Vector
) -> Matrix | None:
    r"""Slopes (outputs.nv, k) along k directions by complex steps; None where a test refutes them.

    Absolute values, norms, real parts and conjugates take complex numbers, and have no derivative as complex functions:
    their complex steps are wrong and look like numbers. An analytic f has one power series for real and imaginary
    steps. Its terms of second and third order cancel in

    .. math:: 2 r f'd = f(q + r d) - 2 f(q) + (\mathrm{Re} + \mathrm{Im}) f(q + i r d) + O(r^4)

    (r is `TEST_STEP`), where all of those functions have another slope than by their complex steps: \|q\| has d/2 here,
    and 0 there. Each row is held to its own size and to its own rounding, by which real parts differ from the value.

    Args:
        f, q, value, entries: as for `complex_slopes`.
        along: (k, entries) directions.
        tests: (m, k) combinations of them along which the slopes are tested, in two calls each.
        sizes: (outputs.nv,) of value and slopes of each row, at least; raised to those found here.
    """

    def at(step: Any) -> Any:
        there = q.astype(step.dtype)
        there[entries] += step
        return np.array(f(there), dtype=step.dtype).reshape(-1)

    found: Any = np.array([at(1j * COMPLEX_STEP * d) for d in along])
    if found.shape != (len(along), value.size):
        return None
    J: Matrix = found.imag.T / COMPLEX_STEP
    sizes[:] = np.maximum(sizes, np.abs(value) + np.abs(J).sum(axis=1))
    noise = np.abs(found.real - value).max(axis=0)
    if not (np.isfinite(sizes).all() and (noise <= SAME_VALUE * (1.0 + sizes)).all()):
        return None
    for test in tests:
        d = test @ along
        ahead, beside = at(TEST_STEP * d), at(1j * TEST_STEP * d)
        slope = (ahead - value + (beside.real - value) + beside.imag) / (2.0 * TEST_STEP)
        if not (np.abs(slope - J @ test) <= RESOLVED * sizes + 10.0 * noise / TEST_STEP).all():
            return None
    return J


def why_not_complex(f: Callable[..., ArrayLike], inputs: Space, outputs: Space, columns: BoolVector) -> str:
    """Why complex steps do not give the derivatives by coordinates that are numbers; empty where they do.

    They are tested at 8 random configurations (`_by_steps`): in each of n columns at the first two, in one random
    direction at the others, where the size of a row is the largest so far. That takes 26 + 6 n calls at most: 86 for
    n = 10, 206 for n = 30. Where it has no value (it is not finite, or raises an UndefinedError) nothing is tested;
    whatever else it raises ends the test.

    Args:
        f: the function.
        inputs, outputs: its spaces.
        columns: (inputs.nv,) what it may depend on.
    """
    entries = inputs.vector_q[columns[inputs.vector_v]]
    if not (outputs.is_flat and entries.size):
        return "complex steps need coordinates and values that are numbers"
    rng, agreed, taken = np.random.default_rng(1), 0, ""
    sizes = np.zeros(outputs.nv)
    for _ in range(TRIED_COMPLEX):
        q = inputs.integrate(inputs.neutral, rng.uniform(-REACH_OF_READING, REACH_OF_READING, inputs.nv))
        direction = rng.uniform(0.5, 1.0, entries.size) * rng.choice([-1.0, 1.0], entries.size)
        along = np.eye(entries.size) if agreed < TRIED_COLUMNS else direction[None]
        try:
            taken = "a real number"
            value = called(f, q)
            if value.size != outputs.nv:
                return "its value has another size"
            if not np.isfinite(value).all():
                continue
            taken = "a complex number"
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")  # of imaginary parts that are thrown away, which the test finds
                if _by_steps(f, q, value, entries, along, np.eye(len(along)), sizes) is None:
                    return "complex steps do not give its derivatives"
        except UndefinedError:
            continue
        except Exception as error:
            return f"it raises {type(error).__name__} for {taken}"
        agreed += 1
    return "" if 2 * agreed >= TRIED_COMPLEX else "it has a value at few configurations"


def automatic_slopes(library: str, f: Callable[..., ArrayLike], q: Vector, entries: Indices) -> Matrix:
    """Derivatives (outputs.nv, entries) of a function by some coordinates, by automatic differentiation.

    Args:
        library: one of `LIBRARIES`, whose numpy the function calls.
        f, q, entries: as for `complex_slopes`.
    """
    differentiate = getattr(sys.modules[library], LIBRARIES[library])
    J: Matrix = np.asarray(differentiate(f)(q.copy()), dtype=np.float64)
    return J.reshape(-1, q.size)[:, entries]


def differentiated_by(f: Callable[..., ArrayLike], inputs: Space, outputs: Space, columns: BoolVector) -> str:
    """The library that differentiates a function by coordinates that are numbers; empty where none does.

    Its derivatives must be the central differences at 8 random configurations, of which 4 have a value at least.

    Args:
        f, inputs, outputs, columns: as for `why_not_complex`.
    """
    entries, used = inputs.vector_q[columns[inputs.vector_v]], columns & np.isin(np.arange(inputs.nv), inputs.vector_v)
    for library in LIBRARIES if outputs.is_flat and entries.size else ():
        if library not in sys.modules:
            continue
        rng, agreed = np.random.default_rng(1), 0
        for _ in range(TRIED_COMPLEX):
            q = inputs.integrate(inputs.neutral, rng.uniform(-REACH_OF_READING, REACH_OF_READING, inputs.nv))
            try:
                value = called(f, q)
                if not np.isfinite(value).all():
                    continue
                J = automatic_slopes(library, f, q, entries)
                are_same = are_slopes(J, f, q, value, inputs, used)
            except UndefinedError:
                continue
            except Exception:  # numbers of the library are no numbers for it
                agreed = 0
                break
            if not are_same:
                agreed = 0
                break
            agreed += 1
        if 2 * agreed >= TRIED_COMPLEX:
            return library
    return ""
