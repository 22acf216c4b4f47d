"""Functions made by writing them down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups.arguments import finite_number, finite_vector, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields

from ..errors import OptionError, SizeError, UndefinedError, UnknownNameError, WrongObjectError
from ..workspace import Workspace
from .affine import Constant
from .algebra import Difference
from .combined import Combined
from .enclosures import operators as enclosing
from .enclosures.box import Enclosure, TangentBox
from .expressions.jets import Jet
from .expressions.operators import BILINEAR, OPERATORS, rotated_back
from .formula import named
from .function import Function, as_functions
from .lifted import common_inputs
from .stacked import Stacked


@dataclass(frozen=True, eq=False, repr=False)
class Expression(Combined):
    r"""An operator of the values of functions, as it is made by writing it down: `f * g`, `norm(f)`, `sin(f)`.

    .. math:: h(q) = \varphi(f_1(q), \dots, f_n(q)), \quad J = \sum_i \partial_i\varphi\, J_i

    The table of operators: product, quotient, power, dot, cross, norm, rotated, inverse, minimum, maximum, smooth_abs,
    sqrt, sin, cos, atan2, exp, log. Those of numbers are taken by row; an operand of one row goes with all rows of the
    other one. Jacobian, drift and derivatives of accelerations are exact where those of the functions are.

    Args:
        operator: its name in the table.
        functions: its operands, of one robot or space.
        number: the exponent of a power, the width of a `smooth_abs`; else None.
        name: name in messages.

    Attributes:
        turns_back: whether it is a vector rotated by an inverse: it is made of the rotation, which is not inverted.
        known: the one function that it is, seen from a frame by hand: a position or a centre of mass p in
            `rotated(inverse(R), p - o)`, with R and o the rotation and position of one frame. None for all others.

    Shapes:
        value (outputs.nq,), jacobian (outputs.nv, inputs.nv): sizes and units are the operator's.

    Raises:
        UnknownNameError: no operator of that name.
        SizeError, SpaceMismatchError: operands that do not fit it.
        RobotMismatchError: functions of two robots.
        UndefinedError: when evaluated where it has no value: the message says why.

    Source: `CalculusBase` of hpp-constraints, for products, dot, cross and rotated vectors.

    Example:
        >>> from constraints import Position, Rotation
        >>> from constraints.functions import cos, rotated
        >>> from constraints.models import sample_arm
        >>> arm = sample_arm()
        >>> height = Position(arm, "tool")[2] * rotated(Rotation(arm, "tool"), [0.0, 0.0, 1.0])[2]
        >>> print(height)
        Position(tool)[2] * rotated(Rotation(tool), [0, 0, 1])[2]
        >>> print(height.formula())
        Position(robot, 'tool')[2] * rotated(Rotation(robot, 'tool'), [0.0, 0.0, 1.0])[2]
    """

    operator: str
    functions: Sequence[Function]
    number: float | None = None
    name: str = field(default="", kw_only=True)

    turns_back: bool = field(init=False)
    known: Function | None = field(init=False)
    _number: float = field(init=False)

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            raise UnknownNameError("operator", self.operator, list(OPERATORS))
        row, functions = OPERATORS[self.operator], as_functions(self.functions, f"'{self.operator}'", "functions")
        if len(functions) != row.count:
            raise SizeError(f"functions of '{row.name}'", row.count, len(functions))
        if row.takes_number != (self.number is not None):
            raise OptionError(
                f"'{row.name}' {'needs a' if row.takes_number else 'takes no'} number beside its functions"
            )
        number = 0.0 if self.number is None else finite_number(self.number, f"number of '{row.name}'")
        set_fields(self, functions=functions, number=None if self.number is None else number, _number=number)
        first, *others = functions
        turn = first.functions[0] if isinstance(first, Expression) and first.operator == "inverse" else None
        back = row.name == "rotated" and turn is not None
        what = self.name or named(self)
        inputs = common_inputs(functions, f"inputs of {what}")
        outputs = row.outputs([f.outputs for f in functions], what)
        known = None
        if back and turn is not None and isinstance(apart := others[0], Difference):
            known = apart.left.relative(turn, apart.right)
        set_fields(self, turns_back=back, known=known)
        self.declare_of([known] if known else functions, inputs, outputs, what)

    @property
    def operands(self) -> Sequence[Function]:
        """The functions whose values are taken: of an inverse that rotates a vector, the rotation itself."""
        if self.known is not None:
            return (self.known,)
        first: Any = self.functions[0]
        return (first.functions[0], *self.functions[1:]) if self.turns_back else self.functions

    def combine(self, jets: Sequence[Jet], workspace: Workspace) -> Jet:
        """By the row of the table."""
        if self.known is not None:
            return jets[0]
        try:
            combine = rotated_back if self.turns_back else OPERATORS[self.operator].combine
            return combine(jets, self._number, self.outputs)
        except UndefinedError as error:
            raise UndefinedError(f"{self.name}: {error}") from None

    def bend(self, jets: Sequence[Jet], y: Vector, workspace: Workspace) -> Matrix:
        """Of a bilinear operator by its values of unit vectors."""
        times = BILINEAR.get(self.operator)
        if times is None:
            return super().bend(jets, y, workspace)
        n, m = (f.outputs.nv for f in self.operands)
        mixed = np.array([y @ times(unit[:, None], np.eye(m)) for unit in np.eye(n)])
        return np.block([[np.zeros((n, n)), mixed], [mixed.T, np.zeros((m, m))]])

    def enclose(self, parts: Sequence[Enclosure], box: TangentBox) -> Enclosure:
        """By the rule of the operator."""
        first, *others = parts
        if self.known is not None:
            return first
        try:
            if self.turns_back:
                first = enclosing.enclose("inverse", [first], 0.0, self.operands[0].outputs, box)
            return enclosing.enclose(self.operator, [first, *others], self._number, self.outputs, box)
        except UndefinedError as error:
            raise UndefinedError(f"{self.name}: {error}", error.where) from None


# What users write.


def operand(candidate: object, beside: Function, what: str, size: int = 0) -> Function:
    """A function; a number or a vector as a constant one of the same inputs.

    Args:
        candidate: what a user wrote.
        beside: another operand.
        what: how messages call it.
        size: to which a number is filled up; 0 leaves it a number.

    Raises:
        WrongObjectError: neither a function nor numbers.
        SizeError: a matrix.
    """
    if isinstance(candidate, Function):
        return candidate
    words = "a Function, a number or a vector"
    numbers: Any = candidate
    if isinstance(numbers, str | bytes) or numbers is None:
        raise WrongObjectError(what, words, repr(numbers))
    vector = real_numbers(numbers, what, words, finite=True)
    if vector.ndim > 1:
        raise SizeError(what, "a number or a vector (a matrix is written A @ f)", vector.shape)
    values = np.full(size or 1, float(vector)) if vector.ndim == 0 else vector
    shown = [f"{x:.4g}" for x in np.atleast_1d(vector).tolist()]
    name = shown[0] if vector.ndim == 0 else f"[{', '.join(shown)}]"
    return Constant(finite_vector(values, values.size, what), inputs=beside.inputs, name=name)


def expression(operator: str, *candidates: object, number: float | None = None) -> Expression:
    """An operator of functions and numbers, of which one is a function at least.

    Args:
        operator: its name.
        candidates: the operands.
        number: that of the operator.

    Raises:
        WrongObjectError: none of them is a function, or one is neither a function nor numbers.
    """
    beside = next((f for f in candidates if isinstance(f, Function)), None)
    if beside is None:
        raise WrongObjectError(f"operand of {operator}", "a Function", candidates[0])
    listed = [operand(f, beside, f"operand of {operator}") for f in candidates]
    return Expression(operator, listed, number)


def dot(f: Function | ArrayLike, g: Function | ArrayLike) -> Expression:
    """The scalar product of two vectors, :math:`f^T g`: functions, or one and numbers."""
    return expression("dot", f, g)


def cross(f: Function | ArrayLike, g: Function | ArrayLike) -> Expression:
    r"""The cross product of two vectors of three numbers, :math:`f \times g`: functions, or one and numbers."""
    return expression("cross", f, g)


def norm(f: Function) -> Expression:
    r"""The norm of a vector, :math:`\sqrt{f^T f}`. It has no value below 1e-12, where it has no derivative."""
    return expression("norm", f)


def rotated(R: Function, p: Function | ArrayLike) -> Expression:
    r"""The vector :math:`R p`: a rotation, as `Rotation(robot, frame)`, of a vector of three numbers."""
    return expression("rotated", R, p)


def inverse(f: Function) -> Expression:
    r"""The inverse :math:`f(q)^{-1}` of a rotation or pose."""
    return expression("inverse", f)


def stack(*functions: Function | ArrayLike) -> Stacked:
    r"""Several functions one under the other, :math:`(f, g, \dots)`, numbers among them: `Stacked`."""
    beside = next((f for f in functions if isinstance(f, Function)), None)
    if beside is None:
        raise WrongObjectError("operand of stack", "a Function", functions)
    return Stacked([operand(f, beside, "operand of stack") for f in functions])


def minimum(f: Function | ArrayLike, g: Function | ArrayLike) -> Expression:
    r"""The lesser of two values, :math:`\min(f_i, g_i)`, by row; of equal ones with the derivatives of the first."""
    return expression("minimum", f, g)


def maximum(f: Function | ArrayLike, g: Function | ArrayLike) -> Expression:
    r"""The greater of two values, :math:`\max(f_i, g_i)`, by row; of equal ones with the derivatives of the first."""
    return expression("maximum", f, g)


def smooth_abs(f: Function, width: float) -> Expression:
    r"""An absolute value without a kink, :math:`\sqrt{f^2 + w^2} - w`, by row: at most w below :math:`|f|`.

    Args:
        f: a function into R^n.
        width: w, positive, in the units of f.
    """
    width = finite_number(width, "width of smooth_abs")
    if not width > 0.0:
        raise OptionError(f"width of smooth_abs: expected a positive number, got {width:g}")
    return expression("smooth_abs", f, number=width)


def sqrt(f: Function) -> Expression:
    r"""Square roots :math:`\sqrt{f_i}`, by row. There is none of 0 or less."""
    return expression("sqrt", f)


def sin(f: Function) -> Expression:
    r"""Sines :math:`\sin f_i` of angles [rad], by row."""
    return expression("sin", f)


def cos(f: Function) -> Expression:
    r"""Cosines :math:`\cos f_i` of angles [rad], by row."""
    return expression("cos", f)


def atan2(y: Function | ArrayLike, x: Function | ArrayLike) -> Expression:
    r"""The angles of vectors (x, y), in :math:`(-\pi, \pi]`, by row. There is none of (0, 0)."""
    return expression("atan2", y, x)


def exp(f: Function) -> Expression:
    """Exponentials :math:`e^{f_i}`, by row. There is none of more than 709.78."""
    return expression("exp", f)


def log(f: Function) -> Expression:
    r"""Natural logarithms :math:`\ln f_i`, by row. There is none of 0 or less."""
    return expression("log", f)
