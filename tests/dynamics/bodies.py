"""One body on one joint, which many tests are about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Robot


def point(mass: float = 1.0, inertia: float = 0.0) -> Any:
    """The inertia of a ball around the origin; of a point by default."""
    return pin.Inertia(mass, np.zeros(3), inertia * np.eye(3))


def one_body(joint: Any, inertia: Any, name: str = "body", *, gravity: float = 9.81) -> Robot:
    """A robot of one joint, with the name of it."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array([0.0, 0.0, -gravity]), np.zeros(3))
    model.appendBodyToJoint(model.addJoint(0, joint, pin.SE3.Identity(), name), inertia, pin.SE3.Identity())
    return Robot(model, name)
