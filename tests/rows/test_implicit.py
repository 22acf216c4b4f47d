"""Implicit constraints: constructors, right-hand sides as points of the output group, refusals that name the row."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, two_arms

from constraints import Comparison, Implicit, Pose, Position, Problem, RightHandSide, Rotation, Stack, Target, project
from constraints.errors import OptionError, RightHandSideError, SpaceMismatchError, WrongObjectError
from constraints.functions import Identity
from constraints.point import place
from constraints.rows.stacking import stack_rows
from constraints.workspace import Workspace
from liegroups import SE2, SE3, SO2, SO3, Element, R3xSO3, Rn

EQUALITY, ZERO, SUPERIOR, INFERIOR = Comparison
TOOL = Pose(arm(), "tool", outputs=R3xSO3)


def q_at(seed: int) -> np.ndarray:
    return arm().random(np.random.default_rng(seed))


def errors(constraint: Implicit, q, rhs=None) -> np.ndarray:
    stack = Stack([constraint])
    return stack_rows(stack, arm().at(q), rhs=None if rhs is None else RightHandSide(stack, rhs)).error.copy()


# Constructors


def test_sides_and_ranges_take_a_mask():
    """Property 3: above, below, between on some rows: the others are left out, and a solution has any value there."""
    f, data = Position(arm(), "tool"), arm().model.createData()
    frame = [frame.name for frame in arm().model.frames].index("tool")
    for constraint in (
        Implicit.above(f, 0.5, mask=[0, 0, 1]),
        Implicit.below(f, -0.1, mask=[0, 0, 1]),
        Implicit.between(f, 0.2, 0.3, mask=[0, 0, 1]),
    ):
        assert constraint.rows.mask.tolist() == [False, False, True]
        for q0 in (arm().neutral, q_at(3)):
            q = project(arm(), [constraint], q0).or_raise().q
            pin.framesForwardKinematics(arm().model, data, q)
            height = data.oMf[frame].translation[2]
            assert constraint.rows.lower[2] - 1e-4 <= height <= constraint.rows.upper[2] + 1e-4


def test_names_are_the_functions_by_default():
    """Property 19: a constraint has a name by which messages call it."""
    assert Implicit.zero(TOOL).name == TOOL.name == str(Implicit.zero(TOOL))
    assert Implicit.zero(TOOL, name="grasp").name == "grasp"
    assert "grasp" in repr(Implicit.zero(TOOL, name="grasp"))


# Right-hand sides


@pytest.mark.parametrize("outputs", [SE3, R3xSO3], ids=str)
def test_right_hand_side_is_a_point_of_the_group(outputs):
    """Property 3: h(q) = rhs means zero error, for numbers, a placement, a matrix of its numbers, an Element."""
    f, q = Pose(arm(), "tool", outputs=outputs), q_at(2)
    model: Any = arm().model
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    oMf = data.oMf[model.getFrameId("tool")]
    numbers = pin.SE3ToXYZQUAT(oMf)
    for rhs in (numbers, numbers.tolist(), tuple(numbers.tolist()), oMf, Element(numbers, outputs)):
        np.testing.assert_allclose(errors(Implicit.equal(f, rhs), q), 0.0, rtol=0, atol=1e-14)


@pytest.mark.parametrize("f", [TOOL, Pose(arm(), "tool"), Rotation(arm(), "tool")], ids=str)
def test_a_quaternion_and_its_opposite_are_one_right_hand_side(f):
    """Property 2: q and -q give the same errors and Jacobians (1e-12), and are equal right-hand sides."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        rhs, q = f.outputs.random(rng), arm().random(rng)
        opposite = rhs.copy()
        opposite[-4:] *= -1.0
        a, b = Implicit.equal(f, rhs), Implicit.equal(f, opposite)
        one, two = stack_rows(Stack([a]), arm().at(q)), stack_rows(Stack([b]), arm().at(q))
        np.testing.assert_allclose(one.error, two.error, rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.jacobian, two.jacobian, rtol=0, atol=1e-12)
        stack = Stack([a])
        assert RightHandSide(stack, rhs).same_as(RightHandSide(stack, opposite))


