r"""Sine, cosine and arc tangent, for one number and in lanes with the same bits: within 2 units of the last place.

The coefficients are those of fdlibm (Sun Microsystems, 1993: `k_sin.c`, `k_cos.c`, `s_atan.c`); so is the reduction by
quarter turns, :math:`x - n\,\pi/2` with :math:`\pi/2` in three parts of which the first two have 33 bits, so that
their products with n are exact. Beyond `FAR_TURNED` the C library answers, lane for lane.
"""

from __future__ import annotations

from math import sqrt

from ..machine.jit import (
    TO_INTEGER,
    any_of,
    chosen,
    cosine_by_library,
    has_same_bits,
    is_odd,
    kernel,
    off,
    signed,
    sine_by_library,
)

FAR_TURNED = 1e5
"""Angle [rad] up to which whole quarter turns are taken off without an error."""
_QUARTERS = 0.6366197723675814
"""Quarter turns in a radian."""
_QUARTER = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
(_P1, _P2, _P3) = _QUARTER
_SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
(_S1, _S2, _S3, _S4, _S5, _S6) = _SINE
_COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
(_C1, _C2, _C3, _C4, _C5, _C6) = _COSINE
_ARC = (
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)
(_A0, _A1, _A2, _A3, _A4, _A5, _A6, _A7, _A8, _A9, _A10) = _ARC
_ARC_OF_HALF = 4.63647609000806093515e-01, 2.26987774529616870924e-17
(_HALF, _HALF_LOW) = _ARC_OF_HALF
_EIGHTH_TURN = 7.85398163397448278999e-01, 3.06161699786838301793e-17
(_ONE, _ONE_LOW) = _EIGHTH_TURN
_QUARTER_TURN = 1.57079632679489655800e00, 6.12323399573676603587e-17
(_RIGHT, _RIGHT_LOW) = _QUARTER_TURN
_HALF_TURN = 3.14159265358979311600e00, 1.22464679914735317636e-16
(_FLAT, _FLAT_LOW) = _HALF_TURN


@kernel
def _sine_and_cosine_near(x: float) -> tuple[float, float]:
    """Up to `FAR_TURNED`: of what is left of whole quarter turns, r, and what that was rounded by."""
    turns = x * _QUARTERS + TO_INTEGER
    n = turns - TO_INTEGER
    a = x - n * _P1  # exact; so is r where it is below 2^-13
    r = a - n * _P2
    low = ((a - r) - n * _P2) - n * _P3
    z, w = r * r, 2.0 * low * r + r * r  # w is the square of r + low, which polynomials need not wait for
    s = r + (w * r * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * (_S5 + z * _S6))))) + low)
    c = 1.0 - w * (0.5 - z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * (_C5 + z * _C6))))))
    across = is_odd(turns)
    return signed(turns, chosen(across, c, s)), signed(turns + 1.0, chosen(across, s, c))


@kernel
def sine_and_cosine(x: float) -> tuple[float, float]:
    """Of an angle [rad]; NaN where it is not finite."""
    near = abs(x) <= FAR_TURNED
    s, c = _sine_and_cosine_near(x)
    if any_of(off(near)):
        s, c = chosen(near, s, sine_by_library(x)), chosen(near, c, cosine_by_library(x))
    return s, c


@kernel
def _arc_of_ratio(a: float, b: float) -> float:
    """Arc tangent of a / b, 0 <= a <= b, b > 0: of what is left of the nearest of 0, 1/2 and 1."""
    small, large = a < 0.4375 * b, a > 0.6875 * b
    top = chosen(small, a, chosen(large, a - b, 2.0 * a - b))
    bottom = chosen(small, b, chosen(large, a + b, 2.0 * b + a))
    t = top / bottom
    z = t * t
    w = z * z
    even = z * (_A0 + w * (_A2 + w * (_A4 + w * (_A6 + w * (_A8 + w * _A10)))))
    odd = w * (_A1 + w * (_A3 + w * (_A5 + w * (_A7 + w * _A9))))
    base = chosen(small, 0.0, chosen(large, _ONE, _HALF))
    low = chosen(small, 0.0, chosen(large, _ONE_LOW, _HALF_LOW))
    return base - ((t * (even + odd) - low) - t)


@kernel
def arc_of(a: float, b: float) -> float:
    """Angle [rad] of (b, a), neither of which is negative; 0 at the origin."""
    steep = a > b
    less, more = chosen(steep, b, a), chosen(steep, a, b)
    arc = _arc_of_ratio(less, chosen(more == 0.0, 1.0, more))
    return chosen(steep, _RIGHT - (arc - _RIGHT_LOW), arc)


@kernel
def arc_tangent(y: float, x: float) -> float:
    """Angle [rad] of (x, y), in [-pi, pi], with the sign of y, be it that of a zero; 0 at the origin."""
    arc = arc_of(abs(y), abs(x))
    arc = chosen(x < 0.0, _FLAT - (arc - _FLAT_LOW), arc)
    return chosen((y < 0.0) | has_same_bits(y, -0.0), -arc, arc)


@kernel
def length(x: float, y: float) -> float:
    """Of (x, y)."""
    return sqrt(x * x + y * y)


@kernel
def arc_sine(s: float) -> float:
    """Angle [rad] whose sine is s, in [-1, 1]."""
    return arc_tangent(s, sqrt((1.0 - s) * (1.0 + s)))


@kernel
def arc_cosine(c: float) -> float:
    """Angle [rad] whose cosine is c, in [-1, 1]."""
    return arc_tangent(sqrt((1.0 - c) * (1.0 + c)), c)
