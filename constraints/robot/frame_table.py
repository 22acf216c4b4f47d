"""The frames of a robot by name: bodies, joints, fixed joints, operational frames, and those added by the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from liegroups.arguments import as_label, expect
from liegroups.errors import DuplicateNameError

from ..errors import ConstraintError, ModelError, UnknownFrameError
from .frame import Frame
from .model.pinocchio import Model, Placement, pin
from .placement import as_placement

SURELY_A_ROTATION = 1e-9
"""Largest entry of R R^T - 1 of a matrix that need not be looked at more closely."""
SAME_PLACE = 1e-12
"""Two frames of one name whose placements differ by less are one frame [m, and entries of the rotation matrix]."""
WORLD = "world"
"""What most libraries call the universe, and many models a link of theirs."""


class FrameKind(Enum):
    """What kind of frame it is in the model."""

    JOINT = "joint"
    FIXED_JOINT = "fixed joint"
    BODY = "body"
    OPERATIONAL = "operational frame"
    SENSOR = "sensor"


_KINDS: dict[Any, FrameKind] = {
    pin.FrameType.JOINT: FrameKind.JOINT,
    pin.FrameType.FIXED_JOINT: FrameKind.FIXED_JOINT,
    pin.FrameType.BODY: FrameKind.BODY,
    pin.FrameType.OP_FRAME: FrameKind.OPERATIONAL,
    pin.FrameType.SENSOR: FrameKind.SENSOR,
}


class AmbiguousFrameError(ConstraintError):
    """Several frames at different places share a name.

    Args:
        name: the name.
        kinds: the kinds of frame that have it.
    """

    def __init__(self, name: str, kinds: tuple[FrameKind, ...]) -> None:
        self.name, self.kinds = name, kinds
        found = ", ".join(kind.value for kind in kinds)
        super().__init__(
            f"{len(kinds)} frames at different places are named {name!r} ({found}): "
            f"pick one with robot.frame({name!r}, kind=FrameKind.{kinds[0].name})"
        )


@dataclass(frozen=True, eq=False)
class FrameTable:
    """Frames by name, several kinds sharing a name where the model has it so.

    Attributes:
        by_name: name -> the frames of that name, by kind.
        added: the frames that are not the model's own, in the order they were added.
    """

    by_name: Mapping[str, Mapping[FrameKind, Frame]]
    added: tuple[Frame, ...] = ()

    @staticmethod
    def of(model: Model) -> FrameTable:
        """All frames of a model, and its joints even where it has no frame for them.

        Raises:
            DuplicateNameError: two joints share a name.
            ModelError: two frames of one kind at different places share a name; a placement is not finite.
            NotNormalizedError: a rotation matrix that is none.
        """
        table: dict[str, dict[FrameKind, Frame]] = {}
        joints = [str(joint) for joint in model.names]
        _check_placements("joint", joints, model.jointPlacements)
        _check_placements("frame", [entry.name for entry in model.frames], [e.placement for e in model.frames])
        for i, joint in enumerate(joints):
            if joint in table:
                raise DuplicateNameError("joint", joint)
            table[joint] = {FrameKind.JOINT: Frame(joint, i, joint_name=joint)}
        for entry in model.frames:
            on = int(entry.parentJoint)
            frame = Frame(entry.name, on, entry.placement, joints[on])
            kind = _KINDS[entry.type]
            known = table.setdefault(frame.name, {})
            if kind in known and not _same_place(known[kind], frame):
                raise ModelError(f"the model has two frames of kind '{kind.value}' named '{frame.name}'")
            known[kind] = frame
        return FrameTable(table)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, 'universe' first."""
        return tuple(self.by_name)

    def find(self, name: object, kind: FrameKind | None = None) -> Frame:
        """The frame of that name; "world" is the universe where no frame is called so.

        Args:
            name: the name.
            kind: which one, where several kinds at different places share the name.

        Raises:
            UnknownFrameError: lists the names that come closest.
            AmbiguousFrameError: several frames at different places have the name; lists their kinds.
            WrongObjectError: the name is no string.
        """
        known = self.by_name.get(expect(name, str, "frame", "a name or a Frame"))
        if known is None and name == WORLD:
            known = self.by_name[self.names[0]]
        if known is None:
            raise UnknownFrameError(name, self.names)
        frames = tuple(known.values())
        if kind is not None:
            if kind not in known:
                of_kind = [other for other, kinds in self.by_name.items() if kind in kinds]
                raise UnknownFrameError(name, of_kind)
            return known[kind]
        if not all(_same_place(frames[0], other) for other in frames[1:]):
            raise AmbiguousFrameError(name, tuple(known))
        return frames[0]

    def offset(self, frame: Frame, placement: object) -> Frame:
        """A new frame of the same name at a placement relative to a frame: jMf * placement."""
        fMg = as_placement(placement, f"placement relative to frame '{frame.name}'")
        return Frame(frame.name, frame.joint, frame.placement * fMg, frame.joint_name)

    def with_frame(self, name: str, on: Frame, placement: object) -> FrameTable:
        """The table with one more frame.

        Raises:
            DuplicateNameError: the name is taken.
        """
        if as_label(name, "name of a frame") in self.by_name:
            raise DuplicateNameError("frame", name)
        jMf = on.placement  # as it is where there is no placement: a product with the identity loses the sign of zeros
        if placement is not None:
            jMf = jMf * as_placement(placement, f"placement of frame '{name}'")
        frame = Frame(name, on.joint, jMf, on.joint_name)
        return FrameTable({**self.by_name, name: {FrameKind.OPERATIONAL: frame}}, (*self.added, frame))


def _same_place(a: Frame, b: Frame) -> bool:
    apart = np.abs(a.placement.homogeneous - b.placement.homogeneous).max()
    return a.joint == b.joint and bool(apart <= SAME_PLACE)


def _check_placements(kind: str, names: Sequence[str], placements: Sequence[Placement]) -> None:
    """Refuse placements that hold what is no number, as a file may say, or whose rotation is none."""
    H = np.array([placement.homogeneous for placement in placements])
    R = H[:, :3, :3]
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
        good = (off < SURELY_A_ROTATION) & (np.linalg.det(R) > 0.0) & np.isfinite(H).all(axis=(1, 2))
    for i in np.flatnonzero(~good).tolist():
        whose = f"{kind} '{names[i]}' on its parent"
        if not np.isfinite(H[i]).all():
            raise ModelError(f"the placement of {whose} contains NaN or infinity")
        as_placement(H[i], f"placement of {whose}")
