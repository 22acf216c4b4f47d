"""The force of one constraint in the axes of the world, with what of it is not determined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector

from ..errors import UndefinedError
from ..linear_algebra import numerical_rank
from ..loops import ConstraintSet, RodClosure
from ..rows.row_owner import RowOwner
from .laws.link_state import COINCIDENT
from .multipliers import Body, body_matrix, frame_rows

UNIQUE_AXIS = 1e-6
"""Part of a direction that is not determined, of norm 1, up to which an axis of the world has no part in it."""


@final
@dataclass(frozen=True, eq=False)
class ConstraintForce:
    """Force and moment of a closure or contact on one of its bodies, in the axes of the world (the inertial frame).

    If rows are redundant, or block no motion (those across the plane of a planar linkage), some components are not
    determined: other values give the same motion. The multipliers of least norm are then used.

    Attributes:
        name: of the constraint.
        body: name of the frame it acts on.
        point: the origin of that frame (3,) [m].
        force: (3,) [N].
        moment: about the point (3,) [N m]; zero for rods, points and balls.
        undetermined_forces: directions (3, k), orthonormal, along which the force is not determined.
        undetermined_moments: the same for the moment (3, m).
    """

    name: str
    body: str
    point: Vector
    force: Vector
    moment: Vector
    undetermined_forces: Matrix
    undetermined_moments: Matrix

    @property
    def force_is_determined(self) -> BoolVector:
        """Which components (3,) of the force are unique."""
        return _has_no_part_in(self.undetermined_forces)

    @property
    def moment_is_determined(self) -> BoolVector:
        """Which components (3,) of the moment are unique."""
        return _has_no_part_in(self.undetermined_moments)

    @property
    def is_determined(self) -> bool:
        """Whether force and moment are unique."""
        return not (self.undetermined_forces.size or self.undetermined_moments.size)

    def __str__(self) -> str:
        force = _line("force", self.force, self.force_is_determined, "N")
        moment = _line("moment", self.moment, self.moment_is_determined, "N m")
        return f"'{self.name}' on {self.body}: {force}; {moment}"


def constraint_force(
    constraint_set: ConstraintSet,
    which: RowOwner | str | int,
    q: Vector,
    multipliers: Vector,
    vanishing: Matrix,
    on: Body,
) -> ConstraintForce:
    r"""As `RowForces.constraint_force`, from multipliers of all rows (size,) at q (nq,).

    With :math:`w = A\,\lambda_i` the wrench of its multipliers, and N (size, k) the combinations of rows that vanish,
    :math:`J^T N = 0`, in orthonormal columns: the wrench is determined up to the columns of :math:`A\,N_i`.
    """
    owner = frame_rows(constraint_set, which)
    if isinstance(owner, RodClosure):
        rod_length(owner, q)
    body, Q = body_matrix(owner, q, on)
    placement = constraint_set.robot.at(q).placement(body)
    s = constraint_set.slice_of(which)
    A = np.concatenate([placement.rotation @ Q[:, :3].T, placement.rotation @ Q[:, 3:].T])
    wrench, some = A @ multipliers[s], vanishing[s]
    point, undetermined = np.array(placement.translation), (_directions(A[:3], some), _directions(A[3:], some))
    return ConstraintForce(owner.name, body.name, point, wrench[:3], wrench[3:], *undetermined)


def rod_length(rod: RodClosure, q: Vector) -> float:
    """Distance of the ends of a rod at q [m].

    Raises:
        UndefinedError: they coincide.
    """
    x = rod.pose(q).translation
    length = float(np.sqrt(x @ x))
    if length < COINCIDENT:
        raise UndefinedError(
            f"rod '{rod.name}': its ends coincide, so the line between them has no direction, and no multiplier gives "
            "a force along it"
        )
    return length


def _directions(A: Matrix, combinations: Matrix) -> Matrix:
    """Orthonormal directions (3, m) that A (3, k) makes of combinations (k, n) that are parts of unit vectors."""
    U, values, _ = np.linalg.svd(A @ combinations, full_matrices=False)
    return U[:, : numerical_rank(values, float(np.linalg.norm(A)))]


def _has_no_part_in(directions: Matrix) -> BoolVector:
    return np.sqrt((directions**2).sum(axis=1)) <= UNIQUE_AXIS


def _line(word: str, numbers: Vector, determined: BoolVector, unit: str) -> str:
    open_ = [axis for axis, known in zip("xyz", determined.tolist(), strict=True) if not known]
    said = f"{word} [{', '.join(f'{number:.6g}' for number in numbers)}] {unit}"
    return said + (f" ({', '.join(open_)} not determined)" if open_ else "")
