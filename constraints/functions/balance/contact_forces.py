"""Contact forces of least squares, and the wrench that they leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from liegroups import Rn
from liegroups.arguments import as_tolerance, finite_number, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...errors import OptionError, SizeError
from ...point import Point
from ...robot import Robot
from ...robot.posture import Kinematics
from ..affine import Affine
from ..frames.frame_function import kinematics_at
from ..function import Function
from .grasp import GraspFunction, pseudo_inverse
from .support import Support


class Shared(NamedTuple):
    r"""Forces at one point, and what they change by.

    Attributes:
        forces: :math:`S^{-1} x` (n,), in parts of the weight: those of `ContactForces.wrenches`.
        missing: b - G x (6,).
        by_q, missing_by_q: (n, nv), (6, nv); None where only values are asked for.
    """

    forces: Vector
    missing: Vector
    by_q: Matrix | None = None
    missing_by_q: Matrix | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ContactForces(GraspFunction):
    r"""The smallest contact forces that hold a robot at rest, and the part of the wrench that is missing.

    With G the wrenches about the centre of mass of unit forces at the points (`Support`), :math:`b = (u, 0)` the wrench
    against gravity, u unit and upwards, and S the roots of the shares,

    .. math:: x = S\,(G S)^+\, b = \arg\min \|S^{-1} x\|^2 \;\text{of those with the least}\; |b - G\,x|, \qquad
        f(q) = (x,\; b - G\,x) \in \mathbb{R}^{n + 6}

    A point without friction has one force, along its normal; one with friction has three, in the axes of its frame.
    Forces are as they come: a negative one pulls. For a robot that stands, ask for no missing wrench and for forces
    that push, `Implicit(f, lower=[0] * n + [0] * 6, upper=[inf] * n + [0] * 6)`, or, of points with friction, for
    forces in their pyramids, `Implicit.below(f.pyramids)` and `Implicit.zero(f[n:n + 6])`. That is enough, but not
    necessary: `StaticStability` takes all forces that there are.

    The Jacobian is that of a pseudo-inverse. It is exact where the rank of G stays the same: three points with friction
    that are not on a line reach all wrenches. Normals that are all parallel reach three, and more as soon as one
    tilts, where forces jump; with damping d the inverse is :math:`(G S)^T (G S S G^T + d^2)^{-1}`, smooth everywhere,
    and leaves parts of about :math:`d^2` missing.

    Args:
        robot: the robot.
        supports: what it leans on, a Support or several.
        shares: a positive number for each support, how much it is to carry beside the others; all alike by default.
            The forces are in these proportions as far as the balance of moments lets them.
        damping: d, 0 by default.
        joints: names of the joints whose bodies are carried; all by default. Bodies welded to the world are not.
        subtrees: names of joints whose whole sub-trees are carried, instead of `joints`.
        length: L [m], how much moments count beside forces.
        name: name in messages.

    Shapes:
        value (n + 6,): forces over weight, by support and point; then force over weight and moment about the centre of
            mass over weight times length, in the axes of the world.
        jacobian (n + 6, nv).

    Raises:
        UnknownJointError: lists the names that come closest.
        ModelError: bodies without mass, a model without gravity, a frame of another robot.
        OptionError: a length or a share that is not positive.
        SizeError, ToleranceError, WrongObjectError: what is wrong with the others.

    Source: `StaticStability` of hpp-constraints, which changes negative forces; Golub and Pereyra, The differentiation
    of pseudo-inverses, for the Jacobian.
    """

    robot: Robot
    supports: Support | Sequence[Support]
    shares: ArrayLike | None = None
    damping: float = 0.0
    joints: Sequence[str] | None = field(default=None, kw_only=True)
    subtrees: Sequence[str] | None = field(default=None, kw_only=True)
    length: float = field(default=1.0, kw_only=True)
    name: str = field(default="", kw_only=True)

    _needed: Vector = field(init=False)
    _roots: Vector = field(init=False)

    def __post_init__(self) -> None:
        robot = self.lean(self.joints, self.subtrees)
        axes = (np.eye(3) if each.friction else np.asarray(each.normal)[None, :] for each in self._standing)
        wrenches = tuple(support.columns(each) for support, each in zip(self._standing, axes, strict=True))
        shares, damping = _shares(self.shares, len(wrenches), type(self).__name__), f"damping of {type(self).__name__}"
        wrenches = tuple(np.sqrt(s) * each for each, s in zip(wrenches, shares, strict=True))
        roots = np.sqrt(np.repeat(shares, [each.shape[1] for each in wrenches]))
        set_fields(
            self,
            shares=None if self.shares is None else read_only(shares),
            damping=as_tolerance(finite_number(self.damping, damping), damping),
            _needed=read_only(np.concatenate([self.up, np.zeros(3)])),
            _roots=read_only(roots),
        )
        self.declare(robot.space, Rn(roots.size + 6), self.lean_on(wrenches), periodic=True, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        found = self.shared(kinematics_at(point, jacobian, self._last), slopes=jacobian is not None)
        n = found.forces.size
        value[:n], value[n:] = self._roots * found.forces, found.missing
        if jacobian is not None and found.by_q is not None:
            jacobian[:n], jacobian[n:] = self._roots[:, None] * found.by_q, found.missing_by_q

    @property
    def pyramids(self) -> Function:
        """The function of rows that are at most 0 where the force on each point is in its pyramid of friction."""
        rows = np.zeros((0, self.outputs.nv))
        for support, s in zip(self._standing, self.slices, strict=True):
            limits = support.cone.rows if support.friction else -np.eye(1)
            n = limits.shape[1]
            for start in range(s.start, s.stop, n):
                own = np.zeros((len(limits), self.outputs.nv))
                own[:, start : start + n] = limits
                rows = np.concatenate([rows, own])
        return Affine(rows, name=f"pyramids of {self.name}") @ self

    def shared(self, k: Kinematics, *, slopes: bool) -> Shared:
        """The forces at a point.

        Args:
            k: its kinematics, with Jacobians for slopes.
            slopes: whether to say what they change by.
        """
        grasp, d, b = self.grasp(k, slopes=slopes), self.damping, self._needed
        H = grasp.matrix
        span: Matrix | None = None
        damped: Any = None
        if d:
            damped = np.linalg.solve(H @ H.T + d * d * np.eye(6), np.column_stack([b, H]))
            inverse = damped[:, 1:].T
        else:
            inverse, span = pseudo_inverse(H)
        x: Vector = inverse.dot(b)
        missing = b - H.dot(x)
        if not slopes:
            return Shared(x, missing)
        y: Vector = damped[:, 0] if d else inverse.T.dot(x)
        moved, turned = self.moved(grasp, x), self.pulled(grasp, y)
        change = turned - inverse.dot(moved + H.dot(turned))
        if span is not None:
            change += inverse.dot(inverse.T.dot(self.pulled(grasp, missing)))
        return Shared(x, missing, change, -moved - H.dot(change))


def _shares(given: ArrayLike | None, supports: int, who: str) -> Vector:
    if given is None:
        return np.ones(supports)
    shares = np.array(real_numbers(given, f"shares of {who}", finite=True))
    if shares.shape != (supports,):
        raise SizeError(f"shares of {who}", (supports,), shares.shape)
    if (shares <= 0.0).any():
        raise OptionError(
            f"shares of {who}: expected positive numbers, got {shares.min():g}; leave out what carries none"
        )
    return shares
