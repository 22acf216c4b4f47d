"""The motion that an equilibrium keeps: velocities and accelerations that were given, and those of drives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Indices, TangentLike, Vector

from ...errors import OptionError
from ...keywords import unchanging
from ...rows.right_hand_side import RightHandSide
from ..coordinates import MinimalCoordinates
from ..system import target_accelerations
from .balance import Scalars


class EquilibriumKind(Enum):
    """The part of the motion that an equilibrium keeps."""

    STATIC = "all velocities and accelerations are zero, also of joints that are driven in time"
    QUASI_STATIC = "velocities are kept, accelerations are zero"
    MOVING = "velocities and accelerations are kept"


@final
@unchanging("make a changed copy with dataclasses.replace")
@dataclass(frozen=True, eq=False)
class KeptMotion:
    """The motion that an equilibrium keeps; each part a value or a function of the unknown scalars. Immutable.

    Attributes:
        v: velocity (nv,): its independent and driven parts; zero by default.
        kind: what is kept. The default depends on the others: STATIC without v and accelerations, QUASI_STATIC with v,
            MOVING with accelerations. Joints driven in time, and targets of rows, have their velocity at t if
            velocities are kept, and their acceleration if accelerations are.
        acceleration: of the independent coordinates (nu,); zero by default.
        driven_acceleration: of the driven ones (nc,); by default from their targets, or zero.

    Raises:
        OptionError: something is given that the kind does not keep.
    """

    v: TangentLike | Callable[[Scalars], TangentLike] | None = None
    kind: EquilibriumKind | None = field(default=None, kw_only=True)
    acceleration: TangentLike | Callable[[Scalars], TangentLike] | None = field(default=None, kw_only=True)
    driven_acceleration: TangentLike | Callable[[Scalars], TangentLike] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check that the kind keeps what was given."""
        if self.kind is None:
            return
        kind = expect(self.kind, EquilibriumKind, "kind of an equilibrium")
        if self._is_accelerated and kind is not EquilibriumKind.MOVING:
            raise OptionError(f"kind of an equilibrium: {kind.name} keeps no accelerations, but some were given")
        if self.v is not None and kind is EquilibriumKind.STATIC:
            raise OptionError("kind of an equilibrium: STATIC keeps no velocities, but v was given")

    @property
    def _is_accelerated(self) -> bool:
        return self.acceleration is not None or self.driven_acceleration is not None

    @property
    def what(self) -> EquilibriumKind:
        """The kind, also where none was given."""
        if self.kind is not None:
            return self.kind
        if self._is_accelerated:
            return EquilibriumKind.MOVING
        return EquilibriumKind.STATIC if self.v is None else EquilibriumKind.QUASI_STATIC


def kept_sides(rhs: RightHandSide, kind: EquilibriumKind) -> RightHandSide:
    """Right-hand sides with the rates that are kept."""
    if kind is EquilibriumKind.MOVING:
        return rhs
    if kind is EquilibriumKind.QUASI_STATIC:
        return RightHandSide(rhs.stack, rhs.vector, rhs.velocity)
    return rhs.with_valid(rhs.vector.copy())


def kept_speeds(coordinates: MinimalCoordinates, kind: EquilibriumKind, t: float) -> tuple[Indices, Vector]:
    """Columns of joints that are driven in time, and the velocities that they keep."""
    robot = coordinates.constraint_set.robot
    columns, speeds = [np.zeros(0, dtype=np.intp)], [np.zeros(0)]
    for joint, target in coordinates.targets.items():
        own = robot.segments(joint)
        columns.append(own.v_indices)
        still = kind is EquilibriumKind.STATIC
        speeds.append(np.zeros(own.space.nv) if still else target.velocity_at(t, own.space))
    return np.concatenate(columns), np.concatenate(speeds)


def kept_acceleration(coordinates: MinimalCoordinates, kept: KeptMotion, t: float) -> Any:
    """Accelerations of the driven coordinates: as given, or those of their targets where they are kept."""
    if kept.driven_acceleration is not None or kept.what is not EquilibriumKind.MOVING:
        return kept.driven_acceleration
    return target_accelerations(coordinates, t)
