"""Defects that random states have shown (`benchmarks/dynamics_soundness.py`), each as the least example of its kind."""

from __future__ import annotations

import warnings
from typing import Any

import mpmath
import numpy as np
import pinocchio as pin
import pytest

from constraints import Frame, Robot
from constraints.dynamics import DynamicsStatus, Factorisation, Method, forward_dynamics, impact
from constraints.dynamics.methods.least_deviation import solve_inverse
from constraints.dynamics.methods.row_space import missed
from constraints.dynamics.methods.saddle_point import solve_direct, solve_null_space, solve_range_space
from constraints.loops import ConstraintSet, Form, PointContact
from constraints.robot import Motion

every_solver = pytest.mark.parametrize("solve", [solve_direct, solve_range_space, solve_null_space])
every_factorisation = pytest.mark.parametrize("by", Factorisation, ids=lambda by: by.name)


@every_solver
@pytest.mark.parametrize("short", [1e-2, 1e-5, 1e-7])
def test_short_rows_among_redundant_ones_push_as_they_should(solve: Any, short: float) -> None:
    """Multipliers of least norm came from normal equations: the force they give was wrong by 1e-7 and more."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        G, A = rng.standard_normal((6, 9)), rng.standard_normal((9, 9))
        G[4], G[5] = 2.0 * G[3], G[0] + G[1]
        G[rng.integers(3)] *= short
        H, c = A @ A.T + np.eye(9), rng.standard_normal(9)
        found = solve(H, G, c, G @ rng.standard_normal(9))
        assert found.status is DynamicsStatus.RANK_DEFICIENT
        a, lam = found.acceleration, found.multipliers
        terms = np.abs(H) @ np.abs(a) + np.abs(c) + np.abs(lam) @ np.abs(G)
        assert np.abs(H @ a - c - lam @ G).max() <= 1e-13 * terms.max()
        by_svd = np.linalg.lstsq(G.T, H @ a - c, rcond=1e-12)[0]
        np.testing.assert_allclose(lam, by_svd, rtol=1e-6, atol=1e-6 * np.abs(lam).max())


@every_solver
@pytest.mark.parametrize("gap", [1e-12, 3e-11, 1e-9])
def test_rows_that_nearly_repeat_others_share_their_force(solve: Any, gap: float) -> None:
    """Multipliers of least norm in fifty digits: two rows 1e-12 apart had shares that were wrong by 1e-2.

    What rounding leaves of the force along the direction in which they differ is none of the rows' business.
    """
    for seed in range(6):
        rng = np.random.default_rng(seed)
        G, A = rng.standard_normal((6, 9)), rng.standard_normal((9, 9))
        G[5] = G[0] + gap * rng.standard_normal(9)
        G /= np.sqrt((G * G).sum(axis=1))[:, None]
        H, c, gamma = A @ A.T + np.eye(9), rng.standard_normal(9), G @ rng.standard_normal(9)
        found, truth = solve(H, G, c, gamma), least_in_fifty_digits(H, G, c, gamma, 5)
        np.testing.assert_allclose(found.multipliers, truth, rtol=0, atol=1e-9 * np.abs(truth).max())


def least_in_fifty_digits(H: Any, G: Any, c: Any, gamma: Any, rank: int) -> Any:
    """Multipliers of least norm, of the rows that the largest singular values make."""
    n = len(c)
    with mpmath.workdps(50):
        U, sizes, Vt = mpmath.svd_r(mpmath.matrix(G.tolist()))
        U, B = U[:, :rank], Vt[:rank, :]
        K = mpmath.zeros(n + rank)
        K[:n, :n], K[:n, n:], K[n:, :n] = mpmath.matrix(H.tolist()), -B.T, B
        asked = U.T * mpmath.matrix(gamma.tolist())
        right = mpmath.matrix([*c.tolist(), *(asked[i] / sizes[i] for i in range(rank))])
        mu = mpmath.lu_solve(K, right)[n:]
        shares = U * mpmath.matrix([mu[i] / sizes[i] for i in range(rank)])
        return np.array([float(x) for x in shares])


def light(seed: int, n: int, k: int) -> tuple[Any, Any, Any]:
    """H of n coordinates, and one motion that has no mass, with k rows that leave it."""
    rng = np.random.default_rng(seed)
    unit = rng.standard_normal(n)
    unit /= np.sqrt(unit @ unit)
    J, G = rng.standard_normal((n, n)), rng.standard_normal((k, n))
    J, G = (x - np.outer(x @ unit, unit) for x in (J, G))
    return J.T @ J, G, unit


@every_factorisation
@pytest.mark.parametrize("k", [0, 2, 5, 6])
def test_a_motion_whose_mass_is_rounding_has_none(by: Factorisation, k: int) -> None:
    """The null space method compared pivots with their own diagonal entries, which are rounding as well."""
    for seed in range(10):
        H, G, unit = light(seed, 7, k)
        found = solve_null_space(H, G, H @ np.ones(7), G @ np.ones(7), by)
        assert found.status is DynamicsStatus.SINGULAR_SYSTEM
        assert abs(found.free[:, 0] @ unit) == pytest.approx(1.0)
        assert solve_direct(H, G, H @ np.ones(7), G @ np.ones(7), by).status is DynamicsStatus.SINGULAR_SYSTEM


@pytest.mark.parametrize("k", [0, 2, 5])
def test_nothing_drives_a_motion_whose_mass_is_rounding(k: int) -> None:
    """The same in inverse dynamics: what is driven leaves a motion without mass, and no acceleration is unique."""
    for seed in range(10):
        H, G, unit = light(seed, 7, k)
        B = np.linalg.svd(unit[None])[2][1:].T  # all but that motion
        found = solve_inverse(H, G, H @ np.ones(7), G @ np.ones(7), B, np.ones(7))
        assert found.solution.status is DynamicsStatus.SINGULAR_SYSTEM
        assert abs(np.linalg.qr(found.solution.free)[0][:, 0] @ unit) == pytest.approx(1.0)


@every_factorisation
def test_motions_without_mass_that_move_alone_are_solved_for(by: Factorisation) -> None:
    """All terms of the equation of motion are rounding then, which says nothing against the answer."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        J, G, unit = rng.standard_normal((4, 4)), rng.standard_normal((3, 5)), np.eye(5)[4]
        H = np.zeros((5, 5))
        H[:4, :4] = J.T @ J
        found = solve_null_space(H, G, np.zeros(5), G @ unit, by)
        assert found.status is DynamicsStatus.SOLVED
        np.testing.assert_allclose(found.acceleration, unit, atol=1e-9)


