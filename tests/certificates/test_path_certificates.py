"""Certificates of paths: what is proved, and that no path that jumps is."""

from __future__ import annotations

import ast
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import fifty_digits as digits
import numpy as np
import path_claims as claims
import pinocchio as pin
import published_postures
import pytest
from certificate_claims import planar
from each_choice import draws
from path_claims import arc, circle
from robots import arm, humanoid, ur5

import constraints.certificates.path_check as check_module
from constraints import (
    Bounds,
    Comparison,
    Function,
    Implicit,
    Orientation,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Rotation,
)
from constraints.certificates import CertificateStatus, PathLimits, certify, certify_path
from constraints.certificates.batch import certify_batch
from constraints.certificates.path_certificate import PathCertificate
from constraints.certificates.paths import leg_search
from constraints.certificates.paths.leg import Way
from constraints.certificates.paths.leg_search import LegSearch
from constraints.certificates.paths.parts import Answer, WayPart
from constraints.certificates.paths.path_search import PieceSearch
from constraints.collisions import CollisionModel, Shape
from constraints.errors import OptionError, PathError, SizeError, SpaceMismatchError, WrongObjectError
from constraints.functions.affine import Affine, Identity
from constraints.paths import MovingRightHandSide, Path, interpolate
from constraints.paths.path import Piece
from constraints.planning import PlanningStatus, connect
from constraints.solvers import Options
from liegroups import SE3, R3xSO3, Rn

PROVED, NOT_PROVED = CertificateStatus.PROVED, CertificateStatus.NOT_PROVED


def level_path(seed: int = 2) -> Path:
    """The tool of the arm goes from one place to another at one height."""
    rows = Implicit.equal(Position(arm(), "tool"), [0.0, 0.0, 0.3], mask=[False, False, True], name="level")
    problem, rng = Problem(arm(), [rows]), np.random.default_rng(seed)
    projector = Projector(problem)
    q0, q1 = (projector.project(arm().random(rng)).or_raise().q for _ in range(2))
    return interpolate(problem, q0, q1, options=Options.local(threshold=5e-5)).or_raise()


# What is proved.


def test_on_a_circle_the_curve_is_where_geometry_says() -> None:
    """Half-way between two stops the circle is 1 - cos(h) from the chord; nothing of it is farther."""
    h = 0.05
    found = certify_path(claims.path_through(circle(), arc(0.3 - h, 0.3 + h)))
    assert found.status is PROVED, found
    assert found.check() == []
    assert len(found.legs) == 1
    assert 1.0 - np.cos(h) < found.r < 10.0 * (1.0 - np.cos(h))
    assert found.r <= found.R < 2.0 * np.cos(h)  # the other side of the circle is beyond R


def test_what_is_too_long_is_halved_on_the_circle() -> None:
    found = certify_path(claims.path_through(circle(), arc(0.0, 2.5)))
    assert found.status is PROVED, found
    assert len(found.legs) >= 4
    np.testing.assert_allclose(np.hypot(*found.stops.T), 1.0, atol=1e-9)
    assert (np.diff(np.arctan2(found.stops[:, 1], found.stops[:, 0])) > 0.0).all()
    assert (np.diff(found.times) > 0.0).all()
    assert (found.times[0], found.times[-1]) == (0.0, 1.0)


def test_a_path_of_an_arm_is_proved_and_its_solutions_are_within_r() -> None:
    path = level_path()
    found = path.certify()
    assert found.or_raise().check() == []
    assert len(found.legs) >= len(path.samples) - 1
    problem, rng = path.pieces[0].problem, np.random.default_rng(0)
    for k in rng.integers(len(found.stops) - 1, size=20):
        way = problem.space.interpolate(found.stops[k], found.stops[k + 1], rng.uniform())
        q = way
        for _ in range(6):
            q = problem.space.integrate(q, -np.linalg.pinv(problem.jacobian(q)) @ problem.error(q))
        assert np.abs(problem.error(q)).max() < 1e-12
        assert np.abs(q - way).max() <= found.r


def test_a_body_in_space_and_two_feet() -> None:
    """A humanoid: a free-flyer, both feet where they are, its hand moves."""
    robot, rng = humanoid(), np.random.default_rng(1)
    q = robot.random(rng)
    feet = [Pose(robot, f"{side}leg6_joint") for side in "rl"]
    problem = Problem(robot, [Implicit.equal(f, f.value(q)) for f in feet], Bounds.none(robot.space))
    v = problem.project_tangent(q, rng.normal(size=robot.nv))
    end = Projector(problem).project(robot.space.integrate(q, 0.02 * v / np.abs(v).max())).or_raise().q
    found = claims.path_through(problem, np.array([q, end])).certify()
    assert found.status is PROVED, found
    assert found.check() == []


