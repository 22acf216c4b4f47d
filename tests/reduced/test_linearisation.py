"""M_r, G_r and K_r beside exact derivatives: pinocchio's of trees, closed forms of pendulums and of a four-bar."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from linkages import upright

from constraints import Robot
from constraints.dynamics import PointSpring
from constraints.errors import SizeError, UndefinedError, WrongObjectError
from constraints.loops import ConstraintSet
from constraints.models import mechanisms
from constraints.reduced import Linearisation, linearisation, minimal_coordinates, reduced_mass_matrix, reduced_residual
from constraints.reduced.equilibria.linearisation import NoLinearisationError
from constraints.robot import Motion


def pendulum(mass: float = 2.0, length: float = 0.7) -> Robot:
    """A point mass below the origin, turning about y."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "swing")
    inertia = pin.Inertia(mass, np.array([0.0, 0.0, -length]), np.zeros((3, 3)))
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return Robot(model)


class Torque:
    """A generalised force that a function of angle and speed gives, of a robot of one coordinate."""

    def __init__(self, law: Callable[[float, float], float]) -> None:
        self.law = law

    def generalised(self, motion: Motion) -> np.ndarray:
        return np.array([self.law(float(motion.posture.q[0]), float(motion.v[0]))])


def within(found: np.ndarray, error: np.ndarray, exact: np.ndarray, most: float) -> None:
    """The estimate is small, and not smaller than the error."""
    assert error.max(initial=0.0) < most
    off = np.abs(found - exact)
    assert (off <= error).all(), f"off by {off.max():.2g}, estimated {error.max():.2g}"


@pytest.mark.parametrize("angle", [0.0, 0.4, 2.0])
def test_pendulum(angle: float) -> None:
    """M = m l^2, G = d, K = m g l cos(angle): exact at equilibria and away from them."""
    robot = pendulum()
    rows = ConstraintSet(robot, [])
    coordinates = minimal_coordinates(rows, [angle])
    linear = linearisation(coordinates.at([angle], [0.3]), external=[Torque(lambda q, v: -0.6 * v)])
    within(linear.mass, linear.mass_error, np.array([[2.0 * 0.49]]), 1e-13)
    within(linear.damping, linear.damping_error, np.array([[0.6]]), 1e-10)
    within(linear.stiffness, linear.stiffness_error, np.array([[2.0 * 9.81 * 0.7 * np.cos(angle)]]), 1e-9)
    assert linear.residual[0] == pytest.approx(2.0 * 9.81 * 0.7 * np.sin(angle) + 0.18)


