# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots,plot]"]
# ///
"""A Panda welds round a tube that stands on a table; its torch may turn about its own axis.

    python examples/weld_a_seam.py                    # follows the seam, says what is held, and where it would stop
    python examples/weld_a_seam.py --plot weld.png    # and draws it
    python examples/weld_a_seam.py --check            # fails if something is not as it should be

Five rows hold all the way: the tip of the torch on the seam, tilted to the tube. `follow` takes all starts at once. The
torch comes to the seam on a straight line. 0.25 m farther the arm reaches half of the seam only, and that is told.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from constraints import ConstraintError, Implicit, Pose, Problem, RightHandSide, Robot, rigid_transform
from constraints.collisions import CollisionModel, Shape
from constraints.pictures import Drawing, PhotoOptions, render
from constraints.planning import follow, straight_line
from liegroups import R3xSO3

PANDA = "package://example-robot-data/robots/panda_description"
URDF, SRDF = f"{PANDA}/urdf/panda.urdf", f"{PANDA}/srdf/panda.srdf"
HAND, LENGTH, RADIUS, SEAM, TILT = "panda_hand_tcp", 0.1, 0.06, 0.01, 0.6


class Cell(NamedTuple):
    problem: Problem
    collisions: CollisionModel
    shapes: list[Shape]


def cell(x: float) -> Cell:
    """The robot, a table, and a tube on it at (x, 0)."""
    robot = Robot.from_urdf(URDF, SRDF)
    tip = robot.frame(HAND, [0.0, 0.0, LENGTH, 0.0, 0.0, 0.0, 1.0])
    torch = Implicit.equal(Pose(robot, tip, outputs=R3xSO3), mask=[True] * 5 + [False], name="torch")
    fingers = [name for name in robot.joint_names if "finger" in name]
    tube = Shape("tube", "Cylinder", (RADIUS - 0.005, 0.06), placement=[x, 0.0, 0.03, 0.0, 0.0, 0.0, 1.0])
    table = Shape("table", "Box", (0.4, 0.6, 0.04), placement=[x, 0.0, -0.02, 0.0, 0.0, 0.0, 1.0])
    wire = Shape("wire", "Cylinder", (0.006, 0.07), robot.frame(HAND, [0.0, 0.0, 0.055, 0.0, 0.0, 0.0, 1.0]))
    shapes = [tube, table, wire]
    return Cell(Problem(robot, [torch], frozen=fingers), CollisionModel(robot, shapes, URDF), shapes)


def seam(problem: Problem, x: float) -> Callable[[float], RightHandSide]:
    """Half round the tube, from the robot to the far side: where the tip is, z of the torch tilted to the tube."""

    def targets(s: float) -> RightHandSide:
        angle = np.pi * (1.0 + s)
        place = rigid_transform([x + RADIUS * np.cos(angle), RADIUS * np.sin(angle), SEAM], rpy=[0.0, 0.0, angle])
        return problem.rhs.replace("torch", place * rigid_transform([0.0, 0.0, 0.0], rpy=[np.pi, TILT, 0.0]))

    return targets


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn (%(default)s)")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the path there")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # remarks on the robot's file
    try:
        here, far = cell(0.5), cell(0.75)
    except ConstraintError as missing:
        print(f"The scene needs the robots of example-robot-data: {missing}", file=sys.stderr)
        return 1
    rng = np.random.default_rng(options.seed)
    welded = follow(here.problem, seam(here.problem, 0.5), rng=rng, collisions=here.collisions)
    print(welded.describe())
    path = welded.or_raise()
    back = straight_line(here.problem, path.start, "torch", [0.0, 0.0, -1.0], 0.1)
    retreat = follow(here.problem, back, path.start, rng=rng, collisions=here.collisions).or_raise()
    whole = retreat.reversed() + path  # an approach is a retreat run backwards
    print(f"with the approach: {len(whole.samples)} samples")
    failed = follow(far.problem, seam(far.problem, 0.75), rng=rng, collisions=far.collisions)
    print(f"0.25 m farther: {failed}")
    if options.plot:
        drawing, photo = Drawing(shapes=here.shapes), PhotoOptions(width=240)
        render(whole, path=options.plot, drawing=drawing, count=6, photo=photo, view="3d")
    if options.check:
        assert all(held.error <= 1e-4 for held in whole.held())
        assert whole.max_jump().angle <= 0.1
        assert here.collisions.first_collision(whole) is None
        assert "singular" in failed.reason
        assert 0.5 < failed.reached < 0.55
    return 0


if __name__ == "__main__":
    sys.exit(main())
