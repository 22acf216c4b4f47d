"""Rows with an interval: clipped to their distance from it, and kept as they are for whoever looks ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from .stack import Stack

if TYPE_CHECKING:
    from .stacking import Rows


@final
class OneSidedRows:
    r"""The rows of a stack whose interval [l, u] is wider than a point, in one workspace.

    A row r counts by its distance :math:`r - \mathrm{clip}(r, l, u)`, so that one that holds is zero, and has no
    Jacobian. What it is then is kept here.

    Args:
        stack: whose rows.
        nv: columns of their Jacobian.

    Attributes:
        jacobian: (count, nv) of the rows as they are, holding or not.
    """

    __slots__ = ("_lower", "_upper", "_values", "_where", "jacobian")

    def __init__(self, stack: Stack, nv: int) -> None:
        tables = [owner.rows for owner in stack]
        wide = np.concatenate([np.zeros(0, dtype=np.bool_), *[t.one_sided[t.mask] for t in tables]])
        self._where = np.flatnonzero(wide)
        self._lower = np.concatenate([np.zeros(0), *[(t.scale * t.lower)[t.mask & t.one_sided] for t in tables]])
        self._upper = np.concatenate([np.zeros(0), *[(t.scale * t.upper)[t.mask & t.one_sided] for t in tables]])
        self._values: Vector = np.zeros(self._where.size)
        self.jacobian: Matrix = np.zeros((self._where.size, nv))

    def __bool__(self) -> bool:
        return bool(self._where.size)

    def clip(self, rows: Rows, jacobian: bool) -> None:
        """Turn scaled rows of the logarithm into distances from their intervals, in place, and keep what they were."""
        values = rows.error[self._where]
        off = values - values.clip(self._lower, self._upper)
        rows.error[self._where] = off  # R8
        if jacobian:
            self._values = values
            self.jacobian[:] = rows.jacobian[self._where]
            rows.jacobian[self._where[off == 0.0]] = 0.0  # R8

    def entered(self, rows: Rows, step: Vector) -> Rows | None:
        """The rows with those as equalities that hold, and that a step crosses to first order: they end at the limit.

        Args:
            rows: the rows of the stack, distances.
            step: (nv,).

        Returns:
            Other rows; None where the step crosses none.
        """
        after = self._values + self.jacobian.dot(step)
        limits = after.clip(self._lower, self._upper)
        crossed = (limits != after) & (rows.error[self._where] == 0.0)  # R9
        if not crossed.any():
            return None
        where, rows = self._where[crossed], rows.copy()
        rows.error[where], rows.jacobian[where] = (self._values - limits)[crossed], self.jacobian[crossed]
        return rows
