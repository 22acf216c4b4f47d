"""Why a search for a path ended."""

from __future__ import annotations

from ..solvers.status import StatusEnum


class PlanningStatus(StatusEnum, successes=("FOUND",)):
    """Why a search for a path ended: each value is a sentence for humans."""

    FOUND = "A path leads from the start to the goal, on the constraints, free of the collisions that were asked about."
    NOT_PROVED = "A path was found, but it is not proved that it does not jump, and is free."
    START_OFF = "The start does not satisfy the constraints within its bounds."
    GOAL_OFF = "The goal does not satisfy the constraints within its bounds."
    START_COLLIDES = "The start is in collision."
    GOAL_COLLIDES = "The goal is in collision."
    NO_START = "No configuration that satisfies the first targets was found."
    PARTLY = "The targets are followed in part: every branch of solutions that was found stops on the way."
    NO_GOAL = "No configuration that satisfies the goal was found."
    BRANCHES = "The ends seem to lie on different branches: trees from both do not meet where nothing collides either."
    STUCK = "The trees stopped growing: collisions or bounds close every way out that was found."
    NO_SEQUENCE = "All sequences of transitions to the goal are ruled out, for certain or by many searches in vain."
    SEQUENCES = "As many sequences were tried as the limits allow."
    TIME = "The time was over."
    NODES = "The trees had as many nodes as the limits allow."

    @staticmethod
    def of_end(what: str, how: str) -> PlanningStatus:
        """The status of an end, "start" or "goal", that is OFF the constraints, or COLLIDES."""
        return PlanningStatus[f"{what.upper()}_{how}"]
