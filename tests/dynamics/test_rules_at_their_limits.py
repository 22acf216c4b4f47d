"""Rules of dynamics on both sides of their limits, on numbers where all is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from crocoddyl_cases import robot_of

from constraints import Affine, Implicit, Robot
from constraints.dynamics import DynamicsStatus, Event, forward_dynamics, simulate
from constraints.dynamics.derivatives import _changes_rank
from constraints.dynamics.events.events import Watch
from constraints.dynamics.methods.pinocchio_constraints import PinocchioConstraints
from constraints.dynamics.methods.row_space import RowSpace, _are_clearly_independent
from constraints.dynamics.methods.sparse_solution import _judged
from constraints.dynamics.methods.system import is_open
from constraints.dynamics.motions.stiffness import stiffness_at
from constraints.dynamics.sparse.independent_rows import Block, Paths
from constraints.dynamics.sparse.rank import _growth, is_rank_certain
from constraints.loops import Axes, ConstraintSet, Form, PointContact


def test_when_a_mechanism_is_open() -> None:
    """Positions from 1e-4 on; rates from that part of the velocity and one on."""
    for position, rate, opened in (
        (0.9e-4, 0.0, False), (1.1e-4, 0.0, True), (0.0, 0.9e-3, False), (0.0, 1.1e-3, True),
        (np.nan, 0.0, True), (0.0, np.nan, True), (1e-4, 1e-3, False),
    ):  # fmt: skip
        assert is_open(position, rate, np.array([3.0, -9.0])) == opened
    assert not is_open(0.0, 0.9e-4, np.zeros(0))


# Ranks.


class Beside:
    """What the second of two rows changes by, and the rows beside."""

    def __init__(self, by_rate: float, by_force: float, there: np.ndarray) -> None:
        self.by_rate, self.by_force, self.there = by_rate, by_force, there

    def rate(self, velocity: np.ndarray) -> np.ndarray:
        return self.by_rate * np.outer([0.0, 1.0], velocity)

    def force(self, multipliers: np.ndarray) -> np.ndarray:
        return self.by_force * multipliers[1] * np.eye(len(self.there.T))

    def beside(self) -> np.ndarray:
        return self.there


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2])
def test_when_the_rank_changes_beside_a_state(scale: float) -> None:
    """By a combination of rows that vanishes here, above 1e-7 of the rows; or, to second order, above 1e-10 of them."""
    J = scale * np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    left, free = np.array([[0.0], [1.0]]), np.eye(3)[1:]

    def asked(change: float, there: np.ndarray, motions: np.ndarray = free) -> bool:
        moves: Any = Beside(scale * change, scale * change, scale * there)
        return _changes_rank(J, left, motions, moves)

    same = J / scale
    for motions in (free, free[:0]):
        assert not asked(0.0, same, motions)
    assert [asked(2e-7 * part, same) for part in (0.9, 1.1)] == [False, True]
    for entry, changed in ((1e-10, False), (3e-10, True), (0.19, True), (0.21, False)):
        there = same.copy()
        there[1, 1] = entry
        assert asked(0.0, there) == changed
    tall, two = scale * np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), np.eye(3)[:, 1:]
    for change, changed in ((1.8e-7, False), (2.2e-7, True)):  # two combinations, one motion: from the other side
        moves: Any = SimpleNamespace(
            rate=lambda z, change=change: scale * change * np.outer([0.0, 0.0, 1.0], z), beside=lambda: tall
        )
        assert _changes_rank(tall, two, np.eye(2)[1:], moves) == changed


def test_rows_that_are_clearly_independent() -> None:
    """None are; more than columns are not; unit rows from a bound of 1e-4 on, and above what is asked."""

    def asked(rows: np.ndarray, least: float = 0.0, columns: int = 3) -> bool:
        lengths = np.linalg.norm(rows, axis=1)
        return _are_clearly_independent(np.asfortranarray(rows @ rows.T), lengths, columns, least)

    assert asked(np.zeros((0, 3)))
    assert asked(np.eye(3))
    assert not asked(np.eye(3), columns=2)
    assert not asked(np.ones((2, 3)))
    assert not asked(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    for least, enough in ((0.9, True), (1.1, False)):  # of one row alone the bound is its length
        assert asked(np.array([[1.0, 0.0, 0.0]]), least) == enough
    G = np.random.default_rng(0).standard_normal((2, 3))
    np.testing.assert_allclose(RowSpace(G, 1e-6).singular_values, np.linalg.svd(G)[1], rtol=1e-12)
    for short in (1.0, 1e-3, 1e3):  # the lengths do not count
        for angle, enough in ((0.9e-4, False), (4e-4, True)):
            assert asked(np.array([[1.0, 0.0, 0.0], [short * np.cos(angle), short * np.sin(angle), 0.0]])) == enough


def block(rows: np.ndarray) -> Block:
    """One closure with these rows."""
    k, n = rows.shape
    paths = Paths(np.array([0]), np.arange(k)[None], np.arange(n)[None], np.ones((1, n)))
    return Block(paths, rows[None])


def test_when_the_rank_of_many_rows_is_certain() -> None:
    """Those left out below a third of the limit, the least of those kept above three times of it."""
    rounding = 1e-6
    for least, left_out, certain in (
        (1.0, 0.0, True), (3.1e-6, 0.0, True), (2.9e-6, 0.0, False), (0.0, 0.0, False),
        (1.0, 0.32e-6, True), (1.0, 0.34e-6, False), (1.0, np.nan, False),
    ):  # fmt: skip
        rows = np.diag([1.0, 1.0, least])
        assert is_rank_certain([block(rows)], np.ones(3, dtype=np.bool_), left_out, 3, rounding) == certain
    some = np.array([True, False, True])
    assert is_rank_certain([block(np.diag([1.0, 0.0, 1.0]))], some, 0.0, 3, rounding)
    none = np.zeros(3, dtype=np.bool_)
    assert is_rank_certain([block(np.zeros((3, 3)))], none, 0.0, 3, rounding)
    assert not is_rank_certain([block(np.eye(3))], none, 1.0, 3, rounding)


def test_growth_of_a_product() -> None:
    """The largest eigenvalue; none where the product vanishes, or is no number."""
    x = np.array([1.0, 1.0])
    assert _growth(x, np.diag([4.0, 1e-3]).__matmul__) == pytest.approx(4.0, rel=1e-6)
    for times in (np.zeros((2, 2)), np.full((2, 2), np.nan), np.diag([np.inf, 1.0])):
        with np.errstate(invalid="ignore"):
            assert _growth(x, times.__matmul__) == 0.0


def test_how_a_sparse_solution_is_judged() -> None:
    """Rows that are left out, missed by more than their rounding where those kept are met, contradict; else it is not
    accurate. Three joints: the first two rows are kept, the third repeats the first."""
    on, kept = np.ones(3, dtype=np.bool_), np.array([True, True, False])
    rows = block(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    a = np.array([1.0, -1.0, 0.5])
    for missed, status in (
        ((0.0, 0.0, 0.0), DynamicsStatus.RANK_DEFICIENT), ((0.0, 0.0, 1e-3), DynamicsStatus.INCONSISTENT),
        ((0.0, 0.0, 1e-7), DynamicsStatus.SINGULAR_SPARSE), ((1e-3, 0.0, 1e-3), DynamicsStatus.SINGULAR_SPARSE),
        ((1e-3, 0.0, 0.0), DynamicsStatus.SINGULAR_SPARSE), ((0.0, 1e-7, 1e-7), DynamicsStatus.SINGULAR_SPARSE),
        ((0.0, 0.0, np.nan), DynamicsStatus.NOT_FINITE),
    ):  # fmt: skip
        gamma = np.array([1.0, -1.0, 1.0]) + np.nan_to_num(missed)
        state: Any = SimpleNamespace(blocks=[rows], on=on, gamma=gamma, scale=1.0, rounding=1e-6)
        given = a if np.isfinite(missed).all() else a * np.nan
        found: Any = SimpleNamespace(
            kept=kept, a=given, multipliers=np.array([2.0, 3.0, 0.0]), is_determined=True, load=0.0, left=0.0,
            rest=0.0, choice=None, error=0.0, entries=7,
        )  # fmt: skip
        judged = _judged(state, found)
        assert judged.status is status, missed
        if status is DynamicsStatus.RANK_DEFICIENT:
            np.testing.assert_allclose(judged.multipliers, [1.0, 3.0, 1.0], atol=1e-12)
            assert judged.redundant.tolist() == [False, False, True]
        found.is_determined = False
        assert _judged(state, found).status is DynamicsStatus.SINGULAR_SPARSE
        found.is_determined, found.left = True, 1e-6
        assert _judged(state, found).status is not DynamicsStatus.RANK_DEFICIENT


# Contacts of pinocchio.


def test_armature_is_added_to_that_of_the_model() -> None:
    """0.2 to 0.3 is 0.5 to nothing."""
    model = pin.Model(robot_of("anymal").model)
    rng, found = np.random.default_rng(0), []
    q, v, tau = robot_of("anymal").random(rng), rng.standard_normal(18), rng.standard_normal(18)
    for own, more in ((0.3, 0.2), (0.0, 0.5), (0.5, 0.0)):
        model.armature = np.full(18, own)
        robot = Robot(pin.Model(model))
        rows = ConstraintSet(robot, [PointContact(robot, "LF_FOOT", axes=Axes.LOCAL, form=Form.RATES)])
        found.append(PinocchioConstraints(rows, armature=more).solve(q, v, tau))
    for a, push in found[1:]:
        np.testing.assert_allclose(a, found[0][0], rtol=1e-12)
        np.testing.assert_allclose(push, found[0][1], rtol=1e-12)


# Events.


def watch(start: float, direction: Any = "falling", **options: Any) -> Watch:
    """One event whose function is as given at the start."""
    robot = slides()[0]
    motion = robot.at(np.array([start, 0.0]), np.zeros(2))
    event = Event(lambda motion: float(motion.q[0]), "zero", direction=direction, **options)
    return Watch([event], 0.0, motion, ConstraintSet(robot, []))


def test_where_a_function_that_starts_at_zero_changes_its_sign() -> None:
    """Beyond zero by more than 1e-6; once it was on its own side, at zero."""
    seen = watch(0.0)
    assert [seen.crossed(0, value) for value in (0.0, -0.9e-6, 1.0, -1.1e-6)] == [False, False, False, True]
    assert seen.changes(0, [0.0, -0.9e-6, -0.9e-6]) == []
    assert [change.place for change in seen.changes(0, [0.0, -0.5e-6, -1.1e-6])] == [2]
    assert [change.place for change in seen.changes(0, [2e-6, 1.0, -1e-9])] == [2]
    assert seen.changes(0, [0.5e-6, 0.5e-6, -1e-9]) == []
    seen.saw([1.0])
    assert [seen.crossed(0, value) for value in (1.0, 0.0, -1e-9)] == [False, True, True]


def test_where_a_function_without_a_side_changes_its_sign() -> None:
    """From where it is seen first, beyond 1e-6 within a step: values nearer to zero have no side there."""
    seen = watch(0.0, "any")
    assert not seen.crossed(0, -1.0)
    assert seen.changes(0, [0.5e-6, -0.5e-6, -1.0]) == []
    assert [change.place for change in seen.changes(0, [2e-6, -0.5e-6, -1.0])] == [2]
    assert [change.place for change in seen.changes(0, [2e-6, -2e-6, 3.0])] == [1, 2]
    rising = watch(-1.0, "rising")
    assert [(c.place, c.counts) for c in rising.changes(0, [1.0, -1.0])] == [(0, True), (1, False)]
    assert [rising.crossed(0, value) for value in (-1.0, 0.0, 1.0)] == [False, True, True]


# Motions.


def slides(one: float = 2.0, other: float = 3.0) -> tuple[Robot, ConstraintSet]:
    """Two slides side by side that a row ties together."""
    model: Any = pin.Model()
    for name, mass in (("x", one), ("y", other)):
        joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    robot = Robot(model, "slides").without_bounds()
    return robot, ConstraintSet(robot, [Implicit.zero(Affine([[1.0, -1.0]], None, robot.space), name="tie")])


def test_stiffness_in_the_directions_that_a_projection_leaves() -> None:
    """A spring k and a damper d on one of two masses that move together: -k/m, -d/m, of the mean by the masses."""
    robot, rows = slides()
    motion = robot.at(np.zeros(2), np.zeros(2))

    def push(at: Any) -> np.ndarray:
        return np.array([-40.0 * at.q[0] - 6.0 * at.v[0], 0.0])

    found = forward_dynamics(rows, motion, push(motion))
    projected = stiffness_at(found, motion, push, True, push)
    np.testing.assert_allclose(projected.by_q, -8.0 * np.array([[0.4, 0.6], [0.4, 0.6]]), atol=1e-7)
    np.testing.assert_allclose(projected.by_v, -1.2 * np.array([[0.4, 0.6], [0.4, 0.6]]), atol=1e-7)
    plain = stiffness_at(found, motion, push, False, push)
    np.testing.assert_allclose(plain.by_q, [[-8.0, 0.0], [-8.0, 0.0]], atol=1e-7)
    np.testing.assert_allclose(plain.by_v, [[-1.2, 0.0], [-1.2, 0.0]], atol=1e-7)
    without = stiffness_at(found, motion, None, False, push)
    assert not without.by_q.any()


def test_forces_of_a_record_without_laws() -> None:
    """Of a function of the state and time, by one name; zero where it gives none."""
    robot, rows = slides()

    def push(motion: Any, t: float) -> Any:
        return None if t < 0.05 else [1.0 + t, -2.0]

    record = simulate(rows, np.zeros(2), np.zeros(2), 0.1, 0.01, forces=push)
    (name,) = record.forces_by_name
    found = record.forces_by_name[name]
    asked = [push(None, float(t)) or [0.0, 0.0] for t in record.times]
    assert name == "forces"
    np.testing.assert_array_equal(found, asked)
    assert robot.nv == 2
