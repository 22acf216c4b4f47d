"""Certificates: what is proved, what is refused, and that no claim that does not hold passes."""

from __future__ import annotations

import ast
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import certificate_claims as claims
import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from robots import arm, humanoid, two_arms

import constraints.certificates.check as check_module
from constraints import (
    Affine,
    Bounds,
    Comparison,
    Function,
    Implicit,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Transformation,
    locked_joint,
    mimic_constraints,
    project,
)
from constraints.certificates import Certificate, CertificateStatus, certify
from constraints.certificates.batch import certify_batch
from constraints.errors import NotFiniteError, OptionError, SizeError, WrongObjectError
from constraints.functions import Enclosure, Interval, TangentBox, norm, squared_distance
from constraints.functions.affine import Identity
from liegroups import SO2, Rn

PROVED, NOT_PROVED = CertificateStatus.PROVED, CertificateStatus.NOT_PROVED


@draws(6, 100)
def test_solutions_are_proved_and_found_in_50_digits(count: int) -> None:
    for seed in range(count):
        problem, q, sides = claims.well_posed(seed)
        found = certify(problem, problem.space.integrate(q, claims.noise(seed, problem, 1e-3)), sides)
        assert found.status is PROVED, found
        assert found.check() == []
        assert found.r < 0.1
        if seed % 3 == 0:
            assert claims.solved_in_digits(problem, found, sides)


@pytest.mark.parametrize("kind", claims.FALSE)
@draws(3, 200)
def test_claims_that_do_not_hold_never_pass(kind: str, count: int) -> None:
    assert not any(claims.FALSE[kind](seed) for seed in range(count))


def test_the_solution_is_where_algebra_says() -> None:
    """Of two links: the posture is known, and how far the other one is."""
    tip = claims.planar((0.5, 0.4))
    exact = np.array([0.3, 0.7])
    problem = Problem(Rn(2), [Implicit.equal(tip, tip.value(exact))])
    found = certify(problem, exact + np.array([1e-4, -2e-4]))
    assert found.status is PROVED
    assert 2e-4 <= found.r < 2.01e-4
    assert 0.01 < found.R < 2.0 * 0.7
    np.testing.assert_allclose(found.center, exact, atol=1e-9)
    assert found.condition == pytest.approx(np.linalg.cond(tip.jacobian(exact)), rel=1e-2)


def test_an_r_that_is_wanted_is_proved_or_not() -> None:
    tip = claims.planar((0.5, 0.4))
    problem = Problem(Rn(2), [Implicit.equal(tip, tip.value([0.3, 0.7]))])
    assert certify(problem, [0.3, 0.7], radius=1e-3).R == 1e-3
    refused = certify(problem, [0.3, 0.7], radius=3.0)
    assert refused.status is NOT_PROVED
    assert "contraction" in refused.reason
    assert refused.check()


def test_rows_that_are_straight_are_proved_far_around() -> None:
    problem = Problem(Rn(3), [Implicit.equal(Affine([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]), [1.0, 2.0])])
    found = certify(problem, [5.0, -3.0, 2.0])
    assert found.status is PROVED
    assert found.R >= 100.0


# Inequalities, bounds, frozen dofs.


def test_on_a_circle_no_ball_holds_the_solution_on_the_other_way_round() -> None:
    """A squared distance of 9 from the angle 0 is met at 3 and at -3, which is 0.283 farther on; 3 itself but once."""
    far = Problem(SO2, [Implicit.equal(squared_distance(SO2, SO2.neutral), [9.0])])
    found = certify(far, SO2.exp(np.array([3.0])))
    assert found.status is PROVED
    assert 0.02 < found.R < 2.0 * np.pi - 6.0
    refused = certify(far, SO2.exp(np.array([3.0])), radius=0.3)
    assert refused.status is NOT_PROVED
    assert "angle near half a turn" in refused.reason
    at = Problem(SO2, [Implicit.equal(Identity(SO2), SO2.exp(np.array([3.0])))])
    assert np.pi < certify(at, SO2.exp(np.array([2.9]))).R < 2.0 * np.pi


