"""Array types named by shape.

Shapes are written in docstrings, not in types: ``(nq,)`` is a configuration, ``(nv,)`` a tangent vector, and a leading
``...`` stands for any number of batch axes.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolVector", "Indices", "Matrix", "Vector"]

Vector: TypeAlias = NDArray[np.float64]
"""One vector, or vectors stacked along leading axes."""

Matrix: TypeAlias = NDArray[np.float64]
"""One matrix, or matrices stacked along leading axes."""

Indices: TypeAlias = NDArray[np.intp]
"""Positions in a vector."""

BoolVector: TypeAlias = NDArray[np.bool_]
"""One truth value a coordinate."""
