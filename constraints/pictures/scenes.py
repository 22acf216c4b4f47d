"""What pictures show of robots and mechanisms: sticks, closures, frames and shapes, in one part of the world."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Matrix, Vector

from ..collisions.shapes import Shape
from ..errors import WrongObjectError
from ..loops.constraint_set import ConstraintSet
from ..loops.frame_rows import FrameRows
from ..models.structure.mechanism import Mechanism
from ..robot import Frame, Robot
from ..robot.description import Drawing
from ..robot.model.pinocchio import Placement
from . import drawn, robots
from .figures import BAD, check_place
from .shapes import lid, wires
from .views import Direction, Region, check_axes, show_region

ROD, FIXED, WORLD = "#8a8a8a", "#404040", "#8a8a8a"
"""Colours of the rods of closures, of their ends on the world, and of shapes there."""
APART = 1e-3
"""Ends of a closure that are further apart than this part of the picture are joined by a line."""
WIDE, NARROW, ARROWS = 1.5, 0.9, 2.2
"""Widths of lines of rods and of shapes that are moved, of shapes on the world, and of arrows [points]."""
BELOW, ABOVE, LID = 1.0, 11.0, 0.4
"""Order of drawing of shapes and bodies, and of what is open or fixed in the world; opacity of lids."""
STILL_SHUT = 1e-6
"""Largest entry of a row of a closure that is shut."""
ARROW = 0.14
"""Length of the arrows of a frame, as a part of the width of the picture."""
Thing = Robot | Mechanism | ConstraintSet
"""What can be drawn; of the last two the closures too."""


def robot_of(thing: object) -> tuple[Robot, tuple[FrameRows, ...]]:
    """The robot of what is to be drawn, and its closures between two frames.

    Raises:
        WrongObjectError: neither a robot, nor a mechanism, nor a constraint set.
    """
    if isinstance(thing, Robot):
        return thing, ()
    if not isinstance(thing, Mechanism | ConstraintSet):
        raise WrongObjectError("robot to be drawn", "a Robot, a Mechanism or a ConstraintSet", thing)
    return thing.robot, tuple(owner for owner in thing.stack if isinstance(owner, FrameRows))


@final
class DrawnScene:
    """A robot with what is drawn of it.

    Args:
        thing: the robot; of a mechanism and of a constraint set, their closures are drawn too.
        drawing: what is drawn beside it.

    Raises:
        WrongObjectError: what is no robot, no drawing, no shape, no force.
        OptionError: files with meshes.
        UnknownFrameError: a frame that the robot does not have.
    """

    def __init__(self, thing: Thing, drawing: Drawing | None = None) -> None:
        self.robot, self.closures = robot_of(thing)
        robot, what = self.robot, Drawing.of(drawing, "a stick figure", "urdfs", "packages")
        for shape in what.shapes:
            expect(shape, Shape, "shape to be drawn")
        self.shapes: list[tuple[Frame, Shape]] = [(robot.frame(shape.frame), shape) for shape in what.shapes]
        self.tips = [robot.frame(tip) for tip in what.tips]
        self.frames = [robot.frame(frame) for frame in what.frames]
        self.placements: Any = what.placements
        self.springs, self.degrees, self.colour = drawn.springs_of(what.forces), what.degrees, what.colour
        self.names = what.names or self.degrees is not None
        on_bodies = [frame for pair in self.pairs for frame in pair if frame.joint]
        self.ends = [*on_bodies, *robots.ends_of(robot, [*on_bodies, *self.tips])]
        self.parts, self.colours = ["", *robots.parts_of(robot)], robots.colours_of(robot)
        self.region, self.view, self.on_users_axes = Region.around(()), Direction.of("3d"), False

    @property
    def pairs(self) -> list[tuple[Frame, Frame]]:
        """The two frames of each closure."""
        return [(owner.predecessor, owner.successor) for owner in self.closures]

    def look(self, configurations: Iterable[Vector], view: object, more: Sequence[Vector] = ()) -> None:
        """Choose the view, and the part of the world that holds all that is drawn.

        Args:
            configurations: each (nq,), at least one.
            view: as users say it.
            more: points that are to be seen too.
        """
        Q = [*configurations]
        points = [*more, *(point for q in Q for point in self.points(q))]
        self.view = Direction.of(view, self.robot, Q[0], points if self.closures else ())
        self.region = Region.around(points)
        if self.frames or self.placements:
            long = ARROW * self.region.width
            points += [oMf.act(long * axis) for q in Q for oMf in self.arrows(q) for axis in np.eye(3)]
            self.region = Region.around(points)

    @property
    def reach(self) -> tuple[float, float]:
        """How far what is shown reaches from the middle of its axes, right and up, in parts of their size.

        Axes in space are square, whatever the picture.
        """
        ratio = 1.0 if self.view.flat or self.on_users_axes else self.region.ratio(self.view)
        return 0.5 * min(1.0, 1.0 / ratio), 0.5 * min(1.0, ratio)

    def points(self, q: Vector) -> list[Vector]:
        """All that is to be seen of a configuration [m]."""
        posture = self.robot.at(q)
        sticks = robots.sticks_of(self.robot, [*self.tips, *self.ends])
        points = [end for stick in sticks for end in stick.placed(posture)]
        points += [np.array(oMi.translation) for oMi in posture.placed().oMi[1:]]
        points += [np.array(frame.placement.translation) for pair in self.pairs for frame in pair if not frame.joint]
        points += [np.array(oMf.translation) for oMf in self.arrows(q)]
        points += drawn.points_of_springs(self.springs, q)
        solids = [line for frame, shape in self.shapes for line in self._wires(frame, shape, q)]
        return points + [point for line in solids for point in line]

    def arrows(self, q: Vector) -> list[Placement]:
        """Placements that are drawn as arrows."""
        posture = self.robot.at(q)
        return [*self.placements, *(posture.placement(frame).copy() for frame in self.frames)]

    def show(self, ax: Any, scales: bool = False) -> None:
        """Let axes show the scene's part of the world."""
        ratio = 1.0 if self.on_users_axes else self.region.ratio(self.view)
        show_region(ax, self.region, self.view, scales, ratio=ratio)

    def draw(self, ax: Any, q: Vector, stroke: robots.Stroke | None = None) -> bool:
        """Draw a configuration with all that belongs to it; whether all closures are shut.

        Args:
            ax: matplotlib axes that suit the view.
            q: configuration (nq,).
            stroke: of the sticks; in the colour of the drawing by default.
        """
        stroke = robots.Stroke(self.colour) if stroke is None else stroke
        colour, _, alpha = stroke
        own = [colour or (self.colours[part] if joint else robots.GROUND) for joint, part in enumerate(self.parts)]
        for frame, shape in self.shapes:
            self._draw_shape(ax, frame, shape, q, own[frame.joint] if frame.joint else WORLD, alpha)
        shut = self._draw_closures(ax, q, alpha, colour)
        pen = self._pen(ax, alpha)
        solid = drawn.bodies(self.robot, q, self.pairs, self.tips, self.region.width)
        for joint, faces in solid.items():
            pen.fill(faces, own[joint], own[joint] if len(faces) == 1 else "none", drawn.FILL * alpha, BELOW)
        places, on_pedestals = drawn.grounded(self.robot, q, self.pairs, robots.seats_of(self.robot))
        drawn.draw_ground(pen, places)
        outlined = [joint for joint, faces in solid.items() if len(faces) == 1]
        sticks = self._draw_sticks(ax, q, stroke, own, outlined if on_pedestals else [0, *outlined])
        drawn.draw_sliders(pen, self.robot, q, own)
        drawn.draw_springs(pen, self.springs, q)
        if self.names:
            drawn.draw_names(pen, self.robot, q, self.degrees, self.region.middle, sticks)
        for oMf in self.arrows(q):
            robots.draw_frame(ax, oMf, ARROW * self.region.width, ARROWS, self.view)
        return shut

    def key(self) -> list[Any]:
        """Lines of a legend: the robots and objects of a system by their colours; nothing of a robot alone."""
        if self.colour is not None or len(self.colours) < 2:
            return []
        lines: Any = importlib.import_module("matplotlib.lines")
        style: Mapping[str, Any] = {"marker": "o"}
        names = {part: part or self.robot.name for part in self.colours}
        return [lines.Line2D([], [], color=c, label=names[part], **style) for part, c in self.colours.items()]

    def on_axes(self, ax: Any) -> None:
        """Show what is drawn on a user's axes, beside what they had before.

        Raises:
            WrongObjectError: axes that do not suit the view.
        """
        check_place(ax, None)
        self.on_users_axes = True
        check_axes(ax, self.view)
        if ax.has_data():
            names = "xyz"[: 3 - self.view.flat]
            low, high = np.transpose([getattr(ax, f"get_{name}lim")() for name in names])
            back = np.linalg.pinv(self.view.basis) if self.view.flat else np.eye(3)
            both = np.array([[*self.region.low], [*self.region.high]])
            corners = np.array([back @ low, back @ high, *both])
            self.region = Region(corners.min(axis=0), corners.max(axis=0))

    def _draw_sticks(
        self, ax: Any, q: Vector, stroke: robots.Stroke, own: Sequence[str], hidden: Sequence[int]
    ) -> list[Matrix]:
        """Sticks but of hidden bodies, joints as dots, tips as bigger ones; the ends (2, 3) of the sticks [m].

        Args:
            own: colour of each joint.
            hidden: joints whose bodies have no sticks.
        """
        posture, (_, width, alpha) = self.robot.at(q), stroke
        drawn, (lines, dots, marks) = list[Matrix](), (defaultdict[str, list[Vector]](list) for _ in range(3))
        for stick in robots.sticks_of(self.robot, [*self.ends, *self.tips]):
            body, ends = stick.start[0], stick.placed(posture)
            if body not in hidden and np.abs(ends[1] - ends[0]).max() > robots.SHORTEST:
                lines[own[stick.end[0] if body else 0]] += [*ends, np.full(3, np.nan)]
                drawn.append(ends)
        for joint, oMi in enumerate(posture.placed().oMi):
            if joint:
                dots[own[joint]].append(np.array(oMi.translation))
        for found, frames in ((dots, self.ends), (marks, self.tips)):
            for frame in frames:
                found[own[frame.joint]].append(np.array(posture.placement(frame).translation))
        for kind, found, style in (
            ("-", lines, {"linewidth": width, "solid_capstyle": "round", "solid_joinstyle": "round"}),
            ("o", dots, {"markersize": robots.DOT * width, "markeredgewidth": 0.0}),
            ("o", marks, {"markersize": robots.MARK * width, "markeredgecolor": "white"}),
        ):
            for shade, points in found.items():
                ax.plot(*self.view.seen(points), kind, color=shade, alpha=alpha, **style)
        return drawn

    def _draw_closures(self, ax: Any, q: Vector, alpha: float, colour: str | None) -> bool:
        """Squares on the world, and lines between ends that are apart: rods grey, dashed where a closure is open."""
        posture, all_shut = self.robot.at(q), True
        for owner, pair in zip(self.closures, self.pairs, strict=True):
            shut = float(np.abs(owner.residual(q)).max(initial=0.0)) < max(STILL_SHUT, APART * self.region.width)
            all_shut = all_shut and shut
            ends = np.array([posture.placement(frame).translation for frame in pair])
            if np.abs(ends[0] - ends[1]).max() > APART * self.region.width:
                style: Any = {"color": colour or ROD} if shut else {"color": BAD, "linestyle": "--", "zorder": ABOVE}
                ax.plot(*self.view.seen(ends), linewidth=WIDE, alpha=alpha, **style)
            fixed = [np.array(frame.placement.translation) for frame in pair if not frame.joint]
            if fixed:
                ax.plot(*self.view.seen(fixed), "s", color=FIXED, zorder=ABOVE)
        return all_shut

    def _draw_shape(self, ax: Any, frame: Frame, shape: Shape, q: Vector, colour: str, alpha: float) -> None:
        """A shape as wires; of boxes that are moved the upper third is filled."""
        lines, width = self._wires(frame, shape, q), WIDE if frame.joint else NARROW
        in_one = np.vstack([part for line in lines for part in (line, np.full((1, 3), np.nan))])
        ax.plot(*self.view.seen(in_one), color=colour, linewidth=width, alpha=alpha, zorder=BELOW)
        if frame.joint and shape.kind == "Box":
            oMs = self.placed(frame, shape, q)
            faces = lid(shape) @ oMs.rotation.T + oMs.translation
            self._pen(ax, alpha).fill([*faces], colour, "none", LID * alpha, BELOW)

    def _pen(self, ax: Any, alpha: float) -> drawn.Pen:
        return drawn.Pen(ax, self.view, drawn.SIZE * self.region.width, alpha)

    def _wires(self, frame: Frame, shape: Shape, q: Vector) -> list[Matrix]:
        """Lines of a shape in the world."""
        oMs = self.placed(frame, shape, q)
        return [line @ oMs.rotation.T + oMs.translation for line in wires(shape)]

    def placed(self, frame: Frame, shape: Shape, q: Vector) -> Any:
        """Placement of a shape in the world."""
        return self.robot.at(q).placement(frame) * shape.placement
