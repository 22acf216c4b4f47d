"""A floor: points of a robot that bounce, slip, stick and rest on a plane, as events of a motion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, final
from weakref import WeakKeyDictionary

from liegroups.arguments import as_tuple, finite_number
from liegroups.arrays import ArrayLike, TangentLike, Vector
from liegroups.frozen import set_fields

from ...errors import EmptyProblemError, OptionError, RobotMismatchError
from ...functions.frames.frame_function import as_frame
from ...loops import ConstraintSet, PointContact
from ...loops.hinges.rotation_rows import perpendicular_pair
from ...ranges import not_negative
from ...robot import Frame, Motion, Robot
from ...robot.arguments import as_robot
from ...robot.placement import unit_axis
from ...rows.row_owner import RowOwner
from ..impact import coefficient
from ..laws.external_force import Force
from ..laws.forces import Forces
from .events import Event
from .sides import Side, Sides
from .unilateral import Unilateral

_MADE: WeakKeyDictionary[RowOwner, tuple[Sides, tuple[Event, ...]]] = WeakKeyDictionary()
"""Rows of floors -> their sides and their events, by which a motion sees that one of these was left out."""

ContactState = Literal["away", "slips", "sticks"]
"""How a point is on a floor; one at rest sticks."""


@final
class Friction:
    """The friction of the points that slip on a floor, as a force: it depends on how hard they press.

    Args:
        floor: where they are.
        t: time [s].
        holds: the set that says which points slip; None where it is not known.
    """

    def __init__(self, floor: Sides, robot: Robot, t: float = 0.0, holds: ConstraintSet | None = None) -> None:
        self.floor, self.robot, self._t, self._holds = floor, robot, t, holds

    def at(self, t: float) -> Friction:
        """The same at a time."""
        return Friction(self.floor, self.robot, t, self._holds)

    def under(self, holds: ConstraintSet) -> Friction:
        """The same while a set holds."""
        return Friction(self.floor, self.robot, self._t, holds)

    def generalised(self, motion: Motion) -> Vector:
        """Generalised force (nv,) [N, N m]."""
        if self._holds is None:
            raise OptionError("friction of a floor: it is known in a motion only; give `floor.forces` to `simulate`")
        return self.floor.seen(motion, self._t, self._holds).friction()

    def energy(self, q: ArrayLike) -> float:
        """Zero: friction stores no energy."""
        return 0.0


@final
@dataclass(frozen=True, eq=False)
class Floor:
    r"""A plane on which points of a robot bounce, slip, stick and rest: rows, friction and events for `simulate`.

    A point that comes down is hit: it leaves with :math:`v_n^+ = -e\,v_n^-`, and below `rest_speed` it stays. What
    stays pushes, :math:`f_n \ge 0`, and sticks while :math:`|f_t| \le \mu f_n`; else it slips, with
    :math:`f_t = -\mu f_n\, v_t / |v_t|`, until it is slower than 1e-4 m/s and friction can hold it. A point that would
    pull leaves. During an impact friction obeys the same law, with impulses for forces.

    The events are "toe touches", "toe leaves", "toe slips" and "toe sticks", with the names of the points.

    For examples and tests, not for crowds of contacts: while points slip, one or many, accelerations cost twice as
    much, and steps are short before each sticks. Where more points touch than the motion needs, as with four feet,
    forces are those of least norm; where driven joints move two of them apart, one slips. With up to four points at
    once all that they can do is tried, if need be.

    Args:
        robot: the robot.
        points: frames, or their names, whose origins stay above the floor.
        friction: Coulomb's mu, of sticking and slipping; 0 for ice.
        restitution: e in [0, 1] of impacts.
        height: distance of the floor from the origin of the world, along the normal [m].
        normal: unit (3,), up out of the floor, in world axes; an inclined one makes a slope.
        constraints: closures and other constraints of the robot.
        laws: forces that act besides, `Forces` or laws; `floor.forces` has them and friction.
        rest_speed: impacts slower than this do not bounce [m/s].

    Attributes:
        events: for `simulate(events=)`.
        forces: for `simulate(forces=)`.

    Raises:
        OptionError: friction below zero, a restitution outside [0, 1].
        EmptyProblemError: no points.
        UnknownFrameError, NotNormalizedError, RobotMismatchError, WrongObjectError: an invalid argument.

    Example:
        >>> import pinocchio as pin
        >>> from constraints import Robot
        >>> from constraints.dynamics import Floor, simulate
        >>> model = pin.Model()
        >>> joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "ball")
        >>> model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
        >>> ball = Robot(model, name="ball")
        >>> floor = Floor(ball, ["ball"], friction=0.3, restitution=0.1)
        >>> q0, v0 = [0.0, 0.0, 0.05], [0.5, 0.0, 0.0]
        >>> record = simulate(floor.start(q0, v0), q0, v0, 0.5, forces=floor.forces, events=floor.events)
        >>> record.status.name, record.events[0].name, record.events[-1].name
        ('FINISHED', 'ball touches', 'ball sticks')

    Source: Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts, 1996, with Newton's law of impact.
    """

    robot: Robot
    points: Sequence[Frame | str]
    friction: float = field(default=0.0, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    height: float = field(default=0.0, kw_only=True)
    normal: ArrayLike = field(default=(0.0, 0.0, 1.0), kw_only=True)
    constraints: Sequence[RowOwner] = field(default=(), kw_only=True)
    laws: Forces | Iterable[Force] = field(default=(), kw_only=True)
    rest_speed: float = field(default=1e-2, kw_only=True)

    events: tuple[Event, ...] = field(init=False, repr=False)
    forces: Forces = field(init=False, repr=False)
    _sides: Sides = field(init=False, repr=False)
    _all: ConstraintSet = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check everything once, and make the rows."""
        robot = as_robot(self.robot, "robot of a floor")
        given = as_tuple((self.points,) if isinstance(self.points, str | Frame) else self.points, "points", "frames")
        if not given:
            raise EmptyProblemError("a floor without points: nothing can touch it; name frames of the robot")
        frames = [as_frame(robot, point, "a floor") for point in given]
        mu = not_negative(self.friction, "friction of a floor")
        n = unit_axis(self.normal, "normal of a floor")
        at = finite_number(self.height, "height of a floor") * n
        e = coefficient(self.restitution, "restitution of a floor")
        sides = [_side(robot, frame, n, at, mu, e) for frame in frames]
        laws = self.laws if isinstance(self.laws, Forces) else Forces(robot, self.laws)
        if not laws.robot.space.same_robot(robot.space):
            raise RobotMismatchError("laws beside a floor: they are on another robot than the points")
        own = Sides(sides, laws, not_negative(self.rest_speed, "rest_speed of a floor"))
        acting = [*laws, *([Friction(own, robot)] if mu > 0.0 else [])]
        rows = [row for side in sides for row in (side.normal, *side.tangents)]
        others = as_tuple(self.constraints, "constraints beside a floor", "constraints")
        set_fields(
            self, robot=robot, points=tuple(frames), forces=Forces(robot, acting), events=Unilateral(own).events()
        )
        set_fields(self, constraints=others, _sides=own, _all=ConstraintSet(robot, [*others, *rows]))
        _MADE.update(dict.fromkeys(rows, (own, self.events)))

    def start(self, q: ArrayLike, v: TangentLike, t: float = 0.0) -> ConstraintSet:
        """The constraint set of a motion that starts at (q, v): points on the floor, and at rest there, are on.

        Raises:
            OptionError: a point is below the floor by more than 1e-6 m; names all of them.
        """
        return Unilateral(self._sides).begin(self.robot.at(q, v), t, self._all, "the floor", "m")

    def states(self, constraint_set: ConstraintSet) -> dict[str, ContactState]:
        """How each point is on the floor while a set holds: "away", "slips" or "sticks".

        Args:
            constraint_set: `start(q, v)`, or one of `record.holding`.
        """
        found: dict[str, ContactState] = {}
        for side in self._sides.sides:
            on = [bool(constraint_set.active[constraint_set.stack.index(row)]) for row in (side.normal, *side.tangents)]
            found[side.name] = "away" if not on[0] else "sticks" if len(on) > 1 and on[1] else "slips"
        return found

    def __repr__(self) -> str:
        names = ", ".join(side.name for side in self._sides.sides)
        return f"Floor({names}; friction {self.friction:g}, restitution {self.restitution:g})"


