"""The factory of constraint graphs against what hpp-python 9.0.2 builds for the same scenes."""

from __future__ import annotations

import functools
import hashlib
import re
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from robots import needs_robot_data
from scenes import factory, forbid, record

from constraints import Base, Comparison, ConvexShapeContact, Explicit, Implicit, Position, Robot, Surface, errors
from constraints.manipulation import (
    ConstraintGraph,
    ConstraintGraphFactory,
    Foliation,
    Handle,
    MovableObject,
    Rule,
    State,
    Transition,
    read_semantics,
)

pytestmark = needs_robot_data

CASES = tuple(record()["cases"])


def digest(things: object) -> str:
    names = sorted(thing.name for thing in things)  # type: ignore[attr-defined]
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


@functools.cache
def graph_of(case: str) -> ConstraintGraph:
    found = re.fullmatch(r"g(\d)_o(\d)_h(\d)_(surf|nosurf)_default(?:_mask_(\d{6}))?", case)
    assert found is not None
    arms, boxes, handles = (int(found[i]) for i in (1, 2, 3))
    return factory(
        arms, boxes, handles, found[4] == "surf", mask=found[5] or "111111", empty_level_sets=True
    ).generate()


def leaves_at_once(transition: Transition) -> bool:
    """Whether it is the first step of a release that has no preplace: from the grasp to pregrasp."""
    return transition.name.endswith("_21") and not transition.source.waypoint


@pytest.mark.parametrize("case", a_few(CASES, 12))
def test_counts_and_names_are_those_of_hpp(case):
    """Property 23: all 48 recorded cases, with the level-set variants that have no leaf to choose, as HPP builds them:
    counts of states, transitions, loops, waypoints, inner ones, level sets and short ones, and every name. Of releases
    without a preplace the first step is short too, which HPP's is not."""
    arms, boxes, handles = (int(case[i]) for i in (1, 4, 7))
    rules = forbid() if case.endswith("forbid") else ()
    graph = factory(arms, boxes, handles, "_surf_" in case, rules, empty_level_sets=True).generate()
    recorded = record()["cases"][case]
    through = [t for t in graph.transitions if t.inner]
    counts = {
        "states": len(graph.states),
        "transitions": len(graph.transitions),
        "loops": sum(t.is_loop for t in graph.transitions),
        "waypoint_transitions": len(through),
        "of_which_level_set_variants": sum(t.is_level_set for t in through),
        "waypoint_states": len(graph.waypoint_states),
        "inner_transitions": len(graph.inner_transitions),
        "inner_level_set_transitions": sum(t.is_level_set for t in graph.inner_transitions),
        "inner_short": sum(t.short and not leaves_at_once(t) for t in graph.inner_transitions),
    }
    assert counts == {name: recorded[name] for name in counts}
    assert recorded["digest"] == {
        "states": digest(graph.states),
        "waypoint_states": digest(graph.waypoint_states),
        "transitions": digest(graph.transitions),
        "inner_transitions": digest(graph.inner_transitions),
    }
    if "names" in recorded:
        names = recorded["names"]
        assert sorted([s.name, s.priority] for s in graph.states) == sorted(names["states"])
        assert sorted([t.name, len(t.inner) - 1, t.weight] for t in through) == sorted(names["waypoint_transitions"])


@pytest.mark.parametrize("case", a_few(CASES, 6))
def test_without_needless_level_sets(case):
    """The difference to HPP by default: of its level-set variants only those are built that have a leaf to choose."""
    arms, boxes, handles = (int(case[i]) for i in (1, 4, 7))
    rules = forbid() if case.endswith("forbid") else ()
    graph = factory(arms, boxes, handles, "_surf_" in case, rules).generate()
    recorded = record()["cases"][case]
    needless = recorded["inner_level_set_with_empty_parameter"]
    level_sets = [t for t in graph.inner_transitions if t.is_level_set]
    useful = recorded["inner_level_set_transitions"] - needless if "_surf_" in case else 0
    assert len(level_sets) == useful
    assert all(t.parameters for t in level_sets)


