r"""Bounds of how frames move and how their Jacobians change, by lengths alone: they hold wherever the joints are.

A joint i moves what it carries by a turn about itself, so by at most its lever: the lengths of the links between it and
the point. With the columns of `chain_bounds`, each second derivative is a product of two of them, and no longer than
the product of their lengths: of a matrix of such products the largest singular value is a bound of

.. math:: |H(w, u)|, \qquad H(w, u) = \sum_{jk} w_j u_k\, \partial_j J_k, \quad |w| = |u| = 1

Coordinates of slides, and places of bodies, add to lengths: they are taken as they are on some configurations, and
`AROUND` more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector

from ...errors import NoEnclosureError
from ...robot import Frame, Robot
from ..enclosures.interval import lengths, rounded_up
from .joint_chains import Chains

AROUND = 0.2
"""How far coordinates may be from those whose lengths are taken [rad, m]."""


class Norms(NamedTuple):
    """Of a Jacobian along motions of bodies: bounds, wherever the joints are.

    Attributes:
        slope: of |J u|, u of length 1.
        bend: of |H(w, u)|.
        even: of half of |H(w, u) + H(u, w)|.
    """

    slope: float
    bend: float
    even: float

    @staticmethod
    def of(columns: Vector, products: Matrix) -> Norms:
        """Of columns no longer than these (nv,), and second derivatives no longer than these (nv, nv)."""
        bend, even = (np.linalg.norm(each, 2) for each in (products, 0.5 * (products + products.T)))
        return Norms(*(float(rounded_up(each)) for each in (lengths(columns), bend, even)))

    def beside(self, other: Norms) -> Norms:
        """Of the rows of both."""
        return Norms(*(float(rounded_up(np.hypot(a, b))) for a, b in zip(self, other, strict=True)))


class Levers(NamedTuple):
    """Lengths of the columns of frames b seen from frame a.

    Attributes:
        linear, angular: (n, nv) of the velocities of their origins, and of their angular velocities.
        first, second: as of `Chains` (n, nv, nv).
        whole: sum of all lengths of the robot.
    """

    linear: Vector
    angular: Vector
    first: Matrix
    second: Matrix
    whole: float

    @staticmethod
    def between(robot: Robot, a: Frame, b: Sequence[Frame], Q: Matrix, moving: BoolVector) -> Levers:
        """Of frames near configurations.

        Args:
            robot: the robot.
            a, b: frames.
            Q: configurations (n, nq).
            moving: (nv,) columns that are not held.

        Raises:
            NoEnclosureError: the robot has an ellipsoid joint.
        """
        tree = robot.space.elementary
        if not tree.is_exact:
            raise NoEnclosureError(f"robot {robot.name}", "it has an ellipsoid joint, whose motions have no levers")
        (S, joints), most = tree.subspaces, np.abs(Q).max(axis=0) + AROUND
        steps, sliding = np.array(tree.steps), np.abs(S[:3]).any(axis=0)
        for i in np.unique(joints[sliding]).tolist():
            joint = tree.model.joints[i]
            slides = float(np.linalg.norm(S[:3, joints == i], 2))
            steps[i] += slides * float(lengths(most[joint.idx_q : joint.idx_q + joint.nq]))
        chains = Chains.between(tree, tree.joints[a.joint], tuple(tree.joints[frame.joint] for frame in b))
        near_b, near_a = chains.near_b * steps, chains.near_a * steps
        ends = np.array([float(lengths(frame.placement.translation)) for frame in b])[:, None]
        below = near_b @ tree.carries.T - near_b  # on the chain, behind a joint near b
        above = near_a @ tree.carries + near_b.sum(axis=1, keepdims=True)
        arms = (chains.near_b * below + chains.near_a * above + ends)[:, joints]
        angular = np.abs(chains.signs) * moving * lengths(S[3:].T)
        linear = np.abs(chains.signs) * moving * lengths(S[:3].T) + angular * arms
        whole = float(steps.sum() + ends.max() + lengths(a.placement.translation))
        return Levers(rounded_up(linear), rounded_up(angular), chains.first, chains.second, whole)

    def place(self, shares: Vector) -> Norms:
        """Of the mean of the origins, in the axes of a; shares (n,) are not negative."""
        each = self.linear[:, :, None] * self.angular[:, None, :]
        products = self.first * each + self.second * np.swapaxes(each, 1, 2)
        return Norms.of(shares @ self.linear, np.tensordot(shares, products, 1))

    @property
    def _turns(self) -> Matrix:
        angular: Vector = self.angular[0]
        return np.outer(angular, angular)

    @property
    def turn(self) -> Norms:
        """Of the angular velocity of the first frame, in its own axes."""
        return Norms.of(self.angular[0], self.second[0] * self._turns)

    @property
    def direction(self) -> Norms:
        """Of a direction of the first frame, in the axes of a."""
        return Norms.of(self.angular[0], (self.first[0] + self.second[0]) * self._turns)

    @property
    def carried(self) -> Norms:
        """Of the velocity of the origin of the first frame, in its own axes."""
        both = np.outer(self.angular[0], self.linear[0])
        return Norms.of(self.linear[0], self.second[0] * (both + both.T))
