"""Published coefficients of Runge-Kutta methods, as data.

Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd edition, 1993, and the
authors' program `dop853` (order 8, with error estimates of orders 5 and 3, and dense output of order 7); C. A. Kennedy,
M. H. Carpenter, Additive Runge-Kutta schemes for convection-diffusion-reaction equations, Applied Numerical Mathematics
44, 2003 (ESDIRK of order 4 with one of order 3, L-stable, stiffly accurate).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only


class Tableau(NamedTuple):
    r"""A Runge-Kutta method: :math:`k_i = f(t + c_i h, y + h \sum_j a_{ij} k_j)`, :math:`y^+ = y + h \sum_i b_i k_i`.

    Attributes:
        a: (s, s).
        b, c: (s,).
        error: (s,) weights of the estimate of the error; none for a method without one.
        rough: (s,) weights of a second estimate, of lower order, which the first is damped by; may be empty.
        order: of the method.
        falls: power of the step with which the estimate falls.
        more: (m, s + 1 + m) further stages of dense output, after the s stages and the slope at the end.
        dense: (m + 1, s + 1 + m) weights of the dense output.
    """

    a: Matrix
    b: Vector
    c: Vector
    error: Vector
    rough: Vector
    order: int
    falls: int
    more: Matrix
    dense: Matrix

    @property
    def is_implicit(self) -> bool:
        """Whether stages are equations: those with an entry on the diagonal."""
        return bool(self.a.diagonal().any())


_NONE: Vector = read_only(np.zeros(0))
_NO_STAGES: Matrix = read_only(np.zeros((0, 0)))

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


_A: tuple[Entries, ...] = (
    {},
    {0: 0.05260015195876773},
    {0: 0.0197250569845379, 1: 0.0591751709536137},
    {0: 0.02958758547680685, 2: 0.08876275643042054},
    {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
    {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
    {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
    {
        0: 0.03709200011850479,
        3: 0.17038392571223998,
        4: 0.10726203044637328,
        5: -0.015319437748624402,
        6: 0.008273789163814023,
    },
    {
        0: 0.6241109587160757,
        3: -3.3608926294469414,
        4: -0.868219346841726,
        5: 27.59209969944671,
        6: 20.154067550477894,
        7: -43.48988418106996,
    },
    {
        0: 0.47766253643826434,
        3: -2.4881146199716677,
        4: -0.590290826836843,
        5: 21.230051448181193,
        6: 15.279233632882423,
        7: -33.28821096898486,
        8: -0.020331201708508627,
    },
    {
        0: -0.9371424300859873,
        3: 5.186372428844064,
        4: 1.0914373489967295,
        5: -8.149787010746927,
        6: -18.52006565999696,
        7: 22.739487099350505,
        8: 2.4936055526796523,
        9: -3.0467644718982196,
    },
    {
        0: 2.273310147516538,
        3: -10.53449546673725,
        4: -2.0008720582248625,
        5: -17.9589318631188,
        6: 27.94888452941996,
        7: -2.8589982771350235,
        8: -8.87285693353063,
        9: 12.360567175794303,
        10: 0.6433927460157636,
    },
)
"""Stages of the pair 8(5, 3)."""

_MORE: tuple[Entries, ...] = (
    {
        0: 0.056167502283047954,
        6: 0.25350021021662483,
        7: -0.2462390374708025,
        8: -0.12419142326381637,
        9: 0.15329179827876568,
        10: 0.00820105229563469,
        11: 0.007567897660545699,
        12: -0.008298,
    },
    {
        0: 0.03183464816350214,
        5: 0.028300909672366776,
        6: 0.053541988307438566,
        7: -0.05492374857139099,
        10: -0.00010834732869724932,
        11: 0.0003825710908356584,
        12: -0.00034046500868740456,
        13: 0.1413124436746325,
    },
    {
        0: -0.42889630158379194,
        5: -4.697621415361164,
        6: 7.683421196062599,
        7: 4.06898981839711,
        8: 0.3567271874552811,
        12: -0.0013990241651590145,
        13: 2.9475147891527724,
        14: -9.15095847217987,
    },
)
"""Further stages of its dense output."""

_DENSE: tuple[Entries, ...] = (
    {
        0: -8.428938276109013,
        5: 0.5667149535193777,
        6: -3.0689499459498917,
        7: 2.38466765651207,
        8: 2.117034582445028,
        9: -0.871391583777973,
        10: 2.2404374302607883,
        11: 0.6315787787694688,
        12: -0.08899033645133331,
        13: 18.148505520854727,
        14: -9.194632392478356,
        15: -4.436036387594894,
    },
    {
        0: 10.427508642579134,
        5: 242.28349177525817,
        6: 165.20045171727028,
        7: -374.5467547226902,
        8: -22.113666853125306,
        9: 7.733432668472264,
        10: -30.674084731089398,
        11: -9.332130526430229,
        12: 15.697238121770845,
        13: -31.139403219565178,
        14: -9.35292435884448,
        15: 35.81684148639408,
    },
    {
        0: 19.985053242002433,
        5: -387.0373087493518,
        6: -189.17813819516758,
        7: 527.8081592054236,
        8: -11.57390253995963,
        9: 6.8812326946963,
        10: -1.0006050966910838,
        11: 0.7777137798053443,
        12: -2.778205752353508,
        13: -60.19669523126412,
        14: 84.32040550667716,
        15: 11.99229113618279,
    },
    {
        0: -25.69393346270375,
        5: -154.18974869023643,
        6: -231.5293791760455,
        7: 357.6391179106141,
        8: 93.40532418362432,
        9: -37.45832313645163,
        10: 104.0996495089623,
        11: 29.8402934266605,
        12: -43.53345659001114,
        13: 96.32455395918828,
        14: -39.17726167561544,
        15: -149.72683625798564,
    },
)
"""Weights of its dense output."""

_B = {
    0: 0.054293734116568765,
    5: 4.450312892752409,
    6: 1.8915178993145003,
    7: -5.801203960010585,
    8: 0.3111643669578199,
    9: -0.1521609496625161,
    10: 0.20136540080403034,
    11: 0.04471061572777259,
}
"""Weights of the pair 8(5, 3)."""

_C = {
    1: 0.05260015195876773,
    2: 0.0789002279381516,
    3: 0.1183503419072274,
    4: 0.2816496580927726,
    5: 0.3333333333333333,
    6: 0.25,
    7: 0.3076923076923077,
    8: 0.6512820512820513,
    9: 0.6,
    10: 0.8571428571428571,
    11: 1.0,
}
"""Times of its stages."""

_E5 = {
    0: 0.01312004499419488,
    5: -1.2251564463762044,
    6: -0.4957589496572502,
    7: 1.6643771824549864,
    8: -0.35032884874997366,
    9: 0.3341791187130175,
    10: 0.08192320648511571,
    11: -0.022355307863886294,
}
"""Weights of its estimate of order 5."""

_E3 = {
    0: -0.18980075407240762,
    5: 4.450312892752409,
    6: 1.8915178993145003,
    7: -5.801203960010585,
    8: -0.4226823213237919,
    9: -0.1521609496625161,
    10: 0.20136540080403034,
    11: 0.02265179219836082,
}
"""Weights of its estimate of order 3."""

DOP853 = Tableau(
    _filled(_A, 12), _of(_B, 12), _of(_C, 12), _of(_E5, 12), _of(_E3, 12), 8, 8, _filled(_MORE, 16), _filled(_DENSE, 16)
)
"""Dormand and Prince, order 8(5, 3)."""

_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)

_RK4: tuple[Entries, ...] = ({}, {0: _HALF}, {1: _HALF}, {2: 1})

RK4 = Tableau(
    _filled(_RK4, 4),
    _of({0: Fraction(1, 6), 1: Fraction(1, 3), 2: Fraction(1, 3), 3: Fraction(1, 6)}, 4),
    _of({1: _HALF, 2: _HALF, 3: 1}, 4),
    _NONE,
    _NONE,
    4,
    4,
    _NO_STAGES,
    _NO_STAGES,
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
    read_only(_of(_KENNEDY[-1], 6) - _of(_KENNEDY_LOW, 6)),
    _NONE,
    4,
    4,
    _NO_STAGES,
    _NO_STAGES,
)
"""Kennedy and Carpenter, ARK4(3)6L[2]SA-ESDIRK: L-stable, for stiff laws."""
