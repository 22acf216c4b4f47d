r"""How dependent coordinates move a configuration while the others are held: what "held" means.

Joints whose columns are all dependent take a step on their group, :math:`q \leftarrow q \oplus step`. Joints without
dependent columns are not touched. A ball or a free joint that is split, with some columns dependent and some held, has
a chart at the start of the closing, the logarithm of its change, in which the held columns are zero:

.. math:: q = q_0 \oplus \delta, \qquad \delta_{held} = 0, \qquad
    \frac{\partial h}{\partial \delta_v} = \big(J\, J_{\exp}(\delta)\big)_v

So where a closing ends does not depend on the way of its iterates. What no motion of the dependent columns changes, as
the rotation of a free joint of which only translations are dependent, keeps its bits.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups import Space
from liegroups.arrays import BoolVector, Indices, Matrix, Vector

_SAMPLES = 3
"""Motions by which it is seen what dependent columns move."""
_STILL = 1e-12
"""An entry of q that random motions of size 1 change by less does not depend on them."""


class _Split(NamedTuple):
    """A group with held and dependent columns.

    Attributes:
        space: the group.
        q, v: where it is.
        held, moving: its columns, counted in the group.
        places: where the dependent ones are among all dependent columns.
    """

    space: Space
    q: slice
    v: slice
    held: Indices
    moving: Indices
    places: Indices

    def change(self, start: Vector, q: Vector) -> Vector:
        """The logarithm of the change since the start; its held columns are zero."""
        delta = self.space.difference(start[self.q], q[self.q])
        delta[self.held] = 0.0
        return delta


@final
class Chart:
    """Motions of dependent columns.

    Args:
        space: of the configurations.
        dependent: columns that move; the others are held.

    Attributes:
        split: names of the joints of which some columns are dependent and some are held.
    """

    def __init__(self, space: Space, dependent: Indices) -> None:
        self._space, self._dependent = space, dependent
        mask = np.zeros(space.nv, dtype=np.bool_)
        mask[dependent] = True
        self._kept = np.flatnonzero(_still(space, mask))
        self._split: list[_Split] = []
        names: list[str] = []
        for leaf in space.leaves():
            free = mask[leaf.v]
            if leaf.space.is_flat or free.all() or not free.any():
                continue
            moving = np.flatnonzero(free)
            places = np.flatnonzero(np.isin(dependent, moving + leaf.v.start))
            self._split.append(_Split(leaf.space, leaf.q, leaf.v, np.flatnonzero(~free), moving, places))
            names.append(leaf.name)
        self.split = tuple(names)

    def columns(self, start: Vector, q: Vector, J: Matrix) -> Matrix:
        """The derivative (k, r) of rows by the dependent coordinates, from J (k, nv) in the tangent of q."""
        block = J[:, self._dependent]
        for part in self._split:
            turn = part.space.exp_jacobian(part.change(start, q))
            block[:, part.places] = J[:, part.v] @ turn[:, part.moving]
        return block

    def moved(self, start: Vector, q: Vector, change: Vector) -> Vector:
        """The configuration whose dependent coordinates have changed (r,); what is held keeps its bits."""
        step = np.zeros(self._space.nv)
        step[self._dependent] = change
        new = self._space.integrate(q, step)
        for part in self._split:
            delta = part.change(start, q)
            delta[part.moving] += change[part.places]
            new[part.q] = part.space.integrate(start[part.q], delta)
        new[self._kept] = q[self._kept]
        return new


def _still(space: Space, moving: BoolVector) -> BoolVector:
    """Which entries of q (nq,) no motion of some columns changes, found by random motions."""
    rng = np.random.default_rng(0)
    still = np.ones(space.nq, dtype=np.bool_)
    for _ in range(_SAMPLES):
        q = space.random(rng)
        still &= np.abs(space.integrate(q, moving * rng.standard_normal(space.nv)) - q) <= _STILL
    return still
