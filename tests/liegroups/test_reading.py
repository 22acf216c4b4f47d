"""How arguments are read: numbers, names, flags, sequences; each refusal names the argument and what came."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liegroups import SE2, SE3, SO2, SO3, ProductSpace, Rn, arguments as read
from liegroups.errors import DtypeError, NotFiniteError, SizeError, WrongObjectError
from liegroups.space import as_space


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
    assert read.as_tolerance(0.0, "x") == 0.0
    assert read.as_tolerance(np.inf, "x") == np.inf
    for wrong in (-1e-9, np.nan, True, "1", None):
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
    for wrong in ([1.0], [True], 3, "ab", [None]):
        with pytest.raises(WrongObjectError, match="x: expected a sequence of integers"):
            read.integers(wrong, "x")
    assert [read.natural_number(n, "x") for n in (0, 3, np.int64(5))] == [0, 3, 5]
    for wrong in (-1, 1.5, "2"):
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
    with pytest.raises(WrongObjectError, match="a function"):
        read.as_callable(3, "x", "a function")


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


@pytest.mark.parametrize("space", [SO2, SO3, SE2, SE3, Rn(2), ProductSpace([Rn(1), SO3], ["a", "b"])], ids=str)
def test_lists_arrays_other_types_and_stacks_give_the_same(space: Any) -> None:
    """Every map takes float64 vectors, other numbers and leading axes: one path for each, one answer."""
    rng = np.random.default_rng(5)
    a, b, v = space.random(rng), space.random(rng), 0.5 * rng.normal(size=space.nv)
    for name, arguments in (
        ("integrate", (a, v)), ("difference", (a, b)), ("compose", (a, b)), ("inverse", (a,)), ("log", (a,)),
        ("exp", (v,)),
        ("adjoint", (a,)), ("difference_dq0", (a, b)), ("difference_dq1", (a, b)), ("normalize", (a,)),
        ("log_jacobian", (v,)), ("exp_jacobian", (v,)),
    ):  # fmt: skip
        method = getattr(space, name)
        one = method(*arguments)
        np.testing.assert_array_equal(method(*(x.tolist() for x in arguments)), one)
        try:
            many = method(*(np.stack([x, x]) for x in arguments))
        except SizeError:
            continue  # of one vector only
        np.testing.assert_allclose(many, np.stack([one, one]), atol=1e-13)
        for wrong in (x[:-1] for x in arguments):
            with pytest.raises(SizeError):
                method(wrong, *arguments[1:])
    error, J = np.zeros(space.nv), rng.normal(size=(space.nv, 3))
    expected = space.difference_dq1(a, b) @ J
    space.error(a, b, error, J)
    np.testing.assert_allclose(error, space.difference(a, b), atol=1e-14)
    np.testing.assert_allclose(J, expected, atol=1e-12)
    again = np.zeros(space.nv)
    space.error(a.tolist(), b.tolist(), again)
    np.testing.assert_array_equal(again, error)
    for wrong in (
        (a[:-1], b, again),
        (a, b[:-1], again),
        (a, b, again[:-1]),
        (a, b, again, np.zeros((space.nv + 1, 2))),
    ):
        with pytest.raises(SizeError):
            space.error(*wrong)
