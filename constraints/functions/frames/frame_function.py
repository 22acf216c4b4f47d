"""What functions of the pose of one frame seen from another share: names, kinematics, declared columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from liegroups import Space
from liegroups.arguments import expect
from liegroups.arrays import BoolVector, Matrix, Vector
from liegroups.frozen import set_fields

from ...errors import WrongObjectError
from ...point import ALL_JOINTS, MovingPoint, Point
from ...robot import Frame, Motion, Posture, Robot
from ...robot.arguments import as_robot
from ...robot.frame_pair import FramePair
from ...robot.model.pinocchio import Placement, pin
from ...robot.placement import as_placement, pose_vector
from ...robot.posture import Kinematics
from ..differences import force_derivative_by_differences
from ..function import Function
from .joint_chains import Chains

if TYPE_CHECKING:
    from .slopes import TwistRowSlopes

RowsAt = Callable[[Any, Vector, Vector, Vector], "TwistRowSlopes | None"]
"""TwistRowSlopes of a pose, by its twist, acceleration and multipliers: `FrameFunction.rows_at`."""

_LOCAL: Any = pin.LOCAL


def supporting_columns(robot: Robot, joint: int) -> BoolVector:
    """Tangent columns (nv,) of the joints between the world and a joint, itself included.

    Args:
        robot: the robot.
        joint: joint index; 0, the world, has none.
    """
    columns = np.zeros(robot.nv, dtype=np.bool_)
    for j in list(robot.model.supports[joint])[1:]:
        start = robot.model.joints[j].idx_v
        columns[start : start + robot.model.joints[j].nv] = True
    return columns


class Framed(Function):
    """A function of poses of frames seen from others."""

    @property
    @abstractmethod
    def parts(self) -> tuple[FrameFunction, ...]:
        """The functions of one frame seen from another that it is made of."""


class FrameFunction(Framed):
    r"""A function of the pose of frame b seen from frame a, :math:`{}^aM_b = {}^oM_a^{-1}\, {}^oM_b`.

    Subclasses are dataclasses of a robot and of what the user called the frames; `resolve` turns that into `frame_a`
    (the world where there is one frame only) and `frame_b`. They write their rows as a (k x 6) matrix times the body
    twist of b relative to a, depend on the joints on exactly one of the two chains, and are periodic in every
    revolute joint.

    Attributes:
        robot, frame_a, frame_b: as resolved.
        last_joint: the greater index of the joints that carry them: what `kinematics_at` is asked for.
    """

    robot: Robot
    frame_a: Frame
    frame_b: Frame
    last_joint: int

    @property
    def parts(self) -> tuple[FrameFunction, ...]:
        return (self,)

    @property
    def seen_from(self) -> str:
        """The placement in the world from which it is seen, in words; empty for the world itself and for frames."""
        place = self.frame_a.placement
        if self.frame_a.joint or self.frame_a.name != "world" or np.array_equal(place.homogeneous, np.eye(4)):
            return ""
        numbers = ", ".join(f"{x:.4g}" for x in (pose_vector(place) + 0.0).tolist())
        return f"seen from the placement [{numbers}] in the world"

    def resolve(self, robot: object, a: object, b: object, outputs: Space, name: str | None) -> None:
        """Turn what the user gave into frames, and declare the function (from `__post_init__`).

        Args:
            robot: the robot.
            a: frame name or Frame; None is the world, and a placement is one in the world.
            b: frame name or Frame.
            outputs: space of the value.
            name: name in messages; by default class and frames.

        Raises:
            UnknownFrameError: a name the robot does not have, with those that come closest.
        """
        robot = as_robot(robot, f"robot of {type(self).__name__}")
        frame_a = world_or_frame(robot, a, type(self).__name__)
        frame_b = as_frame(robot, b, type(self).__name__)
        if name is None:
            reference = f", reference={frame_a}" if frame_a.joint else ""
            name = f"{type(self).__name__}({frame_b}{reference})"
        chain_a, chain_b = supporting_columns(robot, frame_a.joint), supporting_columns(robot, frame_b.joint)
        sign = chain_b.astype(np.float64) - chain_a.astype(np.float64)  # zero on the joints both chains share
        set_fields(
            self,
            frame_a=frame_a,
            frame_b=frame_b,
            _sign=np.asfortranarray(np.tile(sign, (6, 1))),  # as the world Jacobian: one run through memory
            _in_world=frame_a.joint == 0,
            last_joint=max(frame_a.joint, frame_b.joint),
        )
        self.declare(robot.space, outputs, sign != 0.0, periodic=True, name=name)

    # Kinematics, in raw arrays: this is the inside of the solver's loop.

    _sign: Matrix
    _in_world: bool

    def relative_placement(self, k: Kinematics) -> Any:
        r""":math:`{}^aM_b`, live: it follows the next evaluation of this function in the workspace.

        Args:
            k: kinematics at the point, of `kinematics_at`.
        """
        return self.relative_frames(k).pose

    def relative_frames(self, k: Kinematics) -> FramePair:
        """Frame b seen from frame a at the point of k, with views of the placement and memory for rows."""
        frames = k.frames.get(id(self)) or k.relative(self, self.frame_a, self.frame_b)
        frames.update(k.model, k.data, frames.memory)
        return frames

    def write_jacobian(self, k: Kinematics, rows: Matrix | None, jacobian: Matrix) -> None:
        r"""Write `rows` (k x 6; None for the identity) times the Jacobian of the body twist of b relative to a.

        .. math:: J = {}^bX_o (S_b - S_a)\,J_{world}

        with :math:`S` the columns on the chain of a frame: shared columns are exactly zero. The frames are those of
        the last `relative_frames` or `relative_placement`.
        """
        if self._in_world:
            columns = k.jacobian_on(k.model, k.data, self.frame_b.joint, self.frame_b.placement, _LOCAL)
        else:
            frames = k.frames[id(self)]
            X = frames.to_b()
            rows = X if rows is None else rows.dot(X)
            columns = np.multiply(k.world_jacobian, self._sign, frames.columns)
        if rows is None:
            jacobian[...] = columns
        else:
            rows.dot(columns, jacobian)

    def relative_motion(self, motion: MovingPoint) -> tuple[Any, Vector, Vector]:
        r"""Pose, twist and drift acceleration of b relative to a, in b: what the drift of a subclass needs.

        .. math:: \nu = \nu_b - {}^bX_a \nu_a, \qquad \gamma = \gamma_b - {}^bX_a \gamma_a + \nu \times {}^bX_a \nu_a

        with :math:`\gamma` spatial accelerations at zero joint acceleration.
        """
        moving = motion_of(motion)
        k = moving.with_drift()
        aMb = self.relative_placement(k)
        a, b = self.frame_a, self.frame_b
        twist = b.placement.actInv(k.data.v[b.joint])
        acceleration = b.placement.actInv(k.data.a[b.joint])
        if a.joint != 0:
            twist_a = aMb.actInv(a.placement.actInv(k.data.v[a.joint]))
            acceleration = acceleration - aMb.actInv(a.placement.actInv(k.data.a[a.joint]))
            twist = twist - twist_a
            acceleration = acceleration + twist.cross(twist_a)
        return aMb, np.array(twist.vector), np.array(acceleration.vector)

    # Derivatives of accelerations.

    def rows_at(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> TwistRowSlopes | None:
        """Rows of the body twist of a pose, with their `Slopes`; None where the function has no formula for them.

        Args:
            pose: frame b seen from frame a.
            twist, acceleration: its body twist (6,), and the derivative of that.
            multipliers: of the rows (outputs.nv,).
        """
        return None

    @property
    def has_exact_derivatives(self) -> bool:
        """As of `Function`; and not on robots with ellipsoid joints, whose motions are no chain of elementary ones."""
        return type(self).rows_at is not FrameFunction.rows_at and self.robot.space.elementary.is_exact

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        """As `Function.drift_derivatives`: by the chain rule through the relative motion of the frames."""
        if not self.has_exact_derivatives:
            super().drift_derivatives(motion, a, dq, dv)
            return
        self.write_slopes(motion, a, self.rows_at, dq, dv)

    def write_slopes(self, motion: MovingPoint, a: Vector, rows_at: RowsAt, dq: Matrix, dv: Matrix) -> None:
        """Write what the acceleration of rows of the frames changes by with q and v, by the chain rule.

        Args:
            motion, a, dq, dv: as of `drift_derivatives`.
            rows_at: `self.rows_at`, or other rows of the same pose.
        """
        tree = self.robot.space.elementary
        moving = tree.moving(motion_of(motion).point.q, motion.v, a)
        seen = moving.relative(self.frame_a, self.frame_b)
        rows = rows_at(seen.pose, seen.twist, seen.acceleration, np.zeros(len(dq)))
        if rows is not None:
            rows.write_accelerations(seen, dq, dv)
        tree.datas.give(moving.data)

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        if not self.has_exact_derivatives:
            force_derivative_by_differences(self, point, y, out)
            return
        self.write_force_slope(point, y, self.rows_at, out)

    def write_force_slope(self, point: Point, y: Vector, rows_at: RowsAt, out: Matrix) -> None:
        """Write what the joint forces of multipliers of rows of the frames change by with q.

        Args:
            point, y, out: as of `force_derivative`.
            rows_at: `self.rows_at`, or other rows of the same pose.
        """
        posture = posture_of(point)
        k = posture.with_jacobians()
        pose = self.relative_placement(k)
        rows = rows_at(pose, np.zeros(6), np.zeros(6), y)
        if rows is None:
            return
        J = np.empty((6, self.inputs.nv))
        self.write_jacobian(k, None, J)
        b = self.frame_b
        wrench = (k.oMi[b.joint] * b.placement).act(pin.Force(y @ rows.D)).vector
        out[:] = self.robot.space.elementary.wrench_slope(k.world_jacobian, self.frame_a, b, wrench)
        out += J.T @ rows.slopes.force @ J

    def pairing_slope(self, point: Point, pairing: Matrix) -> Vector | None:
        r"""How :math:`\operatorname{tr}(P^T J)` changes with q (nv,), where derivatives are exact; None if not known.

        Args:
            point: where.
            pairing: P (outputs.nv, nv), kept.
        """
        return None

    def chain_at(self, point: Point) -> tuple[FramePair, Matrix, Chains]:
        """Frame b seen from frame a at a point, its body Jacobian (6, nv), and the joints between them."""
        k = posture_of(point).with_jacobians(self.last_joint)
        frames, chains = self.relative_frames(k), point.workspace.resource(self, "chains", self._chains)
        return frames, frames.to_b().dot(k.world_jacobian * self._sign), chains

    def _chains(self) -> Chains:
        tree = self.robot.space.elementary
        return Chains.between(tree, tree.joints[self.frame_a.joint], (tree.joints[self.frame_b.joint],))


@dataclass(frozen=True, eq=False, repr=False)
class FrameOfRobot(FrameFunction):
    """What a function of one frame seen from another is made of, where its outputs belong to its class.

    Attributes:
        group: the output space, of the class.
    """

    robot: Robot
    frame: Frame | str
    reference: Frame | str | Placement | Vector | None = None
    name: str = field(default="", kw_only=True)

    group: ClassVar[Space]

    def __post_init__(self) -> None:
        self.resolve(self.robot, self.reference, self.frame, self.group, self.name or None)


def kinematics_at(point: Point, jacobian: Matrix | None, last: int = ALL_JOINTS) -> Kinematics:
    """Kinematics at a posture, with joint Jacobians where they are needed; a typed error for another kind of point.

    Args:
        point: the posture.
        jacobian: the Jacobian to be written, or None.
        last: index of the last joint that the caller reads: those behind it may be left out.
    """
    try:
        return point.placed(last) if jacobian is None else point.with_jacobians(last)
    except AttributeError:  # checked once it has failed: this is the solver's loop
        posture_of(point)
        raise


def posture_of(point: Point) -> Posture:
    """The robot's posture, or a typed error where a function is given something else."""
    return expect(point, Posture, "point of a kinematic function", "a Posture of its robot (robot.at(q))")


def motion_of(motion: MovingPoint) -> Motion:
    """The robot's motion, or a typed error where a function is given another kind of motion."""
    if isinstance(motion, Motion):
        return motion
    raise WrongObjectError("motion of a kinematic function", "a Motion of its robot (robot.at(q, v))", motion)


def as_frame(robot: Robot, frame: object, what: str) -> Frame:
    """A frame of the robot, by name or as it is."""
    return robot.frame(expect(frame, (str, Frame), f"frame of {what}", "a frame name or a Frame"))


def world_or_frame(robot: Robot, reference: object, what: str) -> Frame:
    """A frame of the robot; None is the world, a placement is a frame in the world."""
    if isinstance(reference, str | Frame):
        return robot.frame(reference)
    placement = as_placement(reference, f"reference of {what} (a frame, or a placement in the world)")
    return Frame("world", 0, placement, "universe")
