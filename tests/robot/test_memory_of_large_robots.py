"""Pinocchio's memory is cubic in the number of joints: it is made once, not twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = r"""
import re
from pathlib import Path
import numpy as np
import pinocchio as pin
from constraints import Robot

def most():  # [bytes] of this process alone: what `getrusage` says begins with that of who started it
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text()).group(1))

n = 200
model = pin.Model()
for i in range(n):
    model.addJoint(i, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0])), f"j{i}")
    model.appendBodyToJoint(i + 1, pin.Inertia.FromBox(1.0, 0.1, 0.1, 0.1), pin.SE3.Identity())
robot = Robot(model)
before = most()
robot.at(robot.neutral).placed()
print((most() - before) / (4 * 8 * n**3))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs what Linux tells of a process")
def test_a_posture_takes_the_memory_of_one_data() -> None:
    """Its four tensors of nv^3 numbers and a tenth; with a copy on the way it was more than twice as much."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True)
    assert 0.9 < float(done.stdout) < 1.3
