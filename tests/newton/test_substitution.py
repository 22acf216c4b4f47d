"""Substitution: explicit outputs in configurations, Jacobians, right-hand sides, velocities and satisfaction."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from explicit_samples import BOX, Swing, arm_and_box, arm_with_tray, composed, differences, pose
from robots import mixed_tree, needs_robot_data

import constraints as lc
from constraints.errors import DtypeError, UnknownNameError, WrongObjectError
from constraints.functions import Point
from liegroups import SE3, SO2, SO3, ProductSpace, Rn, Segments

EQUALITY, ZERO, SUPERIOR, INFERIOR = lc.Comparison


# --- problems --------------------------------------------------------------------------------------------------------


def carrying(levels: int = 2) -> tuple[lc.Problem, dict[str, Any]]:
    """An arm, a wrist coupled to the elbow, a carried box, a locked joint: two generations, one level or two."""
    robot = arm_and_box().without_bounds()
    A = np.zeros((1, robot.nv))
    A[0, 3] = -0.7
    explicits: dict[str, Any] = {
        "carry": lc.explicit_relative_pose(
            robot, "gripper", "handle", [0.05, 0.0, 0.1, 0.2, 0.1, 0.0], comparison=EQUALITY, name="carry"
        ),
        "couple": lc.Explicit(
            lc.Affine(A, [0.2], robot.space), robot.segments("arm/wrist_pitch"), comparison=EQUALITY, name="couple"
        ),
        "lock": lc.locked_joint(robot, "arm/shoulder_roll", 0.3, name="lock"),
    }
    q = composed(
        lc.Problem(robot, list(explicits.values())), robot.configuration(start=np.r_[np.full(7, 0.5), SE3.neutral])
    )
    height, turn = lc.Position(robot, "handle"), lc.Orientation(robot, "handle")
    parts = explicits | {
        "height": lc.Implicit.equal(height, height.value(q), name="height"),
        "turn": lc.Implicit(
            turn, [EQUALITY, None, None], np.r_[turn.value(q)[0], 0.0, 0.0], lower=-2.0, upper=2.0, name="turn"
        ),
    }
    by_level = [[parts["height"], parts["carry"]], [parts["turn"], parts["lock"], parts["couple"]]]
    return lc.Problem(robot, by_level if levels == 2 else by_level[0] + by_level[1]), parts


def spread() -> tuple[lc.Problem, dict[str, Any]]:
    """Blocks of several groups: outputs in three places, two generations, two free rotations nobody asks for."""
    space = ProductSpace([Rn(2), SO3, SO2, Rn(2), SE3, Rn(2)], list("abcdef"))
    first = Segments.coordinates(space, [1, 7, 14])  # a[1], d[1], f[0]
    read = Segments.coordinates(space, [0, 15])
    second = Segments.of(space, "e")
    parts: dict[str, Any] = {
        "first": lc.Explicit(Swing(Rn(3), 2), first, read, comparison=EQUALITY, name="first"),
        "second": lc.Explicit(Swing(SE3, 3), second, first, comparison=EQUALITY, name="second"),
        "pull": lc.Implicit.equal(
            lc.Function.from_callable(_translation, SE3, Rn(3), _its_jacobian, name="pull").on(space, second),
            [0.1, 0.0, 0.0], mask=[True, False, False], name="pull",
        ),
    }  # fmt: skip
    return lc.Problem(space, list(parts.values())), parts


def _translation(q: np.ndarray) -> np.ndarray:
    return q[:3]


def _its_jacobian(q: np.ndarray) -> np.ndarray:
    return np.c_[pin.XYZQUATToSE3(q).rotation, np.zeros((3, 3))]


PROBLEMS = {"carrying": carrying, "spread": spread}


# --- configurations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(functools.partial(carrying, 1), id="carrying, one level"),
        pytest.param(carrying, id="carrying, two levels"),
        pytest.param(spread, id="spread"),
    ],
)
@pytest.mark.parametrize(("engine", "rounding"), [("readable", 0.0), (None, 1e-15)])
def test_outputs_are_those_of_the_maps_and_inputs_stay(make: Any, engine: str | None, rounding: float) -> None:
    """Property 10: explicit residual <= 1e-12, outputs recomputed identical, idle inputs the start's bitwise."""
    problem, parts = make()
    projector, rng = lc.Projector(problem, lc.Options(restarts=False), engine), np.random.default_rng(0)
    space, solved = problem.space, 0
    idle = np.zeros(space.nq, dtype=bool)
    for leaf in space.leaves():
        if leaf.space.is_flat:
            idle[leaf.q] = ~problem.implicit_dofs[leaf.v] & ~problem.resolution.outputs[leaf.v]
    assert idle.any() == (make is spread)  # d[0]: neither read nor computed
    for _ in range(30):
        q0 = space.random(rng)
        given = q0.copy()
        sides = problem.rhs
        for name in ("carry", "couple", "lock", "first", "second"):
            if name in parts:
                group = problem.constraints[name].group
                sides = sides.replace(name, group.exp(rng.uniform(-0.2, 0.2, group.nv)))
        result = projector.project(q0, sides)
        solved += result.success
        np.testing.assert_array_equal(q0, given)
        for explicit in problem.resolution.explicits:
            assert np.abs(problem.error(result.q, explicit, sides)).max() < 1e-12
        np.testing.assert_allclose(composed(problem, result.q, sides), result.q, rtol=0.0, atol=rounding)
        np.testing.assert_array_equal(result.q[idle], q0[idle])
        again = projector.project(result.q, sides)
        if result.success:
            assert again.iterations == 0
            np.testing.assert_array_equal(again.q, result.q)
    assert solved >= 20


