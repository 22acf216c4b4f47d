"""Numbers in other units are asked about once a problem; poses typed with a few digits are normalised."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from robots import arm, humanoid
from scipy.spatial.transform import Rotation as R

from constraints import (
    Affine,
    Comparison,
    Function,
    Implicit,
    Pose,
    Position,
    Problem,
    Projector,
    Target,
    locked_joint,
)
from constraints.errors import FunctionError, NotNormalizedError
from constraints.functions import Function as Base
from liegroups import Rn


def asked(caplog: pytest.LogCaptureFixture, *constraints: Any, robot: Any = None) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.WARNING, "constraints"):
        Problem(robot or arm(), list(constraints))
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def coordinate(joint: int, slope: float = 1.0, shift: float = 0.0) -> Affine:
    return Affine([slope * np.eye(7)[joint]], [shift], arm().space)


def test_degrees_and_millimetres_are_asked_about_once_a_problem(caplog: pytest.LogCaptureFixture) -> None:
    robot = arm()
    locked, hand = locked_joint(robot, "elbow", 90.0), Implicit.equal(Position(robot, "tool"), [300.0, 200.0, 500.0])
    said = asked(caplog, locked, hand)
    assert len(said) == 1
    assert "90 for 'elbow', whose bounds are [-0.1, 2.6] rad: is it in degrees?" in said[0]
    assert "is it in millimetres?" in said[0]
    assert asked(caplog, locked, hand) == []  # the same constraints in another problem, as in a graph
    pose = Implicit.equal(Pose(robot, "tool"), [300.0, 200.0, 500.0, 0.0, 0.0, 0.0, 1.0])
    assert "millimetres" in asked(caplog, pose)[0]
    assert "degrees" in asked(caplog, Implicit.equal(coordinate(3, 2.0, 1.0), [181.0]))[0]


def test_what_may_be_meant_is_not_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """A little out of bounds, far but not a hundred times, a loose interval, another joint's turns, a free base."""
    robot = arm()
    fine = [
        locked_joint(robot, "elbow", 3.0),
        Implicit.equal(Position(robot, "tool"), [30.0, 0.2, 0.5]),
        Implicit.below(coordinate(4), [400.0]),
        Implicit.between(Position(robot, "elbow"), [-1e4, -1e4, -1e4], [1e4, 1e4, 1e4]),
    ]
    assert asked(caplog, *fine) == []
    walker = humanoid()
    frame = walker.frame_names[-1]
    assert asked(caplog, Implicit.equal(Position(walker, frame), [1e4, 0.0, 0.0]), robot=walker) == []


def typed(digits: int) -> list[float]:
    """A pose written with so many digits of its quaternion xyzw."""
    return [0.3, 0.2, 0.5, *np.round(R.from_euler("xyz", [0.3, -0.4, 1.1]).as_quat(), digits).tolist()]


@pytest.mark.parametrize("digits", [3, 4, 5])
def test_typed_poses_targets_and_references_are_normalised(digits: int) -> None:
    robot, pose = arm(), typed(digits)
    unit = np.r_[pose[:3], np.array(pose[3:]) / np.linalg.norm(pose[3:])]
    equal = Implicit.equal(Pose(robot, "tool"), pose)
    problem = Problem(robot, [equal])
    np.testing.assert_allclose(problem.rhs.of(equal), unit, rtol=0, atol=1e-15)
    np.testing.assert_allclose(problem.rhs.replace(equal, pose).of(equal), unit, rtol=0, atol=1e-15)
    moving = Implicit(Pose(robot, "tool"), Comparison.EQUALITY, rhs=Target(lambda t: pose))
    np.testing.assert_allclose(Problem(robot, [moving]).rhs_at(0.5).of(moving), unit, rtol=0, atol=1e-15)
    turned = R.from_quat(pose[3:]).as_matrix()
    held = robot.with_frame("held", "tool", pose).frame("held").placement.rotation
    on_tool = robot.frame("tool").placement.rotation
    np.testing.assert_allclose(held, on_tool @ turned, rtol=0, atol=1e-12)
    far = Position(robot, "tool", reference=np.array(pose)).value(np.zeros(7))
    plain = Position(robot, "tool").value(np.zeros(7))
    np.testing.assert_allclose(far, turned.T @ (plain - pose[:3]), rtol=0, atol=1e-12)


def test_configurations_and_poses_further_off_are_refused_as_before() -> None:
    robot, walker = arm(), humanoid()
    wrong = [0.3, 0.2, 0.5, 0.0, 0.0, 0.0, 1.002]
    with pytest.raises(NotNormalizedError):
        Implicit.equal(Pose(robot, "tool"), wrong)
    with pytest.raises(NotNormalizedError):
        robot.with_frame("held", "tool", wrong)
    q = walker.space.neutral.copy()
    q[6] = 1.0 + 1e-4
    with pytest.raises(NotNormalizedError):
        walker.at(q)


def solve(f: Function) -> Any:
    return Projector(Problem(Rn(2), [Implicit.zero(f)])).project([0.4, 0.3])


def test_a_function_that_writes_into_q_is_named() -> None:
    def spoils(q: Any) -> Any:
        q[0] -= 1.0
        return [q[0] + q[1]]

    with pytest.raises(FunctionError, match=r"spoils writes into its argument: entry 0 of q was 0.4, is -0.6"):
        solve(Function.from_callable(spoils, Rn(2), Rn(1)))

    class Spoils(Base):
        def __init__(self) -> None:
            self.declare(Rn(2), Rn(1), name="of a class")

        def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
            point.q[0] = 1.0
            value[0] = 1.0
            if jacobian is not None:
                jacobian[:] = 1.0

    with pytest.raises(FunctionError, match="of a class writes into q"):
        solve(Spoils())


def test_a_function_with_two_values_for_one_q_is_named() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(FunctionError, match=r"noisy gives two values for one q: entry 0 is .*, then "):
        solve(Function.from_callable(lambda q: [q[0] + 0.01 * rng.random()], Rn(2), Rn(1), name="noisy"))
    assert solve(Function.from_callable(lambda q: [q[0] + q[1] ** 2], Rn(2), Rn(1))).success