def test_a_problem_without_rows_in_play_is_proved_by_saying_so() -> None:
    above = Implicit.above(Position(arm(), "tool")[2], -10.0)
    found = certify(Problem(arm(), [above]), arm().random(np.random.default_rng(0)))
    assert found.status is PROVED
    assert (found.rows, found.active) == (0, ())
    assert "no row is in play" in str(found)
    assert found.check() == []


def test_an_inequality_that_is_missed_is_held_at_its_end() -> None:
    x = Identity(Rn(2))
    rows = [Implicit.above(x[0] * x[0] + x[1] * x[1], 1.0), Implicit.below(x[0], 5.0)]
    found = certify(Problem(Rn(2), rows), [0.6, 0.8 - 1e-5])
    assert found.status is PROVED
    assert len(found.active) == 1
    inside = certify(Problem(Rn(2), rows), [0.7, 0.8])
    assert (inside.status, inside.active, inside.r) == (PROVED, (), pytest.approx(0.0, abs=1e-12))


def test_a_solution_at_a_bound_holds_it() -> None:
    """On the line x + y = 1 the nearest point of q is beyond the bound of x: it stays there, and y goes on."""
    line = Implicit.equal(Affine([[1.0, 1.0]]), [1.0])
    bounds = Bounds(Rn(2), np.array([-1.0, -5.0]), np.array([0.25, 5.0]))
    found = certify(Problem(Rn(2), [line], bounds), [0.25, 0.7501])
    assert found.status is PROVED
    assert len(found.held) == 0 or found.center[0] == 0.25
    assert certify(Problem(Rn(2), [line], bounds), [0.25, 0.7499]).center[0] == 0.25
    tight = Bounds(Rn(2), np.array([-1.0, -5.0]), np.array([0.25, 0.7]))
    refused = certify(Problem(Rn(2), [line], tight), [0.25, 0.7])
    assert refused.status is NOT_PROVED


def test_frozen_dofs_stay_and_a_locked_joint_may_be_at_its_bound() -> None:
    robot, rng = arm(), np.random.default_rng(4)
    q = robot.random(rng)
    rows = Position(robot, "tool")[:2]
    found = certify(Problem(robot, [Implicit.equal(rows, rows.value(q))], frozen=[robot.joint_names[1]]), q)
    assert found.status is PROVED
    assert robot.joint_names[1] in found.held
    lower = float(robot.bounds.lower[3])
    q[3] = lower
    both = [Implicit.equal(rows, rows.value(q)), locked_joint(robot, robot.joint_names[3], lower)]
    found = certify(Problem(robot, both), q)
    assert found.status is PROVED, found
    assert found.center[3] == lower


def gripper(ratio: float, offset: float, *limits: float) -> Robot:
    """Two revolute joints with a finger and one that mimics it, with its limits."""
    mimics, turns, fingers = f"<mimic joint='finger' multiplier='{ratio}' offset='{offset}'/>", (-3.0, 3.0), (0.0, 0.04)
    joints = [
        ("a", "b", "revolute", "0 0 1", turns, ""),
        ("b", "c", "revolute", "0 0 1", turns, ""),
        ("c", "finger", "prismatic", "0 1 0", fingers, ""),
        ("c", "other", "prismatic", "0 -1 0", limits, mimics),
    ]
    links = "".join(f"<link name='{name}'/>" for name in ("a", "b", "c", "finger", "other"))
    parts = (
        f"<joint name='{child}' type='{kind}'><origin xyz='0.3 0 0'/><parent link='{parent}'/><child link='{child}'/>"
        f"<axis xyz='{axis}'/><limit lower='{low}' upper='{high}' effort='1' velocity='1'/>{mimic}</joint>"
        for parent, child, kind, axis, (low, high), mimic in joints
    )
    return Robot.from_urdf(f"<robot name='gripper'>{links}{''.join(parts)}</robot>")


