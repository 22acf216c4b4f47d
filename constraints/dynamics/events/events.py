"""Events of a motion: where a function of the state changes its sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, cast, final, get_args

from liegroups.arguments import as_flag, as_name, as_tuple, expect, finite_number, refuse_repeated
from liegroups.arrays import Vector
from liegroups.frozen import set_fields

from ...errors import UnknownNameError, WrongObjectError
from ...loops import ConstraintSet
from ...robot import Motion
from ..laws.law import Law
from ..methods.system import check_state

QUIET = 1e-12
"""Values of an event function up to this size have no sign."""

BEYOND = 1e-6
"""How far the function of a barrier may be below zero."""

Direction = Literal["falling", "rising", "any"]
"""Which changes of sign count: from above zero, from below, or both."""

Reset = Callable[..., Motion | tuple[Motion, ConstraintSet]]
"""What a state becomes at an event: f(motion) or f(motion, t) -> motion, or the motion and what holds from then on."""


@final
@dataclass(frozen=True, eq=False)
class Event:
    """An event in a motion: a function of the state changes its sign.

    The function is looked at at the end of each step and at five times within it, and a change is then located by
    secants. A function that changes its sign more than once in a step is named in `record.oscillating_events`, for
    there may be changes that were not seen. Events that neither end nor reset a motion do not change it.

    At the start, "falling" and "rising" come from their side. A function that is zero there changes its sign when it
    goes beyond zero in the direction of the event, by more than 1e-6. One that is beyond zero already, by more than
    that, changes it at once, or, while it comes back, when it turns away again before it has reached zero. "any" comes
    from where it is.

    Functions and resets with an argument `constraint_set` that is given by its name alone get the set that holds then:
    at a lift-off, say, the force of a contact by `forward_dynamics(constraint_set, motion)`.

    Args:
        function: f(motion) or f(motion, t) -> number, continuous.
        name: name in the record; "event" and its number by default.
        direction: "falling", "rising", or "any" (the default).
        terminal: whether the motion ends there.
        reset: new state: f(motion) or f(motion, t) -> a motion, or (motion, constraint set). The set is the simulated
            one with other constraints on or off.
        once: whether it happens at most once.
        barrier: whether the function must never be below zero: a motion that goes below by more than 1e-6 ends with the
            status BEYOND_BARRIER. (Bounces that become too short to detect end with ENDLESS_EVENTS anyway.)
    """

    function: Callable[..., float]
    name: str = ""
    direction: Direction = "any"
    terminal: bool = False
    reset: Reset | None = None
    once: bool = False
    barrier: bool = False

    _function: Law = field(init=False, repr=False)
    _reset: Law | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Check everything once."""
        called = f"the event '{self.name}'" if self.name else "an event"
        set_fields(self, _function=Law.of(self.function, ("motion",), f"function of {called}", "a number"))
        if self.reset is not None:
            set_fields(self, _reset=Law.of(self.reset, ("motion",), f"reset of {called}", "a motion"))
        for flag in ("terminal", "once", "barrier"):
            as_flag(getattr(self, flag), f"`{flag}` of an event")
        set_fields(self, name=as_name(self.name, "name of an event"))
        if self.direction not in get_args(Direction):
            raise UnknownNameError("direction of an event", str(self.direction), get_args(Direction))
        if self.terminal and self.reset is not None:
            raise WrongObjectError(f"event '{self.name}'", "an end of the motion or a reset, not both", "both")

    def under(self, holds: ConstraintSet) -> Event:
        """The event while a constraint set holds; itself if its functions do not ask for it."""
        if not (self._function.has_set or (self._reset is not None and self._reset.has_set)):
            return self
        other = copy(self)
        reset = None if self._reset is None else self._reset.under(holds)
        set_fields(other, _function=self._function.under(holds), _reset=reset)
        return other

    @property
    def acts(self) -> bool:
        """Whether the event ends or resets the motion."""
        return self.terminal or self.reset is not None

    def value(self, t: float, motion: Motion) -> float:
        """The function at a state.

        Raises:
            WrongObjectError, NotFiniteError: the result is not a number, or not finite.
        """
        return finite_number(self._function.in_time(t, motion), f"value of the event '{self.name}'")

    def after(self, t: float, motion: Motion) -> Any:
        """What the reset gives at a state; the state itself without one."""
        return motion if self._reset is None else self._reset.in_time(t, motion)


