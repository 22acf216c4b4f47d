"""What cannot be done is said, at once where it is seen at once: the box of `examples/pick_and_place.py`."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time, sleep
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from planning.judge import example, generator
from robots import arm, needs_robot_data

from constraints import Affine, Implicit, Position, Problem, Surface
from constraints.collisions import CollisionModel, Shape
from constraints.errors import GraphError
from constraints.manipulation import (
    ConstraintGraph,
    ConstraintGraphFactory,
    Handle,
    MovableObject,
    Rule,
    State,
    Transition,
    read_semantics,
)
from constraints.paths import SecurityMargins
from constraints.planning import Limits, Plan, PlanningStatus, plan, walk
from constraints.planning.attempt import Refusals
from constraints.planning.guesses import Guesses
from constraints.planning.limits import Clock
from constraints.planning.marks import Move, Site, Sites
from constraints.planning.refusals import StepProofs
from constraints.planning.sequences import PlanStep, Sequences
from constraints.solvers.kernels import loading

FAR = (0.85, -0.8, 0.25)
"""Middle of a table 1.2 m from the arm's base, further than a UR5 reaches."""
TAKE, RELEASE = "ur5/gripper > box/side | f", "ur5/gripper < box/side | 0-1"


@pytest.fixture(scope="module")
def told() -> Any:
    made = example("pick_and_place").story()
    loaded(made)
    return made


def loaded(made: Any) -> None:
    """Read kernels, and cover the solids."""
    made.graph.target(TAKE, made.start, made.robot.random(generator()))
    walk(made.graph, made.start, ["Loop | f"], rng=generator(), collisions=made.collisions)


def at_once(graph: ConstraintGraph, q: Any, steps: Any, targets: int = 0, **options: Any) -> Plan:
    """A walk, and a plan where there is a goal, that end in less than a second of this process, after few targets."""
    began = process_time()
    found = walk(graph, q, steps, rng=generator(), **options)
    assert process_time() - began < 1.0
    assert not found.success
    assert found.targets <= targets
    assert found.path is None
    return found


@needs_robot_data
@pytest.mark.parametrize("what", ["start", "goal"])
def test_ends_in_collision(told: Any, what: str) -> None:
    """An arm that reaches into a table, with the box where it was; a walk and a plan name the pairs."""
    rng, q = generator(1), getattr(told, what).copy()
    met: Any = ()
    while not any("table" in pair.a + pair.b for pair in met):
        q[:6] = told.robot.random(rng)[:6]
        met = told.collisions.collisions(q)
    ends = {"start": told.start, "goal": told.goal} | {what: q}
    found = at_once(told.graph, ends["start"], [TAKE, RELEASE], goal=ends["goal"], collisions=told.collisions)
    other = plan(told.graph, ends["start"], ends["goal"], rng=generator(), collisions=told.collisions)
    for each in (found, other):
        assert each.status is PlanningStatus.of_end(what, "COLLIDES")
        assert {frozenset((p.a, p.b)) for p in each.collisions} == {frozenset((p.a, p.b)) for p in met}
        assert all(f"{pair.a} collides with {pair.b}" in str(each) for pair in met)


@needs_robot_data
def test_a_goal_with_the_box_where_no_transition_brings_it(told: Any) -> None:
    found = at_once(told.graph, told.start, ["Loop | f"], goal=told.goal)
    assert found.status is PlanningStatus.NO_SEQUENCE
    assert "the goal has 'place_box' elsewhere, and no transition moves it" in str(found)
    same = np.r_[told.goal[:6], told.start[6:]]
    assert walk(told.graph, told.start, ["Loop | f"], rng=generator(), goal=same).success


@needs_robot_data
def test_a_release_that_the_arm_does_not_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """The take before it is possible, and is not what is blamed; of the top handle it is proved."""
    stories = example("pick_and_place")
    monkeypatch.setitem(stories.TABLES, "right", FAR)
    told = stories.story()
    loaded(told)
    found = at_once(told.graph, told.start, [TAKE, RELEASE], 30, goal=told.goal, collisions=told.collisions)
    assert f"no target of '{TAKE}' was found from the goal" in str(found)
    planned = plan(told.graph, told.start, told.goal, rng=generator(), collisions=told.collisions)
    assert planned.status is PlanningStatus.NO_SEQUENCE
    assert planned.seconds < 30.0
    top = TAKE.replace("side", "top")
    for words in (f"no target of '{TAKE}' was found from the goal", f"'{top}_01' is further away than the joints span"):
        assert words in planned.describe()


