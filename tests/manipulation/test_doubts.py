"""Graphs made by hand with one thing wrong: an arm and a ball, which is placed or held."""

from __future__ import annotations

import logging
import pickle
import re
from typing import Any

import numpy as np
import pytest
from robots import needs_robot_data
from scenes import factory

from constraints import (
    Base,
    Comparison,
    ConvexShapeContact,
    Implicit,
    Part,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Surface,
    explicit_relative_pose,
)
from constraints.errors import GraphError, WrongObjectError
from constraints.manipulation import (
    ConstraintGraph,
    ConstraintGraphFactory,
    Foliation,
    Gripper,
    Handle,
    MovableObject,
    Rule,
    State,
    Transition,
    placement,
    preplacement,
)
from constraints.models import sample_arm
from constraints.planning import Limits, walk
from liegroups import R3xSO3

FIXED, FREE = [False, False, True, True, True, False], [True, True, False, False, False, True]
ROWS = [Comparison.EQUALITY if row else Comparison.EQUAL_TO_ZERO for row in FREE]


def ball_and_arm() -> Robot:
    ball = Robot.from_urdf("<robot name='ball'><link name='body'/></robot>", base=Base.FREE_FLYER)
    ball = ball.with_bounds({"root_joint": ([-0.5, -0.5, 0.0], [0.5, 0.5, 1.0])})
    return Robot.system([Part("arm", sample_arm()), Part("ball", ball)])


def made(
    *,
    keep: bool | None = True,
    zero: bool = False,
    height: float = 0.025,
    rows: Any = ROWS,
    foliation: bool = True,
    containing: bool = False,
    chain: bool = False,
    one_leaf: bool = False,
) -> ConstraintGraph:
    """The graph with something wrong; by default nothing."""
    robot = ball_and_arm()
    on = Pose(robot, "ball/body", robot.frame("universe", [0, 0, 0.025, 0, 0, 0, 1.0]), outputs=R3xSO3)
    placement = Implicit.zero(on, mask=FIXED, name="placement")
    complement = (Implicit.zero if zero else Implicit.equal)(on, mask=FREE, name="complement")
    ground = robot.frame("universe", [0, 0, height, 0, 0, 0, 1.0])
    hold = explicit_relative_pose(robot, ground, "ball/body", comparison=rows, name="hold")
    grasp = explicit_relative_pose(robot, "arm/tool", "ball/body", name="grasp")
    placed, held = State("placed", [placement]), State("held", [grasp], priority=1)
    kept = [hold] if keep is None else [complement] if keep else []
    transit = Transition("transit", placed, placed, held if containing else placed, kept)
    if chain:
        way = State("way", [placement], waypoint=True)
        parts = [Transition("out", placed, way, placed, [complement]), Transition("in", way, placed, placed, kept)]
        transit = Transition("transit", placed, placed, placed, inner=parts)
    transitions = [transit, Transition("transfer", held, held, held)]
    leaves = None if one_leaf else complement
    foliations = [Foliation("placement", placement, leaves, hold)] if foliation else []
    return ConstraintGraph(robot, [placed, held, *([way] if chain else [])], transitions, foliations)


def found(graph: ConstraintGraph) -> Any:
    rng = np.random.default_rng(0)
    q = graph.sample("placed", rng).or_raise().q
    return graph.target("transit", q, graph.robot.random(rng)), q


def test_a_graph_that_is_right_asks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    for chain in (False, True):
        graph = made(chain=chain)
        target, q = found(graph)
        assert target.success
        assert target.off == ""
        np.testing.assert_allclose(target.q[7:10], q[7:10], atol=1e-4)
        assert graph.questions == ()
        assert graph.validate(np.random.default_rng(3), 4).success
    assert made(keep=None, rows=Comparison.EQUALITY).questions == ()  # paths keep the whole pose
    assert made(keep=False, one_leaf=True).questions == ()
    assert not caplog.messages


@needs_robot_data
@pytest.mark.parametrize(
    "scene", [{}, {"arms": 2, "boxes": 2, "handles": 2}, {"arms": 2, "surfaces": False}, {"mask": "111011"}], ids=str
)
@pytest.mark.parametrize("option", [{}, {"preplace_guide": True, "empty_level_sets": True}], ids=str)
def test_graphs_of_the_factory_ask_nothing(scene: Any, option: Any) -> None:
    graph = factory(**scene, **option).generate()
    assert graph.questions == ()
    assert all(foliation.proven for foliation in graph.foliations)


