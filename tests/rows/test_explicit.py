"""Explicit constraints: the map, its implicit twin, right-hand sides, poses of carried objects, couplings.

Formulas of expected values are written here again, with pinocchio's logarithms.
"""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from math import remainder
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from explicit_samples import (
    GROUPS,
    Arsinh,
    Sinh,
    Swing,
    arm_and_box,
    arm_with_tray,
    composed,
    differences,
    humanoid_and_box,
    pose,
    positive_root,
)
from robots import arm, needs_robot_data, panda

from constraints import (
    Affine,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projector,
    RightHandSide,
    Robot,
    Stack,
    Status,
    Target,
    Transformation,
    Workspace,
    errors,
    explicit_relative_pose,
    linear_coupling,
    locked_joint,
    mimic_constraints,
)
from constraints.functions import Identity
from constraints.functions.frames.pose_from_rows import PoseFromRows
from constraints.functions.translation import RightTranslation
from constraints.point import place_motion
from constraints.robot.model.mimic import Mimic
from constraints.rows.rotation_vectors import shorter, to_nearest_turn
from constraints.rows.row_owner import Reference
from constraints.rows.stacking import Order, stack_rows
from constraints.rows.twin import Twin
from constraints.solvers import why_not
from constraints.testing import check_function
from liegroups import SE2, SE3, SO2, SO3, ProductSpace, R3xSO3, Rn, Segments, Space

EQUALITY, ZERO, SUPERIOR, INFERIOR = Comparison
FORMS = ("f alone", "translated", "nonlinear")


def whole(group: Space) -> Space:
    """Two coordinates, the outputs, two more: coordinate 1 is neither input nor output of what follows."""
    return ProductSpace([Rn(2), group, Rn(2)], ["before", "out", "after"])


def sample(group: Space, form: str = "f alone", lives: str = "part", **options: Any) -> Explicit:
    """An explicit constraint on `whole(group)` that reads coordinates 0 and the last two."""
    space = whole(group)
    block = Segments.of(space, "out")
    read = Segments.coordinates(space, [0, space.nv - 2, space.nv - 1])
    f: Function = Swing(group)
    g: tuple[Any, Any] = (None, None)
    if form == "translated":
        shift = RightTranslation(group, group.random(np.random.default_rng(5)))
        g = shift, shift.inverted()
    elif form == "nonlinear":
        g = Sinh(group.nv), Arsinh(group.nv)
    options = {"comparison": EQUALITY} | options
    if lives == "whole":
        return Explicit(f.on(space, read), block, None, *g, **options)
    return Explicit(f, block, read, *g, whole=space, **options)


def forms() -> list[Any]:
    """Every group with every form it has, on a part and on the whole space."""
    return [
        pytest.param(group, form, lives, id=f"{name}, {form}, on the {lives}")
        for name, group in GROUPS.items()
        for form in FORMS
        if form != "nonlinear" or group.is_flat
        for lives in ("part", "whole")
    ]


def near(constraint: Explicit, seed: int, away: float) -> tuple[np.ndarray, np.ndarray]:
    """A configuration and a right-hand side, with an error of that size in each row."""
    rng = np.random.default_rng(seed)
    space, group = constraint.space, constraint.group
    rhs = group.random(rng)
    q = space.random(rng, np.full(space.nq, -1.0), np.full(space.nq, 1.0))
    off = group.integrate(constraint.output_function(rhs).value(q), np.zeros(group.nv))
    q[list(constraint.outputs.q)] = off
    step = np.zeros(space.nv)
    step[list(constraint.outputs.v)] = rng.uniform(-away, away, group.nv)
    return space.integrate(q, step), rhs


# --- functions of their own ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_translation_keeps_the_laws_of_functions(group: Space) -> None:
    """Property 1: the product with a constant, its Jacobian and drift; its inverse undoes it."""
    f = RightTranslation(group, group.random(np.random.default_rng(1)))
    check_function(f, samples=4)
    q = group.random(np.random.default_rng(2))
    back = f.inverted().value(f.value(q))
    np.testing.assert_allclose(group.difference(q, back), 0.0, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(f.value(q), group.compose(q, f.constant))


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_translation_refuses_what_is_no_element(group: Space) -> None:
    """Property 9: another size, NaN, a unit vector that is none, no group."""
    with pytest.raises(errors.SizeError):
        RightTranslation(group, np.zeros(group.nq + 1))
    with pytest.raises(errors.NotFiniteError):
        RightTranslation(group, np.full(group.nq, np.nan))
    with pytest.raises(errors.WrongObjectError, match="space of a translation"):
        RightTranslation("SE3", group.neutral)  # type: ignore[arg-type]
    if not group.is_flat:
        with pytest.raises(errors.NotNormalizedError):
            RightTranslation(group, 2.0 * group.neutral + 0.1)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.0, 3.0, np.pi - 1e-4, np.pi, 4.0])
def test_pose_from_rows_is_what_a_transformation_takes_apart(angle: float) -> None:
    """Property 1: (t, w) -> (t, exp w), at all angles; the inverse of Transformation below half a turn."""
    axis = np.array([2.0, -1.0, 0.5]) / np.linalg.norm([2.0, -1.0, 0.5])
    x = np.r_[0.1, -0.2, 0.3, angle * axis]
    check_function(PoseFromRows(), x)
    value = pin.XYZQUATToSE3(PoseFromRows().value(x))
    np.testing.assert_array_equal(value.translation, x[:3])
    np.testing.assert_allclose(value.rotation, pin.exp3(x[3:]), rtol=0, atol=1e-14)


@pytest.mark.parametrize(("group", "form", "lives"), a_few(forms(), 13, 3))
def test_twin_keeps_the_laws_of_functions(group: Space, form: str, lives: str) -> None:
    """Property 1: Jacobian, declared columns, drift with the bracket of each group, of h = f^-1 g."""
    constraint = sample(group, form, lives)
    assert isinstance(constraint.twin.function, Twin)
    assert constraint.twin.function.has_exact_drift
    check_function(constraint.twin.function, samples=3)


def test_twin_of_kinematics_has_an_exact_drift() -> None:
    """Property 1: drift of the twin of a grasp, of poses of a robot, by formulas."""
    robot = arm_and_box()
    f = Pose(robot, "gripper")
    g = Identity(SE3).on(robot.space, robot.segments("box/root_joint"))
    check_function(Twin(f, g), samples=4)
    check_function(explicit_relative_pose(robot, "gripper", "handle").output_function(SE3.log(pose(3))), samples=3)


def test_twin_refuses_functions_that_do_not_meet() -> None:
    """Property 9: two spaces, two groups."""
    with pytest.raises(errors.SpaceMismatchError, match="inputs of"):
        Twin(Swing(SO3), Swing(SO3, 4))
    with pytest.raises(errors.SpaceMismatchError, match="outputs of"):
        Twin(Swing(SO3), Swing(SE3))
    with pytest.raises(errors.WrongObjectError, match="g of a twin"):
        Twin(Swing(SO3), None)  # type: ignore[arg-type]


