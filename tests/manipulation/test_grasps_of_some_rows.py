"""Single parts of manipulation: free objects, grasps of some rows, thresholds of leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Affine, Base, Comparison, Explicit, Implicit, Part, Robot, Surface
from constraints.errors import GraphError, OptionError
from constraints.manipulation import (
    ConstraintGraph,
    Gripper,
    Handle,
    State,
    Transition,
    grasp,
    placement,
    pregrasp,
    preplacement,
)
from constraints.manipulation.factory.grasp import is_free_object
from constraints.manipulation.factory.polygon_repair import repaired
from constraints.manipulation.foliation import leaf_at
from constraints.manipulation.targets import TargetConfiguration
from constraints.models import sample_arm


def system(order: str = "arm box") -> Robot:
    """A box on a free-flyer, before or after an arm."""
    box = Robot.from_urdf("<robot name='box'><link name='base_link'/></robot>", base=Base.FREE_FLYER)
    parts = {"arm": sample_arm(), "box": box}
    return Robot.system([Part(name, parts[name]) for name in order.split()])


def frames(robot: Robot) -> tuple[Any, Any]:
    tilt = pin.SE3(pin.exp3(np.array([0.2, -0.4, 0.3])), np.array([0.1, 0.0, -0.05]))
    return robot.frame("arm/tool"), robot.frame("box/base_link", tilt)


def masks(words: str) -> list[bool]:
    return [letter == "1" for letter in words]


# Grasps.


@pytest.mark.parametrize("order", ["arm box", "box arm"])
def test_objects_that_are_free(order: str) -> None:
    """A free-flyer, wherever it is in the tree; not a joint of the arm, nor the world."""
    robot = system(order)
    box = robot.frame("box/base_link").joint
    assert [joint for joint in range(robot.model.njoints) if is_free_object(robot, joint)] == [box]
    tool, handle = frames(robot)
    held = grasp(robot, Gripper("hand", tool), Handle("h", handle))
    assert isinstance(held.hold, Explicit)
    fixed = grasp(robot, Gripper("hand", tool), Handle("post", robot.frame("universe")))
    assert isinstance(fixed.hold, Implicit)
    assert fixed.hold is fixed.constraint


@pytest.mark.parametrize(
    ("mask", "complement", "is_explicit"),
    [("111011", None, True), ("111000", "000111", True), ("111011", "000000", False), ("111000", "000100", False),
     ("000000", None, True), ("000000", "111000", False), ("000111", None, True), ("011111", None, True)],
)  # fmt: skip
def test_grasps_of_some_rows(mask: str, complement: str | None, is_explicit: bool) -> None:
    """The constraint has the rows of the mask, the complement its own, the hold both; explicit where that is all six.

    Rows that neither has are of no part, and the hold is implicit.
    """
    robot = system()
    tool, frame = frames(robot)
    more = {} if complement is None else {"complement": masks(complement)}
    handle = Handle("h", frame, mask=masks(mask), **more)  # type: ignore[arg-type]
    rows, free = np.array(masks(mask)), ~np.array(masks(mask)) if complement is None else np.array(masks(complement))
    held = grasp(robot, Gripper("hand", tool), handle)
    assert held.name == "hand grasps h"
    assert held.hold.name == "hand grasps h/hold"
    assert isinstance(held.hold, Explicit) == is_explicit
    assert (held.constraint is None) == (not rows.any())
    assert (held.complement is None) == (not free.any())
    words = held.hold.rows.words
    counts = rows | free
    expected = [Comparison.EQUAL_TO_ZERO.name if fixed else Comparison.EQUALITY.name for fixed in rows]
    if is_explicit:
        assert list(words) == expected
    else:
        np.testing.assert_array_equal(held.hold.rows.mask, counts)
        assert [w for w, c in zip(words, counts, strict=True) if c] == [
            w for w, c in zip(expected, counts, strict=True) if c
        ]
    if held.constraint is not None:
        np.testing.assert_array_equal(held.constraint.rows.mask, rows)
        assert held.constraint.name == "hand grasps h"
    if held.complement is not None:
        np.testing.assert_array_equal(held.complement.rows.mask, free)
        assert held.complement.name == "hand grasps h/complement"
    q = robot.random(np.random.default_rng(0))
    seen = robot.at(q).placement(tool).actInv(robot.at(q).placement(frame))
    errors = np.r_[seen.translation, pin.log3(seen.rotation)]
    if held.constraint is not None:
        function = held.constraint.function  # type: ignore[attr-defined]
        error = function.outputs.difference(function.outputs.neutral, function.value(q))
        np.testing.assert_allclose(error[rows], errors[rows], atol=1e-9)


@pytest.mark.parametrize("mask", ["111111", "111011"])
def test_pregrasps_are_off_by_both_clearances(mask: str) -> None:
    """Along the approach, in the axes of the gripper: zero where the handle is there."""
    robot = system()
    tool, frame = frames(robot)
    handle = Handle("h", frame, 0.02, approach=[0.0, 3.0, 4.0], mask=masks(mask))
    before = pregrasp(robot, Gripper("hand", tool, 0.03), handle)
    assert before.name == "hand pregrasps h"
    q = robot.random(np.random.default_rng(1))
    ahead = pin.SE3(np.eye(3), 0.05 * np.array([0.0, 0.6, 0.8]))
    there = robot.at(q).placement(tool) * ahead * frame.placement.inverse()
    q[robot.slice_of(frame.joint_name)] = pin.SE3ToXYZQUAT(there)
    error = before.function.outputs.difference(before.function.outputs.neutral, before.function.value(q))
    np.testing.assert_allclose(error, 0.0, atol=1e-9)
    np.testing.assert_array_equal(before.rows.mask, masks(mask))


def test_gripper_and_handle_on_one_joint() -> None:
    """Refused; as is a direction of less than a billionth, and not one as long."""
    robot = system()
    tool, _ = frames(robot)
    assert Handle("h", tool, approach=[0.0, -1e-9, 0.0]).direction.tolist() == [0.0, -1.0, 0.0]
    with pytest.raises(OptionError, match="expected a direction"):
        Handle("h", tool, approach=[0.0, np.nextafter(-1e-9, 0.0), 0.0])
    with pytest.raises(GraphError, match="are on one joint, 'arm/"):
        grasp(robot, Gripper("hand", tool), Handle("h", tool))


# Placements.


def squares(robot: Robot) -> tuple[Surface, Surface]:
    square = [[0.1, 0.1, 0.0], [-0.1, 0.1, 0.0], [-0.1, -0.1, 0.0], [0.1, -0.1, 0.0]]
    floor = Surface("floor", robot.frame("universe"), [[10.0 * x, 10.0 * y, 0.3] for x, y, _ in square])
    below = Surface("below", robot.frame("box/base_link"), square[::-1])
    return below, floor


@pytest.mark.parametrize(("made", "height"), [("usual", 1e-4), ("margin", 0.02), ("above", 0.1 + 1e-4), ("both", 0.12)])
def test_heights_of_placements(made: str, height: float) -> None:
    """A tenth of a millimetre above the floor, or the margin; before it the distance more."""
    robot = system()
    below, floor = squares(robot)
    constraint: Any = {
        "usual": lambda: placement(robot, "place", below, floor).constraint,
        "margin": lambda: placement(robot, "place", below, floor, 0.02).constraint,
        "above": lambda: preplacement(robot, "place", below, floor, 0.1),
        "both": lambda: preplacement(robot, "place", below, floor, 0.1, 0.02),
    }[made]()
    q = robot.neutral
    at = robot.slice_of(robot.frame("box/base_link").joint_name)
    q[at] = [0.05, -0.02, 0.3 + height, 0.0, 0.0, 0.0, 1.0]
    assert np.abs(constraint.function.value(q)).max() < 1e-12
    q[at.start + 2] += 1e-3
    assert np.abs(constraint.function.value(q)).max() == pytest.approx(1e-3, rel=1e-6)
    with pytest.raises(OptionError, match="is fixed in the world"):
        placement(robot, "place", floor, below)
    with pytest.raises(OptionError, match="distance of 'place'"):
        preplacement(robot, "place", below, floor, -0.1)


def test_a_leaf_is_the_same_up_to_a_tolerance() -> None:
    """By default a tenth of a millimetre, of each foliation; on some of its foliations it is a leaf too."""
    robot = system()
    below, floor = squares(robot)
    one = placement(robot, "place", below, floor)
    tool, frame = frames(robot)
    two = grasp(robot, Gripper("hand", tool), Handle("h", frame, mask=masks("111011")))
    none = grasp(robot, Gripper("hand", tool), Handle("whole", frame))
    q = robot.neutral
    at = robot.slice_of(robot.frame("box/base_link").joint_name)
    q[at] = [0.05, -0.02, 0.3 + 1e-4, 0.0, 0.0, 0.0, 1.0]
    leaf = leaf_at([one, none, two], robot.at(q))
    assert [f.name for f in leaf.foliations] == ["place", "hand grasps h"]  # the whole grasp has one leaf alone
    for size, same in ((0.99e-4, True), (1.01e-4, False)):
        moved = q.copy()
        moved[at.start] += size
        other = leaf_at([one, none, two], robot.at(moved))
        assert leaf.among([0]).same_as(other.among([0])) == same
        assert leaf.among([0]).same_as(other.among([0]), 1e-3)
        assert not leaf.among([0]).same_as(other.among([0]), 0.5e-4)
        assert leaf.same_as(other) == (same and leaf.among([1]).same_as(other.among([1])))
    assert not leaf.among([0]).same_as(leaf.among([1]))
    assert not leaf.same_as(leaf.among([0]))
    assert leaf.among([1, 0]).foliations == (leaf.foliations[1], leaf.foliations[0])
    assert str(leaf.among([])) == "the only leaf"
    assert repr(leaf.among([1])) == "Leaf of 'hand grasps h'"


# Polygons.


@pytest.mark.parametrize("size", [1e-3, 0.05, 1.0, 40.0])
def test_a_polygon_is_closed_to_a_millionth_of_its_size(size: float) -> None:
    """Its last vertex, or its last two, may repeat the first; with them its size is 1.2."""
    square = size * np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]])
    for far, kept in ((1.1e-6, 4), (1.3e-6, 5)):
        closed = np.vstack((square, square[0] - [far * size, 0.0, 0.0]))
        assert len(repaired(closed).points) == kept
        inside = np.insert(square, 1, square[0] - [0.0, far * size, 0.0], axis=0)
        assert len(repaired(inside).points) == kept
    centre = np.array([[0.0, 0.0, 5.0]])
    assert len(repaired(square + centre * size).points) == 4
    two = np.vstack((square[:2], square[:1]))
    np.testing.assert_array_equal(repaired(two).points, two)  # two vertices are no polygon


# Targets and refusals.


def made_of(results: list[bool], *, inner: int = 0, on_leaf: bool = True) -> TargetConfiguration:
    steps: Any = SimpleNamespace(inner=tuple(f"part{i}" for i in range(inner)))
    projections: Any = tuple(SimpleNamespace(success=each, q=np.array([float(i)])) for i, each in enumerate(results))
    return TargetConfiguration(steps, np.zeros(1), projections, 1, on_leaf)


@pytest.mark.parametrize(
    ("results", "inner", "on_leaf", "success", "failed"),
    [([True], 0, True, True, None), ([False], 0, True, False, "whole"), ([True], 0, False, False, "whole"),
     ([True, True], 2, True, True, None), ([True], 2, True, False, "part0"), ([True, False], 2, True, False, "part1"),
     ([True, True], 2, False, False, "part1"), ([True, True], 3, True, False, "part1")],
)  # fmt: skip
def test_targets_succeed_at_the_end_and_on_their_leaf(
    results: list[bool], inner: int, on_leaf: bool, success: bool, failed: str | None
) -> None:
    target = made_of(results, inner=inner, on_leaf=on_leaf)
    assert target.success == success
    assert target.failed_at == (target.transition if failed == "whole" else failed)
    assert len(target.waypoints) == sum(results)
    assert target.q[0] == len(results) - 1


@pytest.mark.parametrize("more", [False, True])
def test_a_short_step_that_asks_for_nothing_new_is_where_the_last_one_ended(more: bool) -> None:
    """The same constraints, or fewer, are not projected onto again; one more is."""
    robot = sample_arm()

    def held(joint: int) -> Implicit:
        row = Affine(np.eye(1, robot.nv, joint), [-0.1 * joint], robot.space)
        return Implicit.zero(row, name=f"joint {joint}")

    first, second, third = (held(joint) for joint in range(3))
    a, both = State("a", [first]), State("both", [first, second], waypoint=True)
    for constraints, again in (([first, second], more), ([second], more)):
        end = State("end", [*constraints, *([third] if more else [])])
        inner = [
            Transition("in", a, both, a, weight=-1),
            Transition("out", both, end, both if more else end, weight=-1, short=True),
        ]
        graph = ConstraintGraph(robot, [a, end, both], [Transition("through", a, end, a, inner=inner)])
        rng = np.random.default_rng(0)
        start = graph.sample("a", rng).or_raise().q
        found = graph.target("through", start, robot.random(rng)).or_raise()
        assert (found.projections[0] is not found.projections[1]) == again
        assert len(found.waypoints) == 2
