"""Contact of convex polygons: the contact itself, where on the floor it is, and both together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from liegroups import SO2, Rn, Space
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields

from ...errors import DuplicateNameError, SizeError, UndefinedError, UnknownNameError, WrongObjectError
from ...point import MovingPoint, Point
from ...ranges import not_negative
from ...robot import Frame, Robot
from ...robot.arguments import as_robot
from ...robot.posture import Kinematics
from ..differences import force_derivative_by_differences
from ..enclosures.box import Enclosure, TangentBox
from ..frames.frame_function import Framed, FrameFunction, kinematics_at, motion_of
from ..frames.slopes import TwistRowSlopes
from .contact_bounds import PairOnBox, RowsOnBox
from .contact_rows import Touch, contact_error, touch, write_contact, write_place
from .contact_sides import ask_of_sides
from .contact_slopes import contact_motion_rows, place_motion_rows, stacked_rows
from .contact_surface import Surface, as_surfaces


class SurfacePair(NamedTuple):
    """Names of the two surfaces in contact.

    Attributes:
        floor: name of the floor's surface.
        object: name of the object's surface.
    """

    floor: str
    object: str


@final
class _Pair(FrameFunction):
    """Poses of one surface seen from another; which rows are written is up to the function that holds the pair."""

    def __init__(self, robot: Robot, floor: Surface, surface: Surface) -> None:
        self.robot, self.floor, self.surface = robot, floor, surface
        names = SurfacePair(floor.name, surface.name)
        inward = Frame(floor.name, floor.joint, floor.inward, floor.frame.joint_name)
        outward = Frame(surface.name, surface.joint, surface.outward, surface.frame.joint_name)
        self.names = names
        self.resolve(robot, inward, outward, Rn(0), f"{names.object} on {names.floor}")

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        """No rows of its own."""


@dataclass(frozen=True, eq=False, repr=False)
class _PairFunction(Framed):
    """A function of the nearest pair of surfaces, of one set and of another; or of the pair that is named.

    Attributes:
        group: the output space, of the class.
    """

    robot: Robot
    floors: Surface | Sequence[Surface]
    objects: Surface | Sequence[Surface]
    margin: float = 0.0
    pair: tuple[str, str] | None = None
    name: str = field(default="", kw_only=True)

    pairs: tuple[SurfacePair, ...] = field(init=False)
    _pairs: tuple[_Pair, ...] = field(init=False)
    group: ClassVar[Space]

    def __post_init__(self) -> None:
        who = type(self).__name__
        robot = as_robot(self.robot, f"robot of {who}")
        floors, objects = (
            _surfaces(self.floors, robot, f"floors of {who}"),
            _surfaces(self.objects, robot, f"objects of {who}"),
        )
        margin = not_negative(self.margin, f"margin of {who}")
        if self.pair is not None:
            floor, surface = _named(self.pair, who)
            floors, objects = (_chosen(floor, floors, "floor"),), (_chosen(surface, objects, "object surface"),)
        ask_of_sides(robot, floors, objects)
        pairs = tuple(_Pair(robot, floor, surface) for floor in floors for surface in objects)
        set_fields(self, _pairs=pairs, pairs=tuple(pair.names for pair in pairs), margin=margin)
        name = self.name or f"{who}({', '.join(f.name for f in floors)}; {', '.join(s.name for s in objects)})"
        columns = np.logical_or.reduce([pair.columns for pair in self._pairs])
        self.declare(self.robot.space, self.group, columns, periodic=True, name=name)

    @property
    def parts(self) -> tuple[FrameFunction, ...]:
        return self._pairs

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian)
        pair, at = self._nearest_at(k)
        if jacobian is None:
            self.write(at, value, None)
            return
        rows = point.scratch(self, "rows", (self.outputs.nv, 6))  # zeros are never written: they stay
        self.write(at, value, rows)
        pair.write_jacobian(k, rows, jacobian)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        pair, at = self._nearest_at(motion_of(motion).with_drift())
        out[:] = self.motion_rows(at, *pair.relative_motion(motion), np.zeros(self.outputs.nv))[1]

    def enclosure(self, box: TangentBox) -> Enclosure:
        """As `Function.enclosure`, of the pair that counts on all of the box.

        Raises:
            UndefinedError: an object may stand on its head, or more than one pair of surfaces may count.
        """
        on_box = [PairOnBox.of(pair, pair.floor, box.on(self.inputs, self.name)) for pair in self._pairs]
        return self.parts_on(self._sure(on_box, box)).on(self.outputs, box)

    def _sure(self, pairs: list[PairOnBox], box: TangentBox) -> PairOnBox:
        if len(pairs) == 1:
            return pairs[0]
        errors = [pair.error(self.margin, box) for pair in pairs]
        best = min(range(len(pairs)), key=lambda i: errors[i][1])
        if any(not least > errors[best][1] for i, (least, _) in enumerate(errors) if i != best):
            raise UndefinedError(f"{self.name}: which of its pairs of surfaces is nearest")
        return pairs[best]

    @abstractmethod
    def parts_on(self, pair: PairOnBox) -> RowsOnBox:
        """The rows of one pair on a box."""

    @property
    def has_exact_drift(self) -> bool:
        return True

    @property
    def has_exact_derivatives(self) -> bool:
        """As of `FrameFunction`: not on robots with ellipsoid joints."""
        return self.robot.space.elementary.is_exact

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        """As `Function.drift_derivatives`, of the pair that counts here."""
        if not self.has_exact_derivatives:
            super().drift_derivatives(motion, a, dq, dv)
            return
        pair, at = self._nearest_at(kinematics_at(motion_of(motion).point, None))
        pair.write_slopes(motion, a, partial(self._rows, at), dq, dv)

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        """As `Function.force_derivative`, of the pair that counts here."""
        if not self.has_exact_derivatives:
            force_derivative_by_differences(self, point, y, out)
            return
        pair, at = self._nearest_at(kinematics_at(point, None))
        pair.write_force_slope(point, y, partial(self._rows, at), out)

    def _rows(self, at: Touch, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> TwistRowSlopes:
        return self.motion_rows(at, pose, twist, acceleration, multipliers)[0]

    @abstractmethod
    def motion_rows(
        self, at: Touch, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector
    ) -> tuple[TwistRowSlopes, Vector]:
        """The rows of one pair with their slopes, and their second time derivatives: see `contact_slopes`."""

    @abstractmethod
    def write(self, at: Touch, value: Vector, rows: Matrix | None) -> None:
        """Write the rows of one pair, and their derivatives (k, 6) by the body twist of the object's surface."""

    @property
    def only_pair(self) -> SurfacePair | None:
        """The pair of surfaces, where there is no choice."""
        return self.pairs[0] if len(self.pairs) == 1 else None

    @property
    def object_joints(self) -> frozenset[int]:
        """Indices of the joints that carry the objects' surfaces."""
        return frozenset(pair.surface.joint for pair in self._pairs)

    @final
    def pair_at(self, q: ArrayLike) -> SurfacePair:
        """The pair that counts at a configuration: the one whose contact has the smallest error norm.

        Args:
            q: configuration (nq,).
        """
        return self.pair_at_point(self.robot.at(q))

    @final
    def pair_at_point(self, point: Point) -> SurfacePair:
        """The same, at a point of the robot."""
        return self._nearest_at(kinematics_at(point, None))[0].names

    @final
    def _nearest_at(self, k: Kinematics) -> tuple[_Pair, Touch]:
        found = [(pair, touch(pair.relative_placement(k), pair.floor)) for pair in self._pairs]
        return found[0] if len(found) == 1 else min(found, key=lambda entry: contact_error(entry[1], self.margin))

    @final
    def surfaces_of(self, pair: tuple[str, str]) -> tuple[Surface, Surface]:
        """The surfaces of a pair, floor first.

        Raises:
            UnknownNameError: lists the pairs there are.
        """
        for known in self._pairs:
            if known.names == tuple(pair):
                return known.floor, known.surface
        raise UnknownNameError("pair of surfaces", str(tuple(pair)), tuple(map(str, map(tuple, self.pairs))))


