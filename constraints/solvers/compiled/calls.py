"""Functions that are no kernels, called by them: in Python through a callback, in machine code at its address.

Kernels call `int f(const double *x, double *y, double *J)`. What they get of a Python function is a callback that
places a copy of x in a workspace of its own and evaluates the function there. An exception leaves no trace in C: it is
kept, the callback says so by what it returns, and whoever called the kernel raises it.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Sequence
from threading import get_ident
from time import perf_counter
from typing import Any, NamedTuple, final
from weakref import WeakKeyDictionary

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import FunctionError, UndefinedError
from ...functions.from_callable import CompiledFunction, FromCallable
from ...functions.function import Function
from ...point import Point, place
from ...problem.problem import Problem
from ...words import first_names
from ...workspace import Pool, Workspace

RAISED, VALUE, NO_VALUE = 1, 2, 3
"""What callbacks return. Nothing of it is 0, which ctypes returns for a callback that was interrupted outside of it."""
OF_MACHINE_CODE = 0
"""What functions in machine code return where they have a value; 1 where they have none."""
MUCH = 0.5
"""Share of the time of projections above which a warning says that it is spent in Python."""
SETTLED = 3
"""From this run of a program on its time is counted: the first ones make memory."""
NAMED = 3
"""So many functions are called by their names in messages."""
_log = logging.getLogger(__package__)
_KIND = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)
_NUMBER = 8


class _Called(NamedTuple):
    """A function as kernels call it.

    Attributes:
        function: which.
        address: where.
        has_value: what it returns where it has a value.
        held: what is at the address.
    """

    function: Function
    address: int
    has_value: int
    held: object


@final
class _Seat:
    """Memory for callbacks: of one thread at a time, and of one call at a time where a function projects itself."""

    __slots__ = ("_arrays", "_points", "_seen")

    def __init__(self) -> None:
        self._points: dict[int, Point] = {}
        self._seen: dict[int, bytes] = {}
        self._arrays: dict[int, tuple[Vector, Matrix]] = {}

    def evaluate(self, f: Function, x: int, y: int, J: int | None) -> None:
        """Evaluate a function on the numbers at x, and write at y, and at J where that is somewhere.

        A point is placed again only where the numbers are others than the last ones, bit for bit.
        """
        space = f.inputs
        key, bits = id(space), ctypes.string_at(x, _NUMBER * space.nq)
        point = self._points.get(key)
        if point is None or self._seen[key] != bits:
            q = np.frombuffer(bits)  # a copy that nobody writes to
            self._seen[key] = bits
            if point is None:
                point = self._points[key] = place(space, q, Workspace())
            else:
                point.move(q)
        arrays = self._arrays.get(id(f))
        if arrays is None:
            arrays = np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, space.nv))
            self._arrays[id(f)] = arrays
        value, jacobian = arrays
        f.evaluate(point, value, None if J is None else jacobian)
        ctypes.memmove(y, value.ctypes.data, value.nbytes)
        if J is not None:
            ctypes.memmove(J, jacobian.ctypes.data, jacobian.nbytes)


@final
class Calls:
    """What kernels of one packed problem call; whoever holds the problem holds it. It never leaves this process.

    Attributes:
        called: functions, as kernels number them.
        seconds: what kernels took [s], by this measure: how much of it was spent in Python, and all of it.
    """

    def __init__(self) -> None:
        self.called: list[_Called] = []
        self.seconds = 0.0, 0.0
        self._numbers: dict[int, int] = {}
        self._raised: dict[int, BaseException] = {}
        self._spent: dict[int, float] = {}
        self._runs = 0
        self._seats = Pool(_Seat)

    def add(self, f: Function) -> int:
        """The number of a function; one for each object."""
        number = self._numbers.get(id(f))
        if number is None:
            number = self._numbers[id(f)] = len(self.called)
            if isinstance(f, CompiledFunction):
                self.called.append(_Called(f, f.place, OF_MACHINE_CODE, f))
            else:
                callback = _KIND(_callback(f, self._seats, self._raised, self._spent))
                address = ctypes.cast(callback, ctypes.c_void_p).value or 0
                self.called.append(_Called(f, address, VALUE, callback))
        return number

    @property
    def in_python(self) -> Sequence[Function]:
        """Those in Python."""
        return [one.function for one in self.called if one.has_value == VALUE]

    @property
    def names(self) -> str:
        """Their names, a few of them."""
        return first_names([f.name for f in self.in_python], NAMED)

    @property
    def share(self) -> float | None:
        """Share of the time of projections that was spent in Python so far, 0 to 1; None before the first one."""
        python, whole = self.seconds
        return min(python / whole, 1.0) if whole > 0.0 else None

    @property
    def remedy(self) -> str:
        """What to write instead."""
        words = "a formula of functions (`norm(f - g)`) or `Function.compiled` costs no Python"
        blind = [f for f in self.in_python if isinstance(f, FromCallable) and f.jac is None]
        if blind:
            count = blind[0].calls_for_jacobian
            words += f"; {blind[0].name} has no Jacobian, which costs {count} calls each time: give it one"
        return words

    def begun(self) -> tuple[float, float]:
        """Where the clocks of this thread stand before a kernel is called: Python's, and that on the wall."""
        return self._spent.get(get_ident(), 0.0), perf_counter()

    def ended(self, began: tuple[float, float], problem: Problem) -> None:
        """Read them after it. Once a problem a warning says that much of the time is spent in Python.

        Args:
            began: of `begun`.
            problem: what is solved.
        """
        spent = self._spent.get(get_ident(), 0.0) - began[0]
        whole = perf_counter() - began[1]
        self.seconds = self.seconds[0] + spent, self.seconds[1] + whole
        self._runs += 1
        if self._runs == SETTLED:
            self.seconds = spent, whole  # the first ones make memory
        if self._runs >= SETTLED and problem not in _SAID and any(map(_is_of_a_user, self.in_python)):
            share = self.share or 0.0
            if share > MUCH:
                _SAID[problem] = True
                _log.warning(
                    "%r: %.0f %% of the time of its projections is spent in Python, in %s; %s",
                    problem, 100.0 * share, self.names, self.remedy,
                )  # fmt: skip

    def error(self, code: int, culprit: int) -> BaseException:
        """What stopped a kernel on this thread, to be raised.

        Args:
            code: what the function returned.
            culprit: its number.
        """
        name, (has_value, *_) = self.called[culprit].function.name, self.called[culprit][2:]
        kept = self._raised.pop(get_ident(), None)
        if kept is not None:
            return kept
        if has_value == VALUE:  # an interrupt where no code of ours was yet, or any more
            return KeyboardInterrupt(f"in {name}")
        return FunctionError(
            name, f"{name} returned {code}", "a compiled function returns 0 with a value, and 1 where it has none"
        )


