"""Results that close a mechanism, or do not, and went to their configuration in iterates, which can be drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, final

from ...exports import from_above
from ...robot.bounds import Violation
from ...solvers.result import ByJoint
from ...words import counted


class ClosingResult(ByJoint):
    """A result for a `constraint_set`, with its `errors`, and iterates up to its q."""

    @property
    @final
    def worst(self) -> str:
        """Name of the constraint with the largest error at q; empty if a function has no value."""
        this: Any = self
        return next((name for name, _ in this.errors), "")

    @property
    @final
    def violations(self) -> tuple[Violation, ...]:
        """Coordinates of q outside the bounds of the robot, also where it was asked to keep none."""
        this: Any = self
        return this.constraint_set.robot.bounds.violations(this.q)

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

    def __repr__(self) -> str:
        this: Any = self
        iterations = counted(this.iterations, "iteration")
        return f"{type(self).__name__}({this.status.name}, residual {this.residual:.3g}, {iterations})"
