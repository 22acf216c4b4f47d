"""Equilibria of closed mechanisms, beside plain pinocchio; other unknowns; each way in which a search may fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from linkages import upright
from record_arguments import with_records

from constraints import Function, Implicit, Robot
from constraints.dynamics import JointSpring, PointSpring
from constraints.errors import (
    DuplicateNameError,
    FailedError,
    OptionError,
    SizeError,
    UndefinedError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.loops import ConstraintSet, PointClosure, RodClosure
from constraints.models import mechanisms
from constraints.reduced import (
    EquilibriumKind,
    EquilibriumOptions,
    KeptMotion,
    MinimalCoordinates,
    OpenMechanismError,
    ReducedStatus,
    Unknown,
    equilibrium,
    minimal_coordinates,
    sweep,
)
from constraints.reduced.equilibria import equilibrium_search
from constraints.robot import Motion
from constraints.rows import Target
from liegroups import Rn

HOOK = pin.SE3(np.eye(3), np.array([0.5, 0.5, 0.0]))


class Law:
    """A generalised force (nv,) that a function of configuration and velocity gives."""

    def __init__(self, law: Callable[[np.ndarray, np.ndarray], Any]) -> None:
        self.law = law

    def generalised(self, motion: Motion) -> np.ndarray:
        return np.array(self.law(np.array(motion.posture.q), np.array(motion.v)), dtype=np.float64)


def four_bar(driven: bool = False) -> tuple[MinimalCoordinates, np.ndarray]:
    """The built-in four-bar with gravity in its plane, its crank independent, or driven."""
    rows, q = upright("four_bar")
    chosen: dict[str, Any] = {"driven" if driven else "independent": ["crank"]}
    return minimal_coordinates(rows, q, **chosen), q


def spring(robot: Robot, length: float = 0.2) -> PointSpring:
    return PointSpring(robot, "crank_end", HOOK, stiffness=400.0, length=length)


def moved(coordinates: MinimalCoordinates, q: np.ndarray, joint: str, by: float) -> np.ndarray:
    """Closed, after a joint was moved."""
    start = np.array(q)
    start[coordinates.constraint_set.robot.slice_of(joint)] += by
    return coordinates.close(start).or_raise().q


def imbalance(rows: ConstraintSet, q: np.ndarray, forces: list[Any], free: list[int]) -> float:
    """What no force of constraints balances, by pinocchio and least squares: gravity - forces - J^T lambda."""
    robot = rows.robot
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)
    left = gravity - sum(force.generalised(robot.at(q, np.zeros(robot.nv))) for force in forces)
    free_rows = np.eye(robot.nv)[[i for i in range(robot.nv) if i not in free]]
    A = np.vstack([rows.jacobian(q), free_rows]).T
    return float(np.abs(A @ np.linalg.lstsq(A, left)[0] - left).max())


@pytest.mark.parametrize("by", [0.3, -0.3])
def test_four_bar_with_a_spring_from_afar(by: float) -> None:
    """Case 13: R_u = 0 from a start 0.3 rad away, the loop closed at each iterate."""
    coordinates, q = four_bar()
    rows = coordinates.constraint_set
    pull = spring(rows.robot)
    near = equilibrium(coordinates, q, external=[pull]).or_raise()
    found = equilibrium(coordinates, moved(coordinates, near.q, "crank", by), external=[pull]).or_raise()
    np.testing.assert_allclose(found.q, near.q, atol=1e-9)
    assert found.residual <= 1e-9 < found.residuals[0]
    assert imbalance(rows, found.q, [pull], list(range(3))) < 1e-9
    assert len(found.iterates) == found.iterations + 1 <= 7
    for iterate in found.iterates:
        assert np.abs(rows.position_error(iterate)).max() < 1e-12


def test_a_start_beside_the_end_of_a_curve_has_a_derivative() -> None:
    """y^2 = x, y dependent, from where a difference of the usual step, 1e-5, would leave the curve: it is made shorter.

    f_x + f_y / (2 y) = 0: y = 0.1.
    """
    model: Any = pin.Model()
    for name, kind in (("x", pin.JointModelPX()), ("y", pin.JointModelPY())):
        joint = model.addJoint(0, kind, pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    robot = Robot(model, "table").without_bounds()
    row = Function.from_callable(lambda q: [q[1] ** 2 - q[0]], robot.space, Rn(1), lambda q: [[-1.0, 2.0 * q[1]]])
    q = np.array([4e-6, 2e-3])
    coordinates = minimal_coordinates(ConstraintSet(robot, [Implicit.zero(row, name="row")]), q, independent=["x"])
    found = equilibrium(coordinates, q, tau=[-1.0, 0.2]).or_raise()
    np.testing.assert_allclose(found.q, [0.01, 0.1], rtol=1e-7)


def test_who_takes_part_in_a_direction_that_nothing_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose share is more than a tenth of the largest one; what is missing along it is left."""
    monkeypatch.setattr(equilibrium_search, "idle_unknowns", lambda *given: ((), np.zeros((3, 0))))
    free = np.array([np.sqrt(1.0 - 0.01 - 0.0081), 0.1, 0.09])
    places, units = np.arange(3), np.array([2.0, 0.5, 1e3])  # square roots of inertias
    balance: Any = SimpleNamespace(moving=places, balanced=places, scalars=(), sizes=lambda state: units)
    missing = np.array([1.0, -2.0, 3.0])
    point: Any = SimpleNamespace(state=None, missing=units * missing)
    D = 5.0 * np.outer(units, units) * (np.eye(3) - np.outer(free, free))
    found = equilibrium_search.Newton(balance, point, D)
    assert found.unheld == (0, 1)
    np.testing.assert_allclose(found.left(units * missing), units * np.abs(free * (free @ missing)), rtol=1e-9)
    across = missing - free * (free @ missing)
    np.testing.assert_allclose(found.step(found.scaled_step(units * missing)), -across / 5.0 / units, rtol=1e-9)


