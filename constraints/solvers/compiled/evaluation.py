"""Evaluation by kernels: the rows of constraints alone, packed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector
from liegroups.frozen import set_fields

from ...functions.affine import Constant
from ...problem.problem import Problem
from ...robot.bounds import Bounds
from ...rows.explicit import Explicit
from ...rows.implicit import Implicit
from ...rows.right_hand_side import RightHandSide
from ...rows.stack import Stack
from ...rows.stacking import Rows
from ...workspace import Workspace
from ..evaluation import Evaluation
from ..kernels.loading import Entrances, entrances
from ..machine import layout
from ..options import Options
from .packing import NotPacked
from .problem import Packed, packed

_NO_JACOBIAN: Matrix = np.zeros((0, 1))
_NOWHERE: Indices = np.zeros(0, dtype=np.intp)


class _Tables(NamedTuple):
    """Constraints that were packed.

    Attributes:
        packed: their integers, constants and memory.
        live: tangent coordinates of the columns of the Jacobian.
        places: where in the memory the value of each constraint is, as its right-hand side is placed.
    """

    packed: Packed
    live: Indices
    places: Indices


@final
class EvaluationMemory:
    """What a worker writes into: the packed memory, and what kernels fill.

    Args:
        stack: the constraints.
        tables: as they were packed.
        places: of `entrances()`.
    """

    __slots__ = ("_packed", "_q", "_rhs", "_sides", "jacobian", "rows", "where", "whole", "work")

    def __init__(self, stack: Stack, tables: _Tables, places: Callable[..., Any]) -> None:
        space, (integers, floats, work, _) = stack.owners[0].space, tables.packed
        self._packed, self.work = tables.packed, work.copy()
        self.whole = integers, floats, self.work  # held: `where` has their addresses only
        self.where = places(*self.whole)
        q, sides = int(integers[layout.Q_TRIAL]), int(integers[layout.RHS])
        self._q, self._sides = self.work[q : q + space.nq], self.work[sides : sides + stack.rhs_size]
        self.jacobian = np.zeros((stack.size, tables.live.size))
        self.rows = Rows(np.zeros(stack.size), np.zeros((stack.size, space.nv)), stack.slices)
        self._rhs: RightHandSide | None = None

    def raise_stopped(self) -> None:
        """Raise what stopped the kernels in it; it is as new then."""
        self._rhs = None
        self._packed.raise_stopped(self.work)

    def take(self, q: Vector, rhs: RightHandSide | None) -> None:
        """What is to be evaluated; without right-hand sides at those of before."""
        self._q[:] = q
        if rhs is not None and rhs is not self._rhs:
            self._sides[:] = rhs.vector
            self._rhs = rhs


@final
class CompiledEvaluation(Evaluation):
    """Evaluates by kernels; what they do not evaluate, or find undefined, by the functions.

    Arguments are those of `Evaluation`. Constraints are packed when somebody first asks.
    """

    _last: tuple[Workspace | None, Any] = None, None  # memory of the last workspace: 0.2 us to find it

    def rows(self, q: Vector, rhs: RightHandSide, workspace: Workspace, *, jacobian: bool = True) -> Rows:
        """As `Evaluation.rows`."""
        memory = self._evaluated(q, rhs, workspace, jacobian)
        if memory is None or self._tables is None:
            return super().rows(q, rhs, workspace, jacobian=jacobian)
        if jacobian:
            memory.rows.jacobian[:, self._tables.live] = memory.jacobian
        return memory.rows

    def rows_of_many(self, Q: Matrix, rhs: RightHandSide, workspace: Workspace) -> tuple[Matrix, Matrix]:
        """As `Evaluation.rows_of_many`."""
        memory, tables = self._memory(workspace), self._tables
        if memory is None or tables is None or not len(Q):
            return super().rows_of_many(Q, rhs, workspace)
        memory.take(Q[0], rhs)
        rows, shape = Q if Q.flags.carray else np.array(Q, order="C"), (len(Q), self.stack.size)
        errors, live = np.zeros(shape), np.zeros((*shape, tables.live.size))
        if not self._kernels.rows_of_many(memory.where, rows, errors.reshape(-1), live.reshape(-1, tables.live.size)):
            memory.raise_stopped()
            return super().rows_of_many(Q, rhs, workspace)
        jacobians = np.zeros((*shape, self.stack.owners[0].space.nv))
        jacobians[..., tables.live] = live
        return errors, jacobians

    def residuals(self, Q: Matrix, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """As `Evaluation.residuals`."""
        memory, found = self._memory(workspace), np.empty(len(Q))
        if memory is None or not found.size:
            return super().residuals(Q, rhs, workspace)
        memory.take(Q[0], rhs)
        rows = Q if Q.flags.carray else np.array(Q, order="C")
        done = self._kernels.residuals_of(memory.where, rows, found)
        if done < len(Q):
            memory.raise_stopped()
        return found if done == len(Q) else super().residuals(Q, rhs, workspace)

    def values(self, q: Vector, workspace: Workspace) -> Vector:
        """As `Evaluation.values`."""
        tables = self._tables
        memory = self._evaluated(q, None, workspace, False) if tables is not None and tables.places.size else None
        return super().values(q, workspace) if memory is None or tables is None else memory.work[tables.places]

    @property
    def places(self) -> Indices:
        """Where in the memory the values of all constraints are; empty where kernels do not give them."""
        return _NOWHERE if self._tables is None else self._tables.places

    def new_memory(self, rhs: RightHandSide | None = None) -> EvaluationMemory | None:
        """Memory of its own for a worker, with right-hand sides in it; None where kernels evaluate nothing."""
        if self._tables is None:
            return None
        memory = EvaluationMemory(self.stack, self._tables, self._kernels.places)
        memory.take(self.stack.owners[0].space.neutral, rhs)
        return memory

    def _evaluated(
        self, q: Vector, rhs: RightHandSide | None, workspace: Workspace, jacobian: bool
    ) -> EvaluationMemory | None:
        """The memory with all rows at a configuration; None where kernels do not evaluate them."""
        memory = self._memory(workspace)
        if memory is None:
            return None
        memory.take(q, rhs)
        asked = memory.jacobian if jacobian else _NO_JACOBIAN
        if self._kernels.rows_of(memory.where, memory.rows.error, asked):
            return memory
        memory.raise_stopped()
        return None

    def _memory(self, workspace: Workspace) -> EvaluationMemory | None:
        """The memory of a workspace; None where kernels do not evaluate."""
        last, memory = self._last
        if workspace is last:
            return memory
        tables = self._tables
        if tables is None:
            return None
        places = self._kernels.places
        memory = workspace.resource(self, "evaluation", EvaluationMemory, self.stack, tables, places)
        self._last = workspace, memory
        return memory

    @cached_property
    def _kernels(self) -> Entrances:
        return entrances()

    @cached_property
    def _tables(self) -> _Tables | None:
        """What is packed; None where it cannot be, or a constraint stands still, which has been said."""
        stack = self.stack
        if not stack.size or any(not o.columns.any() and not isinstance(o.measured, Constant) for o in stack):
            return None
        owners = [_rows_of(owner) if isinstance(owner, Explicit) else owner for owner in stack]
        alone = Problem(self.where, owners, Bounds.none(stack.owners[0].space))
        try:
            made = packed(alone, Options(restarts=False))
        except NotPacked:
            return None
        return _Tables(made, np.flatnonzero(alone.implicit_dofs & alone.free), _places(made, stack))


def _rows_of(explicit: Explicit) -> Implicit:
    """The rows of an explicit constraint, which computes nothing then."""
    rows = explicit.twin.copy_of()
    set_fields(rows, wrapped_rotation_vectors=explicit.wrapped_rotation_vectors)
    return rows


def _places(made: Packed, stack: Stack) -> Indices:
    """Where in the memory the values of all constraints are; empty where one has no row that is evaluated."""
    integers = made.integers
    if any(block.stop == block.start for block in stack.slices):
        return np.zeros(0, dtype=np.intp)
    blocks = int(integers[int(integers[layout.LEVEL_TABLE]) + layout.BLOCKS])
    first = [int(integers[blocks + 1 + layout.BLOCK_SIZE * i + layout.VALUE]) for i in range(len(stack))]
    entries = [np.arange(at, at + owner.group.nq) for at, owner in zip(first, stack, strict=True)]
    return np.concatenate(entries).astype(np.intp)
