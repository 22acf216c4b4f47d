"""Proof at scale: no projection claims what does not hold, and no bad input gets past the doors.

    python benchmarks/soundness.py --projections 1000000 [--engine compiled] [--seed S] [--processes P] [--log FILE]
    python benchmarks/soundness.py --fuzz 10000 [--seed S] [--processes P]
    python benchmarks/soundness.py --case INDEX [--seed S]

`--projections` runs the problems of the benchmark and random constraints on five random trees that have every joint
type (`soundness_blocks.py`), from good starts and bad ones, within reach and out of it. A third of the results are
those of batches in which both kinds of starts stand beside each other, the others those of single calls. A finding is
(`soundness_faults.py`): a reported success whose error, measured by plain pinocchio, is above the threshold, or that
leaves its bounds, or whose unit vectors are not; an exception; a number that is none; a changed input; a frozen joint
that moved; a residual that is not that of the result; a start that is a solution, or a solution that is projected
again, and does not come back bit for bit; a single call that has not the bits of its row in a batch; a result that
depends on what was projected before (asked of one start of each block, with the compiled engine of every third). The
figures depend on the seed alone. With `--log` finished blocks are written to a file, and read from it when the same
command runs again.

`--fuzz` gives each argument of the public entry points badly, at random (`tests/fuzz.py`): each call must end in a
`ConstraintError` that names the culprit and says what was expected. As many files of each format are broken by their
structure (`tests/broken_structures.py`): each must end in a result or in a typed error, in time.

`--check` is a short run of both. Each prints one line of figures; the exit code is 1 when there are findings, with a
line and the command that repeats it for each.
"""

from __future__ import annotations

import contextlib
import json
import sys
from argparse import Namespace
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import bench_setup  # noqa: F401
from proving import NotRun, Part, Proof, Tally, answers, bad_inputs, broken_files, parser_of, prove
from soundness_blocks import SIZES, make_block, missing, rows_of
from soundness_faults import faults, forgetful

from constraints import Status, __version__


def run_block(seed: int, engine: str, task: tuple[int, int]) -> Tally:
    """Project the first rows of a block: counts by status, and findings as (index, what)."""
    number, rows = task
    first, tally = number * SIZES[engine], Tally()
    try:
        block = make_block(seed, number, engine)
    except Exception as error:
        tally.findings.append([first, f"building block {number} raised {type(error).__name__}: {error}"])
        return tally
    tally.counts, found = faults(block, rows)
    if engine == "readable" or number % 3 == 0:  # a block is made anew in a fifth of the time of its projections
        i = number % rows
        found += [(i, what) for what in forgetful(seed, number, block, i, engine)]
    tally.findings += [[first + i, f"{block.name}, start {block.kinds[i]}: {what}"] for i, what in found]
    return tally


def projections(options: Namespace) -> Proof:
    """Project as many configurations as asked for."""
    files_are_there()
    tasks, left = list[tuple[int, int]](), options.projections
    while left:
        number = len(tasks)
        tasks.append((number, min(left, rows_of(number, options.engine))))
        left -= tasks[-1][1]
    run = {"seed": options.seed, "engine": options.engine, "size": SIZES[options.engine], "version": __version__}
    known = {} if options.log is None else logged(options.log, run)
    done = [known[task] for task in tasks if task in known]
    new = [task for task in tasks if task not in known]
    whole = Tally.of(done)
    for task, tally in zip(
        new, answers(partial(run_block, options.seed, options.engine), new, options.processes), strict=True
    ):
        whole.add(tally)
        if options.log is not None:
            with options.log.open("a") as file:
                file.write("\n" + json.dumps([task, tally.counts, tally.findings]))
    statuses, total = whole.counts, sum(whole.counts.values())
    counted = ", ".join(f"{statuses[s.name]} {s.name.lower()}" for s in Status if statuses[s.name])
    return Proof(
        f"{total} projections (seed {options.seed}): {counted}; ", sorted(whole.findings, key=lambda one: one[0]),
        {"projections": total, "statuses": dict(statuses)},
        after=f", {len(done)} of {len(tasks)} blocks read from {options.log}" if done else "",
    )  # fmt: skip


def files_are_there() -> None:
    """Raises NotRun where the problems of the benchmark cannot be built."""
    if (absent := missing()) is not None:
        raise NotRun(f"the problems of the benchmark cannot be built: {absent}")


def show(options: Namespace) -> int:
    """One projection again, in full."""
    files_are_there()
    number, i = divmod(options.case, SIZES[options.engine])
    if i >= rows_of(number, options.engine):
        raise NotRun(f"--case: block {number} has {rows_of(number, options.engine)} starts, no start {i}")
    block = make_block(options.seed, number, options.engine)
    print(f"{block.name}; start {i} ({block.kinds[i]}); {block.projector.options}")
    print(block.projector.problem.describe())
    print(f"q0 = {block.starts[i].tolist()}")
    try:
        result = block.project(block.starts[i])
        print(f"q = {result.q.tolist()}\n{result}\nmeasured error {block.measure(result.q[None])[0][0]:.9g}")
    except Exception as error:
        print(f"raised {type(error).__name__}: {error}")
    found = [what for row, what in faults(block)[1] if row == i]
    found += forgetful(options.seed, number, block, i, options.engine)
    print("\n".join(found) or "nothing is wrong with it")
    return int(bool(found))


def logged(path: Path, run: dict[str, Any]) -> dict[tuple[int, int], Tally]:
    """Blocks in a file, a JSON text a line, after a first line that says what they belong to; begins the file.

    Raises:
        NotRun: the file belongs to another run.
    """
    if not path.exists():
        path.write_text(json.dumps(run))
    first, *lines = path.read_text().splitlines()
    if json.loads(first) != run:
        raise NotRun(f"{path} belongs to another run, {first}; this one is {json.dumps(run)}")
    found = dict[tuple[int, int], Tally]()
    for line in lines:
        with contextlib.suppress(ValueError):  # the last line of a run that was stopped
            task, counts, findings = json.loads(line)
            found[tuple(task)] = Tally(Counter(counts), findings=findings)
    return found


FUZZ = (partial(bad_inputs, (), "fuzz"), partial(broken_files, "fuzz"))
PARTS = (
    Part("projections", "configurations that are projected", 1000, "--case", (projections,)),
    Part("fuzz", "bad inputs, and files of broken structure", 100, "number", FUZZ),
)


def main() -> int:
    parser = parser_of(__doc__, PARTS, "projection")
    parser.add_argument("--log", type=Path, metavar="FILE", help="keep finished blocks there, and go on from them")
    parser.add_argument("--engine", choices=sorted(SIZES), default="readable", help="what solves (%(default)s)")
    return prove(parser, PARTS, show)


if __name__ == "__main__":
    sys.exit(main())
