"""Assembly: RBDL's guesses, weights, half turns, branches, driven joints, moving targets, what a failure says."""

from __future__ import annotations

import importlib
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from loops.test_hinges import free_body
from rbdl_models import LINKAGE_CLOSED, data, linkage, robot_of, set_of
from record_arguments import with_records
from samples import mixed_frames

import constraints as lc
from constraints.errors import EmptyProblemError, FileError, OptionError, SizeError, UnknownJointError, WrongObjectError
from constraints.loops import (
    AssemblyOptions,
    Closure,
    ConstraintSet,
    Hinge,
    OpenMechanismError,
    PointClosure,
    PointContact,
    RodClosure,
    SurfaceContact,
    assemble_position,
    assemble_velocity,
)
from constraints.loops.branch import branch_between
from constraints.models import mechanisms
from constraints.rows.stacking import Order, stack_rows
from constraints.solvers import DampedCholesky, LeastChange, NewtonEngine, SparseKKT
from constraints.solvers.projection.engines import USUAL

NEAR = [(model, entry) for model, d in data()["models"].items() for entry in d["near"]]


def ids(entries: list[Any]) -> list[str]:
    return [f"{model}-{entry['label']}" for model, entry in entries]


@pytest.mark.parametrize(("model", "entry"), a_few(NEAR, 8, 2), ids=ids(NEAR))
def test_near_guesses_close_in_five_quadratic_steps(model: str, entry: Any) -> None:
    """RBDL case 10: at most 5 iterations to 1e-12 with a quadratic tail, where RBDL took up to 38, or failed."""
    rows = set_of(model)
    result = assemble_position(rows, np.array(entry["guess"]), weights=np.array(entry["weights"], dtype=float))
    assert result.success
    assert result.iterations <= 5
    assert np.linalg.norm(rows.position_error(result.q)) < 1e-12
    errors = [step.residual for step in result.projection.trace or ()]
    for before, after in pairwise(errors[1:]):
        assert after <= 20.0 * before**2 + 1e-12


@pytest.mark.parametrize(("model", "entry"), a_few(NEAR, 8, 2), ids=ids(NEAR))
def test_the_nearest_closed_configuration(model: str, entry: Any) -> None:
    """RBDL case 11: the weighted distance is stationary to 1e-8, and costs what the true projection costs."""
    rows, weights = set_of(model), np.array(entry["weights"], dtype=float)
    space, start = rows.robot.space, np.array(entry["guess"])
    result = assemble_position(rows, start, weights=weights, options=AssemblyOptions(nearest=True))
    assert result.success
    step = space.difference(start, result.q)
    cost = 0.5 * step @ (weights * step)
    assert cost == pytest.approx(entry["own_cost"], abs=1e-6)
    if entry["rbdl_success"] and entry["rbdl_cost"] > entry["own_cost"] + 1e-7:
        assert cost < entry["rbdl_cost"]
    gradient = weights * step @ space.difference_dq1(start, result.q)
    J = rows.jacobian(result.q)
    left = gradient - J.T @ np.linalg.lstsq(J.T, gradient, rcond=1e-9)[0]
    assert np.linalg.norm(left) <= 1e-8 * max(1.0, np.linalg.norm(gradient))


