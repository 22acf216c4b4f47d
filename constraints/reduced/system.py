"""The reduced system: equations of motion of the coordinates that do not follow from others, at one closed state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Matrix, TangentLike, Vector

from ..dynamics.laws.external_force import Force, as_external, generalised
from ..dynamics.methods.cholesky import EVEN
from ..loops.mobility import CLOSED
from .coordinates import MinimalCoordinates
from .state import ClosedState

AGREED = CLOSED
"""Part of the size of accelerations by which redundant rows may be missed: as closed as positions and velocities."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReducedSystem:
    r"""Equations of motion of the independent coordinates u and the driven ones c, after the first reduction.

    .. math:: M_{ruc} \begin{bmatrix} \ddot u \\ \ddot c \end{bmatrix} + F_{ruc} =
        \begin{bmatrix} 0 \\ Q_c \end{bmatrix}, \qquad
        M_{ruc} = T^T M\,T, \quad F_{ruc} = T^T (M d + h - \tau), \quad a = T\,a_{uc} + d

    The second reduction takes the driven motion as known: :math:`M_r \ddot u = -(F_u + M_{uc} \ddot c)`.

    Attributes:
        state: the closed state.
        mass_matrix: M_ruc (nu + nc, nu + nc), u before c.
        bias: F_ruc (nu + nc,): Coriolis, centrifugal and gravity forces and the drift of the rows, minus joint forces
            and external ones.
        motions: T (nv, nu + nc), accelerations of all coordinates from independent and driven ones: identity and B.
        drift: d (nv,), accelerations of all coordinates if independent and driven ones are zero.
        inertia: M (nv, nv), of the tree.
        force: h - tau (nv,), of the tree, minus external forces.

    Source: `dirdynared` of Robotran, its fields Mruc, Fruc.
    """

    state: ClosedState
    mass_matrix: Matrix
    bias: Vector
    motions: Matrix
    drift: Vector
    inertia: Matrix
    force: Vector

    @property
    def split(self) -> int:
        """Number of independent coordinates, nu: the driven ones start there."""
        return self.state.coordinates.partition.independent.size

    @property
    def independent_mass(self) -> Matrix:
        """M_r = M_ruc[u, u] (nu, nu)."""
        return self.mass_matrix[: self.split, : self.split]

    @property
    def coupling(self) -> Matrix:
        """M_ruc[u, c] (nu, nc)."""
        return self.mass_matrix[: self.split, self.split :]

    @property
    def driven_mass(self) -> Matrix:
        """M_ruc[c, c] (nc, nc)."""
        return self.mass_matrix[self.split :, self.split :]

    @property
    def independent_bias(self) -> Vector:
        """F_ruc[u] (nu,)."""
        return self.bias[: self.split]

    @property
    def driven_bias(self) -> Vector:
        """F_ruc[c] (nc,)."""
        return self.bias[self.split :]

    def __repr__(self) -> str:
        return f"ReducedSystem(u {self.split}, c {self.bias.size - self.split})"


def reduced_system(
    state: ClosedState, *, tau: TangentLike | None = None, external: Iterable[Force] = ()
) -> ReducedSystem:
    """Inertia and bias of the independent and driven coordinates.

    Args:
        state: closed.
        tau: joint forces (nv,) [N, N m], or by joint, {"crank": 1.0}; zero by default.
        external: external forces.
    """
    forces = as_external(external)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not finite
        return assembled(state, joint_forces(state, tau), forces)


def assembled(state: ClosedState, tau: Vector, external: tuple[Force, ...]) -> ReducedSystem:
    """The system of arguments that have been checked."""
    motion = state.motion
    M, force = motion.mass_matrix(), motion.bias_force() - tau
    if external:
        force -= generalised(external, motion)
    T, d = motion_matrix(state), np.zeros(tau.size)
    d[state.coordinates.partition.dependent] = state.drift
    return ReducedSystem(state, T.T @ (M @ T), T.T @ (M @ d + force), T, d, M, force)


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
    check_state(state)
    T = motion_matrix(state)[:, : state.coordinates.partition.independent.size]
    return T.T @ state.motion.mass_matrix() @ T


