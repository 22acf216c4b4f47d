"""Time of each map: one vector against its budget, a row of a batch, and pinocchio's groups in the same run.

    python benchmarks/spaces.py [--json FILE] [--check]

Times are medians in microseconds. A batch has 1000 rows. The Jacobian of ``error`` has 7 columns. Pinocchio's ``error``
is its difference, and with a Jacobian its difference, its dDifference and the product. Budgets are those of one vector.
"""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable
from functools import partial
from typing import Any

import bench_setup
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


Times = tuple[float, float | None, float | None]
"""Of one vector, of a row of a batch, and of pinocchio."""


def measure(space: Space, other: Any, seconds: float) -> dict[str, Times]:
    """Times by map."""
    us, rng = partial(median_us, seconds=seconds), np.random.default_rng(0)
    qs, ps, vs = space.random(rng, size=ROWS), space.random(rng, size=ROWS), rng.uniform(-1, 1, (ROWS, space.nv))
    q, p, v = qs[0], ps[0], vs[0]
    e, jacobian = np.empty(space.nv), np.zeros((space.nv, 7))
    first, second = pin.ArgumentPosition.ARG0, pin.ArgumentPosition.ARG1

    def pinocchio_error() -> None:
        e[...] = other.difference(q, p)
        jacobian[...] = other.dDifference(q, p, second) @ jacobian

    one, many = {"q": q, "p": p, "v": v}, {"q": qs, "p": ps, "v": vs}
    maps: dict[str, tuple[str, Callable[[], Any] | None]] = {
        "integrate": ("qv", lambda: other.integrate(q, v)),
        "difference": ("qp", lambda: other.difference(q, p)),
        "compose": ("qp", None),
        "exp": ("v", None),
        "log": ("q", None),
        "adjoint": ("q", None),
        "integrate_dq": ("qv", lambda: other.dIntegrate_dq(q, v)),
        "integrate_dv": ("qv", lambda: other.dIntegrate_dv(q, v)),
        "difference_dq0": ("qp", lambda: other.dDifference(q, p, first)),
        "difference_dq1": ("qp", lambda: other.dDifference(q, p, second)),
    }
    found: dict[str, Times] = {}
    for name, (given, theirs) in maps.items():
        single, rows = (partial(getattr(space, name), *(each[x] for x in given)) for each in (one, many))
        found[name] = us(single), us(rows) / ROWS, None if theirs is None else us(theirs)
    theirs = us(lambda: e.__setitem__(slice(None), other.difference(q, p)))
    found["error"] = us(lambda: space.error(q, p, e)), None, theirs
    found["error with J"] = us(lambda: space.error(q, p, e, jacobian)), None, us(pinocchio_error)
    return found


def cell(value: float | None) -> str:
    return f"{value:9.3f}" if value is not None else " " * 9


def main() -> None:
    options = bench_setup.command(__doc__, "json", "check").parse_args()
    seconds = 0.002 if options.check else 0.15

    table: list[dict[str, Any]] = []
    print(f"{'group':14} {'map':15} {'one':>9} {'budget':>9} {'row':>9} {'pinocchio':>9}   [us]")
    for group, (space, other) in GROUPS.items():
        for name, (one, row, theirs) in measure(space, other, seconds).items():
            budget = BUDGETS.get((group, name))
            over = "  over budget" if budget is not None and one > budget else ""
            print(f"{group:14} {name:15} {cell(one)} {cell(budget)} {cell(row)} {cell(theirs)}{over}")
            table.append({"group": group, "map": name, "one": one, "budget": budget, "row": row, "pinocchio": theirs})
    bench_setup.write(options.json, {"unit": "us", "rows": ROWS, "times": table})


if __name__ == "__main__":
    main()
