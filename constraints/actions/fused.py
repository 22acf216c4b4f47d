"""Pinocchio's constraint dynamics with its derivatives, where both are right: contacts in their own axes.

In pinocchio 4.1 the derivatives are those of its accelerations in LOCAL axes alone; in world axes they miss terms of
damping and of gains. Its rows are those of the form RATES to the letter, gains included.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..dynamics.proximal import is_its_own
from ..loops import ConstraintSet
from ..loops.frame_rows import FrameRows
from ..robot.inertia import is_depth_first
from ..robot.pinocchio import pin
from ..workspace import Pool
from .equations import rows_on, spread

ONCE = 1e-14
"""Accuracy of the proximal loop, which is left after one iteration."""

STEEP = 1e-8
"""Ratio of the pivots of J M^-1 J^T below which rows may be redundant: then the general way decides."""

_solve: Any = pin.constraintDynamics
_differentiate: Any = pin.computeConstraintDynamicsDerivatives


class FusedSlopes(NamedTuple):
    """Derivatives of accelerations (nv, ...) and of the multipliers that are on (k, ...); read before the next call.

    Attributes:
        a_q, a_v, a_tau: (nv, nv).
        l_q, l_v, l_tau: (k, nv).
    """

    a_q: Matrix
    a_v: Matrix
    a_tau: Matrix
    l_q: Matrix
    l_v: Matrix
    l_tau: Matrix


@final
class Memory:
    """Pinocchio's data for one evaluation at a time.

    Args:
        model: with the armature of the action.
        models: the contacts.

    Attributes:
        data, datas: pinocchio's.
        holds: a token of the calculation that they hold; None after derivatives, which overwrite them.
    """

    __slots__ = ("data", "datas", "holds")

    def __init__(self, model: Any, models: Any) -> None:
        self.data = model.createData()
        self.datas = pin.StdVec_RigidConstraintData()
        self.holds: object = None
        for each in models:
            self.datas.append(each.createData())
        pin.initConstraintDynamics(model, self.data, models, self.datas)


@final
class Trace:
    """Which memory held a calculation last, so that its derivatives may go on from there; not copied, not pickled.

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
    """The contacts of a set that are on, as pinocchio has them.

    Args:
        constraint_set: it is known that pinocchio has these rows (`fused_of`).
        damping: mu.
        armature: added to that of the model (nv,).
    """

    def __init__(self, constraint_set: ConstraintSet, damping: float, armature: Vector) -> None:
        self._model: Any = constraint_set.robot.model
        if armature.any():
            self._model = pin.Model(constraint_set.robot.model)
            self._model.armature = self._model.armature + armature
        self._models, stack = pin.StdVec_RigidConstraintModel(), constraint_set.stack
        for owner, gains, active in zip(stack.owners, constraint_set.baumgarte, constraint_set.active, strict=True):
            if active and isinstance(owner, FrameRows):
                self._models.append(_contact(owner, self._model, gains.position_gain, gains.velocity_gain))
        self._on, self._size = rows_on(constraint_set), constraint_set.size
        self._rows = self._size if self._on is None else len(self._on)
        self._damping = damping
        self._settings = pin.ProximalSettings(ONCE, ONCE, damping, 1)
        self._pool = Pool(self._memory)

    def _memory(self) -> Memory:
        return Memory(self._model, self._models)

    def solve(self, q: Vector, v: Vector, tau: Vector) -> FusedSolution | None:
        """Acceleration and multipliers; None where the general way has to decide.

        Args:
            q, v: state, checked.
            tau: joint forces (nv,).
        """
        memory = self._pool.take()
        a = np.array(_solve(self._model, memory.data, q, v, tau, self._models, memory.datas, self._settings))
        lam = spread(np.array(memory.data.lambda_c), self._on, self._size)
        is_right = np.isfinite(a.dot(a)) and (self._damping > 0.0 or self._is_independent(memory))
        token = memory.holds = object()
        self._pool.give(memory)
        return FusedSolution(a, lam, Trace(memory, token)) if is_right else None

    def _is_independent(self, memory: Memory) -> bool:
        pivots = memory.data.constraint_chol.D[: self._rows].tolist()
        return max(pivots) < STEEP * min(pivots) < 0.0

    def slopes(self, q: Vector, v: Vector, tau: Vector, trace: Trace) -> FusedSlopes:
        """Derivatives at a state that `solve` solved; computed again where its memory has moved on.

        Args:
            q, v, tau: as of `solve`.
            trace: of the solution.
        """
        memory = trace.memory
        if memory is None or not self._pool.claim(memory):
            memory = self._pool.take()
        if memory.holds is not trace.token or memory.holds is None:
            _solve(self._model, memory.data, q, v, tau, self._models, memory.datas, self._settings)
        memory.holds = None
        found = _differentiate(self._model, memory.data, self._models, memory.datas, self._settings)
        made = FusedSlopes(*map(np.array, found))
        self._pool.give(memory)
        return made


def fused_of(constraint_set: ConstraintSet, damping: float, armature: Vector) -> tuple[Fused | None]:
    """Those of a set with pinocchio's rows on a tree whose derivatives pinocchio knows; (None,) for another.

    Args:
        constraint_set, damping, armature: as of `Fused`.
    """
    robot = constraint_set.robot
    on = [owner for owner, is_on in zip(constraint_set.stack, constraint_set.active, strict=True) if is_on]
    tree = robot.space.elementary
    fits = tree.is_exact and tree.model is robot.model and is_depth_first(robot.model)
    fits = fits and bool(on) and all(isinstance(owner, FrameRows) and is_its_own(owner) for owner in on)
    joints = [owner.successor.joint for owner in on if isinstance(owner, FrameRows)]
    fits = fits and all(joints) and len(set(joints)) == len(joints)
    return (Fused(constraint_set, damping, armature) if fits else None,)


def _contact(owner: FrameRows, model: Any, position_gain: float, velocity_gain: float) -> Any:
    """A contact as pinocchio has it, with the gains of its stabilisation."""
    b, is_point = owner.successor, owner.group.nv == 3
    kind = pin.ContactType.CONTACT_3D if is_point else pin.ContactType.CONTACT_6D
    made: Any = pin.RigidConstraintModel(kind, model, b.joint, b.placement, 0, owner.predecessor.placement, pin.LOCAL)
    kp = position_gain if owner.has_position else 0.0
    made.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(kp, velocity_gain))
    return made