def test_a_complement_that_is_forgotten_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """Mend: what users knew from pages only, number 113; and in one part of a transition through waypoints."""
    with caplog.at_level(logging.WARNING, "constraints"):
        graph = made(keep=False)
    words = (
        "transition 'transit': paths stay in 'placed', which has the constraint of foliation 'placement', but its "
        "complement 'complement' is not among the constraints of the transition: may what it holds move there?"
    )
    assert graph.questions == (words,)
    assert caplog.messages == [f"graph 'graph': {words}"]
    judged = graph.validate(np.random.default_rng(3), 3)
    assert judged.success
    assert judged.describe().endswith(f"no problem was found, but it is asked:\n{words}")
    assert made(keep=False, chain=True).questions == (words.replace("'transit'", "'in'"),)


def test_a_hold_that_is_not_equivalent_is_found() -> None:
    """Mend: what users knew from pages only, number 117: a target in no state was a success."""
    graph = made(height=0.05)
    target, _ = found(graph)
    assert target.projections[-1].success
    assert not target.success
    said = "paths of 'transit' cannot start there: 'hold' is off by 0.025; is 'hold', the hold of foliation 'placement'"
    assert target.off.startswith(said)
    assert said in str(target)
    judged = graph.validate(np.random.default_rng(3), 3)
    assert not judged.success
    assert said in judged.problems[0]
    walked = walk(graph, target.q_start, ["transit"], rng=np.random.default_rng(0), limits=Limits(sequences=1))
    assert said in walked.describe()
    rng, q = np.random.default_rng(0), target.q_start
    many = graph.targets("transit", np.array([q, q]), graph.robot.random(rng, 2))
    assert [each.success for each in many] == [False, False]
    swapped = made(rows=[Comparison.EQUAL_TO_ZERO if row else Comparison.EQUALITY for row in FREE])
    assert "'hold' is off by" in found(swapped)[0].off


def test_a_hold_that_leaves_more_free_is_found_where_the_target_is_elsewhere() -> None:
    """Mend: what users knew from pages only, number 117: rows that the hold does not count."""
    robot = ball_and_arm()
    on = Pose(robot, "ball/body", outputs=R3xSO3)
    placement, complement = Implicit.zero(on, mask=FIXED, name="stands"), Implicit.equal(on, mask=FREE, name="where")
    for mask, said in (([*FREE[:2], *FIXED[2:5], False], "leaf of its start"), (FREE, "it is not in 'placed'")):
        hold = Implicit(on, ROWS, mask=mask, name="hold")
        placed = State("placed", [placement])
        stays = Transition("transit", placed, placed, placed, [complement])
        graph = ConstraintGraph(robot, [placed], [stays], [Foliation("ground", placement, complement, hold)])
        target, _ = found(graph)
        assert not target.success
        assert said in target.off


def test_a_hold_with_one_leaf_is_refused() -> None:
    """Mend: what users knew from pages only, number 117."""
    with pytest.raises(GraphError, match=r"no right-hand side of its hold 'hold' may vary.*'complement' has many"):
        made(rows=[Comparison.EQUAL_TO_ZERO] * 6)
    foliation = made().foliations[0]
    assert pickle.loads(pickle.dumps(foliation)).proven is False
    with pytest.raises(WrongObjectError, match="proven of foliation 'x'"):
        Foliation("x", None, None, foliation.hold, proven=1)  # pyright: ignore[reportArgumentType]


def test_a_complement_that_tells_too_little_is_refused_or_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """Configurations of different leaves were the same leaf: of one that is fixed, and of one that lacks a row."""
    robot = ball_and_arm()
    on = Pose(robot, "ball/body", outputs=R3xSO3)
    stands = Implicit.zero(on, mask=FIXED, name="stands")
    hold = explicit_relative_pose(robot, None, "ball/body", comparison=ROWS, name="hold")
    with pytest.raises(GraphError, match=r"its complement 'where' is the same for all.*`Implicit.equal`, not `zero`"):
        Foliation("ground", stands, Implicit.zero(on, mask=FREE, name="where"), hold)
    placed = State("placed", [stands])

    def asked(where: Implicit, held: Any = hold) -> tuple[str, ...]:
        stays = Transition("stay", placed, placed, placed, [where])
        return ConstraintGraph(robot, [placed], [stays], [Foliation("ground", stands, where, held)]).questions

    reads_all = Implicit.equal(on, name="all rows are those of the start")
    whole, rows = Implicit.equal(on, mask=FREE, name="where"), [True, True, False, False, False, False]
    part_fixed = Implicit(on, [Comparison.EQUALITY] * 5 + [Comparison.EQUAL_TO_ZERO], mask=FREE, name="where")
    assert asked(whole) == asked(whole, reads_all) == asked(whole, Implicit(on, ROWS, name="implicit")) == ()
    assert not caplog.messages
    said = "foliation 'ground': its hold 'hold' keeps 1 row more of the start than its complement 'where' has, so `same"
    assert asked(Implicit.equal(on, mask=rows, name="where"))[-1].startswith(said)
    assert asked(part_fixed)[-1].startswith(said)
    assert len(caplog.messages) == 2


