"""Second order maps of groups: brackets, second derivatives of logarithms, and acceleration rows that use them."""

from __future__ import annotations

import math
import pickle

import fifty_digits as digits
import numpy as np
import pytest
from data.additions.heisenberg import HEISENBERG as TABLE
from fifty_digits import mp

from constraints import Function, Implicit, Target
from constraints.point import Workspace, place, place_motion
from constraints.rows.right_hand_side import RightHandSide
from constraints.rows.stack import Stack
from constraints.rows.stacking import Order, stack_rows
from liegroups import SE2, SE3, SO3, Group, Layout, Rn, Space
from liegroups.errors import SizeError

HEISENBERG = Group(Layout.group("Heisenberg", [0.0, 0.0, 0.0], 3), TABLE)


class Curved(Function):
    """A point of the Heisenberg group that moves with q in R^3: exp(sin q), drift by differences."""

    def __init__(self) -> None:
        self.declare(Rn(3), HEISENBERG, np.ones(3, dtype=np.bool_), periodic=False, name="curved")

    def evaluate(self, point, value, jacobian=None):
        v = np.sin(point.q)
        value[:] = self.outputs.exp(v)
        if jacobian is not None:
            jacobian[:] = self.outputs.exp_jacobian(v) @ np.diag(np.cos(point.q))


def test_bracket_of_the_heisenberg_group_in_closed_form() -> None:
    """By differences of the adjoint, to rounding."""
    group, rng = HEISENBERG, np.random.default_rng(0)
    for _ in range(5):
        x, y = rng.standard_normal((2, 3))
        np.testing.assert_allclose(group.bracket(x, y), [0.0, 0.0, x[0] * y[1] - x[1] * y[0]], atol=1e-11)
    again = pickle.loads(pickle.dumps(group))
    assert (again.bracket(x, y) == group.bracket(x, y)).all()


ANGLES = [0.0, 1e-12, 1e-9, 1e-8, 1e-4, 1e-3, 0.5, 1.0, 1.2247, 1.2248, 2.0, 2.499, 2.501, 3.0, 3.1, 3.135]


@pytest.mark.parametrize("angle", [*ANGLES, math.pi - 1e-4, math.pi - 1e-8])
@pytest.mark.parametrize("group", [SE2, SO3, SE3], ids=str)
def test_second_derivative_of_a_logarithm_at_bad_angles(group: Space, angle: float) -> None:
    """Against second differences in 50 digits, on both sides of the switch of the series (t = 1.5).

    Along g exp(v t + a t^2 / 2) the body velocity is v + a t up to t^2, so that the second derivative of the logarithm
    at 0 is what the formula states; the step is far smaller than the distance to the cut.
    """
    rng, h, neutral = np.random.default_rng(12), mp.mpf("1e-13"), digits.point_of(group, group.neutral)[0]
    for axis in (rng.standard_normal(3), rng.standard_normal(3), np.array([0.0, 0.0, 1.0]), np.array([0.0, -1.0, 0.0])):
        r, v, a = rng.standard_normal((3, group.nv))
        r[-1 if group is SE2 else -3 :] = angle if group is SE2 else angle * axis / np.linalg.norm(axis)
        g = digits.leaf_moved(group, neutral, digits.exact(r))
        steps = (digits.exact(v) * (s * h) + digits.exact(a) * ((s * h) ** 2 / 2) for s in (-1, 0, 1))
        logs = [digits.leaf_log(group, neutral, digits.leaf_moved(group, g, step)) for step in steps]
        expected = ((logs[0] - 2 * logs[1] + logs[2]) / h**2).astype(np.float64)
        limit = 1e-11 * (1.0 if group is SO3 else 1.0 + np.abs(expected).max())
        assert np.abs(group.log_second_derivative(r, v, a) - expected).max() < limit


def test_acceleration_rows_on_a_group_that_a_user_writes() -> None:
    """A reference that moves, a point that moves: rows against second differences of the error in time.

    The rows switched on the groups of this library and left all others out.
    """
    f, group = Curved(), HEISENBERG
    start, one, two = np.random.default_rng(5).standard_normal((3, 3))
    reference = Target(lambda t: group.compose(group.integrate(start, np.sin(t) * one), group.exp(0.3 * t * two)))
    stack = Stack([Implicit.equal(f, reference)])
    rng = np.random.default_rng(6)
    for t in (0.0, 0.7):
        q, v, a = rng.standard_normal((3, 3))
        h, errors = 2e-4, []
        for s in (-h, 0.0, h):
            point = place(f.inputs, q + s * v + 0.5 * s * s * a, Workspace())
            errors.append(stack_rows(stack, point, Order.POSITION, RightHandSide(stack).at(t + s)).error.copy())
        expected = (errors[2] - 2.0 * errors[1] + errors[0]) / h**2
        motion = place_motion(f.inputs, q, v, Workspace())
        rows = stack_rows(stack, motion, Order.ACCELERATION, RightHandSide(stack).at(t))
        assert np.abs(rows.error + rows.jacobian @ a - expected).max() < 2e-5 * (1.0 + np.abs(expected).max())


def test_sizes_are_checked() -> None:
    """A vector of another size is named."""
    with pytest.raises(SizeError, match="tangent vector of SO3"):
        SO3.bracket(np.zeros(2), np.zeros(3))
    with pytest.raises(SizeError, match="tangent vector of SE3"):
        SE3.log_second_derivative(np.zeros(6), np.zeros(6), np.zeros(3))