class Sum:
    """Forces as one, which can be gone through and called, and is no function of unknowns."""

    def __init__(self, *forces: Any) -> None:
        self.forces = forces

    def __iter__(self) -> Iterator[Any]:
        return iter(self.forces)

    def __call__(self, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> np.ndarray:
        raise AssertionError("called as a function of unknowns")

    def generalised(self, motion: Motion) -> np.ndarray:
        return np.sum([force.generalised(motion) for force in self.forces], axis=0)


def test_forces_that_can_be_called_are_forces() -> None:
    coordinates, q = four_bar()
    pull = spring(coordinates.constraint_set.robot)
    found = equilibrium(coordinates, q, external=Sum(pull)).or_raise()
    np.testing.assert_array_equal(found.q, equilibrium(coordinates, q, external=[pull]).q)
    with pytest.raises(WrongObjectError, match="external forces"):
        equilibrium(coordinates, q, external=pull)  # pyright: ignore[reportArgumentType]


def test_start_that_is_an_equilibrium_comes_back_as_it_is() -> None:
    coordinates, q = four_bar()
    pull = spring(coordinates.constraint_set.robot)
    found = equilibrium(coordinates, q, external=[pull]).or_raise()
    again = equilibrium(coordinates, found.q, external=[pull]).or_raise()
    np.testing.assert_array_equal(again.q, found.q)
    assert again.iterations == 0


def test_free_length_in_the_place_of_the_crank() -> None:
    """Case 13: an exchanged unknown: the free length with which the four-bar rests where it is."""
    coordinates, q = four_bar()
    robot = coordinates.constraint_set.robot
    free = Unknown("free length", 0.3)
    found = equilibrium(
        coordinates, q, external=lambda x: [spring(robot, x["free length"])], exchange={"crank": free}
    ).or_raise()
    np.testing.assert_array_equal(found.q, q)
    length = found.scalars["free length"]
    assert imbalance(coordinates.constraint_set, q, [spring(robot, length)], [0, 1, 2]) < 1e-8
    back = equilibrium(coordinates, moved(coordinates, q, "crank", 0.1), external=[spring(robot, length)]).or_raise()
    np.testing.assert_allclose(back.q, q, atol=1e-9)
    assert found.modes().or_raise()[0].angular_frequency == pytest.approx(back.modes()[0].angular_frequency, rel=1e-7)


def test_extra_unknown_with_its_equation() -> None:
    """A stiffness beside the crank, and the equation that says where the crank shall be: as if exchanged."""
    coordinates, q = four_bar()
    robot = coordinates.constraint_set.robot
    start, there = (moved(coordinates, q, "crank", by) for by in (-0.35, -0.5))

    def pull(x: Mapping[str, float]) -> list[PointSpring]:
        return [PointSpring(robot, "crank_end", HOOK, x["stiffness"], length=0.1)]

    stiffness = Unknown("stiffness", 50.0)
    found = equilibrium(
        coordinates,
        start,
        external=pull,
        options=EquilibriumOptions(extra=[stiffness], equations=lambda state, x: [1e3 * (state.q[0] - there[0])]),
    ).or_raise()
    other = equilibrium(coordinates, there, external=pull, exchange={"crank": stiffness}).or_raise()
    np.testing.assert_allclose(found.q, there, atol=1e-9)
    assert found.scalars["stiffness"] == pytest.approx(other.scalars["stiffness"], rel=1e-8)
    assert found.scalars["stiffness"] > 0.0


def test_unknown_that_goes_where_a_force_has_no_value_is_a_status() -> None:
    """The four-bar would rest there only with a stiffness below zero, which no spring has."""
    coordinates, q = four_bar()
    robot = coordinates.constraint_set.robot
    found = equilibrium(
        coordinates,
        q,
        external=lambda x: [PointSpring(robot, "crank_end", HOOK, x["stiffness"], length=0.1)],
        exchange={"crank": Unknown("stiffness", 50.0)},
    )
    assert found.status is ReducedStatus.UNDEFINED
    assert "stiffness of a point spring: expected a number that is not negative" in found.reason


def test_force_of_a_drive_is_the_slope_of_the_energy() -> None:
    """A driven crank: nothing to solve for; Q_c is the derivative of the potential along the closed motion."""
    coordinates, q = four_bar(driven=True)
    robot = coordinates.constraint_set.robot
    pull = spring(robot)
    found = equilibrium(coordinates, q, external=[pull]).or_raise()
    h = 1e-4
    data = robot.model.createData()
    ends = [moved(coordinates, q, "crank", by) for by in (-h, h)]
    low, high = (pin.computePotentialEnergy(robot.model, data, end) + pull.energy(end) for end in ends)
    assert found.iterations == 0
    assert found.driven_forces == pytest.approx([(high - low) / (2.0 * h)], rel=1e-6)
    J = coordinates.constraint_set.jacobian(q)
    gravity = pin.computeGeneralizedGravity(robot.model, data, q)
    left = gravity - pull.generalised(robot.at(q, np.zeros(3))) - J.T @ found.multipliers
    np.testing.assert_allclose(left, [found.driven_forces[0], 0.0, 0.0], atol=1e-10)


def cart(mass_of_cart: float = 3.0) -> Robot:
    """A point mass of 1 kg on a rod of 0.5 m below a cart that slides along x."""
    model = pin.Model()
    slide = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    model.appendBodyToJoint(slide, pin.Inertia(mass_of_cart, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    swing = model.addJoint(slide, pin.JointModelRY(), pin.SE3.Identity(), "swing")
    bob = pin.Inertia(1.0, np.array([0.0, 0.0, -0.5]), np.zeros((3, 3)))
    model.appendBodyToJoint(swing, bob, pin.SE3.Identity())
    return Robot(model)


@pytest.mark.parametrize("kind", [None, *EquilibriumKind])
def test_what_is_kept_of_the_motion_of_a_drive(kind: EquilibriumKind | None) -> None:
    """On a cart with acceleration a the bob rests at tan t = a/g behind; where accelerations are zero it hangs down."""
    robot = cart()
    ride = Target(lambda t: [1.0 * t * t], lambda t: [2.0 * t], lambda t: [2.0])
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.25, 0.3], driven={"slide": ride}, t=0.5)
    with pytest.raises(OpenMechanismError, match="slide"):
        equilibrium(coordinates, [0.2, 0.3], kept=KeptMotion(kind=kind), options=EquilibriumOptions(t=0.5))
    assert (
        equilibrium(
            coordinates, [0.2, 0.3], kept=KeptMotion(kind=kind), options=EquilibriumOptions(t=0.5, close=True)
        ).q[0]
        == 0.25
    )
    found = equilibrium(
        coordinates, [0.25, 0.3], kept=KeptMotion(kind=kind), options=EquilibriumOptions(t=0.5)
    ).or_raise()
    moving = kind is EquilibriumKind.MOVING
    assert found.q[1] == pytest.approx(np.arctan(2.0 / 9.81) if moving else 0.0, abs=1e-9)
    still = kind in (None, EquilibriumKind.STATIC)
    assert found.state.v[0] == (0.0 if still else 1.0)
    assert found.driven_forces == pytest.approx([8.0 if moving else 0.0], abs=1e-8)
    (mode,) = found.modes().or_raise()
    gravity = np.hypot(9.81, 2.0) if moving else 9.81
    assert mode.angular_frequency == pytest.approx(np.sqrt(gravity / 0.5), rel=1e-9)


def test_prescribed_acceleration_of_an_independent_coordinate_is_an_unknown_too() -> None:
    """Which acceleration of a drive leans the bob by 0.2 rad: a = g tan t, found in the place of the swing."""
    robot = cart()
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.0, 0.2], driven=["slide"])
    found = equilibrium(
        coordinates,
        [0.0, 0.2],
        kept=KeptMotion(driven_acceleration=lambda x: [x["push"]]),
        exchange={"swing": Unknown("push", 0.0)},
    ).or_raise()
    assert found.kind is EquilibriumKind.MOVING
    assert found.scalars["push"] == pytest.approx(9.81 * np.tan(0.2), rel=1e-10)


