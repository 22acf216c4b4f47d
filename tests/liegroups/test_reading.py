"""How arguments are read: numbers, names, flags, sequences; each refusal names the argument and what came."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pytest

from liegroups import SE3, SO3, ProductSpace, Space, arguments as read
from liegroups.errors import DtypeError, NotFiniteError, SizeError, WrongObjectError
from liegroups.space import as_space


def test_expect_returns_the_object_itself() -> None:
    came: object = SE3 * SE3
    space = assert_type(read.expect(came, ProductSpace, "space of a test"), ProductSpace)
    assert space is came
    word: object = "a"
    one = assert_type(read.expect(word, (str, bytes), "name of a test"), str | bytes)
    assert one == "a"
    assert read.expect(True, int, "number of a test") is True


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
        read.expect(candidate, kind, "part of a test", words)
    assert caught.value.what == "part of a test"


REAL = (0, 1.5, -2, np.float32(0.5), np.int8(3), 1e308)
WRONG = (True, np.True_, np.nan, np.inf, -np.inf, "1", None, 1j, [1.0], np.array(1.0))


@pytest.mark.parametrize(("candidate", "taken"), [*((x, True) for x in REAL), *((x, False) for x in WRONG)], ids=repr)
def test_what_is_a_finite_number(candidate: object, taken: bool) -> None:
    assert read.is_finite_number(candidate) == taken


@pytest.mark.parametrize(("number", "taken"), [(1, True), (1.5, True), (np.float32(2.0), True), (np.int64(3), True),
                                               (True, False), ("1", False), (None, False), (np.nan, False),
                                               (np.inf, False), (1j, False)])  # fmt: skip
def test_finite_numbers(number: Any, taken: bool) -> None:
    assert read.is_finite_number(number) == taken
    if taken:
        assert read.finite_number(number, "x") == float(number)
        assert read.as_tolerance(number, "x") == float(number)
    else:
        with pytest.raises((DtypeError, NotFiniteError), match="x"):
            read.finite_number(number, "x")


@pytest.mark.parametrize(("number", "said"), [(None, "received NoneType"), ("1", "received '1'"),
                                              (["ab"], "received 'ab'"),
                                              ([1.0], r"expected size one number, received \(1,\)"),
                                              ([1.0, 2.0], r"one number, received \(2,\)")])  # fmt: skip
def test_what_came_for_a_number_is_said_as_it_came(number: Any, said: str) -> None:
    """A function that forgets to return gives None, and not a list."""
    with pytest.raises((DtypeError, SizeError), match=said):
        read.finite_number(number, "x")


def test_tolerances_are_not_negative() -> None:
    for number in (0, 0.0, 1e-300, np.float64(2.0), np.inf):
        assert read.as_tolerance(number, "x") == number
        assert type(read.as_tolerance(number, "x")) is float
    for wrong in (-1e-9, -1e-300, np.nan, True, "1", None, 1j):
        with pytest.raises(WrongObjectError, match="x: expected a number that is not negative"):
            read.as_tolerance(wrong, "x")


def test_arrays_of_numbers() -> None:
    vector = np.array([1.0, 2.0])
    assert read.real_numbers(vector, "x") is vector
    assert read.finite_vector(vector, 2, "x") is vector
    assert read.real_numbers([1, 2], "x").dtype == np.float64
    assert np.isnan(read.real_numbers([np.nan], "x")).all()
    for finite in ([np.nan, 1.0, np.inf],):
        with pytest.raises(NotFiniteError) as caught:
            read.real_numbers(finite, "x", finite=True)
        assert "[0, 2]" in str(caught.value)
    for wrong in ([True], [1j], ["a"], [None], [[1.0], [1.0, 2.0]], {"a": 1.0}):
        with pytest.raises(DtypeError, match="x"):
            read.real_numbers(wrong, "x")
    for wrong in ([None], [[1.0], [1.0, 2.0]]):
        with pytest.raises(WrongObjectError, match="x: expected seven numbers"):
            read.real_numbers(wrong, "x", "seven numbers")
    with pytest.raises(SizeError, match="3"):
        read.finite_vector([1.0, 2.0], 3, "x")
    assert read.stacked([[1.0, 2.0]], 2, "x").shape == (1, 2)
    for wrong in (1.0, [1.0, 2.0, 3.0], [[1.0]]):
        with pytest.raises(SizeError, match="x"):
            read.stacked(wrong, 2, "x")
    assert read.one_vector(vector, "x") is vector
    for wrong in (np.zeros((1, 2)), np.zeros(())):
        with pytest.raises(SizeError, match="one vector"):
            read.one_vector(wrong, "x")
    assert read.leading_axes(np.zeros((3, 1, 2)), np.zeros((4, 7)), "R2") == (3, 4)
    with pytest.raises(SizeError, match="leading axes of points and vectors of R2"):
        read.leading_axes(np.zeros((3, 2)), np.zeros((4, 2)), "R2")


def test_arrays_to_be_written_to() -> None:
    read.receiver(np.zeros(2), None, 2)
    read.receiver(np.zeros(2), np.zeros((2, 5)), 2)
    for e, J, kind, said in (
        ([0.0, 0.0], None, WrongObjectError, "e of error"), (np.zeros(2, dtype=int), None, WrongObjectError, "e of"),
        (np.zeros(3), None, SizeError, "e of error"), (np.zeros((2, 1)), None, SizeError, "e of error"),
        (np.zeros(2), np.zeros((3, 5)), SizeError, "jacobian of error"), (np.zeros(2), np.zeros(2), SizeError, "jac"),
        (np.zeros(2), np.zeros((2, 5), dtype=np.float32), WrongObjectError, "jacobian of error"),
    ):  # fmt: skip
        with pytest.raises(kind, match=said):
            read.receiver(e, J, 2)


def test_truths_integers_and_counts() -> None:
    assert read.truth_values([1, 0, True], "x", "flags").tolist() == [True, False, True]
    for wrong in ([2], [1.0], ["a"], [-1], None):
        with pytest.raises(WrongObjectError, match="x: expected flags"):
            read.truth_values(wrong, "x", "flags")
    assert read.integers((1, np.int64(2)), "x") == [1, 2]
    for wrong in ([1.0], [True], 3, "ab", [None], {}, {2: "z"}):
        with pytest.raises(WrongObjectError, match="x: expected a sequence of integers"):
            read.integers(wrong, "x")
    assert [read.natural_number(n, "x") for n in (0, 3, np.int64(5))] == [0, 3, 5]
    for wrong in (-1, 1.5, "2", True):
        with pytest.raises(SizeError, match="x"):
            read.natural_number(wrong, "x")  # type: ignore[arg-type]
    assert read.as_flag(np.True_, "x") is True
    assert read.as_flag(False, "x") is False
    for wrong in (1, 0, None, "True"):
        with pytest.raises(WrongObjectError, match="True or False"):
            read.as_flag(wrong, "x")


def test_names_paths_sequences_and_mappings() -> None:
    assert read.as_name("", "x") == ""
    assert read.as_label("a", "x") == "a"
    for wrong in ("", 3, None):
        with pytest.raises(WrongObjectError, match="a string that is not empty"):
            read.as_label(wrong, "x")
    with pytest.raises(WrongObjectError, match="x: expected a string"):
        read.as_name(3, "x")
    assert read.as_path(Path("a") / "b", "x", "a path") == str(Path("a") / "b")
    for wrong in (3, b"a"):
        with pytest.raises(WrongObjectError, match="a path"):
            read.as_path(wrong, "x", "a path")  # type: ignore[arg-type]
    assert read.as_tuple((i for i in range(2)), "x", "numbers") == (0, 1)
    for wrong in ("ab", b"ab", {"a": 1}, 3):
        with pytest.raises(WrongObjectError, match="a sequence of numbers"):
            read.as_tuple(wrong, "x", "numbers")  # type: ignore[arg-type]
    for unordered in ({1}, frozenset((1,))):  # constraints in a set would be other rows in each run
        with pytest.raises(
            WrongObjectError, match=r"a sequence of numbers, in order, got a (frozen)?set, which has none"
        ):
            read.as_tuple(unordered, "x", "numbers")
        assert read.as_tuple(unordered, "x", "numbers", ordered=False) == (1,)
    assert read.as_tuple({1: 2}.keys(), "x", "numbers") == (1,)
    assert read.as_mapping({"a": 1}, "x", "of numbers") == {"a": 1}
    with pytest.raises(WrongObjectError, match="a mapping of numbers"):
        read.as_mapping([("a", 1)], "x", "of numbers")  # type: ignore[arg-type]
    assert read.as_callable(len, "x", "a function") is len
    for wrong in (3, SE3):  # a space has a call, which refuses
        with pytest.raises(WrongObjectError, match="x: expected a function"):
            read.as_callable(wrong, "x", "a function")


def test_spaces_are_told_from_what_has_one() -> None:
    assert as_space(SO3, "x") is SO3

    class Holder:
        space = SO3

    for wrong, said in (
        (3, r"a Space, Rn\(3\)"),
        (Holder(), r"a Space, its \.space"),
        ("SO3", "a Space"),
        (True, "a Space"),
    ):
        with pytest.raises(WrongObjectError, match=said):
            as_space(wrong, "x")
    with pytest.raises(WrongObjectError, match=r"SO3 \*\* n"):
        SO3 * 3  # type: ignore[operator] # pyright: ignore


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
