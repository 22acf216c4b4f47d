"""Rotation vectors of one rotation: the nearest is taken, and its rates are those of what is taken."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from constraints.rows.rotation_vectors import rates_to_nearest_turn, shorter, shorter_rates, to_nearest_turn

AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
PI = np.pi


@pytest.mark.parametrize(
    ("angle", "short"),
    [
        (0.0, 0.0), (1.0, 1.0), (PI - 0.01, PI - 0.01), (PI + 0.01, 0.01 - PI), (5.0, 5.0 - 2 * PI),
        (7.0, 7.0 - 2 * PI),
        (3 * PI - 0.1, PI - 0.1), (3 * PI + 0.1, 0.1 - PI), (13.0, 13.0 - 4 * PI), (20.0, 20.0 - 6 * PI),
    ],
)  # fmt: skip
def test_the_shorter_vector_is_at_most_half_a_turn(angle: float, short: float) -> None:
    np.testing.assert_allclose(shorter(angle * AXIS), short * AXIS, rtol=0, atol=1e-13)
    np.testing.assert_allclose(pin.exp3(shorter(angle * AXIS)), pin.exp3(angle * AXIS), rtol=0, atol=1e-13)


@pytest.mark.parametrize("angle", [0.5, 3.0, 3.5, 5.0, 7.0, 10.0])
def test_rates_of_the_shorter_vector_are_its_differences(angle: float) -> None:
    rng, h = np.random.default_rng(1), 1e-4
    r, rate, second = angle * AXIS, rng.normal(size=3), rng.normal(size=3)

    def at(t: float) -> np.ndarray:
        return shorter(r + t * rate + 0.5 * t * t * second)

    first, bend = shorter_rates(r, rate, second)
    np.testing.assert_allclose(first, (at(h) - at(-h)) / (2 * h), rtol=0, atol=1e-6)
    np.testing.assert_allclose(bend, (at(h) - 2 * at(0.0) + at(-h)) / h**2, rtol=0, atol=1e-5)


CASES = [
    (2.5 * AXIS, -2.5 * AXIS), (1.8 * AXIS, -1.8 * AXIS), (3.1 * AXIS, np.array([-1.0, 0.5, -0.8])),
    (np.array([2.0, 2.0, 0.5]), np.array([-2.0, -1.0, -0.5])), (1.0 * AXIS, -1.0 * AXIS), (0.1 * AXIS, 0.3 * AXIS),
    (3.0 * AXIS, np.array([1.5, 2.5, -0.5])),
]  # fmt: skip


@pytest.mark.parametrize(("w", "r"), CASES)
def test_errors_and_their_rates_go_to_the_nearest_turn(w: np.ndarray, r: np.ndarray) -> None:
    """The error is to the nearer of w and w - 2 pi a, where that is plain; Jacobian and rates are its differences."""
    rng, h = np.random.default_rng(2), 1e-4
    J, v, own_rate, own_second = rng.normal(size=(3, 2)), rng.normal(size=2), rng.normal(size=3), rng.normal(size=3)
    second = rng.normal(size=3)

    def error(step: np.ndarray, there: np.ndarray = r) -> np.ndarray:
        e = w + step - there
        to_nearest_turn(there, e)
        return e

    turned = error(np.zeros(3))
    a = w / np.linalg.norm(w)
    further = float(a @ (w - r)) > PI
    np.testing.assert_allclose(turned, w - r - (2 * PI * a if further else 0.0), rtol=0, atol=1e-14)
    e, jacobian = w - r, J.copy()
    to_nearest_turn(r, e, jacobian)
    np.testing.assert_array_equal(e, turned)
    seen = np.array([(error(h * c) - error(-h * c)) / (2 * h) for c in J.T]).T
    np.testing.assert_allclose(jacobian, seen, rtol=0, atol=1e-6)

    def along(t: float) -> np.ndarray:
        return error(t * (J @ v) + 0.5 * t * t * second, r)

    for order in (1, 2):
        rates = (J @ v if order == 1 else second).copy()
        jacobian, start = J.copy(), w - r
        rates_to_nearest_turn(r, start, np.zeros(3), v, rates, jacobian, second=order == 2)
        truth = (along(h) - along(-h)) / (2 * h) if order == 1 else (along(h) - 2 * along(0.0) + along(-h)) / h**2
        np.testing.assert_allclose(rates, truth, rtol=0, atol=1e-5)
        np.testing.assert_allclose(jacobian, seen, rtol=0, atol=1e-6)
        own = own_rate if order == 1 else own_second
        moving = (J @ v if order == 1 else second) - own
        rates_to_nearest_turn(r, w - r, own, v, moving, J.copy(), second=order == 2)
        np.testing.assert_allclose(moving, truth - own, rtol=0, atol=1e-5)  # the right-hand side is not turned


def test_half_a_turn_stays_and_so_does_what_has_no_axis() -> None:
    half, no = PI * AXIS, np.zeros(3)
    for w, r in ((half, no), (no, 3.5 * AXIS), (1e-13 * AXIS, -4.0 * AXIS)):
        e, J = w - r, np.eye(3)
        to_nearest_turn(r, e, J)
        np.testing.assert_array_equal(e, w - r)
        np.testing.assert_array_equal(J, np.eye(3))
    beyond = (PI + 1e-9) * AXIS
    e = beyond.copy()
    to_nearest_turn(no, e)
    np.testing.assert_allclose(e, (1e-9 - PI) * AXIS, rtol=0, atol=1e-14)
    e = 1e-6 * AXIS + 3.2 * AXIS  # an axis, however short: a whole turn about it is nearer
    to_nearest_turn(-3.2 * AXIS, e)
    np.testing.assert_allclose(e, (1e-6 + 3.2 - 2 * PI) * AXIS, rtol=0, atol=1e-9)
