"""Robots and configurations for people: in words, and in pictures (extra `plot`)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from liegroups import SE2, SO2
from liegroups.arguments import as_flag, as_tuple, expect
from liegroups.arrays import ArrayLike, BoolVector, Vector
from liegroups.frozen import set_fields
from liegroups.groups import translation_size
from liegroups.layout import Factor

from ..errors import OptionError, WrongObjectError
from ..exports import from_above
from ..keywords import record_by_name
from ..words import counted
from .bounds import Bounds
from .files.base import FREE_ROBOTS
from .files.packages import as_folders
from .frame import Frame
from .model.joints import joint_kind, radian_columns
from .model.pinocchio import Placement
from .placement import as_placement, has_matrix, shape_of
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
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
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
    n = translation_size(leaf.space)
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


@final
@record_by_name
@dataclass(frozen=True, kw_only=True, eq=False)
class Drawing:
    """What is drawn of a robot beside its bodies, and how, each field given by its name. Immutable.

    Stick figures and pages of a browser share it. What one of them cannot draw it refuses.

    Attributes:
        tips: frames at the ends, for instance a hand: larger dots of a stick figure.
        frames: frames of the robot, drawn as three arrows: x red, y green, z blue.
        placements: placements in the world, drawn so, for instance a target.
        shapes: solids, as for a `CollisionModel`; stick figures have them as wires.
        forces: springs and dampers among them are drawn in stick figures, zigzags and cups, spirals and arcs about
            pivots; and links.
        names: whether the name of each joint is beside it, in stick figures.
        degrees: True for angles in degrees beside the names, False for radians; by default no values.
        colour: one for all robots of a stick figure; by default each robot and object of a system has its own.
        urdfs: files with visual geometry instead of the robot's own: one, or by the name of the part of a system; for
            the browser.
        packages: more folders in which meshes are looked for.

    Raises:
        WrongObjectError: a field that is no sequence of what it is for.
    """

    tips: Iterable[str | Frame] = ()
    frames: Iterable[str | Frame] = ()
    placements: Iterable[object] = ()
    shapes: Iterable[Any] = ()
    forces: Iterable[Any] = ()
    names: bool = False
    degrees: bool | None = None
    colour: str | None = None
    urdfs: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None = None
    packages: Iterable[str | os.PathLike[str]] = ()

    def __post_init__(self) -> None:
        """Check types; what can be read once is read."""
        set_fields(
            self,
            tips=as_tuple(self.tips, "tips", "frames"),
            frames=as_tuple(self.frames, "frames to be drawn", "frames"),
            placements=as_placements(self.placements),
            shapes=as_tuple(self.shapes, "shapes to be drawn", "Shape"),
            forces=as_tuple(self.forces, "forces to be drawn", "springs and links"),
            packages=as_folders(self.packages),
        )
        as_flag(self.names, "`names` of a picture")
        if self.degrees is not None:
            as_flag(self.degrees, "`degrees` of a picture")

    @staticmethod
    def of(given: Drawing | None, what: str, *without: str) -> Drawing:
        """The drawing of an argument, or the default one.

        Args:
            given: what came.
            what: what is drawn, for messages.
            without: fields that have no place there.

        Raises:
            WrongObjectError: something else.
            OptionError: a field that has no place there.
        """
        drawing = Drawing() if given is None else expect(given, Drawing, "drawing")
        refused = [name for name in without if getattr(drawing, name) not in ((), None, False)]
        if refused:
            raise OptionError(f"drawing: {what} has no {', '.join(refused)}; leave them out")
        return drawing


def as_placements(placements: Any) -> tuple[Placement, ...]:
    """Placements to be drawn, or a typed error where one stands in place of a sequence of them."""
    several = "a sequence of placements, [placement]"
    if has_matrix(placements, 4) or shape_of(placements) == (7,):
        raise WrongObjectError("placements", several, "one placement")
    given = as_tuple(placements, "placements", several.removeprefix("a sequence of "))
    return tuple(as_placement(placement, f"placement {i}") for i, placement in enumerate(given))


class Drawn:
    """What robots and mechanisms have in common: `plot` and `animate` (`pictures.plot_robot`, `pictures.animate`)."""

    def plot(
        self,
        q: ArrayLike | None = None,
        path: str | os.PathLike[str] | None = None,
        *,
        view: str | Sequence[float] | None = None,
        ax: Any = None,
        drawing: Drawing | None = None,
    ) -> Any:
        """Draw a configuration as a stick figure: joints are dots, open closures are dashed lines.

        `pictures.plot_robot` says what the arguments are, and what errors there may be.
        """
        return from_above("plot_robot")(self, q, path, view=view, ax=ax, drawing=drawing)

    def animate(
        self,
        configurations: ArrayLike,
        path: str | os.PathLike[str] | None = None,
        *,
        rate: float = 15.0,
        view: str | Sequence[float] | None = None,
        drawing: Drawing | None = None,
    ) -> Any:
        """Configurations (n, nq) one after the other, as an animation of matplotlib's: as `pictures.animate`."""
        return from_above("animate")(configurations, path, robot=self, rate=rate, view=view, drawing=drawing)
