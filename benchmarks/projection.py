"""Success and cost of projections on problem files, and those of hpp-constraints on the same starts in the same run.

    python benchmarks/projection.py [PROBLEM.npz ... | --set others] [--engine NAME] [--json FILE]
                                    [--solutions OUT.npz] [--hpp-python PATH] [--starts N --seed S] [--repeats R]
                                    [--plot FILE.png [--beside FILE.json]] [--check]

Without files, those in `benchmarks/problems` (their format: `benchmarks/problems/README.md`); with `--set others` those
on other robots in `benchmarks/problems/others`. `--starts` draws fresh starts by the sampler of the file.
The engine is the one that projectors take by themselves where none is named. `--hpp-python` names an interpreter that
has the wheel `hpp-python`; `--plot` draws the ratios to it, `--beside` those of another run's `--json` too. Whatever is
not understood in a file is named and nothing runs (exit code 2); a file whose model is not installed is named and left
out (exit code 1 where no file is left).

Both solvers have the threshold and the iterations that the file states: 40 in those recorded with hpp-constraints,
where `Options()` has 100. A success is a configuration that the solver claims to be one, whose residual, measured by
plain pinocchio with formulas of our own, is at most the threshold, and which is within its bounds. Times are wall-clock
medians over the repeats of each start, one in each pass over all starts; a *usable* solution costs the sum of these
over all starts, divided by the successes. What each found is projected again by it: a start that is a solution
already costs `solved`. The solvers take turns in chunks of starts on one core, with a calibration loop before each, and
times are divided by the speed it shows: what the machine does besides slows down all of them, and the ratio stays. The
last line is the geometric mean of the ratios.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bench_setup
import numpy as np
from checking import Judge
from peer import Child, NoPeer, hpp_on
from problem_files import PROBLEMS, ProblemFile, Refused, Skipped, build, read
from projection_figures import Row, best_line_search, figures, summary, table
from turns import CHUNK, OURS, Run, by_hpp, by_us, in_turns, stay_on_one_core

from constraints import ConstraintError, Options, Problem, Projector
from constraints.solvers import why_not
from constraints.solvers.projection.engines import ENGINES, USUAL

SETS = {"recorded": PROBLEMS, "others": PROBLEMS / "others"}
"""Folders of problems, by the name of `--set`."""


@dataclass(frozen=True, eq=False)
class Case:
    """A problem that is ready to be run and judged."""

    file: ProblemFile
    problem: Problem
    judge: Judge


def prepare(path: Path) -> Case:
    """Read, build and get ready to judge one problem.

    Raises:
        Refused: something in the file is not understood.
        Skipped: a model is not installed.
    """
    file = read(path)
    problem = build(file)
    try:
        judge = Judge(file.description)
        judge.starts(1, 0)
        judge.residual(np.array(file.description["qref"], dtype=np.float64))
        for q in file.q0:
            problem.check(q, "a start")
    except (ConstraintError, ValueError, KeyError, TypeError) as error:
        raise Refused(str(error)) from None
    return Case(file, problem, judge)


def measure(case: Case, options: argparse.Namespace) -> tuple[Row, Run, list[str]]:
    """Figures of one problem, its run, and remarks."""
    file, problem, judge = case.file, case.problem, case.judge
    starts = file.q0 if options.starts is None else judge.starts(options.starts, options.seed)
    starts = starts[:8] if options.check else starts
    budget = file.options
    alone = Options(threshold=file.threshold, max_iterations=file.max_iterations, restarts=False)
    shape = (len(starts), file.q0.shape[1])
    engine, remarks = options.engine, list[str]()
    if engine == "compiled" and (why := why_not(problem, budget)) is not None:
        remarks.append(f"left to the readable engine: {why}")
    projector, single = Projector(problem, budget, engine), Projector(problem, alone, engine)
    hpp: Child | None = None
    solvers = {OURS: by_us(projector, starts)}
    if options.hpp_python is not None:
        try:
            hpp = hpp_on(options.hpp_python, file, starts)
            solvers |= {name: by_hpp(hpp, name) for name in hpp.said["line_searches"]}
        except NoPeer as why:
            remarks.append(f"no HPP: {why}")
    theirs = in_turns(solvers, shape, options.repeats, remarks)
    ours, without = theirs.pop(OURS), Run.empty(*shape, repeats=1)
    by_us(single, starts)(0, len(starts), 0, without)
    for run in (ours, without, *theirs.values()):
        run.judge(judge, file.threshold)
    if ours.claimed.any() and not ours.usable[ours.claimed].all():
        wrong = int((ours.claimed & ~ours.usable).sum())
        remarks.append(f"{wrong} of {int(ours.claimed.sum())} claimed successes do not hold")
    best = best_line_search(theirs)
    peer = None if hpp is None or best is None else (hpp, best, theirs[best])
    solved = of_solutions(projector, ours, peer, options.repeats, remarks)
    if hpp is not None:
        hpp.close()
    return figures(file.name, options.engine, ours, without, theirs, solved), ours, remarks


def of_solutions(
    projector: Projector, ours: Run, peer: tuple[Child, str, Run] | None, repeats: int, remarks: list[str]
) -> tuple[float | None, float | None]:
    """Microseconds of a start that is a solution, ours and theirs: the first solutions that each found, by itself."""
    found = ours.ends[ours.usable][:CHUNK]
    if not len(found):
        return None, None
    solvers = {OURS: by_us(projector, found)}
    if peer is not None and (count := int(peer[2].usable.sum())):
        hpp, line_search, run = peer
        found = found[: min(len(found), count)]
        try:
            hpp.ask({"starts": run.ends[run.usable][: len(found)].tolist()})
            solvers[line_search] = by_hpp(hpp, line_search)
        except NoPeer as why:
            remarks.append(f"no HPP on solutions: {why}")
    said: list[str] = []
    runs = in_turns(solvers, (len(found), found.shape[1]), repeats, said)
    for name, run in runs.items():
        if not run.claimed.all():
            said.append(f"{int((~run.claimed).sum())} of {len(found)} solutions are none to {name}")
    remarks += [f"from solutions: {remark}" for remark in said]
    medians = [float(np.median(run.us_by_start)) for run in runs.values()]
    return medians[0], medians[1] if len(medians) > 1 else None


def arguments() -> argparse.Namespace:
    parser = bench_setup.command(
        __doc__, "json", "hpp-python", "seed", "check", starts=(None, "fresh starts instead of those of the file"),
        repeats=(5, "of each projection"),
    )  # fmt: skip
    parser.add_argument("problems", nargs="*", type=Path, metavar="PROBLEM.npz", help="problem files")
    parser.add_argument("--set", metavar="NAME", help=f"where no files are named: {', '.join(SETS)} (recorded)")
    parser.add_argument("--engine", default=USUAL, metavar="NAME", help=f"{', '.join(sorted(ENGINES))} (%(default)s)")
    parser.add_argument("--solutions", type=Path, metavar="OUT.npz", help="write the projected configurations there")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the ratios to hpp-constraints there")
    parser.add_argument("--beside", type=Path, metavar="FILE.json", help="draw the figures of that run too")
    options = parser.parse_args()
    if options.engine not in ENGINES:
        parser.error(f"--engine: no engine is called '{options.engine}'; there are: {', '.join(sorted(ENGINES))}")
    if options.set is not None and options.set not in SETS:
        parser.error(f"--set: no set is called '{options.set}'; there are: {', '.join(SETS)}")
    if options.set is not None and options.problems:
        parser.error("--set: names the problems where no files are given")
    if options.plot is not None and options.hpp_python is None and not options.check:
        parser.error("--plot: draws ratios to hpp-constraints, which needs --hpp-python")
    if options.beside is not None and (options.plot is None or not options.beside.is_file()):
        parser.error("--beside: a file that --json wrote, drawn with --plot")
    if options.check:
        options.repeats, options.hpp_python, options.plot = 1, None, None
    return options


def check(rows: list[Row], ours: dict[str, Run]) -> None:
    """What must hold on any machine.

    Raises:
        AssertionError: it does not.
    """
    for row in rows:
        run = ours[row["problem"]]
        assert run.usable[run.claimed].all(), f"{row['problem']}: a claimed success does not hold"
        assert row["success"] >= row["success_without_restarts"] - 1e-12, row
        assert row["success"] > 0.0, row
        assert row["us_per_projection"] > 0.0, row


def prepared(paths: list[Path]) -> list[Case] | None:
    """All problems that can be run; None where one is not understood. What is left out is said."""
    cases: list[Case] = []
    refused = False
    for path in paths:
        try:
            case = prepare(path)
            twin = next((other for other in cases if other.file.name == case.file.name), None)
            if twin is not None:
                raise Refused(f"it is called '{case.file.name}' like {twin.file.path}")
            cases.append(case)
        except Skipped as why:
            print(f"{path}: skipped, {why}", file=sys.stderr)
        except Refused as why:
            print(f"{path}: refused, {why}", file=sys.stderr)
            refused = True
    return None if refused else cases


def main() -> int:
    options = arguments()
    cases = prepared(options.problems or sorted(SETS[options.set or "recorded"].glob("*.npz")))
    if cases is None:
        return 2
    stay_on_one_core()
    rows: list[Row] = []
    runs: dict[str, Run] = {}
    for case in cases:
        row, run, remarks = measure(case, options)
        rows.append(row)
        runs[row["problem"]] = run
        for remark in remarks:
            print(f"{row['problem']}: {remark}", file=sys.stderr)
    if not rows:
        print("no problem was run", file=sys.stderr)
        return 1
    print(table(rows))
    if said := summary(rows):
        print(said)
    bench_setup.write(options.json, rows)
    if options.solutions is not None:
        stored: dict[str, Any] = {}
        for name, run in runs.items():
            stored |= {f"{name}_q": run.ends, f"{name}_success": run.claimed}
        np.savez_compressed(options.solutions, **stored)
    if options.plot is not None:
        from ratio_figure import draw  # needs matplotlib

        draw(rows, options.plot, [] if options.beside is None else json.loads(options.beside.read_text()))
    if options.check:
        check(rows, runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
