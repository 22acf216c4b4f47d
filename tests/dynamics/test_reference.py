"""RBDL's stored results: inertia, rows, accelerations, multipliers and impulses, and where RBDL is not right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from rbdl_models import contacts_of, dynamics, placement, robot_of, set_of

from constraints import Frame
from constraints.dynamics import (
    DynamicsStatus,
    ExternalForce,
    Factorisation,
    Method,
    MethodError,
    constrained_system,
    forward_dynamics,
    impact,
)
from constraints.dynamics.methods.saddle_point import solve_direct, solve_null_space, solve_range_space
from constraints.dynamics.methods.tree_sparsity import TreeSparsity
from constraints.loops import ConstraintSet

LINEAR = ("fivebar_planar", "fourbar_planar", "humanoid_4contacts")
"""Models whose rows are all linear: RBDL's and ours are the same."""

FILES = (*LINEAR, "slidercrank3d", "double_pendulum_absolute")
METHODS = tuple(m for m in Method if m is not Method.SPARSE)


def made(name: str) -> ConstraintSet:
    return contacts_of(name) if name.startswith("humanoid") else set_of(name)


def states(names: tuple[str, ...], which: str = "", having: str = "fd") -> list[Any]:
    return [
        pytest.param(name, state, id=f"{name}-{state['label']}")
        for name in names
        for state in dynamics()[name]["states"]
        if state["label"].startswith(which) and having in state
    ]


def array(numbers: Any) -> Any:
    return np.array(numbers, dtype=float)


def close(ours: Any, stored: Any, tolerance: float) -> bool:
    """Relative to the largest stored entry."""
    stored = array(stored)
    return bool(np.abs(ours - stored).max() <= tolerance * max(1.0, np.abs(stored).max()))


def motion_of(rows: ConstraintSet, state: Any) -> Any:
    return rows.robot.at(array(state["q_inplace"]), array(state["qdot"]))


def rbdl_rows(name: str, q: Any) -> Any:
    """RBDL's Jacobian by its own formula: a . (J_s - J_p) with a = (R_p w, R_p (l - r x w)), r mixed coordinates."""
    robot, d = robot_of(name), dynamics()[name]["model"]
    data_ = robot.model.createData()
    pin.computeJointJacobians(robot.model, data_, q)
    out = []
    for row in d["constraint_rows"]:
        jacobians, places = [], []
        for body, frame in (("predecessor", "frame_predecessor"), ("successor", "frame_successor")):
            j = row[body] + 1
            at = data_.oMi[j] * placement(row[frame])
            J = np.array(pin.getJointJacobian(robot.model, data_, j, pin.WORLD)) if j else np.zeros((6, robot.nv))
            shift = pin.SE3(np.eye(3), -at.translation).toActionMatrix()
            jacobians.append(shift @ J)
            places.append(at)
        w, linear = array(row["axis_ang_lin"])[:3], array(row["axis_ang_lin"])[3:]
        R, r = places[0].rotation, places[0].translation
        a = np.concatenate([R @ (linear - np.cross(r, w)), R @ w])
        out.append(a @ (jacobians[1] - jacobians[0]))
    return np.array(out)


# The system.


@pytest.mark.parametrize(("name", "state"), states(FILES))
def test_inertia_and_bias_are_those_of_rbdl(name: str, state: Any) -> None:
    """RBDL 1: H and C at every stored state, off the manifold too."""
    rows = made(name)
    system = constrained_system(rows, motion_of(rows, state))
    assert close(system.mass_matrix, state["H"], 1e-9)
    assert close(system.bias, state["C"], 1e-9)


@pytest.mark.parametrize(("name", "state"), states(LINEAR, "on_manifold"))
def test_linear_rows_are_those_of_rbdl(name: str, state: Any) -> None:
    """RBDL 1: purely linear rows need no mode: e, G, gamma, and gamma with Baumgarte of T = 0.1."""
    rows = made(name)
    motion = motion_of(rows, state)
    system = constrained_system(rows, motion)
    assert close(system.position_error, state["position_error"], 1e-9)
    assert close(system.velocity_error, state["velocity_error"], 1e-9)
    assert close(system.jacobian, state["G"], 1e-9)
    assert close(system.gamma, state["gamma"], 1e-9)
    assert close(constrained_system(rows.stabilised(0.1), motion).gamma, state["gamma_baumgarte_T0.1"], 1e-9)


