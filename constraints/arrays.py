"""Array types, named by shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ArrayLike", "BoolVector", "Indices", "Matrix", "Vector", "runs"]

Vector = NDArray[np.float64]
"""(n,) numbers."""
Matrix = NDArray[np.float64]
"""(m, n) numbers."""
BoolVector = NDArray[np.bool_]
"""(n,) truth values."""
Indices = NDArray[np.intp]
"""(n,) indices."""


def runs(mask: BoolVector) -> tuple[slice, ...]:
    """The true entries of a mask (n,) as slices, each as long as it can be."""
    edges = np.flatnonzero(np.diff(np.r_[False, mask, False].astype(np.int8))).tolist()
    return tuple(slice(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True))
