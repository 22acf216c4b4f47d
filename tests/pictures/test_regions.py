"""The part of the world that a picture shows: closed forms of its box, its grid, its planes, its size in space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from pictures.test_readable import seen_box

from constraints import Robot
from constraints.models import sample_arm
from constraints.pictures import Drawing
from constraints.pictures.figures import new_figure
from constraints.pictures.scenes import ARROW, DrawnScene
from constraints.pictures.views import Direction, Region, new_axes, plane_of, show_region

ARM = sample_arm()
HOME = ARM.reference("home")


def box(*size: float) -> Region:
    """A region that begins at the origin."""
    return Region(np.zeros(3), np.array(size, dtype=float))


@pytest.mark.parametrize(
    ("width", "grid"),
    [(0.9, 0.2), (1.0, 0.2), (2.0, 0.5), (3.0, 1.0), (4.0, 1.0), (5.0, 1.0), (6.0, 2.0), (40.0, 10.0)],
)
def test_grid_lines_are_round_and_about_a_quarter_of_the_width_apart(width: float, grid: float) -> None:
    """1, 2 or 5 times a power of ten, the first that is at least 0.175 of the width; a tick at each multiple."""
    region = box(width, 0.2 * width, 0.5 * width)
    assert region.grid == pytest.approx(grid)
    for view in (Direction.of("xz"), Direction.of("3d")):
        axes = new_axes(new_figure(4.0, 4.0, "none"), (0.1, 0.1, 0.8, 0.8), view)
        for step in (grid, 0.3 * grid):
            show_region(axes, region, view, scales=not view.flat, grid=None if step == grid else step)
            for name, (low, high) in zip("xyz", region.limits(view).T.tolist(), strict=False):
                assert_allclose(getattr(axes, f"get_{name}lim")(), (low, high))
                ticks = step * np.arange(np.ceil(low / step), np.floor(high / step) + 0.5)
                assert_allclose(getattr(axes, f"get_{name}ticks")(), ticks, atol=1e-9)
                assert {label.get_text() for label in getattr(axes, f"get_{name}ticklabels")()} <= {""}


def test_boxes_around_points_have_a_margin_and_are_not_too_thin() -> None:
    """6 % of the largest side on each side; at least 0.15 of the width in a plane, 0.25 in space."""
    region = Region.around([[0.0, 0.0, 0.0], [1.0, 2.0, 4.0]])
    assert_allclose(region, [[-0.24, -0.24, -0.24], [1.24, 2.24, 4.24]])
    assert_allclose(
        [region.middle, np.full(3, region.reach), np.full(3, region.width)], [[0.5, 1, 2], [2.24] * 3, [4.48] * 3]
    )
    assert_allclose(Region.around(()), [[-0.05] * 3, [0.05] * 3])
    assert_allclose(Region.around([[1.0, 2.0, 4.0]]), [[0.95, 1.95, 3.95], [1.05, 2.05, 4.05]])
    assert_allclose(Region.around([np.zeros(3), [1e-5, 0.0, 0.0]]).width, 1.12e-5)
    assert_allclose(box(4.0, 1.0, 0.2).shown(True), [[0.0, 0.0, -0.2], [4.0, 1.0, 0.4]])
    assert_allclose(box(4.0, 0.9, 1.1).shown(False), [[0.0, -0.05, 0.0], [4.0, 0.95, 1.1]])
    tilted = Direction.along(np.array([0.0, -np.sqrt(0.5), np.sqrt(0.5)]))
    assert_allclose(box(4.0, 2.0, 1.0).limits(tilted), [[0.0, 0.0], [4.0, 3.0 * np.sqrt(0.5)]], atol=1e-12)


@pytest.mark.parametrize(
    ("size", "view", "ratio"),
    [((4.0, 1.0, 2.0), "xz", 0.5), ((4.0, 1.0, 1.0), "xz", 0.45), ((1.0, 1.0, 4.0), "xz", 1.8),
     ((2.0, 1.0, 3.0), "xz", 1.5), ((1.0, 4.0, 2.0), (0.0, 0.0), 0.5), ((3.0, 1.0, 4.0), (0.0, -90.0), 4.0 / 3.0),
     ((2.0, 3.0, 1.0), (90.0, -90.0), 1.5), ((2.0, 2.0, 2.0), (0.0, 45.0), np.sqrt(0.5))],
)  # fmt: skip
def test_height_over_width_of_a_picture(size: tuple[float, ...], view: Any, ratio: float) -> None:
    assert box(*size).ratio(Direction.of(view)) == pytest.approx(ratio)


def test_directions_say_what_is_right_up_and_in_front() -> None:
    """By elevation and azimuth as closed forms; a plane is one where points are within a millionth of their width."""
    for e, a in np.radians([(30.0, 45.0), (-20.0, 110.0)]):
        right, up = Direction.space((np.degrees(e), np.degrees(a))).basis
        assert_allclose(np.cross(right, up), [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], atol=1e-12)
        assert_allclose([right[2], up @ right, np.linalg.norm(up)], [0.0, 0.0, 1.0], atol=1e-12)
        assert up[2] > 0.0
    signs = Direction(np.array([[-1.0, 0.0, 0.0], [0.6, 0.0, -0.8]]), True)
    assert signs.labels == ("-x [m]", "0.6 x - 0.8 z [m]")
    plane = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 2.0, 1.0]])
    normal = plane_of(plane)
    assert normal is not None
    assert_allclose(np.abs(normal), [np.sqrt(0.5), 0.0, np.sqrt(0.5)], atol=1e-12)
    off = np.array([[0.0, 0.0, 1.0]] + [[0.0, 0.0, 0.0]] * 3)
    assert plane_of(plane[:3]) is not None
    assert plane_of(plane + 1e-8 * off) is not None
    for points in ((), plane[:2], plane[[0, 1, 1]], plane + 1e-4 * off, plane @ np.diag([1.0, 1e-8, 1.0])):
        assert plane_of(points) is None


def part_filled(axes: Any, ratio: float) -> float:
    """How much of the room of axes in space the box takes, without 0.2 inch for letters on each side."""
    seen, frame = seen_box(axes), axes.bbox
    middle = np.array([frame.x0 + frame.width / 2, frame.y0 + frame.height / 2])
    half = np.abs([np.array(seen.min) - middle, np.array(seen.max) - middle]).max(axis=0)
    room = 0.5 * np.array([min(1.0, 1.0 / ratio) * frame.width, min(1.0, ratio) * frame.height]) - 0.2 * axes.figure.dpi
    return float((half / np.maximum(room, 20.0)).max())


@pytest.mark.parametrize("angles", [(18.0, -58.0), (60.0, 20.0)])
@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.7])
@pytest.mark.parametrize("side", [0.08, 0.6])
def test_a_box_in_space_fills_the_part_of_its_axes_that_it_should(
    angles: tuple[float, float], ratio: float, side: float
) -> None:
    """Axes are a square around the middle of their place; letters have 0.2 inch; 40 pixels where there is no room."""
    view, region = Direction.of(angles), box(1.0, 2.0, 1.5)
    axes = new_axes(new_figure(5.0, 4.0, "none"), (0.1, 0.2, side, 0.4 * side), view)
    assert_allclose(axes.get_position().bounds, (0.1, 0.2 - 0.425 * side, side, 1.25 * side))
    show_region(axes, region, view, ratio=ratio)
    assert (axes.elev, axes.azim) == angles
    assert part_filled(axes, ratio) == pytest.approx(1.0, abs=0.03)
    sides = np.array(axes._box_aspect)
    assert_allclose(sides / sides.max(), [0.5, 1.0, 0.75])  # a metre is a metre in all directions
    assert not axes.patch.get_visible()  # it would hide what is beside it
    flat = new_axes(new_figure(5.0, 4.0, "none"), (0.1, 0.2, side, 0.3), Direction.of("xy"))
    assert_allclose(flat.get_position().bounds, (0.1, 0.2, side, 0.3))


@pytest.mark.parametrize(("scales", "length", "labels"), [(True, 3.5, ("x [m]", "z [m]")), (False, 0.0, ("", ""))])
def test_flat_pictures_have_scales_where_asked(scales: bool, length: float, labels: tuple[str, str]) -> None:
    axes = new_figure(4.0, 4.0).add_subplot()
    show_region(axes, box(2.0, 1.0, 1.0), Direction.of("xz"), scales)
    assert (axes.get_xlabel(), axes.get_ylabel()) == labels
    assert {tick.tick1line.get_markersize() for tick in axes.xaxis.get_major_ticks()} == {length}
    assert (axes.get_aspect(), axes.get_axisbelow(), axes.get_adjustable()) == (1.0, True, "box")
    assert all(line.get_visible() for line in axes.get_xgridlines())


@pytest.mark.parametrize("view", ["xz", "3d", (60.0, 20.0)])
def test_a_scene_knows_how_far_it_reaches_on_axes(view: Any) -> None:
    """On axes of its own a picture in space fills a part of a square; on a user's all of them, with what was there."""
    scene = DrawnScene(ARM)
    scene.look([HOME], view)
    ratio = 1.0 if view == "xz" else scene.region.ratio(scene.view)
    assert_allclose(scene.reach, (0.5 * min(1.0, 1.0 / ratio), 0.5 * min(1.0, ratio)))
    own = new_axes(new_figure(5.0, 5.0, "none"), (0.0, 0.0, 1.0, 1.0), scene.view)
    scene.show(own)
    users = new_figure(5.0, 4.0, "none").add_axes((0.1, 0.1, 0.8, 0.8), projection=None if view == "xz" else "3d")
    low, high = scene.region.low - np.array([1.0, 0.0, 2.0]), scene.region.high + np.array([3.0, 1.0, 0.0])
    users.plot(*scene.view.seen(np.array([low, high])), ".")
    names = "xy" if view == "xz" else "xyz"
    for name, ends in zip(names, scene.view.seen(np.array([low, high])), strict=True):
        users.set(**{f"{name}lim": tuple(ends)})
    scene.on_axes(users)
    scene.show(users)
    assert_allclose(scene.reach, (0.5, 0.5))
    axes = [0, 2] if view == "xz" else [0, 1, 2]
    whole = Region(low, high).shown(view == "xz")
    assert_allclose([getattr(users, f"get_{n}lim")() for n in names], np.transpose(whole)[axes])
    if view != "xz":
        assert [part_filled(own, ratio), part_filled(users, 1.0)] == pytest.approx([1.0, 1.0], abs=0.03)


def test_the_picture_grows_for_arrows_and_has_a_least_size() -> None:
    """Arrows are 0.14 of the width before they were added; what is a point has a tenth of a metre around it."""
    at = np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0])
    scene = DrawnScene(ARM, Drawing(placements=[at]))
    scene.look([HOME], "3d")
    bare = Region.around(scene.points(HOME))
    tips = at[:3] + ARROW * bare.width * np.eye(3)
    assert_allclose(scene.region, Region.around([*scene.points(HOME), *tips]))
    axes = ARM.plot(HOME, drawing=Drawing(placements=[at]), view="xz").axes[0]
    arrow = axes.collections[-1]
    assert_allclose(np.hypot(arrow.U, arrow.V), ARROW * scene.region.width, rtol=0.1)
    model: Any = pin.Model()
    model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "turn")
    point = Robot(model).plot(np.zeros(1), view="xy").axes[0]
    assert_allclose([point.get_xlim(), point.get_ylim()], [[-0.05, 0.05]] * 2)
