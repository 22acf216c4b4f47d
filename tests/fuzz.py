"""Bad inputs, one after the other, each with the culprit that the error must name.

The rooms of `good_calls` state a good call of each public entry point once, and `bad_values` gives its arguments badly,
one at a time. `verdict` says what is wrong with the answer, or None when it is a `ConstraintError` that names the
culprit and what was expected.

    for bad in bad_inputs(seed=0, count=1000):
        assert verdict(bad) is None, bad.label
"""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bad_values import Call, Chaos, Way

from constraints.errors import ConstraintError

ROOMS = ("spaces", "robots", "functions", "rows", "problems", "files", "manipulation", "loops", "dynamics")
"""Modules of `good_calls`. Their functions `of_...` take a function by which they state good calls."""


@dataclass(frozen=True)
class BadInput:
    """A call that must be refused.

    Attributes:
        entry: the public entry point.
        kind: what was given badly, in words.
        call: does it.
        culprits: the message must have one of them.
        seed, number: make it again with `bad_input(seed, number)`.
    """

    entry: str
    kind: str
    call: Callable[[], object]
    culprits: tuple[str, ...]
    seed: int
    number: int

    @property
    def label(self) -> str:
        return f"{self.entry}: {self.kind} (seed {self.seed}, number {self.number})"


EXPECTATION = re.compile(
    r"expected|must|takes|needs|named|nearest|valid|above|after|outside|only|twice|give |needs|not both|no such|"
    r"below|cut in two|build all|are given|belong|there are|cannot|misses|missing|no mass|not found|does not|share|"
    r"is no |is not a |root|line \d|parse"
)
"""Words with which messages say what was expected, or what is wrong."""


def verdict(bad: BadInput) -> str | None:
    """What is wrong with the answer to a bad input; None if it is as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = bad.call()
        except ConstraintError as error:
            said = str(error)
            if not any(named(culprit, said) for culprit in bad.culprits):
                return f"the message names none of {bad.culprits}: {said}"
            if not EXPECTATION.search(said):
                return f"the message does not say what was expected: {said}"
            return None
        except Warning as warning:
            return f"a warning: {type(warning).__name__}: {warning}"
        except Exception as error:
            return f"not a ConstraintError but {type(error).__name__}: {error}"
    return f"accepted silently, gave a {type(result).__name__}"


def named(culprit: str, said: str) -> bool:
    """Whether a message has a word, or more of them."""
    words = re.escape(culprit).replace(r"\ ", "[ -]")
    return re.search(rf"(?<!\w){words}s?(?!\w)", said) is not None


def findings(room: str, seed: int, turns: int = 1) -> str:
    """What is wrong with the answers in a room to all bad inputs, so many times; empty if nothing is."""
    bad = bad_inputs(seed, turns * len(ways_of((room,))), (room,))
    return "\n".join(f"{each.label}\n    {said}" for each in bad if (said := verdict(each)) is not None)


def bad_inputs(seed: int = 0, count: int = 1000, rooms: Sequence[str] = ROOMS) -> Iterator[BadInput]:
    """`count` bad inputs, all that are listed and some of each kind in turn; the same for the same seed."""
    for number in range(count):
        yield bad_input(seed, number, rooms)


def bad_input(seed: int, number: int, rooms: Sequence[str] = ROOMS) -> BadInput:
    """One of them."""
    ways = ways_of(tuple(rooms))
    call, way = ways[number % len(ways)]
    given = way.draw(Chaos(np.random.default_rng([seed, number])))
    words = (f"{name} = {re.sub(' at 0x[0-9a-f]+', '', repr(value))[:60]}" for name, value in given.items())
    return BadInput(call.name, ", ".join(words), lambda: call.run(**given), way.culprits, seed, number)


@functools.cache
def ways_of(rooms: tuple[str, ...]) -> tuple[tuple[Call, Way], ...]:
    """What is given badly in calls of some rooms, with the call: all that is done in one turn."""
    return tuple(
        (call, way) for room in rooms for call in calls_of(room) for way in call.ways for _ in range(way.times)
    )


@functools.cache
def calls_of(room: str) -> tuple[Call, ...]:
    """The good calls of a room."""
    calls: list[Call] = []

    def good(f: Callable[..., Any], *values: Any, **named: Any) -> Call:
        calls.append(Call(f, *values, **named))
        return calls[-1]

    for name, state in vars(importlib.import_module(f"good_calls.{room}")).items():
        if name.startswith("of_"):
            state(good)
    return tuple(calls)
