"""Second order maps of groups: brackets, second derivatives of logarithms, and acceleration rows that use them."""

from __future__ import annotations

import math
import pickle
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from mpmath import mpf

from constraints import Function, Implicit, Target
from constraints.point import Workspace, place, place_motion
from constraints.rows.right_hand_side import RightHandSide
from constraints.rows.stack import Stack
from constraints.rows.stacking import Order, stack_rows
from constraints.testing import check_space
from liegroups import SE2, SE3, SO2, SO3, GroupMaps, Layout, R3xSO3, Rn, Space
from liegroups.errors import SizeError
from liegroups.formulas.second_order import se3_log_second

GROUPS = [Rn(3), SO2, SE2, SO3, SE3, R3xSO3, SE2 * SO3 * Rn(1)]


class Heisenberg(Space):
    """(x, y, z)(a, b, c) = (x + a, y + b, z + c + x b): a group that a user writes; [u, v] = (0, 0, u0 v1 - u1 v0)."""

    def __init__(self) -> None:
        maps = GroupMaps(
            integrate=self._integrate,
            difference=self._difference,
            compose=self._compose,
            inverse=self._inverse,
            adjoint=self._adjoint,
            exp_jacobian=self._exp_jacobian,
            log_jacobian=self._log_jacobian,
        )
        super().__init__(Layout.group("Heisenberg", [0.0, 0.0, 0.0], 3), maps)

    def _compose(self, q0, q1):
        return q0 + q1 + np.array([0.0, 0.0, q0[0] * q1[1]])

    def _integrate(self, q, v):
        return self._compose(q, np.array([v[0], v[1], v[2] + v[0] * v[1] / 2.0]))

    def _difference(self, q0, q1):
        a, b, c = q1 - q0
        return np.array([a, b, c - q0[0] * b - a * b / 2.0])

    def _inverse(self, q):
        return np.array([-q[0], -q[1], -q[2] + q[0] * q[1]])

    def _adjoint(self, q):
        return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-q[1], q[0], 1.0]])

    def _exp_jacobian(self, v):
        return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [v[1] / 2.0, -v[0] / 2.0, 1.0]])

    def _log_jacobian(self, v):
        return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-v[1] / 2.0, v[0] / 2.0, 1.0]])


class Curved(Function):
    """A point of the Heisenberg group that moves with q in R^3: exp(sin q), drift by differences."""

    def __init__(self) -> None:
        self.declare(Rn(3), Heisenberg(), np.ones(3, dtype=np.bool_), periodic=False, name="curved")

    def evaluate(self, point, value, jacobian=None):
        v = np.sin(point.q)
        value[:] = self.outputs.exp(v)
        if jacobian is not None:
            jacobian[:] = self.outputs.exp_jacobian(v) @ np.diag(np.cos(point.q))


@pytest.mark.parametrize("group", [*GROUPS, Heisenberg(), Heisenberg() * SE3], ids=repr)
def test_laws_of_second_order(group: Space) -> None:
    """Bracket and second derivative of the logarithm, of our groups and of one that a user writes."""
    check_space(group, rng_seed=3, samples=10)


def test_bracket_of_the_heisenberg_group_in_closed_form() -> None:
    """By differences of the adjoint, to rounding."""
    group, rng = Heisenberg(), np.random.default_rng(0)
    for _ in range(5):
        x, y = rng.standard_normal((2, 3))
        np.testing.assert_allclose(group.bracket(x, y), [0.0, 0.0, x[0] * y[1] - x[1] * y[0]], atol=1e-11)
    again = pickle.loads(pickle.dumps(group))
    assert (again.bracket(x, y) == group.bracket(x, y)).all()


@pytest.mark.parametrize("group", [SE2, SO3, SE3, Heisenberg()], ids=repr)
def test_second_derivative_of_a_logarithm_along_a_motion(group: Space) -> None:
    """Against second differences of log g(t), g(t) = g exp(v t + a t^2 / 2), whose body velocity is v + a t to t^2."""
    rng, h = np.random.default_rng(4), 1e-4
    for _ in range(10):
        g, v, a = group.exp(rng.standard_normal(group.nv)), *rng.standard_normal((2, group.nv))
        logs = [group.log(group.integrate(g, s * v + 0.5 * s * s * a)) for s in (-h, 0.0, h)]
        expected = (logs[2] - 2.0 * logs[1] + logs[0]) / h**2
        found = group.log_second_derivative(logs[1], v, a)
        assert np.abs(found - expected).max() < 1e-6 * (1.0 + np.abs(expected).max())


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8, 1e-3, 0.5, 1.2247, 1.2248, 2.0, 3.0, math.pi - 1e-8])
def test_second_derivative_of_a_pose_logarithm_at_bad_angles(angle: float) -> None:
    """Against second differences in 60 digits, on both sides of the switch of the series (t = 1.5)."""
    rng = np.random.default_rng(12)
    for _ in range(2):
        w = rng.standard_normal(3)
        w *= angle / np.linalg.norm(w)
        r, twist, acceleration = np.r_[rng.standard_normal(3), w], *rng.standard_normal((2, 6))
        with mp.workdps(60):
            h = mpf("1e-13")
            logs = [mp_log6(mp_exp6(r, 1) * mp_exp6_of(twist, acceleration, sign * h)) for sign in (-1, 0, 1)]
            expected = np.array([float((logs[0][i] - 2 * logs[1][i] + logs[2][i]) / h**2) for i in range(6)])
        scale = 1.0 + np.abs(expected).max()
        assert np.abs(se3_log_second(r, twist, acceleration) - expected).max() < 1e-11 * scale


def mp_exp6(r: Any, t: Any) -> Any:
    x, y, z, a, b, c = (mpf(float(e)) * t if not isinstance(e, mpf) else e * t for e in r)
    return mp.expm(mp.matrix([[0, -c, b, x], [c, 0, -a, y], [-b, a, 0, z], [0, 0, 0, 0]]), method="taylor")


def mp_exp6_of(v: np.ndarray, a: np.ndarray, t: Any) -> Any:
    return mp_exp6([mpf(float(x)) * t + mpf(float(y)) * t**2 / 2 for x, y in zip(v, a, strict=True)], 1)


def mp_log6(M: Any) -> list[Any]:
    """Logarithm of a 4 x 4 matrix of a pose: rotation vector, then u with V(w) u = p."""
    axis = [M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]]
    sine = mp.sqrt(sum(x**2 for x in axis)) / 2
    angle = mp.atan2(sine, (M[0, 0] + M[1, 1] + M[2, 2] - 1) / 2)
    w = [x / 2 * (angle / sine if sine else 1) for x in axis]
    S = mp.matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    if angle == 0:
        b, c = mpf(1) / 2, mpf(1) / 6
    else:
        b, c = (1 - mp.cos(angle)) / angle**2, (angle - mp.sin(angle)) / angle**3
    V = mp.eye(3) + b * S + c * S * S
    u = mp.lu_solve(V, mp.matrix([M[0, 3], M[1, 3], M[2, 3]]))
    return [*u, *w]


def test_acceleration_rows_on_a_group_that_a_user_writes() -> None:
    """A reference that moves, a point that moves: rows against second differences of the error in time.

    The rows switched on the groups of this library and left all others out.
    """
    f, group = Curved(), Heisenberg()
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
