"""Forces on the free coordinates of a cut hinge: equal and opposite wrenches on the two bodies of a closure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from liegroups.arguments import as_flag, expect
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...errors import RobotMismatchError
from ...loops import Closure, HingeKind
from ...loops.hinges.hinge_fit import fitted, rate_matrix, rate_slopes
from ...robot import Frame, Motion, Posture
from ...robot.moving_frames import RelativeFrame, WrenchSlopes, joint_force_slopes
from .law import InTime, Law, is_function, numbers_of, plain
from .on_function import Pull

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
        return -on_predecessor(pose, rate_matrix(self.closure.hinge, pose).T)

    def rates(self, q: ArrayLike) -> Matrix:
        r"""Rates of the hinge (dofs, nv) by joint velocities, :math:`\dot\theta = J_h v`; its transpose maps T to tau.

        The transpose has the columns of an actuation matrix with forces T.
        """
        return relative_jacobian(self.closure, self.closure.robot.at(q))

    def subspace(self, q: ArrayLike) -> Matrix:
        """Motion subspace S (6, dofs) of the hinge at its fitted coordinates, moved to the successor's frame."""
        return motion_subspace(self.closure, self.closure.pose(q))


class AtHinge(ABC):
    """A force T on the free coordinates of a closure.

    Attributes:
        closure: the closure.
    """

    closure: Closure

    @abstractmethod
    def hinge_force(self, motion: Motion) -> Vector:
        """T (dofs,) [N, N m] at a state."""

    @abstractmethod
    def pull(self, coordinates: Vector, rates: Vector) -> Pull | None:
        """T (dofs,) and its derivatives (dofs, dofs) by coordinates (their tangent) and rates; None without formulas.

        Args:
            coordinates: of the hinge fitted to the closure (hinge.space.nq,).
            rates: of them (dofs,).
        """

    @final
    def generalised(self, motion: Motion) -> Vector:
        r"""Joint forces (nv,): :math:`J_h^T T`, the work of equal and opposite wrenches on the two bodies."""
        check_robot(self.closure, motion)
        return self.hinge_force(motion) @ relative_jacobian(self.closure, motion.posture)

    @final
    def generalised_slopes(self, motion: Motion) -> tuple[Matrix, Matrix] | None:
        """Derivatives (nv, nv) of the joint forces by q and v; None if T is a function, or with ellipsoid joints."""
        check_robot(self.closure, motion)
        return joint_force_slopes(motion, self.closure.predecessor, self.closure.successor, self._wrench_slopes)

    def _wrench_slopes(self, seen: RelativeFrame) -> WrenchSlopes | None:
        r"""Of :math:`w = F(X)^T\,T(\theta, F(X)\,\nu)`."""
        hinge = self.closure.hinge
        at = fitted(hinge, seen.pose, seen.twist, np.zeros(6))
        given = self.pull(at.coordinates, at.rates)
        if given is None:
            return None
        T, by_coordinates, by_rates = given
        F, rate, force = rate_slopes(hinge, seen.pose, seen.twist, T)
        return WrenchSlopes(T @ F, force + F.T @ (by_coordinates @ F + by_rates @ rate), F.T @ by_rates @ F)

    @property
    def has_exact_slopes(self) -> bool:
        """Whether `generalised_slopes` is a formula: not for custom hinges, which are fitted by Newton."""
        return self.closure.hinge.kind is not HingeKind.CUSTOM

    @final
    def on_successor(self, motion: Motion) -> Vector:
        """Wrench (6,) on the successor, in its frame."""
        check_robot(self.closure, motion)
        pose = self.closure.function.relative_placement(motion.posture.placed()).copy()
        return self.hinge_force(motion) @ rate_matrix(self.closure.hinge, pose)

    @final
    def on_predecessor(self, motion: Motion) -> Vector:
        """Wrench (6,) on the predecessor, in its frame: the opposite of that on the successor."""
        wrench = self.on_successor(motion)
        pose = self.closure.function.relative_placement(motion.posture.placed())
        return -on_predecessor(pose, wrench)

    @final
    def on_bodies(self, motion: Motion) -> tuple[tuple[Frame, Vector], ...]:
        """Successor and predecessor, each with the wrench (6,) on it, in its axes."""
        here = self.closure
        return (here.successor, self.on_successor(motion)), (here.predecessor, self.on_predecessor(motion))


@final
@dataclass(frozen=True, eq=False)
class HingeForce(InTime, AtHinge):
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

    Raises:
        WrongObjectError: not a `Closure`; a function with other arguments.
        SizeError, DtypeError, NotFiniteError: an invalid T; for a function, when it is called.

    Source: `spExternalForceFromT` of Karana kdFlex (`no_accumulate` is `replace`).
    """

    closure: Closure
    force: ArrayLike | Callable[..., ArrayLike]
    replace: bool = False

    _law: Law | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Check the numbers."""
        closure = expect(self.closure, Closure, "closure of a hinge force", CLOSURE)
        set_fields(self, replace=as_flag(self.replace, "replace of a hinge force"))
        given: Any = self.force
        if is_function(given):
            set_fields(self, _law=Law.of(given, ("coordinates", "rates"), self._what, "a hinge force"))
        else:
            set_fields(self, force=read_only(np.array(numbers_of(given, closure.hinge.dofs, self._what))))

    def hinge_force(self, motion: Motion) -> Vector:
        """T (dofs,) at a state.

        Raises:
            NoTimeError: it depends on time, and none was given.
        """
        law, hinge = self._law, self.closure.hinge
        if law is None:
            return np.asarray(self.force)
        pose, twist, _ = self.closure.function.relative_motion(motion)
        at = fitted(hinge, pose, twist, np.zeros(6))
        return numbers_of(law(*plain(at.coordinates, at.rates)), hinge.dofs, self._what)

    def pull(self, coordinates: Vector, rates: Vector) -> Pull | None:
        """As `AtHinge.pull`; None for a function."""
        if self._law is not None:
            return None
        none = np.zeros((rates.size, rates.size))
        return Pull(np.asarray(self.force), none, none)

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
    pose = closure.function.relative_placement(posture.placed()).copy()
    F = rate_matrix(closure.hinge, pose)
    rates = np.zeros((len(F), posture.space.nv))
    if closure.successor.joint:
        rates += F @ posture.jacobian(closure.successor)
    if closure.predecessor.joint:
        rates -= F @ pose.toActionMatrixInverse() @ posture.jacobian(closure.predecessor)
    return rates


def motion_subspace(closure: Closure, pose: Any) -> Matrix:
    """Motion subspace (6, dofs) of the hinge that fits a pose, moved from its outer frame to the successor's."""
    at = fitted(closure.hinge, pose, np.zeros(6), np.zeros(6)).coordinates
    H, S = closure.hinge.kinematics(at)
    return np.asarray(H.actInv(pose).toActionMatrixInverse() @ S)


def on_predecessor(pose: Any, wrenches: Matrix) -> Matrix:
    """Wrenches (6,) or (6, k) in the successor's frame, moved to that of the predecessor."""
    return np.asarray(pose.toActionMatrixInverse().T @ wrenches)
