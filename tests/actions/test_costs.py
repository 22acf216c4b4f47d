"""States, costs, constraints and steps in time of actions.

Case 8 of the acceptance list of contact dynamics (sizes, rows and bounds of the group `constraints.0` of
`tests/data/crocoddyl/README.md`, made from its words: its arrays are not stored). Oracle of derivatives: central
differences of values; of second derivatives: R^T a''(r) R with R by differences.
"""

# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportOptionalOperand=false
# pyright: reportOptionalCall=false, reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from actions.dense import differences, error
from actions.test_stored import contacts_of
from robots import mixed_tree, needs_robot_data, panda, talos

from constraints import Affine, Orientation, Pose, Position, actions
from constraints.functions import Identity
from constraints.loops import Axes, Baumgarte
from constraints.testing import check_function
from liegroups import SE3

RNG = np.random.default_rng


def rich(axes: Axes = Axes.LOCAL, **options: Any) -> actions.ContactForwardDynamics:
    """ANYmal with costs and constraints of every kind."""
    rows = contacts_of("anymal", axes).stabilised(Baumgarte(0.0, 8.0))
    robot, state = rows.robot, actions.StateSpace(rows.robot)
    stage = state.with_controls(12, rows)
    barrier = actions.QuadraticBarrier(np.full(3, -0.1), np.full(3, 0.1))
    friction = Affine([[-1.0, 0.0, 0.5], [0.0, -1.0, 0.5]], [0.0, 0.0])
    costs = [
        actions.Cost(
            Identity(state.space), robot_state(state, 5), weight=0.3, activation=RNG(0).uniform(0, 2, 36), name="x"
        ),
        actions.Cost(stage.control(), weight=0.1, name="u"),
        actions.Cost(Pose(robot, "root_joint"), np.array([0.1, 0.2, 0.5, 0, 0, 0, 1]), name="root_joint"),
        actions.Cost(Position(robot, "LF_FOOT"), np.array([0.1, 0.2, 0.3]), activation=barrier, name="foot"),
        actions.Cost(
            actions.FrameVelocity(robot, "RH_FOOT", Axes.LOCAL_WORLD_ALIGNED), weight=np.float32(2), name="slip"
        ),
        actions.Cost(stage.force("LH_FOOT"), np.array([0.0, 0.0, 80.0]), weight=1e-3, name="push"),
    ]
    constraints = [
        actions.StageConstraint(Orientation(robot, "root_joint"), lower=-0.5, upper=0.5, name="tilt"),
        actions.StageConstraint(stage.control(), lower=-40.0, upper=40.0, name="torques"),
        actions.StageConstraint(Pose(robot, "RH_FOOT"), name="stand"),
        actions.StageConstraint(stage.force("LF_FOOT", friction), lower=0.0, name="friction"),
        actions.StageConstraint(stage.velocity(), name="rest"),
    ]
    return actions.ContactForwardDynamics(
        robot, actions.Actuators.floating_base(robot), rows, costs, constraints, **options
    )


def robot_state(state: actions.StateSpace, seed: int) -> Any:
    rng = RNG(seed)
    return state.integrate(state.zero, 0.3 * rng.standard_normal(state.ndx))


def numbers(action: Any, x: Any, u: Any) -> Any:
    """Cost, rows and residuals in one vector."""
    done = action.calc(x, u).or_raise()
    return np.concatenate([[done.cost], done.g, done.h, done.residuals])


def check_node(action: Any, x: Any, u: Any) -> None:
    """First derivatives of cost and rows, Gauss-Newton second ones."""
    ndx, nu = action.state.ndx, action.nu
    found = action.calc_diff(action.calc(x, u)).or_raise()

    def moved(d: Any) -> Any:
        return numbers(action, action.state.integrate(x, d[:ndx]), None if u is None else u + d[ndx:])

    D = differences(moved, ndx + (0 if u is None else nu), 5e-4)
    ng, nh = len(found.Gx), len(found.Hx)
    assert error(found.Lx, D[0, :ndx]) < 1e-7
    assert error(np.vstack([found.Gx, found.Hx]), D[1 : 1 + ng + nh, :ndx]) < 1e-7
    if u is not None:
        assert error(found.Lu, D[0, ndx:]) < 1e-7
        assert error(np.vstack([found.Gu, found.Hu]), D[1 : 1 + ng + nh, ndx:]) < 1e-7


