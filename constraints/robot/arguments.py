"""Taking a robot, or a point of a group, from a user."""

from __future__ import annotations

import os
from typing import Any

from liegroups import SE3, SO3, Element, R3xSO3, Space
from liegroups.arguments import expect, finite_vector, is_finite_vector
from liegroups.arrays import ArrayLike

from ..errors import ConstraintError, SizeError, SpaceMismatchError, WrongObjectError
from ..linear_algebra import norm
from .model.pinocchio import Placement, pin
from .placement import (
    TYPED,
    HasMatrix,
    as_placement,
    as_rotation,
    matrix_of,
    pose_vector,
    quaternion_of,
    shape_of,
    way_from,
)
from .posture import Posture
from .robot import Robot

GivenPoint = ArrayLike | Element | Placement | HasMatrix
"""What is taken for a point of a group: numbers, an Element, or a placement or rotation where the group has them."""
_POSES = (SE3, R3xSO3)
SIX_OF_POSE = "of a pose M, Transformation has [*M.translation, *pinocchio.log3(M.rotation)]"
"""What to write where six numbers are asked for and a pose came."""


def as_robot(candidate: object, what: str) -> Robot:
    """The candidate, or a typed error that names it."""
    return expect(candidate, Robot, what, robot_for(candidate))


def robot_for(candidate: object) -> str:
    """How a robot is made of what came in its place, in words; empty where it is not known."""
    if isinstance(candidate, pin.Model):
        return "a Robot, Robot(model)"
    return "a Robot, Robot.from_urdf(path)" if isinstance(candidate, str | os.PathLike) else ""


def refuse_posture(candidate: object, what: str, space: Space | None = None) -> None:
    """Refuse a posture, whose q is no value of a function, where a value is asked for.

    Args:
        candidate: what came.
        what: how an error message names it.
        space: of the value, where it is known.

    Raises:
        WrongObjectError: it is a posture; says what has the value.
    """
    if isinstance(candidate, Posture):
        part = "" if space is None or space in _POSES or space == SO3 else ".translation"
        expected = "a point" if space is None else f"{space.nq} numbers"
        ways = f"posture.placement('tool'){part}, or function(posture.q)"
        raise WrongObjectError(what, f"{expected} (as {ways})", "a Posture")


def point_numbers(candidate: Any, space: Space, what: str = "point") -> Any:
    """A point of a space as numbers, which the door of the space has yet to check.

    Args:
        candidate: numbers, an Element; where the space has poses a placement, where it has rotations a rotation or the
            placement that has it (`as_placement`, `as_rotation`).
        space: of the point.
        what: how an error message names it.

    Raises:
        WrongObjectError: a rotation where a pose is asked for, or either where the space has none; a posture.
        SpaceMismatchError: an Element of another space.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what else is wrong with a placement or rotation.
    """
    if isinstance(candidate, Element):
        if candidate.space != space and not (candidate.space in _POSES and space in _POSES):
            raise SpaceMismatchError(what, space.name, candidate.space.name)
        return candidate.q
    refuse_posture(candidate, what, space)
    numbers = matrix_of(candidate)
    shape = shape_of(numbers)
    turns, moves = shape == (3, 3), shape == (4, 4)
    if space in _POSES and moves:
        return pose_vector(as_placement(numbers, what))
    if space == SO3 and (turns or moves):
        return quaternion_of(as_rotation(numbers, what))
    if numbers is not candidate:
        shape = shape_of(candidate)
    if space in _POSES and shape is None:
        as_placement(candidate, what)  # rows of several lengths: says what to write instead
    if (space in _POSES or space == SO3) and shape is not None and len(shape) == 1 and way_from(shape[0]):
        raise SizeError(f"{what} of {space.name}", space.nq, shape[0], way_from(shape[0]))
    if space in _POSES and turns:
        raise WrongObjectError(what, "a pose, rigid_transform(translation, rotation)", "a rotation alone")
    six = SIX_OF_POSE if space.nq == 6 and space.is_flat else ""
    if (turns or moves) and numbers is not candidate:
        came = f"a {type(candidate).__name__}, which has " + ("a rotation" if turns else "a translation and a rotation")
        came += f" ({six})" if six and moves else ""
        raise WrongObjectError(what, f"{space.nq} numbers", came)
    if six and shape in ((7,), (4, 4)):
        raise SizeError(f"{what} of {space.name}", 6, 7 if shape == (7,) else shape, six)
    if space.nq == 1 and isinstance(candidate, int | float) and not isinstance(candidate, bool):
        return [candidate]
    return _as_typed(numbers, space) if space.unit_blocks else numbers


def _as_typed(numbers: Any, space: Space) -> Any:
    """Numbers whose unit vectors were typed with a few digits, normalised; all others as they are."""
    if not is_finite_vector(numbers, space.nq):
        try:
            numbers = finite_vector(numbers, space.nq, "point", "")
        except ConstraintError:
            return numbers  # the door says what is wrong
    off = [abs(norm(numbers[block]) - 1.0) for block in space.unit_blocks]
    return space.normalize(numbers) if 1e-6 < max(off) < TYPED else numbers
