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

`--fuzz` breaks one argument of a public entry point at random (`tests/fuzz.py`): each call must end in a
`ConstraintError` that names the culprit and says what was expected. As many files of each format are broken by their
structure (`tests/broken_structures.py`): each must end in a result or in a typed error, in time.

`--check` is a short run of both. Each prints one line of figures; the exit code is 1 when there are findings, with a
line and the command that repeats it for each.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import bench_setup  # noqa: F401
from proving import (
    Answer,
    Finding,
    Progress,
    Proof,
    add_common,
    answers,
    bad_inputs,
    broken_files,
    checked,
    concluded,
    on_processes,
)
from soundness_blocks import SIZES, make_block, missing, rows_of
from soundness_faults import faults, forgetful

from constraints import Status, __version__


def run_block(seed: int, engine: str, task: tuple[int, int]) -> Answer:
    """Project the first rows of a block: counts by status, and findings as (index, what)."""
    number, rows = task
    logging.disable(logging.WARNING)
    answer: Answer = {"block": number, "rows": rows, "statuses": {}, "findings": []}
    first = number * SIZES[engine]
    try:
        block = make_block(seed, number, engine)
    except Exception as error:
        answer["findings"].append([first, f"building block {number} raised {type(error).__name__}: {error}"])
        return answer
    statuses, found = faults(block, rows)
    if engine == "readable" or number % 3 == 0:  # a block is made anew in a fifth of the time of its projections
        i = number % rows
        found += [(i, what) for what in forgetful(seed, number, block, i, engine)]
    answer["findings"] += [[first + i, f"{block.name}, start {block.kinds[i]}: {what}"] for i, what in found]
    answer["statuses"] = dict(sorted(statuses.items()))
    return answer


def projections(options: argparse.Namespace) -> Proof:
    """Project as many configurations as asked for."""
    count, began = options.projections, time.perf_counter()
    tasks, left = list[tuple[int, int]](), count
    while left:
        number = len(tasks)
        tasks.append((number, min(left, rows_of(number, options.engine))))
        left -= tasks[-1][1]
    log = (
        None
        if options.log is None
        else Log(
            options.log,
            {"seed": options.seed, "engine": options.engine, "size": SIZES[options.engine], "version": __version__},
        )
    )
    known = [] if log is None else [answer for task in tasks if (answer := log.found.get(task)) is not None]
    done = {(answer["block"], answer["rows"]) for answer in known}
    new = [task for task in tasks if task not in done]
    progress = Progress(len(new))
    for answer in answers(partial(run_block, options.seed, options.engine), new, options.processes):
        known.append(answer)
        if log is not None:
            log.write(answer)
        progress.one_more()
    known.sort(key=lambda answer: answer["block"])
    statuses = sum((Counter(answer["statuses"]) for answer in known), Counter[str]())
    findings: list[Finding] = [finding for answer in known for finding in answer["findings"]]
    seconds = time.perf_counter() - began
    counted = ", ".join(f"{statuses[name]} {name.lower()}" for name in [s.name for s in Status] if statuses[name])
    resumed = f", {len(done)} of {len(tasks)} blocks read from {options.log}" if done else ""
    line = (
        f"{sum(statuses.values())} projections (seed {options.seed}): {counted}; {len(findings)} findings; "
        f"{seconds:.0f} s {on_processes(options.processes)}{resumed}"
    )
    figures = {"projections": sum(statuses.values()), "seed": options.seed, "statuses": dict(statuses)}
    return [line], findings, figures | {"findings": len(findings), "seconds": seconds, "processes": options.processes}


def show(options: argparse.Namespace) -> int:
    """One projection again, in full."""
    number, i = divmod(options.case, SIZES[options.engine])
    if i >= rows_of(number, options.engine):
        print(f"--case: block {number} has {rows_of(number, options.engine)} starts, no start {i}", file=sys.stderr)
        return 2
    block = make_block(options.seed, number, options.engine)
    print(f"{block.name}; start {i} ({block.kinds[i]}); {block.projector.options}")
    print(block.projector.problem.describe())
    print(f"q0 = {block.starts[i].tolist()}")
    try:
        result = block.project(block.starts[i])
        print(f"q = {result.q.tolist()}\n{result}\nmeasured error {block.measure(result.q[None])[0][0]:.9g}")
    except Exception as error:
        print(f"raised {type(error).__name__}: {error}")
    found = [
        *(what for row, what in faults(block)[1] if row == i),
        *(forgetful(options.seed, number, block, i, options.engine)),
    ]
    print("\n".join(found) or "nothing is wrong with it")
    return int(bool(found))


class WrongLog(Exception):
    """A file of another run."""


class Log:
    """Answers in a file, a JSON object a line, after a first line that says what they belong to.

    Raises:
        WrongLog: the file belongs to another run.
    """

    def __init__(self, path: Path, what: Answer) -> None:
        self._path = path
        self.found: dict[tuple[int, int], Answer] = {}
        if not path.exists():
            path.write_text(json.dumps(what) + "\n")
            return
        first, *lines = path.read_text().splitlines()
        if json.loads(first) != what:
            raise WrongLog(f"{path} belongs to another run, {first}; this one is {json.dumps(what)}")
        for line in lines:
            try:
                answer = json.loads(line)
            except ValueError:  # the last line of a run that was stopped
                continue
            self.found[answer["block"], answer["rows"]] = answer
        path.write_text("\n".join([first, *map(json.dumps, self.found.values())]) + "\n")

    def write(self, answer: Answer) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(answer) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projections", type=int, metavar="N", help="project N configurations")
    parser.add_argument("--fuzz", type=int, metavar="N", help="try N bad inputs")
    parser.add_argument("--log", type=Path, metavar="FILE", help="keep finished blocks there, and go on from them")
    parser.add_argument("--engine", choices=sorted(SIZES), default="readable", help="what solves (%(default)s)")
    add_common(parser, "projection", shown=20)
    return checked(parser, {"projections": 1000, "fuzz": 100})


def main() -> int:
    options = arguments()
    logging.disable(logging.WARNING)  # remarks on the robots' files
    absent = missing() if options.projections or options.case is not None else None
    if absent is not None:
        print(f"the problems of the benchmark cannot be built: {absent}", file=sys.stderr)
        return 2
    if options.case is not None:
        return show(options)
    proofs = [("--case", lambda: projections(options))] if options.projections else []
    if options.fuzz:
        proofs.append(("number", lambda: bad_inputs("fuzz", options.fuzz, options.seed, options.processes)))
        proofs.append(("number", lambda: broken_files(options.fuzz, options.seed, options.processes)))
    try:
        return concluded(options, proofs)
    except WrongLog as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
