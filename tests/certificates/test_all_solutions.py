"""All solutions: those that are known from elsewhere, each proved, and what is said where they are not all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import published_postures as published
import pytest
from certificate_claims import two_links
from robots import arm, needs_robot_data, ur5

import constraints.certificates.boxes.solutions as module
from constraints import Bounds, Function, Implicit, Pose, Position, Problem
from constraints.certificates import CertificateStatus, CompleteBy, SearchLimits, all_solutions
from constraints.certificates.boxes.cutting import Boxes
from constraints.certificates.boxes.searching import Ball
from constraints.errors import OptionError, SpaceMismatchError, WrongObjectError
from constraints.functions.affine import Identity
from constraints.models.mechanisms import five_bar
from constraints.robot import Robot
from liegroups import Rn

COMPLETE, OPEN = CertificateStatus.COMPLETE, CertificateStatus.OPEN
SEARCH, COUNT = CompleteBy.SEARCH, CompleteBy.COUNT


def tip_at(x: float, y: float, robot: Robot | None = None) -> Problem:
    """Its tip at a point of the plane."""
    robot = robot or two_links()
    return Problem(robot, [Implicit.equal(Position(robot, "tip")[:2], [x, y])])


def same(found: Any, known: Any, off: float = 1e-6) -> bool:
    """Whether each of two lists of postures has those of the other, but for whole turns."""
    far = np.abs(np.exp(1j * np.asarray(found)[:, None]) - np.exp(1j * np.asarray(known)[None])).max(axis=2)
    return len(found) == len(known) and bool((far.min(axis=0) < off).all() and (far.min(axis=1) < off).all())


def test_two_links_have_two_postures() -> None:
    """By the law of cosines."""
    x, y = 0.3, 0.5
    bend = np.arccos((x * x + y * y - 0.25 - 0.16) / 0.4)
    known = [[np.arctan2(y, x) - np.arctan2(0.4 * np.sin(b), 0.5 + 0.4 * np.cos(b)), b] for b in (bend, -bend)]
    found = all_solutions(tip_at(x, y))
    assert (found.status, found.complete_by) == (COMPLETE, SEARCH)
    assert same(found.q, known)
    assert all(certificate.check() == [] for certificate in found.certificates)
    assert all((np.abs(np.sin(0.5 * (found.q - np.array(q)))).min(axis=0) <= 1e-8).all() for q in known)


def test_out_of_reach_there_is_none() -> None:
    found = all_solutions(tip_at(0.9, 0.1))
    assert (found.status, len(found), found.open) == (COMPLETE, 0, 0.0)
    assert found.boxes > 0


def test_bounds_leave_some_out_and_whole_turns_count_once() -> None:
    only = all_solutions(tip_at(0.3, 0.5), box=Bounds(two_links().space, np.array([-4.0, 0.0]), np.array([4.0, 3.0])))
    assert (only.status, len(only)) == (COMPLETE, 1)
    twice = all_solutions(tip_at(0.3, 0.5, two_links(shoulder=(-7.0, 7.0), elbow=(-7.0, 7.0))))
    assert (twice.status, len(twice)) == (COMPLETE, 2)
    assert len(all_solutions(tip_at(0.3, 0.5, two_links(shoulder=(-3.0, 3.0), elbow=(-3.0, 3.0))))) == 2
    for bounds, least in (((-np.inf, -9.0), -9.0 - 2.0 * np.pi), ((9.0, np.inf), 9.0)):
        beyond = all_solutions(
            tip_at(0.3, 0.5, two_links(shoulder=bounds, elbow=bounds))
        )  # in the turn beside the bound
        assert (beyond.status, len(beyond)) == (COMPLETE, 2)
        assert ((least <= beyond.q) & (beyond.q <= least + 2.0 * np.pi)).all()


def test_a_five_bar_has_four_postures() -> None:
    """Each arm has two, by the law of cosines."""
    robot, point = five_bar().robot, np.array([0.05, 0.4])
    known = list[list[float]]()
    for x in (-0.15, 0.15):
        away = point - [x, 0.0]
        d = float(np.hypot(*away))
        at_pivot = np.arccos((0.25**2 + d * d - 0.35**2) / (2.0 * 0.25 * d))
        at_elbow = np.arccos((0.25**2 + 0.35**2 - d * d) / (2.0 * 0.25 * 0.35))
        toward = np.arctan2(away[1], away[0])
        known.append([toward + at_pivot, at_elbow - np.pi, toward - at_pivot, np.pi - at_elbow])
    left, right = (np.array(k).reshape(2, 2) for k in known)
    tips = Position(robot, "left_outer_end")[:2], Position(robot, "left_outer_end", reference="right_outer_end")[:2]
    found = all_solutions(Problem(robot, [Implicit.equal(tips[0], point), Implicit.equal(tips[1], [0.0, 0.0])]))
    assert (found.status, found.complete_by) == (COMPLETE, SEARCH)
    assert same(found.q, [[*a, *b] for a in left for b in right])
    assert found.seconds < 10.0


def by_many_starts(robot: Any, frame: str, pose: Any, starts: int) -> np.ndarray:
    """Postures of an arm by Newton's steps of plain pinocchio from random ones."""
    model, rng, found = robot.model, np.random.default_rng(0), list[np.ndarray]()
    data, at = model.createData(), model.getFrameId(frame)
    for _ in range(starts):
        q = rng.uniform(-np.pi, np.pi, model.nq)
        for _ in range(40):
            pin.computeJointJacobians(model, data, q)
            M = pin.updateFramePlacement(model, data, at)
            error = pin.log6(M.actInv(pose)).vector
            if np.abs(error).max() < 1e-11:
                if all(np.abs(np.exp(1j * q) - np.exp(1j * p)).max() > 1e-6 for p in found):
                    found.append(q)
                break
            J = pin.Jlog6(pose.actInv(M)) @ pin.getFrameJacobian(model, data, at, pin.LOCAL)
            step = J.T @ np.linalg.solve(J @ J.T + 1e-10 * np.eye(6), pin.log6(pose.actInv(M)).vector)
            q = q - step / max(1.0, float(np.abs(step).max()))
    return np.array(found)


