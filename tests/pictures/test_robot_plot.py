"""Welcome 4: pictures of robots: what is drawn, in which colours, from where, and no more of the world than that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pinocchio as pin
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

from constraints import Base, Robot
from constraints.errors import SizeError, UnknownFrameError, UnknownNameError, WrongObjectError
from constraints.manipulation import Shape
from constraints.models import Mechanism, mechanisms, sample_arm, sample_humanoid
from constraints.pictures import Drawing
from constraints.pictures.configurations import plot_robot
from constraints.pictures.drawn import GROUND as DARK
from constraints.pictures.figures import BAD, PALETTE, new_figure
from constraints.pictures.robots import GROUND, stick_figure
from constraints.pictures.views import Direction, plane_of_motion
from constraints.robot import Part

ARM = sample_arm()
HOME = ARM.reference("home")
BOX = Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER)


@pytest.fixture(scope="module")
def linkage() -> Mechanism:
    return mechanisms.four_bar()


@pytest.fixture(scope="module")
def cell() -> Robot:
    parts = [Part("left", ARM), Part("right", ARM, [0.8, 0.3, 0.0, 0.0, 0.0, 1.0, 0.0]), Part("box", BOX)]
    return Robot.system(parts)


def turned(robot: Robot, rotation: Any) -> Robot:
    """The same robot on a base that is turned."""
    return Robot.system([Part("it", robot, pin.SE3(rotation, np.array([0.1, 0.2, 0.3])))])


def colours(axes: Any) -> dict[tuple[float, ...], int]:
    """How many lines have a colour."""
    found: dict[tuple[float, ...], int] = {}
    for line in axes.lines:
        found[to_rgb(line.get_color())] = found.get(to_rgb(line.get_color()), 0) + 1
    return found


# From where


def test_planar_mechanisms_are_seen_in_their_plane(linkage: Mechanism) -> None:
    """The plane in which the joints move, however it is turned; a robot that moves in space has none."""
    tilt = pin.exp3(np.array([0.4, -0.7, 0.2]))
    for rotation in (np.eye(3), pin.utils.rotate("x", np.pi / 2), pin.utils.rotate("y", 1.0), tilt):
        tree = turned(linkage.robot, rotation)
        normal = plane_of_motion(tree, tree.neutral)
        assert normal is not None
        assert_allclose(np.abs(normal @ rotation[:, 2]), 1.0, atol=1e-12)
        view = Direction.of(None, tree, tree.neutral)
        assert view.flat
        assert_allclose(view.basis @ view.basis.T, np.eye(2), atol=1e-12)
        assert_allclose(view.basis @ normal, 0.0, atol=1e-5)
    for robot in (ARM, sample_humanoid(), BOX, mechanisms.stewart_platform().robot):
        assert plane_of_motion(robot, robot.random(np.random.default_rng(1))) is None
        assert not Direction.of(None, robot, robot.neutral).flat
        assert not Direction.of(None, robot).flat  # nothing is known of its plane without a configuration


def test_a_mechanism_that_its_closures_keep_in_a_plane_is_seen_in_it() -> None:
    """The rod of a slider-crank hangs on two axes: alone it would move in space; a Stewart platform is in space."""
    slider = mechanisms.slider_crank()
    assert plane_of_motion(slider.robot, slider.posture("closed")) is None
    assert not hasattr(slider.plot().axes[0], "get_zlim")
    assert hasattr(slider.robot.plot(slider.posture("closed")).axes[0], "get_zlim")
    assert hasattr(mechanisms.stewart_platform().plot().axes[0], "get_zlim")


def test_a_slide_alone_has_no_plane_and_two_have_one() -> None:
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "x")
    assert plane_of_motion(Robot(model), np.zeros(1)) is None
    model.addJoint(first, pin.JointModelPZ(), pin.SE3.Identity(), "z")
    assert_allclose(np.abs(plane_of_motion(Robot(model), np.zeros(2))), [0.0, 1.0, 0.0], atol=1e-12)  # type: ignore[arg-type]
    assert plane_of_motion(Robot(pin.Model()), np.zeros(0)) is None


@pytest.mark.parametrize(
    ("view", "labels"), [("xy", ("x [m]", "y [m]")), ("xz", ("x [m]", "z [m]")), ("yz", ("y [m]", "z [m]"))]
)
def test_planes_by_name_show_those_coordinates(view: str, labels: tuple[str, str]) -> None:
    """The tool is where it is, by its two coordinates; scales are equal."""
    axes = ARM.plot(HOME, view=view, drawing=Drawing(tips=["tool"])).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == labels
    tool = ARM.at(HOME).placement("tool").translation
    drawn = np.array(axes.lines[-1].get_xydata())[0]
    assert_allclose(drawn, tool[["xyz".index(label[0]) for label in labels]])
    assert axes.get_aspect() == 1.0


@pytest.mark.parametrize("normal", [(0.0, 0.0, -2.0), (0.0, 3.0, 0.0), (1.0, 0.0, 0.0)])
def test_planes_along_the_axes_are_those_by_name(normal: tuple[float, float, float]) -> None:
    """So that what is right in the picture is x, or y where x is hidden, and what is up is y or z."""
    view = Direction.along(np.array(normal) / np.linalg.norm(normal))
    named = {2: "xy", 1: "xz", 0: "yz"}[int(np.argmax(np.abs(normal)))]
    assert_allclose(view.basis, Direction.of(named).basis, atol=1e-12)


def test_a_direction_is_elevation_and_azimuth() -> None:
    axes = ARM.plot(HOME, view=(30.0, 45.0)).axes[0]
    assert (axes.elev, axes.azim) == (30.0, 45.0)
    usual = ARM.plot(HOME).axes[0]
    assert (usual.elev, usual.azim) == (18.0, -58.0)


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [(name, UnknownNameError, "xy") for name in ("top", "XY")]
    + [(thing, WrongObjectError, "view") for thing in (3, (1.0, 2.0, 3.0), {"a": 1})],
)
def test_a_view_that_is_none_is_named(wrong: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        ARM.plot(HOME, view=wrong)


# How much of the world


@pytest.mark.parametrize("view", [None, "xz"])
def test_the_picture_shows_what_is_drawn_and_little_more(view: str | None) -> None:
    """All of it, with 6 % of the width around it; in space at least a quarter of the width in each direction."""
    axes = ARM.plot(HOME, view=view).axes[0]
    names = "xyz" if view is None else "xy"
    posture = ARM.at(HOME)
    points = np.array([np.zeros(3), *(posture.placement(name).translation for name in ARM.frame_names)])
    seen = points if view is None else points[:, [0, 2]]
    limits = np.array([getattr(axes, f"get_{name}lim")() for name in names])
    low, high = seen.min(axis=0), seen.max(axis=0)
    width = (high - low).max()
    assert (limits[:, 0] < low).all()
    assert (limits[:, 1] > high).all()
    assert (limits[:, 1] - limits[:, 0] <= np.maximum(high - low + 0.13 * width, 0.29 * width)).all()


# What, and in which colours


def test_each_robot_and_object_has_its_colour_and_its_name(cell: Robot) -> None:
    """A legend with the parts of a system; a robot alone has none."""
    figure = cell.plot()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["left", "right", "box"]
    assert [line.get_color() for line in legend.get_lines()] == list(PALETTE[:3])
    assert {*colours(figure.axes[0])} == {to_rgb(colour) for colour in PALETTE[:3]}
    assert ARM.plot(HOME).legends == []
    pair = Robot.system([Part("left", ARM), Part("right", ARM, [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])])
    assert len(pair.plot().legends) == 1
    assert all(np.linalg.norm(start[:2]) in (0.0, 3.0) for start, _ in stick_figure(pair, pair.neutral))
    grey = cell.plot(drawing=Drawing(colour="#123456"))
    assert grey.legends == []
    assert {*colours(grey.axes[0])} == {to_rgb("#123456")}


def test_colours_differ_for_people_who_see_two_colours_only() -> None:
    """By Machado, Oliveira and Fernandes (2009): full deuteranopia and protanopia, on linear RGB."""
    deutan = np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    )
    protan = np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    )
    for matrix in (np.eye(3), deutan, protan):
        seen = np.array([matrix @ np.array(to_rgb(c)) ** 2.2 for c in PALETTE])
        apart = np.abs(seen[:, None] - seen[None]).max(axis=2) + np.eye(len(seen))
        assert apart.min() > 0.08


def test_pixels_of_those_colours_are_there(cell: Robot, tmp_path: Path) -> None:
    """The picture itself: some hundred pixels of each part's colour, the rest nearly white."""
    path = tmp_path / "cell.png"
    cell.plot(cell.configuration({"box/root_joint": pin.SE3(np.eye(3), np.array([0.4, 0.0, 0.4]))}), path)
    image = np.asarray(mpl.image.imread(path))[:, :, :3]  # type: ignore[attr-defined]
    for colour in PALETTE[:3]:
        assert (np.abs(image - to_rgb(colour)).max(axis=2) < 0.02).sum() > 100
    assert (image.min(axis=2) > 0.85).mean() > 0.9


