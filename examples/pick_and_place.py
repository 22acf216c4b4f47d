# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[robots,plot]"]
# ///
"""A story on a constraint graph: UR5 carries a box from one table to another and turns it over.

    python examples/pick_and_place.py                      # plans, and says what it found
    python examples/pick_and_place.py --plot story.png     # and draws it
    python examples/pick_and_place.py --check              # fails if something is not as it should be

The box stands upright on the left table, and is wanted on the right one, standing on its lid. From grippers, handles
and surfaces `ConstraintGraphFactory` makes the states and transitions; `plan` finds which ones to take: the gripper may
hold the box from above or from the side, and only from the side it can be turned over. No sequence is given, and no
guess.
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from constraints import Base, ConstraintError, Part, Robot, Surface
from constraints.manipulation import (
    CollisionModel,
    ConstraintGraph,
    ConstraintGraphFactory,
    Handle,
    MovableObject,
    Shape,
    read_semantics,
)
from constraints.pictures import Drawing, PhotoOptions, render
from constraints.planning import Plan, plan

UR5 = "package://example-robot-data/robots/ur_description"
ARM, SRDF = f"{UR5}/urdf/ur5_gripper.urdf", f"{UR5}/srdf/ur5_gripper.srdf"
BOX = "<robot name='box'><link name='body'/></robot>"
WIDTH, HEIGHT = 0.05, 0.2  # of the box [m]
PEDESTAL = 0.45  # on which the arm stands [m]
TABLES = {"left": (0.55, 0.35, 0.25), "right": (0.55, -0.35, 0.25)}  # middle of the top [m]
TOP = (0.4, 0.5, 0.04)  # of a table [m]
MARGIN = 1e-4  # at which things stand above tables [m]
REST = np.array([0.0, -1.6, 1.8, -1.8, -1.57, 0.0])  # of the arm [rad]


class Story(NamedTuple):
    robot: Robot
    graph: ConstraintGraph
    collisions: CollisionModel
    shapes: list[Shape]
    start: np.ndarray
    goal: np.ndarray


def standing(arm: np.ndarray, x: float, y: float, z: float, yaw: float, turned: bool) -> np.ndarray:
    """A configuration: the arm, and the box upright or turned over, its middle at x, y and HEIGHT / 2 above z."""
    R = pin.utils.rotate("z", yaw) @ (pin.utils.rotate("x", np.pi) if turned else np.eye(3))
    return np.r_[arm, x, y, z + 0.5 * HEIGHT, pin.Quaternion(R).coeffs()]


def story() -> Story:
    """The scene, its graph, start and goal."""
    arm = Robot.from_urdf(ARM)
    box = Robot.from_urdf(BOX, base=Base.FREE_FLYER)
    box = box.with_bounds({box.joint_names[0]: ([-0.2, -0.9, 0.0], [1.0, 0.9, 1.5])})
    robot = Robot.system([Part("ur5", arm, [0.0, 0.0, PEDESTAL, 0.0, 0.0, 0.0, 1.0]), Part("box", box)])

    # Handles: the gripper's x axis points to the box. One is held from above, near the lid, the other from the side.
    down = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    robot = robot.with_frame("top", "box/body", pin.SE3(down, np.array([0.0, 0.0, 0.5 * HEIGHT - 0.02])))
    robot = robot.with_frame("side", "box/body", pin.SE3.Identity())
    handles = [Handle("box/top", robot.frame("top"), 0.03), Handle("box/side", robot.frame("side"), 0.03)]

    # Surfaces: bottom and lid of the box, tops of the tables; counter-clockwise seen from outside.
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    body = robot.frame("box/body")
    bottom = Surface("box/bottom", body, np.c_[0.5 * WIDTH * square[::-1], np.full(4, -0.5 * HEIGHT)])
    lid = Surface("box/lid", body, np.c_[0.5 * WIDTH * square, np.full(4, 0.5 * HEIGHT)])
    shapes = [
        Shape("box", "Box", (WIDTH, WIDTH, HEIGHT), "box/body"),
        Shape("pedestal", "Box", (0.2, 0.2, PEDESTAL - 0.01), placement=at(0.0, 0.0, 0.5 * (PEDESTAL - 0.01))),
    ]
    floors: list[Surface] = []
    for name, (x, y, z) in TABLES.items():
        corners = np.c_[0.5 * np.array(TOP[:2]) * square, np.zeros(4)]
        floors.append(Surface(name, robot.frame("universe", at(x, y, z)), corners))
        shapes.append(Shape(f"{name} table", "Box", TOP, placement=at(x, y, z - 0.5 * TOP[2])))

    grippers = list(read_semantics(robot, SRDF, "ur5").grippers.values())
    factory = ConstraintGraphFactory(
        robot, grippers, [MovableObject("box", handles, [bottom, lid])], floors, margin=MARGIN, attempts=1
    )
    (x0, y0, z0), (x1, y1, z1) = TABLES["left"], TABLES["right"]
    start = standing(REST, x0 - 0.05, y0, z0 + MARGIN, 0.3, False)
    goal = standing(REST, x1 - 0.05, y1, z1 + MARGIN, 0.0, True)
    return Story(robot, factory.generate(), CollisionModel(robot, shapes, {"ur5": ARM}), shapes, start, goal)


def at(x: float, y: float, z: float) -> list[float]:
    """A place, without rotation."""
    return [x, y, z, 0.0, 0.0, 0.0, 1.0]


def tell(told: Story, seed: int = 0) -> Plan:
    """Plan the story."""
    rng = np.random.default_rng(seed)
    return plan(told.graph, told.start, told.goal, rng=rng, collisions=told.collisions)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn (%(default)s)")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the story there")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # remarks on the robot's file
    try:
        told = story()
    except ConstraintError as missing:
        print(f"The story needs the robots of example-robot-data: {missing}", file=sys.stderr)
        return 1
    print(told.graph)
    print(f"start: {told.graph.state_of(told.start)}, goal: {told.graph.state_of(told.goal)}")
    result = tell(told, options.seed)
    print(result.status.value)
    for number, transition in enumerate(result.transitions, start=1):
        print(f"  {number}. {transition}")
    path = result.or_raise()
    jump = path.max_jump()
    print(path)
    print(f"largest residual {path.max_error():.1e}; largest step {jump.angle:.3f} rad, {1e3 * jump.length:.1f} mm")
    met = told.collisions.first_collision(path)
    print("nothing collides but what holds each other" if met is None else f"first to touch: {met.a} and {met.b}")
    if options.plot:
        render(
            path,
            path=options.plot,
            drawing=Drawing(shapes=told.shapes),
            count=8,
            photo=PhotoOptions(width=360),
            view="3d",
        )
    if options.check:
        assert result.success
        assert path.max_error() <= told.graph.threshold
        assert jump.angle <= 0.1
        assert jump.length <= 0.02
        assert np.abs(told.robot.space.difference(path.end, told.goal)).max() < 1e-9
    return 0


if __name__ == "__main__":
    sys.exit(main())
