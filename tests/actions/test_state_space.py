"""States and stages as groups: their maps against those of the parts, and functions of any part lifted to the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from constraints import CenterOfMass
from constraints.actions import StateSpace
from constraints.errors import OptionError, RobotMismatchError, SpaceMismatchError
from constraints.functions import Affine, Function
from constraints.loops import ConstraintSet, PointContact
from constraints.models import sample_arm, sample_humanoid
from liegroups import Rn
from liegroups.formulas.log_slopes import FIVE_POINTS

ROBOT = sample_humanoid()
STATE = StateSpace(ROBOT)
NQ, NV, NU = ROBOT.nq, ROBOT.nv, 4


def points(seed: int, wide: float = 0.5) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return ROBOT.space.integrate(ROBOT.neutral, wide * rng.standard_normal(NV)), rng.standard_normal(NV)


def frames() -> list[str]:
    leaves = [j for j in range(1, ROBOT.model.njoints) if j not in list(ROBOT.model.parents)]
    return [str(ROBOT.model.names[j]) for j in leaves[:2]]


def test_a_state_is_a_configuration_and_a_velocity() -> None:
    (q, v), (q1, v1) = points(0), points(1)
    x, x1 = STATE.join(q, v), STATE.join(q1, v1)
    assert (STATE.nx, STATE.ndx, STATE.nq, STATE.nv) == (NQ + NV, 2 * NV, NQ, NV)
    np.testing.assert_array_equal(x, [*q, *v])
    np.testing.assert_array_equal(STATE.join(q), [*q, *np.zeros(NV)])
    np.testing.assert_array_equal(STATE.zero, [*ROBOT.neutral, *np.zeros(NV)])
    for mine, theirs in zip(STATE.split(x), (q, v), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    d = STATE.difference(x, x1)
    np.testing.assert_allclose(d[:NV], ROBOT.space.difference(q, q1), atol=1e-12)
    np.testing.assert_allclose(d[NV:], v1 - v, atol=1e-12)
    again = STATE.integrate(x, d)
    np.testing.assert_allclose(STATE.difference(again, x1), 0.0, atol=1e-12)
    assert str(2 * NV) in repr(STATE)


def test_jacobians_of_the_maps_of_states() -> None:
    x, x1 = STATE.join(*points(2)), STATE.join(*points(3))
    step = 0.3 * np.random.default_rng(4).standard_normal(STATE.ndx)
    at_start, at_end = STATE.difference_jacobians(x, x1)
    by_state, by_step = STATE.integrate_jacobians(step)
    there = STATE.integrate(x, step)
    for i, e in enumerate(np.eye(STATE.ndx)):
        near = [(c, s * e) for s, c in FIVE_POINTS]
        start = sum(c * STATE.difference(STATE.integrate(x, d), x1) for c, d in near)
        end = sum(c * STATE.difference(x, STATE.integrate(x1, d)) for c, d in near)
        moved = sum(c * STATE.difference(there, STATE.integrate(STATE.integrate(x, d), step)) for c, d in near)
        longer = sum(c * STATE.difference(there, STATE.integrate(x, step + d)) for c, d in near)
        for mine, theirs in ((at_start, start), (at_end, end), (by_state, moved), (by_step, longer)):
            np.testing.assert_allclose(mine[:, i], theirs, atol=1e-7)


def stage_and_point() -> tuple[Any, Any, Any, Any, Any]:
    """A stage with two contacts, of three rows and of one; and its point (q, v, u, lambda)."""
    a, b = frames()
    rows = ConstraintSet(
        ROBOT, [PointContact(ROBOT, a, name="sticks"), PointContact(ROBOT, b, [0, 0, 1], name="slides")]
    )
    stage, rng = STATE.with_controls(NU, rows), np.random.default_rng(5)
    (q, v), u, lam = points(6), rng.standard_normal(NU), rng.standard_normal(rows.size)
    assert (stage.nu, stage.nf) == (NU, 4)
    return stage, q, v, u, lam


def test_functions_of_parts_see_their_own_part_of_a_stage() -> None:
    """Values, and Jacobians in the columns of that part alone."""
    stage, q, v, u, lam = stage_and_point()
    y, rng = np.concatenate([q, v, u, lam]), np.random.default_rng(7)
    starts = np.cumsum([0, NV, NV, NU, 4])
    A = {n: rng.standard_normal((2, n)) for n in (NV, NU, 4, 3, 1)}
    plain = STATE.with_controls(NU)
    both = Affine(np.hstack([np.zeros((2, NV)), A[NV], A[NU]]), inputs=plain.space)
    cases: list[tuple[Function, Any, Any, slice]] = [
        (stage.lift(CenterOfMass(ROBOT)), CenterOfMass(ROBOT).value(q), CenterOfMass(ROBOT).jacobian(q), slice(0, NV)),
        (stage.velocity(), v, np.eye(NV), slice(starts[1], starts[2])),
        (stage.velocity(Affine(A[NV])), A[NV] @ v, A[NV], slice(starts[1], starts[2])),
        (stage.control(), u, np.eye(NU), slice(starts[2], starts[3])),
        (stage.control(Affine(A[NU])), A[NU] @ u, A[NU], slice(starts[2], starts[3])),
        (stage.force(), lam, np.eye(4), slice(starts[3], starts[4])),
        (stage.force("slides"), lam[3:], np.eye(1), slice(starts[3] + 3, starts[4])),
        (stage.force("sticks", Affine(A[3])), A[3] @ lam[:3], A[3], slice(starts[3], starts[3] + 3)),
        (stage.lift(both), A[NV] @ v + A[NU] @ u, np.hstack([A[NV], A[NU]]), slice(starts[1], starts[3])),
    ]
    for f, value, slope, columns in cases:
        expected = np.zeros((len(value), starts[-1]))
        expected[:, columns] = slope
        assert f.inputs is stage.space or f.inputs == stage.space
        np.testing.assert_allclose(f.value(y), value, atol=1e-12)
        np.testing.assert_allclose(f.jacobian(y), expected, atol=1e-12)
        assert stage.sees_controls(f) == (columns.stop > 2 * NV)
    whole = stage.lift(both)
    assert stage.lift(whole) is whole
    np.testing.assert_allclose(stage.configuration().value(y), q)
    np.testing.assert_allclose(stage.states().value(y), [*q, *v])


def test_functions_of_other_spaces_are_refused() -> None:
    stage = stage_and_point()[0]
    with pytest.raises(RobotMismatchError, match="another robot"):
        stage.lift(CenterOfMass(sample_arm()))
    with pytest.raises(SpaceMismatchError):
        stage.lift(Affine(np.eye(3)))
    with pytest.raises(SpaceMismatchError):
        stage.velocity(Affine(np.ones((1, NV + 1))))
    with pytest.raises(OptionError, match="no constraint set; use `with_controls"):
        STATE.with_controls(NU).force()
    assert STATE.with_controls(NU).nf == 0
    assert STATE.with_controls(0).space.nv == 2 * NV
    assert "nf 4" in repr(stage)
    assert Rn(NU) == STATE.with_controls(NU).space.factors[2].space
