"""Proof at scale: constrained dynamics say nothing that does not hold, and no bad input gets past the doors.

    python benchmarks/dynamics_soundness.py --states 100000 [--seed S] [--processes P]
    python benchmarks/dynamics_soundness.py --bad 10000 [--seed S] [--processes P]
    python benchmarks/dynamics_soundness.py --case INDEX [--seed S]

`--states` solves forward dynamics at random states by every method that takes the set, and an impact by one of them:
random trees of every joint type, some without mass, some with their branches mixed up; closures of every hinge, rods,
contacts in both forms and axes, the centre of mass, one-sided places; repeated and contradicting rows; chains stretched
up to a straight line; stabilisation, external forces, wanted accelerations, constraints that are off
(`dynamics_blocks.py`). A finding is: a success that misses one of the two equations by more than 1e-9 of its terms; a
rank, an INCONSISTENT or a SINGULAR status that an SVD of the plain rows does not confirm; at every tenth state an error
of more than 1e3 eps times the condition against a solution with 50 digits; an exception; a number that is none
(`dynamics_checks.py`). States with a singular value between 1e-9 and 1e-5 of the largest are counted apart, with what
their answers miss.

`--bad` breaks one argument of a public entry point of dynamics at random (`tests/dynamics_fuzz.py`): each call must end
in a `ConstraintError` that names the culprit and says what was expected.

Each prints figures; the exit code is 1 when there are findings, with a line and the command that repeats it for each.
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

from dynamics_blocks import SIZE, make_block
from dynamics_checks import METHODS, answer_of

TESTS = Path(__file__).resolve().parent.parent / "tests"
CHUNK, SHOWN, TENTH = 100, 30, 10


def run_block(seed: int, number: int) -> dict[str, Any]:
    """All states of one block: counts by method and status, findings as (index, what), errors and near ones."""
    logging.disable(logging.WARNING)
    statuses, near, errors = Counter[str](), Counter[str](), dict[str, float]()
    findings: list[tuple[int, str]] = []
    missed: list[tuple[int, str]] = []
    exact = 0
    try:
        block = make_block(seed, number)
    except Exception as error:
        findings.append((number * SIZE, f"building block {number} raised {type(error).__name__}: {error}"))
        return {"statuses": {}, "near": {}, "findings": findings, "missed": [], "errors": {}, "exact": 0, "kind": ""}
    for i in range(SIZE):
        index = number * SIZE + i
        try:
            answer = answer_of(block, i, index % TENTH == number % TENTH)
        except Exception as error:
            findings.append((index, f"{block.name}: raised {type(error).__name__}: {error}"))
            continue
        for method, status in answer.statuses.items():
            (near if answer.near else statuses)[f"{method} {status}"] += 1
        exact += bool(answer.errors)
        for method, size in answer.errors.items():
            errors[method] = max(errors.get(method, 0.0), size)
        findings += [(index, f"{block.name}: {what}") for what in answer.faults]
        missed += [(index, f"{block.name}: {what}") for what in answer.near_faults]
    return {
        "statuses": statuses, "near": near, "findings": findings, "missed": missed, "errors": errors, "exact": exact,
        "kind": block.kind,
    }  # fmt: skip


def run_bad(seed: int, first: int) -> list[tuple[int, str]]:
    """Some bad inputs: findings as (number, what)."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    from dynamics_fuzz import bad_input
    from fuzz import verdict

    logging.disable(logging.WARNING)
    findings: list[tuple[int, str]] = []
    for number in range(first, first + CHUNK):
        try:
            bad = bad_input(seed, number)
            said = verdict(bad)
        except Exception as error:
            findings.append((number, f"making the input raised {type(error).__name__}: {error}"))
            continue
        if said is not None:
            findings.append((number, f"{bad.label}: {said}"))
    return findings


