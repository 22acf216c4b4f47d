"""Actions: what a solver of optimal control asks of one node, and what it gets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from liegroups.arguments import expect, finite_vector, is_float64
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector
from liegroups.frozen import read_only

from ..dynamics.methods.status import DynamicsStatus
from ..errors import OptionError
from ..linear_algebra import is_finite
from ..solvers.result import Result
from .costs import Cost, CostStack
from .residuals import StagePlace
from .stage_constraints import ConstraintStack, StageConstraint
from .state_space import StageSpace, StateSpace


@dataclass(frozen=True, eq=False, repr=False)
class Calculation(Result):
    """What a node is at a state and a control: a value, which `calc_diff` goes on from.

    Attributes:
        x: state (nx,).
        u: control (nu,); None at a terminal node.
        cost: of the node.
        residuals: of all costs (nr,); at a terminal node zero where they see controls or forces.
        g, h: rows of inequalities (ng,) and equalities (nh,); (ng_terminal,), (nh_terminal,) of `calc(x)`.
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
        """Whether the dynamics are solved and the cost is a number."""
        return isfinite(self.cost)

    @property
    def reason(self) -> str:
        """How the calculation ended, in words."""
        return "solved" if self.success else "the cost is not finite"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said of the state and the forces besides, in words; computed on request."""
        return ()

    def describe(self) -> str:
        """The node in words: cost, how its dynamics were solved, and `remarks`."""
        return "\n  ".join([str(self), *self.remarks])

    def __str__(self) -> str:
        return f"{'terminal ' if self.is_terminal else ''}node, cost {self.cost:.6g}: {self.reason}"


@dataclass(frozen=True, eq=False, repr=False)
class Derivatives(Result):
    """Derivatives of a node by state (tangent, ndx) and control (nu).

    Where there are none, those of the dynamics are NaN and `status` says why; those of costs and constraints that do
    not see forces of contacts stand all the same.

    Attributes:
        Fx, Fu: of the dynamics: (nv, ndx) and (nv, nu) of accelerations, (ndx, ndx) and (ndx, nu) of next states; None
            at terminal nodes.
        Lx, Lu, Lxx, Lxu, Luu: of the cost.
        Gx, Gu, Hx, Hu: of the rows of inequalities and equalities.
        status: whether there are derivatives, and of what.
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
    status: DynamicsStatus = DynamicsStatus.SOLVED

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.status.name})"


class StageSlopes(NamedTuple):
    """Derivatives of accelerations, multipliers or a wrench (k): by_x (k, ndx), by_u (k, nu)."""

    by_x: Matrix
    by_u: Matrix


Pair: TypeAlias = tuple[Matrix, Matrix]
"""What `StageSlopes` are, where a name costs too much (0.3 us)."""


Fields: TypeAlias = dict[str, Any]
"""Fields of a `Calculation`, or of `Derivatives`, that are no dynamics."""


