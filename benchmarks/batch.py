"""A batch on one and on two worker processes, against single calls: interleaved runs on the two-armed sample robot.

    python benchmarks/batch.py [--rows 2000] [--repeats 15] [--chunk N] [--workers 2]
    python benchmarks/batch.py --check

Each repeat runs the four ways one after the other, in processes that are warm. Written are medians over the repeats,
the lower quartile (the quiet moments of a shared machine), and how many times as fast as one worker the others are, by
both. Where other programs take the cores these say little; CPU time does not count what others take, and the last line
says what it predicts for a machine left alone: (P1 + W1) / (P2 + W2 / workers), with P the CPU time of this process,
taken as if nothing ran beside it, and W that of all workers (Linux). `--check` runs few rows and asks only that all
ways give the same bits.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import bench_setup
import numpy as np
from timing import in_bursts

from constraints import Implicit, Pose, Problem, Projector
from constraints.models import sample_two_arms


def grip() -> Projector:
    """Two hands on one bar, six rows."""
    robot = sample_two_arms()
    bar = Pose(robot, "right_tool", reference="left_tool")
    return Projector(Problem(robot, [Implicit.equal(bar, bar.value(robot.reference("home")))]))


def worker_seconds(pool: ProcessPoolExecutor) -> float:
    """CPU time so far of all workers of a pool."""
    ticks = 0
    for pid in pool._processes:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> int:
    given = bench_setup.command(
        __doc__, "check", rows=(2000, "rows"), repeats=(15, "of each way"), chunk=(None, "rows of a task"),
        workers=(2, "worker processes"),
    ).parse_args()  # fmt: skip
    rows, repeats = (100, 1) if given.check else (given.rows, given.repeats)
    projector = grip()
    robot = projector.problem.robot
    assert robot is not None
    Q = robot.random(np.random.default_rng(0), rows)
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as one,
        ProcessPoolExecutor(given.workers, mp_context=context) as many,
    ):
        several = f"{given.workers} workers"
        ways: dict[str, Callable[[], np.ndarray]] = {
            "single calls": lambda: np.stack([projector.project(q).q for q in Q]),
            "batch, no executor": lambda: projector.project_batch(Q, chunk=given.chunk).q,
            "one worker": lambda: projector.project_batch(Q, executor=one, chunk=given.chunk).q,
            several: lambda: projector.project_batch(Q, executor=many, chunk=given.chunk).q,
        }
        found = {name: run() for name, run in ways.items()}  # starts the workers
        if any(q.tobytes() != found["single calls"].tobytes() for q in found.values()):
            print("the ways differ")
            return 1
        pools = {"one worker": one, several: many}
        clocks = lambda: np.array([time.perf_counter(), time.process_time(), *map(worker_seconds, pools.values())])  # noqa: E731
        times = {name: 1e-6 * us for name, us in in_bursts(ways, repeats, clock=clocks).items()}
    seconds = {name: each[:, 0] for name, each in times.items()}
    cpu = {name: (times[name][:, 1].sum(), times[name][:, 2 + i].sum()) for i, name in enumerate(pools)}
    print(
        f"{rows} rows, {repeats} repeats, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores: same bits all ways"
    )
    medians, quiet = ({k: float(np.quantile(v, p)) for k, v in seconds.items()} for p in (0.5, 0.25))
    print(f"{'':20} {'median s':>9} {'ratio':>6} {'quartile s':>11} {'ratio':>6}")
    for name in ways:
        a, b = medians["one worker"] / medians[name], quiet["one worker"] / quiet[name]
        print(f"{name:20} {medians[name]:9.3f} {a:6.2f} {quiet[name]:11.3f} {b:6.2f}")
    paired = seconds["one worker"] / seconds[several]
    print(f"one worker / {several}, repeat by repeat: median {np.median(paired):.2f}, best {paired.max():.2f}")
    alone = sum(cpu["one worker"]) / (cpu[several][0] + cpu[several][1] / given.workers)
    shares = ", ".join(f"{name} {here:.2f} s here and {there:.2f} s there" for name, (here, there) in cpu.items())
    print(f"CPU time: {shares}; predicts {alone:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
