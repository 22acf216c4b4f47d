"""Certificates of closed mechanisms: rank and mobility proved where closures have enclosures, the rest by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from crank_chain import BASE, PIVOT, met, postures_at, two_loops
from enclosure_cases import bent, box_of, enclosed, outside_in_digits, sampled, step_in

from constraints import Affine, Bounds, Implicit, Pose, Position, Problem, Robot, Rotation, Transformation
from constraints.certificates import CertificateStatus, all_solutions, certify, refute
from constraints.certificates.boxes.cutting import Boxes
from constraints.certificates.boxes.reading import _asked  # pyright: ignore[reportPrivateUsage]
from constraints.certificates.boxes.searching import Tube
from constraints.certificates.boxes.solutions import Solutions
from constraints.errors import OptionError
from constraints.functions import TangentBox
from constraints.loops import Assembly, Closure, ConstraintSet, Hinge, assemble_position
from constraints.models import Mechanism, mechanisms
from constraints.reduced import Sweep, SweepOptions, sweep


def assembled(name: str) -> Assembly:
    mechanism = getattr(mechanisms, name)()
    robot, rng = mechanism.robot, np.random.default_rng(0)
    while True:
        start = robot.space.integrate(robot.neutral, 0.3 * rng.normal(size=robot.nv))
        found = assemble_position(mechanism.constraint_set(), start)
        if found.success:
            return found


@pytest.mark.parametrize(
    ("name", "mobility"),
    [("stewart_platform", 6), ("slider_crank", 1), ("four_bar", 1), ("five_bar", 2), ("delta_robot", 3)],
)
def test_mobility_is_what_the_rows_leave_where_their_rank_is_proved(name: str, mobility: int) -> None:
    found = assembled(name)
    certificate = found.certify()
    assert certificate.status is CertificateStatus.PROVED, certificate
    assert certificate.check() == []
    assert certificate.mobility == mobility
    assert certificate.r < 1e-3


def test_hinges_whose_coordinates_are_fitted_have_no_enclosure_and_say_so() -> None:
    robot = mechanisms.four_bar().robot
    hinge = Hinge.custom([Hinge.pin([0.0, 0.0, 1.0]), Hinge.slider([1.0, 0.0, 0.0])])
    closure = Closure(robot, "coupler_end", "rocker_end", hinge, name="fitted")
    found = certify(Problem(robot, [closure]), robot.neutral)
    assert found.status is CertificateStatus.NOT_PROVED
    assert "fitted (CustomRows) has no enclosure" in found.reason


def test_rows_that_others_imply_are_left_open_by_name() -> None:
    found = assembled("bennett").certify()
    assert found.status is CertificateStatus.NOT_PROVED
    assert "depends on other rows to first order" in found.reason
    assert len(found.open) == found.rows == 3
    assert found.mobility is None
    assert "mobility not proved" in found.describe()


# Sweeps.


def swept(name: str | Mechanism, driver: str, way: float, steps: int = 40, **options: Any) -> Sweep:
    mechanism = getattr(mechanisms, name)() if isinstance(name, str) else name
    rows, q = mechanism.constraint_set(), mechanism.postures["closed"]
    start = mechanism.robot.joint_names.index(driver)
    values = q[start] + np.linspace(0.0, way, steps)
    return sweep(rows, q, driver, values, options=SweepOptions(**options))


def test_a_crank_that_turns_has_two_branches_all_the_way() -> None:
    found = swept("four_bar", "crank", 2.0 * np.pi).certify()
    assert found.status is CertificateStatus.COMPLETE, found.describe()
    assert len(found.start) == 2
    assert len(found.others) == 1
    assert not found.ends
    for each in (found.along, *found.others):
        assert each.success
        assert each.check() == []
    own, other = found.along, found.others[0]
    assert own.r < 0.05
    assert np.abs(own.stops[0] - other.stops[0]).max() > 0.1  # and the same after a turn: they never meet
    np.testing.assert_allclose(np.sin(own.stops[-1]), np.sin(own.stops[0]), atol=1e-9)


def turned_round(way: float, steps: int, crank: Any = None, beside: Any = None) -> Sweep:
    """Of a four-bar whose crank has no bounds: its angle is kept as cosine and sine; or of another one.

    Args:
        way, steps: of the crank.
        crank: another joint for it.
        beside: a joint that moves nothing of it, and is held.
    """
    model = pin.Model()
    first = model.addJoint(0, crank or pin.JointModelRUBZ(), pin.SE3.Identity(), "crank")
    at = pin.SE3(np.eye(3), np.array([0.15, 0.0, 0.0]))
    model.addJoint(first, pin.JointModelRZ(), at, "coupler")
    model.addJoint(0, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.4, 0.0, 0.0])), "rocker")
    if beside is not None:
        model.addJoint(0, beside, pin.SE3.Identity(), "beside")
    robot = Robot(model, "continuous")
    ends = (pin.SE3(np.eye(3), np.array([length, 0.0, 0.0])) for length in (0.35, 0.3))
    robot = robot.with_frame("tip", "coupler", next(ends)).with_frame("top", "rocker", next(ends))
    rows = ConstraintSet(robot, [Closure(robot, "tip", "top", Hinge.pin(), name="pin")])
    start = [1.0, -0.5, 1.6, *np.full(robot.nv - 3, 0.3)]
    q = assemble_position(rows, robot.space.integrate(robot.neutral, start)).or_raise().q
    start = float(np.arctan2(q[1], q[0])) if crank is None else float(q[0])
    held = [] if beside is None else ["beside"]
    return sweep(rows, q, "crank", start + np.linspace(0.0, way, steps), independent=held)


@pytest.mark.parametrize("is_there", [True, False])
def test_the_own_branch_is_told_by_the_ball_of_a_certificate(monkeypatch: pytest.MonkeyPatch, is_there: bool) -> None:
    """Nearness alone does not tell: with a smaller ball, or without its certificate, it is none of those found."""
    turning = swept("four_bar", "crank", 1.0)

    def changed(*asked: Any) -> Solutions:
        found = all_solutions(*asked)
        assert len(found) == 2
        own, other = sorted(found.certificates, key=lambda each: float(np.abs(each.q - turning.qs[0]).max()))
        return replace(found, certificates=(replace(own, R=1e-14), other) if is_there else (other,))

    monkeypatch.setattr("constraints.certificates.paths.sweeps.all_solutions", changed)
    found = turning.certify()
    assert found.status is CertificateStatus.PROVED
    assert "is that of the sweep is not proved" in found.open
    assert not found.others


def test_a_crank_without_bounds_is_driven() -> None:
    """The target of its row moves on a circle."""
    found = turned_round(2.0, 30).certify()
    assert found.status is CertificateStatus.COMPLETE, found.describe()
    assert len(found.start) == 2


@pytest.mark.parametrize("way", [6.0, 4.0, 2.0 * np.pi, -5.5])
def test_a_crank_without_bounds_goes_the_way_round_that_its_values_go(way: float) -> None:
    """Judged by the angles of the stops, counted on from one to the next."""
    found = turned_round(way, 25).certify(branches=False)
    assert found.success, found.describe()
    angles = np.unwrap(np.arctan2(found.along.stops[:, 1], found.along.stops[:, 0]))
    assert abs(angles[-1] - angles[0] - way) < 1e-9
    assert found.along.curves == 1  # of pieces of a radian
    assert (np.diff(angles) * np.sign(way) > -1e-9).all()
    assert found.along.check() == []
    few = turned_round(way, 2).certify(branches=False)
    assert few.status is CertificateStatus.NOT_PROVED
    assert f"turns by {abs(way):.3g} rad from one value to the next" in few.reason


def test_stops_of_a_proved_sweep_are_at_the_values_of_the_driver() -> None:
    """Judged by two circles: the rocker's end, from crank and lengths."""
    along = swept("four_bar", "crank", 1.0).certify(branches=False).along
    for crank, coupler, rocker in along.stops:
        end = 0.15 * np.array([np.cos(crank), np.sin(crank)])
        end += 0.35 * np.array([np.cos(crank + coupler), np.sin(crank + coupler)])
        np.testing.assert_allclose(end, [0.4 + 0.3 * np.cos(rocker), 0.3 * np.sin(rocker)], atol=1e-9)


