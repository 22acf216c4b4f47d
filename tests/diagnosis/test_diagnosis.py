"""Diagnosis: what disagrees in a failed projection, which rows repeat others, what would help. Truth from planted
conflicts, linear programs, closed forms and plain pinocchio."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few, draws
from explicit_samples import arm_and_box, positive_root
from robots import arm, needs_robot_data, pr2, talos, ur5
from scipy.optimize import linprog

from constraints import (
    Affine,
    Bounds,
    CenterOfMass,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projection,
    Projector,
    Robot,
    Status,
    explicit_relative_pose,
    linear_coupling,
    locked_joint,
)
from constraints.certificates import refute
from constraints.errors import OptionError, UndefinedError, WrongObjectError
from constraints.functions import Identity
from constraints.models import installed_robots, load
from constraints.solvers import Diagnosis, diagnose
from constraints.solvers.diagnosis.conflict import Kind, Member
from liegroups import ProductSpace, Rn, Segments

HOME = np.array([0.3, -1.2, 1.0, 0.5, 0.7, 0.1])


def failed(problem: Problem, q: Any, options: Options | None = None) -> Projection:
    result = Projector(problem, options).project(q)
    assert not result.success
    return result


def at(robot: Robot, frame: str, point: Any, name: str = "") -> Implicit:
    return Implicit.equal(Position(robot, frame), point, name=name or frame)


def where(robot: Robot, frame: str, q: np.ndarray) -> Any:
    """Placement of a frame, by plain pinocchio."""
    model: Any = robot.model
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return data.oMf[model.getFrameId(frame)]


def members(diagnosis: Diagnosis) -> list[tuple[Kind, str]]:
    assert diagnosis.conflict is not None
    return [(member.kind, member.name) for member in diagnosis.conflict.members]


def check_minimal(problem: Problem, diagnosis: Diagnosis) -> None:
    """Without any one member a configuration satisfies the others, bounds and frozen dofs among them."""
    conflict = diagnosis.conflict
    assert conflict is not None
    assert conflict.is_minimal
    assert not conflict.trial.reached
    for left_out, trial in zip(conflict.members, conflict.without, strict=True):
        assert trial is not None
        q = trial.solution
        assert q is not None
        for member in conflict.members:
            if member != left_out:
                assert holds(problem, member, q)


def holds(problem: Problem, member: Member, q: np.ndarray) -> bool:
    if member.kind is Kind.CONSTRAINT:
        alone = Problem(problem.robot or problem.space, [problem.constraints.owners[member.position]])
        return alone.residual(q) <= 1e-4
    leaf = problem.space.leaves()[member.position]
    inside = (q[leaf.q] >= problem.bounds.lower[leaf.q]) & (q[leaf.q] <= problem.bounds.upper[leaf.q])
    return member.kind is Kind.FROZEN or bool(inside.all())


# Conflicts.


def test_two_contradictory_positions() -> None:
    """The conflict is these two and nothing else; the least residual that was met is half their distance."""
    robot = arm()
    here, there = at(robot, "tool", [0.3, 0.2, 0.5], "here"), at(robot, "tool", [0.3, 0.2, 0.6], "there")
    problem = Problem(robot, [here, locked_joint(robot, robot.joint_names[6], 0.3), there])
    diagnosis = failed(problem, robot.random(np.random.default_rng(0))).diagnose()
    assert members(diagnosis) == [(Kind.CONSTRAINT, "here"), (Kind.CONSTRAINT, "there")]
    check_minimal(problem, diagnosis)
    trial = diagnosis.conflict.trial  # type: ignore[union-attr]
    assert trial.tries > 10
    assert 0.05 - 1e-9 <= trial.residual < 0.051
    assert "Without 'here' it succeeds." in diagnosis.suggestions
    assert "Without 'there' it succeeds." in diagnosis.suggestions
    text = str(diagnosis)
    assert "Cannot be satisfied together" in text
    assert f"{trial.tries} tries" in text


def test_what_lengths_do_not_tell_is_not_called_proved() -> None:
    """Two targets within reach that contradict; and a joint whose motions have no bounds."""
    robot = arm()
    here, there = at(robot, "tool", [0.3, 0.2, 0.5], "here"), at(robot, "tool", [0.3, 0.2, 0.6], "there")
    diagnosis = failed(Problem(robot, [here, there]), robot.random(np.random.default_rng(0))).diagnose()
    assert diagnosis.proof == ""
    assert "as far as projection can tell" in str(diagnosis)
    model = pin.Model()
    model.addJoint(0, pin.JointModelEllipsoid(0.1, 0.1, 0.2), pin.SE3.Identity(), "shoulder")
    odd = Robot(model)
    far = failed(Problem(odd, [at(odd, "shoulder", [3.0, 0.0, 0.0], "far")]), odd.neutral).diagnose()
    assert far.proof == ""
    assert "Out of reach, as far as" in str(far)


def test_one_target_out_of_reach() -> None:
    """The conflict is that one constraint."""
    robot = arm()
    rng = np.random.default_rng(1)
    near = at(robot, "elbow", where(robot, "elbow", robot.random(rng)).translation)
    problem = Problem(robot, [near, at(robot, "tool", [3.0, 0.0, 0.5], "far"), locked_joint(robot, "wrist_roll")])
    diagnosis = failed(problem, robot.random(rng)).diagnose()
    assert members(diagnosis) == [(Kind.CONSTRAINT, "far")]
    assert "Proved out of reach: 'tool' is at most" in str(diagnosis)
    assert diagnosis.proof == refute(problem).reason
    assert diagnosis.errors[0].constraint == "far"
    norms = [entry.norm for entry in diagnosis.errors]
    assert norms == sorted(norms, reverse=True)
    assert diagnosis.residual == pytest.approx(norms[0], rel=1e-15, abs=0.0)


def test_three_constraints_of_which_two_conflict() -> None:
    """Whatever their order and levels: an elbow and a tool that are farther apart than a forearm is long."""
    robot = arm()
    rng = np.random.default_rng(7)
    postures = [robot.random(rng) for _ in range(200)]
    tools = np.array([where(robot, "tool", q).translation for q in postures])
    elbows = np.array([where(robot, "elbow", q).translation for q in postures])
    forearm = np.linalg.norm(tools - elbows, axis=1).max()
    apart = np.linalg.norm(tools - elbows[0], axis=1)
    assert apart.max() > forearm + 0.2
    elbow, tool = at(robot, "elbow", elbows[0]), at(robot, "tool", tools[apart.argmax()])
    lone = Implicit.above(Position(robot, "tool"), [-9.0, -9.0, -9.0], name="loose")
    for order in itertools.permutations([elbow, tool, lone]):
        for levels in ([list(order)], [[order[0]], [order[1], order[2]]]):
            problem = Problem(robot, levels)
            diagnosis = failed(problem, np.full(7, 0.1)).diagnose()
            assert sorted(name for _, name in members(diagnosis)) == ["elbow", "tool"]
            check_minimal(problem, diagnosis)


def feasible(A: np.ndarray, b: np.ndarray, chosen: tuple[int, ...], boxed: tuple[int, ...]) -> bool:
    """Whether some x has A x = b on the chosen rows and is in [-1, 1] on the boxed coordinates: a linear program."""
    sides = [(-1.0, 1.0) if i in boxed else (None, None) for i in range(A.shape[1])]
    rows = list(chosen)
    return linprog(np.zeros(A.shape[1]), A_eq=A[rows], b_eq=b[rows], bounds=sides).status == 0


@pytest.mark.parametrize("seed", a_few(range(8), 3))
def test_random_linear_conflicts_are_minimal_by_linear_programming(seed: int) -> None:
    """Rows A x = b on a box: the set found is infeasible, and feasible without any one of its members."""
    rng = np.random.default_rng(seed)
    n, rows = 4, 6
    space = ProductSpace([Rn(1)] * n, [f"x{i}" for i in range(n)])
    A, b = rng.integers(-2, 3, (rows, n)).astype(float), rng.uniform(-2.5, 2.5, rows)
    A[~A.any(axis=1)] = 1.0
    owners = [Implicit.equal(Affine(A[i : i + 1], None, space), [b[i]], name=f"row {i}") for i in range(rows)]
    box = Bounds(space, np.full(n, -1.0), np.full(n, 1.0))
    problem = Problem(space, owners, box)
    assert not feasible(A, b, tuple(range(rows)), tuple(range(n)))
    diagnosis = failed(problem, rng.uniform(-1.0, 1.0, n)).diagnose()
    check_minimal(problem, diagnosis)
    chosen = tuple(int(name.split()[1]) for kind, name in members(diagnosis) if kind is Kind.CONSTRAINT)
    boxed = tuple(int(name[1:]) for kind, name in members(diagnosis) if kind is Kind.BOUNDS)
    assert not feasible(A, b, chosen, boxed)
    for i in chosen:
        assert feasible(A, b, tuple(k for k in chosen if k != i), boxed)
    for i in boxed:
        assert feasible(A, b, chosen, tuple(k for k in boxed if k != i))


def test_reachable_only_out_of_bounds() -> None:
    """Two links in the plane: closed form says which joint must leave its bounds, and how far."""
    hand = Function.from_callable(
        lambda q: np.array([np.cos(q[0]) + np.cos(q[0] + q[1]), np.sin(q[0]) + np.sin(q[0] + q[1])]), _two(), Rn(2)
    )
    target = np.array([1.0, 1.0])  # reached with (0, pi/2) and (pi/2, -pi/2) only, up to whole turns
    box = Bounds(_two(), np.array([-3.0, -0.5]), np.array([3.0, 1.2]))
    problem = Problem(_two(), [Implicit.equal(hand, target, name="hand")], box)
    diagnosis = failed(problem, [0.1, 0.9]).diagnose()
    assert members(diagnosis) == [(Kind.CONSTRAINT, "hand"), (Kind.BOUNDS, "elbow")]
    check_minimal(problem, diagnosis)
    assert diagnosis.without_bounds is not None
    np.testing.assert_allclose(diagnosis.without_bounds, [0.0, np.pi / 2], atol=1e-4)
    (outside,) = diagnosis.leaving
    assert (outside.joint, outside.entry) == ("elbow", 1)
    assert outside.amount == pytest.approx(np.pi / 2 - 1.2, abs=1e-4)
    assert diagnosis.suggestions[0].startswith("Without its bounds it succeeds, for instance with 'elbow' 0.371 above")


def _two() -> Any:
    return ProductSpace([Rn(1), Rn(1)], ["shoulder", "elbow"])


def test_what_is_a_whole_turn_away_is_no_conflict_with_bounds() -> None:
    """A joint of range [-3, 3] and a target at 2: solutions at 2 + 2 pi k do not make its bounds a culprit."""
    robot = arm()
    locked = locked_joint(robot, robot.joint_names[0], 0.2, name="locked")
    q = robot.random(np.random.default_rng(3))
    problem = Problem(robot, [at(robot, "tool", [3.0, 0.0, 0.0], "far"), locked])
    diagnosis = failed(problem, q).diagnose()
    assert members(diagnosis) == [(Kind.CONSTRAINT, "far")]
    for trial in diagnosis.trials:
        if trial.solution is not None:
            assert (np.abs(trial.solution) <= np.pi + 1e-9).all()


def test_a_locked_joint_outside_its_bounds() -> None:
    robot = arm()
    joint = robot.joint_names[3]
    upper = float(robot.bounds.tangent_upper[3])
    problem = Problem(robot, [locked_joint(robot, joint, upper + 0.25, name="lock"), at(robot, "elbow", [9.0, 0, 0])])
    only = Problem(robot, [problem.constraints["lock"]])
    diagnosis = failed(only, np.zeros(7)).diagnose()
    assert diagnosis.status is Status.OUT_OF_BOUNDS
    assert members(diagnosis) == [(Kind.CONSTRAINT, "lock"), (Kind.BOUNDS, joint)]
    check_minimal(only, diagnosis)
    assert diagnosis.conflict.trial.outside == pytest.approx(0.25)  # type: ignore[union-attr]
    assert [(v.joint, round(v.amount, 9)) for v in diagnosis.leaving] == [(joint, 0.25)]


def test_frozen_dofs_are_members() -> None:
    """A hand that needs the frozen joints; and a frozen joint that is itself outside its bounds."""
    robot = arm()
    names = list(robot.joint_names)
    target = where(robot, "tool", np.full(7, 0.4)).translation
    problem = Problem(robot, [at(robot, "tool", target)], frozen=names[:6])
    diagnosis = failed(problem, np.full(7, -0.3)).diagnose()
    assert members(diagnosis) == [(Kind.CONSTRAINT, "tool"), (Kind.FROZEN, "dofs")]
    assert "With its frozen dofs free to move it succeeds." in diagnosis.suggestions
    outside = np.zeros(7)
    outside[3] = float(robot.bounds.tangent_upper[3]) + 0.5
    wrist = Implicit.equal(Affine(np.eye(7)[6:], None, robot.space), [0.1], name="wrist")
    stuck = failed(Problem(robot, [wrist], frozen=[names[3]]), outside).diagnose()
    assert members(stuck) == [(Kind.BOUNDS, names[3]), (Kind.FROZEN, "dofs")]


def test_one_constraint_of_more_rows_than_dofs() -> None:
    """Five joints and a full pose: the help is to ask for less, not to ask for nothing."""
    hand = Implicit.equal(Pose(arm(), "tool"), [0.3, 0.2, 0.5, 0.6, 0.0, 0.0, 0.8], name="hand")
    problem = Problem(arm(), [hand], frozen=[arm().joint_names[0], arm().joint_names[2]])
    diagnosis = failed(problem, arm().neutral).diagnose()
    assert not any("'hand' it succeeds" in words for words in diagnosis.suggestions)
    assert "Mask some rows: there are 6 rows, and only 5 dofs may move." in diagnosis.suggestions


def test_a_chain_of_explicit_constraints_in_conflict() -> None:
    """A box follows the gripper, a wrist follows the elbow; the box is wanted out of reach."""
    robot = arm_and_box()
    hold = explicit_relative_pose(robot, "gripper", "handle", name="hold")
    couple = linear_coupling(robot, "arm/wrist_pitch", {"arm/elbow": -0.7}, 0.2, name="couple")
    unrelated = Implicit.above(Position(robot, "gripper"), [-9.0, -9.0, -9.0], name="unrelated")
    problem = Problem(robot, [hold, couple, unrelated, at(robot, "handle", [4.0, 0.0, 0.0], "box")])
    assert len(problem.resolution.explicits) == 2
    diagnosis = failed(problem, robot.random(np.random.default_rng(2))).diagnose()
    assert sorted(name for _, name in members(diagnosis)) == ["box", "hold"]
    check_minimal(problem, diagnosis)
    assert diagnosis.explicits == ("couple", "hold")
    assert "Without 'hold' it succeeds." in diagnosis.suggestions
    assert "Computed constraints involved: 'hold'\n" in str(diagnosis)  # 'couple' holds, and is no member


def test_bounds_of_a_computed_dof_that_can_be_met_are_no_conflict() -> None:
    """No step knows of them, and restarts (x in [-1, 1]) miss them; y = x - 1 in [0, 2] has solutions all the same."""
    space = ProductSpace([Rn(1), Rn(1)], ["x", "y"])
    follows = Explicit(Affine([[1.0, 0.0]], [-1.0], space), Segments.coordinates(space, [1]), name="follows")
    for lower, upper in ((0.0, 2.0), (1.0, 1.0), (-np.inf, -4.0)):
        problem = Problem(space, [follows], Bounds(space, np.array([-np.inf, lower]), np.array([np.inf, upper])))
        projection = failed(problem, np.array([-1.5, -2.0]))
        assert projection.status is Status.OUT_OF_BOUNDS
        diagnosis = projection.diagnose()
        assert diagnosis.conflict is None
        assert diagnosis.solution is not None
        assert problem.is_satisfied(diagnosis.solution)
        assert "a solution exists" in str(diagnosis)
    apart = Problem(space, [follows], Bounds(space, np.array([0.0, 0.5]), np.array([1.0, 2.0])))
    diagnosis = failed(apart, np.zeros(2)).diagnose()
    assert sorted(name for _, name in members(diagnosis)) == ["follows", "x", "y"]


def test_another_branch_of_a_computed_dof_is_no_solution() -> None:
    """y = sqrt(1 + x^2) is never -1.5, which its twin y^2 - x^2 = 1 allows."""
    space = ProductSpace([Rn(1), Rn(1)], ["x", "y"])
    root = Function.from_callable(lambda q: np.sqrt(1.0 + q**2), Rn(1), Rn(1), name="root")
    twin = Function.from_callable(lambda q: [q[1] ** 2 - q[0] ** 2 - 1.0], space, Rn(1), name="twin")
    outputs, inputs = Segments.coordinates(space, [1]), Segments.coordinates(space, [0])
    upper = Explicit(root, outputs, inputs, implicit=twin, whole=space, has_branches=True, name="upper")
    problem = Problem(space, [upper], Bounds(space, np.array([-9.0, -2.0]), np.array([9.0, -1.2])))
    diagnosis = failed(problem, np.array([0.5, -1.5])).diagnose()
    assert diagnosis.solution is None
    assert members(diagnosis) == [(Kind.CONSTRAINT, "upper"), (Kind.BOUNDS, "y")]


def test_an_optional_level_is_no_member() -> None:
    robot = arm()
    far, wish = at(robot, "tool", [3.0, 0.0, 0.0], "far"), at(robot, "tool", [0.0, 4.0, 0.0], "wish")
    problem = Problem(robot, [[far], [wish]], optional_last=True)
    diagnosis = failed(problem, np.full(7, 0.2)).diagnose()
    assert members(diagnosis) == [(Kind.CONSTRAINT, "far")]
    assert [entry.constraint for entry in diagnosis.errors if entry.optional] == ["wish"]
    assert diagnosis.dependence is not None
    assert diagnosis.dependence.levels == ("level 0", "level 1 (optional)")
    assert {row.row.constraint for row in diagnosis.dependence.redundant} <= {"far"}


@draws(1, 4)
@needs_robot_data
def test_what_bounds_put_out_of_reach_is_no_conflict_with_another_constraint(count: int) -> None:
    """Tiago Pro's tool reaches 1.803 m at most (by maximising it within its bounds); the center of mass is innocent."""
    robot = load(installed_robots()["tiago_pro"][0]).robot
    com = CenterOfMass(robot)
    still = Implicit.equal(com, com.value(robot.space.neutral), name="com")
    high = Implicit.above(Position(robot, "arm_right_tool_link"), [-9.0, -9.0, 1.9], name="high")
    for start in range(count):
        result = failed(Problem(robot, [still, high]), robot.random(np.random.default_rng(start)))
        diagnosis = result.diagnose()
        constraints = [name for kind, name in members(diagnosis) if kind is Kind.CONSTRAINT]
        assert constraints == ["high"]
        assert any(kind is Kind.BOUNDS for kind, _ in members(diagnosis))
        check_minimal(result.problem, diagnosis)
        conflict = diagnosis.conflict
        assert conflict is not None
        assert conflict.within is not None
        assert conflict.within.residual > 0.0965  # no configuration comes nearer than 1.9 - 1.803
        assert f"{conflict.within.residual:.3g}" in str(diagnosis)


