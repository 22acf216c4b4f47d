"""Growth of sparse forward dynamics: the scissor lift of n stages, against the closed form of its one freedom.

    taskset -c 1 python benchmarks/growth.py [--stages 30 100 300] [--repeat 30] [--json FILE]

A call is all of it: kinematics, rows, choice of independent rows, assembly, factorisation, checks. Times are those of
the processor, of calls that go round, so that a busy machine is one for all. What is done once a constraint set (its
structure) and once a workspace (pinocchio's memory) is reported apart. Pinocchio's `Data` has tensors of nv^3 numbers:
13 GB at n = 300.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import bench_setup
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from timing import in_bursts, with_seconds

from constraints import Robot
from constraints.dynamics.methods.sparse_solution import solve_sparse
from constraints.loops import Closure, ConstraintSet
from constraints.models import mechanisms

__all__ = ["closed_form", "falling", "lift"]

Vector = NDArray[np.float64]
Row = dict[str, Any]
BAR, GRAVITY, SPEED, PUSH = 0.6, 9.81, 0.7, 2.0


def lift(stages: int, angle: float = 0.5) -> tuple[ConstraintSet, Vector]:
    """A scissor lift with gravity along -y, and its closed configuration."""
    return falling(mechanisms.scissor_lift(stages, BAR, angle))


def falling(made: Any) -> tuple[ConstraintSet, Vector]:
    """A planar mechanism with gravity along -y, and its closed configuration."""
    model: Any = pin.Model(made.robot.model)
    model.gravity = pin.Motion(np.array([0.0, -GRAVITY, 0.0]), np.zeros(3))
    robot = Robot(model)
    closures = [Closure(robot, c.predecessor, c.successor, c.hinge, name=c.name) for c in made.closures]
    return ConstraintSet(robot, closures), made.postures["closed"]


def closed_form(stages: int, angle: float, speed: float, push: float) -> tuple[Vector, Vector]:
    r"""Joint velocities and accelerations of the lift, by Lagrange's equation in the angle t of its bars.

    The centres of both bars of stage i are at (L/2 cos t, (i - 1/2) L sin t), the foot is at (L cos t, 0), so that

    .. math::

        2T &= \dot t^2 A(t), \qquad V = m g L n^2 \sin t \\
        A &= 2n (I + m L^2/4 \sin^2 t) + m L^2 n(4n^2 - 1)/6 \cos^2 t + m_f L^2 \sin^2 t

    and A t'' + A' t'^2 / 2 + V' = -L sin t F. The slide is at L cos t, the first bar at t, the others turn by +-2 t.

    Args:
        stages: n.
        angle: t [rad].
        speed: its rate [rad/s].
        push: F, on the slide [N].
    """
    n, L, s, c = stages, BAR, math.sin(angle), math.cos(angle)
    m, foot = 2.0 * L, 1.0
    inertia = m * L * L / 12.0 + 1e-4 * m
    heights = n * (4 * n * n - 1) / 6
    A = 2 * n * (inertia + m * L * L / 4 * s * s) + m * L * L * heights * c * c + foot * L * L * s * s
    slope = 2 * s * c * (2 * n * m * L * L / 4 - m * L * L * heights + foot * L * L)
    rate = (-L * s * push - m * GRAVITY * L * n * n * c - 0.5 * slope * speed * speed) / A
    v, a = np.empty(2 * n + 1), np.empty(2 * n + 1)
    for out, x, first in ((v, speed, -L * s * speed), (a, rate, -L * s * rate - L * c * speed * speed)):
        out[1::2], out[2::2] = 2.0 * x, -2.0 * x
        out[0], out[1] = first, x
    return v, a


def measured(stages: int) -> tuple[Row, Callable[[], Any]]:
    """Set up a lift: costs of the first call, and the error; and the call."""
    constraint_set, q = lift(stages)
    v, a = closed_form(stages, float(q[1]), SPEED, PUSH)
    tau = np.zeros(v.size)
    tau[0] = PUSH
    motion, memory = with_seconds(lambda: constraint_set.robot.at(q, v))
    solution, first = with_seconds(lambda: solve_sparse(constraint_set, motion, tau))
    row = {
        "stages": stages, "workspace_s": memory, "first_call_s": first, "status": solution.status.name,
        "error": float(np.abs(solution.acceleration - a).max() / np.abs(a).max()), "rank": solution.rank,
    }  # fmt: skip
    return row, lambda: solve_sparse(constraint_set, constraint_set.robot.at(q, v), tau)


def main() -> None:
    parser = bench_setup.command(__doc__, "json", repeat=(30, "of each call"))
    parser.add_argument("--stages", type=bench_setup.whole(1), nargs="+", default=[30, 100, 300], metavar="N")
    options = parser.parse_args()
    made = [measured(n) for n in options.stages]
    times = in_bursts({i: call for i, (_, call) in enumerate(made)}, options.repeat)
    rows = [row for row, _ in made]
    for i, row in enumerate(rows):
        row["median_ms"], row["least_ms"] = 1e-3 * float(np.median(times[i])), 1e-3 * float(times[i].min())
        print(
            f"n {row['stages']:4d}: median {row['median_ms']:7.2f} ms, least {row['least_ms']:7.2f} ms, error "
            f"{row['error']:.1e}, {row['status']}, rank {row['rank']}; first call {row['first_call_s']:.3f} s, "
            f"workspace {row['workspace_s']:.3f} s"
        )
    for key in ("median_ms", "least_ms"):
        pairs = [*pairwise(rows), (rows[0], rows[-1])] if len(rows) > 1 else []
        exponents = [math.log(b[key] / a[key]) / math.log(b["stages"] / a["stages"]) for a, b in pairs]
        print(f"exponents by {key}:", ", ".join(f"{e:.2f}" for e in exponents), "(the last: over all)")
    bench_setup.write(options.json, rows)


if __name__ == "__main__":
    main()
