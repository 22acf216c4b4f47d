"""Draws docs/concepts.png: a projection of an arm with two joints, in the plane of its joint angles and in the world.

python docs/concepts_figure.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import patches, pyplot as plt

from constraints import Implicit, Options, Position, Problem, Projector, Robot

ARM = """<robot name="two_joints"><link name="base"/><link name="upper"/><link name="fore"/><link name="tip"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-0.4" upper="2.4" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2.4" upper="2.4" effort="1" velocity="1"/></joint>
  <joint name="end" type="fixed"><parent link="fore"/><child link="tip"/><origin xyz="0.8 0 0"/></joint></robot>"""
LEAVES, WANTED, START = (-0.4, 0.0, 0.4, 0.8, 1.2, 1.6), 0.8, (2.0, -0.2)


def draw(path: Path) -> None:
    """Project, and draw what came out."""
    robot = Robot.from_urdf(ARM)
    line = Implicit.equal(Position(robot, "tip"), [WANTED, 0.0, 0.0], mask=[True, False, False], name="x of the tip")
    problem = Problem(robot, [line])
    done = Projector(problem, Options.local(trace=True, damping=0.3)).project(START).or_raise()
    assert done.trace is not None
    steps = np.array([step.q for step in done.trace])

    figure, (joints, world) = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained")
    first, second = np.meshgrid(np.linspace(-0.9, 2.9, 200), np.linspace(-2.9, 2.9, 200))
    x = np.cos(first) + 0.8 * np.cos(first + second)
    joints.contour(first, second, x, LEAVES, colors="0.75", linewidths=1.0, linestyles="solid")
    joints.contour(first, second, x, [WANTED], colors="tab:blue", linewidths=2.0)
    lower, upper = robot.bounds.lower, robot.bounds.upper
    joints.add_patch(patches.Rectangle(tuple(lower), *(upper - lower), fill=False, linestyle="--", color="0.3"))
    joints.plot(*steps.T, "o-", color="tab:red", markersize=4)
    joints.annotate("start $q_0$", steps[0], (6, 6), textcoords="offset points")
    joints.annotate("$q$", steps[-1], (-14, -4), textcoords="offset points")
    tangent = problem.tangent_basis(done.q)[:, 0]
    tangent = tangent * np.sign(tangent[0])
    joints.annotate("", done.q - 0.8 * tangent, done.q, arrowprops={"arrowstyle": "->", "color": "tab:green", "lw": 2})
    joints.annotate("tangent", done.q - 0.8 * tangent, (4, -4), textcoords="offset points", color="tab:green")
    joints.text(lower[0] + 0.06, lower[1] + 0.1, "bounds", color="0.3")
    joints.set(xlabel="shoulder [rad]", ylabel="elbow [rad]", title="blue: solutions for one right-hand side")

    world.axvline(WANTED, color="tab:blue", linewidth=2.0)
    for other in LEAVES:
        world.axvline(other, color="0.85", linewidth=1.0, zorder=0)
    for k, q in enumerate(steps):
        posture = robot.at(q)
        points = [posture.placement(robot.frame(name)).translation[:2] for name in ("upper", "fore", "tip")]
        part = k / max(len(steps) - 1, 1)
        world.plot(*np.array(points).T, "o-", color="tab:red", alpha=0.25 + 0.75 * part, linewidth=2.5, markersize=4)
    world.set(xlabel="x [m]", ylabel="y [m]", title="x of the tip = right-hand side", aspect="equal")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "concepts.png")
