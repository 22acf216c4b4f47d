"""Functions made of functions: composition, difference, stacks, rows, bigger spaces, callables; what they refuse."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, mixed_tree, two_arms
from samples import arm_frames, humanoid_frames, placement, two_arms_frames

from constraints import (
    Affine,
    CenterOfMass,
    Function,
    Orientation,
    Pose,
    Position,
    Robot,
    Rotation,
    Stacked,
    Transformation,
)
from constraints.errors import (
    DtypeError,
    FunctionError,
    NotFiniteError,
    NotNormalizedError,
    OptionError,
    OverlapError,
    SizeError,
    SpaceMismatchError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.functions import (
    Composition,
    Constant,
    Difference,
    Identity,
    Lifted,
    Manipulability,
    Restriction,
    stack,
)
from constraints.functions.translation import Translated
from constraints.models import sample_arm
from constraints.point import place_motion
from constraints.testing import check_function
from constraints.workspace import Workspace
from liegroups import SE3, SO2, SO3, ProductSpace, R3xSO3, Rn, Segments


def drawn(f: Function, count: int = 5) -> Any:
    return [f.inputs.random(np.random.default_rng(i)) for i in range(count)]


# --- composition -----------------------------------------------------------------------------------------------------


def test_composition_is_the_inner_function_then_the_outer() -> None:
    inner, outer = Position(arm(), "tool"), Affine([[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]], [4.0, 5.0])
    f = outer @ inner
    assert isinstance(f, Composition)
    assert (f.inputs, f.outputs, str(f)) == (arm().space, Rn(2), "Affine @ Position(tool)")
    for q in drawn(f):
        p, J = inner.linearise(q)
        np.testing.assert_array_equal(f.value(q), outer.value(p))
        np.testing.assert_allclose(f.jacobian(q), outer.jacobian(p) @ J, rtol=0, atol=1e-15)


def test_composition_is_associative() -> None:
    f, g, h = Affine([[2.0, 1.0]]), Affine([[1.0, -1.0, 0.0], [0.0, 1.0, 3.0]]), CenterOfMass(humanoid())
    for q in drawn(h):
        np.testing.assert_allclose(((f @ g) @ h).value(q), (f @ (g @ h)).value(q), rtol=1e-14)
        np.testing.assert_allclose(((f @ g) @ h).jacobian(q), (f @ (g @ h)).jacobian(q), rtol=0, atol=1e-14)


def test_identity_changes_nothing() -> None:
    f = Pose(arm(), "tool")
    for q in drawn(f):
        for g in (f @ Identity(arm().space), Identity(SE3) @ f):
            np.testing.assert_array_equal(g.value(q), f.value(q))
            np.testing.assert_array_equal(g.jacobian(q), f.jacobian(q))


def test_composition_says_where_columns_periodicity_and_drift_come_from() -> None:
    inner = Pose(two_arms(), "right_tool", reference="left_tool").restricted([0, 1, 2, 3, 4, 5])
    f = Affine(np.ones((1, 6)), inputs=Rn(6)) @ Transformation(two_arms(), "left_tool")
    assert f.columns[:8].all()
    assert not f.columns[8:].any()
    assert f.periodic.all()
    assert f.has_exact_drift
    total = Function.from_callable(np.sum, Rn(6), Rn(1), trace=False)
    assert not (total @ Transformation(two_arms(), "left_tool")).has_exact_drift
    assert not (Pose(arm(), "tool") @ Affine(np.eye(7))).periodic.any()
    assert inner.outputs == SE3


def test_a_sum_of_a_list_starts_at_zero() -> None:
    """`sum` adds to the integer 0, which is no function: no other number is."""
    f, g, h = CenterOfMass(arm()), Position(arm(), "tool"), Position(arm(), "elbow")
    together = sum([f, g, h])
    assert isinstance(together, Function)
    for q in drawn(f):
        np.testing.assert_allclose(together.value(q), f.value(q) + g.value(q) + h.value(q), rtol=0, atol=1e-15)
        jacobian = f.jacobian(q) + g.jacobian(q) + h.jacobian(q)
        np.testing.assert_allclose(together.jacobian(q), jacobian, rtol=0, atol=1e-15)
    assert sum([f]) is f
    others: list[Any] = [False, "0", None]
    for other in others:
        with pytest.raises((WrongObjectError, DtypeError), match="is added to"):
            other + f
    for q in drawn(f):
        np.testing.assert_array_equal((1 + f).value(q), 1 + f.value(q))


def test_a_drift_is_exact_where_all_of_its_parts_are() -> None:
    exact, differences = Pose(arm(), "tool"), Function.from_callable(lambda q: SE3.neutral, arm().space, SE3)
    outer = Function.from_callable(np.sum, SE3, Rn(1))
    assert exact.has_exact_drift
    assert exact.has_exact_derivatives
    assert not Manipulability(Position(arm(), "tool")).has_exact_derivatives
    assert not differences.has_exact_drift
    assert Translated(exact, SE3.neutral).has_exact_drift
    assert Translated(exact, SE3.neutral, Identity(SE3)).has_exact_drift
    assert not Translated(differences, SE3.neutral).has_exact_drift
    assert not Translated(differences, SE3.neutral, Identity(SE3)).has_exact_drift
    assert not Translated(exact, SE3.neutral, outer).has_exact_drift
    for f in (stack(outer @ exact, exact), outer @ exact + 1.0, (outer @ exact) * (outer @ exact)):
        assert not f.has_exact_drift


def test_accelerations_of_what_has_no_jacobian_are_differences_of_its_values() -> None:
    """To 1e-9, those of differences of differences to 1e-5; and a check finds nothing wrong with them."""
    p, rng = Position(arm(), "tool"), np.random.default_rng(3)
    bent = Function.from_callable(lambda x: abs(x[2] + 3.0) * x[0] + x[1] ** 2, Rn(3), Rn(1))
    truth, f = (p[2] + 3.0) * p[0] + p[1] ** 2, bent @ p
    assert bent.describe().startswith("<lambda>: in Python, with central differences")
    for q in drawn(f):
        v, a = rng.standard_normal((2, 7))
        np.testing.assert_allclose(f.drift_at(q, v), truth.drift_at(q, v), rtol=0, atol=2e-8)
        (mine, wanted), motion = np.zeros((2, 2, 1, 7)), place_motion(p.inputs, q, v, Workspace())
        f.drift_derivatives(motion, a, *mine)
        truth.drift_derivatives(motion, a, *wanted)
        np.testing.assert_allclose(mine, wanted, rtol=0, atol=2e-5)
    assert f.drift_at(q, np.zeros(7)) == 0.0
    for g in (f, stack(f, p), f * p[1]):
        check_function(g, samples=2, pickles=False)


# --- difference ------------------------------------------------------------------------------------------------------


KINDS: dict[Any, Callable[[str], Function]] = {
    Rn(3): lambda frame: Position(two_arms(), frame),
    SO3: lambda frame: Rotation(two_arms(), frame),
    SE3: lambda frame: Pose(two_arms(), frame),
    R3xSO3: lambda frame: Pose(two_arms(), frame, outputs=R3xSO3),
}


@pytest.mark.parametrize("outputs", KINDS, ids=str)
def test_difference_is_taken_in_the_tangent_space(outputs: Any) -> None:
    left, right = map(KINDS[outputs], ("left_tool", "right_tool"))
    f = left - right
    assert isinstance(f, Difference)
    assert f.outputs == Rn(outputs.nv)
    assert str(f) == f"{left} - {right}"
    np.testing.assert_array_equal(f.columns, left.columns | right.columns)
    check_function(f, samples=2)
    from_neutral = left - Constant(outputs.neutral, outputs, two_arms().space)
    for q in drawn(f):
        np.testing.assert_array_equal(f.value(q), outputs.difference(right.value(q), left.value(q)))
        np.testing.assert_allclose(from_neutral.value(q), outputs.log(left.value(q)), rtol=0, atol=1e-15)
        np.testing.assert_allclose((left - left).value(q), 0.0, rtol=0, atol=1e-15)
        np.testing.assert_allclose((left - left).jacobian(q), 0.0, rtol=0, atol=1e-14)


def test_difference_to_a_constant_is_the_error_of_a_target() -> None:
    q = arm().random(np.random.default_rng(1))
    target = Pose(arm(), "tool").value(q)
    f = Pose(arm(), "tool") - Constant(target, SE3, arm().space)
    np.testing.assert_array_equal(f.value(q), 0.0)
    np.testing.assert_allclose(f.jacobian(q), Pose(arm(), "tool").jacobian(q), rtol=0, atol=1e-15)


# --- stacks and rows -------------------------------------------------------------------------------------------------


def test_stacked_values_follow_each_other() -> None:
    parts = [Pose(humanoid(), "larm6_body"), CenterOfMass(humanoid()), Rotation(humanoid(), "rleg6_body")]
    f = Stacked(parts, name="all")
    assert f.outputs == SE3 * Rn(3) * SO3
    assert str(f) == "all"
    assert str(Stacked(parts[:2])) == "[Pose(larm6_body), CenterOfMass]"
    np.testing.assert_array_equal(f.columns, np.logical_or.reduce([part.columns for part in parts]))
    for q in drawn(f):
        np.testing.assert_array_equal(f.value(q), np.concatenate([part.value(q) for part in parts]))
        np.testing.assert_array_equal(f.jacobian(q), np.vstack([part.jacobian(q) for part in parts]))
        np.testing.assert_array_equal(f.restricted(range(6, 9)).value(q), parts[1].value(q))


def test_one_function_may_stand_twice_in_a_stack() -> None:
    f = Transformation(arm(), "tool")
    g = Stacked([f, f])
    for q in drawn(g):
        np.testing.assert_array_equal(g.value(q), np.tile(f.value(q), 2))


def test_restriction_takes_rows() -> None:
    f = Transformation(two_arms(), "left_tool")
    rows = f.restricted([0, 5, 2])
    assert isinstance(rows, Restriction)
    assert rows.outputs == Rn(3)
    assert str(rows) == "Transformation(left_tool)[0, 2, 5]"
    np.testing.assert_array_equal(rows.columns, f.columns)
    for q in drawn(f):
        np.testing.assert_array_equal(rows.value(q), f.value(q)[[0, 2, 5]])
        np.testing.assert_array_equal(rows.jacobian(q), f.jacobian(q)[[0, 2, 5]])


def test_restriction_takes_rotations_whole() -> None:
    f = Pose(arm(), "tool", outputs=R3xSO3)
    rotation = f.restricted([3, 4, 5])
    assert rotation.outputs == SO3
    for q in drawn(f):
        np.testing.assert_array_equal(rotation.value(q), Rotation(arm(), "tool").value(q))
    by_block = f.restricted(Segments.of(f.outputs, 0))
    assert by_block.outputs == Rn(3)
    for rows in ([3, 4], [0, 5], range(5)):
        with pytest.raises(OverlapError, match="is cut in two"):
            f.restricted(rows)
    with pytest.raises(OverlapError, match="is cut in two"):
        Pose(arm(), "tool").restricted([0, 1, 2])


# --- bigger spaces ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [0, 2])
def test_on_a_product_the_function_sees_its_factor(before: int) -> None:
    robot = humanoid_frames()
    space = ProductSpace([*([Rn(before)] if before else []), robot.space, SO3])
    f = Stacked([Pose(robot, "a"), CenterOfMass(robot)])
    g = f.on(space)
    assert isinstance(g, Lifted)
    columns = np.r_[np.zeros(before, bool), f.columns, np.zeros(3, bool)]
    np.testing.assert_array_equal(g.columns, columns)
    assert g.periodic.all()
    for q in drawn(g):
        inside = q[before : before + robot.nq]
        np.testing.assert_array_equal(g.value(q), f.value(inside))
        np.testing.assert_array_equal(g.jacobian(q)[:, before : before + robot.nv], f.jacobian(inside))
        np.testing.assert_array_equal(g.jacobian(q)[:, ~columns], 0.0)


def test_on_its_own_space_a_function_is_itself() -> None:
    f = Pose(arm(), "tool")
    assert f.on(arm().space) is f
    assert f.on(arm().with_frame("x", "tool").space) is f


def test_on_a_block_of_joints() -> None:
    robot = two_arms()
    f = Affine([[1.0, -1.0]], inputs=Rn(2))
    mimic = f.on(robot.space, robot.segments("left_elbow", "right_elbow"))
    left, right = robot.velocity_slice_of("left_elbow").start, robot.velocity_slice_of("right_elbow").start
    assert set(np.flatnonzero(mimic.columns)) == {left, right}
    for q in drawn(mimic):
        np.testing.assert_allclose(mimic.value(q), [q[left] - q[right]], rtol=0, atol=1e-15)


def test_on_refuses_what_does_not_fit_or_fits_twice() -> None:
    f = Affine([[1.0, 2.0]])
    with pytest.raises(SpaceMismatchError, match="no fitting factors"):
        f.on(SE3 * SO3)
    with pytest.raises(SpaceMismatchError, match="2 fitting factors"):
        f.on(ProductSpace([Rn(2), SO3, Rn(2)]))
    with pytest.raises(SpaceMismatchError, match="block for Affine"):
        f.on(SE3 * Rn(2), Segments.of(SE3 * Rn(2), 0))
    with pytest.raises(SpaceMismatchError, match=r"space for Pose\(tool\).*no fitting factors"):
        Pose(arm(), "tool").on(Rn(7) * Rn(1))  # equal structure, but no robot


def test_a_robot_is_not_taken_for_another_one_of_equal_structure() -> None:
    other = sample_arm().with_frame("tip", "tool")
    same = Pose(arm(), "tool").on(other.space * Rn(1))  # the same model, loaded twice
    assert same.columns[:7].all()
    longer: Any = pin.Model(two_arms().model)
    longer.jointPlacements[1].translation[2] += 0.1
    with pytest.raises(SpaceMismatchError, match="no fitting factors"):
        Pose(two_arms(), "left_tool").on(Robot(longer).space * Rn(1))


# --- callables -------------------------------------------------------------------------------------------------------


def test_from_callable_with_and_without_jacobian_agree() -> None:
    def spiral(q: np.ndarray) -> np.ndarray:
        return np.array([np.cos(q[0]) * q[1], np.sin(q[0]) * q[1]])

    def jacobian(q: np.ndarray) -> list[list[float]]:
        c, s = np.cos(q[0]), np.sin(q[0])
        return [[-s * q[1], c], [c * q[1], s]]

    exact = Function.from_callable(spiral, Rn(2), Rn(2), jacobian)
    by_differences = Function.from_callable(spiral, Rn(2), Rn(2))
    assert exact.name == "spiral"
    for q in drawn(exact):
        np.testing.assert_allclose(by_differences.jacobian(q), exact.jacobian(q), rtol=0, atol=1e-9)


def test_from_callable_differences_run_along_the_manifold() -> None:
    f = Function.from_callable(SO3.log, SO3, Rn(3))
    g = Function.from_callable(SO3.exp, Rn(3), SO3)
    for q in drawn(f):
        np.testing.assert_allclose(f.jacobian(q), SO3.log_jacobian(SO3.log(q)), rtol=0, atol=1e-8)
        v = SO3.log(q)
        np.testing.assert_allclose(g.jacobian(v), SO3.exp_jacobian(v), rtol=0, atol=1e-8)


def test_from_callable_takes_numbers_lists_and_undeclared_columns() -> None:
    f = Function.from_callable(lambda q: q[0] ** 2, Rn(2), Rn(1), lambda q: [2.0 * q[0], 7.0], columns=[True, False])
    np.testing.assert_array_equal(f.jacobian([3.0, 1.0]), [[6.0, 0.0]])
    np.testing.assert_array_equal(f.value([3.0, 1.0]), [9.0])


@pytest.mark.parametrize(
    ("outputs", "given"),
    [
        (SE3, lambda M: M), (SE3, lambda M: M.homogeneous), (R3xSO3, lambda M: M), (SO3, lambda M: M),
        (SO3, lambda M: M.rotation), (SO3, lambda M: pin.Quaternion(M.rotation)),
    ],
)  # fmt: skip
def test_from_callable_takes_placements_and_rotations(outputs: Any, given: Callable[[Any], Any]) -> None:
    """As right-hand sides do; of another space the message says what came."""
    robot = arm()
    f = Function.from_callable(lambda q: given(robot.at(q).placement("tool")), robot.space, outputs)
    truth = Rotation(robot, "tool") if outputs == SO3 else Pose(robot, "tool", outputs=outputs)
    for q in drawn(f):
        assert np.abs(outputs.difference(f.value(q), truth.value(q))).max() < 1e-12
        np.testing.assert_allclose(f.jacobian(q), truth.jacobian(q), rtol=0, atol=2e-9)
    with pytest.raises((WrongObjectError, SizeError, DtypeError), match="value of <lambda>"):
        Function.from_callable(f.f, robot.space, Rn(5)).value(robot.neutral)


def test_from_callable_cannot_spoil_the_configuration() -> None:
    def spoils(q: np.ndarray) -> float:
        q[:] = 0.0
        return 1.0

    q = np.array([1.0, 2.0])
    with pytest.raises(FunctionError, match="spoils writes into its argument"):  # it used to pass in silence
        Function.from_callable(spoils, Rn(2), Rn(1)).jacobian(q)
    np.testing.assert_array_equal(q, [1.0, 2.0])


ANYTHING: Any = 3.0
"""What is neither function, callable nor space."""


@pytest.mark.parametrize(
    ("build", "error", "said"),
    [
        (lambda: Function.from_callable(ANYTHING, Rn(1), Rn(1)), WrongObjectError, "function: expected a callable"),
        (lambda: Function.from_callable(np.sin, ANYTHING, Rn(1)), WrongObjectError, "inputs: expected a Space"),
        (lambda: Function.from_callable(np.sin, Rn(1), ANYTHING), WrongObjectError, "outputs: expected a Space"),
        (lambda: Function.from_callable(np.sin, Rn(2), Rn(1)).value([1.0, 2.0]), SizeError, "value of sin"),
        (
            lambda: Function.from_callable(np.sin, Rn(2), Rn(2), np.cos, name="wave").jacobian([1.0, 2.0]),
            SizeError,
            "Jacobian of wave",
        ),
        (lambda: Function.from_callable(np.sin, Rn(2), Rn(2), columns=[True]), SizeError, "columns of FromCallable"),
        (lambda: Affine(np.eye(2)) @ Position(arm(), "tool"), SpaceMismatchError, r"Affine @ Position\(tool\)"),
        (lambda: Affine(np.eye(2)) @ ANYTHING, WrongObjectError, "inner function: expected a Function"),
        (lambda: Position(arm(), "tool") - Pose(arm(), "tool"), SpaceMismatchError, "outputs of Position"),
        (lambda: Position(arm(), "tool") - CenterOfMass(humanoid()), SpaceMismatchError, "inputs of Position"),
        (lambda: Pose(arm(), "tool") - ANYTHING, WrongObjectError, r"right of Pose\(tool\) - ...: expected a Function"),
        (lambda: Stacked([]), SizeError, "functions of a stack: expected size at least one"),
        (lambda: Stacked([Position(arm(), "tool"), Identity(Rn(2))]), SpaceMismatchError, "inputs of Identity"),
        (lambda: Stacked([Position(arm(), "tool"), ANYTHING]), WrongObjectError, "function 1 of a stack"),
        (lambda: Position(arm(), "tool").restricted([0, 3]), UnknownNameError, "tangent coordinate"),
        (lambda: Position(arm(), "tool").restricted([0, 0]), OverlapError, "twice"),
        (lambda: Affine(np.eye(2), [1.0]), SizeError, "vector of an affine function"),
        (lambda: Affine(np.eye(2), inputs=Rn(3)), SizeError, "matrix of an affine function"),
        (lambda: Affine([[np.nan]]), NotFiniteError, "matrix of an affine function"),
        (lambda: Affine([[1.0]], [np.inf]), NotFiniteError, "vector of an affine function"),
        (lambda: Affine(np.ones((1, 8)), inputs=SE3 * Rn(2)), OptionError, r"columns \[0, 1, 2, 3, 4, 5\]"),
        (lambda: Affine(np.ones((1, 1)), inputs=SO2), OptionError, r"columns \[0\] belong to rotations"),
        (lambda: Constant([0.0, 0.0, 0.0, 2.0], SO3), NotNormalizedError, "constant"),
        (lambda: Constant([np.nan]), NotFiniteError, "constant"),
        (lambda: Constant([1.0, 2.0], Rn(3)), SizeError, "constant"),
        (lambda: Identity(Rn(2)).value([1.0]), SizeError, "argument of Identity"),
    ],
)
def test_wrong_input_is_named(build: Callable[[], object], error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        build()


# --- affine, identity, constant --------------------------------------------------------------------------------------


def test_affine_takes_vector_coordinates_of_any_space() -> None:
    space = SE3 * Rn(2) * SO2 * Rn(1)
    A = np.zeros((2, space.nv))
    A[0, 6], A[1, 7], A[1, 9] = 2.0, -1.0, 3.0
    f = Affine(A, [0.5, 0.0], space)
    assert set(np.flatnonzero(f.columns)) == {6, 7, 9}
    assert not f.periodic[[6, 7, 9]].any()
    assert f.periodic[[0, 8]].all()
    for q in drawn(f):
        np.testing.assert_allclose(f.value(q), [2.0 * q[7] + 0.5, -q[8] + 3.0 * q[11]], rtol=0, atol=1e-15)
        np.testing.assert_array_equal(f.jacobian(q), A)


def test_affine_owns_its_data() -> None:
    A = np.eye(2)
    f = Affine(A)
    A[:] = 7.0
    np.testing.assert_array_equal(f.jacobian([0.0, 0.0]), np.eye(2))


def test_constant_and_identity() -> None:
    f = Constant([1.0, 2.0], inputs=arm().space)
    assert not f.columns.any()
    np.testing.assert_array_equal(f.value(arm().neutral), [1.0, 2.0])
    np.testing.assert_array_equal(f.jacobian(arm().neutral), np.zeros((2, 7)))
    assert Constant(3.0).value([]).tolist() == [3.0]
    q = mixed_tree().random(np.random.default_rng(0))
    value, jacobian = Identity(mixed_tree().space).linearise(q)
    np.testing.assert_array_equal(value, q)
    np.testing.assert_array_equal(jacobian, np.eye(mixed_tree().nv))
    assert not Identity(Rn(2)).periodic.any()


# --- values of functions ---------------------------------------------------------------------------------------------


def test_functions_are_equal_when_they_are_one_object() -> None:
    f, g = Orientation(arm(), "tool"), Orientation(arm(), "tool")
    assert f == Stacked([f]).functions[0]
    assert f != g
    assert len({f, g, f}) == 2


def test_functions_are_frozen() -> None:
    f = Pose(arm_frames(), "b", placement(1))
    with pytest.raises(AttributeError):
        f.frame = "a"  # pyright: ignore[reportAttributeAccessIssue]
    for array in (f.columns, f.periodic):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = False


def test_results_belong_to_the_caller() -> None:
    f = Stacked([Pose(arm(), "tool"), CenterOfMass(arm())])
    q = arm().neutral
    value, jacobian = f.linearise(q)
    kept = value.copy(), jacobian.copy()
    f.linearise(arm().random(np.random.default_rng(0)))
    np.testing.assert_array_equal(value, kept[0])
    np.testing.assert_array_equal(jacobian, kept[1])
    value[:] = 0.0
    np.testing.assert_array_equal(f.value(q), kept[0])


def test_a_whole_expression_pickles_and_copies() -> None:
    """Property 21: functions of functions are picklable and deep-copyable, with the same bits."""
    robot = two_arms_frames()
    f = Stacked(
        [
            Affine([[1.0, 2.0, 3.0]]) @ Position(robot, "a"),
            (Pose(robot, "a") - Pose(robot, "b")).restricted([0, 4]),
            CenterOfMass(robot, subtrees=["left_elbow"]),
        ]
    ).on(robot.space * Rn(2))
    for q in drawn(f):
        for twin in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
            np.testing.assert_array_equal(twin.value(q), f.value(q))
            np.testing.assert_array_equal(twin.jacobian(q), f.jacobian(q))
