"""Causes that an open mechanism, or one that does not move, is told with: axes, screws, driven joints, gimbal lock."""

from __future__ import annotations

import logging

import numpy as np
import pinocchio as pin
import pytest

from constraints import Robot
from constraints.errors import OptionError
from constraints.loops import Assembly, Closure, ConstraintSet, Hinge, assemble_position
from constraints.loops.assembling.gaps import gap_words
from constraints.models import Mechanism, load, mechanisms
from constraints.reduced import PartitionError, SweepOptions

LINKAGE = mechanisms.four_bar()
CLOSED = LINKAGE.posture("closed")


def of_file(*joints: tuple[str, str, str, float, str]) -> Mechanism:
    """Joints of a file: name, parent and child, place along x, axis, which is empty where it is fixed."""
    links = dict.fromkeys(link for _, *ends, _, _ in joints for link in ends)
    text = "".join(f'<link name="{link}"/>' for link in links)
    for name, parent, child, x, axis in joints:
        ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{x} 0 0"/>'
        ends += f'<axis xyz="{axis}"/>' if axis else ""
        text += f'<joint name="{name}" type="{"continuous" if axis else "fixed"}">{ends}</joint>'
    return load(f'<robot name="f">{text}</robot>')


def linkage_of_file(elbow: str) -> Mechanism:
    """A four-bar linkage about z, whose elbow has another axis."""
    crank = ("motor", "base", "crank", 0.0, "0 0 1"), ("elbow", "crank", "coupler", 0.2, elbow)
    rocker = ("pivot", "base", "rocker", 0.5, "0 0 1"), ("tip", "rocker", "end", 0.4, "")
    return of_file(*crank, *rocker, ("pin", "coupler", "end", 0.5, "0 0 1"))


def closed_by(hinge: Hinge) -> Assembly:
    closure = Closure(LINKAGE.robot, "coupler_end", "rocker_end", hinge, name="tip")
    return assemble_position(ConstraintSet(LINKAGE.robot, [closure]), CLOSED)


@pytest.mark.parametrize(("axis", "angle"), [("0 0.05 1", "0.05"), ("1 0 0", "1.57")])
def test_an_axis_across_the_others_is_named_where_nothing_moves(axis: str, angle: str) -> None:
    """Rank 3 and mobility 0, and no word of the axis."""
    linkage = linkage_of_file(axis)
    start = linkage.robot.configuration({"motor": 0.5, "pivot": 1.0})
    found = assemble_position(linkage.constraint_set(), start)
    words = f"the axis of 'elbow' is {angle} rad from parallel to those of 'motor', 'pivot', 'pin'"
    assert f"nothing moves: {words}" in linkage.judge(found.q).describe()
    right = linkage_of_file("0 0 1")
    found = assemble_position(right.constraint_set(), right.robot.configuration({"motor": 0.5, "pivot": 1.0}))
    assert "axis" not in right.judge(found.q).describe()


def test_a_closure_across_the_axes_of_its_loop_is_named() -> None:
    words = closed_by(Hinge.pin([1.0, 0.0, 0.0])).describe()
    assert "the axis of 'tip' is 1.57 rad from parallel to those of" in words
    assert "axis of" not in closed_by(Hinge.slider()).describe()


def test_what_a_screw_asks_for_is_said() -> None:
    """A pitch in millimetres: "its ends are 0.2118 m apart", and no word of the pitch."""
    words = closed_by(Hinge.helical([0.0, 0.0, 1.0], 5.0)).describe()
    assert "rad asks for an advance of" in words
    assert "(pitch 5 m a turn), and it has 0 m" in words
    model = pin.Model()
    for i, joint in enumerate([pin.JointModelPX(), pin.JointModelPZ(), pin.JointModelRZ()]):
        model.addJoint(i, joint, pin.SE3.Identity(), "xzt"[i])
    robot = Robot(model)
    nut = Closure(robot, "universe", robot.frame("t"), Hinge.helical([0.0, 0.0, 1.0], 0.2 * np.pi), name="nut")
    for z, said in ((0.05, ""), (-0.05, "a turn of 0.5 rad asks for an advance of 0.05 m (pitch 0.628319 m a turn), ")):
        q = np.array([0.2, z, 0.5])
        words = gap_words(nut, q, nut.residual(q), 1e-6)
        assert said in words
        assert ("asks for" in words) == bool(said)
        assert ("and it has -0.05 m" in words) == bool(said)


def test_driven_joints_are_named_where_a_closing_fails() -> None:
    """The diagnosis said "the frozen dofs" without a name, and advised to mask rows of the closure."""
    q = LINKAGE.robot.configuration({"rocker": 3.0}, start=CLOSED)
    failed = assemble_position(LINKAGE.constraint_set(), q, driven=["rocker"])
    assert "driven, and kept where they are (frozen, in a diagnosis): rocker\n" in failed.describe()
    text = str(failed.projection.diagnose())
    assert "  the frozen dofs, or driven joints: rocker\n" in text
    assert "Mask" not in text
    every = assemble_position(LINKAGE.constraint_set(), q, driven=["crank", "coupler", "rocker"])
    assert "crank, coupler, rocker, so that nothing may move" in every.describe()
    assert "Mask" not in str(every.projection.diagnose())
    assert "driven" not in assemble_position(LINKAGE.constraint_set(), CLOSED, driven=["crank"]).describe()


