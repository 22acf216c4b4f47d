"""Tangent columns by name, entries of q that are angles, and what a function writes: for messages and checks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from liegroups import Space
from liegroups.arrays import Matrix, Vector

from ..functions.function import Function
from ..point import PlacedSpace, place
from ..workspace import Workspace


def column_name(space: Space, column: int) -> str:
    """A tangent column in words: "3 (elbow_joint)", "4 (root_joint, 5 of 6)", or only its number in a single group."""
    if not space.layout.factors:
        return str(column)
    for leaf in space.leaves():
        if leaf.v.start <= column < leaf.v.stop:
            size = leaf.v.stop - leaf.v.start
            part = f", {column - leaf.v.start + 1} of {size}" if size > 1 else ""
            return f"{column} ({leaf.name}{part})"
    return str(column)


def turning_entries(space: Space) -> Iterator[tuple[int, int]]:
    """The revolute joints of robots: their tangent column, and the entry of q that is the angle."""
    if isinstance(space, PlacedSpace):
        for column, entry in zip(space.vector_v.tolist(), space.vector_q.tolist(), strict=True):
            if space.revolute[column]:
                yield column, entry
    elif space.layout.factors:
        for factor in space.factors:
            for column, entry in turning_entries(factor.space):
                yield column + factor.v.start, entry + factor.q.start


def evaluated(f: Function, q: Vector, workspace: Workspace, *, poison: float = np.nan) -> tuple[Vector, Matrix]:
    """Value and Jacobian from buffers full of poison, but for the undeclared columns, which are zero."""
    value, jacobian = np.full(f.outputs.nq, poison), np.zeros((f.outputs.nv, f.inputs.nv))
    jacobian[:, f.columns] = poison
    f.evaluate(place(f.inputs, q, workspace), value, jacobian)
    return value, jacobian
