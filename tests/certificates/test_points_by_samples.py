"""Configurations that are proved by samples: as on boxes, with premises that hold, and what is left to boxes."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import certificate_claims as claims
import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from robots import arm, humanoid, mixed_tree, panda, ur5

from constraints import (
    Affine,
    Bounds,
    CenterOfMass,
    Explicit,
    Implicit,
    Orientation,
    Pose,
    Position,
    Problem,
    Robot,
    Rotation,
    Transformation,
    locked_joint,
)
from constraints.certificates import (
    Certificate,
    CertificateStatus,
    balls,
    batch as batches,
    certify,
    search,
    slice as slices,
    slopes,
)
from constraints.certificates.batch import certify_batch
from constraints.certificates.check import Premises
from constraints.certificates.rows import ProblemRows
from constraints.certificates.samples import Around, NearRows, Samples
from constraints.certificates.search import CertificateSearch
from constraints.certificates.slice import Moves, origins_and_rotations
from constraints.certificates.slopes import _of_tilt  # pyright: ignore[reportPrivateUsage]
from constraints.functions import norm
from constraints.functions.enclosures.group_bounds import OF_MAPS
from constraints.functions.enclosures.interval import RADII, TINY, UNIT, Interval
from liegroups import SE2, SE3, SO2, SO3, R3xSO3, Space

PROVED, NOT_PROVED = CertificateStatus.PROVED, CertificateStatus.NOT_PROVED


@cache
def many_joints() -> Robot:
    """Every kind of joint but the ellipsoid, whose motions have no levers."""
    model: Any = mixed_tree().model
    return Robot(pin.buildReducedModel(model, [model.getJointId("ellipsoid")], pin.neutral(model)))


def upright(robot: Any, frame: str, q: np.ndarray) -> Implicit:
    return Implicit.equal(Orientation(robot, frame, Pose(robot, frame).value(q)), mask=[True, True, False])


def held(f: Any, q: np.ndarray, **options: Any) -> Implicit:
    return Implicit.equal(f, f.value(q), **options)


@cache
def cases() -> dict[str, tuple[Robot, Any]]:
    """By name: a robot, and what makes rows that hold at a configuration of it."""
    tool, hand, all_kinds = ur5().frame_names[-1], "panda_hand_tcp", many_joints()
    feet, level = [Pose(humanoid(), name) for name in ("rleg6_joint", "lleg6_joint")], [True, True, False]
    return {
        "pose": (ur5(), lambda q: [held(Pose(ur5(), tool), q)]),
        "place and rotation": (panda(), lambda q: [held(Pose(panda(), hand, outputs=R3xSO3), q)]),
        "upright": (panda(), lambda q: [upright(panda(), hand, q), held(Position(panda(), hand), q)]),
        "feet": (humanoid(), lambda q: [*(held(f, q) for f in feet), held(CenterOfMass(humanoid()), q, mask=level)]),
        "many joints": (
            all_kinds,
            lambda q: [
                held(Pose(all_kinds, "chain_tip", "hy_tip"), q),
                held(Rotation(all_kinds, "composite_tip"), q),
                held(CenterOfMass(all_kinds), q),
            ],
        ),
        "a body seen from a hand": (all_kinds, lambda q: [held(Pose(all_kinds, "free_tip", "rubz_tip"), q)]),
    }


NAMES = ["pose", "place and rotation", "upright", "feet", "many joints", "a body seen from a hand"]


def case(name: str, seed: int, size: float = 1e-6) -> tuple[Problem, np.ndarray]:
    """A problem without bounds, and a configuration that is so far from a solution."""
    robot, rows = cases()[name]
    q = robot.random(np.random.default_rng(seed))
    problem = Problem(robot, rows(q), Bounds.none(robot.space))
    return problem, robot.space.integrate(q, claims.noise(seed, problem, size))


def by_samples(problem: Problem, q: np.ndarray, sides: Any = None, radius: float | None = None) -> Certificate | None:
    rows = ProblemRows.of(problem, problem.check_rhs(sides))
    return batches._by_samples(rows, np.array(q)[None], radius).get(0)


def on_boxes(problem: Problem, q: np.ndarray, sides: Any = None, radius: float | None = None) -> Certificate:
    return CertificateSearch(ProblemRows.of(problem, problem.check_rhs(sides)), np.array(q), radius).run()


# They prove the same, and their premises hold.


@pytest.mark.parametrize("name", NAMES)
@draws(3, 60)
def test_what_samples_prove_boxes_prove_too(name: str, count: int) -> None:
    """The centres are within both r of each other: both solutions are within theirs of q."""
    proved = 0
    for seed in range(count):
        problem, q = case(name, seed)
        found, boxed = by_samples(problem, q), on_boxes(problem, q)
        if found is None:
            continue
        proved += 1
        assert found.check() == []
        assert str(certify(problem, q)) == str(found)
        assert (found.rows, found.active, found.held, found.open) == (boxed.rows, boxed.active, boxed.held, boxed.open)
        if boxed.success:
            apart = np.abs(problem.space.difference(found.center, boxed.center)).max()
            assert apart <= found.r + boxed.r
            assert found.r <= 1.2 * boxed.r + 2e-7
            assert found.condition == pytest.approx(boxed.condition, rel=1e-3)
    assert proved >= 0.6 * count


@pytest.mark.skipif(balls.USUAL != "compiled", reason="numba is not installed")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bounded", [False, True])
def test_kernels_and_arrays_find_the_same_premises(name: str, bounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """To what both add for rounding; bounds are a hair's breadth away, or a little more, or none."""
    problem, q = case(name, 0)
    at = problem.space.vector_q
    if bounded:
        lower, upper = problem.bounds.lower.copy(), problem.bounds.upper.copy()
        lower[at], upper[at[::2]] = q[at] - 1e-4, q[at[::2]] + np.geomspace(1e-9, 1e-2, len(at[::2]))
        problem = Problem(cases()[name][0], [*problem.constraints], Bounds(problem.space, lower, upper))
    Q = np.array([problem.space.integrate(q, claims.noise(k, problem, 1e-6)) for k in range(3)])
    Q[:, at] = np.clip(Q[:, at], problem.bounds.lower[at], problem.bounds.upper[at])
    compiled = certify_batch(problem, Q)
    monkeypatch.setattr(balls, "_kernel", lambda: None)
    for one, other in zip(compiled, certify_batch(problem, Q), strict=True):
        assert (one.status, one.held, one.rows, one.active) == (other.status, other.held, other.rows, other.active)
        assert one.success or bounded
        assert (one.r, one.R, one.condition) == pytest.approx((other.r, other.R, other.condition), rel=1e-8)
        for field in Premises._fields if one.success else ():
            x, y = getattr(one.numbers, field), getattr(other.numbers, field)
            assert np.shape(x) == np.shape(y)
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=3e-14 * max(np.abs(y).max(initial=0.0), 1.0))


