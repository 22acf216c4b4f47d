"""Where points may be: on segments, in polygons, in what a camera sees."""

from __future__ import annotations

from math import pi

import numpy as np

from liegroups.arguments import finite_number, finite_vector, real_numbers
from liegroups.arrays import ArrayLike, Matrix

from ...errors import OptionError, SizeError
from ...robot.placement import unit_axis
from ..affine import Affine
from ..expression import dot, maximum, minimum, norm, operand
from ..function import Function
from .directions import vector_of

LEAST_SIDE = 1e-9
"""Length of the shortest side of a polygon, and of the shortest segment with fixed ends [m]."""


def off_segment(p: Function, start: Function | ArrayLike, end: Function | ArrayLike) -> Function:
    r"""The way from the nearest point of a segment to a point.

    .. math:: f(q) = p - a - t\,(b - a), \quad
        t = \min\!\big(1, \max\!\big(0, \tfrac{(p - a)^T (b - a)}{\lVert b - a \rVert^2}\big)\big)

    The point is on the segment where f is 0: three rows, of rank 2 between the ends. `norm(f) - r` is the distance from
    a capsule, and has no value on the segment. The Jacobian has a kink on the two planes through the ends.

    Args:
        p: the point, a function into R^3.
        start, end: a and b, points (3,) or functions into R^3 in the same axes as p.

    Shapes:
        value (3,): [m]; jacobian (3, nv).

    Raises:
        SizeError: not of three rows.
        OptionError: fixed ends at one point.
        UndefinedError: when evaluated where ends that move are at one point.

    Source: the nearest point of a segment; Ericson, Real-Time Collision Detection, 2005, section 5.1.2.
    """
    point = vector_of(p, "point of a segment", 3)
    a, b = (
        vector_of(end_, f"{which} of a segment", 3) if isinstance(end_, Function) else finite_vector(end_, 3, which)
        for end_, which in ((start, "start of a segment"), (end, "end of a segment"))
    )
    along = b - a
    if isinstance(along, Function):
        t = dot(point - a, along) / dot(along, along)
    else:
        length = float(np.sqrt(along @ along))
        if length < LEAST_SIDE:
            raise OptionError(f"segment: expected two points apart, got ends {length:.3g} m from each other")
        t = dot(along / length**2, point - a)
    return point - a - minimum(maximum(t, 0.0), 1.0) * operand(along, point, "segment")


def in_polygon(p: Function, vertices: ArrayLike) -> Function:
    r"""How far a point is inside each side of a convex polygon in the plane of x and y.

    .. math:: f_i(q) = n_i^T (p_{xy} - c_i)

    with :math:`c_i` a vertex and :math:`n_i` the unit normal, into the polygon, of the side that begins there. The
    point is inside where all rows are above 0. Of a point seen from a frame, `Position(robot, b, reference=a)`, it is
    the prism along the z axis of that frame; bounds on `p[2]` close it. The function is affine in p. A box is
    `Implicit.between(p, lower, upper)`, a half-space `Implicit.above(dot(n, p), d)`.

    Args:
        p: the point, a function into R^2, or into R^3 of which the first two rows count.
        vertices: (n, 2), in order, either way round [m].

    Shapes:
        value (n,): [m]; jacobian (n, nv).

    Raises:
        SizeError: fewer than three vertices, or not two numbers each.
        OptionError: a polygon that is not convex, or with two vertices at one point.

    Source: `PolyhedronConstraint` of Drake.
    """
    point = vector_of(p, "point in a polygon", 2, 3)
    A, b = _inside(vertices)
    return Affine(np.pad(A, ((0, 0), (0, point.outputs.nv - 2))), b) @ point


def _inside(vertices: ArrayLike) -> tuple[Matrix, Matrix]:
    """Rows of A p + b, positive on the inner side of each side of a polygon."""
    what = "vertices of a polygon"
    corners = real_numbers(vertices, what, finite=True)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3:
        raise SizeError(what, "(n, 2), three at least", corners.shape)
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = np.sqrt((sides * sides).sum(axis=1))
    if lengths.min() < LEAST_SIDE:
        raise OptionError(f"{what}: expected a convex polygon, got two vertices at one point ({lengths.argmin()})")
    normals = np.stack((-sides[:, 1], sides[:, 0]), axis=1) / lengths[:, None]
    turns = (normals * np.roll(sides, -1, axis=0)).sum(axis=1)
    if turns.sum() < 0.0:
        normals, turns = -normals, -turns
    whole = abs(float(np.arctan2(turns, (sides * np.roll(sides, -1, axis=0)).sum(axis=1) / lengths).sum())) - 2.0 * pi
    if (turns < 0.0).any() or turns.max() < LEAST_SIDE or abs(whole) > 1.0:
        raise OptionError(f"{what}: expected a convex polygon, got one that is flat, turns inwards or goes round twice")
    return normals, -(normals * corners).sum(axis=1)


