"""Maps of explicit relative poses, without a new function for each right-hand side."""

from __future__ import annotations

import copy
from typing import final

from liegroups import SE3
from liegroups.arrays import Vector

from ...functions.frame_function import kinematics_at
from ...functions.pose import Pose
from ...functions.translation import RightTranslation
from ...point import Point
from ...robot.pinocchio import Placement
from ...rows.explicit import Explicit
from ...rows.right_hand_side import RightHandSide

__all__ = ["FrameMap", "group_element"]


@final
class FrameMap:
    r"""The map of an explicit relative pose, :math:`q \mapsto {}^PM_a\, r\, c` with r the right-hand side.

    It is the pose of a frame that r moves on the joint of a: in each workspace the memory of one function is anchored
    where the right-hand side wants it.

    Args:
        explicit: the constraint.
        f: its function.

    Attributes:
        explicit: as given.
        function: to be evaluated, once `anchor` has been called for the right-hand side.
    """

    __slots__ = ("_constant", "explicit", "function")

    def __init__(self, explicit: Explicit, f: Pose) -> None:
        self.explicit, self.function = explicit, copy.copy(f)  # a copy: what f itself has in a workspace stays
        g_inverse = explicit.g_inverse
        self._constant = g_inverse.constant if isinstance(g_inverse, RightTranslation) else None

    @staticmethod
    def of(explicit: Explicit) -> FrameMap | None:
        """That of a constraint; None where its map is something else."""
        f, g_inverse = explicit.map, explicit.g_inverse
        plain = g_inverse is None or isinstance(g_inverse, RightTranslation)
        return FrameMap(explicit, f) if plain and type(f) is Pose and f.outputs == SE3 else None

    def placement(self, rhs: RightHandSide) -> Placement:
        """Placement of the moved frame on its joint, found once for each right-hand side.

        Raises:
            UndefinedError: there is none for this right-hand side.
        """
        found = rhs.placements.get(id(self.explicit))
        if found is None:
            f, element = self.function, group_element(self.explicit, rhs)
            if self._constant is not None:
                element = f.outputs.compose(element, self._constant)
            found = rhs.placements[id(self.explicit)] = f.offset_placement(element)
        return found

    def anchor(self, point: Point, rhs: RightHandSide) -> None:
        """Make the function that of a right-hand side, in the workspace of a point."""
        f = self.function
        kinematics_at(point, None, 0).relative(f, f.frame_a, f.frame_b).anchor(f.frame_a.placement, self.placement(rhs))


def group_element(explicit: Explicit, rhs: RightHandSide) -> Vector:
    """The right-hand side of an explicit constraint as a point of the group of its function."""
    point = rhs.vector[rhs.stack.rhs_slices[rhs.stack.index(explicit)]]
    return point if explicit.rhs_map is None else explicit.rhs_map.value_of(point)
