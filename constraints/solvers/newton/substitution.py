"""Substitution: explicit outputs written into configurations, and their derivatives into Jacobians."""

from __future__ import annotations

from functools import partial
from typing import Any, final

import numpy as np

from liegroups import SE3
from liegroups.arrays import Indices, Matrix, Vector, runs

from ...functions.contact.contact import ConvexShapeContactHold
from ...functions.function import Function
from ...functions.transformation import Transformation
from ...linear_algebra import dot
from ...point import Point
from ...problem.problem import Problem
from ...rows.explicit import Explicit
from ...rows.right_hand_side import RightHandSide
from ...rows.row_owner import RowOwner
from ...rows.stacking import StackedRows
from ...workspace import Workspace
from .attached_bodies import AttachedBodies, AttachedFrame


@final
class Substitution:
    r"""The explicit constraints of a problem as the solver uses them.

    Outputs are always computed from inputs, generation by generation: place the joints, evaluate the maps, write the
    outputs, place again. With T the derivative of the configuration by the free dofs, the reduced Jacobian is

    .. math:: J_r = J T = J_{:,free} + J_{:,out}\, \partial q_{out}/\partial q_{free}

    as a matrix of full width whose columns on computed and frozen dofs are zero, and on those that bounds freeze.

    Args:
        problem: whose constraints.
        attached: bodies that are left out, their constraints uncomputed: the substitution of the solver's loop.

    Attributes:
        is_empty: True when nothing is computed and nothing frozen.
    """

    def __init__(self, problem: Problem, attached: AttachedBodies | None = None) -> None:
        self._space = problem.space
        resolution = problem.resolution
        left_out = frozenset[int]() if attached is None else attached.explicits
        substitutes = dict[int, RowOwner]() if attached is None else attached.substitutes
        self._constant = tuple(e for e in resolution.explicits if e.is_constant)
        self._distances = [bound for e in self._constant if (bound := _distance_bound(e)) is not None]
        generations = [
            [e for e in generation if not e.is_constant and id(e) not in left_out]
            for generation in resolution.generations
        ]
        self._moving = tuple(e for generation in generations for e in generation)
        maps = {id(e): AttachedFrame.of(e) for e in self._moving}
        self._frame_maps = {key: found for key, found in maps.items() if found is not None}
        self._generations = _places(generations)
        read = np.zeros(self._space.nv, dtype=np.bool_)  # columns that rows or maps depend on: the others are zero
        rows = (substitutes.get(id(owner), owner) for level in problem.levels for owner in level)
        for reader in (*rows, *(e.map for e in self._moving)):
            read |= reader.columns
        self._dead = runs((~problem.free | problem.bounds.frozen) & read)
        computed = [v for e in self._moving for v in e.outputs.v]
        self._shape = (len(computed), self._space.nv)
        self._columns = np.array(computed, dtype=np.intp)
        self._block = slice(computed[0], computed[-1] + 1) if _is_run(computed) else None
        self._chained = len(self._generations) > 1
        self.is_empty = not (self._moving or self._dead)
        self.has_maps = bool(self._moving)

    def start(self, q: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """The configuration with the outputs of constant maps; a new array where there are any."""
        if not self._constant:
            return q
        taken: _Taken = workspace.resource(self, "taken", _Taken)
        if taken.outputs_of is not rhs:
            taken.outputs_of, taken.outputs = None, [self._outputs(e, rhs, workspace) for e in self._constant]
            taken.outputs_of = rhs
        q = q.copy()
        for explicit, outputs in zip(self._constant, taken.outputs, strict=True):
            q[explicit.outputs.q_indices] = outputs
        return q

    def _outputs(self, explicit: Explicit, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """Outputs of a constant map: its value at the neutral configuration, found once, with the right-hand side."""
        value: Vector = workspace.resource(explicit, "value", explicit.map.value_of, self._space.neutral)
        return rhs.kept(explicit, workspace, "outputs", partial(explicit.outputs_of, value))

    def is_astray(self, q: Vector, started: Vector, limit: float) -> bool:
        r"""Whether the error of a constraint with a constant map is above a limit for sure: a quick lower bound.

        For vectors the distance of the entries is the error. For the pose of a free body let D be the distance of its
        origins, d that of the origins of the frame b that the error is about, at a distance l from it, and
        :math:`\theta` the angle between the orientations: :math:`D \le d + l\,\theta`. The error of a relative
        transformation is at least d and :math:`\theta`; that of a contact with its place at least :math:`d/\sqrt2` and
        :math:`\theta/\sqrt2`, as its rows take both apart into two. Hence an error below e needs
        :math:`D \le 2\,(1 + l)\,e`. For a body locked at a pose in SE(3) it needs :math:`D \le e`: averages of
        rotations make nothing longer.

        Args:
            q: the configuration.
            started: what `start` made of it.
            limit: of the errors.
        """
        for where, factor2 in self._distances:
            off = q[where] - started[where]
            if dot(off, off) > factor2 * limit * limit:
                return True
        return False

    def resolve(self, q: Vector, rhs: RightHandSide, point: Point, jacobian: bool = False) -> Vector:
        """The configuration with all computed outputs; a new array.

        Args:
            q: configuration whose outputs may be anything.
            rhs: right-hand sides.
            point: a handle that may be moved; its workspace keeps the derivative of the outputs for `reduce`.
            jacobian: whether the derivative is wanted.
        """
        q = q.copy()
        Je: Matrix | None = point.workspace.scratch(self, "Je", self._shape) if jacobian else None
        taken: _Taken = point.workspace.resource(self, "taken", _Taken)
        for generation in self._generations:
            point.move(q)
            if taken.functions_of is not rhs:
                self._take(rhs, point, taken)
            for explicit, rows, where in generation:  # they do not read what the others of their generation write
                function = taken.functions[id(explicit)]
                value = q[where]  # a view where the outputs are one run
                if Je is None:
                    function.evaluate(point, value)
                elif self._chained and rows.start:
                    block = Je[rows]
                    block[:] = 0.0  # what the chain rule left in columns that the map does not write
                    function.evaluate(point, value, block)
                    self._chain(block, Je, rows.start)
                else:
                    function.evaluate(point, value, Je[rows])
                if value.base is not q:
                    q[where] = value
        return q

    def _take(self, rhs: RightHandSide, point: Point, taken: _Taken) -> None:
        """Make the maps those of right-hand sides, in one workspace, once for as long as the same are given."""
        taken.functions_of = None
        for explicit in self._moving:
            moved = self._frame_maps.get(id(explicit))
            if moved is not None:
                moved.anchor(point, rhs)
            taken.functions[id(explicit)] = rhs.map_of(explicit, point.workspace) if moved is None else moved.function
        taken.functions_of = rhs

    def reduce(self, stacked: StackedRows, workspace: Workspace) -> Matrix:
        """Turn the Jacobian of stacked rows into the reduced one, in place; the derivatives are those of `resolve`."""
        if self._moving:
            stacked.reduced = True  # columns that the rows do not declare are written
        return self.reduce_matrix(stacked.rows.jacobian, workspace)

    def reduce_matrix(self, J: Matrix, workspace: Workspace) -> Matrix:
        """The same for any rows of full width; columns that the problem's rows and maps do not read are left alone."""
        if self._moving:
            Je: Matrix = workspace.scratch(self, "Je", self._shape)
            out = J[:, self._block] if self._block is not None else J[:, self._columns]
            np.add(J, out.dot(Je), J)
        for run in self._dead:
            J[:, run] = 0.0
        return J

    def _chain(self, block: Matrix, Je: Matrix, row: int) -> None:
        """Replace derivatives by outputs of earlier generations by those of their own inputs."""
        earlier = self._columns[:row]
        through = block[:, earlier].dot(Je[:row])
        block[:, earlier] = 0.0
        block += through


@final
class _Taken:
    """In one workspace: maps of moving constraints and outputs of constant ones, with the right-hand sides of each."""

    __slots__ = ("functions", "functions_of", "outputs", "outputs_of")

    def __init__(self) -> None:
        self.functions_of: RightHandSide | None = None
        self.functions: dict[int, Function] = {}
        self.outputs_of: RightHandSide | None = None
        self.outputs: list[Vector] = []


def _places(generations: list[list[Explicit]]) -> tuple[tuple[tuple[Explicit, slice, slice | Indices], ...], ...]:
    """Each moving map with its rows in the stacked derivative and its place in q, by generation."""
    row, places = 0, list[tuple[tuple[Explicit, slice, slice | Indices], ...]]()
    for generation in (g for g in generations if g):
        inside: list[tuple[Explicit, slice, slice | Indices]] = []
        for explicit in generation:
            block = explicit.outputs
            where = block.q_slice if block.q_slice is not None else block.q_indices
            inside.append((explicit, slice(row, row + len(block)), where))
            row += len(block)
        places.append(tuple(inside))
    return tuple(places)


def _distance_bound(explicit: Explicit) -> tuple[slice | Indices, float] | None:
    """Entries of q that a constant map computes, and how far they may be off at an error of 1, squared; see above."""
    factor, where = _distance_by_error(explicit), explicit.outputs.q_indices
    if factor is None or not where.size:
        return None
    where = where if explicit.map.outputs.is_flat else where[:3]
    run = slice(int(where[0]), int(where[0]) + where.size)
    return run if run.stop == where[-1] + 1 else where, factor * factor


def _distance_by_error(explicit: Explicit) -> float | None:
    """How much farther than an error entries may be off; None where that is not known."""
    group = explicit.map.outputs
    if not explicit.rows.is_plain:
        return None
    if explicit.implicit is None:
        return 1.0 if explicit.g is None and (group.is_flat or group == SE3) else None
    h: Any = explicit.implicit
    if type(h) not in (Transformation, ConvexShapeContactHold) or len(h.parts) != 1:
        return None
    part = h.parts[0]
    model = part.robot.model
    body = part.frame_b.joint
    on_body = body > 0 and (int(model.idx_qs[body]),) == explicit.outputs.q[:1] and int(model.nqs[body]) == 7
    if not (on_body and part.frame_a.joint == 0):
        return None
    c = part.frame_b.placement.translation
    return 2.0 * (1.0 + float(dot(c, c)) ** 0.5)


def _is_run(columns: list[int]) -> bool:
    return bool(columns) and columns == list(range(columns[0], columns[0] + len(columns)))