def test_joints_that_no_row_depends_on_are_the_starts_bit_for_bit() -> None:
    """Property 10: rotations and poses too, on a tree with every joint type."""
    robot = mixed_tree()
    f = lc.Position(robot, "ry_tip")
    follow = lc.linear_coupling(robot, "px", {"rz": 0.5})
    problem = lc.Problem(robot, [lc.Implicit.equal(f, f.value(robot.random(np.random.default_rng(99)))), follow])
    for seed in range(20):
        q0 = robot.random(np.random.default_rng(seed))
        q = lc.Projector(problem, lc.Options(restarts=False)).project(q0).q
        for factor in robot.space.factors:
            if not problem.implicit_dofs[factor.v].any() and factor.name != "px":
                np.testing.assert_array_equal(q[factor.q], q0[factor.q], err_msg=factor.name)


def test_a_start_whose_outputs_are_wrong_is_resolved_and_nothing_else() -> None:
    """Property 10: without implicit rows only outputs change, whatever they were, in no iteration."""
    robot = arm_with_tray()
    problem = lc.Problem(
        robot,
        [
            lc.explicit_relative_pose(robot, "knob", "grip", name="second"),
            lc.explicit_relative_pose(robot, "tool", "handle", name="first"),
            lc.linear_coupling(robot, "lid", {"elbow": 2.0}),
        ],
    )
    names = [[e.name for e in generation] for generation in problem.resolution.generations]
    assert names == [["first", "lid = linear(elbow)"], ["second"]]
    for seed in range(10):
        q0 = robot.random(np.random.default_rng(seed))
        result = lc.Projector(problem).project(q0)
        assert (result.success, result.iterations) == (True, 0)
        np.testing.assert_array_equal(result.q[:7], q0[:7])
        np.testing.assert_allclose(result.q, composed(problem, q0), rtol=0.0, atol=1e-15)
        posture = robot.at(result.q)
        for a, b in (("tool", "handle"), ("knob", "grip")):
            oMa, oMb = (posture.placement(robot.frame(f)) for f in (a, b))
            np.testing.assert_allclose(oMa.homogeneous, oMb.homogeneous, rtol=0, atol=1e-12)


