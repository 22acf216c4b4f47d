r"""Test forces (Kokkevis): :math:`J M^{-1} J^T` column by column from articulated bodies, without a mass matrix.

Source: E. Kokkevis, Practical physics for articulated characters, 2004; `ForwardDynamicsContactsKokkevis` of RBDL,
which takes neither external forces nor stabilisation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import Matrix, Vector

from ..robot import Robot
from ..robot.pinocchio import pin
from .row_space import RowSpace
from .saddle_point import Solution, solved, unsolved
from .status import DynamicsStatus

MET = 1e-8
"""Residual of the equation of motion, as a part of its largest term, up to which articulated bodies solved it."""


REFINED = 3
"""Times that what the rows still miss is brought to zero."""


def solve_test_forces(
    robot: Robot, q: Vector, v: Vector, force: Vector, G: Matrix, gamma: Vector, size: float = 0.0
) -> Solution:
    r"""Solve with :math:`n + 1` runs of the articulated-body algorithm for n independent rows.

    Args:
        robot: the robot.
        q, v: the state.
        force: generalised forces of actuators and external forces (nv,).
        G: rows of contacts (k, nv).
        gamma: what they are asked for (k,).
        size: of the accelerations that gamma was computed from.
    """
    space = RowSpace(G)
    if not (space.is_finite and np.isfinite(gamma).all()):
        return unsolved(space, DynamicsStatus.NOT_FINITE, len(force))
    rows = space.independent(gamma, size)
    model: Any = robot.model
    data = model.createData()

    def accelerations(tau: Vector) -> Vector:
        return np.array(pin.aba(model, data, q, v, tau))

    free = accelerations(force)
    B = rows.rows
    responses = np.array([accelerations(force + row) - free for row in B]).reshape(len(B), len(force))
    K = responses @ B.T
    mu, a, pushed = np.zeros(len(B)), free, force
    if len(B):
        L, failed = lapack.dpotrf(0.5 * (K + K.T), lower=1)
        if failed or not np.isfinite(K).all():
            return unsolved(space, DynamicsStatus.SINGULAR_MASS, len(force))
        for _ in range(REFINED):  # K is a difference of accelerations: one solution leaves its rounding in the rows
            mu = mu + lapack.dpotrs(L, rows.wanted - B @ a, lower=1)[0]
            pushed = force + mu @ B
            a = accelerations(pushed)
    if not np.isfinite(a).all():
        return unsolved(space, DynamicsStatus.SINGULAR_MASS, len(force))
    back = pin.rnea(model, data, q, v, a)
    if not np.abs(back - pushed).max(initial=0.0) <= MET * _largest(model, data, q, v, a, pushed):
        return unsolved(space, DynamicsStatus.SINGULAR_MASS, len(force))
    return solved(space, rows, a, mu)


def _largest(model: Any, data: Any, q: Vector, v: Vector, a: Vector, pushed: Vector) -> float:
    """The largest term of the equation of motion."""
    bias = np.abs(pin.nonLinearEffects(model, data, q, v)).max(initial=0.0)
    inertial = np.abs(pin.crba(model, data, q)).max(initial=0.0) * np.abs(a).max(initial=0.0)
    return float(max(bias, inertial, np.abs(pushed).max(initial=0.0)))
