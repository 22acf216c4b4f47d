"""Staying on a branch: whether two closed configurations are on the same way of closing a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from liegroups import Space
from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..errors import UndefinedError
from ..linear_algebra import largest
from .closing.corrector import longest_trusted
from .closing.lu import factorised
from .partition import partition

Jacobian = Callable[[Vector], Matrix]
"""From a configuration (nq,) to the Jacobian of the rows (m, nv) there."""

PLACES = 60
"""Into how many parts a way is cut, at most; one that takes more counts as passing a dead centre."""
SHORTEST_TANGENT = 1e-5
"""A part shorter than this [rad or m] on which the tangents lead to the other sign has a dead centre."""


class BranchComparison(NamedTuple):
    r"""How two configurations compare.

    Attributes:
        before: configuration (nq,) whose branch counts.
        is_closed: whether that one is closed; at an open one the sign may be another one already.
        moved: largest move of a dependent coordinate [rad or m].
        signs: signs of the determinant of the pivot block :math:`J[h, v]` at both, 0 where it is singular.
        dependent: the dependent coordinates v (tangent columns).
        rows: the independent rows h.
        meets: whether there is a dead centre on the way, after which the sign is the same again.
    """

    before: Vector
    is_closed: bool
    moved: float
    signs: tuple[float, float]
    dependent: Indices
    rows: Indices
    meets: bool = False

    def same(self, step: float) -> bool:
        """Whether no dependent coordinate moved more than `step`, and the sign was kept all the way."""
        return self.moved <= step and self.signs[0] == self.signs[1] != 0.0 and not self.meets

    def describe(self) -> str:
        """What moved, and the signs, in words."""
        then, now = ({1.0: "+", -1.0: "-"}.get(sign, "0, a dead centre") for sign in self.signs)
        of = "before the driven joints moved" if self.is_closed else "at the open start"
        between = ", with a dead centre between them" if self.meets else ""
        return (
            f"a dependent coordinate moved {self.moved:.3g}; sign of the pivot block {of}: {then}, now: {now}{between}"
        )


def branch_between(
    space: Space, jacobian: Jacobian, before: Vector, q: Vector, driven: BoolVector, *, is_closed: bool = False
) -> BranchComparison:
    """Compare a configuration with the closed one it led to.

    Dependent coordinates and independent rows are the pivots of the Jacobian at q; at `before` where that is closed and
    has the higher rank: then q is at a dead centre, and its sign is 0. (At an open configuration redundant rows may
    look independent, so its rank says nothing.)

    Args:
        space: of the configurations.
        jacobian: of the rows.
        before, q: configurations (nq,), q closed.
        driven: (nv,) columns that are never dependent.
        is_closed: whether `before` is closed too.
    """
    Js = [jacobian(x) for x in (before, q)]
    parts = [partition(J, driven=driven) for J in Js]
    chosen = parts[0] if is_closed and parts[0].rank > parts[1].rank else parts[1]
    h, v = chosen.rows, chosen.dependent
    is_singular = [is_closed and part.rank < v.size for part in parts]
    signs = [0.0 if s else factorised(J[np.ix_(h, v)]).sign for J, s in zip(Js, is_singular, strict=True)]
    apart = np.abs(space.difference(before, q)[v]).max(initial=0.0)
    return BranchComparison(before, is_closed, float(apart), (signs[0], signs[1]), v, h)


def meets_dead_centre(
    space: Space, jacobian: Jacobian, branch: BranchComparison, q: Vector, close: Callable[[Vector], Vector | None]
) -> bool:
    """Whether there is a dead centre between two closed configurations of one sign.

    Where two branches meet, a mechanism may come in on one and go out on the other with the sign that it had. Then the
    tangents of its ways tell: from both ends they lead to the other sign. So would a long step on a curved way; that is
    why the way is cut until on each part the tangents keep the sign, or lead to the other within `SHORTEST_TANGENT`.

    Args:
        space, jacobian: as in `branch_between`.
        branch: of `branch_between`, its configuration closed.
        q: configuration (nq,), closed.
        close: closes the mechanism from a configuration near, driven joints held; None where it does not.
    """
    sign, ways = branch.signs[0], [(branch.before, q)]
    for _ in range(PLACES):
        if not ways:
            return False
        a, b = ways.pop()
        there, back = _along(space, jacobian, branch, a, b), _along(space, jacobian, branch, b, a)
        ahead = [_sign_at(jacobian, branch, space.integrate(x, d)) for x, d in ((a, there), (b, back))]
        if ahead == [sign, sign]:
            continue

        def part_of(step: float, a: Vector = a, there: Vector = there) -> Vector | None:
            between = close(space.integrate(a, step * there))
            return between if between is not None and _sign_at(jacobian, branch, between) == sign else None

        shortest = SHORTEST_TANGENT / largest(there) if there.any() else np.inf
        between = longest_trusted(part_of, 0.5, shortest)[0] if shortest <= 0.5 else None
        if between is None:
            return True
        ways += [(between, b), (a, between)]
    return True


def _along(space: Space, jacobian: Jacobian, branch: BranchComparison, a: Vector, b: Vector) -> Vector:
    """The step from a to b, its dependent part by the tangent at a."""
    v, J = branch.dependent, jacobian(a)[branch.rows]
    step = space.difference(a, b)
    step[v] = 0.0
    step[v] = np.linalg.lstsq(J[:, v], -J @ step, rcond=None)[0]
    return step


def _sign_at(jacobian: Jacobian, branch: BranchComparison, q: Vector) -> float:
    """The sign of the pivot block; 0 where a function has no value."""
    try:
        return factorised(jacobian(q)[np.ix_(branch.rows, branch.dependent)]).sign
    except UndefinedError:
        return 0.0
