"""The demonstration: random configurations of robots put onto constraints, as a table and a picture."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..collisions import Shape
from ..pictures import Drawing
from ..pictures.figures import PALETTE, new_figure, save_figure
from ..pictures.robots import Stroke
from ..pictures.scenes import DrawnScene
from ..pictures.views import new_axes, show_region
from ..solvers import Options, Projector
from ..solvers.projection import engines
from .demo_scenes import FOOT, DemoScene, placement_by_hand

PANEL, HEAD, TITLE = 3.0, 0.62, 0.7
"""Inches: edge of a picture, space for the text above it, for that above all."""

COMPARED, TURNS = 3, 5
"""Configurations of each problem that both engines project, and how often; the fastest turn counts."""

GRID = 0.5
"""Distance of the lines behind the robots [m]."""

LEGEND = (
    "each colour is one configuration",
    f"grid {GRID:g} m",
    "grey: a bar in two hands",
    "boxes: an object, or places of the feet",
    "cross: centre of mass",
)


class SceneOutcome(NamedTuple):
    """What the projections of a scene gave.

    Attributes:
        scene: which.
        starts, ends: configurations (n, nq) before and after.
        success: (n,) true where the projection says so.
        iterations, seconds: (n,) of each projection.
        largest_error: measured, over the successes; NaN without any.
    """

    scene: DemoScene
    starts: Matrix
    ends: Matrix
    success: BoolVector
    iterations: Vector | Indices
    seconds: Vector
    largest_error: float


def project_all(scene: DemoScene, count: int, seed: int) -> SceneOutcome:
    """Project so many random configurations of a scene's robot and measure what came out."""
    projector = Projector(scene.problem, Options(seed=seed))
    starts = scene.starts(count, seed)
    projector.project(starts[0])  # the first call pays for memory
    done = projector.project_batch(starts)
    error = max((scene.measure(q) for q in done.q[done.success]), default=math.nan)
    return SceneOutcome(scene, starts, done.q, done.success, done.iterations, done.seconds, error)


def table(outcomes: Sequence[SceneOutcome]) -> str:
    """The outcomes as text, a line each."""
    head = ("problem", "dofs", "rows", "success", "iterations", "time each", "largest error")
    lines: list[tuple[str, ...]] = [head]
    for outcome in outcomes:
        problem = outcome.scene.problem
        lines.append((
            outcome.scene.name,
            str(problem.space.nv),
            str(problem.constraints.size),
            f"{int(outcome.success.sum())} of {len(outcome.success)}",
            f"{float(np.median(outcome.iterations)):.0f}",
            f"{1e6 * float(np.median(outcome.seconds)):.0f} us",
            "-" if math.isnan(outcome.largest_error) else f"{outcome.largest_error:.1e}",
        ))  # fmt: skip
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
    return "\n".join([text[0], "-" * len(text[0]), *text[1:]])


def engine_line(outcomes: Sequence[SceneOutcome]) -> str:
    """Which engine solved, and how long the other one takes on a few of the same configurations."""
    if engines.USUAL == "readable":
        return "Engine: readable, because numba is not installed; pip install '.[fast]' installs the compiled engine."
    ratio = math.exp(float(np.mean([math.log(_times_as_long(outcome)) for outcome in outcomes])))
    return (
        f"Engine: compiled. The readable engine takes {ratio:.0f} times as long (geometric mean of the problems, "
        f"{COMPARED} starts each)."
    )


def _times_as_long(outcome: SceneOutcome) -> float:
    """Time of the readable engine over that of the compiled one, on the first starts of a scene."""
    problem, starts = outcome.scene.problem, outcome.starts[:COMPARED]
    projectors = [Projector(problem, engine=engine) for engine in ("readable", "compiled")]
    least = [math.inf, math.inf]
    for _ in range(TURNS):
        for i, projector in enumerate(projectors):
            began = perf_counter()
            for q in starts:
                projector.project(q)
            least[i] = min(least[i], perf_counter() - began)
    return least[0] / least[1]