def test_halving_ends_where_rounding_begins() -> None:
    """A force that is linear is known after three steps, each on both sides: more would show nothing but rounding."""
    asked = list[float]()

    def law(q: float, v: float) -> float:
        asked.append(q)
        return -30.0 * q - 0.6 * v

    model = pin.Model(pendulum().model)
    model.gravity = pin.Motion.Zero()
    rows = ConstraintSet(Robot(model), [])
    linear = linearisation(minimal_coordinates(rows, [0.0]).at([0.0]), external=[Torque(law)])
    within(linear.stiffness, linear.stiffness_error, np.array([[30.0]]), 1e-10)
    within(linear.damping, linear.damping_error, np.array([[0.6]]), 1e-12)
    steps = [q for q in asked if q]
    np.testing.assert_allclose(steps, [1e-2, -1e-2, 5e-3, -5e-3, 2.5e-3, -2.5e-3], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_tree_with_a_free_joint_is_that_of_pinocchio(seed: int) -> None:
    """Derivatives of inverse dynamics by pinocchio, in the chart q + du, at a random state and acceleration."""
    robot = Robot(pin.buildSampleModelHumanoidRandom())
    rng = np.random.default_rng(seed)
    q = robot.space.integrate(robot.neutral, 0.5 * rng.standard_normal(robot.nv))
    v, a, tau = (rng.standard_normal(robot.nv) for _ in range(3))
    coordinates = minimal_coordinates(ConstraintSet(robot, []), q)
    u = coordinates.partition.independent
    linear = linearisation(coordinates.at(q, v), acceleration=a[u], tau=tau)
    data = robot.model.createData()
    dq, dv, M = pin.computeRNEADerivatives(robot.model, data, q, v, a)
    M = np.triu(M) + np.triu(M, 1).T
    size = np.abs(dq).max()
    within(linear.mass, linear.mass_error, M[np.ix_(u, u)], 1e-11 * size)
    within(linear.damping, linear.damping_error, dv[np.ix_(u, u)], 1e-7 * size)
    within(linear.stiffness, linear.stiffness_error, dq[np.ix_(u, u)], 1e-7 * size)


def test_four_bar_in_motion_is_that_of_lagrange() -> None:
    """Case 13: of m(u) with m' and m'', and V(u): G = m' du, K = m' ddu + m'' du^2 / 2 + V'', off equilibrium."""
    rows, closed = upright("four_bar")
    robot, model = rows.robot, rows.robot.model
    spring = PointSpring(robot, "crank_end", pin.SE3(np.eye(3), np.array([0.5, 0.5, 0.0])), 400.0, length=0.2)
    coordinates = minimal_coordinates(rows, closed, independent=["crank"])
    u, du, ddu = 0.9, 3.0, 5.0

    def closed_form(x: float) -> np.ndarray:
        """Angles of the joints by the triangle of coupler and rocker."""
        elbow = 0.15 * np.array([np.cos(x), np.sin(x)])
        along = np.array([0.4, 0.0]) - elbow
        d = np.hypot(*along)
        s = (d * d + 0.35**2 - 0.3**2) / (2.0 * d)
        tip_at = elbow + s * along / d + np.sqrt(0.35**2 - s * s) * np.array([-along[1], along[0]]) / d
        coupler = np.arctan2(*(tip_at - elbow)[::-1])
        return robot.configuration(
            {"crank": x, "coupler": coupler - x, "rocker": np.arctan2(tip_at[1], tip_at[0] - 0.4)}
        )

    data = model.createData()

    def inertia(x: float, h: float = 1e-3) -> float:
        slope = sum(
            w * (robot.space.difference(closed_form(x), closed_form(x + k * h)))
            for k, w in ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))
        )
        return 2.0 * pin.computeKineticEnergy(model, data, closed_form(x), slope / h)

    def potential(x: float) -> float:
        return pin.computePotentialEnergy(model, data, closed_form(x)) + spring.energy(closed_form(x))

    def derivatives(f: Callable[[float], float], h: float = 0.02) -> tuple[float, float]:
        """First and second, of the polynomial of degree 8 through nine points."""
        k = np.arange(-4, 5)
        c = np.linalg.solve(np.vander(k * 1.0, increasing=True), [f(u + i * h) for i in k])
        return c[1] / h, 2.0 * c[2] / h**2

    q = coordinates.close(closed_form(u)).or_raise().q
    state = coordinates.at(q, coordinates.spread([du]), close=True)
    linear = linearisation(state, acceleration=[ddu], external=[spring])
    (first, second), (push, stiffness) = derivatives(inertia), derivatives(potential)
    assert linear.mass[0, 0] == pytest.approx(inertia(u), rel=1e-9)
    assert linear.residual[0] == pytest.approx(inertia(u) * ddu + 0.5 * first * du**2 + push, rel=1e-8)
    assert linear.damping[0, 0] == pytest.approx(first * du, rel=1e-7)
    assert linear.stiffness[0, 0] == pytest.approx(first * ddu + 0.5 * second * du**2 + stiffness, rel=1e-7)
    assert linear.stiffness_error[0, 0] < 1e-8 * abs(linear.stiffness[0, 0])


@pytest.mark.parametrize("name", ["delta_robot", "stewart_platform", "bennett", "scissor_lift", "five_bar"])
def test_matrices_of_a_closed_mechanism_tell_the_residual_beside_it(name: str) -> None:
    """R_u at a closed neighbour, reached by `close`, is that of the linear motion up to second order: slope 2."""
    made = getattr(mechanisms, name)()
    q = made.posture("closed")
    coordinates = minimal_coordinates(made.constraint_set(), q, independent=made.motors)
    rng = np.random.default_rng(1)
    n = len(coordinates.independent)
    x, y, z = (0.3 * rng.standard_normal(n) for _ in range(3))
    state = coordinates.at(q, coordinates.spread(rng.standard_normal(n)), close=True)
    linear = linearisation(state, acceleration=np.ones(n))
    off = []
    for h in (1e-2, 5e-3):
        at = coordinates.constraint_set.robot.space.integrate(state.q, h * coordinates.spread(x))
        v = state.v + h * coordinates.spread(y)
        beside = coordinates.at(at, v, close=True)
        seen = reduced_residual(beside, np.ones(n) + h * z).independent - linear.residual
        off.append(np.abs(seen - h * (linear.mass @ z + linear.damping @ y + linear.stiffness @ x)).max())
    assert 3.0 < off[0] / off[1] < 5.5
    np.testing.assert_allclose(linear.mass, reduced_mass_matrix(state), rtol=1e-12)


