"""The stacking code: errors, Jacobians and velocities against differences in time and along the manifold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import arm, humanoid, mixed_tree, two_arms

from constraints import (
    CenterOfMass,
    Comparison,
    Implicit,
    Pose,
    Position,
    RightHandSide,
    Rotation,
    Stack,
    Transformation,
    Workspace,
)
from constraints.errors import DuplicateError, SpaceMismatchError, StalePostureError, WrongObjectError
from constraints.functions import Identity
from constraints.point import place_motion
from constraints.rows.one_sided import OneSidedRows
from constraints.rows.stacking import Order, Rows, StackedRows, stack_rows
from liegroups import SO3, R3xSO3, Rn

EQUALITY, ZERO, SUPERIOR, INFERIOR = Comparison


def constraints_of(robot, a: str, b: str) -> list[Implicit]:
    """Every kind of output and row: SE3, R3xSO3, vectors; masks, scales, one-sided rows, intervals."""
    return [
        Implicit.equal(Pose(robot, b), name="se3"),
        Implicit(
            Pose(robot, b, outputs=R3xSO3), EQUALITY, mask=[1, 0, 1, 1, 1, 1], scale=[1, 2, 3, 1, 1, 1], name="r3"
        ),
        Implicit.equal(Pose(robot, b, reference=a), mask=[0, 0, 0, 1, 1, 1], name="relative"),
        Implicit(Position(robot, b), [EQUALITY, SUPERIOR, INFERIOR], margin=0.05, name="sides"),
        Implicit.between(Transformation(robot, a), -0.2, 0.2, name="box"),
        Implicit.equal(CenterOfMass(robot), mask=[True, True, False], name="com"),
    ]


CASES = [(arm(), "elbow", "tool"), (two_arms(), "left_tool", "right_tool"), (humanoid(), "lleg6_joint", "rarm6_joint")]


def random_rhs(stack: Stack, rng) -> np.ndarray:
    """Right-hand sides near nothing special, zero on the rows that take none."""
    parts = []
    for owner in stack:
        log = np.where(owner.rows.free_rhs, rng.uniform(-0.6, 0.6, owner.group.nv), 0.0)
        parts.append(owner.group.exp(log))
    return np.concatenate(parts)


@pytest.mark.parametrize(("robot", "a", "b"), CASES, ids=str)
def test_jacobian_of_the_errors(robot, a, b):
    """Property 3: the stacked Jacobian is the difference of the stacked errors along the manifold."""
    rng, stack, h, worst = np.random.default_rng(50), Stack(constraints_of(robot, a, b)), 1e-6, 0.0
    for _ in range(8):
        q, rhs = robot.random(rng), RightHandSide(stack, random_rhs(stack, rng))

        def error(q, rhs=rhs):
            return stack_rows(stack, robot.at(q), rhs=rhs, jacobian=False).error.copy()

        rows = stack_rows(stack, robot.at(q), rhs=rhs)
        J, e = rows.jacobian.copy(), rows.error.copy()
        np.testing.assert_array_equal(error(q), e)
        for i, step in enumerate(h * np.eye(robot.nv)):
            ahead, behind = error(robot.space.integrate(q, step)), error(robot.space.integrate(q, -step))
            smooth = (np.abs(ahead - e) < 1e-3) & ((e == 0.0) == (ahead == 0.0)) & ((e == 0.0) == (behind == 0.0))
            worst = max(worst, np.abs(J[:, i] - (ahead - behind) / (2 * h))[smooth].max())
    assert worst < 1e-6


@pytest.mark.parametrize(("robot", "a", "b"), CASES, ids=str)
@pytest.mark.parametrize("moving", [False, True])
def test_velocity_rows_are_differences_in_time(robot, a, b, moving):
    """Property 3: VELOCITY rows are the time derivative of the POSITION rows, with targets at rest and moving, in
    SE3 and R3xSO3, masked, scaled and one-sided."""
    rng, stack, h, worst = np.random.default_rng(51), Stack(constraints_of(robot, a, b)), 1e-6, 0.0
    groups = [owner.group for owner in stack]
    free = [owner.rows.free_rhs for owner in stack]
    for _ in range(8):
        q, v = robot.random(rng), rng.uniform(-1.0, 1.0, robot.nv)
        start = random_rhs(stack, rng)
        flat = [owner.group.is_flat for owner in stack]
        rate = np.concatenate(
            [
                rng.uniform(-1.0, 1.0, g.nv) * (f if is_flat else f.all()) * moving
                for g, f, is_flat in zip(groups, free, flat, strict=True)
            ]
        )

        def errors(t, q=q, v=v, start=start, rate=rate):
            points = [
                g.integrate(start[s], t * rate[w])
                for g, s, w in zip(groups, stack.rhs_slices, stack.full_slices, strict=True)
            ]
            rhs = RightHandSide(stack, np.concatenate(points))
            return stack_rows(stack, robot.at(robot.space.integrate(q, t * v)), rhs=rhs, jacobian=False).error.copy()

        rhs = RightHandSide(stack, start, rate)
        rows = stack_rows(stack, robot.at(q, v), Order.VELOCITY, rhs)
        speed, J = rows.error.copy(), rows.jacobian.copy()
        np.testing.assert_array_equal(J, stack_rows(stack, robot.at(q), rhs=rhs).jacobian)
        if not moving:
            np.testing.assert_allclose(speed, J @ v, rtol=0, atol=1e-12)
        ahead, behind = errors(h), errors(-h)
        smooth = (np.abs(ahead - behind) < 1e-3) & ((ahead == 0.0) == (behind == 0.0))
        worst = max(worst, np.abs(speed - (ahead - behind) / (2 * h))[smooth].max())
    assert worst < 1e-6


@pytest.mark.parametrize(("robot", "a", "b"), CASES, ids=str)
@pytest.mark.parametrize("moving", [False, True])
def test_acceleration_rows_are_second_differences_in_time(robot, a, b, moving):
    """Less J a: ACCELERATION rows are the second derivative of the POSITION rows, along motions and targets of any
    acceleration."""
    rng, stack, h, worst = np.random.default_rng(57), Stack(constraints_of(robot, a, b)), 2e-4, 0.0
    for _ in range(4):
        q, v, change = robot.random(rng), *rng.uniform(-1.0, 1.0, (2, robot.nv))
        start, rates = random_rhs(stack, rng), np.zeros((2, stack.full_size))
        for owner, s in zip(stack, stack.full_slices, strict=True):
            free = owner.rows.free_rhs if owner.group.is_flat else owner.rows.free_rhs.all()
            rates[:, s] = rng.uniform(-1.0, 1.0, (2, owner.group.nv)) * free * moving

        def errors(t, q=q, v=v, change=change, start=start, rates=rates):
            along = t * rates[0] + 0.5 * t * t * rates[1]
            points = [o.group.integrate(start[s], along[w]) for o, s, w in
                      zip(stack, stack.rhs_slices, stack.full_slices, strict=True)]  # fmt: skip
            posture = robot.at(robot.space.integrate(q, t * v + 0.5 * t * t * change))
            return stack_rows(stack, posture, rhs=RightHandSide(stack, np.concatenate(points))).error.copy()

        rhs = RightHandSide(stack, start, *rates)
        rows = stack_rows(stack, robot.at(q, v), Order.ACCELERATION, rhs)
        found = rows.error + rows.jacobian @ change
        np.testing.assert_array_equal(rows.jacobian, stack_rows(stack, robot.at(q), rhs=rhs).jacobian)
        ahead, here, behind = errors(h), errors(0.0), errors(-h)
        smooth = (np.abs(ahead - behind) < 0.1) & ((ahead == 0.0) == (behind == 0.0))
        assert smooth.sum() > 0.9 * smooth.size
        second = (ahead - 2.0 * here + behind) / h**2
        worst = max(worst, (np.abs(found - second) / (1.0 + np.abs(second)))[smooth].max())
    assert worst < 1e-5


def test_a_turning_target_leaves_an_inequality_alone_where_it_holds() -> None:
    """Rates of rotation rows of which one is an inequality, against differences in time: inside it is zero, outside
    it turns with the other two."""
    robot, rng, h = arm(), np.random.default_rng(54), 1e-5
    stack = Stack([Implicit(Rotation(robot, "tool"), [EQUALITY, SUPERIOR, EQUALITY], scale=[2.0, 3.0, 1.0])])
    sides = set[bool]()
    for _ in range(20):
        q, v = robot.random(rng), rng.uniform(-1.0, 1.0, robot.nv)
        logs = rng.uniform(-0.6, 0.6, (2, 3)) * [1.0, 0.0, 1.0]

        def errors(t: float, q=q, v=v, logs=logs) -> np.ndarray:
            rhs = RightHandSide(stack, SO3.exp(logs[0] + t * logs[1]))
            return stack_rows(stack, robot.at(robot.space.integrate(q, t * v)), rhs=rhs).error.copy()

        rate = SO3.difference(SO3.exp(logs[0] - h * logs[1]), SO3.exp(logs[0] + h * logs[1])) / (2.0 * h)
        rhs = RightHandSide(stack, SO3.exp(logs[0]), rate)
        speed = stack_rows(stack, robot.at(q, v), Order.VELOCITY, rhs).error.copy()
        ahead, here, behind = errors(h), errors(0.0), errors(-h)
        if (ahead[1] == 0.0) == (behind[1] == 0.0):
            sides.add(bool(here[1] == 0.0))
            np.testing.assert_allclose(speed, (ahead - behind) / (2.0 * h), rtol=0, atol=1e-6)
            assert (speed[1] == 0.0) == (here[1] == 0.0)
    assert sides == {True, False}


def test_order_and_slices():
    """Property 4: rows come in the order of the stack, each owner at its slice; right-hand sides too."""
    stack = Stack(constraints_of(*CASES[0]))
    assert stack.size == 6 + 5 + 3 + 3 + 6 + 2 == sum(s.stop - s.start for s in stack.slices)
    assert stack.rhs_size == 7 + 7 + 7 + 3 + 6 + 3
    assert stack.names == ("se3", "r3", "relative", "sides", "box", "com")
    q = arm().random(np.random.default_rng(54))
    whole = stack_rows(stack, arm().at(q))
    error, J = whole.error.copy(), whole.jacobian.copy()
    for owner, s in zip(stack, stack.slices, strict=True):
        alone = stack_rows(Stack([owner]), arm().at(q))
        np.testing.assert_array_equal(alone.error, error[s])
        np.testing.assert_array_equal(alone.jacobian, J[s])


def test_rows_are_written_not_added():
    """Property 3: a workspace used for other points and stacks gives the same bits."""
    robot, rng, workspace = mixed_tree(), np.random.default_rng(55), Workspace()
    stack = Stack([Implicit.equal(Pose(robot, "chain_tip")), Implicit.zero(Position(robot, "planar_tip"))])
    other = Stack([Implicit.equal(Pose(robot, "spherical_tip", reference="free_tip"))])
    for _ in range(20):
        q = robot.random(rng)
        rows = stack_rows(stack, robot.at(q, workspace))
        error, J = rows.error.copy(), rows.jacobian.copy()
        fresh = stack_rows(stack, robot.at(q))
        np.testing.assert_array_equal(error, fresh.error)
        np.testing.assert_array_equal(J, fresh.jacobian)
        stack_rows(other, robot.at(robot.random(rng), workspace))


def test_stale_postures_are_refused():
    """Property 9: rows at a posture whose workspace has moved on are refused, not read from the wrong place."""
    workspace, stack = Workspace(), Stack([Implicit.zero(Position(arm(), "tool"))])
    old = arm().at(arm().neutral, workspace)
    arm().at(arm().neutral, workspace)
    with pytest.raises(StalePostureError, match="its workspace now holds another configuration"):
        stack_rows(stack, old)


def test_refusals():
    """Property 9: stacks of several spaces, of one object twice, and velocity rows without velocity are refused."""
    hand = Implicit.zero(Position(arm(), "tool"), name="hand")
    with pytest.raises(DuplicateError, match="'hand' is given twice"):
        Stack([hand, hand])
    with pytest.raises(SpaceMismatchError, match="'there'"):
        Stack([hand, Implicit.zero(Identity(SO3), name="there")])
    with pytest.raises(WrongObjectError, match=r"motion, robot\.at\(q, v\)"):
        stack_rows(Stack([hand]), arm().at(arm().neutral), Order.VELOCITY)
    with pytest.raises(WrongObjectError, match="a point, robot"):
        stack_rows(Stack([hand]), arm().at(arm().neutral, v=np.zeros(arm().nv)))
    nothing: Any = None
    with pytest.raises(WrongObjectError, match="constraints of a stack"):
        Stack(nothing)


@pytest.mark.parametrize("wanted", [True, np.True_, False, np.False_])
def test_flags_may_be_numpys(wanted: Any) -> None:
    robot = arm()
    f = Position(robot, robot.frame_names[-1])
    q, stack = robot.random(np.random.default_rng(2)), Stack([Implicit.zero(f)])
    rows = stack_rows(stack, robot.at(q), jacobian=wanted)
    np.testing.assert_array_equal(rows.error, f.value(q))
    np.testing.assert_array_equal(rows.jacobian, f.jacobian(q) if wanted else np.zeros((3, robot.nv)))


def test_default_right_hand_sides_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without right-hand sides a loop makes none anew, and gives what the problem's own give."""
    robot, workspace = arm(), Workspace()
    stack = Stack(constraints_of(robot, "elbow", "tool"))
    made: list[RightHandSide] = []
    whole = RightHandSide.__init__

    def counted(self: RightHandSide, *arguments: Any) -> None:
        made.append(self)
        whole(self, *arguments)

    monkeypatch.setattr(RightHandSide, "__init__", counted)
    for q in robot.random(np.random.default_rng(3), 5):
        default = stack_rows(stack, robot.at(q, workspace)).error.copy()
        assert len(made) == 1
        np.testing.assert_array_equal(default, stack_rows(stack, robot.at(q, workspace), rhs=made[0]).error)


