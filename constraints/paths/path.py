"""Paths on constraint manifolds: samples close enough to each other that nothing jumps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast, final

import numpy as np

from liegroups.arguments import as_tuple, expect, finite_vector, is_finite_number, is_float64, stacked
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ..errors import FailedError, OperatorError, OptionError, PathError, SizeError, SpaceMismatchError, WrongObjectError
from ..exports import from_above
from ..keywords import NamesChecked
from ..problem.problem import Problem
from ..problem.steps import Jump as Jump, StepSize as StepSize
from ..solvers import Options, Projection, Projector
from ..solvers.projection.batch_arguments import suspects
from ..words import counted
from .length import lengths_between
from .moving_rhs import MovingRightHandSide

if TYPE_CHECKING:
    from ..certificates.path_certificate import PathCertificate
    from ..certificates.paths.path_search import PathLimits
    from ..collisions.model import CollisionModel

TOGETHER = 1e-6
"""Largest tangent distance between the end of a piece and the start of the next [rad or m]."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Piece:
    """Part of a path on one problem: samples, and what is between them.

    Args:
        problem: the constraints.
        sides: right-hand sides along the piece.
        samples: configurations (n, nq), n at least 2.
        times: of the samples (n,), rising from 0 to 1.
        options: of the projections between the samples.
        projector: what does them, of this problem with these options; by default a new one.

    Raises:
        SizeError: fewer than two samples, not as many times, or samples of another size.
        NotFiniteError, NotNormalizedError, DtypeError: what is wrong with a sample or a time.
        PathError: times that do not rise from 0 to 1, or a projector of something else.
        WrongObjectError: an argument that is something else.
        SpaceMismatchError: right-hand sides of other constraints.
    """

    problem: Problem
    sides: MovingRightHandSide
    samples: Matrix
    times: Vector
    options: Options
    projector: Projector = field(default=cast("Projector", None), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        """Check the arguments, and own the arrays."""
        for name, kind in (("problem", Problem), ("sides", MovingRightHandSide), ("options", Options)):
            expect(getattr(self, name), kind, f"{name} of a piece of a path", f"a {kind.__name__}")
        if self.sides.first is not None:
            self.problem.check_rhs(self.sides.first)
        samples = _checked(self.problem, self.samples)
        times = np.array(finite_vector(self.times, len(samples), "times of a piece of a path"))
        if times[0] != 0.0 or times[-1] != 1.0 or not (np.diff(times) > 0.0).all():
            raise PathError(f"times of a piece of a path must rise from 0 to 1, got {_shortened(times)}")
        self.options.without_clock("of a piece of a path")
        projector = cast("Projector | None", self.projector) or Projector(self.problem, self.options)
        expect(projector, Projector, "projector of a piece of a path")
        if projector.problem is not self.problem or projector.options != self.options:
            raise PathError(f"projector of a piece of a path: expected one of its problem and options, got {projector}")
        set_fields(self, samples=read_only(samples), times=read_only(times), projector=projector)

    def at(self, time: float) -> Vector:
        """Configuration (nq,) at a time in [0, 1]: a sample as it is; between two, their interpolation, projected.

        Before the first sample it is that one, after the last one that.

        Raises:
            FailedError: the projection did not succeed.
        """
        i = int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.times) - 2))
        t0, t1 = float(self.times[i]), float(self.times[i + 1])
        if time <= t0 or time >= t1:
            return self.samples[i if time <= t0 else i + 1]
        q = self.problem.space.interpolate(self.samples[i], self.samples[i + 1], (time - t0) / (t1 - t0))
        return self._reached(self.projector.project(q, self.sides.at(time)), time).q

    def at_times(self, times: ArrayLike) -> Matrix:
        """Configurations (n, nq) at several times, each as `at` gives it; the projections are a batch.

        Raises:
            FailedError: a projection did not succeed; the first is told.
        """
        t = np.atleast_1d(np.asarray(times, dtype=np.float64))
        i = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        t0, t1 = self.times[i], self.times[i + 1]
        between = np.flatnonzero((t > t0) & (t < t1))
        Q = self.samples[np.where(t >= t1, i + 1, i)]
        if between.size:
            k, part = i[between], ((t - t0) / (t1 - t0))[between]
            starts = self.problem.space.interpolate(self.samples[k], self.samples[k + 1], part)
            batch = self.projector.project_batch(starts, self.sides.at_times(self.problem, t[between]))
            if not batch.success.all():
                first = int(batch.success.argmin())
                self._reached(batch[first], float(t[between[first]]))
            Q[between] = batch.q
        return Q

    def _reached(self, projection: Projection, time: float) -> Projection:
        """The projection, if it succeeded."""
        if not projection.success:
            words = f"at time {time:.6g} of the piece the constraints are not reached: {projection.status}"
            raise FailedError(projection, words)
        return projection

    def reversed(self) -> Piece:
        """The piece, run backwards."""
        sides, samples, times = self.sides.between(1.0, 0.0), self.samples[::-1], 1.0 - self.times[::-1]
        return Piece(self.problem, sides, samples, times, self.options, projector=self.projector)

    def error(self, times: ArrayLike) -> float:
        """Largest residual at these times."""
        listed = np.asarray(times, dtype=np.float64).tolist()
        residual, at = self.projector.residual, self.sides.at
        return max([residual(q, at(t)) for q, t in zip(self.at_times(listed), listed, strict=True)], default=0.0)

    def max_error(self) -> float:
        """Largest residual at the samples and half-way between them."""
        rhs, program = self.sides.constant, self.projector.program.edges
        if rhs is not None and program is not None:
            edges = program.run(self.samples[:-1], self.samples[1:], rhs, inf, inf)
            if not edges.status.any():
                return float(self.projector.residuals(np.concatenate([self.samples, edges.middles]), rhs).max())
        return self.error(_with_middles(self))

    def __repr__(self) -> str:
        return f"Piece({counted(len(self.samples), 'sample')} on {', '.join(self.problem.constraints.names)})"


