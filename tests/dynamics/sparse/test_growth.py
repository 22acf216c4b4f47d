"""Growth: forward dynamics by sparsity, against the closed form of the scissor lift and dense systems made here."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
import rbdl_models
from each_choice import a_few

from constraints import Frame, Implicit, Position, Robot, Target
from constraints.dynamics import DynamicsStatus, Method, MethodError, forward_dynamics
from constraints.dynamics.methods.sparse_solution import SparseSolution, solve_sparse, why_not
from constraints.dynamics.sparse import independent_rows
from constraints.dynamics.sparse.relative_rows import RelativeMotions, closure_rows, rows_by_kind
from constraints.errors import OtherConstraintsError
from constraints.loops import (
    Axes,
    Baumgarte,
    Closure,
    ConstraintSet,
    Form,
    Hinge,
    PointClosure,
    PointContact,
    RodClosure,
    SurfaceContact,
)
from constraints.models import load, mechanisms

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "tests" / "data" / "mechanisms"


@pytest.fixture(scope="module")
def growth(benchmarks: Any) -> Any:
    return benchmarks("growth")


@pytest.fixture(scope="module")
def trees(benchmarks: Any) -> Any:
    return benchmarks("random_trees")


class Dense(NamedTuple):
    """The dense system: M a + h = tau + J^T lambda, J a = gamma."""

    M: np.ndarray
    h: np.ndarray
    J: np.ndarray
    gamma: np.ndarray


def dense(s: ConstraintSet, q: Any, v: Any, wanted: Any = 0.0, rhs: Any = None) -> Dense:
    """M from body Jacobians: `crba` is wrong on trees whose branches are mixed in the order of joints."""
    model: Any = s.robot.model
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    M, h = np.diag(np.array(model.armature)), np.array(pin.rnea(model, model.createData(), q, v, np.zeros(model.nv)))
    for i in range(1, model.njoints):
        J = pin.getJointJacobian(model, data, i, pin.LOCAL).reshape(6, -1)
        M = M + J.T @ model.inertias[i].matrix() @ J
    off = np.repeat(~s.active, [rows.stop - rows.start for rows in s.stack.slices])
    gamma = wanted - s.drift(q, v, rhs) - s.stabilisation(q, v, rhs)
    gamma[off] = 0.0
    return Dense(M, h, s.jacobian(q, rhs), gamma)


def solved(d: Dense, tau: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Acceleration, least-norm multipliers and rank, by an SVD of rows of unit length."""
    nv = d.h.size
    lengths = np.sqrt((d.J**2).sum(1))
    rows = d.J[lengths > 1e-10] / lengths[lengths > 1e-10, None]
    if not rows.size:
        return np.linalg.solve(d.M, tau - d.h), np.zeros(d.gamma.size), 0
    U, S, V = np.linalg.svd(rows)
    rank = int((S > 1e-6 * S[0]).sum())
    wanted = (d.gamma / np.maximum(lengths, 1e-10))[lengths > 1e-10]
    a = V[:rank].T @ ((U[:, :rank].T @ wanted) / S[:rank])
    Z = V[rank:].T
    if rank < nv:
        a = a + Z @ np.linalg.solve(Z.T @ d.M @ Z, Z.T @ (tau - d.h - d.M @ a))
    return a, np.linalg.lstsq(d.J.T, d.M @ a + d.h - tau, rcond=1e-8)[0], rank


def apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))


def legal_velocity(s: ConstraintSet, q: Any, rng: np.random.Generator) -> np.ndarray:
    """A velocity that keeps the rows, where the null space of their Jacobian has any."""
    J = s.jacobian(q)
    _, S, V = np.linalg.svd(J)
    Z = V[int((S > 1e-6 * S[0]).sum()) :].T
    return Z @ rng.normal(size=Z.shape[1])


def compared(s: ConstraintSet, q: Any, v: Any, rng: np.random.Generator, close: float = 1e-8) -> SparseSolution:
    """The sparse solution, once it has been compared to the dense one under random loads."""
    tau = rng.normal(size=s.robot.nv)
    found = solve_sparse(s, s.robot.at(q, v), tau)
    a, multipliers, rank = solved(dense(s, q, v), tau)
    assert found.is_solved, found.status.value
    assert found.rank == rank
    assert apart(found.acceleration, a) < close
    assert apart(found.multipliers, multipliers) < 10 * close
    return found