def test_targets_that_move_in_a_vector_are_followed() -> None:
    robot, rng = arm(), np.random.default_rng(5)
    f = Position(robot, "tool")
    problem, q = Problem(robot, [Implicit.equal(f, f.value(robot.random(rng)))], Bounds.none(robot.space)), None
    q = robot.random(rng)
    begin = problem.rhs_from(q)
    end = problem.check_rhs(begin.vector + np.array([0.05, -0.03, 0.02]))
    goal = Projector(problem).project(q, end).or_raise().q
    path = interpolate(problem, q, goal, (begin, end)).or_raise()
    assert path.certify().or_raise().check() == []
    wrong = Piece(problem, MovingRightHandSide(begin), path.samples, path.pieces[0].times, Options.local())
    assert "sample 1 is" in Path((wrong,)).certify().reason


def test_pieces_of_one_problem_go_on_on_one_curve() -> None:
    path = Path.through(circle(), arc(0.0, 0.6, 3), max_length=0.1)
    found = path.certify()
    assert found.status is PROVED
    assert (found.curves, len(path.pieces)) == (1, 2)
    assert len(found.stops) == len(found.times) == len(found.legs) + 1
    assert found.check() == []
    assert found.times[-1] == pytest.approx(path.duration)


def test_pieces_that_ask_for_different_things_are_curves_of_their_own() -> None:
    """Of another problem, with another target where they meet, or with an inequality at its end on one of them."""
    q, problem = arc(0.0, 0.6, 3), circle()
    first, second = (Path.through(problem, part, max_length=0.1).pieces[0] for part in (q[:2], q[1:]))
    other = Path.through(circle(), q[1:], max_length=0.1).pieces[0]
    assert Path((first, other)).certify().curves == 2
    end = problem.check_rhs(problem.rhs_from(q[1]).vector + 1e-12)
    moved = Piece(problem, MovingRightHandSide(end), second.samples, second.times, Options.local())
    found = Path((first, moved)).certify()
    assert found.status is PROVED
    assert (found.curves, found.check()) == (2, [])
    assert len(found.stops) == len(found.legs) + 2
    assert "2 curves, one after the other, of solutions" in str(found)


def test_without_rows_the_way_is_the_curve() -> None:
    below = Implicit.below(Identity(Rn(2))[0], 5.0)
    path = claims.path_through(Problem(Rn(2), [below]), np.array([[0.0, 0.0], [1.0, 1.0]]))
    found = path.certify()
    assert found.status is PROVED
    assert found.r < 1e-200
    assert found.check() == []


# Bounds and inequalities.


def test_a_coordinate_on_its_bound_stays_there_and_leaves_it() -> None:
    """On a plane in space, with x at its bound on the way there."""
    plane = Implicit.equal(Affine([[1.0, 1.0, 1.0]]), [1.0])
    bounds = Bounds(Rn(3), np.array([0.0, -5.0, -5.0]), np.full(3, 5.0))
    Q = np.array([[0.0, 0.2, 0.8], [0.0, 0.5, 0.5], [0.3, 0.4, 0.3]])
    found = claims.path_through(Problem(Rn(3), [plane], bounds), Q).certify()
    assert found.status is PROVED, found
    assert found.check() == []
    assert len(found.held) == 1
    beyond = Q - [[0.0, 0.0, 0.0], [1e-9, -1e-9, 0.0], [0.0, 0.0, 0.0]]
    assert claims.path_through(Problem(Rn(3), [plane], bounds), beyond).certify().check() == []


def test_a_coordinate_that_is_held_near_its_bound_and_moves_does_not_hold_a_row_at_its_target() -> None:
    """x is 1 in the middle of the way alone, and its row sees no other coordinate; of samples at 1 it is proved."""
    off = 2.0**-12
    row = Implicit(Identity(Rn(2))[0], Comparison.EQUALITY, [1.0], scale=[1e-7])
    bounds = Bounds(Rn(2), np.array([1.0 - 1.0001 * off, -5.0]), np.array([1.0 + 1.0001 * off, 5.0]))
    problem = Problem(Rn(2), [row], bounds)
    across = claims.path_through(problem, np.array([[1.0 - off, 0.0], [1.0 + off, 0.1]]))
    assert across.certify().status is NOT_PROVED
    assert claims.path_through(problem, np.array([[1.0, 0.0], [1.0, 0.1]])).certify().status is PROVED


