# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots,plot]"]
# ///
"""Two UR5 hold one bar and bring it from above a shelf to below it: a closed chain, planned.

    python examples/two_arms_one_bar.py                   # plans a path, shortens it, says what it holds
    python examples/two_arms_one_bar.py --plot bar.png    # and draws it
    python examples/two_arms_one_bar.py --check           # fails if something is not as it should be

Six rows hold all the way: the right hand seen from the left one. Nothing else is said about the twelve joints:
`connect` finds how the arms draw the bar back, round the edge of the shelf and in again below.
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import NamedTuple

import numpy as np

from constraints import ConstraintError, Frame, Implicit, Options, Part, Pose, Problem, Projector, Robot
from constraints.collisions import CollisionModel, Shape
from constraints.manipulation import read_semantics
from constraints.pictures import Drawing, PhotoOptions, render
from constraints.planning import connect, shorten

UR = "package://example-robot-data/robots/ur_description"
URDF, SRDF = f"{UR}/urdf/ur5_gripper.urdf", f"{UR}/srdf/ur5_gripper.srdf"
BASES = {"left": [-0.35, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], "right": [0.35, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]}
APART = 0.4  # of the hands, along the bar [m]
BAR = (0.03, 0.5, 0.03)  # along y of the hands [m]
SHELF = Shape("shelf", "Box", (1.0, 0.3, 0.03), placement=[0.0, 0.65, 0.45, 0.0, 0.0, 0.0, 1.0])
ABOVE, BELOW = (0.6, 0.62), (0.6, 0.28)  # y and z of the bar [m]
NEAR = np.array([1.03, -1.19, 0.57, 0.63, 1.03, 0.0, 1.66, -1.19, 0.57, 0.63, 1.66, 0.0])  # above, elbows up [rad]
FORWARD = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]  # x of the hands along y of the world


class Arms(NamedTuple):
    robot: Robot
    problem: Problem
    collisions: CollisionModel
    shapes: list[Shape]
    hands: tuple[Frame, Frame]

    def at(self, y: float, z: float, near: np.ndarray) -> np.ndarray:
        """The configuration with the bar there, level, reached from another one without a jump."""
        there = Implicit.equal(Pose(self.robot, self.hands[0]), [-0.5 * APART, y, z, *FORWARD], name="there")
        both = self.problem | Problem(self.robot, [there])
        return np.array(Projector(both, Options.local(threshold=1e-9)).project(near).or_raise().q)


def arms() -> Arms:
    """The scene: two arms, a bar that both hold, a shelf."""
    arm = Robot.from_urdf(URDF, SRDF)
    robot = Robot.system([Part(name, arm, place) for name, place in BASES.items()])
    left, right = (next(iter(read_semantics(robot, SRDF, name).grippers.values())).frame for name in BASES)
    held = Implicit.equal(Pose(robot, right, reference=left), [0.0, -APART, 0.0, 0.0, 0.0, 0.0, 1.0], name="bar")
    bar = Shape("bar", "Box", BAR, left, placement=[0.0, -0.5 * APART, 0.0, 0.0, 0.0, 0.0, 1.0])
    shapes = [SHELF, bar]
    model = CollisionModel(robot, shapes, dict.fromkeys(BASES, URDF))
    hand = [name for name, joint in zip(model.names, model.joints, strict=True) if joint == "right/wrist_3_joint"]
    model = model.without(*((name, "bar") for name in hand))  # it holds the bar, too
    return Arms(robot, Problem(robot, [held]), model, shapes, (left, right))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn (%(default)s)")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the path there")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # remarks on the robot's file
    try:
        scene = arms()
    except ConstraintError as missing:
        print(f"The scene needs the robots of example-robot-data: {missing}", file=sys.stderr)
        return 1
    start = scene.at(*ABOVE, NEAR)
    goal = scene.at(*BELOW, start)
    rng = np.random.default_rng(options.seed)
    print(f"{scene.robot.nv} joints, {scene.problem.constraints.size} rows, {len(scene.collisions.pairs)} pairs")
    found = connect(scene.problem, start, goal, rng=rng, collisions=scene.collisions)
    print(found.status.value)
    way = found.or_raise()
    path = shorten(way, rng=rng, collisions=scene.collisions)
    print(f"{found.effort.nodes} configurations were tried; shortened to {path.length / way.length:.0%} of the length")
    for held in path.held():
        print(f"held: {held.name}, to {held.error:.0e}")
    check = scene.collisions.check_path(path)
    print("nothing collides" if check.collision is None else f"{check.collision.a} meets {check.collision.b}")
    if options.plot:
        drawing, photo = Drawing(shapes=scene.shapes), PhotoOptions(width=360)
        render(path, path=options.plot, drawing=drawing, count=6, photo=photo, view="3d")
    if options.check:
        assert path.length <= way.length
        assert all(held.error <= 1e-4 for held in path.held())
        assert check.collision is None
        assert np.array_equal(path.start, start)
        assert np.array_equal(path.end, goal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
