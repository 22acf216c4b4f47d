"""Gains that bring drifting constraints back: Baumgarte's stabilisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arguments import as_tolerance

from ..errors import WrongObjectError


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
