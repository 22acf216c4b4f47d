"""Inverse dynamics in minimal coordinates: forces of actuators and drives for a wanted motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from liegroups.arrays import ArrayLike, Matrix, TangentLike, Vector

from ..dynamics.actuation import Actuated, Actuation, ByActuators, actuation_at
from ..dynamics.laws.external_force import Force, as_external
from ..dynamics.methods.status import DynamicsStatus
from ..dynamics.methods.system import Question
from ..errors import ConstraintError, OptionError
from ..linear_algebra import is_finite, largest, numerical_rank, pivots
from ..words import counted, first_names
from .dynamics import missing_force, question_of
from .reduced_forces import ReducedForces
from .state import ClosedState
from .system import (
    closed_acceleration,
    driven_acceleration as driven_acceleration_of,
    independent_acceleration,
    joint_forces,
    motion_matrix,
    reacting,
    rows_agree,
)

WEAK_ACTUATORS = 1e-12
"""A singular value of what the actuators reach is none below this part of the motions times the actuators."""


class UnderactuatedError(ConstraintError):
    """Too few actuators for the free motions.

    Attributes:
        actuators: size of Q_a.
        needed: number of independent coordinates; of driven ones if all are driven.
        without: names of coordinates without an actuator, at least needed - actuators of them.
    """

    def __init__(self, actuators: int, needed: int, without: tuple[str, ...], kind: str) -> None:
        self.actuators, self.needed, self.without = actuators, needed, without
        coordinates = f"{needed} {kind} coordinate{'s' * (needed != 1)}"
        super().__init__(
            f"reduced inverse dynamics: {counted(actuators, 'actuator')} for {coordinates}: {first_names(without)} "
            f"{'has' if len(without) == 1 else 'have'} none; actuate more, or drive those that must follow a motion"
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReducedInverseDynamics(ByActuators, ReducedForces):
    r"""Forces of actuators and drives: :math:`M a + h = \tau + A\,Q_a + Q_c + J^T \lambda`.

    It is neither true nor false (`if result:` raises): `success` says whether all equations hold.

    Attributes:
        acceleration: a (nv,), the wanted one, closed.
        effort: Q_a (na,) [N, N m], of the actuators; of least norm if several give the same.
        driven_forces: Q_c (nc,) [N, N m], additional forces of the drives, in the order of `coordinates.driven`.
        multipliers: lambda (size,), on the successors; zero on redundant rows (`least_norm` spreads them).
        status: how it ended.
        actuators: A with the names of its columns.
        surplus: size of Q_a minus the number of directions that it drives: above 0 Q_a is not unique.
        without: names of independent coordinates that the actuators do not drive, if the status is SINGULAR_ACTUATION;
            of driven ones if all are driven.
        state: the closed state.
        question: arguments of the call; its tau includes the driven forces.
    """

    _joint_vectors: ClassVar[tuple[str, ...]] = ("tau", "acceleration")

    acceleration: Vector
    effort: Vector
    driven_forces: Vector
    multipliers: Vector
    status: DynamicsStatus
    actuators: Actuation
    surplus: int
    without: tuple[str, ...]
    state: ClosedState
    question: Question

    @property
    def by_name(self) -> dict[str, float]:
        """Q_a by what each number drives: "elbow", "hip[2]", a closure's "cut"."""
        return dict(zip(self.actuators.names, self.effort.tolist(), strict=True))

    def describe(self) -> str:
        """As that of forward dynamics, and the forces of the actuators."""
        return "\n".join([super().describe(), *(f"  force of {name}: {x:.6g}" for name, x in self.by_name.items())])

    def __str__(self) -> str:
        return f"{self.status}{f' Not reached: {first_names(self.without)}.' if self.without else ''}"

    def __repr__(self) -> str:
        return f"ReducedInverseDynamics({self.status.name}, {counted(self.effort.size, 'number')})"


