"""Joint torques that hold a robot at rest on its supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups import Rn
from liegroups.arguments import as_tuple
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...errors import OptionError
from ...point import Point
from ...robot import Robot
from ...robot.bounds import limits_of
from ...robot.model.joints import type_name
from ...robot.model.pinocchio import pin
from ..frames.frame_function import posture_of, supporting_columns
from ..frames.mass import MassFunction
from .contact_forces import ContactForces
from .support import Support


@dataclass(frozen=True, eq=False, repr=False)
class StaticTorques(MassFunction):
    r"""Torques and forces of joints that hold a robot at rest, while its supports carry it.

    .. math:: \tau(q) = g(q) - \sum_s J_s(q)^T w_s(q)

    with g the joint forces against gravity, :math:`J_s` the body Jacobian of the frame of a support, and :math:`w_s`
    the wrench on it in its own axes: that of the least squares of `ContactForces`, shared as `shares` says. Rows of a
    free-flyer are what the supports leave missing; they are left out.

    Args:
        robot: the robot.
        supports: what it leans on, a Support or several, on frames of the robot.
        actuated: names of the joints whose torques are the rows, in this order; by default all but free-flyers.
        shares: a positive number for each support, how much it is to carry beside the others; all alike by default.
        damping: of the least squares, 0 by default.
        joints: names of the joints whose bodies are carried by the supports; all by default.
        subtrees: names of joints whose whole sub-trees are carried, instead of `joints`.
        name: name in messages.

    Attributes:
        limits: lower and upper ones (m,) of the model's efforts [N, N m], infinite where it gives none:
            `Implicit.between(torques, *torques.limits)`.

    Shapes:
        value (m,): [N m] of joints that turn, [N] of those that slide.
        jacobian (m, nv): exact where that of `ContactForces` is.

    Raises:
        UnknownJointError: lists the names that come closest.
        OptionError: a support in the world, which pushes no body; no actuated joint.
        ModelError, SizeError, ToleranceError, WrongObjectError: as of `ContactForces`.

    Source: pinocchio's `computeStaticTorque`.

    Example:
        >>> from constraints import Implicit
        >>> from constraints.models import sample_humanoid
        >>> robot = sample_humanoid()
        >>> corners = [[x, y, 0.0] for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
        >>> feet = [Support(robot.frame(f"{side}leg_effector_body"), corners, friction=0.5) for side in "lr"]
        >>> torques = StaticTorques(robot, feet)
        >>> strong_enough = Implicit.between(torques, *torques.limits, name="torques")
    """

    robot: Robot
    supports: Support | Sequence[Support]
    actuated: Sequence[str] | None = None
    shares: ArrayLike | None = None
    damping: float = 0.0
    joints: Sequence[str] | None = field(default=None, kw_only=True)
    subtrees: Sequence[str] | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    limits: tuple[Vector, Vector] = field(init=False)
    _forces: ContactForces = field(init=False)
    _pushes: tuple[Matrix, ...] = field(init=False)
    _standing: tuple[Support, ...] = field(init=False)
    _rows: Indices = field(init=False)

    def __post_init__(self) -> None:
        robot, who = self.choose_bodies(self.robot, self.joints, self.subtrees), type(self).__name__
        forces = ContactForces(
            robot, self.supports, self.shares, self.damping, joints=self.joints, subtrees=self.subtrees, name=who
        )
        standing: Any = forces.supports
        for support in standing:
            if not support.frame.joint:
                raise OptionError(
                    f"support of {who}: {support.frame} is fixed in the world, and pushes no body of {robot}"
                )
        driven = _actuated(robot, self.actuated, who)
        rows = np.concatenate([robot.segments(joint).v_indices for joint in driven])
        set_fields(
            self,
            supports=standing,
            shares=forces.shares,
            damping=forces.damping,
            actuated=None if self.actuated is None else driven,
            limits=_limits(robot, rows),
            _forces=forces,
            _pushes=tuple(
                forces.weight * support.frame.placement.toDualActionMatrix().dot(wrenches)
                for support, wrenches in zip(standing, forces.wrenches, strict=True)
            ),
            _standing=standing,
            _rows=rows,
        )
        columns = self.columns_seen_from(0)
        for support in standing:
            columns |= supporting_columns(robot, support.frame.joint)
        self.declare(robot.space, Rn(rows.size), columns, periodic=True, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        posture = posture_of(point)
        k = posture.placed() if jacobian is None else posture.with_jacobians()
        shared = self._forces.shared(k, slopes=jacobian is not None)
        tree, still = self.robot.space.elementary, self.robot.space.zero_velocity
        pushes, slices = pin.StdVec_Force(tree.model.njoints * [pin.Force.Zero()]), self._forces.slices
        for support, wrenches, s in zip(self._standing, self._pushes, slices, strict=True):
            pushes[tree.joints[support.frame.joint]] += pin.Force(wrenches.dot(shared.forces[s]))
        data = tree.datas.take()
        value[:] = pin.rnea(tree.model, data, posture.q, still, still, pushes)[self._rows]
        if jacobian is not None and shared.by_q is not None:
            slopes = tree.force_slopes(data, posture.q, still, still, pushes)[0][self._rows]
            for support, wrenches, s in zip(self._standing, self._pushes, slices, strict=True):
                J = k.joint_jacobian(support.frame.joint)[:, self._rows]
                slopes -= J.T.dot(wrenches.dot(shared.by_q[s]))
            np.multiply(slopes, self.columns, jacobian)
        tree.datas.give(data)


def _limits(robot: Robot, rows: Indices) -> tuple[Vector, Vector]:
    """Lower and upper efforts of rows; a limit of zero stands for none."""
    model: Any = robot.model
    sides = [np.abs(limits_of(side))[rows] for side in (model.lowerEffortLimit, model.upperEffortLimit)]
    lower, upper = (read_only(np.where(side > 0.0, side, np.inf)) for side in sides)
    return read_only(-lower), upper


def _actuated(robot: Robot, given: Sequence[str] | None, who: str) -> tuple[str, ...]:
    """Names of the joints whose torques are asked for."""
    if given is not None:
        names = as_tuple(given, f"actuated joints of {who}", "joint names")
    else:
        model: Any = robot.model
        names = tuple(str(model.names[j]) for j in range(1, model.njoints) if type_name(model.joints[j]) != "FreeFlyer")
    if not names:
        raise OptionError(f"actuated joints of {who}: expected at least one, got none")
    return names