def test_dead_points_are_named_as_where_rows_lose_rank() -> None:
    """The rocker stands still where crank and coupler are in line: by the law of cosines."""
    folded = np.pi - np.arccos((0.4**2 + 0.3**2 - 0.2**2) / (2.0 * 0.4 * 0.3))
    rocking = swept("four_bar", "rocker", 2.0)
    found = rocking.certify()
    assert found.success
    assert [abs(each.value - folded) < 1e-6 for each in rocking.singularities] == [True]
    assert len(found.ends) == 1
    assert f"dead point at {folded:.6f}" in found.describe()
    assert "rows lose rank" in found.describe()
    back = swept("four_bar", "rocker", 2.0, turn_back=True).certify()
    assert back.status is CertificateStatus.NOT_PROVED
    assert "another branch" in back.reason


def test_where_branches_cross_the_proof_ends() -> None:
    found = swept(mechanisms.four_bar(0.4, 0.15, 0.4, 0.15), "crank", 3.0, cross=True).certify()
    assert found.status is CertificateStatus.NOT_PROVED
    assert "branch point at 3.14159" in found.reason


def test_what_cannot_be_searched_is_said_and_the_own_branch_is_proved() -> None:
    found = swept("slider_crank", "crank", 1.0).certify()
    assert found.status is CertificateStatus.PROVED
    assert "'slider' has no bounds" in found.open
    with pytest.raises(OptionError, match="two values"):
        swept("slider_crank", "crank", 1.0, steps=1).certify()


