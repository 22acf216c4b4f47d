"""Velocities, accelerations and joint forces by name of the joint, wherever such a vector goes; results by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Implicit, Position, Problem, Robot, errors, project
from constraints.dynamics import JointLaw, forward_dynamics, impact, inverse_dynamics, simulate
from constraints.loops import assemble_position, assemble_velocity
from constraints.models import mechanisms, sample_arm
from constraints.reduced import equilibrium, reduced_forward_dynamics, reduced_inverse_dynamics
from liegroups import SE3, Rn

LINKAGE = mechanisms.four_bar()
ROWS = LINKAGE.constraint_set()
CLOSED = LINKAGE.posture("closed")
ROBOT = LINKAGE.robot
STILL = ROBOT.at(CLOSED, {})
COORDINATES = LINKAGE.minimal_coordinates(CLOSED, independent=["crank"])
HEIGHT = Implicit.equal(Position(ROBOT, ROBOT.frame_names[-1]), [0.0, 0.2, 0.0], mask=[False, True, False])


def crank(x: float) -> np.ndarray:
    """A number at the crank, whose place is first (`joint_names`)."""
    return np.array([x, 0.0, 0.0])


def ball_on_a_slider() -> Robot:
    """Joints with one, three and six degrees of freedom; the model is pinocchio's."""
    model = pin.Model()
    joint = 0
    for name, kind in (
        ("slide", pin.JointModelPX()),
        ("ball", pin.JointModelSpherical()),
        ("free", pin.JointModelFreeFlyer()),
    ):
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    return Robot(model)


MIXED = ball_on_a_slider()


def test_order_is_that_of_joint_names_and_of_pinocchio() -> None:
    v = MIXED.velocity({"free": [1, 2, 3, 4, 5, 6], "slide": 7.0})
    model: Any = MIXED.model
    for name, numbers in (("slide", [7.0]), ("ball", [0.0] * 3), ("free", [1, 2, 3, 4, 5, 6])):
        i = model.getJointId(name)
        assert v[model.idx_vs[i] : model.idx_vs[i] + model.nvs[i]].tolist() == numbers
    assert tuple(MIXED.by_joint(v)) == MIXED.joint_names


def test_by_joint_undoes_velocity_and_configuration() -> None:
    rng = np.random.default_rng(0)
    for robot in (MIXED, ROBOT, sample_arm()):
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        assert np.array_equal(robot.velocity(robot.by_joint(v)), v)
        assert np.allclose(robot.configuration(robot.by_joint(q)), q, rtol=0.0, atol=1e-15)
        assert all(
            isinstance(x, float) == (robot.space.factors[i].space.nv == 1)
            for i, x in enumerate(robot.by_joint(v).values())
        )


Call = Callable[[Any], Any]


def closed_velocity(v: Any) -> Any:
    return COORDINATES.at(CLOSED, v, close=True).v


PLACES: dict[str, Call] = {
    "robot.at": lambda x: ROBOT.at(CLOSED, x).v,
    "forward_dynamics": lambda x: forward_dynamics(ROWS, STILL, tau=x).acceleration,
    "sparse": lambda x: forward_dynamics(ROWS, STILL, tau=x, method="SPARSE").acceleration,
    "inverse_dynamics": lambda x: inverse_dynamics(ROWS, STILL, np.ones(3), actuated=["crank"], tau=x).tau,
    "assemble_velocity": lambda x: assemble_velocity(ROWS, CLOSED, x),
    "simulate, start": lambda x: simulate(ROWS, CLOSED, closed_velocity(x), 0.01, 0.01).v,
    "simulate, forces": lambda x: simulate(ROWS, CLOSED, {}, 0.01, 0.01, forces=lambda motion: x).v,
    "velocity of a closure": lambda x: ROWS.velocity_error(CLOSED, x),
    "drift of a function": lambda x: Position(ROBOT, ROBOT.frame_names[-1]).drift_at(CLOSED, x),
    "coordinates.at": closed_velocity,
    "closed state": lambda x: COORDINATES.at(CLOSED).velocity(x),
    "reduced, tau": lambda x: reduced_forward_dynamics(COORDINATES.at(CLOSED), tau=x).acceleration,
    "equilibrium": lambda x: equilibrium(COORDINATES, CLOSED, tau=x).q,
    "project_tangent": lambda x: Problem(ROBOT, [HEIGHT]).project_tangent(CLOSED, x),
    "force": lambda x: JointLaw(ROBOT, "crank", lambda q, v: -2.0 * v).generalised(ROBOT.at(CLOSED, x)),
}


@pytest.mark.parametrize("call", PLACES.values(), ids=PLACES)
def test_a_mapping_goes_where_a_vector_goes(call: Call) -> None:
    """Bit for bit the same as the array, also where several joints are named."""
    assert np.array_equal(call({"crank": 0.7}), call(crank(0.7)))
    assert np.array_equal(call({}), call(np.zeros(3)))


@pytest.mark.parametrize("call", PLACES.values(), ids=PLACES)
def test_a_joint_that_there_is_not_is_named_with_the_nearest(call: Call) -> None:
    with pytest.raises(errors.UnknownJointError, match="no joint is named 'crnk'; the nearest names are crank"):
        call({"crnk": 0.7})


