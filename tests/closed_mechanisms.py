"""Every mechanism with a closed configuration that tests share: the makers of `models`, and the model files."""

from __future__ import annotations

from functools import cache

import numpy as np
from models.test_mechanism_files import MJCF, URDF, closed, path_of

from constraints.models import Mechanism, load, mechanisms

BUILT_IN = ("four_bar", "five_bar", "slider_crank", "stewart_platform", "delta_robot", "bennett", "scissor_lift")
FILES = (*URDF, *MJCF, "cassie_sdf")
ALL = (*BUILT_IN, *FILES)


@cache
def closed_mechanism(name: str) -> tuple[Mechanism, np.ndarray]:
    """A mechanism and a closed configuration of it."""
    if name in BUILT_IN:
        made = getattr(mechanisms, name)()
        return made, made.posture("closed")
    read = load(path_of(name))
    return read, closed(name, read)
