"""Reading what a user gives for many rows: starts and right-hand sides, checked before any work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroups import Space
from liegroups.arguments import expect, refuse_masked
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector
from liegroups.frozen import read_only, read_only_copy

from ...errors import BatchRowError, ConstraintError, DtypeError, NotFiniteError, SizeError
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...words import counted
from .workers import Sides

BatchRightHandSides = RightHandSide | Sequence[RightHandSide] | ArrayLike
"""One right-hand side for all rows (a RightHandSide, a flat vector), or one a row (a sequence of them, a matrix)."""


def starts_of(space: Space, Q: ArrayLike, what: str = "Q") -> Matrix:
    """Configurations as a new float64 array (n, nq); the first bad row is named."""
    array = _numbers(Q, what, f"(n, {space.nq})")
    if array.ndim != 2 or array.shape[1] != space.nq:
        hint = "one configuration per row; a single one is [q]"
        if not array.size:
            hint = f"for no configurations, give np.zeros((0, {space.nq}))"
        raise SizeError(f"{what} of {space.name}", f"(n, {space.nq})", array.shape, hint)
    with np.errstate(over="ignore"):
        starts = np.array(array, dtype=np.float64, order="C")
        for i in suspects(starts, space).tolist():
            space.check(starts[i], f"row {i} of {what}")
    return starts


def references_of(space: Space, near: ArrayLike, n: int) -> Vector | Matrix:
    """One reference (nq,) for all rows, or one a row (n, nq), checked; read-only."""
    if _numbers(near, "near").ndim != 2:
        return read_only_copy(space.check(near, "near"))  # results hold them
    references = read_only(starts_of(space, near, "near"))
    if len(references) != n:
        raise SizeError("near", f"one, or one for each of the {counted(n, 'row')} of Q", len(references))
    return references


def suspects(points: Matrix, space: Space) -> Indices:
    """Rows that are not finite, or whose unit blocks are about as far from norm 1 as is accepted, or further."""
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.vdot(points, points) < np.inf  # most batches, in a fifth of the time that all rows take
        good: Any = np.ones(len(points), dtype=np.bool_) if finite else np.isfinite(points).all(axis=1)
        if space.unit_blocks:
            norms = (points * points).dot(space.layout.unit_columns)
            good &= (np.abs(norms - 1.0) < 1e-6).all(axis=1)  # a norm within 5e-7 of 1
    return np.flatnonzero(~good)


def sides_of(problem: Problem, rhs: BatchRightHandSides | None, n: int) -> Sides:
    """Right-hand sides, checked: one, or as many as there are rows; the first bad row is named."""
    if rhs is None or isinstance(rhs, RightHandSide):
        return problem.check_rhs(rhs)
    given: Any = rhs
    listed: list[Any] = list(given) if isinstance(rhs, list | tuple) else []
    if n == 0 and isinstance(rhs, list | tuple) and not listed:
        return problem.rhs  # one a row, of no row
    if any(isinstance(side, RightHandSide) for side in listed):
        _as_many(len(listed), n)
        for i, side in enumerate(listed):
            expect(side, RightHandSide, f"row {i} of rhs", "a RightHandSide, like the others")
        return [_row_of(problem, i, side) for i, side in enumerate(listed)]
    array = _numbers(given, "right-hand sides (rhs)")
    return _flat_sides(problem, array, n) if array.ndim == 2 else problem.check_rhs(array)


def _flat_sides(problem: Problem, array: NDArray[Any], n: int) -> Matrix:
    """Flat vectors (n, size): looked at all at once, and one by one where there is a doubt."""
    stack = problem.constraints
    _as_many(len(array), n)
    if array.shape[1] != stack.rhs_size:
        raise SizeError("right-hand sides (rhs)", f"({n}, {stack.rhs_size})", array.shape)
    with np.errstate(over="ignore"):
        sides = np.array(array, dtype=np.float64, order="C")
    for i in np.flatnonzero(~np.isfinite(sides).all(axis=1)).tolist():
        raise NotFiniteError(f"row {i} of rhs", np.flatnonzero(~np.isfinite(sides[i])).tolist())
    doubtful: set[int] = set()
    for owner, block in zip(stack, stack.rhs_slices, strict=True):
        points, fixed = sides[:, block], ~owner.rows.free_rhs
        doubtful.update(suspects(points, owner.group).tolist())
        if fixed.any():  # rows that take none: zero to rounding, or looked at below
            with np.errstate(all="ignore"):
                far = ~(np.abs(owner.group.log(points)[:, fixed]).max(axis=1) <= 1e-13)
            doubtful.update(np.flatnonzero(far).tolist())
    for i in sorted(doubtful):
        _row_of(problem, i, sides[i])
    return sides


def _numbers(values: Any, what: str, shape: str = "with a row for each") -> NDArray[Any]:
    """An array of real numbers, of any shape."""
    refuse_masked(values, what)
    try:
        array: NDArray[Any] = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise DtypeError(what, f"{type(values).__name__} ({error})") from error
    if array.dtype.kind not in "iuf":
        advice = f"a {type(values).__name__}: give a matrix {shape}, np.array(list(...))"
        raise DtypeError(what, advice if isinstance(values, Iterator) else array.dtype)
    return array


def _as_many(count: int, n: int) -> None:
    if count != n:
        raise SizeError("right-hand sides (rhs)", f"one, or one for each of the {counted(n, 'row')} of Q", count)


def _row_of(problem: Problem, row: int, side: RightHandSide | Vector) -> RightHandSide:
    """One row, checked."""
    try:
        return problem.check_rhs(side)
    except ConstraintError as error:
        raise BatchRowError("rhs", row, str(error)) from error
