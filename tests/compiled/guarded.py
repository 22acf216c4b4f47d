"""Kernels as plain Python, on tables and memory that know what was given out: nothing else is read or written."""

from __future__ import annotations

import functools
import importlib
import struct
import sys
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

from constraints import Options, Problem, RightHandSide
from constraints.solvers.newton.computed_bodies import ComputedBodies
from constraints.solvers.newton.program import NewtonProgram
from constraints.workspace import Workspace
from liegroups.arrays import Vector

pytest.importorskip("numba")

from constraints.solvers.compiled.packing import Packer
from constraints.solvers.compiled.problem import Packed, packed
from constraints.solvers.compiled.statuses import STATUSES
from constraints.solvers.machine import layout

ROOMS = "constraints.solvers.kernels", "constraints.solvers.tape", "constraints.solvers.machine"
numba: Any = importlib.import_module("numba")
POISON = 10**12
"""A number of a table that nobody is to read: no index is that large."""


@functools.cache
def plain(name: str, room: str = "kernels") -> ModuleType:
    """A module of kernels, as Python functions; all of one set, beside those that the library has compiled."""
    return plain_modules()[f"constraints.solvers.{room}.{name}"]


@functools.cache
def plain_modules() -> dict[str, ModuleType]:
    """All of them, by name."""
    own = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(ROOMS)}
    above, before = importlib.import_module("constraints.solvers"), numba.config.DISABLE_JIT
    try:
        numba.config.DISABLE_JIT = 1
        for name in ("edges", "evaluation", "many"):
            importlib.import_module(f"constraints.solvers.kernels.{name}")
        return {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(ROOMS)}
    finally:
        numba.config.DISABLE_JIT = before
        sys.modules.update(own)
        for room in ROOMS:
            if room in own:
                setattr(above, room.rsplit(".", 1)[1], own[room])


class Guarded:
    """Numbers at an address, between which some are nobody's."""

    def __init__(self, numbers: list[Any], closed: set[int]) -> None:
        self.numbers, self.closed = numbers, closed

    def _place(self, i: int) -> int:
        assert 0 <= i < len(self.numbers), f"{i} of {len(self.numbers)}"
        assert i not in self.closed, f"{i} is nobody's"
        return i

    def __getitem__(self, i: int) -> Any:
        return self.numbers[self._place(i)]

    def __setitem__(self, i: int, x: Any) -> None:
        self.numbers[self._place(i)] = x

    def view(self, kind: str) -> Bits:
        assert kind == "int64"
        return Bits(self)


class Bits(NamedTuple):
    """The bits of numbers."""

    of: Guarded

    def __getitem__(self, i: Any) -> int:
        return struct.unpack("<q", struct.pack("<d", self.of[i]))[0]


class Tables:
    """A problem as it is packed, with a number that is nobody's behind each table and each piece of memory."""

    def __init__(self, problem: Problem, options: Options, leaving: ComputedBodies | None = None) -> None:
        table, constants, filled = Packer.table, Packer.constants, Packer.filled
        closed: dict[Any, set[int]] = {table: set(), constants: {0}, filled: {0}}
        nothing = {table: [POISON], constants: [np.nan], filled: [np.nan]}

        def guarded(write: Any) -> Any:
            def add(packer: Packer, entries: Any) -> int:
                at = write(packer, entries)
                closed[write].add(write(packer, nothing[write]))
                return at

            return add

        with (
            patch.object(Packer, "table", guarded(table)),
            patch.object(Packer, "constants", guarded(constants)),
            patch.object(Packer, "filled", guarded(filled)),
        ):
            self.packed: Packed = packed(problem, options, leaving)
        arrays = zip(self.packed[:3], (table, constants, filled), strict=True)
        self.integers, self.floats, self.work = (Guarded(a.tolist(), closed[write]) for a, write in arrays)
        self.where = self.integers, self.floats, self.work

    def take(self, rhs: RightHandSide) -> None:
        """Right-hand sides for the projections to come."""
        at = self.integers[layout.RHS]
        for i, x in enumerate(rhs.vector.tolist()):
            self.work[at + i] = x


class Found(NamedTuple):
    """What a kernel says of one projection."""

    q: Vector
    status: Any
    iterations: int
    restarts: int
    residual: float


class GuardedProblem:
    """A problem with its options: projected by guarded kernels, and by the readable program."""

    def __init__(self, problem: Problem, options: Options, leaving: ComputedBodies | None = None) -> None:
        self.problem, self.options = problem, options
        self.tables = Tables(problem, options, leaving)
        self.readable, self.workspace = NewtonProgram(problem, options), Workspace()

    def project(self, q: Vector, rhs: RightHandSide) -> Found:
        """By the kernels."""
        self.tables.take(rhs)
        end = np.full(q.size, np.nan)
        status, *figures = plain("entry").project_row(self.tables.where, q.copy(), end)
        return Found(end, STATUSES[status], *figures)

    def trace(self) -> list[tuple[list[float], float, float]]:
        """The iterates that the last projection wrote down, with residual and whether a try began."""
        tables, nq = self.tables, self.problem.space.nq
        begin, state = tables.integers[layout.TRACE], tables.integers[layout.STATE]
        count = int(tables.work[state + layout.TRACED])
        rows = [[tables.work[begin + n * (nq + 2) + i] for i in range(nq + 2)] for n in range(count)]
        return [(row[:nq], row[nq], row[nq + 1]) for row in rows]

    def check(self, q: Vector, rhs: RightHandSide | None = None, limit: float = 1e-9) -> Found:
        """One projection by both: status, counts, residual, configuration, and each iterate where they are kept."""
        side = self.problem.rhs if rhs is None else rhs
        mine, theirs = self.project(q, side), self.readable.run(q, side, self.workspace)
        figures = mine.status, mine.iterations, mine.restarts
        assert figures == (theirs.status, theirs.iterations, theirs.restarts)
        assert mine.residual == pytest.approx(theirs.residual, rel=limit, abs=limit)
        np.testing.assert_allclose(mine.q, theirs.q, rtol=0.0, atol=limit)
        if self.options.trace:
            kept, known = self.trace(), theirs.trace or ()
            assert len(kept) == len(known)
            for (place, residual, restarted), step in zip(kept, known, strict=True):
                np.testing.assert_allclose(place, step.q, rtol=0.0, atol=limit)
                assert residual == pytest.approx(step.residual, rel=limit, abs=limit)
                assert bool(restarted) == step.restarted
        return mine