@pytest.mark.parametrize("closed", [0.0, 0.04])
@pytest.mark.parametrize(
    ("ratio", "offset", "limits"),
    [
        (1.0, 0.0, (0.0, 0.04)),
        (0.5, 0.0, (0.0, 0.02)),
        (0.7, 0.0, (0.0, 0.028)),
        (3.0, 0.0, (0.0, 0.12)),
        (-1.0, 0.04, (0.0, 0.04)),
    ],
)
def test_a_mimic_joint_and_its_source_may_both_be_at_a_bound(
    ratio: float, offset: float, limits: tuple[float, float], closed: float
) -> None:
    """Where neither may be held to the last digit, both are held a hair inside."""
    robot = gripper(ratio, offset, *limits)
    at = {"b": 0.4, "c": 0.7, "finger": closed, "other": ratio * closed + offset}
    q = np.array([at[name] for name in robot.joint_names])
    for frame in ("finger", "other"):
        place = Position(robot, frame)[:2]
        problem = Problem(robot, [*mimic_constraints(robot), Implicit.equal(place, place.value(q))])
        found = certify(problem, q)
        assert found.status is PROVED, found
        assert found.check() == []
        assert found.r < 1e-6
        assert not problem.bounds.violations(found.center)


def test_a_mimic_joint_whose_limits_leave_its_source_no_place_is_not_proved() -> None:
    """The finger would have to be 1e-12 m beyond its bound."""
    robot = gripper(1.0, 0.0, -1.0, -1e-12)
    q = np.array([{"b": 0.4, "c": 0.7}.get(name, 0.0) for name in robot.joint_names])
    place = Position(robot, "finger")[:2]
    problem = Problem(robot, [*mimic_constraints(robot), Implicit.equal(place, place.value(q))])
    assert certify(problem, q).status is NOT_PROVED


def test_an_optional_last_level_does_not_count() -> None:
    robot = arm()
    q, f = robot.random(np.random.default_rng(5)), Position(robot, "tool")
    levels = [[Implicit.equal(f, f.value(q))], [Implicit.equal(Position(robot, "elbow"), [9.0, 9.0, 9.0])]]
    found = certify(Problem(robot, levels, optional_last=True), q)
    assert (found.status, found.rows) == (PROVED, 3)


def test_explicit_constraints_count_by_their_twins() -> None:
    robot = two_arms()
    q = robot.random(np.random.default_rng(6))
    coupling = locked_joint(robot, robot.joint_names[0], 0.2)
    rows = [coupling, Implicit.equal(Position(robot, "left_tool"), Position(robot, "left_tool").value(q))]
    result = project(robot, rows, q)
    assert result.success
    found = result.certify()
    assert (found.status, found.rows) == (PROVED, 4)


# What is in the way.


def test_redundant_rows_are_left_open_by_name() -> None:
    robot = arm()
    q, f = robot.random(np.random.default_rng(7)), Position(robot, "tool")
    rows = [Implicit.equal(f, f.value(q)), Implicit.equal(f[2], f.value(q)[2:], name="height again")]
    found = certify(Problem(robot, rows), q)
    assert found.status is NOT_PROVED
    assert len(found.open) == 1
    assert found.rows == 3
    assert np.isfinite(found.r)
    assert found.check() == [found.reason]


def test_functions_without_enclosure_are_named() -> None:
    f = Function.from_callable(lambda x: x[:1] ** 2, Rn(1), Rn(1), lambda x: 2.0 * x[None], name="my square")
    found = certify(Problem(Rn(1), [Implicit.equal(f, [1.0])]), [1.0])
    assert found.status is NOT_PROVED
    assert "my square" in found.reason


class Doubled(Identity):
    """Of a user, who vouches for its enclosure."""

    def enclosure(self, box: TangentBox) -> Enclosure:
        return Enclosure.centred(self.outputs, box, box.q, np.zeros(1), Interval.of(np.eye(1)))


def test_enclosures_of_users_are_named() -> None:
    found = certify(Problem(Rn(1), [Implicit.equal(Doubled(Rn(1), name="doubled"), [1.0])]), [1.0])
    assert (found.status, found.rests_on) == (PROVED, ("doubled",))
    assert "doubled" in found.describe()


def test_where_there_is_no_solution_nothing_is_proved() -> None:
    robot = arm()
    problem = Problem(robot, [Implicit.equal(norm(Position(robot, "tool")), [50.0])])
    found = certify(problem, robot.random(np.random.default_rng(8)))
    assert found.status is NOT_PROVED
    assert found.reason
    with pytest.raises(Exception, match="NOT_PROVED"):
        found.or_raise()


