"""The joints of a robot, as records of the compiled engine."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from ...robot import Robot
from ...robot.model.joints import COMPOSITE, JOINT_TYPES, joint_axis, joint_whole, type_name
from ...robot.model.pinocchio import pin
from ..machine import layout

if TYPE_CHECKING:
    from .packing import Argument, Packer

ROUNDING_OF_A_TURN = 4.0 * 2.0**-52
"""Numbers of a rotation below it are zero."""
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_ALONG_Z = {
    "revolute": layout.REVOLUTE,
    "continuous": layout.CONTINUOUS,
    "prismatic": layout.PRISMATIC,
    "helical": layout.HELICAL,
}
_WHOLE = {
    "planar": layout.PLANAR,
    "spherical": layout.SPHERICAL,
    "free-flyer": layout.FREE,
    "translation": layout.TRANSLATION,
    "ellipsoid": layout.ELLIPSOID,
}


class _TreePart(NamedTuple):
    """One elementary joint: its kind, the turn that puts its axis onto z, its sizes, and the numbers that make it."""

    kind: int
    turn: Any
    nq: int
    nv: int
    numbers: tuple[float, ...] = ()


class Joint(NamedTuple):
    """An elementary joint in its place.

    Attributes:
        record: as `layout` has it.
        parent: the one that carries it, -1 for the world.
        entries: of q that it reads, from where the robot's configuration begins.
        columns: of its dofs, or -1.
    """

    record: tuple[int, ...]
    parent: int
    entries: range
    columns: tuple[int, ...]


@final
class PackedTree:
    r"""The joints that functions ask for, with those that carry them.

    Each elementary joint turns about its own z or moves along it: with the turn A that puts its axis onto z, the pose
    kept for it is :math:`{}^oM_j A_j`, and what stands on it is seen from there. A may turn about z as well. It is
    chosen such that the first hinge that stands on it is turned against it by the angle between both axes alone, as by
    Denavit and Hartenberg (1955): such a hinge is a link, whose pose takes 33 products in place of 48,

    .. math:: {}^oM_j A_j = {}^oM_p A_p\; T\, R_x(\alpha)\, R_z(q_j + \psi)

    Args:
        packer: takes their records.
        robot: whose joints.
        argument: where its configuration is.

    Attributes:
        robot, argument: as given.
        joints: those so far, parents first.
    """

    def __init__(self, packer: Packer, robot: Robot, argument: Argument) -> None:
        self._packer, self.robot, self.argument = packer, robot, argument
        self._world = packer.filled([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
        self._known: dict[int, tuple[int, int, Any]] = {0: (self._world, -1, pin.SE3.Identity())}
        self._parts: dict[int, list[tuple[Any, _TreePart]]] = {}
        self._links = set[int]()
        self.joints: list[Joint] = []

    def joint(self, index: int) -> tuple[int, int, Any]:
        """A joint of the model: where its pose is in W, its number here (-1 for the world), and its turn."""
        if index not in self._known:
            model: Any = self.robot.model
            at, carrier, turn = self.joint(int(model.parents[index]))
            whole, following = model.joints[index], int(next(iter(model.children[index]), 0))
            parts, is_link = self._parts_of(index), index in self._links
            ahead = [*parts[1:], *(self._parts_of(following)[:1] if following else [])]
            q, v = int(whole.idx_q), int(whole.idx_v)
            for (offset, part), onto in zip_longest(parts, ahead):
                about = None if onto is None else _turn_for(part, *onto)
                own = part.turn if about is None else part.turn * about
                at, carrier = self._add(at, carrier, turn.inverse() * offset * own, part, is_link, q, v)
                turn, is_link = own, about is not None
                q, v = q + part.nq, v + part.nv
            if is_link:
                self._links.add(following)
            self._known[index] = at, carrier, turn
        return self._known[index]

    def _parts_of(self, index: int) -> list[tuple[Any, _TreePart]]:
        """Elementary joints that make a joint of the model, each with its placement after the one before."""
        if index not in self._parts:
            model: Any = self.robot.model
            (offset, first), *others = _parts(model.joints[index], str(model.names[index]))
            self._parts[index] = [(model.jointPlacements[index] * offset, first), *others]
        return self._parts[index]

    def _add(
        self, parent: int, carrier: int, placement: Any, part: _TreePart, is_link: bool, q: int, v: int
    ) -> tuple[int, int]:
        """An elementary joint: where its pose is, and its number."""
        columns = tuple(int(c) for c in self.argument.columns[v : v + part.nv])
        kind, R, p = part.kind, np.asarray(placement.rotation), np.asarray(placement.translation).tolist()
        numbers = [*R.ravel().tolist(), *p, *part.numbers]
        if is_link:
            kind = layout.LINK if kind == layout.REVOLUTE else layout.SO2_LINK
            numbers = [*_unit(R[2, 2], -R[1, 2]), *p, *_unit(R[0, 0], -R[0, 1])]
        at, constant = self._packer.memory(12), self._packer.constants(numbers)
        entry = q + self.argument.at - self._packer.header[layout.Q]  # from where the whole configuration begins
        record = (kind, parent, entry, at, constant, self._packer.table(columns))
        self.joints.append(Joint(record, carrier, range(entry, entry + part.nq), columns))
        return at, len(self.joints) - 1

    def with_carriers(self, numbers: Iterable[int]) -> set[int]:
        """Joints with those that carry them."""
        found = set[int]()
        for number in numbers:
            while number >= 0 and number not in found:
                found.add(number)
                number = self.joints[number].parent
        return found

    def moved_by(self, entries: Iterable[int]) -> set[int]:
        """Joints that stand elsewhere once these entries of q are others."""
        changed, found = set(entries), set[int]()
        for number, joint in enumerate(self.joints):
            if joint.parent in found or not changed.isdisjoint(joint.entries):
                found.add(number)
        return found

    def table(self, numbers: Iterable[int]) -> int:
        """Records of joints, parents first; where they are in I."""
        return self._packer.records([self.joints[number].record for number in sorted(numbers)])


def _parts(joint: Any, name: str) -> list[tuple[Any, _TreePart]]:
    """Elementary joints that make a joint, each with its placement after the one before."""
    from .packing import NotPacked

    none, kind = pin.SE3.Identity(), type_name(joint)
    whole = joint_whole(joint)
    if kind == COMPOSITE:
        found = list[tuple[Any, _TreePart]]()
        for inner, placement in zip(whole.joints, whole.jointPlacements, strict=True):
            (offset, first), *others = _parts(inner, name)
            found += [(placement * offset, first), *others]
        return found
    known = JOINT_TYPES[kind]
    if known.word in _WHOLE:
        radii = (whole.radius_x, whole.radius_y, whole.radius_z) if known.word == "ellipsoid" else ()
        return [(none, _TreePart(_WHOLE[known.word], none, known.space.nq, known.space.nv, radii))]
    if known.word in _ALONG_Z:
        axis = _AXES[known.axis] if known.axis else joint_axis(whole)
        pitch = (float(whole.pitch),) if known.word == "helical" else ()
        return [(none, _TreePart(_ALONG_Z[known.word], _turn_of(axis), known.space.nq, known.space.nv, pitch))]
    if known.word == "universal":
        return [(none, _revolute(np.asarray(axis))) for axis in (whole.axis1, whole.axis2)]
    if known.word == "spherical zyx":
        return [(none, _revolute(_AXES[axis])) for axis in "ZYX"]
    raise NotPacked(f"the joint '{name}', {known.word}")


def _turn_for(part: _TreePart, offset: Any, onto: _TreePart) -> Any:
    """The turn about z of a joint for which the hinge that stands on it is a link; None where there is none."""
    if part.kind > layout.HELICAL or onto.kind > layout.CONTINUOUS:
        return None
    x, y, _ = (part.turn.inverse() * offset * onto.turn).rotation[:, 2]
    c, s = _unit(-y, x) if y < 0.0 else _unit(y, -x)  # at most a quarter turn
    return pin.SE3(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3))


def _unit(x: float, y: float) -> list[float]:
    """Cosine and sine of the angle of (x, y), of 0 at the origin; those of quarter turns exactly: zeros remain zero."""
    length = float(np.hypot(x, y))
    if length < ROUNDING_OF_A_TURN:
        return [1.0, 0.0]
    return [0.0 if abs(part) < ROUNDING_OF_A_TURN * length else float(part) / length for part in (x, y)]


def _revolute(axis: Any) -> _TreePart:
    return _TreePart(layout.REVOLUTE, _turn_of(axis), 1, 1)


def _turn_of(axis: Any) -> Any:
    """A rotation that takes z to an axis; none for z itself."""
    unit = np.asarray(axis, dtype=np.float64)
    if np.array_equal(unit, _AXES["Z"]):
        return pin.SE3.Identity()
    aside = np.eye(3)[np.argmin(np.abs(unit))]
    x = np.cross(aside, unit)
    x /= np.linalg.norm(x)
    return pin.SE3(np.column_stack((x, np.cross(unit, x), unit)), np.zeros(3))
