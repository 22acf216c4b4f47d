"""Array types named by shape.

Shapes are written in docstrings, not in types: ``(nq,)`` is a configuration, ``(nv,)`` a tangent vector, and a leading
``...`` stands for any number of batch axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike as ArrayLike, NDArray

FLOAT64 = np.dtype(np.float64)
"""Compared with ``==``: an array that comes out of a pickle has a copy of it."""

Vector: TypeAlias = NDArray[np.float64]
"""One vector, or vectors stacked along leading axes."""

Matrix: TypeAlias = NDArray[np.float64]
"""One matrix, or matrices stacked along leading axes."""

TangentLike: TypeAlias = ArrayLike | Mapping[str, ArrayLike]
"""What is taken for a tangent vector (nv,): numbers, or numbers by factor (by joint, of a robot), the others zero."""

Indices: TypeAlias = NDArray[np.intp]
"""Positions in a vector."""

BoolVector: TypeAlias = NDArray[np.bool_]
"""One truth value a coordinate."""

Numbers: TypeAlias = Any
"""Whatever numpy reads as real numbers, as `numpy.typing.ArrayLike`. Maps ask its shape before they know that it is an
array, which a type checker allows of Any alone."""


def runs(mask: BoolVector) -> tuple[slice, ...]:
    """The true entries of a mask (n,) as slices, each as long as it can be."""
    edges = np.flatnonzero(np.diff(np.r_[False, mask, False].astype(np.int8))).tolist()
    return tuple(slice(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True))
