"""A frame: a placement on a joint, known by a name."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups.arguments import as_name
from liegroups.frozen import set_fields

from ..errors import WrongObjectError
from .pinocchio import Placement, pin
from .placement import as_placement


@dataclass(frozen=True, eq=False)
class Frame:
    r"""Frame f fixed on joint j: :math:`{}^oM_f = {}^oM_j\, {}^jM_f`.

    Args:
        name: the name by which messages call it.
        joint: index of the joint that carries it; 0 is the world.
        placement: :math:`{}^jM_f` (`pinocchio.SE3`; what `rigid_transform` and `as_placement` know is taken too).
        joint_name: name of the joint, for printing.
    """

    name: str
    joint: int
    placement: Placement = field(default_factory=lambda: pin.SE3.Identity())
    joint_name: str = ""

    def __post_init__(self) -> None:
        """Own a copy of the placement."""
        as_name(self.name, "name of a frame")
        joint: Any = self.joint
        if not isinstance(joint, int | np.integer) or isinstance(joint, bool) or joint < 0:
            raise WrongObjectError(f"joint of frame '{self.name}'", "the index of a joint, 0 or more", repr(self.joint))
        set_fields(self, placement=as_placement(self.placement, f"placement of frame '{self.name}'").copy())

    def moved(self, offset: Placement) -> Frame:
        r"""The frame at an offset seen from this one, :math:`{}^jM_f\,{}^fM_{new}`, under the same name."""
        other = copy.copy(self)
        set_fields(other, placement=self.placement * offset)
        return other

    def __str__(self) -> str:
        return self.name
