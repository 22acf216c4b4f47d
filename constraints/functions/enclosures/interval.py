r"""Arrays of intervals, in doubles that are rounded outward.

IEEE 754 rounds sums, products, quotients and square roots to a nearest double: the exact result is between the two
neighbours of the computed one, so ends go at least that far outward. Sine, cosine, exponential, logarithm, power and
angle come from numpy, whose vector forms state at most 4 units in the last place; `ULPS` (16) are taken. Products of
matrices have the error bound of sums of n products in any order, with or without fused operations,
:math:`\gamma_n = n u / (1 - n u)` (Higham, Accuracy and Stability of Numerical Algorithms, 3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups.arrays import ArrayLike, Vector

from ...errors import UndefinedError

UNIT = 2.0**-53
"""Half a unit in the last place of 1: the relative error of one rounding."""

ULPS = 16.0
"""Units in the last place taken for functions of numpy; it states 4."""

RADII = 1.0 + 1e-9
"""Factor on radii, which are sums and products of numbers that are not negative: covers 4e6 roundings of them."""

LARGEST = float(np.finfo(np.float64).max)
"""Of finite doubles."""

TINY = 1e-300
"""Added to radii: what may get lost below the least normal number."""


def applied(A: Any, x: Any) -> Any:
    """Matrices (..., m, n) times vectors (..., n), over leading axes."""
    return (A @ x[..., None])[..., 0]


def lengths(vectors: Any) -> Any:
    """Euclidean norms over the last axis, before they are rounded up."""
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors))


def rounded_up(radius: Any) -> Any:
    """A bound of what a radius is without rounding; radii are made of sums and products of numbers, none negative."""
    return RADII * radius + TINY


@final
@dataclass(frozen=True, eq=False)
class Interval:
    """An array of intervals: each entry is any number from `lower` to `upper`.

    Some are kept as middles and radii: then ends are computed when somebody asks.
    `+ - * / @`, with intervals or arrays, give intervals that hold whatever the operands are made of. What overflows is
    infinite.

    Args:
        lower, upper: arrays of one shape.

    Example:
        >>> from constraints.functions.enclosures.interval import Interval
        >>> x = Interval.around([0.3, 1.0], 0.1)
        >>> (x * x).contains([0.09, 1.2])
        True
    """

    lower: Any
    upper: Any

    __array_ufunc__ = None  # arrays leave operators to this class

    @staticmethod
    def of(numbers: ArrayLike | Interval) -> Interval:
        """Numbers as intervals of width zero; intervals as they are."""
        if isinstance(numbers, Interval):
            return numbers
        exact = np.asarray(numbers, dtype=np.float64)
        return Interval(exact, exact)

    @staticmethod
    def around(middle: ArrayLike, radius: ArrayLike) -> Interval:
        """All numbers at most `radius` from `middle`."""
        m, r = np.asarray(middle, dtype=np.float64), np.asarray(radius, dtype=np.float64)
        if not (np.isfinite(m).all() and np.isfinite(r).all()):
            return Interval(*_ends(m, r))
        return Interval.ball(*(np.broadcast_arrays(m, r) if r.shape != m.shape else (m, r)))

    @staticmethod
    def ball(middle: Any, radius: Any) -> Interval:
        """As `around`, of arrays of one shape that are known to be finite; a radius may be a function that gives it."""
        found = object.__new__(Interval)
        found.__dict__.update({"middle": middle, "radius_of" if callable(radius) else "radius": radius})
        return found

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            known = self.__dict__
            if name not in ("lower", "upper") or ("radius" not in known and "radius_of" not in known):
                raise AttributeError(name)
            known["lower"], known["upper"] = _ends(known["middle"], self.radius)
            return known[name]

    @property
    def _is_ball(self) -> bool:
        """Whether it is kept as middles and radii alone."""
        return "lower" not in self.__dict__

    def _mapped(self, change: Callable[[Any], Any]) -> Interval:
        """The same entries in another order, or some of them."""
        if self._is_ball:
            return Interval.ball(change(self.middle), change(self.radius))
        return Interval(change(self.lower), change(self.upper))

    @staticmethod
    def joined(parts: Sequence[Interval], axis: int = 0) -> Interval:
        """One after the other, along an axis."""
        if all(x._is_ball for x in parts):
            return Interval.ball(*(np.concatenate([getattr(x, r) for x in parts], axis) for r in ("middle", "radius")))
        return Interval(np.concatenate([x.lower for x in parts], axis), np.concatenate([x.upper for x in parts], axis))

    @staticmethod
    def each(parts: Sequence[Interval]) -> Interval:
        """Arrays of one shape, stacked along a new first axis."""
        return Interval(np.stack([x.lower for x in parts]), np.stack([x.upper for x in parts]))

    @cached_property
    def middle(self) -> Vector:
        """A number near the middle of each."""
        middle = self.lower + 0.5 * (self.upper - self.lower)
        return middle if np.isfinite(middle).all() else np.where(np.isfinite(middle), middle, 0.0)

    @cached_property
    def radius(self) -> Vector:
        """What is at least the distance of `middle` from both ends."""
        middle, given = self.middle, self.__dict__.get("radius_of")
        return given() if given else _up(np.maximum(self.upper - middle, middle - self.lower))

    @property
    def magnitude(self) -> Vector:
        """The largest absolute value of each."""
        if self._is_ball:
            return RADII * (np.abs(self.middle) + self.radius)
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return np.shape(self.middle if self._is_ball else self.lower)

    def contains(self, numbers: ArrayLike) -> bool:
        """Whether each of the numbers is in its interval."""
        x = np.asarray(numbers, dtype=np.float64)
        return bool(((self.lower <= x) & (x <= self.upper)).all())

    def __getitem__(self, entries: Any) -> Interval:
        return self._mapped(lambda x: x[entries])

    def __len__(self) -> int:
        return self.shape[0]

    def with_rows(self, rows: Any, others: Interval) -> Interval:
        """Matrices with other intervals in some rows."""
        lower, upper = np.array(self.lower), np.array(self.upper)
        lower[..., rows, :], upper[..., rows, :] = others.lower, others.upper
        return Interval(lower, upper)

    def reshaped(self, *shape: int) -> Interval:
        """The same in another shape."""
        return self._mapped(lambda x: np.reshape(x, shape))

    def turned(self) -> Interval:
        """The transposed matrices."""
        return self._mapped(lambda x: np.swapaxes(x, -2, -1))

    def spread(self, *shape: int) -> Interval:
        """The same in a shape to which it can be broadcast."""
        if self.shape == shape:
            return self
        return self._mapped(lambda x: np.broadcast_to(x, shape))

    def hull(self, other: Interval) -> Interval:
        """The least intervals that contain both."""
        return Interval(np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper))

    def widened(self, radius: Any) -> Interval:
        """By a radius to both sides."""
        if self._is_ball:
            return Interval.around(self.middle, rounded_up(self.radius + radius))
        return _outward(self.lower - radius, self.upper + radius)

    def __neg__(self) -> Interval:
        return Interval(-self.upper, -self.lower)

    def __add__(self, other: Any) -> Interval:
        y = Interval.of(other)
        return _of_sums(self.lower + y.lower, self.upper + y.upper)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Interval:
        y = Interval.of(other)
        return _of_sums(self.lower - y.upper, self.upper - y.lower)

    def __rsub__(self, other: Any) -> Interval:
        return Interval.of(other) - self

    def __mul__(self, other: Any) -> Interval:
        y = Interval.of(other)
        with np.errstate(invalid="ignore", over="ignore"):
            ends = [a * b for a in (self.lower, self.upper) for b in (y.lower, y.upper)]
        if not all(np.isfinite(end).all() for end in ends):
            ends = [np.where(np.isnan(end), 0.0, end) for end in ends]  # zero times infinity: zero times any number
        return _outward(np.minimum.reduce(ends), np.maximum.reduce(ends))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Interval:
        return self * Interval.of(other).reciprocal()

    def __rtruediv__(self, other: Any) -> Interval:
        return Interval.of(other) * self.reciprocal()

    def reciprocal(self) -> Interval:
        """One divided by each.

        Raises:
            UndefinedError: zero is in one of them.
        """
        insist((self.lower > 0.0) | (self.upper < 0.0), "division by an interval with zero in it")
        return _outward(1.0 / self.upper, 1.0 / self.lower)

    def applied(self, x: Any) -> Interval:
        """Matrices times vectors (..., n), over leading axes."""
        return (self @ Interval.of(x)[..., None])[..., 0]

    def __matmul__(self, other: Any) -> Interval:
        return product(self, Interval.of(other))

    def __rmatmul__(self, other: Any) -> Interval:
        return product(Interval.of(other), self)

    # Functions of one number.

    def square(self) -> Interval:
        """Squares: not less than zero."""
        low, high = np.square(self.lower), np.square(self.upper)
        least = np.where((self.lower <= 0.0) & (self.upper >= 0.0), 0.0, np.minimum(low, high))
        return Interval(np.maximum(_down(least), 0.0), _up(np.maximum(low, high)))

    def sqrt(self) -> Interval:
        """Square roots.

        Raises:
            UndefinedError: zero, or less, is in one of them.
        """
        insist(self.lower > 0.0, "a square root of an interval with zero, or less, in it")
        return _outward(np.sqrt(self.lower), np.sqrt(self.upper))

    def sin(self) -> Interval:
        """Sines."""
        return _wave(np.sin, self, 0.5)

    def cos(self) -> Interval:
        """Cosines."""
        return _wave(np.cos, self, 0.0)

    def exp(self) -> Interval:
        """Exponentials; infinite where they are too large."""
        with np.errstate(over="ignore"):
            low, high = np.exp(self.lower), np.exp(self.upper)
        return Interval(np.maximum(_down(low * (1.0 - 2.0 * ULPS * UNIT)), 0.0), _up(high * (1.0 + 2.0 * ULPS * UNIT)))

    def log(self) -> Interval:
        """Natural logarithms.

        Raises:
            UndefinedError: zero, or less, is in one of them.
        """
        insist(self.lower > 0.0, "a logarithm of an interval with zero, or less, in it")
        return _padded(np.log(self.lower), np.log(self.upper))

    def power(self, exponent: float) -> Interval:
        """Powers.

        Raises:
            UndefinedError: one has none: of zero or less, as the exponent is.
        """
        if exponent == 0.0:
            return Interval.of(np.ones(self.shape))
        if exponent < 0.0:
            return self.power(-exponent).reciprocal()
        if exponent != int(exponent):
            insist(self.lower > 0.0, "a broken power of an interval with zero, or less, in it")
        with np.errstate(over="ignore"):
            low, high = np.power(self.lower, exponent), np.power(self.upper, exponent)
        least, most = np.minimum(low, high), np.maximum(low, high)
        if exponent % 2.0 == 0.0:
            least = np.where((self.lower <= 0.0) & (self.upper >= 0.0), 0.0, least)
        return _padded(least, most)


# Rounding.


def _up(x: Any) -> Any:
    r"""At least the next double, which is within :math:`2^{-52} |x|` of a normal x; faster than `nextafter`."""
    x = np.maximum(x, -LARGEST)
    return x + (2.0 * UNIT * np.abs(x) + TINY)


def _down(x: Any) -> Any:
    return -_up(-x)


def _ends(m: Vector, r: Vector) -> tuple[Vector, Vector]:
    """Of intervals around m; a radius of zero stays one."""
    around = _outward(m - r, m + r)
    return np.where(r == 0.0, m, around.lower), np.where(r == 0.0, m, around.upper)


def _outward(lower: Any, upper: Any) -> Interval:
    """One double outward; what is no number (of infinite ends) is unbounded."""
    low, high = _down(lower), _up(upper)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    return Interval(low, high)


def _of_sums(lower: Any, upper: Any) -> Interval:
    """As `_outward`; a sum of zero is one without rounding."""
    out = _outward(lower, upper)
    return Interval(np.where(lower == 0.0, 0.0, out.lower), np.where(upper == 0.0, 0.0, out.upper))


def one_rounding(value: Any) -> Any:
    """A bound of the rounding of sums of two numbers: none where they are zero."""
    return np.where(value == 0.0, 0.0, 2.0 * UNIT * np.abs(value) + TINY)


def _padded(lower: Any, upper: Any) -> Interval:
    """Outward by what functions of numpy may be off."""
    pad = 2.0 * ULPS * UNIT
    return _outward(lower - pad * np.abs(lower) - TINY, upper + pad * np.abs(upper) + TINY)


def insist(holds: Any, what: str) -> None:
    """Raise `UndefinedError` where something does not hold, on a box or, with a leading axis, on several."""
    fails = ~np.asarray(holds)
    if fails.any():
        raise UndefinedError(what, fails.reshape(len(fails), -1).any(axis=1) if fails.ndim else None)


def _wave(wave: Callable[[Any], Any], x: Interval, shift: float) -> Interval:
    """Cosine, or sine (shift 1/2): monotone between its extremes, which are at whole numbers of x / pi - shift.

    Extremes within 1e-9 of an end count as inside, which covers rounding of x / pi; where x is beyond 1e6, all do.
    """
    first, last = x.lower / np.pi - shift, x.upper / np.pi - shift
    far = ~(np.abs(first) < 1e6) | ~(np.abs(last) < 1e6)
    first, last = np.where(far, -1.0, first) - 1e-9, np.where(far, 1.0, last) + 1e-9
    a, b = (wave(np.where(far, 0.0, end)) for end in (x.lower, x.upper))
    pad = 2.0 * ULPS * UNIT
    low, high = np.minimum(a, b) - pad, np.maximum(a, b) + pad
    top = np.floor(last / 2.0) * 2.0 >= first
    bottom = np.floor((last - 1.0) / 2.0) * 2.0 + 1.0 >= first
    return Interval(np.maximum(np.where(bottom, -1.0, low), -1.0), np.minimum(np.where(top, 1.0, high), 1.0))


def angle(y: Interval, x: Interval) -> Interval:
    """The angles of vectors (x, y): on a box without the origin their extremes are at its corners.

    Raises:
        UndefinedError: a box has the origin in it, or the half line where the angle jumps.
    """
    jumps = (x.lower <= 0.0) & (y.lower <= 0.0) & (y.upper >= 0.0)
    insist(~jumps, "the angle of a vector that may be zero, or jump by a whole turn")
    corners = [np.arctan2(b, a) for a in (x.lower, x.upper) for b in (y.lower, y.upper)]
    return _padded(np.minimum.reduce(corners), np.maximum.reduce(corners))


def product(a: Interval, b: Interval) -> Interval:
    r"""Product of matrices, over leading axes, or of a matrix and a vector (Rump: by middle and radius).

    .. math:: |A B - fl(A_m B_m)| \le |A_m| B_r + A_r (|B_m| + B_r) + \gamma_n |A_m| |B_m|
    """
    am, ar, bm, br = a.middle, a.radius, b.middle, b.radius
    n = am.shape[-1]
    size, wide = np.abs(am), np.abs(bm) + br
    with np.errstate(invalid="ignore", over="ignore"):
        radius = rounded_up(size @ (br + (n + 2) * 2.0 * UNIT * wide) + ar @ wide)
    if not np.isfinite(radius).all():
        radius = np.where(np.isnan(radius), np.inf, radius)
    return Interval.around(am @ bm, radius)