@needs_robot_data
def test_the_eight_postures_of_a_ur5() -> None:
    robot, q = ur5(), np.array([0.3, -1.1, 1.4, 0.5, 0.9, -0.4])
    f = Pose(robot, "ee_link")
    found = all_solutions(Problem(robot, [Implicit.equal(f, f.value(q))]))
    assert (found.status, found.complete_by, len(found)) == (COMPLETE, SEARCH, 8)
    assert same(found.q, by_many_starts(robot, "ee_link", robot.at(q).placement("ee_link"), 150))
    assert found.seconds < 60.0


def test_sixteen_postures_by_search_and_by_count() -> None:
    problem = published.manseur_doty()
    found = all_solutions(problem)
    assert (found.status, found.complete_by, len(found)) == (COMPLETE, SEARCH, 16)
    counted = all_solutions(problem, count=16, source=published.SIXTEEN)
    assert (counted.status, counted.complete_by, counted.boxes) == (COMPLETE, COUNT, 0)
    assert "Primrose" in counted.reason
    for angles in published.SIXTEEN_POSTURES:  # cut to hundredths of a degree
        apart = (found.q - angles + np.pi) % (2.0 * np.pi) - np.pi
        assert np.rad2deg(np.abs(apart).max(axis=1).min()) < 0.0101
    assert same(found.q, counted.q)


def test_forty_postures_of_a_platform() -> None:
    found = all_solutions(published.dietmaier(), count=40, source=published.FORTY)
    assert (found.status, found.complete_by, len(found)) == (COMPLETE, COUNT, 40)
    assert all(certificate.check() == [] for certificate in found.certificates)


def test_six_postures_of_a_plate_on_three_arms() -> None:
    problem = published.three_rrr(**published.SIX_POSTURES)
    found = all_solutions(problem)
    assert (found.status, found.complete_by, len(found)) == (COMPLETE, SEARCH, 6)
    assert all_solutions(problem, count=6, source=published.SIX).complete_by is COUNT


def test_formulas_and_other_spaces() -> None:
    """A circle and a hyperbola cross in four points: x = cos t, y = sin t, 2 x y = sin 2 t = 1/2."""
    x = Identity(Rn(2))
    rows = [Implicit.equal(x[0] * x[0] + x[1] * x[1], 1.0), Implicit.equal(x[0] * x[1], 0.25)]
    found = all_solutions(Problem(Rn(2), rows, Bounds(Rn(2), np.full(2, -2.0), np.full(2, 2.0))))
    assert (found.status, len(found)) == (COMPLETE, 4)
    angles = np.sort(np.arctan2(found.q[:, 1], found.q[:, 0]) % (2.0 * np.pi))
    np.testing.assert_allclose(angles, np.array([1.0, 5.0, 13.0, 17.0]) * np.pi / 12.0, atol=1e-8)


# Nothing rests on the projections.


def test_what_projections_miss_is_found_in_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    known = all_solutions(published.manseur_doty(), count=16, source=published.SIXTEEN)
    monkeypatch.setattr(module._Known, "project", lambda self, rng: None)
    found = all_solutions(published.manseur_doty())
    assert (found.status, found.complete_by) == (COMPLETE, SEARCH)
    assert same(found.q, known.q)


