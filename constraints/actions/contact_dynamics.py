"""Forward dynamics with contacts and loops as an action of optimal control, with exact derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import lapack

from liegroups.arguments import as_flag, as_tolerance, expect, finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..dynamics.derivatives import SolutionSlopes, balance_at, damped_slopes
from ..dynamics.row_space import RowSpace
from ..dynamics.saddle_point import solve_direct
from ..dynamics.status import DynamicsStatus
from ..errors import OptionError, RobotMismatchError
from ..loops import ConstraintSet
from ..robot import Robot
from ..robot.arguments import as_robot
from ..robot.elementary import ElementaryTree
from ..rows.row_owner import RowOwner
from .action import Calculation, Derivatives, DifferentialAction
from .actuators import Actuators
from .costs import Cost
from .quasi_static import QuasiStatic, quasi_static
from .stage_constraints import StageConstraint
from .state_space import StateSpace


@final
@dataclass(frozen=True, eq=False, repr=False)
class ContactCalculation(Calculation):
    """A node of contact dynamics.

    Attributes:
        acceleration: (nv,); None at a terminal node.
        multipliers: (size,) of the constraint set; None at a terminal node.
        status: how the dynamics were solved; None at a terminal node.
        action: whose.
        row_space: rank of the rows, where they are not damped.
    """

    acceleration: Vector | None
    multipliers: Vector | None
    status: DynamicsStatus | None
    action: ContactForwardDynamics
    row_space: RowSpace | None = None

    @property
    def success(self) -> bool:
        """Whether both equations of motion hold; at a terminal node whether it has a value."""
        return bool(np.isfinite(self.cost)) and (self.status is None or self.status.is_success)


@final
@dataclass(frozen=True, eq=False, repr=False)
class ContactDerivatives(Derivatives):
    """Derivatives of a node of contact dynamics.

    Attributes:
        multipliers_x, multipliers_u: (size, ndx) and (size, nu); None where they were not asked for.
    """

    multipliers_x: Matrix | None = None
    multipliers_u: Matrix | None = None


@final
class ContactForwardDynamics(DifferentialAction):
    r"""Constrained forward dynamics: :math:`(M + A)\,a + h = B u + J^T \lambda`, :math:`J a + \mu\lambda = \gamma`.

    Args:
        robot: the robot.
        actuators: B.
        constraint_set: contacts and loops, with their stabilisation; none by default.
        costs: terms of the cost.
        constraints: rows of inequalities and equalities.
        damping: mu >= 0, of one solve: the rows are then missed by :math:`-\mu\lambda`.
        armature: A >= 0 (nv,) or one number, added to the diagonal of the mass matrix, besides the model's own.
        with_force_derivatives: whether `calc_diff` gives those of the multipliers.

    Raises:
        RobotMismatchError: parts of another robot.
        OptionError: a negative damping or armature.

    Source: `DifferentialActionModelContactFwdDynamics` of Crocoddyl.
    """

    def __init__(
        self,
        robot: Robot,
        actuators: Actuators | None = None,
        constraint_set: ConstraintSet | None = None,
        costs: Iterable[Cost] = (),
        constraints: Iterable[StageConstraint] = (),
        damping: float = 0.0,
        armature: ArrayLike | float = 0.0,
        with_force_derivatives: bool = False,
    ) -> None:
        self.robot = as_robot(robot, "robot of contact dynamics")
        self.actuators = Actuators.full(robot) if actuators is None else expect(actuators, Actuators, "actuators")
        self.constraint_set = ConstraintSet(robot, []) if constraint_set is None else constraint_set
        expect(self.constraint_set, ConstraintSet, "constraint set of contact dynamics")
        for part, what in ((self.actuators.robot, "actuators"), (self.constraint_set.robot, "constraint set")):
            if not part.space.same_robot(self.robot.space):
                raise RobotMismatchError(f"{what} of another robot than the action '{self.robot.name}'")
        self.damping = as_tolerance(damping, "damping of contact dynamics")
        self.armature = armature_of(armature, self.robot.nv)
        self.with_force_derivatives = as_flag(with_force_derivatives, "with_force_derivatives")
        self._tree = ElementaryTree(self.robot.model)
        super().__init__(StateSpace(self.robot), self.actuators.nu, costs, constraints)

    @property
    def u_lower(self) -> Vector:
        """Lower bounds of the controls (nu,)."""
        return self.actuators.lower

    @property
    def u_upper(self) -> Vector:
        """Upper bounds of the controls (nu,)."""
        return self.actuators.upper

    def replace(self, **changes: Any) -> ContactForwardDynamics:
        """The same action with other arguments of the constructor."""
        arguments = {
            "robot": self.robot,
            "actuators": self.actuators,
            "constraint_set": self.constraint_set,
            "costs": self.costs.costs,
            "constraints": self.constraints.constraints,
            "damping": self.damping,
            "armature": self.armature,
            "with_force_derivatives": self.with_force_derivatives,
        }
        unknown = [name for name in changes if name not in arguments]
        if unknown:
            raise OptionError(f"contact dynamics have no argument '{unknown[0]}'; they have {', '.join(arguments)}")
        return ContactForwardDynamics(**{**arguments, **changes})

    def switched(
        self, on: Sequence[RowOwner | str | int] | None = None, off: Sequence[RowOwner | str | int] = ()
    ) -> ContactForwardDynamics:
        """The same action with some contacts on and others off, as `ConstraintSet.switched`."""
        return self.replace(constraint_set=self.constraint_set.switched(on, off))

    def quasi_static(
        self,
        x: ArrayLike,
        max_iterations: int = 5,
        tolerance: float = 1e-9,
        weights: Mapping[str, ArrayLike] | None = None,
    ) -> QuasiStatic:
        """Controls and multipliers that hold the robot at rest: see `quasi_static`."""
        return quasi_static(self, x, max_iterations, tolerance, weights)

    def calc(self, x: ArrayLike, u: ArrayLike | None = None) -> ContactCalculation:
        """As `Action.calc`."""
        state, control, node = self._node(x, u)
        if control is None:
            return ContactCalculation(**node, acceleration=None, multipliers=None, status=None, action=self)
        q, v = state[: self.state.nq], state[self.state.nq :]
        motion = self.robot.at(q, v)
        M = motion.mass_matrix()
        M[np.diag_indices_from(M)] += self.armature
        force = self.actuators.B(q) @ control - motion.bias_force()
        rows = self.constraint_set.rows_at(motion)
        gains, gamma = self.constraint_set.gains, -rows.drift
        if gains is not None:
            gamma = gamma - gains[0] * rows.position - gains[1] * rows.velocity
        if self.damping:
            a, multipliers = damped_solution(M, rows.jacobian, force, gamma, self.damping)
            ok = bool(np.isfinite(a).all())
            status = DynamicsStatus.SOLVED if ok else DynamicsStatus.NOT_FINITE
            return ContactCalculation(**node, acceleration=a, multipliers=multipliers, status=status, action=self)
        found = solve_direct(M, rows.jacobian, force, gamma, size=float(v @ v))
        return ContactCalculation(
            **node,
            acceleration=found.acceleration,
            multipliers=found.multipliers,
            status=found.status,
            action=self,
            row_space=found.row_space,
        )

    def calc_diff(self, calculation: Any) -> ContactDerivatives:
        """As `Action.calc_diff`."""
        done = expect(calculation, ContactCalculation, "calculation to be differentiated", "what calc returned")
        if done.action is not self:
            raise OptionError("calculation to be differentiated: it is of another action")
        if done.u is None or done.acceleration is None or done.multipliers is None:
            return ContactDerivatives(**vars(self._slopes(done, None, None)))
        q, v = done.x[: self.state.nq], done.x[self.state.nq :]
        data = self._tree.datas.take()
        balance = balance_at(self.constraint_set, q, v, done.acceleration, done.multipliers, self._tree, data)
        M = self.robot.at(q, v).mass_matrix()
        M[np.diag_indices_from(M)] += self.armature
        found: SolutionSlopes | None = damped_slopes(M, balance, self.damping)
        self._tree.datas.give(data)
        if found is None:
            raise OptionError("the rows are redundant: not yet")
        B, moved = self.actuators.B(q), self.actuators.slope(q, done.u)
        Fx = np.hstack([found.a_q + found.a_tau @ moved, found.a_v])
        both = self._slopes(done, Fx, found.a_tau @ B)
        if not self.with_force_derivatives:
            return ContactDerivatives(**vars(both))
        by_x = np.hstack([found.l_q + found.l_tau @ moved, found.l_v])
        return ContactDerivatives(**vars(both), multipliers_x=by_x, multipliers_u=found.l_tau @ B)

    def __repr__(self) -> str:
        return (
            f"ContactForwardDynamics({self.robot.name!r}, nu {self.nu}, {self.constraint_set!r}, nr {self.nr}, "
            f"ng {self.ng}, nh {self.nh}, damping {self.damping:g})"
        )


def armature_of(armature: ArrayLike | float, nv: int) -> Vector:
    numbers = np.asarray(armature, dtype=np.float64)
    whole = finite_vector(np.full(nv, float(numbers)) if numbers.ndim == 0 else numbers, nv, "armature")
    if (whole < 0.0).any():
        raise OptionError(f"armature: expected no negative numbers, got {whole.min():g}")
    return np.array(whole)


def damped_solution(M: Matrix, J: Matrix, force: Vector, gamma: Vector, damping: float) -> tuple[Vector, Vector]:
    r"""Acceleration and multipliers by :math:`(J M^{-1} J^T + \mu I)\,\lambda = \gamma - J M^{-1} f`."""
    L, failed = lapack.dpotrf(M, lower=1)
    if failed:
        return np.full(len(M), np.nan), np.zeros(len(J))
    Y = lapack.dtrtrs(L, np.asfortranarray(J.T), lower=1)[0]
    z = lapack.dtrtrs(L, force, lower=1)[0]
    S = Y.T @ Y
    S.flat[:: len(J) + 1] += damping
    push = lapack.dposv(S, gamma - Y.T @ z)[1] if len(J) else gamma
    return lapack.dtrtrs(L, z + Y @ push, lower=1, trans=1)[0], push
