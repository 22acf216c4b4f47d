"""Proof at scale: sparse dynamics end in a status, whatever the set: no crash, nothing printed, no other acceleration.

    python benchmarks/sparse_soundness.py --sets 10000 [--seed S] [--processes P]
    python benchmarks/sparse_soundness.py --case INDEX [--seed S]

Random sets, one after the other in a process: those of `dynamics_soundness.py`, more of which have more rows than
freedoms, and long lifts with contacts that repeat each other or hold what nothing moves. SPARSE and AUTOMATIC solve
each. A finding is: a byte on standard output or error, as BLAS and SuperLU write where they are given what is singular;
an exception; a success of SPARSE whose acceleration is not that of DIRECT to 1e-7 of its size times the condition of
the rows, or whose rank is another. The exit code is 1 when there is one, and that of a crash when there is a crash.
`--check` is a short run.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from functools import partial

import bench_setup
import numpy as np
from dynamics_blocks import random_constraint, random_contact, random_robot, random_set, random_state
from proving import Part, Proof, Tally, answers, parser_of, prove

from constraints.dynamics import ForwardDynamics, Method, MethodError, forward_dynamics
from constraints.loops import ConstraintSet, PointContact, SurfaceContact
from constraints.models import mechanisms

SAME = 1e-7
"""Of the accelerations of two methods, by the condition of the rows."""

NOISE = 1e-11
"""Of accelerations that are in balance, as a part of what forces would do without the rows."""


def make_set(seed: int, number: int) -> ConstraintSet:
    """Set `number` of a seed: every 50th a long lift with contacts, every third with many more constraints."""
    rng = np.random.default_rng([seed, number, 15])
    if number % 50 == 0:
        lift = mechanisms.scissor_lift(int(rng.integers(8, 31)))
        names = rng.choice(lift.robot.joint_names[1:], int(rng.integers(1, 11)), replace=bool(rng.random() < 0.5))
        kind = SurfaceContact if rng.random() < 0.7 else PointContact
        return lift.constraint_set([kind(lift.robot, str(name), name=f"held {i}") for i, name in enumerate(names)])
    robot = random_robot(rng, number, massless=bool(rng.random() < 0.1))
    made = random_set(rng, robot, str(rng.choice(["mixed", "contacts", "repeated", "contradicting", "narrow"])))
    if number % 3:
        return made
    more = [random_contact(rng, robot, f"more {i}") for i in range(int(rng.integers(3, 13)))]
    more += [random_constraint(rng, robot, f"other {i}") for i in range(int(rng.integers(0, 4)))]
    return ConstraintSet(robot, [*made.stack, *more])


def faults_of(sparse: ForwardDynamics, direct: ForwardDynamics) -> list[str]:
    """What is wrong with a success of the sparse method."""
    values = np.linalg.svd(direct.system.jacobian, compute_uv=False)
    rank = int((values > 1e-6 * max(float(values.max(initial=0.0)), 1e-6)).sum())
    if not direct.success:
        return [f"{sparse.status.name} where DIRECT is {direct.status.name}"]
    found = [] if direct.rank == rank else [f"rank {direct.rank}, {rank} by SVD"]
    condition = float(values[0] / values[rank - 1]) if rank else 1.0
    v = sparse.question.v
    size = float(np.abs(direct.acceleration).max(initial=0.0)) + float(v @ v)
    free = np.linalg.lstsq(direct.system.mass_matrix, direct.system.force, rcond=1e-12)[0]  # forces that cancel
    apart = float(np.abs(sparse.acceleration - direct.acceleration).max(initial=0.0))
    if apart > SAME * condition * size + NOISE * condition * float(np.abs(free).max(initial=0.0)):
        found.append(f"accelerations differ by {apart:.2g} of {size:.2g}, condition {condition:.2g}")
    return found


def solve(seed: int, number: int) -> Tally:
    """Solve a set."""
    tally, printed = Tally(), list[str]()
    made = make_set(seed, number)
    rng = np.random.default_rng([seed, number, 16])
    state = random_state(rng, made, "mixed", 0.0 if made.robot.nv > 40 else 1.0)
    motion, found = made.robot.at(state.q, state.v), list[str]()
    try:
        with bench_setup.quiet(printed):
            sparse = forward_dynamics(made, motion, state.tau, method=Method.SPARSE, external=state.external)
            forward_dynamics(made, motion, state.tau, external=state.external)
            tally.counts[f"{sparse.method.name} {sparse.status.name}"] += 1
            if sparse.success and sparse.method is Method.SPARSE:
                tally.counts["compared"] += 1
                direct = forward_dynamics(made, motion, state.tau, method=Method.DIRECT, external=state.external)
                found += faults_of(sparse, direct)
    except MethodError:
        tally.counts["not taken"] += 1
    except Exception as error:
        found.append(f"raised {type(error).__name__}: {error}")
    found += [f"printed {line!r}" for line in printed]
    tally.findings += [(number, f"set {number}, {', '.join(made.kinds)}: {what}") for what in found]
    return tally


def sets(options: Namespace) -> Proof:
    """Solve as many sets as asked for."""
    whole = Tally.of(answers(partial(solve, options.seed), range(options.sets), options.processes))
    compared = whole.counts.pop("compared", 0)
    counted = ", ".join(f"{count} {status}" for status, count in sorted(whole.counts.items()))
    line = f"{options.sets} sets (seed {options.seed}), {compared} compared with DIRECT: "
    return Proof(line, whole.findings, {"sets": options.sets, "statuses": whole.counts}, [counted])


def show(options: Namespace) -> int:
    """One set again, alone."""
    made, found = make_set(options.seed, options.case), solve(options.seed, options.case)
    print(f"{made!r} {made.kinds}\n{dict(found.counts)}")
    print("\n".join(what for _, what in found.findings) or "nothing is wrong with it")
    return int(bool(found.findings))


PARTS = (Part("sets", "random sets that are solved", 150, "--case", (sets,)),)

if __name__ == "__main__":
    sys.exit(prove(parser_of(__doc__, PARTS, "set"), PARTS, show))
