"""Constraint sets: names, rows, subsets, stabilisation, copies, and acceleration rows of every kind of constraint."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from samples import mixed_frames, two_arms_frames

from constraints import Implicit, Pose, Problem, RightHandSide, Robot, Rotation, Stack, Target, linear_coupling, loops
from constraints.errors import (
    DuplicateError,
    DuplicateNameError,
    EmptyProblemError,
    OptionError,
    RobotMismatchError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.models import mechanisms
from constraints.rows import RowOwner
from constraints.rows.stacking import Order, stack_rows
from liegroups import SE3, SO3, R3xSO3, Space


def arms() -> loops.ConstraintSet:
    robot = two_arms_frames()
    return loops.ConstraintSet(
        robot,
        [
            loops.Closure(robot, "a", "b", loops.Hinge.pin([0.0, 0.0, 1.0]), name="hands"),
            loops.PointContact(robot, "left_tool", name="left"),
            loops.RodClosure(robot, "a", "right_tool", 0.3, name="rod"),
            Implicit.equal(Pose(robot, "right_tool"), name="right"),
        ],
    )


def state(robot: Robot, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.standard_normal(robot.nv)


def test_what_is_in_a_set_can_be_read() -> None:
    """Names, kinds, slices, frames and functions are readable after building."""
    rows = arms()
    assert rows.names == ("hands", "left", "rod", "right")
    assert rows.kinds == ("Closure (pin)", "PointContact", "RodClosure", "Implicit")
    assert rows.size == len(rows.position_error(state(rows.robot)[0])) == 5 + 3 + 1 + 6
    assert rows.slice_of("rod") == slice(8, 9) == rows.slice_of(2) == rows.slice_of(rows["rod"])
    assert rows.row_name(8) == "rod[0]"
    hands: Any = rows["hands"]
    assert hands.predecessor.name == "a"
    assert hands.successor.joint_name == "right_wrist_pitch"
    assert len(rows) == 4


def test_subsets_switch_without_rebuilding() -> None:
    """RBDL case 19: any subset on or off is zeroed rows on the same stack, whatever the order of calls."""
    rows = arms()
    q, v = state(rows.robot)
    full = rows.position_error(q), rows.velocity_error(q, v), rows.jacobian(q), rows.drift(q, v)
    some = rows.switched(on=["hands", "rod"])
    assert some.stack is rows.stack
    off = np.r_[5:8, 9:15]
    for whole, part in zip(
        full, (some.position_error(q), some.velocity_error(q, v), some.jacobian(q), some.drift(q, v)), strict=True
    ):
        assert not part[off].any()
        kept = np.setdiff1d(np.arange(rows.size), off)
        assert (part[kept] == whole[kept]).all()
    assert (rows.switched(off=["rod"]).switched(on=rows.names).drift(q, v) == full[3]).all()
    assert (rows.jacobian(q) == full[2]).all()
    assert [owner.name for owner in some.problem().constraints] == ["hands", "rod"]


def test_copies_do_not_share_what_is_changed() -> None:
    """RBDL case 19: switching or stabilising one copy leaves the others as they are."""
    rows = arms()
    q, v = state(rows.robot)
    before = rows.stabilisation(q, v)
    other = rows.stabilised(0.1).switched(off=["hands"])
    assert other.stabilisation(q, v).any()
    assert (rows.stabilisation(q, v) == before).all()
    assert rows.active.all()
    again = pickle.loads(pickle.dumps(rows))
    assert np.abs(again.drift(q, v) - rows.drift(q, v)).max() < 1e-12


def test_each_constraint_has_its_own_stabilisation() -> None:
    """Baumgarte by constraint: 2/T and 1/T^2 of its own T; none where none was asked for."""
    rows = arms().stabilised(0.1, "hands").stabilised(loops.Baumgarte(3.0, 4.0), "rod")
    q, v = state(rows.robot)
    e, rate = rows.position_error(q), rows.velocity_error(q, v)
    found = rows.stabilisation(q, v)
    assert np.abs(found[:5] - (20.0 * rate[:5] + 100.0 * e[:5])).max() < 1e-11
    assert np.abs(found[8] - (4.0 * rate[8] + 3.0 * e[8])) < 1e-12
    assert not found[np.r_[5:8, 9:15]].any()
    given = loops.ConstraintSet(rows.robot, rows.stack.owners, {"rod": loops.Baumgarte(3.0, 4.0)})
    assert given.baumgarte[2] == loops.Baumgarte(3.0, 4.0)


def test_a_stabilisation_settles_in_any_positive_time() -> None:
    for T in (0.01, 0.5, 1.0, 2.0):
        assert loops.Baumgarte.settling(T) == loops.Baumgarte(1.0 / T**2, 2.0 / T)
        assert arms().stabilised(T).baumgarte == (loops.Baumgarte.settling(T),) * len(arms())
    wrong: Any
    for wrong in (0.0, 0, -1.0, np.nan, "1", True):
        with pytest.raises(WrongObjectError, match="time of a stabilisation"):
            loops.Baumgarte.settling(wrong)
        if wrong:
            for gains in ((wrong, 0.0), (0.0, wrong)):
                with pytest.raises(WrongObjectError, match="gain of a stabilisation"):
                    loops.Baumgarte(*gains)
    for gains in ((np.inf, 0.0), (0.0, np.inf)):
        with pytest.raises(WrongObjectError, match="a finite number, got inf"):
            loops.Baumgarte(*gains)
    assert loops.Baumgarte() == loops.Baumgarte(0.0, 0.0)


def moving(group: Space, seed: int) -> Target:
    """A target that turns and moves in a group, its rates by differences."""
    rng = np.random.default_rng(seed)
    start = group.exp(0.4 * rng.standard_normal(group.nv))
    one, two = 0.5 * rng.standard_normal((2, group.nv))
    return Target(lambda t: group.compose(group.integrate(start, np.sin(t) * one), group.exp(0.3 * t * two)))


def in_time(robot: Robot, owner: RowOwner, t: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Second time derivative of the error along a motion, by the rows and by differences of the position rows."""
    stack = Stack([owner])
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), 0.5 * rng.standard_normal(robot.nv)
    a, h = rng.standard_normal(robot.nv), 2e-4
    errors: list[np.ndarray] = []
    for s in (-h, 0.0, h):
        at = robot.space.integrate(q, s * v + 0.5 * s * s * a)
        errors.append(stack_rows(stack, robot.at(at), Order.POSITION, RightHandSide(stack).at(t + s)).error.copy())
    rows = stack_rows(stack, robot.at(q, v), Order.ACCELERATION, RightHandSide(stack).at(t))
    return rows.error + rows.jacobian @ a, (errors[2] - 2.0 * errors[1] + errors[0]) / h**2


