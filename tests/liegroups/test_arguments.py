"""`expect` returns what it was given, typed, or raises the one error for objects of another kind."""

from __future__ import annotations

from typing import assert_type

import numpy as np
import pytest

from liegroups import SE3, ProductSpace, Space
from liegroups.arguments import as_callable, as_tolerance, expect, integers, is_finite_number
from liegroups.errors import DtypeError, WrongObjectError


def test_expect_returns_the_object_itself() -> None:
    came: object = SE3 * SE3
    space = assert_type(expect(came, ProductSpace, "space of a test"), ProductSpace)
    assert space is came
    word: object = "a"
    one = assert_type(expect(word, (str, bytes), "name of a test"), str | bytes)
    assert one == "a"
    assert expect(True, int, "number of a test") is True


@pytest.mark.parametrize(
    ("candidate", "kind", "words", "message"),
    [
        (3, Space, "", "part of a test: expected a Space, got int"),
        (None, (ProductSpace, int), "", "part of a test: expected a ProductSpace or an int, got NoneType"),
        ("x", Space, "a Space, SE3", "part of a test: expected a Space, SE3, got 'x'"),
        (ProductSpace, Space, "", r"the class ProductSpace itself, not an object of it: write ProductSpace\(\.\.\.\)"),
        (np.zeros(3), str, "a string", "expected a string, got ndarray"),
        (float("nan"), str, "a string", "expected a string, got nan"),
        (np.float64("-inf"), str, "a string", "expected a string, got -inf"),
        (0.5, str, "a string", "expected a string, got float"),
    ],
)
def test_expect_names_the_culprit(candidate: object, kind, words: str, message: str) -> None:
    with pytest.raises(WrongObjectError, match=message) as caught:
        expect(candidate, kind, "part of a test", words)
    assert caught.value.what == "part of a test"


@pytest.mark.parametrize("number", [0, 1.5, -2, np.float32(0.5), np.int8(3), 1e308])
def test_real_numbers_are_finite_numbers(number: object) -> None:
    assert is_finite_number(number)


@pytest.mark.parametrize(
    "candidate", [True, np.True_, float("nan"), float("inf"), -np.inf, "1", None, 1j, [1.0], np.array(1.0)], ids=repr
)
def test_everything_else_is_no_finite_number(candidate: object) -> None:
    assert not is_finite_number(candidate)


def test_a_tolerance_is_zero_or_more() -> None:
    for number in (0, 0.0, 1e-300, np.float64(2.0), float("inf")):
        assert as_tolerance(number, "tolerance") == number
        assert type(as_tolerance(number, "tolerance")) is float
    wrong: list[object] = [-1e-300, float("nan"), True, "1", None, 1j]
    for candidate in wrong:
        with pytest.raises(WrongObjectError, match="tolerance of all"):
            as_tolerance(candidate, "tolerance of all")


@pytest.mark.parametrize("rows", [{}, {2: "z"}])
def test_a_mapping_is_no_sequence_of_row_numbers(rows: object) -> None:
    """Welcome: `function.restricted({})` was accepted silently, as no rows; of {2: "z"} the keys were."""
    with pytest.raises(WrongObjectError, match="rows of a test"):
        integers(rows, "rows of a test")


def test_a_space_is_no_function_though_it_has_a_call() -> None:
    """Welcome: a group where a function of time is asked for was taken, silently, and refused when it was called."""
    assert as_callable(abs, "function of a test", "a function of time") is abs
    with pytest.raises(WrongObjectError, match=r"function of a test.*a function of time"):
        as_callable(SE3, "function of a test", "a function of time")


@pytest.mark.parametrize(
    ("q", "received"),
    [
        (np.zeros(7) + 0j, "complex128"),
        (np.array([0.0] * 6 + [1j], dtype=object), "ndarray of complex"),
        (np.array([object()] * 7), "ndarray of object"),
    ],
)
def test_arrays_that_are_not_real_say_of_what(q: np.ndarray, received: str) -> None:
    with pytest.raises(DtypeError, match=rf"expected real numbers \(float64\), received {received}$"):
        SE3.check(q)
