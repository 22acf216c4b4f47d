"""What acts on a robot besides its actuators and constraints: wrenches on bodies, forces at hinges, springs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from liegroups.arguments import as_tuple, expect, finite_vector, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ..errors import SizeError, WrongObjectError
from ..loops import Axes
from ..robot import Frame, Motion
from ..robot.pinocchio import pin
from .hinge_forces import AtHinge, HingeForce, same_cut


class Force(Protocol):
    """Anything that acts on a robot: `ExternalForce`, `HingeForce`, `HingeSpring`, `PointSpring`, or one's own.

    With a method `generalised_slopes(motion)`, two matrices (nv, nv) or None, derivatives of dynamics know by formulas
    what it changes by with q and v; without it, by differences.
    """

    def generalised(self, motion: Motion) -> Vector:
        """Its generalised force (nv,) [N, N m] at a state."""
        ...


@final
@dataclass(frozen=True, eq=False)
class ExternalForce:
    r"""A wrench on the body that carries a frame, at the origin of that frame.

    Args:
        frame: frame name or Frame.
        wrench: force then moment (6,) [N, N m].
        axes: LOCAL, those of the frame, or LOCAL_WORLD_ALIGNED, those of the world.
    """

    frame: Frame | str
    wrench: ArrayLike
    axes: Axes = Axes.LOCAL

    def __post_init__(self) -> None:
        """Check the numbers."""
        expect(self.axes, Axes, "axes of an external force", "Axes.LOCAL or Axes.LOCAL_WORLD_ALIGNED")
        set_fields(self, wrench=read_only(np.array(finite_vector(self.wrench, 6, "wrench of an external force"))))

    def in_frame(self, motion: Motion) -> tuple[Frame, Vector]:
        """The frame, and the wrench in its axes (6,)."""
        frame, wrench = motion.posture.frame(self.frame), np.asarray(self.wrench)
        if self.axes is Axes.LOCAL:
            return frame, wrench
        R = motion.posture.placement(frame).rotation
        return frame, np.concatenate([wrench[:3] @ R, wrench[3:] @ R])

    def generalised(self, motion: Motion) -> Vector:
        r"""Joint forces (nv,): :math:`J_f^T w`."""
        frame, wrench = self.in_frame(motion)
        return wrench @ motion.posture.jacobian(frame)

    def generalised_slopes(self, motion: Motion) -> tuple[Matrix, Matrix] | None:
        """Derivatives (nv, nv) of the joint forces by q and by v; None on robots with ellipsoid joints."""
        posture = motion.posture
        frame, wrench = self.in_frame(motion)
        tree, n = posture.space.elementary, motion.v.size
        if not tree.is_exact:
            return None
        k = posture.with_jacobians()
        seen: Any = pin.Force(wrench)
        by_q = tree.wrench_slope(k.world_jacobian, _WORLD, frame, posture.placement(frame).act(seen).vector)
        if self.axes is not Axes.LOCAL:
            J = posture.jacobian(frame)
            by_q += J.T @ np.vstack([pin.skew(wrench[:3]), pin.skew(wrench[3:])]) @ J[3:]
        return by_q, np.zeros((n, n))


_WORLD = Frame("world", 0)


def as_external(forces: Iterable[Force]) -> tuple[Force, ...]:
    """What acts, from what a user gave; without what a `HingeForce` with `replace` takes the place of.

    Raises:
        WrongObjectError: something that has no `generalised(motion)`.
    """
    given = as_tuple(forces, "external forces", "ExternalForce, HingeForce and springs")
    acting: list[Force] = []
    for i, force in enumerate(given):
        candidate: Any = force
        if isinstance(candidate, type) or not callable(getattr(candidate, "generalised", None)):
            words = "an ExternalForce(frame, wrench), a HingeForce, a spring, or what has generalised(motion)"
            raise WrongObjectError(f"external force {i}", words, candidate)
        if isinstance(force, HingeForce) and force.replace:
            acting = [f for f in acting if not (isinstance(f, AtHinge) and same_cut(f.closure, force.closure))]
        acting.append(force)
    return tuple(acting)


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
