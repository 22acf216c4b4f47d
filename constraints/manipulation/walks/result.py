"""What a walk gives back: how far it came, and why it ended there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING, final

from ...collisions.model import Collision
from ...collisions.words import always_in_words
from ...paths.interpolation import Interpolation
from ...paths.path import Path
from ...paths.with_path import WithPath
from ...words import counted

if TYPE_CHECKING:
    from ..states import Transition
    from ..targets import TargetConfiguration

SHOWN = 4
"""So many of the reasons why tries were given up are told, the most common first; `describe(details=True)` has all."""
APART = "on two leaves"
"""End of the reason why a motion has no path at all: its ends differ in what stays constant between them."""
MEET = (
    "ends on two leaves cannot be joined, and drawn ones share a leaf by chance only: with `goal=` give the handle a "
    "mask that fixes all rows, or draw the last target yourself, `graph.target('..._ls', q, guess, leaf=goal)`"
)
"""What to do about such ends."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Walk(WithPath):
    """Result of a walk. It is neither true nor false (`if walked:` raises): `success` says whether it reached its end.

    Attributes:
        path: from the start to the goal; on failure as far as the best try got; None if it got nowhere.
        transitions: the given sequence.
        done: number of transitions that were walked.
        tries: number of targets drawn.
        refusals: why tries failed, and how often.
        cases: the last failure for each of these reasons, a TargetConfiguration or an Interpolation, if there is one.
        start_collisions: after a failure by collisions, the pairs that already collide at the start.
        always_colliding: after such a failure, the pairs that collide wherever the robot is
            (`CollisionModel.always_colliding`).
        on: for each piece of the path the transition that it is a part of; where that leads through waypoint states,
            its inner transition.
    """

    path: Path | None
    transitions: tuple[Transition, ...]
    done: int
    tries: int
    refusals: Counter[str] = field(default_factory=lambda: Counter[str]())
    cases: Mapping[str, TargetConfiguration | Interpolation] = field(default_factory=lambda: {}, repr=False)
    start_collisions: tuple[Collision, ...] = ()
    always_colliding: tuple[tuple[str, str], ...] = ()
    on: tuple[Transition, ...] = ()

    @property
    def success(self) -> bool:
        """Whether the whole sequence was walked."""
        return self.path is not None and self.done == len(self.transitions)

    def describe(self, details: bool = False) -> str:
        """The walk in words: how far it got, the most common reasons why tries failed, and a case.

        Ends on two leaves come first, however rare: more targets do not help there.

        Args:
            details: a line for each transition and each reason, and the last failure in full for each.
        """
        lines = [self._came, *(self._details() if details else self._summary())]
        return "\n".join([*lines, *(f"  {sentence}" for sentence in self._hindrances())])

    @property
    def _came(self) -> str:
        steps, targets = counted(len(self.transitions), "transition"), counted(self.tries, "target")
        return f"{self.done} of {steps} after {targets}"

    @property
    def _reasons(self) -> list[tuple[str, int]]:
        """Reasons and counts: ends on two leaves, then the others, the most common first."""
        return sorted(self.refusals.most_common(), key=lambda each: not each[0].endswith(APART))

    def _said(self, reason: str) -> str:
        """A reason with the constraint that its last case misses, and how far, where paths cannot start or end."""
        case = self.cases.get(reason)
        return reason if case is None or not case.off else f"{reason} ({case.off})"

    def _summary(self) -> Iterator[str]:
        """Transitions by how they went, reasons, and a case of the first."""
        parts = {"walked": slice(0, self.done), "failed": slice(self.done, self.done + 1)}
        for word, part in (parts | {"not reached": slice(self.done + 1, None)}).items():
            names = [f"'{step}'" for step in self.transitions[part]]
            yield from [f"  {word}: {', '.join(names)}"] if names else []
        for reason, count in self._reasons[:SHOWN]:
            yield f"  failed {_times(count)}: {reason}"
        others = [count for _, count in self._reasons[SHOWN:]]
        if others:
            yield f"  failed {_times(sum(others))}: {counted(len(others), 'other reason')} (describe(details=True))"
        for reason, _ in self._reasons[:1] if not self.success else ():
            if reason in self.cases:
                yield f"  the last time: {self.cases[reason]}"

    def _details(self) -> Iterator[str]:
        """Each transition, each reason, each case."""
        for i, step in enumerate(self.transitions):
            yield f"  '{step}': {'walked' if i < self.done else 'failed' if i == self.done else 'not reached'}"
        for reason, count in self._reasons:
            yield f"  failed {_times(count)}: {reason}"
        for reason, _ in self._reasons if not self.success else ():
            if reason in self.cases:
                yield f"  {reason}, the last time:"
                yield indent(self.cases[reason].describe(), "    ")

    def _hindrances(self) -> list[str]:
        """What collides whatever the walk does, and leaves that are met by chance only."""
        apart = not self.success and any(reason.endswith(APART) for reason in self.refusals)
        met = [f"{pair.a} collides with {pair.b}" for pair in self.start_collisions]
        return [
            *([MEET] if apart else []),
            *([f"the start is in collision: {', '.join(met)}"] if met else []),
            *([always_in_words(self.always_colliding)] if self.always_colliding else []),
        ]

    def __str__(self) -> str:
        why = "; ".join(f"{self._said(reason)}: {count}" for reason, count in self._reasons[:SHOWN])
        more = len(self.refusals) - SHOWN
        why += f"; and {counted(more, 'other reason')}" if more > 0 else ""
        return "; ".join([f"{self._came} ({why})" if why else self._came, *self._hindrances()])

    def __repr__(self) -> str:
        return f"Walk({self._came})"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
