"""Wind on a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from constraints.robot import Frame, Motion
from liegroups.arrays import ArrayLike, Vector


@final
@dataclass(frozen=True, eq=False)
class Wind:
    r"""Wind of velocity w that drags the origin of a frame: :math:`f = c\,(w - \dot p)`, in world axes.

    Args:
        frame: frame name or Frame.
        velocity: w (3,) [m/s].
        drag: c [N s/m].
    """

    frame: Frame | str
    velocity: ArrayLike
    drag: float

    def generalised(self, motion: Motion) -> Vector:
        """Joint forces (nv,)."""
        frame = motion.posture.frame(self.frame)
        R, J = motion.posture.placement(frame).rotation, motion.posture.jacobian(frame)[:3]
        return self.drag * (R.T @ np.asarray(self.velocity) - J @ motion.v) @ J