@final
class ConvexShapeContact(_PairFunction):
    r"""Contact of an object's surface with a floor: on the plane, inside the polygon, parallel to it.

    .. math:: f(q) = \left(p_x + m,\; (p_y, p_z) - \Pi(p_y, p_z),\; \theta\,\frac{(-n_z, n_y)}{\sin\theta}\right)

    with :math:`p` the centre of the object's surface seen from the floor's (x axes into the floor), :math:`\Pi` the
    nearest point of the floor's polygon, :math:`n` the object's normal and :math:`\cos\theta = n_x`. The value is
    continuous when the point crosses an edge, and does not depend on the rotation about the normal. If there are
    several pairs of surfaces, the pair with the smallest error norm counts (metres and radians alike). This norm is
    continuous when another pair takes over.

    Args:
        robot: robot that owns all surfaces.
        floors: surfaces on which the object may stand.
        objects: surfaces of the object that may touch a floor.
        margin: m, height above the floor [m].
        pair: (floor, object), two names: use only this pair.
        name: name in messages.

    Attributes:
        pairs: the pairs among which the nearest is chosen.

    Shapes:
        value (5,): [m], [m], [m], [rad], [rad].
        jacobian (5, nv): inside the polygon rows 1 and 2 are zero.

    Raises:
        UnknownNameError: a name in `pair` that no surface has.
        DuplicateNameError: two floors or two objects have the same name.
        OptionError, SizeError, WrongObjectError: another argument is wrong.

    Source: `ConvexShapeContact` of hpp-constraints, whose value jumps at the edges.
    """

    group = Rn(5)

    def write(self, at: Touch, value: Vector, rows: Matrix | None) -> None:
        write_contact(at, self.margin, value, rows)

    def parts_on(self, pair: PairOnBox) -> RowsOnBox:
        return pair.contact(self.margin)

    def motion_rows(
        self, at: Touch, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector
    ) -> tuple[TwistRowSlopes, Vector]:
        return contact_motion_rows(at, pose, twist, acceleration, multipliers)