def points(name: str, x: float) -> Implicit:
    return Implicit.between(Position(arm(), "tool"), [x, 0.2, 0.5], [x, 0.2, 0.5], name=name)


def graph() -> ConstraintGraph:
    """Near, far out of reach, and anywhere."""
    anywhere, near, far = State("anywhere"), State("near", [points("near", 0.3)], 1), State("far", [points("far", 9.0)])
    there = [Transition(f"to {s}", anywhere, s, anywhere) for s in (near, far)]
    back = [Transition(f"from {s}", s, anywhere, anywhere) for s in (near, far)]
    return ConstraintGraph(
        arm(), [near, far, anywhere], [*there, *back, Transition("stay", anywhere, anywhere, anywhere)]
    )


def test_a_state_out_of_reach_and_an_end_in_no_state() -> None:
    """After targets that missed it, and random configurations; of a plan for this state, too."""
    q = np.full(7, 0.2)
    planned = plan(graph(), q, "far", rng=generator())
    for found in (at_once(graph(), q, ["to near", "from near", "to far"], 300), planned):
        assert found.status is PlanningStatus.NO_SEQUENCE
        assert "the state 'far' was reached from none of 40 random configurations" in str(found)
        assert any(name == "to far" for name, _ in found.refusals)
    first = Implicit.zero(Affine([np.eye(7)[0]], [-0.1], arm().space), name="held")
    only = State("only", [first])
    lone = ConstraintGraph(arm(), [only], [Transition("stay", only, only, only)])
    with pytest.raises(GraphError, match="only"):
        walk(lone, np.full(7, 0.2), ["stay"], rng=generator())


def test_a_goal_that_no_transition_leads_to_is_told() -> None:
    there, here = State("there", [points("there", 0.3)], 1), State("here")
    stay = [Transition(f"stay {s}", s, s, s) for s in (here, there)]
    lone = ConstraintGraph(arm(), [there, here], [*stay, Transition("leave", there, here, here)])
    found = plan(lone, np.full(7, 0.2), "there", rng=generator())
    assert (found.status, found.reason) == (
        PlanningStatus.NO_SEQUENCE, "no transition leads from 'here' to 'there'"
    )  # fmt: skip


def test_a_step_costs_more_where_none_of_its_targets_was_found() -> None:
    """And most where something collides at all of them."""
    q, refusals = np.full(7, 0.2), Refusals()
    places = Sites(graph(), q, q, None)
    proofs = StepProofs(places, lambda *_: q, refusals, Clock(60.0))
    step = PlanStep(places.start, next(iter(places.actions(places.start))))
    costs = [proofs.penalty(step)]
    refusals.done.add(step)
    costs.append(proofs.penalty(step))
    proofs.crowded.add(step)
    costs.append(proofs.penalty(step))
    assert costs[1] < costs[0] < costs[2]


def test_what_can_be_done_is_not_ruled_out() -> None:
    found = walk(graph(), np.full(7, 0.2), ["to near", "from near"], rng=generator(3))
    assert found.success
    assert (found.impossible, found.reason, found.collisions) == ((), "collisions were not looked at", ())


def made(
    scene: Any,
    floors: Sequence[Surface],
    held: Sequence[str] = ("s0", "s1"),
    margin: float = 0.0,
    margins: SecurityMargins | None = None,
) -> ConstraintGraph:
    """The graph of `examples/swap.py` with other floors, and balls that no gripper may hold."""
    swap, objects = example("swap"), list[MovableObject]()
    for name in swap.BALLS:
        mask = [True, True, True, False, True, True]
        handle = Handle(f"{name}/handle", scene.robot.frame(f"{name}_top"), 0.05, mask=mask)
        corners = np.c_[swap.FOOT * swap.SQUARE[::-1], np.full(4, -swap.RADIUS)]
        foot = Surface(f"{name}/foot", scene.robot.frame(f"{name}/body"), corners)
        objects.append(MovableObject(name, [handle], [foot]))
    grippers = list(read_semantics(scene.robot, swap.SRDF, "ur3").grippers.values())
    rules = [Rule(["ur3/gripper"], [f"{name}/handle"], name in held) for name in swap.BALLS]
    rules.append(Rule(["ur3/gripper"], [""]))
    own: Any = {"rules": rules, "margin": margin, "margins": margins, "attempts": 1}
    return ConstraintGraphFactory(scene.robot, grippers, objects, floors, **own).generate()


def floor(scene: Any, name: str, x: float, z: float, half: float) -> Surface:
    """A square of the world that looks up."""
    square = example("swap").SQUARE
    return Surface(
        name, scene.robot.frame("universe", [x, 0.0, z, 0.0, 0.0, 0.0, 1.0]), np.c_[half * square, np.zeros(4)]
    )