def answers(work: Callable[[int], Any], tasks: range, processes: int) -> Iterator[Any]:
    """The answers of all tasks, in order."""
    if processes == 1:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, tasks, chunksize=max(1, min(8, len(tasks) // (4 * processes))))


def states(options: argparse.Namespace) -> tuple[list[tuple[int, str]], dict[str, Any]]:
    """Solve as many states as asked for, and print the figures."""
    began, blocks = time.perf_counter(), -(-options.states // SIZE)
    statuses, near, errors, exact = Counter[str](), Counter[str](), dict[str, float](), 0
    findings, missed, said = list[tuple[int, str]](), list[tuple[int, str]](), 0
    for k, one in enumerate(answers(partial(run_block, options.seed), range(blocks), options.processes)):
        statuses, near, exact = statuses + Counter(one["statuses"]), near + Counter(one["near"]), exact + one["exact"]
        findings, missed = findings + one["findings"], missed + one["missed"]
        for method, size in one["errors"].items():
            errors[method] = max(errors.get(method, 0.0), size)
        if 10 * (k + 1) // blocks > said:
            said = 10 * (k + 1) // blocks
            print(f"{10 * said} % after {time.perf_counter() - began:.0f} s", file=sys.stderr)
    for title, counts in (("states", statuses), ("near a loss of rank", near)):
        for method in METHODS:
            own = {key.split()[1]: n for key, n in sorted(counts.items()) if key.split()[0] == method.name}
            if own:
                print(f"{title}, {method.name}: " + ", ".join(f"{n} {word}" for word, n in own.items()))
    total = sum(n for key, n in (statuses + near).items() if key.startswith("AUTOMATIC "))
    full = sum(n for key, n in (statuses + near).items() if key == "AUTOMATIC SOLVED")
    worst = ", ".join(f"{method} {size:.3g}" for method, size in errors.items())
    print(f"error against 50 digits at {exact} states, in eps x condition: {worst}")
    print(f"near a loss of rank: {len(missed)} answers miss what is asked of the others")
    for index, what in missed[: options.shown] if options.near else []:
        print(f"NEAR {what} (repeat: --seed {options.seed} --case {index})")
    seconds = time.perf_counter() - began
    print(
        f"{total} states (seed {options.seed}): {100.0 * full / max(total, 1):.1f} % of full rank, {len(findings)} "
        f"findings; {seconds:.0f} s on {options.processes} process{'es' * (options.processes > 1)}"
    )
    figures = {"states": total, "seed": options.seed, "statuses": statuses, "near": near, "exact_states": exact}
    return findings, figures | {"errors": errors, "full_rank": full, "findings": len(findings), "seconds": seconds}


def bad(options: argparse.Namespace) -> tuple[list[tuple[int, str]], dict[str, Any]]:
    """Try as many bad inputs as asked for."""
    began = time.perf_counter()
    tasks = range(0, options.bad, CHUNK)
    found = [one for some in answers(partial(run_bad, options.seed), tasks, options.processes) for one in some]
    seconds, count = time.perf_counter() - began, len(tasks) * CHUNK
    print(f"{count} bad inputs (seed {options.seed}): {count - len(found)} refused by name; {len(found)} findings; "
          f"{seconds:.0f} s")  # fmt: skip
    return found, {"bad_inputs": count, "seed": options.seed, "findings": len(found), "seconds": seconds}


def show(options: argparse.Namespace) -> int:
    """One state again, in full."""
    number, i = divmod(options.case, SIZE)
    block = make_block(options.seed, number)
    print(f"{block.name}: {block.constraint_set!r}\n{block.states[i]}")
    answer = answer_of(block, i, True)
    found = answer.faults + answer.near_faults
    print(f"{answer.statuses}\n{answer.errors}\n" + ("\n".join(found) or "nothing is wrong with it"))
    return int(bool(answer.faults))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, metavar="N", help="solve N random states")
    parser.add_argument("--bad", type=int, metavar="N", help="try N bad inputs")
    parser.add_argument("--case", type=int, metavar="INDEX", help="repeat one state, and say all about it")
    parser.add_argument("--near", action="store_true", help="list what is missed near a loss of rank")
    parser.add_argument("--shown", type=int, default=SHOWN, metavar="N", help="findings in full (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of everything that is random (%(default)s)")
    parser.add_argument("--processes", type=int, default=1, metavar="P", help="that share the work (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--check", action="store_true", help="a short run of both")
    options = parser.parse_args()
    if options.check:
        options.states, options.bad = options.states or 400, options.bad or 300
    if options.states is None and options.bad is None and options.case is None:
        parser.error("nothing to do: give --states N, --bad N, or --case INDEX")
    for name, least in (("states", 1), ("bad", 1), ("case", 0), ("seed", 0), ("processes", 1)):
        if getattr(options, name) is not None and getattr(options, name) < least:
            parser.error(f"--{name}: expected a whole number from {least}, got {getattr(options, name)}")
    return options


def main() -> int:
    options = arguments()
    logging.disable(logging.WARNING)
    if options.case is not None:
        return show(options)
    figures: list[dict[str, Any]] = []
    count = 0
    for wanted, run, flag in ((options.states, states, "--case"), (options.bad, bad, "number")):
        if wanted is None:
            continue
        findings, some = run(options)
        for index, what in findings[: options.shown]:
            print(f"FOUND {what} (repeat: --seed {options.seed} {flag} {index})")
        figures.append(some)
        count += len(findings)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