@pytest.mark.parametrize("case", [*record()["full"], *record()["constraint_names_only"]])
def test_constraints_of_states_and_transitions_are_those_of_hpp(case):
    """Names of the constraints of every state and transition, ends, containing states, weights, short ones, level sets:
    six recorded graphs, one with handles of five rows."""
    graph, recorded = graph_of(case), {**record()["full"], **record()["constraint_names_only"]}[case]
    for name, given in recorded["states"].items():
        state = graph.state(name)
        assert sorted(owner.name for owner in state.constraints) == sorted(given["constraints"])
        assert (state.waypoint, state.priority) == (given["waypoint"], given["priority"])
    for name, given in recorded["transitions"].items():
        transition = graph.transition(name)
        assert [transition.source.name, transition.target.name] == [given["source"], given["target"]]
        assert transition.containing.name == given["containing"]
        short = given["short"] or leaves_at_once(transition)
        assert (transition.weight, transition.short) == (given["weight"], short)
        if not transition.inner:
            kept = [owner.name for owner in transition.constraints]
            assert sorted(kept) == sorted(given["constraints"])
        assert [part.name for part in transition.inner] == given.get("inner", [])
        if given["kind"] == "level_set":
            assert sorted(o.name for o in transition.condition or ()) == sorted(given["condition"])
            kept = {owner.name for owner in transition.constraints}
            assert {o.name for o in transition.parameters} == set(given["parameter"]) - kept


@pytest.mark.parametrize("case", record()["full"])
def test_problems_are_resolved_as_those_of_hpp(case):
    """Which constraints of each projector are explicit, and how many rows are left to Newton: as HPP's projectors. Only
    level-set transitions differ: here constraint and complement are one explicit constraint there too."""
    graph, recorded = graph_of(case), record()["full"][case]
    rng = np.random.default_rng(0)
    for name, given in recorded["states"].items():
        problem = graph.problem_of(name)
        assert len(problem.explicits) == len(given["projector"]["explicit"])
        assert (
            problem.reduced_size == sum(active for _, active in given["projector"]["implicit"])
            or not given["constraints"]
        )
    for name, given in recorded["transitions"].items():
        transition = graph.transition(name)
        if transition.inner or not transition.constraints:
            continue
        q = graph.robot.random(rng)
        problem = graph.path_problem(transition, q).problem
        assert len(problem.explicits) == len(given["path_projector"]["explicit"])
        assert problem.reduced_size == sum(active for _, active in given["path_projector"]["implicit"])


def test_level_set_transitions_join_constraint_and_complement():
    """Property 23: with handles of five rows the level-set variant of taking has the explicit hold of the placement:
    HPP solves it by 14 rows."""
    graph = graph_of("g1_o1_h1_surf_default_mask_111011")
    transition = graph.transition("r0/gripper > box0/h0 | f_ls")
    first = transition.inner[0]
    assert [owner.name for owner in first.parameters] == ["r0/gripper grasps box0/h0/complement"]
    rng = np.random.default_rng(1)
    found = 0
    for projection in graph.samples("free", rng, 20):
        q_start, leaf = projection.or_raise().q, graph.sample("r0/gripper grasps box0/h0", rng).or_raise().q
        target = graph.target(transition, q_start, graph.robot.random(rng), leaf=leaf)
        problem = target.projections[0].problem
        assert [owner.name for owner in problem.explicits] == ["place_box0/hold"]
        assert problem.reduced_size == 6
        if target.success:
            found += 1
            assert graph.state_of(target.q).name == "r0/gripper grasps box0/h0"
            assert graph.same_leaf(target.q, leaf, "Loop | 0-0")
            assert graph.same_leaf(target.waypoints[0], q_start, "Loop | f")
    assert found >= 12


