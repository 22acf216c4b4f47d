"""Formulas read from Python functions: what they do to numbers, done to marks that write it down.

A function is called once with an array of marks in place of its coordinates. Numpy's functions and operators of arrays
of objects call those of the marks, which keep what is calculated. Whatever asks a mark for its number (a branch, a
`float`, a comparison) ends the reading. A reading counts only where value and Jacobian are those of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple, NoReturn, final

import numpy as np

from liegroups import Space
from liegroups.arrays import ArrayLike, Vector

from ..errors import DtypeError, UndefinedError
from ..words import signed_sum
from .affine import Affine, Constant
from .algebra import Sum
from .differences import REACH_OF_READING, SAME_VALUE, are_slopes, called
from .expression import expression
from .function import Function
from .stacked import Stacked

TRIED = 100
"""Random configurations at which a reading must be the function."""
DEFINED = 20
"""At so many of them it must have a value."""
LONGEST = 300
"""A formula with more operators is not read: called in Python it costs less."""


class Reading(NamedTuple):
    """What came of reading a function.

    Attributes:
        formula: the same function as a formula; None where it was not read.
        reason: why it was not.
    """

    formula: Function | None
    reason: str = ""


class Unreadable(Exception):
    """Something that a formula does not have; the message says what."""


@final
class _Tree:
    """What marks of one reading stand for: coordinates, and operators of sums of those before."""

    def __init__(self, inputs: Space) -> None:
        self.inputs = inputs
        self.parts: list[int | Function] = []
        self._known: dict[Any, int] = {}

    def coordinates(self) -> Any:
        """The configuration as marks (nq,), which nobody writes to."""
        marks = np.empty(self.inputs.nq, dtype=np.object_)
        columns = dict(zip(self.inputs.vector_q.tolist(), self.inputs.vector_v.tolist(), strict=True))
        for i in range(marks.size):
            if i in columns:
                self.parts.append(columns[i])
                marks[i] = Mark(self, {len(self.parts) - 1: 1.0})
            else:
                marks[i] = Mark(self, {}, rotation=True)
        marks.setflags(write=False)
        return marks

    def operator(self, name: str, *operands: Mark, number: float | None = None) -> Mark:
        """A mark for an operator of marks; the same one where it was there before."""
        key = name, number, *((tuple(sorted(mark.terms.items())), mark.constant) for mark in operands)
        if key not in self._known:
            made = expression(name, *(self.function(mark) for mark in operands), number=number)
            if not any(mark.terms for mark in operands):
                return Mark(self, {}, float(made.value(self.inputs.neutral)[0]))
            if len(self.parts) - self.inputs.nq > LONGEST:
                raise Unreadable(f"it has more than {LONGEST} operators")
            self._known[key] = len(self.parts)
            self.parts.append(made)
        return Mark(self, {self._known[key]: 1.0})

    def function(self, mark: Mark) -> Function:
        """What a mark stands for."""
        row, parts, factors = np.zeros(self.inputs.nv), list[Function](), list[float]()
        for number, factor in mark.terms.items():
            part = self.parts[number]
            if isinstance(part, int):
                row[part] += factor
            else:
                parts.append(part)
                factors.append(factor)
        if row.any():
            parts.append(Affine(row, [mark.constant], self.inputs, name=self._named(row, mark.constant)))
            factors.append(1.0)
        elif mark.constant != 0.0 or not parts:
            parts.append(Constant([mark.constant], inputs=self.inputs, name=f"{mark.constant:.4g}"))
            factors.append(1.0)
        return parts[0] if factors == [1.0] else Sum(parts, factors)

    def _named(self, row: Vector, constant: float) -> str:
        """A sum of coordinates, by the entries of q."""
        entries = dict(zip(self.inputs.vector_v.tolist(), self.inputs.vector_q.tolist(), strict=True))
        used = np.flatnonzero(row).tolist()
        return signed_sum([*row[used], constant], [*(f"q[{entries[k]}]" for k in used), ""])

    def rows(self, marks: list[Mark]) -> Function:
        """Several of them, one under the other."""
        places = {n: part for n, part in enumerate(self.parts) if isinstance(part, int)}
        if all(n in places for mark in marks for n in mark.terms):
            A = np.zeros((len(marks), self.inputs.nv))
            for row, mark in zip(A, marks, strict=True):
                for number, factor in mark.terms.items():
                    row[places[number]] += factor
            b = [mark.constant for mark in marks]
            names = ", ".join(self._named(row, c) for row, c in zip(A, b, strict=True))
            return Affine(A, b, self.inputs, name=names if len(b) == 1 else f"[{names}]")
        functions = [self.function(mark) for mark in marks]
        return functions[0] if len(functions) == 1 else Stacked(functions)


def _refusing(what: str) -> Callable[..., NoReturn]:
    def refuse(*_: object) -> NoReturn:
        raise Unreadable(what)

    return refuse


_BRANCH = "it branches on a value, or compares one"
_NUMBER = "it hands a value to something that takes numbers alone"


@final
class Mark:
    """A number that is not known: a constant, plus factors times what the tree has.

    Args:
        tree: what it is of.
        terms: part of the tree -> factor.
        constant: the constant.
        rotation: a number of a rotation or pose, of which formulas have none.
    """

    __slots__ = ("constant", "rotation", "terms", "tree")
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, tree: _Tree, terms: dict[int, float], constant: float = 0.0, rotation: bool = False) -> None:
        self.tree, self.terms, self.constant, self.rotation = tree, terms, constant, rotation

    def _other(self, x: Any) -> Mark:
        """Another operand, as a mark."""
        if isinstance(x, Mark):
            found = x
        elif isinstance(x, Real) and not isinstance(x, bool | np.bool_) and isfinite(x):
            found = Mark(self.tree, {}, float(x))
        else:
            raise Unreadable(f"it combines a value with {type(x).__name__} {x!r}"[:80])
        if self.rotation or found.rotation:
            raise Unreadable("it takes single numbers of a rotation or pose")
        return found

    def _of(self, name: str, *others: Any, number: float | None = None) -> Mark:
        return self.tree.operator(name, self._other(self), *map(self._other, others), number=number)

    def _times(self, factor: float) -> Mark:
        if not isfinite(factor):
            raise Unreadable("it divides by a number that is 0")
        terms = {n: factor * c for n, c in self.terms.items() if factor * c != 0.0}
        return Mark(self.tree, terms, factor * self.constant)

    def __add__(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return NotImplemented  # by entries, as numpy has it
        other, terms = self._other(x), dict(self.terms)
        for n, c in other.terms.items():
            terms[n] = terms.get(n, 0.0) + c
        return Mark(self.tree, {n: c for n, c in terms.items() if c != 0.0}, self.constant + other.constant)

    def __radd__(self, x: Any) -> Any:
        return self + x

    def __neg__(self) -> Mark:
        return self._other(self)._times(-1.0)

    def __pos__(self) -> Mark:
        return self._other(self)

    def __sub__(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return NotImplemented  # by entries, as numpy has it
        return self + -self._other(x)

    def __rsub__(self, x: Any) -> Mark:
        return self._other(x) + -self

    def __mul__(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return NotImplemented  # by entries, as numpy has it
        other = self._other(x)
        if not other.terms:
            return self._times(other.constant)
        if not self.terms:
            return other._times(self.constant)
        if (self.terms, self.constant) == (other.terms, other.constant):
            return self._of("power", number=2.0)
        return self._of("product", other)

    def __rmul__(self, x: Any) -> Any:
        return self * x

    def __truediv__(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return NotImplemented  # by entries, as numpy has it
        other = self._other(x)
        if not other.terms:
            return self._times(1.0 / other.constant if other.constant else float("inf"))
        return self._of("quotient", other)

    def __rtruediv__(self, x: Any) -> Mark:
        return self._other(x) / self

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, np.ndarray):
            return NotImplemented  # by entries, as numpy has it
        other = self._other(exponent)
        if other.terms:
            raise Unreadable("it has an exponent that is not a number")
        if other.constant == 0.5:
            return self._of("sqrt")
        return self._other(self) if other.constant == 1.0 else self._of("power", number=other.constant)

    __rpow__ = _refusing("it has an exponent that is not a number")
    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refusing(_BRANCH)  # pyright: ignore
    __abs__ = _refusing("it takes an absolute value, which has a kink")
    __float__ = __int__ = __index__ = __complex__ = __round__ = _refusing(_NUMBER)  # pyright: ignore
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _refusing("it takes remainders")

    # What numpy's functions call, of arrays of objects.

    def sin(self) -> Mark:
        return self._of("sin")

    def cos(self) -> Mark:
        return self._of("cos")

    def tan(self) -> Mark:
        return self.sin() / self.cos()

    def sqrt(self) -> Mark:
        return self._of("sqrt")

    def exp(self) -> Mark:
        return self._of("exp")

    def log(self) -> Mark:
        return self._of("log")

    def arctan2(self, x: Any) -> Mark:
        return self._of("atan2", x)

    def hypot(self, x: Any) -> Mark:
        return (self**2 + self._other(x) ** 2).sqrt()

    def conjugate(self) -> Mark:
        return self


def read(f: Callable[[Vector], ArrayLike], inputs: Space, outputs: Space, columns: Any) -> Reading:
    """Read the formula of a Python function.

    Args:
        f: the function.
        inputs, outputs: its spaces.
        columns: (inputs.nv,) what it is declared to depend on, or None.
    """
    if not outputs.is_flat:
        return Reading(None, f"its values are in {outputs.name}, not numbers alone")
    tree = _Tree(inputs)
    try:
        given = np.asarray(f(tree.coordinates()), dtype=np.object_).reshape(-1)
        first = next((x for x in given if isinstance(x, Mark)), None)
        if first is None or given.size != outputs.nv:
            return Reading(None, "it gives numbers" if first is None else "its value has another size")
        formula = tree.rows([first._other(x) for x in given])  # pyright: ignore[reportPrivateUsage]
    except Unreadable as reason:
        return Reading(None, str(reason))
    except DtypeError:
        return Reading(None, "it calls something that takes real numbers only")
    except Exception as error:
        return Reading(None, f"{type(error).__name__}: {error}")
    if columns is not None and (formula.columns & ~np.asarray(columns)).any():
        return Reading(None, "it depends on columns that were not declared")
    reason = _difference(f, formula)
    return Reading(None, reason) if reason else Reading(formula)


def _difference(f: Callable[[Vector], ArrayLike], formula: Function) -> str:
    """How a formula differs from the function that it was read from; empty where it does not."""
    space, rng, defined = formula.inputs, np.random.default_rng(0), 0
    for _ in range(TRIED):
        q = space.integrate(space.neutral, rng.uniform(-REACH_OF_READING, REACH_OF_READING, space.nv))
        try:
            value = called(f, q)
        except Exception as error:
            return f"it raises {type(error).__name__} where its formula has a value"
        try:
            known = formula.linearise(q)
        except UndefinedError:
            if np.isfinite(value).all():
                return "its formula has no value where it has one"
            continue
        if not (np.abs(known.value - value) <= SAME_VALUE * (1.0 + np.abs(value))).all():
            return "its formula gives other values"
        if not are_slopes(known.jacobian, f, q, value, space):
            return "its formula has another Jacobian"
        defined += 1
    return "" if defined >= DEFINED else "it has a value at few configurations"
