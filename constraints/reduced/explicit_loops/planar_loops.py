"""Planar loops in closed form: three hinges that are not known close a triangle."""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import atan2, cos, pi, sin, sqrt
from typing import Any, NamedTuple, final

import numpy as np

from liegroups import Space
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import set_fields

from ...errors import UndefinedError
from ...functions.function import Function
from ...point import MovingPoint, Point
from ...words import counted
from .implied_slopes import EquationSlopes, implied_slopes

FLAT_TRIANGLE = 1e-6
"""A triangle whose angles are all nearer to 0 or to a half turn than this [rad] is a dead point."""


class ElbowSide(Enum):
    """The side on which the triangle of a planar loop closes, which tells its branch; see `PlanarLoop`."""

    OPEN = "the middle hinge is to the left of the line from the first one to the last one"
    CROSSED = "the middle hinge is to the right of the line from the first one to the last one"

    @property
    def other(self) -> ElbowSide:
        """The other side."""
        return ElbowSide.CROSSED if self is ElbowSide.OPEN else ElbowSide.OPEN

    def __repr__(self) -> str:
        return str(self)


class Vertex(NamedTuple):
    r"""A hinge of a planar loop, and the side that follows it around the loop.

    The loop turns there by :math:`\tau = s\,q + \kappa`.

    Attributes:
        source: input column that is its angle q; None where that is not an input.
        target: output column that is its angle q; None where that is not an output.
        is_unknown: whether it is one of the three hinges that close the triangle; a hinge of the closure is one without
            output.
        sign: s, 1 or -1.
        offset: kappa [rad].
        side: the way to the next hinge [m], a complex number in the axes of the body between the two.
    """

    source: int | None
    target: int | None
    is_unknown: bool
    sign: float
    offset: float
    side: complex