# The lift.


@pytest.mark.parametrize("stages", [1, 2, 10, 30, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("speed", [0.0, 0.7])
def test_the_lift_moves_as_its_closed_form(growth: Any, stages: int, speed: float) -> None:
    """Issue 14, growth: an error of at most 1e-8 at every n, with gravity and velocity (n = 300: the benchmark)."""
    s, q = growth.lift(stages)
    v, a = growth.closed_form(stages, float(q[1]), speed, 2.0)
    if stages <= 10:
        assert np.abs(s.velocity_error(q, v)).max() < 1e-12
    tau = np.zeros(s.robot.nv)
    tau[0] = 2.0
    found = solve_sparse(s, s.robot.at(q, v), tau)
    assert found.status is DynamicsStatus.RANK_DEFICIENT
    assert found.rank == 2 * stages
    assert np.abs(found.acceleration - a).max() < 1e-8 * np.abs(a).max()
    assert found.unmet < 1e-12


@pytest.mark.parametrize("stages", a_few(range(2, 11), 3))
def test_the_lift_agrees_with_the_dense_system(growth: Any, stages: int) -> None:
    rng = np.random.default_rng(stages)
    s, q = growth.lift(stages)
    compared(s, q, legal_velocity(s, q, rng), rng)
    compared(s.stabilised(0.1), s.robot.space.integrate(q, 1e-3 * legal_velocity(s, q, rng)), np.zeros(q.size), rng)


@pytest.mark.parametrize("stages", [3, 100])
def test_a_lift_in_balance_is_not_inconsistent(growth: Any, stages: int) -> None:
    """Loads of 1e5 N that balance leave accelerations that are rounding: rows are not judged by those."""
    s, q = growth.lift(stages)
    v, a = growth.closed_form(stages, float(q[1]), 0.0, 0.0)
    pushed = growth.closed_form(stages, float(q[1]), 0.0, 1.0)[1]
    tau = np.zeros(v.size)
    tau[0] = a[1] / (a[1] - pushed[1])
    found = solve_sparse(s, s.robot.at(q, v), tau)
    assert found.status is DynamicsStatus.RANK_DEFICIENT
    assert np.abs(found.acceleration).max() < 1e-9
    assert abs(tau[0]) > 1e2


def test_factors_grow_with_the_number_of_stages(growth: Any) -> None:
    """Issue 14, growth: what time is proportional to, without a clock: the exponent is below 1.1."""
    entries: list[int] = []
    for stages in (10, 40):
        s, q = growth.lift(stages)
        entries.append(solve_sparse(s, s.robot.at(q, np.zeros(s.robot.nv))).entries)
    assert entries[1] < 4.0**1.1 * entries[0]


def test_the_benchmark_runs(
    growth: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "growth.json"
    monkeypatch.setattr(sys, "argv", ["growth", "--stages", "2", "4", "--repeat", "2", "--json", str(file)])
    growth.main()
    assert [entry["rank"] for entry in json.loads(file.read_text())] == [4, 8]
    assert "exponents by median_ms" in capsys.readouterr().out


def doubled(s: ConstraintSet) -> ConstraintSet:
    """The set with each pin a second time, shifted along its axis: closures that depend on each other."""
    up = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1]))
    owners: list[Any] = list(s.stack)
    again = [
        Closure(s.robot, o.predecessor.moved(up), o.successor.moved(up), o.hinge, name=f"{o.name} again")
        for o in owners
    ]
    return ConstraintSet(s.robot, [*owners, *again])


@pytest.mark.parametrize("stages", [3, 30])
def test_closures_that_depend_on_each_other(growth: Any, stages: int) -> None:
    """Rows are independent within each closure, and not among all: they are chosen by sparse pivots then."""
    single, q = growth.lift(stages)
    s = doubled(single)
    v, a = growth.closed_form(stages, float(q[1]), 0.7, 2.0)
    tau = np.zeros(s.robot.nv)
    tau[0] = 2.0
    found = solve_sparse(s, s.robot.at(q, v), tau)
    assert found.status is DynamicsStatus.RANK_DEFICIENT
    assert found.rank == 2 * stages
    assert np.abs(found.acceleration - a).max() < 1e-8 * np.abs(a).max()
    J = s.jacobian(q)
    least = np.linalg.lstsq(J.T, J.T @ found.multipliers, rcond=1e-9)[0]
    assert apart(found.multipliers, least) < 1e-9


