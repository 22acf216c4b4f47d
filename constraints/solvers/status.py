"""Why a projection ended, and the records of its iterates and of its refinement."""

from __future__ import annotations

from enum import Enum, EnumMeta
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from liegroups.arrays import Vector

from ..errors import NoAttributeError, TruthValueError, WrongObjectError
from ..foreign_words import STATUSES
from ..keywords import by_word

_MEANT = by_word(STATUSES)


class _Members(EnumMeta):
    """Answers members that do not exist. Python asks it only for what is no attribute of the class."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            """A member (Python 3.11 asks here), or a word on what there is.

            Raises:
                NoAttributeError: lists the members.
            """
            if name.startswith("_"):
                raise AttributeError(name)
            members = cls._member_map_
            if name in members:
                return members[name]
            meant = _MEANT.get(name.upper(), "")
            here = f"`{cls.__name__}.{meant}`" if meant in members else ""
            raise NoAttributeError(cls.__name__, name, tuple(members), here)


class StatusEnum(Enum, metaclass=_Members):
    """Why a computation ended: each value is a sentence for humans; containers show the name.

    A status is not text: comparing it with text raises, because they are never equal. It is neither true nor false:
    `if result.status:` would pass for a failure too. A class names its successes:
    `class MyStatus(StatusEnum, successes=("SOLVED",))`.
    """

    _successes: tuple[str, ...]

    def __init_subclass__(cls, *, successes: tuple[str, ...]) -> None:
        super().__init_subclass__()
        cls._successes = successes

    @property
    def is_success(self) -> bool:
        """Whether the computation did what was asked."""
        return self.name in self._successes

    def __eq__(self, other: object) -> bool:
        """Whether it is the same member.

        Raises:
            WrongObjectError: the other is text; names the member that it means, and `success`.
        """
        if isinstance(other, str):
            raise WrongObjectError(
                f"comparison of a {type(self).__name__} with {other!r}", self._member_meant(other), "text"
            )
        return True if self is other else NotImplemented

    __hash__ = Enum.__hash__

    def __bool__(self) -> NoReturn:
        """Refuse to be true or false.

        Raises:
            TruthValueError: names `success`, and the member to compare with.
        """
        kind = type(self).__name__
        advice = f"`success` of the result, or `status is {kind}.{self._successes[0]}`"
        raise TruthValueError(kind, advice, "a failure would count as true too")

    @classmethod
    def _member_meant(cls, text: str) -> str:
        """What to compare with instead of a text."""
        name, kind = text.strip().upper().rpartition(".")[2], cls.__name__
        member = f"{kind}.{name}" if name in cls.__members__ else f"{kind}.NAME, one of {', '.join(cls.__members__)}"
        return f"{member} (or use `success` of the result)"

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class Status(StatusEnum, successes=("CONVERGED",)):
    """Why a projection ended. The value is a sentence for humans."""

    CONVERGED = "The configuration satisfies all mandatory constraints and is within its bounds."
    STATIONARY = "No small motion within bounds lowers the error."
    STALLED = "The error stopped falling before it reached the threshold."
    MAX_ITERATIONS = "The iteration limit was reached before the last try ended."
    TIME_LIMIT = "The time limit was reached before the search ended."
    OUT_OF_BOUNDS = "The constraints are satisfied, but the configuration is outside its bounds."
    UNDEFINED = "A function has no value, or no Jacobian, at a configuration that the search reached."
    LEFT_BRANCH = "The constraints are satisfied, but on another branch than the start, or too far from it."


class Step(NamedTuple):
    """One iterate of a trace.

    Attributes:
        q: configuration (nq,).
        residual: largest error norm of a constraint.
        restarted: whether this iterate is the first of a new try.
    """

    q: Vector
    residual: float
    restarted: bool


class Refined(NamedTuple):
    """Result of the refinement by `Options(nearest=True)` or `Options(optimise_last=True)`.

    Attributes:
        stationarity: part of the gradient of the objective that no active row explains, relative to its terms;
            infinite if a function has no value next to the solution.
        near: the reference of `nearest` (nq,); None with `optimise_last`.
        from_start: whether the reference is the start, because none was given.
        used_up: whether its iterations ended it.
    """

    stationarity: float
    near: Vector | None
    from_start: bool = False
    used_up: bool = False

    def left(self, tolerance: float) -> str:
        """That it did not finish, in words; empty where it did.

        Args:
            tolerance: `refine_tolerance`.
        """
        if self.stationarity <= tolerance:
            return ""
        return "not the nearest yet" if self.near is not None else "not at its least yet" if self.used_up else ""
