# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots,plot]"]
# ///
"""A Panda carries a glass upright, at a height, round a post.

    python examples/carry_a_glass.py                     # plans a path, shortens it, says what it holds
    python examples/carry_a_glass.py --plot glass.png    # and draws it
    python examples/carry_a_glass.py --check             # fails if something is not as it should be

Three rows hold all the way: the hand points down, at 0.35 m. `connect` finds a way, `shorten` makes it shorter.
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import NamedTuple

import numpy as np

from constraints import ConstraintError, Implicit, Options, Orientation, Position, Problem, Projector, Robot
from constraints.collisions import CollisionModel, Shape
from constraints.pictures import Drawing, PhotoOptions, render
from constraints.planning import connect, shorten

PANDA = "package://example-robot-data/robots/panda_description"
URDF, SRDF = f"{PANDA}/urdf/panda.urdf", f"{PANDA}/srdf/panda.srdf"
HAND, HEIGHT = "panda_hand_tcp", 0.35
POST = Shape("post", "Cylinder", (0.05, 1.2), placement=[0.45, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0])
REST = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, 0.02, 0.02])


class Glass(NamedTuple):
    robot: Robot
    problem: Problem
    collisions: CollisionModel

    def at(self, x: float, y: float) -> np.ndarray:
        """A configuration with the hand there, near the usual posture."""
        there = Implicit.equal(Position(self.robot, HAND), [x, y, HEIGHT], name="there")
        both = self.problem | Problem(self.robot, [there])
        return np.array(Projector(both, Options(threshold=1e-6)).project(REST).or_raise().q)


def glass() -> Glass:
    """The scene: hand upright at a height, fingers at rest, a post."""
    robot = Robot.from_urdf(URDF, SRDF)
    down = robot.frame("universe", [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    upright = Implicit.zero(Orientation(robot, HAND, reference=down), mask=[True, True, False], name="upright")
    height = Implicit.equal(Position(robot, HAND), [0.0, 0.0, HEIGHT], mask=[False, False, True], name="height")
    fingers = [name for name in robot.joint_names if "finger" in name]
    return Glass(robot, Problem(robot, [upright, height], frozen=fingers), CollisionModel(robot, [POST], URDF))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn (%(default)s)")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the path there")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # remarks on the robot's file
    try:
        scene = glass()
    except ConstraintError as missing:
        print(f"The scene needs the robots of example-robot-data: {missing}", file=sys.stderr)
        return 1
    rng, start, goal = np.random.default_rng(options.seed), scene.at(0.35, -0.4), scene.at(0.35, 0.4)
    found = connect(scene.problem, start, goal, rng=rng, collisions=scene.collisions)
    print(found.status.value)
    way = found.or_raise()
    path = shorten(way, rng=rng, collisions=scene.collisions)
    print(f"shorter: {path.length / way.length:.0%} of the length")
    for held in path.held():
        print(f"held: {held.name}, to {held.error:.0e}")
    if options.plot:
        drawing, photo = Drawing(shapes=[POST]), PhotoOptions(width=360)
        render(path, path=options.plot, drawing=drawing, count=6, photo=photo, view="3d")
    if options.check:
        assert path.length <= way.length
        assert all(held.error <= 1e-4 for held in path.held())
        assert scene.collisions.first_collision(path) is None
        assert np.array_equal(path.start, start)
        assert np.array_equal(path.end, goal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
