"""Time of each map: one vector against its budget, a row of a batch, and pinocchio's groups in the same run.

    python benchmarks/spaces.py [--json FILE]

Times are medians in microseconds. A batch has 1000 rows. The Jacobian of ``error`` has 7 columns. Pinocchio's ``error``
is its difference, and with a Jacobian its difference, its dDifference and the product. Budgets are those of one vector.
"""

from __future__ import annotations

import argparse
import json
import statistics
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from liegroups import SE2, SE3, SO2, SO3, R3xSO3, Rn, Space

ROWS = 1000

GROUPS: dict[str, tuple[Space, Any]] = {
    "R7": (Rn(7), pin.liegroups.Rn(7)),
    "SO2": (SO2, pin.liegroups.SO2()),
    "SE2": (SE2, pin.liegroups.SE2()),
    "SO3": (SO3, pin.liegroups.SO3()),
    "SE3": (SE3, pin.liegroups.SE3()),
    "R3xSO3": (R3xSO3, pin.liegroups.Rn(3) * pin.liegroups.SO3()),
    "SE3 x (R1)^30": (SE3 * Rn(1) ** 30, pin.liegroups.SE3() * pin.liegroups.Rn(30)),
}
BUDGETS = {
    ("SO3", "integrate"): 2.0,
    ("SO3", "difference"): 2.0,
    ("SO3", "error with J"): 4.0,
    ("SE3", "integrate"): 5.0,
    ("SE3", "difference"): 5.0,
    ("SE3", "error with J"): 10.0,
}


def median_us(call: Callable[[], Any], seconds: float) -> float:
    """Median time of a call in microseconds."""
    timer = timeit.Timer(call)
    number = max(1, int(seconds / 21 / max(timer.timeit(3) / 3, 1e-7)))
    return statistics.median(timer.repeat(repeat=21, number=number)) / number * 1e6


def measure(space: Space, other: Any, seconds: float) -> dict[str, tuple[float, float | None, float | None]]:
    """Times of one vector, of a row of a batch, and of pinocchio, by map."""
    rng = np.random.default_rng(0)
    qs, ps, vs = space.random(rng, size=ROWS), space.random(rng, size=ROWS), rng.uniform(-1, 1, (ROWS, space.nv))
    q, p, v = qs[0], ps[0], vs[0]
    e, jacobian = np.empty(space.nv), np.zeros((space.nv, 7))
    first, second = pin.ArgumentPosition.ARG0, pin.ArgumentPosition.ARG1

    def pinocchio_error() -> None:
        e[...] = other.difference(q, p)
        jacobian[...] = other.dDifference(q, p, second) @ jacobian

    calls: dict[str, tuple[Callable[[], Any], Callable[[], Any] | None, Callable[[], Any] | None]] = {
        "integrate": (lambda: space.integrate(q, v), lambda: space.integrate(qs, vs), lambda: other.integrate(q, v)),
        "difference": (
            lambda: space.difference(q, p),
            lambda: space.difference(qs, ps),
            lambda: other.difference(q, p),
        ),
        "compose": (lambda: space.compose(q, p), lambda: space.compose(qs, ps), None),
        "exp": (lambda: space.exp(v), lambda: space.exp(vs), None),
        "log": (lambda: space.log(q), lambda: space.log(qs), None),
        "adjoint": (lambda: space.adjoint(q), lambda: space.adjoint(qs), None),
        "integrate_dq": (
            lambda: space.integrate_dq(q, v),
            lambda: space.integrate_dq(qs, vs),
            lambda: other.dIntegrate_dq(q, v),
        ),
        "integrate_dv": (
            lambda: space.integrate_dv(q, v),
            lambda: space.integrate_dv(qs, vs),
            lambda: other.dIntegrate_dv(q, v),
        ),
        "difference_dq0": (
            lambda: space.difference_dq0(q, p),
            lambda: space.difference_dq0(qs, ps),
            lambda: other.dDifference(q, p, first),
        ),
        "difference_dq1": (
            lambda: space.difference_dq1(q, p),
            lambda: space.difference_dq1(qs, ps),
            lambda: other.dDifference(q, p, second),
        ),
        "error": (lambda: space.error(q, p, e), None, lambda: e.__setitem__(slice(None), other.difference(q, p))),
        "error with J": (lambda: space.error(q, p, e, jacobian), None, pinocchio_error),
    }
    found: dict[str, tuple[float, float | None, float | None]] = {}
    for name, (one, rows, theirs) in calls.items():
        found[name] = (
            median_us(one, seconds),
            None if rows is None else median_us(rows, seconds) / ROWS,
            None if theirs is None else median_us(theirs, seconds),
        )
    return found


def cell(value: float | None) -> str:
    return f"{value:9.3f}" if value is not None else " " * 9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the table to this file too")
    parser.add_argument("--check", action="store_true", help="a short run that only shows that everything runs")
    options = parser.parse_args()
    seconds = 0.002 if options.check else 0.15

    table: list[dict[str, Any]] = []
    print(f"{'group':14} {'map':15} {'one':>9} {'budget':>9} {'row':>9} {'pinocchio':>9}   [us]")
    for group, (space, other) in GROUPS.items():
        for name, (one, row, theirs) in measure(space, other, seconds).items():
            budget = BUDGETS.get((group, name))
            over = "  over budget" if budget is not None and one > budget else ""
            print(f"{group:14} {name:15} {cell(one)} {cell(budget)} {cell(row)} {cell(theirs)}{over}")
            table.append({"group": group, "map": name, "one": one, "budget": budget, "row": row, "pinocchio": theirs})
    if options.json:
        options.json.write_text(json.dumps({"unit": "us", "rows": ROWS, "times": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
