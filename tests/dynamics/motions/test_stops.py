"""Joint limits that stop a motion, against closed forms."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Implicit, Robot, Target
from constraints.dynamics import Event, Forces, JointLaw, MotionStatus, SimulationOptions, Stops, simulate
from constraints.errors import OptionError, UnknownJointError, WrongObjectError
from constraints.functions import Affine
from constraints.loops import ConstraintSet, assemble_velocity
from constraints.models import mechanisms

G = 9.81


def slider(lower: float = 0.0, upper: float = np.inf, *, axis: Any = None) -> Robot:
    """A mass of 2 kg on a vertical rail."""
    model = pin.Model()
    joint = model.addJoint(
        0, axis or pin.JointModelPZ(), pin.SE3.Identity(), "lift", np.array([1e3]), np.array([1e3]),
        np.array([lower]), np.array([upper]),
    )  # fmt: skip
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    return Robot(model, name="slider")


def test_a_mass_falls_on_its_lower_stop_and_stays() -> None:
    record = simulate(ConstraintSet(slider(), []), [0.5], [0.0], 1.0, options=SimulationOptions(limits="stop"))
    assert [event.name for event in record.events] == ["lift at its lower limit"]
    assert record.events[0].time == pytest.approx(sqrt(2.0 * 0.5 / G), abs=2e-8)
    assert record.q == pytest.approx([0.0], abs=1e-9)
    assert record.limits_passed == ()
    assert record.multipliers_of("lift at its lower limit")[-1] == pytest.approx([2.0 * G])
    assert simulate(ConstraintSet(slider(), []), [0.5], [0.0], 1.0).limits_passed != ()


def test_stops_bounce_with_their_restitution_until_the_speed_of_rest() -> None:
    e, h = 0.5, 0.5
    record = simulate(
        ConstraintSet(slider(), []),
        [h],
        [0.0],
        2.0,
        options=SimulationOptions(limits=Stops(restitution=e, rest_speed=0.5)),
    )
    v = sqrt(2.0 * G * h)
    times = v / G + np.cumsum([0.0, 2.0 * v * e / G, 2.0 * v * e**2 / G, 2.0 * v * e**3 / G])
    assert np.allclose([event.time for event in record.events], times, atol=1e-7)  # 3.13, 1.57, 0.78, 0.39 m/s
    assert record.v == pytest.approx([0.0], abs=1e-12)


def test_what_lies_at_a_stop_leaves_it_when_it_is_pulled_away() -> None:
    """An upper stop, from which a force of c (t - 1) takes it: z = -c (t - 1)^3 / 12."""
    robot, c = slider(-np.inf, 0.0, axis=pin.JointModelPX()), 12.0
    push = JointLaw(robot, "lift", lambda q, v, t: [c * (1.0 - t)])
    for forces in (Forces(robot, [push]), lambda motion, t: [c * (1.0 - t)]):
        record = simulate(
            ConstraintSet(robot, []), [0.0], [0.0], 2.0, forces=forces, options=SimulationOptions(limits="stop")
        )
        assert [event.name for event in record.events] == ["lift leaves its upper limit"]
        assert record.events[0].time == pytest.approx(1.0, abs=1e-6)
        assert record.q == pytest.approx([-c / 12.0], abs=1e-6)


def test_a_stop_in_a_closed_loop_stops_all_of_it() -> None:
    """A crank of a five-bar at its limit: the loop stays closed, and its mobility is one less."""
    made = mechanisms.five_bar()
    q0 = made.posture("closed")
    crank = made.robot.joint_names[0]
    i = made.robot.joint_names.index(crank)
    robot = made.robot
    bounded = robot.with_bounds({crank: (q0[i] - 0.3, q0[i] + 0.3)})
    loop = ConstraintSet(bounded, list(made.constraint_set().stack))
    turn = JointLaw(bounded, crank, lambda q, v: [2.0 - 0.5 * v[0]] if np.ndim(v) else 2.0 - 0.5 * v)
    record = simulate(
        loop,
        q0,
        np.zeros(robot.nv),
        2.0,
        forces=Forces(bounded, [turn]),
        options=SimulationOptions(limits=Stops(joints=[crank])),
    )
    assert record.status is MotionStatus.FINISHED
    assert record.events[0].name == f"{crank} at its upper limit"
    assert record.q[i] == pytest.approx(q0[i] + 0.3, abs=1e-8)
    assert record.position_drift.max() < 1e-9
    assert record.ranks[-1] == record.ranks[0] + 1


@pytest.mark.parametrize("carried", [-3.0, 0.0, 3.0])
@pytest.mark.parametrize("way", [-2.0, 2.0])
def test_a_bounce_is_the_same_on_a_cart_that_is_driven(carried: float, way: float) -> None:
    """Though kinetic energy rises: the drive of the cart does work."""
    model = pin.Model()
    for parent, name in enumerate(("cart", "mass")):
        joint = model.addJoint(parent, pin.JointModelPX(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    robot = Robot(model).with_bounds({"mass": (0.0, 1.0)})
    goes = Target(lambda t: [carried * t], lambda t: [carried], lambda t: [0.0])
    rows = ConstraintSet(robot, [Implicit.equal(Affine([[1.0, 0.0]], [0.0], robot.space), goes, name="drive")])
    record = simulate(
        rows, [0.0, 0.5], [carried, way], 0.5, options=SimulationOptions(limits=Stops(restitution=0.5, joints=["mass"]))
    )
    assert len(record.events) == 1
    assert record.v == pytest.approx([carried, -0.5 * way])


def test_a_bounce_of_a_linkage_whose_loop_is_a_little_open_is_elastic() -> None:
    """Baumgarte's stabilisation leaves rates, which an impact ends: that energy is not of the stop."""
    made = mechanisms.five_bar()
    q0 = made.posture("closed")
    crank = made.robot.joint_names[0]
    robot = made.robot.with_bounds({crank: (q0[0] - 0.3, q0[0] + 0.3)})
    loop = ConstraintSet(robot, list(made.constraint_set().stack)).stabilised(0.1)
    v0 = assemble_velocity(loop, q0, [5.0, 0.0, -2.5, 0.0])
    stops = Stops(restitution=1.0, joints=[crank])
    record = simulate(loop, q0, v0, 1.0, options=SimulationOptions(limits=stops, correction="baumgarte"))
    assert len(record.events) > 2
    assert record.energy_drift < 1e-5 * record.kinetic_energy[0]


