"""Singularities on the way of a driver: dead points, where it stands still, and points where ways cross."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from liegroups.arrays import Vector

from ..loops.mobility import FREE, coordinate_names
from .continuation import Curve, Place

PROBED = 2e-3
"""Steps in which ways may cross are made at most this long, and then looked into [rad or m]."""
CROSSED = 1e-6
"""Where J_w comes this near to a matrix of lower rank, relative to its largest singular value, ways cross."""
PRECISION = 1e-14
"""Of a place between two others, as a part of the way between them."""


class SingularityKind(Enum):
    """What is singular: each value is a sentence for humans."""

    DEAD_POINT = "The driver stands still while the others may move: J_v is singular, J_w is not."
    BRANCH_POINT = "Two ways of closing meet: J_w itself loses rank."

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


class Singularity(NamedTuple):
    """A closed configuration at which the driver does not determine the others.

    Attributes:
        kind: dead point or branch point.
        value: of the driver [rad or m].
        q: (nq,).
        joints: coordinates that may move there, to first order, while the driver stands.
        least: the least of the r singular values of J_w: about 0 at a branch point.
        before: how many of the values that were reached come before it.
    """

    kind: SingularityKind
    value: float
    q: Vector
    joints: tuple[str, ...]
    least: float
    before: int

    def __str__(self) -> str:
        return f"{self.kind} at {self.value:.9g}: {', '.join(self.joints)} may move"


class Jumped(NamedTuple):
    """A step that is too long to be trusted: it may have come to another branch."""


def dead_point(curve: Curve, a: Place, b: Place) -> Place | None:
    """Where the driver turns on the way from a to b; None where it does not."""
    if not a.tangent[0] * b.tangent[0] < 0.0:
        return None

    def pace(place: Place) -> float:
        return float(place.tangent[0])

    place = _root(curve, a, b, pace, pace(a), pace(b))
    still = place.tangent.copy()
    still[0] = 0.0
    return place._replace(tangent=still / np.linalg.norm(still))


def branch_point(curve: Curve, a: Place, b: Place) -> Place | Jumped | None:
    r"""Where ways cross between a and b; None where they do not, Jumped where the step is too long to say.

    The least singular value moves by at most :math:`|J_b - J_a|` between places where J is about linear: most steps are
    cleared by that alone. A sign of :math:`\det [J_w; t^T]` that changes without such a place is a jump to another
    branch.
    """
    flips = curve.crossing(a, b, b.J) < 0.0
    if a.least + b.least > 1.2 * float(np.linalg.norm(b.J - a.J)):
        return Jumped() if flips else None
    if float(np.linalg.norm(curve.between_of(a.q, b.q))) > PROBED:
        return Jumped()
    if flips:
        place = _root(curve, a, b, lambda p: curve.crossing(a, b, p.J), 1.0, -1.0)
    else:
        place = _lowest(curve, a, b)
    if place.least <= CROSSED * float(np.linalg.norm(place.J, 2)):
        return place
    return Jumped() if flips else None


def _root(curve: Curve, a: Place, b: Place, f: Callable[[Place], float], at_a: float, at_b: float) -> Place:
    """The place on a short step where a number vanishes that has different signs at its ends."""
    seen: dict[float, Place] = {0.0: a, 1.0: b}

    def at(x: float) -> float:
        if x in seen:
            return at_a if x == 0.0 else at_b
        place = curve.between(a, b, x)
        if place is None:  # beside a crossing, where there is nothing to correct by
            return at_a if x < 0.5 else at_b
        seen[x] = place
        return f(place)

    found: Any = brentq(at, 0.0, 1.0, xtol=PRECISION, rtol=1e-15)
    return seen[min(seen, key=lambda x: abs(x - float(found)))]


def _lowest(curve: Curve, a: Place, b: Place) -> Place:
    """The place on a short step that is nearest to a loss of rank."""
    seen: dict[float, Place] = {0.0: a, 1.0: b}

    def at(x: float) -> float:
        place = curve.between(a, b, x)
        if place is None:
            return 0.0
        seen[x] = place
        return place.least**2

    minimize_scalar(at, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-9})
    return min(seen.values(), key=lambda place: place.least)


def singularity(curve: Curve, kind: SingularityKind, place: Place, before: int) -> Singularity:
    """A place as a singularity, with the names of what may move while the driver stands."""
    names = coordinate_names(curve.coordinates.constraint_set.robot)
    J_v = place.J[:, 1:]
    _, S, Vt = np.linalg.svd(J_v)
    sizes = np.concatenate([S, np.zeros(J_v.shape[1] - len(S))])
    free = np.abs(Vt[sizes <= 10.0 * CROSSED * sizes.max(initial=0.0)]).max(axis=0, initial=0.0) > FREE
    joints = tuple(names[int(i)] for i in curve.columns[1:][free])
    return Singularity(kind, place.value, place.q, joints, place.least, before)
