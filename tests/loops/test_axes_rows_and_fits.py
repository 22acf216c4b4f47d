"""Parts of loops each for itself: axes, rows of rotations, fits, branches, partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, mixed_tree

from constraints import Affine, Function, Implicit, Position, Problem, Stack
from constraints.errors import NotNormalizedError, SizeError, UnknownNameError, WrongObjectError
from constraints.loops import Hinge, HingeKind
from constraints.loops.axes import hinge_of_axes, hinge_of_mask
from constraints.loops.branch import BranchComparison, branch_between, meets_dead_centre
from constraints.loops.hinges.custom_fit import CustomRows
from constraints.loops.hinges.hinge import HingeTypeError
from constraints.loops.hinges.hinge_fit import ScrewRows, fitted, hinge_rows, twist_angle, twist_drift
from constraints.loops.hinges.pose_map import LogPose, Rod, Split
from constraints.loops.hinges.rotation_rows import Cross, Swing, Turn, perpendicular_pair
from constraints.loops.hinges.subhinge import Subhinge, SubhingeMotion
from constraints.loops.mobility import Mobility, mobility_at, row_names
from constraints.loops.partition import partition
from constraints.robot.placement import unit_axis
from liegroups import Rn
from liegroups.unit_vectors import NEAR_HALF_TURN, unit_log

AXIS = np.array([2.0, -1.0, 2.0]) / 3.0


# Axes.


@pytest.mark.parametrize(("name", "axis"), [("x", [1, 0, 0]), ("Y", [0, 1, 0]), ("z", [0, 0, 1]), ("-x", [-1, 0, 0]),
                                            ("-y", [0, -1, 0]), ("-Z", [0, 0, -1])])  # fmt: skip
def test_axes_by_name(name: str, axis: list[int]) -> None:
    assert unit_axis(name, "axis").tolist() == axis
    assert not unit_axis(name, "axis").flags.writeable


def test_axes_by_numbers() -> None:
    """Unit to rounding they keep their bits, to 1e-6 they are made unit, beyond they are refused."""
    for vector in ([0.6, 0.0, 0.8], AXIS):
        assert unit_axis(vector, "axis").tobytes() == np.array(vector).tobytes()
    near = unit_axis([1.0 + 9e-7, 0.0, 0.0], "axis")
    assert near.tolist() == [1.0, 0.0, 0.0]
    for norm in (1.0 + 1.1e-6, 1.0 - 1.1e-6, 0.0):
        with pytest.raises(NotNormalizedError, match="axis"):
            unit_axis([norm, 0.0, 0.0], "axis")
    with pytest.raises(UnknownNameError, match="no axis is named 'w'"):
        unit_axis("w", "axis")
    with pytest.raises(SizeError):
        unit_axis([1.0, 0.0], "axis")
    for axis in (
        *np.eye(3),
        AXIS,
        [0.9, np.sqrt(0.19), 0.0],
        [0.89, np.sqrt(1 - 0.89**2), 0.0],
        [-0.95, 0.0, np.sqrt(1 - 0.95**2)],
    ):
        n1, n2 = perpendicular_pair(np.array(axis))
        np.testing.assert_allclose(np.array([n1, n2, axis]) @ np.array([n1, n2, axis]).T, np.eye(3), atol=1e-12)
        assert np.linalg.det([n1, n2, axis]) == pytest.approx(1.0)
        nearest = 0 if abs(axis[0]) < 0.9 else 1
        assert n1[nearest] == pytest.approx(np.sqrt(1.0 - axis[nearest] ** 2))


@pytest.mark.parametrize(
    ("motion", "twist"),
    [
        (SubhingeMotion.PIN, [0, 0, 0, *AXIS]),
        (SubhingeMotion.SLIDER, [*AXIS, 0, 0, 0]),
        (SubhingeMotion.SCREW, [*(0.3 * AXIS), *AXIS]),
    ],
)
def test_steps_of_a_hinge(motion: SubhingeMotion, twist: list[float]) -> None:
    turn = pin.exp3(np.array([0.2, 0.5, -0.3]))
    step = Subhinge(motion, AXIS, 0.3, turn)
    np.testing.assert_allclose(step.subspace[:, 0], twist, atol=1e-15)
    assert (step.turns, step.is_ball, step.nq, step.nv) == (motion is not SubhingeMotion.SLIDER, False, 1, 1)
    expected = turn @ pin.exp6(0.7 * np.array(twist)).rotation
    np.testing.assert_allclose(step.placement(np.array([0.7])).rotation, expected, atol=1e-14)
    np.testing.assert_allclose(
        step.placement(np.array([0.7])).translation, turn @ pin.exp6(0.7 * np.array(twist)).translation, atol=1e-14
    )
    assert Subhinge(SubhingeMotion.SCREW, AXIS).pitch == 0.0
    ball = Subhinge(SubhingeMotion.BALL, AXIS)
    assert (ball.turns, ball.is_ball, ball.nq, ball.nv) == (True, True, 4, 3)
    np.testing.assert_array_equal(ball.subspace, np.r_[np.zeros((3, 3)), np.eye(3)])


# What is held.


def free_of(hinge: Hinge) -> np.ndarray:
    """Twists that the hinge allows where it is at zero, as a projector."""
    S = hinge.kinematics(np.array(hinge.space.neutral))[1]
    return S @ np.linalg.pinv(S) if S.size else np.zeros((6, 6))


@pytest.mark.parametrize("number", range(64))
def test_masks_leave_what_they_do_not_hold(number: int) -> None:
    """Each of the 64: at zero the hinge moves exactly along the axes that are free; one rotation held is refused."""
    mask = [bool(number >> i & 1) for i in range(6)]
    if sum(mask[3:]) == 1:
        with pytest.raises(HingeTypeError, match=r"one rotation is held, about.*Hinge\.universal or Hinge\.hooke"):
            hinge_of_mask(mask)
        return
    hinge = hinge_of_mask(mask)
    assert hinge.rows == sum(mask)
    np.testing.assert_allclose(free_of(hinge), np.diag([not held for held in mask]), atol=1e-12)


@pytest.mark.parametrize("linear", [[], [0], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("angular", [[], [0, 1], [1, 2], [0, 1, 2]])
def test_oblique_axes_leave_what_they_do_not_hold(linear: list[int], angular: list[int]) -> None:
    R = pin.exp3(np.array([0.9, -0.4, 0.7]))
    rows = [np.r_[R[:, i], 0, 0, 0] for i in linear] + [np.r_[0, 0, 0, R[:, i]] for i in angular]
    hinge = hinge_of_axes(np.array(rows).reshape(-1, 6))
    held = np.array(rows).reshape(-1, 6)
    np.testing.assert_allclose(free_of(hinge), np.eye(6) - held.T @ held, atol=1e-9)


def test_axes_that_are_refused() -> None:
    x, tilted = np.eye(6)[0], np.r_[0.6, 0.8, 0, 0, 0, 0]
    for wrong, kind, said in (
        ([1.1 * x], HingeTypeError, "axis 0 of a closure: expected a unit vector, got one of norm 1.1"),
        ([x, np.r_[0.6, 0, 0, 0.8, 0, 0]], HingeTypeError, "axis 1 of a closure mixes translation and rotation"),
        ([x, tilted], HingeTypeError, "directions at right angles"), (np.eye(6)[:, :5], SizeError, "k rows of 6"),
        (np.zeros((7, 6)), SizeError, "k rows of 6"), (x, SizeError, "k rows of 6"),
        ([[1, 0], [1]], SizeError, "lengths"),
    ):  # fmt: skip
        with pytest.raises(kind, match=said):
            hinge_of_axes(wrong)
    for wrong in ([1, 1, 1], [1, 1, 1, 1, 1, 2], [1.0] * 6, "xyz"):
        with pytest.raises(WrongObjectError, match="mask of a closure"):
            hinge_of_mask(wrong)  # type: ignore[arg-type]
    assert hinge_of_axes(np.eye(6)[:1] * (1.0 + 4e-7)).rows == 1
    with pytest.raises(HingeTypeError, match=r"about \(0, 0, 1\)"):
        hinge_of_axes(np.eye(6)[5:])


# Rows and fits.


def test_rows_of_rotations_in_closed_form() -> None:
    """A swing is the angle between the axes, pi at half a turn; a cross is off by its middle angle."""
    n1, n2 = perpendicular_pair(AXIS)
    for angle in (0.0, 0.3, 1.5, 2.6, 2.8, 3.1, np.pi):
        out = np.zeros(2)
        Swing(AXIS).value(pin.exp3(angle * n1) @ pin.exp3(0.7 * AXIS), out)
        np.testing.assert_allclose(np.abs(out), [angle, 0.0], atol=1e-7)
        Swing(AXIS).value(pin.exp3(0.7 * AXIS) @ pin.exp3(angle * n2), out)
        assert np.linalg.norm(out) == pytest.approx(angle, abs=1e-7)
    a, b = np.array([1.0, 0, 0]), np.array([0.0, 1.0, 0])
    for angle in (0.0, 0.3, -1.2, 1.5):
        out = np.zeros(1)
        R = pin.exp3(0.4 * a) @ pin.exp3(angle * np.array([0.0, 0, 1.0])) @ pin.exp3(-0.9 * b)
        Cross(a, b).value(R, out)
        assert out[0] == pytest.approx(angle)
    w, C, out = np.array([0.3, -0.8, 1.1]), pin.exp3(np.array([0.3, 0.2, 0.9])), np.zeros(3)
    Turn().value(pin.exp3(w), out)
    np.testing.assert_allclose(out, w)
    Turn(C).value(pin.exp3(w), out)
    np.testing.assert_allclose(out, C @ w)
    rod = np.zeros(1)
    Rod(2.0).value(pin.SE3(np.eye(3), np.array([3.0, 4.0, 0.0])), rod)
    assert rod[0] == 0.5 * (25.0 - 4.0)


def test_near_half_a_turn_rotation_rows_are_held() -> None:
    """As if `NEAR_HALF_TURN` short of it: finite, with finite derivatives; before that they are what they are."""
    held = -1.0 + 0.5 * NEAR_HALF_TURN**2
    assert unit_log(-1.0) == unit_log(held)
    assert unit_log(held + 0.1 * NEAR_HALF_TURN**2)[0] < unit_log(held)[0]
    angle = np.arccos(held)
    assert unit_log(-1.0)[0] == pytest.approx(angle / np.sqrt(1.0 - held**2))
    a, b = np.array([1.0, 0, 0]), np.array([0.0, 1.0, 0])
    rows = Cross(a, b)
    for rest in (0.0, 0.5 * NEAR_HALF_TURN, 2.0 * NEAR_HALF_TURN, 0.1):
        R = pin.exp3((0.5 * np.pi - rest) * np.array([0.0, 0.0, 1.0]))
        out, D = np.zeros(1), np.zeros((1, 3))
        rows.value(R, out, D)
        assert out[0] == pytest.approx(0.5 * np.pi - rest, abs=1e-7)
        steep = np.sin(rest) / np.sin(max(rest, NEAR_HALF_TURN))
        np.testing.assert_allclose(D, [[0.0, 0.0, steep]], atol=1e-6)


@pytest.mark.parametrize("angle", [-3.1, -1.0, 0.0, 0.4, 2.0, 3.1, np.pi])
@pytest.mark.parametrize("swing", [0.0, 0.5, 2.0])
def test_the_twist_about_an_axis(angle: float, swing: float) -> None:
    """In (-pi, pi], whatever the swing before it or after it; with two derivatives by differences."""
    n1, _ = perpendicular_pair(AXIS)
    for R in (pin.exp3(swing * n1) @ pin.exp3(angle * AXIS), pin.exp3(angle * AXIS) @ pin.exp3(swing * n1)):
        found, slope = twist_angle(R, AXIS)
        assert np.remainder(found - angle + 1.0, 2 * np.pi) == pytest.approx(1.0, abs=1e-9)
        assert -np.pi < found <= np.pi
        rng, h = np.random.default_rng(1), 1e-4
        omega, alpha = 0.5 * rng.normal(size=3), rng.normal(size=3)

        def along(t: float, R: Any = R, omega: Any = omega, alpha: Any = alpha, found: float = found) -> float:
            there = twist_angle(R @ pin.exp3(t * omega + 0.5 * t * t * alpha), AXIS)[0]
            return found + np.remainder(there - found + np.pi, 2 * np.pi) - np.pi

        assert slope @ omega == pytest.approx((along(h) - along(-h)) / (2 * h), abs=1e-6)
        bend = (along(h) - 2 * along(0.0) + along(-h)) / h**2
        assert twist_drift(R, AXIS, omega, alpha) == pytest.approx(bend, abs=1e-5)
    half = pin.exp3(np.pi * n1)
    assert twist_angle(half, AXIS)[0] == pytest.approx(0.0, abs=1e-6) or abs(twist_angle(half, AXIS)[0]) <= np.pi


def test_which_rows_a_hinge_has() -> None:
    """By its kind: the logarithm, a screw's, a fit's, or translations beside a turn, a swing, a cross or nothing."""
    for hinge, kind, rotation in (
        (Hinge.locked(), LogPose, None), (Hinge.helical("z", 0.1), ScrewRows, None), (Hinge.pin("x"), Split, Swing),
        (Hinge.cylindrical("x"), Split, Swing), (Hinge.slider("x"), Split, Turn), (Hinge.translational(), Split, Turn),
        (Hinge.universal("x", "y"), Split, Cross), (Hinge.ball(), Split, None), (Hinge.gimbal(), Split, None),
        (Hinge.custom([Hinge.pin("z"), Hinge.slider("x")]), CustomRows, None),
    ):  # fmt: skip
        rows = hinge_rows(hinge)
        assert type(rows) is kind
        assert rows.size == hinge.rows
        if isinstance(rows, Split):
            assert type(rows.rotation) is (rotation or type(None))


# Fits of custom hinges.


def custom() -> Hinge:
    return Hinge.custom([Hinge.pin("z"), Hinge.slider("x"), Hinge.pin("y")])


def cost_of(hinge: Hinge, theta: np.ndarray, pose: Any) -> float:
    E = hinge.kinematics(theta)[0].actInv(pose)
    return float(np.r_[E.translation, pin.log3(E.rotation)] @ np.r_[E.translation, pin.log3(E.rotation)])


def test_far_from_every_pose_of_a_hinge_the_least_squares_count() -> None:
    """Where the picked coordinates cannot vanish the fit is a place of least squared error; near a pose it is near."""
    hinge, rng, h = custom(), np.random.default_rng(0), 1e-6
    assert hinge.kind is HingeKind.CUSTOM
    poses = [pin.SE3(pin.exp3(1.5 * rng.normal(size=3)), 3.0 * rng.normal(size=3)) for _ in range(600)]
    for pose in (poses[136], poses[512], poses[587]):
        theta = fitted(hinge, pose, np.zeros(6), np.zeros(6)).coordinates
        slopes = [
            (cost_of(hinge, theta + h * e, pose) - cost_of(hinge, theta - h * e, pose)) / (2 * h) for e in np.eye(3)
        ]
        np.testing.assert_allclose(slopes, 0.0, atol=0.02)
    for _ in range(6):
        exact = rng.uniform(-1.5, 1.5, 3)
        near = pin.SE3(pin.exp3(0.01 * rng.normal(size=3)), 0.01 * rng.normal(size=3))
        off = hinge.kinematics(exact)[0] * near
        assert np.linalg.norm(fitted(hinge, off, np.zeros(6), np.zeros(6)).coordinates - exact) < 0.1


@pytest.mark.parametrize("theta", [[-2.4, 2.9, -1.25], [-2.8, -0.2, 1.0]])
def test_a_closed_pose_is_fitted_though_the_first_try_ends_elsewhere(theta: list[float]) -> None:
    """Two sliders with a hinge between, nearly parallel: one descent ends at errors of 0.2 or 0.3, one at none."""
    rows = CustomRows(Hinge.custom([Hinge.slider("x"), Hinge.pin("z"), Hinge.slider("x")]))
    pose = rows.hinge.kinematics(np.array(theta))[0]
    np.testing.assert_allclose(rows.motion(pose, np.zeros(6), np.zeros(6))[0], theta, rtol=0, atol=1e-9)


# Branches.


def circle(radius2: float = 1.0) -> Problem:
    f = Function.from_callable(lambda q: [q @ q - radius2], Rn(2), Rn(1), lambda q: [2.0 * q], name="circle")
    return Problem(Rn(2), [Implicit.zero(f)])


def lemniscate() -> Problem:
    """y^2 = x^2 (1 - x^2): two branches that meet where x is zero, and end where it is one."""
    f = Function.from_callable(
        lambda q: [q[1] ** 2 - q[0] ** 2 + q[0] ** 4], Rn(2), Rn(1), lambda q: [[-2 * q[0] + 4 * q[0] ** 3, 2 * q[1]]]
    )
    return Problem(Rn(2), [Implicit.zero(f)])


DRIVEN = np.array([True, False])


def test_branches_of_a_circle_by_the_sign_of_their_slope() -> None:
    problem = circle()
    up, on, down, end = np.array([0.6, 0.8]), np.array([-0.6, 0.8]), np.array([0.6, -0.8]), np.array([1.0, 0.0])
    same = branch_between(problem.space, problem.jacobian, up, on, DRIVEN, is_closed=True)
    assert (same.signs, same.moved, same.dependent.tolist(), same.rows.tolist()) == ((1.0, 1.0), 0.0, [1], [0])
    assert same.same(0.0)
    other = branch_between(problem.space, problem.jacobian, up, down, DRIVEN, is_closed=True)
    assert other.signs == (1.0, -1.0)
    assert other.moved == pytest.approx(1.6)
    assert not other.same(9.0)
    dead = branch_between(problem.space, problem.jacobian, up, end, DRIVEN, is_closed=True)
    assert dead.signs == (1.0, 0.0)
    assert not dead.same(9.0)
    low = branch_between(problem.space, problem.jacobian, up, np.array([0.0, 1.0]), DRIVEN)
    assert low.same(0.2)
    assert not low.same(0.19)
    said = "a dependent coordinate moved 1.6; sign of the pivot block"
    assert other.describe() == f"{said} before the driven joints moved: +, now: -"
    assert dead.describe().endswith("now: 0, a dead centre")
    opened = branch_between(problem.space, problem.jacobian, up, down, DRIVEN)
    assert opened.describe() == f"{said} at the open start: +, now: -"
    assert not opened._replace(signs=(1.0, 1.0), meets=True).same(9.0)
    assert opened._replace(signs=(1.0, 1.0), meets=True).describe().endswith(", with a dead centre between them")
    assert not BranchComparison(up, True, 0.0, (0.0, 0.0), same.dependent, same.rows).same(1.0)
    nobody = np.array([False, False])
    for there, dependent in ((np.array([0.8, 0.6]), [0]), (np.array([0.28, 0.96]), [1])):
        for is_closed in (True, False):  # the pivots are those of the end
            turned = branch_between(problem.space, problem.jacobian, up, there, nobody, is_closed=is_closed)
            assert turned.dependent.tolist() == dependent
            assert turned.moved == pytest.approx(abs(there - up)[dependent[0]])
    singular = branch_between(problem.space, problem.jacobian, up, end, DRIVEN)
    assert (singular.dependent.size, singular.moved) == (0, 0.0)


def along_lemniscate(sign: float) -> Any:
    """Closes from near: the nearer of the two y, of the branch through the meeting point."""

    def close(q: np.ndarray) -> np.ndarray | None:
        x = float(q[0])
        return None if abs(x) > 1.0 else np.array([x, sign * abs(x) * np.sqrt(1.0 - x * x)])

    return close


@pytest.mark.parametrize(("a", "b", "meets"), [(0.2, 0.6, False), (-0.6, -0.1, False), (-0.5, 0.5, True),
                                               (-0.1, 0.7, True),
                                               (0.05, 0.7, False), (0.3, 0.99, False)])  # fmt: skip
def test_where_two_branches_meet_there_is_a_dead_centre(a: float, b: float, meets: bool) -> None:
    """Both ends above, so both of one sign: the tangents tell that the way between them leads through the crossing."""
    problem, close = lemniscate(), along_lemniscate(1.0)
    start, end = close(np.array([a, 0.0])), close(np.array([b, 0.0]))
    branch = branch_between(problem.space, problem.jacobian, start, end, DRIVEN, is_closed=True)
    assert branch.signs == (1.0, 1.0)
    assert meets_dead_centre(problem.space, problem.jacobian, branch, end, close) == meets


@pytest.mark.parametrize("gap", [0.3, 0.01, 1e-3, 1e-4])
def test_a_curved_way_is_cut_and_has_no_dead_centre(gap: float) -> None:
    """y^2 = x^2 + gap^2: tangents from afar lead to the other sign, those near the bend do not; never many parts."""
    f = Function.from_callable(
        lambda q: [q[1] ** 2 - q[0] ** 2 - gap**2], Rn(2), Rn(1), lambda q: [[-2 * q[0], 2 * q[1]]], name="bend"
    )
    problem, closed = Problem(Rn(2), [Implicit.zero(f)]), list[float]()

    def close(q: np.ndarray) -> np.ndarray | None:
        closed.append(float(q[0]))
        return np.array([q[0], np.hypot(q[0], gap)])

    start, end = np.array([-1.0, np.hypot(1.0, gap)]), np.array([0.8, np.hypot(0.8, gap)])
    branch = branch_between(problem.space, problem.jacobian, start, end, DRIVEN, is_closed=True)
    assert not meets_dead_centre(problem.space, problem.jacobian, branch, end, close)
    assert 1 <= len(closed) <= 60
    assert closed[0] == pytest.approx(-0.1)  # the way is halved
    assert all(-1.0 <= x <= 0.8 for x in closed)
    assert meets_dead_centre(problem.space, problem.jacobian, branch, end, lambda q: None)  # nothing closes on the way


# Partitions and mobility.


def test_what_the_others_do_not_reach_is_left_to_the_wished_ones() -> None:
    """Of two wished columns that one which the others do not span becomes dependent, though the other is longer."""
    J = np.array([[1.0, 5.0, 0.1, 0.0], [0.0, 0.0, 0.2, 0.0], [0.0, 0.0, 0.0, 0.0]])
    found = partition(J, preferred=[1, 2])
    assert (found.dependent.tolist(), found.independent.tolist(), found.rank) == ([0, 2], [1, 3], 2)
    assert (found.rows.tolist(), found.redundant.tolist(), found.driven.tolist()) == ([0, 1], [2], [])
    first = partition(J, preferred=[3, 0])
    assert first.dependent.tolist() == [1, 2]
    assert first.independent.tolist() == [3, 0]
    held = partition(J, preferred=[1, 1], driven=np.array([False, True, False, False]))
    assert (held.dependent.tolist(), held.driven.tolist(), held.independent.tolist()) == ([0, 2], [1], [3])
    both = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    assert partition(both, preferred=[2]).dependent.tolist() in ([0, 2], [1, 2])


@pytest.mark.parametrize("seed", range(16))
def test_mobility_by_plain_linear_algebra(seed: int) -> None:
    """Of rows of any rank, at a place that satisfies them or not, with and without driven joints."""
    rng, robot = np.random.default_rng(seed), arm()
    names, n = np.array(robot.joint_names), robot.nv
    m, rank = int(rng.integers(1, 9)), int(rng.integers(0, 6))
    A = rng.integers(-2, 3, (m, rank)) @ rng.integers(-2, 3, (rank, n)).astype(float)
    rank = int(np.linalg.matrix_rank(A))
    q = rng.normal(size=n)
    off = [np.zeros(m), A @ rng.normal(size=n), rng.normal(size=m)][seed % 3]
    rows = Affine(A, off - A @ q, robot.space)
    stack = Stack([Implicit.zero(rows.restricted([i]), name=f"row{i}") for i in range(m)])
    chosen = np.zeros(n, dtype=bool)
    chosen[rng.permutation(n)[: int(rng.integers(0, 4))]] = True
    found = mobility_at(robot, stack, q, (), 1e-9, driven=names[chosen].tolist())
    assert (found.rows, found.rank, found.mobility) == (m, rank, n - rank)
    redundant = [int(label.split("'")[1][3:]) for label in found.redundant]
    kept = [i for i in range(m) if i not in redundant]
    assert len(kept) == np.linalg.matrix_rank(A[kept]) == rank
    dependent = np.isin(names, found.dependent)
    assert sorted(found.dependent + found.independent) == sorted(names)
    assert dependent.sum() == np.linalg.matrix_rank(A[:, dependent]) == rank
    U = np.linalg.svd(A)[0][:, :rank]
    apart = off - U @ (U.T @ off)
    assert found.reachable == pytest.approx(np.linalg.norm(U.T @ off), abs=1e-12)
    assert found.residual == pytest.approx(np.abs(off).max(), abs=1e-12)
    assert found.is_closed == (np.abs(off).max() < 1e-6)
    assert found.inconsistent == pytest.approx({f"row{i}": abs(x) for i, x in enumerate(apart) if abs(x) > 1e-12})
    assert list(found.inconsistent.values()) == sorted(found.inconsistent.values(), reverse=True)
    np.testing.assert_allclose(found.singular_values, np.linalg.svd(A, compute_uv=False), atol=1e-12)
    if not chosen.any():
        assert (found.held_mobility, found.driven, found.blocked, found.undetermined) == (None, (), 0, ())
        assert not found.is_determined
        return
    others = A[:, ~chosen]
    left = int(np.linalg.matrix_rank(others)) if others.size else 0
    assert found.driven == tuple(names[chosen])
    assert found.held_mobility == others.shape[1] - left
    assert found.is_determined == (others.shape[1] == left)
    assert found.blocked == rank - left
    null = np.linalg.svd(others)[2][left:]
    assert found.undetermined == tuple(names[~chosen][np.abs(null).max(axis=0, initial=0.0) > 1e-6])
    assert found.held_singular_values is not None
    np.testing.assert_allclose(found.held_singular_values, np.linalg.svd(others, compute_uv=False), atol=1e-12)


def test_mobility_in_words() -> None:
    common: dict[str, Any] = {
        "rows": 6, "rank": 5, "mobility": 2, "redundant": ("row 0 of 'a'", "row 2 of 'b'"),
        "inconsistent": {"a": 0.25, "b": 0.001}, "independent": ("x", "y"), "dependent": ("z",), "residual": 0.5,
        "reachable": 0.1, "is_closed": False, "singular_values": np.ones(5), "tolerance": 1e-6,
    }  # fmt: skip
    assert Mobility(**common).describe().splitlines() == [
        "rows 6, rank 5 (tolerance 1e-06), mobility 2",
        "  computed at an open configuration (residual 0.5): assemble it first",
        "  redundant: row 0 of 'a', row 2 of 'b'", "  'a': inconsistent by 0.25", "  'b': inconsistent by 0.001",
        "  independent: x, y",
    ]  # fmt: skip
    held = Mobility(**{**common, "is_closed": True, "redundant": (), "inconsistent": {}, "independent": ()},
                    driven=("x",), held_mobility=1, undetermined=("y",))  # fmt: skip
    lines = held.describe().splitlines()
    assert lines[1:] == ["  independent: none", "  with x held: mobility 1",
                         "    may move: y (a dead centre, or too few are driven)"]  # fmt: skip
    assert (held.is_determined, held.inconsistency) == (False, 0.0)
    assert Mobility(**common).inconsistency == 0.25
    assert not Mobility(**common).is_determined
    dead = Mobility(**common, driven=("x",), held_mobility=0, blocked=1, undetermined=("y",))
    assert dead.is_determined
    assert dead.describe().splitlines()[-3:] == ["  with x held: mobility 0",
                                                 "    may move: y (a dead centre, or a part that moves alone)",
                                                 "    blocked directions of the driven joints: 1"]  # fmt: skip


def test_names_of_rows_and_coordinates() -> None:
    hand = Implicit.zero(Position(arm(), "tool"), mask=[True, False, True], name="hand")
    more = Implicit.zero(Affine(np.eye(1, arm().nv), [0.0], arm().space), name="more")
    assert row_names(Stack([hand, more])) == ("row 0 of 'hand'", "row 2 of 'hand'", "row 0 of 'more'")
    robot = mixed_tree()
    names = robot.coordinate_names
    assert len(names) == robot.nv
    for factor in robot.space.factors:
        mine = names[factor.v.start : factor.v.stop]
        assert mine == ((factor.name,) if len(mine) == 1 else tuple(f"{factor.name}[{i}]" for i in range(len(mine))))
