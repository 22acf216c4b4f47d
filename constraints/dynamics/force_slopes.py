"""What external forces change by with the state: by their own formulas, or by differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from liegroups.arrays import Matrix
from liegroups.log_slopes import FIVE_POINTS

from ..robot import Motion
from .external_force import Force, generalised


def force_slopes(forces: Sequence[Force], motion: Motion) -> tuple[Matrix, Matrix, tuple[str, ...]]:
    """Derivatives (nv, nv) of the generalised force of all that acts, by q and by v.

    And the names of those that have no `generalised_slopes(motion)`.

    Args:
        forces: what acts.
        motion: the state.
    """
    n = motion.v.size
    by_q, by_v = np.zeros((2, n, n))
    rough: list[str] = []
    for i, force in enumerate(forces):
        formulas: Any = getattr(force, "generalised_slopes", None)
        found = None if formulas is None else formulas(motion)
        if found is None:
            rough.append(f"external force {i} ({type(force).__name__})")
            found = _by_differences(force, motion)
        by_q += found[0]
        by_v += found[1]
    return by_q, by_v, tuple(rough)


def _by_differences(force: Force, motion: Motion) -> tuple[Matrix, Matrix]:
    space, q, v = motion.posture.space, motion.q, np.array(motion.v)
    by_q, by_v = np.zeros((2, v.size, v.size))
    for i, e in enumerate(np.eye(v.size)):
        for step, factor in FIVE_POINTS:
            by_q[:, i] += factor * generalised([force], space.at(space.integrate(q, step * e), v))
            by_v[:, i] += factor * generalised([force], space.at(q, v + step * e))
    return by_q, by_v
