"""The coordinates of a space, leaf by leaf: which entries of a configuration are numbers, which belong to unit vectors.

A leaf is a group that is no product: :math:`R^n, SO(2), SO(3), SE(2), SE(3)`. The entries of :math:`R^n` and the
translations of SE(2) and SE(3) are *vector coordinates*: they have a unit, may have bounds, and are independent of
each other. The others form unit vectors, (cos, sin) or a quaternion xyzw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from liegroups import SE2, SE3, SO2, SO3, Rn, Space

from ..arrays import BoolVector, Indices

__all__ = ["Leaf", "is_vector", "leaves", "tangent_coordinates", "vector_size"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A group that is no product, somewhere in a space.

    Attributes:
        group: the group.
        q, v: where it lies in a configuration and in a tangent vector.
        name: name of the outermost factor it belongs to (the joint, in a robot's space).
    """

    group: Space
    q: slice
    v: slice
    name: str


def leaves(space: Space) -> tuple[Leaf, ...]:
    """All leaves of a space in the order of its configurations."""
    return tuple(_leaves(space, 0, 0, ""))


def _leaves(space: Space, q: int, v: int, name: str) -> Iterator[Leaf]:
    if isinstance(space, Rn | SO2 | SO3 | SE2 | SE3):
        yield Leaf(space, slice(q, q + space.nq), slice(v, v + space.nv), name)
        return
    for factor in space.factors:
        yield from _leaves(factor.space, q + factor.q.start, v + factor.v.start, name or factor.name)


def vector_size(group: Space) -> int:
    """How many leading entries of a leaf's configuration are vector coordinates."""
    if isinstance(group, Rn):
        return group.nq
    return {SE2: 2, SE3: 3}.get(type(group), 0)


def is_vector(space: Space) -> BoolVector:
    """Mask (nq,) of the entries that are vector coordinates."""
    mask = np.zeros(space.nq, dtype=np.bool_)
    for leaf in leaves(space):
        mask[leaf.q.start : leaf.q.start + vector_size(leaf.group)] = True
    return mask


def tangent_coordinates(space: Space) -> tuple[Indices, Indices]:
    r"""Entries of q and of v that are one and the same number: q (+) v is q + v there.

    Those are the entries of the :math:`R^n` leaves. The translation of SE(2) or SE(3) is none of them: its tangent is
    expressed in the body frame.

    Returns:
        indices in q and in v, of equal length.
    """
    pairs = [
        (leaf.q.start + i, leaf.v.start + i)
        for leaf in leaves(space)
        if isinstance(leaf.group, Rn)
        for i in range(leaf.group.nq)
    ]
    array = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return array[:, 0].copy(), array[:, 1].copy()