OUTPUTS = {
    "SE3": lambda robot: Implicit.equal(Pose(robot, "b", reference="a"), moving(SE3, 1)),
    "R3xSO3": lambda robot: Implicit.equal(Pose(robot, "b", reference="a", outputs=R3xSO3), moving(R3xSO3, 2)),
    "SO3": lambda robot: Implicit.equal(Rotation(robot, "b", reference="a"), moving(SO3, 3)),
    "masked": lambda robot: Implicit.equal(Pose(robot, "b", reference="a"), mask=[1, 0, 1, 1, 0, 0]),
    "scaled": lambda robot: Implicit(Pose(robot, "b"), scale=[1.0, 2.0, 3.0, 0.5, 0.5, 0.5]),
    "explicit": lambda robot: linear_coupling(robot, robot.joint_names[2], {robot.joint_names[0]: 0.7}),
}


@pytest.mark.parametrize("which", OUTPUTS)
@pytest.mark.parametrize("seed", range(3))
def test_acceleration_rows_of_every_constraint(which: str, seed: int) -> None:
    """ACCELERATION rows of Implicit and Explicit are the second time derivative of the error, targets moving."""
    robot = two_arms_frames()
    ours, theirs = in_time(robot, OUTPUTS[which](robot), 0.6, seed)
    assert np.abs(ours - theirs).max() < 2e-5 * (1.0 + np.abs(theirs).max())


def test_inequalities_that_hold_have_no_acceleration_row() -> None:
    """A satisfied inequality is zero at all orders; a violated one is its function's."""
    robot = two_arms_frames()
    owner = Implicit(Pose(robot, "b", reference="a"), lower=-1e-3, upper=1e3)
    q, v = state(robot, 3)
    stack = Stack([owner])
    inside = stack_rows(stack, robot.at(q)).error == 0.0
    rows = stack_rows(stack, robot.at(q, v), Order.ACCELERATION)
    assert inside.any()
    assert not inside.all()
    assert not rows.error[inside].any()
    assert not rows.jacobian[inside].any()
    assert rows.error[~inside].all()


