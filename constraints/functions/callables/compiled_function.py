"""Functions in machine code, by their address."""

from __future__ import annotations

import ctypes
import importlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups import Space
from liegroups.arguments import truth_values
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields
from liegroups.space import as_space

from ...errors import FunctionError, NotPicklableError, UndefinedError, WrongObjectError
from ...point import Point
from ..function import Function

_KIND = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)
EXPECTED = "an address, a function pointer of ctypes, or what numba.cfunc makes"


@dataclass(frozen=True, eq=False, repr=False)
class CompiledFunction(Function):
    r"""A function in machine code, made by `Function.compiled`.

    In C it is `int f(const double *q, double *value, double *jacobian)`. It reads q (inputs.nq,) and writes value
    (outputs.nq,) and, where `jacobian` is not NULL, all of it: (outputs.nv, inputs.nv) in tangent coordinates, row by
    row. It returns 0, or 1 where it has no value; anything else ends the projection with a FunctionError. It keeps no
    state, and several threads call it at once. Both engines call it, the compiled one without Python.

    Args:
        code: the address, which the caller keeps valid; a function pointer of ctypes; or what `numba.cfunc` made.
        inputs, outputs: the two spaces.
        used: (inputs.nv,) true for the columns it depends on; all by default.
        label: name in messages.

    Raises:
        WrongObjectError: something that has no address.
        FunctionError: it returns neither 0 nor 1.
        NotPicklableError: when pickled, unless it is a `numba.cfunc` of a function that other processes can import
            (or that cloudpickle takes along).
    """

    code: Any
    inputs: Space
    outputs: Space
    used: ArrayLike | None = None
    label: str | None = None

    place: int = field(init=False)
    _call: Any = field(init=False)

    def __post_init__(self) -> None:
        """Declare it, and look its address up."""
        for what in ("inputs", "outputs"):
            as_space(getattr(self, what), what)
        name = self.label or "compiled function"
        columns = f"columns of {name}"
        used = None if self.used is None else truth_values(self.used, columns, "booleans by tangent column")
        address = _address_of(self.code, name)
        set_fields(self, place=address, _call=_KIND(address))
        self.declare(self.inputs, self.outputs, used, name=name)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        q = np.ascontiguousarray(point.q)
        found, J = np.zeros(value.size), None if jacobian is None else np.zeros(jacobian.shape)
        code = self._call(q.ctypes.data, found.ctypes.data, None if J is None else J.ctypes.data)
        if code == 1:
            raise UndefinedError(f"{self.name} has no value there")
        if code != 0:
            mend = "a compiled function returns 0 with a value, and 1 where it has none"
            raise FunctionError(self.name, f"{self.name} returned {code}", mend)
        value[:] = found
        if jacobian is not None and J is not None:
            jacobian[:, self.columns] = J[:, self.columns]

    def __copy__(self) -> CompiledFunction:
        return self

    def __deepcopy__(self, memory: Any) -> CompiledFunction:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """A `numba.cfunc` is compiled again where it arrives; an address means nothing in another process.

        Raises:
            NotPicklableError: it is no `numba.cfunc`.
        """
        function = getattr(self.code, "__wrapped__", None)
        if function is None:
            raise NotPicklableError(
                f"{self.name} is an address of this process and cannot be sent to another one: use threads, or a "
                "numba.cfunc, which is compiled again there"
            )
        signature = str(self.code._sig)
        source = (function.__module__, function.__qualname__)
        travels: Any = function if _by_name(*source) is function else None
        if travels is None and not _is_at(self.code, *source):
            travels = function  # a function without a name: cloudpickle takes it, pickle says what it does not
        return _made_again, (travels, source, signature, self.inputs, self.outputs, self.used, self.label)


def _address_of(code: Any, name: str) -> int:
    """Where machine code begins."""
    what = f"compiled function '{name}'"
    address = getattr(code, "address", code)
    if isinstance(code, ctypes._CFuncPtr):  # pyright: ignore[reportPrivateUsage]
        address = ctypes.cast(code, ctypes.c_void_p).value
    if isinstance(address, bool) or not isinstance(address, int) or not 0 < address < 2**63:
        raise WrongObjectError(what, EXPECTED, code)
    return address


def _by_name(module: str, name: str) -> Any:
    """What has this name in a module; None where nothing has."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_at(code: Any, module: str, name: str) -> bool:
    """Whether a name of a module stands for this very code: a function that was decorated."""
    return _by_name(module, name) is code


def _made_again(
    function: Any, source: tuple[str, str], signature: str, inputs: Space, outputs: Space, used: Any, label: str | None
) -> CompiledFunction:
    """A function from its Python function, compiled here."""
    found = _by_name(*source) if function is None else function
    if not hasattr(found, "address"):
        found = importlib.import_module("numba").cfunc(signature)(found)
    return CompiledFunction(found, inputs, outputs, used, label)
