"""Dynamics in minimal coordinates: residual and direct dynamics after both reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, NamedTuple, final

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import Matrix, TangentLike, Vector

from ..dynamics.laws.external_force import Force, as_external, generalised
from ..dynamics.methods.cholesky import EVEN, LIGHT, NO_MASS, lightest
from ..dynamics.methods.saddle_point import NO_MOTION, unit_scale
from ..dynamics.methods.status import DynamicsStatus
from ..dynamics.methods.system import Question
from ..linear_algebra import is_finite
from ..loops.mobility import taking_part
from ..words import first_names
from .reduced_forces import ReducedForces
from .state import ClosedState
from .system import (
    ReducedSystem,
    assembled,
    closed_acceleration,
    driven_acceleration as driven_acceleration_of,
    independent_acceleration,
    joint_forces,
    multipliers_of,
    reacting,
    rows_agree,
)


class MassFactor(NamedTuple):
    """The factorised inertia of the independent coordinates.

    Attributes:
        status: whether it can be solved with.
        solve: accelerations of the independent coordinates (nu,) from the forces on them (nu,).
        evenness: its least pivot, as a part of its diagonal entry.
        free: (nv, m) motions without mass.
    """

    status: DynamicsStatus
    solve: Callable[[Vector], Vector] = np.zeros_like
    evenness: float = 1.0
    free: Matrix = NO_MOTION


class Residual(NamedTuple):
    """Missing generalised forces on independent and driven coordinates at a given motion.

    Attributes:
        independent: R_u (nu,); zero if the motion is possible under the given forces.
        driven: Q_c (nc,), forces that the drives must give.
        acceleration: (nv,), closed.
        multipliers: lambda (size,); zero on redundant rows.
    """

    independent: Vector
    driven: Vector
    acceleration: Vector
    multipliers: Vector


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReducedDynamics(ReducedForces):
    r"""Accelerations, driven forces and multipliers: :math:`M a + h = \tau + Q_c + J^T \lambda`.

    It is neither true nor false (`if result:` raises): `success` says whether all equations hold.

    Attributes:
        acceleration: a (nv,) [m/s2, rad/s2], closed; zero if there is none.
        driven_forces: Q_c (nc,) [N, N m], forces of the drives in addition to tau, in the order of
            `coordinates.driven`.
        multipliers: lambda (size,), on the successors; zero on redundant rows (`least_norm` spreads them).
        status: how it ended.
        state: the closed state.
        question: arguments of the call; its tau includes the driven forces.
        free: (nv, m) motions of norm 1 without mass that nothing holds, if the status is SINGULAR_SYSTEM.
    """

    _joint_vectors: ClassVar[tuple[str, ...]] = ("acceleration",)

    acceleration: Vector
    driven_forces: Vector
    multipliers: Vector
    status: DynamicsStatus
    state: ClosedState
    question: Question
    free: Matrix

    @property
    def acting(self) -> tuple[Force, ...]:
        """The external forces."""
        return self.question.external

    @property
    def free_motions(self) -> tuple[str, ...]:
        """Names of coordinates that neither mass nor rows nor drives hold, if the status is SINGULAR_SYSTEM."""
        return taking_part(self.state.coordinates.constraint_set.robot, self.free) if self.free.size else ()

    def __str__(self) -> str:
        return f"{self.status}{f' Left free: {first_names(self.free_motions)}.' if self.free.size else ''}"

    def __repr__(self) -> str:
        return f"ReducedDynamics({self.status.name})"


def reduced_residual(
    state: ClosedState,
    acceleration: TangentLike | None = None,
    driven_acceleration: TangentLike | None = None,
    *,
    tau: TangentLike | None = None,
    external: Iterable[Force] = (),
) -> Residual:
    r"""Missing generalised forces at prescribed accelerations, by inverse dynamics of the tree, without a mass matrix.

    .. math:: R_u = (\varphi - \tau)_u + B_{vu}^T (\varphi - \tau)_v, \qquad
        Q_c = (\varphi - \tau)_c + B_{vc}^T (\varphi - \tau)_v, \qquad \varphi = M a + h

    So :math:`R_u = M_r \ddot u + M_{uc} \ddot c + F_u` (`reduced_system`).

    Args:
        state: the closed state; its dependent accelerations follow.
        acceleration: of the independent coordinates (nu,); zero by default.
        driven_acceleration: of the driven ones (nc,); by default from their targets, else zero.
        tau: joint forces (nv,) [N, N m], or by joint, {"crank": 1.0}; zero by default.
        external: what else acts.

    Raises:
        SizeError, NotFiniteError, WrongObjectError: an invalid argument.

    Source: `mbs_Rred_core` of Robotran; `mbs_Rred` with a state from `coordinates.at(q, v, close=True)`.
    """
    force, forces = joint_forces(state, tau), as_external(external)
    udd = independent_acceleration(state, acceleration)
    a = closed_acceleration(state, udd, driven_acceleration_of(state, driven_acceleration))
    missing = missing_force(state, a, force, forces)
    left, multipliers = reacting(state, missing)
    return Residual(left[: udd.size], left[udd.size :], a, multipliers)


def missing_force(state: ClosedState, a: Vector, tau: Vector, external: tuple[Force, ...]) -> Vector:
    """M a + h - tau (nv,) of the tree, external forces taken off, by recursion."""
    motion = state.motion
    missing = motion.inertial_force(a) + motion.bias_force() - tau
    return missing - generalised(external, motion) if external else missing


def reduced_forward_dynamics(
    state: ClosedState,
    tau: TangentLike | None = None,
    *,
    driven_acceleration: TangentLike | None = None,
    external: Iterable[Force] = (),
) -> ReducedDynamics:
    r"""Accelerations of the independent coordinates, then all others, driven forces and multipliers.

    .. math:: M_r \ddot u = -(F_u + M_{uc} \ddot c), \qquad a_v = B_{vu} \ddot u + B_{vc} \ddot c + b'

    .. math:: Q_c = M_{cu} \ddot u + M_{cc} \ddot c + F_c, \qquad \lambda = J_v^{-T} (M a + h - \tau)_v

    A stabilisation of the constraint set is ignored: the state is closed.

    Args:
        state: closed.
        tau: joint forces (nv,) [N, N m], or by joint, {"crank": 1.0}; zero by default.
        driven_acceleration: of the driven coordinates (nc,); by default from their targets, else zero.
        external: external forces: wrenches on bodies, forces at hinges, springs.

    Returns:
        A value; failure is a status, never an exception.

    Raises:
        SizeError, NotFiniteError, WrongObjectError: an invalid argument.

    Source: `dirdynared` of Robotran, with the term :math:`B_{vc} \ddot c` that its published source leaves out.
    """
    given, forces = joint_forces(state, tau), as_external(external)
    cdd = driven_acceleration_of(state, driven_acceleration)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is NOT_FINITE
        system = assembled(state, given, forces)
        factor = _factorised(system)
        if factor.status is not DynamicsStatus.SOLVED:
            return _refused(state, factor, given, forces)
        a, driven, multipliers = _answer(system, factor, cdd)
    if not (is_finite(a) and is_finite(driven) and is_finite(multipliers)):
        return _refused(state, MassFactor(DynamicsStatus.NOT_FINITE), given, forces)
    status = DynamicsStatus.SOLVED if rows_agree(state, a) else DynamicsStatus.INCONSISTENT
    given[state.coordinates.partition.driven] += driven
    return ReducedDynamics(a, driven, multipliers, status, state, question_of(state, given, forces), NO_MOTION)


def question_of(state: ClosedState, tau: Vector, forces: tuple[Force, ...]) -> Question:
    """What was asked of a state: joint forces (nv,), external ones."""
    return Question(state.coordinates.constraint_set, state.q, state.v, tau, forces, None, state.rhs)


def _refused(state: ClosedState, factor: MassFactor, tau: Vector, forces: tuple[Force, ...]) -> ReducedDynamics:
    driven, rows = state.coordinates.partition.driven.size, state.coordinates.constraint_set.size
    a, question = np.zeros(state.v.size), question_of(state, tau, forces)
    return ReducedDynamics(a, np.zeros(driven), np.zeros(rows), factor.status, state, question, factor.free)


def _answer(system: ReducedSystem, factor: MassFactor, cdd: Vector) -> tuple[Vector, Vector, Vector]:
    """Accelerations (nv,), driven forces (nc,) and multipliers (size,), by the factor of M_r."""
    state, M = system.state, system.inertia
    parts, n = state.coordinates.partition, system.split
    h, v = parts.rows, parts.dependent
    Tu, Tc = system.motions[:, :n], system.motions[:, n:]

    def answer(force: Vector, drift: Vector, cdd: Vector) -> tuple[Vector, Vector, Vector]:
        known = drift + Tc @ cdd
        a = known + Tu @ factor.solve(-(Tu.T @ (force + M @ known)))
        missing = force + M @ a
        return a, Tc.T @ missing, multipliers_of(state, missing[v])

    a, driven, multipliers = answer(system.force, system.drift, cdd)
    if min(state.lu.rcond, factor.evenness) < EVEN:  # what rounding left of both equations is solved for again
        J, drift = state.rows.jacobian[h], np.zeros(a.size)
        force = system.force + M @ a - multipliers[h] @ J
        force[parts.driven] -= driven
        drift[v] = state.lu.solve(state.rows.drift[h] + J @ a)
        more = answer(force, drift, np.zeros(cdd.size))
        return a + more[0], driven + more[1], multipliers + more[2]
    return a, driven, multipliers


def _factorised(system: ReducedSystem) -> MassFactor:
    """The factor of M_r."""
    M_r, heaviest = system.independent_mass, float(system.inertia.diagonal().max(initial=0.0))
    if not (is_finite(system.bias) and isfinite(float(M_r.trace()))):  # the diagonal of an inertia bounds all of it
        return MassFactor(DynamicsStatus.NOT_FINITE)
    if not M_r.size:
        return MassFactor(DynamicsStatus.SOLVED)
    L, failed = lapack.dpotrf(M_r, lower=1)
    pivots: Vector = L.diagonal()
    evenness = 0.0 if failed else lightest(L, M_r)
    if evenness <= LIGHT or not (pivots * pivots > LIGHT * heaviest).all():
        return _weighed(system)

    def solve(right: Vector) -> Vector:
        return lapack.dpotrs(L, right, lower=1)[0]

    return MassFactor(DynamicsStatus.SOLVED, solve, evenness)


def _weighed(system: ReducedSystem) -> MassFactor:
    """The same where inertias differ by many orders of magnitude, or are missing: in an orthonormal basis of motions.

    By the measure of the saddle point: coordinates are scaled to inertias of one.
    """
    scale = unit_scale(system.inertia)
    Z, R = np.linalg.qr(system.motions[:, : system.split] / scale[:, None])
    values, vectors = np.linalg.eigh(Z.T @ (system.inertia * scale * scale[:, None]) @ Z)
    massless = values <= NO_MASS * max(values[-1], 1.0)
    if massless.any():
        free = np.linalg.qr(scale[:, None] * (Z @ vectors[:, massless]))[0]
        return MassFactor(DynamicsStatus.SINGULAR_SYSTEM, free=free)

    def solve(right: Vector) -> Vector:
        push = lapack.dtrtrs(R, right, trans=1)[0]
        return lapack.dtrtrs(R, vectors @ ((push @ vectors) / values))[0]

    return MassFactor(DynamicsStatus.SOLVED, solve, 0.0)
