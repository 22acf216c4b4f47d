"""Rows for a step: what Newton takes in their place gives the same step, and the same norms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import arm, mixed_tree

from constraints import Function, Implicit, Orientation, Pose, Position, RightHandSide, Stack, Transformation, Workspace
from constraints.functions import Identity
from constraints.point import place
from constraints.rows.stacking import StackedRows
from constraints.rows.step_rows import SMALL_ERROR, GroupStepRows, function_step_rows, step_rows_of
from liegroups import SE2, SE3, SO2, SO3, R3xSO3, Rn, Space

FUNCTIONS: dict[str, Function] = {
    "SE3": Pose(arm(), "tool"),
    "R3xSO3": Pose(arm(), "tool", outputs=R3xSO3),
    "three numbers": Orientation(arm(), "tool"),
    "R3": Position(arm(), "tool"),
    "six numbers": Transformation(mixed_tree(), "spherical_tip", reference="free_tip"),
}


def both(constraint: Implicit, q: np.ndarray, rhs: np.ndarray | None) -> tuple[Any, ...]:
    """Exact rows and those for a step, copied."""
    stack = Stack([constraint])
    sides, stacked = RightHandSide(stack, rhs), StackedRows(stack, constraint.space)
    point = place(constraint.space, q, Workspace())
    exact = stacked.position(point, sides)
    e, J = exact.error.copy(), exact.jacobian.copy()
    mixed = stacked.position(point, sides, mixed=True)
    return e, J, mixed.error.copy(), mixed.jacobian.copy()


def near(f: Function, size: float, with_rhs: bool, seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    """A configuration, and a right-hand side that is off by so much there, or none."""
    rng = np.random.default_rng(seed)
    q = f.inputs.random(rng)
    if not with_rhs:
        return q, None
    step = rng.normal(size=f.outputs.nv)
    return q, f.outputs.integrate(f.value(q), size / np.linalg.norm(step) * step)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", [0.0, 0.3, 0.99, 1.01, 2.5])
@pytest.mark.parametrize("with_rhs", [True, False])
def test_newtons_step_is_the_same(name: str, size: float, with_rhs: bool) -> None:
    """T keeps the norm of the errors and the least-norm step; poses in SE(3) keep their rows where they are far off."""
    f = FUNCTIONS[name]
    q, rhs = near(f, size, with_rhs, 3)
    e, J, other_e, other_J = both(Implicit.equal(f), q, rhs)
    assert np.linalg.norm(other_e) == pytest.approx(np.linalg.norm(e), rel=1e-12, abs=1e-14)
    step, other = np.linalg.pinv(J) @ e, np.linalg.pinv(other_J) @ other_e
    np.testing.assert_allclose(other, step, rtol=0, atol=1e-7 * (1.0 + np.abs(step).max()))
    if name == "SE3":
        far = float(np.linalg.norm(e)) > SMALL_ERROR
        np.testing.assert_array_equal(other_e, e)
        np.testing.assert_allclose(other_J, J if far else f.jacobian(q), rtol=0, atol=1e-12)


@pytest.mark.parametrize("space", [SE2, SE3, SO2, SO3, R3xSO3, SO3 * SO2, Rn(1) * SE2], ids=str)
@pytest.mark.parametrize("size", [0.5, 0.999, 1.001, 2.0])
def test_only_groups_that_couple_keep_far_rows(space: Space, size: float) -> None:
    """Where rotations turn translations the derivative of the logarithm counts beyond SMALL_ERROR, elsewhere never."""
    f = Identity(space)
    rows = GroupStepRows(f)
    q, rhs = near(f, size, True, 5)
    point = place(space, q, Workspace())
    error, J, wanted = np.zeros(space.nv), np.zeros((space.nv, space.nv)), np.zeros((space.nv, space.nv))
    rows.write(point, rhs, error, J)
    assert rhs is not None
    np.testing.assert_allclose(error, space.difference(rhs, q), rtol=0, atol=1e-12)
    couples = space in (SE2, SE3) or space == Rn(1) * SE2
    if couples and size > SMALL_ERROR:
        wanted = space.difference_dq1(rhs, q)
    else:
        np.fill_diagonal(wanted, 1.0)
    np.testing.assert_allclose(J, wanted, rtol=0, atol=1e-12)
    bare = np.zeros(space.nv)
    rows.write(point, rhs, bare, None)
    np.testing.assert_array_equal(bare, error)
    rows.write(point, None, bare, None)
    np.testing.assert_allclose(bare, space.log(q), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("mask", "has"),
    [
        ([1, 1, 1, 1, 1, 1], True), ([0, 1, 0, 1, 1, 1], True), ([1, 1, 1, 0, 0, 0], True), ([0, 0, 0, 1, 1, 1], True),
        ([1, 1, 1, 1, 0, 1], False), ([1, 1, 1, 0, 1, 0], False), ([0, 0, 0, 0, 0, 1], False),
    ],
)  # fmt: skip
def test_of_a_mixed_block_all_rows_count_or_none(mask: list[int], has: bool) -> None:
    """R3xSO3 mixes its three rows of rotation; SE3 all six; the rows of a position may be masked as one likes."""
    f = FUNCTIONS["R3xSO3"]
    assert (Implicit(f, mask=mask).step_rows is not None) == has
    assert (Implicit(FUNCTIONS["SE3"], mask=mask).step_rows is not None) == (sum(mask) in (0, 6))
    assert Implicit(f, mask=mask, scale=2.0).step_rows is None
    assert Implicit.between(f, -0.1, 0.1, mask=mask).step_rows is None


def test_functions_into_vectors_say_themselves_what_they_mix() -> None:
    six = FUNCTIONS["six numbers"]
    steps, blocks = function_step_rows(six)
    assert steps is six
    assert all(isinstance(block, slice) for block in blocks)
    assert function_step_rows(Identity(Rn(2))) == (None, ())
    assert step_rows_of(Identity(Rn(2)), Implicit.zero(Identity(Rn(2))).rows) is None
