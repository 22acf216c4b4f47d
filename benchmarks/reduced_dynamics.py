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
from typing import Any

import bench_setup
import numpy as np
from closed_mechanisms import ALL
from closed_states import state_of
from timing import in_bursts

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


def check(names: list[str]) -> None:
    """Quick: both give one acceleration."""
    for name in names:
        calls = calls_of(name)
        reduced, forward = calls["reduced"]().or_raise(), calls["forward"]()  # of Cassie it may say INCONSISTENT
        apart = np.abs(reduced.acceleration - forward.acceleration).max()
        assert apart <= 1e-9 * np.abs(forward.acceleration).max(), (name, apart)
    print(f"{len(names)} mechanisms: reduced and forward dynamics give one acceleration")


def main() -> int:
    parser = bench_setup.command(__doc__, "json", "check", repeats=(200, "bursts of each call"))
    parser.add_argument("--only", nargs="+", choices=ALL, default=list(ALL), metavar="NAME", help="these alone")
    options = parser.parse_args()
    if options.check:
        check(options.only)
        return 0
    figures, missed = dict[str, Any](), list[str]()
    print(f"{'':20s} {'state':>7s} {'solve':>7s} {'reduced':>8s} {'forward':>8s} {'ratio':>6s} {'median':>6s}  [us]")
    for name in options.only:
        calls = calls_of(name)
        times = in_bursts(calls, options.repeats, BURST)
        least, median = ({call: float(of(t)) for call, t in times.items()} for of in (np.min, np.median))
        ratios = [least["reduced"] / least["forward"], float(np.median(times["reduced"] / times["forward"]))]
        method = calls["forward"]().method.name
        print(
            f"{name:20s} {least['state']:7.0f} {least['solve']:7.0f} {least['reduced']:8.0f} {least['forward']:8.0f} "
            f"{ratios[0]:6.2f} {ratios[1]:6.2f}  {method}{'  MISSED' * (max(ratios) > LIMIT)}"
        )
        figures[name] = {"least": least, "median": median, "ratios": ratios, "method": method}
        missed += [name] * (max(ratios) > LIMIT)
    print(f"limit {LIMIT:g}: {'missed by ' + ', '.join(missed) if missed else 'kept everywhere'}")
    bench_setup.write(options.json, figures)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