def test_kink_is_seen_in_the_estimate() -> None:
    """A stop that begins to push just here: a central difference is half its stiffness at every step."""
    robot = pendulum()
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.0])
    stop = Torque(lambda q, v: -50.0 * max(q, 0.0))
    linear = linearisation(coordinates.at([0.0]), external=[stop])
    gravity = 2.0 * 9.81 * 0.7
    for side in (gravity, gravity + 50.0):
        assert abs(linear.stiffness[0, 0] - side) <= linear.stiffness_error[0, 0] * (1.0 + 1e-6)
    near = linearisation(coordinates.at([0.003]), external=[stop])  # the kink is 3e-3 away: smaller steps see one side
    assert abs(near.stiffness[0, 0] - gravity * np.cos(0.003) - 50.0) <= near.stiffness_error[0, 0]
    assert near.stiffness_error[0, 0] < 1e-3


def test_steep_law_of_speed_is_seen_with_short_steps() -> None:
    """Friction that turns over within 0.02 rad/s: its slope at rest is 50 N m s."""
    robot = pendulum()
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.0])
    linear = linearisation(coordinates.at([0.0]), external=[Torque(lambda q, v: -np.tanh(50.0 * v))])
    within(linear.damping, linear.damping_error, np.array([[50.0]]), 1e-3)


def test_neighbours_are_taken_nearer_where_far_ones_do_not_close() -> None:
    """A four-bar 1e-3 rad from where its crank cannot turn further: the matrices exist, their estimate is larger."""
    made = mechanisms.four_bar(ground=0.4, crank=0.3, coupler=0.15, rocker=0.2, angle=0.5)
    q = made.posture("closed")
    coordinates = minimal_coordinates(made.constraint_set(), q, independent=["crank"])
    limit = np.arccos((0.4**2 + 0.3**2 - 0.35**2) / (2.0 * 0.4 * 0.3))  # coupler and rocker in line
    here = q
    for x in (*np.linspace(0.5, limit - 0.05, 8)[1:], limit - 0.01, limit - 1e-3):
        start = here.copy()
        start[coordinates.constraint_set.robot.slice_of("crank")] = x
        here = coordinates.close(start).or_raise().q
    linear = linearisation(coordinates.at(here, coordinates.spread([0.1]), close=True))
    assert np.isfinite(linear.stiffness).all()
    assert linear.stiffness_error[0, 0] < 1e-2 * abs(linear.stiffness[0, 0])


def test_no_neighbour_is_an_error_that_names_the_coordinate() -> None:
    robot = pendulum()
    coordinates = minimal_coordinates(ConstraintSet(robot, []), [0.0])

    def law(q: float, v: float) -> float:
        if q > 0.0:
            raise UndefinedError("no law beyond zero")
        return 0.0

    with pytest.raises(NoLinearisationError, match="'swing': no law beyond zero") as caught:
        linearisation(coordinates.at([0.0]), external=[Torque(law)])
    assert caught.value.coordinate == "swing"


def test_bad_arguments_are_named() -> None:
    coordinates = minimal_coordinates(ConstraintSet(pendulum(), []), [0.0])
    state = coordinates.at([0.0])
    with pytest.raises(WrongObjectError, match="state to be linearised"):
        linearisation(coordinates)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SizeError, match=r"acceleration of the independent.*\(of swing\)"):
        linearisation(state, acceleration=[1.0, 2.0])
    with pytest.raises(WrongObjectError, match="external force 0"):
        linearisation(state, external=[3.0])  # pyright: ignore[reportArgumentType]


def test_words() -> None:
    linear: Linearisation = linearisation(minimal_coordinates(ConstraintSet(pendulum(), []), [0.0]).at([0.0]))
    assert "K_r, to" in linear.describe()
    assert repr(linear) == "Linearisation(swing)"
    assert linear.names == ("swing",)
