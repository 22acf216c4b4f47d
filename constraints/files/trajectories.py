"""Trajectories as files: JSON with names and events, or CSV."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from liegroups.arrays import Vector

from ..errors import OptionError
from ..planning.trajectories.limits_of_motion import entry_names
from .motions import save_motion
from .writing import as_path, write_file

if TYPE_CHECKING:
    from ..planning import Trajectory

ENDINGS = (".json", ".csv")


def save_trajectory(trajectory: Trajectory, path: str | os.PathLike[str], rate: float) -> None:
    """Write samples of a trajectory.

    Args:
        trajectory: the trajectory.
        path: .json or .csv.
        rate: samples a second [1/s].

    Raises:
        OptionError: another ending, or a rate that is not positive.
        FileError: the file cannot be written.
    """
    ending = as_path(path).suffix.lower()
    if ending not in ENDINGS:
        raise OptionError(f"file of a trajectory: expected .json or .csv, got '{os.fspath(path)}'")
    if ending == ".json":
        write_file(path, _json(trajectory, rate))
    else:
        save_motion(_columns(trajectory, rate), path)


def _json(trajectory: Trajectory, rate: float) -> bytes:
    """Names, samples and events; numbers with all their digits."""
    samples = trajectory.sample(rate)
    document = {
        "format": "lie-constraints trajectory",
        "version": 1,
        "joint_names": [factor.name for factor in trajectory.space.factors],
        "duration": trajectory.duration,
        "stops": trajectory.stops.tolist(),
        "events": [event._asdict() for event in trajectory.events],
        "times": samples.times.tolist(),
        "configurations": samples.q.tolist(),
        "velocities": samples.v.tolist(),
        "accelerations": samples.a.tolist(),
    }
    return f"{json.dumps(document, allow_nan=False)}\n".encode()


def _columns(trajectory: Trajectory, rate: float) -> dict[str, Vector]:
    """Columns (n,) by name: time, then q, v and a of each coordinate."""
    samples, space = trajectory.sample(rate), trajectory.space
    columns = {"time": samples.times}
    for kind, rows in (("q", samples.q), ("v", samples.v), ("a", samples.a)):
        names = entry_names(space, kind == "q")
        columns |= {f"{kind} {name}": rows[:, i] for i, name in enumerate(names)}
    return columns
