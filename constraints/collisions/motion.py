"""How much nearer two solids come while a robot moves, at most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..linear_algebra import row_lengths
from ..robot import Robot
from ..robot.elementary import expanded
from ..robot.model.joints import JOINT_TYPES, joint_whole, type_name
from ..solvers.machine.layout import UNHELD
from .pairs import IndexPair
from .solids import CollisionSolid


@final
class JointMotions:
    r"""The elementary joints of a robot: sizes of their motions, and lengths between them.

    All are square roots of sums of squares: with a tangent vector d of a joint and its placement,
    :math:`|v| = \sqrt{d^2 S_v}` and :math:`|\omega| = \sqrt{d^2 S_\omega}` bound the linear and angular velocity of
    what it carries at its origin, while it moves by d in a unit of time; :math:`\sqrt{q^2 S_e}` is how far away from
    its place the joint has moved.

    Attributes:
        joints: elementary joint of each joint of the robot, -1 of the world.
        above: (n, n) 1 where the first of two joints carries the second.
        offsets: (n,) of each joint from the one that carries it [m].
        linear, angular: (nv, n) the squares S of linear and angular motions.
        ways: (nq, n) the squares of how far joints move away.
        most: (n,) the same where it does not depend on q [m].
    """

    def __init__(self, robot: Robot) -> None:
        model, joints = expanded(robot.model)
        n = int(model.njoints) - 1
        self.joints: tuple[int, ...] = tuple(j - 1 for j in joints)
        places = [np.asarray(model.jointPlacements[k + 1].translation) for k in range(n)]
        self.offsets: Vector = row_lengths(np.array(places).reshape(n, 3))
        self.above = np.zeros((n, n))
        self.linear, self.angular = np.zeros((2, int(model.nv), n))
        self.ways, self.most = np.zeros((int(model.nq), n)), np.zeros(n)
        for k in range(n):
            parent = int(model.parents[k + 1]) - 1
            if parent >= 0:
                self.above[:, k] = self.above[:, parent]
                self.above[parent, k] = 1.0
            self._measure(k, model.joints[k + 1])

    def _measure(self, k: int, joint: Any) -> None:
        """Write what one elementary joint does."""
        kind, q, v, whole = JOINT_TYPES[type_name(joint)].word, int(joint.idx_q), int(joint.idx_v), joint_whole(joint)
        turns, slides = _TURNS.get(kind, 0), _SLIDES.get(kind, 0)
        self.linear[v : v + slides, k] = 1.0
        self.angular[v + slides : v + slides + turns, k] = 1.0
        self.ways[q : q + slides, k] = 1.0
        if kind == "helical":
            self.linear[v, k] = self.ways[q, k] = float(whole.pitch) ** 2
        elif kind == "ellipsoid":  # rates of three angles add up to at most sqrt(3) times their norm
            self.most[k] = max(whole.radius_x, whole.radius_y, whole.radius_z)
            self.angular[v : v + 3, k], self.linear[v : v + 3, k] = 3.0, 3.0 * self.most[k] ** 2


_SLIDES = {"prismatic": 1, "planar": 2, "free-flyer": 3, "translation": 3}
"""First coordinates of a joint that are lengths."""
_TURNS = {"revolute": 1, "continuous": 1, "helical": 1, "planar": 1, "spherical": 3, "free-flyer": 3}
"""Coordinates of its motions behind these that are angles."""


class Reaches(NamedTuple):
    """What joints do to solids, or to pairs of them.

    Attributes:
        moves: (joints, n) 1 where the joint moves the solid, or one of the pair only.
        reaches: (joints, n) how far that goes from the joint [m], at most.
    """

    moves: Matrix
    reaches: Matrix

    def way(self, speeds: _Speeds) -> Matrix:
        """How far points of it go, at most (..., solids)."""
        return speeds.linear @ self.moves + speeds.angular @ self.reaches


class _Speeds(NamedTuple):
    """Sizes of the motions of joints (..., joints)."""

    linear: Matrix
    angular: Matrix


@final
class CarriedSolids:
    """Solids on the joints of a robot: which joint carries which, and how far they reach.

    Attributes:
        motions: as given.
        carries: (joints, n) 1 where a joint carries a solid.
        radii: of the balls around them (n,) [m].
        unheld: (n,) `UNHELD` where a solid moves that no ball holds, else 0 [m].
    """

    def __init__(self, motions: JointMotions, solids: Sequence[CollisionSolid]) -> None:
        self.motions = motions
        self.carries, self._own = np.zeros((len(motions.offsets), len(solids))), np.zeros(len(solids))
        self.radii = np.array([UNHELD if s.spheres is None else s.spheres[0, 3] for s in solids])
        self.unheld = np.array([UNHELD if s.spheres is None and s.joint else 0.0 for s in solids])
        for i, solid in enumerate(solids):
            self._own[i] = self.radii[i]
            if solid.spheres is not None:
                self._own[i] += np.linalg.norm(solid.spheres[0, :3])
            joint = motions.joints[solid.joint]
            if joint >= 0:
                self.carries[:, i] = motions.above[:, joint]
                self.carries[joint, i] = 1.0

    def reaches_along(self, Q: Matrix, D: Matrix) -> Reaches:
        """What joints do to the solids on a way.

        Args:
            Q: configurations (n, nq) on the way, and what is moved between them (m, nv): joints that slide go no
                farther.
            D: the latter.
        """
        motions, carries = self.motions, self.carries
        away = np.sqrt(Q**2 @ motions.ways).max(axis=0, initial=0.0) + motions.most
        away = away + 0.5 * np.sqrt(D**2 @ motions.linear).max(axis=0, initial=0.0)
        lengths = (motions.offsets + away)[:, None] * carries
        return Reaches(carries, (self._own + motions.above @ lengths) * carries)


@final
class MotionBounds:
    r"""Bounds on how much nearer pairs of solids come between two configurations: the smaller one of two.

    Along the joints,

    .. math:: m = \sum_k |v_k| + |\omega_k|\, r_k

    over the joints k that carry one of the two solids and not the other. The motion of a joint is :math:`v_k, \omega_k`
    at its origin, and :math:`r_k` is a bound on the distance from there to the farthest point of the solid: the lengths
    of the links between, the ways of joints that slide, and the ball around the solid.

    In the world, the sum over both solids, each by the same :math:`m_i` over all joints that carry it, of

    .. math:: |\Delta c| + \|\Delta R\|_2\, \rho + m_i(\text{bends}) + \tfrac14 \Omega\, m_i, \quad
              \Omega = \sum_k |\omega_k|

    with the center c, the radius :math:`\rho` and the rotation R of its ball at both ends: what joints do against each
    other falls out. With constant rates of the joints the acceleration of a point is at most
    :math:`2 \Omega m_i`, as :math:`\partial^2 p / \partial q_j \partial q_k` is :math:`\omega_j \times` the motion by
    the joint k above it, so that it strays from the straight way by an eighth of that.

    Source: F. Schwarzer, M. Saha, J.-C. Latombe, Adaptive dynamic collision checking for single and multiple
    articulated robots in complex environments, IEEE Transactions on Robotics 21 (2005), for the first.

    Args:
        carried: the solids.
        pairs: of them.
        reaches: what joints do to them on the way.
    """

    def __init__(self, carried: CarriedSolids, pairs: Iterable[IndexPair], reaches: Reaches) -> None:
        self._motions, self._carried, self._of_solids = carried.motions, carried, reaches
        self._pairs = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)

    @cached_property
    def _of_pairs(self) -> Reaches:
        one, other = self._pairs.T
        carries, reaches = self._of_solids
        alone = carries[:, one] != carries[:, other]
        return Reaches(alone.astype(np.float64), alone * (reaches[:, one] + reaches[:, other]))

    def _speeds(self, D: Matrix) -> _Speeds:
        squares = D**2
        return _Speeds(np.sqrt(squares @ self._motions.linear), np.sqrt(squares @ self._motions.angular))

    def within(self, D: Matrix) -> Matrix:
        """How much nearer each pair comes (n, pairs) [m], at most, where coordinates move by at most D (n, nv)."""
        return self._of_pairs.way(self._speeds(D))

    def between(self, D: Matrix, bends: Matrix, balls: Matrix) -> Matrix:
        """How much nearer each pair comes between neighbours of a row (n, k, pairs) [m], at most.

        Args:
            D: what each coordinate of the tangent moves by (n, k, nv), the straight way.
            bends: how far it strays from that at most (n, k, nv).
            balls: where solids are at the neighbours (n, k + 1, solids, 12), as a `Checker` gives it.
        """
        whole, strayed = self._speeds(np.abs(D) + bends), self._speeds(bends)
        carried, solids = self._carried, self._of_solids
        moved = np.diff(balls, axis=1)
        turned = np.sqrt(0.5 * np.einsum("...i,...i->...", moved[..., :9], moved[..., :9]))
        straight = np.sqrt(np.einsum("...i,...i->...", moved[..., 9:], moved[..., 9:])) + turned * carried.radii
        bent = solids.way(strayed) + 0.25 * (whole.angular @ solids.moves) * solids.way(whole)
        in_world, (one, other) = straight + carried.unheld + bent, self._pairs.T
        return np.minimum(self._of_pairs.way(whole), in_world[..., one] + in_world[..., other])
