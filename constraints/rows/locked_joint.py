"""Joints held at a value."""

from __future__ import annotations

from liegroups import Segments, Space

from ..errors import WrongObjectError
from ..functions.affine import Constant
from ..robot import Robot
from ..robot.configuration import joint_value
from .comparison import Comparison
from .explicit import Explicit

__all__ = ["LockedJoint"]


def LockedJoint(  # a constraint by its name in the field
    where: Robot | Space, joint: str | Segments, value: object = None, *, name: str = ""
) -> Explicit:
    """A joint held at a value: an explicit constraint without input, all rows EQUALITY.

    Its right-hand side is the *difference* from the value: locked at 0.5, the right-hand side [0.2] holds the joint at
    0.7, and `problem.rhs_from(q)` where q has it.

    Args:
        where: the robot; or the whole space, for extra variables.
        joint: name of the joint; or Segments, for a part of a vector joint or for extra variables.
        value: what `robot.configuration` takes for the joint; the neutral element by default.
        name: name in messages.

    Raises:
        UnknownJointError: lists the joints whose names come closest.
        SizeError, NotNormalizedError, WrongObjectError: what is wrong with the value.

    Source: `LockedJoint` of hpp-constraints.
    """
    whole = where.space if isinstance(where, Robot) else where
    if not isinstance(whole, Space):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongObjectError("where of a locked joint", "a Robot or a Space", where)
    if isinstance(joint, Segments):
        block, label = joint, str(list(joint.v))
    else:
        block, label = where.segments(joint) if isinstance(where, Robot) else Segments.of(whole, joint), joint
    point = block.space.neutral if value is None else joint_value(block.space, value, f"value of locked '{label}'")
    f = Constant(point, block.space, whole, name=f"locked {label}")
    return Explicit(f, block, None, comparison=Comparison.EQUALITY, name=name or f"locked {label}")