@pytest.mark.parametrize(("boxes", "mask"), [(1, "111011"), (1, "111000"), (2, "111111")])
@pytest.mark.parametrize("guide", [False, True])
def test_a_level_set_target_ends_on_its_leaf(boxes, mask, guide):
    """Mend 15: a box is put down where it was asked for, to the threshold, also where nothing guides it on the way down
    (it was 8 mm off, and said to be there). The place is read from q, not from the graph."""
    graph = factory(1, boxes, mask=mask, preplace_guide=guide).generate()
    held = "0-1" if boxes == 2 else "0-0"
    thing = f"box{boxes - 1}"
    transition = graph.transition(f"r0/gripper < {thing}/h0 | {held}_ls")
    pose = graph.robot.slice_of(f"{thing}/root_joint")
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(15):
        q_start, leaf = (graph.sample(s, rng).or_raise().q for s in (transition.source, transition.target))
        target = graph.target(transition, q_start, graph.robot.random(rng), leaf=leaf)
        if target.success:
            found += 1
            off = pin.XYZQUATToSE3(leaf[pose]).actInv(pin.XYZQUATToSE3(target.q[pose]))
            assert np.linalg.norm(pin.log6(off).vector) < 2e-4
            assert graph.state_of(target.q) is transition.target
    assert found >= 6


def test_a_target_off_its_leaf_is_no_success():
    """Mend 15: where a later part of a transition keeps another leaf than the one that was chosen, the target says so.
    Where only a later part chooses, and no leaf is given, one is drawn all the same.

    Two constraints of the plane: on the line y = 0, at the abscissa of a leaf; the second part keeps that of the start.
    """
    robot = Robot.from_urdf("<robot name='puck'><link name='body'/></robot>", base=Base.PLANAR)
    line = Implicit.zero(Position(robot, "body"), mask=[False, True, False], name="line")
    where = Implicit.equal(Position(robot, "body"), mask=[True, False, False], name="where")
    hold = Implicit(Position(robot, "body"), [Comparison.EQUALITY, Comparison.EQUAL_TO_ZERO, Comparison.EQUAL_TO_ZERO],
                    mask=[True, True, False], name="hold")  # fmt: skip
    away, on = State("away"), State("on the line", [line], priority=1)
    first = Transition("choose", away, on, away, condition=[line], parameters=[where])
    stay = State("stay", [line], waypoint=True)
    good = Transition("go", away, on, away, inner=[first])
    kept = [Transition("choose 2", away, stay, away, condition=[line], parameters=[where]),
            Transition("step aside", stay, away, away), Transition("back", away, on, away, [where])]  # fmt: skip
    bad = Transition("go astray", away, on, away, inner=kept)
    place = Implicit.zero(Position(robot, "body") - [0.3, 0.5, 0.0], mask=[True, True, False], name="place")
    aside = State("aside", [place], waypoint=True)
    later = [Transition("nearer", away, aside, away), Transition("choose 3", aside, on, away, condition=[line],
                                                                 parameters=[where])]  # fmt: skip
    late = Transition("go later", away, on, away, inner=later)
    graph = ConstraintGraph(robot, [away, on, stay, aside], [good, bad, late], [Foliation("line", line, where, hold)])
    start, leaf = np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.5, 0.0, 1.0, 0.0])
    guess = np.array([0.9, 0.9, 1.0, 0.0])
    target = graph.target("go", start, guess, leaf=leaf)
    assert target.success
    np.testing.assert_allclose(target.q[:2], [0.5, 0.0], atol=1e-4)
    target = graph.target("go astray", start, guess, leaf=leaf)
    assert target.projections[-1].success
    assert abs(target.q[0] - 0.5) > 0.1
    assert not target.success
    assert not target.on_leaf
    assert "not on the leaf that was chosen" in str(target)
    drawn = graph.target("go later", start, guess)
    assert drawn.success
    assert abs(drawn.q[0] - 0.3) > 0.1
    with pytest.raises(errors.FailedError):
        target.or_raise()


def test_the_guide_keeps_the_place_up_to_preplace():
    graph = factory(preplace_guide=True).generate()
    for name, kept in record()["preplace_guide_on_g1_o1_h1_surf"].items():
        transition = graph.transition(name)
        if not transition.inner:
            assert sorted(owner.name for owner in transition.constraints) == sorted(kept)


