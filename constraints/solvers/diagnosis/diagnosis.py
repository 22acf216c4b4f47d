"""Why a projection failed: a diagnosis as data and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Matrix, Vector

from ...errors import NotFiniteError, UndefinedError
from ...exports import from_above
from ...linear_algebra import largest
from ...problem.description import MISSED, frozen_by_bounds, missed_by_outputs
from ...problem.problem import Problem
from ...problem.resolution import dof_names
from ...ranges import whole_number
from ...robot.bounds import Violation
from ...rows.right_hand_side import RightHandSide
from ...words import larger_budget
from ..compiled.engine import CompiledEngine
from ..newton.engine import NewtonEngine
from ..newton.linear_step import DampedCholesky, capped
from ..projection.projection import Projection
from ..result import Verdict
from ..status import Status
from .conflict import Conflict, Finder, Kind, Trial, error_norm
from .dependent_rows import Dependence, dependence
from .text import suggestions_of, text_of

OURS = (repr(NewtonEngine()), repr(CompiledEngine()))
"""The engines whose algorithm the trials of a diagnosis have too."""


class ConstraintNorm(NamedTuple):
    """How far a constraint is from holding.

    Attributes:
        constraint: its name.
        position: in `problem.constraints`.
        norm: of its scaled errors; infinite where it has no value.
        optional: whether it need not hold.
    """

    constraint: str
    position: int
    norm: float
    optional: bool


class Undefined(NamedTuple):
    """A function that has no value, or no Jacobian, at a configuration that was met.

    Attributes:
        constraint: name of the constraint.
        position: in `problem.constraints`.
        q: the configuration.
        reason: what the function said.
    """

    constraint: str
    position: int
    q: Vector
    reason: str


@final
@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Verdict):
    """What is known about a projection; `str(diagnosis)` is the text.

    It is neither true nor false (`if diagnosis:` raises); `success` says whether the projection succeeded.

    Attributes:
        status, residual, threshold: of the projection.
        errors: constraints by the norm of their errors, largest first.
        undefined: functions without value at the end of the projection or at its next step.
        conflict: a minimal set of constraints, bounds and frozen dofs that no projection satisfied together; None if
            all can be satisfied, or after a success.
        solution: a configuration that satisfies all within its bounds, if one was found although the projection
            failed.
        leaving: how far `without_bounds` is outside its bounds.
        without_bounds: a configuration that satisfies all constraints, but not all bounds; None if none was found or
            looked for.
        dependence: rank and singular values by level, redundant rows; None if a function has no value.
        active_bounds: joints at a bound or outside it, and joints that bounds freeze, in words.
        explicits: names of the computed constraints that the unsatisfied or conflicting ones depend on.
        dofs: number of dofs that may move.
        trials: all projections that were made to find the conflict.
        doubtful_jacobians: unsatisfied constraints whose Jacobian differs from finite differences, and by how much;
            infinite where it is not finite.
        engine: the engine that solved it, in words, if the trials used another one; else empty.
        more_iterations: a larger budget for the projection, if it had restarts; 0 if it had none.
        rounding: norm of the errors from rounding alone; a threshold below it is not reliable.
        frozen: names of the frozen dofs, driven joints of an assembly among them.
        questions: numbers of the case that look like degrees or millimetres (`projection.questions`).
        proof: why no configuration within the bounds satisfies all, in lengths, where these prove it; else empty.
    """

    status: Status
    residual: float
    threshold: float
    errors: tuple[ConstraintNorm, ...]
    undefined: tuple[Undefined, ...]
    conflict: Conflict | None
    solution: Vector | None
    leaving: tuple[Violation, ...]
    without_bounds: Vector | None
    dependence: Dependence | None
    active_bounds: tuple[str, ...]
    explicits: tuple[str, ...]
    dofs: int
    trials: tuple[Trial, ...]
    rounding: float = 0.0
    doubtful_jacobians: tuple[tuple[str, float], ...] = ()
    engine: str = ""
    more_iterations: int = 0
    frozen: str = ""
    questions: tuple[str, ...] = ()
    proof: str = ""

    @property
    def is_below_rounding(self) -> bool:
        """Whether all constraints were satisfied to rounding, but not to a smaller threshold."""
        met = [t.residual for t in self.trials if t.reached and len(t.members) == len(self.trials[0].members)]
        return not self.success and bool(met) and self.threshold < min(met) <= self.rounding

    @property
    def success(self) -> bool:
        """Whether the projection succeeded."""
        return self.status.is_success

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What would help, in sentences: only what was tried or follows from the rows."""
        return suggestions_of(self)

    def __str__(self) -> str:
        return text_of(self)

    __repr__ = __str__


