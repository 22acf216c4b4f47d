"""What robots, mechanisms and constraint sets have in common: they draw themselves (extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from liegroups.arrays import ArrayLike

from .frame import Frame


class Drawn:
    """Has `plot` and `animate`, which are `pictures.plot_robot` and `pictures.animate` of it."""

    def plot(
        self,
        q: ArrayLike | None = None,
        path: str | os.PathLike[str] | None = None,
        *,
        view: str | Sequence[float] | None = None,
        ax: Any = None,
        tips: Sequence[str | Frame] = (),
        frames: Sequence[str | Frame] = (),
        placements: Sequence[object] = (),
        shapes: Iterable[Any] = (),
        colour: str | None = None,
    ) -> Any:
        """Draw a configuration as a stick figure: joints are dots, open closures are dashed lines.

        `matplotlib.pyplot.show()` opens the figure, a notebook shows it below the cell. With a path it is written to
        the file instead, and no figure stays open.

        Args:
            q: configuration (nq,), or several (n, nq), drawn over each other, the last one the strongest; the neutral
                one, put into the bounds, by default, or the first posture of a mechanism.
            path: the file that the figure is written to; its ending says the format.
            view: "xy", "xz", "yz", "3d", or (elevation, azimuth) [deg]. By default the plane in which all joints move,
                and "3d" where there is none.
            ax: matplotlib axes to draw in, made with `projection="3d"` unless the view is flat.
            tips: frames at the ends, for instance a hand, drawn as larger dots.
            frames: frames of the robot, drawn as three arrows: x red, y green, z blue.
            placements: placements in the world, drawn so, for instance a target.
            shapes: solids (`manipulation.Shape`); geometry of URDF files is not drawn.
            colour: one for all; by default each robot and object of a system has its own.

        Returns:
            the matplotlib figure.

        Raises:
            SizeError, NotFiniteError, NotNormalizedError, DtypeError: what is wrong with q.
            UnknownFrameError, UnknownNameError: a frame, or a view, that there is not.
            WrongObjectError: axes that do not suit the view; a frame, a placement or a shape that is in no sequence.
            MissingExtraError: matplotlib is not installed.
            FileError: the file cannot be written.
        """
        from ..pictures import plot_robot

        what: Any = self
        return plot_robot(
            what, q, path, view=view, ax=ax, tips=tips, frames=frames, placements=placements, shapes=shapes,
            colour=colour,
        )  # fmt: skip

    def animate(
        self,
        configurations: ArrayLike,
        path: str | os.PathLike[str] | None = None,
        *,
        rate: float = 15.0,
        view: str | Sequence[float] | None = None,
        tips: Sequence[str | Frame] = (),
        frames: Sequence[str | Frame] = (),
        placements: Sequence[object] = (),
        shapes: Iterable[Any] = (),
    ) -> Any:
        """Configurations one after the other, as an animation of matplotlib's, also written to a file.

        `matplotlib.pyplot.show()` opens its window, a notebook shows it with its controls.

        Args:
            configurations: (n, nq).
            path: the file that it is written to: `.gif`, `.html` (with its controls), or `.mp4` (needs ffmpeg).
            rate: configurations a second.
            view, tips, frames, placements, shapes: as in `plot`.

        Returns:
            the animation, a `matplotlib.animation.FuncAnimation`.

        Raises:
            OptionError: a rate that is not positive.
            SizeError, NotFiniteError, NotNormalizedError, DtypeError, UnknownFrameError: as `plot`.
            UnknownNameError, WrongObjectError, MissingExtraError: as `plot`.
            FileError: the file cannot be written, or not as an animation.
        """
        from ..pictures import animate

        what: Any = self
        return animate(
            configurations, path, shapes, robot=what, rate=rate, view=view, tips=tips, frames=frames,
            placements=placements,
        )  # fmt: skip
