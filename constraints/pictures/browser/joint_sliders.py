"""Sliders of the joints of a robot, for a view of one configuration."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import atan2, cos, isfinite, pi, sin
from typing import Any, final

from liegroups.arrays import Vector

from ...robot import Robot

MOST = 80
"""Joints that have sliders at most."""
FOLDED = 15
"""From more joints on the sliders are folded away."""

Turned = Callable[[Callable[[Vector], None]], None]
"""Who is told how a configuration changes: a function that changes it in place."""


@final
class JointSliders:
    """A slider for each joint of one coordinate, from bound to bound; half a turn to each side where it has none.

    Args:
        gui: of a viser server.
        robot: whose joints.
        q: configuration (nq,) at the start.
        turned: who is told how the configuration changes.
    """

    def __init__(self, gui: Any, robot: Robot, q: Vector, turned: Turned) -> None:
        self._sliders: dict[str, Any] = {}
        self._robot = robot
        joints = list(robot.model.joints)[1:]
        names = [name for name, joint in zip(robot.joint_names, joints, strict=True) if joint.nv == 1]
        if not names:
            return
        with gui.add_folder("joints", expand_by_default=len(names) <= FOLDED):
            for name in names[:MOST]:
                low, high = self._range(name)
                value = min(max(self._value(name, q), low), high)
                slider = gui.add_slider(name, low, high, (high - low) / 200.0, value)
                slider.on_update(partial(self._moved, name, turned))
                self._sliders[name] = slider

    def show(self, q: Vector) -> None:
        """Move the sliders to a configuration (nq,)."""
        for name, slider in self._sliders.items():
            slider.value = min(max(self._value(name, q), slider.min), slider.max)

    def _moved(self, name: str, turned: Turned, event: Any) -> None:
        value, columns = float(event.target.value), self._robot.slice_of(name)
        if event.client_id is None:  # moved by `show`
            return

        def change(q: Vector) -> None:
            q[columns] = (cos(value), sin(value)) if columns.stop - columns.start == 2 else value

        turned(change)

    def _range(self, name: str) -> tuple[float, float]:
        first, bounds = self._robot.slice_of(name).start, self._robot.bounds  # without any where it turns in circles
        low, high = (float(side[first]) for side in (bounds.lower, bounds.upper))
        low = low if isfinite(low) else min(-pi, high - 2.0 * pi)
        high = high if isfinite(high) else max(pi, low + 2.0 * pi)
        return low, high if high > low else low + 1e-6

    def _value(self, name: str, q: Vector) -> float:
        entries = q[self._robot.slice_of(name)].tolist()
        return atan2(entries[1], entries[0]) if len(entries) == 2 else float(entries[0])
