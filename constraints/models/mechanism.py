"""A mechanism: what a model file gives. A tree, the closures and couplers that it lacks, motors, postures."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, final

from liegroups import Segments
from liegroups.doors import as_mapping, as_tuple
from liegroups.frozen import read_only_copy, set_fields

from ..arrays import ArrayLike, Vector
from ..dynamics import ConstraintSet
from ..errors import ConstraintError, WrongObjectError
from ..explicit import Explicit
from ..implicit import Implicit
from ..problem import Problem
from ..ranks import RANK_TOLERANCE
from ..robot import Robot
from ..robot.doors import as_robot
from ..stack import RowOwner, Stack
from .mobility import Mobility, mobility_at

__all__ = ["Mechanism", "Unread", "couplers_of_mimics"]

_log = logging.getLogger(__package__)


@dataclass(frozen=True)
class Unread:
    """Something in a model file that was not built.

    Args:
        what: which element, with its name.
        reason: why not.
    """

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Mechanism:
    """A robot whose tree is closed to loops: what a model file, or a maker of `models.mechanisms`, gives. Immutable.

    Args:
        robot: the tree, with all loops cut.
        closures: constraints between frames that close the loops.
        couplers: constraints between joint coordinates: Explicit where one joint is a function of others, Implicit
            otherwise.
        motors: names of the joints that are driven.
        postures: name -> configuration (nq,). Not every posture of a file is closed.
        unread: what the file has and the mechanism has not, each with the reason.

    Raises:
        WrongObjectError, UnknownJointError, SizeError, NotFiniteError, NotNormalizedError: what is wrong.

    Example:
        >>> from constraints.models import mechanisms
        >>> linkage = mechanisms.four_bar()
        >>> linkage.mobility(linkage.postures["closed"])
        1
    """

    robot: Robot
    closures: tuple[RowOwner, ...] = ()
    couplers: tuple[Explicit | Implicit, ...] = ()
    motors: tuple[str, ...] = ()
    postures: Mapping[str, Vector] = field(default_factory=dict[str, Vector])
    unread: tuple[Unread, ...] = ()

    stack: Stack = field(init=False)

    def __post_init__(self) -> None:
        """Check everything once."""
        robot = as_robot(self.robot, "robot of a mechanism")
        closures = as_tuple(self.closures, "closures of a mechanism", "closures")
        couplers = as_tuple(self.couplers, "couplers of a mechanism", "couplers")
        for i, coupler in enumerate(couplers):
            if not isinstance(coupler, Explicit | Implicit):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise WrongObjectError(f"coupler {i} of a mechanism", "an Explicit or an Implicit", coupler)
        motors = as_tuple(self.motors, "motors of a mechanism", "joint names")
        for motor in motors:
            robot.joint_index(motor)
        unread = as_tuple(self.unread, "unread of a mechanism", "Unread")
        for i, entry in enumerate(unread):
            if not isinstance(entry, Unread):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise WrongObjectError(f"unread {i} of a mechanism", "an Unread", entry)
        postures = _postures(robot, self.postures)
        stack = Stack(
            [owner.on(robot.space) if isinstance(owner, Explicit) else owner for owner in (*closures, *couplers)]
        )
        set_fields(
            self, closures=closures, couplers=couplers, motors=motors, postures=postures, unread=unread, stack=stack
        )

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.robot.name

    def posture(self, name: str) -> Vector:
        """Copy (nq,) of a posture. Raises UnknownNameError, which lists those that come closest."""
        return self.robot.with_references(self.postures).reference(name)

    # As constraints.

    def problem(self, constraints: Iterable[RowOwner] = (), **options: Any) -> Problem:
        """The closures and couplers as a problem, with further constraints beside them.

        Args:
            constraints: more, at the same level.
            **options: those of `Problem`: bounds, weights, frozen.

        Raises:
            EmptyProblemError: nothing is closed or coupled, and no constraint is given.
        """
        more = as_tuple(constraints, "constraints beside a mechanism", "constraints")
        return Problem(self.robot, [*self.closures, *self.couplers, *more], **options)

    def constraint_set(self, constraints: Iterable[RowOwner] = ()) -> ConstraintSet:
        """The closures and couplers as a constraint set, with further owners of rows (contacts) behind them."""
        more = as_tuple(constraints, "constraints beside a mechanism", "constraints")
        return ConstraintSet(self.robot, [*self.closures, *self.couplers, *more])

    # What it is.

    def judge(
        self, q: ArrayLike, tolerance: float = RANK_TOLERANCE, *, driven: Sequence[str | Segments] | Segments = ()
    ) -> Mobility:
        """What the rows leave free at q: rank, mobility, redundant and inconsistent rows, independent coordinates.

        Args:
            q: configuration (nq,). Meant to be closed; the answer at an open one is flagged (`is_closed`).
            tolerance: singular values below this part of the largest one count as zero.
            driven: joints (by name) or Segments that would be held, as in `assemble_position`: the answer then says
                what they leave free, as at a dead centre (`is_determined`, `undetermined`, `blocked`).
        """
        return mobility_at(self.robot, self.stack, q, self.motors, tolerance, driven)

    def mobility(self, q: ArrayLike, tolerance: float = RANK_TOLERANCE) -> int:
        """Number of degrees of freedom left at a closed configuration: nv less the rank.

        Args:
            q: configuration (nq,), closed (see `judge`).
            tolerance: singular values below this part of the largest one count as zero.
        """
        return self.judge(q, tolerance).mobility

    def rank(self, q: ArrayLike, tolerance: float = RANK_TOLERANCE) -> int:
        """Rank of the Jacobian of all rows at a closed configuration.

        Args:
            q: configuration (nq,), closed (see `judge`).
            tolerance: singular values below this part of the largest one count as zero.
        """
        return self.judge(q, tolerance).rank

    @property
    def rows(self) -> int:
        """Number of rows of closures and couplers; a coupler counts by its implicit twin."""
        return self.stack.size

    def describe(self) -> str:
        """The mechanism in words: sizes, closures, couplers, motors, postures, what was not read."""
        lines = [f"Mechanism {self.name}: nq {self.robot.nq}, nv {self.robot.nv}, {self.rows} rows"]
        rows = [int(owner.rows.mask.sum()) for owner in self.stack]
        for owner, count in zip(self.stack, rows, strict=True):
            kind = "coupler" if isinstance(owner, Explicit | Implicit) else "closure"
            lines.append(f"  {kind} '{owner.name}': {count} rows")
        for word, names in (("motors", self.motors), ("postures", tuple(self.postures))):
            lines += [f"  {word}: {', '.join(names)}"] if names else []
        lines += [f"  not read: {entry}" for entry in self.unread]
        return "\n".join(lines)

    def __repr__(self) -> str:
        parts = f"{len(self.closures)} closures, {len(self.couplers)} couplers"
        return f"Mechanism({self.name!r}, nv {self.robot.nv}, {parts}, {self.rows} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.robot, self.closures, self.couplers, self.motors, dict(self.postures), self.unread)
        return Mechanism, given


def _postures(robot: Robot, given: Mapping[str, Vector]) -> Mapping[str, Vector]:
    checked: dict[str, Vector] = {}
    for name, q in as_mapping(given, "postures of a mechanism", "from name to configuration").items():
        checked[name] = read_only_copy(robot.check(q, f"posture '{name}'"))
    return MappingProxyType(checked)


def couplers_of_mimics(robot: Robot, unread: list[Unread]) -> tuple[Explicit, ...]:
    """The robot's mimic tags as explicit couplers; those that cannot be go to `unread`."""
    couplers: list[Explicit] = []
    for m in robot.mimics:
        name = f"{m.joint} mimics {m.source}"
        try:
            couplers.append(Explicit.linear(robot, m.joint, {m.source: m.multiplier}, m.offset, name=name))
        except ConstraintError as error:
            unread.append(Unread(f"mimic tag of joint '{m.joint}'", str(error)))
    return tuple(couplers)