# No other branch begins between the values.


def test_boxes_in_a_tube_are_within_its_legs() -> None:
    """Judged by points of boxes, and where the leg is at their value of the driver."""
    rng, seen = np.random.default_rng(0), np.zeros(2, dtype=int)
    for sign in (1.0, -1.0):
        stops = np.cumsum(rng.uniform(0.05, 0.3, (9, 3)) * [0.5, sign, -1.0], axis=0)
        R = rng.uniform(0.1, 0.2, 8)
        tube = Tube.through(np.stack([stops[:-1], stops[1:]], axis=1), 1, R, np.full(8, 1e-10))
        at = rng.integers(8, size=4000)
        center = stops[at] + rng.random((4000, 1)) * (stops[at + 1] - stops[at]) + rng.uniform(-0.1, 0.1, (4000, 3))
        radius = 10.0 ** rng.uniform(-3.0, -0.7, (4000, 1)) * rng.random((4000, 3))
        held = tube.holds(Boxes(center - radius, center + radius))
        points = center[:, None] + radius[:, None] * rng.choice([-1.0, -0.5, 0.5, 1.0], (4000, 30, 3))
        far = np.zeros((4000, 30))
        for a, b, size in zip(stops[:-1], stops[1:], R, strict=True):
            share = (points[..., 1] - a[1]) / (b[1] - a[1])
            way = points - a - share[..., None] * (b - a)
            on = (share >= 0.0) & (share <= 1.0)
            far = np.maximum(far, np.where(on, np.sqrt((way * way).sum(axis=-1)) / size, 0.0))
        t = points[..., 1]
        far = np.where((t < stops[:, 1].min()) | (t > stops[:, 1].max()), np.inf, far)
        assert far[held].max() < 1.0
        seen += [held.sum(), (far.max(axis=1) < 0.9).sum()]
    assert seen[0] > 0.6 * seen[1] > 300


