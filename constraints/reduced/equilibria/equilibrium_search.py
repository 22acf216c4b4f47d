"""The search for an equilibrium: Newton's method with damped steps, loops closed at each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import OptionError, UndefinedError
from ...linear_algebra import is_finite, largest
from ...loops.closing.corrector import longest_trusted
from ..closing import ReducedStatus
from .balance import ForceBalance, SearchPoint
from .downhill import downhill, potential_of
from .idle_unknowns import idle_unknowns
from .prescribed import NOT_BESIDE

SENSITIVITY = 1e-9
"""Singular values of the derivative, in units of inertia, below this part of the largest one hold nothing."""
LONGEST_STEP_OF_SEARCH = 0.5
"""Longest step of a coordinate [rad or m]."""
SHORTEST_STEP_OF_SEARCH = 2.0**-14
"""Part of Newton's step below which a search has stalled."""
TAKES_PART = 0.1
"""A coordinate takes part in a direction that nothing holds where its share is this part of the largest one."""
NO_VALUE = (UndefinedError, OptionError)


class EquilibriumSearch(NamedTuple):
    """How a search went.

    Attributes:
        points: the iterates, the start first.
        factors: part of Newton's step that was taken, by step.
        status: how it ended.
        reason: what else is known of a failure.
        unheld: places in the unknowns that no force holds at the last iterate.
        idle: joints of bodies that may spin there, with no force on the spin.
    """

    points: tuple[SearchPoint, ...]
    factors: tuple[float, ...]
    status: ReducedStatus
    reason: str
    unheld: tuple[int, ...]
    idle: tuple[str, ...] = ()


class Newton:
    """Newton's step at a point, in scaled unknowns and equations; directions that nothing holds are left out.

    Attributes:
        D: the derivative (n, n) of what is missing.
        unheld: places of the unknowns that take part in these directions.
        idle: joints of bodies whose spin no force acts on.
    """

    def __init__(self, balance: ForceBalance, point: SearchPoint, D: Matrix) -> None:
        self.D, sizes = D, balance.sizes(point.state)
        n, rows = balance.moving.size, balance.balanced.size
        self._across = np.concatenate([1.0 / sizes[balance.moving], np.ones(len(balance.scalars))])
        lengths = np.linalg.norm(D[:, n:], axis=0)
        self._across[n:] = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        self._down = np.concatenate([1.0 / sizes[balance.balanced], np.ones(len(D) - rows)])
        scaled = self._down[:, None] * D * self._across
        heights = np.abs(scaled[rows:]).max(axis=1, initial=0.0)
        self._down[rows:] = 1.0 / np.where(heights > 0.0, heights, 1.0)
        self.idle, E = idle_unknowns(balance, point, D, self._across, self._down)
        scaled = self._down[:, None] * D * self._across
        scaled[: len(E)] -= E @ (E.T @ scaled[: len(E)])  # what differences make of a spin that nothing acts on
        scaled[:, : len(E)] -= (scaled[:, : len(E)] @ E) @ E.T
        U, values, V = np.linalg.svd(scaled)
        floor = SENSITIVITY * max(values.max(initial=0.0), largest(self._down * point.missing))
        held = values > floor
        self._inverse = (V[held].T / values[held]) @ U[:, held].T
        self._beyond = U[:, ~held]
        shares = np.linalg.norm(V[~held], axis=0) if (~held).any() else np.zeros(len(V))
        self.unheld = tuple(np.flatnonzero(shares > TAKES_PART * max(largest(shares), 1e-300)).tolist())

    def scaled_step(self, missing: Vector) -> Vector:
        """The step (n,) in scaled unknowns."""
        return -self._inverse @ (self._down * missing)

    def step(self, scaled: Vector) -> Vector:
        """The step (n,) of the unknowns."""
        return self._across * scaled

    def left(self, missing: Vector) -> Vector:
        """Absolute values (n,) of the part of what is missing that no step changes [N or N m]."""
        return np.abs(self._beyond @ (self._beyond.T @ (self._down * missing)) / self._down)


