"""What is wrong with the projections of a block (`soundness_blocks.py`).

All rows are projected in one batch, of good starts and bad ones. Every third is judged by that; of the others a single
call is the result that is judged, and it must have the bits of the batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from plain_rows import Many
from soundness_blocks import UNIT, Block, Mask, make_block

from constraints import Projection, ProjectionBatch, Status

__all__ = ["faults", "forgetful"]

ROUNDING = 1e-9
"""Relative slack of the threshold: two formulas for one residual differ by rounding."""
Fault = tuple[int, str]
"""A row, and what is wrong with it."""


RESULT = ("q", "status", "iterations", "restarts", "residual", "success")
"""What is compared of results. Ends are records of these, and of `made`: rows that have a result; the others raised."""


def no_ends(n: int, nq: int) -> Any:
    """Ends of n rows that have no result yet."""
    kinds = ((np.float64, nq), object, np.int64, np.int64, np.float64, np.bool_)
    ends: Any = np.recarray(n, dtype=[*zip(RESULT, kinds, strict=True), ("made", np.bool_)])
    ends.q, ends.residual = np.nan, np.nan
    ends.status, ends.iterations, ends.restarts, ends.success, ends.made = None, 0, 0, False, False
    return ends


def take(ends: Any, i: int | slice, result: Projection | ProjectionBatch) -> None:
    """Those of a row, or of all."""
    for name in RESULT:
        ends[name][i] = getattr(result, name)
    ends.made[i] = True


def same(a: Any, b: Any) -> Mask:
    """Rows that are equal bit for bit."""
    counts = (a.iterations == b.iterations) & (a.restarts == b.restarts) & (a.status == b.status)
    return same_bits(a.q, b.q) & counts & (a.residual.view(np.int64) == b.residual.view(np.int64))


def where(mask: Mask) -> list[int]:
    """Rows of a mask."""
    rows: list[int] = np.flatnonzero(mask).tolist()
    return rows


def same_bits(A: Many, B: Many) -> Mask:
    """Rows that are equal bit for bit."""
    return (A.view(np.int64) == B.view(np.int64)).all(axis=1)


def faults(block: Block, rows: int | None = None) -> tuple[Counter[str], list[Fault]]:
    """Statuses of the projections of the first rows of a block, and what is wrong with each.

    One batch has all rows; every third is judged by it, the others by single calls, which must have its bits.
    """
    starts = block.starts[:rows].copy()
    ends, found = _ends(block, starts)
    found += _judged(block, starts, ends, found)
    names = [str(getattr(s, "name", s)) if made else "raised" for s, made in zip(ends.status, ends.made, strict=True)]
    return Counter(names), sorted(found, key=lambda fault: fault[0])


def _ends(block: Block, starts: Many) -> tuple[Any, list[Fault]]:
    """Results by one batch and by single calls, and what is wrong with how they were made."""
    n, nq = starts.shape
    batch, ends, found = no_ends(n, nq), no_ends(n, nq), list[Fault]()
    given = starts.copy()
    try:
        results = block.project_batch(given)
        if np.shares_memory(results.q, given):
            found.append((0, "the results of the batch are the starts' memory"))
        take(batch, slice(None), results)
    except Exception as error:
        found.append((0, f"the batch raised {type(error).__name__}: {error}"))
    changed = ~same_bits(given, starts)
    given = starts.copy()
    for i, q0 in enumerate(given):
        if i % 3 == 0:
            continue
        try:
            result = block.project(q0)
        except Exception as error:
            found.append((i, f"raised {type(error).__name__}: {error}"))
            continue
        if result.q.shape != q0.shape or np.shares_memory(result.q, q0):
            found.append((i, "the result has another shape, or is the start's memory"))
        else:
            take(ends, i, result)
    changed |= ~same_bits(given, starts)
    found += [(i, "the start was changed") for i in where(changed)]
    apart = batch.made & ends.made & ~same(batch, ends)
    found += [(i, f"the single call gives {_told(ends, i)}, the batch {_told(batch, i)}") for i in where(apart)]
    ends[::3] = batch[::3]
    return ends, found


def _told(ends: Any, i: int) -> str:
    status, figures = ends.status[i], (ends.iterations[i], ends.restarts[i], ends.residual[i])
    return f"{getattr(status, 'name', status)} after {figures[0]} iterations, {figures[1]} restarts, {figures[2]!r}"


def _judged(block: Block, starts: Many, ends: Any, found: list[Fault]) -> Iterator[Fault]:
    """What is wrong with results."""
    options, q, n = block.projector.options, ends.q, len(starts)
    unsound = np.zeros(n, dtype=np.bool_)
    unsound[[i for i, _ in found]] = True

    def those(mask: Mask, words: Callable[[int], str]) -> Iterator[Fault]:
        rows = where(mask & ends.made)
        unsound[rows] = True
        yield from ((i, words(i)) for i in rows)

    known = np.array([isinstance(status, Status) for status in ends.status], dtype=np.bool_)
    unlike = ~known | (ends.success != (ends.status == Status.CONVERGED))
    yield from those(unlike, lambda i: f"status {ends.status[i]!r}, success {bool(ends.success[i])}")
    residual, success = ends.residual, ends.success
    finite = np.isfinite(q).all(axis=1) & ~np.isnan(residual) & (np.isfinite(residual) | ~success)
    yield from those(~finite, lambda i: f"not finite: residual {residual[i]}, q {q[i]}")
    budget = options.max_iterations + options.refine_iterations * (options.nearest or options.optimise_last)
    yield from those(ends.iterations > budget, lambda i: f"{ends.iterations[i]} iterations of {budget}")
    off0 = block.off_unit(starts)
    moved = np.abs(q[:, block.frozen] - starts[:, block.frozen]).max(axis=1, initial=0.0)
    thawed = moved > np.where(off0 > 1e-12, UNIT, 0.0)  # unit vectors are normalised
    yield from those(thawed, lambda i: "a frozen joint moved")
    rows = where(ends.made & finite)
    error, turned = np.full(n, np.nan), np.ones(n, dtype=np.bool_)
    error[rows], turned[rows] = block.measure(q[rows])
    off, looked = block.off_unit(q), np.zeros(n, dtype=np.bool_)
    looked[rows] = True
    scale = max((float(one.rows.scale.max(initial=1.0)) for one in block.projector.problem.constraints), default=1.0)
    slack = 1e-12 + 10.0 * scale * off  # a unit vector that is off, of a joint that stays as given, has no exact pose
    limit = options.threshold * (1.0 + ROUNDING) + slack
    claims = looked & success

    def too_far(i: int) -> str:
        return f"claims success, but its error is {error[i]:.6g} (threshold {options.threshold:g})"

    def outside(i: int) -> str:
        by = np.maximum(block.lower - q[i], q[i] - block.upper)
        return f"claims success, but entry {by.argmax()} is {by.max():.3g} outside its bounds"

    yield from those(claims & ~(error <= limit), too_far)
    yield from those(claims & ~block.inside(q), outside)
    allowed = np.where(off0 < 1e-9, 1e-9, UNIT * (1 + 1e-6))
    yield from those(claims & (off > allowed), lambda i: f"claims success, but a unit vector is {off[i]:.3g} off")
    if not options.optimise_last:  # which may go on from a solution
        yield from _again(block, ends, where(claims & ~unsound))
        yield from _kept(block, starts, ends, looked & ~(success & (ends.iterations == 0)))
    lies = looked & ~turned & np.isfinite(residual)
    lies[lies] = ~(np.abs(error[lies] - residual[lies]) <= 1e-8 * (1.0 + residual[lies]) + slack[lies])
    yield from those(lies, lambda i: f"says its residual is {residual[i]:.9g}, but it is {error[i]:.9g}")


def _again(block: Block, ends: Any, rows: list[int]) -> Iterator[Fault]:
    """Projecting solutions, all of them in one batch, gives them back bit for bit."""
    if not rows:
        return
    again = no_ends(len(rows), ends.q.shape[1])
    try:
        take(again, slice(None), block.project_batch(ends.q[rows]))
    except Exception as error:
        yield rows[0], f"the batch of solutions raised {type(error).__name__}: {error}"
        return
    for k in where(~(same_bits(again.q, ends.q[rows]) & (again.iterations == 0) & again.success)):
        distance = np.abs(again.q[k] - ends.q[rows[k]]).max()
        yield rows[k], f"projected again, its solution ends as {_told(again, k)} at distance {distance:.3g}"


def _kept(block: Block, starts: Many, ends: Any, asked: Mask) -> Iterator[Fault]:
    """Starts that are solutions come back bit for bit, so of what moved none was one."""
    rows = where(asked & block.inside(starts))
    error, turned = block.measure(starts[rows])
    for k in where(~turned & (error <= 0.999 * block.projector.options.threshold - 1e-12)):
        words = f"its start has the error {error[k]:.3g} and is within bounds, but it ends as {_told(ends, rows[k])}"
        yield rows[k], words


def forgetful(seed: int, number: int, block: Block, i: int, engine: str = "readable") -> list[str]:
    """A projection by a block that was made anew is that of one that has been used, bit for bit."""
    fresh = make_block(seed, number, engine)
    try:
        one, other = block.project(block.starts[i]), fresh.project(fresh.starts[i])
    except Exception as error:
        return [f"raised {type(error).__name__}: {error}"]
    same = one.q.tobytes() == other.q.tobytes() and one.status is other.status and one.iterations == other.iterations
    return (
        []
        if same
        else [f"start {i} gives {one} after others, {other} alone, apart {np.abs(one.q - other.q).max():.3g}"]
    )
