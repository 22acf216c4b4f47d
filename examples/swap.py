# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots,plot]"]
# ///
"""Two balls change places: `plan` finds that one has to be put aside, and where.

    python examples/swap.py                    # plans, and says what it found
    python examples/swap.py --plot swap.png    # and draws it
    python examples/swap.py --check            # fails if something is not as it should be

The scene `ur3-spheres` of hpp-python: a UR3 with a gripper, two balls of 2 cm on a floor. No sequence of grasps is
given, and no guess: the start, the goal and the collision model are enough.
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from constraints import Base, ConstraintError, Part, Robot, Surface
from constraints.collisions import CollisionModel, Shape
from constraints.manipulation import ConstraintGraph, ConstraintGraphFactory, Handle, MovableObject, read_semantics
from constraints.pictures import Drawing, PhotoOptions, render
from constraints.planning import plan

UR = "package://example-robot-data/robots/ur_description"
ARM, SRDF = f"{UR}/urdf/ur3_gripper.urdf", f"{UR}/srdf/ur3_gripper.srdf"
RADIUS, FOOT, FLOOR = 0.02, 0.001, 0.45  # of a ball, half side of what it stands on, half side of the floor [m]
REST = np.array([0.0, -1.2, 1.2, -1.57, -1.57, 0.0])  # of the arm [rad]
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
BALLS = ("s0", "s1")


class Swap(NamedTuple):
    robot: Robot
    graph: ConstraintGraph
    collisions: CollisionModel
    shapes: list[Shape]

    def at(self, *x: float) -> np.ndarray:
        """The arm at rest, the balls on the x axis."""
        return np.concatenate([REST, *([each, 0.0, RADIUS, 0.0, 0.0, 0.0, 1.0] for each in x)])


def ball(name: str) -> Robot:
    """A ball that moves freely above the floor."""
    made = Robot.from_urdf(f"<robot name='{name}'><link name='body'/></robot>", base=Base.FREE_FLYER)
    return made.with_bounds({made.joint_names[0]: ([-1.0, -1.0, -0.1], [1.0, 1.0, 1.5])})


def swap() -> Swap:
    """The scene, its graph and collision model."""
    arm = Robot.from_urdf(ARM)
    pan, lift, elbow = arm.joint_names[:3]
    arm = arm.with_bounds({pan: (-np.pi, 4.0), lift: (-np.pi, 0.0), elbow: (-2.6, 2.6)})
    robot = Robot.system([Part("ur3", arm), *(Part(name, ball(name)) for name in BALLS)])
    down = pin.SE3(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), np.zeros(3))
    for name in BALLS:
        robot = robot.with_frame(f"{name}_top", f"{name}/body", down)
    objects, shapes = list[MovableObject](), list[Shape]()
    for name in BALLS:
        mask = [True, True, True, False, True, True]  # it may be turned about the axis of the gripper
        handle = Handle(f"{name}/handle", robot.frame(f"{name}_top"), 0.05, mask=mask)
        foot = Surface(f"{name}/foot", robot.frame(f"{name}/body"), np.c_[FOOT * SQUARE[::-1], np.full(4, -RADIUS)])
        objects.append(MovableObject(name, [handle], [foot]))
        shapes.append(Shape(name, "Sphere", (RADIUS,), f"{name}/body"))
    floor = Surface("floor", robot.frame("universe"), np.c_[FLOOR * SQUARE, np.zeros(4)])
    grippers = list(read_semantics(robot, SRDF, "ur3").grippers.values())
    graph = ConstraintGraphFactory(robot, grippers, objects, [floor], margin=0.0, attempts=1).generate()
    return Swap(robot, graph, CollisionModel(robot, shapes, {"ur3": ARM}), shapes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn (%(default)s)")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the path there")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # remarks on the robot's file
    try:
        scene = swap()
    except ConstraintError as missing:
        print(f"The scene needs the robots of example-robot-data: {missing}", file=sys.stderr)
        return 1
    print(scene.graph)
    start, goal = scene.at(0.2, 0.3), scene.at(0.3, 0.2)
    found = plan(scene.graph, start, goal, rng=np.random.default_rng(options.seed), collisions=scene.collisions)
    print(found.status.value)
    for number, transition in enumerate(found.transitions, start=1):
        print(f"  {number}. {transition}")
    for words in found.impossible:
        print(f"struck out: {words}")
    path = found.or_raise()
    jump = path.max_jump()
    print(f"largest residual {path.max_error():.1e}; largest step {jump.angle:.3f} rad, {1e3 * jump.length:.1f} mm")
    if options.plot:
        drawing, photo = Drawing(shapes=scene.shapes), PhotoOptions(width=360)
        render(path, path=options.plot, drawing=drawing, count=8, photo=photo, view="3d")
    if options.check:
        assert len(found.transitions) == 6
        assert path.max_error() <= scene.graph.threshold
        assert jump.angle <= 0.1 + 1e-9
        assert np.array_equal(path.start, start)
        assert np.array_equal(path.end, goal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
