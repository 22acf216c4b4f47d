"""Frames that no configuration brings together: the joints between them do not span the distance."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups.arrays import BoolVector, Vector

from ..functions.frames.transformation import Transformation
from ..linear_algebra import norm
from ..robot.space import RobotSpace
from ..rows.row_owner import RowOwner
from .problem import Problem


@final
class Span:
    r"""Two frames that are to coincide, and the revolute joints between them.

    With :math:`c_1, \dots, c_k` the origins of the joints that move, from frame a to frame b, two neighbours keep their
    distance, whatever the configuration. Where the frames coincide, :math:`c_1`, which is fixed in a, is at a point x
    that is fixed in b, so that

    .. math:: |x - c_k| \le \sum_i |c_{i+1} - c_i|

    Args:
        function: pose of b seen from a.
        joints: those that move.
    """

    def __init__(self, function: Transformation, joints: list[int]) -> None:
        self._a, self._b, self._joints = function.frame_a, function.frame_b, joints

    def is_too_short(self, point: Any, threshold: float) -> bool:
        """Whether the frames coincide nowhere, to a threshold of their error.

        Args:
            point: where joints that do not move are as they are; the others are anywhere.
            threshold: largest norm of (translation, rotation vector) of b seen from a.
        """
        oMi = point.placed().oMi
        origins: list[Vector] = [oMi[joint].translation for joint in self._joints]
        oMa, oMb = (oMi[frame.joint].act(frame.placement) for frame in (self._a, self._b))
        held: Vector = oMa.actInv(origins[0])
        spanned = sum(norm(c - d) for c, d in zip(origins[1:], origins[:-1], strict=True))
        return norm(oMb.act(held) - origins[-1]) > spanned + 2.0 * threshold * (1.0 + norm(held)) + 1e-9


def spans_of(problem: Problem) -> list[Span]:
    """The pairs of frames that constraints want to coincide, where revolute joints alone move between them."""
    space = problem.space
    if not isinstance(space, RobotSpace):
        return []
    moves = ~problem.bounds.frozen
    for explicit in problem.resolution.explicits:
        if explicit.is_constant:
            moves[list(explicit.outputs.v)] = False
    found: list[Span] = []
    for owner in problem.constraints:
        function = owner.measured
        if isinstance(function, Transformation) and _coincide(owner):
            joints = _between(space, function.frame_a.joint, function.frame_b.joint, moves)
            if joints and all(_turns(space, joint) for joint in joints):
                found.append(Span(function, joints))
    return found


def _coincide(owner: RowOwner) -> bool:
    """Whether all rows of a pose are to be zero."""
    rows = owner.rows
    return rows.is_plain and bool(rows.mask.all()) and not np.any(rows.free_rhs)


def _between(space: RobotSpace, a: int, b: int, moves: BoolVector) -> list[int]:
    """Joints on the way from one joint to another, both counted, that move."""
    supports: Any = space.model.supports
    to_a, to_b = list(supports[a]), list(supports[b])
    shared = set(to_a) & set(to_b)
    way = [j for j in reversed(to_a) if j not in shared] + [j for j in to_b if j not in shared]
    return [j for j in way if moves[_columns(space, j)].any()]


def _turns(space: RobotSpace, joint: int) -> bool:
    """Whether a joint turns about an axis through its origin, and does nothing else."""
    columns = _columns(space, joint)
    return columns.stop - columns.start == 1 and bool(space.revolute[columns].all())


def _columns(space: RobotSpace, joint: int) -> slice:
    return space.factors[joint - 1].v