def test_a_solution_that_is_not_proved_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no certificate is given, boxes around the solutions are left, and the status is OPEN."""
    monkeypatch.setattr(module._Known, "add", lambda self, q: False)
    found = all_solutions(tip_at(0.3, 0.5))
    assert (found.status, len(found)) == (OPEN, 0)
    assert "nothing excludes" in found.reason


def test_solutions_that_are_near_are_told_apart() -> None:
    """Stretched but for 1e-9 m, the elbow is bent by 9.5e-5 rad to either side, by the law of cosines."""
    reach = 0.9 - 1e-9
    bend = np.arccos((reach**2 - 0.41) / 0.4)
    found = all_solutions(tip_at(reach, 0.0))
    assert (found.status, len(found)) == (COMPLETE, 2)
    far = np.abs(np.sort(found.q[:, 1]) - [-bend, bend])
    assert (far <= max(c.r for c in found.certificates) + 1e-11).all()
    assert max(c.r for c in found.certificates) < 0.01 * bend


@pytest.mark.parametrize("apart", [0.0, 1e-12])
def test_solutions_that_are_one_are_open(apart: float) -> None:
    """The stretched arm: both postures are one, or so near that none is proved."""
    found = all_solutions(tip_at(0.9 - apart, 0.0))
    assert found.status is OPEN
    assert 0.0 < found.open < 1e-6
    with pytest.raises(Exception, match="OPEN"):
        found.or_raise()


def test_a_limit_leaves_a_share() -> None:
    found = all_solutions(published.manseur_doty(), limits=SearchLimits(20.0, 2000))
    assert found.status is OPEN
    assert 0.0 < found.open <= 1.0
    assert "2000 boxes" in found.reason
    assert found.complete_by is None


def test_a_count_that_is_too_small_is_no_proof() -> None:
    found = all_solutions(tip_at(0.3, 0.5), count=1, source="nobody")
    assert (found.status, len(found)) == (OPEN, 2)
    assert "does not hold" in found.reason


def test_a_count_that_is_too_large_needs_the_search() -> None:
    found = all_solutions(tip_at(0.3, 0.5), limits=SearchLimits(1.0), count=3, source="somebody")
    assert (found.status, found.complete_by, len(found)) == (COMPLETE, SEARCH, 2)


def test_functions_without_enclosure_are_named() -> None:
    f = Function.from_callable(lambda x: x[:1] ** 2, Rn(1), Rn(1), lambda x: 2.0 * x[None], name="my square")
    problem = Problem(Rn(1), [Implicit.equal(f, [1.0])], Bounds(Rn(1), np.array([-2.0]), np.array([2.0])))
    found = all_solutions(problem, limits=SearchLimits(1.0, 100))
    assert (found.status, len(found)) == (OPEN, 0)
    assert "my square" in found.reason


def test_bad_arguments() -> None:
    problem = tip_at(0.3, 0.5)
    with pytest.raises(WrongObjectError, match="problem to be searched"):
        all_solutions(problem.space)  # type: ignore[arg-type]
    with pytest.raises(SpaceMismatchError, match="box of a search"):
        all_solutions(problem, box=Bounds.none(Rn(3)))
    with pytest.raises(OptionError, match="source"):
        all_solutions(problem, count=2)
    with pytest.raises(OptionError, match="count"):
        all_solutions(problem, count=0, source="nobody")
    robot = arm()
    f = Pose(robot, "tool")
    with pytest.raises(OptionError, match="6 rows in 7 coordinates"):
        all_solutions(Problem(robot, [Implicit.equal(f, f.value(np.zeros(7)))]))


def test_frozen_coordinates_have_their_value_in_the_box() -> None:
    robot = arm()
    f, q = Pose(robot, "tool"), np.array([0.3, 0.5, 0.2, 1.1, 0.1, -0.4, 0.3])
    name = robot.joint_names[2]
    problem = Problem(robot, [Implicit.equal(f, f.value(q))], frozen=[name])
    with pytest.raises(OptionError, match=name):
        all_solutions(problem)
    box = robot.bounds.replace({name: (0.2, 0.2)})
    found = all_solutions(problem, box=box)
    assert found.status is COMPLETE, found
    assert (found.q[:, 2] == 0.2).all()
    assert np.abs(found.q - q).max(axis=1).min() < 1e-6


def test_a_neighbourhood_is_a_ball_and_no_box() -> None:
    """Its corners are outside: there another solution may be."""
    ball = Ball(np.zeros(2), np.eye(2), 1.0)
    boxes = Boxes(np.array([[0.6, 0.6], [0.8, 0.8], [-0.1, 0.9]]), np.array([[0.7, 0.7], [0.9, 0.9], [0.1, 0.95]]))
    assert ball.holds(boxes).tolist() == [True, False, True]
