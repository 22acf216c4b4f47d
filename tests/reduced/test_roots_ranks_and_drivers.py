"""Parts of reduced mechanisms each for itself: extrapolation, roots, ranks, drivers, names, what is kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Implicit, Robot, Target
from constraints.errors import OptionError, SizeError, UnknownNameError
from constraints.functions import Affine
from constraints.loops import ConstraintSet, OpenMechanismError, PointClosure
from constraints.models import mechanisms
from constraints.reduced import EquilibriumKind, minimal_coordinates, sweep
from constraints.reduced.chart import Chart
from constraints.reduced.coordinates import part_of
from constraints.reduced.equilibria.balance import ForceBalance
from constraints.reduced.equilibria.extrapolation import Extrapolation
from constraints.reduced.equilibria.kept_motion import KeptMotion, kept_sides
from constraints.reduced.equilibria.modes import Mode
from constraints.reduced.equilibria.vibration import Vibration, roots
from constraints.reduced.state import RankError, _check_rank, check_driven
from constraints.reduced.sweeps.driver import Driver
from constraints.reduced.sweeps.singularities import Singularity, SingularityKind
from constraints.reduced.sweeps.sweep_result import least_values, passive_columns
from constraints.reduced.sweeps.travel import SweepStatus
from liegroups import SE3, SO2, SO3, Rn
from liegroups.layout import Factor

# Extrapolation.


def test_an_extrapolation_ends_where_all_entries_get_worse() -> None:
    """From the third value on, where the last column moves by more than twice the error, and rounding."""
    for jump, noise, ends in ((1.0, 0.0, True), (1.4e-2, 1e-2, False), (2.2e-2, 1e-2, True), (0.0, 0.0, False)):
        found = Extrapolation(2)
        assert not found.add(np.zeros(2), noise)
        assert not found.add(np.zeros(2), noise)
        np.testing.assert_array_equal(found.error, noise)
        assert found.add(np.full(2, jump), noise) == ends
        np.testing.assert_array_equal(found.best, 0.0)
    mixed = Extrapolation(2)
    for value in (np.zeros(2), np.zeros(2)):
        assert not mixed.add(value, 0.0)
    assert not mixed.add(np.array([1.0, 0.0]), 0.0)  # one entry is still as good
    early = Extrapolation(2)
    early.add(np.array([0.0]), 0.0)
    assert not early.add(np.array([100.0]), 0.0)


# Roots.


def plain(M: Any, C: Any, S: Any) -> Vibration:
    M, C, S = (np.atleast_2d(np.array(each, dtype=float)) for each in (M, C, S))
    return Vibration(M, C, S, *(1e-14 * np.abs(each) for each in (M, C, S)))


def test_roots_of_two_masses_and_their_shapes() -> None:
    """Two masses between three springs: together, and against each other."""
    found = roots(plain(3.0 * np.eye(2), np.zeros((2, 2)), [[24.0, -12.0], [-12.0, 24.0]]))
    np.testing.assert_allclose([root.value for root in found], [2j, 1j * np.sqrt(12.0)], atol=1e-9)
    for root, other in zip(found, (1.0, -1.0), strict=True):
        assert root.shape[1] / root.shape[0] == pytest.approx(other)
    damped = roots(plain(np.eye(2), np.diag([2.0, 0.0]), np.diag([5.0, 9.0])))
    np.testing.assert_allclose([root.value for root in damped], [-1 + 2j, 3j], atol=1e-9)
    loose = roots(plain(np.eye(2), np.zeros((2, 2)), [[4.0, -4.0], [-4.0, 4.0]]))
    np.testing.assert_allclose([root.value for root in loose], [0.0, 1j * np.sqrt(8.0)], atol=1e-6)
    lost = roots(plain(np.eye(2), np.zeros((2, 2)), [[0.0, 2.0], [-2.0, 0.0]]))  # circulatory: flutter
    np.testing.assert_allclose(sorted(abs(root.value) for root in lost), [np.sqrt(2.0)] * 2, atol=1e-9)
    assert all(root.value.imag > 0.0 for root in lost)
    assert sorted(np.sign(root.value.real) for root in lost) == [-1.0, 1.0]
    assert roots(plain(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0)))) == []


@pytest.mark.parametrize("c", [0.0, 1.0, 20.0])
def test_errors_of_matrices_are_bounds_of_errors_of_roots(c: float) -> None:
    """Of m s^2 + c s + k, by its slope 2 m s + c at a root: the change to first order at least; a few times it at most,
    with m s^2 by the others. Without damping, of a pair, and where both roots are real."""
    for dm, dc, dk in ((0.0, 0.0, 1e-4), (0.0, 1e-4, 1e-8), (1e-4, 0.0, 0.0), (1e-4, 1e-4, 1e-4)):
        given = Vibration(*(np.array([[x]]) for x in (2.0, c, 8.0, 2.0 * dm, c * dc, 8.0 * dk)))
        found = roots(given)
        assert len(found) == (2 if c > 8.0 else 1)
        for root in found:
            s = abs(root.value)
            slope, others = abs(4.0 * root.value + c), s * c * dc + 8.0 * dk
            least, most = (2.0 * s**2 * dm + others) / slope, ((s * c + 8.0) * dm + others) / slope
            assert least <= root.error <= 4.0 * most + 1e-12


@pytest.mark.parametrize("dk", [0.0, 1e-8, 1e-4])
def test_a_double_root_moves_by_the_square_root(dk: float) -> None:
    """2 s^2 + 8 s + 8 (1 +- dk) has -2 +- 2 sqrt(-+dk); of rounding alone too."""
    found = roots(Vibration(*(np.array([[x]]) for x in (2.0, 8.0, 8.0, 0.0, 0.0, 8.0 * dk))))
    for root in found:
        assert max(2.0 * np.sqrt(dk), abs(root.value + 2.0)) <= root.error <= 16.0 * np.sqrt(dk) + 1e-6
    assert found


# Ranks.


def test_rows_that_are_not_redundant_here_are_named() -> None:
    """By 1e-5 of the largest entries: those alone that are off by more."""
    parts = SimpleNamespace(redundant=np.array([1, 2]), dependent=np.array([0]))
    rows = SimpleNamespace(row_name=lambda i: f"row{i}")
    coordinates: Any = SimpleNamespace(partition=parts, held=np.array([1]), constraint_set=rows)
    B = np.array([[3.0]])
    for off, named in (((0.0, 7.9e-5), ()), ((8.1e-5, 7.9e-5), ("row1",)), ((0.0, -8.1e-5), ("row2",)),
                       ((1e-3, 1e-3), ("row1", "row2"))):  # fmt: skip
        J = np.array([[2.0, -6.0 / 3.0], [0.5, -1.5 + off[0]], [0.1, -0.3 + off[1]]])
        if not named:
            _check_rank(coordinates, J, B)
            continue
        with pytest.raises(RankError) as caught:
            _check_rank(coordinates, J, B)
        assert caught.value.rows == named
    parts.redundant = np.zeros(0, dtype=int)
    _check_rank(coordinates, np.ones((3, 2)), B)


# Numbers by name.


def ball_and_pin() -> Robot:
    model: Any = pin.Model()
    ball = model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    model.addJoint(ball, pin.JointModelRX(), pin.SE3.Identity(), "pin")
    model.addJoint(ball, pin.JointModelRY(), pin.SE3.Identity(), "other")
    return Robot(model, "ball and pin")


def test_numbers_of_some_coordinates_by_joint() -> None:
    """Zeros may stand for parts of a joint that are not among them; a joint without any is refused, also with zero."""
    robot, columns = ball_and_pin(), np.array([3, 0, 2])

    def part(given: Any) -> list[float]:
        return part_of(robot, columns, given, "v", "independent coordinate").tolist()

    assert part([1.0, 2.0, 3.0]) == [1.0, 2.0, 3.0]
    assert part({"pin": 0.5, "ball": [1.0, 0.0, 3.0]}) == [0.5, 1.0, 3.0]
    assert part({"ball": [0.0, 0.0, 3.0]}) == [0.0, 0.0, 3.0]
    assert part({}) == [0.0, 0.0, 0.0]
    for wrong, named in (
        ({"ball": [1.0, 2.0, 0.0]}, r"ball\[1\]"),
        ({"other": 1.0}, "other"),
        ({"other": 0.0}, "other"),
    ):
        with pytest.raises(UnknownNameError, match=f"independent coordinate.*{named}"):
            part(wrong)
    with pytest.raises(SizeError):
        part([1.0, 2.0])


def test_values_of_drivers() -> None:
    """Numbers in q, angles kept as (cos, sin), and motions from the start that no entry of q is."""
    q = np.array([0.1, 0.2, 0.3, np.cos(2.5), np.sin(2.5), 0.0, 0.0, 0.0, 1.0])
    number = Driver("x", 1, Factor(Rn(3), slice(0, 3), slice(0, 3), "R3"))
    later = Driver("y", 5, Factor(Rn(3), slice(0, 3), slice(4, 7), "R3"))
    circle = Driver("c", 3, Factor(SO2, slice(3, 5), slice(3, 4), "c"))
    ball = Driver("b[1]", 5, Factor(SO3, slice(5, 9), slice(4, 7), "b"))
    assert [each.is_number for each in (number, later, circle, ball)] == [True, True, False, False]
    assert [each.is_circle for each in (number, circle, ball)] == [False, True, False]
    assert (number.entry, later.entry) == (1, 1)
    assert (number.value_in(q), ball.value_in(q)) == (0.2, 0.0)
    assert circle.value_in(q) == pytest.approx(2.5)
    for driver, place, expected in (
        (number, 1, 7.0),
        (later, 1, 7.0),
        (circle, slice(3, 5), [np.cos(7.0), np.sin(7.0)]),
    ):
        moved = q.copy()
        driver.set_in(moved, 7.0)
        np.testing.assert_allclose(moved[place], expected)
        assert (np.delete(moved, place) == np.delete(q, place)).all()
    ball.set_in(same := q.copy(), 7.0)
    np.testing.assert_array_equal(same, q)


def test_charts_hold_what_is_not_dependent() -> None:
    """Of joints that are split the held parts of the logarithm stay zero; others do not move by a bit."""
    space = SE3 * SO3 * Rn(2)
    dependent = np.array([0, 1, 2, 6, 10])
    chart = Chart(space, dependent)
    assert chart.split == ("SE3", "SO3")
    rng = np.random.default_rng(3)
    start = space.random(rng)
    q = start
    for _ in range(3):
        q = chart.moved(start, q, 0.2 * rng.normal(size=5))
    delta = space.difference(start, q)
    np.testing.assert_allclose(np.delete(delta, dependent), 0.0, atol=1e-13)
    assert (np.abs(delta[dependent]) > 1e-3).all()
    assert q[-2] == start[-2]
    np.testing.assert_array_equal(q[3:7], start[3:7])
    J = rng.normal(size=(4, space.nv))
    h = 1e-6
    columns = chart.columns(start, q, J)
    for i, e in enumerate(np.eye(5)):
        ahead, behind = (chart.moved(start, q, s * h * e) for s in (1, -1))
        along = space.difference(behind, ahead) / (2 * h)
        np.testing.assert_allclose(columns[:, i], J @ along, atol=1e-8)


# Words.


@pytest.mark.parametrize(
    ("sizes", "name"),
    [([1.0, 0.5, 0.49, 0.2], "a, b"), ([0.6, 1.0, 0.7, 0.8], "b, d, c ..."), ([0.1, 0.2, 1.0, 0.0], "c"),
     ([0.5, 0.9, 1.0, 0.1], "c, b, a"), ([1.0, 1.0, 1.0, 1.0], "a, b, c ...")],
)  # fmt: skip
def test_names_of_modes(sizes: list[float], name: str) -> None:
    """Coordinates with half of the largest entry, three of them at most, the largest first."""
    state = SimpleNamespace(coordinates=SimpleNamespace(independent=("a", "b", "c", "d")))
    named: Any = Mode.name
    phases = np.exp(1j * np.arange(4))
    assert named.fget(SimpleNamespace(idle="", independent=sizes * phases, state=state)) == name
    assert (
        named.fget(SimpleNamespace(idle="rod", independent=sizes * phases, state=state))
        == "rod spins about its own axis"
    )


def test_a_singularity_in_words() -> None:
    for kind, said in ((SingularityKind.DEAD_POINT, "dead point at 1.5: a, b may move"),
                       (SingularityKind.BRANCH_POINT, "branch point at 1.5: a, b may move"),
                       (SingularityKind.ACTUATORS, "singular, actuators locked, at 1.5: a, b may move")):  # fmt: skip
        assert str(Singularity(kind, 1.5, np.zeros(1), ("a", "b"), 0.0, 0)) == said
    assert [status for status in SweepStatus if status.is_success] == [SweepStatus.COMPLETED, SweepStatus.TURNED_BACK]


# What is kept, and what is allowed.


def test_what_an_equilibrium_keeps_of_what_is_given() -> None:
    static, quasi, moving = EquilibriumKind.STATIC, EquilibriumKind.QUASI_STATIC, EquilibriumKind.MOVING
    one = np.ones(1)
    some: dict[str, Any]
    for some, kind in (({}, static), ({"v": one}, quasi), ({"acceleration": one}, moving),
                       ({"driven_acceleration": one}, moving), ({"v": one, "acceleration": one}, moving)):  # fmt: skip
        assert KeptMotion(**some).what is kind
        assert KeptMotion(**some, kind=moving).what is moving
    assert KeptMotion(one, kind=quasi).what is quasi
    assert KeptMotion(kind=static).what is static
    for kind, some in ((static, {"v": one}), (static, {"acceleration": one}), (quasi, {"driven_acceleration": one})):
        left = "velocities" if "v" in some else "accelerations"
        with pytest.raises(OptionError, match=f"{kind.name} keeps no {left}"):
            KeptMotion(**some, kind=kind)
    line = mechanisms.four_bar()
    target = Target(lambda t: [t, 0.0, 0.0], lambda t: [1.0, 0.0, 0.0], lambda t: [2.0, 0.0, 0.0])
    rows = ConstraintSet(line.robot, [PointClosure(line.robot, "coupler_end", "rocker_end", target=target)])
    rhs = rows.rhs_at(0.5)
    assert kept_sides(rhs, moving) is rhs
    assert (kept_sides(rhs, quasi).velocity is not None, kept_sides(rhs, quasi).acceleration) == (True, None)
    still = kept_sides(rhs, static)
    assert (still.velocity, still.acceleration) == (None, None)
    for each in (kept_sides(rhs, quasi), still):
        np.testing.assert_array_equal(each.vector, rhs.vector)


@pytest.mark.parametrize(("off", "refused"), [(0.9e-6, False), (1.1e-6, True), (-1.1e-6, True)])
def test_a_drive_is_at_its_place_to_a_millionth(off: float, refused: bool) -> None:
    line = mechanisms.four_bar()
    q = line.posture("closed")
    driven = Target(lambda t: [q[0] + off * t], lambda t: [off], lambda t: [0.0])
    coordinates = minimal_coordinates(line.constraint_set(), q, driven={"crank": driven})
    check_driven(coordinates, q, None, 0.0, "")
    if not refused:
        check_driven(coordinates, q, None, 1.0, "")
        return
    with pytest.raises(
        OpenMechanismError, match=r"'crank' is off by 1\.1e-06 in the place that its motion has at t = 1"
    ):
        check_driven(coordinates, q, None, 1.0, "")


def test_extra_equations_are_allowed_what_their_unknowns_change_them_by() -> None:
    """A part of their slopes by coordinates, and by scalars times one more than their size."""
    none = SimpleNamespace(sizes=lambda *_: (np.ones(1), np.zeros(1)))
    point: Any = SimpleNamespace(given=none, state=None, residual=SimpleNamespace(acceleration=None),
                                 scalars=np.array([-3.0]))  # fmt: skip
    balance: Any = SimpleNamespace(balanced=np.array([0]), moving=np.array([0]))
    D = np.array([[1.0, 0.0], [0.5, -2.0]])
    assert ForceBalance.allowed(balance, point, D, 1e-3)[1] == pytest.approx(1e-3 * (0.5 + 2.0 * 4.0))


# Loops of transmission angles, and what actuators hold.


def two_four_bars(*, coupled: bool = False) -> tuple[ConstraintSet, np.ndarray]:
    """Two four-bars beside each other in one robot; coupled: their cranks turn together."""
    model: Any = pin.Model()
    for side in "lr":
        crank = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), f"{side} crank")
        at = pin.SE3(np.eye(3), np.array([0.2, 0.0, 0.0]))
        coupler = model.addJoint(crank, pin.JointModelRZ(), at, f"{side} coupler")
        rocker = model.addJoint(0, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.4, 0.0, 0.0])), f"{side} rocker")
        for joint, length in ((coupler, 0.4), (rocker, 0.2)):
            end = pin.SE3(np.eye(3), np.array([length, 0.0, 0.0]))
            model.addFrame(pin.Frame(f"{model.names[joint]} end", joint, 0, end, pin.FrameType.OP_FRAME))
    robot = Robot(model, "two")
    owners: list[Any] = [
        PointClosure(robot, f"{side} coupler end", f"{side} rocker end", name=f"{side} loop") for side in "lr"
    ]
    if coupled:
        row = np.zeros((1, 6))
        row[0, [robot.velocity_slice_of(f"{side} crank").start for side in "lr"]] = 1.0, -1.0
        owners.append(Implicit.zero(Affine(row, [0.0], robot.space), name="together"))
    q = robot.configuration(
        {f"{s} {link}": x for s in "lr" for link, x in (("crank", 1.0), ("coupler", -1.0), ("rocker", 1.0))}
    )
    return ConstraintSet(robot, owners), q


def test_transmission_angles_are_of_loops_that_the_driver_is_in() -> None:
    """A loop beside, which follows by a coupler, has none; nor has one of five pivots."""
    rows, q = two_four_bars(coupled=True)
    for driver, loop in (("l crank", "l loop"), ("r coupler", "r loop"), ("r rocker", "r loop")):
        start = q[rows.robot.slice_of(driver)][0]
        found = sweep(rows, q, driver, [start, start + 0.1]).or_raise()
        assert found.transmission_loops == (loop,)
    five = mechanisms.five_bar()
    at = five.posture("closed")
    robot = five.robot
    row = np.zeros((1, robot.nv))
    row[0, [robot.velocity_slice_of(name).start for name in ("left_inner", "right_inner")]] = 1.0, 1.0
    couple = Implicit.equal(Affine(row, [0.0], robot.space), Affine(row, [0.0], robot.space).value(at), name="couple")
    whole = ConstraintSet(robot, [*five.closures, couple])
    start = float(at[robot.slice_of("left_inner")][0])
    found = sweep(whole, at, "left_inner", [start, start + 0.01]).or_raise()
    assert found.held == ()
    assert found.transmission_loops == ()
    with pytest.raises(OptionError, match="is not in a planar loop of four pivots"):
        found.transmission_angles()


def test_what_is_left_where_others_are_locked() -> None:
    rows, q = two_four_bars()
    coordinates = minimal_coordinates(rows, q, independent=["l crank", "r crank"])
    robot = rows.robot
    columns = passive_columns(coordinates, ["l crank", "r rocker"])
    locked = [robot.velocity_slice_of(name).start for name in ("l crank", "r rocker")]
    assert columns.tolist() == [i for i in range(6) if i not in locked]
    J = rows.jacobian(q)
    expected = np.linalg.svd(J[:, columns], compute_uv=False)[coordinates.partition.rank - 1]
    found = least_values(coordinates, columns, coordinates.rhs_at(0.0), np.array([q, q]))
    np.testing.assert_allclose(found, expected)
    assert expected > 1e-3
    for wrong in (["l crank"], ["l crank", "r crank", "r rocker"]):
        with pytest.raises(SizeError, match="2, the mobility"):
            passive_columns(coordinates, wrong)