class TestCosts:
    @pytest.mark.parametrize("axes", list(Axes))
    def test_derivatives_of_costs_and_constraints_with_forces(self, axes: Axes) -> None:
        """Costs and constraints of contact forces are differentiated through the dynamics, on both paths."""
        action = rich(axes)
        check_node(action, robot_state(action.state, 1), 5.0 * RNG(2).standard_normal(12))

    def test_gauss_newton(self) -> None:
        action = rich()
        x, u = robot_state(action.state, 1), 5.0 * RNG(2).standard_normal(12)
        found, n = action.calc_diff(action.calc(x, u)), action.state.ndx
        r = action.calc(x, u).residuals

        def moved(d: Any) -> Any:
            return action.calc(action.state.integrate(x, d[:n]), u + d[n:]).residuals

        R = differences(moved, n + 12, 5e-4)
        outside = np.abs(r[54:57]) > 0.1
        weights = np.concatenate(
            [0.3 * RNG(0).uniform(0, 2, 36), np.full(12, 0.1), np.ones(6), outside, np.full(6, 2.0), np.full(3, 1e-3)]
        )
        H = (R.T * weights) @ R
        assert error(found.Lxx, H[:n, :n]) < 1e-7
        assert error(found.Lxu, H[:n, n:]) < 1e-7
        assert error(found.Luu, H[n:, n:]) < 1e-7

    def test_a_switched_contact_pushes_nothing(self) -> None:
        action = rich().switched(off=["LH_FOOT"])
        x, u = robot_state(action.state, 1), np.zeros(12)
        assert np.array_equal(action.calc(x, u).residuals[-3:], [0.0, 0.0, -80.0])
        check_node(action, x, u)

    def test_terminal_nodes_leave_out_controls_and_forces(self) -> None:
        action = rich()
        assert (action.ng, action.nh, action.ng_terminal, action.nh_terminal) == (17, 24, 3, 24)
        x = robot_state(action.state, 1)
        done = action.calc(x)
        assert done.acceleration is None
        assert done.multipliers is None
        assert done.status is None
        assert (done.g.size, done.h.size) == (3, 24)
        assert not done.residuals[36:48].any()
        found = action.calc_diff(done)
        assert found.Fx is None
        assert found.multipliers_x is None
        assert not found.Lu.any()
        check_node(action, x, None)
        assert done.cost < action.calc(x, np.ones(12)).cost

    def test_curved_groups_are_compared_on_the_group(self) -> None:
        """A reference is a point: the residual of a pose is log6."""
        action = rich()
        done = action.calc(robot_state(action.state, 1))
        pose = Pose(action.robot, "root_joint")
        value = pose.value(done.x[:19])
        known = SE3.difference(np.array([0.1, 0.2, 0.5, 0, 0, 0, 1]), value)
        assert np.allclose(done.residuals[48:54], known, atol=1e-14)


@needs_robot_data
def test_case_8_sizes_rows_and_bounds() -> None:
    """27 / 3 running and 18 / 3 terminal: state box, translation (equality), controls."""
    robot = panda()
    state = actions.StateSpace(robot)
    stage = state.with_controls(9)
    constraints = [
        actions.StageConstraint(Identity(state.space), lower=-1.0, upper=1.0, name="a_state_box"),
        actions.StageConstraint(Position(robot, "panda_hand_tcp"), reference=[0.3, 0.1, 0.5], name="b_translation"),
        actions.StageConstraint(stage.control(), lower=-10.0, upper=10.0, name="c_control"),
    ]
    action = actions.ContactForwardDynamics(robot, None, None, (), constraints)
    assert (action.ng, action.nh, action.ng_terminal, action.nh_terminal) == (27, 3, 18, 3)
    bounds = np.repeat([1.0, 10.0], [18, 9])
    assert np.array_equal(action.g_upper, bounds)
    assert np.array_equal(action.g_lower, -bounds)
    rng = RNG(0)
    q, v, u = robot.random(rng), rng.standard_normal(9), rng.standard_normal(9)
    done = action.calc(state.join(q, v), u)
    assert np.allclose(done.g, np.concatenate([q, v, u]))
    assert np.allclose(done.h, robot.at(q).placement("panda_hand_tcp").translation - [0.3, 0.1, 0.5])
    assert done.cost == 0.0


