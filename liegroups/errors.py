"""Errors for bad input: each names the culprit, what was expected and what came, and keeps them as data.

`ConstraintError` is the base of every error that `liegroups` and `constraints` raise. It lives in this package because
this is the lowest floor, which may import nothing of the other; ``constraints.errors`` hands it out again.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import Any


def _rebuild(kind: Callable[..., Exception], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Exception:
    return kind(*arguments, **keywords)


class ConstraintError(ValueError):
    """Base of every error raised for bad input by `liegroups` and by `constraints`.

    It is defined here, on the lowest floor, and handed out by ``constraints.errors``. Children keep their data as
    attributes and pickle whatever the signature of their constructor, because the arguments it was called with are
    kept and used to build the copy.
    """

    def __new__(cls, *arguments: Any, **keywords: Any) -> ConstraintError:  # noqa: D102
        error = super().__new__(cls, *arguments)
        error._arguments, error._keywords = arguments, keywords
        return error

    _arguments: tuple[Any, ...]
    _keywords: dict[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild by calling the constructor again, then restore attributes and notes."""
        return _rebuild, (type(self), self._arguments, self._keywords), self.__dict__


class SizeError(ConstraintError):
    """An array has the wrong number of entries.

    Args:
        what: the array, as the caller knows it.
        expected: number of entries, or shape, that was expected.
        received: number of entries, or shape, that came.
        hint: why that many, in words.
    """

    def __init__(self, what: str, expected: object, received: object, hint: str = "") -> None:
        super().__init__(f"{what}: expected size {expected}, received {received}" + (f" ({hint})" if hint else ""))
        self.what, self.expected, self.received = what, expected, received


class DtypeError(ConstraintError):
    """Numbers were expected, and something else came (truth values, complex numbers, strings, objects).

    Args:
        what: the array, as the caller knows it.
        received: dtype, or description, of what came.
    """

    def __init__(self, what: str, received: object) -> None:
        super().__init__(f"{what}: expected real numbers (float64), received {received}")
        self.what, self.received = what, received


class NotFiniteError(ConstraintError):
    """An array holds NaN or infinity.

    Args:
        what: the array, as the caller knows it.
        where: positions of the offending entries.
        words: what is expected and came, where infinity is accepted.
    """

    def __init__(
        self, what: str, where: Sequence[int], words: str = "expected finite numbers, received NaN or infinity at {}"
    ) -> None:
        self.what, self.where = what, tuple(int(i) for i in where)
        super().__init__(f"{what}: {words.format(list(self.where))}")


FAR_FROM_UNIT = 0.1
"""A unit block whose norm is further from 1 is not rounded: other numbers stand there."""


class NotNormalizedError(ConstraintError):
    """A block that must have unit norm, as a quaternion, has another one.

    Args:
        what: the array, as the caller knows it.
        block_name: the block inside it, with its place.
        norm: the norm it has.
        words: what else to say of it, as of a matrix that a division does not mend.
    """

    def __init__(self, what: str, block_name: str, norm: float, words: str = "") -> None:
        mend = "divide it by its norm" if norm > 0.0 else "the zero vector has no direction"
        if norm > 0.0 and abs(norm - 1.0) > FAR_FROM_UNIT and "quaternion" in block_name:
            mend = f"is the order x y z w, after x y z in a pose? If it is, {mend}"
        said = words or f"must have norm 1, its norm is {norm:.9g}; {mend}"
        super().__init__(f"{what}: {block_name} {said}")
        self.what, self.block_name, self.norm = what, block_name, norm


class OperatorError(ConstraintError, TypeError):
    """An operator, an index or a call that a thing does not have.

    Args:
        what: as it was written, `f[2]`.
        here: how the same is said.
    """

    def __init__(self, what: str, here: str) -> None:
        super().__init__(f"{what} is not defined: {here}")
        self.what, self.here = what, here


class SpaceMismatchError(ConstraintError):
    """A value belongs to another space than the one expected.

    Args:
        what: the value, as the caller knows it.
        expected: space (or its name) that was expected.
        received: space (or its name) that came.
    """

    def __init__(self, what: str, expected: object, received: object) -> None:
        super().__init__(f"{what}: expected the space {expected}, received {received}")
        self.what, self.expected, self.received = what, expected, received


class OverlapError(ConstraintError):
    """Coordinates meet where they must not, or cut a factor in two.

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
    """An object of another kind came: `expected` and `received` are descriptions.

    Args:
        what: the argument, as the caller knows it.
        expected: what it takes, in words.
        received: what came; an object stands for its type, a class for itself.
    """

    def __init__(self, what: str, expected: str, received: object) -> None:
        self.what, self.expected = what, expected
        if isinstance(received, type):
            received = f"the class {received.__name__} itself, no object of it: {received.__name__}(...)"
        self.received = received if isinstance(received, str) else type(received).__name__
        self._arguments, self._keywords = (what, expected, self.received), {}  # the object itself may not travel
        super().__init__(f"{what}: expected {expected}, got {self.received}")


class UnknownNameError(ConstraintError):
    """Nothing has this name; the message lists the valid names that come closest.

    Args:
        kind: what was looked for ("factor", "frame").
        name: the name that came.
        valid: the names that exist.
        words: what to say instead of that nothing has the name.
    """

    def __init__(self, kind: str, name: object, valid: Sequence[str], words: str = "") -> None:
        self.kind, self.name, self.valid = kind, name, tuple(valid)
        self.nearest = tuple(difflib.get_close_matches(str(name), self.valid, n=5, cutoff=0.5))
        if self.nearest:
            hint = f"the nearest names are {', '.join(self.nearest)}"
        elif self.valid:
            more = f", and {len(self.valid) - 40} more" if len(self.valid) > 40 else ""
            hint = f"the valid names are {', '.join(self.valid[:40])}{more}"
        else:
            hint = f"there is no {kind} at all"
        super().__init__(f"{words or f'no {kind} is named {name!r}'}; {hint}")
