"""Axes as users give them: three numbers, or a name."""

from __future__ import annotations

import numpy as np

from liegroups.arguments import finite_vector
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import read_only

from .errors import NotNormalizedError, UnknownNameError

ROUNDING_OF_A_UNIT_VECTOR = 2e-15
"""How far the norm of a vector that was normalised may be from 1."""

X, Y, Z = (tuple(row) for row in np.eye(3).tolist())
_AXES = {"x": X, "y": Y, "z": Z, "-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0)}


def unit_axis(axis: ArrayLike, what: str) -> Vector:
    """A unit vector (3,), read-only; one that is unit to rounding keeps its bits.

    Args:
        axis: three numbers, or the name of an axis of the frame: "x", "y", "z", "-x", "-y", "-z".
        what: how an error message names it.

    Raises:
        UnknownNameError: text that names no axis.
        SizeError, DtypeError, NotFiniteError: not three numbers.
        NotNormalizedError: its norm is further than 1e-6 from 1.
    """
    if isinstance(axis, str):
        if axis.lower() not in _AXES:
            raise UnknownNameError("axis", axis, tuple(_AXES), f"{what}: no axis is named {axis!r}")
        axis = _AXES[axis.lower()]
    direction = finite_vector(axis, 3, what, "or 'x', 'y', 'z', '-x', '-y', '-z'")
    norm = float(np.sqrt(direction @ direction))
    if abs(norm - 1.0) > 1e-6:
        raise NotNormalizedError(what, "unit axis", norm)
    return read_only(direction / norm if abs(norm - 1.0) > ROUNDING_OF_A_UNIT_VECTOR else np.array(direction))
