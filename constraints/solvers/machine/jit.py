"""What makes a kernel of a Python function: the one place that knows numba."""

from __future__ import annotations

import ctypes
import importlib
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from . import lanes
from .cache import keep_on_disk, kept_no_more
from .compiling import OF_ENTRANCES, OF_KERNELS, is_called_where_it_is, remembering

_C = TypeVar("_C", bound=type[Any])
_F = TypeVar("_F", bound=Callable[..., Any])

_numba: Any = importlib.import_module("numba")
_extending: Any = importlib.import_module("numba.extending")

Integers = Any
"""Integers at an address, read by index; in Python an array does as well."""
Floats = Any
"""Floating-point numbers at an address; where they are memory (W) they may be in lanes."""
Numbers = Any
"""An array of integers (n,)."""
Vector = Any
"""An array of floating-point numbers (n,)."""
Matrix = Any
"""The same (n, m)."""

_types: Any = _numba.types
_TYPES = {
    "int": _types.int64,
    "float": _types.float64,
    "bool": _types.boolean,
    "Integers": _types.CPointer(_types.int64),
    "Floats": _types.CPointer(_types.float64),
    "Numbers": _types.int64[::1],
    "Vector": _types.float64[::1],
    "Matrix": _types.float64[:, ::1],
}
_PLAIN = bool(_numba.config.DISABLE_JIT)
_CALLED_KIND = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)
_RULES = {"nogil": True, "error_model": "numpy", "boundscheck": False}


def record(cls: _C) -> _C:
    """A named tuple of integers, that kernels take and give by the name of its class."""
    fields: Any = vars(cls)["_fields"]
    _TYPES[cls.__name__] = _types.NamedUniTuple(_types.int64, len(fields), cls)
    return cls


def kernel(function: _F) -> _F:
    """The function, compiled for the types of its annotations when another kernel that calls it is; for lanes too.

    Where it is given something in lanes it is compiled once more: `float` and `bool` are then lanes or the same for
    all, as they come, and what it returns is what comes of them. Kernels take their memory as arguments and allocate
    nothing; they use scalar mathematics and each other. Divisions are those of IEEE 754, no floating-point operation
    is reordered, the interpreter's lock is released.
    """
    if _PLAIN:
        return function
    return _called_by_kernels(function, OF_KERNELS)


def shared(function: _F) -> _F:
    """A kernel that is compiled at once, or read from the disk, as an entrance is, for one number.

    Other entrances call it where it is, and have no copy of it: none of them compiles it again. For lanes it is a
    kernel as the others.
    """
    if _PLAIN or not OF_ENTRANCES:
        return kernel(function)
    made: Any = _called_by_kernels(function, OF_ENTRANCES)
    _compiled(made, _signature(function))
    kept_no_more(made)
    is_called_where_it_is(made.overloads[_signature(function)].library)
    return made


def entrance(function: _F) -> _F:
    """A kernel that Python calls, compiled at once, or read from the disk; the others go without what that takes."""
    if _PLAIN:
        return function
    made: Any = _numba.njit(**_RULES, **OF_ENTRANCES)(function)
    _compiled(made, _signature(function))
    return made


def _called_by_kernels(function: Any, how: dict[str, Any]) -> Any:
    rules = {**_RULES, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}  # nothing is counted
    made: Any = _numba.njit(**rules, **how)(function)
    made.get_call_template = _once(made, _signature(function))
    return made


def _compiled(made: Any, signature: tuple[Any, ...]) -> None:
    keep_on_disk(made)
    with remembering():
        made.compile(signature)
    made.disable_compile()


def _signature(function: Callable[..., Any]) -> tuple[Any, ...]:
    return tuple(_TYPES[name] for what, name in function.__annotations__.items() if what != "return")


def _once(made: Any, signature: tuple[Any, ...]) -> Callable[[Any, Any], Any]:
    """What numba asks a kernel for its types by: one signature, where it would make one for each constant argument."""
    ask: Any = made.get_call_template

    def template(arguments: Any, keywords: Any) -> Any:
        asked = signature
        if any(map(lanes.is_in_lanes, arguments)):
            asked = tuple(
                as_annotated if isinstance(kind, _types.Integer) else _types.unliteral(kind)
                for kind, as_annotated in zip(arguments, signature, strict=True)
            )
        if asked not in made.overloads:
            made.disable_compile(False)
            made.compile(asked)
            made.disable_compile()
        return ask(arguments, keywords)

    return template