def test_frozen_joints_do_not_move() -> None:
    """DESIGN 3.9: bit for bit, whatever the group; inputs may be frozen, outputs then are constants."""
    robot = mixed_tree()
    names = ["rx", "rubz", "spherical", "planar", "free", "continuous", "chain", "zyx"]
    f = lc.Transformation(robot, "helical_tip")
    follow = lc.linear_coupling(robot, "px", {"rx": 0.5, "ry": 1.0})
    target = f.value(robot.random(np.random.default_rng(99)))
    problem = lc.Problem(robot, [lc.Implicit.equal(f, target), follow], frozen=names)
    assert not problem.implicit_dofs[problem.frozen].any()
    T = problem.resolution_jacobian(problem.at(robot.neutral))
    assert not T[problem.frozen].any()
    assert not T[:, problem.frozen].any()
    for seed in range(10):
        q0 = robot.random(np.random.default_rng(seed))
        result = lc.Projector(problem).project(q0)
        for name in names:
            s = robot.slice_of(name)
            np.testing.assert_array_equal(result.q[s], q0[s], err_msg=name)
        np.testing.assert_array_equal(composed(problem, result.q), result.q)


def test_a_frozen_joint_is_not_computed() -> None:
    """DESIGN 3.9: what computes a frozen joint becomes implicit, and says why."""
    robot = arm_and_box()
    couple = lc.linear_coupling(robot, "arm/wrist_pitch", {"arm/elbow": 1.0}, name="couple")
    problem = lc.Problem(robot, [couple], frozen=["arm/wrist_pitch"])
    assert "implicit because its output arm/wrist_pitch is frozen" in problem.describe()
    q0 = robot.configuration({"arm/wrist_pitch": 0.5})
    result = lc.Projector(problem).project(q0)
    assert result.success
    assert result.q[5] == 0.5
    assert result.q[3] == pytest.approx(0.5, abs=1e-4)


# --- derivatives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
def test_reduced_jacobian_is_the_derivative_along_the_resolved_set(make: Any) -> None:
    """Property 6: J T equals differences of the errors at resolved configurations, right-hand sides included."""
    problem, _ = make()
    space, rng = problem.space, np.random.default_rng(1)
    for seed in range(3):
        sides = problem.rhs
        for e in problem.resolution.explicits:
            sides = sides.replace(e, e.group.exp(rng.uniform(-0.5, 0.5, e.group.nv)))
        q = composed(problem, space.random(np.random.default_rng(seed)), sides)
        T = problem.resolution_jacobian(problem.at(q), sides)
        whole = differences(space, q, lambda p, r=sides: composed(problem, p, r), space)
        np.testing.assert_allclose(T, whole, rtol=0, atol=1e-7)
        reduced = problem.jacobian(q, sides) @ T
        errors = differences(space, q, lambda p, r=sides: problem.error(composed(problem, p, r), None, r))
        np.testing.assert_allclose(reduced, errors, rtol=0, atol=1e-6)


