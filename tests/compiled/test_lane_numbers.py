"""Numbers in lanes: each operation is the scalar one, lane for lane; sine, cosine and arc tangent to 2 units.

The truth is mpmath with 50 digits, and the functions of `liegroups` and `functions.contact` that ask numbers.
"""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from math import inf, isnan, nan, pi
from typing import Any

import mpmath
import numpy as np
import pytest

pytest.importorskip("numba")

from compiled.guarded import plain

from constraints.functions.contact import contact_rows
from constraints.solvers.machine import jit
from constraints.solvers.machine.fusing import has_fused
from constraints.solvers.machine.jit import Floats
from liegroups import unit_vectors
from liegroups.formulas import maps

BAD = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-8, 1e-300, 5e-324, 1e300, inf, -inf, nan, 2.5, 3.5, -2.5)


def units(found: float, exact: Any) -> float:
    """Error in units of the last place."""
    return float(abs(mpmath.mpf(found) - exact) / mpmath.mpf(float(np.spacing(abs(float(exact))))))


def angles() -> list[float]:
    """At random up to 1e5 rad, beside multiples of a quarter turn, and where reductions fail."""
    rng = np.random.default_rng(1)
    with mpmath.workdps(50):
        near = [float(n * mpmath.pi / 2) for n in (1, 2, 3, 7, 22, 355, 710, 12345, 52174, 60000, 63661)]
    sides = [float(np.nextafter(x, s)) for x in near for s in (0.0, inf)]
    return [*rng.uniform(-4.0, 4.0, 800), *rng.uniform(-1e5, 1e5, 800), *near, *sides, 1e5, -1e5, 1e-9, 0.3e-300]


def in_machine_code(name: str, inputs: int) -> Callable[..., list[float]]:
    """A function of `elementary` as it is compiled, where products in sums are not rounded by themselves."""
    numba: Any = importlib.import_module("numba")
    function: Any = getattr(importlib.import_module("constraints.solvers.tape.elementary"), name)

    @numba.njit(**jit._RULES, **jit.OF_ENTRANCES)
    def of_one(x: Any, y: Any) -> None:
        y[0], y[1] = function(x[0])

    @numba.njit(**jit._RULES, **jit.OF_ENTRANCES)
    def of_two(x: Any, y: Any) -> None:
        y[0] = function(x[0], x[1])

    def called(*x: float) -> list[float]:
        y = np.empty(3 - inputs)
        (of_one if inputs == 1 else of_two)(np.array(x), y)
        return y.tolist()

    return called


def sines(compiled: bool) -> Callable[..., Any]:
    return in_machine_code("sine_and_cosine", 1) if compiled else plain("elementary", "tape").sine_and_cosine


def arc_tangents(compiled: bool) -> Callable[..., Any]:
    machine = in_machine_code("arc_tangent", 2)
    return (lambda y, x: machine(y, x)[0]) if compiled else plain("elementary", "tape").arc_tangent


@pytest.mark.parametrize("compiled", [False, True])
def test_sine_and_cosine_are_within_two_units_of_fifty_digits(compiled: bool) -> None:
    function = sines(compiled)
    with mpmath.workdps(50):
        for x in angles():
            s, c = function(x)
            assert units(s, mpmath.sin(mpmath.mpf(x))) < 1.0
            assert units(c, mpmath.cos(mpmath.mpf(x))) < 1.0
    for x in (1.1e5, -3e7, 1e22):
        assert tuple(function(x)) == (np.sin(x), np.cos(x))
    assert all(isnan(y) for x in (inf, -inf, nan) for y in function(x))
    assert tuple(function(-0.0)) == (0.0, 1.0)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_arc_tangent_is_within_two_units_of_fifty_digits(compiled: bool) -> None:
    function, rng = arc_tangents(compiled), np.random.default_rng(2)
    points = rng.normal(size=(2000, 2)) * np.exp(3.0 * rng.normal(size=(2000, 2)))
    bad = itertools.product((1.0, -1.0, 1e-12, -1e-9, 0.4375, 0.6875, 7.0, 1e9), repeat=2)
    with mpmath.workdps(50):
        for y, x in [*points.tolist(), *bad]:
            assert units(function(y, x), mpmath.atan2(mpmath.mpf(y), mpmath.mpf(x))) < 2.0
    assert function(0.0, 0.0) == 0.0
    assert function(0.0, -1.0) == pi
    assert function(-0.0, -1.0) == -pi
    assert function(1.0, 0.0) == pi / 2
    assert function(-1.0, 0.0) == -pi / 2


