"""Published coefficients of Runge-Kutta methods, as data.

Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd edition, 1993, and the
authors' program `dop853` (order 8, with error estimates of orders 5 and 3, and dense output of order 7), as scipy has
them; C. A. Kennedy, M. H. Carpenter, Additive Runge-Kutta schemes for convection-diffusion-reaction equations, Applied
Numerical Mathematics 44, 2003 (ESDIRK of order 4 with one of order 3, L-stable, stiffly accurate).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        order: of the method.
        falls: power of the step with which the estimate falls.
        error: (s,) weights of the estimate of the error; none for a method without one.
        rough: (s,) weights of a second estimate, of lower order, which the first is damped by; may be empty.
        more: (m, s + 1 + m) further stages of dense output, after the s stages and the slope at the end.
        dense: (m + 1, s + 1 + m) weights of the dense output.
    """

    a: Matrix
    b: Vector
    c: Vector
    order: int
    falls: int
    error: Vector = _NONE
    rough: Vector = _NONE
    more: Matrix = _NO_STAGES
    dense: Matrix = _NO_STAGES

    @property
    def is_implicit(self) -> bool:
        """Whether stages are equations: those with an entry on the diagonal."""
        return bool(self.a.diagonal().any())


Entries = Mapping[int, Any]
"""Entries that are not zero, by place."""


def _filled(rows: Sequence[Entries], columns: int) -> Matrix:
    out = np.zeros((len(rows), columns))
    for i, row in enumerate(rows):
        for j, x in row.items():
            out[i, j] = float(x)
    return read_only(out)


def _of(row: Entries, columns: int) -> Vector:
    return _filled([row], columns)[0]


_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)

_RK4: tuple[Entries, ...] = ({}, {0: _HALF}, {1: _HALF}, {2: 1})

RK4 = Tableau(
    _filled(_RK4, 4),
    _of({0: Fraction(1, 6), 1: Fraction(1, 3), 2: Fraction(1, 3), 3: Fraction(1, 6)}, 4),
    _of({1: _HALF, 2: _HALF, 3: 1}, 4),
    4,
    4,
)
"""The classical method of order 4."""

_KENNEDY: tuple[Entries, ...] = (
    {},
    {0: _QUARTER, 1: _QUARTER},
    {0: Fraction(8611, 62500), 1: Fraction(-1743, 31250), 2: _QUARTER},
    {0: Fraction(5012029, 34652500), 1: Fraction(-654441, 2922500), 2: Fraction(174375, 388108), 3: _QUARTER},
    {
        0: Fraction(15267082809, 155376265600),
        1: Fraction(-71443401, 120774400),
        2: Fraction(730878875, 902184768),
        3: Fraction(2285395, 8070912),
        4: _QUARTER,
    },
    {
        0: Fraction(82889, 524892),
        2: Fraction(15625, 83664),
        3: Fraction(69875, 102672),
        4: Fraction(-2260, 8211),
        5: _QUARTER,
    },
)
"""Stages of the pair 4(3); the last one is the step itself."""

_KENNEDY_LOW = {
    0: Fraction(4586570599, 29645900160),
    2: Fraction(178811875, 945068544),
    3: Fraction(814220225, 1159782912),
    4: Fraction(-3700637, 11593932),
    5: Fraction(61727, 225920),
}
"""Weights of its method of order 3."""

ESDIRK43 = Tableau(
    _filled(_KENNEDY, 6),
    _of(_KENNEDY[-1], 6),
    _of({1: _HALF, 2: Fraction(83, 250), 3: Fraction(31, 50), 4: Fraction(17, 20), 5: 1}, 6),
    4,
    4,
    read_only(_of(_KENNEDY[-1], 6) - _of(_KENNEDY_LOW, 6)),
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
    return Tableau(a, b, c, 8, 8, error, rough, more, dense)
