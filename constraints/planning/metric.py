"""Configurations as plain vectors, in which near means near on the group: for nearest neighbours by matrix products."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.layout import Factor

from ..problem.problem import Problem


class _Quaternions(NamedTuple):
    """Unit quaternions of one factor: its coordinates of q, and steps by radian."""

    q: slice
    steps: float


@final
class Metric:
    r"""Distances between configurations in units of a largest step, over the columns that steps move.

    .. math:: d(q_0, q_1)^2 = \sum_i \left(\frac{(q_1 \ominus q_0)_i}{s_i}\right)^2, \qquad
        s_i = s_{angle}\ [\mathrm{rad}]\ \text{or}\ s_{length}\ [\mathrm{m}]

    For nearest neighbours the angle of a rotation is replaced by its chord (of SO(2) in (cos, sin); of quaternions four
    times the one between q and the nearer of :math:`\pm q'`), which sorts neighbours alike where they are near.

    Args:
        problem: of the configurations: says which columns are angles, and which ones steps move.
        max_angle, max_length: a largest step [rad], [m].
    """

    def __init__(self, problem: Problem, max_angle: float, max_length: float) -> None:
        space, free = problem.space, problem.free
        self._flat_q, self._flat = list[int](), list[int]()
        self._groups = list[tuple[Factor, slice]]()
        columns, weights = list[int](), list[float]()
        at, by = list[int](), list[float]()
        self._quaternions: list[_Quaternions] = []
        for leaf in space.leaves():
            moved = free[leaf.v]
            if not moved.any():
                continue
            if leaf.space.is_flat:
                angles = problem.revolute[leaf.v]
                for k in np.flatnonzero(moved).tolist():
                    step = max_angle if angles[k] else max_length
                    at.append(leaf.q.start + k)
                    self._flat_q.append(leaf.q.start + k)
                    self._flat.append(len(columns))
                    columns.append(leaf.v.start + k)
                    by.append(1.0 / step)
                    weights.append(1.0 / step)
                continue
            kind, lengths = leaf.space.atoms[0][0], leaf.v.stop - leaf.v.start
            shift = {"SE2": 2, "SE3": 3}.get(kind, 0)
            self._groups.append((leaf, slice(len(columns), len(columns) + lengths)))
            columns += range(leaf.v.start, leaf.v.stop)
            weights += [1.0 / max_length] * shift + [1.0 / max_angle] * (lengths - shift)
            at += range(leaf.q.start, leaf.q.start + shift)
            by += [1.0 / max_length] * shift
            rest = slice(leaf.q.start + shift, leaf.q.stop)
            if rest.stop - rest.start == 4:
                self._quaternions.append(_Quaternions(rest, 2.0 / max_angle))
            else:
                at += range(rest.start, rest.stop)
                by += [1.0 / max_angle] * (rest.stop - rest.start)
        self._columns, self._weights = np.array(columns, dtype=np.intp), np.array(weights)
        self._at, self._by = np.array(at, dtype=np.intp), np.array(by)

    @property
    def size(self) -> int:
        """Numbers by which one configuration is compared with others."""
        return len(self._at) + 4 * len(self._quaternions)

    @property
    def weights(self) -> tuple[Indices, Vector]:
        """Columns of a difference that distances are of, and by what each of them has it: (m,), (m,)."""
        return self._columns, self._weights

    def distances(self, Q0: Matrix, Q1: Matrix) -> Vector:
        """Distances (n,) between each two rows of as many configurations (n, nq), in largest steps."""
        moved = np.empty((len(Q0), len(self._columns)))
        moved[:, self._flat] = Q1[:, self._flat_q] - Q0[:, self._flat_q]
        for leaf, columns in self._groups:
            moved[:, columns] = leaf.space.difference(Q0[:, leaf.q], Q1[:, leaf.q])
        moved *= self._weights
        return np.sqrt(np.add.accumulate(moved * moved, axis=1)[:, -1])  # one by one, as kernels add

    def coordinates(self, Q: Matrix) -> Matrix:
        """Configurations (n, nq) as vectors (n, size)."""
        flat = Q[:, self._at] * self._by
        return np.hstack([flat, *(Q[:, part.q] * part.steps for part in self._quaternions)])

    def nearest(self, X: Matrix, T: Matrix, left_out: BoolVector) -> tuple[np.ndarray, Vector]:
        """Of each target the nearest row, and the square of its chord.

        Args:
            X: coordinates (n, size) of the rows.
            T: coordinates (m, size) of the targets.
            left_out: rows (n,) that are nobody's neighbour.
        """
        at = flat = len(self._at)
        own = np.einsum("ij,ij->i", X[:, :flat], X[:, :flat])
        own[left_out] = np.inf
        squares = (-2.0 * T[:, :flat]) @ X[:, :flat].T
        squares += own
        for part in self._quaternions:
            block = slice(at, at + 4)
            squares += 2.0 * part.steps**2 - 2.0 * np.abs(T[:, block] @ X[:, block].T)
            at += 4
        rows = squares.argmin(axis=1)
        return rows, squares[np.arange(len(T)), rows] + np.einsum("ij,ij->i", T[:, :flat], T[:, :flat])
