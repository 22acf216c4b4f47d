"""The methods of constrained dynamics as objects: what each takes, how it solves, and in which order they are tried.

A method gets both equations at a state and gives a solution, or None where the next one has to decide. To add one:
a class here, a member of `Method`, a place in `TRIED`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from math import isfinite
from typing import NamedTuple

import numpy as np

from liegroups.arrays import Vector

from ...linear_algebra import dot, is_finite
from ...loops import ConstraintSet
from ...loops.set_rows import SetRows
from ...robot import Motion
from ...robot.model.inertia import is_depth_first
from ...workspace import kept_with
from ..laws.external_force import generalised
from . import sparse_solution
from .articulated import solve_test_forces
from .pinocchio_rows import OUT_OF_ORDER, why_not_its_rows, why_not_spanned
from .proximal import solve_at_once, solve_proximal
from .row_space import in_balance
from .saddle_point import Solution, solve_direct, solve_null_space, solve_range_space
from .sparse_solution import is_long_and_sparse, solve_sparse
from .status import DynamicsStatus, Factorisation, Method, MethodError
from .system import ConstrainedSystem, Question, status_of, wanted
from .tree_sparsity import sparsity_at

LONG = 45
"""Degrees of freedom from which on the sparse method is quicker than the direct one, on chains with as many loops."""


class Equations(NamedTuple):
    r"""Both equations at a state: :math:`M x = c + J^T \lambda`, :math:`J x = \gamma`.

    Attributes:
        constraint_set: whose rows.
        motion: the state, for M and what it is made of.
        force: c (nv,); of accelerations tau - bias, of an impact zero.
        rows: of the set at the state.
        gamma: (size,).
        size: of what gamma was computed from, by which rounding is judged.
    """

    constraint_set: ConstraintSet
    motion: Motion
    force: Vector
    rows: SetRows
    gamma: Vector
    size: float


class Answer(NamedTuple):
    """Result of a method; `solution` where it knows ranks and free motions, `system` where it assembled one."""

    acceleration: Vector
    multipliers: Vector
    status: DynamicsStatus
    solution: Solution | None = None
    system: ConstrainedSystem | None = None


class DynamicsMethod(ABC):
    """A method of constrained dynamics; `kind` is its member of `Method`."""

    kind: Method

    def refusals(self, constraint_set: ConstraintSet) -> Iterator[tuple[str, str]]:
        """Names of constraints, of those that are on, that it does not take, each with the reason."""
        yield from ()

    def suits(self, constraint_set: ConstraintSet) -> bool:
        """Whether AUTOMATIC tries it for a set."""
        return True

    @abstractmethod
    def answer(self, question: Question, motion: Motion, by: Factorisation) -> Answer | None:
        """Accelerations and multipliers; None where another method has to decide.

        Args:
            question: what was asked, checked.
            motion: the state.
            by: factorisation of the dense methods.
        """


class AtOnceMethod(DynamicsMethod):
    """Pinocchio's constraint dynamics, for contacts with its rows: one call, and a check of what it gave."""

    kind = Method.PROXIMAL

    def suits(self, constraint_set: ConstraintSet) -> bool:
        """As `DynamicsMethod.suits`: rows that are pinocchio's, and not stabilised."""
        return constraint_set.gains is None and not why_not_its_rows(constraint_set)

    def answer(self, question: Question, motion: Motion, by: Factorisation) -> Answer | None:
        """As `DynamicsMethod.answer`, where nothing is wanted of the rows but zero."""
        if question.acceleration is not None or question.rhs is not None:
            return None
        found = solve_at_once(question.constraint_set, motion, question.pushed(motion))
        return None if found is None else Answer(*found, DynamicsStatus.SOLVED)


class SparseMethod(DynamicsMethod):
    """In the coordinates of all bodies."""

    kind = Method.SPARSE

    def refusals(self, constraint_set: ConstraintSet) -> Iterator[tuple[str, str]]:
        """As `DynamicsMethod.refusals`."""
        return sparse_solution.why_not(constraint_set)

    def suits(self, constraint_set: ConstraintSet) -> bool:
        """As `DynamicsMethod.suits`: long chains with many loops."""
        return constraint_set.robot.nv >= LONG and is_long_and_sparse(constraint_set)

    def answer(self, question: Question, motion: Motion, by: Factorisation) -> Answer | None:
        """As `DynamicsMethod.answer`; rows that contradict each other the direct method meets best."""
        wanted, rhs = question.acceleration, question.rhs
        found = solve_sparse(question.constraint_set, motion, question.pushed(motion), acceleration=wanted, rhs=rhs)
        if found.status is DynamicsStatus.INCONSISTENT:
            return None
        if not found.is_solved:
            return _none(question, found.status)
        return Answer(found.acceleration, found.multipliers, found.status)


class OfEquations(DynamicsMethod):
    """A method that solves both equations as they stand, and so impacts too."""

    @abstractmethod
    def solve(self, equations: Equations, by: Factorisation) -> Solution | None:
        """The solution; None where another method has to decide."""

    def answer(self, question: Question, motion: Motion, by: Factorisation) -> Answer | None:
        """As `DynamicsMethod.answer`."""
        system = question.system(motion)
        inertia = float(system.mass_matrix.trace())
        if not (is_finite(system.force) and isfinite(inertia)):  # the diagonal of a mass matrix bounds all of it
            return _none(question, DynamicsStatus.NOT_FINITE)
        size = float(system.v @ system.v) + in_balance(inertia, system.bias)
        whole, rows = question.constraint_set, system.rows
        found = self.solve(Equations(whole, motion, system.force, rows, system.gamma, size), by)
        if found is None:
            return None
        return Answer(found.acceleration, found.multipliers, status_of(found, whole, rows), found, system)