@pytest.mark.parametrize("fixed", [ZERO, SUPERIOR, INFERIOR])
@pytest.mark.parametrize("row", range(6))
def test_right_hand_side_on_a_fixed_row_is_refused_by_name(fixed, row):
    """Property 3, DESIGN 3.1: only EQUALITY rows of the log may be non-zero; the row that is not is named."""
    types = [EQUALITY] * 6
    types[row] = fixed
    log = np.zeros(6)
    log[row] = 0.2
    with pytest.raises(RightHandSideError, match=rf"'grasp'.*row {row} is {fixed.name}") as caught:
        Implicit(TOOL, types, R3xSO3.exp(log), name="grasp")
    assert (caught.value.constraint, caught.value.row) == ("grasp", row)
    assert caught.value.value == pytest.approx(0.2, abs=1e-12)


def test_rhs_from_a_configuration():
    """Property 3: rhs = exp of the EQUALITY rows of log h(q); their errors are then zero (1e-12) where each rotation
    is EQUALITY as a whole or not at all, and all other rows of its log are zero (1e-12)."""
    rng = np.random.default_rng(5)
    others = [ZERO, SUPERIOR, INFERIOR, EQUALITY]
    for _ in range(300):
        turn = EQUALITY if rng.random() < 0.5 else None
        types = [others[i] for i in rng.integers(4, size=3)]
        types += [EQUALITY] * 3 if turn else [others[i] for i in rng.integers(3, size=3)]
        constraint, q = Implicit(TOOL, types), arm().random(rng)
        rhs = constraint.rhs_at(arm().at(q))
        free = np.array([t is EQUALITY for t in types])
        log = np.r_[rhs[:3], pin.log3(pin.Quaternion(rhs[3:]).matrix())]
        assert np.abs(log[~free]).max(initial=0.0) < 1e-12
        assert np.abs(errors(constraint, q, rhs)[free]).max(initial=0.0) < 1e-12
        constraint.check_rhs(rhs)


def test_rhs_from_a_configuration_with_mixed_rotation_rows():
    """Property 3: the same for mixed rotation rows, at configurations whose other rows are zero in log h."""
    rng, f = np.random.default_rng(6), Identity(R3xSO3)
    for _ in range(200):
        free = rng.random(6) < 0.5
        types = [EQUALITY if is_free else ZERO for is_free in free]
        constraint = Implicit(f, types)
        q = R3xSO3.exp(np.where(free, rng.uniform(-1.5, 1.5, 6), 0.0))
        point = place(R3xSO3, q, Workspace())
        rhs = constraint.rhs_at(point)
        stack = Stack([constraint])
        np.testing.assert_allclose(stack_rows(stack, point, rhs=RightHandSide(stack, rhs)).error, 0.0, atol=1e-12)


def test_default_right_hand_side_cannot_be_written_to():
    """Property 21: a constraint is a value, and keeps a copy of what it was given."""
    given = R3xSO3.exp(np.full(6, 0.1))
    constraint = Implicit.equal(TOOL, given)
    given[0] = 7.0
    assert constraint.default_rhs[0] == pytest.approx(0.1)
    assert not constraint.default_rhs.flags.writeable


def test_crossed_intervals_and_wrong_functions_are_named():
    """Property 9: what is wrong is said with the constraint and the row."""
    with pytest.raises(OptionError, match=r"'grasp'.*lower 1 above upper -1"):
        Implicit.between(TOOL, 1.0, -1.0, name="grasp")
    with pytest.raises(WrongObjectError, match="function of a constraint"):
        Implicit.zero("tool")  # type: ignore[arg-type]
    nothing: Any = None  # was taken for zero
    sides = (Implicit.above, [nothing]), (Implicit.below, [nothing]), (Implicit.between, [nothing, 1.0])
    for make, limits in sides:
        with pytest.raises(WrongObjectError, match=r"(lower|upper) of 'grasp': expected numbers per row .*got None"):
            make(TOOL, *limits, name="grasp")
    with pytest.raises(OptionError, match="'grasp': margin must be zero or larger"):  # was a wider interval
        Implicit.above(TOOL, 0.5, margin=-0.1, name="grasp")


