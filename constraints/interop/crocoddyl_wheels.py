"""Whether the wheels of crocoddyl and Pinocchio that are installed belong together. Extra `crocoddyl`.

Run as a program it prints by how much they differ: `python -m constraints.interop.crocoddyl_wheels`.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..exports import from_extra
from ..robot.model.pinocchio import pin

LIMIT = 1e-9
"""Difference of accelerations [rad/s^2] up to which the wheels belong together."""

_log = logging.getLogger(__name__)
_ROOT = Path(__file__).resolve().parents[2]


def difference() -> float:
    """By how much crocoddyl's own acceleration of a double pendulum differs from Pinocchio's `aba` [rad/s^2].

    Where the wheels do not belong together crocoddyl reads a model of Pinocchio at wrong places, and may crash:
    call it in a process of its own, as `look` does.
    """
    crocoddyl = from_extra("crocoddyl", "crocoddyl")
    model: Any = pin.Model()
    for i in range(2):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, -1.0 * i]))
        joint = model.addJoint(i, pin.JointModelRY(), place, f"joint_{i}")
        bar = pin.Inertia(1.0, np.array([0.0, 0.0, -0.5]), 0.1 * np.eye(3))
        model.appendBodyToJoint(joint, bar, pin.SE3.Identity())
    q, v, tau = np.array([0.3, -0.4]), np.array([0.5, 0.2]), np.array([0.1, 0.7])
    state = crocoddyl.StateMultibody(model)
    actuation, costs = crocoddyl.ActuationModelFull(state), crocoddyl.CostModelSum(state)
    own = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
    data = own.createData()
    own.calc(data, np.concatenate([q, v]), tau)
    wrong = float(np.abs(data.xout - pin.aba(model, model.createData(), q, v, tau)).max())
    return wrong if np.isfinite(wrong) else float("inf")


@cache
def look() -> str:
    """What is wrong with the wheels, in words, empty if nothing; looked at once, and a warning in the log.

    Actions of `as_crocoddyl_action` are right all the same: crocoddyl sees no model of theirs.
    """
    path = os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False, timeout=120.0
    )
    said = _verdict(done.returncode, done.stdout)
    if said:
        _log.warning("%s", said)
    return said


def _verdict(code: int, printed: str) -> str:
    wheels = f"crocoddyl {from_extra('crocoddyl', 'crocoddyl').__version__} and pinocchio {pin.__version__}"
    rest = "do not use crocoddyl's own models of robots; actions from this library do not use them"
    if code:
        return f"{wheels} are not compatible: an acceleration of crocoddyl ended with exit code {code}; {rest}"
    wrong = float(printed)
    if wrong > LIMIT:
        return f"{wheels} are not compatible: an acceleration of crocoddyl is wrong by {wrong:.3g} rad/s^2; {rest}"
    return ""


if __name__ == "__main__":
    print(difference())
