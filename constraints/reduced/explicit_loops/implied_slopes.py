"""Derivatives of what closing equations imply: accelerations of the dependent coordinates of a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from liegroups.arrays import Matrix


class EquationSlopes(NamedTuple):
    """What closing equations change by at a state, with the acceleration a kept; n: of all coordinates of the loop.

    Attributes:
        rate: (k, n), of J v by the configuration, with v kept.
        by_q, by_v: (k, n), of J a + drift.
    """

    rate: Matrix
    by_q: Matrix
    by_v: Matrix


def implied_slopes(
    of: EquationSlopes, whole: Matrix, dependent: Any, solve: Callable[[Matrix], Matrix]
) -> tuple[Matrix, Matrix]:
    r"""Derivatives (k, inputs) of the accelerations of the dependent coordinates by the inputs and by their velocities.

    With W the motion of all coordinates by that of the inputs, the equations stay closed along :math:`\delta q = W
    \delta u`: there :math:`J_d\,\delta v_d = -(\text{rate}\,W)\,\delta u`, and

    .. math:: J_d\,\delta a_d = -\big(\text{by\_q}\,W\,\delta u + \text{by\_v}\,(W\,\delta\dot u + \delta v_d)\big)

    Args:
        of: the equations, at a state that meets them to the second order.
        whole: W (n, inputs).
        dependent: the k coordinates that the equations determine.
        solve: of :math:`J_d x = b`, for the columns b of a matrix.
    """
    bent = solve(of.rate @ whole)
    return -solve(of.by_q @ whole - of.by_v[:, dependent] @ bent), -solve(of.by_v @ whole)
