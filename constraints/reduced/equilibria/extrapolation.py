"""Extrapolation of what was computed with a step that is halved again and again (Richardson; Ridders 1982)."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import Vector

WORSE = 2.0
"""A row of the tableau whose last entry changed by more than this many times the best estimate is the last one."""


@final
class Extrapolation:
    r"""The limit of a(h) for h to 0, entry by entry, from a(h), a(h/2), a(h/4) ... as they come.

    .. math:: a(h) = a_0 + a_1 h^p + a_2 h^{p + 2} + a_3 h^{p + 4} + \ldots

    Neville's tableau; each entry is judged by how much it differs from its two parents, and by its rounding.

    Args:
        power: p, the first power of h.

    Attributes:
        best: the limit so far (n,); there from the first value on, as `error` is.
        error: estimate of its error (n,); infinite before the second value.
    """

    best: Vector
    error: Vector

    def __init__(self, power: int) -> None:
        self._power = power
        self._row: list[Vector] = []

    def add(self, a: Vector, noise: float) -> bool:
        """Take the value of the next step, half of the last one.

        Args:
            a: (n,).
            noise: rounding of a.

        Returns:
            whether more values make it worse: each entry's last column changed more than its best one was wrong.
        """
        row = [a]
        if not self._row:
            self.best, self.error = a, np.full(a.size, np.inf)
        for j, parent in enumerate(self._row):
            factor = 2.0 ** (self._power + 2 * j)
            row.append(row[j] + (row[j] - parent) / (factor - 1.0))
            change = np.maximum(np.abs(row[-1] - row[j]), np.abs(row[-1] - parent)) + noise
            better = change < self.error
            self.best, self.error = np.where(better, row[-1], self.best), np.where(better, change, self.error)
        last = self._row[-1] if self._row else a
        self._row = row
        return bool(len(row) > 2 and (np.abs(row[-1] - last) > WORSE * self.error + noise).all())