def test_a_wrong_sign_in_a_jacobian_is_not_called_out_of_reach() -> None:
    """Of what the steps of a wrong Jacobian miss nothing is known; the heading names the function."""
    space = Rn(1)
    wrong = Function.from_callable(lambda q: [q[0] + 0.1 * q[0] ** 2], space, Rn(1), lambda q: [[-1.0 - 0.2 * q[0]]])
    bounds = Bounds(space, np.array([-2.0]), np.array([2.0]))
    text = str(failed(Problem(space, [Implicit.equal(wrong, [0.5], name="bend")], bounds), np.array([0.1])).diagnose())
    assert "Out of reach" not in text
    assert "what can be satisfied is not known: the Jacobian of 'bend' seems wrong" in text


# Failures that are no conflict, and successes.


def test_a_budget_that_was_too_small() -> None:
    """A solution is found, no conflict claimed, and projecting again with that many iterations succeeds."""
    robot = arm()
    target = where(robot, "tool", np.full(7, 0.4)).translation
    problem = Problem(robot, [at(robot, "tool", target)])
    result = failed(problem, np.full(7, -0.5), Options(max_iterations=1))
    diagnosis = result.diagnose()
    assert diagnosis.conflict is diagnosis.without_bounds is None
    assert diagnosis.leaving == ()
    assert diagnosis.solution is not None
    assert problem.is_satisfied(diagnosis.solution)
    assert diagnosis.trials[0].tries == 1
    assert diagnosis.suggestions[0].startswith("Allow more iterations")
    more = Options(restarts=False, max_iterations=diagnosis.trials[0].iterations)
    assert Projector(problem, more).project(result.q).success


