"""Making configurations of a robot: from one value a joint, or at random."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from liegroups import SE2, SE3, SO2, SO3, Space
from liegroups.arguments import as_mapping, as_name, real_numbers
from liegroups.arrays import ArrayLike, BoolVector, Vector
from liegroups.by_name import by_name, entry_names
from liegroups.errors import DuplicateNameError
from liegroups.frozen import read_only_copy
from liegroups.unit_blocks import UniformPoints

from ..errors import NotNormalizedError, OptionError, SizeError, WrongObjectError
from ..questions import TURN, asked_of_turns, far_entries, say_once
from .bounds import Bounds
from .model.joints import radian_columns
from .placement import as_placement, as_rotation, has_matrix, matrix_of, pose_vector, quaternion_of, shape_of
from .space import RobotSpace

if TYPE_CHECKING:
    from .robot import Robot

_log = logging.getLogger(__package__)

UNIT_OF_INPUT = 1e-6
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
        _ask_of_turns(what, angle)
        return np.array([math.cos(angle), math.sin(angle)])
    if group == SE2 and array.shape == (3,):
        x, y, angle = array.tolist()
        _ask_of_turns(what, angle)
        return np.array([x, y, math.cos(angle), math.sin(angle)])
    if array.ndim > 1 or array.size != group.nq:
        raise SizeError(what, _expected(group), array.shape if array.ndim else 1)
    q = np.array(array.reshape(group.nq))
    for block in group.unit_blocks:
        unit = q[block]
        norm = math.sqrt(float(unit @ unit))
        if abs(norm - 1.0) > UNIT_OF_INPUT:
            raise NotNormalizedError(what, "quaternion xyzw" if unit.size == 4 else "(cos, sin)", norm)
        unit /= norm
    return q


def _ask_of_turns(what: str, angle: float) -> None:
    """Ask about an angle that is kept as (cos, sin): its turns are lost."""
    if abs(angle) > TURN:
        say_once(_log, {what: asked_of_turns(what, angle)})


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


class VectorsByJoint:
    """Vectors of a robot by joint: what it is and is given, and what it gives."""

    space: RobotSpace

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for each tangent coordinate (nv): that of its joint, with its number where the joint has several."""
        return entry_names(self.space.factors)

    def configuration(
        self, values: Mapping[str, object] | None = None, /, *, start: str | ArrayLike | None = None, **joints: object
    ) -> Vector:
        """A configuration from values by joint.

        Args:
            values: joint name -> value: its entries of q, or an angle for a (cos, sin) joint, (x, y, angle) for a
                planar joint, a rotation matrix for a spherical joint, a `pinocchio.SE3` for a free-flyer.
            start: configuration (nq,), or name of a reference posture, for the joints not given; neutral by default.
            **joints: the same as `values`, for names that are identifiers.

        Raises:
            UnknownJointError, UnknownNameError: lists the names that come closest.
            SizeError, DtypeError, NotFiniteError, NotNormalizedError, WrongObjectError: a wrong value; names the joint.
            DuplicateNameError: a joint is given twice.
        """
        robot: Any = self
        return configured(robot, merged(values, joints), start)

    def velocity(self, values: Mapping[str, ArrayLike] | None = None, /, **joints: ArrayLike) -> Vector:
        """A tangent vector (nv,) from numbers by joint: velocities, accelerations or joint forces; the others are zero.

        Wherever such a vector is asked for, the mapping itself may stand: `robot.at(q, {"elbow": 1.0})`,
        `forward_dynamics(constraint_set, motion, tau={"crank": 1.0})`. The order is that of `joint_names`.

        Args:
            values: joint name -> number [m/s, rad/s], or (nv_j,) for a joint with several: linear then angular, in the
                axes of the moving body, for a free-flyer.
            **joints: the same as `values`, for names that are identifiers.

        Raises:
            UnknownJointError: lists the joints whose names come closest.
            SizeError, DtypeError, NotFiniteError, WrongObjectError: a wrong value; names the joint.
            DuplicateNameError: a joint is given twice.

        Example:
            >>> from constraints.models import sample_arm
            >>> sample_arm().velocity(elbow=2.0).tolist()
            [0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
        """
        return self.space.check_tangent(cast("dict[str, ArrayLike]", merged(values, joints)), "velocity")

    def by_joint(self, x: ArrayLike) -> dict[str, float | Vector]:
        """The numbers of a configuration (nq,) or of a tangent vector (nv,) by joint, in the order of `joint_names`.

        The inverse of `configuration` and `velocity`.

        Args:
            x: (nq,) or (nv,); where both are the same number, so is the result.

        Returns:
            joint name -> a number, or an array for a joint with several.

        Raises:
            SizeError, DtypeError: another size, or no numbers.
        """
        return by_name(x, self.space.factors)


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
    if far_entries(q):
        asked = {joint: robot.bounds.asked_of_start(q, robot.slice_of(joint)) for joint in values}
        say_once(
            _log, {f"{robot.name} {joint}": words and f"value of a joint: {words}" for joint, words in asked.items()}
        )
    return q


def checked_postures(
    space: Space, *postures: Mapping[str, ArrayLike], what: str = "reference posture"
) -> dict[str, Vector]:
    """Checked, read-only copies of configurations by name, later mappings before earlier ones.

    Args:
        space: of the configurations.
        postures: the mappings.
        what: how an error message names one of them.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: names the posture.
        WrongObjectError: no mapping, or a name that is no string.
    """
    named: dict[str, ArrayLike] = {}
    for some in postures:
        named.update(as_mapping(some, f"{what}s", "from name to configuration"))
    out: dict[str, Vector] = {}
    for name, q in named.items():
        as_name(name, f"name of a {what}")
        out[name] = read_only_copy(space.check(q, f"{what} '{name}'"))
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
