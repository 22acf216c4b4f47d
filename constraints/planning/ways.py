"""Ways towards many targets: steps up to where one fails, in numpy or by a kernel, which give the same ways."""

from __future__ import annotations

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ..solvers.growth import GrowingWays, GrowthProgram
from ..solvers.machine import layout
from .leaf import MET, LeafOfProblem

STEPS_OF_GROWTH = 30
"""Steps towards one target: more run along the boundary of what is free."""


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
        doubts = program.grow(ways, leaf.rhs, None if checker is None else checker.doubts)
        rows = ways.at(layout.IN_DOUBT)
        if checker is not None and rows.size:
            doubts[:, 0] = np.searchsorted(rows, doubts[:, 0])
            ways.decide(rows, checker.decided(ways.ahead(rows), doubts))
        outside = ways.at(layout.OUTSIDE)
        if outside.size:
            _try_step(leaf, ways, outside)
    counts.projections += int(ways.figures[:, layout.PROJECTED].sum())
    counts.checks += 0 if checker is None else int(ways.figures[:, layout.CHECKED].sum())