@pytest.mark.parametrize(("name", "state"), states(("slidercrank3d", "double_pendulum_absolute")))
def test_rows_with_angles_are_rebuilt_by_the_formula_of_rbdl(name: str, state: Any) -> None:
    """RBDL 1: G of angular rows by RBDL's formula on our robot; gamma is - d(G v)/dt of that, on the manifold."""
    q, v = array(state["q_inplace"]), array(state["qdot"])
    robot = robot_of(name)
    assert close(rbdl_rows(name, q), state["G"], 1e-9)
    if state["label"].startswith("on_manifold"):
        h = 1e-5
        ahead, behind = (rbdl_rows(name, pin.integrate(robot.model, q, s * h * v)) @ v for s in (1.0, -1.0))
        assert close((behind - ahead) / (2.0 * h), state["gamma"], 1e-6)


@pytest.mark.parametrize(("name", "state"), states(("double_pendulum_absolute",), "on_manifold"))
def test_hinges_of_five_rows_hold_what_those_of_rbdl_hold(name: str, state: Any) -> None:
    """RBDL 1: on the manifold both sets of rows span one space, and ask for the same acceleration."""
    rows = made(name)
    system = constrained_system(rows, motion_of(rows, state))
    both = np.vstack([system.jacobian, array(state["G"])])
    assert np.linalg.matrix_rank(both, 1e-9) == 10
    turn = array(state["G"]) @ np.linalg.pinv(system.jacobian)
    assert close(turn @ system.gamma, state["gamma"], 1e-8)


@pytest.mark.parametrize(("name", "state"), states(("slidercrank3d",), "on_manifold"))
def test_one_angular_row_of_rbdl_is_no_derivative_of_its_error(name: str, state: Any) -> None:
    """RBDL defect 4: with one rotation row and two free ones, row spaces differ on the manifold: 5 of 4 + 4."""
    rows = made(name)
    system = constrained_system(rows, motion_of(rows, state))
    both = np.vstack([system.jacobian, array(state["G"])])
    s = np.linalg.svd(both, compute_uv=False)
    assert (s > 1e-6 * s[0]).sum() == 5
    q, v = array(state["q_inplace"]), np.linalg.svd(array(state["G"]))[2][-1]  # legal, says RBDL
    h = 1e-6
    model = rows.robot.model
    ahead, behind = (rows.position_error(pin.integrate(model, q, k * h * v)) for k in (1.0, -1.0))
    assert np.abs((ahead - behind) / (2.0 * h) - system.jacobian @ v).max() < 1e-6  # ours is the derivative


# Forward dynamics.


def compared(name: str, state: Any, stored: Any, **options: Any) -> None:
    """Every method that takes the set agrees with stored accelerations and forces."""
    rows: ConstraintSet = options.pop("rows", None) or made(name)
    took = []
    for method in METHODS:
        for by in Factorisation:
            try:
                result = forward_dynamics(
                    rows, motion_of(rows, state), state["tau"], method=method, factorisation=by, **options
                )
            except MethodError:
                continue
            took.append(method)
            assert result.status is DynamicsStatus.SOLVED
            assert close(result.acceleration, stored["qdd"], 1e-8), (method, by)
            assert close(result.multipliers, stored["force"], 1e-8), (method, by)
    expected = {Method.AUTOMATIC, Method.DIRECT, Method.RANGE_SPACE, Method.NULL_SPACE}
    expected |= {Method.TEST_FORCES} if name.startswith("humanoid") else set()
    assert set(took) == expected


@pytest.mark.parametrize(("name", "state"), states(LINEAR, "on_manifold"))
@pytest.mark.parametrize("solver", ["direct", "range_space_sparse"])
def test_accelerations_and_forces_are_those_of_rbdl(name: str, state: Any, solver: str) -> None:
    """RBDL 2: qdd and lambda of every method and factorisation; kokkevis is TEST_FORCES here."""
    compared(name, state, state["fd"][solver])
    if "kokkevis" in state["fd"]:
        compared(name, state, state["fd"]["kokkevis"])