@pytest.mark.skipif(balls.USUAL != "compiled", reason="numba is not installed")
def test_kernels_have_the_constants_of_the_arrays() -> None:
    from constraints.solvers.kernels import proofs

    assert (proofs.UNIT, proofs.OF_ARCS, proofs.OF_UNITS) == (UNIT, slices.OF_ARCS, 2.0 * OF_MAPS)
    assert proofs.SHARE == pytest.approx(0.95 * search.CONTRACTION)
    assert (proofs.LARGEST_SIZE, proofs.LEAST_BALL) == (search.LARGEST_SIZE, batches.LEAST_BALL)
    assert (proofs.UP, proofs.TINY) == (RADII, TINY)


@pytest.mark.parametrize("group", [SO2, SE2, SO3, SE3, SO3 * SE2 * SO2 * R3xSO3 * SE3])
@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 3.1, np.pi])
def test_what_is_displaced_is_at_least_the_angle_and_the_way(group: Space, size: float) -> None:
    """As the logarithm of each rotation says, and the difference of each place; hardly more where it is small."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        q = group.random(rng)
        v = rng.normal(size=group.nv)
        v *= size / max(np.linalg.norm(v), 1e-300)
        c = group.integrate(q, v)
        moves, way = Moves.between(group, q, c, np.eye(group.nv)), group.difference(q, c)
        places = [np.abs(c[group.vector_q] - q[group.vector_q])]
        for part in origins_and_rotations(group):
            of = way[part.v] if part.turns else c[part.q] - q[part.q]
            places.append(np.linalg.norm(of, axis=1))
        exact = np.concatenate(places)
        assert (moves.displaced >= exact).all()
        assert (moves.displaced <= exact * (1.0 + 1e-8 + 0.11 * exact**2) + 2e-13).all()
        assert (moves.spread**2).sum() == pytest.approx(group.nv)


@draws(12, 300)
def test_solutions_by_samples_are_found_in_50_digits(count: int) -> None:
    proved = 0
    for seed in range(count):
        problem, q, sides = claims.well_posed(seed)
        moved = problem.space.integrate(q, claims.noise(seed, problem, 1e-3))
        found = by_samples(problem, moved, sides)
        if found is not None:
            proved += 1
            assert found.check() == []
            assert seed % 4 or claims.solved_in_digits(problem, found, sides)
    assert proved >= 0.3 * count  # two of six have rows without slopes


def used(problem: Problem, found: Certificate, rng: np.random.Generator) -> np.ndarray:
    """The largest part of what its premises allow that is used at random places of the ball, by differences.

    Of how far C times the Jacobian is from that in the middle, of the Jacobian there, and of the residual.
    """
    n, space, t = found.numbers, problem.space, 2e-5
    assert n is not None

    def G(y: np.ndarray) -> np.ndarray:
        return problem.error(space.integrate(found.center, found.basis @ y))

    def slopes(y: np.ndarray) -> np.ndarray:
        return np.array([(G(y + t * e) - G(y - t * e)) / (2.0 * t) for e in np.eye(len(y))]).T

    here, most = slopes(np.zeros(found.rows)), np.zeros(2)
    middle = 0.5 * (n.jacobian_lower + n.jacobian_upper)
    assert np.abs(here - middle).max() < 1e-6
    for _ in range(6):
        y = rng.normal(size=found.rows) * (rng.uniform(size=found.rows) < rng.uniform(0.2, 1.0))
        y *= found.R / max(float(np.linalg.norm(y)), 1e-9)
        most[0] = max(most[0], np.linalg.norm(n.preconditioner @ (slopes(y) - here), 2) / float(n.variation))
    residual = 0.5 * (n.residual_upper - n.residual_lower)
    most[1] = (np.abs(G(np.zeros(found.rows)) - 0.5 * (n.residual_upper + n.residual_lower)) / residual).max()
    return most


@pytest.mark.parametrize("name", [name for name in NAMES if name != "upright"])
@draws(2, 30)
def test_the_jacobian_changes_by_no_more_than_its_bound(name: str, count: int) -> None:
    rng, largest = np.random.default_rng(4), 0.0
    for seed in range(count):
        problem, q = case(name, seed)
        found = by_samples(problem, q)
        if found is not None:
            most = used(problem, found, rng)
            assert (most <= 1.0).all()
            largest = max(largest, most[0])
    assert largest > 5e-4  # it is not too long to be of use


def test_a_tilt_is_bounded_by_little_more_than_what_it_changes() -> None:
    r"""At 0.2 from the axis, d moves by |d'| = 1: along the meridian the tilt changes by 1, across by 0.2 / sin 0.2.

    Along the meridian it is the angle itself, which has no second derivative: that of the function is its derivative
    along d = -d'', by central differences of its formula.
    """

    def along(length: float) -> float:  # of length d: the tilt of this vector, by the function of the cosine
        c = length * np.cos(0.2)
        return float(np.arccos(c) / np.sqrt(1.0 - c * c) * length * np.sin(0.2))

    second = (along(1.0 + 1e-5) - along(1.0 - 1e-5)) / 2e-5
    first, bend = _of_tilt(1.0, 0.0)
    assert 0.2 / np.sin(0.2) <= first <= 1.1
    assert second <= bend <= 1.05 * second


@pytest.mark.parametrize("name", ["pose", "feet"])
def test_premises_by_too_small_a_slope_do_not_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a thousandth of the slopes: what is looked at above is seen to fail."""
    right = slopes._bounds

    def wrong(*of: Any) -> tuple[float, float]:
        slope, bend = right(*of)
        return slope, 1e-3 * bend

    monkeypatch.setattr(slopes, "_bounds", wrong)
    problem, q = case(name, 0)
    found = by_samples(problem, q)
    assert found is not None
    assert used(problem, found, np.random.default_rng(4))[0] > 1.0


