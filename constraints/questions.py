"""Questions about numbers that look like degrees or millimetres: words, and what is far enough to be asked about.

Nothing is guessed and nothing is changed: whoever reads numbers asks once, in the log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from math import inf, pi
from typing import NamedTuple

import numpy as np

from liegroups import Space
from liegroups.arrays import BoolVector, Vector

from .words import first_of

_log = logging.getLogger(__package__)

TURN = 2.0 * pi
"""Angles up to a whole turn are never asked about [rad]."""
TURNS = 3.0
"""Limits of joints within so many whole turns are not asked about: wrists and winches have some."""
NO_LIMIT = 1e9
"""Limits of at least this size stand for none: files write 1e16, or the largest number."""
FAR_AWAY = 100.0
"""A length so many times as large as what there is is asked about."""
LONG_DISTANCE = 10.0
"""A start of a joint that slides is asked about above this [m]: bounds may be narrow, and starts out of them."""
MANY = 1024
"""Number of questions that are remembered, and of things that were asked about."""
_ASKED: set[str] = set()
"""Those that are."""
SHOWN = 3
"""Number of questions that are asked, where there are several."""


class Coordinate(NamedTuple):
    """A coordinate with two bounds: its name, its bounds, whether it is an angle."""

    name: str
    lower: float
    upper: float
    is_angle: bool

    def question(self, value: float) -> str:
        """What is asked of a value that is wanted; nothing where it is not far outside."""
        outside = max(self.lower - value, value - self.upper)
        turns = self.is_angle and outside > 0.0 and abs(value) > TURN
        return self._asked(value) if outside > self.upper - self.lower or turns else ""

    def question_of_start(self, value: float) -> str:
        """What is asked of a start, which may be out of narrow bounds."""
        outside = max(self.lower - value, value - self.upper)
        far = abs(value) > (TURN if self.is_angle else LONG_DISTANCE)
        return self._asked(value) if far and outside > (0.0 if self.is_angle else self.upper - self.lower) else ""

    def question_of_bound(self, value: float) -> str:
        """What is asked of a new bound, which may be wider: more than some turns, or a hundred times as far."""
        far = TURNS * TURN if self.is_angle else FAR_AWAY * max(abs(self.lower), abs(self.upper))
        outside = max(self.lower - value, value - self.upper)
        return self._asked(value) if outside > 0.0 and far < abs(value) < inf else ""

    def _asked(self, value: float) -> str:
        unit, asked = ("rad", "is it in degrees") if self.is_angle else ("m", "is it in millimetres")
        box = f"[{self.lower:.4g}, {self.upper:.4g}] {unit}"
        return f"{value:.6g} for '{self.name}', whose bounds are {box}: {asked}?"


def coordinate_at(space: Space, lower: Vector, upper: Vector, revolute: BoolVector, q_index: int) -> Coordinate | None:
    """The coordinate at an entry of q, if it is a number with two bounds; continuous and free joints have none.

    Args:
        space: of q.
        lower, upper: (nq,) bounds.
        revolute: (nv,) true for columns that are angles.
        q_index: the entry.
    """
    columns = dict(zip(space.vector_q.tolist(), space.vector_v.tolist(), strict=True))
    low, high = float(lower[q_index]), float(upper[q_index])
    if q_index not in columns or not -inf < low < high < inf:
        return None
    leaf = next(leaf for leaf in space.leaves() if leaf.q.start <= q_index < leaf.q.stop)
    return Coordinate(leaf.name, low, high, bool(revolute[columns[q_index]]))


def asked_of_angles(what: str, angles: Sequence[float]) -> str:
    """What is asked of angles that are placements: more than a whole turn tells nothing more than less."""
    far = max(angles, key=abs, default=0.0)
    return f"{what} is {far:.6g} rad, more than a whole turn: is it in degrees?" if abs(far) > 1.001 * TURN else ""


def asked_of_turns(what: str, angle: float) -> str:
    """What is asked of an angle without bounds: more turns than anybody types.

    Args:
        what: it is, "value of joint 'wheel'".
        angle: [rad].
    """
    far = TURNS * TURN < abs(angle) < inf
    return f"{what}: {angle:.6g} rad, {abs(angle) / TURN:.3g} turns: is it in degrees?" if far else ""


def asked_of_limit(joint: str, *limits: float) -> str:
    """What is asked of limits of an angle [rad]: more turns than wrists and winches have; infinite ones are none."""
    far = max((limit for limit in limits if abs(limit) < NO_LIMIT), key=abs, default=0.0)
    if abs(far) <= TURNS * TURN:
        return ""
    return f"joint '{joint}' has a limit of {far:.6g} rad, {abs(far) / TURN:.3g} turns: in degrees?"


def say(log: logging.Logger, asked: Iterable[str], where: str = "") -> bool:
    """Log one WARNING with the first questions; none where there are none. Returns whether there were some.

    Args:
        log: of the room that asks.
        asked: the questions; empty ones do not count.
        where: begins the line: a file.
    """
    found = [words for words in dict.fromkeys(asked) if words]
    if found:
        before = f"{where}: " if where else ""
        log.warning("%sangles are in radians, lengths in metres; %s", before, "; ".join(first_of(found, SHOWN)))
    return bool(found)


def say_once(log: logging.Logger, asked: Mapping[str, str]) -> bool:
    """The same, about each thing once, whatever its number is."""
    return say(log, [words for thing, words in asked.items() if words and _is_new(thing)])


def ask_once(question: str) -> None:
    """Log a question, the first time that it is asked."""
    if _is_new(question):
        _log.warning("%s", question)


def _is_new(thing: str) -> bool:
    """Whether it is not remembered; it is from now on."""
    if thing in _ASKED:
        return False
    if len(_ASKED) >= MANY:
        _ASKED.clear()
    _ASKED.add(thing)
    return True


def far_entries(q: Vector) -> list[int]:
    """Entries of a configuration that may be asked about; quick where there is none."""
    size = np.abs(q)
    return np.flatnonzero(size > TURN).tolist() if q.size and float(size.max()) > TURN else []
