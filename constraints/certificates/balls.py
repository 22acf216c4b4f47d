"""What comes of balls around centres: their premises and what the check takes of them, by arrays or by kernels."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector

from ..functions.frames.levers import AROUND
from ..solvers.kernels.loading import entrances
from ..solvers.machine import layout
from ..solvers.projection.engines import USUAL
from .check import Premises, contraction, distance, raised, spent, within
from .slice import Bounded, Slice, origins_and_rotations

if TYPE_CHECKING:
    from .samples import Around, KnownRows


class Balls(NamedTuple):
    """Balls around several centres.

    Attributes:
        numbers: premises of each.
        beta, rho: as in the check, or a little more.
        r: that is claimed, a little more than the check takes, whose sums may go in another order.
        is_short: whether margins may be used up.
    """

    numbers: Premises
    beta: Vector
    rho: Vector
    r: Vector
    is_short: BoolVector

    @staticmethod
    def of(numbers: Premises) -> Balls:
        """With these premises."""
        alpha, beta = contraction(numbers)
        rho = within(alpha, beta)
        is_short: Any = ~is_kept(numbers, rho).all(axis=1)
        return Balls(numbers, beta, rho, shown(numbers, rho), is_short)


def shown(numbers: Premises, rho: Any) -> Any:
    """The r that is claimed."""
    return raised(distance(numbers, rho))


def is_kept(numbers: Premises, rho: Vector) -> BoolVector:
    """(n, margins) which are not used up within rho."""
    return np.asarray(numbers.margins >= spent(numbers.rates, np.where(np.isfinite(rho), rho, 0.0)[:, None]))


class FoundByKernels(NamedTuple):
    """Of balls where rows are sampled.

    Attributes:
        balls: with sizes that are at most `reach`.
        reach: as `samples.Around.largest`.
        steps: Newton's, from the centres (n, nv).
    """

    balls: Balls
    reach: Vector
    steps: Matrix


def by_kernels(near: Around, at: Slice, start: Matrix, target: Vector, size: Vector) -> FoundByKernels | None:
    """The same formulas in one pass of `solvers/kernels/proofs.py`: 0.02 ms where arrays take 0.2.

    Args:
        near: rows around the centres.
        at: slices there.
        start: configurations that were asked about (n, nq), normalized.
        target: (m,) what rows in play should be.
        size: that is wanted of each, 0 for a likely one.

    Returns:
        None where there are no kernels, or no rows in play.
    """
    kernel, n, known = _kernel(), len(at.chosen), near.known
    if kernel is None or not n:
        return None
    *static, moves, bounds = known.packed
    k, nv = len(start), known.space.nv
    shapes = (n,), (n,), (n, n), (n, n), (nv,), (moves,), (moves, n), (bounds,), (bounds, n)
    out = np.empty((k, layout.ARRAYS + sum(map(prod, shapes))))
    out[:, layout.BALL] = size
    sampled = (near.E, near.J, at.basis, at.preconditioner, start, near.Q)
    flat = [np.ascontiguousarray(each).reshape(k, -1) for each in sampled]
    kernel(*static, at.chosen, target, near.exact, *flat, np.empty(3 * n * n + 2 * n + 3 * len(target)), out)
    arrays, first = list[Any](), layout.ARRAYS
    for shape in shapes:
        last = first + prod(shape)
        arrays.append(out[:, first:last].reshape(k, *shape))
        first = last
    low, high, least, most, steps, displaced, spread, margins, rates = arrays
    variation, size, beta, rho, r, reach, short = out[:, : layout.ARRAYS].T
    numbers = Premises(at.preconditioner, low, high, least, most, variation, size, displaced, spread, margins, rates)
    return FoundByKernels(Balls(numbers, beta, rho, r, short > 0.0), reach, steps)


def packed(known: KnownRows) -> tuple[Any, ...]:
    """The first arguments of the kernel, and how many entries `displaced` and `margins` have."""
    space, m, room = known.space, len(known.bends), Bounded.of(known.problem)
    shifts = np.full(m, -1.0)
    shifts[known.straight] = known.shift
    slides = [number for entries, _ in known.slides for number in (len(entries), *entries.tolist())]
    longest = [known.longest, *(length + 0.5 * AROUND for _, length in known.slides)]
    parts = [
        (q[0], len(q), v[0], len(v), int(part.turns))
        for part in origins_and_rotations(space)
        for q, v in zip(part.q.tolist(), part.v.tolist(), strict=True)
    ]
    coordinates = np.concatenate([space.vector_q, space.vector_v])
    columns = [*((v, 1) for v in room.columns.tolist()), *((v, end - v) for v, end in room.bodies)]
    entries = [(q, *v) for q, v in zip(room.entries.tolist(), columns, strict=True)]
    bent, far, base = known.bent, known.far, known.samples.base
    return (
        base, known.small, shifts, known.rounding, bent.numbers, bent.bend, far.numbers, far.bend, far.farthest,
        np.array(slides, dtype=np.intp), np.array(longest), np.array(parts, dtype=np.intp).reshape(-1), coordinates,
        np.array(entries, dtype=np.intp).reshape(-1), room.lower, room.upper,
        len(parts) + len(space.vector_q), len(room.lower),
    )  # fmt: skip


@cache
def _kernel() -> Any:
    return entrances().premises_of_balls if USUAL == "compiled" else None
