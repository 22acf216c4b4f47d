"""Laws of all pictures: words stay inside and apart, nothing is wasted around them, lines are thin, boxes fill."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from pictures.test_dependency_plot import twelve, twice
from scenes import factory, recorded_graph

from constraints import Implicit, Options, Pose, Problem, Projector, Robot, locked_joint, rigid_transform
from constraints.dynamics import JointSpring, PointSpring, simulate
from constraints.errors import FileError, WrongObjectError
from constraints.loops import assemble_position
from constraints.models import mechanisms, sample_arm
from constraints.paths.interpolation import interpolate
from constraints.pictures import Drawing, plot_assembly, plot_configurations, plot_path
from constraints.reduced import equilibrium
from constraints.robot import Part

ARM = sample_arm()
HOME = ARM.reference("home")
BENT = 0.4 * (np.arange(ARM.nq) == 3)
LINKAGE = mechanisms.four_bar()
LONG = "a title that says much more than there is room for above one picture of a robot"
CLOSED = LINKAGE.posture("closed")
DELTA = mechanisms.delta_robot()


def cell() -> Robot:
    """Two arms, whose names fill a line of the legend each."""
    names = [f"arm of the {side} side of a cell with a long name" for side in ("left", "right")]
    return Robot.system([Part(name, ARM, [0.8 * i, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]) for i, name in enumerate(names)])


def motion() -> Any:
    return simulate(LINKAGE.constraint_set(), CLOSED, np.zeros(3), 0.1, 0.002, forces=[pulling()])


def pulling() -> PointSpring:
    """A spring that pulls the crank of the four-bar."""
    return PointSpring(LINKAGE.robot, "crank_end", rigid_transform([0.2, 0.55, 0.0]), 120.0, length=0.2)


def modes(damping: float = 0.0) -> Any:
    """Of the four-bar at rest on this spring, its crank damped."""
    damper = JointSpring(LINKAGE.robot, "crank", 0.0, damping=damping)
    rest = equilibrium(LINKAGE.minimal_coordinates(CLOSED), CLOSED, external=[pulling(), damper])
    return rest.or_raise().modes()


def long_table() -> Any:
    """Of modes, as many as are listed."""
    found = modes()
    with patch.object(type(found), "describe", lambda _: "\n".join(["a line of the table of modes"] * 16)):
        return found.plot()


def path() -> Any:
    return interpolate(Problem(ARM, [locked_joint(ARM, ARM.joint_names[0], HOME[0])]), HOME, HOME + BENT).or_raise()


def projection() -> Any:
    target = ARM.at(HOME).placement(ARM.frame("tool"))
    problem = Problem(ARM, [Implicit.equal(Pose(ARM, "tool"), target)])
    return Projector(problem, Options(trace=True)).project(HOME + 0.2)


FIGURES: dict[str, Callable[[], Any]] = {
    "space": lambda: ARM.plot(HOME),
    "flat": lambda: ARM.plot(HOME, view="xz"),
    "system": lambda: cell().plot(),
    "flat system": lambda: cell().plot(view="xz"),
    "names": lambda: LINKAGE.plot(CLOSED, drawing=Drawing(names=True)),
    "groups": lambda: plot_configurations(ARM, dict.fromkeys([LONG, f"{LONG}, again", *"01234"], HOME)),
    "assembly": lambda: plot_assembly(DELTA, DELTA.posture("closed"), DELTA.posture("closed")),
    "iterates": lambda: assemble_position(LINKAGE.constraint_set(), CLOSED + 0.05).plot_iterates(),
    "modes": lambda: modes().plot(),
    "modes in a long table": long_table,
    "motion": lambda: motion().plot(),
    "long names": lambda: motion().plot(what=["power of PointSpring crank_end to world"] * 2),
    "sweep": lambda: LINKAGE.sweep(CLOSED, "crank", np.linspace(0.7, 7.0, 20)).plot(),
    "path": lambda: plot_path(path(), count=6),
    "trace": lambda: projection().plot(),
    "graph": lambda: recorded_graph().plot(),
    "graph with level sets": lambda: factory(boxes=2, mask="111011").generate().plot(),
    "dependencies": lambda: twelve().plot_dependencies(),
    "a dependency refused": lambda: twice().plot_dependencies(),
    "no dependencies": lambda: projection().problem.plot_dependencies(),
}  # fmt: skip


def dependencies() -> Any:
    return SimpleNamespace(plot=twelve().plot_dependencies)


@pytest.mark.parametrize("made", [projection, recorded_graph, dependencies])
def test_files_axes_and_what_is_neither(made: Callable[[], Any], tmp_path: Path) -> None:
    """A figure of its own, in a file or not, or axes that are given; other things are refused."""
    thing, axes = made(), plt.figure().add_subplot()
    assert thing.plot(ax=axes) is axes.figure
    assert axes.lines or axes.patches
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        thing.plot(tmp_path / f"it.{ending}")
        assert (tmp_path / f"it.{ending}").read_bytes().startswith(start)
    for wrong in (3, axes.figure):
        with pytest.raises(WrongObjectError, match="matplotlib axes"):
            thing.plot(ax=wrong)
    with pytest.raises(WrongObjectError, match="path of a figure"):
        thing.plot(3)
    for place in ("nowhere/it.png", "it.nonsense"):
        with pytest.raises(FileError, match=place.partition(".")[0]):
            thing.plot(tmp_path / place)


@pytest.fixture(scope="module", params=FIGURES)
def drawn(request: pytest.FixtureRequest) -> Any:
    figure = FIGURES[request.param]()
    figure.canvas.draw()
    return request.param, figure


def words_of(figure: Any) -> list[Any]:
    """All texts that are seen, those of axes and legends among them, without the numbers of scales."""
    numbers = {t for axes in figure.axes for axis in axes._axis_map.values() for t in axis.get_ticklabels(which="both")}
    return [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip() and t not in numbers]


def seen_box(axes: Any) -> Bbox:
    """What axes take of a figure [pixels]: in space the corners of the box that they show."""
    if not hasattr(axes, "get_zlim"):
        return axes.bbox
    corners = np.array([[x, y, z, 1.0] for x in axes.get_xlim() for y in axes.get_ylim() for z in axes.get_zlim()])
    seen = corners @ axes.get_proj().T
    pixels = axes.transData.transform(seen[:, :2] / seen[:, 3:])
    return Bbox([pixels.min(axis=0), pixels.max(axis=0)])


def test_words_and_pictures_are_inside_and_apart(drawn: tuple[str, Any]) -> None:
    """Words stand over no other words and no picture, all inside of the figure, in sizes that can be read."""
    name, figure = drawn
    texts = words_of(figure)
    boxes = [text.get_window_extent() for text in texts]
    pictures = [seen_box(axes) for axes in figure.axes]
    width, height = figure.get_size_inches() * figure.dpi
    for box in [*boxes, *pictures]:
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -1e-6
    for (a, one), (b, other) in combinations(zip(texts, boxes, strict=True), 2):
        assert not one.overlaps(other), (a.get_text(), b.get_text())
    for one, other in combinations(pictures, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        assert min(wide, min(one.y1, other.y1) - max(one.y0, other.y0)) < 1.0
    above = [text.get_window_extent() for text in [*figure.texts, *(t for key in figure.legends for t in key.texts)]]
    assert not any(box.overlaps(picture) for box in above for picture in pictures)
    sizes = [text.get_fontsize() for text in texts]
    assert min(sizes) >= (5.0 if name.startswith("graph") else 6.5)
    assert max(sizes) <= 15.0


def test_figures_are_no_larger_than_what_they_show(drawn: tuple[str, Any]) -> None:
    """Less than 0.75 inch are free on each side of what is drawn; but for the table of modes, which may be wider.

    Between what is above and below it is half an inch; an inch where boxes in space do not fill their places.
    """
    name, figure = drawn
    assert hasattr(figure, "number")  # what is not written is pyplot's, which shows it
    width, height = figure.get_size_inches()
    boxes = [*(text.get_window_extent() for text in words_of(figure)), *map(seen_box, figure.axes)]
    boxes = sorted((box.transformed(figure.dpi_scale_trans.inverted()) for box in boxes), key=lambda box: box.y0)
    tops = np.maximum.accumulate([box.y1 for box in boxes])
    between = max((box.y0 - top for box, top in zip(boxes[1:], tops, strict=False)), default=0.0)
    assert between < (1.0 if any(hasattr(axes, "get_zlim") for axes in figure.axes) else 0.5)
    whole = Bbox.union(boxes)
    assert max(whole.x0, whole.y0, 0.0 if name.startswith("modes") else width - whole.x1, height - whole.y1) < 0.75


def test_lines_are_thin_and_quiet_where_they_are_beside_the_point(drawn: tuple[str, Any]) -> None:
    """Lines of 0.5 to 2.2 points, grids of at most one point in light grey, below all else; dots of at most 8."""
    _, figure = drawn
    for axes in figure.axes:
        assert all(0.5 <= line.get_linewidth() <= 2.2 for line in axes.lines if line.get_linestyle() != "None")
        assert all(line.get_markersize() <= 8.0 for line in axes.lines if line.get_marker() not in ("None", None, ""))
        grid = axes.get_xgridlines()[0]
        if axes.axison and grid.get_visible():
            assert min(to_rgb(grid.get_color())) > 0.85
            assert 0.5 <= grid.get_linewidth() <= 1.0
