"""Curves of closed configurations in the plane, where all is known: steps, dead points, crossings, sweeps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Affine, Bounds, Function, Implicit, Robot
from constraints.errors import OptionError
from constraints.loops import ConstraintSet, assemble_position
from constraints.models import mechanisms
from constraints.reduced import OpenMechanismError, SweepOptions, minimal_coordinates, sweep
from constraints.reduced.sweeps.continuation import Curve, CurvePlace
from constraints.reduced.sweeps.driver import driver_of
from constraints.reduced.sweeps.singularities import (
    Jumped,
    SingularityKind,
    _keeps_rank,
    _lowest,
    _root,
    branch_point,
    dead_point,
    is_actuator_point,
    singularity,
)
from constraints.reduced.sweeps.sweep_result import Sweep
from constraints.reduced.sweeps.travel import SweepStatus
from liegroups import Rn


def in_the_plane(f: Any, gradient: Any, q: list[float], size: float = 1.0) -> tuple[ConstraintSet, np.ndarray]:
    """Slides x and y on a curve f(x, y) = 0; a third one, where q has it, stays at zero; rows of any size."""
    model: Any = pin.Model()
    joint, owners = 0, list[Any]()
    for name, kind in zip("xyz"[: len(q)], (pin.JointModelPX(), pin.JointModelPY(), pin.JointModelPZ()), strict=False):
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), name)
    robot = Robot(model, "plane").without_bounds()
    row = Function.from_callable(
        lambda p: [size * f(*p[:2])],
        robot.space,
        Rn(1),
        lambda p: size * np.array([[*gradient(*p[:2]), 0.0][: len(q)]]),
        name="curve",
    )
    owners.append(Implicit.zero(row, name="curve"))
    if len(q) == 3:
        owners.append(Implicit.zero(Affine([[0.0, 0.0, size]], None, robot.space), name="flat"))
    return ConstraintSet(robot, owners), np.array(q)


def circle(q: list[float]) -> tuple[ConstraintSet, np.ndarray]:
    return in_the_plane(lambda x, y: x * x + y * y - 1.0, lambda x, y: [2.0 * x, 2.0 * y], q)


def eight(q: list[float], size: float = 1.0) -> tuple[ConstraintSet, np.ndarray]:
    """y^2 = x^2 (1 - x^2): ways that cross at the origin."""
    return in_the_plane(lambda x, y: y * y - x * x + x**4, lambda x, y: [-2.0 * x + 4.0 * x**3, 2.0 * y], q, size)


def curve_of(rows: ConstraintSet, q: np.ndarray) -> tuple[Curve, CurvePlace]:
    coordinates = minimal_coordinates(rows, q, independent=["x"])
    curve = Curve(coordinates, driver_of(coordinates), coordinates.rhs_at(0.0), 1e-12)
    return curve, curve.started(q, 1.0)


def guess_of(curve: Curve, a: CurvePlace, before: CurvePlace | None) -> np.ndarray:
    """Where a step of 0.1 begins to be corrected."""
    guesses, usual = list[np.ndarray](), curve.corrected

    def kept(q: np.ndarray, value: float, held: bool) -> Any:
        guesses.append(q)
        return usual(q, value, held)

    vars(curve)["corrected"] = kept
    curve.step(a, 0.1, before)
    del vars(curve)["corrected"]
    return guesses[0]


def test_steps_along_a_circle() -> None:
    """A tangent of norm 1 towards larger x; steps that turn by a quarter of a radian at most, back at right angles."""
    for y in (0.8, -0.8):
        curve, a = curve_of(*circle([0.6, y]))
        np.testing.assert_allclose(a.tangent, np.array([y, -0.6]) * np.sign(y), atol=1e-12)
        assert (curve.rank, curve.columns.tolist(), a.value, a.sign) == (1, [0, 1], 0.6, 1.0)
        assert a.least == pytest.approx(2.0)
        for length in (1e-3, 0.1, 0.24):
            b = curve.step(a, length)
            assert b is not None
            assert b.q @ b.q == pytest.approx(1.0, abs=1e-11)
            np.testing.assert_allclose(b.q, (a.q + length * a.tangent) / np.hypot(1.0, length), atol=length**3)
            assert (b.value, b.parity) == (b.q[0], a.parity)
            assert b.tangent @ a.tangent == pytest.approx(np.cos(np.arctan(length)), abs=1e-9)
        assert curve.step(a, 0.27) is None
        assert curve.step_to(a, 0.6) is a
        to = curve.step_to(a, 0.63)
        assert to is not None
        assert to.q[0] == to.value == 0.63
        assert to.q[1] == pytest.approx(np.sign(y) * np.sqrt(1.0 - 0.63**2), abs=1e-12)
        back = a.reversed
        np.testing.assert_array_equal(back.tangent, -a.tangent)
        assert (back.sign, back.parity, back.reversed.parity) == (a.sign, -a.parity, a.parity)
        first = curve.step(a, 0.1)
        assert first is not None
        second = curve.step(first, 0.1, a)  # by the second order
        assert second is not None
        for before, size in ((None, 5e-3), (a, 0.0)):  # off the circle by h^2 / 2, and by h^3 at most
            assert np.hypot(*guess_of(curve, first, before)) - 1.0 == pytest.approx(size, abs=1e-3)
        middle = curve.between(a, second, 0.5)
        assert middle is not None
        assert middle.q @ middle.q == pytest.approx(1.0, abs=1e-11)
        angles = [np.arctan2(*place.q) for place in (a, middle, second)]
        assert angles[1] == pytest.approx(0.5 * (angles[0] + angles[2]), abs=1e-4)
        for x, end in ((0.0, a), (1.0, second)):
            there = curve.between(a, second, x)
            assert there is not None
            np.testing.assert_allclose(there.q, end.q, atol=1e-12)
        assert curve.crossing(a, second, a.J) == pytest.approx(1.0)
        assert curve.crossing(a, second, second.J) > 0.9
        assert branch_point(curve, a, second) is None
        assert dead_point(curve, a, second) is None


def test_a_dead_point_of_a_circle() -> None:
    """Where x turns, at one; the others may move there, and the driver stands."""
    curve, a = curve_of(*circle([np.cos(0.1), np.sin(0.1)]))
    b = curve.step(a, 0.2)
    assert b is not None
    assert b.q[1] < 0.0
    still = dead_point(curve, a, b)
    assert still is not None
    np.testing.assert_allclose(still.q, [1.0, 0.0], atol=1e-9)
    assert still.value == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(np.abs(still.tangent), [0.0, 1.0])
    assert still.sign == 0.0
    found = singularity(curve, SingularityKind.DEAD_POINT, still, 3, curve.columns[1:])
    assert (found.joints, found.before) == (("y",), 3)
    assert found.least < 1e-8


def test_where_ways_cross() -> None:
    """Looked into in steps of two thousandths; a longer step over it is not trusted, nor one to the other way."""

    def on(x: float, sign: float) -> np.ndarray:
        return np.array([x, sign * abs(x) * np.sqrt(1.0 - x * x), 0.0])

    for x, is_found, size in ((0.9e-3, False, 1.0), (0.6e-3, True, 1.0), (0.6e-3, True, 1e-3), (0.6e-3, True, 1e4)):
        curve, a = curve_of(*eight(on(-x, 1.0).tolist(), size))
        found: dict[str, Any] = {}
        for name, q in (("over", on(x, -1.0)), ("beside", on(-x, -1.0)), ("along", on(-0.8 * x, 1.0))):
            corrected = curve.corrected(q, q[0], True)
            assert corrected is not None
            found[name] = branch_point(curve, a, curve.at(corrected, a.tangent, a.parity))
        assert isinstance(found["over"], CurvePlace if is_found else Jumped)
        assert found["along"] is None
        assert not isinstance(found["beside"], CurvePlace)
        over: Any = found["over"]
        assert not is_found or np.abs(over.q).max() < 1e-6


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_when_ways_that_nearly_cross_do(size: float) -> None:
    """On a short step along which one entry changes its sign: a crossing where the least singular value comes down to a
    millionth of the largest one; a step above two thousandths is not looked into."""

    def place(x: float, least: float) -> Any:
        J = size * np.array([[2.0, 0.0, 0.0], [0.0, 1e-3 * (0.3 - x), 0.0]])
        return SimpleNamespace(J=J, least=size * (1e-3 * abs(0.3 - x) + least), q=x)

    for least, length, said in ((1.9e-6, 1e-3, "place"), (2.1e-6, 1e-3, None), (0.0, 1.9e-3, "place"),
                                (0.0, 2.1e-3, "jumped")):  # fmt: skip
        curve: Any = SimpleNamespace(
            rank=2,
            crossing=lambda a, b, J: 1.0,
            between_of=lambda a, b, length=length: np.array([0.0, length]),
            between=lambda a, b, x, least=least: place(x, least),
        )
        found: Any = branch_point(curve, place(0.0, least), place(1.0, least))
        if said == "place":
            assert found.q == pytest.approx(0.3, abs=1e-6)
        else:
            assert isinstance(found, Jumped) if said else found is None


def test_sweeps_around_a_circle() -> None:
    """To the dead point at one; back on the other side; bounds, limits and signs by closed forms."""
    rows, q = circle([0.6, 0.8])
    values = np.array([0.7, 0.9, 1.0 - 1e-6, 1.2])
    end = sweep(rows, q, "x", values)
    assert end.status is SweepStatus.DEAD_POINT
    assert (len(end.values), end.indices.tolist(), end.success) == (3, [0, 1, 2], False)
    np.testing.assert_allclose(end.qs[:, 1], np.sqrt(1.0 - values[:3] ** 2), atol=1e-9)
    np.testing.assert_array_equal(end.qs[:, 0], values[:3])
    np.testing.assert_allclose(end.least_singular_values, 2.0 * end.qs[:, 1], atol=1e-9)
    np.testing.assert_allclose(end.end, [1.0, 0.0], atol=1e-9)
    assert end.end_value == pytest.approx(1.0, abs=1e-9)
    assert [each.kind for each in end.singularities] == [SingularityKind.DEAD_POINT]
    assert end.singularities[0].before == 3
    for wrong in ([0.7, 0.7, 0.9], [0.9, 0.7, 0.7], [0.7, 0.9, 0.8], [0.7, 0.7]):
        with pytest.raises(OptionError, match="rise, or fall, throughout"):
            sweep(rows, q, "x", wrong, options=SweepOptions(turn_back=True))
    turned = sweep(rows, q, "x", values, options=SweepOptions(turn_back=True))
    assert turned.status is SweepStatus.TURNED_BACK
    assert turned.indices.tolist() == [0, 1, 2, 2, 1, 0]
    np.testing.assert_allclose(turned.qs[3:, 1], -np.sqrt(1.0 - values[2::-1] ** 2), atol=1e-9)
    assert (turned.signs[:3] == -turned.signs[3]).all()
    assert (turned.signs[3:] == turned.signs[3]).all()
    assert turned.success
    low = Bounds(rows.robot.space, np.array([-9.0, 0.5]), np.array([9.0, 9.0]))
    bounded = sweep(rows, q, "x", [0.7, 0.95], options=SweepOptions(bounds=low))
    assert bounded.status is SweepStatus.OUT_OF_BOUNDS
    np.testing.assert_allclose(bounded.end, [np.sqrt(0.75), 0.5], atol=2e-9)
    assert bounded.at_bounds == ("y",)
    assert "at the bounds of y" in bounded.describe()
    assert low.contains(bounded.end, 1e-8)
    assert bounded.indices.tolist() == [0]
    assert sweep(rows, q, "x", [0.7, 0.8], options=SweepOptions(bounds=low)).at_bounds == ()
    short = sweep(rows, q, "x", [-0.9], options=SweepOptions(step=0.01, max_steps=20))
    assert (short.status, short.steps) == (SweepStatus.MAX_STEPS, 20)
    way = np.arctan2(*short.end) - np.arctan2(*q)
    assert abs(way) == pytest.approx(0.0025 + 0.005 + 18 * 0.01, rel=0.01)
    whole = sweep(rows, q, "x", [-0.9, 0.9, 0.6]).or_raise()
    assert (whole.status, whole.singularities) == (SweepStatus.COMPLETED, ())
    np.testing.assert_allclose(whole.end, q, atol=1e-11)
    outside = sweep(
        rows,
        q,
        "x",
        [0.7],
        options=SweepOptions(bounds=Bounds(rows.robot.space, np.array([-9.0, 0.9]), np.array([9.0, 9.0]))),
    )
    assert (outside.status, outside.steps) == (SweepStatus.OUT_OF_BOUNDS, 0)


def test_a_sweep_over_a_crossing() -> None:
    rows, q = eight([-0.3, 0.3 * np.sqrt(0.91), 0.0])
    stopped = sweep(rows, q, "x", [-0.1, 0.2])
    assert stopped.status is SweepStatus.BRANCH_POINT
    assert np.abs(stopped.end).max() < 1e-5
    assert stopped.indices.tolist() == [0]
    assert "`cross=True` goes on there, smoothly" in stopped.describe()
    assert repr(stopped) == "Sweep('x', BRANCH_POINT, 1 value, 1 singular point)"
    over = sweep(rows, q, "x", [-0.1, 0.2], options=SweepOptions(cross=True))
    assert "cross=True" not in over.describe()
    worst = int(np.argmin(over.least_singular_values))
    least = f"least singular value of J_v: {over.least_singular_values[worst]:.3g}, at {over.values[worst]:.6g}"
    assert least in over.describe()
    assert over.status is SweepStatus.COMPLETED
    np.testing.assert_allclose(over.end, [0.2, -0.2 * np.sqrt(0.96), 0.0], atol=1e-9)
    assert over.singularities[0].joints == ("y",)
    assert [each.kind for each in over.singularities] == [SingularityKind.BRANCH_POINT]
    assert over.signs[0] == -over.signs[1]


def test_actuators_that_never_hold_a_coordinate_are_said_once() -> None:
    """No row reads z, which no actuator moves: singular all along, noted at the start, and the sweep goes on."""
    rows, q = in_the_plane(lambda x, y: x - 2.0 * y, lambda x, y: [1.0, -2.0], [0.0, 0.0, 0.0])
    alone = ConstraintSet(rows.robot, [rows["curve"]])
    found = sweep(alone, q, "x", [0.2, 0.4], independent=["z"], actuated=["x", "y"]).or_raise()
    np.testing.assert_allclose(found.qs, [[0.2, 0.1, 0.0], [0.4, 0.2, 0.0]], atol=1e-12)
    (only,) = found.singularities
    assert (only.kind, only.joints, only.value, only.before) == (SingularityKind.ACTUATORS, ("z",), 0.0, 0)


def test_an_open_start_is_closed_by_all_joints() -> None:
    """Of least change, the first joint too, as assembly does it with nothing driven."""
    linkage = mechanisms.four_bar()
    start = linkage.posture("closed") + np.array([0.1, 0.05, -0.1])
    found = sweep(linkage.constraint_set(), start, "rocker", [1.2], options=SweepOptions(close=True))
    np.testing.assert_array_equal(found.coordinates.q, assemble_position(linkage.constraint_set(), start).q)
    assert abs(found.coordinates.q[0] - start[0]) > 1e-3
    with pytest.raises(OpenMechanismError, match=r"OPEN.*close=True"):
        sweep(linkage.constraint_set(), start, "rocker", [1.2])


def test_when_actuators_count_as_singular() -> None:
    """From a millionth of the largest singular value down, of columns of any size."""
    place: Any = SimpleNamespace(q=np.zeros(3))
    for scale in (1e-3, 1.0, 1e3):
        for part, is_singular in ((0.9e-6, True), (1.1e-6, False)):
            J = scale * np.array([[1.0, 7.0, 0.0], [0.0, 9.0, part]])
            curve: Any = SimpleNamespace(rank=2, jacobian=lambda q, J=J: J)
            assert is_actuator_point(curve, np.array([0, 2]), place) == is_singular


def test_when_a_rank_is_kept_on_a_short_way() -> None:
    """Cut into eight parts: at the end of each the least singular value must be more than it can lose in it."""
    steps = ((1.0, True), (0.5, True), (0.02, True), (0.01, False), (5e-3, False), (0.0, False), (-0.5, False))
    for scale in (1e-3, 1.0, 1e3):
        for end, is_kept in (*steps, (-1.0, False)):
            for first, last in ((1.0, end), (end, 1.0)):
                J_a, J_b = (scale * np.array([[2.0, 0.0, 0.0], [0.0, x, 0.0]]) for x in (first, last))
                assert _keeps_rank(J_a, J_b, 2) == is_kept
                assert _keeps_rank(J_a, J_b, 1)
    assert _keeps_rank(np.zeros((2, 1)), np.ones((2, 1)), 0)
    still = np.diag([1.0, 0.0])
    assert _keeps_rank(still, still, 1)
    assert not _keeps_rank(still, still, 2)


def test_a_place_on_a_way_where_a_number_vanishes() -> None:
    """By its sign alone; where there is no place beside the root, the nearest one on the side of the farther end."""

    def nearest(root: float, gap: float) -> float:
        def between(a: Any, b: Any, x: float) -> Any:
            assert 0.0 < x < 1.0  # the ends are known
            return None if abs(x - root) < gap else SimpleNamespace(value=float(x))

        curve: Any = SimpleNamespace(between=between)
        a, b = (SimpleNamespace(value=x) for x in (0.0, 1.0))
        found: Any = _root(curve, a, b, lambda place: place.value - root, -root, 1.0 - root)  # type: ignore[arg-type]
        return found.value

    def lowest(least: float) -> float:
        curve: Any = SimpleNamespace(between=lambda a, b, x: SimpleNamespace(value=float(x)))
        a, b = (SimpleNamespace(value=x) for x in (0.0, 1.0))
        found: Any = _lowest(curve, a, b, lambda place: abs(place.value - least))  # type: ignore[arg-type]
        return found.value

    assert (lowest(0.0), lowest(1.0)) == (0.0, 1.0)
    assert lowest(0.3) == pytest.approx(0.3, abs=1e-6)
    for root in (0.3, 0.7):
        assert nearest(root, 0.0) == pytest.approx(root, abs=1e-13)
    assert nearest(0.3, 0.01) == pytest.approx(0.31, abs=1e-9)
    assert nearest(0.7, 0.01) == pytest.approx(0.69, abs=1e-9)


def test_what_is_held_as_a_rate() -> None:
    """A part of a ball of which another part follows; not one beside which only other joints follow."""
    model: Any = pin.Model()
    joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "x")
    joint = model.addJoint(joint, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    joint = model.addJoint(joint, pin.JointModelPX(), pin.SE3.Identity(), "y")
    robot, asked = Robot(model), Sweep.held_as_rates
    names = ("x", "ball[0]", "ball[1]", "ball[2]", "y")
    for independent, dependent, rates in (
        ((4, 1, 2, 3), (0,), ()), ((0, 1, 2, 3), (4,), ()), ((0, 1, 3), (2, 4), ("ball[0]", "ball[2]")),
        ((0, 4), (1, 2, 3), ()), ((4, 2, 3), (0, 1), ("ball[1]", "ball[2]")),
        ((4, 0, 1, 2), (3,), ("ball[0]", "ball[1]")),
    ):  # fmt: skip
        coordinates = SimpleNamespace(
            partition=SimpleNamespace(independent=np.array(independent), dependent=np.array(dependent)),
            independent=tuple(names[i] for i in independent),
            constraint_set=SimpleNamespace(robot=robot),
        )
        stub: Any = SimpleNamespace(coordinates=coordinates)
        assert asked.fget is not None
        assert asked.fget(stub) == rates


def test_a_crossing_says_nothing_where_its_determinants_are_zero() -> None:
    """From a place to itself the chord has no direction; and no warning, and no NaN, comes of it."""
    curve, a = curve_of(*circle([0.6, 0.8]))
    assert curve.crossing(a, a, a.J) == 0.0
    b = curve.step(a, 0.1)
    assert b is not None
    assert curve.crossing(a, b, b.J) > 0.0
    assert curve.crossing(a, b, -b.J) < 0.0
