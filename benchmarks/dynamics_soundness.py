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

`--bad` gives each argument of the public entry points of dynamics badly, at random (`tests/fuzz.py`): each call must
end in a `ConstraintError` that names the culprit and says what was expected.

`--check` is a short run of both. Each prints figures; the exit code is 1 when there are findings, with a line and the
command that repeats it for each.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from functools import partial

import bench_setup  # noqa: F401
from dynamics_blocks import SIZE, make_block
from dynamics_checks import METHODS, answer_of
from proving import Part, Proof, Tally, answers, bad_inputs, parser_of, prove

TENTH = 10
"""Of so many states one is compared with 50 digits."""


def run_block(seed: int, number: int) -> tuple[Tally, Tally]:
    """All states of one block, and those near a loss of rank: counts by method and status, findings, errors."""
    tally, near = Tally(), Tally()
    try:
        block = make_block(seed, number)
    except Exception as error:
        tally.findings.append((number * SIZE, f"building block {number} raised {type(error).__name__}: {error}"))
        return tally, near
    for i in range(SIZE):
        index = number * SIZE + i
        try:
            answer = answer_of(block, i, index % TENTH == number % TENTH)
        except Exception as error:
            tally.findings.append((index, f"{block.name}: raised {type(error).__name__}: {error}"))
            continue
        own = near if answer.near else tally
        own.counts.update([f"{method} {status}" for method, status in answer.statuses.items()])
        tally.counts["exact"] += bool(answer.errors)
        tally.met(answer.errors)
        tally.findings += [(index, f"{block.name}: {what}") for what in answer.faults]
        near.findings += [(index, f"{block.name}: {what}") for what in answer.near_faults]
    return tally, near


def states(options: Namespace) -> Proof:
    """Solve as many states as asked for."""
    tally, near = Tally(), Tally()
    for both in answers(partial(run_block, options.seed), range(-(-options.states // SIZE)), options.processes):
        tally.add(both[0])
        near.add(both[1])
    lines, exact = list[str](), tally.counts.pop("exact", 0)
    for title, counts in (("states", tally.counts), ("near a loss of rank", near.counts)):
        for method in METHODS:
            own = {key.split()[1]: n for key, n in sorted(counts.items()) if key.split()[0] == method.name}
            if own:
                lines.append(f"{title}, {method.name}: " + ", ".join(f"{n} {word}" for word, n in own.items()))
    both = tally.counts + near.counts
    total, full = sum(n for key, n in both.items() if key.startswith("AUTOMATIC ")), both["AUTOMATIC SOLVED"]
    worst = ", ".join(f"{method} {size:.3g}" for method, size in tally.errors.items())
    lines.append(f"error against 50 digits at {exact} states, in eps x condition: {worst}")
    lines.append(f"near a loss of rank: {len(near.findings)} answers miss what is asked of the others")
    for index, what in near.findings[: options.shown] if options.near else []:
        lines.append(f"NEAR {what} (repeat: --seed {options.seed} --case {index})")
    figures = {"states": total, "statuses": tally.counts, "near": near.counts, "exact_states": exact}
    line = f"{total} states (seed {options.seed}): {100.0 * full / max(total, 1):.1f} % of full rank, "
    return Proof(line, tally.findings, figures | {"errors": tally.errors, "full_rank": full}, lines)


def show(options: Namespace) -> int:
    """One state again, in full."""
    number, i = divmod(options.case, SIZE)
    block = make_block(options.seed, number)
    print(f"{block.name}: {block.constraint_set!r}\n{block.states[i]}")
    answer = answer_of(block, i, True)
    found = answer.faults + answer.near_faults
    print(f"{answer.statuses}\n{answer.errors}\n" + ("\n".join(found) or "nothing is wrong with it"))
    return int(bool(answer.faults))


PARTS = (
    Part("states", "random states that are solved", 400, "--case", (states,)),
    Part("bad", "bad inputs", 300, "number", (partial(bad_inputs, ("loops", "dynamics"), "bad"),)),
)


def main() -> int:
    parser = parser_of(__doc__, PARTS, "state")
    parser.add_argument("--near", action="store_true", help="list what is missed near a loss of rank")
    return prove(parser, PARTS, show)


if __name__ == "__main__":
    sys.exit(main())
