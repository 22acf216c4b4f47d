"""Parts of a path that are run through without a stop, and the configurations where it stops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import final

import numpy as np

from liegroups import Space
from liegroups.arrays import Matrix, Vector

from ...errors import FailedError
from ...linear_algebra import row_lengths
from ...paths.path import Path, Piece
from ...rows.right_hand_side import RightHandSide
from ...solvers import Options, Projector

FINE_THRESHOLD = 1e-10
"""Threshold of projections: a spline follows the noise of coarser ones, and its accelerations with it."""
FAR_FROM_EXACT = 50.0
"""Thresholds of a path by which a sample must not move to `FINE_THRESHOLD`: where constraints are nearly singular exact
points lie far off, and not beside each other. There points move by no more than their threshold asks for."""
WELL_WITHIN, JUST_WITHIN = 0.5, 0.75
"""Parts of a path's threshold: to which points are projected there, and to which they then are moved on this way."""
HALVINGS = 12
"""Of the way from a point to an exact one, to find where it comes within."""
SHARPEST = 0.0
"""A corner whose cosine is below this, of more than a right angle, is stopped at: to round it takes longer."""
APART = 1e-6
"""Samples nearer to each other have no direction [rad or m]: they are known to about `FINE_THRESHOLD`."""
ROUNDS = 20
"""Projections in turn onto the constraints before and after a stop, until it satisfies both."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Stretch:
    """Pieces of a path on one problem, from one stop to the next.

    Attributes:
        pieces: at least one, with samples that are projected to the threshold of `fine`; several have the same
            right-hand sides, which do not move.
        fine: projects onto their problem, as close as rounding allows; where it is nearly singular, to `WELL_WITHIN` of
            the path's threshold.
        entry: the first sample (nq,) as the path has it.
        number: of the piece of the path in which it begins.
    """

    pieces: tuple[Piece, ...]
    fine: Projector
    entry: Vector
    number: int

    @property
    def first(self) -> Piece:
        """Its first piece."""
        return self.pieces[0]

    @property
    def samples(self) -> tuple[Matrix, Vector]:
        """Samples (n, nq), each once, and for each the time in [0, 1] at which right-hand sides are asked (n,)."""
        rows = [piece.samples[min(i, 1) :] for i, piece in enumerate(self.pieces)]
        times = [piece.times[min(i, 1) :] for i, piece in enumerate(self.pieces)]
        return np.concatenate(rows), np.concatenate(times)

    def projected(self, Q: Matrix, times: Vector) -> Matrix:
        """Configurations (n, nq) on the constraints; errors as `projected`."""
        return projected(self.first, self.fine, Q, times)

    def side(self, at_end: bool) -> RightHandSide:
        """Right-hand sides at one end."""
        piece = self.pieces[-1 if at_end else 0]
        return piece.problem.check_rhs(piece.sides.at(1.0 if at_end else 0.0))


def projected(piece: Piece, fine: Projector, Q: Matrix, times: Vector) -> Matrix:
    """Configurations (n, nq) on the constraints of a piece: to the threshold of `fine`, or else as near as it goes.

    Args:
        piece: has the right-hand sides, and the threshold that must be kept.
        fine: the projector; if it is coarse, points move no farther than the threshold of the piece asks for.
        Q: starts (n, nq).
        times: in [0, 1], at which right-hand sides are asked (n,).

    Raises:
        FailedError: one does not come within the path's own threshold.
    """
    batch = fine.project_batch(Q, piece.sides.at_times(piece.problem, times))
    within = batch.success | (batch.residual <= piece.options.threshold)
    if not within.all():
        worst = batch[int(within.argmin())]
        raise FailedError(worst, f"a path cannot be timed: beside its samples {worst.status}")
    is_fine = fine.options.threshold <= FINE_THRESHOLD
    return batch.q if is_fine else _least_moved(piece, Q, batch.q, times)


def _least_moved(piece: Piece, Q: Matrix, found: Matrix, times: Vector) -> Matrix:
    """Starts (n, nq), moved towards solutions (n, nq) until they are just within the threshold of a piece."""
    space, moved, least = piece.problem.space, Q.copy(), JUST_WITHIN * piece.options.threshold
    for i in np.flatnonzero((Q != found).any(axis=1)):
        sides, low, high = piece.sides.at(float(times[i])), 0.0, 1.0
        if piece.projector.residual(Q[i], sides) <= least:
            continue
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if piece.projector.residual(space.interpolate(Q[i], found[i], middle), sides) <= least:
                high = middle
            else:
                low = middle
        moved[i] = space.interpolate(Q[i], found[i], high)
    return moved


def runs_of(path: Path, stop_at_corners: bool) -> tuple[Stretch, ...]:
    """The runs of a path.

    Args:
        path: the path.
        stop_at_corners: stop wherever pieces meet; else where their problems differ, and at sharp corners.

    Raises:
        FailedError: as `projected`.
    """
    fine = {id(piece.problem): Projector(piece.problem, _finer(piece.options, 0.0)) for piece in path.pieces}
    samples = [projected(piece, fine[id(piece.problem)], piece.samples, piece.times) for piece in path.pieces]
    coarse = {id(piece.problem): piece for piece, Q in zip(path.pieces, samples, strict=True) if _moves_far(piece, Q)}
    for key, piece in coarse.items():
        fine[key] = Projector(piece.problem, _finer(piece.options, WELL_WITHIN * piece.options.threshold))
    parts = list[Stretch]()
    for i, (piece, Q) in enumerate(zip(path.pieces, samples, strict=True)):
        own = fine[id(piece.problem)]
        near = projected(piece, own, piece.samples, piece.times) if id(piece.problem) in coarse else Q
        parts += _smooth_parts(piece, i, own, near)
    runs = parts[:1]
    for after in parts[1:]:
        before = runs[-1]
        if stop_at_corners or not _goes_on(before.pieces[-1], after.first):
            runs.append(after)
        else:
            runs[-1] = replace(before, pieces=before.pieces + after.pieces)
    return tuple(runs)


def _finer(options: Options, least: float) -> Options:
    """Options of a path for finer projections, to a threshold of at least `least`."""
    threshold = max(least, min(options.threshold, FINE_THRESHOLD))
    return replace(options, threshold=threshold, restarts=False, wrap=False, trace=False, nearest=False)


def _moves_far(piece: Piece, exact: Matrix) -> bool:
    """Whether exact points of a piece lie far from its samples."""
    moves = piece.problem.space.difference(piece.samples, exact)
    return float(np.abs(moves).max()) > FAR_FROM_EXACT * piece.options.threshold


def _smooth_parts(piece: Piece, number: int, fine: Projector, samples: Matrix) -> list[Stretch]:
    """A piece with finer samples, cut at its sharp corners."""
    ends = [0, *sharp_corners(piece.problem.space, samples), len(samples) - 1]
    return [Stretch((_cut(piece, samples, i, j),), fine, piece.samples[i], number) for i, j in pairwise(ends)]


def _cut(piece: Piece, samples: Matrix, i: int, j: int) -> Piece:
    """The part of a piece from one of its samples, which are given, to another."""
    t0, t1 = float(piece.times[i]), float(piece.times[j])
    times = (piece.times[i : j + 1] - t0) / (t1 - t0)
    return replace(piece, sides=piece.sides.between(t0, t1), samples=samples[i : j + 1], times=times)


def sharp_corners(space: Space, samples: Matrix) -> list[int]:
    """Samples at which a motion through all of them turns back."""
    steps = space.difference(samples[:-1], samples[1:])
    moving = np.flatnonzero(row_lengths(steps) > APART)
    before, after = steps[moving[:-1]], steps[moving[1:]]
    cosines = (before * after).sum(axis=1) / (row_lengths(before) * row_lengths(after))
    return moving[1:][cosines < SHARPEST].tolist()


def _goes_on(before: Piece, after: Piece) -> bool:
    """Whether two pieces have the same constraints, which do not move, and meet in no sharp corner."""
    sides = before.sides, after.sides
    if before.problem is not after.problem or any(side.first is None or side.last is not None for side in sides):
        return False
    vectors = [before.problem.check_rhs(side.first).vector for side in sides]
    near = np.concatenate([before.samples, after.samples[1:]])
    corner = len(before.samples) - 1
    return np.array_equal(vectors[0], vectors[1]) and corner not in sharp_corners(before.problem.space, near)


def stops_of(runs: tuple[Stretch, ...]) -> Matrix:
    """Configurations (n + 1, nq) at the ends of n runs: on the constraints of both sides.

    Where no such configuration is found near the sample of the path, that sample is taken: it satisfies both within the
    path's threshold.
    """
    between = [_between(before, after) for before, after in pairwise(runs)]
    return np.array([runs[0].first.samples[0], *between, runs[-1].pieces[-1].samples[-1]])


def _between(before: Stretch, after: Stretch) -> Vector:
    """Configuration at which one run ends and the next begins."""
    q, sides = after.entry, (before.side(True), after.side(False))
    for _ in range(ROUNDS):
        for run, rhs in zip((before, after), sides, strict=True):
            q = run.fine.project(q, rhs).q
        runs = zip((before, after), sides, strict=True)
        if all(run.fine.residual(q, rhs) <= run.fine.options.threshold for run, rhs in runs):
            return q
    return after.entry
