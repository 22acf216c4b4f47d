"""Mistakes of newcomers that were found by a list written from the documentation alone: each has an answer in words."""

from __future__ import annotations

import copy
import logging
import pickle
from typing import Any

import numpy as np
import pytest

from constraints import Base, Function, Implicit, Part, Position, Problem, Projector, Robot, Surface, errors
from constraints.loops import ConstraintSet, PointContact, assemble_position
from constraints.manipulation import placement, preplacement
from constraints.models import load, sample_arm
from liegroups import SE3, SO2, Rn

LINKAGE = """<sdf version="1.9"><model name="linkage">
  <link name="crank"/><link name="rod"><pose>0.2 0 0 0 0 0</pose></link>
  <link name="rocker"><pose>0.5 0 0 0 0 0</pose></link>
  <joint name="motor" type="revolute"><parent>world</parent><child>crank</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="elbow" type="revolute"><parent>crank</parent><child>rod</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="pivot" type="revolute"><parent>world</parent><child>rocker</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="pin" type="revolute"><parent>rod</parent><child>rocker</child>
    <pose>-0.1 0.25 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""


def test_a_cut_that_opens_no_loop_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Mend, newcomer 74: what hangs on it is free, and the mechanism and the log say so; of SDF and of URDF."""
    tool = """<link name="tool"><pose>0.6 0 0 0 0 0</pose></link><joint name="wrist" type="revolute">
      <parent>rocker</parent><child>tool</child><axis><xyz>0 0 1</xyz></axis></joint></model>"""
    mechanism = load(LINKAGE.replace("</model>", tool), cut=["wrist"])
    assert "joint 'wrist': cut as requested, but closes no loop" in mechanism.describe()
    assert not mechanism.unread
    assert mechanism.loose == ("wrist",)
    warned = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    told = [said for said in warned if "1 kg" not in said]  # masses that the file does not give are told too
    words = "cut as requested, but closes no loop: what hung on it is now a free body, which only the closure holds"
    assert told == [f"linkage: joint 'wrist' {words}"]
    caplog.clear()
    whole = load(LINKAGE.replace("</model>", tool))
    assert whole.cut == ("pin",)
    assert not [r for r in caplog.records if r.levelno == logging.WARNING and "1 kg" not in r.getMessage()]
    urdf = """<robot name="bar"><link name="base"/><link name="bar"/><joint name="hinge" type="continuous">
      <parent link="base"/><child link="bar"/></joint></robot>"""
    assert "joint 'hinge': cut as requested, but closes no loop" in load(urdf, cut=["hinge"]).describe()


def test_a_table_is_no_object_that_is_placed() -> None:
    """Mend, newcomer 79: floors and objects exchanged."""
    box = Robot.from_urdf("<robot name='box'><link name='middle'/></robot>", base=Base.FREE_FLYER)
    robot = Robot.system([Part("arm", sample_arm()), Part("box", box)])
    square = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    table = Surface("table", robot.frame("universe"), square)
    bottom = Surface("bottom", robot.frame("box/middle"), 0.1 * square[::-1])
    for make in (
        lambda: placement(robot, "place", [table], [bottom]),
        lambda: preplacement(robot, "p", table, bottom, 0.1),
    ):
        with pytest.raises(errors.OptionError, match="surface 'table' is fixed in the world"):
            make()
    found = placement(robot, "place", [bottom], [table]).constraint
    assert found is not None
    assert found.name == "place"


def test_the_hint_is_that_of_the_argument() -> None:
    """Mend, newcomer 48 and 66: a robot for a projector, the place of a contact given as its normal."""
    robot = sample_arm()
    with pytest.raises(errors.WrongObjectError, match=r"Projector\(Problem\(robot, constraints\)\)"):
        Projector(robot)  # type: ignore[arg-type]
    with pytest.raises(errors.NotNormalizedError, match="anchor= is the place"):
        PointContact(robot, "tool", [0.3, 0.0, 0.5])


def test_a_wrong_jacobian_is_suspected_by_the_diagnosis() -> None:
    """Mend, second newcomer 18: a Jacobian of the wrong sign; a right one that is out of reach is not suspected."""
    robot = sample_arm()
    height = Function.from_callable(lambda q: robot.at(q).placement("tool").translation[2], robot.space, Rn(1))
    wrong = Function.from_callable(height.value, robot.space, Rn(1), lambda q: -height.jacobian(q), name="wrong sign")
    failed = Projector(Problem(robot, [Implicit.equal(wrong, [0.3])])).project(robot.reference("home"))
    ((name, off),) = failed.diagnose().doubtful_jacobians
    assert name == "wrong sign"
    assert off == pytest.approx(2.0 * np.abs(height.jacobian(failed.q)).max(), rel=1e-4)
    assert "Look at the Jacobian of 'wrong sign'" in str(failed.diagnose())
    high = Projector(Problem(robot, [Implicit.equal(height, [3.0])])).project(robot.reference("home"))
    assert high.diagnose().doubtful_jacobians == ()


def test_a_projection_is_no_pair() -> None:
    """Mend, second newcomer 47: `q, success = projector.project(...)`."""
    robot = sample_arm()
    result = Projector(Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.4, 0.0, 0.3])])).project(
        robot.neutral
    )
    with pytest.raises(errors.WrongObjectError, match="`q`, `success`"):
        _, _ = result  # pyright: ignore[reportGeneralTypeIssues]


def test_contacts_without_anchor_are_no_problem() -> None:
    """Mend, second newcomer 66: the message names them, and the anchor."""
    rows = ConstraintSet(sample_arm(), [PointContact(sample_arm(), "tool", "z", name="on the floor")])
    with pytest.raises(
        errors.EmptyProblemError, match="without anchor have no position rows: 'on the floor'; give anchor="
    ):
        assemble_position(rows, rows.robot.neutral)


@pytest.mark.parametrize(("space", "v"), [(SE3, np.zeros(6)), (SO2, np.zeros(1)), (SE3 * Rn(2), np.zeros(8))])
def test_zeros_are_no_point(space: Any, v: np.ndarray) -> None:
    """Mend, second newcomer 100: a quaternion of zeros ended in a ZeroDivisionError."""
    for call in (
        lambda q: space.integrate(q, v),
        lambda q: space.compose(q, q),
        lambda q: space.integrate(q, v.tolist()),
    ):
        with pytest.raises(errors.NotNormalizedError, match="norm is 0"):
            call(np.zeros(space.nq))


def test_results_answer_the_words_of_other_libraries() -> None:
    """Mend, third newcomer 53, 55 and 62: `result.x`, `batch.diagnose()`, `result.save(...)`; copies stay the same."""
    robot = sample_arm()
    projector = Projector(Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.4, 0.0, 0.3])]))
    result: Any = projector.project(robot.neutral)
    batch: Any = projector.project_batch([robot.neutral])
    assert not hasattr(result, "x")
    assert not hasattr(batch, "diagnose")
    with pytest.raises(errors.NoAttributeError, match="nearest names are residual"):
        result.residuals  # noqa: B018
    again = pickle.loads(pickle.dumps(result))
    assert (again.q == result.q).all()
    assert copy.copy(result).status is result.status
    error = pickle.loads(pickle.dumps(errors.NoAttributeError("Projection", "x", ("q",), "`q`")))
    assert str(error) == "a Projection has no attribute 'x': use `q`; the valid names are q"


def test_a_class_is_no_factor() -> None:
    """Mend, third newcomer 100: `SE3 * Rn` without a dimension."""
    with pytest.raises(errors.WrongObjectError, match="factor of SE3: expected a Space"):
        _ = SE3 * Rn  # type: ignore[operator]
