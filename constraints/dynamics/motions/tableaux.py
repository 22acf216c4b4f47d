"""Published coefficients of Runge-Kutta methods, as data.

Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd edition, 1993, and the
authors' program `dop853` (order 8, with error estimates of orders 5 and 3, and dense output of order 7), as scipy has
them; C. A. Kennedy, M. H. Carpenter, Additive Runge-Kutta schemes for convection-diffusion-reaction equations, Applied
Numerical Mathematics 44, 2003 (ESDIRK of order 4 with one of order 3, L-stable, stiffly accurate).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only, read_only_copy

_NONE: Vector = read_only(np.zeros(0))
_NO_STAGES: Matrix = read_only(np.zeros((0, 0)))


class Tableau(NamedTuple):
    r"""A Runge-Kutta method: :math:`k_i = f(t + c_i h, y + h \sum_j a_{ij} k_j)`, :math:`y^+ = y + h \sum_i b_i k_i`.

    Attributes:
        a: (s, s).
        b, c: (s,).
        falls: power of the step with which the estimate falls.
        error: (s,) weights of the estimate of the error; none for a method without one.
        rough: (s,) weights of a second estimate, of lower order, which the first is damped by; may be empty.
        more: (m, s + 1 + m) further stages of dense output, after the s stages and the slope at the end.
        dense: (m + 1, s + 1 + m) weights of the dense output.
    """

    a: Matrix
    b: Vector
    c: Vector
    falls: int
    error: Vector = _NONE
    rough: Vector = _NONE
    more: Matrix = _NO_STAGES
    dense: Matrix = _NO_STAGES

    @property
    def is_implicit(self) -> bool:
        """Whether stages are equations: those with an entry on the diagonal."""
        return bool(self.a.diagonal().any())


def _filled(*rows: str) -> Matrix:
    """Rows of fractions, to which zeros are added behind."""
    numbers = [[float(Fraction(x)) for x in row.split()] for row in rows]
    columns = max(map(len, numbers))
    return read_only(np.array([row + [0.0] * (columns - len(row)) for row in numbers]))


RK4 = Tableau(
    _filled("0 0 0 0", "1/2", "0 1/2", "0 0 1"), _filled("1/6 1/3 1/3 1/6")[0], _filled("0 1/2 1/2 1")[0], falls=4
)
"""The classical method of order 4."""

_KENNEDY = _filled(
    "0",
    "1/4 1/4",
    "8611/62500 -1743/31250 1/4",
    "5012029/34652500 -654441/2922500 174375/388108 1/4",
    "15267082809/155376265600 -71443401/120774400 730878875/902184768 2285395/8070912 1/4",
    "82889/524892 0 15625/83664 69875/102672 -2260/8211 1/4",
)
"""Stages of the pair 4(3); the last one is the step itself."""

_KENNEDY_LOW = _filled(
    "4586570599/29645900160 0 178811875/945068544 814220225/1159782912 -3700637/11593932 61727/225920"
)
"""Weights of its method of order 3."""

ESDIRK43 = Tableau(
    _KENNEDY,
    _KENNEDY[-1],
    _filled("0 1/2 83/250 31/50 17/20 1")[0],
    falls=4,
    error=read_only(_KENNEDY[-1] - _KENNEDY_LOW[0]),
)
"""Kennedy and Carpenter, ARK4(3)6L[2]SA-ESDIRK: L-stable, for stiff laws."""


@cache
def dop853() -> Tableau:
    """Dormand and Prince, order 8(5, 3)."""
    from scipy.integrate import DOP853  # 0.2 s to import, only for who integrates by it

    known: Any = DOP853
    stages = known.n_stages
    parts = known.A, known.B, known.C, known.E5[:stages], known.E3[:stages], known.A_EXTRA, known.D
    a, b, c, error, rough, more, dense = map(read_only_copy, parts)
    return Tableau(a, b, c, 8, error, rough, more, dense)