def test_rows_that_depend_on_each_other_by_a_dense_choice(monkeypatch: pytest.MonkeyPatch, growth: Any) -> None:
    """Where the elimination gives up, the dense QR chooses as many rows."""
    s, q = growth.lift(4)
    s, v = doubled(s), np.zeros(9)
    sparse = solve_sparse(s, s.robot.at(q, v))
    monkeypatch.setattr("constraints.dynamics.sparse.independent_rows.LONGEST", 0)
    other = solve_sparse(s, s.robot.at(q, v))
    assert other.rank == sparse.rank == 8
    assert apart(other.acceleration, sparse.acceleration) < 1e-12
    assert apart(other.multipliers, sparse.multipliers) < 1e-12


@pytest.mark.parametrize("off", [(), (2,), (0, 4)])
def test_the_least_multipliers_of_rows_that_depend_on_each_other(off: tuple[int, ...]) -> None:
    """The projection onto the span of the columns, of those rows alone that count; columns that depend are left out."""
    rng = np.random.default_rng(3)
    J = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 4))
    on, rows = np.ones(6, dtype=bool), np.arange(6).reshape(2, 3)
    on[[*off]] = False
    paths = independent_rows.Paths(np.arange(2), rows, np.tile([4, 0, 2, 1], (2, 1)), np.ones((2, 4)))
    blocks = [independent_rows.Block(paths, J.reshape(2, 3, 4))]
    whole = independent_rows.dense(blocks, 6, 5)
    np.testing.assert_array_equal(whole[:, [4, 0, 2, 1]], J)
    multipliers = rng.normal(size=6) * on
    choice = independent_rows.Choice(on, np.array([2, 4]), 0.0)
    found = independent_rows.least_norm_of_all(blocks, on, choice, multipliers, 5)
    expected = np.linalg.lstsq((whole * on[:, None]).T, whole.T @ multipliers, rcond=1e-12)[0]
    assert apart(found, expected) < 1e-12


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_elimination_finds_rows_and_columns_that_are_independent(rank: int) -> None:
    """As many as the rank, and the block that they make is regular."""
    rng = np.random.default_rng(rank)
    J = rng.normal(size=(6, rank)) @ rng.normal(size=(rank, 4))
    paths = independent_rows.Paths(
        np.arange(2), np.arange(6).reshape(2, 3), np.tile([4, 0, 2, 1], (2, 1)), np.ones((2, 4))
    )
    kept = np.arange(6) % 3 < rank  # within each closure
    choice = independent_rows.independent_by_elimination([independent_rows.Block(paths, J.reshape(2, 3, 4))], kept)
    assert choice is not None
    whole = independent_rows.dense([independent_rows.Block(paths, J.reshape(2, 3, 4))], 6, 5)
    assert (choice.rows.sum(), len(choice.columns), (choice.rows & ~kept).any()) == (rank, rank, False)
    assert np.linalg.svd(whole[choice.rows][:, choice.columns], compute_uv=False)[-1] > 1e-2
    assert choice.rest < 1e-12


def test_no_history(growth: Any) -> None:
    """The same question has the same answer to the bit, whatever was asked before."""
    s, q = growth.lift(6)
    v, tau = np.zeros(13), np.ones(13)
    before = solve_sparse(s, s.robot.at(q, v), tau)
    _, flat = growth.lift(6, angle=0.0)
    rng = np.random.default_rng(0)
    solve_sparse(s, s.robot.at(flat, v), tau)
    solve_sparse(s, s.robot.at(s.robot.space.integrate(q, rng.normal(size=13)), rng.normal(size=13)), tau)
    after = solve_sparse(s, s.robot.at(q, v), tau)
    assert (before.acceleration == after.acceleration).all()
    assert (before.multipliers == after.multipliers).all()


# Other mechanisms.

MADE = {
    "four-bar": mechanisms.four_bar,
    "five-bar": mechanisms.five_bar,
    "slider crank": mechanisms.slider_crank,
    "stewart": mechanisms.stewart_platform,
    "delta": mechanisms.delta_robot,
    "bennett": mechanisms.bennett,
}