def in_time(found: Plan, limit: float) -> None:
    """It ended within its limit and a tenth, without a path, and says in words which transition was refused."""
    assert not found.success
    assert found.seconds <= 1.1 * limit
    said = found.describe(details=True)
    assert found.refusals
    assert all(f"'{name}' refused {count} times: {reason}" in said for (name, reason), count in found.refusals.items())


@pytest.fixture(scope="module")
def scene() -> Any:
    return example("swap").swap()


@needs_robot_data
def test_an_object_that_no_gripper_may_hold(scene: Any) -> None:
    """By a rule of the factory: where the goal has it elsewhere, that is said before anything is drawn."""
    graph = made(scene, [floor(scene, "floor", 0.0, 0.0, 0.45)], ["s0"])
    start = scene.at(0.3, 0.2)
    found = plan(graph, start, scene.at(0.3, 0.25), rng=generator(), collisions=scene.collisions)
    assert (found.status, found.targets) == (PlanningStatus.NO_SEQUENCE, 0)
    assert "the goal has 'place_s1' elsewhere, and no transition moves it" in found.describe()
    assert plan(graph, start, scene.at(0.35, 0.2), rng=generator(), collisions=scene.collisions).success


def margin_of(where: str, m: float, scene: Any) -> tuple[Any, CollisionModel]:
    """The scene with a margin between the balls, of the collision model or of the graph."""
    if where == "model":
        return scene.graph, scene.collisions.with_margins({("s0", "s1"): m})
    margins = SecurityMargins(pairs={("s0/root_joint", "s1/root_joint"): m})
    return made(scene, [floor(scene, "floor", 0.0, 0.0, 0.45)], margins=margins), scene.collisions


@needs_robot_data
@pytest.mark.parametrize("end", ["start", "goal"])
@pytest.mark.parametrize(("where", "apart"), [("model", 0.035), ("model", 0.044), ("graph", 0.044)])
def test_objects_in_each_other_at_one_end_are_named_at_once(scene: Any, end: str, where: str, apart: float) -> None:
    """Balls of 4 cm that are 35 mm apart, or 44 mm with a margin of 5 mm: no motion may begin, or end, so."""
    graph, model = margin_of(where, 0.005, scene)
    ends = {"start": scene.at(0.2, 0.3), "goal": scene.at(0.2, 0.35)} | {end: scene.at(0.2, 0.2 + apart)}
    found = plan(graph, ends["start"], ends["goal"], rng=generator(), collisions=model)
    assert (found.status, found.targets) == (PlanningStatus.of_end(end, "COLLIDES"), 0)
    assert [{pair.a, pair.b} for pair in found.collisions] == [{"s0", "s1"}]
    words = "s0 collides with s1" if apart < 0.04 else "s0 is closer to s1 than the margin"
    assert words in found.reason
    assert found.refused is not None
    assert np.array_equal(found.refused, ends[end])
    assert plan(graph, ends["start"], ends["start"], rng=generator(), collisions=model).success


@needs_robot_data
def test_a_place_below_the_table(scene: Any) -> None:
    """On a shelf under a slab: no gripper comes there; the pair that is in the way is named.

    A goal below all floors is in no state; as a problem it has no solution in any, and the constraint is named.
    """
    place = [0.0, 0.0, -0.0105, 0.0, 0.0, 0.0, 1.0]
    slab, files = Shape("slab", "Box", (0.9, 0.9, 0.02), placement=place), {"ur3": example("swap").ARM}
    model = CollisionModel(scene.robot, [*scene.shapes, slab], files, ignored=[("slab", "ur3/base_link_0")])
    graph = made(scene, [floor(scene, "floor", 0.0, 0.0, 0.45), floor(scene, "shelf", 0.3, -0.1, 0.1)])
    start, goal, limit = scene.at(0.2, 0.3), scene.at(0.2, 0.3), 3.0
    goal[15] -= 0.1
    plan(graph, start, goal, rng=generator(), collisions=model, limits=Limits(seconds=0.1))  # covers are made
    found = plan(graph, start, goal, rng=generator(), collisions=model, limits=Limits(seconds=limit))
    in_time(found, limit)
    assert any("s1/handle" in name and "slab" in reason for name, reason in found.refusals)
    below = scene.at(0.2, 0.3)
    below[15] = -0.4
    with pytest.raises(GraphError, match="place_s1"):
        plan(scene.graph, start, below, rng=generator(), collisions=scene.collisions)
    there = Problem(scene.robot, [Implicit.equal(Position(scene.robot, "s1/body"), below[13:16], name="below")])
    found = plan(scene.graph, start, there, rng=generator(), collisions=scene.collisions, limits=Limits(seconds=limit))
    assert found.status is PlanningStatus.NO_GOAL
    assert found.seconds <= 1.1 * limit
    assert "below" in found.describe()