def reduced_inverse_dynamics(
    state: ClosedState,
    acceleration: TangentLike | None = None,
    driven_acceleration: TangentLike | None = None,
    *,
    actuated: Actuated | None = None,
    actuation: ArrayLike | None = None,
    tau: TangentLike | None = None,
    external: Iterable[Force] = (),
) -> ReducedInverseDynamics:
    r"""Forces Q_a of actuators for a wanted motion, with the forces of the drives and the multipliers.

    With :math:`\varphi' = M a + h - \tau` at the closed acceleration a, and the actuators' columns A,

    .. math:: (A_u + B_{vu}^T A_v)\,Q_a = \varphi'_u + B_{vu}^T \varphi'_v

    .. math:: Q_c = f_c + B_{vc}^T f_v, \qquad \lambda = J_v^{-T} f_v, \qquad f = \varphi' - A\,Q_a

    With as many actuators as independent coordinates Q_a is unique; with more the one of least norm is taken. If every
    free motion is driven (nu = 0) the same equation is used for the driven coordinates: the actuators then give all
    forces, and the drives none. For a recorded motion make its joints independent, not driven.

    Args:
        state: closed.
        acceleration: of the independent coordinates (nu,) [m/s2, rad/s2]; zero by default.
        driven_acceleration: of the driven ones (nc,); by default from their targets, else zero.
        actuated: names of joints, Segments, or closures whose cut hinge is driven, as in `inverse_dynamics`; dependent
            joints too. Empty if all is driven and the drives give all forces.
        actuation: or your own A (nv, na).
        tau: other joint forces (nv,), or by joint, such as passive springs; zero by default.
        external: external forces: wrenches on bodies, forces at hinges, springs.

    Returns:
        A value; actuators that lose a direction at this state are a status, SINGULAR_ACTUATION.

    Raises:
        UnderactuatedError: fewer actuators than independent coordinates: names those without one.
        OptionError: both `actuated` and `actuation`, or neither; something twice; a driven joint that is also actuated.
        UnknownNameError: no joint or closure of that name.
        SizeError, NotFiniteError, WrongObjectError: an invalid argument.

    Source: `invdynared` of Robotran, its four cases; there driven joints are actuated only where all are driven.
    """
    other, forces = joint_forces(state, tau), as_external(external)
    coordinates = state.coordinates
    udd = independent_acceleration(state, acceleration)
    a = closed_acceleration(state, udd, driven_acceleration_of(state, driven_acceleration))
    actuators = actuation_at(coordinates.constraint_set, state.motion, actuated, actuation)
    missing, T, by_drives = missing_force(state, a, other, forces), motion_matrix(state), not udd.size
    if not by_drives:
        _not_driven(state, actuators)
    moved, names = (T, coordinates.driven) if by_drives else (T[:, : udd.size], coordinates.independent)
    reach = moved.T @ actuators.matrix
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is NOT_FINITE
        effort, rank = _least(reach, moved.T @ missing, largest(moved) * largest(actuators.matrix))
        left, multipliers = reacting(state, missing - actuators.matrix @ effort)
    unreached = _unreached(reach, names, rank) if effort.size or not by_drives else ()
    if len(reach) > effort.size and unreached:
        raise UnderactuatedError(effort.size, len(reach), unreached, "driven" if by_drives else "independent")
    driven = left[udd.size :]
    status = DynamicsStatus.SINGULAR_ACTUATION if unreached else DynamicsStatus.SOLVED
    if not (is_finite(left) and is_finite(multipliers) and is_finite(effort)):
        status = DynamicsStatus.NOT_FINITE
    elif not unreached and not rows_agree(state, a):
        status = DynamicsStatus.INCONSISTENT
    other[coordinates.partition.driven] += driven
    question = question_of(state, other, forces)
    surplus = effort.size - rank
    return ReducedInverseDynamics(
        a, effort, driven, multipliers, status, actuators, surplus, unreached, state, question
    )


def _not_driven(state: ClosedState, actuators: Actuation) -> None:
    """Refuse actuators that act on driven coordinates alone: their force is that of the drive."""
    driven = state.coordinates.partition.driven
    sizes = np.abs(actuators.matrix)
    alone = sizes.sum(axis=0) == sizes[driven].sum(axis=0)
    for i in np.flatnonzero(alone & (sizes[driven].sum(axis=0) > 0.0)):
        raise OptionError(
            f"actuated '{actuators.names[i]}': it is driven, and its force is among the driven forces Q_c; actuate "
            "others, or make it independent"
        )


def _least(reach: Matrix, needed: Vector, scale: float) -> tuple[Vector, int]:
    """Efforts (na,) of least norm that come nearest to what is needed (n,), and the rank of what they reach."""
    U, sizes, Vt = np.linalg.svd(reach, full_matrices=False)
    rank = numerical_rank(sizes, scale, WEAK_ACTUATORS)
    effort: Vector = Vt[:rank].T @ ((U[:, :rank].T @ needed) / sizes[:rank])
    return effort, rank


def _unreached(reach: Matrix, names: tuple[str, ...], rank: int) -> tuple[str, ...]:
    """Names of coordinates (n,) that are left over when each direction that is reached is counted for one of them."""
    left: list[int] = pivots(reach.T)[0][rank:].tolist()
    return tuple(names[i] for i in sorted(left))