def test_independent_coordinates_by_joint() -> None:
    state = COORDINATES.at(CLOSED, {"crank": 1.0}, close=True)
    assert np.array_equal(COORDINATES.spread({"crank": 2.0}), COORDINATES.spread([2.0]))
    for acceleration in ({"crank": 3.0}, [3.0]):
        found = reduced_inverse_dynamics(state, acceleration, actuated=["crank"])
        assert found.acceleration[0] == 3.0
        there = reduced_forward_dynamics(state, tau=found.by_joint()).by_joint()
        assert there["crank"] == pytest.approx(3.0, abs=1e-9)
    with pytest.raises(
        errors.UnknownNameError, match="independent coordinate is named 'rocker'; the valid names are crank"
    ):
        COORDINATES.spread({"rocker": 1.0})
    with pytest.raises(errors.UnknownJointError, match="nearest names are crank"):
        COORDINATES.spread({"crnk": 1.0})
    with pytest.raises(errors.UnknownNameError, match="no driven coordinate is named 'crank'"):
        COORDINATES.spread([1.0], {"crank": 1.0})


def test_results_by_joint() -> None:
    motion = STILL
    forward = forward_dynamics(ROWS, motion, {"crank": 1.0})
    assert forward.by_joint() == dict(zip(ROBOT.joint_names, forward.acceleration.tolist(), strict=True))
    inverse = inverse_dynamics(ROWS, motion, forward.by_joint(), actuated=["crank"])
    assert inverse.by_joint() == pytest.approx({"crank": 1.0, "coupler": 0.0, "rocker": 0.0}, abs=1e-9)
    assert inverse.by_joint("acceleration") == pytest.approx(forward.by_joint(), rel=1e-9)
    jump = impact(ROWS, ROBOT.at(CLOSED, {"crank": 1.0}))
    assert jump.by_joint() == dict(zip(ROBOT.joint_names, jump.velocity.tolist(), strict=True))
    for result in (assemble_position(ROWS, CLOSED), COORDINATES.close(CLOSED), equilibrium(COORDINATES, CLOSED)):
        assert np.array_equal(ROBOT.configuration(result.by_joint()), result.q)
    with pytest.raises(
        errors.UnknownNameError, match="by joint of ForwardDynamics is named 'q'; the valid names are acc"
    ):
        forward.by_joint("q")


def test_a_projection_by_joint() -> None:
    arm = sample_arm()
    found = project(arm, [Implicit.equal(Position(arm, "tool"), [0.4, 0.2, 0.5])], arm.reference("home"))
    assert found.by_joint() == dict(zip(arm.joint_names, found.q.tolist(), strict=True))


WRONG: list[tuple[Any, type[Exception], str]] = [
    ({"slide": [1.0, 2.0]}, errors.SizeError, "velocity, 'slide': expected size 1, received 2"),
    ({"ball": 1.0}, errors.SizeError, "velocity, 'ball': expected size 3, received 1"),
    ({"ball": "fast"}, errors.DtypeError, "velocity, 'ball'"),
    ({"ball": [[1.0], 2.0, 3.0]}, errors.DtypeError, "velocity, 'ball'"),
    ({"slide": float("nan")}, errors.NotFiniteError, "velocity, 'slide'"),
    ({3: 1.0}, errors.UnknownJointError, "no joint is named 3"),
    ({"bal": [1, 2, 3]}, errors.UnknownJointError, "nearest names are ball"),
]


@pytest.mark.parametrize(("given", "error", "words"), WRONG)
def test_wrong_numbers_name_the_joint(given: Any, error: type[Exception], words: str) -> None:
    for call in (
        MIXED.velocity,
        lambda x: MIXED.space.check_tangent(x, "velocity"),
        lambda x: MIXED.at(MIXED.neutral, x),
    ):
        with pytest.raises(error, match=words):
            call(given)


def test_what_is_no_mapping_is_refused_by_velocity() -> None:
    with pytest.raises(errors.WrongObjectError, match="mapping from joint name to value"):
        ROBOT.velocity("crank")  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.DuplicateNameError, match="crank"):
        ROBOT.velocity({"crank": 1.0}, crank=2.0)
    with pytest.raises(errors.SizeError, match="vector by name: expected size 10, or 12 of a point"):
        MIXED.by_joint([1.0, 2.0])


def test_a_vector_of_another_size_says_the_order() -> None:
    words = r"expected size 3, received 1 \(in the order crank, coupler, rocker; or by name, \{'crank': ...\}\)"
    with pytest.raises(errors.SizeError, match=words):
        forward_dynamics(ROWS, STILL, tau=[1.0])


def test_products_of_other_spaces_take_names_too() -> None:
    space = SE3 * Rn(1)
    assert space.check_tangent({"R1": 3.0}).tolist() == [0.0] * 6 + [3.0]
    with pytest.raises(errors.UnknownNameError, match="no factor is named 'R3'; the nearest names are"):
        space.check_tangent({"R3": 3.0})


def test_an_array_comes_back_as_it_is() -> None:
    """The door of vectors costs arrays nothing: no copy, no look at names."""
    v = np.ones(3)
    assert ROBOT.space.check_tangent(v) is v
