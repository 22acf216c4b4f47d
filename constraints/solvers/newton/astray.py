"""Starts that are far from the outputs of constant maps, told without a look at any error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from liegroups import SE3
from liegroups.arrays import Indices, Vector

from ...functions.contact.contact import ConvexShapeContactHold
from ...functions.transformation import Transformation
from ...linear_algebra import dot
from ...rows.explicit import Explicit

__all__ = ["Astray"]


@final
class Astray:
    r"""A lower bound of the errors of constraints with constant maps, by the entries of q that they compute.

    For vectors the distance of the entries is the error. For the pose of a free body let D be the distance of its
    origins, d that of the origins of the frame b that the error is about, at a distance l from it, and :math:`\theta`
    the angle between the orientations: :math:`D \le d + l\,\theta`. The error of a relative transformation is at least
    d and :math:`\theta`; that of a contact with its place at least :math:`d/\sqrt2` and :math:`\theta/\sqrt2`, as its
    rows take both apart into two. Hence an error below e needs :math:`D \le 2\,(1 + l)\,e`. For a body locked at a pose
    in SE(3) it needs :math:`D \le e`: averages of rotations make nothing longer.

    Args:
        explicits: constraints with constant maps.
    """

    __slots__ = ("_bounds",)

    def __init__(self, explicits: Sequence[Explicit]) -> None:
        self._bounds: list[tuple[slice | Indices, float]] = []
        for explicit in explicits:
            factor, where = _factor(explicit), explicit.outputs.q_indices
            if factor is not None and where.size:
                where = where if explicit.map.outputs.is_flat else where[:3]
                first = int(where[0])
                run = where.size == where[-1] - first + 1
                self._bounds.append((slice(first, first + where.size) if run else where, factor * factor))

    def test(self, given: Vector, started: Vector, limit: float) -> bool:
        """Whether some error is above a limit for sure at a configuration.

        Args:
            given: the configuration.
            started: the same with the outputs of the maps.
            limit: of the errors.
        """
        for where, factor2 in self._bounds:
            off = given[where] - started[where]
            if dot(off, off) > factor2 * limit * limit:
                return True
        return False


def _factor(explicit: Explicit) -> float | None:
    """How much farther than an error entries may be off; None where that is not known."""
    group = explicit.map.outputs
    if not explicit.rows.is_plain:
        return None
    if explicit.implicit is None:
        return 1.0 if explicit.g is None and (group.is_flat or group == SE3) else None
    h: Any = explicit.implicit
    if type(h) not in (Transformation, ConvexShapeContactHold) or len(h.parts) != 1:
        return None
    part = h.parts[0]
    model = part.robot.model
    body = part.frame_b.joint
    on_body = body > 0 and (int(model.idx_qs[body]),) == explicit.outputs.q[:1] and int(model.nqs[body]) == 7
    if not (on_body and part.frame_a.joint == 0):
        return None
    c = part.frame_b.placement.translation
    return 2.0 * (1.0 + float(dot(c, c)) ** 0.5)
