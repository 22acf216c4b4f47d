"""Free bodies whose translations have bounds: steps in which a coordinate of a translation is a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from liegroups import SO3
from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.groups import translation_size

from ...problem.problem import Problem
from ...rows.stacking import Rows
from .linear_step import dof_scale

"""Coordinates of the translation, by group; those of the rotation follow in q and in v."""


class Body(NamedTuple):
    """Where the pose of a body is: entries of its translation and rotation in q, columns of its velocity in v."""

    translation: slice
    rotation: slice
    velocity: slice


@final
class FreeBodies:
    r"""The free bodies of a problem that steps keep within bounds of their translations.

    The bounds are on the coordinates of the translation p, while steps are twists (v, w) of the body, which move p by
    R v to first order. A step that would take p out of its bounds is found again as one (dp, w) of
    :math:`\mathbb{R}^3 \times SO(3)`, in which each coordinate of p is a column like that of a joint:

    .. math:: J' = J\, \mathrm{diag}(R^T, 1), \qquad p \leftarrow p + dp, \quad R \leftarrow R \exp(w)

    and of :math:`\mathbb{R}^2 \times SO(2)` in the plane. A body is held if no column of its translation is computed
    or frozen.

    Args:
        problem: whose bodies.

    Attributes:
        bodies: where each of them is.
        alike: whether the axes of each cost alike.
        entries: (k,) entries of q of the translations.
        columns: (k,) their tangent columns.
        lower, upper: (k,) their bounds.
    """

    def __init__(self, problem: Problem) -> None:
        bounds = problem.bounds
        bounded = np.isfinite(bounds.lower) | np.isfinite(bounds.upper)
        self.bodies: list[Body] = []
        for leaf in problem.space.leaves():
            size = translation_size(leaf.space)
            p = slice(leaf.q.start, leaf.q.start + size)
            v = slice(leaf.v.start, leaf.v.start + size)
            if bounded[p].any() and problem.free[v].all():
                self.bodies.append(Body(p, slice(p.stop, leaf.q.stop), v))
        self.entries: Indices = _indices([body.translation for body in self.bodies])
        self.columns: Indices = _indices([body.velocity for body in self.bodies])
        self._lower, self._upper = bounds.lower, bounds.upper
        self.lower, self.upper = bounds.lower[self.entries], bounds.upper[self.entries]
        scale = dof_scale(problem.weights)
        alike = scale is None or all((scale[b.velocity] == scale[b.velocity][0]).all() for b in self.bodies)
        self.alike, self._scale = bool(alike), None if alike else scale

    def __bool__(self) -> bool:
        return bool(self.bodies)

    def together(self, columns: BoolVector) -> BoolVector:
        """Columns (nv,), all of a body's translation where one of it is among them."""
        columns = columns.copy()
        for body in self.bodies:
            columns[body.velocity] = columns[body.velocity].any()
        return columns

    def keep(self, q: Vector) -> bool:
        """Whether the translations are within their bounds."""
        p = q[self.entries]
        return bool(((self.lower <= p) & (p <= self.upper)).all())

    def turned(self, q: Vector, rows: Sequence[Rows]) -> list[Rows]:
        """Rows at q by the coordinates of the translations in place of the velocities in the bodies' frames; copies."""
        return [level.with_jacobian(self.turned_matrix(q, level.jacobian)) for level in rows]

    def turned_matrix(self, q: Vector, J: Matrix) -> Matrix:
        """The same of a Jacobian (n, nv), or of a gradient (nv,)."""
        turned = J.copy()
        for body in self.bodies:
            turned[..., body.velocity] = J[..., body.velocity].dot(rotation(q[body.rotation]).T)
        return turned

    def at_bounds(self, q: Vector) -> list[tuple[slice, Matrix]]:
        r"""Bodies with translations at a bound in q: their columns, and what they keep of a velocity.

        :math:`R^T D R`, with D zero on coordinates at a bound.
        """
        inside, found = (self._lower < q) & (q < self._upper), list[tuple[slice, Matrix]]()
        for body in self.bodies:
            D = inside[body.translation]
            if not D.all():
                R = rotation(q[body.rotation])
                found.append((body.velocity, R.T.dot(D[:, None] * R)))
        return found

    def root(self, q: Vector) -> Matrix | None:
        r"""Root S (nv, nv) of the inverse costs by the coordinates of the translations, :math:`S S^T = T W^{-1} T^T`.

        With T = diag(R, 1) at q, and costs W by the velocities in the bodies' frames. None where each body has one cost
        for all of its translation, which no rotation changes.
        """
        if self._scale is None:
            return None
        root = np.diag(self._scale)
        for body in self.bodies:
            root[body.velocity, body.velocity] = rotation(q[body.rotation]) * self._scale[body.velocity]
        return root

    def translate(self, q: Vector, step: Vector, after: Vector) -> None:
        """Write the translations of q moved by a step, in coordinates of the translations, into `after`."""
        after[self.entries] = q[self.entries] + step[self.columns]


def rotation(unit: Vector) -> Matrix:
    """Matrix of a rotation given by its quaternion, or by (cos, sin)."""
    if unit.size == 4:
        return SO3.adjoint(unit)
    c, s = unit.tolist()
    return np.array([[c, -s], [s, c]])


def _indices(slices: Sequence[slice]) -> Indices:
    return np.array([i for s in slices for i in range(s.start, s.stop)], dtype=np.intp)
