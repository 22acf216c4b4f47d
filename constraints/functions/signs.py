"""The signs of functions, `f + g`, `2 * f`, `f * g`, `f ** 2`, `f[2]`, `A @ f`, and numpy's functions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Real
from operator import neg, pos
from typing import TYPE_CHECKING, Any, NoReturn, final

import numpy as np

from liegroups import Segments
from liegroups.arguments import integers
from liegroups.arrays import ArrayLike

from ..errors import OperatorError, SizeError, SpaceMismatchError, WrongObjectError
from ..words import bracketed

if TYPE_CHECKING:
    from .algebra import Composition, Difference, Sum
    from .expression import Expression
    from .function import Function
    from .restriction import Restriction

    Operand = Function | ArrayLike

APPLIED = "g @ f applies g to the value of f, with g = Function.from_callable(lambda x: ..., f.outputs, Rn(1))"
"""What is said of formulas that functions do not have."""

_IN_ORDER = "rows of f come in their order, each once; stack(f[2], f[0]) gives another one"


class Signs:
    """Operators of functions, and what numpy's functions make of them. Numbers and vectors beside one are constants."""

    @final
    def __matmul__(self, other: Function) -> Composition:
        """`(f @ g)(q) = f(g(q))`."""
        from .algebra import Composition

        return Composition(_own(self), other)

    @final
    def __rmatmul__(self, A: ArrayLike) -> Composition:
        """`(A @ f)(q) = A f(q)` of a matrix (m, outputs.nv) and a function into R^n; short for `Affine(A) @ f`."""
        from .affine import Affine

        f = _own(self)
        try:
            affine = Affine(A, inputs=f.outputs)
        except SizeError:
            if f.outputs.vector_v.size:
                raise
            into = f"{f.outputs.name} (for a pose, use Position for the point and Orientation for the angles)"
            raise SpaceMismatchError(f"outputs of {f.name} in A @ f", "R^n", into) from None
        return affine @ f

    @final
    def __add__(self, other: Operand) -> Sum:
        """`(f + g)(q) = f(q) + g(q)`, of functions into R^n."""
        from .algebra import Sum

        f = _own(self)
        return Sum.of(f, _beside(f, other, f"what is added to {f.name}"))

    @final
    def __radd__(self, other: Operand) -> Function:
        """As `f + c`; `sum([f, g])` starts at 0."""
        f = _own(self)
        if type(other) is int and other == 0:
            return f
        from .algebra import Sum

        return Sum.of(_beside(f, other, f"what {f.name} is added to"), f)

    @final
    def __sub__(self, other: Operand) -> Difference:
        """`(f - g)(q) = f(q) (-) g(q)`, in the tangent space of the outputs."""
        from .algebra import Difference

        f = _own(self)
        return Difference(f, _beside(f, other, f"right of {f.name} - ..."))

    @final
    def __rsub__(self, other: Operand) -> Difference:
        """`c - f` of a number or vector c."""
        from .algebra import Difference

        f = _own(self)
        return Difference(_beside(f, other, f"left of ... - {f.name}"), f)

    @final
    def __mul__(self, other: Operand) -> Sum | Expression:
        """`(c f)(q) = c f(q)` of a number; of a function, or a vector, the product by row."""
        from .algebra import Sum
        from .expression import expression

        f = _own(self)
        return Sum.scaled(other, f) if _is_number(other) else expression("product", f, other)

    @final
    def __rmul__(self, other: Operand) -> Sum | Expression:
        """As `f * c`."""
        from .expression import expression

        return self * other if _is_number(other) else expression("product", other, self)

    @final
    def __truediv__(self, other: Operand) -> Sum | Expression:
        """`(f / c)(q) = f(q) / c` of a number; of a function, or a vector, the quotient by row."""
        from .algebra import Sum
        from .expression import expression

        f = _own(self)
        if isinstance(other, str) or (_is_number(other) and not other):
            raise WrongObjectError(f"what {f.name} is divided by", "a number other than 0", repr(other))
        return Sum.divided(f, other) if _is_number(other) else expression("quotient", f, other)

    @final
    def __rtruediv__(self, other: Operand) -> Expression:
        """`c / f` of a number or vector c, by row."""
        from .expression import expression

        return expression("quotient", other, self)

    @final
    def __pow__(self, exponent: float) -> Expression:
        """`f ** c`, by row."""
        from .expression import expression

        if isinstance(exponent, Signs):
            raise OperatorError(f"{self} ** {exponent}", "of two functions it is exp(g * log(f))")
        return expression("power", self, number=exponent)

    @final
    def __rpow__(self, base: object) -> NoReturn:
        """Refused: it is an exponential."""
        raise OperatorError(f"{base!r} ** {bracketed(str(self))}", "of a number c it is exp(log(c) * f)")

    @final
    def __neg__(self) -> Sum:
        """`(-f)(q) = -f(q)`, of a function into R^n."""
        from .algebra import Sum

        return Sum.scaled(-1.0, _own(self))

    @final
    def __pos__(self) -> Function:
        """The function itself."""
        return _own(self)

    @final
    def __getitem__(self, rows: int | slice | Sequence[int] | Segments) -> Restriction:
        """`f[2]`, `f[1:3]`, `f[[0, 2]]`: some rows of the value, by tangent rows, in their order; see `restricted`."""
        f = _own(self)
        if isinstance(rows, Segments):
            return f.restricted(rows)
        listed = _row_numbers(rows, f)
        if any(a >= b for a, b in pairwise(listed)):
            raise OperatorError(f"{bracketed(f.name)}[{rows!r}]", _IN_ORDER)
        return f.restricted(listed)

    @final
    def formula(self) -> str:
        """The function as Python text, of `robot` and the names of `constraints.functions`, that gives it again.

        `eval(f.formula(), {"robot": robot, **vars(constraints.functions)})`. Spaces and groups have their names in
        `liegroups`. What is Python code has its own name, which must be given too.
        """
        from .formula import formula_of

        return formula_of(_own(self))

    if not TYPE_CHECKING:

        def __iter__(self) -> NoReturn:
            """Refused: a loop over rows would make a function of each."""
            raise OperatorError(f"a loop over {self.name}", "f[0], f[1], ... are its rows")

        def __abs__(self) -> NoReturn:
            """Refused: it has a kink, and two ways to be written."""
            raise OperatorError(f"abs({self.name})", "smooth_abs(f, width) has no kink; maximum(f, -f) is the value")

        def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
            """Numpy's functions of numbers, and operators of an array on the left; nothing else of numpy takes one."""
            if ufunc in (np.equal, np.not_equal):
                return ufunc is np.not_equal
            made = _UFUNCS.get(ufunc)
            if method == "__call__" and not options and made is not None:
                return made(*operands)
            words = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            raise OperatorError(f"np.{words}({self.name})", APPLIED)

        def __array_function__(self, function: Any, types: Any, operands: Any, options: Any) -> Any:
            """Numpy's functions of vectors."""
            made = _OF_VECTORS.get(function)
            if made is not None and not options:
                return made(*operands)
            raise OperatorError(f"np.{function.__name__}({self.name})", APPLIED)


