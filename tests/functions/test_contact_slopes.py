"""Derivatives of contacts of surfaces: the arc over its sine in fifty digits, level, tilted and nearly on the head."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import ConvexShapeContact, ConvexShapeContactHold, Frame, Robot, Surface
from constraints.point import place_motion
from constraints.testing import check_function
from constraints.workspace import Workspace
from liegroups.unit_vectors import unit_log_slopes

SQUARE = [[-0.4, -0.3, 0.0], [0.4, -0.3, 0.0], [0.4, 0.3, 0.0], [-0.4, 0.3, 0.0]]


def test_arc_ratio_in_fifty_digits() -> None:
    """With three derivatives, on both sides of the switch of the series, and nearly on the head."""
    mp = pytest.importorskip("mpmath")
    with mp.workdps(60):

        def ratio(c: Any) -> Any:
            return mp.acos(c) / mp.sqrt(1 - c * c)

        for t in (1e-12, 1e-6, 0.05, 0.1999, 0.2001, 0.7, 1.0, 1.5, 1.99, 1.9999):
            c = 1.0 - t
            sine = float(mp.sqrt(1 - mp.mpf(c) ** 2))
            for order, own in enumerate(unit_log_slopes(c, sine)):
                exact = mp.diff(ratio, mp.mpf(c), order, h=mp.mpf(10) ** -30 * min(t, 1.0))
                # next to the head the cosine alone is known to 1e-16 of 2 - t, and derivatives grow like its powers
                limit = 1e-12 if t < 1.9 else 1e-10
                assert abs(own / float(exact) - 1.0) < limit, (t, order)


def puck() -> Robot:
    """A free body."""
    model = pin.Model()
    j = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "puck")
    model.appendBodyToJoint(j, pin.Inertia.FromBox(1.0, 0.2, 0.2, 0.1), pin.SE3.Identity())
    model.lowerPositionLimit, model.upperPositionLimit = np.full(7, -2.0), np.full(7, 2.0)
    return Robot(model)


@pytest.mark.parametrize("tilt", [0.0, 1e-9, 1e-3, 0.6, 0.65, 2.0, 3.1])
@pytest.mark.parametrize("place", [[0.1, 0.05, 0.2], [0.6, 0.1, 0.1], [0.7, -0.9, 0.0]], ids=["on", "edge", "corner"])
def test_slopes_wherever_it_lies(tilt: float, place: list[float]) -> None:
    """Inside the polygon, beside an edge, beyond a corner; level, tilted, nearly on its head."""
    robot = puck()
    floor = Surface("floor", robot.frame("universe"), SQUARE)
    under = Surface("under", Frame("under", 1, pin.SE3(pin.exp3(np.array([np.pi, 0, 0])), np.zeros(3))), SQUARE)
    f = ConvexShapeContactHold(robot, floor, under, 0.01)
    assert f.has_exact_derivatives
    turn = pin.Quaternion(pin.exp3(np.array([0.0, 0.0, 0.4])) @ pin.exp3(tilt * np.array([0.8, 0.6, 0.0])))
    q = np.concatenate([place, turn.coeffs()])
    check_function(f, [q], tolerance=1e-7 if tilt < 3.0 else 1e-4)  # differences, next to the head


def test_a_spinning_top_stays_parallel() -> None:
    """A body that turns about the normal and slides: the rows of the contact do not accelerate."""
    robot = puck()
    floor = Surface("floor", robot.frame("universe"), SQUARE)
    under = Surface("under", Frame("under", 1, pin.SE3(pin.exp3(np.array([np.pi, 0, 0])), np.zeros(3))), SQUARE)
    f = ConvexShapeContact(robot, floor, under)
    motion = place_motion(robot.space, robot.space.neutral, np.array([0.3, -0.2, 0, 0, 0, 5.0]), Workspace())
    out = np.full(5, np.nan)
    f.drift(motion, out)
    assert np.abs(out).max() < 1e-12