@pytest.mark.parametrize("group", [SO2, SE2, SO3, SE3, SO2 * Rn(2) * SO3], ids=str)
def test_errors_in_every_group(group):
    """Property 3: for any group the error is the shortest tangent from the right-hand side to the value, and its
    Jacobian the difference along the manifold."""
    rng, f, h = np.random.default_rng(7), Identity(group), 1e-6
    for _ in range(20):
        q, rhs = group.random(rng), group.random(rng)
        stack = Stack([Implicit.equal(f, rhs)])
        rows = stack_rows(stack, place(group, q, Workspace()))
        reached = group.integrate(rhs, rows.error)  # a quaternion or its opposite
        apart = [min(abs(a - b), abs(a + b)) for a, b in zip(reached, q, strict=True)]
        assert max(apart) < 1e-9
        if np.linalg.norm(rows.error) > 2.8:
            continue
        e, J = rows.error.copy(), rows.jacobian.copy()
        for i in range(group.nv):
            step = np.zeros(group.nv)
            step[i] = h
            ahead = stack_rows(stack, place(group, group.integrate(q, step), Workspace())).error.copy()
            behind = stack_rows(stack, place(group, group.integrate(q, -step), Workspace())).error.copy()
            np.testing.assert_allclose(J[:, i], (ahead - behind) / (2 * h), rtol=0, atol=2e-7)
        assert e.shape == (group.nv,)


# Lifting


def test_lifted_constraint_is_the_same_on_its_factor():
    """Property 8: on a bigger space a constraint keeps rows, name and right-hand side; it knows what it comes from."""
    big = arm().space * Rn(2)
    grasp = Implicit.equal(TOOL, R3xSO3.exp(np.full(6, 0.1)), mask=[1, 1, 0, 1, 0, 1], name="grasp")
    lifted = grasp.on(big)
    assert lifted.original is grasp
    assert lifted.name == "grasp"
    q = q_at(8)
    problem = Problem(big, [grasp])
    np.testing.assert_array_equal(problem.error(np.r_[q, 5.0, 6.0]), errors(grasp, q))
    J = problem.jacobian(np.r_[q, 5.0, 6.0])
    np.testing.assert_array_equal(J[:, :7], stack_rows(Stack([grasp]), arm().at(q)).jacobian)
    assert not J[:, 7:].any()


def test_lifting_names_the_constraint():
    """Property 9: a space without the factor is refused with the name of the constraint."""
    grasp = Implicit.zero(TOOL, name="grasp")
    for space in (Rn(7), two_arms().space, arm().space * arm().space):
        with pytest.raises(SpaceMismatchError, match="'grasp'"):
            grasp.on(space)


def test_constraints_pickle_and_copy():
    """Property 21: constraints pickle and deepcopy; the copies give the same bits."""
    grasp = Implicit.equal(TOOL, R3xSO3.exp(np.full(6, 0.1)), name="grasp")
    again: Any
    for again in (pickle.loads(pickle.dumps(grasp)), copy.deepcopy(grasp)):
        q = q_at(9)
        stack = Stack([again])
        rows = stack_rows(stack, again.function.robot.at(q))
        np.testing.assert_array_equal(rows.error, errors(grasp, q))
        assert again.name == "grasp"


def test_a_target_gives_the_default_right_hand_side():
    """Property 4: a constraint with a target has its value at the start (or at 0) as default right-hand side."""
    f = Position(arm(), "tool")
    moving = Implicit.equal(f, Target(lambda t: [t, 2.0 * t, 0.0], interval=(1.0, 3.0)))
    np.testing.assert_array_equal(moving.default_rhs, [1.0, 2.0, 0.0])
    with pytest.raises(RightHandSideError, match="row 0"):
        Implicit(f, ZERO, Target(lambda t: [1.0, 0.0, 0.0]))
