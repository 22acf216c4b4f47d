"""Ways towards many targets: steps up to where one fails, in numpy or by a kernel, which give the same ways."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..solvers.growth import GrowthProgram
from ..solvers.machine import layout
from .leaf import MET, LeafOfProblem

STEPS_OF_GROWTH = 30
"""Steps towards one target: more run along the boundary of what is free."""


@final
class GrowingWays:
    """Ways while they grow.

    Args:
        Q: where they begin (n, nq).
        targets: where they lead (n, nq).
        distances: between them (n,).
        most: steps that each may take.
        met: distance that counts as none.

    Attributes:
        targets: as given, in one piece.
        q: (n, 1 + most, nq) where they begin, and where each step leads; the next one too where it is to be decided.
        figures: (n, WAY_SIZE) the records of `layout`.
    """

    def __init__(self, Q: Matrix, targets: Matrix, distances: Vector, most: int, met: float) -> None:
        self._met = met
        self.targets = np.require(targets, requirements=["C", "W"])
        self.q = np.empty((len(Q), 1 + most, Q.shape[1]))
        self.q[:, 0] = Q
        self.figures = np.zeros((len(Q), layout.WAY_SIZE))
        self.figures[:, layout.LEFT] = distances
        self.figures[:, layout.WAY_STATE] = np.where(distances <= met, layout.REACHED, layout.GOES_ON)

    @property
    def states(self) -> Vector:
        """One of the states of `layout` each (n,)."""
        return self.figures[:, layout.WAY_STATE]

    @property
    def steps(self) -> Indices:
        """Steps taken (n,)."""
        return self.figures[:, layout.STEPS].astype(np.intp)

    @property
    def left(self) -> Vector:
        """Distances (n,) from the last steps to the targets."""
        return self.figures[:, layout.LEFT]

    def at(self, state: int) -> Indices:
        """The ways in one of the states of `layout` (k,)."""
        return np.flatnonzero(self.states == state)

    def ahead(self, rows: Indices) -> Matrix:
        """Where the next step of some ways leads (k, nq)."""
        return self.q[rows, self.figures[rows, layout.STEPS].astype(np.intp) + 1]

    def aim(self, rows: Indices, Q: Matrix, left: Vector) -> None:
        """Say where the next step of some ways leads (k, nq), and how far that is from the targets."""
        self.q[rows, self.steps[rows] + 1] = Q
        self.figures[rows, layout.LEFT_AHEAD] = left

    def decide(self, rows: Indices, allowed: BoolVector) -> None:
        """Say of the next steps of some ways whether they are taken."""
        self.figures[rows, layout.WAY_STATE] = np.where(allowed, layout.ALLOWED, layout.ENDED)

    def take_steps(self, rows: Indices) -> None:
        """Take the next steps of some ways, as the kernel does it."""
        figures, most = self.figures, self.q.shape[1] - 1
        figures[rows, layout.STEPS] += 1.0
        figures[rows, layout.LEFT] = left = figures[rows, layout.LEFT_AHEAD]
        going = np.where(figures[rows, layout.STEPS] < most, layout.GOES_ON, layout.ENDED)
        figures[rows, layout.WAY_STATE] = np.where(left <= self._met, layout.REACHED, going)


def ways_to(leaf: LeafOfProblem, Q: Matrix, targets: Matrix, distances: Vector) -> GrowingWays:
    """Steps from each row towards its target, until it is met, or a step fails, or there are enough.

    Args:
        leaf: where all lie.
        Q: where they begin (n, nq).
        targets: (n, nq).
        distances: between them (n,), in steps.
    """
    ways = GrowingWays(Q, targets, distances, STEPS_OF_GROWTH, MET)
    if leaf.growth is None:
        _grow_in_numpy(leaf, ways)
    else:
        _grow(leaf, leaf.growth, ways)
    return ways


def _grow_in_numpy(leaf: LeafOfProblem, ways: GrowingWays) -> None:
    """A step of all ways after the other."""
    for _ in range(STEPS_OF_GROWTH):
        rows = ways.at(layout.GOES_ON)
        if not rows.size:
            return
        _try_step(leaf, ways, rows)
        ways.take_steps(ways.at(layout.ALLOWED))


def _try_step(leaf: LeafOfProblem, ways: GrowingWays, rows: Indices) -> None:
    """The next step of some ways, which is not taken yet."""
    step = leaf.step(ways.q[rows, ways.steps[rows]], ways.targets[rows], ways.left[rows])
    ways.aim(rows, step.q, step.left)
    ways.decide(rows, step.done)


def _grow(leaf: LeafOfProblem, program: GrowthProgram, ways: GrowingWays) -> None:
    """By a kernel, up to what is decided here: pairs of solids that covers do not free, steps that leave bounds."""
    checker, counts = leaf.checker, leaf.counts
    while ways.states.min(initial=layout.ENDED) < layout.REACHED:
        flat, solids = ways.q.reshape(len(ways.q), -1), None if checker is None else checker.doubts
        doubts = program.grow(ways.targets, flat, ways.figures, leaf.rhs, solids)
        rows = ways.at(layout.IN_DOUBT)
        if checker is not None and rows.size:
            doubts[:, 0] = np.searchsorted(rows, doubts[:, 0])
            ways.decide(rows, checker.decided(ways.ahead(rows), doubts))
        outside = ways.at(layout.OUTSIDE)
        if outside.size:
            _try_step(leaf, ways, outside)
    counts.projections += int(ways.figures[:, layout.PROJECTED].sum())
    counts.checks += 0 if checker is None else int(ways.figures[:, layout.CHECKED].sum())
