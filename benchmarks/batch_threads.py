"""What a row of a batch costs beside its kernel, and what a second thread gives, by the compiled engine.

    python benchmarks/batch_threads.py [PROBLEM.npz ...] [--rows 2000] [--rounds 40] [--chunk N] [--check]

Without files, those in `benchmarks/problems`; their starts are repeated up to the number of rows. Each round runs four
things one after the other: the kernel alone on all rows (`project_rows`), a batch in this thread, a batch on two
threads (`ThreadPoolExecutor(2)`), and the kernel on two threads at once, all rows on each. The last says what the
machine gives two threads at all: 2.0 where nobody else runs. Written are the best times of the rounds, in microseconds
a row, what a row costs beside its kernel (the median over the rounds), the solutions a second (*usable*: converged),
and how many times as fast two threads are. That ratio says nothing where the machine gives less than about 1.9: CPU
time does not count what others take, and the last column is what it predicts for a machine left alone,
batch / (P + W / 2), with P the CPU time of this thread, taken as if nothing ran beside it, and W that of the two (the
lower quartile). `--check` runs few rows and asks that threads give the same bits.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import bench_setup
import numpy as np
from problem_files import PROBLEMS, build, read
from timing import in_bursts

from constraints import Options, Problem, Projector
from constraints.solvers.compiled.problem import packed
from constraints.solvers.compiled.program import LANE_MEMORIES
from constraints.solvers.kernels.loading import entrances
from constraints.solvers.newton.computed_bodies import ComputedBodies

HEAD = "{:26} {:>7} {:>7} {:>7} {:>7} {:>9} {:>9} {:>6} {:>8} {:>9}".format(
    "problem", "kernel", "batch", "beside", "2 thr.", "usable/s", "with 2", "ratio", "machine", "predicted"
)


def kernel_of(problem: Problem, options: Options, Q: np.ndarray) -> Callable[[], None]:
    """The kernel alone on all rows, in memory of its own."""
    memory: Any = packed(problem, options, ComputedBodies(problem, options.threshold) or None)
    found, sides = entrances(), problem.rhs.vector[None].copy()
    lanes = found.in_lanes(memory.work, LANE_MEMORIES)
    where, ends, figures = found.places(*memory[:3], *lanes), np.empty_like(Q), np.empty((len(Q), 4))
    next_row = np.zeros(1, dtype=np.int64)
    turn = found.places(next_row)

    def run() -> None:
        assert memory  # `where` has the addresses of these two only
        assert lanes
        next_row[0] = 0
        found.project_rows(where, turn, Q, sides, ends, figures)

    return run


def clocks() -> np.ndarray:
    """Seconds: on the wall, of the processor in this thread, and in the others of this process."""
    mine = time.thread_time()
    return np.array([time.perf_counter(), mine, time.process_time() - mine])


def measure(path: Path, rows: int, rounds: int, chunk: int | None, pool: ThreadPoolExecutor) -> str:
    """A line of the table."""
    file = read(path)
    problem = build(file)
    options = file.options
    projector = Projector(problem, options, "compiled")
    Q = np.resize(file.q0, (rows, file.q0.shape[1]))
    kernel, other = kernel_of(problem, options, Q), kernel_of(problem, options, Q)

    def both() -> None:
        one = pool.submit(other)
        kernel()
        one.result()

    ways: dict[str, Callable[[], object]] = {
        "kernel": kernel, "batch": lambda: projector.project_batch(Q), "both": both,
        "threads": lambda: projector.project_batch(Q, executor=pool, chunk=chunk),
    }  # fmt: skip
    here, there = projector.project_batch(Q), projector.project_batch(Q, executor=pool, chunk=chunk)
    if here.q.tobytes() != there.q.tobytes():
        raise SystemExit(f"{file.name}: threads give other bits")
    times = {way: us / rows for way, us in in_bursts(ways, rounds, clock=clocks).items()}
    alone, batch, threads, twice = (times[way][:, 0].min() for way in ("kernel", "batch", "threads", "both"))
    beside = float(np.median(times["batch"][:, 0] - times["kernel"][:, 0]))
    quiet = [float(np.quantile(times[way][:, 1] + 0.5 * times[way][:, 2], 0.25)) for way in ("batch", "threads")]
    each = 1e6 * here.success.mean()
    return (
        f"{file.name:26} {alone:7.2f} {batch:7.2f} {beside:7.2f} {threads:7.2f} {each / batch:9.0f} "
        f"{each / threads:9.0f} {batch / threads:6.2f} {2.0 * alone / twice:8.2f} "
        f"{quiet[0] / quiet[1]:9.2f}"
    )


def main() -> int:
    counts = {"rows": (2000, "rows"), "rounds": (40, "rounds"), "chunk": (None, "rows of a task")}
    parser = bench_setup.command(__doc__, "check", **counts)
    parser.add_argument("problems", nargs="*", type=Path, metavar="PROBLEM.npz")
    given = parser.parse_args()
    rows, rounds = (200, 1) if given.check else (given.rows, given.rounds)
    print(HEAD)
    with ThreadPoolExecutor(2) as pool:
        for path in given.problems or sorted(PROBLEMS.glob("*.npz")):
            print(measure(path, rows, rounds, given.chunk, pool), flush=True)
    print(f"{rows} rows, best of {rounds} rounds, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 0


if __name__ == "__main__":
    sys.exit(main())
