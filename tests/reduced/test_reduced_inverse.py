"""Inverse dynamics in minimal coordinates: four cases, truth from plain pinocchio and from `inverse_dynamics`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from closed_mechanisms import ALL
from closed_states import mechanism_of, state_of
from linkages import upright

from constraints.dynamics import DynamicsStatus, ExternalForce, HingeForce, inverse_dynamics
from constraints.errors import FailedError, OptionError, SizeError, TruthValueError, UnknownNameError, WrongObjectError
from constraints.loops import ConstraintSet
from constraints.models import mechanisms
from constraints.reduced import (
    ClosedState,
    UnderactuatedError,
    minimal_coordinates,
    reduced_forward_dynamics,
    reduced_inverse_dynamics,
)


def five_bar(driven: tuple[str, ...] = (), independent: tuple[str, ...] = ()) -> ClosedState:
    """A five-bar held upright, in motion."""
    rows, q = upright("five_bar")
    coordinates = minimal_coordinates(rows, q, driven=driven, independent=independent)
    return coordinates.at(q, np.random.default_rng(0).standard_normal(4), close=True)


def rnea(state: ClosedState, a: np.ndarray) -> np.ndarray:
    model: Any = state.coordinates.constraint_set.robot.model
    return np.array(pin.rnea(model, model.createData(), state.q, state.v, a))


# The four cases.


def test_without_constraints() -> None:
    """Case 8, the first: without constraints Q_a = phi_a, and Q_c = phi_c where a joint is driven."""
    mechanism, _, q = mechanism_of("slider_crank")
    rng, free = np.random.default_rng(0), ConstraintSet(mechanism.robot, [])
    v, tau = rng.standard_normal(4), rng.standard_normal(4)
    state = minimal_coordinates(free, q).at(q, v)
    a = rng.standard_normal(4)
    found = reduced_inverse_dynamics(state, a, actuated=mechanism.robot.joint_names, tau=tau).or_raise()
    np.testing.assert_allclose(found.effort, rnea(state, a) - tau, atol=1e-12)
    assert tuple(found.by_name) == ("crank", "rod[0]", "rod[1]", "slider")
    driven = minimal_coordinates(free, q, driven=["rod"]).at(q, v)
    found = reduced_inverse_dynamics(driven, a[[0, 3]], a[[1, 2]], actuated=["slider", "crank"]).or_raise()
    needed = rnea(state, a)
    np.testing.assert_allclose(found.effort, needed[[3, 0]], atol=1e-12)
    np.testing.assert_allclose(found.driven_forces, needed[[1, 2]], atol=1e-12)
    np.testing.assert_allclose(found.driven_force("rod"), needed[[1, 2]], atol=1e-12)


def test_without_constraints_and_fully_driven() -> None:
    """Case 8, the second: where every joint is driven, Q_c = phi."""
    mechanism, _, q = mechanism_of("slider_crank")
    rng, free = np.random.default_rng(0), ConstraintSet(mechanism.robot, [])
    state = minimal_coordinates(free, q, driven=mechanism.robot.joint_names).at(q, rng.standard_normal(4))
    a = rng.standard_normal(4)
    found = reduced_inverse_dynamics(state, None, a, actuated=()).or_raise()
    np.testing.assert_allclose(found.driven_forces, rnea(state, a), atol=1e-12)
    assert found.effort.shape == (0,)
    assert found.by_name == {}


@pytest.mark.parametrize(
    "actuated", [("left_inner", "right_inner"), ("left_outer", "right_outer"), ("right_outer", "left_inner")]
)
def test_as_many_actuators_as_free_motions(actuated: tuple[str, ...]) -> None:
    """Case 8, the third: independent and dependent joints actuated, as many as there are free motions; what they give
    is given back by direct dynamics, and is that of `inverse_dynamics`."""
    state = five_bar(independent=("left_inner", "right_inner"))
    push = ExternalForce("left_outer_end", [1.0, 2.0, 0.0, 0.0, 0.0, 0.5])
    tau = np.array([0.3, 0.1, -0.2, 0.4])
    found = reduced_inverse_dynamics(state, [1.0, -2.0], actuated=actuated, tau=tau, external=[push]).or_raise()
    back = reduced_forward_dynamics(state, tau + found.tau, external=[push]).or_raise()
    np.testing.assert_allclose(back.independent_acceleration, [1.0, -2.0], atol=1e-9)
    np.testing.assert_allclose(back.multipliers, found.multipliers, atol=1e-9)
    rows = state.coordinates.constraint_set
    other = inverse_dynamics(
        rows, state.motion, found.acceleration, actuated=actuated, tau=tau, external=[push]
    ).or_raise()
    np.testing.assert_allclose(found.effort, other.effort, atol=1e-9)
    np.testing.assert_allclose(found.effort_of(actuated[0]), other.effort_of(actuated[0]), atol=1e-9)
    np.testing.assert_allclose(found.least_norm(), other.multipliers, atol=1e-9)
    assert found.surplus == 0
    assert found.acting == (push,)


def test_more_actuators_than_needed() -> None:
    """Case 8, the third, over-actuation: the equations are met, by the efforts of least norm, as in
    `inverse_dynamics`."""
    state = five_bar()
    found = reduced_inverse_dynamics(
        state, [1.0, -2.0], actuated=["left_inner", "right_inner", "left_outer", "right_outer"]
    ).or_raise()
    back = reduced_forward_dynamics(state, found.tau).or_raise()
    np.testing.assert_allclose(back.independent_acceleration, [1.0, -2.0], atol=1e-9)
    assert found.surplus == 2
    other = inverse_dynamics(
        state.coordinates.constraint_set, state.motion, found.acceleration,
        actuated=["left_inner", "right_inner", "left_outer", "right_outer"],
    ).or_raise()  # fmt: skip
    np.testing.assert_allclose(found.effort, other.effort, atol=1e-9)
    two = reduced_inverse_dynamics(state, [1.0, -2.0], actuated=["left_inner", "right_inner"]).or_raise()
    assert np.linalg.norm(found.effort) < 0.99 * np.linalg.norm(two.effort)


def test_driven_joint_beside_actuators() -> None:
    """Case 8, the third: the drives give Q_c beside the actuators; both together give the motion."""
    state = five_bar(driven=("right_inner",), independent=("left_inner",))
    found = reduced_inverse_dynamics(state, [1.5], [-0.7], actuated=["left_outer"]).or_raise()
    back = reduced_forward_dynamics(state, found.tau, driven_acceleration=[-0.7]).or_raise()
    np.testing.assert_allclose(back.acceleration, found.acceleration, atol=1e-9)
    np.testing.assert_allclose(back.driven_forces, found.driven_forces, atol=1e-9)
    whole = found.tau
    whole[2] += found.driven_forces[0]
    J = state.rows.jacobian
    np.testing.assert_allclose(rnea(state, found.acceleration), whole + found.multipliers @ J, atol=1e-10)


@pytest.mark.parametrize(
    "actuated",
    [["left_inner", "right_inner"], ["left_outer", "right_outer"], ["left_inner", "left_outer", "right_outer"]],
)
def test_fully_driven_with_actuators(actuated: list[str]) -> None:
    """Case 8, the fourth: where all is driven, actuators on driven or dependent joints hold the motion, and nothing is
    left for the drives; without actuators the drives do all."""
    state = five_bar(driven=("left_inner", "right_inner"))
    found = reduced_inverse_dynamics(state, None, [1.0, -2.0], actuated=actuated).or_raise()
    np.testing.assert_allclose(found.driven_forces, 0.0, atol=1e-12)
    J = state.rows.jacobian
    np.testing.assert_allclose(rnea(state, found.acceleration), found.tau + found.multipliers @ J, atol=1e-10)
    drives = reduced_inverse_dynamics(state, None, [1.0, -2.0], actuated=()).or_raise()
    assert np.abs(drives.driven_forces).min() > 0.1
    np.testing.assert_allclose(
        drives.driven_forces, reduced_forward_dynamics(state, driven_acceleration=[1.0, -2.0]).driven_forces, atol=1e-12
    )
    if actuated == ["left_inner", "right_inner"]:
        np.testing.assert_allclose(found.effort, drives.driven_forces, atol=1e-12)
    assert found.surplus == len(actuated) - 2


@pytest.mark.parametrize("name", ALL)
def test_what_it_gives_gives_the_motion_back(name: str) -> None:
    """Case 8: Q_a of all independent coordinates, fed to direct dynamics, gives the wished accelerations to 1e-9.

    In the delta robot of a file it is 1e-12 of those that the same forces would give without each other: its rods turn
    with 1e-11 kg m2, and the last digit of what holds the others turns them.
    """
    state = state_of(name)
    independent = state.coordinates.partition.independent
    wish = np.random.default_rng(8).standard_normal(independent.size)
    found = reduced_inverse_dynamics(state, wish, actuation=np.eye(state.v.size)[:, independent]).or_raise()
    back = reduced_forward_dynamics(state, found.tau).or_raise()
    alone = np.abs(found.tau[independent]).max() / state.motion.mass_matrix().diagonal().min()
    limit = 1e-12 * alone if name == "robot_delta" else 1e-9
    assert np.abs(back.independent_acceleration - wish).max() <= limit


# Cut hinges.


def test_cut_hinge_as_an_actuator() -> None:
    """Case 8: the cut hinge of a closure is an actuator like a joint; its torque is the force that crosses the cut."""
    state = five_bar(independent=("left_inner", "right_inner"))
    found = reduced_inverse_dynamics(state, [1.0, -2.0], actuated=["left_inner", "cut"]).or_raise()
    assert tuple(found.by_name) == ("left_inner", "cut")
    cut: Any = state.coordinates.constraint_set["cut"]
    hinge = HingeForce(cut, found.effort_of("cut"))
    tau = np.array([found.by_name["left_inner"], 0.0, 0.0, 0.0])
    back = reduced_forward_dynamics(state, tau, external=[hinge]).or_raise()
    np.testing.assert_allclose(back.independent_acceleration, [1.0, -2.0], atol=1e-9)
    np.testing.assert_allclose(found.hinge_force("cut"), found.effort_of("cut"), atol=1e-9)


# Too few, too weak, wrong.


def test_too_few_actuators_are_counted() -> None:
    """Case 8, under-actuation: an error that counts the actuators and what is needed, and names what has none."""
    state = five_bar(independent=("left_inner", "right_inner"))
    with pytest.raises(UnderactuatedError, match="1 actuator for 2 independent coordinates: right_inner has none") as e:
        reduced_inverse_dynamics(state, [1.0, 2.0], actuated=["left_inner"])
    assert (e.value.actuators, e.value.needed, e.value.without) == (1, 2, ("right_inner",))
    with pytest.raises(UnderactuatedError, match=r"0 actuators for 2 .*left_inner, right_inner have none"):
        reduced_inverse_dynamics(state, actuated=())
    driven = five_bar(driven=("left_inner", "right_inner"))
    with pytest.raises(UnderactuatedError, match="1 actuator for 2 driven coordinates"):
        reduced_inverse_dynamics(driven, None, [0.0, 0.0], actuated=["left_inner"])
    platform = mechanisms.stewart_platform()
    legs = minimal_coordinates(platform.constraint_set(), platform.posture("closed"), independent=platform.motors)
    with pytest.raises(UnderactuatedError, match=r"4 actuators for 6 .*length2, length5 have none"):
        reduced_inverse_dynamics(legs.at(legs.q), actuated=[m for m in platform.motors if m[-1] not in "25"])


def test_actuator_at_its_dead_centre() -> None:
    """Case 8, ill-conditioned: the rocker of a four-bar moves nothing where crank and coupler are in line: a status
    that names the crank, not a force of 1e16."""
    made = mechanisms.four_bar(angle=float(np.arccos(0.8)))  # ground 0.4, crank and coupler 0.5, rocker 0.3
    state = minimal_coordinates(made.constraint_set(), made.posture("closed"), independent=["crank"]).at(
        made.posture("closed"), None
    )
    found = reduced_inverse_dynamics(state, [1.0], actuated=["rocker"])
    assert found.status is DynamicsStatus.SINGULAR_ACTUATION
    assert found.without == ("crank",)
    assert "crank" in str(found)
    assert found.describe().splitlines()[-1] == f"  force of rocker: {found.effort[0]:.6g}"
    assert np.abs(found.effort).max() < 1.0
    with pytest.raises(FailedError, match="crank"):
        found.or_raise()
    with pytest.raises(TruthValueError):
        bool(found)
    assert reduced_inverse_dynamics(state, [1.0], actuated=["coupler"]).success
    assert reduced_inverse_dynamics(state, [1.0], actuated=["rocker", "crank"]).success


def test_redundant_actuators_that_miss_one_motion() -> None:
    """Case 8: as many actuators as motions, two of them the same: the status names the motion without one."""
    state = five_bar(independent=("left_inner", "right_inner"))
    same = np.array([[1.0, 2.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    found = reduced_inverse_dynamics(state, [1.0, -2.0], actuation=same)
    assert found.status is DynamicsStatus.SINGULAR_ACTUATION
    assert found.without == ("right_inner",)
    assert found.surplus == 1


def test_what_is_wrong_with_an_argument_is_named() -> None:
    """Case 8, issue 16: driven and actuated at once, unknown names, sizes: errors that name the culprit."""
    state = five_bar(driven=("right_inner",))
    with pytest.raises(OptionError, match="actuated 'right_inner': it is driven"):
        reduced_inverse_dynamics(state, [0.0], [0.0], actuated=["left_inner", "right_inner"])
    with pytest.raises(UnknownNameError, match=r"left_iner.*left_inner"):
        reduced_inverse_dynamics(state, actuated=["left_iner"])
    with pytest.raises(OptionError, match="got none"):
        reduced_inverse_dynamics(state)
    with pytest.raises(OptionError, match="given twice"):
        reduced_inverse_dynamics(state, actuated=["left_inner", "left_inner"])
    with pytest.raises(SizeError, match="actuation matrix"):
        reduced_inverse_dynamics(state, actuation=np.eye(3))
    with pytest.raises(SizeError, match="independent coordinates"):
        reduced_inverse_dynamics(state, [1.0, 2.0], actuated=["left_inner"])
    with pytest.raises(WrongObjectError, match="ClosedState"):
        reduced_inverse_dynamics(state.motion, actuated=["left_inner"])  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnknownNameError, match="left_outer"):
        reduced_inverse_dynamics(state, actuated=["left_inner"]).effort_of("left_outer")
    huge = reduced_inverse_dynamics(state, tau=[1e308, 1e308, -1e308, 1e308], actuated=["left_inner"])
    assert huge.status is DynamicsStatus.NOT_FINITE
