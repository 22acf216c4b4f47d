"""Errors for bad input: each names the culprit, what was expected and what was received, and keeps them as data.

`ConstraintError` is the base of every error that `liegroups` and `constraints` raise. It lives in this package because
this package may not import the other; ``constraints.errors`` exports it again.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any


def _rebuild(kind: Callable[..., Exception], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Exception:
    return kind(*arguments, **keywords)


class ConstraintError(ValueError):
    """Base of every error raised for bad input by `liegroups` and by `constraints`.

    It is defined here and exported by ``constraints.errors`` too. Subclasses keep their data as attributes. They can be
    pickled whatever the signature of their constructor: its arguments are kept and used to build the copy.
    """

    def __new__(cls, *arguments: Any, **keywords: Any) -> ConstraintError:  # noqa: D102
        error = super().__new__(cls, *arguments)
        error._arguments, error._keywords = arguments, keywords
        return error

    _arguments: tuple[Any, ...]
    _keywords: dict[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._arguments, self._keywords), self.__dict__


class SizeError(ConstraintError):
    """An array has the wrong number of entries.

    Args:
        what: the array, as the caller knows it.
        expected: number of entries, or shape, that was expected.
        received: number of entries, or shape, that was received.
        hint: why this size is expected, in words.
    """

    def __init__(self, what: str, expected: object, received: object, hint: str = "") -> None:
        super().__init__(f"{what}: expected size {expected}, received {received}" + (f" ({hint})" if hint else ""))
        self.what, self.expected, self.received = what, expected, received


class DtypeError(ConstraintError):
    """Numbers were expected, something else was received (booleans, complex numbers, strings, objects).

    Args:
        what: the array, as the caller knows it.
        received: dtype or description of the received value.
    """

    def __init__(self, what: str, received: object) -> None:
        super().__init__(f"{what}: expected real numbers (float64), received {received}")
        self.what, self.received = what, received


class NotFiniteError(ConstraintError):
    """An array holds NaN or infinity.

    Args:
        what: the array, as the caller knows it.
        where: positions of the offending entries.
        words: the message, if infinity is accepted.
    """

    def __init__(
        self, what: str, where: Sequence[int], words: str = "expected finite numbers, received NaN or infinity at {}"
    ) -> None:
        self.what, self.where = what, tuple(int(i) for i in where)
        super().__init__(f"{what}: {words.format(list(self.where))}")


FAR_FROM_UNIT = 0.1
"""A unit block whose norm is further from 1 is not rounded: other numbers stand there."""


class NotNormalizedError(ConstraintError):
    """A block that must have unit norm, for example a quaternion, has another norm.

    Args:
        what: the array, as the caller knows it.
        block_name: the block inside it, with its place.
        norm: its norm.
        words: another message, if dividing by the norm does not help (matrices).
    """

    def __init__(self, what: str, block_name: str, norm: float, words: str = "") -> None:
        mend = "divide it by its norm" if norm > 0.0 else "the zero vector has no direction"
        if norm > 0.0 and abs(norm - 1.0) > FAR_FROM_UNIT and "quaternion" in block_name:
            mend = f"is the order x y z w, after x y z in a pose? If it is, {mend}"
        said = words or f"must have norm 1, its norm is {norm:.9g}; {mend}"
        super().__init__(f"{what}: {block_name} {said}")
        self.what, self.block_name, self.norm = what, block_name, norm


class OperatorError(ConstraintError, TypeError):
    """An object does not support this operator, index or call.

    Args:
        what: the expression, as `f[2]`.
        here: what to use instead.
    """

    def __init__(self, what: str, here: str) -> None:
        super().__init__(f"{what} is not defined: {here}")
        self.what, self.here = what, here


class SpaceMismatchError(ConstraintError):
    """A value belongs to another space than the one expected.

    Args:
        what: the value, as the caller knows it.
        expected: space (or its name) that was expected.
        received: space (or its name) that was received.
    """

    def __init__(self, what: str, expected: object, received: object) -> None:
        super().__init__(f"{what}: expected the space {expected}, received {received}")
        self.what, self.expected, self.received = what, expected, received


class OverlapError(ConstraintError):
    """Blocks of coordinates overlap, or cut a factor in two.

    Args:
        what: the coordinates, as the caller knows them.
        where: the place, in words: the factor that is cut, the coordinates that are shared.
        indices: the tangent coordinates concerned.
    """

    def __init__(self, what: str, where: str, indices: Sequence[int] = ()) -> None:
        self.what, self.where, self.indices = what, where, tuple(int(i) for i in indices)
        at = f" (tangent coordinates {list(self.indices)})" if self.indices else ""
        super().__init__(f"{what}: {where}{at}")


class EmptyIntervalError(ConstraintError):
    """A lower bound is above its upper bound.

    Args:
        what: the coordinate, as the caller knows it.
        lower: its lower bound.
        upper: its upper bound.
    """

    def __init__(self, what: str, lower: float, upper: float) -> None:
        super().__init__(f"{what}: the lower bound {lower:.9g} is above the upper bound {upper:.9g}")
        self.what, self.lower, self.upper = what, lower, upper


class DuplicateNameError(ConstraintError):
    """A name that must be unique is used twice.

    Args:
        kind: what is named ("factor", "frame").
        name: the name.
    """

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"more than one {kind} is named {name!r}")
        self.kind, self.name = kind, name


class WrongObjectError(ConstraintError):
    """An argument has the wrong type: `expected` and `received` describe the types.

    Args:
        what: the argument, as the caller knows it.
        expected: what it accepts, in words.
        received: the object (its type is shown; NaN and infinities as they are), a class, or a description.
    """

    def __init__(self, what: str, expected: str, received: object) -> None:
        self.what, self.expected = what, expected
        if isinstance(received, float) and not isfinite(received):
            received = str(received)
        if isinstance(received, type):
            received = f"the class {received.__name__} itself, not an object of it: write {received.__name__}(...)"
        self.received = received if isinstance(received, str) else type(received).__name__
        self._arguments, self._keywords = (what, expected, self.received), {}  # the object itself may not travel
        super().__init__(f"{what}: expected {expected}, got {self.received}")


class UnknownNameError(ConstraintError):
    """Nothing has this name; the message lists the valid names that come closest.

    Args:
        kind: what was looked for ("factor", "frame").
        name: the name that was given.
        valid: the names that exist.
        words: another message than the usual one.
        search: False leaves out the names that come closest, which take time to find: for the hundredth mistake of one
            file.
    """

    def __init__(self, kind: str, name: object, valid: Sequence[str], words: str = "", *, search: bool = True) -> None:
        self.kind, self.name, self.valid = kind, name, tuple(valid)
        self.nearest = tuple(nearest_names(str(name), self.valid)) if search else ()
        if not search:
            super().__init__(words or f"no {kind} is named {_short(name)}, a name is expected that is there")
            return
        if self.nearest:
            hint = f"the nearest names are {', '.join(self.nearest)}"
        elif self.valid:
            more = f", and {len(self.valid) - 40} more" if len(self.valid) > 40 else ""
            shown = [word if len(word) <= LONGEST_NAME else f"{word[:LONGEST_NAME]}..." for word in self.valid[:40]]
            hint = f"the valid names are {', '.join(shown)}{more}"
        else:
            hint = "there are none at all"
        super().__init__(f"{words or f'no {kind} is named {_short(name)}'}; {hint}")


LONGEST_NAME = 200
"""Characters of a name up to which it is compared with others: the time goes with the product of their lengths."""


def nearest_names(name: str, valid: Sequence[str], n: int = 5, cutoff: float = 0.5) -> list[str]:
    """The names that come closest; none for one that is too long to be a slip of the pen."""
    if len(name) > LONGEST_NAME:
        return []
    able: list[str] = []
    for word in valid:  # equal letters bound the likeness from above, and are counted in a fraction of the time
        size = min(len(word), len(name))
        if len(word) <= LONGEST_NAME and 2 * size >= cutoff * (len(word) + len(name)):
            alike = min(size, sum(map(word.__contains__, name)))
            if 2 * alike >= cutoff * (len(word) + len(name)):
                able.append(word)
    return difflib.get_close_matches(name, able, n, cutoff) if able else []


def _short(name: object) -> str:
    """A name in a message: its beginning, where it is very long."""
    text = repr(name)
    return text if len(text) <= 2 * LONGEST_NAME else f"{text[:LONGEST_NAME]}... ({len(text)} characters)"