@pytest.mark.parametrize("kind", [list, tuple, np.asarray])
def test_rows_at_a_configuration_are_copies_of_those_at_its_point(kind: Any) -> None:
    robot = arm()
    stack, q = Stack(constraints_of(robot, "elbow", "tool")), robot.random(np.random.default_rng(4))
    there = stack_rows(stack, kind(q))
    rows = stack_rows(stack, robot.at(q))
    np.testing.assert_array_equal(there.error, rows.error)
    np.testing.assert_array_equal(there.jacobian, rows.jacobian)
    assert there.residual == rows.residual == max(np.linalg.norm(part) for part in rows.parts)
    assert not np.shares_memory(there.error, rows.error)
    assert not np.shares_memory(there.jacobian, rows.jacobian)
    with pytest.raises(WrongObjectError, match="motion"):
        stack_rows(stack, kind(q), Order.VELOCITY)


def test_arguments_of_another_kind_are_named() -> None:
    """The stack, the point, the right-hand side and its constraints: each is refused by its own name."""
    robot = arm()
    stack, other = Stack(constraints_of(robot, "elbow", "tool")), Stack([Implicit.zero(Position(robot, "tool"))])
    point: Any = robot.at(robot.neutral)
    something: Any = "something"
    with pytest.raises(WrongObjectError, match="stack of rows"):
        stack_rows(something, point)
    with pytest.raises(WrongObjectError, match="point of stacked rows"):
        stack_rows(stack, something)
    with pytest.raises(WrongObjectError, match="point of stacked rows"):
        stack_rows(Stack([]), [0.0])  # no space that says what the numbers are
    with pytest.raises(WrongObjectError, match="right-hand side of stacked rows"):
        stack_rows(stack, point, rhs=something)
    for side, here in ((RightHandSide(other), stack), (RightHandSide(stack), other)):
        with pytest.raises(SpaceMismatchError, match="right-hand side of other constraints"):
            stack_rows(here, point, rhs=side)
    both = RightHandSide(Stack([*stack, *other]))
    np.testing.assert_array_equal(stack_rows(other, point, rhs=both).error, stack_rows(other, point).error)


