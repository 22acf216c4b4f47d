"""The iterates of a projection as an engine wrote them down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final, overload

from liegroups.arrays import Vector
from liegroups.frozen import read_only

from .status import Step


@final
class Trace(Sequence[Step]):
    """Iterates kept as numbers, each made a Step when it is asked for: most are not.

    Args:
        numbers: those of all iterates, one after the other: configuration (nq,), residual, 1 for the first of a new
            try. They belong to the trace.
        nq: size of a configuration.
    """

    __slots__ = ("_nq", "_numbers")

    def __init__(self, numbers: Vector, nq: int) -> None:
        self._numbers, self._nq = numbers, nq

    def __len__(self) -> int:
        return self._numbers.size // (self._nq + 2)

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        size = self._nq + 2
        row = self._numbers.reshape(-1, size)[index]
        return Step(read_only(row[: self._nq]), float(row[-2]), bool(row[-1]))

    def __repr__(self) -> str:
        return repr(self[:])

    def __reduce__(self) -> tuple[Any, ...]:
        return Trace, (self._numbers, self._nq)
