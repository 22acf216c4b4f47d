"""Static stability: the wrench that the supports of a robot cannot give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from liegroups import Rn
from liegroups.arrays import ArrayLike, BoolVector, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...errors import UndefinedError
from ...point import Point
from ...robot import Robot
from ..frames.frame_function import kinematics_at
from .grasp import GraspFunction, pseudo_inverse
from .support import Support

INSIDE = 1e-12
"""Part of the weight up to which a missing wrench is none: rounding of the least squares is about 1e-15."""

MOST_STEPS = 30
"""Steps of the least squares, for each of their unknowns."""


@dataclass(frozen=True, eq=False, repr=False)
class StaticStability(GraspFunction):
    r"""The part of the wrench that holds a robot at rest that its supports cannot give: zero where it is stable.

    With G the wrenches about the centre of mass of the edges of all pyramids of friction (`Support`), and
    :math:`b = (u, 0)` the wrench against gravity, u unit and upwards,

    .. math:: f(q) = b - G\,x, \qquad x = \arg\min_{x \ge 0} |b - G\,x| \in \mathbb{R}^n

    Forces are in parts of the weight m g, moments in parts of m g L: a centre of mass a little distance d outside of an
    edge of the ground, h above it, misses :math:`d / \sqrt{L^2 + h^2}`. Without friction these are the normal forces of
    HPP's quadratic program. A margin is one in the supports: points further inside, or less friction.

    With A the columns that carry force, :math:`A^+` their pseudo-inverse and f kept,

    .. math:: J = -(I - A A^+)\,\frac{\partial (A x)}{\partial q} - (A^+)^T \frac{\partial (A^T f)}{\partial q}

    It is exact where each column either carries force or would make things worse (strict complementarity), and inside
    the stable region, where it is zero if the supports reach all wrenches. Elsewhere it is one-sided: it is that of
    motions on which the same columns carry force, and on the border of the region that of the inside. Columns that
    depend on each other count as one where they belong to one frame.

    Args:
        robot: the robot.
        supports: what it leans on, a Support or several.
        joints: names of the joints whose bodies are carried; all by default. Bodies welded to the world are not.
        subtrees: names of joints whose whole sub-trees are carried, instead of `joints`.
        length: L [m], how much moments count beside forces.
        name: name in messages.

    Shapes:
        value (6,): force over weight, then moment about the centre of mass over weight times length, in the axes of
            the world.
        jacobian (6, nv).

    Raises:
        UnknownJointError: lists the names that come closest.
        ModelError: bodies without mass, a model without gravity, a frame of another robot.
        OptionError: a length that is not positive.
        UndefinedError: the least squares do not end.

    Source: `QPStaticStability` of hpp-constraints, which has no friction and whose Jacobian takes strict
    complementarity for granted; Lawson and Hanson, Solving Least Squares Problems (`scipy.optimize.nnls`).

    Example:
        >>> from constraints import Implicit
        >>> from constraints.models import sample_humanoid
        >>> robot = sample_humanoid()
        >>> corners = [[x, y, 0.0] for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
        >>> feet = [Support(robot.frame(f"{side}leg_effector_body"), corners, friction=0.5) for side in "lr"]
        >>> balance = Implicit.zero(StaticStability(robot, feet), name="balance")
    """

    robot: Robot
    supports: Support | Sequence[Support]
    joints: Sequence[str] | None = field(default=None, kw_only=True)
    subtrees: Sequence[str] | None = field(default=None, kw_only=True)
    length: float = field(default=1.0, kw_only=True)
    name: str = field(default="", kw_only=True)

    _needed: Vector = field(init=False)

    def __post_init__(self) -> None:
        robot = self.lean(self.joints, self.subtrees)
        set_fields(self, _needed=read_only(np.concatenate([self.up, np.zeros(3)])))
        columns = self.lean_on(tuple(support.columns(support.cone.rays) for support in self._standing))
        self.declare(robot.space, Rn(6), columns, periodic=True, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self._last)
        grasp = self.grasp(k, slopes=jacobian is not None)
        x = self._least(grasp.matrix)
        missing = self._needed - grasp.matrix @ x
        value[:] = missing
        if jacobian is None:
            return
        inside = bool(np.abs(missing).max() <= INSIDE)
        carrying: BoolVector = np.ones(x.size, dtype=np.bool_) if inside else x > 0.0
        parts = pseudo_inverse(grasp.matrix[:, carrying])
        jacobian[...] = -parts.left(self.moved(grasp, x))
        if not inside:
            jacobian -= parts.inverse.T @ self.pulled(grasp, missing)[carrying]

    def forces(self, q: ArrayLike) -> tuple[Matrix, ...]:
        """Forces (k, 3) on the points of each support that leave the least wrench missing [N], in axes of the world.

        They are not unique where there are many points.

        Args:
            q: configuration (nq,), checked.
        """
        k = kinematics_at(self._point(q), None, self._last)
        grasp = self.grasp(k, slopes=False)
        x = self.weight * self._least(grasp.matrix)
        found: list[Matrix] = []
        for support, oMf, s in zip(self._standing, self.frames(k), self.slices, strict=True):
            rays = support.cone.rays
            found.append(x[s].reshape(-1, len(rays)) @ rays @ oMf.rotation.T)
        return tuple(found)

    def _least(self, G: Matrix) -> Vector:
        """The forces x of least missing wrench."""
        from scipy.optimize import nnls  # 0.1 s to import, only for who asks

        try:
            found: Vector = nnls(G, self._needed, maxiter=MOST_STEPS * G.shape[1])[0]
        except RuntimeError as error:
            raise UndefinedError(f"{self.name}: the least squares of contact forces do not end") from error
        return found
