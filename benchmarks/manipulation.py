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
start is the least of its repeats. Both solvers run on one core, and take turns in chunks of starts, several times each,
with a calibration loop before and after, as in `projection.py`. The engine is the one that has solved: what was asked
for may leave problems to the readable one.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bench_setup  # noqa: F401
import numpy as np
from graph_cases import CASES, ITERATIONS, THRESHOLD, Case, Judge
from numpy.typing import NDArray
from peer import Child, NoPeer
from projection import OneLine
from turns import CHUNK, calibration

from constraints import ConstraintError
from constraints.manipulation import ConstraintGraph, Transition
from constraints.solvers.projection.engines import ENGINES

TURN = 5
"""Repeats of a start before it is the turn of the other solver."""
DRIVER = Path(__file__).resolve().parent / "graph_driver.py"
Array = NDArray[np.float64]
Row = dict[str, Any]


@dataclass
class Run:
    """What one solver did on a transition; times in microseconds, by start and repeat."""

    us: Array
    claimed: NDArray[np.bool_]
    usable: NDArray[np.bool_]
    where: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    engines: set[str] = field(default_factory=lambda: set[str]())

    @staticmethod
    def empty(count: int, repeats: int) -> Run:
        return Run(np.zeros((count, repeats)), np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_))

    @property
    def us_by_start(self) -> Array:
        return np.min(self.us, axis=1)

    @property
    def us_per_found(self) -> float | None:
        return float(self.us_by_start.sum() / self.usable.sum()) if self.usable.any() else None

    @property
    def figures(self) -> Row:
        return {
            "success": float(self.usable.mean()),
            "claimed": float(self.claimed.mean()),
            "median_us": float(np.median(self.us_by_start)),
            "us_per_found": self.us_per_found,
            "targets_a_second": None if self.us_per_found is None else 1e6 / self.us_per_found,
        }


def ours(
    graph: ConstraintGraph, transition: str, starts: Array, guesses: Array, span: range, turn: range, run: Run,
    judge: Judge,
) -> None:  # fmt: skip
    """Targets of some starts, once for each repeat of a turn."""
    clock, t = time.perf_counter, graph.transition(transition)
    graph.target(t, starts[span[0]], guesses[span[0]])
    for i in span:
        for k in turn:
            began = clock()
            found = graph.target(t, starts[i], guesses[i])
            run.us[i, k] = 1e6 * (clock() - began)
        if turn[0] == 0:
            run.claimed[i] = found.success
            run.usable[i] = found.success and judge.holds(t, starts[i], found.q)
            run.engines |= {repr(projection.engine) for projection in found.projections}
            if not found.success:
                part = str(found.failed_at)
                run.where[part] = run.where.get(part, 0) + 1


def theirs(
    child: Child, t: Transition, starts: Array, guesses: Array, span: range, turn: range, run: Run, judge: Judge
) -> None:
    """The same in HPP."""
    part = slice(span[0], span[-1] + 1)
    answer = child.ask({
        "transition": t.name, "starts": starts[part].tolist(), "guesses": guesses[part].tolist(), "repeats": len(turn),
    })  # fmt: skip
    run.us[part, turn[0] : turn[-1] + 1], run.claimed[part] = answer["us"], answer["success"]
    for i, q in zip(span, answer["q"], strict=True):
        run.usable[i] = run.claimed[i] and judge.holds(t, starts[i], np.array(q))