@pytest.mark.parametrize(("name", "state"), states(LINEAR, "on_manifold"))
def test_stabilised_accelerations_are_those_of_rbdl(name: str, state: Any) -> None:
    """RBDL 2, 17: with Baumgarte of T = 0.1; TEST_FORCES too, which RBDL's Kokkevis ignores."""
    compared(name, state, state["fd_baumgarte"]["direct"], rows=made(name).stabilised(0.1))


@pytest.mark.parametrize(("name", "state"), states(LINEAR, having="fd_external_force"))
def test_accelerations_under_external_forces_are_those_of_rbdl(name: str, state: Any) -> None:
    """RBDL 2: one wrench in the world, at its origin; RBDL's Kokkevis takes none, ours does."""
    stored = state["fd_external_force"]
    robot, w = robot_of(name), array(stored["wrench_base_ang_lin"])
    joint = stored["body"] + 1
    name_of = str(robot.model.names[joint])
    at = robot.at(array(state["q_inplace"])).placement(name_of)
    frame = Frame("world on body", joint, at.inverse(), name_of)
    force = ExternalForce(frame, np.concatenate([w[3:], w[:3]]))
    compared(name, state, stored["direct"], external=[force])


@pytest.mark.parametrize(("name", "state"), states(("double_pendulum_absolute",), "on_manifold"))
@pytest.mark.parametrize("method", [Method.AUTOMATIC, Method.DIRECT, Method.RANGE_SPACE, Method.NULL_SPACE])
def test_hinges_of_five_rows_accelerate_as_in_rbdl(name: str, state: Any, method: Method) -> None:
    """RBDL 2: accelerations and joint forces of the hinges; single multipliers belong to other rows than ours."""
    rows = made(name)
    result = forward_dynamics(rows, motion_of(rows, state), state["tau"], method=method)
    stored = state["fd"]["direct"]
    assert close(result.acceleration, stored["qdd"], 1e-8)
    assert close(result.system.jacobian.T @ result.multipliers, array(state["G"]).T @ array(stored["force"]), 1e-8)
    for owner, group in zip(rows.stack, state.get("calcForces_after_direct", [None] * 2), strict=True):
        if group is None:
            continue
        for body, local in zip(("predecessor", "successor"), group["local_frames"], strict=True):
            w = array(local["wrench_ang_lin"])
            assert close(result.wrench(owner, on=body), np.concatenate([w[3:], w[:3]]), 1e-7)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "state"), states(FILES))
@pytest.mark.parametrize("with_gains", [False, True])
def test_the_bare_algebra_solves_every_stored_system(name: str, state: Any, with_gains: bool) -> None:
    """RBDL 2: H, G, C, gamma as stored, off the manifold too, in the three methods; qdd and lambda as of direct."""
    H, G, c = array(state["H"]), array(state["G"]), array(state["tau"]) - array(state["C"])
    gamma = array(state["gamma_baumgarte_T0.1" if with_gains else "gamma"])
    stored = state["fd_baumgarte" if with_gains else "fd"]["direct"]
    sparsity = TreeSparsity.of(robot_of(name).model)
    for by in Factorisation:
        for found in (
            solve_direct(H, G, c, gamma, by),
            solve_null_space(H, G, c, gamma, by),
            solve_range_space(H, G, c, gamma, by, sparsity=sparsity),
        ):
            assert found.status is DynamicsStatus.SOLVED
            assert close(found.acceleration, stored["qdd"], 1e-8)
            assert close(found.multipliers, stored["force"], 1e-8)


@pytest.mark.parametrize(("name", "state"), states(LINEAR, "on_manifold"))
def test_multipliers_of_the_null_space_of_rbdl_are_not_ours(name: str, state: Any) -> None:
    """RBDL defect 1: it solves with G Y where its transpose is due: its qdd is right, its force meets no equation."""
    stored = state["fd"]["null_space"]
    rows = made(name)
    result = forward_dynamics(rows, motion_of(rows, state), state["tau"], method=Method.NULL_SPACE)
    H, c, G = array(state["H"]), array(state["tau"]) - array(state["C"]), array(state["G"])
    left = [np.abs(H @ result.acceleration - c - G.T @ x).max() for x in (result.multipliers, array(stored["force"]))]
    assert close(result.acceleration, stored["qdd"], 1e-8)
    assert left[0] < 1e-9
    assert left[1] > 0.1
    Q = np.linalg.qr(G.T)[0]  # transposed, RBDL's would be right
    right = np.linalg.solve((G @ Q).T, Q.T @ (H @ array(stored["qdd"]) - c))
    assert close(result.multipliers, right, 1e-8)


