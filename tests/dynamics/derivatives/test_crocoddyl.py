"""Derivatives of contact dynamics against stored results of crocoddyl, and pinocchio's two calls against the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crocoddyl_cases import ContactCase, contact_cases, robot_of

from constraints.dynamics import DynamicsStatus, forward_dynamics
from constraints.dynamics.derivatives import SolutionSlopes, balance_at, slopes_of_balance
from constraints.dynamics.forward_derivatives import slopes_by_pinocchio
from constraints.dynamics.methods.pinocchio_constraints import PinocchioConstraints
from constraints.dynamics.methods.pinocchio_rows import has_its_slopes
from constraints.loops import Baumgarte, ConstraintSet, Form, SurfaceContact

CASES = list(contact_cases())


def relative(mine: Any, stored: Any) -> float:
    assert np.shape(mine) == np.shape(stored)
    return float(np.abs(mine - stored).max(initial=0.0)) / max(float(np.abs(stored).max(initial=0.0)), 1e-300)


def by_rows(case: ContactCase) -> tuple[Any, Any, SolutionSlopes]:
    """Acceleration and multipliers from a plain saddle point, with the library's derivatives there."""
    q, v, some = case.stored("q"), case.stored("v"), case.rows
    motion = case.robot.at(q, v)
    M = motion.mass_matrix() + case.armature * np.eye(case.robot.nv)
    rows = some.rows_at(motion)
    gamma = -rows.drift
    if some.gains is not None:
        gamma = gamma - some.gains[0] * rows.position - some.gains[1] * rows.velocity
    J, k = rows.jacobian, some.size
    K = np.block([[M, -J.T], [J, case.damping * np.eye(k)]])
    x = np.linalg.solve(K, np.concatenate([case.tau - motion.bias_force(), gamma]))
    a: Any = x[: len(M)]
    multipliers: Any = x[len(M) :]
    tree, data = case.robot.space.elementary, case.robot.space.elementary.datas.take()
    balance = balance_at(some, q, v, a, multipliers, tree, data)
    found = slopes_of_balance(some, q, M, balance, multipliers, data, case.damping)
    assert found is not None
    return a, multipliers, found


def check(case: ContactCase, a: Any, multipliers: Any, found: SolutionSlopes) -> None:
    """Values and derivatives are the stored ones to 1e-10."""
    on = case.stored("u").size
    assert relative(a, case.stored("ddq")) < 1e-10
    assert relative(multipliers, case.stored("lam")) < 1e-10
    assert relative(np.hstack([found.a_q, found.a_v]), case.stored("Fx")) < 1e-10
    assert relative(found.a_tau[:, -on:], case.stored("Fu")) < 1e-10
    assert relative(np.hstack([found.l_q, found.l_v]), case.stored("df_dx")) < 1e-10
    assert relative(found.l_tau[:, -on:], case.stored("df_du")) < 1e-10


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.seed}")
def test_stored_values_and_derivatives(case: ContactCase) -> None:
    """Cases 1, 2, 5: ANYmal and Talos' legs, LOCAL and in the axes of the world, gains, damping, armature, subsets."""
    check(case, *by_rows(case))


@pytest.mark.parametrize(
    "case", [case for case in CASES if has_its_slopes(case.rows)], ids=lambda case: f"{case.name}-{case.seed}"
)
def test_the_two_calls_of_pinocchio_are_the_same(case: ContactCase) -> None:
    """Case 20: the fast path equals the general one, and crocoddyl, to 1e-10."""
    fused = PinocchioConstraints(case.rows, True, case.damping, case.armature)
    solved = fused.solve(case.stored("q"), case.stored("v"), case.tau)
    assert solved is not None
    found, (_, _, rows) = slopes_by_pinocchio(fused), by_rows(case)
    check(case, *solved, found)
    for name in ("a_q", "a_v", "a_tau", "l_q", "l_v", "l_tau", "a_gamma", "l_gamma"):
        assert relative(getattr(found, name), getattr(rows, name)) < 1e-10, name


