"""Steps of hinges: a pin, slider, screw or ball about an axis, and axes as users give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, final

import numpy as np

from liegroups import SO3, Rn, Space
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...robot.model.pinocchio import pin


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