def rounds(count: int, repeats: int) -> list[tuple[range, range]]:
    """Starts and repeats of each turn: all starts in chunks, several times."""
    chunks = [range(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    rounds = [range(first, min(first + TURN, repeats)) for first in range(0, repeats, TURN)]
    return [(span, turn) for turn in rounds for span in chunks]


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
        runs = [Run.empty(len(starts), options.repeats) for _ in range(3)]
        mine, single, other = runs
        speeds: list[tuple[Run, range, range, float]] = []
        for span, turn in rounds(len(starts), options.repeats):
            before = calibration()
            ours(case.graph, t.name, starts, guesses, span, turn, mine, judge)
            speeds.append((mine, span, turn, 0.5 * (before + calibration())))
            if turn[0] == 0:
                ours(case.single, t.name, starts, guesses, span, range(1), single, judge)
            if child is not None:
                before = calibration()
                theirs(child, t, starts, guesses, span, turn, other, judge)
                speeds.append((other, span, turn, 0.5 * (before + calibration())))
        usual = float(np.median([seconds for *_, seconds in speeds]))
        for run, span, turn, seconds in speeds:
            run.us[span[0] : span[-1] + 1, turn[0] : turn[-1] + 1] *= usual / seconds
        a, b = mine.us_per_found, other.us_per_found if child is not None else None
        rows.append({
            "case": case.name, "transition": t.name, "starts": len(starts), "engine": " ".join(sorted(mine.engines)),
            **mine.figures,
            "success_of_one_guess": float(single.usable.mean()), "failed_at": mine.where,
            "hpp": None if child is None else other.figures,
            "ratio_per_found": None if a is None or b is None else a / b,
            "ratio_of_medians": None if child is None else mine.figures["median_us"] / other.figures["median_us"],
        })  # fmt: skip
    if child is not None:
        child.close()
    return rows, remarks


def _peer(case: Case, options: argparse.Namespace, remarks: list[str]) -> Child | None:
    """HPP with the same graph: same joints, same transitions."""
    if options.hpp_python is None:
        return None
    try:
        child = Child(options.hpp_python, DRIVER)
        answer = child.opened({"open": case.given, "threshold": THRESHOLD, "iterations": ITERATIONS})
        joints = [str(name) for name in case.graph.robot.model.names][1:]
        missing = {t.name for t in case.graph.transitions} - set(answer["transitions"])
        if answer["joints"] != joints or missing:
            child.close()
            raise NoPeer(f"its graph is another one: joints {answer['joints']}, missing {sorted(missing)}")
    except NoPeer as why:
        remarks.append(f"no HPP: {why}")
        return None
    return child


def table(rows: list[Row]) -> str:
    """The figures as text."""
    number = lambda x, form=".0f": "-" if x is None else format(x, form)  # noqa: E731
    share = lambda x: f"{100 * x:.0f} %"  # noqa: E731
    columns = "case|transition|engine|found|one guess|us|us a target|HPP found|us|us a target|ratio"
    lines: list[tuple[str, ...]] = [tuple(columns.split("|"))]
    for r in rows:
        h = r["hpp"]
        lines.append((
            r["case"], r["transition"], r["engine"], share(r["success"]), share(r["success_of_one_guess"]),
            number(r["median_us"]), number(r["us_per_found"]), "-" if h is None else share(h["success"]),
            "-" if h is None else number(h["median_us"]), "-" if h is None else number(h["us_per_found"]),
            number(r["ratio_per_found"], ".2f"),
        ))  # fmt: skip
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join([*map(str.ljust, line[:3], widths[:3]), *map(str.rjust, line[3:], widths[3:])]) for line in lines
    )


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
    parser = OneLine(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines = ", ".join(sorted(ENGINES))
    parser.add_argument("--case", action="append", metavar="NAME", help=f"one of the scenes ({', '.join(CASES)})")
    parser.add_argument(
        "--engine", metavar="NAME", help=f"one of: {', '.join(sorted(ENGINES))}; the usual one if absent"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--hpp-python", metavar="PATH", help="interpreter that has hpp-python")
    parser.add_argument("--starts", type=int, metavar="N", help="draw N fresh starts a state")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the fresh starts (%(default)s)")
    parser.add_argument("--attempts", type=int, default=4, metavar="A", help="guesses a target at most (%(default)s)")
    parser.add_argument("--repeats", type=int, default=15, metavar="R", help="of each target (%(default)s)")
    parser.add_argument("--check", action="store_true", help="a short run that only shows that everything holds")
    options = parser.parse_args()
    for name, least in (("starts", 1), ("repeats", 1), ("seed", 0), ("attempts", 1)):
        if getattr(options, name) is not None and getattr(options, name) < least:
            parser.error(f"--{name}: expected a whole number from {least}, got {getattr(options, name)}")
    if options.engine is not None and options.engine not in ENGINES:
        parser.error(f"--engine: no engine is called '{options.engine}'; there are: {engines}")
    if options.check:
        options.repeats, options.hpp_python, options.starts = 1, None, 6
        options.case = options.case or [CASES[0], CASES[-1]]
    return options


def on_one_core() -> None:
    """This process and its children, where the system can do that: their times are then times of one processor."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main() -> int:
    options = arguments()
    logging.disable(logging.WARNING)  # remarks on the robots' files
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
    if options.json is not None:
        options.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")
    if options.check:
        check(rows)
        print("ok")
    return 0


if __name__ == "__main__":
    on_one_core()
    sys.exit(main())
