"""Distances between configurations, by the joint that moves most."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups import Space
from liegroups.arrays import Indices, Matrix, Vector

from ..linear_algebra import row_lengths
from .problem import Problem


class Jump(NamedTuple):
    """Distance of two configurations in the joint that moves most.

    Attributes:
        angle: largest rotation of a joint [rad].
        length: largest translation of a joint [m]; plain numbers that are not angles count as metres.
    """

    angle: float
    length: float


@final
class StepSize:
    """Distances between configurations, joint by joint: rotations in radians, translations in metres.

    A free-flyer moves by the distance of its origins and by the angle of its rotation, not by the two halves of a
    twist.

    Args:
        problem: of the configurations; says which columns are angles.
    """

    def __init__(self, problem: Problem) -> None:
        self._space: Space = problem.space
        angles, lengths = list[int](), list[int]()
        self._rotations: list[slice] = []
        self._translations: list[slice] = []
        for leaf in self._space.leaves():
            v, q = leaf.v, leaf.q
            if leaf.space.is_flat:
                for column in range(v.start, v.stop):
                    (angles if problem.revolute[column] else lengths).append(column)
            elif (kind := leaf.space.atoms[0][0]) in ("SE2", "SE3"):
                size = 2 if kind == "SE2" else 3
                self._translations.append(slice(q.start, q.start + size))
                self._rotations.append(slice(v.start + size, v.stop))
            else:
                self._rotations.append(v)
        self._angles: Indices = np.array(angles, dtype=np.intp)
        self._lengths: Indices = np.array(lengths, dtype=np.intp)

    @property
    def measures(self) -> list[tuple[int, int, int, int]]:
        """Blocks that are measured: (1 a length, 0 an angle; 1 of points, 0 of tangent vectors; first entry, size)."""
        angles = [slice(column, column + 1) for column in self._angles.tolist()] + self._rotations
        lengths = [(1, 0, column, 1) for column in self._lengths.tolist()]
        lengths += [(1, 1, block.start, block.stop - block.start) for block in self._translations]
        return [(0, 0, block.start, block.stop - block.start) for block in angles] + lengths

    def between(self, q0: Vector | Matrix, q1: Vector | Matrix) -> Jump:
        """The largest distances between two configurations, or between two rows of as many (n, nq)."""
        angles, lengths = self.of_rows(np.atleast_2d(q0), np.atleast_2d(q1))
        return Jump(float(angles.max(initial=0.0)), float(lengths.max(initial=0.0)))

    def of_rows(self, Q0: Matrix, Q1: Matrix) -> tuple[Vector, Vector]:
        """Angles and lengths (n,) of the joint that moves most, between each two rows of as many (n, nq)."""
        d = self._space.difference(Q0, Q1)
        moved = np.abs(d)
        angles = moved[:, self._angles].max(axis=1, initial=0.0)
        lengths = moved[:, self._lengths].max(axis=1, initial=0.0)
        for block in self._rotations:
            angles = np.maximum(angles, row_lengths(d[:, block]))
        for block in self._translations:
            lengths = np.maximum(lengths, row_lengths(Q1[:, block] - Q0[:, block]))
        return angles, lengths
