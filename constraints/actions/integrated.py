r"""Steps in time of differential actions: discrete actions with exact derivatives on the group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..dynamics.methods.status import DynamicsStatus
from ..questions import ask_once
from ..ranges import positive_number
from .action import Calculation, Derivatives, DifferentialAction, DiscreteAction, own


@final
@dataclass(frozen=True, eq=False, repr=False)
class StepCalculation(Calculation):
    """A step in time: the next state, and the calculations of the stages that it is made of.

    Attributes:
        next_state: (nx,); the state itself at a terminal node; NaN where a stage has no acceleration.
        stages: of the differential action, in order; the last one is that which failed, if one did.
        action: whose.
    """

    next_state: Vector
    stages: tuple[Any, ...]
    action: object

    @property
    def success(self) -> bool:
        """Whether all stages succeeded, and the next state is finite."""
        return all(stage.success for stage in self.stages) and bool(np.isfinite(self.next_state).all())

    @property
    def reason(self) -> str:
        """How the step ended, in words: of the stage that failed, if one did."""
        failed = [stage.reason for stage in self.stages if not stage.success]
        if failed:
            return failed[0]
        return "solved" if self.success else "the next state is not finite"


class IntegratedAction(DiscreteAction):
    """A step in time of a differential action, with the same sizes, bounds, costs and constraints.

    Args:
        differential: the action whose accelerations are integrated.
        step: h [s], positive and finite; any for the action of a terminal node.

    Attributes:
        differential, step: as given.

    Raises:
        WrongObjectError, OptionError: not a differential action; a step that is not positive.
    """

    def __init__(self, differential: DifferentialAction, step: float) -> None:
        expected = "a DifferentialAction, such as ContactForwardDynamics"
        self.differential = expect(differential, DifferentialAction, "action to be integrated", expected)
        self.step = positive_number(step, "step of an integrated action [s]")
        self._is_asked = False
        self.state, self.stage = differential.state, differential.stage
        self.costs, self.constraints = differential.costs, differential.constraints

    def replace(self, differential: DifferentialAction | None = None, step: float | None = None) -> Self:
        """The same scheme for another differential action, or with another step; nothing else is built."""
        return type(self)(differential or self.differential, self.step if step is None else step)

    @property
    def u_lower(self) -> Vector:
        """Lower bounds of the controls (nu,)."""
        return self.differential.u_lower

    @property
    def u_upper(self) -> Vector:
        """Upper bounds of the controls (nu,)."""
        return self.differential.u_upper

    def open_at(self, x: ArrayLike) -> str:
        """As `Action.open_at`."""
        return self.differential.open_at(x)

    def _ask(self) -> None:
        """Ask about the step, before the first one is taken: the action of a terminal node takes none."""
        self._is_asked = True
        for question in self.differential.asked_of_step(self.step):
            ask_once(f"{type(self).__name__} of {self.step:g} s: {question}")

    def _terminal(self, x: ArrayLike) -> StepCalculation:
        done = self.differential.calc(x)
        return StepCalculation(done.x, None, done.cost, done.residuals, done.g, done.h, done.x.copy(), (done,), self)

    def _failed(self, stages: list[Any]) -> StepCalculation:
        """A step of which a stage has no acceleration."""
        first, none = stages[0], np.full(self.state.nx, np.nan)
        return StepCalculation(
            first.x, first.u, float("nan"), first.residuals, first.g, first.h, none, tuple(stages), self
        )

    def _without(self, done: StepCalculation, stages: list[Any]) -> Derivatives:
        """Where a stage has no derivatives: NaN for those of dynamics and cost, and what the first stage has."""
        ndx, nu = self.state.ndx, self.nu
        first = stages[0] if stages else self.differential.calc_diff(done.stages[0])
        status = stages[-1].status if stages and not stages[-1].success else DynamicsStatus.NOT_SOLVED
        x, u, xx, xu, uu = (np.full(s, np.nan) for s in (ndx, nu, (ndx, ndx), (ndx, nu), (nu, nu)))
        return Derivatives(xx, xu, x, u, xx, xu, uu, first.Gx, first.Gu, first.Hx, first.Hu, status)

    def describe(self) -> str:
        """The step in words, and what is integrated."""
        return f"{type(self).__name__} of {self.step:g} s\n{self.differential}"

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.differential!r}, step {self.step:g})"


@final
class SemiImplicitEuler(IntegratedAction):
    r"""One step of semi-implicit Euler: :math:`v^+ = v + h\,a(x, u)`, :math:`q^+ = q \oplus h\,v^+`.

    The cost is h times that of the differential action.

    Args:
        differential: the action whose accelerations are integrated.
        step: h [s].

    Source: `IntegratedActionModelEuler` of Crocoddyl.
    """

    def calc(self, x: ArrayLike, u: ArrayLike | None = None) -> StepCalculation:
        """As `Action.calc`."""
        if u is None:
            return self._terminal(x)
        if not self._is_asked:
            self._ask()
        done: Any = self.differential.calc(x, u)
        if not done.success:
            return self._failed([done])
        h, nq = self.step, self.state.nq
        v = done.x[nq:] + h * done.acceleration
        q = self.state.robot.space.integrate(done.x[:nq], h * v)
        following = np.concatenate([q, v])
        return StepCalculation(done.x, done.u, h * done.cost, done.residuals, done.g, done.h, following, (done,), self)

    def calc_diff(self, calculation: Any) -> Derivatives:
        """As `Action.calc_diff`."""
        done: StepCalculation = own(calculation, StepCalculation, self)
        stage = self.differential.calc_diff(done.stages[0])
        if done.is_terminal:
            return stage
        if not (done.success and stage.success) or stage.Fx is None or stage.Fu is None:
            return self._without(done, [stage])
        h, n, space = self.step, self.state.nv, self.state.robot.space
        v_x, v_u = h * stage.Fx, h * stage.Fu
        v_x[:, n:].flat[:: n + 1] += 1.0
        moved = h * done.next_state[self.state.nq :]
        q_v = h * space.exp_jacobian(moved)
        q_x, q_u = q_v @ v_x, q_v @ v_u
        q_x[:, :n] += space.adjoint(space.exp(-moved))
        return _summed([stage], [h], np.vstack([q_x, v_x]), np.vstack([q_u, v_u]))


_NODES = (0.0, 0.5, 0.5, 1.0)
_WEIGHTS = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)


@final
class RungeKutta4(IntegratedAction):
    r"""One step of the classical Runge-Kutta scheme of order 4, with the control held.

    .. math::
        k_i = (v_i, a(x_i, u)), \quad x_{i+1} = x \oplus c_{i+1} h\,k_i, \quad
        x^+ = x \oplus \tfrac{h}{6}(k_1 + 2 k_2 + 2 k_3 + k_4)

    and the cost by the same weights; constraints are those of the first stage. On rotations and placements this is the
    scheme of Crocoddyl: order 4 holds on vectors; `dynamics.simulate` has the correction needed on groups.

    Args:
        differential: the action whose accelerations are integrated.
        step: h [s].

    Source: `IntegratedActionModelRK` of Crocoddyl.
    """

    def calc(self, x: ArrayLike, u: ArrayLike | None = None) -> StepCalculation:
        """As `Action.calc`."""
        if u is None:
            return self._terminal(x)
        if not self._is_asked:
            self._ask()
        state, h = self.state, self.step
        stages: list[Any] = []
        slopes: list[Vector] = []
        start = np.array(state.check(x))
        for c in _NODES:
            at = state.space.integrate(start, c * h * slopes[-1]) if slopes else start
            if not np.isfinite(at).all():
                return self._failed(stages)
            done: Any = self.differential.calc(at, u)
            stages.append(done)
            if not done.success:
                return self._failed(stages)
            slopes.append(np.concatenate([done.x[state.nq :], done.acceleration]))
        mean = sum(w * k for w, k in zip(_WEIGHTS, slopes, strict=True))
        following = state.space.integrate(start, h * np.asarray(mean))
        cost = h * sum(w * stage.cost for w, stage in zip(_WEIGHTS, stages, strict=True))
        first = stages[0]
        return StepCalculation(start, first.u, cost, first.residuals, first.g, first.h, following, tuple(stages), self)

    def calc_diff(self, calculation: Any) -> Derivatives:
        """As `Action.calc_diff`."""
        done: StepCalculation = own(calculation, StepCalculation, self)
        if done.is_terminal:
            return self.differential.calc_diff(done.stages[0])
        if not done.success:
            return self._without(done, [])
        state, h, ndx, n = self.state, self.step, self.state.ndx, self.state.nv
        slopes: list[Vector] = []
        by_x, by_u, at_x, at_u = list[Matrix](), list[Matrix](), list[Matrix](), list[Matrix]()  # of k_i, of x_i
        found: list[Derivatives] = []
        for c, stage in zip(_NODES, done.stages, strict=True):
            d = self.differential.calc_diff(stage)
            if not d.success or d.Fx is None or d.Fu is None:
                return self._without(done, [*found, d])
            of_x, of_u = np.eye(ndx), np.zeros((ndx, self.nu))
            if slopes:
                by_start, by_step = state.integrate_jacobians(c * h * slopes[-1])
                of_x, of_u = by_start + c * h * by_step @ by_x[-1], c * h * by_step @ by_u[-1]
            k_x = np.vstack([of_x[n:], d.Fx @ of_x])
            k_u = np.vstack([of_u[n:], d.Fx @ of_u + d.Fu])
            slopes.append(np.concatenate([stage.x[state.nq :], stage.acceleration]))
            for kept, one in ((by_x, k_x), (by_u, k_u), (at_x, of_x), (at_u, of_u)):
                kept.append(one)
            found.append(d)
        mean = sum(w * k for w, k in zip(_WEIGHTS, slopes, strict=True))
        by_start, by_step = state.integrate_jacobians(h * np.asarray(mean))
        weighted_x = sum(w * k for w, k in zip(_WEIGHTS, by_x, strict=True))
        weighted_u = sum(w * k for w, k in zip(_WEIGHTS, by_u, strict=True))
        Fx, Fu = by_start + h * by_step @ np.asarray(weighted_x), h * by_step @ np.asarray(weighted_u)
        return _summed(found, [h * w for w in _WEIGHTS], Fx, Fu, at_x, at_u)


def _summed(
    stages: list[Derivatives],
    weights: list[float],
    Fx: Matrix,
    Fu: Matrix,
    at_x: list[Matrix] | None = None,
    at_u: list[Matrix] | None = None,
) -> Derivatives:
    """Derivatives of a step: of the cost the weighted sum over the stages, of the rows those of the first."""
    first = stages[0]
    n, m = Fx.shape[1], Fu.shape[1]
    g, curvature = np.zeros(n + m), np.zeros((n + m, n + m))
    for i, (d, w) in enumerate(zip(stages, weights, strict=True)):
        T = np.eye(n + m)
        if at_x is not None and at_u is not None:
            T[:n, :n], T[:n, n:] = at_x[i], at_u[i]
        g += w * (np.concatenate([d.Lx, d.Lu]) @ T)
        curvature += w * (T.T @ np.block([[d.Lxx, d.Lxu], [d.Lxu.T, d.Luu]]) @ T)
    costs = g[:n], g[n:], curvature[:n, :n], curvature[:n, n:], curvature[n:, n:]
    deficient = [d.status for d in stages if d.status is not DynamicsStatus.SOLVED]
    status = deficient[0] if deficient else DynamicsStatus.SOLVED
    return Derivatives(Fx, Fu, *costs, first.Gx, first.Gu, first.Hx, first.Hu, status)
