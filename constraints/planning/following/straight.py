"""Straight lines as targets: approaches and retreats of grasps, by direction and length."""

from __future__ import annotations

import numpy as np

from liegroups import SE3, SO3
from liegroups.arguments import expect, finite_vector
from liegroups.arrays import ArrayLike, Vector

from ...errors import OptionError, WrongObjectError
from ...functions.frames.pose import Pose
from ...functions.frames.position import Position
from ...paths.moving_rhs import MovingRightHandSide
from ...problem.problem import Problem
from ...ranges import positive_number
from ...rows.implicit import Implicit
from ...rows.row_owner import RowOwner

LEAST_DIRECTION = 1e-9
"""Norm below which a vector is no direction."""


def straight_line(
    problem: Problem,
    q: ArrayLike,
    constraint: RowOwner | str | int,
    direction: ArrayLike,
    length: float,
    *,
    of_reference: bool = False,
) -> MovingRightHandSide:
    r"""Targets for `follow`: a frame moves on a straight line, from where it is, without turning.

    .. math:: p(s) = p(0) + s\,\ell\,\frac{R\,d}{|d|}, \qquad R(s) = R(0)

    with p and R the position and rotation of the frame in the axes of the reference of its function, at q. All other
    right-hand sides are those of q, and stay. From a grasp backwards it is a retreat; an approach is a retreat that is
    followed and then reversed (`path.reversed()`), and so ends at the grasp bit for bit.

    Args:
        problem: the constraints.
        q: configuration (nq,) at the beginning of the line.
        constraint: the object, its position, or its name: an Implicit on a `Pose` or a `Position`, whose rows say what
            is held on the line.
        direction: (3,) in the axes of the frame (R above); it need not have norm 1.
        length: of the line [m].
        of_reference: the direction is in the axes of the reference, by default the world, instead (no R above).

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with q or the direction.
        OptionError: a direction that is zero, or a length that is not positive.
        WrongObjectError: a constraint on another function.
        RightHandSideError: a row that would have to move takes no right-hand side.
        UnknownNameError: no constraint of that name.
    """
    expect(problem, Problem, "problem of a straight line")
    expect(of_reference, bool, "of_reference of a straight line", "True or False")
    q = problem.check(q)
    first = problem.rhs_from(q)
    owner = problem.constraints.owners[problem.constraints.index(constraint)]
    function = owner.function if isinstance(owner, Implicit) else None
    if not isinstance(function, Pose | Position):
        what = f"constraint '{owner.name}' of a straight line"
        raise WrongObjectError(what, "an Implicit on a Pose or a Position", function or owner)
    moved = positive_number(length, "length of a straight line") * _unit(direction)
    if not of_reference:
        pose = Pose(function.robot, function.frame, function.reference).value(q)
        moved = SE3.compose(pose, np.concatenate([moved, SO3.neutral]))[:3] - pose[:3]
    point = first.of(owner)
    point[:3] += moved
    return MovingRightHandSide(first, first.replace(owner, point))


def _unit(direction: ArrayLike) -> Vector:
    """A direction with norm 1."""
    given = finite_vector(direction, 3, "direction of a straight line")
    length = float(np.sqrt(given @ given))
    if length < LEAST_DIRECTION:
        raise OptionError(f"direction of a straight line: expected a vector that is not zero, got {given.tolist()}")
    return given / length
