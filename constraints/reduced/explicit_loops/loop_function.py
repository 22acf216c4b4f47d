"""Local loops by Newton: the dependent joints as a function of the independent ones, on the branch of a reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import lapack

from liegroups import SO3
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.formulas.log_slopes import log_slopes
from liegroups.frozen import read_only, read_only_copy, set_fields

from ...errors import UndefinedError
from ...functions.function import Function
from ...linear_algebra import largest, pivots as pivoted
from ...point import MovingPoint, Point
from .implied_slopes import EquationSlopes, implied_slopes
from .local_loops import LocalLoop
from .loop_choice import LoopChoice

_dgetrf: Any = lapack.dgetrf
_dgetrs: Any = lapack.dgetrs

LONGEST = 1.0
"""A step of the continuation moves no dependent coordinate further [rad or m]."""
SHORTEST = 1e-4
"""Part of the way below which a step is not halved any more: there is a dead point, or the loop cannot close."""
FIRST, SHRINKING, BEND = 0.3, 0.5, 0.5
"""Of a step: largest first correction as a part of it; least progress of corrections; largest change of its slope."""
SMALL = 0.05
"""Corrections and changes of slope below this [rad or m] count as small, however short the step."""
SETTLED = 1e-9
"""The correction after one this small is rounding."""
SHARP = 1e-12
"""A correction this small does not change the slope, which is that of the place before it."""
CORRECTIONS = 8
"""So many corrections a step has, at most, before the last one."""
OPEN_ROWS = 1e-6
"""Redundant rows that are off by more hold no longer: the rank is not what it was at the reference."""


class _Closed(NamedTuple):
    """A closed configuration of the loop, with what follows there.

    Attributes:
        q: (nq,) of the loop's own robot.
        rows: independent rows there.
        sign: of the determinant of their block J_v, with the rows of the spins.
        slope: B (outputs.nv, inputs.nv).
        factors, pivots: of the LU decomposition of that block.
    """

    q: Vector
    rows: Indices
    sign: float
    slope: Matrix
    factors: Matrix
    pivots: Any


@final
@dataclass(frozen=True, eq=False, repr=False)
class LoopFunction(Function):
    r"""The dependent joints of a local loop as a function of the independent ones: :math:`q_v = g(q_u)`.

    With h the independent rows of the loop, u the independent and v the dependent columns,

    .. math:: h(q_u, g(q_u)) = 0, \qquad B = \frac{\partial g}{\partial q_u} = -J_v^{-1} J_u, \qquad
        \dot B v_u = -J_v^{-1} \dot J v

    The value is found by continuation along the straight line from a closed reference to :math:`q_u`, by the tangent B
    and Newton on the dependent joints alone: in one step if it can be trusted, else by halves. A step is accepted if
    its corrections shrink fast, its slope changes little, and the sign of :math:`\det J_v` is kept. So the value
    depends on :math:`q_u` alone, and is on the branch of the reference. With redundant rows, each step may choose other
    independent rows: a fixed choice is singular at configurations that are not dead points.

    The spin of a ball that affects no row is held: with R the ball, :math:`R_0` its reference and d the axis of the
    spin in its body, :math:`d^T \log(R_0^T R) = 0`: it only swings.

    Args:
        loop: the local loop.
        choice: its inputs, outputs and rows.
        reference: configuration (nq,) of the robot of the loop, closed up to 1e-6.
        name: name in messages.

    Attributes:
        reference: as given, closed up to rounding.

    Shapes:
        value (outputs.nq,), jacobian B (outputs.nv, inputs.nv).

    Raises:
        UndefinedError: no value: a dead point on the line, out of reach, or redundant rows that open.

    Source: constraint embedding of A. Jain (2012); M. Chignoli et al. (2023).
    """

    loop: LocalLoop
    choice: LoopChoice
    reference: Vector
    name: str = field(default="", kw_only=True)

    _start: _Closed = field(init=False)

    def __post_init__(self) -> None:
        """Close the reference to rounding."""
        self.declare(self.choice.inputs.space, self.choice.outputs.space, name=self.name or f"loop of {self.loop.name}")
        q = read_only_copy(self.reference)
        set_fields(self, reference=q)
        closed = self._closed_at(q, self.loop.robot.at(q), self.choice.rows)
        if closed is None:
            raise UndefinedError(f"{self.name}: the reference is a dead point, or Newton does not close it")
        set_fields(self, reference=read_only(closed.q), _start=closed)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        """As `Function.evaluate`."""
        closed = self._continued(point)
        value[:] = closed.q[self.choice.outputs.q_indices]
        if jacobian is not None:
            jacobian[:] = closed.slope

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        r"""Write :math:`\dot B v_u = -J_v^{-1} \dot J v`."""
        self._write_drift(self._continued(motion.point), motion, out)

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        """As `Function.drift_derivatives`: what the closing rows, which stay zero, imply."""
        choice, n = self.choice, self.loop.robot.nv
        closed = self._continued(motion.point)
        whole = np.zeros((n, len(choice.inputs)))  # of all joints, by the inputs
        whole[choice.inputs.v_indices, np.arange(len(choice.inputs))] = 1.0
        whole[choice.outputs.v_indices] = closed.slope
        drift = np.zeros(len(choice.outputs))
        self._write_drift(closed, motion, drift)
        v, accelerations = whole @ motion.v, whole @ a
        accelerations[choice.outputs.v_indices] += drift
        of_rows = self.loop.slopes_at(closed.q, v, accelerations, motion.point)
        of_spins = [self._spin_slopes(closed.q, v, accelerations, i) for i in range(len(choice.spins))]
        parts = ([rows[closed.rows], *spins] for rows, *spins in zip(of_rows, *of_spins, strict=True))
        equations = EquationSlopes(*(np.concatenate(part) for part in parts))
        dq[:], dv[:] = implied_slopes(
            equations, whole, choice.outputs.v_indices, lambda b: _dgetrs(closed.factors, closed.pivots, b)[0]
        )

    @property
    def has_exact_derivatives(self) -> bool:
        """As of `Function`: whether the rows of the loop have formulas."""
        return self.loop.has_exact_derivatives

    def _write_drift(self, closed: _Closed, motion: MovingPoint, out: Vector) -> None:
        """Write the acceleration of the outputs at zero acceleration of the inputs."""
        choice = self.choice
        v = np.zeros(self.loop.robot.nv)
        v[choice.inputs.v_indices] = motion.v
        v[choice.outputs.v_indices] = rates = closed.slope @ motion.v
        drift = self.loop.drift_at(closed.q, v, motion.point)[closed.rows]
        spins = [self._spin_drift(closed.q, rates, i) for i in range(len(choice.spins))]
        out[:] = _dgetrs(closed.factors, closed.pivots, -np.concatenate([drift, np.array(spins)]))[0]

    # The continuation.

    def _continued(self, point: Point) -> _Closed:
        """The closed configuration whose inputs are those of a point."""
        inputs, start = self.inputs, self.reference[self.choice.inputs.q_indices]
        way = inputs.difference(start, point.q)
        closed, done, part = self._start, 0.0, 1.0
        if not way.any():
            return closed
        posture = point.at(self.loop.robot.space, self.reference)
        while done < 1.0:
            ahead = done + part
            target = point.q if ahead == 1.0 else inputs.integrate(start, ahead * way)
            after = self._stepped(closed, part * way, target, posture)
            if after is not None:
                closed, done = after, ahead
                part = min(2.0 * part, 1.0 - done)
            elif part * largest(way) > SHORTEST and part > SHORTEST:
                part *= 0.5
            else:
                raise UndefinedError(
                    f"{self.name} has no value there: {100.0 * done:.0f} % of the way from the reference it comes to a "
                    "dead point, or cannot close"
                )
        return closed

    def _stepped(self, closed: _Closed, way: Vector, target: Vector, posture: Point) -> _Closed | None:
        """One step along the tangent, corrected; None where it cannot be trusted."""
        outputs = self.choice.outputs
        move = closed.slope @ way
        length = largest(move)
        if length > LONGEST:
            return None
        q = closed.q.copy()
        q[self.choice.inputs.q_indices] = target
        q[outputs.q_indices] = self.outputs.integrate(closed.q[outputs.q_indices], move)
        after = self._closed_at(q, posture, closed.rows, closed.sign, FIRST * length + SMALL)
        if after is None:
            return None
        turned = after.slope @ way
        bend = largest(turned - move)
        return after if bend <= max(BEND * max(length, largest(turned)), SMALL) else None

    def _closed_at(
        self, q: Vector, posture: Point, rows: Indices, sign: float = 0.0, first: float = np.inf
    ) -> _Closed | None:
        """Newton on the outputs from a configuration; None where corrections do not shrink, or the sign changes.

        Args:
            q: where it begins (nq,); its inputs stay.
            posture: a handle of the loop's own robot, to be moved.
            rows: independent rows.
            sign: of the determinant, to be kept; 0 where it is not known yet.
            first: largest first correction.
        """
        where, outputs, limit = self.choice.outputs.q_indices, self.outputs.maps.integrate, first
        settled = False
        for _ in range(CORRECTIONS + 1):
            posture.move(q)
            error, J = self.loop.at(posture)
            A, r = self._square(q, error, J, rows)
            factors, pivots, _ = _dgetrf(A)
            here = _sign_of(factors, pivots)
            if here == 0.0 or (sign != 0.0 and here != sign):
                return None
            correction = _dgetrs(factors, pivots, -r)[0]
            size = largest(correction)
            if not (settled or size <= limit):
                return None
            q = q.copy()  # the posture has the other one
            q[where] = outputs(q[where], correction)
            if settled or size <= SHARP:
                return self._ended(q, error, J, _Closed(q, rows, here, A, factors, pivots))
            settled, limit = size <= SETTLED, SHRINKING * size
        return None

    def _ended(self, q: Vector, error: Vector, J: Matrix, closed: _Closed) -> _Closed | None:
        """What Newton ended with, its slope, and its rows if others are better; None where redundant rows are open."""
        choice, n = self.choice, closed.rows.size
        if choice.redundant.size:
            if largest(error) > OPEN_ROWS:
                return None
            rows = np.sort(pivoted(J[:, choice.outputs.v_indices].T)[0][:n])
            if not np.array_equal(rows, closed.rows):
                factors, order, _ = _dgetrf(self._square(q, error, J, rows)[0])
                closed = closed._replace(rows=rows, sign=_sign_of(factors, order), factors=factors, pivots=order)
        J_u = np.zeros((len(choice.outputs), len(choice.inputs)))
        J_u[:n] = J[closed.rows[:, None], choice.inputs.v_indices]
        return closed._replace(slope=-_dgetrs(closed.factors, closed.pivots, J_u)[0])

    def _square(self, q: Vector, error: Vector, J: Matrix, rows: Indices) -> tuple[Matrix, Vector]:
        """Independent rows, and those of the spins, by the columns of the outputs."""
        choice, k = self.choice, rows.size
        block = J[rows[:, None], choice.outputs.v_indices]
        if not choice.spins:
            return block, error[rows]
        n = len(choice.outputs)
        A, r = np.zeros((n, n)), np.zeros(n)
        A[:k], r[:k] = block, error[rows]
        for i, spin in enumerate(choice.spins):
            swing = SO3.difference(self._ball(i, self.reference), self._ball(i, q))
            r[k + i] = spin.direction.dot(swing)
            A[k + i, spin.v] = spin.direction.dot(SO3.log_jacobian(swing))
        return A, r

    def _ball(self, i: int, q: Vector) -> Vector:
        """The rotation of the ball of a spin (4,)."""
        return q[self.choice.outputs.q_indices[self.choice.spins[i].q]]

    def _spin_drift(self, q: Vector, rates: Vector, i: int) -> float:
        """Second time derivative of the row of a spin at zero acceleration of the ball."""
        spin = self.choice.spins[i]
        log = SO3.difference(self._ball(i, self.reference), self._ball(i, q))
        return float(spin.direction @ SO3.log_second_derivative(log, rates[spin.v], np.zeros(3)))

    def _spin_slopes(self, q: Vector, v: Vector, a: Vector, i: int) -> EquationSlopes:
        """What the row of a spin changes by (1, nv of the loop), at a velocity and an acceleration of the loop."""
        spin = self.choice.spins[i]
        columns = self.choice.outputs.v_indices[spin.v]
        log = SO3.difference(self._ball(i, self.reference), self._ball(i, q))
        own = log_slopes(SO3, log, v[columns], a[columns], np.zeros(3))
        found = EquationSlopes(*np.zeros((3, 1, v.size)))
        for row, slope in zip(found, (own.rate, own.by_point, own.by_velocity), strict=True):
            row[0, columns] = spin.direction @ slope
        return found


def _sign_of(factors: Matrix, pivots: Any) -> float:
    """Sign of a determinant from its LU decomposition; 0 where it is singular to rounding."""
    diagonal = factors.diagonal()
    sizes = np.abs(diagonal)
    if not sizes.min() > 1e-12 * sizes.max():
        return 0.0
    swaps = sum(int(pivot) != i for i, pivot in enumerate(pivots))
    return -1.0 if (np.count_nonzero(diagonal < 0.0) + swaps) % 2 else 1.0
