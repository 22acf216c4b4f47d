"""Draws docs/geometry.png: an arm projected onto geometric constraints, each written as docs/functions.md says.

python docs/geometry_figure.py [FILE]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt

from constraints import Bounds, Implicit, Position, Problem, Projector
from constraints.functions import Identity, across, curve, direction, dot, gaze, in_polygon, norm, off_segment
from constraints.models import sample_arm
from liegroups import Rn

BALL = np.array([0.9, 0.0, 0.3])
ROBOT = sample_arm().with_frame("ball", "universe", [*BALL, 0.0, 0.0, 0.0, 1.0])
SPACE = ROBOT.space * Rn(1)  # with the parameter of a curve
P, Z = Position(ROBOT, "tool"), direction(ROBOT, "tool", "z")
C = np.array([0.45, 0.0, 0.6])
A, B = np.array([0.45, -0.4, 0.4]), np.array([0.45, 0.4, 0.8])
POLYGON = np.array([[0.3, -0.35], [0.7, -0.2], [0.6, 0.35], [0.35, 0.3]])
KNOTS = np.array([[0.3, -0.5, 0.4], [0.55, -0.25, 0.8], [0.6, 0.1, 0.5], [0.45, 0.35, 0.75], [0.2, 0.55, 0.6]])
TURN = 2.0 * np.pi
Drawn = Callable[[Any], None]


def line(*points: Any) -> Drawn:
    """A line through points."""
    return lambda axes: axes.plot(*np.array(points).T, color="tab:blue", linewidth=2.0)


def surface(at: Callable[[Any, Any], Any]) -> Drawn:
    """A surface over the unit square."""
    u, v = np.meshgrid(np.linspace(0.0, 1.0, 25), np.linspace(0.0, 1.0, 15))
    return lambda axes: axes.plot_surface(*at(u, v), color="tab:blue", alpha=0.25, linewidth=0.0)


def sphere(centre: Any, radius: float) -> Drawn:
    """A sphere."""
    x, y, z = centre

    def at(u: Any, v: Any) -> Any:
        a, b = TURN * u, np.pi * v
        return (x + radius * np.cos(a) * np.sin(b), y + radius * np.sin(a) * np.sin(b), z + radius * np.cos(b))

    return surface(at)


def box(lower: Any, upper: Any) -> Drawn:
    """The edges of a box."""

    def draw(axes: Any) -> None:
        ends = np.array([lower, upper])
        for k in range(3):
            i, j = (n for n in range(3) if n != k)
            for a in (0, 1):
                for b in (0, 1):
                    edge = np.zeros((2, 3))
                    edge[:, k], edge[:, i], edge[:, j] = ends[:, k], ends[a, i], ends[b, j]
                    axes.plot(*edge.T, color="tab:blue", linewidth=1.2)

    return draw


def prism(axes: Any) -> None:
    """The polygon at two heights."""
    closed = np.vstack([POLYGON, POLYGON[:1]])
    for height in (0.4, 0.8):
        axes.plot(*closed.T, height, color="tab:blue", linewidth=1.2)
    for x, y in POLYGON:
        axes.plot([x, x], [y, y], [0.4, 0.8], color="tab:blue", linewidth=1.2)


def along_the_curve(axes: Any) -> None:
    """The cubic spline through the points."""
    along = curve(Identity(Rn(1)), KNOTS)
    axes.plot(*np.array([along.value([s]) for s in np.linspace(0.0, 1.0, 80)]).T, color="tab:blue", linewidth=2.0)


class Panel(NamedTuple):
    """A constraint, what it is drawn on, and whether the axis of the tool is drawn."""

    title: str
    written: str
    constraints: list[Implicit]
    drawn: Drawn = lambda axes: None
    axis: bool = False


DOWN = [0.0, 0.0, -1.0]
PANELS = (
    Panel("two points at a distance", "norm(p - c) = r", [Implicit.equal(norm(P - C), [0.25])], sphere(C, 0.25)),
    Panel(
        "a point on a line", "across(p - c, u) = 0", [Implicit.zero(across(P - C, "y"))],
        line([0.45, -0.7, 0.6], [0.45, 0.7, 0.6]),
    ),
    Panel("on a segment", "off_segment(p, a, b) = 0", [Implicit.zero(off_segment(P, A, B))], line(A, B)),
    Panel(
        "on a plane", "dot(n, p) = d", [Implicit.equal(dot([0.0, 0.0, 1.0], P), [0.5])],
        surface(lambda u, v: (1.6 * u - 0.8, 1.6 * v - 0.8, 0.5 + 0.0 * u)),
    ),
    Panel(
        "on a cylinder", "norm(across(p - c, u)) = r", [Implicit.equal(norm(across(P - C, "z")), [0.2])],
        surface(lambda u, v: (C[0] + 0.2 * np.cos(TURN * u), 0.2 * np.sin(TURN * u), 1.2 * v)),
    ),
    Panel(
        "in a box", "lower <= p <= upper", [Implicit.between(P, [0.3, -0.3, 0.4], [0.6, 0.3, 0.7])],
        box([0.3, -0.3, 0.4], [0.6, 0.3, 0.7]),
    ),
    Panel(
        "in a prism", "in_polygon(p, vertices) >= 0",
        [Implicit.above(in_polygon(P, POLYGON)), Implicit.between(P[2], [0.4], [0.8])], prism,
    ),
    Panel(
        "on a curve", "p - curve(s, points) = 0",
        [Implicit.zero(P.on(SPACE) - curve(Identity(Rn(1)).on(SPACE), KNOTS))], along_the_curve,
    ),
    Panel("an axis parallel to another", "d - w = 0", [Implicit.zero(Z - DOWN)], axis=True),
    Panel("in a cone", "dot(d, w) >= cos(alpha)", [Implicit.above(dot(Z, DOWN), [np.cos(0.5)])], axis=True),
    Panel("at a right angle", "dot(d, w) = 0", [Implicit.zero(dot(Z, DOWN))], axis=True),
    Panel(
        "a target in sight", "gaze(p, u, alpha) >= 0",
        [Implicit.above(gaze(Position(ROBOT, "ball", reference="tool"), "z", 0.2))], sphere(BALL, 0.06), axis=True,
    ),
)  # fmt: skip


def draw(path: Path) -> None:
    """Project, and draw what came out: all tools, and three arms."""
    figure = plt.figure(figsize=(13.0, 10.2), layout="constrained")
    for number, panel in enumerate(PANELS):
        axes: Any = figure.add_subplot(3, 4, number + 1, projection="3d")
        space = panel.constraints[0].function.inputs
        bounds = (
            Bounds(SPACE, np.append(ROBOT.bounds.lower, 0.0), np.append(ROBOT.bounds.upper, 1.0))
            if space == SPACE
            else None
        )
        projector = Projector(Problem(space, panel.constraints, bounds))
        rng, extra = np.random.default_rng(number), [] if bounds is None else [0.5]
        starts = np.array([[*ROBOT.random(rng), *extra] for _ in range(40 if panel.axis else 120)])
        batch = projector.project_batch(starts)
        assert batch.success.all(), panel.title
        panel.drawn(axes)
        arms = [q[: ROBOT.nq] for q in batch.q]
        for q in arms[:3]:
            posture = ROBOT.at(q)
            points = [np.zeros(3), *(posture.placement(name).translation for name in (*ROBOT.joint_names, "tool"))]
            axes.plot(*np.array(points).T, "o-", color="0.55", linewidth=1.6, markersize=2.5)
        tools = [ROBOT.at(q).placement("tool") for q in arms]
        places = np.array([tool.translation for tool in tools])
        axes.scatter(*places.T, color="tab:red", s=6, depthshade=False)
        if panel.axis:
            axes.quiver(*places.T, *(0.18 * np.array([tool.rotation[:, 2] for tool in tools])).T, color="tab:green")
        axes.set(xlim=(-0.7, 0.9), ylim=(-0.8, 0.8), zlim=(0.0, 1.2), xticks=[], yticks=[], zticks=[])
        axes.set_box_aspect((1.6, 1.6, 1.2), zoom=1.25)
        axes.view_init(22, -62)
        axes.set_title(f"{panel.title}\n{panel.written}", fontsize=10)
    figure.savefig(path, dpi=64)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "geometry.png")