def diagnose(projection: Projection, *, iterations: int = 400, trials: int = 100, seed: int = 0) -> Diagnosis:
    """Find out why a projection failed, or describe its solution.

    After a failure, sets of constraints are projected again: up to `trials` projections of `iterations` each. Nothing
    depends on a clock, so the same projection gives the same diagnosis.

    Args:
        projection: a failed one, or a success.
        iterations: budget of each trial. "Cannot be satisfied" means: not with this budget.
        trials: largest number of trials.
        seed: seed of the restarts of the trials.

    Raises:
        WrongObjectError: not a projection.
        OptionError: a budget that is not a positive whole number.
    """
    expect(projection, Projection, "projection to be diagnosed")
    for name, value, least in (("iterations", iterations, 1), ("trials", trials, 1), ("seed", seed, 0)):
        whole_number(value, f"{name} of a diagnosis", least)
    problem = projection.problem
    q = projection.q if np.isfinite(projection.q).all() else projection.start  # a computed output may be none
    rhs = problem.check_rhs(projection.rhs)
    undefined = _undefined(projection, rhs)
    finder = Finder(projection, iterations, trials, seed)
    conflict = None if projection.success else finder.find()
    complete = [t for t in finder.trials if t.reached and set(finder.members) <= set(t.members)]
    free = _without_bounds(finder)
    errors = tuple(sorted(_errors(problem, q, rhs), key=lambda entry: -entry.norm))
    involved = {entry.position for entry in errors if entry.norm > projection.options.threshold and not entry.optional}
    if conflict is not None:
        involved |= {m.position for m in conflict.members if m.kind is Kind.CONSTRAINT}
    try:
        rows = dependence(problem, problem.resolution.resolved(q, rhs), rhs)
    except (UndefinedError, NotFiniteError, np.linalg.LinAlgError):
        rows = None
    return Diagnosis(
        projection.status,
        projection.residual,
        projection.options.threshold,
        errors,
        undefined,
        conflict,
        complete[0].solution if complete else None,
        () if free is None else problem.bounds.violations(free),
        free,
        rows,
        (*projection.active_bounds, *filter(None, [frozen_by_bounds(problem, that_matter=True)])),
        _explicits(problem, involved),
        int((~problem.frozen).sum()),
        tuple(finder.trials),
        finder.rounding,
        () if projection.success else tuple(_doubtful(problem, q, rhs, involved)),
        "" if repr(projection.engine) in OURS else repr(projection.engine),
        larger_budget(projection.options.max_iterations) if projection.options.restarts else 0,
        dof_names(problem.space, np.flatnonzero(problem.frozen).tolist()),
        projection.questions,
        "" if conflict is None else from_above("beyond_lengths")(problem, rhs),
    )


def _without_bounds(finder: Finder) -> Vector | None:
    """A configuration that satisfies all but bounds."""
    needed = {member for member in finder.members if member.kind is not Kind.BOUNDS}
    found = [t.solution for t in finder.trials if t.reached and needed <= set(t.members) < set(finder.members)]
    return found[0] if found else None


def _errors(problem: Problem, q: Vector, rhs: RightHandSide) -> Iterator[ConstraintNorm]:
    """The norm of each constraint's errors."""
    optional = problem.levels[-1].owners if problem.optional_last else ()
    for i, owner in enumerate(problem.constraints):
        yield ConstraintNorm(owner.name, i, error_norm(problem, owner, q, rhs)[0], owner in optional)


def _doubtful(problem: Problem, q: Vector, rhs: RightHandSide, positions: Iterable[int]) -> Iterator[tuple[str, float]]:
    """Constraints whose Jacobian is not what differences along the manifold say, with two steps that agree."""
    for i in positions:
        owner = problem.constraints.owners[i]
        try:
            block, rows = problem.constraints.slices[i], problem.rows(q, rhs)
            J, violated = rows.jacobian[block], rows.error[block] != 0.0
            slopes = [_differences(problem, q, i, rhs, step) for step in (1e-5, 1e-4)]
        except UndefinedError:
            continue
        if not np.isfinite(J).all():
            if np.isfinite(rows.error[block]).all():
                yield owner.name, inf
            continue
        size = 1.0 + largest(slopes[0])
        is_smooth = largest(slopes[0] - slopes[1]) < 1e-3 * size
        off = largest((slopes[0] - J)[violated])
        if is_smooth and off > 1e-2 * size:
            yield owner.name, off


