"""Functions that are no kernels, called by them: in Python through a callback, in machine code at its address.

Kernels call `int f(const double *x, double *y, double *J)`. What they get of a Python function is a callback that
places a copy of x in a workspace of its own and evaluates the function there. An exception leaves no trace in C: it is
kept, the callback says so by what it returns, and whoever called the kernel raises it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from threading import get_ident
from time import perf_counter
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import FunctionError, UndefinedError
from ...functions.callables.compiled_function import CompiledFunction
from ...functions.function import Function
from ...point import Point, place
from ...workspace import Pool, Workspace

RAISED, VALUE, NO_VALUE = 1, 2, 3
"""What callbacks return. Nothing of it is 0, which ctypes returns for a callback that was interrupted outside of it."""
OF_MACHINE_CODE = 0
"""What functions in machine code return where they have a value; 1 where they have none."""
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

    __slots__ = ("_arrays", "_points", "_seen", "seconds")

    def __init__(self) -> None:
        self._points: dict[int, Point] = {}
        self._seen: dict[int, bytes] = {}
        self._arrays: dict[int, tuple[Vector, Matrix]] = {}
        self.seconds = 0.0

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


class PythonTime(NamedTuple):
    """Time that a thread has spent in Python functions [s], and calls of them."""

    seconds: float
    calls: int


@final
class Calls:
    """What kernels of one packed problem call; whoever holds the problem holds it. It never leaves this process.

    Attributes:
        called: functions, as kernels number them.
    """

    def __init__(self) -> None:
        self.called: list[_Called] = []
        self._numbers: dict[int, int] = {}
        self._raised: dict[int, BaseException] = {}
        self._spent: dict[int, list[float]] = {}
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

    def spent(self) -> PythonTime:
        """Time that this thread has spent in them so far."""
        seconds, calls = self._spent.get(get_ident(), (0.0, 0))
        return PythonTime(seconds, int(calls))

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


def _callback(f: Function, seats: Pool[_Seat], raised: dict[int, BaseException], spent: dict[int, list[float]]) -> Any:
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
            mine = spent.setdefault(get_ident(), [0.0, 0.0])
            mine[0] += perf_counter() - began
            mine[1] += 1.0
            return found
        except BaseException as error:
            raised.setdefault(get_ident(), error)  # the first one
            return RAISED

    return call
