"""Forces on the free coordinates of a cut hinge: equal and opposite wrenches on the two bodies of a closure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liegroups import Space
from liegroups.arguments import as_flag, expect
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields

from ...errors import RobotMismatchError
from ...loops import Closure, HingeKind
from ...loops.hinges.hinge_fit import RateSlopes, fitted, rate_matrix, rate_slopes
from ...robot import Motion, Posture
from .frame_links import BetweenFrames, on_other, seen_pose
from .on_function import ByLaw

CLOSURE = "a Closure (a cut joint with a hinge)"
"""What the closure of a hinge force is, in messages."""


@final
@dataclass(frozen=True, eq=False)
class HingeMaps:
    r"""The linear maps from a generalised force T at a cut hinge to wrenches and joint forces, as functions of q.

    With :math:`\theta` the coordinates of the hinge that is fitted to the closure, and :math:`\nu` the body twist of
    the successor relative to the predecessor, in the successor's axes,

    .. math:: \dot\theta = F\,\nu, \qquad w_s = F^T T, \qquad w_p = -\,{}^pX_s^*\,F^T T

    so that T has the power :math:`T^T \dot\theta`, on open closures too. On closed ones :math:`F S = 1` and
    :math:`S^T w_s = T`, with S the motion subspace of the hinge. A wrench is in the axes and at the origin of its own
    frame: force, then moment.

    Args:
        closure: a `Closure`.

    Source: `constraintSpForceTToTarget` (target: the successor) and `constraintSpForceTToSource` of Karana kdFlex.
    """

    closure: Closure

    def __post_init__(self) -> None:
        """Check the closure."""
        expect(self.closure, Closure, "closure of hinge maps", CLOSURE)

    @property
    def dofs(self) -> int:
        """Size of T: degrees of freedom of the hinge."""
        return self.closure.hinge.dofs

    def successor(self, q: ArrayLike) -> Matrix:
        """Wrench on the successor (6, dofs), in its frame, for a unit T of each coordinate [N, N m]."""
        return np.array(rate_matrix(self.closure.hinge, self.closure.pose(q)).T)

    def predecessor(self, q: ArrayLike) -> Matrix:
        """Wrench on the predecessor (6, dofs), in its frame, for a unit T of each coordinate: the opposite one."""
        pose = self.closure.pose(q)
        return -on_other(pose, rate_matrix(self.closure.hinge, pose).T)

    def rates(self, q: ArrayLike) -> Matrix:
        r"""Rates of the hinge (dofs, nv) by joint velocities, :math:`\dot\theta = J_h v`; its transpose maps T to tau.

        The transpose has the columns of an actuation matrix with forces T.
        """
        return relative_jacobian(self.closure, self.closure.robot.at(q))

    def subspace(self, q: ArrayLike) -> Matrix:
        """Motion subspace S (6, dofs) of the hinge at its fitted coordinates, moved to the successor's frame."""
        return motion_subspace(self.closure, self.closure.pose(q))


class AtHinge(BetweenFrames):
    """A force T on the free coordinates of a closure.

    Attributes:
        closure: the closure.
    """

    closure: Closure

    @final
    def hinge_force(self, motion: Motion) -> Vector:
        """T (dofs,) [N, N m] at a state.

        Raises:
            NoTimeError: it depends on time, and none was given.
        """
        return self.force_at(motion)

    @property
    def _values(self) -> Space:
        return self.closure.hinge.space

    def _coordinates(self, pose: Any) -> Vector:
        """Those of the hinge that fits."""
        still = np.zeros(6)
        return fitted(self.closure.hinge, pose, still, still).coordinates

    def _rows(self, pose: Any, twist: Vector) -> Matrix:
        """As `rate_matrix`."""
        return rate_matrix(self.closure.hinge, pose)

    def _row_slopes(self, pose: Any, twist: Vector, force: Vector) -> RateSlopes:
        """As `rate_slopes`."""
        return rate_slopes(self.closure.hinge, pose, twist, force)

    @property
    def has_exact_slopes(self) -> bool:
        """Whether `generalised_slopes` is a formula: not for custom hinges, which are fitted by Newton."""
        return self.closure.hinge.kind is not HingeKind.CUSTOM

    @final
    def on_successor(self, motion: Motion) -> Vector:
        """Wrench (6,) on the successor, in its frame."""
        return self.on_bodies(motion)[0][1]

    @final
    def on_predecessor(self, motion: Motion) -> Vector:
        """Wrench (6,) on the predecessor, in its frame: the opposite of that on the successor."""
        return self.on_bodies(motion)[1][1]


