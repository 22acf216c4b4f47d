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

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import bench_setup
import numpy as np

from constraints import Bounds, Options, Workspace
from constraints.loops import Assembly, AssemblyOptions, ConstraintSet, assemble_position
from constraints.models import load, mechanisms
from constraints.models.structure.assemblies import assemblies, starts
from constraints.models.structure.mechanism import Mechanism
from constraints.solvers import DampedCholesky, NewtonEngine, SparseKKT
from constraints.solvers.newton.sparse_kkt import is_long_and_sparse
from constraints.solvers.projection.engines import ENGINES

MODELS = bench_setup.TESTS / "data" / "mechanisms"
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 70, 100, 150, 200, 300)
BUILT_IN = ("four_bar", "five_bar", "slider_crank", "stewart_platform", "delta_robot", "bennett", "scissor_lift")
LARGEST_DENSE = 100
LARGEST_EXPONENT = 1.3
SAME = 1e-6
"""Largest difference of a coordinate between two engines [m or rad]: rows that repeat others magnify roundings."""


def lift_of(n: int) -> tuple[ConstraintSet, np.ndarray]:
    """A lift of n stages, and a start close to its closed posture."""
    lift = mechanisms.scissor_lift(n)
    rows, rng = lift.constraint_set(), np.random.default_rng(0)
    space = lift.robot.space
    return rows, space.integrate(lift.postures["closed"], 0.02 / np.sqrt(n) * rng.standard_normal(space.nv))


class Iteration:
    """One iteration of one engine on one lift, to be timed again and again in one workspace."""

    def __init__(self, n: int, is_sparse: bool) -> None:
        rows, self.q = lift_of(n)
        problem = rows.problem(bounds=Bounds.none(rows.robot.space))
        self.n, self.nv, self.rows = n, problem.space.nv, problem.constraints.size
        self.is_sparse, self.pays = is_sparse, is_long_and_sparse(problem)
        self.rhs, self.workspace = problem.rhs, Workspace()
        options = Options.local(threshold=1e-12, damping=0.01)
        engine = NewtonEngine(SparseKKT if is_sparse else DampedCholesky)
        self.program = engine.compile(problem, options)
        self.seconds: list[float] = []
        self.program.step(self.q, self.rhs, self.workspace)

    def run(self) -> None:
        """Time it once."""
        start = time.thread_time()
        self.program.step(self.q, self.rhs, self.workspace)
        self.seconds.append(time.thread_time() - start)

    @property
    def microseconds(self) -> float:
        """Median."""
        return 1e6 * statistics.median(self.seconds)


def growth(sizes: tuple[int, ...], repeats: int) -> dict[str, Any]:
    """Time of an iteration by n, sparse and dense, and the exponent."""
    every = [Iteration(n, True) for n in sizes] + [Iteration(n, False) for n in sizes if n <= LARGEST_DENSE]
    for _ in range(repeats):
        for iteration in every:
            iteration.run()
    table = [
        {"n": i.n, "nv": i.nv, "rows": i.rows, "sparse": i.is_sparse, "chosen": i.is_sparse == i.pays,
         "microseconds": i.microseconds}
        for i in every
    ]  # fmt: skip
    fitted = [(i.n, i.microseconds) for i in every if i.is_sparse and i.n >= 30]
    n, us = np.log(np.array(fitted)).T
    return {"iterations": table, "exponent": float(np.polyfit(n, us, 1)[0])}


def models(names: tuple[str, ...], count: int) -> list[dict[str, Any]]:
    """Assemblies of all models from their postures and random starts."""
    found: list[dict[str, Any]] = []
    for name in names:
        mechanism = mechanism_of(name)
        start = time.perf_counter()
        done = assemblies(mechanism, 0, count)
        seconds = time.perf_counter() - start
        found.append(
            {
                "model": name,
                "nv": mechanism.robot.nv,
                "rows": mechanism.rows,
                "starts": len(done.ends),
                "closed": sum(done.closed),
                "median_iterations": float(statistics.median(done.iterations)),
                "most_iterations": max(done.iterations),
                "milliseconds": 1e3 * seconds / len(done.ends),
            }
        )
    return found


def mechanism_of(name: str) -> Mechanism:
    """A built-in mechanism, or that of a file."""
    built = getattr(mechanisms, name, None)
    return built() if built is not None else load(model_file(MODELS / name))


