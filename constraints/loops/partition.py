"""Dependent and independent coordinates of a set of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix

from ..keywords import FieldOf
from ..linear_algebra import RANK_TOLERANCE, numerical_rank, pivots, rank_of_rows, singular_values


class Partition(NamedTuple):
    r"""Columns u, c, v and rows h of a Jacobian, so that :math:`J[h, v]` is square and regular, of the rank of J.

    Then the rows determine the dependent velocities: :math:`v_v = -J[h, v]^{-1} J[h, uc]\, v_{uc}`. All are indices of
    tangent columns, or of rows; each column is in one of the first three, each row in one of the other two.

    Attributes:
        dependent: v, columns that follow from the others, in order.
        independent: u, columns that are free to choose: the preferred ones first.
        driven: c, columns whose motion is imposed, in order.
        rows: h, rows that span the others, in order.
        redundant: the rows that they span, to first order, in order.

    Source: coordinate partitioning of Robotran; there a column is a joint, here a tangent direction.
    """

    dependent: Indices
    independent: Indices
    driven: Indices
    rows: Indices
    redundant: Indices

    rank = FieldOf[int]("dependent.size", "Of the columns that are not driven.")


def partition(
    J: Matrix,
    *,
    wished: Sequence[int] = (),
    preferred: Sequence[int] = (),
    driven: BoolVector | None = None,
    tolerance: float = RANK_TOLERANCE,
) -> Partition:
    """Judge a Jacobian: how many columns are dependent by its singular values, which ones by pivoted QR.

    The pivots are the largest, of the columns and then of the rows, so that :math:`J[h, v]` is about as well
    conditioned as the rank allows. Meant for a closed configuration: at an open one redundant rows may look
    independent.

    Args:
        J: (rows, nv) at a configuration.
        wished: columns that come before those preferred.
        preferred: columns that shall be independent where the rank allows, in the order wished.
        driven: (nv,) mask of the columns that are never dependent; none by default.
        tolerance: singular values below this part of the largest one, of the columns that are not driven, are zero.
    """
    held = np.zeros(J.shape[1], dtype=np.bool_) if driven is None else driven
    taken, groups = held.copy(), list[Indices]()
    one_by_one = [[i] for i in (*wished, *preferred)]  # whose place in the order counts
    for group in (*one_by_one, range(held.size)):
        groups.append(np.array([i for i in dict.fromkeys(group) if not taken[i]], dtype=np.intp))
        taken[groups[-1]] = True
    sizes = singular_values(J[:, ~held])
    scale, rank = sizes.max(initial=0.0), rank_of_rows(sizes, tolerance)
    v = np.zeros(0, dtype=np.intp)
    for i, group in enumerate(reversed(groups)):  # what some do not reach is left to those that are wished more
        reached = rank
        if any(other.size for other in groups[: len(groups) - 1 - i]):
            reached = numerical_rank(singular_values(J[:, np.concatenate([v, group])]), scale, tolerance)
        rest = J[:, group]
        if v.size and group.size:
            span = np.linalg.qr(J[:, v])[0]
            rest = rest - span @ (span.T @ rest)
        v = np.concatenate([v, group[pivots(rest)[0][: max(reached, v.size) - v.size]]])
    v, u = np.sort(v), np.concatenate(groups)
    h = np.sort(pivots(J[:, v].T)[0][: v.size])
    free = ~_mask(v, held.size)
    return Partition(v, u[free[u]], np.flatnonzero(held), h, np.flatnonzero(~_mask(h, len(J))))


def _mask(indices: Indices, size: int) -> BoolVector:
    mask = np.zeros(size, dtype=np.bool_)
    mask[indices] = True
    return mask
