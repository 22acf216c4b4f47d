"""Targets on constraint graphs: success and time by transition, and those of hpp-manipulation in the same run.

    python benchmarks/manipulation.py [--case NAME ...] [--engine NAME] [--json FILE] [--hpp-python PATH]
                                      [--starts N --seed S] [--attempts A] [--repeats R] [--check]

The scenes are those of `tests/data/constraint_graphs.json`: one or two UR5, cubes of 6 cm, a table. The smallest,
`g1_o1_h1_surf`, has its 50 recorded starts by state and its 50 guesses, unless `--starts` asks for others; the starts
of the others are random configurations, boxes uniformly on the table, that ours puts into the source state; the guesses
are random, without a table anywhere in the bounds, where most are out of reach. Both solvers get the
same. All plain transitions between states are timed, through all their waypoints (level-set ones need a leaf).

A success is a target that the solver claims, within the bounds of the arms, and whose grasps, places on the table, and
unmoved objects hold by plain pinocchio to the threshold (objects that stand before and after keep their place to twice
of it). Ours may start again from other guesses (`attempts` of the graph; the success of one guess is shown beside). The
time of a target found is the sum of the times of all starts, failures included, divided by the successes; that of a
start is the least of its repeats. Both solvers run on one core, and take turns in chunks of starts, with a calibration
loop before and after, as in `projection.py`. The engine is the one that has solved: what was asked
for may leave problems to the readable one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import bench_setup
import numpy as np
from graph_cases import CASES, ITERATIONS, THRESHOLD, Case, Judge
from numpy.typing import NDArray
from peer import Child, NoPeer
from projection_figures import aligned
from turns import OURS, Run, Solver, by_peer, in_turns, stay_on_one_core

from constraints import ConstraintError
from constraints.manipulation import ConstraintGraph
from constraints.solvers.projection.engines import ENGINES

HPP = "HPP"
Array = NDArray[np.float64]
Row = dict[str, Any]


@dataclass
class Notes:
    """What the library says of its targets besides."""

    engines: set[str] = field(default_factory=lambda: set[str]())
    failed_at: Counter[str] = field(default_factory=lambda: Counter[str]())


def by_us(graph: ConstraintGraph, name: str, starts: Array, guesses: Array, notes: Notes) -> Solver:
    """The library; the first turn notes which engines solved, and where it failed."""
    transition = graph.transition(name)

    def find_some(first: int, last: int, turn: int, run: Run) -> None:
        clock = time.perf_counter
        graph.target(transition, starts[first], guesses[first])
        for i in range(first, last):
            began = clock()
            found = graph.target(transition, starts[i], guesses[i])
            run.us[i, turn] = 1e6 * (clock() - began)
            run.ends[i], run.claimed[i] = found.q, found.success
            if not turn:
                notes.engines.update(repr(projection.engine) for projection in found.projections)
                notes.failed_at.update([] if found.success else [str(found.failed_at)])

    return find_some


def by_hpp(child: Child, name: str, starts: Array, guesses: Array) -> Solver:
    """hpp-manipulation."""
    given = {"starts": starts.tolist(), "guesses": guesses.tolist()}
    return by_peer(child, lambda i, j: {"transition": name, **{key: rows[i:j] for key, rows in given.items()}})


def figures(run: Run) -> Row:
    """The times of a run, the least of each start, and its successes."""
    us, usable = run.us.min(axis=1), int(run.usable.sum())
    each = float(us.sum() / usable) if usable else None
    return {
        "success": run.success, "claimed": float(run.claimed.mean()), "median_us": float(np.median(us)),
        "us_per_found": each, "targets_a_second": None if each is None else 1e6 / each,
    }  # fmt: skip


def measure(case: Case, options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Figures by transition, and remarks."""
    rng, judge, remarks = np.random.default_rng(options.seed), Judge(case), list[str]()
    child = _peer(case, options, remarks)
    rows: list[Row] = []
    prepared = {state: case.starts(state, options.starts, rng) for state in case.graph.states}
    for t in (t for t in case.graph.transitions if not t.is_level_set):
        starts, guesses = prepared[t.source]
        if not len(starts):
            remarks.append(f"'{t}': no start in '{t.source}' was found")
            continue
        notes = Notes()
        solvers = {OURS: by_us(case.graph, t.name, starts, guesses, notes)}
        if child is not None:
            solvers[HPP] = by_hpp(child, t.name, starts, guesses)
        runs = in_turns(solvers, starts.shape, options.repeats, remarks)
        single = Run.empty(*starts.shape, repeats=1)
        by_us(case.single, t.name, starts, guesses, Notes())(0, len(starts), 0, single)
        for run in (single, *runs.values()):
            ends = zip(run.claimed, starts, run.ends, strict=True)
            run.usable = np.array([claimed and judge.holds(t, start, q) for claimed, start, q in ends])
        mine, other = figures(runs[OURS]), figures(runs[HPP]) if HPP in runs else None
        a, b = mine["us_per_found"], other and other["us_per_found"]
        rows.append({
            "case": case.name, "transition": t.name, "starts": len(starts), "engine": " ".join(sorted(notes.engines)),
            **mine, "success_of_one_guess": single.success, "failed_at": dict(notes.failed_at), "hpp": other,
            "ratio_per_found": None if a is None or b is None else a / b,
            "ratio_of_medians": None if other is None else mine["median_us"] / other["median_us"],
        })  # fmt: skip
    if child is not None:
        child.close()
    return rows, remarks


