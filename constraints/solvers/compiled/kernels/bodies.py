r"""Free bodies with bounds on their translation: steps in which a coordinate of it is a column.

.. math:: J' = J\, \mathrm{diag}(R^T, 1), \qquad p \leftarrow p + dp, \quad R \leftarrow R \exp(w)

As `newton.free_bodies`.
"""

from __future__ import annotations

from ..layout import BODIES
from .groups import rotate
from .jit import Floats, Integers, kernel


@kernel
def columns_turned(I: Integers, W: Floats, q: int, J: int, m: int) -> None:
    """Columns of m numbers by the coordinates of the translations, in place of velocities in the bodies' frames."""
    bodies = I[BODIES]
    for n in range(I[bodies]):
        b = bodies + 1 + 4 * n
        size, r, o = I[b], q + I[b + 2], J + I[b + 3] * m
        if size == 3:
            for i in range(m):
                x, y, z = W[o + i], W[o + m + i], W[o + 2 * m + i]
                x, y, z = rotate(W[r], W[r + 1], W[r + 2], W[r + 3], x, y, z)
                W[o + i], W[o + m + i], W[o + 2 * m + i] = x, y, z
        else:
            c, s = W[r], W[r + 1]
            for i in range(m):
                x, y = W[o + i], W[o + m + i]
                W[o + i], W[o + m + i] = c * x - s * y, s * x + c * y


@kernel
def translated(I: Integers, W: Floats, q: int, before: int, step: int, part: float) -> None:
    """Translations of q: those of the configuration before, moved by coordinate."""
    bodies = I[BODIES]
    for n in range(I[bodies]):
        b = bodies + 1 + 4 * n
        for i in range(I[b]):
            W[q + I[b + 1] + i] = W[before + I[b + 1] + i] + part * W[step + I[b + 3] + i]