@pytest.mark.parametrize("seed", range(4))
def test_free_coordinates_leave_the_others_where_they_are(seed: int) -> None:
    """RBDL case 12: with W = (1, 0, 1, 0, 0) the linkage closes and keeps q0 and q2, from offsets up to 0.2."""
    rows = linkage()
    start = LINKAGE_CLOSED + np.random.default_rng(seed).uniform(-0.2, 0.2, 5)
    result = assemble_position(rows, start, weights=[1.0, 0.0, 1.0, 0.0, 0.0])
    assert result.success
    assert np.abs(result.q - start)[[0, 2]].max() < 1e-10
    assert np.abs(rows.position_error(result.q)).max() < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_a_cost_of_zero_is_zero_beside_masked_rows(seed: int) -> None:
    """Mend 19: masked rows are no inequalities: what costs something does not move at all where the rest can do it."""
    robot = planar_arm(0.7, 0.6, 0.5)
    tip = lc.Transformation(robot, "tip")
    closed = np.array([0.4, -0.9, 0.8])
    goal = tip.value(closed) * [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    rows = ConstraintSet(robot, [lc.Implicit.equal(tip, goal, mask=[1, 1, 0, 0, 0, 0], name="tip")])
    start = closed + np.random.default_rng(seed).uniform(-0.2, 0.2, 3)
    result = assemble_position(rows, start, weights=[1.0, 0.0, 0.0])
    assert result.success
    assert np.linalg.norm((tip.value(result.q) - goal)[:2]) < 1e-12
    assert abs(result.q[0] - start[0]) < 1e-15
    assert np.abs(result.q - start)[1:].max() > 1e-2


def test_zero_costs_with_fewer_free_coordinates_than_rows() -> None:
    """RBDL case 12: zero costs are handled by rank: where the free ones cannot close it alone, the others move too."""
    rows = linkage()
    start = LINKAGE_CLOSED + 0.1
    result = assemble_position(rows, start, weights=[1.0, 1.0, 1.0, 1.0, 0.0])
    assert result.success
    assert np.abs(result.q - start)[:4].max() > 1e-3


@pytest.mark.parametrize("degrees", [60, 120, 170])
def test_a_hinge_far_turned_converges_as_fast(degrees: int) -> None:
    """RBDL case 10: a hinge at 60, 120 and 170 degrees takes the same few steps (RBDL: a ratio of sin(angle / 2))."""
    robot = free_body()
    rows = ConstraintSet(robot, [Closure(robot, None, "body", Hinge.pin([0.0, 0.0, 1.0]), name="pin")])
    turned = np.array(pin.Quaternion(pin.exp3(np.radians([0.0, 0.0, degrees]))).coeffs())
    closed = np.concatenate([np.zeros(3), turned])
    start = robot.space.integrate(closed, 0.05 * np.array([1.0, -1.0, 0.5, 0.8, -0.6, 0.3]))
    result = assemble_position(rows, start)
    assert result.success
    assert result.iterations <= 4


@pytest.mark.parametrize("away", [1e-3, 0.0])
@pytest.mark.parametrize("hinge", [Hinge.locked(), Hinge.pin([0.0, 0.0, 1.0]), Hinge.slider([1.0, 0.0, 0.0])], ids=str)
@pytest.mark.parametrize("axis", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0]])
def test_half_turns_are_never_solutions(away: float, hinge: Hinge, axis: list[float]) -> None:
    """RBDL case 13: from half a turn, exactly or nearly, it closes or says that it does not."""
    robot = free_body()
    closure = Closure(robot, None, "body", hinge, name="closure")
    turned = np.array(pin.Quaternion(pin.exp3((np.pi - away) * np.array(axis))).coeffs())
    start = np.concatenate([np.zeros(3), turned])
    assert np.linalg.norm(closure.residual(start)) == pytest.approx(np.pi - away, abs=1e-9)
    result = assemble_position(ConstraintSet(robot, [closure]), start)
    R = closure.pose(result.q).rotation
    held = np.array([0.0, 0.0, 1.0]) if closure.hinge.dofs and closure.group.nv == 5 else None
    angle = np.linalg.norm(pin.log3(R)) if held is None or closure.hinge.kind.name != "PIN" else np.arccos(R[2, 2])
    assert not result.success or angle < 1e-6
    assert np.isfinite(result.q).all()


def test_velocities_are_the_weighted_projection() -> None:
    """RBDL case 16: the exact W-projection, idempotent, and equal to RBDL's on its states."""
    for model, d in data()["models"].items():
        rows = set_of(model)
        if model == "slidercrank3d":
            continue  # there RBDL's rotation row is not the derivative of its error
        for entry in d["velocities"]:
            q, v0, W = (
                np.array(entry["q_inplace"]),
                np.array(entry["qdot_init"]),
                np.array(entry["weights"], dtype=float),
            )
            v = assemble_velocity(rows, q, v0, weights=W)
            J = rows.jacobian(q)
            assert np.abs(J @ v).max() < 1e-11
            gradient = W * (v - v0)
            left = gradient - J.T @ np.linalg.lstsq(J.T, gradient, rcond=1e-9)[0]
            assert np.abs(left).max() < 1e-9
            again = assemble_velocity(rows, q, v, weights=W)
            assert np.abs(again - v).max() < 1e-11
            if (W > 0.0).all():
                assert np.abs(v - entry["qdot"]).max() < 1e-8