class Assemblies:
    """Assemblies of one model by one engine, to be timed again and again."""

    def __init__(self, mechanism: Mechanism, begins: list[np.ndarray], engine: str) -> None:
        self.begins, self.engine, self.first = begins, engine, np.inf
        for _ in range(3):
            self.rows = mechanism.constraint_set()
            before = time.perf_counter()
            self.ends = [assemble_position(self.rows, begins[0], options=AssemblyOptions(engine=engine))]
            self.first = min(self.first, time.perf_counter() - before)
        self.ends += [assemble_position(self.rows, q, options=AssemblyOptions(engine=engine)) for q in begins[1:]]
        closed = next((end.q for end in self.ends if end.success), None)
        self.timed = [*begins] if closed is None else [*begins, closed]
        self.has_closed, self.seconds = closed is not None, [np.inf] * len(self.timed)

    def run(self) -> None:
        """Time each start once."""
        for i, q in enumerate(self.timed):
            before = time.perf_counter()
            assemble_position(self.rows, q, options=AssemblyOptions(engine=self.engine))
            self.seconds[i] = min(self.seconds[i], time.perf_counter() - before)

    @property
    def times(self) -> dict[str, float]:
        """Microseconds: of an open start, of a new set, of a closed start."""
        opened = float(np.mean(self.seconds[: len(self.begins)]))
        closed = self.seconds[-1] if self.has_closed else np.nan
        return {"open": 1e6 * opened, "first": 1e6 * self.first, "closed": 1e6 * closed}


def are_same(a: Assembly, b: Assembly) -> bool:
    """Whether two assemblies ended alike."""
    return a.status is b.status and a.iterations == b.iterations and float(np.abs(a.q - b.q).max()) < SAME


def engines(names: tuple[str, ...], engine: str, count: int, repeats: int) -> list[dict[str, Any]]:
    """Assemblies of all models by an engine and by the readable one, from open starts."""
    found: list[dict[str, Any]] = []
    for name in names:
        mechanism = mechanism_of(name)
        begins = [q for q in starts(mechanism, 0, count) if not mechanism.judge(q).is_closed]
        Assemblies(mechanism, begins[:1], engine)  # what is read and made once in a process
        one, other = (Assemblies(mechanism, begins, each) for each in ("readable", engine))
        for _ in range(repeats):
            one.run()
            other.run()
        pairs = list(zip(one.ends, other.ends, strict=True))
        same = [are_same(a, b) for a, b in pairs]
        found.append(
            {"model": name, "nv": mechanism.robot.nv, "rows": mechanism.rows, "starts": len(begins), "same": sum(same),
             "readable": one.times, "engine": other.times, "ratio": other.times["open"] / one.times["open"],
             "solved_by": repr(other.ends[0].projection.engine)}
        )  # fmt: skip
    return found


def model_file(folder: Path) -> Path:
    """The file of a model in its folder."""
    return next(path for suffix in ("urdf", "xml", "sdf") for path in folder.glob(f"*.{suffix}"))


def all_models() -> tuple[str, ...]:
    """Names of the folders, then of the built-in mechanisms."""
    folders = sorted(path.name for path in MODELS.iterdir() if path.is_dir() and path.name != "LICENSES")
    return (*folders, *BUILT_IN)


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


def report(grown: dict[str, Any], assembled: list[dict[str, Any]]) -> None:
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
        closed, iterations = (
            f"{row['closed']}/{row['starts']}",
            f"{row['median_iterations']:g}, {row['most_iterations']}",
        )
        print(
            f"{row['model']:22} {row['nv']:4} {row['rows']:5} {closed:>8} {iterations:>12} {row['milliseconds']:8.2f}"
        )


def report_engines(compared: list[dict[str, Any]], engine: str) -> None:
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--repeats", type=int, default=15, help="of each iteration")
    parser.add_argument("--check", action="store_true", help="quick, judges answers and not times")
    parser.add_argument("--engine", choices=list(ENGINES), help="compare the assemblies of this engine")
    options = parser.parse_args()
    apart = same_answers((1, 5, 30) if options.check else (1, 5, 30, 60))
    grown = growth((30, 60, 120) if options.check else SIZES, 3 if options.check else options.repeats)
    assembled = models(("5bar_linkage",) if options.check else all_models(), 2 if options.check else 20)
    report(grown, assembled)
    chosen, compared = ("four_bar",) if options.check else all_models(), list[dict[str, Any]]()
    if options.engine is not None:
        compared = engines(chosen, options.engine, 2 if options.check else 20, 2 if options.check else 20)
        report_engines(compared, options.engine)
    print(f"largest difference of sparse and dense answers: {apart:.1e}")
    if options.json is not None:
        options.json.write_text(
            json.dumps({**grown, "models": assembled, "engines": compared, "difference": apart}, indent=1)
        )
    agree = all(row["same"] == row["starts"] for row in compared)
    good = agree and apart < 1e-9 and (options.check or grown["exponent"] <= LARGEST_EXPONENT)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
