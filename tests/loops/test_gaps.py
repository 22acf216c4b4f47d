"""What keeps a closure open, in words: bodies too short, ends in metres, axes in radians and nearly parallel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from loops.test_assembly import planar_arm
from loops.test_errors_that_are_left import rod

from constraints import Implicit, Robot
from constraints.loops import Closure, Hinge, PointClosure, RodClosure
from constraints.loops.assembling.gaps import gap_words, too_short
from constraints.loops.odd_axis import near_parallels

# Lengths of loops.


def planar(q: Any, at: list[float], *lengths: float) -> str:
    robot = planar_arm(*lengths)
    closure = PointClosure(robot, [*at, 0, 0, 0, 1], "tip")
    return too_short(robot, closure.predecessor, closure.successor, np.array(q))


def test_which_body_of_a_loop_is_too_long() -> None:
    """The longest against the sum of all others, across the axes of the pins, in any posture."""
    for q in ([0.0, 0.0, 0.0], [0.3, -0.8, 0.5]):
        for at, lengths, one, other, figures in (
            ([2.5, 0.0, 9.0], (0.7, 0.6, 0.5), "world", "j0", ("2.5", "1.8", "0.7")),
            ([0.3, 0.4, 0.0], (0.2, 2.0, 0.5), "j1", "j2", ("2", "1.2", "0.8")),
            ([0.3, 0.4, 0.0], (0.2, 0.5, 2.0), "j2", "tip", ("2", "1.2", "0.8")),
        ):
            long, others, short = figures
            assert planar(q, at, *lengths) == (
                f"from '{one}' to '{other}' it is {long} m, and the other bodies of the loop are {others} m together, "
                f"{short} m too short"
            )
        assert planar(q, [1.5, 0.0, 0.0], 0.7, 0.6, 0.5) == ""
    assert planar([0.0, 0.0], [1.0, 0.0, 0.0], 0.5, 0.5) == ""  # just long enough
    still = rod(pin.JointModelRX())
    assert too_short(still, still.frame("end"), still.frame("end"), np.zeros(1)) == ""  # no joint between


def test_lengths_are_in_space_where_axes_differ() -> None:
    robot = rod(pin.JointModelSpherical(), arm=True)
    closure = PointClosure(robot, [0.0, 3.0, 4.0, 0, 0, 0, 1], "end")
    said = too_short(robot, closure.predecessor, closure.successor, robot.neutral)
    assert said.startswith("from 'world' to 'arm' it is 5 m, and the other bodies of the loop are 1.5 m together, 3.5")
    slides = rod(pin.JointModelPX(), arm=True)
    other = PointClosure(slides, [0.0, 3.0, 4.0, 0, 0, 0, 1], "end")
    assert too_short(slides, other.predecessor, other.successor, slides.neutral) == ""


def test_loops_between_two_branches_go_up_and_down() -> None:
    """Two arms on one shoulder each: bodies in order, from one end to the other, the shoulder once."""
    model: Any = pin.Model()
    for side, y in (("l", 0.5), ("r", -0.5)):
        one = model.addJoint(0, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.0, y, 0.0])), f"{side}0")
        two = model.addJoint(one, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.2, 0.0, 0.0])), f"{side}1")
        at = pin.SE3(np.eye(3), np.array([0.3 if side == "l" else 0.1, 0.0, 0.0]))
        model.addFrame(pin.Frame(f"{side} end", two, 0, at, pin.FrameType.OP_FRAME))
    robot = Robot(model, "two")
    closure = PointClosure(robot, "l end", "r end")
    said = too_short(robot, closure.predecessor, closure.successor, np.array([0.1, 0.2, 0.3, 0.4]))
    assert said == ("from 'l0' to 'r0' it is 1 m, and the other bodies of the loop are 0.8 m together, 0.2 m too short")


# Words of gaps.


def test_what_is_open_in_lengths_and_angles() -> None:
    """A rod by both lengths, ends by metres, axes by radians; nothing for what is closed to the threshold."""
    robot = planar_arm(0.7, 0.6)
    q = np.array([0.0, 0.0])  # the tip is at 1.3 m
    rods = RodClosure(robot, None, "tip", 0.5)
    assert gap_words(rods, q, rods.residual(q), 1e-6) == " m^2: its ends are 1.3 m apart, its length is 0.5 m"
    point = PointClosure(robot, [1.3, 0.25, 0, 0, 0, 0, 1], "tip")
    assert gap_words(point, q, point.residual(q), 1e-6).startswith(": its ends are 0.25 m apart")
    for threshold, said in ((0.26, False), (0.24, True)):
        assert bool(gap_words(point, q, point.residual(q), threshold)) == said
    assert gap_words(point, q, np.zeros(3), 0.0) == ""
    assert gap_words(Implicit.zero(rods.function), q, np.ones(1), 1e-6) == ""
    tilted = [1.3, 0.0, 0.0, np.sin(0.05), 0.0, 0.0, np.cos(0.05)]
    for hinge, said in ((Hinge.pin("z"), "0.1 rad from parallel"), (Hinge.slider("x"), "0.1 rad from aligned"),
                        (Hinge.locked(), "0.1 rad from aligned")):  # fmt: skip
        closure = Closure(robot, tilted, "tip", hinge)
        assert gap_words(closure, q, closure.residual(q), 1e-6).startswith(f": its axes are {said}")
    both = Closure(robot, [1.3, 0.25, 0.0, *tilted[3:]], "tip", Hinge.pin("z"))
    said = gap_words(both, q, both.residual(q), 1e-6)
    assert said.startswith(": its ends are 0.25 m apart and its axes are 0.1 rad from parallel")
    assert "its axes are" not in gap_words(both, q, both.residual(q), 0.2)


# Axes nearly parallel.


def tilted_chain(angle: float, hinge: Hinge | None = None, end: float = 0.0) -> Closure:
    """Two pins whose axes differ by an angle, and a closure with the world, tilted at its end."""
    model: Any = pin.Model()
    one = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "one")
    turn = pin.SE3(pin.exp3(np.array([angle, 0.0, 0.0])), np.array([1.0, 0.0, 0.0]))
    two = model.addJoint(one, pin.JointModelRZ(), turn, "two")
    tip = pin.SE3(pin.exp3(np.array([0.0, end, 0.0])), np.array([1.0, 0.0, 0.0]))
    model.addFrame(pin.Frame("tip", two, 0, tip, pin.FrameType.OP_FRAME))
    return Closure(Robot(model, "chain"), None, "tip", Hinge.pin("z") if hinge is None else hinge, name="loop")


@pytest.mark.parametrize(
    ("angle", "named"),
    [(0.0, False), (0.8e-10, False), (1.3e-10, True), (1e-6, True), (0.99e-3, True), (1.01e-3, False), (0.5, False),
     (np.pi / 2, False)],
)  # fmt: skip
def test_axes_that_are_parallel_but_for_digits(angle: float, named: bool) -> None:
    """Between 1e-10 and 1e-3 rad; the same where they point against each other."""
    for turned in (angle, np.pi - angle):
        found = near_parallels([tilted_chain(turned)])
        assert [(each.a, each.b) for each in found] == ([("one", "two")] if named else [])
        if named:
            assert found[0].angle == pytest.approx(angle, rel=1e-3, abs=1e-15)
            assert str(found[0]) == f"the axes of 'one' and 'two' are parallel to {angle:.1g} rad"


def test_the_axes_of_a_closing_pin_count_at_both_ends() -> None:
    found = near_parallels([tilted_chain(0.0, end=2e-5)])
    assert [(each.a, each.b, round(each.angle, 9)) for each in found] == [("two", "loop", 2e-5)]
    tilted = Hinge.pin([np.sin(3e-5), 0.0, np.cos(3e-5)])
    found = near_parallels([tilted_chain(0.0, tilted, end=-3e-5)])
    assert [(each.a, each.b, round(each.angle, 9)) for each in found] == [("loop", "one", 3e-5)]
    assert near_parallels([tilted_chain(0.0, Hinge.slider("x"), end=2e-5)]) == []
    twice = tilted_chain(1e-6)
    assert len(near_parallels([twice, twice])) == 1
    robot = twice.robot
    assert near_parallels([PointClosure(robot, None, "tip")]) == []


def test_joints_of_several_axes_or_none_are_not_compared() -> None:
    for kind in (pin.JointModelSpherical(), pin.JointModelPZ()):
        robot = rod(kind, arm=True)
        tilted = [1.5, 0.0, 0.0, 1e-5, 0.0, 0.0, 1.0]
        closure = Closure(robot, tilted, "end", Hinge.pin("z"), name="loop")
        assert [(each.a, each.b) for each in near_parallels([closure])] == [("loop", "arm")]
