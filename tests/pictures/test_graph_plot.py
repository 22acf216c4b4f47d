"""Pictures of constraint graphs and of paths on them."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.testing import assert_allclose
from PIL import Image
from scenes import factory, recorded_graph

from constraints.errors import FileError, OptionError, UnknownFrameError, WrongObjectError
from constraints.manipulation import ConstraintGraph, Rule, Shape, State, Transition, animate, plot_path
from constraints.paths.interpolation import interpolate
from constraints.paths.path import Path as Motion
from constraints.pictures import Drawing
from constraints.pictures.graphs.graph import GREY
from constraints.pictures.graphs.graph_layout import INNER, LINE, NEXT, Picture, picture_of
from constraints.pictures.graphs.layered import ABOVE
from constraints.pictures.shapes import lid, wires

CASES = {
    "smallest": ({}, True),
    "two handles": ({"handles": 2}, True),
    "level sets": ({"boxes": 2, "mask": "111011"}, True),
    "two grippers, two boxes": ({"arms": 2, "boxes": 2}, False),
    "two grippers, two boxes, two handles": ({"arms": 2, "boxes": 2, "handles": 2}, False),
}


@pytest.fixture(scope="module", params=CASES, ids=[name.replace(" ", "-") for name in CASES])
def case(request: pytest.FixtureRequest) -> tuple[ConstraintGraph, bool]:
    given, waypoints = CASES[request.param]
    return factory(**given).generate(), waypoints


def overlap(a: Any, b: Any) -> bool:
    return all(abs(a.centre[i] - b.centre[i]) < 0.5 * (a.size[i] + b.size[i]) for i in range(2))


def distance(point: tuple[float, float], box: Any) -> float:
    """Of a point from a box; 0 inside."""
    return max(abs(point[i] - box.centre[i]) - 0.5 * box.size[i] for i in range(2))


def check(picture: Picture) -> None:
    """Boxes are apart; arrows lead from box to box, beside each other, and cross neither a box nor, at one, each other.

    Loops stand on their states, beside each other. Nothing is outside of the picture, and it is no larger.
    """
    boxes, level, beside = picture.boxes, list[Any](), defaultdict[Any, list[Any]](list)
    for a, b in combinations(boxes.values(), 2):
        assert not overlap(a, b), (a.state, b.state)
    tops = [box.centre[1] + 0.5 * box.size[1] for box in boxes.values()]
    assert max(box.sides[1] for box in boxes.values()) == picture.size[0]
    assert picture.size[1] - 0.5 < max(tops) <= picture.size[1] - 0.3  # a loop has room
    assert all(box.sides[0] >= 0.0 and box.centre[1] >= 0.5 * box.size[1] for box in boxes.values())
    for arrow in picture.arrows:
        source, target = boxes[arrow.transition.source.name], boxes[arrow.transition.target.name]
        (x0, y0), (x1, y1) = arrow.points[0], arrow.points[-1]
        if source is target:
            assert y0 == y1 == source.centre[1] + 0.5 * source.size[1]
            assert source.sides[0] < x0 < x1 < source.sides[1]
            level.append((x0, x1, y0))
            continue
        assert max(abs(distance(arrow.points[0], source)), abs(distance(arrow.points[-1], target))) < 1e-9
        sides = (source.sides[1], target.sides[0]) if x0 < x1 else (source.sides[0], target.sides[1])
        assert (x0, x1) == pytest.approx(sides), arrow.label
        points = sorted(arrow.points)
        for (start, y), (end, next_y) in pairwise(points):
            curve = [(0.5 * (start + end) - 0.5 * c * (end - start), 0.5 * (y + next_y)) for c in (-0.999, 0.0, 0.999)]
            assert all(distance(point, box) > -1e-9 for point in curve for box in boxes.values()), arrow.label
            level += [(start, end, y)] if y == next_y else []
        for state, end, away in (
            (source, arrow.points[0], arrow.points[1]),
            (target, arrow.points[-1], arrow.points[-2]),
        ):
            beside[state.state.name, end[0] < away[0]].append((end[1], away[1]))
    for (a0, a1, a), (b0, b1, b) in combinations(level, 2):
        assert min(a1, b1) - max(a0, b0) < 1e-9 or abs(a - b) > 2.0 * INNER - 1e-9
    for there in beside.values():
        assert sorted(there) == sorted(there, key=lambda heights: heights[1])


def test_picture_shows_every_state_and_transition(case: tuple[ConstraintGraph, bool]) -> None:
    graph, waypoints = case
    picture = picture_of(graph, waypoints)
    states = [*graph.states, *(graph.waypoint_states if waypoints else ())]
    transitions = [*graph.transitions, *(graph.inner_transitions if waypoints else ())]
    assert sorted(picture.boxes) == sorted(state.name for state in states)
    assert sorted(arrow.transition.name for arrow in picture.arrows) == sorted(t.name for t in transitions)
    for arrow in picture.arrows:
        assert arrow.transition.name.endswith(arrow.label)
        low, high = sorted((arrow.transition.source, arrow.transition.target), key=lambda state: state.priority)
        if not (arrow.inner or low is high):
            assert [*arrow.gained] == [owner.name for owner in high.constraints if owner not in low.constraints]
    check(picture)


def test_states_stand_by_number_of_grasps(case: tuple[ConstraintGraph, bool]) -> None:
    graph, waypoints = case
    picture = picture_of(graph, waypoints)
    columns = {state.name: picture.boxes[state.name].centre[0] for state in graph.states}
    for a, b in combinations(graph.states, 2):
        assert np.sign(columns[a.name] - columns[b.name]) == np.sign(a.priority - b.priority)
    if len(columns) == 2:  # waypoints are in the middle between the two
        there = [box.centre[0] for box in picture.boxes.values() if box.state.waypoint]
        assert np.mean(there) == pytest.approx(np.mean([*columns.values()]))


def test_figure_holds_names_priorities_and_a_key(case: tuple[ConstraintGraph, bool]) -> None:
    graph, waypoints = case
    axes = graph.plot(waypoints=waypoints).axes[0]
    said = [text.get_text() for text in axes.findobj(Text)]
    for state in graph.states:
        assert "\n".join(state.name.split(" : ")) in said
        assert f"priority {state.priority}" in said
    if len(graph.transitions) <= 40:
        assert {t.name for t in graph.transitions} <= set(said)
    boxes = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    assert len(boxes) == len(graph.states) + waypoints * len(graph.waypoint_states)
    assert len(arrows) == len(graph.transitions) + waypoints * len(graph.inner_transitions)
    key = [text for text in said if text.startswith("take, release: ")]
    assert sorted(key) == sorted(
        {f"take, release: {f.constraint.name}" for f in graph.foliations if f.constraint and "grasps" in f.name}
    )
    legend: Any = axes.get_legend()
    colours = {line.get_label(): to_rgba(line.get_color()) for line in legend.get_lines()}
    assert len({colours[words] for words in key}) == len(key)
    for arrow, patch in zip(picture_of(graph, waypoints).arrows, arrows, strict=True):
        is_loop, way = arrow.transition.is_loop, arrow.transition
        words = f"take, release: {', '.join(arrow.gained)}"
        assert is_loop or patch.get_edgecolor() == (to_rgba(GREY) if arrow.inner else colours[words])
        assert patch.get_linewidth() == (0.8 if arrow.inner else 1.6)
        style = "--" if way.is_level_set else ":" if arrow.inner and way.short else "-"
        assert patch.get_linestyle() == style
    texts = [(text.get_window_extent(), text) for text in axes.texts]
    places = [box.get_window_extent() for box in boxes]
    for extent, text in texts if waypoints else ():  # inside of a box, or apart from all
        over = [box for box in places if box.overlaps(extent)]
        assert all(
            box.x0 < extent.x0 and extent.x1 < box.x1 and box.y0 < extent.y0 < extent.y1 < box.y1 for box in over
        )
        assert len(over) == (text.get_zorder() == ABOVE), text.get_text()


@pytest.mark.parametrize(
    "more", [{"handles": 2}, {"rules": (Rule(["r./gripper"] * 2, ["", ""], False), Rule([".*"], [".*"]))}],
    ids=["steep links", "several parts"],
)  # fmt: skip
def test_arrows_meet_their_waypoints(more: Any) -> None:
    """On links that climb steeply, where they cross other links too; and where rules refuse the free state."""
    graph = factory(arms=2, boxes=2, **more).generate()
    assert all(state.priority for state in graph.states) == ("rules" in more)
    check(picture_of(graph, True))


@pytest.mark.parametrize(("forth", "back"), [(1, 0), (3, 1), (2, 4), (40, 0), (41, 0)])
def test_a_state_is_as_high_as_its_transitions_need(forth: int, back: int) -> None:
    """Those of each way are beside each other, on their side of the middle; the outermost is `NEXT` from the corner.

    The names of more than forty are not written.
    """
    a, b = State("a"), State("b", priority=1)
    ways = [Transition(f"ab{i}", a, b, a) for i in range(forth)] + [Transition(f"ba{i}", b, a, a) for i in range(back)]
    graph = ConstraintGraph(factory().robot, [a, b], ways)
    picture = picture_of(graph, False)
    check(picture)
    ends = np.array([arrow.points[0][1] for arrow in picture.arrows]) - picture.boxes["a"].centre[1]
    up = [(i + 0.5) * NEXT for i in range(max(forth, back))]
    np.testing.assert_allclose(np.sort(np.abs(ends)), np.sort([*up[:forth], *up[:back]]))
    assert (np.sign(ends) == [1.0] * forth + [-1.0] * back).all()
    assert picture.boxes["a"].size[1] == pytest.approx(max(2.0 * (up[-1] + NEXT), 4.0 * LINE))
    said = {text.get_text(): text.get_position()[1] for text in graph.plot().axes[0].texts}
    assert len(said) == 4 + (forth + back if forth + back <= 40 else 0)
    for arrow in picture.arrows if forth + back <= 40 else ():
        (x0, y), (x1, _) = arrow.points[0], arrow.points[-1]
        assert 0.0 < (said[arrow.label] - y) * np.sign(x1 - x0) < 0.1


def test_graph_made_by_hand_is_drawn() -> None:
    """States of one priority are in their order, transitions pass them; a waypoint that is only a state."""
    robot = factory().robot
    a, b, c, d = (State(name) for name in "abcd")
    lonely, passed = State("lonely", waypoint=True), State("ab_half", waypoint=True)
    steps = [Transition("ab_1", a, passed, a, weight=-1), Transition("ab_2", passed, b, a, weight=-1, short=True)]
    transitions = [
        Transition("ab", a, b, a, inner=steps), Transition("ba", b, a, a), Transition("ac", a, c, a),
        Transition("bc", b, c, b), Transition("cb", c, b, b), Transition("at d", d, d, d), Transition("d too", d, d, d),
    ]  # fmt: skip
    graph = ConstraintGraph(robot, [a, b, c, d, lonely, passed], transitions)
    picture = picture_of(graph, True)
    assert set(picture.boxes) == {"a", "b", "c", "d", "lonely", "ab_half"}
    assert [x for x, _ in sorted(picture.boxes[name].centre for name in "abc")] == [
        picture.boxes[n].centre[0] for n in "abc"
    ]
    check(picture)
    assert isinstance(graph.plot(), Figure)
    with pytest.raises(WrongObjectError, match="waypoints"):
        graph.plot(waypoints="no")  # pyright: ignore[reportArgumentType]
    empty = ConstraintGraph(robot, [], [])
    assert isinstance(empty.plot(), Figure)


def test_names_given_by_hand_are_readable() -> None:
    """Welcome: "take-ball-up" on "take" was written "ball-up", and waypoints covered the names between them."""
    robot = factory().robot
    placed, held = State("placement"), State("grasp", priority=1)
    ready, lifted = (
        State("gripper-above-ball", waypoint=True),
        State("ball-above-ground-and-behind-two-other-balls", waypoint=True),
    )
    long = (
        "take the ball, which lies on the ground, and move it away, so that it is held by the gripper, and by no hand"
    )
    parts = [
        Transition("approach-ball", placed, ready, placed), Transition(f"{long}_", ready, lifted, placed),
        Transition("take-ball-away-up-to-where-it-is-seen", lifted, held, held),
    ]  # fmt: skip
    take = Transition(long, placed, held, placed, inner=parts)
    figure = ConstraintGraph(robot, [placed, held, ready, lifted], [take]).plot()
    axes = figure.axes[0]
    said = {text.get_text(): text for text in axes.findobj(Text)}
    assert {part.name for part in parts} <= set(said)
    assert "inner transition" in said
    figure.canvas.draw()
    boxes = [patch.get_window_extent() for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    for part in (take, *parts):
        assert not any(said[part.name].get_window_extent().overlaps(box) for box in boxes), part.name
    bare = ConstraintGraph(robot, [placed, held, ready, lifted], [take]).plot(waypoints=False).axes[0]
    (name,) = (text.get_window_extent() for text in bare.texts if text.get_text() == long)
    assert not any(patch.get_window_extent().overlaps(name) for patch in bare.patches if patch.get_zorder() == ABOVE)


# Paths


@cache
def carried() -> Motion:
    """The box carried by the gripper, on the leaf of where it is held."""
    graph = recorded_graph()
    rng = np.random.default_rng(3)
    q0 = graph.sample("r0/gripper grasps box0/h0", rng).or_raise().q
    q1 = graph.target("Loop | 0-0", q0, graph.robot.space.integrate(q0, np.r_[np.full(6, 0.3), np.zeros(6)])).q
    problem, rhs = graph.path_problem("Loop | 0-0", q0)
    return interpolate(problem, q0, q1, rhs, options=graph.path_options).or_raise()


@pytest.fixture(scope="module")
def motion() -> Motion:
    return carried()


GRIPPER = factory().grippers[0].frame
SHAPES = (
    Shape("box", "Box", (0.06, 0.06, 0.06), "box0/root_joint"),
    Shape("table", "Box", (0.8, 0.8, 0.02), "table", [0.0, 0.0, -0.01, 0.0, 0.0, 0.0, 1.0]),
)


def test_strip_shows_the_path_at_equal_times(motion: Motion, tmp_path: Path) -> None:
    figure = plot_path(motion, tmp_path / "strip.png", 4, drawing=Drawing(shapes=SHAPES, tips=[GRIPPER]))
    assert (tmp_path / "strip.png").read_bytes().startswith(b"\x89PNG")
    robot: Any = motion.pieces[0].problem.robot
    assert len(figure.axes) == 4
    for axes, time in zip(figure.axes, np.linspace(0.0, motion.duration, 4), strict=True):
        posture = robot.at(motion(float(time)))
        lines = [np.array(line.get_data_3d()) for line in axes.lines]
        tip = posture.placement(GRIPPER).translation
        assert min(np.abs(line[:, -1] - tip).max() for line in lines) < 1e-9
        corner = posture.placement(robot.frame("box0/root_joint")).act(np.array([0.03, -0.03, 0.03]))
        assert min(np.nanmin(np.abs(line - corner[:, None]).max(axis=0)) for line in lines) < 1e-9
        lids = [solid for solid in axes.collections if isinstance(solid, Poly3DCollection)]
        assert len(lids) == 2  # of the box that is moved, and the ground symbol under the robot
        away = np.linalg.norm(lids[0]._faces - posture.placement("box0/root_joint").translation, axis=2)  # type: ignore[attr-defined]
        assert_allclose(away.max(), 0.03 * np.sqrt(3.0))
        (words,) = [text for text in axes.texts if text.get_text() == f"{time:.2f} s"]
        box, (width, height) = words.get_window_extent(), figure.get_size_inches() * figure.dpi
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) > 0.0
    assert len(plot_path(motion).axes) == 6
    limits = {(*axes.get_xlim(), *axes.get_ylim(), *axes.get_zlim()) for axes in figure.axes}
    assert len(limits) == 1


def test_animation_has_its_pictures_and_they_move(motion: Motion, tmp_path: Path) -> None:
    assert animate(motion, tmp_path / "usual.gif", count=2)._interval == 1000.0 / 15.0
    animate(motion, tmp_path / "path.gif", count=3, rate=10.0, drawing=Drawing(shapes=SHAPES, tips=[GRIPPER]))
    with Image.open(tmp_path / "path.gif") as picture:
        assert getattr(picture, "n_frames", 1) == 3
        assert picture.info["duration"] == 100
        first = np.array(picture.convert("RGB"))
        picture.seek(2)
        assert (first != np.array(picture.convert("RGB"))).any(axis=2).sum() > 200


@pytest.mark.parametrize(
    ("kind", "size"), [("Box", (1.0, 2.0, 4.0)), ("Sphere", (1.5,)), ("Cylinder", (0.5, 3.0)), ("Capsule", (0.5, 3.0))]
)
def test_wires_lie_on_the_surface(kind: str, size: tuple[float, ...]) -> None:
    """Every point is on the solid, and they reach as far as it does in every direction: coal says how far."""
    coal = pytest.importorskip("coal")
    shape = Shape("s", kind, size)
    points = np.concatenate(wires(shape))
    assert all(np.allclose(line[0], line[-1]) for line in wires(shape) if len(line) > 2)  # rings are closed
    if kind in ("Cylinder", "Capsule"):  # a level ring at each end
        assert [line[0, 2] for line in wires(shape) if len(line) > 2 and not np.ptp(line[:, 2])] == [-1.5, 1.5]
    if kind == "Cylinder":  # with four posts between the two
        assert [np.ptp(line, axis=0).tolist() for line in wires(shape) if len(line) == 2] == [[0.0, 0.0, 3.0]] * 4
    if kind == "Box":  # four edges along each axis; the lid is the upper third
        assert_allclose(lid(shape).min(axis=(0, 1)), [-0.5, -1.0, 2.0 / 3.0])
        assert_allclose(lid(shape).max(axis=(0, 1)), [0.5, 1.0, 2.0])
        assert_allclose(sorted(lid(shape)[:, :, 2].mean(axis=1)), [4.0 / 3.0] * 4 + [2.0])
        assert len({tuple(sorted(map(tuple, face))) for face in lid(shape).tolist()}) == 5
        ends = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in wires(shape)])
        edges = np.abs(ends[:, 1] - ends[:, 0])
        assert ((edges > 0.0).sum(axis=1) == 1).all()
        np.testing.assert_allclose(edges.sum(axis=0), 4.0 * np.array(size))
        assert len(np.unique(ends.sum(axis=1), axis=0)) == 12
    solid = shape.solid()
    solid.computeLocalAABB()
    np.testing.assert_allclose(points.max(axis=0), solid.aabb_local.max_, atol=1e-9)
    np.testing.assert_allclose(points.min(axis=0), solid.aabb_local.min_, atol=1e-9)
    dot = coal.Sphere(1e-3)
    for point in points[::3]:
        result = coal.DistanceResult()
        pose = coal.Transform3s(np.eye(3), point)
        coal.distance(solid, coal.Transform3s(), dot, pose, coal.DistanceRequest(), result)
        assert abs(result.min_distance + 1e-3) < 1.1e-3


def test_drawing_a_path_refuses_what_it_cannot_use(motion: Motion, tmp_path: Path) -> None:
    """Bad input: no path, no shapes, too few pictures, unknown frames, a folder that is not there."""
    with pytest.raises(WrongObjectError, match="Path"):
        plot_path([1, 2])  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="Shape"):
        plot_path(motion, drawing=Drawing(shapes=["box"]))  # pyright: ignore[reportArgumentType]
    with pytest.raises(OptionError, match="pictures"):
        plot_path(motion, count=1)
    with pytest.raises(UnknownFrameError, match="r0/wrist_3_link"):
        plot_path(motion, drawing=Drawing(tips=["r0/wrist_3_lnk"]))
    with pytest.raises(OptionError, match="rate"):
        animate(motion, tmp_path / "a.gif", rate=0.0)
    with pytest.raises(FileError, match="nowhere"):
        animate(motion, tmp_path / "nowhere" / "path.gif", count=2)
    with pytest.raises(FileError, match="nowhere"):
        plot_path(motion, tmp_path / "nowhere" / "strip.png", 2)
    with pytest.raises(FileError, match="nonsense"):
        animate(motion, tmp_path / "path.nonsense", count=2)
