"""Enclosures of what closures measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from liegroups import SE3

from ...errors import NoEnclosureError
from ...functions.enclosures.box import Enclosure, TangentBox
from ...functions.enclosures.interval import UNIT, Interval, rounded_up
from ...functions.enclosures.maps import logarithm
from ...functions.frames.pose import Pose
from ...functions.frames.position import Position

if TYPE_CHECKING:
    from .pose_map import OfRelativePose


def enclosed(f: OfRelativePose, box: TangentBox) -> Enclosure:
    """Of rows of the translation alone, and of the logarithm of the pose.

    Raises:
        NoEnclosureError: of another map.
    """
    from .pose_map import LogPose, Split

    seen_map = f.pose_map
    if isinstance(seen_map, LogPose):
        return logarithm(SE3, Pose(f.robot, f.frame_b, f.frame_a).enclosure(box), box)
    if not isinstance(seen_map, Split) or seen_map.rotation is not None:
        why = f"its map {type(seen_map).__name__} has rows of a rotation"
        raise NoEnclosureError(f"{f.name} ({type(f).__name__})", why)
    place, N = Position(f.robot, f.frame_b, f.frame_a).enclosure(box), seen_map.directions
    if N.shape == (3, 3) and np.array_equal(N, np.eye(3)):
        return place
    turned = Interval.of(N)
    small = rounded_up(np.abs(N) @ (place.rounding + 8.0 * UNIT * np.abs(place.value)))
    slopes = turned @ place.jacobian
    return Enclosure.centred(f.outputs, box, N @ place.value, small, slopes, lambda: place.bend.through(turned))