def test_static_equilibrium_has_no_velocity_where_a_target_moves() -> None:
    """A rod whose length changes in time: its rate counts where velocities are kept, and not where all is at rest."""
    robot = cart()
    q = robot.neutral
    grows = Target(lambda t: [0.5 + 0.1 * t], lambda t: [0.1], lambda t: [0.0])
    hook = pin.SE3(np.eye(3), np.array([-0.5, 0.0, 0.0]))
    rows = ConstraintSet(robot, [RodClosure(robot, hook, "slide", grows, name="rod")])
    coordinates = minimal_coordinates(rows, q)
    for kind, speed in ((EquilibriumKind.STATIC, 0.0), (EquilibriumKind.QUASI_STATIC, 0.1)):
        found = equilibrium(coordinates, q, kept=KeptMotion(kind=kind)).or_raise()
        assert found.state.v[0] == pytest.approx(speed, abs=1e-12)


def test_coordinate_that_no_force_holds_is_named() -> None:
    """A push along the rail: nothing holds the slide; left out (ignore=), the bob finds its rest."""
    robot = cart()
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.0, 0.3])
    push = Law(lambda q, v: [2.0, 0.0])
    found = equilibrium(coordinates, [0.0, 0.3], external=[push])
    assert found.status is ReducedStatus.SINGULAR
    assert found.unheld == ("slide",)
    assert "no force holds slide: start elsewhere, or leave them out (ignore=)" in str(found)
    with pytest.raises(FailedError, match="SINGULAR") as caught:
        found.or_raise()
    assert caught.value.result is found
    rest = equilibrium(coordinates, [0.0, 0.3], external=[push], ignore=["slide"]).or_raise()
    np.testing.assert_allclose(rest.q, 0.0, atol=1e-9)
    (mode,) = rest.modes().or_raise()  # the slide is held there too
    assert mode.angular_frequency == pytest.approx(np.sqrt(9.81 / 0.5), rel=1e-9)
    assert rest.ignored == ("slide",)
    free = equilibrium(coordinates, [0.1, 0.3]).or_raise()  # without a push any place along the rail is as good
    np.testing.assert_allclose(free.q, [0.1, 0.0], atol=1e-9)
    assert free.unheld == ("slide",)