@pytest.mark.parametrize(("beside", "first"), [(pin.JointModelPX(), None), (pin.JointModelRX(), pin.JointModelRZ())])
def test_a_joint_that_no_row_sees_and_that_is_held_is_none_of_the_search(beside: Any, first: Any) -> None:
    found = turned_round(1.0, 20, first, beside).certify()
    assert found.status is CertificateStatus.COMPLETE, found.describe()
    assert len(found.others) == 1


@pytest.mark.parametrize("way", [0.3, -0.5])
def test_a_five_bar_with_one_crank_held_has_two_branches_and_no_other_begins(way: float) -> None:
    linkage = mechanisms.five_bar()
    q = linkage.postures["closed"]
    values = q[0] + np.linspace(0.0, way, 20)
    found = sweep(linkage.constraint_set(), q, "left_inner", values, independent=["right_inner"]).certify()
    assert found.status is CertificateStatus.COMPLETE, found.describe()
    assert len(found.others) == 1


def test_a_branch_that_comes_in_over_a_bound_is_found() -> None:
    """The other posture of the coupler is at -2.95 from the crank at first, at -2.27 at last, by circles."""
    linkage = mechanisms.four_bar()
    own, other = (
        [coupler - crank for coupler, _ in met(0.15 * np.array([np.cos(crank), np.sin(crank)]), BASE, (0.35, 0.3))]
        for crank in (2.0, 1.0)
    )
    assert own[1] < -2.9
    assert other[1] > -2.3
    q = sweep(linkage.constraint_set(), linkage.postures["closed"], "crank", [1.0, 2.0]).qs[-1]
    for least, status in ((-2.0, CertificateStatus.COMPLETE), (-2.5, CertificateStatus.PROVED)):
        bounds = Bounds(linkage.robot.space, np.array([0.0, least, -9.0]), np.array([3.0, 1.0, 9.0]))
        options = SweepOptions(bounds=bounds)
        found = sweep(linkage.constraint_set(), q, "crank", np.linspace(2.0, 1.0, 20), options=options).certify()
        assert found.status is status, found.describe()
        assert len(found.start) == 1
    assert "on none of these branches" in found.open


def test_a_sweep_of_a_slider_says_how_it_takes_the_bounds_of_the_robot() -> None:
    linkage = mechanisms.slider_crank()
    q = linkage.posture("closed")
    found = linkage.sweep(q, "crank", q[0] + np.linspace(0.0, 0.2, 5)).certify()
    assert found.open.endswith("by SweepOptions(bounds=robot.bounds)"), found.describe()


def test_a_pair_of_branches_that_is_born_on_the_way_is_found() -> None:
    """Judged by circles: two postures at first, four behind a dead point that the sweep does not meet."""
    before, behind = two_loops(PIVOT, 0.7), two_loops(PIVOT, 1.5)
    assert {len(postures_at(PIVOT, float(t))) for t in before.values} == {2}
    assert {len(postures_at(PIVOT, float(t))) for t in behind.values} == {2, 4}
    found = before.certify()
    assert found.status is CertificateStatus.COMPLETE, found.describe()
    assert len(found.others) == 1
    found = behind.certify()
    assert found.status is CertificateStatus.PROVED, found.describe()
    assert len(found.others) == 1
    value = float(found.open.split("'crank' ")[1].split()[0])
    assert "on none of these branches" in found.open
    assert len(postures_at(PIVOT, value)) == 4


# Planar mechanisms made of closures.


def driven_four_bar(angle: float) -> Problem:
    mechanism = mechanisms.four_bar()
    robot = mechanism.robot
    crank = Affine(np.eye(1, robot.nv), inputs=robot.space)
    return Problem(robot, [Implicit.equal(crank, [angle]), *mechanism.constraint_set().stack])