@pytest.mark.parametrize("frozen", [(), ("b",)], ids=["all free", "a frozen block"])
@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
def test_projected_velocities_keep_all_errors(make: Any, frozen: tuple[str, ...]) -> None:
    """Property 20: J v' <= 1e-10 with v_out = Je v_free; idempotent; symmetric on the free dofs; nearest."""
    problem, parts = make()
    if frozen:
        names = frozen if problem.robot is None else ("arm/forearm_roll",)
        problem = lc.Problem(problem.robot or problem.space, list(parts.values()), frozen=names)
    space, rng = problem.space, np.random.default_rng(2)
    sides = problem.rhs
    for seed in range(3):
        q = composed(problem, space.random(np.random.default_rng(seed)), sides)
        T = problem.resolution_jacobian(problem.at(q), sides)
        J = problem.jacobian(q, sides)
        P = np.stack([problem.project_tangent(q, e, sides) for e in np.eye(space.nv)], axis=1)
        free = problem.free
        assert np.abs(J @ P).max() < 1e-10
        np.testing.assert_allclose(P[~free], T[~free][:, free] @ P[free], rtol=0, atol=1e-12)
        np.testing.assert_allclose(P @ P, P, rtol=0, atol=1e-12)
        np.testing.assert_allclose(P[np.ix_(free, free)], P[np.ix_(free, free)].T, rtol=0, atol=1e-12)
        assert not P[problem.frozen].any()
        v = rng.standard_normal(space.nv)
        kept = problem.project_tangent(q, v, sides)
        np.testing.assert_allclose(kept, P @ v, rtol=0, atol=1e-12)
        np.testing.assert_allclose(problem.project_tangent(q, kept, sides), kept, rtol=0, atol=1e-12)
        basis = problem.tangent_basis(q, sides)
        if basis.size:
            inside = basis @ rng.standard_normal(basis.shape[1])  # motions that keep everything are left as they are
            np.testing.assert_allclose(problem.project_tangent(q, inside, sides), inside, rtol=0, atol=1e-10)
        assert problem.dimension(q, sides) == np.linalg.matrix_rank(P, 1e-8)


def test_a_projected_velocity_leads_along_the_constraints() -> None:
    """Property 20: after a small motion errors are of second order, computed outputs included."""
    problem, _ = carrying()
    result = lc.Projector(problem).project(problem.space.random(np.random.default_rng(0)))
    assert result.success
    tight = lc.Projector(problem, lc.Options(threshold=1e-10)).project(result.q)
    v = problem.project_tangent(tight.q, np.random.default_rng(1).standard_normal(problem.space.nv))
    assert np.abs(v[problem.resolution.outputs]).max() > 1e-3
    drift = [problem.residual(problem.space.integrate(tight.q, h * v)) for h in (1e-2, 1e-3)]
    assert drift[1] < 0.02 * drift[0]


# --- the same set ----------------------------------------------------------------------------------------------------


@functools.cache
def grasp() -> tuple[lc.Robot, Any]:
    """A UR5 with a free-flying box, where the gripper holds it, and how the box is to stand."""
    from constraints.robot.files.packages import robot_data_folder

    if robot_data_folder() is None:  # pragma: no cover - the test is skipped then
        raise FileNotFoundError
    arm = lc.Robot.from_urdf("package://example-robot-data/robots/ur_description/urdf/ur5_gripper.urdf")
    box = lc.Robot.from_urdf(BOX, base=lc.Base.FREE_FLYER)
    robot = lc.Robot.system([lc.Part("ur5", arm), lc.Part("box", box)])
    return robot, pin.XYZQUATToSE3(pose(1))


@draws(30, 200)
@needs_robot_data
def test_substitution_has_the_solutions_of_the_full_system(count: int) -> None:
    """Property 11: 200 starts, UR5 and a free box: 3 rows after substitution against 9; each solves the other."""
    robot, at_hand = grasp()
    hand, box = robot.frame("ur5/wrist_3_joint", at_hand), robot.frame("box/root_joint")
    stand = lc.Implicit.zero(
        lc.Transformation(robot, box, np.array([0.4, 0.1, 0.3, 0.0, 0.0, 0.0, 1.0])),
        mask=[0, 0, 1, 1, 1, 0],
        name="stand",
    )
    substituted = lc.Problem(robot, [stand, lc.explicit_relative_pose(robot, hand, box, name="grasp")])
    full = lc.Problem(robot, [stand, lc.Implicit.zero(lc.Transformation(robot, box, reference=hand), name="grasp")])
    assert (substituted.reduced_size, full.reduced_size) == (3, 9)
    rng = np.random.default_rng(0)
    solved = {"substituted": 0, "full": 0}
    iterations = dict(solved)
    for _ in range(count):
        q0 = robot.random(rng)
        for name, problem, other in (("substituted", substituted, full), ("full", full, substituted)):
            result = lc.Projector(problem).project(q0)
            if not result.success:
                continue
            solved[name] += 1
            iterations[name] += result.iterations
            assert other.is_satisfied(result.q)
            assert other.residual(result.q) == pytest.approx(problem.residual(result.q), abs=1e-12)
            again = lc.Projector(other).project(result.q)
            np.testing.assert_array_equal(again.q, result.q)
    assert min(solved.values()) >= 0.99 * count
    assert iterations["substituted"] <= iterations["full"]


