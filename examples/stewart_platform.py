# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints"]
# ///
"""A Stewart-Gough platform follows a path: six legs whose lengths follow from the platform, and the other way round.

    python examples/stewart_platform.py            # prints what it does
    python examples/stewart_platform.py --plot OUT.png   # draws it on its path too
    python examples/stewart_platform.py --check    # the same; fails if something is not as it should be

Shows a closed chain as a mechanism: what it leaves free, assembly with some coordinates driven and the others solved
(inverse and forward kinematics are one function), and the velocities that keep it closed.
"""

from __future__ import annotations

import argparse

import numpy as np
import pinocchio as pin

from constraints.loops import AssemblyOptions, assemble_position, assemble_velocity
from constraints.models import Mechanism, mechanisms
from constraints.pictures import Drawing, plot_configurations

PERIOD = 2.0  # of the path [s]
STEPS = 40


def path(t: float) -> pin.SE3:
    """Placement of the platform at time t: round a circle, leaning inwards."""
    angle = 2.0 * np.pi * t / PERIOD
    lean = pin.exp3(0.2 * np.array([np.sin(angle), -np.cos(angle), 0.0]))
    return pin.SE3(lean, np.array([0.12 * np.cos(angle), 0.12 * np.sin(angle), 0.5 + 0.05 * np.sin(2.0 * angle)]))


def follow(platform: Mechanism) -> np.ndarray:
    """1. The platform is driven along the path; the legs are solved, each time from where they were."""
    robot, rows = platform.robot, platform.constraint_set()
    q, found = platform.posture("closed"), []
    for t in np.linspace(0.0, PERIOD, STEPS + 1):
        q = robot.configuration({"platform": path(t)}, start=q)
        done = assemble_position(rows, q, driven=["platform"], options=AssemblyOptions(tolerance=1e-11))
        if not done.success:
            raise SystemExit(f"the platform does not reach its path at {t:.2f} s: {done}")
        q = done.q
        found.append(q)
    return np.array(found)


def lengths(platform: Mechanism, q: np.ndarray) -> np.ndarray:
    """Lengths of the six legs [m]."""
    return np.array([q[platform.robot.slice_of(motor)][0] for motor in platform.motors])


def forward(platform: Mechanism, legs: np.ndarray, start: np.ndarray) -> np.ndarray:
    """2. The legs are driven, the platform is solved: forward kinematics."""
    values = dict(zip(platform.motors, legs, strict=True))
    q = platform.robot.configuration(values, start=start)
    return assemble_position(
        platform.constraint_set(), q, driven=platform.motors, options=AssemblyOptions(tolerance=1e-11)
    ).q


def leg_speeds(platform: Mechanism, q: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """3. Speeds of the legs [m/s] for a body twist (6,) of the platform."""
    robot, rows = platform.robot, platform.constraint_set()
    wanted = np.zeros(robot.nv)
    wanted[robot.velocity_slice_of("platform")] = twist
    v = assemble_velocity(rows, q, wanted, driven=["platform"])
    return np.array([v[robot.velocity_slice_of(motor)][0] for motor in platform.motors])


def main() -> None:
    parser = argparse.ArgumentParser(description="A Stewart-Gough platform follows a path.")
    parser.add_argument("--plot", metavar="OUT.png", help="draw it on its path there (extra `plot`)")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()

    platform = mechanisms.stewart_platform()
    q = platform.posture("closed")
    print(platform)
    print(f"{platform.judge(q)}\n")

    print("1. The platform goes round; the legs follow")
    found = follow(platform)
    for i in range(0, STEPS + 1, 10):
        legs = " ".join(f"{x:.3f}" for x in lengths(platform, found[i]))
        print(f"  {i * PERIOD / STEPS:.1f} s: legs {legs} m")

    print("\n2. The legs go back to their first lengths; the platform follows")
    middle = STEPS // 8  # a neighbour of the start: far away, forward kinematics may find another assembly
    back = forward(platform, lengths(platform, found[0]), found[middle])
    apart = platform.robot.space.difference(back, found[0])
    print(f"  platform {np.abs(apart).max():.1e} from where it was")

    print("\n3. Speeds of the legs at the start")
    h = 1e-5
    before, after = (mechanisms.stewart_posture(platform, path(t)) for t in (-h, h))
    twist = pin.log6(path(-h).actInv(path(h))).vector / (2.0 * h)
    speeds = leg_speeds(platform, found[0], twist)
    differences = (lengths(platform, after) - lengths(platform, before)) / (2.0 * h)
    print(f"  {' '.join(f'{x:+.3f}' for x in speeds)} m/s")
    print(f"  by differences of the inverse kinematics: within {np.abs(speeds - differences).max():.1e}")

    if options.plot is not None:
        groups = {f"{i * PERIOD / STEPS:.1f} s": found[i] for i in (0, STEPS // 3, 2 * STEPS // 3)}
        ends = [f"anchor{leg}" for leg in range(1, 7)] + [f"leg{leg}_end" for leg in range(1, 7)]
        plot_configurations(platform.robot, groups, options.plot, drawing=Drawing(tips=ends))
    if options.check:
        judged = platform.judge(q)
        assert (judged.rank, judged.mobility) == (18, 6)
        assert set(judged.independent) == set(platform.motors)
        times = np.linspace(0.0, PERIOD, STEPS + 1)
        exact = np.array([lengths(platform, mechanisms.stewart_posture(platform, path(t))) for t in times])
        np.testing.assert_allclose([lengths(platform, q) for q in found], exact, atol=1e-9)
        assert max(platform.judge(q).residual for q in found) <= 1e-10
        assert np.abs(np.diff([lengths(platform, q) for q in found], axis=0)).max() < 0.05  # it does not jump
        assert np.abs(apart).max() < 1e-8
        np.testing.assert_allclose(speeds, differences, atol=1e-7)


if __name__ == "__main__":
    main()
