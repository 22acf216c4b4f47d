r"""Factorisation of joint-space inertias along the tree: :math:`H = L^T L` without a number outside its pattern.

The pattern: joints of which one carries the other. Those of different limbs do not meet.

Source: R. Featherstone, Efficient factorization of the joint-space inertia matrix for branched kinematic trees, 2005.
"""

from __future__ import annotations

from functools import cache
from typing import Any, final

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import Indices, Matrix, Vector

from ...errors import OptionError
from ...robot import Motion
from ...robot.model.inertia import is_depth_first
from ...robot.model.pinocchio import pin

MASSLESS = 1e-13
"""A pivot below this part of its diagonal entry is rounding: the mass matrix is singular."""


class TreeSparsity:
    r"""Which entries of a joint-space inertia can differ from zero: those of two joints of which one carries the other.

    Attributes:
        ancestors: for each degree of freedom, those before it that carry it (indices, in order).
        nv: degrees of freedom.
    """

    def __init__(self, parents: Indices) -> None:
        r"""Note the pattern.

        Args:
            parents: (nv,) index of the degree of freedom that carries each; -1 for none; each below its own.
        """
        self.nv = len(parents)
        chains: list[list[int]] = []
        for i, parent in enumerate(parents.tolist()):
            if not -1 <= parent < i:
                raise OptionError(f"parent of degree of freedom {i}: expected -1 or an index below it, got {parent}")
            chains.append([] if parent < 0 else [*chains[parent], parent])
        self.ancestors: list[Indices] = [np.array(chain, dtype=np.intp) for chain in chains]

    @classmethod
    def of(cls, model: Any) -> TreeSparsity:
        """Those of a pinocchio model."""
        parents, last = [-1] * model.nv, [-1] * model.njoints
        for j in range(1, model.njoints):
            joint, before = model.joints[j], last[model.parents[j]]
            for i in range(joint.idx_v, joint.idx_v + joint.nv):
                parents[i], before = before, i
            last[j] = before
        return _of_parents(tuple(parents))

    @property
    def operations(self) -> int:
        """Multiplications of one factorisation: d (d + 3) / 2 + 1 for a degree of freedom with d before it."""
        depths = [len(chain) for chain in self.ancestors]
        return sum(d * (d + 3) // 2 + 1 for d in depths)

    def is_zero_outside(self, H: Matrix) -> bool:
        """Whether a matrix (nv, nv) is zero outside the pattern."""
        outside = np.ones((self.nv, self.nv), dtype=np.bool_)
        for i, chain in enumerate(self.ancestors):
            outside[i, i] = outside[i, chain] = outside[chain, i] = False
        return not H[outside].any()

    def factor(self, H: Matrix) -> Matrix | None:
        r"""Lower triangular L (nv, nv) with :math:`H = L^T L`, zero outside the pattern; None where H is singular.

        Args:
            H: (nv, nv), symmetric, zero outside the pattern; what is outside is not read.
        """
        L = np.zeros((self.nv, self.nv))
        for i, chain in enumerate(self.ancestors):
            L[i, chain], L[i, i] = H[i, chain], H[i, i]
        for i in range(self.nv - 1, -1, -1):
            pivot = L[i, i]
            if not pivot > MASSLESS * H[i, i]:
                return None
            chain = self.ancestors[i]
            row = L[i, chain] / np.sqrt(pivot)
            L[i, i], L[i, chain] = np.sqrt(pivot), row
            if chain.size:
                L[np.ix_(chain, chain)] -= np.tril(np.outer(row, row))
        return L

    def solve_transposed(self, L: Matrix, b: Matrix) -> Matrix:
        r""":math:`L^{-T} b`, for a vector (nv,) or columns (nv, k): from the leaves to the root."""
        x = b.copy()
        for i in range(self.nv - 1, -1, -1):
            x[i] /= L[i, i]
            chain = self.ancestors[i]
            x[chain] -= np.multiply.outer(L[i, chain], x[i])
        return x

    def solve(self, L: Matrix, b: Matrix) -> Matrix:
        r""":math:`L^{-1} b`, for a vector (nv,) or columns (nv, k): from the root to the leaves."""
        x = b.copy()
        for i, chain in enumerate(self.ancestors):
            x[i] = (x[i] - L[i, chain] @ x[chain]) / L[i, i]
        return x


@final
class JointSparsity(TreeSparsity):
    """The same of a robot, factorised by pinocchio (:math:`H = U D U^T` in the same pattern) and solved by LAPACK.

    A thirtieth of the time of the loops above on a humanoid (1500 to 50 us).

    Args:
        model, data: pinocchio's; the mass matrix in the data is overwritten.
    """

    def __init__(self, model: Any, data: Any) -> None:
        whole = TreeSparsity.of(model)
        self.nv, self.ancestors = whole.nv, whole.ancestors
        self._model, self._data = model, data

    def factor(self, H: Matrix) -> Matrix | None:
        """As `TreeSparsity.factor`."""
        data = self._data
        data.M = H
        pin.cholesky.decompose(self._model, data)
        pivots: Vector = data.D
        if not (pivots > MASSLESS * H.diagonal()).all():
            return None
        L: Matrix = np.sqrt(pivots)[:, None] * data.U.T
        return L

    def solve_transposed(self, L: Matrix, b: Matrix) -> Matrix:
        """As `TreeSparsity.solve_transposed`."""
        return lapack.dtrtrs(L, b, lower=1, trans=1)[0] if b.size else b.copy()

    def solve(self, L: Matrix, b: Matrix) -> Matrix:
        """As `TreeSparsity.solve`."""
        return lapack.dtrtrs(L, b, lower=1)[0] if b.size else b.copy()


def sparsity_at(motion: Motion) -> TreeSparsity:
    """The pattern of a robot, on its own memory; without pinocchio where its joints are in another order."""
    k = motion.posture.kinematics
    return JointSparsity(k.model, k.data) if is_depth_first(k.model) else TreeSparsity.of(k.model)


@cache
def _of_parents(parents: tuple[int, ...]) -> TreeSparsity:
    return TreeSparsity(np.array(parents, dtype=np.intp))


def no_sparsity(nv: int) -> TreeSparsity:
    """One chain: nothing is zero."""
    return _of_parents(tuple(range(-1, nv - 1)))
