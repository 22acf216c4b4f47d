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
    values = _values(events, piece.t + piece.h, piece.end)
    times, often = list[tuple[float, int]](), list[int]()
    parts = [part * piece.h for part in WITHIN]
    near = [_values(events, piece.t + s, piece.near(s)) for s in parts] if events else []
    for i, event in enumerate(events):
        seen = [row[i] for row in near]
        found = watch.changes(i, [*seen, values[i]])
        if found and found[0].place < len(parts):
            seen = [event.value(piece.t + s, piece.at(s)) for s in parts]
            found = watch.changes(i, [*seen, values[i]])
        often += [i] if len(found) > 1 and not (event.acts and found[0].counts) else []
        times += [(_time_of(event, change, piece, [*seen, values[i]]), i) for change in found if change.counts]
    return Changes(sorted(times), values, often)


def _values(events: Sequence[Event], t: float, motion: Motion) -> list[float]:
    """Of all events at one state, before the next: sides of a floor keep what they see of the last one."""
    return [event.value(t, motion) for event in events]


def _time_of(event: Event, change: Change, piece: TakenStep, seen: Sequence[float]) -> float:
    """When in a step a function changes its sign, from its values within the step and at its end [s]."""
    marks = [0.0, *(part * piece.h for part in WITHIN), piece.h]
    ahead = [k + 1 for k in range(change.place) if change.side * seen[k] > 0.0]
    first, last = max(ahead, default=0), change.place + 1
    start = seen[first - 1] if first else event.value(piece.t, piece.near(0.0))

    def left(s: float) -> float:
        return change.side * event.value(piece.t + s, piece.at(s)) - change.level

    ends = [change.side * value - change.level for value in (start, seen[change.place])]
    times, values = (marks[first], marks[last]), (ends[0], ends[1])
    guess = first_below(lambda s: change.side * event.value(piece.t + s, piece.near(s)) - change.level, times, values)
    before = max(guess - TIME, times[0])
    if before < guess < times[1] and left(guess) <= 0.0 < left(before):
        return guess
    return first_below(left, times, values)


def first_below(left: Callable[[float], float], times: tuple[float, float], values: tuple[float, float]) -> float:
    """The first time of an interval at which a function is not above zero, to 1e-9; it is not at the end of it.

    By secants whose end that stays counts half (the Illinois method: M. Dowell, P. Jarratt, BIT 11, 1971), so near the
    middle of the interval that there are at most four evaluations more than bisection takes, and about eight of a
    smooth function. Root finders of scipy give a point on either side of the change; here it is behind it.

    Args:
        left: the function.
        times: of the interval.
        values: of the function there, or about that: nothing but where it is looked at depends on them.
    """
    (before, after), (high, low) = times, values
    reach, moved = 16.0 * (after - before), 0  # how long the interval may be, and the side that moved last
    while after - before > TIME:
        middle, reach = 0.5 * (before + after), 0.5 * reach
        if not before < middle < after:
            break
        place = middle
        if high > 0.0 >= low:
            spare = min(reach, after - before - TIME) - (middle - before)
            secant = before + (after - before) * (high / (high - low))
            place = min(max(secant, middle - spare), middle + spare) if spare > 0.0 else middle
        value = left(place)
        if value > 0.0:
            before, high, low, moved = place, value, low * (0.5 if moved > 0 else 1.0), 1
        else:
            after, low, high, moved = place, value, high * (0.5 if moved < 0 else 1.0), -1
    return after
