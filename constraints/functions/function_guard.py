"""What is watched in functions that users write: that they are declared, and that they write what they are given.

A function that forgets to write would leave what was in the memory before, which looks like a value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector

from ..errors import CallError, FunctionError, NotDeclaredError, NotWrittenError, OperatorError

_MARK = np.uint64(0x7FF8_5EED_0DD0_F00D)
UNWRITTEN = float(_MARK.view(np.float64))
"""A NaN with bits of its own, which sums and products keep: no calculation ends in it unless it read it."""

_MASK = "it belongs to the constraint, as Implicit.zero(f, mask=[1, 1, 0])"
_COPY = "work on a copy, q = np.array(point.q)"
_AGAIN = "write each entry with =, for example value[:] = ..., and return nothing"


class _Declared:
    """A field that `declare` sets; before that it answers with what is missing."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, f: object | None, owner: type) -> Any:
        if f is None:
            raise AttributeError(f"{owner.__name__}.{self.name}: it exists only on instances, not on the class")
        raise NotDeclaredError(owner.__name__, self.name)


def declared() -> Any:
    """A field that `Function.declare` sets."""
    return _Declared()


class Answering:
    """What functions do not have, answered in words."""

    if not TYPE_CHECKING:

        def __new__(cls, *_: object, **named: object) -> Any:
            """An object of a class that writes what it must.

            Raises:
                NotWrittenError: names the class and what it does not write.
                CallError: a mask, which belongs to constraints.
            """
            if "mask" in named and "mask" not in signature(cls.__init__).parameters:
                raise CallError(f"{cls.__name__}(..., mask=...)", "a function takes no mask", _MASK)
            if cls.__abstractmethods__:
                raise NotWrittenError(cls.__name__, ", ".join(sorted(cls.__abstractmethods__)))
            return super().__new__(cls)

        def __ge__(self, bound: object) -> NoReturn:
            """Refused: it is a constraint, `Implicit.above`."""
            raise OperatorError(f"{self.name} >= ...", "the constraint is Implicit.above(f, lower)")

        def __le__(self, bound: object) -> NoReturn:
            """Refused: it is a constraint, `Implicit.below`."""
            raise OperatorError(f"{self.name} <= ...", "the constraint is Implicit.below(f, upper)")

        __gt__, __lt__ = __ge__, __le__


def watch(cls: type[Any]) -> None:
    """Let `evaluate` and `drift` of a class say when they forget to write.

    Args:
        cls: a function class; what it inherits is left as it is.
    """
    for name, watched in (("evaluate", _evaluate), ("drift", _drift)):
        own = vars(cls).get(name)
        if callable(own) and not getattr(own, "__isabstractmethod__", False):
            setattr(cls, name, watched(own))


def _evaluate(evaluate: Callable[..., object]) -> Callable[..., None]:
    @wraps(evaluate)
    def watched(f: Any, point: Any, value: Vector, jacobian: Matrix | None = None) -> None:
        value.fill(UNWRITTEN)
        blank = jacobian is not None and not np.count_nonzero(jacobian)  # as new memory is
        before = b""
        if jacobian is not None and blank:
            jacobian[:, f.columns], before = UNWRITTEN, point.q.tobytes()
        try:
            returned = evaluate(f, point, value, jacobian)
        except TypeError as error:
            if jacobian is None and "NoneType" in str(error):
                advice = "write it only `if jacobian is not None:`"
                seen = f"evaluate of {f.name} fails without a Jacobian ({error})"
                raise FunctionError(f.name, seen, advice) from error
            raise
        except ValueError as error:
            if "read-only" in str(error) and not isinstance(error, FunctionError):
                raise FunctionError(f.name, f"evaluate of {f.name} writes into q", _COPY) from error
            raise
        if before and point.q.tobytes() != before:
            raise FunctionError(f.name, f"evaluate of {f.name} writes into q", _COPY)
        if returned is not None or not value.dot(value) < inf:
            _refuse_unwritten(f, "evaluate", "value", value, returned)
        if jacobian is not None and blank:
            _unmark(f, jacobian, f.columns)

    return watched


def _drift(drift: Callable[..., object]) -> Callable[..., None]:
    @wraps(drift)
    def watched(f: Any, motion: Any, out: Vector) -> None:
        out.fill(UNWRITTEN)
        returned = drift(f, motion, out)
        if returned is not None or not out.dot(out) < inf:
            _refuse_unwritten(f, "drift", "drift", out, returned)

    return watched


def _refuse_unwritten(f: Any, method: str, what: str, array: Vector, returned: object) -> None:
    """Refuse what was returned, and entries that were not written; other numbers that are not finite may pass."""
    if returned is not None:
        kind = type(returned).__name__
        raise FunctionError(f.name, f"{method} of {f.name} returns {kind} instead of writing into its array", _AGAIN)
    rows = np.flatnonzero(array.view(np.uint64) == _MARK)
    if rows.size:
        seen = f"row {rows[0]} of the {what} of {f.name} is not written, or is added to the old content"
        raise FunctionError(f.name, seen, _AGAIN)


def _unmark(f: Any, jacobian: Matrix, columns: BoolVector) -> None:
    """Refuse a Jacobian of which nothing was written; entries that were left alone are zero, as they were."""
    left = jacobian.view(np.uint64) == _MARK
    if not left.any():
        return
    if left[:, columns].all():
        advice = "write jacobian[:] = ... if it is not None; do not assign another array to the name `jacobian`"
        raise FunctionError(f.name, f"the Jacobian of {f.name} is not written, or is added to the old content", advice)
    jacobian[left] = 0.0