@needs_robot_data
def test_a_swap_without_a_third_place(scene: Any) -> None:
    """Two floors on which one ball has room each: the balls are in each other's way, which is said."""
    graph = made(scene, [floor(scene, "left", 0.2, 0.0, 0.004), floor(scene, "right", 0.3, 0.0, 0.004)])
    start, goal, limit = scene.at(0.2, 0.3), scene.at(0.3, 0.2), 3.0
    found = plan(graph, start, goal, rng=generator(), collisions=scene.collisions, limits=Limits(seconds=limit))
    in_time(found, limit)
    assert found.status in (PlanningStatus.TIME, PlanningStatus.NO_SEQUENCE)
    pairs = {reason for name, reason in found.refusals if "handle" in name}
    assert pairs & {"s0 collides with s1", "s1 collides with s0"}
    assert found.impossible == ("s0 collides with s1 where start and goal put them",)


@needs_robot_data
def test_a_gripper_that_no_object_fits_in(told: Any) -> None:
    """A shape around the box, through which the fingers would go in each of both grasps, wherever they are."""
    wide = told.collisions.added(Shape("wide", "Box", (0.14, 0.14, 0.2), "box/body"))
    start, goal = told.start, told.goal
    assert wide.is_free(start)
    found = plan(told.graph, start, goal, rng=generator(), collisions=wide, limits=Limits(seconds=20))
    assert found.status is PlanningStatus.NO_SEQUENCE
    for handle in ("top", "side"):
        assert any(f"grasps box/{handle}' holds, ur5/tool0_0" in words for words in found.impossible)
    assert all("collides with wide" in words for words in found.impossible)
    assert found.targets <= 100


@needs_robot_data
@pytest.mark.parametrize("first", ["Loop | 0-1", TAKE])
def test_bodies_held_together_are_judged_where_they_move(told: Any, first: str) -> None:
    """Taking the box brings fingers and shape together, carrying it does not: whichever is asked first."""
    wide = told.collisions.added(Shape("wide", "Box", (0.14, 0.14, 0.2), "box/body"))
    proofs = proofs_of(told, wide)
    said = {name: proofs.of_transition(told.graph.transition(name)) for name in (first, "Loop | 0-1", TAKE)}
    assert said["Loop | 0-1"] == ""
    assert "grasps box/side' holds, ur5/tool0_0 collides with wide" in said[TAKE]


@needs_robot_data
@pytest.mark.parametrize(("depth", "ruled_out"), [(2e-3, True), (5e-4, False)])
def test_a_grasp_that_overlaps_by_less_than_a_millimetre_is_not_ruled_out(
    told: Any, depth: float, ruled_out: bool
) -> None:
    """A ball of 1 cm at the hand goes so deep into one at the box, where that is held."""
    take = told.graph.transition(TAKE)
    held = told.robot.at(told.graph.target(TAKE, told.start, told.robot.random(generator())).or_raise().waypoints[1])
    hand, box = (held.placement(told.robot.frame(name)) for name in ("ur5/tool0", "box/body"))
    at = hand.actInv(box).translation + hand.rotation.T @ [0.0, 0.0, 0.02 - depth]
    finger = Shape("finger", "Sphere", (0.01,), "ur5/tool0", placement=[*at, 0.0, 0.0, 0.0, 1.0])
    model = CollisionModel(told.robot, [finger, Shape("thing", "Sphere", (0.01,), "box/body")])
    assert not model.is_free(held.q)
    assert bool(proofs_of(told, model).of_transition(take)) is ruled_out


def proofs_of(told: Any, model: CollisionModel) -> StepProofs:
    places = Sites(told.graph, told.start, told.goal, model)
    return StepProofs(places, Guesses(told.graph), Refusals(), Clock(60.0))