def gaze(target: Function, axis: ArrayLike, half_angle: float) -> Function:
    r"""How far a point is inside a cone in front of a camera: it is seen where the value is above 0.

    .. math:: f(q) = u^T p - \cos\alpha\,\lVert p \rVert

    with p the target seen from the camera, u the axis of the view, :math:`\alpha` the half angle of the cone. What is
    behind the camera is outside for :math:`\alpha \le \pi/2`. The value is the distance times the difference of the
    cosines. It has no value where the target is in the camera; the Jacobian does not vanish elsewhere, on the axis too,
    but gets small with :math:`\alpha`: to look exactly at a target take `across(target, u)` equal to 0, and
    `dot(u, target)` above 0.

    Args:
        target: p, a function into R^3: `Position(robot, frame, reference=camera)`.
        axis: u, a unit vector (3,) of the camera, or "x", "y", "z", "-x", "-y", "-z".
        half_angle: :math:`\alpha`, between 0 and pi [rad].

    Shapes:
        value (1,): [m]; jacobian (1, nv).

    Raises:
        SizeError: not a point of three rows.
        NotNormalizedError: the axis is no unit vector.
        OptionError: an angle out of its range.
        UndefinedError: when evaluated where the target is in the camera.

    Source: `GazeTargetConstraint` of Drake.
    """
    p, u = vector_of(target, "target of a gaze", 3), unit_axis(axis, "axis of a gaze")
    return dot(u, p) - float(np.cos(_angle(half_angle, "half angle of a gaze", pi))) * norm(p)


def in_view(target: Function, half_angles: ArrayLike, axis: ArrayLike = "z", right: ArrayLike = "x") -> Function:
    r"""How far a point is inside the four sides of what a camera sees: it is seen where all rows are above 0.

    .. math:: f(q) = (\sin\alpha\, p_z \mp \cos\alpha\, p_x,\ \sin\beta\, p_z \mp \cos\beta\, p_y)

    with p the target seen from the camera, z its axis, x to the right of the picture. The function is affine in p,
    and has a value everywhere; only what is in front of the camera can be inside.

    Args:
        target: p, a function into R^3: `Position(robot, frame, reference=camera)`.
        half_angles: :math:`\alpha, \beta`, half of the field of view along x and along y, between 0 and pi/2 [rad].
        axis: the axis of the view, a unit vector (3,) of the camera, or "x", "y", "z", "-x", "-y", "-z".
        right: the direction of x in the camera, at right angles to the axis.

    Shapes:
        value (4,): distances from the sides [m]; jacobian (4, nv).

    Raises:
        SizeError: not a point of three rows, or not two angles.
        NotNormalizedError: an axis is no unit vector.
        OptionError: an angle out of its range, or axes that are not at right angles.

    Source: the four sides of a view frustum.
    """
    p = vector_of(target, "target in a view", 3)
    z, x = unit_axis(axis, "axis of a view"), unit_axis(right, "right of a view")
    if abs(float(z @ x)) > 1e-6:
        raise OptionError(
            f"right of a view: expected a direction at right angles to the axis, got {z @ x:.3g} along it"
        )
    rows = list[Matrix]()
    for angle, side in zip(finite_vector(half_angles, 2, "half angles of a view"), (x, np.cross(z, x)), strict=True):
        alpha = _angle(float(angle), "half angle of a view", pi / 2.0)
        rows += [np.sin(alpha) * z - np.cos(alpha) * side, np.sin(alpha) * z + np.cos(alpha) * side]
    return np.array(rows) @ p


def _angle(given: object, what: str, most: float) -> float:
    angle = finite_number(given, what)
    if not 0.0 < angle < most:
        raise OptionError(f"{what}: expected an angle between 0 and {most:.4g} rad, got {angle:.6g}")
    return angle
