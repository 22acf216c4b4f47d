"""Optimal control as a sparse nonlinear program: direct multiple shooting with tangent steps, for SciPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint
from scipy.sparse import csr_array

from liegroups.arguments import as_tuple, expect, finite_vector
from liegroups.arrays import ArrayLike, BoolVector, Matrix, Vector
from liegroups.frozen import read_only
from liegroups.groups import translation_size

from ..actions import Action, DiscreteAction
from ..errors import EmptyProblemError, OptionError, RobotMismatchError, SizeError
from ..linear_algebra import largest
from ..words import counted
from ..workspace import Kept
from .shooting_nodes import Nodes, ShootingTrajectory
from .shooting_result import ShootingResult, minimised

EVALUATIONS = 4
"""Trajectories whose nodes are kept: an optimiser asks for cost, rows and derivatives of one point apart."""

MISSED = 1e-6
"""By how much a row that no control can change may be missed at the start, and a given first state differ from it."""


@final
class MultipleShooting:
    r"""Steps in time as a sparse nonlinear program, with a tangent step z from a base trajectory as variables.

    .. math::
        \min_z \sum_k \ell_k(x_k, u_k) + \ell_N(x_N) \quad \text{such that} \quad
        x_{k+1} \ominus f_k(x_k, u_k) = 0, \; h_k = 0, \; \underline g_k \le g_k \le \bar g_k, \;
        \underline u_k \le u_k \le \bar u_k

    with :math:`x_k = \bar x_k \oplus dx_k` and :math:`u_k = \bar u_k + du_k`. The start :math:`x_0` is given. The order
    of z is :math:`(du_0, dx_1, du_1, dx_2, \dots, dx_N)`; the order of the rows is, step by step, defects, equalities
    and inequalities, then those of the terminal node.

    The Hessian of the cost is the Gauss-Newton one, without curvature of the constraints. First derivatives are exact.

    **Closed chains and contacts.** Dynamics keep the rows of their constraint set. A row that requires closure at each
    knot is then redundant, the Jacobian of the program loses rank, and optimisers fail or become slow. Start closed,
    give the set a stabilisation (`ConstraintSet.stabilised`) against the drift of steps in time, and add no closure
    rows; or describe the mechanism in reduced coordinates. The same is true for a goal: give as many numbers as the
    mechanism has degrees of freedom (of the driven joints, for example), not a whole state.

    Rows of the first node that depend on neither controls nor forces are constant: they are left out. If it has no
    controls (an impact), this is true for all its rows. Rows of the last node are those of its `calc(x)`.

    A chart covers rotations of less than half a turn from the base: `around` gives the same program about another
    trajectory, and `minimize` changes the base when needed.

    Args:
        actions: the N steps; the same object may be repeated.
        terminal: cost and constraints of the last state.
        x0: start of the motion (nx,).
        xs: states of the base trajectory, (N + 1, nx) or (N, nx) without the start; x0 at every knot by default.
        us: controls of the base trajectory, (nu,) each, kept as they are (`start` is within the bounds); by default
            zero, moved within their bounds.

    Attributes:
        actions, terminal: as given.
        base: the trajectory at z = 0.
        n: number of variables.
        lower, upper: bounds of the rows.
        are_defects: true for rows that are defects.

    Raises:
        WrongObjectError, EmptyProblemError: not discrete actions; no action.
        RobotMismatchError: actions of several robots.
        SizeError, NotFiniteError, NotNormalizedError: states or controls that do not fit.
        OptionError: the start violates a row that no control can change; the first of N + 1 states is not x0.
    """

    def __init__(
        self,
        actions: Iterable[DiscreteAction],
        terminal: Action,
        x0: ArrayLike,
        xs: ArrayLike | None = None,
        us: Sequence[ArrayLike] | None = None,
    ) -> None:
        self.actions: tuple[DiscreteAction, ...] = as_tuple(actions, "actions of a shooting problem", "actions")
        if not self.actions:
            raise EmptyProblemError("shooting problem: expected one action or more, got none")
        for k, action in enumerate(self.actions):
            expect(action, DiscreteAction, f"action {k} of a shooting problem", "a DiscreteAction")
        self.terminal = expect(terminal, Action, "terminal action of a shooting problem", "an Action")
        self._all: tuple[Action, ...] = (*self.actions, self.terminal)
        self.state = self.actions[0].state
        for k, action in enumerate(self._all):
            if not action.state.robot.space.same_robot(self.state.robot.space):
                own, other = self.state.robot.name, action.state.robot.name
                raise RobotMismatchError(
                    f"action {k} of a shooting problem is of robot '{other}', the first of '{own}'"
                )
        self._lay_out()
        self.base = self._trajectory_of(self.state.check(x0, "start"), xs, us)
        self._kept: Kept[Nodes] = Kept(EVALUATIONS)
        self._check_start()

    def _lay_out(self) -> None:
        """Columns of the variables, rows, and bounds of the rows."""
        ndx, at = self.state.ndx, 0
        self._u: list[slice] = []
        self._x: list[slice] = []
        for action in self.actions:
            self._u.append(slice(at, at + action.nu))
            self._x.append(slice(at + action.nu, at + action.nu + ndx))
            at += action.nu + ndx
        self.n = at
        self._changeable = tuple(_changeable(action, k, len(self.actions)) for k, action in enumerate(self._all))
        lower: list[Vector] = []
        upper: list[Vector] = []
        defects: list[BoolVector] = []
        for k, (action, (h, g)) in enumerate(zip(self._all, self._changeable, strict=True)):
            rows = action.constraints
            which = action.terminal_rows[0] if k == len(self.actions) else rows.inequalities
            zeros = np.zeros(ndx if k < len(self.actions) else 0)
            equal = np.zeros(np.count_nonzero(h))
            lower += [zeros, equal, rows.lower[which][g]]
            upper += [zeros, equal, rows.upper[which][g]]
            defects.append(np.arange(zeros.size + equal.size + np.count_nonzero(g)) < zeros.size)
        self.lower, self.upper = read_only(np.concatenate(lower)), read_only(np.concatenate(upper))
        self.are_defects = read_only(np.concatenate(defects))

    def _trajectory_of(self, x0: Vector, xs: Any, us: Any) -> ShootingTrajectory:
        N = len(self.actions)
        states = np.tile(x0, (N + 1, 1))
        if xs is not None:
            given = list(xs)
            if len(given) not in (N, N + 1):
                raise SizeError("states of a base trajectory", f"{N + 1} states", len(given))
            if len(given) > N:
                self._check_first(x0, self.state.check(given[0], "state 0"))
            states[1:] = [self.state.check(x, f"state {k + 1}") for k, x in enumerate(given[-N:])]
        if us is not None and len(us) != N:
            raise SizeError("controls of a base trajectory", f"{N} controls", len(us))
        controls: list[Vector] = []
        for k, action in enumerate(self.actions):
            if us is None:
                controls.append(np.clip(np.zeros(action.nu), action.u_lower, action.u_upper))
            else:
                controls.append(np.array(finite_vector(us[k], action.nu, f"control {k}")))
        return ShootingTrajectory(read_only(states), tuple(controls))

    def _check_first(self, x0: Vector, first: Vector) -> None:
        """Refuse states that begin elsewhere."""
        off = largest(self.state.difference(x0, first))
        if off > MISSED:
            raise OptionError(
                f"states of a base trajectory: the first one differs from the start x0 by {off:.3g}; give the same x0, "
                f"or only the {counted(len(self.actions), 'state')} after it"
            )

    def _check_start(self) -> None:
        """Refuse a start that breaks rows which nothing can change."""
        done = self.actions[0].calc(self.base.xs[0], self.base.us[0])
        h, g = self._changeable[0]
        low, high = self.actions[0].g_lower, self.actions[0].g_upper
        outside = np.maximum(low - done.g, done.g - high)[~g]
        for words, rows in (("an equality", np.abs(done.h[~h])), ("an inequality", outside)):
            if rows.size and rows.max() > MISSED:
                raise OptionError(
                    f"start of a shooting problem: {words} of the first action that no control can change is violated "
                    f"by {rows.max():.3g}"
                )

    # Trajectories.

    def trajectory(self, z: ArrayLike) -> ShootingTrajectory:
        """The trajectory of a step z (n,) from the base."""
        step = finite_vector(z, self.n, "step of a trajectory")
        states = np.array(self.base.xs)
        for k, s in enumerate(self._x):
            states[k + 1] = self.state.space.integrate(self.base.xs[k + 1], step[s])
        us = tuple(u + step[s] for u, s in zip(self.base.us, self._u, strict=True))
        return ShootingTrajectory(states, us)

    def step(self, trajectory: ShootingTrajectory) -> Vector:
        """The shortest step (n,) from the base to a trajectory with the same start: the inverse of `trajectory`.

        Raises:
            SizeError, OptionError: states or controls that do not fit; another start.
        """
        given = expect(trajectory, ShootingTrajectory, "trajectory")
        other = self._trajectory_of(self.base.xs[0], given.xs, given.us)
        z = np.zeros(self.n)
        for k in range(len(self.actions)):
            z[self._u[k]] = other.us[k] - self.base.us[k]
            z[self._x[k]] = self.state.space.difference(self.base.xs[k + 1], other.xs[k + 1])
        return z

    def around(self, trajectory: ShootingTrajectory) -> MultipleShooting:
        """The same program around another trajectory with the same start, which has z = 0. Raises as `step`."""
        given = expect(trajectory, ShootingTrajectory, "trajectory")
        return MultipleShooting(self.actions, self.terminal, self.base.xs[0], given.xs, given.us)

    def nodes(self, z: ArrayLike) -> Nodes:
        """All nodes at z."""
        step = finite_vector(z, self.n, "step of a trajectory")
        return self._kept.get(step.tobytes(), lambda: Nodes(self._all, self.trajectory(step)))

    # The program.

    def cost(self, z: ArrayLike) -> float:
        """The sum of the costs; infinite if a node has none: optimisers then take a shorter step."""
        return self.nodes(z).cost

    def gradient(self, z: ArrayLike) -> Vector:
        """Gradient of the cost, (n,). Raises FailedError, FailedError."""
        slopes, charts = self.nodes(z).slopes, self._charts(z)
        found = np.zeros(self.n)
        for k, d in enumerate(slopes):
            if k < len(self._u):
                found[self._u[k]] = d.Lu
            if k:
                found[self._x[k - 1]] = d.Lx @ charts[k - 1]
        return found

    def hessian(self, z: ArrayLike) -> Any:
        """Gauss-Newton Hessian of the cost: sparse (n, n). Raises FailedError, FailedError."""
        slopes, charts = self.nodes(z).slopes, self._charts(z)
        parts = _Blocks()
        for k, d in enumerate(slopes):
            if k:
                x, T = self._x[k - 1], charts[k - 1]
                parts.add(x.start, x, T.T @ d.Lxx @ T)
            if k < len(self._u):
                parts.add(self._u[k].start, self._u[k], d.Luu)
            if k and k < len(self._u):
                x, xu = self._x[k - 1], charts[k - 1].T @ d.Lxu
                parts.add(x.start, self._u[k], xu)
                parts.add(self._u[k].start, x, xu.T)
        return parts.matrix((self.n, self.n))

    def rows(self, z: ArrayLike) -> Vector:
        """Defects, equalities and inequalities; defects are zero if a step has no next state."""
        nodes = self.nodes(z)
        found: list[Vector] = []
        for k, (done, (h, g)) in enumerate(zip(nodes.calculations, self._changeable, strict=True)):
            if k < len(self.actions):
                found.append(nodes.defects[k])
            rows = (np.zeros(h.size), np.zeros(g.size)) if done is None else (done.h, done.g)
            for which, mask, what in zip(rows, (h, g), ("equalities", "inequalities"), strict=True):
                if which.size != mask.size:  # an action of a user; numpy takes an empty mask for any size
                    raise SizeError(f"{what} of node {k}", mask.size, which.size)
                found.append(which[mask])
        return np.concatenate(found)

    def jacobian(self, z: ArrayLike) -> Any:
        """Jacobian of the rows: sparse (rows, n). Raises FailedError, FailedError."""
        nodes, charts = self.nodes(z), self._charts(z)
        slopes, xs = nodes.slopes, nodes.trajectory.xs
        parts = _Blocks()
        for k, (d, (h, g)) in enumerate(zip(slopes, self._changeable, strict=True)):
            by_x, by_u = np.concatenate([d.Hx[h], d.Gx[g]]), np.concatenate([d.Hu[h], d.Gu[g]])
            if k < len(self.actions):
                Fx: Any = d.Fx
                Fu: Any = d.Fu
                start, end = self.state.difference_jacobians(nodes.calculations[k].next_state, xs[k + 1])
                parts.add(0, self._x[k], end @ charts[k])
                by_x, by_u = np.concatenate([start @ Fx, by_x]), np.concatenate([start @ Fu, by_u])
                parts.add(0, self._u[k], by_u)
            if k:
                parts.add(0, self._x[k - 1], by_x @ charts[k - 1])
            parts.down(len(by_x))
        return parts.matrix((self.lower.size, self.n))

    def _charts(self, z: ArrayLike) -> list[Matrix]:
        """Derivative of each state by its part of z."""
        step = finite_vector(z, self.n, "step of a trajectory")
        return [self.state.space.exp_jacobian(step[s]) for s in self._x]

    @property
    def bounds(self) -> Bounds:
        """The box of z: bounds of the controls minus the base controls."""
        lower, upper = np.full(self.n, -np.inf), np.full(self.n, np.inf)
        for action, u, s in zip(self.actions, self.base.us, self._u, strict=True):
            lower[s], upper[s] = action.u_lower - u, action.u_upper - u
        return Bounds(lower, upper)

    @property
    def start(self) -> Vector:
        """Where `minimize` starts, (n,): the base, with its controls moved within their bounds."""
        box = self.bounds
        return np.clip(np.zeros(self.n), box.lb, box.ub)

    @property
    def constraint(self) -> NonlinearConstraint:
        """All rows, for `trust-constr`, with a sparse Jacobian and no curvature."""

        def no_curvature(z: Vector, multipliers: Vector) -> Any:
            return csr_array((self.n, self.n))

        hess: Any = no_curvature  # SciPy's stubs know no callable of both
        return NonlinearConstraint(self.rows, self.lower, self.upper, jac=self.jacobian, hess=hess)

    def minimize(
        self,
        tolerance: float = 1e-6,
        max_iterations: int = 500,
        trust_radius: float = 10.0,
        penalty: float = 1.0,
        turn: float = 1.5,
        callback: Callable[[Vector, Any], object] | None = None,
    ) -> ShootingResult:
        """A stationary trajectory by `scipy.optimize.minimize`, method `trust-constr`, from `start`.

        If a rotation has left the base of its chart by more than `turn`, new charts are taken around the trajectory
        reached, and SciPy continues from there with its trust region and its penalty. A node without dynamics has
        infinite cost: SciPy then takes a shorter step.

        Args:
            tolerance: of the gradient of the Lagrangian, of the defects and all other rows: the largest entry.
            max_iterations: iterations of SciPy, over all charts.
            trust_radius, penalty: initial values for SciPy.
            turn: how far a rotation may leave its chart [rad], less than pi.
            callback: callback of SciPy, called after each iteration; stops if it returns true.

        Returns:
            A value, also after a failure: `success`, `status`, `or_raise()`.

        Raises:
            OptionError: a turn that is not between 0 and pi.
        """
        return minimised(self, tolerance, max_iterations, trust_radius, penalty, turn, callback)

    def turned(self, z: ArrayLike) -> float:
        """The largest rotation in z [rad], from the base of its chart; zero if there is none."""
        step = finite_vector(z, self.n, "step of a trajectory")
        found = 0.0
        for leaf in self.state.space.leaves():
            if not leaf.space.is_flat:
                first = leaf.v.start + translation_size(leaf.space)
                found = max(found, *(float(np.linalg.norm(step[s][first : leaf.v.stop])) for s in self._x))
        return found

    def __repr__(self) -> str:
        N = len(self.actions)
        return f"MultipleShooting({counted(N, 'step')}, {self.n} variables, {counted(self.lower.size, 'row')})"


class _Blocks:
    """A sparse matrix from dense blocks, row by row."""

    def __init__(self) -> None:
        self._row = 0
        self._i: list[Any] = []
        self._j: list[Any] = []
        self._v: list[Any] = []

    def add(self, row: int, columns: slice, block: Matrix) -> None:
        i, j = np.indices(block.shape)
        self._i.append((i + self._row + row).ravel())
        self._j.append((j + columns.start).ravel())
        self._v.append(block.ravel())

    def down(self, rows: int) -> None:
        self._row += rows

    def matrix(self, shape: tuple[int, int]) -> Any:
        i, j, v = (np.concatenate(each) for each in (self._i, self._j, self._v))
        return csr_array((v, (i, j)), shape=shape)


def _changeable(action: Action, k: int, last: int) -> tuple[BoolVector, BoolVector]:
    """Which equalities and inequalities of a node count: at the first one those that its controls can change."""
    rows = action.constraints
    if k == last:
        return np.ones(action.nh_terminal, dtype=np.bool_), np.ones(action.ng_terminal, dtype=np.bool_)
    if k:
        return np.ones(action.nh, dtype=np.bool_), np.ones(action.ng, dtype=np.bool_)
    if not action.nu:
        return np.zeros(action.nh, dtype=np.bool_), np.zeros(action.ng, dtype=np.bool_)
    return (
        ~np.isin(rows.equalities, rows.terminal_equalities),
        ~np.isin(rows.inequalities, rows.terminal_inequalities),
    )
