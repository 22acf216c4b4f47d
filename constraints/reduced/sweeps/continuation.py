r"""Continuation: the curve of closed configurations that one coordinate drives, followed by its tangent and corrected.

The columns are w = (c, v): the driver and all that depends; the others are held. With the rank r of the rows the closed
configurations are a curve where :math:`J_w` (rows, r + 1) has rank r, and its tangent t spans the null space. All rows
are taken, so that it does not matter which of them are called redundant. Cramer's rule says what the tangent tells:

.. math:: t_c = 0 \iff \det J_v = 0 \text{ with } J_w \text{ of rank } r

so the driver stands still at a dead point, through which the curve itself runs smoothly.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ...linear_algebra import is_finite
from ...loops.closing.corrector import Corrector, Ending, Trust, least_norm
from ...rows.right_hand_side import RightHandSide
from ...rows.stacking import Order, Rows, stack_rows
from ...workspace import Workspace
from ..coordinates import MinimalCoordinates
from .driver import Driver

CORRECTION = Trust(most=10, farthest=np.inf, shrinking=0.7, still=1e-14)
"""A correction takes two or three steps as a rule. Each is at most 0.7 of the one before; below 1e-14 nothing moves."""
LOST = 1e-8
"""Singular values below this part of the largest are left out of a correction: they are those of a branch point."""
TURN = 0.25
"""The tangent turns by at most this in one step [rad]."""
ASTRAY = 5e-3
"""Largest distance of a step's chord from the mean of the tangents at its ends (unit vectors); a jump exceeds it."""
NO_WAY = 1e-12
"""A chord up to this has no direction, only rounding [rad or m]: there it tells no jump, and no crossing."""
GREW = 1e-5
"""Singular values of J_w beyond the rank, relative to the largest, are below this on the curve."""


class CurvePlace(NamedTuple):
    """A closed configuration on the curve.

    Attributes:
        q: (nq,).
        value: of the driver.
        tangent: t (r + 1,), of norm 1, in the direction of travel; the driver's part first.
        J: (rows, r + 1), J_w.
        range: (rows, r), orthonormal, what J_w reaches.
        least: the least of the r singular values of J_w: zero where ways cross.
        parity: the sign of det J_v is `parity` times that of the driver's part of the tangent.
    """

    q: Vector
    value: float
    tangent: Vector
    J: Matrix
    range: Matrix
    least: float
    parity: float

    @property
    def sign(self) -> float:
        """Of det J_v; 0 at a dead point."""
        return self.parity * float(np.sign(self.tangent[0]))

    @property
    def reversed(self) -> CurvePlace:
        """The same place, travelled the other way."""
        return self._replace(tangent=-self.tangent, parity=-self.parity)


class ClosedOn(NamedTuple):
    """A configuration that was closed: where, the value of the driver, the Jacobian there."""

    q: Vector
    value: float
    J: Matrix


@final
class _CurveColumns:
    """Columns of a `Corrector`: driver and dependent ones by the step of least norm; or with the driver held.

    Attributes:
        value: of the driver.
    """

    def __init__(self, curve: Curve, value: float, held: bool) -> None:
        self.value, self._curve, self._held = value, curve, held
        self._step = np.zeros(len(curve.columns))

    def off(self, error: Vector, J: Matrix) -> float:
        """Largest error of what motions reach; and the step, :math:`-J_w^+ h`, is known."""
        size, self._step[int(self._held) :] = least_norm(error, J[:, 1:] if self._held else J, self._curve.rank, LOST)
        return size

    def step(self, q: Vector, error: Vector, J: Matrix) -> tuple[Vector | None, float]:
        """That of `off`; it needs no determinant."""
        return (self._step if is_finite(self._step) else None), 0.0

    def moved(self, q: Vector, step: Vector) -> Vector:
        """The value of the driver moves, too."""
        q, self.value = self._curve.moved(q, step), self.value + float(step[0])
        self._curve.driver.set_in(q, self.value)
        return q


