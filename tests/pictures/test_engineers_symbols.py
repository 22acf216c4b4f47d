"""Pictures for a report: bodies are filled, the ground is marked, joints are named, springs and dampers are drawn."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from constraints import Robot
from constraints.dynamics import HingeSpring, JointSpring, PointLink, PointSpring
from constraints.errors import ConstraintError, WrongObjectError
from constraints.models import mechanisms
from constraints.pictures import Drawing, symbols
from constraints.pictures.drawn import SIZE, SPRING
from constraints.pictures.figures import PALETTE

pytest.importorskip("matplotlib").use("agg")

LINKAGE = mechanisms.four_bar()
CLOSED = LINKAGE.posture("closed")
FIVE_BAR = mechanisms.five_bar()


def axes_of(**drawing: Any) -> Any:
    return LINKAGE.plot(CLOSED, drawing=Drawing(**drawing)).axes[0]


def polygons(axes: Any) -> list[np.ndarray]:
    """Corners of the filled polygons of a flat picture, the last one not repeated."""
    return [np.array(path.vertices[:-1]) for each in axes.collections for path in each.get_paths()]


def ternary() -> Robot:
    """A plate on a pin of the world, with two more pins at its corners, that carry a bar each."""
    model: Any = pin.Model()
    plate = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "plate")
    for name, place in (("left", [0.0, 1.0, 0.0]), ("right", [1.0, 1.0, 0.0])):
        joint = model.addJoint(plate, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array(place)), name)
        model.addFrame(
            pin.Frame(f"{name}_end", joint, pin.SE3(np.eye(3), np.array([0.0, 0.5, 0.0])), pin.FrameType.OP_FRAME)
        )
    return Robot(model)


def test_a_body_with_three_pivots_is_a_filled_shape_of_its_pivots() -> None:
    robot = ternary()
    axes = robot.plot(robot.configuration(plate=0.3)).axes[0]
    (plate,) = (corners for corners in polygons(axes) if len(corners) == 3 and np.ptp(corners, axis=0).min() > 0.5)
    c, s = math.cos(0.3), math.sin(0.3)
    expected = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]) @ np.array([[c, s], [-s, c]])
    assert all(min(np.abs(corner - pivot).max() for corner in plate) < 1e-12 for pivot in expected)
    faces = [each.get_facecolor()[0] for each in axes.collections]
    assert any(0.1 < face[3] < 0.5 for face in faces)  # what is behind is seen through it


def test_bodies_with_two_pivots_stay_sticks() -> None:
    assert [len(corners) for corners in polygons(axes_of())] == [3, 3]  # the triangles of the two ground symbols


@pytest.mark.parametrize("mechanism", [LINKAGE, FIVE_BAR], ids=["four-bar", "five-bar"])
def test_each_pivot_on_the_ground_has_a_symbol(mechanism: Any) -> None:
    robot = mechanism.robot
    q = mechanism.posture("closed")
    first = [name for name, parent in zip(robot.joint_names, list(robot.model.parents)[1:], strict=True) if not parent]
    pivots = [robot.at(q).placement(name).translation[:2] for name in first]
    axes = mechanism.plot(q).axes[0]
    tops = [corners[0] for corners in polygons(axes)]
    unit = SIZE * max(np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim()))
    assert_allclose([np.ptp(corners, axis=0) for corners in polygons(axes)], [[1.5 * unit, 1.2 * unit]] * len(tops))
    assert_allclose(sorted(map(tuple, tops)), sorted(map(tuple, pivots)), atol=1e-12)


def test_the_legs_of_a_platform_stand_on_six_symbols_and_the_platform_is_filled() -> None:
    platform = mechanisms.stewart_platform()
    axes = platform.plot(next(iter(platform.postures.values()))).axes[0]
    assert len(axes.collections) == 6 + 6 + 1  # ground, sliders of the legs, the platform


def test_names_and_values_stand_beside_joints() -> None:
    assert not axes_of().texts
    assert sorted(text.get_text() for text in axes_of(names=True).texts) == ["coupler", "crank", "rocker"]
    in_degrees = {text.get_text() for text in axes_of(degrees=True).texts}
    assert f"crank {math.degrees(CLOSED[0]):.1f}\N{DEGREE SIGN}" in in_degrees
    assert f"crank {CLOSED[0]:.3g} rad" in {text.get_text() for text in axes_of(degrees=False).texts}
    with pytest.raises(WrongObjectError, match="degrees"):
        axes_of(degrees="yes")


def test_values_have_the_unit_of_their_joint_and_names_stand_inwards() -> None:
    """Angles of pins, with bounds or without, lengths of slides, nothing of balls; at one place below each other."""
    model, q = pin.Model(), [0.25, math.cos(-0.3), math.sin(-0.3), 0.0, 0.0, 0.0, 1.0, 0.5, 0.0]
    kinds = (pin.JointModelPX, pin.JointModelRUBY, pin.JointModelSpherical, pin.JointModelRY, pin.JointModelRY)
    for i, (kind, name) in enumerate(zip(kinds, ("slide", "turn", "ball", "pin", "twin"), strict=True)):
        model.addJoint(0, kind(), pin.SE3(np.eye(3), np.array([1.5 * min(i, 3), 0.0, 0.0])), name)
    for degrees, turn, pinned in (
        (True, "-17.2\N{DEGREE SIGN}", "28.6\N{DEGREE SIGN}"),
        (False, "-0.3 rad", "0.5 rad"),
    ):
        axes = Robot(model).plot(q, view="xz", drawing=Drawing(degrees=degrees)).axes[0]
        zero = "0.0\N{DEGREE SIGN}" if degrees else "0 rad"
        names = {text.get_text(): text for text in axes.texts}
        assert set(names) == {"slide 0.25 m", f"turn {turn}", "ball", f"pin {pinned}\ntwin {zero}"}
        for text, x in zip(names.values(), (0.25, 1.5, 3.0, 4.5), strict=True):
            inwards = 1.0 if x < np.mean(axes.get_xlim()) else -1.0
            assert 0.0 < inwards * (text.get_position()[0] - x) < 0.3
            assert text.get_ha() == ("left" if inwards > 0.0 else "right")
    drawn = [Robot(model).plot(q, view=view).axes[0].collections for view in ("xz", "yz")]
    blocks = [[each for each in there if each.get_facecolor()[0].min() == 1.0] for there in drawn]
    assert [len(there) for there in blocks] == [1, 0]  # a slide towards the one who looks is none
    assert_allclose(np.mean(blocks[0][0].get_paths()[0].vertices[:-1], axis=0), [0.25, 0.0], atol=1e-12)


@pytest.mark.parametrize("crank", [1.0, 2.0, 3.0, 4.5, 5.8, None])
def test_names_lie_on_no_stick_of_their_joint(crank: float | None) -> None:
    """By the pixels of a four-bar at six angles of its crank, and of a five-bar."""
    mechanism = FIVE_BAR if crank is None else LINKAGE
    q = (
        mechanism.posture("closed")
        if crank is None
        else LINKAGE.sweep(CLOSED, "crank", np.linspace(1.0, crank, 6)).qs[-1]
    )
    axes = mechanism.plot(q, drawing=Drawing(names=True)).axes[0]
    axes.figure.draw_without_rendering()
    sticks = next(np.array(line.get_xydata()) for line in axes.lines if line.get_color() == PALETTE[0])
    for text in axes.texts:
        joint = mechanism.robot.at(q).placement(text.get_text()).translation[:2]
        own = [pair for pair in pairwise(sticks) if min(np.abs(end - joint).max() for end in pair) < 1e-9]
        assert own
        box = text.get_window_extent()
        for a, b in own:
            pixels = axes.transData.transform(a + np.linspace(0.0, 1.0, 200)[:, None] * (b - a))
            assert not any(box.contains(*pixel) for pixel in pixels), text.get_text()


def springs(**numbers: float) -> list[np.ndarray]:
    """Lines of a spring from the end of the coupler to a point of the world."""
    anchor = [0.3, 0.8, 0.0, 0.0, 0.0, 0.0, 1.0]
    spring = PointSpring(LINKAGE.robot, "coupler_end", anchor, **numbers)
    return [np.array(line.get_xydata()) for line in axes_of(forces=[spring]).lines if line.get_color() == SPRING]


@pytest.mark.parametrize(
    ("numbers", "wide"),
    [({"stiffness": 5.0}, (-0.55, 0.55)), ({"damping": 1.0}, (-0.5, 0.5)), ({}, (-0.55, 0.55)),
     ({"stiffness": 5.0, "damping": 1.0}, (-1.4, 1.45))],
)  # fmt: skip
def test_springs_and_dampers_between_points_end_at_the_points(
    numbers: dict[str, float], wide: tuple[float, float]
) -> None:
    """A spring on the way between them, or a damper; both beside it, in units of symbols."""
    end, unit = LINKAGE.robot.at(CLOSED).placement("coupler_end").translation[:2], SIZE * 1.12 * (0.8 - 0.0)
    (line,) = springs(**numbers)
    for point in (end, [0.3, 0.8]):
        assert np.nanmin(np.linalg.norm(line - point, axis=1)) < 1e-12
    way = (np.array([0.3, 0.8]) - end) / np.linalg.norm(np.array([0.3, 0.8]) - end)
    off = (line - end) @ np.array([-way[1], way[0]])
    assert_allclose([np.nanmin(off), np.nanmax(off)], unit * np.array(wide))


def test_springs_about_pivots_and_links_are_drawn_and_other_forces_are_not() -> None:
    robot = LINKAGE.robot
    closure: Any = LINKAGE.closures[0]
    link = PointLink(robot, "coupler_end", None, 3.0)
    forces = [JointSpring(robot, "crank", stiffness=1.0), HingeSpring(closure, 1.0, 1.0), link]
    lines = [line for line in axes_of(forces=forces).lines if line.get_color() == SPRING]
    assert len(lines) == 3
    assert [line.get_linestyle() for line in lines] == ["-", "-", "-."]
    with pytest.raises(ConstraintError, match="external force 0"):
        axes_of(forces=["spring"])


def test_a_spring_about_a_pivot_winds_outwards_and_its_damper_lies_around_it() -> None:
    """The spring ends above the pivot; the damper is an arc below it, with a stroke across each end."""
    spiral, (ring, *strokes) = symbols.spiral(), symbols.arc()
    radii = np.linalg.norm(spiral, axis=1)
    assert (np.diff(radii) > 0.0).all()
    assert_allclose(spiral[[0, -1]], [[radii[0], 0.0], [0.0, radii[-1]]], atol=1e-12)
    assert_allclose(np.linalg.norm(ring, axis=1), np.linalg.norm(ring[0]))
    assert radii[-1] < np.linalg.norm(ring[0]) < 2.0 * radii[-1]
    assert (ring[:, 1] < 0.0).all()
    assert_allclose(ring, ring[::-1] * [-1.0, 1.0], atol=1e-12)
    for stroke, end in zip(strokes, (ring[0], ring[-1]), strict=True):
        assert_allclose(stroke.mean(axis=0), end)
        assert_allclose(np.cross([*(stroke[1] - stroke[0]), 0.0], [*end, 0.0]), 0.0, atol=1e-12)


@pytest.mark.parametrize("along", [(1.0, 0.0), (0.0, 1.0), (0.6, 0.8), (0.6, -0.8)])
def test_a_guide_is_below_what_slides_or_left_of_it(along: tuple[float, float]) -> None:
    """Whichever way it slides."""
    for way in (np.array(along), -np.array(along)):
        rail, *strokes = symbols.guide(way, 2.0)
        assert_allclose(np.abs(rail @ way), 2.0)
        off = 0.65 * (np.array([-1.0, 0.0]) if along[0] == 0.0 else np.array([along[1], -along[0]]))
        assert_allclose(rail.mean(axis=0), off, atol=1e-12)
        for start, end in strokes:
            assert_allclose([start @ off / 0.65, (end - start) @ off / 0.65], [0.65, 0.4], atol=1e-12)
            assert_allclose((start - end) @ way, 0.35)


def test_symbols_have_the_sizes_they_say() -> None:
    """Closed forms: a zigzag, and a cup with its piston, end where they must and are as wide as said; so is a cube."""
    line = symbols.coil(np.zeros(2), np.array([3.0, 4.0]), 0.2, 0.0)
    assert_allclose([line[0], line[-1]], [[0.0, 0.0], [3.0, 4.0]], atol=1e-12)
    assert_allclose(np.abs(line @ np.array([-0.8, 0.6])).max(), 0.11, atol=1e-12)
    for size, lead in ((0.2, 1.66), (1.0, 1.0)):  # coils of 1.2 sizes, or of three fifths of the way
        line = symbols.coil(np.zeros(2), np.array([5.0, 0.0]), size, 0.0)
        assert_allclose(line[[1, 2, -3, -2], 0], [0.0, lead, 5.0 - lead, 5.0])
    axes = np.array([[0.6, -0.8], [0.8, 0.6]])  # along and across
    arm, cup, piston, rod = (part @ axes for part in symbols.dashpot(np.zeros(2), np.array([3.0, 4.0]), 0.2, 0.3))
    assert_allclose(arm, [[0.0, 0.0], [0.0, 0.3], [2.38, 0.3]], atol=1e-12)
    assert_allclose(cup, [[2.62, 0.4], [2.38, 0.4], [2.38, 0.2], [2.62, 0.2]], atol=1e-12)
    assert_allclose(piston, [[2.5, 0.375], [2.5, 0.225]], atol=1e-12)
    assert_allclose(rod, [[2.5, 0.3], [5.0, 0.3], [5.0, 0.0]], atol=1e-12)
    line, *strokes = symbols.ground()  # under a pivot's feet; strokes below it, from its one end to the other
    assert_allclose(line[:, 1], symbols.PIN[1:, 1])
    assert symbols.PIN[2, 0] < line[1][0] < 2.0 * symbols.PIN[2, 0]
    assert_allclose(strokes[0][1][0], line[0][0])
    assert_allclose(strokes[-1][0], line[1])
    assert_allclose([stroke[0][1] for stroke in strokes], line[0][1])
    assert_allclose([stroke[1] - stroke[0] for stroke in strokes], [[-0.35, -0.4]] * len(strokes))
    corners = [np.array([x, y, z]) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
    assert {tuple(corner) for face in symbols.faces(corners, 1.0) for corner in face} == {tuple(c) for c in corners}
    (square,) = symbols.faces([corner for corner in corners if corner[2] == 0.0], 1.0)
    assert len(square) == 4
    assert symbols.faces([np.zeros(3), np.ones(3), 2.0 * np.ones(3)], 1.0) == []
    for picture, thin in ((1.0, 5e-3), (0.0, 1e-3)):  # a hundredth of the picture, or a thousandth of its length
        for part, seen in ((0.9, 0), (1.1, 1)):
            strip = [np.array([x, part * thin * y, 0.0]) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
            assert len(symbols.faces(strip, picture)) == seen