def test_own_events_see_the_set_that_holds() -> None:
    """A reset that keeps the set it gets keeps the stops."""
    seen: list[bool] = []

    def again(motion: Any, t: float, *, constraint_set: ConstraintSet) -> Any:
        seen.append(bool(constraint_set.active[0]))
        return motion, constraint_set

    late = Event(lambda motion, t: t - 0.8, "late", "rising", reset=again, once=True)
    record = simulate(
        ConstraintSet(slider(), []), [0.5], [0.0], 1.0, events=late, options=SimulationOptions(limits="stop")
    )
    assert seen == [True]
    assert record.q == pytest.approx([0.0], abs=1e-9)
    assert [bool(held.active[0]) for held in record.holding][:: len(record.holding) - 1] == [False, True]


def test_what_is_wrong_is_named() -> None:
    fall = ConstraintSet(slider(), [])
    with pytest.raises(OptionError, match=r"beyond limits of joints by some: lift \(0\.1 m or rad\)"):
        simulate(fall, [-0.1], [0.0], 1.0, options=SimulationOptions(limits="stop"))
    with pytest.raises(WrongObjectError, match='"pass", "stop", or Stops'):
        simulate(fall, [0.1], [0.0], 1.0, options=SimulationOptions(limits="bounce"))
    with pytest.raises(UnknownJointError, match="lif"):
        simulate(fall, [0.1], [0.0], 1.0, options=SimulationOptions(limits=Stops(joints=["lif"])))
