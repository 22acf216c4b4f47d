"""A minimal set of constraints, bounds and frozen dofs that cannot be satisfied together, by trying without each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import inf, tau
from typing import NamedTuple, final

import numpy as np

from liegroups import Segments
from liegroups.arrays import BoolVector, Vector
from liegroups.frozen import read_only
from liegroups.segments import entries_of

from ...errors import UndefinedError
from ...problem.merging import explicits_as_rows
from ...problem.problem import Problem
from ...robot import Bounds
from ...rows.right_hand_side import RightHandSide
from ...rows.row_owner import RowOwner
from ...rows.stack import Stack
from ...rows.stacking import Order, stack_rows
from ...workspace import Workspace
from ..engine import Engine
from ..newton.engine import NewtonEngine
from ..options import Options
from ..projection.engines import engine_of_trials
from ..projection.projection import Projection
from ..projection.projector import Projector
from .rounding import rounding_of

DAMPING_OF_BOLD_TRIES, BOLD_PATIENCE = 1e-4, 8
"""Damping and patience of a descent that finds far solutions of rows that nearly depend on each other."""


class Kind(Enum):
    """Kind of a member of a conflict; the value describes it."""

    CONSTRAINT = "a constraint"
    BOUNDS = "the bounds of a joint"
    FROZEN = "the frozen dofs"


class Member(NamedTuple):
    """A constraint, the bounds of one joint, or the frozen dofs (all of them together).

    Attributes:
        kind: which of these.
        name: name of the constraint or the joint; "dofs" for frozen dofs.
        position: position of the constraint in `problem.constraints`, or of the joint in `space.leaves()`; else 0.
    """

    kind: Kind
    name: str
    position: int


class Trial(NamedTuple):
    """Whether some members could be satisfied together: found by projection, within a budget.

    Attributes:
        members: what was tried; after a success, everything that the solution satisfies.
        solution: a configuration that satisfies them; None if none was found.
        tries: number of descents from the best iterate and from restarts.
        iterations: total of all tries.
        residual: the smallest one found.
        outside: how far the configuration with this residual is outside bounds of the members [rad or m].
    """

    members: tuple[Member, ...]
    solution: Vector | None
    tries: int
    iterations: int
    residual: float
    outside: float

    @property
    def reached(self) -> bool:
        """Whether a configuration was found that satisfies the members."""
        return self.solution is not None


@final
@dataclass(frozen=True, eq=False)
class Conflict:
    """Members that no projection satisfied together, while each smaller set was satisfied.

    That a set *can* be satisfied is certain: a configuration was found. That it *cannot* is only the result of `trial`.

    Attributes:
        members: constraints, bounds of joints, frozen dofs.
        trial: the tries that did not satisfy them together.
        without: for each member the trial that satisfied all others; None if there is none.
        within: the tries of its constraints with all bounds and frozen dofs of the problem, members or not; None if
            there were none. Only its residual tells how near they come.
    """

    members: tuple[Member, ...]
    trial: Trial
    without: tuple[Trial | None, ...]
    within: Trial | None = None

    @property
    def is_minimal(self) -> bool:
        """Whether the others can be satisfied without any one member; false if the budget of trials ended."""
        return None not in self.without


@final
class Finder:
    """Looks for a conflict in the mandatory constraints of a failed projection.

    A deletion filter: leave a member out; if the others still cannot be satisfied, it stays out. Constraints are left
    out first, so that what is out of reach of the bounded joints alone is no conflict of it with another one; then
    bounds and frozen dofs. Groups that are likely not needed (constraints that the best iterate satisfies; all bounds,
    frozen dofs, bounds that it does not touch) are tried before single members.

    Args:
        projection: what failed.
        iterations: budget of each trial.
        trials: budget of trials.
        seed: of the restarts.

    Attributes:
        trials: all that were made, in order.
        rounding: of errors at the best iterate; a residual of this counts as none, whatever the threshold.
    """

    def __init__(self, projection: Projection, iterations: int, trials: int, seed: int) -> None:
        self._problem, self._q = projection.problem, projection.q
        self._rhs = self._problem.check_rhs(projection.rhs)
        self.rounding = rounding_of(self._problem, self._q, self._rhs)
        threshold = max(projection.options.threshold, self.rounding)  # less tells nothing of a conflict
        self._options = Options(threshold=threshold, wrap=projection.options.wrap, max_iterations=iterations, seed=seed)
        self._engine = engine_of_trials(self._problem, projection.options, projection.engine)
        self._limit = trials
        self.trials: list[Trial] = []
        self.members = tuple(_members(self._problem, self._options.wrap))

    # Trials.

    def trial(self, members: Sequence[Member]) -> Trial:
        """Try to satisfy some members; what was tried before is not tried again."""
        wanted = set(members)
        for done in self.trials:
            if wanted <= set(done.members) if done.reached else wanted == set(done.members):
                return done
        made = self._tried(tuple(members))
        self.trials.append(made)
        return made

    def _tried(self, members: tuple[Member, ...]) -> Trial:
        problem = self._problem
        owners = [problem.constraints.owners[m.position] for m in members if m.kind is Kind.CONSTRAINT]
        bounds = self._bounds(members)
        frozen = problem.frozen if any(m.kind is Kind.FROZEN for m in members) else np.zeros_like(problem.frozen)
        if not owners:
            return self._still(members, bounds, frozen)
        space = problem.space
        part = Problem(
            problem.robot or space,
            _computed_first(owners, problem),
            bounds,
            weights=problem.weights,
            frozen=Segments.coordinates(space, np.flatnonzero(frozen)),
        )
        rhs = RightHandSide(part.constraints, np.concatenate([self._rhs.of(owner) for owner in part.constraints]))
        projections = self._projections(part, rhs)
        best = next(projections)
        tries, iterations = best.restarts + 1, best.iterations
        while not best.success and (made := next(projections, None)) is not None:
            tries, iterations = tries + made.restarts + 1, iterations + made.iterations
            if made.success or made.residual < best.residual:
                best = made
        if best.success:
            solution = self._turned(best.q, part)
            return Trial(self._satisfied(solution), solution, tries, iterations, best.residual, 0.0)
        outside = max((abs(v.amount) for v in best.violations), default=0.0)
        return Trial(members, None, tries, iterations, best.residual, outside)

    def _projections(self, part: Problem, rhs: RightHandSide) -> Iterator[Projection]:
        """Go on from the best iterate; start again elsewhere; follow that to its end; bold steps from the iterate.

        Bounds of computed dofs guide none of these: at last these dofs are solved for too, which counts if it succeeds.
        """
        whole = self._options.max_iterations
        quarter = max(whole // 4, 1)
        yield self._projected(part, self._q, rhs, replace(self._options, restarts=False, max_iterations=quarter))
        if whole < 4:
            return
        wide = replace(self._options, max_iterations=whole - 2 * quarter)
        search = self._projected(part, self._q, rhs, wide)
        yield search
        eighth = replace(self._options, restarts=False, max_iterations=max(quarter // 2, 1))
        yield self._projected(part, search.q, rhs, eighth)
        bold = replace(eighth, damping=DAMPING_OF_BOLD_TRIES, patience_count=BOLD_PATIENCE)
        yield self._projected(part, self._q, rhs, bold)
        if part.explicits.owners:
            fewer = replace(self._options, max_iterations=quarter)
            found = self._projected(explicits_as_rows(part), self._q, rhs, fewer, NewtonEngine())
            if found.success and part.is_satisfied(found.q, rhs=rhs, threshold=self._options.threshold):
                yield found

    def _projected(
        self, part: Problem, q: Vector, rhs: RightHandSide, options: Options, engine: Engine | None = None
    ) -> Projection:
        """A projection that nobody else sees: it asks nothing about its numbers."""
        projector = Projector(part, options, engine or self._engine)
        return projector.project_valid(q.copy(), part.check_rhs(rhs), Workspace())

    def _turned(self, q: Vector, part: Problem) -> Vector:
        """Joints that may turn, by whole turns as near to the middle of the given bounds as they come."""
        space, bounds, turned = self._problem.space, self._problem.bounds, q.copy()
        for column, i in zip(space.vector_v, space.vector_q, strict=True):
            if part.wraps[column] and np.isfinite([bounds.lower[i], bounds.upper[i]]).all():
                turned[i] -= tau * np.round((q[i] - 0.5 * (bounds.lower[i] + bounds.upper[i])) / tau)
        return read_only(turned)

    def _satisfied(self, q: Vector) -> tuple[Member, ...]:
        """All members that a configuration satisfies."""
        bounds, leaves, options = self._problem.bounds, self._problem.space.leaves(), self._options

        def holds(member: Member) -> bool:
            if member.kind is Kind.CONSTRAINT:
                return self._error(q, member) <= options.threshold
            if member.kind is Kind.BOUNDS:
                part = leaves[member.position].q
                return bool(((q[part] >= bounds.lower[part]) & (q[part] <= bounds.upper[part])).all())
            return bool((q[self._held(self._problem.frozen)] == self._q[self._held(self._problem.frozen)]).all())

        return tuple(member for member in self.members if holds(member))

    def _held(self, frozen: BoolVector) -> BoolVector:
        """Entries (nq,) of the dofs that are frozen."""
        return ~entries_of(self._problem.space, ~frozen)

    def _still(self, members: tuple[Member, ...], bounds: Bounds, frozen: BoolVector) -> Trial:
        """A trial without constraints: what is frozen is within its bounds or not."""
        q = np.where(self._held(frozen), self._q, bounds.clip(self._q))
        outside = max((abs(violation.amount) for violation in bounds.violations(q)), default=0.0)
        return Trial(members, q if bounds.contains(q) else None, 1, 0, 0.0, outside)

    def _bounds(self, members: Sequence[Member]) -> Bounds:
        """The bounds of the problem without those of joints that are members and were left out."""
        mine = {m.position for m in members if m.kind is Kind.BOUNDS}
        bounds = self._problem.bounds
        lower, upper = bounds.lower.copy(), bounds.upper.copy()
        for member in self.members:
            if member.kind is Kind.BOUNDS and member.position not in mine:
                leaf = self._problem.space.leaves()[member.position]
                lower[leaf.q], upper[leaf.q] = -np.inf, np.inf
        return Bounds(self._problem.space, lower, upper)

    # The filter.

    def find(self) -> Conflict | None:
        """A minimal conflict; None where the constraints can be satisfied after all."""
        if self.trial(self.members).reached:
            return None
        kept, wider = self.members, list[tuple[Member, ...]]()
        for group, may_be_the_last in self._groups():
            rest = tuple(member for member in kept if member not in group)
            bare = not any(member.kind is Kind.CONSTRAINT for member in rest)
            if len(rest) == len(kept) or (bare and not may_be_the_last) or len(self.trials) >= self._limit:
                continue
            trial = self.trial(rest)
            if not trial.reached:
                wider.append(kept)
                kept = rest
            while trial.reached and set(kept) <= set(trial.members):  # it was judged wrongly
                if not wider:
                    return None
                kept = wider.pop()
        for member in kept:  # does it end the conflict, or are there others?
            if len(self.trials) < self._limit:
                self.trial([other for other in self.members if other != member])
        return self._conflict(kept)

    def _conflict(self, kept: tuple[Member, ...]) -> Conflict:
        """The members that are left, with the trials that tell."""
        together = next(trial for trial in self.trials if set(trial.members) == set(kept) and not trial.reached)
        solved = [trial for trial in self.trials if trial.reached]
        found = [next((t for t in solved if set(kept) - {member} <= set(t.members)), None) for member in kept]
        whole = {m for m in self.members if m.kind is not Kind.CONSTRAINT or m in kept}
        within = next((t for t in self.trials if set(t.members) == whole and not t.reached), None)
        return Conflict(kept, together, tuple(found), within)

    def _groups(self) -> Iterator[tuple[tuple[Member, ...], bool]]:
        """What is left out together, and whether that may leave no constraint; that of largest error comes last."""
        rows = [m for m in self.members if m.kind is Kind.CONSTRAINT]
        bounds = tuple(m for m in self.members if m.kind is Kind.BOUNDS)
        single = [(m,) for m in sorted(rows, key=lambda m: self._error(self._q, m))]
        yield tuple(m for m in rows if self._error(self._q, m) <= self._options.threshold), False
        yield from ((one, False) for one in single)
        yield bounds, True
        yield tuple(m for m in self.members if m.kind is Kind.FROZEN), True
        yield tuple(m for m in bounds if not self._is_active(m)), True
        yield from ((one, True) for one in (*single, *((m,) for m in self.members if m.kind is not Kind.CONSTRAINT)))

    def _error(self, q: Vector, member: Member) -> float:
        return error_norm(self._problem, self._problem.constraints.owners[member.position], q, self._rhs)[0]

    def _is_active(self, member: Member) -> bool:
        q, bounds = self._problem.space.leaves()[member.position].q, self._problem.bounds
        return bool(((self._q[q] <= bounds.lower[q]) | (self._q[q] >= bounds.upper[q])).any())


def error_norm(problem: Problem, owner: RowOwner, q: Vector, rhs: RightHandSide) -> tuple[float, str]:
    """Norm of a constraint's errors at q; infinite, with the reason, where it has no value.

    Args:
        problem: of the constraint.
        owner: the constraint.
        q: configuration (nq,).
        rhs: right-hand sides.
    """
    point = problem.at(q)  # held until the norm is known
    try:
        norm = stack_rows(Stack([owner]), point, Order.POSITION, rhs, jacobian=False).residual
    except UndefinedError as error:
        return inf, str(error)
    return norm, "" if norm < inf else "its error is not finite"


def _members(problem: Problem, wrap: bool) -> Iterator[Member]:
    """Everything that a projection of a problem must respect."""
    optional = problem.levels[-1].owners if problem.optional_last else ()
    for i, owner in enumerate(problem.constraints):
        if owner not in optional and owner.rows.mask.any():
            yield Member(Kind.CONSTRAINT, owner.name, i)
    matter = (problem.columns | problem.frozen) & ~(problem.wraps if wrap else np.zeros_like(problem.wraps))
    bounded = np.isfinite(problem.bounds.tangent_lower) | np.isfinite(problem.bounds.tangent_upper)
    entries = np.isfinite(problem.bounds.lower) | np.isfinite(problem.bounds.upper)
    for i, leaf in enumerate(problem.space.leaves()):
        posed = not leaf.space.is_flat and bool(entries[leaf.q].any())  # positions that no single dof moves
        if (matter & (bounded | posed))[leaf.v].any():
            yield Member(Kind.BOUNDS, leaf.name, i)
    if problem.frozen.any():
        yield Member(Kind.FROZEN, "dofs", 0)


def _computed_first(owners: Sequence[RowOwner], problem: Problem) -> list[RowOwner]:
    """The same constraints, those that are computed first, so that no other one takes their dofs."""
    computed = problem.explicits.owners
    return [*(o for o in computed if o in owners), *(o for o in owners if o not in computed)]
