"""The rows of a problem on a box: what must vanish, what must stay in an interval, with Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final
from weakref import WeakKeyDictionary

import numpy as np

from liegroups import SE3
from liegroups.arrays import BoolVector, Indices, Vector

from ..functions import Function, Orientation, Pose, Position, Rotation, Transformation
from ..functions.enclosures.box import Bend, Enclosure, TangentBox
from ..functions.enclosures.group_bounds import (
    circle_columns,
    curved_blocks,
    exp_jacobian_bound,
    exp_jacobian_rest,
    map_rounding,
    structure,
    walked,
)
from ..functions.enclosures.interval import Interval, one_rounding, rounded_up
from ..functions.enclosures.maps import NEARLY_HALF, logarithm
from ..loops.hinges.pose_map import Split
from ..loops.hinges.relative_pose import OfRelativePose
from ..loops.hinges.rotation_rows import Swing
from ..problem.problem import Problem
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..workspace import kept_with

if TYPE_CHECKING:
    from .samples import Around

FARTHEST_ANGLE = 4.5
"""Of an angle on a circle that is to be zero: its target moves by 1.5 rad more at most, and they are not a turn."""
NUMBERS = 600_000
"""Slopes of rows that are held at once, of all legs together."""


_WITHOUT_SIDES: WeakKeyDictionary[Problem, tuple[Any, Vector, Vector, Any]] = WeakKeyDictionary()
_WITH_SIDES: WeakKeyDictionary[Problem, tuple[RightHandSide, Any, Any]] = WeakKeyDictionary()
"""The last right-hand sides, with what is read of them."""


@final
@dataclass(frozen=True, eq=False)
class RowsOn:
    r"""All rows on a box around c; on several boxes with a leading axis.

    Attributes:
        value: of :math:`\log(rhs^{-1} h(c))` (m,).
        jacobian: of what they change by along v of :math:`c \oplus v` (m, nv), on the box.
        bend_of: gives `bend`, when somebody asks.
        near: where rows are sampled, what is known around it, in the place of `bend`.
    """

    value: Interval
    jacobian: Interval
    bend_of: Callable[[], Bend]
    near: Around | None = None

    @cached_property
    def bend(self) -> Bend:
        """How the Jacobian changes on the box."""
        return self.bend_of()

    def settled(self, target: Vector, held: BoolVector) -> BoolVector:
        """(m,) rows that nothing moves in, and that are at their target to the last digit, where columns are held."""
        exact = (self.value.lower == target) & (self.value.upper == target)
        if exact.any():
            exact &= ~((self.jacobian.magnitude > 0.0) & ~held[..., None, :]).any(axis=-1)
        return exact


class ProblemRows(NamedTuple):
    """The rows that count of the mandatory levels, and of explicit constraints by their twins.

    Attributes:
        problem: whose they are.
        owners: with rows.
        points: their right-hand sides; of several boxes they may have a leading axis.
        lower, upper: (m,) the interval of each row.
        names: (m) what messages call them.
        axes: of each owner, as of `_free_axis`: it has the same rows on all boxes.
    """

    problem: Problem
    owners: Sequence[RowOwner]
    points: Sequence[Vector]
    lower: Vector
    upper: Vector
    names: Sequence[str]
    axes: Sequence[int | None]

    @staticmethod
    def of(problem: Problem, rhs: RightHandSide) -> ProblemRows:
        """Those of a problem."""
        if problem not in _WITHOUT_SIDES:
            owners = [o for stack in (*problem.mandatory, problem.explicits) for o in stack if o.rows.mask.any()]
            lower, upper = (
                np.concatenate([getattr(o.rows, side)[o.rows.mask] for o in owners] or [np.zeros(0)])
                for side in ("lower", "upper")
            )
            names = [f"row {i} of '{o.name}'" for o in owners for i in np.flatnonzero(o.rows.mask).tolist()]
            _WITHOUT_SIDES[problem] = owners, lower, upper, names
        owners, lower, upper, names = _WITHOUT_SIDES[problem]
        last = _WITH_SIDES.get(problem)
        if last is None or last[0] is not rhs:
            every = rhs.points
            points = [owner.group.neutral if (p := every[id(owner)]) is None else p for owner in owners]
            axes = [_free_axis(owner, point) for owner, point in zip(owners, points, strict=True)]
            _WITH_SIDES[problem] = last = rhs, points, axes
        return ProblemRows(problem, owners, last[1], lower, upper, names, last[2])

    @staticmethod
    def stacked(each: Sequence[ProblemRows]) -> ProblemRows:
        """Of one problem on several boxes, each with its own right-hand sides."""
        points = [np.array(points) for points in zip(*(rows.points for rows in each), strict=True)]
        axes = [of[0] if len(set(of)) == 1 else None for of in zip(*(rows.axes for rows in each), strict=True)]
        return each[0]._replace(points=points, axes=axes)

    def of_boxes(self, which: Indices) -> ProblemRows:
        """The same of some of several boxes."""
        return self._replace(points=[point[which] if point.ndim == 2 else point for point in self.points])

    def some(self, which: Sequence[int]) -> ProblemRows:
        """Those of some owners, by number."""
        ends = np.cumsum([0, *(int(owner.rows.mask.sum()) for owner in self.owners)])
        rows = [k for i in which for k in range(int(ends[i]), int(ends[i + 1]))]
        owners, points = [self.owners[i] for i in which], [self.points[i] for i in which]
        names, axes = [self.names[k] for k in rows], [self.axes[i] for i in which]
        return ProblemRows(self.problem, owners, points, self.lower[rows], self.upper[rows], names, axes)

    @property
    def equalities(self) -> BoolVector:
        """(m,) true where the interval is a point."""
        return self.lower == self.upper

    def on(self, box: TangentBox) -> RowsOn:
        """All rows on a box, or on several.

        Raises:
            NoEnclosureError: a function has none.
            UndefinedError: a function may have no value on the box, or the box is too large.
        """
        found = [_rows(*each, box) for each in zip(self.owners, self.points, self.axes, strict=True)]
        if not found:
            n = self.problem.space.nv
            shapes = ((*box.leading, 0), (*box.leading, 0, n), (*box.leading, 0, n, n))
            none = [Interval.of(np.zeros(shape)) for shape in shapes]
            found = [(none[0], none[1], lambda: Bend(none[1], none[2]))]
        value = Interval.joined([entry[0] for entry in found], -1)
        J = Interval.joined([entry[1] for entry in found], -2)
        around = exp_jacobian_bound(self.problem.space, box.r)

        def bend() -> Bend:
            body = Bend.joined([entry[2]() for entry in found])
            return self._in_chart(J, body, box) if around.any() else body

        way = J.magnitude @ around
        wide, moves = J.widened(rounded_up(way)), (J.magnitude > 0.0) | (way > 0.0)  # zeros stay zeros
        in_chart = Interval(wide.lower * moves, wide.upper * moves) if around.any() else J
        return RowsOn(value, in_chart, bend)

    def at(self, q: Vector) -> Interval:
        """Values of all rows (..., m) at configurations (..., nq)."""
        box = TangentBox(self.problem.space, q, 0.0)
        found = [_rows(*each, box)[0] for each in zip(self.owners, self.points, self.axes, strict=True)]
        return Interval.joined([Interval.of(np.zeros((*box.leading, 0))), *found], -1)

    def _in_chart(self, J: Interval, bend: Bend, box: TangentBox) -> Bend:
        r"""Slopes along v of :math:`c \oplus v`, from those along motions of the body there: :math:`J\, J_{\exp}(v)`.

        .. math:: J_{\exp}(v) = 1 - \tfrac12 \mathrm{ad}_v + \ldots
        """
        space = self.problem.space
        middle, radius = np.array(bend.slopes.middle), np.array(bend.slopes.radius)
        for v, _ in curved_blocks(space):
            n = v.stop - v.start
            ad = structure(space)[v, v, v].transpose(0, 2, 1).reshape(n, n * n)
            turned = (J[..., v] @ ad).reshaped(*J.shape[:-1], n, n)  # (row, k, j) of J ad_j e_k
            changed = bend.slopes[..., v, v] - 0.5 * turned
            middle[..., v, v], radius[..., v, v] = changed.middle, changed.radius
        rest = rounded_up(J.magnitude @ exp_jacobian_rest(space, box.r))
        return Bend(bend.straight.widened(rest), Interval.around(middle, radius))


def _free_axis(owner: RowOwner, rhs: Vector) -> int | None:
    r"""The axis e about which a rotation vector may turn, where both of its other rows are to be zero; else None.

    A rotation vector is along e, or zero, if and only if the rotation leaves e where it is: :math:`R e = e`. So the
    tilt of e vanishes where these rows do, and nowhere else, and it has a derivative where the vector jumps, at half a
    turn about e. It stands for these rows. So it does where the target is a quaternion of no turn, or of one about e.
    """
    rows, function = owner.rows, owner.measured
    if not isinstance(function, _TURNED) or sum(rows.mask[-3:].tolist()) != 2:
        return None
    if isinstance(function, Pose) and function.outputs == SE3 and rows.mask[:3].any():
        return None
    asked, target = rows.mask[-3:], rhs[-3:] if owner.group.is_flat else rhs[-4:-1]
    zero = (rows.lower[-3:] == 0.0) & (rows.upper[-3:] == 0.0) & (target == 0.0)
    return int(np.argmin(asked)) if zero[asked].all() else None


_TURNED = Orientation, Transformation, Rotation, Pose


@kept_with
def tilted(function: Function, places: tuple[int, ...], axis: int) -> OfRelativePose:
    """Some coordinates of the place of a frame, as far as the function has them, and the tilt of an axis; made once."""
    f: Any = function
    rows = Split(np.eye(3)[[*places]], Swing(np.eye(3)[axis]))
    return OfRelativePose(f.robot, f.frame_a, f.frame_b, rows, name=f.name)


def _rows(
    owner: RowOwner, rhs: Vector, axis: int | None, box: TangentBox
) -> tuple[Interval, Interval, Callable[[], Bend]]:
    """The rows of one constraint that count: value at the centre, Jacobian on the box, how that changes."""
    function, group, mask = owner.measured, owner.group, owner.rows.mask
    is_flat = group.is_flat or axis is not None
    if isinstance(function, Transformation) and not mask[3:].any():
        # nobody asks for the rotation, which has no enclosure near a half turn
        function = Position(function.robot, function.frame_b, function.frame_a)
        rhs, mask = rhs[..., :3], mask[:3]
    if axis is not None:
        places = np.flatnonzero(mask[:-3])
        function = tilted(function, tuple(places.tolist()), axis)
        rhs = np.concatenate([rhs[..., places], np.zeros((*rhs.shape[:-1], 2))], axis=-1)
        mask = np.ones(rhs.shape[-1], dtype=np.bool_)
    f = function.enclosed(box)
    if is_flat:
        value = f.value - rhs
        around = Interval.around(value, f.rounding + one_rounding(value))
        return around[..., mask], f.jacobian[..., mask, :], lambda: f.bend.rows(mask)
    g = np.asarray(group.compose(group.inverse(rhs), f.value))
    way = f.rounding + map_rounding(group, rhs, f.value, g)
    near = walked(group, np.where(way > 0.0, rounded_up(way), 0.0))
    around = Enclosure(g, near, f.jacobian, lambda: f.error, lambda: f.bend)
    angles = circle_columns(group)
    asked = angles[mask[angles]]
    to_be_zero = not (np.abs(owner.rows.lower[asked]) + np.abs(owner.rows.upper[asked])).any()
    log = logarithm(group, around, box, FARTHEST_ANGLE if to_be_zero else NEARLY_HALF)
    return log.at_center[..., mask], log.jacobian[..., mask, :], lambda: log.bend.rows(mask)
