"""A delta robot whose rods are bodies on ball joints, and may spin about their own axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Robot
from constraints.loops import PointClosure
from constraints.models import Mechanism
from constraints.models.built_in.parts import add_bar
from constraints.models.structure.tree import JointKind, Tree, rotation_about, translation

Y, Z = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
BASE, PLATFORM, ARM, ROD, WIDTH, ANGLE = 0.2, 0.06, 0.25, 0.5, 0.08, 0.4


def ball_delta() -> Mechanism:
    """Three arms, six rods "rod0a" to "rod2b", each on a ball of its arm, and joined to the platform by a point."""
    tree = Tree("ball_delta")
    top = tree.joint(0, JointKind.FREE, pin.SE3.Identity(), "platform")
    tree.body(top, pin.SE3.Identity(), "platform_body", 0.5, inertia=1e-3 * np.eye(3))
    below = ARM * math.sin(ANGLE) + math.sqrt(ROD**2 - (BASE + ARM * math.cos(ANGLE) - PLATFORM) ** 2)
    values: dict[str, Any] = {"platform": translation((0.0, 0.0, -below))}
    ends: list[tuple[str, str]] = []
    for i in range(3):
        outward = rotation_about(Z, 2.0 * math.pi / 3.0 * i)
        arm = tree.joint(0, JointKind.REVOLUTE, outward * translation((BASE, 0.0, 0.0)), f"arm{i}", Y)
        add_bar(tree, arm, f"elbow{i}", (0.0, 0.0, 0.0), (ARM, 0.0, 0.0))
        values[f"arm{i}"] = ANGLE
        placed = outward * translation((BASE, 0.0, 0.0)) * rotation_about(Y, ANGLE)
        for side, y in (("a", 0.5 * WIDTH), ("b", -0.5 * WIDTH)):
            rod = tree.joint(arm, JointKind.BALL, translation((ARM, y, 0.0)), f"rod{i}{side}")
            add_bar(tree, rod, f"rod{i}{side}_end", (0.0, 0.0, 0.0), (0.0, 0.0, ROD))
            ankle = outward * translation((PLATFORM, y, 0.0))
            tree.frame(top, ankle, f"ankle{i}{side}")
            ends.append((f"rod{i}{side}_end", f"ankle{i}{side}"))
            aim = ankle.translation - [0.0, 0.0, below] - placed.act(np.array([ARM, y, 0.0]))
            turn = pin.Quaternion.FromTwoVectors(Z, placed.rotation.T @ aim)
            values[f"rod{i}{side}"] = turn.coeffs()
    robot = Robot(tree.model)
    closures = tuple(PointClosure(robot, a, b, name=a) for a, b in ends)
    return Mechanism(robot, closures, (), ("arm0", "arm1", "arm2"), {"closed": robot.configuration(values)})