def _with_middles(piece: Piece) -> Vector:
    """Times of all samples, then those half-way between them."""
    return np.concatenate([piece.times, 0.5 * (piece.times[1:] + piece.times[:-1])])


class Held(NamedTuple):
    """A constraint that a path holds.

    Attributes:
        name: of the constraint.
        error: its largest error norm along the path, in the units of its rows.
    """

    name: str
    error: float

    def __str__(self) -> str:
        return f"{self.name}, largest error {self.error:.3g}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Path(NamesChecked):
    """A motion on constraints: a sequence of pieces, each with its own constraints.

    `path(t)` is the configuration at time t, on the constraints of its piece up to their threshold. Samples are stored;
    between them configurations are interpolated on the space and projected. `interpolate` makes paths.

    Args:
        pieces: at least one; each starts at the end of the one before.
        durations: durations of the pieces [s], positive; 1 each by default.

    Attributes:
        duration: of the whole path.

    Raises:
        PathError: no piece, one that does not start at the end of the one before, or a duration that is not positive.
        WrongObjectError: something that is not a Piece.
        SpaceMismatchError: pieces in different spaces.
    """

    pieces: tuple[Piece, ...]
    durations: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Check that the pieces meet."""
        pieces = as_tuple(self.pieces, "pieces of a path", "Pieces of other paths (path.pieces)")
        if not pieces:
            raise PathError("pieces of a path: expected at least one, got none")
        for piece in pieces:
            expect(piece, Piece, "piece of a path", "a Piece of another path (path.pieces)")
        seconds = as_tuple(self.durations, "durations of a path", "one number per piece") or (1.0,) * len(pieces)
        if len(seconds) != len(pieces) or not all(is_finite_number(d) and d > 0.0 for d in seconds):
            raise PathError(
                f"durations of {counted(len(pieces), 'piece')} must be one positive number per piece, got {seconds}"
            )
        durations = tuple(float(d) for d in seconds)
        space = pieces[0].problem.space
        for i, (before, after) in enumerate(pairwise(pieces), start=1):
            if after.problem.space != space:
                raise SpaceMismatchError(f"piece {i} of a path", space.name, after.problem.space.name)
            gap = float(np.abs(space.difference(before.samples[-1], after.samples[0])).max(initial=0.0))
            if gap > TOGETHER:
                raise PathError(f"piece {i} must start where piece {i - 1} ends, it starts {gap:.3g} rad or m away")
        set_fields(self, pieces=pieces, durations=durations)

    @staticmethod
    def through(problem: Problem | Projector, Q: ArrayLike, **options: Any) -> Path:
        """The path through waypoints: `interpolate` from each one to the next, a piece each, of 1 s.

        Args:
            problem: the constraints; or a projector for them, which makes its memory once for all pieces.
            Q: waypoints (n, nq), two or more, which satisfy the constraints.
            **options: those of `interpolate`, and `rhs`.

        Raises:
            FailedError: a piece does not reach its end; it names the two rows and carries the interpolation.
            SizeError, NotFiniteError, NotNormalizedError: what is wrong with a waypoint, or there is only one.
        """
        from .interpolation import interpolate

        expect(problem, (Problem, Projector), "problem of a path", "a Problem, or a Projector of one")
        nq = (problem if isinstance(problem, Problem) else problem.problem).space.nq
        rows = stacked(Q, nq, "waypoints of a path", "one configuration a row")
        if rows.ndim != 2 or len(rows) < 2:
            raise SizeError("waypoints of a path", f"(n, {nq}), n at least 2", rows.shape)
        pieces: list[Piece] = []
        for i, (q0, q1) in enumerate(pairwise(rows)):
            found = interpolate(problem, q0, q1, **options)
            if found.path is None or not found.success:
                raise FailedError(found, f"waypoints {i} and {i + 1}: {found}")
            pieces += found.path.pieces
        return Path(tuple(pieces))

    @property
    def duration(self) -> float:
        """Duration of the whole path [s]."""
        return float(sum(self.durations))

    @property
    def length(self) -> float:
        """Sum of the distances between samples, over free dofs: root of the sum of squares, in rad and m alike."""
        return float(sum(lengths_between(p.problem, p.samples[:-1], p.samples[1:]).sum() for p in self.pieces))

    @property
    def start(self) -> Vector:
        """First configuration (nq,)."""
        return self.pieces[0].samples[0]

    @property
    def end(self) -> Vector:
        """Last configuration (nq,)."""
        return self.pieces[-1].samples[-1]

    @property
    def samples(self) -> Matrix:
        """All samples (n, nq); where two pieces meet, both."""
        return np.concatenate([piece.samples for piece in self.pieces])

    @property
    def times(self) -> Vector:
        """Times of the samples (n,)."""
        begun = np.cumsum((0.0, *self.durations[:-1]))
        return np.concatenate([
            t + d * piece.times for t, d, piece in zip(begun, self.durations, self.pieces, strict=True)
        ])  # fmt: skip

    def __call__(self, time: float) -> Vector:
        """Configuration (nq,) at a time in [0, duration], to rounding (1e-9 of the duration).

        Raises:
            WrongObjectError: a time that is no finite number.
            OptionError: a time before or after the path.
            FailedError: a projection between two samples did not succeed.
        """
        several = "" if np.ndim(time) == 0 else "; of several times, [path(t) for t in times]"
        left = time_within(time, self.duration, "path", several)
        for piece, duration in zip(self.pieces, self.durations, strict=True):
            if left <= duration or piece is self.pieces[-1]:
                return piece.at(left / duration)
            left -= duration
        return self.end

    def __add__(self, other: Path) -> Path:
        """This path, then the other, which starts where this one ends."""
        expect(other, Path, "path to be added")
        return Path(self.pieces + other.pieces, self.durations + other.durations)

    if not TYPE_CHECKING:

        def __radd__(self, other: object) -> NoReturn:
            """Refused: there is no path to start with, as the 0 of `sum(paths)`.

            Raises:
                OperatorError: says how several paths are joined.
            """
            raise OperatorError(f"{type(other).__name__} + Path", "`sum(paths[1:], paths[0])` joins several paths")

    def reversed(self) -> Path:
        """The path run backwards."""
        return Path(tuple(piece.reversed() for piece in self.pieces[::-1]), self.durations[::-1])

    def lasting(self, duration: float) -> Path:
        """The same path with another duration [s]."""
        if not is_finite_number(duration) or duration <= 0.0:
            raise PathError(f"duration of a path: expected a positive number of seconds, got {duration!r}")
        factor = duration / self.duration
        return Path(self.pieces, tuple(factor * d for d in self.durations))

    def max_error(self) -> float:
        """Largest residual at all samples and half-way between them; elsewhere up to `piece.options.threshold`."""
        return max(piece.max_error() for piece in self.pieces)

    def held(self) -> tuple[Held, ...]:
        """The constraints that are held along the path, with the largest error of each where `max_error` looks."""
        worst = dict[str, float]()
        for piece in self.pieces:
            times = _with_middles(piece).tolist()
            for q, t in zip(piece.at_times(times), times, strict=True):
                for label, norm in piece.problem.constraints.norms(piece.problem.error(q, rhs=piece.sides.at(t))):
                    worst[label] = max(worst.get(label, 0.0), float(norm))
        return tuple(Held(*each) for each in worst.items())

    def max_jump(self) -> Jump:
        """Largest distances between consecutive samples."""
        jumps = [StepSize(p.problem).between(p.samples[:-1], p.samples[1:]) for p in self.pieces]
        return Jump(max(j.angle for j in jumps), max(j.length for j in jumps))

    def certify(
        self, collisions: CollisionModel | Sequence[CollisionModel] | None = None, *, limits: PathLimits | None = None
    ) -> PathCertificate:
        """Prove that the path does not jump: see `constraints.certificates.certify_path`.

        Args:
            collisions: what must be free; one model, or one for each piece.
            limits: when to give up.

        Raises:
            WrongObjectError, SpaceMismatchError: what is wrong with an argument.
        """
        return from_above("certify_path")(self, collisions, limits=limits)

    def __repr__(self) -> str:
        count = sum(len(piece.samples) for piece in self.pieces)
        return f"Path({counted(len(self.pieces), 'piece')}, {counted(count, 'sample')}, {self.duration:g} s)"


def time_within(time: object, duration: float, what: str, several: str) -> float:
    """A time in [0, duration], to rounding (1e-9 of the duration).

    Raises:
        WrongObjectError: a time that is no finite number; `several` is said then.
        OptionError: a time before or after what it is on.
    """
    if not is_finite_number(time):
        raise WrongObjectError(f"time on a {what}", f"a finite number of seconds{several}", time)
    seconds, slack = float(time), 1e-9 * duration
    if not -slack <= seconds <= duration + slack:
        raise OptionError(
            f"time on a {what}: {seconds:g} s is outside [0, {duration:g}]; give max(0, min(t, {what}.duration))"
        )
    return seconds


def _checked(problem: Problem, samples: Matrix) -> Matrix:
    """Samples of a piece, at least two, as an array of its own."""
    if is_float64(samples) and samples.shape[1:] == (problem.space.nq,):
        rows, doubtful = np.array(samples), suspects(samples, problem.space).tolist()
    else:
        rows = as_tuple(samples, "samples of a piece of a path", "configurations (nq,)")
        doubtful = range(len(rows))
    if len(rows) < 2:
        raise SizeError("samples of a piece of a path", "at least 2", len(rows))
    checked = {i: problem.check(rows[i], f"sample {i} of a piece") for i in doubtful}
    return np.array(list(checked.values())) if isinstance(rows, tuple) else rows


def _shortened(times: Vector) -> str:
    """Times in a message; of many, those where they do not rise."""
    if len(times) > 6:
        i = int((np.diff(times) <= 0.0).argmax())
        return f"{times[0]:g} at the start, {times[i]:g} then {times[i + 1]:g}, {times[-1]:g} at the end"
    return str(times.tolist())