@final
class ConvexShapeContactComplement(_PairFunction):
    r"""Place of an object's surface on the floor: the complement of `ConvexShapeContact`.

    .. math:: f(q) = \left(\Pi(p_y, p_z),\; (\cos\varphi, \sin\varphi)\right) \in \mathbb{R}^2 \times SO(2)

    with :math:`\varphi = \mathrm{atan2}(R_{zy} - R_{yz}, R_{yy} + R_{zz})` the rotation about the normal. The value
    does not say which pair of surfaces it belongs to: give `pair`, or call `pair_at`.

    Args:
        robot, floors, objects, margin, pair, name: as in `ConvexShapeContact`.

    Shapes:
        value (4,): [m], [m], cos, sin.
        jacobian (3, nv).

    Raises:
        As `ConvexShapeContact`.

    Source: `ConvexShapeContactComplement` of hpp-constraints, which has the pair in its value.
    """

    group = Rn(2) * SO2

    def write(self, at: Touch, value: Vector, rows: Matrix | None) -> None:
        write_place(at, value, rows)

    def parts_on(self, pair: PairOnBox) -> RowsOnBox:
        return pair.place()

    def motion_rows(
        self, at: Touch, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector
    ) -> tuple[TwistRowSlopes, Vector]:
        return place_motion_rows(at, pose, twist, acceleration, multipliers)


@final
class ConvexShapeContactHold(_PairFunction):
    r"""The contact and its complement together: a pose of the object, in coordinates of the surfaces.

    .. math:: f(q) = (f_{contact}, f_{complement}) \in \mathbb{R}^7 \times SO(2)

    `explicit_contact` is its explicit form.

    Args:
        robot, floors, objects, margin, pair, name: as in `ConvexShapeContact`.

    Shapes:
        value (9,): the five rows of the contact, the four numbers of the complement.
        jacobian (8, nv).

    Raises:
        As `ConvexShapeContact`.

    Source: `ConvexShapeContactHold` of hpp-constraints.
    """

    group = Rn(7) * SO2

    def write(self, at: Touch, value: Vector, rows: Matrix | None) -> None:
        write_contact(at, self.margin, value[:5], None if rows is None else rows[:5])
        write_place(at, value[5:], None if rows is None else rows[5:])

    def parts_on(self, pair: PairOnBox) -> RowsOnBox:
        return pair.contact(self.margin).then(pair.place())

    def motion_rows(
        self, at: Touch, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector
    ) -> tuple[TwistRowSlopes, Vector]:
        contact = contact_motion_rows(at, pose, twist, acceleration, multipliers[:5])
        return stacked_rows([contact, place_motion_rows(at, pose, twist, acceleration, multipliers[5:])])


def _surfaces(surfaces: Any, robot: Robot, what: str) -> tuple[Surface, ...]:
    """Surfaces of the robot, of different names."""
    entries = as_surfaces(surfaces, what)
    for i, surface in enumerate(entries):
        if surface.name in [other.name for other in entries[:i]]:
            raise DuplicateNameError(f"surface among the {what}", surface.name)
        robot.frame(surface.frame)
    if not entries:
        raise SizeError(what, "at least one", 0)
    return entries


def _named(pair: Any, who: str) -> tuple[str, str]:
    """Two names."""
    if isinstance(pair, Sequence) and not isinstance(pair, str):
        names: list[Any] = [*pair]
        if len(names) == 2 and all(isinstance(name, str) for name in names):
            return names[0], names[1]
    raise WrongObjectError(f"pair of {who}", "two names, (floor, object)", pair)


def _chosen(name: str, among: tuple[Surface, ...], what: str) -> Surface:
    for surface in among:
        if surface.name == name:
            return surface
    raise UnknownNameError(what, name, tuple(surface.name for surface in among))
