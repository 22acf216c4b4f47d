"""Kernels of the maps: coefficients across their switches, opposite quaternions, the jump at pi, both gears."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp as _mp, mpf

from liegroups import SE2, SE3, SO2, SO3, R3xSO3, Space
from liegroups.formulas import batch_algebra, maps, series

mp: Any = _mp  # half of its names are made when it is imported

BAD_ANGLES = [0.0, 1e-12, 1e-8, 1e-6, 9.9e-5, 1.01e-4, 0.999, 1.001, 1.22, 1.23, 3.0, math.pi - 1e-8, math.pi]
GROUPS = [SO2, SE2, SO3, SE3, R3xSO3]


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


def exact(name: str, t: float) -> Any:
    """The coefficient in 50 digits, from its definition and numerical differentiation in 100."""
    formulas = {
        "b": lambda t: (1 - mp.cos(mp.sqrt(t))) / t,
        "c": lambda t: (mp.sqrt(t) - mp.sin(mp.sqrt(t))) / mp.sqrt(t) ** 3,
        "k": lambda t: (1 - mp.sqrt(t) / 2 * mp.cot(mp.sqrt(t) / 2)) / t,
    }
    with mp.workdps(100):
        return formulas[name](mpf(t)) if len(name) == 1 else 2 * mp.diff(formulas[name[0]], mpf(t))


def nearby(switch: float) -> list[float]:
    return [switch * (1 + side * step) for side in (-1, 1) for step in (1e-12, 1e-3, 0.1)]


@pytest.mark.parametrize(
    "t", [1e-300, 1e-20, 1e-9, *nearby(series.TINY_SQUARE), 1e-3, 0.3, *nearby(series.EXP_SWITCH), 3.0, 9.8]
)
def test_coefficients_of_exp(t: float) -> None:
    s, cosine, b, c = maps.exp_coefficients(t)
    several = [float(x[0]) for x in batch_algebra.exp_coefficients(np.array([t, 0.5]))]
    assert several == pytest.approx([s, cosine, b, c], rel=4e-16)
    near = t >= 1e-9  # below, the definition itself cancels more than 100 digits can bear
    for name, value in (("b", b), ("c", c)):
        expected = exact(name, t) if near else mpf(1) / (2 if name == "b" else 6)
        # The closed form of c is relative to 1/theta^2: 1e-15 at its switch, where the series ends.
        assert abs(mpf(value) / expected - 1) < 2e-15, name


@pytest.mark.parametrize(
    "t", [1e-300, 1e-20, 1e-9, *nearby(series.TINY_SQUARE), 1e-3, 0.3, *nearby(series.LOG_SWITCH), 3.0, 9.8]
)
def test_coefficients_of_log(t: float) -> None:
    k, a = maps.log_coefficient(t), maps.half_cot(t)
    assert float(batch_algebra.log_coefficient(np.array([t, 0.5]))[0]) == pytest.approx(k, rel=1e-15)
    assert float(batch_algebra.half_cot(np.array([t, 0.5]))[0]) == pytest.approx(a, rel=1e-15, abs=1e-17)
    expected = exact("k", t) if t >= 1e-9 else mpf(1) / 12
    assert abs(mpf(k) / expected - 1) < 4e-15
    assert abs(mpf(a) - (1 - expected * mpf(t))) < 4e-16


@pytest.mark.parametrize("t", [1e-3, 0.1, 0.5, 0.9999])
def test_series_of_derivatives(t: float) -> None:
    for name, value in (("b'", series.b_prime(t)), ("c'", series.c_prime(t)), ("k'", series.k_prime(t))):
        assert abs(mpf(value) / exact(name, t) - 1) < 4e-16, name


@pytest.mark.parametrize("t", [0.0, 1e-3, 0.5, 1.0, 1.4999])
def test_series_of_the_logarithm_up_to_their_switch(t: float) -> None:
    """Derivatives of k = 1/12 + t/720 + ... = sum |B_2n| t^(n-1) / (2n)!, by Bernoulli's numbers."""
    terms = [abs(mp.bernoulli(2 * n)) / mp.factorial(2 * n) for n in range(1, 60)]
    for order, value in enumerate((series.k_value(t), series.k_prime(t), series.k_second(t))):
        expected = mpf(0)
        for n in range(order, len(terms)):
            expected += 2**order * terms[n] * mp.factorial(n) / mp.factorial(n - order) * mpf(t) ** (n - order)
        assert abs(mpf(value) / expected - 1) < 1e-15, order


def rotations() -> list[np.ndarray]:
    """Quaternions at the bad angles, and with w zero, of either sign, or tiny."""
    axes = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, -0.6, 0.8], [2 / 7, 3 / 7, -6 / 7]])
    found = [np.r_[math.sin(a / 2) * axis, math.cos(a / 2)] for a in BAD_ANGLES for axis in axes]
    return found + [np.r_[axis, w] for axis in axes for w in (0.0, -0.0, 5e-324, 1e-17, -1e-17, 1e-9)]


