"""Proof at scale: dynamics in minimal coordinates are those of the saddle point, on closed states of every mechanism.

    python benchmarks/reduced_soundness.py --states 1000 [--seed S] [--processes P] [--only NAME ...]
    python benchmarks/reduced_soundness.py --case INDEX [--seed S]

`--states` takes so many random closed states of each built-in mechanism and of each model of `tests/data/mechanisms`:
independent and driven coordinates at random about the closed configuration, the others closed (`coordinates.close`),
random velocities, joint forces, and at every third one a wrench; at every second one a joint is driven, where one can
be. States at which J_v has a reciprocal condition below 1e-6 are near a dead point; they are counted, and left out, as
are those that did not close.

The truth is a dense saddle point from plain pinocchio, with the driven coordinates as rows of their own and the rank
of the coordinates, solved by SVD and refined (`tests/closed_states.py`). Compared with it are accelerations, driven
forces, the forces of the rows, and multipliers where all rows are independent; besides, M_r with the kinetic energy,
the residual with M_r, and inverse dynamics with direct dynamics of its answer. Accelerations, forces of the rows and
multipliers of least norm are compared with those of `forward_dynamics` where nothing is driven. A finding is an error
above 1e-9 (1e-10 for the energy and for the residual with M_r), a status that is none of success, or an exception.
Counted apart are states at which `forward_dynamics` has another rank, since it counts rows that only the digits of a
file make (Cassie's loops are planar up to 1e-8); and those close to a fold of an overconstrained mechanism, at which
the last digit of a closed state decides what redundant rows ask for: the truth there is that of the rows that count.

`--check` is a short run. It prints the largest errors of each mechanism; the exit code is 1 when there are findings.
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
import numpy as np
from closed_mechanisms import ALL
from closed_states import LIMITS, SOUND, LeftOut, Sample, errors_of, samples
from proving import Finding, Progress, Proof, add_common, answers, checked, concluded, on_processes

SIZE = 50
"""Closed states that are one task."""


def of_block(seed: int, name: str, block: int, count: int = SIZE) -> tuple[np.random.Generator, LeftOut, Any]:
    """The random numbers of one task, what it leaves out, and its closed states."""
    rng, out = np.random.default_rng([seed, ALL.index(name), block]), LeftOut()
    return rng, out, samples(name, count, rng, out)


def run_block(seed: int, task: tuple[str, int, int]) -> dict[str, Any]:
    """The closed states of one task: largest errors, statuses, findings as (index, what)."""
    logging.disable(logging.WARNING)
    name, block, count = task
    errors, statuses, findings = dict[str, float](), Counter[str](), list[tuple[int, str]]()
    rng, out, made = of_block(seed, name, block, count)
    i = -1
    try:
        for i, sample in enumerate(made):
            some, status = errors_of(sample, rng)
            statuses[status] += 1
            for what, size in some.items():
                errors[what] = max(errors.get(what, 0.0), size)
                if not size <= LIMITS[what]:
                    findings.append((index_of(name, block, i), f"{name}: {what} is off by {size:.2g}"))
            if status not in SOUND:
                findings.append((index_of(name, block, i), f"{name}: {status}"))
    except Exception as error:
        findings.append((index_of(name, block, max(i, 0)), f"{name}: raised {type(error).__name__}: {error}"))
    return {
        "name": name, "errors": errors, "statuses": statuses, "findings": findings, "open": out.open, "near": out.near,
        "states": sum(statuses.values()),
    }  # fmt: skip


def index_of(name: str, block: int, i: int) -> int:
    """The number of a closed state, by which it is found again."""
    return (block * len(ALL) + ALL.index(name)) * SIZE + i


def states(options: argparse.Namespace) -> Proof:
    """As many closed states of each mechanism as asked for."""
    began, names = time.perf_counter(), options.only or ALL
    tasks = [
        (name, k, min(SIZE, options.states - k * SIZE)) for name in names for k in range(-(-options.states // SIZE))
    ]
    known, progress, findings = dict[str, dict[str, Any]](), Progress(len(tasks)), list[Finding]()
    for one in answers(partial(run_block, options.seed), tasks, options.processes):
        whole = known.setdefault(one["name"], {"errors": {}, "statuses": Counter(), "open": 0, "near": 0, "states": 0})
        for what, size in one["errors"].items():
            whole["errors"][what] = max(whole["errors"].get(what, 0.0), size)
        whole["statuses"].update(one["statuses"])
        for count in ("open", "near", "states"):
            whole[count] += one[count]
        findings += one["findings"]
        progress.one_more()
    lines = list[str]()
    for name, whole in known.items():
        lines.append(
            f"{name}: {whole['states']} states; left out: {whole['near']} near a dead point, {whole['open']} open; "
            + ", ".join(f"{n} {status}" for status, n in whole["statuses"].items())
        )
        lines.append("    " + ", ".join(f"{what} {size:.1e}" for what, size in whole["errors"].items()))
    worst = {what: max(whole["errors"].get(what, 0.0) for whole in known.values()) for what in LIMITS}
    lines.append("largest errors: " + ", ".join(f"{what} {size:.1e}" for what, size in worst.items()))
    total, seconds = sum(whole["states"] for whole in known.values()), time.perf_counter() - began
    lines.append(
        f"{total} closed states of {len(known)} mechanisms (seed {options.seed}): {len(findings)} findings; "
        f"{seconds:.0f} s {on_processes(options.processes)}"
    )
    return lines, findings, {"states": total, "seed": options.seed, "mechanisms": known, "worst": worst}


def show(options: argparse.Namespace) -> int:
    """One closed state again, in full."""
    number, i = divmod(options.case, SIZE)
    block, which = divmod(number, len(ALL))
    rng, _, made = of_block(options.seed, ALL[which], block)
    for _, sample in zip(range(i), made, strict=False):
        errors_of(sample, rng)
    sample: Sample = next(made)
    errors, status = errors_of(sample, rng)
    state = sample.state
    print(f"{ALL[which]}, reciprocal condition of J_v {state.lu.rcond:.2g}\n{state.coordinates}\nq {state.q}")
    print(f"{status}\n" + "\n".join(f"  {what} {size:.2e}" for what, size in errors.items()))
    return int(any(not size <= LIMITS[what] for what, size in errors.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, metavar="N", help="take N closed states of each mechanism")
    parser.add_argument("--only", nargs="+", choices=ALL, metavar="NAME", help="of these mechanisms alone")
    add_common(parser, "closed state", shown=30)
    options = checked(parser, {"states": 10})
    logging.disable(logging.WARNING)
    return show(options) if options.case is not None else concluded(options, [("--case", lambda: states(options))])


if __name__ == "__main__":
    sys.exit(main())