def draw(outcomes: Sequence[SceneOutcome], path: str | os.PathLike[str]) -> None:
    """Write the picture: two scenes a row, each with configurations before on the left and the same ones after.

    The first successes are shown.

    Raises:
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    rows, last_is_free = -(-len(outcomes) // 2), bool(len(outcomes) % 2)
    foot = 0.0 if last_is_free else 0.4
    width, height = 4 * PANEL, rows * (PANEL + HEAD) + TITLE + foot
    figure = new_figure(width, height, "none", shown=False)
    title = "Random configurations and their projections"
    figure.text(0.5, 1.0 - 0.45 / height, title, ha="center", fontsize=17)
    for i, outcome in enumerate(outcomes):
        left, top = 2 * PANEL * (i % 2), height - TITLE - (PANEL + HEAD) * (i // 2)
        _draw_scene(figure, outcome, left, top)
    corner, text = ((0.75, 0.5 * PANEL / height), "\n".join(LEGEND)) if last_is_free else (
        (0.5, 0.15 / height), "; ".join(LEGEND)
    )  # fmt: skip
    figure.text(*corner, text, ha="center", fontsize=12, color="#505050")
    save_figure(figure, path)


def _draw_scene(figure: Any, outcome: SceneOutcome, left: float, top: float) -> None:
    """The two pictures of a scene, with their corner at the top left [inch]."""
    scene, (width, height) = outcome.scene, figure.get_size_inches()
    shown = np.flatnonzero(outcome.success)[: scene.shown]
    figure.text((left + PANEL) / width, (top - 0.2) / height, scene.name, ha="center", fontsize=14, fontweight="bold")
    boxes = [Shape(frame, "Box", size, frame) for frame, size in scene.boxes.items()]
    feet = [Shape("foot", "Box", FOOT, placement=oMf) for oMf in scene.ground]
    targets = [] if scene.target is None else [scene.target]
    drawn = DrawnScene(scene.robot, Drawing(tips=scene.tips, shapes=[*boxes, *feet], placements=targets))
    drawn.look([*outcome.starts[shown], *outcome.ends[shown]] or outcome.starts, "3d")
    for column, (configurations, text) in enumerate(((outcome.starts, scene.before), (outcome.ends, scene.after))):
        x = left + column * PANEL
        figure.text((x + 0.5 * PANEL) / width, (top - 0.47) / height, text.format(len(shown)), ha="center", fontsize=12)
        place = (x / width, (top - HEAD - PANEL) / height, PANEL / width, PANEL / height)
        axes = new_axes(figure, place, drawn.view)
        show_region(axes, drawn.region, drawn.view, grid=GRID)
        for i, k in enumerate(shown):
            colour = PALETTE[i % len(PALETTE)]
            _draw_held(axes, scene, configurations[k], colour, bar=scene.bar and column == 1)
            drawn.draw(axes, configurations[k], Stroke(colour))
        for target in targets:
            low: Any = target.translation - [0.0, 0.0, 0.16 * drawn.region.width]
            axes.text(*low, "target", ha="center", va="top", fontsize=11, zorder=11)


def _draw_held(axes: Any, scene: DemoScene, q: Vector, colour: str, bar: bool) -> None:
    """A bar between the tips, and the centre of mass over the ground."""
    if bar:
        ends = [placement_by_hand(scene.robot, tip, q).translation for tip in scene.tips]
        axes.plot(*np.transpose(ends), color="#a0a0a0", linewidth=6.0, solid_capstyle="round")
    if scene.center is not None:
        x, y, z = scene.center(q).tolist()
        floor = min(float(oMf.translation[2]) for oMf in scene.ground)
        axes.plot([x, x], [y, y], [z, floor], ":", color=colour, linewidth=1.5)
        axes.plot([x], [y], [z], "X", color=colour, markersize=9.0, markeredgecolor="white", zorder=12)
