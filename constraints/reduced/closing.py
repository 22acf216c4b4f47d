"""Closing a mechanism by its dependent coordinates alone: Newton's iteration, with the others held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from liegroups.arguments import finite_number, natural_number
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ..errors import ConstraintError, OptionError, UndefinedError
from ..keywords import names_checked
from ..linear_algebra import largest
from ..loops.assembling.gaps import gap_words
from ..loops.assembling.iterates import DrawnIterates
from ..loops.constraint_set import ConstraintSet
from ..loops.mobility import CLOSED
from ..robot.bounds import Violation, outside_bounds
from ..rows.right_hand_side import RightHandSide
from ..rows.target import Target
from ..solvers.options import LEAST_THRESHOLD, below_rounding
from ..solvers.status import StatusEnum
from ..words import budget, counted, first_names, larger_budget
from .lu import LU as LU, factorised as factorised

if TYPE_CHECKING:
    from .coordinates import MinimalCoordinates

FARTHEST = 1e6
"""A step that is longer [rad or m] leads to where float64 has no digits left for a residual."""

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


class ClosingStatus(StatusEnum, successes=("CONVERGED",)):
    """How closing by the dependent coordinates ended: each value is a sentence for humans."""

    CONVERGED = "All rows hold."
    MAX_ITERATIONS = "The iteration limit was reached before the rows hold."
    SINGULAR = "An iterate is a dead point (J_v is singular); other coordinates must be independent there."
    REDUNDANT_ROWS_OPEN = "The independent rows hold, but redundant ones do not: the loops are on another branch."
    UNDEFINED = "A function has no value at an iterate."
    DIVERGED = "The iterates became too large to compute with."


@final
@dataclass(frozen=True, eq=False, repr=False)
class Closing(DrawnIterates):
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
    status: ClosingStatus
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
    def worst(self) -> str:
        """Name of the constraint with the largest error at q; empty if a function has no value."""
        return next((name for name, _ in self.errors), "")

    @property
    def jumps(self) -> bool:
        """Whether the iterates jump from one side of a dead point (det J_v = 0) to the other, and come no nearer.

        Then the held coordinates are beyond the dead point, where nothing closes, and more iterations do not help.
        """
        half = len(self.residuals) // 2
        falls = min(self.residuals[half:], default=0.0) < FALLS * min(self.residuals[:half], default=np.inf)
        return {1.0, -1.0} <= {*self.signs[half:]} and not falls

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Coordinates of q outside the bounds of the robot, which closing ignores."""
        return self.constraint_set.robot.bounds.violations(self.q)

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
        if self.status is ClosingStatus.MAX_ITERATIONS:
            most = self.iterations
            if self.jumps:
                return f"{self.status} (residual {self.residual:.3g}, all {used} used; {BEYOND})"
            used = f"{budget(most, most)}; more: `max_iterations={larger_budget(most)}`"
        return f"{self.status} (residual {self.residual:.3g}, {used})"

    def __repr__(self) -> str:
        return f"Closing({self.status.name}, residual {self.residual:.3g}, {counted(self.iterations, 'iteration')})"


class DeadPointError(ConstraintError):
    """J_v is singular: the dependent coordinates do not follow from the others; `rcond` is its reciprocal condition."""

    def __init__(self, rcond: float, dependent: tuple[str, ...]) -> None:
        self.rcond, self.dependent = rcond, dependent
        super().__init__(
            f"dead point: J_v is singular (reciprocal condition {rcond:.2g}) in {first_names(dependent)}; "
            "make new coordinates there, `minimal_coordinates(constraint_set, q)`"
        )


class Step(NamedTuple):
    """One step of Newton on the dependent coordinates.

    Attributes:
        q: the next iterate (nq,).
        change: of the dependent coordinates (r,) [rad or m].
        lu: of -J_v at the iterate before.
    """

    q: Vector
    change: Vector
    lu: LU


def newton_step(
    coordinates: MinimalCoordinates, q: Vector, rhs: RightHandSide, start: Vector | None = None
) -> tuple[float, float, Step | None]:
    r"""One step :math:`v \leftarrow v \oplus (-J_v^{-1} h)`, u and c held.

    Args:
        coordinates: what is held, what moves.
        q: iterate (nq,).
        rhs: right-hand sides.
        start: of the iterates, which counts for split balls and free joints; q by default.

    Returns:
        Largest error of all rows at q, that of the rows h, and the step; None where J_v is singular, or the step is
        longer than 1e6.
    """
    error, J = position_rows(coordinates, q, rhs)
    h = error[coordinates.partition.rows]
    return largest(error), largest(h), stepped(coordinates, q if start is None else start, q, h, J)[0]


def position_rows(coordinates: MinimalCoordinates, q: Vector, rhs: RightHandSide) -> tuple[Vector, Matrix]:
    """Errors of all rows (size,) that are on, and the Jacobian of the rows h (r, nv)."""
    constraint_set = coordinates.constraint_set
    point = constraint_set.robot.at(q)  # held until all is copied
    error, J = constraint_set.position_rows(point, rhs)
    return error, J[coordinates.partition.rows]


