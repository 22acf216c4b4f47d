"""Functions of a stage, evaluated together: values less references, with Jacobians by state and control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..functions.function import Function
from ..point import place
from ..workspace import Pool, Workspace
from .state_space import StageSpace


class Rows(NamedTuple):
    """Rows of several functions: values, and Jacobians where they were asked for.

    Attributes:
        value: (n,).
        by_x: (n, ndx); empty where only values were asked for.
        by_u: (n, nu).
    """

    value: Vector
    by_x: Matrix
    by_u: Matrix


@final
class Residuals:
    r"""Stacked residuals :math:`r_i = f_i(x, u) \ominus y_i` of functions of one stage.

    Args:
        stage: where they live.
        functions: of the stage.
        references: y_i of each, a point of its output group.

    Attributes:
        size: of all rows.
        slices: the rows of each.
        sees_controls: of each, whether it depends on u.
    """

    def __init__(self, stage: StageSpace, functions: Sequence[Function], references: Sequence[Vector]) -> None:
        self._stage, self._functions, self._references = stage, tuple(functions), tuple(references)
        stops = np.cumsum([0, *(f.outputs.nv for f in functions)]).tolist()
        self.slices = tuple(slice(a, b) for a, b in zip(stops, stops[1:], strict=False))
        self.size: int = stops[-1]
        self.sees_controls = tuple(stage.sees_controls(f) for f in functions)
        self._pool = Pool(Workspace)

    def rows_of(self, which: Sequence[int]) -> Any:
        """Rows of some of the functions, in order."""
        return np.concatenate([np.arange(self.slices[i].start, self.slices[i].stop) for i in which] or [[]]).astype(int)

    def values(self, x: Vector, u: Vector) -> Rows:
        """Values alone."""
        return self._evaluated(x, u, slopes=False)

    def slopes(self, x: Vector, u: Vector) -> Rows:
        """Values with Jacobians."""
        return self._evaluated(x, u, slopes=True)

    def _evaluated(self, x: Vector, u: Vector, *, slopes: bool) -> Rows:
        space, ndx = self._stage.space, self._stage.state.ndx
        value = np.zeros(self.size)
        J = np.zeros((self.size if slopes else 0, space.nv))
        workspace = self._pool.take()
        point = place(space, self._stage.join(x, u), workspace)
        for f, reference, s in zip(self._functions, self._references, self.slices, strict=True):
            seen = np.zeros(f.outputs.nq)
            f.evaluate(point, seen, J[s] if slopes else None)
            f.outputs.write_error(reference, seen, value[s], J[s] if slopes else None)
        self._pool.give(workspace)
        return Rows(value, J[:, :ndx], J[:, ndx:])