@final
class Curve:
    """The closed configurations along a driver, the other independent coordinates held. One a run: it has memory.

    Args:
        coordinates: which columns are held and which follow; the driver is independent.
        driver: the driver.
        rhs: right-hand sides of the rows.
        tolerance: largest error of what motions can reduce [m or rad].

    Attributes:
        coordinates, driver, rhs, tolerance: as given.
        space: of the configurations.
        rank: r.
        columns: w (r + 1,), that of the driver first.
        rank_grew: whether the rank of J_w at the last place was above r: then the start was singular.
    """

    def __init__(self, coordinates: MinimalCoordinates, driver: Driver, rhs: RightHandSide, tolerance: float) -> None:
        rows = coordinates.constraint_set
        self.coordinates, self.driver, self.rhs, self.tolerance = coordinates, driver, rhs, tolerance
        self.space = rows.robot.space
        self.rank = coordinates.partition.rank
        self.columns: Indices = np.concatenate([[driver.column], coordinates.partition.dependent]).astype(np.intp)
        self._on = rows.on_rows
        self._workspace = Workspace()
        self._trust = CORRECTION._replace(tolerance=tolerance)
        self.rank_grew = False

    def rows(self, q: Vector) -> tuple[Vector, Matrix]:
        """Errors (rows,) and J_w (rows, r + 1) at q."""
        stacked = self._stacked(q)
        return stacked.error[self._on], stacked.jacobian[np.ix_(self._on, self.columns)]

    def _stacked(self, q: Vector) -> Rows:
        rows = self.coordinates.constraint_set
        return stack_rows(rows.stack, rows.robot.at(q, self._workspace), Order.POSITION, self.rhs)

    def jacobian(self, q: Vector) -> Matrix:
        """J (rows, nv) at q, all columns."""
        return self._stacked(q).jacobian[self._on]

    def moved(self, q: Vector, move: Vector) -> Vector:
        """A configuration moved along the columns of the curve, by (r + 1,)."""
        whole = np.zeros(self.space.nv)
        whole[self.columns] = move
        return np.array(self.space.integrate(q, whole))

    def between_of(self, a: Vector, b: Vector) -> Vector:
        """From one configuration to another, in the columns of the curve (r + 1,)."""
        return np.asarray(self.space.difference(a, b))[self.columns]

    # Corrections.

    def corrected(self, q: Vector, value: float, held: bool) -> ClosedOn | None:
        r"""Close a configuration by Newton's steps of least norm, :math:`-J_w^+ h`; with the driver held by J_v alone.

        None where it does not converge, or goes far; redundant rows must hold to 1e-6 then.
        """
        columns = _CurveColumns(self, value, held)
        ending, q, _, J = Corrector(self.rows, columns).newton(q, self._trust)
        return ClosedOn(q, columns.value, J) if ending is Ending.CLOSED else None

    def at(self, found: ClosedOn, tangent: Vector, parity: float) -> CurvePlace:
        """The place at a closed configuration, travelled in about the direction of a tangent (r + 1,)."""
        U, S, Vt = np.linalg.svd(found.J)
        t = Vt[-1] if Vt[-1] @ tangent >= 0.0 else -Vt[-1]
        least = float(S[self.rank - 1]) if self.rank else 1.0
        self.rank_grew = bool((S[self.rank :] > GREW * S[0]).any())
        return CurvePlace(found.q, found.value, t, found.J, U[:, : self.rank], least, parity)

    def started(self, q: Vector, sign: float) -> CurvePlace:
        """The place at a closed start, travelled towards larger values; `sign` is that of det J_v there."""
        value, along = self.driver.value_in(q), np.zeros(len(self.columns))
        along[0] = 1.0
        found = self.corrected(np.array(q), value, held=True)
        return self.at(found or ClosedOn(np.array(q), value, self.rows(q)[1]), along, sign)

    # Steps.

    def step(self, a: CurvePlace, length: float, before: CurvePlace | None = None) -> CurvePlace | None:
        """One step of an arc length [rad or m], corrected at right angles; None where it is not to be trusted.

        Args:
            a: where from.
            length: of the step.
            before: the place before, for a prediction of second order.
        """
        move = length * a.tangent
        if before is not None:
            way = np.linalg.norm(self.between_of(before.q, a.q))
            if way > 0.0:
                move = move + 0.5 * length * length / way * (a.tangent - before.tangent)
        return self._landed(a, move, held=False)

    def step_to(self, a: CurvePlace, value: float) -> CurvePlace | None:
        """One step along the tangent to a value of the driver, corrected with it held; None as in `step`."""
        if a.value == value:
            return a
        move = (value - a.value) / a.tangent[0] * a.tangent
        return self._landed(a, move, held=True, value=value)

    def _landed(self, a: CurvePlace, move: Vector, held: bool, value: float = 0.0) -> CurvePlace | None:
        reached = value if held else a.value + float(move[0])
        q = self.moved(a.q, move)
        self.driver.set_in(q, reached)
        found = self.corrected(q, reached, held)
        if found is None:
            return None
        b = self.at(found, a.tangent, a.parity)
        if self.rank_grew or float(a.tangent @ b.tangent) < np.cos(TURN):
            return None
        chord, mean = self.between_of(a.q, b.q), a.tangent + b.tangent
        length = np.linalg.norm(chord)
        if length <= NO_WAY:
            return b
        astray = chord / length - mean / np.linalg.norm(mean)
        return b if float(np.linalg.norm(astray)) <= ASTRAY else None

    def between(self, a: CurvePlace, b: CurvePlace, x: float) -> CurvePlace | None:
        """The place at a part x of the way from a to b: cubic in the tangents, then corrected at right angles."""
        chord = self.between_of(a.q, b.q)
        length = float(np.linalg.norm(chord))
        first, last = length * a.tangent, length * b.tangent
        move = x * (1.0 - x) ** 2 * first + x * x * (3.0 - 2.0 * x) * chord + x * x * (x - 1.0) * last
        value = a.value + float(move[0])
        q = self.moved(a.q, move)
        self.driver.set_in(q, value)
        found = self.corrected(q, value, held=False)
        return None if found is None else self.at(found, chord, a.parity)

    def crossing(self, a: CurvePlace, b: CurvePlace, J: Matrix) -> float:
        r"""A number whose sign changes where ways cross: :math:`\det [R^T J;\; d^T]`, relative to its value at a.

        It is zero where that value is, too, and where the chord has no direction: so it says nothing there.

        Args:
            a, b: ends of a step; R is the range at a, d the chord.
            J: J_w on the way.
        """
        chord = self.between_of(a.q, b.q)
        if np.linalg.norm(chord) <= NO_WAY:
            return 0.0
        signs, logs = np.linalg.slogdet(np.array([np.vstack([a.range.T @ M, chord]) for M in (a.J, J)]))
        return float(signs[0] * signs[1] * np.exp(min(logs[1] - logs[0], 50.0))) if signs.all() else 0.0
