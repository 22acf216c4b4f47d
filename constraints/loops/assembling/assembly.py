"""Assembly: configurations and velocities that close a mechanism."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from liegroups.arguments import as_tolerance, expect
from liegroups.arrays import ArrayLike, TangentLike, Vector

from ...errors import ConstraintError, OptionError, UndefinedError
from ...exports import from_above
from ...keywords import FieldOf
from ...problem.arguments import costs, frozen_columns
from ...questions import TURN, ask_once
from ...robot.bounds import outside_bounds
from ...rows.right_hand_side import RightHandSide
from ...solvers import Projection, Status
from ...solvers.diagnosis.dependent_rows import Dependence, dependence
from ...solvers.newton.least_change import least_change
from ...words import budget, counted, first_names, larger_budget
from ..branch import BranchComparison
from ..closing.split_errors import SplitErrors, closed_but_for_redundant_rows, nearly_closed
from ..constraint_set import A_SET, ConstraintSet
from ..open_mechanism import OpenMechanismError
from .assembly_choice import AS_USUAL, DRIVEN, LISTED, AssemblyOptions, Driven, assembler
from .closing_result import ClosingResult
from .gaps import driven_words, gap_words
from .kept_branch import compared, driven_back

if TYPE_CHECKING:
    from ...certificates.certificate import Certificate

_log = logging.getLogger(__package__)

OPEN = 1e-4
"""A constraint that is off by more is not closed: the threshold of a projection, the loosest of what closes."""

UNBOUNDED = (
    f"{Status.CONVERGED.name}: The configuration satisfies all constraints; it was not asked to keep any bounds."
)
"""What is said of an assembly without bounds."""


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Assembly(ClosingResult):
    """Result of an assembly. On failure q is the best iterate; nothing is raised, and no input is changed.

    It is neither true nor false (`if assembly:` raises): `success` says whether q is closed.

    Attributes:
        projection: the result of the solver, with its trace.
        constraint_set: what was assembled.
        status: why it ended; LEFT_BRANCH if it closed, but left the branch of the start.
        branch: how start and end compare, if `stay_on_branch` was given.
        split: the errors in two parts, where redundant rows keep an error that no joint moves: q is closed to the
            tolerance in what joints can reduce, and to 1e-6 in the rest. None where all rows hold, and on failure.
    """

    projection: Projection
    constraint_set: ConstraintSet
    status: Status
    branch: BranchComparison | None
    split: SplitErrors | None

    def __init__(
        self,
        projection: Projection,
        constraint_set: ConstraintSet,
        status: Status,
        branch: BranchComparison | None = None,
        split: SplitErrors | None = None,
    ) -> None:
        fields = vars(self)  # half the time of a frozen dataclass's own `__init__`
        fields["projection"], fields["constraint_set"] = projection, constraint_set
        fields["status"], fields["branch"], fields["split"] = status, branch, split

    @property
    def q(self) -> Vector:
        """Configuration (nq,), read-only: closed, or the iterate of least residual."""
        return self.projection.q if self.split is None else self.split.q

    iterations = FieldOf[int]("projection.iterations", "Jacobians with their steps.")

    @property
    def residual(self) -> float:
        """Largest norm of the errors of one constraint at q."""
        return self.projection.residual if self.split is None else self.split.residual

    @property
    def iterates(self) -> tuple[Vector, ...]:
        """All iterates (nq,) of the solver, the start first."""
        return tuple(step.q for step in self.projection.trace or ())

    @property
    def residuals(self) -> tuple[float, ...]:
        """The residual at each of the iterates."""
        return tuple(step.residual for step in self.projection.trace or ())

    @property
    def errors(self) -> tuple[tuple[str, float], ...]:
        """Each constraint with the norm of its errors at q, the worst first."""
        problem, rhs = self.projection.problem, self.projection.rhs
        norms = problem.constraints.norms(problem.error(self.q, rhs=rhs))
        return tuple(sorted(norms, key=lambda entry: -entry[1]))

    @property
    def dependence(self) -> Dependence:
        """Rank, redundant rows with their mismatch, and how inconsistent the rows are, at q."""
        return dependence(self.projection.problem, self.q, self.projection.rhs)

    def certify(self, *, radius: float | None = None) -> Certificate:
        """Prove that an exact closed configuration is near q: see `constraints.certificates.certify`.

        Of redundant rows nothing is proved; those that a pin of a planar mechanism does not need are constant, and do
        not count. `mobility` of the certificate is proved with it; what is free to second order only is not shown.

        Args:
            radius: R that is wanted; by default as large as can be shown.

        Raises:
            OptionError, NotFiniteError: a radius that is no positive number.
        """
        return from_above("certify")(self.projection.problem, self.q, self.projection.rhs, radius=radius)

    def describe(self) -> str:
        """The result in words: status, errors by constraint, and on failure the rank and redundancy of the rows."""
        lines = [str(self)]
        lines += [f"  '{name}': error {norm:.3g}{self._in_metres(name)}" for name, norm in self.errors]
        lines += driven_words(self.projection)
        loose = [f"'{owner.name}'" for owner, _ in self.constraint_set.on if not owner.has_position]
        lines += [f"  not held here, for it has no anchor: {first_names(loose)}"] if loose else []
        lines += outside_bounds(self.violations)
        if self.branch is not None and not self.success:
            lines.append(f"  {self.branch.describe()}")
        if self.status not in (Status.CONVERGED, Status.UNDEFINED, Status.LEFT_BRANCH):
            found = self.dependence
            lines.append(
                f"  {counted(sum(found.rows), 'row')}, rank {sum(found.ranks)}; "
                f"redundant rows inconsistent by {found.inconsistency:.2g}"
            )
            lines += [f"    {r.row}: mismatch {r.mismatch:.2g}" for r in found.redundant if abs(r.mismatch) > 0.0]
        return "\n".join(lines)

    def _in_metres(self, name: str) -> str:
        """For an open closure, how far its ends are apart, and which body of its loop is too long."""
        problem, rhs = self.projection.problem, self.projection.rhs
        error = problem.error(self.q, name, rhs)
        return gap_words(problem.constraints[name], self.q, error, self.projection.options.threshold)

    def __str__(self) -> str:
        if self.split is not None and self.success:
            apart = self.split
            return (
                f"{Status.CONVERGED.name}: All that joints can move is closed (to {apart.reachable:.3g}); {apart.row}, "
                f"redundant, is off by {apart.unmoved:.3g}, as where angles or lengths of a file are rounded. "
                f"({counted(self.iterations, 'iteration')})"
            )
        used, most = counted(self.iterations, "iteration"), self.projection.options.max_iterations
        if not self.success and self.status is not Status.LEFT_BRANCH:
            used = budget(self.iterations, most)
            if self.iterations >= most:
                used += f"; more: `max_iterations={larger_budget(most)}`"
            used += f"; {self._hint}"
        kept = self.projection.problem.bounds
        bounded = bool((np.isfinite(kept.lower) | np.isfinite(kept.upper)).any())
        said = str(self.status) if bounded or not self.success else UNBOUNDED
        return f"{said} (residual {self.residual:.3g}{',' if self.success else ';'} {used})"

    @property
    def _hint(self) -> str:
        """What explains a failure, or what may."""
        nearly = nearly_closed(self.projection)
        return "`.projection.diagnose()` says whether it is difficult or impossible" if nearly is None else nearly.words


def assemble_position(
    constraint_set: ConstraintSet,
    q0: ArrayLike,
    *,
    weights: ArrayLike | Mapping[str, float] | None = None,
    driven: Driven = (),
    rhs: RightHandSide | None = None,
    stay_on_branch: float | None = None,
    before: ArrayLike | None = None,
    options: AssemblyOptions | None = None,
) -> Assembly:
    r"""Close a mechanism: a configuration near q0 that satisfies its constraints.

    Damped Newton steps of the projector, each at most 1.5 rad or m and of least cost; there are no restarts unless the
    options say so, so the result is near q0. Rotation errors are angles: a half turn is never a solution. Zeros in the
    rows of long chains are skipped. The constraint set keeps what it prepared for the same costs, driven joints and
    options, and the next assembly only solves.

    Args:
        constraint_set: the constraints to satisfy; those that are off, or have no position rows, are ignored.
        q0: start (nq,); returned unchanged if it is closed.
        weights: costs of motion (nv,), or by joint; a larger cost moves less. A joint of cost 0 moves freely: others
            move only if the free ones cannot close the mechanism alone.
        driven: joints (by name) or Segments that keep their value, bit for bit.
        rhs: right-hand sides from `constraint_set.rhs_at(t)`; the default ones if absent.
        stay_on_branch: how far a dependent coordinate may move [rad or m]. The sign of the determinant of the pivot
            block must then also stay as it was at the closed configuration before the driven joints moved: passing a
            dead centre, or ending in one, gives LEFT_BRANCH for any size of step.
        before: that closed configuration (nq,); refused if a constraint is off by more than 1e-4 there (with `rhs`, or
            for a constraint with a target, this is not known, and not checked). By default it is found from q0 by
            moving the driven joints alone: q0 may be the last result with new values of the driven joints. If they
            cannot close it, q0 itself is compared, and `branch.is_closed` is False: the sign may then have changed.
        options: bounds, tolerance, budget, restarts, engine.

    Raises:
        EmptyProblemError: no constraint that is on has position rows.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError, UnknownJointError, OptionError: an invalid argument.
        OpenMechanismError: `before` is open; names the constraint.

    Source: `CalcAssemblyQ` of RBDL, with the same defaults.
    """
    expect(constraint_set, ConstraintSet, "constraint set of an assembly", A_SET)
    step = None if stay_on_branch is None else as_tolerance(stay_on_branch, "step of stay_on_branch")
    if step is not None and TURN < step < np.inf:
        ask_once(f"stay_on_branch of {step:g} rad or m, more than a whole turn: is it in degrees?")
    space = constraint_set.robot.space
    held = driven if isinstance(driven, LISTED) else frozen_columns(space, driven, DRIVEN)
    how = AS_USUAL if options is None else expect(options, AssemblyOptions, "options of an assembly")
    projector = assembler(constraint_set, weights, held, how)
    problem = projector.problem
    if before is not None and step is None:
        raise OptionError("'before' is the closed configuration whose branch is kept: give 'stay_on_branch' too")
    earlier = None if before is None else np.array(space.check(before, "before"))
    if earlier is not None and rhs is None:
        _refuse_open(constraint_set, earlier)
    if rhs is None:
        constraint_set.say_time()
        sides = problem.rhs
    else:
        expect(rhs, RightHandSide, "right-hand sides of an assembly", "a RightHandSide (constraint_set.rhs_at)")
        sides = problem.rhs.taken_from(rhs, range(len(problem.constraints)))  # of those that count
    try:
        projection = projector.project(q0, sides)
    except ConstraintError:
        space.check(q0, "q0")  # refused by the name that it has here
        raise
    if step is None and projection.success:
        return Assembly(projection, constraint_set, projection.status)
    split = None if projection.success else closed_but_for_redundant_rows(projection, constraint_set.rounding)
    status = projection.status if split is None else Status.CONVERGED
    if step is None or status is not Status.CONVERGED:
        return Assembly(projection, constraint_set, status, None, split)
    if earlier is None:
        earlier = driven_back(projection, constraint_set.rounding)
    q = projection.q if split is None else split.q
    branch = compared(projector, projection, q, earlier, constraint_set.rounding)
    return Assembly(projection, constraint_set, status if branch.same(step) else Status.LEFT_BRANCH, branch, split)


def assemble_velocity(
    constraint_set: ConstraintSet,
    q: ArrayLike,
    v0: TangentLike,
    *,
    weights: ArrayLike | Mapping[str, float] | None = None,
    driven: Driven = (),
    rhs: RightHandSide | None = None,
) -> Vector:
    r"""The velocity nearest to v0 that keeps a mechanism closed: the exact weighted projection.

    .. math:: \min_v \tfrac12 (v - v_0)^T W (v - v_0) \quad \text{such that} \quad J v = \dot y

    with :math:`\dot y` the velocity of the targets. The method is rank-revealing: redundant rows and zero costs are not
    special cases. If the costs leave several solutions, the nearest to v0 is taken; contradictory rows are met in the
    least-squares sense.

    At a configuration that is not closed the rows belong to another mechanism: if a constraint is open by more than
    1e-4, for example after a failed projection, a warning in the log names it. Without `rhs` constraints with a target
    are not checked, because the time is unknown. If the rows contradict each other, or the velocities of driven joints,
    a warning says by how much (above 1e-4).

    Args:
        constraint_set: the constraints that hold.
        q: configuration (nq,), closed.
        v0: wanted velocity (nv,), or by joint, the others zero.
        weights: costs (nv,), or by joint; ones by default, 0 moves freely.
        driven: joints (by name) or Segments whose velocity stays as in v0, bit for bit.
        rhs: right-hand sides with their velocities from `constraint_set.rhs_at(t)`; at rest by default.

    Returns:
        Velocity (nv,).

    Raises:
        SizeError, DtypeError, NotFiniteError, UnknownJointError, OptionError: an invalid argument.
        UndefinedError: a row is not finite at q; names its constraint.

    Source: `CalcAssemblyQDot` of RBDL, which has no moving targets.
    """
    expect(constraint_set, ConstraintSet, "constraint set of an assembly", A_SET)
    space = constraint_set.robot.space
    v = np.array(space.check_tangent(v0, "v0"))
    (W, _), moving = costs(space, weights), np.flatnonzero(~frozen_columns(space, driven, "driven joints"))
    if rhs is None:
        constraint_set.say_time()
    _warn_if_open(constraint_set, q, rhs)
    error = constraint_set.velocity_error(q, v, rhs)
    J = constraint_set.jacobian(q, rhs)[:, moving]
    wrong = ~(np.isfinite(J).all(axis=1) & np.isfinite(error))
    if wrong.any():
        row = constraint_set.row_name(int(wrong.argmax()))
        raise UndefinedError(f"velocity of an assembly: row {row} is not finite at q")
    change = least_change(J, error, W[moving])
    who = "constraints" if moving.size == v.size else "driven joints and constraints"
    _warn_if_left(constraint_set, error - J @ change, f"{who} contradict each other: '%s' is off by %.3g")
    v[moving] -= change
    return v


def _refuse_open(constraint_set: ConstraintSet, before: Vector) -> None:
    """Refuse a configuration whose branch shall be kept, but which is on none."""
    norms = constraint_set.stack.norms(constraint_set.position_error(before))
    still = [entry for entry, owner in zip(norms, constraint_set.stack, strict=True) if owner.target is None]
    if any(not off <= OPEN for _, off in still):
        raise OpenMechanismError.of(still, "position", "'before' must be closed, as the q of an assembly")


def _warn_if_left(constraint_set: ConstraintSet, error: Vector, words: str, counts: Sequence[bool] = ()) -> None:
    """Log the constraint whose error is the largest, where that is no matter of tolerances."""
    norms = constraint_set.stack.norms(error)
    norms = [entry for entry, count in zip(norms, counts, strict=True) if count] if counts else norms
    name, worst = max(norms, key=lambda entry: entry[1], default=("", 0.0))
    if worst > OPEN:
        _log.warning(f"velocity of an assembly: {words}", name, worst)


def _warn_if_open(constraint_set: ConstraintSet, q: ArrayLike, rhs: RightHandSide | None) -> None:
    """Log the constraint that is open most."""
    counts = [rhs is not None or owner.target is None for owner in constraint_set.stack]
    words = "q is not closed, constraint '%s' is off by %.3g; take the q of assemble_position"
    _warn_if_left(constraint_set, constraint_set.position_error(q, rhs), words, counts)
