"""What rounding alone makes of the errors of a problem."""

from __future__ import annotations

import numpy as np

from liegroups.arrays import Vector

from ...errors import UndefinedError
from ...linear_algebra import largest
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide


def rounding_of(problem: Problem, q: Vector, rhs: RightHandSide) -> float:
    r"""The norm of errors below which float64 cannot tell a constraint's errors from zero; the largest of constraints.

    .. math:: \epsilon\, \max_c\, \Bigl|\, |J_c|\, \max(1, |q|) + \max |rhs_c| \,\Bigr|

    so it grows with distances: about 1e-15 at 1 m, and 1e-13 at 100 m. Residuals of arms of 10 m to 1 km end at 0.3
    of it at most. Zero where a function has no value.

    Args:
        problem: of the constraints.
        q: configuration (nq,).
        rhs: right-hand sides.
    """
    try:
        J = np.abs(problem.jacobian(q, rhs))
    except UndefinedError:
        return 0.0
    sizes = np.ones(problem.space.nv)
    for leaf in problem.space.leaves():
        sizes[leaf.v] = np.abs(q[leaf.q]).max(initial=1.0)
    moved, worst = J @ sizes, 0.0
    stack = problem.constraints
    for owner, rows, block in zip(stack, stack.slices, stack.rhs_slices, strict=True):
        scale = largest(owner.rows.scale)
        errors = moved[rows] + scale * largest(rhs.vector[block])
        worst = max(worst, float(np.sqrt(errors @ errors)))
    worst *= float(np.finfo(np.float64).eps)
    return worst if worst < np.inf else 0.0
