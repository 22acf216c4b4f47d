"""What is actuated: joints, coordinates and cut hinges by name, as columns of one matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from liegroups import Segments
from liegroups.arguments import expect, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import OptionError, SizeError, UnknownNameError, WrongObjectError
from ..loops import Closure, ConstraintSet
from ..robot import Motion
from .laws.external_force import Force
from .laws.hinge_forces import HingeForce, check_robot, relative_jacobian
from .methods.system import Question

Actuated: TypeAlias = "Iterable[str | Segments | Closure] | Segments | Closure"
"""What is actuated: names of joints and closures, Segments, closures."""

STILL_HINGE = 1e-12
"""Rates of a hinge by joint velocities of 1 below this [m/s, rad/s] are rounding: no joint turns it."""

_WORDS = "names of joints or closures, Segments, or closures"


@final
@dataclass(frozen=True, eq=False)
class Actuation:
    r"""Actuators at one state: :math:`\tau = B\,u`.

    Attributes:
        matrix: B (nv, na).
        names: (na,) what each number of u drives: "elbow", "hip[2]", a closure's "cut" or "cut[1]", or "u[0]" for a
            matrix.
        owners: the given names and closures in order, with their numbers in u; none for a matrix.
    """

    matrix: Matrix
    names: tuple[str, ...]
    owners: tuple[tuple[str | Closure, slice], ...]

    def slice_of(self, which: Closure | str) -> slice:
        """The numbers of u of a joint or closure.

        Raises:
            UnknownNameError: it is not actuated; the message lists what is.
        """
        name = which.name if isinstance(which, Closure) else which
        for owner, s in self.owners:
            may_be = isinstance(owner, Closure) or not isinstance(which, Closure)  # a closure is no joint of its name
            if may_be and name == _name(owner):
                return s
        raise UnknownNameError("actuated joint or closure", name, [_name(owner) for owner, _ in self.owners])

    def hinge_forces(self, u: Vector) -> tuple[HingeForce, ...]:
        """The forces u of the actuated closures."""
        return tuple(HingeForce(owner, u[s]) for owner, s in self.owners if isinstance(owner, Closure))


class ByActuators:
    """A result that has forces u of actuators.

    Attributes:
        effort: u (na,) [N, N m].
        actuators: B with the names of its columns.
        question: arguments of the call.
    """

    effort: Vector
    actuators: Actuation
    question: Question

    @property
    def tau(self) -> Vector:
        """Joint forces of the actuators (nv,), B u: with them forward dynamics gives the same acceleration."""
        return self.actuators.matrix @ self.effort

    @property
    def acting(self) -> tuple[Force, ...]:
        """The forces besides joint forces and constraints: external forces, and those of actuated closures."""
        return (*self.question.external, *self.actuators.hinge_forces(self.effort))

    def effort_of(self, which: Closure | str) -> Vector:
        """Numbers (k,) of u for one actuated joint or closure: the object, or its name.

        Raises:
            UnknownNameError: it is not actuated; the message lists what is.
        """
        return self.effort[self.actuators.slice_of(which)]


def actuation_at(constraint_set: ConstraintSet, motion: Motion, actuated: Any, matrix: ArrayLike | None) -> Actuation:
    """The actuators at a state, from what a user gave.

    Args:
        constraint_set: closures among the actuated are looked up by name here.
        motion: the state.
        actuated: names, Segments or closures; or
        matrix: B (nv, na).

    Raises:
        OptionError: both or none, a name that a joint and a closure share, or something twice.
        UnknownNameError: no joint or closure of that name.
    """
    if (actuated is None) == (matrix is None):
        got = "none" if actuated is None else "both"
        raise OptionError(
            f"actuators of inverse dynamics: give `actuated` ({_WORDS}) or `actuation` (a matrix (nv, na)), got {got}; "
            "`actuated=robot.joint_names` actuates all joints"
        )
    if matrix is not None:
        return _of_matrix(matrix, motion.v.size)
    parts = [_columns(constraint_set, motion, entry) for entry in _entries(actuated)]
    owners: list[tuple[str | Closure, slice]] = []
    names: list[str] = []
    for owner, labels, _ in parts:
        owners.append((owner, slice(len(names), len(names) + len(labels))))
        for label in labels:
            if label in names:
                raise OptionError(f"actuated joints: '{label}' is given twice")
            names.append(label)
    return Actuation(np.hstack([np.zeros((motion.v.size, 0)), *(B for _, _, B in parts)]), tuple(names), tuple(owners))


def _of_matrix(matrix: ArrayLike, nv: int) -> Actuation:
    B = real_numbers(matrix, "actuation matrix", finite=True)
    if B.ndim != 2 or B.shape[0] != nv:
        raise SizeError("actuation matrix", f"({nv}, na)", B.shape)
    return Actuation(np.array(B), tuple(f"u[{i}]" for i in range(B.shape[1])), ())


def _entries(actuated: Any) -> list[Any]:
    if isinstance(actuated, Segments | Closure):
        return [actuated]
    if isinstance(actuated, str):
        raise WrongObjectError("actuated joints", f"a sequence of {_WORDS}", f"one name alone: write ['{actuated}']")
    try:
        return list(actuated)
    except TypeError:
        raise WrongObjectError("actuated joints", f"a sequence of {_WORDS}", actuated) from None


def _columns(constraint_set: ConstraintSet, motion: Motion, entry: Any) -> tuple[str | Closure, list[str], Matrix]:
    """What is actuated, names of its numbers, and their columns (nv, k)."""
    robot, nv = constraint_set.robot, motion.v.size
    if isinstance(entry, Closure):
        return _of_closure(entry, motion)
    if isinstance(entry, Segments):
        indices = list(entry.v)
        if indices and indices[-1] >= nv:
            raise SizeError("actuated Segments", f"tangent coordinates below {nv}", indices[-1])
        chosen = [robot.coordinate_names[i] for i in indices]
        return ", ".join(chosen), chosen, np.eye(nv)[:, indices]
    name = expect(entry, str, "actuated joint", f"one of {_WORDS}")
    closures = [owner for owner in constraint_set.stack if isinstance(owner, Closure) and owner.name == name]
    if name in robot.joint_names:
        if closures:
            raise OptionError(f"actuated '{name}': a joint and a closure have this name; give the Closure, or Segments")
        s = robot.velocity_slice_of(name)
        return name, list(robot.coordinate_names[s]), np.eye(nv)[:, s]
    if not closures:
        known = (*robot.joint_names, *(owner.name for owner in constraint_set.stack if isinstance(owner, Closure)))
        raise UnknownNameError("actuated joint or closure", name, known)
    return _of_closure(closures[0], motion)


def _of_closure(closure: Closure, motion: Motion) -> tuple[Closure, list[str], Matrix]:
    check_robot(closure, motion)
    n = closure.hinge.dofs
    labels = [closure.name] if n == 1 else [f"{closure.name}[{i}]" for i in range(n)]
    rates = relative_jacobian(closure, motion.posture)
    still = np.abs(rates).max(axis=1, initial=0.0) < STILL_HINGE
    return closure, labels, np.where(still[:, None], 0.0, rates).T


def _name(owner: str | Closure) -> str:
    return owner.name if isinstance(owner, Closure) else owner
