"""Proof at scale: no projection claims what does not hold, and no bad input gets past the doors.

    python benchmarks/soundness.py --projections 1000000 [--engine compiled] [--seed S] [--processes P] [--log FILE]
    python benchmarks/soundness.py --fuzz 10000 [--seed S] [--processes P]
    python benchmarks/soundness.py --case INDEX [--seed S]

`--projections` runs the problems of the benchmark and random constraints on five random trees that have every joint
type (`soundness_blocks.py`), from good starts and bad ones, within reach and out of it. A finding is: a reported
success whose error, measured by plain pinocchio, is above the threshold, or that leaves its bounds, or whose unit
vectors are not; an exception; a number that is none; a changed input; a frozen joint that moved; a residual that is not
that of the result; a solution that does not come back bit for bit when it is projected again; a result that depends on
what was projected before. The figures depend on the seed alone. With `--log` finished blocks are written to a file, and
read from it when the same command runs again.

`--fuzz` breaks one argument of a public entry point at random (`tests/fuzz.py`): each call must end in a
`ConstraintError` that names the culprit and says what was expected.

Each prints one line of figures; the exit code is 1 when there are findings, with a line and the command that repeats it
for each.
"""

# ruff: noqa: E402  # the number of threads is set before numpy is imported
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import json
import logging
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from soundness_blocks import ENGINES, SIZE, faults, forgetful, make_block, missing

from constraints import Status, __version__

Answer = dict[str, Any]

TESTS = Path(__file__).resolve().parent.parent / "tests"
FUZZ_CHUNK = 100
SHOWN = 20
"""Findings that are printed one by one."""


# Work of one process.


def run_block(seed: int, engine: str, task: tuple[int, int]) -> Answer:
    """Project the first rows of a block: counts by status, and findings as (index, what)."""
    number, rows = task
    logging.disable(logging.WARNING)
    answer: Answer = {"block": number, "rows": rows, "statuses": {}, "findings": []}
    try:
        block = make_block(seed, number, engine)
    except Exception as error:
        answer["findings"].append([number * SIZE, f"building block {number} raised {type(error).__name__}: {error}"])
        return answer
    statuses = Counter[str]()
    for i in range(rows):
        status, found = faults(block, i)
        statuses[status] += 1
        answer["findings"] += [[number * SIZE + i, f"{block.name}, start {block.kinds[i]}: {what}"] for what in found]
    i = number % rows
    answer["findings"] += [
        [number * SIZE + i, f"{block.name}: {what}"] for what in forgetful(seed, number, block, i, engine)
    ]
    answer["statuses"] = dict(sorted(statuses.items()))
    return answer