def _as_bits(numbers: Any) -> Any:
    return numbers.view("int64")


@_extending.intrinsic
def _as_bits_compiled(context: Any, numbers: Any) -> Any:
    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    return _types.CPointer(_types.int64)(numbers), generate


def _floats_at(number: Any) -> Any:
    return number


def _integers_at(number: Any) -> Any:
    return number


def _taken(numbers: Any, count: Any) -> Any:
    before = int(numbers[0])
    numbers[0] = before + count
    return before


@_extending.intrinsic
def _taken_at_once(context: Any, numbers: Any, count: Any) -> Any:
    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", arguments[0], arguments[1], "monotonic")

    return _types.int64(_types.CPointer(_types.int64), _types.int64), generate


def _called_at(address: Any, numbers: Any, x: Any, nx: Any, y: Any, ny: Any, j: Any, nj: Any) -> Any:
    given, value, slopes = ((ctypes.c_double * max(n, 1))() for n in (nx, ny, nj))
    given[:nx] = [numbers[x + i] for i in range(nx)]
    code = _CALLED_KIND(int(address))(given, value, slopes if j >= 0 else None)
    for at, count, written in ((y, ny, value), (j, nj if j >= 0 else 0, slopes)):
        for i in range(count):
            numbers[at + i] = written[i]
    return code


@_extending.intrinsic
def _called_at_once(context: Any, address: Any, numbers: Any, x: Any, nx: Any, y: Any, ny: Any, j: Any, nj: Any) -> Any:
    ir: Any = importlib.import_module("llvmlite.ir")
    word, code = ir.IntType(64), ir.IntType(32)

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where, base, at, _, value, _, slopes, _ = arguments
        asked = builder.icmp_signed(">=", slopes, ir.Constant(word, 0))
        last = builder.select(asked, builder.gep(base, [slopes]), ir.Constant(base.type, None))
        kind = ir.FunctionType(code, [base.type] * 3).as_pointer()
        found = builder.call(builder.inttoptr(where, kind), [builder.gep(base, [at]), builder.gep(base, [value]), last])
        return builder.sext(found, word)

    return _types.int64(_types.int64, _types.CPointer(_types.float64), *[_types.int64] * 6), generate


def _pointer(kind: Any) -> Callable[..., Any]:
    def intrinsic(context: Any, number: Any) -> Any:
        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], target.get_value_type(signature.return_type))

        return _types.CPointer(kind)(number), generate

    return intrinsic


def places(*arrays: Any) -> Any:
    """Where arrays are, as one array of addresses; whoever holds it holds them too.

    A call from Python unpacks it in 0.07 us; the three arrays take three times as long.
    """
    if _PLAIN:
        return arrays
    return np.array([array.ctypes.data for array in arrays])


