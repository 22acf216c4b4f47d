"""A point on a sphere."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, final

from constraints.errors import UndefinedError
from constraints.loops.hinges.pose_map import PoseMap
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross


@final
@dataclass(frozen=True, eq=False)
class OnSphere(PoseMap):
    r"""The origin of b on a sphere about the origin of a, :math:`r = |p| - R` [m].

    Args:
        radius: R [m].

    Raises:
        UndefinedError: in the centre.
    """

    radius: float

    size = 1

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        n, distance = self._seen(pose)
        out[0] = distance - self.radius
        if D is not None:
            D[0, :3] = n @ pose.rotation

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        n, distance = self._seen(pose)
        v = pose.rotation @ twist[:3]
        a = pose.rotation @ (acceleration[:3] + cross(twist[3:], twist[:3]))
        out[0] = n @ a + (v @ v - (n @ v) ** 2) / distance

    def _seen(self, pose: Any) -> tuple[Vector, float]:
        p = pose.translation
        distance = sqrt(p @ p)
        if distance < 1e-9:
            raise UndefinedError("the point is in the centre of its sphere")
        return p / distance, distance
