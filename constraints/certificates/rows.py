"""The rows of a problem on a box: what must vanish, what must stay in an interval, with Jacobians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from liegroups.arrays import BoolVector, Vector

from ..functions import Position, Transformation
from ..functions.enclosures.box import Enclosure, TangentBox
from ..functions.enclosures.group_bounds import exp_jacobian_bound, map_rounding, walked
from ..functions.enclosures.interval import Interval, one_rounding, rounded_up
from ..functions.enclosures.maps import logarithm
from ..problem.problem import Problem
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner


class RowsOn(NamedTuple):
    r"""All rows on a box around c.

    Attributes:
        value: of :math:`\log(rhs^{-1} h(c))` (m,).
        jacobian: of what they change by along v of :math:`c \oplus v` (m, nv), on the box.
    """

    value: Interval
    jacobian: Interval


class ProblemRows(NamedTuple):
    """The rows that count of the mandatory levels, and of explicit constraints by their twins.

    Attributes:
        problem: whose they are.
        owners: with rows.
        points: their right-hand sides.
        lower, upper: (m,) the interval of each row.
        names: (m) what messages call them.
    """

    problem: Problem
    owners: Sequence[RowOwner]
    points: Sequence[Vector]
    lower: Vector
    upper: Vector
    names: Sequence[str]

    @staticmethod
    def of(problem: Problem, rhs: RightHandSide) -> ProblemRows:
        """Those of a problem."""
        owners = [o for stack in (*problem.mandatory, problem.explicits) for o in stack if o.rows.mask.any()]
        points = [o.group.neutral if (p := rhs.points[id(o)]) is None else p for o in owners]
        lower, upper = (
            np.concatenate([getattr(o.rows, side)[o.rows.mask] for o in owners] or [np.zeros(0)])
            for side in ("lower", "upper")
        )
        names = [f"row {i} of '{o.name}'" for o in owners for i in np.flatnonzero(o.rows.mask).tolist()]
        return ProblemRows(problem, owners, points, lower, upper, names)

    def some(self, which: Sequence[int]) -> ProblemRows:
        """Those of some owners, by number."""
        ends = np.cumsum([0, *(int(owner.rows.mask.sum()) for owner in self.owners)])
        rows = [k for i in which for k in range(int(ends[i]), int(ends[i + 1]))]
        owners, points = [self.owners[i] for i in which], [self.points[i] for i in which]
        return ProblemRows(
            self.problem, owners, points, self.lower[rows], self.upper[rows], [self.names[k] for k in rows]
        )

    @property
    def equalities(self) -> BoolVector:
        """(m,) true where the interval is a point."""
        return self.lower == self.upper

    def on(self, box: TangentBox) -> RowsOn:
        """All rows on a box.

        Raises:
            NoEnclosureError: a function has none.
            UndefinedError: a function may have no value on the box, or the box is too large.
        """
        found = [_rows(owner, point, box) for owner, point in zip(self.owners, self.points, strict=True)]
        if not found:
            nothing = Interval.of(np.zeros(0))
            return RowsOn(nothing, Interval.of(np.zeros((0, self.problem.space.nv))))
        J, value = Interval.joined([slopes for _, slopes in found]), Interval.joined([entry for entry, _ in found])
        bent = exp_jacobian_bound(self.problem.space, box.r)
        return RowsOn(value, J.widened(rounded_up(J.magnitude @ bent)) if bent.any() else J)


def _rows(owner: RowOwner, rhs: Vector, box: TangentBox) -> tuple[Interval, Interval]:
    """The rows of one constraint that count: value at the centre, Jacobian on the box."""
    function, group, mask = owner.measured, owner.group, owner.rows.mask
    if isinstance(function, Transformation) and not mask[3:].any():
        # nobody asks for the rotation, which has no enclosure near a half turn
        function = Position(function.robot, function.frame_b, function.frame_a)
        rhs, mask = rhs[:3], mask[:3]
    f = function.enclosure(box)
    if group.is_flat:
        value = f.value - rhs
        return Interval.around(value, f.rounding + one_rounding(value))[mask], f.jacobian[mask]
    g = np.asarray(group.compose(group.inverse(rhs), f.value))
    way = rounded_up(f.rounding + map_rounding(group, rhs, f.value, g))
    log = logarithm(group, Enclosure(g, walked(group, way), f.jacobian, lambda: f.error), box)
    return log.at_center[mask], log.jacobian[mask]