def test_a_body_that_comes_to_its_bound_is_not_proved_and_named() -> None:
    """It cannot be held there; its coordinate has a greater number than any row."""
    model = pin.Model()
    model.appendBodyToJoint(
        model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body"),
        pin.Inertia.Identity(),
        pin.SE3.Identity(),
    )
    robot = Robot(model).with_frame("tip", "body", pin.SE3.Identity())
    row = Implicit.equal(Position(robot, "tip"), mask=[True, False, False])
    bounds = Bounds(robot.space, np.full(7, -np.inf), np.where(np.arange(7) == 1, 0.1, np.inf))
    samples = robot.neutral + np.outer([0.0, 1.0], 0.1 * np.eye(7)[1])
    found = claims.path_through(Problem(robot, [row], bounds), samples).certify()
    assert found.status is NOT_PROVED
    assert "a bound of 'body' may be passed" in found.reason


def test_an_arc_that_leaves_its_bounds_between_two_samples_is_not_proved() -> None:
    """Both ends are within y <= 0.999, and the circle between them is not."""
    bounds = Bounds(Rn(2), np.full(2, -2.0), np.array([2.0, 0.999]))
    problem = Problem(Rn(2), list(circle().constraints), bounds)
    top = np.pi / 2.0
    found = claims.path_through(problem, arc(top - 0.05, top + 0.05)).certify()
    assert found.status is NOT_PROVED
    assert found.reason


def test_inequalities_hold_with_room_or_are_held_at_their_end_or_may_be_passed() -> None:
    x = Identity(Rn(3))
    plane = Implicit.equal(x[2] + x[0], [0.0], name="plane")
    square = x[0] * x[0] + x[1] * x[1]
    above, between = Implicit.above(square, 1.0, name="outside"), Implicit.between(square, 1.0, 9.0, name="outside")

    def asked(Q: Any, row: Implicit = above) -> PathCertificate:
        return claims.path_through(Problem(Rn(3), [plane, row]), np.array(Q)).certify()

    far = asked([[2.0, 0.0, -2.0], [2.0, 1.0, -2.0]])
    assert (far.status, far.active) == (PROVED, ())
    at = np.array([[np.cos(a), np.sin(a), -np.cos(a)] for a in (0.0, 0.1, 0.2)])
    for along in (asked(at), asked(at, between)):
        assert (along.status, along.active) == (PROVED, ("row 0 of 'outside'",))
    through = asked([[1.2, -0.5, -1.2], [0.8, 0.7, -0.8], [-1.2, 0.5, 1.2]])
    assert through.status is NOT_PROVED
    assert "outside" in through.reason


# What jumps, and what is in the way.


@pytest.mark.parametrize("kind", claims.JUMPING)
@draws(7, 67)
def test_paths_that_jump_are_never_proved(kind: str, count: int) -> None:
    for seed in range(count):
        found = certify_path(claims.JUMPING[kind](seed))
        assert found.status is NOT_PROVED
        assert found.reason
        assert found.stuck is not None
        assert found.check()