def test_test_forces_honour_stabilisation_where_those_of_rbdl_do_not() -> None:
    """RBDL 2: off the manifold its kokkevis repeats the unstabilised result; ours moves with gamma."""
    name = "humanoid_4contacts"
    state = next(s for s in dynamics()[name]["states"] if s["label"].startswith("off"))
    assert close(array(state["fd"]["kokkevis"]["qdd"]), state["fd_baumgarte"]["kokkevis"]["qdd"], 1e-12)
    rows = made(name).stabilised(0.1)
    ours = forward_dynamics(rows, motion_of(rows, state), state["tau"], method=Method.TEST_FORCES)
    assert close(ours.acceleration, state["fd_baumgarte"]["direct"]["qdd"], 1e-8)
    assert np.abs(ours.acceleration - array(state["fd_baumgarte"]["kokkevis"]["qdd"])).max() > 1.0


@pytest.mark.parametrize(("name", "state"), states(("double_pendulum_absolute",), "off_manifold"))
def test_drift_of_angular_rows_off_the_manifold_is_ours_alone(name: str, state: Any) -> None:
    """RBDL defect 4: off the manifold gamma is no derivative of G v there; ours is, of the rows as they are."""
    rows = made(name)
    q, v = array(state["q_inplace"]), array(state["qdot"])
    h, model = 1e-5, robot_of(name).model
    ahead, behind = (pin.integrate(model, q, s * h * v) for s in (1.0, -1.0))
    own = (rows.jacobian(behind) @ v - rows.jacobian(ahead) @ v) / (2.0 * h)
    theirs = (rbdl_rows(name, behind) @ v - rbdl_rows(name, ahead) @ v) / (2.0 * h)
    assert close(-rows.drift(q, v), own, 1e-6)
    assert np.abs(theirs - array(state["gamma"])).max() > 0.05


# Impulses.


@pytest.mark.parametrize(("name", "state"), states(LINEAR, "on_manifold"))
def test_impulses_have_one_sign(name: str, state: Any) -> None:
    """RBDL 3: H (q+ - q-) = G^T Lambda in every method, as range_space_sparse; RBDL's direct has the other sign."""
    rows = made(name)
    for stored in state["impulses"]:
        v0 = array(stored["qdot_minus"])
        motion = rows.robot.at(array(state["q_inplace"]), v0)
        for method in METHODS:
            try:
                result = impact(rows, motion, after=stored["v_plus"], method=method)
            except MethodError:
                continue
            assert result.success
            assert close(result.velocity, stored["range_space_sparse"]["qdot_plus"], 1e-8)
            assert close(result.impulses, stored["range_space_sparse"]["impulse"], 1e-8)
            assert close(result.impulses, -array(stored["direct"]["impulse"]), 1e-8)
            jump = array(state["H"]) @ (result.velocity - v0) - array(state["G"]).T @ result.impulses
            assert np.abs(jump).max() < 1e-9
        wrong = array(state["G"]).T @ (array(stored["null_space"]["impulse"]) - result.impulses)
        assert np.abs(wrong).max() > 1e-3  # RBDL defect 1, once more


@pytest.mark.parametrize(("name", "state"), states(FILES))
def test_the_bare_algebra_solves_every_stored_impact(name: str, state: Any) -> None:
    """RBDL 3: H, G and v_plus as stored, in the three methods."""
    H, G, sparsity = array(state["H"]), array(state["G"]), TreeSparsity.of(robot_of(name).model)
    for stored in state["impulses"]:
        v0, none = array(stored["qdot_minus"]), np.zeros(len(H))
        jump = array(stored["v_plus"]) - G @ v0
        for found in (
            solve_direct(H, G, none, jump),
            solve_null_space(H, G, none, jump),
            solve_range_space(H, G, none, jump, sparsity=sparsity),
        ):
            assert close(v0 + found.acceleration, stored["range_space_sparse"]["qdot_plus"], 1e-8)
            assert close(found.multipliers, stored["range_space_sparse"]["impulse"], 1e-8)