def test_a_success_says_so() -> None:
    robot = arm()
    target = where(robot, "tool", np.full(7, 0.4)).translation
    result = Projector(Problem(robot, [at(robot, "tool", target)])).project(np.full(7, -0.5))
    diagnosis = result.diagnose()
    assert diagnosis.success
    assert diagnosis.trials == ()
    assert diagnosis.conflict is diagnosis.solution is diagnosis.without_bounds is None
    assert diagnosis.suggestions == ()
    assert "CONVERGED" in str(diagnosis)
    assert "Nothing to correct" in str(diagnosis)


# Rows.


def test_duplicated_rows_that_agree() -> None:
    """Redundant and consistent; the projection succeeds, the diagnosis names the rows."""
    robot = arm()
    target = where(robot, "tool", np.full(7, 0.4)).translation
    problem = Problem(robot, [at(robot, "tool", target, "one"), at(robot, "tool", target, "two")])
    diagnosis = Projector(problem).project(np.full(7, 0.1)).diagnose()
    known = diagnosis.dependence
    assert known is not None
    assert (known.rows, known.ranks) == ((6,), (3,))
    assert len(known.redundant) == 3
    for entry in known.redundant:
        (twin,) = entry.repeats
        assert {twin.constraint, entry.row.constraint} == {"one", "two"}
        assert twin.row == entry.row.row
        assert entry.everywhere
        assert abs(entry.mismatch) < 1e-12
    assert known.inconsistency < 1e-12
    assert "consistent" in str(diagnosis)


