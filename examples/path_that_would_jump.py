# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots,plot]"]
# ///
"""A UR5 turns a torch about its axis; on one path its elbow would flip on the way, and certification finds it.

    python examples/path_that_would_jump.py                    # two paths, and what is proved of them
    python examples/path_that_would_jump.py --plot jump.png    # and their elbows
    python examples/path_that_would_jump.py --check            # fails if something is not as it should be

The torch keeps its place and its axis, so the arm can only turn its last joint: the elbow stays as it is. Nearly
stretched it has two postures, 0.06 rad apart in the elbow. A path from one to the other passes through the stretched
arm, which misses the place by less than the threshold of 0.1 mm: interpolation takes it for a path on the constraints.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from constraints import Implicit, Options, Pose, Problem, Projector, Robot
from constraints.paths import Path, interpolate
from liegroups import R3xSO3

UR5 = "package://example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
ELBOW = 0.03


def paths() -> tuple[Path, Path]:
    """The last joint turns by 0.3 rad: with the elbow as it is, and with the elbow on its other side at the end."""
    robot = Robot.from_urdf(UR5)
    start = np.array([0.3, -1.1, ELBOW, -0.7, -1.2, 0.4])
    tool = Pose(robot, "tool0", outputs=R3xSO3)
    torch = Implicit.equal(tool, tool.value(start), mask=[True] * 5 + [False], name="torch")
    problem = Problem(robot, [torch])
    near = start + ELBOW * np.array([0.0, 1.0, -2.0, 1.0, 0.0, 0.0])
    other = Projector(problem, Options.local(threshold=1e-10)).project(near).or_raise().q
    turn = 0.3 * np.eye(6)[5]
    return interpolate(problem, start, start + turn).or_raise(), interpolate(problem, start, other + turn).or_raise()


def draw(file: str, both: tuple[Path, Path]) -> None:
    """The elbow along both paths, and where the elbow of solutions is."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
    for path, name in zip(both, ("proved", "not proved"), strict=True):
        times = np.linspace(0.0, 1.0, 101)
        axes.plot(times, [path(t)[2] for t in times], label=f"{name}: within 0.1 mm all the way")
        axes.plot(path.times, path.samples[:, 2], "k.")
    for side in (1.0, -1.0):
        axes.axhline(side * ELBOW, color="gray", linestyle=":", label="exact solutions" if side > 0.0 else None)
    axes.set(xlabel="time [s]", ylabel="elbow [rad]")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.1), fontsize="small")
    figure.savefig(file, dpi=100)


def main() -> int:
    """Certify both paths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="FILE", help="draw the elbow along both paths")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()
    good, both = True, paths()
    for name, path, proved in zip(("elbow stays", "elbow flips"), both, (True, False), strict=True):
        found = path.certify()
        elbow = path.samples[[0, -1], 2]
        print(f"{name}: from {elbow[0]:.3f} to {elbow[1]:.3f} rad, largest error {path.max_error():.1e}")
        print(f"  {found}")
        good &= found.success is proved and path.max_error() < 1e-4 and not (proved and found.check())
    if options.plot:
        draw(options.plot, both)
    return 1 if options.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
