"""Redundant and singular sets: RBDL's models of rank 10 and 2, its linkage with a massless body, and contradictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from closed_mechanisms import closed_mechanism
from rbdl_models import LINKAGE_CLOSED, contacts_of, dynamics, frames_of, linkage, robot_of, set_of

from constraints import Affine, ConstraintError, Implicit, Position
from constraints.dynamics import (
    DynamicsStatus,
    Factorisation,
    Method,
    MethodError,
    forward_dynamics,
    impact,
    inverse_dynamics,
)
from constraints.loops import Axes, Baumgarte, Closure, ConstraintSet, Hinge, SurfaceContact, assemble_velocity
from constraints.models import mechanisms, sample_arm
from constraints.reduced import minimal_coordinates, reduced_forward_dynamics

ANY = (Method.AUTOMATIC, Method.DIRECT, Method.RANGE_SPACE, Method.NULL_SPACE)
CONTACTS = (*ANY, Method.TEST_FORCES)


def solved(rows: ConstraintSet, state: Any, method: Method, by: Factorisation = Factorisation.LU) -> Any:
    motion = rows.robot.at(np.array(state["q_inplace"]), np.array(state["qdot"]))
    return forward_dynamics(rows, motion, state["tau"], method=method, factorisation=by)


def assert_good(result: Any, stored: Any, rank: int) -> None:
    """RANK_DEFICIENT, with the acceleration of RBDL's direct method, both equations met and lambda of least norm."""
    system = result.system
    G, H = system.jacobian, system.mass_matrix
    assert result.status is DynamicsStatus.RANK_DEFICIENT
    assert result.rank == rank
    assert len(result.redundant_rows) == len(G) - rank
    if stored is not None:
        a = np.array(stored["qdd"])
        assert np.abs(result.acceleration - a).max() < 1e-8 * np.abs(a).max()
    assert np.abs(G @ result.acceleration - system.gamma).max() < 1e-9 * max(1.0, np.abs(result.acceleration).max())
    force = H @ result.acceleration - system.force
    assert np.abs(force - G.T @ result.multipliers).max() < 1e-9 * np.abs(system.force).max()
    least = np.linalg.pinv(G.T, 1e-8) @ force
    assert np.abs(result.multipliers - least).max() < 1e-8 * np.abs(least).max()


@pytest.mark.parametrize("by", Factorisation)
@pytest.mark.parametrize("method", CONTACTS)
def test_twelve_contact_rows_of_rank_ten(method: Method, by: Factorisation) -> None:
    """RBDL 14: no method is silently wrong; RBDL's range space misses the rows by 26.5, its null space qdd by 20."""
    name = "humanoid_4contacts_redundant"
    state = dynamics()[name]["singular"][0]
    direct, range_space, null_space = state["results"][:3]
    result = solved(contacts_of(name), state, method, by)
    assert_good(result, direct, 10)
    feet = {row.split()[0] for row in result.redundant_rows}
    assert len(feet) == 2  # one row of either foot
    assert range_space["residual_constraint"] > 26.0
    assert abs(null_space["qdd_norm"] - float(np.linalg.norm(result.acceleration))) > 20.0


@pytest.mark.parametrize("by", Factorisation)
@pytest.mark.parametrize("method", ANY)
def test_a_planar_four_bar_with_a_row_out_of_its_plane(method: Method, by: Factorisation) -> None:
    """RBDL 14: rank 2 of 3, the third row named; RBDL's null space has a wrong qdd (norm 0.11 for 43.4)."""
    name = "fourbar_redundant_rows"
    state = dynamics()[name]["singular"][0]
    result = solved(set_of(name), state, method, by)
    assert_good(result, state["results"][0], 2)
    assert result.redundant_rows == ("loop 0[2]",)
    assert state["results"][2]["qdd_norm"] < 0.2 < 40.0 < float(np.linalg.norm(result.acceleration))


@pytest.mark.parametrize("method", ANY)
def test_five_rows_on_three_degrees_of_freedom(method: Method) -> None:
    """RBDL 14: more rows than degrees of freedom, which RBDL cannot bind: rank 2, the same acceleration."""
    name = "fourbar_redundant_rows"
    robot = robot_of(name)
    a, b = frames_of(robot, dynamics()[name]["model"]["constraint_rows"][0])
    pin_joint = Closure(robot, a, b, Hinge.pin("z"), name="pin")
    state = dynamics()[name]["singular"][0]
    assert_good(solved(ConstraintSet(robot, [pin_joint]), state, method), state["results"][0], 2)


