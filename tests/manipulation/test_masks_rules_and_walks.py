"""Parts of manipulation each for itself: tags, masks, polygons, rules, networks, targets and errors in words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from corners import held
from robots import arm

from constraints import Affine, Base, Implicit, Options, Part, Projector, Robot, Status, Surface
from constraints.errors import FileError, GraphError, OptionError, SizeError, WrongObjectError
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
    read_semantics,
)
from constraints.manipulation.factory.polygon_repair import repaired
from constraints.manipulation.factory.rules import check_rules, is_allowed
from constraints.manipulation.graph_errors import GraphErrors
from constraints.manipulation.targets import TargetConfiguration
from constraints.manipulation.validation import Rate, Validation

LINK = "<link name='base_link'/>"


def box() -> Robot:
    return Robot.from_urdf("<robot name='box'><link name='base_link'/></robot>", base=Base.FREE_FLYER)


def read(*tags: str) -> Any:
    return read_semantics(box(), f"<robot name='box'>{''.join(tags)}</robot>")


# Tags.


@pytest.mark.parametrize(
    ("position", "xyz", "turn"),
    [
        ("<position>1 2 3 1 0 0 0</position>", [1, 2, 3], [0, 0, 0, 1]),
        ("<position>1 2 3 0.6 0 0 0.8</position>", [1, 2, 3], [0, 0, 0.8, 0.6]),
        ("<position xyz='1 2 3'/>", [1, 2, 3], [0, 0, 0, 1]), ("<position/>", [0, 0, 0], [0, 0, 0, 1]),
        ("<position wxyz='0.6 0.8 0 0'/>", [0, 0, 0], [0.8, 0, 0, 0.6]),
        ("<position xyzw='0.6 0.8 0 0' xyz='0 0 1'/>", [0, 0, 1], [0.6, 0.8, 0, 0]),
        ("<position rpy='0 0 1.5707963267948966'/>", [0, 0, 0], [0, 0, 0.5**0.5, 0.5**0.5]),
        ("<position xyzw='0 0 0 1.0009'/>", [0, 0, 0], [0, 0, 0, 1]),
    ],
)  # fmt: skip
def test_positions(position: str, xyz: list[float], turn: list[float]) -> None:
    found = read(f"<gripper name='g' clearance='0.25'>{position}{LINK}</gripper>").grippers["g"]
    np.testing.assert_allclose(found.frame.placement.translation, xyz, atol=1e-12)
    np.testing.assert_allclose(
        found.frame.placement.rotation, pin.Quaternion(np.array(turn, float)).matrix(), atol=1e-12
    )
    assert found.clearance == 0.25
    assert read(f"<gripper name='g'>{position}{LINK}</gripper>").grippers["g"].clearance == 0.0


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("<gripper name='g'><position>1 2 3 1 0 0</position>@</gripper>", "found 6"),
        ("<gripper name='g'><position>1 2 3 1 0 0 0 0</position>@</gripper>", "found 8"),
        ("<gripper name='g'><position xyz='1 2 3'>1 2 3 1 0 0 0</position>@</gripper>", "found both"),
        ("<gripper name='g'><position xyzw='0 0 0 1' rpy='0 0 0'/>@</gripper>", "only one of xyzw, rpy may be given"),
        ("<gripper name='g'><position xyz='1 2'/>@</gripper>", "xyz needs 3 numbers, got 2"),
        ("<gripper name='g'><position rpy='1 2'/>@</gripper>", "rpy needs 3 numbers, got 2"),
        ("<gripper name='g'><position xyzw='1 2 3'/>@</gripper>", "xyzw needs 4 numbers, got 3"),
        ("<gripper name='g'><position xyzw='0 0 0 1.0011'/>@</gripper>", "the quaternion has norm 1.001, it must be 1"),
        ("<gripper name='g' clearance='1 2'><position/>@</gripper>", "needs 1 number, got 2"),
        ("<gripper name='g' clearance=''><position/>@</gripper>", "needs 1 number, got 0"),
        ("<gripper name='g'><position/><position/>@</gripper>", "expected one <position>, found 2"),
        ("<gripper name='g'>@</gripper>", "expected one <position>, found 0"),
        ("<gripper name='g'><position/></gripper>", "expected one <link>, found 0"),
        ("<gripper name='g'><position/><link name='other'/></gripper>", "other"),
        ("<gripper><position/>@</gripper>", "a <gripper> has no name"),
        ("<gripper name='g' colour='1'><position/>@</gripper>", "is not understood; expected name, clearance"),
        ("<handle name='h' mask='1 1 1 1 1 0'><position/>@</handle>", "`mask` is a tag: `<mask>1 1 1 1 1 0</mask>`"),
        ("<contact name='c'>@<point axis='1'>0 0 0</point><shape>1 0</shape></contact>", "expected none"),
        ("<handle name='h'><position/>@<mask>1 1 1 1 1</mask></handle>", "<mask> takes 6 truth values, found 5"),
        ("<handle name='h'><position/>@<mask>1 1 1 1 1 2</mask></handle>", "'2' is not a truth value; expected one"),
        ("<handle name='h' approaching_direction='1 0'><position/>@</handle>", "needs 3 numbers, got 2"),
        ("<handle name='h' approaching_direction='1 0 0'><position/>@<approaching_direction>1 0 0</approaching_direction>"  # noqa: E501
         "</handle>", "must be given only once"),
        ("<contact name='c'>@<point>0 0 0 1</point><shape>3 0 1 2</shape></contact>", "numbers per vertex, found 4"),
        ("<contact name='c'>@<point></point><shape>3 0 1 2</shape></contact>", "numbers per vertex, found 0"),
        ("<contact name='c'>@#</contact>", "expected a <shape> or <triangle>"),
        ("<contact name='c'>@#<shape>3 0 1 3</shape></contact>", "vertex 3 does not exist, "
         "expected indices up to 2"),
        ("<contact name='c'>@#<shape>4 0 1 2</shape></contact>", "a shape of 4 vertices has "
         "only 3 indices"),
        ("<contact name='c'>@#<triangle>0 1 2 0</triangle></contact>", "three indices each, "
         "found 4"),
        ("<contact name='c'>@#<shape>3 0 1 -1</shape></contact>", "whole numbers from 0"),
        ("<contact name='c'>@#<shape>3 0 1 1.5</shape></contact>", "whole numbers from 0"),
    ],
)  # fmt: skip
def test_tags_that_are_not_understood(tag: str, said: str) -> None:
    with pytest.raises(FileError) as caught:
        read(tag.replace("@", LINK).replace("#", "<point>0 0 0 1 0 0 0 1 0</point>"))
    assert said in str(caught.value)


def test_names_are_once_a_kind() -> None:
    gripper, handle = (f"<{kind} name='g'><position/>{LINK}</{kind}>" for kind in ("gripper", "handle"))
    both = read(gripper, handle)
    assert (list(both.grippers), list(both.handles)) == (["g"], ["g"])
    with pytest.raises(FileError, match="another one has this name"):
        read(gripper, gripper)
    plain = both.handles["g"]
    assert plain.direction.tolist() == [1, 0, 0]
    assert (plain.rows.tolist(), plain.free_rows.tolist()) == ([True] * 6, [False] * 6)
    masks = "<mask>1 true True 0 false FALSE</mask><mask_complement>0 0 0 0 1 0</mask_complement>"
    tag = f"<handle name='h' approaching_direction='0 -2 0'><position/>{LINK}{masks}</handle>"
    side = read(tag).handles["h"]
    assert side.direction.tolist() == [0.0, -1.0, 0.0]
    assert (side.rows.tolist(), side.free_rows.tolist()) == ([True] * 3 + [False] * 3, [False] * 4 + [True, False])
    tagged = f"<handle name='h'><position/>{LINK}<approaching_direction>0 0 3</approaching_direction></handle>"
    assert read(tagged).handles["h"].direction.tolist() == [0.0, 0.0, 1.0]


def test_polygons_of_a_contact() -> None:
    points = "<point>0 0 0  1 0 0  1 1 0  0 1 0  0 0 1</point>"
    found = read(
        f"<contact name='c'>{LINK}{points}<shape>4 0 1 2 3 3 0 1 4</shape><triangle>0 4 3 1 2 4</triangle></contact>"
    )
    faces = found.surfaces["c"]
    assert [face.name for face in faces] == ["c 0", "c 1", "c 2", "c 3"]
    assert [len(face.polygon) for face in faces] == [4, 3, 3, 3]
    (one,) = read(f"<contact name='c'>{LINK}{points}<shape>3 0 1 2</shape></contact>").surfaces["c"]
    assert one.name == "c"
    assert found.notes == ()
    told = read(
        f"<contact name='c'>{LINK}{points}<shape>5 0 0 1 2 3</shape></contact>", "<colour/>", "<colour/>", "<paint/>"
    )
    assert told.notes[0].endswith("surface 'c': vertex 1 repeats a neighbour: left out")
    assert told.notes[1].endswith("ignored, because they are not about grasps and placements: <colour> (2), <paint>")
    both = told | found
    assert both.surfaces["c"] is found.surfaces["c"]
    assert (told | told).notes == told.notes


def test_what_is_inside_stray_tags_is_counted() -> None:
    inside = "<gripper name='a'/><handle name='b'/>"
    (note,) = read(f"<extra>{inside}</extra>", f"<gripper name='g'><position/>{LINK}<paint/><paint/></gripper>").notes
    assert note.endswith(": <extra>, <gripper> inside <extra>, <handle> inside <extra>, <paint> of <gripper> (2)")
    (note,) = read("<gripper name='g'><position/><link name='base_link' object='x'/></gripper>").notes
    assert note.endswith("attribute 'object' of <link>")
    (note,) = read(f"<gripper name='g'><local_position>1 0 0 1 0 0 0</local_position>{LINK}</gripper>").notes
    assert note.endswith("gripper 'g': <local_position> is read as <position>")


# Grippers, handles, polygons, rules.


@pytest.mark.parametrize(
    "mask", [[1, 1, 1, 0, 0, 1], (True, True, True, False, False, True), np.array([1, 1, 1, 0, 0, 1])]
)
def test_masks_of_handles(mask: Any) -> None:
    frame = box().frame("base_link")
    with pytest.raises(OptionError, match="expected 0, 2 or 3 rotation rows, got 1"):
        Handle("h", frame, mask=mask)
    fine = np.array(mask)
    fine[4] = 1
    handle = Handle("h", frame, mask=fine)
    assert handle.rows.tolist() == [True, True, True, False, True, True]
    assert handle.free_rows.tolist() == [False, False, False, True, False, False]
    assert Handle("h", frame, mask=[1, 1, 1, 0, 0, 0]).free_rows.tolist() == [False] * 3 + [True] * 3
    for array in (handle.rows, handle.free_rows, handle.direction):
        assert not array.flags.writeable
    with pytest.raises(OptionError, match=r"complement of handle 'h': rows \[1\] are in the mask too"):
        Handle("h", frame, mask=fine, complement=[0, 1, 0, 1, 0, 0])


def test_gripper_and_handles_refuse_what_they_are_not() -> None:
    frame = box().frame("base_link")
    for wrong in ([1.0] * 6, [1, 1, 1, 1, 1, 2], [0, 0, 0, 0, 0, -1], ["1"] * 6, [[1], [1, 0]], None):
        with pytest.raises(WrongObjectError, match="mask of handle 'h': expected six truth values"):
            Handle("h", frame, mask=wrong)  # type: ignore[arg-type]
    with pytest.raises(SizeError, match="mask of handle 'h'"):
        Handle("h", frame, mask=[1] * 5)
    with pytest.raises(OptionError, match="expected a direction, got a vector of length 9e-10"):
        Handle("h", frame, approach=[9e-10, 0.0, 0.0])
    assert Handle("h", frame, approach=[0.0, 1.1e-9, 0.0]).direction.tolist() == [0.0, 1.0, 0.0]
    assert (Handle("h", frame).clearance, Gripper("g", frame).clearance) == (0.0, 0.0)
    for kind in (Gripper, Handle):
        with pytest.raises(OptionError, match="clearance of"):
            kind("g", frame, -0.1)


SQUARE = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0]])


def test_polygons_are_repaired_by_their_size() -> None:
    """Half the size is 1: vertices 1e-6 apart are one, vertices up to 1e-2 off are moved onto the plane."""
    assert repaired(SQUARE).notes == ()
    for far, kept in ((0.9e-6, 4), (2e-6, 5)):
        extra = np.insert(SQUARE, 2, SQUARE[1] + [0.0, far, 0.0], axis=0)
        points, notes = repaired(extra)
        assert len(points) == kept
        assert notes == (() if kept == 5 else ("vertex 2 repeats a neighbour: left out",))
    closed = np.vstack((SQUARE, SQUARE[:1], SQUARE[:1]))
    points, notes = repaired(closed)
    np.testing.assert_array_equal(points, SQUARE)
    assert notes == ("vertices 4, 5 repeat a neighbour: left out",)
    for scale in (0.01, 1.0, 300.0):
        bent = scale * (SQUARE + np.array([0.0, 0.0, 1.0]) * 0.005 * np.array([[1.0], [-1.0], [1.0], [-1.0]]))
        points, notes = repaired(bent)
        np.testing.assert_allclose(points, scale * SQUARE, atol=1e-12 * scale)
        assert notes == (f"vertices up to {0.005 * scale:.2g} m off their plane are moved onto it",)
    worse = SQUARE + np.array([0.0, 0.0, 0.011]) * np.array([[1.0], [-1.0], [1.0], [-1.0]])
    points, notes = repaired(worse)
    np.testing.assert_array_equal(points, worse)
    assert notes == ()
    line = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    points, notes = repaired(line)
    np.testing.assert_array_equal(points, line)
    assert notes == ()


def test_rules_are_asked_in_order() -> None:
    one, none = Rule(["left"], ["cup.*"]), Rule([".*"], [""], False)
    assert one.allowed
    assert one.is_about(["left", "right"], {"left": "cup1", "right": "pan"})
    assert not one.is_about(["left"], {"left": "a cup1"})
    assert not one.is_about(["left"], {})
    assert one.is_about(["right"], {})
    both = Rule(["l.*", "left"], ["c.*", ".*p"])
    assert both.is_about(["left"], {"left": "cup"})
    assert not both.is_about(["left"], {"left": "can"})
    assert is_allowed([], ["left"], {})
    assert is_allowed([one, none], ["left"], {"left": "cup"})
    assert not is_allowed([none, one], ["left"], {})
    assert not is_allowed([one], ["left"], {"left": "pan"})
    check_rules([one, none], ["left"], ["cup"])
    with pytest.raises(GraphError, match=r"rule 1: 'up' matches no whole handle name; there are cup"):
        check_rules([one, Rule(["left"], ["up"])], ["left"], ["cup"])
    with pytest.raises(GraphError, match=r"rule 0: 'lef' matches no whole gripper name; there are left, right"):
        check_rules([Rule(["lef"], [""])], ["left", "right"], ["cup"])
    with pytest.raises(SizeError, match="handles of a rule: expected size 1, received 2"):
        Rule(["left"], ["cup", "pan"])


# Graphs by hand.


def corner() -> tuple[ConstraintGraph, dict[str, Any]]:
    """Two sides that meet at a corner: joint 0 at 0.1, joint 1 at 0.2; through the corner from one to the other."""
    first, second = held(0, 0.1), held(1, 0.2)
    a, b, both = State("a", [first]), State("b", [second]), State("both", [first, second], waypoint=True)
    loops = [Transition(f"stay in {s}", s, s, s, weight=w) for s, w in ((a, 3), (b, 0))]
    there = Transition(
        "a to b", a, b, a, inner=[Transition("in", a, both, a, weight=-1), Transition("out", both, b, b, short=True)]
    )
    back = Transition("b to a", b, a, b, weight=2)
    hidden = Transition("hidden", a, b, a, weight=-1)
    graph = ConstraintGraph(arm(), [a, b, both], [*loops, there, back, hidden], name="corner")
    return graph, {"a": a, "b": b, "both": both, "there": there, "back": back}


def test_a_graph_in_words_and_for_graphviz() -> None:
    graph, _ = corner()
    assert graph.describe().splitlines()[1:] == [
        "state 'a' (priority 0): 'joint 0 at 0.1'",
        "  'stay in a' stays (weight 3), paths in 'a'",
        "  'a to b' to 'b' (weight 1), paths in 'a'",
        "    'in' to 'both' (weight -1), paths in 'a'",
        "    'out' to 'b' (weight 1), paths in 'b', short",
        "  'hidden' to 'b' (weight -1), paths in 'a'",
        "state 'b' (priority 0): 'joint 1 at 0.2'",
        "  'stay in b' stays (weight 0), paths in 'b'",
        "  'b to a' to 'a' (weight 2), paths in 'b'",
        "waypoint state 'both': 'joint 0 at 0.1', 'joint 1 at 0.2'",
    ]
    assert graph.to_dot().splitlines() == [
        'digraph "corner" {', "  rankdir=LR;", "  node [fontsize=10]; edge [fontsize=8];",
        '  "a" [shape=ellipse, label="a\\njoint 0 at 0.1"];', '  "b" [shape=ellipse, label="b\\njoint 1 at 0.2"];',
        '  "both" [shape=box, style=rounded, fontsize=8];', '  "a" -> "a" [label="stay in a", style=solid];',
        '  "b" -> "b" [label="stay in b", style=solid];', '  "b" -> "a" [label="b to a", style=solid];',
        '  "a" -> "b" [label="hidden", style=solid];', '  "a" -> "both" [label="in", style=solid];',
        '  "both" -> "b" [label="out", style=dotted];', "}",
    ]  # fmt: skip


def test_transitions_are_chosen_by_weight_and_found_by_length() -> None:
    graph, parts = corner()
    rng = np.random.default_rng(0)
    counts = Counter(str(graph.choose("a", rng)) for _ in range(400))
    assert set(counts) == {"stay in a", "a to b"}
    assert counts["stay in a"] == pytest.approx(300, abs=30)
    assert {str(graph.choose("b", rng)) for _ in range(30)} == {"b to a"}
    assert repr(parts["there"]) == "Transition('a to b': 'a' to 'b', 2 inner transitions)"
    assert repr(graph.transition("out")) == "Transition('out': 'both' to 'b', short)"
    assert repr(graph.transition("stay in a")) == "Transition('stay in a': stays in 'a')"
    assert not parts["there"].is_loop
    assert not parts["there"].is_level_set
    ends = parts["a"], parts["b"]
    lonely = ConstraintGraph(arm(), ends, [Transition("x", *ends, ends[0], weight=0)])
    with pytest.raises(GraphError, match="no transition of positive weight leaves the state 'a'"):
        lonely.choose("a", rng)
    a, b, both = (parts[name] for name in ("a", "b", "both"))
    for inner, said in (
        ([Transition("i", b, a, a)], "'i' starts in 'b', expected 'a'"),
        ([Transition("i", a, both, a)], "end in 'both', expected 'b'"),
        ([parts["there"]], "'a to b' must not lead through waypoints itself"),
    ):
        with pytest.raises(GraphError, match=said):
            Transition("whole", a, b, a, inner=inner)


def test_leaves_are_said_by_name() -> None:
    _, parts = corner()
    a, b = parts["a"], parts["b"]
    with pytest.raises(TypeError):
        Transition("x", a, b, a, (), 1, False, (), [])  # type: ignore[misc] # pyright: ignore
    assert Transition("x", a, b, a, (), 1, False, (), condition=[]).is_level_set


def test_the_help_of_plot_lists_its_arguments() -> None:
    """Stumble 11: the help pointed to a page that one cannot open."""
    words = str(ConstraintGraph.plot.__doc__)
    assert all(f"`{name}`" in words for name in ("path", "ax", "waypoints"))
    assert "arguments as in" not in words


def test_waypoints_are_drawn_unless_they_are_left_out() -> None:
    graph, _ = corner()
    draws: Any = graph.plot
    drawn, said, bare = (len(draws(**given).axes[0].texts) for given in ({}, {"waypoints": True}, {"waypoints": False}))
    assert drawn == said > bare


def test_a_state_has_what_is_within_its_threshold_to_the_last_bit() -> None:
    """A residual of the threshold itself is in; the next number is not; of two states the first asked has it."""
    graph, parts = corner()
    q = arm().neutral.copy()
    threshold = graph.threshold
    row = Affine(np.eye(1, arm().nv), [0.0], arm().space)
    zero = State("zero", [Implicit.zero(row, name="zero")])
    exact = ConstraintGraph(arm(), [zero], [Transition("stay", zero, zero, zero)])
    for value, inside in ((threshold, True), (np.nextafter(threshold, 1.0), False), (-threshold, True)):
        q[0] = value
        assert exact.contains(zero, q) == inside
        if inside:
            assert exact.state_of(q) is zero
        else:
            with pytest.raises(GraphError, match="'zero'"):
                exact.state_of(q)
    q[:2] = [0.1, 0.2]
    assert graph.state_of(q) is parts["a"]
    q[0] = 0.3
    assert graph.state_of(q) is parts["b"]
    assert not graph.contains(parts["both"], q)
    with pytest.raises(GraphError, match="is not in the state 'a'"):
        graph.target("a to b", q, q)


def test_targets_through_waypoints() -> None:
    """Each inner transition ends in its state; what is short starts where the last one ended; thresholds are shared."""
    graph, parts = corner()
    rng = np.random.default_rng(3)
    q, guess = arm().random(rng), arm().random(rng)
    q[0] = 0.1
    found = graph.target("a to b", q, guess)
    assert found.success
    assert found.attempts == 1
    assert len(found.waypoints) == len(found.projections) == 2
    assert found.failed_at is None
    assert found.or_raise() is found
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.waypoints[0][:2], [0.1, 0.2], atol=5e-5)
    assert found.q[1] == pytest.approx(0.2, abs=5e-5)
    assert str(found).startswith("target of 'a to b' after 1 guess: ")
    assert graph.contains(parts["b"], found.q)
    assert not parts["there"].short
    lines = found.describe().splitlines()
    assert lines[1].startswith("  'in' to 'both': CONVERGED, residual ")
    assert lines[2].startswith("  'out' to 'b': CONVERGED, residual ")
    assert lines[3] == "  at the last configuration, on 'a to b':"


def test_the_leaf_of_a_state_is_that_of_its_loop_or_of_its_own_constraints() -> None:
    """A loop keeps the complements among its constraints; without one, those of what the state satisfies count."""
    robot = arm()
    lines = [held(0, 0.1), held(1, 0.2)]
    wheres = [Implicit.equal(Affine([np.eye(7)[i]], inputs=robot.space), name=f"where {i}") for i in (2, 3)]
    holds = [Implicit.equal(Affine(np.eye(7)[[i, i + 2]], inputs=robot.space), name=f"hold {i}") for i in (0, 1)]
    foliations = [Foliation(f"line {i}", *parts) for i, parts in enumerate(zip(lines, wheres, holds, strict=True))]
    a, b, both = State("a", [lines[0]]), State("b", [lines[1]]), State("both", lines, waypoint=True)
    there, stays = Transition("there", a, b, a), Transition("stay in a", a, a, a, [wheres[0]])
    chosen = Transition("elsewhere in a", a, a, a, [wheres[1]], condition=[], parameters=[wheres[0]])
    graph = ConstraintGraph(robot, [a, b, both], [there, chosen, stays], foliations)
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    for where, names, values in (
        ("a", ["line 0"], [0.3]), (b, ["line 1"], [0.4]), ("both", ["line 0", "line 1"], [0.3, 0.4]),
        ("stay in a", ["line 0"], [0.3]), (there, [], []),
        ("elsewhere in a", ["line 1"], [0.4]),
    ):  # fmt: skip
        leaf = graph.leaf_of(q, where)
        assert [f.name for f in leaf.foliations] == names
        np.testing.assert_allclose(leaf.rhs.vector, values)
        assert str(leaf) == ("; ".join(f"{n}: [{v:g}]" for n, v in zip(names, values, strict=True)) or "the only leaf")
        assert repr(leaf) == f"Leaf of {', '.join(map(repr, names)) or 'no foliation'}"
        off = q + 0.01 * np.eye(7)[3]
        assert graph.same_leaf(q, off, where) == ("line 1" not in names)
        assert graph.same_leaf(q, off, where, tolerance=0.011)


EDGES = np.array([[-0.1, -0.1, 0.0], [-0.1, 0.1, 0.0], [0.1, 0.1, 0.0], [0.1, -0.1, 0.0]])


@pytest.mark.parametrize("mass", [0.0, 0.5])
@pytest.mark.parametrize("height", [-0.3, -0.1, 0.0, 0.2])
def test_surfaces_that_look_the_wrong_way_are_warned_of(
    mass: float, height: float, caplog: pytest.LogCaptureFixture
) -> None:
    """A bottom that looks at the middle of its object: its centre of mass, or its origin where it has no mass."""
    inertial = (
        f"<inertial><mass value='{mass}'/><origin xyz='0 0 -0.2'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    )
    text = f"<robot name='box'><link name='base_link'>{inertial if mass else ''}</link></robot>"
    thing = Robot.from_urdf(text, base=Base.FREE_FLYER)
    robot = Robot.system([Part("arm", arm()), Part("box", thing)])
    frame, hand = robot.frame("box/base_link"), Gripper("hand", robot.frame("arm/tool"))
    middle = -0.2 if mass else 0.0
    table = Surface("table", robot.frame("universe"), 9.0 * EDGES[::-1])
    for points, looks_up in ((EDGES, False), (EDGES[::-1], True)):
        bottom = Surface("bottom", frame, points + np.array([0.0, 0.0, height]))
        ConstraintGraphFactory(robot, [hand], [MovableObject("box", [Handle("h", frame)], [bottom])], [table])
        into = height < middle if looks_up else height > middle
        what = "centre of mass" if mass else "origin"
        told = [
            f"its normal points into object 'box', whose {what} is on that side" in said for said in caplog.messages
        ]
        assert told == [True] * into
        caplog.clear()


@pytest.mark.parametrize(("angle", "told"), [(0.0, False), (1.57, False), (2.08, False), (2.11, True), (3.1, True)])
def test_floors_that_look_down_are_warned_of(angle: float, told: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Of the world: below a sixth of a turn under the horizon; what a robot carries may look where it likes."""
    robot = Robot.system([Part("arm", arm()), Part("box", box())])
    frame, hand = robot.frame("box/base_link"), Gripper("hand", robot.frame("arm/tool"))
    corners = EDGES[::-1] @ pin.utils.rotate("x", angle).T
    bottom = Surface("bottom", frame, EDGES - [0.0, 0.0, 0.1])
    for carrier in ("universe", "arm/tool"):
        floor = Surface("table", robot.frame(carrier), corners)
        ConstraintGraphFactory(robot, [hand], [MovableObject("box", [Handle("h", frame)], [bottom])], [floor])
        assert ["its normal points down" in said for said in caplog.messages] == [True] * (
            told and carrier == "universe"
        )
        caplog.clear()


