"""Functions that a user writes, for laws, events and forces: of a state, or of a state and the time, in this order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import Parameter, signature
from typing import Any, Self, final

import numpy as np

from liegroups.arguments import finite_number, finite_vector
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import set_fields

from ...errors import ConstraintError, WrongObjectError
from ...keywords import can_be_called

LAST = ": the state first, the time last, or left out"
"""The order of arguments, in messages."""

TIME = ("t", "time")
"""Names by which a last argument that has a default is known to be the time."""

HOLDS = "constraint_set"
"""Name of a keyword that gets the constraint set that holds: f(motion, *, constraint_set)."""


class NoTimeError(ConstraintError):
    """A law depends on time, and no time was given: `law`."""

    def __init__(self, law: str) -> None:
        self.law = law
        super().__init__(
            f"{law} depends on time, and no time was given: use `.at(t)` of the force, or of a `Forces` of all of "
            "them, t in seconds; `Forces` called as a function, or given to `simulate`, gets t by itself"
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
        has_set: whether it takes the constraint set that holds, as a keyword of that name.
        keywords: that set, once it is known.
    """

    function: Callable[..., Any]
    what: str
    has_time: bool
    time: float | None = None
    has_set: bool = False
    keywords: Mapping[str, object] = field(default_factory=dict[str, object])

    @classmethod
    def of(cls, function: Any, arguments: tuple[str, ...], what: str, gives: str) -> Law:
        """The law of a function, which is looked at once: it is called with these arguments, or with these and t.

        An argument with a default is taken for the time only if its name is "t" or "time". A function of `*args` alone
        does not tell whether it takes the time, and is refused; so is one whose names say another order, f(t, q, v).

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
        words = f"a function f({call}) or f({call}, t) that returns {gives}"
        if not callable(function) or isinstance(function, type):
            raise WrongObjectError(what, words, function)
        own = _parameters(function)
        has_set = any(each.name == HOLDS and each.kind is Parameter.KEYWORD_ONLY for each in own or ())
        given = partial(function, **{HOLDS: None}) if has_set else function
        without = can_be_called(given, *state)
        by_place = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        places = None if own is None else [each.name for each in own if each.kind in by_place]
        first = [] if places is None else places[: len(state)]
        if any(name in TIME for name in first) or (sorted(first) == sorted(arguments) and first != list(arguments)):
            raise WrongObjectError(what, words + LAST, f"f({', '.join(places or ())})")
        known = places is None or len(places) >= len(state)
        if not known or not (without or can_be_called(given, *state, 0.0)):
            raise WrongObjectError(what, words, getattr(function, "__name__", type(function).__name__))
        is_named = places is not None and len(places) > len(state) and places[len(state)] in TIME
        return cls(function, what, is_named or not without, has_set=has_set)

    def under(self, holds: object) -> Law:
        """The law while a constraint set holds; itself where it takes none."""
        return replace(self, keywords={HOLDS: holds}) if self.has_set else self

    def at(self, t: float) -> Law:
        """The law at a time; itself where it takes none."""
        return replace(self, time=finite_number(t, f"time of {self.what}")) if self.has_time else self

    def __call__(self, *state: object) -> Any:
        """What the function gives.

        Raises:
            NoTimeError: it takes a time, and has none.
        """
        if not self.has_time:
            return self._asked(*state)
        if self.time is None:
            raise NoTimeError(self.what)
        return self.in_time(self.time, *state)

    def _asked(self, *arguments: object) -> Any:
        """Value of the function; an error that it raises gets a note that names it."""
        try:
            return self.function(*arguments, **self.keywords)
        except Exception as error:
            error.add_note(f"raised by the {self.what}")
            raise

    def in_time(self, t: float, *state: object) -> Any:
        """What the function gives at a time t [s].

        Raises:
            WrongObjectError: it took the time for the state.
        """
        if not self.has_time:
            return self._asked(*state)
        try:
            return self._asked(*state, t)
        except AttributeError as error:
            if error.obj is not t:
                raise
            raise WrongObjectError(
                self.what, f"a function f(state, t){LAST}", f"one that asks t for {error}"
            ) from error


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


def plain(q: Any, v: Vector) -> tuple[Any, Any]:
    """Coordinates (nq,) and their rates (nv,) as a user's law takes them: plain numbers where there is one of each.

    A placement, with its twist, is taken too.
    """
    return (float(q[0]), float(v[0])) if v.size == 1 == np.size(q) else (q.copy(), v.copy())


def numbers_of(given: Any, n: int, what: str) -> Vector:
    """Numbers (n,) from a user or his law; a plain number for one.

    Raises:
        SizeError, DtypeError, NotFiniteError: what is wrong with them.
    """
    return finite_vector([finite_number(given, what)] if np.ndim(given) == 0 else given, n, what)


def _parameters(function: Callable[..., object]) -> list[Parameter] | None:
    """Those of a function; None of one written in C that does not tell."""
    try:
        return list(signature(function).parameters.values())
    except ValueError:
        return None