def test_velocities_follow_moving_targets_and_driven_joints() -> None:
    """RBDL case 16: a rod that changes its length gives J v = d/dt; driven joints keep theirs bit for bit."""
    rows = rod_mechanism(lc.Target(lambda t: [1.0 + 0.1 * np.sin(t)]))
    start = assemble_position(rows, [0.4, -0.9, 0.3], rhs=rows.rhs_at(0.7))
    assert start.success
    t, wanted = 0.7, np.array([0.3, -0.2, 0.5])
    v = assemble_velocity(rows, start.q, wanted, rhs=rows.rhs_at(t), driven=["j0"])
    assert v[0] == wanted[0]
    assert np.abs(rows.velocity_error(start.q, v, rows.rhs_at(t))).max() < 1e-12
    h = 1e-6
    ahead = rows.position_error(rows.robot.space.integrate(start.q, h * v), rows.rhs_at(t + h))
    behind = rows.position_error(rows.robot.space.integrate(start.q, -h * v), rows.rhs_at(t - h))
    assert np.abs(ahead - behind).max() / (2 * h) < 1e-8


@pytest.mark.parametrize("driven", [["j0"], ["j0", "j1"], ["j0", "j1", "j2"]])
def test_driven_velocities_that_contradict_are_said_to_by_how_much(
    driven: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """One row and three joints: what is left is the row's error where all are driven, and nothing before that."""
    rows = rod_mechanism(0.9)
    start = assemble_position(rows, [0.4, -0.9, 0.3])
    assert start.success
    wanted = np.array([0.3, -0.2, 0.5])
    left = abs(float(rows.jacobian(start.q)[0] @ wanted))
    assert left > 1e-2
    v = assemble_velocity(rows, start.q, wanted, driven=driven)
    said = [record.getMessage() for record in caplog.records]
    if len(driven) < 3:
        assert said == []
        assert np.abs(rows.velocity_error(start.q, v)).max() < 1e-12
    else:
        assert len(said) == 1
        assert f"contradict each other: 'rod' is off by {left:.3g}" in said[0]
        np.testing.assert_array_equal(v, wanted)


def test_the_least_tolerance_is_one_that_numbers_can_meet() -> None:
    """1e-15 is taken; less is refused with the reason, as rows of a metre do not end there; zero is no tolerance."""
    rows, guess = rod_mechanism(0.9), [0.4, -0.9, 0.3]
    assert assemble_position(rows, guess, options=AssemblyOptions(tolerance=1e-15)).q.shape == (3,)
    with pytest.raises(OptionError, match="tolerance of an assembly"):
        assemble_position(rows, guess, options=AssemblyOptions(tolerance=0.999e-15))
    for tolerance in (0.0, -1.0):
        with pytest.raises(OptionError, match="tolerance of an assembly: expected a positive number"):
            assemble_position(rows, guess, options=AssemblyOptions(tolerance=tolerance))


def test_driven_coordinates_are_held_bit_for_bit() -> None:
    """Driven coordinates are the same bits, sparse, dense and with zero costs."""
    rows = linkage()
    start = LINKAGE_CLOSED + np.random.default_rng(3).uniform(-0.2, 0.2, 5)
    every: list[dict[str, Any]] = [{}, {"engine": NewtonEngine(SparseKKT)}, {"weights": [1.0, 0.0, 1.0, 0.0, 0.0]}]
    for given in every:
        result = assemble_position(rows, start, driven=["j0", "j2"], **with_records(given, options=AssemblyOptions))
        assert result.success
        assert (result.q[[0, 2]] == start[[0, 2]]).all()


@pytest.mark.parametrize("seed", range(5))
def test_sparse_and_dense_give_the_same(seed: int) -> None:
    """Growth: sparse factors give the answers of dense ones: weights, frozen joints, a mask beside closures."""
    rng = np.random.default_rng(seed)
    start, masked = LINKAGE_CLOSED + rng.uniform(-0.2, 0.2, 5), set_of("slidercrank3d")
    cases = [(linkage(), start, {"weights": rng.uniform(0.5, 2.0, 5), "driven": driven}) for driven in ((), ("j1",))]
    for rows, q, more in (*cases, (masked, data()["models"]["slidercrank3d"]["near"][seed]["guess"], {})):
        one = assemble_position(rows, q, **more)
        other = assemble_position(rows, q, **more, options=AssemblyOptions(engine=NewtonEngine(SparseKKT)))
        assert one.success
        assert other.success
        assert np.abs(one.q - other.q).max() < 1e-9


BELOW = [-9.0] * 4
BOUNDLESS = [np.inf] * 4


@pytest.mark.parametrize(
    ("more", "changes", "engine"),
    [
        ((), {}, DampedCholesky), ((), {"weights": [1.0, 0.0, 1.0, 1.0]}, LeastChange),
        ((), {"weights": [1.0, 2.0, 1.0, 1.0]}, DampedCholesky),
        (("low",), {"weights": [1.0, 0.0, 1.0, 1.0]}, DampedCholesky),
        ((), {"weights": [1.0, 0.0, 1.0, 1.0], "driven": ["j1"]}, DampedCholesky),
        ((), {"weights": [1.0, 0.0, 1.0, 1.0], "driven": ["j0"]}, LeastChange),
        ((), {"weights": [1.0, 0.0, 1.0, 1.0], "bounds": (BELOW, BOUNDLESS)}, DampedCholesky),
        ((), {"weights": [1.0, 0.0, 1.0, 1.0], "bounds": ([-np.inf] * 4, [9.0] * 4)}, DampedCholesky),
        ((), {"weights": [1.0, 0.0, 1.0, 1.0], "bounds": ([-np.inf] * 4, BOUNDLESS)}, LeastChange),
        (("low",), {"bounds": (BELOW, BOUNDLESS)}, DampedCholesky),
        (("lower level",), {"weights": [1.0, 0.0, 1.0, 1.0], "driven": ["j3"]}, DampedCholesky),
    ],
)  # fmt: skip
def test_what_closes_it_by_default(more: tuple[str, ...], changes: dict[str, Any], engine: Any) -> None:
    """Exact costs of zero where nothing but equalities of one level counts, else the projector's steps: to the bit."""
    robot = planar_arm(0.7, 0.6, 0.5, 0.4)
    tip, closed = lc.Position(robot, "tip"), np.array([0.4, -0.9, 0.8, 0.3])
    last = lc.Affine([[0.0, 0.0, 0.0, 1.0]], None, robot.space)
    coupled = lc.Affine([[0.5, 0.0, 0.0, 0.0]], [0.1], robot.space)
    owners = {
        "tip": lc.Implicit.equal(tip, tip.value(closed), mask=[1, 1, 0], name="tip"),
        "low": lc.Implicit.above(last, [-9.0], name="low"),
        "lower level": lc.Explicit(coupled, robot.segments("j3"), level=1, name="lower level"),
    }
    rows = ConstraintSet(robot, [owners[name] for name in ("tip", *more)])
    asked = dict(changes)
    if "bounds" in asked:
        asked["bounds"] = lc.Bounds(robot.space, *(np.array(side) for side in asked["bounds"]))
    found = assemble_position(rows, closed + 0.1, **with_records(asked, options=AssemblyOptions))
    assert found.success
    engines: dict[Any, Any] = {DampedCholesky: USUAL, LeastChange: NewtonEngine(LeastChange)}
    results = {
        kind: assemble_position(
            rows, closed + 0.1, **with_records(asked | {"engine": engines[kind]}, options=AssemblyOptions)
        ).q.tobytes()
        for kind in engines
    }
    assert len(set(results.values())) == 2
    assert found.q.tobytes() == results[engine]


def test_rows_that_repeat_others_are_told_where_they_contradict_them() -> None:
    """Three rows of one joint that cannot hold together: those that agree are not told."""
    robot = planar_arm(0.7, 0.6)
    row = lc.Affine([[1.0, 0.0]], None, robot.space)
    owners = [lc.Implicit.equal(row, [value], name=name) for name, value in (("a", 0.0), ("b", 0.0), ("c", 1.0))]
    failed = assemble_position(ConstraintSet(robot, owners), [0.5, 0.9])
    assert not failed.success
    lines = failed.describe().splitlines()
    assert sum(r.mismatch == 0.0 for r in failed.dependence.redundant) == 1
    assert [line for line in lines if "mismatch" in line] == [
        f"    {r.row}: mismatch {r.mismatch:.2g}" for r in failed.dependence.redundant if r.mismatch != 0.0
    ]
    assert any(line.startswith("  3 rows, rank 1; redundant rows inconsistent by") for line in lines)


def test_a_closed_configuration_comes_back_as_it_is() -> None:
    """Case 19: within tolerance q comes back bit for bit, with 0 iterations, by each engine."""
    rows = linkage()
    closed = assemble_position(rows, LINKAGE_CLOSED + 0.1).q
    for engine in (None, NewtonEngine(SparseKKT), NewtonEngine(LeastChange)):
        again = assemble_position(rows, closed, options=AssemblyOptions(engine=engine))
        assert again.success
        assert again.iterations == 0
        assert (again.q == closed).all()


@pytest.mark.parametrize(
    "engine", [None, NewtonEngine(SparseKKT), NewtonEngine(LeastChange)], ids=["projector", "sparse", "dense"]
)
def test_rows_that_contradict_slightly_are_said_to(engine: NewtonEngine | None) -> None:
    """Case 16: out-of-plane rows off by 1e-5 close to 1e-4, and at 1e-10 end STATIONARY, within 15 iterations.

    They were off by 1e-9, which now is a success: redundant rows of a file agree only to its decimals.
    """
    rows = crooked_linkage(1e-5)
    start = LINKAGE_CLOSED + np.random.default_rng(0).uniform(-0.2, 0.2, 5)
    assert assemble_position(rows, start, options=AssemblyOptions(tolerance=1e-4, engine=engine)).success
    result = assemble_position(rows, start, options=AssemblyOptions(tolerance=1e-10, engine=engine))
    assert result.status in (lc.Status.STATIONARY, lc.Status.STALLED)
    assert result.iterations <= 15
    assert result.dependence.inconsistency == pytest.approx(1e-5, rel=1e-3)
    assert "redundant rows inconsistent by 1e-05" in result.describe()
    assert sum(result.dependence.ranks) == 3


def test_another_branch_is_no_success() -> None:
    """Staying on the branch: a dependent coordinate that flips, or moves more than the step, is LEFT_BRANCH."""
    rows = elbow()
    q = np.array([0.5, 0.6, -1.1])
    closed = assemble_position(rows, q).q
    near = assemble_position(rows, closed + np.array([0.02, 0.01, -0.02]), stay_on_branch=0.3)
    assert near.success
    assert near.branch is not None
    assert near.branch.signs[0] == near.branch.signs[1]
    flipped = closed.copy()
    flipped[1] = -0.15  # the elbow on the other side of straight
    other = assemble_position(rows, flipped, driven=["j0"], stay_on_branch=0.1)
    assert other.status is lc.Status.LEFT_BRANCH
    assert other.projection.success
    assert not other.success


def test_the_sign_of_the_pivot_block_tells_elbows_apart() -> None:
    """Staying on the branch: elbow up and elbow down differ in sign, however large the allowed step is."""
    robot = planar_arm(1.0, 0.8)
    rows = ConstraintSet(robot, [PointClosure(robot, [1.2, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0], "tip", name="tip")])
    up, down = (assemble_position(rows, start).or_raise().q for start in ([-0.3, 1.2], [1.2, -1.2]))
    assert up[1] > 0.5
    assert down[1] < -0.5
    problem = rows.problem(bounds=lc.Bounds.none(robot.space))
    across = branch_between(problem.space, problem.jacobian, up, down, problem.frozen)
    assert across.signs[0] == -across.signs[1] != 0.0
    assert not across.same(100.0)
    assert across.moved == pytest.approx(np.abs(down - up).max())
    nearby = branch_between(problem.space, problem.jacobian, up + 0.1, up, problem.frozen)
    assert nearby.same(0.11)
    assert not nearby.same(0.09)
    # a start just short of straight that Newton takes across: closed, and not where it was to stay
    start = np.array([0.35, 0.04])
    crossed = assemble_position(rows, start, stay_on_branch=100.0)
    kept = np.sign(crossed.q[1]) == np.sign(start[1])
    assert crossed.projection.success
    assert (crossed.status is lc.Status.CONVERGED) == kept


def elbow_side(q: np.ndarray) -> float:
    """On which side of the coupler the rocker of a four-bar is: the sign of the sine of the angle between them."""
    return float(np.sign(np.sin(q[0] + q[1] - q[2])))


@pytest.mark.parametrize("way", [-1.0, 1.0])
@pytest.mark.parametrize("step", [0.5, 0.3, 0.1, 0.0123, 0.003, 1e-3])
def test_a_driven_parallelogram_does_not_pass_its_flat_pose(way: float, step: float) -> None:
    """Mend 12: a driven parallelogram stays on its branch up to the flat pose (crank at 0 and pi), in steps of any
    size: the step that comes to it, passes it, or leaves it on the other branch, is LEFT_BRANCH, and no earlier one."""
    bar = mechanisms.four_bar(1.0, 0.5, 1.0, 0.5)
    rows, q = bar.constraint_set(), bar.posture("closed")
    flat = 0.0 if way < 0.0 else np.pi
    if step < 0.01:  # shorter ways for short steps
        near = flat - way * 40.7 * step
        q = np.array([near, -near, near])
    while True:
        start = q + np.array([way * step, 0.0, 0.0])
        done = assemble_position(rows, start, driven=["crank"], stay_on_branch=100.0)
        assert done.projection.success
        if not done.success:
            break
        q = done.q
        assert 1e-9 < q[0] < np.pi - 1e-9
        np.testing.assert_allclose(q, [q[0], -q[0], q[0]], atol=1e-9)  # a parallelogram, by its closed form
    assert done.status is lc.Status.LEFT_BRANCH
    assert abs(start[0] - q[0]) >= abs(flat - q[0]) - 1e-12
    assert "dead centre" in done.describe() or elbow_side(done.q) == -elbow_side(q)


@pytest.mark.parametrize("way", [-1.0, 1.0])
@pytest.mark.parametrize("step", [0.5, 0.1, pytest.param(0.0123, marks=pytest.mark.long)])
def test_a_crank_that_turns_all_the_way_stays_on_its_branch(way: float, step: float) -> None:
    """Mend 12: a crank-rocker has no dead centre when its crank is driven: no step of a whole turn is LEFT_BRANCH, and
    the coupler is where two circles meet."""
    ground, crank, coupler, rocker = 0.4, 0.15, 0.35, 0.3
    bar = mechanisms.four_bar(ground, crank, coupler, rocker)
    rows, q = bar.constraint_set(), bar.posture("closed")
    side = elbow_side(q)
    for _ in range(int(2.0 * np.pi / step) + 1):
        start = q + np.array([way * step, 0.0, 0.0])
        q = assemble_position(rows, start, driven=["crank"], stay_on_branch=1.5).or_raise().q
        assert elbow_side(q) == side
        end = crank * np.exp(1j * q[0]) + coupler * np.exp(1j * (q[0] + q[1]))
        assert abs(end - ground - rocker * np.exp(1j * q[2])) < 1e-11


def test_the_configuration_before_may_be_given() -> None:
    """Mend 12: where q0 is no last result with other values of driven joints, `before` says whose branch is kept; an
    open start alone is said to be open."""
    bar = mechanisms.four_bar(1.0, 0.5, 1.0, 0.5)
    rows, last = bar.constraint_set(), np.array([0.05, -0.05, 0.05])
    guess = np.array([-0.05, 0.052, -0.049])  # past the flat pose, and open
    alone = assemble_position(rows, guess, driven=["crank"], stay_on_branch=0.5)
    assert alone.success
    assert alone.branch is not None
    assert not alone.branch.is_closed
    known = assemble_position(rows, guess, driven=["crank"], stay_on_branch=0.5, before=last)
    assert known.status is lc.Status.LEFT_BRANCH
    assert known.branch is not None
    assert known.branch.is_closed
    assert (known.branch.before == last).all()
    with pytest.raises(OptionError, match="stay_on_branch"):
        assemble_position(rows, guess, driven=["crank"], before=last)
    with pytest.raises(SizeError, match="before"):
        assemble_position(rows, guess, driven=["crank"], stay_on_branch=0.5, before=[0.0])


def test_a_configuration_before_that_is_open_is_refused() -> None:
    """It has no branch: its signs compared at random, and it was called closed. Of moving targets it is not known."""
    bar = mechanisms.four_bar(1.0, 0.5, 1.0, 0.5)
    rows, last = bar.constraint_set(), np.array([0.05, -0.05, 0.05])
    with pytest.raises(OpenMechanismError, match=rf"{bar.closures[0].name}.*'before' must be closed"):
        assemble_position(rows, last, driven=["crank"], stay_on_branch=0.5, before=last + np.array([0.0, 0.3, 0.0]))
    rod = RodClosure(bar.robot, None, "coupler_end", lc.Target(lambda t: [1.2 + 0.1 * t]), name="rod")
    moving = ConstraintSet(bar.robot, [rod])
    closed = assemble_position(moving, last, rhs=moving.rhs_at(0.0), driven=["crank", "rocker"]).or_raise().q
    later = {"rhs": moving.rhs_at(0.3), "driven": ["crank", "rocker"], "stay_on_branch": 1.0}
    assert assemble_position(moving, closed, before=closed, **later).success


def test_velocities_that_rows_forbid_are_told_without_driven_joints(caplog: pytest.LogCaptureFixture) -> None:
    """The log blamed driven joints where there were none."""
    bar = mechanisms.four_bar()
    q = bar.posture("closed")
    at = bar.robot.at(q).placement("coupler_end").translation.copy()
    owners = [PointContact(bar.robot, "coupler_end", [1, 0, 0], anchor=at, name="still")]
    owners.append(PointContact(bar.robot, "coupler_end", [1, 0, 0], anchor=at, name="moves", target=lc.Target(
        lambda t: [t], lambda t: [1.0], lambda t: [0.0])))  # fmt: skip
    rows = ConstraintSet(bar.robot, owners)
    assemble_velocity(rows, q, np.zeros(3), rhs=rows.rhs_at(0.0))
    assert "velocity of an assembly: constraints contradict each other" in caplog.text
    caplog.clear()
    assemble_velocity(rows, q, np.zeros(3), rhs=rows.rhs_at(0.0), driven=["crank"])
    assert "driven joints and constraints contradict" in caplog.text


def test_wrong_arguments_are_named() -> None:
    """RBDL case 20: typed errors that name the culprit."""
    rows = linkage()
    with pytest.raises(UnknownJointError, match="elbow"):
        assemble_position(rows, LINKAGE_CLOSED, driven=["elbow"])
    with pytest.raises(WrongObjectError, match="ConstraintSet"):
        assemble_position(lc.Problem(rows.robot, rows.anchored), LINKAGE_CLOSED)  # pyright: ignore[reportArgumentType]
    with pytest.raises(EmptyProblemError):
        assemble_position(rows.switched(off=["loop"]), LINKAGE_CLOSED)


def test_bounds_are_kept_where_they_are_given() -> None:
    """With `bounds` the closed configuration is inside them."""
    rows = linkage()
    narrow = rows.robot.with_bounds({"j0": (2.3, 2.4)}).bounds
    result = assemble_position(rows, LINKAGE_CLOSED + 0.15, options=AssemblyOptions(bounds=narrow))
    assert result.success
    assert 2.3 <= result.q[0] <= 2.4


def test_a_problem_takes_closures_beside_other_constraints() -> None:
    """A Problem stacks a closure as any Implicit; its rows are those of the set."""
    rows = linkage()
    tip = lc.Implicit.equal(lc.Pose(rows.robot, "j4"), name="tip")
    problem = lc.Problem(rows.robot, [*rows.anchored, tip], bounds=lc.Bounds.none(rows.robot.space))
    stacked = stack_rows(problem.constraints, rows.robot.at(LINKAGE_CLOSED), Order.POSITION)
    assert np.abs(stacked.error[:5] - rows.position_error(LINKAGE_CLOSED)).max() == 0.0


def planar_arm(*lengths: float) -> lc.Robot:
    """Revolute joints about z in a row, the frame "tip" at the end."""
    model, at = pin.Model(), 0.0
    for i, length in enumerate(lengths):
        model.addJoint(i, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([at, 0.0, 0.0])), f"j{i}")
        model.appendBodyToJoint(i + 1, pin.Inertia.FromBox(1.0, length, 0.1, 0.1), pin.SE3.Identity())
        at = length
    tip = pin.SE3(np.eye(3), np.array([at, 0.0, 0.0]))
    model.addFrame(pin.Frame("tip", len(lengths), 0, tip, pin.FrameType.OP_FRAME))
    return lc.Robot(model, "arm").without_bounds()