# --- the map and its twin --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("group", "form", "lives"), a_few(forms(), 9, 3))
def test_computed_outputs_satisfy_the_twin(group: Space, form: str, lives: str) -> None:
    """Property 10: q_out = g_inverse(f(q_in) rhs) leaves no error in the twin, for random right-hand sides."""
    constraint = sample(group, form, lives)
    problem = Problem(constraint.space, [constraint])
    assert problem.reduced_size == 0
    for seed in range(10):
        q, rhs = near(constraint, seed, 0.0)
        sides = problem.rhs.replace(constraint, rhs)
        assert problem.residual(q, sides) < 1e-12
        read = problem.rhs_from(q)
        assert read.same_as(sides, 1e-12)
        read_q = q.copy()
        read_q[list(constraint.outputs.q)] = constraint.output_function(read.of(constraint)).value(q)
        np.testing.assert_allclose(constraint.space.difference(q, read_q), 0.0, rtol=0, atol=1e-12)


def test_blocks_are_those_of_the_source_for_vectors() -> None:
    """Property 1: 1 on the outputs, -df on the inputs, 0 elsewhere."""
    constraint = sample(Rn(3))
    problem = Problem(constraint.space, [constraint])
    q = np.random.default_rng(0).uniform(-1.0, 1.0, 7)
    x = q[[0, 5, 6]]
    J, df = problem.jacobian(q), Swing(Rn(3)).jacobian(x)
    np.testing.assert_array_equal(J[:, 2:5], np.eye(3))
    np.testing.assert_array_equal(J[:, [0, 5, 6]], -df)
    np.testing.assert_array_equal(J[:, 1], 0.0)
    np.testing.assert_allclose(problem.error(q), q[2:5] - Swing(Rn(3)).value(x), rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_blocks_are_those_of_the_source_for_rotations(seed: int) -> None:
    """Property 1: Jlog(Rf^T Rout) on the outputs, -Jlog(Rf^T Rout) Rout^T Rf df on the inputs."""
    constraint = sample(SO3)
    problem = Problem(constraint.space, [constraint])
    q, _ = near(constraint, seed, 0.6)
    f, df = Swing(SO3).linearise(q[[0, 6, 7]])
    Rf, Rout = pin.Quaternion(*f[[3, 0, 1, 2]]).matrix(), pin.Quaternion(*q[[5, 2, 3, 4]]).matrix()
    error = pin.log3(Rf.T @ Rout)
    Jlog = pin.Jlog3(Rf.T @ Rout)
    np.testing.assert_allclose(problem.error(q), error, rtol=0, atol=1e-12)
    J = problem.jacobian(q)
    np.testing.assert_allclose(J[:, 2:5], Jlog, rtol=0, atol=1e-12)
    np.testing.assert_allclose(J[:, [0, 5, 6]], -Jlog @ Rout.T @ Rf @ df, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(J[:, 1], 0.0)


@pytest.mark.parametrize("group", [SE3, R3xSO3], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_blocks_are_those_of_the_source_for_poses(group: Space, seed: int) -> None:
    """Property 1: Jlog6 and -Jlog6 Ad^-1 df in SE3; blocks of vectors and of rotations in R3xSO3."""
    constraint = sample(group)
    problem = Problem(constraint.space, [constraint])
    q, _ = near(constraint, seed, 0.6)
    f, df = Swing(group).linearise(q[[0, 9, 10]])
    Mf, Mout = pin.XYZQUATToSE3(f), pin.XYZQUATToSE3(q[2:9])
    h = Mf.actInv(Mout)
    J = problem.jacobian(q)
    if group == SE3:
        out, into = pin.Jlog6(h), -pin.Jlog6(h) @ h.toActionMatrixInverse() @ df
        error = pin.log6(h).vector
    else:
        turn, Jlog = Mout.rotation.T @ Mf.rotation, pin.Jlog3(h.rotation)
        out, into = np.eye(6), -df
        out[3:, 3:], into[3:] = Jlog, -Jlog @ turn @ df[3:]
        error = np.r_[Mout.translation - Mf.translation, pin.log3(h.rotation)]
    np.testing.assert_allclose(problem.error(q), error, rtol=0, atol=1e-12)
    np.testing.assert_allclose(J[:, 2:8], out, rtol=0, atol=1e-12)
    np.testing.assert_allclose(J[:, [0, 8, 9]], into, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("group", "form", "lives"), forms())
def test_map_keeps_the_laws_of_functions(group: Space, form: str, lives: str) -> None:
    """Property 1: value, Jacobian and drift of q -> q_out, right-hand side included."""
    constraint = sample(group, form, lives)
    rhs = group.random(np.random.default_rng(7))
    f = constraint.output_function(rhs)
    assert f.outputs == constraint.outputs.space
    np.testing.assert_array_equal(f.columns, constraint.map.columns)
    check_function(f, samples=3)


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_right_hand_side_multiplies_on_the_right(group: Space) -> None:
    """Property 10: q_out = f(q_in) (+) log(rhs), with the integration of the source document."""
    constraint = sample(group)
    q, rhs = near(constraint, 3, 0.5)
    f = constraint.map.value(q)
    expected = group.integrate(f, group.log(rhs))
    np.testing.assert_allclose(
        group.difference(constraint.output_function(rhs).value(q), expected), 0.0, rtol=0, atol=1e-12
    )
    if not group.is_flat and group.unit_blocks[-1].stop - group.unit_blocks[-1].start == 4:
        turned = rhs.copy()
        turned[group.unit_blocks[-1]] *= -1.0  # q and -q are one right-hand side
        again = constraint.output_function(turned).value(q)
        np.testing.assert_allclose(group.difference(again, expected), 0.0, rtol=0, atol=1e-12)


def test_neutral_right_hand_side_costs_nothing() -> None:
    """The map itself is used where the right-hand side is neutral, and g together with a translation is one product."""
    constraint = sample(SE3)
    assert constraint.output_function() is constraint.map
    robot = arm_and_box()
    grasp = explicit_relative_pose(robot, "gripper", "handle")
    assert type(grasp.output_function()) is type(grasp.map)  # a pose of an offset frame, nothing composed


def test_free_flyer_may_be_explained_in_translation_and_rotation() -> None:
    """Property 1: g leads from the SE3 of a joint to an f with values in R3xSO3."""
    robot = arm_and_box()
    f = Pose(robot, "gripper", outputs=R3xSO3)
    g = Function.from_callable(_same, SE3, R3xSO3, _to_r3so3, name="as R3xSO3")
    g_inverse = Function.from_callable(_same, R3xSO3, SE3, _to_se3, name="as SE3")
    constraint = Explicit(f, robot.segments("box/root_joint"), None, g, g_inverse, comparison=EQUALITY)
    check_function(constraint.twin.function, samples=3)
    problem = Problem(robot, [constraint])
    rhs = R3xSO3.random(np.random.default_rng(1))
    sides = problem.rhs.replace(constraint, rhs)
    q = composed(problem, robot.random(np.random.default_rng(2)), sides)
    assert problem.residual(q, sides) < 1e-12
    oMg, oMb = (robot.at(q).placement(robot.frame(f)) for f in ("gripper", "box/root_joint"))
    np.testing.assert_allclose(oMb.translation, oMg.translation + rhs[:3], rtol=0, atol=1e-12)
    J = problem.jacobian(q, sides)
    np.testing.assert_allclose(
        J, differences(robot.space, q, lambda p: problem.rows(p, sides).error), rtol=0, atol=1e-6
    )


def _same(q: np.ndarray) -> np.ndarray:
    return q


def _to_r3so3(q: np.ndarray) -> np.ndarray:
    J = np.eye(6)
    J[:3, :3] = pin.XYZQUATToSE3(q).rotation
    return J


def _to_se3(q: np.ndarray) -> np.ndarray:
    return _to_r3so3(q).T


@pytest.mark.parametrize("lives", ["part", "whole"])
def test_several_output_segments_that_are_not_neighbours(lives: str) -> None:
    """Property 10: outputs in three places of the space, one a rotation; inputs between them."""
    space = ProductSpace([Rn(2), SO3, Rn(2), SO2, Rn(1)], list("abcde"))
    outputs = Segments.coordinates(space, [1, 2, 3, 4, 6])  # a[1], b, c[1]
    read = Segments.coordinates(space, [0, 5, 8])
    group = outputs.space
    assert (outputs.q, outputs.q_slice) == ((1, 2, 3, 4, 5, 7), None)
    f: Function = Swing(group, 3)
    made: tuple[Any, ...] = (f.on(space, read), outputs) if lives == "whole" else (f, outputs, read)
    constraint = Explicit(*made, comparison=EQUALITY, name="spread")
    problem = Problem(space, [constraint])
    (bound,) = problem.explicits
    assert isinstance(bound, Explicit)
    check_function(bound.twin.function, samples=3)
    rng = np.random.default_rng(0)
    q0, rhs = space.random(rng), group.random(rng)
    sides = problem.rhs.replace(constraint, rhs)
    result = Projector(problem).project(q0, sides)
    assert result.success
    assert result.iterations == 0
    np.testing.assert_array_equal(result.q[[0, 6, 8, 9, 10]], q0[[0, 6, 8, 9, 10]])
    np.testing.assert_allclose(result.q[list(outputs.q)], bound.output_function(rhs).value(q0), rtol=0.0, atol=1e-15)
    assert problem.residual(result.q, sides) < 1e-12


# --- comparison types, right-hand sides ------------------------------------------------------------------------------


def test_rows_are_equal_to_zero_by_default_and_take_no_right_hand_side() -> None:
    """Property 3: the comparison of each row decides whether its right-hand side may vary."""
    constraint = sample(SE3, comparison=None)
    assert constraint.rows.words == ("EQUAL_TO_ZERO",) * 6
    problem = Problem(constraint.space, [constraint])
    with pytest.raises(errors.RightHandSideError, match="row 0"):
        problem.rhs.replace(constraint, pose(1))
    with pytest.raises(errors.RightHandSideError, match="swing0"):
        sample(SE3, comparison=None, rhs=pose(1))
    mixed = sample(Rn(3), comparison=[EQUALITY, ZERO, EQUALITY], rhs=[0.1, 0.0, -0.2])
    problem = Problem(mixed.space, [mixed])
    q = np.random.default_rng(0).uniform(-1.0, 1.0, 7)
    sides = problem.rhs_from(q)
    assert sides.of(mixed)[1] == 0.0
    solved = Projector(problem).project(q, sides).q
    np.testing.assert_allclose(solved[[2, 4]], q[[2, 4]], rtol=0, atol=1e-14)
    assert abs(solved[3] - Swing(Rn(3)).value(q[[0, 5, 6]])[1]) < 1e-14


def test_default_right_hand_side_and_target_are_the_twins() -> None:
    """Property 4: the default of the constraint stands in every layout; a target varies in time."""
    rhs = pose(3)
    constraint = sample(SE3, rhs=rhs)
    problem = Problem(constraint.space, [constraint])
    np.testing.assert_array_equal(problem.rhs.vector, rhs)
    np.testing.assert_array_equal(constraint.default_rhs, rhs)
    moving = sample(Rn(3), rhs=Target(_line))
    problem = Problem(moving.space, [moving])
    q = Projector(problem).project(np.zeros(7), problem.rhs_at(0.5)).q
    np.testing.assert_allclose(q[2:5], _line(0.5) + Swing(Rn(3)).value(np.zeros(3)), rtol=0, atol=1e-14)


def _line(t: float) -> np.ndarray:
    return np.array([t, -t, 2.0 * t])


def test_twin_in_other_coordinates_converts_right_hand_sides() -> None:
    """Property 4: rhs_map leads from the space of the twin to the group of f."""
    robot = arm_and_box()
    grasp = explicit_relative_pose(robot, "gripper", "handle", comparison=EQUALITY)
    assert (grasp.group, grasp.map.outputs) == (Rn(6), SE3)
    rhs = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])
    element = pin.XYZQUATToSE3(grasp.group_rhs(rhs))
    np.testing.assert_array_equal(element.translation, rhs[:3])
    np.testing.assert_allclose(element.rotation, pin.exp3(rhs[3:]), rtol=0, atol=1e-15)


def test_rows_of_an_explicit_constraint_are_its_twins() -> None:
    """Position and velocity rows, right-hand side and copies of both say the same."""
    constraint = sample(SE3)
    q, rhs = near(constraint, 1, 0.4)
    v = np.random.default_rng(2).standard_normal(constraint.space.nv)
    problem = Problem(constraint.space, [constraint])
    for owner in (constraint, copy.copy(constraint), copy.deepcopy(constraint), pickle.loads(pickle.dumps(constraint))):
        stack, twin = Stack([owner]), Stack([owner.twin])
        point = problem.at(q)
        rows = stack_rows(stack, point, rhs=RightHandSide(stack, rhs))
        error, J = rows.error.copy(), rows.jacobian.copy()
        rows = stack_rows(twin, point, rhs=RightHandSide(twin, rhs))
        np.testing.assert_array_equal(error, rows.error)
        np.testing.assert_array_equal(J, rows.jacobian)
        np.testing.assert_array_equal(owner.rhs_at(point), owner.twin.rhs_at(point))
        np.testing.assert_array_equal(owner.output_function(rhs).value(q), constraint.output_function(rhs).value(q))
        error, J = np.zeros(6), np.zeros((6, constraint.space.nv))
        motion = place_motion(constraint.space, q, v, Workspace())
        owner.write_velocity(motion, Reference(rhs), error, J)
        np.testing.assert_allclose(error, J @ v, rtol=0, atol=1e-14)
    assert str(constraint) == "swing0"
    assert "6 dofs" in repr(constraint)


def test_copies_with_changes_are_other_constraints() -> None:
    """Copies (createCopy of the source): the same map, another object, other options."""
    constraint = sample(SE3)
    other = replace(constraint, level=2, name="second")
    assert (other.level, other.name, constraint.level) == (2, "second", 0)
    assert other.map is not constraint.map
    problem = Problem(constraint.space, [constraint, other])
    assert [r.constraint.name for r in problem.resolution.refused] == ["second"]
    f = Affine(np.ones((2, 2)))
    plain = Explicit(f, Segments.coordinates(Rn(4), [2, 3]), Segments.coordinates(Rn(4), [0, 1]), whole=Rn(4))
    assert (plain.refusal(), plain.level, plain.is_constant) == (None, 0, False)
    assert replace(plain, comparison=[ZERO, EQUALITY], level=2).refusal() is None
    assert plain.outputs_of(np.array([1.0, 2.0]), np.array([0.5, 0.25])).tolist() == [1.5, 2.25]


# --- domain of definition --------------------------------------------------------------------------------------------


def test_where_a_map_is_undefined_the_status_says_so_and_the_input_stays() -> None:
    """Failure is a value: status UNDEFINED, the start untouched, nothing raised; a restart may be where it has one."""
    space = Rn(3)
    f = Function.from_callable(positive_root, Rn(1), Rn(1), name="root")
    outputs, inputs = Segments.coordinates(space, [2]), Segments.coordinates(space, [0])
    constraint = Explicit(f, outputs, inputs, comparison=EQUALITY)
    problem = Problem(space, [constraint])
    q = np.array([-4.0, 1.0, 0.0])
    given = q.copy()
    result = Projector(problem, Options.local()).project(q)
    assert result.status is Status.UNDEFINED
    assert not result.success
    np.testing.assert_array_equal(q, given)
    np.testing.assert_array_equal(result.q, given)
    with pytest.raises(errors.UndefinedError, match="root of -4"):
        problem.residual(q)
    again = Projector(problem).project(q)
    assert again.success
    assert again.restarts > 0
    assert again.q[2] == pytest.approx(np.sqrt(again.q[0]))
    np.testing.assert_allclose(Projector(problem).project([4.0, 1.0, 0.0]).q, [4.0, 1.0, 2.0], rtol=0, atol=1e-15)


def test_a_map_that_becomes_undefined_on_the_way_leaves_the_start_alone() -> None:
    """Failure is a value: a later generation, and an implicit row that pulls out of the domain."""
    space = Rn(4)
    at = lambda i: Segments.coordinates(space, [i])  # noqa: E731
    root = Explicit(Function.from_callable(positive_root, Rn(1), Rn(1), name="root"), at(2), at(1))
    less = Explicit(Affine([[1.0]], [-3.0]), at(1), at(0))
    q = np.array([1.0, 7.0, 8.0, 9.0])
    result = Projector(Problem(space, [root, less])).project(q)
    assert result.status is Status.UNDEFINED
    np.testing.assert_array_equal(q, [1.0, 7.0, 8.0, 9.0])
    pull = Implicit.equal(Affine([[1.0, 0.0, 0.0, 0.0]]), [-1.0])
    result = Projector(Problem(space, [root, less, pull])).project([5.0, 2.0, np.sqrt(2.0), 0.0])
    assert not result.success
    assert np.isfinite(result.q).all()


# --- poses of carried objects ----------------------------------------------------------------------------------------

CARRIED = {
    "in the world": (arm_and_box, "gripper", "handle", "arm/", 7),
    "from the elbow": (arm_and_box, "elbow", "handle", "arm/", 4),
    "placed in the world": (arm_and_box, "universe", "handle", "", 0),
    "hung on a link, by the hand": (arm_with_tray, "tool", "handle", "", 4),
    "hung on a link, by the world": (arm_with_tray, "universe", "handle", "", 3),
    "hung on a link, by that link": (arm_with_tray, "shoulder_roll", "handle", "", 0),
    "hung on a link, by an object": (arm_with_tray, "grip", "handle", "", 9),
    "carried by a carried object": (arm_with_tray, "knob", "grip", "", 10),
    "on a free-flying robot": (humanoid_and_box, "hand", "handle", "human/", None),
}


@pytest.mark.parametrize("case", a_few(CARRIED, 3))
def test_relative_pose_is_resolved_exactly_from_the_joints_on_one_of_the_chains(case: str) -> None:
    """Property 10: the object is at aMb = (t, exp w) by plain pinocchio; inputs are the joints on exactly one chain."""
    factory, a, b, _, count = CARRIED[case]
    robot = factory()
    constraint = explicit_relative_pose(robot, a, b, comparison=EQUALITY)
    frame_a, frame_b = robot.frame(a), robot.frame(b)
    model: Any = robot.model
    chains = [set(model.supports[i]) for i in (frame_a.joint, model.parents[frame_b.joint])]
    expected = np.zeros(robot.nv, dtype=bool)
    for joint in chains[0] ^ chains[1]:
        start = model.joints[joint].idx_v
        expected[start : start + model.joints[joint].nv] = True
    np.testing.assert_array_equal(constraint.map.columns, expected)
    if count is not None:
        assert expected.sum() == count
    problem = Problem(robot, [constraint])
    rng = np.random.default_rng(4)
    for _ in range(5):
        q, rhs = robot.random(rng), np.r_[rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, 3)]
        sides = problem.rhs.replace(constraint, rhs)
        solved = Projector(Problem(robot.without_bounds(), [constraint])).project(q, rhs).q
        assert problem.residual(solved, sides) < 1e-12
        data = model.createData()
        pin.forwardKinematics(model, data, solved)
        oMa, oMb = (data.oMi[f.joint] * f.placement for f in (frame_a, frame_b))
        aMb = oMa.actInv(oMb)
        np.testing.assert_allclose(aMb.translation, rhs[:3], rtol=0, atol=1e-12)
        np.testing.assert_allclose(aMb.rotation, pin.exp3(rhs[3:]), rtol=0, atol=1e-12)
        back = problem.rhs_from(solved).of(constraint)
        np.testing.assert_allclose(back, rhs, rtol=0, atol=1e-11)


