"""Times for paths: the fastest motion along them within limits of velocity and acceleration. Extra `trajectory`."""

from __future__ import annotations

import logging
from itertools import pairwise
from typing import ClassVar, NamedTuple, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Matrix, TangentLike, Vector

from ...errors import PathError, WrongObjectError
from ...exports import from_extra
from ...paths.path import Path
from ..plan import Plan
from .group_spline import GroupSpline
from .limits_of_motion import tangent_limits
from .runs import Stretch, runs_of, stops_of
from .time_law import TangentLimits, TimeLaw, fastest_law
from .trajectory import LOOKS_PER_SECOND, PathEvent, TimedPart, Trajectory, regular_times

_log = logging.getLogger(__package__)

STILL = 1e-9
"""A part whose samples are nearer to each other than this takes no time [rad or m]."""
LEAST_STEP = 1e-6
"""Samples closer than this part of the whole length are one."""
FEWEST, PER_SAMPLE, MOST_PER_SAMPLE = 16, 4, 64
"""Points of a curve: at least so many in all, and between two samples of the path; doubled up to the last number."""
PART_OF_THRESHOLD = 0.01
"""A curve has points enough where its residual half-way between them is below this part of the path's threshold."""
KNOTS = 200
"""Least number of intervals in which the speed changes evenly."""
EXCESS = 1.005
"""Intervals between knots are halved where limits are exceeded by more than this factor of time: 1 % of an
acceleration."""
ROUNDS, LOOKS_PER_INTERVAL = 10, 9
"""Times that they are halved at most, and places in each at which limits are looked at."""
KEPT = 1.0001
"""At last time is stretched until limits are kept up to this factor."""


