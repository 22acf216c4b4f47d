"""From one configuration to another along constraints, by bisection."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import pi
from textwrap import indent
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import OptionError, PathError, UndefinedError
from ..problem.description import errors_of
from ..problem.problem import Problem
from ..problem.questions import PLAIN
from ..questions import say
from ..ranges import positive_number
from ..rows.right_hand_side import RightHandSide
from ..solvers import Options, Projection, Projector
from ..solvers.edges import MIDDLE_OF_INTERVAL, SHORTEST_PART_OF_PATH, SLACK_OF_A_MIDDLE
from ..solvers.machine import layout
from ..solvers.projection.projector import kept_projector
from ..solvers.status import StatusEnum
from .moving_rhs import MovingRightHandSide
from .path import Jump, Path, Piece, StepSize
from .with_path import WithPath

_log = logging.getLogger(__package__)

FEW = 8
"""Fewer projections than these are done one by one: a batch costs as much."""
COARSEST = 2.0**-4
"""Right-hand sides that a function gives may come back between two times: longer intervals are always halved."""


_BOTH_SIDES = "if a right-hand side moves, give both: `interpolate(problem, q0, q1, (rhs0, rhs1))`"
"""What is said of an end that satisfies the constraints with other right-hand sides."""


class PathStatus(StatusEnum, successes=("COMPLETE",)):
    """Why an interpolation ended: each value is a sentence for humans."""

    COMPLETE = "The path reaches its end, on the constraints, without a jump."
    START = "The first configuration does not satisfy the constraints within its bounds."
    END = "The last configuration does not satisfy the constraints within its bounds."
    NOT_PROJECTED = "A configuration between two others could not be projected onto the constraints."
    JUMP = "Configurations that should be neighbours stay apart: the ends lie on different branches."


ENDINGS: Any = np.array(
    [PathStatus.COMPLETE, PathStatus.START, PathStatus.END, PathStatus.NOT_PROJECTED, PathStatus.JUMP], dtype=np.object_
)
"""What the ends of edges are called here, by their numbers in `machine.layout`."""


class Stop(NamedTuple):
    """Where an interpolation stopped before its end.

    Attributes:
        time: in [0, 1].
        q: configuration (nq,) there: an invalid end, the best iterate of the failed projection, or the last sample
            before a jump.
        rhs: right-hand sides there.
        projection: the one that failed; None if none did.
        jump: distance between configurations that should be neighbours; None if a jump is not the reason.
        joint: the joint that moves most in it.
    """

    time: float
    q: Vector
    rhs: RightHandSide
    projection: Projection | None = None
    jump: Jump | None = None
    joint: str = ""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Interpolation(WithPath):
    """Result of an interpolation. On failure `path` is the valid part from the start, if there is one.

    It is neither true nor false (`if interpolation:` raises): `success` says whether the path is complete.

    Attributes:
        path: the path, or its valid beginning; None if there is none.
        status: why it ended.
        reached: time in [0, 1] up to which it is valid.
        problem, options: the problem, and the options of its projections.
        stop: where it stopped before its end; None after success.
    """

    path: Path | None
    status: PathStatus
    reached: float
    problem: Problem
    options: Options
    stop: Stop | None = None

    if not TYPE_CHECKING:

        def __call__(self, *_: object) -> NoReturn:
            """Refuse to be called as its path is: there may be none.

            Raises:
                PathError: says how.
            """
            raise PathError("an Interpolation is called by its path, if it has one: `or_raise()(time)`")

    def describe(self) -> str:
        """The result in words: status, how far it got, and what is wrong where it stopped."""
        stop = self.stop
        if stop is None:
            return f"{self}\n  {self.path}"
        said = f"{self._came}\n  at time {stop.time:.4g}"
        if stop.projection is not None:
            return f"{said}: {indent(stop.projection.describe(), '  ').strip()}"
        if stop.jump is not None:
            by = f"{stop.jump.angle:.3g} rad and {stop.jump.length:.3g} m, most in '{stop.joint}'"
            return f"{said}, however small the steps: {by}"
        lines = errors_of(self.problem, stop.q, stop.rhs, self.options.threshold)
        return "\n".join([f"{said}, threshold {self.options.threshold:g}:", *(f"    {line}" for line in lines)])

    @property
    def off(self) -> str:
        """Of an end that is not on the constraints: what it misses most, and how far, in words; else empty."""
        stop = self.stop
        if stop is None or self.status not in (PathStatus.START, PathStatus.END):
            return ""
        outside = self.problem.bounds.violations(stop.q)
        try:
            off, words = self.problem.constraints.worst(self.problem.error(stop.q, rhs=stop.rhs))
        except UndefinedError:
            return "a function has no value there"
        return words if off > self.options.threshold or not outside else str(outside[0])

    def __str__(self) -> str:
        off = self.off
        return f"{self._came}: {off}" if off else self._came

    @property
    def _came(self) -> str:
        said = f"{self.status} (reached {self.reached:.3g} of the way)"
        stop, limit = self.stop, self.options.threshold
        if self.status is PathStatus.END and stop is not None and is_on_another_leaf(self.problem, stop.q, limit):
            return f"{said}; {_BOTH_SIDES}"
        return said


def is_on_another_leaf(problem: Problem, q: Vector, threshold: float) -> bool:
    """Whether a configuration satisfies the constraints with right-hand sides of its own."""
    try:
        return problem.is_satisfied(q, rhs=problem.rhs_from(q), threshold=threshold)
    except UndefinedError:
        return False


def interpolate(
    problem: Problem | Projector,
    q0: ArrayLike,
    q1: ArrayLike,
    rhs: Any = None,
    *,
    max_angle: float = 0.1,
    max_length: float = 0.02,
    options: Options | None = None,
) -> Interpolation:
    r"""A path on the constraints of a problem, from one configuration to another.

    The interval from 0 to 1 is halved until consecutive samples differ by at most the two limits in every joint, and
    until also half-way between them the projection of

    .. math:: q(t) = q_a \oplus \tfrac{t - t_a}{t_b - t_a}\,(q_b \ominus q_a)

    succeeds and lies between them: at most three quarters of their distance away from either. So a jump from one branch
    of solutions to another ends the path, and is never hidden between close samples.

    Args:
        problem: the constraints; or a projector for them, which is then used with its options.
        q0, q1: first and last configuration (nq,), which satisfy them. They are the ends of the path bit for bit: where
            a quaternion of q1 is the negative of the one that the path comes to, its last two samples differ so.
        rhs: right-hand sides: the default ones, others (or their flat vector), a pair (at the start, at the end)
            between which they move on their groups, or a function of time in [0, 1], which is looked at 33 times or
            more: what comes and goes within less may be missed.
        max_angle, max_length: largest motion of a joint between samples [rad], [m].
        options: of the projections; `Options.local()` by default. The path uses them between its samples too.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError: what is wrong with a configuration.
        OptionError: a limit that is not a positive number; options together with a projector.
        WrongObjectError: `problem` is not a problem or projector.
    """
    expect(problem, (Problem, Projector), "problem of an interpolation", "a Problem, or a Projector of one")
    positive_number(max_angle, "max_angle of an interpolation")
    positive_number(max_length, "max_length of an interpolation")
    if isinstance(problem, Problem):
        projector = kept_projector(problem, Options.local() if options is None else options)
    elif options is None:
        projector, problem = problem, problem.problem
    else:
        raise OptionError(
            "options of an interpolation: the projector has its own; give these to the projector, or the problem here"
        )
    projector.options.without_clock("of a path")
    bisection = _Bisection(projector, MovingRightHandSide.of(problem, rhs), max_angle, max_length)
    start, end = np.array(problem.check(q0, "q0")), np.array(problem.check(q1, "q1"))
    if max_angle > pi or max_length > PLAIN:
        say(_log, _asked_of_limits(max_angle, max_length, StepSize(problem).between(start, end).length))
    return bisection.run(start, end)


def _asked_of_limits(max_angle: float, max_length: float, way: float) -> list[str]:
    """What is asked about limits that keep nothing short; `way` [m] is the straight one."""
    asked: list[str] = []
    if max_angle > pi:
        asked.append(f"max_angle of an interpolation is {max_angle:.6g} rad, more than half a turn: is it in degrees?")
    if max_length > PLAIN and 0.0 < way < max_length:
        asked.append(
            f"max_length of an interpolation is {max_length:.6g} m, the whole way {way:.3g} m: is it in millimetres?"
        )
    return asked


class _Interval(NamedTuple):
    """Part of a path: its two times, and the configurations (nq,) there."""

    t0: float
    t1: float
    q0: Vector
    q1: Vector

    @property
    def middle(self) -> float:
        return 0.5 * (self.t0 + self.t1)


class _Failure(NamedTuple):
    """Why a path ends before its end: the time up to which it may hold, and where it stops."""

    time: float
    status: PathStatus
    stop: Stop


@final
class _Bisection:
    """One interpolation: all intervals that are open are halved together, in the order of time."""

    def __init__(self, projector: Projector, sides: MovingRightHandSide, max_angle: float, max_length: float) -> None:
        self._projector, self._problem, self._sides = projector, projector.problem, sides
        self._limits = max_angle, max_length

    @cached_property
    def _size(self) -> StepSize:
        return StepSize(self._problem)

    def run(self, q0: Vector, q1: Vector) -> Interpolation:
        """Halve intervals until each is short and steady, or one cannot be; nothing behind that one is looked at."""
        laid = self._laid(q0, q1)
        return self._halved(q0, q1) if laid is None else laid

    def _laid(self, q0: Vector, q1: Vector) -> Interpolation | None:
        """The same in one call of the program; None where it has none, and where it refuses what others may take."""
        program, rhs = self._projector.program.edges, self._sides.constant
        if program is None or rhs is None:
            return None
        edges = program.run(q0[None], q1[None], rhs, *self._limits)
        ending, failure = int(edges.status[0]), None
        if ending in (layout.AT_START, layout.AT_END):
            return None
        if ending != layout.LAID:
            stopped = _Interval(float(edges.times[-1]), float(edges.nexts[0, 0]), edges.samples[-1], edges.nexts[0, 1:])
            half = edges.middles[0]
            if ending == layout.NOT_PROJECTED:
                found = self._projector.project(half, rhs)
                if found.success:
                    return None
                failure = self._not_reached(stopped, found)
            else:
                failure = self._jumped(stopped, half)
        return self._path(edges.times, edges.samples, failure)

    def _halved(self, q0: Vector, q1: Vector) -> Interpolation:
        """The same interval by interval."""
        for q, time, status in ((q0, 0.0, PathStatus.START), (q1, 1.0, PathStatus.END)):
            rhs = self._sides.at(time)
            options = self._projector.options  # for two configurations the projector would pack its rows anew
            if not self._problem.is_satisfied(q, rhs=rhs, threshold=options.threshold):
                return Interpolation(None, status, 0.0, self._problem, options, Stop(time, q, rhs))
        found, failure = list[_Interval](), None
        ahead = [_Interval(0.0, 1.0, q0, q1)]
        while ahead:
            halves, failed = self._halves(ahead)
            failure = failed or failure
            ahead = ahead[: len(halves)]
            longest, again = 1.0 if self._sides.function is None else COARSEST, list[_Interval]()
            for interval, half, (whole, first, second) in zip(ahead, halves, self._sizes(ahead, halves), strict=True):
                t0, t1, qa, qb = interval
                if (
                    t1 - t0 <= longest
                    and whole <= 1.0
                    and max(first, second) <= MIDDLE_OF_INTERVAL * whole + SLACK_OF_A_MIDDLE
                ):
                    found.append(interval)
                elif t1 - t0 < SHORTEST_PART_OF_PATH:
                    failure = self._jumped(interval, half)
                    break
                else:
                    again += [_Interval(t0, interval.middle, qa, half), _Interval(interval.middle, t1, half, qb)]
            ahead = again
        reached = 1.0 if failure is None else failure.time
        before = sorted([interval for interval in found if interval.t1 <= reached], key=lambda interval: interval.t0)
        times, samples = [0.0, *(interval.t1 for interval in before)], [q0, *(interval.q1 for interval in before)]
        return self._path(np.array(times), np.array(samples), failure)

    def _halves(self, ahead: Sequence[_Interval]) -> tuple[Matrix, _Failure | None]:
        """Configurations half-way on intervals, up to the first that is not reached; and that failure."""
        starts = np.array([interval.q0 for interval in ahead]), np.array([interval.q1 for interval in ahead])
        Q, times = self._problem.space.interpolate(*starts, 0.5), [interval.middle for interval in ahead]
        sides = self._sides.at_times(self._problem, times)
        if len(ahead) < FEW:
            for i, q in enumerate(Q):
                half = self._projector.project(q, sides[i] if isinstance(sides, list) else sides)
                if not half.success:
                    return Q[:i], self._not_reached(ahead[i], half)
                Q[i] = half.q
            return Q, None
        batch = self._projector.project_batch(Q, sides)
        if batch.success.all():
            return batch.q, None
        first = int(batch.success.argmin())
        return batch.q[:first], self._not_reached(ahead[first], batch[first])

    def _not_reached(self, interval: _Interval, half: Projection) -> _Failure:
        return _Failure(interval.t0, PathStatus.NOT_PROJECTED, Stop(interval.middle, half.q, half.rhs, half))

    def _sizes(self, ahead: Sequence[_Interval], halves: Matrix) -> list[list[float]]:
        """Distances of intervals, of their first halves and of their second, in largest allowed steps."""
        q0, q1 = ([interval.q0 for interval in ahead], [interval.q1 for interval in ahead])
        if not ahead:
            return []
        angles, lengths = self._size.of_rows(np.array([*q0, *q0, *halves]), np.array([*q1, *halves, *q1]))
        steps = np.maximum(angles / self._limits[0], lengths / self._limits[1])
        return steps.reshape(3, -1).T.tolist()

    def _steps(self, pair: tuple[Vector, Vector]) -> float:
        """Distance of two configurations in largest allowed steps."""
        jump = self._size.between(*pair)
        return max(jump.angle / self._limits[0], jump.length / self._limits[1])

    def _jumped(self, interval: _Interval, half: Vector) -> _Failure:
        """Where configurations that should be neighbours stay apart; the first is a sample."""
        space, time, neighbours = self._problem.space, interval.t0, (interval.q0, half, interval.q1)
        q0, q1 = max(combinations(neighbours, 2), key=self._steps)
        moved = np.abs(space.difference(q0, q1))
        joint = max(space.leaves(), key=lambda leaf: float(moved[leaf.v].max(initial=0.0)))
        stop = Stop(time, interval.q0, self._sides.at(time), None, self._size.between(q0, q1), joint.name)
        return _Failure(time, PathStatus.JUMP, stop)

    def _path(self, times: Vector, samples: Matrix, failure: _Failure | None) -> Interpolation:
        """The path, or its part before a failure."""
        reached = 1.0 if failure is None else failure.time
        status, stop = (PathStatus.COMPLETE, None) if failure is None else (failure.status, failure.stop)
        problem, options = self._problem, self._projector.options
        if reached == 0.0:
            return Interpolation(None, status, 0.0, problem, options, stop)
        sides = self._sides if reached == 1.0 else self._sides.between(0.0, reached)
        piece = Piece(problem, sides, samples, times / reached, options, projector=self._projector)
        return Interpolation(Path((piece,)), status, reached, problem, options, stop)
