"""Where operators have no value; the kernels read it too."""

from __future__ import annotations

import math
import sys

COINCIDENT = 1e-12
"""A norm up to this is that of no vector: rounding of positions, 1e-16, would be a part in 1e4 of its direction."""

LARGEST_EXPONENT = math.log(sys.float_info.max)
"""Beyond this an exponential is no finite number."""
