"""Closing a mechanism by its dependent coordinates alone: Newton's iteration, with the others held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from scipy.linalg import lapack

from liegroups.arguments import natural_number
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import ConstraintError, OptionError, UndefinedError
from ..keywords import names_checked
from ..linear_algebra import is_finite, largest
from ..loops.mobility import CLOSED
from ..rows.right_hand_side import RightHandSide
from ..rows.stacking import Order, stack_rows
from ..solvers.options import LEAST_THRESHOLD, below_rounding
from ..solvers.result import Result
from ..solvers.status import StatusEnum
from ..words import counted

if TYPE_CHECKING:
    from .coordinates import MinimalCoordinates

_getrf: Any = lapack.dgetrf
_getrs: Any = lapack.dgetrs
_gecon: Any = lapack.dgecon


class ClosingStatus(StatusEnum):
    """How closing by the dependent coordinates ended: each value is a sentence for humans."""

    CONVERGED = "All rows hold."
    MAX_ITERATIONS = "The iteration limit was reached before the rows hold."
    SINGULAR = "J_v is singular on the way: a dead point; other coordinates must be independent there."
    REDUNDANT_ROWS_OPEN = "The rows that count hold, but redundant ones do not: it is another way of closing these."
    UNDEFINED = "A function has no value on the way."
    DIVERGED = "The iterates left what can be computed with."

    @property
    def is_success(self) -> bool:
        """Whether the mechanism is closed."""
        return self is ClosingStatus.CONVERGED


class LU(NamedTuple):
    """The factors of -J_v, of a closed state or an iterate: computed once, used at position, velocity, acceleration.

    Attributes:
        factors, pivots: as LAPACK's getrf.
        rcond: reciprocal condition in the 1-norm, 0 where it is singular.
        sign: of det J_v, 0 where it is singular.
    """

    factors: Matrix
    pivots: Any
    rcond: float
    sign: float

    def solve(self, b: Any) -> Any:
        r""":math:`(-J_v)^{-1} b`."""
        return _getrs(self.factors, self.pivots, b)[0] if b.size else np.zeros(b.shape)

    def solve_transposed(self, b: Any) -> Any:
        r""":math:`(-J_v)^{-T} b`."""
        return _getrs(self.factors, self.pivots, b, trans=1)[0] if b.size else np.zeros(b.shape)


def factorised(J_v: Matrix) -> LU:
    """LU of -J_v (r, r), with its condition and the sign of det J_v."""
    n = len(J_v)
    if n == 0:
        return LU(np.zeros((0, 0)), np.zeros(0, dtype=np.int32), 1.0, 1.0)
    negative = -J_v
    factors, piv, info = _getrf(negative)
    if info != 0:
        return LU(factors, piv, 0.0, 0.0)
    rcond = float(_gecon(factors, float(np.abs(negative).sum(axis=0).max()))[0])
    swaps = int((piv != np.arange(n)).sum())
    negatives = int((np.diag(factors) < 0.0).sum())
    return LU(factors, piv, rcond, -1.0 if (swaps + negatives + n) % 2 else 1.0)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Closing(Result):
    """A closing by the dependent coordinates: where it ended, how, and the way.

    Attributes:
        q: (nq,) the last iterate; the start is never overwritten.
        status: how it ended.
        iterates: configurations, the start first.
        residuals: largest error of all rows at each iterate.
        step_sizes: largest change of a dependent coordinate at each step.
        signs: sign of det J_v at each iterate where a step was computed.
        coordinates: what was held.
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
    def success(self) -> bool:
        """Whether q is closed."""
        return self.status.is_success

    @property
    def iterations(self) -> int:
        """Number of steps."""
        return len(self.step_sizes)

    @property
    def residual(self) -> float:
        """Largest error of all rows at q."""
        return self.residuals[-1]

    def or_raise(self) -> Closing:
        """The closing itself if it succeeded. Raises NotClosedError, which carries it."""
        if not self.success:
            raise NotClosedError(self)
        return self

    def __str__(self) -> str:
        return f"{self.status} (residual {self.residual:.3g}, {counted(self.iterations, 'iteration')})"

    def __repr__(self) -> str:
        return f"Closing({self.status.name}, residual {self.residual:.3g}, {counted(self.iterations, 'iteration')})"


