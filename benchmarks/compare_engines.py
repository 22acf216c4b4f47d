"""Whether both engines find the same: status, iterations, restarts and configuration, on the starts of problem files.

    python benchmarks/compare_engines.py [PROBLEM.npz ... | --set NAME] [--starts 1000] [--seed 0] [--least 0.99]

Without files, those of all sets of `benchmarks/projection.py`; starts are drawn by the sampler of each file. Two
projections are the same if status, iterations and restarts are, and no entry of the configurations differs by more than
1e-9. Now and then a rounding sends one down another path, so a share is asked for: the exit code is 1 where it is below
`--least`, and the first start that differs is shown. A problem that the compiled engine leaves to the readable one is
named, and not compared.
"""

from __future__ import annotations

import sys
from pathlib import Path

import bench_setup
import numpy as np
from checking import Judge
from problem_files import Skipped, build, read
from projection import SETS

from constraints import Projection, Projector
from constraints.solvers import CompiledEngine, why_not

SAME = 1e-9
"""Largest difference of an entry of two configurations that are the same."""


def are_same(a: Projection, b: Projection) -> bool:
    """Whether two engines did the same with a start."""
    counted = (a.status, a.iterations, a.restarts) == (b.status, b.iterations, b.restarts)
    return counted and bool(np.abs(a.q - b.q).max(initial=0.0) <= SAME)


def compared(path: Path, count: int, seed: int) -> tuple[str, float]:
    """A line on one problem, and the share of starts with which both engines did the same.

    Raises:
        Skipped: a model is not installed.
    """
    file = read(path)
    problem, options = build(file), file.options
    if (why := why_not(problem, options)) is not None:
        return f"{file.name:28} not compared: the compiled engine leaves it to the readable one, {why}", 1.0
    starts = Judge(file.description).starts(count, seed)
    kernels, readable = (
        Projector(problem, options, engine).project_batch(starts) for engine in (CompiledEngine(), "readable")
    )
    same = [are_same(a, b) for a, b in zip(kernels, readable, strict=True)]
    share = sum(same) / max(len(same), 1)
    said = f"{file.name:28} {sum(same):6} of {len(same)} the same ({100 * share:.1f} %)"
    if not all(same):
        i = same.index(False)
        a, b = kernels[i], readable[i]
        said += f"; start {i}: {a.status.name} {a.iterations}, readable {b.status.name} {b.iterations}"
        said += f", apart by {np.abs(a.q - b.q).max():.1e}"
    successes = int(kernels.success.sum()), int(readable.success.sum())
    return f"{said}; solved: {successes[0]}, {successes[1]}", share


def main() -> int:
    parser = bench_setup.command(__doc__, "seed", starts=(1000, "fresh starts a problem"))
    parser.add_argument("problems", nargs="*", type=Path, metavar="PROBLEM.npz")
    parser.add_argument("--set", choices=sorted(SETS), help="where no files are named (all)")
    parser.add_argument("--least", type=float, default=0.99, help="share that must be the same (%(default)s)")
    given = parser.parse_args()
    folders = [SETS[given.set]] if given.set else list(SETS.values())
    shares = list[float]()
    for path in given.problems or [path for folder in folders for path in sorted(folder.glob("*.npz"))]:
        try:
            line, share = compared(path, given.starts, given.seed)
        except Skipped as why:
            print(f"{path}: skipped, {why}", file=sys.stderr)
            continue
        print(line, flush=True)
        shares.append(share)
    if not shares:
        print("no problem was compared", file=sys.stderr)
        return 1
    mean, least = 100 * np.mean(shares), 100 * min(shares)
    print(f"{len(shares)} problems, {given.starts} starts each: {mean:.2f} % the same, least {least:.1f} %")
    return int(min(shares) < given.least)


if __name__ == "__main__":
    sys.exit(main())
