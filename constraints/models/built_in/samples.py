"""Sample robots built in Python, for demonstrations and tests where no robot file is at hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...robot.model.pinocchio import Placement, pin
from ...robot.robot import Robot


class _Link(NamedTuple):
    """A joint of the sample arm and the link it carries.

    Attributes:
        name: name of the joint.
        axis: axis of rotation.
        start: place of the joint on the link before, along its z [m].
        lower, upper: bounds [rad].
        home: value in the reference posture of the arm alone [rad].
        front: value in that of the left one of two arms: its hand is at about (0.5, 0.2, 1.0) m, pointing forwards.
        mass: of the link [kg].
        length: of the link [m].
    """

    name: str
    axis: str
    start: float
    lower: float
    upper: float
    home: float
    front: float
    mass: float
    length: float


_ARM = (
    _Link("shoulder_yaw", "z", 0.16, -2.9, 2.9, 0.0, 0.57, 3.0, 0.17),
    _Link("shoulder_pitch", "y", 0.17, -2.0, 2.0, 0.5, 1.38, 3.0, 0.20),
    _Link("shoulder_roll", "z", 0.20, -2.9, 2.9, 0.0, -0.12, 2.5, 0.20),
    _Link("elbow", "y", 0.20, -0.1, 2.6, 1.2, 1.82, 2.0, 0.20),
    _Link("forearm_roll", "z", 0.20, -2.9, 2.9, 0.0, 0.78, 1.5, 0.20),
    _Link("wrist_pitch", "y", 0.20, -2.0, 2.0, 0.8, -1.4, 1.0, 0.08),
    _Link("wrist_roll", "z", 0.08, -2.9, 2.9, 0.0, 1.04, 0.5, 0.10),
)
"""Stretched straight up where all angles are 0; 0.8 m from the shoulder to the wrist."""


def sample_arm() -> Robot:
    """An arm of seven revolute joints on the ground, with the frame "tool" at its end.

    Its joints are shoulder_yaw, shoulder_pitch, shoulder_roll, elbow, forearm_roll, wrist_pitch, wrist_roll; all
    have bounds. It reaches 1 m from its shoulder, which is 0.33 m above the ground; the tool's z axis points away from
    the wrist. The reference posture "home" is bent and far from its bounds.

    Example:
        >>> robot = sample_arm()
        >>> robot.nq, robot.frame("tool").joint_name
        (7, 'wrist_roll')
    """
    model: Any = pin.Model()
    model.name = "sample_arm"
    _add_arm(model, 0, pin.SE3.Identity(), "")
    return Robot(model, references={"home": [link.home for link in _ARM]})


def sample_two_arms() -> Robot:
    """Two sample arms on one torso, for two-handed tasks and closed chains.

    The joint "torso" turns about the vertical; the arms leave it to the left and to the right, tilted outwards by 60
    degrees, 1.1 m above the ground. Joints have the names of the sample arm with the prefix `left_` or `right_`,
    the ends are the frames "left_tool" and "right_tool". In the reference posture "home" the hands are in front.

    Example:
        >>> sample_two_arms().nq
        15
    """
    model: Any = pin.Model()
    model.name = "sample_two_arms"
    torso = _add_joint(model, 0, "z", _up(0.5), "torso", (200.0, 2.0, -1.5, 1.5))
    _add_body(model, torso, "torso_link", 12.0, 0.6)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        tilt = pin.utils.rotate("x", -sign * np.pi / 3)
        _add_arm(model, torso, pin.SE3(tilt, np.array([0.0, 0.15 * sign, 0.6])), f"{side}_")
    robot = Robot(model)
    hands = {f"left_{link.name}": link.front for link in _ARM}
    # The right arm is the mirror image: angles about axes in the plane of symmetry change sign.
    hands |= {f"right_{link.name}": link.front if link.axis == "y" else -link.front for link in _ARM}
    return robot.with_references({"home": robot.configuration(hands)})


def sample_humanoid() -> Robot:
    """Pinocchio's sample humanoid on a free-flyer, with two legs, two arms and a head; it is 4 m tall.

    The ends of its legs are the frames "lleg_effector_body" and "rleg_effector_body", those of its arms
    "larm_effector_body" and "rarm_effector_body"; it looks along the x axis of "head2_joint". All joints have bounds of
    +-3.14 rad. In the reference posture "home" its knees are bent.

    Example:
        >>> sample_humanoid().nv
        34
    """
    robot = Robot(pin.buildSampleModelHumanoid(), "sample_humanoid")
    bent = (("shoulder2", 0.4), ("elbow", -0.8), ("wrist1", 0.4))
    legs = {f"{side}leg_{joint}_joint": angle for side in "lr" for joint, angle in bent}
    return robot.with_references({"home": robot.configuration(legs)})


def _add_arm(model: Any, joint: int, placement: Placement, prefix: str) -> None:
    """Add the seven joints with their bodies, and the frame `prefix + "tool"`."""
    for link in _ARM:
        limits = (100.0, 3.0, link.lower, link.upper)
        joint = _add_joint(model, joint, link.axis, placement * _up(link.start), prefix + link.name, limits)
        _add_body(model, joint, f"{prefix}{link.name}_link", link.mass, link.length)
        placement = pin.SE3.Identity()
    parent = model.getFrameId(f"{prefix}{_ARM[-1].name}_link")
    model.addFrame(pin.Frame(f"{prefix}tool", joint, parent, _up(_ARM[-1].length), pin.FrameType.OP_FRAME))


def _add_joint(
    model: Any, parent: int, axis: str, placement: Placement, name: str, limits: tuple[float, float, float, float]
) -> int:
    """Add a revolute joint with its frame; limits of effort [N m], of speed [rad/s], lower and upper [rad]."""
    kind = {"y": pin.JointModelRY, "z": pin.JointModelRZ}[axis]
    joint = int(model.addJoint(parent, kind(), placement, name, *(np.array([x]) for x in limits)))
    model.addJointFrame(joint)
    return joint


def _up(height: float) -> Placement:
    return pin.SE3(np.eye(3), np.array([0.0, 0.0, height]))


def _add_body(model: Any, joint: int, name: str, mass: float, length: float) -> None:
    """Add a cylinder of 5 cm radius along z."""
    model.appendBodyToJoint(joint, pin.Inertia.FromCylinder(mass, 0.05, length), _up(length / 2))
    model.addBodyFrame(name, joint, pin.SE3.Identity(), model.getFrameId(model.names[joint]))
