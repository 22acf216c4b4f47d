"""Staying on a branch: whether two closed configurations are on the same way of closing a mechanism."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr

from ..arrays import BoolVector, Indices, Matrix, Vector
from ..problem import Problem
from ..ranks import RANK_TOLERANCE
from ..right_hand_side import RightHandSide

__all__ = ["Branch", "branch_between"]


class Branch(NamedTuple):
    r"""How two configurations compare.

    Attributes:
        moved: largest move of a dependent coordinate [rad or m].
        signs: signs of the determinant of the pivot block :math:`J[h, v]` at both.
        dependent: the dependent coordinates v (tangent columns).
        rows: the independent rows h.
    """

    moved: float
    signs: tuple[float, float]
    dependent: Indices
    rows: Indices

    def same(self, step: float) -> bool:
        """Whether no dependent coordinate moved more than `step`, and the sign is kept."""
        return self.moved <= step and self.signs[0] == self.signs[1] != 0.0


def branch_between(problem: Problem, q0: Vector, q: Vector, rhs: RightHandSide, driven: BoolVector) -> Branch:
    """Compare a configuration with the closed one it led to.

    Dependent coordinates and independent rows are the pivots of the Jacobian at q, the closed one: at an open
    configuration redundant rows may look independent.

    Args:
        problem: the rows.
        q0, q: configurations (nq,), q closed.
        rhs: right-hand sides.
        driven: (nv,) columns that are never dependent.
    """
    columns = np.flatnonzero(~driven)
    after, before = (problem.jacobian(x, rhs)[:, columns] for x in (q, q0))
    v = _pivots(after)
    h = _pivots(after[:, v].T)
    apart = np.abs(problem.space.difference(q0, q)[columns[v]]).max(initial=0.0)
    signs = tuple(float(np.sign(np.linalg.det(J[np.ix_(h, v)]))) for J in (before, after))
    return Branch(float(apart), (signs[0], signs[1]), columns[v], h)


def _pivots(J: Matrix) -> Indices:
    """The first columns in the order of pivots, as many as the rank."""
    if not J.size:
        return np.zeros(0, dtype=np.intp)
    result: Any = qr(J, mode="r", pivoting=True)
    R, order = result
    pivots = np.abs(np.diag(R))
    rank = int((pivots > RANK_TOLERANCE * pivots.max(initial=0.0)).sum())
    return np.sort(np.asarray(order[:rank], dtype=np.intp))
