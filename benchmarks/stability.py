"""Static stability: does it agree with a linear program, and is it reached from postures that fall?

    python benchmarks/stability.py --sets 2000      # random contact sets against scipy's HiGHS
    python benchmarks/stability.py --starts 200     # projections of Talos from postures that fall
    python benchmarks/stability.py --check          # a short run of both that only shows that they run

Contact sets (`tests/contact_sets.py`): Talos' feet and hands, three points, line contacts, and nearly dependent ones,
in equal parts. The program looks for the least largest entry t of the missing wrench; its columns come from plain
pinocchio. A set counts as agreed on if both say stable or both say that it falls, and if the missing wrench r is
between t and sqrt(6) t, as it has to be. Starts have both feet in their places, bounds of joints met, and miss at least
1 % of the weight; a success is one where the program confirms the end.
"""

from __future__ import annotations

import sys
import time

import bench_setup  # noqa: F401
import numpy as np
from contact_sets import FEET, KINDS, SOLE, ContactSet, stance, unstable_starts
from proving import run_parts
from robots import talos

from constraints import Function, Implicit, Problem, Projector
from constraints.functions import ContactForces, StaticStability, StaticTorques, Support, SupportPolygon

STABLE = 1e-7
"""Part of the weight up to which a missing wrench is none."""
REACHED = 1e-4
"""The same for the end of a projection: the solver's threshold."""
SUCCESSES = 0.95
"""Part of the starts that has to succeed."""


def sets(count: int) -> bool:
    """Whether the function and the program agree on all sets; prints one line a kind."""
    agreed = True
    for kind in KINDS:
        stable, apart, worst = 0, list[int](), 0.0
        each = max(1, count // len(KINDS))
        for seed in range(each):
            contacts = ContactSet.drawn(kind, seed)
            r, t = float(np.linalg.norm(contacts.function.value(contacts.q))), contacts.least_largest()
            stable += r < STABLE
            beyond = max(t - r, r - np.sqrt(6.0) * t)
            worst = max(worst, beyond)
            if (r < STABLE) != (t < STABLE) or beyond > STABLE:
                apart.append(seed)
        print(f"{kind}: {each - len(apart)} of {each} agree, {stable} stable, bounds met to {worst:.1e}", *apart[:5])
        agreed &= not apart
    return agreed


def balances(grounds: list[Support]) -> dict[str, list[Implicit]]:
    """What is projected onto, by name, for feet on grounds."""
    robot = talos()
    stability, forces = StaticStability(robot, grounds), ContactForces(robot, grounds)
    torques, missing = StaticTorques(robot, grounds), forces.outputs.nv - 6
    lower, upper = (0.5 * side for side in torques.limits)
    wrench: Function = forces[list(range(missing, missing + 6))]
    return {
        "StaticStability": [Implicit.zero(stability, name="balance")],
        "SupportPolygon, 2 cm inside": [Implicit.above(SupportPolygon(robot, grounds), 0.02, name="balance")],
        "ContactForces in pyramids": [Implicit.below(forces.pyramids), Implicit.zero(wrench, name="wrench")],
        "StaticStability, half of the torques": [
            Implicit.zero(stability, name="balance"), Implicit(torques, lower=lower, upper=upper, scale=1.0 / upper),
        ],
    }  # fmt: skip


def starts(count: int) -> bool:
    """Whether enough projections from postures that fall succeed, on level ground and on slopes."""
    return all([starts_on(slope, count) for slope in (0.0, 0.35)])


def starts_on(slope: float, count: int) -> bool:
    """The same on slopes [rad]; prints one line a kind of constraint."""
    robot = talos()
    grounds = [Support(robot.frame(foot), SOLE, friction=0.5) for foot in FEET]
    _, held = stance(slope)
    given, enough = list(unstable_starts(slope, count)), True
    for name, rows in balances(grounds).items():
        if slope and name.startswith("SupportPolygon"):
            continue
        projector, good, steps, seconds = Projector(Problem(robot, [*held, *rows])), 0, list[int](), list[float]()
        for q in given:
            began = time.perf_counter()
            found = projector.project(q)
            seconds.append(time.perf_counter() - began)
            steps.append(found.iterations)
            confirmed = ContactSet(robot, found.q, grounds).least_largest() < REACHED
            good += found.success and confirmed
        print(
            f"slopes of {slope:.2f} rad, {name}: {good} of {count} reached, {np.median(steps):.0f} iterations, "
            f"{1e3 * np.median(seconds):.1f} ms"
        )
        enough &= good >= SUCCESSES * count
    return enough


if __name__ == "__main__":
    sys.exit(run_parts(__doc__, {"sets": (sets, 8), "starts": (starts, 2)}))
