"""How the accelerations of a motion change with its state: what implicit steps solve with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import Matrix, Vector

from ...robot import Motion
from ..forward import ForwardDynamics

STEP_OF_STIFFNESS = 1e-7
"""Step of differences [m, rad], and as a part of velocities."""


class Stiffness(NamedTuple):
    r"""Derivatives of accelerations by q (along the tangent) and v, each (nv, nv)."""

    by_q: Matrix
    by_v: Matrix

    def solver(self, part: float) -> Callable[[Vector], Vector]:
        r"""What solves :math:`(I - \alpha F)\,\delta = r` for (u, v) (2 nv,), F the derivative of their rates.

        Args:
            part: alpha [s].

        Raises:
            LinAlgError: the matrix is singular.
        """
        n = len(self.by_q)
        lu, pivots, failed = lapack.dgetrf(np.eye(n) - part * self.by_v - part**2 * self.by_q)
        if failed:
            raise np.linalg.LinAlgError("the matrix of an implicit step is singular")

        def solve(right: Vector) -> Vector:
            u, v = right[:n], right[n:]
            solved: tuple[Vector, int] = lapack.dgetrs(lu, pivots, v + part * (self.by_q @ u))
            dv = solved[0]
            return np.concatenate([u + part * dv, dv])

        return solve


Acceleration = Callable[[Motion], Vector]
"""The acceleration (nv,) at a state."""


def stiffness_at(found: ForwardDynamics, motion: Motion, push: Any, projects: bool, near: Acceleration) -> Stiffness:
    r"""Derivatives of the acceleration at a state, from formulas where there are some.

    Where states are projected, in the directions that stay on the constraints, by :math:`\Pi = \partial a /
    \partial\tau\,M`.

    Args:
        found: the dynamics there.
        motion: the state.
        push: what gives joint forces at a state, as a function, or None: the dynamics take them as constant.
        projects: whether states are projected.
        near: acceleration at a state nearby, for differences where there are no formulas.
    """
    slopes = found.derivatives()
    if not slopes.success:
        return Stiffness(*_differences(motion, near))
    by_q, by_v, by_tau = slopes.acceleration_dq, slopes.acceleration_dv, slopes.acceleration_dtau
    if push is not None:
        push_q, push_v = _differences(motion, push)
        by_q, by_v = by_q + by_tau @ push_q, by_v + by_tau @ push_v
    if projects and found.question.constraint_set.size:
        onto = by_tau @ motion.mass_matrix()
        by_q, by_v = by_q @ onto, by_v @ onto
    return Stiffness(by_q, by_v)


def _differences(motion: Motion, function: Acceleration) -> tuple[Matrix, Matrix]:
    """Derivatives (nv, nv) of a function of the state (nv,) by q and v, by differences."""
    space, q = motion.posture.space, motion.q
    v: Vector = motion.v
    n = len(v)
    by_q, by_v, steps = np.zeros((n, n)), np.zeros((n, n)), np.eye(n)
    for i in range(n):
        e, size = steps[i], STEP_OF_STIFFNESS * (1.0 + abs(float(v[i])))
        ahead, behind = (function(space.at(space.integrate(q, s * STEP_OF_STIFFNESS * e), v)) for s in (1.0, -1.0))
        by_q[:, i] = (ahead - behind) / (2.0 * STEP_OF_STIFFNESS)
        change: Vector = size * e
        ahead, behind = function(space.at(q, v + change)), function(space.at(q, v - change))
        by_v[:, i] = (ahead - behind) / (2.0 * size)
    return by_q, by_v
