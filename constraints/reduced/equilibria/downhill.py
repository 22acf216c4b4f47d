"""Downhill to an equilibrium: where the forces have a potential, its value is the merit of the steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ...dynamics.laws.law import NoEnergyError
from ...errors import OptionError, UndefinedError
from ...loops.closing.corrector import longest_trusted
from ...robot.model.pinocchio import data_of, pin
from .balance import ForceBalance, SearchPoint
from .prescribed import NOT_BESIDE

NO_VALUE = (UndefinedError, OptionError)
LONGEST_STEP_DOWNHILL = 0.237
"""Longest step of a coordinate [rad or m]; no round number, so that steps from round angles do not end where a
mechanism is folded."""
SHORTEST_STEP_DOWNHILL = 2.0**-20
"""Part of a step below which nothing goes down."""
ENOUGH = 1e-4
"""Part of what the slope promises by which the potential must fall."""
FLAT = 1e-9
"""Curvatures below this part of the largest one count as this part."""


def potential_of(balance: ForceBalance, point: SearchPoint) -> Callable[[SearchPoint], float] | None:
    """The potential energy [J] of a mechanism at rest, of its weight and its forces; None where it has none.

    Args:
        balance: whose unknowns are coordinates alone.
        point: where the forces are known.
    """
    given, v = point.given, point.state.v
    is_static = not (v.any() or given.acceleration.any() or given.driven_acceleration.any() or given.tau.any())
    if not is_static or balance.scalars or balance.moving.size != balance.balanced.size:
        return None
    if any(not hasattr(force, "energy") for force in given.external):
        return None
    model: Any = point.state.coordinates.constraint_set.robot.model
    data: Any = data_of(model)
    forces: tuple[Any, ...] = given.external

    def energy(at: SearchPoint) -> float:
        weight = float(pin.computePotentialEnergy(model, data, at.state.q))
        return weight + sum(float(force.energy(at.state.q)) for force in forces)

    try:
        energy(point)
    except NoEnergyError:
        return None
    return energy


def downhill(
    balance: ForceBalance, point: SearchPoint, energy: Callable[[SearchPoint], float]
) -> tuple[SearchPoint, float, bool] | None:
    r"""A step down the potential V, and whether a minimum is near: there Newton's steps end the search.

    .. math:: s = -Q\,|\Lambda|^{-1} Q^T g, \qquad V(u \oplus \lambda s) \le V(u) + 10^{-4}\,\lambda\,g^T s

    with g the residual, the slope of V, and :math:`Q \Lambda Q^T` the symmetric part of its derivative, both in units
    of inertia: the step of Newton where V is convex, and downhill everywhere.

    Args:
        balance: the equations.
        point: where.
        energy: V, of `potential_of`.

    Returns:
        The next point, the part of the step that was taken, and whether V is convex at the first point; None where
        nothing leads down.

    Source: Nocedal and Wright, Numerical Optimization, section 3.4 (eigenvalue modification).
    """
    try:
        D = balance.derivative(point)
    except (*NOT_BESIDE, *NO_VALUE):
        return None
    across = 1.0 / balance.sizes(point.state)[balance.moving]
    H, g = across[:, None] * D * across, across * point.missing
    if not (np.isfinite(H).all() and np.isfinite(g).all()):
        return None
    values, Q = np.linalg.eigh(0.5 * (H + H.T))
    sizes = np.maximum(np.abs(values), FLAT * max(float(np.abs(values).max(initial=0.0)), float(np.linalg.norm(g))))
    scaled: Vector = -Q @ ((Q.T @ g) / sizes)
    step, slope, V = across * scaled, float(g @ scaled), energy(point)
    longest = float(np.abs(step).max(initial=0.0))
    factor = min(1.0, LONGEST_STEP_DOWNHILL / longest) if longest else 1.0
    if not slope < 0.0:
        return None

    def shortened(factor: float) -> SearchPoint | None:
        try:
            following = balance.beside(point, factor * step)
            return following if energy(following) <= V + ENOUGH * factor * slope else None
        except (*NOT_BESIDE, *NO_VALUE):
            return None

    following, factor = longest_trusted(shortened, factor, SHORTEST_STEP_DOWNHILL)
    return None if following is None else (following, factor, bool(values[0] > -FLAT * abs(values[-1])))