# What must be refused.


@draws(30, 1000)
def test_no_ball_holds_a_second_posture_of_two_links(count: int) -> None:
    rng, robot = np.random.default_rng(5), claims.two_links()
    tip, proved = Position(robot, "tip"), 0
    for _ in range(count):
        a, b = rng.uniform(-2.0, 2.0), float(rng.choice([-1.0, 1.0])) * 10.0 ** rng.uniform(-3.0, 0.0)
        other = a + 2.0 * np.arctan2(0.4 * np.sin(b), 0.5 + 0.4 * np.cos(b))
        here, apart = np.array([a, b]), float(np.hypot(other - a, 2.0 * b))
        problem = Problem(robot, [held(tip, here, mask=[True, True, False])])
        np.testing.assert_allclose(tip.value(here), tip.value([other, -b]), atol=1e-12)
        found = by_samples(problem, here)
        proved += found is not None
        assert found is None or found.R < apart
        assert by_samples(problem, here, radius=apart * rng.uniform(1.0, 3.0)) is None
        assert certify(problem, here, radius=apart * rng.uniform(1.0, 3.0)).status is NOT_PROVED
    assert proved > 0.5 * count


def test_a_radius_that_is_wanted_is_proved_by_samples_or_on_boxes() -> None:
    problem, q = case("pose", 1)
    R, on = certify(problem, q).R, on_boxes(problem, q).R
    assert certify(problem, q, radius=0.5 * R).R == 0.5 * R
    if on > 1.1 * R:
        assert certify(problem, q, radius=0.95 * on).R == 0.95 * on
    assert certify(problem, q, radius=3.0).status is NOT_PROVED