def reacting(state: ClosedState, missing: Vector) -> tuple[Vector, Vector]:
    r"""Where forces are missing on the coordinates of the tree, what the rows give of them, and what is left.

    .. math:: \lambda = J_v^{-T} f_v, \qquad f_{uc} + B^T f_v

    Args:
        state: closed.
        missing: f (nv,).

    Returns:
        What is left on the coordinates that do not follow (nu + nc,), and the multipliers (size,), zero on redundant
        rows.
    """
    coordinates = state.coordinates
    along = missing[coordinates.partition.dependent]
    return missing[coordinates.held] + state.B.T @ along, multipliers_of(state, along)


def multipliers_of(state: ClosedState, along: Vector) -> Vector:
    """Multipliers (size,) from the forces that are missing on the dependent coordinates (r,)."""
    multipliers = np.zeros(state.coordinates.constraint_set.size)
    multipliers[state.coordinates.partition.rows] = -state.lu.solve_transposed(along)
    return multipliers


def closed_acceleration(state: ClosedState, udd: Vector, cdd: Vector) -> Vector:
    """Acceleration (nv,) from its independent and driven parts; what rounding left of the rows is solved for again."""
    a, parts = state.acceleration(state.coordinates.spread(udd, cdd)), state.coordinates.partition
    if state.lu.rcond < EVEN:
        a[parts.dependent] += state.lu.solve((state.rows.jacobian @ a + state.rows.drift)[parts.rows])
    return a


def rows_agree(state: ClosedState, a: Vector) -> bool:
    """Whether an acceleration (nv,) that meets the rows that count meets the redundant ones too.

    Up to what counts as rounding of the coordinates, or 1e-6: what left-out rows ask for beyond is a contradiction.
    """
    if not state.coordinates.partition.redundant.size:
        return True
    J, drift = state.rows.jacobian, state.rows.drift
    size = float(np.linalg.norm(J) * np.linalg.norm(a) + np.linalg.norm(drift))
    return bool(np.linalg.norm(J @ a + drift) <= max(AGREED, state.coordinates.tolerance) * size)


# Arguments.


def check_state(state: object) -> None:
    """Refuse what is no closed state."""
    expect(state, ClosedState, "state of reduced dynamics", "a ClosedState: coordinates.at(q, v)")


def joint_forces(state: ClosedState, tau: TangentLike | None) -> Vector:
    """Joint forces (nv,) from what a user gave; zero by default. Refuses what is no closed state."""
    check_state(state)
    space = state.coordinates.constraint_set.robot.space
    return np.zeros(space.nv) if tau is None else np.array(space.check_tangent(tau, "tau"))


def independent_acceleration(state: ClosedState, given: TangentLike | None) -> Vector:
    """Accelerations of the independent coordinates (nu,) from what a user gave; zero by default."""
    coordinates = state.coordinates
    if given is None:
        return np.zeros(coordinates.partition.independent.size)
    return coordinates.independent_part(given, "acceleration of the independent coordinates")


def driven_acceleration(state: ClosedState, given: TangentLike | None) -> Vector:
    """Accelerations of the driven coordinates (nc,), from what a user gave or from their targets, else zero."""
    if given is not None:
        return state.coordinates.driven_part(given, "acceleration of the driven coordinates")
    return target_accelerations(state.coordinates, state.t)


def target_accelerations(coordinates: MinimalCoordinates, t: float) -> Vector:
    """Accelerations of the driven coordinates (nc,) from their targets, else zero."""
    robot = coordinates.constraint_set.robot
    whole = np.zeros(robot.nv)
    for joint, target in coordinates.targets.items():
        whole[robot.velocity_slice_of(joint)] = target.acceleration_at(t, robot.segments(joint).space)
    return whole[coordinates.partition.driven]
