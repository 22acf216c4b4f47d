r"""Chains that move in planes: what stays of a frame seen from another one, without any rounding.

Let n be a direction of space that is an axis of coordinates, to the last digit, of each frame along a chain: of each
joint, and of both ends (its row and its column in each placement are those of a signed unit vector; so are those of
the rotation next to it). Let each joint turn about n alone, and slide across it alone. Then, whatever the joints do, b
turns against a about n, and the coordinate of its origin along n is the sum of those of all placements, which is known
exactly where it is a double (`math.fsum` rounds once). So rows of a planar mechanism that ask for nothing are seen to
ask for nothing.

So it is with exact motions. A computed rotation goes by the world, and is rounded, joints that both frames share
included: before it counts as one of a plane the row and the column of n are set to what they are (`of_rotation`).
"""

from __future__ import annotations

from math import fsum
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...robot import Frame
from ...robot.elementary import ElementaryTree


class Planes(NamedTuple):
    """What may change of frame b seen from frame a: 1 for what may, 0 for what stays.

    Attributes:
        moves: coordinates of the origin of b, and of directions of b, in the axes of a (3,).
        carries: the same of velocities, in the axes of b (3,).
        turns: axes of b about which it may turn (3,).
        place: coordinates of the origin of b that stay, where they are known exactly; else NaN (3,).
        normals: (3, 3) 1 or -1 in row i and column k where axis i of a is axis k of b, or its opposite; else 0.
    """

    moves: Vector
    carries: Vector
    turns: Vector
    place: Vector
    normals: Matrix

    @staticmethod
    def of(tree: ElementaryTree, a: Frame, b: Frame) -> Planes:
        """Of two frames; kept with the tree.

        Args:
            tree: of their robot.
            a, b: frames.
        """
        known = _KNOWN.setdefault(tree, {})
        key = tuple((frame.joint, frame.placement.homogeneous.tobytes()) for frame in (a, b))
        if key not in known:
            known[key] = _planes(tree, a, b)
        return known[key]

    def off(self, near: Vector) -> Vector:
        """How far coordinates of the origin (..., 3) may be off, where rounding is within `near` (..., 1) [m]."""
        return np.where(np.isnan(self.place), near, 0.0)

    def carried_off(self, near: Vector) -> Vector:
        """The same in the axes of b, by the quaternion."""
        known = self.is_kept and not np.isnan(self.place[..., self.moves == 0.0]).any()
        return near * (self.carries if known else np.ones(3))

    def of_rotation(self, R: Matrix) -> Matrix:
        """A computed rotation (..., 3, 3) of b seen from a, with the row and the column of each normal as they are."""
        known: Any = np.logical_or(self.normals.any(axis=1, keepdims=True), self.normals.any(axis=0, keepdims=True))
        return np.where(known, self.normals, R if self.turns.any() else np.rint(R))

    @property
    def is_kept(self) -> bool:
        """Whether a unit quaternion of the rotation, in doubles, keeps the normals.

        Where these are the same axes of a and of b, two of its numbers, or three, are 0, and rounding leaves them.
        """
        return np.count_nonzero(self.normals) == np.count_nonzero(self.normals.diagonal())

    def of_direction(self, b: Vector, d: Vector) -> Planes:
        """Of a direction b (3,) of frame b, which is d (..., 3) seen from a: the normal stays where it is."""
        moves = self.moves * (self.carries.sum() != 2.0 or bool((b * self.carries).any()))
        return self._replace(moves=moves, place=np.where(moves == 0.0, d, np.nan))


_KNOWN: WeakKeyDictionary[ElementaryTree, dict[Any, Planes]] = WeakKeyDictionary()


def _planes(tree: ElementaryTree, a: Frame, b: Frame) -> Planes:
    moves, carries, turns = np.ones((3, 3))
    place, normals = np.full(3, np.nan), np.zeros((3, 3))
    if len(tree.joints) != tree.model.njoints:  # placements of parts are computed
        return Planes(moves, carries, turns, place, normals)
    shared = tree.carries[:, [a.joint, b.joint]].all(axis=1)
    for axis in range(3):
        to_a, to_b = (_followed(tree, frame, np.eye(3)[axis], shared) for frame in (a, b))
        if to_a is None or to_b is None:
            continue
        (n_a, way_a), (n_b, way_b) = to_a, to_b
        i, k = int(np.abs(n_a).argmax()), int(np.abs(n_b).argmax())
        terms = [n_a[i] * x for x in (*way_b, *(-y for y in way_a))]
        total = fsum(terms)
        moves[i] = carries[k] = 0.0
        normals[i, k] = n_a[i] * n_b[k]
        turns[np.arange(3) != k] = 0.0
        place[i] = total if fsum([*terms, -total]) == 0.0 else np.nan
    return Planes(moves, carries, turns, place, normals)


def _followed(tree: ElementaryTree, frame: Frame, n: Vector, shared: Any) -> tuple[Vector, list[float]] | None:
    """A direction of the last joint that carries both ends, followed to a frame.

    Returns:
        What it is there, and the coordinates along it of the placements on the way; None if it is no normal of a plane.
    """
    S, joints = tree.subspaces
    model, way = tree.model, list[float]()
    for j in [j for j in range(1, model.njoints) if tree.carries[j, frame.joint] and not shared[j]]:
        found = _through(n, model.jointPlacements[j], way)
        if found is None:
            return None
        n, own = found, S[:, joints == j]
        if (n @ own[:3]).any() or (own[3:] * (n == 0.0)[:, None]).any():
            return None
    n_end = _through(n, frame.placement, way)
    return None if n_end is None else (n_end, way)


def _through(n: Vector, placement: Any, way: list[float]) -> Vector | None:
    """A signed unit vector in the axes behind a placement, if it is one there."""
    R: Matrix = placement.rotation
    way.append(float(n @ placement.translation))
    seen = np.asarray(n @ R)
    i, k = np.abs(n).argmax(), np.abs(seen).argmax()
    one = abs(R[i, k]) == 1.0 and np.count_nonzero(R[i]) == 1 and np.count_nonzero(R[:, k]) == 1
    return seen if one else None
