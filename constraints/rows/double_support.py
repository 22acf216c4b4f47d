"""Double support: constraints of a biped that stands as it does at a posture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from liegroups.arguments import as_flag
from liegroups.arrays import ArrayLike

from ..functions.frames.center_of_mass import CenterOfMass
from ..functions.frames.com_between_feet import ComBetweenFeet
from ..functions.frames.frame_function import as_frame
from ..functions.frames.pose import Pose
from ..functions.frames.transformation import Transformation
from ..robot import Frame, Robot
from ..robot.arguments import as_robot
from ..robot.placement import rigid_transform
from .comparison import Comparison
from .implicit import Implicit

_ON_THE_GROUND = (False, False, True, True, True, False)
_ALONG_THE_GROUND = (True, True, False, False, False, True)


def double_support(
    robot: Robot,
    left: Frame | str,
    right: Frame | str,
    q: ArrayLike,
    *,
    sliding: bool = False,
    aligned: bool = False,
    mask: ArrayLike | None = None,
    subtrees: Sequence[str] | None = None,
) -> tuple[Implicit, ...]:
    """The constraints of a biped on level ground, with its feet and centre of mass as they are at a posture.

    Both feet stay where they are, and the centre of mass where it is seen from the left foot. With `sliding`, the feet
    may go and turn along the ground together; with `aligned`, the centre of mass is above the line between the origins
    of the feet, at any place between them, and feet that slide do so one by one.

    Args:
        robot: the robot.
        left, right: the feet, frame names or Frames.
        q: the posture (nq,), with both feet on the ground.
        sliding: whether the feet may slide.
        aligned: whether the centre of mass is held between the feet instead of at its place.
        mask: three truth values, which rows of the centre of mass seen from the left foot are held; all by default, and
            x and y alone for feet that are level. With `aligned`, four rows of `ComBetweenFeet`.
        subtrees: names of joints whose sub-trees are the mass that counts; all by default.

    Returns:
        "balance", and:

        - feet that stay: the pose of each foot, by its name.
        - feet that slide: the pose of the right foot seen from the left one; height and tilt of the left foot; and its
          place along the ground, (x, y) [m] and angle about the vertical [rad] from where it is at q, which can be
          changed. Leave that out to let them slide.
        - feet that are aligned: the pose of each foot; of feet that slide, its height and tilt.

    Raises:
        UnknownFrameError, UnknownJointError: lists the names that come closest.
        SizeError, NotFiniteError, NotNormalizedError, WrongObjectError: what is wrong with the others.

    Source: `StaticStabilityConstraintsFactory` of hpp-corbaserver, whose feet slide along the axes of their own frames.
    """
    who = "a double support"
    robot = as_robot(robot, f"robot of {who}")
    feet = [as_frame(robot, foot, who) for foot in (left, right)]
    slides, between = as_flag(sliding, f"sliding of {who}"), as_flag(aligned, f"aligned of {who}")
    posture = robot.at(robot.check(q, f"posture of {who}"))
    poses: list[Any] = [posture.placement(foot) for foot in feet]
    if between:
        line = ComBetweenFeet(robot, feet[0], feet[1], robot.frame("universe"), subtrees=subtrees)
        height = [line.value_of(posture.q)[0], 0.0, 0.0, 0.0]
        rows = (Comparison.EQUALITY, Comparison.EQUAL_TO_ZERO, Comparison.SUPERIOR, Comparison.INFERIOR)
        balance = Implicit(line, rows, height, mask, name="balance")
    else:
        center = CenterOfMass(robot, subtrees=subtrees, reference=feet[0])
        balance = Implicit.equal(center, center.value_of(posture.q), mask=mask, name="balance")
    if not slides:
        return balance, *(Implicit.equal(Pose(robot, f), oMf, name=str(f)) for f, oMf in zip(feet, poses, strict=True))
    levelled = [_seen_from_its_place(robot, foot, oMf) for foot, oMf in zip(feet, poses, strict=True)]
    ground = [
        Implicit.zero(f, mask=_ON_THE_GROUND, name=f"{foot} on the ground")
        for f, foot in zip(levelled, feet, strict=True)
    ]
    if between:
        return balance, *ground
    together = Implicit.equal(
        Pose(robot, feet[1], feet[0]), poses[0].inverse() * poses[1], name=f"{feet[1]} seen from {feet[0]}"
    )
    place = Implicit.equal(levelled[0], mask=_ALONG_THE_GROUND, name=f"{feet[0]} along the ground")
    return balance, together, ground[0], place


def _seen_from_its_place(robot: Robot, foot: Frame, oMf: Any) -> Transformation:
    """Where a foot is, from where it was, in the axes of the world: rows 2, 3 and 4 are its height and tilt."""
    upright = foot.moved(rigid_transform(rotation=oMf.rotation.T))
    return Transformation(robot, upright, rigid_transform(oMf.translation))