@pytest.mark.parametrize("name", record()["rule_examples"])
def test_rules(name):
    """The recorded examples of rules. HPP's patterns match a prefix: "box0/h" forbids both handles there, and is
    refused here because it is the name of none."""
    example = record()["rule_examples"][name]
    rules = tuple(Rule(*rule) for rule in example["rules"])
    make = functools.partial(factory, example["grippers"], example["objects"], example["handles"], rules=rules)
    if name == "prefix_match_1_gripper":
        with pytest.raises(errors.GraphError, match="'box0/h' matches no whole handle name"):
            make()
        return
    if not example["states"]:
        with pytest.raises(errors.GraphError, match="allow no set of grasps"):
            make().generate()
        return
    graph = make().generate()
    assert sorted([s.name, s.priority] for s in graph.states) == sorted(example["states"])
    assert sorted(t.name for t in graph.transitions if t.is_loop) == sorted(example["loops"])
    assert not [t for t in graph.transitions if t.inner]


def test_bad_rules_are_refused():
    """Bad input: a rule that matches nothing, and patterns that are none."""
    with pytest.raises(errors.GraphError, match="'box9/h0' matches no whole handle name"):
        factory(rules=(Rule([".*"], [".*"], False), Rule(["r0/gripper"], ["box9/h0"])))
    with pytest.raises(errors.OptionError, match=r"'\[' is not a regular expression"):
        Rule(["["], [".*"])
    with pytest.raises(errors.WrongObjectError, match="sequence of patterns"):
        Rule("r0/gripper", [".*"])


def test_unknown_names_are_refused():
    """Bad input: an unknown gripper, handle or surface."""
    robot = factory().robot
    semantics = read_semantics(
        robot,
        "<robot name='box'><handle name='h0'><position>0 0 0 1 0 0 0</position><link name='base_link'/></handle>"
        "</robot>",
        "box0",
    )
    make = functools.partial(ConstraintGraphFactory.from_semantics, robot, semantics)
    with pytest.raises(errors.UnknownNameError, match="gripper"):
        make(["r0/griper"], {"box0": (["box0/h0"], [])})
    with pytest.raises(errors.UnknownNameError, match=r"handle.*'box0/h1'.*box0/h0"):
        make([], {"box0": (["box0/h1"], [])})
    with pytest.raises(errors.UnknownNameError, match="surface"):
        make([], {"box0": (["box0/h0"], ["box0/bottom"])})
    with pytest.raises(errors.UnknownNameError, match="surface"):
        make([], {"box0": (["box0/h0"], [])}, ["table"])
    wrong: Any
    said = r"object 'box0'.* a pair \(handles, surfaces\), as \(\['box0/top'\]"  # was: no handle is named 'b'
    for wrong in (["box0/h0", "box0/h1"], ["box0/h0"], "ab", (["box0/h0"], "box0/h0"), 3):
        with pytest.raises(errors.WrongObjectError, match=said):
            make([], {"box0": wrong})


def test_the_surfaces_of_a_file_go_where_a_surface_goes():
    """Honest 24: `semantics.surfaces[name]`, a tuple, was refused among floors and objects."""
    given = factory()
    box, floor = given.objects[0], given.floors[0]
    again = MovableObject(box.name, box.handles, [tuple(box.surfaces)])  # pyright: ignore[reportArgumentType]
    assert again.surfaces == tuple(box.surfaces)
    made = ConstraintGraphFactory(given.robot, given.grippers, [again], [(floor,)])  # pyright: ignore[reportArgumentType]
    assert made.floors == (floor,)
    assert [one.name for one in made.generate().states] == [one.name for one in given.generate().states]
    function = ConvexShapeContact(given.robot, [(floor,)], [tuple(box.surfaces)])  # pyright: ignore[reportArgumentType]
    assert function.pairs == ConvexShapeContact(given.robot, floor, box.surfaces).pairs
    with pytest.raises(errors.WrongObjectError, match="a Surface, or a sequence of them"):
        ConvexShapeContact(given.robot, [(3,)], box.surfaces)  # pyright: ignore[reportArgumentType]


