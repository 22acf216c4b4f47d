"""Legs that are proved by samples: bounds by lengths, premises by differences, and what they must refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import path_claims as claims
import pytest
from robots import panda, ur5
from short_paths import cases, held, kept, unit, upright

from constraints import Bounds, Implicit, Pose, Position, Problem, Projector, Robot, Rotation
from constraints.certificates import CertificateStatus, slopes
from constraints.certificates.paths import leg_search, tubes
from constraints.certificates.paths.leg import Way
from constraints.certificates.paths.leg_search import LegSearch
from constraints.certificates.paths.parts import NoLeg, Proof, WayPart
from constraints.certificates.paths.tubes import Tubes
from constraints.certificates.samples import Samples
from constraints.solvers.evaluation import Evaluation
from constraints.workspace import Workspace
from liegroups import SE3, SO3, R3xSO3

PROVED = CertificateStatus.PROVED


# Rows by v, on a tube.


@pytest.mark.parametrize("name", ["pose", "place and rotation", "rotation", "upright", "slide", "feet", "foot on foot"])
def test_rows_change_no_faster_than_their_bounds(name: str) -> None:
    """First and second derivatives by v of the rows, by differences, at places of the tube."""
    path, search = cases()[name]
    found, problem, rng = search._tubes, path.pieces[0].problem, np.random.default_rng(8)
    assert isinstance(found, Tubes)
    columns, t = problem.implicit_dofs.astype(float), 2e-4

    def errors(q: np.ndarray, V: np.ndarray) -> np.ndarray:
        return found._samples.at(problem.space.integrate(np.repeat(q[None], len(V), axis=0), V))[0]

    largest = np.zeros(2)
    for q in path.samples:
        for _ in range(30):
            v, x = 0.02 * rng.uniform() * unit(rng, columns), unit(rng, columns)
            before, here, after = errors(q, np.array([v - t * x, v, v + t * x]))
            for block in found.blocks:
                if np.linalg.norm(here[block.rows]) > 0.9 * block.farthest:
                    continue
                a, b, c = (e[block.rows] for e in (before, here, after))
                sizes = np.linalg.norm([(c - a) / (2.0 * t), (a - 2.0 * b + c) / t**2], axis=1)
                assert (sizes <= [block.slope, block.bend + 1e-6]).all()
                largest = np.maximum(largest, sizes / [block.slope, block.bend])
    assert (largest > 0.005).all()


def proofs(search: Any) -> list[Proof]:
    samples, times = search.piece.samples, search.piece.times
    frozen = search.problem.frozen
    parts = [WayPart(times[i], times[i + 1], samples[i], samples[i + 1], 0, frozen) for i in range(len(samples) - 1)]
    found = search._in_tubes(parts)
    return [found[i] for i in range(len(parts)) if isinstance(found.get(i), Proof)]


def missed(search: Any, proof: Proof, rng: np.random.Generator) -> float:
    """The largest part of what its premises allow that is used, at random places: more than 1 where they do not hold.

    Of how far C times the Jacobian is from that in the middle, and of residuals.
    """
    part, leg, space = proof.part, proof.leg, search.space
    way = Way.between(space, part.q0[None], part.q1[None], search.problem.frozen, np.array([leg.numbers.size]))
    n, columns = leg.numbers, way.moving.astype(float)

    def G(v: np.ndarray) -> np.ndarray:
        return search._tubes._samples.at(space.integrate(way.middle, v[None]))[0][0]

    def slopes(v: np.ndarray, t: float = 1e-5) -> np.ndarray:
        return np.array([(G(v + t * e) - G(v - t * e)) / (2.0 * t) for e in np.diag(columns)]).T

    here, used = slopes(np.zeros(space.nv)), 0.0
    for _ in range(6):
        tau, w = rng.choice([-1.0, 1.0, rng.uniform(-1.0, 1.0)]), n.size * unit(rng, columns)
        turned = n.preconditioner @ (slopes(tau * way.d[0] + w) - here)
        used = max(used, float(np.linalg.norm(turned, 2)) / float(n.variation))
        residual = G(tau * way.d[0])
        middle, radius = 0.5 * (n.residual_lower + n.residual_upper), 0.5 * (n.residual_upper - n.residual_lower)
        used = max(used, float((np.abs(residual - middle) / radius).max()))
    return used


@pytest.mark.parametrize("name", ["pose", "upright", "slide", "feet"])
def test_premises_hold_at_places_of_the_tube(name: str) -> None:
    _, search = cases()[name]
    found, rng = proofs(search), np.random.default_rng(9)
    assert len(found) == 4
    assert max(missed(search, proof, rng) for proof in found) <= 1.0


@pytest.mark.parametrize(("rows", "step"), [(held(Pose, panda().frame_names[-1]), 0.06), (upright, 0.1)])
def test_premises_hold_at_places_of_long_legs(rows: Any, step: float) -> None:
    _, search = kept(panda(), [rows], 3, step)
    found, rng = proofs(search), np.random.default_rng(10)
    assert len(found) == 4
    assert max(missed(search, proof, rng) for proof in found for _ in range(4)) <= 1.0


@pytest.mark.parametrize("name", ["pose", "upright", "slide"])
def test_premises_by_too_small_a_slope_do_not_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tenth of a thousandth of it: what is looked at above is seen to fail."""
    _, search = cases()[name]
    less = [block._replace(bend=1e-4 * block.bend, farthest=min(block.farthest, 1.0)) for block in search._tubes.blocks]
    monkeypatch.setattr(search._tubes, "blocks", less)
    rng = np.random.default_rng(9)
    assert max(missed(search, proof, rng) for proof in proofs(search)) > 1.0