def chain(form: Form, tilt: float = 0.0) -> ConstraintSet:
    """Four links in a plane, which may be tilted a little, held at the tip; straight at rest."""
    model, parent = pin.Model(), 0
    root = pin.SE3(pin.exp3(tilt * np.array([1.0, 2.0, 3.0])), np.zeros(3))
    for i in range(4):
        at = pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0])) if i else root
        parent = model.addJoint(parent, pin.JointModelRZ(), at, f"j{i}")
        model.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0 + i, 0.4, 0.1, 0.1), pin.SE3.Identity())
    robot = Robot(model, "chain")
    tip = Frame("tip", 4, pin.SE3(np.eye(3), np.array([0.7, 0.0, 0.0])), "j3")
    return ConstraintSet(robot, [PointContact(robot, tip, anchor=[2.2, 0.0, 0.0], form=form, name="tip")])


@pytest.mark.parametrize("form", Form, ids=lambda form: form.name)
@pytest.mark.parametrize("bend", [0.0, 3e-10, 3e-9])
def test_the_proximal_method_pushes_along_no_row_that_is_rounding(form: Form, bend: float) -> None:
    """Its damped loop did, along a chain that is straight but for 1e-9: off by 1e-10 and more."""
    held = chain(form)
    motion = held.robot.at(bend * np.array([1.0, -2.0, 3.0, 1.0]), np.zeros(4))
    tau = np.array([0.3, -1.0, 2.0, 0.5])
    found = forward_dynamics(held, motion, tau, method=Method.PROXIMAL)
    right = forward_dynamics(held, motion, tau, method=Method.NULL_SPACE)
    assert found.method is (Method.DIRECT if bend else Method.PROXIMAL)  # pinocchio cannot leave a part of a row out
    np.testing.assert_allclose(found.acceleration, right.acceleration, rtol=1e-12)
    np.testing.assert_allclose(found.multipliers, right.multipliers, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", [Method.DIRECT, Method.RANGE_SPACE, Method.NULL_SPACE, Method.TEST_FORCES])
def test_impacts_of_a_chain_that_is_nearly_straight_keep_their_momentum(method: Method) -> None:
    """The row along the chain is short, and its impulse large: missed by 2.5e-9 in normal equations."""
    held = chain(Form.DERIVATIVE, 1e-3)
    motion = held.robot.at(1e-5 * np.array([1.0, -2.0, 3.0, 1.0]), np.array([0.4, 0.1, 0.2, -0.1]))
    hit = impact(held, motion, method=method)
    M, G = motion.mass_matrix(), held.rows_at(motion).jacobian
    terms = np.abs(M) @ np.abs(hit.velocity) + np.abs(hit.impulses) @ np.abs(G)
    assert np.abs(M @ (hit.velocity - motion.v) - hit.impulses @ G).max() <= 1e-13 * terms.max()


def test_a_joint_that_moves_no_mass_is_a_status_without_a_warning() -> None:
    """Articulated bodies divide by its inertia; numpy warned of the product with what is not a number."""
    model, step = pin.Model(), pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    model.addJoint(0, pin.JointModelRX(), step, "empty")
    arm = model.addJoint(0, pin.JointModelRZ(), step, "arm")
    model.appendBodyToJoint(arm, pin.Inertia.FromBox(1.0, 0.4, 0.1, 0.1), pin.SE3.Identity())
    robot = Robot(model, "arm")
    held = ConstraintSet(robot, [PointContact(robot, Frame("tip", arm, step, "arm"), [0.0, 1.0, 0.0])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = forward_dynamics(held, robot.at(np.full(2, 0.3), np.ones(2)), method=Method.TEST_FORCES)
    assert found.status is DynamicsStatus.SINGULAR_MASS


@every_solver
@pytest.mark.parametrize(("off", "status"), [(2e-5, "INCONSISTENT"), (2e-7, "RANK_DEFICIENT")])
def test_a_success_meets_what_counts_and_lists_what_it_misses(solve: Any, off: float, status: str) -> None:
    """Up to `rounding` of the accelerations rows that repeat others contradict none (a loop that is planar but for its
    digits asks for that much); what is missed by more than 1e-9 is listed."""
    gamma = np.ones(12)
    gamma[3] += off
    G = np.tile([1.0, 0.0], (12, 1))
    found = solve(np.eye(2), G, np.zeros(2), gamma)
    assert found.status is DynamicsStatus[status]
    assert 3 in missed(G, found.acceleration, gamma, 0.0)
    gamma[3] = 1.0 + 2e-10
    assert not missed(G, solve(np.eye(2), G, np.zeros(2), gamma).acceleration, gamma, 0.0)


def test_an_inverse_inertia_of_two_digits_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Articulated bodies keep no more where light bodies carry heavy ones: three corrections were not enough."""
    held, rng = chain(Form.DERIVATIVE), np.random.default_rng(0)
    motion = held.robot.at(np.array([0.3, -0.8, 0.5, 0.2]), np.ones(4))
    right = forward_dynamics(held, motion, method=Method.NULL_SPACE)
    noise = 0.01 * rng.standard_normal((4, 4))
    rough = np.linalg.inv(motion.mass_matrix()) * (1.0 + noise + noise.T)
    monkeypatch.setattr(Motion, "inverse_mass_matrix", lambda _: rough.copy())
    found = forward_dynamics(held, motion, method=Method.TEST_FORCES)
    assert found.status is right.status
    np.testing.assert_allclose(found.acceleration, right.acceleration, rtol=1e-9)
    np.testing.assert_allclose(found.multipliers, right.multipliers, rtol=1e-9, atol=1e-9)


def in_balance(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inertia (9, 9), rows (5, 9) of which the last differs from the first by 1.5e-9, a force (9,) that they cancel."""
    rng = np.random.default_rng(seed)
    A, G = rng.standard_normal((9, 9)), rng.standard_normal((5, 9))
    G /= np.linalg.norm(G, axis=1)[:, None]
    beside = rng.standard_normal(9)
    G[4] = G[0] + 1.5e-9 * beside / np.linalg.norm(beside)
    return A @ A.T + np.eye(9), G, 30.0 * rng.standard_normal(4) @ np.linalg.svd(G)[2][:4]


@every_factorisation
@every_solver
def test_accelerations_that_are_rounding_contradict_no_row(solve: Any, by: Factorisation) -> None:
    """What a row misses that nearly repeats another was judged by them: rounding by rounding."""
    for seed in range(20):
        H, G, c = in_balance(seed)
        found = solve(H, G, c, np.zeros(5), by)
        assert np.abs(found.acceleration).max() < 1e-11
        assert found.status is DynamicsStatus.RANK_DEFICIENT


def test_accelerations_that_are_rounding_contradict_no_row_where_little_is_driven() -> None:
    """The same in inverse dynamics, which solves for the motions that nothing drives."""
    for seed in range(20):
        H, G, c = in_balance(seed)
        found = solve_inverse(H, G, c, np.zeros(5), np.eye(9)[:, :2], np.ones(9) * 1e-13).solution
        assert np.abs(found.acceleration).max() < 1e-11
        assert found.status is DynamicsStatus.RANK_DEFICIENT


@every_solver
def test_small_accelerations_that_are_none_are_judged_by_themselves(solve: Any) -> None:
    """Rows that differ by 1.5e-9 share the miss along what they differ in: it is no contradiction."""
    for seed in range(20):
        H, G, c = in_balance(seed)
        apart = np.linalg.svd(G)[2][4]
        found = solve(H, G, c + 1e-4 * np.linalg.norm(c) * apart, np.zeros(5))
        assert found.status is DynamicsStatus.RANK_DEFICIENT
        assert np.abs(G @ found.acceleration).max() < 1e-9 * np.linalg.norm(found.acceleration)


def held_twice(form: Form, joint: int, at: float) -> ConstraintSet:
    """A chain in a vertical plane, one link of which is held at two points that are 3e-8 apart."""
    robot = chain(form).robot
    robot.model.gravity.linear = np.array([0.0, -9.81, 0.0])  # pyright: ignore[reportAttributeAccessIssue]
    places = [pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])) for x in (at - 1.5e-8, at + 1.5e-8)]
    frames = [Frame(f"at {i}", joint, place, f"j{joint - 1}") for i, place in enumerate(places)]
    return ConstraintSet(robot, [PointContact(robot, frame, form=form, name=frame.name) for frame in frames])


