"""`project FILE`: random configurations onto the constraints of a problem, or the case of a report once more."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from liegroups.arrays import Matrix

from ..errors import OptionError
from ..files.options import load_options
from ..files.problems import PlanningTask
from ..files.reports import Report, load_task_or_report
from ..files.right_hand_sides import load_rhs
from ..problem.problem import Problem
from ..robot.configuration import random_points
from ..solvers import Options, Projector, Status
from ..solvers.projection.batch import ProjectionBatch
from ..words import counted, larger_budget
from .arguments import ALL_WELL, NOT_ALL, natural, outputs, positive, save_arrays, wants_bar
from .picture import draw

STARTS = 100
_FOR_PROBLEMS = ("starts", "seed", "rhs", "options", "max_iterations", "save", "report")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.description = (
        "Project random configurations onto the constraints of a problem file, and print a table; or repeat the case "
        "of a report, and say whether the result is the same bit for bit. Exit code 1 when a projection fails, or "
        "a bit differs."
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="file of `problem.save` or `projection.report`")
    add("--starts", type=positive, metavar="N", help=f"random configurations, within the bounds ({STARTS})")
    add("--seed", type=natural, metavar="S", help="seed of the random generator and of the restarts (0)")
    add("--rhs", metavar="RHS.json", help="other right-hand sides: file of `rhs.save`")
    add("--options", metavar="OPTIONS.json", help="file of `Options.save`; the default options otherwise")
    add("--max-iterations", type=positive, metavar="N", help="budget of each projection, before that of the options")
    add("--save", metavar="OUT.npz", help="write starts, configurations, statuses, iterations, residuals")
    add("--report", metavar="OUT.json", help="write the first failure, if there is one, as a report")
    add("--plot", metavar="OUT.png", help="draw residuals, and configurations of a robot (extra `plot`)")


def run(options: argparse.Namespace) -> int:
    """Project what the file holds."""
    outputs((options.file, options.rhs, options.options), save=options.save, report=options.report, plot=options.plot)
    case = load_task_or_report(options.file)
    if isinstance(case, Report):
        named = [f"--{name.replace('_', '-')}" for name in _FOR_PROBLEMS if getattr(options, name) is not None]
        if named:
            fixed = f"{options.file} is a report with a fixed start"
            raise OptionError(f"{fixed}: {', '.join(named)} can only be used with a problem")
        return _again(case, options.plot)
    return _project(case, options)


def _project(task: PlanningTask, options: argparse.Namespace) -> int:
    problem = task.problem
    seed = options.seed or 0
    chosen = load_options(options.options) if options.options else Options(seed=seed)
    if options.max_iterations is not None:
        chosen = replace(chosen, max_iterations=options.max_iterations)
    sides = load_rhs(options.rhs, problem.constraints) if options.rhs else None
    starts = random_starts(problem, STARTS if options.starts is None else options.starts, seed)
    projector = Projector(problem, chosen)
    projector.project(starts[0], sides)  # the first call pays for memory
    batch = projector.project_batch(starts, sides, progress=True if wants_bar() else None)
    print("\n\n".join(filter(None, (table(batch), task.aside))))
    if options.save:
        save_arrays(options.save, _arrays(batch))
    if options.report:
        failed = np.flatnonzero(~batch.success)
        if failed.size:
            batch[int(failed[0])].report(options.report)
        else:
            print(f"no failure to report: {options.report} is not written")
    if options.plot:
        draw(batch, sides, options.plot)
    return ALL_WELL if batch.success.all() else NOT_ALL


def random_starts(problem: Problem, count: int, seed: int) -> Matrix:
    """Random configurations (count, nq) within the bounds, angles in [-pi, pi]; the same for the same seed."""
    return random_points(problem.bounds, problem.revolute).draw(np.random.default_rng(seed), count)


def table(batch: ProjectionBatch) -> str:
    """The projections in a few lines; a line for each way to fail."""
    ok, n = batch.success, len(batch)
    rows = [
        ("dofs, rows", f"{batch.problem.space.nv}, {batch.problem.constraints.size}"),
        ("projected", f"{int(ok.sum())} of {n} ({100.0 * float(ok.mean()):.1f} %)"),
        ("iterations", f"{np.median(batch.iterations):.0f} in the median, {batch.iterations.max()} at most"),
        ("time each", f"{1e3 * float(np.median(batch.seconds)):.2f} ms in the median"),
    ]
    if ok.any():
        limit = f"(threshold {batch.options.threshold:g})"
        rows.append(("largest residual", f"{batch.residual[ok].max():.2e} among the projected {limit}"))
    failed = [(status, count) for status, count in batch.counts.items() if status != Status.CONVERGED]
    rows += [(counted(count, "time"), str(status)) for status, count in failed]
    if failed:
        more = f"--max-iterations {larger_budget(batch.options.max_iterations)}"
        rows.append(("may help", f"`{more}`; `diagnose()` of one says whether it is difficult or impossible"))
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join(f"{name:{width}}{words}" for name, words in rows)


def _arrays(batch: ProjectionBatch) -> dict[str, Any]:
    figures = {name: getattr(batch, name) for name in ("iterations", "restarts", "residual", "seconds")}
    return {"q0": batch.starts, "q": batch.q, "status": np.array([status.name for status in batch.status]), **figures}


def _again(report: Report, plot: str | None) -> int:
    """Do the case of a report again."""
    projection = report.reproduce(trace=plot is not None)
    print(projection.describe())
    if plot is not None:
        projection.plot(plot)
    differences = report.differences(projection)
    if not differences:
        print("\nthe same as reported, bit for bit")
        return ALL_WELL
    print("\nnot the same as reported:")
    for line in (*differences, *report.other_versions()):
        print(f"  {line}")
    return NOT_ALL
