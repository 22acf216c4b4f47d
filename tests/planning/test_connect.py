"""Connections on one leaf, judged by closed forms, and by plain pinocchio and coal."""

from __future__ import annotations

import pickle
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from planning.judge import faults, generator, same_in_threads_and_processes

from constraints import Bounds, ConstraintError, Function, Implicit, Orientation, Position, Problem, Projector
from constraints.collisions import CollisionModel, Shape
from constraints.errors import FailedError, OptionError, SizeError, SpaceMismatchError, WrongObjectError
from constraints.models import sample_arm
from constraints.paths import interpolate
from constraints.planning import Connection, Limits, PlanningStatus, connect, connection
from constraints.planning.edges import EdgeJudge, Laid
from constraints.planning.leaf import LeafOfProblem
from constraints.planning.limits import Clock
from constraints.planning.trees import SearchTree
from constraints.solvers import Options
from liegroups import SO2, SO3, Rn


def ring(radius: float, bounds: Bounds | None = None) -> Problem:
    """A circle around the origin of the plane."""

    def value(q: np.ndarray) -> np.ndarray:
        return np.array([q @ q - radius * radius])

    return Problem(Rn(2), [Implicit.zero(Function.from_callable(value, Rn(2), Rn(1), name="ring"))], bounds)


ARM = sample_arm()
MODEL: Any = ARM.model
LEVEL = Implicit.equal(Position(ARM, "tool"), [0.0, 0.0, 0.45], mask=[False, False, True], name="level")
POST = Shape("post", "Cylinder", (0.06, 1.4), placement=[0.55, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0])


def arm_scene() -> tuple[Problem, CollisionModel, np.ndarray, np.ndarray]:
    """The sample arm, its tool at a height; its two ends are either side of a post."""
    tip = Shape("tip", "Sphere", (0.05,), "tool")
    problem = Problem(ARM, [LEVEL])
    model = CollisionModel(ARM, [POST, tip])
    found = []
    for y in (-0.35, 0.35):
        at = Implicit.equal(Position(ARM, "tool"), [0.45, y, 0.45], name="hand")
        q = Projector(Problem(ARM, [LEVEL, at]), Options(threshold=1e-9)).project(ARM.references["home"])
        found.append(np.array(q.or_raise().q))
    return problem, model, found[0], found[1]


def tool_of(q: np.ndarray) -> pin.SE3:
    data = MODEL.createData()
    pin.framesForwardKinematics(MODEL, data, q)
    return data.oMf[MODEL.getFrameId("tool")].copy()


def tool_at(q: np.ndarray) -> np.ndarray:
    return tool_of(q).translation


def height_error(q: np.ndarray) -> float:
    return abs(float(tool_at(q)[2]) - 0.45)


def test_the_straight_way_is_taken_where_it_is_free() -> None:
    problem, _, q0, q1 = arm_scene()
    found = connect(problem, q0, q1, rng=generator())
    assert found.status is PlanningStatus.FOUND
    assert found.trees is None
    assert found.effort.rounds == 0
    assert found.or_raise().max_error() <= 5e-5


@pytest.mark.parametrize("seed", range(4))
def test_a_way_round_a_post_is_found_and_nothing_is_wrong_with_it(seed: int) -> None:
    problem, model, q0, q1 = arm_scene()
    found = connect(problem, q0, q1, rng=generator(seed), collisions=model)
    assert found.trees is not None
    path = found.or_raise()
    assert faults(path, ARM.model, model.checker.geometry, height_error, (q0, q1)) == []
    assert {held.name for held in path.held()} == {"level"}


def test_a_way_along_nodes_names_the_edge_that_fails() -> None:
    """The second of three leads through the post; without it each sample but the last is on its edge."""
    problem, model, q0, q1 = arm_scene()
    leaf = LeafOfProblem(Projector(problem, Options.local(threshold=5e-5)), problem.rhs, model)
    nodes = connect(problem, q0, q1, rng=generator(1), collisions=model).or_raise().samples
    a, b = nodes[1], nodes[-2]
    failing = EdgeJudge(leaf).laid(np.array([q0, a, b, q1]))
    assert failing.path is None
    assert set(failing.refused.tolist()) == {1}
    assert not {0, 2} & set(EdgeJudge(leaf).sketched(np.array([q0, a, b, q1])).refused.tolist())
    laid = EdgeJudge(leaf).laid(np.array([q0, a, nodes[2]]))
    assert laid.path is not None
    assert len(laid.edges) == len(laid.path.samples) - 1
    at = int((laid.path.samples == a).all(axis=1).argmax())
    assert laid.edges.tolist() == [0] * at + [1] * (len(laid.edges) - at)


