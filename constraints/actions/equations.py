"""What nodes of contact dynamics and of impacts share: damping, armature, both equations, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liegroups.arguments import as_tolerance, finite_vector, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ..dynamics.derivatives import EquationChanges, SolutionSlopes, damped_slopes, saddle_slopes, slopes_of_balance
from ..dynamics.methods.cholesky import by_blocks
from ..dynamics.methods.row_space import RowSpace
from ..dynamics.methods.saddle_point import solve_direct
from ..dynamics.methods.status import DynamicsStatus
from ..dynamics.methods.system import status_of
from ..errors import OptionError
from ..loops import ConstraintSet
from ..loops.set_rows import SetRows
from ..rows.right_hand_side import RightHandSide


def damping_of(damping: object, what: str) -> float:
    """A damping from a user: a finite number that is not negative.

    Raises:
        WrongObjectError: no number, or a negative one.
        OptionError: infinity.
    """
    number = as_tolerance(damping, f"damping of {what}")
    if number == np.inf:
        raise OptionError(f"damping of {what}: expected a finite number, got inf")
    return number


def armature_of(armature: ArrayLike | float, nv: int) -> Vector:
    """An armature from a user: one number, or one a coordinate.

    Raises:
        SizeError, DtypeError, NotFiniteError: no numbers, or not so many.
        OptionError: a negative one.
    """
    numbers = real_numbers(armature, "armature")
    whole = np.array(finite_vector(np.full(nv, numbers) if numbers.ndim == 0 else numbers, nv, "armature"))
    if (whole < 0.0).any():
        raise OptionError(f"armature: expected no negative numbers, got {whole.min():g}")
    return read_only(whole)


def solved_by_rows(
    constraint_set: ConstraintSet,
    M: Matrix,
    force: Vector,
    rows: SetRows,
    gamma: Vector,
    damping: float,
    size: Callable[[], float],
) -> tuple[Vector, Vector, DynamicsStatus, RowSpace | None]:
    r"""Solve :math:`M a = f + J^T \lambda`, :math:`J a + \mu\lambda = \gamma` by the library's own rows.

    Returns a (nv,) and lambda (size,), NaN where there is no solution, the status, and the rows where their rank was
    needed; `size` is that of `RowSpace.independent`.
    """
    quick = by_blocks(M, constraint_set.pick(rows.jacobian), force, constraint_set.pick(gamma), damping)
    if quick is not None:
        return quick[0], constraint_set.spread(quick[1]), DynamicsStatus.SOLVED, None
    status, space = DynamicsStatus.SINGULAR_MASS, None
    if not damping:
        found = solve_direct(M, rows.jacobian, force, gamma, size=size(), rounding=constraint_set.rounding)
        status, space = status_of(found, constraint_set, rows), found.row_space
        if status.is_success or status is DynamicsStatus.INCONSISTENT:
            return found.acceleration, found.multipliers, status, space
    return np.full(len(M), np.nan), np.full(len(gamma), np.nan), status, space


def slopes_at(
    constraint_set: ConstraintSet,
    q: Vector,
    M: Matrix,
    balance: EquationChanges,
    multipliers: Vector,
    data: Any,
    damping: float,
    rhs: RightHandSide | None = None,
    is_independent: bool = False,
) -> SolutionSlopes | None:
    """Derivatives of accelerations and multipliers, from what both equations change by.

    Args:
        constraint_set: whose rows.
        q: where (nq,).
        M: mass matrix (nv, nv), with armature.
        balance: at the solution.
        multipliers: of the rows (size,).
        data: of pinocchio, for the elementary tree; overwritten.
        damping: mu.
        rhs: right-hand sides; the default ones if absent.
        is_independent: whether it is known that the rows that are on are independent, and the mass is not light.

    Returns:
        None where there are none: the rank of the rows changes beside the state, or a matrix is singular.
    """
    on = constraint_set.on_rows
    if len(on) == constraint_set.size and is_independent:
        return damped_slopes(M, balance, damping)
    if len(on) < constraint_set.size:
        rows = balance.rows._replace(jacobian=balance.rows.jacobian[on])
        part = balance._replace(rows=rows, row_q=balance.row_q[on], row_v=balance.row_v[on])
        space = None if damping or is_independent else RowSpace(rows.jacobian, constraint_set.rounding)
        if space is None or (space.is_full and space.rank == len(on)):
            some = damped_slopes(M, part, damping) or (None if damping else saddle_slopes(M, part))
            return None if some is None else _spread_slopes(some, constraint_set.spread)
    return slopes_of_balance(constraint_set, q, M, balance, multipliers, data, damping, rhs)


def differentiated(status: DynamicsStatus | None) -> DynamicsStatus:
    """The status of derivatives where there are some, from that of a solution."""
    return DynamicsStatus.RANK_DEFICIENT if status is DynamicsStatus.RANK_DEFICIENT else DynamicsStatus.SOLVED


def rough_parts(tree: Any) -> tuple[str, ...]:
    """What of a tree of elementary joints is differentiated by differences."""
    return () if tree.is_exact else ("inertia of ellipsoid joints",)


def _spread_slopes(some: SolutionSlopes, spread: Callable[[Matrix], Matrix]) -> SolutionSlopes:
    l_q, l_v, l_tau = (spread(each) for each in (some.l_q, some.l_v, some.l_tau))
    a_gamma = spread(some.a_gamma.T).T
    l_gamma = spread(spread(some.l_gamma).T).T
    return SolutionSlopes(some.a_q, some.a_v, some.a_tau, l_q, l_v, l_tau, a_gamma, l_gamma)
