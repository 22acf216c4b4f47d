"""Packing: a problem as flat arrays, so that kernels can solve it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from liegroups import Space
from liegroups.arrays import Vector

from ...functions.combined import Likeness
from ...functions.function import Function
from ...robot import Frame, Robot
from ..machine import layout
from .calls import Calls
from .tree import PackedTree

Integers = NDArray[np.int64]

LEAVES = {"R": layout.VECTOR, "SO2": layout.SO2, "SO3": layout.SO3, "SE2": layout.SE2, "SE3": layout.SE3}
"""Kinds of leaves by the names of their groups."""


NO_ARGUMENT = 0
"""At [X] of instructions that read their arguments elsewhere."""


class NotPacked(Exception):
    """Something that the compiled engine does not solve; the message is the reason, for `why_not`."""


class Argument(NamedTuple):
    """Where a function gets its argument from.

    Attributes:
        at: of its entries, in W.
        columns: (inputs.nv,) the column that each tangent coordinate has in the Jacobian that is asked for, or -1.
        is_configuration: whether it is (a block of) the configuration itself, so that joints may be placed by it.
    """

    at: int
    columns: Integers
    is_configuration: bool = False

    @staticmethod
    def still(at: int, nv: int) -> Argument:
        """An argument that nothing moves."""
        return Argument(at, np.full(nv, -1, dtype=np.int64))


class PackedResult(NamedTuple):
    """Where a function writes to.

    Attributes:
        value: in W.
        jacobian: in W.
        stride: numbers from one of its columns to the next.
    """

    value: int
    jacobian: int
    stride: int

    @staticmethod
    def of_value(value: int) -> PackedResult:
        """Where a value is written to whose Jacobian nobody asks for."""
        return PackedResult(value, 0, 0)

    def rows(self, q: int, v: int) -> PackedResult:
        """What begins so many entries and rows further on."""
        return PackedResult(self.value + q, self.jacobian + v, self.stride)


@final
class Packer:
    """Collects the integers, constants and memory of a problem.

    Args:
        columns: how many columns Jacobians have.

    Attributes:
        columns: as given.
        header: the first entries of the integers.
        work: the memory as a projection finds it.
        used: joints that were asked for since somebody emptied it.
        calls: functions that are called.
    """

    def __init__(self, columns: int) -> None:
        self.columns, self.calls = columns, Calls()
        self.header: list[int] = [0] * layout.HEADER
        self._integers: list[int] = []
        self._floats: list[float] = [0.0]  # an offset of 0 stands for nothing
        self._work: list[float] = [0.0]
        self._tape: list[int] = []
        self._jacobians: list[tuple[int, int]] = []
        self._groups: dict[object, int] = {}
        self._alike = Likeness()
        self._operands: dict[tuple[int, int, bytes], PackedResult] = {}
        self._tree: PackedTree | None = None
        self.used: set[int] = set()

    # Memory.

    def table(self, entries: Iterable[int]) -> int:
        """Integers, as they are; where they are in I."""
        at = layout.HEADER + len(self._integers)
        self._integers += [int(i) for i in entries]
        return at

    def counted(self, entries: Iterable[int]) -> int:
        """A count, then integers; where they are in I."""
        listed = [int(i) for i in entries]
        return self.table([len(listed), *listed])

    def records(self, records: Sequence[Sequence[int]]) -> int:
        """A count, then records; where they are in I."""
        return self.table([len(records), *[i for record in records for i in record]])

    def constants(self, numbers: Any) -> int:
        """Floats; where they are in F."""
        at = len(self._floats)
        self._floats += np.asarray(numbers, dtype=np.float64).ravel().tolist()
        return at

    def memory(self, size: int) -> int:
        """Floats that change, zero at first; where they are in W."""
        return self.filled(np.zeros(size))

    def jacobian(self, size: int) -> int:
        """Floats of a Jacobian, in the same way; zero again after a try that ended where something has no value."""
        at = self.memory(size)
        self._jacobians.append((at, size))
        return at

    def filled(self, numbers: Any) -> int:
        """Floats in the memory, with what they hold at first; where they are in W."""
        at = len(self._work)
        self._work += np.asarray(numbers, dtype=np.float64).ravel().tolist()
        return at

    def group(self, space: Space) -> int:
        """Leaves of a space; where they are in I.

        Raises:
            NotPacked: a group that is not one of the library's.
        """
        key = space.atoms
        if key not in self._groups:
            self._groups[key] = self.records([leaf_of(leaf.space) for leaf in space.leaves()])
        return self._groups[key]

    def arrays(self) -> tuple[Integers, Vector, Vector]:
        """I, F, and W as a projection finds it."""
        self.header[layout.SIZE], self.header[layout.JACOBIANS] = len(self._work), self.records(self._jacobians)
        if self.header[layout.SCREENED]:  # behind what belongs to one projection
            self.header[layout.SCREENED] = self.memory(self.header[layout.TABLE_ROWS])
        integers = np.array([*self.header, *self._integers], dtype=np.int64)
        return integers, np.array(self._floats), np.array(self._work)

    # Instructions.

    def recorded(self, write: Callable[[], None]) -> int:
        """The tape of the instructions that `write` emits; where it is in I."""
        outer, self._tape, operands, self._operands = self._tape, [], self._operands, {}
        write()
        tape, self._tape, self._operands = self._tape, outer, operands
        return self.table([len(tape) // layout.INSTRUCTION_SIZE, *tape])

    def attempt(self, write: Callable[[], None]) -> bool:
        """Have instructions emitted, or none of them; whether they were."""
        count, operands = len(self._tape), dict(self._operands)
        try:
            write()
        except NotPacked:
            del self._tape[count:]
            self._operands = operands
            return False
        return True

    def emit(
        self,
        operation: int,
        argument: int,
        result: PackedResult,
        columns: int,
        a: int = 0,
        b: int = 0,
        c: int = 0,
        d: int = 0,
        numbers: int = 0,
    ) -> None:
        """One instruction, of `layout`'s fields."""
        self._tape += [operation, argument, result.value, result.jacobian, result.stride, columns, a, b, c, d, numbers]

    def columns_of(self, f: Function, argument: Argument) -> list[int]:
        """The columns that a function's Jacobian has, in order."""
        return sorted({int(c) for c in argument.columns[f.columns] if c >= 0})

    def operand(self, f: Function, argument: Argument, pack: Callable[[PackedResult], None]) -> PackedResult:
        """Where the value of an operand is, to be read: one place for all that are alike, on one tape.

        Args:
            f: the function.
            argument: where it gets its argument from.
            pack: emits its instructions, the first time.
        """
        key = self._alike.number(f), argument.at, argument.columns.tobytes()
        if key not in self._operands:
            result = self.own_result(f, argument)
            pack(result)
            self._operands[key] = result
        return self._operands[key]

    def own_result(self, f: Function, argument: Argument) -> PackedResult:
        """Memory for the value of a function and its Jacobian, of as many columns as its argument may name."""
        count = int(argument.columns.max(initial=-1)) + 1
        return PackedResult(self.memory(f.outputs.nq), self.jacobian(f.outputs.nv * count), f.outputs.nv)

    # Joints.

    def tree(self, robot: Robot, argument: Argument) -> PackedTree:
        """The joints of a robot at its configuration.

        Raises:
            NotPacked: a second robot.
        """
        if self._tree is None:
            self._tree = PackedTree(self, robot, argument)
        if not (self._tree.robot.space.same_robot(robot.space) and self._tree.argument.at == argument.at):
            raise NotPacked(f"functions of two different robots, {self._tree.robot.name} and {robot.name}")
        return self._tree

    def pose_of(self, robot: Robot, argument: Argument, frame: Frame) -> tuple[int, Any]:
        """Pose of the joint of a frame, in W, and the placement of the frame on it."""
        tree = self.tree(robot, argument)
        at, joint, turn = tree.joint(frame.joint)
        if joint >= 0:
            self.used.add(joint)
        return at, turn.inverse() * frame.placement

    @property
    def joints(self) -> PackedTree | None:
        """The joints that were placed so far, if any."""
        return self._tree


def leaf_of(space: Space) -> tuple[int, int, int]:
    """Kind and sizes of a leaf."""
    name = space.atoms[0][0] if space.atoms else "R"
    if name not in LEAVES or len(space.atoms) > 1:
        raise NotPacked(f"the group {space.name}, which is not one of the library's")
    return LEAVES[name], space.nq, space.nv


def numbers_of(pose: Any) -> list[float]:
    """A placement as 12 numbers."""
    return [*np.asarray(pose.rotation).ravel().tolist(), *np.asarray(pose.translation).tolist()]
