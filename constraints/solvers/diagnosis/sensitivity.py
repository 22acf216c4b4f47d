"""How a projected configuration moves with right-hand sides, reference, start and parameters."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arguments import as_callable, expect
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector

from ...errors import ConstraintError
from ...linear_algebra import KktSystem, largest, numerical_rank, row_lengths, singular_values
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...rows.row_owner import RowOwner
from ...workspace import Workspace
from ..newton.free_bodies import FreeBodies
from ..newton.linear_step import dof_scale
from ..projection.projection import Projection
from ..refinement.feasible_set import FeasibleSet, FeasibleSetAt, LocalModel, refined_columns
from ..refinement.objective import Distance, LastLevel, NoObjective, Objective
from ..refinement.optimality import ACTIVE, Optimality, differences, inequality_name, joint_name, optimality
from .parameters import parameters_of, same_layout

DIFFERENCE_OF_SENSITIVITY = 1e-5
"""Length of central differences: the cube root of the rounding unit."""
STATIONARY = 1e-6
"""A refined solution whose gradient is explained less well than this has no sensitivity."""
WEAK_MULTIPLIER = 1e-6
"""A multiplier below this part of the gradient does not hold its bound."""
SAME_GRADIENT = 1e-6
"""Gradients that are further apart, in parts of the larger one of 1 and the gradient, are not of one problem."""
CONTRADICTION = 1e-5
"""Part of a change of the rows that no motion follows, above which the rows contradict each other."""


class SensitivityKind(Enum):
    """Which solution the derivative belongs to. The value is a sentence for humans."""

    NEAREST = "The stationary point of the distance to the reference, followed as the problem changes."
    LAST_LEVEL = "The stationary point of the error of the last level, followed as the problem changes."
    UNIQUE = "The only solution nearby: the rows determine all dofs that they depend on."
    CONTINUED = "The projection of this solution, started from itself: the smallest motion that follows the rows."


class SensitivityError(ConstraintError):
    """A sensitivity is not defined, with the reason; `projection` is the result it belongs to."""

    def __init__(self, projection: Projection, reason: str) -> None:
        self.projection, self.reason = projection, reason
        super().__init__(f"no sensitivity: {reason}")


class _Change(NamedTuple):
    """What a change of the problem does while the free dofs stay: to held rows, gradient, and other dofs; columns."""

    rows: Matrix
    gradient: Matrix
    direct: Matrix


@final
class Sensitivity:
    r"""First derivatives of a solution, from the implicit function theorem.

    With the free dofs x, multipliers :math:`\lambda` and a parameter :math:`\theta`, a refined solution satisfies
    :math:`G = g - E^T \lambda = 0` and :math:`c = 0` on its equality rows, active inequality rows and active bounds, so

    .. math::

        \begin{pmatrix} H & -E^T \\ E & 0 \end{pmatrix}
        \begin{pmatrix} dx \\ d\lambda \end{pmatrix}
        = - \begin{pmatrix} \partial_\theta G \\ \partial_\theta c \end{pmatrix} d\theta, \qquad H = D_x G

    and computed dofs follow by the chain rule. Active rows and bounds stay active. This is the derivative if their
    multipliers are not zero (strict complementarity); for those in `weakly_active` it holds on one side only.

    Without refinement H is the matrix of costs of motion, and G is zero: the derivative of the projection started again
    from the solution (`CONTINUED`). If the rows determine all dofs, it is the derivative of the projection itself
    (`UNIQUE`; bounds are not held then). A projection from another start, not refined, has no such derivative. All
    columns are tangent vectors (nv,) at the solution. H and the right-hand side are central differences.

    Args:
        projection: a successful one.

    Attributes:
        projection: as given.
        kind: which solution the derivative belongs to.
        weakly_active: active bounds and inequality rows whose multiplier is zero.

    Raises:
        SensitivityError: the projection failed; its refinement did not finish; its solution is not locally unique; or
            an optional last level was not optimised.

    Source: A. V. Fiacco, Introduction to Sensitivity and Stability Analysis in Nonlinear Programming, chapter 3.
    """

    kind: SensitivityKind
    weakly_active: tuple[str, ...]

    def __init__(self, projection: Projection) -> None:
        self.projection = expect(projection, Projection, "projection of a sensitivity")
        problem, refined, options = projection.problem, projection.refined, projection.options
        if not projection.success:
            raise SensitivityError(projection, f"the projection failed ({projection.status.name})")
        if problem.optional_last and not options.optimise_last:
            reason = "its optional last level shaped the steps but was not optimised; use Options(optimise_last=True)"
            raise SensitivityError(projection, reason)
        if refined is not None and refined.stationarity > STATIONARY:
            reason = f"the solution is not stationary ({refined.stationarity:.1g}); use more refine_iterations"
            raise SensitivityError(projection, reason + (" and refine_gain=0" if options.optimise_last else ""))
        self._columns = refined_columns(problem, options.nearest)
        self._turning = options.wrap and not options.nearest  # joints that turn end at no bound; a distance has turns
        self._feasible, self._workspace = FeasibleSet(problem, self._columns, self._turning), Workspace()
        view = self._seen(problem, projection.rhs)
        local = view.at(projection.q)
        order = optimality(view, local)
        self._live, self._rows, self._scale = view.feasible.live, order.rows, local.scale
        self._linearise(view, local, order)

    def _linearise(self, view: FeasibleSetAt, local: LocalModel, order: Optimality) -> None:
        """Held rows, the motions that keep them, and the curvature along these."""
        n, refined = self._live.size, self.projection.refined
        A = local.jacobian[view.feasible.equal][:, self._live]
        unique = refined is None and bool(n) and numerical_rank(singular_values(A)) == n
        active = np.flatnonzero(order.slopes.d >= -10.0 * ACTIVE)
        pushes = order.weights * row_lengths(order.slopes.C)
        names = [inequality_name(view.feasible, int(order.slopes.number[i]), order.slopes.side[i]) for i in active]
        weak = [pushes[i] <= WEAK_MULTIPLIER * local.scale for i in active]
        touching = [name for name, w in zip(names, weak, strict=True) if w]
        self.weakly_active = tuple(dict.fromkeys(touching + self._idle_at_bounds()))
        if unique:
            active = active[:0]
        self._number, self._side = order.slopes.number[active], order.slopes.side[active]
        E = np.concatenate((A, self._side[:, None] * order.slopes.C[active]))
        if refined is None:
            self.kind = SensitivityKind.UNIQUE if unique else SensitivityKind.CONTINUED
            scale = dof_scale(self.projection.problem.weights)
            hessian = np.diag((np.ones(view.feasible.nv) if scale is None else scale**-2.0)[self._live])
        else:
            self.kind = SensitivityKind.LAST_LEVEL if refined.near is None else SensitivityKind.NEAREST
            hessian = differences(view, local, self._rows, np.eye(n), DIFFERENCE_OF_SENSITIVITY, central=True)
        self._system = KktSystem(E, hessian)
        if self._system.is_singular:
            reason = "the solution is not locally unique: some motion has no cost and changes no row"
            raise SensitivityError(self.projection, reason)
        problem = self.projection.problem
        self._follow = problem.resolution_jacobian(problem.at(self.projection.q), self.projection.rhs)
        self._T = self._follow[:, self._live]

    # By what.

    @cached_property
    def rhs(self) -> Matrix:
        """Derivative (nv, sum of group.nv) by all right-hand sides, in the order of `problem.constraints`.

        Raises:
            SensitivityError: as `rhs_of`.
        """
        return np.concatenate([self.rhs_of(owner) for owner in self.projection.problem.constraints], axis=1)

    def rhs_of(self, constraint: RowOwner | str | int) -> Matrix:
        r"""Derivative (nv, group.nv) by the right-hand side of one constraint: column i for :math:`rhs \oplus t\,e_i`.

        Columns of rows without right-hand side are zero; for limits of inequalities use `parameter`. If only some rows
        of a constraint have one, a column is the derivative by that row of log rhs.

        Args:
            constraint: the object, its position, or its name if unique.

        Raises:
            SensitivityError: rows contradict each other as soon as only this right-hand side changes; or no row of the
                constraint has one.
        """
        problem, sides = self.projection.problem, self.projection.rhs
        owner = problem.constraints[constraint]
        group, free, point = owner.group, owner.rows.free_rhs, sides.of(owner)
        out = np.zeros((problem.space.nv, group.nv))
        if not (free & owner.rows.mask).any():
            reason = f"'{owner.name}' takes no right-hand side; parameter(problem_at, value) is for limits"
            raise SensitivityError(self.projection, reason)
        taken = np.flatnonzero(free & owner.rows.mask) if not free.all() else np.arange(group.nv)

        def moved(i: int, h: float) -> FeasibleSetAt:
            step = h * np.eye(group.nv)[i]
            there = group.integrate(point, step) if free.all() else group.exp(group.log(point) + step)
            return self._seen(problem, sides.replace(owner, there))

        if taken.size:
            out[:, taken] = self._answer(self._difference(moved, taken), f"right-hand side of {owner.name!r}")
        return out

    @cached_property
    def near(self) -> Matrix:
        """Derivative (nv, nv) by the reference of `nearest`, in the tangent space there; zero without one."""
        problem, refined = self.projection.problem, self.projection.refined
        if refined is None or refined.near is None:
            return np.zeros((problem.space.nv, problem.space.nv))
        reference = refined.near

        def moved(i: int, h: float) -> FeasibleSetAt:
            there = problem.space.integrate(reference, h * np.eye(problem.space.nv)[i])
            return self._seen(problem, self.projection.rhs, there)

        out = self._answer(self._difference(moved, np.arange(problem.space.nv)), "reference")
        idle = self._idle & self._feasible.resting
        out[idle, idle] = 1.0
        return out

    @cached_property
    def start(self) -> Matrix:
        """Derivative (nv, nv) by the start, in the tangent space there.

        Frozen dofs, and dofs that no row depends on, keep their start values. `CONTINUED`: the start is the solution
        itself; the other dofs follow the projector onto the motions that keep the rows, weighted by the costs of
        motion. `NEAREST`: includes `near` if the start was the reference; the path to the solution has no effect.
        """
        projection, problem = self.projection, self.projection.problem
        space, out = problem.space, np.zeros((problem.space.nv, problem.space.nv))
        frozen = np.flatnonzero(problem.frozen)

        def moved(i: int, h: float) -> FeasibleSetAt:
            return self._seen(problem, projection.rhs, at=space.integrate(projection.q, h * np.eye(space.nv)[i]))

        if frozen.size:
            out[:, frozen] = self._answer(self._difference(moved, frozen), "frozen dofs")
        refined = projection.refined
        kept = self._idle
        if refined is not None and refined.near is not None:
            kept = kept & ~self._feasible.resting
            out += self.near if refined.from_start else 0.0
        out[:, kept] += self._follow[:, kept]  # computed dofs follow what nothing moves
        for columns, along in FreeBodies(problem).at_bounds(projection.q):
            if not self._moved[columns].any():
                out[:, columns] += self._follow[:, columns].dot(along)
        if self.kind is SensitivityKind.CONTINUED:
            out[:, self._live] += self._T @ self._system.kept()
        return out

    def parameter(self, problem_at: Callable[[Any], Problem], value: ArrayLike) -> Matrix:
        r"""Derivative (nv, k) by parameters of the problem: placements, offsets, lengths, targets, bounds, weights.

        Args:
            problem_at: parameters -> the problem, with the same constraints in the same order; called 2 k times near
                `value`. Its default right-hand sides are used if the projection used the defaults.
            value: the parameters (k,), or one number, that give the projection's problem.

        Raises:
            SensitivityError: rows contradict each other as soon as a parameter changes; or the problem at `value`
                is not the projected one: residual, computed dofs or gradient at the solution
                differ (the message says by how much).
            SpaceMismatchError, WrongObjectError: `problem_at` returns another problem, or not a Problem.
            SizeError, DtypeError, NotFiniteError: `value` is neither a number nor a vector.
        """
        as_callable(problem_at, "problem_at of a parameter", "a function from parameters to a Problem")
        numbers, single = parameters_of(value)

        def seen(there: Vector) -> FeasibleSetAt:
            problem = same_layout(self.projection.problem, problem_at(float(there[0]) if single else there))
            return self._seen(problem, self._sides_of(problem))

        def moved(i: int, h: float) -> FeasibleSetAt:
            return seen(numbers + h * (np.arange(numbers.size) == i))

        self._check_same(seen(numbers.copy()), f"{numbers[0]:g}" if single else f"{numbers}")
        scales = np.maximum(1.0, np.abs(numbers))
        return self._answer(self._difference(moved, np.arange(numbers.size), scales), "parameter")

    # How.

    def _check_same(self, view: FeasibleSetAt, value: str) -> None:
        """Refuse parameters at which the problem is another one than that of the projection."""
        projection, space = self.projection, self.projection.problem.space
        limit = max(projection.options.threshold, projection.residual)
        mine, theirs = self._sample(self._seen(projection.problem, projection.rhs)), self._sample(view)
        rows, gradient = (largest(b - a) for a, b in zip(mine[:2], theirs[:2], strict=True))
        moved = largest(space.difference(mine[2], theirs[2]))
        scale = max(1.0, self._scale)
        residual = view.feasible.problem.residual(projection.q, view.rhs)
        for what, amount, most in (
            ("a residual of", residual, (1.0 + 1e-6) * limit),
            ("active rows or bounds changed by", rows, limit),
            ("computed dofs moved by", moved, limit),
            ("a gradient of the objective changed by", gradient / scale, SAME_GRADIENT),
        ):
            if not amount <= most:
                reason = f"the problem at the parameters {value} is not the projected one: it has {what}"
                raise SensitivityError(projection, f"{reason} {amount:.3g} at the solution")

    def _seen(
        self, problem: Problem, rhs: RightHandSide, near: Vector | None = None, at: Vector | None = None
    ) -> FeasibleSetAt:
        """What there is to know of a problem, to be evaluated where the free dofs are those of the solution."""
        options, refined = self.projection.options, self.projection.refined
        objective: Objective = NoObjective(problem.space.nv)
        if options.optimise_last:
            objective = LastLevel(problem.levels[-1])
        elif refined is not None and refined.near is not None:
            objective = Distance(problem.space, problem.weights, refined.near if near is None else near)
        own = problem is self.projection.problem
        feasible = self._feasible if own else FeasibleSet(problem, self._columns, self._turning)
        view = feasible.seen(rhs, self._workspace, objective)
        view.begin = self.projection.q if at is None else at
        return view

    def _difference(
        self, moved: Callable[[int, float], FeasibleSetAt], which: Indices, scales: Vector | None = None
    ) -> _Change:
        """Central differences of held rows, gradient and other dofs."""
        space = self.projection.problem.space
        rows, gradient = np.zeros((len(self._system.E), which.size)), np.zeros((self._live.size, which.size))
        direct = np.zeros((space.nv, which.size))
        for k, i in enumerate(which):
            h = DIFFERENCE_OF_SENSITIVITY * (1.0 if scales is None else float(scales[k]))
            (c1, g1, q1), (c0, g0, q0) = (self._sample(moved(int(i), side * h)) for side in (1.0, -1.0))
            rows[:, k], gradient[:, k] = (c1 - c0) / (2.0 * h), (g1 - g0) / (2.0 * h)
            direct[:, k] = space.difference(q0, q1) / (2.0 * h)
        direct[self._live] = 0.0
        return _Change(rows, gradient, direct)

    def _sample(self, view: FeasibleSetAt) -> tuple[Vector, Vector, Vector]:
        """Held rows, gradient of the Lagrangian, and the configuration, computed dofs included."""
        feasible = view.feasible
        local = view.at(feasible.substitution.start(view.begin, view.rhs, view.workspace))
        held = list[float]()
        for number, side in zip(self._number, self._side, strict=True):
            coordinate = feasible.box.coordinate
            value = local.values[number] if number < feasible.size else local.q[coordinate[number - feasible.size]]
            held.append(float(value) - view.end(number, side))
        equal = (local.values - view.lower)[feasible.equal]
        return np.r_[equal, held], (local.gradient - self._rows @ local.jacobian)[self._live], local.q

    def _answer(self, change: _Change, what: str) -> Matrix:
        """The motion (nv, k) that keeps the held rows and the stationarity."""
        follow, left = self._system.motion(change.rows, change.gradient)
        if (left > CONTRADICTION * np.maximum(1e-6, np.linalg.norm(change.rows, axis=0))).any():
            reason = f"rows contradict each other as soon as the {what} changes: redundant, or blocked by bounds"
            raise SensitivityError(self.projection, reason)
        return self._T @ follow + change.direct

    @cached_property
    def _moved(self) -> BoolVector:
        """(nv,) true for free dofs that rows move."""
        moved = np.zeros(self.projection.problem.space.nv, dtype=np.bool_)
        moved[self._live] = True
        return moved

    @cached_property
    def _idle(self) -> BoolVector:
        """(nv,) true for free dofs that nothing moves, and that are not held by a bound."""
        problem, q = self.projection.problem, self.projection.q
        idle = problem.free & ~self._moved
        for columns, _ in FreeBodies(problem).at_bounds(q):
            idle[columns] = False
        bounds, vector = problem.bounds, problem.space.vector_v
        x = q[problem.space.vector_q]
        idle[vector] &= (x > bounds.tangent_lower[vector]) & (x < bounds.tangent_upper[vector])
        return idle

    def _idle_at_bounds(self) -> list[str]:
        """Dofs that nothing moves and whose reference, or start, is just at a bound."""
        problem, refined = self.projection.problem, self.projection.refined
        space, q = problem.space, self.projection.q
        at = problem.free & ~self._moved & ~self._idle
        if refined is not None and refined.near is not None:
            at[space.vector_v] &= refined.near[space.vector_q] == q[space.vector_q]
        columns = np.flatnonzero(at)
        return [f"{joint_name(problem, int(i))} at a bound" for i in columns]

    def _sides_of(self, problem: Problem) -> RightHandSide:
        mine, own = self.projection.rhs, self.projection.problem.rhs
        if (mine.vector == own.vector).all():
            return problem.rhs
        return RightHandSide(problem.constraints, mine.vector, mine.velocity, mine.acceleration)

    def __repr__(self) -> str:
        weak = f"; zero multipliers: {', '.join(self.weakly_active)}" if self.weakly_active else ""
        return f"Sensitivity({self.kind.name}: {self.kind.value}{weak})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Sensitivity, (self.projection,)
