"""Random formulas of functions of the arm, and what they are in 50 digits.

The judge knows nothing of the library: leaves are those of `fifty_digits`, and every operator is written again, by
arithmetic of Taylor series along a motion q + t v. Beside each number goes a bound of what rounding may do
to it: of a leaf its size, and with each operator what the slopes make of the bounds of the operands, and its own size.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fifty_digits as digits
import numpy as np
from fifty_digits import mp
from robots import arm

from constraints import CenterOfMass, Function, Position, Rotation
from constraints.functions import (
    atan2,
    cos,
    cross,
    dot,
    exp,
    inverse,
    log,
    maximum,
    minimum,
    norm,
    rotated,
    sin,
    smooth_abs,
    sqrt,
    stack,
)

APART = 1e-3
"""How far trees stay from kinks and poles."""
LARGEST = 1e3
"""Of any number within a tree, and of its slopes."""
FRAMES = ("elbow", "tool", "wrist_pitch")


@dataclass(frozen=True)
class Series:
    """A number along a motion: value, first and second derivative by time, and a bound of the rounding of each."""

    x: tuple[Any, Any, Any]
    e: tuple[Any, Any, Any]

    def of(self, d: Any) -> Series:
        """A function of it, by its derivatives f, f', f'', f'''."""
        (_, u, a), (e, eu, ea) = self.x, self.e
        x = d[0], d[1] * u, d[1] * a + d[2] * u * u
        return Series(
            x,
            (
                abs(d[1]) * e + abs(x[0]),
                abs(d[1]) * eu + abs(d[2] * u) * e + abs(x[1]),
                abs(d[1]) * ea + abs(d[2]) * (e * abs(a) + 2 * abs(u) * eu) + abs(d[3]) * e * u * u
                + abs(d[1] * a) + abs(d[2] * u * u),
            ),
        )  # fmt: skip

    def __add__(self, other: Series) -> Series:
        x = tuple(a + b for a, b in zip(self.x, other.x, strict=True))
        return Series(x, tuple(a + b + abs(s) for a, b, s in zip(self.e, other.e, x, strict=True)))  # type: ignore

    def times(self, c: Any) -> Series:
        """A multiple."""
        return Series(tuple(c * a for a in self.x), tuple(2 * abs(c) * a for a in self.e))  # type: ignore

    def __sub__(self, other: Series) -> Series:
        return self + other.times(-1)

    def __mul__(self, other: Series) -> Series:
        (a, u, p), (b, v, q) = self.x, other.x
        (ea, eu, ep), (eb, ev, eq) = self.e, other.e
        A, U, P, B, V, Q = map(abs, (a, u, p, b, v, q))
        return Series(
            (a * b, u * b + a * v, p * b + 2 * u * v + a * q),
            (
                ea * B + A * eb + A * B,
                eu * B + U * eb + ea * V + A * ev + U * B + A * V,
                ep * B + P * eb + 2 * (eu * V + U * ev) + ea * Q + A * eq + P * B + 2 * U * V + A * Q,
            ),
        )

    def reciprocal(self) -> Series:
        d = 1 / self.x[0]
        return self.of((d, -d * d, 2 * d**3, -6 * d**4))

    def root(self) -> Series:
        s = self.x[0]
        r = mp.sqrt(s)
        return self.of((r, 1 / (2 * r), -1 / (4 * r * s), 3 / (8 * r * s * s)))


Vector = list[Series]
Recipe = tuple[Any, ...]


def number(c: Any) -> Series:
    return Series((mp.mpf(c), mp.mpf(0), mp.mpf(0)), (abs(mp.mpf(c)), mp.mpf(0), mp.mpf(0)))


def total(terms: list[Series]) -> Series:
    return functools.reduce(lambda a, b: a + b, terms)


def moved(A: list[Vector], p: Vector) -> Vector:
    return [total([A[i][k] * p[k] for k in range(3)]) for i in range(3)]


# Leaves.

LEAVES: dict[str, Callable[[], Function]] = {
    **{f"Position({name})": functools.partial(Position, arm(), name) for name in FRAMES},
    "CenterOfMass": functools.partial(CenterOfMass, arm()),
}
ROTATIONS: dict[str, Callable[[], Function]] = {
    f"Rotation({name})": functools.partial(Rotation, arm(), name) for name in FRAMES
}


class Arm:
    """Leaves at q along v, by `fifty_digits` and central differences: positions, rotations, the centre of mass."""

    def __init__(self, q: np.ndarray, v: np.ndarray) -> None:
        space, h = arm().space, mp.mpf(10) ** -12
        here, self.leaves = digits.point_of(space, q), dict[str, Any]()
        points = [digits.moved(space, here, digits.exact(v) * t) for t in (-h, mp.mpf(0), h)]
        for name, make in (LEAVES | ROTATIONS).items():
            behind, at, ahead = (digits.value_at(make(), point)[0] for point in points)
            along = np.stack([at, (ahead - behind) / (2 * h), (behind - 2 * at + ahead) / h**2], axis=-1)
            leaf = [as_leaf(x, 1 + np.abs(v).sum()) for x in along.reshape(-1, 3)]
            self.leaves[name] = leaf if len(leaf) == 3 else [leaf[:3], leaf[3:6], leaf[6:]]


def as_leaf(x: Any, size: float) -> Series:
    """A number along the motion with the bounds of a leaf: its size, and that of the motion."""
    return Series(tuple(x), tuple(mp.mpf(size) ** k + abs(x[k]) for k in range(3)))  # type: ignore[arg-type]


# Operators: how the library writes each, and what it is.


class Avoided(Exception):
    """Too near a kink or a pole, or too large."""


def need(condition: Any) -> None:
    if not condition:
        raise Avoided


def rows(x: Vector, y: Vector) -> list[tuple[Series, Series]]:
    """Rows of two vectors, the one row of one of them with all of the other one."""
    n = max(len(x), len(y))
    return list(zip(x * (n // len(x)), y * (n // len(y)), strict=True))


def _sine(x: Series) -> Series:
    s, c = mp.sin(x.x[0]), mp.cos(x.x[0])
    return x.of((s, c, -s, -c))


def _cosine(x: Series) -> Series:
    s, c = mp.sin(x.x[0]), mp.cos(x.x[0])
    return x.of((c, -s, -c, s))


def _exp(x: Series) -> Series:
    need(x.x[0] < 6)
    return x.of((mp.exp(x.x[0]),) * 4)


def _log(x: Series) -> Series:
    s = x.x[0]
    need(s > APART)
    return x.of((mp.log(s), 1 / s, -1 / s**2, 2 / s**3))


def _sqrt(x: Series) -> Series:
    need(x.x[0] > APART)
    return x.root()


def _smooth_abs(x: Series, width: float) -> Series:
    w = mp.mpf(width)
    return (x * x + number(w * w)).root() - number(w)


def _power(x: Series, c: float) -> Series:
    s, c = x.x[0], mp.mpf(c)
    need(abs(s) > APART if c == int(c) else s > APART)
    factors = (1, c, c * (c - 1), c * (c - 1) * (c - 2))
    return x.of(tuple(f * s ** (c - k) for k, f in enumerate(factors)))


def _quotient(x: Series, y: Series) -> Series:
    need(abs(y.x[0]) > APART)
    return x * y.reciprocal()


def _atan2(y: Series, x: Series) -> Series:
    a, b = x.x[0], y.x[0]
    need(mp.hypot(a, b) > APART and (a > 0 or abs(b) > APART))
    steep = abs(b) > abs(a)  # of the two ways to write it that with a slope of one at most
    ratio = x * y.reciprocal() if steep else y * x.reciprocal()
    r = ratio.x[0]
    d = 1 / (1 + r * r)
    angle = ratio.of((mp.atan(r), d, -2 * r * d * d, (6 * r * r - 2) * d**3))
    angle = angle.times(-1) if steep else angle
    return Series((mp.atan2(b, a), *angle.x[1:]), angle.e)


def _extreme(greater: bool) -> Callable[[Series, Series], Series]:
    def chosen(x: Series, y: Series) -> Series:
        need(abs(x.x[0] - y.x[0]) > APART)
        return x if (x.x[0] > y.x[0]) == greater else y

    return chosen


def _norm(x: Vector) -> Vector:
    square = total([s * s for s in x])
    need(square.x[0] > APART**2)
    return [square.root()]


def _cross(x: Vector, y: Vector) -> Vector:
    return [x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3] for i in range(3)]


ONE: dict[str, tuple[Callable[[Any], Function], Callable[[Series], Series]]] = {
    "sin": (sin, _sine),
    "cos": (cos, _cosine),
    "exp": (exp, _exp),
    "log": (log, _log),
    "sqrt": (sqrt, _sqrt),
    "smooth_abs": (lambda f: smooth_abs(f, 0.25), lambda x: _smooth_abs(x, 0.25)),
    "** 2": (lambda f: f**2, lambda x: _power(x, 2)),
    "** 3": (lambda f: f**3, lambda x: _power(x, 3)),
    "** -1": (lambda f: f**-1, lambda x: _power(x, -1)),
    "** 1.5": (lambda f: f**1.5, lambda x: _power(x, 1.5)),
    "-": (lambda f: -f, lambda x: x.times(-1)),
    "0.5 *": (lambda f: 0.5 * f, lambda x: x.times(mp.mpf(0.5))),
    "+ 1": (lambda f: f + 1.0, lambda x: x + number(1)),
}
TWO: dict[str, tuple[Callable[[Any, Any], Function], Callable[[Series, Series], Series]]] = {
    "*": (lambda f, g: f * g, lambda x, y: x * y),
    "/": (lambda f, g: f / g, _quotient),
    "minimum": (minimum, _extreme(False)),
    "maximum": (maximum, _extreme(True)),
    "atan2": (atan2, _atan2),
}
SAME: dict[str, tuple[Callable[[Any, Any], Function], Callable[[Series, Series], Series]]] = {
    "+": (lambda f, g: f + g, lambda x, y: x + y),
    "-": (lambda f, g: f - g, lambda x, y: x - y),
}


def function_of(recipe: Recipe) -> Function:
    """As the library writes it."""
    kind, *parts = recipe
    if kind in LEAVES or kind in ROTATIONS:
        return (LEAVES | ROTATIONS)[kind]()
    what, *parts = parts
    if kind == "row":
        return function_of(parts[0])[what]
    made = [function_of(part) for part in parts]
    if kind == "vector":
        vectors: dict[str, Callable[..., Function]] = {
            "dot": dot, "norm": norm, "cross": cross, "stack": stack, "rotated": rotated, "inverse": inverse,
            "matrix": lambda f: np.array([[1.0, -2.0, 0.5]]) @ f,
        }  # fmt: skip
        return vectors[what](*made)
    table: dict[str, Any] = {"one": ONE, "two": TWO, "same": SAME}[kind]
    return table[what][0](*made)


def value_of(recipe: Recipe, at: Arm) -> Any:
    """What it is, in 50 digits.

    Raises:
        Avoided: a part of it is too near a kink or a pole, or too large.
    """
    kind, *parts = recipe
    if kind in at.leaves:
        return at.leaves[kind]
    what, *parts = parts
    made = combined(kind, what, [value_of(part, at) for part in parts])
    if what != "inverse":
        need(all(abs(x) < LARGEST for s in made for x in s.x))
    return made


def combined(kind: str, what: Any, made: list[Any]) -> Any:
    """One operator of its operands."""
    if kind == "row":
        return [made[0][what]]
    if kind == "one":
        return [ONE[what][1](x) for x in made[0]]
    if kind in ("two", "same"):
        return [(TWO if kind == "two" else SAME)[what][1](x, y) for x, y in rows(*made)]
    vectors: dict[str, Callable[..., Any]] = {
        "dot": lambda x, y: [total([a * b for a, b in zip(x, y, strict=True)])],
        "norm": _norm,
        "cross": _cross,
        "stack": lambda *xs: [x for part in xs for x in part],
        "rotated": moved,
        "inverse": lambda R: [[R[j][i] for j in range(3)] for i in range(3)],
        "matrix": lambda x: [total([x[0], x[1].times(-2), x[2].times(mp.mpf(0.5))])],
    }
    return vectors[what](*made)


def drawn(rng: np.random.Generator, depth: int, size: int, at: Arm) -> tuple[Recipe, Vector]:
    """A tree that is defined there, with its value; operators that are not are drawn again."""
    if depth == 0 or rng.random() < 0.1:
        name = str(rng.choice(list(LEAVES)))
        if size == 3:
            return (name,), at.leaves[name]
        row = int(rng.integers(3))
        return ("row", row, (name,)), [at.leaves[name][row]]
    while True:
        kind, what, sizes = _operator(rng, size)
        operands = [drawn(rng, depth - 1, n, at) if n else _rotation(rng, at) for n in sizes]
        try:
            value = combined(kind, what, [value for _, value in operands])
            need(all(abs(x) < LARGEST for s in value for x in s.x))
        except Avoided:
            continue
        return (kind, what, *(recipe for recipe, _ in operands)), value


def _operator(rng: np.random.Generator, size: int) -> tuple[str, Any, list[int]]:
    """A kind, a name, and the sizes of operands; 0 is a rotation."""
    family = int(rng.integers(4))
    if family == 0:
        return "one", str(rng.choice(list(ONE))), [size]
    if family == 1:
        return "same", str(rng.choice(list(SAME))), [size, size]
    if family == 2:
        return "two", str(rng.choice(list(TWO))), [size, 1] if rng.random() < 0.5 else [size, size]
    if size == 1:
        what, sizes = [("dot", [3, 3]), ("norm", [3]), ("matrix", [3]), ("row", [3])][int(rng.integers(4))]
        return ("row", int(rng.integers(3)), [3]) if what == "row" else ("vector", what, sizes)
    what, sizes = [("cross", [3, 3]), ("rotated", [0, 3]), ("stack", [1, 1, 1])][int(rng.integers(3))]
    return "vector", what, sizes


def _rotation(rng: np.random.Generator, at: Arm) -> tuple[Recipe, Any]:
    name = str(rng.choice(list(ROTATIONS)))
    if rng.random() < 0.5:
        return (name,), at.leaves[name]
    return ("vector", "inverse", (name,)), combined("vector", "inverse", [at.leaves[name]])


@dataclass(frozen=True)
class Tree:
    """A formula at a place: the function, and what it is there in 50 digits with bounds of rounding.

    Attributes:
        function: of the library.
        q, v: where, and along what.
        column: of the Jacobian, that is judged by itself.
        along, alone: series along v, and along that column.
    """

    function: Function
    q: np.ndarray
    v: np.ndarray
    column: int
    along: Vector
    alone: Vector

    @staticmethod
    def drawn(seed: int, depth: int = 8) -> Tree:
        rng = np.random.default_rng(seed)
        q, v, column = arm().random(rng), rng.normal(size=7), int(rng.integers(7))
        recipe, along = drawn(rng, depth, int(rng.choice([1, 3])), Arm(q, v))
        while True:
            try:
                return Tree(function_of(recipe), q, v, column, along, value_of(recipe, Arm(q, np.eye(7)[column])))
            except Avoided:
                column = (column + 1) % 7

    def value_error(self, value: Any) -> float:
        """Of the bounds, the largest over rows."""
        return self._worst(value, self.along, 0)

    def jacobian_error(self, J: Any) -> float:
        """The same of the Jacobian along v, and of one of its columns."""
        return max(self._worst(J @ self.v, self.along, 1), self._worst(J[:, self.column], self.alone, 1))

    def drift_error(self, drift: Any) -> float:
        """The same of the drift."""
        return self._worst(drift, self.along, 2)

    @staticmethod
    def _worst(found: Any, expected: Vector, order: int) -> float:
        errors = [
            abs(mp.mpf(x) - s.x[order]) / s.e[order] for x, s in zip(np.asarray(found).tolist(), expected, strict=True)
        ]
        return float(max(errors))
