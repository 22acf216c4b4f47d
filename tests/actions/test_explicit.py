"""Explicit joints in actions: couplers as rows, and the map G of minimal coordinates.

Case 19 of the acceptance list of contact dynamics. Oracle: pinocchio's mimic joints, where it has them (kinematics,
inertia, inverse dynamics); its forward dynamics and derivatives refuse them, and there differences are the oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from actions.dense import error
from actions.test_redundant import slopes_agree

from constraints import Robot, mimic_constraints
from constraints.actions import Actuators, ContactForwardDynamics
from constraints.loops import Axes, Baumgarte, ConstraintSet, Form, PointContact
from constraints.reduced import minimal_coordinates
from constraints.reduced.system import motion_matrix, reduced_mass_matrix
from constraints.robot.model.mimic import Mimic

RATIO, OFFSET = -0.7, 0.2


def arm() -> tuple[Robot, Any]:
    """Five joints, of which "wrist" follows "elbow", and pinocchio's model in which it is a mimic joint."""
    model: Any = pin.Model()
    rng, joint = np.random.default_rng(4), 0
    for name, kind in (
        ("yaw", pin.JointModelRZ()),
        ("shoulder", pin.JointModelRY()),
        ("elbow", pin.JointModelRY()),
        ("wrist", pin.JointModelRX()),
        ("hand", pin.JointModelRY()),
    ):
        placement = pin.SE3(pin.exp3(0.3 * rng.standard_normal(3)), np.array([0.1, 0.0, 0.4]))
        joint = model.addJoint(joint, kind, placement, name)
        model.addJointFrame(joint)
        body = pin.Inertia.FromBox(*rng.uniform(0.3, 1.0, 4))
        model.appendBodyToJoint(joint, body, pin.SE3(np.eye(3), 0.2 * rng.standard_normal(3)))
    model.addFrame(pin.Frame("tip", joint, 0, pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.1])), pin.FrameType.OP_FRAME))
    elbow, wrist = model.getJointId("elbow"), model.getJointId("wrist")
    known = pin.transformJointIntoMimic(model, elbow, wrist, RATIO, OFFSET)
    return Robot(model, "arm", mimics=[Mimic("wrist", "elbow", RATIO, OFFSET)]), known


def closed(robot: Robot, seed: int) -> tuple[Any, Any, Any, Any]:
    """Reduced q and v, and those of all joints."""
    rng = np.random.default_rng(seed)
    r, w = rng.uniform(-1.0, 1.0, 4), rng.standard_normal(4)
    q, v = np.insert(r, 3, RATIO * r[2] + OFFSET), np.insert(w, 3, RATIO * w[2])
    return r, w, q, v


INDEPENDENT = ["yaw", "shoulder", "elbow", "hand"]


@pytest.mark.parametrize("seed", [0, 1])
def test_map_reproduces_mimic_inertia_and_inverse_dynamics(seed: int) -> None:
    """Case 19: G^T M G is crba, G^T (M a + h) is rnea, and J G the Jacobian, all of the mimic model, to 1e-12."""
    robot, known = arm()
    r, w, q, v = closed(robot, seed)
    rows = ConstraintSet(robot, mimic_constraints(robot))
    state = minimal_coordinates(rows, q, independent=INDEPENDENT).at(q, v)
    G, data = motion_matrix(state), known.createData()
    M = np.array(pin.crba(known, data, r))
    assert error(reduced_mass_matrix(state), np.triu(M) + np.triu(M, 1).T) < 1e-12
    a = np.random.default_rng(9).standard_normal(4)
    forces = pin.rnea(robot.model, robot.model.createData(), q, v, G @ a)
    assert error(G.T @ forces, pin.rnea(known, data, r, w, a)) < 1e-12
    J = pin.computeFrameJacobian(known, data, r, known.getFrameId("tip"), pin.LOCAL)
    assert error(robot.at(q).jacobian("tip") @ G, J) < 1e-12


@pytest.mark.parametrize("armature", [0.0, np.array([0.1, 0.2, 0.3, 0.4, 0.5])], ids=["none", "some"])
def test_action_moves_as_the_reduced_equations_do(armature: Any) -> None:
    """Case 19: rows of the coupler give the motion of G^T (M + A) G; armature is reflected by the ratio squared."""
    robot, _ = arm()
    _, _, q, v = closed(robot, 2)
    rows = ConstraintSet(robot, mimic_constraints(robot))
    action = ContactForwardDynamics(robot, Actuators.joints(robot, INDEPENDENT), rows, armature=armature)
    u = np.array([1.0, -2.0, 0.5, 3.0])
    done = action.calc(action.state.join(q, v), u).or_raise()
    G = motion_matrix(minimal_coordinates(rows, q, independent=INDEPENDENT).at(q, v))
    A = np.diag(np.broadcast_to(armature, 5))
    M = robot.at(q, v).mass_matrix()
    inertia = G.T @ (M + A) @ G
    assert inertia[2, 2] == pytest.approx((G.T @ M @ G)[2, 2] + A[2, 2] + RATIO**2 * A[3, 3], rel=1e-12)
    known = np.linalg.solve(inertia, G.T @ (action.actuators.tau(q, u) - robot.at(q, v).bias_force()))
    assert error(done.acceleration, G @ known) < 1e-10


@pytest.mark.parametrize("axes", list(Axes))
@pytest.mark.parametrize("damping", [0.0, 1e-3])
def test_contact_dynamics_with_a_coupler_have_derivatives(axes: Axes, damping: float) -> None:
    """Case 19: pinocchio refuses these; oracle: differences."""
    robot, _ = arm()
    _, _, q, v = closed(robot, 3)
    tip = PointContact(robot, "tip", axes=axes, form=Form.RATES, mask=[True, False, True], name="tip").anchored(q)
    rows = ConstraintSet(robot, [*mimic_constraints(robot), tip]).stabilised(Baumgarte(20.0, 6.0))
    action = ContactForwardDynamics(robot, None, rows, damping=damping, armature=0.1, with_force_derivatives=True)
    x = action.state.integrate(action.state.join(q, v), np.concatenate([np.full(5, 0.05), np.zeros(5)]))
    found = slopes_agree(action, x, np.array([1.0, 2.0, -1.0, 0.5, 0.3]))
    assert found.has_exact_derivatives
