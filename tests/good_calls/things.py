"""What good calls are made of."""

from __future__ import annotations

import functools
from typing import Any

import pinocchio as pin
from explicit_samples import arm_and_box
from robots import arm

import constraints as lc
from constraints import manipulation
from constraints.functions import Identity
from liegroups import SE3, R3xSO3, Rn

SPACE = SE3 * Rn(2)
POSE = lc.Pose(arm(), "tool", outputs=R3xSO3)
TOOL = lc.Position(arm(), "tool")
HAND = lc.Implicit.zero(POSE, name="hand")
MOVING = lc.Implicit.equal(TOOL, lc.Target(lambda t: [0.3, 0.1 * t, 0.6]), name="moving")
UP = lc.Implicit.above(lc.Position(arm(), "elbow"), name="up")
PROBLEM = lc.Problem(arm(), [lc.Implicit.equal(POSE, name="hand"), UP])
REACH = lc.Problem(arm(), [lc.Implicit.equal(TOOL, name="hand")])
OF_SPACE = lc.Problem(SPACE, [lc.Implicit.equal(Identity(SPACE), name="whole")])
HOME = arm().reference("home")
BOX = lc.Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=lc.Base.FREE_FLYER)
TABLE = lc.Surface("table", arm().frame("universe"), [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
FOOT = lc.Surface("foot", arm().frame("tool"), [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]])


@functools.cache
def projector() -> lc.Projector:
    return lc.Projector(PROBLEM)


@functools.cache
def twin() -> lc.Robot:
    """A robot with the space of the sample arm that is not the sample arm."""
    model: Any = pin.Model(arm().model)
    model.inertias[3] = pin.Inertia(2.0 * model.inertias[3].mass, model.inertias[3].lever, model.inertias[3].inertia)
    return lc.Robot(model)


@functools.cache
def graph() -> manipulation.ConstraintGraph:
    """The box is free, or in the hand."""
    handle = manipulation.Handle("box/handle", arm_and_box().frame("box/root_joint"))
    gripper, box = (
        manipulation.Gripper("hand", arm_and_box().frame("arm/tool")),
        manipulation.MovableObject("box", [handle]),
    )
    return manipulation.ConstraintGraphFactory(arm_and_box(), [gripper], [box]).generate()


@functools.cache
def path() -> manipulation.Path:
    """A short way in the plane."""
    plane = lc.Problem(Rn(2), [lc.Implicit.between(Identity(Rn(2)), -9.0, 9.0, name="box")])
    return manipulation.interpolate(plane, [0.0, 0.0], [0.1, 0.2]).or_raise()


@functools.cache
def arm_path() -> manipulation.Path:
    """The arm stays where it is."""
    return manipulation.interpolate(REACH, HOME, HOME, REACH.rhs_from(HOME)).or_raise()