@pytest.mark.parametrize("name", ["pose", "rotation", "feet"])
def test_samples_are_rows_and_jacobians_of_the_problem(name: str) -> None:
    """By kernels for many configurations, by the functions for many, and by the problem for each."""
    path, search = cases()[name]
    problem, Q, samples = path.pieces[0].problem, path.samples, search._tubes._samples
    plain = Evaluation(problem.robot or problem.space, problem.constraints).rows_of_many(Q, problem.rhs, Workspace())
    for E, J in (samples.at(Q), plain):
        np.testing.assert_allclose(E, [problem.error(q) for q in Q], atol=1e-12)
        np.testing.assert_allclose(J, [problem.jacobian(q) for q in Q], atol=1e-12)


# What must be refused.


def test_samples_that_are_off_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows that are rounded a thousand times worse than is said nothing is proved by samples; it is by boxes."""
    path, _ = kept(panda(), [held(Pose, panda().frame_names[-1])], 1)
    right = Samples.at

    def off(self: Samples, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        errors, jacobians = right(self, Q)
        return errors, jacobians + 1e-7

    monkeypatch.setattr(Samples, "at", off)
    assert LegSearch(path.pieces[0], None)._tubes is None
    assert path.certify().status is PROVED


@pytest.mark.parametrize(("limit", "value"), [("LONGEST_WAY", 0.01), ("MOST_TURNED", 1e-3), ("FARTHEST_TILT", 1e-3)])
def test_what_leaves_the_tube_is_not_proved_by_it(limit: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tubes if limit == "LONGEST_WAY" else slopes, limit, value)
    rows = [upright] if limit == "FARTHEST_TILT" else [held(Pose, panda().frame_names[-1])]
    _, search = kept(panda(), rows, 2)
    assert proofs(search) == []


def test_with_too_few_samples_nothing_is_proved_and_the_part_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two samples the curve may then leave its ball, and the Jacobian lose its rank."""
    _, search = kept(panda(), [held(Pose, panda().frame_names[-1])], 3, 0.06)
    parts, search.halvings = [proof.part for proof in proofs(search)], 1
    assert len(parts) == 4
    monkeypatch.setattr(tubes, "OF_VARIATION", 30.0)
    monkeypatch.setattr(leg_search, "FINER", (1,))
    assert [type(answer) for answer in search._in_tubes(parts).values()] == [NoLeg] * 4


