"""Joints that were cut because they close loops: the hinges they leave, and the closures that hold what they held."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from liegroups.arrays import Vector

from ..loops import Hinge
from ..rows.row_owner import RowOwner
from .mechanism import Unread, or_unread

_HINGES: dict[str, Callable[..., Hinge]] = {
    "prismatic": Hinge.slider, "planar": Hinge.planar, "universal": Hinge.universal, "revolute2": Hinge.universal,
}  # fmt: skip


def hinge_of_joint(kind: str, axes: Sequence[Vector], pitch: float = 0.0) -> Hinge:
    """The hinge of a joint of URDF or SDF; one of a kind that is not told apart here is a pin.

    Args:
        kind: its type, as written.
        axes: unit directions (3,), in the frame of the joint; two of a universal one.
        pitch: of a screw, advance a turn [m].
    """
    if kind == "fixed":
        return Hinge.locked()
    if kind == "screw":
        return Hinge.helical(axes[0], pitch)
    make = _HINGES.get(kind, Hinge.pin)
    return make(*axes)


def closure_of_cut(
    name: str, make: Callable[[], RowOwner], is_bounded: bool, unread: list[Unread]
) -> tuple[RowOwner, ...]:
    """The closure of a joint that was cut, or none.

    Args:
        name: of the joint.
        make: makes the closure; what it raises goes to `unread`.
        is_bounded: whether the joint has bounds, which no closure holds.
        unread: takes what is not held.
    """
    made: list[RowOwner] = []
    with or_unread(unread, f"joint '{name}', which closes a loop"):
        made.append(make())
    if is_bounded:
        unread.append(Unread(f"bounds of joint '{name}', which closes a loop", "only joints can have bounds"))
    return tuple(made)
