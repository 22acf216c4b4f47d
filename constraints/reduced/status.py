"""How dynamics in minimal coordinates ended."""

from __future__ import annotations

from ..solvers.status import StatusEnum


class ReducedStatus(StatusEnum):
    """How a solution in minimal coordinates ended: each value is a sentence for humans."""

    SOLVED = "All equations hold; the multipliers of redundant rows are zero."
    INCONSISTENT = (
        "Redundant rows require other accelerations than the independent rows: the equation of motion holds, and the "
        "independent rows are met."
    )
    SINGULAR_SYSTEM = "The acceleration is not unique: a motion without mass is held by no constraint and no drive."
    SINGULAR_ACTUATION = (
        "The actuators cannot drive every free motion at this state: the forces are the nearest ones, and do not give "
        "the wanted acceleration."
    )
    NOT_FINITE = "The numbers are too large to compute with."

    @property
    def is_success(self) -> bool:
        """Whether all equations hold."""
        return self is ReducedStatus.SOLVED
