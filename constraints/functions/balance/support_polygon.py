"""The support polygon: how far the centre of mass is inside of the edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups import Rn
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...errors import SizeError, UndefinedError
from ...point import Point
from ...robot import Robot
from ...robot.model.pinocchio import pin
from ..frames.frame_function import kinematics_at
from .grasp import GraspFunction
from .support import Support


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
    _skews: tuple[Matrix, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, who = self.lean(self.joints, self.subtrees), type(self).__name__
        wrenches = tuple(np.asarray(support.points).T for support in self._standing)
        count = sum(each.shape[1] for each in wrenches)
        if count < 3:
            raise SizeError(f"points of the supports of {who}", "at least 3", count)
        skews = tuple(np.array([pin.skew(p) for p in each.T]) for each in wrenches)
        set_fields(self, wrenches=wrenches, _level=read_only(_level_axes(self.up)), _skews=skews)
        self.declare(robot.space, Rn(count), self.leaning_columns(), periodic=True, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self._last)
        Jc = None if jacobian is None else np.array(self.center_jacobian(k))
        c, points = np.array(self.center(k)), list[Matrix]()
        for support, local in zip(self._standing, self.wrenches, strict=True):
            oMf: Any = k.oMi[support.frame.joint] * support.frame.placement
            points.append((self._level @ (oMf.rotation @ local + (oMf.translation - c)[:, None])).T)
        at = np.concatenate(points)
        edges = self._edges(at)
        starts, ends = np.array(edges).T
        u = at[ends] - at[starts]
        sizes = np.sqrt((u * u).sum(axis=1))
        rows = (at[starts, 0] * u[:, 1] - at[starts, 1] * u[:, 0]) / sizes  # u x (c - p), c the origin
        worst = int(rows.argmin())
        value[:] = rows[worst]
        value[starts] = rows
        if jacobian is None or Jc is None:
            return
        J = self._point_jacobians(k, Jc)
        turned = np.stack([-u[:, 1], u[:, 0]], axis=1) / sizes[:, None]  # inwards
        along = u / sizes[:, None]
        across = np.stack([-at[starts, 1], at[starts, 0]], axis=1) - rows[:, None] * along  # by u, times sizes
        slopes = -np.einsum("ei,eij->ej", turned, J[starts])
        slopes += np.einsum("ei,eij->ej", across, J[ends] - J[starts]) / sizes[:, None]
        jacobian[...] = slopes[worst]
        jacobian[starts] = slopes

    def _edges(self, at: Matrix) -> list[tuple[int, int]]:
        """The edges of the hull of points (k, 2), counter-clockwise, each by its two points."""
        from scipy.spatial import ConvexHull, QhullError

        try:
            hull: Any = ConvexHull(at)
            corners: list[int] = hull.vertices.tolist()
        except QhullError as error:
            raise UndefinedError(
                f"{self.name}: seen along gravity, the points of the supports are on one line: there is no polygon; "
                "StaticStability takes such supports"
            ) from error
        return list(zip(corners, [*corners[1:], corners[0]], strict=True))

    def _point_jacobians(self, k: Any, Jc: Matrix) -> Any:
        """What the points, seen from the centre of mass along gravity, change by (k, 2, nv)."""
        found: list[Matrix] = []
        for support, skews in zip(self._standing, self._skews, strict=True):
            oMf: Any = k.oMi[support.frame.joint] * support.frame.placement
            J, seen = k.frame_jacobian(support.frame), self._level @ oMf.rotation
            found.append((seen @ J[:3] - self._level @ Jc) - seen @ skews @ J[3:])
        return np.concatenate(found)


def _level_axes(up: Vector) -> Matrix:
    """Two axes (2, 3) across a direction, x and y of the world where it is z; counter-clockwise seen from its tip."""
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), np.array(up)).matrix()
    return np.array(turn[:, :2].T)
