"""What dynamics in minimal coordinates cost, beside `forward_dynamics`: every mechanism, in one run.

    python benchmarks/reduced_dynamics.py [--json FILE] [--repeats N] [--only NAME ...]
    python benchmarks/reduced_dynamics.py --check

At a random closed state of each built-in mechanism and of each model of `tests/data/mechanisms`, from (q, v, tau) on:

- reduced: `reduced_forward_dynamics(coordinates.at(q, v), tau)`: the closed state with its checks, rows, LU and B, then
  both reductions;
- forward: `forward_dynamics(rows, robot.at(q, v), tau)`, method AUTOMATIC; which it takes is in the table.

"state" and "solve" are the two parts of the first. The calls are timed in short bursts that go round, in time of this
process: the least time of a call is what it costs, and the ratio of the two is taken of the least times, and as the
median of the ratios of all rounds, in which both meet the same noise.

Limit: reduced at most 2 times forward, by both ratios. The exit code is 1 where it is missed.

`--check` is quick: both give one acceleration.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import bench_setup  # noqa: F401
import numpy as np
from closed_mechanisms import ALL
from closed_states import state_of
from timing import Times, cases_timed

from constraints.dynamics import forward_dynamics
from constraints.reduced import reduced_forward_dynamics

BURST, LIMIT = 8, 2.0


def calls_of(name: str) -> dict[str, Any]:
    """What is timed on a mechanism."""
    state = state_of(name)
    coordinates, q, v = state.coordinates, state.q, state.v
    rows, tau = coordinates.constraint_set, np.random.default_rng(0).standard_normal(state.v.size)
    return {
        "reduced": lambda: reduced_forward_dynamics(coordinates.at(q, v), tau),
        "forward": lambda: forward_dynamics(rows, rows.robot.at(q, v), tau),
        "state": lambda: coordinates.at(q, v),
        "solve": lambda: reduced_forward_dynamics(state, tau),
    }


def check(names: Sequence[str]) -> bool:
    """Both give one acceleration."""
    for name in names:
        calls = calls_of(name)
        reduced, forward = calls["reduced"]().or_raise(), calls["forward"]()  # of Cassie it may say INCONSISTENT
        apart = np.abs(reduced.acceleration - forward.acceleration).max()
        assert apart <= 1e-9 * np.abs(forward.acceleration).max(), (name, apart)
    print(f"{len(names)} mechanisms: reduced and forward dynamics give one acceleration")
    return True


def report(name: str, times: Times) -> bool:
    """A line of a mechanism; whether the limit is reached."""
    both = times["reduced"], times["forward"]
    ratios = [float(both[0].min() / both[1].min()), float(np.median(both[0] / both[1]))]
    least = ", ".join(f"{call} {us.min():.0f}" for call, us in times.items())
    verdict = f"limit {LIMIT:g}{'  MISSED' * (max(ratios) > LIMIT)}"
    method = calls_of(name)["forward"]().method.name
    print(f"{name:20s} ratio {ratios[0]:.2f}, median {ratios[1]:.2f}, {verdict}; [us] {least}; {method}", flush=True)
    return max(ratios) <= LIMIT


def main() -> int:
    return cases_timed(__doc__, ALL, calls_of, BURST, report, check, 200)


if __name__ == "__main__":
    sys.exit(main())