def test_targets_that_fail_say_after_how_many_guesses() -> None:
    robot = arm()
    never = Implicit.zero(Affine(np.zeros((1, robot.nv)), [1.0], robot.space), name="never")
    a, b = State("a", [held(0, 0.1)]), State("b", [never])
    mid = State("mid", [held(0, 0.1), held(1, 0.2)], waypoint=True)
    plain = Transition("plain", a, b, a)
    via = Transition("via", a, b, a, inner=[Transition("one", a, mid, a), Transition("two", mid, b, a)])
    short = Transition("short", a, b, a, short=True)
    graph = ConstraintGraph(
        robot, [a, b, mid], [plain, via, short], options=Options(max_iterations=3, restarts=False), attempts=4
    )
    q = robot.neutral.copy()
    q[0] = 0.1
    for name, guesses, tried in (("plain", 4, 1), ("via", 4, 2), ("short", 1, 1)):
        found = graph.target(name, q, q)
        assert not found.success
        assert (found.attempts, len(found.projections)) == (guesses, tried)
        assert found.status is found.projections[-1].status is not Status.CONVERGED
        assert found.q is found.projections[-1].q
        assert all(p.success for p in found.projections[:-1])
        assert str(found.failed_at) == ("two" if name == "via" else name)
        assert f"(at '{found.failed_at}') after {guesses} guess{'es' * (guesses > 1)}: " in str(found)
    good = Projector(graph.problem_of(a)).project(q)
    leaf = TargetConfiguration(plain, q, (good,), 2, False)
    assert ", but not on the leaf that was chosen: " in str(leaf)
    assert "  'two': not tried" in TargetConfiguration(via, q, (good,), 2).describe()


