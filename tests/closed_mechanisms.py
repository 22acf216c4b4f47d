"""Every mechanism with a closed configuration that tests share: the makers of `models`, and the model files."""

from __future__ import annotations

import json
import logging
from functools import cache
from pathlib import Path

import numpy as np

from constraints.models import Mechanism, load, mechanisms
from constraints.models.files.mjcf import from_qpos

FOLDER = Path(__file__).parent / "data" / "mechanisms"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
BUILT_IN = ("four_bar", "five_bar", "scissor_lift", "slider_crank", "stewart_platform", "delta_robot", "bennett")
FILES = tuple(sorted(EXPECTED))
ALL = (*BUILT_IN, *FILES)


@cache
def closed_mechanism(name: str) -> tuple[Mechanism, np.ndarray]:
    """A mechanism and a closed configuration of it."""
    if name in BUILT_IN:
        made = getattr(mechanisms, name)()
        return made, made.posture("closed")
    entry, file = EXPECTED[name], next(f for f in sorted((FOLDER / name).iterdir()) if f.stem == name)
    logging.disable(logging.WARNING)
    made = load(file)
    logging.disable(logging.NOTSET)
    if "closed_q" in entry:
        return made, made.robot.space.normalize(np.array(entry["closed_q"]))
    if file.suffix == ".xml":
        return made, from_qpos(made.robot, entry["closed_qpos_mujoco_order"])
    return made, made.postures["file"]
