"""The system of constrained dynamics: inertia, bias, rows and what they ask for, as one value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from liegroups.arguments import expect, finite_vector
from liegroups.arrays import ArrayLike, Indices, Matrix, TangentLike, Vector

from ...dynamics.methods.status import DynamicsStatus
from ...errors import RobotMismatchError
from ...loops import ConstraintSet
from ...loops.assembling.assembly import OPEN
from ...loops.constraint_set import A_SET
from ...loops.set_rows import SetRows
from ...robot import Motion
from ...rows.right_hand_side import RightHandSide
from ..laws.external_force import Force, as_external, generalised
from .row_space import RowSpace
from .saddle_point import Solution


@final
@dataclass(frozen=True, eq=False)
class ConstrainedSystem:
    r"""Equations of motion with constraints at one state.

    .. math:: H\,a + C = \tau + G^T \lambda, \qquad G\,a = \gamma

    with :math:`\gamma` = wanted accelerations - drift - stabilisation, and lambda acting on the successors (on the
    robot, for contacts).

    Attributes:
        constraint_set: the constraints.
        q, v: the state.
        tau: generalised forces of the actuators (nv,) [N, N m].
        mass_matrix: H (nv, nv), joint-space inertia.
        bias: C (nv,): Coriolis, centrifugal and gravity forces, minus the external forces.
        rows: G, errors, rates and drift of the constraints.
        gamma: (size,), required accelerations of the rows.
    """

    constraint_set: ConstraintSet
    q: Vector
    v: Vector
    tau: Vector
    mass_matrix: Matrix
    bias: Vector
    rows: SetRows
    gamma: Vector

    @property
    def jacobian(self) -> Matrix:
        """G (size, nv); rows of zeros where a constraint is off."""
        return self.rows.jacobian

    @property
    def position_error(self) -> Vector:
        """Errors of the constraints (size,) at q."""
        return self.rows.position

    @property
    def velocity_error(self) -> Vector:
        """Their rates (size,)."""
        return self.rows.velocity

    @property
    def force(self) -> Vector:
        """Tau - C (nv,): the force that accelerates the robot without constraints."""
        return self.tau - self.bias


def constrained_system(
    constraint_set: ConstraintSet,
    motion: Motion,
    tau: TangentLike | None = None,
    *,
    external: Iterable[Force] = (),
    acceleration: ArrayLike | None = None,
    rhs: RightHandSide | None = None,
) -> ConstrainedSystem:
    r"""Inertia, bias, rows and right-hand sides of constrained dynamics at one state.

    Args:
        constraint_set: closures, contacts and other constraints, with their stabilisation.
        motion: the state, `robot.at(q, v)`; it need not satisfy the constraints.
        tau: generalised forces of the actuators (nv,) [N, N m]; zero by default.
        external: external forces: wrenches on bodies, forces at hinges, springs.
        acceleration: wanted second derivative of each row (size,); zero by default; accelerations of targets are added.
        rhs: right-hand sides with their rates from `constraint_set.rhs_at(t)`; constant default ones if absent.

    Raises:
        RobotMismatchError: the motion is of another robot.
        WrongObjectError, SizeError, NotFiniteError: an invalid argument.

    Source: `CalcConstrainedSystemVariables` of RBDL.
    """
    return asked(constraint_set, motion, tau, external, acceleration, rhs).system(motion)


def asked(
    constraint_set: ConstraintSet,
    motion: Motion,
    tau: TangentLike | None,
    external: Iterable[Force],
    acceleration: ArrayLike | None,
    rhs: RightHandSide | None,
    automatic: bool = False,
) -> Question:
    """A problem of dynamics, from what a user gave."""
    check_state(constraint_set, motion)
    force = np.zeros(motion.v.size) if tau is None else np.array(motion.posture.space.check_tangent(tau, "tau"))
    acting = () if isinstance(external, tuple) and not external else as_external(external)  # quick by default
    if acceleration is not None:
        acceleration = finite_vector(acceleration, constraint_set.size, "wanted acceleration of the rows")
    return Question(constraint_set, motion.q, motion.v, force, acting, acceleration, rhs, automatic)


class Question(NamedTuple):
    """A problem of dynamics: a state with its forces, from which everything else can be computed again.

    `automatic` says whether the method was left open.
    """

    constraint_set: ConstraintSet
    q: Vector
    v: Vector
    tau: Vector
    external: tuple[Force, ...]
    acceleration: Vector | None
    rhs: RightHandSide | None
    automatic: bool = False

    def pushed(self, motion: Motion) -> Vector:
        """Generalised forces of actuators and external forces (nv,)."""
        return self.tau + generalised(self.external, motion) if self.external else self.tau

    def system(self, motion: Motion | None = None) -> ConstrainedSystem:
        """The system at that state."""
        whole = self.constraint_set
        there = whole.robot.at(self.q, self.v) if motion is None else motion
        bias = there.bias_force()
        if self.external:
            bias -= generalised(self.external, there)
        rows = whole.rows_at(there, self.rhs)
        gamma = wanted(whole, rows, self.acceleration)
        return ConstrainedSystem(whole, there.q, there.v, self.tau, there.mass_matrix(), bias, rows, gamma)


def wanted(constraint_set: ConstraintSet, rows: SetRows, acceleration: Vector | None) -> Vector:
    """What the rows are asked for, gamma (size,): zero where they are off, or hold on one side."""
    gamma = -rows.drift
    gains = constraint_set.gains
    if gains is not None:
        gamma -= gains[0] * rows.position + gains[1] * rows.velocity
    if acceleration is not None:
        gamma += np.where(constraint_set.counts_in(rows), acceleration, 0.0)
    return gamma


def vanished(constraint_set: ConstraintSet, rows: SetRows, space: RowSpace) -> Indices:
    """Rows (indices) that are zero though they count: no joint moves them, always or at this pose."""
    zero = space.zero_rows
    return zero[constraint_set.counts_in(rows)[zero]] if zero.size else zero


def is_open(position: float, rate: float, v: Vector) -> bool:
    """Whether errors and rates make a mechanism open: by more than 1e-4, or by that part of the velocity (nv,)."""
    return not (position <= OPEN and rate <= OPEN * (1.0 + float(np.abs(v).max(initial=0.0))))


def open_words(constraint_set: ConstraintSet, position: Vector, velocity: Vector, v: Vector) -> list[str]:
    """The line of a result that says how far a state is off, from errors and rates (size,); none where it is closed."""
    stack = constraint_set.stack
    errors, rates = dict(stack.norms(position)), dict(stack.norms(velocity))
    off, rate = max(errors.values(), default=0.0), max(rates.values(), default=0.0)
    if not is_open(off, rate, v):
        return []
    by = errors if off > OPEN else rates
    worst = max(by, key=lambda name: by[name])
    words = f"'{worst}' is off by {errors[worst]:.3g}, its rate by {rates[worst]:.3g}"
    return [f"  at an open state, {words}: close it first (assemble_position, assemble_velocity)"]


def open_words_at(constraint_set: ConstraintSet, motion: Motion, rhs: RightHandSide | None = None) -> list[str]:
    """As `open_words`, of a state alone."""
    rows = constraint_set.rows_at(motion, rhs)
    return open_words(constraint_set, rows.position, rows.velocity, motion.v)


def status_of(found: Solution, constraint_set: ConstraintSet, rows: SetRows) -> DynamicsStatus:
    """The status of a solution, where rows that nothing moves are redundant."""
    if found.status is not DynamicsStatus.SOLVED or found.row_space.is_regular:
        return found.status
    zero = vanished(constraint_set, rows, found.row_space)
    return DynamicsStatus.RANK_DEFICIENT if zero.size else DynamicsStatus.SOLVED


def check_state(constraint_set: object, motion: object) -> None:
    """Refuse what is no constraint set, no motion, or of two robots."""
    if type(constraint_set) is ConstraintSet and type(motion) is Motion:
        if motion.posture.space is constraint_set.robot.space:
            return
    whole = expect(constraint_set, ConstraintSet, "constraint set of dynamics", A_SET)
    state = expect(motion, Motion, "state of dynamics", "a Motion: robot.at(q, v)")
    if not whole.robot.space.same_robot(state.posture.space):
        raise RobotMismatchError(
            "the motion is of another robot than the constraint set; give `constraint_set.robot.at(q, v)`"
        )
