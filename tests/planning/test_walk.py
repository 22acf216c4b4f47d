"""Walks along given transitions: paths judged by plain pinocchio, arguments that are looked at, pieces by name."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pinocchio as pin
import pytest
from corners import corner, held, posts
from robots import arm

from constraints import locked_joint, manipulation
from constraints.errors import CallError, GraphError, UnknownNameError, WrongObjectError
from constraints.manipulation import ConstraintGraph, State, Transition
from constraints.pictures.browser.films import film_of
from constraints.planning import Connection, Limits, Plan, PlanningStatus, attempt, plan, walk
from constraints.planning.attempt import loop_of
from constraints.planning.connection import LeafSearch

STEPS = ("stay in a", "a to b")


def generator(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def ends(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A configuration in `a`, and one in `b`."""
    rng = generator(seed)
    q, goal = 0.3 * arm().random(rng), 0.3 * arm().random(rng)
    q[0], q[1], goal[0], goal[1] = 0.1, 0.3, 0.4, 0.2
    return q, goal


def judge(path: Any, count: int) -> None:
    """Joint 0 is at 0.1 up to where joint 1 comes to 0.2, and that stays; no ball is met, nothing jumps."""
    model, data, rng = arm().model, arm().model.createData(), generator(1)
    tool = arm().frame("tool")
    places = [rng.uniform([-0.6, -0.6, 0.2], [0.6, 0.6, 1.0]) for _ in range(count)]
    first = np.abs(path.samples[:, 0] - 0.1) <= 1e-4
    second = np.abs(path.samples[:, 1] - 0.2) <= 1e-4
    turn = int(np.flatnonzero(second)[0])
    assert first[: turn + 1].all()
    assert second[turn:].all()
    assert np.abs(np.diff(path.samples, axis=0)).max() <= 0.1 + 1e-9
    for q in path.samples:
        pin.forwardKinematics(model, data, q)
        hand = (data.oMi[tool.joint] * tool.placement).translation
        assert min((np.linalg.norm(hand - place) for place in places), default=1.0) >= 0.2 - 1e-9


@pytest.mark.parametrize(("seed", "count", "short"), [(0, 0, False), (1, 4, False), (2, 9, True), (3, 12, False)])
def test_a_walk_goes_through_its_states_to_its_goal(seed: int, count: int, short: bool) -> None:
    """By way of a waypoint state; a function of its generator; with a goal, to its last bit."""
    graph, model = corner(short), posts(count) if count else None
    (q, goal), states = ends(seed), ("stay in a", "in", "out", "stay in b")
    rng = generator(seed)
    while model is not None and not (model.is_free(q) and model.is_free(goal)):
        q[2:], goal[2:] = 0.4 * arm().random(rng)[2:], 0.4 * arm().random(rng)[2:]
    for wanted in (None, goal):
        found, again = (walk(graph, q, STEPS, rng=generator(), goal=wanted, collisions=model) for _ in range(2))
        path = found.or_raise()
        judge(path, count)
        assert np.array_equal(path.start, q)
        assert wanted is None or np.array_equal(path.end, goal)
        assert path.samples.tobytes() == again.or_raise().samples.tobytes()
        assert found.transitions == STEPS
        assert len(found.on) == len(path.pieces)
        assert list(dict.fromkeys(found.on)) == list(states[: 3 if wanted is None else 4])
        for part, piece in zip(found.on, path.pieces, strict=True):
            for sample in piece.samples:
                assert graph.contains(graph.transition(part).containing, sample)


def test_pieces_are_named_in_a_browser() -> None:
    """Grasp states are named at the slider of a viewer: by the transitions of the walk, or by the states of a graph."""
    graph, (q, _) = corner(), ends(0)
    found = walk(graph, q, STEPS, rng=generator())
    film = film_of(found)
    assert film.label(0) == "stay in a"
    assert film.label(-1) == "out"
    by_state = film_of(found, labels=graph)
    assert by_state.label(0) == "a"
    assert by_state.label(-1) == graph.state_of(found.or_raise().end).name


def test_a_loop_at_the_end_leads_to_the_goal() -> None:
    """Not to a random configuration first: no target is drawn."""
    graph, (q, goal) = corner(), ends(0)
    goal[0] = 0.1
    found = walk(graph, q, ["stay in a"], rng=generator(), goal=goal)
    assert np.array_equal(found.or_raise().end, goal)
    assert (found.targets, list(found.on)) == (0, ["stay in a"])
    assert found.reason == "collisions were not looked at"


