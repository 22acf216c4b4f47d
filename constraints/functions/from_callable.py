"""Any function of the user's as a differentiable one: in Python, or in machine code."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from liegroups import Space
from liegroups.arguments import as_callable, real_numbers, truth_values
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector
from liegroups.frozen import set_fields
from liegroups.space import as_space

from ..errors import FunctionError, NotPicklableError, SizeError, UndefinedError, WrongObjectError
from ..point import MovingPoint, Point
from ..questions import ask_once
from ..robot.arguments import point_numbers
from ..robot.placement import shape_of
from .differences import (
    automatic_slopes,
    complex_slopes,
    differentiated_by,
    drift_by_values,
    force_derivative_by_differences,
    why_not_complex,
)
from .function import Function

if TYPE_CHECKING:
    from .reading import Reading

_KIND = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)
EXPECTED = "an address, a function pointer of ctypes, or what numba.cfunc makes"
DIFFERENCE = 1e-6
"""Of central differences [rad, m]: their error is 1e-12 by curvature, 1e-10 by rounding, both relative."""
SAME_VALUES = 1e-9
"""Values of two calls agree to this, relative to 1 + their size: sums of threads may differ by rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class FromCallable(Function):
    r"""A Python function of a configuration: with its Jacobian, as a formula, by complex steps, or by differences.

    Where no Jacobian is given its formula is read, if it can be: the function is called once with marks in place of
    numbers. What it captures is frozen then. A reading counts if value and Jacobian are those of the function at 100
    random configurations. Derivatives are exact then, and the compiled engine evaluates it without Python;
    `describe()` says whether it was read. Derivatives of a function that is not read, but takes complex numbers, are by
    complex steps, exact to rounding: :math:`J e_i = \mathrm{Im}\,f(q + i h e_i) / h` with h = 1e-20. They are tested
    at 8 random configurations (26 + 6 n calls for n numbers), and in one direction wherever a Jacobian is made, each
    row by its own size: a function that takes an absolute value, a norm or a conjugate is told by that. `describe()`
    says why there are none. Where it calls the numpy of `autograd` or of `jax` (in double precision), that library
    differentiates it, if it agrees with differences at 8 random configurations. Elsewhere, and along rotations,
    derivatives are

    .. math:: J e_i \approx \frac{f(q \oplus h e_i) \ominus f(q \oplus -h e_i)}{2h}

    along the manifold, with h = 1e-6 (about 1e-9 accurate for well scaled functions).
    It can be pickled if the callables can.

    Args:
        f: takes q (inputs.nq,) and returns the value, (outputs.nq,) or a number; a placement or rotation where outputs
            are poses or rotations.
        inputs, outputs: the two spaces.
        jac: takes q and returns (outputs.nv, inputs.nv) in tangent coordinates.
        used: (inputs.nv,) true for the columns it depends on; all by default.
        label: name in messages; `f.__name__` by default.
        trace: False leaves the formula unread, as for a function that captures what will change.

    Attributes:
        read: the formula; None where there is none.
        exact_columns: (inputs.nv,) true for those by complex steps or by a library.
        library: what differentiates it, "autograd" or "jax"; else empty.

    Shapes:
        value (outputs.nq,), jacobian (outputs.nv, inputs.nv).

    Raises:
        SizeError: the callable returns something of another size.
        FunctionError: it writes into q, or gives two values for one q; looked at once, when its first Jacobian is made.
        NotNormalizedError: it returns a rotation or pose with a unit vector that does not have norm 1.

    Source: Squire and Trapp, Using complex variables to estimate derivatives of real functions, 1998, for the steps.
    """

    f: Callable[[Vector], ArrayLike]
    inputs: Space
    outputs: Space
    jac: Callable[[Vector], ArrayLike] | None = None
    used: ArrayLike | None = field(default=None)
    label: str | None = None
    trace: bool = field(default=True, kw_only=True)

    read: Function | None = field(init=False)
    exact_columns: BoolVector = field(init=False)
    library: str = field(init=False)
    _unread: str = field(init=False)

    def __post_init__(self) -> None:
        words = "a callable of a configuration"
        as_callable(self.f, "function", words)
        for what in ("inputs", "outputs"):
            as_space(getattr(self, what), what)
        name = self.label or getattr(self.f, "__name__", type(self.f).__name__)
        if self.jac is not None:
            as_callable(self.jac, f"jacobian of {name}", words)
        columns = f"columns of {name}"
        used = None if self.used is None else truth_values(self.used, columns, "booleans by tangent column")
        self.declare(self.inputs, self.outputs, used, name=name)
        reading = self._reading(used)
        set_fields(self, read=reading.formula, _unread=reading.reason)
        if reading.formula is not None:
            self.declare(self.inputs, self.outputs, reading.formula.columns, name=name)
        exact, library = np.zeros(self.inputs.nv, dtype=np.bool_), ""
        if self.read is None and self.jac is None:
            reason = why_not_complex(self.f, self.inputs, self.outputs, self.columns)
            if reason:
                set_fields(self, _unread=f"{self._unread}; {reason}")
                library = differentiated_by(self.f, self.inputs, self.outputs, self.columns)
            if library or not reason:
                exact[self.inputs.vector_v] = self.columns[self.inputs.vector_v]
        set_fields(self, exact_columns=exact, library=library)

    def _reading(self, used: BoolVector | None) -> Reading:
        from .reading import Reading, read

        if self.jac is not None:
            return Reading(None, "its Jacobian is given")
        if not self.trace:
            return Reading(None, "trace=False")
        return read(self.f, self.inputs, self.outputs, used)

    def describe(self) -> str:
        """How it is evaluated, in words: as a formula, or in Python, and by which derivatives."""
        if self.read is not None:
            return f"{self.name}: read as {self.read.name}, with what it captured when it was made"
        by = "central differences" if self.jac is None else "the Jacobian that was given"
        if self.exact_columns.any():
            along = self.columns & ~self.exact_columns
            by = f"derivatives by {self.library}" if self.library else "complex steps"
            by += ", along rotations central differences" if along.any() else ""
        return f"{self.name}: in Python, with {by} ({self._unread})"

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        q = point.q
        if self.read is not None:
            try:
                self.read.evaluate(point, value, jacobian)
            except UndefinedError as error:
                raise UndefinedError(f"{self.name}: {error}") from None
            return
        with np.errstate(invalid="ignore", divide="ignore"):  # the search says so, once
            value[:] = self._call(q)
            if jacobian is None:
                return
            if self not in _SEEN:
                self._look_at(q, value)
            if self.jac is None:
                self._difference(q, value, jacobian)
                return
            J = real_numbers(asked(self.jac, q, f"Jacobian of {self.name}"), f"Jacobian of {self.name}")
        shape = (self.outputs.nv, self.inputs.nv)
        if J.shape != shape and not (J.ndim < 2 and 1 in shape and J.size == shape[0] * shape[1]):
            raise SizeError(f"Jacobian of {self.name}", shape, J.shape)
        jacobian[:, self.columns] = J.reshape(shape)[:, self.columns]

    def _difference(self, q: Vector, value: Vector, jacobian: Matrix) -> None:
        """The Jacobian by complex steps, where they are right, or by a library, and by central differences."""
        exact = self.exact_columns
        if exact.any():
            entries = self.inputs.vector_q[exact[self.inputs.vector_v]]
            J = self._slopes(q, value, entries)
            if J is None:
                exact = np.zeros_like(exact)
            else:
                jacobian[:, exact] = J
        for i in np.flatnonzero(self.columns & ~exact).tolist():
            jacobian[:, i] = self._slope(q, np.eye(self.inputs.nv)[i])

    def _slopes(self, q: Vector, value: Vector, entries: Indices) -> Matrix | None:
        """Derivatives (outputs.nv, entries) by the library, or by complex steps where these are right."""
        if self.library:
            return automatic_slopes(self.library, self.f, q, entries)
        return complex_slopes(self.f, q, value, entries)

    def _slope(self, q: Vector, direction: Vector) -> Vector:
        """The derivative along a tangent vector (inputs.nv,), by a central difference."""
        behind, ahead = (self._call(self.inputs.integrate(q, step * direction)) for step in (-DIFFERENCE, DIFFERENCE))
        return self.outputs.difference(behind, ahead) / (2.0 * DIFFERENCE)

    @property
    def calls_for_jacobian(self) -> int:
        """How often the function is called for a Jacobian that was not given."""
        exact, others = (int(np.count_nonzero(c)) for c in (self.exact_columns, self.columns & ~self.exact_columns))
        return (1 if self.library else exact + (2 if exact else 0)) + 2 * others

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        if self.read is None and self.jac is None and (self.columns & ~self.exact_columns).any():
            drift_by_values(self, motion, out)
        else:
            (super() if self.read is None else self.read).drift(motion, out)

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        (super() if self.read is None else self.read).drift_derivatives(motion, a, dq, dv)

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        if self.read is None:
            force_derivative_by_differences(self, point, y, out)
        else:
            self.read.force_derivative(point, y, out)

    @property
    def has_exact_drift(self) -> bool:
        return self.read is not None and self.read.has_exact_drift

    @property
    def has_exact_derivatives(self) -> bool:
        return self.read is not None and self.read.has_exact_derivatives

    def _look_at(self, q: Vector, value: Vector) -> None:
        """Once: that a second call gives the same, and writes nothing into its argument.

        Raises:
            FunctionError: it does not; names the function.
        """
        _SEEN.add(self)
        given = q.copy()
        came: Any = asked(self.f, given, self.name, copies=False)
        again = self._numbers(came)
        if self.jac is None and str(getattr(came, "dtype", "")) in ("float16", "float32"):
            ask_once(f"{self.name} gives {came.dtype}: differences of it have 4 digits or less; compute in float64")
        if given.tobytes() != q.tobytes():
            entry = int(np.flatnonzero(given != q)[0])
            seen = f"{self.name} writes into its argument: entry {entry} of q was {q[entry]:.6g}, is {given[entry]:.6g}"
            raise FunctionError(self.name, seen, "work on a copy, q = np.array(q)")
        apart = np.abs(again - value)
        if apart.max(initial=0.0) > SAME_VALUES * (1.0 + float(np.abs(value).max(initial=0.0))):
            row = int(apart.argmax())
            seen = f"{self.name} gives two values for one q: entry {row} is {value[row]:.9g}, then {again[row]:.9g}"
            raise FunctionError(self.name, seen, "a function may not draw random numbers, nor keep anything")

    def _numbers(self, came: ArrayLike) -> Vector:
        """What it gave as numbers (outputs.nq,); of a placement or rotation those of the outputs."""
        what, shape = f"value of {self.name}", shape_of(came)
        if shape != (self.outputs.nq,) and (shape or self.outputs.unit_blocks):
            came = point_numbers(came, self.outputs, what)
        value = real_numbers(came, what)
        if value.size != self.outputs.nq:
            raise SizeError(what, (self.outputs.nq,), value.shape)
        return value.reshape(-1)

    def _call(self, q: Vector) -> Vector:
        value = self._numbers(asked(self.f, q, self.name))
        if self.outputs.unit_blocks and np.isfinite(value).all():
            self.outputs.check(value, f"value of {self.name}")
        return value.copy()  # it may be the function's own buffer, which the next call overwrites


