"""Calls that are timed beside each other, and pinocchio's own contacts, which are the clock of some."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

__all__ = ["in_bursts", "rigid_contacts"]


def in_bursts(calls: Mapping[str, Callable[[], Any]], repeats: int, burst: int) -> dict[str, NDArray[np.float64]]:
    """Times of each call [us], one for each burst: processor time of this process, in bursts that go round."""
    found = {name: np.zeros(repeats) for name in calls}
    for call in calls.values():
        call()
    gc.disable()  # as `timeit` does
    for k in range(repeats):
        for name, call in calls.items():
            call()  # its own memory is near again
            start = time.process_time()
            for _ in range(burst):
                call()
            found[name][k] = (time.process_time() - start) / burst * 1e6
    gc.enable()
    return found


def rigid_contacts(model: Any, kind: Any, places: Iterable[tuple[int, Any]]) -> tuple[Any, Any, Any]:
    """Pinocchio's memory of a model, and its contacts of a kind with theirs: by joint and placement, in local axes."""
    data, models, datas = model.createData(), pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for joint, placement in places:
        made = pin.RigidConstraintModel(kind, model, joint, placement, pin.LOCAL)
        models.append(made)
        datas.append(made.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    return data, models, datas
