"""Array types, named by shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ArrayLike", "BoolVector", "Indices", "Matrix", "Vector"]

Vector = NDArray[np.float64]
"""(n,) numbers."""
Matrix = NDArray[np.float64]
"""(m, n) numbers."""
BoolVector = NDArray[np.bool_]
"""(n,) truth values."""
Indices = NDArray[np.intp]
"""(n,) indices."""
