"""What engineers see of a mechanism beside its sticks: bodies, ground, sliders, names, springs and dampers."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..dynamics import HingeSpring, JointSpring, PointLink, PointSpring
from ..dynamics.laws.external_force import as_external
from ..robot import Frame, Posture, Robot
from ..robot.model.joints import radian_columns
from . import symbols
from .figures import TEXT
from .robots import SHORTEST
from .views import PARALLEL_LINES, Direction

GROUND, SPRING = "#505050", "#7a3e9d"
"""Colours of what stands on the ground, and of springs, dampers and links."""
SIZE = 0.026
"""Unit of symbols, as a part of the width of the picture."""
FILL = 0.22
"""Opacity of bodies."""
THIN, LINE = 1.1, 1.4
"""Widths of lines of symbols, and of edges [points]."""
STANDS, SLIDES, OVER, SPRUNG, NAMED = 2.5, 2.8, 3.0, 12.0, 13.0
"""Order of drawing: triangles of the ground, blocks of sliders, lines, springs, names."""
SIDEWAYS = 0.2
"""What is seen shorter than this part points to the one who looks."""
TRAVEL, APART = 3.2, 0.9
"""Half of the guide of a slider, and how far a spring and its damper are from their middle, in units of symbols."""
RIGHT, UP = 1.4, 0.5
"""How far names stand from joints, aside and up or down, in units of symbols."""
PLACES, STRUCK = np.array([[0.92, 0.4], [0.92, -0.4], [0.0, 1.0], [0.0, -1.0]]), np.array([0.93, 0.93, 0.15, 0.15])
"""Where they may stand, the better the earlier: directions from the joint, inwards and up. A stick leads through a name
where the cosine of its direction with that of the name is larger than this."""
TURNS = 1e-9
"""What turns by less is a slider."""


class Pen(NamedTuple):
    """How symbols get onto axes.

    Attributes:
        axes: of matplotlib.
        view: from where.
        size: unit of symbols [m].
        alpha: opacity.
    """

    axes: Any
    view: Direction
    size: float
    alpha: float

    def at(self, point: Vector, symbol: Matrix) -> Matrix:
        """Points (n, 2) of a symbol in the world (n, 3)."""
        return point + self.size * symbol @ self.view.basis

    def lines(self, lines: Iterable[Matrix], colour: str, zorder: float = OVER) -> None:
        """Draw lines (n, 3) of the world."""
        whole = [row for line in lines for row in (*line, np.full(3, np.nan))][:-1]
        if whole:
            self.axes.plot(
                *self.view.seen(np.array(whole)), color=colour, linewidth=THIN, alpha=self.alpha, zorder=zorder,
                solid_capstyle="round", solid_joinstyle="round",
            )  # fmt: skip

    def fill(self, shapes: Sequence[Matrix], colour: Any, edge: Any, alpha: float, zorder: float) -> None:
        """Draw filled polygons (n, 3) of the world."""
        if not shapes:
            return
        seen = {"facecolor": (colour, alpha), "edgecolor": (edge, self.alpha), "linewidth": LINE, "zorder": zorder}
        style: dict[str, Any] = {**seen, "joinstyle": "round"}
        if self.view.flat:
            polygons: Any = importlib.import_module("matplotlib.collections").PolyCollection
            self.axes.add_collection(polygons([self.view.seen(face).T for face in shapes], **style))
        else:
            solids: Any = importlib.import_module("mpl_toolkits.mplot3d.art3d").Poly3DCollection
            self.axes.add_collection3d(solids(list(shapes), **seen))


Pairs = Iterable[Sequence[Frame]]
"""The two frames of each closure."""


def bodies(robot: Robot, q: Vector, pairs: Pairs, tips: Iterable[Frame], width: float) -> dict[int, list[Matrix]]:
    """Faces of the bodies with three pivots or more, by joint.

    Pivots are its own joint, those that it carries, ends of closures, and tips.
    """
    posture, model = robot.at(q), robot.model
    origins = [np.array(oMi.translation) for oMi in posture.placed().oMi]
    found = {joint: [origin] for joint, origin in enumerate(origins) if joint}
    for joint, parent in enumerate(map(int, model.parents)):
        if parent and model.joints[joint].nv < 4:
            found[parent].append(origins[joint])
    for frame in [*(frame for pair in pairs for frame in pair), *tips]:
        if frame.joint:
            found[frame.joint].append(np.array(posture.placement(frame).translation))
    shapes = {joint: symbols.faces(points, width) for joint, points in found.items() if len(points) > 2}
    return {joint: faces for joint, faces in shapes.items() if faces}


def sliding(robot: Robot, posture: Posture) -> dict[int, Vector]:
    """Directions (3,) of joints that slide along a line, by joint."""
    J, model = np.array(posture.with_jacobians().world_jacobian), robot.model
    columns = {j: J[:, model.joints[j].idx_v] for j in range(1, model.njoints) if model.joints[j].nv == 1}
    return {
        joint: column[:3]
        for joint, column in columns.items()
        if np.abs(column[3:]).max() < TURNS < np.abs(column[:3]).max()
    }


def grounded(robot: Robot, q: Vector, pairs: Pairs, seats: Mapping[int, Vector]) -> tuple[list[Vector], bool]:
    """Where (3,) the ground carries a robot, and whether sticks lead from there to the first joints.

    At the links that are known to stand there (`seats`, by joint), else at its pivots. A single joint that no link
    carries is carried by the origin.
    """
    posture, model = robot.at(q), robot.model
    slides = sliding(robot, posture)
    fixed = [np.array(frame.placement.translation) for pair in pairs for frame in pair if not frame.joint]
    J = np.array(posture.with_jacobians().world_jacobian)
    columns = {j: J[:, model.joints[j].idx_v :][:, : model.joints[j].nv] for j in range(1, model.njoints)}
    origins = [np.array(oMi.translation) for oMi in posture.placed().oMi]
    first = [j for j in columns if not model.parents[j] and (j in slides or _is_pivot(columns[j], origins[j]))]
    first = [j for j in first if j in seats or "/" not in model.names[j]]
    pivots = [origins[j] for j in first if j not in slides]
    if seats:
        return [*(seats[j] for j in first if j in seats and j not in slides), *fixed], True
    if len(first) + len(fixed) == 1 and pivots:
        return [np.zeros(3)], True
    return [*pivots, *fixed], False


def _is_pivot(columns: Matrix, point: Vector) -> bool:
    """Whether a joint turns about its origin alone, as a pin, a Hooke joint or a ball do.

    Args:
        columns: (6, nv_j) of the spatial Jacobian in the world.
        point: its origin (3,).
    """
    at_origin = columns[:3] + np.cross(columns[3:].T, point).T
    return bool(np.abs(at_origin).max(initial=0.0) < PARALLEL_LINES)


def draw_ground(pen: Pen, points: Iterable[Vector]) -> None:
    """Pivots on the ground: a triangle on a hatched line below each."""
    for point in points:
        pen.fill([pen.at(point, symbols.PIN)], "#e4e4e4", GROUND, pen.alpha, STANDS)
        pen.lines([pen.at(point, line) for line in symbols.ground()], GROUND)


def draw_sliders(pen: Pen, robot: Robot, q: Vector, colours: Sequence[str]) -> None:
    """A block at each joint that slides, in its colour, and a hatched guide where it slides on the ground."""
    posture, basis = robot.at(q), pen.view.basis
    for joint, axis in sliding(robot, posture).items():
        seen = basis @ axis
        if np.linalg.norm(seen) < SIDEWAYS:
            continue
        along, point = seen / np.linalg.norm(seen), np.array(posture.placed().oMi[joint].translation)
        if not robot.model.parents[joint]:
            pen.lines([pen.at(point, line) for line in symbols.guide(along, TRAVEL)], GROUND)
        pen.fill([pen.at(point, symbols.block(along))], "white", colours[joint], pen.alpha, SLIDES)


def draw_names(
    pen: Pen, robot: Robot, q: Vector, degrees: bool | None, middle: Vector, sticks: Iterable[Matrix]
) -> None:
    """The name of each joint beside it, with its value where `degrees` says in which unit.

    Args:
        middle: of what is shown (3,) [m].
        sticks: ends (2, 3) of what names shall not lie on [m].
    """
    placed, radians = robot.at(q).placed().oMi, radian_columns(robot.model)
    texts: dict[tuple[int, ...], tuple[Vector, list[str]]] = {}
    for joint, factor in enumerate(robot.space.factors, start=1):
        point = np.array(placed[joint].translation)
        at = tuple(np.round(pen.view.basis @ point / pen.size).astype(int).tolist())
        value = "" if degrees is None else _value(q[factor.q], bool(radians[factor.v][0]), degrees)
        texts.setdefault(at, (point, []))[1].append(f"{factor.name} {value}".rstrip())
    for point, names in texts.values():
        inwards = np.array([-1.0 if float(pen.view.basis[0] @ (point - middle)) > 0.0 else 1.0, 1.0])
        pairs = [pair for stick in sticks for pair in (stick, stick[::-1]) if np.allclose(pair[0], point)]
        ways = np.array([pen.view.basis @ (b - a) for a, b in pairs]).reshape(-1, 2) * inwards
        long = np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), SHORTEST)
        through = (ways / long @ PLACES.T - STRUCK).max(axis=0, initial=0.0)
        x, y = inwards * np.sign(PLACES[through.argmin()])
        place = pen.view.seen(pen.at(point, np.array([[RIGHT * x, UP * y]])))[:, 0]
        style = {"ha": ("center", "left", "right")[int(x)], "va": "bottom" if y > 0.0 else "top", "alpha": pen.alpha}
        pen.axes.text(*place, "\n".join(names), fontsize="small", color=TEXT, zorder=NAMED, **style)


def _value(q: Vector, is_angle: bool, degrees: bool) -> str:
    """The value of a joint with one degree of freedom, with its unit; empty for others."""
    if len(q) > 2:
        return ""
    is_angle = is_angle or len(q) == 2
    x = math.atan2(q[1], q[0]) if len(q) == 2 else float(q[0])
    if not is_angle:
        return f"{x:.3g} m"
    return f"{math.degrees(x):.1f}\N{DEGREE SIGN}" if degrees else f"{x:.3g} rad"


def springs_of(forces: Any) -> tuple[Any, ...]:
    """The springs, dampers and links among forces; the others are not drawn.

    Raises:
        WrongObjectError: something that is no force.
    """
    known = (PointSpring, PointLink, JointSpring, HingeSpring)
    return tuple(force for force in as_external(forces) if isinstance(force, known))


def draw_springs(pen: Pen, springs: Iterable[Any], q: Vector) -> None:
    """Springs as zigzags, spirals about pivots; dampers as cups with pistons, arcs about pivots; links dash-dotted."""
    for spring in springs:
        robot: Robot = spring.closure.robot if isinstance(spring, HingeSpring) else spring.robot
        posture = robot.at(q)
        if isinstance(spring, PointSpring | PointLink):
            ends = ends_of_link(spring, posture)
            if isinstance(spring, PointLink):
                style: Any = {"color": SPRING, "linestyle": "-.", "linewidth": THIN, "alpha": pen.alpha}
                pen.axes.plot(*pen.view.seen(ends), zorder=SPRUNG, **style)
            else:
                pen.lines(_between(pen, ends, spring), SPRING, SPRUNG)
            continue
        point = _pivot(spring, posture)
        shapes = [symbols.spiral()] if np.any(np.asarray(spring.stiffness)) else []
        shapes += symbols.arc() if np.any(np.asarray(spring.damping)) else []
        pen.lines([pen.at(point, shape) for shape in shapes], SPRING, SPRUNG)


def ends_of_link(link: PointSpring | PointLink, posture: Posture) -> Matrix:
    """The ends of a link (2, 3) in the world [m]."""
    places: list[Any] = [posture.placement(end) for end in (link.a, link.b)]
    return np.array([place.translation for place in places], dtype=np.float64)


def points_of_springs(springs: Iterable[Any], q: Vector) -> list[Vector]:
    """The ends (3,) of springs and links between two points."""
    links = [spring for spring in springs if isinstance(spring, PointSpring | PointLink)]
    return [point for link in links for point in ends_of_link(link, link.robot.at(q))]


def _pivot(spring: Any, posture: Posture) -> Vector:
    """Where the spring of a joint or closure is (3,)."""
    if isinstance(spring, HingeSpring):
        at: Any = posture.placement(spring.closure.predecessor)
        return np.array(at.translation)
    joint: int = spring.robot.joint_index(spring.joint)
    return np.array(posture.placed().oMi[joint].translation)


def _between(pen: Pen, ends: Matrix, spring: PointSpring) -> Iterator[Matrix]:
    """Lines (n, 3) of a spring and a damper between two points (2, 3)."""
    flat = ends @ pen.view.basis.T
    depth = ends - flat @ pen.view.basis
    a, b = flat
    apart = APART * pen.size if spring.stiffness and spring.damping else 0.0
    lines: list[Matrix] = []
    if spring.stiffness or not spring.damping:
        lines.append(symbols.coil(a, b, pen.size, apart))
    if spring.damping:
        lines += symbols.dashpot(a, b, pen.size, -apart)
    way, square = b - a, float((b - a) @ (b - a))
    for line in lines:
        part = np.clip((line - a) @ way / square, 0.0, 1.0) if square else np.zeros(len(line))
        yield line @ pen.view.basis + depth[0] + np.outer(part, depth[1] - depth[0])