@pytest.mark.parametrize("name", MADE)
def test_built_in_mechanisms(name: str) -> None:
    rng = np.random.default_rng(1)
    mechanism = MADE[name]()
    s, q = mechanism.constraint_set(), next(iter(mechanism.postures.values()))
    compared(s, q, np.zeros(s.robot.nv), rng)
    compared(s, q, legal_velocity(s, q, rng), rng)


@pytest.mark.parametrize("name", ["5bar_linkage", "cassie_like", "digit_like_2legs", "robot_delta"])
def test_mechanisms_from_files(name: str) -> None:
    rng = np.random.default_rng(2)
    mechanism = load(FOLDER / name / f"{name}.urdf")
    s = mechanism.constraint_set()
    q = s.robot.space.normalize(np.array(json.loads((FOLDER / "expected.json").read_text())[name]["closed_q"]))
    compared(s, q, np.zeros(s.robot.nv), rng, 1e-7)
    compared(s, q, legal_velocity(s, q, rng), rng, 1e-7)


def hinges(axis: np.ndarray) -> list[Hinge]:
    plain = (Hinge.pin, Hinge.slider, Hinge.cylindrical, Hinge.two_sliders, Hinge.planar)
    others = (Hinge.locked, Hinge.universal, Hinge.hooke, Hinge.gimbal, Hinge.ball, Hinge.translational)
    custom = Hinge.custom([Hinge.pin(), Hinge.slider([1.0, 0.0, 0.0])])
    return [*(make(axis) for make in plain), *(make() for make in others), Hinge.helical(axis, 0.2), custom]


def random_owner(trees: Any, robot: Robot, rng: np.random.Generator, name: str) -> Any:
    i, j = (int(joint) for joint in rng.choice(robot.model.njoints, 2, replace=False))
    a, b = Frame("a", i, trees.random_placement(rng)), Frame("b", j, trees.random_placement(rng))
    axis, kind = trees.random_axis(rng), rng.integers(0, 8)
    held = Frame("held", max(i, j), trees.random_placement(rng))
    if kind < 4:
        every = hinges(axis)
        if rng.random() < 0.15:
            return Closure(robot, a, b, Hinge.locked(), form=Form.RATES, name=name)
        return Closure(robot, a, b, every[rng.integers(len(every))], name=name)
    if kind == 4:
        return PointClosure(robot, a, b, name=name)
    if kind == 5:
        return RodClosure(robot, a, b, 0.7, name=name)
    contacts = (
        lambda: PointContact(robot, held, name=name),
        lambda: PointContact(robot, held, axis, np.zeros(3), name=name),
        lambda: PointContact(robot, held, anchor=np.zeros(3), axes=Axes.LOCAL, name=name),
        lambda: SurfaceContact(robot, held, name=name),
        lambda: PointContact(robot, held, axis, np.zeros(3), axes=Axes.LOCAL, form=Form.RATES, name=name),
        lambda: SurfaceContact(
            robot, held, trees.random_placement(rng), axes=Axes.LOCAL_WORLD_ALIGNED, form=Form.RATES, name=name
        ),
        lambda: SurfaceContact(robot, held, trees.random_placement(rng), axes=Axes.LOCAL_WORLD_ALIGNED, name=name),
    )
    return contacts[rng.integers(len(contacts))]()


def random_set(trees: Any, seed: int, rng: np.random.Generator, repeat: float) -> ConstraintSet:
    """Closures and contacts on a tree with every joint type, some twice with another hinge; rotors make M regular."""
    model = trees.random_tree(5, seed)
    model.armature = rng.uniform(0.01, 0.1, model.nv)
    robot = Robot(model)
    owners = [random_owner(trees, robot, rng, f"c{i}") for i in range(rng.integers(0, 5))]
    for owner in owners[:]:
        if rng.random() < repeat:
            every = hinges(trees.random_axis(rng))
            again = every[rng.integers(len(every))]
            owners.append(Closure(robot, owner.predecessor, owner.successor, again, name=f"{owner.name} again"))
    s = ConstraintSet(robot, owners).stabilised(Baumgarte(*rng.uniform(0.0, 3.0, 2)))
    return s.switched(off=[0]) if len(owners) > 1 and rng.random() < 0.2 else s