def _own(signs: Any) -> Function:
    """Whoever has signs is a function."""
    return signs


def _is_number(candidate: object) -> bool:
    return not isinstance(candidate, bool) and isinstance(candidate, Real)


def _beside(f: Function, candidate: object, what: str) -> Function:
    """What is added to a function, or taken off: another one, or numbers where its outputs are such."""
    from .expression import operand
    from .function import Function

    if isinstance(candidate, Function) or f.outputs.is_flat:
        return operand(candidate, f, what, f.outputs.nv)
    raise WrongObjectError(what, "a Function (for a value: Constant(value, f.outputs, f.inputs))", candidate)


def _row_numbers(rows: Any, f: Function) -> list[int]:
    if isinstance(rows, slice):
        return list(range(f.outputs.nv)[rows])
    listed = integers([rows] if isinstance(rows, int | np.integer) else rows, f"rows of {f.name}", "row numbers")
    return [i + f.outputs.nv if i < 0 else i for i in listed]


def _of_expressions(name: str) -> Callable[..., Any]:
    """A function of the room of expressions, by its name."""

    def made(*operands: Any) -> Any:
        from . import expression

        return getattr(expression, name)(*operands)

    return made


def _stacked(functions: Any) -> Any:
    return _of_expressions("stack")(*functions)


def _square(f: Any) -> Any:
    return f**2


def _reciprocal(f: Any) -> Any:
    return 1.0 / f


def _either(sign: str, of_right: str) -> Callable[[Any, Any], Any]:
    """A sign of the function on its left, or that of the one on its right."""

    def made(x: Any, y: Any) -> Any:
        return getattr(x, sign)(y) if isinstance(x, Signs) else getattr(y, of_right)(x)

    return made


_UFUNCS: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): _of_expressions(name) for name in ("minimum", "maximum", "sqrt", "sin", "cos", "exp", "log")},
    np.arctan2: _of_expressions("atan2"),
    np.add: _either("__add__", "__radd__"),
    np.subtract: _either("__sub__", "__rsub__"),
    np.multiply: _either("__mul__", "__rmul__"),
    np.true_divide: _either("__truediv__", "__rtruediv__"),
    np.matmul: _either("__matmul__", "__rmatmul__"),
    np.power: _either("__pow__", "__rpow__"),
    np.square: _square,
    np.reciprocal: _reciprocal,
    np.negative: neg,
    np.positive: pos,
    np.absolute: abs,
    np.less_equal: _either("__le__", "__ge__"),
    np.less: _either("__lt__", "__gt__"),
    np.greater_equal: _either("__ge__", "__le__"),
    np.greater: _either("__gt__", "__lt__"),
}
"""Numpy's functions of numbers -> what they are of functions."""

_OF_VECTORS: dict[Any, Callable[..., Any]] = {
    np.linalg.norm: _of_expressions("norm"),
    np.dot: _of_expressions("dot"),
    np.cross: _of_expressions("cross"),
    np.concatenate: _stacked,
    np.hstack: _stacked,
}
"""Numpy's functions of vectors -> what they are of functions."""