def test_what_stays_on_its_sheet_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sheets of `between_sheets`, 0.04 apart, and a path that stays on one; a part is tried up to five times."""
    looks, looked_at = Counter[tuple[float, float]](), LegSearch.looked_at

    def counted(self: LegSearch, parts: list[WayPart]) -> list[Answer]:
        looks.update((part.t0, part.t1) for part in parts)
        return looked_at(self, parts)

    monkeypatch.setattr(LegSearch, "looked_at", counted)
    x = Identity(Rn(2))
    problem = Problem(Rn(2), [Implicit.equal(x[1] * x[1] - x[0] * x[0], [4e-4])])
    way = np.linspace(-0.2, 0.2, 21)
    found = claims.path_through(problem, np.column_stack((way, np.hypot(way, 0.02)))).certify()
    assert found.status is PROVED, found
    assert found.R < 0.04
    assert max(looks.values()) == 5


def test_a_singular_arm_on_the_way_is_named() -> None:
    """Two links whose tip goes out to the stretched arm, and back with the elbow on the other side."""
    tip = planar((0.5, 0.4))
    problem = Problem(Rn(2), [Implicit.equal(tip[0] * tip[0] + tip[1] * tip[1], [0.81])])
    found = claims.path_through(problem, np.array([[0.0, 0.0], [0.02, 0.0]])).certify()
    assert found.status is NOT_PROVED
    assert "singular" in found.reason or "contraction" in found.reason or "depends" in found.reason


def test_rows_that_depend_on_others_are_named_without_many_halvings() -> None:
    x = Identity(Rn(2))
    square = x[0] * x[0] + x[1] * x[1]
    rows = [Implicit.equal(square, [1.0], name="circle"), Implicit.equal(3.0 * square, [3.0], name="again")]
    found = claims.path_through(Problem(Rn(2), rows), arc(0.0, 1.0, 20)).certify()
    assert found.status is NOT_PROVED
    assert "depend on others to first order" in found.reason
    assert "row 0 of 'again'" in found.reason or "row 0 of 'circle'" in found.reason
    assert found.stuck is not None
    assert found.stuck.end - found.stuck.begin == pytest.approx(1.0 / 19.0 / 4.0)


def test_functions_without_enclosure_are_named() -> None:
    f = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: 2.0 * q, name="my circle")
    found = claims.path_through(Problem(Rn(2), [Implicit.zero(f)]), arc(0.0, 0.1)).certify()
    assert found.status is NOT_PROVED
    assert "my circle" in found.reason
    assert found.r == np.inf
    with pytest.raises(Exception, match="NOT_PROVED"):
        found.or_raise()


def turning_hand(mask: list[bool]) -> tuple[Problem, np.ndarray]:
    """A tool that turns about an axis, past half a turn, and where it is then; the other two entries are held."""
    model, axis = pin.Model(), int(np.argmin(mask))
    joints = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    last = 0
    for i, k in enumerate((axis, (axis + 1) % 3, (axis + 2) % 3)):
        last = model.addJoint(last, joints[k](), pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), f"turn{i}")
    robot = Robot(model, "hand")
    vector = Orientation(robot, "turn2")
    problem = Problem(robot, [Implicit.zero(vector, mask=mask, name="upright")])
    return problem, np.array([[t, 0.0, 0.0] for t in (2.9, 3.1, np.pi, 3.15, 3.4)])


@pytest.mark.parametrize("free", range(3))
def test_a_rotation_vector_of_which_two_entries_are_zero_is_a_tilt_and_passes_half_a_turn(free: int) -> None:
    problem, samples = turning_hand([k != free for k in range(3)])
    found = claims.path_through(problem, samples).certify()
    assert found.status is PROVED, found
    assert found.check() == []
    for q in samples:  # judged in 50 digits: there is a solution, and the vector is along the axis there
        near = problem.space.integrate(q, np.array([0.0, 1e-5, -2e-5]))
        certificate = certify(problem, near)
        assert certificate.status is PROVED
        assert certificate.r > 1e-5
        point = digits.point_of(problem.space, q)
        vector = digits.value_at(problem.constraints.owners[0].measured, point)[0]
        assert all(abs(vector[k]) < 1e-14 for k in range(3) if k != free)
    assert all(one.success for one in certify_batch(problem, samples))
    rows = Implicit.equal(problem.constraints.owners[0].measured, np.zeros(3), mask=[k != free for k in range(3)])
    equal, aside = Problem(problem.space, [rows]), np.where(np.arange(3) == free, 0.0, 1e-3)
    mixed = certify_batch(equal, [samples[2]] * 2, [equal.rhs, equal.rhs.replace(0, aside)])
    assert [one.success for one in mixed] == [True, False]


@pytest.mark.parametrize("free", range(3))
@pytest.mark.parametrize(
    ("make", "places"),
    [(Rotation, []), (Pose, [False] * 3), (lambda *names: Pose(*names, outputs=R3xSO3), [False] * 3)],
)
def test_so_do_two_rows_of_a_rotation_in_a_group(make: Any, places: list[bool], free: int) -> None:
    """With a right-hand side that turns about the free axis, too, and not with one about another."""
    two = [k != free for k in range(3)]
    of_vector, samples = turning_hand(two)
    robot: Any = of_vector.robot
    f = make(robot, "turn2")
    at, mask = f.value(np.zeros(3)), [*places, *two]
    problem = Problem(robot, [Implicit.equal(f, at, mask=mask, name="upright")])
    found = claims.path_through(problem, samples).certify()
    assert found.status is PROVED, found
    assert found.check() == []
    for q in samples:  # as the vector is judged in 50 digits
        near = problem.space.integrate(q, np.array([0.0, 1e-5, -2e-5]))
        ours, other = certify(problem, near), certify(of_vector, near)
        assert ours.status is PROVED
        assert abs(ours.r - other.r) < 1e-6
    assert all(one.success for one in certify_batch(problem, samples))
    for axis, proved in ((free, True), ((free + 1) % 3, False)):
        turned = at.copy()
        turned[-4:] = 0.0
        turned[-4 + axis], turned[-1] = np.sin(0.2), np.cos(0.2)
        rows = Implicit.equal(f, turned, mask=mask, name="upright")
        assert certify(Problem(robot, [rows]), samples[2]).success is proved


@pytest.mark.parametrize("outputs", [R3xSO3, SE3])
def test_a_level_tool_turns_by_more_than_half_a_turn(outputs: Any) -> None:
    """Its height is a row of R3xSO3; in SE(3) places have no tilt beside them, and half a turn is named."""
    pose = Pose(ur5(), "tool0", np.array([0.4, 0.1, 0.3, 1.0, 0.0, 0.0, 0.0]), outputs=outputs)
    level = Implicit.zero(pose, mask=[False, False, True, True, True, False], name="level")
    problem = Problem(pose.robot, [level], Bounds.none(pose.robot.space))
    q = Projector(problem).project(np.array([0.1, -1.2, 1.5, -1.8, -1.6, 0.2])).or_raise().q
    samples = q + np.linspace(0.0, 2.0 * np.pi, 40)[:, None] * np.eye(6)[5]  # it turns about its last joint
    found = claims.path_through(problem, samples).certify()
    if outputs == SE3:
        assert "half a turn" in found.reason
        return
    assert found.status is PROVED, found
    assert found.check() == []
    for q in found.stops:
        there = pose.robot.at(q).placement("tool0")
        assert there.translation[2] == pytest.approx(0.3, abs=1e-9)
        assert there.rotation[2, 2] == pytest.approx(-1.0, abs=1e-9)


def test_other_rows_of_a_rotation_vector_jump_at_half_a_turn() -> None:
    """Two that are asked to be something else, and one alone."""
    problem, samples = turning_hand([True, True, False])
    vector = problem.constraints.owners[0].measured
    some = Implicit.equal(vector, [1e-3, 0.0, 0.0], mask=[True, True, False])
    for rows in (some, Implicit.zero(vector, mask=[True, False, False])):
        found = certify(Problem(vector.robot, [rows]), samples[2])  # type: ignore[attr-defined]
        assert found.status is NOT_PROVED
        assert "half a turn" in found.reason


@pytest.mark.parametrize("free", range(3))
@pytest.mark.parametrize("size", [1e-3, 0.1])
def test_a_target_that_passes_zero_is_followed_by_the_rows_that_are_asked(free: int, size: float) -> None:
    """A leg whose target is zero in its middle is proved as one is whose target is so elsewhere; judged by Newton."""
    mask = [k != free for k in range(3)]
    vector: Any = turning_hand(mask)[0].constraints.owners[0].measured
    turn = Implicit.equal(Affine(np.eye(3)[:1], inputs=vector.robot.space), [1.0], name="turn")
    problem = Problem(vector.robot, [Implicit.equal(vector, mask=mask, name="tilted"), turn])
    exact = Projector(problem, Options(threshold=1e-13))
    found = list[PathCertificate]()
    for last in (size, 1.01 * size):
        first, second = (problem.rhs.replace(0, s * np.array(mask)) for s in (-size, last))
        Q = [exact.project(np.array([1.0, 0.0, 0.0]), each).or_raise().q for each in (first, second)]
        moved = MovingRightHandSide(first, second)
        piece = Piece(problem, moved, np.array(Q), np.array([0.0, 1.0]), Options.local())
        found.append(Path((piece,)).certify())
        assert found[-1].status is PROVED, found[-1]
        straight = problem.space.interpolate(Q[0], Q[1], 0.5)
        middle = exact.project(straight, moved.at(0.5)).or_raise().q
        assert np.abs(problem.space.difference(straight, middle)).max() <= found[-1].r + 1e-12
    assert found[0].r < 2.0 * found[1].r


def test_half_a_turn_is_named() -> None:
    """Rows of a rotation vector that are asked to be half a turn."""
    robot, rng = arm(), np.random.default_rng(2)
    q = robot.random(rng)
    half = robot.at(q).placement("tool")
    turned = np.asarray(half.rotation) @ np.diag([1.0, -1.0, -1.0])
    reference = np.eye(4)
    reference[:3, :3] = turned
    f = Orientation(robot, "tool", reference=reference)
    problem = Problem(robot, [Implicit(f, Comparison.EQUALITY)], Bounds.none(robot.space))
    sides = problem.rhs_from(q)
    moved = robot.space.integrate(q, 1e-4 * np.eye(robot.nv)[0])
    piece = Piece(problem, MovingRightHandSide(sides), np.array([q, moved]), np.array([0.0, 1.0]), Options.local())
    found = Path((piece,)).certify(limits=PathLimits(halvings=1))
    assert found.status is NOT_PROVED


def test_right_hand_sides_that_nothing_is_proved_of_are_named() -> None:
    problem = circle()
    by_time = MovingRightHandSide(function=lambda s: problem.rhs)
    piece = Piece(problem, by_time, arc(0.0, 0.1), np.array([0.0, 1.0]), Options.local())
    assert "function of time" in Path((piece,)).certify().reason
    beyond = MovingRightHandSide(problem.rhs, problem.rhs, window=(0.0, 1.5))
    piece = Piece(problem, beyond, arc(0.0, 0.1), np.array([0.0, 1.0]), Options.local())
    assert "stand still on a part of it" in Path((piece,)).certify().reason
    problem, q = moving(Rotation(arm(), "tool"))
    far = np.array(pin.Quaternion(pin.exp3(np.array([0.0, 0.0, 3.05]))).coeffs())
    sides = MovingRightHandSide(problem.rhs.replace(0, [0, 0, 0, 1]), problem.rhs.replace(0, far))
    piece = Piece(problem, sides, np.array([q, q]), np.array([0.0, 1.0]), Options.local())
    assert "turns by nearly half a turn" in Path((piece,)).certify().reason
    problem, q = moving(Rotation(arm(), "tool"), mask=[True, True, False])
    sides = MovingRightHandSide(problem.rhs_from(q), problem.rhs_from(q + 0.01))
    piece = Piece(problem, sides, np.array([q, q + 0.01]), np.array([0.0, 1.0]), Options.local())
    assert "some of its rows are left out" in Path((piece,)).certify().reason


def moving(f: Function, **options: Any) -> tuple[Problem, np.ndarray]:
    """A problem of one function, and a configuration away from singularities."""
    return Problem(arm(), [Implicit.equal(f, name="hand", **options)]), arm().random(np.random.default_rng(3))


@pytest.mark.parametrize("f", [Pose(arm(), "tool"), Rotation(arm(), "tool"), Pose(arm(), "tool", outputs=R3xSO3)])
@pytest.mark.parametrize("way", [0.02, 0.3])
def test_targets_that_move_on_a_group_are_followed(f: Function, way: float) -> None:
    """Judged by Newton at times between: the solution next to the way is within r, for each target on its geodesic."""
    problem, q = moving(f)
    end = arm().space.integrate(q, way * np.array([0.5, -0.4, 0.3, 0.6, -0.2, 0.5, 0.3]))
    ends = problem.rhs_from(q), problem.rhs_from(end)
    piece = Piece(problem, MovingRightHandSide(*ends), np.array([q, end]), np.array([0.0, 1.0]), Options.local())
    found = Path((piece,)).certify()
    assert found.status is PROVED, found
    assert found.check() == []
    exact = Projector(problem, Options(threshold=1e-12))
    for t in np.linspace(0.0, 1.0, 30):
        k = int(np.clip(np.searchsorted(found.times, t) - 1, 0, len(found.legs) - 1))
        t0, t1 = found.times[k : k + 2]
        on_way = arm().space.interpolate(found.stops[k], found.stops[k + 1], (t - t0) / (t1 - t0))
        target = f.outputs.interpolate(ends[0].of(0), ends[1].of(0), t)
        solved = exact.project(on_way, problem.rhs.replace(0, target)).or_raise()
        assert np.abs(solved.q - on_way).max() <= found.r + 1e-9


def test_a_target_on_a_group_does_not_hide_a_jump() -> None:
    """Two postures of six joints that hold nearly the same pose."""
    problem, rng = ur_like(), np.random.default_rng(1)
    space = problem.space
    q = space.random(rng)
    sides = problem.rhs_from(q)
    batch = Projector(problem).project_batch(np.array([space.random(rng) for _ in range(40)]), sides)
    apart = [float(np.abs(space.difference(q, other)).max()) for other in batch.q[batch.success]]
    far = batch.q[batch.success][int(np.argmax(apart))]
    assert max(apart) > 0.5
    moved = problem.rhs.replace(0, problem.constraints.owners[0].group.integrate(sides.of(0), 1e-3 * np.ones(6)))
    end = Projector(problem).project(far, moved).or_raise().q
    piece = Piece(problem, MovingRightHandSide(sides, moved), np.array([q, end]), np.array([0.0, 1.0]), Options.local())
    assert Path((piece,)).certify().status is NOT_PROVED


def ur_like() -> Problem:
    """Six joints, and a pose of the last."""
    robot = published_postures.manseur_doty().robot
    assert robot is not None
    return Problem(robot, [Implicit.equal(Pose(robot, "hand"), name="hand")])


def test_limits_end_the_search() -> None:
    path = claims.path_through(circle(), arc(0.0, 2.5))
    assert "halved 1 times" in path.certify(limits=PathLimits(halvings=1)).reason
    few = path.certify(limits=PathLimits(legs=2))
    assert "more than 2 legs" in few.reason
    assert few.stuck is not None
    assert "piece 0" in str(few.stuck)
    for wrong in ({"halvings": -1}, {"legs": 0}, {"legs": 1.5}):
        with pytest.raises(OptionError):
            PathLimits(**wrong)  # type: ignore[arg-type]


def test_bad_arguments() -> None:
    with pytest.raises(WrongObjectError, match="path to be certified"):
        certify_path(circle())  # type: ignore[arg-type]
    path = claims.path_through(circle(), arc(0.0, 0.1))
    with pytest.raises(WrongObjectError, match="collisions"):
        path.certify("post")  # type: ignore[arg-type]
    with pytest.raises(WrongObjectError, match="limits"):
        path.certify(limits=3)  # type: ignore[arg-type]
    with pytest.raises(SpaceMismatchError):
        path.certify(CollisionModel(arm(), [Shape("ball", "Sphere", (0.1,))]))
    with pytest.raises(PathError):
        Path(())
    with pytest.raises(SizeError):
        claims.path_through(circle(), arc(0.0, 0.1)[:1])


def test_two_samples_that_are_the_same_are_a_path() -> None:
    found = claims.path_through(circle(), np.array([[1.0, 0.0], [1.0, 0.0]])).certify()
    assert found.status is PROVED
    assert found.r < 1e-9


# Collisions.


def test_a_path_is_free_by_motion_and_distance_or_it_is_said_what_is_met() -> None:
    path = level_path()
    tool = Shape("glass", "Sphere", (0.03,), "tool")
    middle = arm().at(path(0.5)).placement("tool").translation
    ways = np.array([arm().at(q).placement("tool").translation for q in path.samples])

    def post(at: Any) -> CollisionModel:
        return CollisionModel(arm(), [tool, Shape("post", "Sphere", (0.02,), placement=[*at, 0, 0, 0, 1])])

    far = path.certify(post([0.0, 0.0, 2.5]))
    assert far.status is PROVED, far
    assert any("coal" in name for name in far.rests_on)
    hit = path.certify(post(middle))
    assert hit.status is NOT_PROVED
    assert "'glass'" in hit.reason
    assert "'post'" in hit.reason
    above = np.array([*middle[:2], middle[2] + 0.05 + 1e-5])
    assert np.linalg.norm(ways - above, axis=1).min() > 0.05
    assert path.certify([post(above)]).reason == path.certify(post(above)).reason
    with pytest.raises(SizeError, match="one for each piece"):
        path.certify([post(above)] * 2)
    touching = path.certify(post(above))
    assert touching.status is NOT_PROVED
    assert "may meet" in touching.reason


def test_collisions_are_looked_at_as_far_as_the_curve_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it meets the next leg it may be farther from its way than the leg itself asks for; here all are."""
    monkeypatch.setattr(leg_search, "SPARE", 0.5)
    path, looked = level_path(), dict[tuple[float, ...], float]()
    look = LegSearch._met  # pyright: ignore[reportPrivateUsage]

    def seen(self: LegSearch, ways: Way, far: np.ndarray) -> list[str]:
        for q, most in zip(map(tuple, ways.middle), far.tolist(), strict=True):
            looked[q] = max(most, looked.get(q, 0.0))
        return look(self, ways, far)

    monkeypatch.setattr(LegSearch, "_met", seen)
    high = Shape("post", "Sphere", (0.02,), placement=[0.0, 0.0, 2.5, 0.0, 0.0, 0.0, 1.0])
    search = PieceSearch(
        path.pieces[0], CollisionModel(arm(), [Shape("glass", "Sphere", (0.03,), "tool"), high]), PathLimits(), 1000
    )
    search.run()
    assert not search.reason
    for proof, far in zip(search.proved, search.reaches, strict=True):
        middle = tuple(arm().space.interpolate(proof.part.q0, proof.part.q1, 0.5))
        near = [most for q, most in looked.items() if np.allclose(q, middle, rtol=0.0, atol=1e-9)]
        assert max(near) >= far
    assert len(search.proved) > 3