def test_twins_of_all_forms_accept_the_same_points() -> None:
    """Property 11: a problem with its explicit constraints as their twins has the same errors everywhere."""
    for make in PROBLEMS.values():
        problem, parts = make()
        twins = [p.on(problem.space).twin if isinstance(p, lc.Explicit) else p for p in parts.values()]
        implicit = lc.Problem(problem.robot or problem.space, twins)
        assert not implicit.resolution.explicits
        for seed in range(5):
            q = problem.space.random(np.random.default_rng(seed))
            for p, twin in zip(parts.values(), twins, strict=True):
                np.testing.assert_array_equal(problem.error(q, p), implicit.error(q, twin))
                np.testing.assert_array_equal(problem.rhs_from(q).of(p), implicit.rhs_from(q).of(twin))
            assert problem.residual(q) == implicit.residual(q)


# --- right-hand sides ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
def test_right_hand_sides_make_the_round_trip(make: Any) -> None:
    """Property 4: whole vector and by constraint, implicit and explicit in two levels, in tangent terms <= 1e-12."""
    problem, parts = make()
    for seed in range(10):
        q = problem.space.random(np.random.default_rng(seed))
        sides = problem.rhs_from(q)
        again = lc.RightHandSide(problem.constraints, sides.vector)
        assert again.same_as(sides, 0.0)
        rebuilt = problem.rhs
        for p in parts.values():
            rebuilt = rebuilt.replace(p, sides.of(p))
        assert rebuilt.same_as(sides, 1e-12)
        np.testing.assert_array_equal(rebuilt.vector, sides.vector)
        for p in parts.values():
            own = problem.rhs.replace(p, sides.of(p))
            np.testing.assert_array_equal(own.of(p), sides.of(p))
            for other in parts.values():
                if other is not p:
                    np.testing.assert_array_equal(own.of(other), problem.rhs.of(other))
        resolved = composed(problem, q, sides)
        assert np.abs(problem.space.difference(q, resolved)).max() < 1e-12  # outputs stand where q has them
        assert problem.rhs_from(resolved).same_as(sides, 1e-11)
        equalities = [p for p in parts.values() if problem.constraints[p].rows.free_rhs.all()]
        for p in equalities:
            assert np.abs(problem.error(q, p, sides)).max() < 1e-12


def test_the_slice_of_a_locked_joint_is_its_own() -> None:
    """Property 4: the case where HPP moved the joint to the entry of another constraint."""
    robot = arm_and_box()
    hold = lc.Implicit.equal(lc.Transformation(robot, "gripper"), name="hold")
    lock = lc.locked_joint(robot, "arm/elbow", 0.7, name="lock")
    problem = lc.Problem(robot, [hold, lock])
    q = robot.random(np.random.default_rng(1))
    vector = np.array(problem.rhs_from(q).vector)
    assert vector.shape == (7,)
    vector[-1] = 0.1
    solved = lc.Projector(problem).project(q, vector).q
    assert solved[3] == pytest.approx(0.8, abs=1e-15)


# --- relations -------------------------------------------------------------------------------------------------------