def test_operations_in_lanes_are_those_of_one_number_bit_for_bit() -> None:
    """In compiled code; NaN and infinity in a lane stay there."""
    if jit.LANES == 1:
        pytest.skip("compiled without lanes")
    elementary = importlib.import_module("constraints.solvers.tape.elementary")
    numba: Any = importlib.import_module("numba")
    floats_at, lanes_at, chosen, rounded = jit.floats_at, jit.lanes_at, jit.chosen, jit.rounded
    ceiling, off, same = jit.ceiling, jit.off, jit.has_same_bits
    sine_and_cosine, arc_tangent = elementary.sine_and_cosine, elementary.arc_tangent
    kernel = jit.kernel

    @kernel
    def written(X: Floats, Y: Floats, Z: Floats, i: int) -> None:
        x, y, o = X[i], Y[i], 20 * i
        Z[o], Z[o + 1], Z[o + 2], Z[o + 3] = x + y, x - y, x * y, x / chosen(y == 0.0, 1.0, y)
        Z[o + 4], Z[o + 5], Z[o + 6], Z[o + 7] = min(x, y), max(x, y), abs(x), -x
        Z[o + 8], Z[o + 9] = chosen(x < y, 2.0 * x, y), rounded(x)
        Z[o + 10] = ceiling(y)
        Z[o + 11] = chosen(off((x <= y) | (y != y)) & off(same(x, y)), 1.0, 0.0)
        s, c = sine_and_cosine(x)
        Z[o + 12], Z[o + 13], Z[o + 14], Z[o + 15] = s, c, arc_tangent(x, y), chosen(x >= y, 3.0, x)
        Z[o + 16], Z[o + 17], Z[o + 18] = x * y + 0.3, 0.3 - x * y, x * y - 0.3
        Z[o + 19] = 0.3
        Z[o + 19] += x * y

    @numba.njit(**jit._RULES, **jit.OF_ENTRANCES)
    def by_one(where: Any, count: int) -> None:
        X, Y, Z = floats_at(where[0]), floats_at(where[1]), floats_at(where[2])
        for i in range(count):
            written(X, Y, Z, i)

    @numba.njit(**jit._RULES, **jit.OF_ENTRANCES)
    def by_lanes(where: Any, count: int) -> None:
        X, Y, Z = lanes_at(where[0]), lanes_at(where[1]), lanes_at(where[2])
        for i in range(count):
            written(X, Y, Z, i)

    pairs = np.array([*itertools.product(BAD, repeat=2), *np.random.default_rng(0).normal(size=(31, 2)) * 4.0])
    count = len(pairs) // jit.LANES
    size = count * jit.LANES
    X, Y = (jit.in_lanes(np.zeros(count), 1)[0] for _ in range(2))
    one, many = np.empty(20 * size), jit.in_lanes(np.zeros(20 * count), 1)[0]
    X[:], Y[:] = pairs[:size].T
    by_one(jit.places(X, Y, one), size)
    by_lanes(jit.places(X, Y, many), count)
    found = many.reshape(count, 20, jit.LANES).transpose(0, 2, 1).reshape(size, 20)
    expected = one.reshape(size, 20)
    both = np.isnan(found) & np.isnan(expected)
    assert (both | (found.view(np.int64) == expected.view(np.int64))).all()
    if has_fused():  # products in sums: rounded once, with the sum
        for (x, y), fused in zip(pairs[size - 20 : size].tolist(), found[-20:, 16:].tolist(), strict=True):
            product, other = Fraction(x) * Fraction(y), Fraction(0.3)
            assert fused == [
                float(product + other),
                float(other - product),
                float(product - other),
                float(product + other),
            ]