@final
@dataclass(frozen=True, eq=False, repr=False)
class PlanarLoop(Function):
    r"""The dependent angles of a planar loop of hinges, in closed form, as a function of the independent ones.

    Three angles are unknown, at the first hinge :math:`A`, the middle one :math:`B` and the last one :math:`C` around
    the loop. The hinges between them are known: A, B and C are the corners of a triangle with known sides :math:`a =
    |AB|`, :math:`b = |BC|`, :math:`c = |CA|`, and the path around the loop turns at them by

    .. math:: E_B = \epsilon\,\mathrm{atan2}(D,\; c^2 - a^2 - b^2), \quad
        D = \sqrt{(a+b+c)(b+c-a)(c+a-b)(a+b-c)}

    (the others likewise), :math:`\epsilon = -1` on the side OPEN and 1 on CROSSED. The velocities have
    :math:`\sum_h \dot\tau_h = 0, \sum_h \dot\tau_h\,p_h = 0` over the hinges h at :math:`p_h`, and the accelerations
    their derivative; the determinant of both is :math:`(B-A) \times (C-A) = \epsilon D / 2`.

    The path starts at the body that carries the loop and first follows the chain of the driver: of the independent
    joints, the first one in the model. It is seen against the axis of the driver: its angle grows counterclockwise.
    OPEN: B is to the left of the line from A to C, :math:`(C - A) \times (B - A) > 0`. In a four-bar driven at its
    crank, A is the end of the crank, B the end of the coupler and C the pivot of the rocker: OPEN and CROSSED are
    Norton's open and crossed, in any order of the joints in the model.

    The angles are continuous as the inputs rotate, over whole turns too, if each of the three chains between the
    corners has at most one input, as in a four-bar and in a five-bar driven at its pivots. A chain with more inputs can
    be folded on two sides, and far from the reference an angle may jump by a whole turn, which moves nothing.

    Args:
        block_in, block_out: spaces of the inputs and outputs: angles as numbers, or as (cos, sin).
        vertices: the hinges around the loop, from A on.
        elbow: the side on which it closes.
        turns: offset of each output [rad], a multiple of a whole turn.
        name: name in messages.

    Shapes:
        value (outputs.nq,) [rad], jacobian (outputs.nv, inputs.nv).

    Raises:
        UndefinedError: (of values) the sides do not form a triangle, or form a flat one: a dead point.

    Source: R. L. Norton, Design of Machinery, chapter 4.
    """

    block_in: Space
    block_out: Space
    vertices: tuple[Vertex, ...]
    elbow: ElbowSide
    turns: tuple[float, ...]
    name: str = field(default="", kw_only=True)

    _in: tuple[tuple[int, bool], ...] = field(init=False)
    _out: tuple[tuple[int, bool], ...] = field(init=False)
    _corners: tuple[int, int, int] = field(init=False)

    def __post_init__(self) -> None:
        """Note where the corners and the angles are."""
        first, middle, last = (h for h, vertex in enumerate(self.vertices) if vertex.is_unknown)
        set_fields(self, _in=_angle_places(self.block_in), _out=_angle_places(self.block_out))
        set_fields(self, _corners=(first, middle, last))
        self.declare(self.block_in, self.block_out, name=self.name or None)

    def with_elbow(self, elbow: ElbowSide) -> PlanarLoop:
        """The same loop, closed on a side, with the same turns of its angles."""
        return PlanarLoop(self.block_in, self.block_out, self.vertices, elbow, self.turns, name=self.name)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        """As `Function.evaluate`."""
        turns = self._turned(point.q)
        for vertex, turn in zip(self.vertices, turns, strict=True):
            if vertex.target is not None:
                angle = vertex.sign * (turn - vertex.offset) + self.turns[vertex.target]
                place, is_circle = self._out[vertex.target]
                if is_circle:
                    value[place], value[place + 1] = cos(angle), sin(angle)
                else:
                    value[place] = angle
        if jacobian is None:
            return
        places = self._placed(turns)
        for vertex, place in zip(self.vertices, places, strict=True):
            if vertex.source is not None:
                rates = self._closing_rates(places, vertex.sign, vertex.sign * place)
                for corner, rate in zip(self._corners, rates, strict=True):
                    target, sign = self.vertices[corner].target, self.vertices[corner].sign
                    if target is not None:
                        jacobian[target, vertex.source] = sign * rate

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        r"""Write :math:`\dot B \dot q`: the second derivative of both closing equations at zero input acceleration."""
        turns = self._turned(motion.point.q)
        places = self._placed(turns)
        rates = [0.0 if w.source is None else w.sign * float(motion.v[w.source]) for w in self.vertices]
        swept = sum((rate * place for rate, place in zip(rates, places, strict=True)), 0j)
        for corner, rate in zip(self._corners, self._closing_rates(places, sum(rates), swept), strict=True):
            rates[corner] = rate
        bend, velocity, spin = 0j, 0j, 0.0
        for h in range(1, len(places)):  # seen from the body behind the first corner
            velocity += 1j * spin * (places[h] - places[h - 1])
            bend += rates[h] * velocity
            spin += rates[h]
        for corner, rate in zip(self._corners, self._closing_rates(places, 0.0, bend), strict=True):
            target = self.vertices[corner].target
            if target is not None:
                out[target] = self.vertices[corner].sign * rate

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        r"""As `Function.drift_derivatives`: what the closing equations of the turns imply.

        With :math:`z_h = s_h e^{i\varphi_h}` the sides and :math:`\varphi_h` the sum of the turns up to there,

        .. math:: \sum_h z_h = 0, \qquad \sum_h z_h\,(i\ddot\varphi_h - \dot\varphi_h^2) = 0
        """
        n, corners = len(self.vertices), list(self._corners)
        turns = np.array(self._turned(motion.point.q))
        sides = np.array([vertex.side for vertex in self.vertices])
        z = sides * np.exp(1j * _ahead(turns))
        J = _equations(1.0, _behind(1j * z))

        def solve(b: Matrix) -> Matrix:
            return np.asarray(np.linalg.solve(J[:, corners], b), dtype=np.float64)

        whole = np.zeros((n, motion.v.size))  # of all turns, by the inputs
        for h, vertex in enumerate(self.vertices):
            if vertex.source is not None:
                whole[h, vertex.source] = vertex.sign
        whole[corners] = -solve(J @ whole)
        rates, accelerations = whole @ motion.v, whole @ a
        spins = _ahead(rates)
        accelerations[corners] += solve(_equations(0.0, z @ spins**2))
        pulled = _ahead(accelerations)
        of = EquationSlopes(
            _equations(0.0, _behind(-z * spins)),
            _equations(0.0, _behind(-z * (pulled + 1j * spins**2))),
            _equations(0.0, _behind(-2.0 * z * spins)),
        )
        found = implied_slopes(of, whole, corners, solve)
        for out, slopes in zip((dq, dv), found, strict=True):
            for corner, row in zip(corners, slopes, strict=True):
                vertex = self.vertices[corner]
                if vertex.target is not None:
                    out[vertex.target] = vertex.sign * row

    def _turned(self, q: Vector) -> list[float]:
        """The turn at each hinge."""
        known = _angles_at(self._in, q)
        turns = [
            vertex.offset if vertex.source is None else vertex.sign * known[vertex.source] + vertex.offset
            for vertex in self.vertices
        ]
        ends = (*self._corners[1:], len(turns))
        ways = [self._way(turns, i, end) for i, end in zip(self._corners, ends, strict=True)]
        (a, A1, T1), (b, A2, T2), (c, A3, T3) = ways
        a2, b2, c2 = a * a, b * b, c * c
        square = (a + b + c) * (b + c - a) * (c + a - b) * (a + b - c)
        limit = FLAT_TRIANGLE * max(a * b, b * c, c * a)
        if not square > limit * limit:
            raise UndefinedError(
                f"{self.name}: sides of {a:.4g}, {b:.4g} and {c:.4g} m form no triangle, or a flat one (a dead point)"
            )
        side = -1.0 if self.elbow is ElbowSide.OPEN else 1.0
        D = sqrt(square)
        first, middle, last = self._corners
        turns[first] = side * atan2(D, b2 - c2 - a2) + A3 - A1 - T3
        turns[middle] = side * atan2(D, c2 - a2 - b2) + A1 - A2 - T1
        turns[last] = side * atan2(D, a2 - b2 - c2) + A2 - A3 - T2
        return turns

    def _way(self, turns: Sequence[float], start: int, end: int) -> tuple[float, float, float]:
        """From a corner to the next one: length, direction against its first side, sum of the known turns.

        The direction goes on over half turns, as the turns do.
        """
        vertices = self.vertices
        s = vertices[end - 1].side
        direction, total = cmath.phase(s), 0.0
        for h in range(end - 1, start, -1):
            side, turn = vertices[h - 1].side, turns[h]
            s, direction = joined(side, s * cmath.rect(1.0, turn), direction + turn)
            total += turn
        return abs(s), direction, total

    def _placed(self, turns: Sequence[float]) -> list[complex]:
        """Where each hinge is, seen from the body behind the first corner."""
        places, direction = [0j], 0.0
        for vertex, turn in zip(self.vertices[:-1], turns[1:], strict=True):
            places.append(places[-1] + vertex.side * cmath.rect(1.0, direction))
            direction += turn
        return places

    def _closing_rates(self, places: Sequence[complex], total: float, swept: complex) -> tuple[float, float, float]:
        r"""What the corners turn by, so that both sums :math:`\sum\dot\tau` and :math:`\sum\dot\tau p` vanish.

        Args:
            places: of the hinges; the first corner is at 0.
            total, swept: the sums over the other hinges.
        """
        B, C = places[self._corners[1]], places[self._corners[2]]
        determinant = _cross(B, C)
        middle, last = -_cross(swept, C) / determinant, -_cross(B, swept) / determinant
        return -total - middle - last, middle, last

    def __repr__(self) -> str:
        return f"PlanarLoop({self.name!r}: {counted(len(self.vertices), 'hinge')}, {self.elbow.name})"


