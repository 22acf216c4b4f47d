"""Proof at scale: sparse dynamics end in a status, whatever the set: no crash, nothing printed, no other acceleration.

    python benchmarks/sparse_soundness.py [--sets 10000] [--seed S]
    python benchmarks/sparse_soundness.py --check

Random sets, all in one process: those of `dynamics_soundness.py`, more of which have more rows than freedoms, and long
lifts with contacts that repeat each other or hold what nothing moves. SPARSE and AUTOMATIC solve each. A finding is: a
process that ends before its last set; a byte on its standard output or error, as BLAS and SuperLU write where they are
given what is singular; an exception; a success of SPARSE whose acceleration is not that of DIRECT to 1e-7 of its size
times the condition of the rows, or whose rank is another. The exit code is 1 when there is one.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import bench_setup  # noqa: F401
import numpy as np
from dynamics_blocks import random_constraint, random_contact, random_robot, random_set, random_state

from constraints.dynamics import ForwardDynamics, Method, MethodError, forward_dynamics
from constraints.loops import ConstraintSet, PointContact, SurfaceContact
from constraints.models import mechanisms

SAME = 1e-7
"""Of the accelerations of two methods, by the condition of the rows."""

NOISE = 1e-11
"""Of accelerations that are in balance, as a part of what forces would do without the rows."""

CHECKED = 150
"""Sets of a short run."""


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


def solve_all(sets: int, seed: int, report: Path) -> None:
    """Solve all sets in this process; the report is written after each hundred, so that a crash has a place."""
    logging.disable(logging.WARNING)
    statuses, findings, solved = Counter[str](), list[str](), 0
    for number in range(sets):
        made = make_set(seed, number)
        rng = np.random.default_rng([seed, number, 16])
        state = random_state(rng, made, "mixed", 0.0 if made.robot.nv > 40 else 1.0)
        motion = made.robot.at(state.q, state.v)
        try:
            sparse = forward_dynamics(made, motion, state.tau, method=Method.SPARSE, external=state.external)
            forward_dynamics(made, motion, state.tau, external=state.external)
            statuses[f"{sparse.method.name} {sparse.status.name}"] += 1
            if sparse.success and sparse.method is Method.SPARSE:
                solved += 1
                direct = forward_dynamics(made, motion, state.tau, method=Method.DIRECT, external=state.external)
                findings += [f"set {number}, {', '.join(made.kinds)}: {what}" for what in faults_of(sparse, direct)]
        except MethodError:
            statuses["not taken"] += 1
        except Exception as error:
            findings.append(f"set {number}: {type(error).__name__}: {error}")
        if number % 100 == 99 or number == sets - 1:
            report.write_text(json.dumps([number + 1, dict(statuses), findings, solved]))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sets", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true", help=f"a short run of {CHECKED} sets")
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report is not None:
        solve_all(options.sets, options.seed, options.report)
        return 0
    sets, began = CHECKED if options.check else options.sets, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, __file__, "--sets", str(sets), "--seed", str(options.seed), "--report", str(report)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        number, statuses, findings, solved = json.loads(report.read_text()) if report.exists() else (0, {}, [], 0)
    if done.returncode != 0 or number != sets:
        findings.append(f"the process ended with code {done.returncode} after {number} sets")
    if done.stdout or done.stderr:
        findings.append(f"printed: {(done.stdout + done.stderr)[:300]!r}")
    for what in findings:
        print(f"FOUND {what} (seed {options.seed})")
    print(", ".join(f"{count} {status}" for status, count in sorted(statuses.items())))
    told = f"{solved} compared with DIRECT: {len(findings)} findings, {time.monotonic() - began:.0f} s"
    print(f"{number} sets in one process (seed {options.seed}), {told}")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