@final
@dataclass(frozen=True, eq=False)
class HingeForce(ByLaw, AtHinge):
    r"""A generalised force at a cut hinge, given on its free coordinates.

    The force of a cut joint is not in the equations of the tree: it acts as equal and opposite wrenches on the two
    bodies (`HingeMaps`). Several forces on one closure add; one with `replace` replaces the forces and springs of that
    closure that come before it in `external=`.

    Args:
        closure: a `Closure`.
        force: T (dofs,) [N along sliders, N m about pins], in the order of the hinge's rates; a plain number for one.
            Or a function that returns it, f(coordinates, rates) or f(coordinates, rates, t), of the hinge fitted to the
            closure: plain numbers if the hinge has one coordinate, else arrays.
        replace: whether it replaces those before it.
        potential: E(coordinates) [J], for `energy`, if the force has one.

    Raises:
        WrongObjectError: not a `Closure`; a function with other arguments.
        SizeError, DtypeError, NotFiniteError: an invalid T; for a function, when it is called.

    Source: `spExternalForceFromT` of Karana kdFlex (`no_accumulate` is `replace`).
    """

    closure: Closure
    force: ArrayLike | Callable[..., ArrayLike]
    replace: bool = False
    potential: Callable[..., float] | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        closure = expect(self.closure, Closure, "closure of a hinge force", CLOSURE)
        set_fields(self, replace=as_flag(self.replace, "replace of a hinge force"))
        names = ("coordinates", "rates")
        self._take(closure.function, self.force, self.potential, names, what=self._what, numbers=True)
        if self._law is None:
            set_fields(self, force=self._constant)

    def _coordinates(self, pose: Any) -> Vector:
        """Numbers look at none: the hinge is not fitted for them."""
        asked = self._law is not None or self._potential is not None
        return super()._coordinates(pose) if asked else self._values.neutral

    @property
    def _what(self) -> str:
        return f"force at the hinge of '{self.closure.name}'"


def check_robot(closure: Closure, motion: Motion) -> None:
    """Refuse a state of another robot."""
    if not closure.robot.space.same_robot(motion.posture.space):
        raise RobotMismatchError(f"'{closure.name}' is on another robot than the motion")


def same_cut(one: Closure, other: Closure) -> bool:
    """Whether two closures are one cut: the same frames and the same hinge, whatever their names."""
    if one is other:
        return True
    frames = ((one.predecessor, other.predecessor), (one.successor, other.successor))
    steps, others = one.hinge.subhinges, other.hinge.subhinges
    return (
        one.hinge.kind is other.hinge.kind
        and all(a.joint == b.joint and a.placement == b.placement for a, b in frames)
        and len(steps) == len(others)
        and all(a.pitch == b.pitch and (a.axis == b.axis).all() for a, b in zip(steps, others, strict=True))
    )


def wrench_at(forces: Iterable[object], closure: Closure, motion: Motion) -> Vector:
    """Wrench (6,) on the successor of a closure, in its frame, of all forces on its free coordinates."""
    total = np.zeros(6)
    for force in forces:
        if isinstance(force, AtHinge) and same_cut(force.closure, closure):
            total += force.on_successor(motion)
    return total


def relative_jacobian(closure: Closure, posture: Posture) -> Matrix:
    """Rates of the fitted hinge by joint velocities (dofs, nv)."""
    pose, J = seen_pose(closure.function, posture)
    return rate_matrix(closure.hinge, pose) @ J


def motion_subspace(closure: Closure, pose: Any) -> Matrix:
    """Motion subspace (6, dofs) of the hinge that fits a pose, moved from its outer frame to the successor's."""
    at = fitted(closure.hinge, pose, np.zeros(6), np.zeros(6)).coordinates
    H, S = closure.hinge.kinematics(at)
    return np.asarray(H.actInv(pose).toActionMatrixInverse() @ S)
