"""Sequences of transitions from a start to a goal, the cheapest first; what has failed costs more."""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple, final

from .marks import Action, Place, Places

PENALTY = 1.0
"""Cost, in transitions, that each failure of an action adds to it."""
MOST_PLACES = 100_000
"""Places that one search for a sequence looks at."""


class Step(NamedTuple):
    """An action, and where it begins."""

    place: Place
    action: Action


@final
class Sequences:
    """Cheapest sequences of one task (uniform cost search; Dijkstra 1959), found lazily.

    Args:
        places: of the task.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._penalties: defaultdict[tuple[Place, str, Place], float] = defaultdict(float)
        self._known: dict[Place, tuple[Action, ...]] = {}

    def cheapest(self) -> tuple[Step, ...] | None:
        """The cheapest sequence now; None where none leads to the goal."""
        places, order = self._places, count()
        ahead: list[tuple[float, int, Place, tuple[Step, ...]]] = [(0.0, next(order), places.start, ())]
        done = set[Place]()
        while ahead and len(done) < MOST_PLACES:
            cost, _, place, steps = heappop(ahead)
            if place in done:
                continue
            if places.is_goal(place):
                return steps
            done.add(place)
            for action in self._actions(place):
                if action.to not in done:
                    step = Step(place, action)
                    heappush(ahead, (cost + 1.0 + self._penalties[_key(step)], next(order), action.to, (*steps, step)))
        return None

    def _actions(self, place: Place) -> tuple[Action, ...]:
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = tuple(self._places.actions(place))
        return found

    def failed(self, step: Step) -> None:
        """Let a step cost more."""
        self._penalties[_key(step)] += PENALTY


def _key(step: Step) -> tuple[Place, str, Place]:
    return step.place, step.action.transition.name, step.action.to