def _differences(problem: Problem, q: Vector, position: int, rhs: RightHandSide, step: float) -> Matrix:
    """Jacobian of the errors of one constraint by central differences."""
    space, columns = problem.space, list[Vector]()
    for direction in np.eye(space.nv):
        ahead, behind = (problem.error(space.integrate(q, s * direction), position, rhs) for s in (step, -step))
        columns.append((ahead - behind) / (2.0 * step))
    return np.stack(columns, axis=1)


def _undefined(projection: Projection, rhs: RightHandSide) -> tuple[Undefined, ...]:
    """Functions without value at the result, with its outputs computed, or after the next step from there."""
    problem, q = projection.problem, projection.q

    def at(place: Callable[[], Vector]) -> tuple[Undefined, ...]:
        try:
            there = place()
        except UndefinedError:
            return tuple(_maps_without_value(problem, q, rhs))
        reasons = ((k, owner, error_norm(problem, owner, there, rhs)[1]) for k, owner in enumerate(problem.constraints))
        return tuple(Undefined(owner.name, k, there, reason) for k, owner, reason in reasons if reason)

    found = at(lambda: q) or at(lambda: problem.resolution.resolved(q, rhs))
    if not found and projection.status is Status.UNDEFINED:
        found = tuple(_without_slopes(problem, q, rhs)) or at(lambda: _next(projection, rhs))
    reason = f"its computed outputs do not satisfy it; {MISSED}"
    missed = () if found or projection.success else missed_by_outputs(problem, q, rhs, projection.options.threshold)
    return (*found, *(Undefined(owner.name, problem.constraints.index(owner), q, reason) for owner in missed))


def _without_slopes(problem: Problem, q: Vector, rhs: RightHandSide) -> Iterator[Undefined]:
    """Constraints that have a value at a configuration, and a Jacobian that is not finite."""
    q = problem.resolution.resolved(q, rhs)
    J = problem.rows(q, rhs).jacobian
    for i, (owner, block) in enumerate(zip(problem.constraints, problem.constraints.slices, strict=True)):
        if not np.isfinite(J[block]).all():
            yield Undefined(owner.name, i, q, "its Jacobian is not finite")


def _maps_without_value(problem: Problem, q: Vector, rhs: RightHandSide) -> Iterator[Undefined]:
    """The first explicit map that has no value, with the outputs of those before it computed."""
    q = q.copy()
    for explicit in problem.resolution.explicits:
        try:
            q[explicit.outputs.q_indices] = rhs.map_of(explicit).value(q)
        except UndefinedError as error:
            yield Undefined(explicit.name, problem.constraints.index(explicit), q, str(error))
            return


def _next(projection: Projection, rhs: RightHandSide) -> Vector:
    """The configuration after a full step on all rows at once, within bounds."""
    problem, options = projection.problem, projection.options
    q = problem.resolution.resolved(projection.q, rhs)
    rows = problem.rows(q, rhs)
    J = np.ascontiguousarray(rows.jacobian @ problem.resolution_jacobian(problem.at(q), rhs))
    step = DampedCholesky(len(J)).solve(rows.error, J, options.damping * rows.merit + 1e-12)
    return problem.resolution.resolved(problem.bounds.clip(problem.space.integrate(q, capped(step, options.cap))), rhs)


def _explicits(problem: Problem, positions: Iterable[int]) -> tuple[str, ...]:
    """Names of the computed constraints that some constraints are, or depend on."""
    wanted = np.zeros(problem.space.nv, dtype=np.bool_)
    chosen = {id(problem.constraints.owners[i]) for i in positions}
    for i in positions:
        wanted |= problem.constraints.owners[i].columns
    names: list[str] = []
    for explicit in reversed(problem.resolution.explicits):
        if id(explicit) in chosen or wanted[explicit.outputs.v_indices].any():
            wanted |= explicit.map.columns
            names.append(explicit.name)
    return tuple(reversed(names))
