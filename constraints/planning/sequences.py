"""Sequences of transitions from a start to a goal, the cheapest first; what has failed costs more."""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple, final

from ..manipulation.states import Transition
from .marks import Move, Site, Sites

PENALTY = 1.0
"""Cost, in transitions, that each failure of an action adds to it."""
PENALTY_WITHOUT_TARGET = 3.0
"""The same where no target of it was ever found: a way round by a regrasp, two transitions longer, comes first then."""
PENALTY_OF_CROWDED = 10.0
"""The same where many targets were found, and something collides at each."""
MOST_PLACES = 100_000
"""Sites that one search for a sequence looks at."""


class PlanStep(NamedTuple):
    """An action, and where it begins."""

    place: Site
    action: Move


@final
class Sequences:
    """Cheapest sequences of one task (uniform cost search; Dijkstra 1959), found lazily.

    Args:
        places: of the task.

    Attributes:
        seen: where the last search for a sequence came.
    """

    def __init__(self, places: Sites) -> None:
        self._places = places
        self.seen = set[Site]()
        self._penalties: defaultdict[tuple[Site, str, Site], float] = defaultdict(float)
        self._known: dict[Site, tuple[Move, ...]] = {}
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

    def _actions(self, place: Site) -> tuple[Move, ...]:
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = tuple(self._places.actions(place))
        return found

    def failed(self, step: PlanStep, has_target: bool, is_crowded: bool = False) -> None:
        """Let a step cost more.

        Args:
            step: which failed.
            has_target: whether a target of it was ever found.
            is_crowded: whether something collides at each of many.
        """
        without = PENALTY_OF_CROWDED if is_crowded else PENALTY_WITHOUT_TARGET
        self._penalties[_key(step)] += without if is_crowded or not has_target else PENALTY

    def strike_out(self, step: PlanStep) -> None:
        """Let no sequence have a step."""
        self._penalties[_key(step)] = inf

    def strike_out_all(self, transition: Transition) -> None:
        """Let no sequence have a transition, wherever it begins."""
        self._out.add(transition.name)


def _key(step: PlanStep) -> tuple[Site, str, Site]:
    return step.place, step.action.transition.name, step.action.to