def test_connections_are_certified_where_that_is_asked() -> None:
    path = level_path()
    problem = path.pieces[0].problem
    found = connect(problem, path.start, path.end, rng=np.random.default_rng(0), certified=True)
    assert found.status is PlanningStatus.FOUND
    assert found.certificate is not None
    assert found.certificate.check() == []
    f = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: 2.0 * q, name="my circle")
    refused = connect(
        Problem(Rn(2), [Implicit.zero(f)]), [1.0, 0.0], [0.0, 1.0], rng=np.random.default_rng(0), certified=True
    )
    assert refused.status is PlanningStatus.NOT_PROVED
    assert refused.path is not None
    assert "my circle" in str(refused)
    with pytest.raises(Exception, match="NOT_PROVED"):
        refused.or_raise()
    plain = connect(problem, path.start, path.end, rng=np.random.default_rng(0))
    assert plain.certificate is None


# The check.


def test_the_check_imports_numpy_and_the_check_of_certificates() -> None:
    tree = ast.parse(File(check_module.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imports}
    assert modules == {"__future__", "collections.abc", "itertools", "typing", "numpy", "check"}


def a_proof() -> PathCertificate:
    return certify_path(claims.path_through(circle(), arc(0.0, 0.4, 4)))


def test_a_certificate_travels_and_is_checked_again() -> None:
    assert pickle.loads(pickle.dumps(a_proof())).check() == []


def changed(found: PathCertificate, k: int, **entries: Any) -> PathCertificate:
    legs = list(found.legs)
    legs[k] = legs[k]._replace(numbers=legs[k].numbers._replace(**entries))
    return replace(found, legs=tuple(legs))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: replace(c, r=0.5 * c.r), "within"),
        (lambda c: replace(c, R=1.01 * c.R), "ball"),
        (lambda c: changed(c, 1, residual_upper=c.legs[1].numbers.residual_upper + 1.0), "mapped"),
        (lambda c: changed(c, 1, variation=1.0), "contraction"),
        (lambda c: changed(c, 0, size=1.01 * 2e-3), "ball"),
        (lambda c: changed(c, 0, margins=np.zeros(1), rates=np.ones((1, 1))), "missed"),
        (lambda c: replace(c, legs=(c.legs[0]._replace(pull=1e20), *c.legs[1:])), "joined"),
        *(
            (lambda c, x=x: replace(c, legs=(c.legs[0]._replace(pull=x), *c.legs[1:])), f"pull is {x}")
            for x in (np.nan, np.inf)
        ),
        (lambda c: replace(c, legs=(c.legs[0]._replace(at_stops=c.legs[0].at_stops + 1.0), *c.legs[1:])), "joined"),
        (lambda c: replace(c, legs=(c.legs[0]._replace(at_stops=c.legs[0].at_stops[:, ::-1]), *c.legs[1:])), "bounds"),
        (lambda c: replace(c, legs=(c.legs[0]._replace(at_stops=np.zeros(2)), *c.legs[1:])), "bounds"),
        (lambda c: changed(c, 0, preconditioner=0.0 * c.legs[0].numbers.preconditioner), "contraction"),
        (lambda c: replace(c, legs=(c.legs[0], c.legs[2])), "not the ends of the legs"),
        (lambda c: replace(c, legs=(c.legs[0]._replace(joined=True), *c.legs[1:])), "stops"),
        (lambda c: replace(c, times=c.times[1:]), "times of the stops"),
        (lambda c: replace(c, legs=(), times=c.times[:0], stops=c.stops[:0]), "leg"),
    ],
)
def test_the_check_sees_numbers_that_prove_nothing(change: Any, words: str) -> None:
    assert words in "; ".join(change(a_proof()).check())


def test_the_words_of_a_certificate() -> None:
    found = a_proof()
    assert "PROVED" in repr(found)
    assert "3 legs" in found.describe()
