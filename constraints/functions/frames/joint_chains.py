"""The joints between two frames of a robot: which there are, and which of two is the first one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.third_order import se3_coad

from ...robot.elementary import ElementaryTree
from ...workspace import kept_with


class Chains(NamedTuple):
    """The joints between frame a and each of n frames b.

    Attributes:
        near_b, near_a: (n, njoints) 1 for those on the side of b, and on that of a; else 0.
        shared: (n,) how many carry both.
        signs: (n, nv) 1 for columns near b, -1 for those near a.
        turning: (nv,) 1 for columns that turn anything.
        first: (n, nv, nv) 1 where, of columns k and j that are both on the chain, j is the first one seen from a.
        second: the same where k is.
    """

    near_b: Matrix
    near_a: Matrix
    shared: Vector
    signs: Matrix
    turning: Vector
    first: Matrix
    second: Matrix

    @staticmethod
    @kept_with
    def between(tree: ElementaryTree, a: int, b: tuple[int, ...]) -> Chains:
        """Of joints of the tree; kept with it.

        Args:
            tree: the tree.
            a, b: joints that carry the frames.
        """
        S, joints = tree.subspaces
        on_a, on_b = tree.carries[:, a] > 0.0, tree.carries[:, list(b)].T > 0.0
        near_b, near_a = (on_b & ~on_a).astype(np.float64), (~on_b & on_a).astype(np.float64)
        turning = (np.abs(S[3:]).sum(axis=0) > 0.0).astype(np.float64)
        signs = (near_b - near_a)[:, joints]
        shared = (on_a & on_b).sum(axis=1).astype(np.float64)
        first, second = _order(near_b[:, joints], near_a[:, joints], tree.carries[np.ix_(joints, joints)])
        return Chains(near_b, near_a, shared, signs, turning, first, second)

    def wrenches_slope(self, J: Matrix, wrenches: Matrix) -> Vector:
        r"""How :math:`\sum_k J_k^T W_k` changes with q (nv,), with wrenches W on the first frame b that turn with it.

        Of columns j and k of J, in b, :math:`\partial_j J_k = [J_k, J_j]` where k is the first one seen from a, else 0:
        so j meets the sum of those :math:`\mathrm{ad}_{J_k}^T W_k`.

        Args:
            J: body Jacobian (6, nv) of b relative to a.
            wrenches: W (6, nv), in b.
        """
        bent = _OF_WRENCHES.dot((J[:, None] * wrenches).reshape(36, -1))
        return np.add.reduce(J * bent.dot(self.second[0]))

    def forces_slope(self, J: Matrix, forces: Matrix) -> Vector:
        """As `wrenches_slope`, of forces (3, nv) at the origin of b that do not turn with b, but with a.

        Args:
            J: body Jacobian (6, nv) of b relative to a.
            forces: now, in the axes of b.
        """
        bent = _OF_FORCES.dot((J[:, None] * forces).reshape(18, -1))
        moving, turning = J[:3] * bent[:3].dot(self.second[0]), J[3:] * bent[3:].dot(self.first[0])
        return np.add.reduce(moving - turning)


def _order(near_b: Matrix, near_a: Matrix, carries: Matrix) -> tuple[Matrix, Matrix]:
    """`first` and `second` of chains; `carries` (nv, nv) is 1 where the joint of a column carries that of another."""
    on = near_b + near_a
    both = on[:, :, None] * on[:, None]
    up = near_b[:, :, None] * (near_b[:, None] * carries.T + near_a[:, None])
    up = up + near_a[:, :, None] * near_a[:, None] * (carries - carries * carries.T)
    return up, both - up


_COADJOINT = np.stack([se3_coad(e) for e in np.eye(6)], axis=2)
_OF_WRENCHES, _OF_FORCES = _COADJOINT.reshape(6, 36), _COADJOINT[:, :, :3].reshape(6, 18)
r"""Of products :math:`x_j W_k` of a twist and a wrench, or a force, by j and k: to :math:`\mathrm{ad}_x^T W`."""
