"""Pinocchio's fused constraint dynamics for many calculations: which memory holds which, and who uses it."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, final

from liegroups.arrays import Matrix, Vector

from ..dynamics.methods.pinocchio_constraints import PinocchioConstraints
from ..dynamics.methods.pinocchio_rows import has_its_slopes, is_its_own
from ..linear_algebra import is_finite
from ..loops import ConstraintSet, PointContact, SurfaceContact
from ..loops.contacts import TwistRows
from ..loops.frame_rows import FrameRows
from ..loops.hinges.pose_map import Split, TurnedLog
from ..robot import Frame
from ..robot.model.pinocchio import pin
from ..rows.row_owner import RowOwner
from ..workspace import Pool
from .action import Pair
from .actuators import Drive


@final
class Memory:
    """Pinocchio's data for one evaluation at a time.

    Attributes:
        contacts: with pinocchio's data.
        holds: a token of the calculation that they hold; None after derivatives, which overwrite it.
    """

    __slots__ = ("contacts", "holds")

    def __init__(self, constraint_set: ConstraintSet, damping: float, armature: Vector) -> None:
        self.contacts = PinocchioConstraints(constraint_set, True, damping, armature)
        self.holds: object = None


@final
class HeldIn:
    """Which memory held a calculation last, so that its derivatives may go on from there; a copy of it is empty."""

    __slots__ = ("memory", "token")

    def __init__(self, memory: Memory | None = None, token: object = None) -> None:
        self.memory, self.token = memory, token

    def __reduce__(self) -> Any:
        return HeldIn, ()


class Turned(NamedTuple):
    """A contact whose rows are pinocchio's, turned into the axes of the world: its rows in the set, and its frame."""

    rows: slice
    frame: Frame


@final
class Fused:
    r"""The contacts of a set that are on, as pinocchio has them. Threads may share it.

    Rows in world axes are those in the axes of the frame, turned by its rotation R: accelerations are the same, damped
    or not, and the multipliers are :math:`R\,\lambda`. So pinocchio's calls in LOCAL axes, whose derivatives are right,
    serve both.

    Args:
        constraint_set: one whose contacts `fused_of` takes.
        damping: mu.
        armature: added to that of the model (nv,).
    """

    def __init__(self, constraint_set: ConstraintSet, damping: float, armature: Vector) -> None:
        self._turned = [
            Turned(rows, owner.successor)
            for owner, rows in constraint_set.on
            if isinstance(owner, FrameRows) and not is_its_own(owner)
        ]
        self._nq = constraint_set.robot.nq
        self._pool = Pool(partial(Memory, constraint_set, damping, armature))

    def solve(self, q: Vector, v: Vector, tau: Vector) -> tuple[Vector, Vector, HeldIn] | None:
        """Acceleration (nv,), multipliers (size,), zero where a contact is off, and where they were computed.

        None where the general way has to decide.

        Args:
            q, v: state, checked.
            tau: joint forces (nv,).
        """
        memory = self._pool.take()
        found = memory.contacts.solve(q, v, tau)
        token = memory.holds = object()
        if found is not None:
            for rows, frame in self._turned:
                _turn(memory.contacts.rotation(frame), found[1][rows])
        self._pool.give(memory)
        if found is None or not is_finite(found[0]):
            return None
        return found[0], found[1], HeldIn(memory, token)

    def slopes(self, x: Vector, tau: Vector, push: Vector, trace: HeldIn, drive: Drive) -> tuple[Pair, Pair]:
        """Derivatives of the accelerations and of the multipliers, by state and by control.

        The state is one that `solve` solved; it is solved again where its memory has moved on.

        Args:
            x: state (nx,).
            tau: joint forces (nv,).
            push, trace: multipliers (size,) that `solve` found, and where.
            drive: how joint forces change with the stage.
        """
        memory = trace.memory
        if memory is None or not self._pool.claim(memory):
            memory = self._pool.take()
        contacts = memory.contacts
        if memory.holds is None or memory.holds is not trace.token:
            contacts.solve(x[: self._nq], x[self._nq :], tau)
        memory.holds = None
        by_q_v_tau = contacts.differentiate()
        a, forces = drive.by_stage(*by_q_v_tau[:3]), drive.by_stage(*by_q_v_tau[3:])
        spread = contacts.constraint_set.spread
        forces = spread(forces[0]), spread(forces[1])
        for rows, frame in self._turned:
            R = contacts.rotation(frame)
            for each in forces:
                _turn(R, each[rows])
            by_q, turning = forces[0][rows, : len(drive.B)], contacts.turning(frame)
            for i, force in enumerate(push[rows].reshape(-1, 3)):
                by_q[3 * i : 3 * i + 3] -= pin.skew(force).dot(R.dot(turning))
        self._pool.give(memory)
        return a, forces


def _turn(R: Matrix, rows: Matrix) -> None:
    """Turn rows in place, by threes."""
    for start in range(0, len(rows), 3):
        rows[start : start + 3] = R.dot(rows[start : start + 3])


def fused_of(constraint_set: ConstraintSet, damping: float, armature: Vector) -> tuple[Fused | None]:
    """Those of a set with pinocchio's rows on a tree whose derivatives pinocchio knows; (None,) for another."""
    return (Fused(constraint_set, damping, armature) if has_its_slopes(constraint_set, _fits) else None,)


def _fits(owner: RowOwner) -> bool:
    """Whether the rows are pinocchio's, or those in LOCAL axes, of positions too, turned into the axes of the world."""
    if is_its_own(owner):
        return True
    if not isinstance(owner, FrameRows):
        return False
    moving, placed = owner.moving.pose_map, owner.function.pose_map
    if owner.predecessor.joint or owner.target is not None or not isinstance(owner, PointContact | SurfaceContact):
        return False
    if type(moving) is TwistRows:
        return moving.turn is not None and moving.spatial and (not owner.has_position or type(placed) is TurnedLog)
    whole = type(moving) is Split and moving.rotation is None and placed is moving
    return whole and isinstance(owner, PointContact) and owner.normal is None and owner.mask is None