not_sparse = pytest.mark.parametrize("method", [m for m in Method if m is not Method.SPARSE], ids=lambda m: m.name)


@pytest.mark.parametrize("form", Form, ids=lambda form: form.name)
@not_sparse
def test_actuators_that_hold_the_weight_contradict_no_row(method: Method, form: Form) -> None:
    """Nothing is left to accelerate the chain, but rounding of what they cancel."""
    held = held_twice(form, 4, 0.7)
    motion = held.robot.at(np.array([0.3, -0.8, 0.5, 0.2]), np.zeros(4))
    for noise in np.random.default_rng(0).standard_normal((20, 4)):
        found = forward_dynamics(held, motion, motion.bias_force() * (1.0 + 1e-15 * noise), method=method)
        assert np.abs(found.acceleration).max() < 1e-11
        assert found.status is DynamicsStatus.RANK_DEFICIENT


@pytest.mark.parametrize("form", Form, ids=lambda form: form.name)
@not_sparse
def test_contacts_that_hold_the_weight_contradict_no_row(method: Method, form: Form) -> None:
    """Of a chain that hangs from the link that they hold: its own angle is off by rounding."""
    held = held_twice(form, 2, 0.0)
    for angle in np.linspace(0.1, 1.0, 20):
        motion = held.robot.at(np.array([angle, -0.5 * np.pi - angle, 0.0, 0.0]), np.zeros(4))
        found = forward_dynamics(held, motion, method=method)
        assert np.abs(found.acceleration).max() < 1e-11
        assert found.status is DynamicsStatus.RANK_DEFICIENT