def test_what_is_looked_at_between_samples_is_near_them_and_one_hit_refuses_a_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of several ways at once: equal parts on the leaf, no joint moves by more than 0.02 rad from one to the next."""
    problem, model, q0, q1 = arm_scene()
    leaf = LeafOfProblem(Projector(problem, Options.local(threshold=5e-5)), problem.rhs, model)
    along = interpolate(problem, q0, q1).or_raise()
    Q = np.array([along(t) for t in (0.0, 0.02, 0.022, 0.08, 0.1, 0.1)])
    looked = list[np.ndarray]()

    def free(self: LeafOfProblem, rows: np.ndarray) -> np.ndarray:
        looked.extend(rows)
        return ~(np.abs(rows - middle).max(axis=1) < 0.01)

    monkeypatch.setattr(LeafOfProblem, "free", free)
    middle, judge = 0.5 * (Q[2] + Q[3]), EdgeJudge(leaf)
    assert judge.free_between(Q[:-1], Q[1:]).tolist() == [True, True, False, True, True]
    assert max(height_error(q) for q in looked) <= 1e-4
    for a, b in pairwise(Q):
        ahead = [float((q - a) @ (b - a) / max((b - a) @ (b - a), 1e-12)) for q in looked]
        on = [q for t, q in zip(ahead, looked, strict=True) if 0.0 < t < 1.0]
        parts = np.ceil(np.abs(b - a).max() / 0.02)
        assert len(on) == max(parts - 1, 0)
        assert np.abs(np.diff([a, *on, b], axis=0)).max() <= 0.021
    blind = EdgeJudge(LeafOfProblem(leaf.projector, problem.rhs, None))
    assert blind.free_between(Q[:-1], Q[1:]).all()


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("edge", range(5))
def test_of_an_edge_that_fails_the_far_end_is_cut(edge: int, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all behind it, seen from its root; the edge over the meeting is the goal's. Either tree may be first."""

    def laid(_: EdgeJudge, Q: np.ndarray) -> Laid:
        assert Q[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        return Laid(None, np.array([edge]), np.array([], dtype=np.intp))

    monkeypatch.setattr(EdgeJudge, "laid", laid)
    leaf = LeafOfProblem(Projector(ring(1.0)), ring(1.0).rhs, None)
    search: Any = connection.LeafSearch(leaf, generator(), 99, Clock(None))
    search._trees = trees = SearchTree(leaf, np.zeros((1, 2))), SearchTree(leaf, np.array([[5.0, 0.0]]))
    for tree, steps in zip(trees, ([1.0, 2.0], [4.0, 3.0, 2.0]), strict=True):
        for i, x in enumerate(steps):
            tree.add(np.array([[x, 0.0]]), np.array([i]))
    ends = [(tree, tree.count - 1) for tree in trees]
    search._join(*ends[first], *ends[1 - first])
    start, goal = ([float(q[0]) for q in tree.q[~tree["cut"]]] for tree in trees)
    assert start == [x for x in (0.0, 1.0, 2.0) if x <= edge or edge >= 2]
    assert goal == [x for x in (5.0, 4.0, 3.0, 2.0) if x > edge or edge < 2]
    assert (search._found, leaf.counts.refused) == (None, 1)


def samples_of(pickled: bytes, seed: int) -> bytes:
    problem, model, q0, q1 = pickle.loads(pickled)
    found = connect(problem, q0, q1, rng=generator(seed), collisions=model, limits=Limits(seconds=None))
    return found.or_raise().samples.tobytes()


def test_one_generator_gives_the_same_bits_in_threads_and_processes() -> None:
    same_in_threads_and_processes(samples_of, pickle.dumps(arm_scene()))


def test_the_nearest_of_several_ends_and_what_is_used_is_told() -> None:
    problem, model, q0, q1 = arm_scene()
    far = ARM.random(generator(), 3)
    found = connect(problem, np.vstack([far, q0]), np.vstack([q1, far]), rng=generator(), collisions=model)
    assert found.start is not None
    assert found.goal is not None
    assert np.array_equal(found.start, q0)
    assert np.array_equal(found.goal, q1)


def test_of_several_ends_the_two_nearest_are_joined_by_a_straight_way() -> None:
    flat = Implicit.zero(Function.from_callable(lambda q: q[2:], Rn(3), Rn(1), name="flat"))
    starts, goals = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]], [[9.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [3.0, 1.5, 0.0]]
    found = connect(Problem(Rn(3), [flat]), starts, goals, rng=generator())
    assert found.trees is None
    assert (found.or_raise().start.tolist(), found.or_raise().end.tolist()) == (starts[1], goals[2])


def test_goals_that_solve_problems() -> None:
    problem, model, q0, _ = arm_scene()
    down = Problem(ARM, [Implicit.equal(Position(ARM, "tool"), [0.45, 0.3, 0.45], mask=[True, True, False])])
    far = Problem(ARM, [Implicit.equal(Position(ARM, "tool"), [9.0, 0.0, 0.45])])
    for goal in (down, [far, down]):
        found = connect(problem, q0, goal, rng=generator(), collisions=model)
        assert np.abs(tool_at(found.or_raise().end) - [0.45, 0.3, 0.45]).max() < 2e-4
    none = connect(problem, q0, far, rng=generator(), collisions=model)
    assert none.status is PlanningStatus.NO_GOAL
    assert "projection" in none.reason


def test_while_it_searches_more_goals_become_roots() -> None:
    """Every ten rounds; from a cage around the start none of them is reached, and all solve the goal."""
    problem, model, q0, _ = arm_scene()
    down = Problem(ARM, [Implicit.equal(Position(ARM, "tool"), [0.45, 0.3, 0.45], mask=[True, True, False])])
    caged, limits = walled(model, q0), Limits(seconds=None, nodes=2500)
    found = connect(problem, q0, down, rng=generator(), collisions=caged, limits=limits)
    assert found.status is PlanningStatus.NODES
    assert found.effort.rounds == 10
    assert found.trees is not None
    trees = found.trees
    assert found.effort.nodes == len(trees.from_start) + len(trees.from_goal) >= 2500
    roots = np.flatnonzero(trees.parents_from_goal < 0)
    assert 16 < len(roots) <= 32
    assert roots[-1] - roots[0] >= len(roots)  # some are later than nodes that grew
    assert np.flatnonzero(trees.parents_from_start < 0).tolist() == [0]
    assert max(np.abs(tool_at(q) - [0.45, 0.3, 0.45]).max() for q in trees.from_goal[roots]) < 2e-4
    of_start, of_goal = (trees.from_start, trees.parents_from_start), (trees.from_goal, trees.parents_from_goal)
    for nodes, parents in (of_start, of_goal):
        assert (parents < np.arange(len(nodes))).all()
        grown = np.flatnonzero(parents >= 0)
        assert np.linalg.norm(nodes[grown] - nodes[parents[grown]], axis=1).max() <= 0.2 + 1e-9


def test_a_box_as_goal() -> None:
    problem, model, q0, q1 = arm_scene()
    box = Bounds(ARM.space, q1 - 0.2, q1 + 0.2)
    path = connect(problem, q0, box, rng=generator(), collisions=model).or_raise()
    assert box.contains(path.end)
    assert np.abs(path.end - q1).max() <= 0.2 + 1e-12


def test_a_start_that_is_the_goal_is_an_empty_path() -> None:
    problem, model, q0, _ = arm_scene()
    found = connect(problem, q0, q0, rng=generator(), collisions=model)
    path = found.or_raise()
    assert np.array_equal(path.start, q0)
    assert np.array_equal(path.end, q0)
    assert path.max_jump() == (0.0, 0.0)


def test_ends_that_cannot_be_are_told_apart() -> None:
    problem, model, q0, q1 = arm_scene()
    off = q0 + 0.05
    inside = (
        Projector(Problem(ARM, [Implicit.equal(Position(ARM, "tool"), [0.55, 0.0, 0.45])])).project(q0).or_raise().q
    )
    cases: list[tuple[np.ndarray, np.ndarray, PlanningStatus, str]] = [
        (off, q1, PlanningStatus.START_OFF, "level"),
        (q0, off, PlanningStatus.GOAL_OFF, "level"),
        (inside, q1, PlanningStatus.START_COLLIDES, "post"),
        (q0, inside, PlanningStatus.GOAL_COLLIDES, "post"),
    ]
    for start, goal, status, word in cases:
        found = connect(Projector(problem, Options.local()), start, goal, rng=generator(), collisions=model)
        assert found.status is status
        assert word in found.reason
        assert found.path is None
        with pytest.raises(ConstraintError, match=word):
            found.or_raise()


def test_different_branches_are_told() -> None:
    """A point of the tool and its axis are fixed: the elbow is up or down, and no motion leads from one to the other.

    The leaf has one dimension.
    """
    home = ARM.references["home"]
    there = tool_of(home)
    axis = Implicit.zero(Orientation(ARM, "tool", reference=ARM.frame("universe", there)), mask=[True, True, False])
    problem = Problem(ARM, [Implicit.equal(Position(ARM, "tool"), there.translation), axis])
    projector = Projector(problem, Options(threshold=1e-9))
    rng, others = generator(), []
    while len(others) < 1:
        q = projector.project(ARM.random(rng))
        if q.success and abs(q.q[2] - home[2]) > 1.0:
            others.append(np.array(q.q))
    found = connect(problem, projector.project(home).or_raise().q, others[0], rng=rng)
    assert found.status is PlanningStatus.BRANCHES
    assert found.path is None


def test_bounds_that_close_the_way_are_no_success() -> None:
    box = Bounds(Rn(2), np.array([-2.0, -0.5]), np.array([2.0, 0.5]))
    found = connect(ring(1.0, bounds=box), [1.0, 0.0], [-1.0, 0.0], rng=generator())
    assert found.status is PlanningStatus.BRANCHES
    assert found.path is None
    said = re.fullmatch(
        r"the tree from the (?:start|goal) has (\d+) nodes?; (\d+) of 64 steps further .*", found.reason
    )
    assert said is not None
    assert 1 <= int(said[1]) <= found.effort.nodes
    assert int(said[2]) < 32  # most are put back onto the arc within the bounds


def walled(model: CollisionModel, q: np.ndarray) -> CollisionModel:
    """The same scene with four walls around the tool at a configuration."""
    x, y, z = tool_at(q)
    wide, thin, beside = 0.14, 0.01, 0.06
    walls = [
        Shape(
            f"wall{i}", "Box", (thin, wide, 0.3) if dx else (wide, thin, 0.3), placement=[x + dx, y + dy, z, 0, 0, 0, 1]
        )
        for i, (dx, dy) in enumerate([(-beside, 0.0), (beside, 0.0), (0.0, -beside), (0.0, beside)])
    ]
    return CollisionModel(ARM, [*walls, POST, Shape("tip", "Sphere", (0.05,), "tool")])


def test_a_closed_cage_is_told_with_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    _, model, q0, q1 = arm_scene()
    there = pin.SE3(tool_of(q0).rotation, np.zeros(3))
    level = [LEVEL, Implicit.zero(Orientation(ARM, "tool", reference=ARM.frame("universe", there)))]
    at = Implicit.equal(Position(ARM, "tool"), [0.45, 0.2, 0.45], mask=[True, True, False])
    q1 = Projector(Problem(ARM, [*level, at]), Options(threshold=1e-9)).project(q1).or_raise().q
    model = walled(model, q0)
    found = connect(Problem(ARM, level), q0, q1, rng=generator(), collisions=model)
    assert not found.success
    assert found.status is PlanningStatus.STUCK
    assert found.meets_without_collisions
    said = re.fullmatch(r"the tree from the start has \d+ nodes?; of (\d+) steps further collide: (.*)", found.reason)
    assert said is not None
    counts = [int(words.rpartition(" in ")[2]) for words in said[2].split(", ")]
    assert 1 <= len(counts) <= 3
    assert sorted(counts, reverse=True) == counts
    assert 1 <= counts[0] <= int(said[1]) <= 64
    assert "wall" in found.reason
    assert "where nothing collides, the trees meet" in found.describe()
    monkeypatch.setattr(connection, "NODES_OF_TRIAL", 2)  # no room but for the ends
    again = connect(Problem(ARM, level), q0, q1, rng=generator(), collisions=model)
    assert (again.status, again.meets_without_collisions) == (PlanningStatus.BRANCHES, False)


@pytest.mark.parametrize("seed", range(3))
def test_rotations_are_connected_across_the_sign_of_a_quaternion(seed: int) -> None:
    """A free rotation whose x axis stays horizontal, with an angle beside it: q and -q are one."""
    space = SO3 * SO2
    level = Function.from_callable(lambda q: np.array([2.0 * (q[0] * q[2] - q[3] * q[1])]), space, Rn(1), name="level")
    problem = Problem(space, [Implicit.zero(level)])
    rng = generator(seed)
    ends = []
    while len(ends) < 2:
        draw = space.random(rng, np.full(6, -1.0), np.ones(6), 1)[0]
        q = Projector(problem, Options(threshold=1e-9)).project(draw)
        if q.success:
            ends.append(np.array(q.q))
    q0, q1 = ends
    q1[:4] = -q1[:4]
    path = connect(problem, q0, q1, rng=rng).or_raise()
    assert np.array_equal(path.start, q0)
    assert np.array_equal(path.end, q1)
    assert max(abs(2.0 * (q[0] * q[2] - q[3] * q[1])) for q in path.samples) <= 1e-4


def test_limits_end_a_search() -> None:
    problem, model, q0, q1 = arm_scene()
    straight = connect(problem, q0, q1, rng=generator(), limits=Limits(seconds=None, nodes=1))
    assert straight.success  # it needs no tree
    few = connect(problem, q0, q1, rng=generator(5), collisions=walled(model, q1), limits=Limits(nodes=50))
    assert few.status is PlanningStatus.NODES
    short = connect(problem, q0, q1, rng=generator(), collisions=model, limits=Limits(seconds=1e-9))
    assert short.status in (PlanningStatus.TIME, PlanningStatus.FOUND)
    for bad in ({"seconds": 0.0}, {"seconds": -1.0}, {"nodes": 0}, {"sequences": 0}, {"seconds": float("nan")}):
        with pytest.raises(OptionError, match=next(iter(bad))):
            Limits(**bad)  # pyright: ignore[reportArgumentType]


def test_a_joint_that_keeps_the_trees_apart_is_named() -> None:
    """So low the arm reaches only leaning forward or back: where limits end the search, the reason says so."""
    low = Implicit.equal(Position(ARM, "tool"), [0.0, 0.0, 0.05], mask=[False, False, True], name="low")
    pitch = ARM.joint_names.index("shoulder_pitch")

    def solved(least: float, most: float) -> list[np.ndarray]:
        bounds = ARM.with_bounds({"shoulder_pitch": (least, most)}).bounds
        projector, starts = Projector(Problem(ARM, [low], bounds=bounds)), ARM.random(generator(), 20)
        return [found.q for found in map(projector.project, starts) if found.success]

    (back, *_), upright, (forward, *_) = solved(-2.0, -1.2), solved(-0.5, 0.5), solved(1.2, 2.0)
    assert not upright
    found = connect(Problem(ARM, [low]), back, forward, rng=generator(), limits=Limits(seconds=None, nodes=8000))
    assert found.status is PlanningStatus.NODES
    assert "the trees stay apart: of most nodes 'shoulder_pitch' is -2 to -" in found.reason
    assert found.trees is not None
    assert found.trees.from_start[:, pitch].max() < 0.0 < found.trees.from_goal[:, pitch].min()


def test_what_was_not_asked_is_said() -> None:
    problem, model, q0, q1 = arm_scene()
    assert connect(problem, q0, q1, rng=generator(), collisions=model).reason == ""
    blind = connect(problem, q0, q1, rng=generator())
    empty = connect(problem, q0, q1, rng=generator(), collisions=model.among([]))
    assert blind.success
    assert "collisions were not looked at" in str(blind)
    assert "the collision model has no pairs" in str(empty)


def test_bad_input_is_named() -> None:
    problem, model, q0, q1 = arm_scene()
    with pytest.raises(TypeError, match="rng"):
        connect(problem, q0, q1)  # pyright: ignore[reportCallIssue]
    with pytest.raises(WrongObjectError, match="rng"):
        connect(problem, q0, q1, rng=0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SizeError):
        connect(problem, q0[:-1], q1, rng=generator())
    with pytest.raises(SizeError, match="start"):
        connect(problem, np.empty((0, ARM.nq)), q1, rng=generator())
    with pytest.raises(ConstraintError, match="goal"):
        connect(problem, q0, np.full(ARM.nq, np.nan), rng=generator())
    with pytest.raises(SpaceMismatchError, match="collision model"):
        connect(ring(1.0), [1.0, 0.0], [0.0, 1.0], rng=generator(), collisions=model)


def test_the_result_says_what_it_took() -> None:
    problem, model, q0, q1 = arm_scene()
    found = connect(problem, q0, q1, rng=generator(), collisions=model)
    assert isinstance(found, Connection)
    words = found.describe()
    for word in ("FOUND", "held: level", "node", "projection", "round"):
        assert word in words


@pytest.mark.parametrize("seed", range(2))
def test_a_thin_plate_is_not_gone_through_by_a_thin_tip(seed: int) -> None:
    """The straight way leads through a plate of 1 mm; looked at each 0.02 rad a tip of 1 mm is on either side of it."""
    problem, _, q0, q1 = arm_scene()
    plate = Shape("plate", "Box", (0.14, 0.001, 0.1), placement=[0.57, 0.0, 0.45, 0.0, 0.0, 0.0, 1.0])
    model = CollisionModel(ARM, [plate, Shape("tip", "Sphere", (5e-4,), "tool")])
    straight = connect(problem, q0, q1, rng=generator()).or_raise()
    found = connect(problem, q0, q1, rng=generator(seed), collisions=model)
    assert found.trees is not None
    seen = []
    for path in (straight, found.or_raise()):
        at = np.array([tool_at(path(t)) for t in np.linspace(0.0, path.duration, 4001)])
        seen.append(((np.abs(at[:, 1]) < 1e-3) & (np.abs(at[:, 0] - 0.57) < 0.0705)).any())
    assert seen == [True, False]


def test_an_edge_that_is_not_reached_between_its_samples_is_taken_back() -> None:
    """Beside a post the way is looked at more closely than it was laid; a hole of 1e-5 rad is only found there."""
    hole = 0.078125  # a quarter between two samples of the straight way [rad]

    def value(q: np.ndarray) -> np.ndarray:
        return np.array([1.0 if abs(q[0] - hole) < 5e-6 else q[1] - 0.3])

    problem = Problem(ARM, [Implicit.zero(Function.from_callable(value, ARM.space, Rn(1), name="ridge"))])
    q0, q1, beside = (np.array(ARM.references["home"]) for _ in range(3))
    for q, turn in ((q0, -0.5), (q1, 0.5), (beside, hole)):
        q[:2] = turn, 0.3
    x, y, z = tool_at(beside)
    away = 1.0 + 0.102 / float(np.hypot(x, y))
    post = Shape("post", "Sphere", (0.05,), placement=[away * x, away * y, z, 0.0, 0.0, 0.0, 1.0])
    model = CollisionModel(ARM, [post, Shape("tip", "Sphere", (0.05,), "tool")])
    straight = interpolate(problem, q0, q1)
    assert straight.path is not None
    with pytest.raises(FailedError, match="not reached"):
        model.first_collision(straight.path)
    found = connect(problem, q0, q1, rng=generator(), collisions=model, limits=Limits(nodes=2000))
    assert found.trees is not None
    if found.path is not None:
        assert model.first_collision(found.path) is None