_SAID: WeakKeyDictionary[Problem, bool] = WeakKeyDictionary()
"""Problems that a warning was given of."""
_LAST: WeakKeyDictionary[Problem, Calls] = WeakKeyDictionary()
"""What the last program of a problem calls."""


def know_calls(problem: Problem, calls: Calls) -> None:
    """Have `calls_of` say what is called for a problem."""
    _LAST[problem] = calls


def calls_of(problem: Problem) -> Calls | None:
    """What the kernels call in Python that solve a problem; None where nothing is, or none was made here."""
    calls = _LAST.get(problem)
    return calls if calls is not None and calls.in_python else None


def _is_of_a_user(f: Function) -> bool:
    return isinstance(f, FromCallable) or type(f).__module__.partition(".")[0] != "constraints"


def _callback(f: Function, seats: Pool[_Seat], raised: dict[int, BaseException], spent: dict[int, float]) -> Any:
    """What is called in place of a function."""

    def call(x: int, y: int, J: int | None) -> int:
        try:
            began, seat = perf_counter(), seats.take()
            try:
                seat.evaluate(f, x, y, J)
                found = VALUE
            except UndefinedError:
                found = NO_VALUE
            seats.give(seat)
            thread = get_ident()
            spent[thread] = spent.get(thread, 0.0) + perf_counter() - began
            return found
        except BaseException as error:
            raised.setdefault(get_ident(), error)  # the first one
            return RAISED

    return call
