"""How constrained dynamics are solved, and how that ended."""

from __future__ import annotations

from enum import Enum
from typing import Any

from liegroups.arguments import expect

from ...errors import ConstraintError, UnknownNameError
from ...solvers.status import StatusEnum


class DynamicsStatus(StatusEnum, successes=("SOLVED", "RANK_DEFICIENT", "EQUILIBRIUM")):
    """How constrained dynamics, their derivatives, a stance or modes ended: each value is a sentence for humans.

    `forward_dynamics`, `inverse_dynamics`, `impact`, their counterparts in minimal coordinates, derivatives, `modes`,
    `quasi_static` and nodes of optimal control all end in one of these.
    """

    SOLVED = "All equations hold."
    RANK_DEFICIENT = (
        "All equations hold; some rows repeat others, or nothing moves them, to the `rounding` of the set; of all "
        "multipliers that give the force these have the least norm."
    )
    INCONSISTENT = (
        "Redundant rows require contradictory accelerations: the equation of motion holds, and the rows are met in the "
        "sense of least squares; in minimal coordinates the independent rows are met."
    )
    SINGULAR_MASS = (
        "The mass matrix is singular and this method factorises it: Method.DIRECT and Method.NULL_SPACE do not, and "
        "solve it if the constraints hold the massless motions."
    )
    SINGULAR_SPARSE = (
        "The sparse matrix of all bodies is singular or nearly so: masses are missing, or rows nearly repeat others; "
        "Method.DIRECT decides which of them count."
    )
    SINGULAR_SYSTEM = "The acceleration is not unique: a motion without mass is held by no constraint and no drive."
    UNDERACTUATED = (
        "All equations hold, but the actuators cannot give the wanted acceleration: this is the nearest one that they "
        "can give, in the metric of the mass matrix."
    )
    SINGULAR_ACTUATION = (
        "The actuators cannot drive every free motion at this state: the forces are the nearest ones, and do not give "
        "the wanted acceleration."
    )
    OFF_CONSTRAINTS = (
        "All equations hold, but the wanted acceleration contradicts the constraints: this is the nearest one that "
        "meets them, in the metric of the mass matrix."
    )
    EQUILIBRIUM = "Controls and contacts hold the robot at rest."
    NO_EQUILIBRIUM = "The state is no equilibrium: forces do not balance, whatever contacts and free controls carry."
    NOT_ADMISSIBLE = "Controls and contacts could hold the robot at rest, but not within cones and soles."
    NOT_SOLVED = "There is no solution of the dynamics to differentiate."
    NO_DERIVATIVES = (
        "The dynamics are solved, but there are no derivatives: the rank of the rows is different at neighbouring "
        "states (a dead point, or a mechanism that moves only by its special lengths), or a matrix is singular."
    )
    NOT_FINITE = "Numbers overflow: a configuration, velocity or force is too large to compute with."


class Method(Enum):
    """How the system of constrained dynamics is solved."""

    AUTOMATIC = (
        "the fastest method for the set: proximal for contacts with pinocchio's rows, test forces for other contacts, "
        "sparse for long chains of loops, else direct"
    )
    DIRECT = "one dense factorisation of the saddle point; the mass matrix may be singular"
    RANGE_SPACE = "factorisation of the mass matrix along its tree, dense one of J M^-1 J^T"
    NULL_SPACE = "orthogonal basis of the motions that the rows leave; the mass matrix may be singular"
    TEST_FORCES = "Kokkevis: responses of articulated bodies to unit forces, no mass matrix; contacts only"
    PROXIMAL = "pinocchio's constraint dynamics; contacts of three or six rows, closures that hold a point or a frame"
    SPARSE = "sparse factorisation in the coordinates of all bodies, for long chains with many loops"

    def __repr__(self) -> str:
        return str(self)


class MethodError(ConstraintError):
    """A method that does not support a constraint set: `method`, `constraint`, `reason`."""

    def __init__(self, method: Method, constraint: str, reason: str) -> None:
        self.method, self.constraint, self.reason = method, constraint, reason
        super().__init__(
            f"Method.{method.name} does not support '{constraint}': {reason}; Method.AUTOMATIC supports any set"
        )


class Factorisation(Enum):
    """The dense factorisation of the methods direct, range space and null space."""

    CHOLESKY = "Cholesky; of the saddle point by blocks, and LU where its first block is singular"
    LU = "LU with partial pivoting"
    PIVOTED_QR = "QR with column pivoting"
    QR = "QR"

    def __repr__(self) -> str:
        return str(self)


def member(kind: Any, candidate: object, what: str) -> Any:
    """A member of an Enum: the member, or its name in any case.

    Raises:
        UnknownNameError: text that names none.
        WrongObjectError: something else.
    """
    if isinstance(candidate, str):
        name = candidate.upper().replace("-", "_").replace(" ", "_")
        if name not in kind.__members__:
            raise UnknownNameError(what, candidate, tuple(kind.__members__))
        return kind[name]
    return expect(candidate, kind, what, f"a member of {kind.__name__}")