def test_a_configuration_elsewhere_has_no_leaf() -> None:
    """Off the state its parameters were read all the same; roundings, and a wide tolerance, are no matter."""
    graph = made()
    q = graph.sample("placed", np.random.default_rng(0)).or_raise().q
    high = np.array(q)
    high[9] += 0.2
    for where in ("placed", "transit"):
        said = r"no leaf in 'placed', where it is not: 'placement' is off by 0\.2"
        for wrong in (lambda w=where: graph.leaf_of(high, w), lambda w=where: graph.same_leaf(q, high, w)):
            with pytest.raises(GraphError, match=said):
                wrong()
        assert graph.same_leaf(q, high, where, tolerance=0.3)
        high[9] -= 0.2 - 5e-4
        assert graph.same_leaf(q, high, where, tolerance=1e-3)
        high[9] += 0.2 - 5e-4


def test_targets_that_are_all_in_a_state_of_higher_priority_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """A release by hand that never opens the hand: its targets are still held, for whoever asks."""
    robot = ball_and_arm()
    grasp = explicit_relative_pose(robot, "arm/tool", "ball/body", name="grasp")
    for priority, words in (
        (1, "all its targets are in 'held' too, of higher priority (1, 'free' has 0), so `state_of` never says 'free'"),
        (0, ""),
        (-1, ""),
    ):
        free, held = State("free"), State("held", [grasp], priority=priority)
        steps = [Transition("release", held, free, held), Transition("free", free, free, free)]
        graph = ConstraintGraph(robot, [free, held], steps)
        assert [each.startswith(f"transition 'release': {words}") for each in graph.questions] == [True] * bool(words)
    assert len(caplog.messages) == 1


def test_what_the_start_of_paths_has_not_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """Mend: what users knew from pages only, numbers 114 and 125."""
    graph = made(zero=True, foliation=False)
    assert "row 0 of 'complement' is the same for all configurations" in graph.questions[0]
    target, _ = found(graph)
    assert not target.success
    assert target.off.startswith("paths of 'transit' cannot start there: 'complement' is off by")
    graph = made(containing=True)
    asked = "transition 'transit': paths stay in 'held', whose 'grasp' the source 'placed' has not: can they start?"
    assert graph.questions == (asked,)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    judged = graph.validate(np.random.default_rng(3), 3)
    assert "no target of transition 'transit' was found (0 of 3; 3 at 'transit'): at best 'grasp' is off by" in str(
        judged
    )
    assert "`graph.target('transit', q, guess).projections[-1].diagnose()` says why" in judged.problems[0]
    assert str(judged).endswith(asked)


BOX = [[-0.05, -0.05, -0.05], [-0.05, 0.05, -0.05], [0.05, 0.05, -0.05], [0.05, -0.05, -0.05]]
TABLE = [[-0.6, -0.6, 0.0], [0.6, -0.6, 0.0], [0.6, 0.6, 0.0], [-0.6, 0.6, 0.0]]
ROOM = ([-1.0, -1.0, 0.0], [1.0, 1.0, 1.0])


