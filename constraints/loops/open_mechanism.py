"""The error of whoever needs a closed mechanism and gets an open one."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from ..errors import ConstraintError


class OpenMechanismError(ConstraintError):
    """A mechanism is open but must be closed. It is never closed without being asked.

    Args:
        worst: name of the constraint, or driven joint, that is farthest off.
        residual: by how much [m or rad, or per second].
        level: "position", "velocity", or a motion in time.
        remedy: how to close it.
    """

    def __init__(self, worst: str, residual: float, level: str, remedy: str) -> None:
        self.worst, self.residual, self.level, self.remedy = worst, residual, level, remedy
        if isnan(residual):
            super().__init__(f"OPEN: '{worst}' has no value in {level}, it is not a number (nan) there")
        else:
            super().__init__(f"OPEN: '{worst}' is off by {residual:.3g} in {level}; {remedy}")

    @classmethod
    def of(cls, norms: Sequence[tuple[str, float]], level: str, remedy: str) -> OpenMechanismError:
        """The error for the worst of some constraints.

        Args:
            norms: name of each constraint, and the norm of its errors.
            level, remedy: as of the constructor.
        """
        worst, residual = max(norms, key=lambda entry: (isnan(entry[1]), entry[1]))
        return cls(worst, residual, level, remedy)