def test_bad_arguments() -> None:
    problem = Problem(Rn(1), [Implicit.equal(Identity(Rn(1)), [1.0])])
    for q, error in (([np.nan], NotFiniteError), ([1.0, 2.0], SizeError)):
        with pytest.raises(error):
            certify(problem, q)
    with pytest.raises(WrongObjectError, match="problem to be certified"):
        certify(problem.space, [1.0])  # type: ignore[arg-type]
    for radius in (0.0, -1.0, np.inf):
        with pytest.raises(OptionError, match="radius"):
            certify(problem, [1.0], radius=radius)


@pytest.mark.parametrize("large", [1e101, 1e150])
def test_numbers_whose_squares_overflow_prove_nothing(large: float) -> None:
    robot = humanoid().with_bounds({"root_joint": ([-np.inf] * 3, [np.inf] * 3)})
    problem = Problem(robot, [Implicit.equal(Position(robot, "rarm6_body"), [0.0, 0.0, 0.0])])
    near, far = np.array(robot.space.neutral), np.array(robot.space.neutral)
    far[0] = large
    for found in (
        certify(problem, far),
        certify(problem, near, [large, 0.0, 0.0]),
        certify_batch(problem, [near, far])[1],
    ):
        assert found.status is NOT_PROVED
        assert "beyond" in found.reason


# The check.


@pytest.mark.parametrize("seed", range(6))
def test_many_configurations_are_proved_as_each_of_them(seed: int) -> None:
    problem, q, sides = claims.well_posed(seed)
    Q = [
        problem.space.integrate(q, claims.noise(10 * seed + k, problem, size))
        for k, size in enumerate((1e-4, 1e-3, 0.3))
    ]
    for found, at in zip(certify_batch(problem, Q, sides), Q, strict=True):
        alone = certify(problem, at, sides)
        assert (found.status, found.active, found.held) == (alone.status, alone.active, alone.held)
        assert (found.check() == []) == (found.status is PROVED)
        np.testing.assert_array_equal(found.q, at)
        if found.status is PROVED:
            assert found.r == pytest.approx(alone.r, rel=1e-3)
            assert found.R > 0.99 * alone.R


def test_of_many_on_boxes_half_as_large_again_is_not_proved() -> None:
    """Of rows that are not sampled: sizes are tried until the next one would not be much larger."""
    robot, rng = arm().with_bounds({}), np.random.default_rng(0)
    tool = Position(robot, "tool")
    problem = Problem(robot, [Implicit.equal(norm(tool)), Implicit.equal(tool[0] * tool[1])])
    Q = np.array([robot.random(rng) for _ in range(8)])
    sides = [problem.rhs_from(q) for q in Q]
    for found, q, side in zip(certify_batch(problem, Q, sides), Q, sides, strict=True):
        assert certify(problem, q, side, radius=found.R).success
        assert not certify(problem, q, side, radius=1.5 * found.R).success


def test_what_is_special_among_many_is_looked_at_alone() -> None:
    """On the line x + y = 1: at a bound, an inequality is missed, the point is off by far; the last is plain."""
    x = Identity(Rn(2))
    rows = [Implicit.equal(x[0] + x[1], [1.0]), Implicit.above(x[0] - x[1], -1.0)]
    problem = Problem(Rn(2), rows, Bounds(Rn(2), np.array([-1.0, -5.0]), np.array([0.25, 5.0])))
    Q = [[0.25, 0.7499], [-1e-5, 1.0], [0.2, 3.0], [0.2, 0.8001], [0.25 - 1e-8, 0.75 + 1e-9]]
    found = certify_batch(problem, Q)
    assert [str(one) for one in found] == [str(certify(problem, q)) for q in Q]
    assert [len(one.active) for one in found] == [0, 1, 1, 0, 0]
    assert [one.held for one in found] == [certify(problem, q).held for q in Q]
    assert certify_batch(problem, np.zeros((0, 2))) == ()
    redundant = Problem(Rn(2), [Implicit.equal(x[0] + x[1], [1.0]), Implicit.equal(2.0 * x[0] + 2.0 * x[1], [2.0])])
    assert all(one.open for one in certify_batch(redundant, Q))
    for Q, error in (([0.2, 0.8], SizeError), ([[0.2]], SizeError), ([[np.nan, 0.0]], NotFiniteError)):
        with pytest.raises(error):
            certify_batch(problem, Q)