def test_a_problem_contains_its_constraints_by_identity() -> None:
    """The objects, explicit, fallen back or lifted; nothing else."""
    problem, parts = carrying()
    for p in parts.values():
        assert problem.contains(p)
        assert problem.constraints[p].name == p.name
    stranger = carrying()[1]["couple"]
    assert not problem.contains(stranger)
    assert problem.contains("couple")
    assert not problem.contains("couples")
    with pytest.raises(WrongObjectError, match="a Problem, got None"):
        problem.implies(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DtypeError, match="received NoneType"):
        problem.resolution_jacobian(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnknownNameError, match="couple"):
        problem.error(problem.space.neutral, stranger)
    fallen = lc.Problem(problem.robot or problem.space, [parts["couple"], stranger])
    assert fallen.contains(stranger)
    assert fallen.reduced_size == 1


def test_a_problem_implies_those_whose_constraints_it_has() -> None:
    """By the objects, in any order and level, lifted or not."""
    problem, parts = carrying()
    where = problem.robot or problem.space
    fewer = lc.Problem(where, [parts["couple"], parts["carry"]])
    assert problem.implies(fewer)
    assert problem.implies(problem)
    assert not problem.contains(None)
    assert not fewer.implies(problem)
    assert not problem.implies(carrying()[0])
    assert not lc.Problem(Rn(2), [lc.Implicit.zero(lc.Affine([[1.0, 0.0]]))]).implies(
        lc.Problem(Rn(2), [lc.Implicit.zero(lc.Affine([[0.0, 1.0]]))])
    )
    space = problem.space * Rn(1)
    lifted = lc.Problem(space, [parts["couple"], parts["carry"]])
    assert lifted.implies(fewer)
    assert fewer.implies(lifted)


def test_implicit_dofs_are_those_that_newton_steps_may_change() -> None:
    """Dofs of implicit rows, inputs of what they depend on, outputs of what moves; no frozen ones."""
    problem, _ = carrying()
    robot = problem.robot
    assert robot is not None
    expected = np.ones(robot.nv, dtype=bool)
    expected[robot.velocity_slice_of("arm/shoulder_roll")] = False  # locked
    np.testing.assert_array_equal(problem.implicit_dofs, expected)
    lock = lc.locked_joint(robot, "arm/elbow", 0.3)
    couple = lc.linear_coupling(robot, "arm/wrist_pitch", {"arm/elbow": 1.0})
    reach = lc.Implicit.equal(lc.Affine(np.eye(1, robot.nv), None, robot.space))
    still = lc.Problem(robot, [lock, couple, reach])
    np.testing.assert_array_equal(np.flatnonzero(still.implicit_dofs), [0])
    pulled = lc.Problem(robot, [couple, lc.Implicit.equal(lc.Affine(np.eye(1, robot.nv, 5), None, robot.space))])
    np.testing.assert_array_equal(np.flatnonzero(pulled.implicit_dofs), [3, 5])
    dragged = lc.Problem(robot, [couple, lc.Implicit.equal(lc.Affine(np.eye(1, robot.nv, 3), None, robot.space))])
    np.testing.assert_array_equal(np.flatnonzero(dragged.implicit_dofs), [3, 5])
    frozen = lc.Problem(
        robot, [couple, lc.Implicit.equal(lc.Affine(np.eye(1, robot.nv, 5), None, robot.space))], frozen=["arm/elbow"]
    )
    assert not frozen.implicit_dofs.any()
    alone = lc.Problem(robot, [couple, lock])
    assert (alone.implicit_dofs.any(), alone.reduced_size) == (False, 0)


@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
def test_implicit_dofs_hold_on_projections(make: Any) -> None:
    """What is no implicit dof nor computed stays; what is one is moved by some projection."""
    problem, _ = make()
    moved = np.zeros(problem.space.nv, dtype=bool)
    for seed in range(5):
        q0 = composed(problem, problem.space.random(np.random.default_rng(seed)))
        q = lc.Projector(problem, lc.Options(restarts=False)).project(q0).q
        moved |= np.abs(problem.space.difference(q0, q)) > 1e-9
    np.testing.assert_array_equal(moved, problem.implicit_dofs)


