"""Results that went to their configuration in iterates, which can be drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ...exports import from_above
from ...solvers.result import ByJoint


class DrawnIterates(ByJoint):
    """A result with iterates up to its q."""

    def plot_iterates(
        self, path: str | os.PathLike[str] | None = None, poses: int = 6, view: str | Sequence[float] | None = None
    ) -> Any:
        """Figure of the iterates up to q: the robot at some of them, with open closures and residuals.

        Args:
            path: also write it there: a strip of poses, or with the suffix `.gif` an animation of all iterates.
            poses: number of poses in a strip.
            view: "xy", "xz", "yz", "3d", or (elevation, azimuth) [deg]; the plane of the motion by default.

        Returns:
            The matplotlib figure (extra `plot`).

        Raises:
            MissingExtraError: matplotlib is not installed.
            FileError: the file cannot be written.

        Source: `mbs_anim_close_geo` of Robotran.
        """
        this: Any = self
        return from_above("plot_iterates")(this, path, poses, view)