class TestForcesMethod(OfEquations):
    """By articulated bodies, which need no mass matrix."""

    kind = Method.TEST_FORCES

    def refusals(self, constraint_set: ConstraintSet) -> Iterator[tuple[str, str]]:
        """As `DynamicsMethod.refusals`."""
        for owner, _ in () if constraint_set.is_of_contacts else constraint_set.on:
            if not owner.is_contact:
                yield owner.name, "it is not a contact; test forces act between one body and the world"

    def suits(self, constraint_set: ConstraintSet) -> bool:
        """As `DynamicsMethod.suits`: sets of contacts."""
        return constraint_set.is_of_contacts

    def solve(self, equations: Equations, by: Factorisation) -> Solution:
        """As `OfEquations.solve`."""
        whole, motion, force, rows, gamma, size = equations
        return solve_test_forces(motion, force, rows.jacobian, gamma, size, whole.rounding)

    def answer(self, question: Question, motion: Motion, by: Factorisation) -> Answer:
        """As `DynamicsMethod.answer`, without the mass matrix."""
        whole, v, force = question.constraint_set, motion.v, question.tau - motion.bias_force()
        if question.external:
            force += generalised(question.external, motion)
        rows = whole.rows_at(motion, question.rhs)
        gamma = wanted(whole, rows, question.acceleration)
        found = solve_test_forces(motion, force, rows.jacobian, gamma, dot(v, v), whole.rounding)
        return Answer(found.acceleration, found.multipliers, status_of(found, whole, rows), found)


class ProximalMethod(OfEquations):
    """Pinocchio's constraint dynamics, for rows that its own span."""

    kind = Method.PROXIMAL

    def refusals(self, constraint_set: ConstraintSet) -> Iterator[tuple[str, str]]:
        """As `DynamicsMethod.refusals`."""
        if not is_depth_first(constraint_set.robot.model):
            yield (*constraint_set.names, constraint_set.robot.name)[0], OUT_OF_ORDER
            return
        for owner, _ in constraint_set.on:
            reason = why_not_spanned(owner)
            if reason:
                yield owner.name, reason

    def solve(self, equations: Equations, by: Factorisation) -> Solution | None:
        """As `OfEquations.solve`."""
        whole, motion, force, rows, gamma, size = equations
        return solve_proximal(whole, motion, force + motion.bias_force(), rows, gamma, size)


class RangeSpaceMethod(OfEquations):
    """By the sparsity of the mass matrix, which is that of the tree."""

    kind = Method.RANGE_SPACE

    def solve(self, equations: Equations, by: Factorisation) -> Solution:
        """As `OfEquations.solve`."""
        whole, motion, force, rows, gamma, size = equations
        given = motion.mass_matrix(), rows.jacobian, force, gamma, by
        return solve_range_space(*given, sparsity=sparsity_at(motion), size=size, rounding=whole.rounding)


class DenseMethod(OfEquations):
    """A method of the bare algebra, which sees matrices alone."""

    def __init__(self, kind: Method, solve: Callable[..., Solution]) -> None:
        self.kind, self._solve = kind, solve

    def solve(self, equations: Equations, by: Factorisation) -> Solution:
        """As `OfEquations.solve`."""
        whole, motion, force, rows, gamma, size = equations
        return self._solve(motion.mass_matrix(), rows.jacobian, force, gamma, by, size=size, rounding=whole.rounding)


DIRECT = DenseMethod(Method.DIRECT, solve_direct)
TEST_FORCES, SPARSE, PROXIMAL = TestForcesMethod(), SparseMethod(), ProximalMethod()

OF_IMPACTS: dict[Method, tuple[OfEquations, ...]] = {
    Method.DIRECT: (DIRECT,),
    Method.RANGE_SPACE: (RangeSpaceMethod(),),
    Method.NULL_SPACE: (DenseMethod(Method.NULL_SPACE, solve_null_space),),
    Method.TEST_FORCES: (TEST_FORCES,),
    Method.PROXIMAL: (PROXIMAL, DIRECT),
}
TRIED: dict[Method, tuple[DynamicsMethod, ...]] = {
    **OF_IMPACTS,
    Method.SPARSE: (SPARSE, DIRECT),
    Method.AUTOMATIC: (AtOnceMethod(), TEST_FORCES, SPARSE, DIRECT),
}
"""Which methods are tried, in order; the last one takes any set."""


@kept_with
def suiting(constraint_set: ConstraintSet) -> tuple[DynamicsMethod, ...]:
    """The methods that AUTOMATIC tries for a set, in order; found once."""
    return tuple(method for method in TRIED[Method.AUTOMATIC] if method.suits(constraint_set))


def check_method(constraint_set: ConstraintSet, method: DynamicsMethod) -> None:
    """Refuse a method that does not take the set.

    Raises:
        MethodError: names the first constraint that it does not take, and why.
    """
    for name, reason in method.refusals(constraint_set):
        raise MethodError(method.kind, name, reason)


def _none(question: Question, status: DynamicsStatus) -> Answer:
    return Answer(np.zeros(question.v.size), np.zeros(question.constraint_set.size), status)
