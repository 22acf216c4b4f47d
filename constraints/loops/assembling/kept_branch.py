"""The branch of an assembly: where the driven joints came from, and whether it is the same as there."""

from __future__ import annotations

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import UndefinedError
from ...linear_algebra import RANK_TOLERANCE
from ...solvers import Projector
from ...solvers.newton.linear_step import capped
from ...solvers.projection.projection import Projection
from ..branch import BranchComparison, branch_between, meets_dead_centre
from ..closing.split_errors import closed_but_for_redundant_rows, is_closed

BACK = 12
"""Newton steps by which driven joints are moved back to where the mechanism was closed."""


def driven_back(done: Projection, rounding: float) -> Vector | None:
    """The closed configuration from which the driven joints moved to the start, the others at rest; None without.

    Args:
        done: an assembly.
        rounding: of its set.
    """
    problem, q, driven = done.problem, done.start, np.flatnonzero(done.problem.frozen)
    for _ in range(BACK if driven.size else 1):
        try:
            rows = problem.rows(q, done.rhs)
        except UndefinedError:
            return None
        if rows.residual <= done.options.threshold or is_closed(done, q, rounding):
            return q
        step = np.zeros(problem.space.nv)
        step[driven] = -np.linalg.lstsq(rows.jacobian[:, driven], rows.error, rcond=RANK_TOLERANCE)[0]
        q = problem.space.integrate(q, capped(step, done.options.cap))
    return None


def compared(
    projector: Projector, done: Projection, q: Vector, earlier: Vector | None, rounding: float
) -> BranchComparison:
    """The branch of a closed configuration against that of the one before, or of the start where that is not known.

    Args:
        projector: closes the mechanism.
        done: what it gave.
        q: closed configuration (nq,).
        earlier: closed configuration (nq,) before.
        rounding: of the set.
    """
    space, driven, rhs = done.problem.space, done.problem.frozen, done.rhs

    def jacobian(at: Vector) -> Matrix:
        return projector.jacobian(at, rhs)

    if earlier is None:
        return branch_between(space, jacobian, done.start, q, driven)

    def close(near: Vector) -> Vector | None:
        found = projector.project(near, rhs)
        if found.success:
            return found.q
        split = closed_but_for_redundant_rows(found, rounding)
        return None if split is None else split.q

    branch = branch_between(space, jacobian, earlier, q, driven, is_closed=True)
    if branch.signs[0] != branch.signs[1] or branch.signs[0] == 0.0:
        return branch
    return branch._replace(meets=meets_dead_centre(space, jacobian, branch, q, close))