@pytest.mark.program
def test_a_width_that_there_is_not_is_refused_by_name() -> None:
    code = """
import os, sys
for named in sys.argv[1:]:
    os.environ["LIE_CONSTRAINTS_LANES"] = named
    try:
        import constraints.solvers.machine.lanes
    except Exception as error:
        print(error)
"""
    widths = ("3", "many", "-8")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0"}
    run = [sys.executable, "-c", code, *widths]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    for named, said in zip(widths, done.stdout.splitlines(), strict=True):
        assert f"LIE_CONSTRAINTS_LANES={named}: expected a number of lanes, one of 1, 2, 4, 8, 16" in said


# Formulas with choices, beside those that ask numbers.


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=2e-15, atol=2e-15)


def test_coefficients_with_choices_are_those_of_liegroups() -> None:
    kernels = plain("coefficients", "tape")
    for t in (0.0, 1e-30, 0.99e-8, 1.01e-8, 1e-3, 0.999, 1.001, 1.4999, 1.5001, 5.0, 9.8, 30.0):
        close(kernels.half_sinc(t), maps.half_sinc(t))
        close(kernels.half_cot(t), maps.half_cot(t))
        close(kernels.log_coefficient(t), maps.log_coefficient(t))


def test_rotation_vectors_with_choices_are_those_of_liegroups() -> None:
    """And the cotangent that comes with them is that of half their angle."""
    kernels, coefficients, rng = plain("groups", "tape"), plain("coefficients", "tape"), np.random.default_rng(3)
    expected: Any = maps.rotation_between
    product: Any = maps.quaternion_product

    def check(a: tuple[float, ...], b: tuple[float, ...]) -> None:
        *found, cot = kernels.turn_of(*product(-a[0], -a[1], -a[2], a[3], *b))
        close(found, expected(*a, *b))
        np.testing.assert_allclose(cot, coefficients.half_cot(sum(x * x for x in found)), rtol=0.0, atol=3e-15)

    turns = [0.0, 1e-12, 1e-5, 1e-4, 2e-4, 1.0, 3.0, pi - 1e-8, pi, pi + 1e-8, 5.0, 2.0 * pi - 1e-6]
    for turn in turns:
        a, axis = rng.normal(size=4), rng.normal(size=3)
        a, axis = (a / np.linalg.norm(a)).tolist(), axis / np.linalg.norm(axis)
        check(a, product(*a, *(np.sin(turn / 2) * axis).tolist(), float(np.cos(turn / 2))))
    for half in itertools.product((0.0, 1.0, -1.0), repeat=3):
        if any(half):
            check((0.0, 0.0, 0.0, 1.0), (*half, 0.0))


def test_angles_of_unit_vectors_with_choices_are_those_of_liegroups() -> None:
    kernels = plain("pose_maps", "tape")
    for c in (1.0, 1.0 - 1e-12, 0.9501, 0.9499, 0.3, 0.0, -0.8, -0.95, -1.0 + 1e-7, -1.0):
        np.testing.assert_allclose(kernels.unit_log(c), unit_vectors.unit_log(c)[:2], rtol=1e-13)
        np.testing.assert_allclose(kernels.arcsine(c), unit_vectors.arcsine(c)[:2], rtol=1e-14)


def test_the_swing_with_choices_is_that_of_contacts() -> None:
    kernels, rng = plain("contacts", "tape"), np.random.default_rng(4)
    for tilt in (0.0, 1e-10, 1e-6, 0.0299, 0.0301, 1.0, 2.0, 2.2, pi - 1e-3, pi - 1e-10, pi):
        way = rng.uniform(-pi, pi)
        n = np.cos(tilt), np.sin(tilt) * np.cos(way), np.sin(tilt) * np.sin(way)
        found, expected = kernels.swing(*n), contact_rows.swing(*map(float, n))
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
        numbers = rng.normal(size=6)
        rates = kernels.swing_rates(n[0], *numbers, *expected)
        function: Any = contact_rows.swing_rates
        np.testing.assert_allclose(rates, function(float(n[0]), *numbers, *expected), rtol=1e-12)