def test_orders_need_motions() -> None:
    """ACCELERATION at a point without velocity is refused, with what to give."""
    rows = arms()
    q, _ = state(rows.robot)
    with pytest.raises(WrongObjectError, match="acceleration rows"):
        stack_rows(rows.stack, rows.robot.at(q), Order.ACCELERATION)


def test_closures_live_on_a_factor_of_a_bigger_space() -> None:
    """A closure of a robot that is one factor of a product is lifted, and keeps its rows."""
    from liegroups import Rn

    robot = two_arms_frames()
    closure = loops.Closure(robot, "a", "b", name="hands")
    space = robot.space * Rn(2)
    problem = Problem(space, [closure])
    q = np.concatenate([state(robot)[0], [0.3, 0.4]])
    assert np.abs(problem.error(q, closure) - closure.residual(q[: robot.nq])).max() < 1e-14
    assert not problem.jacobian(q)[:, -2:].any()


def test_wrong_sets_are_named() -> None:
    """RBDL case 20: duplicate and unknown names, one object twice, another robot, something else."""
    robot = two_arms_frames()
    one, other = loops.PointClosure(robot, "a", "b", name="x"), loops.PointClosure(robot, "a", "right_tool", name="x")
    with pytest.raises(DuplicateNameError, match="x"):
        loops.ConstraintSet(robot, [one, other])
    with pytest.raises(DuplicateError, match="x"):
        loops.ConstraintSet(robot, [one, one])
    with pytest.raises(RobotMismatchError):
        loops.ConstraintSet(robot, [loops.SurfaceContact(mixed_frames(), "b", name="y")])
    with pytest.raises(WrongObjectError, match="constraint 0"):
        loops.ConstraintSet(robot, ["x"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnknownNameError, match="hands"):
        arms().switched(on=["hand"])
    with pytest.raises(UnknownNameError):
        arms().stabilised(0.1, "foot")
    with pytest.raises(WrongObjectError, match="velocity gain"):
        loops.Baumgarte(0.0, -1.0)


@pytest.mark.parametrize("keys", [("hands", 0), (0, "hands")])
def test_one_constraint_has_one_stabilisation(keys: tuple[str | int, str | int]) -> None:
    """Under two keys the last one won, whatever it was."""
    rows = arms()
    gains = dict(zip(keys, (loops.Baumgarte(1.0, 1.0), loops.Baumgarte(2.0, 2.0)), strict=True))
    with pytest.raises(OptionError, match="stabilisation of 'hands': it is given twice"):
        loops.ConstraintSet(rows.robot, list(rows.stack), gains)


def test_a_set_that_is_all_off_says_so() -> None:
    """It said that there was no constraint, or that all rows were masked."""
    rows = arms()
    off = rows.switched(on=[])
    with pytest.raises(EmptyProblemError, match="all constraints are off: hands"):
        off.problem()


def test_gains_are_in_the_description() -> None:
    """A velocity gain that was forgotten, and a position gain without an anchor, were seen nowhere."""
    linkage = mechanisms.five_bar()
    rows = linkage.constraint_set()
    assert "gains" not in rows.describe()
    assert "; gains 100 1/s2, 0 1/s (undamped)" in rows.stabilised(loops.Baumgarte(100.0)).describe()
    assert "undamped" not in rows.stabilised(0.1).describe()
    floor = loops.PointContact(linkage.robot, "left_outer_end", [0.0, 1.0, 0.0], name="floor")
    loose = loops.ConstraintSet(linkage.robot, [floor]).stabilised(loops.Baumgarte(100.0, 20.0))
    assert loose.idle_gains == ("floor",)
    assert "; gains 100 1/s2, 20 1/s, of position without an anchor" in loose.describe()
    held = loops.ConstraintSet(linkage.robot, [floor.anchored(linkage.posture("closed"))]).stabilised(
        loops.Baumgarte(100.0, 20.0)
    )
    assert held.idle_gains == ()


def test_gains_without_a_constraint_are_refused_by_name() -> None:
    """A `TypeError` of Python: "argument after ** must be a mapping"."""
    robot = arms().robot
    with pytest.raises(WrongObjectError, match=r"baumgarte of a set: expected .*set\.stabilised"):
        loops.ConstraintSet(robot, [], loops.Baumgarte(1.0, 2.0))  # pyright: ignore[reportArgumentType]
