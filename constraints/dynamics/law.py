"""Laws of forces as functions that a user writes: of a state, or of a state and the time."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Any, Self, final

from liegroups.arguments import finite_number
from liegroups.arrays import ArrayLike
from liegroups.frozen import set_fields

from ..errors import ConstraintError, WrongObjectError
from ..keywords import can_be_called

TIME = ("t", "time")
"""Names by which a last argument that has a default is known to be the time."""


class NoTimeError(ConstraintError):
    """A law depends on the time, and none was given: `law`."""

    def __init__(self, law: str) -> None:
        self.law = law
        super().__init__(
            f"{law} depends on the time, and none was given: `.at(t)` of the force, or of a `Forces` with all of them, "
            "is the force at a time [s]; `Forces` as a function, and in `simulate`, takes t itself"
        )


class NoEnergyError(ConstraintError):
    """A force without a potential energy: `force`."""

    def __init__(self, force: str, advice: str) -> None:
        self.force = force
        super().__init__(f"{force} has no potential energy: {advice}")


@final
@dataclass(frozen=True, eq=False)
class Law:
    """A user's function of a state, with the time as a last argument if it takes one.

    Attributes:
        function: called with the state, then the time.
        what: how messages call it.
        has_time: whether it takes the time.
        time: t [s]; None where it is not known yet.
    """

    function: Callable[..., Any]
    what: str
    has_time: bool
    time: float | None = None

    @classmethod
    def of(cls, function: Any, arguments: tuple[str, ...], what: str, gives: str) -> Law:
        """The law of a function, which is looked at once: it is called with these arguments, or with these and t.

        An argument with a default is taken for the time only if its name is "t" or "time".

        Args:
            function: what came.
            arguments: names of the numbers that make the state.
            what: how messages call it.
            gives: what it gives, in words.

        Raises:
            WrongObjectError: it is no function, or one of other arguments.
        """
        state = (None,) * len(arguments)
        call = ", ".join(arguments)
        words = f"a function f({call}) or f({call}, t) that gives {gives}"
        if not callable(function) or isinstance(function, type):
            raise WrongObjectError(what, words, function)
        without = can_be_called(function, *state)
        if not without and not can_be_called(function, *state, 0.0):
            raise WrongObjectError(what, words, getattr(function, "__name__", type(function).__name__))
        return cls(function, what, not without or _has_a_last_time(function, len(state)))

    def at(self, t: float) -> Law:
        """The law at a time; itself where it takes none."""
        return replace(self, time=finite_number(t, f"time of {self.what}")) if self.has_time else self

    def __call__(self, *state: object) -> Any:
        """What the function gives.

        Raises:
            NoTimeError: it takes a time, and has none.
        """
        if not self.has_time:
            return self.function(*state)
        if self.time is None:
            raise NoTimeError(self.what)
        return self.function(*state, self.time)


class InTime:
    """A force whose law may take the time: `at(t)` is the force at a time.

    Attributes:
        _law: the law; None where the force has numbers instead.
    """

    _law: Law | None

    @final
    def at(self, t: float) -> Self:
        """The force at time t [s]: itself where its law takes no time."""
        law = self._law
        if law is None or not law.has_time:
            return self
        other = copy(self)
        set_fields(other, _law=law.at(t))
        return other


def is_function(candidate: ArrayLike | Callable[..., object]) -> bool:
    """Whether a user gave a function where numbers may stand as well."""
    return callable(candidate) and not isinstance(candidate, type)


def _has_a_last_time(function: Callable[..., object], n: int) -> bool:
    """Whether the argument behind the first n may be given by its place, and is called a time."""
    try:
        own = list(signature(function).parameters.values())
    except ValueError:  # written in C, without a signature
        return False
    places = [each for each in own if each.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    return len(places) > n and places[n].name in TIME