def test_duplicated_rows_that_disagree() -> None:
    """The mismatch is the difference of the right-hand sides, and its norm over sqrt 2 is outside the range of J."""
    robot = arm()
    gap = np.array([0.03, 0.0, -0.04])
    target = np.array(where(robot, "tool", np.full(7, 0.4)).translation)
    one, two = at(robot, "tool", target, "one"), at(robot, "tool", target + gap, "two")
    diagnosis = failed(Problem(robot, [one, two]), np.full(7, 0.1)).diagnose()
    known = diagnosis.dependence
    assert known is not None
    measured = {}
    for entry in known.redundant:
        sign = -1.0 if entry.row.constraint == "two" else 1.0  # e of one less e of two, or the other way round
        measured[entry.row.row] = sign * entry.mismatch
    np.testing.assert_allclose([measured[row] for row in range(3)], gap, atol=1e-9)
    assert known.inconsistency == pytest.approx(0.05 / np.sqrt(2.0), abs=1e-9)
    assert any("agree: one repeats the other, their errors differ by" in words for words in diagnosis.suggestions)
    assert "not consistent: 0.0354" in str(diagnosis)


def test_rows_that_nothing_moves() -> None:
    robot = arm()
    names = list(robot.joint_names)
    base = Implicit.equal(Affine(np.eye(7)[:1], None, robot.space), [0.7], name="base")
    diagnosis = failed(Problem(robot, [base], frozen=[names[0]]), np.zeros(7)).diagnose()
    assert diagnosis.dependence is not None
    (entry,) = diagnosis.dependence.redundant
    assert (entry.row.constraint, entry.row.row, entry.repeats) == ("base", 0, ())
    assert entry.mismatch == pytest.approx(-0.7)
    assert "No free dof moves row 0 of 'base', whose error is -0.7." in diagnosis.suggestions