@pytest.mark.parametrize("pose", ["closed", "stretched"])
@pytest.mark.parametrize("method", [Method.AUTOMATIC, Method.DIRECT, Method.NULL_SPACE])
def test_a_massless_body_that_the_loop_holds(method: Method, pose: str) -> None:
    """RBDL 15: mass matrix singular, and sigma_min = 0 stretched: the one acceleration there is, by a dense KKT."""
    rows = linkage()
    q = LINKAGE_CLOSED if pose == "closed" else np.zeros(5)
    assert np.abs(rows.position_error(q)).max() < 1e-12
    tau = np.array([1.0, -2.0, 3.0, -5.0, 7.0])
    result = forward_dynamics(rows, rows.robot.at(q, np.zeros(5)), tau, method=method)
    system = result.system
    H, G = system.mass_matrix, system.jacobian
    assert np.linalg.matrix_rank(H, 1e-10) == 4
    K = np.block([[H, G.T], [G, np.zeros((5, 5))]])
    x = np.linalg.lstsq(K, np.concatenate([system.force, system.gamma]), rcond=1e-10)[0]
    assert result.status is DynamicsStatus.RANK_DEFICIENT  # two rows out of the plane; stretched, one row along it
    assert result.rank == (3 if pose == "closed" else 2)
    assert ("loop[0]" in result.redundant_rows) is (pose == "stretched")
    assert np.abs(result.acceleration - x[:5]).max() < 1e-8
    assert np.abs(result.multipliers + x[5:]).max() < 1e-8 * max(1.0, np.abs(x[5:]).max())


@pytest.mark.parametrize("pose", ["closed", "stretched"])
def test_range_space_says_that_the_mass_matrix_is_singular(pose: str) -> None:
    """RBDL 15: where RBDL divides by zero."""
    rows = linkage()
    q = LINKAGE_CLOSED if pose == "closed" else np.zeros(5)
    result = forward_dynamics(rows, rows.robot.at(q, np.zeros(5)), method=Method.RANGE_SPACE)
    assert result.status is DynamicsStatus.SINGULAR_MASS
    assert not result.success
    assert not result.acceleration.any()


@pytest.mark.parametrize("method", [Method.AUTOMATIC, Method.DIRECT, Method.NULL_SPACE])
def test_a_massless_body_that_nothing_holds(method: Method) -> None:
    """RBDL 15: SINGULAR_SYSTEM only where the acceleration is not unique, with the motion left free."""
    rows = linkage().switched(off=["loop"])
    result = forward_dynamics(rows, rows.robot.at(LINKAGE_CLOSED, np.zeros(5)), method=method)
    assert result.status is DynamicsStatus.SINGULAR_SYSTEM
    assert "j4" in result.free_motions


@pytest.mark.parametrize("v_plus", [0.0, 1.0])
@pytest.mark.parametrize("method", [Method.AUTOMATIC, Method.DIRECT, Method.NULL_SPACE])
def test_impacts_on_the_linkage_reach_their_velocity(method: Method, v_plus: float) -> None:
    """RBDL 3, 15: impulses on a set with a massless body reach v_plus."""
    rows = linkage()
    after = np.array([v_plus, 2.0 * v_plus, 0.0, 0.0, 3.0 * v_plus])
    motion = rows.robot.at(LINKAGE_CLOSED, [1.0, -1.0, 0.5, 0.2, 0.7])
    result = impact(rows, motion, after=after, method=method)
    assert result.success
    assert np.abs(rows.jacobian(LINKAGE_CLOSED) @ result.velocity - after).max() < 1e-10
    jump = motion.mass_matrix() @ (result.velocity - motion.v)
    assert np.abs(jump - rows.jacobian(LINKAGE_CLOSED).T @ result.impulses).max() < 1e-9


@pytest.mark.parametrize("method", CONTACTS)
def test_contradicting_rows_are_inconsistent(method: Method) -> None:
    """RBDL 14: two rows of one foot asked apart: the equation of motion holds, the rows as well as can be."""
    name = "humanoid_4contacts_redundant"
    rows, state = contacts_of(name), dynamics()[name]["singular"][0]
    motion = rows.robot.at(np.array(state["q_inplace"]), np.array(state["qdot"]))
    asked = np.linspace(-1.0, 1.0, 12)
    result = forward_dynamics(rows, motion, state["tau"], method=method, acceleration=asked)
    system = result.system
    assert result.status is DynamicsStatus.INCONSISTENT
    assert not result.success
    G = system.jacobian
    force = system.mass_matrix @ result.acceleration - system.force
    assert np.abs(force - G.T @ result.multipliers).max() < 1e-9 * np.abs(system.force).max()
    best = np.linalg.lstsq(G, system.gamma, rcond=1e-8)[0]
    assert np.abs(G @ result.acceleration - G @ best).max() < 1e-9
    assert np.abs(G @ best - system.gamma).max() > 0.01


