"""A spring and damper that a file gives to a joint: on the joint in the tree, or on the closure that took its place."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import set_fields

from ...dynamics import HingeSpring, JointSpring
from ...dynamics.laws.external_force import Force
from ...errors import ConstraintError
from ...loops import Closure
from ...robot import Robot
from ...robot.files.urdf_graph import Fault
from ...rows.row_owner import RowOwner

DRY = "dry friction is no law here, for it is no function of position and velocity at rest: a joint has none"
"""What is said of Coulomb friction."""


@dataclass(frozen=True, eq=False)
class Passive:
    """What a file says of the forces on a coordinate: :math:`-k (q - q_0) - d v`, and dry friction.

    Attributes:
        stiffness, damping: k [N/m, N m/rad] and d [N s/m, N m s/rad].
        rest: the coordinate without force [m, rad].
        friction: dry friction [N, N m].
    """

    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True, eq=False)
class FileForces:
    """What acts on joints by a file, in the making.

    Args:
        robot: the robot.
        closures: of the mechanism; that of a joint that was cut has the joint's name.

    Attributes:
        laws: what has been made so far.
        left_out: what is no law, with the reason.
    """

    robot: Robot
    closures: Iterable[RowOwner] = ()
    laws: list[Force] = field(default_factory=list[Force])
    left_out: list[Fault] = field(default_factory=list[Fault])

    _by_name: dict[str, RowOwner] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Look the closures up once."""
        set_fields(self, _by_name={owner.name: owner for owner in self.closures})

    def on_tree(self, name: str, joint: str, by_dof: Sequence[Passive], rest: ArrayLike | None = None) -> None:
        """Add the spring and damper of a joint of the tree.

        Args:
            name: of the joint in the file.
            joint: of the joint in the robot.
            by_dof: what the file says, one entry a degree of freedom.
            rest: configuration of the joint without force; by default the rests of the entries.
        """
        self._friction(name, by_dof)
        stiffness, damping, angles = _numbers(by_dof)
        if not stiffness.any():
            rest = None
        elif rest is None:
            rest = angles if angles.size > 1 else float(angles[0])
        if stiffness.any() or damping.any():
            with self.or_left_out(f"{_word(stiffness, damping)} of joint '{name}'"):
                self.laws.append(JointSpring(self.robot, joint, stiffness, damping, rest))

    def on_cut(self, name: str, by_dof: Sequence[Passive]) -> None:
        """Add the spring and damper of a joint that closes a loop: they act on the hinge of its closure.

        Args:
            name: of the joint in the file.
            by_dof: what the file says, one entry a degree of freedom.
        """
        self._friction(name, by_dof)
        stiffness, damping, rest = _numbers(by_dof)
        if not (stiffness.any() or damping.any()):
            return
        what = f"{_word(stiffness, damping)} of joint '{name}', which closes a loop"
        closure = self._by_name.get(name)
        if not isinstance(closure, Closure):
            self.left_out.append(Fault(what, "only the hinge of a closure has coordinates on which it could act"))
            return
        with self.or_left_out(what):
            self.laws.append(HingeSpring(closure, stiffness, damping, rest if stiffness.any() else None))

    @contextmanager
    def or_left_out(self, what: str) -> Generator[None]:
        """Where a law cannot be made, it is left out, with the reason."""
        try:
            yield
        except ConstraintError as error:
            self.left_out.append(Fault(what, str(error)))

    def leave_out(self, name: str, by_dof: Sequence[Passive], reason: str) -> None:
        """List what a file says of a joint on which nothing can act."""
        self._friction(name, by_dof)
        stiffness, damping, _ = _numbers(by_dof)
        if stiffness.any() or damping.any():
            self.left_out.append(Fault(f"{_word(stiffness, damping)} of joint '{name}'", reason))

    def _friction(self, name: str, by_dof: Sequence[Passive]) -> None:
        if any(one.friction for one in by_dof):
            self.left_out.append(Fault(f"friction of joint '{name}'", DRY))


def _numbers(by_dof: Sequence[Passive]) -> tuple[Vector, Vector, Vector]:
    """Stiffness, damping and rest by degree of freedom."""
    said = np.array([(one.stiffness, one.damping, one.rest) for one in by_dof], dtype=np.float64).reshape(-1, 3)
    return said[:, 0], said[:, 1], said[:, 2]


def _word(stiffness: Vector, damping: Vector) -> str:
    return " and ".join(word for word, numbers in (("spring", stiffness), ("damper", damping)) if numbers.any())
