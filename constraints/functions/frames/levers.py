r"""Bounds of how frames move and how their Jacobians change, by lengths alone: they hold wherever the joints are.

A joint i moves what it carries by a turn about itself, so by at most its lever: the lengths of the links between it and
the point. With the columns of `chain_bounds`, each second derivative is a product of two of them, and no longer than
the product of their lengths: of a matrix of such products the largest singular value is a bound of

.. math:: |H(w, u)|, \qquad H(w, u) = \sum_{jk} w_j u_k\, \partial_j J_k, \quad |w| = |u| = 1

**Along a direction** d, seen from a, columns change by :math:`h_k \ge |\sum_j d_j\, \partial_j\, lin_k|`,

.. math:: h_k = lin_k\, \varphi_k + ang_k \sum_{j \succeq k} |d_j|\, lin_j, \qquad
    \varphi_k = \sum_{j \prec k} |d_j|\, ang_j

where :math:`j \prec k` says that j is the first one. Once more, :math:`\partial_i` turns all of a product of columns if
i is the first of all of them. Else one of them is the first one and stays, and the other one changes: with
:math:`|\partial_i\, lin_k| \le p_{ki}`,

.. math:: |\partial_i (ang_j \times lin_k)| \le ang_j\, p_{ki} \ (j \prec k), \qquad
    |\partial_i (ang_k \times lin_j)| \le ang_k\, p_{ji} \ (j \succeq k)

in the first case too, as then i is the first one of k and i, or of j and i. So what they change by a second time is the
same map of h. In the axes of b, :math:`\partial_j Y_k = [Y_k, Y_j]` of twists Y where k is the first one, else 0, and
once more the same of each; where both change, :math:`[[Y_k, Y_i], Y_j] + [Y_k, [Y_j, Y_i]] = [[Y_k, Y_j], Y_i]`.

Coordinates of slides, and places of bodies, add to lengths: they are taken as they are on some configurations, and
`AROUND` more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        on = np.flatnonzero(products.any(axis=0) | products.any(axis=1))
        curved = products[np.ix_(on, on)]
        bend, even = (np.linalg.norm(each, 2) for each in (curved, 0.5 * (curved + curved.T)))
        return Norms(*(float(rounded_up(each)) for each in (lengths(columns), bend, even)))

    def beside(self, other: Norms) -> Norms:
        """Of the rows of both."""
        return Norms(*(float(rounded_up(np.hypot(a, b))) for a, b in zip(self, other, strict=True)))


class NormsAlong(NamedTuple):
    """Of a Jacobian where its configuration moves along d: bounds (n,) wherever the joints are, of several d.

    Attributes:
        size: of |J|; one number.
        way: of |J d|.
        slope, turn: of |H(d, .)| and |H(d, d)|.
        bend, bow: of what these change by along d: as a norm of matrices, and along d.
    """

    size: float
    way: Vector
    slope: Vector
    turn: Vector
    bend: Vector
    bow: Vector

    @staticmethod
    def of(d: Matrix, columns: Vector, first: Matrix, second: Matrix) -> NormsAlong:
        """Of the lengths of columns (nv,), and of what they change by along d (n, nv), once and once more."""
        along = (x for each in (first, second) for x in (lengths(each), (d * each).sum(axis=1)))
        return NormsAlong(*(rounded_up(each) for each in (float(lengths(columns)), d @ columns, *along)))


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

    def place_along(self, shares: Vector) -> Callable[[Matrix], NormsAlong]:
        """As `place`, of several |d| (n, nv)."""
        columns, angular = shares @ self.linear, self.angular.max(axis=0)
        first, second = self.first.max(axis=0).T, self.second.max(axis=0).T

        def along(d: Matrix) -> NormsAlong:
            turned = (d * angular) @ first
            once = columns * turned + angular * ((d * columns) @ second)
            return NormsAlong.of(d, columns, once, once * turned + angular * ((d * once) @ second))

        return along

    def direction_along(self, d: Matrix) -> NormsAlong:
        """As `direction`, of several |d| (n, nv)."""
        angular = self.angular[0]
        turned = (d * angular) @ (self.first[0] + self.second[0]).T
        return NormsAlong.of(d, angular, angular * turned, angular * turned**2)

    def twist_along(self, d: Matrix, whole: bool) -> NormsAlong:
        """As `turn`, or, of the whole twist, as `carried` beside it, of several |d| (n, nv)."""
        linear, angular = whole * self.linear[0], self.angular[0]
        turned, moved = (d * angular) @ self.second[0].T, (d * linear) @ self.second[0].T
        once, by_turns = linear * turned + angular * moved, angular * turned
        twice = once * turned + by_turns * moved
        pairs = (linear, angular), (once, by_turns), (twice, by_turns * turned)
        return NormsAlong.of(d, *(np.hypot(*pair) for pair in pairs))
