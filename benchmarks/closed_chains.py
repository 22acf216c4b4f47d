"""Assembly of closed chains: how an iteration grows with a scissor lift, and times and iterations on all models.

    python benchmarks/closed_chains.py [--json FILE] [--repeats N] [--engine compiled]
    python benchmarks/closed_chains.py --check [--engine compiled]

Growth: time of one iteration (rows, Jacobian, step, integration) of `assemble_position`'s engine on a lift of n stages,
median over repeats that go through all n one after the other; CPU time of the thread, as other programs interrupt
long iterations more often than short ones. The exponent is the slope of log time over log n from n = 30 to 300, and
must be at most 1.3. Beside it the dense engine up to n = 100, from which the size where the sparse
one takes over was chosen. Models: those of `tests/data/mechanisms` and the built-in ones, from their postures and 20
random starts: closed starts, median and largest number of iterations, median time of an assembly.

Engines: with `--engine NAME` each model is assembled by that engine and by the readable one in turn, from the starts
above that are open, as users do (`assemble_position`, its constraint set keeping what it made ready). The time of a
start is the least of some repeats, that of a model their mean over all starts. Beside it: how many starts end with the
same status, iterations and configuration, a closed start, and the first assembly of a new set. Run it on one core.

`--check` is quick: small lifts, that both engines end in the same configuration, and one model.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import bench_setup
import numpy as np
from closed_mechanisms import ALL, closed_mechanism
from timing import in_bursts

from constraints import Bounds, Options, Workspace
from constraints.loops import Assembly, AssemblyOptions, ConstraintSet, assemble_position
from constraints.models import mechanisms
from constraints.models.structure.assemblies import assemblies, starts
from constraints.models.structure.mechanism import Mechanism
from constraints.solvers import DampedCholesky, NewtonEngine, SparseKKT
from constraints.solvers.newton.sparse_kkt import is_long_and_sparse
from constraints.solvers.projection.engines import ENGINES

SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 70, 100, 150, 200, 300)
LARGEST_DENSE = 100
LARGEST_EXPONENT = 1.3
SAME = 1e-6
"""Largest difference of a coordinate between two engines [m or rad]: rows that repeat others magnify roundings."""

Row = dict[str, Any]


def lift_of(n: int) -> tuple[ConstraintSet, np.ndarray]:
    """A lift of n stages, and a start close to its closed posture."""
    lift = mechanisms.scissor_lift(n)
    rows, rng = lift.constraint_set(), np.random.default_rng(0)
    space = lift.robot.space
    return rows, space.integrate(lift.postures["closed"], 0.02 / np.sqrt(n) * rng.standard_normal(space.nv))


def iteration(n: int, is_sparse: bool) -> tuple[Row, Callable[[], Any]]:
    """One iteration of one engine on one lift, in one workspace: what it is, and its call."""
    rows, q = lift_of(n)
    problem = rows.problem(bounds=Bounds.none(rows.robot.space))
    engine = NewtonEngine(SparseKKT if is_sparse else DampedCholesky)
    program = engine.compile(problem, Options.local(threshold=1e-12, damping=0.01))
    what = {"n": n, "nv": problem.space.nv, "rows": problem.constraints.size, "sparse": is_sparse}
    what["chosen"] = is_sparse == is_long_and_sparse(problem)
    return what, partial(program.step, q, problem.rhs, Workspace())


def growth(sizes: tuple[int, ...], repeats: int) -> Row:
    """Time of an iteration by n, sparse and dense, and the exponent."""
    made = [iteration(n, True) for n in sizes] + [iteration(n, False) for n in sizes if n <= LARGEST_DENSE]
    times = in_bursts({i: call for i, (_, call) in enumerate(made)}, repeats, clock=time.thread_time)
    table = [{**row, "microseconds": statistics.median(times[i])} for i, (row, _) in enumerate(made)]
    n, us = np.log([(row["n"], row["microseconds"]) for row in table if row["sparse"] and row["n"] >= 30]).T
    return {"iterations": table, "exponent": float(np.polyfit(n, us, 1)[0])}


def models(names: tuple[str, ...], count: int) -> list[Row]:
    """Assemblies of all models from their postures and random starts."""
    found: list[Row] = []
    for name in names:
        mechanism, _ = closed_mechanism(name)
        start = time.perf_counter()
        done = assemblies(mechanism, 0, count)
        seconds = time.perf_counter() - start
        found.append({
            "model": name, "nv": mechanism.robot.nv, "rows": mechanism.rows, "starts": len(done.ends),
            "closed": sum(done.closed), "median_iterations": float(statistics.median(done.iterations)),
            "most_iterations": max(done.iterations), "milliseconds": 1e3 * seconds / len(done.ends),
        })  # fmt: skip
    return found


class Assemblies:
    """Assemblies of one model by one engine: their ends, microseconds of the first one of a new set, calls to time."""

    def __init__(self, mechanism: Mechanism, begins: list[np.ndarray], engine: str) -> None:
        options, self.first = AssemblyOptions(engine=engine), np.inf
        for _ in range(3):
            rows = mechanism.constraint_set()
            before = time.perf_counter()
            self.ends = [assemble_position(rows, begins[0], options=options)]
            self.first = min(self.first, 1e6 * (time.perf_counter() - before))
        self.ends += [assemble_position(rows, q, options=options) for q in begins[1:]]
        closed = [end.q for end in self.ends if end.success][:1]
        self.calls = [partial(assemble_position, rows, q, options=options) for q in (*begins, *closed)]

    def times(self, least: list[float]) -> dict[str, float]:
        """Microseconds of an open start, of a new set, of a closed start, by the least ones of all calls."""
        n = len(self.ends)
        return {"open": float(np.mean(least[:n])), "first": self.first, "closed": least[n] if least[n:] else np.nan}


def are_same(a: Assembly, b: Assembly) -> bool:
    """Whether two assemblies ended alike."""
    return a.status is b.status and a.iterations == b.iterations and float(np.abs(a.q - b.q).max()) < SAME


def engines(names: tuple[str, ...], engine: str, count: int, repeats: int) -> list[Row]:
    """Assemblies of all models by an engine and by the readable one, from open starts."""
    found: list[Row] = []
    for name in names:
        mechanism, _ = closed_mechanism(name)
        begins = [q for q in starts(mechanism, 0, count) if not mechanism.judge(q).is_closed]
        Assemblies(mechanism, begins[:1], engine)  # what is read and made once in a process
        both = [Assemblies(mechanism, begins, each) for each in ("readable", engine)]
        calls = {(k, i): call for k, one in enumerate(both) for i, call in enumerate(one.calls)}
        us = {key: float(each.min()) for key, each in in_bursts(calls, repeats, clock=time.perf_counter).items()}
        one, other = (some.times([us[k, i] for i in range(len(some.calls))]) for k, some in enumerate(both))
        same = [are_same(a, b) for a, b in zip(both[0].ends, both[1].ends, strict=True)]
        found.append({
            "model": name, "nv": mechanism.robot.nv, "rows": mechanism.rows, "starts": len(begins), "same": sum(same),
            "readable": one, "engine": other, "ratio": other["open"] / one["open"],
            "solved_by": repr(both[1].ends[0].projection.engine),
        })  # fmt: skip
    return found


def same_answers(sizes: tuple[int, ...]) -> float:
    """Largest difference of a coordinate between the two engines."""
    worst = 0.0
    for n in sizes:
        rows, q = lift_of(n)
        one, other = (
            assemble_position(rows, q, options=AssemblyOptions(engine=engine))
            for engine in (NewtonEngine(SparseKKT), None)
        )
        if not one.success or not other.success:
            raise SystemExit(f"a lift of {n} stages did not close: {one}, {other}")
        worst = max(worst, float(np.abs(one.q - other.q).max()))
    return worst


def report(grown: Row, assembled: list[Row]) -> None:
    """Print both tables."""
    dense = {row["n"]: row["microseconds"] for row in grown["iterations"] if not row["sparse"]}
    print("scissor lift: one iteration [us]")
    print(f"{'n':>5} {'nv':>5} {'rows':>6} {'sparse':>9} {'dense':>9}  chosen")
    for row in grown["iterations"]:
        if row["sparse"]:
            other = f"{dense[row['n']]:9.0f}" if row["n"] in dense else f"{'-':>9}"
            chosen = "sparse" if row["chosen"] else "dense"
            print(f"{row['n']:5} {row['nv']:5} {row['rows']:6} {row['microseconds']:9.0f} {other}  {chosen}")
    print(f"exponent from n = 30: {grown['exponent']:.2f} (at most {LARGEST_EXPONENT})")
    print(f"\n{'model':22} {'nv':>4} {'rows':>5} {'closed':>8} {'iterations':>12} {'ms':>8}")
    for row in assembled:
        closed = f"{row['closed']}/{row['starts']}"
        iterations = f"{row['median_iterations']:g}, {row['most_iterations']}"
        print(
            f"{row['model']:22} {row['nv']:4} {row['rows']:5} {closed:>8} {iterations:>12} {row['milliseconds']:8.2f}"
        )


def report_engines(compared: list[Row], engine: str) -> None:
    """Print the table of the engines."""
    print(f"\nassembly [us]: readable, {engine}; an open start, a closed one, the first of a new set")
    print(f"{'model':22} {'same':>6} {'open':>14} {'ratio':>6} {'closed':>14} {'first':>14}  solved by")
    for row in compared:
        a, b = row["readable"], row["engine"]
        pairs = {what: f"{a[what]:6.0f} {b[what]:7.1f}" for what in a}
        same = f"{row['same']}/{row['starts']}"
        print(
            f"{row['model']:22} {same:>6} {pairs['open']} {row['ratio']:6.3f} {pairs['closed']} {pairs['first']}"
            f"  {row['solved_by']}"
        )


def main() -> int:
    """Run, print, write."""
    parser = bench_setup.command(__doc__, "json", "check", repeats=(15, "of each iteration"))
    parser.add_argument("--engine", choices=list(ENGINES), help="compare the assemblies of this engine")
    options = parser.parse_args()
    apart = same_answers((1, 5, 30) if options.check else (1, 5, 30, 60))
    grown = growth((30, 60, 120) if options.check else SIZES, 3 if options.check else options.repeats)
    count = 2 if options.check else 20
    assembled, compared = models(("5bar_linkage",) if options.check else ALL, count), list[Row]()
    report(grown, assembled)
    if options.engine is not None:
        compared = engines(("four_bar",) if options.check else ALL, options.engine, count, count)
        report_engines(compared, options.engine)
    print(f"largest difference of sparse and dense answers: {apart:.1e}")
    bench_setup.write(options.json, {**grown, "models": assembled, "engines": compared, "difference": apart})
    agree = all(row["same"] == row["starts"] for row in compared)
    good = agree and apart < 1e-9 and (options.check or grown["exponent"] <= LARGEST_EXPONENT)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