def rod_mechanism(length: float | lc.Target) -> ConstraintSet:
    robot = planar_arm(0.7, 0.6, 0.5)
    return ConstraintSet(robot, [RodClosure(robot, [1.2, 0.4, 0.0, 0, 0, 0, 1], "tip", length, name="rod")])


def crooked_linkage(off: float) -> ConstraintSet:
    robot = linkage().robot
    tip = lc.Frame("tip", 2, pin.SE3(np.eye(3), np.array([2.0, 0.0, off])), "j1")
    return ConstraintSet(robot, [Closure(robot, tip, "j4", name="loop")])


def elbow() -> ConstraintSet:
    robot = planar_arm(1.0, 1.0, 0.5)
    at = [1.5, 0.6, 0.0, 0.0, 0.0, 0.0, 1.0]
    wrist = lc.Frame("wrist", 3, pin.SE3.Identity(), "j2")
    return ConstraintSet(robot, [PointClosure(robot, at, wrist, name="wrist")])


def test_the_robots_of_the_reference_are_whole() -> None:
    """The data is read: the five-bar has four joints, and its stated states are closed."""
    assert robot_of("fivebar_planar").nv == 4
    for model, d in data()["models"].items():
        for state in d["states"]:
            if state["label"].startswith("on_manifold"):
                assert np.abs(set_of(model).position_error(np.array(state["q_inplace"]))).max() < 1e-12


