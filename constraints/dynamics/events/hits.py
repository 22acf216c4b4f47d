"""Impacts on sides that push and never pull, with friction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.linalg import norm

from liegroups.arrays import BoolVector, Vector

from ...errors import UndefinedError
from ...linear_algebra import largest
from ...loops import ConstraintSet
from ...robot import Motion
from ..impact import Impact, impact
from .balance import energies
from .sides import LITTLE, NO_DISTANCE, STILL_SPEED, SeenSides, Standing, all_ways, balanced


def hit(seen: SeenSides, coming: BoolVector) -> tuple[Motion, ConstraintSet]:
    """The state after an impact on some sides: bounced, or at rest on them, stuck or slipping.

    Each side that is hit leaves with its restitution, the others that are touched do not move into the ground; what
    would pull is left out, but for impacts below the speed of rest, or a box would rock without end; what would need
    more friction than there is slips during the impact. There is no bounce where it has no solution, or the sides would
    do work, which Newton's law allows together with friction. Closures may do some: of targets that move, and of rates
    that were open.
    """
    own, robot, q = seen.sides, seen.holds.robot, seen.motion.q
    before = energies(seen.motion)[0]
    for bounces in (True, False):
        try:
            found = _impact(seen, coming, bounces)
        except UndefinedError:
            if bounces:  # more than three feet of a body, some of which come too slowly to bounce
                continue
            raise
        motion = robot.at(q, found.after)
        if not bounces or (found.better is None and energies(motion)[0] - found.work <= before * (1.0 + LITTLE)):
            break
    return motion, own.switched(seen.holds, found.standing)


class _Tried(NamedTuple):
    """An impact: velocity and sides after it, the work of all other rows, what to try instead; None if it is right."""

    after: Vector
    standing: Standing
    work: float
    better: Standing | None


def _impact(seen: SeenSides, coming: BoolVector, bounces: bool) -> _Tried:
    """The worst side is changed first; where that goes round, or jams, all that few sides can do is tried."""
    grips, known, jammed = seen.sides.grips, set[bytes](), None
    standing = Standing(seen.standing.on | coming, seen.standing.sticks | (coming & grips))
    found = None
    try:
        while standing.mark not in known:
            known.add(standing.mark)
            found = _tried(seen, standing, coming, bounces)
            if found.better is None:
                return found
            standing = found.better
    except UndefinedError as error:
        jammed = error
    for standing in all_ways(seen.standing.on | coming | (seen.gaps <= NO_DISTANCE), grips):
        try:
            tried = _tried(seen, standing, coming, bounces)
        except UndefinedError:
            continue
        if tried.better is None:
            return tried
    if jammed is not None or found is None:
        raise jammed or AssertionError
    return found


def _tried(seen: SeenSides, standing: Standing, coming: BoolVector, bounces: bool) -> _Tried:
    own, grips, hit = seen.sides, seen.sides.grips, coming | (standing.on & ~seen.standing.on)
    e = np.array([side.restitution for side in own.sides])
    e[~hit | (-seen.rates <= own.rest_speed)] = 0.0
    e *= bounces
    after, pushes, alongs, work = _impulses(seen, standing, -e * np.minimum(seen.rates, 0.0))
    if (-seen.rates[hit] <= own.rest_speed).all():  # what pulls is held, too
        alongs = [along if push > 0.0 else 0.0 * along for along, push in zip(alongs, pushes, strict=True)]
        pushes = np.maximum(pushes, 0.0)
    better = standing.lessened(own.sides, pushes, alongs, largest(pushes))
    if better is None:
        rates = seen.jacobian[seen.normals] @ after
        sinks = ~standing.on & (seen.gaps <= NO_DISTANCE) & (rates < -STILL_SPEED)
        better = Standing(standing.on | sinks, standing.sticks | (sinks & grips)) if sinks.any() else None
    rests = standing.on & ~(e > 0.0)
    still = np.array([norm(seen.jacobian[rows] @ after) <= STILL_SPEED for rows in seen.tangents], dtype=np.bool_)
    return _Tried(after, Standing(rests, rests & grips & (standing.sticks | still)), work, better)


def _impulses(seen: SeenSides, standing: Standing, wished: Vector) -> tuple[Vector, Vector, list[Vector], float]:
    """Velocity after, impulses along normal and tangents, and the work of all other rows, with friction.

    Rates after are `wished` (n,).
    """
    own = seen.sides
    holds = own.switched(seen.holds, standing)
    rhs = holds.rhs_at(seen.t)
    rows = holds.rows_at(seen.motion, rhs)
    after = rows.jacobian @ seen.motion.v - rows.velocity
    after[seen.normals] = wished
    robot, q, v = holds.robot, seen.motion.q, seen.motion.v

    def with_push(push: Vector) -> Impact:
        start = v + seen.motion.inverse_mass_matrix() @ push if push.any() else v
        return solved_impact(impact(holds, robot.at(q, start), after=after, rhs=rhs))

    slips = [i for i in np.flatnonzero(standing.slips).tolist() if seen.tangents[i]]
    free = with_push(np.zeros(len(v)))
    found = free
    if slips:
        held = None
        columns: list[Vector] = []
        for i in slips:
            velocity = seen.slipping[i]
            if norm(velocity) <= STILL_SPEED:
                if held is None:
                    whole = Standing(standing.on, standing.on & own.grips)
                    held = _impulses(seen, whole, wished)[2]
                velocity = -held[i]
            size = norm(velocity)
            direction = velocity / size if size > 0.0 else velocity
            columns.append(seen.drag_of(i, direction))
        drag, places = np.array(columns).T, [seen.normals[i] for i in slips]
        changes = [with_push(column).impulses[places] - free.impulses[places] for column in drag.T]
        push = drag @ balanced(free.impulses[places], np.array(changes).T)
        found = with_push(push)
    alongs = [found.impulses[along] for along in seen.tangents]
    work = 0.5 * found.impulses * (rows.jacobian @ (v + found.velocity))
    others = np.delete(work, [*seen.normals, *(row for along in seen.tangents for row in along)])
    return found.velocity, found.impulses[seen.normals], alongs, float(others.sum())


def solved_impact(found: Impact) -> Impact:
    """The impact if it is one.

    Raises:
        UndefinedError: the rows contradict each other.
    """
    if not found.success:
        raise UndefinedError(f"an impact has no solution: {found}")
    return found
