"""Sliders of joints beside a view, without a page: ranges, steps, and what moves what."""

from __future__ import annotations

import contextlib
from itertools import cycle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Robot
from constraints.pictures.browser.joint_sliders import JointSliders


class Sliders:
    """What stands in for the controls of a page: a folder, and sliders that say when they are moved."""

    def __init__(self) -> None:
        self.expanded, self.made = False, dict[str, Any]()

    def add_folder(self, name: str, expand_by_default: bool) -> Any:
        assert name == "joints"
        self.expanded = expand_by_default
        return contextlib.nullcontext()

    def add_slider(self, name: str, low: float, high: float, step: float, value: float) -> Any:
        made = SimpleNamespace(min=low, max=high, step=step, value=value)
        made.on_update = lambda call: setattr(made, "moved", call)
        return self.made.setdefault(name, made)


ENDS = {
    (-1.0, 2.0): (-1.0, 2.0), (-np.inf, 0.5): (0.5 - 2.0 * np.pi, 0.5), (-np.inf, 9.0): (-np.pi, 9.0),
    (-2.0, np.inf): (-2.0, 2.0 * np.pi - 2.0), (-9.0, np.inf): (-9.0, np.pi), (0.0, 0.0): (0.0, 1e-6),
}  # fmt: skip
"""Bounds of joints, and where their sliders end."""


@pytest.mark.parametrize("count", [15, 16])
def test_joints_have_sliders_between_their_bounds(count: int) -> None:
    """In two hundred steps; folded away from the sixteenth on. A hand on one moves its joint, `show` moves none."""
    model: Any = pin.Model()
    for i in range(count - 1):
        model.addJoint(i, pin.JointModelRX(), pin.SE3.Identity(), f"j{i}")
    model.addJoint(0, pin.JointModelRUBZ(), pin.SE3.Identity(), "turn")
    given = [bounds for _, bounds in zip(range(count - 1), cycle(ENDS), strict=False)]
    model.lowerPositionLimit[: count - 1], model.upperPositionLimit[: count - 1] = np.transpose(given)
    robot, gui, turned = Robot(model), Sliders(), list[Any]()
    q = np.array(robot.neutral)
    sliders = JointSliders(gui, robot, q, turned.append)
    assert gui.expanded == (count == 15)
    assert list(gui.made) == list(robot.joint_names)
    for made, (low, high) in zip(gui.made.values(), [*(ENDS[each] for each in given), (-np.pi, np.pi)], strict=True):
        assert (made.min, made.max, made.step, made.value) == pytest.approx((low, high, (high - low) / 200.0, 0.0))
    for name, made in gui.made.items():
        for client, value in ((None, 0.9), (1, 0.4)):
            made.moved(SimpleNamespace(target=SimpleNamespace(value=value), client_id=client))
        (change,) = turned
        change(q)
        turned.clear()
        assert q[robot.slice_of(name)] == pytest.approx([np.cos(0.4), np.sin(0.4)] if name == "turn" else [0.4])
    sliders.show(q)
    assert all(made.value == pytest.approx(min(0.4, made.max)) for made in gui.made.values())