def test_a_part_stands_where_it_stands(cell: Robot) -> None:
    """No stick leads from the world's origin to a robot that stands elsewhere; one on a link begins at that link."""
    figure = cell.plot()
    right = next(line for line in figure.axes[0].lines if line.get_color() == PALETTE[1])
    points = np.array(right.get_data_3d()).T
    assert np.nanmin(np.linalg.norm(points, axis=1)) > 0.8
    text = (
        "<robot name='r'><link name='foot'/><link name='bar'/><joint name='j' type='continuous'>"
        "<parent link='foot'/><child link='bar'/><origin xyz='0 0 0.5'/><axis xyz='0 1 0'/></joint></robot>"
    )
    stand = Robot.system([Part("it", Robot.from_urdf(text), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0])])
    lines = [np.array(line.get_data_3d()).T for line in stand.plot(view="3d").axes[0].lines]
    assert any(len(line) == 3 and np.allclose(line[:2], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.5]]) for line in lines)


def test_sticks_reach_to_the_ends_without_being_told(linkage: Mechanism) -> None:
    """The furthest frame of the last joint: the tool of an arm; in a mechanism the ends of its closures."""
    tool = ARM.at(HOME).placement("tool").translation
    points = np.concatenate([np.array(line.get_data_3d()).T for line in ARM.plot(HOME).axes[0].lines])
    assert np.nanmin(np.linalg.norm(points - tool, axis=1)) < 1e-9
    model: Any = pin.Model()
    tip = pin.SE3(np.eye(3), np.array([0.0, 0.5, 0.0]))
    model.addFrame(pin.Frame("tip", model.addJoint(0, pin.JointModelRX(), tip, "j"), tip, pin.FrameType.OP_FRAME))
    pendulum = Robot(model).plot(np.zeros(1), view="xy").axes[0].lines[-2]
    assert [0.0, 1.0] in np.array(pendulum.get_xydata()).tolist()  # a joint on the world has an end too
    q = linkage.posture("closed")
    pin_at = linkage.robot.at(q).placement(linkage.closures[0].predecessor).translation  # type: ignore[attr-defined]
    ends = np.concatenate([line.get_xydata() for line in linkage.plot(q).axes[0].lines])
    assert np.nanmin(np.linalg.norm(ends - pin_at[:2], axis=1)) < 1e-9