def test_satisfied_inequalities_and_masked_rows_are_not_redundant() -> None:
    robot = arm()
    q = np.full(7, 0.4)
    loose = Implicit.above(Position(robot, "tool"), [-9.0, -9.0, -9.0], name="loose")
    pose = Implicit.equal(Pose(robot, "tool"), where(robot, "tool", q), mask=[0, 0, 1, 1, 0, 0], name="half")
    diagnosis = Projector(Problem(robot, [loose, pose])).project(q + 0.05).diagnose()
    assert diagnosis.dependence is not None
    assert diagnosis.dependence.rows == (5,)
    assert diagnosis.dependence.ranks == (2,)
    assert diagnosis.dependence.redundant == ()


@needs_robot_data
def test_a_stretched_arm_is_singular_not_redundant() -> None:
    """UR5 with its elbow straight: rank 5 by numpy too, and the row that is lost is lost there only."""
    robot = ur5()
    q = np.array([0.3, -1.2, 0.0, 0.5, 0.7, 0.1])
    hand = Implicit.equal(Pose(robot, "tool0"), where(robot, "tool0", HOME), name="hand")
    problem = Problem(robot, [hand])
    diagnosis = failed(problem, q, Options(max_iterations=0)).diagnose()
    known = diagnosis.dependence
    assert known is not None
    expected = np.linalg.svd(problem.jacobian(q), compute_uv=False)
    assert known.ranks == (np.linalg.matrix_rank(problem.jacobian(q), rtol=1e-6),) == (5,)
    np.testing.assert_allclose(known.singular_values[0], expected, atol=1e-12)
    (entry,) = known.redundant
    assert not entry.everywhere
    assert "a singular configuration" in str(diagnosis)
    assert not any("agree" in words for words in diagnosis.suggestions)
    straight = failed(problem, HOME, Options(max_iterations=0)) if not problem.is_satisfied(HOME) else None
    assert straight is None  # the target is HOME: there the arm is regular
    assert Projector(problem).project(HOME).diagnose().dependence.ranks == (6,)  # type: ignore[union-attr]


