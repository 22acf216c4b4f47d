"""The pin of a planar loop whose axis is across the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ..robot import Robot
from ..rows.row_owner import RowOwner
from ..words import first_names
from .closures import Closure
from .hinge import HingeKind

AGREE, ASKEW = 1e-5, 1e-4
"""Axes of files agree up to the first angle [rad]; one that is off by more than the second is odd."""


def odd_axis(owner: RowOwner, q: Vector) -> str:
    """The pin of a loop whose axis alone is not parallel to the others, in words; empty where there is none.

    Of loops of pins and sliders that a pin, slider or fixed closure closes, with two other pins at least.

    Args:
        owner: a constraint.
        q: configuration (nq,).
    """
    if not isinstance(owner, Closure) or owner.hinge.kind not in (HingeKind.PIN, HingeKind.SLIDER, HingeKind.LOCKED):
        return ""
    robot, names, axes = owner.robot, list[str](), list[Vector]()
    model: Any = robot.model
    k = robot.at(q).with_jacobians()
    for i in joints_between(robot, owner.predecessor.joint, owner.successor.joint):
        kind, name = str(model.joints[i].shortname()), str(model.names[i])
        if kind.startswith("JointModelR"):
            names.append(name)
            axes.append(np.array(k.world_jacobian[3:, robot.velocity_slice_of(name)])[:, 0])
        elif not kind.startswith("JointModelP") or model.joints[i].nv > 1:
            return ""
    if owner.hinge.kind is HingeKind.PIN:
        names.append(owner.name)
        placed = k.oMi[owner.predecessor.joint].act(owner.predecessor.placement)
        axes.append(placed.rotation @ owner.hinge.subhinges[0].axis)
    if len(axes) < 3:
        return ""
    sines = np.linalg.norm(np.cross(np.array(axes)[:, None], np.array(axes)[None, :]), axis=2)
    for i, name in enumerate(names):
        most = float(sines[i].max())
        if most > ASKEW and np.delete(np.delete(sines, i, 0), i, 1).max() <= AGREE:
            others = first_names([f"'{other}'" for other in names if other != name])
            return f"the axis of '{name}' is {np.arcsin(min(most, 1.0)):.3g} rad from parallel to those of {others}"
    return ""


def joints_between(robot: Robot, a: int, b: int) -> list[int]:
    """The joints of the tree between two bodies, from the first to the second."""
    model: Any = robot.model
    chains: list[list[int]] = []
    for joint in (a, b):
        chain: list[int] = []
        while joint:
            chain.append(joint)
            joint = int(model.parents[joint])
        chains.append(chain)
    up = [i for i in chains[0] if i not in chains[1]]
    down = [i for i in chains[1] if i not in chains[0]]
    return up + down[::-1]
