"""Closures given by the axes they hold: turned into the hinge that is left, or refused with the hinge to use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from liegroups.arguments import truth_values
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ..errors import DtypeError, SizeError, WrongObjectError
from .hinges.hinge import Hinge, HingeTypeError, composed


def hinge_of_mask(mask: Sequence[bool]) -> Hinge:
    """The hinge that is left when some of six axes are held: x, y, z, then rotations about x, y, z.

    Args:
        mask: six truth values, true for what is held, in the predecessor's frame.

    Raises:
        HingeTypeError: one rotation is held and two are free, which no hinge leaves.
    """
    words = "six truth values, translations then rotations"
    held = truth_values(mask, "mask of a closure", words)
    if held.shape != (6,):
        raise WrongObjectError("mask of a closure", words, str(mask))
    return hinge_of_axes(np.eye(6)[held])


def hinge_of_axes(axes: ArrayLike) -> Hinge:
    """The hinge that is left when motions along some spatial axes are held.

    Args:
        axes: (k, 6) in the predecessor's frame, linear then angular: unit, each either a direction of translation or
            one of rotation, orthogonal to each other. (RBDL has the angular part first.)

    Raises:
        SizeError, DtypeError: no such array.
        HingeTypeError: axes that are not unit, not orthogonal, or mixed; or one rotation held and two free.
    """
    try:
        array = np.asarray(axes)
    except ValueError:
        raise SizeError("axes of a closure", "k rows of 6", "rows of different lengths") from None
    if array.dtype.kind not in "iuf":
        raise DtypeError("axes of a closure", array.dtype)
    if array.ndim != 2 or array.shape[1] != 6 or len(array) > 6:
        raise SizeError("axes of a closure", "k rows of 6", array.shape)
    rows: Matrix = array.astype(np.float64)
    for i, row in enumerate(rows):
        linear, angular = float(row[:3] @ row[:3]), float(row[3:] @ row[3:])
        if not abs(linear + angular - 1.0) < 1e-6:
            raise HingeTypeError(f"axis {i} of a closure: expected a unit vector, got one of norm "
                                 f"{np.sqrt(linear + angular):.6g}")  # fmt: skip
        if linear > 1e-12 and angular > 1e-12:
            raise HingeTypeError(
                f"axis {i} of a closure mixes translation and rotation: use Hinge.helical for a screw, or an Implicit "
                "with your own function"
            )
    if np.abs(rows @ rows.T - np.eye(len(rows))).max(initial=0.0) > 1e-6:
        raise HingeTypeError("axes of a closure: expected directions at right angles to each other")
    turning = np.abs(rows[:, 3:]).max(axis=1, initial=0.0) > 0.5
    return _hinge(rows[~turning, :3], rows[turning, 3:], rows)


def _hinge(linear: Matrix, angular: Matrix, held: Matrix) -> Hinge:
    """The hinge that slides across the linear axes, and turns about what the angular ones leave."""
    sliders = _rest(linear)
    if len(angular) == 1:
        raise HingeTypeError(
            f"one rotation is held, about {_words(angular[0])}, and two are free: no joint allows that at every angle. "
            "Use Hinge.universal or Hinge.hooke (two pins at a right angle), hold two rotations (Hinge.pin about the "
            "third axis), or use an Implicit with a mask, which accepts any row"
        )
    axis = _rest(angular)[0] if len(angular) == 2 else None
    named = {
        (0, 3): Hinge.locked, (3, 3): Hinge.translational, (0, 0): Hinge.ball, (3, 0): Hinge.free,
    }  # fmt: skip
    if (len(sliders), len(angular)) in named:
        return named[len(sliders), len(angular)]()
    if axis is None and len(angular) == 3:
        return Hinge.slider(sliders[0]) if len(sliders) == 1 else Hinge.two_sliders(linear[0])
    if axis is not None and len(sliders) == 0:
        return Hinge.pin(axis)
    if axis is not None and len(sliders) == 1 and abs(sliders[0] @ axis) > 1.0 - 1e-12:
        return Hinge.cylindrical(axis)
    if axis is not None and len(sliders) == 2 and abs(linear[0] @ axis) > 1.0 - 1e-12:
        return Hinge.planar(axis)
    return composed(sliders, axis, read_only(held))


def _rest(directions: Matrix) -> Matrix:
    """Unit directions (3 - k, 3) at right angles to the given ones; axes of the frame where these do."""
    rest: list[Vector] = []
    for candidate in (*np.eye(3),):
        vector: Any = candidate
        for other in (*directions, *rest):
            vector = vector - (vector @ other) * other
        norm = float(np.sqrt(vector @ vector))
        if norm > 0.5:
            rest.append(vector / norm)
    if len(directions) + len(rest) < 3:  # oblique axes: the null space
        return np.asarray(np.linalg.svd(directions)[2][len(directions) :], dtype=np.float64)
    return np.array(rest).reshape(-1, 3)


def _words(axis: Vector) -> str:
    return f"({', '.join(f'{x:.3g}' for x in axis)})"