def search(balance: ForceBalance, start: SearchPoint, tolerance: float, most: int) -> EquilibriumSearch:
    """Newton's method; where it ends at no equilibrium, and the forces have a potential, downhill from the start.

    Args:
        balance: the equations.
        start: closed.
        tolerance: of the equilibrium.
        most: budget of steps, of each.
    """
    found = newton_search(balance, start, tolerance, most)
    energy = None if found.status.is_success else potential_of(balance, start)
    points, factors = (start,), tuple[float, ...]()
    while energy is not None and len(factors) < most:
        lower = downhill(balance, points[-1], energy)
        if lower is None:
            break
        following, factor, is_convex = lower
        points, factors = (*points, following), (*factors, factor)
        if is_convex and factor == 1.0:
            last = newton_search(balance, following, tolerance, most - len(factors))
            if last.status.is_success:
                return last._replace(points=(*points, *last.points[1:]), factors=(*factors, *last.factors))
    return found


def newton_search(balance: ForceBalance, start: SearchPoint, tolerance: float, most: int) -> EquilibriumSearch:
    r"""Newton's method on :math:`R_u = 0` with steps that the natural monotonicity test allows (Deuflhard 1974).

    A step s of Newton is shortened by half until the loops close after it and
    :math:`|D^{-1} R(x + \lambda s)| \le (1 - \lambda/4)\,|s|`, in units of inertia: a test that units of force do not
    enter.
    """
    points, factors, unheld, idle = [start], list[float](), tuple[int, ...](), tuple[str, ...]()
    while True:
        point = points[-1]
        newton, failure = _newton(balance, point)
        D = np.zeros((point.missing.size, len(point.scalars) + balance.moving.size)) if newton is None else newton.D
        allowed = balance.allowed(point, D, tolerance)
        unheld, idle = (unheld, idle) if newton is None else (newton.unheld, newton.idle)
        if (np.abs(point.missing) <= allowed).all():
            ended = ReducedStatus.CONVERGED, ""
        elif newton is None:
            ended = failure
        elif len(factors) == most:
            ended = ReducedStatus.MAX_ITERATIONS, ""
        elif (newton.left(point.missing) > np.maximum(allowed, 1e-6 * largest(point.missing))).any():
            ended = ReducedStatus.SINGULAR, ""
        else:
            following, factor, ended = _following(balance, point, newton)
            if following is not None:
                points.append(following)
                factors.append(factor)
                continue
        return EquilibriumSearch(tuple(points), tuple(factors), *ended, unheld, idle)


_Failure = tuple[ReducedStatus, str]


def _newton(balance: ForceBalance, point: SearchPoint) -> tuple[Newton | None, _Failure]:
    """Newton's step at a point; or why there is none."""
    if not point.missing.size:
        return None, (ReducedStatus.CONVERGED, "")
    try:
        D = balance.derivative(point)
    except NOT_BESIDE as error:
        return None, (ReducedStatus.NOT_CLOSED, str(error))
    except NO_VALUE as error:
        return None, (ReducedStatus.UNDEFINED, str(error))
    if not is_finite(D.ravel()):
        return None, (ReducedStatus.UNDEFINED, "a force is not finite")
    return Newton(balance, point, D), (ReducedStatus.STALLED, "")


def _following(balance: ForceBalance, point: SearchPoint, newton: Newton) -> tuple[SearchPoint | None, float, _Failure]:
    """The next point and the part of the step that was taken; or why there is none."""
    scaled = newton.scaled_step(point.missing)
    step, size = newton.step(scaled), float(np.linalg.norm(scaled))
    longest = largest(step[: balance.moving.size])
    factor = min(1.0, LONGEST_STEP_OF_SEARCH / longest) if longest else 1.0
    failure = (ReducedStatus.STALLED, "")

    def shortened(factor: float) -> SearchPoint | None:
        nonlocal failure
        failure = (ReducedStatus.STALLED, "")
        try:
            following = balance.beside(point, factor * step)
        except NOT_BESIDE as error:
            failure = (ReducedStatus.NOT_CLOSED, str(error))
            return None
        except NO_VALUE as error:
            failure = (ReducedStatus.UNDEFINED, str(error))
            return None
        after = float(np.linalg.norm(newton.scaled_step(following.missing)))
        return following if after <= (1.0 - 0.25 * factor) * size else None

    following, factor = longest_trusted(shortened, factor, SHORTEST_STEP_OF_SEARCH)
    return following, factor, failure
