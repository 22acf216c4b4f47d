"""How operators of functions are packed: an instruction each."""

from __future__ import annotations

from collections.abc import Sequence

from ...functions import Expression
from ..machine import layout
from .packing import PackedResult, Packer

OF_ONE_NUMBER = {
    "sin": layout.SINE,
    "cos": layout.COSINE,
    "power": layout.POWER,
    "smooth_abs": layout.SMOOTH_ABS,
    "sqrt": layout.SQUARE_ROOT,
    "exp": layout.EXPONENTIAL,
    "log": layout.NATURAL_LOGARITHM,
}
"""Operators of each number of one operand."""

OF_TWO_NUMBERS = {
    "product": layout.PRODUCT_OF,
    "quotient": layout.QUOTIENT_OF,
    "atan2": layout.ANGLE_OF,
    "minimum": layout.LESSER_OF,
    "maximum": layout.GREATER_OF,
}
"""Operators of pairs of numbers of two operands."""

OF_VECTORS = {"cross": layout.CROSS_PRODUCT, "rotated": layout.ROTATED_VECTOR}
"""Operators of two vectors, or a rotation and a vector."""


def emit_operator(
    packer: Packer, f: Expression, operands: Sequence[PackedResult], result: PackedResult, columns: int
) -> None:
    """Emit the instruction of an operator.

    Args:
        packer: what collects instructions.
        f: the expression; not an inverse.
        operands: where the values of its operands are.
        result: where its value goes.
        columns: at in I: count, then the columns of its Jacobian.
    """
    x, rows, sizes = operands[0], f.outputs.nv, [g.outputs.nv for g in f.operands]
    if f.operator in OF_ONE_NUMBER:
        number = 0.0 if f.number is None else f.number
        numbers, slopes = packer.constants([number, float(number == int(number))]), packer.memory(rows)
        fields = OF_ONE_NUMBER[f.operator], x.jacobian, rows, slopes
        packer.emit(layout.POINTWISE, x.value, result, columns, *fields, numbers)
        return
    if f.operator == "norm":
        packer.emit(layout.NORM_OF, x.value, result, columns, sizes[0], x.jacobian)
        return
    y = operands[1]
    if f.operator in OF_TWO_NUMBERS:
        table = packer.table([y.jacobian, rows, *sizes, packer.memory(2 * rows)])
        packer.emit(layout.PAIRED, x.value, result, columns, OF_TWO_NUMBERS[f.operator], x.jacobian, y.value, table)
        return
    operation = layout.DOT if f.operator == "dot" else OF_VECTORS[f.operator]
    a = int(f.turns_back) if f.operator == "rotated" else sizes[0]
    packer.emit(operation, x.value, result, columns, a, x.jacobian, y.value, y.jacobian)