def test_iteration_limit_is_a_status_and_keeps_the_iterates() -> None:
    coordinates, q = four_bar()
    start = moved(coordinates, q, "crank", 0.5)
    found = equilibrium(
        coordinates,
        start,
        external=[spring(coordinates.constraint_set.robot)],
        options=EquilibriumOptions(max_iterations=1),
    )
    assert found.status is ReducedStatus.MAX_ITERATIONS
    assert (found.iterations, len(found.iterates)) == (1, 2)
    np.testing.assert_array_equal(found.q, found.iterates[-1])
    assert found.residual == found.residuals[-1] > 1e-9


def test_loops_that_do_not_close_on_the_way_are_a_status() -> None:
    """A rocker that a torque pushes over its limit: the last iterates come to the dead point, which has no rest."""
    made = mechanisms.four_bar()
    q = made.posture("closed")
    coordinates = minimal_coordinates(made.constraint_set(), q, independent=["rocker"])
    found = equilibrium(coordinates, q, external=[Law(lambda q, v: [0.0, 0.0, 5.0 - 1e-3 * q[2]])])
    assert found.status is ReducedStatus.NOT_CLOSED
    assert found.reason
    assert np.abs(coordinates.constraint_set.position_error(found.q)).max() < 1e-9


def test_start_that_does_not_close_is_a_status_and_an_open_one_is_refused() -> None:
    coordinates, q = four_bar()
    start = q + np.array([0.0, 0.02, 0.0])
    with pytest.raises(OpenMechanismError, match="cut"):
        equilibrium(coordinates, start)
    assert equilibrium(
        coordinates, start, options=EquilibriumOptions(close=True), external=[spring(coordinates.constraint_set.robot)]
    ).success
    ground = mechanisms.four_bar(ground=0.4, crank=0.3, coupler=0.15, rocker=0.2, angle=0.5)
    others = minimal_coordinates(ground.constraint_set(), ground.posture("closed"), independent=["crank"])
    far = ground.posture("closed") + np.array([2.0, 0.0, 0.0])  # further than the crank turns
    found = equilibrium(others, far, options=EquilibriumOptions(close=True))
    assert found.status is ReducedStatus.NOT_CLOSED
    assert "start" in found.reason
    assert found.residual == np.inf
    np.testing.assert_array_equal(found.q, far)
    with pytest.raises(FailedError, match="NOT_CLOSED"):
        _ = found.state


