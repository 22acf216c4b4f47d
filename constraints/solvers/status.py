"""Why a projection ended, and the records of its iterates and of its refinement."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from liegroups.arrays import Vector

from ..errors import WrongObjectError


class StatusEnum(Enum):
    """Why something ended: each value is a sentence for humans, and the name what containers show.

    A status is no text: to compare it with one raises, since it would never be equal.
    """

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

    @classmethod
    def _member_meant(cls, text: str) -> str:
        """What to compare with instead of a text."""
        name, kind = text.strip().upper().rpartition(".")[2], cls.__name__
        member = f"{kind}.{name}" if name in cls.__members__ else f"{kind}.NAME, of {', '.join(cls.__members__)}"
        return f"{member} (or ask the result for `success`)"

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class Status(StatusEnum):
    """Why a projection ended. The value is the sentence for humans."""

    CONVERGED = "The configuration satisfies all mandatory constraints and is within its bounds."
    STATIONARY = "No small motion within bounds lowers the error."
    STALLED = "The error stopped falling before it reached the threshold."
    MAX_ITERATIONS = "The budget of iterations ended before the last try did."
    OUT_OF_BOUNDS = "The constraints are satisfied, but by a configuration outside its bounds."
    UNDEFINED = "A function has no value at a configuration that was met."
    LEFT_BRANCH = "The constraints are satisfied, but on another branch than that of the start, or too far from it."


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
    """What `Options(nearest=True)` or `Options(optimise_last=True)` made of a solution.

    Attributes:
        stationarity: part of the gradient of the objective that no active row explains, relative to its terms;
            infinite where a function has no value beside the solution.
        near: the reference of `nearest` (nq,); None with `optimise_last`.
        from_start: whether the reference is the start, none being given.
    """

    stationarity: float
    near: Vector | None
    from_start: bool = False
