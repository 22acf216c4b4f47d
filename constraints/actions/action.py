"""Actions: what a solver of optimal control asks of one node, and what it gets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from liegroups.arguments import finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..solvers.result import Result
from .costs import Cost, CostStack
from .stage_constraints import ConstraintStack, StageConstraint
from .state_space import StateSpace


@dataclass(frozen=True, eq=False, repr=False)
class Calculation(Result):
    """What a node is at a state and a control: a value, which `calc_diff` goes on from.

    Attributes:
        x: state (nx,).
        u: control (nu,); None at a terminal node.
        cost: of the node.
        residuals: of all costs (nr,).
        g, h: rows of inequalities (ng,) and equalities (nh,).
    """

    x: Vector
    u: Vector | None
    cost: float
    residuals: Vector
    g: Vector
    h: Vector

    @property
    def is_terminal(self) -> bool:
        """Whether there is no control, and no dynamics."""
        return self.u is None

    @property
    def success(self) -> bool:
        """Whether the node has a value."""
        return bool(np.isfinite(self.cost))


@dataclass(frozen=True, eq=False, repr=False)
class Derivatives:
    """Derivatives of a node by state (tangent, ndx) and control (nu).

    Attributes:
        Fx, Fu: of the dynamics: (nv, ndx) and (nv, nu) of accelerations, (ndx, ndx) and (ndx, nu) of next states; None
            at terminal nodes.
        Lx, Lu, Lxx, Lxu, Luu: of the cost.
        Gx, Gu, Hx, Hu: of the rows of inequalities and equalities.
    """

    Fx: Matrix | None
    Fu: Matrix | None
    Lx: Vector
    Lu: Vector
    Lxx: Matrix
    Lxu: Matrix
    Luu: Matrix
    Gx: Matrix
    Gu: Matrix
    Hx: Matrix
    Hu: Matrix


class Action(ABC):
    """One node of an optimal control problem: dynamics, cost and constraints of states and controls. Immutable.

    Args:
        state: the state space.
        nu: number of controls.
        costs: the terms of the cost.
        constraints: rows of inequalities and equalities.

    Attributes:
        state: the state space.
        stage: states with controls.
        costs, constraints: the stacks.
    """

    def __init__(
        self, state: StateSpace, nu: int, costs: Iterable[Cost] = (), constraints: Iterable[StageConstraint] = ()
    ) -> None:
        self.state, self.stage = state, state.with_controls(nu)
        self.costs = CostStack(self.stage, costs)
        self.constraints = ConstraintStack(self.stage, constraints)

    # Sizes and bounds.

    @property
    def nu(self) -> int:
        """Number of controls."""
        return self.stage.nu

    @property
    def nr(self) -> int:
        """Number of residuals of the costs."""
        return self.costs.size

    @property
    def ng(self) -> int:
        """Rows of inequalities."""
        return len(self.constraints.rows(equalities=False))

    @property
    def nh(self) -> int:
        """Rows of equalities."""
        return len(self.constraints.rows(equalities=True))

    @property
    def ng_terminal(self) -> int:
        """Rows of inequalities that do not see the controls."""
        return len(self.constraints.rows(equalities=False, terminal=True))

    @property
    def nh_terminal(self) -> int:
        """Rows of equalities that do not see the controls."""
        return len(self.constraints.rows(equalities=True, terminal=True))

    @property
    def g_lower(self) -> Vector:
        """Lower bounds of the inequalities (ng,)."""
        return self.constraints.lower[self.constraints.rows(equalities=False)]

    @property
    def g_upper(self) -> Vector:
        """Upper bounds of the inequalities (ng,)."""
        return self.constraints.upper[self.constraints.rows(equalities=False)]

    @property
    @abstractmethod
    def u_lower(self) -> Vector:
        """Lower bounds of the controls (nu,)."""

    @property
    @abstractmethod
    def u_upper(self) -> Vector:
        """Upper bounds of the controls (nu,)."""

    # What a solver calls.

    @abstractmethod
    def calc(self, x: ArrayLike, u: ArrayLike | None = None) -> Calculation:
        """Dynamics, cost and constraints at (x, u); cost and constraints alone at a terminal node (no u)."""

    @abstractmethod
    def calc_diff(self, calculation: Any) -> Derivatives:
        """Derivatives of what `calc` returned."""

    def _node(self, x: ArrayLike, u: ArrayLike | None) -> tuple[Vector, Vector | None, dict[str, Any]]:
        """State and control, checked, and the part of a `Calculation` that is no dynamics."""
        state = np.array(self.state.check(x))
        control = None if u is None else np.array(finite_vector(u, self.nu, "control"))
        at = np.zeros(self.nu) if control is None else control
        terminal = control is None
        cost, residuals = self.costs.value(state, at, terminal=terminal)
        g, h = self.constraints.values(state, at, terminal=terminal)
        return state, control, {"x": state, "u": control, "cost": cost, "residuals": residuals, "g": g, "h": h}

    def _slopes(self, calculation: Calculation, Fx: Matrix | None, Fu: Matrix | None) -> Derivatives:
        """Derivatives with those of cost and constraints."""
        terminal = calculation.is_terminal
        u = np.zeros(self.nu) if calculation.u is None else calculation.u
        L = self.costs.slopes(calculation.x, u, terminal=terminal)
        rows = self.constraints.slopes(calculation.x, u, terminal=terminal)
        return Derivatives(Fx, Fu, L.x, L.u, L.xx, L.xu, L.uu, *rows)


class DifferentialAction(Action):
    """A node whose dynamics are accelerations: `calc` gives `acceleration` (nv,); Fx is (nv, ndx), Fu (nv, nu)."""


class DiscreteAction(Action):
    """A node whose dynamics are a next state: `calc` gives `next_state` (nx,).

    Fx (ndx, ndx) and Fu (ndx, nu) are in the tangent of the next state.
    """
