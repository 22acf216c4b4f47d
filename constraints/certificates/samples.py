r"""Rows and Jacobians of a problem at many configurations, by the engine: of the rows that are enclosed.

**Around a configuration.** By `certificates.slopes`, DF changes by at most :math:`h |v|` with v, as long as F is no
longer than its logarithm is looked at for. By Taylor's theorem it is not, where that is more than

.. math:: |F(0)| + \|DF(0)\| |v| + \tfrac12 h |v|^2

With B of orthonormal columns, and :math:`C_i` the columns of C of each of k constraints, for all y

.. math:: \|C\,(DF(B y) - DF(0))\, B\| \le K |y|, \qquad K =
    \left( \sum_i d_i^2 h_i^2 \right)^{1/2} \|(C_1 / d_1, \ldots, C_k / d_k)\|

for any numbers d, and :math:`d_i^2 = |C_i| / h_i`, with roots of sums of squares, are good ones.
Rows that are straight have h = 0. Their values are sums of products of coordinates, and of what is constant in them:
rounding is relative to these, and not to lengths of links. A coordinate less a constant is zero where they are equal,
and where nothing else is taken from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..errors import NoEnclosureError, UndefinedError
from ..functions import Orientation, Transformation
from ..functions.enclosures.box import Bend, TangentBox
from ..functions.enclosures.group_bounds import circle_columns, curved_blocks
from ..functions.enclosures.interval import UNIT, Interval, applied, insist, lengths, rounded_up
from ..functions.frames.levers import AROUND
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack
from ..solvers.engine import Engine
from ..solvers.projection.engines import as_engine
from ..workspace import Pool, Workspace
from .balls import packed
from .rows import ProblemRows, RowsOn, tilted
from .slice import norm_bound
from .slopes import FARTHEST_ON_CIRCLE, LONGEST_WAY, BoundedSlopes, Slides, is_locked, is_straight, shift_of

TUBE_AROUND = 0.05
"""As `slopes.TUBE`, around a configuration: balls are larger than what is around a way [rad, m]."""
_ZEROS = np.zeros(2)


@final
class Samples:
    """Rows of a problem, evaluated by the engine, with the tilt of an axis where that stands for two of them.

    Rows of inequalities are sampled as if they were to be zero: their values, and not what is missed.

    Args:
        rows: of the problem; of others with the same `axes` and their own right-hand sides, too.
        engine: of the projections.
        q: a configuration where they are compared with their enclosures.
        small: how far they may be off.

    Raises:
        NoEnclosureError: what is sampled is not what is enclosed.

    Attributes:
        base: (m,) what errors are added to for values.
    """

    def __init__(self, rows: ProblemRows, engine: Engine, q: Vector, small: float) -> None:
        problem, self._taken = rows.problem, list[tuple[int, slice | Indices, int]]()
        self._moving, each = ~problem.frozen, zip(rows.owners, rows.axes, strict=True)
        owners, base = zip(*(self._sampled(i, *one) for i, one in enumerate(each)), strict=True)
        self.base: Vector = np.concatenate(base)
        self._stack = Stack(owners)
        self._evaluation = engine.evaluation(problem.robot or problem.space, self._stack)
        self._last: tuple[bytes, RightHandSide] = b"", RightHandSide(self._stack)
        self._rhs, self._pool = self.sides(rows.points), Pool(Workspace)
        found = rows.on(TangentBox(problem.space, q, 0.0))
        E, J = (each[0] for each in self.at(q[None]))
        for off in (found.value - (self.base + E), (found.jacobian - J)[:, self._moving]):
            if not (np.abs(off.middle) <= off.radius + small).all():
                raise NoEnclosureError("a sample", "it is not of the rows that are enclosed")

    def sides(self, points: Sequence[Vector]) -> RightHandSide:
        """What is asked for by these right-hand sides of the rows."""
        vector = np.concatenate([part for i, some, zeros in self._taken for part in (points[i][some], _ZEROS[:zeros])])
        last, key = self._last, vector.tobytes()
        if last[0] != key:
            self._last = last = key, RightHandSide(self._stack, vector)
        return last[1]

    def _sampled(self, i: int, owner: RowOwner, axis: int | None) -> tuple[RowOwner, Vector]:
        """What is sampled of one constraint, and what is to be added to its errors."""
        rows, count = owner.rows, int(owner.rows.mask.sum())
        if axis is not None:
            places = np.flatnonzero(rows.mask[:-3])
            self._taken.append((i, places, 2))
            return Implicit.equal(tilted(owner.measured, tuple(places.tolist()), axis)), np.zeros(count)
        self._taken.append((i, slice(None), 0))
        if (rows.lower == rows.upper)[rows.mask].all():
            return owner, rows.lower[rows.mask]
        return Implicit.equal(owner.measured, mask=rows.mask), np.zeros(count)

    def at(self, Q: Matrix, rhs: RightHandSide | None = None) -> tuple[Matrix, Matrix]:
        """Errors (n, m) and Jacobians (n, m, nv) along motions of bodies, at configurations.

        Args:
            Q: (n, nq).
            rhs: of `sides`; by default those that it was made with.
        """
        memory = self._pool.take()
        errors, jacobians = self._evaluation.rows_of_many(Q, self._rhs if rhs is None else rhs, memory)
        self._pool.give(memory)
        return errors, jacobians * self._moving


class _Bent(NamedTuple):
    """Constraints whose rows are not straight, or may be too far.

    Attributes:
        of_each: (m, k) 1 where a row is one of a constraint.
        bend, farthest: (k,) as of `SlopedRows`.
    """

    of_each: Matrix
    bend: Vector
    farthest: Vector

    @staticmethod
    def of(each: Sequence[tuple[Indices, float, float]], m: int) -> _Bent:
        """Of numbers of rows, `bend` and `farthest`; m rows in all."""
        of_each = np.zeros((m, len(each)))
        for i, (numbers, *_) in enumerate(each):
            of_each[numbers, i] = 1.0
        return _Bent(of_each, *(np.array([one[k] for one in each]) for k in (1, 2)))

    @property
    def numbers(self) -> Indices:
        """(m,) of each row the number of its constraint; -1 if it is of none."""
        return (self.of_each @ np.arange(1, len(self.bend) + 1)).astype(np.intp) - 1


@final
class KnownRows:
    """What does not depend on right-hand sides, nor on where rows are asked for.

    Args:
        rows: of a problem with a robot.
        slides: of each thing that slides: its entries, how long it may be, and up to which length slopes are bounded.
        samples: of the rows.

    Raises:
        NoEnclosureError: a constraint has no bounds here.
    """

    def __init__(self, rows: ProblemRows, slides: Sequence[tuple[Indices, float, float]], samples: Samples) -> None:
        self.space, m = rows.problem.space, len(rows.lower)
        self.slides = [(entries, reach) for entries, longest, reach in slides if reach < longest]
        shift, near, self.bends, self.locked = np.zeros(m), np.zeros((1, self.space.nq)), np.zeros(m), dict[int, Any]()
        at = np.split(np.arange(m), np.cumsum([int(owner.rows.mask.sum()) for owner in rows.owners])[:-1])
        others, far = list[int](), list[tuple[Indices, float, float]]()
        for i, owner in enumerate(rows.owners):
            f = owner.measured
            if not is_straight(f):
                others.append(i)
                continue
            shift[at[i]] = shift_of(f)
            if is_locked(f):
                self.locked[i] = at[i]
            if owner.rows.mask[circle_columns(owner.group)].any():
                far.append((at[i], 0.0, FARTHEST_ON_CIRCLE))
        for entries, _, reach in slides:
            near[0, entries[0]] = reach
        bounded = BoundedSlopes(rows.some(others), near, TUBE_AROUND)
        of_others = np.concatenate([np.zeros(0, dtype=np.intp), *(at[i] for i in others)])
        bent = [(of_others[block.rows], block.bend, block.farthest) for block in bounded.blocks]
        for numbers, bend, _ in bent:
            self.bends[numbers] = bend
        self.bent, self.far = _Bent.of(bent, m), _Bent.of(far + [one for one in bent if np.isfinite(one[2])], m)
        self.straight = np.setdiff1d(np.arange(m), of_others)
        self.shift: Vector = shift[self.straight]
        self.longest = 0.999 * LONGEST_WAY if curved_blocks(self.space) else 0.5 * AROUND if slides else np.inf
        self.samples, self.rounding = samples, bounded.small
        self.small = np.full(m, bounded.small)
        for numbers in self.locked.values():
            self.small[numbers] = 0.0
        self.off: Matrix = np.repeat(self.small[None, :, None], self.space.nv, axis=-1)
        self.problem = rows.problem

    @cached_property
    def packed(self) -> tuple[Any, ...]:
        """For kernels."""
        return packed(self)

    def rate(self, C: Matrix, chosen: Indices) -> Any:
        """K, of rows in play; C (..., n, n)."""
        h, of_each = self.bent.bend, self.bent.of_each if len(chosen) == len(self.bends) else self.bent.of_each[chosen]
        if not len(h) or not len(chosen):
            return np.zeros(C.shape[:-2])[()]
        each = np.maximum(np.sqrt(np.einsum("...ij,...ij->...j", C, C) @ of_each), 1e-150)
        weights = np.sqrt(h / each) @ of_each.T
        return rounded_up(norm_bound(C * weights[..., None, :]) * np.sqrt(each @ h))


@final
class NearRows:
    """Rows of a problem around configurations (n, nq): sampled there, with bounds of their slopes.

    Args:
        rows: of the problem; right-hand sides may have a leading axis.
        known: what is known of it.
        sides: what is sampled, of all, or of each of several.
    """

    def __init__(self, rows: ProblemRows, known: KnownRows, sides: Sequence[RightHandSide]) -> None:
        self._rows, self.known, self._sides = rows, known, sides
        self._last = np.zeros(0), 0.0

    @staticmethod
    def of(rows: ProblemRows, Q: Matrix) -> NearRows | None:
        """Those around configurations; None where a constraint has no bounds. What is known is kept.

        Args:
            rows: of a problem; right-hand sides may have a leading axis (n,).
            Q: (n, nq).
        """
        problem, robot = rows.problem, rows.problem.robot
        if robot is None or robot.space != problem.space or not len(rows.lower):
            return None
        stacked = rows.points[0].ndim == 2
        each = [[point[i] for point in rows.points] for i in range(len(Q))] if stacked else [rows.points]
        kinds = Orientation, Transformation
        both = zip(rows.owners, rows.points, strict=True)
        leaning = [any(point[..., -3:].ravel().tolist()) for owner, point in both if isinstance(owner.measured, kinds)]
        if stacked and any(leaning):
            return None
        first, key = rows._replace(points=each[0]), (problem, *rows.axes, *leaning)
        try:
            known: Any = robot.kept.get(("samples", *key), lambda: _looked_at(first, problem.space.normalize(Q[0])))
        except UndefinedError:
            return None
        if not known:
            return None
        slides: Slides = known[0]
        samples: Samples = known[1]
        reach = slides.around(Q)
        each_slide = list(zip(*slides[:2], reach, strict=True))
        every: KnownRows = robot.kept.get(("near", *key, *reach), lambda: KnownRows(first, each_slide, samples))
        return NearRows(rows, every, [samples.sides(one) for one in each])

    def of_boxes(self, which: Indices) -> NearRows:
        """The same around some of several."""
        sides = self._sides
        if len(sides) > 1:
            numbers: list[int] = which.tolist()
            sides = [sides[i] for i in numbers]
        return NearRows(self._rows.of_boxes(which), self.known, sides)

    def around(self, Q: Matrix, size: Vector | None = None) -> RowsOn:
        """All rows around configurations: what is `largest` there is how far; or on balls of these sizes.

        Raises:
            UndefinedError: slopes are not bounded on a ball.
        """
        known = self.known
        E, J = self._sampled(Q)
        value = Interval.ball(known.samples.base + E, partial(self._rounding, Q, E, J))
        jacobian = middle = Interval.ball(J, lambda: np.broadcast_to(known.off, J.shape))
        around = Around(self, Q, value, E, J)
        if size is not None:
            insist(size <= around.largest, "a ball in which a logarithm, or what slides, may be too far")
            jacobian = Interval.around(J, rounded_up(known.bends * size[:, None] + known.small)[..., None])
        return RowsOn(value, jacobian, lambda: Bend(middle, middle), around)

    def rate(self, C: Matrix, chosen: Indices) -> Any:
        """As of `KnownRows`; that of the last C is kept."""
        if C is not self._last[0]:
            self._last = C, self.known.rate(C, chosen)
        return self._last[1]

    def _rounding(self, Q: Matrix, E: Matrix, J: Matrix) -> Matrix:
        """Of the values of the rows (n, m)."""
        known, base, space = self.known, self.known.samples.base, self.known.space
        size = np.abs(base) + np.abs(E)
        if len(known.straight):
            x = np.zeros((len(Q), space.nv))
            x[:, space.vector_v] = np.abs(Q[:, space.vector_q])
            size[:, known.straight] += 2.0 * (applied(np.abs(J[:, known.straight]), x) + known.shift)
        near = rounded_up(known.rounding + 8.0 * (space.nv + 8) * UNIT * size)
        return np.where(self.exact & (E == 0.0), 0.0, near) if known.locked else near

    @cached_property
    def exact(self) -> BoolVector:
        """(m,), or (n, m): rows of locked joints that subtract nothing but zeros."""
        known, points, owners = self.known, self._rows.points, self._rows.owners
        found = np.broadcast_to(known.samples.base == 0.0, (*points[0].shape[:-1], len(known.bends))).copy()
        found &= known.small == 0.0
        for i, numbers in known.locked.items():
            if any(points[i].ravel().tolist()):
                found[..., numbers] &= points[i][..., owners[i].rows.mask] == 0.0
        return found

    def _sampled(self, Q: Matrix) -> tuple[Matrix, Matrix]:
        """Errors (n, m) and Jacobians (n, m, nv)."""
        samples, sides = self.known.samples, self._sides
        if len(sides) == 1:
            return samples.at(Q, sides[0])
        each = zip(*(samples.at(q[None], side) for q, side in zip(Q, sides, strict=True)), strict=True)
        errors, jacobians = (np.concatenate(one) for one in each)
        return errors, jacobians


class Around:
    r"""What is known around configurations.

    Args:
        rows: what is sampled.
        Q: where (n, nq).
        value: of the rows (n, m).
        E, J: errors (n, m) and Jacobians (n, m, nv).

    Attributes:
        rate: gives a bound of what :math:`C\,J B` changes by with y, by the length of y, from C and its rows.
    """

    def __init__(self, rows: NearRows, Q: Matrix, value: Interval, E: Matrix, J: Matrix) -> None:
        self.rate, self.known, self.Q, self.E, self.J = rows.rate, rows.known, Q, E, J
        self._rows, self._value = rows, value

    @property
    def exact(self) -> Matrix:
        """1 where nothing is rounded if the error is zero, (n, m) or (1, m)."""
        if not self.known.locked:
            return np.zeros((1, self.E.shape[1]))
        return np.atleast_2d(self._rows.exact).astype(np.float64)

    @cached_property
    def _lengths(self) -> Matrix:
        return lengths(self.J) + self.known.small * np.sqrt(self.J.shape[-1])

    @cached_property
    def largest(self) -> Vector:
        """How long y may be; negative where nothing is known."""
        known, far = self.known, self.known.far
        most = np.full(len(self.Q), known.longest)
        if len(far.bend):
            size = np.abs(self._value.middle) + self._value.radius
            left = far.farthest - np.sqrt((size * size) @ far.of_each)
            slope = np.sqrt((self._lengths * self._lengths) @ far.of_each)
            root = slope + np.sqrt(slope * slope + 2.0 * far.bend * np.maximum(left, 0.0))
            most = np.minimum(most, (1.98 * left / root).min(axis=1))
        for entries, length in known.slides:
            most = np.where(lengths(self.Q[:, entries]) <= length + 0.5 * AROUND, most, -1.0)
        return most

    def along(self, B: Matrix, chosen: Indices) -> Interval:
        r""":math:`J B` at y = 0. Columns of B are nearly of length 1 at most: sums are bounded by lengths of rows."""
        J, n = self.J[:, chosen], self.J.shape[-1]
        small = self.known.small[chosen] * np.sqrt(n) + 8.0 * (n + 4) * UNIT * self._lengths[:, chosen]
        middle, radius = J @ B, rounded_up(small)[..., None]
        return Interval(middle - radius, middle + radius)


def _looked_at(rows: ProblemRows, q: Vector) -> tuple[()] | tuple[Slides, Samples]:
    """What slides, and samples that are compared with enclosures at q; nothing where a constraint has no bounds."""
    bent = rows.some([i for i, owner in enumerate(rows.owners) if not is_straight(owner.measured)])
    try:
        slides = Slides.of(bent)
        small = BoundedSlopes(bent, np.abs(q)[None]).small
        return slides, Samples(rows, as_engine(None), q, small)
    except NoEnclosureError:
        return ()