def boxed(
    hand: str = "arm/tool",
    handle: str = "ball/body",
    table: Any = TABLE,
    bottom: Any = BOX,
    room: Any = ROOM,
    clearance: float = 0.05,
    grippers: int = 1,
    rules: Any = (),
    **options: Any,
) -> ConstraintGraphFactory:
    """A hand, and a box on a table."""
    robot = ball_and_arm().with_bounds({"ball/root_joint": room})
    things = [Gripper("hand", robot.frame(hand), clearance)] * grippers
    surfaces = [Surface("bottom", robot.frame(handle), bottom)]
    box = MovableObject("box", [Handle("box/top", robot.frame(handle), 0.05)], surfaces)
    floors = [Surface("table", robot.frame("universe"), table)]
    return ConstraintGraphFactory(robot, things, [box], floors, rules, **options)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, ()),
        ({"grippers": 0}, "there are handles, box/top, but no gripper: does an SRDF file lack"),
        (
            {"handle": "arm/elbow"},
            "handle 'box/top' of object 'box' is on joint 'arm/elbow', which carries the gripper hand: is it of the ob",
        ),
        ({"hand": "ball/body"}, "is on joint 'ball/root_joint', which carries the gripper hand"),
        ({"table": 1e3 * np.array([0.55, 0.35, 0.25]) + TABLE}, "'table' is 695.792 m out of the bounds of object 'bo"),
        ({"table": 1e3 * np.array(TABLE)}, "surface 'table' is 1697.06 m wide, and the bounds of object 'box' 3 m: is"),
        ({"table": 1e2 * np.array(TABLE)}, ()),
        ({"table": np.array([0.0, 2.0, 0.0]) + TABLE}, "0.4 m out of the bounds of object 'box': can nothing stand th"),
        ({"bottom": 1e3 * np.array(BOX)}, "a surface of object 'box' is 86.6025 m away from its origin, and its bound"),
        ({"hand": "arm/elbow", "clearance": 0.9}, "clearance 0.9 m of gripper 'hand', where gripper 'hand' reaches"),
        ({"clearance": 50.0}, "clearance 50 m of gripper 'hand', where gripper 'hand' reaches"),
        (
            {"table": np.array([0.0, 5.0, 0.0]) + TABLE, "room": ([-9.0, -9.0, 0.0], [9.0, 9.0, 1.0])},
            "surface 'table' is further away than a gripper reaches",
        ),
        ({"room": 1e3 * np.array(ROOM)}, "the bounds of object 'box' are 3000 m across, and grippers reach 1.31 m"),
        ({"preplacement_distance": 50.0}, "preplacement_distance is 50 m, where grippers reach 1.31 m"),
        ({"preplacement_distance": 0.5, "margin": 0.1}, ()),
        ({"rules": [Rule(["hand"], ["box/top"])]}, "the rules leave no take and no release: they refuse 'free', in wh"),
        ({"rules": [Rule(["hand"], [""])]}, "no take and no release: no two sets of grasps that they allow differ by"),
        ({"rules": [Rule(["hand"], ["box/top"]), Rule([".*"], [""])]}, ()),
        ({"rules": [Rule(["hand"], ["box/top"]), Rule([".*"], [".*"])]}, ()),
    ],
)
def test_what_nobody_can_do_in_a_scene_is_asked_about(
    wrong: dict[str, Any], said: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Mend: what users knew from pages only, numbers 100, 103, 105, 106."""
    with caplog.at_level(logging.WARNING, "constraints"):
        graph = boxed(**wrong).generate()
    if not said:
        assert not caplog.messages
        assert graph.questions == ()
        return
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("graph factory 'graph': ")
    assert said in caplog.messages[0]
    assert said in graph.questions[0]
    assert caplog.messages[0].endswith("?")
    assert graph.questions[0] in graph.validate(np.random.default_rng(0), 1).describe()


def test_placements_without_a_factory_are_asked_about_too(caplog: pytest.LogCaptureFixture) -> None:
    """A table whose vertices run clockwise, a bottom that looks into its box, a margin in millimetres: once each."""
    robot = ball_and_arm()

    def surfaces(table: Any, bottom: Any) -> tuple[Surface, Surface]:
        return Surface("table", robot.frame("universe"), table), Surface("bottom", robot.frame("ball/body"), bottom)

    def put(table: Surface, bottom: Surface, margin: float = 1e-4) -> list[str]:
        caplog.clear()
        for _ in range(2):
            placement(robot, "put", bottom, table, margin)
            ConvexShapeContact(robot, table, bottom)
            preplacement(robot, "above", bottom, table, 0.5)
        return list(caplog.messages)

    table, bottom = surfaces(TABLE, BOX)
    assert put(table, bottom) == put(table, bottom, 0.1) == []
    assert put(table, bottom, 1.0) == [
        "margin of 'put' is 1 m, and its surfaces are 0.141 m wide: does it float there, or is it in millimetres?"
    ]
    down, into = surfaces(TABLE[::-1], BOX[::-1])
    [first, second] = put(down, into)
    assert "its normal points down, so objects hang below it; the vertices of a table must be counter-clock" in first
    assert "its normal points into object 'ball/root_joint', whose origin is on that side" in second
    assert put(down, into) == []
    carried = Surface("tray", robot.frame("arm/tool"), TABLE[::-1])
    assert put(carried, bottom) == []


def test_bounds_of_a_free_body_are_named_with_their_coordinate() -> None:
    """Mend: what users knew from pages only, numbers 100 and 172."""
    robot = ball_and_arm()
    assert robot.bounds.name_of(0) == robot.joint_names[0]
    up = Implicit.equal(Position(robot, "ball/body"), [0.1, 0.2, 1.5], name="up")
    found = Projector(Problem(robot, [up])).project(robot.neutral)
    assert "ball/root_joint[2] at its upper bound" in found.active_bounds
    assert "ball/root_joint[2] at its upper bound" in found.describe()
    out = robot.neutral.copy()
    out[8] = 2.0
    assert str(robot.bounds.violations(out)[-1]) == "'ball/root_joint[1]' 1.5 m above its bound"
    graph = ConstraintGraph(robot, [State("up", [Implicit.between(up.function, [0.1, 0.2, 1.5], [0.1, 0.2, 1.6])])], [])
    [problem] = graph.validate(np.random.default_rng(0), 2).problems
    said = (
        r"state 'up' was never reached \(0 of 2\): at best .* is off by 0.5; `graph.sample\('up', rng\).diagnose\(\)`"
    )
    assert re.match(said, problem)