def test_levels_are_measured_in_the_null_space_of_those_above() -> None:
    """Singular values of J2 N against numpy, N from an SVD; computed constraints come first."""
    rng = np.random.default_rng(4)
    space = Rn(6)
    A, B = rng.standard_normal((2, 6)), rng.standard_normal((3, 6))
    B[2] = A[0] - 2.0 * A[1]  # no freedom is left for it
    double = Affine([[2.0]], None, Rn(1), name="double")
    follow = Explicit(double, Segments.coordinates(space, [5]), Segments.coordinates(space, [0]), name="follow")
    first, second = (Implicit.equal(Affine(M, None, space), name=name) for M, name in ((A, "first"), (B, "second")))
    problem = Problem(space, [[first, follow], [second]])
    diagnosis = Projector(problem, Options(max_iterations=60)).project(np.ones(6)).diagnose()
    known = diagnosis.dependence
    assert known is not None
    assert known.levels == ("computed", "level 0", "level 1")
    assert known.ranks == (1, 2, 2)
    above = np.array([[2.0, 0.0, 0.0, 0.0, 0.0, -1.0]])
    for J, values in zip((A, B), known.singular_values[1:], strict=True):
        N = np.linalg.svd(above)[2][np.linalg.matrix_rank(above) :].T
        np.testing.assert_allclose(values, np.linalg.svd(J @ N, compute_uv=False), atol=1e-12)
        above = np.concatenate([above, J])
    (entry,) = known.redundant
    assert (entry.row.constraint, entry.row.row) == ("second", 2)
    assert {row.constraint for row in entry.repeats} == {"first"}


# Functions without a value.


def test_functions_without_a_value() -> None:
    """The diagnosis names the constraint, the configuration and what the function said: at the result, after the next
    step, and for a computed dof."""

    def root(q: np.ndarray) -> np.ndarray:
        if q[0] < 0.0:
            raise UndefinedError("square root of a negative number")
        return np.sqrt(q[:1]) + 1.0

    f = Function.from_callable(root, Rn(1), Rn(1), lambda q: [[0.5 / np.sqrt(q[0])]], name="root")
    problem = Problem(Rn(1), [Implicit.zero(f)])
    for start, place in (([-1.0], [-1.0]), ([4.0], None)):
        diagnosis = failed(problem, start, Options(restarts=False)).diagnose(iterations=40)
        (entry,) = diagnosis.undefined
        assert entry.constraint == "root"
        assert entry.q[0] < 0.0
        assert place is None or entry.q.tolist() == place
        assert "square root of a negative number" in str(diagnosis)
    steep = Function.from_callable(lambda q: np.cbrt(q) - 1.0, Rn(1), Rn(1), lambda q: [[np.inf]], name="steep")
    lost = failed(Problem(Rn(1), [Implicit.zero(steep)]), [0.0], Options(restarts=False)).diagnose(iterations=40)
    assert [(entry.constraint, entry.q.tolist(), entry.reason) for entry in lost.undefined] == [
        ("steep", [0.0], "its Jacobian is not finite")
    ]
    computed = Function.from_callable(positive_root, Rn(1), Rn(1), lambda q: np.diag(0.5 / np.sqrt(q)), name="g")
    space = Rn(2)
    rule = Explicit(computed, Segments.coordinates(space, [1]), Segments.coordinates(space, [0]), name="rule")
    held = Implicit.equal(Affine([[1.0, 0.0]], None, space), [-1.0], name="held")
    problem = Problem(space, [rule, held])
    diagnosis = failed(problem, [-1.0, 0.0], Options(restarts=False)).diagnose(iterations=40)
    assert [entry.constraint for entry in diagnosis.undefined] == ["rule"]
    assert sorted(name for _, name in members(diagnosis)) == ["held", "rule"]
    check_minimal(problem, diagnosis)
    assert diagnosis.dependence is None
    assert "the root of -1 is not real" in str(diagnosis)
    ends, twice = (Segments.coordinates(space, [1]), Segments.coordinates(space, [0])), Affine([[2.0]])
    wrong = Explicit(Affine([[1.0]]), *ends, g=twice, g_inverse=twice, name="rule")
    lost = failed(Problem(space, [wrong]), [1.0, 1.0]).diagnose(iterations=20, trials=2)
    assert [(entry.constraint, entry.reason.split(";")[0]) for entry in lost.undefined] == [
        ("rule", "its computed outputs do not satisfy it")
    ]


