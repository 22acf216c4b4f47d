"""Right-hand sides in files: a point by constraint, named, for a problem that has these constraints."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from liegroups.arguments import expect

from ..rows.right_hand_side import RightHandSide
from ..rows.stack import Stack
from .documents import read_document, write_document
from .entries import vector
from .json_values import JsonValue

_RATES: tuple[str, ...] = ("velocity", "acceleration")


def save_rhs(rhs: RightHandSide, path: str | os.PathLike[str]) -> None:
    """Write right-hand sides.

    Raises:
        FileError: the file cannot be written.
    """
    write_document(path, "right-hand side", rhs_data(rhs))


def load_rhs(path: str | os.PathLike[str], stack: Stack) -> RightHandSide:
    """Read right-hand sides.

    Args:
        path: the file.
        stack: the constraints they are for, `problem.constraints`.

    Raises:
        FileError: the file cannot be read whole, or holds something else; the place in it is named.
    """
    expect(stack, Stack, "stack of right-hand sides", "a Stack (problem.constraints)")
    _, data = read_document(path, "right-hand side")
    return rhs_from_data(data, stack)


def rhs_data(rhs: RightHandSide) -> dict[str, Any]:
    """Right-hand sides as data, with the names and groups of their constraints."""
    points = zip(rhs.stack, rhs.stack.rhs_slices, strict=True)
    data: dict[str, Any] = {
        "constraints": [
            {"name": owner.name, "group": owner.group.name, "point": rhs.vector[s].tolist()} for owner, s in points
        ]
    }
    for name in _RATES:
        if getattr(rhs, name) is not None:
            data[name] = getattr(rhs, name).tolist()
    return data


def rhs_from_data(data: JsonValue, stack: Stack) -> RightHandSide:
    """The right-hand sides of `rhs_data`, on a stack of constraints of the same names and groups in the same order.

    Args:
        data: an object with their entries.
        stack: the constraints.
    """
    data.only("constraints", *_RATES)
    items = data.entry("constraints").items()
    if len(items) != len(stack):
        data.entry("constraints").refuse(f"expected {len(stack)}, one per constraint, got {len(items)}")
    parts = [np.zeros(0)]
    for item, owner in zip(items, stack, strict=True):
        for name, expected in (("name", owner.name), ("group", owner.group.name)):
            if item.only("name", "group", "point").entry(name).value != expected:
                item.entry(name).expect(f"'{expected}', as in the problem")
        parts.append(item.entry("point").vector(owner.group.nq))
    rates = dict.fromkeys(_RATES, vector(stack.full_size).read)
    return data.build(RightHandSide, stack, np.concatenate(parts), **data.those(rates))