def run_fuzz(seed: int, task: tuple[int, int]) -> Answer:
    """Try some bad inputs: findings as (number, what), and the entry points that were met."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    from fuzz import bad_input, verdict

    logging.disable(logging.WARNING)
    first, count = task
    answer: Answer = {"block": first, "rows": count, "entries": [], "findings": []}
    entries = set[str]()
    for number in range(first, first + count):
        try:
            bad = bad_input(seed, number)
        except Exception as error:
            answer["findings"].append([number, f"making the input raised {type(error).__name__}: {error}"])
            continue
        entries.add(bad.entry)
        said = verdict(bad)
        if said is not None:
            answer["findings"].append([number, f"{bad.label}: {said}"])
    answer["entries"] = sorted(entries)
    return answer


def answers(work: Callable[[Any], Answer], tasks: list[tuple[int, int]], processes: int) -> Iterator[Answer]:
    """The answers of all tasks, in order."""
    if processes == 1:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, tasks, chunksize=max(1, min(8, len(tasks) // (4 * processes))))


# The commands.


def projections(options: argparse.Namespace) -> tuple[str, list[Any], Answer]:
    """Project as many configurations as asked for: the line of figures, the findings, the figures."""
    count, began = options.projections, time.perf_counter()
    tasks = [(k, min(SIZE, count - k * SIZE)) for k in range(-(-count // SIZE))]
    log = (
        None
        if options.log is None
        else Log(options.log, {"seed": options.seed, "engine": options.engine, "size": SIZE, "version": __version__})
    )
    known = [] if log is None else [answer for task in tasks if (answer := log.found.get(task)) is not None]
    done = {(answer["block"], answer["rows"]) for answer in known}
    left = [task for task in tasks if task not in done]
    said = 0
    for k, answer in enumerate(answers(partial(run_block, options.seed, options.engine), left, options.processes)):
        known.append(answer)
        if log is not None:
            log.write(answer)
        if 10 * (k + 1) // len(left) > said:
            said = 10 * (k + 1) // len(left)
            print(f"{10 * said} % after {time.perf_counter() - began:.0f} s", file=sys.stderr)
    known.sort(key=lambda answer: answer["block"])
    statuses = sum((Counter(answer["statuses"]) for answer in known), Counter[str]())
    findings = [finding for answer in known for finding in answer["findings"]]
    seconds = time.perf_counter() - began
    counted = ", ".join(f"{statuses[name]} {name.lower()}" for name in [s.name for s in Status] if statuses[name])
    resumed = f", {len(done)} of {len(tasks)} blocks read from {options.log}" if done else ""
    line = (
        f"{sum(statuses.values())} projections (seed {options.seed}): {counted}; {len(findings)} findings; "
        f"{seconds:.0f} s on {options.processes} process{'es' * (options.processes > 1)}{resumed}"
    )
    figures = {"projections": sum(statuses.values()), "seed": options.seed, "statuses": dict(statuses)}
    return line, findings, figures | {"findings": len(findings), "seconds": seconds, "processes": options.processes}


def fuzz(options: argparse.Namespace) -> tuple[str, list[Any], Answer]:
    """Try as many bad inputs as asked for."""
    count, began = options.fuzz, time.perf_counter()
    tasks = [(first, min(FUZZ_CHUNK, count - first)) for first in range(0, count, FUZZ_CHUNK)]
    known = list(answers(partial(run_fuzz, options.seed), tasks, options.processes))
    findings = [finding for answer in known for finding in answer["findings"]]
    entries = {entry for answer in known for entry in answer["entries"]}
    seconds = time.perf_counter() - began
    line = (
        f"{count} bad inputs (seed {options.seed}) at {len(entries)} entry points: {count - len(findings)} refused by "
        f"name; {len(findings)} findings; {seconds:.0f} s on {options.processes} process"
        f"{'es' * (options.processes > 1)}"
    )
    figures = {"bad_inputs": count, "seed": options.seed, "entry_points": len(entries)}
    return line, findings, figures | {"findings": len(findings), "seconds": seconds, "processes": options.processes}


def show(options: argparse.Namespace) -> int:
    """One projection again, in full."""
    number, i = divmod(options.case, SIZE)
    block = make_block(options.seed, number, options.engine)
    print(f"{block.name}; start {i} ({block.kinds[i]}); {block.projector.options}")
    print(block.projector.problem.describe())
    print(f"q0 = {block.starts[i].tolist()}")
    try:
        result = block.project(block.starts[i])
        print(f"q = {result.q.tolist()}\n{result}\nmeasured error {block.measure(result.q)[0]:.9g}")
    except Exception as error:
        print(f"raised {type(error).__name__}: {error}")
    found = [*faults(block, i)[1], *(forgetful(options.seed, number, block, i, options.engine))]
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
    parser.add_argument("--case", type=int, metavar="INDEX", help="repeat one projection, and say all about it")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of everything that is random (%(default)s)")
    parser.add_argument("--engine", choices=sorted(ENGINES), default="readable", help="what solves (%(default)s)")
    parser.add_argument("--processes", type=int, default=1, metavar="P", help="that share the work (%(default)s)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="keep finished blocks there, and go on from them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--check", action="store_true", help="a short run of both")
    options = parser.parse_args()
    if options.check:
        options.projections, options.fuzz = options.projections or 2000, options.fuzz or 300
    if options.projections is None and options.fuzz is None and options.case is None:
        parser.error("nothing to do: give --projections N, --fuzz N, or --case INDEX")
    for name, least in (("projections", 1), ("fuzz", 1), ("case", 0), ("seed", 0), ("processes", 1)):
        if getattr(options, name) is not None and getattr(options, name) < least:
            parser.error(f"--{name}: expected a whole number from {least}, got {getattr(options, name)}")
    return options


def main() -> int:
    options = arguments()
    logging.disable(logging.WARNING)  # remarks on the robots' files
    absent = missing() if options.projections or options.case is not None else None
    if absent is not None:
        print(f"the problems of the benchmark cannot be built: {absent}", file=sys.stderr)
        return 2
    if options.case is not None:
        return show(options)
    figures: list[Answer] = []
    count = 0
    for wanted, run, flag in ((options.projections, projections, "--case"), (options.fuzz, fuzz, "number")):
        if wanted is None:
            continue
        try:
            line, findings, some = run(options)
        except WrongLog as error:
            print(error, file=sys.stderr)
            return 2
        for index, what in findings[:SHOWN]:
            print(f"FOUND {what} (repeat: --engine {options.engine} --seed {options.seed} {flag} {index})")
        print(line)
        figures.append(some)
        count += len(findings)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