@pytest.mark.parametrize("angle", [0.3, 2.0, -1.2])
def test_a_four_bar_has_two_postures_at_an_angle_of_its_crank(angle: float) -> None:
    problem = driven_four_bar(angle)
    ends = (np.array([angle + step, np.inf * step, np.inf * step]) for step in (-0.1, 0.1))
    around = Bounds(problem.space, *ends)
    found = all_solutions(problem, box=around)
    assert found.status is CertificateStatus.COMPLETE, found
    assert len(found) == 2
    assert all(certificate.check() == [] for certificate in found.certificates)


def five_bar_at(x: float, y: float) -> Problem:
    mechanism = mechanisms.five_bar()
    tip = Implicit.equal(Position(mechanism.robot, "left_outer_end")[:2], [x, y])
    return Problem(mechanism.robot, [tip, *mechanism.constraint_set().stack])


def test_a_five_bar_of_closures_has_four_postures_within_reach_and_none_beyond() -> None:
    found = all_solutions(five_bar_at(0.05, 0.4))
    assert found.status is CertificateStatus.COMPLETE
    assert len(found) == 4
    assert all(certificate.check() == [] for certificate in found.certificates)
    for x in (0.0, 0.1, -0.2):
        edge = np.sqrt(0.6**2 - (abs(x) + 0.15) ** 2)
        assert refute(five_bar_at(x, edge + 1e-3)).status is CertificateStatus.REFUTED
        assert refute(five_bar_at(x, edge - 1e-3)).status is CertificateStatus.SOLVED


BASES = {
    "fixed": None,
    "turns": pin.JointModelRX(),
    "about no axis": pin.JointModelRevoluteUnaligned(np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)),
    "ball": pin.JointModelSpherical(),
    "free": pin.JointModelFreeFlyer(),
}
"""Of a planar mechanism: its joint."""

TURNED = pin.SE3(pin.exp3(np.array([0.3, -0.7, 1.1])), np.array([0.1, 0.2, 0.3]))
"""Where a base that moves is in the world."""


def planar_chain(normal: int, seed: int, base: str = "fixed") -> Robot:
    """Two branches whose joints turn about one axis of coordinates, in frames that are turned by quarters; "a" and "b"
    at their ends have the axis as their third one, "c" at that of a as its first one."""
    rng, model = np.random.default_rng(seed), pin.Model()
    joints = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    slides = (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)
    quarters = [pin.SE3(R, np.zeros(3)) for R in (np.eye(3), np.roll(np.eye(3), 1, axis=0), np.diag([1.0, -1.0, -1.0]))]
    ends = list[pin.SE3]()
    root = 0 if BASES[base] is None else model.addJoint(0, BASES[base], TURNED, "base")
    for branch in "ab":
        at, n = root, np.eye(3)[normal]
        for i in range(4):
            turn = quarters[int(rng.integers(3))]
            p = rng.uniform(-0.3, 0.3, 3)
            p[n != 0.0] = 0.125 * rng.integers(-3, 3)  # sums of these are doubles
            n = turn.rotation.T @ n
            kinds, axis = (slides, int(np.flatnonzero(n == 0.0)[0])) if i == 2 else (joints, int(np.abs(n).argmax()))
            at = model.addJoint(at, kinds[axis](), pin.SE3(turn.rotation, p), f"{branch}{i}")
            model.appendBodyToJoint(at, pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3), pin.SE3.Identity())
        first = np.eye(3)[int(np.flatnonzero(n == 0.0)[0])]
        ends.append(pin.SE3(np.column_stack([first, np.cross(n, first), n]), np.zeros(3)))
    robot = Robot(model, "planar").with_frame("a", "a3", ends[0]).with_frame("b", "b3", ends[1])
    return robot.with_frame("c", "a3", pin.SE3(np.roll(ends[0].rotation, 1, axis=1), np.zeros(3)))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("normal", range(3))