def test_what_a_walk_is_given_is_looked_at() -> None:
    graph, (q, goal), anything = corner(), ends(0), cast("Any", walk)
    with pytest.raises(GraphError, match="a walk needs at least one transition"):
        walk(graph, q, [], rng=generator())
    apart = "'b to a' must follow a transition that ends in 'b', but 'stay in a' ends in 'a'"
    with pytest.raises(GraphError, match=apart):
        walk(graph, q, ["stay in a", "b to a"], rng=generator())
    with pytest.raises(GraphError, match="the start of a walk is in the state 'a', expected 'b'"):
        walk(graph, q, ["b to a"], rng=generator())
    with pytest.raises(GraphError, match="the goal of a walk is in the state 'a', expected 'b'"):
        walk(graph, q, ["a to b"], rng=generator(), goal=q)
    with pytest.raises(UnknownNameError, match="a to c"):
        walk(graph, q, ["a to c"], rng=generator())
    for what, given in (("graph", ("graph", q, STEPS)), ("transitions", (graph, q, "a to b"))):
        with pytest.raises(WrongObjectError, match=f"{what} of a walk"):
            anything(*given, rng=generator())
    for name in ("rng", "guess", "collisions", "limits"):
        with pytest.raises(WrongObjectError, match=f"{name} of a walk"):
            anything(graph, q, STEPS, **{"rng": generator()} | {name: 3})
    with pytest.raises(UnknownNameError, match=r"limits=Limits\(seconds=5\.0\)"):
        anything(graph, q, STEPS, rng=generator(), seconds=3.0)
    with pytest.raises(CallError, match="rng=numpy"):
        anything(graph, q, STEPS, generator())
    assert walk(graph, q, STEPS, rng=generator(), goal=goal, limits=Limits(seconds=None)).success


def test_where_walks_have_gone_is_said() -> None:
    for name, where in (
        ("walk", "it is in `constraints.planning`"),
        ("Walk", "it is `Plan` in `constraints.planning`"),
    ):
        with pytest.raises(AttributeError, match=where):
            getattr(manipulation, name)


def test_the_goal_is_met_by_a_plain_loop() -> None:
    """Not by one that chooses another leaf, nor by one that leads through waypoints."""
    a, by = State("a"), State("by", waypoint=True)
    through = Transition("through", a, a, a, inner=[Transition("to", a, by, a), Transition("fro", by, a, a)])
    other, plain = Transition("other", a, a, a, condition=[]), Transition("plain", a, a, a)
    assert loop_of(ConstraintGraph(arm(), [a, by], [other, through, plain]), a) is plain
    assert loop_of(ConstraintGraph(arm(), [a, by], [other, through]), a) is None


def test_the_limits_end_a_walk() -> None:
    graph, (q, _) = corner(), ends(0)
    late = walk(graph, q, STEPS, rng=generator(), limits=Limits(seconds=1e-9))
    assert (late.status, late.targets, late.path, late.on) == (PlanningStatus.TIME, 0, None, ())


def test_a_transition_may_be_taken_twice() -> None:
    graph, (q, goal) = corner(), ends(0)
    for wanted in (goal, None):
        found = walk(graph, q, ["a to b", "b to a", "a to b"], rng=generator(), goal=wanted)
        names = found.on
        changes = [names[0], *(after for before, after in pairwise(names) if after != before)]
        assert changes == ["in", "out", "b to a", "in", "out", *([] if wanted is None else ["stay in b"])]
    path = found.or_raise()
    assert np.array_equal(path.start, q)
    assert abs(path.end[1] - 0.2) <= 1e-4


def test_targets_are_drawn_anew_from_other_places_and_more_of_them_each_time() -> None:
    """Ten from one place; by way of a loop 30 in all, then twice as many, until a random search tells it as well."""
    a, far = State("a"), State("far", [held(1, 3.0)])  # its bound is 2 rad
    loops = Transition("stay", a, a, a), Transition("go", a, far, a)
    graph, q = ConstraintGraph(arm(), [a, far], loops), arm().neutral
    for steps, counts in ((["go"], (10, 20, 30)), (["stay", "go"], (30, 90, 200))):
        for sequences, count in enumerate(counts, start=1):
            found = walk(graph, q, steps, rng=generator(), limits=Limits(sequences=sequences))
            assert (found.status, found.sequences, found.targets) == (PlanningStatus.SEQUENCES, sequences, count)
            assert set(found.refusals) == {("go", "no target found")}
    found = walk(graph, q, ["stay", "go"], rng=generator())
    assert (found.status, found.sequences, found.targets) == (PlanningStatus.NO_SEQUENCE, 3, 200)
    assert found.refusals["go", "no target found"] > 100
    assert found.reason.startswith("the state 'far' was reached from none of 40 random configurations")


