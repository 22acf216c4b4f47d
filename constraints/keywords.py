"""Arguments by name that a function does not have: a typed error with the nearest names, and what is meant."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from .errors import UnknownNameError

__all__ = ["names_checked"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def names_checked(**meant: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A function that answers an argument it does not have with its own names.

    The signature stays what it is. A look at the names takes time at each call: for constructors and readers.

    Args:
        meant: names of other libraries, and how the same is said here.
    """

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        own = tuple(name for name in signature(function).parameters if name not in ("self", "cls"))

        @wraps(function)
        def checked(*given: _P.args, **named: _P.kwargs) -> _T:
            for name in named:
                if name not in own:
                    who: Any = getattr(function, "__qualname__", "function").removesuffix(".__init__")
                    words = f"{who} has no argument '{name}'" + (f": {meant[name]}" if name in meant else "")
                    raise UnknownNameError(f"argument of {who}", name, own, words)
            return function(*given, **named)

        return checked

    return decorate
