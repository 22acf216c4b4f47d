r"""Contacts whose rows pinocchio has to the letter: its constraint dynamics and their derivatives, in two calls.

Contacts in their own axes (LOCAL), of three or six rows, in the form RATES, stabilised or not, on a tree of elementary
joints, damped (:math:`(J M^{-1} J^T + \mu I) \lambda = \ldots`) or not. In other axes pinocchio's derivatives miss its
own accelerations (by up to 2 of 1 with gains), and so they do for composite, universal and ZYX joints.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..loops import ConstraintSet
from ..loops.frame_rows import FrameRows
from ..robot import Frame, Motion
from ..robot.model.pinocchio import data_of, pin
from .derivatives import SolutionSlopes
from .methods.pinocchio_rows import has_its_slopes
from .methods.proximal import STEEP

_TINY = 1e-14
"""Accuracies, absolute and relative, that the proximal settings of pinocchio ask for."""


def fused_contacts_of(constraint_set: ConstraintSet, motion: Motion) -> FusedContacts | None:
    """Those of a set without damping, made once a workspace; None for a set that is not of such contacts.

    Args:
        constraint_set: whose rows.
        motion: in which workspace.
    """
    return motion.workspace.resource(constraint_set, "fused contacts", _where_it_fits, constraint_set)[0]


def _where_it_fits(constraint_set: ConstraintSet) -> tuple[FusedContacts | None]:
    return (FusedContacts(constraint_set) if has_its_slopes(constraint_set) else None,)


@final
class FusedContacts:
    """Pinocchio's constraint dynamics of a set of contacts, with derivatives; memory for one caller at a time.

    Args:
        constraint_set: one that `has_its_slopes` says yes to.
        damping: mu, of one solve as in Crocoddyl.
        armature: what is added to that of the model (nv,), or a number for all.

    Attributes:
        constraint_set: as given.
    """

    def __init__(self, constraint_set: ConstraintSet, damping: float = 0.0, armature: Any = 0.0) -> None:
        model: Any = constraint_set.robot.model
        if np.any(armature):
            model = pin.Model(model)
            model.armature = model.armature + armature
        self._model, self._data = model, data_of(model)
        self._models, self._datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        self.constraint_set = constraint_set
        gains = dict(zip(constraint_set.names, constraint_set.baumgarte, strict=True))
        for owner, s in constraint_set.on:
            if isinstance(owner, FrameRows):
                made = _model_of(owner, s.stop - s.start, model, gains[owner.name])
                self._models.append(made)
                self._datas.append(made.createData())
        pin.initConstraintDynamics(model, self._data, self._models, self._datas)
        size = len(constraint_set.on_rows)
        self._pivots = self._data.constraint_chol.D[:size]  # shows those of each solution: memory of pinocchio
        self._pivots[:] = 0.0  # if it were a copy, no solution would be taken
        self._settings = pin.ProximalSettings(_TINY, _TINY, damping, 1)
        self._damping = damping

    def solve(self, q: Vector, v: Vector, tau: Vector) -> tuple[Vector, Vector] | None:
        """Acceleration (nv,) and multipliers (size,), copies; None where the rows may be redundant, and are not damped.

        Args:
            q, v: the state (nq,), (nv,).
            tau: joint forces (nv,).
        """
        data = self._data
        a: Vector = pin.constraintDynamics(
            self._model, data, q, v, tau, self._models, self._datas, self._settings
        ).copy()
        if not self._damping:
            pivots = self._pivots.tolist()
            if not max(pivots) < STEEP * min(pivots):  # they are negative, and STEEP is below one
                return None
        return a, self.constraint_set.spread(data.lambda_c.copy())

    def differentiate(self) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix]:
        """Derivatives of the last solution, views that hold until the next call.

        Returns:
            of the acceleration by q, v and tau (nv, nv), and of the multipliers that are on (k, nv).
        """
        return pin.computeConstraintDynamicsDerivatives(
            self._model, self._data, self._models, self._datas, self._settings
        )

    def slopes(self) -> SolutionSlopes:
        """Derivatives of the last solution, copies."""
        found = self.differentiate()
        a_q, a_v, a_tau = (np.array(each) for each in found[:3])
        spread = self.constraint_set.spread
        l_q, l_v, l_tau = (spread(np.array(each)) for each in found[3:])
        l_gamma = spread(spread(self._data.constraint_chol.getOperationalSpaceInertiaMatrix()).T).T
        return SolutionSlopes(a_q, a_v, a_tau, l_q, l_v, l_tau, -l_tau.T, l_gamma)

    def rotation(self, frame: Frame) -> Matrix:
        """Rotation (3, 3) of a frame in the world, at the last solution.

        Args:
            frame: of the robot.
        """
        return self._data.oMi[frame.joint].rotation.dot(frame.placement.rotation)

    def turning(self, frame: Frame) -> Matrix:
        """Angular rows (3, nv) of the body Jacobian of a frame, at the last solution.

        Args:
            frame: of the robot.
        """
        found: Matrix = pin.getFrameJacobian(self._model, self._data, frame.joint, frame.placement, pin.LOCAL)
        return found[3:]


def _model_of(owner: FrameRows, size: int, model: Any, gains: Any) -> Any:
    """Pinocchio's model of a contact, with its anchor and its gains."""
    frame, anchor = owner.successor, owner.predecessor.placement
    kind = pin.ContactType.CONTACT_3D if size == 3 else pin.ContactType.CONTACT_6D
    made = pin.RigidConstraintModel(kind, model, frame.joint, frame.placement, 0, anchor, pin.LOCAL)
    kp = gains.position_gain if owner.has_position else 0.0
    made.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(kp, gains.velocity_gain))
    return made