def test_inequalities_act_where_they_are_violated() -> None:
    """Closed loop 22: rows of one side have no force where they hold, and push where they are violated."""
    rows = contacts_of("humanoid_4contacts")
    robot, state = rows.robot, dynamics()["humanoid_4contacts"]["states"][0]
    q, v = np.array(state["q_inplace"]), np.zeros(25)
    high = float(robot.at(q).placement("head").translation[2])
    for limit, acts in ((high - 0.1, False), (high + 0.1, True)):
        head = Implicit.above(Position(robot, "head"), limit, mask=[False, False, True], name="head up")
        both = ConstraintSet(robot, [*rows.stack, head]).stabilised(0.2, "head up")
        for method in (Method.AUTOMATIC, Method.DIRECT, Method.RANGE_SPACE, Method.NULL_SPACE):
            result = forward_dynamics(both, robot.at(q, v), state["tau"], method=method)
            assert result.status is DynamicsStatus.SOLVED
            assert result.rank == 10 + acts
            assert bool(result.multipliers_of("head up").any()) is acts
            if acts:
                J = both.jacobian(q)[-1]
                assert abs(J @ result.acceleration + both.drift(q, v)[-1] - 0.1 / 0.2**2) < 1e-8
        with pytest.raises(MethodError, match="head up"):
            forward_dynamics(both, robot.at(q, v), method=Method.TEST_FORCES)


def test_rows_that_only_the_digits_of_a_file_make_hold_nothing() -> None:
    """Cassie's plantar loops are planar to 1e-9 m: rows of 2e-8 across the plane were taken for rows, and success was
    said of accelerations that were off by as much as they are; now those of minimal coordinates."""
    mechanism, q = closed_mechanism("cassie_sdf")
    rows, robot, rng = mechanism.constraint_set(), mechanism.robot, np.random.default_rng(0)
    coordinates = minimal_coordinates(rows, q)
    states = 0
    while states < 20:
        closing = coordinates.close(robot.space.integrate(q, 0.4 * rng.standard_normal(robot.nv)))
        if not closing.success:
            continue
        states += 1
        state = coordinates.at(closing.q, rng.standard_normal(robot.nv), close=True)
        found = forward_dynamics(rows, state.motion).or_raise()
        assert found.rank == 10
        other = reduced_forward_dynamics(state).or_raise().acceleration
        np.testing.assert_allclose(found.acceleration, other, atol=1e-9 * np.abs(other).max())


def test_a_set_says_below_which_part_rows_are_rounding() -> None:
    """A row of 2e-8 beside one of 1: rounding by default, a row where the set says so; copies keep what was said."""
    robot = sample_arm()
    A = np.zeros((2, robot.nv))
    A[0, 0], A[1, 1] = 1.0, 2e-8
    rows, q, v = [Implicit.zero(Affine(A, inputs=robot.space), name="rows")], robot.neutral, np.zeros(robot.nv)
    for limit, rank in ((None, 1), (1e-8, 2), (3e-8, 1)):
        some = ConstraintSet(robot, rows) if limit is None else ConstraintSet(robot, rows, rounding=limit)
        for each in (some, some.switched(off=[]), some.stabilised(Baumgarte(1.0, 1.0))):
            for method in ANY:
                found = forward_dynamics(each, robot.at(q, v), method=method)
                assert found.rank == rank
                assert found.status is (DynamicsStatus.SOLVED if rank == 2 else DynamicsStatus.RANK_DEFICIENT)
    for wrong in (-1.0, np.nan, "small"):
        with pytest.raises(ConstraintError, match="rounding of a constraint set"):
            ConstraintSet(robot, rows, rounding=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_inverse_dynamics_has_the_status_of_forward_dynamics(turn: float) -> None:
    """Rows that nothing moves (across the plane of a linkage): it said "all rows are independent" of rank 2 of 5."""
    linkage = mechanisms.five_bar()
    rows, q = linkage.constraint_set(), linkage.posture("closed")
    motion = rows.robot.at(q, assemble_velocity(rows, q, [turn, 0.0, -turn, 0.0]))
    forward = forward_dynamics(rows, motion, np.ones(4))
    inverse = inverse_dynamics(rows, motion, forward.acceleration, actuated=rows.robot.joint_names)
    assert inverse.rank == forward.rank == 2
    assert inverse.redundant_rows == forward.redundant_rows
    assert inverse.status is forward.status is DynamicsStatus.RANK_DEFICIENT
    nearest = inverse_dynamics(rows, motion, forward.acceleration, actuated=["left_inner"])
    assert nearest.status is DynamicsStatus.UNDERACTUATED


def test_sparse_dynamics_of_rows_that_contradict_meet_them_best() -> None:
    """The sparse method gave zero accelerations with a status that promises least squares and a balance of forces."""
    linkage = mechanisms.five_bar()
    plane = SurfaceContact(linkage.robot, "left_outer_end", axes=Axes.LOCAL, name="foot")
    rows = ConstraintSet(linkage.robot, [plane])
    motion = linkage.robot.at(linkage.posture("closed"), 0.1 * np.ones(4))
    found = forward_dynamics(rows, motion, np.ones(4), method=Method.SPARSE)
    assert found.status is DynamicsStatus.INCONSISTENT
    system = found.system
    best = np.linalg.lstsq(system.jacobian, system.gamma, rcond=1e-9)[0]
    np.testing.assert_allclose(system.jacobian @ found.acceleration, system.jacobian @ best, atol=1e-12)
    force = system.mass_matrix @ found.acceleration - system.force
    np.testing.assert_allclose(force, system.jacobian.T @ found.multipliers, atol=1e-12 * np.abs(force).max())
    assert found.method is Method.DIRECT
