"""A time limit around any engine: the same projection with growing budgets of iterations, until the time is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import final

from liegroups.arrays import Vector

from ..rows.right_hand_side import RightHandSide
from ..workspace import Workspace
from .engine import Outcome, Program
from .options import Options
from .status import Status

FIRST = 4
"""Iterations of the first chunk, where nothing is known yet of what one costs."""
SURE_PART_OF_TIME = 0.5
"""Part of the time left for which a larger budget is asked for: iterations do not all cost the same."""


@final
class TimedProgram(Program):
    """A program that ends after a number of seconds.

    An engine gives the same iterates with any budget, up to its end. So a projection that is stopped is one with a
    smaller budget, and what was found before it is what is found without a limit, bit for bit. Programs with budgets
    of a few sizes are made when they are needed; how long an iteration takes is learned from what was run, and a
    projection that fits into its time is run once, as without a limit.

    Args:
        seconds: the limit.
        options: of the projection.
        make: compiles the program with given options.
        clock: the time [s].
    """

    def __init__(
        self,
        seconds: float,
        options: Options,
        make: Callable[[Options], Program],
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._seconds, self._most, self._clock = seconds, options.max_iterations, clock
        self._options, self._make = replace(options, seconds=None), make
        self._programs: dict[int, Program] = {}
        self._cost = 0.0
        whole = self._of(self._most)
        self.engine, self.checks_starts = whole.engine, whole.checks_starts

    def _of(self, budget: int) -> Program:
        """The program with a budget."""
        found = self._programs.get(budget)
        if found is None:
            found = self._programs[budget] = self._make(replace(self._options, max_iterations=budget))
        return found

    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, near: Vector | None = None) -> Outcome:
        """As `Program.run`; TIME_LIMIT where the time was over first, with the best iterate until then."""
        began, budget = self._clock(), self._within(self._seconds, FIRST)
        while True:
            program, started = self._of(budget), self._clock()
            found = program.run(q0, rhs, workspace, near)
            now = self._clock()
            if found.iterations:
                self._cost = (now - started) / found.iterations
            if found.status is Status.CONVERGED or budget == self._most or found.iterations < budget:
                return found
            larger = self._within(self._seconds - (now - began), 2 * budget)
            if larger <= budget:
                return found._replace(status=Status.TIME_LIMIT)
            budget = larger

    def _within(self, seconds: float, otherwise: int) -> int:
        """The budget that a time is enough for, so far as is known: all, or a power of two, 1 at least."""
        if self._cost == 0.0:
            return min(otherwise, self._most)
        enough = max(int(seconds / self._cost), 0)
        if SURE_PART_OF_TIME * enough >= self._most:
            return self._most
        sure = max(int(SURE_PART_OF_TIME * enough), 1 if enough else 0)
        return min(1 << (sure.bit_length() - 1) if sure else 1, self._most)

    def step(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """As `Program.step`."""
        return self._of(self._most).step(q0, rhs, workspace)
