"""Two balls that an arm with a gripper moves on a floor: the scene `ur3-spheres` of hpp-python, from URDF and SRDF."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from constraints import Base, Part, Robot, Surface
from constraints.collisions import CollisionModel, Shape
from constraints.manipulation import ConstraintGraph, ConstraintGraphFactory, Handle, MovableObject, read_semantics

UR = "package://example-robot-data/robots/ur_description"
ARM, SRDF = f"{UR}/urdf/ur3_gripper.urdf", f"{UR}/srdf/ur3_gripper.srdf"
RADIUS, FOOT, FLOOR = 0.02, 0.001, 0.45  # of a ball, half side of what it stands on, half side of the floor [m]
REST = np.array([0.0, -1.2, 1.2, -1.57, -1.57, 0.0])  # of the arm [rad]
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


class Swap(NamedTuple):
    robot: Robot
    graph: ConstraintGraph
    collisions: CollisionModel

    def at(self, *x: float) -> np.ndarray:
        """The arm at rest, the balls on the x axis."""
        return np.concatenate([REST, *([each, 0.0, RADIUS, 0.0, 0.0, 0.0, 1.0] for each in x)])


def ball(name: str) -> Robot:
    made = Robot.from_urdf(f"<robot name='{name}'><link name='body'/></robot>", base=Base.FREE_FLYER)
    return made.with_bounds({made.joint_names[0]: ([-1.0, -1.0, -0.1], [1.0, 1.0, 1.5])})


@cache
def swap(floor: float = FLOOR) -> Swap:
    """The scene, its graph and collision model; the floor may be smaller."""
    arm = Robot.from_urdf(ARM)
    pan, lift, elbow = arm.joint_names[:3]
    arm = arm.with_bounds({pan: (-np.pi, 4.0), lift: (-np.pi, 0.0), elbow: (-2.6, 2.6)})
    names = ("s0", "s1")
    robot = Robot.system([Part("ur3", arm), *(Part(name, ball(name)) for name in names)])
    down = pin.SE3(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), np.zeros(3))
    for name in names:
        robot = robot.with_frame(f"{name}_top", f"{name}/body", down)
    objects, shapes = list[MovableObject](), list[Shape]()
    for name in names:
        mask = [True, True, True, False, True, True]
        handle = Handle(f"{name}/handle", robot.frame(f"{name}_top"), 0.05, mask=mask)
        foot = Surface(f"{name}/foot", robot.frame(f"{name}/body"), np.c_[FOOT * SQUARE[::-1], np.full(4, -RADIUS)])
        objects.append(MovableObject(name, [handle], [foot]))
        shapes.append(Shape(name, "Sphere", (RADIUS,), f"{name}/body"))
    ground = Surface("floor", robot.frame("universe"), np.c_[floor * SQUARE, np.zeros(4)])
    grippers = list(read_semantics(robot, SRDF, "ur3").grippers.values())
    graph = ConstraintGraphFactory(robot, grippers, objects, [ground], margin=0.0, attempts=1).generate()
    return Swap(robot, graph, CollisionModel(robot, shapes, {"ur3": ARM}))
