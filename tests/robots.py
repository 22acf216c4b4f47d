"""Robots for tests: built in Python, and those of example-robot-data where it is installed."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints.models import sample_arm, sample_two_arms
from constraints.robot import Base, Robot
from constraints.robot.files.packages import robot_data_folder

needs_robot_data = pytest.mark.skipif(robot_data_folder() is None, reason="example-robot-data is not installed")


@functools.cache
def arm() -> Robot:
    """Seven revolute joints, frame "tool"."""
    return sample_arm()


@functools.cache
def two_arms() -> Robot:
    """Two arms on a torso, frames "left_tool" and "right_tool"."""
    return sample_two_arms()


@functools.cache
def humanoid() -> Robot:
    """Pinocchio's humanoid on a free-flyer, random placements, always the same."""
    pin.seed(7)
    return Robot(pin.buildSampleModelHumanoidRandom(True), "humanoid")


def _continuous(axis: np.ndarray) -> Any:
    """A continuous joint about any axis: pinocchio makes one from a URDF alone."""
    urdf = (
        "<robot name='wheel'><link name='a'/><link name='b'/><joint name='turn' type='continuous'><parent link='a'/>"
        f"<child link='b'/><axis xyz='{' '.join(map(repr, axis.tolist()))}'/></joint></robot>"
    )
    return pin.buildModelFromXML(urdf).joints[1]


def joint_models() -> dict[str, Any]:
    """One joint model of every type that pinocchio makes, but for mimic joints."""
    axis = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])
    other = np.array([2.0, 1.0, 0.0]) / np.sqrt(5.0)
    composite = pin.JointModelComposite()
    composite.addJoint(pin.JointModelTranslation(), pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.2])))
    composite.addJoint(pin.JointModelSpherical(), pin.SE3(pin.utils.rotate("y", 0.4), np.array([0.0, 0.1, 0.0])))
    chain = pin.JointModelComposite()
    for part in (pin.JointModelRUBY(), pin.JointModelPZ(), pin.JointModelRX()):
        chain.addJoint(part, pin.SE3(pin.utils.rotate("x", 0.3), np.array([0.0, 0.2, 0.1])))
    return {
        "rx": pin.JointModelRX(),
        "ry": pin.JointModelRY(),
        "rz": pin.JointModelRZ(),
        "revolute": pin.JointModelRevoluteUnaligned(axis),
        "rubx": pin.JointModelRUBX(),
        "ruby": pin.JointModelRUBY(),
        "rubz": pin.JointModelRUBZ(),
        "continuous": _continuous(axis),
        "px": pin.JointModelPX(),
        "py": pin.JointModelPY(),
        "pz": pin.JointModelPZ(),
        "prismatic": pin.JointModelPrismaticUnaligned(axis),
        "hx": pin.JointModelHX(0.1),
        "hy": pin.JointModelHY(-0.2),
        "hz": pin.JointModelHZ(0.3),
        "helical": pin.JointModelHelicalUnaligned(axis, 0.15),
        "planar": pin.JointModelPlanar(),
        "spherical": pin.JointModelSpherical(),
        "zyx": pin.JointModelSphericalZYX(),
        "free": pin.JointModelFreeFlyer(),
        "translation": pin.JointModelTranslation(),
        "universal": pin.JointModelUniversal(axis, other - axis * (axis @ other)),
        "ellipsoid": pin.JointModelEllipsoid(0.3, 0.2, 0.4),
        "composite": composite,
        "chain": chain,
    }


def mixed_model() -> Any:
    """A branching tree with every joint type but mimic joints, random placements and inertias, always the same."""
    rng = np.random.default_rng(11)
    model = pin.Model()
    model.name = "mixed"
    spine: list[int] = [0]
    for i, (name, joint) in enumerate(joint_models().items()):
        # Three branches of one trunk, each a chain: a joint hangs on the last one, on the trunk, or on the world.
        parent = 0 if i == 16 else spine[3] if i in (8, 12) else spine[-1]
        rotation = pin.Quaternion(*(lambda x: x / np.linalg.norm(x))(rng.standard_normal(4))).matrix()
        index = model.addJoint(parent, joint, pin.SE3(rotation, rng.uniform(-0.3, 0.3, 3)), name)
        model.addJointFrame(index)
        mass, lever = rng.uniform(0.5, 2.0), rng.uniform(-0.1, 0.1, 3)
        model.appendBodyToJoint(
            index, pin.Inertia.FromBox(mass, *rng.uniform(0.05, 0.3, 3)), pin.SE3(rotation.T, lever)
        )
        place = pin.SE3(rotation.T, rng.uniform(-0.2, 0.2, 3))
        model.addFrame(pin.Frame(f"{name}_tip", index, 0, place, pin.FrameType.OP_FRAME))
        spine.append(index)
    return model


@functools.cache
def mixed_tree() -> Robot:
    """The robot of `mixed_model`, without bounds."""
    return Robot(mixed_model())


_ROBOTS = "package://example-robot-data/robots"


@functools.cache
def ur5() -> Robot:
    """Universal Robots UR5, bounds of +-pi."""
    return Robot.from_urdf(f"{_ROBOTS}/ur_description/urdf/ur5_joint_limited_robot.urdf", name="ur5")


@functools.cache
def panda() -> Robot:
    """Franka Panda with its gripper."""
    return Robot.from_urdf(
        f"{_ROBOTS}/panda_description/urdf/panda.urdf", f"{_ROBOTS}/panda_description/srdf/panda.srdf"
    )


@functools.cache
def pr2() -> Robot:
    """Willow Garage PR2 on a fixed base: prismatic, revolute and continuous joints."""
    return Robot.from_urdf(f"{_ROBOTS}/pr2_description/urdf/pr2.urdf")


@functools.cache
def talos() -> Robot:
    """PAL Talos on a free-flyer, hands reduced."""
    return Robot.from_urdf(
        f"{_ROBOTS}/talos_data/robots/talos_reduced.urdf", f"{_ROBOTS}/talos_data/srdf/talos.srdf", base=Base.FREE_FLYER
    )


def robots() -> list[Robot]:
    """The robots that need no file, one of each shape."""
    return [arm(), two_arms(), humanoid(), mixed_tree()]


@functools.cache
def random_tree(seed: int) -> Robot:
    """A random tree of joints of every kind but ellipsoids, with a body on each."""
    rng, model, kinds = np.random.default_rng([7, seed]), pin.Model(), joint_models()
    del kinds["ellipsoid"]
    last = 0
    for name in rng.permutation(list(kinds))[:9]:
        parent = last if rng.random() < 0.7 else int(rng.integers(0, model.njoints))
        last = model.addJoint(parent, kinds[str(name)], random_placement(rng), str(name))
        model.addJointFrame(last)
        model.appendBodyToJoint(last, pin.Inertia.Random(), random_placement(rng))
        model.addFrame(pin.Frame(f"{name}_tip", last, 0, random_placement(rng), pin.FrameType.OP_FRAME))
    model.name = f"tree_{seed}"
    return Robot(model)


def random_placement(rng: np.random.Generator) -> Any:
    """Within 0.5 m and turned by up to half a turn or so."""
    return pin.exp6(rng.uniform(-0.5, 0.5, 6) * [1.0, 1.0, 1.0, 3.0, 3.0, 3.0])
