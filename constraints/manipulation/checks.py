"""What constraint graphs refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import GraphError, WrongObjectError
from ..functions.contact.contact import ConvexShapeContact
from ..rows.implicit import Implicit
from .foliation import Foliation

__all__ = ["all_of", "one_placement_each"]


def all_of(given: Any, kind: type, what: str) -> tuple[Any, ...]:
    """A sequence of objects of one kind, or a typed error that names what else there is."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise WrongObjectError(what, f"a sequence of {kind.__name__}s", given)
    entries: list[Any] = [*given]
    for entry in entries:
        if not isinstance(entry, kind):
            raise WrongObjectError(what, f"a sequence of {kind.__name__}s", entry)
    return tuple(entries)


def one_placement_each(foliations: Sequence[Foliation]) -> None:
    """Refuse two placements of one object."""
    placed: dict[int, str] = {}
    for foliation in foliations:
        owner = foliation.constraint
        if isinstance(owner, Implicit) and isinstance(owner.function, ConvexShapeContact):
            for joint in owner.function.object_joints:
                if placed.setdefault(joint, foliation.name) != foliation.name:
                    name = owner.function.robot.joint_names[joint - 1] if joint else "universe"
                    raise GraphError(
                        f"'{placed[joint]}' and '{foliation.name}' both place '{name}': one placement each"
                    )
