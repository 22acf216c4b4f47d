"""A mechanism: what a model file gives. A tree, the closures and couplers that it lacks, motors, postures."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, final

from liegroups import Segments
from liegroups.arguments import as_tuple, expect
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import set_fields

from ...dynamics import Forces
from ...dynamics.laws.external_force import Force
from ...errors import ConstraintError, EmptyProblemError, UnknownNameError, WrongObjectError
from ...keywords import FieldOf
from ...linear_algebra import RANK_TOLERANCE
from ...loops import ConstraintSet
from ...loops.mobility import Mobility, mobility_at
from ...problem.arguments import on_space
from ...problem.problem import Problem
from ...questions import ask_once
from ...reduced import (
    Branches,
    ElbowSide,
    ExplicitLoops,
    MinimalCoordinates,
    Sweep,
    branches,
    explicit_loops,
    minimal_coordinates,
    sweep,
)
from ...reduced.sweeps.driver import coordinates_with
from ...reduced.wishes import Driven, Wished, columns_of
from ...robot import Robot
from ...robot.arguments import as_robot
from ...robot.configuration import checked_postures
from ...robot.description import Drawn
from ...robot.files.urdf_graph import Fault
from ...rows.explicit import Explicit
from ...rows.explicit_forms import mimic_constraint
from ...rows.implicit import Implicit
from ...rows.row_owner import RowOwner
from ...rows.stack import Stack
from ...words import counted

_log = logging.getLogger(__package__)
_NAMES_AND_NUMBERS = re.compile(r"'[^']*'|[-+.\w]*\d[-+.\w]*")

LOOSE = "cut as requested, but closes no loop: what hung on it is now a free body, which only the closure holds"
"""What is said of a joint that was cut for nothing."""
ONLY_JOINTS = "only joints can have bounds"


@dataclass(frozen=True)
class Unread(Fault):
    """Something in a model file that was not built.

    Args:
        what: which element, with its name.
        reason: why not.
        is_mistake: whether it is a mistake in the file, for example an unknown name; otherwise it is valid, but a
            mechanism cannot represent it, for example a sensor.
    """

    is_mistake: bool = False

    @property
    def kind(self) -> str:
        """Its kind: the text without names and numbers."""
        return _NAMES_AND_NUMBERS.sub("", str(self))


@contextmanager
def or_unread(unread: list[Unread], what: str, *, is_mistake: bool = False) -> Generator[None]:
    """Where something cannot be built, it goes to what was not read, with the reason."""
    try:
        yield
    except ConstraintError as error:
        unread.append(Unread(what, str(error), is_mistake))


def grouped(unread: Iterable[Unread], details: bool = False) -> list[str]:
    """What was not read, a line a kind: the first of it, and how many are like it.

    Args:
        unread: of a mechanism.
        details: a line for each instead.
    """
    kinds: dict[str, list[str]] = {}
    for entry in unread:
        kinds.setdefault(str(entry) if details else entry.kind, []).append(str(entry))
    more = {kind: len(lines) - 1 for kind, lines in kinds.items()}
    return [
        lines[0] + (f" (and {more[kind]} more of this kind)" if more[kind] else "") for kind, lines in kinds.items()
    ]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(Drawn):
    """A robot whose tree is closed to loops, from a model file or a function of `models.mechanisms`. Immutable.

    Args:
        robot: the tree, with all loops cut.
        closures: constraints between frames that close the loops.
        couplers: constraints between joint coordinates: Explicit if one joint is a function of others, else Implicit.
        motors: names of the joints that are driven.
        postures: name -> configuration (nq,). Not every posture of a file is closed.
        unread: elements of the file that the mechanism does not have, each with the reason.
        cut: names of the joints of the file that closed loops: each was cut and became a closure.
        laws: springs and dampers of the file; they act where `forces()` is given to dynamics.
        loose: names among `cut` of joints that were cut as requested, and close no loop: what hung on them is free.

    Raises:
        WrongObjectError, UnknownJointError, SizeError, NotFiniteError, NotNormalizedError: a wrong argument.
        RobotMismatchError, SpaceMismatchError: a closure or a coupler of another robot.

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
    cut: tuple[str, ...] = ()
    laws: tuple[Force, ...] = ()
    loose: tuple[str, ...] = ()

    stack: Stack = field(init=False)

    def __post_init__(self) -> None:
        """Check everything once."""
        robot = as_robot(self.robot, "robot of a mechanism")
        closures = as_tuple(self.closures, "closures of a mechanism", "closures, as [closure]")
        couplers = as_tuple(self.couplers, "couplers of a mechanism", "couplers")
        for i, coupler in enumerate(couplers):
            expected = "an Explicit or an Implicit (constraints between frames belong to closures)"
            expect(coupler, (Explicit, Implicit), f"coupler {i} of a mechanism", expected)
        motors = as_tuple(self.motors, "motors of a mechanism", "joint names")
        for motor in motors:
            robot.joint_index(motor)
        unread = as_tuple(self.unread, "unread of a mechanism", "Unread")
        for i, entry in enumerate(unread):
            expect(entry, Unread, f"unread {i} of a mechanism")
        cut = as_tuple(self.cut, "cut of a mechanism", "joint names")
        for name in cut:
            expect(name, str, "cut of a mechanism", "joint names")
        loose = as_tuple(self.loose, "loose cuts of a mechanism", "joint names")
        for name in loose:
            if name not in cut:
                raise UnknownNameError("joint among those that were cut", str(name), cut)
        owners: tuple[Any, ...] = (*closures, *couplers)
        stack = Stack([on_space(each, robot.space) if isinstance(each, RowOwner) else each for each in owners])
        set_fields(self, closures=closures, couplers=couplers, motors=motors, stack=stack)
        laws = tuple(Forces(robot, self.laws))
        postures = MappingProxyType(checked_postures(robot.space, self.postures, what="posture"))
        set_fields(self, postures=postures, unread=unread, cut=cut, laws=laws, loose=loose)

    name = FieldOf[str]("robot.name", "Name of the robot.")

    def posture(self, name: str) -> Vector:
        """Copy (nq,) of a posture. Raises UnknownNameError, which lists the closest names."""
        return self.robot.with_references(self.postures).reference(name)

    def forces(self, more: Iterable[Force] = ()) -> Forces:
        """Springs and dampers of the file as one argument: `simulate(..., forces=)`, `external=` elsewhere.

        Nothing acts unless this is given. Dry friction and drives are no laws: `unread` lists them.

        Args:
            more: your own laws, which act beside them.

        Raises:
            WrongObjectError, RobotMismatchError: as in `Forces`.

        Example:
            >>> from constraints.models import load
            >>> text = '''<robot name="door"><link name="wall"/><link name="leaf"/><joint name="pin" type="revolute">
            ...   <parent link="wall"/><child link="leaf"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
            ...   <dynamics damping="0.5"/></joint></robot>'''
            >>> load(text).forces()([0.0], [2.0])
            array([-1.])
        """
        return Forces(self.robot, (*self.laws, *as_tuple(more, "laws beside those of a mechanism", "laws of forces")))

    # As constraints.

    def problem(self, constraints: Iterable[RowOwner] = (), **options: Any) -> Problem:
        """The closures and couplers as a problem, with further constraints.

        Args:
            constraints: more, at the same level.
            **options: those of `Problem`: bounds, weights, frozen.

        Raises:
            EmptyProblemError: there is no closure, coupler or constraint; the message says what was not read.
        """
        more = as_tuple(constraints, "constraints beside a mechanism", "constraints")
        try:
            return Problem(self.robot, [*self.closures, *self.couplers, *more], **options)
        except EmptyProblemError as error:
            raise EmptyProblemError(f"{error}{self._why_empty()}") from None

    def _why_empty(self) -> str:
        if self.closures or self.couplers:
            return ""
        nothing = f"; the mechanism '{self.name}' has no closure and no coupler"
        if not self.unread:
            return f"{nothing}: the loops of a URDF come from a sidecar, load(path, loops)"
        return f"{nothing}; these parts of its file were not read: {'; '.join(map(str, self.unread))}"

    def constraint_set(self, constraints: Iterable[RowOwner] = ()) -> ConstraintSet:
        """The closures and couplers as a constraint set, followed by further owners of rows (contacts)."""
        more = as_tuple(constraints, "constraints beside a mechanism", "constraints")
        return ConstraintSet(self.robot, [*self.closures, *self.couplers, *more])

    def explicit_loops(self, q: ArrayLike, elbows: Mapping[str, ElbowSide | str] | None = None) -> ExplicitLoops:
        """The local loops as explicit constraints, motors are independent if possible (`reduced.explicit_loops`).

        Args:
            q: closed configuration (nq,).
            elbows: name of a planar loop -> the side on which it closes, if it differs from that of q.
        """
        return explicit_loops(self.constraint_set(), q, preferred=self.motors, elbows=elbows)

    # What it is.

    def judge(
        self, q: ArrayLike, tolerance: float = RANK_TOLERANCE, *, driven: Sequence[str | Segments] | Segments = ()
    ) -> Mobility:
        """Analyse the rows at q: rank, mobility, redundant and inconsistent rows, independent coordinates.

        Args:
            q: configuration (nq,). It should be closed; otherwise `is_closed` of the result is False.
            tolerance: singular values below this part of the largest one count as zero.
            driven: names of joints or Segments that would be held, as in `assemble_position`: the result then says
                what remains free, for example at a dead centre (`is_determined`, `undetermined`, `blocked`).
        """
        return mobility_at(self.robot, self.stack, _configuration(q), self.motors, tolerance, driven)

    def minimal_coordinates(
        self,
        q: ArrayLike,
        *,
        independent: Wished = (),
        driven: Driven = (),
        tolerance: float | None = None,
        t: float = 0.0,
        close: bool = False,
    ) -> MinimalCoordinates:
        """Split the coordinates into independent, driven and dependent ones, as `reduced.minimal_coordinates`.

        Args:
            q: closed configuration (nq,) at which the split is computed.
            independent: coordinates that shall be independent: all, some or none; then motors, if the rank allows.
            driven, tolerance, t, close: as in `reduced.minimal_coordinates`.
        """
        return minimal_coordinates(
            self.constraint_set(),
            _configuration(q),
            independent=independent,
            preferred=self.motors,
            driven=driven,
            tolerance=tolerance,
            t=t,
            close=close,
        )

    def mobility(self, q: ArrayLike, tolerance: float = RANK_TOLERANCE) -> int:
        """Number of degrees of freedom left at a closed configuration: nv minus the rank.

        Args:
            q: configuration (nq,), closed (see `judge`).
            tolerance: singular values below this part of the largest one count as zero.
        """
        return _closed(self.judge(q, tolerance)).mobility

    def rank(self, q: ArrayLike, tolerance: float = RANK_TOLERANCE) -> int:
        """Rank of the Jacobian of all rows at a closed configuration.

        Args:
            q: configuration (nq,), closed (see `judge`).
            tolerance: singular values below this part of the largest one count as zero.
        """
        return _closed(self.judge(q, tolerance)).rank

    # Driven through values, and closed in other ways.

    def sweep(self, q: ArrayLike, driver: str, values: ArrayLike, **others: Any) -> Sweep:
        """Drive one coordinate through values, on the branch of q: `reduced.sweep`; other motors are held if possible.

        Args:
            q: configuration (nq,), closed.
            driver: a joint of one coordinate, or a coordinate, "rod[0]".
            values: (m,) [rad or m].
            **others: those of `reduced.sweep`: independent, actuated, options.
        """
        named: dict[str, Any] = {"preferred": self.motors} | others
        return sweep(self.constraint_set(), q, driver, values, **named)

    def branches(
        self, q: ArrayLike, *, independent: Wished = (), t: float = 0.0, close: bool = False, **options: Any
    ) -> Branches:
        """Other closed configurations with the same independent coordinates as q, motors first: `reduced.branches`.

        Args:
            q: configuration (nq,), closed.
            independent: coordinates that keep their values; then motors that can be independent too.
            t: time of targets of rows [s].
            close: close q first (`assemble_position`) if it is open.
            **options: those of `reduced.branches`: tries, seed, bounds, tolerance.
        """
        rows = self.constraint_set()
        held = coordinates_with(
            rows, q, columns_of(self.robot, independent, "independent coordinates"), self.motors, t, close
        )
        return branches(held, t=t, **options)

    rows = FieldOf[int](
        "stack.size", "Number of rows of closures and couplers; for a coupler, the rows of its implicit twin."
    )

    def describe(self, details: bool = False) -> str:
        """The mechanism in words: sizes, closures, couplers, motors, postures, what was not read.

        Args:
            details: one line for each element that was not read, instead of one per kind.
        """
        lines = [f"Mechanism {self.name}: nq {self.robot.nq}, nv {self.robot.nv}, {counted(self.rows, 'row')}"]
        rows = [int(owner.rows.mask.sum()) for owner in self.stack]
        for owner, count in zip(self.stack, rows, strict=True):
            kind = "coupler" if isinstance(owner, Explicit | Implicit) else "closure"
            lines.append(f"  {kind} {owner.name!r}: {counted(count, 'row')}")
        for word, names in (("cut", self.cut), ("motors", self.motors), ("postures", tuple(self.postures))):
            lines += [f"  {word}: {', '.join(names)}"] if names else []
        lines += [f"  joint '{name}': {LOOSE}" for name in self.loose]
        lines += [f"  acts in forces(): {law!r}" for law in self.laws]
        lines += [f"  not read: {line}" for line in grouped(self.unread, details)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        parts = f"{counted(len(self.closures), 'closure')}, {counted(len(self.couplers), 'coupler')}"
        return f"Mechanism({self.name!r}, nv {self.robot.nv}, {parts}, {counted(self.rows, 'row')})"

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.robot, self.closures, self.couplers, self.motors, dict(self.postures), self.unread, self.cut)
        return Mechanism, (*arguments, self.laws, self.loose)


def _configuration(q: ArrayLike) -> ArrayLike:
    """What is no name of a posture."""
    if isinstance(q, str):
        raise WrongObjectError("q", f"a configuration (nq,), as mechanism.posture({q!r})", "a name")
    return q


def couplers_of_mimics(robot: Robot, unread: list[Unread]) -> tuple[Explicit, ...]:
    """The robot's mimic tags as explicit couplers; those that cannot be go to `unread`."""
    couplers: list[Explicit] = []
    for m in robot.mimics:
        with or_unread(unread, f"mimic tag of joint '{m.joint}'"):
            couplers.append(mimic_constraint(robot, m))
    return tuple(couplers)


def _closed(judged: Mobility) -> Mobility:
    if not judged.is_closed:
        ask_once(f"mobility of an open configuration, which is off by {judged.residual:.3g}: assemble it first")
    return judged
