"""Reading numbers from a user: every array that comes in passes here once."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from operator import index
from typing import SupportsIndex, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Vector
from .errors import DtypeError, NotFiniteError, NotNormalizedError, SizeError
from .layout import Factor

__all__ = ["finite_vector", "natural_number", "refuse_unnormalized", "stacked"]

_FLOAT64 = np.dtype(np.float64)


def _is_float64(values: object) -> TypeGuard[Vector]:
    return type(values) is np.ndarray and getattr(values, "dtype", None) is _FLOAT64


def finite_vector(values: ArrayLike, n: int, what: str) -> Vector:
    """Read n finite real numbers as a float64 vector; an array that is one already comes back as it is.

    Raises:
        DtypeError: truth values, complex numbers, strings, objects, ragged lists.
        SizeError: another shape than (n,).
        NotFiniteError: NaN or infinity.
    """
    if _is_float64(values) and values.shape == (n,):
        square = float(values.dot(values))
        if square - square == 0.0:  # neither NaN nor infinity; what overflows is looked at below
            return values
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise DtypeError(what, f"{type(values).__name__} ({error})") from error
    if array.dtype.kind not in "iuf":
        raise DtypeError(what, array.dtype)
    if array.shape != (n,):
        raise SizeError(what, n, array.size if array.ndim == 1 else array.shape)
    with np.errstate(over="ignore"):
        vector = array.astype(np.float64, copy=False)
    if not isfinite(sum(vector.tolist())) and not np.isfinite(vector).all():
        raise NotFiniteError(what, np.flatnonzero(~np.isfinite(vector)).tolist())
    return vector


def stacked(values: ArrayLike, n: int, what: str) -> Vector:
    """Read vectors of n entries stacked along leading axes, as float64; only sizes are checked.

    Raises:
        SizeError: the last axis has another size.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != n:
        raise SizeError(what, n, array.shape)
    return array


def natural_number(n: SupportsIndex, what: str) -> int:
    """Read a number of dimensions or of copies.

    Raises:
        SizeError: not an integer, or below zero.
    """
    try:
        number = index(n)
    except TypeError as error:
        raise SizeError(what, "an integer", repr(n)) from error
    if number < 0:
        raise SizeError(what, "0 or more", number)
    return number


def refuse_unnormalized(q: Vector, leaves: Sequence[Factor], what: str, tolerance: float) -> None:
    """Raise for the first unit block of q whose norm is further from 1 than the tolerance.

    Raises:
        NotNormalizedError: names the factor and the place of the block.
    """
    for leaf in leaves:
        for block in leaf.space.unit_blocks:
            start, stop = leaf.q.start + block.start, leaf.q.start + block.stop
            kind = {2: "(cos, sin)", 4: "quaternion"}.get(stop - start, "unit vector")
            norm = sqrt(sum(x * x for x in q[start:stop].tolist()))
            if not abs(norm - 1.0) <= tolerance:
                raise NotNormalizedError(what, f"{kind} of factor {leaf.name!r}, q[{start}:{stop}],", norm)
