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

import sys
from argparse import Namespace
from collections import Counter
from functools import partial
from typing import Any

import bench_setup  # noqa: F401
import numpy as np
from closed_mechanisms import ALL
from closed_states import LIMITS, SOUND, LeftOut, Sample, errors_of, samples
from proving import Part, Proof, Tally, answers, parser_of, prove

SIZE = 50
"""Closed states that are one task."""


def of_block(seed: int, name: str, block: int, count: int = SIZE) -> tuple[np.random.Generator, LeftOut, Any]:
    """The random numbers of one task, what it leaves out, and its closed states."""
    rng, out = np.random.default_rng([seed, ALL.index(name), block]), LeftOut()
    return rng, out, samples(name, count, rng, out)


def run_block(seed: int, task: tuple[str, int, int]) -> tuple[str, Tally]:
    """The closed states of one task: largest errors, statuses, findings as (index, what)."""
    name, block, count = task
    tally = Tally()
    rng, out, made = of_block(seed, name, block, count)
    index = first = (block * len(ALL) + ALL.index(name)) * SIZE
    try:
        for index, sample in enumerate(made, first):
            some, status = errors_of(sample, rng)
            tally.counts[status] += 1
            tally.met(some)
            wrong = [f"{what} is off by {size:.2g}" for what, size in some.items() if not size <= LIMITS[what]]
            wrong += [] if status in SOUND else [status]
            tally.findings += [(index, f"{name}: {what}") for what in wrong]
    except Exception as error:
        tally.findings.append((index, f"{name}: raised {type(error).__name__}: {error}"))
    tally.counts += Counter({"open": out.open, "near a dead point": out.near})
    return name, tally


def states(options: Namespace) -> Proof:
    """As many closed states of each mechanism as asked for."""
    names = options.only or ALL
    sizes = [min(SIZE, options.states - first) for first in range(0, options.states, SIZE)]
    tasks = [(name, k, size) for name in names for k, size in enumerate(sizes)]
    known = {name: Tally() for name in names}
    for name, tally in answers(partial(run_block, options.seed), tasks, options.processes):
        known[name].add(tally)
    whole, lines, figures = Tally.of(known.values()), list[str](), dict[str, Any]()
    for name, tally in known.items():
        near, opened = (tally.counts.pop(word, 0) for word in ("near a dead point", "open"))
        count = sum(tally.counts.values())
        ended = ", ".join(f"{n} {status}" for status, n in tally.counts.items())
        lines.append(f"{name}: {count} states; left out: {near} near a dead point, {opened} open; {ended}")
        lines.append("    " + ", ".join(f"{what} {size:.1e}" for what, size in tally.errors.items()))
        figures[name] = {
            "errors": tally.errors,
            "statuses": tally.counts,
            "open": opened,
            "near": near,
            "states": count,
        }
    worst = {what: whole.errors.get(what, 0.0) for what in LIMITS}
    lines.append("largest errors: " + ", ".join(f"{what} {size:.1e}" for what, size in worst.items()))
    total = sum(row["states"] for row in figures.values())
    line = f"{total} closed states of {len(known)} mechanisms (seed {options.seed}): "
    return Proof(line, whole.findings, {"states": total, "mechanisms": figures, "worst": worst}, lines)


def show(options: Namespace) -> int:
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


PARTS = (Part("states", "closed states of each mechanism", 10, "--case", (states,)),)


def main() -> int:
    parser = parser_of(__doc__, PARTS, "closed state")
    parser.add_argument("--only", nargs="+", choices=ALL, metavar="NAME", help="of these mechanisms alone")
    return prove(parser, PARTS, show)


if __name__ == "__main__":
    sys.exit(main())
