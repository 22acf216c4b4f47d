"""Dynamics in minimal coordinates: inertia, residual and direct dynamics after both reductions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from scipy.linalg import lapack

from liegroups.arguments import finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..dynamics.external_force import Force, as_external, generalised
from ..dynamics.row_forces import RowForces
from ..dynamics.saddle_point import Solution
from ..dynamics.status import DynamicsStatus
from ..dynamics.system import ConstrainedSystem, Question
from ..errors import ConstraintError
from ..keywords import names_checked
from ..linear_algebra import RANK_TOLERANCE

if TYPE_CHECKING:
    from .state import ClosedState

_potrf: Any = lapack.dpotrf
_potrs: Any = lapack.dpotrs


class Residual(NamedTuple):
    """What is missing at a motion: generalised forces on independent and driven coordinates.

    Attributes:
        independent: R_u (nu,); zero where the motion is one of the mechanism under the forces given.
        driven: Q_c (nc,), what the drives must give.
        acceleration: (nv,), closed.
        multipliers: lambda (size,); zero on redundant rows.
    """

    independent: Vector
    driven: Vector
    acceleration: Vector
    multipliers: Vector


class NoReducedAccelerationError(ConstraintError):
    """Reduced dynamics were not solved; carries the result: `result`."""

    def __init__(self, result: ReducedDynamics) -> None:
        self.result = result
        super().__init__(str(result))


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReducedDynamics(RowForces):
    r"""Accelerations, driven forces and multipliers: :math:`M a + h = \tau + Q_c + J^T \lambda`.

    Attributes:
        acceleration: a (nv,) [m/s2, rad/s2], closed.
        driven_forces: Q_c (nc,) [N, N m], what the drives give besides tau, in the order of `coordinates.driven`.
        multipliers: lambda (size,), on the successors; zero on redundant rows (`least_norm` spreads them).
        status: how it ended.
        state: where.
        question: what was asked; its tau has the driven forces.
    """

    acceleration: Vector
    driven_forces: Vector
    multipliers: Vector
    status: DynamicsStatus
    state: ClosedState
    question: Question
    solution: Solution | None = None
    solved: ConstrainedSystem | None = None

    @property
    def success(self) -> bool:
        """Whether the accelerations are unique and finite."""
        return self.status.is_success

    @property
    def acting(self) -> tuple[Force, ...]:
        """What acts besides joint forces and constraints."""
        return self.question.external

    @property
    def independent_acceleration(self) -> Vector:
        """Accelerations of the independent coordinates (nu,)."""
        return self.acceleration[self.state.coordinates.partition.independent]

    def least_norm(self) -> Vector:
        r"""Multipliers (size,) of least norm that give the same forces :math:`J^T \lambda`."""
        J = self.state.rows.jacobian
        return np.asarray(np.linalg.lstsq(J.T, J.T @ self.multipliers, rcond=RANK_TOLERANCE)[0], dtype=np.float64)

    def or_raise(self) -> ReducedDynamics:
        """The result itself if it succeeded. Raises NoReducedAccelerationError, which carries it."""
        if not self.success:
            raise NoReducedAccelerationError(self)
        return self

    def __str__(self) -> str:
        return str(self.status)

    def __repr__(self) -> str:
        return f"ReducedDynamics({self.status.name})"


def motion_matrix(state: ClosedState) -> Matrix:
    """T (nv, nu + nc): velocities of all coordinates from the independent and driven ones; identity and B."""
    held = state.coordinates.held
    T = np.zeros((state.v.size, held.size))
    T[held, np.arange(held.size)] = 1.0
    T[state.coordinates.partition.dependent] = state.B
    return T


def reduced_mass_matrix(state: ClosedState) -> Matrix:
    r"""M_r (nu, nu), the inertia of the independent coordinates: :math:`2 T = \dot u^T M_r \dot u` with drives at rest.

    Source: `mbs_Mred` of Robotran.
    """
    T = motion_matrix(state)[:, : state.coordinates.partition.independent.size]
    return T.T @ state.motion.mass_matrix() @ T


@names_checked("options are named: tau=, external=")
def reduced_residual(
    state: ClosedState,
    acceleration: ArrayLike | None = None,
    driven_acceleration: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    external: Iterable[Force] = (),
) -> Residual:
    r"""What is missing at prescribed accelerations, by inverse dynamics of the tree, without a mass matrix.

    .. math:: R_u = (\varphi - \tau)_u + B_{vu}^T (\varphi - \tau)_v, \qquad
        Q_c = (\varphi - \tau)_c + B_{vc}^T (\varphi - \tau)_v, \qquad \varphi = M a + h

    Args:
        state: where; its dependent accelerations follow.
        acceleration: of the independent coordinates (nu,); zero by default.
        driven_acceleration: of the driven ones (nc,); by default those of their targets, else zero.
        tau: joint forces (nv,); zero by default.
        external: what else acts.

    Source: `mbs_Rred_core` of Robotran.
    """
    u = state.coordinates.partition.independent
    udd = np.zeros(u.size) if acceleration is None else acceleration
    a = state.acceleration(state.coordinates.spread(udd, _driven_acceleration(state, driven_acceleration)))
    motion = state.motion
    missing = motion.bias_force() + motion.inertial_force(a) - _applied(state, tau, as_external(external))
    reduced, multipliers = _reduced(state, missing)
    return Residual(reduced[: u.size], reduced[u.size :], a, multipliers)


@names_checked("options are named: tau=, driven_acceleration=, external=")
def reduced_forward_dynamics(
    state: ClosedState,
    tau: ArrayLike | None = None,
    *,
    driven_acceleration: ArrayLike | None = None,
    external: Iterable[Force] = (),
) -> ReducedDynamics:
    r"""Accelerations of the independent coordinates, then all others, driven forces and multipliers.

    .. math:: M_r \ddot u = -(F_u + M_{uc} \ddot c), \qquad Q_c = M_{cu} \ddot u + M_{cc} \ddot c + F_c

    Args:
        state: closed.
        tau: joint forces (nv,) [N, N m]; zero by default.
        driven_acceleration: of the driven coordinates (nc,); by default those of their targets, else zero.
        external: what else acts.

    Source: `dirdynared` of Robotran, with the term :math:`B_{vc} \ddot c` that its published source leaves out.
    """
    coordinates = state.coordinates
    n = coordinates.partition.independent.size
    forces = as_external(external)
    motion = state.motion
    M = motion.mass_matrix()
    T = motion_matrix(state)
    d = np.zeros(state.v.size)
    d[coordinates.partition.dependent] = state.drift
    applied = _applied(state, tau, forces)
    cdd = _driven_acceleration(state, driven_acceleration)
    known = d + T[:, n:] @ cdd
    bias = motion.bias_force() - applied
    Tu = T[:, :n]
    right = -(Tu.T @ (M @ known + bias))
    M_r = Tu.T @ M @ Tu
    status, udd = _solved(M_r, right)
    a = known + Tu @ udd
    reduced, multipliers = _reduced(state, M @ a + bias)
    driven = reduced[n:]
    drives = applied - generalised(forces, motion) if forces else applied
    drives = drives.copy()
    drives[coordinates.partition.driven] += driven
    question = Question(coordinates.constraint_set, state.q, state.v, drives, forces, None, state.rhs)
    return ReducedDynamics(a, driven, multipliers, status, state, question)


def _solved(M_r: Matrix, right: Vector) -> tuple[DynamicsStatus, Vector]:
    if not right.size:
        return DynamicsStatus.SOLVED, right
    if not (np.isfinite(M_r).all() and np.isfinite(right).all()):
        return DynamicsStatus.NOT_FINITE, np.zeros(right.size)
    factor, info = _potrf(M_r)
    sizes = np.diag(factor) ** 2
    if info != 0 or sizes.min() <= 1e-13 * sizes.max():
        return DynamicsStatus.SINGULAR_SYSTEM, np.zeros(right.size)
    return DynamicsStatus.SOLVED, _potrs(factor, right)[0]


def _reduced(state: ClosedState, missing: Vector) -> tuple[Vector, Vector]:
    """Missing forces (nv,) on the coordinates that do not follow (nu + nc,), and the multipliers (size,)."""
    coordinates = state.coordinates
    parts = coordinates.partition
    along = missing[parts.dependent]
    multipliers = np.zeros(coordinates.constraint_set.size)
    multipliers[parts.rows] = -state.lu.solve_transposed(along)
    return missing[coordinates.held] + state.B.T @ along, multipliers


def _applied(state: ClosedState, tau: ArrayLike | None, forces: tuple[Force, ...]) -> Vector:
    """Joint forces and generalised external ones (nv,)."""
    space = state.coordinates.constraint_set.robot.space
    given = np.zeros(space.nv) if tau is None else np.array(space.check_tangent(tau, "tau"))
    return given + generalised(forces, state.motion) if forces else given


def _driven_acceleration(state: ClosedState, given: ArrayLike | None) -> Vector:
    """Accelerations of the driven coordinates (nc,), from what was given or from their targets."""
    coordinates = state.coordinates
    driven = coordinates.partition.driven
    if given is not None:
        return np.array(finite_vector(given, driven.size, "acceleration of the driven coordinates"))
    robot = coordinates.constraint_set.robot
    whole = np.zeros(robot.nv)
    for joint, target in coordinates.targets.items():
        whole[robot.velocity_slice_of(joint)] = target.acceleration_at(state.t, robot.segments(joint).space)
    return whole[driven]
