"""What acts on a robot besides its actuators and constraints: wrenches on bodies, forces at hinges, springs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import numpy as np

from liegroups.arguments import as_tuple, finite_vector, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.formulas.log_slopes import five_points
from liegroups.frozen import read_only, set_fields

from ...errors import SizeError, WrongObjectError
from ...loops import Axes
from ...loops.contacts import as_axes
from ...robot import Frame, Motion
from ...robot.model.pinocchio import pin
from ...robot.moving_frames import WrenchSlopes, joint_force_slopes
from .hinge_forces import AtHinge, HingeForce, same_cut
from .law import InTime, Law, is_function


class Force(Protocol):
    """Any force on a robot: `ExternalForce`, `HingeForce`, springs, links, joint laws, or your own class.

    A force may also have `at(t)`, the force at a time [s]; `on_bodies(motion)`, pairs of a Frame and the wrench (6,) on
    it, in its axes [N, N m]; and `energy(q)` [J]. `Forces` uses them. A method `generalised_slopes(motion)`, two
    matrices (nv, nv) or None, gives its derivatives by q and v; without it differences are used. They count as exact,
    unless `has_exact_slopes` is False.
    """

    def generalised(self, motion: Motion) -> Vector:
        """Its generalised force (nv,) [N, N m] at a state."""
        ...


@final
@dataclass(frozen=True, eq=False)
class ExternalForce(InTime):
    r"""A wrench on the body that carries a frame, at the origin of that frame.

    Args:
        frame: frame name or Frame.
        wrench: force then moment (6,) [N, N m]; or a function of the state that gives it, f(motion) or f(motion, t).
        axes: LOCAL, those of the frame, or LOCAL_WORLD_ALIGNED, those of the world.

    Raises:
        WrongObjectError: a function with other arguments.
        SizeError, DtypeError, NotFiniteError: an invalid wrench; for a function, when it is called.

    Source: `user_ExtForces` of Robotran, a function of a sensor and the time.
    """

    frame: Frame | str
    wrench: ArrayLike | Callable[..., ArrayLike]
    axes: Axes = Axes.LOCAL

    _law: Law | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Check the numbers."""
        as_axes(self.axes, "an external force")
        given: Any = self.wrench
        if is_function(given):
            set_fields(self, _law=Law.of(given, ("motion",), WRENCH, "a wrench (6,)"))
        else:
            set_fields(self, wrench=read_only(np.array(finite_vector(given, 6, WRENCH))))

    def in_frame(self, motion: Motion) -> tuple[Frame, Vector]:
        """The frame, and the wrench in its axes (6,).

        Raises:
            NoTimeError: it depends on time, and none was given.
        """
        frame = motion.posture.frame(self.frame)
        wrench = np.asarray(self.wrench) if self._law is None else finite_vector(self._law(motion), 6, WRENCH)
        if self.axes is Axes.LOCAL:
            return frame, wrench
        R = motion.posture.placement(frame).rotation
        return frame, np.concatenate([wrench[:3] @ R, wrench[3:] @ R])

    def on_bodies(self, motion: Motion) -> tuple[tuple[Frame, Vector], ...]:
        """The frame it acts on, with the wrench (6,) in its axes."""
        return (self.in_frame(motion),)

    def generalised(self, motion: Motion) -> Vector:
        r"""Joint forces (nv,): :math:`J_f^T w`."""
        frame, wrench = self.in_frame(motion)
        return wrench @ motion.posture.jacobian(frame)

    def generalised_slopes(self, motion: Motion) -> tuple[Matrix, Matrix] | None:
        """Derivatives (nv, nv) of the joint forces by q and v; None with ellipsoid joints, or a function as wrench."""
        if self._law is not None:
            return None
        frame, wrench = self.in_frame(motion)
        by_pose = np.zeros((6, 6))
        if self.axes is not Axes.LOCAL:  # axes that do not turn with the body
            by_pose[:3, 3:], by_pose[3:, 3:] = pin.skew(wrench[:3]), pin.skew(wrench[3:])
        constant = WrenchSlopes(wrench, by_pose, np.zeros((6, 6)))
        return joint_force_slopes(motion, _WORLD, frame, lambda _: constant)


_WORLD = Frame("world", 0)


WRENCH = "wrench of an external force"
"""What it is called in messages."""


def as_external(forces: Iterable[Force]) -> tuple[Force, ...]:
    """What acts, from what a user gave; without what a `HingeForce` with `replace` takes the place of.

    Forces of several, as `Forces` are, are taken apart.

    Raises:
        WrongObjectError: something that has no `generalised(motion)`.
    """
    given = as_tuple(forces, "external forces", "ExternalForce, HingeForce and springs")
    acting: list[Force] = []
    for force in _single(given, "external force"):
        if isinstance(force, HingeForce) and force.replace:
            acting = [f for f in acting if not (isinstance(f, AtHinge) and same_cut(f.closure, force.closure))]
        acting.append(force)
    return tuple(acting)


def _single(given: tuple[Any, ...], what: str) -> Iterator[Force]:
    """Forces one by one, those inside others too."""
    for i, candidate in enumerate(given):
        if isinstance(candidate, type) or not callable(getattr(candidate, "generalised", None)):
            words = "an ExternalForce(frame, wrench), a HingeForce, a spring, or an object with generalised(motion)"
            raise WrongObjectError(f"{what} {i}", words, candidate)
        if hasattr(candidate, "__iter__"):
            yield from _single(tuple(candidate), f"{what} {i}, force")
        else:
            yield candidate


def generalised(forces: Iterable[Force], motion: Motion) -> Vector:
    r"""Generalised force (nv,) of all that acts: for wrenches on bodies the sum of :math:`J_f^T w`.

    Raises:
        SizeError, DtypeError: what one of them gives is not (nv,).
    """
    total = np.zeros(motion.posture.space.nv)
    for i, force in enumerate(forces):
        one = real_numbers(force.generalised(motion), f"generalised force of external force {i}")
        if one.shape != total.shape:
            raise SizeError(f"generalised force of external force {i} ({type(force).__name__})", total.size, one.shape)
        total += one
    return total


def force_slopes(forces: Sequence[Force], motion: Motion) -> tuple[Matrix, Matrix, tuple[str, ...]]:
    """Derivatives (nv, nv) of the generalised force of all that acts, by q and by v.

    And the names of those whose derivatives are no formulas.
    """
    n = motion.v.size
    by_q, by_v = np.zeros((2, n, n))
    rough: list[str] = []
    for i, force in enumerate(forces):
        formulas: Any = getattr(force, "generalised_slopes", None)
        found = None if formulas is None else formulas(motion)
        if found is None or not getattr(force, "has_exact_slopes", True):
            rough.append(f"external force {i} ({type(force).__name__})")
        if found is None:
            found = _by_differences(force, motion)
        by_q += found[0]
        by_v += found[1]
    return by_q, by_v, tuple(rough)


def _by_differences(force: Force, motion: Motion) -> tuple[Matrix, Matrix]:
    space, q, v = motion.posture.space, motion.q, np.array(motion.v)
    by_q, by_v = np.zeros((2, v.size, v.size))
    for i, factor, step in five_points(v.size):
        by_q[:, i] += factor * generalised([force], space.at(space.integrate(q, step), v))
        by_v[:, i] += factor * generalised([force], space.at(q, v + step))
    return by_q, by_v
