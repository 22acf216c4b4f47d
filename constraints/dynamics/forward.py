"""Forward dynamics with constraints: accelerations and multipliers, by one of several methods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, final

import numpy as np

from liegroups.arrays import ArrayLike, TangentLike, Vector

from ..dynamics.methods.status import DynamicsStatus
from ..linear_algebra import dot, is_finite
from ..loops import ConstraintSet
from ..loops.mobility import taking_part
from ..robot import Motion
from ..rows.right_hand_side import RightHandSide
from ..words import counted, first_names
from .forward_derivatives import DynamicsDerivatives, dynamics_derivatives
from .laws.external_force import Force, as_external, generalised
from .methods.applicability import check_method
from .methods.articulated import solve_test_forces
from .methods.proximal import fast_anchors_of, solve_fast, solve_proximal
from .methods.row_space import in_balance
from .methods.saddle_point import Solution, solve_direct, solve_null_space, solve_range_space
from .methods.sparse_solution import is_long_and_sparse, solve_sparse
from .methods.status import Factorisation, Method, member
from .methods.system import ConstrainedSystem, Question, check_state, status_of, wanted, wanted_accelerations
from .methods.tree_sparsity import sparsity_at
from .row_forces import RowForces, misses

LONG = 45
"""Degrees of freedom from which on the sparse method is quicker than the direct one, on chains with as many loops."""


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
        """The result in words: status, open state, contacts that pull, rank, redundant rows and free motions."""
        lines = [str(self), *self._remarks]
        space = self.row_space
        lines.append(f"  {counted(len(space.G), 'row')}, rank {space.rank}")
        lines += [f"  redundant: {first_names(self.redundant_rows)}"] if self.redundant_rows else []
        lines += [f"  left out, and missed: {misses(self.missed_rows)}"] if self.missed_rows and self.success else []
        lines += [f"  left free: {first_names(self.free_motions)}"] if self.free_motions else []
        return "\n".join(lines)

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
    check_state(constraint_set, motion)
    if rhs is None and constraint_set.moving:
        constraint_set.say_time()
    how: Method = member(Method, method, "method of dynamics")
    by: Factorisation = member(Factorisation, factorisation, "factorisation")
    force = np.zeros(motion.v.size) if tau is None else np.array(motion.posture.space.check_tangent(tau, "tau"))
    asked = wanted_accelerations(acceleration, constraint_set)
    question = Question(
        constraint_set, motion.q, motion.v, force, as_external(external) if external else (), asked, rhs
    )
    if how is Method.AUTOMATIC:
        if asked is None and rhs is None and constraint_set.gains is None:
            found = _at_once(question, motion)
            if found is not None:
                return found
        if constraint_set.is_of_contacts:
            found = _by_test_forces(question, motion)
            if found.success:
                return found
        elif motion.v.size >= LONG and is_long_and_sparse(constraint_set):
            found = _by_bodies(question, motion)
            if found.success:
                return found
        how = Method.DIRECT
    else:
        check_method(constraint_set, how)
        if how is Method.TEST_FORCES:
            return _by_test_forces(question, motion)
        if how is Method.SPARSE:
            found = _by_bodies(question, motion)
            if found.status is not DynamicsStatus.INCONSISTENT:
                return found
            how = Method.DIRECT  # which meets rows that contradict each other best
    return _solve(question, motion, how, by)


def _at_once(question: Question, motion: Motion) -> ForwardDynamics | None:
    """By pinocchio's constraint dynamics, where it takes the set as it is and its result passes the check."""
    anchors = fast_anchors_of(question.constraint_set, motion)
    if anchors is None:
        return None
    force = question.tau + generalised(question.external, motion) if question.external else question.tau
    found = solve_fast(anchors, motion, force)
    if found is None:
        return None
    return ForwardDynamics(found[0], anchors.spread(found[1]), DynamicsStatus.SOLVED, Method.PROXIMAL, question)


def _by_test_forces(question: Question, motion: Motion) -> ForwardDynamics:
    """By articulated bodies, which need no mass matrix."""
    constraint_set = question.constraint_set
    force = question.tau - motion.bias_force()
    if question.external:
        force += generalised(question.external, motion)
    rows = constraint_set.rows_at(motion, question.rhs)
    gamma = wanted(constraint_set, rows, question.acceleration)
    found = solve_test_forces(motion, force, rows.jacobian, gamma, dot(motion.v, motion.v), constraint_set.rounding)
    status = status_of(found, constraint_set, rows)
    return ForwardDynamics(found.acceleration, found.multipliers, status, Method.TEST_FORCES, question, found)


def _by_bodies(question: Question, motion: Motion) -> ForwardDynamics:
    """By the sparse matrix of all bodies."""
    force = question.tau + generalised(question.external, motion) if question.external else question.tau
    constraint_set = question.constraint_set
    found = solve_sparse(constraint_set, motion, force, acceleration=question.acceleration, rhs=question.rhs)
    if not found.is_solved:
        return _refused(question, Method.SPARSE, found.status)
    return ForwardDynamics(found.acceleration, found.multipliers, found.status, Method.SPARSE, question)


def _solve(question: Question, motion: Motion, how: Method, by: Factorisation) -> ForwardDynamics:
    """By one method, on the whole system."""
    system = question.system(motion)
    H, G, c, gamma = system.mass_matrix, system.jacobian, system.force, system.gamma
    inertia = float(H.trace())
    if not (is_finite(c) and isfinite(inertia)):  # the diagonal of a mass matrix bounds all of it
        return _refused(question, how, DynamicsStatus.NOT_FINITE)
    size = float(system.v @ system.v) + in_balance(inertia, system.bias)
    rounding = question.constraint_set.rounding
    found: Solution | None = None
    if how is Method.PROXIMAL:
        found = solve_proximal(question.constraint_set, motion, c + motion.bias_force(), system.rows, gamma, size)
        how = Method.PROXIMAL if found is not None else Method.DIRECT
    if how is Method.RANGE_SPACE:
        found = solve_range_space(H, G, c, gamma, by, sparsity=sparsity_at(motion), size=size, rounding=rounding)
    elif how is Method.NULL_SPACE:
        found = solve_null_space(H, G, c, gamma, by, size=size, rounding=rounding)
    elif found is None:
        found = solve_direct(H, G, c, gamma, by, size=size, rounding=rounding)
    status = status_of(found, question.constraint_set, system.rows)
    return ForwardDynamics(found.acceleration, found.multipliers, status, how, question, found, system)


def _refused(question: Question, how: Method, status: DynamicsStatus) -> ForwardDynamics:
    n, k = question.v.size, question.constraint_set.size
    return ForwardDynamics(np.zeros(n), np.zeros(k), status, how, question)