def test_open_closures_are_dashed_and_rods_are_not(linkage: Mechanism) -> None:
    q = linkage.posture("closed")
    assert to_rgb(BAD) not in colours(linkage.plot(q).axes[0])
    opened = linkage.robot.configuration({"crank": 2.0}, start=q)
    for thing in (linkage, linkage.constraint_set()):
        axes = plot_robot(thing, opened).axes[0]
        (dashed,) = [line for line in axes.lines if line.get_linestyle() == "--"]
        pair = linkage.closures[0]
        ends = [linkage.robot.at(opened).placement(f).translation[:2] for f in (pair.predecessor, pair.successor)]  # type: ignore[attr-defined]
        assert_allclose(np.sort(dashed.get_xydata(), axis=0), np.sort(ends, axis=0))
    assert [line for line in linkage.robot.plot(opened).axes[0].lines if line.get_linestyle() == "--"] == []


def test_frames_and_placements_are_drawn_where_asked() -> None:
    """Three arrows each, red, green and blue, in space and flat; an arrow towards the one who looks is a dot."""
    target = np.array([0.4, 0.1, 0.6, 0.0, 0.0, 0.0, 1.0])
    bare, both = ARM.plot(HOME).axes[0], ARM.plot(HOME, drawing=Drawing(frames=["tool"], placements=[target])).axes[0]
    assert len(both.collections) == len(bare.collections) + 6
    flat = ARM.plot(HOME, drawing=Drawing(placements=[target]), view="xz").axes[0]
    assert len(flat.collections) == 3  # two arrows, and the ground symbol
    dot = flat.lines[-1]
    assert_allclose(dot.get_xydata()[0], [0.4, 0.6])
    with pytest.raises(UnknownFrameError, match="tool"):
        ARM.plot(HOME, drawing=Drawing(frames=["tol"]))
    with pytest.raises(WrongObjectError, match="sequence"):
        ARM.plot(HOME, drawing=Drawing(frames="tool"))


