"""A frame: a placement on a joint, known by a name."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, NoReturn, final

import numpy as np

from liegroups.arguments import as_name
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ..errors import FrozenValueError, WrongObjectError
from ..keywords import unchanging
from .model.pinocchio import Placement, pin
from .placement import as_placement

_ANOTHER = "robot.with_frame(name, on, placement) adds a frame elsewhere, and placement.copy() can be changed"
_translation: Any = pin.SE3.translation.fget
_rotation: Any = pin.SE3.rotation.fget


@final
@unchanging(_ANOTHER)
class FixedPlacement(pin.SE3):
    """A `pinocchio.SE3` that does not change: `translation` and `rotation` are read-only; what is made of it is not.

    `aMb.act(fixed)` is `aMb * fixed`, in half a microsecond less.

    Raises:
        FrozenValueError: something is set.
    """

    @property
    def translation(self) -> Vector:
        """Translation (3,) [m]."""
        return read_only(_translation(self))

    @property
    def rotation(self) -> Matrix:
        """Rotation matrix (3, 3)."""
        return read_only(_rotation(self))

    def __deepcopy__(self, memo: object) -> FixedPlacement:
        """Itself: pinocchio's would be one that changes."""
        return self

    def setIdentity(self) -> NoReturn:  # pinocchio's names
        """Refuse: it would change."""
        raise FrozenValueError("FixedPlacement", "setIdentity", _ANOTHER)

    def setRandom(self) -> NoReturn:
        """Refuse: it would change."""
        raise FrozenValueError("FixedPlacement", "setRandom", _ANOTHER)


@unchanging("robot.with_frame(name, on, placement) adds another one")
@dataclass(frozen=True, eq=False)
class Frame:
    r"""Frame f fixed on joint j: :math:`{}^oM_f = {}^oM_j\, {}^jM_f`.

    Args:
        name: its name in messages.
        joint: index of the joint that carries it; 0 is the world.
        placement: :math:`{}^jM_f` (`pinocchio.SE3`, or what `rigid_transform` and `as_placement` accept); copied.
        joint_name: name of the joint, for printing.
    """

    name: str
    joint: int
    placement: Placement = field(default_factory=lambda: pin.SE3.Identity())
    joint_name: str = ""

    def __post_init__(self) -> None:
        """Own a read-only copy of the placement."""
        as_name(self.name, "name of a frame")
        joint: Any = self.joint
        if not isinstance(joint, int | np.integer) or isinstance(joint, bool) or joint < 0:
            raise WrongObjectError(f"joint of frame '{self.name}'", "the index of a joint, 0 or more", repr(self.joint))
        placement = self.placement
        if not isinstance(placement, FixedPlacement):
            placement = FixedPlacement(as_placement(placement, f"placement of frame '{self.name}'"))
        set_fields(self, placement=placement)

    def moved(self, offset: Placement) -> Frame:
        r"""The frame at an offset from this one, :math:`{}^jM_f\,{}^fM_{new}`, with the same name."""
        other = copy.copy(self)
        set_fields(other, placement=FixedPlacement(self.placement * offset))
        return other

    def __str__(self) -> str:
        return self.name
