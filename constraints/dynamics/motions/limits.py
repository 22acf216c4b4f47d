"""Joint limits that a motion passed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...robot import Robot
from ...robot.bounds import Violation

PASSED = 1e-6
"""How far beyond a limit a coordinate must be [m, rad]: a motion that starts at one is not beyond it by rounding."""


class LimitPassed(NamedTuple):
    """A coordinate that went beyond a limit of its joint.

    Attributes:
        violation: joint, entry of q, and how far it went at most.
        time: of the first recorded state beyond [s].
    """

    violation: Violation
    time: float

    def __str__(self) -> str:
        return f"{self.violation}, first at {self.time:.6g} s"


def limits_passed(robot: Robot, times: Vector, qs: Matrix) -> tuple[LimitPassed, ...]:
    """The limits that some configurations (n, nq) are beyond, in the order of q."""
    beyond = np.maximum(qs - robot.bounds.upper, 0.0) + np.minimum(qs - robot.bounds.lower, 0.0)
    found: list[LimitPassed] = []
    for i in np.flatnonzero((np.abs(beyond) > PASSED).any(axis=0)).tolist():
        worst, first = int(np.abs(beyond[:, i]).argmax()), int((np.abs(beyond[:, i]) > PASSED).argmax())
        (violation,) = (v for v in robot.bounds.violations(qs[worst]) if v.entry == i)
        found.append(LimitPassed(violation, float(times[first])))
    return tuple(found)