class Action(ABC):
    """One node of an optimal control problem: dynamics, cost and constraints of states and controls. Immutable.

    Threads may share actions. Two calls with the same arguments give the same numbers: nothing is kept between them.

    Args:
        stage: states with controls, and with forces of contacts where the node has any.
        costs: the terms of the cost.
        constraints: rows of inequalities and equalities.

    Attributes:
        state: the state space.
        stage: as given.
        costs, constraints: the stacks.
        has_terminal: whether `calc(x)` is a terminal node, without dynamics; an impact has none.
    """

    has_terminal: ClassVar[bool] = True
    state: StateSpace
    stage: StageSpace
    costs: CostStack
    constraints: ConstraintStack

    def __init__(
        self, stage: StageSpace, costs: Iterable[Cost] = (), constraints: Iterable[StageConstraint] = ()
    ) -> None:
        self.state = stage.state
        self.stage = stage
        self.costs = CostStack(stage, costs)
        self.constraints = ConstraintStack(stage, constraints)

    @cached_property
    def _nothing(self) -> Fields | None:
        """Derivatives of no cost and no constraint, read-only; None where there are some."""
        if self.costs.size or self.constraints.size:
            return None
        n, m = self.state.ndx, self.nu
        Lx, Lu, by_x, by_u = np.zeros(n), np.zeros(m), np.zeros((0, n)), np.zeros((0, m))
        Lxx, Lxu, Luu = np.zeros((n, n)), np.zeros((n, m)), np.zeros((m, m))
        for each in (Lx, Lu, by_x, by_u, Lxx, Lxu, Luu):
            read_only(each)
        return {"Lx": Lx, "Lu": Lu, "Lxx": Lxx, "Lxu": Lxu, "Luu": Luu, "Gx": by_x, "Gu": by_u, "Hx": by_x, "Hu": by_u}

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
        return self.constraints.inequalities.size

    @property
    def nh(self) -> int:
        """Rows of equalities."""
        return self.constraints.equalities.size

    @property
    def terminal_rows(self) -> tuple[Indices, Indices]:
        """Rows of `constraints` that `calc(x)` returns as g and h: those that see neither controls nor forces.

        If there is no terminal node (`has_terminal`), these are all rows.
        """
        rows = self.constraints
        if self.has_terminal:
            return rows.terminal_inequalities, rows.terminal_equalities
        return rows.inequalities, rows.equalities

    @property
    def ng_terminal(self) -> int:
        """Rows of inequalities of `calc(x)`."""
        return self.terminal_rows[0].size

    @property
    def nh_terminal(self) -> int:
        """Rows of equalities of `calc(x)`."""
        return self.terminal_rows[1].size

    @property
    def g_lower(self) -> Vector:
        """Lower bounds of the inequalities (ng,)."""
        return self.constraints.lower[self.constraints.inequalities]

    @property
    def g_upper(self) -> Vector:
        """Upper bounds of the inequalities (ng,)."""
        return self.constraints.upper[self.constraints.inequalities]

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
        """Dynamics, cost and constraints at (x, u); cost and constraints alone at a terminal node (no u).

        Args:
            x: state (nx,).
            u: control (nu,); None for a terminal node, whose result has neither acceleration nor force.

        Raises:
            SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with x or u.
            UndefinedError: a function has no value or no derivative there.
        """

    @abstractmethod
    def calc_diff(self, calculation: Any) -> Derivatives:
        """Derivatives of what `calc` returned, whatever was calculated in between.

        Where the calculation has no success, or no derivatives, the result says so by its status (`or_raise()`).

        Args:
            calculation: of this action.

        Raises:
            WrongObjectError: something else.
            OptionError: a calculation of another action.
        """

    def open_at(self, x: ArrayLike) -> str:
        """How far a state (nx,) is off the constraints of the dynamics, in words; empty where it is closed."""
        self.state.check(x)
        return ""

    def _checked(self, x: ArrayLike, u: ArrayLike | None) -> tuple[Vector, Vector | None]:
        """Copies of state and control, checked."""
        space = self.state.space
        if not (is_float64(x) and x.shape == (space.nq,) and is_finite(x) and space.is_normalized(x)):
            x = space.check(x, "state")
        if not (u is None or (is_float64(u) and u.shape == (self.stage.nu,) and is_finite(u))):
            u = finite_vector(u, self.stage.nu, "control")
        return x.copy(), None if u is None else u.copy()

    def _node(self, x: Vector, u: Vector | None, forces: Vector | None = None) -> Fields:
        """Cost and constraints at a place."""
        if self._nothing is not None:
            return {"x": x, "u": u, "cost": 0.0, "residuals": _NONE, "g": _NONE, "h": _NONE}
        at = StagePlace.of(self.stage, x, u, forces)
        (cost, residuals), (g, h) = self.costs.value(at), self.constraints.values(at)
        return {"x": x, "u": u, "cost": cost, "residuals": residuals, "g": g, "h": h}

    def _slopes(self, done: Calculation, forces: Vector | None = None, moved: Pair | None = None) -> Fields:
        """Derivatives of cost and constraints."""
        if self._nothing is not None:
            return self._nothing
        at = StagePlace.of(self.stage, done.x, done.u, forces, moved)
        Lx, Lu, Lxx, Lxu, Luu = self.costs.slopes(at)
        Gx, Gu, Hx, Hu = self.constraints.slopes(at)
        return {"Lx": Lx, "Lu": Lu, "Lxx": Lxx, "Lxu": Lxu, "Luu": Luu, "Gx": Gx, "Gu": Gu, "Hx": Hx, "Hu": Hu}


class DifferentialAction(Action):
    """A node whose dynamics are accelerations: `calc` gives `acceleration` (nv,); Fx is (nv, ndx), Fu (nv, nu)."""

    def asked_of_step(self, h: float) -> tuple[str, ...]:
        """What is asked about explicit steps of h [s] in time, in words; nothing by default."""
        return ()


class DiscreteAction(Action):
    """A node whose dynamics are a next state: `calc` gives `next_state` (nx,).

    Fx (ndx, ndx) and Fu (ndx, nu) are in the tangent of the next state.
    """


_NONE = read_only(np.zeros(0))


def own(calculation: object, kind: type[Any], action: Action) -> Any:
    """A calculation that an action made itself.

    Raises:
        WrongObjectError: something else.
        OptionError: a calculation of another action.
    """
    done = expect(calculation, kind, "calculation to be differentiated", f"a {kind.__name__}, which calc returns")
    if done.action is not action:
        raise OptionError(
            f"calculation to be differentiated: it is of another action, {done.action!r}; an action differentiates "
            "what its own calc returned"
        )
    return done
