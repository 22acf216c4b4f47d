r"""The check of a certificate of a path. It needs numpy, and `check.py`.

**What is claimed.** A path is cut into legs, which meet at *stops*. On a leg, with a time :math:`\tau` from -1 to 1,
configurations are :math:`m \oplus (v(\tau) + w)`, v a straight line; at w = 0 they go from one stop to the next, its
`ends`. G is the error of n rows in play, C the `preconditioner`, B (nv, n) a basis of orthonormal columns. For all
:math:`\tau` and :math:`\|w\| \le` `size` the derivative J of G by w has :math:`J B = M + W` as in `check.py`, and
:math:`\|C J\| \le` `pull`, so :math:`1 - \beta \le` `pull`; :math:`G(\tau, 0)` is between the two residuals, and at
the stops between `at_stops`. *Stretch*, at least 1, is the length of the row of `spread`: in space nothing is farther
than :math:`\|w\|` times it from where w = 0. In the chart of the leg before, a point at w from the stop where both meet
is at most :math:`\|w\|` times the stretches of both away from it.

**Theorem.** Let :math:`\alpha, \beta, \rho` of each leg be as in `check.py`, :math:`\beta < 1` and :math:`\rho \le`
`size`. Then for each :math:`\tau` there is exactly one y with :math:`\|y\| \le` `size` and :math:`G(\tau, B y) = 0`; it
has :math:`\|y\| \le \rho`, and is continuous in :math:`\tau`. Where two legs meet, let :math:`\varepsilon_1` be
:math:`\rho` of the first one with its residual at the stop, :math:`\varepsilon_2` that of the second one times both
stretches, and of the first one

.. math:: \gamma = \frac{\mathrm{pull}\,(\varepsilon_1 + \varepsilon_2)}{2\,(1 - \beta)}, \qquad
    \omega = \max(\rho, \varepsilon_2 + \gamma, \varepsilon_1 + \gamma).

If :math:`\omega \le` its `size`, the ends of both branches at the stop are joined by an arc of solutions, at most
:math:`\omega` from it. So all legs together have one continuous curve of exact solutions, and in their slices no other
solution is nearer than `size`.

*Proof.* For one :math:`\tau` this is the theorem of `check.py`. T is continuous in :math:`\tau` and contracts by the
same :math:`\beta` for all, so its fixed point is continuous. At a stop let :math:`w_1, w_2` be the two ends in the
chart of the first leg: :math:`\|w_i\| \le \varepsilon_i`, and G = 0 at both. On the line :math:`u(\lambda)` from one to
the other, the nearer end is at most :math:`(\varepsilon_1 + \varepsilon_2) / 2` away: :math:`\|C\,G(u)\|` is at most
that times pull. All :math:`u + B y` with :math:`\|y\| \le \gamma` are within :math:`\omega`, in the ball. So y less
C G(u + B y) maps the ball of :math:`\gamma` into itself and contracts; its fixed points are an arc of solutions. At
both ends of the line y = 0 is a fixed point, hence the only one: there the arc is at :math:`w_1` and :math:`w_2`.

Then nothing is farther from the straight way than stretch times :math:`\omega`, and what has to stay at least zero is
at least `margins` less :math:`\|` `rates` :math:`\|\,\omega`, by its row. (A coordinate at a bound is held: its row
of B and its rate are zero. On an arc it is between two ends that are within the bounds.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .check import Premises, contraction, failures, lengths, missed, raised, within

OFF_PIECES = 1e-5
"""At least what samples may differ by, in an entry up to its sign, where two pieces of a path meet."""


class LegPremises(NamedTuple):
    r"""A part of a path, as numbers.

    Attributes:
        numbers: as of a certificate; `displaced` (1,) is zero, `spread` (1, n) a row whose length is the stretch.
        pull: bound of :math:`\|C J\|`.
        at_stops: (2, 2, n) residuals at its start and at its end, lower and upper ends of each.
        joined: whether the branch goes on from the leg before, by the theorem; False where a new curve begins.
        ends: (2, nq) configurations at its start and at its end.
    """

    numbers: Premises
    pull: Any
    at_stops: Any
    joined: bool
    ends: Any


class LegReach(NamedTuple):
    r"""How far solutions of a leg are from where w = 0, and what the arc at its end depends on.

    Attributes:
        within: :math:`\rho`.
        before, after: from the stops at its start and at its end.
        turn: pull by :math:`2\,(1 - \beta)`.
        stretch: of the leg.
    """

    within: Any
    before: Any
    after: Any
    turn: Any
    stretch: Any

    @staticmethod
    def of(leg: LegPremises) -> LegReach:
        """Of a leg; of several with a leading axis."""
        alpha, beta = _contraction(leg)
        contracts = beta < 1.0 - 1e-12
        turn = np.where(contracts, leg.pull / (2.0 * np.where(contracts, 1.0 - beta, 1.0)), np.inf)[()]
        far = within(alpha, beta[..., None])
        return LegReach(far[..., 0], far[..., 1], far[..., 2], turn, _stretch(leg))

    def joined(self, following: LegReach) -> Any:
        r""":math:`\omega`, where another one goes on from its end."""
        here, there = self.after, following.before * self.stretch * following.stretch
        arc = self.turn * np.maximum(here + there, 1e-300)
        return np.maximum(self.within, raised(np.maximum(here, there) + arc))


def farthest(legs: Sequence[LegPremises]) -> list[float]:
    r""":math:`\omega` of each leg, or :math:`\rho` where no other is joined to its end."""
    reaches = [LegReach.of(leg) for leg in legs]
    found = [reach.within for reach in reaches]
    for k, (reach, following) in enumerate(pairwise(reaches)):
        if legs[k + 1].joined:
            found[k] = reach.joined(following)
    return found


def _contraction(leg: LegPremises) -> tuple[Any, Any]:
    r""":math:`\alpha` (..., 3) on all of the way, at the stop at its start, at that at its end; and :math:`\beta`."""
    n, (at_lower, at_upper) = leg.numbers, np.moveaxis(leg.at_stops, -2, 0)
    same = {name: getattr(n, name)[..., None, :, :] for name in ("preconditioner", "jacobian_lower", "jacobian_upper")}
    lower = np.concatenate([n.residual_lower[..., None, :], at_lower], axis=-2)
    upper = np.concatenate([n.residual_upper[..., None, :], at_upper], axis=-2)
    variation = np.expand_dims(n.variation, -1)
    alpha, beta = contraction(n._replace(residual_lower=lower, residual_upper=upper, variation=variation, **same))
    return alpha, beta[..., 0]


def begins_within(leg: LegPremises) -> float:
    """How far the curve is at most from the stop at the start of a leg, in the chart of the leg or in another one."""
    return float(raised(_stretch(leg) * max(_stretch(leg), 1.0) * LegReach.of(leg).before))


def path_failures(legs: Sequence[LegPremises], r: float, R: float) -> list[str]:
    """What does not hold of a certificate of a path, in words; nothing if it is a proof.

    Args:
        legs: in the order of time.
        r: within which of the straight way between stops the branch is claimed to be.
        R: within which it is claimed to be the only one in its slices.
    """
    found = [] if len(legs) else ["there are no legs"]
    for k, leg in enumerate(legs):
        wrong = [f"pull is {leg.pull:g}"] if not 0.0 <= leg.pull < np.inf else []
        wrong += [] if _are_bounds(leg.at_stops, len(leg.numbers.residual_lower)) else ["at_stops are no bounds"]
        wrong += failures(leg.numbers, np.inf, leg.numbers.size)
        if not wrong and len(leg.numbers.residual_lower):
            wrong += [] if _stretch(leg) >= 1.0 else ["its stretch is below 1"]
            wrong += [] if leg.pull >= 1.0 - contraction(leg.numbers)[1] else [f"pull is only {leg.pull:g}"]
        found += [f"leg {k}: {words}" for words in wrong]
    if found:
        return found
    for k, (leg, far) in enumerate(zip(legs, farthest(legs), strict=True)):
        found += [f"leg {k}: {words}" for words in leg_failures(leg, far)]
        near, size = float(raised(_stretch(leg) * far)), leg.numbers.size
        if not near <= r:
            found.append(f"leg {k}: the branch is only shown to be within {near:.3g}, not r = {r:.3g}")
        if not 0.0 < R <= size:
            found.append(f"leg {k}: R = {R:.3g} is not in the ball on which the Jacobian is enclosed, {size:.3g}")
    return found


def unmet(legs: Sequence[LegPremises], times: Any, stops: Any, moved: float) -> list[str]:
    """Where legs do not meet, or not at the stops and times of a path, in words; nothing if all do.

    Args:
        legs: in the order of time.
        times: of the stops (n,): they rise from 0 along a curve, and the next one begins when it ends.
        stops: configurations (n, nq), both where one curve ends and another begins.
        moved: of stops from samples, at most; these meet to `OFF_PIECES`.
    """
    if any(np.shape(leg.ends) != (2, np.shape(legs[0].ends)[-1]) for leg in legs):
        return ["ends of legs are no two configurations of one size"]
    if not 0.0 <= moved < np.inf:
        return [f"moved is {moved:g}"]
    found, ends, rises = list[str](), list[Any](), list[bool]()
    for k, leg in enumerate(legs):
        before = legs[k - 1].ends[1] if k else None
        if leg.joined and (before is None or not np.array_equal(before, leg.ends[0])):
            found.append(f"leg {k}: it does not begin where the leg before ends")
        elif not leg.joined and before is not None:
            apart = np.minimum(np.abs(before - leg.ends[0]), np.abs(before + leg.ends[0])).max()
            if not apart <= 2.0 * moved + OFF_PIECES:
                found.append(f"leg {k}: its curve begins {apart:.3g} from where the one before ends")
        ends.extend(leg.ends[1:] if leg.joined else leg.ends)
        rises.extend([True] if leg.joined else [False, True])
    if not np.array_equal(stops, np.array(ends)):
        found.append("the stops are not the ends of the legs")
    steps = np.diff(times, prepend=0.0)
    if not (np.shape(times) == (len(ends),) and (steps >= 0.0).all() and np.array_equal(steps > 0.0, rises)):
        found.append("the times of the stops do not rise from 0 along each curve, from the end of the one before")
    return found


def leg_failures(leg: LegPremises, far: float) -> list[str]:
    r"""What does not hold of a leg whose branch, and the arc at its end, are within :math:`\omega`, `far`."""
    size = leg.numbers.size
    wide = [] if far <= size else [f"it is not joined to the next one: {far:.3g} is more than the size {size:.3g}"]
    return wide + missed(leg.numbers, far)


def _are_bounds(at_stops: Any, n: int) -> bool:
    """Whether residuals at stops are lower and upper ends of n rows, twice."""
    fits = np.shape(at_stops) == (2, 2, n) and bool(np.isfinite(at_stops).all())
    return fits and bool((at_stops[:, 0] <= at_stops[:, 1]).all())


def _stretch(leg: LegPremises) -> Any:
    """Zero where no row is in play: then the branch is the straight way."""
    return lengths(leg.numbers.spread)[..., 0]