_SEEN: WeakSet[FromCallable] = WeakSet()
"""Functions that were called twice."""


def asked(function: Callable[[Vector], ArrayLike], q: Vector, name: str, copies: bool = True) -> ArrayLike:
    """What a user's function gives, of a copy of q; what it raises gets a note that names it.

    Args:
        function: the function.
        q: configuration (nq,).
        name: what messages call it.
        copies: whether it gets a copy.
    """
    try:
        return function(q.copy() if copies else q)
    except Exception as error:
        error.add_note(f"raised by the function '{name}' at q = {np.array2string(q, precision=4, threshold=12)}")
        raise


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
        if travels is None and _by_name(*source) is not self.code:
            travels = function  # a function without a name: cloudpickle takes it, pickle says what it does not
        made = sys.modules["numba"].cfunc, signature
        return _made_again, (travels, source, made, self.inputs, self.outputs, self.used, self.label)


_FUNCTION_POINTER: Any = getattr(ctypes, "_CFuncPtr")  # noqa: B009


def _address_of(code: Any, name: str) -> int:
    """Where machine code begins."""
    what = f"compiled function '{name}'"
    address = getattr(code, "address", code)
    if isinstance(code, _FUNCTION_POINTER):
        address = ctypes.cast(code, ctypes.c_void_p).value
    if isinstance(address, bool) or not isinstance(address, int) or not 0 < address < 2**63:
        raise WrongObjectError(what, EXPECTED, code)
    return address


def _by_name(module: str, name: str) -> Any:
    """What has this name in a module; None where nothing has."""
    try:
        return resolve_name(f"{module}:{name}")
    except (AttributeError, ImportError, ValueError):
        return None


def _made_again(
    function: Any, source: tuple[str, str], made: tuple[Any, str], inputs: Space, outputs: Space, used: Any, label: Any
) -> CompiledFunction:
    """A function from its Python function, compiled here."""
    found = _by_name(*source) if function is None else function
    if not hasattr(found, "address"):
        maker, signature = made
        found = maker(signature)(found)
    return CompiledFunction(found, inputs, outputs, used, label)
