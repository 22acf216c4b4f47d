"""Local loops by Newton: the dependent joints as a function of the independent ones, on the branch of a reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, final

import numpy as np

from liegroups import SO3
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.formulas.log_slopes import log_slopes
from liegroups.frozen import read_only, read_only_copy, set_fields

from ...errors import UndefinedError
from ...functions.function import Function
from ...linear_algebra import largest, pivots as pivoted
from ...loops.closing.corrector import Corrector, Ending, Trust, longest_trusted
from ...loops.closing.lu import LU, factorised
from ...point import MovingPoint, Point
from .implied_slopes import EquationSlopes, implied_slopes
from .local_loops import LocalLoop
from .loop_choice import LoopChoice

LONGEST = 1.0
"""A step of the continuation moves no dependent coordinate further [rad or m]."""
SHORTEST = 1e-4
"""Part of the way below which a step is not halved any more: there is a dead point, or the loop cannot close."""
FIRST, BEND = 0.3, 0.5
"""Of a step: largest first correction as a part of it; largest change of its slope."""
SMALL = 0.05
"""Corrections and changes of slope below this [rad or m] count as small, however short the step."""
FAST = Trust(most=9, farthest=np.inf, shrinking=0.5, sharp=1e-12, settled=1e-9)
"""Corrections are trusted where each is half of the one before. One of 1e-12 does not change the slope, which is that
of the place before it; the one after 1e-9 is rounding."""


class _Closed(NamedTuple):
    """A closed configuration of the loop, with what follows there.

    Attributes:
        q: (nq,) of the loop's own robot.
        rows: independent rows there.
        sign: of the determinant of their block J_v, with the rows of the spins.
        slope: B (outputs.nv, inputs.nv).
        lu: of that block, negative.
    """

    q: Vector
    rows: Indices
    sign: float
    slope: Matrix
    lu: LU


@final
class _OutputColumns:
    """Columns of a `Corrector`: the outputs of a loop move, so that independent rows hold; the spins are held.

    Args:
        function: of the loop.
        posture: a handle of the loop's own robot, to be moved.
        h: independent rows.

    Attributes:
        lu: where the last step was tried.
    """

    lu: LU

    def __init__(self, function: LoopFunction, posture: Point, h: Indices) -> None:
        self._square, self._at, self._posture, self._h = function.square, function.loop.at, posture, h
        self._where, self._integrate = function.choice.outputs.q_indices, function.outputs.maps.integrate

    def rows(self, q: Vector) -> tuple[Vector, Matrix]:
        """Errors of all rows, and their Jacobian by all joints of the loop."""
        self._posture.move(q)
        return self._at(self._posture)

    def off(self, error: Vector, J: Matrix) -> float:
        """Not used: the length of the step says whether the iteration is over."""
        return 0.0

    def step(self, q: Vector, error: Vector, J: Matrix) -> tuple[Vector | None, float]:
        """The change of the outputs, None at a dead point, and the sign of the determinant."""
        block, r = self._square(q, error, J, self._h)
        self.lu = factorised(block)
        return None if self.lu.is_singular else self.lu.solve(r), self.lu.sign

    def moved(self, q: Vector, step: Vector) -> Vector:
        """Another array: the posture has the one that it was moved to."""
        q = q.copy()
        q[self._where] = self._integrate(q[self._where], step)
        return q


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
        dq[:], dv[:] = implied_slopes(equations, whole, choice.outputs.v_indices, lambda b: -closed.lu.solve(b))

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
        out[:] = closed.lu.solve(np.concatenate([drift, np.array(spins)]))

    # The continuation.

    def _continued(self, point: Point) -> _Closed:
        """The closed configuration whose inputs are those of a point."""
        inputs, start = self.inputs, self.reference[self.choice.inputs.q_indices]
        way = inputs.difference(start, point.q)
        closed, done, part = self._start, 0.0, 1.0
        if not way.any():
            return closed
        posture = point.at(self.loop.robot.space, self.reference)
        shortest = 0.5 * SHORTEST * max(1.0, 1.0 / float(abs(way).max()))
        while done < 1.0:

            def step(part: float, here: _Closed = closed, done: float = done) -> _Closed | None:
                ahead = done + part
                target = point.q if ahead == 1.0 else inputs.integrate(start, ahead * way)
                return self._stepped(here, part * way, target, posture)

            after, part = longest_trusted(step, min(part, 1.0 - done), shortest)
            if after is None:
                raise UndefinedError(
                    f"{self.name} has no value there: {100.0 * done:.0f} % of the way from the reference it comes to a "
                    "dead point, or cannot close"
                )
            closed, done, part = after, done + part, 2.0 * part
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
        after = self._closed_at(q, posture, closed.rows, FAST._replace(first=FIRST * length + SMALL, sign=closed.sign))
        if after is None:
            return None
        turned = after.slope @ way
        bend = largest(turned - move)
        return after if bend <= max(BEND * max(length, largest(turned)), SMALL) else None

    def _closed_at(self, q: Vector, posture: Point, rows: Indices, trust: Trust = FAST) -> _Closed | None:
        """Newton on the outputs from a configuration, with its slope, and its rows if others are better.

        None where it is not to be trusted, or redundant rows are open.

        Args:
            q: where it begins (nq,); its inputs stay.
            posture: a handle of the loop's own robot, to be moved.
            rows: independent rows.
            trust: what is trusted.
        """
        choice, n = self.choice, rows.size
        columns = _OutputColumns(self, posture, rows)
        ending, q, error, J = Corrector(columns.rows, columns).newton(q, trust)
        if ending is not Ending.CLOSED:
            return None
        sign, lu = columns.lu.sign, columns.lu
        if choice.redundant.size:
            better = np.sort(pivoted(J[:, choice.outputs.v_indices].T)[0][:n])
            if not np.array_equal(better, rows):
                rows, lu = better, factorised(self.square(q, error, J, better)[0])
                sign = 0.0 if lu.is_singular else lu.sign
        J_u = np.zeros((len(choice.outputs), len(choice.inputs)))
        J_u[:n] = J[rows[:, None], choice.inputs.v_indices]
        return _Closed(q, rows, sign, lu.solve(J_u), lu)

    def square(self, q: Vector, error: Vector, J: Matrix, rows: Indices) -> tuple[Matrix, Vector]:
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
