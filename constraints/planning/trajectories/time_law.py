"""How fast a curve is run through: by toppra, within limits of velocity and acceleration. Extra `trajectory`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only

from ...errors import PathError
from ...exports import from_extra
from .group_spline import GroupSpline


class TangentLimits(NamedTuple):
    """Largest velocities and accelerations of the tangent coordinates.

    Attributes:
        velocity: (nv,) [rad/s, m/s].
        acceleration: (nv,) [rad/s^2, m/s^2].
    """

    velocity: Vector
    acceleration: Vector

    def slowdowns(self, velocities: Matrix, accelerations: Matrix) -> Vector:
        """Factors (n,) by which time must be stretched, so that motions (n, nv) keep the limits; 1 or less: they do."""
        v = (np.abs(velocities) / self.velocity).max(axis=1)
        return np.maximum(v, np.sqrt((np.abs(accelerations) / self.acceleration).max(axis=1)))


@final
@dataclass(frozen=True, eq=False, repr=False)
class TimeLaw:
    """The parameter s of a curve by time: its acceleration is constant between knots.

    Attributes:
        s: knots (n,), rising.
        speed: ds/dt (n,) there.
        times: (n,) [s], from 0.
    """

    s: Vector
    speed: Vector
    times: Vector

    @staticmethod
    def of_speeds(s: Vector, speed: Vector) -> TimeLaw:
        """From the speeds at the knots; of two neighbours one must be positive."""
        steps = 2.0 * np.diff(s) / (speed[1:] + speed[:-1])
        return TimeLaw(read_only(s), read_only(speed), read_only(np.concatenate([[0.0], np.cumsum(steps)])))

    @staticmethod
    def at_rest() -> TimeLaw:
        """The law of a curve that is a single point: it takes no time."""
        return TimeLaw(*(read_only(np.array(each)) for each in ([0.0, 1.0], [0.0, 0.0], [0.0, 0.0])))

    @property
    def duration(self) -> float:
        """Time of the last knot [s]."""
        return float(self.times[-1])

    @property
    def accelerations(self) -> Vector:
        """Second derivative of s between the knots (n - 1,)."""
        return 0.5 * np.diff(self.speed**2) / np.diff(self.s)

    def at(self, times: Vector) -> tuple[Vector, Vector, Vector]:
        """The parameter, its speed and its acceleration (n,) at times (n,) in [0, duration]."""
        i = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.s) - 2)
        dt, bend = times - self.times[i], self.accelerations[i]
        s = np.clip(self.s[i] + dt * (self.speed[i] + 0.5 * dt * bend), self.s[i], self.s[i + 1])
        return s, np.maximum(self.speed[i] + dt * bend, 0.0), bend

    def stretched(self, factor: float) -> TimeLaw:
        """The same law, this many times as slow."""
        return TimeLaw(self.s, read_only(self.speed / factor), read_only(factor * self.times))


def fastest_law(curve: GroupSpline, limits: TangentLimits, knots: Vector) -> TimeLaw:
    """The fastest law from rest to rest, by toppra.

    Args:
        curve: the curve, from 0 to 1.
        limits: of its tangent coordinates.
        knots: of the law, from 0 to 1.

    Raises:
        PathError: toppra finds none.
        MissingExtraError: it is not installed.
    """
    path = _ToppraPath(curve)
    unit = _unit_of_time(path(knots, 1), limits)
    sizes = limits.velocity * unit, limits.acceleration * unit**2
    constraint = from_extra("toppra.constraint", "trajectory")
    rows = [constraint.JointVelocityConstraint(sizes[0]), constraint.JointAccelerationConstraint(sizes[1])]
    algorithm = from_extra("toppra.algorithm", "trajectory")
    instance = algorithm.TOPPRA(rows, path, gridpoints=knots, solver_wrapper="seidel")
    _, speed, *_ = instance.compute_parameterization(0.0, 0.0)
    if speed is None or not np.isfinite(speed).all() or not (speed[1:] + speed[:-1] > 0.0).all():
        raise PathError(f"a path could not be timed: toppra says '{instance.problem_data.return_code.value}'")
    return TimeLaw.of_speeds(knots, speed / unit)


def _unit_of_time(first: Matrix, limits: TangentLimits) -> float:
    """A time [s] in which the curve, of parameter 0 to 1, may be run through: toppra has thresholds near 1."""
    fastest = float((np.abs(first) / limits.velocity).max())
    return max(fastest, float((np.abs(first) / limits.acceleration).max()) ** 0.5)


@final
class _ToppraPath:
    """A curve as toppra sees it: derivatives by the parameter are those of the tangent; it asks at the same places."""

    def __init__(self, curve: GroupSpline) -> None:
        self._curve = curve
        self.dof, self.path_interval = curve.space.nv, np.array([0.0, 1.0])
        self._asked: Vector = np.zeros(0)
        self._rates: tuple[Matrix, Matrix] = curve.rates(self._asked)

    def __call__(self, s: Any, order: int = 0) -> Matrix:
        """Points (n, nq), or derivatives (n, nv) of an order."""
        places = np.atleast_1d(np.asarray(s, dtype=np.float64))
        if order == 0:
            return self._curve.at(places).q
        if not np.array_equal(places, self._asked):
            self._asked, self._rates = places.copy(), self._curve.rates(places)
        return self._rates[order - 1]
