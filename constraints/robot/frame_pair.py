"""One frame seen from another, in pinocchio's own memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from .frame import Frame
from .model.pinocchio import Placement, pin

_LOCAL: Any = pin.LOCAL
FrameJacobian = Callable[[Any, Any, int, Placement, Any], Matrix]
"""Of a model, its data, a joint, a placement on it, and axes: Jacobian (6, nv) of that frame, a new array."""


@final
class FramePair:
    """Pinocchio's memory for two anchored frames, with views of it that follow each `update(model, data, memory)`.

    That one call of pinocchio places both frames and sees one from the other (0.2 us; a product of two placements
    costs 0.6).

    Args:
        model: pinocchio's.
        a, b: the frames.

    Attributes:
        update: reads the placements of the joints, which are computed.
        memory: what it writes.
        live_b: placement of b on its joint in that memory: what is written to its translation, the next update sees.
        pose: live placement of b seen from a.
        rotation, translation: live views (3, 3) and (3,) of it.
        rows: memory (6, 6), zero when new, for the rows that a function puts before the twist of b relative to a.
        linear, angular: views of its diagonal blocks.
        columns: memory (6, nv), by columns as pinocchio's world Jacobian.
    """

    def __init__(self, model: Any, a: Frame, b: Frame) -> None:
        self._a = a
        self._anchors: Any = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D, model, a.joint, a.placement, b.joint, b.placement, pin.LOCAL
        )
        self._frame_jacobian = frame_jacobian_of(model)
        self.memory: Any = self._anchors.createData()
        self.update: Any = self._anchors.calc
        self.live_b: Any = self._anchors.joint2_placement
        self._moved: Any = a.placement.copy()
        self._oMb: Placement = self.memory.oMc2
        self.pose: Placement = self.memory.c1Mc2
        self.rotation: Matrix = self.pose.rotation
        self.translation: Vector = self.pose.translation
        self.rows = np.zeros((6, 6))
        self.linear, self.angular = self.rows[:3, :3], self.rows[3:, 3:]
        self.columns = np.zeros((6, model.nv), order="F")

    def to_b(self) -> Matrix:
        r""":math:`{}^bX_o` (6, 6): twists from the world's axes to those of b."""
        return self._oMb.toActionMatrixInverse()

    def jacobian_of_a_at(self, model: Any, data: Any, place: Vector) -> Matrix:
        """Body Jacobian (6, nv) of frame a moved to a place (3,) seen in its axes; a new array."""
        self._moved.translation = self._a.placement.act(place)
        return self._frame_jacobian(model, data, self._a.joint, self._moved, _LOCAL)


def frame_jacobian_of(model: Any) -> FrameJacobian:
    """Pinocchio's `getFrameJacobian`, which gives one column as a vector: as a matrix in any case."""
    return pin.getFrameJacobian if model.nv > 1 else _one_column


def _one_column(model: Any, data: Any, joint: int, placement: Placement, axes: Any) -> Matrix:
    return pin.getFrameJacobian(model, data, joint, placement, axes)[:, None]
