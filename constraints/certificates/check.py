r"""The check of a certificate: whoever does not trust the search can read this file. It needs numpy alone.

**What is claimed.** G maps y (n numbers) to the errors of n rows at the configuration :math:`c \oplus B y`. For all
:math:`\|y\| \le` `size` its derivative is M + W, with M between `jacobian_lower` and `jacobian_upper` and
:math:`\|C W\| \le` `variation`, C the `preconditioner`; and G(0) is between `residual_lower` and `residual_upper`.
These arrays are the premises: they come from enclosures of the functions. Norms are Euclidean ones, of matrices the
largest they stretch a vector by, which the root of the sum of squares bounds.

**Theorem** (Krawczyk; Newton-Kantorovich with a bound of the derivative). Let C be any matrix (n, n),
:math:`T(y) = y - C\,G(y)`, :math:`\alpha \ge \|C\,G(0)\|` and :math:`\beta \ge \|1 - C\,G'\|` for every such M + W. If
:math:`\beta < 1` and :math:`\rho = \alpha / (1 - \beta) \le R \le` `size`, there is exactly one y with
:math:`\|y\| \le R` and G(y) = 0, and it has :math:`\|y\| \le \rho`; the rows have full rank there.

*Proof.* :math:`T(y) - T(z)` is the integral of :math:`(1 - C\,G')(y - z)` along the line from z to y: T is a
contraction by :math:`\beta` in the ball of R, which it maps into itself, since
:math:`\|T(y)\| \le \alpha + \beta R \le R`. Its one fixed point y is within :math:`\alpha + \beta \|y\|` of zero. C G'
is regular since :math:`\|1 - C\,G'\| < 1`: so is C, and G(y) = 0 exactly where T(y) = y. (Banach; Neumaier, Interval
Methods for Systems of Equations, 5.1.)

Then, with :math:`\|y\| \le \rho`: nothing is farther from the given configuration than `displaced` and
:math:`\|` `spread` :math:`\|\,\rho`, by its row, which is compared with r; what has to stay at least zero, room to
bounds and to the ends of inequalities, is at least `margins` less :math:`\|` `rates` :math:`\|\,\rho`.

**Where.** That configuration q, the centre and B stand beside the numbers: `contradictions` says where they differ.

**Rounding.** Sums of products of n doubles are within :math:`\gamma_{n+2}` of the sum of their absolute values
(Higham); what is not negative is summed and then raised by a factor that covers all its roundings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

UNIT = 2.0**-53
"""The relative error of one rounding."""

OFF_UNIT = 2e-6
"""At least what an entry of a unit vector may change by as it is normalized: it is given to 1e-6."""

OFF_BASIS = 1e-10
"""Of the columns of a basis from orthonormal ones, by rounding."""


class Premises(NamedTuple):
    r"""What a certificate rests on, as numbers; what several rest on, with a leading axis.

    Attributes:
        preconditioner: C (n, n).
        residual_lower, residual_upper: (n,) of G(0).
        jacobian_lower, jacobian_upper: (n, n) of M, where G' = M + W for all :math:`\|y\| \le` `size`.
        variation: bound of :math:`\|C W\|`.
        size: of the ball of y.
        displaced: (m,) what each joint is from the given configuration at y = 0 [rad, m].
        spread: (m, n) what each joint moves by, with y.
        margins: (k,) room at y = 0 to bounds and to the ends of inequalities.
        rates: (k, n) how fast it may shrink, with y.
    """

    preconditioner: Any
    residual_lower: Any
    residual_upper: Any
    jacobian_lower: Any
    jacobian_upper: Any
    variation: Any
    size: Any
    displaced: Any
    spread: Any
    margins: Any
    rates: Any


def raised(x: Any) -> Any:
    """A bound of what a sum of products, none negative, is without rounding: enough for a million of them."""
    return x * (1.0 + 1e-9) + 1e-300


def contraction(numbers: Premises) -> tuple[Any, Any]:
    r""":math:`\alpha` and :math:`\beta` of the theorem, rounded up."""
    C = np.abs(numbers.preconditioner)
    n = C.shape[-1]
    gamma = 2.0 * (n + 3) * UNIT
    middle, radius = (x[..., None] for x in _halves(numbers.residual_lower, numbers.residual_upper))
    alpha = np.abs(numbers.preconditioner @ middle) + raised(C @ (radius + gamma * np.abs(middle)))
    middle, radius = _halves(numbers.jacobian_lower, numbers.jacobian_upper)
    off = np.abs(np.eye(n) - numbers.preconditioner @ middle)
    beta = off + raised(C @ (radius + gamma * np.abs(middle)) + gamma * np.eye(n))
    return raised(lengths(alpha[..., 0])), raised(np.sqrt((beta * beta).sum(axis=(-2, -1))) + numbers.variation)


def lengths(rows: Any) -> Any:
    """Euclidean norms of rows, before they are raised."""
    return np.sqrt((rows * rows).sum(axis=-1))


def _halves(lower: Any, upper: Any) -> tuple[Any, Any]:
    """A number near the middle, and what is at least the distance to both ends."""
    middle = lower + 0.5 * (upper - lower)
    return middle, np.nextafter(np.maximum(upper - middle, middle - lower), np.inf)


def within(alpha: Any, beta: Any) -> Any:
    r""":math:`\rho` of the theorem, rounded up; infinite where there is no contraction."""
    contracts = beta < 1.0 - 1e-12
    return np.where(contracts, raised(alpha / np.where(contracts, 1.0 - beta, 1.0)), np.inf)[()]


def distance(numbers: Premises, rho: Any) -> Any:
    """The least r that can be claimed, rounded up."""
    finite = np.isfinite(rho)
    reach = numbers.displaced + raised(lengths(numbers.spread)) * np.where(finite, rho, 0.0)[..., None]
    return np.where(finite, raised(reach.max(axis=-1, initial=0.0)), np.inf)[()]


def failures(numbers: Premises, r: float, R: float) -> list[str]:
    """What does not hold of a certificate, in words; nothing if it is a proof.

    Args:
        numbers: premises.
        r: within which a solution is claimed.
        R: within which it is claimed to be the only one.
    """
    shaped = _misshapen(numbers)
    if shaped:
        return [shaped]
    alpha, beta = contraction(numbers)
    found = list[str]()
    if not beta < 1.0 - 1e-12:
        return [f"no contraction: beta = {beta:.3g} is not below 1"]
    rho = within(alpha, beta)
    if not rho <= R:
        found.append(f"the ball of R = {R:.3g} is not mapped into itself: alpha / (1 - beta) = {rho:.3g}")
    if not R <= numbers.size:
        found.append(f"R = {R:.3g} is more than the ball on which the Jacobian is enclosed, {numbers.size:.3g}")
    if not distance(numbers, rho) <= r:
        found.append(f"the solution is only shown to be within {distance(numbers, rho):.3g}, not r = {r:.3g}")
    return found + missed(numbers, rho)


def missed(numbers: Premises, far: Any) -> list[str]:
    """What bounds and inequalities may be missed by, in words, where solutions are so far from y = 0; else nothing."""
    used = spent(numbers.rates, far)
    if (numbers.margins >= used).all():
        return []
    return [f"a bound or an inequality may be missed by {float(np.max(used - numbers.margins)):.3g}"]


def contradictions(numbers: Premises, q: Any, center: Any, basis: Any) -> list[str]:
    """What of a configuration, a centre and a basis contradicts the numbers, in words; nothing if they agree.

    In a space of vectors each coordinate has an entry of `displaced` and a row of `spread`. Elsewhere rotations and
    bodies have theirs: the largest of `displaced` bounds each entry of q, a unit vector up to its sign, and the squares
    of a column of `spread` have the sum of those of `basis`.

    Args:
        numbers: premises, whose arrays have been looked at by `failures`.
        q, center: (nq,).
        basis: (nv, n).
    """
    nq, nv, n, m = len(q), len(basis), len(numbers.residual_lower), len(numbers.displaced)
    shapes = ((nq,), (nq,), (nv, n))
    for name, entry, shape in zip(("q", "center", "basis"), (q, center, basis), shapes, strict=True):
        if np.shape(entry) != shape:
            return [f"{name} has shape {np.shape(entry)}, not {shape}"]
    is_flat = nv == nq
    if nv > nq or m > nq or is_flat != (m == nq):
        return [f"{nq} coordinates, {nv} of tangents and {m} displaced ones are those of no space"]
    found, off, moved = list[str](), np.abs(center - q), np.abs(basis)
    if is_flat:
        near, carried = off <= numbers.displaced, moved <= numbers.spread
    else:
        near = np.minimum(off, np.abs(center + q)) <= numbers.displaced.max(initial=0.0) + OFF_UNIT
        carried = (moved * moved).sum(axis=0) <= (numbers.spread * numbers.spread).sum(axis=0) + OFF_BASIS
    if not near.all():
        found.append(f"q is {float(off.max()):.3g} from the center, which is more than what is displaced")
    if not carried.all():
        found.append("the basis moves more than spread")
    if not (np.abs(basis.T @ basis - np.eye(n)) <= OFF_BASIS).all():
        found.append("the columns of the basis are not orthonormal")
    return found


def spent(rates: Any, far: Any) -> Any:
    """What of margins solutions may use up that are so far from y = 0, rounded up."""
    return np.where(rates.any(axis=-1), raised(lengths(rates) * far), 0.0)


def _misshapen(numbers: Premises) -> str:
    """What is wrong with the arrays themselves; empty if nothing is."""
    n = len(np.atleast_1d(numbers.residual_lower))
    m, k = len(np.atleast_1d(numbers.displaced)), len(np.atleast_1d(numbers.margins))
    shapes = [(n, n), (n,), (n,), (n, n), (n, n), (), (), (m,), (m, n), (k,), (k, n)]
    for name, entry, shape in zip(Premises._fields, numbers, shapes, strict=True):
        if np.shape(entry) != shape:
            return f"{name} has shape {np.shape(entry)}, not {shape}"
        if not np.isfinite(entry).all():
            return f"{name} has entries that are not finite"
    ordered = (numbers.residual_lower <= numbers.residual_upper).all()
    ordered = ordered and (numbers.jacobian_lower <= numbers.jacobian_upper).all()
    if not ordered:
        return "a lower end is above its upper end"
    signless = (numbers.variation, numbers.spread, numbers.rates, numbers.displaced)
    if any(np.min(entry, initial=0.0) < 0.0 for entry in signless):
        return "variation, spread, rates or displaced has a negative entry"
    return ""
