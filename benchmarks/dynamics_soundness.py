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
(`dynamics_checks.py`). Ranks are those of the rows as they are, singular values above 1e-6 of the largest; states
with one within a factor of ten of that are counted apart, with what their answers miss.

`--bad` breaks one argument of a public entry point of dynamics at random (`tests/dynamics_fuzz.py`): each call must end
in a `ConstraintError` that names the culprit and says what was expected.

`--check` is a short run of both. Each prints figures; the exit code is 1 when there are findings, with a line and the
command that repeats it for each.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from functools import partial
from typing import Any

import bench_setup  # noqa: F401
from dynamics_blocks import SIZE, make_block
from dynamics_checks import METHODS, answer_of
from proving import Finding, Progress, Proof, add_common, answers, bad_inputs, checked, concluded, on_processes

TENTH = 10
"""Of so many states one is compared with 50 digits."""


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


def states(options: argparse.Namespace) -> Proof:
    """Solve as many states as asked for."""
    began, blocks = time.perf_counter(), -(-options.states // SIZE)
    statuses, near, errors, exact = Counter[str](), Counter[str](), dict[str, float](), 0
    findings, missed, progress = list[Finding](), list[Finding](), Progress(blocks)
    for one in answers(partial(run_block, options.seed), range(blocks), options.processes):
        statuses, near, exact = statuses + Counter(one["statuses"]), near + Counter(one["near"]), exact + one["exact"]
        findings, missed = findings + one["findings"], missed + one["missed"]
        for method, size in one["errors"].items():
            errors[method] = max(errors.get(method, 0.0), size)
        progress.one_more()
    lines = list[str]()
    for title, counts in (("states", statuses), ("near a loss of rank", near)):
        for method in METHODS:
            own = {key.split()[1]: n for key, n in sorted(counts.items()) if key.split()[0] == method.name}
            if own:
                lines.append(f"{title}, {method.name}: " + ", ".join(f"{n} {word}" for word, n in own.items()))
    total = sum(n for key, n in (statuses + near).items() if key.startswith("AUTOMATIC "))
    full = sum(n for key, n in (statuses + near).items() if key == "AUTOMATIC SOLVED")
    worst = ", ".join(f"{method} {size:.3g}" for method, size in errors.items())
    lines.append(f"error against 50 digits at {exact} states, in eps x condition: {worst}")
    lines.append(f"near a loss of rank: {len(missed)} answers miss what is asked of the others")
    for index, what in missed[: options.shown] if options.near else []:
        lines.append(f"NEAR {what} (repeat: --seed {options.seed} --case {index})")
    seconds = time.perf_counter() - began
    lines.append(
        f"{total} states (seed {options.seed}): {100.0 * full / max(total, 1):.1f} % of full rank, {len(findings)} "
        f"findings; {seconds:.0f} s {on_processes(options.processes)}"
    )
    figures = {"states": total, "seed": options.seed, "statuses": statuses, "near": near, "exact_states": exact}
    return (
        lines,
        findings,
        figures | {"errors": errors, "full_rank": full, "findings": len(findings), "seconds": seconds},
    )


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
    parser.add_argument("--near", action="store_true", help="list what is missed near a loss of rank")
    add_common(parser, "state", shown=30)
    return checked(parser, {"states": 400, "bad": 300})


def main() -> int:
    options = arguments()
    logging.disable(logging.WARNING)
    if options.case is not None:
        return show(options)
    proofs = [("--case", lambda: states(options))] if options.states else []
    if options.bad:
        proofs.append(("number", lambda: bad_inputs("dynamics_fuzz", options.bad, options.seed, options.processes)))
    return concluded(options, proofs)


if __name__ == "__main__":
    sys.exit(main())
