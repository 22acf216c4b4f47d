"""Multipliers of constraints as forces: wrenches on the bodies, in any axes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..errors import ConstraintError, UnknownNameError
from ..loops import Axes, ConstraintSet, PointContact, PoseContact
from ..loops.contacts import as_axes
from ..loops.frame_rows import FrameRows
from ..robot import Frame, Posture
from ..robot.model.pinocchio import pin
from ..rows.row_owner import RowOwner
from ..words import first_names

ROUNDING_OF_A_MULTIPLIER = 1e-12
"""Part of the largest multiplier below which a negative one is zero."""

Body = Literal["successor", "predecessor"]
"""The two bodies of a contact or closure; the predecessor of a contact is the world."""


class NoWrenchError(ConstraintError):
    """A constraint that is neither a contact nor a closure: its force is not a wrench between two frames."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"'{name}' is neither a contact nor a closure: its force is not a wrench between two frames; "
            "`generalised_force(name)` gives it as joint forces"
        )


class Multipliers(NamedTuple):
    """Multipliers (size,) of all rows of a set at q (nq,): forces [N, N m], or of an impact impulses [N s, N m s]."""

    constraint_set: ConstraintSet
    q: Vector
    numbers: Vector


class WithMultipliers:
    """A result that has multipliers."""

    @property
    @abstractmethod
    def _multipliers(self) -> Multipliers: ...

    @final
    def multipliers_of(self, which: RowOwner | str | int) -> Vector:
        """Multipliers (k,) of one constraint: the object, its position, or its name; of an impact, its impulses.

        Raises:
            UnknownNameError: lists the names that come closest.
            OptionError: a node without dynamics.
        """
        constraint_set, _, numbers = self._multipliers
        return numbers[constraint_set.slice_of(which)]

    @final
    def wrench(
        self,
        which: RowOwner | str | int,
        on: Body = "successor",
        axes: Axes = Axes.LOCAL,
        frame: Frame | str | None = None,
    ) -> Vector:
        """Wrench (6,) of a contact or closure on one of its bodies: force then moment [N, N m]; of an impact impulses.

        It is that of the constraint alone; what acts on the free coordinates of its hinge is in `inter_body_force`.
        Where rows are redundant it may have components that are not unique (`is_determined`).

        Args:
            which: the object, its position, or its name.
            on: "successor", or "predecessor" with the opposite wrench.
            axes: LOCAL, those of the frame, or LOCAL_WORLD_ALIGNED.
            frame: at the origin of which frame, and in whose axes; that of the body by default.

        Raises:
            NoWrenchError: the constraint is neither a contact nor a closure.
            UnknownNameError: another word than "successor" or "predecessor".
            OptionError: a node without dynamics; the axes are pinocchio's WORLD.
        """
        constraint_set, q, numbers = self._multipliers
        return wrench_of(constraint_set, which, q, numbers, on, axes, frame)


def wrench_of(
    constraint_set: ConstraintSet,
    which: RowOwner | str | int,
    q: Vector,
    multipliers: Vector,
    on: Body = "successor",
    axes: Axes = Axes.LOCAL,
    frame: Frame | str | None = None,
) -> Vector:
    """As `WithMultipliers.wrench`, from multipliers of all rows (size,) at q (nq,)."""
    owner = frame_rows(constraint_set, which)
    body, Q = body_matrix(owner, q, on)
    some = multipliers[constraint_set.slice_of(which)]
    return seen_at(constraint_set.robot.at(q), some @ Q, body, axes, frame)


def frame_rows(constraint_set: ConstraintSet, which: RowOwner | str | int) -> FrameRows:
    """A contact or closure of a set: the object, its position, or its name.

    Raises:
        NoWrenchError: the constraint is neither.
        UnknownNameError: no such constraint; of a joint that is not cut it says how to get its force.
    """
    names = constraint_set.names
    if isinstance(which, str) and which not in names and which in constraint_set.robot.joint_names:
        words = (
            f"no constraint is named {which!r}: it is a joint that is not cut; for the force in it cut it, "
            f'`load(..., cut=["{which}"])`'
        )
        raise UnknownNameError("constraint", which, tuple(dict.fromkeys(names)), words)
    owner = constraint_set[which]
    if not isinstance(owner, FrameRows):
        raise NoWrenchError(owner.name)
    return owner


def check_body(on: str) -> None:
    """Refuse another word than "successor" or "predecessor"."""
    if on not in ("successor", "predecessor"):
        raise UnknownNameError("body of a constraint", str(on), ("successor", "predecessor"))


def body_matrix(owner: FrameRows, q: Vector, on: Body) -> tuple[Frame, Matrix]:
    """One of the two bodies of a contact or closure: its frame, and the matrix Q (k, 6) on its body twist."""
    check_body(on)
    Q_p, Q_s = owner.constraint_matrices(q)
    return (owner.successor, Q_s) if on == "successor" else (owner.predecessor, Q_p)


def seen_at(posture: Posture, wrench: Vector, body: Frame, axes: Axes, frame: Frame | str | None = None) -> Vector:
    """A wrench (6,) on a body, moved to another frame and other axes.

    Args:
        posture: where the robot is.
        wrench: at the origin and in the axes of the body's frame.
        body: that frame.
        axes: LOCAL, those of the frame it is moved to, or LOCAL_WORLD_ALIGNED.
        frame: where it is moved to; that of the body by default.
    """
    as_axes(axes, "a wrench")
    force = pin.Force(np.asarray(wrench))
    seen: Any = posture.placement(body)
    if frame is not None:
        to: Any = posture.placement(frame)
        force = to.actInv(seen.act(force))
        seen = to
    if axes is Axes.LOCAL_WORLD_ALIGNED:
        force = pin.SE3(seen.rotation, np.zeros(3)).act(force)
    return np.array(force.vector)


def pulling_contacts(constraint_set: ConstraintSet, multipliers: Vector) -> tuple[str, ...]:
    """Names of contacts with one normal whose multiplier is negative: they pull, which a contact that pushes cannot."""
    least = -ROUNDING_OF_A_MULTIPLIER * float(np.abs(multipliers).max(initial=0.0))
    return tuple(name for name, row in pushing_rows(constraint_set).items() if multipliers[row] < least)


def pushing_rows(constraint_set: ConstraintSet) -> dict[str, int]:
    """Names of the contacts with one normal, and the row of each."""
    return {
        owner.name: s.start
        for owner, s in zip(constraint_set.stack, constraint_set.stack.slices, strict=True)
        if isinstance(owner, PointContact | PoseContact) and s.stop - s.start == 1
    }


def pulling_words(constraint_set: ConstraintSet, multipliers: Vector, unit: str) -> list[str]:
    """The line of a result that names the contacts that pull, and by how much, in N or N s; none without any."""
    found = [
        f"'{name}' by {-float(multipliers[constraint_set.slice_of(name)][0]):.4g} {unit}"
        for name in pulling_contacts(constraint_set, multipliers)
    ]
    return [f"  pulling, which contacts that only push cannot do: {first_names(found)}"] if found else []
