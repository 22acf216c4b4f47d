"""Sequences of transitions from a start to a goal, the cheapest first; what has failed costs more."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple, final

from ..manipulation.states import Transition
from .marks import Move, Site, Sites

MOST_PLACES = 100_000
"""Sites that one search for a sequence looks at."""


class PlanStep(NamedTuple):
    """An action, and where it begins."""

    place: Site
    action: Move


@final
class Sequences:
    """Cheapest sequences of one task (uniform cost search; Dijkstra 1959), found lazily.

    Attributes:
        seen: where the last search for a sequence came.
    """

    def __init__(self, places: Sites) -> None:
        self._places = places
        self.seen = set[Site]()
        self._penalties: defaultdict[tuple[Site, str, Site], float] = defaultdict(float)
        self._actions = cache(places.actions)
        self._out = set[str]()

    def cheapest(self) -> tuple[PlanStep, ...] | None:
        """The cheapest sequence now; None where none leads to the goal."""
        places, order = self._places, count()
        ahead: list[tuple[float, int, Site, tuple[PlanStep, ...]]] = [(0.0, next(order), places.start, ())]
        done = self.seen = set[Site]()
        while ahead and len(done) < MOST_PLACES:
            cost, _, place, steps = heappop(ahead)
            if place in done:
                continue
            if places.is_goal(place):
                return steps
            done.add(place)
            for action in self._actions(place):
                step = PlanStep(place, action)
                penalty = inf if action.transition.name in self._out else self._penalties[_key(step)]
                if action.to not in done and penalty < inf:
                    heappush(ahead, (cost + 1.0 + penalty, next(order), action.to, (*steps, step)))
        return None

    def failed(self, step: PlanStep, penalty: float) -> None:
        """Let a step cost so many transitions more."""
        self._penalties[_key(step)] += penalty

    def strike_out(self, step: PlanStep) -> None:
        """Let no sequence have a step."""
        self._penalties[_key(step)] = inf

    def strike_out_all(self, transition: Transition) -> None:
        """Let no sequence have a transition, wherever it begins."""
        self._out.add(transition.name)


def _key(step: PlanStep) -> tuple[Site, str, Site]:
    return step.place, step.action.transition.name, step.action.to
