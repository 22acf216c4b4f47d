"""Where the centre of mass is between two feet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from liegroups import Rn
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross
from liegroups.frozen import set_fields

from ...point import MovingPoint, Point
from ...questions import ask_once
from ...robot import Frame, Robot
from ...robot.model.pinocchio import pin
from ..affine import Affine
from ..enclosures.box import Enclosure, TangentBox
from ..enclosures.interval import Interval
from ..enclosures.operators import of_vectors
from ..function import Function
from ..stacked import Stacked
from .center_of_mass import CenterOfMass
from .frame_function import as_frame, kinematics_at, supporting_columns
from .mass import MassFunction
from .position import Position

_WORLD_AXES: Any = pin.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True, eq=False, repr=False)
class ComBetweenFeet(MassFunction):
    r"""Position of the centre of mass c between two feet: height, offset from their line, position along the line.

    With :math:`x_L, x_R` the origins of the feet, :math:`u = x_R - x_L`, :math:`m = (x_L + x_R)/2` and the axes
    :math:`R_r` of a reference frame with origin :math:`x_r`, all in the world,

    .. math:: f(q) = \begin{pmatrix} (c - x_r)_z \\ \left(R_r^T\,((c - m) \times u)\right)_z \\
        (c - x_L)\cdot u \\ (c - x_R)\cdot u \end{pmatrix} \in \mathbb{R}^4

    The first row is a difference of heights in the *world*. For balance keep rows 0 and 1 at their right-hand sides,
    row 2 above zero and row 3 below zero. Feet with one origin are asked about in the log.

    Args:
        robot: the robot.
        left, right, reference: frame names or Frames.
        joints: names of the joints whose bodies count; all by default.
        subtrees: names of joints whose whole sub-trees count, instead of `joints`.
        name: name in messages.

    Shapes:
        value (4,): [m], [m2], [m2], [m2].
        jacobian (4, nv).

    Raises:
        UnknownFrameError, UnknownJointError: lists the names that come closest.
        ModelError: if the bodies have no mass.

    Source: `ComBetweenFeet` of hpp-constraints.
    """

    robot: Robot
    left: Frame | str
    right: Frame | str
    reference: Frame | str
    joints: Sequence[str] | None = None
    subtrees: Sequence[str] | None = None
    name: str = field(default="", kw_only=True)

    _frames: tuple[Frame, Frame, Frame] = field(init=False)
    _product: Function = field(init=False)

    def __post_init__(self) -> None:
        """Choose the bodies, resolve the frames."""
        robot = self.choose_bodies(self.robot, self.joints, self.subtrees)
        frames = tuple(as_frame(robot, f, type(self).__name__) for f in (self.left, self.right, self.reference))
        _ask_of_one_foot(*frames[:2])
        columns = self.columns_seen_from(0)
        for frame in frames:
            columns |= supporting_columns(robot, frame.joint)
        center = CenterOfMass(robot, self.joints, self.subtrees)
        set_fields(self, _frames=frames, _product=_Products() @ _vectors(center, frames, robot))
        self.declare(robot.space, Rn(4), columns, periodic=True, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian)
        Jc = None if jacobian is None else self.center_jacobian(k)
        c = self.center(k)
        oMi = k.oMi
        oML, oMR, oMr = (oMi[f.joint].act(f.placement) for f in self._frames)
        xL, xR, R = oML.translation, oMR.translation, oMr.rotation
        u, lever = xR - xL, c - 0.5 * (xL + xR)
        z, moment = R[:, 2], pin.skew(lever).dot(u)
        value[0] = c[2] - oMr.translation[2]
        value[1] = z.dot(moment)
        value[2] = (c - xL).dot(u)
        value[3] = (c - xR).dot(u)
        if jacobian is None or Jc is None:
            return
        JL, JR, Jr = (k.jacobian_on(k.model, k.data, f.joint, f.placement, _WORLD_AXES) for f in self._frames)
        Ju, Jlever = JR[:3] - JL[:3], Jc - 0.5 * (JL[:3] + JR[:3])
        turn, along, half = pin.skew(z), u.dot(Jlever) + lever.dot(Ju), u.dot(Ju)
        jacobian[0] = Jc[2] - Jr[2]
        jacobian[1] = turn.dot(lever).dot(Ju) - turn.dot(u).dot(Jlever) + turn.dot(moment).dot(Jr[3:])
        jacobian[2], jacobian[3] = along + half, along - half

    def enclosure(self, box: TangentBox) -> Enclosure:
        return self._product.enclosure(box.on(self.inputs, self.name))

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        self._product.drift(motion, out)

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        self._product.drift_derivatives(motion, a, dq, dv)

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        self._product.force_derivative(point, y, out)


def _ask_of_one_foot(left: Frame, right: Frame) -> None:
    """Ask about feet whose origins are the same point of one body: there is no line between them."""
    if left.joint == right.joint and np.array_equal(left.placement.translation, right.placement.translation):
        both = f"'{left}' twice" if left.name == right.name else f"'{left}' and '{right}', at one point"
        ask_once(f"left and right of ComBetweenFeet are {both}: rows 1, 2 and 3 are zero everywhere: is it meant?")


@final
@dataclass(frozen=True, eq=False, repr=False)
class _Products(Function):
    r"""The rows of `ComBetweenFeet` from :math:`x = (l, u, z, h)`: lever c - m, line, vertical axis, and height.

    .. math:: f(x) = \left(h,\; z \cdot (l \times u),\; l \cdot u + \tfrac12 |u|^2,\; l \cdot u - \tfrac12 |u|^2\right)
    """

    name: str = field(default="products", kw_only=True)

    def __post_init__(self) -> None:
        """Declare it."""
        self.declare(Rn(10), Rn(4), name=self.name)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        x = point.q
        l, u, z = x[:3], x[3:6], x[6:9]  # noqa: E741  # as in the formula
        along, half = l @ u, 0.5 * (u @ u)
        value[:] = x[9], z @ cross(l, u), along + half, along - half
        if jacobian is not None:
            jacobian[0] = np.eye(10)[9]
            jacobian[1, :3], jacobian[1, 3:6], jacobian[1, 6:9] = cross(u, z), cross(z, l), cross(l, u)
            jacobian[1, 9] = 0.0
            jacobian[2], jacobian[3] = _pairing(x)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        out[:] = self._bent(motion.point.q, motion.v) @ motion.v

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        x, v = motion.point.q, motion.v
        dq[:] = self._bent(x, a)
        dq[1] += self._bent(v, v)[1]  # the third derivative
        dv[:] = 2.0 * self._bent(x, v)

    def enclosure(self, box: TangentBox) -> Enclosure:
        """Every entry is a sum of products: computed in intervals."""
        at, over = Interval.of(box.q), Interval.around(box.q, box.r)
        zero = Interval.of(np.zeros(3))

        def cross(a: Interval, b: Interval) -> Interval:
            return a[_NEXT] * b[_AFTER] - a[_AFTER] * b[_NEXT]

        def dot(a: Interval, b: Interval) -> Interval:
            terms = a * b
            return terms[:1] + terms[1:2] + terms[2:3]

        l, u, z = at[:3], at[3:6], at[6:9]  # noqa: E741  # as in the formula
        along, half = dot(l, u), 0.5 * dot(u, u)
        value = Interval.joined([at[9:], dot(z, cross(l, u)), along + half, along - half])
        l, u, z = over[:3], over[3:6], over[6:9]  # noqa: E741
        rows = (
            Interval.of(np.eye(10)[9]),
            Interval.joined([cross(u, z), cross(z, l), cross(l, u), zero[:1]]),
            Interval.joined([u, l + u, zero, zero[:1]]),
            Interval.joined([u, l - u, zero, zero[:1]]),
        )
        return of_vectors(self.outputs, box, value, Interval.joined([row[None] for row in rows]))

    @staticmethod
    def _bent(x: Vector, w: Vector) -> Matrix:
        """What the Jacobian at x changes by along w (4, 10)."""
        found = np.zeros((4, 10))
        blocks = (slice(0, 3), slice(3, 6), slice(6, 9))
        for i, s in enumerate(blocks):
            after, last = blocks[(i + 1) % 3], blocks[(i + 2) % 3]
            found[1, s] = cross(w[after], x[last]) + cross(x[after], w[last])
        found[2], found[3] = _pairing(w)
        return found


_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])


def _pairing(x: Vector) -> Matrix:
    """Derivatives (2, 10) of the last two rows at x, which are linear in it."""
    l, u = x[:3], x[3:6]  # noqa: E741
    rest = np.zeros(4)
    return np.array([np.concatenate([u, l + u, rest]), np.concatenate([u, l - u, rest])])


def _vectors(center: Function, feet: Sequence[Frame], robot: Robot) -> Function:
    """Lever, line, vertical axis and height (10,), of the centre of mass and the frames of `ComBetweenFeet`."""
    left, right, reference = feet
    above = reference.moved(pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0])))
    places = Stacked([center, *(Position(robot, frame) for frame in (left, right, reference, above))])
    A = np.zeros((10, 5, 3))
    for i in range(3):
        A[i, :3, i] = 1.0, -0.5, -0.5
        A[3 + i, 1:3, i] = -1.0, 1.0
        A[6 + i, 3:, i] = -1.0, 1.0
    A[9, [0, 3], 2] = 1.0, -1.0
    return Affine(A.reshape(10, 15)) @ places
