"""A problem as constraints of SciPy's optimisers, whose variables are a tangent step from a base point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, BoolVector, Matrix, Vector
from liegroups.frozen import read_only_copy, set_fields
from liegroups.groups import translation_size
from liegroups.layout import Factor

from ..point import place
from ..problem.problem import Problem
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack
from ..rows.stacking import Order, Rows, stack_rows
from ..words import counted
from ..workspace import Pool, Workspace


@final
@dataclass(frozen=True, eq=False, repr=False)
class TangentSteps:
    r"""The variables z of an optimiser as steps from a base point: :math:`q(z) = q_0 \oplus z`.

    Optimisers work in :math:`\mathbb{R}^n`, without unit quaternions; z contains none. The rows are
    those of all mandatory constraints, explicit ones as their twins, times their scales:

    .. math:: l \le s \log(rhs^{-1} h(q(z))) \le u, \qquad
              J(z) = s\, J_{\log} J_h(q(z))\, \frac{\partial (q_0 \oplus z)}{\partial z}

    with l = u = 0 for equalities. Inequality rows keep their values, with their interval (not the distance to it, which
    has no second derivative at its edge). Bounds on the translation of a free or planar joint are not a box in z: they
    are rows too, after the others; all other bounds are a box, `bounds`.

    The chart covers rotations of less than half a turn from q0, and any translation. After a large change take a new
    base point.

    Args:
        problem: the constraints; an optional last level is left out.
        q0: base point (nq,).
        rhs: right-hand sides; those of the constraints if absent.

    Attributes:
        lower, upper: (rows,) intervals of the rows, [m, rad] times the scales.

    Raises:
        WrongObjectError: `problem` is not a problem.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: an invalid q0.

    Example:
        >>> import numpy as np
        >>> from scipy.optimize import minimize
        >>> from constraints import Implicit, Position, Problem
        >>> from constraints.interop import TangentSteps
        >>> from constraints.models import sample_arm
        >>> robot = sample_arm()
        >>> problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.4, 0.1, 0.5])])
        >>> steps = TangentSteps(problem, robot.reference("home"))
        >>> z = minimize(
        ...     lambda z: z @ z,
        ...     np.zeros(7),
        ...     jac=lambda z: 2.0 * z,
        ...     bounds=steps.bounds,
        ...     constraints=steps.constraints,
        ...     method="SLSQP",
        ... ).x
        >>> problem.is_satisfied(steps.configuration(z))
        True
    """

    problem: Problem
    q0: Vector
    rhs: RightHandSide | None = None

    lower: Vector = field(init=False)
    upper: Vector = field(init=False)
    _stack: Stack = field(init=False)
    _sides: RightHandSide = field(init=False)
    _walls: tuple[tuple[Factor, int], ...] = field(init=False)
    _pool: Pool[Workspace] = field(init=False)

    def __post_init__(self) -> None:
        """Check, and lay out the rows."""
        problem = expect(self.problem, Problem, "problem of tangent steps")
        q0 = read_only_copy(problem.check(self.q0, "q0"))
        rhs = problem.check_rhs(self.rhs)
        wishes = problem.levels[-1].owners if problem.optional_last else ()
        owners = [owner for owner in problem.constraints if owner not in wishes]
        stack = Stack([owner.unclipped() for owner in owners])
        sides = RightHandSide(stack, np.concatenate([rhs.of(owner) for owner in owners]))
        lower, upper = (
            np.concatenate([_interval(owner, side)[owner.rows.mask] for owner in owners]) for side in ("lower", "upper")
        )
        bounds = problem.bounds
        walls = [
            (leaf, i)
            for leaf in problem.space.leaves()
            for i in range(translation_size(leaf.space))
            if np.isfinite([bounds.lower[leaf.q][i], bounds.upper[leaf.q][i]]).any()
        ]
        at = [leaf.q.start + i for leaf, i in walls]
        lower, upper = np.r_[lower, bounds.lower[at]], np.r_[upper, bounds.upper[at]]
        set_fields(self, q0=q0, rhs=rhs, lower=lower, upper=upper)
        set_fields(self, _stack=stack, _sides=sides, _walls=tuple(walls), _pool=Pool(Workspace))

    def configuration(self, z: ArrayLike) -> Vector:
        """q0 (+) z, (nq,).

        Args:
            z: step (nv,).
        """
        return self.problem.space.integrate(self.q0, self.problem.space.check_tangent(z, "z"))

    def step(self, q: ArrayLike) -> Vector:
        """The shortest step (nv,) from q0 to q.

        Args:
            q: configuration (nq,).
        """
        return self.problem.space.difference(self.q0, self.problem.check(q))

    def rows(self, z: ArrayLike) -> Vector:
        """The rows (rows,) at a step z (nv,).

        Raises:
            UndefinedError: a function has no value there.
        """
        q = self.configuration(z)
        return np.r_[self._stacked(q, jacobian=False).error, [q[leaf.q.start + i] for leaf, i in self._walls]]

    def jacobian(self, z: ArrayLike) -> Matrix:
        """Derivative (rows, nv) of the rows by z, exact."""
        space, q = self.problem.space, self.configuration(z)
        J = self._stacked(q, jacobian=True).jacobian
        walls = np.zeros((len(self._walls), space.nv))
        for wall, (leaf, i) in zip(walls, self._walls, strict=True):
            n = translation_size(leaf.space)  # the rotation is the corner of the adjoint
            wall[leaf.v.start : leaf.v.start + n] = leaf.space.adjoint(q[leaf.q])[i, :n]
        return np.concatenate([J, walls]) @ space.integrate_dv(self.q0, np.asarray(z, dtype=np.float64))

    @property
    def constraint(self) -> NonlinearConstraint:
        """All rows as one constraint, for `trust-constr`."""
        return self._some(np.ones(self.lower.size, dtype=np.bool_))

    @property
    def constraints(self) -> list[NonlinearConstraint]:
        """Equalities and inequalities separately, for `SLSQP` and others that need this."""
        equal = self.lower == self.upper
        return [self._some(which) for which in (equal, ~equal) if which.any()]

    @property
    def bounds(self) -> Bounds:
        """The box of z: joint bounds minus q0, zero for frozen dofs, infinite for rotations and free translations."""
        bounds, space = self.problem.bounds, self.problem.space
        lower, upper = np.full(space.nv, -np.inf), np.full(space.nv, np.inf)
        for leaf in space.leaves():
            if leaf.space.is_flat:
                lower[leaf.v] = bounds.lower[leaf.q] - self.q0[leaf.q]
                upper[leaf.v] = bounds.upper[leaf.q] - self.q0[leaf.q]
        lower[self.problem.frozen] = upper[self.problem.frozen] = 0.0
        return Bounds(lower, upper)

    def _some(self, which: BoolVector) -> NonlinearConstraint:
        def values(z: Vector) -> Vector:
            return self.rows(z)[which]

        def derivative(z: Vector) -> Matrix:
            return self.jacobian(z)[which]

        return NonlinearConstraint(values, self.lower[which], self.upper[which], jac=derivative)

    def _stacked(self, q: Vector, jacobian: bool) -> Rows:
        """Rows at q and, where wanted, their Jacobian there; copies."""
        workspace = self._pool.take()
        point = place(self.problem.space, q, workspace)
        rows = stack_rows(self._stack, point, Order.POSITION, self._sides, jacobian=jacobian)
        copied = Rows(rows.error.copy(), rows.jacobian.copy(), self._stack.slices)
        self._pool.give(workspace)
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return TangentSteps, (self.problem, self.q0, self.rhs)

    def __repr__(self) -> str:
        return f"TangentSteps({self.problem!r}, {counted(self.lower.size, 'row')})"


def as_nonlinear_constraint(
    problem: Problem, q0: ArrayLike, rhs: RightHandSide | ArrayLike | None = None
) -> NonlinearConstraint:
    """All rows of a problem as one `scipy.optimize.NonlinearConstraint` on steps z (nv,) from q0.

    Args:
        problem, q0, rhs: as in `TangentSteps`, which also has the box of z, and converts z to configurations.
    """
    expect(problem, Problem, "problem of tangent steps")
    return TangentSteps(problem, problem.check(q0, "q0"), problem.check_rhs(rhs)).constraint


def _interval(owner: RowOwner, side: str) -> Vector:
    """One side of the intervals of the rows of `owner.unclipped()`: zero for equalities."""
    rows = owner.rows
    return np.where(rows.one_sided, (rows.lower if side == "lower" else rows.upper) * rows.scale, 0.0)
