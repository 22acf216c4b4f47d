"""Coefficients of exponentials, logarithms and their Jacobians: as in `liegroups.formulas`, with choices for lanes."""

from __future__ import annotations

from math import sqrt

from liegroups.formulas.series import C_VALUE, EXP_SWITCH, K_PRIME, K_VALUE, LOG_SWITCH, TINY_SQUARE

from ..machine.jit import any_of, chosen, kernel, off
from .elementary import sine_and_cosine

(_K0, _K1, _K2, _K3, _K4, _K5, _K6, _K7, _K8, _K9, _K10, _K11) = K_VALUE
(_D0, _D1, _D2, _D3, _D4, _D5, _D6, _D7, _D8, _D9, _D10, _D11) = K_PRIME
(_C0, _C1, _C2, _C3, _C4, _C5, _C6, _C7) = C_VALUE


@kernel
def half_sinc(t: float) -> tuple[float, float]:
    """As in `maps`."""
    tiny = t < TINY_SQUARE
    theta = sqrt(chosen(tiny, 1.0, t))
    s, c = sine_and_cosine(0.5 * theta)
    return chosen(tiny, 0.5 - t * (1 / 48), s / theta), chosen(tiny, 1.0 - t * (1 / 8), c)


@kernel
def half_cot(t: float) -> float:
    """As in `maps`."""
    tiny = t < TINY_SQUARE
    half = 0.5 * sqrt(chosen(tiny, 1.0, t))
    s, c = sine_and_cosine(half)
    return chosen(tiny, 1.0 - t * (1 / 12), half * c / s)


@kernel
def log_coefficient_by(t: float, cot: float) -> float:
    """The coefficient k of `liegroups.formulas.series`, for t the squared angle and its `half_cot`."""
    near = t < LOG_SWITCH
    low = _K0 + t * (_K1 + t * (_K2 + t * (_K3 + t * (_K4 + t * _K5))))
    high = _K6 + t * (_K7 + t * (_K8 + t * (_K9 + t * (_K10 + t * _K11))))
    return chosen(near, low + t * t * t * t * t * t * high, (1.0 - cot) / chosen(near, 1.0, t))


@kernel
def log_coefficient(t: float) -> float:
    """The same, of the squared angle alone."""
    cot = t
    if any_of(off(t < LOG_SWITCH)):
        cot = half_cot(t)
    return log_coefficient_by(t, cot)


@kernel
def log_coefficient_slope(t: float, k: float) -> float:
    """The slope k' of `liegroups.formulas.series`."""
    near = t < LOG_SWITCH
    low = _D0 + t * (_D1 + t * (_D2 + t * (_D3 + t * (_D4 + t * _D5))))
    high = _D6 + t * (_D7 + t * (_D8 + t * (_D9 + t * (_D10 + t * _D11))))
    series = low + t * t * t * t * t * t * high
    return chosen(near, series, (0.25 - k * (3.0 - t * k)) / chosen(near, 1.0, t))


@kernel
def exp_third(t: float, s: float, c: float) -> float:
    """The coefficient c of `liegroups.formulas.series`, from sin(h) / theta and cos(h) of half the angle."""
    near = t < EXP_SWITCH
    series = _C0 + t * (_C1 + t * (_C2 + t * (_C3 + t * (_C4 + t * (_C5 + t * (_C6 + t * _C7))))))
    return chosen(near, series, (1.0 - 2.0 * s * c) / chosen(near, 1.0, t))