def refuse_half_a_floor(constraint_set: ConstraintSet, events: Iterable[Event], forces: object) -> None:
    """Refuse the set of a floor without its events or its forces: points would fall through, or slide without friction.

    Raises:
        OptionError: says what to give.
    """
    given = set(map(id, events))
    for owner in constraint_set.stack:
        sides, own = _MADE.get(owner, (None, ()))
        if not all(id(event) in given for event in own):
            raise OptionError(f"motion on a floor: '{owner.name}' needs all its events; give events=floor.events")
        if sides is not None:
            laws = list(forces) if isinstance(forces, Forces) else []
            beside = list(sides.forces) if isinstance(sides.forces, Forces) else []
            acts = any(isinstance(law, Friction) and law.floor is sides for law in laws) or not sides.grips.any()
            if not acts or not all(law in laws for law in beside):
                words = "has friction or laws that are not among the forces"
                raise OptionError(f"motion on a floor: '{owner.name}' {words}; give forces=floor.forces")


def is_across_a_floor(owner: RowOwner) -> bool:
    """Whether it is a row of a floor across its normal: what holds a point there may have either sign."""
    sides, _ = _MADE.get(owner, (None, ()))
    return sides is not None and any(owner is row for side in sides.sides for row in side.tangents)


def _side(robot: Robot, frame: Frame, n: Vector, at: Vector, mu: float, e: float) -> Side:
    """The rows of a point: its distance, with friction two speeds across the normal, and its events' names."""
    name = frame.name
    normal = PointContact(robot, frame, n, at, name=f"{name} on the floor")
    across = perpendicular_pair(n) if mu > 0.0 else ()
    tangents = tuple(
        PointContact(robot, frame, axis, name=f"{name} held along {'first' if k == 0 else 'second'} tangent")
        for k, axis in enumerate(across)
    )
    return Side(name, normal, tangents, mu, e, f"{name} touches", f"{name} leaves")