@pytest.mark.parametrize("case", CARRIED)
def test_relative_pose_equals_the_conjugation_of_hpp(case: str) -> None:
    """Property 24: g(q_in) = parent^-1 J1 F1 F2^-1, right-hand side F2 rhs F2^-1, product in SE3."""
    factory, a, b, _, _ = CARRIED[case]
    robot = factory()
    constraint = explicit_relative_pose(robot, a, b, comparison=EQUALITY)
    model: Any = robot.model
    F1, F2 = robot.frame(a), robot.frame(b)
    rng = np.random.default_rng(5)
    for _ in range(3):
        q, rhs = robot.random(rng), rng.uniform(-1.0, 1.0, 6)
        data = model.createData()
        pin.forwardKinematics(model, data, q)
        parent = data.oMi[model.parents[F2.joint]] * model.jointPlacements[F2.joint]
        g = parent.actInv(data.oMi[F1.joint] * F1.placement * F2.placement.inverse())
        explicit_rhs = F2.placement * pin.SE3(pin.exp3(rhs[3:]), rhs[:3]) * F2.placement.inverse()
        expected = g * explicit_rhs
        found = pin.XYZQUATToSE3(constraint.output_function(rhs).value(q))
        np.testing.assert_allclose(found.homogeneous, expected.homogeneous, rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", a_few(CARRIED, 3))
def test_map_of_a_relative_pose_keeps_the_laws_of_functions(case: str) -> None:
    """Property 1: value, Jacobian, declared columns and drift of q -> pose of the object, right-hand side included."""
    factory, a, b, _, _ = CARRIED[case]
    constraint = explicit_relative_pose(factory(), a, b, comparison=EQUALITY)
    check_function(constraint.output_function(np.array([0.1, 0.2, -0.3, 0.5, -0.6, 0.7])), samples=2)


def test_relative_pose_is_explicit_form_of_the_relative_transformation() -> None:
    """Property 11: its twin is Transformation from a, row by row."""
    robot = arm_and_box()
    constraint = explicit_relative_pose(robot, "gripper", "handle")
    h = Transformation(robot, "handle", reference="gripper")
    q = robot.random(np.random.default_rng(3))
    problem = Problem(robot, [constraint])
    np.testing.assert_array_equal(problem.error(q), h.value(q))
    np.testing.assert_array_equal(problem.jacobian(q), h.jacobian(q))
    assert constraint.name == "relative_pose(gripper, handle)"
    assert explicit_relative_pose(robot, "gripper", "handle", name="grasp").name == "grasp"


@pytest.mark.parametrize("angle", [np.pi - 1e-9, np.pi, np.pi + 1e-9, 4.0, 2.0 * np.pi, 9.0])
def test_a_relative_pose_at_half_a_turn_and_beyond_is_satisfied_where_it_is_computed(angle: float) -> None:
    """Property 12: rotation vectors of one rotation are one right-hand side of a pose that is computed."""
    robot, rng = arm_and_box(), np.random.default_rng(8)
    constraint = explicit_relative_pose(robot, "gripper", "handle", comparison=EQUALITY)
    problem = Problem(robot, [constraint])
    assert "longer" not in problem.describe()
    fallen = Problem(robot, [locked_joint(robot, "box/root_joint"), constraint])
    for _ in range(4):
        axis = rng.normal(size=3)
        sides = problem.rhs.replace(constraint, np.r_[0.1, 0.2, 0.3, angle * axis / np.linalg.norm(axis)])
        result = Projector(problem).project(robot.random(rng), sides)
        assert result.success
        assert problem.residual(result.q, sides) < 1e-7
        assert Projector(problem).project(result.q, sides).iterations == 0
        near = robot.space.integrate(result.q, 1e-3 * rng.normal(size=robot.nv))
        implicit = fallen.rhs.replace(constraint, sides.of(constraint))
        found = problem.jacobian(near, sides)
        np.testing.assert_array_equal(fallen.error(near, constraint, implicit), problem.error(near, constraint, sides))
        expected = differences(robot.space, near, lambda q, rhs=sides: problem.error(q, constraint, rhs))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
        assert np.linalg.norm(problem.error(near, constraint, sides)) < 0.02


def test_relative_pose_refuses_what_cannot_be_computed() -> None:
    """Property 7: a frame on another joint, a frame that moves with the object, names that are none."""
    robot = arm_with_tray()
    for b in ("tool", "knob", "universe"):
        with pytest.raises(errors.WrongObjectError, match=r"a frame on a free-flyer joint"):
            explicit_relative_pose(robot, "grip", b)
    for a in ("handle", "knob"):
        with pytest.raises(errors.OverlapError, match="depends on its own outputs"):
            explicit_relative_pose(robot, a, "handle")
    with pytest.raises(errors.UnknownFrameError, match="handel"):
        explicit_relative_pose(robot, "tool", "handel")
    with pytest.raises(errors.SizeError):
        explicit_relative_pose(robot, "tool", "handle", np.zeros(7), comparison=EQUALITY)
    with pytest.raises(errors.RightHandSideError, match="row 1"):
        explicit_relative_pose(robot, "tool", "handle", [0.0, 0.1, 0.0, 0.0, 0.0, 0.0])


# --- couplings -------------------------------------------------------------------------------------------------------


def test_linear_coupling_computes_a_joint_from_others() -> None:
    """Property 10: q_j = sum m_i q_i + b, by the joints' names."""
    robot = arm()
    constraint = linear_coupling(robot, "wrist_pitch", {"elbow": -0.5, "shoulder_yaw": 2.0}, 0.1)
    problem = Problem(robot.without_bounds(), [constraint])
    q = robot.random(np.random.default_rng(1))
    solved = Projector(problem).project(q).q
    assert solved[5] == pytest.approx(-0.5 * q[3] + 2.0 * q[0] + 0.1, abs=1e-15)
    np.testing.assert_array_equal(np.delete(solved, 5), np.delete(q, 5))
    assert not constraint.periodic[[0, 3, 5]].any()  # such joints must not be shifted by whole turns
    assert constraint.periodic[[1, 2, 4, 6]].all()
    assert "wrist_pitch" in constraint.name
    check_function(constraint.twin.function, samples=2)
    constant = linear_coupling(robot, "elbow", {}, 0.3)
    assert constant.is_constant
    assert Projector(Problem(robot, [constant])).project(q).q[3] == 0.3


def test_linear_coupling_refuses_joints_and_numbers_that_are_none() -> None:
    """Property 7: names, joints of several numbers, its own source, no numbers."""
    robot = arm_and_box()
    with pytest.raises(errors.UnknownJointError, match="arm/elbow"):
        linear_coupling(robot, "arm/elbwo", {"arm/elbow": 1.0})
    with pytest.raises(errors.UnknownJointError, match="arm/elbow"):
        linear_coupling(robot, "arm/elbow", {"arm/elbwo": 1.0})
    for joint, source in (("box/root_joint", "arm/elbow"), ("arm/elbow", "box/root_joint")):
        with pytest.raises(errors.WrongObjectError, match="a joint with one number in q, got SE3"):
            linear_coupling(robot, joint, {source: 1.0})
    turns = "".join(
        f"<joint name='{name}' type='continuous'><parent link='a'/><child link='{name}'/>{mimic}</joint>"
        for name, mimic in (("b", ""), ("c", "<mimic joint='b'/>"))
    )
    wheels = Robot.from_urdf(f"<robot name='wheels'><link name='a'/><link name='b'/><link name='c'/>{turns}</robot>")
    with pytest.raises(errors.WrongObjectError, match=r"'c' .* got SO2, .*as a revolute joint with limits it has"):
        mimic_constraints(wheels)
    with pytest.raises(errors.OverlapError, match="arm/elbow"):
        linear_coupling(robot, "arm/elbow", {"arm/elbow": 1.0, "arm/wrist_roll": 1.0})
    with pytest.raises(errors.DtypeError, match="multipliers of 'arm/elbow'"):
        linear_coupling(robot, "arm/elbow", {"arm/wrist_roll": "2"})  # type: ignore[dict-item]
    with pytest.raises(errors.NotFiniteError, match="multipliers of 'arm/elbow'"):
        linear_coupling(robot, "arm/elbow", {"arm/wrist_roll": np.nan})
    with pytest.raises(errors.NotFiniteError):
        linear_coupling(robot, "arm/elbow", {"arm/wrist_roll": 1.0}, np.inf)
    with pytest.raises(errors.WrongObjectError, match="robot of a linear coupling"):
        linear_coupling(robot.space, "arm/elbow", {})  # type: ignore[arg-type]
    with pytest.raises(errors.WrongObjectError, match="robot of mimic constraints"):
        mimic_constraints(robot.space)  # type: ignore[arg-type]


def test_mimic_tags_become_constraints() -> None:
    """Each tag is a constraint; tags that follow each other are resolved in order."""
    plain = arm()
    mimics = (Mimic("wrist_roll", "wrist_pitch", -1.0, 0.2), Mimic("wrist_pitch", "elbow", 0.5))
    robot = Robot(plain.model, mimics=mimics)
    constraints = mimic_constraints(robot)
    assert [c.name for c in constraints] == ["wrist_roll mimics wrist_pitch", "wrist_pitch mimics elbow"]
    problem = Problem(robot, constraints)
    assert [[c.name for c in g] for g in problem.resolution.generations] == [
        ["wrist_pitch mimics elbow"],
        ["wrist_roll mimics wrist_pitch"],
    ]
    q = Projector(problem).project(np.full(7, 0.4)).q
    assert q[5] == pytest.approx(0.2)
    assert q[6] == pytest.approx(0.0, abs=1e-15)
    assert mimic_constraints(plain) == ()


@needs_robot_data
def test_fingers_of_a_gripper_follow_each_other() -> None:
    """The mimic tag of a robot file: the second finger is computed."""
    robot = panda()
    assert len(robot.mimics) == 1
    (follow,) = mimic_constraints(robot)
    mimic = robot.mimics[0]
    problem = Problem(robot, [follow])
    q = Projector(problem).project(robot.configuration({mimic.source: 0.03})).q
    assert q[robot.slice_of(mimic.joint)] == pytest.approx(mimic.multiplier * 0.03 + mimic.offset)


# --- bigger spaces ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [True, False], ids=["robot first", "robot last"])
def test_constraints_of_a_robot_move_to_a_product(first: bool) -> None:
    """A robot's constraint on a product: its outputs and inputs are those of the factor, its values the same."""
    robot = arm_and_box()
    space = robot.space * Rn(2) if first else Rn(2) * robot.space
    shift_q, shift_v = (0, 0) if first else (2, 2)
    grasp = explicit_relative_pose(robot, "gripper", "handle", [0.1, 0.0, 0.2, 0.3, 0.0, 0.1], comparison=EQUALITY)
    couple = linear_coupling(robot, "arm/wrist_roll", {"arm/elbow": 2.0}, 0.1)
    reads = Explicit(
        Swing(Rn(1), 2), robot.segments("arm/wrist_pitch"), robot.segments("arm/elbow", "arm/shoulder_yaw"),
        whole=robot.space, name="reads",
    )  # fmt: skip
    problem = Problem(space, [grasp, couple, reads])
    assert len(problem.resolution.explicits) == 3
    for given in (grasp, couple, reads):
        assert problem.contains(given)
        (moved,) = (e for e in problem.resolution.explicits if e.original is given)
        assert moved.outputs.v == tuple(v + shift_v for v in given.outputs.v)
        assert moved.outputs.q == tuple(i + shift_q for i in given.outputs.q)
        assert moved.name == given.name
        np.testing.assert_array_equal(problem.rhs.of(given), given.default_rhs)
    q = space.random(np.random.default_rng(1))
    solved = Projector(problem).project(q).q
    alone = Projector(Problem(robot.without_bounds(), [grasp, couple, reads])).project(q[shift_q : shift_q + robot.nq])
    apart = robot.space.difference(solved[shift_q : shift_q + robot.nq], alone.q)
    np.testing.assert_allclose(apart, 0.0, rtol=0, atol=1e-14)
    J = problem.jacobian(solved)
    assert not J[:, robot.nv :].any() if first else not J[:, :2].any()


def test_extra_variables_and_joints_may_explain_each_other() -> None:
    """Explicit maps between a robot's joints and variables beside them, through the robot's kinematics."""
    robot = arm()
    space = robot.space * Rn(3)
    height = Explicit(Position(robot, "tool").on(space), Segments.of(space, 1), name="tool position")
    drive = Explicit(
        Affine([[0.5]], [0.2]), Segments.coordinates(space, [3]), Segments.coordinates(space, [0]), name="drive"
    )
    problem = Problem(space, [height, drive])
    assert [e.name for e in problem.resolution.explicits] == ["drive", "tool position"]
    q = Projector(problem).project(np.full(10, 0.3)).q
    assert q[3] == pytest.approx(0.35)
    np.testing.assert_allclose(q[7:], robot.at(q[:7]).placement(robot.frame("tool")).translation, rtol=0, atol=1e-15)


def test_a_constraint_stays_where_it_lives() -> None:
    """`on` an equal space is the constraint itself; on a space without it, it is refused by name."""
    constraint = sample(SE3)
    assert constraint.on(whole(SE3)) is constraint
    with pytest.raises(errors.SpaceMismatchError, match="space for 'swing0'"):
        constraint.on(Rn(3))
    with pytest.raises(errors.WrongObjectError, match="space for 'swing0'"):
        constraint.on("R3")  # type: ignore[arg-type]
    unbound = Explicit(Swing(Rn(1), 1), Segments.coordinates(Rn(3), [0]), Segments.coordinates(Rn(3), [1]))
    assert not unbound.is_bound
    bound = unbound.on(Rn(3))
    assert (bound.is_bound, bound.original) == (True, unbound)
    again = bound.on(Rn(2) * Rn(3)) if Rn(2) * Rn(3) != Rn(5) else bound.on(SO2 * Rn(3))
    assert again.original is unbound


# --- refusals of the constructor -------------------------------------------------------------------------------------


def test_constructor_refuses_what_does_not_fit() -> None:
    """Property 7: each refusal is typed and names the constraint and what is wrong."""
    space = whole(SE2)
    out, read = Segments.of(space, "out"), Segments.coordinates(space, [0, 5, 6])
    f = Swing(SE2)
    g = Identity(SE2)

    def refused(error: type[Exception], match: str, *arguments: Any, **options: Any) -> None:
        with pytest.raises(error, match=match):
            Explicit(*arguments, **{"name": "mine"} | options)

    refused(errors.WrongObjectError, "f of an explicit", None, out, read)
    refused(errors.WrongObjectError, "outputs of 'mine'", f, None, read)
    refused(errors.WrongObjectError, "outputs of 'mine'", f, [2, 3, 4], read)
    refused(errors.WrongObjectError, "inputs of 'mine'", f, out, [0, 1, 2])
    refused(errors.WrongObjectError, "at least one coordinate", Swing(Rn(0)), Segments.empty(), read)
    refused(errors.WrongObjectError, "g and g_inverse together", f, out, read, g)
    refused(errors.WrongObjectError, "g and g_inverse together", f, out, read, None, g)
    refused(errors.WrongObjectError, "g of 'mine'", f, out, read, np.sin, np.arcsin)
    refused(errors.WrongObjectError, "implicit of 'mine'", f, out, read, implicit=np.sin)
    refused(errors.WrongObjectError, "rhs_map of 'mine'", f, out, read, rhs_map=np.sin)
    refused(errors.WrongObjectError, "whole of 'mine'", f, out, read, whole="space")
    refused(errors.WrongObjectError, "name", f, out, read, name=3)
    refused(errors.OptionError, "level of 'mine'", f, out, read, level=-1)
    refused(errors.OptionError, "level of 'mine'", f, out, read, level=True)
    refused(errors.OptionError, "level of 'mine'", f, out, read, level=0.0)
    refused(errors.OverlapError, r"'mine'.*share.*\[2, 3, 4\]", Swing(SE2, 3), out, Segments.of(space, "out"))
    refused(errors.OverlapError, "share coordinates", Swing(SE2, 5), out, Segments.coordinates(space, [0, 2, 3, 4, 5]))
    refused(errors.OverlapError, r"its own outputs.*\[2, 3, 4\]", Function.from_callable(_pick, space, SE2), out)
    refused(errors.SpaceMismatchError, "inputs of 'mine'", f, out, Segments.coordinates(space, [0, 1]))
    refused(errors.SpaceMismatchError, "outputs of 'mine'", Swing(SO3), out, read)
    refused(errors.SpaceMismatchError, "outputs of 'mine'", f, out, read, Identity(SE3), Identity(SE3))
    refused(errors.SpaceMismatchError, "g of 'mine'", f, out, read, _turned(SE2, SE3), Identity(SE2))
    refused(errors.SpaceMismatchError, "argument of g_inverse", f, out, read, g, Identity(SE3))
    refused(errors.SpaceMismatchError, "value of g_inverse", f, out, read, g, _turned(SE2, SE3))
    refused(errors.SpaceMismatchError, "twin of 'mine'", f, out, read, implicit=Swing(SE2, 3), whole=space)
    refused(errors.SpaceMismatchError, "twin of 'mine'", f, out, read, implicit=Affine(np.eye(7)))
    refused(errors.SpaceMismatchError, "argument of rhs_map", f, out, read, rhs_map=PoseFromRows())
    refused(errors.SpaceMismatchError, "value of rhs_map", f, out, read, rhs_map=_turned(SE2, SE3))
    refused(errors.SpaceMismatchError, "whole space of 'mine'", f.on(space, read), out, whole=Rn(3))


def _turned(a: Space, b: Space) -> Function:
    return Function.from_callable(_pick, a, b, name="turned")


def _pick(q: np.ndarray) -> np.ndarray:
    return q


def test_segments_must_be_blocks_of_the_whole_space() -> None:
    """Property 7: coordinates beyond the space, another group there, coordinates out of order or cut."""
    space = ProductSpace([SO2, Rn(3), SO3])
    f = Swing(Rn(1), 1)
    read, out = Segments((2,), (1,), Rn(1)), Segments((3,), (2,), Rn(1))
    assert Explicit(f, out, read, whole=space, name="mine").is_bound
    with pytest.raises(errors.OverlapError, match="share coordinates"):
        Explicit(f, out, Segments((3,), (1,), Rn(1)), name="mine")
    for bad in (Segments((9,), (9,), Rn(1)), Segments((7,), (-1,), Rn(1))):
        with pytest.raises(errors.SizeError, match=r"outputs of 'mine' on .*below 7"):
            Explicit(f, bad, read, whole=space, name="mine")
        with pytest.raises(errors.SizeError, match="inputs of 'mine'"):
            Problem(space, [Explicit(f, out, bad, name="mine")])
    for bad in (Segments((0,), (0,), Rn(1)), Segments((2,), (2,), Rn(1)), Segments((5,), (1,), Rn(1))):
        with pytest.raises(errors.SpaceMismatchError, match="inputs of 'mine'"):
            Explicit(f, Segments((4,), (3,), Rn(1)), bad, whole=space, name="mine")
    with pytest.raises(errors.SpaceMismatchError, match=r"R2 at \[2, 3\], received R2 at \[3, 2\]"):
        Explicit(Swing(Rn(2), 1), Segments((3, 2), (2, 1), Rn(2)), Segments((4,), (3,), Rn(1)), whole=space)
    with pytest.raises(errors.OverlapError, match="cut in two"):
        Explicit(f, Segments((5,), (4,), Rn(1)), read, whole=space)


@pytest.mark.parametrize("lives", ["whole", "block"])
def test_an_explicit_constraint_is_its_own_after_its_arguments_were_changed(lives: str) -> None:
    """Bound to a space, or moved to a product, it has the right-hand side and rows that it was made with."""
    space, rhs, rows = Rn(3), np.array([0.5]), [Comparison.EQUALITY]
    out = Segments.coordinates(space, [1])
    if lives == "whole":
        constraint = Explicit(Affine([[1.0, 0.0, 0.0]], [0.0], space), out, comparison=rows, rhs=rhs)
        problem_on: Any = space * SO3
    else:
        source = Segments.coordinates(space, [0])
        constraint = Explicit(Affine([[1.0]], [0.0], Rn(1)), out, source, comparison=rows, rhs=rhs)
        problem_on = space
    rhs[0], rows[0] = 0.9, Comparison.SUPERIOR
    problem = Problem(problem_on, [constraint])
    assert len(problem.explicits) == 1
    np.testing.assert_array_equal(problem.rhs.vector, [0.5])


@pytest.mark.parametrize("norm", [0.0, 1.001, 2.0])
def test_a_callable_that_gives_no_rotation_is_named(norm: float) -> None:
    """A computed quaternion of another norm would be a success that is no configuration; zero would divide by zero."""
    space = Rn(1) * SO3
    f = Function.from_callable(lambda q: norm * SO3.exp(np.r_[q, 0.0, 0.0]), Rn(1), SO3, name="turned")
    computed = Problem(space, [Explicit(f, Segments.of(space, 1), Segments.of(space, 0))])
    solved = Problem(Rn(1), [Implicit.equal(f, SO3.exp(np.array([0.3, 0.0, 0.0])))])
    for problem, start in ((computed, [0.1, 0.0, 0.0, 0.0, 1.0]), (solved, [0.1])):
        with pytest.raises(errors.NotNormalizedError, match="value of turned of SO3"):
            Projector(problem).project(start)


@pytest.mark.parametrize("angle", [0.5, 3.1, 4.0, 9.0])
def test_rates_of_a_relative_pose_beyond_half_a_turn_are_those_of_its_errors(angle: float) -> None:
    """Property 6: velocity and acceleration rows against differences in time, with a right-hand side that moves."""
    robot, rng = arm_and_box(), np.random.default_rng(4)
    space, h, turned = robot.space, 1e-4, 0
    constraint = explicit_relative_pose(robot, "gripper", "handle", comparison=EQUALITY)
    stack, problem = Stack([constraint]), Problem(robot, [constraint])
    for _ in range(20):
        axis, r1, r2 = rng.normal(size=3), rng.normal(size=6), rng.normal(size=6)
        r0 = np.r_[0.1, 0.2, 0.3, angle * axis / np.linalg.norm(axis)]
        q = Projector(problem).project(robot.random(rng), problem.rhs.replace(constraint, r0)).or_raise().q
        q, v = space.integrate(q, 0.3 * rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
        turned += np.abs(constraint.twin.function.value(q) - r0).max() > 3.0

        def error(t: float, q: Any = q, v: Any = v, r: Any = (r0, r1, r2)) -> np.ndarray:
            side = RightHandSide(stack, r[0] + t * r[1] + 0.5 * t * t * r[2])
            return stack_rows(stack, robot.at(space.integrate(q, t * v)), rhs=side).error.copy()

        sides = RightHandSide(stack, r0, r1, r2)
        before, now, after = (error(t) for t in (-h, 0.0, h))
        rates = stack_rows(stack, robot.at(q, v), Order.VELOCITY, sides)
        np.testing.assert_allclose(rates.error, (after - before) / (2.0 * h), rtol=0, atol=2e-5)
        jacobian = rates.jacobian.copy()
        np.testing.assert_array_equal(jacobian, stack_rows(stack, robot.at(q), rhs=sides).jacobian)
        second = stack_rows(stack, robot.at(q, v), Order.ACCELERATION, sides)
        np.testing.assert_allclose(second.error, (after - 2.0 * now + before) / h**2, rtol=0, atol=2e-4)
        np.testing.assert_array_equal(second.jacobian, jacobian)
    assert turned >= (5 if angle > 1.0 else 0)


def test_half_a_turn_from_no_rotation_at_all_has_a_finite_error() -> None:
    """Property 12: from the identity every half turn is pi away, also one whose norm rounds to more than pi."""
    rng = np.random.default_rng(3)
    for _ in range(2000):
        axis = rng.normal(size=3)
        half = np.pi * axis / np.linalg.norm(axis)
        rhs = shorter(np.nextafter(half, 2.0 * half))
        error, jacobian = -rhs, np.eye(3)
        to_nearest_turn(rhs, error, jacobian)
        assert abs(np.linalg.norm(error) - np.pi) < 1e-14
        assert np.isfinite(jacobian).all()


def test_a_start_that_a_constant_map_has_computed_is_no_success_where_it_does_not_hold() -> None:
    """Property 12: neither computed by the projection, nor given: 2 g^-1(1) is 4, not 1."""
    space, double = Rn(2), Function.from_callable(lambda q: 2.0 * q, Rn(1), Rn(1), name="double")
    one = Affine(np.zeros((1, 2)), [1.0], space)
    held = Implicit.zero(Affine([[1.0, 0.0]], [0.0], space))
    problem = Problem(space, [held, Explicit(one, Segments.coordinates(space, [1]), None, double, double)])
    for start in ([0.0, 0.0], [0.0, 2.0], [0.3, 2.0]):
        result = Projector(problem).project(start)
        assert not result.success
        assert not problem.is_satisfied(result.q)


def test_a_relative_pose_with_another_twin_is_no_success() -> None:
    """Property 12: the twin of `relative_pose` is known to hold, wherever it is moved; one of other frames is asked."""
    robot, rng = arm_and_box(), np.random.default_rng(6)
    turned = [0.1, 0.2, -0.3, *SO3.exp(np.array([0.3, -0.2, 0.5]))]
    shifted = robot.frame("handle", turned)
    for frame in ("handle", shifted):
        pose = explicit_relative_pose(robot, "gripper", frame)
        owners = [Problem(space, [pose]).explicits[0] for space in (robot, robot.space * Rn(2), Rn(2) * robot.space)]
        for owner in (*owners, pickle.loads(pickle.dumps(pose)), copy.deepcopy(pose)):
            assert isinstance(owner, Explicit)
            assert owner.is_exact
    pose = explicit_relative_pose(robot, "gripper", "handle")
    for other in (
        Transformation(robot, shifted, reference="gripper"),
        Transformation(robot, "handle", reference=robot.frame("gripper", turned)),
    ):
        problem = Problem(robot, [replace(pose, implicit=other)])
        result = Projector(problem).project(robot.random(rng))
        assert not result.success
        assert not problem.is_satisfied(result.q)


def test_what_its_own_inverse_does_not_satisfy_is_no_success() -> None:
    """Property 12: a g_inverse that is none, or that ends at a limit, and a twin that asks for something else."""
    space = Rn(2)
    out, source, f = Segments.coordinates(space, [1]), Segments.coordinates(space, [0]), Identity(Rn(1))
    double = Function.from_callable(lambda q: 2.0 * q, Rn(1), Rn(1), name="double")
    limited = Function.from_callable(lambda q: 0.5 * np.clip(q, -1.0, 1.0), Rn(1), Rn(1), name="limited")
    held = Implicit.equal(Affine([[1.0, 0.0]], [0.0], space), [0.3])
    other, shift = Affine([[1.0, 1.0]], [0.0], space), RightTranslation(Rn(1), [0.7])
    for constraint, target, solvable in (
        (Explicit(f, out, source, double, Identity(Rn(1))), 0.3, False),
        (Explicit(f, out, source, double, limited), 0.3, True),
        (Explicit(f, out, source, double, limited), 1.7, False),
        (Explicit(f, out, source, implicit=other), 0.3, False),
        (Explicit(f, out, source, shift, shift), 0.3, False),
        (Explicit(f, out, source, shift, shift.inverted()), 0.3, True),
    ):
        problem = Problem(space, [constraint, held])
        for options in (Options(), Options.local(), Options(nearest=True)):
            result = Projector(problem, options).project([0.1, 0.9], problem.rhs.replace(held, [target]))
            assert result.success == solvable
            assert problem.is_satisfied(result.q, rhs=result.rhs) == solvable


def two_roots(*, has_branches: bool = True) -> Explicit:
    """y = x, whose twin y^2 - x^2 = 0 has the other solution y = -x."""
    squares = Function.from_callable(
        lambda q: [q[1] ** 2 - q[0] ** 2], Rn(2), Rn(1), lambda q: np.array([[-2.0 * q[0], 2.0 * q[1]]]), name="squares"
    )
    out, source = Segments.coordinates(Rn(2), [1]), Segments.coordinates(Rn(2), [0])
    return Explicit(Identity(Rn(1)), out, source, implicit=squares, whole=Rn(2), has_branches=has_branches)


def test_a_solution_of_the_twin_on_another_branch_is_none() -> None:
    """Of both roots only the computed one satisfies; errors, and what is implicit, are of the twin as before."""
    for space in (Rn(2), Rn(2) * Rn(3), Rn(3) * Rn(2)):
        first = 3 if space.factors[0].space == Rn(3) else 0
        own, other = np.zeros(space.nq), np.zeros(space.nq)
        own[first : first + 2], other[first : first + 2] = [0.7, 0.7], [0.7, -0.7]
        problem = Problem(space, [two_roots()])
        (root,) = problem.explicits
        assert problem.error(other).tolist() == problem.error(own).tolist() == [0.0]
        assert (problem.is_satisfied(own), problem.is_satisfied(other)) == (True, False)
        assert (problem.is_satisfied(own, root), problem.is_satisfied(other, 0)) == (True, False)
        assert problem.residual(own) == 0.0
        assert problem.residual(other) == pytest.approx(abs(2.0 * -0.7 * 1.4), rel=1e-14)
        assert Projector(problem).project(own).q.tobytes() == own.tobytes()
        assert Projector(problem).project(other).or_raise().q.tobytes() == own.tobytes()
        plain = Problem(space, [two_roots(has_branches=False)])
        assert Projector(plain).project(other).q.tobytes() == other.tobytes()
    implicit = Problem(Rn(2), [two_roots()], frozen=[Segments.coordinates(Rn(2), [1])])
    assert implicit.resolution.refused
    assert implicit.is_satisfied([0.7, -0.7])


def test_whole_turns_that_a_twin_allows_are_on_the_same_branch() -> None:
    """y = x, whose twin sin(y - x) = 0 has the other solution y = x + pi."""
    robot = arm()

    class Sine(Function):
        def __init__(self) -> None:
            self.declare(robot.space, Rn(1), periodic=True, name="sine")

        def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
            value[0], slope = np.sin(point.q[1] - point.q[0]), np.cos(point.q[1] - point.q[0])
            if jacobian is not None:
                jacobian[:] = [[-slope, slope, *np.zeros(robot.nv - 2)]]

    x, y = (robot.segments(name) for name in robot.joint_names[:2])
    problem = Problem(robot, [Explicit(Identity(Rn(1)), y, x, implicit=Sine(), has_branches=True)])
    for turns in (0.0, 1.0, -2.0, 0.5, 1.1, -1.9):
        q = robot.neutral.copy()
        q[:2] = 0.5, 0.5 + 2.0 * np.pi * turns
        off = remainder(2.0 * np.pi * turns, 2.0 * np.pi)
        error = problem.resolution.branch_error(problem.at(q), problem.rhs)
        assert error == pytest.approx(abs(np.sin(off) - np.cos(off) * off), abs=1e-12)


def test_branches_are_a_flag_that_copies_keep() -> None:
    """What is no truth value is refused by name; copies and pickles keep the flag, and it is not packed."""
    with pytest.raises(errors.WrongObjectError, match="has_branches of"):
        replace(two_roots(), has_branches=1)
    robot = arm()
    free = Explicit(Affine([[2.0]]), robot.segments(robot.joint_names[1]), robot.segments(robot.joint_names[0]))
    assert why_not(Problem(robot, [free])) is None
    marked = replace(free, has_branches=True)
    assert "twin has branches" in str(why_not(Problem(robot, [marked])))
    copies = pickle.loads(pickle.dumps(marked)), copy.deepcopy(marked), replace(marked, level=1), marked.on(robot.space)
    assert all(each.has_branches for each in copies)
