"""Gains that bring drifting constraints back: Baumgarte's stabilisation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arguments import as_tolerance

from ..errors import WrongObjectError
from ..words import first_names

STABLE = 2.5
"""Steps longer than this part of the time in which a stabilisation acts blow up, with explicit schemes."""


@final
@dataclass(frozen=True)
class Baumgarte:
    r"""Stabilisation of one constraint: :math:`\ddot e + k_d\,\dot e + k_p\,e = 0`.

    Attributes:
        position_gain: k_p [1/s2].
        velocity_gain: k_d [1/s].
    """

    position_gain: float = 0.0
    velocity_gain: float = 0.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        for gain, name in ((self.position_gain, "position"), (self.velocity_gain, "velocity")):
            if as_tolerance(gain, f"{name} gain of a stabilisation") == np.inf:
                raise WrongObjectError(f"{name} gain of a stabilisation", "a finite number", "inf")

    def __str__(self) -> str:
        undamped = " (undamped)" if self.position_gain and not self.velocity_gain else ""
        return f"gains {self.position_gain:.4g} 1/s2, {self.velocity_gain:.4g} 1/s{undamped}"

    @classmethod
    def settling(cls, time: float) -> Baumgarte:
        """Critically damped: RBDL's T_stab [s], with gains 1 / T^2 and 2 / T."""
        T = as_tolerance(time, "time of a stabilisation")
        if T == 0.0:
            raise WrongObjectError("time of a stabilisation", "a positive number [s]", repr(time))
        return cls(1.0 / T**2, 2.0 / T)

    @property
    def rate(self) -> float:
        r"""How fast it acts [1/s]: the largest modulus of the roots of :math:`s^2 + k_d\,s + k_p`."""
        return float(np.abs(np.roots([1.0, self.velocity_gain, self.position_gain])).max(initial=0.0))


def too_stiff(gains: Iterable[tuple[str, Baumgarte]], h: float) -> str:
    """Constraints whose stabilisation is too fast for explicit steps, in words; empty where none is.

    Args:
        gains: name of each constraint, and its stabilisation.
        h: the step [s].
    """
    stiff = [f"'{n}' ({g.position_gain:.4g}, {g.velocity_gain:.4g})" for n, g in gains if g.rate * h > STABLE]
    if not stiff:
        return ""
    return f"gains of {first_names(stiff)} are too large for steps of {h:g} s: errors will grow; take shorter steps"