@pytest.mark.parametrize("seed", a_few(range(40), 14))
def test_random_trees_and_rows(trees: Any, seed: int) -> None:
    """Every joint type, hinge and contact, at open moving states: both equations, rank and least norm, or a status."""
    rng = np.random.default_rng([14, seed])
    s = random_set(trees, seed, rng, 0.4)
    q, v, tau = s.robot.random(rng), rng.normal(size=s.robot.nv), rng.normal(size=s.robot.nv)
    meets = rng.random() < 0.7  # some that can be met, redundant or not
    wanted = rng.normal(size=s.size)
    if meets:
        wanted = s.jacobian(q) @ rng.normal(size=s.robot.nv) + s.drift(q, v) + s.stabilisation(q, v)
    found = solve_sparse(s, s.robot.at(q, v), tau, acceleration=wanted)
    d = dense(s, q, v, wanted)
    a, multipliers, rank = solved(d, tau)
    assert found.rank == rank
    if meets:
        assert found.is_solved
    if found.is_solved:
        assert apart(d.J @ found.acceleration, d.gamma) < 1e-9
        assert apart(d.M @ found.acceleration + d.h - tau, d.J.T @ found.multipliers) < 1e-9
        assert apart(found.acceleration, a) < 1e-8
        assert apart(found.multipliers, multipliers) < 1e-7
    else:
        assert found.status is DynamicsStatus.INCONSISTENT
        assert apart(d.J @ a, d.gamma) > 1e-6


@pytest.mark.parametrize("open_by", [0.0, 1e-9, 0.1, 1.5, 3.14, np.pi])
def test_rows_of_many_are_those_of_one(open_by: float) -> None:
    """The formulas for many closures are those of their pose maps, from closed to half a turn open."""
    rng = np.random.default_rng(3)
    robot = mechanisms.four_bar().robot
    a, b = robot.frame("coupler_end"), robot.frame("rocker_end")
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    owners: list[Any] = [Closure(robot, a, b, hinge) for hinge in hinges(axis)]
    owners += [PointClosure(robot, a, b), RodClosure(robot, a, b, 0.3)]
    maps = [owner.function.pose_map for owner in owners]
    counts = np.cumsum([0, *(m.size for m in maps)]).tolist()
    slices = [slice(i, j) for i, j in pairwise(counts)]
    across = np.cross(axis, rng.normal(size=3))
    turn = pin.exp3(open_by * across / np.linalg.norm(across)) @ pin.exp3(0.4 * axis)
    pose = pin.SE3(turn, open_by * rng.normal(size=3))
    twist, acceleration = rng.normal(size=6), rng.normal(size=6)
    one = (pose.rotation, pose.translation, twist, acceleration)
    at = RelativeMotions(*(np.array([x] * len(maps)) for x in one))
    rows = closure_rows(rows_by_kind(maps, slices), at, counts[-1])
    close = 1e-11 if open_by < 2.0 else 1e-7  # near half a turn derivatives grow without bound, and rounding with them
    for pose_map, s in zip(maps, slices, strict=True):
        value, D, second = np.zeros(pose_map.size), np.zeros((pose_map.size, 6)), np.zeros(pose_map.size)
        pose_map.value(pose, value, D)
        pose_map.second(pose, twist, acceleration, second)
        assert apart(rows.value[s], value) < 1e-12
        assert apart(rows.D[s], D) < close
        assert apart(rows.second[s], second) < close


def test_targets_and_wanted_accelerations() -> None:
    """A driven rod and a driven point: rates of targets count as in the rows of the set."""
    platform = mechanisms.five_bar()
    robot, q = platform.robot, platform.postures["closed"]
    rng = np.random.default_rng(4)
    end = robot.at(q).placement("left_outer_end").translation.copy()
    rod = RodClosure(robot, None, "left_outer_end", Target(lambda t: [float(np.hypot(*end[:2])) + 0.1 * t + t * t]))
    s = ConstraintSet(robot, [*platform.closures, rod]).stabilised(0.2)
    rhs, v, wanted = s.rhs_at(0.3), rng.normal(size=robot.nv), np.zeros(s.size)
    wanted[-1] = 0.7
    loose = s.switched([rod])  # any velocity will do
    for these, motion in ((loose, v), (s, legal_velocity(s, q, rng))):
        found = solve_sparse(these, robot.at(q, motion), acceleration=wanted, rhs=rhs)
        a, multipliers, _ = solved(dense(these, q, motion, wanted, rhs), np.zeros(robot.nv))
        assert found.is_solved
        assert apart(found.acceleration, a) < 1e-9
        assert apart(found.multipliers, multipliers) < 1e-8


