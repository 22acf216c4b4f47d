"""Products of short vectors by BLAS itself: a third of the time of numpy's own, and plain floats."""

from __future__ import annotations

from collections.abc import Callable

from scipy.linalg import blas

from .arrays import Vector

__all__ = ["dot", "norm"]

dot: Callable[[Vector, Vector], float] = blas.ddot
"""Product of two contiguous vectors that are not empty."""

norm: Callable[[Vector], float] = blas.dnrm2
"""Norm of a contiguous vector that is not empty, also where its square would overflow."""
