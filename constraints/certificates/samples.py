"""Rows and Jacobians of a problem at many configurations, by the engine: of the rows that are enclosed."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..errors import NoEnclosureError
from ..functions import Position
from ..functions.enclosures.box import TangentBox
from ..functions.enclosures.interval import Interval
from ..functions.enclosures.smooth import tilt
from ..loops.hinges.rotation_rows import Swing
from ..robot.placement import as_placement
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack
from ..solvers.engine import Engine
from ..workspace import Pool, Workspace
from .rows import ProblemRows


class _Part(NamedTuple):
    """Where rows are read from what is sampled: some rows as they are, or the tilt of an axis.

    Attributes:
        at: sampled rows.
        swing: of the tilt of the direction between two places: (6,) rows of its end and its origin; or None.
    """

    at: slice
    swing: Swing | None = None


def _read(part: _Part, errors: Matrix, jacobians: Matrix) -> tuple[Matrix, Matrix]:
    """Errors and Jacobians of rows, from those that are sampled."""
    if part.swing is None:
        return errors, jacobians
    d, J = errors[:, :3] - errors[:, 3:], jacobians[:, :3] - jacobians[:, 3:]
    a, across = part.swing.a, part.swing.across
    k, k1, _ = (each.middle[:, None] for each in tilt(Interval.of(np.clip(d @ a, -1.0, 1.0))))
    aside = d @ across.T
    return k * aside, (k[..., None] * across + (k1 * aside)[..., None] * a) @ J


@final
class Samples:
    """Rows of a problem, evaluated by the engine, with the tilt of an axis where that stands for two of them.

    Args:
        rows: of the problem.
        engine: of the projections.
        q: a configuration where they are compared with their enclosures.
        small: how far they may be off.

    Raises:
        NoEnclosureError: what is sampled is not what is enclosed.
    """

    def __init__(self, rows: ProblemRows, engine: Engine, q: Vector, small: float) -> None:
        problem = rows.problem
        self._owners, self._points, self._parts = list[RowOwner](), list[Vector](), list[_Part]()
        self._count, self._space, self._moving = 0, problem.space, ~problem.frozen
        for each in zip(rows.owners, rows.points, rows.axes, strict=True):
            self._add(*each)
        stack = Stack(self._owners)
        self._evaluation = engine.evaluation(problem.robot or problem.space, stack)
        self._rhs, self._pool = RightHandSide(stack, np.concatenate(self._points)), Pool(Workspace)
        found = rows.on(TangentBox(problem.space, q, 0.0))
        E, J = (each[0] for each in self.at(q[None]))
        for off in (found.value - (rows.lower + E), (found.jacobian - J)[:, self._moving]):
            if not (np.abs(off.middle) <= off.radius + small).all():
                raise NoEnclosureError("a sample", "it is not of the rows that are enclosed")

    def _add(self, owner: RowOwner, point: Vector, axis: int | None) -> None:
        if axis is None:
            self._take(owner, point)
            return
        f: Any = owner.measured
        along, places = np.eye(3)[axis], owner.rows.mask[:-3]
        if places.any():
            self._take(Implicit.equal(Position(f.robot, f.frame_b, f.frame_a), mask=places), point[:3])
        first = self._count
        for frame in (f.frame_b.moved(as_placement([*along, 0.0, 0.0, 0.0, 1.0], "end of an axis")), f.frame_b):
            self._take(Implicit.equal(Position(f.robot, frame, f.frame_a)), np.zeros(3))
        self._parts[-2:] = [_Part(slice(first, first + 6), Swing(along))]

    def _take(self, owner: RowOwner, point: Vector) -> None:
        first, self._count = self._count, self._count + int(owner.rows.mask.sum())
        self._owners.append(owner)
        self._points.append(point)
        self._parts.append(_Part(slice(first, self._count)))

    def at(self, Q: Matrix) -> tuple[Matrix, Matrix]:
        """Errors (n, m) and Jacobians (n, m, nv) along motions of bodies, at configurations."""
        memory = self._pool.take()
        errors, jacobians = self._evaluation.rows_of_many(Q, self._rhs, memory)
        self._pool.give(memory)
        if any(part.swing for part in self._parts):
            each = [_read(part, errors[:, part.at], jacobians[:, part.at]) for part in self._parts]
            errors, jacobians = (np.concatenate(x, axis=1) for x in zip(*each, strict=True))
        return errors, jacobians * self._moving
