"""Impacts: jumps of the velocity by impulses of constraints, by the methods of forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from liegroups.arguments import finite_number, finite_vector
from liegroups.arrays import ArrayLike, BoolVector, Vector

from ..dynamics.methods.status import DynamicsStatus
from ..errors import OptionError
from ..linear_algebra import norm
from ..loops import Axes, ConstraintSet, PointContact, SurfaceContact
from ..loops.set_rows import SetRows
from ..robot import Frame, Motion
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..solvers.result import ByJoint
from ..words import counted, first_names
from .methods.applicability import check_method
from .methods.articulated import solve_test_forces
from .methods.proximal import solve_proximal
from .methods.row_space import RowSpace, missed
from .methods.saddle_point import Solution, solve_direct, solve_null_space, solve_range_space
from .methods.status import Factorisation, Method, member
from .methods.system import check_state, open_words, status_of, vanished
from .methods.tree_sparsity import sparsity_at
from .multipliers import Body, pulling_contacts, pulling_words, wrench_of
from .row_forces import misses

AT_REST = 1e-6
"""Velocities below this are rounding of a robot at rest [m/s, rad/s]: rows contradict each other by none of theirs."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Impact(ByJoint):
    r"""A jump of the velocity: :math:`M (v^+ - v^-) = J^T \Lambda`.

    Attributes:
        velocity: v+ (nv,); the velocity before if there is no solution.
        impulses: Lambda (size,) [N s, N m s], on the successors (on the robot, for contacts).
        status: how it ended.
        method: the one that was used.
        energy_lost: kinetic energy before minus after, plus the work of moving targets on the robot [J]: never negative
            if all contacts have the same restitution and the closures were closed. With different restitutions Newton's
            law may gain energy.
        row_space: rank and redundant rows.
        constraint_set, q: as given.
        before: v- (nv,), as given.
        rows: the rows before, with their errors and rates.
        missed_rows: rows that are missed by more than 1e-9 of the velocities -> by how much [m/s, rad/s]: in a success
            these are rows that nearly repeat others, as in `ForwardDynamics.missed_rows`.
    """

    _joint_vectors: ClassVar[tuple[str, ...]] = ("velocity", "before")

    velocity: Vector
    impulses: Vector
    status: DynamicsStatus
    method: Method
    energy_lost: float
    row_space: RowSpace
    constraint_set: ConstraintSet
    q: Vector
    before: Vector
    rows: SetRows
    missed_rows: dict[str, float]

    @property
    def pulling(self) -> tuple[str, ...]:
        """Names of contacts with one normal whose impulse is negative: a contact that only pushes would open there."""
        return pulling_contacts(self.constraint_set, self.impulses)

    def impulses_of(self, which: RowOwner | str | int) -> Vector:
        """Impulses (k,) of one constraint: the object, its position, or its name."""
        return self.impulses[self.constraint_set.slice_of(which)]

    def wrench(
        self,
        which: RowOwner | str | int,
        on: Body = "successor",
        axes: Axes = Axes.LOCAL,
        frame: Frame | str | None = None,
    ) -> Vector:
        """Impulsive wrench (6,) of a contact or closure on one of its bodies [N s, N m s]; as `ForwardDynamics.wrench`.

        Raises:
            NoWrenchError: the constraint is neither a contact nor a closure.
        """
        return wrench_of(self.constraint_set, which, self.q, self.impulses, on, axes, frame)

    def _failure(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """The impact in words: status, method, energy, open state, contacts that pull, rank and redundant rows."""
        asked, rows, space = self.constraint_set, self.rows, self.row_space
        lines = [str(self), *self._opened, *pulling_words(asked, self.impulses, "N s")]
        lines.append(f"  {counted(len(space.G), 'row')}, rank {space.rank}")
        repeated = [asked.row_name(int(i)) for i in sorted([*space.redundant, *vanished(asked, rows, space)])]
        lines += [f"  redundant: {first_names(repeated)}"] if repeated else []
        lines += [f"  left out, and missed: {misses(self.missed_rows)}"] if self.missed_rows and self.success else []
        return "\n".join(lines)

    def __str__(self) -> str:
        pulls = f", pulling: {first_names(self.pulling)}" if self.pulling else ""
        opened = ", at an open state" if self._opened else ""
        return f"{self.status} (method {self.method.name}, energy lost {self.energy_lost:.3g} J{pulls}{opened})"

    @property
    def _opened(self) -> list[str]:
        """The line on a state that was open; rates of contacts are what an impact ends."""
        rates = np.where(_of_contacts(self.constraint_set), 0.0, self.rows.velocity)
        return open_words(self.constraint_set, self.rows.position, rates, self.before)

    def __repr__(self) -> str:
        return f"Impact({self.status.name}, {self.method.name})"


def impact(
    constraint_set: ConstraintSet,
    motion: Motion,
    *,
    after: ArrayLike | None = None,
    restitution: float | Mapping[Any, float] = 0.0,
    method: Method | str = Method.AUTOMATIC,
    factorisation: Factorisation | str = Factorisation.CHOLESKY,
    rhs: RightHandSide | None = None,
) -> Impact:
    r"""Solve :math:`M (v^+ - v^-) = J^T \Lambda` with velocity rows after the impact.

    By row :math:`J v^+ = v_{plus}`, or :math:`J v^+ - u = -e\,(J v^- - u)` with u the velocity of the target.

    Args:
        constraint_set: constraints that hold after the impact; rows that are off are ignored.
        motion: the state before, `robot.at(q, v)`.
        after: v_plus (size,), the velocity of each row after the impact; from the restitution if absent.
        restitution: e in [0, 1] of contacts, one number or by contact (as the key the object, its position, or its
            name); closures and other constraints have 0.
        method, factorisation: as in `forward_dynamics`; AUTOMATIC is DIRECT.
        rhs: right-hand sides with their rates, for targets that move.

    Raises:
        OptionError: a restitution outside [0, 1], for a constraint that is not a contact, given twice, or one number
            other than 0 for a set without contacts; both `after` and `restitution`.
        MethodError: a method that does not support the set.

    Source: `ComputeConstraintImpulses...` of RBDL, whose sign depends on the method; `impulseDynamics` of pinocchio.
    """
    check_state(constraint_set, motion)
    how: Method = member(Method, method, "method of dynamics")
    by: Factorisation = member(Factorisation, factorisation, "factorisation")
    if how is Method.AUTOMATIC:
        how = Method.DIRECT
    check_method(constraint_set, how)
    if rhs is None:
        constraint_set.say_time()
    rows, v = constraint_set.rows_at(motion, rhs), motion.v
    seen = rows.jacobian @ v
    target = seen - rows.velocity
    if after is None:
        wished = target - restitutions(constraint_set, restitution) * rows.velocity
    else:
        if restitution != 0.0:
            raise OptionError("impact: `after` already gives the velocities of the rows; leave `restitution` out")
        target = wished = finite_vector(after, constraint_set.size, "velocity of the rows after an impact")
    wished = np.where(constraint_set.counts_in(rows), wished, 0.0)
    found, how = _solve(constraint_set, motion, rows, wished - np.where(rows.jacobian.any(axis=1), seen, 0.0), how, by)
    new = v + found.acceleration
    lost = -0.5 * float(found.multipliers @ ((rows.jacobian @ new - target) + (seen - target)))
    status = status_of(found, constraint_set, rows)
    left = missed(rows.jacobian, new, wished, AT_REST + norm(v))
    named = {constraint_set.row_name(i): size for i, size in left.items()}
    space, q = found.row_space, motion.q
    return Impact(new, found.multipliers, status, how, lost, space, constraint_set, q, v, rows, named)


def _solve(
    constraint_set: ConstraintSet, motion: Motion, rows: Any, jump: Vector, how: Method, by: Factorisation
) -> tuple[Solution, Method]:
    H, G, none = motion.mass_matrix(), rows.jacobian, np.zeros(motion.v.size)
    size, rounding = AT_REST + norm(motion.v), constraint_set.rounding
    if how is Method.TEST_FORCES:
        return solve_test_forces(motion, none, G, jump, size, rounding), how
    if how is Method.PROXIMAL:  # at rest, with the forces that keep it there
        rest = constraint_set.robot.at(motion.q, none)
        found = solve_proximal(constraint_set, rest, rest.bias_force(), rows, jump, size)
        if found is not None:
            return found, how
        how = Method.DIRECT
    if how is Method.RANGE_SPACE:
        return solve_range_space(H, G, none, jump, by, sparsity=sparsity_at(motion), size=size, rounding=rounding), how
    if how is Method.NULL_SPACE:
        return solve_null_space(H, G, none, jump, by, size=size, rounding=rounding), how
    return solve_direct(H, G, none, jump, by, size=size, rounding=rounding), Method.DIRECT


def restitutions(constraint_set: ConstraintSet, restitution: float | Mapping[Any, float]) -> Vector:
    """Coefficient of each row (size,)."""
    e = np.zeros(constraint_set.size)
    if isinstance(restitution, Mapping):
        given: list[RowOwner] = []
        for which, number in restitution.items():
            owner = constraint_set[which]
            if owner in given:
                raise OptionError(f"restitution of '{owner.name}': it is given twice, under two keys")
            given.append(owner)
            if not isinstance(owner, PointContact | SurfaceContact) and number != 0.0:
                raise OptionError(f"restitution of '{owner.name}': expected 0 (it is not a contact), got {number}")
            e[constraint_set.slice_of(which)] = coefficient(number, f"restitution of '{owner.name}'")
        return e
    number = coefficient(restitution, "restitution of 'contacts'")
    contacts = _of_contacts(constraint_set)
    if number and not contacts.any():
        raise OptionError(f"restitution of contacts: expected 0 (the set has no contact), got {number}")
    return np.where(contacts, number, 0.0)


def _of_contacts(constraint_set: ConstraintSet) -> BoolVector:
    """Rows (size,) of contacts."""
    counts = [s.stop - s.start for s in constraint_set.stack.slices]
    kinds = [isinstance(owner, PointContact | SurfaceContact) for owner in constraint_set.stack]
    return np.repeat(np.array(kinds, dtype=np.bool_), counts)


def coefficient(candidate: float, what: str) -> float:
    """A restitution.

    Raises:
        OptionError: outside [0, 1].
    """
    number = finite_number(candidate, what)
    if not 0.0 <= number <= 1.0:
        raise OptionError(f"{what}: expected a number in [0, 1], got {number}")
    return number
