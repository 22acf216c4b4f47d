"""Reading what comes from a user: every number, array, name, sequence and mapping passes here once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from operator import index
from os import PathLike, fspath
from typing import Any, SupportsIndex, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from .arrays import FLOAT64, BoolVector, Vector
from .errors import DtypeError, DuplicateNameError, NotFiniteError, SizeError, WrongObjectError

_K = TypeVar("_K")
_T = TypeVar("_T")

_MASKED: Any = np.ma.MaskedArray
_FLAGS: tuple[type, ...] = (bool, np.bool_)
_REAL_NUMBERS: tuple[type, ...] = (float, int, np.floating, np.integer)


def expect(candidate: object, kind: type[_T] | tuple[type[_T], ...], what: str, words: str = "") -> _T:
    """Take an object of a kind from a user, and return it.

    Args:
        candidate: what came.
        kind: the class it must be of, or several of which one is enough.
        what: the argument, as the caller knows it: "problem of an interpolation".
        words: what is expected; "a Problem", from the name of the class, if left out.

    Raises:
        WrongObjectError: anything else.

    Example:
        >>> from liegroups.arguments import expect
        >>> expect("base", str, "name of a frame")
        'base'
    """
    if isinstance(candidate, kind):
        return candidate
    came = repr(candidate) if isinstance(candidate, str) else candidate
    raise WrongObjectError(what, words or with_article(kind), came)


def with_article(kind: type | tuple[type, ...]) -> str:
    """Classes in words: 'a Problem', 'an Implicit or a Function'."""
    names = [each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,))]
    return " or ".join(f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}" for name in names)


def is_float64(values: object) -> TypeGuard[Vector]:
    """Whether it is a numpy array of float64 numbers, of whatever shape."""
    return type(values) is np.ndarray and values.dtype == FLOAT64


def is_finite_vector(values: object, n: int) -> TypeGuard[Vector]:
    """Whether it is a float64 vector (n,) already, of finite numbers whose squares do not overflow either."""
    if is_float64(values) and values.shape == (n,):
        return isfinite(values.dot(values))
    return False


def finite_vector(values: ArrayLike, n: int, what: str, hint: str = "") -> Vector:
    """Read n finite real numbers as a float64 vector; an array that is one already comes back as it is.

    Raises:
        DtypeError: truth values, complex numbers, strings, objects, ragged lists, masked entries.
        SizeError: another shape than (n,).
        NotFiniteError: NaN or infinity.
    """
    if is_finite_vector(values, n):
        return values
    array = _numbers(values, what)
    if array.shape != (n,):
        raise SizeError(what, n, array.size if array.ndim == 1 else array.shape, hint)
    with np.errstate(over="ignore"):
        vector = array.astype(np.float64, copy=False)
    if not isfinite(sum(vector.tolist())) and not np.isfinite(vector).all():
        raise NotFiniteError(what, np.flatnonzero(~np.isfinite(vector)).tolist())
    return vector


def finite_number(candidate: object, what: str) -> float:
    """Take one finite real number from a user.

    Raises:
        DtypeError: no real number.
        SizeError: several.
        NotFiniteError: NaN or infinity.
    """
    number: Any = candidate
    try:
        return float(finite_vector([number], 1, what)[0])
    except (DtypeError, SizeError):
        shape = _numbers(number, what).shape  # says what came, and not that it is a list here
        if not shape:
            raise
        raise SizeError(what, "one number", shape) from None


def stacked(values: ArrayLike, n: int, what: str, hint: str = "") -> Vector:
    """Read vectors of n entries stacked along leading axes, as float64; NaN is not looked for.

    Raises:
        DtypeError: not real numbers.
        SizeError: the last axis has another size.
    """
    array = real_numbers(values, what)
    if array.ndim == 0 or array.shape[-1] != n:
        raise SizeError(what, n, array.size if array.ndim == 1 else array.shape, hint)
    return array


def one_vector(array: Vector, what: str) -> Vector:
    """An array that has been read, if it has one axis.

    Raises:
        SizeError: it has leading axes.
    """
    if array.ndim != 1:
        raise SizeError(what, "one vector", array.shape)
    return array


def leading_axes(a: Vector, b: Vector, space: str) -> tuple[int, ...]:
    """The leading axes that two arrays have together.

    Raises:
        SizeError: they do not broadcast.
    """
    try:
        return np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    except ValueError:
        raise SizeError(f"leading axes of points and vectors of {space}", a.shape[:-1], b.shape[:-1]) from None


def receiver(e: Any, jacobian: Any, n: int) -> None:
    """Refuse arrays to which an error of n numbers and its derivative cannot be written.

    Raises:
        WrongObjectError: no float64 array.
        SizeError: not (n,), or not n rows.
    """
    asked = [("e of error", e, f"({n},)", 1)]
    asked += [] if jacobian is None else [("jacobian of error", jacobian, f"({n}, columns)", 2)]
    for what, array, shape, axes in asked:
        if not is_float64(array):
            raise WrongObjectError(what, f"a float64 array {shape} to be written to", array)
        if array.shape[:1] != (n,) or array.ndim != axes:
            raise SizeError(what, shape, array.shape)


def real_numbers(values: object, what: str, words: str = "", *, finite: bool = False) -> Vector:
    """Read real numbers of any shape, as float64; an array that is one already comes back as it is.

    Args:
        values: what came.
        what: the argument, as the caller knows it.
        words: what is expected, where it may be something else than an array: "a placement, or seven numbers".
        finite: whether NaN and infinity are refused.

    Raises:
        DtypeError: truth values, complex numbers, text, objects, ragged lists, masked entries.
        WrongObjectError: objects and ragged lists, where the words are given.
        NotFiniteError: NaN or infinity, where they are refused.
    """
    array: Vector = _numbers(values, what, words).astype(np.float64, copy=False)
    if finite and not np.isfinite(array).all():
        raise NotFiniteError(what, np.flatnonzero(~np.isfinite(array)).tolist())
    return array


def _numbers(values: Any, what: str, words: str = "") -> Any:
    """An array of integers or of floating-point numbers."""
    refuse_masked(values, what)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        if words:
            raise WrongObjectError(what, words, values) from None
        raise DtypeError(what, f"{_kind_of(values)} ({error})") from error
    if words and array.dtype.kind == "O":
        raise WrongObjectError(what, words, values)
    if array.dtype.kind not in "iuf":
        said = repr(array.flat[0].item()) if array.dtype.kind == "U" and array.size else array.dtype
        raise DtypeError(what, _kind_of(values) if array.dtype.kind == "O" else said)
    return array


def refuse_masked(values: Any, what: str) -> None:
    """Refuse masked arrays of numpy with an entry that is masked, alone or in a list: its number would count.

    Raises:
        DtypeError: one of them; says how numbers are made of it.
    """
    if type(values) is np.ndarray:
        return
    for entry in cast("Any", values) if isinstance(values, list | tuple) else (values,):
        if isinstance(entry, _MASKED):
            where = np.flatnonzero(np.ma.getmaskarray(entry)).tolist()
            if where:
                raise DtypeError(what, f"a masked array without numbers at {where} (array.filled(number) gives some)")


def _kind_of(values: Any) -> str:
    """The type of what is no array of numbers, in words, and where its numbers are if it has any."""
    name = type(values).__name__
    if isinstance(values, Mapping):
        return f"{name} (for a robot, robot.configuration(values) converts values by joint)"
    entries: list[Any] = list(getattr(values, "flat", ()))
    odd = [entry for entry in entries if not isinstance(entry, int | float)]
    if odd:
        return f"{name} of {type(odd[0]).__name__}"
    return f"{name}, whose numbers are its q" if isinstance(getattr(values, "q", None), np.ndarray) else name


def truth_values(values: object, what: str, words: str) -> BoolVector:
    """Read truth values, also as 0 and 1.

    Raises:
        WrongObjectError: anything else; the words say what is expected, a number that is none is named.
        DtypeError: a masked array with an entry that is masked.
    """
    refuse_masked(values, what)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise WrongObjectError(what, words, values) from None
    kind = array.dtype.kind
    if kind not in "biuf" or (kind == "f" and not array.size):
        raise WrongObjectError(what, words, values)
    wrong = ~np.isin(array, (0, 1))
    if wrong.any() or kind == "f":
        where = np.unravel_index(np.argmax(wrong), array.shape)  # the first one, of floats alone too
        at = f" at {', '.join(map(str, where))}" if where else ""
        raise WrongObjectError(what, words, f"{array[where].item()!r}{at}")
    return array.astype(np.bool_)


def integers(values: Any, what: str, words: str = "a sequence of integers") -> list[int]:
    """Read a sequence of integers; truth values are none, and a mapping is no sequence.

    Raises:
        WrongObjectError: anything else; the words say what is expected.
    """
    if isinstance(values, Mapping):
        raise WrongObjectError(what, words, "a mapping")
    try:
        entries = list(values)
        numbers = [index(entry) for entry in entries]
    except TypeError as error:
        raise WrongObjectError(what, words, repr(values)) from error
    if any(type(entry) is bool for entry in entries):
        raise WrongObjectError(what, words, repr(values))
    return numbers


def is_function(candidate: object) -> bool:
    """Whether it is a Python function, or can be called like one; a space has a `__call__`, which only refuses."""
    return callable(candidate) and not getattr(type(candidate), "_refuses_calls", False)


def as_callable(candidate: _T, what: str, words: str) -> _T:
    """Take a Python function, or what can be called like one, from a user.

    Raises:
        WrongObjectError: anything else; the words say what is expected.
    """
    if not is_function(candidate):
        raise WrongObjectError(what, words, candidate)
    return candidate


def as_path(candidate: str | PathLike[str], what: str, words: str) -> str:
    """Take a path from a user, as text.

    Raises:
        WrongObjectError: anything else; the words say what is expected.
    """
    try:
        text = fspath(candidate)
    except TypeError:
        raise WrongObjectError(what, words, candidate) from None
    return expect(text, str, what, words)


def natural_number(n: SupportsIndex, what: str) -> int:
    """Read a number of dimensions or of copies.

    Raises:
        SizeError: not an integer, or below zero.
    """
    try:
        number = index(n)
    except TypeError as error:
        raise SizeError(what, "an integer", repr(n)) from error
    if isinstance(n, bool):
        raise SizeError(what, "an integer", repr(n))
    if number < 0:
        raise SizeError(what, "0 or more", number)
    return number


def as_name(candidate: object, what: str) -> str:
    """Take a name from a user.

    Raises:
        WrongObjectError: no string.
    """
    return expect(candidate, str, what, "a string")


def as_label(candidate: object, what: str) -> str:
    """Take a name that something is found by, which may not be empty.

    Raises:
        WrongObjectError: no string, or an empty one.
    """
    words = "a string that is not empty"
    name = expect(candidate, str, what, words)
    if not name:
        raise WrongObjectError(what, words, "an empty one")
    return name


def is_one_of(candidate: object, names: Sequence[str]) -> TypeGuard[str]:
    """Whether it is one of some names; an array, which compares its entries, is none."""
    return isinstance(candidate, str) and candidate in names


def as_flag(candidate: object, what: str) -> bool:
    """Take True or False from a user; 0 and 1 are refused.

    Raises:
        WrongObjectError: anything else.
    """
    if not isinstance(candidate, _FLAGS):
        raise WrongObjectError(what, "True or False", repr(candidate))
    return bool(candidate)


def is_finite_number(candidate: object) -> TypeGuard[float]:
    """Whether it is one real number, neither NaN nor infinite; a truth value is none."""
    number: Any = candidate
    return isinstance(candidate, _REAL_NUMBERS) and not isinstance(candidate, bool) and isfinite(number)


def as_tolerance(candidate: object, what: str) -> float:
    """Take a number that is not negative from a user.

    Raises:
        WrongObjectError: no number, below zero, or NaN.
    """
    number: Any = candidate
    if isinstance(candidate, bool) or not isinstance(candidate, _REAL_NUMBERS) or not number >= 0:
        raise WrongObjectError(what, "a number that is not negative", repr(candidate))
    return float(number)


def as_tuple(candidate: Iterable[_T], what: str, entries: str, *, ordered: bool = True) -> tuple[_T, ...]:
    """Take a sequence, or anything else that can be iterated over; text and mappings are not taken for sequences.

    Args:
        candidate: what came.
        what: the argument, as the caller knows it.
        entries: what it holds, in words.
        ordered: whether their order matters: it differs from run to run in a set.

    Raises:
        WrongObjectError: text, a mapping, what cannot be iterated over, or a set where the order matters.
    """
    expected = f"a sequence of {entries}"
    if isinstance(candidate, str | bytes | Mapping):
        raise WrongObjectError(what, expected, "text" if isinstance(candidate, str) else candidate)
    if ordered and isinstance(candidate, set | frozenset):
        raise WrongObjectError(what, f"{expected}, in order", f"a {type(candidate).__name__}, which has none")
    try:
        return tuple(candidate)
    except TypeError as error:
        raise WrongObjectError(what, expected, candidate) from error


def as_mapping(candidate: Mapping[_K, _T], what: str, entries: str) -> Mapping[_K, _T]:
    """Take a mapping from a user.

    Raises:
        WrongObjectError: anything else.
    """
    expect(candidate, Mapping, what, f"a mapping {entries}")
    return candidate


def refuse_repeated(names: Sequence[str], kind: str) -> None:
    """Refuse names of which one stood before; `kind` is what is named."""
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DuplicateNameError(kind, name)
