"""Impacts as a discrete action: the velocity jumps, the configuration stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liegroups.arguments import as_tolerance, expect
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..dynamics.derivatives import Balance, damped_slopes
from ..errors import OptionError, RobotMismatchError
from ..loops import ConstraintSet
from ..loops.set_slopes import set_slopes
from ..robot import Robot
from ..robot.arguments import as_robot
from ..robot.elementary import ElementaryTree
from ..robot.pinocchio import pin
from .action import Calculation, Derivatives, DiscreteAction
from .contact_dynamics import armature_of, damped_solution
from .costs import Cost
from .stage_constraints import StageConstraint
from .state_space import StateSpace


@final
@dataclass(frozen=True, eq=False, repr=False)
class ImpulseCalculation(Calculation):
    """An impact.

    Attributes:
        next_state: (nx,), q and the velocity after.
        impulses: Lambda (size,) [N s, N m s]; of the sign of multipliers.
        action: whose.
    """

    next_state: Vector
    impulses: Vector
    action: ImpulseDynamics


@final
@dataclass(frozen=True, eq=False, repr=False)
class ImpulseDerivatives(Derivatives):
    """Derivatives of an impact.

    Attributes:
        impulses_x: (size, ndx).
    """

    impulses_x: Matrix | None = None


@final
class ImpulseDynamics(DiscreteAction):
    r"""An impact: :math:`M (v^+ - v) = J^T \Lambda`, :math:`J v^+ + \mu \Lambda = -e\,J v`.

    Args:
        robot: the robot.
        constraint_set: the contacts that come to hold, and the loops that hold.
        restitution: e, of all rows, from 0 (they stick) to 1.
        costs: terms of the cost.
        constraints: rows of inequalities and equalities.
        damping: mu >= 0.
        armature: added to the diagonal of M, (nv,) or one number.

    Source: `ActionModelImpulseFwdDynamics` of Crocoddyl, whose derivatives leave the restitution out.
    """

    def __init__(
        self,
        robot: Robot,
        constraint_set: ConstraintSet,
        restitution: float = 0.0,
        costs: Iterable[Cost] = (),
        constraints: Iterable[StageConstraint] = (),
        damping: float = 0.0,
        armature: ArrayLike | float = 0.0,
    ) -> None:
        self.robot = as_robot(robot, "robot of an impact")
        self.constraint_set = expect(constraint_set, ConstraintSet, "constraint set of an impact")
        if not constraint_set.robot.space.same_robot(self.robot.space):
            raise RobotMismatchError(f"constraint set of another robot than the action '{self.robot.name}'")
        self.restitution = as_tolerance(restitution, "restitution of an impact")
        if self.restitution > 1.0:
            raise OptionError(f"restitution of an impact: expected at most 1, got {self.restitution:g}")
        self.damping = as_tolerance(damping, "damping of an impact")
        self.armature = armature_of(armature, self.robot.nv)
        self._tree = ElementaryTree(self.robot.model)
        super().__init__(StateSpace(self.robot), 0, costs, constraints)

    @property
    def u_lower(self) -> Vector:
        """There are no controls."""
        return np.zeros(0)

    @property
    def u_upper(self) -> Vector:
        """There are no controls."""
        return np.zeros(0)

    def _mass(self, q: Vector, v: Vector) -> tuple[Matrix, Matrix]:
        motion = self.robot.at(q, v)
        M = motion.mass_matrix()
        M[np.diag_indices_from(M)] += self.armature
        return M, self.constraint_set.rows_at(motion).jacobian

    def calc(self, x: ArrayLike, u: ArrayLike | None = None) -> ImpulseCalculation:
        """As `Action.calc`; there are no controls, so that both calls are the same."""
        state, _, node = self._node(x, np.zeros(0) if u is None else u)
        q, v = state[: self.state.nq], state[self.state.nq :]
        M, J = self._mass(q, v)
        jump, impulses = damped_solution(M, J, np.zeros(v.size), -(1.0 + self.restitution) * (J @ v), self.damping)
        return ImpulseCalculation(**node, next_state=np.concatenate([q, v + jump]), impulses=impulses, action=self)

    def calc_diff(self, calculation: Any) -> ImpulseDerivatives:
        """As `Action.calc_diff`."""
        done = expect(calculation, ImpulseCalculation, "calculation to be differentiated", "what calc returned")
        if done.action is not self:
            raise OptionError("calculation to be differentiated: it is of another action")
        n, nq = self.state.nv, self.state.nq
        q, v, after = done.x[:nq], done.x[nq:], done.next_state[nq:]
        still, data, model = np.zeros(n), self._tree.datas.take(), self._tree.model
        asked = after + self.restitution * v
        rows = set_slopes(self.constraint_set, q, asked, still, done.impulses, self._tree, data)
        force = pin.computeRNEADerivatives(model, data, q, still, after - v, rows.wrenches)[0] - rows.force
        force = force - pin.computeGeneralizedGravityDerivatives(model, data, q)
        self._tree.datas.give(data)
        M, _ = self._mass(q, v)
        found = damped_slopes(M, Balance(rows, force, -M, rows.rate, self.restitution * rows.jacobian), self.damping)
        if found is None:
            raise OptionError("the rows are redundant: not yet")
        Fx = np.zeros((2 * n, 2 * n))
        Fx[:n, :n], Fx[n:, :n], Fx[n:, n:] = np.eye(n), found.a_q, found.a_v
        both = self._slopes(done, Fx, np.zeros((2 * n, 0)))
        return ImpulseDerivatives(**vars(both), impulses_x=np.hstack([found.l_q, found.l_v]))

    def __repr__(self) -> str:
        return f"ImpulseDynamics({self.robot.name!r}, {self.constraint_set!r}, restitution {self.restitution:g})"