@pytest.mark.parametrize("unit", [1.0, 1e-6])
@pytest.mark.parametrize(("cap", "least"), [(1.5, -9.0), (0.3, -9.0), (1.5, 0.25)])
def test_the_next_step_is_the_damped_one_within_cap_and_bounds(unit: float, cap: float, least: float) -> None:
    r"""To :math:`q - J e / (J^2 + 0.03 e^2 + 10^{-12})`, where there is no value."""

    def line(q: np.ndarray) -> np.ndarray:
        if q[0] < 0.5:
            raise UndefinedError("too low")
        return unit * (q + 1.0)

    f = Function.from_callable(line, Rn(1), Rn(1), lambda q: [[unit]], name="line")
    problem = Problem(Rn(1), [Implicit.zero(f)], Bounds(Rn(1), np.array([least]), np.array([9.0])))
    result = failed(problem, [0.6], Options(restarts=False, cap=cap, threshold=1e-9))
    assert result.status is Status.UNDEFINED
    e = unit * (result.q[0] + 1.0)
    step = unit * e / (unit**2 + 0.03 * e**2 + 1e-12)
    (entry,) = result.diagnose(iterations=4, trials=2).undefined
    assert entry.q[0] == pytest.approx(max(result.q[0] - min(step, cap), least), abs=1e-9)


# Budgets, determinism, values.


def test_the_same_projection_gives_the_same_diagnosis_and_nothing_moves() -> None:
    robot = arm()
    problem = Problem(robot, [at(robot, "tool", [0.3, 0.2, 0.5], "a"), at(robot, "tool", [0.3, 0.4, 0.5], "b")])
    result = failed(problem, robot.random(np.random.default_rng(6)))
    before = result.q.tobytes()
    first, second = result.diagnose(), diagnose(result)
    assert str(first) == str(second)
    assert result.q.tobytes() == before
    for a, b in zip(first.trials, second.trials, strict=True):
        assert (a.members, a.tries, a.iterations, a.residual) == (b.members, b.tries, b.iterations, b.residual)


def test_a_diagnosis_pickles_also_of_a_pickled_projection() -> None:
    robot = arm()
    shared = Rn(7)
    problem = Problem(robot, [at(robot, "tool", [3.0, 0.0, 0.0], "far"), locked_joint(robot, "wrist_roll", 0.1)])
    result = failed(problem, np.full(7, 0.2))
    diagnosis = result.diagnose()
    assert shared.nv == 7
    again = pickle.loads(pickle.dumps(diagnosis))
    assert str(again) == str(diagnosis)
    assert again.conflict.members == diagnosis.conflict.members  # type: ignore[union-attr]
    assert str(pickle.loads(pickle.dumps(result)).diagnose()) == str(diagnosis)


def test_budgets_bound_the_work() -> None:
    """With few trials the set is not called minimal; iterations bound each trial."""
    robot = arm()
    here, there = at(robot, "tool", [0.3, 0.2, 0.5], "here"), at(robot, "tool", [0.3, 0.2, 0.6], "there")
    result = failed(Problem(robot, [here, there]), np.full(7, 0.2))
    for trials in (1, 2, 3):
        short = result.diagnose(trials=trials, iterations=50)
        assert len(short.trials) <= trials
        assert all(trial.iterations <= 50 for trial in short.trials)
        assert short.conflict is not None
        assert "here" in [member.name for member in short.conflict.members]
    assert not result.diagnose(trials=1).conflict.is_minimal  # type: ignore[union-attr]
    assert "may not be needed" in str(result.diagnose(trials=1))


def test_names_that_repeat_are_told_apart() -> None:
    robot = arm()
    problem = Problem(robot, [at(robot, "tool", [0.3, 0.2, 0.5]), at(robot, "tool", [0.3, 0.2, 0.6])])
    text = str(failed(problem, np.full(7, 0.2)).diagnose())
    assert "'tool' (constraint 0)" in text
    assert "'tool' (constraint 1)" in text


@pytest.mark.parametrize("budget", [0, -1, 1.5, True, "many", None])
@pytest.mark.parametrize("name", ["iterations", "trials"])
def test_bad_budgets_are_refused(name: str, budget: Any) -> None:
    result = Projector(Problem(Rn(1), [Implicit.equal(Identity(Rn(1)), [1.0])])).project([0.0])
    with pytest.raises(OptionError, match=name):
        result.diagnose(**{name: budget})


def test_only_projections_are_diagnosed() -> None:
    with pytest.raises(WrongObjectError, match="a Projection"):
        diagnose(Problem(Rn(1), [Implicit.equal(Identity(Rn(1)), [1.0])]))  # type: ignore[arg-type]


# Robots of the field.


@needs_robot_data
def test_ur5_that_needs_more_room() -> None:
    """The lift of UR5 at its bounds: the conflict is the hand and that joint; plain pinocchio agrees on the way out."""
    robot = ur5().with_bounds({"shoulder_lift_joint": (-0.2, 0.2)})
    target = where(robot, "tool0", HOME)
    problem = Problem(robot, [Implicit.equal(Pose(robot, "tool0"), target, name="hand")])
    diagnosis = failed(problem, robot.random(np.random.default_rng(1))).diagnose()
    assert members(diagnosis) == [(Kind.CONSTRAINT, "hand"), (Kind.BOUNDS, "shoulder_lift_joint")]
    check_minimal(problem, diagnosis)
    assert diagnosis.without_bounds is not None
    error = pin.log6(target.actInv(where(robot, "tool0", np.array(diagnosis.without_bounds)))).vector
    assert np.linalg.norm(error) <= 1e-4
    assert {violation.joint for violation in diagnosis.leaving} == {"shoulder_lift_joint"}


