"""When, within a step of a motion, its events happen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...robot import Motion
from .events import Change, Event, Watch

TIME = 1e-9
"""How well the time of an event is known [s]."""

WITHIN = (0.11, 0.29, 0.5, 0.71, 0.89)
"""Parts of a step at which event functions are looked at; uneven, for functions that oscillate."""


class TakenStep(NamedTuple):
    """A step that was taken.

    Attributes:
        t, h: time of its start and its duration [s].
        end: the motion at its end.
        at: the motion a time s after its start, as well as the step is known.
        near: the same, quickly, to tell where to look.
    """

    t: float
    h: float
    end: Motion
    at: Callable[[float], Motion]
    near: Callable[[float], Motion]


class Changes(NamedTuple):
    """The events of a step, and what they changed.

    Attributes:
        times: (s, i), event i happened a time s after the start of the step; in order.
        values: of the functions at the end.
        often: events that changed their sign more than once, but for those whose first change ends the step.
    """

    times: list[tuple[float, int]]
    values: list[float]
    often: list[int]


def changes_in(events: Sequence[Event], watch: Watch, piece: TakenStep) -> Changes:
    """The events of a step."""
    values = [event.value(piece.t + piece.h, piece.end) for event in events]
    times, often = list[tuple[float, int]](), list[int]()
    parts = [part * piece.h for part in WITHIN]
    motions = [piece.near(s) for s in parts] if events else []
    for i, event in enumerate(events):
        seen = [event.value(piece.t + s, motion) for s, motion in zip(parts, motions, strict=True)]
        found = watch.changes(i, [*seen, values[i]])
        if found and found[0].place < len(parts):
            seen = [event.value(piece.t + s, piece.at(s)) for s in parts]
            found = watch.changes(i, [*seen, values[i]])
        often += [i] if len(found) > 1 and not (event.acts and found[0].counts) else []
        times += [(_time_of(event, change, piece, seen), i) for change in found if change.counts]
    return Changes(sorted(times), values, often)


def _time_of(event: Event, change: Change, piece: TakenStep, seen: Sequence[float]) -> float:
    """When in a step a function changes its sign, from its values within the step [s]."""
    marks = [0.0, *(part * piece.h for part in WITHIN), piece.h]
    ahead = [k + 1 for k in range(change.place) if change.side * seen[k] > 0.0]

    def is_behind(s: float) -> bool:
        return change.side * event.value(piece.t + s, piece.at(s)) <= change.level

    return bisected(is_behind, marks[max(ahead, default=0)], marks[change.place + 1])


def bisected(happened: Callable[[float], bool], before: float, after: float) -> float:
    """The first time in (before, after] at which something has happened, to 1e-9; it has at the end of it."""
    while after - before > TIME:
        middle = 0.5 * (before + after)
        if not before < middle < after:
            break
        if happened(middle):
            after = middle
        else:
            before = middle
    return after
