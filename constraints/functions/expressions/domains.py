"""Where operators have no value; the kernels read it too."""

from __future__ import annotations

import math
import sys

LEAST_NORM = 1e-12
"""Of a vector that has a norm: below it, rounding of positions (1e-16) is more than a part in 1e4 of its direction."""

LARGEST_EXPONENT = math.log(sys.float_info.max)
"""Beyond this an exponential is no finite number."""