def test_shapes_have_the_colour_of_what_carries_them(cell: Robot) -> None:
    shapes = [Shape("b", "Box", (0.1, 0.1, 0.2), "box/root_joint"), Shape("t", "Box", (1.0, 1.0, 0.1))]
    axes = cell.plot(drawing=Drawing(shapes=shapes)).axes[0]
    green = [line for line in axes.lines if line.get_color() == PALETTE[2]]
    grey = [line for line in axes.lines if line.get_color() == "#8a8a8a"]
    parts = [np.isnan(line.get_data_3d()[0]).sum() for line in (*green, *grey)]
    assert parts == [6, 0, 6]  # two rings and four posts, a dot; the same of the other box
    assert len(cell.plot(drawing=Drawing(shapes=shapes), view="xz").axes[0].collections) == 1
    lids = [cell.plot(q, drawing=Drawing(shapes=shapes)).axes[0].collections for q in (None, [cell.neutral] * 2)]
    strengths = [[lid.get_facecolor()[0, 3] for lid in drawn] for drawn in lids]
    assert strengths == [[0.4], [pytest.approx(0.4 * (0.15 + 0.85 / 8.0)), 0.4]]  # as strong as what they are on
    own = cell.plot(drawing=Drawing(shapes=shapes, colour="#123456")).axes[0].lines
    assert {line.get_color() for line in own} == {"#123456", "#8a8a8a"}  # one for all that moves


def test_configurations_over_each_other_the_last_one_the_strongest() -> None:
    Q = ARM.random(np.random.default_rng(0), 3)
    lines = [line for line in ARM.plot(Q).axes[0].lines if line.get_linestyle() == "-"]
    strengths = [line.get_alpha() for line in lines]
    assert strengths == sorted(strengths)
    assert strengths[-1] == 1.0
    with pytest.raises(WrongObjectError, match="at least one"):
        ARM.plot(np.zeros((0, ARM.nq)))
    with pytest.raises(SizeError, match="q"):
        ARM.plot(np.zeros(3))


def test_without_a_configuration_it_rests_in_its_bounds(linkage: Mechanism) -> None:
    """Neutral, put into the bounds; a mechanism in its first posture."""
    bounded = ARM.with_bounds({ARM.joint_names[1]: (0.5, 1.0)})
    q = bounded.neutral
    q[bounded.slice_of(ARM.joint_names[1])] = 0.5
    assert_allclose(bounded.plot().axes[0].lines[0].get_data_3d(), bounded.plot(q).axes[0].lines[0].get_data_3d())
    closed = linkage.plot(linkage.posture("closed")).axes[0].lines[0].get_xydata()
    assert_allclose(linkage.plot().axes[0].lines[0].get_xydata(), closed)


# Where


def test_axes_of_a_user_show_both_robots(linkage: Mechanism) -> None:
    """`ax=`: what was drawn before stays in sight; axes that do not suit are refused."""
    axes = new_figure(4.0, 4.0).add_subplot(projection="3d")
    assert ARM.plot(HOME, ax=axes, drawing=Drawing(colour="#999999")) is axes.figure
    far = Robot.system([Part("far", ARM, [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])])
    far.plot(ax=axes)
    low, high = axes.get_xlim()
    assert low < 0.0
    assert high > 3.0
    flat = new_figure(4.0, 4.0).add_subplot()
    linkage.plot(ax=flat)
    assert flat.lines
    with pytest.raises(WrongObjectError, match="3d"):
        ARM.plot(HOME, ax=flat)
    with pytest.raises(WrongObjectError, match="flat"):
        linkage.plot(ax=axes)
    with pytest.raises(WrongObjectError, match="axes"):
        ARM.plot(HOME, ax=3)


def test_only_what_can_be_drawn_is_drawn() -> None:
    with pytest.raises(WrongObjectError, match="a Robot, a Mechanism or a ConstraintSet"):
        plot_robot(ARM.model)  # type: ignore[arg-type]


def test_the_ground_is_grey(linkage: Mechanism) -> None:
    """Stumble 12: the base had the colour of the links; the ground of a four-bar is a symbol at each pivot."""
    q = linkage.posture("closed")
    axes = linkage.robot.plot(q, view="xy").axes[0]
    pivots = [linkage.robot.at(q).placement(name).translation[:2] for name in ("crank", "rocker")]
    tops = [collection.get_paths()[0].vertices[0] for collection in axes.collections]
    assert_allclose(sorted(map(tuple, tops)), sorted(map(tuple, pivots)), atol=1e-12)
    assert [line.get_color() for line in axes.lines] == [DARK, DARK, *PALETTE[:1] * 2]  # below; no stick joins the two
    assert GROUND in {line.get_color() for line in ARM.plot(HOME, view="xz").axes[0].lines}  # what it stands on
    assert GROUND not in {
        line.get_color() for line in ARM.plot(HOME, view="xz", drawing=Drawing(colour="red")).axes[0].lines
    }
