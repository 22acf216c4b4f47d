"""Substitution: explicit outputs written into configurations, and their derivatives into Jacobians."""

from __future__ import annotations

from functools import partial
from typing import final

import numpy as np

from liegroups.arrays import Matrix, Vector, runs
from liegroups.segments import as_slice

from ...point import Point
from ...problem.problem import Problem
from ...rows.explicit import Explicit
from ...rows.right_hand_side import RightHandSide
from ...rows.stacking import StackedRows
from ...workspace import Workspace


@final
class Substitution:
    r"""The explicit constraints of a problem as the solver uses them.

    Outputs are always computed from inputs, generation by generation: place the joints, evaluate the maps, write the
    outputs, place again. With T the derivative of the configuration by the free dofs, the reduced Jacobian is

    .. math:: J_r = J T = J_{:,free} + J_{:,out}\, \partial q_{out}/\partial q_{free}

    as a matrix of full width whose columns on computed and frozen dofs are zero, and on those that bounds freeze.

    Args:
        problem: whose constraints.

    Attributes:
        has_maps: whether some outputs depend on the configuration.
        reduces: whether reduced Jacobians are others than those of the rows.
    """

    def __init__(self, problem: Problem) -> None:
        self._space, resolution = problem.space, problem.resolution
        self._constant = tuple(e for e in resolution.explicits if e.is_constant)
        moving = ([e for e in generation if not e.is_constant] for generation in resolution.generations)
        self._generations = [generation for generation in moving if generation]
        computed = [v for generation in self._generations for e in generation for v in e.outputs.v]
        self._computed, self._shape = np.array(computed, dtype=np.intp), (len(computed), self._space.nv)
        run = as_slice(computed)
        self._columns = self._computed if run is None else run
        self._still = runs(~problem.free | problem.bounds.frozen)
        self.has_maps = bool(self._generations)
        self.reduces = self.has_maps or bool(self._still)

    def start(self, q: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """The configuration with the outputs of constant maps; a new array where there are any."""
        if not self._constant:
            return q
        q = q.copy()
        for explicit in self._constant:
            q[explicit.outputs.q_indices] = self._outputs(explicit, rhs, workspace)
        return q

    def _outputs(self, explicit: Explicit, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """Outputs of a constant map: its value at the neutral configuration, found once, with the right-hand side."""
        value: Vector = workspace.resource(explicit, "value", explicit.map.value_of, self._space.neutral)
        return rhs.kept(explicit, workspace, "outputs", partial(explicit.outputs_of, value))

    def resolve(self, q: Vector, rhs: RightHandSide, point: Point, jacobian: bool = False) -> Vector:
        """The configuration with all computed outputs; a new array.

        Args:
            q: configuration whose outputs may be anything.
            rhs: right-hand sides.
            point: a handle that may be moved; its workspace keeps the derivative of the outputs for `reduce`.
            jacobian: whether the derivative is wanted.
        """
        q, row = q.copy(), 0
        Je: Matrix | None = point.workspace.scratch(self, "Je", self._shape) if jacobian else None
        for generation in self._generations:
            point.move(q)
            for explicit in generation:  # they do not read what the others of their generation write
                outputs, function = explicit.outputs, rhs.map_of(explicit, point.workspace)
                value = np.empty(outputs.q_indices.size)
                if Je is None:
                    function.evaluate(point, value)
                else:
                    block = Je[row : row + len(outputs)]
                    block[:] = 0.0  # what the chain rule left in columns that the map does not write
                    function.evaluate(point, value, block)
                    if row:
                        self._chain(block, Je[:row])
                    row += len(outputs)
                q[outputs.q_indices] = value
        return q

    def _chain(self, block: Matrix, earlier: Matrix) -> None:
        """Replace derivatives by outputs that are computed before by those of their own inputs."""
        columns = self._computed[: len(earlier)]
        through = block[:, columns].dot(earlier)
        block[:, columns] = 0.0
        block += through

    def reduce(self, stacked: StackedRows, workspace: Workspace) -> None:
        """Turn the Jacobian of stacked rows into the reduced one, in place; the derivatives are those of `resolve`."""
        stacked.reduced = self.has_maps  # columns that the rows do not declare are written
        self.reduce_matrix(stacked.rows.jacobian, workspace)

    def reduce_matrix(self, J: Matrix, workspace: Workspace) -> Matrix:
        """The same for any rows of full width."""
        if self.has_maps:
            Je: Matrix = workspace.scratch(self, "Je", self._shape)
            np.add(J, J[:, self._columns].dot(Je), J)
        for run in self._still:
            J[:, run] = 0.0
        return J
