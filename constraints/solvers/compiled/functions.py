"""How functions are packed: a table by exact type. Functions know nothing of it, and a subclass is another function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from liegroups import Segments

from ...functions import (
    Affine,
    CenterOfMass,
    Constant,
    Identity,
    Orientation,
    Pose,
    Position,
    Rotation,
    Stacked,
    Transformation,
)
from ...functions.algebra import Composition
from ...functions.frame_function import FrameFunction
from ...functions.function import Function
from ...functions.lifted import Lifted
from ...functions.pose_from_rows import PoseFromRows
from ...functions.restriction import Restriction
from ...functions.translation import RightTranslation, Translated
from ...functions.twin import Twin
from . import layout
from .packing import Argument, NotPacked, Packer, Result, numbers_of


def pack_function(packer: Packer, f: Function, argument: Argument, result: Result) -> None:
    """Emit the instructions of a function.

    Raises:
        NotPacked: it is not of a type of the table, or is made of a function that is not.
    """
    pack = TABLE.get(type(f))
    if pack is None:
        raise NotPacked(f"{f.name}, a {type(f).__name__}")
    pack(packer, f, argument, result)


def pack_frames(
    packer: Packer,
    operation: int,
    f: FrameFunction,
    argument: Argument,
    result: Result,
    table: int = 0,
    numbers: Sequence[float] = (),
    memory: int = 0,
) -> None:
    """An instruction of a frame seen from another, with a table, numbers and memory of its own behind those of all."""
    pose_a, frame_a = packer.pose_of(f.robot, argument, f.frame_a)
    pose_b, frame_b = packer.pose_of(f.robot, argument, f.frame_b)
    plus, minus = _chains(packer, f, argument)
    columns = packer.counted([*plus, *minus])
    constants = packer.constants([*numbers_of(frame_a), *numbers_of(frame_b), *numbers])
    fields = columns, pose_a, pose_b, packer.memory(36 + memory), len(plus), constants
    packer.emit(operation, table, result, *fields)


def _frames(operation: int) -> Callable[[Packer, Any, Argument, Result], None]:
    """Functions of a frame seen from another."""

    def pack(packer: Packer, f: FrameFunction, argument: Argument, result: Result) -> None:
        pack_frames(packer, operation, f, argument, result)

    return pack


def _chains(packer: Packer, f: FrameFunction, argument: Argument) -> tuple[list[int], list[int]]:
    """Columns of the joints that carry frame b alone, and frame a alone."""
    tree = packer.tree(f.robot, argument)
    chains = [tree.with_carriers([tree.joint(frame.joint)[1]]) for frame in (f.frame_b, f.frame_a)]
    own = [[c for j in sorted(chain - other) for c in tree.joints[j].columns if c >= 0]
           for chain, other in (chains, chains[::-1])]  # fmt: skip
    return own[0], own[1]


def _pose(packer: Packer, f: Pose, argument: Argument, result: Result) -> None:
    operation = layout.POSE if f.outputs.atoms[0][0] == "SE3" else layout.POSE_R3XSO3
    _frames(operation)(packer, f, argument, result)


def _center(packer: Packer, f: CenterOfMass, argument: Argument, result: Result) -> None:
    tree, model = packer.tree(f.robot, argument), f.robot.model
    pose, frame = packer.pose_of(f.robot, argument, f.frame_a)
    massive: dict[int, Any] = {}
    for index in f.moving_joints:
        _, number, turn = tree.joint(index)
        inertia: Any = model.inertias[index]
        massive[number] = inertia.mass, turn.inverse() * inertia.lever
    bodies = sorted(tree.with_carriers(massive))
    packer.used.update(bodies)
    place = {number: n for n, number in enumerate(bodies)}
    table, numbers = list[tuple[int, int]](), [*numbers_of(frame)]
    for number in bodies:
        joint = tree.joints[number]
        table.append((joint.record[layout.PLACED], place[joint.parent] if joint.parent >= 0 else -1))
        mass, lever = massive.get(number, (0.0, np.zeros(3)))
        numbers += [mass, *np.asarray(lever).tolist()]
    on_a = tree.with_carriers([tree.joint(f.frame_a.joint)[1]])
    wanted, columns, moved = set(packer.columns_of(f, argument)), list[int](), list[tuple[int, int]]()
    for number, joint in enumerate(tree.joints):
        for column in joint.columns:
            if column in wanted:
                columns.append(column)
                moved.append((place.get(number, -1), int(number in on_a)))
    packer.emit(
        layout.CENTER,
        0,
        result,
        packer.counted(columns),
        packer.records(table),
        packer.table([i for record in moved for i in record]),
        packer.memory(12 + 4 * len(bodies)),
        pose,
        packer.constants(numbers),
    )


def _affine(packer: Packer, f: Affine, argument: Argument, result: Result) -> None:
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


def _copy(packer: Packer, argument: Argument, result: Result, entries: list[int], columns: list[int]) -> None:
    counted = packer.counted([c for c in columns if c >= 0])
    packer.emit(layout.COPY, argument.at, result, counted, packer.counted(entries), packer.counted(columns))


def _identity(packer: Packer, f: Identity, argument: Argument, result: Result) -> None:
    _copy(packer, argument, result, list(range(f.inputs.nq)), argument.columns.tolist())


def _constant(packer: Packer, f: Constant, argument: Argument, result: Result) -> None:
    value = np.asarray(f.constant)
    entries = packer.counted(range(value.size))
    packer.emit(layout.COPY, packer.filled(value), result, packer.counted([]), entries, packer.counted([]))


def _translation(packer: Packer, f: RightTranslation, argument: Argument, result: Result) -> None:
    _copy(packer, argument, result, list(range(f.inputs.nq)), argument.columns.tolist())
    pack_product(packer, f, argument, result, packer.filled(f.constant))


def pack_product(packer: Packer, f: Function, argument: Argument, result: Result, element: int) -> None:
    """The value of a function times a point of its group, in place."""
    columns = packer.counted(packer.columns_of(f, argument))
    packer.emit(layout.PRODUCT, 0, result, columns, packer.group(f.outputs), element)


def _translated(packer: Packer, f: Translated, argument: Argument, result: Result) -> None:
    element = packer.filled(f.constant)
    pack_translated(packer, f.inner, element, f.outer, argument, result)


def pack_translated(
    packer: Packer, f: Function, element: int, outer: Function | None, argument: Argument, result: Result
) -> None:
    """A function times a point of its group that is somewhere in W, and another function of that."""
    if outer is None:
        pack_function(packer, f, argument, result)
        pack_product(packer, f, argument, result, element)
        return
    inside = packer.own_jacobian(f)
    pack_function(packer, f, argument, inside)
    pack_product(packer, f, argument, inside, element)
    _after(packer, outer, f, inside, argument, result)


def _composition(packer: Packer, f: Composition, argument: Argument, result: Result) -> None:
    inside = packer.own_jacobian(f.inner)
    pack_function(packer, f.inner, argument, inside)
    _after(packer, f.outer, f.inner, inside, argument, result)


def _after(
    packer: Packer, outer: Function, inner: Function, inside: Result, argument: Argument, result: Result
) -> None:
    """A function of a value that another one has written, with the chain rule."""
    own = packer.own_jacobian(outer, local=True)
    local = np.arange(outer.inputs.nv, dtype=np.int64)
    pack_function(packer, outer, Argument(inside.value, local), Result(result.value, own.jacobian, own.stride))
    columns = packer.counted(packer.columns_of(inner, argument))
    sizes = outer.outputs.nv, inner.outputs.nv
    packer.emit(layout.CHAIN_RULE, 0, result, columns, own.jacobian, inside.jacobian, *sizes)


def _lifted(packer: Packer, f: Lifted, argument: Argument, result: Result) -> None:
    q, v = f.block.q_indices, f.block.v_indices
    if len(q) and (np.diff(q) == 1).all():
        at = argument.at + int(q[0])
        pack_function(packer, f.function, Argument(at, argument.columns[v], argument.is_configuration), result)
        return
    gathered = packer.memory(len(q))
    nothing = Result(gathered, 0, 0)
    packer.emit(layout.COPY, argument.at, nothing, packer.counted([]), packer.counted(q), packer.counted([]))
    pack_function(packer, f.function, Argument(gathered, argument.columns[v]), result)


def _stacked(packer: Packer, f: Stacked, argument: Argument, result: Result) -> None:
    q = v = 0
    for part in f.functions:
        pack_function(packer, part, argument, result.rows(q, v))
        q, v = q + part.outputs.nq, v + part.outputs.nv


def _restriction(packer: Packer, f: Restriction, argument: Argument, result: Result) -> None:
    inside, rows = packer.own_jacobian(f.function), cast("Segments", f.rows)
    pack_function(packer, f.function, argument, inside)
    entries = packer.counted(rows.q_indices), packer.counted(rows.v_indices)
    columns = packer.counted(packer.columns_of(f, argument))
    packer.emit(layout.SELECT, inside.value, result, columns, *entries, inside.jacobian, inside.stride)


def _twin(packer: Packer, f: Twin, argument: Argument, result: Result) -> None:
    inside_f, inside_g = packer.own_jacobian(f.f), packer.own_jacobian(f.g)
    pack_function(packer, f.f, argument, inside_f)
    pack_function(packer, f.g, argument, inside_g)
    columns = packer.counted(packer.columns_of(f, argument))
    fields = inside_f.jacobian, inside_g.value, inside_g.jacobian, packer.group(f.outputs)
    packer.emit(layout.TWIN, inside_f.value, result, columns, *fields)


def _pose_from_rows(packer: Packer, f: PoseFromRows, argument: Argument, result: Result) -> None:
    columns = packer.counted(packer.columns_of(f, argument))
    packer.emit(layout.POSE_FROM_ROWS, argument.at, result, columns, b=packer.counted(argument.columns))


TABLE: dict[type[Function], Callable[[Packer, Any, Argument, Result], None]] = {
    Pose: _pose,
    Position: _frames(layout.POSITION),
    Orientation: _frames(layout.ORIENTATION),
    Transformation: _frames(layout.TRANSFORMATION),
    Rotation: _frames(layout.ROTATION),
    CenterOfMass: _center,
    Affine: _affine,
    Identity: _identity,
    Constant: _constant,
    RightTranslation: _translation,
    Translated: _translated,
    Composition: _composition,
    Lifted: _lifted,
    Stacked: _stacked,
    Restriction: _restriction,
    Twin: _twin,
    PoseFromRows: _pose_from_rows,
}
"""Functions by their type: how each is packed."""