@dataclass(frozen=True, eq=False)
class Crossing:
    """An event that happened.

    Attributes:
        name: of the event.
        time: when [s], to 1e-9.
        q, v: the state there, just after the change of sign.
        after: (q, v) to which it was reset; None without a reset.
    """

    name: str
    time: float
    q: Vector
    v: Vector
    after: tuple[Vector, Vector] | None = None

    def __str__(self) -> str:
        return f"'{self.name}' at {self.time:.9f} s"


class Change(NamedTuple):
    """A change of sign of an event function along some values.

    Attributes:
        place: of the first value behind it.
        counts: whether it has the direction of the event.
        side: sign before it.
        level: the change is where `side` times the function is down to this.
    """

    place: int
    counts: bool
    side: int
    level: float


class Sign(NamedTuple):
    """What is known of an event: on which side of zero its function was seen, and whether it is looked at."""

    side: int
    on: bool = True


_COMES_FROM: dict[str, int] = {"falling": 1, "rising": -1}
"""Side of zero from which an event of a direction comes."""


@final
class Watch:
    """The signs of some events along a motion.

    Args:
        events: what to look for.
        t, motion: the start.
        holds: the set that holds there.

    Attributes:
        events: as they are while that set holds.
    """

    def __init__(self, events: Sequence[Event], t: float, motion: Motion, holds: ConstraintSet) -> None:
        self.events = tuple(event.under(holds) for event in events)
        sides = [side_of(event.value(t, motion)) for event in self.events]
        self._from_zero = {i for i, side in enumerate(sides) if side == 0 and events[i].direction in _COMES_FROM}
        self._signs = [
            Sign(side or _COMES_FROM.get(event.direction, 0)) for side, event in zip(sides, events, strict=True)
        ]
        self._turned: set[int] = set()
        self._past = {
            i
            for i, event in enumerate(events)
            if event.direction in _COMES_FROM and self._signs[i].side == -_COMES_FROM[event.direction]
        }

    @property
    def is_past(self) -> bool:
        """Whether an event was beyond zero at the start, and has neither happened nor come back."""
        return bool(self._past)

    def past(self, values: Sequence[float], later: Sequence[float]) -> int | None:
        """The first event that was beyond zero at the start and does not come back; it has happened.

        Args:
            values: of the functions.
            later: and a moment later.
        """
        for i in sorted(self._past):
            side = _COMES_FROM[self.events[i].direction]
            if side * values[i] >= 0.0:
                self._past.discard(i)
            elif side * values[i] < -BEYOND and side * (later[i] - values[i]) <= 0.0:
                self._past.discard(i)
                self._signs[i] = self._signs[i]._replace(on=not self.events[i].once)
                return i
        return None

    def changes(self, i: int, values: Sequence[float]) -> list[Change]:
        """Changes of sign of event i along the values of a step, whether they count or not.

        Within the step a value must be beyond zero by more than 1e-6.
        """
        sign, from_zero, last = self._signs[i], i in self._from_zero, len(values) - 1
        side, found = sign.side, list[Change]()
        for k, value in enumerate(values if sign.on else ()):
            level = -BEYOND if from_zero or k < last else 0.0
            if side and (side * value < level or side * value == level == 0.0):
                counts = side == _COMES_FROM.get(self.events[i].direction, side)
                found.append(Change(k, counts, side, -BEYOND if from_zero else 0.0))
                side, from_zero = side_of(value), False
            elif not side and (k == last or abs(value) > BEYOND):
                side = side_of(value)
            elif side * value > BEYOND:
                from_zero = False
        return found

    def crossed(self, i: int, value: float) -> bool:
        """Whether event i has its function beyond zero, seen from where it was."""
        sign = self._signs[i]
        if i in self._from_zero:
            return sign.on and sign.side * value < -BEYOND
        return sign.on and sign.side * value <= 0.0 and sign.side != 0

    def saw(self, values: Sequence[float]) -> None:
        """Go on from a state with these values."""
        for i, value in enumerate(values):
            side = side_of(value)
            if i in self._from_zero:
                if side == self._signs[i].side:
                    self._from_zero.remove(i)
            elif side or self.crossed(i, value):
                self._signs[i] = self._signs[i]._replace(side=side)

    def happened(self, i: int) -> None:
        """Go on behind an event; one that happens once is looked at no more, and one that acts has `restart`."""
        event, sign = self.events[i], self._signs[i]
        self._from_zero.discard(i)
        self._signs[i] = Sign(sign.side if event.acts else -sign.side, sign.on and not event.once)

    def hold(self, holds: ConstraintSet) -> None:
        """Use this constraint set from now on."""
        self.events = tuple(event.under(holds) for event in self.events)

    def restart(self, acted: int, value: float, later: float) -> bool:
        """Go on after a reset; whether its event, which turned the motion back before, does so no longer.

        The others are as they were: one that happened at the same time is seen in the next step.

        Args:
            acted: the event with the reset.
            value: of its function after the reset.
            later: and a moment later: on which side a function near zero is shows where it goes.
        """
        sign = self._signs[acted]
        near = abs(value) <= abs(later - value) or abs(value) <= QUIET
        side = side_of(later - value) if near else side_of(value)
        self._signs[acted] = sign._replace(side=side)
        if side == sign.side:
            self._turned.add(acted)
            return False
        return acted in self._turned

    def beyond(self, values: Sequence[float]) -> str:
        """Name of a barrier that was passed; empty where none."""
        for event, sign, value in zip(self.events, self._signs, values, strict=True):
            if event.barrier and sign.on and value < -BEYOND:
                return event.name
        return ""


