"""Points whose unit blocks have norm 1: normalised, refused where they have not, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from .arguments import expect, natural_number, stacked
from .arrays import BoolVector, Vector
from .errors import EmptyIntervalError, NotNormalizedError, SizeError
from .layout import Factor

UNBOUNDED = 1e100
"""A bound beyond this is no bound: models write infinity as the largest double."""


def plain_entries(nq: int, unit_blocks: Sequence[slice]) -> BoolVector:
    """Mask (nq,) of the entries of q that belong to no unit block."""
    mask = np.ones(nq, dtype=np.bool_)
    for block in unit_blocks:
        mask[block] = False
    return mask


def normalized(q: Vector, unit_blocks: Sequence[slice]) -> Vector:
    """A copy of points (..., nq) with their unit blocks divided by their norms.

    Raises:
        NotNormalizedError: a block has norm zero.
    """
    out = np.array(q)
    for block in unit_blocks:
        part = out[..., block]
        norms = np.sqrt(np.sum(part * part, axis=-1, keepdims=True))
        if not np.all(norms > 0.0):
            raise NotNormalizedError("normalize", f"unit block {block.start}:{block.stop}", 0.0)
        part /= norms
    return out


def refuse_unnormalized(q: Vector, leaves: Sequence[Factor], what: str, tolerance: float) -> None:
    """Raise for the first unit block of q whose norm is further from 1 than the tolerance.

    Raises:
        NotNormalizedError: names the factor and the place of the block.
    """
    for leaf in leaves:
        for block in leaf.space.unit_blocks:
            start, stop = leaf.q.start + block.start, leaf.q.start + block.stop
            kind = {2: "(cos, sin)", 4: "quaternion"}.get(stop - start, "unit vector")
            norm = hypot(*q[start:stop].tolist())
            if not abs(norm - 1.0) <= tolerance:
                raise NotNormalizedError(what, f"{kind} of factor {leaf.name!r}, q[{start}:{stop}],", norm)


@final
class UniformPoints:
    """Points of nq coordinates, to be drawn at random.

    Unit blocks are normalised Gaussian vectors, which are uniform on the sphere: (cos, sin) of a uniform angle, or the
    quaternion of a rotation drawn by the Haar measure. An infinite lower bound stands for -1, or for the upper bound
    less 2 where that is smaller; an infinite upper bound for 1, or for the lower bound plus 2 where that is larger.

    Args:
        nq: number of coordinates.
        unit_blocks: those of unit norm.
        lower, upper: bounds of the others (nq,).

    Raises:
        SizeError: a bound has the wrong size.
        EmptyIntervalError: a lower bound is above its upper bound, or one is NaN.
        DtypeError: a bound is no number.
    """

    __slots__ = ("_high", "_low", "_unit_blocks")

    def __init__(
        self, nq: int, unit_blocks: Sequence[slice], lower: ArrayLike | None = None, upper: ArrayLike | None = None
    ) -> None:
        plain = plain_entries(nq, unit_blocks)
        if isinstance(lower, int) and nq != 1:
            raise SizeError("lower bounds", nq, (), f"how many points is size={lower}")
        low = np.full(nq, -np.inf) if lower is None else np.array(stacked(lower, nq, "lower bounds"))
        high = np.full(nq, np.inf) if upper is None else np.array(stacked(upper, nq, "upper bounds"))
        for what, bound in (("lower bounds", low), ("upper bounds", high)):
            if bound.shape != (nq,):
                raise SizeError(what, nq, bound.shape)
        for i in np.flatnonzero(plain & ~(low <= high)):
            raise EmptyIntervalError(f"coordinate {i}", float(low[i]), float(high[i]))
        low[~plain], high[~plain] = -1.0, 1.0
        no_low, no_high = low < -UNBOUNDED, high > UNBOUNDED
        low = np.where(no_low, np.where(no_high, -1.0, np.minimum(-1.0, high - 2.0)), low)
        self._low, self._high = low, np.where(no_high, np.maximum(1.0, low + 2.0 * ~no_low), high)
        self._unit_blocks = tuple(unit_blocks)

    def draw(self, rng: np.random.Generator, size: int | None = None) -> Vector:
        """Some of them (size, nq), or one (nq,).

        Raises:
            WrongObjectError: no generator.
            SizeError: the size is no number of points.
        """
        expect(rng, np.random.Generator, "rng", "a numpy.random.Generator, as numpy.random.default_rng(0)")
        count, low, high = 1 if size is None else natural_number(size, "size of random points"), self._low, self._high
        u = rng.random((count, low.size))
        out = np.minimum(np.maximum(low * (1.0 - u) + high * u, low), high)
        for block in self._unit_blocks:
            shape, least = (count, block.stop - block.start), 0.0
            part, norms = np.zeros(shape), np.zeros((count, 1))
            while not least > 1e-6:
                part = rng.standard_normal(shape)
                norms = np.sqrt(np.add.reduce(part * part, axis=-1, keepdims=True))
                least = np.minimum.reduce(norms, axis=None, initial=1.0)
            out[:, block] = part / norms
        return out[0] if size is None else out
