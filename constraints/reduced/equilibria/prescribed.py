"""What acts on a closed mechanism and how it is accelerated, and closed states beside a given one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from liegroups.arrays import Matrix, TangentLike, Vector
from liegroups.frozen import read_only

from ...dynamics.laws.external_force import Force, as_external
from ...errors import ConstraintError, FailedError
from ...linear_algebra import largest
from ...loops.mobility import CLOSED
from ...loops.open_mechanism import OpenMechanismError
from ..closing import Closing, DeadPointError, newton_step
from ..dynamics import Residual, reduced_residual
from ..state import ClosedState, RankError
from ..system import motion_matrix

if TYPE_CHECKING:
    from ..coordinates import MinimalCoordinates


SMALL_MOTION = 1e-3
"""A small motion of a coordinate [rad or m], with which forces are compared where all of them vanish."""
ROUNDING_OF_A_BALANCE = 16.0 * np.finfo(np.float64).eps
"""Rounding of a residual as a part of its largest term."""


class LeftBranchError(ConstraintError):
    """Loops closed beside a state moved the dependent coordinates further than the step itself: another branch.

    Attributes:
        moved: largest change of a coordinate by closing [rad or m].
        step: largest change along the tangent.
    """

    def __init__(self, moved: float, step: float) -> None:
        self.moved, self.step = moved, step
        super().__init__(f"closing moved a coordinate by {moved:.3g} after a step of {step:.3g}: another branch")


NOT_BESIDE = (FailedError, DeadPointError, OpenMechanismError, RankError, LeftBranchError)
"""Why there may be no closed state beside another one."""


@final
@dataclass(frozen=True, eq=False)
class Prescribed:
    """What acts, and the accelerations that are prescribed: all of a residual that is not in the state.

    Attributes:
        acceleration: of the independent coordinates (nu,).
        driven_acceleration: of the driven ones (nc,).
        tau: joint forces (nv,) [N, N m].
        external: what else acts.
    """

    acceleration: Vector
    driven_acceleration: Vector
    tau: Vector
    external: tuple[Force, ...]

    def residual(self, state: ClosedState) -> Residual:
        """R_u, Q_c, accelerations and multipliers at a state, as `reduced_residual`."""
        return reduced_residual(
            state, self.acceleration, self.driven_acceleration, tau=self.tau, external=self.external
        )

    def sizes(self, state: ClosedState, acceleration: Vector) -> tuple[Vector, float]:
        """What R_u is to be compared with: the sum (nu,) of the sizes of its terms, and its rounding.

        Args:
            state: where.
            acceleration: of all coordinates (nv,).
        """
        motion = state.motion
        terms = np.abs(motion.bias_force()) + np.abs(motion.inertial_force(acceleration)) + np.abs(self.tau)
        for force in self.external:
            terms += np.abs(np.asarray(force.generalised(motion)))
        T = np.abs(motion_matrix(state))[:, : self.acceleration.size]
        return T.T @ terms, ROUNDING_OF_A_BALANCE * (1.0 + largest(state.B)) * largest(terms)


def negligible(tolerance: float, sizes: Vector, rounding: float, stiffness: Matrix) -> Vector:
    r"""How large R_u (n,) may be at an equilibrium: a part of its terms, or of what a small motion changes in it.

    .. math:: |R_i| \le \tau\,\Big(s_i + 10^{-3} \sum_j |K_{ij}|\Big) + \epsilon

    So it does not depend on the size of a machine; and where all forces vanish, as those of a spring at its free
    length, it is a distance, of 1e-3 tau [rad or m], that counts.

    Args:
        tolerance: tau.
        sizes, rounding: as in `Prescribed.sizes`.
        stiffness: derivative (n, m) of R_u by coordinates.
    """
    return tolerance * (sizes + SMALL_MOTION * np.abs(stiffness).sum(axis=1)) + rounding


def prescribed(
    coordinates: MinimalCoordinates,
    acceleration: TangentLike | None,
    driven_acceleration: TangentLike | None,
    tau: TangentLike | None,
    external: Iterable[Force],
) -> Prescribed:
    """What a user prescribes, checked; zero for what was not given."""
    parts, space = coordinates.partition, coordinates.constraint_set.robot.space
    of = "acceleration of the {} coordinates"
    given = (
        (acceleration, parts.independent.size, coordinates.independent_part, of.format("independent")),
        (driven_acceleration, parts.driven.size, coordinates.driven_part, of.format("driven")),
        (tau, space.nv, space.check_tangent, "tau"),
    )
    a, driven, forces = (np.zeros(n) if x is None else np.array(read(x, what)) for x, n, read, what in given)
    return Prescribed(read_only(a), read_only(driven), read_only(forces), as_external(external))


def at_rest(coordinates: MinimalCoordinates) -> MinimalCoordinates:
    """The same coordinates; joints that are driven in time stay where they are put."""
    return replace(coordinates, targets={}) if coordinates.targets else coordinates


def closed_beside(state: ClosedState, step: Vector, v: Vector | None = None) -> ClosedState:
    r"""The closed state after a step of the independent coordinates, driven ones held, on the same branch.

    .. math:: q(\delta) = \mathrm{close}\,(q \oplus T_u\,\delta), \qquad T_u = (1, 0, B_u) \text{ for } (u, c, v)

    The step is along the tangent, so that closing has only its curvature to mend, and the last step of Newton is one
    beyond the tolerance, so that differences of such states are smooth.

    Args:
        state: from where.
        step: change of the independent coordinates (nu,), in the tangent at q.
        v: velocity (nv,), of which the independent and driven parts count; that of the state by default.

    Raises:
        FailedError, DeadPointError, OpenMechanismError, RankError, LeftBranchError: it does not close there.
        UndefinedError: a row, or a force, has no value there.
    """
    coordinates = at_rest(state.coordinates)
    space = coordinates.constraint_set.robot.space
    speed = state.v if v is None else v
    if not step.any():
        return coordinates.at(state.q, speed, t=state.t, rhs=state.rhs, close=True)
    along = motion_matrix(state)[:, : step.size] @ step
    guess = space.integrate(state.q, along)
    closing: Closing = coordinates.close(guess, t=state.t, rhs=state.rhs).or_raise()
    last = newton_step(coordinates, closing.q, state.rhs, guess)[0]
    q = closing.q if last is None else last.q
    moved, size = largest(space.difference(guess, q)), largest(along)
    if moved > size + CLOSED:
        raise LeftBranchError(moved, size)
    return coordinates.at(q, speed, t=state.t, rhs=state.rhs, close=True)
