"""Paths and trajectories as files: JSON with names and events, or tables."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from liegroups import Space
from liegroups.arguments import as_tuple, expect
from liegroups.arrays import Matrix, Vector
from liegroups.by_name import entry_names

from ..errors import OptionError
from ..paths.path import Path
from .motions import save_motion
from .writing import as_path, write_file

if TYPE_CHECKING:
    from ..planning import Trajectory

ENDINGS = (".json", ".csv")
"""Of files of trajectories."""
ENDINGS_OF_PATHS = (".json", ".csv", ".npz")


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
    if _ending(path, ENDINGS, "trajectory") == ".json":
        write_file(path, _json(trajectory, rate))
    else:
        samples = trajectory.sample(rate)
        rows = {"q": samples.q, "v": samples.v, "a": samples.a}
        save_motion({"time": samples.times} | _columns(trajectory.space, **rows), path)


def save_path(path: Path, file: str | os.PathLike[str], names: Sequence[str] = ()) -> None:
    """Write the samples of a path.

    Args:
        path: the path.
        file: .json has the names of joints, the pieces (name, begin and end [s], constraints), times [s] and
            configurations; .csv and .npz are tables with the columns time, piece (its number, from 0) and q of each
            coordinate. Where two pieces meet, both samples are there.
        names: of the pieces, as `plan(...).on`; none by default.

    Raises:
        WrongObjectError: no path.
        OptionError: another ending, or not a name for each piece.
        FileError: the file cannot be written.
    """
    expect(path, Path, "path to be saved")
    each = as_tuple(names, "names of the pieces of a path", "one text a piece") or ("",) * len(path.pieces)
    if len(each) != len(path.pieces):
        raise OptionError(f"names of the pieces of a path: expected {len(path.pieces)}, got {len(each)}")
    if _ending(file, ENDINGS_OF_PATHS, "path") == ".json":
        write_file(file, _json_of_path(path, each))
        return
    counts = [len(piece.samples) for piece in path.pieces]
    columns = {"time": path.times, "piece": np.repeat(np.arange(float(len(counts))), counts)}
    save_motion(columns | _columns(path.pieces[0].problem.space, q=path.samples), file)


def _ending(path: str | os.PathLike[str], endings: Sequence[str], what: str) -> str:
    """The ending of a file.

    Raises:
        OptionError: another one.
    """
    ending = as_path(path).suffix.lower()
    if ending not in endings:
        raise OptionError(f"file of a {what}: expected {' or '.join(endings)}, got '{os.fspath(path)}'")
    return ending


def _json_of_path(path: Path, names: Sequence[str]) -> bytes:
    """Names, pieces and samples; numbers with all their digits."""
    ends = np.cumsum(path.durations)
    pieces: list[dict[str, Any]] = [
        {"name": str(name), "begin": end - duration, "end": end, "constraints": [*piece.problem.constraints.names]}
        for name, end, duration, piece in zip(names, ends.tolist(), path.durations, path.pieces, strict=True)
    ]
    rows = {"times": path.times, "configurations": path.samples}
    return _document("path", path.pieces[0].problem.space, {"duration": path.duration, "pieces": pieces}, rows)


def _json(trajectory: Trajectory, rate: float) -> bytes:
    """Names, samples and events; numbers with all their digits."""
    samples = trajectory.sample(rate)
    entries = {
        "duration": trajectory.duration,
        "stops": trajectory.stops.tolist(),
        "events": [event._asdict() for event in trajectory.events],
    }
    rows = {"times": samples.times, "configurations": samples.q, "velocities": samples.v, "accelerations": samples.a}
    return _document("trajectory", trajectory.space, entries, rows)


def _document(kind: str, space: Space, entries: dict[str, Any], rows: dict[str, Matrix]) -> bytes:
    names = [factor.name for factor in space.factors]
    head = {"format": f"lie-constraints {kind}", "version": 1, "joint_names": names}
    document = head | entries | {name: each.tolist() for name, each in rows.items()}
    return f"{json.dumps(document, allow_nan=False)}\n".encode()


def _columns(space: Space, **rows: Matrix) -> dict[str, Vector]:
    """Columns (n,) by name, of each coordinate of q and of its derivatives."""
    return {
        f"{kind} {name}": each[:, i]
        for kind, each in rows.items()
        for i, name in enumerate(entry_names(space.factors, kind == "q"))
    }