def test_force_without_a_value_is_a_status() -> None:
    robot = cart()
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.0, 0.3])

    def law(q: np.ndarray, v: np.ndarray) -> list[float]:
        if q[1] < 0.25:
            raise UndefinedError("no law below 0.25 rad")
        return [0.0, 0.0]

    found = equilibrium(coordinates, [0.0, 0.3], external=[Law(law)], ignore=["slide"])
    assert found.status is ReducedStatus.UNDEFINED
    assert "no law below" in found.reason
    assert found.q[1] >= 0.25
    start = equilibrium(coordinates, [0.0, 0.2], external=[Law(law)])
    assert start.status is ReducedStatus.UNDEFINED
    assert start.reason.startswith("the start")


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_force_that_is_not_finite_is_a_status(wrong: float) -> None:
    robot = cart()
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.0, 0.3])
    start = equilibrium(coordinates, [0.0, 0.3], external=[Law(lambda q, v: [0.0, wrong])])
    assert start.status is ReducedStatus.UNDEFINED
    later = equilibrium(
        coordinates, [0.0, 0.3], external=[Law(lambda q, v: [0.0, 0.0 if q[1] > 0.2 else wrong])], ignore=["slide"]
    )
    assert not later.success
    assert np.isfinite(later.residual)


def test_results_do_not_change() -> None:
    coordinates, q = four_bar(driven=True)
    found = equilibrium(coordinates, q)
    for array in (found.q, found.driven_forces, found.multipliers, found.iterates[0], found.linearisation().stiffness):
        assert not array.flags.writeable


@pytest.mark.parametrize("start", [0.3, 1.0, 2.0])
def test_a_search_that_stalled_says_where_to_look(start: float) -> None:
    """Stumble 4: a stalled search did not say what to do; one that found its equilibrium does not say it."""
    robot = cart()
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.0, start])
    push = Law(lambda q, v: [0.0, 6.0 + 0.5 * np.cos(3.0 * q[1])])
    found = equilibrium(coordinates, [0.0, start], external=[push], ignore=["slide"])
    assert found.status is ReducedStatus.STALLED
    advice = "a sign change of `reduced_residual` along it shows where."
    assert advice in found.describe()
    assert advice not in equilibrium(coordinates, [0.0, start], ignore=["slide"]).or_raise().describe()


def test_no_equilibrium_where_a_torque_is_larger_than_any_weight() -> None:
    """m g l sin(t) = 2 m g l has no solution: it ends at the largest weight, and does not say that it converged."""
    robot = cart()
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.0, 0.3])
    found = equilibrium(coordinates, [0.0, 0.3], external=[Law(lambda q, v: [0.0, 9.81])], ignore=["slide"])
    assert found.status in (ReducedStatus.STALLED, ReducedStatus.SINGULAR)
    assert found.residual > 4.9