def test_the_gimbal_lock_of_a_joint_is_named() -> None:
    """An in-line slider-crank ended at a branch point of its dead centre; the cause is the joint of the rod."""
    crank = mechanisms.slider_crank(offset=0.0)
    swept = crank.sweep(crank.posture("closed"), "crank", np.linspace(0.7, -0.7, 8))
    words = "rod[0] moves no row here: a singular posture (gimbal lock) of joint 'rod' itself"
    assert words in swept.describe()
    assert "`cross=True` goes on there" in swept.describe()
    through = crank.sweep(crank.posture("closed"), "crank", np.linspace(0.7, -0.7, 8), options=SweepOptions(cross=True))
    assert through.success
    assert "goes on there" not in through.describe()
    there = mechanisms.slider_crank(offset=0.0, angle=0.0)
    with pytest.raises(PartitionError) as caught:
        there.minimal_coordinates(there.posture("closed"), independent=["crank"])
    assert words in str(caught.value)


def test_a_true_branch_point_is_no_gimbal_lock() -> None:
    flat = mechanisms.four_bar(ground=0.5, crank=0.2, coupler=0.5, rocker=0.2)
    swept = flat.sweep(flat.posture("closed"), "crank", np.linspace(0.7, -0.7, 8))
    assert swept.singularities
    assert "gimbal" not in swept.describe()


def test_a_pin_that_cannot_turn_is_named_where_others_move(caplog: pytest.LogCaptureFixture) -> None:
    """A five-bar linkage whose last pin lies across: "mobility 1", where it has 2, and no word of the axis."""
    names = ("left", "left rod", "right", "right rod")
    for axis, found, mobility in (
        ("0 0 1", "", 2),
        ("1 0 0", "the axis of 'pin' is 1.57 rad from parallel to those", 1),
    ):
        caplog.clear()
        ends = (("base", "a", 0.0), ("a", "b", 0.3), ("base", "c", 0.4), ("c", "d", 0.3))
        joints = [(name, *end, "0 0 1") for name, end in zip(names, ends, strict=True)]
        linkage = of_file(*joints, ("tip", "b", "e", 0.3, ""), ("pin", "d", "e", 0.3, axis))
        start = linkage.robot.configuration({"left": 2.0, "left rod": -1.4, "right": 1.1, "right rod": 1.4})
        closed = assemble_position(linkage.constraint_set(), start)
        judged = linkage.judge(closed.q)
        assert closed.success
        assert judged.mobility == mobility
        assert judged.describe().count("cannot turn") == bool(found)
        assert found in judged.describe()
        assert caplog.text.count(f"f: {found or 'x'}") == bool(found)


def test_a_step_of_branches_in_degrees_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    for step in (20.0, 0.5, np.inf):
        assemble_position(LINKAGE.constraint_set(), CLOSED, driven=["crank"], stay_on_branch=step)
    assert caplog.text.count("is it in degrees?") == 1
    assert "stay_on_branch of 20 rad or m, more than a whole turn" in caplog.text


def test_two_pins_on_one_line_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """A link with two parents whose own placement is missing: mobility 1, as wanted, of a rocker that turns alone."""
    caplog.set_level(logging.INFO, "constraints")
    alone, held = ": the body between them turns alone", ("arm", "rocker", "arm", 0.1, "0 0 1")
    for x, more, said, ending in ((0.0, (), True, alone), (0.0, (held,), True, ""), (0.4, (), False, "")):
        caplog.clear()
        crank = ("motor", "base", "crank", 0.0, "0 0 1"), ("elbow", "crank", "coupler", 0.2, "0 0 1")
        rocker = ("pivot", "base", "rocker", 0.5, "0 0 1"), ("e", "rocker", "far", x, "")
        made = of_file(*crank, *rocker, *more, ("tip", "coupler", "far", 0.5, "0 0 1"))
        words = f"'pivot' and 'tip' are on one line{ending}\n"
        assert (words in caplog.text) == said
        assert (words in made.judge(made.robot.neutral).describe() + "\n") == said


def test_parts_of_a_singular_value_are_below_one() -> None:
    """In per cent: rank 0, mobility 3 and lines of LAPACK on the terminal."""
    for call in (
        lambda: LINKAGE.judge(CLOSED, 50),
        lambda: LINKAGE.minimal_coordinates(CLOSED, tolerance=1.0),
        lambda: ConstraintSet(LINKAGE.robot, [], rounding=1.0),
    ):
        with pytest.raises(OptionError, match="a part of the largest singular value, below 1"):
            call()
    assert LINKAGE.judge(CLOSED, 0.01).rank == 2


def test_the_mobility_of_an_open_linkage_is_doubted(caplog: pytest.LogCaptureFixture) -> None:
    """Bennett's linkage: 0 beside its closed configurations, where it has 1."""
    bennett = mechanisms.bennett()
    q = bennett.posture("closed")
    assert (bennett.mobility(q), bennett.rank(q)) == (1, 3)
    assert not caplog.records
    assert bennett.mobility(q + 0.3) == 0
    assert "mobility of an open configuration, which is off by" in caplog.text