class NotClosedError(ConstraintError):
    """The dependent coordinates do not close the mechanism; carries the result: `closing`."""

    def __init__(self, closing: Closing) -> None:
        self.closing = closing
        super().__init__(str(closing))


class Step(NamedTuple):
    """One step of Newton on the dependent coordinates.

    Attributes:
        q: the next iterate (nq,).
        change: of the dependent coordinates (r,).
        lu: of -J_v at the iterate before.
    """

    q: Vector
    change: Vector
    lu: LU


def newton_step(coordinates: MinimalCoordinates, q: Vector, rhs: RightHandSide) -> tuple[float, float, Step | None]:
    r"""One step :math:`v \leftarrow v \oplus (-J_v^{-1} h)`, u and c held.

    Returns:
        Largest error of all rows at q, that of the rows h, and the step; None where J_v is singular.
    """
    constraint_set, parts = coordinates.constraint_set, coordinates.partition
    robot = constraint_set.robot
    stacked = stack_rows(constraint_set.stack, robot.at(q), Order.POSITION, rhs)
    error, J = stacked.error, stacked.jacobian
    off = largest(error)
    h, v = parts.rows, parts.dependent
    lu = factorised(J[np.ix_(h, v)])
    if lu.sign == 0.0:
        return off, largest(error[h]), None
    change = lu.solve(error[h])
    whole = np.zeros(robot.nv)
    whole[v] = change
    return off, largest(error[h]), Step(robot.space.integrate(q, whole), change, lu)


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

    Plain Newton: no step limit, no bounds, and the branch that it ends on is the nearest in its own sense;
    `assemble_position` is for far starts. Joints that are driven in time take their values at t first.

    Args:
        coordinates: what is held, what is solved.
        q: start (nq,).
        tolerance: largest error of the rows h [m or rad]; all rows must then hold to 1e-6 (redundant rows of a file
            agree only to its decimals).
        max_iterations: budget.
        t: time of driven joints and of targets of rows [s].
        rhs: right-hand sides; those at t by default.

    Returns:
        A value with the iterates; failure is a status, never an exception.

    Source: `mbs_close_geo` of Robotran.
    """
    constraint_set = coordinates.constraint_set
    robot = constraint_set.robot
    if not LEAST_THRESHOLD <= tolerance < np.inf:
        raise OptionError(below_rounding("tolerance of a closing", tolerance))
    most = natural_number(max_iterations, "iteration limit of a closing")
    sides = coordinates.rhs_at(t) if rhs is None else rhs
    start = driven_at(coordinates, np.array(robot.check(q)), t)
    iterates, residuals, sizes, signs = [start], list[float](), list[float](), list[float]()
    status = ClosingStatus.MAX_ITERATIONS
    while True:
        try:
            off, of_rows, step = newton_step(coordinates, iterates[-1], sides)
        except UndefinedError:
            residuals.append(np.inf)
            status = ClosingStatus.UNDEFINED
            break
        residuals.append(off)
        if not np.isfinite(off):
            status = ClosingStatus.DIVERGED
            break
        if of_rows <= tolerance:
            status = ClosingStatus.CONVERGED if off <= max(CLOSED, tolerance) else ClosingStatus.REDUNDANT_ROWS_OPEN
            break
        if step is None:
            status = ClosingStatus.SINGULAR
            break
        signs.append(step.lu.sign)
        if len(sizes) == most:
            break
        if not is_finite(step.q):
            status = ClosingStatus.DIVERGED
            break
        sizes.append(largest(step.change))
        iterates.append(step.q)
    return Closing(
        iterates[-1], status, tuple(iterates), tuple(residuals), tuple(sizes), tuple(signs), coordinates, sides
    )


def driven_at(coordinates: MinimalCoordinates, q: Vector, t: float) -> Vector:
    """The configuration with the joints that are driven in time at their places at t."""
    if not coordinates.targets:
        return q
    robot = coordinates.constraint_set.robot
    moved = q.copy()
    for joint, target in coordinates.targets.items():
        moved[robot.slice_of(joint)] = target.at(t)
    return robot.check(moved, "configuration with driven joints")
