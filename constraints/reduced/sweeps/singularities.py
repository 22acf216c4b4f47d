"""Singularities on the way of a driver: dead points, where it stands still, and points where ways cross."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ...linear_algebra import singular_values
from ...loops.mobility import FREE, gimbal_words
from ...words import first_names
from .continuation import Curve, CurvePlace

PROBED = 2e-3
"""Steps in which ways may cross are made at most this long, and then looked into [rad or m]."""
CROSSED = 1e-6
"""Where J_w comes this near to a matrix of lower rank, relative to its largest singular value, ways cross."""
CELLS = 8
"""Into so many parts a step is cut to see that a rank is kept."""
PRECISION = 1e-14
"""Of a place between two others, as a part of the way between them."""


class SingularityKind(Enum):
    """What is singular: each value is a sentence for humans."""

    DEAD_POINT = "The driver stands still while the others may move: J_v is singular, J_w is not."
    BRANCH_POINT = "Two branches meet: J_w itself loses rank."
    ACTUATORS = "With all actuated coordinates locked, the others can still move."

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


class Singularity(NamedTuple):
    """A closed configuration at which the driver does not determine the others.

    Attributes:
        kind: dead point, branch point, or singularity of the actuated coordinates.
        value: of the driver [rad or m].
        q: (nq,).
        joints: coordinates that can move there, to first order, while the driver (or all actuated coordinates) is
            fixed.
        least: the least singular value of the matrix that lost its rank: J_v, J_w, or the columns that are not
            actuated.
        before: number of reached values before it.
        locked: coordinates that move no row there, as their joint is at a singular posture of its own, in words.
    """

    kind: SingularityKind
    value: float
    q: Vector
    joints: tuple[str, ...]
    least: float
    before: int
    locked: str = ""

    def __str__(self) -> str:
        word = "singular, actuators locked," if self.kind is SingularityKind.ACTUATORS else str(self.kind)
        why = f" ({self.locked})" if self.locked else ""
        return f"{word} at {self.value:.9g}: {first_names(self.joints)} may move{why}"


class Jumped(NamedTuple):
    """A step that is too long to be trusted: it may have come to another branch."""


def dead_point(curve: Curve, a: CurvePlace, b: CurvePlace) -> CurvePlace | None:
    """Where the driver turns on the way from a to b; None where it does not."""
    if not a.tangent[0] * b.tangent[0] < 0.0:
        return None

    def pace(place: CurvePlace) -> float:
        return float(place.tangent[0])

    place = _root(curve, a, b, pace, pace(a), pace(b))
    still = place.tangent.copy()
    still[0] = 0.0
    return place._replace(tangent=still / np.linalg.norm(still))


def branch_point(curve: Curve, a: CurvePlace, b: CurvePlace) -> CurvePlace | Jumped | None:
    r"""Where ways cross between a and b; None where they do not, Jumped where the step is too long to say.

    Most steps are cleared by the Jacobians at their ends (`_keeps_rank`). A sign of :math:`\det [J_w; t^T]` that
    changes without such a place is a jump to another branch.
    """
    flips = curve.crossing(a, b, b.J) < 0.0
    if a.least + b.least > 1.2 * float(np.linalg.norm(b.J - a.J)) or _keeps_rank(a.J, b.J, curve.rank):
        return Jumped() if flips else None
    if float(np.linalg.norm(curve.between_of(a.q, b.q))) > PROBED:
        return Jumped()
    if flips:
        place = _root(curve, a, b, lambda p: curve.crossing(a, b, p.J), 1.0, -1.0)
    else:
        place = _lowest(curve, a, b, lambda p: p.least)
    if place.least <= CROSSED * float(np.linalg.norm(place.J, 2)):
        return place
    return Jumped() if flips else None


def _keeps_rank(J_a: Matrix, J_b: Matrix, rank: int) -> bool:
    """Whether matrices keep their rank on a short way, along which they are about linear.

    From one of some places on the way to the next, a singular value moves by at most the norm of the change.
    """
    if not rank:
        return True
    way = J_a + np.linspace(0.0, 1.0, CELLS + 1)[:, None, None] * (J_b - J_a)
    sizes = np.linalg.svd(way, compute_uv=False)[:, rank - 1]
    return bool((sizes[1:] + sizes[:-1]).min() > 1.2 / CELLS * float(np.linalg.norm(J_b - J_a)))


def _root(
    curve: Curve, a: CurvePlace, b: CurvePlace, f: Callable[[CurvePlace], float], at_a: float, at_b: float
) -> CurvePlace:
    """The place on a short step where a number vanishes that has different signs at its ends."""
    from scipy.optimize import brentq  # 0.1 s to import, only for who meets a singularity

    seen: dict[float, CurvePlace] = {0.0: a, 1.0: b}

    def at(x: float) -> float:
        if x in seen:
            return at_a if x == 0.0 else at_b
        place = curve.between(a, b, x)
        if place is None:  # beside a crossing, where there is nothing to correct by
            return at_a if x < 0.5 else at_b
        seen[x] = place
        return f(place)

    found: Any = brentq(at, 0.0, 1.0, xtol=PRECISION, rtol=PRECISION, disp=False)  # a jump is no smooth root
    return seen[min(seen, key=lambda x: abs(x - float(found)))]


def _lowest(curve: Curve, a: CurvePlace, b: CurvePlace, size: Callable[[CurvePlace], float]) -> CurvePlace:
    """The place on a short step where a number that is not negative is least."""
    from scipy.optimize import minimize_scalar

    seen: dict[float, CurvePlace] = {0.0: a, 1.0: b}

    def at(x: float) -> float:
        place = curve.between(a, b, x)
        if place is None:
            return 0.0
        seen[x] = place
        return size(place) ** 2

    minimize_scalar(at, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-9})
    return min(seen.values(), key=size)


def actuator_point(curve: Curve, others: Indices, a: CurvePlace, b: CurvePlace) -> CurvePlace | None:
    r"""Where the actuated coordinates, if locked, leave the others a motion, between a and b; None where they do not.

    With :math:`J_x` the columns that are not actuated, as many as the rank, and R what J reaches at a, it is where
    :math:`\det (R^T J_x)` changes its sign, or where the least singular value of :math:`J_x` touches zero.

    Args:
        curve: what is travelled on.
        others: tangent columns that are not actuated.
        a, b: ends of a step.
    """
    J_a, J_b = (curve.jacobian(place.q)[:, others] for place in (a, b))
    least = [float(singular_values(J)[curve.rank - 1]) for J in (J_a, J_b)]
    scale = CROSSED * float(np.linalg.norm(J_a, 2))
    if max(least) <= scale or _keeps_rank(J_a, J_b, curve.rank):
        return None
    R = np.linalg.svd(curve.jacobian(a.q))[0][:, : curve.rank]

    def sign(place: CurvePlace) -> float:
        return float(np.linalg.det(R.T @ curve.jacobian(place.q)[:, others]) / at_a)

    def size(place: CurvePlace) -> float:
        return float(singular_values(curve.jacobian(place.q)[:, others])[curve.rank - 1])

    at_a = 1.0
    at_a = sign(a)
    at_b = sign(b)
    place = _root(curve, a, b, sign, 1.0, at_b) if at_b < 0.0 else _lowest(curve, a, b, size)
    return place if size(place) <= scale else None


def is_actuator_point(curve: Curve, others: Indices, place: CurvePlace) -> bool:
    """Whether the actuated coordinates leave the others a motion at a place; `others` as in `actuator_point`."""
    sizes = singular_values(curve.jacobian(place.q)[:, others])
    return bool(sizes[curve.rank - 1] <= CROSSED * sizes[0])


def singularity(curve: Curve, kind: SingularityKind, place: CurvePlace, before: int, columns: Indices) -> Singularity:
    """A place as a singularity, with the names of what may move there.

    Args:
        curve: what is travelled on.
        kind: what it is.
        place: where.
        before: how many values had been reached.
        columns: tangent columns that may move.
    """
    names = curve.coordinates.constraint_set.robot.coordinate_names
    whole = curve.jacobian(place.q)
    J, scale = whole[:, columns], singular_values(whole).max(initial=0.0)  # one column alone has no scale of its own
    _, S, Vt = np.linalg.svd(J)
    sizes = np.concatenate([S, np.zeros(J.shape[1] - len(S))])
    free = np.abs(Vt[sizes <= 10.0 * CROSSED * scale]).max(axis=0, initial=0.0) > FREE
    joints = tuple(names[int(i)] for i in columns[free])
    least = place.least if kind is SingularityKind.BRANCH_POINT else float(sizes[curve.rank - 1])
    locked = gimbal_words(curve.coordinates.constraint_set.robot, whole, columns[free])
    return Singularity(kind, place.value, place.q, joints, least, before, locked)
