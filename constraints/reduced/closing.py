"""Closing a mechanism by its dependent coordinates alone: Newton's iteration, with the others held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from liegroups.arguments import finite_number, natural_number
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ..errors import ConstraintError, UndefinedError
from ..linear_algebra import largest
from ..loops.assembling.closing_result import ClosingResult
from ..loops.assembling.gaps import gap_words
from ..loops.closing.corrector import Corrector, Ending, Record, Trust
from ..loops.closing.lu import LU, factorised
from ..loops.constraint_set import ConstraintSet
from ..loops.mobility import CLOSED
from ..robot.bounds import outside_bounds
from ..rows.right_hand_side import RightHandSide
from ..solvers.options import as_threshold
from ..solvers.status import StatusEnum
from ..words import budget, counted, first_names, larger_budget

if TYPE_CHECKING:
    from .coordinates import MinimalCoordinates

FULL_STEPS = Trust()
"""A closing trusts every step: a start that is too far is seen from its iterates."""

FALLS = 0.1
"""Iterates come nearer where the least residual of the second half is below this part of that of the first."""

BEYOND = (
    "they jump across a dead point, det J_v changes its sign, and come no nearer: the held coordinates are likely "
    "beyond it, and more iterations do not help"
)
"""What is said where the iterates of a closing jump."""

ADVICE = (
    "a start that is nearer, smaller changes of the held coordinates, other independent coordinates, or "
    "assemble_position(constraint_set, q, driven=...), whose steps are limited"
)
"""What may help a closing that failed."""


class ReducedStatus(StatusEnum, successes=("CONVERGED",)):
    """How Newton's iteration in minimal coordinates ended: each value is a sentence for humans.

    `MinimalCoordinates.close` and `equilibrium` end in one of these.
    """

    CONVERGED = "All rows hold, and all forces balance where an equilibrium is sought."
    MAX_ITERATIONS = "The iteration limit was reached before the rows held, or before the forces balanced."
    DEAD_POINT = "An iterate is a dead point (J_v is singular); other coordinates must be independent there."
    REDUNDANT_ROWS_OPEN = "The independent rows hold, but redundant ones do not: the loops are on another branch."
    DIVERGED = "The iterates became too large to compute with."
    NOT_CLOSED = "The loops do not close at a point of the search."
    SINGULAR = "No force holds some coordinates, and something pushes them."
    STALLED = "No step reduces the residual."
    UNDEFINED = "A row or a force has no value at an iterate."


_STATUS = {
    Ending.CLOSED: ReducedStatus.CONVERGED,
    Ending.OTHER_ROWS_OPEN: ReducedStatus.REDUNDANT_ROWS_OPEN,
    Ending.BUDGET: ReducedStatus.MAX_ITERATIONS,
    Ending.SINGULAR: ReducedStatus.DEAD_POINT,
    Ending.INFINITE: ReducedStatus.DIVERGED,
}


@final
@dataclass(frozen=True, eq=False, repr=False)
class Closing(ClosingResult):
    """Result of closing by the dependent coordinates: configuration, status and iterates; also after a failure.

    It is neither true nor false (`if closing:` raises): `success` says whether q is closed.

    Attributes:
        q: (nq,) the last iterate, finite; the start is never overwritten.
        status: how it ended.
        iterates: configurations, the start first (with the joints driven in time at their values).
        residuals: largest error of all rows at each iterate [m or rad]; infinite if a function has no value.
        step_sizes: largest change of a dependent coordinate at each step [rad or m].
        signs: sign of det J_v at each iterate from which a step was tried.
        coordinates: those held, and those solved for.
        rhs: right-hand sides of the rows.
    """

    q: Vector
    status: ReducedStatus
    iterates: tuple[Vector, ...]
    residuals: tuple[float, ...]
    step_sizes: tuple[float, ...]
    signs: tuple[float, ...]
    coordinates: MinimalCoordinates
    rhs: RightHandSide = field(repr=False)

    @property
    def iterations(self) -> int:
        """Number of steps."""
        return len(self.step_sizes)

    @property
    def residual(self) -> float:
        """Largest error of all rows at q [m or rad]."""
        return self.residuals[-1]

    @property
    def constraint_set(self) -> ConstraintSet:
        """The constraint set to be closed."""
        return self.coordinates.constraint_set

    @property
    def errors(self) -> tuple[tuple[str, float], ...]:
        """Each constraint with the norm of its errors at q, the worst first; empty if a function has no value."""
        rows = self.constraint_set
        try:
            norms = rows.stack.norms(rows.position_error(self.q, self.rhs))
        except UndefinedError:
            return ()
        return tuple(sorted(norms, key=lambda entry: -entry[1]))

    @property
    def jumps(self) -> bool:
        """Whether the iterates jump from one side of a dead point (det J_v = 0) to the other, and come no nearer.

        Then the held coordinates are beyond the dead point, where nothing closes, and more iterations do not help.
        """
        half = len(self.residuals) // 2
        falls = min(self.residuals[half:], default=0.0) < FALLS * min(self.residuals[:half], default=np.inf)
        return {1.0, -1.0} <= {*self.signs[half:]} and not falls

    def describe(self) -> str:
        """The result in words: status, what was solved for, errors by constraint, coordinates outside their bounds."""
        lines = [str(self), f"  solved for: {first_names(self.coordinates.dependent) or 'nothing'}"]
        lines += [f"  '{name}': error {norm:.3g}{self._gap(name)}" for name, norm in self.errors]
        lines += outside_bounds(self.violations)
        if not self.success:
            lines.append("  " + ADVICE)
        return "\n".join(lines)

    def _gap(self, name: str) -> str:
        """For an open closure, how far its ends are apart, and which body of its loop is too long."""
        rows = self.constraint_set
        error = rows.position_error(self.q, self.rhs)[rows.slice_of(name)]
        return "" if self.success else gap_words(rows[name], self.q, error, CLOSED)

    def __str__(self) -> str:
        used = counted(self.iterations, "iteration")
        if self.status is ReducedStatus.MAX_ITERATIONS:
            most = self.iterations
            if self.jumps:
                return f"{self.status} (residual {self.residual:.3g}, all {used} used; {BEYOND})"
            used = f"{budget(most, most)}; more: `max_iterations={larger_budget(most)}`"
        return f"{self.status} (residual {self.residual:.3g}, {used})"


class DeadPointError(ConstraintError):
    """J_v is singular: the dependent coordinates do not follow from the others; `rcond` is its reciprocal condition."""

    def __init__(self, rcond: float, dependent: tuple[str, ...]) -> None:
        self.rcond, self.dependent = rcond, dependent
        super().__init__(
            f"dead point: J_v is singular (reciprocal condition {rcond:.2g}) in {first_names(dependent)}; "
            "make new coordinates there, `minimal_coordinates(constraint_set, q)`"
        )


class ClosingStep(NamedTuple):
    """One step of Newton on the dependent coordinates.

    Attributes:
        q: the next iterate (nq,).
        change: of the dependent coordinates (r,) [rad or m].
        lu: of -J_v at the iterate before.
    """

    q: Vector
    change: Vector
    lu: LU


@final
class DependentColumns:
    """Columns of a `Corrector`: the dependent coordinates move by :math:`-J_v^{-1} h`, u and c are held.

    Args:
        coordinates: what is held, what moves.
        start: first iterate (nq,), from which the columns of a split ball or free joint are counted.
        rhs: right-hand sides.

    Attributes:
        lu: of -J_v where the last step was tried.
    """

    lu: LU

    def __init__(self, coordinates: MinimalCoordinates, start: Vector, rhs: RightHandSide) -> None:
        self._set, self._chart, self._h = coordinates.constraint_set, coordinates.chart, coordinates.partition.rows
        self._start, self._rhs = start, rhs

    def rows(self, q: Vector) -> tuple[Vector, Matrix]:
        """Errors of all rows (size,) that are on, and the Jacobian of the rows h (r, nv)."""
        point = self._set.robot.at(q)  # held until all is copied
        error, J = self._set.position_rows(point, self._rhs)
        return error, J[self._h]

    def off(self, error: Vector, J: Matrix) -> float:
        """Largest error of the rows h."""
        return largest(error[self._h])

    def step(self, q: Vector, error: Vector, J: Matrix) -> tuple[Vector | None, float]:
        """The change (r,), None where J_v is singular, and the sign of its determinant."""
        self.lu = factorised(self._chart.columns(self._start, q, J))
        return None if self.lu.is_singular else self.lu.solve(error[self._h]), self.lu.sign

    def moved(self, q: Vector, step: Vector) -> Vector:
        """What is held keeps its bits."""
        return self._chart.moved(self._start, q, step)


def newton_step(
    coordinates: MinimalCoordinates, q: Vector, rhs: RightHandSide, start: Vector
) -> tuple[ClosingStep | None, LU]:
    """One step from an iterate, None where J_v is singular or it is longer than 1e6; and the factors of -J_v."""
    columns = DependentColumns(coordinates, start, rhs)
    change, _ = columns.step(q, *columns.rows(q))
    if change is None or not largest(change) <= FULL_STEPS.farthest:
        return None, columns.lu
    return ClosingStep(columns.moved(q, change), change, columns.lu), columns.lu


def closing(
    coordinates: MinimalCoordinates,
    q: ArrayLike,
    tolerance: float,
    max_iterations: int,
    t: float,
    rhs: RightHandSide | None,
) -> Closing:
    """As `MinimalCoordinates.close`."""
    trust = Trust(
        as_threshold(tolerance, "tolerance of a closing"),
        natural_number(max_iterations, "iteration limit of a closing"),
    )
    time = finite_number(t, "time of a closing")
    sides = coordinates.rhs_at(time) if rhs is None else rhs
    start = driven_at(coordinates, np.array(coordinates.constraint_set.robot.check(q)), time)
    columns, record = DependentColumns(coordinates, start, sides), Record(start)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            status = _STATUS[Corrector(columns.rows, columns).newton(start, trust, record).ending]
    except UndefinedError:
        record.residuals.append(np.inf)
        status = ReducedStatus.UNDEFINED
    iterates = tuple(read_only(each) for each in record.iterates)
    figures = tuple(record.residuals), tuple(record.step_sizes), tuple(record.signs)
    return Closing(iterates[-1], status, iterates, *figures, coordinates, sides)


def driven_at(coordinates: MinimalCoordinates, q: Vector, t: float) -> Vector:
    """The configuration with the joints that are driven in time at their places at t."""
    if not coordinates.targets:
        return q
    robot, placed = coordinates.constraint_set.robot, q.copy()
    for joint, target in coordinates.targets.items():
        what = f"motion of the driven joint '{joint}' at t = {t:g}"
        placed[robot.slice_of(joint)] = robot.segments(joint).space.check(target.at(t), what)
    return placed
