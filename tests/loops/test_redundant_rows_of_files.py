"""Planar loops whose pins are tilted in the last digits: assembled, told where they are not, and no arm too short."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from loops.test_assembly import planar_arm

from constraints import Robot
from constraints.loops import Assembly, AssemblyOptions, Closure, ConstraintSet, Hinge, PointClosure, assemble_position
from constraints.models import Mechanism, mechanisms
from constraints.reduced import minimal_coordinates
from constraints.solvers import Status

LINKAGE = mechanisms.four_bar()
CLOSED = LINKAGE.posture("closed")


def tilted(angle: float) -> Mechanism:
    """The four-bar with its closing pin tilted about x [rad]."""
    robot = LINKAGE.robot
    turn = pin.SE3(np.array(pin.rpy.rpyToMatrix(angle, 0.0, 0.0)), np.zeros(3))
    end = robot.frame("coupler_end")
    tip = robot.frame(robot.model.names[end.joint], end.placement * turn)
    return Mechanism(robot, (Closure(robot, tip, "rocker_end", Hinge.pin("z"), name="pin"),), motors=("crank",))


def askew(angle: float) -> Mechanism:
    """The four-bar with the axis of its rocker tilted about y [rad]: it then moves in no plane."""
    source: Any = LINKAGE.robot.model
    model = source.copy()
    model.jointPlacements[3] = model.jointPlacements[3] * pin.SE3(pin.rpy.rpyToMatrix(0.0, angle, 0.0), np.zeros(3))
    robot = Robot(model)
    return Mechanism(robot, (Closure(robot, "coupler_end", "rocker_end", Hinge.pin("z"), name="pin"),))


def arm(reach: float, start: list[float]) -> Assembly:
    """Two bars of 0.5 m, whose end shall be at a distance from the shoulder."""
    robot = planar_arm(0.5, 0.5)
    target = [reach, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    return assemble_position(ConstraintSet(robot, [PointClosure(robot, target, "tip", name="hand")]), start)


@pytest.mark.parametrize("angle", [1e-12, 3e-10, 1e-8, 3e-7])
def test_a_pin_tilted_in_its_last_digits_closes(angle: float) -> None:
    rows = tilted(angle).constraint_set()
    rng = np.random.default_rng(0)
    for _ in range(5):
        start = CLOSED + 0.05 * rng.standard_normal(3)
        done = assemble_position(rows, start)
        assert done.success, str(done)
        assert np.abs(done.q - start).max() < 0.5
        exact = LINKAGE.constraint_set().position_error(done.q)
        assert np.abs(exact[:2]).max() < 1e-9  # in the plane it is closed as well as the pin that is not tilted
        assert done.residual <= 1.1 * angle
        assert done.split is not None or angle <= 1e-12
        again = assemble_position(rows, done.q)
        assert again.success
        np.testing.assert_array_equal(again.q, done.q)


@pytest.mark.parametrize("angle", [1e-12, 1e-8, 3e-7])
def test_minimal_coordinates_close_it(angle: float) -> None:
    """It raised OPEN for 2e-12, the twelve digits of half a turn."""
    coordinates = minimal_coordinates(tilted(angle).constraint_set(), CLOSED + np.array([0.0, 0.03, -0.02]), close=True)
    assert coordinates.partition.independent.size == 1


def test_the_success_says_which_row_is_off() -> None:
    done = assemble_position(tilted(1e-8).constraint_set(), CLOSED + 0.01)
    assert done.split is not None
    assert done.split.reachable <= 1e-12
    assert done.split.unmoved == pytest.approx(1e-8, rel=1e-3)
    assert done.split.row.constraint == "pin"
    assert "of 'pin', redundant, is off by 1e-08" in str(done)
    assert done.residual == pytest.approx(1e-8, rel=1e-3)
    assert dict(done.errors)["pin"] == pytest.approx(1e-8, rel=1e-3)


def test_a_tilt_above_a_millionth_is_told_with_the_tolerance_that_accepts_it() -> None:
    rows = tilted(3.7e-6).constraint_set()
    done = assemble_position(rows, CLOSED + 0.01)
    assert not done.success
    assert "of 'pin' is off by" in str(done)
    assert "`tolerance=1e-05` accepts it" in str(done)
    assert assemble_position(rows, CLOSED + 0.01, options=AssemblyOptions(tolerance=1e-5)).success


def test_a_mechanism_that_digits_make_immobile_says_so() -> None:
    mechanism = askew(3e-5)
    q = assemble_position(mechanism.constraint_set(), CLOSED, options=AssemblyOptions(tolerance=1e-4)).q
    judged = mechanism.judge(q)
    assert judged.mobility == 0
    (row,) = judged.weak
    assert row.endswith("of 'pin'")
    assert 1e-6 < judged.weak[row] < 3e-5
    assert "redundant but for the digits of a file" in judged.describe()
    assert mechanism.judge(q, tolerance=1e-4).mobility == 1
    rows = askew(3e-7).constraint_set()
    nearly = assemble_position(rows, CLOSED).or_raise().q
    assert minimal_coordinates(rows, nearly).partition.independent.size == 1
    immobile = minimal_coordinates(rows, nearly, tolerance=1e-9)
    assert immobile.partition.independent.size == 0
    assert "redundant but for the digits of a file" in immobile.describe()


@pytest.mark.parametrize("start", [[0.3, -0.6], [0.0, 0.0], [1e-3, -2e-3]])
@pytest.mark.parametrize("short", [1e-8, 1e-10, 5e-7])
def test_an_arm_that_is_too_short_stays_a_failure(short: float, start: list[float]) -> None:
    """Its last row is redundant where it is stretched, but not where it is bent."""
    done = arm(1.0 + short, start)
    assert not done.success
    assert done.status in (Status.STATIONARY, Status.STALLED)
    assert arm(1.0 - 1e-3, start if start[1] else [0.1, -0.2]).success


def test_bounds_hold_for_what_is_closed_so() -> None:
    """A configuration that closes it out of bounds is none."""
    rows = tilted(1e-8).constraint_set()
    robot = rows.robot
    inside = robot.bounds
    done = assemble_position(rows, CLOSED + 0.01, options=AssemblyOptions(bounds=inside))
    assert done.success
    assert not done.violations


def test_the_branch_is_kept_there_too() -> None:
    """Driven joints move, the rest follows on its branch, in steps, with the pin tilted by 1e-8."""
    rows, q = tilted(1e-8).constraint_set(), CLOSED.copy()
    for _ in range(10):
        q[0] += 0.05
        done = assemble_position(rows, q, driven=["crank"], stay_on_branch=0.3)
        assert done.success, done.describe()
        assert done.branch is not None
        assert done.branch.is_closed
        q = done.q.copy()
    elbow = q.copy()
    elbow[1:] = elbow[1:][::-1] * [-1.0, -1.0]
    other = assemble_position(rows, elbow, driven=["crank"], stay_on_branch=5.0, before=q)
    assert other.success is False or np.abs(other.q - q).max() < 1e-6