def in_lanes(numbers: Any, memories: int) -> list[Any]:
    """Memories in lanes, each lane with these numbers; arrays (n lanes,) at addresses of 64 bytes."""
    size = numbers.size * LANES
    whole = np.empty((memories, -(-size // 8) * 8 + 8))
    first = -(whole.ctypes.data // 8) % 8
    flat, stride = whole.reshape(-1), whole.shape[1] - 8
    made = [flat[first + n * stride : first + n * stride + size] for n in range(memories)]
    for one in made:
        one.reshape(-1, LANES)[:] = numbers[:, None]
    return made


integers_at = _integers_at if _PLAIN else _extending.intrinsic(_pointer(_types.int64))
"""The integers at an address of `places`: indices into them are taken as they are.

An index into an array asks at each access whether it is negative, which costs 3 times the whole of a small product of
matrices (418 and 137 ns for 6 x 7 by 7 x 6)."""

floats_at = _floats_at if _PLAIN else _extending.intrinsic(_pointer(_types.float64))
"""The floating-point numbers at an address of `places`, in the same way."""

taken = _taken if _PLAIN else _taken_at_once
"""Add a count to the first of the integers at an address, and say what it was before: no two threads get the same."""

called_at = _called_at if _PLAIN else _called_at_once
"""Call int f(const double *x, double *y, double *J) at an address, on numbers (x, y, J: where, and how many each).

J is NULL where it is negative. What f returns.
"""

as_bits = _as_bits if _PLAIN else _as_bits_compiled
"""The bits of floating-point numbers, as 64-bit integers at the same address."""

# Numbers in lanes: each of these is for one number too, and in Python.

LANES = lanes.LANES
"""Number of lanes; 1 without a compiler."""
TO_INTEGER = 1.5 * 2.0**52
"""Added to a number it leaves the nearest integer in the last bits."""


def _off(m: Any) -> Any:
    return not m


def _any_of(m: Any) -> Any:
    return bool(m)


def _which_of(m: Any) -> Any:
    return int(m)


def _chosen(m: Any, x: Any, y: Any) -> Any:
    return float(x) if m else float(y)


def _is_odd(turns: Any) -> Any:
    return math.isfinite(turns) and int(turns - TO_INTEGER) % 2 == 1


def _signed(turns: Any, x: Any) -> Any:
    return -x if math.isfinite(turns) and int(turns - TO_INTEGER) % 4 > 1 else x


def _has_same_bits(x: Any, y: Any) -> Any:
    return np.float64(x).tobytes() == np.float64(y).tobytes()


def _rounded(x: Any) -> Any:
    return float(np.rint(x))


def _ceiling(x: Any) -> Any:
    return float(np.ceil(x))


def _sine(x: Any) -> Any:
    return math.sin(x) if math.isfinite(x) else math.nan


def _cosine(x: Any) -> Any:
    return math.cos(x) if math.isfinite(x) else math.nan


def _count_of(numbers: Any) -> Any:
    return 1


def _one_by_one(numbers: Any) -> Any:
    return numbers


off = _off if _PLAIN else lanes.off
"""Where a mask is false."""

any_of = _any_of if _PLAIN else lanes.any_of
"""Whether a mask is true in any lane: a branch that skips what no lane asks for, and the branch of a single one."""

which_of = _which_of if _PLAIN else lanes.which_of
"""The lanes in which a mask is true, as bits of an integer."""

chosen = _chosen if _PLAIN else lanes.chosen
"""The first number where a mask is true, the second one elsewhere. Both are calculated: neither may divide by zero."""

is_odd = _is_odd if _PLAIN else lanes.is_odd
"""Whether the integer in the last bits of a number above 2^52 is odd."""

signed = _signed if _PLAIN else lanes.signed
"""The second number, its sign changed where the integer in the last bits of the first one is 2 or 3 by 4."""

has_same_bits = _has_same_bits if _PLAIN else lanes.has_same_bits
"""Whether two numbers have the same bits."""

rounded = _rounded if _PLAIN else lanes.rounded
"""The nearest integer, the even one of two."""

ceiling = _ceiling if _PLAIN else lanes.ceiling
"""The least integer that is not less."""

sine_by_library = _sine if _PLAIN else lanes.sine_by_library
"""The sine of the C library, lane for lane."""

cosine_by_library = _cosine if _PLAIN else lanes.cosine_by_library
"""The cosine of the C library, lane for lane."""

exponential_by_library = math.exp if _PLAIN else lanes.exponential_by_library
"""The exponential of the C library, lane for lane."""

logarithm_by_library = math.log if _PLAIN else lanes.logarithm_by_library
"""The logarithm of the C library, lane for lane; of positive numbers."""

count_of = _count_of if _PLAIN else lanes.count_of
"""In how many lanes memory is."""

one_by_one = _one_by_one if _PLAIN else lanes.one_by_one
"""Memory in lanes as single numbers: those of entry i are from `i * count_of(memory)` on."""

lanes_at = _floats_at if _PLAIN else _extending.intrinsic(_pointer(_types.float64 if LANES == 1 else lanes.lanes))
"""Numbers in lanes at an address of `places`, which is one of 64 bytes."""
