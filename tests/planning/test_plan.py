"""Plans over a whole graph: two balls that change places, and what cannot be done."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from planning.judge import example, generator
from robots import needs_robot_data

from constraints import ConstraintError, Implicit, Position, Problem
from constraints.collisions import Shape
from constraints.errors import FailedError, GraphError, OptionError, UnknownNameError
from constraints.manipulation import ConstraintGraphFactory, Handle, MovableObject, read_semantics
from constraints.planning import Limits, Plan, PlanningStatus, plan, shorten
from constraints.planning.marks import Sites
from constraints.planning.plan import PlanSearch

pytestmark = needs_robot_data
RADIUS = 0.02  # of a ball [m]


@cache
def swap() -> Any:
    """The scene of `examples/swap.py`."""
    return example("swap").swap()


def nothing_wrong(found: Plan, start: np.ndarray, goal: np.ndarray, floor: float = RADIUS) -> None:
    """What plain pinocchio says: ends, bounds, steps, balls on the floor or carried without slip, and no collision."""
    scene, path = swap(), found.or_raise()
    model = scene.robot.model
    assert np.array_equal(path.start, start)
    assert np.array_equal(path.end, goal)
    samples = path.samples
    assert (samples >= model.lowerPositionLimit - 1e-12).all()
    assert (samples <= model.upperPositionLimit + 1e-12).all()
    for piece in path.pieces:
        for q0, q1 in pairwise(piece.samples):
            d = pin.difference(model, q0, q1)
            assert np.abs(d[:6]).max() <= 0.1 + 1e-9
            assert max(np.linalg.norm(q1[k : k + 3] - q0[k : k + 3]) for k in (6, 13)) <= 0.02 + 1e-9
        data = model.createData()
        for k, name in ((6, "s0"), (13, "s1")):
            moved = np.abs(piece.samples[:, k : k + 3] - piece.samples[0, k : k + 3]).max()
            if moved < 1e-6:
                continue
            held = []
            for q in piece.samples:
                pin.framesForwardKinematics(model, data, q)
                wrist = data.oMi[model.getJointId("ur3/wrist_3_joint")]
                held.append(wrist.actInv(data.oMi[model.getJointId(f"{name}/root_joint")]).translation)
            assert np.ptp(np.array(held), axis=0).max() < 1e-3
    for t in np.linspace(0.0, path.duration, 40 * len(path.pieces)):
        q = path(t)
        assert min(q[8], q[15]) >= floor - 1e-4


def test_two_balls_change_places() -> None:
    """No sequence is given: it is found that one ball has to be put aside."""
    scene = swap()
    start, goal = scene.at(0.2, 0.3), scene.at(0.3, 0.2)
    found = plan(scene.graph, start, goal, rng=generator(1), collisions=scene.collisions)
    nothing_wrong(found, start, goal)
    assert len(found.transitions) == 6
    assert found.impossible
    assert "s0 collides with s1" in found.impossible[0]
    words = found.describe()
    for word in ("FOUND", "sequence", "held: place_s0", "impossible"):
        assert word in words


def test_a_ball_that_is_where_it_shall_be_is_not_touched() -> None:
    scene = swap()
    start, goal = scene.at(0.2, 0.3), scene.at(0.2, 0.35)
    found = plan(scene.graph, start, goal, rng=generator(), collisions=scene.collisions)
    nothing_wrong(found, start, goal)
    assert len(found.transitions) == 2
    assert np.abs(found.or_raise().samples[:, 6:9] - start[6:9]).max() < 1e-9


def test_an_object_without_surfaces_is_let_go_where_the_goal_has_it() -> None:
    """It was refused: a release of what stays where it is chooses no leaf, so the motion before it must."""
    scene, objects = swap(), list[MovableObject]()
    for name in ("s0", "s1"):
        mask = [True, True, True, False, True, True]
        objects.append(
            MovableObject(name, [Handle(f"{name}/handle", scene.robot.frame(f"{name}_top"), 0.05, mask=mask)])
        )
    grippers = list(read_semantics(scene.robot, example("swap").SRDF, "ur3").grippers.values())
    graph = ConstraintGraphFactory(scene.robot, grippers, objects).generate()
    start, goal = scene.at(0.2, 0.3), scene.at(0.2, 0.35)
    goal[15] = 0.1
    found = plan(graph, start, goal, rng=generator(), collisions=scene.collisions)
    nothing_wrong(found, start, goal, floor=-0.1)
    assert found.transitions == ("ur3/gripper > s1/handle | f", "ur3/gripper < s1/handle | 0-1")
    assert found.on[2] == "Loop | 0-1"  # the ball is brought to its goal while it is held
    assert np.abs(found.or_raise().samples[:, 6:9] - start[6:9]).max() < 1e-9


def test_a_plan_is_shortened_by_the_pairs_that_move_on_each_transition() -> None:
    scene = swap()
    start, goal = scene.at(0.2, 0.3), scene.at(0.2, 0.35)
    found = plan(scene.graph, start, goal, rng=generator(), collisions=scene.collisions)
    shorter = shorten(found, graph=scene.graph, collisions=scene.collisions, rng=generator())
    nothing_wrong(shorter, start, goal)
    assert shorter.or_raise().length < found.or_raise().length
    assert shorter.on == found.on
    for name, old, new in zip(found.on, found.or_raise().pieces, shorter.or_raise().pieces, strict=True):
        assert not scene.graph.transition(name).short or new is old
    with pytest.raises(OptionError, match="a plan needs its graph"):
        shorten(found, rng=generator())
    with pytest.raises(OptionError, match="a path has no graph"):
        shorten(found.or_raise(), rng=generator(), graph=scene.graph)  # pyright: ignore[reportCallIssue, reportArgumentType]
    nowhere = plan(scene.graph, start, goal, rng=generator(), limits=Limits(seconds=1e-9))
    with pytest.raises(FailedError):
        shorten(nowhere, rng=generator(), graph=scene.graph)


def test_pieces_of_a_plan_are_proved_or_the_first_that_is_not_is_named() -> None:
    """All are free of collisions; not where a ball at the hand is nearer to another one than distances are known."""
    scene = swap()
    start, goal = scene.at(0.2, 0.3), scene.at(0.2, 0.35)
    found = plan(scene.graph, start, goal, rng=generator(), collisions=scene.collisions, certified=True)
    assert found.status is PlanningStatus.FOUND
    assert found.certificate is not None
    assert found.certificate.check() == []
    assert found.certificate.times[-1] == found.or_raise().duration
    assert shorten(found, graph=scene.graph, rng=generator()).certificate is None
    hand = scene.robot.at(start).placement("ur3/tool0").translation
    post = Shape("post", "Sphere", (0.01,), placement=[*hand[:2], hand[2] + 0.02 + 5e-7, 0.0, 0.0, 0.0, 1.0])
    beside = scene.collisions.added(post).added(Shape("tip", "Sphere", (0.01,), "ur3/tool0"))
    beside = beside.without(("post", "ur3/*"), ("tip", "ur3/*"), ("tip", "s*"), ("post", "s*"))
    refused = plan(scene.graph, start, goal, rng=generator(), collisions=beside, certified=True)
    assert refused.status is PlanningStatus.NOT_PROVED
    assert refused.path is not None
    assert refused.certificate is not None
    assert refused.certificate.stuck is not None
    name = refused.on[refused.certificate.stuck.piece]
    assert refused.reason.startswith(f"'{name}', piece ")
    assert "'tip' may meet 'post'" in refused.reason or "'post' may meet 'tip'" in refused.reason
    with pytest.raises(FailedError):
        refused.or_raise()
    assert plan(scene.graph, start, goal, rng=generator()).certificate is None


def test_a_state_or_a_problem_as_goal() -> None:
    scene = swap()
    start = scene.at(0.2, 0.3)
    held = next(state for state in scene.graph.states if "s1" in state.name)
    found = plan(scene.graph, start, held.name, rng=generator(), collisions=scene.collisions)
    assert scene.graph.state_of(found.or_raise().end) is held
    there = Problem(scene.robot, [Implicit.equal(Position(scene.robot, "s1/body"), [0.3, 0.1, RADIUS], name="there")])
    found = plan(scene.graph, start, there, rng=generator(), collisions=scene.collisions)
    assert np.abs(found.or_raise().end[13:16] - [0.3, 0.1, RADIUS]).max() < 1e-4
    assert np.abs(found.or_raise().end[6:9] - start[6:9]).max() < 1e-3


@pytest.mark.parametrize("in_processes", [False, pytest.param(True, marks=pytest.mark.long)])
def test_seeds_give_the_lowest_that_succeeds_in_threads_and_processes_too(in_processes: bool) -> None:
    scene = swap()
    start, goal = scene.at(0.2, 0.3), scene.at(0.2, 0.35)
    task = {"collisions": scene.collisions, "limits": Limits(seconds=None)}
    alone = plan(scene.graph, start, goal, seeds=[3, 1], **task)
    assert alone.seed == 1
    with ThreadPoolExecutor(2) as pool:
        together = plan(scene.graph, start, goal, seeds=range(1, 4), executor=pool, **task)
    others = [together]
    if in_processes:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
            others.append(plan(scene.graph, start, goal, seeds=[1], executor=processes, **task))
    for other in others:
        assert other.seed == 1
        assert other.or_raise().samples.tobytes() == alone.or_raise().samples.tobytes()
        assert other.transitions == alone.transitions


def test_what_cannot_be_ends_in_time_and_says_why() -> None:
    scene = swap()
    start = scene.at(0.2, 0.3)
    far = scene.at(0.2, 0.44)
    far[13:15] = 0.44, 0.44  # in the corner of the floor, which the arm does not reach
    found = plan(scene.graph, start, far, rng=generator(), collisions=scene.collisions)
    assert found.status is PlanningStatus.NO_SEQUENCE
    assert "no target of 'ur3/gripper > s1/handle | f' was found from the goal" in found.describe()
    below = scene.at(0.2, 0.3)
    below[15] = -0.2
    with pytest.raises(GraphError, match="no state contains the configuration") as refused:
        plan(scene.graph, start, below, rng=generator(), collisions=scene.collisions)
    assert "quaternion" not in str(refused.value)
    below[15:] = RADIUS, 1.0, 0.0, 0.0, 0.0  # w x y z
    with pytest.raises(GraphError, match="of 's1/root_joint' is 1, 0, 0, 0, half a turn about x: is its order x y z w"):
        plan(scene.graph, start, below, rng=generator(), collisions=scene.collisions)
    met = scene.at(0.3, 0.3)
    found = plan(scene.graph, start, met, rng=generator(), collisions=scene.collisions)
    assert found.status is PlanningStatus.GOAL_COLLIDES
    assert "s0 collides with s1" in found.reason
    found = plan(scene.graph, scene.at(0.3, 0.31), start, rng=generator(), collisions=scene.collisions)
    assert found.status is PlanningStatus.START_COLLIDES
    inside = scene.at(0.3, 0.3395)  # so little that thresholds may undo it: pairs that stay together are left out
    found = plan(scene.graph, inside, start, rng=generator(), collisions=scene.collisions, limits=Limits(sequences=2))
    assert found.status is PlanningStatus.SEQUENCES
    assert found.reason == "at the start already, s0 collides with s1"


def test_start_is_goal() -> None:
    scene = swap()
    start = scene.at(0.2, 0.3)
    path = plan(scene.graph, start, start, rng=generator(), collisions=scene.collisions).or_raise()
    assert np.array_equal(path.start, path.end)


def test_bad_input_is_named() -> None:
    scene = swap()
    start = scene.at(0.2, 0.3)
    options: list[Any] = [{}, {"rng": generator(), "seeds": [0]}, {"seeds": []}]
    for wrong in options:
        with pytest.raises(OptionError, match="seeds"):
            plan(scene.graph, start, start, **wrong)
    with pytest.raises(UnknownNameError):
        plan(scene.graph, start, "no such state", rng=generator())
    with pytest.raises(ConstraintError, match="goal"):
        plan(scene.graph, start, start[:-1], rng=generator())


def test_the_leaf_of_an_action_is_that_of_one_end_as_a_whole() -> None:
    """Arm of the goal and the rest of the start, mixed, would not satisfy constraints of the whole graph."""
    scene, rng = swap(), generator()
    start, take = scene.at(0.2, 0.3), scene.graph.transition("ur3/gripper > s0/handle | f")
    targets = (scene.graph.target(take, start, scene.robot.random(rng)) for _ in range(100))
    goal = next(target.q for target in targets if target.success).copy()
    goal[13:15] += 0.1  # the other ball is elsewhere, too
    sites = Sites(scene.graph, start, goal, None)
    onto_goal = [move for move in sites.actions(sites.start) if move.onto and "s0" in move.transition.name]
    assert onto_goal
    for move in onto_goal:
        leaf = sites.leaf_for(move)
        assert leaf is not None
        assert np.array_equal(leaf, goal)


def test_of_several_seeds_a_path_that_is_not_proved_comes_before_none(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = swap()
    start, goal = scene.at(0.2, 0.3), scene.at(0.2, 0.35)
    path = plan(scene.graph, start, goal, rng=generator()).or_raise()
    none = Plan(None, PlanningStatus.TIME)
    some, best = Plan(path, PlanningStatus.NOT_PROVED), Plan(path, PlanningStatus.FOUND)
    for found, kept in (([none, some, none], some), ([none, some, best], best)):
        monkeypatch.setattr(PlanSearch, "seeded", lambda _, seed, found=found: found[seed])
        assert plan(scene.graph, start, goal, seeds=range(3)) is kept
