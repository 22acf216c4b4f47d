"""What is bad for an argument, by the good value that it has, and by its annotation.

A good call is stated once. Each of its arguments is then given badly, one at a time:

    Call(Position, arm, "tool", reference=placement())  # no robot, a typo in "tool", no placement, ...

What is bad follows from the good value: a number is not finite, or none; an array has another size, rank or type of
numbers, or is not finite; a text has a typo; an entry of a list, a key or a value of a mapping is bad; anything is an
object of another kind than those that the annotation allows. A `Kind` in the place of the good value says otherwise.
What is bad for reasons of its own (crossed bounds, a name twice) is listed: `call.but(culprits, argument=[...])`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Comparison
from liegroups import SE3, SO3, Space


@dataclass(frozen=True)
class Kind:
    """A good value of an argument, and ways to draw bad ones."""

    good: Any
    draws: tuple[Callable[[Chaos], Any], ...] = ()

    def within(self, make: Callable[[Any], Any]) -> Kind:
        """What is made of it."""
        return Kind(make(self.good), tuple(lambda c, draw=draw: make(draw(c)) for draw in self.draws))


THINGS: tuple[tuple[Any, str], ...] = (
    (None, "None"), ({}, "dict Mapping Iterable Sequence"), ({"a": 1}, "dict Mapping"), (print, "Callable"), (3, "int"),
    (-2.5, "float"), ("nonsense", "str"), (b"bytes", "bytes"), ([1, 2], "list"), ((), "tuple Sequence Iterable"),
    (object(), ""), (True, "bool"), (np.arange(3), "ndarray"), (np.zeros((2, 2)), "ndarray"), (1j, ""), (SO3, "Space"),
    (Comparison.EQUALITY, "Comparison"), ({1, 2}, ""), (type, "Callable"),
)  # fmt: skip
"""Objects, each with the words of annotations that allow it."""


OF_THINGS = r"\b(?!None|Any|Sequence|Mapping|Iterable|Callable|ArrayLike)[A-Z]\w+"
"""Classes in annotations whose names, in small letters, say in messages who is to blame."""


class Chaos:
    """Draws bad values."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def pick(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def wrong(self, good: Any, annotation: str) -> Any:
        """A bad value in the place of a good one."""
        if isinstance(good, Kind):
            return self.pick(*good.draws)(self) if good.draws else good.good
        if isinstance(good, str):
            return self.name([good]) if self.rng.random() < 0.7 else self.thing(annotation)
        if isinstance(good, int) and not isinstance(good, bool):
            wrong = [-1, 1.5, "3", [], {}, [2], True, np.nan, np.inf, print, 1j]
            return self.pick(*wrong) if "None" in annotation else self.pick(*wrong, None)
        if isinstance(good, float):
            return self.number()
        if isinstance(good, np.ndarray):
            return self.vector(good.size) if good.ndim == 1 else self.matrix(good)
        if isinstance(good, Mapping) and good and self.rng.random() < 0.7:
            key = self.pick(*good)
            rest = {k: v for k, v in good.items() if k != key}
            return rest | self.pick({self.name([key]): good[key]}, {key: self.wrong(good[key], annotation)})
        if isinstance(good, list | tuple) and good and self.rng.random() < 0.5:
            return [*good[:-1], self.wrong(good[-1], annotation)]
        return self.thing(f"{annotation} {type(good).__name__}")

    def thing(self, annotation: str = "") -> Any:
        """An object of another kind than those of an annotation."""
        allowed = set(re.findall(r"\w+", annotation))
        return self.pick(*(thing for thing, words in THINGS if not allowed.intersection(words.split())))

    def vector(self, n: int, scalar: bool = False, rows: bool = False) -> Any:
        """No vector of n numbers; nor a number, where one may stand for all (`scalar`), nor rows of them (`rows`)."""
        good = self.rng.uniform(-0.5, 0.5, n)
        kind = self.pick("size", "size", "rank", "finite", "finite", "dtype", "thing")
        if kind == "size":
            return self.rng.uniform(
                -0.5, 0.5, self.pick(*(m for m in range(n + 4) if m != n and not (scalar and m == 1)))
            )
        if kind == "rank":
            ranks = [good[:, None, None]] if rows else [good[None], np.stack([good, good]), good[:, None, None]]
            return self.pick(*ranks) if n else good[None, None]
        if kind == "finite" and n:
            good[int(self.rng.integers(n))] = self.pick(np.nan, np.inf, -np.inf)
            return self.pick(good, good.tolist(), good.astype(np.float32))
        if kind == "dtype":
            typed = [
                good.astype(str),
                good.astype(object),
                good + 1j,
                good > 0,
                [*good.tolist(), [1.0]],
                ["x"] * max(n, 1),
            ]
            return self.pick(*typed)
        # {} is the zero vector, by name: nothing is named
        things = [{"": 1.0}, {"q": 1.0}, print, "nonsense", object(), {1.0, 2.0}, *([] if n == 0 else [()])]
        return self.pick(*things)

    def matrix(self, good: np.ndarray) -> Any:
        """No matrix of the shape of a good one."""
        wrong = [good[..., :-1], good[None], good + 1j, good.astype(str), good > 0, good * np.nan, [[1.0], [1.0, 2.0]]]
        return self.pick(*wrong, "x", {}, print, object(), None)

    def point(self, space: Space, rows: bool = False) -> Any:
        """No point of the space; nor rows of them, where these are taken too."""
        if space.unit_blocks and self.rng.random() < 0.3:
            q = space.random(self.rng)
            block = self.pick(*space.unit_blocks)
            q[block] *= self.pick(0.0, 0.5, 1.01, 2.0, -1.002)
            return self.pick(q, q.tolist())
        return self.vector(space.nq, rows=rows)

    def name(self, valid: Sequence[str]) -> Any:
        """A name that is not there: a typo, or no name at all."""
        name = list(str(self.pick(*valid)))
        at = int(self.rng.integers(len(name)))
        way = self.pick("drop", "double", "swap", "case", "empty", "thing")
        if way == "thing":
            return self.pick(3, 2.5, b"tool", ("tool",), object(), True, print)
        if way == "empty":
            return ""
        name[at] = {"drop": "", "double": name[at] * 2, "swap": "#", "case": "Q"}[way]
        typo = "".join(name)
        return typo if typo not in valid else typo + "?"

    def placement(self) -> Any:
        """No placement."""
        pose = SE3.random(self.rng)
        matrix = pin.XYZQUATToSE3(pose).homogeneous
        way = self.pick("quaternion", "rotation", "row", "finite", "vector", "thing", "mirror")
        if way == "quaternion":
            pose[3:] *= self.pick(0.0, 0.9, 1.1, 3.0)
            return self.pick(pose, pose.tolist())
        if way == "row":
            matrix[3] = [0.0, 0.0, self.pick(0.1, 1.0), 1.0]
        elif way == "rotation":
            matrix[:3, :3] *= self.pick(0.0, 0.5, 1.1)
        elif way == "mirror":
            matrix[:3, 0] *= -1.0
        elif way == "finite":
            array = self.pick(pose, matrix)
            array.flat[int(self.rng.integers(array.size))] = self.pick(np.nan, np.inf)
            return array
        elif way == "vector":
            return np.zeros(self.pick((0,), (3,), (6,), (8,), (3, 3), (3, 4), (4, 4, 1), (7, 1)))
        else:
            return self.pick({}, print, object(), [[1.0], [1.0, 2.0]], {"a": 1}, 3, 1.0, 1j)
        return matrix

    def number(self) -> Any:
        """No finite number."""
        return self.pick("x", "1", None, {}, [], [1.0, 2.0], np.nan, np.inf, -np.inf, print, 1j, object(), b"1")