def test_case_8_equal_bounds_are_an_equality() -> None:
    """Crocoddyl refuses lb = ub."""
    rows = contacts_of("anymal", Axes.LOCAL)
    one = actions.StageConstraint(Position(rows.robot, "root_joint"), lower=[0.1, 0.2, 0.3], upper=[0.1, 0.2, 0.3])
    action = actions.ContactForwardDynamics(rows.robot, None, rows, (), [one])
    assert (action.ng, action.nh) == (0, 3)
    x = action.state.join(np.concatenate([[0.4, 0.2, 0.3, 0, 0, 0, 1], np.zeros(12)]))
    assert np.allclose(action.calc(x).h, [0.3, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("axes", list(Axes))
def test_frame_velocity_keeps_the_laws(axes: Axes) -> None:
    """On a tree of every joint type, ellipsoid ones too, and on one that pinocchio has derivatives of."""
    check_function(actions.FrameVelocity(mixed_tree(), "zyx_tip", axes), samples=2)
    rows = contacts_of("anymal", axes)
    check_function(actions.FrameVelocity(rows.robot, "RF_FOOT", axes), samples=2)


@needs_robot_data
def test_frame_velocity_is_pinocchios() -> None:
    import pinocchio as pin

    robot = talos()
    rng = RNG(0)
    q, v = robot.random(rng), rng.standard_normal(38)
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, v)
    for axes, theirs in ((Axes.LOCAL, pin.LOCAL), (Axes.LOCAL_WORLD_ALIGNED, pin.LOCAL_WORLD_ALIGNED)):
        frame = robot.model.getFrameId("left_sole_link")
        known = pin.getFrameVelocity(robot.model, data, frame, theirs).vector
        assert error(actions.FrameVelocity(robot, "left_sole_link", axes).value(np.concatenate([q, v])), known) < 1e-12


@pytest.mark.parametrize("scheme", [actions.SemiImplicitEuler, actions.RungeKutta4])
@pytest.mark.parametrize("axes", list(Axes))
def test_steps_in_time(scheme: Any, axes: Axes) -> None:
    """Derivatives in the tangent of the next state; gradients of the cost of all stages."""
    action = scheme(rich(axes), 0.02)
    state, n = action.state, action.state.ndx
    x, u = robot_state(state, 1), 5.0 * RNG(2).standard_normal(12)
    done = action.calc(x, u).or_raise()
    found = action.calc_diff(done).or_raise()

    def moved(d: Any) -> Any:
        other = action.calc(state.integrate(x, d[:n]), u + d[n:])
        return np.concatenate([state.difference(done.next_state, other.next_state), [other.cost], other.g, other.h])

    D = differences(moved, n + 12, 5e-4)
    assert error(found.Fx, D[:n, :n]) < 1e-7
    assert error(found.Fu, D[:n, n:]) < 1e-7
    assert error(found.Lx, D[n, :n]) < 1e-7
    assert error(found.Lu, D[n, n:]) < 1e-7
    assert error(np.vstack([found.Gx, found.Hx]), D[n + 1 :, :n]) < 1e-7
    assert error(np.vstack([found.Gu, found.Hu]), D[n + 1 :, n:]) < 1e-7
    terminal = action.calc(x)
    assert np.array_equal(terminal.next_state, x)
    assert action.calc_diff(terminal).Fx is None
    assert (action.ng, action.nh_terminal, action.nr) == (17, 24, 66)


def test_costs_of_impulses_see_them() -> None:
    rows = contacts_of("talos_legs", Axes.LOCAL)
    stage = actions.StateSpace(rows.robot).with_controls(0, rows)
    costs = [actions.Cost(stage.force(0), activation=actions.Quadratic([1.0, 1.0, 2.0, 0.0, 0.0, 0.0]))]
    action = actions.ImpulseDynamics(rows.robot, rows, 0.2, costs)
    x = robot_state(action.state, 1)
    found, n = action.calc_diff(action.calc(x)).or_raise(), action.state.ndx
    assert (
        error(found.Lx, differences(lambda d: np.array([action.calc(action.state.integrate(x, d)).cost]), n)[0]) < 1e-7
    )
