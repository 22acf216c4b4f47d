"""Forward dynamics with constraints: accelerations and multipliers, by one of several methods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, final

from liegroups.arrays import ArrayLike, TangentLike, Vector

from ..loops import ConstraintSet
from ..loops.mobility import taking_part
from ..robot import Motion
from ..rows.right_hand_side import RightHandSide
from ..words import counted, first_names
from .forward_derivatives import DynamicsDerivatives, dynamics_derivatives
from .laws.external_force import Force
from .methods.choice import TRIED, check_method, suiting
from .methods.pinocchio_rows import why_not_its_rows
from .methods.saddle_point import Solution
from .methods.status import DynamicsStatus, Factorisation, Method, member
from .methods.system import ConstrainedSystem, Question, asked
from .row_forces import RowForces, misses


@final
@dataclass(frozen=True, eq=False, repr=False)
class ForwardDynamics(RowForces):
    r"""Accelerations and multipliers: :math:`M a + h = \tau + J^T \lambda`, :math:`J a = \gamma`.

    It is neither true nor false (`if result:` raises): `success` says whether both equations hold.

    Attributes:
        acceleration: a (nv,) [m/s2, rad/s2]; if the status is INCONSISTENT, the one that meets the rows best; zero if
            there is none.
        multipliers: lambda (size,), on the successors (on the robot, for contacts); zero if a constraint is off.
        status: how it ended.
        method: the one that was used: never AUTOMATIC.
        question: arguments of the call.
        solution: rank and free motions, if the method found them.
        solved: the system, if the method needed it; `system` always gives it.
    """

    _joint_vectors: ClassVar[tuple[str, ...]] = ("acceleration",)

    acceleration: Vector
    multipliers: Vector
    status: DynamicsStatus
    method: Method
    question: Question
    solution: Solution | None = None
    solved: ConstrainedSystem | None = None

    @property
    def acting(self) -> tuple[Force, ...]:
        """The external forces, which act besides tau and the constraints."""
        return self.question.external

    @property
    def free_motions(self) -> tuple[str, ...]:
        """Names of coordinates that neither mass nor rows hold, if the status is SINGULAR_SYSTEM."""
        if self.solution is None or not self.solution.free.size:
            return ()
        return taking_part(self.question.constraint_set.robot, self.solution.free)

    def derivatives(self) -> DynamicsDerivatives:
        """Derivatives of accelerations, multipliers and wrenches: `dynamics_derivatives(self)`."""
        return dynamics_derivatives(self)

    def describe(self) -> str:
        """The result in words: status, why this method, open state, contacts that pull, rank, free motions."""
        lines = [str(self), *self._choice, *self._remarks]
        space = self.row_space
        lines.append(f"  {counted(len(space.G), 'row')}, rank {space.rank}")
        lines += [f"  redundant: {first_names(self.redundant_rows)}"] if self.redundant_rows else []
        lines += [f"  left out, and missed: {misses(self.missed_rows)}"] if self.missed_rows and self.success else []
        lines += [f"  left free: {first_names(self.free_motions)}"] if self.free_motions else []
        return "\n".join(lines)

    @property
    def _choice(self) -> list[str]:
        """The line on the method, where AUTOMATIC passed over pinocchio's own."""
        question = self.question
        if not question.automatic or self.method is Method.PROXIMAL:
            return []
        reason = why_not_its_rows(question.constraint_set)
        if not reason and question.constraint_set.gains is not None:
            reason = "the set is stabilised"
        if not reason and (question.acceleration is not None or question.rhs is not None):
            reason = "accelerations of rows are wanted"
        return [f"  {self.method.name}, not PROXIMAL: {reason or 'its result did not pass the check'}"]

    def __str__(self) -> str:
        return f"{self.status} (method {self.method.name})"

    def __repr__(self) -> str:
        return f"ForwardDynamics({self.status.name}, {self.method.name})"


def forward_dynamics(
    constraint_set: ConstraintSet,
    motion: Motion,
    tau: TangentLike | None = None,
    *,
    method: Method | str = Method.AUTOMATIC,
    factorisation: Factorisation | str = Factorisation.CHOLESKY,
    external: Iterable[Force] = (),
    acceleration: ArrayLike | None = None,
    rhs: RightHandSide | None = None,
) -> ForwardDynamics:
    r"""Solve :math:`M a + h = \tau + J^T \lambda`, :math:`J a = \gamma` for accelerations and multipliers.

    The state may be open: errors and rates then act through the stabilisation of the set, and are in `result.system`.
    AUTOMATIC uses pinocchio's constraint dynamics for contacts with pinocchio's rows, without stabilisation and wanted
    accelerations, if the result passes a check; test forces for other contacts; the sparse method for long chains; else
    the direct one.

    Args:
        constraint_set: closures, contacts and other constraints, with their stabilisation.
        motion: the state, `robot.at(q, v)`.
        tau: generalised forces of the actuators (nv,) [N, N m], in the order of `robot.joint_names`; or by joint,
            {"crank": 1.0}, the others zero; zero by default.
        method: a `Method`, or its name. DIRECT takes over from SPARSE if the rows contradict each other, and from
            PROXIMAL if its result fails a check.
        factorisation: for direct, range space and null space.
        external: external forces: wrenches on bodies, forces at hinges, springs.
        acceleration: wanted second derivative of each row (size,); zero by default; accelerations of targets are added.
        rhs: right-hand sides with their rates from `constraint_set.rhs_at(t)`.

    Returns:
        A value; failure is a status, never an exception.

    Raises:
        MethodError: a method that does not support the set; names the constraint, and why.
        RobotMismatchError: the motion is of another robot.
        UnknownNameError, WrongObjectError, SizeError, NotFiniteError: an invalid argument.

    Source: `ForwardDynamicsConstraintsDirect`, `...RangeSpaceSparse`, `...NullSpace`, `ForwardDynamicsContactsKokkevis`
    of RBDL.
    """
    how, by = method, factorisation
    how = how if isinstance(how, Method) else member(Method, how, "method of dynamics")
    by = by if isinstance(by, Factorisation) else member(Factorisation, by, "factorisation")
    is_automatic = how is Method.AUTOMATIC
    question = asked(constraint_set, motion, tau, external, acceleration, rhs, is_automatic)
    if rhs is None and constraint_set.moving:
        constraint_set.say_time()
    tried = suiting(constraint_set) if is_automatic else TRIED[how]
    if not is_automatic:
        check_method(constraint_set, tried[0])
    for each in tried:
        found = each.answer(question, motion, by)
        if found is not None and (found.status.is_success or not is_automatic or each is tried[-1]):
            return ForwardDynamics(*found[:3], each.kind, question, *found[3:])
    raise AssertionError("the last method takes any set")