@pytest.mark.parametrize("gear", ["one", "batch"])
def test_opposite_quaternions_have_one_logarithm(gear: str) -> None:
    others = [np.array([0.0, 0, 0, 1]), *SO3.random(np.random.default_rng(3), size=4)]
    for q in rotations():
        for start in others:
            arguments = [np.stack([x, x]) if gear == "batch" else x for x in (start, q)]
            d = SO3.difference(arguments[0], arguments[1])
            assert np.array_equal(SO3.difference(arguments[0], -arguments[1]), d), q
            assert np.array_equal(SO3.difference(-arguments[0], arguments[1]), d), q
            assert np.max(np.linalg.norm(d, axis=-1)) <= math.pi * (1 + 1e-15)


def test_opposite_quaternions_act_alike() -> None:
    rng = np.random.default_rng(4)
    for q in rotations():
        pose = np.r_[rng.standard_normal(3), q / np.linalg.norm(q)]
        opposite = pose * np.r_[1, 1, 1, -1, -1, -1, -1]
        start = SE3.random(rng)
        for call in (SE3.difference, SE3.difference_dq0, SE3.difference_dq1):
            assert np.array_equal(call(start, pose), call(start, opposite))
            assert np.array_equal(call(pose, start), call(opposite, start))
        assert np.array_equal(SE3.adjoint(pose), SE3.adjoint(opposite))


@pytest.mark.parametrize("space", GROUPS, ids=str)
def test_both_gears_agree_in_the_bad_places(space: Space) -> None:
    rng = np.random.default_rng(5)
    vectors = []
    for angle in BAD_ANGLES:
        v = rng.standard_normal((6, space.nv))
        turn = {SO2: v, SE2: v[:, 2:], SO3: v, SE3: v[:, 3:], R3xSO3: v[:, 3:]}[space]
        turn *= angle / np.linalg.norm(turn, axis=-1, keepdims=True)
        vectors.append(v)
    v = np.concatenate(vectors)
    q = space.random(rng, size=len(v))
    p = space.integrate(q, v)
    for call, arguments in (
        (space.integrate, (q, v)),
        (space.difference, (q, p)),
        (space.integrate_dq, (q, v)),
        (space.integrate_dv, (q, v)),
        (space.difference_dq0, (q, p)),
        (space.difference_dq1, (q, p)),
        (space.log_jacobian, (v,)),
        (space.exp, (v,)),
        (space.log, (p,)),
    ):
        rows = call(*arguments)
        for i in range(len(v)):
            one = call(*(a[i] for a in arguments))
            if call == space.difference and np.max(np.abs(one + rows[i])) < 1e-7:
                continue  # exactly at pi rounding decides on the side, and the quaternions differ in the last digit
            assert np.max(np.abs(rows[i] - one)) <= 1e-14 * np.max(np.abs(one), initial=1.0), (call, i)


@pytest.mark.parametrize("space", [SO3, SE3], ids=str)
@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-8, 1e-10, 0.0])
def test_jacobians_of_the_difference_near_the_jump(space: Space, gap: float) -> None:
    """On both sides of pi the Jacobian is that of the branch on which the difference lies."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        axis = rng.standard_normal(3)
        axis /= np.linalg.norm(axis)
        for side in (-1.0, 1.0):
            v = np.r_[rng.standard_normal(space.nv - 3), (math.pi + side * gap) * axis]
            q0 = space.random(rng)
            q1 = space.integrate(q0, v)
            d = space.difference(q0, q1)
            assert np.linalg.norm(d[-3:]) <= math.pi + 1e-15
            # Jexp has no jump: the inverse of Jlog must be Jexp at the very d that was returned.
            unit = space.exp_jacobian(d) @ space.difference_dq1(q0, q1)
            assert np.max(np.abs(unit - np.eye(space.nv))) < 1e-13
            unit = space.exp_jacobian(-d) @ -space.difference_dq0(q0, q1)
            assert np.max(np.abs(unit - np.eye(space.nv))) < 1e-13
            assert np.max(np.abs(space.difference(q1, space.integrate(q0, d)))) < 1e-13


@pytest.mark.parametrize("tiny", [1e-100, 1e-155, 1e-200, 1e-290])
def test_tiny_vectors_do_not_vanish(tiny: float) -> None:
    v = np.array([tiny, -tiny, 0.0])
    assert SO3.log(SO3.exp(v)) == pytest.approx(v, rel=1e-15, abs=0.0)
    assert SO3.log(SO3.exp(np.stack([v, v])))[0] == pytest.approx(v, rel=1e-15, abs=0.0)


@pytest.mark.parametrize("scale", [1.0, 2.0, -0.5])
@pytest.mark.parametrize("ratio", [1e-7, 5e-5, 9.9e-5, 1.01e-4, 0.3])
def test_the_length_of_a_quaternion_does_not_count(scale: float, ratio: float) -> None:
    """theta = 2 atan(|u| / |w|), on both sides of the switch to its series."""
    w = mp.cos(mp.atan(ratio))
    u = w * mpf(ratio)
    found = maps.rotation_between(0.0, 0.0, 0.0, 1.0, float(scale * u), 0.0, 0.0, float(scale * w))
    np.testing.assert_allclose(found, [float(2 * mp.atan(ratio)), 0.0, 0.0], rtol=2e-15, atol=0.0)