@needs_robot_data
def test_pr2_with_a_bar_that_is_too_long() -> None:
    """Both grippers on a bar of 3 m: that constraint alone; the torso that is held as well is no part of it."""
    robot = pr2()
    bar = Implicit.equal(
        Pose(robot, "r_gripper_tool_frame", reference="l_gripper_tool_frame"),
        [0.0, -3.0, 0.0, 0.0, 0.0, 0.0, 1.0], name="bar",
    )  # fmt: skip
    problem = Problem(robot, [locked_joint(robot, "torso_lift_joint", 0.1, name="torso"), bar])
    diagnosis = failed(problem, robot.random(np.random.default_rng(0))).diagnose()
    assert members(diagnosis) == [(Kind.CONSTRAINT, "bar")]
    assert diagnosis.conflict.trial.residual > 0.5  # type: ignore[union-attr]


@needs_robot_data
def test_talos_that_should_stand_and_reach_too_far() -> None:
    """Two feet, balance, and a hand 3 m ahead: one foot and the hand cannot be; without the hand it stands."""
    robot = talos()
    q = robot.reference("half_sitting")
    feet = [Implicit.equal(Pose(robot, f), where(robot, f, q), name=f) for f in ("left_sole_link", "right_sole_link")]
    com = Implicit.equal(CenterOfMass(robot), CenterOfMass(robot).value(q), mask=[True, True, False], name="balance")
    point = np.array(where(robot, "gripper_left_base_link", q).translation) + np.array([3.0, 0.0, 0.0])
    problem = Problem(robot, [[*feet, com], [at(robot, "gripper_left_base_link", point, "hand")]])
    diagnosis = failed(problem, q).diagnose()
    names = sorted(name for _, name in members(diagnosis))
    assert len(names) == 2
    assert "hand" in names
    check_minimal(problem, diagnosis)
    assert "Without 'hand' it succeeds." in diagnosis.suggestions
    assert diagnosis.dependence is not None
    assert diagnosis.dependence.ranks == (14, 3)
    kinds = {kind for kind, _ in members(diagnosis)}
    assert kinds == {Kind.CONSTRAINT}
    assert Comparison.EQUALITY.name in problem.describe()


def test_bounds_of_a_free_body_are_members() -> None:
    """Bounds on the translation of a pose, which no single dof moves: not the target alone is out of reach."""
    model: Any = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.lowerPositionLimit[:3], model.upperPositionLimit[:3] = -1.0, 1.0
    model.addFrame(pin.Frame("tip", 1, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    robot = Robot(model)
    diagnosis = failed(Problem(robot, [at(robot, "tip", [2.0, 0.0, 0.0])]), robot.space.neutral).diagnose()
    assert diagnosis.conflict is not None
    assert diagnosis.conflict.members == (Member(Kind.CONSTRAINT, "tip", 0), Member(Kind.BOUNDS, "body", 0))
    assert diagnosis.conflict.is_minimal
    assert diagnosis.leaving[0].joint == "body"
    assert diagnosis.leaving[0].amount == pytest.approx(1.0, abs=1e-4)


def test_rows_that_nearly_repeat_each_other_are_no_conflict() -> None:
    """Linear rows whose common solution is far (singular value 0.05): a linear program judges what is in conflict."""
    space, infinite = Rn(5), np.inf
    rows = {
        "r0": ([[-2.0, 2.0, 0.0, 1.0, -1.0]], [-4.0], [-2.0]),
        "r1": ([[-1.0, 1.0, -1.0, -2.0, 0.0]], [4.0], [4.0]),
        "r2": ([[0.0, 2.0, 1.0, -1.0, 1.0], [2.0, -2.0, 1.0, 2.0, 2.0]], [-4.0, 4.0], [-4.0, 4.0]),
        "x0": ([[1.0, 0.0, 1.0, 0.0, -2.0]], [2.0], [2.0]),
    }
    asked = [Implicit.between(Affine(A, np.zeros(len(A)), space), low, up, name=n) for n, (A, low, up) in rows.items()]
    lowest, highest = [-1.0, -2.0, -infinite, -infinite, -infinite], [1.5, 0.5, 0.5, 2.5, infinite]
    sides = Bounds(space, np.array(lowest), np.array(highest))
    diagnosis = failed(Problem(space, asked, sides), [0.5468114, 0.39981534, -0.52973855, 0.47947123, 0.36630381])
    conflict = diagnosis.diagnose().conflict
    assert conflict is not None
    named = [rows[m.name] for m in conflict.members if m.kind is Kind.CONSTRAINT]
    A = np.concatenate([A for A, _, _ in named])
    low, up = (np.concatenate([entry[i] for entry in named]) for i in (1, 2))
    boxed = any(m.kind is Kind.BOUNDS for m in conflict.members)
    box: Any = list(zip(sides.lower, sides.upper, strict=True)) if boxed else (None, None)
    assert linprog(np.zeros(5), np.r_[A, -A], np.r_[up, -low], bounds=box).status == 2
