"""How the compiled engine takes rows of closures and contacts: what they measure of a pose, by exact type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from liegroups import SE3

from ..solvers.compiled.frame_functions import pack_frames
from ..solvers.compiled.packing import Argument, NotPacked, PackedResult, Packer
from ..solvers.machine import layout
from .contacts import LocalPoint
from .hinges.custom_fit import CustomRows
from .hinges.given_map import GivenMap
from .hinges.hinge_fit import ScrewRows
from .hinges.pose_map import LogPose, Rod, Split, TurnedLog
from .hinges.relative_pose import OfRelativePose
from .hinges.rotation_rows import Cross, RotationRows, Swing, Turn


class _PackedRows(NamedTuple):
    """A map of poses as kernels take it.

    Attributes:
        kind: which, of `layout`.
        linear: so many rows, the first ones, see the linear velocity.
        angular: from which row on they see the angular one.
        numbers: its constants.
        directions: how many translations it has along given directions.
        rotation: which rows of the rotation follow them.
    """

    kind: int
    linear: int
    angular: int
    numbers: list[float]
    directions: int = 0
    rotation: int = layout.NO_ROTATION


def _listed(*arrays: Any) -> list[float]:
    return [float(x) for array in arrays for x in np.asarray(array).ravel()]


def _rotation(rows: RotationRows | None, name: str) -> tuple[int, list[float]]:
    """Rows of a rotation, and their constants."""
    if rows is None:
        return layout.NO_ROTATION, []
    if type(rows) is Turn:
        return layout.TURN, _listed(np.eye(3) if rows.axes is None else rows.axes)
    if type(rows) is Swing:
        return layout.SWING, _listed(rows.a, rows.b, rows.across)
    if type(rows) is Cross:
        return layout.CROSS, _listed(rows.a, rows.b)
    raise NotPacked(f"{name}, rows of a rotation of the type {type(rows).__name__}")


def _split(rows: Split, name: str) -> _PackedRows:
    kind, numbers = _rotation(rows.rotation, name)
    count = len(rows.directions)
    return _PackedRows(layout.SPLIT, count, count, _listed(rows.directions) + numbers, count, kind)


def _screw(rows: ScrewRows, name: str) -> _PackedRows:
    inner = _split(rows.split, name)
    return inner._replace(kind=layout.SCREW, angular=2, numbers=[*inner.numbers, rows.screw.pitch])


def _local_point(rows: LocalPoint, name: str) -> _PackedRows:
    return _PackedRows(layout.LOCAL_POINT, rows.size, 0, _listed(rows.directions), rows.size)


def _custom(rows: CustomRows, name: str) -> _PackedRows:
    raise NotPacked(f"{name}, rows of a custom hinge, which is fitted by iterations")


_MAPS: dict[type, Callable[[Any, str], _PackedRows]] = {
    Split: _split,
    ScrewRows: _screw,
    LogPose: lambda rows, name: _PackedRows(layout.LOG_POSE, 3, 0, []),
    TurnedLog: lambda rows, name: _PackedRows(layout.TURNED_LOG, 3, 0, _listed(rows.turn)),
    Rod: lambda rows, name: _PackedRows(layout.ROD, 1, 1, [rows.length]),
    LocalPoint: _local_point,
    CustomRows: _custom,
}
"""Maps of poses by their type: how each is packed."""


def pack_pose_map(packer: Packer, f: OfRelativePose, argument: Argument, result: PackedResult) -> None:
    """Emit the instruction of rows of a closure or a contact.

    Raises:
        NotPacked: rows of a custom hinge, or of a type that is not of the table.
    """
    pack = _MAPS.get(type(f.pose_map))
    if pack is None:
        given = f.pose_map.given if isinstance(f.pose_map, GivenMap) else f.pose_map
        raise NotPacked(f"{f.name}, rows of a pose of the type {type(given).__name__}")
    rows = pack(f.pose_map, f.name)
    group, six = packer.group(SE3), packer.counted(range(6))
    size = f.pose_map.size
    record = rows.kind, size, rows.linear, rows.angular, rows.directions, rows.rotation, group, six
    pack_frames(packer, layout.POSE_MAP, f, argument, result, packer.table(record), rows.numbers, memory=36)
