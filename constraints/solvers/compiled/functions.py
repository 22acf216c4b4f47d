"""How functions are packed: a table by exact type; every other function is called. Functions know nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from liegroups import Segments

from ...functions import (
    Affine,
    AngleAbout,
    CenterOfMass,
    ComBetweenFeet,
    Composition,
    Constant,
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    Difference,
    Expression,
    FromCallable,
    Function,
    Identity,
    Orientation,
    Polynomial,
    Pose,
    Position,
    Rotation,
    Stacked,
    Sum,
    Transformation,
)
from ...functions.contact.contact_pose import PoseOfContact
from ...functions.frames.frame_function import Framed
from ...functions.frames.mass import MassFunction
from ...functions.frames.pose_from_rows import PoseFromRows
from ...functions.lifted import Lifted
from ...functions.restriction import Restriction
from ...functions.translation import RightTranslation, Translated
from ...rows.twin import Twin
from ..machine import layout
from .contact_functions import contact, pose_of_contact
from .frame_functions import frames, pose
from .mass_functions import center, com_between_feet
from .operators import emit_operator
from .packing import NO_ARGUMENT, Argument, PackedResult, Packer


def pack_function(packer: Packer, f: Function, argument: Argument, result: PackedResult) -> None:
    """Emit the instructions of a function; its call, where it is not of a type of the table, a subclass too."""
    pack = TABLE.get(type(f), _called)
    if isinstance(f, (Framed, MassFunction)) and not argument.is_configuration:
        pack = _called  # joints are placed by the configuration itself
    if pack is _called or not packer.attempt(partial(pack, packer, f, argument, result)):
        _called(packer, f, argument, result)


def _called(packer: Packer, f: Function, argument: Argument, result: PackedResult) -> None:
    """Emit the call of a function: the one instruction that any function has."""
    used = [(int(k), int(argument.columns[k])) for k in np.flatnonzero(f.columns) if argument.columns[k] >= 0]
    number = packer.calls.add(f)
    one = packer.calls.called[number]
    sizes = f.inputs.nq, f.outputs.nq, f.outputs.nv, f.inputs.nv
    pairs = [i for pair in used for i in pair]
    table = packer.table([one.address, one.has_value, number, *sizes, len(used), *pairs])
    memory = packer.memory(sizes[0] + sizes[1] + sizes[2] * sizes[3])
    columns = packer.counted(packer.columns_of(f, argument))
    packer.emit(layout.CALLED, argument.at, result, columns, table, memory)


def operand(packer: Packer, f: Function, argument: Argument) -> PackedResult:
    """Where the value of an operand is; its instructions are emitted where no other one is alike."""
    return packer.operand(f, argument, lambda result: pack_function(packer, f, argument, result))


def _affine(packer: Packer, f: Affine, argument: Argument, result: PackedResult) -> None:
    A, b = np.asarray(f.A, dtype=np.float64), np.asarray(f.b, dtype=np.float64)
    space: Any = f.inputs
    entry = np.zeros(space.nv, dtype=np.int64)
    entry[space.vector_v] = space.vector_q
    table, numbers = [A.shape[0]], list[float]()
    for row, offset in zip(A, b, strict=True):
        used = np.flatnonzero(row).tolist()
        table += [len(used), *[i for k in used for i in (int(entry[k]), int(argument.columns[k]))]]
        numbers += [float(offset), *row[used].tolist()]
    columns = packer.counted(packer.columns_of(f, argument))
    packer.emit(layout.AFFINE, argument.at, result, columns, packer.table(table), numbers=packer.constants(numbers))


def pack_copy(
    packer: Packer, at: int, result: PackedResult, entries: Iterable[int], columns: Sequence[int] = ()
) -> None:
    """Entries of what is somewhere in W, with the columns of those that move."""
    counted = packer.counted([c for c in columns if c >= 0])
    packer.emit(layout.COPY, at, result, counted, packer.counted(entries), packer.counted(columns))


def _identity(packer: Packer, f: Function, argument: Argument, result: PackedResult) -> None:
    pack_copy(packer, argument.at, result, range(f.inputs.nq), argument.columns.tolist())


def _constant(packer: Packer, f: Constant, argument: Argument, result: PackedResult) -> None:
    pack_copy(packer, packer.filled(f.constant), result, range(np.size(f.constant)))


def _translation(packer: Packer, f: RightTranslation, argument: Argument, result: PackedResult) -> None:
    _identity(packer, f, argument, result)
    pack_product(packer, f, argument, result, packer.filled(f.constant))


def pack_product(packer: Packer, f: Function, argument: Argument, result: PackedResult, element: int) -> None:
    """The value of a function times a point of its group, in place.

    A pose times a point is the pose of another frame: a matrix, whose quaternion has its own sign.
    """
    columns = packer.counted(packer.columns_of(f, argument))
    pose_of_frame = int(type(f) is Pose and f.outputs.atoms[0][0] == "SE3")
    packer.emit(layout.PRODUCT, NO_ARGUMENT, result, columns, packer.group(f.outputs), element, pose_of_frame)


def _translated(packer: Packer, f: Translated, argument: Argument, result: PackedResult) -> None:
    element = packer.filled(f.constant)
    pack_translated(packer, f.inner, element, f.outer, argument, result)


def pack_translated(
    packer: Packer, f: Function, element: int, outer: Function | None, argument: Argument, result: PackedResult
) -> None:
    """A function times a point of its group that is somewhere in W, and another function of that."""
    if outer is None:
        pack_function(packer, f, argument, result)
        pack_product(packer, f, argument, result, element)
        return
    inside = packer.own_result(f, argument)
    pack_function(packer, f, argument, inside)
    pack_product(packer, f, argument, inside, element)
    _after(packer, outer, f, inside, argument, result)


def _composition(packer: Packer, f: Composition, argument: Argument, result: PackedResult) -> None:
    inside = operand(packer, f.inner, argument)
    _after(packer, f.outer, f.inner, inside, argument, result)


def _after(
    packer: Packer, outer: Function, inner: Function, inside: PackedResult, argument: Argument, result: PackedResult
) -> None:
    """A function of a value that another one has written, with the chain rule."""
    value = Argument(inside.value, np.arange(outer.inputs.nv, dtype=np.int64))
    own = packer.own_result(outer, value)
    pack_function(packer, outer, value, PackedResult(result.value, own.jacobian, own.stride))
    columns = packer.counted(packer.columns_of(inner, argument))
    sizes = outer.outputs.nv, inner.outputs.nv
    packer.emit(layout.CHAIN_RULE, NO_ARGUMENT, result, columns, own.jacobian, inside.jacobian, *sizes)


def _lifted(packer: Packer, f: Lifted, argument: Argument, result: PackedResult) -> None:
    q, v = f.block.q_indices, f.block.v_indices
    if len(q) and (np.diff(q) == 1).all():
        at = argument.at + int(q[0])
        pack_function(packer, f.function, Argument(at, argument.columns[v], argument.is_configuration), result)
        return
    gathered = packer.memory(len(q))
    pack_copy(packer, argument.at, PackedResult.of_value(gathered), q)
    pack_function(packer, f.function, Argument(gathered, argument.columns[v]), result)


def _stacked(packer: Packer, f: Stacked, argument: Argument, result: PackedResult) -> None:
    q = v = 0
    for part in f.functions:
        pack_function(packer, part, argument, result.rows(q, v))
        q, v = q + part.outputs.nq, v + part.outputs.nv


def _restriction(packer: Packer, f: Restriction, argument: Argument, result: PackedResult) -> None:
    inside, rows = operand(packer, f.function, argument), cast("Segments", f.rows)
    entries = packer.counted(rows.q_indices), packer.counted(rows.v_indices)
    columns = packer.counted(packer.columns_of(f, argument))
    packer.emit(layout.SELECT, inside.value, result, columns, *entries, inside.jacobian, inside.stride)


def _twin(packer: Packer, f: Twin, argument: Argument, result: PackedResult) -> None:
    _quotient(packer, f.f, f.g, argument, result)


def _quotient(
    packer: Packer, f: Function, g: Function, argument: Argument, result: PackedResult
) -> tuple[int, int, int]:
    """The value of f, inverted, times that of g: the two values, and the columns of both."""
    inside_f, inside_g = packer.own_result(f, argument), packer.own_result(g, argument)
    pack_function(packer, f, argument, inside_f)
    pack_function(packer, g, argument, inside_g)
    columns = packer.counted(sorted({*packer.columns_of(f, argument), *packer.columns_of(g, argument)}))
    fields = inside_f.jacobian, inside_g.value, inside_g.jacobian, packer.group(f.outputs)
    packer.emit(layout.TWIN, inside_f.value, result, columns, *fields)
    return inside_f.value, inside_g.value, columns


def _difference(packer: Packer, f: Difference, argument: Argument, result: PackedResult) -> None:
    if f.left.outputs.is_flat:
        _added(packer, f, (f.left, f.right), [1.0, -1.0], argument, result)
        return
    group, quotient = f.left.outputs, packer.memory(f.left.outputs.nq)
    inside = PackedResult(quotient, result.jacobian, result.stride)
    x, y, columns = _quotient(packer, f.right, f.left, argument, inside)
    packer.emit(layout.LOGARITHM, x, result, columns, b=y, d=packer.group(group))


def _expression(packer: Packer, f: Expression, argument: Argument, result: PackedResult) -> None:
    if f.known is not None:
        pack_function(packer, f.known, argument, result)
        return
    columns = packer.counted(packer.columns_of(f, argument))
    if f.operator == "inverse":  # the instruction writes into the Jacobian that it reads
        inside, group = packer.own_result(f.functions[0], argument), f.outputs
        pack_function(packer, f.functions[0], argument, inside)
        one = packer.own_result(f, argument)
        fields = inside.jacobian, packer.filled(group.neutral), one.jacobian, packer.group(group)
        packer.emit(layout.TWIN, inside.value, result, columns, *fields)
        return
    emit_operator(packer, f, [operand(packer, part, argument) for part in f.operands], result, columns)


def _pose_from_rows(packer: Packer, f: PoseFromRows, argument: Argument, result: PackedResult) -> None:
    columns = packer.counted(packer.columns_of(f, argument))
    packer.emit(layout.POSE_FROM_ROWS, argument.at, result, columns, b=packer.counted(argument.columns))


def _sum(packer: Packer, f: Sum, argument: Argument, result: PackedResult) -> None:
    _added(packer, f, f.functions, f.factors, argument, result)


def _added(
    packer: Packer, f: Function, parts: Sequence[Function], factors: Any, argument: Argument, result: PackedResult
) -> None:
    """The sum of some functions, each with its factor."""
    terms = list[list[int]]()
    for part in parts:
        inside = operand(packer, part, argument)
        terms.append([inside.value, inside.jacobian, packer.counted(packer.columns_of(part, argument))])
    columns, factors = packer.counted(packer.columns_of(f, argument)), packer.constants(factors)
    packer.emit(layout.SUM, NO_ARGUMENT, result, columns, packer.records(terms), f.outputs.nv, numbers=factors)


def _from_callable(packer: Packer, f: FromCallable, argument: Argument, result: PackedResult) -> None:
    """Its formula, where that was read."""
    (_called if f.read is None else pack_function)(packer, f if f.read is None else f.read, argument, result)


def _angle_about(packer: Packer, f: AngleAbout, argument: Argument, result: PackedResult) -> None:
    pack_function(packer, f.written, argument, result)


def _polynomial(packer: Packer, f: Polynomial, argument: Argument, result: PackedResult) -> None:
    affine = Affine(f.weights, [f.offset], f.inputs)
    inside = packer.own_result(affine, argument)
    _affine(packer, affine, argument, inside)
    a = np.asarray(f.coefficients, dtype=np.float64).ravel()
    columns = packer.counted(packer.columns_of(f, argument))
    numbers = packer.constants([*a, *a[1:] * np.arange(1, a.size)])
    packer.emit(layout.POLYNOMIAL, inside.value, result, columns, a.size, c=inside.jacobian, numbers=numbers)


TABLE: dict[type[Function], Callable[[Packer, Any, Argument, PackedResult], None]] = {
    Pose: pose,
    Position: frames(layout.POSITION),
    Orientation: frames(layout.ORIENTATION),
    Transformation: frames(layout.TRANSFORMATION),
    Rotation: frames(layout.ROTATION),
    CenterOfMass: center,
    ComBetweenFeet: com_between_feet,
    ConvexShapeContact: contact(layout.CONTACT),
    ConvexShapeContactComplement: contact(layout.CONTACT_PLACE),
    ConvexShapeContactHold: contact(layout.CONTACT_HOLD),
    PoseOfContact: pose_of_contact,
    Affine: _affine,
    Polynomial: _polynomial,
    Identity: _identity,
    Constant: _constant,
    RightTranslation: _translation,
    Translated: _translated,
    Composition: _composition,
    Difference: _difference,
    Sum: _sum,
    Expression: _expression,
    AngleAbout: _angle_about,
    FromCallable: _from_callable,
    Lifted: _lifted,
    Stacked: _stacked,
    Restriction: _restriction,
    Twin: _twin,
    PoseFromRows: _pose_from_rows,
}
"""Functions by their type: how each is packed."""