def test_samples_that_are_off_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows that are rounded worse than is said nothing is proved by samples; it is on boxes."""
    right = Samples.at

    def off(self: Samples, *args: Any) -> tuple[np.ndarray, np.ndarray]:
        errors, jacobians = right(self, *args)
        return errors, jacobians + 1e-7

    monkeypatch.setattr(Samples, "at", off)
    robot = ur5().with_bounds({})
    q = robot.random(np.random.default_rng(0))
    problem = Problem(robot, [held(Position(robot, robot.frame_names[-1]), q)])
    assert by_samples(problem, q) is None
    assert certify(problem, q).status is PROVED


@pytest.mark.parametrize("limit", ["TUBE_AROUND", "LONGEST_WAY", "FARTHEST_ON_CIRCLE"])
def test_what_leaves_the_places_that_slopes_are_bounded_for_is_not_proved(limit: str) -> None:
    """No ball is larger: of a logarithm that may be too far, of a body, of an angle on a circle."""
    from constraints.certificates import samples

    most = float(getattr(samples, limit))
    if limit == "FARTHEST_ON_CIRCLE":
        robot = many_joints()
        problem = Problem(robot, [locked_joint(robot, "continuous", 0.3)], Bounds.none(robot.space))
        q = robot.configuration(continuous=0.3)
        found = by_samples(problem, q)
        assert found is not None
        assert found.R <= most
        return
    problem, q = case("a body seen from a hand" if limit == "LONGEST_WAY" else "pose", 0)
    rows = ProblemRows.of(problem, problem.rhs)
    near = NearRows.of(rows, q[None])
    assert near is not None
    largest = near.around(q[None]).near.largest  # type: ignore[union-attr]
    assert 0.0 < largest[0] <= (most if limit == "LONGEST_WAY" else 10.0 * most)
    far = problem.space.integrate(q, claims.noise(0, problem, 1.5))
    assert near.around(far[None]).near.largest[0] < largest[0]  # type: ignore[union-attr]


# Ends of bounds and inequalities, and what does not move.


def test_inequalities_and_bounds_are_held_as_on_boxes() -> None:
    """Places beyond the end of an inequality, and inside; a joint at its bound, beyond it, and inside."""
    robot, f, seen = arm(), Position(arm(), "tool"), set[tuple[int, int]]()
    bounds = robot.bounds
    for seed in range(12):
        rng = np.random.default_rng(seed)
        q = robot.random(rng)
        if seed % 3:
            q[seed % robot.nq] = bounds.upper[seed % robot.nq] - (1e-3 if seed % 2 else 0.0)
        above = [-9.0, -9.0, f.value(q)[2] + (0.0, 1e-7, -0.05)[seed % 3]]
        rows = [held(f, q, mask=[True, True, False]), Implicit.above(f, above, mask=[False, False, True])]
        problem = Problem(robot, rows)
        found, boxed = by_samples(problem, q), on_boxes(problem, q)
        if found is None or not boxed.success:
            assert not boxed.success
            continue
        seen.add((len(found.active), len(found.held)))
        assert found.check() == []
        assert found.active == boxed.active
        assert set(boxed.held) <= set(found.held)  # rounding is less on boxes: what is nearer to a bound is held
    assert {(0, 0), (1, 0)} <= seen
    assert any(n for _, n in seen)


def test_where_no_row_is_in_play_inequalities_are_proved_to_hold() -> None:
    robot = arm()
    q = robot.random(np.random.default_rng(2))
    rows = [Implicit.above(Position(robot, name), [-9.0, -9.0, -9.0]) for name in ("tool", "elbow", "tool")]
    found = by_samples(Problem(robot, rows), q)
    assert found is not None
    assert (found.rows, found.active, found.check()) == (0, (), [])
    assert "no row is in play" in str(found)


def test_a_joint_on_its_bound_is_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No second round is needed."""
    monkeypatch.setattr(batches, "ROUNDS_TOGETHER", 0)
    robot = arm()
    q = robot.random(np.random.default_rng(3))
    q[1] = robot.bounds.upper[1]
    found = by_samples(Problem(robot, [held(Position(robot, "tool"), q)]), q)
    assert found is not None
    assert (found.held, found.center[1], found.check()) == ((robot.joint_names[1],), q[1], [])