def test_rows_of_a_batch_are_proved_with_their_own_right_hand_sides() -> None:
    robot, rng = arm(), np.random.default_rng(7)
    tool = Position(robot, "tool")
    problem = Problem(robot, [Implicit.equal(tool, np.zeros(3), name="tool")])
    targets = np.array([tool.value(robot.random(rng)) for _ in range(4)])
    for sides in (targets, targets[0]):
        batch = Projector(problem).project_batch(robot.space.random(rng, size=4), sides)
        for found, one in zip(batch.certify(), batch, strict=True):
            assert one.success
            assert found.status is PROVED
            assert found.check() == []
            assert found.r == pytest.approx(one.certify().r, rel=1e-3)
    assert batch[:0].certify() == ()
    with pytest.raises(SizeError):
        certify_batch(problem, batch.q, [batch.rhs(0)])


def test_the_check_imports_numpy_alone() -> None:
    tree = ast.parse(Path(check_module.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imports}
    assert modules == {"__future__", "typing", "numpy"}


def a_proof() -> Certificate:
    problem, q, sides = claims.well_posed(0)
    return certify(problem, q, sides)


def test_a_certificate_travels_and_is_checked_again() -> None:
    found = pickle.loads(pickle.dumps(a_proof()))
    assert found.check() == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda n: n._replace(residual_upper=n.residual_upper + 1.0), "mapped"),
        (lambda n: n._replace(jacobian_upper=n.jacobian_upper + 1.0), "contraction"),
        (lambda n: n._replace(preconditioner=np.zeros_like(n.preconditioner)), "contraction"),
        (lambda n: n._replace(size=0.5 * n.size), "ball"),
        (lambda n: n._replace(variation=1.0), "contraction"),
        (lambda n: n._replace(variation=-1.0), "negative"),
        (lambda n: n._replace(margins=-np.ones(1), rates=np.ones((1, len(n.preconditioner)))), "missed"),
        (lambda n: n._replace(displaced=n.displaced + 1.0), "within"),
        (lambda n: n._replace(displaced=n.displaced[:-1]), "shape"),
        (lambda n: n._replace(residual_lower=np.full_like(n.residual_lower, np.nan)), "finite"),
        (lambda n: n._replace(residual_lower=n.residual_upper + 1.0), "lower end"),
        (lambda n: n._replace(spread=-n.spread), "negative"),
    ],
)
def test_the_check_sees_numbers_that_prove_nothing(change: Any, words: str) -> None:
    found = a_proof()
    assert words in "; ".join(replace(found, numbers=change(found.numbers)).check())


def test_projections_certify_themselves() -> None:
    robot = humanoid()
    rng = np.random.default_rng(9)
    rows = [Implicit.equal(Pose(robot, "rleg6_joint"), Pose(robot, "rleg6_joint").value(robot.random(rng)))]
    result = project(robot, rows, robot.random(rng))
    found = result.or_raise().certify()
    assert found.status is PROVED
    assert found.r < 1e-3


def test_rotations_that_nobody_asks_for_need_no_logarithm() -> None:
    """A tool half a turn from its reference, of which the place alone is held."""
    robot = arm()
    q = robot.random(np.random.default_rng(3))
    turned = pin.SE3(pin.AngleAxis(np.pi, np.array([1.0, 0.0, 0.0])).toRotationMatrix(), np.zeros(3))
    moved = Transformation(robot, "tool", reference=robot.at(q).placement("tool") * turned)
    place = Implicit(moved, Comparison.EQUALITY, mask=[True, True, True, False, False, False])
    for constraint, status in ((place, PROVED), (Implicit(moved, Comparison.EQUALITY), NOT_PROVED)):
        problem = Problem(robot, [constraint])
        found = certify(problem, q, problem.rhs_from(q))
        assert found.status is status
        assert found.check() == [] if status is PROVED else "half a turn" in found.reason
