"""Making configurations of a robot: from one value a joint, or at random."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from liegroups import SE2, SE3, SO2, SO3, Space
from liegroups.arguments import as_mapping, as_name, real_numbers
from liegroups.arrays import ArrayLike, BoolVector, Vector
from liegroups.errors import DuplicateNameError
from liegroups.frozen import read_only_copy
from liegroups.unit_blocks import UniformPoints

from ..errors import NotNormalizedError, OptionError, SizeError, WrongObjectError
from .bounds import Bounds
from .joints import radian_columns
from .placement import as_placement, as_rotation, has_matrix, matrix_of, pose_vector, quaternion_of, shape_of

if TYPE_CHECKING:
    from .robot import Robot

UNIT = 1e-6
"""A vector whose norm differs from 1 by less is normalised, any other is refused."""


def joint_value(group: Space, value: object, what: str) -> Vector:
    """Turn what a user gives for one joint into the entries of q.

    Args:
        group: the group of the joint.
        value: the entries of q themselves, or
            one number for a scalar joint, or the angle [rad] of a (cos, sin) joint;
            three numbers (x, y, angle) for a planar joint [m, rad];
            a rotation matrix, a scipy `Rotation`, a `pinocchio.Quaternion` or a quaternion xyzw for a spherical joint;
            a `pinocchio.SE3`, a 4 x 4 matrix, or translation [m] and quaternion xyzw for a free-flyer.
        what: how an error message names it.

    Returns:
        (group.nq,) entries of q, unit vectors normalised.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError, WrongObjectError: what is wrong with the value.
    """
    turns, moves = has_matrix(value, 3), has_matrix(value, 4)
    if group == SE3 and moves:
        return np.array(pose_vector(as_placement(value, what)))
    if group == SO3 and turns:
        return quaternion_of(as_rotation(value, what))
    numbers = matrix_of(value)
    if ((turns or moves) and numbers is not value) or shape_of(numbers) is None:
        raise WrongObjectError(what, _expected(group), value)
    array = real_numbers(numbers, what, finite=True)
    if group == SO2 and array.size == 1:
        angle = array.item()
        return np.array([math.cos(angle), math.sin(angle)])
    if group == SE2 and array.shape == (3,):
        x, y, angle = array.tolist()
        return np.array([x, y, math.cos(angle), math.sin(angle)])
    if array.ndim > 1 or array.size != group.nq:
        raise SizeError(what, _expected(group), array.shape if array.ndim else 1)
    q = np.array(array.reshape(group.nq))
    for block in group.unit_blocks:
        unit = q[block]
        norm = math.sqrt(float(unit @ unit))
        if abs(norm - 1.0) > UNIT:
            raise NotNormalizedError(what, "quaternion xyzw" if unit.size == 4 else "(cos, sin)", norm)
        unit /= norm
    return q


def _expected(group: Space) -> str:
    """What a joint of this group takes, in words."""
    if group.is_flat:
        return "one number" if group.nq == 1 else f"{group.nq} numbers"
    words: dict[Space, str] = {
        SO2: "an angle or 2 numbers (cos, sin)",
        SE2: "3 numbers (x, y, angle) or 4 (x, y, cos, sin)",
        SO3: "4 numbers (quaternion xyzw), a 3 x 3 matrix, a scipy Rotation or a pinocchio.Quaternion",
        SE3: "7 numbers (translation, quaternion xyzw), a 4 x 4 matrix, a pinocchio.SE3 or rigid_transform(...)",
    }
    return words.get(group, f"{group.nq} numbers")


def merged(values: Mapping[str, object] | None, named: Mapping[str, object]) -> dict[str, object]:
    """Values by joint, from a mapping and from keywords.

    Raises:
        WrongObjectError: the mapping is none.
        DuplicateNameError: a joint is given in both.
    """
    if values is not None:
        as_mapping(values, "values", "from joint name to value")
    for joint in named:
        if values and joint in values:
            raise DuplicateNameError("joint value", joint)
    return {**(values or {}), **named}


def configured(robot: Robot, values: Mapping[str, object], start: str | ArrayLike | None) -> Vector:
    """A configuration of a robot from values by joint; `start` is where the other joints are, neutral by default."""
    if start is None:
        q = robot.neutral
    else:
        q = robot.reference(start) if isinstance(start, str) else np.array(robot.check(start, "start"))
    for joint, value in values.items():
        block = robot.slice_of(joint)
        q[block] = joint_value(
            robot.space.factors[robot.joint_index(joint) - 1].space, value, f"value of joint '{joint}'"
        )
    return q


def checked_postures(space: Space, *postures: Mapping[str, ArrayLike]) -> dict[str, Vector]:
    """Checked, read-only copies of configurations by name, later mappings before earlier ones.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: names the posture.
        WrongObjectError: no mapping, or a name that is no string.
    """
    named: dict[str, ArrayLike] = {}
    for some in postures:
        named.update(as_mapping(some, "reference postures", "from name to configuration"))
    out: dict[str, Vector] = {}
    for name, q in named.items():
        as_name(name, "name of a reference posture")
        out[name] = read_only_copy(space.check(q, f"reference posture '{name}'"))
    return out


def random_points(bounds: Bounds, radians: BoolVector) -> UniformPoints:
    r"""Configurations to be drawn at random, each entry on its own.

    Plain numbers are uniform in their bounds: angles in what the bounds leave of :math:`[-\pi, \pi]`, others in
    :math:`[-1, 1]` m where they have none. (cos, sin) is a uniform angle, quaternions are uniform on the rotations
    (Haar).

    Args:
        bounds: bounds, and the space.
        radians: (nv,) tangent columns that are an angle stored as one number.
    """
    space = bounds.space
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    for i in space.vector_q[radians[space.vector_v]]:
        if lower[i] <= math.pi and upper[i] >= -math.pi:
            lower[i], upper[i] = max(lower[i], -math.pi), min(upper[i], math.pi)
    return UniformPoints(space.nq, space.unit_blocks, lower, upper)


def random_configuration(robot: Robot, rng: np.random.Generator, size: int | None) -> Vector:
    """What `Robot.random` gives; the robot keeps what the points are drawn from, which takes longer than drawing one.

    Raises:
        WrongObjectError: rng is no generator.
        OptionError: size is no number of configurations.
    """
    if size is not None and (not isinstance(size, int | np.integer) or size < 0):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise OptionError(f"size of random configurations: expected a whole number or None, got {size!r}")

    def made() -> UniformPoints:
        return random_points(robot.bounds, radian_columns(robot.model))

    points: UniformPoints = robot.kept.get("random points", made)
    return points.draw(rng, size)
