"""Ways to make an explicit constraint: free objects, objects on surfaces, coupled joints, locked joints."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from liegroups import SO2, Segments, Space
from liegroups.arguments import as_mapping, expect, finite_vector

from ..errors import OptionError, WrongObjectError
from ..functions.affine import Affine, Constant
from ..functions.contact.contact import ConvexShapeContactHold
from ..functions.contact.contact_pose import PoseOfContact
from ..functions.frames.frame_function import world_or_frame
from ..functions.frames.pose import Pose
from ..functions.frames.pose_from_rows import PoseFromRows
from ..functions.frames.transformation import Transformation
from ..functions.translation import RightTranslation
from ..robot import Frame, Robot
from ..robot.arguments import as_robot
from ..robot.configuration import joint_value
from ..robot.model.mimic import Mimic
from ..robot.placement import pose_vector
from .comparison import Comparison
from .explicit import Explicit

_log = logging.getLogger(__package__)

HOLD_ROWS = (Comparison.EQUAL_TO_ZERO,) * 5 + (Comparison.EQUALITY,) * 3
"""Comparison of the rows of a hold: in contact, at a place that is chosen."""


def explicit_relative_pose(
    robot: Robot,
    a: Frame | str | None,
    b: Frame | str,
    rhs: Any = None,
    *,
    comparison: Comparison | Sequence[Comparison | None] | None = None,
    level: int = 0,
    name: str = "",
) -> Explicit:
    r"""Pose of a free-flying object, computed from the pose of its frame b relative to frame a.

    With M2 the free-flyer joint of b, :math:`{}^{2}F_b` the placement of b on it, P its parent's frame,

    .. math:: q_{out} = {}^PM_a(q_{in})\; rhs\; {}^2F_b^{-1}

    The twin is `Transformation(robot, b, reference=a)`; right-hand sides are in its coordinates (t, w). Inputs are the
    joints on exactly one of the chains of a and of the object's parent.

    Args:
        robot: the robot.
        a, b: frames; None is the world; b is on a free-flyer joint.
        rhs: (t, w) of b seen from a, (6,) [m, rad]; zero by default.
        comparison: EQUAL_TO_ZERO by default.
        level: level of the twin, if the constraint cannot be explicit.
        name: name in messages.

    Raises:
        WrongObjectError: b is not on a free-flyer joint.
        OverlapError: a moves with the object.

    Source: `explicit_::RelativePose` of hpp-constraints.
    """
    as_robot(robot, "robot of a relative pose")
    frame_a, frame_b = (world_or_frame(robot, frame, "a relative pose") for frame in (a, b))
    model: Any = robot.model
    factor = robot.space.factors[frame_b.joint - 1] if frame_b.joint else None
    if factor is None or factor.space.name != "SE3":
        raise WrongObjectError(f"frame '{frame_b}'", "a frame on a free-flyer joint", "another joint")
    parent = int(model.parents[frame_b.joint])
    base = Frame("parent", parent, model.jointPlacements[frame_b.joint], str(model.names[parent]))
    f = Pose(robot, frame_a, reference=base)
    shift = RightTranslation(factor.space, pose_vector(frame_b.placement))
    return Explicit(
        f, robot.segments(factor.name), None, shift, shift.inverted(),
        Transformation(robot, frame_b, reference=frame_a), PoseFromRows(), comparison, rhs,
        level=level, name=name or f"relative_pose({frame_a}, {frame_b})",
    ).known_exact()  # fmt: skip


def explicit_contact(hold: ConvexShapeContactHold, rhs: Any = None, *, level: int = 0, name: str = "") -> Explicit:
    r"""The pose of a free object on a surface, computed from its place on the surface.

    With F the frame of the floor's surface, :math:`{}^{2}F_b` that of the object's surface on its free-flyer joint, and
    P the frame of that joint's parent,

    .. math:: q_{out} = {}^PM_F(q_{in})\; f(rhs)\; {}^2F_b^{-1}

    with f the pose of `PoseOfContact`. The right-hand side is a value of the hold: five zeros, the point (y, z) [m] of
    the floor's polygon in the plane of `floor.inward`, and (cos, sin) of the rotation about the normal. The rows are
    EQUAL_TO_ZERO (5) and EQUALITY (3).

    Args:
        hold: the contact with its complement, with one pair of surfaces; choose it by `pair=` if there are several. The
            object's surface is on a free-flyer joint, the floor's in the world or on another joint.
        rhs: the object's place (9,); by default at the centre of the floor's surface, its edge along the floor's.
        level: level of the hold, if it cannot be explicit.
        name: name in messages; that of the hold by default.

    Raises:
        OptionError: the hold has several pairs of surfaces; the message lists them.
        WrongObjectError: not a hold, or the object's surface is not on a free-flyer joint.
        OverlapError: the floor moves with the object.

    Source: explicit `ConvexShapeContact` of hpp-constraints, which has the pair of surfaces in its right-hand side.
    """
    expect(hold, ConvexShapeContactHold, "hold of an explicit contact")
    if len(hold.pairs) != 1:
        known = ", ".join(map(str, map(tuple, hold.pairs)))
        raise OptionError(
            f"{hold.name!r} has several pairs of surfaces: an explicit contact needs one of them: {known}"
        )
    floor, surface = hold.surfaces_of(hold.pairs[0])
    label = name or hold.name
    pose = explicit_relative_pose(
        hold.robot,
        Frame(floor.name, floor.joint, floor.inward, floor.frame.joint_name),
        Frame(surface.name, surface.joint, surface.outward, surface.frame.joint_name),
        level=level,
        name=label,
    )
    rhs_map = PoseOfContact(floor, hold.margin, name=label)
    return replace(pose, implicit=hold, rhs_map=rhs_map, comparison=HOLD_ROWS, rhs=rhs).known_exact()


def linear_coupling(
    robot: Robot, joint: str, sources: Mapping[str, float], offset: float = 0.0, *, name: str = ""
) -> Explicit:
    r"""A joint that is a linear function of others: :math:`q_j = \sum_i m_i q_i + b`.

    Args:
        robot: the robot.
        joint: the joint that follows; it has one number in q.
        sources: joint name -> multiplier.
        offset: b [rad or m].
        name: name in messages.

    Raises:
        UnknownJointError: lists the joints whose names come closest.
        WrongObjectError: a joint with several numbers in q, for example a continuous joint.
        OverlapError: the joint is one of its own sources.
        DtypeError, NotFiniteError: a multiplier or offset is not a number.
    """
    _single(as_robot(robot, "robot of a linear coupling"), joint)
    as_mapping(sources, f"sources of '{joint}'", "from joint name to multiplier")
    multipliers = finite_vector(list(sources.values()), len(sources), f"multipliers of '{joint}'")
    A = np.zeros((1, robot.nv))
    for source, multiplier in zip(sources, multipliers, strict=True):
        A[0, _single(robot, source)] += multiplier
    f = Affine(A, [offset], robot.space, name=f"{joint} = linear({', '.join(sources)})")
    return Explicit(f, robot.segments(joint), name=name or f.name)


def mimic_constraints(robot: Robot) -> tuple[Explicit, ...]:
    """The robot's mimic tags as explicit constraints: each joint a linear function of its source.

    Args:
        robot: the robot; see `robot.mimics`.

    Raises:
        WrongObjectError: a mimic tag on a joint with several numbers in q, for example a continuous joint.
    """
    return tuple(mimic_constraint(robot, m) for m in as_robot(robot, "robot of mimic constraints").mimics)


def mimic_constraint(robot: Robot, mimic: Mimic) -> Explicit:
    """One of them.

    Args:
        robot: the robot.
        mimic: one of `robot.mimics`.
    """
    name = f"{mimic.joint} mimics {mimic.source}"
    return linear_coupling(robot, mimic.joint, {mimic.source: mimic.multiplier}, mimic.offset, name=name)


def locked_joint(where: Robot | Space, joint: str | Segments, value: object = None, *, name: str = "") -> Explicit:
    """A joint held at a value: an explicit constraint without inputs, with all rows EQUALITY.

    Its right-hand side is the *difference* from the value: locked at 0.5, the right-hand side [0.2] holds the joint at
    0.7, and `problem.rhs_from(q)` holds it at its value in q.

    Args:
        where: the robot; or the whole space, for extra variables.
        joint: name of the joint; or Segments, for a part of a vector joint or for extra variables.
        value: as in `robot.configuration`; the neutral element by default, with a warning in the log for a robot's
            joint. To hold the joint at its start value use `Problem(..., frozen=[joint])`.
        name: name in messages.

    Raises:
        UnknownJointError: lists the joints whose names come closest.
        SizeError, NotNormalizedError, WrongObjectError: what is wrong with the value.

    Source: `LockedJoint` of hpp-constraints.
    """
    expect(where, (Robot, Space), "where of a locked joint")
    whole = where.space if isinstance(where, Robot) else where
    if isinstance(joint, Segments):
        block, label = joint, str(list(joint.v))
    else:
        block, label = where.segments(joint) if isinstance(where, Robot) else Segments.of(whole, joint), joint
    if value is None and isinstance(where, Robot) and not isinstance(joint, Segments):
        now = f"Problem(..., frozen=['{joint}']) holds it at its value in the start"
        _log.warning("locked '%s': no value was given, it is held at %s; %s", joint, block.space.neutral.tolist(), now)
    point = block.space.neutral if value is None else joint_value(block.space, value, f"value of locked '{label}'")
    f = Constant(point, block.space, whole, name=f"locked {label}")
    return Explicit(f, block, None, comparison=Comparison.EQUALITY, name=name or f"locked {label}")


def _single(robot: Robot, joint: str) -> int:
    """Column of a joint with one number in q."""
    factor = robot.space.factors[robot.joint_index(joint) - 1]
    if factor.space.atoms != (("R", 1),):
        name = factor.space.name
        if factor.space.atoms == SO2.atoms:
            name += ", cosine and sine of a continuous joint (as a revolute joint with limits it has one number)"
        raise WrongObjectError(f"joint '{joint}' in a linear coupling", "a joint with one number in q", name)
    return factor.v.start