def test_where_pinocchio_is_wrong_it_is_not_asked() -> None:
    """Cases 9, 10: contacts in the axes of the world never take the fast path; all in their own axes do."""
    for case in CASES:
        assert has_its_slopes(case.rows) == ("lwa" not in case.name and "world" not in case.name and case.rows.size > 0)


def test_contacts_are_switched_without_building_anything() -> None:
    """Case 5: of the same set 4, 3, none, and 4 again: rows of zeros where a contact is off."""
    case = next(case for case in CASES if case.name == "anymal_4pt_l")
    q, v, tau = case.stored("q"), case.stored("v"), case.tau
    whole = forward_dynamics(case.rows, case.robot.at(q, v), tau).derivatives()
    for off in (["LF_FOOT"], list(case.rows.names)):
        some = case.rows.switched(off=off)
        result = forward_dynamics(some, case.robot.at(q, v), tau)
        found = result.derivatives().or_raise()
        kept = [i for i, name in enumerate(case.rows.names) if name not in off]
        alone = forward_dynamics(
            ConstraintSet(case.robot, [case.rows[i] for i in kept]), case.robot.at(q, v), tau
        ).derivatives()
        rows = [row for i in kept for row in range(3 * i, 3 * i + 3)]
        assert relative(found.acceleration_dq, alone.acceleration_dq) < 1e-10
        assert relative(found.multipliers_dq[rows], alone.multipliers_dq) < 1e-10 or not rows
        assert not np.delete(found.multipliers_dq, rows, axis=0).any()
    again = forward_dynamics(case.rows, case.robot.at(q, v), tau).derivatives()
    assert (again.acceleration_dq == whole.acceleration_dq).all()


def test_a_sole_twice() -> None:
    """Case 15: 18 rows of rank 12: accelerations, wrench sums and their derivatives are those of 12 rows."""
    case = next(case for case in CASES if case.name == "talos_legs_2x6d_l")
    robot, q, v, tau = robot_of("talos_legs"), case.stored("q"), case.stored("v"), case.tau
    soles = [SurfaceContact(robot, name, form=Form.RATES, name=name) for name in ("left_sole_link", "right_sole_link")]
    again = SurfaceContact(robot, "left_sole_link", form=Form.RATES, name="again")
    once = forward_dynamics(ConstraintSet(robot, soles), robot.at(q, v), tau)
    twice = forward_dynamics(ConstraintSet(robot, [*soles, again]), robot.at(q, v), tau)
    assert twice.status is DynamicsStatus.RANK_DEFICIENT
    one, two = once.derivatives().or_raise(), twice.derivatives().or_raise()
    assert relative(two.acceleration_dq, one.acceleration_dq) < 1e-10
    assert relative(two.acceleration_dv, one.acceleration_dv) < 1e-10
    for which in ("by_q", "by_v", "by_tau"):
        parts = [getattr(two.wrench(name), which) for name in ("left_sole_link", "again")]
        assert relative(parts[0] + parts[1], getattr(one.wrench("left_sole_link"), which)) < 1e-10
        assert relative(parts[0], parts[1]) < 1e-9


def test_the_stabilised_set_takes_the_fast_path_too() -> None:
    """Derivatives of a result are the same with and without pinocchio's own, whatever method solved."""
    case = next(case for case in CASES if case.name == "talos_legs_2x6d_l_gains")
    some = case.rows.stabilised(Baumgarte(*(2.0, 3.0)))
    motion = case.robot.at(case.stored("q"), case.stored("v"))
    found = [forward_dynamics(some, motion, case.tau, method=m).derivatives() for m in ("direct", "proximal")]
    asked = np.zeros(some.size)  # wanted accelerations: the general way
    rows = forward_dynamics(some, motion, case.tau, acceleration=asked).derivatives()
    for name in ("acceleration_dq", "acceleration_dv", "multipliers_dq", "multipliers_dv", "multipliers_dgamma"):
        for fused in found:
            assert relative(getattr(fused, name), getattr(rows, name)) < 1e-9, name