@pytest.mark.parametrize("jacobian", [True, False])
def test_rows_that_a_step_crosses_end_at_their_limit(jacobian: bool) -> None:
    """Rows with an interval as they are, scaled and masked: distances, and equalities where a step would cross."""
    first = Implicit(Identity(Rn(5)), lower=[0.0, -1.0, -9.0, 1.0, 0.25], upper=[1.0, 1.0, 1.0, 9.0, 0.25],
                     scale=[2.0, 1.0, 1.0, 3.0, 1.0], mask=[1, 1, 1, 1, 1])  # fmt: skip
    second = Implicit(Identity(Rn(5)), lower=-4.0, upper=4.0, mask=[0, 0, 1, 0, 1], name="wide")
    stack = Stack([first, second])
    one_sided, J = OneSidedRows(stack, 5), np.vstack((np.diag([2.0, 1.0, 1.0, 3.0, 1.0]), np.eye(5)[[2, 4]]))
    rows = Rows(np.r_[[1.0, 0.0, 2.0, -3.0, 0.0], 2.0, 0.25], J.copy(), stack.slices)
    assert one_sided
    one_sided.clip(rows, True)
    np.testing.assert_array_equal(rows.error, [0.0, 0.0, 1.0, -6.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(rows.jacobian.any(axis=1), [False, False, True, True, True, False, False])
    np.testing.assert_array_equal(one_sided.jacobian, J[[0, 1, 2, 3, 5, 6]])
    if not jacobian:  # what they were is kept where a Jacobian is asked for
        again = Rows(np.r_[[9.0, 9.0, 9.0, 9.0, 9.0], 9.0, 9.0], J.copy(), stack.slices)
        one_sided.clip(again, False)
        np.testing.assert_array_equal(again.error, [7.0, 8.0, 8.0, 0.0, 9.0, 5.0, 5.0])
        np.testing.assert_array_equal(again.jacobian, J)
    before = rows.error.tobytes(), rows.jacobian.tobytes()
    for step, limits in (
        ([0.0] * 5, {}), ([0.5, 1.0, 0.0, 0.0, 0.0], {}), ([-0.5, -1.0, 2.0, 9.0, 3.75], {}),
        ([0.75, 0.0, 0.0, 0.0, 0.0], {0: -1.0}), ([-0.75, 1.5, 0.0, 0.0, 0.0], {0: 1.0, 1: -1.0}),
        ([0.0, -1.5, 2.5, 0.0, 4.0], {1: 1.0, 5: -2.0, 6: -3.75}),
    ):  # fmt: skip
        entered = one_sided.entered(rows, np.array(step))
        assert (entered is None) == (not limits)
        if entered is None:
            continue
        expected, slopes = rows.error.copy(), rows.jacobian.copy()
        for row, error in limits.items():
            expected[row], slopes[row] = error, J[row]
        np.testing.assert_array_equal(entered.error, expected)
        np.testing.assert_array_equal(entered.jacobian, slopes)
    assert (rows.error.tobytes(), rows.jacobian.tobytes()) == before
    assert not OneSidedRows(Stack([Implicit.zero(Identity(Rn(5)))]), 5)


@pytest.mark.parametrize("moves", [True, False])
def test_rates_of_right_hand_sides_count_where_they_are_asked_for(moves: bool) -> None:
    stack, v = Stack([Implicit.equal(Identity(Rn(2)), name="point")]), np.array([1.0, 2.0])
    rates = (np.array([0.25, 0.5]), np.array([3.0, 4.0])) if moves else (None, None)
    stacked, sides = StackedRows(stack, Rn(2)), RightHandSide(stack, [0.5, 0.5], *rates)
    motion = place_motion(Rn(2), np.ones(2), v, Workspace())
    for asked in (True, False):
        own = [np.zeros(2) if rate is None or not asked else rate for rate in rates]
        np.testing.assert_array_equal(stacked.velocity(motion, sides, asked).error, v - own[0])
        np.testing.assert_array_equal(stacked.acceleration(motion, sides, asked).error, -own[1])
