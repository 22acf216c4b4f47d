"""The constraint graph: targets, states, leaves, paths, bodies, reports. Truth from plain pinocchio."""

from __future__ import annotations

import functools
import pickle
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from robots import needs_robot_data
from scenes import factory, record, recorded_graph

from constraints import Implicit, Options, Pose, Position, Projector
from constraints.errors import (
    FailedError,
    GraphError,
    NoAttributeError,
    NotFiniteError,
    NotNormalizedError,
    OptionError,
    SizeError,
    UnknownJointError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.manipulation import ConstraintGraph, SecurityMargins, State, Tie, Transition
from constraints.planning import Limits, PlanningStatus, walk
from constraints.solvers import CompiledEngine, NewtonEngine

pytestmark = needs_robot_data

FREE, HELD = "free", "r0/gripper grasps box0/h0"
TAKE, RELEASE = "r0/gripper > box0/h0 | f", "r0/gripper < box0/h0 | 0-0"
THRESHOLD = 1e-4


@functools.cache
def starts(state: str) -> np.ndarray:
    """The 50 recorded configurations of a state, quaternions to full precision."""
    return normalized(record()["targets"]["configurations"]["sources"][state])


@functools.cache
def guesses() -> np.ndarray:
    return normalized(record()["targets"]["configurations"]["guess"])


def normalized(rows: list[list[float]]) -> np.ndarray:
    q = np.array(rows)
    q[:, 9:] /= np.linalg.norm(q[:, 9:], axis=1, keepdims=True)
    return q


def scene_at(q: np.ndarray) -> tuple[pin.SE3, pin.SE3]:
    """The handle seen from the gripper, and the box seen from the table: by pinocchio and the record alone."""
    model: Any = recorded_graph().robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    frames, system = record()["targets"]["frames"], record()["system"]
    poses = [
        data.oMi[model.getJointId(frames[name]["joint"])] * pin.XYZQUATToSE3(np.array(frames[name]["pose"]))
        for name in ("gripper", "handle")
    ]
    box = data.oMi[model.getJointId("box0/root_joint")]
    return poses[0].actInv(poses[1]), pin.XYZQUATToSE3(np.array(system["table"]["pose"])).actInv(box)


def off(state: str, q: np.ndarray) -> float:
    """How far a configuration is from a state, as the largest norm of what the state asks for."""
    grasp, box = scene_at(q)
    worst = 0.0
    held = state in (HELD, f"{TAKE}_intersec", f"{TAKE}_preplace")
    if held or state.endswith("_pregrasp"):
        rows = np.r_[grasp.translation - (0.0 if held else [0.06, 0.0, 0.0]), pin.log3(grasp.rotation)]
        worst = max(worst, float(np.linalg.norm(rows)))
    if state != HELD:
        height = 0.03 + 1e-4 + (0.05 if state.endswith("_preplace") else 0.0)
        tilt = np.arccos(min(1.0, box.rotation[2, 2]))
        bottom = box.act(np.array([0.0, 0.0, -0.03]))
        beyond = np.maximum(np.abs(bottom[:2]) - 0.4, 0.0)
        worst = max(worst, float(np.linalg.norm([bottom[2] - height + 0.03, *beyond, tilt])))
    return worst


TRANSITIONS = [t.name for t in (*recorded_graph().transitions, *recorded_graph().inner_transitions)]


@pytest.mark.parametrize("name", a_few(TRANSITIONS, 4))
def test_targets_are_in_the_target_state_and_on_the_leaf(name):
    """Property 23: for each transition, from the 50 recorded starts, targets are in the target state and on the leaf of
    the start, within bounds, 40 iterations a projection. Of take and release at least 90 % are found (HPP: 11 and 24 of
    50); of the others at least as many as HPP finds."""
    graph = recorded_graph(max_iterations=40)
    transition = graph.transition(name)
    found = 0
    for q_start, guess in zip(starts(transition.source.name), guesses(), strict=True):
        target = graph.target(transition, q_start, guess)
        assert all(projection.iterations <= 40 for projection in target.projections)
        if not target.success:
            assert target.failed_at in (transition.inner or (transition,))
            continue
        found += 1
        assert graph.robot.bounds.contains(target.q)
        assert off(transition.target.name, target.q) <= THRESHOLD + 1e-8
        previous = q_start
        for part, q in zip(transition.inner or (transition,), target.waypoints, strict=True):
            assert off(part.target.name, q) <= THRESHOLD + 1e-8
            if part.containing.name == FREE:  # the leaf is where the box stands
                before, after = scene_at(previous)[1], scene_at(q)[1]
                assert np.linalg.norm(pin.log6(before.actInv(after)).vector) <= THRESHOLD
                assert graph.same_leaf(previous, q, part)
            problem, rhs = graph.path_problem(part, previous)
            assert problem.residual(q, rhs) <= 0.5 * THRESHOLD + 1e-12
            previous = q
    recorded = record()["targets"]["transitions"][name]["succeeded"]
    assert found >= (45 if transition.inner else recorded)


def test_states_of_recorded_configurations():
    """The recorded configurations are in the state they were projected to, and pass waypoints unseen."""
    graph = recorded_graph()
    for state, seen in ((FREE, FREE), (HELD, HELD), (f"{TAKE}_pregrasp", FREE), (f"{TAKE}_intersec", HELD)):
        for q in starts(state)[:10]:
            assert graph.state_of(q).name == seen
            assert graph.contains(state, q)


def test_each_shared_constraint_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Property 23: the state of a configuration costs one evaluation of each constraint, whatever states share it."""
    graph = factory(2, 2, 2, engine="readable").generate()
    counts: dict[int, int] = {}
    owners = {id(owner): owner for state in graph.states for owner in state.constraints}
    functions = {id(o.function if isinstance(o, Implicit) else o.twin.function) for o in owners.values()}  # type: ignore[attr-defined]
    kinds = {type(o.function if isinstance(o, Implicit) else o.twin.function) for o in owners.values()}  # type: ignore[attr-defined]
    originals = {kind: kind.evaluate for kind in kinds}

    def counted(kind):
        def evaluate(self, point, value, jacobian=None):
            counts[id(self)] = counts.get(id(self), 0) + 1
            originals[kind](self, point, value, jacobian)

        return evaluate

    q = graph.sample(FREE, np.random.default_rng(0)).or_raise().q
    with monkeypatch.context() as patch:  # what a class has inherited is taken away again, not left on it
        for kind in kinds:
            patch.setattr(kind, "evaluate", counted(kind))
        assert graph.state_of(q).name == FREE
    assert len(owners) > 8
    assert {key: counts.get(key) for key in functions} == dict.fromkeys(functions, 1)


def test_no_state_contains_it():
    q = starts(FREE)[0].copy()
    q[8] += 0.2
    with pytest.raises(GraphError, match=r"nearest is 'free': 'place_box0' is off by 0.2"):
        recorded_graph().state_of(q)
    with pytest.raises(GraphError, match=r"start of '.*f' is not in the state 'free': 'place_box0' is off by 0.2"):
        recorded_graph().target(TAKE, q, q)


def test_a_free_right_hand_side_is_refused_in_a_state():
    """Bad input: the row of a state's constraint whose right-hand side may vary is named."""
    robot = recorded_graph().robot
    hand = Implicit.equal(Position(robot, "r0/tool0"), [0.3, 0.2, 0.4], name="hand")
    with pytest.raises(GraphError, match="state 'reaching': row 0 of 'hand' is EQUALITY"):
        State("reaching", [hand])


def test_leaves_are_compared_on_the_group():
    """q and -q of the box are one leaf; another place, or another turn, is another one; the tolerance counts."""
    graph, q = recorded_graph(), starts(FREE)[3]
    other = q.copy()
    other[9:] *= -1.0
    assert graph.same_leaf(q, other)
    assert graph.leaf_of(q).same_as(graph.leaf_of(other), 1e-12)
    other[:6] += 0.1
    assert graph.same_leaf(q, other)
    moved = q.copy()
    moved[6] += 1e-3
    assert not graph.same_leaf(q, moved)
    assert graph.same_leaf(q, moved, tolerance=2e-3)
    assert not graph.same_leaf(q, starts(HELD)[0])
    assert graph.same_leaf(starts(HELD)[0], starts(HELD)[1])  # a full grasp has one leaf
    assert "place_box0" in str(graph.leaf_of(q))
    assert "box0/bottom on table/top" in str(graph.leaf_of(q))
    assert str(graph.leaf_of(starts(HELD)[0])) == "the only leaf"


def test_leaves_of_locked_objects_and_of_rotations_left_free():
    """Objects without surfaces: the leaf is the pose, q and -q being one. A handle of five rows: it is an angle."""
    graph = factory(surfaces=False).generate()
    q = graph.robot.random(np.random.default_rng(1))
    other = q.copy()
    other[9:] *= -1.0
    assert graph.state_of(q).name == FREE
    assert graph.same_leaf(q, other)
    other[6] += 0.01
    assert not graph.same_leaf(q, other)
    five = factory(mask="111011").generate()
    held = five.sample(HELD, np.random.default_rng(2)).or_raise().q
    handle = five.robot.frame("box0/root_joint").placement  # the joint itself: the handle turns it about x
    turned = held.copy()
    grasp = five.foliations[-1]
    pose = pin.XYZQUATToSE3(held[6:]) * handle
    oMh = pose * pin.XYZQUATToSE3(np.array(record()["targets"]["frames"]["handle"]["pose"]))
    turn = oMh * pin.SE3(pin.utils.rotate("x", 0.3), np.zeros(3)) * oMh.inverse()
    turned[6:] = pin.SE3ToXYZQUAT(turn * pose)
    assert five.state_of(turned).name == HELD
    assert not five.same_leaf(held, turned)
    assert five.leaf_of(turned).foliations == (grasp,)


def test_path_problems():
    """What paths satisfy: the hold of the placement on the leaf of the start; half the threshold."""
    graph, q = recorded_graph(), starts(FREE)[0]
    problem, rhs = graph.path_problem(f"{TAKE}_01", q)
    assert [owner.name for owner in problem.explicits] == ["place_box0/hold"]
    assert graph.path_options == Options.local(threshold=0.5e-4)
    moved = guesses()[0]
    result = Projector(problem, graph.path_options).project(moved, rhs).or_raise()
    np.testing.assert_array_equal(result.q[:6], moved[:6])
    assert graph.same_leaf(q, result.q, tolerance=1e-9)
    with pytest.raises(GraphError, match=r"leads through waypoints.*f_01"):
        graph.path_problem(TAKE, q)


def test_targets_in_batch_are_those_one_by_one():
    """Bit for bit, whatever the workers, those included that need a second guess or are not found."""
    graph, count = recorded_graph(), 16
    ones = [graph.target(TAKE, a, b) for a, b in zip(starts(FREE)[:count], guesses()[:count], strict=True)]
    assert max(one.attempts for one in ones) > 1
    with ThreadPoolExecutor(2) as pool:
        for executor in (None, pool):
            batch = graph.targets(TAKE, starts(FREE)[:count], guesses()[:count], executor)
            assert [target.attempts for target in batch] == [one.attempts for one in ones]
            for target, one in zip(batch, ones, strict=True):
                assert [w.tobytes() for w in target.waypoints] == [w.tobytes() for w in one.waypoints]
                assert target.success == one.success
    with pytest.raises(GraphError, match="got 5 starts and 4 guesses"):
        graph.targets(TAKE, starts(FREE)[:5], guesses()[:4])
    with pytest.raises(WrongObjectError, match="Q_start"):
        graph.targets(TAKE, starts(FREE)[0], guesses()[:1])


def test_a_target_keeps_the_start_that_it_was_given():
    """What a caller does with its arrays afterwards changes no result, found in one call or in several."""
    for engine in ("compiled", "readable"):
        graph = factory(engine=engine).generate()
        transition = next(t for t in graph.transitions if not t.is_loop and not t.parameters)
        given = graph.sample(transition.source, np.random.default_rng(4)).q.copy()
        start, guess = given.copy(), graph.robot.random(np.random.default_rng(5)).copy()
        found = (graph.target(transition, start, guess), *graph.targets(transition, start[None], guess[None]))
        start[:], guess[:] = 9.0, 7.0
        for target in found:
            np.testing.assert_array_equal(target.q_start, given)
            assert not target.q_start.flags.writeable


def test_samples_are_those_one_by_one():
    graph = recorded_graph()
    batch = graph.samples(f"{TAKE}_pregrasp", np.random.default_rng(3), 5)
    drawn = graph.robot.random(np.random.default_rng(3), 5)
    projector = Projector(graph.problem_of(f"{TAKE}_pregrasp"), graph.options)
    for row, q in zip(batch, drawn, strict=True):
        assert row.q.tobytes() == projector.project(q).q.tobytes()


def test_a_target_out_of_reach_says_where_it_failed():
    graph = recorded_graph()
    q = starts(FREE)[0].copy()
    q[6:9] = [0.88, 0.38, 0.0801]
    assert graph.state_of(q).name == FREE
    target = graph.target(TAKE, q, guesses()[0])
    assert not target.success
    assert str(target.failed_at) == f"{TAKE}_01"
    with pytest.raises(FailedError, match="f_01"):
        target.or_raise()
    with pytest.raises(GraphError, match="chooses no leaf"):
        graph.target(TAKE, starts(FREE)[0], guesses()[0], leaf=q)


def test_graph_wide_constraints_hold_everywhere():
    """A constraint of the graph is one of every state and target."""
    made = recorded_graph()
    upright = Implicit.above(Position(made.robot, "r0/forearm_link"), [-2.0, -2.0, 0.2], name="elbow up")
    graph = ConstraintGraph(
        made.robot, [*made.states, *made.waypoint_states], made.transitions, made.foliations, constraints=[upright]
    )
    rng = np.random.default_rng(0)
    q = graph.sample(FREE, rng).or_raise().q
    assert upright.function.value(q)[2] >= 0.2 - THRESHOLD
    target = graph.target(TAKE, q, graph.robot.random(rng))
    assert all(upright.function.value(w)[2] >= 0.2 - THRESHOLD for w in target.waypoints)


def test_path_constraints_of_a_state_are_asked_of_paths_alone():
    """Configurations of the state need not satisfy them, the paths that it contains must."""
    made = recorded_graph()
    high = Implicit.above(Position(made.robot, "r0/forearm_link"), [-2.0, -2.0, 0.3], name="elbow high")
    place = next(f for f in made.foliations if f.name == "place_box0")
    assert place.constraint is not None
    assert place.complement is not None
    free = State(FREE, [place.constraint], path_constraints=[high])
    graph = ConstraintGraph(made.robot, [free], [Transition("Loop", free, free, free, [place.complement])], [place])
    low = next(q for q in starts(FREE) if high.function.value(q)[2] < 0.2)
    assert graph.state_of(low) is free
    problem, rhs = graph.path_problem("Loop", low)
    assert [owner.name for owner in problem.constraints] == ["elbow high", "place_box0/hold"]
    assert problem.is_satisfied(low, "place_box0/hold", rhs)
    assert not problem.is_satisfied(low, "elbow high", rhs)


def test_choosing_and_finding_transitions():
    graph = factory(1, 2, 1).generate()
    rng = np.random.default_rng(0)
    drawn = [graph.choose(FREE, rng).name for _ in range(300)]
    assert set(drawn) == {"r0/gripper > box0/h0 | f", "r0/gripper > box1/h0 | f"}
    route = graph.shortest_path("r0/gripper grasps box0/h0", "r0/gripper grasps box1/h0")
    assert [t.name for t in route] == ["r0/gripper < box0/h0 | 0-0", "r0/gripper > box1/h0 | f"]
    assert [t.name for t in graph.transitions_from(FREE, FREE)] == ["Loop | f"]
    lonely = ConstraintGraph(graph.robot, [State("a"), State("b")], [])
    with pytest.raises(GraphError, match="no transitions lead from 'a' to 'b'"):
        lonely.shortest_path("a", "b")
    with pytest.raises(GraphError, match="leaves the state 'a'"):
        lonely.choose("a", rng)


def test_names_and_arguments_are_checked():
    graph, q = recorded_graph(), starts(FREE)[0]
    with pytest.raises(UnknownNameError, match=r"state.*'fre'.*free"):
        graph.sample("fre", np.random.default_rng(0))
    with pytest.raises(UnknownNameError, match=r"transition.*Loop \| f"):
        graph.target("Loop | g", q, q)
    with pytest.raises(UnknownNameError, match="state of this graph"):
        graph.contains(State(FREE), q)
    with pytest.raises(WrongObjectError, match="State"):
        graph.state(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SizeError, match="q_start"):
        graph.target(TAKE, q[:-1], q)
    with pytest.raises(NotNormalizedError, match="q "):
        graph.state_of(2.0 * q)
    with pytest.raises(OptionError, match="attempts"):
        ConstraintGraph(graph.robot, [State("a")], [], attempts=0)
    a = State("a")
    with pytest.raises(GraphError, match="condition"):
        Transition("go", a, a, a, parameters=[Implicit.equal(Pose(graph.robot, "r0/tool0"), q[6:])])


def test_relative_motions_and_margins():
    """Which bodies are held together, or placed, by state and transition; pairs to look at, with their margins."""
    margins = SecurityMargins(0.01, {("box0/root_joint", "universe"): 0.0})
    made = factory(boxes=2, margins=margins)
    graph = made.generate()
    hand, box, other = "r0/wrist_3_joint", "box0/root_joint", "box1/root_joint"
    held = graph.relative_motion("Loop | 0-0")
    assert held.between(hand, box) is Tie.CONSTRAINED
    assert held.between(other, "universe") is Tie.PARAMETERIZED
    assert held.between(box, other) is Tie.UNCONSTRAINED
    free = graph.relative_motion("Loop | f")
    assert free.between(box, other) is Tie.PARAMETERIZED  # both stand on the table
    assert free.between(hand, box) is Tie.UNCONSTRAINED
    assert graph.relative_motion(FREE).between(box, "universe") is Tie.UNCONSTRAINED  # it may stand anywhere
    assert graph.relative_motion(HELD).between(box, hand) is Tie.CONSTRAINED
    pairs = [(hand, box), (box, other), (box, "universe"), (hand, other)]
    kept = graph.collision_pairs("Loop | 0-0", pairs)
    assert [tuple(pair) for pair in kept] == [(box, other, 0.01), (box, "universe", 0.0), (hand, other, 0.01)]
    assert [pair[:2] for pair in graph.collision_pairs("Loop | f", pairs)] == [(hand, box), (hand, other)]
    assert "held on a leaf" in free.describe()
    with pytest.raises(UnknownJointError, match="box2"):
        free.between("box2/root_joint", hand)


def test_errors_of_a_configuration():
    """By state and transition, against plain pinocchio, and readable."""
    graph, q = recorded_graph(), starts(HELD)[0]
    errors = graph.errors(q)
    assert errors.states[HELD]["r0/gripper grasps box0/h0"] == pytest.approx(off(HELD, q), abs=1e-9)
    assert errors.states[FREE]["place_box0"] == pytest.approx(off(FREE, q), rel=1e-6)
    assert set(errors.transitions) >= {"Loop | 0-0", "r0/gripper < box0/h0 | 0-0_43"}
    start = starts(FREE)[0]
    against = graph.errors(starts(FREE)[1], start).transitions["Loop | f"]["place_box0/hold"]
    boxes = [scene_at(q)[1].translation[:2] for q in (start, starts(FREE)[1])]
    assert against >= np.linalg.norm(boxes[1] - boxes[0]) - 1e-9
    assert f"state '{HELD}': satisfied" in str(errors)
    assert "state 'free': 'place_box0' off by" in str(errors)


def test_the_graph_in_words_and_for_graphviz():
    words = recorded_graph().describe()
    assert "foliation: 'place_box0' with 'place_box0/complement' is 'place_box0/hold'" in words
    assert recorded_graph().to_dot().count(" -> ") == 2 + 8
    named = factory(name='a "graph"').generate()
    assert r'digraph "a \"graph\""' in named.to_dot()


def test_validation():
    """Real rates by state and transition; a state that another hides, and one that cannot be reached, are named."""
    graph = recorded_graph()
    report = graph.validate(np.random.default_rng(0), 10)
    assert report.success
    assert report.states[FREE].successes == 10
    assert report.transitions[RELEASE].successes >= 8
    robot = graph.robot
    place = next(f for f in graph.foliations if f.name == "place_box0").constraint
    assert place is not None
    away = Implicit.above(Position(robot, "box0/root_joint"), [10.0, -9.0, -9.0], name="far away")
    a, b, c = State("a", [place]), State("b", [place], priority=1), State("c", [place, away])
    hidden = ConstraintGraph(robot, [a, b, c], [Transition("go", a, c, a), Transition("on", c, a, a)])
    report = hidden.validate(np.random.default_rng(0), 5)
    assert not report.success
    words = "\n".join(report.problems)
    assert "state 'a' is contained in 'b'" in words
    assert "state 'c' was never reached (0 of 5)" in words
    assert "no target of transition 'go' was found" in words
    assert "transition 'on' was not tried" in words
    assert words in str(report)
    assert report.describe() == str(report)


def test_graphs_pickle():
    graph = pickle.loads(pickle.dumps(factory(1, 1, 2).generate()))
    q, guess = starts(FREE)[0], guesses()[0]
    assert graph.state_of(q).name == FREE
    assert graph.target(TAKE, q, guess).q.tobytes() == factory(1, 1, 2).generate().target(TAKE, q, guess).q.tobytes()
    problem, _ = graph.path_problem("Loop | f", q)
    assert len(problem.explicits) == 1


def test_a_target_says_how_far_it_got() -> None:
    """Each inner transition with its status, those not tried, and the errors of the last projection."""
    graph = recorded_graph()
    inner = graph.transition(TAKE).inner
    reached, missed = (graph.target(TAKE, starts(FREE)[i], guesses()[0]) for i in (0, 39))
    assert reached.success
    assert not missed.success
    for target in (reached, missed):
        lines, tried = target.describe().splitlines(), len(target.projections)
        assert lines[0] == str(target)
        for part, projection, line in zip(inner, target.projections, lines[1:], strict=False):
            name, residual = projection.status.name, projection.residual
            assert line == f"  '{part}' to '{part.target}': {name}, residual {residual:.3g}"
        assert lines[tried + 1 : len(inner) + 1] == [f"  '{part}': not tried" for part in inner[tried:]]
        assert lines[len(inner) + 1] == f"  at the last configuration, on '{target.failed_at or TAKE}':"
        last = target.projections[-1]
        assert lines[len(inner) + 2 :] == [f"  {line}" for line in last.describe().splitlines()[1:]]
    assert f"error {missed.projections[-1].residual:.3g}" in missed.describe()


def test_a_target_says_how_it_is_diagnosed() -> None:
    """A target has no `diagnose`; its description and the answer to the name say whose it is, and that one works."""
    target = recorded_graph().target(TAKE, starts(FREE)[39], guesses()[0])
    assert not target.success
    advice = "`target.projections[-1].diagnose()`"
    for words in (str(target), target.describe()):
        assert "`diagnose()`" not in words
    hint = factory(options=Options(max_iterations=3)).generate().target(TAKE, starts(FREE)[39], guesses()[0])
    assert f"{advice} says whether it is difficult or impossible" in str(hint)
    with pytest.raises(NoAttributeError, match=r"use `target\.projections\[-1\]\.diagnose\(\)`"):
        getattr(target, "diagnose")  # noqa: B009
    assert str(target.projections[-1].diagnose(trials=2, iterations=5))


def test_a_walk_says_what_it_could_not_do() -> None:
    """Mend 13: transitions, reasons with their counts, the last case; with details the case in full."""
    graph, q = factory(options=Options(max_iterations=4)).generate(), starts(FREE)[4]
    asked, limits = [TAKE, RELEASE, TAKE, RELEASE], Limits(sequences=1, seconds=None)
    tried = (walk(graph, q, asked, rng=np.random.default_rng(k), limits=limits) for k in range(50))
    found = next(each for each in tried if not each.success)
    assert found.status is PlanningStatus.SEQUENCES
    assert {reason for _, reason in found.refusals} == {"no target found"}
    (key, case), *_ = found.cases.items()
    assert not case.success
    lines = found.describe().splitlines()
    assert lines[2] == f"  the last one: {', '.join(asked)}"
    at = lines.index(f"  '{key[0]}' refused {found.refusals[key]} times: no target found")
    assert lines[at + 1] == f"    the last time: {case}"
    assert all(line in found.describe(details=True) for line in case.describe().splitlines())
    with pytest.raises(FailedError) as caught:
        found.or_raise()
    assert caught.value.result is found


def test_walks_keep_a_carried_box_in_its_bounds() -> None:
    """Mend 18: motions on which a box in a hand would leave its bounds are bent instead of given up; they stay on the
    constraints, inside, and in one piece."""
    graph, q = recorded_graph(), starts(FREE)[4]
    bounds = graph.robot.bounds
    for seed in (4, 5, 9, 14):
        asked = [TAKE, "Loop | 0-0", "Loop | 0-0", RELEASE]
        path = walk(graph, q, asked, rng=np.random.default_rng(seed)).or_raise()
        assert path.max_error() <= THRESHOLD
        for t in np.linspace(0.0, path.duration, 200):
            assert bounds.contains(path(t))
        assert path.max_jump().length <= 0.05


# Engines


@pytest.mark.skipif(find_spec("numba") is None, reason="the compiled engine is an extra")
def test_both_engines_find_the_same_targets() -> None:
    """States, leaves and targets by kernels are those of the functions; the results say what solved."""
    both = [factory(engine=engine).generate() for engine in ("readable", "compiled")]
    for transition in both[0].transitions:
        for start, guess in zip(starts(transition.source.name)[:8], guesses()[:8], strict=True):
            readable, compiled = (g.target(transition.name, start, guess) for g in both)
            assert compiled.success == readable.success
            assert compiled.attempts == readable.attempts
            assert np.abs(both[0].robot.space.difference(compiled.q, readable.q)).max() < 1e-6
            assert {type(p.engine) for p in readable.projections} == {NewtonEngine}
            assert {type(p.engine) for p in compiled.projections} == {CompiledEngine}
            for g in both:
                assert g.state_of(start).name == transition.source.name
            sides = [g.path_problem((transition.inner or (transition,))[0].name, start).rhs.vector for g in both]
            np.testing.assert_allclose(sides[1], sides[0], rtol=0, atol=1e-14)


@pytest.mark.skipif(find_spec("numba") is None, reason="the compiled engine is an extra")
@pytest.mark.parametrize("attempts", [1, 4])
def test_targets_in_one_call_are_those_step_by_step(attempts: int) -> None:
    """Bit for bit: right-hand sides, waypoints, attempts, residuals."""
    at_once, by_steps = (factory(engine="compiled", attempts=attempts).generate() for _ in range(2))
    for transition in at_once.transitions:
        plan = by_steps._plans.of(by_steps.transition(transition.name))
        assert (plan.at_once is None) == transition.is_level_set
        vars(plan)["at_once"] = None
        for start, guess in zip(starts(transition.source.name)[:12], guesses()[:12], strict=True):
            one, other = (graph.target(transition.name, start, guess) for graph in (at_once, by_steps))
            assert one.attempts == other.attempts
            for a, b in zip(one.projections, other.projections, strict=True):
                for name in ("status", "iterations", "restarts", "residual"):
                    assert getattr(a, name) == getattr(b, name)
                assert (a.q.tobytes(), a.start.tobytes()) == (b.q.tobytes(), b.start.tobytes())
                assert a.rhs.vector.tobytes() == b.rhs.vector.tobytes()


@pytest.mark.parametrize("engine", ["readable", "compiled"])
def test_targets_take_configurations_of_any_kind_and_refuse_bad_ones(engine: str) -> None:
    if engine == "compiled" and find_spec("numba") is None:
        pytest.skip("the compiled engine is an extra")
    graph, loop = factory(engine=engine).generate(), "Loop | f"
    start, guess = starts(FREE)[0].copy(), guesses()[0].copy()
    expected = graph.target(loop, start, guess).or_raise()
    fixed, spread = start.copy(), np.zeros((start.size, 2))
    fixed.setflags(write=False)
    spread[:, 0] = guess
    for q_start, q in ((start.tolist(), guess.tolist()), (fixed, spread[:, 0]), (start, guess.tolist())):
        assert graph.target(loop, q_start, q).q.tobytes() == expected.q.tobytes()
    np.testing.assert_array_equal(guess, guesses()[0])
    long, bad, off = np.r_[start, 0.0], start.copy(), start.copy()
    bad[2], off[-7:-4] = np.nan, off[-7:-4] + 0.3
    for wrong, error in (
        (long, SizeError),
        (start[:1], SizeError),
        (bad, NotFiniteError),
        (2.0 * start, NotNormalizedError),
    ):
        with pytest.raises(error, match="q_start"):
            graph.target(loop, wrong, guess)
        with pytest.raises(error, match=r"^q\b"):
            graph.target(loop, start, wrong)
    with pytest.raises(GraphError, match=r"the start of 'Loop \| f' is not in the state 'free'"):
        graph.target(loop, off, guess)
    assert graph.target(loop, start, guess).q.tobytes() == expected.q.tobytes()


def test_right_hand_sides_of_leaves_are_those_that_the_problem_reads() -> None:
    """What prepared plans read at a configuration is `problem.rhs_from`, wherever it is."""
    graph, rng = recorded_graph(), np.random.default_rng(4)
    for transition in graph.inner_transitions:
        for q in (*graph.robot.random(rng, 4), *starts(FREE)[:2]):
            problem, rhs = graph.path_problem(transition, q)
            np.testing.assert_allclose(rhs.vector, problem.rhs_from(q).vector, rtol=0, atol=1e-14)


def test_the_engine_of_a_graph_is_kept_and_checked() -> None:
    graph = factory(engine="readable").generate()
    assert isinstance(graph.engine, NewtonEngine)
    assert isinstance(pickle.loads(pickle.dumps(graph)).engine, NewtonEngine)
    assert graph.sample(FREE, np.random.default_rng(0)).engine is graph.engine
    with pytest.raises(UnknownNameError, match="quick"):
        factory(engine="quick").generate()
    with pytest.raises(WrongObjectError, match="engine"):
        ConstraintGraph(graph.robot, [State("a")], [], engine=cast("Any", 3))
