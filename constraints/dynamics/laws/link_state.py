"""A link at a state: its length, rate and force, or why it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arrays import Vector

from ...solvers.result import Verdict
from ...solvers.status import StatusEnum

COINCIDENT = 1e-14
"""Distance [m] below which two points are one, and the line between them has no direction; Robotran's threshold."""


class LinkStatus(StatusEnum, successes=("DEFINED", "LIMIT")):
    """Whether the force of a link has a direction: each value is a sentence for humans."""

    DEFINED = "The ends are apart, and the force is along the line between them."
    LIMIT = "The ends coincide: the force is the limit for a spring of zero length."
    UNTESTED = "The length was not tested: if it is zero, the force is whatever the division gives."
    COINCIDENT = "The ends are closer than the threshold: the line has no direction, and the force is infinite."


@final
@dataclass(frozen=True, eq=False)
class LinkState(Verdict):
    """A link at a state. It is neither true nor false: `success` says whether its force is finite.

    Attributes:
        link: description of the link.
        length: distance of the ends [m], the norm of x.
        rate: rate of that length [m/s]; if the ends coincide, the rate just after, the speed of b relative to a.
        tension: F_l [N]; positive in traction. Infinite if the force is: the law is not called then.
        force: on the end b (3,), in the axes of the world [N]; on a the opposite. Infinite if it has no direction.
        status: whether the force has a direction.
    """

    link: str
    length: float
    rate: float
    tension: float
    force: Vector
    status: LinkStatus

    @property
    def success(self) -> bool:
        """Whether the force is finite in every component."""
        return bool(np.isfinite(self.force).all())

    def __str__(self) -> str:
        numbers = ", ".join(f"{f:.6g}" for f in self.force)
        return f"{self.link}: {self.tension:.6g} N at {self.length:.6g} m, [{numbers}] N on b ({self.status.name})"