@pytest.mark.parametrize("seed", range(5))
def test_body_on_a_ball_hangs_with_its_centre_below(seed: int) -> None:
    """Tangent steps: from a random orientation; nothing holds the turn about the vertical."""
    model = pin.Model()
    centre = np.array([0.1, -0.2, 0.3])
    joint = model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, centre, np.diag([0.1, 0.2, 0.25])), pin.SE3.Identity())
    robot = Robot(model)
    rng = np.random.default_rng(seed)
    q = robot.space.exp(rng.standard_normal(3))
    found = equilibrium(minimal_coordinates(ConstraintSet(robot, []), q), q).or_raise()
    down = pin.Quaternion(*found.q[[3, 0, 1, 2]]).toRotationMatrix() @ centre
    assert np.abs(down[:2]).max() < 1e-9
    assert len(found.unheld) >= 1
    modes = found.modes().or_raise()
    assert len(modes.rigid) == 1
    turn = modes.rigid[0].independent.real
    np.testing.assert_allclose(np.cross(turn, centre), 0.0, atol=1e-6)


def test_free_body_on_three_rods_comes_to_rest_from_afar() -> None:
    """A free joint among u and v: a disc on rods, from 0.5 rad and 0.2 m away."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "disc")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), np.diag([0.1, 0.1, 0.2])), pin.SE3.Identity())
    robot = Robot(model)
    points = [np.array([0.3 * np.cos(a), 0.3 * np.sin(a), 0.0]) for a in (0.0, 2.0, 4.0)]
    hooks = [pin.SE3(np.eye(3), p + np.array([0.0, 0.0, 1.0])) for p in points]
    rims = [robot.frame("disc", pin.SE3(np.eye(3), p)) for p in points]
    rods = [RodClosure(robot, *ends, 1.0, name=f"rod{i}") for i, ends in enumerate(zip(hooks, rims, strict=True))]
    rows = ConstraintSet(robot, rods)
    coordinates = minimal_coordinates(rows, robot.neutral, independent=["disc[0]", "disc[1]", "disc[5]"])
    start = coordinates.close(robot.space.integrate(robot.neutral, [0.2, -0.1, 0.0, 0.0, 0.0, 0.5])).or_raise().q
    found = equilibrium(coordinates, start).or_raise()
    np.testing.assert_allclose(robot.space.difference(robot.neutral, found.q), 0.0, atol=1e-8)
    assert found.multipliers @ np.ones(3) == pytest.approx(-2.0 * 9.81)  # rods pull: lambda x is the force


def test_words() -> None:
    coordinates, q = four_bar()
    robot = coordinates.constraint_set.robot
    found = equilibrium(
        coordinates, q, external=lambda x: [spring(robot, x["length"])], exchange={"crank": Unknown("length", 0.3)}
    )
    words = found.describe()
    assert words.startswith("equilibrium (static): CONVERGED")
    assert f"length: {found.scalars['length']:.6g} (solved for)" in words
    assert repr(found).startswith("Equilibrium(CONVERGED, residual")
    driven, _ = four_bar(driven=True)
    assert "force of the drive of crank:" in equilibrium(driven, q).describe()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"exchange": {"crnk": Unknown("x", 0.0)}}, UnknownNameError, "crank"),
        ({"exchange": {"rocker": Unknown("x", 0.0)}}, OptionError, "not independent; the independent ones are: crank"),
        ({"exchange": {"crank": 3.0}}, WrongObjectError, "Unknown"),
        ({"exchange": {"crank": Unknown("x", 0.0)}, "ignore": ["crank"]}, OptionError, "'crank' is ignored too"),
        ({"extra": [Unknown("x", 0.0)]}, OptionError, "no equations"),
        ({"equations": lambda state, x: [0.0]}, OptionError, "extra unknowns: 0"),
        ({"extra": [Unknown("x", 0.0)], "equations": lambda state, x: [0.0, 1.0]}, SizeError, "extra equations"),
        ({"extra": [Unknown("x", 0.0)] * 2, "equations": lambda state, x: [0.0]}, DuplicateNameError, "x"),
        ({"ignore": "crank"}, WrongObjectError, "write"),
        ({"tolerance": -1.0}, WrongObjectError, "tolerance"),
        ({"v": [1.0]}, SizeError, "v of"),
        ({"tau": [1.0]}, SizeError, "tau"),
        ({"acceleration": [1.0, 2.0]}, SizeError, "acceleration of the independent"),
    ],
)
def test_bad_arguments_are_named(given: dict[str, Any], error: type[Exception], words: str) -> None:
    coordinates, q = four_bar()
    with pytest.raises(error, match=words):
        equilibrium(coordinates, q, **with_records(given, kept=KeptMotion, options=EquilibriumOptions))


def test_a_scalar_is_exchanged_for_one_coordinate() -> None:
    """Not for a ball, which has three, nor for one that another is exchanged for too."""
    model: Any = pin.Model()
    model.addJoint(model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball"), pin.JointModelPX(),
                   pin.SE3.Identity(), "x")  # fmt: skip
    robot = Robot(model)
    coordinates = minimal_coordinates(ConstraintSet(robot, []), robot.neutral)
    unknown, other = Unknown("force", 0.0), Unknown("torque", 0.0)
    for exchange in ({"ball": unknown}, {"ball[1]": unknown, "ball": other}):
        with pytest.raises(OptionError, match="one coordinate for one scalar, got ball"):
            equilibrium(coordinates, robot.neutral, exchange=exchange)


def test_unknowns_are_checked() -> None:
    with pytest.raises(OptionError, match="step of the unknown 'x'"):
        Unknown("x", 0.0, step=0.0)
    with pytest.raises(Exception, match="start of the unknown 'x'"):
        Unknown("x", float("nan"))


def test_results_say_what_is_outside_its_bounds() -> None:
    """Equilibria, closings and sweeps ignore the bounds of joints, and name those that are outside, by how much."""
    linkage = mechanisms.four_bar()
    crank = linkage.robot.slice_of("crank")
    start = np.array(linkage.postures["closed"])
    upper = float(start[crank][0]) + 0.01
    robot = linkage.robot.with_bounds({"crank": (-7.0, upper)})
    rows = ConstraintSet(robot, [PointClosure(robot, "coupler_end", "rocker_end", name="tip")])
    coordinates = minimal_coordinates(rows, start, independent=["crank"])
    pulled = JointSpring(robot, "crank", stiffness=1e4, rest=upper + 0.3)
    found = equilibrium(coordinates, start, external=[pulled])
    assert found.success
    (outside,) = found.violations
    assert (outside.joint, outside.unit) == ("crank", "rad")
    assert outside.amount == float(found.q[crank][0]) - upper
    assert outside.amount == pytest.approx(0.3, abs=0.01)
    assert f"outside the bounds of the robot: 'crank' {outside.amount:.3g} rad above its bound" in found.describe()
    closing = coordinates.close(robot.configuration({"crank": [upper + 0.25]}, start=start))
    assert [v.joint for v in closing.violations] == ["crank"]
    assert "outside the bounds of the robot: 'crank' 0.25 rad above its bound" in closing.describe()
    values = [upper + 0.2, upper - 0.1]
    swept = sweep(rows, start, "crank", values)
    assert swept.success
    assert [(v.joint, round(v.amount, 9)) for v in swept.violations] == [("crank", 0.2)]  # on the way, not at the end
    assert "outside the bounds of the robot: 'crank' 0.2 rad above its bound" in swept.describe()
    wide = linkage.robot.with_bounds({"crank": (-2.0, 2.0)})
    tied = sweep(ConstraintSet(wide, list(linkage.closures)), start, "crank", [1.1, 1.2])
    for first, second, amount in ((2.5, -2.5, 0.5), (-2.5, 2.5, -0.5), (2.5, -2.75, -0.75)):
        qs = np.array([wide.configuration({"crank": [angle]}, start=start) for angle in (first, second)])
        assert [v.amount for v in replace(tied, qs=qs).violations] == [amount]  # the worst, of two the first
    inside = equilibrium(coordinates, start, external=[JointSpring(robot, "crank", stiffness=1e4, rest=upper - 0.1)])
    quiet = sweep(rows, start, "crank", [upper - 0.1, upper - 0.2])
    for result in (inside, coordinates.close(start), quiet):
        assert result.violations == ()
        assert "outside the bounds" not in result.describe()
