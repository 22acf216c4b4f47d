"""Robots and configurations for people: in words, and in pictures (extra `plot`)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from liegroups import SE2, SE3, SO2, Factor
from liegroups.arrays import ArrayLike, BoolVector, Vector

from ..exports import from_above
from ..words import counted
from .bounds import Bounds
from .files.urdf import FREE_ROBOTS
from .frame import Frame
from .model.joints import joint_kind, radian_columns
from .space import RobotSpace

if TYPE_CHECKING:
    from .robot import Robot


def configuration_table(q: Vector, bounds: Bounds, space: RobotSpace) -> str:
    """Write a configuration as a table: a line a joint, with type and units, and a mark where it is out of bounds.

    Args:
        q: configuration (nq,).
        bounds: bounds of the robot.
        space: space of the robot.
    """
    if not space.nq:
        return "(no joints)"
    radians = radian_columns(space.model)
    outside = {violation.entry: violation.amount for violation in bounds.violations(q)}
    rows: list[tuple[str, str, str, str]] = []
    for factor, kind in zip(space.factors, joint_kinds(space), strict=True):
        written = [_leaf(leaf, q[factor.q], radians[factor.v]) for leaf in factor.space.leaves()]
        marks = [
            f"{q[i]:.6g} < {bounds.lower[i]:.6g}" if outside[i] < 0 else f"{q[i]:.6g} > {bounds.upper[i]:.6g}"
            for i in range(factor.q.start, factor.q.stop)
            if i in outside
        ]
        rows.append((factor.name, kind, "; ".join(written), f"OUT OF BOUNDS: {', '.join(marks)}" if marks else ""))
    wide = [max(len(row[i]) for row in rows) for i in range(3)]
    return "\n".join(f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c:<{wide[2]}}  {d}".rstrip() for a, b, c, d in rows)


def joint_kinds(space: RobotSpace) -> tuple[str, ...]:
    """Types of the joints in words, in the order of q."""
    return tuple(joint_kind(space.model.joints[i]) for i in range(1, space.model.njoints))


def _leaf(leaf: Factor, q: Vector, radians: BoolVector) -> str:
    """Entries of one group of a joint with their units; an angle in degrees too."""
    values: list[float] = q[leaf.q].tolist()
    words = [f"{x: z.4f}" for x in values]
    if leaf.space.is_flat:
        return ", ".join(
            f"{word} rad ({math.degrees(x):z.1f} deg)" if angle else f"{word} m"
            for word, x, angle in zip(words, values, radians[leaf.v], strict=True)
        )
    n = 2 if leaf.space == SE2 else 3 if leaf.space == SE3 else 0
    start = f"{', '.join(words[:n])} m, " if n else ""
    if leaf.space in (SO2, SE2):
        return f"{start}{', '.join(words[n:])} cos, sin ({math.degrees(math.atan2(values[-1], values[-2])):z.1f} deg)"
    return f"{start}{', '.join(words[n:])} quaternion xyzw"


def description(robot: Robot) -> str:
    """Write down a robot: its joints with types and bounds, its frames and reference postures counted, its mimics."""
    lines = [
        f"{robot.name}: {counted(len(robot.joint_names), 'joint')}, nq {robot.nq}, nv {robot.nv}, "
        f"{counted(len(robot.frame_names), 'frame')}, reference postures: {', '.join(robot.references) or 'none'}"
    ]
    wide = max((len(name) for name in robot.joint_names), default=0)
    for joint, kind in zip(robot.joint_names, joint_kinds(robot.space), strict=True):
        q = robot.slice_of(joint)
        pairs = zip(robot.bounds.lower[q].tolist(), robot.bounds.upper[q].tolist(), strict=True)
        boxes = [f"[{low:.6g}, {high:.6g}]" for low, high in pairs if math.isfinite(low) or math.isfinite(high)]
        frozen = ", cannot move: both bounds are equal" if joint in robot.bounds.frozen_joints else ""
        lines.append(f"  {joint:<{wide}}  {kind}, {', '.join(dict.fromkeys(boxes)) or 'no bounds'}{frozen}")
    if not robot.nv:
        lines.append(f"  nothing moves: all its joints are fixed; {FREE_ROBOTS}")
    for mimic in robot.mimics:
        law = f"{mimic.multiplier:g} * {mimic.source} + {mimic.offset:g}"
        lines.append(f"  mimic, not enforced: {mimic.joint} = {law}")
    if robot.disabled_collisions:
        lines.append(f"  disabled collisions: {len(robot.disabled_collisions)} pairs of links")
    return "\n".join(lines)


class Drawn:
    """What robots and mechanisms have in common: `plot` and `animate` (`pictures.plot_robot`, `pictures.animate`)."""

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
        forces: Iterable[Any] = (),
        names: bool = False,
        degrees: bool | None = None,
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
            shapes: solids (`manipulation.Shape`); geometry of URDF files is drawn by `pictures.render`.
            forces: springs, dampers and links among them are drawn.
            names: whether the name of each joint is beside it.
            degrees: True for angles in degrees beside the names, False for radians; by default no values.
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
        what: Any = self
        return from_above("plot_robot")(
            what, q, path, view=view, ax=ax, tips=tips, frames=frames, placements=placements, shapes=shapes,
            forces=forces, names=names, degrees=degrees, colour=colour,
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
        what: Any = self
        return from_above("animate")(
            configurations, path, shapes, robot=what, rate=rate, view=view, tips=tips, frames=frames,
            placements=placements,
        )  # fmt: skip
