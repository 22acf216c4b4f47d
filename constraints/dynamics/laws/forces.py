"""All that acts on a robot as one value: laws of links, hinges, joints and of the outside, summed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liegroups.arguments import as_tuple, finite_number
from liegroups.arrays import ArrayLike, Matrix, TangentLike, Vector
from liegroups.frozen import set_fields

from ...errors import RobotMismatchError, UnknownNameError
from ...loops import Axes
from ...loops.contacts import as_axes
from ...robot import Frame, Motion, Robot
from ...robot.arguments import as_robot
from ...robot.model.pinocchio import pin
from .external_force import Force, as_external, generalised
from .hinge_forces import AtHinge
from .law import NoEnergyError

WORLD = 0
"""Index of the world among the bodies."""


@final
@dataclass(frozen=True, eq=False)
class BodyForces:
    r"""Forces and moments on each body, and forces on each joint, at a state.

    Forces and moments of a body are about its centre of mass (of everything fixed on its joint); those on the world,
    the reactions of links to it, are about its origin. With J the Jacobians of these points, :math:`\tau = \tau_q +
    \sum_i (J_{v,i}^T f_i + J_{\omega,i}^T m_i)`.

    Attributes:
        bodies: names of the joints that carry them, "universe" for the world first.
        forces: (n, 3) [N]; `frc` of Robotran, whose axes are LOCAL.
        moments: (n, 3) [N m]; `trq` of Robotran.
        joint_forces: (nv,) [N, N m], from laws on coordinates, and from your own laws without wrenches; `Qq` of
            Robotran.
        axes: of forces and moments: LOCAL, those of the bodies, or LOCAL_WORLD_ALIGNED.
    """

    bodies: tuple[str, ...]
    forces: Matrix
    moments: Matrix
    joint_forces: Vector
    axes: Axes

    def of(self, body: str) -> Vector:
        """Force then moment (6,) on the body that a joint carries.

        Raises:
            UnknownNameError: lists the bodies whose names come closest.
        """
        if body not in self.bodies:
            raise UnknownNameError("body", str(body), self.bodies)
        i = self.bodies.index(body)
        return np.concatenate([self.forces[i], self.moments[i]])

    def __str__(self) -> str:
        lines = [f"forces [N] and moments [N m] by body, axes {self.axes.name}"]
        for name, *numbers in zip(self.bodies, self.forces, self.moments, strict=True):
            said = ("[" + ", ".join(f"{x:.6g}" for x in vector) + "]" for vector in numbers)
            lines.append(f"  {name}: {', '.join(said)}")
        return "\n".join(lines)


@final
@dataclass(frozen=True, eq=False)
class Forces:
    r"""All forces that act on a robot besides its constraints, summed into one force.

    .. math:: \tau(q, v, t) = \sum_k \tau_k(q, v, t)

    Called as a function it gives the generalised force. It may be given to `external=` of the dynamics, like any other
    force; laws that depend on time then need `forces.at(t)`. In `forces=` of `simulate` the time is known.

    Args:
        robot: the robot.
        laws: a sequence of `ExternalForce`, `HingeForce`, springs, links, joint laws, other `Forces`, or your own
            objects with `generalised(motion)`. A `HingeForce` with `replace` replaces those of its closure before it.

    Raises:
        WrongObjectError: something that has no `generalised(motion)`.
        RobotMismatchError: a law of another robot.

    Example:
        >>> from constraints.dynamics import Forces, JointLaw, PointSpring
        >>> from constraints.models import sample_two_arms
        >>> robot = sample_two_arms()
        >>> hands = PointSpring(robot, "left_tool", "right_tool", stiffness=50.0)
        >>> motor = JointLaw(robot, robot.joint_names[0], lambda q, v, t: 3.0 * t)
        >>> forces = Forces(robot, [hands, motor])
        >>> q, v = robot.neutral, [0.0] * robot.nv
        >>> float((forces(q, v, 2.0) - forces(q, v, 0.0)).max())
        6.0

    Source: `mbs_calc_force` of Robotran.
    """

    robot: Robot
    laws: Iterable[Force] = ()

    def __post_init__(self) -> None:
        """Check everything once."""
        robot = as_robot(self.robot, "robot of forces")
        given = as_tuple(self.laws, "laws of forces", "ExternalForce, HingeForce, springs, links and joint laws")
        laws = as_external(given)
        for i, law in enumerate(given):
            own = robot_of(law)
            if own is not None and not own.space.same_robot(robot.space):
                raise RobotMismatchError(f"force {i} ({type(law).__name__}) is on another robot, {own.name}")
        set_fields(self, robot=robot, laws=laws)

    def __iter__(self) -> Iterator[Force]:
        """The laws one by one."""
        return iter(self.laws)

    def __len__(self) -> int:
        """How many laws there are."""
        return len(tuple(self.laws))

    def __call__(self, q: ArrayLike, v: TangentLike, t: float | None = None) -> Vector:
        """Generalised force (nv,) [N, N m] at q (nq,), v (nv,) and time t [s].

        Raises:
            NoTimeError: a law depends on the time, and none was given.
        """
        acting = self if t is None else self.at(t)
        return acting.generalised(self.robot.at(q, v))

    def at(self, t: float) -> Forces:
        """The same forces at time t [s]: each law that has `at(t)` is replaced by its result."""
        return self._each("at", finite_number(t, "time of forces"))

    def under(self, holds: object) -> Forces:
        """The same forces while a constraint set holds: each law that has `under(set)` is replaced by its result."""
        return self._each("under", holds)

    def _each(self, method: str, known: object) -> Forces:
        """The same with what a method of the laws makes of each law that has it; itself where none has."""
        made: list[Any] = [getattr(law, method, None) for law in self.laws]
        if not any(map(callable, made)):
            return self
        other = copy(self)
        set_fields(other, laws=tuple(f(known) if callable(f) else law for f, law in zip(made, self.laws, strict=True)))
        return other

    def generalised(self, motion: Motion) -> Vector:
        """Generalised force (nv,) [N, N m] at a state: the sum of all.

        Raises:
            RobotMismatchError: the motion is of another robot.
            NoTimeError: a law depends on time, and none was given.
            SizeError, DtypeError: the result of a law is not (nv,).
        """
        self._check(motion)
        return generalised(self.laws, motion)

    def energy(self, q: ArrayLike) -> float:
        """Potential energy at q (nq,) [J]: the sum of all.

        Raises:
            NoEnergyError: a law has no potential energy; names it.
        """
        total, at = 0.0, self.robot.check(q)
        for i, law in enumerate(self.laws):
            own: Any = getattr(law, "energy", None)
            if not callable(own):
                raise NoEnergyError(f"force {i} ({type(law).__name__})", "build `Forces` from the laws that have one")
            given: Any = own(at)
            total += finite_number(given, f"energy of force {i} ({type(law).__name__})")
        return total

    def on_bodies(self, motion: Motion, axes: Axes = Axes.LOCAL_WORLD_ALIGNED) -> BodyForces:
        """Forces and moments on each body at a state, and forces on joints.

        Args:
            motion: the state.
            axes: LOCAL_WORLD_ALIGNED, those of the world (the inertial frame), or LOCAL, those of each body.

        Raises:
            RobotMismatchError, NoTimeError: as in `generalised`.

        Source: `frc`, `trq`, `Qq` of Robotran, which are in the axes of the bodies.
        """
        as_axes(axes, "body forces")
        self._check(motion)
        alone: list[Force] = []
        wrenches = np.zeros((len(self.robot.model.names), 6))
        centers: list[Any] = [motion.posture.placement(frame) for frame in _centers(self.robot)]
        for law in self.laws:
            own: Any = getattr(law, "on_bodies", None)
            if not callable(own):
                alone.append(law)
                continue
            pairs: Any = own(motion)
            for frame, wrench in pairs:
                at = centers[frame.joint].actInv(motion.posture.placement(frame))
                wrenches[frame.joint] += at.act(pin.Force(np.asarray(wrench))).vector
        if axes is Axes.LOCAL_WORLD_ALIGNED:
            turns = np.array([center.rotation for center in centers])
            wrenches = np.einsum("nij,nkj->nki", turns, wrenches.reshape(-1, 2, 3)).reshape(-1, 6)
        names = tuple(self.robot.model.names)
        return BodyForces(names, wrenches[:, :3], wrenches[:, 3:], generalised(alone, motion), axes)

    def _check(self, motion: Motion) -> None:
        if not self.robot.space.same_robot(motion.posture.space):
            raise RobotMismatchError(f"forces on robot {self.robot.name}: the motion is of another robot")

    def __repr__(self) -> str:
        return f"Forces({self.robot.name!r}, [{', '.join(type(law).__name__ for law in self.laws)}])"


def robot_of(force: object) -> Robot | None:
    """The robot that a force belongs to; None where it takes any."""
    own: Any = force.closure if isinstance(force, AtHinge) else force
    robot: Any = getattr(own, "robot", None)
    return robot if isinstance(robot, Robot) else None


def _centers(robot: Robot) -> list[Frame]:
    """A frame at the centre of mass of each body, with its axes; that of the world first."""
    model: Any = robot.model
    each = enumerate(zip(model.names, model.inertias, strict=True))
    moved = ((i, name, pin.SE3(np.eye(3), np.array(body.lever))) for i, (name, body) in each)
    return [Frame(name, i, pin.SE3.Identity() if i == WORLD else M, name) for i, name, M in moved]
