"""Mistakes of newcomers that were found by a list written from the documentation alone: each has an answer in words."""

from __future__ import annotations

import copy
import logging
import pickle
from typing import Any

import numpy as np
import pytest

from constraints import Base, Function, Implicit, Options, Part, Position, Problem, Projector, Robot, Surface, errors
from constraints.loops import ConstraintSet, PointContact, assemble_position, assemble_velocity
from constraints.manipulation import interpolate, placement, preplacement
from constraints.models import load, sample_arm
from constraints.solvers import SensitivityError
from liegroups import SE3, SO2, Rn

LINKAGE = """<sdf version="1.9"><model name="linkage">
  <link name="crank"/><link name="rod"><pose>0.2 0 0 0 0 0</pose></link>
  <link name="rocker"><pose>0.5 0 0 0 0 0</pose></link>
  <joint name="motor" type="revolute"><parent>world</parent><child>crank</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="elbow" type="revolute"><parent>crank</parent><child>rod</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="pivot" type="revolute"><parent>world</parent><child>rocker</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="pin" type="revolute"><parent>rod</parent><child>rocker</child>
    <pose>-0.1 0.25 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""


def test_driven_speeds_that_contradict_the_loop_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """Mend, newcomer 68: velocities that miss the closure are returned, and the log says which and by how much."""
    mechanism = load(LINKAGE)
    rows = mechanism.constraint_set()
    q = assemble_position(rows, mechanism.robot.random(np.random.default_rng(0))).or_raise().q
    caplog.clear()
    v = assemble_velocity(rows, q, np.ones(3), driven=["motor", "elbow", "pivot"])
    left = float(np.linalg.norm(rows.velocity_error(q, v)))
    (record,) = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert "contradict each other: 'pin' is off by" in record.getMessage()
    assert float(record.getMessage().split()[-1]) == pytest.approx(left, rel=1e-2)
    caplog.clear()
    v = assemble_velocity(rows, q, np.ones(3), driven=["motor"])
    assert np.abs(rows.velocity_error(q, v)).max() < 1e-9
    assert not caplog.records


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


def test_a_path_has_no_time_after_its_end() -> None:
    """Mend, newcomer 85: the ends are taken to rounding, beyond them is an error with both ends."""
    robot = sample_arm()
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.45, 0.1, 0.3])])
    q0 = Projector(problem).project(robot.reference("home")).or_raise().q
    v = problem.project_tangent(q0, np.ones(robot.nv))
    q1 = Projector(problem, Options.local()).project(robot.space.integrate(q0, 0.1 * v / np.linalg.norm(v))).q
    path = interpolate(problem, q0, q1).or_raise()
    for time in (3.0, -0.1, path.duration * 1.001):
        with pytest.raises(errors.OptionError, match=r"outside \[0, 1\]"):
            path(time)
    np.testing.assert_array_equal(path(path.duration * (1.0 + 1e-12)), path(path.duration))
    np.testing.assert_array_equal(path(-1e-12), path(0.0))


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


def test_inequalities_have_no_derivative_by_a_right_hand_side() -> None:
    """Mend, second newcomer 49: zeros were given in silence."""
    robot = sample_arm()
    tool = Implicit.equal(Position(robot, "tool"), [0.45, 0.1, 0.3])
    up = Implicit.above(Position(robot, "elbow"), 0.3, mask=[0, 0, 1], name="elbow up")
    result = Projector(Problem(robot, [tool, up]), Options(nearest=True)).project(robot.reference("home")).or_raise()
    with pytest.raises(SensitivityError, match="'elbow up' takes no right-hand side"):
        result.sensitivity().rhs_of("elbow up")


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
