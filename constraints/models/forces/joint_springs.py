"""A spring and damper that a file gives to a joint: on the joint in the tree, or on the closure that took its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from liegroups.arrays import ArrayLike, Vector

from ...dynamics import HingeSpring, JointSpring
from ...dynamics.laws.external_force import Force
from ...loops import Closure
from ...robot import Robot
from ...rows.row_owner import RowOwner
from ..structure.mechanism import Unread, or_unread

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
        closures: of the mechanism by name; that of a joint that was cut has the joint's name.

    Attributes:
        laws: what has been made so far.
        left_out: what is no law, with the reason.
    """

    robot: Robot
    closures: Mapping[str, RowOwner] = field(default_factory=dict[str, RowOwner])
    laws: list[Force] = field(default_factory=list[Force])
    left_out: list[Unread] = field(default_factory=list[Unread])

    def on_tree(self, name: str, joint: str, by_dof: Sequence[Passive], rest: ArrayLike | None = None) -> None:
        """Add the spring and damper of a joint of the tree.

        Args:
            name: of the joint in the file.
            joint: of the joint in the robot.
            by_dof: what the file says, one entry a degree of freedom.
            rest: configuration of the joint without force; by default the rests of the entries.
        """
        stiffness, damping, angles, what = self._read(name, by_dof)
        if what:
            at = (angles if angles.size > 1 else float(angles[0])) if rest is None else rest
            with or_unread(self.left_out, what):
                law = JointSpring(self.robot, joint, stiffness, damping, at if stiffness.any() else None)
                self.laws.append(law)

    def on_cut(self, name: str, by_dof: Sequence[Passive]) -> None:
        """Add the spring and damper of a joint that closes a loop: they act on the hinge of its closure.

        Args:
            name: of the joint in the file.
            by_dof: what the file says, one entry a degree of freedom.
        """
        stiffness, damping, rest, what = self._read(name, by_dof)
        if not what:
            return
        what += ", which closes a loop"
        closure = self.closures.get(name)
        if not isinstance(closure, Closure):
            self.left_out.append(Unread(what, "only the hinge of a closure has coordinates on which it could act"))
            return
        with or_unread(self.left_out, what):
            self.laws.append(HingeSpring(closure, stiffness, damping, rest if stiffness.any() else None))

    def leave_out(self, name: str, by_dof: Sequence[Passive], reason: str) -> None:
        """List what a file says of a joint on which nothing can act."""
        *_, what = self._read(name, by_dof)
        if what:
            self.left_out.append(Unread(what, reason))

    def _read(self, name: str, by_dof: Sequence[Passive]) -> tuple[Vector, Vector, Vector, str]:
        """Stiffness, damping and rest by degree of freedom, and what acts, in words; friction is left out."""
        if any(one.friction for one in by_dof):
            self.left_out.append(Unread(f"friction of joint '{name}'", DRY))
        said = np.array([(one.stiffness, one.damping, one.rest) for one in by_dof], dtype=np.float64).reshape(-1, 3)
        stiffness, damping, rest = said.T
        words = [word for word, numbers in (("spring", stiffness), ("damper", damping)) if numbers.any()]
        return stiffness, damping, rest, f"{' and '.join(words)} of joint '{name}'" if words else ""
