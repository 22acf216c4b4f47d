"""Constraint sets: closures, contacts and other constraints of one robot, as rows of all three orders."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import numpy as np

from liegroups.arguments import as_tuple, expect, refuse_repeated
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, TangentLike, Vector
from liegroups.frozen import read_only, set_fields

from ..errors import EmptyProblemError, OptionError, WrongObjectError
from ..keywords import closed
from ..linear_algebra import RANK_TOLERANCE, as_rank_tolerance, warn_of_threads
from ..problem.arguments import on_space
from ..problem.problem import Problem
from ..robot import Motion, Posture, Robot
from ..robot.arguments import as_robot
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import On, Stack, check_unique
from ..rows.stacking import Order, check_sides, stack_rows
from ..words import counted, first_names
from ..workspace import Kept
from .baumgarte import Baumgarte
from .closures import Closure
from .contacts import PointContact
from .pose_rows import PoseClosure, PoseContact
from .set_rows import SetRows, TogetherRows

_log = logging.getLogger(__package__)

ASSEMBLERS = 16
"""Number of assemblers that a set keeps, together with the sets that were switched or stabilised from it."""


A_SET = "a ConstraintSet (mechanism.constraint_set())"
"""What is asked for where a set is expected."""
_SWITCHED = "set.switched(on, off) gives a changed copy"


@final
@closed("make a new one", active=_SWITCHED, baumgarte="set.stabilised(gains, which) gives a changed copy")
class ConstraintSet:
    """Constraints on one robot, stacked in order: rows of position, velocity and acceleration. Immutable.

    `switched` turns constraints on and off, `stabilised` changes stabilisations: both give cheap copies that share the
    rows and build nothing. Rows that are off are zero; sizes are fixed.

    Args:
        robot: the robot.
        owners: closures, contacts, Implicit and Explicit constraints (an explicit one by its twin).
        baumgarte: stabilisation by constraint (as the key the object, its position, or its name); none by default.
        rounding: singular values of the Jacobian of the rows that are on, up to this part of the largest one, hold
            nothing, in velocities, dynamics, impacts and minimal coordinates. A loop that is planar but for the digits
            of its file has some: Cassie's are 1e-12 to 2e-8 of it, those of axes written as 1.570796 rad 3e-7.

    Attributes:
        robot: as given.
        stack: the constraints, in order.
        active: (len(stack),) true for the constraints that are on.
        on: these constraints, each with its rows.
        on_rows: indices of their rows.
        baumgarte: the stabilisation of each constraint.
        gains: its position and velocity gains by row (size,) each; None where all are zero.
        rounding: as given.
        is_of_contacts: whether all constraints are contacts, those that are off too.
        moving: names of the constraints with a `Target`.
        rhs: their default right-hand sides.
        assemblers: what was prepared for its assemblies, by the constraints that are on, costs, driven joints, bounds
            and options.

    Raises:
        DuplicateNameError, DuplicateError: two constraints with the same name, or the same object twice.
        RobotMismatchError, SpaceMismatchError: a constraint of another robot.
        WrongObjectError: something else among the constraints.
        OptionError: two stabilisations of one constraint.
    """

    robot: Robot
    stack: Stack
    active: BoolVector
    on: tuple[On, ...]
    on_rows: Indices
    baumgarte: tuple[Baumgarte, ...]
    gains: tuple[Vector, Vector] | None
    rounding: float
    is_of_contacts: bool
    moving: tuple[str, ...]
    rhs: RightHandSide
    assemblers: Kept[Any]

    def __init__(
        self,
        robot: Robot,
        owners: Sequence[RowOwner],
        baumgarte: Mapping[Any, Baumgarte] | None = None,
        rounding: float = RANK_TOLERANCE,
    ) -> None:
        self.robot = as_robot(robot, "robot of a constraint set")
        constraints = as_tuple(owners, "constraints of a set", "constraints")
        for i, owner in enumerate(constraints):
            expect(owner, RowOwner, f"constraint {i} of a set", "a closure, a contact or a constraint")
        check_unique(constraints)
        self.stack = Stack([on_space(owner, robot.space) for owner in constraints])
        refuse_repeated(self.stack.names, "constraint of the set")
        self._switch(np.ones(len(constraints), dtype=np.bool_))
        self._stabilise((Baumgarte(),) * len(constraints))
        self.rounding = as_rank_tolerance(rounding, "rounding of a constraint set")
        self.rhs = RightHandSide(self.stack)
        self.moving = tuple(owner.name for owner in self.stack if owner.target is not None)
        self._timed = dict.fromkeys(self.moving)  # shared with sets that are switched from this one; empty once said
        self.is_of_contacts = all(owner.is_contact for owner in constraints)
        self._together = TogetherRows(self.robot, self.stack)
        self.assemblers = Kept(ASSEMBLERS)
        warn_of_threads()
        one_sided = [owner.rows.one_sided[owner.rows.mask] for owner in self.stack]
        self._one_sided = np.concatenate([*one_sided, np.zeros(0, dtype=np.bool_)])
        words = "{constraint or name: Baumgarte}; set.stabilised(gains) gives one to all"
        if baumgarte is not None:
            expect(baumgarte, Mapping, "baumgarte of a set", words)
        stabilisations: dict[Any, Baumgarte] = {} if baumgarte is None else {**baumgarte}
        keys = [self.stack.index(which) for which in stabilisations]
        twice = next((i for k, i in enumerate(keys) if i in keys[:k]), None)
        if twice is not None:
            raise OptionError(f"stabilisation of '{self.stack.names[twice]}': it is given twice, under two keys")
        for which, gains in stabilisations.items():
            self._stabilise(self.stabilised(gains, which).baumgarte)

    def _switch(self, active: BoolVector) -> None:
        each = zip(self.stack.owners, self.stack.slices, active.tolist(), strict=True)
        on = tuple(On(owner, rows) for owner, rows, is_on in each if is_on)
        has_rows, has_place = np.zeros((2, self.size), dtype=np.bool_)
        for owner, rows in on:
            has_rows[rows], has_place[rows] = True, owner.has_position
        set_fields(self, active=read_only(active), on=on, on_rows=read_only(np.flatnonzero(has_rows)))
        self._off, self._unplaced = np.flatnonzero(~has_rows), np.flatnonzero(~has_place)

    # Reading.

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the constraints, in order."""
        return self.stack.names

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each constraint: "Closure (pin)", "PointContact", "Implicit", ..."""
        return tuple(_kind(owner) for owner in self.stack)

    @property
    def size(self) -> int:
        """Number of rows, including those that are off."""
        return self.stack.size

    def slice_of(self, which: RowOwner | str | int) -> slice:
        """The rows of a constraint: the object, its position, or its name.

        Raises:
            UnknownNameError: lists the names that come closest.
        """
        return self.stack.slices[self.stack.index(which)]

    def pick(self, every: Matrix) -> Matrix:
        """Of an array with all rows (size, ...) those of constraints that are on; itself where all are."""
        return every if len(self.on_rows) == self.size else every[self.on_rows]

    def spread(self, some: Matrix) -> Matrix:
        """An array with all rows (size, ...), zero where a constraint is off, from what `pick` gives."""
        if len(some) == self.size:
            return some
        every = np.zeros((self.size, *some.shape[1:]))
        every[self.on_rows] = some
        return every

    def row_name(self, row: int) -> str:
        """Name of a row: "elbow[2]"."""
        for name, s in zip(self.names, self.stack.slices, strict=True):
            if s.start <= row < s.stop:
                return f"{name}[{row - s.start}]"
        raise WrongObjectError("row of a constraint set", f"a number below {self.size}", repr(row))

    def __getitem__(self, which: RowOwner | str | int) -> RowOwner:
        return self.stack[which]

    def __len__(self) -> int:
        return len(self.stack)

    # Other sets on the same rows.

    def switched(
        self, on: Sequence[RowOwner | str | int] | None = None, off: Sequence[RowOwner | str | int] = ()
    ) -> Self:
        """The set with some constraints on and others off; nothing is built.

        Args:
            on: only these are on, except those in `off`; by default those that are on now.
            off: these are off.
        """
        active = self.active.copy()
        if on is not None:
            active[:] = False
            chosen = as_tuple(on, "constraints to be on", "constraints", ordered=False)
            active[[self.stack.index(which) for which in chosen]] = True
        others = as_tuple(off, "constraints to be off", "constraints", ordered=False)
        active[[self.stack.index(which) for which in others]] = False
        other = copy.copy(self)
        other._switch(active)
        return other

    def stabilised(self, gains: Baumgarte | float, which: RowOwner | str | int | None = None) -> Self:
        """The set with another stabilisation of one constraint, or of all.

        Args:
            gains: a Baumgarte, or the time [s] of `Baumgarte.settling`.
            which: the constraint; all by default.
        """
        new = gains if isinstance(gains, Baumgarte) else Baumgarte.settling(gains)
        chosen = None if which is None else self.stack.index(which)
        other = copy.copy(self)
        other._stabilise(tuple(new if chosen is None or i == chosen else old for i, old in enumerate(self.baumgarte)))
        return other

    def extended(self, owners: Sequence[RowOwner]) -> ConstraintSet:
        """A new set with further constraints behind these, which are off; the others are on or off as here."""
        others = as_tuple(owners, "further constraints of a set", "constraints")
        larger = ConstraintSet(self.robot, [*self.stack, *others], dict(enumerate(self.baumgarte)), self.rounding)
        return larger.switched(np.flatnonzero(self.active).tolist())

    # Rows.

    def say_time(self) -> None:
        """Log once that targets stand still where their time begins, since no right-hand sides were given."""
        if self._timed:
            _log.warning(
                "no right-hand sides were given: the targets of %s stand still where their time begins; "
                "`rhs=constraint_set.rhs_at(t)` moves them", first_names([f"'{name}'" for name in self.moving]),
            )  # fmt: skip
            self._timed.clear()

    def rhs_at(self, t: float) -> RightHandSide:
        """Right-hand sides at time t [s], with velocities and accelerations of the targets."""
        return self.rhs.at(t)

    def position_error(self, q: ArrayLike, rhs: RightHandSide | None = None) -> Vector:
        """Errors (size,) at q; zero for contacts without anchor and for what is off.

        Args:
            q: configuration (nq,).
            rhs: right-hand sides from `rhs_at(t)`; the default ones if absent.
        """
        error = stack_rows(self.stack, self.robot.at(q), Order.POSITION, rhs, jacobian=False).error.copy()
        error[self._unplaced] = 0.0
        return error

    def position_rows(self, posture: Posture, rhs: RightHandSide | None = None) -> tuple[Vector, Matrix]:
        """Errors (size,) and their Jacobian (size, nv), copies, for Newton's steps; zero for what is off.

        Args:
            posture: the configuration, `robot.at(q)`.
            rhs: as in `position_error`.
        """
        rows = stack_rows(self.stack, posture, Order.POSITION, rhs)
        found = rows.error.copy(), rows.jacobian.copy()
        for each in found:
            each[self._unplaced] = 0.0
        return found

    def jacobian(self, q: ArrayLike, rhs: RightHandSide | None = None) -> Matrix:
        """Jacobian J (size, nv) of the errors; of the velocity rows, for contacts without anchor and the form RATES.

        Args:
            q, rhs: as in `position_error`.
        """
        return self.rows_at(self.robot.at(q, np.zeros(self.robot.nv)), rhs).jacobian

    def velocity_error(self, q: ArrayLike, v: TangentLike, rhs: RightHandSide | None = None) -> Vector:
        """Time derivative of the errors (size,): J v minus the velocity of the targets.

        Args:
            q, v: configuration (nq,) and velocity (nv,).
            rhs: right-hand sides from `rhs_at(t)`.
        """
        return self.rows_at(self.robot.at(q, v), rhs).velocity

    def drift(self, q: ArrayLike, v: TangentLike, rhs: RightHandSide | None = None) -> Vector:
        r"""Second time derivative of the errors (size,) at zero joint acceleration.

        It is :math:`\dot J v` minus the acceleration of the targets: constrained accelerations have J a = -drift.

        Args:
            q, v, rhs: as in `velocity_error`.
        """
        return self.rows_at(self.robot.at(q, v), rhs).drift

    def stabilisation(self, q: ArrayLike, v: TangentLike, rhs: RightHandSide | None = None) -> Vector:
        r""":math:`k_d\,\dot e + k_p\,e` (size,), which stabilised accelerations subtract: J a = -drift - stabilisation.

        Args:
            q, v, rhs: as in `velocity_error`.
        """
        rows, gains = self.rows_at(self.robot.at(q, v), rhs), self.gains
        return np.zeros(self.size) if gains is None else gains[0] * rows.position + gains[1] * rows.velocity

    def rows_at(self, motion: Motion, rhs: RightHandSide | None = None) -> SetRows:
        """Errors, their rates, Jacobian and drift of all rows at a state, evaluated together; zero for what is off.

        Args:
            motion: the state, `robot.at(q, v)`.
            rhs: right-hand sides from `rhs_at(t)`; the default ones, at rest, if absent.
        """
        if rhs is not None:
            check_sides(self.stack, rhs)
        rows = self._together.at(motion, self.rhs if rhs is None else rhs)
        if self._off.size:
            for each in rows:
                each[self._off] = 0.0
        return rows

    def counts_in(self, rows: SetRows) -> BoolVector:
        """Which rows are active at a state (size,): not those that are off, nor satisfied inequalities.

        Args:
            rows: at the state.
        """
        holds = self._one_sided & (rows.position == 0.0) & ~rows.jacobian.any(axis=1)
        counts = ~holds
        counts[self._off] = False
        return counts

    def _stabilise(self, baumgarte: tuple[Baumgarte, ...]) -> None:
        each = [(one.position_gain, one.velocity_gain) for one in baumgarte]
        gains = np.array(each, dtype=np.float64).reshape(-1, 2).T
        kp, kd = np.repeat(gains, [s.stop - s.start for s in self.stack.slices], axis=1)
        set_fields(self, baumgarte=baumgarte, gains=(kp, kd) if kp.any() or kd.any() else None)

    def problem(self, **options: Any) -> Problem:
        """The constraints that are on and have position rows, as a Problem on the robot.

        Args:
            **options: of the Problem (bounds, weights, frozen).

        Raises:
            EmptyProblemError: no constraint that is on has position rows.
        """
        if len(self.stack) and not self.on:
            raise EmptyProblemError(
                f"all constraints are off: {first_names(self.names)}; `switched(on=[...])` gives a set with some on"
            )
        loose = [f"'{owner.name}'" for owner in self.stack if not owner.has_position]
        if loose and not self.anchored:
            words = f"contacts without anchor have no position rows: {', '.join(loose)}"
            raise EmptyProblemError(f"{words}; give anchor=, or anchored(q)")
        return Problem(self.robot, self.anchored, **options)

    @property
    def anchored(self) -> list[RowOwner]:
        """The constraints that are on and have position rows."""
        return [owner for owner, _ in self.on if owner.has_position]

    def describe(self) -> str:
        """The constraints in words, a line each: name, class, rows, gains, whether it is off, how a contact slides."""
        lines, idle = [repr(self)], self.idle_gains
        for owner, kind, s, on, gains in zip(
            self.stack, self.kinds, self.stack.slices, self.active, self.baumgarte, strict=True
        ):
            words = f"; slides: {owner.free}" if isinstance(owner, PointContact) and owner.free else ""
            if gains != Baumgarte():
                words += f"; {gains}" + (", of position without an anchor" if owner.name in idle else "")
            lines.append(f"  '{owner.name}': {kind}, {counted(s.stop - s.start, 'row')}{words}{'' if on else '; off'}")
        return "\n".join(lines)

    @property
    def idle_gains(self) -> tuple[str, ...]:
        """Names of constraints whose position gain acts on nothing, as they have no position: contacts need anchors."""
        each = zip(self.stack, self.baumgarte, strict=True)
        return tuple(owner.name for owner, gains in each if gains.position_gain and not owner.has_position)

    def __repr__(self) -> str:
        off = int((~self.active).sum())
        sizes = f"{counted(len(self), 'constraint')}, {counted(self.size, 'row')}"
        return f"ConstraintSet({sizes}{f', {off} off' if off else ''})"


def _kind(owner: RowOwner) -> str:
    word = type(owner).__name__
    if isinstance(owner, PoseContact | PoseClosure):
        return f"{word} ({type(owner.pose_map).__name__})"
    return f"{word} ({owner.hinge.kind.name.lower()})" if isinstance(owner, Closure) else word