def test_sequences_come_by_their_costs_and_what_is_struck_out_never() -> None:
    """From a to d by b, by c, or by c and b: what fails costs more, and comes back when others cost as much."""
    sites = {name: Site(State(name), ()) for name in "abcd"}

    def move(before: str, after: str) -> Move:
        here, there = sites[before].state, sites[after].state
        return Move(Transition(f"{before} to {after}", here, there, there), (), sites[after])

    moves = {"a": [move("a", "b"), move("a", "c")], "b": [move("b", "d")], "c": [move("c", "d"), move("c", "b")]}
    task: Any = SimpleNamespace(
        start=sites["a"], is_goal=lambda site: site is sites["d"], actions=lambda site: moves.get(site.state.name, ())
    )

    def ways(sequences: Sequences) -> str:
        steps = sequences.cheapest()
        return "none" if steps is None else "".join(step.place.state.name for step in steps)

    sequences = Sequences(task)
    assert ways(sequences) == "ab"
    sequences.failed(PlanStep(sites["b"], moves["b"][0]), 0.5)
    assert ways(sequences) == "ac"
    sequences.failed(PlanStep(sites["c"], moves["c"][0]), 0.4)
    sequences.failed(PlanStep(sites["c"], moves["c"][0]), 0.4)
    assert ways(sequences) == "ab"
    sequences.failed(PlanStep(sites["a"], moves["a"][0]), 3.0)
    assert ways(sequences) == "ac"
    sequences.strike_out(PlanStep(sites["c"], moves["c"][0]))
    assert ways(sequences) == "acb"
    assert {site.state.name for site in sequences.seen} == {"a", "b", "c"}
    sequences.strike_out_all(moves["a"][1].transition)
    assert ways(sequences) == "ab"
    sequences.strike_out(PlanStep(sites["b"], moves["b"][0]))
    assert ways(sequences) == "none"
    assert str(moves["a"][0]) == "a to b"
    assert str(Site(State("held"), (("place", "goal"),))) == "held (place: goal)"


@needs_robot_data
def test_guesses_stand_evenly_on_their_floors(scene: Any) -> None:
    """Balls on a square of 0.9 m or on a trapeze beside it, by plain arithmetic; another guess leaves them."""
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [0.2, 1.0], [-1.0, 0.4]])
    place = scene.robot.frame("universe", [2.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0])
    trapeze = Surface("trapeze", place, np.c_[0.1 * corners, np.zeros(4)])
    even = generator().uniform(-1.0, 1.0, (20000, 2))
    sides = [(b - a, a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    even = even[np.all([d[0] * (even[:, 1] - a[1]) > d[1] * (even[:, 0] - a[0]) for d, a in sides], axis=0)]
    graph = made(scene, [floor(scene, "floor", 0.0, 0.0, 0.45), trapeze])
    guesses, rng, start = Guesses(graph), generator(), scene.at(0.2, 0.3)
    drawn = np.array([guesses(graph.transitions[0], start, rng) for _ in range(3000)])
    for k in (6, 13):
        x, y, z = drawn[:, k : k + 3].T
        wide = x < 1.0
        assert np.mean(wide) == pytest.approx(0.5, abs=0.04)
        np.testing.assert_allclose(z, np.where(wide, 0.02, 0.32), atol=1e-12)
        parts = np.stack([x[wide], y[wide]]) / 0.45
        assert 0.98 < np.abs(parts).max() <= 1.0
        np.testing.assert_allclose(np.cov(parts), np.eye(2) / 3.0, atol=0.03)
        np.testing.assert_allclose(parts.mean(axis=1), 0.0, atol=0.05)
        parts = np.stack([x[~wide] - 2.0, y[~wide]]) / 0.1
        assert all((d[0] * (parts[1] - a[1]) > d[1] * (parts[0] - a[0]) - 1e-9).all() for d, a in sides)
        np.testing.assert_allclose(parts.mean(axis=1), even.mean(axis=0), atol=0.05)
        np.testing.assert_allclose(np.cov(parts), np.cov(even.T), atol=0.03)
        turns = 2.0 * np.arctan2(drawn[:, k + 5], drawn[:, k + 6])
        assert np.abs(np.exp(1j * turns).mean()) < 0.06
        assert np.abs(drawn[:, [k + 3, k + 4]]).max() < 1e-12
    above = made(scene, [floor(scene, "floor", 0.0, 0.0, 0.45)], margin=1e-3)
    there = Guesses(above)(above.transitions[0], start, rng)
    assert there[[8, 15]] == pytest.approx([0.021, 0.021])
    assert Problem(scene.robot, above.state("free").constraints).residual(there) < 1e-12
    beside = guesses.beside(start, rng)
    np.testing.assert_array_equal(beside[6:], start[6:])
    assert np.abs(beside[:6] - start[:6]).max() > 0.1


def test_the_reading_of_kernels_is_no_time_of_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = list[float]()
    monkeypatch.setattr(loading, "_waits", waits)
    clock = Clock(0.02)
    sleep(0.021)
    assert clock.is_over
    waits.append(60.0)
    assert not clock.is_over
