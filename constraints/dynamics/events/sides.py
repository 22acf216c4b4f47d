"""Sides of a robot that push and never pull, and what friction on them does to its accelerations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple, final

import numpy as np
from numpy.linalg import norm

from liegroups.arrays import BoolVector, Matrix, Vector
from liegroups.frozen import read_only

from ...errors import UndefinedError
from ...linear_algebra import largest, row_lengths
from ...loops import ConstraintSet
from ...robot import Motion
from ...rows.row_owner import RowOwner
from ...workspace import Kept
from ..forward import ForwardDynamics, forward_dynamics
from ..laws.forces import Forces
from ..laws.law import Law
from ..methods.articulated import multipliers_of_forces

SLACK_OF_A_SIDE = 1e-8
"""How far below a side a motion is when it touches it [m, rad]: more than rounding leaves of a projected state."""

NO_DISTANCE = 1e-6
"""Distances up to this are none [m, rad]."""

STILL_SPEED = 1e-8
"""Speeds up to this are none [m/s, rad/s]: more than a projection leaves."""

SLOW_SLIP = 1e-4
"""A point that slips sticks when it is slower than this [m/s]."""

CREEP = 10.0 * SLOW_SLIP
"""Below this speed the direction of friction is not that of the velocity alone [m/s]."""

FEW = 4
"""Sides that are touched at once, up to which all that they can do is tried."""

SETS = 64
"""Sets that are kept, and places of their rows: sides that are touched or not, and hold or slip."""

LITTLE = 1e-9
"""Part of the forces (of the accelerations, of the impulses) that is rounding."""


@dataclass(frozen=True, eq=False)
class Side:
    """One row that is never negative, and what it does.

    Attributes:
        name: in events.
        normal: the row: its value is the distance, its multiplier the push.
        tangents: rows across it whose values are speeds; none where there is no friction.
        friction: Coulomb's coefficient.
        restitution: e of Newton's law.
        touches, leaves: names of its events.
    """

    name: str
    normal: RowOwner
    tangents: tuple[RowOwner, ...] = ()
    friction: float = 0.0
    restitution: float = 0.0
    touches: str = ""
    leaves: str = ""


class Standing(NamedTuple):
    """Which sides are touched, and which of them stick.

    Attributes:
        on: (n,) touched.
        sticks: (n,) touched, and held along the tangents.
    """

    on: BoolVector
    sticks: BoolVector

    @property
    def slips(self) -> BoolVector:
        """(n,) touched, and not held."""
        return self.on & ~self.sticks

    @property
    def mark(self) -> bytes:
        """What tells it from others."""
        return self.on.tobytes() + self.sticks.tobytes()

    def changed(self, i: int, on: bool, sticks: bool) -> Standing:
        """With another side i."""
        new = Standing(self.on.copy(), self.sticks.copy())
        new.on[i], new.sticks[i] = on, sticks
        return new

    def lessened(self, sides: Sequence[Side], pushes: Vector, alongs: Sequence[Vector], size: float) -> Standing | None:
        """Without the side that pulls most, or that holds most above its friction; None where none does.

        Both are rounding up to a part of `size`, the largest of the forces or impulses.
        """
        little, i = LITTLE * (1.0 + size), int(np.argmin(pushes))
        if pushes[i] < -little:
            return self.changed(i, False, False)
        excess = [
            norm(along) - side.friction * push if held else -1.0
            for along, side, push, held in zip(alongs, sides, pushes, self.sticks, strict=True)
        ]
        i = int(np.argmax(excess))
        return self.changed(i, True, False) if excess[i] > little else None


def all_ways(touched: BoolVector, can_stick: BoolVector) -> Iterator[Standing]:
    """All that the sides which are touched (n,) can do: stick, slip, leave; none if they are more than FEW."""
    which = np.flatnonzero(touched).tolist() if touched.sum() <= FEW else []
    for ways in product(*([(True, True)] * bool(can_stick[i]) + [(True, False), (False, False)] for i in which)):
        standing = Standing(np.zeros(len(touched), np.bool_), np.zeros(len(touched), np.bool_))
        for i, way in zip(which, ways, strict=True):
            standing.on[i], standing.sticks[i] = way
        if which:
            yield standing


class Places(NamedTuple):
    """The rows of sides in a set.

    Attributes:
        normals: of each side.
        tangents: of each side; none where there is no friction.
        standing: which are on.
        every: the set with all of them on.
    """

    normals: list[int]
    tangents: list[list[int]]
    standing: Standing
    every: ConstraintSet


@final
class SeenSides:
    """The sides at a state.

    Attributes:
        normals, tangents: rows of each side, by number.
        standing: which of them are on.
        rhs: right-hand sides then; None where all are at rest.
        gaps, rates: (n,) distances and their rates.
        slipping: (n, 2) velocities along the tangents; zero without them.
        rows: (size, nv) Jacobian of all sides, on or off, with their velocity products `drift` (size,).
    """

    def __init__(self, sides: Sides, motion: Motion, t: float, holds: ConstraintSet) -> None:
        self.sides, self.motion, self.t, self.holds = sides, motion, t, holds
        self.normals, self.tangents, self.standing, every = sides.places(holds)
        self.rhs = holds.rhs_at(t) if holds.moving else None
        rows, places = every.rows_at(motion, self.rhs), self.normals
        self.jacobian, self.drift = rows.jacobian.copy(), rows.drift.copy()
        self.gaps, self.rates = rows.position[places], rows.velocity[places]
        self.slipping = np.zeros((len(places), 2))
        for i, along in enumerate(self.tangents):
            self.slipping[i, : len(along)] = rows.velocity[along]

    @cached_property
    def drag(self) -> Matrix:
        """Generalised forces (nv, k) of friction on the sides that slip, for a push of one each."""
        columns = [self.drag_of(i, self.direction(i)) for i in self.dragging]
        return np.array(columns).reshape(len(columns), self.motion.v.size).T

    def drag_of(self, i: int, direction: Vector) -> Vector:
        """Generalised force (nv,) of friction on side i that slips in a direction, for a push of one."""
        return -self.sides.sides[i].friction * direction @ self.jacobian[self.tangents[i]]

    @cached_property
    def dragging(self) -> list[int]:
        """The sides that slip with friction."""
        slips = self.standing.slips
        return [i for i in np.flatnonzero(slips).tolist() if self.tangents[i]]

    @cached_property
    def holding(self) -> Vector:
        """The multipliers if all that slips slowly were held."""
        own, on = self.sides, self.standing.on
        still = own.grips & (row_lengths(self.slipping) < CREEP)
        held = own.switched(self.holds, Standing(on, self.standing.sticks | (on & still)))
        return own.dynamics(self, np.zeros(self.motion.v.size), held).multipliers

    def direction(self, i: int) -> Vector:
        """The direction in which side i slips: of its velocity; near rest it turns to that against what would hold it.

        Without this a slow point would be damped across its way at a rate of mu g / |v|, and take steps as short.
        """
        speed = float(norm(self.slipping[i]))
        part = 1.0 - speed / CREEP
        if part <= 0.0:
            return self.slipping[i] / speed
        along = self.holding[self.tangents[i]]
        size, little = float(norm(along)), LITTLE * (1.0 + largest(self.holding))
        mixed = self.slipping[i] - (SLOW_SLIP * part / size * along if size > little else 0.0)
        size = float(norm(mixed))
        return np.asarray(mixed / size if size > 0.0 else mixed)

    @cached_property
    def dynamics(self) -> ForwardDynamics:
        """Accelerations and pushes, with friction."""
        free = self.sides.dynamics(self, np.zeros(self.motion.v.size))
        return self.sides.dynamics(self, self.friction(free)) if self.dragging else free

    def friction(self, free: ForwardDynamics | None = None) -> Vector:
        """Generalised force of friction (nv,) on the sides that slip."""
        if not self.dragging:
            return np.zeros(self.motion.v.size)
        places = [self.normals[i] for i in self.dragging]
        none = self.sides.dynamics(self, np.zeros(self.motion.v.size)) if free is None else free
        own = multipliers_of_forces(self.motion, none.row_space, self.drag) if none.success else None
        if own is None:
            own = np.array([self.sides.dynamics(self, column).multipliers for column in self.drag.T]).T
            own -= none.multipliers[:, None]
        return self.drag @ balanced(none.multipliers[places], own[places])

    @property
    def push(self) -> Vector:
        """Forces (n,) of the sides [N, N m], zero where they are not touched."""
        return np.where(self.standing.on, self.dynamics.multipliers[self.normals], 0.0)

    def along(self, i: int) -> Vector:
        """The force (2,) that holds side i along its tangents."""
        return self.dynamics.multipliers[self.tangents[i]]


def balanced(free: Vector, own: Matrix) -> Vector:
    r"""Pushes f (k,) that cause friction which gives these pushes: :math:`f = p_0 + P f`.

    Args:
        free: :math:`p_0`, without friction.
        own: P (k, k), what friction of a push of one changes all pushes by, in columns.

    Raises:
        UndefinedError: friction presses the points into the ground as much as they are pushed out (Painleve's paradox).
    """
    equations = np.eye(len(free)) - own
    if np.linalg.eigvals(equations).real.min() <= LITTLE:
        raise UndefinedError(
            "friction jams: it presses a slipping point as hard as the ground pushes it (Painleve's paradox); no "
            "force solves the equations of a rigid body there"
        )
    return np.asarray(np.linalg.solve(equations, free), dtype=np.float64)


@final
class Sides:
    """Some sides, and what acts on the robot besides.

    Args:
        sides: the rows that push.
        forces: what acts besides constraints, gravity and friction.
        rest_speed: slower impacts end a bounce [m/s, rad/s].
    """

    def __init__(self, sides: Sequence[Side], forces: Forces | Law | None, rest_speed: float) -> None:
        self.sides, self.forces, self.rest_speed = tuple(sides), forces, rest_speed
        self.grips: BoolVector = np.array([bool(side.tangents) for side in sides], dtype=np.bool_)
        self._seen: SeenSides | None = None
        self._places: Kept[Places] = Kept(SETS)
        self._switched: Kept[ConstraintSet] = Kept(SETS)

    def seen(self, motion: Motion, t: float, holds: ConstraintSet) -> SeenSides:
        """The sides at a state; the last one is kept, since all events ask for the same."""
        last = self._seen
        if last is None or last.motion is not motion or last.t != t or last.holds is not holds:
            last = self._seen = SeenSides(self, motion, t, holds)
        return last

    def places(self, holds: ConstraintSet) -> Places:
        """Where the rows of the sides are in a set, and which are on; found once."""
        return self._places.get(holds, lambda: self._placed(holds))

    def _placed(self, holds: ConstraintSet) -> Places:
        index, slices, active = holds.stack.index, holds.stack.slices, holds.active
        rows = [[index(row) for row in (side.normal, *side.tangents)] for side in self.sides]
        starts = [[slices[i].start for i in each] for each in rows]
        touched = np.array([active[normal] for normal, *_ in rows], dtype=np.bool_)
        held = np.array([bool(along) and active[along[0]] for _, *along in rows], dtype=np.bool_)
        every = self.switched(holds, Standing(np.ones_like(touched), np.ones_like(touched)))
        standing = Standing(read_only(touched), read_only(touched & held))
        return Places([normal for normal, *_ in starts], [along for _, *along in starts], standing, every)

    def switched(self, holds: ConstraintSet, standing: Standing) -> ConstraintSet:
        """The set with the sides so; the same one, from whichever set with these rows it is asked for."""
        active = holds.active.copy()
        for side, touched, held in zip(self.sides, *standing, strict=True):
            active[holds.stack.index(side.normal)] = touched
            active[[holds.stack.index(row) for row in side.tangents]] = held
        key = holds.stack, holds.baumgarte, holds.rounding, active.tobytes()
        return self._switched.get(key, lambda: holds.switched(np.flatnonzero(active).tolist()))

    def dynamics(self, seen: SeenSides, friction: Vector, holds: ConstraintSet | None = None) -> ForwardDynamics:
        """Accelerations of a state with a given friction."""
        chosen = seen.holds if holds is None else holds
        given = None if self.forces is None else self.forces.under(chosen)
        tau, laws = friction, ()
        if isinstance(given, Forces):
            laws = given.at(seen.t)
        elif given is not None:
            own = given.in_time(seen.t, seen.motion)
            tau = tau if own is None else tau + chosen.robot.space.check_tangent(own, "tau")
        return forward_dynamics(chosen, seen.motion, tau, external=laws, rhs=seen.rhs)