@pytest.mark.parametrize("seed", range(3))
def test_what_stays_in_a_plane_stays_without_any_rounding(normal: int, seed: int, base: str) -> None:
    """Judged in 50 digits: rows that are said to be constant are, and so are their values; wherever their base is.

    So a pin asks for nothing but its place.
    """
    robot, a, b = planar_chain(normal, seed, base), "a", "b"
    rng, q = np.random.default_rng(seed), robot.random(np.random.default_rng(seed))
    f = Closure(robot, a, b, Hinge.pin(), name="pin").function
    found = f.enclosure(TangentBox(robot.space, q, 0.3))
    still = ~found.jacobian.magnitude.any(axis=1)
    assert still.sum() == 3
    assert (found.rounding[still] == 0.0).all()
    assert (found.error[still] < 1e-299).all()
    assert _asked(f, np.ones(5, dtype=np.bool_), np.zeros(5))[-1]
    own = [Position(robot, b, a), Pose(robot, b, a), Rotation(robot, b, a), Transformation(robot, b, a)]
    for g in (f, *own, Pose(robot, b, "c"), Rotation(robot, "c", b)):
        box = box_of(g, rng, -3.0, -1.0, q)
        if (enclosure := enclosed(g, box)) is None:
            assert isinstance(g, Transformation)  # half a turn may be within the box
            continue
        for k in range(3):
            v = step_in(box, rng, k == 1) * (k > 0)
            assert not outside_in_digits(g, box, enclosure, v, int(rng.integers(robot.nv)))


@pytest.mark.parametrize("base", [name for name in BASES if name != "fixed"])
def test_a_four_bar_on_a_turned_base_that_moves_closes_and_is_not_refuted(base: str) -> None:
    model = pin.Model()
    root = model.addJoint(0, BASES[base], TURNED, "base")
    crank = model.addJoint(root, pin.JointModelRZ(), pin.SE3.Identity(), "crank")
    for name, parent, x in (("coupler", crank, 0.15), ("rocker", root, 0.4)):
        model.addJoint(parent, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])), name)
    robot = Robot(model, "mounted")
    for name, joint, x in (("tip", "coupler", 0.35), ("top", "rocker", 0.3)):
        robot = robot.with_frame(name, joint, pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])))
    rows = ConstraintSet(robot, [Closure(robot, "tip", "top", Hinge.pin(), name="pin")])
    start = [*np.full(robot.nv - 3, 0.7), 1.0, -0.5, 1.6]
    certificate = assemble_position(rows, robot.space.integrate(robot.neutral, start)).or_raise().certify()
    assert certificate.status is CertificateStatus.PROVED, certificate
    assert certificate.mobility == robot.nv - 2
    assert refute(Problem(robot, [*rows.stack])).status is CertificateStatus.SOLVED


def test_a_tilt_that_rounding_hides_is_none_of_a_plane() -> None:
    model = pin.Model()
    tilted = pin.SE3(pin.exp3(np.array([1e-9, 0.0, 0.0])), np.zeros(3))
    first = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "first")
    model.addJoint(first, pin.JointModelRZ(), tilted, "second")
    robot = Robot(model, "tilted")
    found = Position(robot, "second").enclosure(TangentBox(robot.space, robot.neutral, 0.1))
    assert (found.rounding > 0.0).all()


@pytest.mark.parametrize("name", ["stewart_platform", "slider_crank", "four_bar", "bennett"])
def test_nothing_is_outside_of_the_enclosures_of_closures(name: str) -> None:
    found, rng = assembled(name), np.random.default_rng(1)
    for owner in found.constraint_set.stack:
        f = owner.measured
        box = box_of(f, rng, -3.0, -1.0, found.q)
        enclosure = f.enclosure(box)
        assert sampled(f, box, enclosure, rng, 20, judged=0).outside == 0
        assert bent(enclosure.bend, np.zeros(f.inputs.nv)).contains(f.jacobian(found.q))
