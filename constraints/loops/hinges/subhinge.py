"""Steps of hinges: a pin, slider, screw or ball about an axis, and axes as users give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, final

import numpy as np

from liegroups import SO3, Rn, Space
from liegroups.arguments import finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...errors import NotNormalizedError, UnknownNameError
from ...robot.model.pinocchio import pin

ROUNDING_OF_A_UNIT_VECTOR = 2e-15
"""How far the norm of a vector that was normalised may be from 1."""

X, Y, Z = (tuple(row) for row in np.eye(3).tolist())
_AXES = {"x": X, "y": Y, "z": Z, "-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0)}


class SubhingeMotion(Enum):
    """What a sub-hinge does."""

    PIN = "pin"
    SLIDER = "slider"
    SCREW = "screw"
    BALL = "ball"


@final
@dataclass(frozen=True, eq=False)
class Subhinge:
    """One step of a hinge.

    Attributes:
        motion: what it does.
        axis: unit (3,), in the frame the steps before it lead to (and `turn`).
        pitch: of a screw, advance a radian [m/rad].
        turn: constant rotation (3, 3) before it, or None.
        space: of its coordinates; `nq` and `nv` are its sizes.
        subspace: body twists (6, nv) of its unit rates.
    """

    motion: SubhingeMotion
    axis: Vector
    pitch: float = 0.0
    turn: Matrix | None = None

    space: Space = field(init=False)
    subspace: Matrix = field(init=False)
    nq: int = field(init=False)
    nv: int = field(init=False)

    def __post_init__(self) -> None:
        """Note what follows from the motion."""
        linear = {SubhingeMotion.PIN: 0.0, SubhingeMotion.SLIDER: 1.0, SubhingeMotion.SCREW: self.pitch}.get(
            self.motion, 0.0
        )
        angular = 0.0 if self.motion is SubhingeMotion.SLIDER else 1.0
        twist = np.concatenate([linear * self.axis, angular * self.axis])[:, None]
        space: Space = SO3 if self.is_ball else Rn(1)
        subspace = np.vstack([np.zeros((3, 3)), np.eye(3)]) if self.is_ball else twist
        set_fields(self, space=space, subspace=read_only(subspace), nq=space.nq, nv=space.nv)

    @property
    def is_ball(self) -> bool:
        """Whether it turns about every axis."""
        return self.motion is SubhingeMotion.BALL

    @property
    def turns(self) -> bool:
        """Whether it rotates."""
        return self.motion is not SubhingeMotion.SLIDER

    def placement(self, coordinates: Vector) -> Any:
        """Placement of its outer frame in the frame before it."""
        if self.motion is SubhingeMotion.BALL:
            moved = pin.XYZQUATToSE3(np.concatenate([np.zeros(3), coordinates]))
        else:
            moved = pin.exp6(self.subspace[:, 0] * coordinates.item())
        return moved if self.turn is None else pin.SE3(self.turn, np.zeros(3)) * moved


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