def test_a_joint_on_its_bound_leaves_it_where_the_solution_is_inside() -> None:
    """The tip is out of reach of the second joint alone."""
    robot = claims.two_links(shoulder=(-2.0, 0.5))
    tip = Position(robot, "tip")
    problem = Problem(robot, [held(tip, np.array([0.45, -0.4]), mask=[True, False, False])])
    found = by_samples(problem, np.array([0.5, -0.45]))
    assert found is not None
    assert (found.held, found.check()) == ((), [])
    assert found.center[0] < 0.49


@pytest.mark.parametrize("by", ["kernels", "arrays"])
def test_a_body_on_its_bound_that_no_row_moves_stays_there(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of its room is used, and not even the least number; one that rows may move is not proved to stay."""
    if by == "arrays":
        monkeypatch.setattr(balls, "_kernel", lambda: None)
    robot = many_joints()
    q = robot.random(np.random.default_rng(1))
    lower, name = np.full(robot.nq, -np.inf), "revolute"
    body = robot.segments("free").q_indices[:3]
    lower[body] = q[body]
    bounds, angle = Bounds(robot.space, lower, np.full(robot.nq, np.inf)), q[robot.segments(name).q_indices[0]]
    problem = Problem(robot, [locked_joint(robot, name, angle)], bounds)
    for found in (by_samples(problem, q), on_boxes(problem, q)):
        assert found is not None
        assert (found.status, found.check()) == (PROVED, [])
    moving = certify(Problem(robot, [held(Position(robot, "free_tip"), q)], bounds), q)
    assert moving.status is NOT_PROVED


def test_a_joint_that_is_locked_at_its_bound_is_known_without_rounding() -> None:
    robot = arm()
    name, upper = robot.joint_names[1], float(robot.bounds.upper[1])
    q = robot.random(np.random.default_rng(3))
    q[1] = upper
    rows = [locked_joint(robot, name, upper), held(Position(robot, "tool"), q)]
    found = by_samples(Problem(robot, rows), q)
    assert found is not None
    assert found.check() == []
    assert found.center[1] == upper
    beyond = Problem(robot, [locked_joint(robot, name, np.nextafter(upper, 9.0)), rows[1]])
    assert by_samples(beyond, q) is None
    assert certify(beyond, q).status is NOT_PROVED


def test_what_a_coordinate_is_more_than_two_numbers_is_rounded() -> None:
    """Zero once both are taken off in doubles, and the exact solution is beyond the bound by less than a rounding."""
    robot, rng, tried = arm(), np.random.default_rng(0), 0
    name, q = robot.joint_names[1], robot.random(np.random.default_rng(3))
    while tried < 3:
        more = float(rng.uniform(-1.0, 1.0))
        q[1] = 0.1 + more
        if q[1] - 0.1 != more or Fraction(q[1]) >= Fraction(0.1) + Fraction(more):
            continue
        tried += 1
        bounded = robot.with_bounds({name: (-3.0, float(q[1]))})
        row = Implicit(locked_joint(bounded, name, 0.1).measured, lower=[more], upper=[more])
        problem = Problem(bounded, [row, held(Position(bounded, "tool"), q)])
        assert by_samples(problem, q) is None
        assert certify(problem, q).status is NOT_PROVED


def test_rounding_of_straight_rows_is_relative_to_their_coordinates() -> None:
    """A coupling with large numbers: its sampled value is off by more than those of links may be."""
    robot = arm().with_bounds({})
    A = np.zeros((1, robot.nv))
    A[0, 0] = 1e7 / 3.0
    coupling = Explicit(Affine(A, [1e8 / 7.0], robot.space), robot.segments(robot.joint_names[1]))
    problem = Problem(robot, [coupling])
    q = robot.random(np.random.default_rng(0))
    near = NearRows.of(ProblemRows.of(problem, problem.rhs), q[None])
    assert near is not None
    value = near.around(q[None]).value
    exact = claims.digits.exact(q)
    miss = exact[1] - claims.digits.exact(A)[0, 0] * exact[0] - claims.digits.exact(np.array([1e8 / 7.0]))[0]
    assert abs(miss - float(value.middle[0, 0])) <= float(value.radius[0, 0])
    assert float(value.radius[0, 0]) > 1e-9


def test_directions_are_known_as_well_as_all_entries_together_are() -> None:
    """Nine entries that are all off by 1e-3, along a direction in which all count alike: by three times as much."""
    known: Any = SimpleNamespace(small=np.array([1e-3, 0.0]))
    rows: Any = SimpleNamespace(rate=None, known=known)
    J = np.random.default_rng(0).standard_normal((1, 2, 9))
    around = Around(rows, np.zeros((1, 9)), Interval.of(np.zeros((1, 2))), np.zeros((1, 2)), J)
    found = around.along(np.full((9, 1), 1.0 / 3.0), np.array([0, 1]))
    off = np.array([[[3e-3], [0.0]]])
    assert (np.abs(found.middle - J @ np.full((9, 1), 1.0 / 3.0)) + off * (1.0 - 1e-9) <= found.radius).all()
    assert found.radius == pytest.approx(off, rel=1e-6, abs=1e-12)


def test_poses_from_turned_axes_are_sampled_together_wherever_they_are() -> None:
    """Of several configurations: only what turns from these axes is not."""
    robot, q = arm(), arm().random(np.random.default_rng(2))
    at = Transformation(robot, "tool", Pose(robot, "tool").value(q))
    problem = Problem(robot, [Implicit.equal(at, [0.1, 0.0, 0.2, 0.0, 0.0, 0.0])])
    rows = ProblemRows.of(problem, problem.rhs)
    assert NearRows.of(ProblemRows.stacked([rows, rows]), np.array([q, q])) is not None


def test_what_slides_far_away_has_longer_levers() -> None:
    """The same rows around two places of a body: what is known around one is not used at the other."""
    robot, rates = many_joints(), list[float]()
    f = Pose(robot, "free_tip", "rubz_tip")
    for away in (0.3, 30.0):
        q = robot.random(np.random.default_rng(1))
        block = robot.segments("free").q_indices[:3]
        q[block] = away * q[block] / np.linalg.norm(q[block])
        problem = Problem(robot, [held(f, q)], Bounds.none(robot.space))
        near = NearRows.of(ProblemRows.of(problem, problem.rhs), q[None])
        assert near is not None
        rates.append(float(near.known.bends.max()))
        found = by_samples(problem, q)
        assert found is None or (used(problem, found, np.random.default_rng(0)) <= 1.0).all()
    assert rates[1] > 50.0 * rates[0]


def test_rows_are_looked_at_where_a_quaternion_has_length_1() -> None:
    """It may be given to 1e-6; what is kept for other configurations of the problem does not depend on it."""
    problem, q = case("feet", 0)
    off = q.copy()
    off[3:7] *= 1.0 + 5e-7
    assert by_samples(problem, off) is not None
    assert by_samples(problem, q) is not None


# What is left to boxes; many at once.


def test_what_samples_do_not_prove_is_left_to_boxes() -> None:
    robot = arm().with_bounds({})
    q = robot.random(np.random.default_rng(7))
    tool = Position(robot, "tool")
    length, leaning = norm(tool), Transformation(robot, "tool")
    for rows in (
        [held(length, q)],
        [held(leaning, q)],
        [held(tool, q), held(tool, q, name="again")],
        [held(Pose(robot, "tool", outputs=R3xSO3), q, mask=[True, True, True, True, False, False])],
    ):
        problem = Problem(robot, rows)
        assert by_samples(problem, q) is None
        assert str(certify(problem, q)) == str(on_boxes(problem, q))
    vectors = Problem(claims.planar((0.5, 0.4)).inputs, [held(claims.planar((0.5, 0.4)), np.array([0.3, 0.7]))])
    assert by_samples(vectors, np.array([0.3, 0.7])) is None


@pytest.mark.parametrize("name", ["pose", "feet"])
def test_many_are_proved_as_each_of_them_with_their_own_right_hand_sides(name: str) -> None:
    problem, q = case(name, 2)
    Q = np.array([problem.space.integrate(q, claims.noise(k, problem, 0.05)) for k in range(6)])
    sides = [problem.rhs_from(each) for each in Q]
    for found, at, own in zip(certify_batch(problem, Q, sides), Q, sides, strict=True):
        alone = by_samples(problem, at, own)
        assert alone is not None
        assert (found.status, str(found), found.R) == (PROVED, str(alone), pytest.approx(alone.R, rel=1e-6))
        assert found.check() == []


@pytest.mark.parametrize("kind", ["all joints", "what is locked"])
def test_one_that_is_on_bounds_leaves_the_others_to_samples(kind: str) -> None:
    """Held there, its rows see nothing, or are out of play: those of the others are in play."""
    robot, rng = arm(), np.random.default_rng(0)
    lock = locked_joint(robot, robot.joint_names[1], 0.3)
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool")) if kind == "all joints" else lock])
    Q = np.array([robot.random(rng) for _ in range(4)])
    Q[0] = robot.bounds.upper
    sides = [problem.rhs_from(q) for q in Q]
    for found, q, side in zip(certify_batch(problem, Q, sides)[1:], Q[1:], sides[1:], strict=True):
        alone = by_samples(problem, q, side)
        assert alone is not None
        assert (str(found), found.R) == (str(alone), pytest.approx(alone.R, rel=1e-6))