def test_a_joint_on_its_bound_is_held_by_samples_too() -> None:
    """A tool keeps its place while the first joint stands at its lower bound."""
    robot, rng = panda(), np.random.default_rng(0)
    row = held(Position, robot.frame_names[-1])(robot, 0.5 * robot.random(rng) + 0.5 * robot.neutral)
    still = Problem(robot, [row], Bounds.none(robot.space), frozen=[robot.joint_names[0]])
    Q = [Projector(still).project(0.5 * robot.neutral + 0.5 * robot.random(rng)).or_raise().q]
    for _ in range(3):
        step = still.project_tangent(Q[-1], rng.normal(size=robot.nv))
        ahead = robot.space.integrate(Q[-1], 0.03 * step / np.linalg.norm(step))
        Q.append(Projector(still).project(ahead).or_raise().q)
    problem = Problem(robot, [row], Bounds.none(robot.space).replace({robot.joint_names[0]: (Q[0][0], 3.0)}))
    path = claims.path_through(problem, np.array(Q))
    search, piece = LegSearch(path.pieces[0], None), path.pieces[0]
    times, Q = piece.times.tolist(), list(piece.samples)
    parts = [WayPart(times[i], times[i + 1], Q[i], Q[i + 1], 0, problem.frozen) for i in range(3)]
    for answer in search._in_tubes(parts).values():
        assert isinstance(answer, WayPart)
        assert np.flatnonzero(answer.held).tolist() == [0]
        assert answer.tries == 1
    certificate = path.certify()
    assert certificate.status is PROVED
    assert certificate.held == (robot.joint_names[0],)
    assert f"held somewhere: {robot.joint_names[0]}" in certificate.describe()


@pytest.mark.parametrize("seed", range(20))
def test_the_pose_of_a_tool_does_not_hide_an_elbow_that_flips(seed: int) -> None:
    """All six rows of a pose, the tool stays, and the elbow jumps, between two legs that are looked at together."""
    path = claims.between_elbows_of_a_tool(seed)
    assert isinstance(LegSearch(path.pieces[0], None)._tubes, Tubes)
    assert path.certify().status is not PROVED


def test_rows_that_do_not_say_where_all_of_a_rotation_is_are_enclosed_by_boxes() -> None:
    """Five rows of a pose: the sixth may be anywhere, and the slope of the logarithm with it."""
    last = ur5().frame_names[-1]
    mask = [True, True, True, True, True, False]
    for outputs in (SE3, R3xSO3):
        path, search = kept(ur5(), [held(Pose, last, mask=mask, outputs=outputs)], 4)
        assert search._tubes is None
        assert path.certify().check() == []


def test_rows_of_a_rotation_that_are_to_be_a_number_are_near_the_identity_or_enclosed_by_boxes() -> None:
    """They are what is left to that number; slopes of the logarithm are bounded near the identity."""
    last = panda().frame_names[-1]

    def logarithm(robot: Robot, q: np.ndarray) -> Implicit:
        f = Rotation(robot, last)
        value = SO3.difference(SO3.neutral, f.value(q))
        return Implicit(f, lower=value, upper=value, name="rotation")

    _, search = kept(panda(), [logarithm])
    assert isinstance(search._tubes, Tubes)
    assert proofs(search) == []


def test_what_is_proved_by_samples_is_where_it_is_said_to_be() -> None:
    """Solutions at right angles to the way, by Newton's method, are within r, and one of them is not much nearer."""
    path, _ = cases()["pose"]
    found, problem = path.certify().or_raise(), path.pieces[0].problem
    assert found.check() == []
    farthest = 0.0
    for k, leg in enumerate(found.legs):
        assert leg.numbers.size > 0.0
        for tau in (0.25, 0.5, 0.75):
            way = q = problem.space.interpolate(found.stops[k], found.stops[k + 1], tau)
            for _ in range(6):
                q = problem.space.integrate(q, -np.linalg.pinv(problem.jacobian(q)) @ problem.error(q))
            farthest = max(farthest, float(np.abs(problem.space.difference(way, q)).max()))
    assert 0.005 * found.r < farthest <= found.r