def stepped(coordinates: MinimalCoordinates, start: Vector, q: Vector, h: Vector, J: Matrix) -> tuple[Step | None, LU]:
    """The step from an iterate, None where J_v is singular or it is longer than 1e6, and the factors of -J_v."""
    chart = coordinates.chart
    lu = factorised(chart.columns(start, q, J))
    if lu.is_singular:
        return None, lu
    change = lu.solve(h)
    if not largest(change) <= FARTHEST:
        return None, lu
    return Step(chart.moved(start, q, change), change, lu), lu


@names_checked("options are named: tolerance=, max_iterations=, rhs=, t=")
def close_position(
    coordinates: MinimalCoordinates,
    q: ArrayLike,
    *,
    tolerance: float = 1e-12,
    max_iterations: int = 50,
    t: float = 0.0,
    rhs: RightHandSide | None = None,
) -> Closing:
    r"""Close a mechanism by its dependent coordinates; independent and driven ones keep their values, bit for bit.

    .. math:: v_{k+1} = v_k \oplus \left(-J_v^{-1}\,h\right), \qquad J_v = J[h, v]

    Plain Newton: no step limit, no bounds, and it may end on another branch than the start; use `assemble_position` for
    far starts. Joints driven in time first get their values at t.

    If only some columns of a ball or free joint are dependent, the others cannot be held bit for bit: the logarithm of
    its change from the start has no component along the held columns.

    Args:
        coordinates: those held, and those solved for.
        q: start (nq,); returned unchanged if it is closed.
        tolerance: largest error of the rows h [m or rad], 1e-15 or more; all rows must then hold to 1e-6 (redundant
            rows of a file agree only to its decimals).
        max_iterations: budget.
        t: time of driven joints and of targets of rows [s].
        rhs: right-hand sides; those at t by default.

    Returns:
        A value with the iterates; failure is a status, never an exception.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError, OptionError: an invalid argument, or an invalid motion of a
            driven joint.

    Source: `mbs_close_geo` of Robotran.
    """
    if not LEAST_THRESHOLD <= finite_number(tolerance, "tolerance of a closing"):
        raise OptionError(below_rounding("tolerance of a closing", tolerance))
    most = natural_number(max_iterations, "iteration limit of a closing")
    time = finite_number(t, "time of a closing")
    sides = coordinates.rhs_at(time) if rhs is None else rhs
    start = driven_at(coordinates, np.array(coordinates.constraint_set.robot.check(q)), time)
    way = _Way(coordinates, sides, start, tolerance)
    with np.errstate(over="ignore", invalid="ignore"):
        status = way.to_the_end(most)
    iterates = tuple(read_only(each) for each in way.iterates)
    figures = tuple(way.residuals), tuple(way.sizes), tuple(way.signs)
    return Closing(iterates[-1], status, iterates, *figures, coordinates, sides)


@final
class _Way:
    """The iterates of a closing, as they are found."""

    def __init__(self, coordinates: MinimalCoordinates, rhs: RightHandSide, start: Vector, tolerance: float) -> None:
        self._coordinates, self._rhs, self._tolerance = coordinates, rhs, tolerance
        self.iterates = [start]
        self.residuals: list[float] = []
        self.sizes: list[float] = []
        self.signs: list[float] = []

    def to_the_end(self, most: int) -> ClosingStatus:
        """Steps until the rows hold, or something else ends it; at most so many."""
        while True:
            ended = self._one_more(len(self.sizes) == most)
            if ended is not None:
                return ended

    def _one_more(self, is_last: bool) -> ClosingStatus | None:
        """One step; None if it goes on."""
        q, coordinates = self.iterates[-1], self._coordinates
        try:
            error, J = position_rows(coordinates, q, self._rhs)
        except UndefinedError:
            self.residuals.append(np.inf)
            return ClosingStatus.UNDEFINED
        off, h = largest(error), error[coordinates.partition.rows]
        self.residuals.append(off if off < np.inf else np.inf)
        if not (off < np.inf and np.isfinite(J).all()):
            return ClosingStatus.DIVERGED
        if largest(h) <= self._tolerance:
            return ClosingStatus.CONVERGED if off <= max(CLOSED, self._tolerance) else ClosingStatus.REDUNDANT_ROWS_OPEN
        if is_last:
            return ClosingStatus.MAX_ITERATIONS
        step, lu = stepped(coordinates, self.iterates[0], q, h, J)
        self.signs.append(lu.sign)
        if step is None:
            return ClosingStatus.SINGULAR if lu.is_singular else ClosingStatus.DIVERGED
        self.sizes.append(largest(step.change))
        self.iterates.append(step.q)
        return None


def driven_at(coordinates: MinimalCoordinates, q: Vector, t: float) -> Vector:
    """The configuration with the joints that are driven in time at their places at t."""
    if not coordinates.targets:
        return q
    robot, moved = coordinates.constraint_set.robot, q.copy()
    for joint, target in coordinates.targets.items():
        moved[robot.slice_of(joint)] = place_of(coordinates.constraint_set, joint, target, t)
    return moved


def place_of(constraint_set: ConstraintSet, joint: str, target: Target, t: float) -> Vector:
    """Where a driven joint is at t, checked: its entries of q."""
    space = constraint_set.robot.segments(joint).space
    return space.check(target.at(t), f"motion of the driven joint '{joint}' at t = {t:g}")