def side_of(value: float) -> int:
    """Sign of a value: 1, -1, or 0 where it has none."""
    return 0 if not abs(value) > QUIET else (1 if value > 0.0 else -1)


def as_events(events: Sequence[Event] | Event) -> tuple[Event, ...]:
    """Events with names, from what a user gave."""
    given = (events,) if isinstance(events, Event) else as_tuple(events, "events of a motion", "Event")
    named: list[Event] = []
    for i, event in enumerate(given):
        expect(event, Event, f"event {i} of a motion", "an Event(function)")
        named.append(replace(event, name=event.name or f"event {i}"))
    refuse_repeated([event.name for event in named], "event of the motion")
    return tuple(named)


def restarted(event: Event, t: float, motion: Motion, constraint_set: ConstraintSet) -> tuple[Motion, ConstraintSet]:
    """State and set after an event with a reset.

    Raises:
        WrongObjectError: the reset gave neither a motion nor a pair; or a set with other constraints.
    """
    given: Any = event.after(t, motion)
    words = f"what the reset of '{event.name}' gives"
    right = "a motion, robot.at(q, v), or (motion, constraint set)"
    state, holds = (given, constraint_set) if isinstance(given, Motion) else _pair(given, words, right)
    if holds.stack is not constraint_set.stack:
        raise WrongObjectError(words, "the simulated set with other constraints on or off (set.switched)", repr(holds))
    check_state(holds, state)
    return state, holds


def _pair(given: Any, words: str, right: str) -> tuple[Motion, ConstraintSet]:
    if not isinstance(given, tuple) or len(cast(Sequence[Any], given)) != 2:
        raise WrongObjectError(words, right, repr(cast(object, given)))
    pair = cast(Sequence[Any], given)
    return expect(pair[0], Motion, words, right), expect(pair[1], ConstraintSet, words, right)