def test_no_constraint_and_all_off(growth: Any) -> None:
    s, q = growth.lift(2)
    rng = np.random.default_rng(5)
    v, tau = rng.normal(size=5), rng.normal(size=5)
    free = pin.aba(s.robot.model, s.robot.model.createData(), q, v, tau)
    for these in (ConstraintSet(s.robot, []), s.switched([])):
        found = solve_sparse(these, s.robot.at(q, v), tau)
        assert found.status is DynamicsStatus.SOLVED
        assert apart(found.acceleration, free) < 1e-12
        assert not found.multipliers.any()


# Where there is no solution, or many.


def test_flat_poses_have_a_status() -> None:
    """A parallelogram stretched flat: one row at rest; in motion its rows may ask for what none can do."""
    flat = mechanisms.four_bar(0.4, 0.2, 0.4, 0.2, 0.0)
    s, q = flat.constraint_set(), flat.postures["closed"]
    rng = np.random.default_rng(6)
    assert compared(s, q, np.zeros(3), rng).rank == 1
    moving = solve_sparse(s, s.robot.at(q, legal_velocity(s, q, rng)))
    assert moving.status is DynamicsStatus.INCONSISTENT
    assert not moving.is_solved


def test_rows_that_contradict_each_other(growth: Any) -> None:
    s, q = growth.lift(3)
    s = doubled(s)
    wanted = np.zeros(s.size)
    wanted[-5:] = 1.0
    found = solve_sparse(s, s.robot.at(q, np.zeros(7)), acceleration=wanted)
    assert found.status is DynamicsStatus.INCONSISTENT
    assert found.unmet > 1e-3
    held = pin.rnea(s.robot.model, s.robot.model.createData(), q, np.zeros(7), np.zeros(7))
    small = solve_sparse(s.switched(off=[0]), s.robot.at(q, np.zeros(7)), held, acceleration=1e-3 * wanted)
    assert small.unmet > 0.1  # of what the rows that are on ask for


def test_massless_bodies() -> None:
    """RBDL's linkage has one: its rows hold it, so that the acceleration is unique. Held by nothing it is singular."""
    s = rbdl_models.linkage()
    rng = np.random.default_rng(7)
    found = compared(s, rbdl_models.LINKAGE_CLOSED, np.zeros(5), rng)
    assert found.rank == 3
    free = solve_sparse(s.switched([]), s.robot.at(rbdl_models.LINKAGE_CLOSED, np.zeros(5)), np.ones(5))
    assert free.status is DynamicsStatus.SINGULAR_SPARSE
    assert not free.is_solved


def test_what_it_does_not_take() -> None:
    arm = mechanisms.five_bar()
    robot, q = arm.robot, arm.postures["closed"]
    aim = Implicit.zero(Position(robot, "left_outer_end"), name="aim")
    s = ConstraintSet(robot, [*arm.closures, aim])
    assert not list(why_not(ConstraintSet(robot, list(arm.closures))))
    assert [name for name, _ in why_not(s)] == ["aim"]
    with pytest.raises(MethodError, match="'aim': its rows are functions of the whole configuration"):
        forward_dynamics(s, robot.at(q, np.zeros(robot.nv)), method=Method.SPARSE)


def test_arguments() -> None:
    s = mechanisms.five_bar().constraint_set()
    motion = s.robot.at(np.zeros(s.robot.nq), np.zeros(s.robot.nv))
    with pytest.raises(OtherConstraintsError):
        solve_sparse(s, motion, rhs=mechanisms.four_bar().constraint_set().rhs)
    fast = s.robot.at(np.zeros(s.robot.nq), np.full(s.robot.nv, 6e153))
    assert solve_sparse(s.stabilised(Baumgarte(0.0, 1e200)), fast).status is DynamicsStatus.NOT_FINITE
