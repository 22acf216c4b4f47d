"""The support polygon: how far the centre of mass is inside of the edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups import Rn
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...errors import SizeError, UndefinedError
from ...point import Point
from ...robot import Robot
from ...robot.model.pinocchio import pin
from ..frames.frame_function import kinematics_at
from .grasp import GraspFunction
from .support import Support

LEAST_EDGE = 1e-9
"""Of the extent of the polygon: nearer points are one corner, and a thinner polygon is none."""

_TO_THE_LEFT = np.array([[0.0, -1.0], [1.0, 0.0]])
"""A quarter of a turn, seen from above."""


@dataclass(frozen=True, eq=False, repr=False)
class SupportPolygon(GraspFunction):
    r"""Distances of the centre of mass from the edges of the support polygon, seen along gravity: positive inside.

    The polygon is the convex hull of the points of all supports, projected along gravity; points move with their
    frames. With :math:`p_i` the corner that an edge starts from, counter-clockwise seen from above, u the edge and c
    the centre of mass, all projected,

    .. math:: f_i(q) = \frac{u \times (c - p_i)}{|u|}

    There is one row a point, whatever the hull: a corner has the row of the edge that starts at it, a point that is no
    corner the smallest of these rows, with its Jacobian. So the rows are at least m exactly where the centre of mass is
    at least m inside all edges, and a hull that changes changes no number of rows: where a point becomes a corner the
    edges on both sides of it are one line, and no smallest row jumps.

    It is right for a ground that is level, or that has enough friction at the points that carry: friction of supports
    is not looked at. On slopes `StaticStability` knows the region.

    Args:
        robot: the robot.
        supports: what it leans on, a Support or several: at least three points.
        joints: names of the joints whose bodies are carried; all by default. Bodies welded to the world are not.
        subtrees: names of joints whose whole sub-trees are carried, instead of `joints`.
        name: name in messages.

    Shapes:
        value (k,): [m], by support and point.
        jacobian (k, nv): exact where the smallest row of points that are no corner is one row.

    Raises:
        UnknownJointError: lists the names that come closest.
        ModelError: bodies without mass, a model without gravity, a frame of another robot.
        SizeError: fewer than three points.
        UndefinedError: when evaluated where all points are on one line, seen along gravity.

    Source: McGhee and Frank, On the stability properties of quadruped creeping gaits; hulls by Qhull
    (`scipy.spatial.ConvexHull`).

    Example:
        >>> from constraints import Implicit
        >>> from constraints.models import sample_humanoid
        >>> robot = sample_humanoid()
        >>> corners = [[x, y, 0.0] for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
        >>> feet = [Support(robot.frame(f"{side}leg_effector_body"), corners) for side in "lr"]
        >>> balance = Implicit.above(SupportPolygon(robot, feet), 0.02, name="balance")
    """

    robot: Robot
    supports: Support | Sequence[Support]
    joints: Sequence[str] | None = field(default=None, kw_only=True)
    subtrees: Sequence[str] | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    length = 1.0
    _level: Matrix = field(init=False)
    _turned: Matrix = field(init=False)

    def __post_init__(self) -> None:
        robot, who = self.lean(self.joints, self.subtrees), type(self).__name__
        points = tuple(np.asarray(support.points).T for support in self._standing)
        count = sum(each.shape[1] for each in points)
        if count < 3:
            raise SizeError(f"points of the supports of {who}", "at least 3", count)
        level = _level_axes(self.up)
        turned = np.array([-level.dot(pin.skew(e)) for e in np.eye(3)]).reshape(3, 6)
        set_fields(self, _level=read_only(level), _turned=read_only(turned))
        self.declare(robot.space, Rn(count), self.lean_on(points), periodic=True, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self._last)
        Jc = None if jacobian is None else np.array(self.center_jacobian(k))
        c, level = np.array(self.center(k)), self._level
        parts = [
            oMf.rotation.dot(local) + oMf.translation[:, None]
            for oMf, local in zip(self.frames(k), self.wrenches, strict=True)
        ]
        points: Matrix = np.concatenate(parts, axis=1)
        at = level.dot(points - c[:, None]).T
        starts = _corners(at)
        if not len(starts):
            raise UndefinedError(
                f"{self.name}: seen along gravity, the points of the supports are on one line: there is no polygon; "
                "StaticStability takes such supports"
            )
        ends = _next(starts)
        p = at[starts]
        u = at[ends] - p
        sizes = np.sqrt((u * u).sum(axis=1))
        rows = (p[:, 0] * u[:, 1] - p[:, 1] * u[:, 0]) / sizes  # u x (c - p), c the origin
        worst = int(rows.argmin())
        value[:] = rows[worst]
        value[starts] = rows
        if jacobian is None or Jc is None:
            return
        along = (u / sizes[:, None]).T
        inwards = _TO_THE_LEFT.dot(along)
        by_end = (_TO_THE_LEFT.dot(p.T) - rows * along) / sizes
        slopes = np.zeros((len(starts), len(at), 2))  # of rows by the points, seen from the centre of mass
        each = np.arange(len(starts))
        slopes[each, starts] = -(inwards + by_end).T
        slopes[each, ends] = by_end.T
        J = self._point_jacobians(points, k.world_jacobian)
        found = slopes.reshape(len(starts), -1).dot(J) + inwards.T.dot(level.dot(Jc))
        jacobian[...] = found[worst]
        jacobian[starts] = found

    def _point_jacobians(self, points: Matrix, J: Matrix) -> Matrix:
        """What the points (3, k) in the world, seen along gravity, change by (2 k, nv)."""
        by_twist = np.empty((points.shape[1], 2, 6))
        by_twist[:, :, :3] = self._level
        by_twist[:, :, 3:] = points.T.dot(self._turned).reshape(-1, 2, 3)
        found: Matrix = by_twist.reshape(-1, 6).dot(J)
        return (found.reshape(-1, 2, J.shape[1]) * self._moving[:, None]).reshape(found.shape)


def _corners(at: Matrix) -> Indices:
    """The corners of the convex hull of points (k, 2), counter-clockwise; none where they are on one line."""
    from scipy.spatial import ConvexHull, QhullError

    none = np.zeros(0, dtype=np.intp)
    try:
        hull: Any = ConvexHull(at)
    except QhullError:
        return none
    extent = float((hull.max_bound - hull.min_bound).max())
    if hull.volume <= LEAST_EDGE * extent**2:  # the area, in the plane
        return none
    corners: Indices = hull.vertices
    steps = at[corners] - at[_next(corners, -1)]
    return corners[np.abs(steps).max(axis=1) > LEAST_EDGE * extent]


def _next(corners: Indices, step: int = 1) -> Indices:
    """The corner after each, or before it (step -1)."""
    return np.concatenate([corners[step:], corners[:step]])


def _level_axes(up: Vector) -> Matrix:
    """Two axes (2, 3) across a direction, x and y of the world where it is z; counter-clockwise seen from its tip."""
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), np.array(up)).matrix()
    return np.array(turn[:, :2].T)