def timed(
    path: Path | Plan, velocity: TangentLike | None, acceleration: TangentLike, *, stop_at_corners: bool = False
) -> Trajectory:
    r"""The fastest motion along a path, from rest to rest, within limits of velocity and acceleration.

    .. math:: |v_i(t)| \le v_i^{max}, \qquad |\dot v_i(t)| \le a_i^{max}

    of each tangent coordinate, in the body frame of free bodies. Samples of the path are projected to 1e-10; a curve
    passes through them, whose points are projected again; toppra gives it its speed (Pham and Pham, "A new approach to
    time-optimal path parameterization based on reachability analysis", 2018). Then it is looked at 1000 times a second:
    where a limit is exceeded by more than 1 %, or the constraints are left, the curve is made of more points; what
    remains is slowed down (`Trajectory.slowdown`). Where constraints are nearly singular (stretched legs) exact points
    lie far from the samples: these stay as they are then, and points between them within the path's threshold. Joints
    stay within their bounds; translations of free and planar joints may leave them by a part of the samples' distance.

    It is at rest where pieces of the path have different problems, as at a grasp, and where the path turns by more than
    a right angle. Other corners are rounded between the samples beside them. Between samples a trajectory may be off
    the path by a part of their distance: where obstacles are near, check its collisions too, or give `interpolate` a
    smaller `max_angle`.

    Args:
        path: a path, or a plan with one; the durations of its pieces do not matter.
        velocity: limits (nv,) [rad/s, m/s], or one number for all, or by joint, the others those of the robot's model;
            None for those of the model.
        acceleration: limits (nv,) [rad/s^2, m/s^2], or one number for all, or by joint.
        stop_at_corners: stop wherever two pieces of the path meet.

    Raises:
        WrongObjectError: `path` is neither a path nor a plan.
        FailedError: the plan has no path; beside a sample the constraints cannot be satisfied.
        SizeError, DtypeError, NotFiniteError: limits of another size, NaN, infinity.
        OptionError: limits that are not positive; a joint without a limit.
        UnknownJointError: a limit of a joint that there is not.
        PathError: toppra finds no speed; the curve leaves the constraints.
        MissingExtraError: toppra is not installed.
    """
    expect(path, (Path, Plan), "path to be timed", "a Path, or a Plan")
    if not isinstance(stop_at_corners, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongObjectError("stop_at_corners of a trajectory", "True or False", stop_at_corners)
    whole = path.or_raise() if isinstance(path, Plan) else path
    limits = tangent_limits(whole.pieces[0].problem, velocity, acceleration)
    from_extra("toppra", "trajectory")
    runs = runs_of(whole, stop_at_corners)
    made = [_Timing(run, q0, q1, limits).made() for run, (q0, q1) in zip(runs, pairwise(stops_of(runs)), strict=True)]
    parts, slowdown = tuple(each.part for each in made), max(each.slowdown for each in made)
    on = path.on if isinstance(path, Plan) else ()
    names = tuple(on[run.number] if on else "" for run in runs)
    events = _events(runs, names, np.cumsum([part.law.duration for part in parts]))
    if slowdown > EXCESS:
        _log.info("a trajectory is slower by a factor of up to %.3g than toppra found, to keep its limits", slowdown)
    return Trajectory(parts, events, slowdown)


def _events(runs: tuple[Stretch, ...], names: tuple[str, ...], ends: Vector) -> tuple[PathEvent, ...]:
    """Where the problem of a run is another one than before."""
    found: list[PathEvent] = []
    for (before, after), name, time in zip(pairwise(runs), names[1:], ends[:-1].tolist(), strict=True):
        if before.first.problem is not after.first.problem:
            old, new = (run.first.problem.constraints.names for run in (before, after))
            begin, end = (tuple(x for x in a if x not in b) for a, b in ((new, old), (old, new)))
            words = [f"{word} {', '.join(each)}" for word, each in (("begin", begin), ("end", end)) if each]
            found.append(PathEvent(time, name or "; ".join(words) or "other right-hand sides", begin, end))
    return tuple(found)


class _Timed(NamedTuple):
    """A part, and by which factor it is slower than toppra found."""

    part: TimedPart
    slowdown: float


@final
class _Looks:
    """How a curve changes at places in intervals between knots; an interval that stays is not evaluated again."""

    PARTS: ClassVar[Vector] = np.linspace(0.0, 1.0, LOOKS_PER_INTERVAL)

    def __init__(self, curve: GroupSpline) -> None:
        self._curve, self._ends = curve, np.zeros((0, 2))
        self._first = self._second = np.zeros((0, LOOKS_PER_INTERVAL, curve.space.nv))

    def at(self, knots: Vector) -> tuple[Matrix, Matrix]:
        """Body velocities and their derivatives (n, places, nv) in n intervals."""
        ends = np.column_stack([knots[:-1], knots[1:]])
        new, first = np.ones(len(ends), dtype=np.bool_), np.zeros((len(ends), *self._first.shape[1:]))
        second = first.copy()
        if len(self._ends):
            i = np.minimum(np.searchsorted(self._ends[:, 0], ends[:, 0]), len(self._ends) - 1)
            new = (self._ends[i] != ends).any(axis=1)
            first[~new], second[~new] = self._first[i[~new]], self._second[i[~new]]
        if new.any():
            s = ends[new, :1] + self.PARTS * np.diff(ends[new], axis=1)
            rates = self._curve.rates(s.ravel())
            first[new], second[new] = (each.reshape(len(s), *first.shape[1:]) for each in rates)
        self._ends, self._first, self._second = ends, first, second
        return first, second


@final
class _Timing:
    """One run: its samples as a coarse curve, then a fine one on the constraints, and its speed."""

    def __init__(self, run: Stretch, q0: Vector, q1: Vector, limits: TangentLimits) -> None:
        self._run, self._ends, self._limits = run, (q0, q1), limits
        self._space, self._threshold = run.first.problem.space, run.first.options.threshold
        self._bounds = run.first.problem.bounds
        Q, self._times, self._s = self._apart(*run.samples)
        self._count = len(Q) - 1
        self._coarse = GroupSpline.through(self._space, Q, self._s, 3, self._bounds)

    def _apart(self, Q: Matrix, times: Vector) -> tuple[Matrix, Vector, Vector]:
        """Samples that are apart, their times, and their parameters by the lengths between them, 0 to 1."""
        steps = np.linalg.norm(self._space.difference(Q[:-1], Q[1:]) / self._limits.velocity, axis=1)
        s = np.concatenate([[0.0], np.cumsum(steps)])
        kept = [0]
        for i in range(1, len(s) - 1):
            if min(s[i] - s[kept[-1]], s[-1] - s[i]) > LEAST_STEP * s[-1]:
                kept.append(i)
        kept.append(len(s) - 1)
        return Q[kept], times[kept], s[kept] / s[-1] if s[-1] > 0.0 else np.array([0.0, 1.0])

    def made(self) -> _Timed:
        """The part.

        Raises:
            PathError: it leaves the constraints, or has no speed.
        """
        if self._is_still():
            return _Timed(self._part(self._curve(1), TimeLaw.at_rest()), 1.0)
        curve = self._fine_curve()
        part, slowdown = self._fastest(curve), 1.0
        excess = self._excess(part)
        while excess > KEPT:
            slowdown *= excess
            part = self._part(curve, part.law.stretched(excess))
            excess = self._excess(part)
        return _Timed(part, slowdown)

    def _is_still(self) -> bool:
        """Whether nothing moves."""
        moves = self._space.difference(self._ends[0], np.vstack([self._coarse.points, self._ends[1]]))
        return float(np.abs(moves).max()) <= STILL

    def _fine_curve(self) -> GroupSpline:
        """A curve of as many points as its residual asks for.

        Raises:
            PathError: the most points do not suffice.
        """
        per_sample, residual = PER_SAMPLE, np.inf
        while True:
            curve = self._curve(max(FEWEST, per_sample * self._count))
            part = self._part(curve, TimeLaw.at_rest())
            middles = 0.5 * (curve.s[1:] + curve.s[:-1])
            residual = float(part.residuals(middles, curve.at(middles).q).max())
            at_points = float(part.residuals(curve.s, curve.points).max())
            per_sample *= 2
            if residual <= max(PART_OF_THRESHOLD * self._threshold, 2.0 * at_points) or per_sample > MOST_PER_SAMPLE:
                break
        if residual > self._threshold:
            raise PathError(
                f"a trajectory would leave the constraints by {residual:.3g} between the samples of its path: "
                "make these closer, `interpolate(..., max_angle=0.02, max_length=0.005)`"
            )
        return curve

    def _fastest(self, curve: GroupSpline) -> TimedPart:
        """The part with the speed by toppra; knots are closer where limits are exceeded between them."""
        self._looks = _Looks(curve)
        knots = np.linspace(0.0, 1.0, max(1, KNOTS // (len(curve.s) - 1)) * (len(curve.s) - 1) + 1)
        law = fastest_law(curve, self._limits, knots)
        for _ in range(ROUNDS):
            over = self._excesses(law) > EXCESS
            if not over.any():
                break
            knots = np.sort(np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1])[over]]))
            law = fastest_law(curve, self._limits, knots)
        return self._part(curve, law)

    def _excesses(self, law: TimeLaw) -> Vector:
        """Factors (n,) by which each of n intervals between knots exceeds its limits, at both ends and between them."""
        first, second = self._looks.at(law.s)
        low, rise = ((law.speed**2)[:-1], np.diff(law.speed**2))
        squares = (low[:, None] + rise[:, None] * _Looks.PARTS)[:, :, None]
        v, a = first * np.sqrt(squares), second * squares + first * law.accelerations[:, None, None]
        size = self._space.nv
        return self._limits.slowdowns(v.reshape(-1, size), a.reshape(-1, size)).reshape(len(low), -1).max(axis=1)

    def _excess(self, part: TimedPart) -> float:
        """Factor by which a part must be slower to keep its limits, at regular times and by its knots."""
        _, v, a = part.at(regular_times(part.law.duration, LOOKS_PER_SECOND))
        return float(max(self._limits.slowdowns(v, a).max(), self._excesses(part.law).max()))

    def _part(self, curve: GroupSpline, law: TimeLaw) -> TimedPart:
        piece = self._run.first
        return TimedPart(curve, law, piece.projector, piece.sides, np.interp(curve.s, self._s, self._times))

    def _curve(self, count: int) -> GroupSpline:
        """The curve through so many points and one, on the constraints, from one stop to the other."""
        s = np.linspace(0.0, 1.0, count + 1)
        points = self._run.projected(self._coarse.at(s).q, np.interp(s, self._s, self._times))
        return GroupSpline.through(self._space, self._joined(points, s), s, 5, self._bounds)

    def _joined(self, points: Matrix, s: Vector) -> Matrix:
        """The points, moved so that the first and the last are the stops; by much less in the middle."""
        offsets = [self._space.difference(points[i], q) for i, q in zip((0, -1), self._ends, strict=True)]
        moves = sum(_fading(np.abs(s - end))[:, None] * d for end, d in zip((0.0, 1.0), offsets, strict=True))
        joined = np.clip(self._space.integrate(points, moves), self._bounds.lower, self._bounds.upper)
        joined[[0, -1]] = self._ends
        return joined


def _fading(x: Vector) -> Vector:
    """From 1 at 0 to 0 at one half, with two continuous derivatives."""
    y = np.clip(1.0 - 2.0 * x, 0.0, 1.0)
    return y**3 * (10.0 - 15.0 * y + 6.0 * y**2)
