"""Right-hand sides that vary in time."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from liegroups import Space
from liegroups.arguments import as_callable, real_numbers
from liegroups.arrays import ArrayLike, Vector

from ..errors import NotFiniteError, OptionError, WrongObjectError
from ..keywords import can_be_called
from ..robot.arguments import GivenPoint, point_numbers, refuse_posture
from ..robot.placement import matrix_of

_log = logging.getLogger(__package__)

FAST, HALVINGS = 100.0, 5
"""A difference above this [1/s] is looked at for a jump, in so many halvings of its interval."""


@dataclass(frozen=True, eq=False)
class Target:
    r"""A point of a group as a function of time, with its velocity and acceleration.

    Evaluation never reads a clock: t is an argument. Velocity and acceleration are in the body frame of the moving
    point. If they are not given, they are central differences along the group,

    .. math:: \nu(t) \approx \frac{y(t + h) \ominus y(t - h)}{2h}

    (errors about 1e-9 and 1e-5 for motions of unit speed). Given ones are used unchecked, but
    `constraints.testing.check_target` compares them to differences. `rhs_at(t)` and states with driven joints do so now
    and then, and warn in the log (`constraints`) once per target; so does a difference across a jump of the value.

    Args:
        value: t [s] -> point of the output group: its numbers (nq,), a placement or a rotation.
        velocity: t [s] -> tangent (nv,) [unit/s].
        acceleration: t [s] -> tangent (nv,) [unit/s2].
        interval: (start, end) in which it is defined [s]; all times by default.

    Example:
        >>> rise = Target(lambda t: [0.3, 0.0, 0.4 + 0.1 * t], interval=(0.0, 2.0))
        >>> rise.restricted(2.0, 0.5).at(0.0)
        array([0.3, 0. , 0.6])
    """

    value: Callable[[float], GivenPoint]
    velocity: Callable[[float], ArrayLike] | None = None
    acceleration: Callable[[float], ArrayLike] | None = None
    interval: tuple[float, float] = (-np.inf, np.inf)

    def __post_init__(self) -> None:
        """Check what was given."""
        for what in ("value", "velocity", "acceleration"):
            f = getattr(self, what)
            if f is not None or what == "value":
                as_callable(f, f"{what} of a Target", "a function of time")
            if f is not None and not can_be_called(f, 0.0):
                who = getattr(f, "__name__", type(f).__name__)
                raise WrongObjectError(f"{what} of a Target", f"a function of time, called as {what}(t)", who)
        interval: Any = self.interval
        if not hasattr(interval, "__len__") or len(interval) != 2 or not all(map(_is_number, interval)):
            raise WrongObjectError("interval of a Target", "two numbers (start, end)", repr(interval))
        start, end = self.interval
        if not start <= end:
            raise OptionError(f"interval of a Target: start {start:g} is after end {end:g}, or one is not a number")

    @property
    def first_time(self) -> float:
        """Time of the default right-hand side [s]: 0, or the end of the interval nearest to 0."""
        return float(np.clip(0.0, *self.interval))

    def at(self, t: float) -> Vector:
        """The point at time t, unchecked."""
        self._check_time(t)
        value, what = self.value(t), f"value of a target at t = {t:g}"
        refuse_posture(value, what)
        return np.array(np.atleast_1d(real_numbers(matrix_of(value), what)))

    def velocity_at(self, t: float, space: Space) -> Vector:
        """Body velocity (space.nv,) at time t."""
        self._check_time(t)
        if self.velocity is not None:
            return space.check_tangent(self.velocity(t), "velocity of a target")
        behind, ahead = self._around(t, 1e-5, *self.interval)
        if ahead == behind:
            return np.zeros(space.nv)
        rate = space.difference(self._point(behind, space), self._point(ahead, space)) / (ahead - behind)
        if float(np.abs(rate).max(initial=0.0)) > FAST:
            self._ask_of_jump(behind, ahead, rate, space)
        return rate

    def acceleration_at(self, t: float, space: Space) -> Vector:
        """Derivative of the body velocity (space.nv,) at time t."""
        self._check_time(t)
        if self.acceleration is not None:
            return space.check_tangent(self.acceleration(t), "acceleration of a target")
        start, end = self.interval
        if end - start > 1e-4:  # velocities at the very ends are one-sided: they belong to a time inside
            start, end = start + 1e-5, end - 1e-5
        behind, ahead = self._around(t, 1e-4, start, end)
        if ahead == behind:
            return np.zeros(space.nv)
        return (self.velocity_at(ahead, space) - self.velocity_at(behind, space)) / (ahead - behind)

    def disagreement(self, t: float, space: Space, tolerance: float = 1e-3) -> str:
        """Describe the given velocity or acceleration that is not the derivative it should be; empty if all are right.

        At a kink any value between the slopes of both sides is accepted.

        Args:
            t: time [s].
            space: the output group.
            tolerance: largest accepted difference, relative to 1 + the largest entry.
        """
        if self.velocity is not None:
            slopes = self._slopes(lambda s: self._point(s, space), space.difference, t, 1e-5)
            seen = _off("velocity", "value", self.velocity_at(t, space), slopes, t, tolerance)
            if seen:
                return seen
        if self.acceleration is not None:
            slopes = self._slopes(lambda s: self.velocity_at(s, space), lambda a, b: b - a, t, 1e-4)
            return _off("acceleration", "velocity", self.acceleration_at(t, space), slopes, t, tolerance)
        return ""

    def watch(self, t: float, space: Space, name: str) -> None:
        """Warn in the log, once per target, if a given rate is not the derivative; checked less and less often.

        Args:
            t: time [s].
            space: the output group.
            name: name of its constraint.
        """
        if self.velocity is None and self.acceleration is None:
            return
        count = _READ.get(self, 0) + 1
        if count == 0:  # it was warned of
            return
        _READ[self] = count
        if count & (count - 1):  # the 1st, 2nd, 4th, 8th ... time
            return
        try:
            seen = self.disagreement(t, space)
        except (ArithmeticError, LookupError, ValueError):  # it may have no value beside t
            return
        if seen:
            _READ[self] = -1
            _log.warning("%r: %s", name, seen)

    def _ask_of_jump(self, behind: float, ahead: float, rate: Vector, space: Space) -> None:
        """Warn in the log, once per target, of a difference whose change is all in a small part of its interval."""
        if _READ.get(self, 0) < 0:
            return
        ends, whole = (behind, ahead), np.abs(rate).max() * (ahead - behind)
        change = whole
        for _ in range(HALVINGS):
            middle = 0.5 * (ends[0] + ends[1])
            points = [self._point(t, space) for t in (ends[0], middle, ends[1])]
            sides = [float(np.abs(space.difference(a, b)).max()) for a, b in itertools.pairwise(points)]
            change = max(sides)
            ends = (ends[0], middle) if change == sides[0] else (middle, ends[1])
        if change > 0.5 * whole:
            _READ[self] = -1
            words = "a Target jumps by %.3g at %.6g s: its velocity, a difference across the jump, is %.3g there"
            _log.warning(f"{words}; give `velocity`, or restrict its interval", change, ends[0], np.abs(rate).max())

    def restricted(self, start: float, end: float) -> Target:
        """The target on a sub-interval, with its own time from 0 to abs(end - start); reversed if end < start.

        Args:
            start, end: times of this target [s].

        Raises:
            OptionError: if they are outside its interval.
        """
        for t in (start, end):
            self._check_time(t)
        sign = 1.0 if end >= start else -1.0
        return Target(
            _Shifted(self.value, start, sign, 1.0),
            None if self.velocity is None else _Shifted(self.velocity, start, sign, sign),
            None if self.acceleration is None else _Shifted(self.acceleration, start, sign, 1.0),
            (0.0, abs(end - start)),
        )

    def _point(self, t: float, space: Space) -> Vector:
        what = f"value of a target at t = {t:g}"
        return space.check(point_numbers(self.value(t), space, what), what)

    def _slopes(
        self, f: Callable[[float], Vector], difference: Callable[[Vector, Vector], Vector], t: float, h: float
    ) -> list[Vector]:
        """Differences of a function of time on both sides of t, of one where the interval ends."""
        behind, ahead = self._around(t, h, *self.interval)
        sides = [(a, b) for a, b in ((behind, t), (t, ahead)) if a < b]
        return [difference(f(a), f(b)) / (b - a) for a, b in sides]

    @staticmethod
    def _around(t: float, h: float, start: float, end: float) -> tuple[float, float]:
        """Two times around t inside an interval."""
        return max(t - h, start), min(t + h, end)

    def _check_time(self, t: float) -> None:
        if not _is_number(t):
            raise WrongObjectError("time of a Target", "a number [s]", t)
        if not np.isfinite(t):
            raise NotFiniteError("time of a Target", [0])
        if not self.interval[0] - 1e-12 <= t <= self.interval[1] + 1e-12:
            raise OptionError(f"time {t:g} s is outside the interval {self.interval} of the target")


def _off(what: str, of: str, rate: Vector, slopes: list[Vector], t: float, tolerance: float) -> str:
    """What is said of a rate that is not between the slopes, up to a tolerance."""
    if not slopes:
        return ""
    low, high = np.minimum.reduce(slopes), np.maximum.reduce(slopes)
    off = np.maximum(low - rate, rate - high)
    if float(off.max(initial=0.0)) <= tolerance * (1.0 + float(np.abs(slopes).max(initial=0.0))):
        return ""
    row = int(off.argmax())
    true = 0.5 * (low[row] + high[row])
    return (
        f"the {what} of the target at {t:.6g} s is not the derivative of its {of}: row {row} is {rate[row]:.6g}, "
        f"the {of} changes by {true:.6g} per second"
    )


def _is_number(candidate: object) -> bool:
    return isinstance(candidate, int | float | np.integer | np.floating)


_READ: WeakKeyDictionary[Target, int] = WeakKeyDictionary()
"""How often the rates of a target were read; -1 once it was warned of."""


@dataclass(frozen=True)
class _Shifted:
    """A function of time, shifted and possibly reversed; a class, so that it pickles when the function does."""

    f: Callable[[float], Any]
    start: float
    sign: float
    factor: float

    def __call__(self, t: float) -> Vector:
        return self.factor * np.asarray(self.f(self.start + self.sign * t), dtype=np.float64)
