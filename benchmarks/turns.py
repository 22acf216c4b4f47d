"""Solvers that take turns on one core: what each did with all starts, at the speed that the machine had meanwhile."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from checking import Judge
from numpy.typing import NDArray
from peer import Child, NoPeer

from constraints import Projector

CHUNK = 50
"""Starts that one solver projects before it is the turn of the next: the first ones of a turn find a cold core."""
OURS = "ours"
ROUNDING = 1e-9
"""Relative slack of the threshold: two formulas for one residual differ by rounding."""


@dataclass
class Run:
    """What one solver did with all starts; times in microseconds, by start and repeat, at the speed of the machine."""

    ends: NDArray[np.float64]
    claimed: NDArray[np.bool_]
    us: NDArray[np.float64]
    iterations: NDArray[np.float64]
    usable: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    errors: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def empty(count: int, nq: int, repeats: int) -> Run:
        return Run(np.zeros((count, nq)), np.zeros(count, dtype=np.bool_), np.zeros((count, repeats)), np.zeros(count))

    def judge(self, judge: Judge, threshold: float) -> None:
        """Look at every claimed success."""
        self.errors = np.full(len(self.ends), np.inf)
        self.errors[self.claimed] = judge.residuals(self.ends[self.claimed])
        within = np.array([judge.in_bounds(q) for q in self.ends], dtype=np.bool_)
        self.usable = self.claimed & within & (self.errors <= threshold * (1.0 + ROUNDING))

    @property
    def success(self) -> float:
        return float(self.usable.mean())

    @property
    def us_by_start(self) -> NDArray[np.float64]:
        return np.median(self.us, axis=1)

    @property
    def us_per_usable(self) -> float | None:
        return float(self.us_by_start.sum() / self.usable.sum()) if self.usable.any() else None


def calibration() -> float:
    """Seconds that a fixed piece of work takes now: Python, small arrays, as in a projection."""
    a, best = np.linspace(0.0, 1.0, 36).reshape(6, 6), np.inf
    for _ in range(3):
        began = time.perf_counter()
        for i in range(400):
            b = a.dot(a)
            b += float(i)
        best = min(best, time.perf_counter() - began)
    return best


def stay_on_one_core() -> None:
    """Keep this process, and children that it starts, on the core that is fastest now, where the platform can.

    They take turns, so that one core is enough for them, and its clock is the same for both.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    seconds: dict[int, float] = {}
    for core in sorted(os.sched_getaffinity(0)):
        os.sched_setaffinity(0, {core})
        seconds[core] = calibration()
    os.sched_setaffinity(0, {min(seconds, key=seconds.__getitem__)})


Solver = Callable[[int, int, int, Run], None]
"""Projects starts from the first on to before the last, once each, and notes it as one turn of the run."""


def by_us(projector: Projector, starts: NDArray[np.float64]) -> Solver:
    """The library."""

    def project_some(first: int, last: int, turn: int, run: Run) -> None:
        clock, project = time.perf_counter, projector.project
        project(starts[first])
        for i in range(first, last):
            began = clock()
            result = project(starts[i])
            run.us[i, turn] = 1e6 * (clock() - began)
            run.ends[i], run.claimed[i], run.iterations[i] = result.q, result.success, result.iterations

    return project_some


def by_peer(peer: Child, question: Callable[[int, int], dict[str, Any]]) -> Solver:
    """A peer, asked about starts from the first on to before the last; raises NoPeer where it ends."""

    def solve_some(first: int, last: int, turn: int, run: Run) -> None:
        answer = peer.ask(question(first, last))
        run.us[first:last, turn], run.claimed[first:last] = answer["us"], answer["success"]
        run.ends[first:last] = answer["q"]

    return solve_some


def by_hpp(hpp: Child, line_search: str) -> Solver:
    """hpp-constraints, on the starts that it has been given."""
    return by_peer(hpp, lambda first, last: {"line_search": line_search, "first": first, "last": last})


def in_turns(solvers: dict[str, Solver], shape: tuple[int, int], repeats: int, remarks: list[str]) -> dict[str, Run]:
    """Runs of all solvers on starts (n, nq), times at the speed of the machine; where one ends, ours go on alone."""
    (count, nq), speeds = shape, list[tuple[Run, slice, int, float]]()
    runs = {name: Run.empty(count, nq, repeats) for name in solvers}
    chunks = [(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    for turn, (first, last) in itertools.product(range(repeats), chunks):
        after = calibration()
        try:
            for name, run in runs.items():
                before = after
                solvers[name](first, last, turn, run)
                after = calibration()
                speeds.append((run, slice(first, last), turn, 0.5 * (before + after)))
        except NoPeer as why:
            remarks.append(f"no HPP from start {first} on, its figures are left out: {why}")
            runs = {OURS: runs[OURS]}
    usual = float(np.median([seconds for *_, seconds in speeds]))
    for run, part, turn, seconds in speeds:
        run.us[part, turn] *= usual / seconds
    drift = np.percentile([seconds for *_, seconds in speeds], [5, 95])
    if drift[1] > 1.25 * drift[0]:
        remarks.append(f"the speed of the machine changed by a factor {drift[1] / drift[0]:.1f} meanwhile")
    return runs
