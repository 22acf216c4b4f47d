"""Wrenches that act on bodies of a robot from outside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arguments import as_tuple, expect, finite_vector
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import read_only, set_fields

from ..loops import Axes
from ..robot import Frame, Motion


@final
@dataclass(frozen=True, eq=False)
class ExternalForce:
    r"""A wrench on the body that carries a frame, at the origin of that frame.

    Args:
        frame: frame name or Frame.
        wrench: force then moment (6,) [N, N m].
        axes: LOCAL, those of the frame, or LOCAL_WORLD_ALIGNED, those of the world.
    """

    frame: Frame | str
    wrench: ArrayLike
    axes: Axes = Axes.LOCAL

    def __post_init__(self) -> None:
        """Check the numbers."""
        expect(self.axes, Axes, "axes of an external force", "Axes.LOCAL or Axes.LOCAL_WORLD_ALIGNED")
        set_fields(self, wrench=read_only(np.array(finite_vector(self.wrench, 6, "wrench of an external force"))))

    def in_frame(self, motion: Motion) -> tuple[Frame, Vector]:
        """The frame, and the wrench in its axes (6,)."""
        frame, wrench = motion.posture.frame(self.frame), np.asarray(self.wrench)
        if self.axes is Axes.LOCAL:
            return frame, wrench
        R = motion.posture.placement(frame).rotation
        return frame, np.concatenate([wrench[:3] @ R, wrench[3:] @ R])


def as_external(forces: Iterable[ExternalForce]) -> tuple[ExternalForce, ...]:
    """External forces, from what a user gave."""
    given = as_tuple(forces, "external forces", "ExternalForce")
    for i, force in enumerate(given):
        expect(force, ExternalForce, f"external force {i}", "an ExternalForce(frame, wrench)")
    return given


def generalised(forces: Iterable[ExternalForce], motion: Motion) -> Vector:
    r"""Generalised force (nv,) of external forces: the sum of :math:`J_f^T w`."""
    total = np.zeros(motion.posture.space.nv)
    for force in forces:
        frame, wrench = force.in_frame(motion)
        total += wrench @ motion.posture.jacobian(frame)
    return total