# Kinds: in the place of a good value, or in a list of bad ones


def point(space: Space, good: Any = None, rows: bool = False) -> Kind:
    """A point of a space, the neutral one if none is given."""
    return Kind(space.neutral if good is None else good, (lambda c: c.point(space, rows),))


def vector(n: int, good: Any = None, scalar: bool = False) -> Kind:
    """A vector of n numbers, zero if none is given; or one number for all."""
    return Kind(np.zeros(n) if good is None else good, (lambda c: c.vector(n, scalar),))


def placement(good: Any = SE3.neutral) -> Kind:
    """A placement."""
    return Kind(good, (Chaos.placement,))


def thing(annotation: str = "", good: Any = None) -> Kind:
    """An object of a kind that an annotation allows, which stands for that of the argument."""
    return Kind(good, (lambda c: c.thing(annotation),))


def number(good: Any = 0.5) -> Kind:
    """A finite number."""
    return Kind(good, (Chaos.number,))


def key(*valid: str) -> Kind:
    """One of some names in a mapping."""
    return Kind(valid[0], (lambda c: c.name(valid),))


def typo(*valid: str) -> Kind:
    """One of some names."""
    return Kind(valid[0], (lambda c: c.name(valid), lambda c: c.name(valid), lambda c: c.thing("str")))


