"""Statuses of kernels."""

from __future__ import annotations

import numpy as np

from ..engine import CODE_OF_STATUS
from ..status import Status

STATUSES = (
    Status.CONVERGED,
    Status.STALLED,
    Status.MAX_ITERATIONS,
    Status.STATIONARY,
    Status.OUT_OF_BOUNDS,
    Status.UNDEFINED,
)
"""In the order of `layout`."""
CODES = np.array([CODE_OF_STATUS[status] for status in STATUSES], dtype=np.int8)
"""Of a batch, in the same order."""