def test_one_object_is_placed_once():
    """Bad input: two placements of one object, in the factory and in a graph made by hand."""
    given = factory()
    box = given.objects[0]
    twin = MovableObject("lid", [Handle("lid/h", box.handles[0].frame)], box.surfaces)
    with pytest.raises(errors.GraphError, match=r"'box0' and 'lid'.*placed twice"):
        ConstraintGraphFactory(given.robot, given.grippers, [box, twin], given.floors)
    from constraints.manipulation import placement

    places = [placement(given.robot, name, box.surfaces, given.floors) for name in ("place_a", "place_b")]
    state = State("free", [places[0].constraint])  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.GraphError, match="'place_a' and 'place_b' both place 'box0/root_joint'"):
        ConstraintGraph(given.robot, [state], [], places)


def test_what_does_not_fit_together_is_refused():
    given = factory(boxes=2)
    box, other = given.objects
    with pytest.raises(errors.DuplicateNameError, match="box0/h0"):
        ConstraintGraphFactory(
            given.robot, given.grippers, [box, MovableObject("b", [Handle("box0/h0", other.handles[0].frame)])]
        )
    with pytest.raises(errors.GraphError, match="at least one handle"):
        MovableObject("b", [])
    with pytest.raises(errors.GraphError, match=r"is on joint 'box1/root_joint'.*expected 'box0/root_joint'"):
        MovableObject("b", [*box.handles, *other.handles])
    with pytest.raises(errors.GraphError, match="no floors"):
        ConstraintGraphFactory(given.robot, given.grippers, [box])
    with pytest.raises(errors.OptionError, match="preplacement_distance"):
        ConstraintGraphFactory(given.robot, given.grippers, [box], given.floors, preplacement_distance=-0.1)


def test_several_surfaces_make_variants():
    """Each pair of surfaces has its own explicit hold; the right one is taken from the start."""
    given = factory()
    robot, box = given.robot, given.objects[0]
    frame = robot.frame("box0/root_joint")
    turned = pin.SE3(pin.utils.rotate("y", np.pi / 2), np.zeros(3))
    bottom = np.array(record()["system"]["box"]["polygon"])
    side = Surface("box0/side", frame, bottom @ turned.rotation.T)
    shelf = Surface("shelf", robot.frame("table", pin.SE3(np.eye(3), np.array([0, 0, 0.3]))), given.floors[0].points)
    thing = MovableObject("box0", box.handles, [*box.surfaces, side])
    graph = ConstraintGraphFactory(robot, given.grippers, [thing], [*given.floors, shelf]).generate()
    place = next(f for f in graph.foliations if f.name == "place_box0")
    assert len(place.variants) == 4
    rng = np.random.default_rng(0)
    seen = set()
    for projection in graph.samples("free", rng, 40):
        q = projection.or_raise().q
        problem, rhs = graph.path_problem("Loop | f", q)
        explicit = next(iter(problem.explicits))
        assert isinstance(explicit, Explicit)
        assert problem.is_satisfied(q, rhs=rhs)
        pair = place.at(q).pair
        assert pair is not None
        assert str(pair.object) in str(graph.leaf_of(q))
        seen.add(pair)
        other = next(other for other in seen)
        if other != pair:
            assert place.variants[other].hold is not explicit
    assert len(seen) >= 3


def test_names_are_unique():
    a, b = State("a"), State("b")
    with pytest.raises(errors.DuplicateNameError, match="'a'"):
        ConstraintGraph(factory().robot, [a, State("a")], [])
    with pytest.raises(errors.DuplicateNameError, match="'go'"):
        ConstraintGraph(factory().robot, [a, b], [Transition("go", a, b, a), Transition("go", b, a, a)])
    with pytest.raises(errors.GraphError, match="needs the state 'c'"):
        ConstraintGraph(factory().robot, [a, b], [Transition("go", a, State("c"), a)])
    with pytest.raises(errors.GraphError, match="starts in 'b', expected 'a'"):
        Transition("go", a, b, a, inner=[Transition("on", b, b, b)])
