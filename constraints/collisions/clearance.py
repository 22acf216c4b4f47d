"""Distances between solids as a function: signed, through contact, for constraints that keep clear of obstacles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from liegroups import Rn
from liegroups.arguments import as_flag, as_tuple, expect
from liegroups.arrays import BoolVector, Matrix, Vector
from liegroups.formulas.second_order import cross
from liegroups.frozen import set_fields

from ..errors import OptionError, UndefinedError
from ..functions.frames.frame_function import kinematics_at, supporting_columns
from ..functions.function import Function
from ..paths.relative_motion import two_names
from ..point import Point
from ..robot.model.pinocchio import pin
from .changes import pairs_called
from .model import CollisionModel
from .pairs import IndexPair, as_distance
from .solids import CollisionSolid, geometry_of_hulls

APART, DEEP = (1e-9, 1e-6), (1e-7, 1e-6)
"""Tolerances of coal's searches [m], for solids that are apart and that overlap: the first ones, then its own, where
the first find nothing. With finer ones the second search ends in depths that are wrong, of some cylinders."""
UNIT_OFF = 1e-6
"""So far a normal of coal may be from a unit vector, and the nearest points from the distance [m]; else it failed."""
SEARCH = 255
"""Steps that coal may take in a search."""


class _Nearest(NamedTuple):
    """The nearest points of two solids.

    Attributes:
        distance: signed [m]; minus the depth where they overlap.
        normal: from the first to the second, a unit vector in the world.
        point: on the first, in the world.
    """

    distance: float
    normal: Vector
    point: Vector


class _Asking:
    """What one thread asks coal with.

    Args:
        model: whose solids; of a mesh its convex hull.
    """

    def __init__(self, model: CollisionModel) -> None:
        self.geometry = geometry_of_hulls(model.checker.geometry, model.contents.solids)
        self.data = self.geometry.createData()

    def ask(self, pair: int) -> _Nearest | None:
        """The nearest points of a pair, where the solids are placed; None where coal finds none."""
        for apart, deep in zip(APART, DEEP, strict=True):
            request = import_module("coal").DistanceRequest()  # a used one begins where its last search ended
            request.gjk_tolerance, request.epa_tolerance = apart, deep
            request.gjk_max_iterations = request.epa_max_iterations = SEARCH
            self.data.distanceRequests[pair] = request
            pin.computeDistance(self.geometry, self.data, pair)
            found = self.data.distanceResults[pair]
            d, n, a = float(found.min_distance), np.array(found.normal), np.array(found.getNearestPoint1())
            way = found.getNearestPoint2() - a
            with np.errstate(all="ignore"):
                off = abs(n @ n - 1.0) + abs(n @ way - d)
            if off < UNIT_OFF:  # also false of nan
                return _Nearest(d, n, a)
            if d > UNIT_OFF and abs(float(np.sqrt(way @ way)) - d) < UNIT_OFF:  # of two surfaces coal gives no normal
                return _Nearest(d, way / d, a)
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Clearance(Function):
    r"""How far solids are apart beyond their margins: a row for each pair, or the smallest.

    .. math:: f_k(q) = \min(d_k(q) - m_k,\ \ell), \quad J_k = n_k^T (J_{b} - J_{a})

    with :math:`d_k` the distance of the solids of pair k, or minus the depth of their overlap, :math:`m_k` the margin
    of the pair in the collision model, :math:`\ell` the influence, :math:`n_k` the normal from the nearest point of
    solid a to that of solid b, and :math:`J_a, J_b` the Jacobians of these points, all in the world.
    A row is 0 or more where the collision model is free of its pair: `Implicit.above(Clearance(model), 0.05)` keeps
    5 cm more.

    The Jacobian is finite at and through contact: the normal is coal's own, never a difference of points over their
    distance. It is the derivative where the nearest points are unique. Where they are not (two parallel faces, a
    point on the axis of a cylinder, balls with one centre) the value has a kink and the Jacobian is that of one of
    the sides; also where two pairs are both the smallest, and at the influence. Of boxes, balls, capsules and meshes
    value and normal are exact to rounding (within 1e-8 m of contact to 1e-8 m and 1e-5); of cylinders, cones and
    ellipsoids the value is good to 1e-6 m and the normal to 1e-3.

    A mesh counts as its convex hull, which contains it: a row is never more than the distance of the mesh. A flat
    mesh, and a point cloud, is a surface: two of these have no value where they meet.

    Args:
        model: solids on a robot and around it, the pairs that must not collide, and their margins.
        pairs: pairs of names of shapes, of which rows are made; a `*` at the end as in `CollisionModel.without`. All
            pairs of the model by default.
        influence: rows farther than this stay there, with Jacobian 0, and coal is not asked [m]. None for no limit.
        smallest: one row, the smallest of all.
        name: name in messages.

    Attributes:
        rows: the pair of names of each row; of the smallest one all that it is taken of.

    Shapes:
        value (pairs,), or (1,): [m].
        jacobian (pairs, nv), or (1, nv): of a pair zero outside the joints on exactly one of the two chains.

    Raises:
        OptionError: no pair is left, an influence that is no number, or not above 0.
        UnknownNameError: a pair with a name that no shape has.
        UndefinedError: when evaluated where coal finds no nearest points.

    Example:
        >>> from constraints import Implicit
        >>> from constraints.collisions import Clearance, CollisionModel, Shape
        >>> from constraints.models import sample_arm
        >>> shapes = [Shape("post", "Capsule", (0.05, 1.0)), Shape("hand", "Sphere", 0.06, "tool")]
        >>> robot = sample_arm()
        >>> clear = Implicit.above(Clearance(CollisionModel(robot, shapes)), 0.05)

    Source: `DistanceBetweenBodies` of hpp-constraints, which divides by the distance; coal, J. Pan et al.
    """

    model: CollisionModel
    pairs: Iterable[tuple[str, str]] | None = None
    influence: float | None = None
    smallest: bool = False
    name: str = field(default="", kw_only=True)

    rows: tuple[tuple[str, str], ...] = field(init=False)
    _numbers: tuple[int, ...] = field(init=False)
    _offsets: Vector = field(init=False)
    _signs: Matrix = field(init=False)
    _ends: tuple[IndexPair, ...] = field(init=False)
    _balls: tuple[Any, ...] = field(init=False)
    _farthest: float = field(init=False)

    def __post_init__(self) -> None:
        """Choose the pairs."""
        model = expect(self.model, CollisionModel, "model of a clearance", "a CollisionModel")
        has, robot = model.contents, model.robot
        listed = tuple(has.margins)
        numbers = list(range(len(listed)))
        if self.pairs is not None:
            given = as_tuple(self.pairs, "pairs of a clearance", "pairs of names of shapes", ordered=False)
            asked = set[frozenset[int]]()
            for a, b in (two_names(pair, "pair of shapes of a clearance", "two names") for pair in given):
                called = pairs_called(has, a, b)
                if called.isdisjoint(map(frozenset, listed)):
                    raise OptionError(f"pair '{a}' and '{b}' of a clearance: no such pair is checked by the model")
                asked |= called
            numbers = [k for k in numbers if frozenset(listed[k]) in asked]
            set_fields(self, pairs=given)
        if not numbers:
            raise OptionError("pairs of a clearance: expected one at least, got a model that checks none of them")
        ends = tuple(listed[k] for k in numbers)
        bodies = [solid.body for solid in has.solids]
        signs = [_signs(robot, has.solids[i].joint, has.solids[j].joint) for i, j in ends]
        smallest = as_flag(self.smallest, "smallest of a clearance")
        is_bounded = smallest or self.influence is not None
        asked_of = {i for pair in ends for i in pair} if is_bounded else set[int]()  # a cover of a mesh takes time
        balls = [_ball(solid) if i in asked_of else None for i, solid in enumerate(has.solids)]
        set_fields(
            self,
            rows=tuple((model.names[i], model.names[j]) for i, j in ends),
            smallest=smallest,
            _numbers=tuple(numbers),
            _offsets=np.array([has.margins[i, j] + bodies[i].padding + bodies[j].padding for i, j in ends]),
            _signs=np.array(signs),
            _ends=ends,
            _balls=tuple(balls),
            _farthest=_influence(self.influence),
        )
        words = "smallest of " * self.smallest + (f"{len(ends)} pairs" if len(ends) > 1 else " - ".join(self.rows[0]))
        columns: BoolVector = (np.array(signs) != 0.0).any(axis=0)
        size = 1 if self.smallest else len(ends)
        self.declare(robot.space, Rn(size), columns, periodic=True, name=self.name or f"Clearance({words})")

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        """As of `Function`."""
        k = kinematics_at(point, jacobian)
        asking: _Asking = point.workspace.resource(self, "asking", _Asking, self.model)
        pin.updateGeometryPlacements(k.model, k.data, asking.geometry, asking.data)
        bounds = self._lower_bounds(k.oMi)
        value[:] = self._farthest
        if jacobian is not None:
            jacobian[:] = 0.0
        if self.smallest:
            order = np.argsort(bounds)
        else:
            order = range(len(bounds))
        for row in order:
            at = 0 if self.smallest else row
            if bounds[row] >= value[at]:
                continue
            near = asking.ask(self._numbers[row])
            if near is None:
                a, b = self.rows[row]
                raise UndefinedError(f"{self.name}: coal finds no nearest points of '{a}' and '{b}'")
            clear = near.distance - self._offsets[row]
            if clear < value[at]:
                value[at] = clear
                if jacobian is not None:
                    n, p = near.normal, near.point
                    wrench = np.array([*n, *cross(p, n)])  # of a unit force on b; that on a has the same line
                    np.multiply(wrench @ k.world_jacobian, self._signs[row], jacobian[at])

    def _lower_bounds(self, oMi: Any) -> Vector:
        """What the clearance of each pair is at least, by balls around its solids; -inf where that is not asked."""
        bounds = np.full(len(self._ends), -np.inf)
        if not self.smallest and self._farthest == np.inf:
            return bounds
        centers = [None if ball is None else oMi[ball[0]].act(ball[1]) for ball in self._balls]
        for row, (i, j) in enumerate(self._ends):
            a, b = centers[i], centers[j]
            if a is not None and b is not None:
                d = a - b
                bounds[row] = np.sqrt(d @ d) - self._balls[i][2] - self._balls[j][2]
        return bounds - self._offsets


def _ball(solid: CollisionSolid) -> tuple[int, Vector, float] | None:
    """The ball around a solid: its joint, centre and radius."""
    spheres = solid.spheres
    return None if spheres is None else (solid.joint, spheres[0, :3], spheres[0, 3])


def _influence(given: float | None) -> float:
    if given is None:
        return np.inf
    distance = as_distance(given, "influence of a clearance")
    if not distance > 0.0:
        raise OptionError(f"influence of a clearance: expected a distance above 0 [m], got {given!r}")
    return distance


def _signs(robot: Any, a: int, b: int) -> Vector:
    """1 for columns that move b alone, -1 for those that move a alone."""
    return supporting_columns(robot, b).astype(np.float64) - supporting_columns(robot, a)