def test_a_plan_tells_its_most_common_refusals_first() -> None:
    """Eight of ten; all where details are asked for."""
    refusals = Counter({("in", f"reason {i}"): 3 + i for i in range(10)})
    found = Plan(None, PlanningStatus.TIME, ("a", "b"), 2, 1, refusals, impossible=("no way",), nodes=5, checks=1)
    told = [f"  'in' refused {3 + i} times: reason {i}" for i in range(9, -1, -1)]
    begin = [
        "TIME: The time was over.",
        "  2 sequences tried, 1 target drawn",
        "  the last one: a, b",
        "  impossible: no way",
    ]
    end = ["  5 nodes, 0 projections, 1 check for collisions, 0 s"]
    assert found.describe(details=True).splitlines() == [*begin, *told, *end]
    assert Plan(None, PlanningStatus.TIME).describe().splitlines() == [
        begin[0], "  0 sequences tried, 0 targets drawn", "  0 nodes, 0 projections, 0 checks for collisions, 0 s"
    ]  # fmt: skip
    less = [*told[:8], "  and 2 other reasons (describe(details=True))"]
    assert found.describe().splitlines() == [*begin, *less, *end]


def test_steps_before_one_that_fails_are_kept_and_its_searches_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three motions of a sequence may fail; a step is drawn again from its begin, and searched with twice the nodes."""
    graph, (q, _), asked, failing = corner(), ends(0), list[int](), set[int]()

    def search(leaf: Any, rng: np.random.Generator, nodes: int, clock: Any) -> Any:
        asked.append(nodes)

        def run(starts: Any, goals: Any) -> Connection:
            found = LeafSearch(leaf, rng, nodes, clock).run(starts, goals)
            return replace(found, path=None, status=PlanningStatus.STUCK) if len(asked) in failing else found

        return SimpleNamespace(run=run)

    monkeypatch.setattr(attempt, "LeafSearch", search)
    failing |= {3}  # of the motions "stay in a", "in" and "out" the last
    assert list(dict.fromkeys(walk(graph, q, STEPS, rng=generator()).on)) == ["stay in a", "in", "out"]
    assert asked == [1000, 1000, 1000, 1000, 2000]
    asked.clear()
    failing |= set(range(1, 20))
    found = walk(graph, q, STEPS, rng=generator(), limits=Limits(sequences=2, nodes=10_000))
    assert asked == [1000, 2000, 4000, 8000, 10_000, 10_000]
    assert (found.status, found.refusals) == (PlanningStatus.SEQUENCES, {("stay in a", "STUCK"): 6})


def test_transitions_of_another_graph_are_refused() -> None:
    graph, (q, _) = corner(), ends(0)
    other = Transition("a to b", State("a"), State("b"), State("a"))
    with pytest.raises(UnknownNameError, match="of another one"):
        walk(graph, q, [other], rng=generator())


def test_within_a_state_the_one_motion_has_all_nodes_and_an_end_on_another_leaf_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    still = locked_joint(arm(), arm().joint_names[-1], 0.0, name="still")
    state = State("anywhere", [])
    graph = ConstraintGraph(arm(), [state], [Transition("move", state, state, state, [still])])
    monkeypatch.setattr(attempt, "NODES_AT_FIRST", 1)
    model = posts(12)
    q, goal = model.random_free(generator(22), 2)
    goal[-1] = q[-1]
    found = plan(graph, q, goal, rng=generator(), collisions=model)
    assert found.success
    assert found.nodes > 100
    assert model.first_collision(found.or_raise()) is None
    goal[-1] += 0.5
    found = plan(graph, q, goal, rng=generator())
    assert found.status is PlanningStatus.GOAL_OFF
    assert found.reason.startswith("'still': error 0.5; it lies on another leaf: ")
    assert found.reason.endswith("if it is the complement of a foliation of the graph")
