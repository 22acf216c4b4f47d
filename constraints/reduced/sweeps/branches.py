"""Branches: the other ways of closing a mechanism at the same values of what is held, found by restarts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import tau
from typing import Any, NamedTuple, final

import numpy as np

from liegroups import Segments
from liegroups.arguments import as_flag, as_tolerance, expect
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.errors import OverlapError
from liegroups.formulas.second_order import cross
from liegroups.frozen import read_only

from ...errors import SpaceMismatchError
from ...linear_algebra import RANK_TOLERANCE, largest, singular_values
from ...loops import AssemblyOptions, assemble_position
from ...loops.closing.idle_motions import idle_directions
from ...loops.closing.lu import factorised
from ...loops.mobility import CLOSED
from ...ranges import whole_number
from ...robot import Bounds
from ...robot.model.joints import angular_columns
from ...words import counted, first_names
from ..closing import driven_at
from ..coordinates import MinimalCoordinates
from ..state import CLOSE_IT, check_closed


class WayOfClosing(NamedTuple):
    """One way of closing a mechanism at given values of the independent and driven coordinates.

    Attributes:
        q: (nq,), closed; dependent angles within half a turn of those of the given configuration.
        sign: of det J_v, J_v = J[h, v] with the rows h of the coordinates; 0 if it is singular.
        least: the least singular value of J_v with all rows: if it is near 0, a dead point is near.
        found: number of restarts that ended here; the given configuration does not count.
    """

    q: Vector
    sign: float
    least: float
    found: int


@final
@dataclass(frozen=True, eq=False, repr=False)
class Branches:
    """A sequence of ways of closing a mechanism, the given one first; not exhaustive.

    Attributes:
        coordinates: what is held, what follows.
        ways: those found, the given one first, then in the order found.
        tries: number of restarts.
        open: how many of them did not close.
        seed: of the restarts.
    """

    coordinates: MinimalCoordinates
    ways: tuple[WayOfClosing, ...]
    tries: int
    open: int
    seed: int

    def __len__(self) -> int:
        return len(self.ways)

    def __getitem__(self, i: int) -> WayOfClosing:
        return self.ways[i]

    @property
    def once(self) -> int:
        """Number of ways found by only one restart: if there are some, more ways probably exist."""
        return sum(way.found == 1 for way in self.ways)

    def describe(self) -> str:
        """The ways with their sign of det J_v, how often each was found, and the coordinates that differ most."""
        robot = self.coordinates.constraint_set.robot
        held = first_names((*self.coordinates.independent, *self.coordinates.driven))
        lines = [
            f"{counted(len(self.ways), 'way')} of closing '{robot.name}' with {held or 'nothing'} held: "
            f"{counted(self.tries, 'restart')} (seed {self.seed}), {self.open} of them did not close"
        ]
        names, v = self.coordinates.dependent, self.coordinates.partition.dependent
        for i, way in enumerate(self.ways):
            apart = robot.space.difference(self.ways[0].q, way.q)[v]
            far = np.argsort(-np.abs(apart), kind="stable")[:3]
            moved = ", ".join(f"{names[int(k)]} {apart[k]:+.4g}" for k in far if abs(apart[k]) > SAME_PLACES)
            sign = {1.0: "+", -1.0: "-"}.get(way.sign, "0 (singular)")
            where = "as given" if not i else f"from the given one: {moved}"
            lines.append(f"  {i}: sign {sign}, least singular value {way.least:.3g}, found {way.found} times; {where}")
        singular = sum(way.sign == 0.0 for way in self.ways)
        if singular:
            lines.append(f"  {singular} of these are singular; each may be one of infinitely many")
        more = f"; {self.once} of these were found by only one restart" if self.once else ""
        lines.append(f"  restarts do not prove that there are no others{more}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"Branches({counted(len(self.ways), 'way')}, {counted(self.tries, 'restart')})"


SAME_PLACES = 1e-5
"""Places of bodies, or coordinates, that differ by no more are the same [m, rad, entries of rotations]: where J_v is
singular, errors of 1e-12 leave them open by the root of that."""


def branches(
    coordinates: MinimalCoordinates,
    q: ArrayLike | None = None,
    *,
    tries: int = 100,
    seed: int = 0,
    bounds: Bounds | None = None,
    tolerance: float = 1e-12,
    t: float = 0.0,
    close: bool = False,
) -> Branches:
    r"""Other ways of closing a mechanism at the values that the independent and driven coordinates have in q.

    From random values of the dependent coordinates (as `robot.random` draws them) the mechanism is assembled with the
    others held: the same seed gives the same ways. Two ways are the same if all bodies are at the same places, to 1e-5;
    whole turns do not count (a leg flipped by a universal joint is another way), nor how far a body that may turn alone
    has turned, as a rod between two balls about its own axis. It is a search, not a proof: ways with
    a small basin of attraction may be missed, and `describe` says how often each was found. If J_v is singular a way
    may be one of infinitely many.

    Args:
        coordinates: what is held, what follows.
        q: closed configuration (nq,); the one stored in the coordinates by default.
        tries: number of restarts.
        seed: of the random generator.
        bounds: bounds that the ways must keep; none by default.
        tolerance: of each closing, as in `assemble_position`.
        t: time of driven joints and of targets of rows [s].
        close: if q is open, close it first by the dependent coordinates.

    Raises:
        OpenMechanismError: q is open, without `close`.
        FailedError: q does not close.
        OptionError, SizeError, NotFiniteError, WrongObjectError, SpaceMismatchError: an invalid argument.
    """
    parts = expect(coordinates, MinimalCoordinates, "coordinates of branches", "MinimalCoordinates")
    count, start = whole_number(tries, "tries of branches", 0), whole_number(seed, "seed of branches", 0)
    limit = as_tolerance(tolerance, "tolerance of branches")
    robot, rhs = parts.constraint_set.robot, parts.rhs_at(t)
    if bounds is not None and expect(bounds, Bounds, "bounds of branches", "Bounds, or None").space != robot.space:
        raise SpaceMismatchError("bounds of branches", robot.space.name, bounds.space.name)
    given = driven_at(parts, np.array(robot.check(parts.q if q is None else q)), t)
    if as_flag(close, "close"):
        given = np.array(parts.close(given, t=t, rhs=rhs).or_raise().q)
    check_closed(parts.constraint_set, parts.constraint_set.position_error(given, rhs), "position", CLOSED, CLOSE_IT)
    idle = _idle_axes(parts, given, rhs)
    held = _held(parts, idle)
    rng = np.random.default_rng(start)
    ways, bodies, times, failed = [given], [_bodies(parts, given, idle)], [0], 0
    for _ in range(count):
        near = _restart(parts, given, rng)
        found = _closed(parts, near, held, rhs, bounds, limit)
        if found is None:
            failed += 1
            continue
        found = _without_turns(parts, given, found, bounds)
        placed = _bodies(parts, found, idle)
        same = next((i for i, each in enumerate(bodies) if largest(each - placed) <= SAME_PLACES), None)
        if same is None:
            ways.append(found)
            bodies.append(placed)
            times.append(1)
            continue
        times[same] += 1
    return Branches(
        parts, tuple(_described(parts, way, n, rhs) for way, n in zip(ways, times, strict=True)), count, failed, start
    )


def _idle_axes(parts: MinimalCoordinates, q: Vector, rhs: Any) -> dict[int, tuple[Vector, Vector]]:
    """By joint, direction and a point of the axis about which its body may turn alone, in the axes of the body."""
    robot, axes = parts.constraint_set.robot, dict[int, tuple[Vector, Vector]]()
    posture = robot.at(q)
    J = parts.constraint_set.jacobian(q, rhs)
    for name, motion in idle_directions(robot, posture, J, parts.partition.rank).items():
        linear, angular = np.split(posture.jacobian(name) @ motion, 2)
        speed = float(np.linalg.norm(angular))
        axes[robot.joint_index(name)] = angular / speed, cross(angular, linear) / speed**2
    return axes


def _bodies(parts: MinimalCoordinates, q: Vector, idle: dict[int, tuple[Vector, Vector]]) -> Matrix:
    """Rotations and translations (joints, 12) of what joints carry, in the world; of a body that is idle its axis."""
    placed = parts.constraint_set.robot.at(q).placed().oMi
    rows = [np.r_[oMi.rotation.ravel(), oMi.translation] for oMi in placed[1:]]
    for i, (direction, point) in idle.items():
        rows[i - 1] = np.r_[placed[i].rotation @ direction, np.zeros(6), placed[i].act(point)]
    return np.array(rows)


def _held(parts: MinimalCoordinates, idle: Iterable[int]) -> Segments | None:
    """What is held, but for idle turns, as a block of the space; None where it is a part of a rotation or of a pose."""
    robot, turns = parts.constraint_set.robot, set[int]()
    for i in idle:
        columns = robot.velocity_slice_of(robot.joint_names[i - 1])
        own = [k for k in parts.held.tolist() if columns.start <= k < columns.stop]
        turns.update(own if len(own) == 1 else ())
    try:
        return Segments.coordinates(robot.space, [k for k in parts.held.tolist() if k not in turns])
    except OverlapError:
        return None


def _restart(parts: MinimalCoordinates, given: Vector, rng: np.random.Generator) -> Vector:
    """A random configuration in which what is held is as it was given."""
    robot = parts.constraint_set.robot
    drawn = robot.random(rng)
    free = np.zeros(robot.nv, dtype=np.bool_)
    free[parts.partition.dependent] = True
    whole = rng.uniform(-np.pi, np.pi, robot.nv)
    for leaf in robot.space.leaves():
        ours = free[leaf.v]
        if leaf.space.nq == leaf.space.nv:
            drawn[leaf.q] = np.where(ours, drawn[leaf.q], given[leaf.q])
        elif not ours.all():
            drawn[leaf.q] = given[leaf.q]
        if leaf.space.nq == leaf.space.nv or ours.all():
            whole[leaf.v] = 0.0
    return np.array(robot.space.integrate(drawn, np.where(free, whole, 0.0)))


def _closed(
    parts: MinimalCoordinates, near: Vector, held: Segments | None, rhs: Any, bounds: Bounds | None, tolerance: float
) -> Vector | None:
    if held is None:  # a part of a rotation: Newton on the dependent coordinates alone holds it
        closing = parts.close(near, tolerance=tolerance, rhs=rhs)
        inside = bounds is None or bounds.contains(closing.q, SAME_PLACES)
        return np.array(closing.q) if closing.success and inside else None
    options = AssemblyOptions(bounds=bounds, tolerance=tolerance)
    found = assemble_position(parts.constraint_set, near, driven=held if len(held) else (), rhs=rhs, options=options)
    return np.array(found.q) if found.success else None


def _without_turns(parts: MinimalCoordinates, given: Vector, q: Vector, bounds: Bounds | None) -> Vector:
    """The same way, its dependent angles within half a turn of those given; unchanged where bounds are kept."""
    robot = parts.constraint_set.robot
    turns = np.round(robot.space.difference(given, q) / tau)
    turns[~angular_columns(robot.model)] = 0.0
    turned = robot.space.integrate(q, -tau * turns)
    return q if bounds is not None and not bounds.contains(turned) else np.array(turned)


def _described(parts: MinimalCoordinates, q: Vector, found: int, rhs: Any) -> WayOfClosing:
    whole, split = parts.constraint_set, parts.partition
    J = whole.jacobian(q, rhs)
    sizes = singular_values(J[:, split.dependent]) if split.rank else np.array([np.inf])
    least = float(sizes[max(split.rank - 1, 0)])
    is_singular = bool(least <= RANK_TOLERANCE * sizes[0])
    sign = 0.0 if is_singular else factorised(J[np.ix_(split.rows, split.dependent)]).sign
    return WayOfClosing(read_only(q), sign, least, found)