# Words.


def test_errors_of_a_configuration_in_words() -> None:
    """States by the threshold, transitions by half of it; a number that is the limit is satisfied."""
    graph, _ = corner()
    errors = GraphErrors({"a": {"x": 0.2, "y": 0.3}, "b": {"x": 0.2}}, {"t": {"x": 0.1, "y": 0.125}, "u": {}}, 0.2)
    assert str(errors).splitlines() == [
        "state 'a': 'y' off by 0.3", "state 'b': satisfied", "transition 't': 'y' off by 0.125",
        "transition 'u': satisfied",
    ]  # fmt: skip
    q = arm().neutral.copy()
    q[0] = 0.1
    found = graph.errors(q, q)
    assert found.states["a"] == {"joint 0 at 0.1": pytest.approx(0.0, abs=1e-15)}
    assert found.states["b"] == {"joint 1 at 0.2": pytest.approx(0.2)}
    assert set(found.transitions) == {"stay in a", "in", "hidden"}


def test_a_validation_in_words() -> None:
    """Never, rarely below a tenth, hidden, not tried, not found; else nothing is wrong."""
    states = {"a": Rate(0, 5), "b": Rate(1, 11), "c": Rate(1, 10), "d": Rate(1, 1)}
    found = Validation(states, {"c": "d"}, {"t": Rate(0, 0), "u": Rate(0, 2), "v": Rate(1, 2)},
                       {"t": {}, "u": {"u_01": 2}, "v": {"v_01": 1}})  # fmt: skip
    assert found.problems == (
        "state 'a' was never reached (0 of 5)", "state 'b' was rarely reached (1 of 11)",
        "state 'c' is contained in 'd', which comes first",
        "transition 't' was not tried: no configuration of its source state was found",
        "no target of transition 'u' was found (0 of 2; 2 at 'u_01')",
    )  # fmt: skip
    assert not found.success
    assert str(found).splitlines()[:7] == [
        "state 'a': 0 of 5 projections", "state 'b': 1 of 11 projections", "state 'c': 1 of 10 projections",
        "state 'd': 1 of 1 projection", "transition 't': 0 of 0 targets",
        "transition 'u': 0 of 2 targets; failed 2 at 'u_01'",
        "transition 'v': 1 of 2 targets; failed 1 at 'v_01'",
    ]  # fmt: skip
    fine = Validation({"d": Rate(1, 1)}, {}, {}, {})
    assert fine.success
    assert str(fine).splitlines()[-1] == "no problem was found"


def test_a_validation_names_what_was_found_least() -> None:
    """Stumble 16: "no problem was found" after 7 of 20 targets; the rarest is named, a state or a transition."""
    rates = {"t": Rate(20, 20), "u": Rate(7, 20), "v": Rate(4, 10)}
    some = Validation({"d": Rate(20, 20)}, {}, rates, {"t": {}, "u": {"u_01": 13}, "v": {"v": 6}})
    assert some.success
    assert str(some).splitlines()[-1] == "nothing is unreachable; rarest: transition 'u', 7 of 20"
    state = Validation({"d": Rate(2, 20)}, {}, rates, {"t": {}, "u": {}, "v": {}})
    assert str(state).splitlines()[-1] == "nothing is unreachable; rarest: state 'd', 2 of 20"
    all_found = Validation({"d": Rate(3, 3)}, {}, {"t": Rate(3, 3)}, {"t": {}})
    assert str(all_found).splitlines()[-1] == "no problem was found"
