r"""Pinocchio's constraint dynamics, where its rows span ours: contacts and closures that hold a point or a frame.

Pinocchio solves :math:`J_p a + \text{drift}_p = w`. With :math:`J = T J_p`, T regular by constraint, w and the
multipliers are converted: :math:`w = T^{-1}\gamma + \text{drift}_p`, :math:`\lambda = T^{-T} \lambda_p`.
"""

from __future__ import annotations

import numpy as np

from liegroups.arrays import Vector

from ...linear_algebra import norm, row_lengths
from ...loops import ConstraintSet
from ...loops.set_rows import SetRows
from ...robot import Motion
from ...robot.model.pinocchio import pin
from .pinocchio_constraints import ACCURACY, ITERATIONS, pinocchio_constraints_of
from .row_space import RowSpace, in_balance
from .saddle_point import Solution, solved, unsolved
from .status import DynamicsStatus

DAMPING = 1e-6
"""Of the proximal loop, for redundant rows; independent ones are solved at once, without it."""

MET = 1e-9
"""Part of the size of the accelerations by which the rows may be missed."""

NEAT, REFINED = 1e-13, 2
"""Part of their terms by which both equations may be missed before they are corrected; and how often they are."""


def solve_at_once(constraint_set: ConstraintSet, motion: Motion, tau: Vector) -> tuple[Vector, Vector] | None:
    """Acceleration and multipliers of contacts whose rows are pinocchio's; None where the general way has to decide.

    The acceleration is checked: it is finite, it meets the rows, and the rows are far from redundant.
    """
    q, v = motion.q, motion.v
    own = pinocchio_constraints_of(constraint_set, motion)
    found = own.solve(q, v, tau)
    if found is None:
        return None
    a, missed = found[0], own.missed(q, v, found[0])
    if not (missed <= MET**2 or missed <= (MET * (1.0 + v @ v + np.sqrt(a @ a))) ** 2):
        return None
    return found


def solve_proximal(
    constraint_set: ConstraintSet, motion: Motion, force: Vector, rows: SetRows, gamma: Vector, size: float
) -> Solution | None:
    """Solve by pinocchio's factorisation of constraints and inertia; None where its loop does not meet the equations.

    Args:
        constraint_set: whose rows pinocchio has.
        motion: the state.
        force: generalised forces of actuators and external forces (nv,).
        rows: of the set at the state.
        gamma: what the rows are asked for (size,).
        size: of the accelerations that gamma was computed from.
    """
    n, G = len(force), rows.jacobian
    space = RowSpace(G, constraint_set.rounding)
    if not (space.is_finite and np.isfinite(gamma).all() and np.isfinite(force).all()):
        return unsolved(space, DynamicsStatus.NOT_FINITE, n)
    if space.nearly_repeats:  # pinocchio would push along what does not count
        return None
    if not space.is_full:
        inertia = float(motion.mass_matrix().trace())
        size += in_balance(inertia, force) + in_balance(inertia, motion.bias_force())
    independent = space.independent(gamma, size)
    asked = gamma if space.is_full else space.met(gamma)
    own = pinocchio_constraints_of(constraint_set, motion)
    turns, drift = own.conversions(motion)
    is_full = space.rank == own.size  # rows of zeros are none of `space`, but pinocchio has them
    damping = 0.0 if is_full else DAMPING
    settings = pin.ProximalSettings(ACCURACY, ACCURACY, damping, 1 if is_full else ITERATIONS)
    a = np.array(own.accelerate(motion.q, motion.v, force, settings))
    lam = np.array(own.data.lambda_c)
    if not np.isfinite(a).all():
        return unsolved(space, DynamicsStatus.SINGULAR_MASS, n)
    B = independent.rows

    def multipliers(lam: Vector) -> Vector:
        """Of the independent rows; the others may be rounding, and the damped loop pushes along them all the same."""
        pushes = own.of_multipliers(turns, lam)
        return space.of_independent(pushes) if space.is_full else space.along(pushes @ G)

    more, push = own.follow(own.of_rows(turns, asked) + drift, damping)
    a, mu, tries = a + more, multipliers(lam + push), 0
    while True:
        needed = np.array(pin.rnea(own.model, own.data, motion.q, motion.v, a)) - force
        given = mu @ B
        missed = float(np.abs(needed - given).max(initial=0.0))
        scale = float(max(np.abs(x).max(initial=0.0) for x in (force, given, a)))
        rest = np.where(space.is_on, asked - G @ a, 0.0)
        if tries == REFINED or (missed <= NEAT * scale and np.abs(rest).max(initial=0.0) <= NEAT * (size + norm(a))):
            break
        more, push = own.follow(own.of_rows(turns, rest), damping, given - needed)
        a, mu, tries = a + more, mu + multipliers(push), tries + 1
    reach = MET * (size + norm(a)) * row_lengths(B)  # short rows like long ones
    if not (missed <= 0.1 * MET * scale and (np.abs(B @ a - independent.wanted) <= reach).all()):
        return None
    return solved(space, independent, a, mu)