def test_the_way_of_a_failure_is_drawn(tmp_path: Path) -> None:
    """Iterates as a strip of poses and as an animation, as Robotran shows a failed closing."""
    pytest.importorskip("matplotlib")
    result = assemble_position(rod_mechanism(9.0), [0.4, -0.9, 0.3])
    figure = result.plot_iterates(str(tmp_path / "strip.png"), poses=3)
    assert len(figure.axes) == 3
    assert (tmp_path / "strip.png").stat().st_size > 5000
    short = assemble_position(linkage(), LINKAGE_CLOSED + 0.1)
    short.plot_iterates(str(tmp_path / "way.gif"))
    with importlib.import_module("PIL.Image").open(tmp_path / "way.gif") as image:
        assert image.n_frames == short.iterations + 1
    with pytest.raises(OptionError, match="poses"):
        result.plot_iterates(poses=0)
    with pytest.raises(FileError, match="nowhere"):
        result.plot_iterates(str(tmp_path / "nowhere" / "way.gif"))


def test_the_page_on_closed_chains_runs() -> None:
    """The Python of docs/closed_chains.md runs as it stands there, and closes what it says it does."""
    page = Path(__file__).resolve().parent.parent.parent / "docs" / "closed_chains.md"
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(page), "exec"), names)
    assert names["done"].success
    assert names["later"].success
    assert np.abs(names["legs"].velocity_error(names["later"].q, names["v"], names["legs"].rhs_at(0.5))).max() < 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_velocities_where_what_is_left_open_costs_nothing(seed: int) -> None:
    """Three tilted slides, two hinges on one axis without cost, all held: the slides rest, the hinges turn together."""
    rng = np.random.default_rng(seed)
    model, joint = pin.Model(), 0
    kinds = [pin.JointModelPX()] * 3 + [pin.JointModelRX()] * 2
    for i, kind in enumerate(kinds):
        placement = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3)) if i < 4 else pin.SE3.Identity()
        joint = model.addJoint(joint, kind, placement, f"joint {i}")
        model.addJointFrame(joint)
    robot = lc.Robot(model)
    held = ConstraintSet(robot, [SurfaceContact(robot, "joint 4")])
    v0 = rng.normal(size=5)
    v = assemble_velocity(held, rng.normal(size=5), v0, weights=[1.0, 2.0, 0.5, 0.0, 0.0])
    turning = 0.5 * (v0[3] - v0[4])
    np.testing.assert_allclose(v, [0.0, 0.0, 0.0, turning, -turning], atol=1e-10)


def test_driven_joints_keep_their_bits_where_others_cost_nothing() -> None:
    """Unit vectors too: a rotation and a continuous joint that are driven."""
    robot = mixed_frames()
    rng = np.random.default_rng(5)
    weights = rng.choice([0.0, 1.0], size=robot.nv)
    closed = 0
    for _ in range(8):
        start = robot.random(rng)
        done = assemble_position(
            ConstraintSet(robot, [PointClosure(robot, "a", "b")]),
            start,
            weights=weights,
            driven=["rubx", "rubz", "spherical"],
        )
        closed += done.success
        for joint in ("rubx", "rubz", "spherical"):
            assert done.q[robot.slice_of(joint)].tobytes() == start[robot.slice_of(joint)].tobytes()
    assert closed > 3