def frame(*valid: str) -> Kind:
    """One of some frames by name."""
    return Kind(valid[0], (lambda c: c.name(valid), lambda c: c.thing("Frame str")))


def positive(good: Any = 0.5) -> Kind:
    """A number above zero."""
    return Kind(good, (Chaos.number, lambda c: c.pick(0.0, -1.0, 0, True)))


def at_least_zero(good: Any = 0.5) -> Kind:
    """A number that is not negative."""
    return Kind(good, (Chaos.number, lambda c: c.pick(-1.0, -1e-3, True)))


def free(good: Any) -> Kind:
    """What is not given badly: other words for it are good, or another good call does it."""
    return Kind(good)


# Calls

TIMES = 5
"""How often a bad value of a kind is drawn in one turn."""


@dataclass(frozen=True)
class Way:
    """What is given badly in a call: its argument, or some that do not go together.

    Attributes:
        argument: in words.
        culprits: the message must have one of them.
        draw: what is given instead, by the names of arguments.
        times: how often it is drawn in one turn; once where it is always the same.
    """

    argument: str
    culprits: tuple[str, ...]
    draw: Callable[[Chaos], Mapping[str, Any]]
    times: int = 1


class Call:
    """A good call, f(*values, **named), and the ways in which it is bad.

    The message must have the name of the argument that is given badly, or that of its class; `blamed` says otherwise.
    """

    def __init__(self, f: Callable[..., Any], *values: Any, **named: Any) -> None:
        self.f = f
        parameters = list(inspect.signature(f).parameters.values())
        places = [p for p in parameters if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
        places = [*places, *places[-1:] * len(values)][: len(values)]
        self._places = [p.name + (str(places[:i].count(p)) if p.kind is p.VAR_POSITIONAL else "")
                        for i, p in enumerate(places)]  # fmt: skip
        self.good = dict(zip(self._places, values, strict=True)) | named
        self.ways: list[Way] = []
        of_places = {p.name: p for p in parameters} | dict(zip(self._places, places, strict=False))
        for argument, good in self.good.items():
            if not isinstance(good, Kind) or good.draws:
                parameter = of_places.get(argument)
                name, annotation = (parameter.name, str(parameter.annotation)) if parameter else (argument, "")
                classes = [
                    re.sub("(?<=[a-z])(?=[A-Z])", " ", each).lower() for each in re.findall(OF_THINGS, annotation)
                ]
                self._drawn((name.removesuffix("s"), *classes), argument, good, annotation)

    @property
    def name(self) -> str:
        """Where it goes."""
        f = getattr(self.f, "func", self.f)
        return getattr(f, "__qualname__", type(f).__name__).replace(".<locals>", "")

    def blamed(self, **culprits: str | tuple[str, ...]) -> Call:
        """The same call; messages about some arguments must have other words."""
        self.ways = [replace(way, culprits=_tuple(culprits.get(way.argument, way.culprits))) for way in self.ways]
        return self

    def but(self, culprits: str | tuple[str, ...], **wrong: Sequence[Any]) -> Call:
        """The same call with each of some bad values for an argument; a `Kind` among them is drawn from."""
        for argument, values in wrong.items():
            for value in values:
                if isinstance(value, Kind):
                    self._drawn(culprits, argument, value)
                else:
                    self.given(culprits, **{argument: value})
        return self

    def given(self, culprits: str | tuple[str, ...], **wrong: Any) -> Call:
        """The same call with some arguments that are bad together."""
        self.ways.append(Way(", ".join(wrong), _tuple(culprits), lambda c: wrong))
        return self

    def run(self, **instead: Any) -> Any:
        """The call with some arguments in the place of the good ones."""
        given = {k: v.good if isinstance(v, Kind) else v for k, v in self.good.items()} | instead
        values = [given.pop(place) for place in self._places]
        return self.f(*values, **given)

    def _drawn(self, culprits: str | tuple[str, ...], argument: str, good: Any, annotation: str = "") -> None:
        self.ways.append(Way(argument, _tuple(culprits), lambda c: {argument: c.wrong(good, annotation)}, TIMES))


def _tuple(words: str | tuple[str, ...]) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else words


Good = Callable[..., Call]
"""Takes a good call: f(*values, **named)."""
