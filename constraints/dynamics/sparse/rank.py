"""Whether the rank of many rows is that of those kept, by the rule of all dynamics, without a dense decomposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import splu

from liegroups.arrays import BoolVector, Indices, Vector

from ...linear_algebra import LEAST_ROW, norm
from .independent_rows import Block

_factorised: Callable[[Any], Any] = partial(
    splu, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
)

STEPS = 6
"""Steps of the power method, forwards and backwards: far less than a factor of `SURE_FACTOR` is left after them."""

SURE_FACTOR = 3.0
"""How far from the limit singular values, which are known to tens of percent, have to be to decide."""


def is_rank_certain(blocks: Sequence[Block], kept: BoolVector, left_out: float, nv: int, rounding: float) -> bool:
    r"""Whether singular values of all rows count (above `rounding` of the largest) as many times as rows are kept.

    The least singular value of the kept rows K bounds as many of all rows from below; what is left of the others bounds
    the next one from above. The largest and the least are found by the power method on :math:`K K^T`.
    """
    if not kept.any():
        return left_out <= rounding * LEAST_ROW / SURE_FACTOR
    K = _sparse(blocks, kept, nv)
    gram: Any = (K @ K.T).tocsc()
    x: Vector = np.cos(np.arange(1.0, gram.shape[0] + 1.0))  # in no special direction, and the same in each run
    largest = sqrt(_growth(x, gram.__matmul__))
    limit = rounding * max(largest, LEAST_ROW)
    if not left_out < limit / SURE_FACTOR:
        return False
    try:
        factors = _factorised(gram)
    except RuntimeError:  # exactly singular
        return False
    shrinking = _growth(x, factors.solve)
    return 0.0 < shrinking * (SURE_FACTOR * limit) ** 2 < 1.0


def _growth(x: Vector, times: Callable[[Vector], Vector]) -> float:
    """The largest eigenvalue of a symmetric positive matrix, by its products with vectors."""
    size = 0.0
    for _ in range(STEPS):
        x = times(x / norm(x))
        size = norm(x)
        if not 0.0 < size < np.inf:
            return 0.0
    return size


def _sparse(blocks: Sequence[Block], kept: BoolVector, nv: int) -> Any:
    """The kept rows of the Jacobian as a sparse matrix (n, nv)."""
    place = np.cumsum(kept) - 1
    i, j, x = list[Indices](), list[Indices](), list[Vector]()
    for block in blocks:
        used = np.broadcast_to(kept[block.paths.rows][:, :, None], block.values.shape)
        i.append(np.broadcast_to(place[block.paths.rows][:, :, None], block.values.shape)[used])
        j.append(np.broadcast_to(block.paths.columns[:, None, :], block.values.shape)[used])
        x.append(block.values[used])
    places = np.concatenate(i), np.concatenate(j)
    return csr_matrix((np.concatenate(x), places), shape=(int(kept.sum()), nv))
