"""Searches, plans and trajectories in a browser: names of transitions, what collides, trees."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from pictures.test_view import nodes
from robots import needs_robot_data

from constraints import Implicit, Position, Problem, Projector
from constraints.collisions import Collision, CollisionModel, Shape
from constraints.errors import OptionError, WrongObjectError
from constraints.manipulation import read_scene
from constraints.models import sample_arm
from constraints.pictures import Drawing, PageOptions, show
from constraints.pictures.browser.films import film_of
from constraints.planning import Connection, Plan, PlanningStatus, connect, timed
from constraints.planning.trajectories.trajectory import PathEvent

pytest.importorskip("viser", reason='no viser: pip install "lie-constraints[view]"')

ROOT = Path(__file__).resolve().parent.parent.parent
ARM = sample_arm()
POST = Shape("post", "Cylinder", (0.06, 1.4), placement=[0.55, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0])
GLASS = Shape("glass", "Sphere", (0.05,), "tool")
DRAWING = Drawing(shapes=[POST, GLASS])
PAGE = PageOptions(port=0)
RED = (214, 39, 40)


@cache
def searched(y: float = -0.35) -> Connection:
    """From beside a post to its other side, the tool at a height; with y = 0 the start is in the post."""
    level = Implicit.equal(Position(ARM, "tool"), [0.0, 0.0, 0.45], mask=[False, False, True], name="level")
    ends: list[np.ndarray] = []
    for x, y_tool in ((0.5 if y == 0.0 else 0.45, y), (0.45, 0.35)):
        there = Implicit.equal(Position(ARM, "tool"), [x, y_tool, 0.45], name="hand")
        ends.append(Projector(Problem(ARM, [level, there])).project(ARM.reference("home")).or_raise().q)
    model = CollisionModel(ARM, [POST, GLASS])
    return connect(Problem(ARM, [level]), *ends, rng=np.random.default_rng(0), collisions=model)


def places(frame: str, Q: np.ndarray) -> np.ndarray:
    """Where plain pinocchio has a frame at configurations."""
    model: Any = ARM.model
    data, found = model.createData(), list[Any]()
    for q in Q:
        pin.framesForwardKinematics(model, data, q)
        found.append(data.oMf[model.getFrameId(frame)].translation.copy())
    return np.array(found)


def test_a_connection_is_shown_with_the_trees_of_its_search() -> None:
    """Points are where the tool is at each node, or another frame that is wanted."""
    found = searched()
    path, trees = found.or_raise(), found.trees
    assert trees is not None
    assert_allclose(film_of(found).configurations, film_of(path).configurations)
    with show(found, trees=True, drawing=DRAWING, page=PAGE) as view:
        points = {name: node.points for name, node in nodes(view).items() if name.startswith("/trees/")}
        assert [name.split()[0] for name in points] == ["/trees/start", "/trees/goal"]
        start, goal = points.values()
        sizes = [node.point_size for name, node in nodes(view).items() if name.startswith("/trees/")]
        assert all(0.1 * view.stage.thickness < size < view.stage.thickness for size in sizes)
        assert_allclose(start, places("tool", trees.from_start), atol=2e-3)  # sent as float16
        assert_allclose(goal, places("tool", trees.from_goal), atol=2e-3)
        assert view.missing == ()
    with show(found, trees=True, drawing=Drawing(frames=["elbow"]), page=PAGE) as view:
        points = {name: node.points for name, node in nodes(view).items() if name.startswith("/trees/")}
        assert set(points) == {"/trees/start elbow", "/trees/goal elbow"}
        assert_allclose(points["/trees/goal elbow"], places("elbow", trees.from_goal), atol=2e-3)
    with show(found, page=PAGE) as view:
        assert not any(name.startswith("/trees") for name in nodes(view))


def test_trees_of_what_has_none_are_refused() -> None:
    found = searched()
    path = found.or_raise()
    with pytest.raises(OptionError, match="expected a Connection, which keeps those of its search, got a Path"):
        show(path, trees=True)
    straight = connect(found.problem, path.start, path.start, rng=np.random.default_rng(0))
    with pytest.raises(OptionError, match="the search grew none"):
        show(straight, trees=True)
    with pytest.raises(WrongObjectError, match="trees"):
        show(found, trees="yes")  # type: ignore[arg-type]


def test_ends_that_collide_are_red() -> None:
    """What collides is named and red; what of it is not drawn is named."""
    found = searched(0.0)
    assert found.status is PlanningStatus.START_COLLIDES
    assert found.refused is not None
    film = film_of(found)
    assert film.label(0) == "START_COLLIDES: post collides with glass"
    assert_allclose(film.configurations, [found.refused])
    with show(found, drawing=DRAWING, page=PAGE) as view:
        colours = {name.rpartition(" ")[2]: node.color for name, node in nodes(view).items() if "/shape " in name}
        assert colours == {"post": RED, "glass": RED}
        assert view.missing == ()
    with show(searched(), drawing=DRAWING, page=PAGE) as view:
        assert not any(getattr(node, "color", None) == RED for node in nodes(view).values())
    with show(found, drawing=Drawing(shapes=[POST]), page=PAGE) as view:
        assert view.missing == ("'glass', which collides: no shape or link of this name is drawn",)


def test_sticks_of_a_link_that_collides_are_red() -> None:
    """A robot without visual geometry: the stick of the joint that carries the link, and no other."""
    links = {str(frame.name): int(frame.parentJoint) for frame in ARM.model.frames if frame.type == pin.FrameType.BODY}
    link = next((name for name, joint in links.items() if 0 < joint < 4), None)
    if link is None:
        pytest.skip("the sample arm has no links")
    refused = Plan(
        None, PlanningStatus.START_COLLIDES, collisions=(Collision(f"{link}_0", "post"),),
        refused=ARM.reference("home"), robot=ARM,
    )  # fmt: skip
    with show(refused, drawing=DRAWING, page=PAGE) as view:
        bars = {name: node.color for name, node in nodes(view).items() if name.startswith("/sticks/")}
        red = [name for name, colour in bars.items() if colour == RED]
        assert 0 < len(red) < len(bars)
        assert view.missing == ()


@needs_robot_data
def test_links_with_meshes_that_collide_are_red() -> None:
    """A mesh with colours of its own is drawn in red; the others keep theirs."""
    scene = read_scene(ROOT / "examples" / "scenes" / "two_tables.json")
    refused = Plan(
        None, PlanningStatus.START_COLLIDES, collisions=(Collision("ur5/wrist_3_link_0", "left"),),
        refused=scene.start, robot=scene.robot,
    )  # fmt: skip
    with show(refused, drawing=Drawing(shapes=scene.shapes), page=PAGE) as view:
        red = {name for name, node in nodes(view).items() if getattr(node, "color", None) == RED}
        assert {name.rpartition("/")[2].split(" ")[0] for name in red} == {"ur5.wrist_3_link", "shape"}
        assert any(name.endswith(" left") for name in red)
        assert view.missing == ()


def test_a_search_without_a_path_is_shown_at_the_ends_of_its_trees() -> None:
    found = replace(searched(), path=None, status=PlanningStatus.STUCK)
    film = film_of(found, trees=True)
    assert film.labels == ("start: STUCK", "goal: STUCK")
    assert found.trees is not None
    assert_allclose(film.configurations, [found.trees.from_start[0], found.trees.from_goal[0]])
    with pytest.raises(WrongObjectError, match="a refused end or trees"):
        film_of(replace(found, trees=None))


def test_a_plan_is_named_by_its_transitions() -> None:
    """Each configuration has the name of the transition of its piece; a refused end its reason."""
    path = searched().or_raise()
    planned = Plan(path + path.reversed(), PlanningStatus.FOUND, ("go", "come"), on=("go_01", "come_10"))
    film = film_of(planned)
    assert set(film.labels) == {"go_01", "come_10"}
    assert all((label == "go_01") == (t <= 1.0) for label, t in zip(film.labels, film.times, strict=True))
    with show(planned, page=PAGE) as view:
        view.step = len(film) - 1
        assert view.label == "come_10"
    met = (Collision("post", "glass"),)
    refused = Plan(None, PlanningStatus.GOAL_COLLIDES, collisions=met, refused=ARM.reference("home"), robot=ARM)
    assert film_of(refused).met == ("post", "glass")
    assert film_of(refused).label(0) == "GOAL_COLLIDES"
    with pytest.raises(WrongObjectError, match=r"a Connection in `plan\.cases` can be shown"):
        film_of(Plan(None, PlanningStatus.STUCK, cases={("go_01", "STUCK"): searched()}))
    with pytest.raises(WrongObjectError, match="a plan with a path"):
        film_of(Plan(None, PlanningStatus.NO_SEQUENCE))


def test_a_trajectory_is_shown_in_its_time() -> None:
    """Named by the event before; where there is none by nothing."""
    pytest.importorskip("toppra", reason='no toppra: pip install "lie-constraints[trajectory]"')
    motion = timed(searched().or_raise(), 1.0, 2.0)
    film = film_of(motion)
    assert film.timed
    assert film.labels == ()
    assert (film.times[0], film.times[-1]) == (0.0, motion.duration)
    quick = timed(searched().or_raise(), 1e4, 1e8)
    assert quick.duration < 0.01
    assert film_of(quick).times.tolist() == [0.0, quick.duration]
    for t, q in zip(film.times, film.configurations, strict=True):
        assert_allclose(q, motion(float(t)).q)
    half = 0.5 * motion.duration
    named = film_of(replace(motion, events=(PathEvent(half, "release"),)))
    assert all((label == "release") == (t >= half) for label, t in zip(named.labels, named.times, strict=True))
    assert len(film_of(motion, most=5)) == 5
