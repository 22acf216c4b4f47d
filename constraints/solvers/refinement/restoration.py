"""Back onto the constraints after a step along them: Newton steps far below the threshold."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector

from ...linear_algebra import largest, numerical_rank
from ..newton.linear_step import DampedCholesky, capped
from .feasible_set import FeasibleSet, FeasibleSetAt, LocalModel

STEPS = 12
"""Newton steps of one restoration; few are needed, as it starts near the constraints."""


@final
class Restoration:
    r"""Newton steps onto the rows, the smallest in the costs of motion, within bounds.

    .. math:: dq = -W^{-1} J^T y, \qquad (J W^{-1} J^T + \mu I)\, y = e, \qquad \mu = c\,|e|^2 + 10^{-12}

    They are the ordinary steps of a projection, on the independent part of the rows (singular values above 1e-6 of the
    largest): redundant rows that contradict each other by less than the threshold stay as they are. Rows inside their
    interval are zero, dofs that are held do not move.

    Args:
        feasible: the rows.
        damping: c.
        cap: largest move of a coordinate in one step.
        passes: how often dofs that reached a bound are set to it and the others solved again.
    """

    def __init__(self, feasible: FeasibleSet, damping: float, cap: float, passes: int) -> None:
        self._feasible = feasible
        self._damping, self._cap, self._passes = damping, cap, passes
        self._step = DampedCholesky(feasible.size, feasible.problem.weights)

    def restore(
        self,
        view: FeasibleSetAt,
        q: Vector,
        tolerance: float,
        target: Vector | None = None,
        held: BoolVector | None = None,
        budget: int = STEPS,
    ) -> tuple[LocalModel, float, int]:
        """The nearest configuration that the rows allow, as far as Newton steps from q find it.

        Args:
            view: the rows.
            q: where to begin (nq,).
            tolerance: largest distance of a row to its interval at which it ends; of the independent part of the rows
                where they are redundant.
            target: (rows,) values for rows that shall be met exactly; NaN for those that shall be in their interval.
            held: (nv,) dofs that do not move.
            budget: steps that may be taken; never more than `STEPS`.

        Returns:
            The best configuration met, its largest distance, and how many steps were taken.

        Raises:
            UndefinedError: a function has no value at a configuration that is met.
        """
        best = local = view.at(q)
        least, taken = np.inf, 0
        while True:
            e = view.residual(local)
            if target is not None:
                e = np.where(np.isnan(target), e, local.values - target)
            rows, worst = local.jacobian, largest(e)
            if worst > tolerance:
                e, rows = self._independent(local, e, target, held)
                worst = largest(e)
            better = worst < 0.5 * least
            if worst < least:
                best, least = local, worst
            if least <= tolerance or not better or taken >= min(budget, STEPS):
                return best, least, taken
            local = view.at(self._moved(local.q, e, rows))
            taken += 1

    def _independent(
        self, local: LocalModel, e: Vector, target: Vector | None, held: BoolVector | None
    ) -> tuple[Vector, Matrix]:
        """The rows turned so that they are independent: what contradicts, or hardly moves anything, becomes zero."""
        counts = self._feasible.equal | (e != 0.0)
        if target is not None:
            counts |= ~np.isnan(target)  # also those that are met as it is: the others must not take them off
        J = local.jacobian * counts[:, None] if held is None else local.jacobian * np.outer(counts, ~held)
        U, values, V = np.linalg.svd(J, full_matrices=False)
        rank = numerical_rank(values)
        turned, rows = np.zeros_like(e), np.zeros_like(J)
        turned[:rank] = e @ U[:, :rank]
        rows[:rank] = values[:rank, None] * V[:rank]
        return turned, rows

    def _moved(self, q: Vector, e: Vector, J: Matrix) -> Vector:
        """The configuration after one step."""
        box, mu = self._feasible.box, self._damping * float(e.dot(e)) + 1e-12
        step = self._step.solve(e, J, mu)
        if not box.is_open:
            step, _ = box.saturate(q, step, e, J, mu, self._step, self._passes)
        return self._feasible.moved(q, capped(step, self._cap))