def test_size_and_reading_say_what_is_left() -> None:
    """Property 19: rows left to Newton steps, generations, reasons, in describe()."""
    problem, _ = carrying()
    assert problem.reduced_size == 6
    assert problem.constraints.size == 14
    assert int(problem.free.sum()) == 13 - 8
    text = problem.describe()
    for words in ("level 0: 'height'", "level 1: 'turn'", "generation 0: 'lock'", "generation 1: 'carry'"):
        assert words in text


# --- memory ----------------------------------------------------------------------------------------------------------


def _entries(workspace: Any) -> int:
    return len(workspace._memory) + (0 if workspace._child is None else _entries(workspace._child))


@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
def test_memory_does_not_grow_with_right_hand_sides(make: Any) -> None:
    """A planner changes right-hand sides at each leaf: workspaces hold memory for one of them."""
    problem, _ = make()
    projector, rng = lc.Projector(problem), np.random.default_rng(0)
    sizes = []
    for _ in range(30):
        q = problem.space.random(rng)
        projector.project(q, problem.rhs_from(problem.space.random(rng)))
        sizes.append(sum(_entries(w) for w in projector._pool.free))
    assert sizes[-1] == sizes[9]


def test_memory_does_not_grow_with_projected_velocities() -> None:
    """`project_tangent` at many right-hand sides: the pooled workspaces of the robot's space keep their size."""
    robot = arm_and_box()
    f = lc.CenterOfMass(robot, ["arm/elbow"])
    box = robot.segments("arm/wrist_pitch")
    read = lc.Explicit(lc.Affine([[0.1, 0.2, 0.3]]) @ f, box, comparison=EQUALITY) if not f.columns[5] else None
    assert read is not None
    problem = lc.Problem(robot, [read])
    sizes, rng = [], np.random.default_rng(0)
    for _ in range(20):
        q = composed(problem, robot.random(rng))
        problem.project_tangent(q, np.ones(robot.nv), problem.rhs.replace(read, rng.standard_normal(1)))
        sizes.append(max(_entries(w) for w in robot.space._pool.free))
    assert sizes[-1] == sizes[9]


def test_pose_map_through_a_constant_is_a_pose() -> None:
    """A right-hand side of a carried object is an offset of its frame: no product at run time."""
    robot = arm_and_box()
    carry = lc.explicit_relative_pose(robot, "gripper", "handle", comparison=EQUALITY)
    assert type(carry.output_function(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))) is lc.Pose


@dataclass(frozen=True, eq=False, repr=False)
class _Product(lc.Function):
    """x1 (1 + x2) - 1, and x2, of R^4: it declares columns 1 and 2, and writes no others."""

    def __post_init__(self) -> None:
        self.declare(Rn(4), Rn(2), [False, True, True, False])

    def evaluate(self, point: Point, value: np.ndarray, jacobian: np.ndarray | None = None) -> None:
        _, x, y, _ = point.q
        value[:] = x * (1.0 + y) - 1.0, y - 0.5 * x
        if jacobian is not None:
            jacobian[:, 1:3] = [[1.0 + y, x], [-0.5, 1.0]]


def test_functions_need_not_write_columns_that_they_do_not_declare() -> None:
    """What the substitution adds to such columns in one iteration is gone in the next: convergence stays quadratic."""
    whole = Rn(4)
    follows = lc.Explicit(
        lc.Affine([[1.0, 0.5]]), Segments.coordinates(whole, [1]), Segments.coordinates(whole, [0, 3]), whole=whole
    )
    problem = lc.Problem(whole, [lc.Implicit.zero(_Product()), follows])
    assert len(problem.explicits) == 1
    projector = lc.Projector(problem, lc.Options.local(threshold=1e-12, trace=True))
    for start in ([1.2, 0.0, 0.7, 0.4], [0.1, 0.0, 2.0, 1.0]):
        result = projector.project(start)
        assert result.success
        assert result.iterations <= 8
        assert projector.project(start).q.tobytes() == result.q.tobytes()  # nothing is left in the workspace
