"""Impacts as a discrete action: the velocity jumps, the configuration stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only

from ..dynamics.derivatives import EquationChanges, SolutionSlopes
from ..dynamics.impact import restitutions
from ..dynamics.methods.row_space import RowSpace
from ..dynamics.methods.status import DynamicsStatus
from ..dynamics.multipliers import Multipliers
from ..loops import ConstraintSet
from ..loops.set_slopes import set_slopes
from ..robot import Robot
from ..robot.arguments import as_robot
from .action import DiscreteAction, own
from .constrained_action import ConstrainedAction
from .contact_calculation import ContactDerivatives, DynamicsNode
from .costs import Cost
from .equations import differentiated, rough_parts, slopes_at, solved_by_rows
from .stage_constraints import StageConstraint
from .state_space import StateSpace


@final
@dataclass(frozen=True, eq=False, repr=False)
class ImpulseCalculation(DynamicsNode):
    """An impact.

    Attributes:
        next_state: (nx,), q and the velocity after; that is NaN where it is not unique.
        impulses: Lambda (size,) [N s, N m s], of the sign of multipliers; zero where a contact is off.
        status: how it was solved.
        action: whose.
        row_space: rank and redundant rows, where it was asked for.
        mass_matrix: (nv, nv) with armature.
    """

    next_state: Vector
    impulses: Vector
    status: DynamicsStatus
    action: ImpulseDynamics
    row_space: RowSpace | None
    mass_matrix: Matrix

    @property
    def _multipliers(self) -> Multipliers:
        return Multipliers(self.action.constraint_set, self.x[: self.action.state.nq], self.impulses)


@final
class ImpulseDynamics(ConstrainedAction, DiscreteAction):
    r"""An impact: :math:`(M + A)(v^+ - v) = J^T \Lambda`, :math:`J v^+ + \mu \Lambda = -e\,J v`.

    There are no controls: `calc(x)` and `calc(x, [])` are the same, and there is no terminal node. As the last node of
    a problem it is an impact at the end: costs and rows of impulses count there.

    Args:
        robot: the robot.
        constraint_set: the new contacts, and the loops.
        restitution: e in [0, 1] of contacts, one number or by contact (as the key the object, its position, or its
            name); closures and other constraints have 0.
        costs: terms of the cost; functions of forces get the impulses.
        constraints: rows of inequalities and equalities.
        damping: mu >= 0.
        armature: A >= 0, added to the diagonal of M, (nv,) or one number.

    Attributes:
        robot, constraint_set, restitution, damping, armature: as given; the restitution by row (size,).

    Raises:
        RobotMismatchError: a set of another robot.
        OptionError, WrongObjectError, SizeError: an invalid argument.

    Source: `ActionModelImpulseFwdDynamics` of Crocoddyl, whose derivatives leave the restitution out.
    """

    has_terminal = False
    _light, _what = frozenset(("constraint_set", "restitution", "damping", "armature")), "an impact"
    restitution: Vector

    def __init__(
        self,
        robot: Robot,
        constraint_set: ConstraintSet,
        restitution: float | Mapping[Any, float] = 0.0,
        costs: Iterable[Cost] = (),
        constraints: Iterable[StageConstraint] = (),
        damping: float = 0.0,
        armature: ArrayLike | float = 0.0,
    ) -> None:
        self.robot = as_robot(robot, "robot of an impact")
        self._set(
            {"constraint_set": constraint_set, "restitution": restitution, "damping": damping, "armature": armature}
        )
        super().__init__(StateSpace(self.robot).with_controls(0, self.constraint_set), costs, constraints)

    def _set(self, given: Mapping[str, Any]) -> None:
        """As `ConstrainedAction._set`."""
        super()._set(given)
        if "restitution" in given:
            self._given = given["restitution"]
            self.restitution = read_only(restitutions(self.constraint_set, self._given))

    @property
    def _arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("robot", *self._light)} | {"restitution": self._given}

    @property
    def u_lower(self) -> Vector:
        """There are no controls: (0,)."""
        return np.zeros(0)

    @property
    def u_upper(self) -> Vector:
        """There are no controls: (0,)."""
        return np.zeros(0)

    def calc(self, x: ArrayLike, u: ArrayLike | None = None) -> ImpulseCalculation:
        """As `Action.calc`; there are no controls, so both calls are the same."""
        state, _ = self._checked(x, np.zeros(0) if u is None else u)
        nq, rows_of = self.state.nq, self.constraint_set
        v = state[nq:]
        motion = self.robot.at(state[:nq], v)
        M = motion.mass_matrix()
        M.flat[:: len(M) + 1] += self.armature
        rows = rows_of.rows_at(motion)
        asked = np.where(rows_of.counts_in(rows), -(1.0 + self.restitution) * (rows.jacobian @ v), 0.0)
        solved = solved_by_rows(rows_of, M, np.zeros(v.size), rows, asked, self.damping, lambda: float(np.sqrt(v @ v)))
        jump, impulses, status, row_space = solved
        after = np.concatenate((state[:nq], v + jump))
        node = self._node(state, np.zeros(0), impulses)
        return ImpulseCalculation(
            **node, next_state=after, impulses=impulses, status=status, action=self, row_space=row_space, mass_matrix=M
        )

    def calc_diff(self, calculation: Any) -> ContactDerivatives:
        """As `Action.calc_diff`."""
        done: ImpulseCalculation = own(calculation, ImpulseCalculation, self)
        n = self.state.nv
        Fu = np.zeros((2 * n, 0))
        found: SolutionSlopes | None = None
        names, status = (), DynamicsStatus.NOT_SOLVED
        if done.success:
            found, names = self._own_slopes(done)
            status = differentiated(done.status)
            if found is None or not np.isfinite(found.a_q).all():
                found, status = None, DynamicsStatus.NO_DERIVATIVES
        if found is None:
            none, no_impulses = np.full((2 * n, 2 * n), np.nan), np.full((self.constraint_set.size, 2 * n), np.nan)
            node = self._slopes(done, done.impulses)
            return ContactDerivatives(
                Fx=none, Fu=Fu, **node, status=status, multipliers_x=no_impulses, by_differences=names
            )
        Fx = np.eye(2 * n)
        Fx[n:, :n] = found.a_q
        Fx[n:, n:] += found.a_v
        by_x = np.concatenate((found.l_q, found.l_v), axis=1)
        node = self._slopes(done, done.impulses, (by_x, np.zeros((len(by_x), 0))))
        return ContactDerivatives(Fx=Fx, Fu=Fu, **node, status=status, multipliers_x=by_x, by_differences=names)

    def _own_slopes(self, done: ImpulseCalculation) -> tuple[SolutionSlopes | None, tuple[str, ...]]:
        r"""Derivatives of the jump and of the impulses, and the names of constraints that have no formulas.

        With :math:`\delta = v^+ - v`: :math:`M\delta = J^T\Lambda`, :math:`J\delta + \mu\Lambda = -(1 + e) J v`.
        """
        n, nq, rows_of = self.state.nv, self.state.nq, self.constraint_set
        q, v, after = done.x[:nq], done.x[nq:], done.next_state[nq:]
        still, tree, e = np.zeros(n), self.robot.space.elementary, self.restitution[:, None]
        data = tree.datas.take()
        rows = set_slopes(rows_of, q, after, still, done.impulses, tree, data)
        if self.restitution.any():
            rate = rows.rate + e * set_slopes(rows_of, q, v, still, done.impulses, tree, data).rate
        else:
            rate = rows.rate
        force = tree.force_slopes(data, q, still, after - v, rows.wrenches)[0] - rows.force
        force -= tree.force_slopes(data, q, still, still)[0]  # gravity, which a jump does not see
        M = done.mass_matrix
        balance = EquationChanges(rows, force, np.zeros((n, n)), rate, (1.0 + e) * rows.jacobian)
        found = slopes_at(rows_of, q, M, balance, done.impulses, data, self.damping, None, done.row_space is None)
        tree.datas.give(data)
        return found, rough_parts(tree) + rows.by_differences

    def describe(self) -> str:
        """The action in words: contacts and loops with their restitution, costs, constraints."""
        rows = self.constraint_set
        lines = [f"impact of '{self.robot.name}': nx {self.state.nx}, ndx {self.state.ndx}, damping {self.damping:g}"]
        for name, kind, on, s in zip(rows.names, rows.kinds, rows.active, rows.stack.slices, strict=True):
            e = self.restitution[s].max(initial=0.0)
            lines.append(f"  {kind} '{name}', restitution {e:g}{'' if on else ', off'}")
        lines += [f"  cost '{cost.label}', weight {cost.weight:g}" for cost in self.costs.costs]
        lines += [f"  constraint '{one.label}'" for one in self.constraints.constraints]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        e = self.restitution.max(initial=0.0)
        return f"ImpulseDynamics({self.robot.name!r}, {self.constraint_set!r}, restitution {e:g})"
