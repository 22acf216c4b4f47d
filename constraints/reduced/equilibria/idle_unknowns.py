"""Unknowns of an equilibrium that turn a single body, as a rod between two balls, where no force acts on the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...linear_algebra import largest, rank_of_rows, singular_values
from ...loops.closing.idle_motions import idle_directions
from ..state import ClosedState

if TYPE_CHECKING:
    from .balance import ForceBalance, SearchPoint

NONE = 1e-6
"""A stiffness below this part of the largest one is that of a motion on which no force acts: differences make it."""
ALONG = 1e-6
"""Idle motions have no larger share than this in coordinates that do not move."""


def idle_in(state: ClosedState) -> dict[str, Vector]:
    """Idle motions (nu,), of norm 1, of a closed state, by joint; driven joints are held."""
    rows, parts = state.rows.jacobian, state.coordinates.partition
    constraint_set = state.coordinates.constraint_set
    held = np.eye(rows.shape[1])[parts.driven]
    J = np.vstack([rows, held])
    rank = rank_of_rows(singular_values(J), state.coordinates.tolerance)
    found = idle_directions(constraint_set.robot, state.motion.posture, J, rank)
    return {
        joint: motion[parts.independent] / np.linalg.norm(motion[parts.independent])
        for joint, motion in found.items()
        if np.linalg.norm(motion[parts.independent]) > ALONG
    }


def idle_unknowns(
    balance: ForceBalance, point: SearchPoint, D: Matrix, across: Vector, down: Vector
) -> tuple[tuple[str, ...], Matrix]:
    """Joints of bodies whose spin no force acts on, and an orthonormal basis (m, k) of these, in scaled unknowns.

    Args:
        balance: the equations; those whose coordinates all move and all are in balance have idle motions.
        point: where.
        D: derivative there (n, n).
        across, down: scales of the unknowns and of the equations (n,).
    """
    m = balance.moving.size
    none = (), np.zeros((m, 0))
    if m != balance.balanced.size or not np.array_equal(balance.moving, balance.balanced):
        return none
    scaled = down[:m, None] * D[:m, :m] * across[:m]
    names, basis = list[str](), list[Vector]()
    for joint, motion in idle_in(point.state).items():
        others = np.delete(motion, balance.moving)
        e = motion[balance.moving] / across[:m]
        e = e / np.linalg.norm(e)
        power = abs(float(e @ (down[:m] * point.missing[:m])))
        acts = max(largest(scaled @ e), largest(e @ scaled)) > NONE * largest(scaled)
        if largest(others) <= ALONG and not acts and power <= NONE * largest(scaled):
            names.append(joint)
            basis.append(e)
    return (tuple(names), np.linalg.qr(np.array(basis).T)[0]) if basis else none
