"""Pinocchio's fused constraint dynamics for many calculations: which memory holds which, and who uses it."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..dynamics.fused_contacts import FusedContacts, takes_fused
from ..loops import ConstraintSet
from ..workspace import Pool
from .action import StageSlopes


@final
class Memory:
    """Pinocchio's data for one evaluation at a time.

    Args:
        contacts: with their data.

    Attributes:
        contacts: as given.
        holds: a token of the calculation that they hold; None after derivatives, which overwrite it.
    """

    __slots__ = ("contacts", "holds")

    def __init__(self, contacts: FusedContacts) -> None:
        self.contacts = contacts
        self.holds: object = None


@final
class Trace:
    """Which memory held a calculation last, so that its derivatives may go on from there; a copy of it is empty.

    Args:
        memory: it.
        token: what it held then.
    """

    __slots__ = ("memory", "token")

    def __init__(self, memory: Memory | None = None, token: object = None) -> None:
        self.memory, self.token = memory, token

    def __reduce__(self) -> Any:
        return Trace, ()


class FusedSolution(NamedTuple):
    """Acceleration (nv,) and multipliers (size,), zero where a contact is off, and where they were computed."""

    acceleration: Vector
    multipliers: Vector
    trace: Trace


@final
class Fused:
    """The contacts of a set that are on, as pinocchio has them. Threads may share it.

    Args:
        constraint_set: one that `takes_fused` says yes to.
        damping: mu.
        armature: added to that of the model (nv,).
    """

    def __init__(self, constraint_set: ConstraintSet, damping: float, armature: Vector) -> None:
        self._pool = Pool(partial(_memory, constraint_set, damping, armature))

    def solve(self, q: Vector, v: Vector, tau: Vector) -> FusedSolution | None:
        """Acceleration and multipliers; None where the general way has to decide.

        Args:
            q, v: state, checked.
            tau: joint forces (nv,).
        """
        memory = self._pool.take()
        found = memory.contacts.solve(q, v, tau)
        token = memory.holds = object()
        self._pool.give(memory)
        if found is None or not np.isfinite(found[0]).all():
            return None
        return FusedSolution(*found, Trace(memory, token))

    def slopes(
        self, q: Vector, v: Vector, tau: Vector, trace: Trace, B: Matrix, turned: Matrix | None
    ) -> tuple[StageSlopes, StageSlopes]:
        """Derivatives of the accelerations and of the multipliers, by state and by control.

        The state is one that `solve` solved; it is solved again where its memory has moved on.

        Args:
            q, v, tau: as of `solve`.
            trace: of the solution.
            B: tau by the controls (nv, nu).
            turned: tau by q (nv, nv); None where it does not depend on it.
        """
        memory = trace.memory
        if memory is None or not self._pool.claim(memory):
            memory = self._pool.take()
        contacts = memory.contacts
        if memory.holds is None or memory.holds is not trace.token:
            contacts.solve(q, v, tau)
        memory.holds = None
        a_q, a_v, a_tau, l_q, l_v, l_tau = contacts.differentiate()
        if turned is not None:
            a_q, l_q = a_q + a_tau.dot(turned), l_q + l_tau.dot(turned)
        a = StageSlopes(np.concatenate((a_q, a_v), axis=1), a_tau.dot(B))
        push = StageSlopes(contacts.spread(np.concatenate((l_q, l_v), axis=1)), contacts.spread(l_tau.dot(B)))
        self._pool.give(memory)
        return a, push


def _memory(constraint_set: ConstraintSet, damping: float, armature: Vector) -> Memory:
    return Memory(FusedContacts(constraint_set, damping, armature))


def fused_of(constraint_set: ConstraintSet, damping: float, armature: Vector) -> tuple[Fused | None]:
    """Those of a set with pinocchio's rows on a tree whose derivatives pinocchio knows; (None,) for another.

    Args:
        constraint_set, damping, armature: as of `Fused`.
    """
    return (Fused(constraint_set, damping, armature) if takes_fused(constraint_set) else None,)
