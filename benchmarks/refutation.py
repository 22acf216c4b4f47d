"""Are targets out of reach refuted, are those within reach never, are all solutions found; and how long does it take?

    python benchmarks/refutation.py --beyond 10      # targets just beyond reach of five robots, so many each
    python benchmarks/refutation.py --near 10        # the same nearer and nearer, until they are open
    python benchmarks/refutation.py --within 10000   # targets within reach: none may be refuted
    python benchmarks/refutation.py --postures 5     # all postures of a UR5 at so many poses, and others
    python benchmarks/refutation.py --check          # a little of each

Targets beyond reach: the farthest point along a random direction, by many climbs, and a step more. Seconds are those of
the processor. Exit code 1 where something does not hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import bench_setup  # noqa: F401
import numpy as np
import published_postures as published
from out_of_reach import farthest
from proving import run_parts
from robots import arm, panda, talos, two_arms, ur5
from timing import with_seconds

from constraints import Implicit, Orientation, Pose, Position, Problem, Rotation, Transformation
from constraints.certificates import CertificateStatus, CompleteBy, SearchLimits, all_solutions, refute
from constraints.certificates.boxes.chains import Screws
from constraints.models.mechanisms import five_bar

REFUTED, SOLVED = CertificateStatus.REFUTED, CertificateStatus.SOLVED


def refuted_in(problem: Problem, seconds: float) -> tuple[Any, float]:
    """Its refutation, and the seconds of the processor."""
    return with_seconds(lambda: refute(problem, limits=SearchLimits(seconds)))


def of_an_arm(robot: Any, frame: str) -> Callable[[float, np.random.Generator], Problem]:
    """Problems of a point so far beyond reach."""

    def at(beyond: float, rng: np.random.Generator) -> Problem:
        point, u = farthest(robot, frame, rng, climbs=25)
        return Problem(robot, [Implicit.equal(Position(robot, frame), point + beyond * u)])

    return at


def of_a_five_bar(beyond: float, rng: np.random.Generator) -> Problem:
    """Its tips together, so far beyond the reach of the arm that is farther away."""
    robot, angle = five_bar().robot, rng.uniform(-np.pi, np.pi)
    u = np.array([np.cos(angle), np.sin(angle)])
    tip = np.array([-0.15 if u[0] > 0.0 else 0.15, 0.0]) + (0.6 + beyond) * u
    left = Position(robot, "left_outer_end"), Position(robot, "left_outer_end", reference="right_outer_end")
    return Problem(robot, [Implicit.equal(left[0][:2], tip), Implicit.equal(left[1][:2], [0.0, 0.0])])


def of_talos(beyond: float, rng: np.random.Generator) -> Problem:
    """A hand seen from the torso, beyond the sum of the lengths from joint to joint."""
    robot, u = talos(), rng.normal(size=3)
    f = Position(robot, "gripper_left_base_link", reference="torso_2_link")
    screws = Screws.of(f, np.array(robot.space.neutral))
    assert screws is not None
    points = np.vstack([screws.origins, screws.position])
    total = float(np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1)).sum())
    return Problem(robot, [Implicit.equal(f, points[0] + (total + beyond) * u / np.linalg.norm(u))])


BEYOND: dict[str, tuple[Callable[[float, np.random.Generator], Problem], float, float]] = {
    "five-bar": (of_a_five_bar, 1e-3, 0.1),
    "UR5": (of_an_arm(ur5(), "ee_link"), 1e-3, 10.0),
    "Panda": (of_an_arm(panda(), "panda_hand_tcp"), 5e-3, 30.0),
    "sample arm": (of_an_arm(arm(), "tool"), 5e-3, 30.0),
    "hand of Talos": (of_talos, 1e-2, 1.0),
}
"""By robot: problems, how far beyond [m], and the seconds in which nine of ten are to be refuted."""


def beyond(count: int) -> bool:
    """Targets just beyond reach."""
    holds = True
    for name, (problem, step, limit) in BEYOND.items():
        rng, times, refuted = np.random.default_rng(1), list[float](), 0
        for _ in range(count):
            found, took = refuted_in(problem(step, rng), 10.0 * limit)  # by the clock, of which others take a part
            refuted += found.status is REFUTED
            times.append(took if found.status is REFUTED else np.inf)
        nine = float(np.quantile(times, 0.9, method="higher" if count < 10 else "lower"))
        print(
            f"{name}, {1e3 * step:g} mm beyond: {refuted} of {count}, nine of ten in {nine:.3f} s (limit {limit:g} s)"
        )
        holds &= nine <= limit
    return holds


def near(count: int) -> bool:
    """Nearer and nearer targets: refuted or open."""
    for name, (problem, _, _) in BEYOND.items():
        for step in (1e-3, 1e-4, 1e-5, 1e-6):
            rng, ended, times = np.random.default_rng(2), Counter[str](), list[float]()
            for _ in range(count):
                found, took = refuted_in(problem(step, rng), 10.0)
                ended[found.status.name] += 1
                times.append(took)
            print(f"{name}, {1e3 * step:g} mm beyond: {dict(ended)}, median {np.median(times):.3f} s")
    return True


def within(count: int) -> bool:
    """Targets that a configuration reaches, of five robots and all kinds of rows."""
    rng, ended, wrong = np.random.default_rng(3), Counter[str](), 0
    listed: list[tuple[Any, tuple[str, str]]] = [
        (arm(), ("tool", "elbow")), (two_arms(), ("left_tool", "right_tool")), (ur5(), ("ee_link", "wrist_1_link")),
        (panda(), ("panda_hand_tcp", "panda_link5")), (five_bar().robot, ("left_outer_end", "right_inner_end")),
    ]  # fmt: skip
    kinds: list[Any] = [Position, Pose, Transformation, Rotation, Orientation]
    for i in range(count):
        robot, frames = listed[i % len(listed)]
        q = robot.random(rng)
        if i % 3 == 0:  # stretched, or at bounds
            some = rng.random(robot.nq) < 0.5
            q[some] = np.clip(0.0, robot.bounds.lower, robot.bounds.upper)[some]
        f = kinds[int(rng.integers(5))](robot, frames[0], reference=frames[1] if rng.random() < 0.3 else None)
        found = refute(Problem(robot, [Implicit.equal(f, f.value(q))]), limits=SearchLimits(0.5))
        ended[found.status.name] += 1
        wrong += found.status is REFUTED
    print(f"within reach: {dict(ended)}, refuted wrongly: {wrong}")
    return wrong == 0


def postures(count: int) -> bool:
    """All postures."""
    robot, rng, holds = ur5(), np.random.default_rng(4), True
    f = Pose(robot, "ee_link")
    cases: list[tuple[str, Problem, dict[str, Any], int | None]] = [
        (f"UR5, pose {i}", Problem(robot, [Implicit.equal(f, f.value(robot.random(rng)))]), {}, None)
        for i in range(count)
    ]
    plate = published.three_rrr(**published.SIX_POSTURES)
    cases += [
        ("Manseur and Doty", published.manseur_doty(), {}, 16),
        ("Manseur and Doty", published.manseur_doty(), {"count": 16, "source": published.SIXTEEN}, 16),
        ("3-RRR", plate, {}, 6),
        ("3-RRR", plate, {"count": 6, "source": published.SIX}, 6),
        ("Dietmaier", published.dietmaier(), {"count": 40, "source": published.FORTY}, 40),
    ]
    for name, problem, options, known in cases:
        found, took = with_seconds(lambda p=problem, o=options: all_solutions(p, limits=SearchLimits(60.0), **o))
        by = found.complete_by.name if isinstance(found.complete_by, CompleteBy) else "nothing"
        print(f"{name}: {len(found)} postures, complete by {by}, {found.boxes} boxes, {took:.1f} s")
        holds &= found.success and all(c.check() == [] for c in found.certificates)
        holds &= known is None or len(found) == known
    return holds


PARTS: dict[str, tuple[Callable[[int], bool], int]] = {
    "beyond": (beyond, 2), "near": (near, 0), "within": (within, 40), "postures": (postures, 1),
}  # fmt: skip
"""By option: what runs, and how much of it with `--check`."""


if __name__ == "__main__":
    raise SystemExit(run_parts(__doc__, PARTS))