def joined(side: complex, rest: complex, direction: float) -> tuple[complex, float]:
    """A side and the rest of the way, as one: the sum, and its direction [rad].

    The longer of the two says which of all angles that are a whole turn apart is meant: the phase of the side, or the
    direction that the rest has. Both are the same where these are less than half a turn apart.

    Args:
        side, rest: what is added [m].
        direction: of the rest, a phase of it with whole turns.
    """
    both = side + rest
    if abs(rest) > abs(side):
        return both, direction + cmath.phase(both / rest)
    return both, cmath.phase(side) + (cmath.phase(both / side) if side else 0.0)


def whole_turns(angle: float, near: float) -> float:
    """The whole turns [rad] that bring an angle nearest to another one."""
    return 2.0 * pi * round((near - angle) / (2.0 * pi))


def angles_of(space: Space, q: Vector) -> list[float]:
    """The angles [rad] in a block of revolute joints.

    Args:
        space: of the block.
        q: (space.nq,) angles as numbers, or as (cos, sin).
    """
    return _angles_at(_angle_places(space), q)


def _angles_at(places: Sequence[tuple[int, bool]], q: Vector) -> list[float]:
    return [atan2(q[i + 1], q[i]) if is_circle else float(q[i]) for i, is_circle in places]


def _ahead(turns: Vector) -> Vector:
    """Directions of the sides by the turns, or their rates: seen from the body behind the first corner."""
    return np.concatenate([[0.0], np.cumsum(turns[1:])])


def _behind(sides: Any) -> Any:
    """Sums of the sides from each hinge on: what its turn moves; that of the first corner, none."""
    sums = np.cumsum(sides[::-1])[::-1]
    sums[0] = 0.0
    return sums


def _equations(total: float, closing: Any) -> Matrix:
    """The three equations: sum of the turns, real and imaginary part of the way around."""
    return np.array([np.full(np.shape(closing), total), np.real(closing), np.imag(closing)])


def _cross(a: complex, b: complex) -> float:
    return a.real * b.imag - a.imag * b.real


def _angle_places(space: Space) -> tuple[tuple[int, bool], ...]:
    """For each tangent column of a block of angles: where it is in q, and whether it is there as (cos, sin)."""
    places: list[tuple[int, bool]] = []
    for leaf in space.leaves():
        if leaf.space.is_flat:
            places += [(i, False) for i in range(leaf.q.start, leaf.q.stop)]
        else:
            places.append((leaf.q.start, True))
    return tuple(places)
