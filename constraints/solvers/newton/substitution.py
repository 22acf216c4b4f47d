"""Substitution: explicit outputs written into configurations, and their derivatives into Jacobians."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector, runs

from ...functions.function import Function
from ...functions.translation import RightTranslation
from ...point import Point
from ...problem.problem import Problem
from ...rows.explicit import Explicit
from ...rows.right_hand_side import RightHandSide
from ...rows.row_owner import RowOwner
from ...rows.stacking import StackedRows
from ...workspace import Workspace
from .astray import Astray
from .attached_bodies import CarriedBodies
from .frame_maps import FrameMap, group_element

__all__ = ["Substitution"]


@final
class Substitution:
    r"""The explicit constraints of a problem as the solver uses them.

    Outputs are always computed from inputs, generation by generation: place the joints, evaluate the maps, write the
    outputs, place again. With T the derivative of the configuration by the free dofs, the reduced Jacobian is

    .. math:: J_r = J T = J_{:,free} + J_{:,out}\, \partial q_{out}/\partial q_{free}

    as a matrix of full width whose columns on computed and frozen dofs are zero, and on those that bounds freeze.

    Args:
        problem: whose constraints.
        carried: bodies that are left out, their constraints uncomputed: the substitution of the solver's loop.

    Attributes:
        is_empty: True when nothing is computed and nothing frozen.
    """

    def __init__(self, problem: Problem, carried: CarriedBodies | None = None) -> None:
        self._space = problem.space
        resolution = problem.resolution
        left_out = frozenset[int]() if carried is None else carried.explicits
        stand_ins = dict[int, RowOwner]() if carried is None else carried.stand_ins
        self._constant = tuple(e for e in resolution.explicits if e.is_constant)
        self._astray = Astray(self._constant)
        self._values: dict[int, Vector] = {}  # of the constant maps, found on first use: a map may have none
        generations = [
            [e for e in generation if not e.is_constant and id(e) not in left_out]
            for generation in resolution.generations
        ]
        self._moving = tuple(e for generation in generations for e in generation)
        maps = {id(e): FrameMap.of(e) for e in self._moving}
        self._frame_maps = {key: found for key, found in maps.items() if found is not None}
        self._generations = _places(generations)
        read = np.zeros(self._space.nv, dtype=np.bool_)  # columns that rows or maps depend on: the others are zero
        rows = (stand_ins.get(id(owner), owner) for level in problem.levels for owner in level)
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

    def start(self, q: Vector, rhs: RightHandSide) -> Vector:
        """The configuration with the outputs of constant maps; a new array where there are any."""
        if not self._constant:
            return q
        q = q.copy()
        for explicit in self._constant:
            q[explicit.outputs.q_indices] = _constant(explicit, rhs, self._values, self._space.neutral)
        return q

    def is_astray(self, given: Vector, started: Vector, limit: float) -> bool:
        """Whether an output of a constant map is farther than a limit from where `start` put it: a quick test."""
        return self._astray.test(given, started, limit)

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
        functions: _Functions = point.workspace.resource(self, "functions", _Functions)
        for generation in self._generations:
            point.move(q)
            if functions.rhs is not rhs:
                self._take(rhs, point, functions)
            for explicit, rows, where in generation:  # they do not read what the others of their generation write
                function = functions.of[id(explicit)]
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

    def _take(self, rhs: RightHandSide, point: Point, functions: _Functions) -> None:
        """Make the maps those of right-hand sides, in one workspace, once for as long as the same are given."""
        functions.rhs = None
        for explicit in self._moving:
            moved = self._frame_maps.get(id(explicit))
            if moved is not None:
                moved.anchor(point, rhs)
            functions.of[id(explicit)] = rhs.map_of(explicit) if moved is None else moved.function
        functions.rhs = rhs

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
class _Functions:
    """The maps of moving constraints with the right-hand sides last seen in a workspace."""

    __slots__ = ("of", "rhs")

    def __init__(self) -> None:
        self.rhs: RightHandSide | None = None
        self.of: dict[int, Function] = {}


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


def _constant(explicit: Explicit, rhs: RightHandSide, values: dict[int, Vector], neutral: Vector) -> Vector:
    """Outputs of a constant map, found once for each right-hand side, always at the same q: roundings depend on it."""
    found = rhs.constants.get(id(explicit))
    if found is None:
        f = values.get(id(explicit))
        if f is None:
            f = values[id(explicit)] = explicit.map.value(neutral)
        found = explicit.map.outputs.compose(f, group_element(explicit, rhs))
        if isinstance(explicit.g_inverse, RightTranslation):
            found = explicit.map.outputs.compose(found, explicit.g_inverse.constant)
        elif explicit.g_inverse is not None:
            found = explicit.g_inverse.value_of(found)
        rhs.constants[id(explicit)] = found
    return found


def _is_run(columns: list[int]) -> bool:
    return bool(columns) and columns == list(range(columns[0], columns[0] + len(columns)))
