"""The multipliers of constraints as forces: what the results of forward and inverse dynamics share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, final

from liegroups.arguments import expect
from liegroups.arrays import BoolVector, Vector

from ..loops import Axes, Closure, RodClosure
from ..loops.frame_rows import FrameRows
from ..robot import Frame
from ..rows.row_owner import RowOwner
from ..solvers.result import ByJoint
from ..words import first_names
from .constraint_force import ConstraintForce, constraint_force, rod_length
from .laws.external_force import Force
from .laws.frame_links import on_other
from .laws.hinge_forces import motion_subspace, wrench_at
from .methods.row_space import RowSpace, in_balance, missed
from .methods.saddle_point import Solution
from .methods.system import ConstrainedSystem, Question, open_words, vanished
from .multipliers import Body, Multipliers, WithMultipliers, frame_rows, pulling_contacts, pulling_words, seen_at


class RowForces(ByJoint, WithMultipliers):
    r"""A result with multipliers: :math:`M a + h = \ldots + J^T \lambda`.

    Attributes:
        acceleration: a (nv,).
        multipliers: lambda (size,), on the successors (on the robot, for contacts); zero where a constraint is off.
        question: what was asked.
        solution: rank and free motions, where the method found them.
        solved: the system, where the method needed it; `system` has it in any case.
    """

    _joint_space: ClassVar[str] = "question.constraint_set.robot.space"

    acceleration: Vector
    multipliers: Vector
    question: Question
    solution: Solution | None
    solved: ConstrainedSystem | None

    @property
    @abstractmethod
    def acting(self) -> tuple[Force, ...]:
        """What acts besides joint forces and the constraints, forces at hinges among it."""

    @abstractmethod
    def describe(self) -> str:
        """The result in words."""

    def _failure(self) -> str:
        return self.describe()

    @cached_property
    def system(self) -> ConstrainedSystem:
        """Inertia, bias, rows, errors and rates at the state; computed on request where the method needed none."""
        return self.question.system() if self.solved is None else self.solved

    @cached_property
    def row_space(self) -> RowSpace:
        """The rows, with rank and singular values."""
        if self.solution is not None:
            return self.solution.row_space
        return RowSpace(self.system.jacobian, self.question.constraint_set.rounding)

    # Rank.

    @property
    @final
    def rank(self) -> int:
        """How many rows are independent."""
        return self.row_space.rank

    @property
    @final
    def redundant_rows(self) -> tuple[str, ...]:
        """Names of rows that repeat others, or that nothing moves, as many as the rank lacks: "elbow[2]"."""
        asked = self.question.constraint_set
        rows = [*self.row_space.redundant, *vanished(asked, self.system.rows, self.row_space)]
        return tuple(asked.row_name(int(i)) for i in sorted(rows))

    @cached_property
    def missed_rows(self) -> dict[str, float]:
        """Rows that are missed by more than 1e-9 of the accelerations: "pin[4]" -> by how much [m/s2, rad/s2].

        In a success these are rows that nearly repeat others, or that hardly anything moves (singular values up to
        `rounding` of the largest): they hold nothing, and what they ask for is met to `rounding`.
        """
        system, asked = self.system, self.question.constraint_set
        inertia = float(system.mass_matrix.trace())
        balanced = in_balance(inertia, system.tau) + in_balance(inertia, system.bias)
        found = missed(system.jacobian, self.acceleration, system.gamma, float(system.v @ system.v), balanced)
        return {asked.row_name(i): size for i, size in found.items()}

    @property
    @final
    def undetermined_rows(self) -> tuple[str, ...]:
        """Names of rows whose multiplier is not unique: "elbow[2]".

        Other rows can stand for them, or no motion of the robot meets them (those across the plane of a planar
        linkage). Of these multipliers the result has the ones of least norm (dynamics in minimal coordinates: zero on
        redundant rows); how such forces are shared in a real mechanism depends on how stiff its bodies are. Rows that
        are off have the multiplier zero, which is unique.
        """
        where = (~self._determined).nonzero()[0]
        return tuple(self.question.constraint_set.row_name(int(i)) for i in where)

    @final
    def is_determined(self, which: RowOwner | str | int) -> bool:
        """Whether all multipliers of a constraint are unique: the object, its position, or its name."""
        return bool(self._determined[self.question.constraint_set.slice_of(which)].all())

    @property
    def _remarks(self) -> list[str]:
        """Lines of a description: how far the state is off the constraints, and contacts that pull."""
        asked, rows = self.question, self.system.rows
        opened = open_words(asked.constraint_set, rows.position, rows.velocity, asked.v)
        return [*opened, *pulling_words(asked.constraint_set, self.multipliers, "N")]

    # Forces.

    @property
    @final
    def pulling(self) -> tuple[str, ...]:
        """Names of contacts with one normal whose force is negative: one that pushes only would let go there."""
        return pulling_contacts(self.question.constraint_set, self.multipliers)

    @property
    def _multipliers(self) -> Multipliers:
        return Multipliers(self.question.constraint_set, self.question.q, self.multipliers)

    @final
    def generalised_force(self, which: RowOwner | str | int) -> Vector:
        r"""Joint forces (nv,) of one constraint, :math:`J_i^T \lambda_i`."""
        s = self.question.constraint_set.slice_of(which)
        return self.multipliers[s] @ self.system.jacobian[s]

    @final
    def constraint_force(self, which: RowOwner | str | int, on: Body = "successor") -> ConstraintForce:
        r"""Force and moment of a contact or closure in the axes of the world, with what of them is not determined.

        Of a rod :math:`\lambda\,x` on the successor, x from predecessor to successor: :math:`\lambda > 0` pushes the
        ends apart. Of a point or ball that of the successor's origin, whatever turns under it. On the predecessor the
        opposite force. It is that of the constraint alone, as `wrench` is, which has it in any other axes.

        Args:
            which: the object, its position, or its name.
            on: "successor", or "predecessor".

        Raises:
            NoWrenchError: the constraint is neither a contact nor a closure.
            UndefinedError: a rod whose ends coincide.

        Source: `get_rod_force`, `get_ball_force` of Robotran.
        """
        asked, space = self.question, self.row_space
        off = ~asked.constraint_set.counts_in(self.system.rows)
        whole = space.vanishing
        kept = whole[:, ~whole[off].any(axis=0)]  # a row that is off has no force, which is unique
        return constraint_force(asked.constraint_set, which, asked.q, self.multipliers, kept, on)

    @final
    def axial_force(self, which: RowOwner | str | int) -> float:
        r"""Axial force of a rod [N], :math:`N = \lambda\,|x|`: positive in compression, negative in traction.

        Args:
            which: a `RodClosure` of the set: the object, its position, or its name.

        Raises:
            WrongObjectError: the constraint is no rod.
            UndefinedError: its ends coincide.

        Source: sign of the multipliers of rods of Robotran.
        """
        owner = self.question.constraint_set[which]
        rod = expect(owner, RodClosure, "constraint with an axial force", "a RodClosure")
        return float(self.multipliers_of(which)[0]) * rod_length(rod, self.question.q)

    @final
    def inter_body_force(
        self, which: RowOwner | str | int, axes: Axes = Axes.LOCAL, frame: Frame | str | None = None
    ) -> Vector:
        """The whole wrench (6,) across a cut, as it acts on the successor, reported at the predecessor's frame.

        Constraint wrench and all that acts on the free coordinates of the hinge (`HingeForce`, `HingeSpring`, actuated
        closures of inverse dynamics): what a joint in the place of the cut would transmit.

        Args:
            which: the closure or contact: the object, its position, or its name.
            axes: LOCAL, those of the frame, or LOCAL_WORLD_ALIGNED.
            frame: at the origin of which frame, and in whose axes; that of the predecessor by default.

        Raises:
            NoWrenchError: the constraint is neither a contact nor a closure.

        Source: `getInterBodyForceTAFwdDyn` of Karana kdFlex: at the source, with the sign as if acting on the target.
        """
        owner = frame_rows(self.question.constraint_set, which)
        seen = on_other(owner.pose(self.question.q), self._across(owner))
        return seen_at(self.question.constraint_set.robot.at(self.question.q), seen, owner.predecessor, axes, frame)

    @final
    def hinge_force(self, which: Closure | str | int) -> Vector:
        r"""Generalised force T (dofs,) that crosses a cut hinge along its free coordinates [N, N m].

        It is recovered from the whole wrench on the successor by the motion subspace of the hinge,
        :math:`T = S^T w_s`. The wrench of an ideal closure does no work on what the hinge leaves free, so T is what
        acts there besides: hinge forces and springs, and the forces of actuated closures. At open states it is right to
        the first order in the error of the closure.

        Args:
            which: a `Closure` of the set: the object, its position, or its name.

        Raises:
            WrongObjectError: a constraint that no hinge types.
        """
        owner = expect(self.question.constraint_set[which], Closure, "constraint with a hinge", "a Closure")
        return self._across(owner) @ motion_subspace(owner, owner.pose(self.question.q))

    @cached_property
    def _determined(self) -> BoolVector:
        """Rows (size,) whose multiplier is unique."""
        return self.row_space.determined | ~self.question.constraint_set.counts_in(self.system.rows)

    def _across(self, owner: FrameRows) -> Vector:
        """The whole wrench on the successor, in its frame."""
        asked, wrench = self.question, self.wrench(owner)
        if isinstance(owner, Closure):
            wrench += wrench_at(self.acting, owner, asked.constraint_set.robot.at(asked.q, asked.v))
        return wrench


def misses(missed_rows: Mapping[str, float]) -> str:
    """Missed rows in words: "pin[4] by 3e-07, ..."."""
    return first_names([f"{name} by {size:.3g}" for name, size in missed_rows.items()])
