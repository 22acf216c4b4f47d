"""Maps and Jacobians against 50-digit arithmetic, at the bad angles and on both sides of every switch.

The references share no formula with the code: exp is the matrix exponential, Jexp the power series of ad, Jlog its
inverse. Errors are relative to the largest entry of the result.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from each_choice import draws
from mpmath import matrix, mp, mpf

from liegroups import SE2, SE3, SO2, SO3, Space
from liegroups.formulas.series import EXP_SWITCH, LOG_SWITCH, TINY_SQUARE

RELATIVE = 4e-15  # 1e-15 was reached; the rest is for other mathematical libraries

SWITCHES = [math.sqrt(t) for t in (TINY_SQUARE, EXP_SWITCH, LOG_SWITCH)]
ANGLES = [
    *(0.0, 1e-160, 1e-12, 1e-8, 1e-6, 1e-3, 0.1, 0.7, 2.5),
    *(angle * side for angle in SWITCHES for side in (1 - 1e-9, 1 + 1e-9)),
    *(math.pi - 1e-3, math.pi - 1e-8, math.pi),
]
BEYOND = [math.pi + 1e-8, 4.0, 5.5, 6.2]
FAR_BEYOND = [2 * math.pi, 9.0, 20.0]

AXES = [(1.0, 0.0, 0.0), (0.0, -0.6, 0.8), (2 / 7, 3 / 7, -6 / 7)]
LINEAR = [(0.3, -1.2, 0.7), (0.0, 0.0, 0.0), (120.0, 4.0, -33.0)]


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


def tangents(space: Space, angles: list[float], count: int = 3) -> list[tuple[float, ...]]:
    """Tangent vectors with these rotation angles; of three axes and linear parts so many in turn."""
    found = []
    for i, angle in enumerate(angles):
        for axis, linear in ((AXES[(i + j) % 3], LINEAR[(i + j) % 3]) for j in range(count)):
            w = tuple(angle * a for a in axis)
            of_group: dict[Space, Any] = {SO2: (angle,), SE2: (*linear[:2], angle), SO3: w, SE3: (*linear, *w)}
            found.append(of_group[space])
    return found


# --- references ------------------------------------------------------------------------------------------------------


def skew(x, y, z):
    return [[0, -z, y], [z, 0, -x], [-y, x, 0]]


def hat(space: Space, v) -> Any:
    """Matrix of the Lie algebra whose exponential is the rotation or the homogeneous matrix."""
    v = [mpf(x) for x in v]
    if space == SO2:
        return matrix([[0, -v[0]], [v[0], 0]])
    if space == SE2:
        return matrix([[0, -v[2], v[0]], [v[2], 0, v[1]], [0, 0, 0]])
    if space == SO3:
        return matrix(skew(*v))
    return matrix([[*row, p] for row, p in zip(skew(*v[3:]), v[:3], strict=True)] + [[0, 0, 0, 0]])


def small_adjoint(space: Space, v) -> Any:
    """Matrix of the bracket, ad_v."""
    v = [mpf(x) for x in v]
    if space == SO2:
        return matrix([[0]])
    if space == SE2:
        return matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [0, 0, 0]])
    if space == SO3:
        return matrix(skew(*v))
    p, w = skew(*v[:3]), skew(*v[3:])
    return matrix([a + b for a, b in zip(w, p, strict=True)] + [[0, 0, 0, *row] for row in w])


def series(a: Any, first: int, sign: int) -> Any:
    """Sum over n of (sign a)^n / (n + first)!, with digits to spare for large angles."""
    with mp.workdps(80):
        total, term, n = mp.zeros(a.rows), mp.eye(a.rows), 0
        while n < 20 or max(abs(x) for x in term) > mpf(10) ** -60:
            total += term if first == 0 else term / (n + 1)
            n += 1
            term = term * a * (mpf(sign) / n)
        return total


@cache
def exact_exp(space: Space, v: tuple[float, ...]) -> Any:
    """Matrix of exp(v)."""
    return series(hat(space, v), 0, 1)


@cache
def exact_exp_jacobian(space: Space, v: tuple[float, ...]) -> Any:
    return series(small_adjoint(space, v), 1, -1)


@cache
def exact_log_jacobian(space: Space, v: tuple[float, ...]) -> Any:
    with mp.workdps(80):
        return exact_exp_jacobian(space, v) ** -1


def exact_rotation_log(q) -> list:
    """Rotation vector of the quaternion q, taken as exact and scaled to norm 1."""
    x, y, z, w = (mpf(a) for a in q)
    n = mp.sqrt(x * x + y * y + z * z)
    if n == 0:
        return [mpf(0)] * 3
    s = 2 * mp.atan2(n, abs(w)) / n * (-1 if w < 0 else 1)
    return [s * x, s * y, s * z]


def to_matrix(space: Space, q) -> list[list]:
    """Exact rotation or homogeneous matrix of a point whose doubles are taken as exact."""
    q = [mpf(float(x)) for x in q]
    if space in (SO2, SE2):
        c, s = q[-2:]
        turn = [[c, -s], [s, c]]
    else:
        x, y, z, w = q[-4:]
        n = x * x + y * y + z * z + w * w
        a = 2 / n
        turn = [
            [1 - a * (y * y + z * z), a * (x * y - z * w), a * (x * z + y * w)],
            [a * (x * y + z * w), 1 - a * (x * x + z * z), a * (y * z - x * w)],
            [a * (x * z - y * w), a * (y * z + x * w), 1 - a * (x * x + y * y)],
        ]
    return turn if space in (SO2, SO3) else [[*row, p] for row, p in zip(turn, q, strict=False)]


def relative(received, expected) -> float:
    """Largest error over the largest entry."""
    received, expected = list(received), list(expected)
    scale = max(abs(x) for x in expected)
    worst = max(abs(mpf(float(a)) - b) for a, b in zip(received, expected, strict=True))
    return float(worst / scale) if scale else float(worst)


def in_gear(gear: str, call, *arguments):
    """One vector, or a batch of two of which the first counts."""
    if gear == "one":
        return call(*(np.array(a) for a in arguments))
    return call(*(np.array([a, [0.1 * x + 0.2 for x in a]]) for a in arguments))[0]


GEARS = pytest.mark.parametrize("gear", ["one", "batch"])
SPACES = pytest.mark.parametrize("space", [SO2, SE2, SO3, SE3], ids=str)


# --- tests -----------------------------------------------------------------------------------------------------------


@draws(1, 3)
@GEARS
@SPACES
def test_exp(space: Space, gear: str, count: int) -> None:
    for v in tangents(space, ANGLES + BEYOND + FAR_BEYOND, count):
        q = in_gear(gear, space.exp, v)
        size = 2 if space in (SO2, SE2) else 3
        received, expected = matrix(to_matrix(space, q)), exact_exp(space, v)
        turn = max(abs(received[i, j] - expected[i, j]) for i in range(size) for j in range(size))
        assert turn < RELATIVE, v
        if space in (SE2, SE3):
            ends = [expected[i, size] for i in range(size)]
            # Near whole turns the translation is a difference of larger vectors: relative to the linear part of v.
            scale = max([abs(x) for x in v[:size]] + [mpf(10) ** -30])
            assert max(abs(mpf(float(a)) - b) for a, b in zip(q, ends, strict=False)) / scale < RELATIVE, v


@GEARS
@SPACES
def test_exp_of_small_vectors_keeps_relative_accuracy(space: Space, gear: str) -> None:
    for v in tangents(space, [1e-160, 1e-12, 1e-8, 1e-6, 1e-4]):
        q = in_gear(gear, space.exp, v)
        angle = np.hypot.reduce(v[-1:] if space in (SO2, SE2) else v[-3:])
        part = abs(q[-1]) if space in (SO2, SE2) else np.hypot.reduce(q[-4:-1])
        expected = mp.sin(mpf(angle)) if space in (SO2, SE2) else mp.sin(mpf(angle) / 2)
        assert abs(mpf(float(part)) / expected - 1) < RELATIVE


@draws(1, 3)
@GEARS
@SPACES
def test_log_is_the_inverse_of_the_exact_exponential(space: Space, gear: str, count: int) -> None:
    for v in tangents(space, ANGLES, count):
        q = space.exp(np.array(v))
        d = in_gear(gear, space.log, q.tolist())
        # The exact exponential of what log gave, against the exact matrix of q. log is as sensitive as a division by
        # the angular part: near zero the comparison is relative to it.
        expected, received = to_matrix(space, q), exact_exp(space, tuple(d.tolist()))
        size = 2 if space in (SO2, SE2) else 3
        n = len(expected[0])
        bound = [1.0] * size + [max(1.0, max(abs(x) for x in q[: q.size - size - (size == 3)].tolist() or [1.0]))]
        for i in range(size):
            for j in range(n):
                assert abs(received[i, j] - expected[i][j]) < RELATIVE * bound[j], v


@GEARS
def test_rotation_log(gear: str) -> None:
    for v in tangents(SO3, ANGLES):
        half = [0.5 * x for x in v]
        for tilt in (0.0, 1e-17, -1e-17, 1e-9):
            q = np.array([*half, tilt]) if math.hypot(*v) > 3 else SO3.exp(np.array(v))
            q = SO3.normalize(q)
            expected = exact_rotation_log(q.tolist())
            if float(q[3]) == 0.0:
                first = next(x for x in expected if x)
                expected = [x * (-1 if first < 0 else 1) for x in expected]
            for sign in (1.0, -1.0):
                received = in_gear(gear, SO3.log, (sign * q).tolist())
                assert relative(received, expected) < RELATIVE, (v, tilt)
    for tiny in (1e-12, 1e-8, 1e-6):  # small relative rotations of two ordinary ones
        a = SO3.exp(np.array([0.4, -1.1, 2.0]))
        b = SO3.integrate(a, np.array([tiny, -2 * tiny, tiny]))
        x, y, z, w = (mpf(t) for t in a.tolist())
        e, f, g, h = (mpf(t) for t in b.tolist())
        u = [w * e - h * x - (y * g - z * f), w * f - h * y - (z * e - x * g), w * g - h * z - (x * f - y * e)]
        expected = exact_rotation_log([*u, w * h + x * e + y * f + z * g])
        received = in_gear(gear, SO3.difference, a.tolist(), b.tolist())
        assert max(abs(mpf(float(s)) - t) for s, t in zip(received, expected, strict=True)) < 1e-15


@GEARS
@pytest.mark.parametrize("space", [SE2, SE3], ids=str)
def test_log_of_rigid_motions(space: Space, gear: str) -> None:
    for v in tangents(space, ANGLES):
        q = space.exp(np.array(v)).tolist()
        if space == SE2:
            angle = mp.atan2(mpf(q[3]), mpf(q[2]))
            full, turn = (0, 0, angle), matrix([[0, -angle], [angle, 0]])
        else:
            full = (0, 0, 0, *exact_rotation_log(q[3:]))
            turn = matrix(skew(*full[3:]))
        n = turn.rows
        linear = series(turn, 1, 1) ** -1 * matrix([mpf(x) for x in q[:n]])
        expected = [*linear, *full[n:]]
        received = in_gear(gear, space.log, q)
        assert relative(received, expected) < RELATIVE, v
        assert relative(received[n:], expected[n:]) < RELATIVE, v


@draws(1, 3)
@GEARS
@SPACES
def test_exp_jacobian(space: Space, gear: str, count: int) -> None:
    for v in tangents(space, ANGLES + BEYOND + FAR_BEYOND, count):
        received = in_gear(gear, space.exp_jacobian, v)
        assert relative(received.ravel(), exact_exp_jacobian(space, v)) < RELATIVE, v


@GEARS
@SPACES
def test_log_jacobian(space: Space, gear: str) -> None:
    for v in tangents(space, ANGLES + BEYOND[:3]):
        received = in_gear(gear, space.log_jacobian, v)
        # Conditioning: h cot h falls to minus infinity at 2 pi, so one digit is given away beyond pi.
        bound = RELATIVE if np.hypot.reduce(v[-3:]) <= math.pi or space == SO2 else 10 * RELATIVE
        assert relative(received.ravel(), exact_log_jacobian(space, v)) < bound, v


@draws(1, 3)
@GEARS
@SPACES
def test_adjoint_of_exp(space: Space, gear: str, count: int) -> None:
    for v in tangents(space, ANGLES, count):
        received = in_gear(gear, space.adjoint, space.exp(np.array(v)).tolist())
        expected = series(small_adjoint(space, v), 0, 1)
        assert relative(received.ravel(), expected) < RELATIVE, v