def _peer(case: Case, options: argparse.Namespace, remarks: list[str]) -> Child | None:
    """HPP with the same graph: same joints, same transitions."""
    if options.hpp_python is None:
        return None
    try:
        first = {"open": case.given, "threshold": THRESHOLD, "iterations": ITERATIONS}
        child = Child(options.hpp_python, "graph_driver.py", first)
        joints = [str(name) for name in case.graph.robot.model.names][1:]
        missing = {t.name for t in case.graph.transitions} - set(child.said["transitions"])
        if child.said["joints"] != joints or missing:
            child.close()
            raise NoPeer(f"its graph is another one: joints {child.said['joints']}, missing {sorted(missing)}")
    except NoPeer as why:
        remarks.append(f"no HPP: {why}")
        return None
    return child


def table(rows: list[Row]) -> str:
    """The figures as text."""
    number = lambda x, form=".0f": "-" if x is None else format(x, form)  # noqa: E731
    share = lambda x: f"{100 * x:.0f} %"  # noqa: E731
    columns = "case|transition|engine|found|one guess|us|us a target|HPP found|us|us a target|ratio"
    lines: list[list[str]] = [[*columns.split("|")]]
    for r in rows:
        h = r["hpp"]
        lines.append([
            r["case"], r["transition"], r["engine"], share(r["success"]), share(r["success_of_one_guess"]),
            number(r["median_us"]), number(r["us_per_found"]), "-" if h is None else share(h["success"]),
            "-" if h is None else number(h["median_us"]), "-" if h is None else number(h["us_per_found"]),
            number(r["ratio_per_found"], ".2f"),
        ])  # fmt: skip
    return aligned(lines, left=3)


def check(rows: list[Row]) -> None:
    """What must hold on any machine.

    Raises:
        AssertionError: it does not.
    """
    assert rows
    for row in rows:
        assert row["success"] == row["claimed"], f"{row['transition']}: a claimed target does not hold"
        assert row["success"] > 0.0, row
        assert row["success"] >= row["success_of_one_guess"], row
        assert row["median_us"] > 0.0, row


def arguments() -> argparse.Namespace:
    parser = bench_setup.command(
        __doc__, "json", "hpp-python", "seed", "check", starts=(None, "fresh starts a state"),
        attempts=(4, "guesses a target at most"), repeats=(15, "of each target"),
    )  # fmt: skip
    engines = ", ".join(sorted(ENGINES))
    parser.add_argument("--case", action="append", metavar="NAME", help=f"one of the scenes ({', '.join(CASES)})")
    parser.add_argument("--engine", metavar="NAME", help=f"one of: {engines}; the usual one if absent")
    options = parser.parse_args()
    if options.engine is not None and options.engine not in ENGINES:
        parser.error(f"--engine: no engine is called '{options.engine}'; there are: {engines}")
    if options.check:
        options.repeats, options.hpp_python, options.starts = 1, None, 6
        options.case = options.case or [CASES[0], CASES[-1]]
    return options


def main() -> int:
    options = arguments()
    rows: list[Row] = []
    try:
        for name in options.case or CASES:
            found, remarks = measure(Case.of(name, options.attempts, options.engine), options)
            rows += found
            for remark in remarks:
                print(f"{name}: {remark}", file=sys.stderr)
    except ConstraintError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(table(rows))
    bench_setup.write(options.json, {"rows": rows})
    if options.check:
        check(rows)
        print("ok")
    return 0


if __name__ == "__main__":
    stay_on_one_core()
    sys.exit(main())
